//! Writes proposed cases to files. Existing files are never changed, and no proposal is lost.

use super::Proposal;
use broadcheck::files;
use broadcheck_spec::load_str;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// The number of files of one name.
const MAX_NUMBER: usize = 1000;

/// What is read of a file that has the name already, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Where a proposed case was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// In a new file.
    New(PathBuf),
    /// There is already a file with this request, which is left unchanged: it was found before.
    Existing(PathBuf),
}

impl Written {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Written::New(path) | Written::Existing(path) => path,
        }
    }
}

/// A file with a proposed case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filed {
    pub(crate) written: Written,
    /// The digest of its content, if the content is the proposal to the byte.
    pub(crate) digest: Option<u64>,
}

impl Filed {
    /// Removes the file if it still has the content that was written. A file that a person has edited stays,
    /// and one that a person has removed is no error.
    ///
    /// # Errors
    /// The path and the error of the system, if the file cannot be read or removed. It is then still there.
    pub(crate) fn remove(&self) -> Result<(), String> {
        let path = self.written.path();
        let said = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = match content(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found.map_err(said)?,
        };
        let unchanged = text.is_some_and(|text| Some(digest(text.as_bytes())) == self.digest);
        if unchanged { fs::remove_file(path).map_err(said) } else { Ok(()) }
    }
}

/// A digest by which a file is recognised as unchanged: FNV-1a.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Writes a proposed case into a directory, which is created if it does not exist. If the file of its name
/// has another request, the file and the case get a number.
///
/// # Errors
/// The path, what was found and what was expected.
pub fn write_case(directory: &Path, proposal: &Proposal) -> Result<Written, String> {
    file_case(directory, proposal).map(|filed| filed.written)
}

/// [`write_case`], with what is needed to recognise the file later.
pub(crate) fn file_case(directory: &Path, proposal: &Proposal) -> Result<Filed, String> {
    let said = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(directory)
        .map_err(|error| said(directory, error) + ": expected a directory for cases")?;
    for number in 1..=MAX_NUMBER {
        let id = if number == 1 { proposal.id.clone() } else { format!("{}-{number}", proposal.id) };
        let path = directory.join(format!("{}.yaml", id.replace('/', "-")));
        let yaml = proposal.named(&id).yaml;
        match files::create(&path, yaml.as_bytes()) {
            Ok(()) => {
                let digest = Some(digest(yaml.as_bytes()));
                return Ok(Filed { written: Written::New(path), digest });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(said(&path, error)),
        }
        // A file that cannot be read has another request, as far as is known.
        let text = content(&path).ok().flatten().unwrap_or_default();
        if text == yaml {
            // Written by an earlier part of the run.
            let digest = Some(digest(yaml.as_bytes()));
            return Ok(Filed { written: Written::Existing(path), digest });
        }
        if has_request_of(&text, &yaml) {
            return Ok(Filed { written: Written::Existing(path), digest: None });
        }
    }
    Err(format!("{}: found {MAX_NUMBER} files of {}, expected fewer", directory.display(), proposal.id))
}

/// Whether a file has a case with the request or signature of this one. Then the finding is not lost, even if
/// a person has edited what is expected.
fn has_request_of(text: &str, yaml: &str) -> bool {
    let file = |text: &str| load_str(text, "case.yaml").unwrap_or_default();
    let (found, written) = (file(text), file(yaml));
    found.cases.iter().any(|one| written.cases.iter().any(|other| one.request == other.request))
        || found
            .inferences
            .iter()
            .any(|one| written.inferences.iter().any(|other| one.request == other.request))
}

/// The text of a regular file, up to a limit. Nothing for what is not a regular file, or not text.
fn content(path: &Path) -> std::io::Result<Option<String>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::{Filed, Written, digest};
    use std::fs;

    #[test]
    fn a_file_that_cannot_be_removed_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("case.yaml");
        let filed = |path: &std::path::Path| Filed {
            written: Written::New(path.to_owned()),
            digest: Some(digest(b"ours")),
        };
        assert_eq!(filed(&path).remove(), Ok(()), "nothing is there");
        fs::write(&path, "edited").unwrap();
        assert_eq!(filed(&path).remove(), Ok(()));
        assert!(path.exists(), "an edited file stays");
        // No file can be below a file, which is an error other than that of a missing file.
        let below = path.join("case.yaml");
        let error = filed(&below).remove().unwrap_err();
        assert!(error.contains("case.yaml") && error.contains("os error"), "{error}");
        fs::write(&path, "ours").unwrap();
        assert_eq!(filed(&path).remove(), Ok(()));
        assert!(!path.exists());
    }
}
