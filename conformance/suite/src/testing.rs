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
//! A case outside the implementation's capabilities is shown as ignored, never as passed. `cargo test --test
//! broadcasting numpy/zero` runs the cases and sweeps whose names contain `numpy/zero`. Cases that the
//! implementation is known to fail are listed in a known-failures file ([`Tests::known`]): such a test passes
//! as long as the case fails, and is marked `[known]`.
//!
//! A library with several engines tests them in one run with [`Tests::several`].

mod arguments;
mod printer;
mod runner;

use crate::known::Known;
use crate::run::{Judged, Status, run_case};
use crate::sweeps::{Expansion, expand, run_sweep};
use arguments::{Arguments, HELP};
use broadcheck_judge::describe::{describe_expectation, describe_request};
use broadcheck_spec::{Case, FILES, Implementation, LoadErrors, Suite, Sweep, load_str};
use runner::{Label, Trial};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The exit status of a test binary whose tests fail, as Rust's own test harness has it.
const FAILED: u8 = 101;
/// The exit status if the arguments are wrong.
const USAGE: u8 = 2;

/// The suite for one or more implementations.
pub struct Tests {
    implementations: Vec<Box<dyn Implementation + Send>>,
    /// Whether the name of each test ends with that of the implementation.
    named: bool,
    known: Vec<PathBuf>,
    cases: Vec<PathBuf>,
    more: Vec<Trial>,
}

impl Tests {
    /// The built-in suite for one implementation. Each test has the id of its case or sweep as its name.
    pub fn new(implementation: impl Implementation + Send + 'static) -> Tests {
        Tests { named: false, ..Tests::several([Box::new(implementation) as _]) }
    }

    /// The built-in suite for several implementations. Each test is named `ID (IMPLEMENTATION)`.
    pub fn several(implementations: impl IntoIterator<Item = Box<dyn Implementation + Send>>) -> Tests {
        let implementations = implementations.into_iter().collect();
        Tests { implementations, named: true, known: Vec::new(), cases: Vec::new(), more: Vec::new() }
    }

    /// Adds an implementation that cannot run on this machine, such as one for a SIMD level that the
    /// processor lacks. It appears as one ignored test, so that its absence is visible.
    #[must_use]
    pub fn unavailable(mut self, name: &str) -> Tests {
        self.more.push(Trial {
            label: Label { name: format!("suite/is-available ({name})"), kind: "" },
            ignored: true,
            run: Box::new(|| Err("this machine cannot run the implementation".into())),
        });
        self
    }

    /// Adds the known failures listed in this file. Cargo runs tests in the package's directory, so a
    /// relative path starts there. With several implementations, call this once per file: each file names its
    /// implementation.
    #[must_use]
    pub fn known(mut self, file: impl AsRef<Path>) -> Tests {
        self.known.push(file.as_ref().to_owned());
        self
    }

    /// Uses the cases of this file or directory instead of the built-in ones. May be repeated.
    #[must_use]
    pub fn cases(mut self, path: impl AsRef<Path>) -> Tests {
        self.cases.push(path.as_ref().to_owned());
        self
    }

    /// Adds a test that is not part of the suite. It fails with the message that it returns.
    #[must_use]
    pub fn test(mut self, name: &str, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Tests {
        let label = Label { name: name.to_owned(), kind: "" };
        self.more.push(Trial { label, ignored: false, run: Box::new(run) });
        self
    }

    /// Runs the tests that the arguments of the process select, and returns the exit status of a test binary.
    pub fn main(self) -> ExitCode {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let arguments = match Arguments::parse(arguments) {
            Ok(arguments) => arguments,
            Err(message) => {
                complain(&message);
                return ExitCode::from(USAGE);
            }
        };
        if arguments.help {
            write(HELP);
            return ExitCode::SUCCESS;
        }
        let run = |trials| runner::run(&arguments, trials).map_err(|error| format!("the output: {error}"));
        match self.trials(exact_name(&arguments)).and_then(run) {
            Ok(counts) if counts.failed > 0 => ExitCode::from(FAILED),
            Ok(_) => ExitCode::SUCCESS,
            Err(message) => {
                complain(&message);
                ExitCode::FAILURE
            }
        }
    }

    /// The tests; if only the test of this name will run, perhaps not all the others.
    fn trials(self, only: Option<&str>) -> Result<Vec<Trial>, String> {
        let (suite, whole) = self.suite(only).map_err(|errors| format!("cannot read the cases\n{errors}"))?;
        let subjects = subjects(self.implementations, self.named, &self.known)?;
        let mut trials = self.more;
        if whole {
            for subject in &subjects {
                subject.require_any(&suite)?;
                trials.extend(subject.unmatched(&suite));
            }
        }
        for case in suite.cases.into_iter().map(Arc::new) {
            trials.extend(subjects.iter().map(|subject| subject.case(&case)));
        }
        for sweep in suite.sweeps.into_iter().map(Arc::new) {
            trials.extend(subjects.iter().map(|subject| subject.sweep(&sweep)));
        }
        Ok(trials)
    }

    /// The suite, and whether it is whole: cargo-nextest runs one process per test, so a process that runs a
    /// single built-in case loads only the file that contains it.
    fn suite(&self, only: Option<&str>) -> Result<(Suite, bool), LoadErrors> {
        if !self.cases.is_empty() {
            return Ok((Suite::from_paths(&self.cases)?, true));
        }
        // Ids contain no space, and what follows one in a name is the implementation.
        let id = only.and_then(|name| name.split(' ').next()).unwrap_or_default();
        let contains =
            |text: &str| text.lines().any(|line| line.trim_start().strip_prefix("- id: ") == Some(id));
        match FILES.iter().find(|(_, text)| contains(text)) {
            Some((file, text)) => Ok((load_str(text, file)?.into(), false)),
            None => Ok((Suite::builtin()?, true)),
        }
    }
}

/// The name of the test to run, if the arguments select exactly one.
fn exact_name(arguments: &Arguments) -> Option<&str> {
    let [name] = arguments.filters.as_slice() else { return None };
    // The list of tests shows a kind such as `[known]` before the name.
    arguments.exact.then(|| name.strip_prefix("[known] ").unwrap_or(name))
}

/// Writes to standard output. A closed output is ignored: the exit status still reports the result.
fn write(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes an error to standard error.
fn complain(message: &str) {
    let _ = std::io::stderr().write_all(format!("error: {message}\n").as_bytes());
}

/// One implementation with its known failures.
struct Subject {
    implementation: Box<dyn Implementation + Send>,
    known: Option<Known>,
    named: bool,
}

/// Pairs each implementation with the file of its known failures.
fn subjects(
    implementations: Vec<Box<dyn Implementation + Send>>,
    named: bool,
    files: &[PathBuf],
) -> Result<Vec<Arc<Subject>>, String> {
    if implementations.is_empty() {
        return Err("found no implementation, expected at least one".into());
    }
    let mut subjects: Vec<Subject> = implementations
        .into_iter()
        .map(|implementation| Subject { implementation, known: None, named })
        .collect();
    for file in files {
        let known = Known::load(file)?;
        let name = &known.implementation;
        let Some(subject) = subjects.iter_mut().find(|subject| subject.implementation.name() == name) else {
            let names: Vec<String> =
                subjects.iter().map(|subject| format!("`{}`", subject.implementation.name())).collect();
            let (file, names) = (file.display(), names.join(" or "));
            return Err(format!("{file}: found known failures of `{name}`, expected those of {names}"));
        };
        let version = subject.implementation.version();
        if !known.covers(version) {
            let file = file.display();
            return Err(format!(
                "{file}: found known failures of `{name}` for other versions than {version}"
            ));
        }
        if subject.known.is_some() {
            let file = file.display();
            return Err(format!("{file}: found a second file of known failures of `{name}`, expected one"));
        }
        subject.known = Some(known);
    }
    Ok(subjects.into_iter().map(Arc::new).collect())
}

impl Subject {
    /// An error unless the implementation declares some case: otherwise every test would be ignored, and the
    /// run would look like a success.
    fn require_any(&self, suite: &Suite) -> Result<(), String> {
        let any = suite.cases.iter().any(|case| self.covers_case(case))
            || suite.sweeps.iter().any(|sweep| self.covers_sweep(sweep));
        let name = self.implementation.name();
        any.then_some(()).ok_or_else(|| {
            format!("`{name}`: found no case within its declared capabilities, expected at least one")
        })
    }

    /// A failing test for each entry of the known-failures file that matches no case or sweep.
    fn unmatched(&self, suite: &Suite) -> Vec<Trial> {
        let Some(known) = &self.known else { return Vec::new() };
        let cases = suite.cases.iter().map(|case| case.id.as_str());
        let ids = cases.chain(suite.sweeps.iter().map(|sweep| sweep.id.as_str()));
        let trial = |case: &str| {
            let message = format!("the known failure `{case}` matches no case of the suite");
            let label = Label { name: self.test_name(&format!("known-failure {case}")), kind: "" };
            Trial { label, ignored: false, run: Box::new(|| Err(message)) }
        };
        known.unmatched(ids).iter().map(|entry| trial(&entry.case)).collect()
    }

    fn case(self: &Arc<Self>, case: &Arc<Case>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(case));
        self.trial(&case.id, self.covers_case(case), move || {
            let case = &*test;
            let judged = run_case(&*subject.implementation, case, subject.known.as_ref());
            verdict(&judged, || {
                vec![
                    ("title", vec![case.title.clone()]),
                    ("request", describe_request(&case.request)),
                    ("expectation", describe_expectation(&case.request, &case.expectation)),
                    ("outcome", vec![judged.detail.clone()]),
                    ("clause", vec![format!("{} of spec/SEMANTICS.md", case.clause)]),
                    ("source", case.sources.iter().map(ToString::to_string).collect()),
                    ("location", vec![case.location.to_string()]),
                    ("rerun", vec![subject.rerun(&case.id)]),
                ]
            })
        })
    }

    fn sweep(self: &Arc<Self>, sweep: &Arc<Sweep>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(sweep));
        self.trial(&sweep.id, self.covers_sweep(sweep), move || {
            let sweep = &*test;
            let judged = run_sweep(&*subject.implementation, sweep, subject.known.as_ref()).judged;
            verdict(&judged, || {
                vec![
                    ("title", vec![sweep.title.clone()]),
                    ("outcome", vec![judged.detail.clone()]),
                    ("source", sweep.sources.iter().map(ToString::to_string).collect()),
                    ("location", vec![sweep.location.to_string()]),
                    ("rerun", vec![subject.rerun(&sweep.id)]),
                ]
            })
        })
    }

    fn trial(
        &self,
        id: &str,
        covered: bool,
        run: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Trial {
        let listed = self.known.as_ref().is_some_and(|known| known.entry(id).is_some());
        let label = Label { name: self.test_name(id), kind: if listed { "known" } else { "" } };
        Trial { label, ignored: !covered, run: Box::new(run) }
    }

    fn covers_case(&self, case: &Case) -> bool {
        self.implementation.capabilities().covers(&case.request).is_ok()
    }

    fn covers_sweep(&self, sweep: &Sweep) -> bool {
        match expand(sweep) {
            Ok(Expansion::Cases(cases)) => cases.iter().any(|case| self.covers_case(case)),
            Ok(Expansion::Relation { relation, extent }) => {
                relation.covered_by(self.implementation.capabilities(), &extent).is_ok()
            }
            // The run reports what is wrong with the sweep.
            Err(_) => true,
        }
    }

    fn test_name(&self, id: &str) -> String {
        if self.named { format!("{id} ({})", self.implementation.name()) } else { id.to_owned() }
    }

    /// The command that runs this test alone.
    fn rerun(&self, id: &str) -> String {
        format!("cargo test -- --exact '{}'", self.test_name(id))
    }
}

/// A pass, or the text of the failure. A case that was not judged has not passed.
fn verdict(judged: &Judged, about: impl FnOnce() -> Vec<(&'static str, Vec<String>)>) -> Result<(), String> {
    if !judged.status.is_failure() && judged.status != Status::Skipped {
        return Ok(());
    }
    let mut text = String::new();
    for (name, lines) in about() {
        for (place, line) in lines.iter().flat_map(|line| line.lines()).enumerate() {
            text += &format!("{:<11}  {line}\n", if place == 0 { name } else { "" });
        }
    }
    Err(text)
}

#[cfg(test)]
mod tests;
