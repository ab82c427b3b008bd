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
//! A library that infers shapes before it has values sets [`Capabilities::infer`] and implements
//! [`Implementation::infer`]. Then each case of the operation `infer` is a test too. An answer that excludes
//! a run that is accepted fails; one that admits more than the accepted runs give passes, unless
//! [`Implementation::is_exact`] returns true.
//!
//! ```no_run
//! use broadcheck::spec::{
//!     Capabilities, Implementation, Inference, Length, Outcome, PartialShape, Request, Signature, Unknown,
//! };
//!
//! struct Compiler(Capabilities);
//!
//! impl Implementation for Compiler {
//!     fn name(&self) -> &str { "compiler" }
//!     fn version(&self) -> &str { "0.1.0" }
//!     fn capabilities(&self) -> &Capabilities { &self.0 }
//!     fn run(&self, _: &Request) -> Outcome { Outcome::Skipped { reason: "".into() } }
//!     fn infer(&self, signature: &Signature) -> Outcome<Inference> {
//!         // Ask the library: `?` stands for a length that is not known.
//!         let shape = PartialShape::from(vec![Length::UNKNOWN, Length::exactly(3)]);
//!         let dtype = signature.operands()[0].dtype();
//!         Outcome::Success(Inference { dtype, shape, accepts: None, broadcastable: None })
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     // It knows a length, or nothing of it: no bounds, and no unknown ranks.
//!     let able = Capabilities { infer: true, unknown: vec![Unknown::Length], ..Capabilities::all() };
//!     broadcheck::testing::Tests::new(Compiler(able)).main()
//! }
//! ```
//!
//! [`Capabilities::infer`]: broadcheck_spec::Capabilities::infer
//!
//! A library with several engines tests them in one run with [`Tests::several`].
//!
//! # A library that dies
//!
//! The tests run in child processes of the test binary: as many as there are test threads, and at most eight
//! unless `--test-threads` sets more. Each runs one test after the other. If an abort, a stack overflow or
//! `exit` ends a process, the test that it was running fails, with how the process ended and what it wrote to
//! standard error, and a new process runs the remaining tests. So does a test that makes no progress for a
//! minute ([`Tests::time_limit`]) or, on Linux, takes half of the available memory ([`Tests::memory_limit`]).
//! Cases for which a wrong rule may take all memory run last, one at a time.
//!
//! Each child process is the test binary again. It runs what `main` does before [`Tests::main`], so it
//! creates the implementations anew. State in memory is not shared between tests, nor with what follows
//! [`Tests::main`], which happens in the first process alone. Standard output is that of the first process.
//! On Unix, standard input is the channel between the processes: a library must not read it.
//! [`Tests::in_process`] and the argument `--in-process` turn child processes off. Where none can be started,
//! the tests run in the first process, and a note on standard error gives the reason.

mod arguments;
mod channel;
mod expansion;
mod memory;
mod pool;
mod printer;
mod progress;
mod runner;
mod stderr;
mod summary;
mod worker;

use crate::known::{Known, draft};
use crate::retype::{self, Asked, asked};
use crate::run::{Judged, Status, run_case, run_inferences};
use crate::sweeps::{Expansion, Part, expand_part, run_expanded};
use arguments::{Arguments, HELP};
use broadcheck_judge::describe::{
    describe_expectation, describe_expected_inference, describe_request, describe_signature,
};
use broadcheck_spec::{
    Case, Expectation, FILES, Implementation, InferenceCase, LoadErrors, Operation, RefusalKind, Request,
    RuleSet, Suite, Sweep, load_str,
};
use channel::Task;
use expansion::LastExpansion;
use pool::Pool;
use progress::{Progress, Watched};
use runner::{About, Ending, Failure, Label, Report, Run, Trial, Weight};
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The exit status of a test binary whose tests fail, as Rust's own test harness has it.
const FAILED: u8 = 101;
/// The exit status if the arguments are wrong.
const USAGE: u8 = 2;

/// How long a test may make no progress, unless specified otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// A case runs last if the result may take more bytes than this in a library that aligns or sizes it wrongly.
const MUCH_MEMORY: f64 = (1u64 << 30) as f64;

/// The suite for one or more implementations.
pub struct Tests {
    implementations: Vec<Box<dyn Implementation + Send>>,
    /// Whether the name of each test ends with that of the implementation.
    named: bool,
    known: Vec<PathBuf>,
    cases: Vec<PathBuf>,
    more: Vec<Trial>,
    time_limit: Duration,
    memory_limit: Option<u64>,
    in_process: bool,
    min_asked: Option<u8>,
    sample: u64,
}

impl Tests {
    /// The built-in suite for one implementation. Each test has the id of its case or sweep as its name.
    pub fn new(implementation: impl Implementation + Send + 'static) -> Tests {
        Tests { named: false, ..Tests::several([Box::new(implementation) as _]) }
    }

    /// The built-in suite for several implementations. Each test is named `ID (IMPLEMENTATION)`.
    pub fn several(implementations: impl IntoIterator<Item = Box<dyn Implementation + Send>>) -> Tests {
        Tests {
            implementations: implementations.into_iter().collect(),
            named: true,
            known: Vec::new(),
            cases: Vec::new(),
            more: Vec::new(),
            time_limit: TIME_LIMIT,
            memory_limit: None,
            in_process: false,
            min_asked: None,
            sample: u64::MAX,
        }
    }

    /// Adds an implementation that cannot run on this machine, such as one for a SIMD level that the
    /// processor lacks. It appears as one ignored test, so that its absence is visible.
    #[must_use]
    pub fn unavailable(mut self, name: &str) -> Tests {
        let reason = "this machine cannot run the implementation";
        let run = || Err(reason.into());
        let trial = self.added(&format!("suite/is-available ({name})"), run);
        self.more.push(Trial { ignored: Some(reason.into()), ..trial });
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

    /// Adds a test that is not part of the suite. It fails with the message that it returns. Like a case, it
    /// runs in a child process, so it does not see what another test changes in memory, and it fails if it
    /// takes longer than the [time limit](Tests::time_limit).
    #[must_use]
    pub fn test(mut self, name: &str, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Tests {
        let trial = self.added(name, run);
        self.more.push(trial);
        self
    }

    fn added(&self, name: &str, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
        let result = |test: Run| match test {
            Run::Here => run(),
            Run::Died(how) => Err(how),
        };
        Trial {
            label: Label { name: name.to_owned(), kind: "" },
            ignored: None,
            task: Some(Task::Added(self.more.len())),
            weight: Weight::Many,
            about: None,
            run: Box::new(|test| {
                result(test).map_or_else(|message| Ending::Failed(message.into()), |()| Ending::Passed)
            }),
        }
    }

    /// Sets how long a test may make no progress before its process is killed and the test fails: 60 s unless
    /// set here, by `--time-limit` or by `BROADCHECK_TIME_LIMIT`. A case makes progress when it ends, and a
    /// sweep with each request, so that a sweep of many cases may take longer. The limit is at least one
    /// second, and is not enforced for tests that run [in this process](Tests::in_process).
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Tests {
        self.time_limit = limit.max(Duration::from_secs(1));
        self
    }

    /// Sets how much resident memory a child process may have, in bytes, before it is killed and its test
    /// fails: unless set here, half of what is available when the run begins. Enforced on Linux only.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Tests {
        self.memory_limit = Some(bytes);
        self
    }

    /// Fails the run if less than this percentage of the shape cases of some declared rule set was asked, as
    /// `--min-asked` and `BROADCHECK_MIN_ASKED` do. The shape cases are those that test a rule. Without it,
    /// less than half is mentioned beneath the result.
    #[must_use]
    pub fn min_asked(mut self, percent: u8) -> Tests {
        self.min_asked = Some(percent);
        self
    }

    /// Runs about this many cases of each sweep that has more, spread over the whole sweep and always the
    /// same ones. For a slow library: some sweeps make over 100,000 requests. Such a test is marked
    /// `[sample]`.
    #[must_use]
    pub fn sample_sweeps(mut self, cases: u64) -> Tests {
        self.sample = cases;
        self
    }

    /// Runs the tests in this process instead of child processes, as `--in-process` and
    /// `BROADCHECK_IN_PROCESS=1` do: for a debugger, or for a library that only one process can use. A
    /// library that aborts then ends the run.
    #[must_use]
    pub fn in_process(mut self) -> Tests {
        self.in_process = true;
        self
    }

    /// Runs the tests that the arguments of the process select, and returns the exit status of a test binary.
    ///
    /// The tests run in child processes, which call this function too: what precedes the call in `main` also
    /// happens in each of them, with the same arguments after one more, and what follows it does not.
    pub fn main(self) -> ExitCode {
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let arguments = Arguments::parse(words.iter().map(|word| word.to_string_lossy().into_owned()));
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let arguments = match arguments.and_then(|arguments| arguments.with_environment(variable)) {
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
        let ended = if arguments.worker {
            worker::serve(self, &arguments).map(|never: Infallible| match never {})
        } else {
            self.run(&arguments, words)
        };
        match ended {
            Ok(report) if report.counts.failed > 0 || report.too_little => ExitCode::from(FAILED),
            Ok(_) => ExitCode::SUCCESS,
            Err(message) => {
                complain(&message);
                ExitCode::FAILURE
            }
        }
    }

    /// Runs the tests that the arguments select. The words are those that child processes get.
    fn run(self, arguments: &Arguments, words: Vec<OsString>) -> Result<Report, String> {
        let arguments = &Arguments { min_asked: arguments.min_asked.or(self.min_asked), ..arguments.clone() };
        let about: Vec<summary::Subject> =
            self.implementations.iter().map(|one| summary::Subject::of(&**one)).collect();
        let drafts = match &arguments.write_known {
            Some(path) if !arguments.list => draft_paths(Path::new(path), &about)?,
            _ => Vec::new(),
        };
        let pool = self.pool(arguments, words);
        let trials = self.trials(exact_name(arguments))?;
        let report = runner::run(arguments, trials, pool.as_ref(), &about);
        let report = report.map_err(|error| format!("the output: {error}"))?;
        for (place, path) in drafts.iter().enumerate() {
            let of_it = report.drafts.iter().filter(|(subject, _)| *subject == place);
            let failures: Vec<draft::Failure> = of_it.map(|(_, failure)| failure.clone()).collect();
            let summary::Subject { name: implementation, version, .. } = &about[place];
            let of_it = report.results.iter().filter(|result| result.about.subject == place);
            let results = of_it.filter(|result| result.status != Status::Skipped).count();
            let by = "cargo test -- --write-known";
            let draft = draft::Draft { by, implementation, version, results, failures: &failures };
            note(&draft.write(path).map_err(|error| format!("--write-known {error}"))?);
        }
        Ok(report)
    }

    /// What child processes need; `None` if there are to be none.
    fn pool(&self, arguments: &Arguments, words: Vec<OsString>) -> Option<Pool> {
        // Neither Miri nor WebAssembly has processes.
        if self.in_process || arguments.in_process || cfg!(miri) || cfg!(target_family = "wasm") {
            return None;
        }
        match std::env::current_exe() {
            Ok(program) => {
                let time_limit = arguments.time_limit.unwrap_or(self.time_limit);
                let memory_limit = self.memory_limit.or_else(memory::limit);
                Some(Pool { program, arguments: words, time_limit, memory_limit })
            }
            Err(error) => {
                note(&format!("note: {error}, so the tests run in this process, where a crash ends the run"));
                None
            }
        }
    }

    /// The tests; if only the test of this name will run, perhaps not all the others.
    fn trials(self, only: Option<&str>) -> Result<Vec<Trial>, String> {
        let (suite, whole) = self.suite(only).map_err(|errors| format!("cannot read the cases\n{errors}"))?;
        let progress = Arc::default();
        let subjects = subjects(self.implementations, self.named, &self.known, self.sample, &progress)?;
        let mut trials = self.more;
        if whole {
            for subject in &subjects {
                subject.require_any(&suite)?;
                if let Some(known) = &subject.known {
                    known.check_against(&suite)?;
                }
                trials.extend(subject.unmatched(&suite));
            }
        }
        let places = || subjects.iter().enumerate();
        for case in suite.cases.into_iter().map(Arc::new) {
            trials.extend(places().map(|(place, subject)| subject.case(place, &case)));
        }
        for case in suite.inferences.into_iter().map(Arc::new) {
            let infer = places().filter(|(_, subject)| subject.implementation.capabilities().infer);
            trials.extend(infer.map(|(place, subject)| subject.inference(place, &case)));
        }
        for sweep in suite.sweeps.into_iter().map(Arc::new) {
            let mut lacks: Vec<Option<String>> = Vec::new();
            for (place, subject) in places() {
                // The engines of one library often declare the same, and expanding a sweep takes time.
                let able = subject.implementation.capabilities();
                let same = |other: &Arc<Subject>| other.implementation.capabilities() == able;
                let ignored = match subjects[..place].iter().position(same) {
                    Some(same) => lacks[same].clone(),
                    None => subject.covers_sweep(&sweep).err(),
                };
                lacks.push(ignored.clone());
                trials.push(Trial { ignored, ..subject.sweep(place, &sweep) });
            }
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
    arguments.exact.then(|| {
        ["[known] ", "[convention] ", "[sample] "]
            .iter()
            .find_map(|kind| name.strip_prefix(kind))
            .unwrap_or(name)
    })
}

/// Writes to standard output. A closed output is ignored: the exit status still reports the result.
fn write(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes an error to standard error.
fn complain(message: &str) {
    note(&format!("error: {message}"));
}

/// Writes a line to standard error.
fn note(message: &str) {
    let _ = std::io::stderr().write_all(format!("{message}\n").as_bytes());
}

/// The files for the drafts of these implementations: the path itself for a single one, and otherwise a file
/// for each, with its name after a hyphen.
fn draft_paths(path: &Path, about: &[summary::Subject]) -> Result<Vec<PathBuf>, String> {
    let named = |summary::Subject { name, .. }: &summary::Subject| {
        let plain =
            |char: char| if char.is_ascii_alphanumeric() || "._@+".contains(char) { char } else { '-' };
        let name: String = name.chars().map(plain).collect();
        let mut file = path.file_stem().unwrap_or_default().to_owned();
        file.push(format!("-{name}"));
        if let Some(extension) = path.extension() {
            file.push(".");
            file.push(extension);
        }
        path.with_file_name(file)
    };
    let paths = match about {
        [_] => vec![path.to_owned()],
        several => several.iter().map(named).collect(),
    };
    for path in &paths {
        draft::may_write(path).map_err(|error| format!("--write-known {error}"))?;
    }
    Ok(paths)
}

/// Whether a case asks for more memory than a machine has, in a library that takes it: a result too large to
/// exist, or one that a wrong rule would make large, such as an empty one if 0 is not broadcast.
fn may_exhaust_memory(case: &Case) -> bool {
    let too_large = |kind| matches!(kind, Some(RefusalKind::TooLarge));
    matches!(&case.expectation, Expectation::Refusal(refusal) if too_large(refusal.kind))
        || largest_result(&case.request) > MUCH_MEMORY
}

/// The bytes of the largest result that a wrong rule may give: along each axis, the longest operand, with the
/// operands aligned at the last axis or at the first.
fn largest_result(request: &Request) -> f64 {
    let mut shapes: Vec<&[usize]> =
        request.operands().iter().map(|operand| operand.shape().lengths()).collect();
    if let Operation::Broadcast { target_shape } = request.operation() {
        shapes.push(target_shape.lengths());
    }
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let longest = |at: &dyn Fn(&[usize]) -> Option<usize>| {
        shapes.iter().filter_map(|shape| at(shape)).max().unwrap_or(1).max(1) as f64
    };
    let from_first = (0..rank).map(|axis| longest(&|shape| shape.get(axis).copied())).product::<f64>();
    let from_last =
        (0..rank).map(|axis| longest(&|shape| shape.iter().rev().nth(axis).copied())).product::<f64>();
    // The widest dtype has 8 bytes.
    8.0 * from_first.max(from_last)
}

/// One implementation with its known failures.
struct Subject {
    implementation: Box<dyn Implementation + Send>,
    known: Option<Known>,
    named: bool,
    /// How many cases of a sweep are run.
    sample: u64,
    progress: Arc<Progress>,
    last: Arc<LastExpansion>,
}

/// Pairs each implementation with the file of its known failures.
fn subjects(
    implementations: Vec<Box<dyn Implementation + Send>>,
    named: bool,
    files: &[PathBuf],
    sample: u64,
    progress: &Arc<Progress>,
) -> Result<Vec<Arc<Subject>>, String> {
    if implementations.is_empty() {
        return Err("found no implementation, expected at least one".into());
    }
    let last: Arc<LastExpansion> = Arc::default();
    let mut subjects: Vec<Subject> = implementations
        .into_iter()
        .map(|implementation| {
            let (progress, last) = (Arc::clone(progress), Arc::clone(&last));
            Subject { implementation, known: None, named, sample, progress, last }
        })
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
        let covers =
            |case: &InferenceCase| self.implementation.capabilities().covers_signature(&case.request);
        let any = suite.cases.iter().any(|case| self.covers_case(case).is_ok())
            || suite.inferences.iter().any(|case| covers(case).is_ok())
            || suite.sweeps.iter().any(|sweep| self.covers_sweep(sweep).is_ok());
        let name = self.implementation.name();
        any.then_some(()).ok_or_else(|| {
            format!("`{name}`: found no case within its declared capabilities, expected at least one")
        })
    }

    /// A failing test for each entry of the known-failures file that matches no case or sweep.
    fn unmatched(&self, suite: &Suite) -> Vec<Trial> {
        let Some(known) = &self.known else { return Vec::new() };
        let trial = |case: &str| {
            let message = format!("the known failure `{case}` matches no case of the suite");
            let label = Label { name: self.test_name(&format!("known-failure {case}")), kind: "" };
            let run = Box::new(|_| Ending::Failed(message.into()));
            Trial { label, ignored: None, task: None, weight: Weight::Case, about: None, run }
        };
        known.unmatched(suite.ids()).iter().map(|entry| trial(&entry.case)).collect()
    }

    /// The test of a case, for the implementation with this index: ignored if the implementation does not
    /// cover the case.
    fn case(self: &Arc<Self>, place: usize, case: &Arc<Case>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(case));
        let asked = asked(case, self.implementation.capabilities());
        let retyped = asked.as_ref().ok().and_then(|asked| asked.retyped);
        let about = About {
            subject: place,
            rules: Some(case.request.rules().set()),
            nature: case.nature(),
            convention: case.convention,
            retyped,
        };
        let weight = if may_exhaust_memory(case) { Weight::Memory } else { Weight::Case };
        let name = asked.as_ref().map_or_else(|_| case.id.clone(), Asked::name);
        let rerun = self.rerun(&name);
        let trial = self.trial(about, (&case.id, &name, &case.location.file), weight, move |run| {
            let case = &*test;
            let judged = match run {
                Run::Here => run_case(&subject.watched(), case, subject.known.as_ref()),
                Run::Died(how) => subject.died(&case.id, how),
            };
            ending(&judged, (&case.id, &case.title), || {
                let asked = retyped.and_then(|dtype| retype::retyped(case, dtype));
                let Case { request, expectation, .. } = asked.as_ref().unwrap_or(case);
                vec![
                    ("title", vec![case.title.clone()]),
                    ("request", describe_request(request)),
                    ("expectation", describe_expectation(request, expectation)),
                    ("outcome", vec![judged.detail.clone()]),
                    ("clause", vec![format!("{} of spec/SEMANTICS.md", case.clause)]),
                    ("source", case.sources.iter().map(ToString::to_string).collect()),
                    ("location", vec![case.location.to_string()]),
                    ("rerun", vec![rerun]),
                ]
            })
        });
        Trial { ignored: asked.err(), ..trial }
    }

    /// The test of a case of the operation `infer`, for the implementation with this index: ignored if the
    /// implementation does not cover the case.
    fn inference(self: &Arc<Self>, place: usize, case: &Arc<InferenceCase>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(case));
        let about = About {
            subject: place,
            rules: Some(case.request.rules().set()),
            nature: case.nature(),
            convention: case.convention,
            retyped: None,
        };
        let lacks = self.implementation.capabilities().covers_signature(&case.request).err();
        let names = (&*case.id, &*case.id, &*case.location.file);
        let trial = self.trial(about, names, Weight::Case, move |run| {
            let case = &*test;
            let judged = match run {
                Run::Here => {
                    run_inferences(&subject.watched(), &[case], subject.known.as_ref(), false).swap_remove(0)
                }
                Run::Died(how) => subject.died(&case.id, how),
            };
            ending(&judged, (&case.id, &case.title), || {
                vec![
                    ("title", vec![case.title.clone()]),
                    ("request", describe_signature(&case.request)),
                    ("expectation", describe_expected_inference(&case.request, &case.expectation)),
                    ("outcome", vec![judged.detail.clone()]),
                    ("clause", vec![format!("{} of spec/SEMANTICS.md", case.clause)]),
                    ("source", case.sources.iter().map(ToString::to_string).collect()),
                    ("location", vec![case.location.to_string()]),
                    ("rerun", vec![subject.rerun(&case.id)]),
                ]
            })
        });
        Trial { ignored: lacks, ..trial }
    }

    /// The test of a sweep, for the implementation with this index, whether or not it covers the sweep.
    fn sweep(self: &Arc<Self>, place: usize, sweep: &Arc<Sweep>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(sweep));
        let about = About {
            subject: place,
            rules: rules_of(sweep),
            nature: sweep.nature(),
            convention: None,
            retyped: None,
        };
        let mut trial =
            self.trial(about, (&sweep.id, &sweep.id, &sweep.location.file), Weight::Many, move |run| {
                let sweep = &*test;
                let judged = match run {
                    Run::Here => subject.run_sweep(sweep),
                    Run::Died(how) => subject.died(&sweep.id, how),
                };
                ending(&judged, (&sweep.id, &sweep.title), || {
                    vec![
                        ("title", vec![sweep.title.clone()]),
                        ("outcome", vec![judged.detail.clone()]),
                        ("source", sweep.sources.iter().map(ToString::to_string).collect()),
                        ("location", vec![sweep.location.to_string()]),
                        ("rerun", vec![subject.rerun(&sweep.id)]),
                    ]
                })
            });
        if trial.label.kind.is_empty() && sweep.expected_cases > self.sample {
            trial.label.kind = "sample";
        }
        trial
    }

    /// A test with its id, its name, and the file that contains it.
    fn trial(
        &self,
        about: About,
        (id, name, file): (&str, &str, &str),
        weight: Weight,
        run: impl FnOnce(Run) -> Ending + Send + 'static,
    ) -> Trial {
        let listed = self.known.as_ref().is_some_and(|known| known.entry(id).is_some());
        let kind = match about.convention {
            _ if listed => "known",
            Some(_) => "convention",
            None => "",
        };
        let label = Label { name: self.test_name(name), kind };
        let task = Task::Entry { subject: about.subject, file: file.to_owned(), id: id.to_owned() };
        Trial { label, ignored: None, task: Some(task), weight, about: Some(about), run: Box::new(run) }
    }

    fn run_sweep(&self, sweep: &Sweep) -> Judged {
        let part = Part::sample(sweep.expected_cases, self.sample);
        let expansion = self.last.expand(sweep, self.implementation.capabilities(), part);
        let expansion = expansion.as_ref().as_ref();
        run_expanded(&self.watched(), sweep, self.known.as_ref(), part, expansion).judged
    }

    fn watched(&self) -> Watched<'_> {
        Watched { implementation: &*self.implementation, progress: &self.progress }
    }

    /// The result of a test whose process died.
    fn died<T>(&self, id: &str, how: String) -> Judged<T> {
        let judged = Judged::new(Status::Errored, how);
        match self.known.as_ref().and_then(|known| known.entry(id)) {
            Some(entry) => entry.applied_to(judged),
            None => judged,
        }
    }

    /// # Errors
    /// What the implementation lacks for a case.
    fn covers_case(&self, case: &Case) -> Result<(), String> {
        asked(case, self.implementation.capabilities()).map(|_| ())
    }

    /// # Errors
    /// What the implementation lacks for the first case of a sweep, if it lacks something for each.
    fn covers_sweep(&self, sweep: &Sweep) -> Result<(), String> {
        let capabilities = self.implementation.capabilities();
        let covers = |part| match expand_part(sweep, capabilities, part) {
            Ok(expansion) => self.covers(&expansion),
            // The run reports what is wrong with the sweep.
            Err(_) => Ok(()),
        };
        // Making all cases takes time, and mostly the first is covered, or the rule set of all is missing.
        covers(Part::FIRST).or_else(|lacks| {
            let rules = rules_of(sweep).filter(|rules| !capabilities.rules.contains(rules));
            if rules.is_some() { Err(lacks) } else { covers(Part::WHOLE) }
        })
    }

    fn covers(&self, expansion: &Expansion) -> Result<(), String> {
        match expansion {
            Expansion::Cases(cases) => {
                let mut covered = cases.iter().map(|case| self.covers_case(case));
                let first = covered.next().unwrap_or(Ok(()));
                if covered.any(|case| case.is_ok()) { Ok(()) } else { first }
            }
            Expansion::Sequences(sequences) => {
                let mut covered = sequences.iter().flat_map(|sequence| &sequence.cases);
                let first = covered.next().map_or(Ok(()), |case| self.covers_case(case));
                if covered.any(|case| self.covers_case(case).is_ok()) { Ok(()) } else { first }
            }
            Expansion::Relation { relation, extent } => {
                relation.covered_by(self.implementation.capabilities(), extent).map(|_| ())
            }
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

/// The rule set of a sweep, with which its id begins.
fn rules_of(sweep: &Sweep) -> Option<RuleSet> {
    sweep.id.split('/').next().and_then(|name| name.parse().ok())
}

/// A pass, or the text of the failure. A case that was not judged has not passed: it is ignored.
fn ending<T>(
    judged: &Judged<T>,
    (id, title): (&str, &str),
    about: impl FnOnce() -> Vec<(&'static str, Vec<String>)>,
) -> Ending {
    match judged.status {
        Status::Passed | Status::Agrees | Status::KnownFailure => return Ending::Passed,
        Status::Differs => return Ending::Differs,
        // Beyond the limits of the implementation, or of a convention that it does not follow.
        Status::Skipped => return Ending::Ignored(judged.detail.clone()),
        Status::Failed | Status::Errored | Status::UnexpectedPass => {}
    }
    let mut message = String::new();
    for (name, lines) in about() {
        for (place, line) in lines.iter().flat_map(|line| line.lines()).enumerate() {
            message += &format!("{:<11}  {line}\n", if place == 0 { name } else { "" });
        }
    }
    let new = matches!(judged.status, Status::Failed | Status::Errored);
    let listed =
        || draft::Failure { id: id.to_owned(), title: title.to_owned(), detail: judged.detail.clone() };
    Ending::Failed(Failure { message, draft: new.then(listed) })
}

#[cfg(test)]
mod tests;
