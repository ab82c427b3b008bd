//! An output as a run would read it, without a process: the lines are judged by the same code.

use super::lines::{Line, read_line};
use super::{answer, start};
use broadcheck_spec::{Capabilities, Implementation, Outcome, Request};
use serde_json::Value;

/// What the lines of an output were taken for.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Who answered `start`; `None` where the first line is no valid answer.
    pub told: Option<Told>,
    /// One per request that was answered, in order.
    pub outcomes: Vec<Outcome>,
    /// Why nothing after that was read, if not for want of requests.
    pub fault: Option<String>,
}

/// What an implementation says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    name: String,
    version: String,
    capabilities: Capabilities,
}

/// It can be told again; it answers nothing.
impl Implementation for Told {
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
        Outcome::Skipped { reason: "only what it said of itself is known".into() }
    }
}

/// Reads an output: the answer to `start`, then one line per request, as far as they are valid. A line of more than
/// `limit` bytes is none.
pub fn read(mut output: &[u8], requests: &[Request], limit: usize) -> Transcript {
    let mut transcript = Transcript { told: None, outcomes: Vec::new(), fault: None };
    let mut line = Vec::new();
    for seq in 0..=requests.len() {
        let fault = match read_line(&mut output, &mut line, || limit, |_| {}) {
            Ok(Line::Whole) => match seq.checked_sub(1) {
                None => start::read(&line)
                    .map(|declared| transcript.told = Some(declared.into()))
                    .err()
                    .map(|all| all.join("; ")),
                Some(place) => answer::read(&requests[place], seq as u64, &line)
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

/// The line by which an implementation answers `start`.
pub fn told(implementation: &dyn Implementation) -> Value {
    start::write(implementation, implementation.capabilities().max_elements)
}

impl From<start::Declared> for Told {
    fn from(declared: start::Declared) -> Told {
        Told { name: declared.name, version: declared.version, capabilities: declared.capabilities }
    }
}
