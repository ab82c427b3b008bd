//! `--impl-name`: the name that reports show in place of a command.
//!
//! A command may contain a token or a path that should not be published. With a name, neither the command nor
//! its arguments appear in any output: messages of the implementation that quote them are changed too.

use broadcheck_search::subjects::Subject;
use broadcheck_spec::{Capabilities, Implementation, Inference, Outcome, Request, Signature, hides};
use std::time::Instant;

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 80;

/// Shorter words of a command are not replaced in messages: they may be parts of other words.
const SHORTEST_SECRET: usize = 4;

/// Parses a name: one line, without invisible characters.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let visible = |char: char| !char.is_control() && !hides(char);
    if text.trim().is_empty() || text.chars().count() > MAX_NAME || !text.chars().all(visible) {
        return Err(format!("expected 1 to {MAX_NAME} visible characters in one line"));
    }
    Ok(text.to_owned())
}

/// Replaces a command and its arguments in texts by a name.
#[derive(Clone)]
pub(super) struct Hiding {
    name: String,
    /// The longest first.
    secrets: Vec<String>,
}

impl Hiding {
    pub(super) fn new(command: &str, name: &str) -> Hiding {
        let words = shell_words::split(command).unwrap_or_default();
        let mut secrets = vec![command.to_owned()];
        for (place, word) in words.iter().enumerate() {
            // A program without a path, such as `python3`, and the name of an option give nothing away.
            let plain = if place == 0 { !word.contains(['/', '\\']) } else { word.starts_with('-') };
            if !plain {
                secrets.push(word.clone());
            }
            secrets.extend(word.split_once('=').map(|(_, value)| value.to_owned()));
        }
        secrets.retain(|secret| secret.len() >= SHORTEST_SECRET);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Hiding { name: name.to_owned(), secrets }
    }

    pub(super) fn hide(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, &self.name))
    }

    fn hide_in<T>(&self, outcome: Outcome<T>) -> Outcome<T> {
        match outcome {
            Outcome::Success(_) => outcome,
            Outcome::Refusal(mut refusal) => {
                refusal.message = self.hide(&refusal.message);
                Outcome::Refusal(refusal)
            }
            Outcome::Skipped { reason } => Outcome::Skipped { reason: self.hide(&reason) },
            Outcome::Errored { kind, message } => Outcome::Errored { kind, message: self.hide(&message) },
        }
    }
}

/// An implementation under a name from the command line.
pub(super) struct Named {
    inner: Box<Subject>,
    version: String,
    hiding: Hiding,
}

impl Named {
    pub(super) fn new(inner: Box<Subject>, hiding: Hiding) -> Named {
        let version = hiding.hide(inner.version());
        Named { inner, version, hiding }
    }
}

impl Implementation for Named {
    fn name(&self) -> &str {
        &self.hiding.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn run(&self, request: &Request) -> Outcome {
        self.hiding.hide_in(self.inner.run(request))
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }

    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        let outcomes = self.inner.run_many(requests);
        outcomes.into_iter().map(|outcome| self.hiding.hide_in(outcome)).collect()
    }

    fn run_many_until(&self, requests: &[&Request], deadline: Instant) -> Vec<Outcome> {
        let outcomes = self.inner.run_many_until(requests, deadline);
        outcomes.into_iter().map(|outcome| self.hiding.hide_in(outcome)).collect()
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.hiding.hide_in(self.inner.infer(signature))
    }

    fn infer_many(&self, signatures: &[&Signature]) -> Vec<Outcome<Inference>> {
        let outcomes = self.inner.infer_many(signatures);
        outcomes.into_iter().map(|outcome| self.hiding.hide_in(outcome)).collect()
    }

    fn is_exact(&self) -> bool {
        self.inner.is_exact()
    }

    fn allowed_ulp(&self) -> u32 {
        self.inner.allowed_ulp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_visible_line() {
        assert_eq!(parse_name("my library"), Ok("my library".to_owned()));
        for bad in ["", "  ", "a\nb", "a\u{1b}b", "a\u{202e}b", &"x".repeat(81)] {
            assert!(parse_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_command_and_its_arguments_are_replaced() {
        let hiding = Hiding::new("python3 '/home/me/my harness.py' --token=s3cret -v hidden", "mine");
        let text = "python3: /home/me/my harness.py: bad s3cret, hidden; -v --token";
        assert_eq!(hiding.hide(text), "python3: mine: bad mine, mine; -v --token");
        let whole = "python3 '/home/me/my harness.py' --token=s3cret -v hidden: not found";
        assert_eq!(hiding.hide(whole), "mine: not found");
    }
}
