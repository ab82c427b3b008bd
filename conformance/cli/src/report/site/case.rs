//! The page of a case: what is asked, what is expected, and what every system answers.

use super::markdown::{html, inline};
use super::system::finding_path;
use super::world::{Asks, CaseInfo, World, clause_path, rules_path, word};
use super::{Frame, Page, rendered};
use crate::report::html::case::{DRAWING_WIDTH, DrawingView, drawing, sources, split};
use crate::report::html::cell::{SIGNS, Sign};
use crate::report::{Entry, describe_expectation, describe_expected_inference, plural};
use askama::Template;
use broadcheck_judge::explain::{Explanation, InferenceExplanation, heading};
use broadcheck_spec::{DType, Source, write};

#[derive(Template)]
#[template(path = "site/case.html")]
struct CasePage<'a> {
    frame: Frame,
    case: &'a CaseInfo<'a>,
    clause: (String, String),
    /// The page of the rule set, and its name.
    rules: Option<(String, String)>,
    location: String,
    origin: String,
    sources: Vec<(String, bool)>,
    note: String,
    drawing: Option<DrawingView>,
    request: String,
    expectation: String,
    answers: Vec<Answer<'a>>,
    /// The systems whose reports do not have the case.
    missing: usize,
    rerun: String,
}

/// An answer, and all systems that gave exactly this one.
struct Answer<'a> {
    sign: &'static Sign,
    word: &'static str,
    detail: &'a str,
    retyped: Option<DType>,
    finding: Option<(u32, String)>,
    /// Path and title.
    systems: Vec<(&'a str, &'a str)>,
}

/// What differs between a case of a run, of `infer`, and a sweep.
struct Asked<'a> {
    location: String,
    origin: String,
    sources: &'a [Source],
    note: &'a str,
    drawing: Option<DrawingView>,
    request: String,
    expectation: String,
}

impl<'a> Asked<'a> {
    fn of(asks: Asks<'a>) -> Asked<'a> {
        match asks {
            Asks::Run(case) => Asked {
                location: case.location.to_string(),
                origin: case.origin.to_string(),
                sources: &case.sources,
                note: case.note.as_deref().unwrap_or_default(),
                drawing: Some(drawing(&Explanation::of_request(&case.request))),
                request: write::request_to_yaml(&case.request),
                expectation: describe_expectation(&case.request, &case.expectation).join("\n"),
            },
            Asks::Infer(case) => Asked {
                location: case.location.to_string(),
                origin: case.origin.to_string(),
                sources: &case.sources,
                note: case.note.as_deref().unwrap_or_default(),
                drawing: Some(split(&InferenceExplanation::of_signature(&case.request).draw(DRAWING_WIDTH))),
                request: write::signature_to_yaml(&case.request),
                expectation: describe_expected_inference(&case.request, &case.expectation).join("\n"),
            },
            Asks::Sweep(sweep) => {
                let bounds: Vec<String> =
                    sweep.with.iter().map(|(name, bound)| format!("{name}: {bound}")).collect();
                Asked {
                    location: sweep.location.to_string(),
                    origin: String::new(),
                    sources: &sweep.sources,
                    note: sweep.note.as_deref().unwrap_or_default(),
                    drawing: None,
                    request: format!("sweep: {}\nwith: {{{}}}\n", sweep.sweep, bounds.join(", ")),
                    expectation: format!("{}, all of which hold", plural(sweep.expected_cases, "case")),
                }
            }
        }
    }
}

pub(super) fn page(world: &World<'_>, case: &CaseInfo<'_>) -> Page {
    let path = case.path();
    let asked = Asked::of(case.asks);
    let page = CasePage {
        frame: Frame::new(case.title, &path, "clauses"),
        clause: (clause_path(case.clause), inline(heading(case.clause).unwrap_or_default(), &|_| None)),
        rules: case.rules.map(|rules| (rules_path(rules), rules.to_string())),
        location: asked.location,
        origin: asked.origin,
        sources: sources(asked.sources),
        note: html(asked.note, &|_| None),
        drawing: asked.drawing,
        request: asked.request,
        expectation: asked.expectation,
        answers: answers(world, case),
        missing: case.results.iter().filter(|entry| entry.is_none()).count(),
        rerun: format!("broadcheck check --filter {}", case.id),
        case,
    };
    (path, rendered(&page))
}

/// The answers, those that differ first.
fn answers<'a>(world: &'a World<'_>, case: &'a CaseInfo<'_>) -> Vec<Answer<'a>> {
    let mut answers: Vec<Answer<'a>> = Vec::new();
    let results = world.systems.iter().zip(&case.results);
    for (system, entry) in results.filter_map(|(system, entry)| Some((system, (*entry)?))) {
        let entry: &Entry = entry;
        let detail = entry.wider.as_deref().unwrap_or(&entry.detail);
        let link = (system.path.as_str(), system.title.as_str());
        let same = |other: &&mut Answer<'_>| {
            other.sign.status == entry.status && other.retyped == entry.retyped && other.detail == detail
        };
        if let Some(other) = answers.iter_mut().find(same) {
            other.systems.push(link);
            continue;
        }
        answers.push(Answer {
            sign: Sign::of(entry.status),
            word: word(entry.status),
            detail,
            retyped: entry.retyped,
            finding: entry.finding.and_then(|number| Some((number, finding_path(world, number)?))),
            systems: vec![link],
        });
    }
    answers.sort_by_key(|answer| SIGNS.iter().position(|sign| sign.status == answer.sign.status));
    answers
}
