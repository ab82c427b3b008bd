//! Adapters: programs in `conformance/adapters` that connect a real system to the protocol. `adapter:NAME` is
//! the command that starts one, once `conformance/adapters/setup NAME` has installed its requirements or
//! built it. An adapter is a Python script, or a program of the crate in `rust`.
//!
//! The directory is named by the environment variable [`DIRECTORY`], or else belongs to the checkout that
//! contains the current directory or the running program. The known failures of a system are in the directory
//! `known` beside it.

use broadcheck::known::Known;
use std::fs;
use std::path::{Path, PathBuf};

/// The prefix of an adapter's name in `--impl`.
pub const PREFIX: &str = "adapter:";

/// The environment variable that names the directory of the adapters.
pub const DIRECTORY: &str = "BROADCHECK_ADAPTERS";

/// A file that every directory of adapters contains.
const PROTOCOL: &str = "protocol.py";

/// The file that setup writes last: the requirements that it has installed.
const INSTALLED: &str = "installed.txt";

/// The directory of the adapters.
///
/// # Errors
/// The adapters were not found.
pub fn directory() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(DIRECTORY) {
        let named = PathBuf::from(named);
        if named.join(PROTOCOL).is_file() {
            return Ok(named);
        }
        return Err(format!(
            "{DIRECTORY}: found `{}`, expected a directory of adapters that contains {PROTOCOL}",
            named.display()
        ));
    }
    let from = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let beside = from.iter().flatten().flat_map(|from| from.ancestors());
    beside
        .map(|ancestor| ancestor.join("conformance/adapters"))
        .find(|directory| directory.join(PROTOCOL).is_file())
        .ok_or_else(|| {
            format!(
                "found no adapters, expected to run inside a checkout of broadcheck, or the environment variable \
                 {DIRECTORY} with the path of its conformance/adapters"
            )
        })
}

/// The names of the adapters in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let mut names = stems(directory, "_adapter.py");
    names.extend(stems(&programs(directory), ".rs"));
    names.sort_unstable();
    names
}

/// The names of the files in a directory that end like this, without the ending.
fn stems(directory: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let stem = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_suffix(ending).map(str::to_owned);
    entries.filter_map(stem).collect()
}

/// The directory of the adapters that are written in Rust.
fn programs(directory: &Path) -> PathBuf {
    directory.join("rust/src/bin")
}

/// The command that starts an adapter.
///
/// # Errors
/// There is no such adapter, or it is not set up. The message then has the command that sets it up.
pub fn command(name: &str) -> Result<String, String> {
    command_in(&directory()?, name)
}

fn command_in(directory: &Path, name: &str) -> Result<String, String> {
    let known = names(directory);
    if !known.iter().any(|known| known == name) {
        return Err(format!("found no adapter `{name}`, expected one of {}", known.join(", ")));
    }
    let adapter = if programs(directory).join(format!("{name}.rs")).is_file() {
        Adapter::program(&directory.join("rust"), name)
    } else {
        Adapter::script(directory, name)
    };
    let installed = fs::read(adapter.installed).ok();
    let required = fs::read(adapter.required).ok();
    let setup = format!("run `{} {name}`", directory.join("setup").display());
    match installed {
        None => Err(format!("the adapter is not set up: {setup}")),
        installed if installed != required => {
            Err(format!("its requirements have changed since it was set up: {setup}"))
        }
        Some(_) => Ok(shell_words::join(adapter.words.iter().map(|word| word.to_string_lossy()))),
    }
}

/// An adapter in a directory, set up or not.
struct Adapter {
    /// The words of the command that starts it.
    words: Vec<PathBuf>,
    /// The file with the requirements that setup has installed.
    installed: PathBuf,
    /// The file with the current requirements.
    required: PathBuf,
}

impl Adapter {
    fn script(directory: &Path, name: &str) -> Adapter {
        let environment = directory.join("venvs").join(name);
        let python = environment.join("bin").join("python");
        Adapter {
            words: vec![python, directory.join(format!("{name}_adapter.py"))],
            installed: environment.join(INSTALLED),
            required: directory.join(format!("requirements-{name}.txt")),
        }
    }

    /// A program of the package in `rust`.
    fn program(package: &Path, name: &str) -> Adapter {
        let built = package.join("target").join(name);
        Adapter {
            words: vec![built.join("release").join(name)],
            installed: built.join(INSTALLED),
            required: package.join("Cargo.lock"),
        }
    }
}

/// The known failures of a system in this version, from its file in `known`; `None` if no file covers that
/// version.
///
/// # Errors
/// A file cannot be read, or two files cover this version.
pub fn known(implementation: &str, version: &str) -> Result<Option<Known>, String> {
    known_in(&directory()?.join("../known"), implementation, version)
}

fn known_in(directory: &Path, implementation: &str, version: &str) -> Result<Option<Known>, String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| is_about(path, implementation));
    paths.sort_unstable();
    let mut found: Option<(PathBuf, Known)> = None;
    for path in paths {
        let known = Known::load(&path)?;
        if known.implementation != implementation || !known.covers(version) {
            continue;
        }
        if let Some((other, _)) = &found {
            let (other, path) = (other.display(), path.display());
            return Err(format!(
                "{path}: found a second file for {implementation} {version}, besides {other}"
            ));
        }
        found = Some((path, known));
    }
    Ok(found.map(|(_, known)| known))
}

/// `NAME.yaml` or `NAME-RANGE.yaml`.
fn is_about(path: &Path, implementation: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let rest = stem.and_then(|stem| stem.strip_prefix(implementation));
    path.extension().is_some_and(|extension| extension == "yaml")
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with one adapter, `mine`.
    fn adapters() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for file in [PROTOCOL, "mine_adapter.py", "requirements-mine.txt"] {
            fs::write(directory.path().join(file), "numpy==1\n").unwrap();
        }
        directory
    }

    #[test]
    fn an_adapter_that_is_not_set_up_names_the_setup_command() {
        let directory = adapters();
        let error = command_in(directory.path(), "mine").unwrap_err();
        assert!(error.starts_with("the adapter is not set up: run `"), "{error}");
        assert!(error.ends_with("setup mine`"), "{error}");
        let error = command_in(directory.path(), "theirs").unwrap_err();
        assert_eq!(error, "found no adapter `theirs`, expected one of mine");
    }

    #[test]
    fn an_adapter_is_found_if_its_requirements_are_installed() {
        let directory = adapters();
        let environment = directory.path().join("venvs/mine");
        fs::create_dir_all(&environment).unwrap();
        fs::write(environment.join(INSTALLED), "numpy==1\n").unwrap();
        let words = shell_words::split(&command_in(directory.path(), "mine").unwrap()).unwrap();
        assert!(words[0].ends_with("venvs/mine/bin/python"), "{words:?}");
        assert!(words[1].ends_with("mine_adapter.py"), "{words:?}");
        fs::write(directory.path().join("requirements-mine.txt"), "numpy==2\n").unwrap();
        let error = command_in(directory.path(), "mine").unwrap_err();
        assert!(error.starts_with("its requirements have changed since it was set up: run `"), "{error}");
    }

    #[test]
    fn a_program_is_found_if_it_was_built_with_its_lock_file() {
        let directory = adapters();
        let package = directory.path().join("rust");
        let built = package.join("target/theirs");
        for path in [&programs(directory.path()), &built] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(programs(directory.path()).join("theirs.rs"), "").unwrap();
        fs::write(package.join("Cargo.lock"), "version = 4\n").unwrap();
        let error = command_in(directory.path(), "yours").unwrap_err();
        assert_eq!(error, "found no adapter `yours`, expected one of mine, theirs");
        let error = command_in(directory.path(), "theirs").unwrap_err();
        assert!(error.starts_with("the adapter is not set up: run `"), "{error}");
        fs::write(built.join(INSTALLED), "version = 4\n").unwrap();
        let words = shell_words::split(&command_in(directory.path(), "theirs").unwrap()).unwrap();
        assert_eq!(words.len(), 1);
        assert!(words[0].ends_with("target/theirs/release/theirs"), "{words:?}");
        fs::write(package.join("Cargo.lock"), "version = 5\n").unwrap();
        let error = command_in(directory.path(), "theirs").unwrap_err();
        assert!(error.starts_with("its requirements have changed since it was set up: run `"), "{error}");
    }

    #[test]
    fn known_failures_depend_on_the_version() {
        let directory = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(directory.path().join(file), text).unwrap();
        write("mine-1.yaml", "implementation: mine\nversions: {before: \"2\"}\nknown: []\n");
        write("mine-2.yaml", "implementation: mine\nversions: {from: \"2\"}\nknown: []\n");
        write("mine-other.yaml", "implementation: mine-other\nknown: []\n");
        write("minerva.yaml", "not read");
        let known = |version: &str| known_in(directory.path(), "mine", version);
        assert!(known("1.9").unwrap().unwrap().covers("1.0"));
        assert!(known("2.0").unwrap().unwrap().covers("3"));
        assert!(known_in(directory.path(), "theirs", "1").unwrap().is_none());
        write("mine.yaml", "implementation: mine\nknown: []\n");
        let error = known("1.9").err().unwrap();
        assert!(error.contains("found a second file for mine 1.9, besides"), "{error}");
    }
}
