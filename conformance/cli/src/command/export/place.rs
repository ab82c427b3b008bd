//! A directory that may contain anything: files are read and written below it without following a symbolic
//! link and without opening a pipe or a device.
//!
//! Every directory on the way is checked before each use. A program that replaces one of them by a link at
//! the same moment can still redirect that one access: the standard library cannot open a file relative to an
//! open directory. A file that is replaced between the check and the read is noticed.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

/// No file of a kit is larger. The rest of a larger one is not read.
const MAX_BYTES: u64 = 1 << 26;

/// A directory.
pub(in super::super) struct Place {
    root: PathBuf,
}

impl Place {
    /// An existing directory, which may be named by a link.
    pub(in super::super) fn open(root: &Path) -> Result<Place, String> {
        match fs::metadata(root) {
            Ok(metadata) if metadata.is_dir() => Ok(Place { root: root.to_owned() }),
            Ok(metadata) => Err(unexpected(root, metadata.file_type(), "a directory")),
            Err(error) => Err(format!("{}: {error}, expected a directory", root.display())),
        }
    }

    /// The path for messages.
    pub(in super::super) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A directory below this one, which need not exist.
    pub(in super::super) fn below(&self, path: &str) -> Place {
        Place { root: self.at(path) }
    }

    /// The metadata of a file; `None` if there is none.
    ///
    /// # Errors
    /// A directory on the way or the file itself is something else, such as a symbolic link or a pipe.
    pub(super) fn look(&self, path: &str) -> Result<Option<Metadata>, String> {
        let Some(found) = self.look_at_any(path)? else { return Ok(None) };
        if found.is_file() {
            return Ok(Some(found));
        }
        Err(unexpected(&self.at(path), found.file_type(), "a file or nothing"))
    }

    /// [`Place::look`] for whatever has the name.
    fn look_at_any(&self, path: &str) -> Result<Option<Metadata>, String> {
        let mut at = self.root.clone();
        let mut parts = Path::new(path).components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else {
                return Err(format!(
                    "{path}: found a path that leaves the directory, expected one inside it"
                ));
            };
            at.push(part);
            let found = match fs::symlink_metadata(&at) {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(format!("{}: {error}", at.display())),
            };
            if parts.peek().is_none() {
                return Ok(Some(found));
            }
            if !found.is_dir() {
                return Err(unexpected(&at, found.file_type(), "a directory"));
            }
        }
        Ok(None)
    }

    /// Whether there is a directory of this name, and not a link to one.
    pub(in super::super) fn has_directory(&self, path: &str) -> Result<bool, String> {
        Ok(self.look_at_any(path)?.is_some_and(|found| found.is_dir()))
    }

    /// The content of a file; `None` if there is none.
    ///
    /// # Errors
    /// As for [`Place::look`], or the file is too large or cannot be read.
    pub(in super::super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(before) = self.look(path)? else { return Ok(None) };
        let at = self.at(path);
        let too_large =
            || format!("{}: found a larger file, expected at most {MAX_BYTES} bytes", at.display());
        if before.len() > MAX_BYTES {
            return Err(too_large());
        }
        let read = || -> io::Result<Vec<u8>> {
            let file = File::open(&at)?;
            if !is_same(&before, &file.metadata()?) {
                return Err(io::Error::other("replaced while it was read"));
            }
            let mut content = Vec::new();
            file.take(MAX_BYTES + 1).read_to_end(&mut content)?;
            Ok(content)
        };
        let content = read().map_err(|error| format!("{}: {error}", at.display()))?;
        if content.len() as u64 > MAX_BYTES {
            return Err(too_large());
        }
        Ok(Some(content))
    }

    /// Creates the directories on the way to a file.
    pub(super) fn make_parent(&self, path: &str) -> Result<(), String> {
        let Some((parent, _)) = path.rsplit_once('/') else { return Ok(()) };
        let mut made = String::new();
        for part in parent.split('/') {
            made += part;
            match self.look_at_any(&made)? {
                Some(found) if found.is_dir() => {}
                Some(found) => return Err(unexpected(&self.at(&made), found.file_type(), "a directory")),
                None => fs::create_dir(self.at(&made))
                    .map_err(|error| format!("{}: {error}", self.at(&made).display()))?,
            }
            made.push('/');
        }
        Ok(())
    }

    /// Every file below this directory, and everything else that is not a directory, sorted by path.
    pub(in super::super) fn files(&self) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let mut open = vec![String::new()];
        while let Some(directory) = open.pop() {
            let at = self.at(&directory);
            let error = |error: io::Error| format!("{}: {error}", at.display());
            for entry in fs::read_dir(&at).map_err(error)? {
                let entry = entry.map_err(error)?;
                let path = format!("{directory}{}", entry.file_name().to_string_lossy());
                if entry.file_type().map_err(error)?.is_dir() {
                    open.push(path + "/");
                } else {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// The message for something that has a name but is not what is expected there.
fn unexpected(path: &Path, found: FileType, expected: &str) -> String {
    format!("{}: found {}, expected {expected}", path.display(), described(found))
}

fn described(found: FileType) -> &'static str {
    if found.is_symlink() {
        return "a symbolic link";
    }
    if found.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if found.is_fifo() {
            return "a named pipe";
        }
        if found.is_char_device() || found.is_block_device() {
            return "a device";
        }
        if found.is_socket() {
            return "a socket";
        }
    }
    if found.is_file() { "a file" } else { "something that is not a file" }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    other.is_file() && one.len() == other.len()
}
