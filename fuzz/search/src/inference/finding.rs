//! The findings of a run.

use crate::oracle::Kind;
use broadcheck_judge::compare::DifferenceKind;
use broadcheck_judge::describe::describe_signature;
use broadcheck_spec::Signature;
use std::fmt;

/// One wrong, missing or wider answer to a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The implementation that it is about.
    pub implementation: String,
    /// Its kind.
    pub kind: FindingKind,
    /// The signature.
    pub signature: Signature,
    /// What is wrong, in words.
    pub detail: String,
}

/// The kinds of findings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The answer contradicts the runs of the signature.
    Runs(&'static str),
    /// The answer admits more than the runs give.
    Wider,
    /// The answer differs from that of the first implementation.
    Difference {
        /// The first implementation.
        against: String,
    },
    /// There is no answer to a signature that the implementation declares.
    Broken,
}

/// What [`FindingKind::words`] returns.
pub(crate) const WORDS: [&str; 9] = [
    "unsound shape",
    "wrong dtype",
    "accepts too much",
    "refuses too much",
    "wrong flags",
    "wrong refusal",
    "wider than exact",
    "different inferences",
    "no inference",
];

impl FindingKind {
    pub(super) fn of(difference: DifferenceKind) -> FindingKind {
        FindingKind::Runs(match difference {
            DifferenceKind::Values | DifferenceKind::Shape | DifferenceKind::Optimiser => "shape",
            DifferenceKind::DType => "dtype",
            DifferenceKind::WronglyAccepted => "accepted",
            DifferenceKind::WronglyRefused => "refused",
            DifferenceKind::Refusal => "refusal",
            DifferenceKind::Extra => "flags",
        })
    }

    /// The kind in a few words.
    pub(super) fn words(&self) -> &'static str {
        match self {
            FindingKind::Runs("shape") => "unsound shape",
            FindingKind::Runs("dtype") => "wrong dtype",
            FindingKind::Runs("accepted") => "accepts too much",
            FindingKind::Runs("refused") => "refuses too much",
            FindingKind::Runs("flags") => "wrong flags",
            FindingKind::Runs(_) => "wrong refusal",
            FindingKind::Wider => "wider than exact",
            FindingKind::Difference { .. } => "different inferences",
            FindingKind::Broken => "no inference",
        }
    }

    /// The kind in the characters of ids.
    pub(super) fn slug(&self) -> &'static str {
        match self {
            FindingKind::Runs(what) => what,
            FindingKind::Wider => "wider",
            FindingKind::Difference { .. } => "difference",
            FindingKind::Broken => "broken",
        }
    }
}

/// As the fuzzer classifies it.
impl From<FindingKind> for Kind {
    fn from(kind: FindingKind) -> Kind {
        Kind::Inferred(kind.words())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.implementation)?;
        match &self.kind {
            FindingKind::Difference { against } => write!(f, " against {against}")?,
            FindingKind::Runs(_) => f.write_str(" against the runs")?,
            FindingKind::Wider => f.write_str(": wider than exact")?,
            FindingKind::Broken => {}
        }
        write!(f, ": {}: {}", describe_signature(&self.signature).join("; "), self.detail)
    }
}
