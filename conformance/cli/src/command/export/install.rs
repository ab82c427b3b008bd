//! Puts a kit into its directory as a whole: either every file is the new one, or every file is as before.
//!
//! The new files are first written to the subdirectory [`STAGING`]. Then each old file is moved there and the
//! new one takes its name; the manifest is last. An error moves everything back. If the process is killed,
//! the journal in the subdirectory shows what it did, and the next export moves everything back before it
//! begins.

use super::identity::hash;
use super::manifest::{Entry, File, Manifest};
use super::place::Place;
use crate::command::interrupt;
use broadcheck::files;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The subdirectory that exists only while a kit is written.
pub(in super::super) const STAGING: &str = ".broadcheck-export";

const JOURNAL: &str = "journal.json";

/// What is done, in this order.
#[derive(Serialize, Deserialize)]
pub(super) struct Journal {
    /// Identifies a journal of broadcheck.
    journal: String,
    /// Files that exist now and are replaced or removed.
    aside: Vec<String>,
    /// Files that are new or replace another. None of them is in its place yet with this hash.
    put: Vec<Entry>,
    /// The hash of the new manifest.
    manifest: String,
}

const KIND: &str = "broadcheck-export";

impl Journal {
    /// Parses a journal of broadcheck all of whose paths are inside the directory; `None` for anything else.
    pub(super) fn read(content: &[u8]) -> Option<Journal> {
        let journal: Journal = serde_json::from_slice(content).ok()?;
        let aside = journal.aside.iter().map(|path| Entry { path: path.clone(), ..Entry::default() });
        let inside = aside.chain(journal.put.iter().cloned()).all(|entry| entry.is_inside());
        (inside && journal.journal == KIND).then_some(journal)
    }
}

/// The changes that make one kit of another.
struct Changes<'a> {
    /// Files that are new, or that replace another of this name.
    put: Vec<&'a File>,
    /// Files that exist and are replaced or removed.
    aside: Vec<String>,
    manifest: &'a File,
}

/// Writes what is new or different, and removes what `earlier` lists and is no longer part.
///
/// # Errors
/// A file was changed since, or is not of an earlier run; or the first error of the system. The directory is
/// then as it was, or the message says that it is not.
pub(in super::super) fn update(
    place: &Place,
    earlier: &[Entry],
    files: &[File],
    manifest: &File,
) -> Result<(), String> {
    // A path that leaves the directory is not of an export.
    let mut earlier: BTreeMap<&str, &str> = earlier
        .iter()
        .filter(|file| file.is_inside())
        .map(|file| (file.path.as_str(), file.sha256.as_str()))
        .collect();
    let mut changes = Changes { put: Vec::new(), aside: Vec::new(), manifest };
    for file in files {
        let expected = earlier.remove(file.path.as_str());
        let Some(content) = place.read(&file.path)? else {
            changes.put.push(file);
            continue;
        };
        if content == file.content {
            continue;
        }
        if expected != Some(hash(&content).as_str()) {
            return Err(is_not_ours(place, &file.path));
        }
        changes.put.push(file);
        changes.aside.push(file.path.clone());
    }
    // If these stayed, what they say would be there twice.
    for (path, sha256) in earlier {
        let Some(content) = place.read(path)? else { continue };
        if hash(&content) != sha256 {
            return Err(is_not_ours(place, path));
        }
        changes.aside.push(path.to_owned());
    }
    let same = place.read(Manifest::NAME)?.is_some_and(|content| content == manifest.content);
    if changes.put.is_empty() && changes.aside.is_empty() && same {
        return Ok(());
    }
    install(place, &changes)
}

fn is_not_ours(place: &Place, path: &str) -> String {
    format!(
        "{}: found a file that was changed since the earlier run, or that broadcheck did not write, expected it \
         unchanged or deleted, or another --out",
        place.at(path).display()
    )
}

/// Called before each move. An error stops the installation; the tests stop it everywhere.
type Step<'a> = &'a mut dyn FnMut() -> Result<(), Stop>;

/// Why an installation stops.
enum Stop {
    Error(String),
    /// As if the process had been killed.
    #[cfg(test)]
    Killed,
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::Error(message)
    }
}

/// Makes the changes, all or none.
///
/// # Errors
/// The first error. The directory is then as it was, or the message says that it is not.
fn install(place: &Place, changes: &Changes<'_>) -> Result<(), String> {
    install_in_steps(place, changes, &mut || match interrupt::pressed() {
        true => Err(Stop::Error("interrupted".into())),
        false => Ok(()),
    })
}

fn install_in_steps(place: &Place, changes: &Changes<'_>, step: Step<'_>) -> Result<(), String> {
    match stage(place, changes, step).and_then(|()| move_all(place, changes, step)) {
        Ok(()) => {
            remove_empty_directories(place, &changes.aside);
            clear(place).map_err(|error| {
                format!("{error}; the kit is complete, and the next export removes {STAGING}")
            })
        }
        Err(Stop::Error(error)) => match recover(place) {
            Ok(()) => Err(format!("{error}; the directory is as it was before")),
            Err(other) => Err(format!("{error}; undoing what was written failed, too: {other}")),
        },
        #[cfg(test)]
        Err(Stop::Killed) => Err("killed".into()),
    }
}

/// Writes the journal and the new files into the staging directory.
fn stage(place: &Place, changes: &Changes<'_>, step: Step<'_>) -> Result<(), Stop> {
    let staging = place.below(STAGING);
    step()?;
    place.make_parent(&format!("{STAGING}/{JOURNAL}"))?;
    let journal = Journal {
        journal: KIND.into(),
        aside: changes.aside.clone(),
        put: changes.put.iter().map(|file| file.entry()).collect(),
        manifest: changes.manifest.sha256.clone(),
    };
    let text = serde_json::to_string_pretty(&journal).expect("a journal can be written as JSON");
    step()?;
    write(&staging, JOURNAL, text.as_bytes())?;
    for file in changes.put.iter().copied().chain([changes.manifest]) {
        step()?;
        write(&staging, &format!("new/{}", file.path), &file.content)?;
    }
    Ok(())
}

fn write(place: &Place, path: &str, content: &[u8]) -> Result<(), String> {
    place.make_parent(path)?;
    let at = place.at(path);
    files::replace(&at, content).map_err(|error| format!("{}: {error}", at.display()))
}

fn move_all(place: &Place, changes: &Changes<'_>, step: Step<'_>) -> Result<(), Stop> {
    for path in &changes.aside {
        step()?;
        rename(place, path, &format!("{STAGING}/old/{path}"))?;
    }
    for file in &changes.put {
        step()?;
        if place.look(&file.path)?.is_some() {
            let at = place.at(&file.path);
            return Err(format!("{}: found a file that was not there before", at.display()).into());
        }
        rename(place, &format!("{STAGING}/new/{}", file.path), &file.path)?;
    }
    step()?;
    // In one step: a kit never lacks its manifest.
    rename(place, &format!("{STAGING}/new/{}", Manifest::NAME), Manifest::NAME)?;
    step()
}

/// Moves a file to another name, whose directory is created if missing.
fn rename(place: &Place, from: &str, to: &str) -> Result<(), String> {
    place.look(from)?;
    place.make_parent(to)?;
    fs::rename(place.at(from), place.at(to)).map_err(|error| format!("{}: {error}", place.at(to).display()))
}

/// Whether an export into this directory was interrupted.
pub(in super::super) fn is_interrupted(place: &Place) -> bool {
    fs::symlink_metadata(place.at(STAGING)).is_ok()
}

/// Undoes an interrupted export, or finishes it if only its last steps are missing. Does nothing if there was
/// none.
///
/// # Errors
/// The directory has been changed meanwhile, or something cannot be moved.
pub(in super::super) fn recover(place: &Place) -> Result<(), String> {
    if !is_interrupted(place) {
        return Ok(());
    }
    if let Some(journal) = journal(place)? {
        let manifest = place.read(Manifest::NAME)?;
        if manifest.is_none_or(|content| hash(&content) != journal.manifest) {
            undo(place, &journal)?;
        } else {
            remove_empty_directories(place, &journal.aside);
        }
    }
    clear(place)
}

/// The journal; `None` if the export ended before it was written.
fn journal(place: &Place) -> Result<Option<Journal>, String> {
    let path = format!("{STAGING}/{JOURNAL}");
    let Some(content) = place.read(&path)? else { return Ok(None) };
    Journal::read(&content).map(Some).ok_or_else(|| {
        let found = "found something other than the journal of an interrupted export";
        format!("{}: {found}, expected no file of this name", place.at(&path).display())
    })
}

fn undo(place: &Place, journal: &Journal) -> Result<(), String> {
    for Entry { path, sha256, .. } in &journal.put {
        if place.read(path)?.is_some_and(|content| hash(&content) == *sha256) {
            fs::remove_file(place.at(path))
                .map_err(|error| format!("{}: {error}", place.at(path).display()))?;
        }
    }
    for path in &journal.aside {
        let old = format!("{STAGING}/old/{path}");
        if place.look(&old)?.is_none() {
            continue;
        }
        if place.look(path)?.is_some() {
            let (at, old) = (place.at(path), place.at(&old));
            let expected = format!("none, to move {} back to", old.display());
            return Err(format!(
                "{}: found a file that was not there before, expected {expected}",
                at.display()
            ));
        }
        rename(place, &old, path)?;
    }
    let put: Vec<String> = journal.put.iter().map(|entry| entry.path.clone()).collect();
    remove_empty_directories(place, &put);
    Ok(())
}

/// Removes the staging directory with the files that this command wrote into it.
fn clear(place: &Place) -> Result<(), String> {
    let staging = place.below(STAGING);
    let mut ours: BTreeSet<String> = [JOURNAL.to_owned(), format!("new/{}", Manifest::NAME)].into();
    if let Some(journal) = journal(place)? {
        ours.extend(journal.put.iter().map(|entry| format!("new/{}", entry.path)));
        ours.extend(journal.aside.iter().map(|path| format!("old/{path}")));
    }
    let found = staging.files()?;
    let is_draft = |path: &str| {
        let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(".broadcheck.") && name.ends_with(".tmp")
    };
    if let Some(other) = found.iter().find(|path| !ours.contains(*path) && !is_draft(path)) {
        let at = staging.at(other);
        let expected = "only files of an interrupted export in this directory";
        return Err(format!(
            "{}: found a file that this command did not write, expected {expected}",
            at.display()
        ));
    }
    // The journal goes last: without it, the other files would be anybody's.
    let (journal, others): (Vec<&String>, Vec<&String>) = found.iter().partition(|path| *path == JOURNAL);
    for path in others.into_iter().chain(journal) {
        fs::remove_file(staging.at(path))
            .map_err(|error| format!("{}: {error}", staging.at(path).display()))?;
    }
    // Only directories are left.
    let root = place.at(STAGING);
    fs::remove_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))
}

/// Removes the directories of these files that are empty now.
fn remove_empty_directories(place: &Place, paths: &[String]) {
    let parents = paths.iter().flat_map(|path| Path::new(path).ancestors().skip(1));
    let parents: BTreeSet<&Path> = parents.filter(|path| !path.as_os_str().is_empty()).collect();
    for path in parents.into_iter().rev() {
        // A directory that is not empty stays, and so does a link.
        let _ = fs::remove_dir(place.at(&path.to_string_lossy()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary directory, in memory where there is such a file system: an export syncs its files
    /// to the disk.
    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
    }

    fn content(place: &Place) -> Vec<(String, String)> {
        let read = |path: String| {
            let content = place.read(&path).unwrap().unwrap();
            (path, String::from_utf8(content).unwrap())
        };
        place.files().unwrap().into_iter().map(read).collect()
    }

    /// Stops before every step in turn, with an error and as by a kill.
    #[test]
    fn an_interrupted_export_is_undone_and_repeated() {
        let [replaced, added, manifest] =
            [("json/a", "new"), ("deep/er/b", "added"), (Manifest::NAME, "the new manifest")]
                .map(|(path, text)| File::new(path, text));
        let aside = vec!["json/a".to_owned(), "yaml/gone".to_owned()];
        let changes = Changes { put: vec![&replaced, &added], aside, manifest: &manifest };
        let old =
            ["json/a", Manifest::NAME, "mine", "yaml/gone"].map(|path| (path.to_owned(), "old".to_owned()));
        let new = [
            ("deep/er/b", "added"),
            ("json/a", "new"),
            (Manifest::NAME, "the new manifest"),
            ("mine", "old"),
        ];
        let new = new.map(|(path, text)| (path.to_owned(), text.to_owned()));
        for killed in [false, true] {
            let mut stops = 0;
            loop {
                let directory = scratch();
                let place = Place::open(directory.path()).unwrap();
                for (path, text) in &old {
                    write(&place, path, text.as_bytes()).unwrap();
                }
                let mut steps = 0;
                let mut step = || {
                    steps += 1;
                    let stop = || if killed { Stop::Killed } else { Stop::Error("full".into()) };
                    if steps > stops { Err(stop()) } else { Ok(()) }
                };
                let done = install_in_steps(&place, &changes, &mut step);
                if let Err(message) = &done {
                    let expected = if killed { "killed" } else { "full; the directory is as it was before" };
                    assert_eq!(message, expected);
                    assert!(killed || !is_interrupted(&place));
                    recover(&place).unwrap();
                    let finished = place.read(Manifest::NAME).unwrap().unwrap() == manifest.content;
                    assert_eq!(content(&place), if finished { &new } else { &old }, "{stops} steps");
                    assert!(!place.at("deep").exists() || finished);
                    if !finished {
                        install(&place, &changes).unwrap();
                    }
                }
                assert_eq!(content(&place), new);
                assert!(!is_interrupted(&place) && !place.at("yaml").exists());
                if done.is_ok() {
                    break;
                }
                // Each step writes to the disk, and an error takes the same way back as a kill.
                stops += if killed { 1 } else { 5 };
            }
            assert!(stops > 8, "{stops}");
        }
    }

    #[test]
    fn what_is_not_ours_in_the_staging_directory_stays() {
        let directory = scratch();
        let place = Place::open(directory.path()).unwrap();
        write(&place, &format!("{STAGING}/mine"), b"text").unwrap();
        assert!(recover(&place).unwrap_err().contains("did not write"));
        write(&place, &format!("{STAGING}/{JOURNAL}"), b"{}").unwrap();
        assert!(recover(&place).unwrap_err().contains("the journal of an interrupted export"));
        assert_eq!(content(&place).len(), 2);
    }
}
