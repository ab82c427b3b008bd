//! `FINDINGS.md` is what it says: a row for each finding, a short reproduction with its output, a system of which the known
//! failures are listed, cases that there are, and requests that the loader takes.

use broadcheck_spec::Suite;
use std::collections::HashSet;
use std::path::Path;

/// The longest reproduction, in lines.
const MOST_LINES: usize = 10;

struct Finding {
    number: usize,
    title: String,
    text: String,
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../FINDINGS.md");
    std::fs::read_to_string(path).expect("FINDINGS.md can be read")
}

/// The findings in their order: `### <a id="3"></a>3. What it is`, and what follows.
fn findings(page: &str) -> Vec<Finding> {
    let finding = |section: &str| {
        let (head, text) = section.split_once('\n')?;
        let (number, title) = head.split_once("</a>")?.1.split_once(". ")?;
        let text = text.split("\n## ").next()?;
        Some(Finding { number: number.parse().ok()?, title: title.into(), text: text.into() })
    };
    page.split("\n### ").skip(1).map(|section| finding(section).expect("a heading with its number")).collect()
}

/// The fenced blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).map(|rest| rest.split("\n```").next().unwrap_or(rest)).collect()
}

#[test]
fn each_finding_has_its_row_and_its_number() {
    let page = page();
    for (place, finding) in findings(&page).iter().enumerate() {
        let Finding { number, title, .. } = finding;
        assert_eq!(*number, place + 1, "{title}");
        let row = page.lines().find(|line| line.starts_with(&format!("| [{number}](#{number}) |")));
        assert!(
            row.is_some_and(|row| row.contains(title.as_str())),
            "{number}. {title}: no row in the table"
        );
    }
    let rows = page.lines().filter(|line| line.starts_with("| [")).count();
    assert_eq!(rows, findings(&page).len());
    assert!(rows >= 40, "found {rows} findings");
}

#[test]
fn each_finding_has_one_request_one_short_reproduction_and_its_output() {
    for Finding { number, text, .. } in findings(&page()) {
        let language = if text.contains("```rust\n") { "rust" } else { "python" };
        let [request, program, output] =
            ["yaml", language, "text"].map(|language| blocks(&text, language)).map(|blocks| {
                assert_eq!(blocks.len(), 1, "finding {number}");
                blocks[0].to_owned()
            });
        assert!(request.contains("rules: ") && request.contains("operands:"), "finding {number}");
        let lines = program.lines().count();
        assert!((2..=MOST_LINES).contains(&lines), "finding {number} is reproduced in {lines} lines");
        assert!(!program.contains("broadcheck") && !program.contains("protocol"), "finding {number}");
        assert!(!output.trim().is_empty(), "finding {number}");
    }
}

#[test]
fn each_finding_names_a_system_with_a_known_file_a_status_and_cases_that_there_are() {
    let known: HashSet<String> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../known"))
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    let suite = Suite::builtin().unwrap();
    let ids: HashSet<&str> = suite.cases.iter().map(|case| case.id.as_str()).collect();
    for Finding { number, text, .. } in findings(&page()) {
        let line = text.lines().find(|line| line.contains("; clause ")).expect("a line with the clause");
        let system = line.split([';', '(']).next().unwrap_or_default().to_lowercase();
        let name = system.trim_end_matches(|char: char| !char.is_alphabetic()).replace(' ', "");
        assert!(known.contains(&name), "finding {number}: there is no known/{name}.yaml");
        let status = line.trim_end_matches('.').rsplit("; ").next().unwrap_or_default();
        assert!(["new", "reported", "documented"].contains(&status), "finding {number}: {status}");
        let quoted = text.split('`').skip(1).step_by(2);
        for id in quoted.filter(|quoted| quoted.split('/').count() == 3 && !quoted.contains([' ', ':', '(']))
        {
            assert!(ids.contains(id), "finding {number}: there is no case {id}");
        }
    }
}
