//! Every small request: all shapes up to a rank and a length, with the attributes of a rule set.
//!
//! Operand `place` contains the numbers 1, 2, 3, … shifted by 17 · `place` bits, so that each element of a
//! sum or a difference shows which element of each operand was read, and every value is exact in f64. Other
//! dtypes have fewer bits per operand, so that numbers repeat in long operands, and the first operand has the
//! largest numbers, so that a difference is not negative.

use super::space::{
    AXES, Extent, arrangements, axes, choices, dimensions_count, distinct_dimensions, each_dimensions, flags,
    flags_count, increasing_dimensions, signed,
};
use super::{adjoint, stages};
use crate::retype::{data, integers};
use broadcheck_spec::{
    Capabilities, DType, Expression, Function, Operand, Operation, OperationKind, Request, RuleSet, Rules,
    Shape,
};

/// The largest number of elements per operand that keeps all values apart and exact.
pub const MAX_ELEMENTS: u128 = 1 << 16;

/// The requests of one operation under one rule set, for every pair of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests {
    /// The rule set.
    pub rules: RuleSet,
    /// What is done to the shapes.
    pub template: Template,
    /// Which attributes each pair of shapes gets.
    pub attributes: Attributes,
    /// Whether a pair of shapes is visited in one order only.
    pub unordered: bool,
}

/// What is done to a pair of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// `a - b`.
    Difference,
    /// `(a + b) + c`, where c has every shape.
    Sum,
    /// The gradient of the sum of `a · b` by a.
    Gradient,
    /// An operand of the first shape broadcast to the second.
    Broadcast,
}

/// Which attributes a pair of shapes gets: one request for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// The defaults.
    Default,
    /// Every `axis`.
    EveryAxis,
    /// Every `broadcast_dimensions`, invalid ones included.
    EveryDimensions,
    /// At equal ranks `broadcast_dimensions` absent, empty, and the identity; otherwise nothing.
    EqualRanks,
    /// For a target, every `broadcast_dimensions`, invalid ones included.
    EveryTargetDimensions,
    /// For a target, all lists of distinct axes, one per axis of the operand, in any order.
    DistinctAxes,
    /// The last axes of the higher operand as `broadcast_dimensions`.
    LastAxes,
    /// At different ranks all strictly increasing `broadcast_dimensions`; otherwise nothing.
    Increasing,
    /// No `broadcast_dimensions`, and those of `Increasing`.
    AbsentOrIncreasing,
    /// Every pattern of flags, invalid ones included.
    EveryFlags,
    /// No flags, and every pattern.
    AbsentOrEveryFlags,
    /// Exactly the axes of length 1 flagged.
    OnesFlagged,
}

/// Every request of every rule set. `numpy`, `xla`, `leading` and `repeat` have two operations:
/// `elementwise`, and `broadcast` of the first shape to the second.
pub const REQUESTS: [Requests; 12] = [
    Requests::new(RuleSet::None, Template::Difference, Attributes::Default),
    Requests::new(RuleSet::Numpy, Template::Difference, Attributes::Default),
    Requests::new(RuleSet::Numpy, Template::Broadcast, Attributes::Default),
    Requests::new(RuleSet::Pdpd, Template::Difference, Attributes::EveryAxis),
    Requests::new(RuleSet::Bidirectional, Template::Broadcast, Attributes::Default),
    Requests::new(RuleSet::Xla, Template::Difference, Attributes::EveryDimensions),
    Requests::new(RuleSet::Xla, Template::Broadcast, Attributes::EveryTargetDimensions),
    Requests::new(RuleSet::Theano, Template::Difference, Attributes::AbsentOrEveryFlags),
    Requests::new(RuleSet::Leading, Template::Difference, Attributes::Default),
    Requests::new(RuleSet::Leading, Template::Broadcast, Attributes::Default),
    Requests::new(RuleSet::Repeat, Template::Difference, Attributes::Default),
    Requests::new(RuleSet::Repeat, Template::Broadcast, Attributes::Default),
];

impl Requests {
    /// Requests for every ordered pair of shapes.
    pub const fn new(rules: RuleSet, template: Template, attributes: Attributes) -> Requests {
        Requests { rules, template, attributes, unordered: false }
    }

    /// Requests for every unordered pair of shapes.
    pub(super) const fn unordered(rules: RuleSet, attributes: Attributes) -> Requests {
        Requests { rules, template: Template::Difference, attributes, unordered: true }
    }

    /// The operation.
    pub fn operation(&self) -> OperationKind {
        match self.template {
            Template::Difference | Template::Sum => OperationKind::Elementwise,
            Template::Gradient => OperationKind::Gradient,
            Template::Broadcast => OperationKind::Broadcast,
        }
    }

    /// The functions of the expressions.
    pub(super) fn functions(&self) -> &'static [Function] {
        match self.template {
            Template::Difference => &[Function::Subtract],
            Template::Sum => &[Function::Add],
            Template::Gradient => &[Function::Multiply],
            Template::Broadcast => &[],
        }
    }

    /// Checks that capabilities cover requests of some ranks within these bounds. Other ranks may be outside
    /// of them.
    ///
    /// # Errors
    /// The first thing that is not declared.
    pub fn covered_by(&self, capabilities: &Capabilities, extent: &Extent) -> Result<(), String> {
        self.covered_in(DType::F64, capabilities, extent)
    }

    /// The same in another dtype.
    pub(super) fn covered_in(
        &self,
        dtype: DType,
        capabilities: &Capabilities,
        extent: &Extent,
    ) -> Result<(), String> {
        if !capabilities.rules.contains(&self.rules) {
            return Err(format!("no rule set {}", self.rules));
        }
        if !capabilities.operations.contains(&self.operation()) {
            return Err(format!("no {}", self.operation()));
        }
        has_all(capabilities, self.functions().iter().copied(), dtype)?;
        let mut first = None;
        // Capabilities limit ranks. They limit lengths only by the size of a result.
        let shapes: Vec<Shape> = (0..=extent.max_rank).map(|rank| Shape::new(vec![1; rank])).collect();
        for one in &shapes {
            for other in shapes.iter().filter(|other| self.attributes.count(one.rank(), other.rank()) > 0) {
                match capabilities.covers(&self.without_attributes(dtype, [one, other])) {
                    Ok(()) => return Ok(()),
                    Err(reason) => first.get_or_insert(reason),
                };
            }
        }
        Err(first.unwrap_or_else(|| "no such request within these bounds".into()))
    }

    /// The request of two shapes with default attributes. A third operand has the second shape.
    fn without_attributes(&self, dtype: DType, [one, other]: [&Shape; 2]) -> Request {
        let rules = Rules::from(self.rules);
        let operands = |count: usize| -> Vec<Operand> {
            let shapes = [one, other, other].into_iter().take(count).enumerate();
            shapes.map(|(place, shape)| operand_in(dtype, shape, place, count)).collect()
        };
        let operation = match self.template {
            Template::Broadcast => return broadcast(rules, operand_in(dtype, one, 0, 1), other),
            Template::Sum => return elementwise(rules, stages::sum_of(3), operands(3)),
            Template::Difference => Operation::Elementwise { expression: of(Function::Subtract, 0, 1) },
            Template::Gradient => Operation::Gradient { expression: adjoint::product_of(2), wrt: 0 },
        };
        Request::new(rules, operation, operands(2)).expect("a well-formed request")
    }

    /// The number of requests within these bounds, by arithmetic.
    pub fn count(&self, extent: &Extent) -> u128 {
        self.weighted_count(extent, |_| 1)
    }

    /// The same, with each request weighted by a function of the highest rank of the first two shapes.
    pub(super) fn weighted_count(&self, extent: &Extent, weight: impl Fn(usize) -> u128) -> u128 {
        let of = |one: usize, other: usize| {
            self.attributes.count(one, other).saturating_mul(weight(one.max(other)))
        };
        let pairs =
            if self.unordered { extent.sum_over_unordered_pairs(of) } else { extent.sum_over_pairs(of) };
        match self.template {
            Template::Sum => pairs.saturating_mul(extent.shape_count()),
            Template::Difference | Template::Gradient | Template::Broadcast => pairs,
        }
    }

    /// Visits the requests whose first two shapes are at these places in `shapes`. Calling this for all
    /// ordered pairs of places visits every request exactly once.
    pub fn each(&self, shapes: &[Shape], first: usize, second: usize, visit: &mut dyn FnMut(&Request)) {
        self.each_in(DType::F64, shapes, first, second, visit);
    }

    /// The same in another dtype.
    pub(super) fn each_in(
        &self,
        dtype: DType,
        shapes: &[Shape],
        first: usize,
        second: usize,
        visit: &mut dyn FnMut(&Request),
    ) {
        if self.unordered && first > second {
            return;
        }
        let (one, other) = (&shapes[first], &shapes[second]);
        match self.template {
            Template::Difference | Template::Gradient | Template::Broadcast => {
                let ranks = [one.rank(), other.rank()];
                if self.attributes.count(ranks[0], ranks[1]) > 0 {
                    let request = self.without_attributes(dtype, [one, other]);
                    self.attributes.each(Reused(Some(request)), ranks, visit);
                }
            }
            Template::Sum => {
                let pair = [operand_in(dtype, one, 0, 3), operand_in(dtype, other, 1, 3)];
                for third in shapes {
                    let operands = pair.iter().cloned().chain([operand_in(dtype, third, 2, 3)]).collect();
                    visit(&elementwise(self.rules.into(), stages::sum_of(3), operands));
                }
            }
        }
    }
}

impl Attributes {
    /// How many there are for operands of these ranks.
    fn count(self, one: usize, other: usize) -> u128 {
        match self {
            Attributes::Default | Attributes::LastAxes | Attributes::OnesFlagged => 1,
            Attributes::EveryAxis => AXES,
            Attributes::EveryDimensions => dimensions_count(one.min(other), one.max(other)),
            Attributes::EveryTargetDimensions => dimensions_count(one, other),
            Attributes::DistinctAxes => arrangements(one, other),
            Attributes::EqualRanks if one != other => 0,
            // At rank 0 the identity is the empty list.
            Attributes::EqualRanks if one == 0 => 2,
            Attributes::EqualRanks => 3,
            Attributes::Increasing if one == other => 0,
            Attributes::Increasing => choices(one, other),
            Attributes::AbsentOrIncreasing => Attributes::Increasing.count(one, other).saturating_add(1),
            Attributes::EveryFlags => flags_count(one, other),
            Attributes::AbsentOrEveryFlags => flags_count(one, other).saturating_add(1),
        }
    }

    fn each(self, mut request: Reused, [one, other]: [usize; 2], visit: &mut dyn FnMut(&Request)) {
        let xla = |list: Option<Vec<i64>>| Rules::Xla { broadcast_dimensions: list };
        match self {
            Attributes::Default => visit(request.get()),
            Attributes::EveryAxis => axes().for_each(|axis| visit(request.with_rules(Rules::Pdpd { axis }))),
            Attributes::EveryDimensions | Attributes::EveryTargetDimensions => {
                let targeted = self == Attributes::EveryTargetDimensions;
                let (own, onto) = if targeted { (one, other) } else { (one.min(other), one.max(other)) };
                each_dimensions(own, onto, |list| {
                    visit(request.with_rules(xla(list.map(<[i64]>::to_vec))));
                });
            }
            Attributes::DistinctAxes => {
                let lists = distinct_dimensions(one, other).into_iter();
                lists.for_each(|list| visit(request.with_rules(xla(Some(list)))));
            }
            Attributes::EqualRanks => {
                let mut lists = vec![None, Some(Vec::new()), Some((0..signed(one)).collect())];
                lists.dedup();
                lists.into_iter().for_each(|list| visit(request.with_rules(xla(list))));
            }
            Attributes::LastAxes => {
                let (low, high) = (signed(one.min(other)), signed(one.max(other)));
                visit(request.with_rules(xla(Some((high - low..high).collect()))));
            }
            Attributes::Increasing | Attributes::AbsentOrIncreasing => {
                if self == Attributes::AbsentOrIncreasing {
                    visit(request.get());
                }
                if one != other {
                    let lists = increasing_dimensions(one, other).into_iter();
                    lists.for_each(|list| visit(request.with_rules(xla(Some(list)))));
                }
            }
            Attributes::EveryFlags | Attributes::AbsentOrEveryFlags => {
                if self == Attributes::AbsentOrEveryFlags {
                    visit(request.get());
                }
                for left in flags(one) {
                    request.flag(0, &left);
                    flags(other).for_each(|right| visit(request.flag(1, &right)));
                }
            }
            Attributes::OnesFlagged => {
                for place in 0..2 {
                    let shape = request.get().operands()[place].shape();
                    let ones: Vec<bool> = shape.iter().map(|&length| length == 1).collect();
                    request.flag(place, &ones);
                }
                visit(request.get());
            }
        }
    }
}

/// Checks that capabilities contain a dtype, and functions of it.
///
/// # Errors
/// The first thing that is not declared.
pub(super) fn has_all(
    capabilities: &Capabilities,
    mut functions: impl Iterator<Item = Function>,
    dtype: DType,
) -> Result<(), String> {
    if !capabilities.dtypes.contains(&dtype) {
        return Err(format!("no {dtype}"));
    }
    match functions.find(|&function| !capabilities.has(function, dtype)) {
        Some(function) if capabilities.functions.contains(&function) => {
            Err(format!("no {function} of {dtype}"))
        }
        Some(function) => Err(format!("no {function}")),
        None => Ok(()),
    }
}

/// A request that is rebuilt with other attributes from the same operands, because a pair of shapes has
/// thousands.
struct Reused(Option<Request>);

impl Reused {
    fn get(&self) -> &Request {
        self.0.as_ref().expect("put back after every change")
    }

    fn with_rules(&mut self, rules: Rules) -> &Request {
        let (_, operation, operands) = self.0.take().expect("put back after every change").into_parts();
        self.0.insert(Request::new(rules, operation, operands).expect("a well-formed request"))
    }

    fn flag(&mut self, place: usize, flags: &[bool]) -> &Request {
        let (rules, operation, mut operands) =
            self.0.take().expect("put back after every change").into_parts();
        let operand = operands.remove(place);
        operands.insert(place, flagged(operand, flags));
        self.0.insert(Request::new(rules, operation, operands).expect("a well-formed request"))
    }
}

/// The elements of the operand at `place`, row-major.
#[allow(clippy::cast_precision_loss, reason = "small integers")]
fn values(shape: &[usize], place: usize) -> Vec<f64> {
    let count: usize = shape.iter().product();
    (1..=count).map(|number| (number << (17 * place)) as f64).collect()
}

/// The dense operand at `place` of `operands`. Under another dtype than f64, its elements are distinct as far
/// as there is room for a result of all operands.
fn operand_in(dtype: DType, shape: &Shape, place: usize, operands: usize) -> Operand {
    if dtype == DType::F64 {
        return operand(shape, place);
    }
    let (_, largest) = integers(dtype);
    let bits = largest.ilog2().min(30) / u32::try_from(operands).expect("at most three");
    let shift = bits * u32::try_from(operands - 1 - place).expect("at most two");
    let count: usize = shape.iter().product();
    let numbers = (1..1i64 << bits).cycle().take(count).map(|number| number << shift);
    Operand::dense(NAMES[place], shape.clone(), data(dtype, numbers)).expect("one value per element")
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// The dense operand at `place`, all elements distinct from each other and from the other operands'.
pub fn operand(shape: &Shape, place: usize) -> Operand {
    dense(shape.clone(), values(shape, place), place)
}

/// A dense operand of these values: `a`, `b` or `c` by its place.
///
/// # Panics
/// If there is not one value per element.
pub fn dense(shape: Shape, values: Vec<f64>, place: usize) -> Operand {
    Operand::dense(NAMES[place], shape, values).expect("one value per element")
}

/// An operand with flags.
///
/// # Panics
/// If there is not one flag per axis.
pub fn flagged(operand: Operand, flags: &[bool]) -> Operand {
    operand.with_broadcastable(flags.to_vec()).expect("one flag per axis")
}

/// A function of two operands, by their places.
///
/// # Panics
/// If the function does not take two arguments.
pub fn of(function: Function, left: usize, right: usize) -> Expression {
    let arguments = [Expression::operand(left), Expression::operand(right)];
    Expression::call(function, arguments).expect("a function of two arguments")
}

/// `elementwise` over these operands.
///
/// # Panics
/// For parts that make no request.
pub fn elementwise(rules: Rules, expression: Expression, operands: Vec<Operand>) -> Request {
    Request::new(rules, Operation::Elementwise { expression }, operands).expect("a well-formed request")
}

/// The first operand minus the second.
///
/// # Panics
/// For parts that make no request.
pub fn difference(rules: Rules, operands: Vec<Operand>) -> Request {
    elementwise(rules, of(Function::Subtract, 0, 1), operands)
}

/// `broadcast` of an operand to a shape.
///
/// # Panics
/// For parts that make no request.
pub fn broadcast(rules: Rules, operand: Operand, target: &Shape) -> Request {
    let operation = Operation::Broadcast { target_shape: target.clone() };
    Request::new(rules, operation, vec![operand]).expect("a well-formed request")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_elements_has_a_unique_difference() {
        let (a, b) = (values(&[9, 9], 0), values(&[9, 9], 1));
        let mut all: Vec<i64> = Vec::new();
        for left in &a {
            #[allow(clippy::cast_possible_truncation, reason = "small integers")]
            all.extend(b.iter().map(|right| (left - right) as i64));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 81 * 81);
    }

    #[test]
    fn every_counted_request_is_visited() {
        for extent in [Extent::new(0, 0), Extent::new(2, 2), Extent::new(3, 1)] {
            let shapes = extent.shapes();
            for requests in REQUESTS {
                let mut visited = 0u128;
                for first in 0..shapes.len() {
                    for second in 0..shapes.len() {
                        requests.each(&shapes, first, second, &mut |request| {
                            assert_eq!(request.rules().set(), requests.rules);
                            assert_eq!(request.operation().kind(), requests.operation());
                            visited += 1;
                        });
                    }
                }
                assert_eq!(visited, requests.count(&extent), "{requests:?} over {extent}");
            }
        }
    }
}
