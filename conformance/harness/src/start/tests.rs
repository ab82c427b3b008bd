//! Tests of reading and writing the answer to `start`.

use super::*;
use broadcheck_reference::Reference;
use broadcheck_spec::{Outcome, Request};

fn errors(text: &str) -> String {
    read(text.as_bytes()).expect_err("invalid").join("; ")
}

#[test]
fn a_written_answer_can_be_read() {
    let line = write(&Reference::new(), 1 << 20).to_string();
    let declared = read(line.as_bytes()).unwrap();
    assert_eq!((declared.name.as_str(), declared.window), ("reference", WINDOW));
    assert_eq!(declared.language.as_deref(), Some("rust"));
    assert_eq!(
        declared.capabilities,
        Capabilities { max_elements: 1 << 20, ..Reference::new().capabilities().clone() }
    );
}

/// An implementation with these capabilities and no answers.
struct Declares(Capabilities);

impl Implementation for Declares {
    fn name(&self) -> &'static str {
        "declares"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }
    fn run(&self, _: &Request) -> Outcome {
        Outcome::Skipped { reason: String::new() }
    }
}

#[test]
fn every_capability_can_be_written_and_read() {
    let capabilities = Capabilities {
        rules: vec![RuleSet::Numpy, RuleSet::None],
        operations: vec![OperationKind::Broadcast],
        strided: false,
        broadcast_in_dim: true,
        permuted: true,
        cotangent: true,
        into: true,
        infer: true,
        declared: true,
        constants: true,
        same: true,
        unknown: vec![Unknown::Bound, Unknown::Rank],
        without_infer: vec![RuleSet::Numpy],
        without_declared: vec![RuleSet::Numpy],
        declared_unknown: Some(vec![Unknown::Rank]),
        static_flags: true,
        functions: vec![Function::Add],
        dtypes: vec![DType::F32, DType::U8],
        function_dtypes: [(Function::Add, vec![DType::F32]), (Function::Abs, vec![])].into(),
        rule_operations: [(RuleSet::Numpy, vec![])].into(),
        rule_functions: [(RuleSet::Numpy, vec![Function::Add])].into(),
        ordered_operands: true,
        min_rank: 1,
        max_rank: Some(8),
        equal_ranks: true,
        scalars: false,
        max_operands: Some(2),
        max_calls: Some(1),
        unused_operands: false,
        negative_strides: false,
        max_elements: 1 << 20,
        large_sizes: false,
        flushed_subnormals: vec![DType::F32],
        conventions: vec![Convention::RefusalOrder],
    };
    let line = write(&Declares(capabilities.clone()), 1 << 20).to_string();
    assert_eq!(read(line.as_bytes()).unwrap().capabilities, capabilities);
}

#[test]
fn what_may_be_unknown_is_read_with_infer() {
    let line = |operations: &str, unknown: &str| {
        format!(
            r#"{{"version":1,"implementation":{{"name":"x","version":"1","rules":["numpy"],
            "operations":[{operations}],"functions":["add"],"dtypes":["f32"]{unknown}}}}}"#
        )
    };
    let read_from = |operations: &str, unknown: &str| {
        let able = read(line(operations, unknown).as_bytes()).unwrap().capabilities;
        (able.infer, able.unknown)
    };
    let both = r#""elementwise","infer""#;
    assert_eq!(read_from(both, ""), (true, vec![Unknown::Length]), "the default");
    assert_eq!(read_from(both, r#","unknown":[]"#), (true, vec![]), "known lengths alone");
    let (_, all) = read_from(both, r#","unknown":["length","bound","interval","rank"]"#);
    assert_eq!(all, Unknown::ALL);
    assert_eq!(read_from(r#""elementwise""#, ""), (false, vec![]));
    let useless = read_from(r#""elementwise""#, r#","unknown":["length"],"declared_unknown":["length"]"#);
    assert_eq!(useless, (false, vec![]), "nothing asks for it");
    let error = errors(&line(both, r#","unknown":["lenght"]"#));
    assert!(error.contains("unknown") && error.contains("lenght") && error.contains("interval"), "{error}");
    let line = line(r#""elementwise","declared""#, r#","unknown":["length"],"declared_unknown":["rank"]"#);
    let error = errors(&line);
    assert!(error.contains("declared_unknown") && error.contains("rank"), "{error}");
    // An implementation that does not infer writes neither word.
    let line = write(&Declares(Capabilities::all()), 1).to_string();
    assert!(!line.contains("infer") && !line.contains("unknown"), "{line}");
}

#[test]
fn what_is_not_stated_has_the_meaning_that_it_always_had() {
    let line = r#"{"version":1,"implementation":{"name":"x","version":"1","rules":["numpy"],
        "operations":["elementwise","strided"],"functions":["add"],"dtypes":["f32"]}}"#;
    let expected = Capabilities {
        rules: vec![RuleSet::Numpy],
        operations: vec![OperationKind::Elementwise],
        functions: vec![Function::Add],
        dtypes: vec![DType::F32],
        ..Capabilities::all()
    };
    assert_eq!(read(line.as_bytes()).unwrap().capabilities, expected);
}

#[test]
fn errors_in_capabilities_name_the_field() {
    let mut answer = write(&Reference::new(), 1);
    let fields = answer["implementation"].as_object_mut().unwrap();
    fields.insert("conventions".into(), "none".into());
    fields.insert("scalars".into(), 1.into());
    fields.insert("function_dtypes".into(), json!({ "negate": ["f31"], "minus": [] }));
    let text = errors(&answer.to_string());
    for part in [
        "implementation.conventions: found \"none\", expected a list of names, or \"all\"",
        "implementation.scalars: found 1, expected true or false",
        "implementation.function_dtypes.negate: found \"f31\", expected names among f64 f32",
        "implementation.function_dtypes: found \"minus\", expected names among add subtract",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_window_can_only_be_reduced() {
    let mut answer = write(&Reference::new(), 1);
    for (asked, window) in [(1, 1), (16, 16), (99, 16)] {
        answer["implementation"]["window"] = asked.into();
        assert_eq!(read(answer.to_string().as_bytes()).unwrap().window, window);
    }
    answer["implementation"]["window"] = 0.into();
    assert!(errors(&answer.to_string()).contains("window: found 0, expected an integer from 1"));
    answer["implementation"].as_object_mut().unwrap().remove("window");
    answer["window"] = 3.into();
    assert_eq!(read(answer.to_string().as_bytes()).unwrap().window, 3);
}

#[test]
fn the_first_errors_are_shown_and_each_is_short() {
    let mut answer = write(&Reference::new(), 1);
    answer["implementation"]["functions"] = vec!["x".repeat(5000); 100].into();
    answer["implementation"]["name"] = vec!["y"; 5000].into();
    let text = errors(&answer.to_string());
    assert_eq!(text.matches("implementation.functions: found \"xxx").count(), 5, "{text}");
    assert!(text.ends_with("; and 96 more: correct these to see them"), "{text}");
    assert!(text.len() < 5000, "{} bytes", text.len());
    answer["version"] = "z".repeat(5000).into();
    assert!(errors(&answer.to_string()).len() < 500);
}

#[test]
fn an_optimiser_is_off_or_on() {
    let mut answer = write(&Reference::new(), 1);
    let read_from = |answer: &Value| read(answer.to_string().as_bytes());
    assert_eq!(read_from(&answer).unwrap().optimiser, None);
    for position in Optimiser::ALL {
        answer["implementation"]["optimiser"] = position.name().into();
        assert_eq!(read_from(&answer).unwrap().optimiser, Some(position));
    }
    answer["implementation"]["optimiser"] = true.into();
    let expected = "implementation.optimiser: found true, expected \"off\" or \"on\"";
    assert!(errors(&answer.to_string()).contains(expected));
}

#[test]
fn duplicate_fields_are_rejected() {
    let line = write(&Reference::new(), 1).to_string();
    for (field, twice) in [
        ("version", line.replacen('{', "{\"version\":2,", 1)),
        ("implementation", line.replacen('{', "{\"implementation\":{},", 1)),
        ("rules", line.replace("\"rules\":", "\"rules\":[],\"rules\":")),
    ] {
        let text = errors(&twice);
        assert!(text.starts_with(&format!("found duplicate field `{field}` at line 1")), "{text}");
    }
    assert!(read(line.replacen('{', "{\"took\":1,\"took\":2,", 1).as_bytes()).is_ok(), "an unknown one");
}

#[test]
fn every_error_is_reported() {
    assert!(errors(r#"{"version":2}"#).contains("speaks version 2 of the protocol, expected version 1"));
    assert!(errors("{").starts_with("found text that is not JSON (EOF while parsing"));
    assert_eq!(errors("7"), "found JSON that is not an object, expected a JSON object in one line");
    assert!(errors(r#"{"version":1,"errored":{"message":"no licence"}}"#).ends_with("error: no licence"));
    let text = errors(
        r#"{"implementation":{"name":"x","rules":["numpi"],"operations":[],"dtypes":["f64"],"functions":[]}}"#,
    );
    let text = text
        + &errors(
            r#"{"version":1,"implementation":{"name":"x","version":"1","rules":[],"operations":[],"functions":"add","dtypes":[7],"max_rank":-1}}"#,
        );
    for part in [
        "version: found nothing, expected 1",
        "implementation.version: found nothing",
        "rules: found \"numpi\", expected names among none numpy",
        "functions: found \"add\", expected a list of names",
        "dtypes: found 7, expected names among f64",
        "max_rank: found -1, expected an integer from 0",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
