//! The file in the directory of a run that lists its findings: those that probably have the same cause
//! together, and the one to read first on top.

use super::groups::groups;
use super::{Campaign, Found, noun};
use crate::shrink::Written;
use broadcheck_spec::{Implementation, hides};
use std::fmt::Write as _;
use std::path::Path;

/// The name of the file.
pub(super) const NAME: &str = "findings.txt";

/// How the file begins. Another file of its name is left alone.
pub(super) const MARK: &str = "Findings of `broadcheck fuzz`: ";

/// The largest file that is replaced, in bytes.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// The most files that are listed of one group.
const MOST_FILES: usize = 100;

/// The longest name or cause, in characters.
const MAX_TEXT: usize = 200;

/// The text of the file. It has no times, so that the same findings give the same text.
pub(super) fn text(campaign: &Campaign<'_>, findings: &[Found], finished: bool) -> String {
    let side = |side: &dyn Implementation| clean(&format!("{} {}", side.name(), side.version()));
    let mut text =
        format!("{MARK}{} against {}, seed {}\n", side(campaign.right), side(campaign.left), campaign.seed);
    text += if finished {
        "The run has finished.\n"
    } else {
        "The run has not finished. This file is replaced as it goes on.\n"
    };
    let groups = groups(findings);
    if let Some(first) = groups.iter().flat_map(|group| &group.findings).find_map(|found| file(found)) {
        let _ = write!(text, "\nRead first: {first}\n");
    }
    for (place, group) in groups.iter().enumerate() {
        let _ = write!(text, "\n{}. {}: {} hits\n", place + 1, clean(&group.cause), group.hits());
        for found in group.findings.iter().take(MOST_FILES) {
            let name = file(found).unwrap_or("(no case file)");
            let shrunk = if found.waits { ", not shrunk yet" } else { "" };
            let what = noun(&found.shrunk.request);
            let _ = writeln!(text, "   {name}: {what} {}, {} hits{shrunk}", found.number, found.hits);
        }
        if let Some(more) = group.findings.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
            let _ = writeln!(text, "   and {more} more");
        }
    }
    if groups.is_empty() {
        text += "\nNo disagreement has been found.\n";
    }
    text
}

fn file(found: &Found) -> Option<&str> {
    found.file.as_ref().map(Written::path).and_then(Path::file_name)?.to_str()
}

/// One line without characters that a terminal interprets: names and messages come from a harness.
fn clean(text: &str) -> String {
    let safe = |char: char| if char.is_control() || hides(char) { '\u{fffd}' } else { char };
    text.chars().take(MAX_TEXT).map(safe).collect()
}
