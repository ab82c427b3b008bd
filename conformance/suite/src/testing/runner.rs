//! Runs tests that are created at run time, and prints what Rust's own test harness would print.
//!
//! This replaces libtest-mimic, which would add clap and 13 other packages to every user's build. The output
//! and the arguments are the same, so that `cargo test`, cargo-nextest and editors see no difference.

use super::arguments::Arguments;
use super::printer::Printer;
use std::any::Any;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Instant;

/// A test.
pub(super) struct Trial {
    pub(super) label: Label,
    /// Whether it is run only on request.
    pub(super) ignored: bool,
    /// Runs the test; an error is the message of its failure.
    pub(super) run: Box<dyn FnOnce() -> Result<(), String> + Send>,
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
    /// without it.
    fn selected(&self, arguments: &Arguments) -> bool {
        let listed = self.listed();
        let matches = |filter: &String| {
            if arguments.exact {
                *filter == self.name || *filter == listed
            } else {
                listed.contains(filter.as_str())
            }
        };
        (arguments.filters.is_empty() || arguments.filters.iter().any(matches))
            && !arguments.skip.iter().any(matches)
    }
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Passed,
    Failed(String),
    Ignored,
}

/// The number of tests with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) ignored: usize,
    pub(super) filtered_out: usize,
}

/// Runs what the arguments select, or lists it.
///
/// # Errors
/// The output cannot be written.
pub(super) fn run(arguments: &Arguments, mut trials: Vec<Trial>) -> io::Result<Counts> {
    let began = Instant::now();
    let all = trials.len();
    trials.retain(|trial| trial.label.selected(arguments) && (trial.ignored || !arguments.ignored));
    let mut printer = Printer::new(arguments, &trials)?;
    if arguments.list {
        printer.list(&trials)?;
        return Ok(Counts::default());
    }
    let mut counts = Counts { filtered_out: all - trials.len(), ..Counts::default() };
    printer.title(trials.len())?;
    let mut failures = Vec::new();
    let mut ended = |label: Label, ending: Ending, printer: &mut Printer| {
        printer.ending(&label, &ending)?;
        match ending {
            Ending::Passed => counts.passed += 1,
            Ending::Ignored => counts.ignored += 1,
            Ending::Failed(message) => {
                counts.failed += 1;
                failures.push((label, message));
            }
        }
        io::Result::Ok(())
    };
    if threads(arguments, trials.len()) == 1 {
        for trial in trials {
            printer.start(&trial.label)?;
            let (label, ending) = end(trial, arguments);
            ended(label, ending, &mut printer)?;
        }
    } else {
        at_once(arguments, trials, |label, ending| {
            // Printed only now: tests that run at the same time would mix their lines.
            printer.start(&label)?;
            ended(label, ending, &mut printer)
        })?;
    }
    printer.failures(&failures)?;
    printer.summary(counts, began.elapsed())?;
    Ok(counts)
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
    mut ended: impl FnMut(Label, Ending) -> io::Result<()>,
) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    let count = threads(arguments, trials.len());
    let trials = Mutex::new(trials.into_iter());
    let next = || trials.lock().ok().and_then(|mut trials| trials.next());
    thread::scope(|scope| {
        for started in 0..count {
            let sender = sender.clone();
            let work = move || {
                while let Some(trial) = next() {
                    if sender.send(end(trial, arguments)).is_err() {
                        break;
                    }
                }
            };
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(_) => {}
                // The threads that have started are enough.
                Err(_) if started > 0 => break,
                Err(error) => return Err(error),
            }
        }
        drop(sender);
        // Dropped on an error, so that the threads stop too.
        receiver.into_iter().try_for_each(|(label, ending)| ended(label, ending))
    })
}

fn end(trial: Trial, arguments: &Arguments) -> (Label, Ending) {
    let Trial { label, ignored, run } = trial;
    if arguments.bench || ignored && !arguments.ignored && !arguments.include_ignored {
        return (label, Ending::Ignored);
    }
    let ending = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Ending::Passed,
        Ok(Err(message)) => Ending::Failed(message),
        Err(panic) => Ending::Failed(panicked(&*panic)),
    };
    (label, ending)
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
        let trial = |name: &str, kind, ignored, run: fn() -> Result<(), String>| Trial {
            label: Label { name: name.into(), kind },
            ignored,
            run: Box::new(run),
        };
        vec![
            trial("numpy/a", "", false, || Ok(())),
            trial("numpy/ab", "known", false, || Ok(())),
            trial("xla/b", "", false, || Err("it is \"wrong\"\nhere".into())),
            trial("xla/c", "", false, || panic!("no {}", 'c')),
            trial("xla/d", "", true, || Ok(())),
        ]
    }

    /// The counts, and the output.
    fn run_with(line: &str) -> ([usize; 4], String) {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let words = line.split(',').map(str::to_owned).filter(|word| !word.is_empty());
        let mut arguments = Arguments::parse(words).unwrap();
        arguments.logfile = Some(log.to_str().unwrap().to_owned());
        let Counts { passed, failed, ignored, filtered_out } = run(&arguments, trials()).unwrap();
        ([passed, failed, ignored, filtered_out], fs::read_to_string(&log).unwrap())
    }

    #[test]
    fn arguments_select_tests() {
        for (line, counts) in [
            ("", [2, 2, 1, 0]),
            ("--test-threads=1", [2, 2, 1, 0]),
            ("numpy/", [2, 0, 0, 3]),
            ("numpy/a,xla/d", [2, 0, 1, 2]),
            ("--exact,numpy/a", [1, 0, 0, 4]),
            ("--exact,numpy/ab", [1, 0, 0, 4]),
            ("--exact,[known] numpy/ab", [1, 0, 0, 4]),
            ("[known]", [1, 0, 0, 4]),
            ("--exact,numpy", [0, 0, 0, 5]),
            ("--skip,xla/", [2, 0, 0, 3]),
            ("--exact,--skip,xla/b,--skip,numpy/a", [1, 1, 1, 2]),
            ("--ignored", [1, 0, 0, 4]),
            ("--include-ignored,xla/", [1, 2, 0, 2]),
            ("--bench", [0, 0, 5, 0]),
        ] {
            assert_eq!(run_with(line).0, counts, "{line}");
        }
    }

    #[test]
    fn a_list_is_in_the_format_of_nextest() {
        let (_, list) = run_with("--list,--format,terse");
        assert_eq!(list, "numpy/a: test\n[known] numpy/ab: test\nxla/b: test\nxla/c: test\nxla/d: test\n");
        assert_eq!(run_with("--list,--format,terse,--ignored").1, "xla/d: test\n");
    }

    #[test]
    fn the_output_matches_the_built_in_harness() {
        let (_, log) = run_with("--test-threads,1");
        let (log, time) = log.split_once("finished in ").unwrap();
        assert!(time.ends_with("s\n\n"), "{time}");
        assert_eq!(
            log,
            "\nrunning 5 tests\n\
             test         numpy/a  ... ok\n\
             test [known] numpy/ab ... ok\n\
             test         xla/b    ... FAILED\n\
             test         xla/c    ... FAILED\n\
             test         xla/d    ... ignored\n\
             \nfailures:\n\n\
             ---- xla/b ----\nit is \"wrong\"\nhere\n\n\
             ---- xla/c ----\ntest panicked: no c\n\n\
             \nfailures:\n    xla/b\n    xla/c\n\
             \ntest result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; "
        );
        assert!(run_with("-q,--test-threads,1").1.starts_with("\nrunning 5 tests\n..FFi\nfailures:\n"));
        let coloured = run_with("--color,always,--exact,numpy/a").1;
        assert!(coloured.contains("test numpy/a ... \u{1b}[32mok\u{1b}[0m\n"), "{coloured:?}");
        assert!(coloured.contains("running 1 test\n"));
    }

    #[test]
    fn events_are_json() {
        let (_, log) = run_with("--format,json,--test-threads,1");
        let events: Vec<serde_json::Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.len(), 12);
        assert_eq!(events[0], serde_json::json!({"type": "suite", "event": "started", "test_count": 5}));
        assert_eq!(events[1], serde_json::json!({"type": "test", "event": "started", "name": "numpy/a"}));
        assert_eq!(events[2], serde_json::json!({"type": "test", "event": "ok", "name": "numpy/a"}));
        assert_eq!(events[6]["stdout"], "Error: \"it is \"wrong\"\nhere\"\n");
        assert_eq!((&events[11]["event"], &events[11]["failed"]), (&"failed".into(), &2.into()));
    }
}
