//! Views at sizes where kernels change: transposed matrices, permuted axes, every alignment, and operands
//! that read equal buffers in different ways.
//!
//! Most views of the cases have a few elements. Here they are larger than the blocks and tiles of kernels,
//! and no multiple of them, in dtypes of 1, 2, 4 and 8 bytes, with a dense and with a stretched partner.
//!
//! The expected values are computed by arithmetic, not by an engine. Element k of each buffer is a residue of
//! k modulo a prime, and the expression is the difference, for pdpd the sum. Each operand has a stride for
//! every axis of the result, 0 where it is stretched. So element i of the result is computed from the
//! elements at `offset` + Σ i_k · stride_k of the buffers.

use super::long::{RequestAndResult, case, elementwise, fold, tensor};
use super::part::Part;
use super::reversed::{operands, reversed};
use super::sums::sums;
use crate::retype::data;
use broadcheck_spec::{
    Case, DType, Expression, Function, Operand, Operation, Request, RuleSet, Rules, Shape, Sweep,
};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// A kind of views.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Transposed matrices. The size is the number of rows.
    Transposed,
    /// Axes in another order. The size is the rank.
    Permuted,
    /// Every alignment of a vector. The size is the length.
    Offsets,
    /// Operands that read equal buffers in different ways. The size is the number of rows.
    EqualBuffers,
    /// Negative strides. The size is the length.
    Reversed,
    /// Offsets of several operands. The size is their number.
    Operands,
    /// Sums of a gradient. The size is the number of contributions.
    Sums,
}

/// The size of the widest vectors, in bytes.
const VECTOR: usize = 64;

/// The names of the sweeps, each with its rule set and kind.
static NAMES: LazyLock<Vec<(String, RuleSet, Kind)>> = LazyLock::new(|| {
    let kinds = [
        ("transposed", Kind::Transposed),
        ("permuted", Kind::Permuted),
        ("offsets", Kind::Offsets),
        ("equal-buffers", Kind::EqualBuffers),
        ("reversed", Kind::Reversed),
        ("view-operands", Kind::Operands),
        ("sums", Kind::Sums),
    ];
    let all = RuleSet::ALL.into_iter().flat_map(|rules| kinds.map(|(name, kind)| (name, rules, kind)));
    let all = all.filter(|&(_, rules, kind)| kind.is_for(rules));
    all.map(|(name, rules, kind)| (format!("{rules}-{name}"), rules, kind)).collect()
});

/// The names of the sweeps.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, ..)| name.as_str())
}

/// The rule set and kind of a sweep; `None` for the name of another sweep.
pub(super) fn named(name: &str) -> Option<(RuleSet, Kind)> {
    NAMES.iter().find(|(known, ..)| known == name).map(|&(_, rules, kind)| (rules, kind))
}

/// All views of one kind with these sizes.
pub(super) struct Views {
    rules: RuleSet,
    kind: Kind,
    sizes: RangeInclusive<usize>,
}

/// A request with its result, not made yet.
pub(super) struct Arrangement {
    pub(super) name: String,
    pub(super) make: Box<dyn FnOnce() -> RequestAndResult>,
}

impl Arrangement {
    pub(super) fn new(name: String, make: impl FnOnce() -> RequestAndResult + 'static) -> Arrangement {
        Arrangement { name, make: Box::new(make) }
    }
}

impl Kind {
    /// Whether the views are possible under a rule set.
    fn is_for(self, rules: RuleSet) -> bool {
        match (rules, self) {
            (RuleSet::Bidirectional, _) => false,
            // Two operands at most; no stretched axis to sum over.
            (RuleSet::Pdpd | RuleSet::Xla | RuleSet::Repeat, kind) => kind != Kind::Operands,
            (RuleSet::None, kind) => kind != Kind::Sums,
            (RuleSet::Numpy | RuleSet::Theano | RuleSet::Leading, _) => true,
        }
    }

    /// The supported sizes.
    fn limits(self) -> RangeInclusive<usize> {
        match self {
            Kind::Reversed => 2..=512,
            Kind::Operands => 3..=32,
            Kind::Sums => 2..=4096,
            Kind::Transposed | Kind::EqualBuffers => 2..=512,
            Kind::Permuted => 3..=12,
            Kind::Offsets => 1..=128,
        }
    }
}

impl Views {
    pub(super) fn new(rules: RuleSet, kind: Kind, from: usize, to: usize) -> Result<Views, String> {
        let limits = kind.limits();
        for (key, value) in [("from", from), ("to", to)] {
            if !limits.contains(&value) {
                let (least, most) = (limits.start(), limits.end());
                return Err(format!("with.{key}: found {value}, expected {least} to {most}"));
            }
        }
        if from > to {
            return Err(format!("with.to: found {to}, expected {from} or more, as `from` is"));
        }
        Ok(Views { rules, kind, sizes: from..=to })
    }

    pub(super) fn count(&self) -> u128 {
        self.arrangements().count() as u128
    }

    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        let case = |Arrangement { name, make }: Arrangement| case(sweep, &name, make());
        part.of(self.arrangements()).map(case).collect()
    }

    fn arrangements(&self) -> impl Iterator<Item = Arrangement> {
        let arrangements = match self.kind {
            Kind::Transposed => transposed,
            Kind::Permuted => permuted,
            Kind::Offsets => offsets,
            Kind::EqualBuffers => equal_buffers,
            Kind::Reversed => reversed,
            Kind::Operands => operands,
            Kind::Sums => sums,
        };
        let rules = self.rules;
        self.sizes.clone().flat_map(move |size| {
            arrangements(rules, size)
                .into_iter()
                .map(move |Arrangement { name, make }| Arrangement { name: format!("{size}-{name}"), make })
        })
    }
}

/// Matrices whose rows are adjacent in memory, with a dense partner in each dtype, and with one other partner
/// in turn.
fn transposed(rules: RuleSet, rows: usize) -> Vec<Arrangement> {
    // Both lengths are beyond 32, and their remainders differ.
    let columns = if rows < 71 { 103 - rows } else { rows / 2 + 3 };
    let shape = vec![rows, columns];
    let view = || Side::view(&[rows, columns], &[1, signed(rows)], 0);
    let mut all = Vec::new();
    for (place, dtype) in dtypes(rules).into_iter().enumerate() {
        let partner = |stretched: &[bool]| Side::dense(rules, &[rows, columns], stretched);
        let pair = |name: &str, partner: Side| {
            let (view, shape) = (view(), shape.clone());
            Arrangement::new(format!("{name}-{dtype}"), move || {
                computed(rules, dtype, &view, &partner, &shape)
            })
        };
        all.push(pair("dense", partner(&[false, false])));
        let mut others = vec![pair("both", Side::view(&[rows, columns], &[1, signed(rows) + 1], 0)), {
            let view = view();
            Arrangement::new(format!("alone-{dtype}"), move || copied(rules, dtype, &view))
        }];
        if rules != RuleSet::None {
            others.push(pair("row", partner(&[true, false])));
            others.push(pair("column", partner(&[false, true])));
            if dtype.is_float() {
                for (name, stretched) in [("row", [true, false]), ("column", [false, true])] {
                    for by in [0, 1] {
                        let (view, partner) = (view(), partner(&stretched));
                        let shape = shape.clone();
                        let make = move || gradient(rules, dtype, &view, &partner, &shape, by);
                        others.push(Arrangement::new(
                            format!("gradient-{name}-{}-{dtype}", ["view", "partner"][by]),
                            make,
                        ));
                    }
                }
            }
        }
        let chosen = (rows + place) % others.len();
        all.push(others.swap_remove(chosen));
    }
    all
}

/// Axes in another order: for rank 3 and 4 every order that is not its own inverse; for higher ranks, orders
/// in which no two axes can be merged, and the usual order with gaps between the rows of every axis.
fn permuted(rules: RuleSet, rank: usize) -> Vec<Arrangement> {
    let shape: Vec<usize> = match rank {
        3 => vec![7, 17, 35],
        4 => vec![3, 5, 9, 19],
        // At most 3^3 · 2^(rank - 3) elements.
        _ => (0..rank).map(|axis| if axis % 3 == 1 && axis < 9 { 3 } else { 2 }).collect(),
    };
    let orders: Vec<Vec<usize>> = match rank {
        3 | 4 => orders(rank).into_iter().filter(|order| !is_own_inverse(order)).collect(),
        _ => {
            let (evens, odds) = ((0..rank).step_by(2), (1..rank).step_by(2));
            let half = rank.div_ceil(2);
            let shuffled = (0..rank).map(|axis| if axis % 2 == 0 { axis / 2 } else { half + axis / 2 });
            vec![(0..rank).rev().collect(), evens.chain(odds).collect(), shuffled.collect()]
        }
    };
    let mut views: Vec<(String, Vec<i64>)> = orders
        .iter()
        .map(|order| {
            (order.iter().map(|axis| format!("{axis:x}")).collect(), strides_in_order(&shape, order))
        })
        .collect();
    if rank > 4 {
        views.push(("gaps".to_owned(), strides_with_gaps(&shape)));
    }
    let every_other: Vec<bool> = (0..rank).map(|axis| (rank - axis).is_multiple_of(2)).collect();
    let mut all = Vec::new();
    for (name, strides) in views {
        for dtype in dtypes(rules) {
            let view = || Side::view(&shape, &strides, 0);
            let mut pair = |kind: &str, stretched: &[bool]| {
                let (view, partner) = (view(), Side::dense(rules, &shape, stretched));
                let shape = shape.clone();
                let make = move || computed(rules, dtype, &view, &partner, &shape);
                all.push(Arrangement::new(format!("{kind}-{name}-{dtype}"), make));
            };
            pair("dense", &vec![false; rank]);
            if rules == RuleSet::None {
                continue;
            }
            pair("stretched", &every_other);
            if dtype == DType::F64 {
                for by in [0, 1] {
                    let (view, partner) = (view(), Side::dense(rules, &shape, &every_other));
                    let shape = shape.clone();
                    let make = move || gradient(rules, dtype, &view, &partner, &shape, by);
                    all.push(Arrangement::new(format!("gradient-{}-{name}", ["view", "partner"][by]), make));
                }
            }
        }
    }
    all
}

/// Vectors that begin at every alignment, and matrices whose rows begin at every alignment: of each dtype, as
/// far as the length is at most two vectors.
fn offsets(rules: RuleSet, length: usize) -> Vec<Arrangement> {
    let mut all = Vec::new();
    for dtype in dtypes(rules) {
        let lanes = VECTOR / bytes(dtype);
        if length > 2 * lanes {
            continue;
        }
        // 5 and 3 have no factor in common with the number of lanes: over all lengths, every offset occurs.
        let vectors = move || {
            let first = Side::view(&[length], &[1], (5 * length + 3) % lanes);
            let second = Side::view(&[length], &[1], (3 * length + 1) % lanes);
            computed(rules, dtype, &first, &second, &[length])
        };
        all.push(Arrangement::new(format!("vectors-{dtype}"), vectors));
        // Rows that are an odd number of elements apart begin at every alignment.
        let (near, far) = (length + 1 + length % 2, length + 3 + length % 2);
        let rows = move || {
            let first = Side::view(&[lanes, length], &[signed(near), 1], 0);
            let second = match length % 3 {
                0 => Side::dense(rules, &[lanes, length], &[false, false]),
                1 if rules != RuleSet::None => Side::dense(rules, &[lanes, length], &[true, false]),
                _ => Side::view(&[lanes, length], &[signed(far), 1], 1),
            };
            computed(rules, dtype, &first, &second, &[lanes, length])
        };
        all.push(Arrangement::new(format!("rows-{dtype}"), rows));
    }
    all
}

/// Square matrices, and the same buffer read in another way.
fn equal_buffers(rules: RuleSet, rows: usize) -> Vec<Arrangement> {
    let shape = [rows, rows];
    let across = signed(rows);
    let others = [
        ("transposed", [1, across], 0),
        ("reversed", [-across, -1], rows * rows - 1),
        ("rows-reversed", [across, -1], rows - 1),
        ("one-row-later", [across, 1], rows),
        ("one-row", [0, 1], 0),
    ];
    let mut all = Vec::new();
    for dtype in [DType::F64, DType::F32, DType::I16, DType::I8] {
        for (name, strides, offset) in others {
            let make = move || {
                let side = |strides: &[i64], offset| Side {
                    length: rows * (rows + 1),
                    ..Side::view(&shape, strides, offset)
                };
                from_equal_buffers(rules, dtype, [side(&[across, 1], 0), side(&strides, offset)], &shape)
            };
            all.push(Arrangement::new(format!("{name}-{dtype}"), make));
        }
    }
    all
}

/// The dtypes of 1, 2, 4 and 8 bytes.
pub(super) fn dtypes(rules: RuleSet) -> [DType; 4] {
    // A sum of two u8 that differ enough would wrap.
    let byte = if rules == RuleSet::Pdpd { DType::I8 } else { DType::U8 };
    [DType::F64, DType::F32, DType::I16, byte]
}

pub(super) fn bytes(dtype: DType) -> usize {
    match dtype {
        DType::F64 | DType::I64 | DType::U64 => 8,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
        DType::I8 | DType::U8 | DType::Bool => 1,
    }
}

/// How an operand reads its buffer.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) shape: Vec<usize>,
    /// The strides of a view; `None` for a dense operand.
    strides: Option<Vec<i64>>,
    offset: usize,
    /// The stride for each axis of the result.
    read: Vec<i64>,
    /// theano: the flags, if any is true.
    pub(super) flags: Option<Vec<bool>>,
    /// pdpd: the axis, if it is not the last possible one.
    axis: Option<i64>,
    /// The length of the buffer.
    pub(super) length: usize,
}

impl Side {
    /// A view of the shape of the result.
    pub(super) fn view(shape: &[usize], strides: &[i64], offset: usize) -> Side {
        Side {
            shape: shape.to_vec(),
            strides: Some(strides.to_vec()),
            offset,
            read: strides.to_vec(),
            flags: None,
            axis: None,
            length: reach(shape, strides, offset),
        }
    }

    /// A dense operand that is stretched along some of the axes of the result.
    pub(super) fn dense(rules: RuleSet, result: &[usize], stretched: &[bool]) -> Side {
        let own = |axis: usize| if stretched[axis] { 1 } else { result[axis] };
        let mut shape: Vec<usize> = (0..result.len()).map(own).collect();
        let read = strides_in_order(&shape, &(0..shape.len()).collect::<Vec<_>>());
        let read =
            read.iter().zip(stretched).map(|(&stride, &is_one)| if is_one { 0 } else { stride }).collect();
        let length = shape.iter().product();
        let (mut flags, mut axis) = (None, None);
        match rules {
            RuleSet::Theano if stretched.contains(&true) => flags = Some(stretched.to_vec()),
            // Without its ones on the right, which pdpd drops and some systems do not.
            RuleSet::Pdpd if stretched.last() == Some(&true) => {
                shape.truncate(stretched.iter().rposition(|&is_one| !is_one).map_or(0, |last| last + 1));
                axis = Some(0);
            }
            // Without its ones on the left.
            RuleSet::Numpy | RuleSet::Repeat => {
                let ones = stretched.iter().take_while(|&&is_one| is_one).count();
                shape.drain(..ones);
            }
            // Without its ones on the right.
            RuleSet::Leading => {
                shape.truncate(stretched.iter().rposition(|&is_one| !is_one).map_or(0, |last| last + 1));
            }
            RuleSet::None | RuleSet::Pdpd | RuleSet::Bidirectional | RuleSet::Xla | RuleSet::Theano => {}
        }
        Side { shape, strides: None, offset: 0, read, flags, axis, length }
    }

    /// The operand, where element k of the buffer is `number(k)`.
    pub(super) fn operand(&self, name: &str, dtype: DType, number: impl Fn(usize) -> i64) -> Operand {
        let values = data(dtype, (0..self.length).map(number));
        let shape = Shape::from(self.shape.as_slice());
        let operand = match &self.strides {
            Some(strides) => Operand::view(name, shape, values, Some(strides.clone()), self.offset),
            None => Operand::dense(name, shape, values),
        };
        let operand = operand.expect("a view inside");
        match &self.flags {
            Some(flags) => operand.with_broadcastable(flags.clone()).expect("one flag per axis"),
            None => operand,
        }
    }

    /// The place in the buffer of each element of the result, row by row.
    pub(super) fn places(&self, result: &[usize]) -> Vec<usize> {
        let mut places = vec![signed(self.offset)];
        for (&length, &stride) in result.iter().zip(&self.read) {
            let steps = move |place: i64| (0..length).map(move |step| place + signed(step) * stride);
            places = places.into_iter().flat_map(steps).collect();
        }
        places.into_iter().map(|place| usize::try_from(place).expect("inside the buffer")).collect()
    }
}

/// The number of elements up to the last one that a view reads.
fn reach(shape: &[usize], strides: &[i64], offset: usize) -> usize {
    let steps = shape
        .iter()
        .zip(strides)
        .map(|(&length, &stride)| (length - 1) * usize::try_from(stride).unwrap_or(0));
    offset + steps.sum::<usize>() + 1
}

pub(super) fn signed(number: usize) -> i64 {
    i64::try_from(number).expect("small")
}

/// Element k of the first buffer: no two near each other are equal.
fn left(dtype: DType, rules: RuleSet, k: usize) -> i64 {
    match bytes(dtype) {
        1 if rules == RuleSet::Pdpd => signed(k % 61),
        1 => 128 + signed(k % 127),
        2 => signed(k % 16_381),
        _ => signed(k % 4093) + 1,
    }
}

/// Element k of the second buffer.
fn right(dtype: DType, rules: RuleSet, k: usize) -> i64 {
    match bytes(dtype) {
        1 if rules == RuleSet::Pdpd => signed(k % 59),
        1 => signed(k % 113),
        2 => signed(k % 16_369) - 16_384,
        // The sum and the difference fit into 24 bits.
        _ => (signed(k % 2039) + 1) * 4096,
    }
}

/// The function of two operands, and its value for two elements.
pub(super) fn function(rules: RuleSet) -> (Function, fn(i64, i64) -> i64) {
    match rules {
        // Systems have their own rules for subtraction there.
        RuleSet::Pdpd => (Function::Add, |a, b| a + b),
        RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Bidirectional
        | RuleSet::Xla
        | RuleSet::Theano
        | RuleSet::Leading
        | RuleSet::Repeat => (Function::Subtract, |a, b| a - b),
    }
}

pub(super) fn rules_for(rules: RuleSet, partner: &Side) -> Rules {
    match partner.axis {
        Some(axis) => Rules::Pdpd { axis: Some(axis) },
        None => Rules::from(rules),
    }
}

pub(super) fn computed(
    rules: RuleSet,
    dtype: DType,
    first: &Side,
    second: &Side,
    shape: &[usize],
) -> RequestAndResult {
    let (function, value) = function(rules);
    let places = first.places(shape).into_iter().zip(second.places(shape));
    let result = places.map(|(a, b)| value(left(dtype, rules, a), right(dtype, rules, b)));
    let values = data(dtype, result);
    let operands = vec![
        first.operand("a", dtype, |k| left(dtype, rules, k)),
        second.operand("b", dtype, |k| right(dtype, rules, k)),
    ];
    elementwise(rules_for(rules, second), fold(function, 2), operands, shape, values)
}

/// Both operands have the same values in their buffers. They are small: nothing wraps in one byte.
fn from_equal_buffers(rules: RuleSet, dtype: DType, sides: [Side; 2], shape: &[usize]) -> RequestAndResult {
    let (function, value) = function(rules);
    let number = |k: usize| signed(k % if bytes(dtype) == 1 { 61 } else { 4093 });
    let [first, second] = sides;
    let places = first.places(shape).into_iter().zip(second.places(shape));
    let values = data(dtype, places.map(|(a, b)| value(number(a), number(b))));
    let operands = vec![first.operand("a", dtype, number), second.operand("b", dtype, number)];
    elementwise(Rules::from(rules), fold(function, 2), operands, shape, values)
}

/// The view itself.
fn copied(rules: RuleSet, dtype: DType, view: &Side) -> RequestAndResult {
    let shape = view.shape.clone();
    let values = data(dtype, view.places(&shape).into_iter().map(|k| left(dtype, rules, k)));
    let operands = vec![view.operand("a", dtype, |k| left(dtype, rules, k))];
    elementwise(Rules::from(rules), Expression::operand(0), operands, &shape, values)
}

/// The gradient of the sum of a · b by one of them: at each of its elements, the sum of what it is multiplied
/// by.
pub(super) fn gradient(
    rules: RuleSet,
    dtype: DType,
    view: &Side,
    partner: &Side,
    shape: &[usize],
    by: usize,
) -> RequestAndResult {
    let sides = [view, partner];
    let numbers = |place: usize, k: usize| signed(k % [1009, 503][place]) + 1;
    let others = sides[1 - by].places(shape).into_iter().map(|k| numbers(1 - by, k));
    // The row-major place in the operand that each element of the result reads.
    let wrt = sides[by];
    let logical = if by == 0 { (0..others.len()).collect() } else { wrt.places(shape) };
    let mut sums = vec![0; wrt.shape.iter().product()];
    for (place, other) in logical.into_iter().zip(others) {
        sums[place] += other;
    }
    let operands =
        vec![view.operand("a", dtype, |k| numbers(0, k)), partner.operand("b", dtype, |k| numbers(1, k))];
    let operation = Operation::Gradient { expression: fold(Function::Multiply, 2), wrt: by };
    let request =
        Request::new(rules_for(rules, partner), operation, operands).expect("a well-formed request");
    (request, tensor(&wrt.shape, data(dtype, sums)))
}

/// The strides of a dense buffer whose axes are in this order: axis `order[0]` is the outermost.
fn strides_in_order(shape: &[usize], order: &[usize]) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for &axis in order.iter().rev() {
        strides[axis] = signed(step);
        step *= shape[axis];
    }
    strides
}

/// Row-major strides with one unused element after each row of each axis.
fn strides_with_gaps(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for (stride, &length) in strides.iter_mut().zip(shape).rev() {
        *stride = signed(step);
        step = step * length + 1;
    }
    strides
}

/// Every order of the axes.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    let longer = |order: Vec<usize>| {
        let rest: Vec<usize> = (0..rank).filter(|axis| !order.contains(axis)).collect();
        rest.into_iter().map(move |axis| order.iter().copied().chain([axis]).collect())
    };
    (0..rank).fold(vec![Vec::new()], |orders, _| orders.into_iter().flat_map(longer).collect())
}

fn is_own_inverse(order: &[usize]) -> bool {
    order.iter().enumerate().all(|(place, &axis)| order[axis] == place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Data, Tensor};

    fn arranged(rules: RuleSet, kind: Kind, size: usize, name: &str) -> RequestAndResult {
        let views = Views::new(rules, kind, size, size).unwrap();
        let name = format!("{size}-{name}");
        let names: Vec<String> = views.arrangements().map(|arrangement| arrangement.name).collect();
        let found = views.arrangements().find(|arrangement| arrangement.name == name);
        (found.unwrap_or_else(|| panic!("{name}: {names:?}")).make)()
    }

    fn i8s(shape: &[usize], values: Vec<i8>) -> Tensor {
        Tensor::new(Shape::from(shape), values).unwrap()
    }

    #[test]
    fn arrangements_by_hand() {
        // The buffer is 0 to 5; as rows, 0 1 and 2 3.
        let both = |name: &str| arranged(RuleSet::Numpy, Kind::EqualBuffers, 2, &format!("{name}-i8")).1;
        assert_eq!(both("transposed"), i8s(&[2, 2], vec![0, -1, 1, 0]));
        assert_eq!(both("reversed"), i8s(&[2, 2], vec![-3, -1, 1, 3]));
        assert_eq!(both("one-row-later"), i8s(&[2, 2], vec![-2; 4]));
        assert_eq!(both("one-row"), i8s(&[2, 2], vec![0, 0, 2, 2]));
        // 5 + 3 is 0 modulo 8 lanes, and 3 + 1 is 4.
        let (request, result) = arranged(RuleSet::Numpy, Kind::Offsets, 1, "vectors-f64");
        assert_eq!((request.operands()[0].offset(), request.operands()[1].offset()), (0, 4));
        assert_eq!(*result.values(), Data::from(vec![1.0 - 5.0 * 4096.0]));
        // Row r of the matrix begins at element r of the buffer, and its columns are 33 apart.
        let (_, result) = arranged(RuleSet::None, Kind::Transposed, 33, "dense-f64");
        let Data::F64(values) = result.values() else { panic!("f64") };
        assert_eq!(values[..2], [1.0 - 4096.0, 34.0 - 2.0 * 4096.0]);
        // Axis 1 is the outermost, then 2, then 0.
        let (request, _) = arranged(RuleSet::Numpy, Kind::Permuted, 3, "dense-120-f32");
        assert_eq!(request.operands()[0].strides(), Some(&[1, 245, 7][..]));
    }

    #[test]
    fn every_offset_occurs() {
        for dtype in dtypes(RuleSet::Numpy) {
            let lanes = VECTOR / bytes(dtype);
            let offset = |length| {
                let (request, _) =
                    arranged(RuleSet::Numpy, Kind::Offsets, length, &format!("vectors-{dtype}"));
                request.operands()[0].offset()
            };
            let mut offsets: Vec<usize> = (1..=2 * lanes).map(offset).collect();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets, (0..lanes).collect::<Vec<_>>());
        }
    }

    #[test]
    fn limits_are_named() {
        let refused = |from, to| Views::new(RuleSet::Xla, Kind::Permuted, from, to).err().unwrap();
        assert_eq!(refused(2, 3), "with.from: found 2, expected 3 to 12");
        assert_eq!(refused(3, 13), "with.to: found 13, expected 3 to 12");
        assert_eq!(refused(5, 4), "with.to: found 4, expected 5 or more, as `from` is");
    }
}
