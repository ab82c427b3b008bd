//! Compares two implementations on random requests, for a time or a number of requests. `broadcheck fuzz`
//! runs this.
//!
//! Request number i of a seed is always the same, whichever thread draws it, so that a seed and a number
//! identify a finding. Disagreements are classified by their signatures. The first few of each class are
//! shrunk, and those that shrink to the same request are one finding with a count.

mod findings;
mod report;

pub use findings::Found;
pub use report::FuzzReport;

use crate::generate::{Profile, Seeded, Statistics, neighbours, request};
use crate::oracle::{After, Answer, Differential, Judgement, Oracle, Repeated};
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, DType, Function, Implementation, Request, RuleSet};
use findings::Findings;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// How many reasons for not comparing a request are kept.
const MOST_REASONS: usize = 64;

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
    /// Set to end the run early. The report then covers what was done so far.
    pub stop: &'a AtomicBool,
}

impl Campaign<'_> {
    /// The oracle that judges the requests. It is limited to the dtypes that are drawn.
    pub fn oracle(&self) -> Differential<'_> {
        Differential::new(self.left, self.right).allowing_skips(self.skips).only(self.profile.dtypes())
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// What two implementations both declare.
///
/// # Errors
/// They have no rule set, operation or dtype in common.
pub fn common(left: &Capabilities, right: &Capabilities) -> Result<Capabilities, String> {
    fn both<T: Copy + PartialEq>(left: &[T], right: &[T]) -> Vec<T> {
        left.iter().copied().filter(|item| right.contains(item)).collect()
    }
    let common = Capabilities {
        rules: both(&left.rules, &right.rules),
        operations: both(&left.operations, &right.operations),
        strided: left.strided && right.strided,
        functions: both(&left.functions, &right.functions),
        dtypes: both(&left.dtypes, &right.dtypes),
        function_dtypes: common_function_dtypes(left, right),
        rule_operations: common_by_rule_set(&left.rule_operations, &right.rule_operations),
        rule_functions: common_by_rule_set(&left.rule_functions, &right.rule_functions),
        ordered_operands: left.ordered_operands || right.ordered_operands,
        min_rank: left.min_rank.max(right.min_rank),
        max_rank: left.max_rank.into_iter().chain(right.max_rank).min(),
        equal_ranks: left.equal_ranks || right.equal_ranks,
        scalars: left.scalars && right.scalars,
        max_operands: left.max_operands.into_iter().chain(right.max_operands).min(),
        max_calls: left.max_calls.into_iter().chain(right.max_calls).min(),
        unused_operands: left.unused_operands && right.unused_operands,
        max_elements: left.max_elements.min(right.max_elements),
        large_sizes: left.large_sizes && right.large_sizes,
        flushed_subnormals: DType::ALL
            .into_iter()
            .filter(|dtype| [left, right].iter().any(|side| side.flushed_subnormals.contains(dtype)))
            .collect(),
        conventions: both(&left.conventions, &right.conventions),
    };
    for (what, none) in [
        ("rule set", common.rules.is_empty()),
        ("operation", common.operations.is_empty()),
        ("dtype", common.dtypes.is_empty()),
    ] {
        if none {
            return Err(format!("the two sides have no {what} in common"));
        }
    }
    Ok(common)
}

/// The dtypes that both sides support, for each function that either limits.
fn common_function_dtypes(left: &Capabilities, right: &Capabilities) -> BTreeMap<Function, Vec<DType>> {
    let limited = left.function_dtypes.keys().chain(right.function_dtypes.keys()).copied();
    let has = |function: Function, &dtype: &DType| left.has(function, dtype) && right.has(function, dtype);
    limited
        .map(|function| (function, DType::ALL.into_iter().filter(|dtype| has(function, dtype)).collect()))
        .collect()
}

/// What both sides support of a rule set, for each rule set that either limits.
fn common_by_rule_set<T: Copy + PartialEq>(
    left: &BTreeMap<RuleSet, Vec<T>>,
    right: &BTreeMap<RuleSet, Vec<T>>,
) -> BTreeMap<RuleSet, Vec<T>> {
    let mut common = left.clone();
    for (rules, list) in right {
        let both = common.entry(*rules).or_insert_with(|| list.clone());
        both.retain(|item| list.contains(item));
    }
    common
}

/// A reason with its numbers replaced, so that it is the same for many requests, and cut to a limited length.
fn without_numbers(reason: &str) -> String {
    let mut text = String::new();
    for char in reason.lines().next().unwrap_or_default().chars().take(160) {
        match char {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            other => text.push(other),
        }
    }
    text
}

/// The request of this seed and number.
pub fn drawn(seed: u64, number: u64, profile: &Profile) -> Request {
    // Two odd factors keep the streams of neighbouring seeds and numbers apart.
    let mixed = seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    request(&mut Seeded::new(mixed), profile)
}

/// Runs a campaign. `progress` is called periodically, from the calling thread.
pub fn fuzz(campaign: &Campaign<'_>, progress: &mut dyn FnMut(&Counts, Duration)) -> FuzzReport {
    let run = Run {
        campaign,
        oracle: campaign.oracle(),
        again: [Repeated::new(campaign.right), Repeated::new(campaign.left)],
        began: Instant::now(),
        next: AtomicU64::new(0),
        counts: Mutex::new(Counts::default()),
        findings: Findings::new(campaign),
        reasons: Mutex::default(),
        statistics: Mutex::new(Statistics::default()),
    };
    thread::scope(|scope| {
        // A thread that the system refuses is one fewer.
        let worker = |_| thread::Builder::new().spawn_scoped(scope, || run.work()).ok();
        let workers: Vec<_> = (0..campaign.jobs.max(1)).map_while(worker).collect();
        if workers.is_empty() {
            run.work();
        }
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(if run.began.elapsed().as_secs() > 0 { 100 } else { 5 }));
            progress(&run.counted(), run.asking());
        }
    });
    let counts = run.counted();
    let (elapsed, shrinking) = (run.asking(), run.findings.shrinking());
    let reasons = run.reasons.into_inner().unwrap_or_default();
    let statistics = run.statistics.into_inner().ok().filter(|_| campaign.statistics);
    FuzzReport {
        counts,
        findings: run.findings.into_found(),
        statistics,
        reasons,
        elapsed,
        shrinking,
        complete: !campaign.stop.load(Ordering::Relaxed),
    }
}

/// What the threads of a run share.
struct Run<'a> {
    campaign: &'a Campaign<'a>,
    oracle: Differential<'a>,
    again: [Repeated<'a>; 2],
    began: Instant,
    next: AtomicU64,
    counts: Mutex<Counts>,
    findings: Findings<'a>,
    reasons: Mutex<BTreeMap<String, u64>>,
    statistics: Mutex<Statistics>,
}

impl Run<'_> {
    fn counted(&self) -> Counts {
        let counts = *self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Counts { distinct: self.findings.distinct(), ..counts }
    }

    fn ended(&self) -> bool {
        self.campaign.stop.load(Ordering::Relaxed)
            || self.campaign.time.is_some_and(|time| self.asking() >= time)
    }

    /// How long the run has been sending requests. The time that each thread spent on shrinking does not
    /// count.
    fn asking(&self) -> Duration {
        let threads = u32::try_from(self.campaign.jobs.max(1)).unwrap_or(u32::MAX);
        self.began.elapsed().saturating_sub(self.findings.shrinking() / threads)
    }

    /// Counts a reason why a request was not compared.
    fn add_reason(&self, reason: &str) {
        let mut reasons = self.reasons.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let reason = without_numbers(reason);
        if reasons.len() < MOST_REASONS || reasons.contains_key(&reason) {
            *reasons.entry(reason).or_default() += 1;
        }
    }

    fn work(&self) {
        let batch = (self.oracle.batch() as u64).max(CHUNK);
        while !self.ended() {
            let start = self.next.fetch_add(batch, Ordering::Relaxed);
            let end =
                self.campaign.requests.map_or(start.saturating_add(batch), |all| all.min(start + batch));
            if start >= end {
                return;
            }
            let counts = if self.oracle.batch() > 1 {
                self.judge_batch(start, end)
            } else {
                self.judge_one_by_one(start, end)
            };
            self.add(&counts);
        }
    }

    fn add(&self, more: &Counts) {
        let mut counts = self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        counts.requests += more.requests;
        counts.accepted += more.accepted;
        counts.refused += more.refused;
        counts.vacuous += more.vacuous;
        counts.conventions += more.conventions;
        counts.disagreeing += more.disagreeing;
        counts.repeated += more.repeated;
        counts.neighbours += more.neighbours;
    }

    fn judge_one_by_one(&self, start: u64, end: u64) -> Counts {
        let mut counts = Counts::default();
        for number in start..end {
            let request = drawn(self.campaign.seed, number, &self.campaign.profile);
            self.count(number, &request, self.oracle.judge(&request), &self.oracle, &mut counts);
            self.judge_neighbours(number, &request, &mut counts);
            if number % REPEAT_EVERY == 0 {
                for oracle in &self.again {
                    self.count_again(number, &request, oracle.judge(&request), oracle, &mut counts);
                }
            }
            self.note(&request);
            if self.campaign.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        counts
    }

    fn judge_batch(&self, start: u64, end: u64) -> Counts {
        let mut counts = Counts::default();
        let requests: Vec<Request> =
            (start..end).map(|number| drawn(self.campaign.seed, number, &self.campaign.profile)).collect();
        let all: Vec<&Request> = requests.iter().collect();
        for ((number, request), judgement) in (start..end).zip(&all).zip(self.oracle.judge_many(&all)) {
            self.count(number, request, judgement, &self.oracle, &mut counts);
            self.note(request);
        }
        for (number, request) in (start..end).zip(&all) {
            self.judge_neighbours(number, request, &mut counts);
        }
        let numbered: Vec<(u64, &Request)> =
            (start..end).zip(all).filter(|(number, _)| number % REPEAT_EVERY == 0).collect();
        let some: Vec<&Request> = numbered.iter().map(|(_, request)| *request).collect();
        for oracle in &self.again {
            for (&(number, request), judgement) in numbered.iter().zip(oracle.judge_many(&some)) {
                self.count_again(number, request, judgement, oracle, &mut counts);
            }
        }
        counts
    }

    fn count(
        &self,
        number: u64,
        request: &Request,
        judged: Judgement,
        oracle: &dyn Oracle,
        counts: &mut Counts,
    ) {
        counts.requests += 1;
        match judged {
            Judgement::Agreed(Answer::Accepted) => counts.accepted += 1,
            Judgement::Agreed(Answer::Refused) => counts.refused += 1,
            Judgement::Vacuous(reason) => {
                counts.vacuous += 1;
                self.add_reason(&reason);
            }
            Judgement::Convention(_) => counts.conventions += 1,
            Judgement::Disagreement(found) => {
                counts.disagreeing += 1;
                self.findings.add(number, request, *found, oracle);
            }
        }
    }

    /// Asks a request and its neighbours in turn, if it is the request's turn.
    fn judge_neighbours(&self, number: u64, request: &Request, counts: &mut Counts) {
        if !number.is_multiple_of(NEIGHBOURS_EVERY) {
            return;
        }
        let neighbours = neighbours(request, NEIGHBOURS);
        // The neighbours first, each before the request: a result that is kept for too short a key is then
        // the wrong one for the request, or the request's is the wrong one for the next neighbour.
        let asked: Vec<&Request> = neighbours.iter().flat_map(|neighbour| [neighbour, request]).collect();
        let judged = self.oracle.judge_many(&asked);
        counts.neighbours += neighbours.len() as u64;
        for (place, judgement) in judged.into_iter().enumerate() {
            let Judgement::Disagreement(found) = judgement else { continue };
            let first = asked[place.saturating_sub(1)];
            self.findings.add(number, asked[place], *found, &After::new(first, &self.oracle));
        }
    }

    fn count_again(
        &self,
        number: u64,
        request: &Request,
        judged: Judgement,
        oracle: &dyn Oracle,
        counts: &mut Counts,
    ) {
        counts.repeated += 1;
        if let Judgement::Disagreement(found) = judged {
            self.findings.add(number, request, *found, oracle);
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
