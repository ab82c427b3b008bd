//! The table of counts, with a row per rule set and columns per implementation, for the text and the markdown
//! report.

use super::{Report, Run, Summary};

/// The counts. The last row is the total.
pub(super) struct Counts {
    /// The first column: `rule set`, the names, `total`.
    pub(super) names: Vec<String>,
    /// One group of columns per implementation.
    pub(super) groups: Vec<Group>,
}

/// An implementation's columns.
pub(super) struct Group {
    /// The implementation.
    pub(super) title: String,
    /// The headers of its columns.
    pub(super) headers: Vec<&'static str>,
    /// One row per rule set, then the total; one count per column.
    pub(super) rows: Vec<Vec<usize>>,
}

/// The name of a count and its value. Rules and arithmetic come first, conventions last. Columns after the
/// first [`ALWAYS`] appear only if they are not all zero.
type Column = (&'static str, fn(&Summary) -> usize);

const COLUMNS: [Column; 7] = [
    ("passed", |summary| summary.passed),
    ("failed", |summary| summary.failed),
    ("skipped", |summary| summary.skipped),
    ("errored", |summary| summary.errored),
    ("known", |summary| summary.known),
    ("agrees", |summary| summary.agrees),
    ("differs", |summary| summary.differs),
];

const ALWAYS: usize = 3;

impl Counts {
    pub(super) fn of(report: &Report) -> Counts {
        let sets = report.rule_sets();
        let mut names: Vec<String> =
            sets.iter().map(|set| set.map_or_else(|| "several".into(), |set| set.to_string())).collect();
        names.push("total".into());
        let groups = report.runs.iter().map(|run| {
            let by_set = sets.iter().map(|set| Summary::of(run.results.iter().filter(|e| e.rules == *set)));
            group(run, &by_set.chain([run.summary()]).collect::<Vec<_>>())
        });
        Counts { names, groups: groups.collect() }
    }
}

fn group(run: &Run, summaries: &[Summary]) -> Group {
    let total = run.summary();
    let shown = COLUMNS.iter().enumerate().filter(|(place, (_, count))| *place < ALWAYS || count(&total) > 0);
    let columns: Vec<&Column> = shown.map(|(_, column)| column).collect();
    Group {
        title: run.title(),
        headers: columns.iter().map(|(name, _)| *name).collect(),
        rows: summaries
            .iter()
            .map(|summary| columns.iter().map(|(_, count)| count(summary)).collect())
            .collect(),
    }
}
