//! The draft of a known-failures file from a run of `check`. It leaves out failures that are already known.

use super::{Entry, Run};
use broadcheck::known::draft::{Draft, Failure};
use broadcheck::run::Status;
use std::path::Path;

/// The number of failures to list.
pub fn count(run: &Run) -> usize {
    listed(run).count()
}

fn listed(run: &Run) -> impl Iterator<Item = &Entry> {
    run.results.iter().filter(|entry| matches!(entry.status, Status::Failed | Status::Errored))
}

/// The text of the file.
pub fn render(run: &Run) -> String {
    drafted(run, |draft| draft.render())
}

/// Writes the file, which must not exist, and returns a message about it.
///
/// # Errors
/// The file exists or cannot be written.
pub(crate) fn write(run: &Run, path: &Path) -> Result<String, String> {
    drafted(run, |draft| draft.write(path)).map_err(|error| format!("--write-known {error}"))
}

fn drafted<R>(run: &Run, action: impl FnOnce(Draft<'_>) -> R) -> R {
    let failure = |entry: &Entry| {
        let detail = if entry.detail.trim().is_empty() { entry.status.name() } else { &entry.detail };
        Failure { id: entry.id.clone(), title: entry.title.clone(), detail: detail.to_owned() }
    };
    let failures: Vec<Failure> = listed(run).map(failure).collect();
    action(Draft {
        by: "broadcheck check --write-known",
        implementation: &run.name,
        version: &run.version,
        results: run.results.len(),
        failures: &failures,
    })
}
