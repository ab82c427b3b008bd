//! Writes proposed cases to files, one per signature. Existing files are never changed.

use super::Proposal;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Where a proposed case was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// In a new file.
    New(PathBuf),
    /// There is already a file of this name, which is left unchanged: the signature was found before.
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

/// Writes a proposed case into a directory, which is created if it does not exist.
///
/// # Errors
/// The path, what was found and what was expected.
pub fn write_case(directory: &Path, proposal: &Proposal) -> Result<Written, String> {
    let said = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(directory)
        .map_err(|error| said(directory, error) + ": expected a directory for cases")?;
    let path = directory.join(format!("{}.yaml", proposal.id.replace('/', "-")));
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Written::Existing(path)),
        Err(error) => return Err(said(&path, error)),
    };
    file.write_all(proposal.yaml.as_bytes()).map_err(|error| said(&path, error))?;
    Ok(Written::New(path))
}
