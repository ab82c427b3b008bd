//! Replays every seed and every regression input of the fuzz targets of the command through their oracles,
//! without libFuzzer, and inputs that were findings once.

use broadcheck_cli::command::untrusted::{TARGETS, judge, seeds};
use broadcheck_search::generate::seeds as cases;
use std::fs;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The inputs that were findings once.
fn regressions(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(fuzz().join("regressions").join(target)).into_iter().flatten();
    let read = |path: PathBuf| (path.display().to_string(), fs::read(path).unwrap());
    entries.map(|entry| read(entry.unwrap().path())).collect()
}

#[test]
fn every_seed_and_every_regression_holds() {
    for target in TARGETS {
        let seeds = seeds(target).unwrap();
        assert!(seeds.len() >= 2, "{target} has {} seeds", seeds.len());
        let seeds = seeds.into_iter().map(|seed| (seed.name, seed.bytes));
        for (name, bytes) in seeds.chain(regressions(target)) {
            judge(target, &bytes).unwrap_or_else(|finding| panic!("{target}, {name}: {finding}"));
        }
    }
    assert!(judge("another", b"").is_err());
}

#[test]
fn every_target_is_replayed_and_built() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let built: Vec<&str> =
        manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")).collect();
    let all: Vec<&str> = cases::TARGETS.into_iter().chain(TARGETS).collect();
    let files: Vec<String> = all.iter().map(|target| format!("{target}.rs\"")).collect();
    assert_eq!(built, files);
    let ci = fs::read_to_string(fuzz().join("../.ci/run")).unwrap();
    assert!(
        ci.contains(&format!("for target in {}; do", all.join(" "))),
        "the loop of .ci/run runs all targets"
    );
}

#[test]
fn regressions_belong_to_targets() {
    for entry in fs::read_dir(fuzz().join("regressions")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let known = cases::TARGETS.into_iter().chain(TARGETS).any(|target| target == name);
        assert!(known || name == "README.md", "`{name}` is not a target");
    }
}
