//! The suite as the tests of your library: one named test per case, under `cargo test`.
//!
//! `tests/broadcasting.rs`, which `Cargo.toml` lists as a test with `harness = false`:
//!
//! ```no_run
//! # mod mine {
//! #     use broadcheck::spec::{Capabilities, Implementation, Outcome, Request};
//! #     pub struct Mine(Capabilities);
//! #     impl Mine { pub fn new() -> Mine { Mine(Capabilities::all()) } }
//! #     impl Implementation for Mine {
//! #         fn name(&self) -> &str { "mine" }
//! #         fn version(&self) -> &str { "0.1.0" }
//! #         fn capabilities(&self) -> &Capabilities { &self.0 }
//! #         fn run(&self, _: &Request) -> Outcome { Outcome::Skipped { reason: "".into() } }
//! #     }
//! # }
//! fn main() -> std::process::ExitCode {
//!     broadcheck::testing::Tests::new(mine::Mine::new()).main()
//! }
//! ```
//!
//! What the implementation does not declare is shown as ignored, never as passed. `cargo test --test broadcasting
//! numpy/zero` runs the cases whose names hold that; sweeps are among them. What it is known to fail stands in a
//! known-failures file ([`Tests::known`]): such a test passes as long as the case fails, and is marked `[known]`.

mod arguments;
mod printer;
mod runner;

use crate::known::Known;
use crate::run::{Judged, Status, run_case};
use crate::sweeps::{Expansion, expand, run_sweep};
use arguments::{Arguments, HELP};
use broadcheck_judge::describe::{describe_expectation, describe_request};
use broadcheck_spec::{Case, FILES, Implementation, Suite, Sweep, load_str};
use runner::{Label, Trial};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// How many of the tests must not be ignored: a library that declares nothing would otherwise pass in silence.
const FEWEST_JUDGED: usize = 1;

/// The exit status of a test binary whose tests fail, as Rust's own test harness has it.
const FAILED: u8 = 101;
/// The exit status where the arguments are wrong.
const USAGE: u8 = 2;

/// The suite for one implementation.
pub struct Tests<I> {
    implementation: I,
    known: Option<PathBuf>,
    cases: Vec<PathBuf>,
}

impl<I: Implementation + Send + 'static> Tests<I> {
    /// The suite that is built in.
    pub fn new(implementation: I) -> Tests<I> {
        Tests { implementation, known: None, cases: Vec::new() }
    }

    /// With the failures that this file lists as known. A path that is relative is seen from the package's directory,
    /// in which cargo runs tests.
    #[must_use]
    pub fn known(self, file: impl AsRef<Path>) -> Tests<I> {
        Tests { known: Some(file.as_ref().to_owned()), ..self }
    }

    /// With the cases of this file or directory in place of those that are built in. May be repeated.
    #[must_use]
    pub fn cases(mut self, path: impl AsRef<Path>) -> Tests<I> {
        self.cases.push(path.as_ref().to_owned());
        self
    }

    /// Runs what the arguments of the process ask for, as tests are run: the exit status is a test's.
    pub fn main(self) -> ExitCode {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let arguments = match Arguments::parse(arguments) {
            Ok(arguments) => arguments,
            Err(message) => {
                write(&format!("error: {message}\n"));
                return ExitCode::from(USAGE);
            }
        };
        if arguments.help {
            write(HELP);
            return ExitCode::SUCCESS;
        }
        let run = |trials| runner::run(&arguments, trials).map_err(|error| format!("the output: {error}"));
        match self.trials(&arguments).and_then(run) {
            Ok(counts) if counts.failed > 0 => ExitCode::from(FAILED),
            Ok(_) => ExitCode::SUCCESS,
            Err(message) => {
                write(&format!("error: {message}\n"));
                ExitCode::FAILURE
            }
        }
    }

    fn trials(self, arguments: &Arguments) -> Result<Vec<Trial>, String> {
        let one_file = self.cases.is_empty().then(|| file_of(arguments)).flatten();
        let suite = match one_file {
            Some((name, text)) => load_str(text, name).map(Suite::from),
            None if self.cases.is_empty() => Suite::builtin(),
            None => Suite::from_paths(&self.cases),
        };
        let suite = suite.map_err(|errors| format!("the cases cannot be read\n{errors}"))?;
        let known = self.known.as_deref().map(Known::load).transpose()?;
        let name = self.implementation.name();
        if let Some(known) = known.as_ref().filter(|known| known.implementation != name) {
            let found = &known.implementation;
            return Err(format!("found known failures of `{found}`, expected those of `{name}`"));
        }
        let version = self.implementation.version();
        if known.as_ref().is_some_and(|known| !known.covers(version)) {
            return Err(format!("found known failures of other versions of `{name}` than {version}"));
        }
        let ids = || {
            suite.cases.iter().map(|case| case.id.as_str()).chain(suite.sweeps.iter().map(|s| s.id.as_str()))
        };
        let leftovers: Vec<String> = known.as_ref().map_or_else(Vec::new, |known| {
            known.unmatched(ids()).iter().map(|entry| entry.case.clone()).collect()
        });
        let subject = Arc::new(Subject { implementation: self.implementation, known });
        let cases = suite.cases.into_iter().map(|case| subject.case(case));
        let mut trials: Vec<Trial> = cases.collect();
        trials.extend(suite.sweeps.into_iter().map(|sweep| subject.sweep(sweep)));
        trials.extend(leftovers.iter().map(|case| leftover(case)));
        let judged = trials.iter().filter(|trial| !trial.ignored).count();
        if judged < FEWEST_JUDGED && one_file.is_none() {
            return Err("found no case that the implementation declares, expected at least one".into());
        }
        Ok(trials)
    }
}

/// The built-in file that holds the one test whose exact name the arguments give, if they do. cargo-nextest runs each
/// test so, in a process of its own: reading the whole suite each time would take most of the time.
fn file_of(arguments: &Arguments) -> Option<(&'static str, &'static str)> {
    let [name] = arguments.filters.as_slice() else { return None };
    // An id holds no space; a kind, which may precede it, ends with one.
    let id = name.rsplit(' ').next().filter(|_| arguments.exact)?;
    let holds = |text: &str| text.lines().any(|line| line.trim_start().strip_prefix("- id: ") == Some(id));
    FILES.iter().copied().find(|(_, text)| holds(text))
}

/// Writes to standard output. If nobody reads it, the exit status is all there is to say.
fn write(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// An entry of the known-failures file that lists no case.
fn leftover(case: &str) -> Trial {
    let message = format!("the known failure `{case}` lists no case of the suite");
    let label = Label { name: format!("known-failure {case}"), kind: "" };
    Trial { label, ignored: false, run: Box::new(|| Err(message)) }
}

/// The implementation with what is known of it.
struct Subject<I> {
    implementation: I,
    known: Option<Known>,
}

impl<I: Implementation + Send + 'static> Subject<I> {
    fn case(self: &Arc<Self>, case: Case) -> Trial {
        let covered = self.implementation.capabilities().covers(&case.request).is_ok();
        let subject = Arc::clone(self);
        self.trial(case.id.clone(), covered, move || {
            let judged = run_case(&subject.implementation, &case, subject.known.as_ref());
            verdict(
                &judged,
                &[
                    ("title", vec![case.title.clone()]),
                    ("request", describe_request(&case.request)),
                    ("expectation", describe_expectation(&case.request, &case.expectation)),
                    ("outcome", vec![judged.detail.clone()]),
                    ("clause", vec![format!("{} of spec/SEMANTICS.md", case.clause)]),
                    ("source", case.sources.iter().map(ToString::to_string).collect()),
                    ("stands in", vec![case.location.to_string()]),
                ],
            )
        })
    }

    fn sweep(self: &Arc<Self>, sweep: Sweep) -> Trial {
        let capabilities = self.implementation.capabilities();
        let covered = match expand(&sweep) {
            Ok(Expansion::Cases(cases)) => {
                cases.iter().any(|case| capabilities.covers(&case.request).is_ok())
            }
            Ok(Expansion::Relation { relation, extent }) => {
                relation.covered_by(capabilities, &extent).is_ok()
            }
            // The run says what is wrong with it.
            Err(_) => true,
        };
        let subject = Arc::clone(self);
        self.trial(sweep.id.clone(), covered, move || {
            let judged = run_sweep(&subject.implementation, &sweep, subject.known.as_ref()).judged;
            verdict(
                &judged,
                &[
                    ("title", vec![sweep.title.clone()]),
                    ("outcome", vec![judged.detail.clone()]),
                    ("stands in", vec![sweep.location.to_string()]),
                ],
            )
        })
    }

    fn trial(
        &self,
        id: String,
        covered: bool,
        run: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Trial {
        let listed = self.known.as_ref().is_some_and(|known| known.entry(&id).is_some());
        let label = Label { name: id, kind: if listed { "known" } else { "" } };
        Trial { label, ignored: !covered, run: Box::new(run) }
    }
}

/// A pass, or what a person needs to see. What was not judged has not passed.
fn verdict(judged: &Judged, about: &[(&str, Vec<String>)]) -> Result<(), String> {
    if matches!(judged.status, Status::Passed | Status::KnownFailure) {
        return Ok(());
    }
    let mut text = String::new();
    for (name, lines) in about {
        for (place, line) in lines.iter().flat_map(|line| line.lines()).enumerate() {
            text += &format!("{:<11}  {line}\n", if place == 0 { name } else { "" });
        }
    }
    Err(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;
    use broadcheck_spec::{Capabilities, Outcome, Request, RuleSet};
    use std::fs;

    /// Refuses everything, under a name.
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

    /// Runs the tests whose names hold this; how many passed, failed and were ignored.
    fn counts<I: Implementation + Send + 'static>(tests: Tests<I>, filter: &str) -> [usize; 3] {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log").to_str().unwrap().to_owned();
        let arguments =
            Arguments { filters: vec![filter.into()], logfile: Some(log), ..Arguments::default() };
        let counts = runner::run(&arguments, tests.trials(&arguments).unwrap()).unwrap();
        [counts.passed, counts.failed, counts.ignored]
    }

    /// A case file of the suite.
    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/cases").join(name)
    }

    #[test]
    fn each_case_is_a_test() {
        let suite = Suite::builtin().unwrap();
        let trials = Tests::new(Reference::new()).trials(&Arguments::default()).unwrap();
        assert_eq!(trials.len(), suite.cases.len() + suite.sweeps.len());
        let (numpy, xla) = (file("numpy-examples.yaml"), file("xla-examples.yaml"));
        let [passed, failed, ignored] = counts(Tests::new(Reference::new()).cases(&numpy), "numpy/examples");
        assert!(passed > 10 && failed == 0 && ignored == 0, "{passed} {failed} {ignored}");
        let only_numpy = Refuses(Capabilities { rules: vec![RuleSet::Numpy], ..Capabilities::all() });
        let [passed, failed, ignored] = counts(Tests::new(only_numpy).cases(&numpy).cases(&xla), "xla/");
        assert!(passed == 0 && failed == 0 && ignored > 10, "what is not declared is ignored");
        let none = Tests::new(Refuses(Capabilities::all())).cases(file("none-shapes.yaml"));
        let [passed, failed, _] = counts(none, "none/");
        assert!(passed > 10 && failed > 10, "refusals pass, results do not: {passed} {failed}");
    }

    #[test]
    fn what_is_known_passes_while_it_fails() {
        let directory = tempfile::tempdir().unwrap();
        let known = directory.path().join("known.yaml");
        let with = |implementation: &str, case: &str| {
            let entry = format!("{{case: \"{case}\", reason: so, url: \"https://example.org\"}}");
            fs::write(&known, format!("implementation: {implementation}\nknown: [{entry}]\n")).unwrap();
        };
        let cases = file("none-shapes.yaml");
        let tests = || Tests::new(Refuses(Capabilities::all())).cases(&cases).known(&known);
        let suite = Suite::from_paths(std::slice::from_ref(&cases)).unwrap();
        let accepted = |case: &&Case| matches!(case.expectation, broadcheck_spec::Expectation::Result(_));
        let (fails, passes) = (
            &suite.cases.iter().find(accepted).unwrap().id,
            &suite.cases.iter().find(|case| !accepted(case)).unwrap().id,
        );
        with("refuses", fails);
        assert_eq!(counts(tests(), fails)[1], 0);
        with("refuses", passes);
        assert_eq!(counts(tests(), passes)[1], 1, "an unexpected pass");
        with("refuses", "numpy/gone/*");
        assert_eq!(counts(tests(), "known-failure numpy/gone")[1], 1, "an entry that lists nothing");
        with("other", fails);
        assert!(
            tests()
                .trials(&Arguments::default())
                .is_err_and(|error| error.contains("found known failures of `other`"))
        );
        assert!(tests().known("missing.yaml").trials(&Arguments::default()).is_err());
        assert!(Tests::new(Reference::new()).cases("missing").trials(&Arguments::default()).is_err());
    }

    #[test]
    fn a_library_that_declares_nothing_fails() {
        let nothing = Capabilities { rules: Vec::new(), ..Capabilities::all() };
        let Err(error) = Tests::new(Refuses(nothing)).trials(&Arguments::default()) else {
            panic!("nothing is judged")
        };
        assert!(error.starts_with("found no case that the implementation declares"), "{error}");
    }

    #[test]
    fn one_test_by_its_exact_name_reads_one_file() {
        let exactly =
            |name: &str| Arguments { filters: vec![name.into()], exact: true, ..Arguments::default() };
        let suite = Suite::builtin().unwrap();
        let (case, sweep) = (&suite.cases[0], &suite.sweeps[0]);
        for (name, id, file) in [
            (case.id.clone(), &case.id, &case.location.file),
            (format!("[known] {}", case.id), &case.id, &case.location.file),
            (sweep.id.clone(), &sweep.id, &sweep.location.file),
        ] {
            assert_eq!(file_of(&exactly(&name)).unwrap().0, file, "{name}");
            let trials = Tests::new(Reference::new()).trials(&exactly(&name)).unwrap();
            assert!(
                trials.len() < suite.cases.len() / 2 && trials.iter().any(|trial| trial.label.name == *id)
            );
        }
        assert!(suite.cases.iter().step_by(50).all(|case| file_of(&exactly(&case.id)).is_some()));
        let containing = Arguments { exact: false, ..exactly(&case.id) };
        let several = Arguments { filters: vec![case.id.clone(), sweep.id.clone()], ..exactly("") };
        assert!(file_of(&containing).is_none() && file_of(&several).is_none());
        assert!(file_of(&exactly("known-failure numpy/gone/*")).is_none());
        // What the implementation does not declare can be asked for: it is then shown as ignored.
        let nothing = Refuses(Capabilities { rules: Vec::new(), ..Capabilities::all() });
        let trials = Tests::new(nothing).trials(&exactly(&case.id)).unwrap();
        assert!(trials.iter().all(|trial| trial.ignored));
    }
}
