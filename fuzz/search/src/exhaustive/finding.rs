//! What a run found wrong.

use broadcheck::relations::Instance;
use broadcheck_judge::describe::summarize_request;
use broadcheck_spec::Request;
use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// An answer differs from the first implementation's.
    Difference {
        /// Whose answer.
        implementation: String,
        /// The first implementation.
        against: String,
        /// What was asked.
        request: Request,
        /// The difference in words: what the first implementation says is expected.
        detail: String,
    },
    /// An implementation did not answer a request that it declares.
    Broken {
        /// Which.
        implementation: String,
        /// What was asked.
        request: Request,
        /// What happened.
        detail: String,
    },
    /// A relation does not hold.
    Violation {
        /// For which implementation.
        implementation: String,
        /// The relation's name.
        relation: &'static str,
        /// Where.
        instance: Instance,
        /// Both answers in words.
        detail: String,
    },
}

impl Finding {
    /// The implementation that it is about.
    pub fn implementation(&self) -> &str {
        match self {
            Finding::Difference { implementation, .. }
            | Finding::Broken { implementation, .. }
            | Finding::Violation { implementation, .. } => implementation,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Difference { implementation, against, request, detail } => {
                let request = summarize_request(request);
                write!(f, "{implementation} against {against}: {request}: {detail}")
            }
            Finding::Broken { implementation, request, detail } => {
                write!(f, "{implementation}: {}: {detail}", summarize_request(request))
            }
            Finding::Violation { implementation, relation, detail, .. } => {
                write!(f, "{implementation}: {relation}: {detail}")
            }
        }
    }
}
