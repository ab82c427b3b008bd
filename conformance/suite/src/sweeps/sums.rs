//! Contributions to a gradient that a sum may get wrong: NaN and infinities among ordinary numbers, numbers
//! with digits after the binary point, masked ones, and derivatives whose intermediate steps overflow.
//!
//! The gradient is by an operand that is stretched along the rows or along the columns of the result, so that
//! each of its elements is a sum of n contributions. Contribution p is 1 + p mod 1009, divided by 1024 or by
//! 2^200: the sums are exact in f32, whatever the order of the additions.

use super::long::{RequestAndResult, fold};
use super::views::{Arrangement, Side, rules_for};
use broadcheck_spec::{
    DType, Data, Expression, Function, Operand, Operation, Request, RuleSet, Shape, Tensor,
};

/// What is special about the contributions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terms {
    Fractions,
    /// One NaN.
    Nan,
    /// One infinity.
    Infinity,
    /// One negative infinity.
    Negative,
    /// Infinities of both signs.
    Both,
    /// Every third number is masked by a selection.
    Masked,
    /// The operand is a divisor whose square overflows.
    Divisor,
}

const TERMS: [(&str, Terms); 7] = [
    ("fractions", Terms::Fractions),
    ("nan", Terms::Nan),
    ("infinity", Terms::Infinity),
    ("minus-infinity", Terms::Negative),
    ("both-infinities", Terms::Both),
    ("masked", Terms::Masked),
    ("divisor", Terms::Divisor),
];

/// The number of elements of the operand.
const OTHER: usize = 3;

/// The gradients of sums of `count` contributions. The dtype and the axis take turns.
pub(super) fn sums(rules: RuleSet, count: usize) -> Vec<Arrangement> {
    let mut all = Vec::new();
    let has_select = !matches!(rules, RuleSet::Pdpd | RuleSet::Xla | RuleSet::Repeat);
    for (place, (name, terms)) in TERMS.into_iter().enumerate() {
        if terms == Terms::Masked && !has_select {
            continue;
        }
        let turn = count + place;
        let dtype = [DType::F64, DType::F32][turn % 2];
        let down = (turn / 2).is_multiple_of(2);
        let axis = if down { "down" } else { "across" };
        let make = move || gradient(rules, dtype, terms, count, down);
        all.push(Arrangement::new(format!("{name}-{axis}-{dtype}"), make));
    }
    all
}

fn gradient(rules: RuleSet, dtype: DType, terms: Terms, count: usize, down: bool) -> RequestAndResult {
    let (shape, stretched) =
        if down { ([count, OTHER], [true, false]) } else { ([OTHER, count], [false, true]) };
    let wrt = Side::dense(rules, &shape, &stretched);
    let (above, below) = match dtype {
        DType::F64 => (2f64.powi(1000), 2f64.powi(600)),
        _ => (2f64.powi(100), 2f64.powi(70)),
    };
    // The element of w that element p of the result reads; the special contributions are to its second one.
    let of = |p: usize| if down { p % OTHER } else { p / count };
    let term = |p: usize| if down { p / OTHER } else { p % count };
    let number = |p: usize| f64::from(u16::try_from(p % 1009).expect("small") + 1);
    let is_masked = |p: usize| p % 3 == 1;
    let value = |p: usize| match (terms, of(p) == 1, term(p)) {
        (Terms::Nan, true, at) if at == count / 2 => f64::NAN,
        (Terms::Infinity | Terms::Both, true, 0) => f64::INFINITY,
        (Terms::Negative, true, at) if at == count / 2 => f64::NEG_INFINITY,
        (Terms::Both, true, at) if at + 1 == count => f64::NEG_INFINITY,
        (Terms::Divisor, ..) => number(p) * above,
        _ => number(p) / 1024.0,
    };
    let total: usize = shape.iter().product();
    let mut sums = vec![0.0; OTHER];
    for p in 0..total {
        sums[of(p)] += match terms {
            Terms::Masked if is_masked(p) => 0.0,
            Terms::Divisor => -(value(p) / below / below),
            _ => value(p),
        };
    }
    let floats = |values: Vec<f64>| match dtype {
        DType::F64 => Data::from(values),
        _ => Data::from(values.into_iter().map(narrowed).collect::<Vec<f32>>()),
    };
    let dense = |values: Data| Operand::dense("a", Shape::from(shape.as_slice()), values);
    let a = dense(floats((0..total).map(value).collect())).expect("one value per element");
    let own: usize = wrt.shape.iter().product();
    let at = if terms == Terms::Divisor { below } else { 2.0 };
    let w = Operand::dense("w", Shape::from(wrt.shape.as_slice()), floats(vec![at; own]));
    let w = w.expect("one value per element");
    let w = match &wrt.flags {
        Some(flags) => w.with_broadcastable(flags.clone()).expect("one flag per axis"),
        None => w,
    };
    let mut operands = vec![a, w];
    let expression = match terms {
        Terms::Divisor => fold(Function::Divide, 2),
        Terms::Masked => {
            let mask: Vec<bool> = (0..total).map(is_masked).collect();
            let mask = Operand::dense("m", Shape::from(shape.as_slice()), mask);
            operands.push(mask.expect("one value per element"));
            let [a, m] = [0, 2].map(Expression::operand);
            let product = fold(Function::Multiply, 2);
            Expression::call(Function::Select, [m, a, product]).expect("three arguments")
        }
        _ => fold(Function::Multiply, 2),
    };
    let operation = Operation::Gradient { expression, wrt: 1 };
    let request = Request::new(rules_for(rules, &wrt), operation, operands).expect("a well-formed request");
    let result = Tensor::new(Shape::from(wrt.shape.as_slice()), floats(sums));
    (request, result.expect("one value per element"))
}

/// The number, which f32 represents.
#[allow(clippy::cast_possible_truncation, reason = "f32 represents it")]
fn narrowed(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rules: RuleSet, count: usize, name: &str) -> Vec<f64> {
        let found = sums(rules, count).into_iter().find(|found| found.name.starts_with(name));
        let (_, result) = (found.unwrap_or_else(|| panic!("{name}")).make)();
        result.values().iter().map(|value| value.as_f64().unwrap()).collect()
    }

    #[test]
    fn sums_by_hand() {
        // Four rows of three: 1 + 4 + 7 + 10, 2 + 5 + 8 + 11 and 3 + 6 + 9 + 12, over 1024.
        let sum = |all: [f64; 3]| all.map(|sum| sum / 1024.0).to_vec();
        assert_eq!(made(RuleSet::Numpy, 4, "fractions-down"), sum([22.0, 26.0, 30.0]));
        let nan = made(RuleSet::Xla, 4, "nan");
        assert!(nan[1].is_nan() && nan[0].is_finite() && nan[2].is_finite());
        assert_eq!(made(RuleSet::Theano, 4, "infinity")[1], f64::INFINITY);
        assert!(made(RuleSet::Pdpd, 4, "both-infinities")[1].is_nan());
        // Two contributions to each element: 2^100 / 2^140 or 2^1000 / 2^1200, times a small number.
        let divisor = made(RuleSet::Numpy, 2, "divisor");
        assert!(divisor.iter().all(|&sum| sum < 0.0 && sum > -1e-8), "{divisor:?}");
        assert_eq!(sums(RuleSet::Pdpd, 2).len(), 6);
    }
}
