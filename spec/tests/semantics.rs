//! The pages of the specification against the data: their clauses, and the parts of the entry page that are
//! generated.
//!
//! `BROADCHECK_BLESS=1 cargo test -p broadcheck-spec --test semantics` rewrites the generated parts.

use broadcheck_spec::{Convention, Nature, SEMANTICS, clauses, examples};
use std::fmt::Write as _;
use std::path::Path;

const COMMAND: &str = "BROADCHECK_BLESS=1 cargo test -p broadcheck-spec --test semantics";

/// The clauses of a page, each with its id and heading.
fn headings(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.lines().filter_map(|line| line.strip_prefix("## ")).filter_map(|heading| heading.split_once(": "))
}

#[test]
fn the_list_of_clauses_matches_the_pages() {
    let pages: Vec<(&str, &str)> = SEMANTICS.iter().flat_map(|(_, page)| headings(page)).collect();
    let list: Vec<(&str, &str)> = clauses::ALL.iter().map(|clause| (clause.id, clause.heading)).collect();
    assert_eq!(list, pages);
}

#[test]
fn every_clause_has_its_paragraphs_in_order() {
    const PARAGRAPHS: [&str; 7] = ["Nature", "Rule", "Example", "Refuses", "Documents", "Systems", "Why"];
    for (name, page) in SEMANTICS {
        let sections = page.split("\n## ").skip(1);
        for section in
            sections.filter(|section| section.lines().next().is_some_and(|line| line.contains(": ")))
        {
            let found: Vec<&str> = section
                .split("\n\n**")
                .skip(1)
                .filter_map(|paragraph| paragraph.split_once(".**"))
                .map(|(title, _)| title)
                .collect();
            let heading = section.lines().next().unwrap_or_default();
            assert_eq!(found, PARAGRAPHS, "{name}: {heading}");
        }
    }
}

/// The paragraph of a clause that says why it holds: `Rule.`, or `Rule, with the convention
/// [`zero-signs`](...).`
fn nature(clause: &clauses::Clause, page: &str) -> String {
    let target = if page.ends_with("general.md") { "#conventions" } else { "general.md#conventions" };
    let names: Vec<String> =
        clause.conventions().map(|convention| format!("[`{convention}`]({target})")).collect();
    let (nature, names) = (capitalized(clause.nature.name()), names.join(" and "));
    match (clause.nature, clause.conventions().count()) {
        (_, 0) => format!("{nature}."),
        (Nature::Convention, _) => format!("{nature} {names}."),
        (Nature::Rule | Nature::Arithmetic, 1) => format!("{nature}, with the convention {names}."),
        (Nature::Rule | Nature::Arithmetic, _) => format!("{nature}, with the conventions {names}."),
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn every_clause_says_why_it_holds() {
    let mut clauses = clauses::ALL.iter();
    for (name, page) in SEMANTICS {
        for section in page.split("\n## ").skip(1) {
            let (heading, rest) = section.split_once("\n\n").expect("a paragraph after the heading");
            let Some((id, _)) = heading.split_once(": ") else { continue };
            let clause = clauses.next().expect("a clause for each section");
            let paragraph = rest.lines().next().unwrap_or_default();
            let expected = format!("**Nature.** {}", nature(clause, name));
            assert_eq!((id, paragraph), (clause.id, expected.as_str()), "{name}");
        }
    }
    assert!(clauses.next().is_none());
}

#[test]
fn the_page_lists_every_convention() {
    let (_, page) = SEMANTICS.iter().find(|(name, _)| name.ends_with("general.md")).expect("the page");
    let (_, section) = page.split_once("\n## Conventions\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the section after it");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), Convention::ALL.len());
    for (row, convention) in rows.iter().zip(Convention::ALL) {
        let begin = format!("| `{convention}` | {} | {} | ", convention.clause(), convention.summary());
        assert!(row.starts_with(&begin), "{row}\nexpected {begin}");
    }
}

#[test]
fn every_link_between_the_pages_has_a_target() {
    for (name, page) in SEMANTICS {
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            if file == "examples.yaml" {
                continue;
            }
            let file = match file.strip_prefix("../") {
                Some(up) => up.to_owned(),
                None if file.is_empty() => (*name).to_owned(),
                None if name.contains('/') => format!("semantics/{file}"),
                None => file.to_owned(),
            };
            let (_, text) = SEMANTICS
                .iter()
                .find(|(other, _)| *other == file)
                .unwrap_or_else(|| panic!("{name}: {target}: no page {file}"));
            let mut anchors = text.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor);
            assert!(heading.is_empty() || anchors.any(|anchor| anchor == heading), "{name}: {target}");
        }
    }
}

#[test]
fn the_generated_parts_are_current() {
    let (name, text) = SEMANTICS[0];
    let text = replaced(text, "clauses", &index());
    let text = replaced(&text, "documents", &documents());
    if std::env::var_os("BROADCHECK_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    } else {
        assert!(
            text == SEMANTICS[0].1,
            "spec/{name} is not current; this command rewrites it:\n    {COMMAND}"
        );
    }
}

/// The text with `part` between the marks of this name.
fn replaced(text: &str, name: &str, part: &str) -> String {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let (before, rest) = text.split_once(&begin).expect("the begin mark");
    let (_, after) = rest.split_once(&end).expect("the end mark");
    format!("{before}{begin}{part}{end}{after}")
}

/// The clauses page by page, each with a link to its heading, and why it holds.
fn index() -> String {
    let mut text = String::new();
    for (name, page) in &SEMANTICS[1..] {
        let title = page.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a page has a title");
        write!(text, "\n**[{title}]({name})**\n\n| clause | | nature |\n|---|---|---|\n")
            .expect("writing to a string does not fail");
        for (id, heading) in headings(page) {
            let anchor = anchor(&format!("{id}: {heading}"));
            let clause = clauses::get(id).expect("the list matches the pages");
            let nature = clause.nature.name().to_owned();
            let names = clause.conventions().map(|convention| format!("`{convention}`"));
            let nature = std::iter::once(nature).chain(names).collect::<Vec<_>>().join(", ");
            writeln!(text, "| [{id}]({name}#{anchor}) | {heading} | {nature} |")
                .expect("writing to a string does not fail");
        }
    }
    text + "\n"
}

/// The anchor that Markdown renderers derive from a heading: words in lower case, joined by hyphens.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The table of the documents.
fn documents() -> String {
    let mut text = String::from("\n| key | title | what it is | publisher | address | lines | SHA-256 |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for examples::Document { key, title, description, publisher, address, sha256, length } in
        examples::documents()
    {
        let cells = [&format!("`{key}`"), title, description, publisher, address, &length.to_string()]
            .map(String::as_str)
            .join(" | ");
        writeln!(text, "| {cells} | `{sha256}` |").expect("writing to a string does not fail");
    }
    text + "\n"
}
