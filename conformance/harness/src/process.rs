//! A command that speaks the protocol as an implementation: starts it, sends requests, and restarts it when
//! it breaks.

use super::Options;
use super::broken::Broken;
use super::fatal::Fatal;
use super::question::Question;
use super::schedule::{Before, SizedRequest, Unanswered, Worker, ask};
use super::session::{Fault, Session};
use super::spares::Spares;
use super::start::Declared;
use broadcheck::optimiser::Optimiser;
use broadcheck_spec::{Capabilities, ErrorKind, Implementation, Inference, Outcome, Request, Signature};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The number of requests per batch: many windows, so that a process rarely waits for the next request.
const BATCH: usize = 256;

/// The number of failed starts in a row after which no further start is attempted.
const MAX_FAILED_STARTS: usize = 3;

/// The number of crashes in a row that must have been caused by the oldest unanswered request, alone in a new
/// process, before further crashes are attributed to that request without confirmation. A start of a library
/// may take longer than all its cases, so a confirmation of each crash would double the time of a run.
const CONFIRMATIONS: usize = 3;

/// A command that speaks the protocol.
///
/// Threads that send requests at the same time use separate processes. A process lives until this value is
/// dropped or until the process breaks. The case that broke it is [`Outcome::Errored`], and the run continues
/// with a new process.
pub struct Process {
    words: Vec<String>,
    options: Options,
    pub(super) declared: Declared,
    idle: Mutex<Vec<Worker>>,
    failed_starts: AtomicUsize,
    /// The number of crashes since the last one that was not caused by the oldest unanswered request.
    confirmed: AtomicUsize,
    /// The maximum number of requests in a message, after what earlier batches did.
    most_together: AtomicUsize,
    spares: Spares,
    pub(super) fatal_runs: Fatal<Request>,
    pub(super) fatal_signatures: Fatal<Signature>,
}

/// Starts a command, without a shell but split into words as in a shell, and reads its answer to `start`.
///
/// # Errors
/// A quote in the command is not closed, the program does not exist, the answer to `start` is missing or
/// invalid, or the process speaks another version of the protocol.
pub fn open(command: &str, options: Options) -> Result<Process, String> {
    let words = super::words(command)?;
    let (session, declared) = Session::open(&words, &options)?;
    let idle = Mutex::new(vec![Worker {
        session,
        window: declared.window,
        batch: options.batch(&declared),
        first_alone: false,
    }]);
    Ok(Process {
        words,
        options,
        declared,
        idle,
        failed_starts: AtomicUsize::new(0),
        confirmed: AtomicUsize::new(0),
        most_together: AtomicUsize::new(usize::MAX),
        spares: Spares::default(),
        fatal_runs: Fatal::default(),
        fatal_signatures: Fatal::default(),
    })
}

impl Process {
    /// The position of its optimiser, if it has a switch for that.
    pub fn optimiser(&self) -> Option<Optimiser> {
        self.declared.optimiser
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle process, or a new one.
    fn take(&self, options: &Options) -> Result<Worker, Fault> {
        while let Some(mut worker) = { self.idle().pop() } {
            if !worker.session.is_gone() {
                return Ok(worker);
            }
        }
        self.fresh(options)
    }

    fn fresh(&self, options: &Options) -> Result<Worker, Fault> {
        let not_started = |why: String| Err(Fault::Broken(ErrorKind::NotStarted, why));
        if options.interrupted() {
            return Err(Fault::Interrupted);
        }
        if self.failed_starts.load(Ordering::Relaxed) >= MAX_FAILED_STARTS {
            return not_started(format!("not started again after {MAX_FAILED_STARTS} failed starts"));
        }
        let spare = self.spares.take(&self.words, options);
        match spare.map_or_else(|| self.start(options), Ok) {
            Ok((session, declared)) => {
                self.failed_starts.store(0, Ordering::Relaxed);
                Ok(Worker {
                    session,
                    window: declared.window,
                    batch: options.batch(&declared),
                    first_alone: true,
                })
            }
            Err(_) if options.interrupted() => Err(Fault::Interrupted),
            Err(message) => {
                self.failed_starts.fetch_add(1, Ordering::Relaxed);
                not_started(format!("it could not be started again: {message}"))
            }
        }
    }

    /// Starts a process, and the spares at the same time.
    fn start(&self, options: &Options) -> Result<(Session, Declared), String> {
        let starting = Session::begin(&self.words, options.optimiser)?;
        self.spares.refill(&self.words, options.optimiser);
        starting.finish(options)
    }

    /// Handles a process that broke: decides which request caused it. Unanswered requests that are not the
    /// cause return to the front of the queue, unless the search for the cause answered them.
    fn settle<Q: Question>(
        &self,
        sized: &[SizedRequest<'_, Q>],
        broken: Unanswered,
        queue: &mut VecDeque<usize>,
        options: &Options,
        outcomes: &mut [Option<Outcome<Q::Answer>>],
    ) {
        let Unanswered { places, before, fault, .. } = broken;
        let mut unanswered = VecDeque::from(places);
        self.spares.count_break();
        match fault {
            Fault::Interrupted => {
                for place in unanswered.drain(..).chain(queue.drain(..)) {
                    outcomes[place] = Some(Fault::Interrupted.outcome());
                }
            }
            // Skipped for the only request of a process: it was alone already.
            Fault::Crashed(how)
                if (unanswered.len() > 1 || before != Before::Nothing) && !self.answers_in_order() =>
            {
                let oldest = unanswered[0];
                let ending = ending(unanswered.len(), before, &how);
                self.find_cause(sized, &mut unanswered, ending, options, outcomes);
                self.count_cause(matches!(
                    outcomes[oldest],
                    Some(Outcome::Errored { kind: ErrorKind::Crashed, .. })
                ));
            }
            fault @ (Fault::Crashed(_) | Fault::Broken(..)) => {
                let oldest = unanswered.pop_front().expect("a request is unanswered");
                self.end(sized, oldest, fault.outcome(), 1, outcomes);
            }
        }
        unanswered.into_iter().rev().for_each(|place| queue.push_front(place));
    }

    /// Stores the outcome of a request that ended a process, this many times.
    fn end<Q: Question>(
        &self,
        sized: &[SizedRequest<'_, Q>],
        place: usize,
        outcome: Outcome<Q::Answer>,
        times: usize,
        outcomes: &mut [Option<Outcome<Q::Answer>>],
    ) {
        Q::fatal(self).record(sized[place].request, &outcome, times);
        outcomes[place] = Some(outcome);
    }

    /// Takes the requests out of the queue that are not to be sent again.
    fn drop_fatal<Q: Question>(
        &self,
        sized: &[SizedRequest<'_, Q>],
        queue: &mut VecDeque<usize>,
        outcomes: &mut [Option<Outcome<Q::Answer>>],
    ) {
        queue.retain(|&place| {
            let known = Q::fatal(self).outcome(sized[place].request);
            let send = known.is_none();
            if !send {
                outcomes[place] = known;
            }
            send
        });
    }

    /// Whether the last crashes were each caused by the oldest unanswered request, as in a harness that
    /// answers one request after the other.
    fn answers_in_order(&self) -> bool {
        self.confirmed.load(Ordering::Relaxed) >= CONFIRMATIONS
    }

    /// Records whether the oldest unanswered request was found to be the cause of a crash.
    fn count_cause(&self, oldest: bool) {
        if oldest {
            self.confirmed.fetch_add(1, Ordering::Relaxed);
        } else {
            self.confirmed.store(0, Ordering::Relaxed);
        }
    }

    /// Finds the request that made a process crash. The suspects are the requests that it had not answered,
    /// oldest first; `ending` describes how it ended.
    ///
    /// The suspects are sent to a new process one at a time, until one ends it. Usually that is the first
    /// one, because a harness answers in order. A suspect that ends a process which had answered others is
    /// sent to another new process, because the earlier requests may be the cause. So finding one cause takes
    /// one or two new processes. Suspects that were not sent remain in the queue.
    ///
    /// If a suspect crashes as the first request of a process, it is the cause. Otherwise the crash is
    /// reported as not reproduced, for the suspect that ended the second process or, if none did, for the
    /// oldest one.
    fn find_cause<Q: Question>(
        &self,
        sized: &[SizedRequest<'_, Q>],
        suspects: &mut VecDeque<usize>,
        mut ending: String,
        options: &Options,
        outcomes: &mut [Option<Outcome<Q::Answer>>],
    ) {
        let oldest = suspects[0];
        let mut accused = oldest;
        let mut worker = None;
        while let Some(&place) = suspects.front() {
            match self.ask_one(&mut worker, sized, place, options, outcomes) {
                // It ended the second process, but not the third.
                Ok(()) if place == accused && accused != oldest => {
                    suspects.pop_front();
                    break;
                }
                Ok(()) => {}
                // The next attempt to take a process stops the run.
                Err((_, Fault::Interrupted)) => return,
                Err((Before::Nothing, fault @ Fault::Crashed(_))) => {
                    // The first time was the crash whose cause is sought.
                    self.end(sized, place, fault.outcome(), 2, outcomes);
                    suspects.pop_front();
                    return;
                }
                Err((before, Fault::Crashed(how))) => {
                    accused = place;
                    ending = self::ending(1, before, &how);
                    continue;
                }
                // Otherwise the message would not mention how the process ended.
                Err((_, Fault::Broken(kind @ ErrorKind::NotStarted, why))) if place == accused => {
                    outcomes[place] = Some(Outcome::errored(kind, format!("{ending}\n{why}")));
                }
                Err((_, fault @ Fault::Broken(..))) => outcomes[place] = Some(fault.outcome()),
            }
            suspects.pop_front();
        }
        self.idle().extend(worker);
        if !matches!(outcomes[accused], Some(Outcome::Errored { .. })) {
            let message = format!("not reproduced alone: {ending}");
            outcomes[accused] = Some(Outcome::errored(ErrorKind::NotReproduced, message));
        }
    }

    /// Sends one request to a process, or to a new one if there is none. A process that breaks is dropped;
    /// the error contains what it had answered before.
    fn ask_one<Q: Question>(
        &self,
        worker: &mut Option<Worker>,
        sized: &[SizedRequest<'_, Q>],
        place: usize,
        options: &Options,
        outcomes: &mut [Option<Outcome<Q::Answer>>],
    ) -> Result<(), (Before, Fault)> {
        let mut asked = match worker.take() {
            Some(worker) => worker,
            None => self.fresh(options).map_err(|fault| (Before::Nothing, fault))?,
        };
        let mut queue = VecDeque::from([place]);
        ask(&mut asked, sized, &mut queue, options, outcomes)
            .map_err(|Unanswered { before, fault, .. }| (before, fault))?;
        *worker = Some(asked);
        Ok(())
    }

    /// Sends the questions that the process can answer, within these limits. The outcomes are in their order.
    fn ask_all<Q: Question>(&self, questions: &[&Q], options: &Options) -> Vec<Outcome<Q::Answer>> {
        let mut sized = Vec::with_capacity(questions.len());
        let mut outcomes: Vec<Option<Outcome<Q::Answer>>> = vec![None; questions.len()];
        let mut queue = VecDeque::new();
        for (place, &request) in questions.iter().enumerate() {
            match request.elements(self) {
                Ok(elements) => {
                    sized.push(SizedRequest { request, elements, together: Cell::new(usize::MAX) });
                    queue.push_back(place);
                }
                Err(reason) => {
                    sized.push(SizedRequest { request, elements: 0, together: Cell::new(1) });
                    outcomes[place] = Some(Outcome::Skipped { reason });
                }
            }
        }
        let mut batches = Broken::default();
        let _user = self.spares.enter();
        loop {
            self.drop_fatal(&sized, &mut queue, &mut outcomes);
            let Some(&oldest) = queue.front() else { break };
            let mut worker = match self.take(options) {
                Ok(worker) => worker,
                Err(fault) => {
                    outcomes[oldest] = Some(fault.outcome());
                    queue.pop_front();
                    continue;
                }
            };
            worker.batch = worker.batch.min(self.most_together.load(Ordering::Relaxed));
            match ask(&mut worker, &sized, &mut queue, options, &mut outcomes) {
                Ok(()) => self.idle().push(worker),
                Err(broken) => {
                    drop(worker);
                    if broken.together && broken.fault != Fault::Interrupted {
                        self.spares.count_break();
                        batches.record(&sized, &broken);
                        broken.places.into_iter().rev().for_each(|place| queue.push_front(place));
                        continue;
                    }
                    self.settle(&sized, broken, &mut queue, options, &mut outcomes);
                }
            }
        }
        batches.settle(&mut outcomes, &self.most_together);
        let missed = || Outcome::errored(ErrorKind::NotStarted, "the request was never sent");
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missed)).collect()
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
        self.ask_all(requests, &self.options)
    }

    fn run_many_until(&self, requests: &[&Request], deadline: Instant) -> Vec<Outcome> {
        self.ask_all(requests, &Options { deadline: Some(deadline), ..self.options })
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.infer_many(&[signature]).swap_remove(0)
    }

    fn infer_many(&self, signatures: &[&Signature]) -> Vec<Outcome<Inference>> {
        self.ask_all(signatures, &self.options)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut idle: Vec<Worker> = self.idle().drain(..).collect();
        if self.options.interrupted() {
            return;
        }
        idle.iter_mut().for_each(|worker| worker.session.send_stop());
        // They have answered nothing, so nothing waits for them.
        self.spares.send_stop();
        let began = Instant::now();
        for worker in &mut idle {
            worker.session.wait(self.options.stop_limit.saturating_sub(began.elapsed()));
        }
    }
}
