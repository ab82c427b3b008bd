//! Requests in another form, which the same side must answer alike: beside the comparison of the two sides,
//! or alone.

use super::asked::Asked;
use super::ledger::Tally;
use super::{Run, SHORTEST_SLICE, is_over};
use crate::generate::Rewrites;
use crate::inference::Relation;
use crate::oracle::{Chosen, Judgement, chosen, judge_rewritten_until};
use broadcheck_spec::Request;
use broadcheck_spec::json::Question;
use std::ops::Range;
use std::time::Instant;

/// After every nth request, one side is asked the request in another form.
pub(super) const REWRITTEN_EVERY: u64 = 8;

/// In one of so many rewritten requests, the left side is asked instead of the right one.
pub(super) const REWRITTEN_LEFT: u64 = 4;

impl Run<'_> {
    /// Asks one side the requests whose turn it is in another form, in addition.
    pub(super) fn judge_rewrites(
        &self,
        requests: &[(u64, &Request)],
        deadline: Option<Instant>,
        tally: &mut Tally,
    ) {
        if self.campaign.profile.rewrites() == Rewrites::Never || is_over(deadline) {
            return;
        }
        let sides = self.oracles.sides();
        for (side, implementation) in sides.into_iter().enumerate() {
            let has_turn = |number: u64| {
                let left_has_turn = number / REWRITTEN_EVERY % REWRITTEN_LEFT == REWRITTEN_LEFT - 1;
                number % REWRITTEN_EVERY == 1 && side == usize::from(left_has_turn)
            };
            let all: Vec<(u64, (&Request, Chosen))> = requests
                .iter()
                .filter(|(number, _)| has_turn(*number))
                .filter_map(|&(number, request)| {
                    Some((number, (request, chosen(number, request, implementation)?)))
                })
                .collect();
            let (numbers, asked): (Vec<u64>, Vec<(&Request, Chosen)>) = all.into_iter().unzip();
            let judged = judge_rewritten_until(implementation, &asked, deadline);
            tally.counts.rewritten += judged.len() as u64;
            for ((number, (request, _)), judgement) in numbers.iter().zip(&asked).zip(judged) {
                if let Some(found) = judgement.disagreement() {
                    let request = Question::Run((*request).clone());
                    self.ledger.add(Asked::rewritten(*number, side), request, found, tally);
                }
            }
        }
    }

    /// Asks the right side every request as it is and in another form, and compares nothing else.
    #[allow(clippy::unnecessary_wraps, reason = "the signature of judge_batch")]
    pub(super) fn judge_only_rewrites(
        &self,
        range: Range<u64>,
        deadline: Option<Instant>,
        _: &mut Relation,
    ) -> Option<(Tally, Range<u64>)> {
        let implementation = self.campaign.right;
        let mut tally = Tally::default();
        let (mut next, mut size) = (range.start, SHORTEST_SLICE as u64);
        while next < range.end && !self.stopped() {
            let end = range.end.min(next + size);
            let drawn: Vec<(u64, Request)> = (next..end).map(|number| (number, self.drawn(number))).collect();
            let chosen_form = |(number, request): &(u64, Request)| chosen(*number, request, implementation);
            let forms: Vec<Option<Chosen>> = drawn.iter().map(chosen_form).collect();
            let has_form: Vec<bool> = forms.iter().map(Option::is_some).collect();
            let asked: Vec<(&Request, Chosen)> =
                drawn.iter().zip(forms).filter_map(|((_, request), form)| Some((request, form?))).collect();
            let mut judged = judge_rewritten_until(implementation, &asked, deadline).into_iter();
            let mut broke = false;
            for ((number, request), has_form) in drawn.iter().zip(has_form) {
                let judgement = if has_form {
                    judged.next()
                } else {
                    Some(Judgement::Vacuous("no part can be rewritten".into()))
                };
                // The time is over.
                let Some(judgement) = judgement else { return Some((tally, range.start..next)) };
                broke |= judgement.is_breakage();
                tally.counts.rewritten += u64::from(has_form);
                self.count(Asked::rewritten(*number, 0), request, judgement, &mut tally);
                self.note(request);
                next = number + 1;
            }
            if is_over(deadline) {
                break;
            }
            size = if broke { SHORTEST_SLICE as u64 } else { size * 2 };
        }
        Some((tally, range.start..next))
    }
}
