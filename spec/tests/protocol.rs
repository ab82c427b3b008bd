//! Requests and answers of the protocol.

use broadcheck_spec::half::f16;
use broadcheck_spec::{
    CaseFile, ErrorKind, Expression, Function, Operand, Operation, Outcome, Refusal, RefusalKind, Request,
    Rules, Success, Tensor, json, load_str,
};

fn request(rules: Rules) -> Request {
    let expression =
        Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
    let operands = vec![
        Operand::dense("a", [2, 1], vec![1.0f64, -0.0]).unwrap(),
        Operand::view("b", [3], vec![f64::NAN, 1e300, f64::INFINITY], Some(vec![-1]), 2).unwrap(),
    ];
    Request::new(rules, Operation::Elementwise { expression }, operands).unwrap()
}

fn answer(text: &str) -> Result<Outcome, String> {
    json::outcome_from_str(&request(Rules::Numpy), text).map_err(|error| error.to_string())
}

#[test]
fn a_request_with_views_and_special_values_round_trips() {
    for rules in
        [Rules::Numpy, Rules::Pdpd { axis: Some(-1) }, Rules::Xla { broadcast_dimensions: Some(vec![1]) }]
    {
        let request = request(rules);
        let text = json::request_to_value(&request).to_string();
        assert!(
            text.contains(r#""values":["nan",1e+300,"inf"]"#)
                && text.contains(r#""strides":[-1],"offset":2"#),
            "{text}"
        );
        assert_eq!(json::request_from_str(&text), Ok(request));
    }
}

#[test]
fn unknown_fields_of_requests_are_ignored() {
    let text = r#"{"rules":"numpy","id":"x","expression":"a","operands":[{"name":"a","dtype":"u64","shape":[],"values":["18446744073709551615"],"note":1}]}"#;
    let request = json::request_from_str(text).unwrap();
    assert_eq!(request.operands()[0].values().get(0).unwrap().literal(), "18446744073709551615");
    assert!(json::request_to_value(&request).to_string().contains(r#""values":["18446744073709551615"]"#));
}

/// "Integers with |v| > 2^53 are strings in JSON; readers accept both."
#[test]
fn integers_beyond_2_53_are_strings_everywhere() {
    let text = |shape: &str, stride: &str, offset: &str, dimension: &str| {
        format!(
            r#"{{"rules":"xla","operation":"elementwise","expression":["add","a","b"],"operands":[{{"name":"a","dtype":"f64","shape":[0,{shape}],"strides":[{stride},1],"offset":{offset},"values":[]}},{{"name":"b","dtype":"f64","shape":[],"values":[1.0]}}],"broadcast_dimensions":[{dimension}]}}"#
        )
    };
    let large = ["9223372036854775808", "-9223372036854775808", "9007199254740993", "-9007199254740993"];
    let quoted = large.map(|number| format!("\"{number}\""));
    let small = ["9007199254740992", "-9007199254740992", "3", "-1"];
    let read = |[a, b, c, d]: [&str; 4]| json::request_from_str(&text(a, b, c, d)).unwrap();
    let strings = quoted.each_ref().map(String::as_str);
    assert_eq!(read(large), read(strings));
    assert_eq!(read(small), read(small.map(|number| format!("\"{number}\"")).each_ref().map(String::as_str)));
    for written in [strings, small] {
        let [a, b, c, d] = written;
        assert_eq!(json::request_to_value(&read(written)).to_string(), text(a, b, c, d));
    }
    let pdpd = r#"{"rules":"pdpd","operation":"broadcast","operands":[{"name":"a","dtype":"f64","shape":[],"values":[1]}],"target_shape":["9223372036854775808",0]}"#;
    let numpy = json::request_from_str(&pdpd.replace("pdpd", "numpy")).unwrap();
    assert!(
        json::request_to_value(&numpy).to_string().ends_with(r#""target_shape":["9223372036854775808",0]}"#)
    );
    for (bad, expected) in [
        ("\"03\"", "found string \"03\", expected an integer, 0 or more"),
        ("\"-1\"", "found string \"-1\", expected an integer, 0 or more"),
        ("-1", "found integer `-1`, expected an integer, 0 or more"),
        ("1.5", "found floating point `1.5`, expected an integer, 0 or more"),
        ("\"18446744073709551616\"", "found string \"18446744073709551616\", expected an integer, 0 or more"),
    ] {
        let error = json::request_from_str(&text(bad, "1", "0", "0")).unwrap_err().to_string();
        assert_eq!(error, format!("operands[0].shape[1]: {expected}"));
    }
    let error =
        json::request_from_str(&text("1", "\"9223372036854775808\"", "0", "0")).unwrap_err().to_string();
    assert_eq!(
        error,
        "operands[0].strides[0]: found string \"9223372036854775808\", expected an integer from -2^63 to 2^63-1"
    );
    let shape = answer(r#"{"result":{"dtype":"f64","shape":[0,"9007199254740993"],"values":[]}}"#).unwrap();
    let value = json::outcome_to_value(&request(Rules::Numpy), &shape).to_string();
    assert_eq!(value, r#"{"result":{"dtype":"f64","shape":[0,"9007199254740993"],"values":[]}}"#);
}

/// The same in case files: strings in JSON, only plain integers in YAML.
#[test]
fn integers_of_case_files_are_strings_in_json_only() {
    let text = |number: &str, operation: &str| {
        format!(
            r#"{{"format":1,"rules":"pdpd","cases":[{{"id":"x","title":"T.","clause":"G-1","origin":"hand",{operation},"operands":[{{"name":"a","dtype":"f64","shape":[0,{number}],"strides":[{number},1],"offset":{number},"values":[]}},{{"name":"b","dtype":"f64","shape":[],"values":[1.0]}}],"refusal":{{"kind":"any"}}}}]}}"#
        )
    };
    let pdpd = |number: &str| text(number, &format!(r#""expression":["add","a","b"],"axis":{number}"#));
    let strip = |mut file: CaseFile| file.cases.remove(0).request;
    let (plain, string) = ("9007199254740993", "\"9007199254740993\"");
    let from = |text: &str, name: &str| load_str(text, name).map(strip);
    let json = from(&pdpd(string), "f.json").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(from(&pdpd(plain), "f.json"), Ok(json.clone()));
    assert_eq!(from(&pdpd(plain), "f.yaml"), Ok(json));
    let fields: Vec<String> = load_str(&pdpd(string), "f.yaml")
        .unwrap_err()
        .errors()
        .iter()
        .map(|error| error.field.clone())
        .collect();
    assert_eq!(fields, ["axis"], "the other fields are read only if those of the case are valid");
    let operand = pdpd(string).replace(r#""axis":"9007199254740993""#, r#""axis":1"#);
    let message = load_str(&operand, "f.yaml").unwrap_err().to_string();
    assert!(
        message.contains(r#"operands[0].shape[1]: found string "9007199254740993", expected an integer"#),
        "{message}"
    );
    let bad = load_str(&pdpd("\"1.5\""), "f.json").unwrap_err().to_string();
    assert!(bad.contains("axis: found string \"1.5\""), "{bad}");
}

#[test]
fn invalid_requests_are_reported() {
    for (text, expected) in [
        ("{", "line: found EOF while parsing an object at line 1 column 1, expected a JSON object"),
        ("{}", ".: found no field `rules`, expected one: it is required"),
        (
            r#"{"rules":"numpi","operands":[]}"#,
            "rules: found `numpi`, expected one of none numpy pdpd bidirectional xla theano",
        ),
        (
            r#"{"rules":"numpy","expression":"a","operands":[]}"#,
            "expression: found `a`, expected an operand's name: ",
        ),
        (
            r#"{"rules":"numpy","expression":"a","operands":[{"name":"a","dtype":"i8","shape":[],"values":[300]}]}"#,
            "operands[0].values[0]: found 300, expected an integer from -128 to 127 for i8",
        ),
        (
            r#"{"rules":"numpy","expression":"a","operands":[{"name":"a","dtype":"i8","shape":["x"],"values":[3]}]}"#,
            "operands[0].shape[0]: found string \"x\", expected an integer, 0 or more",
        ),
    ] {
        assert_eq!(json::request_from_str(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn answers_are_read_leniently() {
    let good = answer(
        r#"{"seq":7,"result":{"dtype":"f32","shape":[3],"values":[0.1,"-0.0","nan"],"strides":1},"took":1}"#,
    );
    assert_eq!(good, Ok(Outcome::Success(Tensor::new([3], vec![0.1f32, -0.0, f32::NAN]).unwrap().into())));
    let half = answer(r#"{"result":{"dtype":"f16","shape":[],"values":[0.1]}}"#);
    assert_eq!(half, Ok(Outcome::Success(Tensor::new([0; 0], vec![f16::from_bits(0x2e66)]).unwrap().into())));
    let whole = answer(r#"{"result":{"dtype":"i64","shape":[2],"values":[8.0,"9007199254740993"]}}"#);
    assert_eq!(
        whole,
        Ok(Outcome::Success(Tensor::new([2], vec![8i64, 9_007_199_254_740_993]).unwrap().into()))
    );
    let exact = answer(r#"{"result":{"dtype":"f64","shape":[1],"values":[2.2250738585072011e-308]}}"#);
    assert_eq!(
        exact,
        Ok(Outcome::Success(Tensor::new([1], vec![f64::from_bits(0x000f_ffff_ffff_ffff)]).unwrap().into()))
    );
    assert_eq!(
        answer(r#"{"refusal":{"message":"no"}}"#),
        Ok(Outcome::Refusal(Refusal { message: "no".into(), ..Refusal::default() }))
    );
    assert_eq!(
        answer(r#"{"skipped":{"reason":"no f16"}}"#),
        Ok(Outcome::Skipped { reason: "no f16".into() })
    );
    assert_eq!(
        answer(r#"{"errored":{"message":"boom"}}"#),
        Ok(Outcome::errored(ErrorKind::Reported, "boom"))
    );
    let refusal = answer(r#"{"refusal":{"kind":"flag_violation","operand":"b","axis":0}}"#);
    let expected = Refusal::new(RefusalKind::FlagViolation, "").of_operand(1).at_axis(0);
    assert_eq!(refusal, Ok(Outcome::Refusal(expected)));
}

#[test]
fn invalid_answers_are_reported() {
    for (text, expected) in [
        ("{}", "answer: found no outcome, expected exactly one of `result`, `refusal`, `skipped`, `errored`"),
        (
            r#"{"skipped":{},"errored":{}}"#,
            "answer: found several outcomes, expected exactly one of `result`, `refusal`, `skipped`, `errored`",
        ),
        (
            r#"{"skipped":{}} x"#,
            "line: found trailing characters at line 1 column 16, expected a JSON object",
        ),
        (
            r#"{"result":{"dtype":"f64","shape":[2],"values":[1]}}"#,
            "result.values: found 1 value for shape (2), expected 2",
        ),
        (
            r#"{"result":{"dtype":"f8","shape":[],"values":[1]}}"#,
            "result.dtype: found `f8`, expected one of f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool",
        ),
        (
            r#"{"result":{"dtype":"bool","shape":[1],"values":[1]}}"#,
            "result.values[0]: found 1, expected `true` or `false` for bool",
        ),
        (
            r#"{"result":{"dtype":"f32","shape":[1],"values":[1e39]}}"#,
            "result.values[0]: found 1.0e+39, expected a value within the range of f32",
        ),
        (
            r#"{"result":{"dtype":"i32","shape":[1],"values":[1.5]}}"#,
            "result.values[0]: found 1.5, expected an integer from -2147483648 to 2147483647 for i32",
        ),
        (
            r#"{"result":{"dtype":"f64","shape":[1000000000,1000000000,1000000000],"values":[1]}}"#,
            "result.shape: found a result of shape (1000000000,1000000000,1000000000), which is too large to be a tensor, expected lengths other than 0 that multiply to at most 2^63-1, or the refusal `too_large` (clause G-1)",
        ),
        (
            r#"{"result":{"dtype":"f64","shape":[0,4294967296,4294967296],"values":[]}}"#,
            "result.shape: found a result of shape (0,4294967296,4294967296), which is too large to be a tensor, expected lengths other than 0 that multiply to at most 2^63-1, or the refusal `too_large` (clause G-1)",
        ),
        (
            r#"{"refusal":{"kind":"never"}}"#,
            "refusal.kind: found `never`, expected one of rank_mismatch dimension_mismatch axis_out_of_range broadcast_dimensions_count broadcast_dimension_out_of_range broadcast_dimensions_not_increasing broadcast_dimensions_not_identity flag_violation not_broadcastable dtype_mismatch unsupported_function operand_count too_large",
        ),
        (r#"{"refusal":{"operand":"c"}}"#, "refusal.operand: found `c`, expected an operand's name: a b"),
    ] {
        assert_eq!(answer(text).expect_err(text), expected);
    }
    assert!(answer(&"[".repeat(100_000)).is_err() && answer("").is_err());
}

#[test]
fn every_kind_of_answer_round_trips() {
    let request = request(Rules::Xla { broadcast_dimensions: Some(vec![1]) });
    let tensor = Tensor::new([2, 1], vec![f64::NAN, f64::MIN_POSITIVE / 4.0]).unwrap();
    for outcome in [
        Outcome::Success(Success {
            intermediate: Some(Tensor::new([1, 1], vec![-0.0f64]).unwrap()),
            broadcastable: Some(vec![true, false]),
            ..tensor.clone().into()
        }),
        Outcome::Success(tensor.into()),
        Outcome::Refusal(Refusal::new(RefusalKind::DimensionMismatch, "2 and 3").at_axis(1)),
        Outcome::Refusal(Refusal::new(RefusalKind::FlagViolation, "2").at_axis(0).of_operand(1)),
        Outcome::Refusal(Refusal::default()),
        Outcome::Skipped { reason: "no".into() },
        Outcome::errored(ErrorKind::Reported, "line\nbreak"),
    ] {
        let text = json::outcome_to_value(&request, &outcome).to_string();
        assert!(!text.contains('\n'));
        assert_eq!(json::outcome_from_str(&request, &text), Ok(outcome), "{text}");
    }
}
