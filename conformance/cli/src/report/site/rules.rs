//! The page of a rule set: what it says in one line, the systems that have it, and its clauses.

use super::markdown::inline;
use super::world::{World, clause_path, rules_path};
use super::{Frame, Page, rendered};
use crate::report::html::cell::Cell;
use askama::Template;
use broadcheck_judge::explain::heading;
use broadcheck_spec::{RuleSet, SEMANTICS, clauses};

#[derive(Template)]
#[template(path = "site/rules.html")]
struct RulesPage<'a> {
    frame: Frame,
    rules: RuleSet,
    /// What it says in one line, as HTML.
    summary: String,
    systems: Vec<(&'a str, &'a str, Cell)>,
    /// The number of systems without it.
    without: usize,
    clauses: Vec<ClauseRow>,
}

/// A clause in a list.
pub(super) struct ClauseRow {
    pub(super) path: String,
    pub(super) id: &'static str,
    pub(super) heading: String,
    pub(super) cases: usize,
    /// How many systems differ in a case of it.
    pub(super) differing: usize,
}

impl ClauseRow {
    /// The row of a clause for the cases of a rule set, or for all.
    pub(super) fn of(world: &World<'_>, id: &'static str, rules: Option<RuleSet>) -> ClauseRow {
        let cases = || {
            world
                .cases
                .iter()
                .filter(move |case| case.clause == id && (rules.is_none() || case.rules == rules))
        };
        let mut systems: Vec<usize> =
            cases().flat_map(|case| case.differing().map(|(place, _)| place)).collect();
        systems.sort_unstable();
        systems.dedup();
        ClauseRow {
            path: clause_path(id),
            id,
            heading: inline(heading(id).unwrap_or_default(), &|_| None),
            cases: cases().count(),
            differing: systems.len(),
        }
    }
}

/// The heading of the page of a rule set in SEMANTICS, without its name.
pub(super) fn summary(rules: RuleSet) -> String {
    let page = format!("semantics/{rules}.md");
    let text = SEMANTICS.iter().find(|(name, _)| *name == page).map_or("", |(_, text)| text);
    let heading = text.lines().next().unwrap_or_default();
    inline(heading.split_once(": ").map_or("", |(_, rest)| rest), &|_| None)
}

/// The text with a capital letter at its start.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

pub(super) fn page(world: &World<'_>, rules: RuleSet) -> Page {
    let path = rules_path(rules);
    let has = |place: usize| world.systems[place].asked.iter().any(|asked| asked.rules == rules);
    let systems: Vec<(&str, &str, Cell)> = (0..world.systems.len())
        .filter(|&place| has(place))
        .map(|place| {
            let system = &world.systems[place];
            let of_set = world.cases.iter().filter(|case| case.rules == Some(rules));
            let cell = Cell::of(&of_set.filter_map(|case| case.results[place]));
            (system.path.as_str(), system.title.as_str(), cell)
        })
        .collect();
    let rows = clauses::ALL.iter().map(|clause| ClauseRow::of(world, clause.id, Some(rules)));
    let page = RulesPage {
        frame: Frame::new(format!("The rule set {rules}"), &path, "rules"),
        rules,
        summary: sentence(&summary(rules)),
        without: world.systems.len() - systems.len(),
        systems,
        clauses: rows.filter(|row| row.cases > 0).collect(),
    };
    (path, rendered(&page))
}
