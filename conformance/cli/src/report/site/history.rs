//! The plot of a history: how each release of a system did, and what changed from one to the next.

use super::world::{World, case_path};
use crate::history::changes::{Step, Turn, steps};
use crate::history::table::heading;
use crate::history::{History, Release, Unable};
use std::collections::BTreeMap;

/// The plot: a bar per release, as high as the share of the answers that were wrong.
pub(super) struct Plot {
    pub(super) bars: Vec<Bar>,
    pub(super) width: usize,
    /// The highest number of wrong answers, at the top of the plot.
    pub(super) most: u32,
    /// How many cases of a sweep were run at most, if not all.
    pub(super) sample: Option<u64>,
    /// The steps between releases that answer some case differently.
    pub(super) steps: Vec<ShownStep>,
    pub(super) unable: Vec<Unable>,
}

pub(super) struct Bar {
    pub(super) release: Release,
    pub(super) x: usize,
    pub(super) y: u32,
    pub(super) height: u32,
    /// Where the texts stand: the middle of the bar, and above it.
    pub(super) middle: usize,
    pub(super) above: i64,
    /// The cases that the release before answered otherwise: newly wrong, and no longer wrong.
    pub(super) broke: usize,
    pub(super) fixed: usize,
    /// Whether there is a release before.
    pub(super) is_first: bool,
}

/// A step from one release to the next.
pub(super) struct ShownStep {
    pub(super) heading: String,
    /// How many cases changed, and how.
    pub(super) words: String,
    pub(super) cases: Vec<ShownCase>,
}

pub(super) struct ShownCase {
    /// The path of its page, if the suite still has it.
    pub(super) path: Option<String>,
    pub(super) title: String,
    /// How it changed.
    pub(super) word: &'static str,
}

impl ShownStep {
    fn of(step: &Step<'_>, world: &World<'_>) -> ShownStep {
        let groups = step.changes.chunk_by(|one, other| one.turn == other.turn);
        let words: Vec<String> =
            groups.map(|group| format!("{} {}", group.len(), group[0].turn.word())).collect();
        let shown = |change: &crate::history::changes::Change<'_>| {
            let case = world.case(change.case);
            ShownCase {
                path: case.map(|case| case_path(case.id)),
                title: case.map_or(change.case, |case| case.title).into(),
                word: change.turn.word(),
            }
        };
        let cases = step.changes.iter().map(shown).collect();
        ShownStep { heading: heading(step), words: words.join(", "), cases }
    }
}

impl Plot {
    /// The height of the highest bar.
    pub(super) const HEIGHT: u32 = 120;
    /// The width of a bar.
    pub(super) const BAR: usize = 28;
    /// The distance from bar to bar, if the versions are short.
    const STEP: usize = 44;
    /// The width of a character of a version.
    const CHARACTER: usize = 7;

    pub(super) fn of(history: &History, world: &World<'_>) -> Plot {
        let steps = steps(history);
        let changed = steps.iter().filter(|step| !step.changes.is_empty());
        Plot {
            steps: changed.map(|step| ShownStep::of(step, world)).collect(),
            unable: history.unable.clone(),
            ..Plot::bars(history, &steps)
        }
    }

    fn bars(history: &History, steps: &[Step<'_>]) -> Plot {
        let most = history.versions.iter().map(|release| release.counts.failed).max().unwrap_or(0);
        let height = |failed: u32| {
            u32::try_from(u64::from(failed) * u64::from(Plot::HEIGHT) / u64::from(most.max(1)))
                .unwrap_or(Plot::HEIGHT)
        };
        let longest = history.versions.iter().map(|release| release.version.chars().count()).max();
        let distance = Plot::STEP.max(longest.unwrap_or(0) * Plot::CHARACTER + 6);
        let bar = |(place, release): (usize, &Release)| {
            let (broke, fixed) = place.checked_sub(1).map_or((0, 0), |before| turns(&steps[before]));
            let (height, start) = (height(release.counts.failed), place * distance + 8);
            let middle = start + (distance - 8) / 2;
            Bar {
                x: middle - Plot::BAR / 2,
                y: Plot::HEIGHT - height,
                height,
                middle,
                above: i64::from(Plot::HEIGHT - height) - 4,
                broke,
                fixed,
                is_first: place == 0,
                release: release.clone(),
            }
        };
        let bars: Vec<Bar> = history.versions.iter().enumerate().map(bar).collect();
        Plot {
            width: bars.len() * distance + 8,
            bars,
            most,
            sample: history.versions.iter().filter_map(|release| release.sweep_sample).max(),
            steps: Vec::new(),
            unable: Vec::new(),
        }
    }
}

/// How many cases are newly wrong in the later release, and no longer wrong.
fn turns(step: &Step<'_>) -> (usize, usize) {
    if step.before.outcomes.is_empty() || step.after.outcomes.is_empty() {
        // A file that has only failures.
        let missing = |of: &BTreeMap<String, String>, from: &BTreeMap<String, String>| {
            of.keys().filter(|id| !from.contains_key(*id)).count()
        };
        let (before, after) = (&step.before.failures, &step.after.failures);
        return (missing(after, before), missing(before, after));
    }
    let of = |turn: Turn| step.changes.iter().filter(|change| change.turn == turn).count();
    (of(Turn::Broke), of(Turn::Fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(text: &str) -> Vec<(u32, u32, usize, usize)> {
        let history = History::parse(text.as_bytes()).unwrap();
        let plot = Plot::bars(&history, &steps(&history));
        assert_eq!(plot.most, 4);
        plot.bars.iter().map(|bar| (bar.y, bar.height, bar.broke, bar.fixed)).collect()
    }

    #[test]
    fn a_plot_shows_what_each_release_broke_and_fixed() {
        let failures = r#"{"system": "mine", "versions": [
            {"version": "1", "counts": {"passed": 8, "failed": 4}, "failures": {"a/b": "wrong", "a/c": "wrong"}},
            {"version": "2", "date": "2026-01-02", "counts": {"passed": 11, "failed": 1},
             "failures": {"a/d": "wrong"}}]}"#;
        assert_eq!(bars(failures), [(0, 120, 0, 0), (90, 30, 1, 2)]);
        // The same, where the last case is new in the suite.
        let outcomes = r#"{"system": "mine", "cases": ["a/b", "a/c", "a/d"], "versions": [
            {"version": "1", "counts": {"passed": 8, "failed": 4}, "outcomes": "2f"},
            {"version": "2", "counts": {"passed": 11, "failed": 1}, "outcomes": "2pf"}]}"#;
        assert_eq!(bars(outcomes), [(0, 120, 0, 0), (90, 30, 0, 2)]);
    }
}
