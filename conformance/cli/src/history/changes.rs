//! What changed from release to release, and which release to try next to find where.

use super::versions::Order;
use super::{History, Outcome, Release};
use std::collections::HashSet;

/// How the answer to a case changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// It is newly wrong.
    Broke,
    /// It is no longer wrong.
    Fixed,
    /// It no longer agrees with a convention.
    Differs,
    /// It newly agrees with a convention.
    Agrees,
}

impl Turn {
    fn of(before: Outcome, after: Outcome) -> Option<Turn> {
        if !before.is_answer() || !after.is_answer() {
            return None;
        }
        match (before.is_wrong(), after.is_wrong()) {
            (false, true) => Some(Turn::Broke),
            (true, false) => Some(Turn::Fixed),
            (true, true) => None,
            (false, false) if before == after => None,
            (false, false) if after == Outcome::Differs => Some(Turn::Differs),
            (false, false) if before == Outcome::Differs => Some(Turn::Agrees),
            (false, false) => None,
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Turn::Broke => "newly wrong",
            Turn::Fixed => "fixed",
            Turn::Differs => "now differs from a convention",
            Turn::Agrees => "now agrees with a convention",
        }
    }
}

/// A case whose answer changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// How it changed.
    pub turn: Turn,
    /// Its id.
    pub case: &'a str,
}

/// A step from one release that was judged to the next.
pub struct Step<'a> {
    /// The earlier release.
    pub before: &'a Release,
    /// The later release.
    pub after: &'a Release,
    /// The releases between them that were not tried, the oldest first.
    pub untried: Vec<&'a str>,
    /// Whether a release between them could not be judged.
    pub has_gap: bool,
    /// The cases whose answer changed, by kind and then in the order of the file.
    pub changes: Vec<Change<'a>>,
}

impl Step<'_> {
    /// Whether the later release is known to be the first with the changes.
    pub fn is_exact(&self) -> bool {
        self.untried.is_empty() && !self.has_gap
    }
}

/// Every step of a history, the earliest first.
pub fn steps(history: &History) -> Vec<Step<'_>> {
    let unable: Vec<(Order, &str)> = ordered(history.unable.iter().map(|one| one.version.as_str()));
    let is_unable = |version: &str| unable.iter().any(|(_, other)| *other == version);
    let judged: HashSet<&str> = history.versions.iter().map(|release| release.version.as_str()).collect();
    let listed = history.listed.iter().map(|listed| listed.version.as_str());
    // A file that is not in order may have a judged release between two others.
    let untried = ordered(listed.filter(|version| !is_unable(version) && !judged.contains(version)));
    history.versions.windows(2).map(|pair| step(history, &pair[0], &pair[1], &untried, &unable)).collect()
}

/// Each version with what orders it.
fn ordered<'a>(versions: impl Iterator<Item = &'a str>) -> Vec<(Order, &'a str)> {
    versions.map(|version| (Order::of(version), version)).collect()
}

fn step<'a>(
    history: &'a History,
    before: &'a Release,
    after: &'a Release,
    untried: &[(Order, &'a str)],
    unable: &[(Order, &'a str)],
) -> Step<'a> {
    let (from, to) = (Order::of(&before.version), Order::of(&after.version));
    let between = |(key, _): &&(Order, &'a str)| *key > from && *key < to;
    let cases = history.cases.iter().enumerate();
    let change = |(place, id): (usize, &'a String)| {
        let turn = Turn::of(before.outcomes.at(place), after.outcomes.at(place))?;
        Some(Change { turn, case: id })
    };
    let mut changes: Vec<Change<'a>> = cases.filter_map(change).collect();
    changes.sort_by_key(|change| change.turn);
    Step {
        before,
        after,
        untried: untried.iter().filter(between).map(|(_, version)| *version).collect(),
        has_gap: unable.iter().any(|one| between(&one)),
        changes,
    }
}

/// The release to try next: the middle of those between two that differ. `None` if there is none left.
pub fn next_to_try(history: &History) -> Option<String> {
    let steps = steps(history);
    let open = steps.iter().find(|step| !step.changes.is_empty() && !step.untried.is_empty())?;
    Some(open.untried[open.untried.len() / 2].to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::history::{Counts, Listed, Outcomes, Unable};

    /// A history of two cases with these releases and their outcomes, of an index of `1.0` to `1.9`.
    pub(in crate::history) fn history(releases: &[(&str, &str)]) -> History {
        let listed = (0..10).map(|minor| Listed { version: format!("1.{minor}"), date: None });
        let mut history = History {
            listed: listed.collect(),
            cases: vec!["a/b".into(), "a/c".into()],
            ..History::new("mine")
        };
        for (version, outcomes) in releases {
            history.add(release(version, outcomes));
        }
        history
    }

    fn release(version: &str, outcomes: &str) -> Release {
        let outcomes: Outcomes = serde_json::from_value(outcomes.into()).unwrap();
        Release {
            version: version.into(),
            date: None,
            suite: None,
            sweep_sample: None,
            python: None,
            beside: Vec::new(),
            counts: Counts::default(),
            outcomes,
            failures: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn a_change_is_a_turn_between_answers() {
        let turns = |before, after| {
            let history = history(&[("1.0", before), ("1.9", after)]);
            steps(&history)[0]
                .changes
                .iter()
                .map(|change| (change.turn, change.case.to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(turns("pf", "ep"), [(Turn::Broke, "a/b".into()), (Turn::Fixed, "a/c".into())]);
        assert_eq!(turns("ad", "da"), [(Turn::Differs, "a/b".into()), (Turn::Agrees, "a/c".into())]);
        assert_eq!(turns("fs", "es"), []);
        assert_eq!(turns("s", "ff"), [], "not asked before");
    }

    #[test]
    fn bisection_finds_each_first_release() {
        // The first case breaks in 1.3, the second is fixed in 1.7.
        let outcomes = |minor: usize| match minor {
            0..3 => "pf",
            3..7 => "ff",
            _ => "fp",
        };
        let mut history = history(&[("1.0", outcomes(0)), ("1.9", outcomes(9))]);
        let mut tried = Vec::new();
        while let Some(version) = next_to_try(&history) {
            let minor: usize = version[2..].parse().unwrap();
            history.add(release(&version, outcomes(minor)));
            tried.push(minor);
        }
        assert_eq!(tried, [5, 3, 2, 7, 6], "few are tried");
        let steps = steps(&history);
        let exact: Vec<(&str, usize)> = steps
            .iter()
            .filter(|step| step.is_exact())
            .map(|step| (step.after.version.as_str(), step.changes.len()))
            .filter(|(_, changes)| *changes > 0)
            .collect();
        assert_eq!(exact, [("1.3", 1), ("1.7", 1)]);
    }

    #[test]
    fn what_cannot_be_installed_is_a_gap_and_ends_the_search() {
        let mut history = history(&[("1.3", "pp"), ("1.5", "fp")]);
        assert_eq!(next_to_try(&history).as_deref(), Some("1.4"));
        history.unable.push(Unable { version: "1.4".into(), reason: "no wheel".into() });
        assert_eq!(next_to_try(&history), None);
        assert!(!steps(&history)[0].is_exact());
    }

    #[test]
    fn a_release_that_was_judged_is_not_tried_again() {
        let mut history = history(&[("1.3", "pp"), ("1.4", "fp"), ("1.5", "fp")]);
        history.versions.swap(1, 2);
        assert_eq!(next_to_try(&history), None, "also if the file is not in order");
    }
}
