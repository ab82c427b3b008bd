//! The state of a run as JSON, so that a run that was cut off can be continued.
//!
//! The file is small: a request that was drawn is stored as its number, a shrunk one as JSON. It is read as
//! untrusted input: it starts no program and names no file outside its directory.

use super::asked::{Asked, Drawn, Oracles};
use super::ledger::{Entries, MOST_KEPT, MOST_REASONS, Sighting, Status};
use super::position::Positions;
use super::{Campaign, Counts};
use crate::oracle::{Disagreement, Kind, Signature};
use crate::shrink::{Again, Filed, Shrunk, Written, digest};
use broadcheck_spec::Implementation;
use broadcheck_spec::json::{self, Question};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The first field, by which a state file is recognised.
const MARK: &str = "state of a run of fuzz";

/// The version of the format.
const FORMAT: u32 = 1;

/// The largest state file, in bytes.
pub(super) const MAX_BYTES: u64 = 8 << 20;

/// The largest shrunk request that is stored, in bytes. A larger one is shrunk again.
const MAX_REQUEST: usize = 4 << 10;

/// The largest description of a disagreement that is stored, in characters.
const MAX_DETAIL: usize = 1000;

/// The largest number of ranges of requests. Each thread leaves at most one.
const MAX_RANGES: usize = 10_000;

/// The largest number of words of a command line that is read. Each of them is parsed again.
const MAX_ARGUMENTS: usize = 1_000;

/// The state of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    broadcheck: String,
    format: u32,
    /// The version of broadcheck: another one may draw other requests.
    version: String,
    /// The words of the command line that the run needs again.
    pub(super) arguments: Vec<String>,
    left: SideState,
    right: SideState,
    /// A digest of what is drawn.
    profile: String,
    /// Whether all requests were sent, or the time was over.
    pub(super) finished: bool,
    pub(super) requests: Option<u64>,
    pub(super) time_ms: Option<u64>,
    /// The time spent on sending requests.
    pub(super) elapsed_ms: u64,
    shrinking_ms: u64,
    done: Vec<(u64, u64)>,
    counts: Counts,
    reasons: BTreeMap<String, u64>,
    only_counted: u64,
    disagreements: Vec<SightingState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SideState {
    name: String,
    version: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SightingState {
    number: u64,
    place: u8,
    kind: String,
    detail: String,
    more: u64,
    status: StatusState,
    /// The shrunk request, as JSON of the protocol.
    request: Option<String>,
    steps: usize,
    minimal: bool,
    file: Option<FileState>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusState {
    Waiting,
    Shrunk,
    NotReproduced,
    SameAs(usize),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileState {
    name: String,
    digest: Option<String>,
}

fn side(implementation: &dyn Implementation) -> SideState {
    SideState { name: implementation.name().into(), version: implementation.version().into() }
}

fn profile(campaign: &Campaign<'_>) -> String {
    let drawn = format!("{:?} {} {} {}", campaign.profile, campaign.seed, campaign.skips, campaign.exact);
    format!("{:016x}", digest(drawn.as_bytes()))
}

fn question_to_value(question: &Question) -> serde_json::Value {
    match question {
        Question::Run(request) => json::request_to_value(request),
        Question::Infer(signature) => json::signature_to_value(signature),
    }
}

fn question(text: &str) -> Result<Question, String> {
    let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    json::question_from_value(value).map_err(|error| error.to_string())
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl State {
    /// The state of a run that has been sending requests for this time.
    pub(super) fn of(
        campaign: &Campaign<'_>,
        entries: &Entries,
        arguments: &[String],
        elapsed: Duration,
        finished: bool,
    ) -> State {
        // Those of batches that are under way, which will be found again, are last.
        let settled: Vec<&Sighting> = entries.sightings.iter().take_while(|one| one.settled).collect();
        State {
            broadcheck: MARK.into(),
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            arguments: arguments.to_vec(),
            left: side(campaign.left),
            right: side(campaign.right),
            profile: profile(campaign),
            finished,
            requests: campaign.requests,
            time_ms: campaign.time.map(milliseconds),
            elapsed_ms: milliseconds(elapsed),
            shrinking_ms: milliseconds(entries.shrinking),
            done: entries.positions.done(),
            counts: entries.counts,
            reasons: entries.reasons.clone(),
            only_counted: entries.only_counted,
            disagreements: settled.iter().map(|one| SightingState::of(one, settled.len())).collect(),
        }
    }

    pub(super) fn to_text(&self) -> Result<String, String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())? + "\n";
        if text.len() as u64 > MAX_BYTES {
            return Err(format!("the state has {} bytes, expected at most {MAX_BYTES}", text.len()));
        }
        Ok(text)
    }

    /// Reads a state, without the parts that need the implementations.
    pub(super) fn parse(text: &str) -> Result<State, String> {
        let expected = "expected a file that `broadcheck fuzz --out` wrote";
        let state: State =
            serde_json::from_str(text).map_err(|error| format!("found {error}, {expected}"))?;
        if state.broadcheck != MARK || state.format != FORMAT {
            let found = state.broadcheck.chars().take(40).collect::<String>();
            return Err(format!(
                "found `{found}` in format {}, expected `{MARK}` in format {FORMAT}",
                state.format
            ));
        }
        let version = env!("CARGO_PKG_VERSION");
        if state.version != version {
            let found = state.version.chars().take(40).collect::<String>();
            return Err(format!("found a run of broadcheck {found}, expected one of {version}"));
        }
        for (what, found, most) in [
            ("arguments", state.arguments.len(), MAX_ARGUMENTS),
            ("done", state.done.len(), MAX_RANGES),
            ("reasons", state.reasons.len(), MOST_REASONS),
            ("disagreements", state.disagreements.len(), MOST_KEPT),
        ] {
            if found > most {
                return Err(format!("{what}: found {found} entries, expected at most {most}"));
            }
        }
        if let Some((start, end)) = state.done.iter().find(|(start, end)| start >= end) {
            return Err(format!("done: found the range {start} to {end}, expected its end after its start"));
        }
        Ok(state)
    }

    /// The names of the two sides.
    pub(super) fn names(&self) -> [&str; 2] {
        [&self.left.name, &self.right.name]
    }

    /// What the run has done. It must have drawn the same requests for the same sides as this campaign.
    pub(super) fn entries(&self, campaign: &Campaign<'_>, directory: &Path) -> Result<Entries, String> {
        for (what, found, expected) in
            [("left", &self.left, side(campaign.left)), ("right", &self.right, side(campaign.right))]
        {
            if *found != expected {
                return Err(format!(
                    "{what}: found a run with {} {}, expected {} {}",
                    found.name, found.version, expected.name, expected.version
                ));
            }
        }
        if self.profile != profile(campaign) {
            return Err(
                "profile: found a run that drew other requests, expected those of the same options and \
                 capabilities"
                    .into(),
            );
        }
        let mut sightings = Vec::new();
        for (place, one) in self.disagreements.iter().enumerate() {
            let restored = one.restored(campaign, directory, self.disagreements.len());
            sightings.push(restored.map_err(|error| format!("disagreements[{place}]: {error}"))?);
        }
        let same = |one: &Sighting| if let Status::Same(other) = one.status { Some(other) } else { None };
        for (place, (one, _)) in sightings.iter().enumerate() {
            if same(one).is_some_and(|other| same(&sightings[other].0).is_some()) {
                return Err(format!(
                    "disagreements[{place}].status: found the place of one that is not distinct, expected a \
                     distinct one"
                ));
            }
        }
        let positions = Positions::after(&self.done);
        let mut entries = Entries::restored(positions, self.counts, self.reasons.clone(), sightings);
        entries.only_counted = self.only_counted;
        entries.shrinking = Duration::from_millis(self.shrinking_ms);
        Ok(entries)
    }
}

impl SightingState {
    fn of(one: &Sighting, count: usize) -> SightingState {
        let shrunk = &one.shrunk;
        let request = shrunk.reproduced().then(|| question_to_value(&shrunk.request).to_string());
        let request = request.filter(|text| text.len() <= MAX_REQUEST);
        let (status, request) = match one.status {
            Status::Same(other) if other < count => (StatusState::SameAs(other), None),
            Status::Done if !shrunk.reproduced() => (StatusState::NotReproduced, None),
            Status::Done if request.is_some() => (StatusState::Shrunk, request),
            Status::Done | Status::Waiting | Status::Taken | Status::Same(_) => (StatusState::Waiting, None),
        };
        let file = one.file.as_ref().and_then(|file| {
            let name = file.written.path().file_name()?.to_str()?.to_owned();
            Some(FileState { name, digest: file.digest.map(|digest| format!("{digest:016x}")) })
        });
        SightingState {
            number: one.asked.number,
            place: one.asked.place,
            kind: shrunk.disagreement.signature.kind.to_string(),
            detail: shrunk.disagreement.detail.chars().take(MAX_DETAIL).collect(),
            more: one.more,
            status,
            request,
            steps: shrunk.steps,
            minimal: shrunk.minimal,
            file,
        }
    }

    /// The sighting, and its signature before it was shrunk.
    fn restored(
        &self,
        campaign: &Campaign<'_>,
        directory: &Path,
        count: usize,
    ) -> Result<(Sighting, Signature), String> {
        let kind = Kind::named(&self.kind)
            .ok_or_else(|| format!("kind: found `{}`, expected a kind of disagreement", shown(&self.kind)))?;
        let asked = Asked { number: self.number, place: self.place };
        let drawn = Oracles::of(campaign).with(asked, |drawn| match drawn {
            Drawn::Request(request, oracle) => (Question::Run(oracle.written(request)), oracle.name()),
            Drawn::Signature(signature, oracle) => (Question::Infer(signature), oracle),
        });
        let (request, oracle) =
            drawn.ok_or_else(|| format!("place: found {}, expected the place of a request", self.place))?;
        let seen_as = Signature::of_question(&oracle, &request, kind.clone());
        let mut status = Status::Done;
        let mut again = Again::NotAsked;
        let mut shrunk_request = None;
        match self.status {
            StatusState::Waiting => status = Status::Waiting,
            StatusState::NotReproduced => again = Again::NotReproduced,
            StatusState::SameAs(other) if other < count => status = Status::Same(other),
            StatusState::SameAs(other) => {
                return Err(format!("status: found the place {other}, expected one below {count}"));
            }
            StatusState::Shrunk => {
                let text = self.request.as_deref().unwrap_or_default();
                let parsed = question(text).map_err(|error| format!("request: {error}"))?;
                (again, shrunk_request) = (Again::Reproduced, Some(parsed));
            }
        }
        let request = shrunk_request.unwrap_or(request);
        let signature = Signature::of_question(&oracle, &request, kind);
        let disagreement =
            Disagreement { signature, detail: self.detail.clone(), left: None, right: None, rewritten: None };
        let shrunk = Shrunk { request, disagreement, steps: self.steps, minimal: self.minimal, again };
        let file = self.file.as_ref().map(|file| file.restored(directory)).transpose()?;
        let sighting = Sighting { asked, shrunk, status, more: self.more, file, settled: true };
        Ok((sighting, seen_as))
    }
}

impl FileState {
    fn restored(&self, directory: &Path) -> Result<Filed, String> {
        let plain = |char: char| char.is_ascii_alphanumeric() || char == '-';
        let stem = self.name.strip_suffix(".yaml").filter(|stem| !stem.is_empty() && stem.chars().all(plain));
        if stem.is_none() || self.name.len() > 255 {
            let found = shown(&self.name);
            return Err(format!(
                "file.name: found `{found}`, expected the name of a case file in the directory"
            ));
        }
        let parsed = |text: &String| {
            u64::from_str_radix(text, 16)
                .map_err(|_| format!("file.digest: found `{}`, expected 16 hexadecimal digits", shown(text)))
        };
        let digest = self.digest.as_ref().map(parsed).transpose()?;
        let path = directory.join(&self.name);
        let written = if digest.is_some() { Written::New(path) } else { Written::Existing(path) };
        Ok(Filed { written, digest })
    }
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
