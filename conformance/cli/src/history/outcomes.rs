//! The outcomes of a release: a letter per case, and in the file a number before the letter if it is
//! repeated.

use super::MAX_CASES;
use crate::report::clean::shortened;
use broadcheck::run::Status;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::Write as _;

/// The most digits that a message quotes.
const MAX_DIGITS: usize = 24;

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As expected.
    Passed,
    /// As a convention of the suite says.
    Agrees,
    /// Otherwise than a convention says, which is no failure.
    Differs,
    /// Wrong.
    Failed,
    /// A crash, a hang or no valid answer.
    Errored,
    /// The release, or its adapter, does not support something in the case.
    Skipped,
    /// The suite did not have the case when the release was judged.
    NotAsked,
}

impl Outcome {
    const ALL: [Outcome; 7] = [
        Outcome::Passed,
        Outcome::Agrees,
        Outcome::Differs,
        Outcome::Failed,
        Outcome::Errored,
        Outcome::Skipped,
        Outcome::NotAsked,
    ];

    /// The outcome of a case that was judged without known failures.
    pub(crate) fn of(status: Status) -> Outcome {
        match status {
            Status::Passed | Status::UnexpectedPass => Outcome::Passed,
            Status::Agrees => Outcome::Agrees,
            Status::Differs => Outcome::Differs,
            Status::Failed | Status::KnownFailure => Outcome::Failed,
            Status::Errored => Outcome::Errored,
            Status::Skipped => Outcome::Skipped,
        }
    }

    fn letter(self) -> char {
        match self {
            Outcome::Passed => 'p',
            Outcome::Agrees => 'a',
            Outcome::Differs => 'd',
            Outcome::Failed => 'f',
            Outcome::Errored => 'e',
            Outcome::Skipped => 's',
            Outcome::NotAsked => 'n',
        }
    }

    /// Whether it counts as a failure.
    pub fn is_wrong(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Errored)
    }

    /// Whether the release was asked.
    pub fn is_answer(self) -> bool {
        !matches!(self, Outcome::Skipped | Outcome::NotAsked)
    }
}

/// The outcomes of a release, in the order of the history's cases. Those after the last were not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes(Vec<Outcome>);

impl Outcomes {
    /// The outcome of the case at this place.
    pub fn at(&self, place: usize) -> Outcome {
        self.0.get(place).copied().unwrap_or(Outcome::NotAsked)
    }

    /// The outcomes so far.
    pub fn iter(&self) -> impl Iterator<Item = Outcome> {
        self.0.iter().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the outcome of the case at this place.
    pub(crate) fn set(&mut self, place: usize, outcome: Outcome) {
        if self.0.len() <= place {
            self.0.resize(place + 1, Outcome::NotAsked);
        }
        self.0[place] = outcome;
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for run in self.0.chunk_by(|one, other| one == other) {
            if run.len() > 1 {
                write!(text, "{}", run.len()).expect("writing to a string does not fail");
            }
            text.push(run[0].letter());
        }
        text
    }

    /// Reads the text, without allocating more than [`MAX_CASES`] outcomes.
    fn parse(text: &str) -> Result<Outcomes, String> {
        let mut outcomes = Vec::new();
        let mut rest = text;
        while let Some(place) = rest.find(|char: char| !char.is_ascii_digit()) {
            let (digits, after) = rest.split_at(place);
            let letter = after.chars().next().unwrap_or_default();
            let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.letter() == letter);
            let outcome = outcome
                .ok_or_else(|| format!("`{letter}` in `outcomes`, expected one of the letters padfesn"))?;
            let count: usize = if digits.is_empty() { 1 } else { digits.parse().unwrap_or(usize::MAX) };
            if count == 0 || count > MAX_CASES - outcomes.len() {
                let digits = shortened(digits, MAX_DIGITS);
                return Err(format!(
                    "`{digits}` in `outcomes`, expected 1 or more, and at most {MAX_CASES} in all"
                ));
            }
            outcomes.resize(outcomes.len() + count, outcome);
            rest = &after[letter.len_utf8()..];
        }
        match rest {
            "" => Ok(Outcomes(outcomes)),
            digits => Err(format!(
                "`{}` at the end of `outcomes`, expected a letter after it",
                shortened(digits, MAX_DIGITS)
            )),
        }
    }
}

impl Serialize for Outcomes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Outcomes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcomes, D::Error> {
        Outcomes::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_outcomes_are_counted() {
        let outcomes = Outcomes::parse("3pf2a").unwrap();
        assert_eq!((outcomes.len(), outcomes.at(3), outcomes.at(6)), (6, Outcome::Failed, Outcome::NotAsked));
        assert_eq!(outcomes.text(), "3pf2a");
        assert_eq!(Outcomes::parse("ppp").unwrap().text(), "3p");
    }

    #[test]
    fn a_place_beyond_the_end_is_filled() {
        let mut outcomes = Outcomes::default();
        outcomes.set(2, Outcome::Passed);
        assert_eq!(outcomes.text(), "2np");
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, expected) in [
            ("3x", "`x`"),
            ("p3", "`3` at the end"),
            ("0p", "`0`"),
            ("16385p", "`16385`"),
            ("16384pp", "``"),
            ("99999999999999999999p", "`99999999999999999999`"),
            ("é", "`é`"),
        ] {
            let error = Outcomes::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
