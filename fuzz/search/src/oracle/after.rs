//! Compares two implementations on a request that is asked right after another, to find answers that depend
//! on what was asked before.

use super::{Differential, Judgement, Oracle};
use broadcheck_judge::describe::describe_request;
use broadcheck_spec::Request;

/// A [`Differential`] that asks another request first, each time. So a disagreement that depends on it can be
/// reproduced, and shrunk.
pub(crate) struct After<'a> {
    first: &'a Request,
    oracle: &'a Differential<'a>,
}

impl<'a> After<'a> {
    /// Judges requests right after this one.
    pub(crate) fn new(first: &'a Request, oracle: &'a Differential<'a>) -> After<'a> {
        After { first, oracle }
    }
}

impl Oracle for After<'_> {
    /// That of the differential: a disagreement that does not depend on the first request is the same
    /// finding.
    fn name(&self) -> String {
        self.oracle.name()
    }

    fn judge(&self, request: &Request) -> Judgement {
        // Together, so that one process is asked both.
        let judged = self.oracle.judge_many(&[self.first, request]);
        judged.into_iter().nth(1).unwrap_or_else(|| Judgement::Vacuous("the request was not answered".into()))
    }

    fn condition(&self, request: &Request) -> Option<String> {
        match self.oracle.judge(request) {
            Judgement::Disagreement(_) => None,
            Judgement::Agreed(_) | Judgement::Vacuous(_) | Judgement::Convention(_) => {
                let lines = describe_request(self.first).join("\n  ");
                Some(format!("This happens only right after another request:\n  {lines}"))
            }
        }
    }
}
