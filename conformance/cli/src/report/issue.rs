//! A report about one case, ready to be filed with the developers of a system: Markdown, of which each part
//! comes from the case, the specification, the system or another report. Nothing is said without them.

use super::PRODUCT;
use super::markdown::inline;
use broadcheck_spec::clauses::Clause;
use std::fmt::Write as _;

/// What there is to report.
pub(crate) struct Issue<'a> {
    /// What goes wrong, in a line of Markdown.
    pub(crate) title: String,
    pub(crate) shown: Shown<'a>,
    pub(crate) clauses: Vec<&'static Clause>,
    /// The documents that the case cites, such as `openvino, lines 13`.
    pub(crate) sources: Vec<String>,
    /// The system with its version, then what else ran: names and values.
    pub(crate) versions: Vec<(&'static str, String)>,
    /// What other systems do, by case.
    pub(crate) neighbours: Vec<(String, Vec<Neighbour>)>,
    /// The ids of cases, for the reader to see them again.
    pub(crate) cases: Vec<String>,
}

/// How the difference is shown.
pub(crate) enum Shown<'a> {
    /// Parts that were just made.
    Asked {
        /// The request, by lines.
        request: Vec<String>,
        /// The program, or why there is none.
        program: Result<String, String>,
        expected: Vec<String>,
        got: String,
    },
    /// The text of a finding.
    Page(&'a str),
}

/// What another system does with a case, as a report or a file of known failures says.
pub(crate) struct Neighbour {
    pub(crate) system: String,
    pub(crate) outcome: String,
}

/// The whole report.
pub(crate) fn render(issue: &Issue<'_>) -> String {
    let mut text = format!("# {}\n\n", issue.title);
    match &issue.shown {
        Shown::Page(page) => text += &format!("{}\n", without_pages(page.trim())),
        Shown::Asked { request, program, expected, got } => {
            text += &shown_program(program, request);
            text += &format!("\n## Expected\n\n{}", fenced("text", &expected.join("\n")));
            text += &format!("\n## Got\n\n{}", fenced("text", got));
        }
    }
    text += &rules(&issue.clauses, &issue.sources);
    text += "\n## Versions\n\n";
    for (name, value) in &issue.versions {
        let _ = writeln!(text, "- {name}: {}", inline(value));
    }
    text += &others(&issue.neighbours);
    if !issue.cases.is_empty() {
        let commands = issue.cases.iter().map(|id| format!("`broadcheck show {id}`"));
        let _ = write!(text, "\nFound with {PRODUCT}: {}\n", commands.collect::<Vec<_>>().join(", "));
    }
    text
}

fn shown_program(program: &Result<String, String>, request: &[String]) -> String {
    let request = fenced("text", &request.join("\n"));
    match program {
        Ok(program) => {
            format!("## Program\n\n{}\nIt asks for this:\n\n{request}", fenced(language(program), program))
        }
        Err(reason) => format!("## Request\n\n{request}\nThere is no program: {}\n", inline(reason)),
    }
}

/// The language of a program, by the comment at its end and, in C++ and Rust, its first line.
fn language(program: &str) -> &'static str {
    match program.trim_end().lines().next_back().map(str::as_bytes) {
        Some([b'#', ..]) => "python",
        Some([b'%', ..]) => "octave",
        Some([b'/', b'/', ..]) if program.starts_with("#include ") => "cpp",
        Some([b'/', b'/', ..]) if program.starts_with("use ") => "rust",
        Some([b'/', b'/', ..]) => "javascript",
        _ => "text",
    }
}

/// What says that the expectation is right: the clauses, and the documents.
fn rules(clauses: &[&Clause], sources: &[String]) -> String {
    let mut text = String::from("\n## What the specification says\n");
    for clause in clauses {
        let _ = write!(text, "\n**{}. {}**\n\n", clause.id, clause.heading);
        for line in without_pages(clause.text()).lines() {
            let _ = writeln!(text, "{}", format!("> {line}").trim_end());
        }
    }
    if !sources.is_empty() {
        let _ = write!(text, "\nThe case comes from {}.\n", inline(&sources.join("; ")));
    }
    text
}

fn others(neighbours: &[(String, Vec<Neighbour>)]) -> String {
    let mut text = String::from("\n## The same in other systems\n\n");
    if neighbours.iter().all(|(_, of)| of.is_empty()) {
        return text
            + "Not known: no report of another system was given, and no other system is listed as failing it.\n";
    }
    for (case, of) in neighbours.iter().filter(|(_, of)| !of.is_empty()) {
        if neighbours.len() > 1 {
            let _ = write!(text, "`{case}`:\n\n");
        }
        for Neighbour { system, outcome } in of {
            let _ = writeln!(text, "- {}: {}", inline(system), inline(&outcome.replace('\n', " ")));
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

/// A block of code whose fence is longer than any in it.
fn fenced(language: &str, code: &str) -> String {
    let mut fence = "```".to_owned();
    while code.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{}\n{fence}\n", code.trim_end())
}

/// Replaces links to pages of the repository, which lead nowhere in an issue, by their texts.
fn without_pages(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((start, (target, end))) = before.rfind('[').zip(after.split_once(')')) else { break };
        let words = &before[start + 1..];
        text.push_str(&before[..start]);
        if target.starts_with("http") {
            let _ = write!(text, "[{words}]({target})");
        } else if words.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(text, "finding {words} of broadcheck");
        } else {
            text.push_str(words);
        }
        rest = end;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_within_the_repository_become_texts() {
        let text = "See [130](../FINDINGS.md#130), [issue\n5](https://a/b) and [G-2](general.md#g-2).";
        assert_eq!(without_pages(text), "See finding 130 of broadcheck, [issue\n5](https://a/b) and G-2.");
        assert_eq!(without_pages("x](y) and a[0] (w)"), "x](y) and a[0] (w)");
    }

    #[test]
    fn a_fence_is_longer_than_those_within() {
        assert_eq!(fenced("text", "a\n```\nb\n"), "````text\na\n```\nb\n````\n");
    }

    #[test]
    fn the_comment_at_the_end_tells_the_language() {
        let of = |end: &str| language(&format!("x = 1\n{end}\n"));
        assert_eq!([of("# 1"), of("% 1"), of("// 1"), of("1")], ["python", "octave", "javascript", "text"]);
        assert_eq!(language("#include <cmath>\n// 1\n"), "cpp");
        assert_eq!(language("use candle_core::Tensor;\n// 1\n"), "rust");
    }
}
