//! A command that speaks the protocol, as an implementation: started, asked, ended and started again.

use super::Options;
use super::limits::elements;
use super::schedule::{Before, Question, Unanswered, ask};
use super::session::{Fault, Session};
use super::start::Declared;
use broadcheck_spec::{Capabilities, ErrorKind, Implementation, Outcome, Request};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many requests are handed over at a time: many windows, so that few of them run dry.
const BATCH: usize = 256;

/// After how many starts in a row that failed no further one is tried.
const MAX_FAILED_STARTS: usize = 3;

/// A command that speaks the protocol.
///
/// Each thread that asks at the same time as another gets a process of its own, which lives until this is
/// dropped or until it breaks. A case in which it breaks is [`Outcome::Errored`], and the run goes on with
/// another process.
pub struct Process {
    words: Vec<String>,
    options: Options,
    declared: Declared,
    idle: Mutex<Vec<Idle>>,
    failed_starts: AtomicUsize,
}

/// A process that waits to be asked, with its window.
struct Idle {
    session: Session,
    window: usize,
}

/// Starts a command, split into words as a shell would and run without one, and asks what it does.
///
/// # Errors
/// Why it cannot be used: the command has no end to a quote, the program is not there, the answer to `start`
/// does not come or is not valid, the version of the protocol is another.
pub fn open(command: &str, options: Options) -> Result<Process, String> {
    let words = super::words(command)?;
    let (session, declared) = Session::open(&words, &options)?;
    let idle = Mutex::new(vec![Idle { session, window: declared.window }]);
    Ok(Process { words, options, declared, idle, failed_starts: AtomicUsize::new(0) })
}

impl Process {
    /// The language in which the harness is written, where it says so.
    pub fn language(&self) -> Option<&str> {
        self.declared.language.as_deref()
    }

    /// How many requests it is sent before it answers the first.
    pub fn window(&self) -> usize {
        self.declared.window
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process that waits, or a fresh one.
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
            return not_started(format!("not tried again after {MAX_FAILED_STARTS} starts that failed"));
        }
        match Session::open(&self.words, &self.options) {
            Ok((session, declared)) => {
                self.failed_starts.store(0, Ordering::Relaxed);
                Ok(Idle { session, window: declared.window })
            }
            Err(message) => {
                self.failed_starts.fetch_add(1, Ordering::Relaxed);
                not_started(format!("it could not be started again: {message}"))
            }
        }
    }

    /// After a process broke: decides whose fault it was. The others go back to the front of the queue, or were
    /// run alone.
    fn settle(
        &self,
        questions: &[Question<'_>],
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
            // The only request of a process was alone already.
            Fault::Crashed(how) if places.len() > 1 || before != Before::Nothing => {
                let ending = ending(places.len(), before, &how);
                self.run_alone(questions, &places, &ending, outcomes);
            }
            fault @ (Fault::Crashed(_) | Fault::Broken(..)) => {
                outcomes[places[0]] = Some(fault.outcome());
                places[1..].iter().rev().for_each(|&place| queue.push_front(place));
            }
        }
    }

    /// Runs again what was unanswered when a process ended like this, each in a fresh process.
    fn run_alone(
        &self,
        questions: &[Question<'_>],
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
                    ask(&mut idle.session, questions, &mut queue, 1, &self.options, outcomes)
                        .map_err(|unanswered| unanswered.fault)
                }
                Err(_) if self.options.interrupted() => Err(Fault::Interrupted),
                // Otherwise nothing would report how the process ended.
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

    /// How many elements the answer to a request may hold; why it is not sent, where it is not.
    fn elements(&self, request: &Request) -> Result<usize, String> {
        let capabilities = &self.declared.capabilities;
        capabilities.covers(request)?;
        elements(request, capabilities.max_rank, capabilities.max_elements)
    }
}

/// How a process ended with so many requests unanswered.
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
        let mut questions = Vec::with_capacity(requests.len());
        let mut outcomes: Vec<Option<Outcome>> = vec![None; requests.len()];
        let mut queue = VecDeque::new();
        for (place, &request) in requests.iter().enumerate() {
            match self.elements(request) {
                Ok(elements) => {
                    questions.push(Question { request, elements });
                    queue.push_back(place);
                }
                Err(reason) => {
                    questions.push(Question { request, elements: 0 });
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
            match ask(&mut session, &questions, &mut queue, window, &self.options, &mut outcomes) {
                Ok(()) => self.idle().push(Idle { session, window }),
                Err(broken) => {
                    drop(session);
                    self.settle(&questions, broken, &mut queue, &mut outcomes);
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
        idle.iter_mut().for_each(|idle| idle.session.say_stop());
        let began = Instant::now();
        for idle in &mut idle {
            idle.session.wait(self.options.stop_limit.saturating_sub(began.elapsed()));
        }
    }
}
