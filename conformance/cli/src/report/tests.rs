//! Which runs succeed, which failures come first, and how the formats show it.

use super::*;
use broadcheck_spec::Suite;

fn entry(id: &str, status: Status, kind: Option<DifferenceKind>) -> Entry {
    Entry {
        nature: Nature::Rule,
        convention: None,
        retyped: None,
        finding: None,
        id: id.into(),
        sweep: false,
        rules: Some(RuleSet::Xla),
        clause: "XLA-1".into(),
        title: "A `title` with <b> & |.".into(),
        status,
        kind,
        detail: "why ``` not".into(),
        request: vec!["a request".into()],
        expectation: Vec::new(),
        sources: Vec::new(),
        location: "a.yaml:1".into(),
        rerun: "again".into(),
    }
}

fn report(results: Vec<Entry>, named: bool) -> Report {
    let cases = results.len();
    let run = Run {
        name: "mine".into(),
        version: "1".into(),
        named,
        rules: RuleSet::ALL.to_vec(),
        conventions: Vec::new(),
        results,
        leftovers: Vec::new(),
    };
    Report { cases, sweeps: 0, sample: None, min_asked: None, runs: vec![run], interrupted: false }
}

#[test]
fn silent_wrong_answers_come_first() {
    let mut results = vec![
        entry("unexpected", Status::UnexpectedPass, None),
        entry("skipped-inside", Status::Failed, None),
        entry("errored", Status::Errored, None),
        entry("passed", Status::Passed, None),
        entry("refused", Status::Failed, Some(DifferenceKind::WronglyRefused)),
        entry("accepted", Status::Failed, Some(DifferenceKind::WronglyAccepted)),
        entry("shape", Status::Failed, Some(DifferenceKind::Shape)),
        entry("values", Status::Failed, Some(DifferenceKind::Values)),
        entry("known", Status::KnownFailure, Some(DifferenceKind::Values)),
    ];
    let ids = |results: &[Entry]| -> Vec<String> {
        let report = report(results.to_vec(), false);
        report.failures().iter().map(|(_, entry)| entry.id.clone()).collect()
    };
    let expected = ["values", "shape", "accepted", "refused", "errored", "skipped-inside", "unexpected"]
        .map(String::from);
    assert_eq!(ids(&results), expected);
    results.reverse();
    assert_eq!(ids(&results), expected);
}

#[test]
fn a_run_without_a_pass_fails() {
    let passed = || entry("a", Status::Passed, None);
    assert!(report(vec![passed()], true).held());
    assert!(!report(vec![entry("a", Status::Skipped, None)], true).held());
    assert!(!report(vec![entry("a", Status::Skipped, None)], false).held());
    assert!(!report(vec![entry("a", Status::KnownFailure, None)], false).held());
    assert!(!report(Vec::new(), false).held());
    assert!(!report(vec![passed(), entry("b", Status::Errored, None)], false).held());
    assert!(!report(vec![passed(), entry("b", Status::UnexpectedPass, None)], false).held());
    assert!(!Report { interrupted: true, ..report(vec![passed()], true) }.held());
    let mut leftover = report(vec![passed()], true);
    leftover.runs[0].leftovers.push(Leftover { case: "b".into(), reason: "gone".into() });
    assert!(!leftover.held());
    assert!(leftover.closing().contains("1 known-failure entry without a case"));

    // One of two implementations that the command line does not name may cover nothing.
    let mut two = report(vec![passed()], false);
    two.runs.push(report(vec![entry("a", Status::Skipped, None)], false).runs.remove(0));
    assert!(two.held());
    two.runs[1].named = true;
    assert!(!two.held());
}

#[test]
fn rare_counts_have_columns_only_if_not_zero() {
    let common = text::render(&report(vec![entry("a", Status::Passed, None)], true), 100);
    assert!(!common.contains("errored") && !common.contains("known"), "{common}");
    let both = vec![entry("a", Status::Errored, None), entry("b", Status::KnownFailure, None)];
    let rare = text::render(&report(both, true), 100);
    assert!(rare.contains("passed  failed skipped errored   known"), "{rare}");
}

#[test]
fn markdown_escapes_what_it_contains() {
    let text =
        markdown::render(&report(vec![entry("a", Status::Failed, Some(DifferenceKind::Values))], true));
    assert!(text.contains("A `title` with &lt;b&gt; &amp; |.</summary>"), "{text}");
    assert!(text.contains("\n````text\n") && text.contains("\n````\n"), "{text}");
}

#[test]
fn reports_are_distinguished_from_other_files() {
    let report = report(vec![entry("a", Status::Passed, None)], true);
    assert!(json::is_report(&json::render(&report)));
    assert!(!json::is_report("{\"suite\": {}}") && !json::is_report("[]"));
    let text = output::Format::Text.render(&report, &Suite::default(), 0);
    assert!(text::is_report(&text) && !text.contains('\u{1b}'));
    assert!(!text::is_report("broadcheck is: fine") && !text::is_report("broadcheck 1"));
}
