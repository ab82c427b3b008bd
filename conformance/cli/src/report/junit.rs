//! The report as JUnit XML for continuous integration: a suite per implementation, a test per case, with the
//! nature of the case as a property. A known failure and a case that differs from a convention appear as
//! skipped, with the reason.

use super::{Entry, PRODUCT, Report, Run};
use broadcheck::run::Status;
use broadcheck_spec::{Convention, DType};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write as _;

/// The whole report.
pub fn render(report: &Report) -> String {
    let mut document = quick_junit::Report::new(PRODUCT);
    let silent = report.silent();
    let (too_little, min_asked) = (report.too_little(), report.min_asked.unwrap_or_default());
    for run in &report.runs {
        let mut suite = TestSuite::new(run.title());
        suite.add_test_cases(run.results.iter().map(|entry| test(run, entry)));
        suite.add_test_cases(run.leftovers.iter().map(|leftover| {
            let message = format!("matches no case of the suite: {}", leftover.reason);
            failed(run, &format!("known failure {}", leftover.case), &message)
        }));
        if silent.iter().any(|other| std::ptr::eq(*other, run)) {
            suite.add_test_case(failed(run, "passes some case", "passed no case"));
        }
        let too_little = too_little.iter().filter(|(other, _)| std::ptr::eq(*other, run));
        suite.add_test_cases(too_little.map(|(run, asked)| {
            let message = format!("{}; expected at least {min_asked} %", asked.shape_share());
            failed(run, &format!("is asked enough of {}", asked.rules), &message)
        }));
        document.add_test_suite(suite);
    }
    if report.interrupted {
        let mut suite = TestSuite::new("the run");
        suite.add_test_case(failure("the run", "completes", "it was interrupted"));
        document.add_test_suite(suite);
    }
    document.to_string().expect("a document of texts can be written to a string")
}

/// Whether a text is such a report.
pub fn is_report(text: &str) -> bool {
    let root = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    root.is_some_and(|rest| rest.trim_start().starts_with("<testsuites name=\"broadcheck "))
}

fn test(run: &Run, entry: &Entry) -> TestCase {
    let mut status = match entry.status {
        Status::Passed | Status::Agrees => TestCaseStatus::success(),
        Status::Skipped | Status::Differs | Status::KnownFailure => TestCaseStatus::skipped(),
        Status::Errored => TestCaseStatus::non_success(NonSuccessKind::Error),
        Status::Failed | Status::UnexpectedPass => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    if !matches!(entry.status, Status::Passed | Status::Agrees) {
        let first = entry.detail.lines().next().unwrap_or_default();
        status.set_message(first);
    }
    if entry.status.is_failure() {
        let kind = entry.kind.map_or_else(|| entry.status.name().to_owned(), |kind| kind.to_string());
        status.set_type(kind).set_description(description(entry));
    }
    let mut test = TestCase::new(entry.name(), status);
    test.add_property(("nature", entry.nature.name()));
    for (name, value) in [
        ("convention", entry.convention.map(Convention::name)),
        ("retyped", entry.retyped.map(DType::name)),
        ("wider", entry.wider.as_deref()),
    ] {
        test.add_properties(value.map(|value| (name, value)));
    }
    let rules = entry.rules.map_or("several", |rules| rules.name());
    test.set_classname(format!("{}.{rules}.{}", run.name, entry.clause));
    test
}

/// The description of a failure.
fn description(entry: &Entry) -> String {
    let mut text = String::new();
    for (name, lines) in [
        ("title", std::slice::from_ref(&entry.title)),
        ("request", &entry.request[..]),
        ("expectation", &entry.expectation[..]),
        ("outcome", std::slice::from_ref(&entry.detail)),
        ("clause", std::slice::from_ref(&entry.clause)),
        ("source", &entry.sources[..]),
        ("location", std::slice::from_ref(&entry.location)),
        ("rerun", std::slice::from_ref(&entry.rerun)),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "{name}: {}", lines.join("\n  "));
        }
    }
    text
}

fn failed(run: &Run, name: &str, message: &str) -> TestCase {
    failure(&run.name, name, message)
}

fn failure(class: &str, name: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message).set_type("run");
    let mut test = TestCase::new(name, status);
    test.set_classname(class);
    test
}
