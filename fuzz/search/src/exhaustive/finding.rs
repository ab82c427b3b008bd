//! What a run found wrong.

use broadcheck::relations::Instance;
use broadcheck_spec::{Operand, Operation, Request, Rules};
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
                let request = describe_request(request);
                write!(f, "{implementation} against {against}: {request}: {detail}")
            }
            Finding::Broken { implementation, request, detail } => {
                write!(f, "{implementation}: {}: {detail}", describe_request(request))
            }
            Finding::Violation { implementation, relation, detail, .. } => {
                write!(f, "{implementation}: {relation}: {detail}")
            }
        }
    }
}

/// A request on one line: `xla [subtract, a, b] a (2,3) b (3) broadcast_dimensions [1]`.
pub fn describe_request(request: &Request) -> String {
    let mut text = request.rules().set().to_string();
    match request.operation() {
        Operation::Elementwise { expression } => {
            text += &format!(" {}", expression.display(&request.names()));
        }
        Operation::Broadcast { .. } => text += " broadcast",
        Operation::Gradient { expression, wrt } => {
            let names = request.names();
            text += &format!(" gradient of {} by {}", expression.display(&names), names[*wrt]);
        }
    }
    for operand in request.operands() {
        text += &format!(" {} {}{}", operand.name(), operand.shape(), flags_text(operand));
    }
    if let Operation::Broadcast { target_shape } = request.operation() {
        text += &format!(" to {target_shape}");
    }
    match request.rules() {
        Rules::Pdpd { axis: Some(axis) } => text += &format!(" axis {axis}"),
        Rules::Xla { broadcast_dimensions: Some(list) } => text += &format!(" broadcast_dimensions {list:?}"),
        _ => {}
    }
    text
}

/// ` flags [true, false]`, where there are flags.
fn flags_text(operand: &Operand) -> String {
    operand.broadcastable().map_or_else(String::new, |flags| format!(" flags {flags:?}"))
}
