//! Every small signature, family by family.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::{
    Asked, DType, Expression, Function, Length, OperandType, PartialShape, RuleSet, Rules, Signature,
};
use std::sync::Arc;

/// The shape of an operand, with its flags under `theano`.
pub(super) type Typed = (PartialShape, Option<Vec<bool>>);

/// What is computed of the operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One operand: `negate`.
    Negate,
    /// Two operands: `subtract`.
    Subtract,
    /// Two operands: `less`, whose result is bool.
    Less,
    /// Three operands: the sum.
    Sum,
    /// Three operands: `select`, whose condition is bool.
    Select,
    /// An operand and a target.
    Broadcast,
}

/// The signatures with these rules, of every combination of these shapes.
pub(super) struct Family {
    pub(super) rules: Rules,
    form: Form,
    shapes: Vec<Arc<Vec<Typed>>>,
}

impl Family {
    /// How many signatures there are.
    pub(super) fn count(&self) -> u128 {
        self.shapes.iter().map(|shapes| shapes.len() as u128).fold(1, u128::saturating_mul)
    }

    /// Visits every nth signature with this shape in the first place, starting at the one with the number
    /// `from`. Returns the number at which the next visit starts, counted from the end of this one.
    pub(super) fn each(
        &self,
        first: usize,
        from: usize,
        nth: usize,
        visit: &mut dyn FnMut(&Signature),
    ) -> usize {
        let others: usize = self.shapes[1..].iter().map(|shapes| shapes.len()).product();
        let mut number = from;
        while number < others {
            let mut rest = number;
            let mut chosen = vec![first; self.shapes.len()];
            for (place, shapes) in self.shapes.iter().enumerate().skip(1).rev() {
                chosen[place] = rest % shapes.len();
                rest /= shapes.len();
            }
            let typed: Vec<&Typed> =
                chosen.iter().zip(&self.shapes).map(|(&chosen, shapes)| &shapes[chosen]).collect();
            visit(&self.signature(&typed));
            number += nth;
        }
        number - others
    }

    /// The number of shapes in the first place.
    pub(super) fn firsts(&self) -> usize {
        self.shapes[0].len()
    }

    fn signature(&self, typed: &[&Typed]) -> Signature {
        let call = |function, arguments: &[usize]| {
            let arguments = arguments.iter().map(|&place| Expression::operand(place));
            Expression::call(function, arguments).expect("a known function with all of its arguments")
        };
        let (operands, asked) = match self.form {
            Form::Negate => (1, Asked::Expression(call(Function::Negate, &[0]))),
            Form::Subtract => (2, Asked::Expression(call(Function::Subtract, &[0, 1]))),
            Form::Less => (2, Asked::Expression(call(Function::Less, &[0, 1]))),
            Form::Sum => {
                let sum =
                    Expression::call(Function::Add, [call(Function::Add, &[0, 1]), Expression::operand(2)]);
                (3, Asked::Expression(sum.expect("a known function with all of its arguments")))
            }
            Form::Select => (3, Asked::Expression(call(Function::Select, &[0, 1, 2]))),
            Form::Broadcast => (1, Asked::TargetShape(typed[1].0.clone())),
        };
        let operand = |(place, (shape, flags)): (usize, &&Typed)| {
            let dtype = if self.form == Form::Select && place == 0 { DType::Bool } else { DType::F32 };
            let operand =
                OperandType::new(["a", "b", "c"][place], dtype, shape.clone()).expect("a valid name");
            match flags {
                Some(flags) => operand.with_broadcastable(flags.clone()).expect("a flag per axis"),
                None => operand,
            }
        };
        let operands = typed.iter().take(operands).enumerate().map(operand).collect();
        Signature::new(self.rules.clone(), asked, operands).expect("a signature that the rule set has")
    }
}

/// Every family up to a rank and a length. Pairs of shapes have the rank, and three operands, or lengths with
/// more bounds, have at most rank 1.
pub(super) fn families(max_rank: usize, max_length: usize, sets: &[RuleSet]) -> Vec<Family> {
    let all = Shapes {
        wide: shapes(max_rank, &lengths(max_length)),
        low: shapes(max_rank.min(1), &more_lengths(max_length)),
    };
    sets.iter().flat_map(|&set| all.families(set)).collect()
}

/// The shapes to combine.
struct Shapes {
    wide: Vec<PartialShape>,
    low: Vec<PartialShape>,
}

impl Shapes {
    fn families(&self, set: RuleSet) -> Vec<Family> {
        match set {
            RuleSet::None => self.of(Rules::None, false),
            RuleSet::Numpy => self.of(Rules::Numpy, true),
            RuleSet::Bidirectional => {
                let (wide, low) = (with_unknown_rank(&self.wide), with_unknown_rank(&self.low));
                let family = |shapes| family(Rules::Bidirectional, Form::Broadcast, [&wide, &low][shapes], 2);
                vec![family(0), family(1)]
            }
            RuleSet::Pdpd => self.pdpd(),
            RuleSet::Xla => self.xla(),
            RuleSet::Theano => self.theano(),
            RuleSet::Leading => self.of(Rules::Leading, true),
            // Three operands are refused for their number (clause G-5).
            RuleSet::Repeat => self.of(Rules::Repeat, true),
        }
    }

    fn of(&self, rules: Rules, broadcast: bool) -> Vec<Family> {
        let (wide, low) = (with_unknown_rank(&self.wide), with_unknown_rank(&self.low));
        let mut families = vec![
            family(rules.clone(), Form::Negate, &wide, 1),
            family(rules.clone(), Form::Subtract, &wide, 2),
            family(rules.clone(), Form::Less, &low, 2),
            family(rules.clone(), Form::Sum, &low, 3),
            family(rules.clone(), Form::Select, &low, 3),
        ];
        if broadcast {
            families.push(family(rules.clone(), Form::Broadcast, &wide, 2));
            families.push(family(rules, Form::Broadcast, &low, 2));
        }
        families
    }

    /// Axes from -2 to 3, and none given.
    fn pdpd(&self) -> Vec<Family> {
        let (wide, low) = (with_unknown_rank(&self.wide), with_unknown_rank(&self.low));
        let without = Rules::Pdpd { axis: None };
        // Three operands are refused for their number (clause G-5).
        let mut families =
            vec![family(without.clone(), Form::Negate, &wide, 1), family(without, Form::Sum, &low, 3)];
        for axis in std::iter::once(None).chain((-2..=3).map(Some)) {
            families.push(family(Rules::Pdpd { axis }, Form::Subtract, &wide, 2));
            families.push(family(Rules::Pdpd { axis }, Form::Less, &low, 2));
        }
        families
    }

    fn xla(&self) -> Vec<Family> {
        let without = Rules::Xla { broadcast_dimensions: None };
        let (wide, low) = (unflagged(&self.wide), unflagged(&self.low));
        let mut families =
            vec![family(without.clone(), Form::Negate, &wide, 1), family(without, Form::Sum, &low, 3)];
        for (form, shapes) in
            [(Form::Subtract, &wide), (Form::Less, &low), (Form::Broadcast, &wide), (Form::Broadcast, &low)]
        {
            let highest = shapes.iter().filter_map(|(shape, _)| shape.rank()).max().unwrap_or(0);
            let of_rank = |rank| -> Arc<Vec<Typed>> {
                Arc::new(shapes.iter().filter(|(shape, _)| shape.rank() == Some(rank)).cloned().collect())
            };
            let by_rank: Vec<Arc<Vec<Typed>>> = (0..=highest).map(of_rank).collect();
            for (one, left) in by_rank.iter().enumerate() {
                for (other, right) in by_rank.iter().enumerate() {
                    let (own, onto) =
                        if form == Form::Broadcast { (one, other) } else { (one.min(other), one.max(other)) };
                    for broadcast_dimensions in dimensions(own, onto) {
                        let rules = Rules::Xla { broadcast_dimensions };
                        families.push(Family { rules, form, shapes: vec![left.clone(), right.clone()] });
                    }
                }
            }
        }
        families
    }

    fn theano(&self) -> Vec<Family> {
        let flagged = |shapes: &[PartialShape]| -> Arc<Vec<Typed>> {
            let of_shape = |shape: &PartialShape| {
                let rank = shape.rank().unwrap_or(0);
                let flags = |bits: usize| (0..rank).map(|axis| bits >> axis & 1 == 1).collect();
                let of_bits = |bits| (shape.clone(), Some(flags(bits)));
                (0..1usize << rank).map(of_bits).collect::<Vec<Typed>>()
            };
            Arc::new(shapes.iter().flat_map(of_shape).collect())
        };
        let (wide, low, without) = (flagged(&self.wide), flagged(&self.low), unflagged(&self.low));
        vec![
            family(Rules::Theano, Form::Negate, &wide, 1),
            family(Rules::Theano, Form::Subtract, &wide, 2),
            family(Rules::Theano, Form::Less, &low, 2),
            family(Rules::Theano, Form::Less, &without, 2),
            family(Rules::Theano, Form::Sum, &low, 3),
            family(Rules::Theano, Form::Select, &low, 3),
        ]
    }
}

fn family(rules: Rules, form: Form, shapes: &Arc<Vec<Typed>>, places: usize) -> Family {
    Family { rules, form, shapes: vec![shapes.clone(); places] }
}

fn unflagged(shapes: &[PartialShape]) -> Arc<Vec<Typed>> {
    Arc::new(shapes.iter().map(|shape| (shape.clone(), None)).collect())
}

fn with_unknown_rank(shapes: &[PartialShape]) -> Arc<Vec<Typed>> {
    Arc::new(shapes.iter().chain([&PartialShape::Unranked]).map(|shape| (shape.clone(), None)).collect())
}

/// No list; the empty one; every increasing one; and one for each way to be refused.
fn dimensions(low: usize, high: usize) -> Vec<Option<Vec<i64>>> {
    let high = i64::try_from(high).expect("a small rank");
    let mut lists = vec![None, Some(Vec::new())];
    let all: Vec<i64> = (0..).take(low).collect();
    if all.last().is_some_and(|&last| last >= high) {
        // A target of a lower rank than the operand's. No list can be accepted.
        lists.push(Some(all));
        return lists;
    }
    let mut increasing: Vec<Vec<i64>> = vec![Vec::new()];
    for _ in 0..low {
        let longer = |list: &Vec<i64>| {
            let after = list.last().map_or(0, |last| last + 1);
            (after..high).map(|axis| list.iter().copied().chain([axis]).collect()).collect::<Vec<Vec<i64>>>()
        };
        increasing = increasing.iter().flat_map(longer).collect();
    }
    if low > 0 {
        let (first, last) = (increasing[0].clone(), increasing[increasing.len() - 1].clone());
        lists.extend(increasing.into_iter().map(Some));
        let changed = |mut list: Vec<i64>, place: usize, axis: i64| {
            list[place] = axis;
            Some(list)
        };
        lists.push(changed(first.clone(), 0, -1));
        lists.push(changed(last, low - 1, high));
        lists.push(Some(first.iter().copied().chain([high - 1]).collect()));
        if low > 1 {
            lists.push(Some(first.iter().copied().rev().collect()));
            lists.push(changed(first.clone(), 1, first[0]));
        }
    }
    lists
}

/// Every shape up to a rank with these lengths.
fn shapes(max_rank: usize, lengths: &[Length]) -> Vec<PartialShape> {
    let mut of_rank: Vec<Vec<Length>> = vec![Vec::new()];
    let mut all = of_rank.clone();
    for _ in 0..max_rank {
        let longer = |shape: &Vec<Length>| {
            lengths
                .iter()
                .map(|&length| shape.iter().copied().chain([length]).collect())
                .collect::<Vec<Vec<Length>>>()
        };
        of_rank = of_rank.iter().flat_map(longer).collect();
        all.extend_from_slice(&of_rank);
    }
    all.into_iter().map(PartialShape::Ranked).collect()
}

/// The numbers up to `max`, an unknown length, and bounds at `max` and below: for 3, `..2`, `1..3`, `2..3`
/// and `2..`.
pub(super) fn lengths(max: usize) -> Vec<Length> {
    let below = max.saturating_sub(1);
    let bounds = [(0, Some(below)), (1, Some(max)), (below, Some(max)), (below, None)];
    let numbers = (0..=max).map(Length::exactly);
    let mut lengths: Vec<Length> = numbers.chain([Length::UNKNOWN]).collect();
    add_bounds(&mut lengths, &bounds);
    lengths
}

/// These lengths, and bounds at 1: `..1`, `1..2` and `1..`.
fn more_lengths(max: usize) -> Vec<Length> {
    let mut lengths = lengths(max);
    add_bounds(&mut lengths, &[(0, Some(1)), (1, Some(2)), (1, None)]);
    lengths
}

/// Adds bounds that are neither a number nor there already.
fn add_bounds(lengths: &mut Vec<Length>, bounds: &[(usize, Option<usize>)]) {
    for length in bounds.iter().filter_map(|&(min, max)| Length::bounded(min, max)) {
        if length.number().is_none() && !lengths.contains(&length) {
            lengths.push(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(lengths: &[Length]) -> String {
        lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_lengths_are_numbers_and_bounds_near_the_largest() {
        assert_eq!(listed(&lengths(3)), "0 1 2 3 ? ..2 1..3 2..3 2..");
        assert_eq!(listed(&more_lengths(3)), "0 1 2 3 ? ..2 1..3 2..3 2.. ..1 1..2 1..");
        assert_eq!(listed(&lengths(1)), "0 1 ? ..1");
        assert_eq!(listed(&lengths(0)), "0 ?");
    }

    #[test]
    fn the_dimensions_are_all_valid_lists_and_one_of_each_kind_that_is_not() {
        assert_eq!(dimensions(0, 2), [None, Some(vec![])]);
        let lists = dimensions(2, 3);
        for list in [vec![0, 1], vec![0, 2], vec![1, 2], vec![-1, 1], vec![1, 3], vec![0, 1, 2], vec![1, 0]] {
            assert!(lists.contains(&Some(list.clone())), "{list:?}");
        }
    }

    #[test]
    fn a_family_is_visited_whole_or_every_nth() {
        let families = families(1, 1, &[RuleSet::Numpy]);
        for family in &families {
            let (mut whole, mut sample, mut from) = (0u128, 0u128, 0);
            for first in 0..family.firsts() {
                family.each(first, 0, 1, &mut |_| whole += 1);
                from = family.each(first, from, 7, &mut |_| sample += 1);
            }
            assert_eq!(whole, family.count());
            assert_eq!(sample, whole.div_ceil(7));
        }
    }
}
