//! Requests of few calls over two long axes, in which an operand is transposed, or stretched along rows or
//! along a short inner axis. Libraries compute such layouts in ways of their own.

use super::choices::Choices;
use super::draw::{mix, name};
use super::expressions::{BINARY, COMPARISONS, LOGIC, STEPS_OF_FLOATS, UNARY, call};
use super::profile::{Profile, RuleOperation};
use super::shapes::{Skeleton, flags};
use super::values::values;
use super::views::{Layout, fitted};
use broadcheck_spec::{
    DType, Expression, Function, Operand, Operation, OperationKind, Request, RuleSet, Shape,
};

/// The shortest long axis, the least length at which engines transpose block by block, and the longest one.
const SHORTEST: usize = 16;
const BLOCK: usize = 64;
const LONGEST: usize = 160;

/// The most elements of a result, and the least limit of a profile for which results are drawn.
const MOST: usize = 1 << 15;
const LEAST: usize = 1 << 14;

/// How the operands lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The columns of one operand are contiguous.
    Transposed,
    /// The last axis is short, and one operand is stretched along it or along all others.
    Short,
    /// All operands but one are stretched along rows or columns.
    Rows,
}

const KINDS: [Kind; 6] =
    [Kind::Transposed, Kind::Short, Kind::Rows, Kind::Short, Kind::Transposed, Kind::Short];

/// Whether there is room for such a request in a profile.
pub(super) fn fit(profile: &Profile) -> bool {
    profile.max_elements >= LEAST && profile.max_rank >= 2 && profile.limits.least_rank <= 2
}

/// Draws such a request, mostly an elementwise one. It is accepted: each operand has every axis of the
/// result, and the first one is whole if the rules ask for that.
pub(super) fn request(choices: &mut dyn Choices, profile: &Profile, drawn: RuleOperation) -> Request {
    let (set, operation) = rule_operation(choices, profile, drawn);
    let kind = choices.one_of(&KINDS);
    let result = lengths(choices, kind, profile);
    let dtype = dtype(choices, profile, operation);
    let calls = match kind {
        Kind::Transposed | Kind::Short => choices.one_of(&[1, 1, 1, 1, 1, 1, 2, 3]),
        Kind::Rows => choices.one_of(&[2, 2, 3, 1]),
    };
    let calls = calls.min(profile.max_calls);
    let functions = Callable::of(profile, dtype);
    let count = if operation == OperationKind::Broadcast || functions.binary.is_empty() {
        1
    } else {
        let most = if matches!(set, RuleSet::Pdpd | RuleSet::Xla | RuleSet::Repeat) { 2 } else { usize::MAX };
        (calls + 1).min(most).min(profile.limits.max_operands)
    };
    let (mut shapes, mut layouts) = (vec![result.clone(); count], vec![None; count]);
    let special = choices.index(count);
    let whole = (special + 1) % count;
    for place in 0..count {
        if place != special && (kind != Kind::Rows || place == whole) {
            continue;
        }
        if kind == Kind::Transposed {
            layouts[place] = profile.strided.then(|| transposed(choices, &result));
            continue;
        }
        let along = stretched(choices, kind, result.len());
        if set == RuleSet::None || profile.strided && choices.chance(1, 4) {
            layouts[place] = profile.strided.then(|| repeated(choices, &result, &along));
        } else {
            along.iter().for_each(|&axis| shapes[place][axis] = 1);
        }
    }
    if matches!(set, RuleSet::Pdpd | RuleSet::Repeat) && count == 2 && shapes[0] != result {
        shapes.swap(0, 1);
        layouts.swap(0, 1);
    }
    let skeleton = skeleton(choices, (set, operation), shapes, result);
    let is_gradient = operation == OperationKind::Gradient;
    let operands = operands(choices, profile, &skeleton, dtype, layouts);
    let operation = match operation {
        OperationKind::Broadcast => Operation::Broadcast { target_shape: Shape::from(&skeleton.target[..]) },
        OperationKind::Elementwise | OperationKind::Gradient => {
            let expression = functions.expression(choices, count, calls, !is_gradient);
            let wrt = choices.index(count);
            if is_gradient {
                Operation::Gradient { expression, wrt }
            } else {
                Operation::Elementwise { expression }
            }
        }
    };
    Request::new(skeleton.rules(), operation, operands).expect("what is drawn is well-formed")
}

/// The one that was drawn, or mostly one with elementwise operations.
fn rule_operation(choices: &mut dyn Choices, profile: &Profile, drawn: RuleOperation) -> RuleOperation {
    let of_calls: Vec<RuleOperation> = profile
        .rule_operations
        .iter()
        .copied()
        .filter(|(_, operation)| *operation == OperationKind::Elementwise)
        .collect();
    if of_calls.is_empty() || choices.chance(1, 4) { drawn } else { choices.one_of(&of_calls) }
}

/// The shape of the result: two long axes, or one or two with a short one inside; rarely with an outer axis.
fn lengths(choices: &mut dyn Choices, kind: Kind, profile: &Profile) -> Vec<usize> {
    let may_be_three = profile.max_rank >= 3;
    let (outer, inner) = match kind {
        Kind::Short => (None, Some(choices.in_range(2, 4))),
        Kind::Transposed | Kind::Rows => {
            ((may_be_three && choices.chance(1, 8)).then(|| choices.in_range(2, 3)), None)
        }
    };
    let mut left = profile.max_elements.min(MOST) / outer.or(inner).unwrap_or(1);
    let mut long = |room: usize| {
        let least = if choices.chance(1, 4) { SHORTEST } else { BLOCK };
        let length = choices.in_range(least, LONGEST.min(left / room));
        left /= length;
        length
    };
    let first = long(BLOCK);
    let second = if inner.is_some() && !may_be_three { None } else { Some(long(1)) };
    [outer, Some(first), second, inner].into_iter().flatten().collect()
}

/// The dtype of all operands: mostly a float, and one that is computed in itself.
fn dtype(choices: &mut dyn Choices, profile: &Profile, operation: OperationKind) -> DType {
    let all = profile.dtypes();
    let floats: Vec<DType> = all.iter().copied().filter(|dtype| dtype.is_float()).collect();
    let wide: Vec<DType> =
        all.iter().copied().filter(|dtype| matches!(dtype, DType::F64 | DType::F32)).collect();
    let lists = [&wide[..], &wide, &floats, if operation == OperationKind::Gradient { &floats } else { all }];
    match choices.one_of(&lists) {
        [] => choices.one_of(all),
        some => choices.one_of(some),
    }
}

/// The axes along which an operand is stretched.
fn stretched(choices: &mut dyn Choices, kind: Kind, rank: usize) -> Vec<usize> {
    match (kind, choices.chance(1, 2)) {
        (_, false) => vec![rank - 1],
        (Kind::Short, true) => (0..rank - 1).collect(),
        (Kind::Transposed | Kind::Rows, true) => vec![rank - 2],
    }
}

/// A view whose last two axes are exchanged in memory, or all of them.
fn transposed(choices: &mut dyn Choices, shape: &[usize]) -> Layout {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if choices.chance(1, 4) {
        order.reverse();
    } else {
        order.swap(shape.len() - 2, shape.len() - 1);
    }
    let gap = choices.one_of(&[0, 0, 1, 3]);
    let strides = strides(shape, order.into_iter().rev(), gap);
    fitted(choices, shape, strides)
}

/// A view of the shape of the result that reads the same elements along these axes.
fn repeated(choices: &mut dyn Choices, shape: &[usize], along: &[usize]) -> Layout {
    let others = (0..shape.len()).rev().filter(|axis| !along.contains(axis));
    let strides = strides(shape, others, 0);
    fitted(choices, shape, strides)
}

/// The strides of axes that are listed from the innermost one on, with a gap after it; 0 for all others.
fn strides(shape: &[usize], innermost_first: impl Iterator<Item = usize>, gap: usize) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let (mut step, mut gap) = (1, gap);
    for axis in innermost_first {
        strides[axis] = i64::try_from(step).unwrap_or(0);
        step *= shape[axis] + std::mem::take(&mut gap);
    }
    strides
}

fn skeleton(
    choices: &mut dyn Choices,
    (set, operation): RuleOperation,
    shapes: Vec<Vec<usize>>,
    result: Vec<usize>,
) -> Skeleton {
    let is_broadcast = operation == OperationKind::Broadcast;
    let flags = if set == RuleSet::Theano { flags(choices, &shapes) } else { vec![None; shapes.len()] };
    let dimensions = (set == RuleSet::Xla && is_broadcast)
        .then(|| (0..result.len()).map(|axis| i64::try_from(axis).unwrap_or(0)).collect());
    let target = if is_broadcast { result } else { Vec::new() };
    Skeleton { set, operation, shapes, flags, axis: None, dimensions, target }
}

fn operands(
    choices: &mut dyn Choices,
    profile: &Profile,
    skeleton: &Skeleton,
    dtype: DType,
    layouts: Vec<Option<Layout>>,
) -> Vec<Operand> {
    let count = skeleton.shapes.len();
    let mix = mix(profile, skeleton.operation == OperationKind::Gradient);
    let mut operands = Vec::with_capacity(count);
    for (place, layout) in layouts.into_iter().enumerate() {
        let (shape, name) = (Shape::from(&skeleton.shapes[place][..]), name(place));
        let length = layout.as_ref().map_or_else(|| shape.count().unwrap_or(0), |layout| layout.length);
        let values = profile.without_flushed(values(choices, dtype, length, (place, count), mix));
        let operand = match layout {
            Some(layout) => Operand::view(name, shape, values, Some(layout.strides), layout.offset),
            None => Operand::dense(name, shape, values),
        };
        let operand = operand.expect("a buffer as long as the view needs");
        operands.push(match &skeleton.flags[place] {
            Some(flags) => operand.with_broadcastable(flags.clone()).expect("one flag per axis"),
            None => operand,
        });
    }
    operands
}

/// The functions that a profile may call with arguments of a dtype.
struct Callable {
    unary: Vec<Function>,
    binary: Vec<Function>,
    comparisons: Vec<Function>,
}

impl Callable {
    fn of(profile: &Profile, dtype: DType) -> Callable {
        let callable = |functions: &[Function]| -> Vec<Function> {
            functions.iter().copied().filter(|&function| profile.functions.has(function, dtype)).collect()
        };
        if dtype == DType::Bool {
            let (unary, binary) = (callable(&[Function::LogicalNot]), callable(&LOGIC));
            return Callable { unary, binary, comparisons: Vec::new() };
        }
        Callable {
            unary: callable(&UNARY),
            binary: callable(if dtype.is_float() { &STEPS_OF_FLOATS } else { &BINARY }),
            comparisons: callable(&COMPARISONS),
        }
    }

    /// The operands, one after the other, each the argument of a binary function; if there are fewer than the
    /// calls, unary functions of some of them.
    fn expression(&self, choices: &mut dyn Choices, count: usize, calls: usize, compare: bool) -> Expression {
        let mut left = (calls + 1).saturating_sub(count);
        let mut one = |choices: &mut dyn Choices, argument: Expression| {
            if left == 0 || self.unary.is_empty() || choices.chance(1, 2) {
                return argument;
            }
            left -= 1;
            call(choices.one_of(&self.unary), [argument])
        };
        let mut last = one(choices, Expression::operand(0));
        for place in 1..count {
            let other = one(choices, Expression::operand(place));
            let is_root = place + 1 == count;
            let compares = compare && is_root && !self.comparisons.is_empty() && choices.chance(1, 8);
            let function = choices.one_of(if compares { &self.comparisons } else { &self.binary });
            last = call(function, if choices.chance(1, 2) { [other, last] } else { [last, other] });
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Seeded;
    use broadcheck_reference::align;
    use broadcheck_spec::{Capabilities, write};

    /// So many requests of each operation of a profile.
    fn drawn(profile: &Profile, each: usize) -> Vec<Request> {
        let mut choices = Seeded::new(1);
        let pairs: Vec<RuleOperation> = profile.rule_operations.repeat(each);
        pairs.into_iter().map(|pair| request(&mut choices, profile, pair)).collect()
    }

    #[test]
    fn all_are_accepted_and_have_long_axes() {
        for request in drawn(&Profile::all(), 20) {
            let text = || write::request_to_yaml(&request);
            let shape = align(&request).unwrap_or_else(|refusal| panic!("{refusal:?}\n{}", text())).shape;
            assert!(matches!(shape.rank(), 2 | 3) && shape.count().unwrap() <= MOST, "{shape:?}\n{}", text());
            let calls = request.operation().expression().map_or(0, |expression| expression.calls().count());
            assert!(calls <= 3 && shape.iter().any(|&length| length >= SHORTEST), "{}", text());
        }
    }

    #[test]
    fn operands_lie_in_each_way() {
        let requests = drawn(&Profile::all(), 20);
        // Of one request in fifty at least.
        let is_drawn = |lies: fn(&Operand) -> bool| {
            let count = requests.iter().filter(|request| request.operands().iter().any(lies)).count();
            50 * count >= requests.len()
        };
        assert!(is_drawn(|operand| matches!(operand.strides(), Some([.., 1, 2..=i64::MAX]))), "transposed");
        assert!(
            is_drawn(|operand| matches!(operand.shape()[..], [.., SHORTEST..=LONGEST, 1])),
            "stretched along rows"
        );
        assert!(
            is_drawn(|operand| matches!(operand.shape()[..], [.., 1, SHORTEST..=LONGEST])),
            "stretched across"
        );
        assert!(is_drawn(|operand| matches!(operand.shape()[..], [1, 1, 2..=4])), "a short row");
        assert!(is_drawn(|operand| matches!(operand.strides(), Some([.., 0] | [.., 0, 1]))), "repeated");
    }

    #[test]
    fn the_limits_of_a_profile_are_kept() {
        let all = Capabilities::all();
        for able in [
            Capabilities { strided: false, ..all.clone() },
            Capabilities { max_operands: Some(1), ..all.clone() },
            Capabilities { max_rank: Some(2), max_calls: Some(1), ..all.clone() },
            Capabilities { dtypes: vec![DType::Bool, DType::I8], ..all.clone() },
            Capabilities { functions: vec![Function::Negate], ..all.clone() },
            Capabilities { functions: Vec::new(), unused_operands: false, ..all },
        ] {
            let profile = Profile::within(&able);
            for request in drawn(&profile, 4) {
                assert!(profile.covers(&request), "{}", write::request_to_yaml(&request));
            }
        }
    }
}
