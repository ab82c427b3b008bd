//! A known-failures file drafted from a run: an entry for each failure, its reason as far as the run tells it. The
//! address is left to a person: until it is filled in, the file is refused.

use super::{Entry, Run};
use broadcheck::run::Status;
use broadcheck_spec::hides;
use broadcheck_spec::write::quoted;
use std::fmt::Write as _;

/// How much of an outcome is taken over as the reason.
const MAX_REASON: usize = 300;

/// How many failures there are to list.
pub fn count(run: &Run) -> usize {
    listed(run).count()
}

fn listed(run: &Run) -> impl Iterator<Item = &Entry> {
    run.results.iter().filter(|entry| matches!(entry.status, Status::Failed | Status::Errored))
}

/// The file. What is known already, by the files that the run was given, is not in it.
pub fn render(run: &Run) -> String {
    let mut text = format!(
        "# Drafted by `broadcheck check --write-known` from a run of {}: {} of {} failed.\n\
         #\n\
         # Before an entry stays: is it the implementation that differs, or the case that is wrong? Say in `reason` why\n\
         # it fails, and in `url` where that is written: the system's document, its source or an issue. The file is\n\
         # refused until every url is filled in. One glob may take the place of several entries: \"numpy/zero/*\".\n\
         # `versions` may end before a version: {{from: \"2.4\", before: \"2.5\"}}.\n\
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

/// The line that says from which version on; none where the version does not begin with a number.
fn versions(version: &str) -> String {
    match version.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("versions: {{from: {}}}\n", quoted(version)),
        false => String::new(),
    }
}

/// What was found, in one line.
fn reason(entry: &Entry) -> String {
    let line = entry.detail.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_else(|| entry.status.name());
    match line.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}
