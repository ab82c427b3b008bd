//! The broadcasting patterns of n vectors: each has either the full length or length 1, and not all have
//! length 1. There are 2^n - 1 of them (Aesara's text: 3 for two vectors, 1023 for ten).
//!
//! The expected values are computed by arithmetic, not by an engine. Element j of operand i is (j + 1) ·
//! 10^i, and the expression is the sum. So digit i of each result element, counted from the right, shows
//! which element of operand i was read: j + 1 if the operand has the full length, 1 if it is broadcast. With
//! at most 9 elements and 10 operands no digit carries, and every sum is exact in f64 in any order of
//! addition.
//!
//! Dtypes with less room have a smaller base than 10, or weights from 1 to 7 in turn: then an element read
//! from the wrong place still changes the sum, but not always one digit of it.

use super::part::Part;
use crate::retype::{data, integers};
use broadcheck_spec::{
    Attribute, Case, DType, Expectation, ExpectedResult, Expression, Function, Operand, Operation, Origin,
    Request, RuleSet, Rules, Sweep, Tensor,
};
use std::ops::RangeInclusive;

/// The names of the two sweeps.
pub(super) const NAMES: [&str; 2] = ["numpy-patterns", "theano-patterns"];

const OPERANDS: RangeInclusive<usize> = 1..=10;
const LENGTHS: RangeInclusive<usize> = 2..=9;

/// The rule set of a sweep of patterns; `None` for the name of another sweep.
pub(super) fn rules_of(name: &str) -> Option<RuleSet> {
    match name {
        "numpy-patterns" => Some(RuleSet::Numpy),
        "theano-patterns" => Some(RuleSet::Theano),
        _ => None,
    }
}

/// All patterns of a number of operands.
pub(super) struct Patterns {
    rules: RuleSet,
    operands: usize,
    length: usize,
    dtype: DType,
    /// For each operand, the factor of its elements.
    weights: Vec<i64>,
}

impl Patterns {
    /// The patterns in f64.
    pub(super) fn new(rules: RuleSet, operands: usize, length: usize) -> Result<Patterns, String> {
        for (key, value, limits) in [("operands", operands, OPERANDS), ("length", length, LENGTHS)] {
            if !limits.contains(&value) {
                return Err(format!(
                    "with.{key}: found {value}, expected {} to {}",
                    limits.start(),
                    limits.end()
                ));
            }
        }
        Ok(Patterns {
            rules,
            operands,
            length,
            dtype: DType::F64,
            weights: weights(operands, length, DType::F64),
        })
    }

    /// The same patterns in another dtype.
    pub(super) fn in_dtype(&self, dtype: DType) -> Patterns {
        let Patterns { rules, operands, length, .. } = *self;
        Patterns { rules, operands, length, dtype, weights: weights(operands, length, dtype) }
    }

    /// The request of the pattern without broadcasting.
    pub(super) fn request(&self) -> Request {
        let operands = (0..self.operands).map(|place| self.operand(place, true)).collect();
        let operation = Operation::Elementwise { expression: sum(self.operands) };
        Request::new(Rules::from(self.rules), operation, operands).expect("a well-formed request")
    }

    /// The number of patterns, 2^n - 1.
    pub(super) fn count(&self) -> u128 {
        (1 << self.operands) - 1
    }

    /// One case per pattern, in the order of their ids: `1` means the full length, `0` length 1.
    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        part.of(1..1usize << self.operands).map(|bits| self.case(sweep, bits)).collect()
    }

    fn case(&self, sweep: &Sweep, bits: usize) -> Case {
        let full: Vec<bool> = (0..self.operands).rev().map(|place| bits >> place & 1 == 1).collect();
        let digits: String = full.iter().map(|&full| if full { '1' } else { '0' }).collect();
        let operands = full.iter().enumerate().map(|(place, &full)| self.operand(place, full)).collect();
        let rules = Rules::from(self.rules);
        let operation = Operation::Elementwise { expression: sum(self.operands) };
        Case {
            id: format!("{}/{digits}", sweep.id),
            title: format!("{} Pattern {digits}: 1 has the full length, 0 is broadcast.", sweep.title),
            clause: sweep.clause.clone(),
            convention: None,
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: Request::new(rules, operation, operands).expect("a well-formed request"),
            expectation: Expectation::Result(self.result(&full)),
            note: is_decimal(&self.weights)
                .then(|| "Digit i from the right is the element of operand i that was read.".into()),
            location: sweep.location.clone(),
        }
    }

    fn operand(&self, place: usize, full: bool) -> Operand {
        let length = if full { self.length } else { 1 };
        let values = data(self.dtype, (1..).take(length).map(|number: i64| number * self.weights[place]));
        let name = char::from(b'a' + u8::try_from(place).expect("at most ten operands"));
        let operand = Operand::dense(name, [length], values).expect("one value per element");
        if self.has_flags() {
            operand.with_broadcastable(vec![!full]).expect("one flag per axis")
        } else {
            operand
        }
    }

    fn has_flags(&self) -> bool {
        self.rules.has_attribute(Attribute::Broadcastable)
    }

    /// Element j: Σ over the operands of (j + 1) · 10^i if operand i has the full length, else 10^i; or with
    /// other weights than the powers of 10.
    fn result(&self, full: &[bool]) -> ExpectedResult {
        let element = |number: i64| -> i64 {
            let terms = full.iter().zip(&self.weights);
            terms.map(|(&full, weight)| if full { number * weight } else { *weight }).sum()
        };
        let values = data(self.dtype, (1..).take(self.length).map(element));
        let tensor = Tensor::new([self.length], values).expect("one value per element");
        let broadcastable = self.has_flags().then(|| vec![false]);
        ExpectedResult { broadcastable, ..ExpectedResult::from(tensor) }
    }
}

/// The powers of 10, or of the smallest base that keeps the digits apart, or what there is room for.
fn weights(operands: usize, length: usize, dtype: DType) -> Vec<i64> {
    let (_, room) = integers(dtype);
    let length = i64::try_from(length).expect("at most nine");
    let powers = |base: i64| -> Option<Vec<i64>> {
        let weights: Vec<i64> = (0..).take(operands).map(|place| base.pow(place)).collect();
        (weights.iter().sum::<i64>() * length <= room).then_some(weights)
    };
    let in_turn = |period: usize| -> Option<Vec<i64>> {
        let weights: Vec<i64> = (1..).take(period).cycle().take(operands).collect();
        (weights.iter().sum::<i64>() * length <= room).then_some(weights)
    };
    let turns = (1..=7).rev().find_map(in_turn);
    // Ten operands of nine ones: 90.
    powers(10).or_else(|| powers(length + 1)).or(turns).unwrap_or_else(|| vec![1; operands])
}

fn is_decimal(weights: &[i64]) -> bool {
    weights.get(1).is_none_or(|&weight| weight == 10)
}

/// `[add, [add, a, b], c]`, or just `a`.
fn sum(operands: usize) -> Expression {
    (1..operands).fold(Expression::operand(0), |sum, place| {
        Expression::call(Function::Add, [sum, Expression::operand(place)]).expect("two arguments")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_by_hand() {
        let patterns = Patterns::new(RuleSet::Theano, 3, 3).unwrap();
        // a and c have three elements, b has one: 1 + 10 + 100, 2 + 10 + 200, 3 + 10 + 300.
        let result = patterns.result(&[true, false, true]);
        assert_eq!(result.tensor, Tensor::new([3], vec![111.0, 212.0, 313.0]).unwrap());
        assert_eq!(result.broadcastable, Some(vec![false]));
        assert_eq!(sum(3).display(&["a", "b", "c"]), "[add, [add, a, b], c]");
        assert_eq!(patterns.operand(1, false).broadcastable(), Some(&[true][..]));
    }

    #[test]
    fn every_dtype_has_room() {
        for dtype in crate::retype::ORDER {
            for (operands, length) in [(1, 2), (2, 3), (5, 3), (10, 3), (10, 9)] {
                let patterns = Patterns::new(RuleSet::Numpy, operands, length).unwrap().in_dtype(dtype);
                // Building them panics if the dtype does not represent a number.
                let result = patterns.result(&vec![true; operands]);
                assert_eq!((patterns.request().operands()[0].dtype(), result.tensor.dtype()), (dtype, dtype));
            }
        }
        assert_eq!(weights(3, 3, DType::U8), [1, 4, 16]);
        assert_eq!(weights(5, 3, DType::I8), [1, 2, 3, 4, 5]);
        assert_eq!(weights(10, 9, DType::I8), [1; 10]);
        assert_eq!(weights(10, 3, DType::F32)[9], 4i64.pow(9));
    }

    #[test]
    fn limits_are_named() {
        assert_eq!(
            Patterns::new(RuleSet::Numpy, 11, 3).err().unwrap(),
            "with.operands: found 11, expected 1 to 10"
        );
        assert!(Patterns::new(RuleSet::Numpy, 2, 1).is_err());
    }
}
