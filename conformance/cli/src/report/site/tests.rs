//! The whole site of a small report with hostile texts: every link leads somewhere, nothing is loaded from
//! elsewhere, and no text becomes markup.

use super::*;
use crate::SUITE;
use crate::report::{Declares, Entry, Run};
use broadcheck::run::Status;
use broadcheck_spec::{Convention, Nature, RuleSet};
use std::collections::BTreeSet;
use std::path::Path;

const HOSTILE: &str = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>";

fn entry(place: usize, status: Status) -> Entry {
    let case = &SUITE.cases[place];
    Entry {
        nature: Nature::Rule,
        convention: None,
        retyped: None,
        finding: (status == Status::KnownFailure).then_some(35),
        id: case.id.clone(),
        sweep: false,
        inference: false,
        rules: Some(case.request.rules().set()),
        clause: case.clause.clone(),
        title: HOSTILE.into(),
        status,
        kind: None,
        detail: format!("{HOSTILE} `x` **b**"),
        wider: None,
        request: Vec::new(),
        expectation: Vec::new(),
        sources: Vec::new(),
        location: String::new(),
        rerun: String::new(),
    }
}

fn run(name: &str, results: Vec<Entry>) -> Run {
    Run {
        name: name.into(),
        version: HOSTILE.into(),
        named: true,
        rules: vec![RuleSet::Numpy, RuleSet::None],
        conventions: vec![Convention::ZeroSigns],
        declares: Some(Declares { limits: vec![HOSTILE.into()], ..Declares::default() }),
        results,
        leftovers: Vec::new(),
    }
}

/// Three systems: one that passes what it was asked, one of which every status occurs, and a built-in one.
fn site() -> Vec<Page> {
    let every = Status::ALL.into_iter().enumerate();
    let every = every.map(|(place, status)| entry(place, status)).collect();
    let mut foreign = entry(9, Status::Failed);
    foreign.id = "../../outside".into();
    let passed = vec![entry(0, Status::Passed), entry(1, Status::Passed), foreign];
    let reference: Vec<Entry> = (0..20).map(|place| entry(place, Status::Passed)).collect();
    let runs = vec![run("reference", reference), run("../numpy", every), run("numpy", passed)];
    let report =
        Report { cases: 20, sweeps: 0, sample: None, min_asked: None, runs, interrupted: false }.cleaned();
    let history =
        r#"{"system": "numpy", "versions": [{"version": "<b>1", "counts": {"passed": 1, "failed": 2}}]}"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), history).unwrap();
    pages(&Input {
        report: &report,
        suites: &[vec![HOSTILE.into()], vec!["1".into()], vec!["1".into()]],
        commands: &[Some("reference".into()), None, Some("adapter:numpy".into())],
        notes: &[HOSTILE.into()],
        suite: &SUITE,
        histories: &[History::load(file.path()).unwrap()],
    })
}

fn of<'p>(pages: &'p [Page], path: &str) -> &'p str {
    let found = pages.iter().find(|(other, _)| other == path);
    &found.unwrap_or_else(|| panic!("found no {path}")).1
}

/// The values of an attribute, with the entities of URLs replaced.
fn values<'t>(text: &'t str, attribute: &str) -> impl Iterator<Item = String> + use<'t> {
    let start = format!(" {attribute}=\"");
    let parts: Vec<&str> = text.split(start.as_str()).skip(1).collect();
    parts
        .into_iter()
        .filter_map(|part| Some(part.split_once('"')?.0.replace("&amp;", "&").replace("&#38;", "&")))
}

/// The path to which a relative link of a page leads.
fn target(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{page}: {link} leaves the site"),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_leads_to_a_page_or_an_anchor() {
    let pages = site();
    let paths: BTreeSet<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths.len(), pages.len(), "each path once");
    let mut internal = 0;
    for (path, text) in pages.iter().filter(|(path, _)| path.ends_with(".html")) {
        let links = values(text, "href").chain(values(text, "src")).chain(values(text, "action"));
        for link in links {
            if link.starts_with("https://") || link.starts_with("http://") || link == "data:," {
                continue;
            }
            let (page, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let page = if page.is_empty() { path.clone() } else { target(path, page) };
            assert!(paths.contains(page.as_str()), "{path}: {link} leads to {page}");
            let id = format!(" id=\"{anchor}\"");
            assert!(anchor.is_empty() || of(&pages, &page).contains(&id), "{path}: {link} has no anchor");
            internal += 1;
        }
    }
    assert!(internal > 10_000, "{internal}");
    let searched = of(&pages, "search-index.js");
    let rows: Vec<[String; 4]> = serde_json::from_str(
        searched.strip_prefix("window.broadcheckIndex = ").unwrap().trim_end_matches(";\n"),
    )
    .unwrap();
    for [kind, _, more, path] in &rows {
        let path = if path.is_empty() { format!("case/{more}.html") } else { path.clone() };
        assert!(paths.contains(path.as_str()), "{kind} {path}");
    }
    assert!(rows.iter().filter(|row| row[0] == "case").count() > 3000);
}

#[test]
fn no_text_becomes_markup_and_nothing_is_loaded_from_elsewhere() {
    for (path, text) in &site() {
        assert!(
            Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_))),
            "{path}"
        );
        if !path.ends_with(".html") {
            continue;
        }
        assert!(text.starts_with("<!doctype html>\n<!-- broadcheck site -->"), "{path}");
        let scripts = if path == "search.html" { 2 } else { 1 };
        assert_eq!(text.matches("<script").count(), scripts, "{path}");
        for forbidden in ["<img", "<b>1", "<iframe", "javascript:", " style=\"", "@import"] {
            assert!(!text.contains(forbidden), "{path}: {forbidden}");
        }
        for loaded in values(text, "src") {
            assert!(loaded.ends_with(".js") && !loaded.contains(':'), "{path}: {loaded}");
        }
        let ids: Vec<String> = values(text, "id").collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{path}: an id twice");
    }
}

#[test]
fn the_front_page_is_ordered_by_what_was_asked() {
    let pages = site();
    let front = of(&pages, "index.html");
    let place =
        |name: &str| front.find(&format!("\">{name}</a> <small>")).unwrap_or_else(|| panic!("{front}"));
    // Seven statuses other than skipped, then two passes, then the built-in one with twenty.
    assert!(place("../numpy") < place("numpy") && place("numpy") < place("reference"), "{front}");
    assert!(front.contains("<td class=\"n k1\">1</td>"), "a known difference has a colour");
}

#[test]
fn a_case_shows_every_answer_and_its_drawing() {
    let pages = site();
    let known = Status::ALL.into_iter().position(|status| status == Status::KnownFailure).unwrap();
    let page = of(&pages, &format!("case/{}.html", SUITE.cases[known].id));
    assert!(page.contains("known difference</b>: ") && page.contains("finding 35</a>"), "{page}");
    assert!(page.contains("passed</b>: ") && page.contains("class=\"drawing\""), "{page}");
    assert!(!page.contains(HOSTILE), "titles come from the suite");
    let outside = of(&pages, "index.html");
    assert!(!outside.contains("outside"), "a case that is not in the suite has no page");
    let sweep = of(&pages, &format!("case/{}.html", SUITE.sweeps[0].id));
    assert!(sweep.contains("No report has this case."), "{sweep}");
}

#[test]
fn pages_are_small() {
    let pages = site();
    let size = |path: &str| of(&pages, path).len();
    let whole: usize = pages.iter().map(|(_, text)| text.len()).sum();
    // What a visitor loads first, the largest file, and all of them.
    assert!(size("index.html") + size("site.css") + size("site.js") < 60_000);
    assert!(size("search-index.js") < 1_000_000, "{}", size("search-index.js"));
    assert!(whole < 40_000_000, "{whole}");
}
