//! The distinct disagreements of a run.

use super::Campaign;
use crate::oracle::{Disagreement, Oracle, Pattern, Signature};
use crate::shrink::{Limits, Shrunk, shrink};
use broadcheck_spec::Request;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many disagreements of one class are shrunk. More than one, because two defects may look alike at
/// first.
const SHRUNK_PER_CLASS: u64 = 4;

/// How many disagreements are shrunk in all.
const MOST_SHRUNK: u64 = 400;

/// A distinct disagreement.
#[derive(Clone, Debug)]
pub struct Found {
    /// The shrunk request, and how it disagrees.
    pub shrunk: Shrunk,
    /// The number of the request that first found it.
    pub number: u64,
    /// How many disagreements turned out to be this one.
    pub hits: u64,
}

/// What the threads of a run share.
pub(super) struct Findings<'a> {
    campaign: &'a Campaign<'a>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// By the signature of the shrunk request.
    found: BTreeMap<Signature, Found>,
    /// By the signature of the request as drawn, without the features that shrinking changes: the number of
    /// disagreements, and what the first of them shrank to.
    classes: BTreeMap<Signature, Class>,
    shrunk: u64,
    /// The time that all threads together have spent on shrinking.
    shrinking: Duration,
}

#[derive(Default)]
struct Class {
    hits: u64,
    became: Option<Signature>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(campaign: &'a Campaign<'a>) -> Findings<'a> {
        Findings { campaign, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn distinct(&self) -> u64 {
        self.kept().found.len() as u64
    }

    /// The time that all threads together have spent on shrinking.
    pub(super) fn shrinking(&self) -> Duration {
        self.kept().shrinking
    }

    /// The findings, ordered by signature.
    pub(super) fn into_found(self) -> Vec<Found> {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.found.into_values().collect()
    }

    /// Records a disagreement. It is shrunk, or only counted if its class has been shrunk often enough.
    pub(super) fn add(&self, number: u64, request: &Request, found: Disagreement, oracle: &dyn Oracle) {
        let pattern: Pattern = found.signature.pattern.coarse();
        let class = Signature { pattern, ..found.signature.clone() };
        {
            let mut kept = self.kept();
            let enough = kept.shrunk >= MOST_SHRUNK;
            let entry = kept.classes.entry(class.clone()).or_default();
            entry.hits += 1;
            if entry.hits > SHRUNK_PER_CLASS || enough {
                let became = entry.became.clone();
                if let Some(known) = became.and_then(|signature| kept.found.get_mut(&signature)) {
                    known.hits += 1;
                }
                return;
            }
            kept.shrunk += 1;
        }
        let (steps, time) = self.campaign.shrinking;
        let limits = Limits { steps, time, stop: Some(self.campaign.stop) };
        let began = Instant::now();
        let mut shrunk = shrink(oracle, request, found, &limits);
        if shrunk.reproduced
            && let Some(condition) = oracle.condition(&shrunk.request)
        {
            shrunk.disagreement.detail += &format!("\n{condition}");
        }
        let mut kept = self.kept();
        kept.shrinking += began.elapsed();
        let signature = shrunk.disagreement.signature.clone();
        if let Some(entry) = kept.classes.get_mut(&class) {
            entry.became.get_or_insert_with(|| signature.clone());
        }
        let entry = kept.found.entry(signature).or_insert(Found { shrunk, number, hits: 0 });
        entry.hits += 1;
    }
}
