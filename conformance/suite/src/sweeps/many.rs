//! Many vectors of which only one or two are long, in every position. All patterns of many operands would be
//! too many; these are linear or quadratic in the number of operands, and show which operands an
//! implementation loses where it folds or reads them in groups.
//!
//! The expected values are computed by arithmetic, not by an engine. Element j of operand i is (j + 1) times
//! the operand's weight: i + 1, or what a dtype has room for. The expression is the sum, so that an element
//! is the sum of all weights, and j times those of the long operands.

use super::part::Part;
use crate::retype::{data, integers};
use broadcheck_spec::{
    Attribute, Case, DType, Expectation, ExpectedResult, Expression, Function, Operand, Operation, Origin,
    Request, RuleSet, Rules, Sweep, Tensor,
};
use std::ops::RangeInclusive;

/// The names of the two sweeps.
pub(super) const NAMES: [&str; 2] = ["numpy-many-operands", "theano-many-operands"];

/// An expression of one call for each further operand may not be nested deeper.
const OPERANDS: RangeInclusive<usize> = 2..=96;
const LONG: RangeInclusive<usize> = 1..=2;
const LENGTHS: RangeInclusive<usize> = 2..=9;

/// The rule set of a sweep of many operands; `None` for the name of another sweep.
pub(super) fn rules_of(name: &str) -> Option<RuleSet> {
    match name {
        "numpy-many-operands" => Some(RuleSet::Numpy),
        "theano-many-operands" => Some(RuleSet::Theano),
        _ => None,
    }
}

/// Vectors of which a number is long, in every position.
pub(super) struct ManyOperands {
    rules: RuleSet,
    operands: usize,
    long: usize,
    length: usize,
    dtype: DType,
    /// For each operand, the factor of its elements.
    weights: Vec<i64>,
}

impl ManyOperands {
    /// The vectors in f64: their number, how many of them are long, and the length of these.
    pub(super) fn new(rules: RuleSet, [operands, long, length]: [usize; 3]) -> Result<ManyOperands, String> {
        for (key, value, limits) in
            [("operands", operands, OPERANDS), ("long", long, LONG), ("length", length, LENGTHS)]
        {
            if !limits.contains(&value) {
                let (least, most) = limits.into_inner();
                return Err(format!("with.{key}: found {value}, expected {least} to {most}"));
            }
        }
        let weights = (1..).take(operands).collect();
        Ok(ManyOperands { rules, operands, long, length, dtype: DType::F64, weights })
    }

    /// The same vectors in another dtype; `None` if it has no room for the sums.
    pub(super) fn in_dtype(&self, dtype: DType) -> Option<ManyOperands> {
        let ManyOperands { rules, operands, long, length, .. } = *self;
        let (_, room) = integers(dtype);
        let in_turn = |period: usize| -> Vec<i64> { (1..).take(period).cycle().take(operands).collect() };
        let fits = |weights: &Vec<i64>| {
            let rest = i64::try_from(long * (length - 1)).expect("at most 16");
            let most = weights.iter().max().expect("at least two operands");
            weights.iter().sum::<i64>() + rest * most <= room
        };
        let periods = std::iter::once(operands).chain((1..=7).rev());
        let weights = periods.map(in_turn).find(fits)?;
        Some(ManyOperands { rules, operands, long, length, dtype, weights })
    }

    /// A request in which every vector is long.
    pub(super) fn request(&self) -> Request {
        self.of(self.sum(), &(0..self.operands).collect::<Vec<_>>())
    }

    /// The number of cases: n, or n (n - 1) / 2.
    pub(super) fn count(&self) -> u128 {
        let operands = self.operands as u128;
        if self.long == 1 { operands } else { operands * (operands - 1) / 2 }
    }

    /// One case for each choice of the long operands.
    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        let first = |first: usize| match self.long {
            1 => vec![vec![first]],
            _ => (first + 1..self.operands).map(|second| vec![first, second]).collect(),
        };
        let sum = self.sum();
        let all = (0..self.operands).flat_map(first);
        part.of(all).map(|long| self.case(sweep, &sum, &long)).collect()
    }

    fn case(&self, sweep: &Sweep, sum: &Expression, long: &[usize]) -> Case {
        let names: Vec<String> = long.iter().map(|&place| name(place)).collect();
        Case {
            id: format!("{}/{}", sweep.id, names.join("-")),
            title: format!("{} Long: {}.", sweep.title, names.join(" and ")),
            clause: sweep.clause.clone(),
            convention: None,
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: self.of(sum.clone(), long),
            expectation: Expectation::Result(self.result(long)),
            note: None,
            location: sweep.location.clone(),
        }
    }

    /// The sum of all operands.
    fn sum(&self) -> Expression {
        (1..self.operands).fold(Expression::operand(0), |sum, place| {
            Expression::call(Function::Add, [sum, Expression::operand(place)]).expect("two arguments")
        })
    }

    fn of(&self, sum: Expression, long: &[usize]) -> Request {
        let operands = (0..self.operands).map(|place| self.operand(place, long.contains(&place))).collect();
        let operation = Operation::Elementwise { expression: sum };
        Request::new(Rules::from(self.rules), operation, operands).expect("a well-formed request")
    }

    fn operand(&self, place: usize, long: bool) -> Operand {
        let length = if long { self.length } else { 1 };
        let values = data(self.dtype, (1..).take(length).map(|number: i64| number * self.weights[place]));
        let operand = Operand::dense(name(place), [length], values).expect("one value per element");
        if self.has_flags() {
            operand.with_broadcastable(vec![!long]).expect("one flag per axis")
        } else {
            operand
        }
    }

    fn has_flags(&self) -> bool {
        self.rules.has_attribute(Attribute::Broadcastable)
    }

    /// Element j: the sum of all weights, and j times those of the long operands.
    fn result(&self, long: &[usize]) -> ExpectedResult {
        let all: i64 = self.weights.iter().sum();
        let of_long: i64 = long.iter().map(|&place| self.weights[place]).sum();
        let values = data(self.dtype, (0..).take(self.length).map(|number: i64| all + number * of_long));
        let tensor = Tensor::new([self.length], values).expect("one value per element");
        let broadcastable = self.has_flags().then(|| vec![false]);
        ExpectedResult { broadcastable, ..ExpectedResult::from(tensor) }
    }
}

fn name(place: usize) -> String {
    format!("a{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_by_hand() {
        let three = ManyOperands::new(RuleSet::Theano, [3, 1, 3]).unwrap();
        // a1 is 2, 4, 6; a0 is 1 and a2 is 3.
        let result = three.result(&[1]);
        assert_eq!(result.tensor, Tensor::new([3], vec![6.0, 8.0, 10.0]).unwrap());
        assert_eq!(result.broadcastable, Some(vec![false]));
        // a0 is 1, 2 and a2 is 3, 6; a1 is 2.
        let pair = ManyOperands::new(RuleSet::Numpy, [3, 2, 2]).unwrap();
        assert_eq!(pair.result(&[0, 2]).tensor, Tensor::new([2], vec![6.0, 10.0]).unwrap());
        assert_eq!((three.count(), pair.count()), (3, 3));
        assert_eq!(ManyOperands::new(RuleSet::Numpy, [65, 2, 3]).unwrap().count(), 2080);
    }

    #[test]
    fn dtypes_without_room_are_left_out() {
        for (operands, long) in [(2, 1), (33, 2), (65, 2), (96, 2)] {
            let many = ManyOperands::new(RuleSet::Numpy, [operands, long, 3]).unwrap();
            for dtype in crate::retype::ORDER {
                // Building them panics if the dtype does not represent a number.
                let Some(many) = many.in_dtype(dtype) else { continue };
                let result = many.result(&[operands - 2, operands - 1][..long]);
                assert_eq!((many.request().operands()[0].dtype(), result.tensor.dtype()), (dtype, dtype));
            }
        }
        let weights = |dtype| {
            let many = ManyOperands::new(RuleSet::Numpy, [33, 1, 3]).unwrap().in_dtype(dtype);
            many.map(|many| many.weights[30..].to_vec())
        };
        assert_eq!(weights(DType::F32), Some(vec![31, 32, 33]));
        // With a period of 6: 5 * 21 + 1 + 2 + 3 + 2 * 6 = 123. With one of 7 it is 141.
        assert_eq!(weights(DType::I8), Some(vec![1, 2, 3]));
        let most = ManyOperands::new(RuleSet::Numpy, [96, 2, 9]).unwrap();
        assert!(most.in_dtype(DType::Bool).is_none());
    }

    #[test]
    fn limits_are_named() {
        let error = |with| ManyOperands::new(RuleSet::Numpy, with).err().unwrap();
        assert_eq!(error([97, 1, 3]), "with.operands: found 97, expected 2 to 96");
        assert_eq!(error([3, 3, 3]), "with.long: found 3, expected 1 to 2");
        assert_eq!(error([3, 1, 1]), "with.length: found 1, expected 2 to 9");
    }
}
