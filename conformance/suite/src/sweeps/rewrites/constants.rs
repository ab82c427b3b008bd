//! One function of a vector and a constant: a scalar, a vector of length 1, or a vector of equal elements.

use super::super::arithmetic::evaluate;
use super::rows::{buffer, is_certain};
use super::values::{least_length, values};
use super::{Asked, Turn, call};
use broadcheck_spec::{DType, Data, Expression, Function, Operand, Scalar, Tensor};

/// The forms of a constant, by name.
pub(super) const FORMS: [&str; 3] = ["scalar", "one", "equal"];

/// The forms in which one dtype has a constant on a side: all, if there is no other dtype to take turns with.
fn forms(number: usize, place: usize, turn: Turn) -> Vec<&'static str> {
    let [scalar, one, equal] = FORMS;
    match turn {
        Turn { classes: 1, .. } => FORMS.to_vec(),
        _ if turn.takes(number + place) => vec![scalar],
        _ if (number / 2 + place + turn.class / 2).is_multiple_of(2) => vec![one],
        _ => vec![equal],
    }
}

/// The number of requests of a function and a dtype.
pub(super) fn count_of_constants(dtype: DType, turn: Turn) -> usize {
    let sides = (0..values(dtype).len()).flat_map(|number| [(number, 0), (number, 1)]);
    sides.map(|(number, place)| forms(number, place, turn).len()).sum()
}

/// A function of a vector of all special values and one of them, on either side.
pub(super) fn of_constants(function: Function, dtype: DType, turn: Turn) -> Vec<Asked> {
    let all = values(dtype);
    let mut found = Vec::new();
    for (number, &constant) in all.iter().enumerate() {
        for place in [0, 1] {
            let expression = call(function, [Expression::operand(place), Expression::operand(1 - place)]);
            let mut vector: Vec<Scalar> = Vec::new();
            let mut results = Vec::new();
            for &value in &all {
                let steps = evaluate(&expression, &[value, constant]);
                if is_certain(&expression, &steps) {
                    vector.push(value);
                    results.push(*steps.last().expect("a root"));
                }
            }
            let length = least_length(dtype);
            let repeated = |values: &[Scalar]| {
                buffer(values[0].dtype(), values.iter().copied().cycle().take(length).collect())
            };
            let result = Tensor::new([length], repeated(&results)).expect("one value per element");
            for form in forms(number, place, turn) {
                let (shape, count) = match form {
                    "scalar" => (vec![], 1),
                    "one" => (vec![1], 1),
                    _ => (vec![length], length),
                };
                let operand = |name: &str, shape: &[usize], values: Data| {
                    Operand::dense(name, shape, values).expect("one value per element")
                };
                let operands = vec![
                    operand("a", &[length], repeated(&vector)),
                    operand("k", &shape, buffer(dtype, vec![constant; count])),
                ];
                let side = if place == 0 { "right" } else { "left" };
                let name = format!("{dtype}-{}-{side}-{form}-{number}", function.name().replace('_', "-"));
                found.push(Asked { name, expression: expression.clone(), operands, result: result.clone() });
            }
        }
    }
    found
}
