//! The page of a system: how it was asked, what was left out, its findings, and every case that it answers
//! otherwise, by clause.

use super::finding::Finding;
use super::front::Bar;
use super::history::Plot;
use super::markdown::inline;
use super::world::{System, World, case_path, clause_path, differs, rules_path, word};
use super::{Frame, Page, rendered};
use crate::report::html::cell::{SIGNS, Sign};
use crate::report::{Entry, Shared};
use askama::Template;
use broadcheck::asked::Asked;
use broadcheck_judge::explain::heading;
use broadcheck_spec::{RuleSet, clauses};

#[derive(Template)]
#[template(path = "site/system.html")]
struct SystemPage<'a> {
    frame: Frame,
    system: &'a System<'a>,
    bar: Bar,
    sets: Vec<(String, &'a Asked)>,
    /// The rule sets that it does not declare.
    undeclared: Vec<(String, RuleSet)>,
    conventions: Vec<(String, Shared)>,
    findings: Vec<&'a Finding>,
    groups: Vec<Group<'a>>,
    /// The statuses of the cases in the groups, for the filter.
    signs: Vec<(&'static Sign, &'static str)>,
    plot: Option<Plot>,
}

/// A clause with the cases that the system answers otherwise.
struct Group<'a> {
    path: String,
    clause: &'a str,
    heading: String,
    cases: Vec<Differing<'a>>,
}

struct Differing<'a> {
    path: String,
    entry: &'a Entry,
    sign: &'static Sign,
    word: &'static str,
    finding: Option<String>,
}

pub(super) fn page(world: &World<'_>, place: usize) -> Page {
    let system = &world.systems[place];
    let frame = Frame::new(&system.title, &system.path, "systems");
    let groups = groups(world, place);
    let mut shown: Vec<&Sign> = groups.iter().flat_map(|group| &group.cases).map(|case| case.sign).collect();
    shown.sort_by_key(|sign| sign.letter);
    shown.dedup_by_key(|sign| sign.letter);
    let declared: Vec<RuleSet> = system.asked.iter().map(|asked| asked.rules).collect();
    let page = SystemPage {
        bar: Bar::of(system),
        sets: system.asked.iter().map(|asked| (rules_path(asked.rules), asked)).collect(),
        undeclared: RuleSet::ALL
            .into_iter()
            .filter(|rules| !declared.contains(rules))
            .map(|rules| (rules_path(rules), rules))
            .collect(),
        conventions: system
            .run
            .shared()
            .into_iter()
            .map(|shared| (clause_path(shared.convention.clause()), shared))
            .collect(),
        findings: system.findings.iter().map(|&place| &world.findings[place]).collect(),
        groups,
        signs: shown.into_iter().map(|sign| (sign, word(sign.status))).collect(),
        plot: system.history.map(|history| Plot::of(history, world)),
        frame,
        system,
    };
    (system.path.clone(), rendered(&page))
}

/// The cases that the system answers otherwise, by clause: first the clauses with failures, then those with
/// known differences, otherwise in the order of SEMANTICS.md.
fn groups<'a>(world: &'a World<'_>, place: usize) -> Vec<Group<'a>> {
    let of_clause = |id: &'static str| {
        let entries =
            world.cases.iter().filter(|case| case.clause == id).filter_map(|case| case.results[place]);
        let mut cases: Vec<Differing<'a>> = entries
            .filter(|entry| differs(entry.status))
            .map(|entry| Differing {
                path: case_path(&entry.id),
                entry,
                sign: Sign::of(entry.status),
                word: word(entry.status),
                finding: entry.finding.and_then(|number| finding_path(world, number)),
            })
            .collect();
        cases.sort_by_key(|case| urgency(case.sign));
        let heading = inline(heading(id).unwrap_or_default(), &|_| None);
        Group { path: clause_path(id), clause: id, heading, cases }
    };
    let mut groups: Vec<Group<'a>> = clauses::ALL
        .iter()
        .map(|clause| of_clause(clause.id))
        .filter(|group| !group.cases.is_empty())
        .collect();
    groups.sort_by_key(|group| group.cases.iter().map(|case| urgency(case.sign)).min());
    groups
}

/// The place of a result in a list, the worst first.
fn urgency(sign: &Sign) -> Option<usize> {
    SIGNS.iter().position(|other| other.status == sign.status)
}

/// The page of a finding, if there is one of this number.
pub(super) fn finding_path(world: &World<'_>, number: u32) -> Option<String> {
    world.findings.iter().find(|finding| finding.number == number).map(Finding::path)
}
