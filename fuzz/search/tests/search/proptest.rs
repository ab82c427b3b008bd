//! Runs the oracles on requests that proptest draws, for a few seconds. Disagreements are shrunk and kept as
//! cases in `tests/regressions`, which are checked first from then on.
//!
//! The seed is fixed, so every run gives the same result. `PROPTEST_RNG_SEED=7 PROPTEST_CASES=100000`
//! searches elsewhere, for longer.

use broadcheck_search::generate::{Profile, Seeded, request};
use broadcheck_search::oracle::{Judgement, Oracle, TARGETS, target};
use broadcheck_search::shrink::{Limits, Sides, propose, shrink, write_case};
use broadcheck_spec::{Request, Suite};
use proptest::prelude::any;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of requests for each target, unless the environment specifies it.
const CASES: u32 = 3_000;

fn regressions() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions"))
}

fn config() -> Config {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let usual = Config::default();
    Config {
        cases: if is_set("PROPTEST_CASES") { usual.cases } else { CASES },
        rng_seed: if is_set("PROPTEST_RNG_SEED") { usual.rng_seed } else { RngSeed::Fixed(1) },
        // A seed is meaningless to a person. Cases are kept instead, shrunk by the shrinker of requests.
        failure_persistence: None,
        max_shrink_iters: 0,
        ..usual
    }
}

/// Requests from seeds. Proptest's own shrinking would not help.
fn requests() -> impl Strategy<Value = Request> {
    let profile = Profile::all().with_large(0);
    any::<u64>().no_shrink().prop_map(move |seed| request(&mut Seeded::new(seed), &profile))
}

/// Shrinks a disagreement and keeps it. Returns the message for the failing test.
fn kept(name: &str, oracle: &dyn Oracle, request: &Request) -> String {
    let Some(found) = oracle.judge(request).disagreement() else {
        return format!("{name}: a disagreement that could not be reproduced: {request:#?}");
    };
    let shrunk = shrink(oracle, request, found, &Limits::default());
    let sides = Sides::builtin(&shrunk.disagreement, format!("proptest, target {name}"));
    let kept = propose(&shrunk, &sides).and_then(|proposal| {
        let written = write_case(&regressions(), &proposal)?;
        Ok(format!("{}\n{}", written.path().display(), proposal.yaml))
    });
    let kept = kept.unwrap_or_else(|error| format!("{error}: {:#?}", shrunk.request));
    format!("{name}: {}\n{kept}", shrunk.disagreement.detail)
}

#[test]
fn earlier_findings_hold() {
    let directory = regressions();
    if !directory.is_dir() {
        return;
    }
    let suite = Suite::from_paths(&[directory]).unwrap_or_else(|errors| panic!("{errors}"));
    for case in &suite.cases {
        for name in TARGETS {
            let judged = target(name).expect("a target").judge(&case.request);
            assert!(!matches!(judged, Judgement::Disagreement(_)), "{} by {name}: {judged:#?}", case.id);
        }
    }
}

fn holds(name: &str) {
    let oracle = target(name).expect("a target");
    let compared = AtomicUsize::new(0);
    let result = TestRunner::new(config()).run(&requests(), |request| match oracle.judge(&request) {
        Judgement::Disagreement(found) => Err(TestCaseError::fail(found.detail)),
        Judgement::Agreed(_) => {
            compared.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        Judgement::Vacuous(_) | Judgement::Convention(_) => Ok(()),
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(_, request)) => panic!("{}", kept(name, oracle.as_ref(), &request)),
        Err(TestError::Abort(reason)) => panic!("{name}: {reason}"),
    }
    let least = config().cases as usize / 20;
    assert!(compared.load(Ordering::Relaxed) > least, "{name}: almost nothing was compared");
}

#[test]
fn the_implementations_agree() {
    holds("differential");
}

#[test]
fn ndarray_agrees_under_numpy() {
    holds("numpy_ndarray");
}

#[test]
fn the_relations_hold() {
    holds("relations");
}

#[test]
fn gradients_hold() {
    holds("gradient");
}
