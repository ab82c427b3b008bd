//! Groups the findings of a run that probably have one cause, and puts the one to read first on top.
//!
//! The cause itself is unknown. What can be observed is how the sides differ, and where: wrong values are
//! grouped by function, because a defect of a function shows under every rule set and in several dtypes;
//! shapes and refusals by rule set, because they do not depend on the function; a side that does not answer
//! by its message.

use super::{Found, FuzzReport};
use crate::oracle::{Breakage, Kind, Side};
use crate::shrink::cost_of_question;
use broadcheck_spec::{Function, OperationKind, RuleSet};
use std::collections::BTreeMap;
use std::fmt;

/// The longest part of a message that is compared, in characters.
const MAX_MESSAGE: usize = 80;

/// Findings that probably have one cause.
pub struct Group<'a> {
    /// What they have in common.
    pub cause: String,
    /// The findings, the one with the smallest request first.
    pub findings: Vec<&'a Found>,
}

impl Group<'_> {
    /// How many disagreements turned out to be one of its findings.
    pub fn hits(&self) -> u64 {
        self.findings.iter().map(|found| found.hits).fold(0, u64::saturating_add)
    }
}

/// What can be observed of a cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Values(String, Kind, OperationKind, Option<Function>),
    Rules(String, Kind, RuleSet),
    Silence(String, Side, Breakage, String),
}

impl Cause {
    fn of(found: &Found) -> Cause {
        let disagreement = &found.shrunk.disagreement;
        let signature = &disagreement.signature;
        let (oracle, kind) = (signature.oracle.clone(), signature.kind.clone());
        match &signature.kind {
            Kind::Values | Kind::DType | Kind::Nondeterministic => {
                Cause::Values(oracle, kind, signature.operation, signature.pattern.function)
            }
            Kind::Shape
            | Kind::Extra
            | Kind::Acceptance { .. }
            | Kind::Refusal(..)
            | Kind::Relation(_)
            | Kind::Inferred(_) => Cause::Rules(oracle, kind, signature.rules),
            Kind::Broke(side, breakage) => {
                Cause::Silence(oracle, *side, *breakage, without_numbers(&disagreement.detail, MAX_MESSAGE))
            }
        }
    }
}

/// `values of maximum, elementwise, reference-fast`.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Values(oracle, kind, operation, Some(function)) => {
                write!(f, "{kind} of {function}, {operation}, {oracle}")
            }
            Cause::Values(oracle, kind, operation, None) => write!(f, "{kind}, {operation}, {oracle}"),
            Cause::Rules(oracle, kind, rules) => write!(f, "{kind}, {rules}, {oracle}"),
            Cause::Silence(oracle, side, breakage, message) => {
                write!(f, "{side} {breakage}, {oracle}: {message}")
            }
        }
    }
}

/// The first line of a message with its numbers replaced, so that it is the same for many requests, cut to a
/// number of characters.
pub(super) fn without_numbers(message: &str, most: usize) -> String {
    let mut text = String::new();
    for char in message.lines().next().unwrap_or_default().chars().take(most) {
        match char {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            other => text.push(other),
        }
    }
    text
}

impl FuzzReport {
    /// The findings in groups, the group with the smallest request first. Shrunk findings come before the
    /// others.
    pub fn groups(&self) -> Vec<Group<'_>> {
        groups(&self.findings)
    }
}

/// Groups findings, as [`FuzzReport::groups`] does.
pub(super) fn groups(findings: &[Found]) -> Vec<Group<'_>> {
    let size = |found: &Found| (found.waits, cost_of_question(&found.shrunk.request), found.number);
    let mut by_cause: BTreeMap<Cause, Vec<&Found>> = BTreeMap::new();
    for found in findings {
        by_cause.entry(Cause::of(found)).or_default().push(found);
    }
    let mut groups: Vec<Group<'_>> = by_cause
        .into_iter()
        .map(|(cause, mut findings)| {
            findings.sort_by_cached_key(|found| size(found));
            Group { cause: cause.to_string(), findings }
        })
        .collect();
    groups.sort_by_cached_key(|group| group.findings.first().map(|found| size(found)));
    groups
}
