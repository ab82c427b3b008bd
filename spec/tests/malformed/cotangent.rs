//! Cotangents: the last operand of a gradient, which takes part in nothing else (clause GRAD-4).

use crate::{GOOD, lines};
use broadcheck_spec::{Operand, json, load_str, write};

/// The good case as the gradient by `a` of some of its operands, of which `b` is the last.
fn gradient(expression: &str, fields: &str) -> String {
    let fields = format!("operation: gradient\n    wrt: a\n    {fields}\n    origin: hand");
    GOOD.replace("expression: [add, a, b]", expression).replace("origin: hand", &fields)
}

#[test]
fn a_cotangent_is_the_last_operand_and_used_by_nothing_else() {
    for (expression, cotangent, found) in [
        (
            "expression: a",
            "a",
            "`a`, which is not the last operand, expected the last of the operands (clause GRAD-4)",
        ),
        ("expression: a", "c", "`c`, expected an operand's name: a b"),
        (
            "expression: [add, a, b]",
            "b",
            "`b`, which the expression uses, expected an operand that the expression does not use",
        ),
    ] {
        let found = format!("case numpy/x: cotangent: found {found}");
        let all = lines(&gradient(expression, &format!("cotangent: {cotangent}")));
        assert!(all.len() == 1 && all[0].ends_with(&found), "{all:?}");
    }
    let differentiated = gradient("expression: a", "cotangent: b").replace("wrt: a", "wrt: b");
    let all = lines(&differentiated);
    assert!(all[0].contains("cotangent: found `b`, which is also `wrt`"), "{all:?}");
    let elementwise = GOOD.replace("origin: hand", "cotangent: b\n    origin: hand");
    let all = lines(&elementwise);
    assert!(
        all[0].contains("`cotangent` with the operation `elementwise`, expected no such field"),
        "{all:?}"
    );
}

#[test]
fn the_gradient_of_a_broadcast_has_a_cotangent() {
    let without = gradient("target_shape: [2, 3]", "note: \"\"");
    let all = lines(&without);
    let expected = "cotangent: found no `cotangent`, expected one for the gradient of a broadcast";
    assert!(all.iter().any(|line| line.contains(expected)), "{all:?}");
    let both = gradient("expression: a", "target_shape: [2, 3]\n    cotangent: b");
    let all = lines(&both);
    assert!(all.iter().any(|line| line.contains("found both `expression` and `target_shape`")), "{all:?}");
}

#[test]
fn a_cotangent_survives_yaml_and_json() {
    for text in [
        gradient("expression: a", "cotangent: b"),
        gradient("target_shape: [2, 3]", "cotangent: b"),
        gradient("target_shape: [2, 3]", "cotangent: b").replace("rules: numpy", "rules: bidirectional"),
    ] {
        let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        let request = &file.cases[0].request;
        assert_eq!((request.names(), request.cotangent().map(Operand::name)), (vec!["a"], Some("b")));
        let again = load_str(&write::case_to_yaml(&file.cases[0]), "again.yaml").unwrap();
        assert_eq!(again.cases[0].request, *request);
        let value = json::request_to_value(request);
        assert_eq!(value["operands"].as_array().map(Vec::len), Some(2));
        assert_eq!(json::request_from_value(value).as_ref(), Ok(request));
    }
}
