//! Runs tests in worker processes, so that a test that ends its process fails alone.
//!
//! Each worker runs one test after the other, and gets several cases with each order: waiting for an order
//! costs more than most cases. A worker that dies or is killed fails the test that it was running; the rest
//! of its order goes to a new one. A sweep that ends its worker is run once more, with each request
//! announced, so that the request is known.

use super::arguments::{Arguments, WORKER};
use super::channel::{self, Message, Order, Started, Task};
use super::memory;
use super::runner::{Ending, Event, Failure, Run, Trial, Weight, end, on_threads};
use super::stderr::Stderr;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How often a silent worker is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long a process may take to end after it has closed its channel.
const GRACE: Duration = Duration::from_secs(1);
/// How long a process may take to start at least: `main` may do much before the tests, on a busy machine.
const START: Duration = Duration::from_secs(60);
/// The most cases in one order.
const LONGEST_ORDER: usize = 32;
/// An order that takes longer than this is followed by a shorter one, so that no worker is idle at the end.
const LONG: Duration = Duration::from_millis(20);

/// What all workers have in common.
pub(super) struct Pool {
    /// This program.
    pub(super) program: PathBuf,
    /// The arguments of this process.
    pub(super) arguments: Vec<OsString>,
    /// How long a test may make no progress.
    pub(super) time_limit: Duration,
    /// The most resident memory of a worker in bytes, if it is limited.
    pub(super) memory_limit: Option<u64>,
}

/// Runs tests in this number of workers, and returns those that have not run because no worker can be
/// started.
///
/// # Errors
/// The output cannot be written.
pub(super) fn run(
    pool: &Pool,
    arguments: &Arguments,
    workers: usize,
    trials: Vec<Trial>,
    each: &mut impl FnMut(Event) -> io::Result<()>,
) -> io::Result<Vec<Trial>> {
    let lanes = Lanes {
        pool,
        arguments,
        threads: threads_each(workers),
        waiting: Mutex::new(trials.into()),
        heavy: Mutex::new(()),
        ready: AtomicBool::new(false),
        error: Mutex::new(String::new()),
    };
    on_threads(workers, |events| lanes.work(&events), &mut *each)?;
    let left = Vec::from(std::mem::take(&mut *lock(&lanes.waiting)));
    if left.is_empty() {
        return Ok(left);
    }
    let error = lock(&lanes.error).clone();
    if !lanes.ready.load(Ordering::Relaxed) {
        let note = format!("note: {error}, so the tests run in this one, where a crash ends the run\n");
        // Nothing can be done about a closed output.
        let _ = io::stderr().write_all(note.as_bytes());
        return Ok(left);
    }
    for trial in left {
        each(Event::Started(trial.label.clone()))?;
        each(Event::Ended(trial.label, trial.about, Ending::Failed(format!("not run: {error}").into())))?;
    }
    Ok(Vec::new())
}

/// The number of threads that a sweep may use in each worker: two at least, because the last sweeps run
/// alone.
fn threads_each(workers: usize) -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    (processors / workers.max(1)).max(2).min(processors)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The work of all workers. Each has a thread of this process.
struct Lanes<'a> {
    pool: &'a Pool,
    arguments: &'a Arguments,
    threads: usize,
    waiting: Mutex<VecDeque<Trial>>,
    /// Held while a test runs for which a wrong rule may take all memory: one at a time.
    heavy: Mutex<()>,
    /// Whether some worker could be started.
    ready: AtomicBool,
    /// Why the last one could not.
    error: Mutex<String>,
}

impl Lanes<'_> {
    /// Runs tests until none is waiting.
    fn work(&self, events: &mpsc::Sender<Event>) {
        let mut lane = Lane { lanes: self, worker: None, events };
        let mut most = 1;
        loop {
            let (order, heavy) = self.next(most);
            if order.is_empty() {
                break;
            }
            let began = Instant::now();
            if let Err(left) = lane.run(order) {
                let mut waiting = lock(&self.waiting);
                left.into_iter().rev().for_each(|trial| waiting.push_front(trial));
                break;
            }
            drop(heavy);
            most = if began.elapsed() > LONG { most / 2 } else { most * 2 }.clamp(1, LONGEST_ORDER);
        }
        if let Some(worker) = lane.worker {
            worker.end();
        }
    }

    /// The next tests: several cases, or one test of another kind.
    fn next(&self, most: usize) -> (VecDeque<Trial>, Option<MutexGuard<'_, ()>>) {
        let single = |trial: &Trial| trial.weight != Weight::Case || self.is_local(trial);
        let mut order = VecDeque::new();
        let mut waiting = lock(&self.waiting);
        while let Some(trial) = waiting.front() {
            let single = single(trial);
            if order.len() >= most || single && !order.is_empty() {
                break;
            }
            order.extend(waiting.pop_front());
            if single {
                break;
            }
        }
        drop(waiting);
        let heavy = order.front().is_some_and(|trial| trial.weight == Weight::Memory);
        (order, heavy.then(|| lock(&self.heavy)))
    }

    /// Whether no worker is needed.
    fn is_local(&self, trial: &Trial) -> bool {
        trial.task.is_none() || trial.is_left_out(self.arguments).is_some()
    }
}

/// One worker at a time, and where the results of its tests go.
struct Lane<'a> {
    lanes: &'a Lanes<'a>,
    worker: Option<Worker>,
    events: &'a mpsc::Sender<Event>,
}

impl Lane<'_> {
    /// Runs these tests.
    ///
    /// # Errors
    /// No worker can be started, or nobody wants the results: the tests that are left.
    fn run(&mut self, mut order: VecDeque<Trial>) -> Result<(), VecDeque<Trial>> {
        while let Some(first) = order.front() {
            if self.events.send(Event::Started(first.label.clone())).is_err() {
                return Err(order);
            }
            if self.lanes.is_local(first) {
                if let Some(trial) = order.pop_front() {
                    // If nobody wants the results, this ends before the next test.
                    let _ = self.events.send(end(trial, self.lanes.arguments));
                }
                continue;
            }
            let tasks: Vec<Task> = order.iter().filter_map(|trial| trial.task.clone()).collect();
            let event = |ending, order: &mut VecDeque<Trial>| {
                let Some(Trial { label, about, .. }) = order.pop_front() else { return };
                // If nobody wants the results, this ends before the next order.
                let _ = self.events.send(Event::Ended(label, about, ending));
                if let Some(next) = order.front() {
                    let _ = self.events.send(Event::Started(next.label.clone()));
                }
            };
            let ended =
                attempt(self.lanes, &mut self.worker, &tasks, false, |ending| event(ending, &mut order));
            match ended {
                Ok(()) => {}
                Err(Stop::NotStarted(error)) => {
                    *lock(&self.lanes.error) = error;
                    return Err(order);
                }
                Err(Stop::Died { how, .. }) => {
                    let Some(trial) = order.pop_front() else { continue };
                    let (label, about) = (trial.label.clone(), trial.about);
                    let ending = self.died(trial, how);
                    let _ = self.events.send(Event::Ended(label, about, ending));
                }
            }
        }
        Ok(())
    }

    /// The result of a test whose worker died.
    fn died(&mut self, trial: Trial, mut how: String) -> Ending {
        // Of an added test and of a case, the request is known.
        if let (Weight::Many, Some(task @ Task::Entry { .. })) = (trial.weight, &trial.task) {
            let mut again = None;
            let task = std::slice::from_ref(task);
            how = match attempt(self.lanes, &mut self.worker, task, true, |ending| again = Some(ending)) {
                Err(Stop::Died { how, asked: Some(request) }) => {
                    format!("{how}\nafter the request {request}")
                }
                Err(Stop::Died { how, asked: None }) => how,
                Err(Stop::NotStarted(_)) => how,
                Ok(()) => {
                    let again = match again {
                        Some(Ending::Failed(Failure { message, .. })) => format!("failed:\n{message}"),
                        _ => "passed".into(),
                    };
                    format!(
                        "{how}\nrun once more on one thread, the sweep did not end its process, and {again}"
                    )
                }
            };
        }
        trial.ending(Run::Died(how))
    }
}

/// Why a worker stopped before it had run its order.
enum Stop {
    NotStarted(String),
    Died {
        how: String,
        /// The last request that it announced.
        asked: Option<String>,
    },
}

/// Runs tasks in a worker, which is started if there is none. If it dies, it is gone.
fn attempt(
    lanes: &Lanes<'_>,
    slot: &mut Option<Worker>,
    tasks: &[Task],
    announce: bool,
    mut each: impl FnMut(Ending),
) -> Result<(), Stop> {
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => Worker::start(lanes).map_err(Stop::NotStarted)?,
    };
    lanes.ready.store(true, Ordering::Relaxed);
    let order =
        Order { tasks: tasks.iter().collect(), threads: if announce { 1 } else { lanes.threads }, announce };
    let mut asked = None;
    // If the worker has died, so that the order cannot be sent, there is no message either.
    let _ = channel::order(&mut worker.orders, &order);
    let mut left = tasks.len();
    while left > 0 {
        match worker.next(lanes.pool, lanes.pool.time_limit) {
            Ok(Message::Ended(ending)) => {
                worker.stderr.flush();
                left -= 1;
                each(ending);
            }
            Ok(Message::Asking(request)) => asked = Some(request),
            Ok(Message::Alive | Message::Ready) => {}
            Err(how) => return Err(Stop::Died { how: how + &worker.stderr.take(), asked }),
        }
    }
    *slot = Some(worker);
    Ok(())
}

/// A process that runs tests.
struct Worker {
    child: Child,
    orders: Box<dyn Write + Send>,
    messages: mpsc::Receiver<Message>,
    stderr: Stderr,
}

impl Worker {
    /// Starts a process, and waits until it can take an order.
    ///
    /// # Errors
    /// The reason, as part of a sentence.
    fn start(lanes: &Lanes<'_>) -> Result<Worker, String> {
        let Pool { program, arguments, .. } = lanes.pool;
        let mut command = Command::new(program);
        command.arg(WORKER).args(arguments).stderr(Stdio::piped());
        let failed = |error| format!("cannot start a process for the tests ({error})");
        let Started { mut child, orders, messages: stream } = channel::start(&mut command).map_err(failed)?;
        let stderr = child.stderr.take().map(Stderr::of).unwrap_or_default();
        let (sender, messages) = mpsc::channel();
        // Not joined: a process that the library started may keep the channel open.
        thread::spawn(move || channel::receive(stream, io::stdout(), |message| sender.send(message).is_ok()));
        let mut worker = Worker { child, orders, messages, stderr };
        match worker.next(lanes.pool, lanes.pool.time_limit.max(START)) {
            Ok(_) => Ok(worker),
            Err(how) => {
                let how = how + &worker.stderr.take();
                Err(format!("cannot start a process for the tests ({how})"))
            }
        }
    }

    /// The next message.
    ///
    /// # Errors
    /// The process has ended, or was killed because it exceeds a limit: what happened.
    fn next(&mut self, pool: &Pool, limit: Duration) -> Result<Message, String> {
        let began = Instant::now();
        loop {
            match self.messages.recv_timeout(TICK) {
                Ok(message) => return Ok(message),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if let Ok(Some(_)) = self.child.try_wait() {
                // The last messages may still be on their way.
                return self.messages.recv_timeout(10 * TICK).map_err(|_| self.ended());
            }
            if began.elapsed() > limit {
                self.kill();
                let seconds = limit.as_secs();
                return Err(format!(
                    "made no progress for {seconds} s (--time-limit), so its process was killed"
                ));
            }
            let resident = pool.memory_limit.zip(memory::resident(self.child.id()));
            if let Some((limit, _)) = resident.filter(|(limit, resident)| resident > limit) {
                self.kill();
                let limit = limit >> 20;
                return Err(format!(
                    "used more than {limit} MiB of memory (Tests::memory_limit), so its process was killed"
                ));
            }
        }
    }

    /// How the process ended. It has closed its channel.
    fn ended(&mut self) -> String {
        match self.wait(GRACE) {
            Some(status) => describe(status),
            None => {
                self.kill();
                "closed the connection to its parent process, and was killed".into()
            }
        }
    }

    /// Waits for the end of the process.
    fn wait(&mut self, most: Duration) -> Option<ExitStatus> {
        let began = Instant::now();
        let mut pause = Duration::from_micros(100);
        loop {
            match self.child.try_wait() {
                Ok(None) if began.elapsed() < most => thread::sleep(pause),
                Ok(status) => return status,
                Err(_) => return None,
            }
            pause = (2 * pause).min(TICK);
        }
    }

    fn kill(&mut self) {
        // Not an error: it may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends the process, which has no order.
    fn end(self) {
        let Worker { child, orders, messages, stderr } = self;
        drop(orders);
        let mut worker = Worker { child, orders: Box::new(io::sink()), messages, stderr };
        if worker.wait(GRACE).is_none() {
            worker.kill();
        }
        worker.stderr.finish();
    }
}

/// `ended with exit status 3`, `was killed by signal 11 (SIGSEGV)`.
fn describe(status: ExitStatus) -> String {
    let text = status.to_string();
    match text.strip_prefix("signal: ") {
        Some(signal) => format!("its process was killed by signal {signal}"),
        None => format!("its process ended with {} before the test did", text.replacen(": ", " ", 1)),
    }
}
