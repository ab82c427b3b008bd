//! How operands are given: as constants, or two as the same array.

use crate::{GOOD, lines};
use broadcheck_spec::{json, load_str, write};

/// The valid case with more fields on its operands, and b of the shape of a.
fn with(a: &str, b: &str) -> String {
    let second = "name: b, dtype: f64, shape: [2, 3], values: [1, 2, 3, 4, 5, 6]";
    let text = GOOD.replace("name: b, dtype: f64, shape: [3], values: [7, 8, 9]", &format!("{second}{b}"));
    text.replacen("values: [1, 2, 3, 4, 5, 6]", &format!("values: [1, 2, 3, 4, 5, 6]{a}"), 1)
}

fn wrong(text: &str, expected: &str) {
    let found = lines(text);
    assert!(found.len() == 1 && found[0].contains(expected), "{found:#?}\nexpected {expected}");
}

#[test]
fn how_operands_are_given_survives_yaml_and_json() {
    let text = with(", constant: true", ", constant: true, same: a");
    let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    let case = &file.cases[0];
    let [a, b] = case.request.operands() else { panic!("two operands") };
    assert_eq!((a.is_constant(), a.same(), b.is_constant(), b.same()), (true, None, true, Some("a")));
    let again = load_str(&write::case_to_yaml(case), "again.yaml").unwrap();
    assert_eq!(again.cases[0].request, case.request);
    let line = json::request_to_value(&case.request).to_string();
    assert!(line.contains(r#""constant":true"#) && line.contains(r#""same":"a""#), "{line}");
    assert_eq!(json::request_from_str(&line).as_ref(), Ok(&case.request));
}

#[test]
fn the_same_array_is_that_of_an_earlier_equal_operand() {
    wrong(
        &with("", ", same: c"),
        "operands[1].same: found `c`, expected the name of an operand before this one",
    );
    wrong(
        &with(", same: b", ""),
        "operands[0].same: found `b`, expected the name of an operand before this one",
    );
    wrong(
        &with("", ", same: b"),
        "operands[1].same: found `b`, expected the name of an operand before this one",
    );
    let other = with("", ", same: a").replacen("5, 6], same", "5, 7], same", 1);
    wrong(
        &other,
        "operands[1].same: found another list of values than that of `a`, expected an operand equal to it",
    );
    let shape = with("", ", same: a").replacen("shape: [2, 3], values", "shape: [3, 2], values", 1);
    wrong(&shape, "found another shape than that of `a`");
    wrong(&with(", constant: true", ", same: a"), "found another `constant` than that of `a`");
}

#[test]
fn a_constant_is_known_and_neither_differentiated_nor_written() {
    let declared = with(", constant: true, declared: [2, \"?\"]", "");
    wrong(&declared, "operands[0].constant: found a constant with a declared shape, expected a parameter");
    let gradient = with(", constant: true", "")
        .replace("expression:", "operation: gradient\n    wrt: a\n    expression:");
    wrong(&gradient, "operands[0].constant: found a constant as the operand of `wrt`, expected a parameter");
    let into = with(", constant: true", "").replace("expression:", "into: a\n    expression:");
    wrong(&into, "operands[0].constant: found a constant as the destination, expected a parameter");
    let same = with("", ", same: a").replace("expression:", "into: a\n    expression:");
    wrong(&same, "operands[1].same: found `same` in a request with `into`, expected `of`");
}
