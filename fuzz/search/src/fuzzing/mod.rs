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
mod rewrites;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub use common::common;
pub use groups::Group;
pub use report::FuzzReport;
pub use store::{Earlier, Store};

use crate::generate::{Profile, Rewrites, Seeded, Signatures, Statistics, request, signature};
use crate::inference::{Accepted, Both, Relation, Verdict};
use crate::oracle::{Answer, Differential, Disagreement, Judgement, Oracle, Signature as Class, form_named};
use crate::shrink::{Limits, Shrunk, Sides, Written, shrink, shrink_signature};
use asked::{Asked, Drawn, Oracles, around};
use broadcheck_reference::Reference;
use broadcheck_spec::json::Question;
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

/// After every nth request, one side that builds ahead is asked a session with declared shapes.
const DECLARED_EVERY: u64 = 32;

/// In one of so many sessions, the left side is asked instead of the right one.
const DECLARED_LEFT: u64 = 4;

/// After every nth request, both sides are asked what they infer from a signature.
const SIGNATURE_EVERY: u64 = 8;

/// The most runs of a signature that are tried. Most signatures have fewer.
const RUNS: usize = 6_000;

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
    /// Whether an inference that is wider than exact is a disagreement for every implementation.
    pub exact: bool,
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

    /// What judges what is inferred.
    fn inference_oracle(&self) -> Both<'_> {
        Both::new(self.left, self.right).exactly(self.exact).allowing_skips(self.skips)
    }

    /// How the sides disagree on what is inferred from a signature, as it is and shrunk. Nothing if they do
    /// not, or not in a way that is wanted.
    pub fn inferred(
        &self,
        signature: &broadcheck_spec::Signature,
        wanted: &dyn Fn(&Class) -> bool,
        limits: &Limits<'_>,
    ) -> Vec<Class> {
        let oracle = self.inference_oracle();
        match oracle.judge(signature, &mut Relation::trying(RUNS)) {
            Verdict::Disagreement(found) if wanted(&found.signature) => {
                let class = found.signature.clone();
                let shrunk = shrink_signature(&oracle, signature.clone(), *found, limits);
                vec![class, shrunk.disagreement.signature]
            }
            Verdict::Disagreement(_) | Verdict::Agreed { .. } | Verdict::Vacuous(_) | Verdict::Convention => {
                Vec::new()
            }
        }
    }

    /// The sides that a disagreement is about, as its case describes them.
    pub fn sides(&self, found: &Shrunk<Question>, number: u64) -> Sides {
        let found_by = format!("broadcheck fuzz, seed {}, {} {number}", self.seed, noun(&found.request));
        let oracle = &found.disagreement.signature.oracle;
        if let Some((side, form)) = [self.right, self.left]
            .into_iter()
            .find_map(|side| Some((side, form_named(oracle, side.name())?)))
        {
            return Sides::of_rewritten(side, form.words, found_by);
        }
        let of_declared = |side: &&dyn Implementation| oracle.strip_prefix("declared-") == Some(side.name());
        match [self.right, self.left].into_iter().find(of_declared) {
            Some(side) => Sides::of_declared(side, found_by),
            None => Sides::of(self.left, self.right, found_by),
        }
    }
}

/// A distinct disagreement.
#[derive(Clone, Debug)]
pub struct Found {
    /// The request or signature, and how it disagrees. Of a run that was continued, the answers are no longer
    /// known.
    pub shrunk: Shrunk<Question>,
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
    /// Requests that were sent with declared shapes, in addition.
    pub declared: u64,
    /// Requests that one side was asked in another form, in addition.
    pub rewritten: u64,
    /// What was inferred before the run, in addition.
    pub inferred: InferredCounts,
    /// The distinct disagreements.
    pub distinct: u64,
}

/// What a run has counted of signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InferredCounts {
    /// Signatures drawn.
    pub signatures: u64,
    /// Those of which all runs are accepted.
    pub always: u64,
    /// Those of which some runs are accepted.
    pub depends: u64,
    /// Those of which no run is accepted.
    pub refused: u64,
    /// Those to which an answer is wider than exact, and no disagreement. They are counted above, too.
    pub wider: u64,
    /// Those for which there was nothing to compare.
    pub vacuous: u64,
    /// Those on which an answer differs only by a convention that its side does not declare.
    pub conventions: u64,
    /// Those on which the sides disagree with each other, or with the runs.
    pub disagreeing: u64,
}

/// What a question is called in reports.
fn noun(question: &Question) -> &'static str {
    match question {
        Question::Run(_) => "request",
        Question::Infer(_) => "signature",
    }
}

/// The request of this seed and number.
pub fn drawn(seed: u64, number: u64, profile: &Profile) -> Request {
    let drawn = request(&mut Seeded::new(mixed(seed, number)), profile);
    // Numbers that another turn goes by have every mode, too.
    profile.given(drawn, mixed(seed, number) >> 32)
}

/// The signature of this seed and number, if the profile has any.
pub fn drawn_signature(seed: u64, number: u64, profile: &Profile) -> Option<broadcheck_spec::Signature> {
    // Its choices have nothing to do with those of the request.
    signature(&mut Seeded::new(!mixed(seed, number)), profile)
}

/// Two odd factors keep the streams of neighbouring seeds and numbers apart.
fn mixed(seed: u64, number: u64) -> u64 {
    seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
        let mut relation = Relation::trying(RUNS);
        self.shrink_waiting(&mut shrinking);
        loop {
            let deadline = self.deadline(shrinking);
            if self.stopped() || is_over(deadline) {
                return;
            }
            let taken = self.ledger.entries().positions.take(batch, end);
            let Some(taken) = taken else { return };
            let judge = match self.campaign.profile.signatures() {
                _ if self.campaign.profile.rewrites() == Rewrites::Only => Run::judge_only_rewrites,
                Signatures::Only => Run::judge_signatures,
                Signatures::Never | Signatures::Some if self.oracles.differential.batch() <= 1 => {
                    Run::judge_one_by_one
                }
                Signatures::Never | Signatures::Some => Run::judge_batch,
            };
            if let Some((tally, judged)) = judge(self, taken, deadline, &mut relation) {
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
            let shrunk = self.oracles.with(asked, |drawn| match drawn {
                Drawn::Request(request, oracle) => shrunk(oracle, request, found, &limits),
                Drawn::Signature(signature, _) => {
                    shrink_signature(&self.oracles.inference, signature, found, &limits).map(Question::Infer)
                }
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
    fn judge_one_by_one(
        &self,
        range: Range<u64>,
        deadline: Option<Instant>,
        relation: &mut Relation,
    ) -> Option<(Tally, Range<u64>)> {
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
            self.judge_declared(number, &request, deadline, &mut tally);
            self.judge_rewrites(&[(number, &request)], deadline, &mut tally);
            self.judge_signature(number, deadline, relation, &mut tally);
            self.note(&request);
            if self.stopped() || is_over(deadline) {
                return Some((tally, range.start..number + 1));
            }
        }
        Some((tally, range))
    }

    /// Judges signatures until a deadline, in place of requests.
    #[allow(clippy::unnecessary_wraps, reason = "the signature of judge_batch")]
    fn judge_signatures(
        &self,
        range: Range<u64>,
        deadline: Option<Instant>,
        relation: &mut Relation,
    ) -> Option<(Tally, Range<u64>)> {
        let mut tally = Tally::default();
        for number in range.clone() {
            self.infer(number, relation, &mut tally);
            if self.stopped() || is_over(deadline) {
                return Some((tally, range.start..number + 1));
            }
        }
        Some((tally, range))
    }

    /// Asks one side a session with declared shapes, if it is the request's turn.
    fn judge_declared(&self, number: u64, request: &Request, deadline: Option<Instant>, tally: &mut Tally) {
        let Campaign { left, right, .. } = self.campaign;
        if !number.is_multiple_of(DECLARED_EVERY) || is_over(deadline) {
            return;
        }
        let turn = number / DECLARED_EVERY;
        let left_has_turn = turn % DECLARED_LEFT == DECLARED_LEFT - 1;
        let side = match (left.capabilities().declared, right.capabilities().declared) {
            (false, false) => return,
            (true, true) => usize::from(left_has_turn),
            (left, _) => usize::from(left),
        };
        let judged = self.oracles.declared(number, side, 0).judge_session(request, deadline);
        for (step, judgement) in judged.into_iter().enumerate() {
            let Some(judgement) = judgement else { continue };
            tally.counts.declared += 1;
            if let Some(found) = judgement.disagreement() {
                let written = self.oracles.declared(number, side, step).written(request);
                self.ledger.add(Asked::declared(number, side, step), Question::Run(written), found, tally);
            }
        }
    }

    /// Asks both sides what they infer from a signature, if it is the number's turn.
    fn judge_signature(
        &self,
        number: u64,
        deadline: Option<Instant>,
        relation: &mut Relation,
        tally: &mut Tally,
    ) {
        let is_turn = number % SIGNATURE_EVERY == SIGNATURE_EVERY - 1;
        if is_turn && self.campaign.profile.signatures() == Signatures::Some && !is_over(deadline) {
            self.infer(number, relation, tally);
        }
    }

    fn infer(&self, number: u64, relation: &mut Relation, tally: &mut Tally) {
        let Campaign { seed, profile, .. } = self.campaign;
        let counts = &mut tally.counts.inferred;
        let Some(signature) = drawn_signature(*seed, number, profile) else { return };
        counts.signatures += 1;
        match self.oracles.inference.judge(&signature, relation) {
            Verdict::Agreed { accepted, wider } => {
                counts.wider += u64::from(wider);
                match accepted {
                    Accepted::All => counts.always += 1,
                    Accepted::Some => counts.depends += 1,
                    Accepted::None => counts.refused += 1,
                }
            }
            Verdict::Vacuous(reason) => {
                counts.vacuous += 1;
                tally.add_reason(&reason);
            }
            Verdict::Convention => counts.conventions += 1,
            Verdict::Disagreement(found) => {
                counts.disagreeing += 1;
                let names = self.oracles.inference.names();
                let oracle = names.iter().position(|name| *name == found.signature.oracle).unwrap_or(0);
                let asked = Asked::signature(number, oracle);
                self.ledger.add(asked, Question::Infer(signature), *found, tally);
            }
        }
    }

    /// Judges requests together until a deadline. After it, the requests that are answered count, without
    /// their neighbours and repetitions. If the run is interrupted meanwhile, none counts.
    fn judge_batch(
        &self,
        range: Range<u64>,
        deadline: Option<Instant>,
        relation: &mut Relation,
    ) -> Option<(Tally, Range<u64>)> {
        let mut tally = Tally::default();
        let mut requests: Vec<(u64, Request)> =
            range.clone().map(|number| (number, self.drawn(number))).collect();
        let judged = self.judge_slices(&requests, deadline, &mut tally);
        requests.truncate(judged);
        for (number, request) in &requests {
            self.judge_neighbours(*number, request, deadline, &mut tally);
            self.judge_declared(*number, request, deadline, &mut tally);
            self.judge_signature(*number, deadline, relation, &mut tally);
        }
        let all: Vec<(u64, &Request)> = requests.iter().map(|(number, request)| (*number, request)).collect();
        self.judge_rewrites(&all, deadline, &mut tally);
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
                self.ledger.add(asked, Question::Run(request.clone()), *found, tally);
            }
        }
    }

    /// Asks a request and its neighbours in turn, if it is the request's turn or requests are asked again.
    fn judge_neighbours(&self, number: u64, request: &Request, deadline: Option<Instant>, tally: &mut Tally) {
        let around = around(request, number, &self.campaign.profile);
        if around.is_empty() || is_over(deadline) {
            return;
        }
        let asked: Vec<&Request> = around.iter().collect();
        let judged = self.oracles.differential.judge_until(&asked, deadline);
        tally.counts.neighbours += judged.len() as u64 / 2;
        for (place, judgement) in judged.into_iter().enumerate() {
            if let Some(found) = judgement.disagreement() {
                let request = Question::Run(asked[place].clone());
                self.ledger.add(Asked::around(number, place), request, found, tally);
            }
        }
    }

    fn count_again(&self, asked: Asked, request: &Request, judged: Judgement, tally: &mut Tally) {
        tally.counts.repeated += 1;
        if let Some(found) = judged.disagreement() {
            self.ledger.add(asked, Question::Run(request.clone()), found, tally);
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

/// Shrinks a request to the one that is written as a case.
fn shrunk(
    oracle: &dyn Oracle,
    request: &Request,
    found: Disagreement,
    limits: &Limits<'_>,
) -> Shrunk<Question> {
    let mut shrunk = shrink(oracle, request, found, limits);
    if shrunk.reproduced()
        && let Some(condition) = oracle.condition(&shrunk.request)
    {
        shrunk.disagreement.detail += &format!("\n{condition}");
    }
    shrunk.map(|request| Question::Run(oracle.written(&request)))
}

/// Whether the time is over.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}
