//! `adapter:NAME`: the message if an adapter is not set up, how an adapter and its known failures are found,
//! and that every shipped adapter is complete. The systems themselves are not run here: they need the package
//! index, or minutes to build.
#![cfg(unix)]

use broadcheck::known::Known;
use broadcheck_spec::Suite;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().expect("the shipped suite"));

/// The environment variable that names the directory of the adapters.
const DIRECTORY: &str = "BROADCHECK_ADAPTERS";

const PROGRAM: &str = env!("CARGO_BIN_EXE_broadcheck");

/// Runs the command with this directory of adapters: exit status, standard output, standard error.
fn run(adapters: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(PROGRAM);
    command.args(args).env(DIRECTORY, adapters).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal ended it"), text(output.stdout), text(output.stderr))
}

/// A directory of adapters, and `known` beside it. The adapter `mine` is not set up. `ours` is: its
/// interpreter is the reference, which ignores the script that it gets.
struct Fixture {
    root: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture { root: tempfile::tempdir().unwrap() };
        for directory in ["adapters/venvs/ours/bin", "known"] {
            fs::create_dir_all(fixture.path(directory)).unwrap();
        }
        for file in ["protocol.py", "mine_adapter.py", "ours_adapter.py"] {
            fixture.write(&format!("adapters/{file}"), "");
        }
        for file in ["requirements-mine.txt", "requirements-ours.txt", "venvs/ours/installed.txt"] {
            fixture.write(&format!("adapters/{file}"), "numpy==1\n");
        }
        let python = fixture.path("adapters/venvs/ours/bin/python");
        fs::write(&python, format!("#!/bin/sh\nexec '{PROGRAM}' serve --impl reference\n")).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        fixture
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).unwrap();
    }

    fn know(&self, versions: &str, case: &str) {
        let entry = format!("{{case: {case}, reason: no reason, url: 'https://example.org/1'}}");
        let text = format!("implementation: reference\nversions: {versions}\nknown:\n  - {entry}\n");
        self.write("known/reference.yaml", &text);
    }

    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let args = [&["check", "--impl", "adapter:ours", "--filter", "numpy/zero"], args].concat();
        run(&self.path("adapters"), &args)
    }
}

#[test]
fn an_adapter_that_is_not_set_up_names_the_setup_command() {
    let fixture = Fixture::new();
    let adapters = fixture.path("adapters");
    for command in ["check", "exhaust", "smoke"] {
        let (status, out, err) = run(&adapters, &[command, "--impl", "adapter:mine"]);
        assert_eq!((status, out.as_str()), (2, ""), "{command}: {err}");
        let setup = adapters.join("setup");
        let expected =
            format!("--impl adapter:mine: the adapter is not set up: run `{} mine`", setup.display());
        assert!(err.contains(&expected), "{command}: {err}");
    }
}

#[test]
fn an_unknown_adapter_is_an_error_that_lists_the_known_ones() {
    let (status, _, err) = run(&Fixture::new().path("adapters"), &["check", "--impl", "adapter:theirs"]);
    assert_eq!(status, 2);
    assert!(err.contains("found no adapter `theirs`, expected one of mine, ours"), "{err}");
}

#[test]
fn a_wrong_directory_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    let (status, _, err) = run(empty.path(), &["check", "--impl", "adapter:numpy"]);
    assert_eq!(status, 2);
    assert!(err.contains("BROADCHECK_ADAPTERS: found `") && err.contains("contains protocol.py"), "{err}");
}

#[test]
fn an_adapter_that_is_set_up_runs() {
    let fixture = Fixture::new();
    let (status, out, err) = fixture.check(&[]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(err.contains("found no known failures of reference"), "{err}");
}

#[test]
fn an_adapter_that_is_a_program_runs() {
    let fixture = Fixture::new();
    let adapters = fixture.path("adapters");
    for directory in ["rust/src/bin", "rust/target/built/release"] {
        fs::create_dir_all(adapters.join(directory)).unwrap();
    }
    for file in ["rust/src/bin/built.rs", "rust/Cargo.lock", "rust/target/built/installed.txt"] {
        fs::write(adapters.join(file), "").unwrap();
    }
    let program = adapters.join("rust/target/built/release/built");
    fs::copy(adapters.join("venvs/ours/bin/python"), &program).unwrap();
    let check = ["check", "--impl", "adapter:built", "--filter", "numpy/zero"];
    let (status, out, err) = run(&adapters, &check);
    assert_eq!(status, 0, "{out}{err}");
    fs::remove_file(adapters.join("rust/target/built/installed.txt")).unwrap();
    let (status, _, err) = run(&adapters, &check);
    assert_eq!(status, 2);
    let setup = adapters.join("setup");
    assert!(err.contains(&format!("the adapter is not set up: run `{} built`", setup.display())), "{err}");
}

#[test]
fn known_failures_of_the_version_are_found() {
    let fixture = Fixture::new();
    let listed = "numpy/zero/zero-with-zero-on-the-first-axis";
    fixture.know("{from: \"0\"}", listed);
    let (status, out, err) = fixture.check(&[]);
    assert_eq!(status, 1, "a listed case that passes is a failure: {out}{err}");
    assert!(out.contains("is listed as a known failure"), "{out}");
    fixture.know("{from: \"99\"}", listed);
    let (status, out, err) = fixture.check(&[]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(err.contains("found no known failures of reference"), "{err}");
}

#[test]
fn an_entry_that_matches_no_case_is_a_failure_unless_other_cases_run() {
    let fixture = Fixture::new();
    fixture.know("{}", "numpy/no-such-case");
    assert_eq!(fixture.check(&[]).0, 1);
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/cases/numpy-zero.yaml");
    let (status, out, err) = fixture.check(&["--cases", cases.to_str().unwrap()]);
    assert_eq!(status, 0, "{out}{err}");
}

/// The package whose version an adapter declares, if its name differs from the adapter's.
fn package(adapter: &str) -> &str {
    match adapter {
        "xla" | "stablehlo" => "jaxlib",
        "paddle" => "paddlepaddle",
        "tensorflow" | "tf-function" => "tensorflow_cpu",
        "torch-compile" => "torch",
        "jax-jit" => "jax",
        "tvm" => "apache-tvm",
        "iree" => "iree-base-compiler",
        other => other,
    }
}

/// The crate whose version an adapter in Rust declares.
fn crate_of(adapter: &str) -> &str {
    match adapter {
        "candle" => "candle-core",
        "tract" => "tract-core",
        "burn" | "burn-ndarray" => "burn-tensor",
        other => panic!("{other} has no crate here"),
    }
}

/// The package of npm whose version an adapter in JavaScript declares.
fn package_of(adapter: &str) -> &str {
    match adapter {
        "jaxjs" => "@jax-js/jax",
        "mathjs" => "mathjs",
        "tfjs" => "@tensorflow/tfjs",
        other => panic!("{other} has no package here"),
    }
}

/// The known-failures file of a shipped adapter covers this version of it, and lists cases that exist.
fn assert_known(name: &str, version: &str) {
    let here = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = Known::load(&here.join(format!("known/{name}.yaml"))).expect(name);
    assert_eq!(known.implementation, name);
    assert!(known.covers(version), "{name}: known/{name}.yaml is not about the version {version}");
    let leftovers: Vec<&str> = known.unmatched(SUITE.ids()).iter().map(|entry| entry.case.as_str()).collect();
    assert!(leftovers.is_empty(), "{name}: entries about no case: {leftovers:?}");
    known.check_against(&SUITE).unwrap_or_else(|error| panic!("{error}"));
    let findings: Vec<u32> =
        stems("findings", ".md").iter().filter_map(|stem| stem.get(..4)?.parse().ok()).collect();
    for entry in known.entries() {
        let described = entry.finding.is_some_and(|number| findings.contains(&number));
        let reported =
            entry.url.as_deref().is_some_and(|url| url.contains("/issues/") || url.contains("/pull/"));
        assert!(described || reported, "{name}: {}: expected a finding or a report", entry.case);
    }
}

/// The names of the files in a directory that end with this, without the ending.
fn stems(directory: &str, ending: &str) -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(directory);
    let files =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| file.strip_suffix(ending).map(str::to_owned)).collect()
}

#[test]
fn every_shipped_adapter_is_complete() {
    let here = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = stems("adapters", "_adapter.py");
    for name in &names {
        let required =
            fs::read_to_string(here.join(format!("adapters/requirements-{name}.txt"))).expect(name);
        assert!(required.starts_with("# python: 3."), "{name}: {required}");
        let pinned = required.lines().filter(|line| !line.starts_with('#'));
        assert!(pinned.clone().all(|line| line.contains("==")), "{name}: {required}");
        let version = pinned.filter_map(|line| line.split_once("=="));
        let mut version = version.filter(|(found, _)| found.eq_ignore_ascii_case(package(name)));
        // A system that is no package of Python states its version in a comment.
        let stated = required.lines().find_map(|line| line.strip_prefix("# version: "));
        let version = stated.or_else(|| version.next_back().map(|(_, version)| version));
        assert_known(name, version.unwrap_or_else(|| panic!("{name}: {required}")));
    }
    assert!(names.len() >= 10, "{names:?}");
}

#[test]
fn every_shipped_adapter_in_rust_is_complete() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/rust");
    let [manifest, lock] =
        ["Cargo.toml", "Cargo.lock"].map(|file| fs::read_to_string(package.join(file)).unwrap());
    let names = stems("adapters/rust/src/bin", ".rs");
    for name in &names {
        let system = crate_of(name);
        let program = format!("name = \"{name}\"\nrequired-features = [\"{name}\"]\n");
        assert!(manifest.contains(&program), "{name}: found no program behind the feature of its name");
        let required = manifest.split(&format!("\n{system} = {{ version = \"=")).nth(1).expect(system);
        let version = required.split('"').next().expect(system);
        let locked = format!("name = \"{system}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&locked), "{name}: Cargo.lock has another version than {version}");
        assert_known(name, version);
    }
    assert!(names.len() >= 3, "{names:?}");
}

#[test]
fn every_shipped_adapter_in_javascript_is_complete() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/javascript");
    let packages = stems("adapters/javascript", "").into_iter().map(|name| (directory.join(&name), name));
    let packages: Vec<(PathBuf, String)> = packages.filter(|(package, _)| package.is_dir()).collect();
    for (package, name) in &packages {
        let [manifest, lock] = ["package.json", "package-lock.json"].map(|file| {
            let text = fs::read_to_string(package.join(file)).expect(name);
            serde_json::from_str::<serde_json::Value>(&text).expect(name)
        });
        let system = package_of(name);
        let version = manifest["dependencies"][system].as_str().expect(name);
        let locked = &lock["packages"][format!("node_modules/{system}")]["version"];
        assert_eq!(locked, version, "{name}: package-lock.json has another version of {system}");
        assert!(package.join("adapter.mjs").is_file(), "{name}: found no adapter.mjs");
        assert_known(name, version);
    }
    assert!(!packages.is_empty());
}
