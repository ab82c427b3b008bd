//! The distinct disagreements of a run.

use super::Campaign;
use crate::oracle::{Disagreement, Oracle, Pattern, Signature};
use crate::shrink::{Limits, Shrunk, shrink};
use broadcheck_spec::Request;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many disagreements of one sort are shrunk: more than one, because two defects may look alike at first.
const SHRUNK_OF_A_SORT: u64 = 4;

/// How many are shrunk in all.
const MOST_SHRUNK: u64 = 400;

/// A distinct disagreement.
#[derive(Clone, Debug)]
pub struct Found {
    /// The request, made small, and how it disagrees.
    pub shrunk: Shrunk,
    /// The number of the request on which it was found first.
    pub number: u64,
    /// How many disagreements are known to be this one.
    pub hits: u64,
}

/// What the threads of a run share.
pub(super) struct Findings<'a> {
    campaign: &'a Campaign<'a>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// By the signature of the small request.
    found: BTreeMap<Signature, Found>,
    /// By the signature of the request as drawn, without what shrinking changes: how many there were, and what the
    /// first of them became.
    sorts: BTreeMap<Signature, Sort>,
    shrunk: u64,
    /// How long all threads together have been shrinking.
    shrinking: Duration,
}

#[derive(Default)]
struct Sort {
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

    /// How long all threads together have been shrinking.
    pub(super) fn shrinking(&self) -> Duration {
        self.kept().shrinking
    }

    /// The findings in the order of their signatures.
    pub(super) fn into_found(self) -> Vec<Found> {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.found.into_values().collect()
    }

    /// Takes in a disagreement: one of a sort that was often enough is only counted, others are shrunk.
    pub(super) fn add(&self, number: u64, request: &Request, found: Disagreement, oracle: &dyn Oracle) {
        let pattern: Pattern = found.signature.pattern.coarse();
        let sort = Signature { pattern, ..found.signature.clone() };
        {
            let mut kept = self.kept();
            let enough = kept.shrunk >= MOST_SHRUNK;
            let entry = kept.sorts.entry(sort.clone()).or_default();
            entry.hits += 1;
            if entry.hits > SHRUNK_OF_A_SORT || enough {
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
        let shrunk = shrink(oracle, request, found, &limits);
        let mut kept = self.kept();
        kept.shrinking += began.elapsed();
        let signature = shrunk.disagreement.signature.clone();
        if let Some(entry) = kept.sorts.get_mut(&sort) {
            entry.became.get_or_insert_with(|| signature.clone());
        }
        let entry = kept.found.entry(signature).or_insert(Found { shrunk, number, hits: 0 });
        entry.hits += 1;
    }
}
