//! The report for a terminal: a table, what it means for each implementation, the failures with the worst
//! first, and a closing line.
//!
//! The text always contains colours; the output stream removes them where they are not supported.

use super::table::{Counts, Group};
use super::{Entry, PRODUCT, Report, Run, Verdict, wrapped};
use anstyle::{AnsiColor, Style};
use broadcheck_judge::text::{padded, padded_left};
use std::fmt::Write as _;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const NOTED: Style = AnsiColor::Yellow.on_default();

/// Whether a text is such a report: it begins with `broadcheck 1.2.3: `.
pub fn is_report(text: &str) -> bool {
    let version = text.strip_prefix("broadcheck ").and_then(|rest| rest.split_once(": "));
    version.is_some_and(|(version, _)| {
        version.starts_with(|first: char| first.is_ascii_digit()) && !version.contains(char::is_whitespace)
    })
}

/// The whole report, in lines of at most about `width` columns if possible.
pub fn render(report: &Report, width: usize) -> String {
    let mut text = format!("{PRODUCT}: {}\n\n", report.scope());
    table(&mut text, &Counts::of(report), width);
    for run in &report.runs {
        about(&mut text, run, width);
    }
    let failures = report.failures();
    for (run, entry) in &failures {
        failure(&mut text, run, entry);
    }
    for run in &report.runs {
        for leftover in &run.leftovers {
            let label = paint(BAD, "FAILED");
            let _ = writeln!(
                text,
                "\n{label}  the known failure `{}` of {} matches no case of the suite: {}",
                leftover.case, run.name, leftover.reason
            );
        }
    }
    for run in report.silent() {
        let _ = writeln!(text, "\n{}  {} passed no case", paint(BAD, "FAILED"), run.title());
    }
    for line in report.too_little_lines() {
        let _ = writeln!(text, "\n{}  {line}", paint(BAD, "FAILED"));
    }
    let style = match report.verdict() {
        Verdict::Ok => GOOD,
        Verdict::LittleAsked => NOTED,
        Verdict::Failed | Verdict::Interrupted => BAD,
    };
    let _ = writeln!(text, "\n{}", paint(style, &report.closing()));
    for line in report.advice() {
        for (place, part) in wrapped(&line, width.saturating_sub(4)).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if place == 0 { "  " } else { "    " });
        }
    }
    text
}

/// The results by nature, how much was asked, and which conventions are shared.
fn about(text: &mut String, run: &Run, width: usize) {
    let _ = writeln!(text, "\n{BOLD}{}{BOLD:#}", run.title());
    for (name, lines) in [
        ("by nature", vec![run.natures_line()]),
        ("asked", run.asked_lines()),
        ("conventions", run.convention_lines()),
        ("wider", run.wider_lines()),
    ] {
        let parts = lines.iter().filter(|line| !line.is_empty()).flat_map(|line| {
            let parts = wrapped(line, width.saturating_sub(17)).into_iter().enumerate();
            parts.map(|(place, part)| if place == 0 { part } else { format!("  {part}") })
        });
        field(text, name, &parts.collect::<Vec<_>>());
    }
}

fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The table, with as many implementations side by side as fit the width.
fn table(text: &mut String, counts: &Counts, width: usize) {
    let name_width = counts.names.iter().map(String::len).max().unwrap_or(0).max("rule set".len());
    let mut groups = &counts.groups[..];
    while let Some(first) = groups.first() {
        let mut total = name_width + group_width(first);
        let mut taken = 1;
        while taken < groups.len() && total + group_width(&groups[taken]) <= width {
            total += group_width(&groups[taken]);
            taken += 1;
        }
        let (now, later) = groups.split_at(taken);
        block(text, &counts.names, name_width, now);
        if !later.is_empty() {
            text.push('\n');
        }
        groups = later;
    }
}

const GAP: &str = "    ";

fn column_width(header: &str) -> usize {
    header.len().max(7)
}

/// A gap, then the columns with a space between them.
fn group_width(group: &Group) -> usize {
    GAP.len() + inner_width(group)
}

fn inner_width(group: &Group) -> usize {
    let columns: usize = group.headers.iter().map(|header| column_width(header) + 1).sum();
    (columns - 1).max(group.title.len())
}

fn block(text: &mut String, names: &[String], name_width: usize, groups: &[Group]) {
    let titles: Vec<String> = groups
        .iter()
        .map(|group| format!("{GAP}{}", padded_left(&group.title, inner_width(group))))
        .collect();
    let _ = writeln!(text, "{BOLD}{:name_width$}{}{BOLD:#}", "", titles.concat());
    let mut line = format!("{:name_width$}", "rule set");
    for group in groups {
        let cells: Vec<String> = group
            .headers
            .iter()
            .map(|header| format!("{header:>width$}", width = column_width(header)))
            .collect();
        let _ = write!(line, "{GAP}{}", padded_left(&cells.join(" "), inner_width(group)));
    }
    let _ = writeln!(text, "{DIM}{line}{DIM:#}");
    for (row, name) in names.iter().enumerate() {
        let total = row + 1 == names.len();
        let name = format!("{name:name_width$}");
        text.push_str(&if total { paint(BOLD, &name) } else { name });
        for group in groups {
            let cells: Vec<String> = group
                .headers
                .iter()
                .zip(&group.rows[row])
                .map(|(header, &count)| cell(header, count, column_width(header)))
                .collect();
            let columns: usize = group.headers.iter().map(|header| column_width(header) + 1).sum();
            let _ = write!(text, "{GAP}{}{}", padded("", inner_width(group) + 1 - columns), cells.join(" "));
        }
        text.push('\n');
    }
}

fn cell(header: &str, count: usize, width: usize) -> String {
    let text = format!("{count:>width$}");
    match (header, count) {
        (_, 0) => paint(DIM, &text),
        ("passed" | "agrees", _) => paint(GOOD, &text),
        ("failed" | "errored", _) => paint(BAD, &text),
        ("known", _) => paint(NOTED, &text),
        _ => text,
    }
}

fn failure(text: &mut String, run: &Run, entry: &Entry) {
    let label = if entry.status == broadcheck::run::Status::Errored { "ERRORED" } else { "FAILED" };
    let _ = writeln!(text, "\n{}  {BOLD}{}{BOLD:#}  ({})", paint(BAD, label), entry.name(), run.name);
    field(text, "title", std::slice::from_ref(&entry.title));
    field(text, "request", &entry.request);
    field(text, "expectation", &entry.expectation);
    let outcome: Vec<String> = entry.detail.lines().map(str::to_owned).collect();
    field(text, "outcome", &outcome);
    let clause = format!("{} of spec/SEMANTICS.md ({})", entry.clause, entry.nature_name());
    field(text, "clause", &[clause]);
    field(text, "source", &entry.sources);
    field(text, "location", std::slice::from_ref(&entry.location));
    field(text, "rerun", std::slice::from_ref(&entry.rerun));
}

fn field(text: &mut String, name: &str, lines: &[String]) {
    for (place, line) in lines.iter().enumerate() {
        let name = if place == 0 { name } else { "" };
        let _ = writeln!(text, "  {DIM}{name:<11}{DIM:#}  {line}");
    }
}
