//! What a library compiles when it depends on the suite: the packages of `packages.txt`, and no others.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The names of the packages, sorted; of two versions of one package, twice.
fn compiled() -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ran = Command::new(cargo)
        .args(["tree", "--package", "broadcheck", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(ran.status.success(), "cargo tree: {}", String::from_utf8_lossy(&ran.stderr));
    let tree = String::from_utf8(ran.stdout).expect("cargo writes UTF-8");
    // `name v1.2.3`, and perhaps a path, `(proc-macro)` or `(*)`.
    let versions: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap_or_default()))
        .collect();
    versions.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn a_library_compiles_these_packages_and_no_others() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages.txt");
    let list = std::fs::read_to_string(list).expect("packages.txt is beside Cargo.toml");
    let listed: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let compiled = compiled();
    let new: Vec<&String> = compiled.iter().filter(|name| !listed.contains(&name.as_str())).collect();
    assert!(new.is_empty(), "found new packages {new:?}, expected those of packages.txt alone");
    assert_eq!(compiled, listed, "packages.txt is not the list of what is compiled");
}
