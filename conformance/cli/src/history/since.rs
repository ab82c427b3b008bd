//! Since when a system fails some cases, and since when it no longer does.

use super::History;
use super::changes::{Step, steps};
use broadcheck::known::Known;
use std::collections::HashSet;

/// The releases between which something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// This release is the first.
    In(String),
    /// Somewhere after the first and no later than the second.
    Between(String, String),
    /// The earliest release that was judged has it already.
    NotLater(String),
}

/// Since when cases fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// When one of them began to fail.
    pub broke: When,
    /// When none of them failed any more, unless the newest release still fails one.
    pub fixed: Option<When>,
}

impl When {
    fn of(step: &Step<'_>) -> When {
        let (before, after) = (step.before.version.clone(), step.after.version.clone());
        if step.is_exact() { When::In(after) } else { When::Between(before, after) }
    }

    fn words(&self) -> String {
        match self {
            When::In(version) => version.clone(),
            When::Between(before, after) => format!("after {before}, by {after}"),
            When::NotLater(version) => format!("{version} or earlier"),
        }
    }
}

impl Since {
    /// In a few words: `2.1.0`, `1.20.3 or earlier, fixed in 2.4.0`.
    pub fn words(&self) -> String {
        let fixed = match &self.fixed {
            None => return self.broke.words(),
            Some(When::In(version)) => format!("in {version}"),
            Some(other) => other.words(),
        };
        format!("{}; fixed {fixed}", self.broke.words())
    }
}

/// [`since`] for the cases that the known failures of a system attribute to a finding. A release that they
/// cover has it, also if it passed these cases: of a sweep, not every request may have been asked, and some
/// failures show only sometimes.
pub fn since_finding(history: &History, known: &Known, number: u32) -> Option<Since> {
    let shows = |id: &&str| known.entry(id).is_some_and(|entry| entry.finding == Some(number));
    let cases: Vec<&str> = history.cases.iter().map(String::as_str).filter(shows).collect();
    let since = since(history, &cases)?;
    let newest = history.versions.last()?;
    let fixed = since.fixed.filter(|_| !known.covers(&newest.version));
    Some(Since { fixed, ..since })
}

/// Since when a system fails one of these cases, after the last time that it failed none of them. `None` if
/// no release that was judged fails one.
pub fn since(history: &History, cases: &[&str]) -> Option<Since> {
    let cases: HashSet<&str> = cases.iter().copied().collect();
    let wanted = |id: &String| cases.contains(id.as_str());
    let places: Vec<usize> =
        history.cases.iter().enumerate().filter(|(_, id)| wanted(id)).map(|(place, _)| place).collect();
    // Of the releases that were asked: whether one of the cases is wrong.
    let asked = history.versions.iter().map(|release| {
        let answers =
            places.iter().map(|&place| release.outcomes.at(place)).filter(|answer| answer.is_answer());
        let answers: Vec<bool> = answers.map(super::Outcome::is_wrong).collect();
        (!answers.is_empty()).then(|| answers.contains(&true))
    });
    let asked: Vec<Option<bool>> = asked.collect();
    let last = asked.iter().rposition(|wrong| *wrong == Some(true))?;
    let first = asked[..last].iter().rposition(|wrong| *wrong == Some(false));
    let steps = steps(history);
    let between =
        |right: usize, wrong: usize, turned: usize| match (right.abs_diff(wrong), &steps[turned - 1]) {
            (1, step) => When::of(step),
            // A release between them was not asked.
            _ => {
                let (one, other) = (right.min(wrong), right.max(wrong));
                When::Between(history.versions[one].version.clone(), history.versions[other].version.clone())
            }
        };
    let broke = match first {
        None => {
            let first = asked.iter().position(|wrong| *wrong == Some(true)).unwrap_or(last);
            When::NotLater(history.versions[first].version.clone())
        }
        Some(right) => {
            let wrong = right + 1 + asked[right + 1..].iter().position(|wrong| *wrong == Some(true))?;
            between(right, wrong, wrong)
        }
    };
    let fixed = asked[last..].iter().position(|wrong| *wrong == Some(false));
    let fixed = fixed.map(|after| between(last, last + after, last + after));
    Some(Since { broke, fixed })
}

#[cfg(test)]
mod tests {
    use super::super::changes::tests::history;
    use super::*;

    fn words(releases: &[(&str, &str)]) -> Option<String> {
        since(&history(releases), &["a/b", "a/c", "a/unknown"]).map(|since| since.words())
    }

    #[test]
    fn a_failure_has_a_first_release() {
        assert_eq!(words(&[("1.2", "pp"), ("1.3", "pf"), ("1.9", "fp")]).unwrap(), "1.3");
        assert_eq!(words(&[("1.2", "pp"), ("1.5", "pf")]).unwrap(), "after 1.2, by 1.5");
        assert_eq!(words(&[("1.2", "fp"), ("1.5", "pf")]).unwrap(), "1.2 or earlier");
        assert_eq!(words(&[("1.2", "ss"), ("1.5", "pf")]).unwrap(), "1.5 or earlier");
        assert_eq!(words(&[("1.2", "pp"), ("1.3", "ss"), ("1.4", "pf")]).unwrap(), "after 1.2, by 1.4");
        assert_eq!(words(&[("1.2", "pp"), ("1.5", "pp")]), None);
    }

    #[test]
    fn what_is_known_to_fail_is_not_fixed() {
        let releases = history(&[("1.2", "fp"), ("1.3", "pp")]);
        let words = |before: &str| {
            let text = format!(
                "implementation: mine\nversions: {{before: '{before}'}}\nknown:\n  - {{case: a/b, reason: wrong, finding: 7}}\n"
            );
            let known = Known::parse(&text, "known.yaml").unwrap();
            since_finding(&releases, &known, 7).map(|since| since.words())
        };
        assert_eq!(words("1.3").unwrap(), "1.2 or earlier; fixed in 1.3");
        assert_eq!(words("1.4").unwrap(), "1.2 or earlier");
    }

    #[test]
    fn a_failure_may_have_been_fixed() {
        assert_eq!(words(&[("1.2", "fp"), ("1.3", "pp")]).unwrap(), "1.2 or earlier; fixed in 1.3");
        assert_eq!(
            words(&[("1.1", "pp"), ("1.2", "pf"), ("1.6", "pp")]).unwrap(),
            "1.2; fixed after 1.2, by 1.6"
        );
        assert_eq!(words(&[("1.1", "fp"), ("1.2", "pp"), ("1.3", "fp")]).unwrap(), "1.3", "it came back");
    }
}
