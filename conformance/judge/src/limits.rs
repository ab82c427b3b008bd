//! The size of an answer, and whether it exceeds what an implementation declares (clause G-1).
//!
//! The suite, the protocol and the fuzzer all decide here whether an implementation may skip a request for
//! its size.

use crate::text::plural;
use broadcheck_reference::align;
use broadcheck_spec::{Capabilities, Expectation, Operation, RefusalKind, Request, Scalar, Shape};

/// The number of elements in the answer to a request, including those of an intermediate. 0 for a request
/// that must be refused: its answer has none, and a skip never replaces a refusal.
///
/// # Errors
/// The request is valid, but its result, the underlying result of a gradient, or its intermediate exceeds the
/// declared rank or number of elements; the text is the reason for skipping it, without details of the
/// request.
pub fn answer_elements(capabilities: &Capabilities, request: &Request) -> Result<usize, String> {
    elements_within(request, capabilities.max_rank, capabilities.max_elements)
}

/// [`answer_elements`] within these limits.
///
/// # Errors
/// As [`answer_elements`].
pub fn elements_within(
    request: &Request,
    max_rank: Option<usize>,
    max_elements: usize,
) -> Result<usize, String> {
    let Ok(alignment) = align(request) else { return Ok(0) };
    let mut shapes: Vec<&Shape> = vec![&alignment.shape];
    shapes.extend(&alignment.intermediate);
    if let Operation::Gradient { wrt, .. } = request.operation() {
        shapes.push(request.operands()[*wrt].shape());
    }
    let mut all = 0usize;
    for shape in shapes {
        if let Some(limit) = max_rank.filter(|&limit| shape.rank() > limit) {
            return Err(format!("no rank above {limit}"));
        }
        match shape.count() {
            Some(count) if count <= max_elements => all = all.saturating_add(count),
            _ => return Err(format!("no result of more than {}", plural(max_elements, "element"))),
        }
    }
    Ok(all)
}

/// Whether capabilities cover a case: its request, as far as that shows, and what only the outcome shows: its
/// size, and subnormal numbers among the values.
///
/// # Errors
/// The first thing that is not supported, without details of the case.
pub fn covers(
    capabilities: &Capabilities,
    request: &Request,
    expectation: &Expectation,
) -> Result<(), String> {
    covers_request(capabilities, request)?;
    let Expectation::Result(expected) = expectation else { return Ok(()) };
    let dtype = expected.tensor.dtype();
    if capabilities.flushed_subnormals.contains(&dtype)
        && expected.tensor.values().iter().any(Scalar::is_subnormal)
    {
        return Err(format!("no subnormal {dtype}"));
    }
    Ok(())
}

/// Whether capabilities cover a request and the size of its answer.
///
/// # Errors
/// The first thing that is not supported, without details of the request.
pub fn covers_request(capabilities: &Capabilities, request: &Request) -> Result<(), String> {
    capabilities.covers(request)?;
    if !capabilities.large_sizes && is_large(request, capabilities.max_elements) {
        return Err("no sizes beyond memory".into());
    }
    Ok(())
}

/// Whether the result of a request has a shape of more than this number of elements, not counting lengths of
/// 0, or of more than 2^63-1.
fn is_large(request: &Request, max_elements: usize) -> bool {
    match align(request) {
        Ok(alignment) => alignment.shape.extent() > max_elements as u128,
        Err(refusal) => refusal.kind == Some(RefusalKind::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Expression, Function, Operand, Rules};

    /// The sum of a vector of this length and a scalar, or its gradient by the scalar.
    fn sum(length: usize, gradient: bool) -> Request {
        let operand = |name: &str, shape: &[usize]| {
            Operand::dense(name, Shape::from(shape), vec![1.0; shape.iter().product()]).unwrap()
        };
        let arguments = [Expression::operand(0), Expression::operand(1)];
        let expression = Expression::call(Function::Add, arguments).unwrap();
        let operation = match gradient {
            false => Operation::Elementwise { expression },
            true => Operation::Gradient { expression, wrt: 1 },
        };
        Request::new(Rules::Numpy, operation, vec![operand("a", &[length]), operand("b", &[])]).unwrap()
    }

    #[test]
    fn every_tensor_of_the_answer_counts() {
        let capabilities = Capabilities { max_elements: 4, ..Capabilities::all() };
        assert_eq!(answer_elements(&capabilities, &sum(4, false)), Ok(4));
        assert_eq!(answer_elements(&capabilities, &sum(4, true)), Ok(5));
        for gradient in [false, true] {
            let reason = answer_elements(&capabilities, &sum(5, gradient)).unwrap_err();
            assert_eq!(reason, "no result of more than 4 elements");
        }
    }

    #[test]
    fn a_rank_can_be_too_high() {
        let capabilities = Capabilities { max_rank: Some(0), ..Capabilities::all() };
        assert_eq!(answer_elements(&capabilities, &sum(4, false)), Err("no rank above 0".into()));
    }
}
