//! `broadcheck adapters install`: writes the adapters that the command contains to a directory, and sets some
//! of them up there.

use super::{DIRECTORY, PROTOCOL};
use crate::embedded;
use broadcheck::files::replace;
use broadcheck_harness::run_guarded;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The file that marks a directory as written by this command: the hashes of the files in it, in the format
/// of `sha256sum`.
const SUMS: &str = "SHA256SUMS";

/// Written if it is missing, and then changed by cargo, which adds broadcheck's own crates to it.
const LOCK: &str = "rust/Cargo.lock";

/// The directory for this user, by the conventions of the platform; `None` if the environment names no home.
pub(crate) fn default_directory() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        let absolute = variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
        absolute.or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("broadcheck/adapters"))
}

/// Where to install without `--dir`: where `adapter:NAME` will look first.
///
/// # Errors
/// There is no such place.
pub(crate) fn target() -> Result<PathBuf, String> {
    if let Some(named) = env::var_os(DIRECTORY) {
        return Ok(PathBuf::from(named));
    }
    super::directory()?
        .or_else(default_directory)
        .ok_or_else(|| "found no home directory in the environment, expected the option --dir DIR".to_owned())
}

/// Whether the directory was written by this command. The directory of a checkout was not.
pub(super) fn is_installed(directory: &Path) -> bool {
    directory.join(SUMS).is_file()
}

/// Whether the directory has the files of this version of the command, or is not installed but a checkout.
pub(super) fn is_current(directory: &Path) -> bool {
    fs::read_to_string(directory.join(SUMS)).map_or(true, |text| text == sums())
}

/// Writes the adapters to a directory, unless it belongs to a checkout, and sets those with these names up.
/// What is done and what fails is printed.
///
/// # Errors
/// A file is in the way, a file cannot be written, or Python does not run.
pub(crate) fn install(directory: &Path, names: &[String]) -> Result<ExitStatus, String> {
    let checkout = directory.join(PROTOCOL).is_file() && !is_installed(directory);
    if !checkout {
        write(directory)?;
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    // It may run for minutes, and ends when this process is interrupted.
    let setup = run_guarded(Command::new(python).arg(directory.join("setup")).args(names));
    setup.map_err(|error| format!("{python}: {error}, expected Python 3.8 or later on the PATH"))
}

/// Each file with its path in the directory and its text there.
fn contents() -> impl Iterator<Item = (&'static str, Cow<'static, [u8]>)> {
    embedded::files("adapters").map(|(path, text)| (path, installed(path, text)))
}

/// A checkout has broadcheck's crates beside the adapters. Elsewhere they come from the registry.
fn installed(path: &str, text: &'static [u8]) -> Cow<'static, [u8]> {
    if path != "rust/Cargo.toml" {
        return Cow::Borrowed(text);
    }
    let version = concat!("\"=", env!("CARGO_PKG_VERSION"), "\"");
    let line = |line: &str| match line.split_once(" = { path = ") {
        Some((name, _)) if name.starts_with("broadcheck-") => format!("{name} = {version}\n"),
        _ => format!("{line}\n"),
    };
    Cow::Owned(String::from_utf8_lossy(text).lines().map(line).collect::<String>().into_bytes())
}

/// The text of [`SUMS`].
fn sums() -> String {
    let mut text = concat!(
        "# Written by `broadcheck adapters install`, version ",
        env!("CARGO_PKG_VERSION"),
        ". Do not change the files: install replaces them.\n"
    )
    .to_owned();
    for (path, content) in contents().filter(|(path, _)| *path != LOCK) {
        writeln!(text, "{}  {path}", hash(&content)).expect("writing to a string does not fail");
    }
    text
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("writing to a string does not fail");
        digits
    })
}

fn write(directory: &Path) -> Result<(), String> {
    let earlier = fs::read_to_string(directory.join(SUMS)).unwrap_or_default();
    let earlier: BTreeMap<&str, &str> =
        earlier.lines().filter_map(|line| line.split_once("  ")).map(|(sum, path)| (path, sum)).collect();
    for (path, content) in contents() {
        may_write(&directory.join(path), &content, earlier.get(path).copied())?;
    }
    // Nothing has been written so far. The sums come last, so that an interrupted installation is repeated.
    for (path, content) in contents() {
        let file = directory.join(path);
        if path == LOCK && file.exists() && is_current(directory) {
            continue;
        }
        put(&file, &content).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let file = directory.join(SUMS);
    put(&file, sums().as_bytes()).map_err(|error| format!("{}: {error}", file.display()))
}

/// Checks that a file is missing, has this content, or was written by an earlier installation.
fn may_write(file: &Path, content: &[u8], earlier: Option<&str>) -> Result<(), String> {
    let place = file.display();
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("{place}: {error}")),
        Ok(metadata) if !metadata.is_file() => {
            return Err(format!(
                "{place}: found something other than a regular file, expected a file or none"
            ));
        }
        Ok(_) => {}
    }
    let found = fs::read(file).map_err(|error| format!("{place}: {error}"))?;
    if found == content || file.ends_with(LOCK) || earlier == Some(hash(&found).as_str()) {
        return Ok(());
    }
    Err(format!(
        "{place}: found a file that was changed or not written by broadcheck, expected another --dir"
    ))
}

fn put(file: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    if fs::read(file).is_ok_and(|found| found == content) {
        return Ok(());
    }
    replace(file, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adapters_are_written_and_written_again() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path()).unwrap();
        assert!(is_installed(directory.path()) && is_current(directory.path()));
        let manifest = fs::read_to_string(directory.path().join("rust/Cargo.toml")).unwrap();
        assert!(
            !manifest.contains("path = \"..") && manifest.contains("\nbroadcheck-spec = \"="),
            "{manifest}"
        );
        // cargo has added to it.
        fs::write(directory.path().join(LOCK), "version = 4\n").unwrap();
        write(directory.path()).unwrap();
        assert_eq!(fs::read_to_string(directory.path().join(LOCK)).unwrap(), "version = 4\n");
    }

    #[test]
    fn another_version_replaces_its_files_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path()).unwrap();
        let (file, sums) = (directory.path().join(PROTOCOL), directory.path().join(SUMS));
        let now = fs::read(&file).unwrap();
        fs::write(&file, "of an earlier version").unwrap();
        let error = write(directory.path()).unwrap_err();
        assert!(error.contains("protocol.py: found a file that was changed"), "{error}");
        let text = fs::read_to_string(&sums).unwrap();
        fs::write(&sums, text.replace(&hash(&now), &hash(b"of an earlier version"))).unwrap();
        assert!(!is_current(directory.path()));
        write(directory.path()).unwrap();
        assert!(fs::read(&file).unwrap() == now && is_current(directory.path()));
    }
}
