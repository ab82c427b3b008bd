//! Compares two implementations on random requests, for a time or a number of requests. `broadcheck fuzz`
//! runs this.
//!
//! Request number i of a seed is always the same, whichever thread draws it, so that a seed and a number
//! identify a finding. Disagreements are classified by their signatures. The first few of each class are
//! shrunk, and those that shrink to the same request are one finding with a count.

mod asked;
mod common;
mod groups;
mod index;
mod ledger;
mod position;
mod report;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub use common::common;
pub use groups::Group;
pub use report::FuzzReport;
pub use store::{Earlier, Store};

use crate::generate::{Profile, Seeded, Statistics, request};
use crate::oracle::{Answer, Differential, Judgement, Oracle};
use crate::shrink::{Limits, Shrunk, Written, shrink};
use asked::{Asked, Oracles, around};
use broadcheck_reference::Reference;
use broadcheck_spec::{Implementation, Request};
use ledger::{Ledger, Tally};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Every nth request is sent to each side twice.
const REPEAT_EVERY: u64 = 64;

/// Every nth request is followed by neighbours: requests that differ from it in one point.
const NEIGHBOURS_EVERY: u64 = 32;

/// The number of neighbours that follow a request.
const NEIGHBOURS: usize = 3;

/// How many requests a thread takes at a time if the implementations do not ask for batches.
const CHUNK: u64 = 64;

/// How many requests are sent at a time, if the implementations ask for batches, until some have been
/// answered without a crash.
const SHORTEST_SLICE: usize = 8;

/// The settings of a run.
pub struct Campaign<'a> {
    /// The side that sets the expectation.
    pub left: &'a dyn Implementation,
    /// The side that is judged.
    pub right: &'a dyn Implementation,
    /// What to draw: no more than both sides declare ([`common`]).
    pub profile: Profile,
    /// The random seed.
    pub seed: u64,
    /// The number of requests; unlimited if `None`.
    pub requests: Option<u64>,
    /// The time limit, not counting the time spent on shrinking; unlimited if `None`.
    pub time: Option<Duration>,
    /// The number of threads.
    pub jobs: usize,
    /// Whether a side may skip requests that it declares.
    pub skips: bool,
    /// Whether to collect statistics about the requests.
    pub statistics: bool,
    /// The number of requests and the time allowed for shrinking one finding.
    pub shrinking: (usize, Duration),
    /// The time that each thread may spend on shrinking; unlimited if `None`.
    pub shrink_time: Option<Duration>,
    /// Where cases and the state of the run are written as it goes on; nowhere if `None`.
    pub store: Option<&'a Store>,
    /// The run that this one continues. The limits include what it has done.
    pub earlier: Option<&'a Earlier>,
    /// Set to end the run early. The report then covers what was done so far.
    pub stop: &'a AtomicBool,
}

impl Campaign<'_> {
    /// The oracle that judges the requests. It is limited to the dtypes that are drawn.
    pub fn oracle(&self) -> Differential<'_> {
        Differential::new(self.left, self.right).allowing_skips(self.skips).only(self.profile.dtypes())
    }
}

/// A distinct disagreement.
#[derive(Clone, Debug)]
pub struct Found {
    /// The request, and how it disagrees. Of a run that was continued, the answers are no longer known.
    pub shrunk: Shrunk,
    /// The number of the request that first found it.
    pub number: u64,
    /// How many disagreements turned out to be this one.
    pub hits: u64,
    /// Whether it is yet to be shrunk: the run was interrupted, or its time for shrinking had been used.
    pub waits: bool,
    /// The file with its case, if there is one.
    pub file: Option<Written>,
}

/// What a run reports as it goes on.
pub struct Progress {
    /// The counts so far.
    pub counts: Counts,
    /// The time spent on sending requests.
    pub elapsed: Duration,
    /// Disagreements of a new class since the last report: the number and the signature of each.
    pub news: Vec<String>,
}

/// What a run has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Requests drawn.
    pub requests: u64,
    /// Requests that both sides accept.
    pub accepted: u64,
    /// Requests that both sides refuse.
    pub refused: u64,
    /// Requests for which there was nothing to compare.
    pub vacuous: u64,
    /// Requests on which the sides differ only by a convention that one of them does not declare.
    pub conventions: u64,
    /// Requests on which the sides disagree.
    pub disagreeing: u64,
    /// Requests that were sent twice.
    pub repeated: u64,
    /// Requests that differ in one point from the one before them, sent in addition.
    pub neighbours: u64,
    /// The distinct disagreements.
    pub distinct: u64,
}

/// The request of this seed and number.
pub fn drawn(seed: u64, number: u64, profile: &Profile) -> Request {
    // Two odd factors keep the streams of neighbouring seeds and numbers apart.
    let mixed = seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    request(&mut Seeded::new(mixed), profile)
}

/// Runs a campaign. `progress` is called periodically, from the calling thread.
///
/// # Errors
/// The run that is to be continued does not belong to this campaign.
pub fn fuzz(campaign: &Campaign<'_>, progress: &mut dyn FnMut(&Progress)) -> Result<FuzzReport, String> {
    let earlier = campaign.earlier.map(|earlier| earlier.entries(campaign)).transpose()?;
    let spent = campaign.earlier.map_or(Duration::ZERO, Earlier::elapsed);
    let entries = earlier.unwrap_or_default();
    let run = Run {
        campaign,
        oracles: Oracles::of(campaign),
        began: Instant::now(),
        spent,
        shrunk_before: entries.shrinking,
        ledger: Ledger::new(campaign, entries),
        statistics: Mutex::new(Statistics::default()),
    };
    let mut saving = Saving { run: &run, last: None, error: None };
    thread::scope(|scope| {
        // A thread that the system refuses is one fewer.
        let worker = |_| thread::Builder::new().spawn_scoped(scope, || run.work()).ok();
        let workers: Vec<_> = (0..campaign.jobs.max(1)).map_while(worker).collect();
        if workers.is_empty() {
            run.work();
        }
        while workers.iter().any(|worker| !worker.is_finished()) {
            saving.save_if_due();
            thread::sleep(Duration::from_millis(if run.began.elapsed().as_secs() > 0 { 100 } else { 5 }));
            progress(&run.progress());
        }
    });
    progress(&run.progress());
    let complete = !campaign.stop.load(Ordering::Relaxed);
    saving.save(complete);
    let unsaved = saving.error;
    let elapsed = run.asking();
    let statistics = run.statistics.into_inner().ok().filter(|_| campaign.statistics);
    let entries = run.ledger.into_entries();
    Ok(FuzzReport {
        counts: Counts { distinct: entries.distinct(), ..entries.counts },
        findings: entries.findings(),
        waiting: entries.waiting(),
        only_counted: entries.only_counted,
        statistics,
        elapsed,
        shrinking: entries.shrinking,
        reasons: entries.reasons,
        complete,
        unsaved,
        unwritten: entries.unwritten,
    })
}

/// Writes the state of a run at a steady pace.
struct Saving<'a> {
    run: &'a Run<'a>,
    last: Option<Instant>,
    /// Why the state could not be written the last time.
    error: Option<String>,
}

impl Saving<'_> {
    fn save_if_due(&mut self) {
        let Some(store) = self.run.campaign.store else { return };
        if self.last.is_none_or(|last| last.elapsed() >= store.pace()) {
            self.save(false);
        }
    }

    fn save(&mut self, finished: bool) {
        let Some(store) = self.run.campaign.store else { return };
        self.last = Some(Instant::now());
        let elapsed = self.run.asking();
        let entries = self.run.ledger.entries();
        let text = store.text(self.run.campaign, &entries, elapsed, finished);
        let findings = entries.findings();
        drop(entries);
        let index = (!findings.is_empty()).then(|| index::text(self.run.campaign, &findings, finished));
        let saved = text.and_then(|text| store.save(&text));
        self.error = saved.and_then(|()| store.save_index(index)).err();
    }
}

/// What the threads of a run share.
struct Run<'a> {
    campaign: &'a Campaign<'a>,
    oracles: Oracles<'a>,
    began: Instant,
    /// The time that an earlier part of the run spent on sending requests.
    spent: Duration,
    /// The time that all threads of an earlier part spent on shrinking.
    shrunk_before: Duration,
    ledger: Ledger<'a>,
    statistics: Mutex<Statistics>,
}

impl Run<'_> {
    fn progress(&self) -> Progress {
        let news = self.ledger.news();
        let entries = self.ledger.entries();
        let counts = Counts { distinct: entries.distinct(), ..entries.counts };
        drop(entries);
        Progress { counts, elapsed: self.asking(), news }
    }

    fn stopped(&self) -> bool {
        self.campaign.stop.load(Ordering::Relaxed)
    }

    /// How long the run has been sending requests. The time that each thread spent on shrinking does not
    /// count.
    fn asking(&self) -> Duration {
        let threads = u32::try_from(self.campaign.jobs.max(1)).unwrap_or(u32::MAX);
        let shrinking = self.ledger.entries().shrinking.saturating_sub(self.shrunk_before);
        self.spent + self.began.elapsed().saturating_sub(shrinking / threads)
    }

    fn work(&self) {
        let batch = (self.oracles.differential.batch() as u64).max(CHUNK);
        let end = self.campaign.requests.unwrap_or(u64::MAX);
        // How long this thread has been shrinking.
        let mut shrinking = Duration::ZERO;
        self.shrink_waiting(&mut shrinking);
        loop {
            let deadline = self.deadline(shrinking);
            if self.stopped() || is_over(deadline) {
                return;
            }
            let taken = self.ledger.entries().positions.take(batch, end);
            let Some(taken) = taken else { return };
            let one_by_one = self.oracles.differential.batch() <= 1;
            let judge = if one_by_one { Run::judge_one_by_one } else { Run::judge_batch };
            if let Some((tally, judged)) = judge(self, taken, deadline) {
                self.ledger.add_batch(tally, judged);
            }
            self.shrink_waiting(&mut shrinking);
        }
    }

    /// When a thread sends its last request, if it has been shrinking for this time.
    fn deadline(&self, shrinking: Duration) -> Option<Instant> {
        let left = self.campaign.time?.saturating_sub(self.spent);
        self.began.checked_add(left)?.checked_add(shrinking)
    }

    /// Shrinks the disagreements that wait for it, as long as this thread has time for shrinking.
    fn shrink_waiting(&self, shrinking: &mut Duration) {
        let (steps, longest) = self.campaign.shrinking;
        loop {
            let left = self.campaign.shrink_time.map_or(Duration::MAX, |all| all.saturating_sub(*shrinking));
            if left.is_zero() || self.stopped() {
                return;
            }
            let Some((place, asked, found)) = self.ledger.take_waiting() else { return };
            let limits = Limits { steps, time: longest.min(left), stop: Some(self.campaign.stop) };
            let began = Instant::now();
            let shrunk = self.oracles.with(asked, |request, oracle| {
                let mut shrunk = shrink(oracle, request, found, &limits);
                if shrunk.reproduced()
                    && let Some(condition) = oracle.condition(&shrunk.request)
                {
                    shrunk.disagreement.detail += &format!("\n{condition}");
                }
                shrunk
            });
            let took = began.elapsed();
            *shrinking += took;
            let Some(shrunk) = shrunk else { return };
            let out_of_time = left < longest && took >= left;
            let cut_short = !shrunk.minimal && (self.stopped() || out_of_time);
            self.ledger.shrunk(place, shrunk, cut_short, took);
        }
    }

    /// Judges requests until a deadline, and returns what to count and which requests were judged.
    #[allow(clippy::unnecessary_wraps, reason = "the signature of judge_batch")]
    fn judge_one_by_one(&self, range: Range<u64>, deadline: Option<Instant>) -> Option<(Tally, Range<u64>)> {
        let mut tally = Tally::default();
        for number in range.clone() {
            let request = self.drawn(number);
            let oracles = &self.oracles;
            self.count(Asked::itself(number), &request, oracles.differential.judge(&request), &mut tally);
            self.judge_neighbours(number, &request, deadline, &mut tally);
            if number % REPEAT_EVERY == 0 && !is_over(deadline) {
                for (side, oracle) in oracles.again.iter().enumerate() {
                    self.count_again(
                        Asked::again(number, side),
                        &request,
                        oracle.judge(&request),
                        &mut tally,
                    );
                }
            }
            self.note(&request);
            if self.stopped() || is_over(deadline) {
                return Some((tally, range.start..number + 1));
            }
        }
        Some((tally, range))
    }

    /// Judges requests together until a deadline. After it, the requests that are answered count, without
    /// their neighbours and repetitions. If the run is interrupted meanwhile, none counts.
    fn judge_batch(&self, range: Range<u64>, deadline: Option<Instant>) -> Option<(Tally, Range<u64>)> {
        let mut tally = Tally::default();
        let mut requests: Vec<(u64, Request)> =
            range.clone().map(|number| (number, self.drawn(number))).collect();
        let judged = self.judge_slices(&requests, deadline, &mut tally);
        requests.truncate(judged);
        for (number, request) in &requests {
            self.judge_neighbours(*number, request, deadline, &mut tally);
        }
        let some: Vec<&(u64, Request)> =
            requests.iter().filter(|(number, _)| number % REPEAT_EVERY == 0).collect();
        let asked: Vec<&Request> = some.iter().map(|(_, request)| request).collect();
        for (side, oracle) in self.oracles.again.iter().enumerate() {
            for ((number, request), judgement) in some.iter().zip(oracle.judge_until(&asked, deadline)) {
                self.count_again(Asked::again(*number, side), request, judgement, &mut tally);
            }
        }
        if self.stopped() {
            return None;
        }
        requests.iter().for_each(|(_, request)| self.note(request));
        Some((tally, range.start..range.start + judged as u64))
    }

    /// Judges a batch in slices, and returns how many of its requests were judged before the deadline.
    ///
    /// A slice after one that ended a process is short, so that disagreements are on disk soon also if each
    /// of them takes a new process. Slices depend on answers and not on time: a crash is described by what
    /// was answered before it, which must not differ between runs.
    fn judge_slices(
        &self,
        requests: &[(u64, Request)],
        deadline: Option<Instant>,
        tally: &mut Tally,
    ) -> usize {
        let (mut done, mut size) = (0, SHORTEST_SLICE);
        while done < requests.len() && !self.stopped() {
            let slice = &requests[done..requests.len().min(done + size)];
            let asked: Vec<&Request> = slice.iter().map(|(_, request)| request).collect();
            let judged = self.oracles.differential.judge_until(&asked, deadline);
            let (count, mut broke) = (judged.len(), false);
            for ((number, request), judgement) in slice.iter().zip(judged) {
                broke |= judgement.is_breakage();
                self.count(Asked::itself(*number), request, judgement, tally);
            }
            done += count;
            if count < slice.len() {
                break;
            }
            size = if broke { SHORTEST_SLICE } else { size * 2 };
        }
        done
    }

    fn drawn(&self, number: u64) -> Request {
        drawn(self.campaign.seed, number, &self.campaign.profile)
    }

    fn count(&self, asked: Asked, request: &Request, judged: Judgement, tally: &mut Tally) {
        let counts = &mut tally.counts;
        counts.requests += 1;
        match judged {
            Judgement::Agreed(Answer::Accepted) => counts.accepted += 1,
            Judgement::Agreed(Answer::Refused) => counts.refused += 1,
            Judgement::Vacuous(reason) => {
                counts.vacuous += 1;
                tally.add_reason(&reason);
            }
            Judgement::Convention(_) => counts.conventions += 1,
            Judgement::Disagreement(found) => {
                counts.disagreeing += 1;
                self.ledger.add(asked, request, *found, tally);
            }
        }
    }

    /// Asks a request and its neighbours in turn, if it is the request's turn.
    fn judge_neighbours(&self, number: u64, request: &Request, deadline: Option<Instant>, tally: &mut Tally) {
        if !number.is_multiple_of(NEIGHBOURS_EVERY) || is_over(deadline) {
            return;
        }
        let around = around(request);
        let asked: Vec<&Request> = around.iter().collect();
        let judged = self.oracles.differential.judge_until(&asked, deadline);
        tally.counts.neighbours += judged.len() as u64 / 2;
        for (place, judgement) in judged.into_iter().enumerate() {
            if let Some(found) = judgement.disagreement() {
                self.ledger.add(Asked::around(number, place), asked[place], found, tally);
            }
        }
    }

    fn count_again(&self, asked: Asked, request: &Request, judged: Judgement, tally: &mut Tally) {
        tally.counts.repeated += 1;
        if let Some(found) = judged.disagreement() {
            self.ledger.add(asked, request, found, tally);
        }
    }

    /// Counts what was drawn. The reference computes the outcome again, because the sides' outcomes are gone.
    fn note(&self, request: &Request) {
        if self.campaign.statistics {
            let outcome = broadcheck::run::run_caught(&Reference, request);
            let mut statistics = self.statistics.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            statistics.add(request, &outcome);
        }
    }
}

/// Whether the time is over.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}
