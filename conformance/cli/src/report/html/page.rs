//! The data of the page for its template.

use super::STYLE;
use super::case::CaseView;
use super::cell::{Cell, SIGNS, Sign};
use crate::report::{Entry, PRODUCT, Report, Run, Verdict};
use askama::Template;
use broadcheck_judge::explain::heading;
use broadcheck_spec::{Convention, Nature, RuleSet, Suite, clauses};
use std::collections::HashMap;

/// The whole page.
#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Page<'a> {
    style: &'static str,
    script: &'static str,
    product: &'static str,
    scope: String,
    closing: String,
    /// The class of the verdict, and its sign.
    verdict: (&'static str, char),
    /// What follows the verdict: what was asked too little, and how to be asked more.
    advice: Vec<String>,
    natures: [(Nature, &'static str); 3],
    /// The conventions of the results.
    conventions: Vec<Convention>,
    signs: &'static [Sign],
    runs: Vec<RunView<'a>>,
    sets: Vec<SetView<'a>>,
    /// Every clause of the results, once.
    clauses: Vec<&'a str>,
    failures: Vec<FailureView<'a>>,
}

/// The natures, each with its meaning.
const NATURES: [(Nature, &str); 3] = [
    (Nature::Rule, "stated by a document, or followed by every system that has the rule set"),
    (Nature::Arithmetic, "demanded by IEEE 754 or two's complement"),
    (Nature::Convention, "a point on which systems differ: only an implementation that declares it can fail"),
];

/// The conventions that cases of the report test.
fn conventions(report: &Report) -> Vec<Convention> {
    let occurs = |convention: &Convention| {
        report.runs.iter().flat_map(|run| &run.results).any(|entry| entry.convention == Some(*convention))
    };
    Convention::ALL.into_iter().filter(occurs).collect()
}

/// A column of the matrix.
struct RunView<'a> {
    name: &'a str,
    version: &'a str,
    total: Cell,
    /// The results by nature, how much was asked, and which conventions are shared.
    about: [(&'static str, Vec<String>); 3],
    run: &'a Run,
    silent: bool,
}

/// A rule set: a block of rows with its clauses.
struct SetView<'a> {
    name: &'static str,
    cells: Vec<Cell>,
    clauses: Vec<ClauseView<'a>>,
}

/// A clause under a rule set: a row with its cases.
struct ClauseView<'a> {
    clause: &'a str,
    heading: &'static str,
    anchor: String,
    cells: Vec<Cell>,
    cases: Vec<CaseView<'a>>,
}

/// A row of the list of failures.
struct FailureView<'a> {
    sign: &'static Sign,
    id: &'a str,
    /// The id, with the dtype in which it was asked if that is not its own.
    name: String,
    title: &'a str,
    implementation: String,
    detail: &'a str,
}

/// A case with its results, one per run.
type Row<'a> = (&'a Entry, Vec<Option<&'a Entry>>);

impl<'a> Page<'a> {
    pub(super) fn new(report: &'a Report, suite: &'a Suite) -> Page<'a> {
        let rows = rows(report);
        let sets: Vec<SetView<'a>> =
            report.rule_sets().into_iter().map(|set| set_view(set, &rows, report, suite)).collect();
        let silent: Vec<*const Run> = report.silent().into_iter().map(std::ptr::from_ref).collect();
        let run = |run: &'a Run| RunView {
            name: &run.name,
            version: &run.version,
            total: Cell::of(&run.results.iter()),
            about: [
                ("By nature", vec![run.natures_line()]),
                ("Asked", run.asked_lines()),
                ("Conventions", run.convention_lines()),
            ],
            run,
            silent: silent.contains(&std::ptr::from_ref(run)),
        };
        let mut clauses: Vec<&str> = rows.iter().map(|(entry, _)| entry.clause.as_str()).collect();
        clauses.sort_by_key(|clause| place(clause));
        clauses.dedup();
        Page {
            style: STYLE,
            script: include_str!("../../../templates/report.js"),
            product: PRODUCT,
            scope: report.scope(),
            closing: report.closing(),
            verdict: match report.verdict() {
                Verdict::Ok => ("p", '✓'),
                Verdict::LittleAsked => ("k", '≈'),
                Verdict::Failed | Verdict::Interrupted => ("f", '✗'),
            },
            advice: report.too_little_lines().into_iter().chain(report.advice()).collect(),
            natures: NATURES,
            conventions: conventions(report),
            signs: &SIGNS,
            runs: report.runs.iter().map(run).collect(),
            sets,
            clauses,
            failures: report.failures().into_iter().map(failure).collect(),
        }
    }

    /// Whether a known failure matches no case, or an implementation passed none.
    fn has_remarks(&self) -> bool {
        self.runs.iter().any(|run| run.silent || !run.run.leftovers.is_empty())
    }
}

fn failure<'a>((run, entry): (&'a Run, &'a Entry)) -> FailureView<'a> {
    FailureView {
        sign: Sign::of(entry.status),
        id: &entry.id,
        name: entry.name(),
        title: &entry.title,
        implementation: run.title(),
        detail: entry.detail.lines().next().unwrap_or_default(),
    }
}

/// The results in the order of the suite. An interrupted run may lack some.
fn rows(report: &Report) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (column, run) in report.runs.iter().enumerate() {
        for entry in &run.results {
            let place = *places.entry(&entry.id).or_insert_with(|| {
                rows.push((entry, vec![None; report.runs.len()]));
                rows.len() - 1
            });
            rows[place].1[column] = Some(entry);
        }
    }
    rows
}

/// The place of a clause in SEMANTICS.md.
fn place(clause: &str) -> (usize, &str) {
    let place = clauses::ALL.iter().position(|other| other.id == clause);
    (place.unwrap_or(usize::MAX), clause)
}

fn set_view<'a>(set: Option<RuleSet>, rows: &[Row<'a>], report: &'a Report, suite: &'a Suite) -> SetView<'a> {
    let name = set.map_or("several", RuleSet::name);
    let of_set: Vec<&Row<'a>> = rows.iter().filter(|(entry, _)| entry.rules == set).collect();
    let mut ids: Vec<&str> = of_set.iter().map(|(entry, _)| entry.clause.as_str()).collect();
    ids.sort_by_key(|clause| place(clause));
    ids.dedup();
    let clause = |clause: &'a str| {
        let mut rows: Vec<&Row<'a>> =
            of_set.iter().copied().filter(|(entry, _)| entry.clause == clause).collect();
        // Otherwise in the order of the suite.
        rows.sort_by_key(|(_, results)| {
            results.iter().flatten().map(|entry| Sign::urgency(entry.status)).min()
        });
        let case = |row: &&Row<'a>| CaseView::new(row.0, &report.runs, &row.1, suite);
        ClauseView {
            clause,
            heading: heading(clause).unwrap_or_default(),
            anchor: format!("{name}.{clause}"),
            cells: cells(&rows, report.runs.len()),
            cases: rows.iter().map(case).collect(),
        }
    };
    SetView { name, cells: cells(&of_set, report.runs.len()), clauses: ids.into_iter().map(clause).collect() }
}

/// One cell per implementation.
fn cells(rows: &[&Row<'_>], count: usize) -> Vec<Cell> {
    (0..count).map(|column| Cell::of(&rows.iter().filter_map(|(_, results)| results[column]))).collect()
}
