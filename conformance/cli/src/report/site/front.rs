//! The front page: every system in one table.

use super::world::{System, World, rules_path};
use super::{Frame, rendered};
use askama::Template;
use broadcheck_spec::RuleSet;

#[derive(Template)]
#[template(path = "site/front.html")]
struct Front<'a> {
    frame: Frame,
    rows: Vec<Row<'a>>,
    notes: &'a [String],
    cases: usize,
    findings: usize,
}

impl Front<'_> {
    /// The rule sets that some system has, each once.
    fn set_names(&self) -> Vec<&'static str> {
        let has = |rules: &RuleSet| {
            self.rows.iter().any(|row| row.rules.iter().any(|(_, name)| *name == rules.name()))
        };
        RuleSet::ALL.into_iter().filter(has).map(RuleSet::name).collect()
    }
}

/// A system.
struct Row<'a> {
    path: &'a str,
    name: &'a str,
    version: &'a str,
    /// The rule sets that it declares, with their pages.
    rules: Vec<(String, &'static str)>,
    /// Their names, separated by spaces.
    names: String,
    bar: Bar,
    asked: Shaded,
    passed: Shaded,
    known: Shaded,
    failed: Shaded,
    conventions: Shaded,
    findings: usize,
    /// Whether a finding is about silently wrong answers or crashes.
    strong: bool,
}

/// A text in a cell, and how strong its colour is.
pub(super) struct Shaded {
    pub(super) text: String,
    /// 0 for none to 4.
    pub(super) level: usize,
}

impl Shaded {
    /// Any share other than 0 has a colour.
    fn of(text: String, part: usize, whole: usize) -> Shaded {
        let level = if part == 0 || whole == 0 { 0 } else { (4 * part).div_ceil(whole).min(4) };
        Shaded { text, level }
    }
}

/// A bar of the share of each kind of result, drawn as SVG.
pub(super) struct Bar {
    /// Class, left edge and width, of 100.
    pub(super) parts: Vec<(&'static str, String, String)>,
    pub(super) words: String,
}

impl Bar {
    pub(super) fn of(system: &System<'_>) -> Bar {
        let summary = &system.summary;
        let counts = [
            ("p", summary.passed, "passed"),
            ("a", summary.agrees, "agree with a convention"),
            ("d", summary.differs, "differ from a convention"),
            ("k", summary.known, if summary.known == 1 { "known difference" } else { "known differences" }),
            ("f", summary.failed + summary.errored, "failed"),
            ("s", summary.skipped, "not asked"),
        ];
        let whole: usize = counts.iter().map(|(_, count, _)| count).sum();
        let mut parts = Vec::new();
        let mut before = 0;
        for (class, count, _) in counts.into_iter().filter(|(_, count, _)| *count > 0) {
            parts.push((class, percent(before, whole), percent(count, whole)));
            before += count;
        }
        let words = counts.into_iter().filter(|(_, count, _)| *count > 0);
        let words = words.map(|(_, count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ");
        Bar { parts, words }
    }
}

/// A share in percent with two digits after the point.
fn percent(part: usize, whole: usize) -> String {
    let hundredths = part * 10_000 / whole.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

pub(super) fn page(world: &World<'_>) -> String {
    let page = Front {
        frame: Frame::new("How tensor libraries broadcast", "index.html", "systems"),
        rows: world.systems.iter().map(|system| row(world, system)).collect(),
        notes: world.notes,
        cases: world.cases.len(),
        findings: world.findings.len(),
    };
    rendered(&page)
}

fn row<'a>(world: &World<'_>, system: &'a System<'_>) -> Row<'a> {
    let summary = &system.summary;
    let (asked, cases) = system.share();
    let failed = summary.failed + summary.errored;
    let judged = summary.passed + summary.known + failed;
    let conventions = summary.agrees + summary.differs;
    let share = |part: usize, whole: usize| match part {
        _ if whole == 0 => "none asked".to_owned(),
        _ if part == whole => format!("all {whole}"),
        _ => format!("{part} of {whole}"),
    };
    let rules: Vec<(String, &str)> =
        system.asked.iter().map(|asked| (rules_path(asked.rules), asked.rules.name())).collect();
    Row {
        path: &system.path,
        name: &system.run.name,
        version: &system.run.version,
        names: rules.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(" "),
        rules,
        bar: Bar::of(system),
        asked: Shaded::of(share(asked, cases), asked, cases),
        passed: Shaded::of(summary.passed.to_string(), summary.passed, judged),
        known: Shaded::of(summary.known.to_string(), summary.known, judged),
        failed: Shaded::of(failed.to_string(), failed, judged),
        conventions: Shaded::of(share(summary.agrees, conventions), summary.differs, conventions),
        findings: system.findings.len(),
        strong: system.findings.iter().any(|&place| world.findings[place].is_strong()),
    }
}
