//! Draws a request: a skeleton that is accepted, faults that make it refused, dtypes, an expression, values.

use super::choices::Choices;
use super::destinations::destined;
use super::expressions::{Builder, MAX_LEAVES, dtypes, with_every_operand};
use super::faults::{self, Fault};
use super::lengths::{Size, size};
use super::planes;
use super::profile::{Profile, RuleOperation};
use super::shapes::{Skeleton, accepted};
use super::values::{ValueMix, values};
use super::views::layout;
use broadcheck_reference::{align, result_dtype};
use broadcheck_spec::{DType, Expression, Operand, Operation, OperationKind, Request, RuleSet, Shape};

/// How many requests are drawn before giving up on one within the capabilities of a profile.
const MOST_DRAWS: usize = 64;

/// Draws a request. It is always well-formed; the rule set decides whether it is accepted.
///
/// Most of what a profile excludes is never drawn. A request that is outside its capabilities all the same is
/// drawn again.
pub fn request(choices: &mut dyn Choices, profile: &Profile) -> Request {
    for _ in 0..MOST_DRAWS {
        let request = drawn(choices, profile);
        if profile.covers(&request) {
            return request;
        }
    }
    profile.plain_request().unwrap_or_else(|| drawn(choices, profile))
}

fn drawn(choices: &mut dyn Choices, profile: &Profile) -> Request {
    let rule_operation = choices.one_of(&profile.rule_operations);
    let size = size(choices, profile.max_elements, profile.large);
    let request = if size.planes && planes::fit(profile) {
        planes::request(choices, profile, rule_operation)
    } else {
        mixed(choices, profile, rule_operation, size)
    };
    let kind = request.operation().kind();
    let differentiable =
        kind == OperationKind::Gradient || profile.draws_gradients() && kind == OperationKind::Broadcast;
    if profile.cotangent && differentiable && choices.chance(1, 3) {
        return weighted(choices, profile, &request).unwrap_or(request);
    }
    if profile.into && request.rules().set() == RuleSet::Numpy && choices.chance(1, 6) {
        return destined(choices, profile, &request).unwrap_or(request);
    }
    request
}

/// A request of any shapes, which may be refused.
fn mixed(choices: &mut dyn Choices, profile: &Profile, rule_operation: RuleOperation, size: Size) -> Request {
    let faults = faults::drawn(choices, profile, rule_operation);
    let least = faults::least_rank(&faults).max(profile.limits.least_rank);
    let mut skeleton = accepted(choices, rule_operation, (least, profile.max_rank), size, profile.limits);
    faults::in_skeleton(choices, &mut skeleton, &faults, profile);
    let gradient = rule_operation.1 == OperationKind::Gradient;
    let mut dtypes = dtypes(choices, &profile.dtypes, skeleton.shapes.len(), gradient);
    let operation = operation(choices, profile, &skeleton, &mut dtypes, &faults);
    let operands = operands(choices, profile, &mut skeleton, &dtypes, mix(profile, gradient));
    Request::new(skeleton.rules(), operation, operands).expect("what is drawn is well-formed")
}

/// The values of operands.
pub(super) fn mix(profile: &Profile, gradient: bool) -> ValueMix {
    match (profile.plain_values, gradient) {
        (true, _) => ValueMix::Counters,
        (false, true) => ValueMix::Summable,
        (false, false) => ValueMix::Any,
    }
}

/// The largest cotangent that is drawn, in elements.
const MOST_WEIGHTS: usize = 1 << 18;

/// The gradient of the request with a cotangent (clause GRAD-4), which mostly fits.
fn weighted(choices: &mut dyn Choices, profile: &Profile, request: &Request) -> Option<Request> {
    let (rules, operation, operands) = request.clone().into_parts();
    let (expression, wrt, target_shape) = match operation {
        Operation::Gradient { expression, wrt } => (expression, wrt, None),
        Operation::Broadcast { target_shape } => (Expression::operand(0), 0, Some(target_shape)),
        Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Vjp { .. } => return None,
    };
    let result = align(request).map_or_else(|_| operands[0].shape().clone(), |alignment| alignment.shape);
    let mut lengths = result.to_vec();
    if choices.chance(1, 12) {
        match lengths.get_mut(choices.index(result.rank() + 1)) {
            Some(length) => *length = if *length == 2 { 3 } else { 2 },
            None => lengths.push(1),
        }
    }
    let shape = Shape::new(lengths);
    let count = shape.count().filter(|&count| count <= MOST_WEIGHTS)?;
    let dtypes: Vec<DType> = operands.iter().map(Operand::dtype).collect();
    let dtype = result_dtype(&expression, &dtypes).ok()?;
    let place = (operands.len(), operands.len() + 1);
    let cotangent = if profile.strided && choices.chance(1, 4) {
        let layout = layout(choices, &shape);
        let values = values(choices, dtype, layout.length, place, ValueMix::Summable);
        let values = profile.without_flushed(values);
        Operand::view("weights", shape, values, Some(layout.strides), layout.offset)
    } else {
        let values = profile.without_flushed(values(choices, dtype, count, place, ValueMix::Summable));
        Operand::dense("weights", shape, values)
    };
    let cotangent = Box::new(cotangent.ok()?);
    Request::new(rules, Operation::Vjp { expression, wrt, target_shape, cotangent }, operands).ok()
}

pub(super) fn operation(
    choices: &mut dyn Choices,
    profile: &Profile,
    skeleton: &Skeleton,
    dtypes: &mut [DType],
    faults: &[Fault],
) -> Operation {
    if skeleton.operation == OperationKind::Broadcast {
        return Operation::Broadcast { target_shape: Shape::from(&skeleton.target[..]) };
    }
    let gradient = skeleton.operation == OperationKind::Gradient;
    let floats: Vec<usize> = (0..dtypes.len()).filter(|&place| dtypes[place].is_float()).collect();
    let wrt = if gradient && !floats.is_empty() { choices.one_of(&floats) } else { 0 };
    let mut expression =
        Builder::new(choices, &profile.functions, profile.max_calls, dtypes, gradient.then_some(wrt))
            .expression();
    // No expression that is drawn has as many leaves.
    if !profile.unused || dtypes.len() > MAX_LEAVES {
        expression = with_every_operand(expression, &profile.functions, dtypes);
    }
    let (expression, wrt): (Expression, usize) =
        faults::in_types(choices, profile, expression, wrt, gradient, dtypes, faults);
    if gradient { Operation::Gradient { expression, wrt } } else { Operation::Elementwise { expression } }
}

fn operands(
    choices: &mut dyn Choices,
    profile: &Profile,
    skeleton: &mut Skeleton,
    dtypes: &[DType],
    mix: ValueMix,
) -> Vec<Operand> {
    let count = skeleton.shapes.len();
    let views = profile.strided && choices.chance(1, 3);
    let mut operands = Vec::with_capacity(count);
    for (place, &dtype) in dtypes.iter().enumerate() {
        let shape = Shape::new(std::mem::take(&mut skeleton.shapes[place]));
        let is_huge = !shape.contains(&0) && shape.count().is_none_or(|count| count > 1 << 20);
        let name = name(place);
        let operand = if is_huge || views && choices.chance(3, 4) {
            let layout = layout(choices, &shape);
            let values = values(choices, dtype, layout.length, (place, count), mix);
            let values = profile.without_flushed(values);
            Operand::view(name, shape, values, Some(layout.strides), layout.offset)
        } else {
            let values = values(choices, dtype, shape.count().unwrap_or(0), (place, count), mix);
            let values = profile.without_flushed(values);
            Operand::dense(name, shape, values)
        };
        let operand = operand.expect("a buffer as long as the view needs");
        operands.push(match skeleton.flags[place].take() {
            Some(flags) => operand.with_broadcastable(flags).expect("one flag per axis"),
            None => operand,
        });
    }
    operands
}

/// `a`, `b`, `c`, …
pub(super) fn name(place: usize) -> String {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    match LETTERS.get(place..place + 1) {
        Some(letter) => letter.to_owned(),
        None => format!("x{place}"),
    }
}
