//! A command that speaks the protocol as an implementation: starts it, sends requests, and restarts it when
//! it breaks.

use super::Options;
use super::schedule::{Before, SizedRequest, Unanswered, ask};
use super::session::{Fault, Session};
use super::start::Declared;
use broadcheck_judge::limits::answer_elements;
use broadcheck_spec::{Capabilities, ErrorKind, Implementation, Outcome, Request};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The number of requests per batch: many windows, so that a process rarely waits for the next request.
const BATCH: usize = 256;

/// The number of failed starts in a row after which no further start is attempted.
const MAX_FAILED_STARTS: usize = 3;

/// A command that speaks the protocol.
///
/// Threads that send requests at the same time use separate processes. A process lives until this value is
/// dropped or until the process breaks. The case that broke it is [`Outcome::Errored`], and the run continues
/// with a new process.
pub struct Process {
    words: Vec<String>,
    options: Options,
    declared: Declared,
    idle: Mutex<Vec<Idle>>,
    failed_starts: AtomicUsize,
}

/// A process that waits for requests, with its window.
struct Idle {
    session: Session,
    window: usize,
}

/// Starts a command, without a shell but split into words as in a shell, and reads its answer to `start`.
///
/// # Errors
/// A quote in the command is not closed, the program does not exist, the answer to `start` is missing or
/// invalid, or the process speaks another version of the protocol.
pub fn open(command: &str, options: Options) -> Result<Process, String> {
    let words = super::words(command)?;
    let (session, declared) = Session::open(&words, &options)?;
    let idle = Mutex::new(vec![Idle { session, window: declared.window }]);
    Ok(Process { words, options, declared, idle, failed_starts: AtomicUsize::new(0) })
}

impl Process {
    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle process, or a new one.
    fn take(&self) -> Result<Idle, Fault> {
        while let Some(mut idle) = { self.idle().pop() } {
            if !idle.session.is_gone() {
                return Ok(idle);
            }
        }
        self.fresh()
    }

    fn fresh(&self) -> Result<Idle, Fault> {
        let not_started = |why: String| Err(Fault::Broken(ErrorKind::NotStarted, why));
        if self.options.interrupted() {
            return Err(Fault::Interrupted);
        }
        if self.failed_starts.load(Ordering::Relaxed) >= MAX_FAILED_STARTS {
            return not_started(format!("not started again after {MAX_FAILED_STARTS} failed starts"));
        }
        match Session::open(&self.words, &self.options) {
            Ok((session, declared)) => {
                self.failed_starts.store(0, Ordering::Relaxed);
                Ok(Idle { session, window: declared.window })
            }
            Err(_) if self.options.interrupted() => Err(Fault::Interrupted),
            Err(message) => {
                self.failed_starts.fetch_add(1, Ordering::Relaxed);
                not_started(format!("it could not be started again: {message}"))
            }
        }
    }

    /// Handles a process that broke: decides which request caused it. The others return to the front of the
    /// queue, or are run alone.
    fn settle(
        &self,
        sized: &[SizedRequest<'_>],
        broken: Unanswered,
        queue: &mut VecDeque<usize>,
        outcomes: &mut [Option<Outcome>],
    ) {
        let Unanswered { places, before, fault } = broken;
        match fault {
            Fault::Interrupted => {
                for place in places.into_iter().chain(queue.drain(..)) {
                    outcomes[place] = Some(Fault::Interrupted.outcome());
                }
            }
            // Skipped for the only request of a process: it was alone already.
            Fault::Crashed(how) if places.len() > 1 || before != Before::Nothing => {
                let ending = ending(places.len(), before, &how);
                self.run_alone(sized, &places, &ending, outcomes);
            }
            fault @ (Fault::Crashed(_) | Fault::Broken(..)) => {
                outcomes[places[0]] = Some(fault.outcome());
                places[1..].iter().rev().for_each(|&place| queue.push_front(place));
            }
        }
    }

    /// Repeats the unanswered requests of a process that crashed, each in a new process.
    fn run_alone(
        &self,
        sized: &[SizedRequest<'_>],
        places: &[usize],
        ending: &str,
        outcomes: &mut [Option<Outcome>],
    ) {
        let oldest = places[0];
        let mut crashed = false;
        for &place in places {
            let asked = match self.fresh() {
                Ok(mut idle) => {
                    let mut queue = VecDeque::from([place]);
                    ask(&mut idle.session, sized, &mut queue, 1, &self.options, outcomes)
                        .map_err(|unanswered| unanswered.fault)
                }
                Err(_) if self.options.interrupted() => Err(Fault::Interrupted),
                // Otherwise the message would not mention how the process ended.
                Err(Fault::Broken(kind, why)) if place == oldest => {
                    Err(Fault::Broken(kind, format!("{ending}\n{why}")))
                }
                Err(fault) => Err(fault),
            };
            let Err(fault) = asked else { continue };
            crashed |= matches!(fault, Fault::Crashed(_));
            outcomes[place] = Some(fault.outcome());
        }
        if !crashed && !matches!(outcomes[oldest], Some(Outcome::Errored { .. })) {
            let message = format!("not reproduced alone: {ending}");
            outcomes[oldest] = Some(Outcome::errored(ErrorKind::NotReproduced, message));
        }
    }

    /// The maximum number of elements in the answer to a request, or why the request is not sent.
    fn elements(&self, request: &Request) -> Result<usize, String> {
        let capabilities = &self.declared.capabilities;
        capabilities.covers(request)?;
        answer_elements(capabilities, request)
    }
}

/// Describes the end of a process with this number of unanswered requests.
fn ending(count: usize, before: Before, how: &str) -> String {
    let requests = if count == 1 { "request" } else { "requests" };
    let answered = match before {
        Before::Nothing => "",
        Before::Earlier => " after others were answered",
        Before::Previous if count == 1 => " after the one before it was answered",
        Before::Previous => " after the one before them was answered",
    };
    format!("with {count} {requests} unanswered{answered}, {how}")
}

impl Implementation for Process {
    fn name(&self) -> &str {
        &self.declared.name
    }

    fn version(&self) -> &str {
        &self.declared.version
    }

    fn capabilities(&self) -> &Capabilities {
        &self.declared.capabilities
    }

    fn run(&self, request: &Request) -> Outcome {
        self.run_many(&[request]).swap_remove(0)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        let mut sized = Vec::with_capacity(requests.len());
        let mut outcomes: Vec<Option<Outcome>> = vec![None; requests.len()];
        let mut queue = VecDeque::new();
        for (place, &request) in requests.iter().enumerate() {
            match self.elements(request) {
                Ok(elements) => {
                    sized.push(SizedRequest { request, elements });
                    queue.push_back(place);
                }
                Err(reason) => {
                    sized.push(SizedRequest { request, elements: 0 });
                    outcomes[place] = Some(Outcome::Skipped { reason });
                }
            }
        }
        while let Some(&oldest) = queue.front() {
            let Idle { mut session, window } = match self.take() {
                Ok(idle) => idle,
                Err(fault) => {
                    outcomes[oldest] = Some(fault.outcome());
                    queue.pop_front();
                    continue;
                }
            };
            match ask(&mut session, &sized, &mut queue, window, &self.options, &mut outcomes) {
                Ok(()) => self.idle().push(Idle { session, window }),
                Err(broken) => {
                    drop(session);
                    self.settle(&sized, broken, &mut queue, &mut outcomes);
                }
            }
        }
        let missed = || Outcome::errored(ErrorKind::NotStarted, "the request was never sent");
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missed)).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut idle: Vec<Idle> = self.idle().drain(..).collect();
        if self.options.interrupted() {
            return;
        }
        idle.iter_mut().for_each(|idle| idle.session.send_stop());
        let began = Instant::now();
        for idle in &mut idle {
            idle.session.wait(self.options.stop_limit.saturating_sub(began.elapsed()));
        }
    }
}
