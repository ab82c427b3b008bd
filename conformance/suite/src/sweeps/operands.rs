//! Three and four operands: vectors of every length from 0, under `theano` with every flag, of which the
//! expression uses all or leaves some out.
//!
//! Many libraries compare two shapes at a time, or check only the operands that they read. So the lengths and
//! flags are combined in every way, and each combination is asked once for every set of operands that are not
//! used. Element j of operand i is (j + 1) · 10^i, and the expression is the sum of the operands that are
//! used: digit i of an element is the element of operand i that was read.

use super::part::Part;
use broadcheck_spec::{
    Attribute, Case, Convention, Expectation, ExpectedRefusal, ExpectedResult, Expression, Function, Operand,
    Operation, Origin, RefusalKind, Request, RuleSet, Rules, Sweep, Tensor,
};
use std::ops::RangeInclusive;

const OPERANDS: RangeInclusive<usize> = 3..=4;
const LENGTHS: RangeInclusive<usize> = 2..=9;
const UNUSED: RangeInclusive<usize> = 0..=2;

/// The names of the sweeps: the rule sets that take more than two operands.
pub(super) const NAMES: [&str; 4] =
    ["none-operands", "numpy-operands", "theano-operands", "leading-operands"];

/// The rule set of a sweep of this kind; `None` for the name of another sweep.
pub(super) fn rules_of(name: &str) -> Option<RuleSet> {
    match name {
        "none-operands" => Some(RuleSet::None),
        "numpy-operands" => Some(RuleSet::Numpy),
        "theano-operands" => Some(RuleSet::Theano),
        "leading-operands" => Some(RuleSet::Leading),
        _ => None,
    }
}

/// Every combination of lengths, flags and unused operands.
pub(super) struct Operands {
    rules: RuleSet,
    operands: usize,
    longest: usize,
    unused: usize,
}

/// The length of a vector, and its flag.
#[derive(Clone, Copy)]
struct Vector {
    length: usize,
    flag: bool,
}

impl Operands {
    pub(super) fn new(rules: RuleSet, [operands, longest, unused]: [usize; 3]) -> Result<Operands, String> {
        let limits =
            [("operands", operands, OPERANDS), ("length", longest, LENGTHS), ("unused", unused, UNUSED)];
        for (key, found, limits) in limits {
            if !limits.contains(&found) {
                let (least, most) = (limits.start(), limits.end());
                return Err(format!("with.{key}: found {found}, expected {least} to {most}"));
            }
        }
        Ok(Operands { rules, operands, longest, unused })
    }

    pub(super) fn count(&self) -> u128 {
        let vectors = u128::try_from(self.vectors().len()).unwrap_or(u128::MAX);
        let sets = (0..1 << self.operands).filter(|&set| self.is_asked(set)).count();
        let operands = u32::try_from(self.operands).unwrap_or(u32::MAX);
        vectors.saturating_pow(operands).saturating_mul(sets as u128)
    }

    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        let vectors = self.vectors();
        let combinations = (0..self.operands).fold(1, |count, _| count * vectors.len());
        let sets: Vec<usize> = (0..1usize << self.operands).filter(|&set| self.is_asked(set)).collect();
        let all = (0..combinations).flat_map(|combination| sets.iter().map(move |&set| (combination, set)));
        let case = |(combination, unused): (usize, usize)| {
            let mut rest = combination;
            let pick = (0..self.operands).map(|_| {
                let vector = vectors[rest % vectors.len()];
                rest /= vectors.len();
                vector
            });
            self.case(sweep, &pick.collect::<Vec<Vector>>(), unused)
        };
        part.of(all).map(case).collect()
    }

    /// Whether a set of operands, one bit each, is left out of some expression.
    fn is_asked(&self, unused: usize) -> bool {
        unused.count_ones() as usize <= self.unused
    }

    fn vectors(&self) -> Vec<Vector> {
        let flags: &[bool] = if self.has_flags() { &[false, true] } else { &[false] };
        let of_length = |length| flags.iter().map(move |&flag| Vector { length, flag });
        (0..=self.longest).flat_map(of_length).collect()
    }

    fn has_flags(&self) -> bool {
        self.rules.has_attribute(Attribute::Broadcastable)
    }

    fn case(&self, sweep: &Sweep, vectors: &[Vector], unused: usize) -> Case {
        let used: Vec<usize> = (0..vectors.len()).filter(|place| unused >> place & 1 == 0).collect();
        let letters: String = used.iter().map(|&place| letter(place)).collect();
        let lengths =
            vectors.iter().map(|Vector { length, flag }| format!("{length}{}", if *flag { "t" } else { "" }));
        let name = format!("{}-sum-{letters}", lengths.collect::<Vec<_>>().join("-"));
        let sum = used[1..].iter().fold(Expression::operand(used[0]), |sum, &place| {
            Expression::call(Function::Add, [sum, Expression::operand(place)]).expect("two arguments")
        });
        let operand = |(place, vector): (usize, &Vector)| {
            let values: Vec<f64> = (0..vector.length).map(|j| element(place, j)).collect();
            let operand = Operand::dense(letter(place), [vector.length], values);
            let operand = operand.expect("one value per element");
            if self.has_flags() {
                operand.with_broadcastable(vec![vector.flag]).expect("one flag per axis")
            } else {
                operand
            }
        };
        let operands = vectors.iter().enumerate().map(operand).collect();
        let operation = Operation::Elementwise { expression: sum };
        Case {
            id: format!("{}/{name}", sweep.id),
            title: format!("{} Here: {name}.", sweep.title),
            clause: sweep.clause.clone(),
            convention: (unused > 0).then_some(Convention::UnusedOperands),
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: Request::new(Rules::from(self.rules), operation, operands)
                .expect("a well-formed request"),
            expectation: self.expectation(vectors, &used),
            note: None,
            location: sweep.location.clone(),
        }
    }

    /// The result, of the length that the operands have in common, or the refusal.
    fn expectation(&self, vectors: &[Vector], used: &[usize]) -> Expectation {
        let promised = vectors.iter().position(|vector| vector.flag && vector.length != 1);
        // The lengths that are never stretched.
        let fixed = |vector: &&Vector| match self.rules {
            RuleSet::None => true,
            RuleSet::Theano => !vector.flag,
            RuleSet::Numpy
            | RuleSet::Pdpd
            | RuleSet::Bidirectional
            | RuleSet::Xla
            | RuleSet::Leading
            | RuleSet::Repeat => vector.length != 1,
        };
        let mut fixed = vectors.iter().filter(fixed).map(|vector| vector.length);
        let length = fixed.next().unwrap_or(1);
        let differs = fixed.any(|other| other != length);
        let refusal =
            |kind, operand| Expectation::Refusal(ExpectedRefusal { kind, axis: kind.map(|_| 0), operand });
        match (promised, differs, self.rules) {
            // Which of two faults is reported is another convention (G-6).
            (Some(_), true, _) => refusal(None, None),
            (Some(operand), false, _) => refusal(Some(RefusalKind::FlagViolation), Some(operand)),
            (None, true, RuleSet::Theano) => refusal(Some(RefusalKind::NotBroadcastable), None),
            (None, true, _) => refusal(Some(RefusalKind::DimensionMismatch), None),
            (None, false, _) => {
                let read =
                    |place: usize, j: usize| element(place, if vectors[place].length == 1 { 0 } else { j });
                let sum = |j: usize| used.iter().map(|&place| read(place, j)).sum::<f64>();
                let values: Vec<f64> = (0..length).map(sum).collect();
                let tensor = Tensor::new([length], values).expect("one value per element");
                let flags = vec![vectors.iter().all(|vector| vector.flag)];
                let broadcastable = self.has_flags().then_some(flags);
                Expectation::Result(ExpectedResult { broadcastable, ..ExpectedResult::from(tensor) })
            }
        }
    }
}

fn letter(place: usize) -> char {
    char::from(b'a' + u8::try_from(place).expect("at most four operands"))
}

/// Element j of an operand.
fn element(place: usize, j: usize) -> f64 {
    let weight = [1, 10, 100, 1000][place];
    f64::from(weight * (u16::try_from(j).expect("at most nine") + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors<const N: usize>(lengths: [(usize, bool); N]) -> [Vector; N] {
        lengths.map(|(length, flag)| Vector { length, flag })
    }

    #[test]
    fn expectations_by_hand() {
        let numpy = Operands::new(RuleSet::Numpy, [3, 3, 2]).unwrap();
        // a and b are used, c has three elements: 1 + 10, 1 + 20, 1 + 30.
        let found = numpy.expectation(&vectors([(1, false), (3, false), (3, false)]), &[0, 1]);
        let Expectation::Result(result) = found else { panic!("accepted") };
        assert_eq!(result.tensor, Tensor::new([3], vec![11.0, 21.0, 31.0]).unwrap());
        // a alone is used, and c does not fit b.
        let found = numpy.expectation(&vectors([(1, false), (2, false), (3, false)]), &[0]);
        let Expectation::Refusal(refusal) = found else { panic!("refused") };
        assert_eq!((refusal.kind, refusal.axis), (Some(RefusalKind::DimensionMismatch), Some(0)));

        let theano = Operands::new(RuleSet::Theano, [3, 3, 2]).unwrap();
        let found = theano.expectation(&vectors([(1, true), (0, false), (2, true)]), &[0, 1]);
        let Expectation::Refusal(refusal) = found else { panic!("refused") };
        assert_eq!((refusal.kind, refusal.operand), (Some(RefusalKind::FlagViolation), Some(2)));
        let found = theano.expectation(&vectors([(1, true), (1, false), (3, false)]), &[0, 2]);
        let Expectation::Refusal(refusal) = found else { panic!("refused") };
        assert_eq!(refusal.kind, Some(RefusalKind::NotBroadcastable));
    }

    #[test]
    fn counts_by_hand() {
        let count = |rules, with| Operands::new(rules, with).unwrap().count();
        // 4^3 lengths, times 1 + 3 + 3 sets.
        assert_eq!(count(RuleSet::Numpy, [3, 3, 2]), 448);
        // 6^4 lengths and flags, times 1 + 4 sets.
        assert_eq!(count(RuleSet::Theano, [4, 2, 1]), 6480);
        let error = Operands::new(RuleSet::None, [2, 3, 1]).err().unwrap();
        assert_eq!(error, "with.operands: found 2, expected 3 to 4");
    }
}
