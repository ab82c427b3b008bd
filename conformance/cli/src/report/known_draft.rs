//! Drafts a known-failures file from a run: an entry for each failure, with its outcome as the reason. A
//! person fills in each `url`; until then the loader rejects the file.

use super::{Entry, Run};
use broadcheck::run::Status;
use broadcheck_spec::hides;
use broadcheck_spec::write::quoted;
use std::fmt::Write as _;

/// The maximum length of a reason, in characters.
const MAX_REASON: usize = 300;

/// The number of failures to list.
pub fn count(run: &Run) -> usize {
    listed(run).count()
}

fn listed(run: &Run) -> impl Iterator<Item = &Entry> {
    run.results.iter().filter(|entry| matches!(entry.status, Status::Failed | Status::Errored))
}

/// The text of the file. It leaves out failures that are already known.
pub fn render(run: &Run) -> String {
    let mut text = format!(
        "# Drafted by `broadcheck check --write-known` from a run of {}: {} of {} failed.\n\
         #\n\
         # Check each entry: does the implementation differ, or is the case wrong? Explain the failure in `reason`, and\n\
         # link the system's documentation, its source or an issue in `url`. The file is rejected until every url is\n\
         # filled in. A glob can replace several entries: \"numpy/zero/*\". `versions` can have an upper bound:\n\
         # {{from: \"2.4\", before: \"2.5\"}}.\n\
         implementation: {}\n\
         {}known:\n",
        run.title(),
        count(run),
        run.results.len(),
        quoted(&run.name),
        versions(&run.version)
    );
    if count(run) == 0 {
        text = text.replace("known:\n", "known: []\n");
    }
    for entry in listed(run) {
        let _ = write!(
            text,
            "  # {}\n  - case: {}\n    reason: {}\n    url: \"\"\n",
            entry.title.replace(|char: char| char.is_control() || hides(char), " "),
            quoted(&entry.id),
            quoted(&reason(entry))
        );
    }
    text
}

/// The line with the first version; empty if the version does not begin with a digit.
fn versions(version: &str) -> String {
    match version.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("versions: {{from: {}}}\n", quoted(version)),
        false => String::new(),
    }
}

/// The outcome in one line.
fn reason(entry: &Entry) -> String {
    let line = entry.detail.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_else(|| entry.status.name());
    match line.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}
