//! The history of a system: how each of its releases did, from a file, and its plot.
//! `schema/history.schema.json` describes the file.

use crate::report::clean;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 24;

/// The most releases of a history.
const MAX_VERSIONS: usize = 500;

/// What a file should be, for error messages.
const EXPECTED: &str = "a history of a system as conformance/schema/history.schema.json describes it";

/// A history.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct History {
    /// The name by which the system's reports call it.
    pub(crate) system: String,
    /// Its releases, the oldest first.
    pub(crate) versions: Vec<Release>,
}

/// A release.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Release {
    /// Its version.
    pub(crate) version: String,
    /// The day of the release.
    #[serde(default)]
    pub(crate) date: Option<String>,
    /// The number of cases with each result.
    pub(crate) counts: Counts,
    /// The cases that it answered wrongly, each with the reason.
    #[serde(default)]
    pub(crate) failures: BTreeMap<String, String>,
}

/// How many cases had each result.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Counts {
    /// As expected.
    pub(crate) passed: u32,
    /// Otherwise, known or not.
    pub(crate) failed: u32,
    /// Not asked.
    #[serde(default)]
    pub(crate) skipped: u32,
}

impl History {
    /// Reads a history from a file.
    ///
    /// # Errors
    /// The file, what was found and what was expected.
    pub(crate) fn load(path: &Path) -> Result<History, String> {
        let name = path.display();
        let wrong = |found: String| format!("{name}: found {found}, expected {EXPECTED}");
        let metadata = fs::metadata(path).map_err(|error| format!("{name}: {error}, expected {EXPECTED}"))?;
        if !metadata.is_file() {
            return Err(wrong("something other than a regular file".into()));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("more than {MAX_BYTES} bytes")));
        }
        History::parse(&bytes).map_err(wrong)
    }

    fn parse(bytes: &[u8]) -> Result<History, String> {
        let mut history: History = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let count = history.versions.len();
        if count == 0 || count > MAX_VERSIONS {
            return Err(format!("{count} versions (from 1 to {MAX_VERSIONS})"));
        }
        history.system = clean::name(&history.system);
        for release in &mut history.versions {
            release.version = clean::name(&release.version);
            release.date = release.date.as_deref().map(clean::name);
        }
        Ok(history)
    }
}

/// The plot: a bar per release, as high as the share of the answers that were wrong.
pub(super) struct Plot {
    pub(super) bars: Vec<Bar>,
    pub(super) width: usize,
    /// The highest number of wrong answers, at the top of the plot.
    pub(super) most: u32,
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

impl Plot {
    /// The height of the highest bar.
    pub(super) const HEIGHT: u32 = 120;
    /// The distance from bar to bar.
    const STEP: usize = 44;

    pub(super) fn of(history: &History) -> Plot {
        let most = history.versions.iter().map(|release| release.counts.failed).max().unwrap_or(0);
        let height = |failed: u32| {
            u32::try_from(u64::from(failed) * u64::from(Plot::HEIGHT) / u64::from(most.max(1)))
                .unwrap_or(Plot::HEIGHT)
        };
        let bar = |(place, release): (usize, &Release)| {
            let before = place.checked_sub(1).map(|before| &history.versions[before].failures);
            let missing = |of: &BTreeMap<String, String>, from: &BTreeMap<String, String>| {
                of.keys().filter(|id| !from.contains_key(*id)).count()
            };
            let height = height(release.counts.failed);
            Bar {
                x: place * Plot::STEP + 8,
                y: Plot::HEIGHT - height,
                height,
                middle: place * Plot::STEP + 22,
                above: i64::from(Plot::HEIGHT - height) - 4,
                broke: before.map_or(0, |before| missing(&release.failures, before)),
                fixed: before.map_or(0, |before| missing(before, &release.failures)),
                is_first: place == 0,
                release: release.clone(),
            }
        };
        let bars: Vec<Bar> = history.versions.iter().enumerate().map(bar).collect();
        Plot { width: bars.len() * Plot::STEP + 8, bars, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"system": "mine", "versions": [
        {"version": "1", "counts": {"passed": 8, "failed": 4}, "failures": {"a/b": "wrong", "a/c": "wrong"}},
        {"version": "2", "date": "2026-01-02", "counts": {"passed": 11, "failed": 1},
         "failures": {"a/d": "wrong"}}]}"#;

    #[test]
    fn a_plot_shows_what_each_release_broke_and_fixed() {
        let plot = Plot::of(&History::parse(SAMPLE.as_bytes()).unwrap());
        let of: Vec<(u32, u32, usize, usize)> =
            plot.bars.iter().map(|bar| (bar.y, bar.height, bar.broke, bar.fixed)).collect();
        assert_eq!(of, [(0, 120, 0, 0), (90, 30, 1, 2)]);
        assert_eq!(plot.most, 4);
    }

    #[test]
    fn other_files_are_refused() {
        for text in
            ["", "{}", "[]", r#"{"system": "a", "versions": []}"#, r#"{"system": "a", "versions": [{}]}"#]
        {
            assert!(History::parse(text.as_bytes()).is_err(), "{text}");
        }
        let negative = SAMPLE.replace("\"failed\": 4", "\"failed\": -4");
        assert!(History::parse(negative.as_bytes()).is_err());
    }
}
