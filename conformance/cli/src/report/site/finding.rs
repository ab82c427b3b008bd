//! The findings about real systems, which the command contains, and the page of each.

use super::markdown::{html, inline};
use super::world::{World, case_path, clause_path};
use super::{Frame, Page, rendered};
use crate::adapters::known_in_the_command;
use crate::embedded;
use crate::history::History;
use crate::history::since::since_finding;
use askama::Template;
use broadcheck_judge::explain::heading;
use std::collections::BTreeMap;

/// A finding. Its file is one of `conformance/findings`.
pub(crate) struct Finding {
    pub(crate) number: u32,
    pub(crate) title: String,
    /// The version of the system in which it was found.
    pub(crate) version: String,
    /// The system in words: `OpenVINO 2026.4.1`.
    pub(crate) system: String,
    /// The name by which the system's reports call it.
    pub(crate) adapter: String,
    pub(crate) clauses: Vec<String>,
    pub(crate) status: String,
    /// `strong` for wrong answers and crashes, `other`, or `convention`.
    pub(crate) strength: String,
    pub(crate) cases: Vec<String>,
    /// Since when the system has it, in words; `None` if no history says so.
    pub(crate) since: Option<String>,
    /// Its text, without the heading.
    pub(crate) body: String,
}

impl Finding {
    /// Every finding of the repository, by number.
    pub(crate) fn all() -> Vec<Finding> {
        let files =
            embedded::files("findings").filter(|(path, _)| path.starts_with(|c: char| c.is_ascii_digit()));
        // A test reads every file.
        let mut all: Vec<Finding> = files
            .filter_map(|(_, bytes)| Finding::read(std::str::from_utf8(bytes).unwrap_or_default()))
            .collect();
        all.sort_by_key(|finding| finding.number);
        all
    }

    /// Reads the front matter, of which `cargo test -p broadcheck-cli --test findings` checks the form.
    fn read(text: &str) -> Option<Finding> {
        let (head, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        let fields: BTreeMap<&str, &str> = head.lines().filter_map(|line| line.split_once(": ")).collect();
        let unquoted = |name: &str| Some(fields.get(name)?.trim_matches('"').replace("\\\"", "\""));
        let list = |name: &str| -> Option<Vec<String>> {
            let inner = fields.get(name)?.strip_prefix('[')?.strip_suffix(']')?;
            Some(inner.split(", ").filter(|item| !item.is_empty()).map(str::to_owned).collect())
        };
        Some(Finding {
            number: fields.get("number")?.parse().ok()?,
            title: unquoted("title")?,
            version: unquoted("version")?,
            since: None,
            system: format!("{} {}", unquoted("system")?, unquoted("version")?),
            adapter: unquoted("adapter")?,
            clauses: list("clauses")?,
            status: unquoted("status")?,
            strength: unquoted("strength")?,
            cases: list("cases")?,
            body: body.trim_start().split_once('\n').map_or(body, |(_, rest)| rest).to_owned(),
        })
    }

    /// The same, with what the histories say.
    pub(super) fn dated(self, histories: &[History]) -> Finding {
        let history = histories.iter().find(|history| history.system == self.adapter);
        // A test reads every file of known failures.
        let known = history.and_then(|_| known_in_the_command(&self.adapter, &self.version).ok().flatten());
        let since = history.zip(known.as_ref());
        let since = since.and_then(|(history, known)| since_finding(history, known, self.number));
        Finding { since: since.map(|since| since.words()), ..self }
    }

    /// The path of its page.
    pub(crate) fn path(&self) -> String {
        finding_path(self.number)
    }

    /// The title as HTML.
    pub(crate) fn title_html(&self) -> String {
        inline(&self.title, &|_| None)
    }

    /// The program that shows it, in the system's own interface.
    pub(crate) fn program(&self) -> &str {
        let mut parts = self.body.split("\n```");
        let is_program = |part: &&str| {
            part.starts_with(|c: char| c.is_ascii_lowercase())
                && !part.starts_with("yaml")
                && !part.starts_with("text")
        };
        parts.find(is_program).and_then(|part| part.split_once('\n')).map_or("", |(_, code)| code)
    }

    /// The paragraphs that say what was expected and what came, as HTML.
    pub(crate) fn summary(&self) -> String {
        let said = |part: &&str| part.starts_with("**Expected:**") || part.starts_with("**Actual:**");
        let parts: Vec<&str> = self.body.split("\n\n").map(str::trim_start).filter(said).collect();
        html(&parts.join("\n\n"), &|_| None)
    }

    /// What the status means.
    pub(crate) fn status_words(&self) -> &'static str {
        match self.status.as_str() {
            "new" => "new: we found no report of it",
            "reported" => "reported to the system's developers",
            "documented" => "documented, or intended by the system's developers",
            _ => "",
        }
    }

    /// Whether values are silently wrong, or something crashes.
    pub(crate) fn is_strong(&self) -> bool {
        self.strength == "strong"
    }
}

fn finding_path(number: u32) -> String {
    format!("finding/{number}.html")
}

/// The page to which a link of a Markdown page of the repository leads, without the root.
pub(super) fn resolved(target: &str) -> Option<String> {
    let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = page.rsplit('/').next().unwrap_or_default();
    if file == "FINDINGS.md" {
        return Some(anchor.parse().map_or("findings.html".into(), finding_path));
    }
    let digits = file.split('-').next().unwrap_or_default();
    if digits.len() == 4
        && let Ok(number) = digits.parse()
    {
        return Some(finding_path(number));
    }
    let clause = broadcheck_spec::clauses::ALL.iter().find(|clause| {
        anchor.strip_prefix(&clause.id.to_lowercase()).is_some_and(|rest| rest.starts_with('-'))
    });
    clause.map(|clause| clause_path(clause.id))
}

#[derive(Template)]
#[template(path = "site/finding.html")]
struct FindingPage<'a> {
    frame: Frame,
    finding: &'a Finding,
    body: String,
    /// Path and title of the pages of systems with this name.
    systems: Vec<(&'a str, &'a str)>,
    /// Path, id and heading.
    clauses: Vec<(String, &'a str, &'a str)>,
    /// Path, title and id.
    cases: Vec<(String, &'a str, &'a str)>,
}

pub(super) fn page(world: &World<'_>, finding: &Finding) -> Page {
    let path = finding.path();
    let frame = Frame::new(format!("Finding {}: {}", finding.number, finding.title), &path, "findings");
    let known = |number: u32| world.findings.iter().any(|other| other.number == number);
    let root = frame.root.clone();
    let resolve = |target: &str| {
        let page = resolved(target)?;
        let number = page.strip_prefix("finding/").and_then(|rest| rest.strip_suffix(".html"));
        number.is_none_or(|number| number.parse().is_ok_and(known)).then(|| format!("{root}{page}"))
    };
    let systems = world.systems.iter().filter(|system| system.run.name == finding.adapter);
    let page = FindingPage {
        body: html(&finding.body, &resolve),
        systems: systems.map(|system| (system.path.as_str(), system.title.as_str())).collect(),
        clauses: finding
            .clauses
            .iter()
            .filter_map(|id| Some((clause_path(id), id.as_str(), heading(id)?)))
            .collect(),
        cases: finding
            .cases
            .iter()
            .filter_map(|id| world.case(id))
            .map(|case| (case_path(case.id), case.title, case.id))
            .collect(),
        frame,
        finding,
    };
    (path, rendered(&page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_is_read_with_its_program() {
        let all = Finding::all();
        let files = embedded::files("findings").filter(|(path, _)| *path != "runs.md").count();
        assert_eq!(all.len(), files);
        for finding in &all {
            assert!(!finding.program().trim().is_empty(), "{}", finding.number);
            assert!(finding.summary().contains("<b>Expected:</b>"), "{}", finding.number);
            assert!(!finding.status_words().is_empty(), "{}", finding.number);
            assert!(finding.clauses.iter().all(|id| heading(id).is_some()), "{}", finding.number);
        }
    }

    #[test]
    fn links_of_the_repository_lead_to_pages() {
        for (target, expected) in [
            ("general.md#g-2-two-lengths-are-compatible", Some("clause/G-2.html")),
            ("#v-4b-anything", Some("clause/V-4b.html")),
            ("0041-division-by-reciprocal-jax.md", Some("finding/41.html")),
            ("../FINDINGS.md#35", Some("finding/35.html")),
            ("../../FINDINGS.md", Some("findings.html")),
            ("../spec/SEMANTICS.md", None),
            ("general.md#conventions", None),
        ] {
            assert_eq!(resolved(target).as_deref(), expected, "{target}");
        }
    }
}
