//! Reads the output of a harness without a process, with the same code as for a process. For fuzzing.

use super::lines::{Line, read_line};
use super::{answer, start};
use broadcheck_spec::{Capabilities, Implementation, Outcome, Request};
use serde_json::Value;

/// What the lines of an output were read as.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The answer to `start`; `None` if the first line is not a valid one.
    pub declaration: Option<Declaration>,
    /// The outcomes of the answered requests, in order.
    pub outcomes: Vec<Outcome>,
    /// Why reading stopped before all requests were answered.
    pub fault: Option<String>,
}

/// The answer of an implementation to `start`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    name: String,
    version: String,
    capabilities: Capabilities,
}

/// Skips every request: only its declaration is known.
impl Implementation for Declaration {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, _: &Request) -> Outcome {
        Outcome::Skipped { reason: "only its declaration is known".into() }
    }
}

/// Reads an output: the answer to `start`, then one line per request, up to the first invalid line. A line of
/// more than `limit` bytes is invalid.
pub fn read(mut output: &[u8], requests: &[Request], limit: usize) -> Transcript {
    let mut transcript = Transcript { declaration: None, outcomes: Vec::new(), fault: None };
    let mut line = Vec::new();
    for seq in 0..=requests.len() {
        let fault = match read_line(&mut output, &mut line, || limit, |_| {}) {
            Ok(Line::Whole) => match seq.checked_sub(1) {
                None => start::read(&line)
                    .map(|declared| transcript.declaration = Some(declared.into()))
                    .err()
                    .map(|all| all.join("; ")),
                Some(place) => answer::read(&requests[place], 0, seq as u64, &line)
                    .map(|outcome| transcript.outcomes.push(outcome))
                    .err(),
            },
            Ok(Line::TooLong) => Some(format!("a line of more than {limit} bytes")),
            Ok(Line::Half | Line::End) => Some("the output ended".into()),
            Err(error) => Some(error.to_string()),
        };
        if fault.is_some() {
            transcript.fault = fault;
            break;
        }
    }
    transcript
}

/// The answer of an implementation to `start`.
pub fn declare(implementation: &dyn Implementation) -> Value {
    start::write(implementation, implementation.capabilities().max_elements)
}

impl From<start::Declared> for Declaration {
    fn from(declared: start::Declared) -> Declaration {
        Declaration { name: declared.name, version: declared.version, capabilities: declared.capabilities }
    }
}
