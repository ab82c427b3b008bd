//! The matrix of a README: for each system and rule set, what was asked, passed and known to fail; and how
//! far the systems share the conventions. Made from JSON reports.

use super::markdown::inline;
use super::read::{Recorded, RecordedCase, RecordedRun};
use super::shared;
use broadcheck::asked::{Asked, Counted, tally};
use broadcheck::run::Status;
use broadcheck_spec::{Convention, Nature, RuleSet};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The marks between which the matrix is written.
const MARKS: [&str; 2] = ["<!-- begin: matrix -->\n", "<!-- end: matrix -->"];

/// The number of reasons in a cell.
const MOST_REASONS: usize = 3;

/// Both tables. `findings` is the page to which the numbers of findings link.
pub(crate) fn render(reports: &[Recorded], findings: &str) -> String {
    let runs: Vec<&RecordedRun> = reports.iter().flat_map(|report| &report.implementations).collect();
    format!("{}\n{}", results(&runs, findings), conventions(&runs))
}

/// The text with the matrix between the marks.
///
/// # Errors
/// The marks are missing.
pub(crate) fn replaced(text: &str, matrix: &str) -> Result<String, String> {
    let [begin, end] = MARKS;
    let (before, rest) = text.split_once(begin).ok_or(format!("found no line `{}`", begin.trim_end()))?;
    let (_, after) = rest.split_once(end).ok_or(format!("found no line `{end}`"))?;
    Ok(format!("{before}{begin}\n{matrix}\n{end}{after}"))
}

/// A row for each system and declared rule set.
fn results(runs: &[&RecordedRun], findings: &str) -> String {
    let mut text = String::from(
        "| system | rule set | asked | passed | known to fail | conventions shared | not asked |\n\
         |---|---|--:|--:|---|--:|---|\n",
    );
    for run in runs {
        let mut system = inline(&format!("{} {}", run.name, run.version));
        // To infer is optional: a system that does not was not asked less for it.
        let infers = run.cases.iter().any(|case| case.inference && case.status != Status::Skipped);
        let counted = run.cases.iter().filter(|case| infers || !case.inference).map(counted);
        for asked in tally(&run.declared_rules(), counted) {
            let cells = [
                std::mem::take(&mut system),
                asked.rules.to_string(),
                share(asked.asked, asked.cases),
                passed(run, asked.rules),
                known(run, asked.rules, findings),
                conventions_of(run, asked.rules),
                not_asked(&asked),
            ];
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text
}

/// `702 of 1064`; `all 1064`.
fn share(part: usize, whole: usize) -> String {
    if part == whole { format!("all {whole}") } else { format!("{part} of {whole}") }
}

fn counted(case: &RecordedCase) -> Counted<'_> {
    let nature = case.nature.unwrap_or(Nature::Rule);
    Counted { rules: case.rules, nature, status: case.status, detail: &case.detail, retyped: case.retyped }
}

fn of(run: &RecordedRun, rules: RuleSet) -> impl Iterator<Item = &RecordedCase> + Clone {
    run.cases.iter().filter(move |case| case.rules == Some(rules))
}

/// The number of cases passed, and of new failures if there are any.
fn passed(run: &RecordedRun, rules: RuleSet) -> String {
    let count = |wanted: &dyn Fn(Status) -> bool| of(run, rules).filter(|case| wanted(case.status)).count();
    let passed = count(&|status| status == Status::Passed);
    match count(&|status| status.is_failure()) {
        0 => passed.to_string(),
        failed => format!("{passed}, **{failed} failed**"),
    }
}

/// The number of known failures, with links to their findings.
fn known(run: &RecordedRun, rules: RuleSet, findings: &str) -> String {
    let known: Vec<&RecordedCase> =
        of(run, rules).filter(|case| case.status == Status::KnownFailure).collect();
    let numbers: BTreeSet<u32> = known.iter().filter_map(|case| case.finding).collect();
    let mut links: Vec<String> =
        numbers.iter().map(|number| format!("[{number}]({findings}#{number})")).collect();
    match known.iter().filter(|case| case.finding.is_none()).count() {
        0 => {}
        count => links.push(format!("{count} reported upstream")),
    }
    match known.len() {
        0 => "0".into(),
        count => format!("{count}: {}", links.join(", ")),
    }
}

/// In how many of the cases of conventions the system agrees.
fn conventions_of(run: &RecordedRun, rules: RuleSet) -> String {
    let results = of(run, rules).map(|case| (case.convention, case.status));
    let shared = shared(&[], &results);
    match shared.iter().map(|one| one.cases).sum() {
        0 => "-".into(),
        cases => share(shared.iter().map(|one| one.agrees).sum(), cases),
    }
}

fn not_asked(asked: &Asked) -> String {
    match asked.reasons.0.len() {
        0 => "-".into(),
        _ => inline(&asked.reasons.shortened(MOST_REASONS)),
    }
}

/// A row for each system that was asked a case of a convention, a column for each convention. A declared
/// convention is marked.
fn conventions(runs: &[&RecordedRun]) -> String {
    let names = Convention::ALL.map(|convention| format!("`{convention}`"));
    let mut text = format!("| system | {} |\n|---|{}\n", names.join(" | "), "--:|".repeat(names.len()));
    for run in runs {
        let declared = run.conventions.iter().filter(|one| one.declared).map(|one| one.name);
        let declared: Vec<Convention> = declared.collect();
        let shared = shared(&declared, &run.cases.iter().map(|case| (case.convention, case.status)));
        if shared.is_empty() {
            continue;
        }
        let cell = |convention: Convention| match shared.iter().find(|one| one.convention == convention) {
            None => "-".into(),
            Some(one) => format!("{}{}", share(one.agrees, one.cases), if one.declared { " *" } else { "" }),
        };
        let cells = Convention::ALL.map(cell);
        let _ = writeln!(text, "| {} {} | {} |", inline(&run.name), inline(&run.version), cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report with cases of (rule set, status, convention, finding, reason).
    fn recorded(cases: &[(&str, &str, &str, u32, &str)]) -> Recorded {
        let case = |(place, case): (usize, &(&str, &str, &str, u32, &str))| {
            let &(rules, status, convention, finding, detail) = case;
            let mut value = serde_json::json!({
                "id": format!("{rules}/case-{place}"), "rules": rules, "status": status, "detail": detail
            });
            if !convention.is_empty() {
                value["convention"] = convention.into();
                value["nature"] = "convention".into();
            }
            if finding > 0 {
                value["finding"] = finding.into();
            }
            value
        };
        let cases: Vec<serde_json::Value> = cases.iter().enumerate().map(case).collect();
        let run = serde_json::json!({"name": "mi|ne", "version": "1", "cases": cases});
        let text = serde_json::json!({"suite": {"version": "0.1.0"}, "implementations": [run]}).to_string();
        Recorded::parse(&text).unwrap()
    }

    #[test]
    fn a_row_says_what_was_asked_and_links_what_is_known() {
        let report = recorded(&[
            ("numpy", "passed", "", 0, ""),
            ("numpy", "passed", "", 0, ""),
            ("numpy", "known_failure", "", 35, "known: so"),
            ("numpy", "known_failure", "", 35, "known: so"),
            ("numpy", "known_failure", "", 0, "known: so"),
            ("numpy", "agrees", "zero-signs", 0, ""),
            ("numpy", "differs", "refusal-order", 0, "differs"),
            ("numpy", "skipped", "", 0, "no f16"),
            ("xla", "skipped", "", 0, "no rule set xla"),
            ("pdpd", "passed", "", 0, ""),
            ("pdpd", "failed", "", 0, "wrong"),
        ]);
        let text = render(&[report], "F.md");
        for line in [
            "| mi\\|ne 1 | numpy | 7 of 8 | 2 | 3: [35](F.md#35), 1 reported upstream | 1 of 2 | 1 no f16 |",
            "|  | pdpd | all 2 | 1, **1 failed** | 0 | - | - |",
            "| mi\\|ne 1 | - | - | - | 0 of 1 | - | - | - | all 1 | - |",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}\n{text}");
        }
        assert!(!text.contains("| xla |"), "{text}");
    }

    #[test]
    fn the_matrix_replaces_what_is_between_the_marks() {
        let text = format!("a\n{}old\n{}\nb\n", MARKS[0], MARKS[1]);
        let new = replaced(&text, "new\n").unwrap();
        assert_eq!(new, format!("a\n{}\nnew\n\n{}\nb\n", MARKS[0], MARKS[1]));
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
        assert!(replaced("a", "b").unwrap_err().contains("<!-- begin: matrix -->"));
    }
}
