//! The findings of a run.

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

impl FindingKind {
    pub(super) fn of(difference: DifferenceKind) -> FindingKind {
        FindingKind::Runs(match difference {
            DifferenceKind::Values | DifferenceKind::Shape => "shape",
            DifferenceKind::DType => "dtype",
            DifferenceKind::WronglyAccepted => "accepted",
            DifferenceKind::WronglyRefused => "refused",
            DifferenceKind::Refusal => "refusal",
            DifferenceKind::Extra => "flags",
        })
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
