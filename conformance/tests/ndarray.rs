//! The crate `ndarray` as a subject: the shipped cases, and what makes the adapter an honest one.

use broadcheck::subjects::Ndarray;
use broadcheck::suite::{Status, run_cases};
use broadcheck_spec::{Case, Suite};

/// The numpy cases of the suite.
fn numpy_cases(suite: &Suite) -> Vec<&Case> {
    suite.cases.iter().filter(|case| case.request.rules().set().name() == "numpy").collect()
}

#[test]
fn ndarray_passes_what_it_is_asked() {
    let suite = Suite::builtin().expect("the shipped suite is valid");
    let cases = numpy_cases(&suite);
    let judged = run_cases(&Ndarray::new(), &cases, None);
    let failed: Vec<String> = cases
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| judged.status.is_failure())
        .map(|(case, judged)| format!("{}: {}", case.id, judged.detail))
        .collect();
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), cases.len(), failed.join("\n"));
    let passed = judged.iter().filter(|judged| judged.status == Status::Passed).count();
    assert!(passed > 300, "{passed} passed");
}
