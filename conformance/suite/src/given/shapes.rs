//! The same expression with operands of other shapes, for a request that is asked between two others.

use broadcheck_spec::{Data, Operand, Operation, Request, Scalar, Shape};

/// Operands of more values than this are not made.
const MOST_VALUES: usize = 1 << 12;

/// The length of the longest axis of a request whose operands could be given other shapes: more than 1.
pub fn longest_axis(request: &Request) -> Option<usize> {
    if request.cotangent().is_some() {
        // The cotangent has the result's shape, which would have to be found first.
        return None;
    }
    let shapes = request.operands().iter().map(Operand::shape).chain(request.operation().target_shape());
    let longest = shapes.flat_map(|shape| shape.iter().copied()).filter(|&length| length < MOST_VALUES).max();
    longest.filter(|&length| length > 1)
}

/// The request in which every axis of one length has another one: in every shape, or with `once` only in the
/// first shape that has such an axis. An operand that changes becomes dense, with its values over and over.
pub fn with_length(request: &Request, from: usize, to: usize, once: bool) -> Option<Request> {
    let mut left = if once { 1 } else { usize::MAX };
    let mut changed = |shape: &Shape| {
        let has = left > 0 && shape.contains(&from);
        left -= usize::from(has);
        let length = |&length: &usize| if has && length == from { to } else { length };
        Shape::new(shape.iter().map(length).collect())
    };
    let operands: Option<Vec<Operand>> =
        request.operands().iter().map(|operand| resized(operand, changed(operand.shape()))).collect();
    let operation = match request.operation() {
        Operation::Broadcast { target_shape } => Operation::Broadcast { target_shape: changed(target_shape) },
        other @ (Operation::Elementwise { .. }
        | Operation::Into { .. }
        | Operation::Gradient { .. }
        | Operation::Vjp { .. }) => other.clone(),
    };
    Request::new(request.rules().clone(), operation, operands?).ok()
}

/// A dense operand of another shape, whose values are the operand's over and over.
fn resized(operand: &Operand, shape: Shape) -> Option<Operand> {
    if *operand.shape() == shape {
        return Some(operand.clone());
    }
    let count = shape.count().filter(|&count| count <= MOST_VALUES)?;
    if count > 0 && operand.values().is_empty() {
        return None;
    }
    let given: Vec<Scalar> = operand.values().iter().collect();
    let values = given.iter().copied().cycle().take(count);
    let values = Data::from_scalars(operand.dtype(), values).ok()?;
    let resized = Operand::dense(operand.name(), shape, values).ok()?;
    let resized = match operand.broadcastable() {
        Some(flags) => resized.with_broadcastable(flags.to_vec()).ok()?,
        None => resized,
    };
    Some(resized.given_like(operand))
}
