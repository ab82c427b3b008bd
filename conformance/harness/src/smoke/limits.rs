//! What a library may lack, and the conventions on which libraries differ: for each, a request that shows it
//! and the field of the answer to `start` that declares it.

use super::probes::{Like, bare, easy, number, operand, plain, request, rule_sets, value};
use broadcheck_judge::compare::expectation_of;
use broadcheck_judge::limits::covers_request;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, Convention, DType, Expectation, Function, Implementation, OperationKind, Outcome,
    RefusalKind, Request,
};
use serde_json::{Value, json};

/// Something that a library may lack, or a convention that it may not follow.
pub(super) struct Limit {
    pub(super) name: String,
    /// The request; `None` if what is declared leaves no suitable one.
    pub(super) request: Option<Request>,
    /// The convention that the request tests.
    pub(super) convention: Option<Convention>,
    /// What to declare if the library does not support the request, and when.
    pub(super) advice: String,
}

/// The limits that a request can show, in order.
pub(super) fn limits(able: &Capabilities) -> Vec<Limit> {
    let lacking = |name: &str, requests: Vec<Request>, what: &str, field: &str| Limit {
        name: name.into(),
        request: requests.into_iter().find(|request| is_covered(able, request)),
        convention: None,
        advice: format!("if the library does not support {what}, add {field} to the answer to `start`"),
    };
    let like = number(able, 2);
    let mut all = vec![
        lacking(
            "operands of different ranks",
            sums(&[&value(&like.dtype, &[2, 2], repeated(&like, 2)), &like]),
            "operands of different ranks",
            "\"equal_ranks\":true",
        ),
        lacking(
            "two calls",
            nested(&["a", "b", "a"], &[&like, &like]),
            "nested functions",
            "\"max_calls\":1",
        ),
        lacking(
            "three operands",
            nested(&["a", "b", "c"], &[&like, &like, &like]),
            "three operands",
            "\"max_operands\":2",
        ),
    ];
    all.extend(subnormals(able).into_iter().map(|(dtype, requests)| {
        let what = format!("subnormal {dtype} numbers, and treats them as zero");
        let field = format!("\"flushed_subnormals\":[\"{dtype}\"]");
        lacking(&format!("subnormal {dtype} numbers"), requests, &what, &field)
    }));
    // A request with values does not show which refusal is inferred.
    let shown = Convention::ALL.into_iter().filter(|&convention| convention != Convention::InferredRefusals);
    all.extend(shown.map(|convention| {
        let requests = testing(convention, able);
        Limit {
            name: named(convention).into(),
            request: requests.into_iter().find(|request| is_covered(able, request)),
            convention: Some(convention),
            advice: instead_of(convention, able),
        }
    }));
    all
}

/// A function with one argument of a dtype, for each pair that V-2 defines and the library declares.
pub(super) fn calls(able: &Capabilities) -> Vec<(Function, DType, Request)> {
    let pairs = able
        .functions
        .iter()
        .flat_map(|&function| able.dtypes.iter().map(move |&dtype| (function, dtype)))
        .filter(|&(function, dtype)| able.has(function, dtype));
    let accepted = |request: &Request| matches!(Reference::new().run(request), Outcome::Success(_));
    let suitable = |request: &Request| is_covered(able, request) && accepted(request);
    pairs
        .filter_map(|(function, dtype)| {
            let request = called(able, function, dtype).into_iter().find(suitable)?;
            Some((function, dtype, request))
        })
        .collect()
}

/// The field that declares a function for all its dtypes but these: `"function_dtypes":{"exp":["f64"]}`.
pub(super) fn without_dtypes(able: &Capabilities, lacking: &[(Function, DType)]) -> String {
    let mut fields = serde_json::Map::new();
    let limited = able.functions.iter().filter(|&&function| {
        able.function_dtypes.contains_key(&function) || lacking.iter().any(|&(other, _)| other == function)
    });
    for &function in limited {
        let kept = able.dtypes.iter().filter(|&&dtype| {
            able.has(function, dtype) && !lacking.contains(&(function, dtype)) && is_defined(function, dtype)
        });
        fields.insert(function.name().into(), kept.map(|dtype| dtype.name()).collect());
    }
    format!("\"function_dtypes\":{}", Value::Object(fields))
}

/// The field that declares these conventions besides those already declared.
pub(super) fn with_conventions(able: &Capabilities, more: &[Convention]) -> String {
    let all = Convention::ALL.into_iter().filter(|one| able.follows(*one) || more.contains(one));
    let names: Vec<&str> = all.map(Convention::name).collect();
    if names.len() == Convention::ALL.len() {
        return "\"conventions\":\"all\"".into();
    }
    format!("\"conventions\":{}", json!(names))
}

fn is_covered(able: &Capabilities, request: &Request) -> bool {
    covers_request(able, request).is_ok()
}

/// Whether V-2 defines a function for arguments of a dtype.
fn is_defined(function: Function, dtype: DType) -> bool {
    let requests = called(&Capabilities::all(), function, dtype);
    requests.first().is_some_and(|request| matches!(Reference::new().run(request), Outcome::Success(_)))
}

/// What a step about a convention checks.
fn named(convention: Convention) -> &'static str {
    match convention {
        Convention::CheckedSizes => "a length of 2^63, which is a string",
        Convention::SeparateDtypes => "operands of different dtypes",
        Convention::UnusedOperands => "an operand that the expression does not use",
        Convention::RefusalOrder => "a request with two faults",
        Convention::GradientRefusals => "a gradient of integers",
        Convention::GradientTies => "the gradient of a maximum of equal arguments",
        Convention::UndefinedFunctions => "a function of a dtype for which V-2 does not define it",
        Convention::ZeroSigns => "the maximum of two zeros",
        Convention::InferredRefusals => "a signature with two faults",
    }
}

/// What to declare if a library cannot be asked a request that tests a convention.
fn instead_of(convention: Convention, able: &Capabilities) -> String {
    let add = |when: &str, field: &str| format!("if {when}, add {field} to the answer to `start`");
    match convention {
        Convention::CheckedSizes => {
            add("the library requests memory before it checks sizes", "\"large_sizes\":false")
                + "; read lengths beyond 2^53 from strings, as other integers"
        }
        Convention::SeparateDtypes => "refuse operands that the library does not combine".into(),
        Convention::UnusedOperands => {
            add("every operand must occur in the expression", "\"unused_operands\":false")
        }
        Convention::RefusalOrder | Convention::InferredRefusals => "answer with any of the faults".into(),
        Convention::GradientRefusals | Convention::GradientTies => {
            "refuse a gradient that the library does not compute".into()
        }
        Convention::UndefinedFunctions => match undefined(able).first() {
            Some(&(function, dtype, _)) => add(
                "the library does not have this function for this dtype",
                &without_dtypes(able, &[(function, dtype)]),
            ),
            None => String::new(),
        },
        Convention::ZeroSigns => "return a zero of either sign".into(),
    }
}

/// Requests that test a convention.
fn testing(convention: Convention, able: &Capabilities) -> Vec<Request> {
    let like = number(able, 2);
    let floats = able.dtypes.iter().filter(|dtype| dtype.is_float());
    match convention {
        Convention::CheckedSizes => {
            let huge = value(easy(able), &[1 << 63, 0], json!([]));
            sums(&[&huge, &huge]).into_iter().chain(all_bare(&[&huge])).collect()
        }
        Convention::SeparateDtypes => {
            let other =
                able.dtypes.iter().rev().find(|dtype| **dtype != DType::Bool && dtype.name() != easy(able));
            other.map_or(Vec::new(), |other| sums(&[&like, &value(other.name(), &[2], json!([1, 2]))]))
        }
        Convention::UnusedOperands => {
            let wide = value(&like.dtype, &[2, 2], repeated(&like, 2));
            all_bare(&[&like, &wide]).into_iter().chain(all_bare(&[&like, &like])).collect()
        }
        Convention::RefusalOrder => {
            let long = value(&like.dtype, &[3, 2], repeated(&like, 3));
            let wide = number(able, 6);
            sums(&[&long, &value(&wide.dtype, &[2, 3], wide.values)])
        }
        Convention::InferredRefusals => Vec::new(),
        Convention::GradientRefusals => {
            let integer = able.dtypes.iter().find(|dtype| dtype.is_integer());
            integer.map_or(Vec::new(), |dtype| {
                let like = value(dtype.name(), &[2], json!([1, 2]));
                gradients("add", &like)
            })
        }
        Convention::GradientTies => {
            floats.flat_map(|dtype| gradients("maximum", &value(dtype.name(), &[2], json!([1, 2])))).collect()
        }
        Convention::UndefinedFunctions => undefined(able).into_iter().map(|(.., request)| request).collect(),
        Convention::ZeroSigns => {
            let zeros = |dtype: &DType| {
                let one = value(dtype.name(), &[2], json!([0, "-0.0"]));
                let other = value(dtype.name(), &[2], json!(["-0.0", 0]));
                binary("maximum", &[&one, &other])
            };
            floats.flat_map(zeros).collect()
        }
    }
}

/// The declared functions with dtypes for which V-2 does not define them.
fn undefined(able: &Capabilities) -> Vec<(Function, DType, Request)> {
    let is_undefined = |request: &Request| {
        let expectation = expectation_of(&Reference::new().run(request));
        matches!(expectation, Some(Expectation::Refusal(refusal))
            if refusal.kind == Some(RefusalKind::UnsupportedFunction))
    };
    let pairs =
        able.functions.iter().flat_map(|&function| able.dtypes.iter().map(move |&dtype| (function, dtype)));
    pairs
        .filter_map(|(function, dtype)| {
            let requests = called(able, function, dtype).into_iter();
            let request = requests.into_iter().find(|one| is_covered(able, one) && is_undefined(one))?;
            Some((function, dtype, request))
        })
        .collect()
}

/// A function called with ones of a dtype, under each rule set.
fn called(able: &Capabilities, function: Function, dtype: DType) -> Vec<Request> {
    let of = |dtype: DType, operand: &str| {
        let one = if dtype == DType::Bool { json!([true]) } else { json!([1]) };
        (operand.to_owned(), value(dtype.name(), &[1], one))
    };
    let names = ["a", "b", "c"];
    let places = 0..function.arity();
    let arguments: Vec<(String, Like)> = places
        .map(|place| {
            of(if function == Function::Select && place == 0 { DType::Bool } else { dtype }, names[place])
        })
        .collect();
    let expression: Vec<&str> =
        std::iter::once(function.name()).chain(names.into_iter().take(function.arity())).collect();
    let operands: Vec<Value> = arguments.iter().map(|(name, like)| operand(name, like)).collect();
    let fields = json!({ "operation": "elementwise", "expression": expression, "operands": operands });
    let declared = rule_sets(OperationKind::Elementwise).filter(|rules| able.rules.contains(rules));
    declared.filter_map(|rules| request(rules, fields.clone())).collect()
}

/// The smallest numbers of each float dtype.
fn subnormals(able: &Capabilities) -> Vec<(DType, Vec<Request>)> {
    let smallest = |dtype: DType| match dtype {
        DType::F64 => Some(json!([5e-324, -5e-324])),
        DType::F32 => Some(json!([1.401_298_464_324_817e-45, -1.401_298_464_324_817e-45])),
        DType::F16 => Some(json!([5.960_464_477_539_063e-8, -5.960_464_477_539_063e-8])),
        DType::Bf16 => Some(json!([9.183_549_615_799_121e-41, -9.183_549_615_799_121e-41])),
        DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool => None,
    };
    let dtypes = able.dtypes.iter();
    dtypes.filter_map(|&dtype| Some((dtype, plain(&value(dtype.name(), &[2], smallest(dtype)?))))).collect()
}

/// The values of an operand, several times.
fn repeated(like: &Like, times: usize) -> Value {
    let values = like.values.as_array().cloned().unwrap_or_default();
    values.iter().cycle().take(times * values.len()).cloned().collect()
}

fn sums(operands: &[&Like; 2]) -> Vec<Request> {
    binary("add", operands)
}

/// `a` and `b` combined by a function, under each rule set.
fn binary(function: &str, operands: &[&Like; 2]) -> Vec<Request> {
    let operands = json!([operand("a", operands[0]), operand("b", operands[1])]);
    let fields =
        json!({ "operation": "elementwise", "expression": [function, "a", "b"], "operands": operands });
    rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, fields.clone())).collect()
}

/// `[add, [add, x, y], z]`, under each rule set.
fn nested(names: &[&str; 3], operands: &[&Like]) -> Vec<Request> {
    let operands: Vec<Value> =
        ["a", "b", "c"].into_iter().zip(operands).map(|(name, like)| operand(name, like)).collect();
    let [x, y, z] = names;
    let fields = json!({
        "operation": "elementwise", "expression": ["add", ["add", x, y], z], "operands": operands,
    });
    rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, fields.clone())).collect()
}

/// The first operand alone, among others that the expression does not use.
fn all_bare(operands: &[&Like]) -> Vec<Request> {
    if let [only] = operands {
        return rule_sets(OperationKind::Elementwise).filter_map(|rules| bare(rules, only)).collect();
    }
    let operands: Vec<Value> =
        ["a", "b"].into_iter().zip(operands).map(|(name, like)| operand(name, like)).collect();
    let fields = json!({ "operation": "elementwise", "expression": "a", "operands": operands });
    rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, fields.clone())).collect()
}

/// The gradient by `a` of a function of two equal operands, under each rule set.
fn gradients(function: &str, like: &Like) -> Vec<Request> {
    let operands = json!([operand("a", like), operand("b", like)]);
    let fields = json!({
        "operation": "gradient", "expression": [function, "a", "b"], "wrt": "a", "operands": operands,
    });
    rule_sets(OperationKind::Gradient).filter_map(|rules| request(rules, fields.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_capabilities_leave_nothing_out_and_each_convention_is_tested() {
        let able = Capabilities::all();
        for Limit { name, request, convention, .. } in limits(&able) {
            let request = request.unwrap_or_else(|| panic!("{name}"));
            let expectation = expectation_of(&Reference::new().run(&request)).unwrap();
            match convention {
                Some(Convention::GradientTies | Convention::ZeroSigns | Convention::RefusalOrder) => {}
                _ => assert_eq!(Convention::of("", &request, &expectation), convention, "{name}"),
            }
        }
        assert!(calls(&able).len() > 150);
    }

    #[test]
    fn what_is_declared_to_be_missing_is_left_out() {
        let able = Capabilities {
            equal_ranks: true,
            max_calls: Some(1),
            max_operands: Some(2),
            unused_operands: false,
            large_sizes: false,
            flushed_subnormals: vec![DType::F64, DType::F32, DType::F16, DType::Bf16],
            ..Capabilities::all()
        };
        let kept: Vec<String> =
            limits(&able).into_iter().filter(|one| one.request.is_some()).map(|one| one.name).collect();
        let expected = [
            "operands of different dtypes",
            "a request with two faults",
            "a gradient of integers",
            "the gradient of a maximum of equal arguments",
            "a function of a dtype for which V-2 does not define it",
            "the maximum of two zeros",
        ];
        assert_eq!(kept, expected);
    }

    #[test]
    fn fields_are_json() {
        let able = Capabilities {
            functions: vec![Function::Exp, Function::Add],
            dtypes: vec![DType::F64, DType::F16, DType::I32],
            ..Capabilities::all()
        };
        let field = without_dtypes(&able, &[(Function::Exp, DType::F16)]);
        assert_eq!(field, r#""function_dtypes":{"exp":["f64"]}"#);
        let field = with_conventions(&able, &[Convention::UnusedOperands, Convention::CheckedSizes]);
        assert_eq!(field, r#""conventions":["checked-sizes","unused-operands"]"#);
        assert_eq!(with_conventions(&able, &Convention::ALL), r#""conventions":"all""#);
    }
}
