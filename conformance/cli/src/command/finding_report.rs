//! Reports a shrunk disagreement and writes it as a case: shared by `fuzz`, `exhaust` and `reproduce`.

use super::Error;
use crate::report::{describe_request, describe_signature};
use broadcheck_search::shrink::{Again, Shrunk, Sides, Written, propose_question, write_case};
use broadcheck_spec::json::Question;
use std::path::Path;

/// Creates the directory for cases. Called before the search, so that a wrong path is reported at once rather
/// than after hours.
pub(super) fn make_directory(out: Option<&Path>) -> Result<(), Error> {
    let Some(out) = out else { return Ok(()) };
    std::fs::create_dir_all(out).map_err(|error| {
        Error::Input(format!("--out {}: {error}, expected a directory for cases", out.display()))
    })
}

/// The case of a finding.
pub(super) enum Proposed {
    /// It is in a file.
    Written(Written),
    /// It is to be printed.
    Text(String),
    /// There is none, or it cannot be written.
    Failed(String),
}

/// Makes the case of a finding, and writes it to the directory `out` if there is one.
pub(super) fn proposal(shrunk: &Shrunk<Question>, sides: &Sides, out: Option<&Path>) -> Proposed {
    let proposal = match propose_question(shrunk, sides) {
        Ok(proposal) => proposal,
        Err(message) => return Proposed::Failed(format!("cannot propose a case: {message}")),
    };
    match out.map(|directory| write_case(directory, &proposal)) {
        None => Proposed::Text(proposal.yaml),
        Some(Ok(written)) => Proposed::Written(written),
        // Print the case so that it is not lost.
        Some(Err(message)) => Proposed::Failed(format!("{message}\n\n{}", proposal.yaml)),
    }
}

/// A finding to report.
pub(super) struct Found<'a> {
    pub(super) shrunk: &'a Shrunk<Question>,
    /// The number of requests that showed it, if counted.
    pub(super) hits: Option<u64>,
    /// The case of the suite that is known to fail in the same way.
    pub(super) known: Option<&'a str>,
    /// Whether it is yet to be shrunk.
    pub(super) waits: bool,
    pub(super) proposed: &'a Proposed,
}

/// The lines about a finding, after an empty line.
pub(super) fn report_found(found: &Found<'_>) -> String {
    let Found { shrunk, known, waits, proposed, .. } = found;
    let mut text = format!("\n{}", headline(found));
    if let Some(case) = known {
        text += &format!("  like the case {case}, which is known to fail\n");
    }
    let (what, lines) = match &shrunk.request {
        Question::Run(request) => ("request", describe_request(request)),
        Question::Infer(signature) => ("signature", describe_signature(signature)),
    };
    for line in lines {
        text += &format!("  {line}\n");
    }
    for line in shrunk.disagreement.detail.lines() {
        text += &format!("  {line}\n");
    }
    text += &match shrunk.again {
        Again::NotAsked => format!("  seen once; the {what} has not been repeated or shrunk yet\n"),
        Again::NotReproduced => format!("  seen once, but not again when the {what} was repeated\n"),
        Again::Reproduced if shrunk.minimal => {
            format!("  no smaller {what} shows this, of {} that were tried\n", shrunk.steps)
        }
        Again::Reproduced if *waits => {
            format!("  seen again; shrinking was stopped after {} {what}s\n", shrunk.steps)
        }
        Again::Reproduced => {
            format!("  the search for a smaller {what} was stopped after {} {what}s\n", shrunk.steps)
        }
    };
    text + &match proposed {
        Proposed::Written(written) => file(written),
        Proposed::Failed(message) => format!("  {message}\n"),
        Proposed::Text(yaml) => format!("\n{yaml}"),
    }
}

/// The lines about a further finding of a group whose first is reported in full.
pub(super) fn report_more(found: &Found<'_>) -> String {
    let place = if let Proposed::Written(written) = found.proposed { file(written) } else { String::new() };
    format!("\n{}{place}", headline(found))
}

fn headline(found: &Found<'_>) -> String {
    let head = if found.known.is_some() { "KNOWN" } else { "DISAGREEMENT" };
    let hits = found.hits.map_or_else(String::new, |hits| format!(" ({hits} hits)"));
    format!("{head}  {}{hits}\n", found.shrunk.disagreement.signature)
}

fn file(written: &Written) -> String {
    match written {
        Written::New(path) => format!("  written: {}\n", path.display()),
        Written::Existing(path) => format!("  exists already, not changed: {}\n", path.display()),
    }
}
