//! The formats of the report, read by independent parsers, with hostile texts from an implementation.

use broadcheck::given::Mode;
use broadcheck::known::Known;
use broadcheck::optimiser::Optimiser;
use broadcheck::run::Status;
use broadcheck_cli::report::known_draft::How;
use broadcheck_cli::report::output::{Destination, Format};
use broadcheck_cli::report::{Entry, Leftover, Report, Run, badge, html, junit, known_draft, markdown, text};
use broadcheck_spec::{Nature, RuleSet, Suite};
use roxmltree::Document;
use std::fs;

const NAME: &str = "<script>alert(1)</script>\u{1b}[31m&\"'";
const VERSION: &str = "]]> --> </title>\u{202e}9";
const MESSAGE: &str =
    "</pre><img src=x onerror=alert(2)>\u{1b}]0;owned\u{7} ````\u{0}\u{fffe} ]]>\nsecond line";

const STATUSES: [Status; 8] = Status::ALL;

fn entry(id: &str, status: Status) -> Entry {
    Entry {
        id: id.into(),
        sweep: false,
        inference: false,
        rules: Some(RuleSet::Numpy),
        clause: "NUMPY-2".into(),
        nature: Nature::Rule,
        convention: None,
        retyped: None,
        finding: None,
        title: "A <title> & more.".into(),
        status,
        kind: None,
        detail: if status == Status::Passed { String::new() } else { MESSAGE.into() },
        wider: None,
        request: vec!["a request".into()],
        expectation: vec!["a result".into()],
        sources: vec!["https://example.org/?a=1&b=<2>".into()],
        location: "a.yaml:1".into(),
        rerun: "again '<x>'".into(),
    }
}

fn run(name: &str, version: &str, statuses: &[Status]) -> Run {
    let id = |place: usize| format!("numpy/mine/case-{place}");
    let results = statuses.iter().enumerate().map(|(place, &status)| entry(&id(place), status)).collect();
    Run {
        name: name.into(),
        version: version.into(),
        named: true,
        rules: vec![RuleSet::Numpy],
        conventions: Vec::new(),
        results,
        declares: None,
        leftovers: Vec::new(),
    }
}

/// A plain implementation and a hostile one, with a result of every status.
fn hostile() -> Report {
    let mut strange = run(NAME, VERSION, &STATUSES);
    strange.leftovers.push(Leftover { case: "numpy/<gone>".into(), reason: "was & is not".into() });
    let runs = vec![run("mine", "1.0", &[Status::Passed; 8]), strange];
    Report { cases: 8, sweeps: 0, sample: None, min_asked: None, runs, interrupted: false }.cleaned()
}

#[test]
fn junit_is_xml_with_correct_counts() {
    let text = junit::render(&hostile());
    let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let suites: Vec<_> = root.children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(suites.len(), 2);
    for suite in &suites {
        assert_eq!(suite.tag_name().name(), "testsuite");
        let elements = |name: &str| suite.descendants().filter(|node| node.has_tag_name(name)).count();
        let said = |name: &str| suite.attribute(name).map(|count| count.parse::<usize>().unwrap());
        assert_eq!(said("tests"), Some(elements("testcase")));
        assert_eq!(said("failures"), Some(elements("failure")));
        assert_eq!(said("errors"), Some(elements("error")));
        assert_eq!(said("skipped"), Some(elements("skipped")));
        for case in suite.children().filter(roxmltree::Node::is_element) {
            assert!(case.attribute("name").is_some() && case.attribute("classname").is_some(), "{case:?}");
            let elements = case.children().filter(roxmltree::Node::is_element);
            assert!(elements.filter(|node| !node.has_tag_name("properties")).count() <= 1);
        }
    }
    let count = |suite: usize, name: &str| suites[suite].attribute(name).unwrap().to_owned();
    assert_eq!(["tests", "failures", "errors", "skipped"].map(|name| count(0, name)), ["8", "0", "0", "0"]);
    // The unmatched known failure is the third failure.
    assert_eq!(["tests", "failures", "errors", "skipped"].map(|name| count(1, name)), ["9", "3", "1", "3"]);
    assert!(suites[1].attribute("name").unwrap().starts_with("<script>alert(1)</script>\\u{1b}[31m&\"' ]]>"));
    assert!(junit::is_report(&text) && !junit::is_report("<testsuites name=\"other\"/>"));
}

#[test]
fn junit_reports_failures_of_the_run() {
    let silent = Report { interrupted: true, ..alone(run("mine", "1", &[Status::Skipped])) };
    let text = junit::render(&silent);
    let document = Document::parse(&text).unwrap();
    let failed: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("failure"))
        .filter_map(|node| node.parent()?.attribute("name"))
        .collect();
    assert_eq!(failed, ["passes some case", "completes"]);
}

fn alone(run: Run) -> Report {
    Report {
        cases: run.results.len(),
        sweeps: 0,
        sample: None,
        min_asked: None,
        runs: vec![run],
        interrupted: false,
    }
    .cleaned()
}

#[test]
fn the_page_escapes_texts() {
    let page = html::render(&hostile(), &Suite::default());
    assert!(page.starts_with(html::MARKER));
    assert_eq!(page.matches("<script>").count(), 1, "only the page's script");
    assert!(!page.contains("<img") && !page.contains("onerror=alert(2)>\n<"));
    assert!(!page.contains(|char: char| char.is_control() && char != '\n'));
    assert!(page.contains("&#60;script&#62;alert(1)&#60;/script&#62;\\u{1b}[31m&#38;&#34;&#39;"), "the name");
    assert!(page.contains("&#60;img src=x onerror=alert(2)&#62;\\u{1b}]0;owned\\u{7}"), "the message");
    assert!(page.contains("numpy/&#60;gone&#62;"), "the leftover");
    assert!(page.contains("data-s=\"pf\"") && page.contains("data-s=\"pu\""), "a letter per implementation");
    // Equal outcomes are grouped.
    assert_eq!(page.matches("</b>: mine 1.0").count(), 8);
}

#[test]
fn the_page_shows_cases_as_they_are() {
    let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
    let (case, sweep, inference) = (&suite.cases[0], &suite.sweeps[0], &suite.inferences[0]);
    let ids = [&case.id, &sweep.id, &inference.id];
    let mut results: Vec<Entry> = ids.iter().map(|id| entry(id, Status::Passed)).collect();
    results[1].sweep = true;
    results[2].inference = true;
    results[2].wider = Some("expected f32 (2), got f32 (?)".into());
    let run = Run { results, ..run("mine", "1", &[]) };
    let page = html::render(&alone(run), &suite);
    assert!(page.contains(&format!("<div class=\"body\" id=\"{}\">", case.id)));
    assert!(page.contains("class=\"drawing\""), "the drawing of the case");
    assert!(page.contains(&format!("<div class=\"body\" id=\"{}\">", inference.id)));
    assert_eq!(page.matches("class=\"drawing\"").count(), 2, "a sweep has none");
    assert!(page.contains("\noperation: infer\n"), "the signature");
    assert!(page.contains("expected f32 (2), got f32 (?)"), "how the answer is wider");
    assert!(page.contains("\noperands:\n"), "the request");
    assert!(page.contains(&format!("sweep: {}\nwith: {{", sweep.sweep)));
}

#[test]
fn a_badge_is_an_image_of_its_counts() {
    let report = hostile();
    for (run, colour, said) in [
        (&report.runs[0], "#1a6b32", "broadcheck: 8 passed"),
        (&report.runs[1], "#b3151f", "broadcheck: 2 failed, 1 errored, 1 passed, 1 known to fail"),
    ] {
        let text = badge::render(run);
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(document.root_element().tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        let fills: Vec<&str> = document.descendants().filter_map(|node| node.attribute("fill")).collect();
        assert!(fills.contains(&colour), "{fills:?}");
        let texts: Vec<&str> = document
            .descendants()
            .filter(|n| n.has_tag_name(("http://www.w3.org/2000/svg", "text")))
            .filter_map(|n| n.text())
            .collect();
        assert_eq!(texts.len(), 2);
        assert!(run.title().starts_with(texts[0]), "{texts:?}");
        assert_eq!(texts[1], said);
    }
    let colour = |statuses: &[Status]| badge::render(&run("mine", "1", statuses));
    assert!(colour(&[Status::Skipped]).contains("#5c636b"));
    assert!(colour(&[Status::Passed, Status::KnownFailure]).contains("#7a5200"));
}

#[test]
fn badges_have_unique_names_inside_their_directory() {
    let names =
        badge::file_names(["numpy", "../../etc/passwd", "NumPy", "", "numpy", "fast@avx2"].into_iter());
    assert_eq!(
        names,
        [
            "badge-numpy.svg",
            "badge-etc-passwd.svg",
            "badge-numpy-2.svg",
            "badge-unnamed.svg",
            "badge-numpy-3.svg",
            "badge-fast-avx2.svg"
        ]
    );
}

#[test]
fn a_markdown_report_fits_a_pull_request() {
    let many = alone(run("mine", "1", &[Status::Failed; 400]));
    let text = markdown::render(&many);
    assert!(text.len() < 65_536, "{}", text.len());
    let shown = text.matches("<details>").count();
    assert!(shown > 50 && text.contains(&format!("\n{} more failures", 400 - shown)), "{shown}");
    let few = markdown::render(&alone(run("mine", "1", &[Status::Failed; 3])));
    assert!(!few.contains("more failures"));
}

#[test]
fn many_implementations_have_one_row_each() {
    let mut runs: Vec<Run> =
        ["a", "b", "c", "d"].into_iter().map(|name| run(name, "1", &[Status::Passed; 3])).collect();
    let report = |runs: &[Run]| {
        markdown::render(&Report {
            cases: 3,
            sweeps: 0,
            sample: None,
            min_asked: None,
            runs: runs.to_vec(),
            interrupted: false,
        })
    };
    assert!(report(&runs).contains("\n| rule set | a 1<br>passed / failed / skipped |"));
    runs.push(run("e|f", "2", &[Status::Passed, Status::Skipped, Status::KnownFailure]));
    runs.push(run("g", "3", &[Status::Skipped; 3]));
    let text = report(&runs);
    for line in [
        "| implementation | numpy | total |\n|---|---|---|",
        "| a 1 | 3 passed | 3 passed |",
        "| e\\|f 2 | 1 passed, 1 known, 1 skipped | 1 passed, 1 known, 1 skipped |",
        "| g 3 | - | - |",
    ] {
        assert!(text.contains(&format!("\n{line}\n")), "{line}\n{text}");
    }
}

#[test]
fn terminal_codes_are_escaped() {
    let shown = text::render(&hostile(), 100);
    let plain = anstream::adapter::strip_str(&shown).to_string();
    assert!(plain.contains("\\u{1b}]0;owned\\u{7}") && !plain.contains(['\u{7}', '\u{202e}', '\u{0}']));
    // The only codes are the colours of the report.
    assert!(!shown.contains("\u{1b}]") && shown.contains("\\u{1b}[31m&"));
}

const FORMATS: [Format; 6] =
    [Format::Text, Format::Json, Format::Junit, Format::Markdown, Format::Html, Format::Badge];

#[test]
fn only_a_report_of_the_same_format_is_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("reports");
    let (report, suite) = (hostile(), Suite::default());
    let names: Vec<&str> = report.runs.iter().map(|run| run.name.as_str()).collect();
    let destination = Destination::new(&FORMATS, &names, &out).unwrap();
    destination.write(&report, &suite).unwrap();
    assert_eq!(destination.files.len(), 7);
    // Each is recognised as a report of its format, and of no other.
    Destination::new(&FORMATS, &names, &out).unwrap().write(&report, &suite).unwrap();
    for file in &destination.files {
        let content = fs::read_to_string(&file.path).unwrap();
        for format in FORMATS.into_iter().filter(|&format| format != file.format) {
            let other = directory.path().join("other");
            fs::write(&other, &content).unwrap();
            let error = Destination::new(&[format], &names[..1], &other).unwrap_err();
            assert!(error.contains("not a report of this format"), "{error}");
        }
        fs::write(&file.path, "<html>mine</html>").unwrap();
        let error = Destination::new(&FORMATS, &names, &out).unwrap_err();
        assert!(error.contains("which is not overwritten"), "{error}");
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "<html>mine</html>");
        fs::write(&file.path, content).unwrap();
    }
}

#[test]
fn a_draft_of_known_failures_is_rejected_without_urls() {
    let report = hostile();
    let strange = &report.runs[1];
    assert_eq!(known_draft::count(strange), 2, "failed and errored; what is known is not drafted again");
    let draft = known_draft::render(strange, How::of(&[], &[]));
    let refused = Known::parse(&draft, "draft.yaml").err().expect("the addresses are missing");
    assert!(refused.contains("found ``, expected a url such as"), "{refused}");
    let filled =
        Known::parse(&draft.replace("url: \"\"", "url: \"https://example.org/1\""), "filled.yaml").unwrap();
    assert_eq!(filled.implementation, strange.name);
    assert!(filled.entry("numpy/mine/case-1").unwrap().reason.starts_with("</pre><img src=x"));
    assert!(filled.entry("numpy/mine/case-3").is_some() && filled.entry("numpy/mine/case-2").is_none());
    assert!(filled.entry("numpy/mine/case-5").is_none(), "differing from a convention is no failure");
    assert!(
        Known::parse(&known_draft::render(&report.runs[0], How::of(&[], &[])), "draft.yaml").is_ok(),
        "nothing to list"
    );
}

#[test]
fn a_draft_names_the_one_mode_and_the_one_position_that_were_asked_for() {
    let report = hostile();
    let drafted = |given: &[Mode], optimiser: &[Optimiser]| {
        let draft = known_draft::render(&report.runs[1], How::of(given, optimiser));
        Known::parse(&draft.replace("url: \"\"", "url: \"https://example.org/1\""), "draft.yaml").unwrap()
    };
    let id = "numpy/mine/case-1";
    let constants = drafted(&[Mode::Constants], &[]);
    assert!(constants.entry(id).is_none(), "it may pass as it is written");
    assert!(constants.entry_given(id, &[Mode::Constants]).is_some());
    let mut off = drafted(&[], &[Optimiser::Off]);
    assert!(off.entry(id).is_none(), "it may pass with the optimiser on");
    off.ask_optimiser(&[Optimiser::Off]);
    assert!(off.entry(id).is_some());
    // In which of several it failed is not known.
    assert!(drafted(&[Mode::Constants, Mode::Values], &Optimiser::ALL).entry(id).is_some());
}
