//! What a run has done: which requests, with which outcomes, and the disagreements among them.
//!
//! A disagreement is recorded and written to a file before anything else is done about it, and shrunk later.
//! Counts are added batch by batch, together with the numbers of its requests, so that a run that is
//! continued counts nothing twice. A batch that was cut off is asked again, and its disagreements are
//! recognised.

use super::asked::Asked;
use super::groups::without_numbers;
use super::position::Positions;
use super::{Campaign, Counts, Found, noun};
use crate::oracle::{Disagreement, Signature};
use crate::shrink::{Filed, Proposal, Shrunk, file_case, propose_question};
use broadcheck_spec::json::Question;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many disagreements of one class are kept. More than one, because two defects may look alike at first.
const KEPT_PER_CLASS: usize = 4;

/// From this number on, only the first disagreement of a class is kept.
const MANY_KEPT: usize = 400;

/// How many disagreements are kept in all. Further ones are only counted.
pub(super) const MOST_KEPT: usize = 1000;

/// The longest part of a reason that is kept, in characters.
const MAX_REASON: usize = 160;

/// How many reasons for not comparing a request are kept.
pub(super) const MOST_REASONS: usize = 64;

/// How many errors of files are kept.
const MOST_ERRORS: usize = 10;

/// What the threads of a run share.
pub(super) struct Ledger<'a> {
    campaign: &'a Campaign<'a>,
    entries: Mutex<Entries>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    pub(super) positions: Positions,
    pub(super) counts: Counts,
    pub(super) reasons: BTreeMap<String, u64>,
    pub(super) sightings: Vec<Sighting>,
    /// Disagreements of which none of the class was kept.
    pub(super) only_counted: u64,
    /// The time that all threads together have spent on shrinking.
    pub(super) shrinking: Duration,
    /// The places of the sightings of each class.
    classes: BTreeMap<Signature, Vec<usize>>,
    seen: HashSet<Asked>,
    news: Vec<String>,
    /// Why findings could not be written, or drafts removed.
    pub(super) unwritten: Vec<String>,
}

/// A disagreement that is kept.
#[derive(Clone, Debug)]
pub(super) struct Sighting {
    pub(super) asked: Asked,
    /// As it was seen, or shrunk.
    pub(super) shrunk: Shrunk<Question>,
    pub(super) status: Status,
    /// The disagreements of the class that are not kept, if this is the first of its class.
    pub(super) more: u64,
    pub(super) file: Option<Filed>,
    /// Whether writing it has been tried. Until then a continued run must find it again.
    pub(super) settled: bool,
}

/// How far a disagreement has been shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It is yet to be shrunk.
    Waiting,
    /// A thread is shrinking it.
    Taken,
    /// It is shrunk, or could not be reproduced.
    Done,
    /// It shrank to the same finding as the sighting in this place.
    Same(usize),
}

/// The class of a disagreement: its signature without the features that shrinking changes.
fn class_of(signature: &Signature) -> Signature {
    Signature { pattern: signature.pattern.coarse(), ..signature.clone() }
}

/// What a batch adds once all of it is judged.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    reasons: BTreeMap<String, u64>,
    /// Disagreements that are not kept, by class.
    more: BTreeMap<Signature, u64>,
}

impl Tally {
    /// Counts a reason why a request was not compared.
    pub(super) fn add_reason(&mut self, reason: &str) {
        *self.reasons.entry(without_numbers(reason, MAX_REASON)).or_default() += 1;
    }
}

impl Entries {
    /// The entries of an earlier part of the run.
    pub(super) fn restored(
        positions: Positions,
        counts: Counts,
        reasons: BTreeMap<String, u64>,
        sightings: Vec<(Sighting, Signature)>,
    ) -> Entries {
        let mut entries = Entries { positions, counts, reasons, ..Entries::default() };
        for (sighting, seen_as) in sightings {
            entries.keep(sighting, &seen_as);
        }
        entries
    }

    fn keep(&mut self, sighting: Sighting, seen_as: &Signature) -> usize {
        let place = self.sightings.len();
        self.seen.insert(sighting.asked);
        self.classes.entry(class_of(seen_as)).or_default().push(place);
        self.sightings.push(sighting);
        place
    }

    /// Records why a file could not be written or removed.
    fn failed(&mut self, error: String) {
        if self.unwritten.len() < MOST_ERRORS && !self.unwritten.contains(&error) {
            self.unwritten.push(error);
        }
    }

    fn has_room(&self, class: &Signature) -> bool {
        let of_class = self.classes.get(class).map_or(0, Vec::len);
        let most = if self.sightings.len() < MANY_KEPT { KEPT_PER_CLASS } else { 1 };
        self.sightings.len() < MOST_KEPT && of_class < most
    }

    /// How many disagreements are yet to be shrunk.
    pub(super) fn waiting(&self) -> usize {
        let waits = |one: &&Sighting| matches!(one.status, Status::Waiting | Status::Taken);
        self.sightings.iter().filter(waits).count()
    }

    pub(super) fn distinct(&self) -> u64 {
        let distinct = |one: &&Sighting| !matches!(one.status, Status::Same(_));
        self.sightings.iter().filter(distinct).count() as u64
    }

    /// The findings, ordered by signature.
    pub(super) fn findings(&self) -> Vec<Found> {
        let mut hits: Vec<u64> = vec![0; self.sightings.len()];
        for (place, one) in self.sightings.iter().enumerate() {
            let place = if let Status::Same(other) = one.status { other } else { place };
            hits[place] = hits[place].saturating_add(1).saturating_add(one.more);
        }
        let distinct = |(one, hits): (&Sighting, u64)| {
            let waits = matches!(one.status, Status::Waiting | Status::Taken);
            let file = one.file.as_ref().map(|file| file.written.clone());
            let shrunk = one.shrunk.clone();
            let found = Found { shrunk, number: one.asked.number, hits, waits, file };
            (!matches!(one.status, Status::Same(_))).then_some(found)
        };
        let mut all: Vec<Found> = self.sightings.iter().zip(hits).filter_map(distinct).collect();
        all.sort_by_cached_key(|found| (found.shrunk.disagreement.signature.clone(), found.number));
        all
    }
}

impl<'a> Ledger<'a> {
    /// Continues an earlier part of the run, if there is one.
    pub(super) fn new(campaign: &'a Campaign<'a>, entries: Entries) -> Ledger<'a> {
        Ledger { campaign, entries: Mutex::new(entries) }
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_entries(self) -> Entries {
        self.entries.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Descriptions of disagreements of new classes since the last call.
    pub(super) fn news(&self) -> Vec<String> {
        std::mem::take(&mut self.entries().news)
    }

    /// Records a disagreement and writes it to a file, or only counts it if enough of its class are kept.
    pub(super) fn add(&self, asked: Asked, request: Question, found: Disagreement, tally: &mut Tally) {
        let class = class_of(&found.signature);
        let shrunk = Shrunk::unshrunk(request, found);
        let place = {
            let mut entries = self.entries();
            // A run that was cut off has recorded it, but not counted the rest of its batch.
            if entries.seen.contains(&asked) {
                return;
            }
            if !entries.has_room(&class) {
                *tally.more.entry(class).or_default() += 1;
                return;
            }
            if !entries.classes.contains_key(&class) {
                let what = noun(&shrunk.request);
                let news = format!("{what} {}: {}", asked.number, shrunk.disagreement.signature);
                entries.news.push(news);
            }
            let settled = self.campaign.store.is_none();
            let (status, shrunk) = (Status::Waiting, shrunk.clone());
            let sighting = Sighting { asked, shrunk, status, more: 0, file: None, settled };
            entries.keep(sighting, &class)
        };
        let Some(store) = self.campaign.store else { return };
        let proposal = self.proposal(asked, &shrunk).map(|one| one.named(&format!("{}/{asked}", one.id)));
        let mut entries = self.entries();
        let file = proposal.and_then(|proposal| file_case(store.directory(), &proposal)).ok();
        let sighting = &mut entries.sightings[place];
        if file.is_some() {
            // The file has them; they may be large.
            (sighting.shrunk.disagreement.left, sighting.shrunk.disagreement.right) = (None, None);
        }
        sighting.file = file;
        sighting.settled = true;
    }

    fn proposal(&self, asked: Asked, shrunk: &Shrunk<Question>) -> Result<Proposal, String> {
        propose_question(shrunk, &self.campaign.sides(shrunk, asked.number))
    }

    /// The first disagreement that waits to be shrunk.
    pub(super) fn take_waiting(&self) -> Option<(usize, Asked, Disagreement)> {
        let mut entries = self.entries();
        let waits = |one: &Sighting| one.status == Status::Waiting && one.settled;
        let place = entries.sightings.iter().position(waits)?;
        let sighting = &mut entries.sightings[place];
        sighting.status = Status::Taken;
        Some((place, sighting.asked, sighting.shrunk.disagreement.clone()))
    }

    /// Records how a disagreement was shrunk. If that was cut short, it waits for a run that continues this
    /// one.
    pub(super) fn shrunk(&self, place: usize, shrunk: Shrunk<Question>, cut_short: bool, took: Duration) {
        let store = self.campaign.store;
        let asked = self.entries().sightings[place].asked;
        let proposal =
            store.filter(|_| !cut_short && shrunk.reproduced()).map(|_| self.proposal(asked, &shrunk));
        let mut entries = self.entries();
        entries.shrinking += took;
        if cut_short {
            let sighting = &mut entries.sightings[place];
            sighting.status = Status::Waiting;
            if store.is_none() {
                sighting.shrunk = shrunk;
            } else {
                // Its file has the request as it was seen.
                (sighting.shrunk.again, sighting.shrunk.steps) = (shrunk.again, shrunk.steps);
            }
            return;
        }
        let signature = &shrunk.disagreement.signature;
        let same =
            |one: &Sighting| one.status == Status::Done && one.shrunk.disagreement.signature == *signature;
        if let Some(other) = entries.sightings.iter().position(same) {
            let sighting = &mut entries.sightings[place];
            sighting.status = Status::Same(other);
            let draft = sighting.file.take().filter(|_| entries.sightings[other].file.is_some());
            if let Some(Err(error)) = draft.map(|draft| draft.remove()) {
                entries.failed(error);
            }
            return;
        }
        let sighting = &mut entries.sightings[place];
        (sighting.status, sighting.shrunk) = (Status::Done, shrunk);
        let (Some(store), Some(Ok(proposal))) = (store, proposal) else { return };
        let replaced = match file_case(store.directory(), &proposal) {
            Ok(file) => sighting.file.replace(file).map_or(Ok(()), |draft| draft.remove()),
            // The file of the disagreement as it was seen stays.
            Err(error) => Err(error),
        };
        if let Err(error) = replaced {
            entries.failed(error);
        }
    }

    /// Adds what a batch counted, for these of its requests.
    pub(super) fn add_batch(&self, tally: Tally, range: std::ops::Range<u64>) {
        let mut entries = self.entries();
        let Entries { counts, reasons, sightings, classes, only_counted, positions, .. } = &mut *entries;
        counts.add(&tally.counts);
        for (reason, count) in tally.reasons {
            if reasons.len() < MOST_REASONS || reasons.contains_key(&reason) {
                add_to(reasons.entry(reason).or_default(), count);
            }
        }
        for (class, count) in tally.more {
            match classes.get(&class).and_then(|places| places.first()) {
                Some(&first) => add_to(&mut sightings[first].more, count),
                None => add_to(only_counted, count),
            }
        }
        positions.finish(range);
    }
}

/// Adds to a count, which in a state file may be any number.
fn add_to(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}
