//! Adapters: programs that connect a real system to the protocol. `adapter:NAME` is the command that starts
//! one, once its requirements are installed or it is built. An adapter is a Python script, a program of the
//! crate in `rust`, or a package in `javascript`.
//!
//! Their directory is named by the environment variable [`DIRECTORY`]; or belongs to the checkout that
//! contains the current directory or the running program, where `conformance/adapters/setup NAME` sets one
//! up; or was written for this user by `broadcheck adapters install NAME`. The known failures of a system are
//! in the directory `known` of the checkout. The command contains them too, for use elsewhere.

mod install;
pub(crate) mod releases;

pub(crate) use install::{default_directory, install, target};

use crate::embedded;
use broadcheck::known::Known;
use std::fs;
use std::path::{Path, PathBuf};

/// The prefix of an adapter's name in `--impl`.
pub(crate) const PREFIX: &str = "adapter:";

/// The environment variable that names the directory of the adapters.
pub(crate) const DIRECTORY: &str = "BROADCHECK_ADAPTERS";

/// A file that every directory of adapters contains.
const PROTOCOL: &str = "protocol.py";

/// The file that setup writes last: the requirements that it has installed.
const INSTALLED: &str = "installed.txt";

/// The directory of the adapters that are written in JavaScript: a package of npm each.
const JAVASCRIPT: &str = "javascript";

/// The program in the package of an adapter in JavaScript.
const PACKAGE: &str = "adapter.mjs";

/// The directory of the adapters; `None` if there is none, because nothing was installed.
///
/// # Errors
/// The environment variable names a directory without adapters.
pub(crate) fn directory() -> Result<Option<PathBuf>, String> {
    if let Some(named) = std::env::var_os(DIRECTORY) {
        let named = PathBuf::from(named);
        if named.join(PROTOCOL).is_file() {
            return Ok(Some(named));
        }
        return Err(format!(
            "{DIRECTORY}: found `{}`, expected a directory of adapters that contains {PROTOCOL}",
            named.display()
        ));
    }
    let from = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let beside = from.iter().flatten().flat_map(|from| from.ancestors());
    let checkouts = beside.map(|ancestor| ancestor.join("conformance/adapters"));
    Ok(checkouts.chain(default_directory()).find(|directory| directory.join(PROTOCOL).is_file()))
}

/// The names of the adapters that the command contains, sorted.
pub(crate) fn shipped() -> Vec<String> {
    let paths = embedded::files("adapters").map(|(path, _)| path);
    let stem = |path: &str| {
        let program = path.strip_prefix("rust/src/bin/").and_then(|file| file.strip_suffix(".rs"));
        let package = path.strip_prefix("javascript/").and_then(|file| file.strip_suffix("/adapter.mjs"));
        program.or(package).or_else(|| path.strip_suffix("_adapter.py")).map(str::to_owned)
    };
    let mut names: Vec<String> = paths.filter_map(stem).collect();
    names.sort_unstable();
    names
}

/// Whether an adapter can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// `--impl adapter:NAME` works.
    Ready,
    /// It was never set up.
    Missing,
    /// Its requirements, or the version of broadcheck that installed it, have changed since.
    Outdated,
}

/// An adapter of a directory.
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// What it runs on: `Python 3.11, 3.12`, `Rust` or `Node.js`.
    pub(crate) runs_on: String,
    /// Whether it can be started.
    pub(crate) state: State,
}

/// The adapters of a directory, or those that can be installed, sorted by name.
pub(crate) fn list(directory: Option<&Path>) -> Vec<Entry> {
    let Some(directory) = directory else {
        let entry = |name: String| {
            let text = |path: &str| embedded::files("adapters").find(|(file, _)| *file == path);
            let required = text(&format!("requirements-{name}.txt"));
            let required = required.and_then(|(_, text)| std::str::from_utf8(text).ok());
            let is_package = text(&format!("javascript/{name}/{PACKAGE}")).is_some();
            Entry { runs_on: runs_on(required, is_package), name, state: State::Missing }
        };
        return shipped().into_iter().map(entry).collect();
    };
    let entry = |name: String| {
        let requirements = fs::read_to_string(directory.join(format!("requirements-{name}.txt")));
        let state = Adapter::new(directory, &name).state(directory);
        let is_package = package(directory, &name).join(PACKAGE).is_file();
        Entry { runs_on: runs_on(requirements.ok().as_deref(), is_package), state, name }
    };
    names(directory).into_iter().map(entry).collect()
}

/// The first line of a Python script's requirements lists the versions of Python; others have no such file.
fn runs_on(requirements: Option<&str>, is_package: bool) -> String {
    let versions = requirements.and_then(|text| text.lines().next()?.strip_prefix("# python: "));
    let other = if is_package { "Node.js" } else { "Rust" };
    versions.map_or_else(|| other.into(), |versions| format!("Python {versions}"))
}

/// The names of the adapters in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let mut names = stems(directory, "_adapter.py");
    names.extend(stems(&programs(directory), ".rs"));
    let mut packages = stems(&directory.join(JAVASCRIPT), "");
    packages.retain(|name| package(directory, name).join(PACKAGE).is_file());
    names.extend(packages);
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

/// The directory of an adapter that is written in JavaScript.
fn package(directory: &Path, name: &str) -> PathBuf {
    directory.join(JAVASCRIPT).join(name)
}

/// The command that starts an adapter.
///
/// # Errors
/// There is no such adapter, or it is not set up. The message then has the command that sets it up.
pub(crate) fn command(name: &str) -> Result<String, String> {
    match directory()? {
        Some(directory) => command_in(&directory, name),
        None if shipped().iter().any(|known| known == name) => {
            Err(format!("the adapter is not set up: run `broadcheck adapters install {name}`"))
        }
        None => Err(unknown(name, &shipped())),
    }
}

/// The message for an adapter that does not exist.
pub(crate) fn unknown(name: &str, known: &[String]) -> String {
    format!("found no adapter `{name}`, expected one of {}", known.join(", "))
}

fn command_in(directory: &Path, name: &str) -> Result<String, String> {
    let known = names(directory);
    if !known.iter().any(|known| known == name) {
        return Err(unknown(name, &known));
    }
    let adapter = Adapter::new(directory, name);
    let setup = if install::is_installed(directory) {
        format!("run `broadcheck adapters install {name}`")
    } else {
        format!("run `{} {name}`", directory.join("setup").display())
    };
    match adapter.state(directory) {
        State::Missing => Err(format!("the adapter is not set up: {setup}")),
        State::Outdated if !install::is_current(directory) => {
            Err(format!("the adapter was installed by another version of broadcheck: {setup}"))
        }
        State::Outdated => Err(format!("its requirements have changed since it was set up: {setup}")),
        State::Ready => Ok(shell_words::join(adapter.words.iter().map(|word| word.to_string_lossy()))),
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
    fn new(directory: &Path, name: &str) -> Adapter {
        if programs(directory).join(format!("{name}.rs")).is_file() {
            Adapter::program(&directory.join("rust"), name)
        } else if package(directory, name).join(PACKAGE).is_file() {
            Adapter::package(&package(directory, name))
        } else {
            Adapter::script(directory, name)
        }
    }

    fn state(&self, directory: &Path) -> State {
        let installed = fs::read(&self.installed).ok();
        let required = fs::read(&self.required).ok();
        match installed {
            None => State::Missing,
            installed if installed == required && install::is_current(directory) => State::Ready,
            Some(_) => State::Outdated,
        }
    }

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

    /// A package of npm, in its directory.
    fn package(package: &Path) -> Adapter {
        Adapter {
            words: vec!["node".into(), package.join(PACKAGE)],
            installed: package.join("node_modules").join(INSTALLED),
            required: package.join("package-lock.json"),
        }
    }
}

/// The directory of the histories of a checkout; `None` elsewhere.
///
/// # Errors
/// Those of [`directory`].
pub(crate) fn history_directory() -> Result<Option<PathBuf>, String> {
    let beside = directory()?.filter(|directory| !install::is_installed(directory));
    Ok(beside
        .and_then(|directory| Some(directory.parent()?.join("history")))
        .filter(|history| history.is_dir()))
}

/// The known failures of a system in this version, from its file in `known`; `None` if no file covers that
/// version.
///
/// # Errors
/// A file cannot be read, or two files cover this version.
pub(crate) fn known(implementation: &str, version: &str) -> Result<Option<Known>, String> {
    let beside = directory()?.filter(|directory| !install::is_installed(directory));
    match beside.map(|directory| directory.join("../known")).filter(|known| known.is_dir()) {
        Some(directory) => known_in(&directory, implementation, version),
        None => known_in_the_command(implementation, version),
    }
}

/// [`known`], only among the files that the command contains.
pub(crate) fn known_in_the_command(implementation: &str, version: &str) -> Result<Option<Known>, String> {
    let files = embedded::files("known").filter(|(path, _)| is_about(Path::new(path), implementation));
    let texts = files.map(|(path, text)| (path, String::from_utf8_lossy(text)));
    let mut known = texts.map(|(path, text)| Known::parse(&text, path));
    let covers = |known: &Known| known.implementation == implementation && known.covers(version);
    known.find(|known| known.as_ref().map_or(true, covers)).transpose()
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
    fn a_package_is_found_if_its_lock_file_is_installed() {
        let directory = adapters();
        let theirs = package(directory.path(), "theirs");
        fs::create_dir_all(theirs.join("node_modules")).unwrap();
        fs::write(directory.path().join("javascript/protocol.mjs"), "").unwrap();
        for file in [PACKAGE, "package-lock.json"] {
            fs::write(theirs.join(file), "{}\n").unwrap();
        }
        let error = command_in(directory.path(), "yours").unwrap_err();
        assert_eq!(error, "found no adapter `yours`, expected one of mine, theirs");
        let error = command_in(directory.path(), "theirs").unwrap_err();
        assert!(error.starts_with("the adapter is not set up: run `"), "{error}");
        fs::write(theirs.join("node_modules").join(INSTALLED), "{}\n").unwrap();
        let words = shell_words::split(&command_in(directory.path(), "theirs").unwrap()).unwrap();
        assert!(words[0] == "node" && words[1].ends_with("javascript/theirs/adapter.mjs"), "{words:?}");
        let runs_on: Vec<String> =
            list(Some(directory.path())).into_iter().map(|entry| entry.runs_on).collect();
        assert_eq!(runs_on, ["Rust", "Node.js"], "mine names no version of Python");
        fs::write(theirs.join("package-lock.json"), "{ }\n").unwrap();
        let error = command_in(directory.path(), "theirs").unwrap_err();
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
    #[test]
    fn the_command_contains_known_failures() {
        let known = |version: &str| known_in_the_command("numpy", version).unwrap();
        assert!(known("2.4.6").is_some_and(|known| known.covers("2.4.6")));
        assert!(known("0.1").is_none());
        assert!(known_in_the_command("theirs", "1").unwrap().is_none());
    }

    #[test]
    fn the_command_contains_adapters_of_both_kinds() {
        let entries = list(None);
        let runs_on =
            |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| &*entry.runs_on);
        assert!(runs_on("numpy").is_some_and(|versions| versions.starts_with("Python 3.")));
        assert_eq!(runs_on("candle"), Some("Rust"));
        assert!(entries.is_sorted_by_key(|entry| &entry.name));
    }
}
