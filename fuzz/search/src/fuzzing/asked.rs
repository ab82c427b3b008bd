//! Which request of a run showed a disagreement, so that it can be asked again.

use super::{Campaign, NEIGHBOURS, drawn};
use crate::generate::neighbours;
use crate::oracle::{After, Differential, Oracle, Repeated};
use broadcheck_spec::Request;
use std::fmt;

/// A request of a run: the number of the one that was drawn, and a place among what is asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) number: u64,
    /// 0 for the request itself; from 1 for its neighbours, each followed by the request; from
    /// [`AGAIN`](Asked::AGAIN) for the sides that are asked twice.
    pub(super) place: u8,
}

impl Asked {
    /// The place of the right side, which is asked twice. The left side's follows it.
    const AGAIN: u8 = 100;

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
}

/// `request-12`, or `request-12-3` for what is asked in addition: a part of an id.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            0 => write!(f, "request-{}", self.number),
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
}

impl<'a> Oracles<'a> {
    pub(super) fn of(campaign: &'a Campaign<'a>) -> Oracles<'a> {
        let again = [Repeated::new(campaign.right), Repeated::new(campaign.left)];
        Oracles { campaign, differential: campaign.oracle(), again }
    }

    /// Draws a request again and hands it over with its oracle; `None` if nothing is asked in this place.
    pub(super) fn with<R>(&self, asked: Asked, work: impl FnOnce(&Request, &dyn Oracle) -> R) -> Option<R> {
        let request = drawn(self.campaign.seed, asked.number, &self.campaign.profile);
        if asked.place == 0 {
            return Some(work(&request, &self.differential));
        }
        if let Some(side) = asked.place.checked_sub(Asked::AGAIN) {
            return self.again.get(usize::from(side)).map(|oracle| work(&request, oracle));
        }
        let around = around(&request);
        let place = usize::from(asked.place) - 1;
        let first = around.get(place.saturating_sub(1))?;
        around.get(place).map(|request| work(request, &After::new(first, &self.differential)))
    }
}

/// The neighbours of a request, each before the request: a result that is kept under too short a key is then
/// the wrong one for the request, or the request's is the wrong one for the next neighbour.
pub(super) fn around(request: &Request) -> Vec<Request> {
    let neighbours = neighbours(request, NEIGHBOURS);
    neighbours.into_iter().flat_map(|neighbour| [neighbour, request.clone()]).collect()
}
