//! What the loader counts, boundary cases of what it reads as a number, and boundary cases of JSON files.

use super::{GOOD, lines, refused};
use broadcheck_spec::{Data, LoadErrors, MAX_EXPRESSION_DEPTH, Scalar, load_str};

#[test]
fn expressions_nest_up_to_a_hundred_deep() {
    let deep = |depth: usize| {
        let expression = format!("{}[add, a, b]{}", "[negate, ".repeat(depth - 1), "]".repeat(depth - 1));
        load_str(&GOOD.replace("[add, a, b]", &expression), "f.yaml")
    };
    assert!(deep(MAX_EXPRESSION_DEPTH).is_ok(), "{:?}", deep(MAX_EXPRESSION_DEPTH));
    let message = deep(MAX_EXPRESSION_DEPTH + 1).expect_err("too deep").to_string();
    assert!(message.contains("found an expression nested more than 100 deep"), "{message}");
}

#[test]
fn a_directive_is_the_only_error_reported() {
    assert_eq!(
        lines("%YAML 1.1\n---\nformat: 2\n"),
        ["f.yaml:1:1: found the directive `%YAML`, expected a file without directives"]
    );
}

/// A file with this many invalid cases, then this many anchors, each on a separate line.
fn wrong(cases: usize, anchors: usize) -> LoadErrors {
    let mut text = String::from("format: 1\nrules: numpy\ncases:\n");
    text += &"  - {id: 3}\n".repeat(cases);
    text += &"  - &a {id: x}\n".repeat(anchors);
    load_str(&text, "f.yaml").expect_err("every case is invalid")
}

#[test]
fn a_hundred_errors_are_kept_and_the_others_counted() {
    let count = |cases: usize, anchors: usize| {
        let errors = wrong(cases, anchors);
        (errors.errors().len(), errors.more())
    };
    assert_eq!(LoadErrors::MAX_PER_FILE, 100);
    for (cases, more) in [(99, 0), (100, 0), (101, 1), (199, 99), (201, 101), (350, 250)] {
        assert_eq!(count(cases, 0), (cases.min(100), more), "{cases} cases");
    }
    // The errors come in the order of the file, although anchors are found earlier, while the YAML is parsed.
    let kept = wrong(100, 103);
    assert!(kept.errors().iter().all(|error| !error.to_string().contains("anchor")), "{kept}");
}

#[test]
fn errors_of_the_text_are_counted_beyond_the_hundredth() {
    let anchors = |count: usize| {
        let text = format!("{GOOD}    note: [{}]\n", "&a x, ".repeat(count));
        let errors = load_str(&text, "f.yaml").expect_err("anchors");
        (errors.errors().len(), errors.more())
    };
    assert_eq!([anchors(2), anchors(100), anchors(103)], [(2, 0), (100, 0), (100, 3)]);
}

#[test]
fn a_syntax_error_has_a_position() {
    assert_eq!(lines(&GOOD.replace("[1, 2, 3,", "[1, 2} 3,")).len(), 1);
    let message = &lines(&GOOD.replace("title: A title.", "title: A: title."))[0];
    assert!(message.starts_with("f.yaml:5:13: case numpy/x: found a syntax error ("), "{message}");
}

#[test]
fn fields_outside_of_cases_are_named_in_full() {
    assert_eq!(
        lines(&GOOD.replace("rules: numpy", "rules: [&a numpy]"))[1],
        "f.yaml:2:9: rules[0]: found an anchor (`&`), expected the value without an anchor"
    );
}

#[test]
fn plain_texts_that_only_one_yaml_version_reads_as_text() {
    let title = |text: &str, expected: &str| {
        refused(
            "title: A title.",
            &format!("title: {text}"),
            &format!("f.yaml:5:12: case numpy/x: title: found `{text}`, expected {expected}"),
        );
    };
    title("=", "a quoted string: YAML 1.1 gives `=` a special type");
    title("+5", "a number without `+` before it, or a quoted string");
    title(".5", "digits on both sides of the point, or a quoted string");
    title("5.", "digits on both sides of the point, or a quoted string");
    title("12.5.7", "a decimal number such as `12`, `1.5` or `1.0e+5`, or a quoted string");
}

#[test]
fn numbers_that_are_not_finite_and_the_largest_integer_are_values() {
    let first = |dtype: &str, value: &str| {
        let text = GOOD
            .replace("dtype: f64", &format!("dtype: {dtype}"))
            .replace("values: [1, 2,", &format!("values: [{value}, 2,"));
        let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        file.cases[0].request.operands()[0].values().clone()
    };
    let f64s = |value: f64| Data::from(vec![value, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(first("f64", ".inf"), f64s(f64::INFINITY));
    assert_eq!(first("f64", "-.inf"), f64s(f64::NEG_INFINITY));
    assert!(first("f64", ".nan").get(0).and_then(Scalar::as_f64).is_some_and(f64::is_nan));
    assert_eq!(first("u64", "18446744073709551615"), Data::from(vec![u64::MAX, 2, 3, 4, 5, 6]));
    assert_eq!(first("i64", "-9223372036854775808"), Data::from(vec![i64::MIN, 2, 3, 4, 5, 6]));
}

#[test]
fn origins_are_written_as_in_case_files() {
    for origin in ["hand", "document", "system: NumPy 2.4.6"] {
        let text = GOOD.replace("origin: hand", &format!("origin: \"{origin}\""));
        let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(file.cases[0].origin.to_string(), origin);
    }
}

#[test]
fn the_axis_of_a_refused_broadcast_may_be_one_of_the_target() {
    let text = |axis: usize| {
        format!(
            "format: 1\nrules: bidirectional\ncases:\n  - id: bidirectional/x\n    title: T.\n    clause: BIDI-1\n    \
             source:\n      - {{document: openvino, lines: \"85\"}}\n    origin: hand\n    operation: broadcast\n    operands:\n      \
             - {{name: a, dtype: f64, shape: [3], values: [1, 2, 3]}}\n    target_shape: [2, 4]\n    \
             refusal: {{kind: dimension_mismatch, axis: {axis}}}\n"
        )
    };
    assert!(load_str(&text(1), "f.yaml").is_ok(), "{:?}", load_str(&text(1), "f.yaml"));
    assert_eq!(
        lines(&text(2)),
        ["f.yaml:14:47: case bidirectional/x: refusal.axis: found 2, expected an axis below the rank 2"]
    );
}

/// A case in JSON whose operand has this shape.
fn json(shape: &str, title: &str) -> String {
    format!(
        "{{\"format\": 1, \"rules\": \"numpy\", \"cases\": [{{\"id\": \"x\", \"title\": \"{title}\", \"clause\": \"G-5\", \
         \"origin\": \"hand\", \"expression\": \"a\", \"operands\": [{{\"name\": \"a\", \"dtype\": \"f64\", \"shape\": {shape}, \
         \"values\": [1, 2]}}], \"refusal\": {{\"kind\": \"any\"}}}}]}}"
    )
}

#[test]
fn json_strings_are_integers_only_where_an_integer_is_expected() {
    let load = |text: &str| load_str(text, "f.json");
    let shape = load(&json("[\"2\"]", "17")).map(|file| file.cases[0].request.operands()[0].shape().clone());
    assert_eq!(shape.as_deref(), Ok(&[2][..]));
    let title = load(&json("[2]", "17")).map(|file| file.cases[0].title.clone());
    assert_eq!(title.as_deref(), Ok("17"));
    for beyond in ["18446744073709551616", "-9223372036854775809", "2x", "02"] {
        let message = load(&json(&format!("[\"{beyond}\"]"), "T.")).expect_err(beyond).to_string();
        assert!(message.contains(&format!("found string \"{beyond}\"")), "{message}");
    }
    assert_eq!(lines(&GOOD.replace("shape: [3], values: [7", "shape: [\"3\"], values: [7")).len(), 1, "YAML");
}

#[test]
fn empty_and_invalid_json_files_are_reported() {
    let message = |text: &str| load_str(text, "f.json").expect_err(text).to_string();
    for empty in ["", " \n"] {
        assert_eq!(
            message(empty),
            "f.json: found an empty file, expected a case file: `format: 1`, `cases:`"
        );
    }
    assert_eq!(
        message("{\n\"format\": 1 1}"),
        "f.json:2:13: found a syntax error (expected `,` or `}`), expected JSON"
    );
    assert!(load_str(&json("[2]", "T."), "f.JSON").is_ok(), "the extension in capitals");
}
