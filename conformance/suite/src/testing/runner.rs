//! Runs tests that are created at run time, and prints what Rust's own test harness would print.
//!
//! This replaces libtest-mimic, which would add clap and 13 other packages to every user's build. The output
//! and the arguments are the same, so that `cargo test`, cargo-nextest and editors see no difference.

use super::arguments::Arguments;
use super::channel::Task;
use super::pool::{self, Pool};
use super::printer::Printer;
use super::summary::{Subject, summarize};
use crate::known::draft;
use crate::run::Status;
use broadcheck_spec::{Convention, DType, Nature, RuleSet};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Instant;

/// The maximum number of worker processes, unless `--test-threads` sets another: each loads the library.
const MOST_WORKERS: usize = 8;

/// A test.
pub(super) struct Trial {
    pub(super) label: Label,
    /// Why it is run only on request, if it is. May be empty.
    pub(super) ignored: Option<String>,
    /// How a worker process refers to it; `None` for a test that only this process can run.
    pub(super) task: Option<Task>,
    pub(super) weight: Weight,
    /// What it tests; `None` for a test that is not a case or sweep.
    pub(super) about: Option<About>,
    pub(super) run: Box<dyn FnOnce(Run) -> Ending + Send>,
}

/// What the test of a case or sweep tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    /// The index of its implementation.
    pub(super) subject: usize,
    /// The rule set; `None` for a sweep over several.
    pub(super) rules: Option<RuleSet>,
    pub(super) nature: Nature,
    pub(super) convention: Option<Convention>,
    /// The dtype in which it is asked, if not in its own.
    pub(super) retyped: Option<DType>,
}

/// What a test asks of the machine. The variants have the order in which tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// One request.
    Case,
    /// Many requests, or something unknown.
    Many,
    /// A request for which a wrong rule may take all memory.
    Memory,
}

/// How to find out the result of a test.
pub(super) enum Run {
    /// By running it here.
    Here,
    /// The process that ran it died, for this reason.
    Died(String),
}

/// The name of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) name: String,
    /// A word shown in brackets before the name, such as `known`. May be empty.
    pub(super) kind: &'static str,
}

impl Label {
    /// The name as it is listed: with the kind.
    pub(super) fn listed(&self) -> String {
        if self.kind.is_empty() { self.name.clone() } else { format!("[{}] {}", self.kind, self.name) }
    }

    /// Whether the arguments select the test. The list shows the kind, so `--exact` accepts the name with and
    /// without it, and with and without the dtype in which a case is asked.
    fn selected(&self, arguments: &Arguments) -> bool {
        let listed = self.listed();
        let matches = |filter: &String| {
            if arguments.exact {
                let id = self.name.split_once(" as ").map_or(self.name.as_str(), |(id, _)| id);
                *filter == self.name || *filter == listed || *filter == id
            } else {
                listed.contains(filter.as_str())
            }
        };
        (arguments.filters.is_empty() || arguments.filters.iter().any(matches))
            && !arguments.skip.iter().any(matches)
    }
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Ending {
    Passed,
    /// Passed, because it tests a convention that the implementation need not follow.
    Differs,
    Failed(Failure),
    /// Not run, with the reason. May be empty.
    Ignored(String),
}

/// A failed test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// What is shown.
    pub(super) message: String,
    /// The entry of a draft of known failures, if it can be listed there.
    pub(super) draft: Option<draft::Failure>,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { message, draft: None }
    }
}

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) counts: Counts,
    /// What failed, with the index of the implementation.
    pub(super) drafts: Vec<(usize, draft::Failure)>,
    /// How the cases and sweeps ended.
    pub(super) results: Vec<Resulted>,
    /// Whether less was asked than the arguments require.
    pub(super) too_little: bool,
}

/// How a case or sweep ended.
#[derive(Debug)]
pub(super) struct Resulted {
    pub(super) about: About,
    pub(super) status: Status,
    /// Why it was not run, if it was not.
    pub(super) reason: String,
}

impl Resulted {
    fn new(about: About, ending: &Ending) -> Resulted {
        let (status, reason) = match ending {
            Ending::Passed if about.convention.is_some() => (Status::Agrees, ""),
            Ending::Passed => (Status::Passed, ""),
            Ending::Differs => (Status::Differs, ""),
            Ending::Failed(_) => (Status::Failed, ""),
            Ending::Ignored(reason) => (Status::Skipped, reason.as_str()),
        };
        Resulted { about, status, reason: reason.to_owned() }
    }
}

/// The number of tests with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) ignored: usize,
    pub(super) filtered_out: usize,
}

/// Runs what the arguments select, or lists it. Without a pool, everything runs in this process.
///
/// # Errors
/// The output cannot be written.
pub(super) fn run(
    arguments: &Arguments,
    mut trials: Vec<Trial>,
    pool: Option<&Pool>,
    subjects: &[Subject],
) -> io::Result<Report> {
    let began = Instant::now();
    let all = trials.len();
    trials.retain(|trial| trial.label.selected(arguments) && (trial.ignored.is_some() || !arguments.ignored));
    let mut printer = Printer::new(arguments, &trials)?;
    if arguments.list {
        printer.list(&trials)?;
        return Ok(Report::default());
    }
    trials.sort_by_key(|trial| trial.weight == Weight::Memory);
    let mut report = Report::default();
    report.counts.filtered_out = all - trials.len();
    printer.title(trials.len())?;
    let mut failures = Vec::new();
    let alone = threads(arguments, trials.len()) == 1;
    let mut each = |event: Event| {
        let (label, about, ending) = match event {
            // Printed only with the result: tests that run at the same time would mix their lines.
            Event::Started(label) => return if alone { printer.start(&label) } else { Ok(()) },
            Event::Ended(label, about, ending) => (label, about, ending),
        };
        if !alone {
            printer.start(&label)?;
        }
        printer.ending(&label, &ending)?;
        report.results.extend(about.map(|about| Resulted::new(about, &ending)));
        match ending {
            Ending::Passed | Ending::Differs => report.counts.passed += 1,
            Ending::Ignored(_) => report.counts.ignored += 1,
            Ending::Failed(mut failure) => {
                report.counts.failed += 1;
                let subject = about.map(|about| about.subject);
                report.drafts.extend(subject.zip(failure.draft.take()));
                failures.push((label, failure));
            }
        }
        io::Result::Ok(())
    };
    let trials = match pool {
        Some(pool) => pool::run(pool, arguments, workers(arguments, trials.len()), trials, &mut each)?,
        None => trials,
    };
    if alone {
        for trial in trials {
            each(Event::Started(trial.label.clone()))?;
            each(end(trial, arguments))?;
        }
    } else {
        at_once(arguments, trials, each)?;
    }
    printer.failures(&failures)?;
    printer.summary(report.counts, began.elapsed())?;
    // A single test says nothing about the whole; cargo-nextest runs each like this.
    if !arguments.exact {
        let (lines, too_little) = summarize(subjects, &report.results, arguments.min_asked);
        printer.lines(&lines)?;
        report.too_little = too_little;
    }
    Ok(report)
}

/// What happens to a test.
pub(super) enum Event {
    Started(Label),
    Ended(Label, Option<About>, Ending),
}

/// The number of worker processes.
fn workers(arguments: &Arguments, tests: usize) -> usize {
    let threads = threads(arguments, tests);
    if arguments.test_threads.is_some() { threads } else { threads.min(MOST_WORKERS) }
}

/// The number of threads: never more than there are tests.
fn threads(arguments: &Arguments, tests: usize) -> usize {
    let wanted = arguments.test_threads.or_else(|| thread::available_parallelism().ok());
    wanted.map_or(1, NonZero::get).min(tests.max(1))
}

/// Runs tests on several threads, and reports each result on the calling thread.
fn at_once(
    arguments: &Arguments,
    trials: Vec<Trial>,
    each: impl FnMut(Event) -> io::Result<()>,
) -> io::Result<()> {
    if trials.is_empty() {
        return Ok(());
    }
    let count = threads(arguments, trials.len());
    let trials = Mutex::new(trials.into_iter());
    let next = || trials.lock().ok().and_then(|mut trials| trials.next());
    let work = |sender: mpsc::Sender<Event>| {
        while let Some(trial) = next() {
            if sender.send(end(trial, arguments)).is_err() {
                break;
            }
        }
    };
    on_threads(count, work, each)
}

/// Does the same work on several threads, and passes on what each sends to the calling thread.
pub(super) fn on_threads(
    count: usize,
    work: impl Fn(mpsc::Sender<Event>) + Sync,
    each: impl FnMut(Event) -> io::Result<()>,
) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    let work = &work;
    thread::scope(|scope| {
        for started in 0..count {
            let sender = sender.clone();
            match thread::Builder::new().spawn_scoped(scope, move || work(sender)) {
                Ok(_) => {}
                // The threads that have started are enough.
                Err(_) if started > 0 => break,
                Err(error) => return Err(error),
            }
        }
        drop(sender);
        // Dropped on an error, so that the threads stop too.
        receiver.into_iter().try_for_each(each)
    })
}

impl Trial {
    /// The reason if the arguments select a test but do not run it.
    pub(super) fn is_left_out(&self, arguments: &Arguments) -> Option<String> {
        let run = arguments.ignored || arguments.include_ignored;
        match &self.ignored {
            Some(reason) if arguments.bench || !run => Some(reason.clone()),
            _ => arguments.bench.then(String::new),
        }
    }

    /// The result. A panic is a failure.
    pub(super) fn ending(self, run: Run) -> Ending {
        let test = self.run;
        match catch_unwind(AssertUnwindSafe(|| test(run))) {
            Ok(ending) => ending,
            Err(panic) => Ending::Failed(panicked(&*panic).into()),
        }
    }
}

pub(super) fn end(trial: Trial, arguments: &Arguments) -> Event {
    let (label, about) = (trial.label.clone(), trial.about);
    let ending = match trial.is_left_out(arguments) {
        Some(reason) => Ending::Ignored(reason),
        None => trial.ending(Run::Here),
    };
    Event::Ended(label, about, ending)
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    text.map_or("test panicked".into(), |text: &str| format!("test panicked: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn trials() -> Vec<Trial> {
        let trial = |name: &str, kind, ignored: Option<&str>, run: fn() -> Ending| Trial {
            label: Label { name: name.into(), kind },
            ignored: ignored.map(Into::into),
            task: None,
            weight: Weight::Case,
            about: None,
            run: Box::new(move |_| run()),
        };
        let wrong = || Ending::Failed("it is \"wrong\"\nhere".to_owned().into());
        vec![
            Trial { weight: Weight::Memory, ..trial("xla/z", "", None, || Ending::Passed) },
            trial("numpy/a", "", None, || Ending::Passed),
            trial("numpy/ab", "known", None, || Ending::Passed),
            trial("xla/b", "", None, wrong),
            trial("xla/c", "", None, || panic!("no {}", 'c')),
            trial("xla/d", "", Some("no dtype\nf16"), || Ending::Passed),
        ]
    }

    /// The counts, and the output.
    fn run_with(line: &str) -> ([usize; 4], String) {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let words = line.split(',').map(str::to_owned).filter(|word| !word.is_empty());
        let mut arguments = Arguments::parse(words).unwrap();
        arguments.logfile = Some(log.to_str().unwrap().to_owned());
        let Counts { passed, failed, ignored, filtered_out } =
            run(&arguments, trials(), None, &[]).unwrap().counts;
        ([passed, failed, ignored, filtered_out], fs::read_to_string(&log).unwrap())
    }

    #[test]
    fn arguments_select_tests() {
        for (line, counts) in [
            ("", [3, 2, 1, 0]),
            ("--test-threads=1", [3, 2, 1, 0]),
            ("numpy/", [2, 0, 0, 4]),
            ("numpy/a,xla/d", [2, 0, 1, 3]),
            ("--exact,numpy/a", [1, 0, 0, 5]),
            ("--exact,numpy/ab", [1, 0, 0, 5]),
            ("--exact,[known] numpy/ab", [1, 0, 0, 5]),
            ("[known]", [1, 0, 0, 5]),
            ("--exact,numpy", [0, 0, 0, 6]),
            ("--skip,xla/", [2, 0, 0, 4]),
            ("--exact,--skip,xla/b,--skip,numpy/a", [2, 1, 1, 2]),
            ("--ignored", [1, 0, 0, 5]),
            ("--include-ignored,xla/", [2, 2, 0, 2]),
            ("--bench", [0, 0, 6, 0]),
        ] {
            assert_eq!(run_with(line).0, counts, "{line}");
        }
    }

    #[test]
    fn a_list_is_in_the_format_of_nextest() {
        let (_, list) = run_with("--list,--format,terse");
        assert_eq!(
            list,
            "xla/z: test\nnumpy/a: test\n[known] numpy/ab: test\nxla/b: test\nxla/c: test\nxla/d: test\n"
        );
        assert_eq!(run_with("--list,--format,terse,--ignored").1, "xla/d: test\n");
    }

    #[test]
    fn the_output_matches_the_built_in_harness() {
        let (_, log) = run_with("--test-threads,1");
        let (log, time) = log.split_once("finished in ").unwrap();
        assert!(time.ends_with("s\n\n"), "{time}");
        assert_eq!(
            log,
            "\nrunning 6 tests\n\
             test         numpy/a  ... ok\n\
             test [known] numpy/ab ... ok\n\
             test         xla/b    ... FAILED\n\
             test         xla/c    ... FAILED\n\
             test         xla/d    ... ignored, no dtype f16\n\
             test         xla/z    ... ok\n\
             \nfailures:\n\n\
             ---- xla/b ----\nit is \"wrong\"\nhere\n\n\
             ---- xla/c ----\ntest panicked: no c\n\n\
             \nfailures:\n    xla/b\n    xla/c\n\
             \ntest result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; "
        );
        assert!(run_with("-q,--test-threads,1").1.starts_with("\nrunning 6 tests\n..FFi.\nfailures:\n"));
        let coloured = run_with("--color,always,--exact,numpy/a").1;
        assert!(coloured.contains("test numpy/a ... \u{1b}[32mok\u{1b}[0m\n"), "{coloured:?}");
        assert!(coloured.contains("running 1 test\n"));
    }

    #[test]
    fn events_are_json() {
        let (_, log) = run_with("--format,json,--test-threads,1");
        let events: Vec<serde_json::Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.len(), 14);
        assert_eq!(events[0], serde_json::json!({"type": "suite", "event": "started", "test_count": 6}));
        assert_eq!(events[1], serde_json::json!({"type": "test", "event": "started", "name": "numpy/a"}));
        assert_eq!(events[2], serde_json::json!({"type": "test", "event": "ok", "name": "numpy/a"}));
        assert_eq!(
            events[10],
            serde_json::json!({"type": "test", "event": "ignored", "name": "xla/d", "message": "no dtype f16"})
        );
        assert_eq!(events[6]["stdout"], "Error: \"it is \"wrong\"\nhere\"\n");
        assert_eq!((&events[13]["event"], &events[13]["failed"]), (&"failed".into(), &2.into()));
    }
}
