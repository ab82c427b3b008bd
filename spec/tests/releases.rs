//! An id of a released version stays: it exists, or it is withdrawn and never used again.

use broadcheck_spec::{Suite, releases};
use std::collections::HashSet;

#[test]
fn every_released_id_exists_or_is_withdrawn() {
    let suite = Suite::builtin().unwrap();
    let known: HashSet<&str> = suite.ids().collect();
    let withdrawn: HashSet<&str> = releases::withdrawn().collect();
    let released: HashSet<&str> = releases::versions().flat_map(releases::ids).collect();
    assert_eq!(releases::ids("0.1.0").count(), 1909 + 95, "the cases and sweeps of commit 4d8b457");
    for id in &released {
        assert!(
            known.contains(id) || withdrawn.contains(id),
            "{id}: found in a release but not in the suite, expected it there or in spec/releases/withdrawn.txt"
        );
    }
    for id in &withdrawn {
        assert!(released.contains(id), "{id}: found among the withdrawn ids, expected it in a release");
        assert!(!known.contains(id), "{id}: found in the suite, expected no reuse of a withdrawn id");
    }
}

#[test]
fn releases_are_in_order_and_each_is_one_of_ours() {
    let number =
        |version: &str| -> Vec<u32> { version.split('.').map(|part| part.parse().unwrap()).collect() };
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/releases");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    files.retain(|name| name != "withdrawn.txt");
    assert_eq!(files.len(), releases::versions().count(), "{files:?} and spec/src/releases.rs");
    assert!(releases::versions().all(|version| files.contains(&format!("{version}.txt"))), "{files:?}");
    let versions: Vec<Vec<u32>> = releases::versions().map(number).collect();
    assert!(versions.is_sorted() && !versions.is_empty());
    assert!(versions.iter().all(|version| *version <= number(releases::VERSION)));
}
