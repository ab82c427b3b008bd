//! The page of a clause: its text, the systems that differ from it, its findings and its cases.

use super::finding::{Finding, resolved};
use super::markdown::{html, inline};
use super::world::{CaseInfo, World, clause_path, differs};
use super::{Frame, Page, rendered};
use crate::report::html::cell::Cell;
use askama::Template;
use broadcheck::run::Status;
use broadcheck_spec::clauses::Clause;

#[derive(Template)]
#[template(path = "site/clause.html")]
struct ClausePage<'a> {
    frame: Frame,
    clause: &'a Clause,
    heading: String,
    text: String,
    /// Of the systems that were asked a case: the page, the title, the results, and whether any differs.
    systems: Vec<(&'a str, &'a str, Cell, bool)>,
    findings: Vec<&'a Finding>,
    cases: Vec<CaseRow<'a>>,
}

/// A case in a list.
pub(super) struct CaseRow<'a> {
    pub(super) case: &'a CaseInfo<'a>,
    pub(super) path: String,
    /// The number of systems that differ, and of those that were asked.
    pub(super) differing: usize,
    pub(super) asked: usize,
}

impl<'a> CaseRow<'a> {
    fn of(case: &'a CaseInfo<'a>) -> CaseRow<'a> {
        let asked = case.results.iter().flatten().filter(|entry| entry.status != Status::Skipped);
        CaseRow { case, path: case.path(), differing: case.differing().count(), asked: asked.count() }
    }
}

pub(super) fn page(world: &World<'_>, clause: &Clause) -> Page {
    let path = clause_path(clause.id);
    let title = format!("{}: {}", clause.id, clause.heading.replace('`', ""));
    let frame = Frame::new(title, &path, "clauses");
    let root = frame.root.clone();
    let resolve = |target: &str| resolved(target).map(|page| format!("{root}{page}"));
    let cases: Vec<&CaseInfo<'_>> = world.cases.iter().filter(|case| case.clause == clause.id).collect();
    let of_system = |place: usize| {
        let entries = cases.iter().filter_map(move |case| case.results[place]);
        let asked = entries.clone().any(|entry| entry.status != Status::Skipped);
        let differs = entries.clone().any(|entry| differs(entry.status));
        asked.then(|| (place, Cell::of(&entries), differs))
    };
    let mut systems: Vec<(usize, Cell, bool)> = (0..world.systems.len()).filter_map(of_system).collect();
    // Those that differ first, otherwise in the order of the front page.
    systems.sort_by_key(|(_, _, differs)| !differs);
    let systems = systems.into_iter().map(|(place, cell, differs)| {
        let system = &world.systems[place];
        (system.path.as_str(), system.title.as_str(), cell, differs)
    });
    let page = ClausePage {
        heading: inline(clause.heading, &|_| None),
        text: html(clause.text(), &resolve),
        systems: systems.collect(),
        findings: world
            .findings
            .iter()
            .filter(|finding| finding.clauses.iter().any(|id| id == clause.id))
            .collect(),
        cases: cases.into_iter().map(CaseRow::of).collect(),
        clause,
        frame,
    };
    (path, rendered(&page))
}
