//! The lists of all rule sets, clauses and findings.

use super::finding::Finding;
use super::rules::{ClauseRow, summary};
use super::world::{World, rules_path};
use super::{Frame, rendered};
use askama::Template;
use broadcheck_spec::RuleSet;

#[derive(Template)]
#[template(path = "site/rule-sets.html")]
struct RuleSets {
    frame: Frame,
    sets: Vec<SetRow>,
}

struct SetRow {
    path: String,
    name: &'static str,
    summary: String,
    cases: usize,
    /// The number of systems that declare it.
    systems: usize,
}

pub(super) fn rules(world: &World<'_>) -> String {
    let row = |rules: RuleSet| SetRow {
        path: rules_path(rules),
        name: rules.name(),
        summary: summary(rules),
        cases: world.cases.iter().filter(|case| case.rules == Some(rules)).count(),
        systems: world
            .systems
            .iter()
            .filter(|system| system.asked.iter().any(|asked| asked.rules == rules))
            .count(),
    };
    let mut sets: Vec<SetRow> = RuleSet::ALL.into_iter().map(row).collect();
    // Rule sets that nobody was asked come last.
    sets.sort_by_key(|set| std::cmp::Reverse(set.systems));
    rendered(&RuleSets { frame: Frame::new("Rule sets", "rules.html", "rules"), sets })
}

#[derive(Template)]
#[template(path = "site/clauses.html")]
struct Clauses {
    frame: Frame,
    clauses: Vec<ClauseRow>,
}

pub(super) fn clauses(world: &World<'_>) -> String {
    let all = broadcheck_spec::clauses::ALL.iter();
    let clauses = all.map(|clause| ClauseRow::of(world, clause.id, None)).collect();
    rendered(&Clauses { frame: Frame::new("Clauses", "clauses.html", "clauses"), clauses })
}

#[derive(Template)]
#[template(path = "site/findings.html")]
struct Findings<'a> {
    frame: Frame,
    findings: Vec<&'a Finding>,
}

pub(super) fn findings(world: &World<'_>) -> String {
    let mut findings: Vec<&Finding> = world.findings.iter().collect();
    findings.sort_by_key(|finding| (!finding.is_strong(), finding.strength == "convention"));
    rendered(&Findings { frame: Frame::new("Findings", "findings.html", "findings"), findings })
}
