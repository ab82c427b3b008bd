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
mod drafts;
mod expansion;
mod memory;
mod pool;
mod printer;
mod progress;
mod runner;
mod stderr;
mod subject;
mod summary;
mod weight;
mod worker;

use crate::globs::Glob;
use crate::parallel::over_ranges;
use arguments::{Arguments, HELP};
use broadcheck_spec::{FILES, Implementation, LoadErrors, Suite, Sweep, load_str};
use channel::Task;
use pool::Pool;
use runner::{Ending, Label, Report, Run, Trial, Weight};
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use subject::{Subject, subjects};

/// The exit status of a test binary whose tests fail, as Rust's own test harness has it.
const FAILED: u8 = 101;
/// The exit status if the arguments are wrong.
const USAGE: u8 = 2;

/// How long a test may make no progress, unless specified otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);

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
    /// Globs over names of tests that are ignored, with the reasons.
    ignored: Vec<(String, String)>,
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
            ignored: Vec::new(),
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

    /// Ignores the tests whose whole names match this [glob](crate::globs), such as those of long operands
    /// for a slow library: `tests.ignore("*/long*", "takes minutes")`. The reason is shown, and `--ignored`
    /// and `--include-ignored` run them. A glob that matches no test is an error. With several
    /// implementations, the name is `ID (IMPLEMENTATION)`.
    #[must_use]
    pub fn ignore(mut self, glob: &str, reason: &str) -> Tests {
        self.ignored.push((glob.to_owned(), reason.to_owned()));
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
            Some(path) if !arguments.list => drafts::paths(Path::new(path), &about)?,
            _ => Vec::new(),
        };
        let pool = self.pool(arguments, words);
        let trials = self.trials(exact_name(arguments))?;
        let report = runner::run(arguments, trials, pool.as_ref(), &about);
        let report = report.map_err(|error| format!("the output: {error}"))?;
        for (place, path) in drafts.iter().enumerate() {
            note(&drafts::write(path, place, &about[place], &report)?);
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
        let lacks = lacking_sweeps(&subjects, &suite.sweeps);
        for (sweep, lacks) in suite.sweeps.into_iter().map(Arc::new).zip(lacks) {
            let tests = places().zip(lacks);
            trials.extend(
                tests.map(|((place, subject), ignored)| Trial { ignored, ..subject.sweep(place, &sweep) }),
            );
        }
        for (glob, reason) in &self.ignored {
            let matching = ignore(&mut trials, glob, reason)?;
            if whole && matching == 0 {
                return Err(format!("found no test to ignore that matches `{glob}`, expected at least one"));
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

/// For each sweep and each subject, why the subject is not asked the sweep, if it is not. Expanding a sweep
/// takes time, so the threads share the sweeps.
fn lacking_sweeps(subjects: &[Arc<Subject>], sweeps: &[Sweep]) -> Vec<Vec<Option<String>>> {
    let lacking = |sweep: &Sweep| {
        let mut lacks: Vec<Option<String>> = Vec::new();
        for (place, subject) in subjects.iter().enumerate() {
            // The engines of one library often declare the same.
            let able = subject.implementation.capabilities();
            let same = |other: &Arc<Subject>| other.implementation.capabilities() == able;
            let lack = match subjects[..place].iter().position(same) {
                Some(same) => lacks[same].clone(),
                None => subject.covers_sweep(sweep).err(),
            };
            lacks.push(lack);
        }
        lacks
    };
    let parts = over_ranges(sweeps.len(), 1, |part| sweeps[part].iter().map(lacking).collect::<Vec<_>>());
    parts.into_iter().flatten().collect()
}

/// Ignores the tests whose names match a glob, and returns how many match. A test that is ignored already
/// keeps its reason.
fn ignore(trials: &mut [Trial], glob: &str, reason: &str) -> Result<usize, String> {
    let matches = Glob::new(glob).map_err(|error| format!("the tests to ignore, `{glob}`: {error}"))?;
    let matching = trials.iter_mut().filter(|trial| matches.matches(&trial.label.name));
    Ok(matching.map(|trial| trial.ignored.get_or_insert_with(|| reason.to_owned())).count())
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

#[cfg(test)]
mod tests;
