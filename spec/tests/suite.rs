//! The shipped suite as a whole: it is complete, cites its sources, and round-trips through every format.

use broadcheck_spec::examples::Coverage;
use broadcheck_spec::{
    Case, CaseFile, DType, Expectation, InferenceCase, Location, Origin, PartialShape, RuleSet, Rules,
    Source, Suite, Unknown, load_str,
};
use broadcheck_spec::{clauses, examples, json, write};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> =
    LazyLock::new(|| Suite::builtin().unwrap_or_else(|errors| panic!("{errors}")));

fn nowhere<R: Clone, T: Clone>(case: &Case<R, T>) -> Case<R, T> {
    Case { location: Location::default(), ..case.clone() }
}

/// What a case of any operation says of itself.
struct About<'a> {
    id: &'a str,
    clause: &'a str,
    rules: RuleSet,
    refused: bool,
    sources: &'a [Source],
    origin: &'a Origin,
    location: &'a Location,
}

fn about<'a, R, T>(case: &'a Case<R, T>, rules: RuleSet) -> About<'a> {
    About {
        id: &case.id,
        clause: &case.clause,
        rules,
        refused: matches!(case.expectation, Expectation::Refusal(_)),
        sources: &case.sources,
        origin: &case.origin,
        location: &case.location,
    }
}

/// The cases of runs and of the operation `infer`.
fn every_case() -> impl Iterator<Item = About<'static>> {
    let runs = SUITE.cases.iter().map(|case| about(case, case.request.rules().set()));
    runs.chain(SUITE.inferences.iter().map(|case| about(case, case.request.rules().set())))
}

#[track_caller]
fn none(what: &str, missing: &[String]) {
    assert!(missing.is_empty(), "{what}:\n  {}", missing.join("\n  "));
}

#[test]
fn every_rule_set_has_its_cases() {
    for rules in RuleSet::ALL {
        let of = |case: &&Case| case.request.rules().set() == rules;
        let cases: Vec<&Case> = SUITE.cases.iter().filter(of).collect();
        let refusals =
            cases.iter().filter(|case| matches!(case.expectation, Expectation::Refusal(_))).count();
        assert!(cases.len() >= 20, "{rules} has {} cases", cases.len());
        assert!(refusals >= 3, "{rules} has {refusals} refusals");
    }
    assert!(SUITE.cases.len() >= 500, "{} cases", SUITE.cases.len());
}

/// The worked examples of the design, and each boundary on both sides.
#[test]
fn every_rule_set_has_its_inferences() {
    for rules in RuleSet::ALL {
        let of = |case: &&InferenceCase| case.request.rules().set() == rules;
        let cases: Vec<&InferenceCase> = SUITE.inferences.iter().filter(of).collect();
        let refused = cases.iter().filter(|case| matches!(case.expectation, Expectation::Refusal(_))).count();
        assert!(cases.len() >= 40, "{rules} has {} cases of infer", cases.len());
        assert!(refused >= 8, "{rules} infers {refused} refusals");
        let met: BTreeSet<Unknown> = cases
            .iter()
            .flat_map(|case| case.request.shapes().flat_map(Unknown::of).collect::<Vec<_>>())
            .collect();
        let ranked = matches!(rules, RuleSet::Xla | RuleSet::Theano);
        let expected = if ranked { &Unknown::ALL[..3] } else { &Unknown::ALL[..] };
        assert!(met.iter().eq(expected), "{rules}: {met:?}");
        assert!(cases.iter().any(|case| case.request.is_known()), "{rules}: a signature of known lengths");
    }
    assert!(SUITE.inferences.len() >= 58 + 250, "{} cases of infer", SUITE.inferences.len());
    assert_eq!(SUITE.number_of_cases(), SUITE.cases.len() + SUITE.inferences.len());
}

/// What is inferred lies within the bounds that the request has, or is one of its numbers: lengths are only
/// ever compared with each other and with 1. Under `repeat` they are rounded to multiples (INFER-14).
#[test]
fn every_inferred_bound_occurs_in_the_request() {
    let compared = SUITE.inferences.iter().filter(|case| *case.request.rules() != Rules::Repeat);
    for case in compared {
        let Expectation::Result(inferred) = &case.expectation else { continue };
        let bounds = |shape: &PartialShape| {
            let lengths = shape.lengths().unwrap_or(&[]);
            lengths.iter().flat_map(|length| [Some(length.min()), length.max()]).collect::<Vec<_>>()
        };
        let given: BTreeSet<Option<usize>> = case.request.shapes().flat_map(bounds).collect();
        for bound in bounds(&inferred.shape) {
            assert!(given.contains(&bound) || bound == Some(1), "{}: {bound:?}", case.id);
        }
    }
}

#[test]
fn every_example_of_the_documents_is_encoded() {
    let cases: BTreeSet<&str> =
        SUITE.cases.iter().flat_map(|case| &case.examples).map(String::as_str).collect();
    let sweeps: BTreeSet<&str> =
        SUITE.sweeps.iter().flat_map(|sweep| &sweep.examples).map(String::as_str).collect();
    let noted: BTreeSet<&str> = SUITE
        .cases
        .iter()
        .filter(|case| case.note.is_some())
        .flat_map(|case| &case.examples)
        .map(String::as_str)
        .collect();
    let held = |example: &&examples::Example| match example.covered_by {
        Coverage::Case => cases.contains(&*example.id),
        Coverage::Sweep => sweeps.contains(&*example.id) || cases.contains(&*example.id),
        Coverage::Remark => noted.contains(&*example.id),
        // The tests of the loader name it.
        Coverage::Loader => {
            include_str!("malformed/requests.rs").contains(&format!("Example {} ", example.id))
        }
    };
    let missing: Vec<String> = examples::all()
        .iter()
        .filter(|example| !held(example))
        .map(|example| format!("{} ({:?}): {}", example.id, example.covered_by, example.text))
        .collect();
    none("examples without a case", &missing);
    assert_eq!(examples::all().len(), 68, "the documents have 68 examples");
}

#[test]
fn every_example_is_within_its_document() {
    for example in examples::all() {
        for (key, lines) in &example.lines {
            let document = examples::document(key).expect("a document of the list");
            let last = lines.split(['-', ',', ' ']).filter_map(|line| line.parse::<u32>().ok()).max();
            assert!(last.is_some_and(|last| last <= document.length), "{}: {key} {lines}", example.id);
        }
    }
}

#[test]
fn every_clause_has_accepting_and_refusing_cases() {
    let mut missing = Vec::new();
    for clause in clauses::ALL {
        let kinds =
            |refused: bool| every_case().any(|case| case.clause == clause.id && case.refused == refused);
        let swept = SUITE.sweeps.iter().any(|sweep| sweep.clause == clause.id);
        if clause.accepts && !kinds(false) && !swept {
            missing.push(format!("{}: no accepting case", clause.id));
        }
        if clause.refuses && !kinds(true) {
            missing.push(format!("{}: no refusing case", clause.id));
        }
    }
    none("clauses without cases", &missing);
}

/// Whether the clause states, under **Documents**, that it or a part of it is not in the documents.
fn partly_undocumented(clause: &str) -> bool {
    let heading = format!("\n## {clause}: ");
    let (_, from) = broadcheck_spec::SEMANTICS
        .iter()
        .find_map(|(_, page)| page.split_once(&heading))
        .unwrap_or_else(|| panic!("no page has a clause {clause}"));
    let text = from.split("\n## ").next().expect("a split has a first part");
    let documents = text.split("\n\n").find(|paragraph| paragraph.starts_with("**Documents.**"));
    let words: Vec<&str> = documents.expect("a clause names its documents").split_whitespace().collect();
    words.join(" ").to_lowercase().contains("not in the documents")
}

#[test]
fn every_case_names_its_rule_set_and_its_source() {
    let mut missing = Vec::new();
    for case in every_case() {
        let rules = case.rules.name();
        if case.id.split('/').next() != Some(rules) {
            missing.push(format!("{} {}: the id does not begin with {rules}/", case.location, case.id));
        }
        if case.sources.is_empty() && !partly_undocumented(case.clause) {
            let clause = case.clause;
            missing.push(format!("{} {}: no source, though {clause} is documented", case.location, case.id));
        }
        if *case.origin == Origin::Document
            && !case.sources.iter().any(|source| matches!(source, Source::Document { .. }))
        {
            missing.push(format!(
                "{} {}: the origin is `document`, but no document is cited",
                case.location, case.id
            ));
        }
    }
    none("cases without rule set or source", &missing);
}

#[test]
fn every_rule_set_has_a_case_of_every_dtype() {
    let mut met: BTreeMap<RuleSet, BTreeSet<DType>> = BTreeMap::new();
    for case in &SUITE.cases {
        let dtypes = case.request.operands().iter().map(broadcheck_spec::Operand::dtype);
        met.entry(case.request.rules().set()).or_default().extend(dtypes);
    }
    let mut missing = Vec::new();
    for rules in RuleSet::ALL {
        let lacking: Vec<&str> = DType::ALL
            .into_iter()
            .filter(|dtype| !met.get(&rules).is_some_and(|met| met.contains(dtype)))
            .map(DType::name)
            .collect();
        if !lacking.is_empty() {
            missing.push(format!("{rules}: {}", lacking.join(" ")));
        }
    }
    none("dtypes without a case", &missing);
}

#[test]
fn no_two_cases_have_the_same_request() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut repeated = Vec::new();
    let runs = SUITE.cases.iter().map(|case| (json::request_to_value(&case.request), &case.id));
    let inferences = SUITE.inferences.iter().map(|case| (json::signature_to_value(&case.request), &case.id));
    for (key, id) in runs.chain(inferences) {
        if let Some(first) = seen.insert(key.to_string(), id) {
            repeated.push(format!("{id} has the request of {first}"));
        }
    }
    none("cases that repeat another", &repeated);
}

#[test]
fn every_case_round_trips_through_yaml() {
    for case in &SUITE.cases {
        let text = write::case_to_yaml(case);
        let loaded = load_str(&text, "case.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(loaded.cases.iter().map(nowhere).collect::<Vec<_>>(), [nowhere(case)], "{text}");
    }
    for case in &SUITE.inferences {
        let text = write::inference_case_to_yaml(case);
        let loaded = load_str(&text, "case.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(loaded.inferences.iter().map(nowhere).collect::<Vec<_>>(), [nowhere(case)], "{text}");
    }
}

#[test]
fn every_case_round_trips_through_json() {
    // All cases together have more values than one file may contain.
    let parts =
        SUITE.cases.chunks(400).map(|cases| CaseFile { cases: cases.to_vec(), ..CaseFile::default() });
    let others =
        CaseFile { cases: Vec::new(), inferences: SUITE.inferences.clone(), sweeps: SUITE.sweeps.clone() };
    for file in parts.chain([others]) {
        let written = json::file_to_json(&file);
        let loaded = load_str(&written.to_string(), "suite.json").unwrap_or_else(|errors| panic!("{errors}"));
        assert!(loaded.cases.iter().map(nowhere).eq(file.cases.iter().map(nowhere)));
        assert!(loaded.inferences.iter().map(nowhere).eq(file.inferences.iter().map(nowhere)));
        let pretty = serde_json::to_string_pretty(&written).unwrap();
        assert_eq!(load_str(&pretty, "suite.json").map(|file| file.sweeps.len()), Ok(file.sweeps.len()));
    }
}

#[test]
fn every_request_round_trips_through_the_protocol() {
    for case in &SUITE.cases {
        let text = json::request_to_value(&case.request).to_string();
        let back = json::request_from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(back, case.request, "{}", case.id);
    }
    for case in &SUITE.inferences {
        let text = json::signature_to_value(&case.request).to_string();
        let back = json::signature_from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(back, case.request, "{}", case.id);
    }
}

/// What another parser read, as JSON with the format's strings for values that JSON lacks.
fn as_json(value: &serde_yaml::Value) -> serde_json::Value {
    match value {
        serde_yaml::Value::Number(number) if !number.is_finite() => {
            let word = if number.is_nan() { "nan" } else { "inf" };
            let sign = if number.as_f64() == Some(f64::NEG_INFINITY) { "-" } else { "" };
            format!("{sign}{word}").into()
        }
        serde_yaml::Value::Sequence(items) => items.iter().map(as_json).collect(),
        serde_yaml::Value::Mapping(entries) => {
            let key = |key: &serde_yaml::Value| key.as_str().expect("keys are strings").to_owned();
            entries.iter().map(|(name, value)| (key(name), as_json(value))).collect()
        }
        other => serde_json::to_value(other).expect("a scalar is JSON"),
    }
}

/// Compares the loader with a second YAML parser.
#[test]
fn another_parser_reads_the_same() {
    for (name, text) in broadcheck_spec::FILES {
        let other: serde_yaml::Value =
            serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let file = load_str(text, name).unwrap_or_else(|errors| panic!("{errors}"));
        let twin = load_str(&as_json(&other).to_string(), "twin.json");
        let twin = twin.unwrap_or_else(|errors| panic!("{name}: {errors}"));
        let strip = |file: &CaseFile| file.cases.iter().map(nowhere).collect::<Vec<_>>();
        assert_eq!(strip(&file), strip(&twin), "{name}");
        assert!(file.inferences.iter().map(nowhere).eq(twin.inferences.iter().map(nowhere)), "{name}");
    }
}
