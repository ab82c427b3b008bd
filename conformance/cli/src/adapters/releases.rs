//! Releases of a system: the script `releases.py` lists those of the package index, and installs one.

use crate::history::Listed;
use broadcheck_harness::run_guarded;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The script, in the directory of the adapters.
const SCRIPT: &str = "releases.py";

/// The longest answer of the script that is read, in bytes. A list of 1000 releases has 50 kB.
const MAX_ANSWER: u64 = 1 << 20;

/// The exit statuses of the script.
const DONE: i32 = 0;
const UNABLE: i32 = 1;
const NO_INDEX: i32 = 3;

/// A release that is installed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Installed {
    /// The words of the command that starts the adapter.
    pub(crate) command: Vec<String>,
    /// The version of Python.
    pub(crate) python: String,
    /// The packages beside it, each with its version.
    pub(crate) beside: Vec<String>,
}

/// Why there is no answer.
pub(crate) enum Failure {
    /// The release cannot be installed or started: the reason.
    Unable(String),
    /// The package index does not answer.
    NoIndex(String),
    /// Nothing can be installed, or the arguments are wrong.
    Other(String),
}

/// A directory for the environments, which is deleted in the end.
pub(crate) struct Workshop {
    directory: PathBuf,
    script: PathBuf,
}

impl Workshop {
    /// # Errors
    /// There are no adapters, or the directory cannot be created.
    pub(crate) fn open(system: &str) -> Result<Workshop, String> {
        let adapters = super::directory()?.ok_or_else(|| {
            format!("found no adapters, expected them: run `broadcheck adapters install {system}`")
        })?;
        let names = super::names(&adapters);
        if !names.iter().any(|name| name == system) {
            return Err(super::unknown(system, &names));
        }
        // A program may run several.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("broadcheck-history-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        private(&directory).map_err(|error| {
            format!("{}: {error}, expected a new directory for environments", directory.display())
        })?;
        Ok(Workshop { directory, script: adapters.join(SCRIPT) })
    }

    /// The releases that the package index has, the oldest first.
    pub(crate) fn list(&self, system: &str) -> Result<Vec<Listed>, Failure> {
        self.ask(&["list", system])
    }

    /// Installs a release, in place of an earlier one.
    pub(crate) fn install(&self, system: &str, version: &str) -> Result<Installed, Failure> {
        self.ask(&["install", system, version])
    }

    /// Deletes the environment of the last release.
    pub(crate) fn clear(&self) {
        // The directory as a whole is deleted in the end, and what cannot be deleted stays in either case.
        let _ = fs::remove_dir_all(self.directory.join("release"));
    }

    /// A message without the place of the environments, which says nothing to others.
    pub(crate) fn without_places(&self, message: &str) -> String {
        let mut text = message.replace(&*self.directory.to_string_lossy(), "");
        if let Some(adapters) = self.script.parent() {
            text = text.replace(&*adapters.to_string_lossy(), "adapters");
        }
        text
    }

    fn ask<T: DeserializeOwned>(&self, words: &[&str]) -> Result<T, Failure> {
        let (answer, errors) = (self.directory.join("answer"), self.directory.join("errors"));
        let python = if cfg!(windows) { "python" } else { "python3" };
        let run = || -> io::Result<Option<i32>> {
            let mut command = Command::new(python);
            command.arg(&self.script).args(words).arg(&self.directory);
            // No .pyc file beside the adapters.
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            command.stdout(File::create(&answer)?).stderr(File::create(&errors)?);
            Ok(run_guarded(&mut command)?.code())
        };
        let status = run().map_err(|error| {
            Failure::Other(format!("{python}: {error}, expected Python 3.9 or later on the PATH"))
        })?;
        let read = |path: &Path| -> String {
            let mut bytes = Vec::new();
            let file = File::open(path).map(|file| file.take(MAX_ANSWER));
            // An answer that cannot be read is empty, which is reported below.
            let _ = file.and_then(|mut file| file.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let said = read(&errors);
        match status {
            Some(DONE) => serde_json::from_str(&read(&answer)).map_err(|error| {
                Failure::Other(format!("{}: found another answer than JSON: {error}", self.script.display()))
            }),
            Some(UNABLE) => {
                let reason = said.lines().rev().find(|line| !line.trim().is_empty());
                Err(Failure::Unable(self.without_places(reason.unwrap_or("no reason was given").trim())))
            }
            Some(NO_INDEX) => Err(Failure::NoIndex(self.without_places(said.trim()))),
            _ => Err(Failure::Other(format!("{}: {}", self.script.display(), said.trim()))),
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be deleted is left to the system, which empties its temporary directory.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Creates a directory that only this user can read.
#[cfg(unix)]
fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}
