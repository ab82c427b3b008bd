//! Tests of the comparison of the two positions, with systems that answer what the test says.

use super::*;
use broadcheck_spec::{Capabilities, Expectation, Operand, Outcome, Refusal, Suite, Tensor};

/// A system that gives one answer to everything.
struct Answers(Capabilities, Outcome);

impl Implementation for Answers {
    fn name(&self) -> &'static str {
        "answers"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }
    fn run(&self, _: &Request) -> Outcome {
        self.1.clone()
    }
}

fn always(outcome: Outcome) -> Answers {
    Answers(Capabilities::all(), outcome)
}

/// The outcome that a case expects.
fn right(case: &Case) -> Outcome {
    match &case.expectation {
        Expectation::Result(expected) => Outcome::Success(expected.tensor.clone().into()),
        Expectation::Refusal(_) => Outcome::Refusal(Refusal::default()),
    }
}

/// A result that no case expects.
fn wrong(value: f64) -> Outcome {
    let operand = Operand::dense("a", [7, 7], vec![value; 49]).unwrap();
    Outcome::Success(Tensor::new(operand.shape().clone(), operand.values().clone()).unwrap().into())
}

fn case(refused: bool) -> Case {
    let suite = Suite::builtin().unwrap();
    let wanted = |case: &&Case| {
        let is_refused = matches!(case.expectation, Expectation::Refusal(_));
        let is_asked = Capabilities::all().covers(&case.request).is_ok();
        case.convention.is_none() && is_asked && is_refused == refused
    };
    suite.cases.iter().find(wanted).unwrap().clone()
}

fn ran(case: &Case, off: Outcome, on: Outcome, known: Option<&Known>) -> Judged {
    let (off, on) = (always(off), always(on));
    run_switched(Switched { off: &off, on: &on }, &[case], known).remove(0)
}

#[test]
fn a_case_passes_if_both_answers_are_right() {
    for refused in [false, true] {
        let case = case(refused);
        assert_eq!(ran(&case, right(&case), right(&case), None).status, Status::Passed);
    }
}

#[test]
fn an_answer_that_is_wrong_in_one_position_is_a_failure_of_its_own_kind() {
    let refused = Outcome::Refusal(Refusal::default());
    for (case, wrong) in [(case(false), wrong(1.0)), (case(false), refused), (case(true), wrong(1.0))] {
        let on = ran(&case, right(&case), wrong.clone(), None);
        assert_eq!((on.status, on.kind), (Status::Failed, Some(DifferenceKind::Optimiser)));
        assert!(on.detail.starts_with("changed by the optimiser: off: passed; on: "), "{}", on.detail);
        let off = ran(&case, wrong.clone(), right(&case), None);
        assert_eq!((off.status, off.kind), (Status::Failed, Some(DifferenceKind::Optimiser)));
        assert!(off.detail.ends_with("; on: passed"), "{}", off.detail);
    }
}

#[test]
fn two_wrong_answers_are_compared_with_each_other() {
    let case = case(false);
    let same = ran(&case, wrong(1.0), wrong(1.0), None);
    assert_eq!((same.status, same.kind), (Status::Failed, Some(DifferenceKind::Shape)));
    let other = ran(&case, wrong(1.0), wrong(2.0), None);
    assert_eq!((other.status, other.kind), (Status::Failed, Some(DifferenceKind::Optimiser)));
}

#[test]
fn a_crash_in_one_position_is_a_failure() {
    let case = case(false);
    let crash = || Outcome::errored(broadcheck_spec::ErrorKind::Crashed, "killed");
    let judged = ran(&case, right(&case), crash(), None);
    assert_eq!((judged.status, judged.kind), (Status::Failed, Some(DifferenceKind::Optimiser)));
    assert_eq!(ran(&case, crash(), crash(), None).status, Status::Errored);
}

#[test]
fn known_failures_may_be_about_a_position() {
    let case = case(false);
    let file = |field: &str| {
        format!(
            "implementation: answers\nknown:\n  - {{case: {}, reason: folds it, url: 'https://example.org/1'{field}}}\n",
            case.id
        )
    };
    let known = |field: &str| {
        let mut known = Known::parse(&file(field), "known.yaml").unwrap();
        known.ask_optimiser(&Optimiser::ALL);
        known
    };
    for field in ["", ", optimiser: \"on\""] {
        let judged = ran(&case, right(&case), wrong(1.0), Some(&known(field)));
        assert_eq!(judged.status, Status::KnownFailure, "{field}");
    }
    assert_eq!(ran(&case, right(&case), right(&case), Some(&known(""))).status, Status::Passed);
    let passes = ran(&case, right(&case), right(&case), Some(&known(", optimiser: \"on\"")));
    assert_eq!(passes.status, Status::UnexpectedPass);
    // It excuses no wrong answer in the other position.
    let on = known(", optimiser: \"on\"");
    assert_eq!(ran(&case, wrong(1.0), right(&case), Some(&on)).status, Status::Failed);
    for (one, other) in [(1.0, 1.0), (1.0, 2.0)] {
        assert_eq!(ran(&case, wrong(one), wrong(other), Some(&on)).status, Status::Failed);
        assert_eq!(ran(&case, wrong(one), wrong(other), Some(&known(""))).status, Status::KnownFailure);
    }
    // Such an entry is not about a run that asks for no position.
    assert!(Known::parse(&file(", optimiser: \"on\""), "known.yaml").unwrap().entry(&case.id).is_none());
    let error = Known::parse(&file(", optimiser: \"both\""), "known.yaml").err().unwrap();
    assert!(error.contains("found `both`, expected off or on"), "{error}");
}

#[test]
fn what_only_one_position_supports_is_not_asked() {
    let case = case(false);
    let off = Answers(Capabilities { dtypes: vec![], ..Capabilities::all() }, right(&case));
    let on = always(right(&case));
    let judged = run_switched(Switched { off: &off, on: &on }, &[&case], None).remove(0);
    assert_eq!(judged.status, Status::Skipped);
}
