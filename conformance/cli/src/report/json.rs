//! The report for programs, described by `schema/report.schema.json`.

use super::{Declares, Entry, Report, Run, Shared, Summary};
use broadcheck::asked;
use broadcheck_spec::{Convention, DType, Nature, RuleSet};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    suite: Suite<'a>,
    interrupted: bool,
    verdict: &'a str,
    implementations: Vec<Implementation<'a>>,
}

#[derive(Serialize)]
struct Suite<'a> {
    version: &'a str,
    /// The number of selected cases, not counting sweeps.
    cases: usize,
    /// The number of selected sweeps.
    sweeps: usize,
    /// The maximum number of cases run of each sweep, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep_sample: Option<u64>,
}

#[derive(Serialize)]
struct Implementation<'a> {
    name: &'a str,
    version: &'a str,
    summary: Counts,
    /// Of those that passed or agree, the inferences that are wider than exact.
    #[serde(skip_serializing_if = "is_zero")]
    wider: usize,
    /// The same counts, by nature.
    by_nature: BTreeMap<&'a str, Counts>,
    /// What the implementation declares besides rule sets and conventions.
    #[serde(skip_serializing_if = "Option::is_none")]
    declares: Option<&'a Declares>,
    /// How much of each declared rule set was asked.
    asked: Vec<Asked>,
    /// How far each convention is shared.
    conventions: Vec<SharedConvention>,
    known_without_case: Vec<Leftover<'a>>,
    cases: Vec<Case<'a>>,
}

#[derive(Serialize)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
    errored: usize,
    known: usize,
    agrees: usize,
    differs: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct Asked {
    rules: &'static str,
    cases: usize,
    asked: usize,
    retyped: usize,
    not_asked: Vec<Reason>,
    shape_cases: usize,
    shape_asked: usize,
    shape_not_asked: Vec<Reason>,
}

#[derive(Serialize)]
struct Reason {
    reason: String,
    cases: usize,
}

#[derive(Serialize)]
struct SharedConvention {
    name: &'static str,
    declared: bool,
    agrees: usize,
    cases: usize,
}

#[derive(Serialize)]
struct Leftover<'a> {
    case: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Case<'a> {
    id: &'a str,
    status: &'a str,
    detail: &'a str,
    /// How a passed inference is wider than exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    wider: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sweep: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    inference: bool,
    rules: Option<&'a str>,
    clause: &'a str,
    nature: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    convention: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retyped: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<u32>,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
    source: &'a [String],
    location: &'a str,
}

/// The whole report, indented, with a newline at the end.
pub(crate) fn render(report: &Report) -> String {
    let document = Document {
        suite: Suite {
            version: env!("CARGO_PKG_VERSION"),
            cases: report.cases,
            sweeps: report.sweeps,
            sweep_sample: report.sample,
        },
        interrupted: report.interrupted,
        verdict: report.verdict().name(),
        implementations: report.runs.iter().map(implementation).collect(),
    };
    let text = serde_json::to_string_pretty(&document).expect("texts and numbers can be written as JSON");
    text + "\n"
}

fn implementation(run: &Run) -> Implementation<'_> {
    let by_nature = run.by_nature().map(|(nature, summary)| (Nature::name(nature), counts(summary)));
    Implementation {
        name: &run.name,
        version: &run.version,
        summary: counts(run.summary()),
        wider: run.summary().wider,
        by_nature: by_nature.into(),
        declares: run.declares.as_ref(),
        asked: run.asked().into_iter().map(asked).collect(),
        conventions: run.shared().into_iter().map(convention).collect(),
        known_without_case: run
            .leftovers
            .iter()
            .map(|leftover| Leftover { case: &leftover.case, reason: &leftover.reason })
            .collect(),
        cases: run.results.iter().map(case).collect(),
    }
}

fn counts(summary: Summary) -> Counts {
    let Summary { passed, failed, skipped, errored, known, agrees, differs, wider: _ } = summary;
    Counts { passed, failed, skipped, errored, known, agrees, differs }
}

fn asked(asked: asked::Asked) -> Asked {
    let list = |reasons: asked::Reasons| -> Vec<Reason> {
        reasons.0.into_iter().map(|(reason, cases)| Reason { reason, cases }).collect()
    };
    Asked {
        rules: asked.rules.name(),
        cases: asked.cases,
        asked: asked.asked,
        retyped: asked.retyped,
        not_asked: list(asked.reasons),
        shape_cases: asked.shape_cases,
        shape_asked: asked.shape_asked,
        shape_not_asked: list(asked.shape_reasons),
    }
}

fn convention(shared: Shared) -> SharedConvention {
    let Shared { convention, declared, agrees, cases } = shared;
    SharedConvention { name: convention.name(), declared, agrees, cases }
}

fn case(entry: &Entry) -> Case<'_> {
    Case {
        id: &entry.id,
        status: entry.status.name(),
        detail: &entry.detail,
        wider: entry.wider.as_deref(),
        sweep: entry.sweep,
        inference: entry.inference,
        rules: entry.rules.map(RuleSet::name),
        clause: &entry.clause,
        nature: entry.nature.name(),
        convention: entry.convention.map(Convention::name),
        retyped: entry.retyped.map(DType::name),
        finding: entry.finding,
        title: &entry.title,
        difference: entry.kind.map(|kind| kind.to_string()),
        source: &entry.sources,
        location: &entry.location,
    }
}

/// Whether a text is such a report.
pub(crate) fn is_report(text: &str) -> bool {
    let Ok(serde_json::Value::Object(map)) = serde_json::from_str(text) else { return false };
    map.get("suite").is_some_and(serde_json::Value::is_object)
        && map.get("implementations").is_some_and(serde_json::Value::is_array)
}
