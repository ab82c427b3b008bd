//! The table of a history, and what changed when, as text or Markdown.

use super::changes::{Change, Step, Turn, steps};
use super::{History, Release};
use crate::report::markdown::inline;
use broadcheck_judge::text::padded;
use std::fmt::Write as _;

/// How many cases of a step a text names, by kind.
const MOST_NAMED: usize = 12;

const HEADERS: [&str; 8] =
    ["release", "date", "passed", "failed", "differs", "not asked", "newly wrong", "fixed"];

/// For a terminal.
pub fn text(history: &History) -> String {
    let rows = rows(history);
    let widths: Vec<usize> = (0..HEADERS.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = format!("{}: {}\n\n", history.system, summary(history));
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 | 1 => padded(cell, width),
            _ => format!("{cell:>width$}"),
        });
        writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).expect("a string");
    }
    for step in steps(history).iter().filter(|step| !step.changes.is_empty()) {
        writeln!(text, "\n{}", heading(step)).expect("a string");
        for (turn, cases) in by_turn(step) {
            let named: Vec<String> = cases.iter().take(MOST_NAMED).map(|id| format!("    {id}\n")).collect();
            write!(text, "  {}: {}\n{}", turn.word(), cases.len(), named.concat()).expect("a string");
            if cases.len() > MOST_NAMED {
                writeln!(text, "    and {} more", cases.len() - MOST_NAMED).expect("a string");
            }
        }
    }
    if !history.unable.is_empty() {
        text += "\nnot judged:\n";
        for one in &history.unable {
            writeln!(text, "  {}: {}", one.version, one.reason).expect("a string");
        }
    }
    text
}

/// For a page of a repository.
pub fn markdown(history: &History) -> String {
    let rows = rows(history);
    let mut text = format!("| {} |\n|---|---|", rows[0].join(" | "));
    text += &"--:|".repeat(HEADERS.len() - 2);
    for row in &rows[1..] {
        let cells: Vec<String> = row.iter().map(|cell| inline(cell)).collect();
        write!(text, "\n| {} |", cells.join(" | ").replace("  ", " ")).expect("a string");
    }
    text += "\n";
    let changed: Vec<Step<'_>> = steps(history).into_iter().filter(|step| !step.changes.is_empty()).collect();
    if !changed.is_empty() {
        text += "\n";
    }
    for step in &changed {
        let parts: Vec<String> = by_turn(step)
            .into_iter()
            .map(|(turn, cases)| {
                let named: Vec<String> = cases.iter().take(3).map(|id| code(id)).collect();
                let more = cases.len().saturating_sub(3);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{} {}: {}{more}", cases.len(), turn.word(), named.join(", "))
            })
            .collect();
        writeln!(text, "- **{}**: {}", inline(&heading(step)), parts.join("; ")).expect("a string");
    }
    if !history.unable.is_empty() {
        text += "\n";
    }
    for one in &history.unable {
        writeln!(text, "- {} was not judged: {}", inline(&one.version), inline(&one.reason))
            .expect("a string");
    }
    text
}

/// An id as code.
fn code(id: &str) -> String {
    if id.contains('`') { inline(id) } else { format!("`{id}`") }
}

fn rows(history: &History) -> Vec<Vec<String>> {
    let mut rows = vec![HEADERS.map(str::to_owned).to_vec()];
    let steps = steps(history);
    for (place, release) in history.versions.iter().enumerate() {
        let step = place.checked_sub(1).map(|before| &steps[before]);
        let changed = |turn: Turn| {
            let of = |step: &&Step<'_>| step.changes.iter().filter(|change| change.turn == turn).count();
            step.as_ref().map_or_else(|| "-".to_owned(), |step| of(step).to_string())
        };
        let counts = release.counts;
        rows.push(vec![
            release.version.clone(),
            release.date.clone().unwrap_or_default(),
            counts.passed.to_string(),
            counts.failed.to_string(),
            counts.differs.to_string(),
            counts.skipped.to_string(),
            changed(Turn::Broke),
            changed(Turn::Fixed),
        ]);
    }
    rows
}

fn summary(history: &History) -> String {
    let releases = history.versions.len();
    let listed = history.listed.len();
    let samples: Vec<u64> = history.versions.iter().filter_map(|release| release.sweep_sample).collect();
    let sampled = match samples.iter().max() {
        None => String::new(),
        Some(most) => format!("; of each sweep about {most} cases were run"),
    };
    format!("{releases} releases judged, of {listed} in the package index{sampled}")
}

/// `2.1.0`, or `after 2.0.2, by 2.1.0` if the releases between were not tried.
pub fn heading(step: &Step<'_>) -> String {
    let (before, after): (&Release, &Release) = (step.before, step.after);
    match (step.is_exact(), step.untried.len()) {
        (true, _) => after.version.clone(),
        (false, 0) => {
            format!("after {}, by {} (what is between cannot be judged)", before.version, after.version)
        }
        (false, count) => {
            format!("after {}, by {} ({count} between not tried)", before.version, after.version)
        }
    }
}

fn by_turn<'a>(step: &Step<'a>) -> Vec<(Turn, Vec<&'a str>)> {
    let groups = step.changes.chunk_by(|one, other| one.turn == other.turn);
    groups
        .map(|group: &[Change<'a>]| (group[0].turn, group.iter().map(|change| change.case).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::changes::tests::history;
    use super::*;

    #[test]
    fn the_table_says_what_changed_when() {
        let mut history = history(&[("1.2", "pp"), ("1.3", "fp"), ("1.6", "pf")]);
        history.add_unable("1.7", "no wheel");
        let expected = "\
mine: 3 releases judged, of 10 in the package index

release  date  passed  failed  differs  not asked  newly wrong  fixed
1.2                 0       0        0          0            -      -
1.3                 0       0        0          0            1      0
1.6                 0       0        0          0            1      1

1.3
  newly wrong: 1
    a/b

after 1.3, by 1.6 (2 between not tried)
  newly wrong: 1
    a/c
  fixed: 1
    a/b

not judged:
  1.7: no wheel
";
        assert_eq!(text(&history), expected);
        let page = markdown(&history);
        assert!(page.ends_with("\n- 1.7 was not judged: no wheel\n"), "{page}");
        assert!(page.contains("- **1.3**: 1 newly wrong: `a/b`\n"), "{page}");
        assert!(page.starts_with("| release | date |") && page.contains("\n| 1.2 | "), "{page}");
    }

    #[test]
    fn a_page_shows_what_markdown_would_hide() {
        let mut history = history(&[("1.2", "pp"), ("2|3", "fp")]);
        history.add_unable("1.*7", "no <b>wheel</b> of ml_dtypes | `x`");
        history.cases[0] = "a/`b".into();
        let page = markdown(&history);
        for expected in [
            "\n| 2\\|3 | | 0 |",
            "\n- **after 1.2, by 2\\|3 (",
            ": a/\\`b\n",
            "\n- 1.\\*7 was not judged: no &lt;b&gt;wheel&lt;/b&gt; of ml\\_dtypes \\| \\`x\\`\n",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
