//! Writes proposed cases to files. Existing files are never changed, and no proposal is lost.

use super::Proposal;
use broadcheck::files;
use broadcheck_spec::{Request, load_str};
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

/// Writes a proposed case into a directory, which is created if it does not exist. If the file of its name
/// has another request, the file and the case get a number.
///
/// # Errors
/// The path, what was found and what was expected.
pub fn write_case(directory: &Path, proposal: &Proposal) -> Result<Written, String> {
    let said = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(directory)
        .map_err(|error| said(directory, error) + ": expected a directory for cases")?;
    for number in 1..=MAX_NUMBER {
        let id = if number == 1 { proposal.id.clone() } else { format!("{}-{number}", proposal.id) };
        let path = directory.join(format!("{}.yaml", id.replace('/', "-")));
        let yaml = proposal.yaml.replace(&format!("- id: {}", proposal.id), &format!("- id: {id}"));
        match files::create(&path, yaml.as_bytes()) {
            Ok(()) => return Ok(Written::New(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(said(&path, error)),
        }
        if has_request_of(&path, &yaml) {
            return Ok(Written::Existing(path));
        }
    }
    Err(format!("{}: found {MAX_NUMBER} files of {}, expected fewer", directory.display(), proposal.id))
}

/// Whether a file has a case with the request of this one. Then the finding is not lost, even if a person has
/// edited what is expected.
fn has_request_of(path: &Path, yaml: &str) -> bool {
    let requests = |text: &str| -> Vec<Request> {
        let file = load_str(text, "case.yaml").unwrap_or_default();
        file.cases.into_iter().map(|case| case.request).collect()
    };
    let mut text = String::new();
    let read = fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
        && fs::File::open(path).is_ok_and(|file| file.take(MAX_BYTES).read_to_string(&mut text).is_ok());
    let written = requests(yaml);
    read && requests(&text).iter().any(|request| written.contains(request))
}
