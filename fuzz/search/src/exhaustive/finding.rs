//! The findings of a run.

use broadcheck_judge::describe::summarize_request;
use broadcheck_spec::Request;
use std::fmt;

/// One wrong or missing answer, or one violated relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The implementation that it is about.
    pub implementation: String,
    /// Its kind.
    pub kind: FindingKind,
    /// The request.
    pub request: Request,
    /// What differs, in words.
    pub detail: String,
}

/// The kinds of findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The answer differs from the first implementation's.
    Difference {
        /// The first implementation.
        against: String,
    },
    /// There is no answer to a request that the implementation declares.
    Broken,
    /// A relation does not hold.
    Violation {
        /// The name of the sweep.
        sweep: &'static str,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.implementation)?;
        match &self.kind {
            FindingKind::Difference { against } => write!(f, " against {against}")?,
            FindingKind::Broken => {}
            FindingKind::Violation { sweep } => write!(f, ": {sweep}")?,
        }
        write!(f, ": {}: {}", summarize_request(&self.request), self.detail)
    }
}
