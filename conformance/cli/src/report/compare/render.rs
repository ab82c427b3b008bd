//! A comparison as text, markdown and JSON.

use super::{CaseChange, Change, Comparison, RunComparison};
use crate::report::PRODUCT;
use crate::report::markdown::{escape, fence_for, inline};
use broadcheck::run::Status;
use serde::Serialize;
use std::fmt::Write as _;

/// For a terminal or a log.
pub(crate) fn text(comparison: &Comparison) -> String {
    let mut text = format!("{PRODUCT}: two reports compared\n");
    for remark in comparison.remarks() {
        let _ = writeln!(text, "{remark}");
    }
    for run in &comparison.runs {
        let _ = writeln!(text, "\n{}: {}", run.title(), counts(run));
        for change in &run.changes {
            let _ = writeln!(text, "\n{:<8} {}  ({})", change.change.name(), change.id, change.statuses());
            for line in about(change) {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    let _ = writeln!(text, "\n{}", comparison.closing());
    text
}

/// For a pull request.
pub(crate) fn markdown(comparison: &Comparison) -> String {
    let mut text = format!("### {PRODUCT}: two reports compared\n\n");
    for remark in comparison.remarks() {
        let _ = writeln!(text, "- {}\n", inline(&remark));
    }
    text.push_str("| implementation | broken | fixed | changed | new | gone | as before |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    for run in &comparison.runs {
        let counts: Vec<String> =
            Change::ALL.into_iter().map(|change| run.count(change).to_string()).collect();
        let _ = writeln!(text, "| {} | {} | {} |", inline(&run.title()), counts.join(" | "), run.same);
    }
    let _ = writeln!(text, "\n**{}**", inline(&comparison.closing()));
    for run in &comparison.runs {
        for change in &run.changes {
            let _ = writeln!(
                text,
                "\n<details><summary>{}: <code>{}</code> ({}): {}</summary>\n",
                change.change.name(),
                escape(&change.id),
                escape(&run.name),
                escape(&change.statuses())
            );
            let block = about(change).join("\n");
            let fence = fence_for(&block);
            let _ = writeln!(text, "{fence}text\n{block}\n{fence}\n\n</details>");
        }
    }
    text
}

/// `2 broken, 1 fixed, 1497 as before`.
fn counts(run: &RunComparison) -> String {
    let changes = Change::ALL.into_iter().filter(|&change| run.count(change) > 0);
    let mut counts: Vec<String> =
        changes.map(|change| format!("{} {}", run.count(change), change.name())).collect();
    counts.push(format!("{} as before", run.same));
    counts.join(", ")
}

/// The title, and the details in both reports.
fn about(change: &CaseChange) -> Vec<String> {
    let mut lines = vec![change.title.clone()];
    for (when, ended) in [("before", &change.old), ("now", &change.new)] {
        let detail = ended.as_ref().map(|(_, detail)| detail.as_str()).unwrap_or_default();
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
    suites: &'a [String; 2],
    interrupted: [bool; 2],
    new_implementations: &'a [String],
    gone_implementations: &'a [String],
    implementations: Vec<Implementation<'a>>,
}

#[derive(Serialize)]
struct Implementation<'a> {
    name: &'a str,
    versions: &'a [String; 2],
    same: usize,
    changes: Vec<Changed<'a>>,
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
pub(crate) fn json(comparison: &Comparison) -> String {
    let document = Document {
        broken: comparison.runs.iter().map(|run| run.count(Change::Broken)).sum(),
        held: comparison.held(),
        suites: &comparison.suites,
        interrupted: comparison.interrupted,
        new_implementations: &comparison.new_runs,
        gone_implementations: &comparison.gone_runs,
        implementations: comparison.runs.iter().map(implementation).collect(),
    };
    let text = serde_json::to_string_pretty(&document).expect("texts and numbers can be written as JSON");
    text + "\n"
}

fn implementation(run: &RunComparison) -> Implementation<'_> {
    Implementation {
        name: &run.name,
        versions: &run.versions,
        same: run.same,
        changes: run.changes.iter().map(changed).collect(),
    }
}

fn changed(change: &CaseChange) -> Changed<'_> {
    Changed {
        id: &change.id,
        change: change.change.json_name(),
        title: &change.title,
        old: change.old.as_ref().map(ended),
        new: change.new.as_ref().map(ended),
    }
}

fn ended((status, detail): &(Status, String)) -> Ended<'_> {
    Ended { status: status.name(), detail }
}
