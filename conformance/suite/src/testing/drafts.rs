//! Drafts of known-failures files, which `--write-known` asks for.

use super::runner::Report;
use super::summary::Subject;
use crate::known::draft;
use crate::run::Status;
use std::path::{Path, PathBuf};

/// The files for the drafts of these implementations: the path itself for a single one, and otherwise a file
/// for each, with its name after a hyphen.
pub(super) fn paths(path: &Path, about: &[Subject]) -> Result<Vec<PathBuf>, String> {
    let named = |Subject { name, .. }: &Subject| {
        let plain =
            |char: char| if char.is_ascii_alphanumeric() || "._@+".contains(char) { char } else { '-' };
        let name: String = name.chars().map(plain).collect();
        let mut file = path.file_stem().unwrap_or_default().to_owned();
        file.push(format!("-{name}"));
        if let Some(extension) = path.extension() {
            file.push(".");
            file.push(extension);
        }
        path.with_file_name(file)
    };
    let paths = match about {
        [_] => vec![path.to_owned()],
        several => several.iter().map(named).collect(),
    };
    for path in &paths {
        draft::may_write(path).map_err(|error| format!("--write-known {error}"))?;
    }
    Ok(paths)
}

/// Writes the draft of the implementation with this index, and returns what to tell the user.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(path: &Path, place: usize, about: &Subject, report: &Report) -> Result<String, String> {
    let of_it = report.drafts.iter().filter(|(subject, _)| *subject == place);
    let failures: Vec<draft::Failure> = of_it.map(|(_, failure)| failure.clone()).collect();
    let Subject { name: implementation, version, .. } = about;
    let of_it = report.results.iter().filter(|result| result.about.subject == place);
    let results = of_it.filter(|result| result.status != Status::Skipped).count();
    let by = "cargo test -- --write-known";
    let draft = draft::Draft { by, implementation, version, results, failures: &failures };
    draft.write(path).map_err(|error| format!("--write-known {error}"))
}
