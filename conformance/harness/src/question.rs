//! What can be sent to a process: a request with values, or a signature. Everything about sending, waiting
//! and restarting is the same for both.

use super::fatal::Fatal;
use super::process::Process;
use broadcheck_judge::limits::answer_elements;
use broadcheck_spec::{Inference, Malformed, Outcome, Request, Signature, Success, json};
use serde_json::Value;

/// The number of elements that the answer to a signature has: none.
const NO_ELEMENTS: usize = 0;

/// A request of the protocol, with the type of its answer.
pub(super) trait Question: Clone + PartialEq {
    /// The answer, if it is neither refused nor skipped.
    type Answer: Clone;

    /// Whether several of them may be asked in one message.
    const IN_BATCHES: bool;

    /// The request as the protocol writes it.
    fn to_value(&self) -> Value;

    /// Reads the answer.
    fn read(&self, text: &str) -> Result<Outcome<Self::Answer>, Malformed>;

    /// The maximum number of elements in the answer, or why the process is not asked.
    fn elements(&self, process: &Process) -> Result<usize, String>;

    /// The number of values that it is asked with.
    fn values(&self) -> usize;

    /// The questions of this type that ended the process.
    fn fatal(process: &Process) -> &Fatal<Self>;
}

impl Question for Request {
    type Answer = Success;
    const IN_BATCHES: bool = true;

    fn to_value(&self) -> Value {
        json::request_to_value(self)
    }

    fn read(&self, text: &str) -> Result<Outcome, Malformed> {
        json::outcome_from_str(self, text)
    }

    fn elements(&self, process: &Process) -> Result<usize, String> {
        let capabilities = &process.declared.capabilities;
        capabilities.covers(self)?;
        answer_elements(capabilities, self)
    }

    fn values(&self) -> usize {
        self.operands().iter().chain(self.cotangent()).map(|operand| operand.values().len()).sum()
    }

    fn fatal(process: &Process) -> &Fatal<Request> {
        &process.fatal_runs
    }
}

impl Question for Signature {
    type Answer = Inference;
    const IN_BATCHES: bool = false;

    fn to_value(&self) -> Value {
        json::signature_to_value(self)
    }

    fn read(&self, text: &str) -> Result<Outcome<Inference>, Malformed> {
        json::inferred_from_str(self, text)
    }

    fn elements(&self, process: &Process) -> Result<usize, String> {
        process.declared.capabilities.covers_signature(self).map(|()| NO_ELEMENTS)
    }

    fn values(&self) -> usize {
        0
    }

    fn fatal(process: &Process) -> &Fatal<Signature> {
        &process.fatal_signatures
    }
}
