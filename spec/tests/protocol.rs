//! Requests and answers of the protocol, of runs and of the operation `infer`.

use broadcheck_spec::half::f16;
use broadcheck_spec::{
    Accepts, Asked, CaseFile, DType, ErrorKind, Expression, Function, Inference, Operand, OperandType,
    Operation, Outcome, PartialShape, Refusal, RefusalKind, Request, Rules, Signature, Success, Tensor, json,
    load_str,
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
            "rules: found `numpi`, expected one of none numpy pdpd bidirectional xla theano leading repeat",
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
            "refusal.kind: found `never`, expected one of rank_mismatch dimension_mismatch axis_out_of_range broadcast_dimensions_count broadcast_dimension_out_of_range broadcast_dimensions_not_increasing broadcast_dimensions_not_identity broadcast_dimensions_not_distinct flag_violation not_broadcastable dtype_mismatch unsupported_function operand_count too_large",
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

fn shape(text: &str) -> PartialShape {
    text.parse().unwrap()
}

/// The sum of two flagged operands under `theano`, or of two operands under any other rule set.
fn signature(rules: Rules) -> Signature {
    let expression =
        Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
    let flagged = rules == Rules::Theano;
    let operand = |(name, lengths): (&str, &str)| {
        let operand = OperandType::new(name, DType::Bf16, shape(lengths)).unwrap();
        if flagged { operand.with_broadcastable(vec![true, false]).unwrap() } else { operand }
    };
    let operands = [("a", "1x?"), ("b", "..3x9007199254740993..")].map(operand).to_vec();
    Signature::new(rules, Asked::Expression(expression), operands).unwrap()
}

fn inferred(text: &str) -> Result<Outcome<Inference>, String> {
    json::inferred_from_str(&signature(Rules::Numpy), text).map_err(|error| error.to_string())
}

#[test]
fn a_request_of_infer_round_trips() {
    for rules in [
        Rules::None,
        Rules::Numpy,
        Rules::Pdpd { axis: Some(0) },
        Rules::Xla { broadcast_dimensions: Some(vec![0, 1]) },
        Rules::Theano,
    ] {
        let signature = signature(rules);
        let text = json::signature_to_value(&signature).to_string();
        assert!(
            text.contains(r#""shape":[{"max":3},{"min":"9007199254740993"}]"#) && !text.contains("values"),
            "{text}"
        );
        assert_eq!(json::signature_from_str(&text), Ok(signature.clone()));
        let question = json::question_from_value(serde_json::from_str(&text).unwrap());
        assert_eq!(question, Ok(json::Question::Infer(signature)));
    }
    let operand = OperandType::new("a", DType::I8, shape("...")).unwrap();
    let target = Asked::TargetShape(shape("?x2"));
    let broadcast = Signature::new(Rules::Bidirectional, target, vec![operand]).unwrap();
    let text = json::signature_to_value(&broadcast).to_string();
    assert_eq!(
        text,
        r#"{"rules":"bidirectional","operation":"infer","operands":[{"name":"a","dtype":"i8","shape":"..."}],"target_shape":["?",2]}"#
    );
    assert_eq!(json::signature_from_str(&text), Ok(broadcast));
}

/// A request without the operation `infer` is one of a run.
#[test]
fn a_request_of_a_run_is_a_question_too() {
    let request = request(Rules::Numpy);
    let question = json::question_from_value(json::request_to_value(&request));
    assert_eq!(question, Ok(json::Question::Run(request)));
    assert!(json::request_from_value(json::signature_to_value(&signature(Rules::Numpy))).is_err());
}

#[test]
fn invalid_requests_of_infer_are_reported() {
    let operand = |shape: &str| format!(r#"{{"name":"a","dtype":"i8","shape":{shape}}}"#);
    let numpy = |shape: &str, more: &str| {
        format!(r#"{{"rules":"numpy","operation":"infer",{more}"operands":[{}]}}"#, operand(shape))
    };
    const LENGTH: &str = "an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}";
    for (text, expected) in [
        (numpy("[1]", ""), "expression: found neither `expression` nor `target_shape`, expected one of them for `infer`".to_owned()),
        (
            numpy("[1]", r#""expression":"a","target_shape":[2],"#),
            "target_shape: found both `expression` and `target_shape`, expected one of them".to_owned(),
        ),
        (
            numpy("[1]", r#""expression":"a","wrt":"a","#),
            "wrt: found `wrt` with the operation `infer`, expected no such field: a gradient has no inference (INFER-1)".to_owned(),
        ),
        (numpy("[\"..2\"]", r#""expression":"a","#), format!("operands[0].shape[0]: found the string \"..2\", expected {LENGTH}")),
        (
            numpy(r#"[{"min":3,"max":2}]"#, r#""expression":"a","#),
            "operands[0].shape[0]: found bounds from 3 to 2, expected a `max` that is not below `min`".to_owned(),
        ),
        (
            numpy(r#"[1,{"max":"18446744073709551616"}]"#, r#""expression":"a","#),
            "operands[0].shape[1]: found max: the string \"18446744073709551616\", expected an integer, 0 or more".to_owned(),
        ),
        (
            numpy("\"?\"", r#""expression":"a","#),
            "operands[0].shape: found `?`, expected a list of lengths, or \"...\" for an unknown rank".to_owned(),
        ),
        (
            numpy("[1]", r#""target_shape":"..","#),
            "target_shape: found `..`, expected a list of lengths, or \"...\" for an unknown rank".to_owned(),
        ),
        (
            numpy("\"...\"", r#""expression":"a","#).replace("numpy", "xla"),
            "operands[0].shape: found an unknown rank under the rule set `xla`, expected a known rank".to_owned(),
        ),
        (
            numpy("[1]", r#""expression":"a","axis":0,"#).replace("numpy", "xla"),
            "axis: found `axis` under the rule set `xla`, expected `axis` only under `pdpd`".to_owned(),
        ),
    ] {
        let error = json::signature_from_str(&text).expect_err(&text).to_string();
        assert_eq!(error, expected, "{text}");
    }
}

/// Answers may spell a length in any way, and leave out `accepts`.
#[test]
fn answers_to_infer_are_read_leniently() {
    let of = |lengths: &str, accepts: Option<Accepts>| {
        let inference = Inference { dtype: DType::Bf16, shape: shape(lengths), accepts, broadcastable: None };
        Ok(Outcome::Success(inference))
    };
    for (written, lengths) in [
        (r#"["?",3]"#, "?x3"),
        (r#"[{},{"min":3,"max":3}]"#, "?x3"),
        (r#"[{"min":0},"3"]"#, "?x3"),
        (r#"[{"min":0,"max":2},{"min":"3","max":3}]"#, "..2x3"),
        (r#"[{"min":2,"of":1},{"max":"18446744073709551615"}]"#, "2..x..18446744073709551615"),
        (r#"["18446744073709551615",18446744073709551615]"#, "18446744073709551615x18446744073709551615"),
        ("[]", "()"),
        (r#""...""#, "..."),
    ] {
        let text = format!(r#"{{"seq":3,"inferred":{{"dtype":"bf16","shape":{written}}},"took":1}}"#);
        assert_eq!(inferred(&text), of(lengths, None), "{text}");
        let text = text.replace("\"dtype\"", "\"accepts\":\"always\",\"dtype\"");
        assert_eq!(inferred(&text), of(lengths, Some(Accepts::Always)), "{text}");
    }
    let flags = r#"{"inferred":{"dtype":"bool","shape":["?"],"accepts":"depends","broadcastable":[true]}}"#;
    let expected = Inference {
        dtype: DType::Bool,
        shape: shape("?"),
        accepts: Some(Accepts::Depends),
        broadcastable: Some(vec![true]),
    };
    assert_eq!(inferred(flags), Ok(Outcome::Success(expected)));
    let refusal = inferred(r#"{"refusal":{"kind":"dimension_mismatch","axis":"1"}}"#);
    let expected = Refusal::new(RefusalKind::DimensionMismatch, "").at_axis(1);
    assert_eq!(refusal, Ok(Outcome::Refusal(expected)));
}

#[test]
fn invalid_answers_to_infer_are_reported() {
    let shaped = |shape: &str| format!(r#"{{"inferred":{{"dtype":"f32","shape":{shape}}}}}"#);
    for (text, expected) in [
        (
            r#"{"result":{"dtype":"f32","shape":[],"values":[1]}}"#.to_owned(),
            "answer: found no outcome, expected exactly one of `inferred`, `refusal`, `skipped`, `errored`",
        ),
        (
            r#"{"inferred":{"dtype":"f32","shape":[]},"refusal":{}}"#.to_owned(),
            "answer: found several outcomes, expected exactly one of `inferred`, `refusal`, `skipped`, `errored`",
        ),
        (
            r#"{"inferred":{"shape":[]}}"#.to_owned(),
            "inferred: found no field `dtype` at line 1 column 24, expected one: it is required",
        ),
        (
            r#"{"inferred":{"dtype":"f32"}}"#.to_owned(),
            "inferred: found no field `shape` at line 1 column 27, expected one: it is required",
        ),
        (
            r#"{"inferred":{"dtype":"f32","shape":[],"accepts":"no"}}"#.to_owned(),
            "inferred.accepts: found `no`, expected always or depends",
        ),
        (
            r#"{"inferred":{"dtype":"f32","shape":["?"],"broadcastable":[]}}"#.to_owned(),
            "inferred.broadcastable: found 0 flags for shape (?), expected 1",
        ),
        (
            r#"{"inferred":{"dtype":"f32","shape":"...","broadcastable":[true]}}"#.to_owned(),
            "inferred.broadcastable: found 1 flag for shape (...), expected no flags",
        ),
        (
            shaped(r#"[{"min":3,"max":2}]"#),
            "inferred.shape[0]: found bounds from 3 to 2, expected a `max` that is not below `min`",
        ),
        (
            shaped(r#"["-1"]"#),
            "inferred.shape[0]: found the string \"-1\", expected an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}",
        ),
        (
            shaped(r#"[{"max":"?"}]"#),
            "inferred.shape[0]: found max: the string \"?\", expected an integer, 0 or more",
        ),
    ] {
        assert_eq!(inferred(&text).expect_err(&text), expected);
    }
    for wrong in [
        "null",
        "3",
        "{}",
        "[null]",
        "[-1]",
        "[1.5]",
        "[true]",
        "[[1]]",
        r#"[{"min":null}]"#,
        "[18446744073709551616]",
    ] {
        let error = inferred(&shaped(wrong)).expect_err(wrong);
        assert!(error.starts_with("inferred.shape"), "{error}");
    }
    // A run is not answered with what is known before it.
    assert!(answer(&shaped("[2,3]")).unwrap_err().starts_with("answer: found no outcome"));
}

#[test]
fn every_kind_of_answer_to_infer_round_trips() {
    let signature = signature(Rules::Theano);
    let inference = Inference {
        dtype: DType::Bf16,
        shape: shape("?x9007199254740993..18446744073709551615"),
        accepts: Some(Accepts::Depends),
        broadcastable: Some(vec![false, true]),
    };
    for outcome in [
        Outcome::Success(inference.clone()),
        Outcome::Success(Inference { accepts: None, broadcastable: None, ..inference.clone() }),
        Outcome::Success(Inference { shape: shape("..."), broadcastable: None, ..inference }),
        Outcome::Refusal(Refusal::new(RefusalKind::FlagViolation, "2").at_axis(0).of_operand(1)),
        Outcome::Refusal(Refusal::default()),
        Outcome::Skipped { reason: "no".into() },
        Outcome::errored(ErrorKind::Reported, "line\nbreak"),
    ] {
        let text = json::inferred_to_value(&signature, &outcome).to_string();
        assert!(!text.contains('\n'));
        assert_eq!(json::inferred_from_str(&signature, &text), Ok(outcome), "{text}");
    }
}
