//! A comparison as text, markdown and JSON.

use super::{CaseChange, Change, Comparison, RunComparison};
use crate::report::PRODUCT;
use crate::report::markdown::{escape, fence_for, inline};
use crate::report::read::RecordedCase;
use serde::{Serialize, Serializer};
use std::{fmt, io};

/// For a terminal or a log.
pub(crate) fn text(comparison: &Comparison<'_>, text: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(text, "{PRODUCT}: two reports compared")?;
    for remark in comparison.remarks() {
        writeln!(text, "{remark}")?;
    }
    for run in &comparison.runs {
        writeln!(text, "\n{}: {}", run.title(), counts(run))?;
        for change in &run.changes {
            writeln!(text, "\n{:<8} {}  ({})", change.change.name(), change.case.id, change.statuses())?;
            for line in about(change) {
                writeln!(text, "  {line}")?;
            }
        }
    }
    writeln!(text, "\n{}", comparison.closing())?;
    Ok(())
}

/// For a pull request.
pub(crate) fn markdown(comparison: &Comparison<'_>, text: &mut dyn fmt::Write) -> fmt::Result {
    writeln!(text, "### {PRODUCT}: two reports compared\n")?;
    for remark in comparison.remarks() {
        writeln!(text, "- {}\n", inline(&remark))?;
    }
    writeln!(text, "| implementation | broken | fixed | changed | new | gone | as before |")?;
    writeln!(text, "|---|--:|--:|--:|--:|--:|--:|")?;
    for run in &comparison.runs {
        let counts: Vec<String> =
            Change::ALL.into_iter().map(|change| run.count(change).to_string()).collect();
        writeln!(text, "| {} | {} | {} |", inline(&run.title()), counts.join(" | "), run.same)?;
    }
    writeln!(text, "\n**{}**", inline(&comparison.closing()))?;
    for run in &comparison.runs {
        for change in &run.changes {
            writeln!(
                text,
                "\n<details><summary>{}: <code>{}</code> ({}): {}</summary>\n",
                change.change.name(),
                escape(&change.case.id),
                escape(run.name),
                escape(&change.statuses())
            )?;
            let block = about(change).join("\n");
            let fence = fence_for(&block);
            writeln!(text, "{fence}text\n{block}\n{fence}\n\n</details>")?;
        }
    }
    Ok(())
}

/// `2 broken, 1 fixed, 1497 as before`.
fn counts(run: &RunComparison<'_>) -> String {
    let changes = Change::ALL.into_iter().filter(|&change| run.count(change) > 0);
    let mut counts: Vec<String> =
        changes.map(|change| format!("{} {}", run.count(change), change.name())).collect();
    counts.push(format!("{} as before", run.same));
    counts.join(", ")
}

/// The title, and the details in both reports.
fn about(change: &CaseChange<'_>) -> Vec<String> {
    let mut lines = vec![change.case.title.to_string()];
    for (when, ended) in [("before", change.old), ("now", change.new)] {
        let detail = ended.map(RecordedCase::reason).unwrap_or_default();
        for (place, line) in detail.lines().enumerate() {
            lines.push(format!("{:<8}{line}", if place == 0 { format!("{when}:") } else { String::new() }));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

#[derive(Serialize)]
struct Document<'a> {
    broken: usize,
    held: bool,
    suites: [&'a str; 2],
    interrupted: [bool; 2],
    new_implementations: &'a [String],
    gone_implementations: &'a [String],
    implementations: Runs<'a>,
}

/// The implementations, written one after the other.
struct Runs<'a>(&'a [RunComparison<'a>]);

impl Serialize for Runs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(implementation))
    }
}

#[derive(Serialize)]
struct Implementation<'a> {
    name: &'a str,
    versions: [&'a str; 2],
    same: usize,
    changes: Changes<'a>,
}

/// The cases that differ, written one after the other.
struct Changes<'a>(&'a [CaseChange<'a>]);

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(changed))
    }
}

#[derive(Serialize)]
struct Changed<'a> {
    id: &'a str,
    change: &'a str,
    title: &'a str,
    old: Option<Ended<'a>>,
    new: Option<Ended<'a>>,
}

#[derive(Serialize)]
struct Ended<'a> {
    status: &'a str,
    detail: &'a str,
}

/// For programs, described by `schema/comparison.schema.json`.
pub(crate) fn json(comparison: &Comparison<'_>, out: &mut impl io::Write) -> io::Result<()> {
    let document = Document {
        broken: comparison.runs.iter().map(|run| run.count(Change::Broken)).sum(),
        held: comparison.held(),
        suites: comparison.suites,
        interrupted: comparison.interrupted,
        new_implementations: &comparison.new_runs,
        gone_implementations: &comparison.gone_runs,
        implementations: Runs(&comparison.runs),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn implementation<'a>(run: &'a RunComparison<'a>) -> Implementation<'a> {
    let RunComparison { name, versions, ref changes, same } = *run;
    Implementation { name, versions, same, changes: Changes(changes) }
}

fn changed<'a>(change: &CaseChange<'a>) -> Changed<'a> {
    Changed {
        id: &change.case.id,
        change: change.change.json_name(),
        title: &change.case.title,
        old: change.old.map(ended),
        new: change.new.map(ended),
    }
}

fn ended(case: &RecordedCase) -> Ended<'_> {
    Ended { status: case.status.name(), detail: case.reason() }
}
