//! The draft of a known-failures file from a run of `check`. It leaves out failures that are already known.

use super::{Entry, Run};
use broadcheck::given::Mode;
use broadcheck::known::draft::{Draft, Failure};
use broadcheck::optimiser::Optimiser;
use broadcheck::run::Status;
use std::path::Path;

/// The number of failures to list.
pub fn count(run: &Run) -> usize {
    listed(run).count()
}

fn listed(run: &Run) -> impl Iterator<Item = &Entry> {
    run.results.iter().filter(|entry| matches!(entry.status, Status::Failed | Status::Errored))
}

/// How the cases of a run were asked.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// The mode of `--given`, if there was one. Of several, it is not known in which a case failed.
    given: Option<Mode>,
    /// The position of the optimiser, if one was asked for.
    optimiser: Option<Optimiser>,
}

impl How {
    /// The modes and the positions that were asked for.
    pub fn of(given: &[Mode], optimiser: &[Optimiser]) -> How {
        let given = if let [mode] = given { Some(*mode) } else { None };
        let optimiser = if let [position] = optimiser { Some(*position) } else { None };
        How { given, optimiser }
    }
}

/// The text of the file.
pub fn render(run: &Run, how: How) -> String {
    drafted(run, how, |draft| draft.render())
}

/// Writes the file, which must not exist, and returns a message about it.
///
/// # Errors
/// The file exists or cannot be written.
pub(crate) fn write(run: &Run, how: How, path: &Path) -> Result<String, String> {
    drafted(run, how, |draft| draft.write(path)).map_err(|error| format!("--write-known {error}"))
}

fn drafted<R>(run: &Run, how: How, action: impl FnOnce(Draft<'_>) -> R) -> R {
    let failure = |entry: &Entry| {
        let detail = if entry.detail.trim().is_empty() { entry.status.name() } else { &entry.detail };
        let How { given, optimiser } = how;
        let (id, title) = (entry.id.clone(), entry.title.clone());
        Failure { id, title, detail: detail.to_owned(), given, optimiser }
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
