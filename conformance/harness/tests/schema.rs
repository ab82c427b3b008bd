//! The JSON Schemas of `spec`: they accept every shipped file, and reject what the loader rejects for its
//! form. They are tested here, because this crate is not optimised in a build of the tests, and this file
//! would take long to optimise.

use broadcheck_spec::{Admitted, FILES, Scalar, Suite, json};
use jsonschema::Validator;
use serde_json::{Value, json};

fn validator(text: &str) -> Validator {
    let schema: Value = serde_json::from_str(text).expect("a schema is JSON");
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::validator_for(&schema).expect("a schema is a schema")
}

fn case_file() -> Validator {
    validator(include_str!("../../../spec/schema/case-file.schema.json"))
}

/// JSON, with the format's strings for values that JSON lacks.
fn as_json(value: &serde_yaml::Value) -> Value {
    match value {
        serde_yaml::Value::Number(number) if !number.is_finite() => "nan".into(),
        serde_yaml::Value::Sequence(items) => items.iter().map(as_json).collect(),
        serde_yaml::Value::Mapping(entries) => entries
            .iter()
            .map(|(name, value)| (name.as_str().expect("keys are strings").to_owned(), as_json(value)))
            .collect(),
        other => serde_json::to_value(other).expect("a scalar is JSON"),
    }
}

fn complaints(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error:.300}", error.instance_path())).collect()
}

#[test]
fn every_shipped_file_matches_the_schema() {
    let validator = case_file();
    assert!(!FILES.is_empty());
    for (name, text) in FILES {
        let value: serde_yaml::Value =
            serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let complaints = complaints(&validator, &as_json(&value));
        assert!(complaints.is_empty(), "{name}:\n{}", complaints.join("\n"));
    }
}

#[test]
fn the_json_twin_and_the_requests_match_their_schemas() {
    let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
    let (files, requests) =
        (case_file(), validator(include_str!("../../../spec/schema/request.schema.json")));
    for case in &suite.cases {
        let file = json!({"format": 1, "cases": [json::case_to_json(case)]});
        assert_eq!(complaints(&files, &file), [""; 0], "{}", case.id);
        let request = json::request_to_value(&case.request);
        assert_eq!(complaints(&requests, &request), [""; 0], "{}", case.id);
    }
    for case in &suite.inferences {
        let file = json!({"format": 1, "cases": [json::inference_case_to_json(case)]});
        assert_eq!(complaints(&files, &file), [""; 0], "{}", case.id);
        let request = json::signature_to_value(&case.request);
        assert_eq!(complaints(&requests, &request), [""; 0], "{}", case.id);
    }
}

/// What an export adds to a case follows from the rest of it, and from the releases of the suite.
#[test]
fn fields_that_an_export_adds_match_the_schema_and_are_ignored() {
    let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
    let plain = |case: &&broadcheck_spec::Case| json::case_to_json(case).get("result").is_some();
    let mut file =
        json!({"format": 1, "cases": [json::case_to_json(suite.cases.iter().find(plain).unwrap())]});
    let load = |file: &Value| broadcheck_spec::load_str(&file.to_string(), "x.json");
    let before = load(&file).unwrap();
    let interval = Admitted::Between { lower: Scalar::F32(-0.0), upper: Scalar::F32(f32::INFINITY) };
    let nan = Admitted::Value(Scalar::F32(f32::NAN));
    file["cases"][0]["since"] = "0.1.0".into();
    file["cases"][0]["result"]["admitted"] =
        json::admitted_to_value(&[(0, vec![interval, nan]), (10, vec![nan])].into());
    let validator = case_file();
    assert_eq!(complaints(&validator, &file), [""; 0]);
    assert_eq!(load(&file).unwrap(), before);
    for (place, wrong) in [
        ("/cases/0/since", json!("first")),
        ("/cases/0/result/admitted", json!({"x": [{"value": 1, "bits": "0x3f800000"}]})),
        ("/cases/0/result/admitted/0", json!([])),
        ("/cases/0/result/admitted/0/0", json!({"value": 1})),
        ("/cases/0/result/admitted/0/0/lower_bits", json!("0x3F800000")),
        ("/cases/0/result/admitted/0/0/value", json!(1)),
    ] {
        let mut file = file.clone();
        match file.pointer_mut(place) {
            Some(found) => *found = wrong,
            None => file["cases"][0]["result"]["admitted"]["0"][0]["value"] = wrong,
        }
        assert_ne!(complaints(&validator, &file), [""; 0], "{place}");
    }
}

/// A change of a value: where, and to what; `None` removes a field.
type Change<'a> = (&'a str, Option<Value>);

fn changed(good: &Value, (pointer, value): &Change<'_>) -> Value {
    let mut file = good.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match (file.pointer_mut(parent).expect("the place is there"), value) {
        (Value::Object(map), Some(value)) => drop(map.insert(key.into(), value.clone())),
        (Value::Object(map), None) => drop(map.remove(key).expect("the field is there")),
        (Value::Array(list), Some(value)) => list[key.parse::<usize>().expect("a place")] = value.clone(),
        _ => panic!("nothing at {pointer}"),
    }
    file
}

fn inference() -> Value {
    json!({
        "format": 1, "rules": "numpy",
        "cases": [{
            "id": "numpy/x", "title": "T.", "clause": "INFER-4", "origin": "hand",
            "operation": "infer", "expression": ["add", "a", "b"],
            "operands": [
                {"name": "a", "dtype": "f64", "shape": ["?", 3]},
                {"name": "b", "dtype": "f64", "shape": [{"min": 1, "max": 2}, "18446744073709551615"]},
            ],
            "inferred": {"dtype": "f64", "shape": ["?", {"max": "9007199254740993"}], "accepts": "depends"},
        }],
    })
}

#[test]
fn cases_of_infer_match_the_schema_as_they_load() {
    let validator = case_file();
    let good = inference();
    let agree = |change: &Change<'_>, right: bool| {
        let file = changed(&good, change);
        assert_eq!(complaints(&validator, &file).is_empty(), right, "the schema: {change:?}");
        let loaded = broadcheck_spec::load_str(&file.to_string(), "f.json");
        assert_eq!(loaded.is_ok(), right, "the loader: {change:?}: {loaded:?}");
    };
    for right in [
        ("/cases/0/operands/1/shape/0", Some(json!({"max": 2}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"min": 2}))),
        ("/cases/0/operands/1/shape/0", Some(json!("?"))),
        ("/cases/0/operands/1/shape", Some(json!("..."))),
        ("/cases/0/operands/1/shape", Some(json!([]))),
        ("/cases/0/inferred/shape", Some(json!("..."))),
        ("/cases/0/inferred/accepts", Some(json!("always"))),
        ("/cases/0/convention", Some(json!("inferred-refusals"))),
        ("/cases/0/note", Some(json!("By hand."))),
    ] {
        agree(&right, true);
    }
    for wrong in [
        ("/cases/0/operands/1/shape/0", Some(json!({}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"min": 0, "max": 3}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"min": 0}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"most": 3}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"min": 1, "max": 3, "step": 1}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"max": "?"}))),
        ("/cases/0/operands/1/shape/0", Some(json!({"max": -1}))),
        ("/cases/0/operands/1/shape/0", Some(json!("..2"))),
        ("/cases/0/operands/1/shape/0", Some(json!(-1))),
        ("/cases/0/operands/1/shape/0", Some(json!(true))),
        ("/cases/0/operands/1/shape", Some(json!("?"))),
        ("/cases/0/operands/1/shape", None),
        ("/cases/0/operands/1/values", Some(json!([1, 2]))),
        ("/cases/0/operands/1/strides", Some(json!([1, 1]))),
        ("/cases/0/operands/1/offset", Some(json!(0))),
        ("/cases/0/operation", None),
        ("/cases/0/operation", Some(json!("elementwise"))),
        ("/cases/0/operation", Some(json!("infers"))),
        ("/cases/0/expression", None),
        ("/cases/0/wrt", Some(json!("a"))),
        ("/cases/0/target_shape", Some(json!(["?"]))),
        ("/cases/0/axis", Some(json!(0))),
        ("/cases/0/inferred", None),
        ("/cases/0/inferred/accepts", None),
        ("/cases/0/inferred/accepts", Some(json!("never"))),
        ("/cases/0/inferred/values", Some(json!([]))),
        ("/cases/0/inferred/dtype", Some(json!("float"))),
        ("/cases/0/inferred/shape", Some(json!("?"))),
        ("/cases/0/refusal", Some(json!({"kind": "any"}))),
        ("/cases/0/result", Some(json!({"dtype": "f64", "shape": [], "values": [1]}))),
    ] {
        agree(&wrong, false);
    }
    // What the schema cannot say, the loader checks.
    for beyond in [json!({"min": 2, "max": 2}), json!({"min": 3, "max": 2})] {
        let file = changed(&good, &("/cases/0/operands/1/shape/0", Some(beyond)));
        assert!(broadcheck_spec::load_str(&file.to_string(), "f.json").is_err());
    }
    // XLA's shapes and Theano's types have ranks.
    let unranked = changed(&good, &("/cases/0/operands/1/shape", Some(json!("..."))));
    for (rules, right) in [("none", true), ("pdpd", true), ("xla", false), ("theano", false)] {
        for pointer in ["/rules", "/cases/0/rules"] {
            let file = changed(&unranked, &(pointer, Some(json!(rules))));
            assert_eq!(validator.is_valid(&file), right, "{pointer}: {rules}");
            assert_eq!(broadcheck_spec::load_str(&file.to_string(), "f.json").is_ok(), right, "{rules}");
        }
    }
    let target = json!({
        "id": "bidirectional/x", "title": "T.", "clause": "INFER-4", "origin": "hand", "rules": "bidirectional",
        "operation": "infer", "operands": [{"name": "a", "dtype": "i8", "shape": ["?"]}],
        "target_shape": [{"min": 2}], "inferred": {"dtype": "i8", "shape": [{"min": 2}], "accepts": "depends"},
    });
    let file = json!({"format": 1, "cases": [target]});
    let expression = changed(
        &changed(&file, &("/cases/0/expression", Some(json!("a")))),
        &("/cases/0/target_shape", None),
    );
    for (file, right) in [(file, true), (expression, false)] {
        assert_eq!(complaints(&validator, &file).is_empty(), right, "{file}");
        assert_eq!(broadcheck_spec::load_str(&file.to_string(), "f.json").is_ok(), right, "{file}");
    }
}

#[test]
fn requests_of_infer_match_the_schema_as_they_are_read() {
    let requests = validator(include_str!("../../../spec/schema/request.schema.json"));
    let mut good = inference()["cases"][0].clone();
    good["rules"] = "numpy".into();
    good.as_object_mut().expect("an object").remove("inferred");
    for (change, right) in [
        (("/operands/0/note", Some(json!(1))), true),
        (("/operands/0/shape", Some(json!("..."))), true),
        (("/operands/0/shape/0", Some(json!({"min": 2, "max": "2"}))), true),
        (("/operands/0/shape/0", Some(json!({}))), true),
        (("/operands/0/shape/0", Some(json!({"max": -1}))), false),
        (("/operands/0/shape/0", Some(json!("..2"))), false),
        (("/operands/0/shape/0", Some(json!(null))), false),
        (("/operands/0/shape", None), false),
        (("/expression", None), false),
        (("/target_shape", Some(json!([1]))), false),
        (("/wrt", Some(json!("a"))), false),
        (("/operation", Some(json!("elementwise"))), false),
    ] {
        let request = changed(&good, &change);
        assert_eq!(complaints(&requests, &request).is_empty(), right, "{change:?}");
        let read = json::question_from_value(request);
        assert_eq!(read.is_ok(), right, "{change:?}: {read:?}");
    }
}

/// The messages of the protocol that `infer` adds to.
#[test]
fn answers_and_capabilities_of_infer_match_the_schema() {
    let request: Value =
        serde_json::from_str(include_str!("../../../spec/schema/request.schema.json")).unwrap();
    let protocol: Value =
        serde_json::from_str(include_str!("../../../spec/schema/protocol.schema.json")).unwrap();
    let id = request["$id"].as_str().expect("an id").to_owned();
    let registry = jsonschema::Registry::new().add(id, &request).unwrap().prepare().unwrap();
    let validator = jsonschema::options().with_registry(&registry).build(&protocol).unwrap();
    let start = json!({"version": 1, "implementation": {
        "name": "n", "version": "1", "rules": ["numpy"], "operations": ["elementwise", "infer"],
        "unknown": ["length", "bound", "interval", "rank"], "functions": ["add"], "dtypes": ["f32"],
        "conventions": ["inferred-refusals"],
    }});
    let answer = json!({"seq": 1, "inferred": {"dtype": "f32", "shape": ["?", {"min": 2, "max": 2}], "accepts": "depends"}});
    for (good, change, right) in [
        (&start, ("/version", Some(json!(1))), true),
        (&start, ("/implementation/unknown", Some(json!([]))), true),
        (&start, ("/implementation/unknown", None), true),
        (&start, ("/implementation/unknown", Some(json!(["lengths"]))), false),
        (&start, ("/implementation/unknown", Some(json!("length"))), false),
        (&start, ("/implementation/operations", Some(json!(["inference"]))), false),
        (&answer, ("/inferred/accepts", None), true),
        (&answer, ("/inferred/shape", Some(json!("..."))), true),
        (&answer, ("/inferred/broadcastable", Some(json!([true, false]))), true),
        (&answer, ("/inferred/more", Some(json!(1))), true),
        (&answer, ("/inferred/accepts", Some(json!("sometimes"))), false),
        (&answer, ("/inferred/dtype", None), false),
        (&answer, ("/inferred/shape", None), false),
        (&answer, ("/inferred/shape", Some(json!("..2"))), false),
        (&answer, ("/inferred", None), false),
        (&answer, ("/refusal", Some(json!({}))), false),
        (&answer, ("/result", Some(json!({"dtype": "f32", "shape": [], "values": [1]}))), false),
    ] {
        let message = changed(good, &change);
        assert_eq!(validator.is_valid(&message), right, "{change:?}");
    }
}

#[test]
fn malformed_files_are_rejected() {
    let validator = case_file();
    let good = json!({
        "format": 1, "rules": "numpy",
        "cases": [{
            "id": "numpy/x", "title": "T.", "clause": "NUMPY-1", "origin": "hand", "expression": ["add", "a", "b"],
            "source": [{"document": "openvino", "lines": "20-29"}],
            "operands": [
                {"name": "a", "dtype": "f64", "shape": [2], "values": [1, "-0.0"]},
                {"name": "b", "dtype": "f64", "shape": [1], "values": ["nan"]},
            ],
            "result": {"dtype": "f64", "shape": [2], "values": ["nan", "nan"]},
        }],
    });
    assert_eq!(complaints(&validator, &good), [""; 0]);
    let changes: &[Change<'_>] = &[
        ("/format", Some(json!(2))),
        ("/format", None),
        ("/rules", Some(json!("numpi"))),
        ("/rules", None),
        ("/rules", Some(json!("bidirectional"))),
        ("/cases", None),
        ("/cases", Some(json!([]))),
        ("/more", Some(json!(1))),
        ("/cases/0/id", Some(json!("Numpy/x"))),
        ("/cases/0/id", Some(json!("x".repeat(201)))),
        ("/cases/0/id", None),
        ("/cases/0/title", Some(json!(""))),
        ("/cases/0/title", Some(json!("x".repeat(1001)))),
        ("/cases/0/title", None),
        ("/cases/0/clause", Some(json!("NUMPY"))),
        ("/cases/0/clause", None),
        ("/cases/0/origin", Some(json!("guess"))),
        ("/cases/0/origin", None),
        ("/cases/0/operands", Some(json!([]))),
        ("/cases/0/operands", None),
        ("/cases/0/result", None),
        ("/cases/0/result", Some(json!("ask"))),
        ("/cases/0/refusal", Some(json!({"kind": "any"}))),
        ("/cases/0/tittle", Some(json!("T."))),
        ("/cases/0/source/0/lines", Some(json!(20))),
        ("/cases/0/source/0/lines", Some(json!("from 20"))),
        ("/cases/0/source/0/document", Some(json!("numpy"))),
        ("/cases/0/source/0/url", Some(json!("https://x.org"))),
        ("/cases/0/example", Some(json!(["Y01"]))),
        ("/cases/0/example", Some(json!(["X01", "X01"]))),
        ("/cases/0/axis", Some(json!(1))),
        ("/cases/0/broadcast_dimensions", Some(json!([1]))),
        ("/cases/0/wrt", Some(json!("a"))),
        ("/cases/0/target_shape", Some(json!([1]))),
        ("/cases/0/operation", Some(json!("map"))),
        ("/cases/0/operation", Some(json!("gradient"))),
        ("/cases/0/operation", Some(json!("broadcast"))),
        ("/cases/0/expression", None),
        ("/cases/0/expression", Some(json!(["add", "a"]))),
        ("/cases/0/expression", Some(json!(["plus", "a", "b"]))),
        ("/cases/0/expression", Some(json!(["add", "a", 1]))),
        ("/cases/0/operands/0/name", Some(json!("exp"))),
        ("/cases/0/operands/0/name", Some(json!("A"))),
        ("/cases/0/operands/0/name", Some(json!("x".repeat(65)))),
        ("/cases/0/operands/0/name", Some(json!(true))),
        ("/cases/0/operands/0/dtype", Some(json!("float64"))),
        ("/cases/0/operands/0/shape/0", Some(json!(-1))),
        ("/cases/0/operands/0/offset", Some(json!(-1))),
        ("/cases/0/operands/0/strides", Some(json!([0.5]))),
        ("/cases/0/operands/0/values/0", Some(json!("NaN"))),
        ("/cases/0/operands/0/values/0", Some(json!(null))),
        ("/cases/0/operands/0/more", Some(json!(1))),
        ("/cases/0/result/tolerance", Some(json!({"ulp": 1001}))),
        ("/cases/0/result/zero_sign", Some(json!("plus"))),
    ];
    for change in changes {
        let file = changed(&good, change);
        let (pointer, value) = change;
        assert!(!validator.is_valid(&file), "{pointer} = {value:?}");
        let loaded = broadcheck_spec::load_str(&file.to_string(), "f.json");
        assert!(loaded.is_err(), "the loader accepts {pointer} = {value:?}");
    }
    let wide = |pointer: &str, value: Value| {
        let mut file = good.clone();
        *file.pointer_mut(pointer).expect("the place is there") = value;
        (validator.is_valid(&file), broadcheck_spec::load_str(&file.to_string(), "f.json").is_ok())
    };
    assert_eq!(wide("/cases/0/operands/0/shape/0", json!("2")), (true, true));
    assert_eq!(wide("/cases/0/operands/0/shape/0", json!("02")), (false, false));
    assert_eq!(wide("/cases/0/operands/0/shape/0", json!("-2")), (false, false));
    let requests = self::validator(include_str!("../../../spec/schema/request.schema.json"));
    for (length, right) in [(64, true), (65, false)] {
        let name = "x".repeat(length);
        let operand = json!({"name": name, "dtype": "f64", "shape": [], "values": [1]});
        let request = json!({"rules": "numpy", "expression": name, "operands": [operand]});
        assert_eq!(requests.is_valid(&request), right, "{length}");
        assert_eq!(json::request_from_value(request).is_ok(), right, "{length}");
    }
    let request = |offset: Value| {
        json!({"rules": "numpy", "expression": "a", "operands": [
            {"name": "a", "dtype": "f64", "shape": [0, "9223372036854775808"], "strides": ["-9007199254740993", 1], "offset": offset, "values": []},
        ]})
    };
    for (offset, right) in [(json!("9007199254740993"), true), (json!(1), true), (json!("-1"), false)] {
        assert_eq!(requests.is_valid(&request(offset.clone())), right, "{offset}");
        assert_eq!(json::request_from_value(request(offset.clone())).is_ok(), right, "{offset}");
    }
    let refusal = |value: Value| {
        let mut file = good.clone();
        let case = file["cases"][0].as_object_mut().expect("a case");
        case.remove("result");
        case.insert("refusal".into(), value);
        validator.is_valid(&file)
    };
    assert!(refusal(json!({"kind": "any"})) && refusal(json!({"kind": "dimension_mismatch", "axis": 1})));
    assert!(!refusal(json!({"kind": "never"})) && !refusal(json!({"axis": 1})));
    assert!(!refusal(json!({"kind": "rank_mismatch", "axis": 1})));
    assert!(!refusal(json!({"kind": "dimension_mismatch", "operand": "a"})));
}
