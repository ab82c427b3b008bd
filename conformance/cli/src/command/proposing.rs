//! What a command says of a disagreement that was shrunk, and where its case goes.

use super::Stop;
use crate::report::describe_request;
use broadcheck_search::shrink::{Shrunk, Sides, Written, propose, write_case};
use std::path::Path;

/// Makes the directory for cases before the search begins: one that cannot be made is a mistake of the command line,
/// and told at once instead of after hours.
pub(super) fn make_directory(out: Option<&Path>) -> Result<(), Stop> {
    let Some(out) = out else { return Ok(()) };
    std::fs::create_dir_all(out).map_err(|error| {
        Stop::Input(format!("--out {}: {error}, expected a directory for cases", out.display()))
    })
}

/// What became of the case of a finding.
pub(super) enum Proposed {
    /// It was written.
    Written(Written),
    /// It is to be printed.
    Text(String),
    /// There is none, or it could not be written.
    Failed(String),
}

/// The case of a finding, written into a directory where one is given.
pub(super) fn proposal(shrunk: &Shrunk, sides: &Sides, out: Option<&Path>) -> Proposed {
    let proposal = match propose(shrunk, sides) {
        Ok(proposal) => proposal,
        Err(message) => return Proposed::Failed(format!("no case is proposed: {message}")),
    };
    match out.map(|directory| write_case(directory, &proposal)) {
        None => Proposed::Text(proposal.yaml),
        Some(Ok(written)) => Proposed::Written(written),
        // What was found is not lost with the file.
        Some(Err(message)) => Proposed::Failed(format!("{message}\n\n{}", proposal.yaml)),
    }
}

/// A finding, as it is reported.
pub(super) struct Found<'a> {
    pub(super) shrunk: &'a Shrunk,
    /// How often it was hit, where that was counted.
    pub(super) hits: Option<u64>,
    /// The case of the suite that is known to fail alike.
    pub(super) known: Option<&'a str>,
    pub(super) proposed: &'a Proposed,
}

/// A finding in lines, with an empty one before them.
pub(super) fn report_found(found: &Found<'_>) -> String {
    let Found { shrunk, hits, known, proposed } = found;
    let head = if known.is_some() { "KNOWN" } else { "DISAGREEMENT" };
    let hits = hits.map_or_else(String::new, |hits| format!(" ({hits} hits)"));
    let mut text = format!("\n{head}  {}{hits}\n", shrunk.disagreement.signature);
    if let Some(case) = known {
        text += &format!("  as the case {case}, which is known to fail\n");
    }
    for line in describe_request(&shrunk.request) {
        text += &format!("  {line}\n");
    }
    for line in shrunk.disagreement.detail.lines() {
        text += &format!("  {line}\n");
    }
    text += &match (shrunk.reproduced, shrunk.minimal) {
        (false, _) => "  seen once, and not again when it was asked for\n".to_owned(),
        (true, true) => format!("  no smaller request disagrees so, of {} that were asked\n", shrunk.steps),
        (true, false) => format!("  the search for a smaller request was cut short after {}\n", shrunk.steps),
    };
    text + &match proposed {
        Proposed::Written(Written::New(path)) => format!("  written: {}\n", path.display()),
        Proposed::Written(Written::Existing(path)) => {
            format!("  already there, left as it is: {}\n", path.display())
        }
        Proposed::Failed(message) => format!("  {message}\n"),
        Proposed::Text(yaml) => format!("\n{yaml}"),
    }
}
