//! A case or sweep on the page: its request, and its outcomes grouped by implementations that agree.

use super::cell::{Cell, Sign};
use crate::report::{Entry, Run, describe_expectation, describe_expected_inference, plural};
use broadcheck::run::Status;
use broadcheck_judge::explain::{Drawing, Explanation, InferenceExplanation, Mark, Span};
use broadcheck_spec::{Case, Convention, DType, InferenceCase, Nature, Source, Suite, Sweep, write};

/// The width of a drawing. Small screens scroll it.
pub(in crate::report) const DRAWING_WIDTH: usize = 76;

/// A case or sweep.
pub(super) struct CaseView<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) nature: Nature,
    /// The name of the convention that it tests; empty if it tests none.
    pub(super) convention: &'static str,
    /// The letter of its status for each implementation; a dot if it was not judged.
    pub(super) letters: String,
    pub(super) cell: Cell,
    pub(super) location: &'a str,
    pub(super) origin: String,
    pub(super) sources: Vec<(String, bool)>,
    pub(super) note: &'a str,
    pub(super) drawing: Option<DrawingView>,
    /// The request as YAML; for a sweep, its name and bounds.
    pub(super) request: String,
    pub(super) expectation: String,
    pub(super) outcomes: Vec<OutcomeView<'a>>,
    /// The command that reruns it alone.
    pub(super) rerun: &'a str,
}

/// A drawing: the title above the columns, the columns, and the text below.
pub(in crate::report) struct DrawingView {
    pub(in crate::report) title: Vec<Piece>,
    pub(in crate::report) columns: Vec<Piece>,
    pub(in crate::report) prose: Vec<Piece>,
}

/// A piece of a drawing with its class, empty for plain text.
pub(in crate::report) struct Piece {
    pub(in crate::report) class: &'static str,
    pub(in crate::report) text: String,
}

/// An outcome, and all implementations with exactly this outcome.
pub(super) struct OutcomeView<'a> {
    pub(super) sign: &'static Sign,
    pub(super) implementations: String,
    /// The dtype in which the case was asked, if not in its own.
    pub(super) retyped: Option<DType>,
    pub(super) detail: &'a str,
    /// The command that reruns the case alone, unless it passed.
    pub(super) rerun: &'a str,
}

impl<'a> CaseView<'a> {
    /// `results` has one entry per run.
    pub(super) fn new(
        entry: &'a Entry,
        runs: &'a [Run],
        results: &[Option<&'a Entry>],
        suite: &'a Suite,
    ) -> CaseView<'a> {
        let letter = |entry: &Option<&Entry>| entry.map_or('.', |entry| Sign::of(entry.status).letter);
        let view = CaseView {
            id: &entry.id,
            title: &entry.title,
            nature: entry.nature,
            convention: entry.convention.map_or("", Convention::name),
            letters: results.iter().map(letter).collect(),
            cell: Cell::of(&results.iter().copied().flatten()),
            location: &entry.location,
            origin: String::new(),
            sources: Vec::new(),
            note: "",
            drawing: None,
            request: String::new(),
            expectation: String::new(),
            outcomes: outcomes(runs, results),
            rerun: &entry.rerun,
        };
        if let Some(case) = suite.get(&entry.id) {
            return view.with_case(case);
        }
        if let Some(case) = suite.get_inference(&entry.id) {
            return view.with_inference(case);
        }
        match suite.get_sweep(&entry.id) {
            Some(sweep) => view.with_sweep(sweep),
            None => view,
        }
    }

    fn with_inference(self, case: &'a InferenceCase) -> CaseView<'a> {
        let drawn = InferenceExplanation::of_signature(&case.request).draw(DRAWING_WIDTH);
        CaseView {
            origin: case.origin.to_string(),
            sources: sources(&case.sources),
            note: case.note.as_deref().unwrap_or_default(),
            drawing: Some(split(&drawn)),
            request: write::signature_to_yaml(&case.request),
            expectation: describe_expected_inference(&case.request, &case.expectation).join("\n"),
            ..self
        }
    }

    fn with_case(self, case: &'a Case) -> CaseView<'a> {
        CaseView {
            origin: case.origin.to_string(),
            sources: sources(&case.sources),
            note: case.note.as_deref().unwrap_or_default(),
            drawing: Some(drawing(&Explanation::of_request(&case.request))),
            request: write::request_to_yaml(&case.request),
            expectation: describe_expectation(&case.request, &case.expectation).join("\n"),
            ..self
        }
    }

    fn with_sweep(self, sweep: &'a Sweep) -> CaseView<'a> {
        let bounds: Vec<String> = sweep.with.iter().map(|(name, bound)| format!("{name}: {bound}")).collect();
        CaseView {
            sources: sources(&sweep.sources),
            note: sweep.note.as_deref().unwrap_or_default(),
            request: format!("sweep: {}\nwith: {{{}}}\n", sweep.sweep, bounds.join(", ")),
            expectation: format!("{}, all of which hold", plural(sweep.expected_cases, "case")),
            ..self
        }
    }
}

/// The sources, and whether each is a link.
pub(in crate::report) fn sources(sources: &[Source]) -> Vec<(String, bool)> {
    let follows = |text: &str| text.starts_with("https://") || text.starts_with("http://");
    sources.iter().map(ToString::to_string).map(|text| (text.clone(), follows(&text))).collect()
}

/// The drawing of a request.
pub(in crate::report) fn drawing(explanation: &Explanation) -> DrawingView {
    split(&explanation.draw(DRAWING_WIDTH))
}

/// Splits a drawing. An empty line follows the title, and the last empty line precedes the text below.
pub(in crate::report) fn split(drawing: &Drawing) -> DrawingView {
    let lines = &drawing.lines;
    let is_empty = |line: &Vec<Span>| line.is_empty();
    let first = lines.iter().position(is_empty).unwrap_or(0);
    let last = lines.iter().rposition(is_empty).unwrap_or(0);
    DrawingView {
        title: pieces(&lines[..first]),
        columns: pieces(lines.get(first + 1..last).unwrap_or_default()),
        prose: pieces(lines.get(last + 1..).unwrap_or_default()),
    }
}

/// Splits lines into pieces, and joins adjacent pieces of the same class.
fn pieces(lines: &[Vec<Span>]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut push = |class: &'static str, text: &str| match pieces.last_mut() {
        Some(last) if last.class == class => last.text += text,
        _ => pieces.push(Piece { class, text: text.to_owned() }),
    };
    for line in lines {
        for span in line {
            push(class(span.mark), &span.text);
        }
        push("", "\n");
    }
    pieces
}

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain | Mark::Missing => "",
        Mark::Heading => "h",
        Mark::Stretched | Mark::Perhaps => "x",
        Mark::Offending | Mark::Refused => "f",
        Mark::Accepted => "p",
    }
}

/// The reason for the status; of a passed inference, how it is wider than exact.
fn detail(entry: &Entry) -> &str {
    entry.wider.as_deref().unwrap_or(&entry.detail)
}

/// The outcomes, worst first.
fn outcomes<'a>(runs: &'a [Run], results: &[Option<&'a Entry>]) -> Vec<OutcomeView<'a>> {
    let mut outcomes: Vec<OutcomeView<'a>> = Vec::new();
    for (run, entry) in runs.iter().zip(results).filter_map(|(run, entry)| Some((run, (*entry)?))) {
        let sign = Sign::of(entry.status);
        let same = |other: &&mut OutcomeView<'_>| {
            let same_status = other.sign.status == entry.status && other.retyped == entry.retyped;
            same_status && other.detail == detail(entry) && other.rerun.is_empty()
        };
        match outcomes.iter_mut().find(same) {
            Some(other) => other.implementations += &format!(", {}", run.title()),
            None => outcomes.push(OutcomeView {
                sign,
                implementations: run.title(),
                retyped: entry.retyped,
                detail: detail(entry),
                rerun: match entry.status {
                    Status::Passed | Status::Skipped | Status::Agrees => "",
                    _ => &entry.rerun,
                },
            }),
        }
    }
    let place = |outcome: &OutcomeView<'_>| {
        super::cell::SIGNS.iter().position(|sign| sign.status == outcome.sign.status)
    };
    outcomes.sort_by_key(place);
    outcomes
}
