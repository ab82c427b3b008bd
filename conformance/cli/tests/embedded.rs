//! The command contains every file of the repository that it needs elsewhere, and nothing that was made from
//! them.

use broadcheck_cli::embedded;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The files of a directory of `conformance` that git tracks, or that it would track.
fn tracked(directory: &Path) -> BTreeSet<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z", "."])
        .current_dir(directory)
        .output()
        .expect("git runs");
    assert!(listed.status.success(), "{}: {}", directory.display(), String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("names are UTF-8");
    let files = listed.split('\0').filter(|file| !file.is_empty() && !file.ends_with(".gitignore"));
    files.filter(|file| directory.join(file).exists()).map(str::to_owned).collect()
}

#[test]
fn the_command_contains_what_git_tracks() {
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["adapters", "consumers", "findings", "history", "known"] {
        let directory = conformance.join(name);
        let embedded: BTreeSet<String> = embedded::files(name).map(|(path, _)| path.to_owned()).collect();
        let tracked = if directory.exists() { tracked(&directory) } else { BTreeSet::new() };
        let missing: Vec<&String> = tracked.difference(&embedded).collect();
        let foreign: Vec<&String> = embedded.difference(&tracked).collect();
        assert!(
            missing.is_empty(),
            "conformance/{name}: found files that are not embedded (a directory with a \
             Cargo.toml needs links in conformance/cli/embedded/nested): {missing:?}"
        );
        assert!(
            foreign.is_empty(),
            "conformance/{name}: found embedded files that git does not track: {foreign:?}"
        );
        for (path, bytes) in embedded::files(name) {
            assert!(
                fs::read(directory.join(path)).unwrap() == bytes,
                "conformance/{name}/{path}: is embedded as it was"
            );
        }
    }
}

#[test]
fn the_commit_is_known_in_a_checkout() {
    let commit = embedded::COMMIT;
    assert!(commit.len() == 40 && commit.chars().all(|digit| digit.is_ascii_hexdigit()), "{commit}");
}
