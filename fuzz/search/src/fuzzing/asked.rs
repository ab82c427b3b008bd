//! Which request of a run showed a disagreement, so that it can be asked again.

use super::{Campaign, DECLARED_EVERY, NEIGHBOURS, NEIGHBOURS_EVERY, drawn, drawn_signature};
use crate::generate::{Profile, neighbours};
use crate::inference::Both;
use crate::oracle::{After, Declared, Differential, Oracle, Repeated, Rewritten, STEPS, chosen};
use broadcheck::given::Mode;
use broadcheck_spec::{Implementation, Request, Signature};
use std::fmt;

/// A request of a run: the number of the one that was drawn, and a place among what is asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) number: u64,
    /// 0 for the request itself; from 1 for its neighbours, each followed by the request; from
    /// [`AGAIN`](Asked::AGAIN) for the sides that are asked twice; from [`DECLARED`](Asked::DECLARED) for the
    /// steps of a session with declared shapes; from [`REWRITTEN`](Asked::REWRITTEN) for a side that is asked
    /// the request in another form; [`SIGNATURE`](Asked::SIGNATURE) for what is inferred.
    pub(super) place: u8,
}

impl Asked {
    /// The place of the right side, which is asked twice. The left side's follows it.
    const AGAIN: u8 = 100;

    /// The place of the first step of a session of the right side. The left side's steps follow.
    const DECLARED: u8 = 110;

    /// The place of the right side that is asked the request in another form. The left side's follows it.
    const REWRITTEN: u8 = 118;

    /// The place of a signature with a wrong answer of the right side. Those with a wrong answer of the left
    /// side, and with answers that differ, follow.
    const SIGNATURE: u8 = 120;

    /// The request that was drawn.
    pub(super) fn itself(number: u64) -> Asked {
        Asked { number, place: 0 }
    }

    /// One of the neighbours or the requests between them.
    pub(super) fn around(number: u64, place: usize) -> Asked {
        const { assert!(2 * NEIGHBOURS < Asked::AGAIN as usize) };
        Asked { number, place: u8::try_from(place + 1).unwrap_or(u8::MAX) }
    }

    /// The request that one side is asked twice: the right one, then the left one.
    pub(super) fn again(number: u64, side: usize) -> Asked {
        Asked { number, place: Asked::AGAIN.saturating_add(u8::try_from(side).unwrap_or(u8::MAX)) }
    }

    /// A step of a session with declared shapes, of the right side or of the left one.
    pub(super) fn declared(number: u64, side: usize, step: usize) -> Asked {
        const { assert!(2 * STEPS <= (Asked::REWRITTEN - Asked::DECLARED) as usize) };
        let place = u8::try_from(side * STEPS + step).unwrap_or(u8::MAX);
        Asked { number, place: Asked::DECLARED.saturating_add(place) }
    }

    /// The request that the right side or the left one is asked in another form.
    pub(super) fn rewritten(number: u64, side: usize) -> Asked {
        const { assert!(Asked::REWRITTEN + 2 <= Asked::SIGNATURE) };
        Asked { number, place: Asked::REWRITTEN.saturating_add(u8::try_from(side).unwrap_or(u8::MAX)) }
    }

    /// The signature of this number, with a disagreement of one of the oracles of inference.
    pub(super) fn signature(number: u64, oracle: usize) -> Asked {
        let place = u8::try_from(oracle).unwrap_or(u8::MAX);
        Asked { number, place: Asked::SIGNATURE.saturating_add(place) }
    }
}

/// `request-12`, `request-12-3` for what is asked in addition, `signature-12-0`: a part of an id.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            0 => write!(f, "request-{}", self.number),
            place @ Asked::SIGNATURE.. => write!(f, "signature-{}-{}", self.number, place - Asked::SIGNATURE),
            place => write!(f, "request-{}-{place}", self.number),
        }
    }
}

/// What judges the requests of a run.
pub(super) struct Oracles<'a> {
    campaign: &'a Campaign<'a>,
    pub(super) differential: Differential<'a>,
    /// Of the right side, then of the left one.
    pub(super) again: [Repeated<'a>; 2],
    pub(super) inference: Both<'a>,
}

impl<'a> Oracles<'a> {
    pub(super) fn of(campaign: &'a Campaign<'a>) -> Oracles<'a> {
        let again = [Repeated::new(campaign.right), Repeated::new(campaign.left)];
        let inference = campaign.inference_oracle();
        Oracles { campaign, differential: campaign.oracle(), again, inference }
    }

    /// What judges a step of the session of a request, of the right side or of the left one.
    pub(super) fn declared(&self, number: u64, side: usize, step: usize) -> Declared<'a> {
        Declared::new(self.sides()[side.min(1)], number / DECLARED_EVERY, step)
    }

    /// The right side, then the left one.
    pub(super) fn sides(&self) -> [&'a dyn Implementation; 2] {
        [self.campaign.right, self.campaign.left]
    }

    /// Draws what was asked again and hands it over with its oracle; `None` if nothing is asked in this
    /// place.
    pub(super) fn with<R>(&self, asked: Asked, work: impl FnOnce(Drawn<'_>) -> R) -> Option<R> {
        let Campaign { seed, profile, .. } = self.campaign;
        if let Some(place) = asked.place.checked_sub(Asked::SIGNATURE) {
            let oracle = self.inference.names().into_iter().nth(usize::from(place))?;
            let signature = drawn_signature(*seed, asked.number, profile)?;
            return Some(work(Drawn::Signature(signature, oracle)));
        }
        let request = drawn(*seed, asked.number, profile);
        if asked.place == 0 {
            return Some(work(Drawn::Request(&request, &self.differential)));
        }
        if let Some(side) = asked.place.checked_sub(Asked::REWRITTEN) {
            let implementation = *self.sides().get(usize::from(side))?;
            let form = chosen(asked.number, &request, implementation)?.form;
            return Some(work(Drawn::Request(&request, &Rewritten::new(implementation, form))));
        }
        if let Some(place) = asked.place.checked_sub(Asked::DECLARED) {
            let (side, step) = (usize::from(place) / STEPS, usize::from(place) % STEPS);
            let is_place = side < 2;
            return is_place
                .then(|| work(Drawn::Request(&request, &self.declared(asked.number, side, step))));
        }
        if let Some(side) = asked.place.checked_sub(Asked::AGAIN) {
            return self.again.get(usize::from(side)).map(|oracle| work(Drawn::Request(&request, oracle)));
        }
        let around = around(&request, asked.number, profile);
        let place = usize::from(asked.place) - 1;
        let first = around.get(place.saturating_sub(1))?;
        let request = around.get(place)?;
        Some(work(Drawn::Request(request, &After::new(first, &self.differential))))
    }
}

/// What was asked in a place.
pub(super) enum Drawn<'a> {
    /// A request, and what judges it.
    Request(&'a Request, &'a dyn Oracle),
    /// A signature, and the name of the oracle that disagrees.
    Signature(Signature, String),
}

/// The neighbours of a request, each before the request: a result that is kept under too short a key is then
/// the wrong one for the request, or the request's is the wrong one for the next neighbour. They are those of
/// every nth request; of the others, the same expression with other shapes, if requests are asked again.
pub(super) fn around(request: &Request, number: u64, profile: &Profile) -> Vec<Request> {
    let others: Vec<Request> = if number.is_multiple_of(NEIGHBOURS_EVERY) {
        neighbours(request, NEIGHBOURS)
    } else if profile.asks_again() {
        let steps = Mode::Again.variants(request).into_iter().flat_map(|variant| variant.steps);
        steps.filter(|step| !step.original).map(|step| step.request).collect()
    } else {
        Vec::new()
    };
    others.into_iter().flat_map(|neighbour| [neighbour, request.clone()]).collect()
}
