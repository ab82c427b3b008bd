//! Steps for what a harness declares beside its capabilities: a batch, and a switch for its optimiser.

use super::probes::{refused, several};
use super::{Found, Smoke, Wrong, found, shortened};
use crate::batch::{self, Answers};
use crate::session::Session;
use crate::start::Declared;
use crate::{Options, session::Fault};
use broadcheck::optimiser::Optimiser;
use broadcheck_judge::compare::{Latitude, Verdict, expectation_of, judge};
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Implementation, Request, json};
use std::time::Instant;

const BATCH_HINT: &str = "answer {\"answers\":[…]} with one answer per request, in their order and each with the seq of \
its request; or remove \"batch\" from the answer to `start`";

impl Smoke<'_> {
    /// Sends a whole batch, with a refusal in its midst, and one request after it.
    pub(super) fn batch(&mut self, declared: &Declared) {
        let requests = requests(&declared.capabilities, declared.batch);
        let name = format!("{} requests in one message are answered in their order", requests.len());
        let asked = self.asked_together(&requests).and_then(|together| {
            // A second answer to the batch would come in place of the answer to this request.
            self.ask(&requests[0], |message| message)?;
            Ok(together)
        });
        let found = match asked {
            Ok(true) => Found::Passed(String::new()),
            Ok(false) => Found::Advised(
                "it cannot build them together, so `check` asks them again in smaller batches: declare a smaller \
                 \"batch\" if it never can"
                    .into(),
            ),
            Err(wrong) => found(Err(wrong), BATCH_HINT),
        };
        self.step(&name, found);
    }

    /// Whether the requests were answered together.
    fn asked_together(&mut self, requests: &[Request]) -> Result<bool, Wrong> {
        let expected = format!("{} answers in one line, in the order of the requests", requests.len());
        let mut session = self.take().map_err(|message| Wrong::new(message, &expected))?;
        let first = session.ask_together(requests.iter().map(json::request_to_value), 0);
        let limit = self.options.time_limit * crate::schedule::BATCH_TIMES;
        let line = session
            .receive(Instant::now(), limit, self.options)
            .map_err(|fault: Fault| Wrong::new(fault.message(), &expected))?;
        let all: Vec<&Request> = requests.iter().collect();
        let outcomes = match batch::read(&all, 0, first, &line) {
            Err(text) => return Err(Wrong::new(text, expected)),
            Ok(Answers::Unbatched) => None,
            Ok(Answers::Each(outcomes)) => Some(outcomes),
        };
        self.session = Some(session);
        let Some(outcomes) = outcomes else { return Ok(false) };
        for (place, (request, outcome)) in requests.iter().zip(&outcomes).enumerate() {
            let right = Reference::new().run(request);
            let Some(expectation) = expectation_of(&right) else { continue };
            let text = match judge(request, &expectation, outcome, Latitude::ANY) {
                Verdict::Passed => continue,
                Verdict::Failed(difference) => difference.to_string(),
                Verdict::Skipped(reason) => format!("skipped, although it declares such requests: {reason}"),
                Verdict::Errored(message) => format!("errored: {message}"),
            };
            let sent = Some(shortened(&json::request_to_value(request)));
            let expected = shortened(&json::outcome_to_value(request, &right));
            return Err(Wrong { sent, ..Wrong::new(format!("answer {}: {text}", place + 1), expected) });
        }
        Ok(true)
    }

    /// Starts it with the optimiser in each position, and sends the simplest request.
    pub(super) fn optimiser(&mut self, able: &Capabilities) {
        for position in Optimiser::ALL {
            let hint = "take the position that `start` has in \"optimiser\", and state it in the answer; or remove \
                        \"optimiser\" from the answer if the library has no switch";
            let asked = self.switched(able, position);
            self.step(&format!("it starts with the optimiser {position}"), found(asked, hint));
        }
    }

    fn switched(&mut self, able: &Capabilities, position: Optimiser) -> Result<(), Wrong> {
        let expected = format!("an answer to `start` with \"optimiser\":\"{position}\"");
        let options = Options { optimiser: Some(position), ..*self.options };
        let opened = Session::open(&self.words, &options);
        let (session, _) = opened.map_err(|message| Wrong {
            sent: Some(format!(r#"{{"cmd":"start","version":1,"optimiser":"{position}"}}"#)),
            ..Wrong::new(message, &expected)
        })?;
        let before = self.session.replace(session);
        let asked = several(able, 1).first().map_or(Ok(()), |request| self.ask(request, |message| message));
        self.session = before;
        asked
    }
}

/// As many requests as the batch has, each with a result of its own shape except for one refusal.
fn requests(able: &Capabilities, batch: usize) -> Vec<Request> {
    let refusal = refused(able).into_iter().find(|request| able.covers(request).is_ok());
    let mut requests = several(able, batch - usize::from(refusal.is_some()));
    if let Some(refusal) = refusal {
        requests.insert(requests.len().min(1), refusal);
    }
    requests
}
