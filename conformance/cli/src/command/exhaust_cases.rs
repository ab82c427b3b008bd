//! The findings of `exhaust` as cases: one per signature, as small as possible.

use super::finding_report::{Found, proposal, report_found};
use super::interrupt;
use broadcheck::relations::{Relation, RelationSweep};
use broadcheck_reference::Reference;
use broadcheck_search::exhaustive::{ExhaustReport, Finding, FindingKind};
use broadcheck_search::oracle::{Differential, Oracle, Relations, Signature};
use broadcheck_search::shrink::{Limits, Shrunk, Sides, judge_and_shrink};
use broadcheck_spec::json::Question;
use broadcheck_spec::{Capabilities, Implementation, Outcome, Request};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Shrinks the findings, writes a case for each kind, and reports them.
pub(super) fn write_cases(
    report: &ExhaustReport,
    implementations: &[&dyn Implementation],
    out: &Path,
) -> String {
    let mut text = String::new();
    let mut seen: BTreeSet<Signature> = BTreeSet::new();
    let mut without = 0;
    for finding in &report.findings {
        let Some((shrunk, left, right)) = smallest(finding, implementations) else {
            without += 1;
            continue;
        };
        if !seen.insert(shrunk.disagreement.signature.clone()) {
            continue;
        }
        let sides = Sides::of(left, right, format!("broadcheck exhaust, {}", report.extent));
        let shrunk = shrunk.map(Question::Run);
        let proposed = proposal(&shrunk, &sides, Some(out));
        text += &report_found(&Found {
            shrunk: &shrunk,
            hits: None,
            known: None,
            waits: false,
            proposed: &proposed,
        });
    }
    if without > 0 && interrupt::pressed() {
        text += &format!(
            "\n{without} findings have no case: the run was interrupted before they were repeated\n"
        );
    } else if without > 0 {
        text += &format!("\n{without} findings could not be reproduced, and have no case\n");
    }
    text
}

/// The smallest request with the same finding, and the two sides that its case is about.
fn smallest<'a>(
    finding: &Finding,
    implementations: &[&'a dyn Implementation],
) -> Option<(Shrunk, &'a dyn Implementation, &'a dyn Implementation)> {
    let named = |name: &str| implementations.iter().copied().find(|one| one.name() == name);
    let subject = named(&finding.implementation)?;
    let shrunk = |oracle: &dyn Oracle, request: &Request| {
        judge_and_shrink(oracle, request, &Limits::default()).err().map(|shrunk| *shrunk)
    };
    match &finding.kind {
        FindingKind::Difference { against } => {
            let left = named(against)?;
            Some((shrunk(&Differential::new(left, subject), &finding.request)?, left, subject))
        }
        FindingKind::Broken => Some((shrunk(&Relations::new(subject), &finding.request)?, subject, subject)),
        FindingKind::Violation { sweep } => {
            let relation = RelationSweep::named(sweep)?.relation;
            // A case has one request. If possible, take a request of the relation to which the reference
            // gives another answer.
            let differential = Differential::new(&Reference, subject);
            let requests = requests_of(relation, subject, &finding.request);
            if let Some(smallest) = requests.iter().find_map(|request| shrunk(&differential, request)) {
                return Some((smallest, &Reference, subject));
            }
            let relations = Relations::only(subject, relation);
            Some((shrunk(&relations, &finding.request)?, subject, subject))
        }
    }
}

/// The requests that a relation sends, including the request itself.
fn requests_of(relation: &'static Relation, subject: &dyn Implementation, request: &Request) -> Vec<Request> {
    let recorder = Recorder { inner: subject, requests: Mutex::default() };
    let _ = Relations::only(&recorder, relation).judge(request);
    recorder.requests.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// An implementation whose requests are recorded.
struct Recorder<'a> {
    inner: &'a dyn Implementation,
    requests: Mutex<Vec<Request>>,
}

impl Implementation for Recorder<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn version(&self) -> &str {
        self.inner.version()
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn run(&self, request: &Request) -> Outcome {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        self.inner.run(request)
    }

    fn allowed_ulp(&self) -> u32 {
        self.inner.allowed_ulp()
    }
}
