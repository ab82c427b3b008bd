//! The counts and findings of a run.

use super::Finding;
use broadcheck::relations::Extent;
use broadcheck_spec::{OperationKind, RuleSet};
use std::time::Duration;

/// The outcome of a run. Only `elapsed` depends on how the work was spread over threads.
#[derive(Clone, Debug)]
pub struct ExhaustReport {
    /// The bounds on shapes.
    pub extent: Extent,
    /// The checks: answers compared with the first implementation's, and relations of requests in which
    /// answers were compared.
    pub checks: u64,
    /// The answers of all implementations.
    pub answers: u64,
    /// The requests, by rule set and operation.
    pub groups: Vec<GroupCount>,
    /// The relations, by implementation.
    pub relations: Vec<RelationCount>,
    /// How many findings there are.
    pub finding_count: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// Whether the run was completed rather than ended early.
    pub complete: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl ExhaustReport {
    /// Whether the run is complete, at least one check was made, and none failed.
    pub fn held(&self) -> bool {
        self.complete && self.checks > 0 && self.finding_count == 0
    }

    /// Whether an implementation got no request, because it declares none within the bounds.
    pub fn asked_nothing(&self, name: &str) -> bool {
        let of_group = |group: &GroupCount| {
            let mut of_name = group.implementations.iter().filter(|one| one.implementation == name);
            of_name.any(|one| one.not_asked < group.requests)
        };
        let of_relation = |one: &RelationCount| one.implementation == name && one.compared + one.vacuous > 0;
        !self.groups.iter().any(of_group) && !self.relations.iter().any(of_relation)
    }

    /// The count of a rule set's requests, over its operations: requests, accepted, refused.
    pub fn of_rules(&self, rules: RuleSet) -> [u64; 3] {
        let groups = self.groups.iter().filter(|group| group.rules == rules);
        groups.fold([0; 3], |[requests, accepted, refused], group| {
            [requests + group.requests, accepted + group.accepted, refused + group.refused]
        })
    }
}

/// The requests of one rule set and operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCount {
    /// The rule set.
    pub rules: RuleSet,
    /// The operation.
    pub operation: OperationKind,
    /// The requests sent; 0 if no implementation declares them.
    pub requests: u64,
    /// Those that the first implementation that declares them accepts.
    pub accepted: u64,
    /// Those that it refuses.
    pub refused: u64,
    /// The implementations that declare some of them.
    pub implementations: Vec<AnswerCount>,
}

impl GroupCount {
    /// The number of answers of all implementations.
    pub(super) fn answers(&self) -> u64 {
        self.implementations.iter().map(|one| self.requests - one.not_asked).sum()
    }
}

/// One implementation's answers to the requests of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerCount {
    /// The implementation.
    pub implementation: String,
    /// The answers compared with the first one's; 0 for the first itself.
    pub compared: u64,
    /// Those that differ, and those that are missing.
    pub findings: u64,
    /// Those that differ only by a convention that one side does not declare: not findings.
    pub conventions: u64,
    /// The requests outside what the implementation declares.
    pub not_asked: u64,
}

/// One relation for one implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationCount {
    /// The name of the sweep.
    pub relation: &'static str,
    /// The implementation.
    pub implementation: String,
    /// The checks in which answers were compared, violations included.
    pub compared: u64,
    /// The checks with nothing to compare.
    pub vacuous: u64,
    /// The checks in which the relation does not hold.
    pub violated: u64,
    /// The checks of requests, or with variations, outside what the implementation declares.
    pub not_asked: u64,
    /// Why it was not run: outside what the implementation declares.
    pub skipped: Option<String>,
}
