//! A worker: a process of the test binary that runs tests for its parent.
//!
//! It is the same program with the same arguments, behind [`WORKER`](super::arguments::WORKER), so it builds
//! the same tests. It loads a case file only when it is to run one of its cases: another worker that goes on
//! after a crash starts quickly.

use super::arguments::Arguments;
use super::channel::{self, Message, Order, Sender, Task};
use super::progress::Progress;
use super::runner::{Ending, Run, Trial};
use super::subject::{Subject, subjects};
use super::{Tests, memory};
use crate::parallel::set_threads;
use broadcheck_spec::{Case, FILES, InferenceCase, Suite, Sweep, load_str};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Read;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// How often a test that makes progress says so.
const PULSE: Duration = Duration::from_millis(200);
/// How long this process may take to end after its parent has.
const GRACE: Duration = Duration::from_secs(1);

/// Runs tests until the parent closes the channel, and ends the process.
///
/// # Errors
/// There is no channel, or no thread, or the tests cannot be built.
pub(super) fn serve(tests: Tests, arguments: &Arguments) -> Result<Infallible, String> {
    memory::volunteer();
    let failed = |error: std::io::Error| format!("the channel to the parent process: {error}");
    let (stream, sender) = channel::own().map_err(failed)?;
    let sender = Arc::new(sender);
    let progress = Arc::new(Progress::to(Arc::clone(&sender)));
    let running = Arc::new(AtomicBool::new(false));
    let orders = read(stream).map_err(failed)?;
    pulse(Arc::clone(&progress), Arc::clone(&sender), Arc::clone(&running)).map_err(failed)?;
    let bench = Bench::new(tests, Arc::clone(&progress))?;
    let work = move || work(bench, &orders, &sender, &progress, &running);
    // A single thread of tests is the main thread, and others are not, as without processes.
    if arguments.test_threads.is_some_and(|threads| threads.get() == 1) {
        work();
    } else {
        let thread = thread::Builder::new().name("tests".into()).spawn(work).map_err(failed)?;
        drop(thread.join());
    }
    process::exit(0)
}

/// The orders, read on their own thread. When the parent ends, this process does too, whatever it is doing.
fn read(stream: impl Read + Send + 'static) -> std::io::Result<mpsc::Receiver<Order<Vec<Task>>>> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        for order in channel::orders(stream) {
            if sender.send(order).is_err() {
                break;
            }
        }
        drop(sender);
        thread::sleep(GRACE);
        // A test that hangs may hold what an orderly exit waits for.
        let _ = thread::Builder::new().spawn(|| process::exit(1));
        thread::sleep(GRACE);
        process::abort();
    };
    thread::Builder::new().spawn(read)?;
    Ok(receiver)
}

/// Reports progress while a test runs.
fn pulse(progress: Arc<Progress>, sender: Arc<Sender>, running: Arc<AtomicBool>) -> std::io::Result<()> {
    let pulse = move || {
        let mut before = progress.count();
        loop {
            thread::sleep(PULSE);
            let now = progress.count();
            if now != before && running.load(Ordering::Relaxed) && sender.send(&Message::Alive).is_err() {
                return;
            }
            before = now;
        }
    };
    thread::Builder::new().spawn(pulse).map(drop)
}

fn work(
    mut bench: Bench,
    orders: &mpsc::Receiver<Order<Vec<Task>>>,
    sender: &Sender,
    progress: &Progress,
    running: &AtomicBool,
) {
    // If nobody reads the messages, the parent has ended.
    let send = |message| sender.send(&message).is_ok();
    if !send(Message::Ready) {
        return;
    }
    for order in orders {
        set_threads(order.threads);
        progress.announce(order.announce);
        running.store(true, Ordering::Relaxed);
        for task in order.tasks {
            let ending = match bench.trial(task) {
                Ok(trial) => trial.ending(Run::Here),
                Err(message) => Ending::Failed(message.into()),
            };
            if !send(Message::Ended(ending)) {
                return;
            }
        }
        running.store(false, Ordering::Relaxed);
    }
}

/// The tests of this process.
struct Bench {
    subjects: Vec<Arc<Subject>>,
    added: Vec<Option<Trial>>,
    cases: Vec<PathBuf>,
    files: HashMap<String, Entries>,
    progress: Arc<Progress>,
}

/// What a file contains, by id.
#[derive(Default)]
struct Entries {
    cases: HashMap<String, Arc<Case>>,
    inferences: HashMap<String, Arc<InferenceCase>>,
    sweeps: HashMap<String, Arc<Sweep>>,
}

impl Bench {
    fn new(tests: Tests, progress: Arc<Progress>) -> Result<Bench, String> {
        let Tests { implementations, named, known, cases, more, sample, .. } = tests;
        let subjects = subjects(implementations, named, &known, sample, &progress)?;
        let added = more.into_iter().map(Some).collect();
        Ok(Bench { subjects, added, cases, files: HashMap::new(), progress })
    }

    /// The test for a task.
    fn trial(&mut self, task: Task) -> Result<Trial, String> {
        let other = |what: &str| {
            format!("found no {what} in the process of the test, expected the tests of its parent process")
        };
        match task {
            Task::Added(place) => {
                let trial = self.added.get_mut(place).and_then(Option::take);
                trial.ok_or_else(|| other(&format!("added test {place}")))
            }
            Task::Entry { subject: place, file, id } => {
                let subject =
                    self.subjects.get(place).cloned().ok_or_else(|| other("such implementation"))?;
                let entries = self.entries(file)?;
                let case = entries.cases.get(&id).map(|case| subject.case(place, case));
                let inference = || entries.inferences.get(&id).map(|case| subject.inference(place, case));
                let trial = case
                    .or_else(inference)
                    .or_else(|| entries.sweeps.get(&id).map(|sweep| subject.sweep(place, sweep)));
                trial.ok_or_else(|| other(&format!("case `{id}`")))
            }
        }
    }

    fn entries(&mut self, file: String) -> Result<&Entries, String> {
        // Files of the user are few: all of them are loaded at once.
        let key = if self.cases.is_empty() { file } else { String::new() };
        if !self.files.contains_key(&key) {
            let suite = load(&self.cases, &key)?;
            let cases = suite.cases.into_iter().map(|case| (case.id.clone(), Arc::new(case)));
            let inferences = suite.inferences.into_iter().map(|case| (case.id.clone(), Arc::new(case)));
            let sweeps = suite.sweeps.into_iter().map(|sweep| (sweep.id.clone(), Arc::new(sweep)));
            let entries = Entries {
                cases: cases.collect(),
                inferences: inferences.collect(),
                sweeps: sweeps.collect(),
            };
            self.files.insert(key.clone(), entries);
            self.progress.step();
        }
        Ok(&self.files[&key])
    }
}

/// The built-in file of this name, or all files of the user.
fn load(cases: &[PathBuf], file: &str) -> Result<Suite, String> {
    let found = if cases.is_empty() {
        let text = FILES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text);
        let text = text.ok_or_else(|| format!("found no built-in case file `{file}`, expected one"))?;
        load_str(text, file).map(Suite::from)
    } else {
        Suite::from_paths(cases)
    };
    found.map_err(|errors| format!("cannot read the cases\n{errors}"))
}
