//! Tests of the tests: what a library's test binary shows.

use super::*;
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Inference, Outcome, PartialShape, Request, RuleSet, Signature, Unknown};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Refuses every request.
struct Refuses(Capabilities);

impl Implementation for Refuses {
    fn name(&self) -> &str {
        "refuses"
    }
    fn version(&self) -> &str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }
    fn run(&self, _: &Request) -> Outcome {
        Outcome::Refusal(broadcheck_spec::Refusal::default())
    }
}

/// Runs the tests whose names contain `filter`, and counts those that passed, failed and were ignored.
fn counts(tests: Tests, filter: &str) -> [usize; 3] {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log").to_str().unwrap().to_owned();
    let arguments = Arguments { filters: vec![filter.into()], logfile: Some(log), ..Arguments::default() };
    let counts = runner::run(&arguments, tests.trials(None).unwrap(), None, &[]).unwrap().counts;
    [counts.passed, counts.failed, counts.ignored]
}

/// A case file of the suite.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/cases").join(name)
}

#[test]
fn each_case_is_a_test() {
    let suite = Suite::builtin().unwrap();
    let trials = Tests::new(Reference::new()).trials(None).unwrap();
    assert_eq!(trials.len(), suite.ids().count());
    let (numpy, xla) = (file("numpy-examples.yaml"), file("xla-examples.yaml"));
    let [passed, failed, ignored] = counts(Tests::new(Reference::new()).cases(&numpy), "numpy/examples");
    assert!(passed > 10 && failed == 0 && ignored == 0, "{passed} {failed} {ignored}");
    let only_numpy = Refuses(Capabilities { rules: vec![RuleSet::Numpy], ..Capabilities::all() });
    let [passed, failed, ignored] = counts(Tests::new(only_numpy).cases(&numpy).cases(&xla), "xla/");
    assert!(passed == 0 && failed == 0 && ignored > 10, "undeclared cases are ignored");
    let none = Tests::new(Refuses(Capabilities::all())).cases(file("none-shapes.yaml"));
    let [passed, failed, _] = counts(none, "none/");
    assert!(passed > 10 && failed > 10, "refusals pass, results do not: {passed} {failed}");
}

/// Infers that nothing is known, which is wider than exact, and refuses every run.
struct KnowsNothing {
    able: Capabilities,
    exact: bool,
}

impl Implementation for KnowsNothing {
    fn name(&self) -> &str {
        "knows-nothing"
    }
    fn version(&self) -> &str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.able
    }
    fn run(&self, _: &Request) -> Outcome {
        Outcome::Refusal(broadcheck_spec::Refusal::default())
    }
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        let (dtype, shape) = (signature.operands()[0].dtype(), PartialShape::Unranked);
        Outcome::Success(Inference { dtype, shape, accepts: None, broadcastable: None })
    }
    fn is_exact(&self) -> bool {
        self.exact
    }
}

#[test]
fn each_case_of_infer_is_a_test_of_a_library_that_infers() {
    let cases = file("none-infer.yaml");
    let count = Suite::from_paths(std::slice::from_ref(&cases)).unwrap().inferences.len();
    assert!(count > 20, "{count}");
    let tests = |able: Capabilities, exact: bool| Tests::new(KnowsNothing { able, exact }).cases(&cases);
    let infers = Capabilities { infer: true, unknown: Unknown::ALL.to_vec(), ..Capabilities::all() };
    let [passed, failed, ignored] = counts(tests(infers.clone(), false), "none/infer");
    assert!(passed + failed == count && ignored == 0, "{passed} {failed} {ignored}");
    // Known lengths need the answer of a run; all others may be wider.
    assert!(passed > failed && failed > 0, "{passed} {failed}");
    let [exact, wider, _] = counts(tests(infers.clone(), true), "none/infer");
    assert!(exact < passed && wider > failed, "{exact} {wider}");
    let lengths = Capabilities { unknown: vec![Unknown::Length], ..infers };
    let [_, _, ignored] = counts(tests(lengths, false), "none/infer");
    assert!(ignored > 0 && ignored < count, "bounds and ranks are not asked: {ignored}");
    let reference = Tests::new(Reference::new()).cases(&cases);
    assert_eq!(counts(reference, "none/infer"), [count, 0, 0]);
    // A library that does not infer has no such tests.
    let both = Tests::new(Refuses(Capabilities::all())).cases(&cases).cases(file("none-shapes.yaml"));
    assert!(both.trials(None).unwrap().iter().all(|trial| !trial.label.name.contains("/infer")));
}

#[test]
fn a_known_failure_passes_while_it_fails() {
    let directory = tempfile::tempdir().unwrap();
    let known = directory.path().join("known.yaml");
    let with = |implementation: &str, case: &str| {
        let entry = format!("{{case: \"{case}\", reason: so, url: \"https://example.org\"}}");
        fs::write(&known, format!("implementation: {implementation}\nknown: [{entry}]\n")).unwrap();
    };
    let cases = file("none-shapes.yaml");
    let tests = || Tests::new(Refuses(Capabilities::all())).cases(&cases).known(&known);
    let suite = Suite::from_paths(std::slice::from_ref(&cases)).unwrap();
    let accepted =
        |case: &&broadcheck_spec::Case| matches!(case.expectation, broadcheck_spec::Expectation::Result(_));
    let (fails, passes) = (
        &suite.cases.iter().find(accepted).unwrap().id,
        &suite.cases.iter().find(|case| !accepted(case)).unwrap().id,
    );
    with("refuses", fails);
    assert_eq!(counts(tests(), fails)[1], 0);
    with("refuses", passes);
    assert_eq!(counts(tests(), passes)[1], 1, "an unexpected pass");
    with("refuses", "numpy/gone/*");
    assert_eq!(counts(tests(), "known-failure numpy/gone")[1], 1, "an entry that matches nothing");
    with("other", fails);
    assert!(tests().trials(None).is_err_and(|error| error.contains("found known failures of `other`")));
    assert!(tests().known("missing.yaml").trials(None).is_err());
    assert!(Tests::new(Reference::new()).cases("missing").trials(None).is_err());
}

#[test]
fn a_library_that_declares_nothing_fails() {
    let nothing = Capabilities { rules: Vec::new(), ..Capabilities::all() };
    let reference: Box<dyn Implementation + Send> = Box::new(Reference::new());
    let tests = Tests::several([reference, Box::new(Refuses(nothing))]);
    let tests = tests.cases(file("none-shapes.yaml")).cases(file("none-sweeps.yaml"));
    let Err(error) = tests.trials(None) else { panic!("nothing is judged") };
    assert_eq!(error, "`refuses`: found no case within its declared capabilities, expected at least one");
    assert!(Tests::several([]).trials(None).is_err_and(|error| error.starts_with("found no implementation")));
}

#[test]
fn several_implementations_are_distinguished_by_name() {
    let several = || {
        let implementations: [Box<dyn Implementation + Send>; 2] =
            [Box::new(Reference::new()), Box::new(Refuses(Capabilities::all()))];
        Tests::several(implementations).cases(file("none-shapes.yaml"))
    };
    let [passed, failed, ignored] = counts(several(), "(reference)");
    assert!(passed > 10 && failed == 0 && ignored == 0, "{passed} {failed} {ignored}");
    let [passed, failed, _] = counts(several(), "(refuses)");
    assert!(passed > 10 && failed > 10, "{passed} {failed}");

    let tests = several().unavailable("fast@avx1024").test("mine", || Err("wrong".into()));
    assert_eq!(counts(tests, "fast@avx1024"), [0, 0, 1]);
    assert_eq!(counts(several().test("mine", || Ok(())), "mine"), [1, 0, 0]);
    assert_eq!(counts(several().test("mine", || Err("wrong".into())), "mine"), [0, 1, 0]);
}

#[test]
fn tests_are_ignored_by_globs() {
    let tests = || {
        let both: [Box<dyn Implementation + Send>; 2] =
            [Box::new(Reference::new()), Box::new(Refuses(Capabilities::all()))];
        Tests::several(both).cases(file("none-shapes.yaml"))
    };
    let [passed, failed, ignored] = counts(tests().ignore("*scalars (refuses)", "slow"), "/scalars ");
    assert_eq!([passed, failed, ignored], [1, 0, 1]);
    let trials = tests().ignore("*scalars (refuses)", "slow").ignore("none/shapes/sc*", "large").trials(None);
    let reasons: Vec<String> = trials.unwrap().into_iter().filter_map(|trial| trial.ignored).collect();
    assert!(reasons.iter().any(|reason| reason == "slow"), "the first reason stays: {reasons:?}");
    assert!(reasons.iter().any(|reason| reason == "large"), "{reasons:?}");
    let error = |tests: Tests| tests.trials(None).err().unwrap_or_default();
    assert_eq!(
        error(tests().ignore("none/shapes/scalars", "without the implementation")),
        "found no test to ignore that matches `none/shapes/scalars`, expected at least one"
    );
    assert!(error(tests().ignore("none/{a", "broken")).starts_with("the tests to ignore, `none/{a`: found"));
}

#[test]
fn a_run_of_one_test_loads_one_file() {
    let suite = Suite::builtin().unwrap();
    let exact = |name: &str| Arguments { filters: vec![name.into()], exact: true, ..Arguments::default() };
    for id in [&suite.cases[0].id, &suite.sweeps[0].id] {
        for name in [id.clone(), format!("{id} (reference)"), format!("[known] {id}")] {
            let arguments = exact(&name);
            let trials = Tests::new(Reference::new()).trials(exact_name(&arguments)).unwrap();
            assert!(trials.len() < suite.cases.len() / 2, "{name}: {} tests", trials.len());
            assert!(trials.iter().any(|trial| trial.label.name == *id), "{name}");
        }
    }
    let (all, is_whole) = Tests::new(Reference::new()).suite(exact_name(&exact("suite/is-whole"))).unwrap();
    assert!(is_whole);
    assert_eq!((all.cases.len(), all.sweeps.len()), (suite.cases.len(), suite.sweeps.len()));
    let part = Arguments { filters: vec![suite.cases[0].id.clone()], ..Arguments::default() };
    assert_eq!(exact_name(&part), None);
}

/// The reference, which counts its requests.
struct Counts(Arc<AtomicUsize>);

impl Implementation for Counts {
    fn name(&self) -> &str {
        "counts"
    }
    fn version(&self) -> &str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        self.0.fetch_add(1, Ordering::Relaxed);
        Reference.run(request)
    }
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        Reference.infer(signature)
    }
}

#[test]
fn a_sample_of_a_sweep_passes_as_the_whole_does() {
    let asked = Arc::new(AtomicUsize::new(0));
    let tests = || Tests::new(Counts(Arc::clone(&asked))).cases(file("none-sweeps.yaml")).sample_sweeps(2000);
    let kind = |id: &str| {
        let trials = tests().trials(None).unwrap();
        trials.iter().find(|trial| trial.label.name == id).unwrap().label.kind
    };
    assert_eq!(kind("none/relations/is-numpy-at-rank-four"), "sample");
    assert_eq!(kind("none/long/beyond-sixteen-bits"), "");
    assert_eq!(counts(tests(), "none/relations/is-numpy-at"), [1, 0, 0]);
    // The sweep has 14,641 cases, most of them of one request or two.
    let asked = asked.load(Ordering::Relaxed);
    assert!((1000..7000).contains(&asked), "{asked} requests");
}
