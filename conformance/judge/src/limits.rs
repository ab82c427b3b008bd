//! The size of an answer, and whether it exceeds what an implementation declares (clause G-1).
//!
//! The suite, the protocol and the fuzzer all decide here whether an implementation may skip a request for
//! its size.

use crate::compare::index_of;
use crate::text::plural;
use broadcheck_reference::{align, apply, read};
use broadcheck_spec::half::f16;
use broadcheck_spec::{
    Capabilities, DEFAULT_MAX_ELEMENTS, DType, Expectation, Function, Node, OperationKind, RefusalKind,
    Request, Scalar, Shape, Tensor,
};

/// The number of elements of the largest answer that takes no time and memory to speak of.
pub const CHEAP_ELEMENTS: usize = 1 << 18;

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
    if let Some(wrt) = request.operation().wrt() {
        shapes.push(request.operands()[wrt].shape());
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

/// Whether a request that was derived from another is no more expensive: its answer has at most
/// [`CHEAP_ELEMENTS`] or as many elements as the other's, or so many that nothing computes it.
///
/// A view of one element may have any shape, and costs nothing as long as it is refused for another operand's
/// sake. Without that operand, the answer takes gigabytes and minutes.
pub fn is_as_cheap(derived: &Request, original: &Request) -> bool {
    let within = |most| elements_within(derived, None, most).is_ok();
    within(CHEAP_ELEMENTS)
        || !within(DEFAULT_MAX_ELEMENTS)
        || elements_within(original, None, DEFAULT_MAX_ELEMENTS).is_ok_and(within)
}

/// Whether capabilities cover a case: its request, as far as that shows, and what only the outcome shows: its
/// size, and numbers among the values that are subnormal, or were before they were rounded.
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
    if capabilities.flushed_subnormals.contains(&dtype) && rounds_up_to_normal(request, &expected.tensor) {
        return Err(format!("no subnormal {dtype} before rounding"));
    }
    Ok(())
}

/// Whether an element of the result is a product or a quotient that is subnormal before it is rounded to the
/// smallest normal number. Processors that flush subnormals flush it, too.
fn rounds_up_to_normal(request: &Request, result: &Tensor) -> bool {
    if request.operation().kind() != OperationKind::Elementwise {
        return false;
    }
    let Some(expression) = request.operation().expression() else { return false };
    let Some(Node::Call(root)) = expression.nodes().last() else { return false };
    let (Some(least), Ok(alignment)) = (least_normal(result.dtype()), align(request)) else { return false };
    let is_least = |(_, value): &(usize, Scalar)| value.as_f64().map(f64::abs) == Some(least);
    result.values().iter().enumerate().filter(is_least).any(|(place, _)| {
        let index = index_of(place, &alignment.shape);
        let read = |operand: usize| {
            let operand_index = alignment.operand_index(operand, request.operands()[operand].shape(), &index);
            read(&request.operands()[operand], &operand_index)
        };
        let steps = expression.values(read, apply);
        let arguments: Vec<f64> =
            root.arguments().iter().filter_map(|&argument| steps[argument].as_f64()).collect();
        // The remainder of a rounded number is exact: positive, if the number was rounded down.
        let remainder = match (root.function(), &arguments[..]) {
            (Function::Multiply, &[a, b]) => a.abs().mul_add(b.abs(), -least),
            (Function::Divide, &[a, b]) => (-least).mul_add(b.abs(), a.abs()),
            _ => 0.0,
        };
        remainder < 0.0
    })
}

/// The smallest normal number of a float dtype.
fn least_normal(dtype: DType) -> Option<f64> {
    match dtype {
        DType::F64 => Some(f64::MIN_POSITIVE),
        DType::F32 | DType::Bf16 => Some(f32::MIN_POSITIVE.into()),
        DType::F16 => Some(f16::MIN_POSITIVE.to_f64()),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => None,
        DType::U64 | DType::U32 | DType::U16 | DType::U8 | DType::Bool => None,
    }
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
    use broadcheck_spec::{Expression, Function, Operand, Operation, Rules};

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

    #[test]
    fn a_product_may_be_subnormal_before_it_is_rounded() {
        let least = f32::MIN_POSITIVE;
        let below_one = 1.0 - f32::EPSILON / 2.0;
        let request = |function, a: Vec<f32>, b: f32| {
            let operand = |name: &str, shape: Vec<usize>, values: Vec<f32>| {
                Operand::dense(name, Shape::from(shape.as_slice()), values).unwrap()
            };
            let operands = vec![operand("a", vec![a.len()], a), operand("b", vec![], vec![b])];
            let expression = Expression::call(function, [0, 1].map(Expression::operand)).unwrap();
            Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
        };
        let flushing = Capabilities { flushed_subnormals: vec![DType::F32], ..Capabilities::all() };
        let is_covered = |request: &Request, values: Vec<f32>| {
            let result = Tensor::new([values.len()], values).unwrap();
            let expectation = Expectation::Result(broadcheck_spec::ExpectedResult::from(result));
            covers(&Capabilities::all(), request, &expectation).unwrap();
            covers(&flushing, request, &expectation)
        };
        let product = request(Function::Multiply, vec![1.0, -least], below_one);
        let reason = is_covered(&product, vec![below_one, -least]).unwrap_err();
        assert_eq!(reason, "no subnormal f32 before rounding");
        let quotient = request(Function::Divide, vec![below_one * 2f32.powi(-100)], 2f32.powi(26));
        // (1 + 2^-23) least is the next number, which divided by itself gives the least one.
        let exact = request(Function::Divide, vec![least * (1.0 + f32::EPSILON)], 1.0 + f32::EPSILON);
        assert_eq!(is_covered(&exact, vec![least]), Ok(()));
        assert_eq!(is_covered(&request(Function::Multiply, vec![least], -1.0), vec![-least]), Ok(()));
        assert_eq!(is_covered(&quotient, vec![least]), Err("no subnormal f32 before rounding".into()));
    }
}
