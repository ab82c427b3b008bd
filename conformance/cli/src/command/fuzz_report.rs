//! The reports of `broadcheck fuzz`: text, and JSON, which `schema/fuzz.schema.json` describes.

use super::finding_report::{Found, Proposed, proposal, report_found, report_more};
use super::select::INFER;
use super::{Ended, FAILED, INTERRUPTED, PASSED, complain, print_and_end, print_visible_and_end};
use crate::report::plural;
use broadcheck_search::fuzzing::{self, Campaign, FuzzReport};
use broadcheck_search::oracle::Signature;
use broadcheck_search::shrink::Again;
use broadcheck_spec::Implementation;
use broadcheck_spec::json::{self, Question};
use serde::Serialize;
use std::path::Path;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal
    Text,
    /// JSON for programs, described by conformance/schema/fuzz.schema.json
    Json,
}

/// A run that has ended.
pub(super) struct Ran<'a> {
    /// The directory of findings.
    pub(super) out: Option<&'a Path>,
    pub(super) report: &'a FuzzReport,
    pub(super) campaign: &'a Campaign<'a>,
    /// The case of the suite that is known to fail in the same way.
    pub(super) known: &'a dyn Fn(&Signature) -> Option<&'a str>,
}

/// Findings that probably have one cause.
struct Group<'a> {
    cause: String,
    hits: u64,
    findings: Vec<Finding<'a>>,
}

/// A finding with its case.
struct Finding<'a> {
    found: &'a fuzzing::Found,
    known: Option<&'a str>,
    proposed: Proposed,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Failed,
    NothingCompared,
    Interrupted,
}

impl Verdict {
    fn of(ran: &Ran<'_>, news: usize) -> Verdict {
        match (ran.report.complete, news) {
            (false, _) => Verdict::Interrupted,
            (true, 0) if ran.report.counts.compared() == 0 => Verdict::NothingCompared,
            (true, 0) => Verdict::Ok,
            (true, _) => Verdict::Failed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Failed => "failed",
            Verdict::NothingCompared => "nothing_compared",
            Verdict::Interrupted => "interrupted",
        }
    }

    fn status(self) -> u8 {
        match self {
            Verdict::Ok => PASSED,
            Verdict::Failed | Verdict::NothingCompared => FAILED,
            Verdict::Interrupted => INTERRUPTED,
        }
    }
}

/// Prints the report, and writes the cases that are not in files yet.
pub(super) fn finish(ran: &Ran<'_>, format: Format) -> Ended {
    let groups = groups(ran);
    let findings = groups.iter().flat_map(|group| &group.findings);
    let news = findings.filter(|finding| finding.known.is_none()).count();
    let verdict = Verdict::of(ran, news);
    let errors = errors(ran.report);
    errors.iter().for_each(|error| complain(error));
    match format {
        Format::Text => print_visible_and_end(&text(ran, &groups, verdict, news), verdict.status()),
        Format::Json => print_and_end(&document(ran, &groups, verdict, errors), verdict.status()),
    }
}

fn groups<'a>(ran: &Ran<'a>) -> Vec<Group<'a>> {
    let finding = |found: &'a fuzzing::Found| {
        let sides = ran.campaign.sides(&found.shrunk, found.number);
        let proposed = match &found.file {
            Some(written) => Proposed::Written(written.clone()),
            None => proposal(&found.shrunk, &sides, ran.out),
        };
        Finding { found, known: (ran.known)(&found.shrunk.disagreement.signature), proposed }
    };
    let groups = ran.report.groups().into_iter();
    groups
        .map(|group| Group {
            hits: group.hits(),
            cause: group.cause,
            findings: group.findings.into_iter().map(finding).collect(),
        })
        .collect()
}

/// Why findings or the state could not be written.
fn errors(report: &FuzzReport) -> Vec<String> {
    let unwritten = report.unwritten.iter().map(|error| {
        format!("a finding could not be written, or its file from before it was shrunk removed: {error}")
    });
    let unsaved =
        report.unsaved.iter().map(|error| format!("the state of the run could not be written: {error}"));
    unwritten.chain(unsaved).collect()
}

fn text(ran: &Ran<'_>, groups: &[Group<'_>], verdict: Verdict, news: usize) -> String {
    let Campaign { left, right, seed, .. } = ran.campaign;
    let title = |side: &dyn Implementation| format!("{} {}", side.name(), side.version());
    let mut text = format!("{} against {}, seed {seed}\n", title(*right), title(*left));
    if let Some(statistics) = &ran.report.statistics {
        text += &format!("\n{statistics}\n");
    }
    for (reason, count) in &ran.report.reasons {
        text += &format!("\nnot compared ({count}): {reason}");
    }
    for group in groups {
        text += &group_text(group);
    }
    text += &remarks(ran.report, ran.out);
    let verdict = match verdict {
        Verdict::Ok => "ok".into(),
        Verdict::Failed => format!("FAILED, {}", plural(news, "disagreement")),
        Verdict::NothingCompared => "FAILED, nothing was compared".into(),
        Verdict::Interrupted => "interrupted".into(),
    };
    text + &format!("\n{verdict}: {}\n", ran.report.summary())
}

/// A group of findings: the first in full, and the others in short if they are in files.
fn group_text(group: &Group<'_>) -> String {
    let count = group.findings.len();
    let mut text = String::new();
    if count > 1 {
        text += &format!(
            "\nGROUP of {count} findings that may have one cause ({}): {}\n",
            plural(usize::try_from(group.hits).unwrap_or(usize::MAX), "hit"),
            group.cause
        );
    }
    for (place, Finding { found, known, proposed }) in group.findings.iter().enumerate() {
        let short = place > 0 && matches!(proposed, Proposed::Written(_));
        let found = Found {
            shrunk: &found.shrunk,
            hits: Some(found.hits),
            known: *known,
            waits: found.waits,
            proposed,
        };
        text += &if short { report_more(&found) } else { report_found(&found) };
    }
    text
}

/// What the report does not contain, and how to get it.
fn remarks(report: &FuzzReport, out: Option<&Path>) -> String {
    let mut text = String::new();
    if report.waiting > 0 {
        let count = plural(report.waiting, "disagreement");
        let advice = match out {
            Some(out) => format!("`broadcheck fuzz --resume {}` shrinks the rest", out.display()),
            None => "use --out to be able to continue the run, or give it more --shrink-time".into(),
        };
        text += &format!("\nnot shrunk: {count}: {advice}\n");
    } else if let (false, Some(out)) = (report.complete, out) {
        text += &format!("\nto continue: broadcheck fuzz --resume {}\n", out.display());
    }
    if report.only_counted > 0 {
        let count = report.only_counted;
        text += &format!("\nnot recorded: {count} further disagreements, because of so many others\n");
    }
    text
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    left: Side<'a>,
    right: Side<'a>,
    seed: u64,
    verdict: &'a str,
    interrupted: bool,
    /// The times in seconds: of sending requests, and of all threads together for shrinking.
    seconds: f64,
    shrinking_seconds: f64,
    counts: Counts,
    not_compared: Vec<Reason<'a>>,
    not_shrunk: usize,
    not_recorded: u64,
    errors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<String>,
    read_first: Option<String>,
    groups: Vec<GroupDocument<'a>>,
}

#[derive(Serialize)]
struct Side<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Serialize)]
struct Counts {
    requests: u64,
    accepted: u64,
    refused: u64,
    not_compared: u64,
    conventions: u64,
    disagreeing: u64,
    distinct: u64,
    repeated: u64,
    neighbours: u64,
    declared: u64,
    rewritten: u64,
    inferred: InferredCounts,
}

#[derive(Serialize)]
struct InferredCounts {
    signatures: u64,
    always: u64,
    depends: u64,
    refused: u64,
    wider: u64,
    not_compared: u64,
    conventions: u64,
    disagreeing: u64,
}

#[derive(Serialize)]
struct Reason<'a> {
    reason: &'a str,
    requests: u64,
}

#[derive(Serialize)]
struct GroupDocument<'a> {
    cause: &'a str,
    hits: u64,
    findings: Vec<FindingDocument<'a>>,
}

#[derive(Serialize)]
struct FindingDocument<'a> {
    signature: String,
    rules: &'static str,
    operation: &'static str,
    difference: String,
    detail: &'a str,
    hits: u64,
    /// The number of the request that was drawn first.
    number: u64,
    seen: &'static str,
    shrunk: bool,
    known: Option<&'a str>,
    file: Option<String>,
    case: Option<&'a str>,
    request: serde_json::Value,
}

/// The whole report, indented, with a newline at the end.
fn document(ran: &Ran<'_>, groups: &[Group<'_>], verdict: Verdict, errors: Vec<String>) -> String {
    let Campaign { left, right, seed, .. } = ran.campaign;
    let side = |side: &&'_ dyn Implementation| (side.name().to_owned(), side.version().to_owned());
    let (left, right) = (side(left), side(right));
    let report = ran.report;
    let fuzzing::Counts {
        requests,
        accepted,
        refused,
        vacuous,
        conventions,
        disagreeing,
        repeated,
        neighbours,
        declared,
        rewritten,
        inferred,
        distinct,
    } = report.counts;
    let reason = |(reason, &requests): (&'_ String, &u64)| (reason.clone(), requests);
    let reasons: Vec<(String, u64)> = report.reasons.iter().map(reason).collect();
    let files = groups.iter().flat_map(|group| &group.findings);
    let document = Document {
        version: env!("CARGO_PKG_VERSION"),
        left: Side { name: &left.0, version: &left.1 },
        right: Side { name: &right.0, version: &right.1 },
        seed: *seed,
        verdict: verdict.name(),
        interrupted: !report.complete,
        seconds: report.elapsed.as_secs_f64(),
        shrinking_seconds: report.shrinking.as_secs_f64(),
        counts: Counts {
            requests,
            accepted,
            refused,
            not_compared: vacuous,
            conventions,
            disagreeing,
            distinct,
            repeated,
            neighbours,
            declared,
            rewritten,
            inferred: inferred_counts(inferred),
        },
        not_compared: reasons
            .iter()
            .map(|(reason, requests)| Reason { reason, requests: *requests })
            .collect(),
        not_shrunk: report.waiting,
        not_recorded: report.only_counted,
        errors,
        statistics: report.statistics.as_ref().map(ToString::to_string),
        read_first: files
            .filter(|finding| finding.known.is_none())
            .find_map(|finding| file(&finding.proposed)),
        groups: groups.iter().map(group_document).collect(),
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers can be written as JSON") + "\n"
}

fn inferred_counts(counts: fuzzing::InferredCounts) -> InferredCounts {
    let fuzzing::InferredCounts {
        signatures,
        always,
        depends,
        refused,
        wider,
        vacuous,
        conventions,
        disagreeing,
    } = counts;
    InferredCounts {
        signatures,
        always,
        depends,
        refused,
        wider,
        not_compared: vacuous,
        conventions,
        disagreeing,
    }
}

fn group_document<'a>(group: &'a Group<'_>) -> GroupDocument<'a> {
    let findings = group.findings.iter().map(finding_document).collect();
    GroupDocument { cause: &group.cause, hits: group.hits, findings }
}

fn finding_document<'a>(finding: &'a Finding<'_>) -> FindingDocument<'a> {
    let Finding { found, known, proposed } = finding;
    let signature = &found.shrunk.disagreement.signature;
    FindingDocument {
        signature: signature.to_string(),
        rules: signature.rules.name(),
        operation: match &found.shrunk.request {
            Question::Run(_) => signature.operation.name(),
            Question::Infer(_) => INFER,
        },
        difference: signature.kind.to_string(),
        detail: &found.shrunk.disagreement.detail,
        hits: found.hits,
        number: found.number,
        seen: match found.shrunk.again {
            Again::NotAsked => "once",
            Again::NotReproduced => "not_again",
            Again::Reproduced => "again",
        },
        shrunk: found.shrunk.minimal,
        known: *known,
        file: file(proposed),
        case: match proposed {
            Proposed::Text(yaml) => Some(yaml),
            Proposed::Written(_) | Proposed::Failed(_) => None,
        },
        request: match &found.shrunk.request {
            Question::Run(request) => json::request_to_value(request),
            Question::Infer(signature) => json::signature_to_value(signature),
        },
    }
}

fn file(proposed: &Proposed) -> Option<String> {
    match proposed {
        Proposed::Written(written) => Some(written.path().display().to_string()),
        Proposed::Text(_) | Proposed::Failed(_) => None,
    }
}
