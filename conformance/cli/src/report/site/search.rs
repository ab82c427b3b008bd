//! The search: a page, and an index of everything that has a page of its own.

use super::world::{World, clause_path, rules_path};
use super::{Frame, rendered};
use crate::report::clean::visible_in_json;
use askama::Template;
use broadcheck_spec::{RuleSet, clauses};

#[derive(Template)]
#[template(path = "site/search.html")]
struct Search {
    frame: Frame,
}

pub(super) fn page() -> String {
    rendered(&Search { frame: Frame::new("Search", "search.html", "search") })
}

/// The index as a script, because pages from a disk cannot load data: for each page its kind, its title, what
/// else finds it, and its path.
pub(super) fn index(world: &World<'_>) -> String {
    let mut entries: Vec<[String; 4]> = Vec::new();
    let mut add = |kind: &str, title: &str, more: String, path: String| {
        entries.push([kind.to_owned(), title.to_owned(), more, path]);
    };
    for system in &world.systems {
        add("system", &system.title, String::new(), system.path.clone());
    }
    for rules in RuleSet::ALL {
        add("rule set", rules.name(), String::new(), rules_path(rules));
    }
    for clause in clauses::ALL {
        add("clause", &clause.heading.replace('`', ""), clause.id.to_owned(), clause_path(clause.id));
    }
    for finding in &world.findings {
        let title = finding.title.replace('`', "");
        add("finding", &title, format!("{} {}", finding.number, finding.system), finding.path());
    }
    for case in &world.cases {
        // The page's path is that of the id.
        add("case", case.title, case.id.to_owned(), String::new());
    }
    let rows: Vec<String> = entries
        .iter()
        .map(|entry| serde_json::to_string(entry).expect("texts can be written as JSON"))
        .collect();
    format!("window.broadcheckIndex = [\n{}\n];\n", visible_in_json(&rows.join(",\n")))
}
