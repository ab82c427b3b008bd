//! Runs cases against an implementation, in parallel. The results do not depend on the order in which the
//! cases finish.

use crate::known::Known;
use crate::parallel::over_ranges;
use crate::retype::{Asked, asked};
use broadcheck_judge::compare::{Difference, DifferenceKind, Latitude, Verdict, judge};
use broadcheck_judge::conventions;
use broadcheck_judge::inferred::{Inferred, excuses_inferred, judge_inferred};
use broadcheck_judge::limits::answer_elements;
use broadcheck_spec::{
    Case, Convention, DType, ErrorKind, Expectation, Implementation, Inference, InferenceCase, Outcome,
    Request, Signature, Success,
};
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::Instant;

/// How many failures are asked again by themselves: a compiler takes seconds for each.
const MOST_ASKED_AGAIN: usize = 20;

/// How a case ended for an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The outcome is the expected one.
    Passed,
    /// The outcome is wrong, or the implementation skipped a case within its capabilities.
    Failed,
    /// The case is outside the declared capabilities: counted, never passed.
    Skipped,
    /// The implementation crashed, hung or gave an invalid answer: counts as failed.
    Errored,
    /// The case tests a convention, and the outcome is the expected one.
    Agrees,
    /// The case tests a convention that the implementation does not declare, and the outcome is another one:
    /// counted, and not a failure.
    Differs,
    /// The case fails as listed in the known-failures file.
    KnownFailure,
    /// The case passes although the known-failures file lists it: counts as failed.
    UnexpectedPass,
}

impl Status {
    /// Every status, in the order of reports.
    pub const ALL: [Status; 8] = [
        Status::Passed,
        Status::Failed,
        Status::Skipped,
        Status::Errored,
        Status::Agrees,
        Status::Differs,
        Status::KnownFailure,
        Status::UnexpectedPass,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Errored => "errored",
            Status::Agrees => "agrees",
            Status::Differs => "differs",
            Status::KnownFailure => "known_failure",
            Status::UnexpectedPass => "unexpected_pass",
        }
    }

    /// Whether a run with such a case fails as a whole.
    pub fn is_failure(self) -> bool {
        matches!(self, Status::Failed | Status::Errored | Status::UnexpectedPass)
    }
}

/// The result of a case for an implementation.
#[derive(Clone, Debug)]
pub struct Judged<T = Success> {
    /// The status.
    pub status: Status,
    /// The kind of difference, if the outcome is wrong.
    pub kind: Option<DifferenceKind>,
    /// The reason; empty for a pass.
    pub detail: String,
    /// The answer; `None` if the case was not run.
    pub outcome: Option<Outcome<T>>,
    /// How a passed inference is wider than exact, in words (clause INFER-3).
    pub wider: Option<String>,
    /// The dtype in which the case was asked, if not in its own.
    pub retyped: Option<DType>,
    /// The number of the finding that describes a known failure.
    pub finding: Option<u32>,
}

impl<T> Judged<T> {
    /// A result with this status, without an outcome.
    pub fn new(status: Status, detail: impl Into<String>) -> Judged<T> {
        Judged {
            status,
            kind: None,
            detail: detail.into(),
            outcome: None,
            wider: None,
            retyped: None,
            finding: None,
        }
    }
}

/// Runs one case, in a dtype that the implementation has, and applies the known failures.
pub fn run_case(implementation: &dyn Implementation, case: &Case, known: Option<&Known>) -> Judged {
    let judged = match asked(case, implementation.capabilities()) {
        Err(reason) => Judged::new(Status::Skipped, reason),
        Ok(asked) => judged(implementation, &asked, run_caught(implementation, &asked.case.request)),
    };
    with_known(judged, &case.id, known)
}

pub(crate) fn with_known<T>(judged: Judged<T>, id: &str, known: Option<&Known>) -> Judged<T> {
    match known.and_then(|known| known.entry(id)) {
        Some(entry) => entry.applied_to(judged),
        None => judged,
    }
}

/// Runs every case. The results have the order of the cases. Of an implementation that takes several requests
/// at a time, the first failures are asked again, each by itself.
pub fn run_cases(implementation: &dyn Implementation, cases: &[&Case], known: Option<&Known>) -> Vec<Judged> {
    let mut results = run_once(implementation, cases, known);
    compare_with_alone(implementation, cases, known, &mut results);
    results
}

/// Runs every case once. The results have the order of the cases.
pub(crate) fn run_once(
    implementation: &dyn Implementation,
    cases: &[&Case],
    known: Option<&Known>,
) -> Vec<Judged> {
    let batch = implementation.batch().max(1);
    let run = |places: Range<usize>| -> Vec<Judged> {
        cases[places].chunks(batch).flat_map(|cases| run_batch(implementation, cases, known)).collect()
    };
    over_ranges(cases.len(), batch, run).into_iter().flatten().collect()
}

/// Runs the cases of one batch, in their order and on this thread.
pub(crate) fn run_batch(
    implementation: &dyn Implementation,
    cases: &[&Case],
    known: Option<&Known>,
) -> Vec<Judged> {
    let all: Vec<Result<Asked<'_>, String>> =
        cases.iter().map(|case| asked(case, implementation.capabilities())).collect();
    let requests: Vec<&Request> = all.iter().flatten().map(|asked| &asked.case.request).collect();
    let outcomes = match requests.len() {
        0 | 1 => Vec::new(),
        _ => quietly(|| catch_unwind(AssertUnwindSafe(|| implementation.run_many(&requests))))
            .unwrap_or_default(),
    };
    // A single case; or a panic or a wrong number of outcomes, which running the cases one by one will
    // locate.
    if outcomes.len() != requests.len() {
        return cases.iter().map(|case| run_case(implementation, case, known)).collect();
    }
    let mut outcomes = outcomes.into_iter();
    let judge = |(&case, asked): (&&Case, Result<Asked<'_>, String>)| {
        let judged = match asked {
            Err(reason) => Judged::new(Status::Skipped, reason),
            Ok(asked) => judged(implementation, &asked, outcomes.next().expect("one outcome each")),
        };
        with_known(judged, &case.id, known)
    };
    cases.iter().zip(all).map(judge).collect()
}

/// Asks the first failures again, each by itself, if they were asked together with others. A case that passes
/// alone gets a remark: whoever runs it again will not see the failure.
fn compare_with_alone(
    implementation: &dyn Implementation,
    cases: &[&Case],
    known: Option<&Known>,
    results: &mut [Judged],
) {
    if implementation.batch() < 2 || cases.len() < 2 {
        return;
    }
    let failed = cases.iter().zip(results).filter(|(_, judged)| judged.status == Status::Failed);
    for (case, judged) in failed.take(MOST_ASKED_AGAIN) {
        if !run_case(implementation, case, known).status.is_failure() {
            judged.detail += "\nasked again by itself, the case does not fail: this answer came when it was asked with others";
        }
    }
}

pub(crate) fn judged(implementation: &dyn Implementation, asked: &Asked<'_>, outcome: Outcome) -> Judged {
    let case = &*asked.case;
    let latitude = Latitude::of(implementation);
    let strict = match case.convention {
        Some(Convention::ZeroSigns) => Latitude { any_zero_of_extremes: false, ..latitude },
        _ => latitude,
    };
    // The convention that the case tests, if the implementation need not follow it.
    let free = case.convention.filter(|&convention| !implementation.capabilities().follows(convention));
    let verdict = judge(&case.request, &case.expectation, &outcome, strict);
    let excused = free.filter(|&convention| {
        verdict != Verdict::Passed
            && conventions::excuses(convention, &case.request, &case.expectation, &outcome, latitude)
    });
    let (status, kind, detail) = match (verdict, excused) {
        (Verdict::Passed, _) if case.convention.is_some() => (Status::Agrees, None, String::new()),
        (Verdict::Passed, _) => (Status::Passed, None, String::new()),
        (Verdict::Failed(Difference { detail, .. }), Some(convention)) => {
            (Status::Differs, None, format!("differs from the convention {convention}: {detail}"))
        }
        (Verdict::Errored(message), Some(convention)) => {
            (Status::Differs, None, format!("differs from the convention {convention}: {message}"))
        }
        (Verdict::Failed(Difference { kind, detail }), None) => {
            (Status::Failed, Some(kind), format!("{kind}: {detail}"))
        }
        (Verdict::Skipped(reason), _) if free.is_some() || beyond_its_limit(implementation, case) => {
            (Status::Skipped, None, reason)
        }
        (Verdict::Skipped(reason), _) => {
            (Status::Failed, None, format!("skipped although declared: {reason}"))
        }
        (Verdict::Errored(message), None) => (Status::Errored, None, message),
    };
    Judged { kind, outcome: Some(outcome), retyped: asked.retyped, ..Judged::new(status, detail) }
}

/// Asks for the inference of each case. With `exact`, an answer that is wider than exact fails; it always
/// fails an implementation that [is exact](Implementation::is_exact). The results have the order of the
/// cases.
pub fn run_inferences(
    implementation: &dyn Implementation,
    cases: &[&InferenceCase],
    known: Option<&Known>,
    exact: bool,
) -> Vec<Judged<Inference>> {
    let covers = |case: &InferenceCase| implementation.capabilities().covers_signature(&case.request);
    let asked: Vec<Result<(), String>> = cases.iter().map(|case| covers(case)).collect();
    let signatures: Vec<&Signature> =
        cases.iter().zip(&asked).filter(|(_, asked)| asked.is_ok()).map(|(case, _)| &case.request).collect();
    let mut outcomes = infer_together(implementation, &signatures).into_iter();
    let judge = |(&case, asked): (&&InferenceCase, Result<(), String>)| {
        let judged = match asked {
            Err(reason) => Judged::new(Status::Skipped, reason),
            Ok(()) => {
                let outcome = outcomes.next().expect("one outcome each");
                judged_inference(implementation, case, outcome, exact || implementation.is_exact())
            }
        };
        with_known(judged, &case.id, known)
    };
    cases.iter().zip(asked).map(judge).collect()
}

/// Asks for several inferences, as one batch if the implementation supports it. After a panic, asks one by
/// one.
fn infer_together(implementation: &dyn Implementation, signatures: &[&Signature]) -> Vec<Outcome<Inference>> {
    let answers = quietly(|| catch_unwind(AssertUnwindSafe(|| implementation.infer_many(signatures))));
    match answers {
        Ok(outcomes) if outcomes.len() == signatures.len() => outcomes,
        _ => signatures.iter().map(|signature| infer_caught(implementation, signature)).collect(),
    }
}

fn judged_inference(
    implementation: &dyn Implementation,
    case: &InferenceCase,
    outcome: Outcome<Inference>,
    exact: bool,
) -> Judged<Inference> {
    let free = case.convention.filter(|&convention| !implementation.capabilities().follows(convention));
    let verdict = judge_inferred(&case.request, &case.expectation, &outcome);
    let excused = free.filter(|&convention| excuses_inferred(convention, &outcome));
    let passed = if case.convention.is_some() { Status::Agrees } else { Status::Passed };
    let differs = |convention, detail| {
        Judged::new(Status::Differs, format!("differs from the convention {convention}: {detail}"))
    };
    let judged = match (verdict, excused) {
        (Inferred::Exact, _) => Judged::new(passed, ""),
        (Inferred::Wider(detail), _) if exact => {
            Judged::new(Status::Failed, format!("wider than exact: {detail}"))
        }
        (Inferred::Wider(detail), _) => Judged { wider: Some(detail), ..Judged::new(passed, "") },
        (Inferred::Failed(difference), Some(convention)) => differs(convention, difference.detail),
        (Inferred::Errored(message), Some(convention)) => differs(convention, message),
        (Inferred::Failed(Difference { kind, detail }), None) => {
            Judged { kind: Some(kind), ..Judged::new(Status::Failed, format!("{kind}: {detail}")) }
        }
        (Inferred::Skipped(reason), _) if free.is_some() => Judged::new(Status::Skipped, reason),
        (Inferred::Skipped(reason), _) => {
            Judged::new(Status::Failed, format!("skipped although declared: {reason}"))
        }
        (Inferred::Errored(message), None) => Judged::new(Status::Errored, message),
    };
    Judged { outcome: Some(outcome), ..judged }
}

/// Whether the answer to a valid request is larger than the implementation declares (clause G-1). A skip
/// never replaces a refusal.
fn beyond_its_limit(implementation: &dyn Implementation, case: &Case) -> bool {
    matches!(case.expectation, Expectation::Result(_))
        && answer_elements(implementation.capabilities(), &case.request).is_err()
}

/// Runs a request. A panic of the implementation becomes [`Outcome::Errored`], without a message on stderr.
pub fn run_caught(implementation: &dyn Implementation, request: &Request) -> Outcome {
    let answer = quietly(|| catch_unwind(AssertUnwindSafe(|| implementation.run(request))));
    answer.unwrap_or_else(|panic| panicked(&*panic))
}

fn panicked<T>(panic: &(dyn std::any::Any + Send)) -> Outcome<T> {
    Outcome::errored(ErrorKind::Panicked, format!("panicked: {}", panic_text(panic)))
}

/// Asks what is known of the result of a signature. A panic of the implementation becomes
/// [`Outcome::Errored`], without a message on stderr.
pub fn infer_caught(implementation: &dyn Implementation, signature: &Signature) -> Outcome<Inference> {
    quietly(|| catch_unwind(AssertUnwindSafe(|| implementation.infer(signature))))
        .unwrap_or_else(|panic| panicked(&*panic))
}

/// Runs several requests, as one batch if the implementation supports it. After a panic, runs them one by
/// one.
pub fn run_together(implementation: &dyn Implementation, requests: &[&Request]) -> Vec<Outcome> {
    run_together_until(implementation, requests, None)
}

/// [`run_together`] until a deadline, if there is one. A request that has no answer by then is
/// [`ErrorKind::Interrupted`].
pub fn run_together_until(
    implementation: &dyn Implementation,
    requests: &[&Request],
    deadline: Option<Instant>,
) -> Vec<Outcome> {
    let together = || match deadline {
        None => implementation.run_many(requests),
        Some(deadline) => implementation.run_many_until(requests, deadline),
    };
    if implementation.batch() > 1 && (requests.len() > 1 || deadline.is_some()) {
        let answers = quietly(|| catch_unwind(AssertUnwindSafe(together)));
        if let Ok(outcomes) = answers
            && outcomes.len() == requests.len()
        {
            return outcomes;
        }
    }
    let run = |request: &&Request| match deadline {
        Some(deadline) if Instant::now() >= deadline => {
            Outcome::errored(ErrorKind::Interrupted, "the time is over")
        }
        Some(_) | None => run_caught(implementation, request),
    };
    requests.iter().map(run).collect()
}

thread_local! {
    /// Whether panics of this thread are caught and reported as outcomes.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `action` without printing panics of this thread to stderr.
fn quietly<T>(action: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = action();
    QUIET.set(before);
    result
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else {
        "without a message"
    }
}
