//! The report for a pull request: a table, what it means, and each failure in a collapsed section.

use super::table::Counts;
use super::{Entry, PRODUCT, Report, Run};
use std::fmt::Write as _;

/// The beginning of every markdown report.
pub const MARKER: &str = "<!-- broadcheck report -->";

/// With more implementations than this, the table has a row per implementation instead of columns.
const MOST_ACROSS: usize = 4;

/// GitHub limits a comment to 65,536 characters. Some room is left for what follows the failures.
const MAX_LENGTH: usize = 60_000;

/// The whole report.
pub fn render(report: &Report) -> String {
    let mut text = format!("{MARKER}\n### {PRODUCT}: {}\n\n", report.scope());
    let counts = Counts::of(report);
    if counts.groups.len() > MOST_ACROSS {
        long_table(&mut text, &counts);
    } else {
        table(&mut text, &counts);
    }
    for run in &report.runs {
        about(&mut text, run);
    }
    let _ = writeln!(text, "\n**{}**", inline(&report.closing()));
    for line in report.too_little_lines().iter().chain(&report.advice()) {
        let _ = writeln!(text, "\n- {}", inline(line));
    }
    failures(&mut text, &report.failures());
    for run in &report.runs {
        for leftover in &run.leftovers {
            let _ = writeln!(
                text,
                "\n- The known failure {} of {} matches no case of the suite: {}",
                inline(&leftover.case),
                inline(&run.name),
                inline(&leftover.reason)
            );
        }
    }
    for run in report.silent() {
        let _ = writeln!(text, "\n- {} passed no case.", inline(&run.title()));
    }
    text
}

/// The results by nature, how much was asked, and which conventions are shared.
fn about(text: &mut String, run: &Run) {
    let _ = writeln!(text, "\n- {}: {}", inline(&run.title()), inline(&run.natures_line()));
    for (name, lines) in
        [("asked", run.asked_lines()), ("conventions", run.convention_lines()), ("wider", run.wider_lines())]
    {
        for line in lines {
            let _ = writeln!(text, "  - {name}: {}", inline(&line));
        }
    }
}

/// As many failures as fit a comment on a pull request, then the number of the others.
fn failures(text: &mut String, failures: &[(&Run, &Entry)]) {
    for (place, (run, entry)) in failures.iter().enumerate() {
        let mut shown = String::new();
        failure(&mut shown, run, entry);
        if text.len() + shown.len() > MAX_LENGTH {
            let left = failures.len() - place;
            let _ = writeln!(text, "\n{left} more failures: see the other formats of the report.");
            return;
        }
        text.push_str(&shown);
    }
}

/// One column per implementation. A cell contains the counts in the order given in the header.
fn table(text: &mut String, counts: &Counts) {
    text.push_str("| rule set |");
    for group in &counts.groups {
        let _ = write!(text, " {}<br>{} |", inline(&group.title), group.headers.join(" / "));
    }
    text.push_str("\n|---|");
    text.push_str(&"--:|".repeat(counts.groups.len()));
    text.push('\n');
    for (row, name) in counts.names.iter().enumerate() {
        let bold = if row + 1 == counts.names.len() { "**" } else { "" };
        let _ = write!(text, "| {bold}{name}{bold} |");
        for group in &counts.groups {
            let cells: Vec<String> = group.rows[row].iter().map(ToString::to_string).collect();
            let _ = write!(text, " {bold}{}{bold} |", cells.join(" / "));
        }
        text.push('\n');
    }
}

/// One row per implementation, one column per rule set. A cell names its counts, and skipped cases only
/// beside others.
fn long_table(text: &mut String, counts: &Counts) {
    let _ = writeln!(text, "| implementation | {} |", counts.names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(counts.names.len()));
    for group in &counts.groups {
        let cells: Vec<String> = group.rows.iter().map(|row| named(&group.headers, row)).collect();
        let _ = writeln!(text, "| {} | {} |", inline(&group.title), cells.join(" | "));
    }
}

/// `454 passed, 50 known, 120 skipped`; `-` if all are skipped.
fn named(headers: &[&str], row: &[usize]) -> String {
    let counted = headers.iter().zip(row).filter(|&(_, &count)| count > 0);
    let mut cells: Vec<(&&str, &usize)> = counted.collect();
    cells.sort_by_key(|&(&header, _)| header == "skipped");
    match cells[..] {
        [] | [(&"skipped", _)] => "-".into(),
        _ => cells.iter().map(|(header, count)| format!("{count} {header}")).collect::<Vec<_>>().join(", "),
    }
}

fn failure(text: &mut String, run: &Run, entry: &Entry) {
    let _ = writeln!(
        text,
        "\n<details><summary><code>{}</code> ({}): {}</summary>\n",
        escape(&entry.name()),
        escape(&run.name),
        escape(&entry.title)
    );
    let mut block = String::new();
    for (name, lines) in [
        ("request", &entry.request[..]),
        ("expectation", &entry.expectation[..]),
        ("outcome", &entry.detail.lines().map(str::to_owned).collect::<Vec<_>>()[..]),
        ("clause", &[format!("{} ({})", entry.clause, entry.nature_name())][..]),
        ("source", &entry.sources[..]),
        ("location", std::slice::from_ref(&entry.location)),
        ("rerun", std::slice::from_ref(&entry.rerun)),
    ] {
        for (place, line) in lines.iter().enumerate() {
            let _ = writeln!(block, "{:<11}  {line}", if place == 0 { name } else { "" });
        }
    }
    let fence = fence_for(&block);
    let _ = writeln!(text, "{fence}text\n{block}{fence}\n\n</details>");
}

/// A fence that is longer than any run of backticks in the text.
pub(super) fn fence_for(text: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Text inside a line of an HTML element. A line feed would end the element where markdown contains it, and
/// an `@` would notify somebody: GitHub reads no mention across a comment.
pub(super) fn escape(text: &str) -> String {
    let entities = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    entities.replace(['\n', '\r'], " ").replace('@', "@<!-- -->")
}

/// Text inside a line of markdown, such as a table cell.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::new();
    for char in escape(text).chars() {
        if matches!(char, '|' | '*' | '_' | '`' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
    out
}
