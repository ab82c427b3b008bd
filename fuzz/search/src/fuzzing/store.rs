//! The directory of a run: the cases it found, and the state from which it can be continued.

use super::Campaign;
use super::index::{self, MARK};
use super::ledger::Entries;
use super::state::{MAX_BYTES, State};
use crate::shrink::digest;
use broadcheck::files;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The name of the state file. It has no ending of a case file, so that the directory can be checked as
/// cases.
const NAME: &str = "fuzz.state";

/// How often the state is written.
const PACE: Duration = Duration::from_secs(1);

/// The directory of a run.
pub struct Store {
    directory: PathBuf,
    arguments: Vec<String>,
    /// The digest of the state file as this run wrote or read it; `None` if there is none yet.
    last: Mutex<Option<u64>>,
    /// The list of findings that this run wrote last.
    index: Mutex<Option<String>>,
    pace: Duration,
}

/// A run that can be continued.
pub struct Earlier {
    directory: PathBuf,
    state: State,
    digest: u64,
}

impl Store {
    /// A directory for a new run, with the words of the command line that a run needs to continue it. The
    /// state of a run that has finished is replaced.
    ///
    /// # Errors
    /// The directory contains the state of a run that has not finished, or a file of its name that is not a
    /// state.
    pub fn create(directory: &Path, arguments: Vec<String>) -> Result<Store, String> {
        let path = directory.join(NAME);
        let last = if fs::symlink_metadata(&path).is_ok() {
            let earlier = Earlier::load(directory)?;
            if !earlier.state.finished {
                return Err(format!(
                    "{}: found a run that has not finished, expected none: continue it with `broadcheck fuzz \
                     --resume {}`, or delete the file",
                    path.display(),
                    directory.display()
                ));
            }
            Some(earlier.digest)
        } else {
            None
        };
        Ok(Store {
            directory: directory.to_owned(),
            arguments,
            last: Mutex::new(last),
            index: Mutex::default(),
            pace: PACE,
        })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// How often the state is written.
    pub(super) fn pace(&self) -> Duration {
        self.pace
    }

    /// The text of the state file.
    pub(super) fn text(
        &self,
        campaign: &Campaign<'_>,
        entries: &Entries,
        elapsed: Duration,
        finished: bool,
    ) -> Result<String, String> {
        let state = State::of(campaign, entries, &self.arguments, elapsed, finished);
        state.to_text().map_err(|error| format!("{}: {error}", self.directory.join(NAME).display()))
    }

    /// Writes the state. A file that another program has changed since is left as it is.
    pub(super) fn save(&self, text: &str) -> Result<(), String> {
        let path = self.directory.join(NAME);
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            None => files::create(&path, text.as_bytes()).map_err(|error| said(&error))?,
            Some(ours) => {
                if digest(read(&path)?.as_bytes()) != ours {
                    return Err(said(
                        &"found another content, expected what this run wrote: is another run using the directory?",
                    ));
                }
                files::replace(&path, text.as_bytes()).map_err(|error| said(&error))?;
            }
        }
        *last = Some(digest(text.as_bytes()));
        Ok(())
    }

    /// Writes the list of findings, if there are any and it has changed. Only such a list is replaced.
    pub(super) fn save_index(&self, text: Option<String>) -> Result<(), String> {
        let path = self.directory.join(index::NAME);
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let mut last = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if text.is_none() || text == *last {
            return Ok(());
        }
        let new = text.as_deref().unwrap_or_default().as_bytes();
        match files::create(&path, new) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !is_index(&path).map_err(|error| said(&error))? {
                    return Err(said(&"found another file, expected none or the findings of a run"));
                }
                files::replace(&path, new).map_err(|error| said(&error))?;
            }
            created => created.map_err(|error| said(&error))?,
        }
        *last = text;
        Ok(())
    }

    /// The same with another pace, for tests.
    #[cfg(test)]
    pub(super) fn at_pace(self, pace: Duration) -> Store {
        Store { pace, ..self }
    }
}

impl Earlier {
    /// Reads the state in the directory of a run.
    ///
    /// # Errors
    /// The file, what was found in it, and what was expected.
    pub fn load(directory: &Path) -> Result<Earlier, String> {
        let path = directory.join(NAME);
        let text = read(&path)?;
        let state = State::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Earlier { directory: directory.to_owned(), state, digest: digest(text.as_bytes()) })
    }

    /// The words of its command line.
    pub fn arguments(&self) -> &[String] {
        &self.state.arguments
    }

    /// The names of the left and the right side.
    pub fn names(&self) -> [&str; 2] {
        self.state.names()
    }

    /// The number of requests at which the run ends.
    pub fn requests(&self) -> Option<u64> {
        self.state.requests
    }

    /// The time limit of the run, including what has been used.
    pub fn time(&self) -> Option<Duration> {
        self.state.time_ms.map(Duration::from_millis)
    }

    /// How long the run has been sending requests.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.state.elapsed_ms)
    }

    /// The path of the state file, for messages.
    pub fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// The directory, to be used by the run that continues this one.
    pub fn store(&self, arguments: Vec<String>) -> Store {
        let last = Mutex::new(Some(self.digest));
        Store { directory: self.directory.clone(), arguments, last, index: Mutex::default(), pace: PACE }
    }

    pub(super) fn entries(&self, campaign: &Campaign<'_>) -> Result<Entries, String> {
        self.state
            .entries(campaign, &self.directory)
            .map_err(|error| format!("{}: {error}", self.path().display()))
    }
}

/// Whether a file is the list of findings of a run. Nothing but a regular file is opened.
fn is_index(path: &Path) -> std::io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() || found.len() > index::MAX_BYTES {
        return Ok(false);
    }
    let mut start = Vec::new();
    fs::File::open(path)?.take(MARK.len() as u64).read_to_end(&mut start)?;
    Ok(start == MARK.as_bytes())
}

fn read(path: &Path) -> Result<String, String> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(said(&"found no such file, expected the state of a run of `broadcheck fuzz --out`"));
        }
        Err(error) => return Err(said(&error)),
        Ok(found) => found,
    };
    if !found.is_file() || found.len() > MAX_BYTES {
        return Err(said(&format!("expected a regular file of at most {MAX_BYTES} bytes")));
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| said(&error))?;
    match file.take(MAX_BYTES).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(said(
            &"found bytes that are not UTF-8, expected the state of a run of `broadcheck fuzz --out`",
        )),
        Err(error) => Err(said(&error)),
    }
}
