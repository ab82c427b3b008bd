//! What the command says about the rules and about itself: `clause`, `completions`, `man`.

use super::{SUITE, complains, ends};
use broadcheck_spec::clauses;
use serde_json::Value;
use std::fs;

#[test]
fn a_clause_is_printed_with_the_number_of_its_cases() {
    let text = ends(0, &["clause", "G-2", "v-3"]).out;
    assert!(text.starts_with("G-2\nTwo lengths are compatible when equal"), "{text}");
    assert!(text.contains("\n  nature     rule\n"), "{text}");
    assert!(text.contains("\nRule. Compatible lengths have a common length"), "{text}");
    assert!(text.contains("\n\nV-3\n") && text.contains("convention zero-signs: "), "{text}");
    assert!(!text.contains("]("), "{text}");
    let count = SUITE.cases.iter().filter(|case| case.clause == "G-2").count();
    assert!(text.contains(&format!("tested by  {count} cases: broadcheck list --clause G-2\n")), "{text}");
}

#[test]
fn clauses_are_listed() {
    assert_eq!(ends(0, &["clause", "--list"]).out.lines().count(), clauses::ALL.len());
    let list: Vec<Value> =
        serde_json::from_str(&ends(0, &["clause", "--list", "--format", "json"]).out).unwrap();
    let sum = |field: &str| list.iter().map(|clause| clause[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("cases"), sum("sweeps")), (SUITE.number_of_cases() as u64, SUITE.sweeps.len() as u64));
    for clause in &list {
        assert!(clause["text"].as_str().unwrap().starts_with("**Nature.** "), "{clause}");
        assert!(clause["page"].as_str().unwrap().starts_with("spec/semantics/"), "{clause}");
    }
}

#[test]
fn an_unknown_clause_is_an_error_with_similar_ids() {
    complains("clause XLA3: found no such clause, expected an id such as\n  XLA-3  ", &["clause", "XLA3"]);
    ends(2, &["clause"]);
    ends(2, &["clause", "--list", "G-2"]);
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let script = ends(0, &["completions", "bash"]).out;
    assert!(script.contains("compare-reports") && script.contains("--sample-sweeps"), "{script}");
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("man").display().to_string();
    for _ in ["written", "replaced"] {
        ends(0, &["man", "--out", &out]);
    }
    for page in ["broadcheck.1", "broadcheck-check.1", "broadcheck-adapters-install.1"] {
        let text = fs::read_to_string(directory.path().join("man").join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    fs::write(directory.path().join("man/broadcheck.1"), "of someone else").unwrap();
    complains("broadcheck.1: found a file that is not", &["man", "--out", &out]);
}
