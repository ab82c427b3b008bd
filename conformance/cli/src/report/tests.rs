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
        inference: false,
        rules: Some(RuleSet::Xla),
        clause: "XLA-1".into(),
        title: "A `title` with <b> & |.".into(),
        status,
        kind,
        detail: "why ``` not".into(),
        wider: None,
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
        declares: None,
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
fn answers_that_are_wider_are_counted_and_named() {
    let wider = |id: usize| {
        let how = format!("expected f32 ({id}), got f32 (?)");
        let entry = entry(&format!("xla/infer/{id}"), Status::Passed, None);
        Entry { inference: true, detail: String::new(), wider: Some(how), ..entry }
    };
    let results = |count| -> Vec<Entry> { (0..count).map(wider).collect() };
    let few = report(results(2), true);
    assert!(few.closing().contains("2 passed, 2 of them wider than exact"), "{}", few.closing());
    for text in [text::render(&few, 100), markdown::render(&few)] {
        assert!(text.contains("xla/infer/1: expected f32 (1), got f32 (?)"), "{text}");
        assert!(text.contains("with --exact, each is a failure"), "{text}");
    }
    let many = text::render(&report(results(30), true), 100);
    assert!(many.contains("xla/infer/9:") && !many.contains("xla/infer/10:"), "{many}");
    assert!(many.contains("and 20 more: see --format json"), "{many}");
    let document: serde_json::Value = serde_json::from_str(&json::render(&few)).unwrap();
    let run = &document["implementations"][0];
    assert_eq!((&run["wider"], &run["summary"]["passed"]), (&2.into(), &2.into()));
    assert_eq!(run["cases"][0]["wider"], "expected f32 (0), got f32 (?)");
    let none = report(vec![entry("a", Status::Passed, None)], true);
    assert!(!json::render(&none).contains("wider") && !text::render(&none, 100).contains("wider"));
    let junit = junit::render(&few);
    assert!(junit.contains("<property name=\"wider\" value=\"expected f32 (0), got f32 (?)\"/>"), "{junit}");
}

#[test]
fn markdown_escapes_what_it_contains() {
    let text =
        markdown::render(&report(vec![entry("a", Status::Failed, Some(DifferenceKind::Values))], true));
    assert!(text.contains("A `title` with &lt;b&gt; &amp; |.</summary>"), "{text}");
    assert!(text.contains("\n````text\n") && text.contains("\n````\n"), "{text}");
}

#[test]
fn markdown_mentions_nobody_and_stays_in_its_elements() {
    let mut failed = entry("a", Status::Failed, Some(DifferenceKind::Values));
    failed.title = "one\n\n</summary>\n@team two".into();
    let mut report = report(vec![failed], true);
    report.runs[0].name = "@team".into();
    let (case, reason) = ("<img src=x>`@team`\n# a".into(), "why".into());
    report.runs[0].leftovers.push(Leftover { case, reason });
    for report in [report.clone(), report.cleaned()] {
        let text = markdown::render(&report);
        assert!(text.contains(": one  &lt;/summary&gt; @<!-- -->team two</summary>"), "{text}");
        assert!(!text.contains("@team") && !text.contains("<img") && !text.contains("\n# a"), "{text}");
    }
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

/// A case of a convention.
fn of_convention(id: &str, convention: Convention, status: Status) -> Entry {
    let detail = if status == Status::Differs { "differs from the convention: why" } else { "" };
    Entry {
        nature: Nature::Convention,
        convention: Some(convention),
        detail: detail.into(),
        ..entry(id, status, None)
    }
}

/// A run that differs from one convention and agrees with another.
fn differing() -> Report {
    let mut report = report(
        vec![
            entry("a", Status::Passed, None),
            of_convention("b", Convention::RefusalOrder, Status::Agrees),
            of_convention("c", Convention::RefusalOrder, Status::Differs),
            of_convention("d", Convention::ZeroSigns, Status::Agrees),
            of_convention("e", Convention::UnusedOperands, Status::Agrees),
        ],
        true,
    );
    report.runs[0].conventions = vec![Convention::UnusedOperands];
    report
}

fn plain(report: &Report) -> String {
    output::Format::Text.render(report, &Suite::default(), 0)
}

#[test]
fn conventions_are_counted_apart_and_never_failures() {
    let report = differing();
    assert!(report.held() && report.failures().is_empty());
    // Spaces and line breaks depend on the width.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&plain(&report));
    for line in [
        "rule set passed failed skipped agrees differs",
        "xla 1 0 0 3 1",
        "by nature rules: 1 passed; conventions: 3 agree, 1 differ",
        "asked xla: 5 cases, all asked",
        "conventions unused-operands: agrees in 1 of 1 (declared)",
        "refusal-order: agrees in 1 of 2",
        "zero-signs: agrees in 1 of 1",
        "to require those that agree in every case, declare \"conventions\": [\"unused-operands\", \"zero-signs\"]",
        "ok: 5 cases, 1 implementation: 1 passed, 3 agree with a convention, 1 differ from a convention",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let badge = badge::render(&report.runs[0]);
    assert!(badge.contains("#1a6b32") && badge.contains(">broadcheck: 1 passed</text>"), "{badge}");
    assert!(badge.contains("conventions: 3 agree, 1 differ"), "{badge}");
    let junit = junit::render(&report);
    assert!(junit.contains("<skipped message=\"differs from the convention: why\""), "{junit}");
    assert!(junit.contains("<property name=\"convention\" value=\"refusal-order\""), "{junit}");
    assert!(junit.contains("failures=\"0\"") && junit.contains("<property name=\"nature\" value=\"rule\""));
    let text = markdown::render(&report);
    assert!(text.contains("\n  - conventions: refusal-order: agrees in 1 of 2\n"), "{text}");
    let page = html::render(&report, &Suite::default());
    assert!(page.contains("data-n=\"convention\" data-c=\"refusal-order\""), "{page}");
    assert!(
        page.contains("<option value=\"zero-signs\">") && !page.contains("<option value=\"checked-sizes\">")
    );
}

#[test]
fn following_every_convention_is_one_line() {
    let mut report = differing();
    report.runs[0].results.remove(2);
    report.runs[0].conventions = Convention::ALL.to_vec();
    let text = plain(&report);
    assert!(text.contains("\n  conventions  agrees in all 3 cases of the 3 declared\n"), "{text}");
}

#[test]
fn a_run_that_only_differs_is_no_failure() {
    assert!(report(vec![of_convention("a", Convention::RefusalOrder, Status::Differs)], true).held());
    assert!(!report(vec![of_convention("a", Convention::RefusalOrder, Status::Skipped)], true).held());
}

#[test]
fn json_has_natures_conventions_and_what_was_asked() {
    let mut report = differing();
    report.runs[0].results[0].retyped = Some(DType::F32);
    report.runs[0].results.push(Entry { finding: Some(35), ..entry("f", Status::KnownFailure, None) });
    report.runs[0].results.push(Entry { detail: "no f16".into(), ..entry("g", Status::Skipped, None) });
    let document: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../schema/report.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(document["verdict"], "ok");
    let run = &document["implementations"][0];
    assert_eq!((&run["cases"][0]["id"], &run["cases"][0]["retyped"]), (&"a".into(), &"f32".into()));
    assert_eq!(run["cases"][5]["finding"], 35);
    assert_eq!(
        (&run["summary"]["agrees"], &run["by_nature"]["convention"]["differs"]),
        (&3.into(), &1.into())
    );
    let asked = serde_json::json!([{
        "rules": "xla", "cases": 7, "asked": 6, "retyped": 1, "not_asked": [{"reason": "no f16", "cases": 1}],
        "shape_cases": 3, "shape_asked": 2, "shape_not_asked": [{"reason": "no f16", "cases": 1}]
    }]);
    assert_eq!(run["asked"], asked);
    let shared = serde_json::json!({"name": "refusal-order", "declared": false, "agrees": 1, "cases": 2});
    assert_eq!(run["conventions"][1], shared);
    // A comparison and the matrix read it back.
    let recorded = read::Recorded::parse(&json::render(&report)).unwrap();
    let case = &recorded.implementations[0].cases[2];
    assert_eq!((case.rules, case.nature), (Some(RuleSet::Xla), Some(Nature::Convention)));
    assert_eq!(case.convention, Some(Convention::RefusalOrder));
    assert!(recorded.implementations[0].conventions[0].declared);
}

#[test]
fn a_retyped_case_is_shown_with_its_dtype() {
    let failed = entry("xla/a", Status::Failed, Some(DifferenceKind::Values));
    let report = report(vec![Entry { retyped: Some(DType::F32), ..failed }], true);
    assert!(plain(&report).contains("FAILED  xla/a as f32  (mine)"));
    assert!(plain(&report).contains("all asked (1 in another dtype)"));
    assert!(markdown::render(&report).contains("<code>xla/a as f32</code> (mine)"));
    assert!(junit::render(&report).contains("name=\"xla/a as f32\""));
    let page = html::render(&report, &Suite::default());
    assert!(page.contains("mine 1 (asked as f32)"), "{page}");
    assert!(page.contains("<a href=\"#xla/a\">xla/a as f32</a>"), "{page}");
}

#[test]
fn little_asked_is_part_of_the_verdict() {
    let skipped = |id: &str| Entry { detail: "no rank above 2".into(), ..entry(id, Status::Skipped, None) };
    let results = vec![entry("a", Status::Passed, None), skipped("b"), skipped("c")];
    let share = "1 of 3 shape cases of xla were asked (33 %); not asked: 2 no rank above 2";
    let little = report(results.clone(), true);
    assert!(little.held() && little.verdict() == Verdict::LittleAsked);
    let text = plain(&little);
    assert!(
        text.contains("\nok, but little was asked: 3 cases, 1 implementation: 1 passed, 2 skipped\n"),
        "{text}"
    );
    assert!(text.contains(&format!("\n  mine 1: {share}\n")), "{text}");
    assert!(html::render(&little, &Suite::default()).contains(share));
    assert!(markdown::render(&little).contains(share));
    // Nobody claims that an implementation that the command line does not name is good.
    assert_eq!(report(results.clone(), false).verdict(), Verdict::Ok);

    let failed = Report { min_asked: Some(34), ..report(results.clone(), false) };
    assert!(!failed.held() && failed.verdict() == Verdict::Failed && failed.advice().is_empty());
    let text = plain(&failed);
    let message = format!("mine 1: {share}; expected at least 34 % (--min-asked)");
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&message), "{text}");
    assert!(text.contains("1 rule set asked too little"), "{text}");
    let junit = junit::render(&failed);
    assert!(junit.contains("name=\"is asked enough of xla\"") && junit.contains("failures=\"1\""), "{junit}");
    assert!(Report { min_asked: Some(33), ..report(results, true) }.held());
}
