//! The one way to write a file: a draft beside it, synced, then given its name. After a full disk, a crash or
//! a power cut the file is either as it was before, or whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of names that are tried for a draft.
const MAX_NAMES: usize = 100;

/// Writes a file that does not exist yet. Its directory exists.
///
/// # Errors
/// `AlreadyExists` if the name is taken, also by a symbolic link without a target; it is left as it is. Any
/// other error of the system.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let draft = Draft::new(path, content, None)?;
    // Unlike a rename, this fails if the name has been taken meanwhile.
    match fs::hard_link(&draft.path, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links.
        Err(_) => reserve_and_rename(draft, path),
    }?;
    sync_directory(path);
    Ok(())
}

/// Writes a file, which replaces one of this name and gets its permissions. Its directory exists. A symbolic
/// link is replaced, not followed.
///
/// # Errors
/// Those of the system. The old file is then as it was.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let permissions = match fs::metadata(path) {
        Ok(old) => Some(old.permissions()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // Under this name there is a whole file either way, so the directory need not be synced.
    Draft::new(path, content, permissions)?.rename(path)
}

fn reserve_and_rename(draft: Draft, path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?;
    draft.rename(path).inspect_err(|_| {
        // It is the empty file of the line above.
        let _ = fs::remove_file(path);
    })
}

/// Makes a new name survive a power cut, where the system can do that. The content is safe already.
fn sync_directory(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix)
        && let Ok(directory) = File::open(parent)
    {
        let _ = directory.sync_all();
    }
}

/// The drafts that exist now.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the drafts of files that other threads are writing, for a program that is about to end. As long as
/// the result lives, no thread begins to write a file.
#[must_use]
pub fn remove_drafts() -> impl Sized {
    let mut drafts = drafts();
    for draft in drafts.drain(..) {
        // The program ends: nobody could be told.
        let _ = fs::remove_file(draft);
    }
    drafts
}

/// A complete file under another name, which is removed when this is dropped.
struct Draft {
    path: PathBuf,
    renamed: bool,
}

impl Draft {
    fn new(path: &Path, content: &[u8], permissions: Option<fs::Permissions>) -> io::Result<Draft> {
        let (draft, mut file) = Draft::open(path)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(content)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// Creates an empty file beside `path` under a name that is not taken.
    fn open(path: &Path) -> io::Result<(Draft, File)> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let mut last = io::Error::from(ErrorKind::AlreadyExists);
        for _ in 0..MAX_NAMES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            // Not derived from the name of the file, which may already have the maximum length.
            let name = OsString::from(format!(".broadcheck.{}.{number}.tmp", std::process::id()));
            let path = path.with_file_name(name);
            let mut drafts = drafts();
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    drafts.push(path.clone());
                    return Ok((Draft { path, renamed: false }, file));
                }
                // Left by a process that was killed, or not ours.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        drafts().retain(|draft| *draft != self.path);
        if !self.renamed {
            // The first error is reported; a failure to remove the draft adds nothing.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_created_once_and_replaced_at_will() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        create(&path, b"one").unwrap();
        assert_eq!(create(&path, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        let other = directory.path().join("other");
        reserve_and_rename(Draft::new(&other, b"four", None).unwrap(), &other).unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"four");
        assert_eq!(names(directory.path()), ["file", "other"], "no draft is left");
    }

    #[test]
    fn an_error_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("directory");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "mine").unwrap();
        replace(&path, b"text").unwrap_err();
        assert_eq!(fs::read(path.join("file")).unwrap(), b"mine");
        assert_eq!(names(directory.path()), ["directory"]);
        create(&directory.path().join("missing/file"), b"text").unwrap_err();
        create(&directory.path().join("x".repeat(300)), b"text").unwrap_err();
        assert_eq!(names(directory.path()), ["directory"]);
    }

    /// A file that has the name of a draft, as after a kill, is neither changed nor in the way.
    #[test]
    fn a_draft_of_another_run_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let theirs: Vec<PathBuf> = (0..MAX_NAMES * 2)
            .map(|number| directory.path().join(format!(".broadcheck.{}.{number}.tmp", std::process::id())))
            .collect();
        theirs.iter().for_each(|draft| fs::write(draft, "theirs").unwrap());
        let written = (0..3).any(|_| create(&path, b"ours").is_ok());
        assert!(written && theirs.iter().all(|draft| fs::read(draft).unwrap() == b"theirs"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_without_a_target_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path().join("nothing"), &path).unwrap();
        assert_eq!(create(&path, b"text").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(names(directory.path()), ["link"]);
    }
}
