//! Oracles: what must hold for the answers to any request, without an expected value.
//!
//! An oracle takes a request and reports that the outcomes agree, that there was nothing to compare, or what
//! disagrees. The fuzz targets, the tests, `broadcheck fuzz` and the shrinker use the same oracles.
//!
//! | oracle | what it checks |
//! |---|---|
//! | [`differential`] | two implementations give the same outcome, by the clauses V-1 to V-6 |
//! | `numpy_ndarray` | the reference's rule set `numpy` agrees with the crate `ndarray` |
//! | [`relations`] | the [relations](broadcheck::relations) hold: answers agree with those to variations of the request |
//! | [`gradient`] | gradients are the adjoint of broadcasting and agree with central differences |
//! | `repeated` | the same request gives the same outcome twice |
//! | `rewritten` | a request and one with an equal expression have outcomes that agree |
//! | `declared` | a request with declared shapes has the outcome that it has without them, also in a session |
//!
//! What is inferred before the run is judged by [`Both`].
//!
//! A panic in an implementation is an outcome like any other, and a disagreement.

mod after;
mod case_file;
mod conventions;
mod declared;
mod differential;
mod gradient;
mod pattern;
pub mod protocol;
mod relations;
mod repeated;
mod rewritten;
mod signature;

pub(crate) use after::After;
pub use case_file::{Loaded, case_file};
pub(crate) use declared::{Declared, STEPS};
pub(crate) use differential::breakage;
pub use differential::{Differential, differential};
pub use gradient::{Gradient, gradient};
pub use pattern::Pattern;
pub use relations::{Relations, relations};
pub(crate) use repeated::Repeated;
pub(crate) use rewritten::{Chosen, Rewritten, chosen, form_named, judge_until as judge_rewritten_until};
pub use signature::{Breakage, Kind, Side, Signature};

use crate::inference::Both;
use crate::subjects::Ndarray;
use broadcheck_fast::Fast;
use broadcheck_reference::Reference;
use broadcheck_spec::{Convention, Outcome, Request};
use std::sync::LazyLock;

/// An oracle's judgement of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// Outcomes were compared, and all agree.
    Agreed(Answer),
    /// There was nothing to compare, for this reason.
    Vacuous(String),
    /// The outcomes differ only by a convention that a side does not declare.
    Convention(Convention),
    /// Something disagrees.
    Disagreement(Box<Disagreement>),
}

impl Judgement {
    /// Whether a side crashed, hung, or gave no valid answer.
    pub(crate) fn is_breakage(&self) -> bool {
        matches!(self, Judgement::Disagreement(found) if matches!(found.signature.kind, Kind::Broke(..)))
    }

    /// The disagreement, if it is one.
    pub fn disagreement(self) -> Option<Disagreement> {
        match self {
            Judgement::Disagreement(disagreement) => Some(*disagreement),
            Judgement::Agreed(_) | Judgement::Vacuous(_) | Judgement::Convention(_) => None,
        }
    }

    fn broke(signature: Signature, detail: impl Into<String>) -> Judgement {
        let detail = detail.into();
        Judgement::Disagreement(Box::new(Disagreement {
            signature,
            detail,
            left: None,
            right: None,
            rewritten: None,
        }))
    }
}

/// How the request was answered if the outcomes agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With a result.
    Accepted,
    /// With a refusal.
    Refused,
}

/// Two outcomes that should agree but do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The class of the disagreement: two with the same signature count as one defect.
    pub signature: Signature,
    /// The difference in words.
    pub detail: String,
    /// The left side's answer, if two outcomes were compared.
    pub left: Option<Outcome>,
    /// The right side's answer.
    pub right: Option<Outcome>,
    /// The request that the right side answered, if it is the request with a part in another form.
    pub rewritten: Option<Box<Request>>,
}

/// Something that judges requests.
pub trait Oracle: Sync {
    /// The name in signatures: `reference-fast`, `relations-fast`.
    fn name(&self) -> String;

    /// Judges one request.
    fn judge(&self, request: &Request) -> Judgement;

    /// The request that is written as a case, if the oracle asks it in another form.
    fn written(&self, request: &Request) -> Request {
        request.clone()
    }

    /// What a disagreement on this request depends on, if that is more than the request.
    fn condition(&self, _: &Request) -> Option<String> {
        None
    }

    /// How many requests it should be given at a time.
    fn batch(&self) -> usize {
        1
    }

    /// Judges several requests, with one judgement each, in order.
    fn judge_many(&self, requests: &[&Request]) -> Vec<Judgement> {
        requests.iter().map(|request| self.judge(request)).collect()
    }
}

/// The targets that judge requests, by the names that `cargo fuzz` and `broadcheck reproduce` use.
pub const TARGETS: [&str; 4] = ["differential", "numpy_ndarray", "relations", "gradient"];

/// The built-in implementations that the targets use.
struct Subjects {
    reference: Reference,
    fast: Fast,
    ndarray: Ndarray,
}

fn subjects() -> &'static Subjects {
    static SUBJECTS: LazyLock<Subjects> = LazyLock::new(|| Subjects {
        reference: Reference::new(),
        fast: Fast::new(),
        ndarray: Ndarray::new(),
    });
    &SUBJECTS
}

/// The fuzz target that judges signatures, with [`inference`].
pub const INFER: &str = "infer";

/// What judges the signatures of the target [`INFER`]: the reference and the fast engine, exactly.
pub fn inference() -> Both<'static> {
    let Subjects { reference, fast, .. } = subjects();
    Both::new(reference, fast).exactly(true)
}

/// The oracle of a target, over the built-in implementations.
pub fn target(name: &str) -> Option<Box<dyn Oracle>> {
    let Subjects { reference, fast, ndarray } = subjects();
    Some(match name {
        "differential" => Box::new(Differential::new(reference, fast)),
        "numpy_ndarray" => Box::new(Differential::new(reference, ndarray)),
        "relations" => Box::new(Relations::new(fast)),
        "gradient" => Box::new(Gradient::new(fast)),
        _ => return None,
    })
}
