//! Properties, over many texts and values: what is written loads back unchanged, and no text makes the loader
//! panic.

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Accepts, Asked, Case, Convention, DType, Data, Expectation, ExpectedRefusal, Expression, Inference,
    InferenceCase, Length, Location, Operand, OperandType, Operation, Origin, Outcome, PartialShape, Request,
    Rules, Signature, Tensor, json, load_str, write,
};
use proptest::prelude::*;

const GOOD: &str = r#"format: 1
rules: numpy
cases:
  - id: numpy/x
    title: "A title: quoted."
    clause: NUMPY-1
    source: [{document: openvino, lines: "20-29"}]
    origin: hand
    expression: [select, [less, a, b], a, b]
    operands:
      - {name: a, dtype: f64, shape: [2, 3], strides: [1, 2], offset: 0, values: [1, -0.0, .nan, 4, .inf, 6.5]}
      - {name: b, dtype: f64, shape: [3], values: [7, 8, 1.0e-300]}
    refusal: {kind: dimension_mismatch, axis: 1}
"#;

fn good() -> Case {
    load_str(GOOD, "f.yaml").unwrap_or_else(|errors| panic!("{errors}")).cases.remove(0)
}

/// The case after a round trip through YAML and one through JSON.
fn back(case: &Case) -> [Case; 2] {
    let yaml = write::case_to_yaml(case);
    let json = serde_json::json!({"format": 1, "cases": [json::case_to_json(case)]}).to_string();
    [(yaml, "f.yaml"), (json, "f.json")].map(|(text, name)| {
        let mut file = load_str(&text, name).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        Case { location: case.location.clone(), ..file.cases.remove(0) }
    })
}

/// A case whose operand and result have these values.
fn holding(values: impl Into<Data>) -> Case {
    let values = values.into();
    let operands = vec![Operand::dense("a", [values.len()], values.clone()).unwrap()];
    let operation = Operation::Elementwise { expression: Expression::operand(0) };
    let request = Request::new(Rules::Numpy, operation, operands).unwrap();
    let expectation = Expectation::Result(Tensor::new([values.len()], values).unwrap().into());
    Case { request, expectation, ..good() }
}

/// A case that expects a refusal.
fn holding_refused(request: Request) -> Case {
    let back = json::request_from_str(&json::request_to_value(&request).to_string());
    assert_eq!(back.as_ref(), Ok(&request));
    let expectation = Expectation::Refusal(ExpectedRefusal::default());
    let convention = Convention::of("V-1", &request, &expectation);
    Case { request, expectation, convention, ..good() }
}

fn assert_comes_back(case: &Case) {
    for back in back(case) {
        assert_eq!(back, *case);
    }
}

/// Any length, near the numbers 0, 1, 2^53 and 2^64 more often than elsewhere.
fn length() -> impl Strategy<Value = Length> {
    let number = prop_oneof![
        0..4usize,
        (1 << 53) - 1..(1 << 53) + 2usize,
        usize::MAX - 2..=usize::MAX,
        any::<usize>()
    ];
    (number.clone(), proptest::option::of(number)).prop_map(|(min, max)| {
        let max = max.map(|max| max.max(min));
        Length::bounded(min, max).unwrap()
    })
}

fn partial_shape() -> impl Strategy<Value = PartialShape> {
    let ranked = proptest::collection::vec(length(), 0..4).prop_map(PartialShape::Ranked);
    prop_oneof![9 => ranked, 1 => Just(PartialShape::Unranked)]
}

fn assert_inference_comes_back(case: &InferenceCase) {
    let yaml = write::inference_case_to_yaml(case);
    let json = serde_json::json!({"format": 1, "cases": [json::inference_case_to_json(case)]}).to_string();
    for (text, name) in [(yaml, "f.yaml"), (json, "f.json")] {
        let mut file = load_str(&text, name).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let back = InferenceCase { location: case.location.clone(), ..file.inferences.remove(0) };
        assert_eq!(back, *case);
    }
}

proptest! {
    #[test]
    fn texts_round_trip(title in "\\PC{1,40}|[-a-z0-9:# .'\"]{1,12}|y|no|1e5|0x1|~", note in any::<String>()) {
        prop_assume!(!title.trim().is_empty());
        assert_comes_back(&Case { title, note: Some(note), ..good() });
    }

    #[test]
    fn floats_round_trip(bits in proptest::collection::vec(any::<u64>(), 0..20)) {
        assert_comes_back(&holding(bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<_>>()));
        let halves = bits.iter().flat_map(|&bits| [bits, bits >> 16, bits >> 32]);
        #[allow(clippy::cast_possible_truncation, reason = "the lower bits are intended")]
        let small: Vec<u16> = halves.map(|bits| bits as u16).collect();
        assert_comes_back(&holding(small.iter().map(|&bits| f16::from_bits(bits)).collect::<Vec<_>>()));
        assert_comes_back(&holding(small.iter().map(|&bits| bf16::from_bits(bits)).collect::<Vec<_>>()));
        #[allow(clippy::cast_possible_truncation, reason = "the lower bits are intended")]
        assert_comes_back(&holding(bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect::<Vec<_>>()));
    }

    #[test]
    fn integers_round_trip(values in proptest::collection::vec(any::<i64>(), 0..20)) {
        assert_comes_back(&holding(values.iter().map(|value| value.cast_unsigned()).collect::<Vec<u64>>()));
        assert_comes_back(&holding(values));
    }

    #[test]
    fn shapes_strides_and_offsets_round_trip(
        length in any::<u32>(), stride in any::<i64>(), offset in any::<u64>(), axis in any::<i64>()
    ) {
        let wide = usize::try_from(offset).unwrap();
        let buffer: Data = Vec::<f64>::new().into();
        let shape = [0, wide, usize::try_from(length).unwrap()];
        let operands = ["a", "b"].map(|name| {
            Operand::view(name, shape, buffer.clone(), Some(vec![stride, 1, -1]), wide).unwrap()
        });
        let expression = Expression::operand(0);
        for rules in [Rules::Pdpd { axis: Some(axis) }, Rules::Xla { broadcast_dimensions: Some(vec![stride, axis]) }] {
            let operation = Operation::Elementwise { expression: expression.clone() };
            let request = Request::new(rules, operation, operands.to_vec()).unwrap();
            assert_comes_back(&holding_refused(request));
        }
        let operation = Operation::Broadcast { target_shape: shape.into() };
        let request = Request::new(Rules::Numpy, operation, operands[..1].to_vec()).unwrap();
        assert_comes_back(&holding_refused(request));
    }

    #[test]
    fn inferences_round_trip(
        shapes in proptest::collection::vec(partial_shape(), 1..4),
        inferred in partial_shape(),
        always in any::<bool>(),
    ) {
        let operand = |(place, shape): (usize, &PartialShape)| {
            OperandType::new(["a", "b", "c"][place], DType::I16, shape.clone()).unwrap()
        };
        let operands: Vec<OperandType> = shapes.iter().enumerate().map(operand).collect();
        let accepts = Some(if always { Accepts::Always } else { Accepts::Depends });
        let inference = Inference { dtype: DType::I16, shape: inferred, accepts, broadcastable: None };
        let target = Asked::TargetShape(inference.shape.clone());
        for (asked, operands) in [(Asked::Expression(Expression::operand(0)), &operands[..]), (target, &operands[..1])] {
            let signature = Signature::new(Rules::Numpy, asked, operands.to_vec()).unwrap();
            let text = json::signature_to_value(&signature).to_string();
            prop_assert_eq!(json::signature_from_str(&text), Ok(signature.clone()));
            let outcome = Outcome::Success(inference.clone());
            let text = json::inferred_to_value(&signature, &outcome).to_string();
            prop_assert_eq!(json::inferred_from_str(&signature, &text), Ok(outcome));
            let expectation = Expectation::Result(inference.clone());
            let convention = Convention::of_inference("INFER-3", &signature, &expectation);
            assert_inference_comes_back(&InferenceCase {
                id: "numpy/x".into(),
                title: "T.".into(),
                clause: "INFER-3".into(),
                convention,
                examples: Vec::new(),
                sources: Vec::new(),
                origin: Origin::Hand,
                request: signature,
                expectation,
                note: None,
                location: Location::default(),
            });
        }
    }

    #[test]
    fn lengths_are_displayed_as_they_are_parsed(shape in partial_shape()) {
        prop_assert_eq!(shape.to_string().parse(), Ok(shape));
    }

    #[test]
    fn no_text_makes_the_loader_panic(text in any::<String>(), place in 0..GOOD.len(), length in 0..20usize) {
        let _ = load_str(&text, "f.yaml");
        let _ = load_str(&text, "f.json");
        let end = (place + length).min(GOOD.len());
        let _ = load_str(&format!("{}{text}{}", &GOOD[..place], &GOOD[end..]), "f.yaml");
        let _ = load_str(&format!("{}{}", &GOOD[..place], &GOOD[end..]), "f.yaml");
        let swapped = format!("{}{}{}", &GOOD[..place], &GOOD[end..], &GOOD[place..end]);
        let _ = load_str(&swapped, "f.yaml");
    }
}
