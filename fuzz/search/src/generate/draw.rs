//! A request from choices: a frame that is accepted, faults that make it refused, dtypes, an expression, values.

use super::choices::Choices;
use super::expressions::{Builder, dtypes, with_every_operand};
use super::faults::{self, Fault};
use super::lengths::size;
use super::profile::Profile;
use super::shapes::{Frame, accepted};
use super::values::{Temper, values};
use super::views::layout;
use broadcheck_spec::{DType, Expression, Operand, Operation, OperationKind, Request, Shape};

/// Draws a request. It is well-formed, whatever is chosen; whether it is accepted is for the rule set to say.
pub fn request(choices: &mut dyn Choices, profile: &Profile) -> Request {
    let family = choices.one_of(&profile.families);
    let size = size(choices, profile.max_elements, profile.large);
    let faults = faults::drawn(choices, profile, family);
    let mut frame = accepted(choices, family, (faults::least_rank(&faults), profile.max_rank), size);
    faults::in_frame(choices, &mut frame, &faults, profile);
    let gradient = family.1 == OperationKind::Gradient;
    let mut dtypes = dtypes(choices, &profile.dtypes, frame.shapes.len(), gradient);
    let operation = operation(choices, profile, &frame, &mut dtypes, &faults);
    let temper = match (profile.plain_values, gradient) {
        (true, _) => Temper::Plain,
        (false, true) => Temper::Tame,
        (false, false) => Temper::Wild,
    };
    let operands = operands(choices, profile, &mut frame, &dtypes, temper);
    Request::new(frame.rules(), operation, operands).expect("what is drawn is well-formed")
}

fn operation(
    choices: &mut dyn Choices,
    profile: &Profile,
    frame: &Frame,
    dtypes: &mut [DType],
    faults: &[Fault],
) -> Operation {
    if frame.operation == OperationKind::Broadcast {
        return Operation::Broadcast { target_shape: Shape::from(&frame.target[..]) };
    }
    let gradient = frame.operation == OperationKind::Gradient;
    let floats: Vec<usize> = (0..dtypes.len()).filter(|&place| dtypes[place].is_float()).collect();
    let wrt = if gradient && !floats.is_empty() { choices.one_of(&floats) } else { 0 };
    let mut expression =
        Builder::new(choices, profile.functions, dtypes, gradient.then_some(wrt)).expression();
    if !profile.unused {
        expression = with_every_operand(expression, profile.functions, dtypes);
    }
    let (expression, wrt): (Expression, usize) =
        faults::in_types(choices, profile, expression, wrt, gradient, dtypes, faults);
    if gradient { Operation::Gradient { expression, wrt } } else { Operation::Elementwise { expression } }
}

fn operands(
    choices: &mut dyn Choices,
    profile: &Profile,
    frame: &mut Frame,
    dtypes: &[DType],
    temper: Temper,
) -> Vec<Operand> {
    let count = frame.shapes.len();
    let views = profile.strided && choices.chance(1, 3);
    let mut operands = Vec::with_capacity(count);
    for (place, &dtype) in dtypes.iter().enumerate() {
        let shape = Shape::new(std::mem::take(&mut frame.shapes[place]));
        let is_huge = !shape.contains(&0) && shape.count().is_none_or(|count| count > 1 << 20);
        let name = name(place);
        let operand = if is_huge || views && choices.chance(3, 4) {
            let layout = layout(choices, &shape);
            let values = values(choices, dtype, layout.length, (place, count), temper);
            Operand::view(name, shape, values, Some(layout.strides), layout.offset)
        } else {
            let values = values(choices, dtype, shape.count().unwrap_or(0), (place, count), temper);
            Operand::dense(name, shape, values)
        };
        let operand = operand.expect("a buffer as long as the view needs");
        operands.push(match frame.flags[place].take() {
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
