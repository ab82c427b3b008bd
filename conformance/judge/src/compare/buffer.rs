//! The destination's buffer after the write (clause INTO-4). It needs no expected values: it follows from the
//! buffer before the write and the result, which is judged by itself.

use super::{Difference, DifferenceKind, difference, index_of};
use broadcheck_reference::position;
use broadcheck_spec::{Data, Operand, Request, Success};

/// Judges the buffer of an answer, if it gives one. Where two answers are compared, both may have another
/// shape than the destination.
pub(super) fn buffer(request: &Request, success: &Success) -> Result<(), Difference> {
    let Some(found) = &success.buffer else { return Ok(()) };
    let Some(destination) = request.destination() else {
        let detail =
            format!("buffer: found {} values, expected none: the request has no `into`", found.len());
        return difference(DifferenceKind::Extra, detail);
    };
    let (shape, expected) = (success.tensor.shape(), destination.shape());
    if shape != expected {
        let detail =
            format!("buffer: found a result of shape {shape}, expected {expected}, that of the destination");
        return difference(DifferenceKind::Shape, detail);
    }
    let before = destination.values();
    if found.len() != before.len() {
        let detail =
            format!("buffer: found {} values, expected {}, as before the write", found.len(), before.len());
        return difference(DifferenceKind::Values, detail);
    }
    untouched(destination, success, found)
}

/// Each place of the destination has the result's element, and every other place the value from before.
fn untouched(destination: &Operand, success: &Success, found: &Data) -> Result<(), Difference> {
    let mut written = vec![None; found.len()];
    for element in 0..success.tensor.values().len() {
        written[position(destination, &index_of(element, destination.shape()))] = Some(element);
    }
    for (place, (found, before)) in found.iter().zip(destination.values().iter()).enumerate() {
        let element = written[place];
        let expected = element.and_then(|element| success.tensor.values().get(element)).unwrap_or(before);
        if expected != found {
            let why = match element {
                Some(element) => format!("the result at {:?}", index_of(element, destination.shape())),
                None => "as before: it is outside the destination".into(),
            };
            let (found, expected) = (found.literal(), expected.literal());
            let detail = format!(
                "buffer: at position {place} found {found}, expected {expected}, {why} (clause INTO-4)"
            );
            return difference(DifferenceKind::Values, detail);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Latitude, Verdict, compare_outcomes};
    use broadcheck_spec::{Expression, Operation, Outcome, Rules, Tensor};

    /// The judgement of two equal answers of this shape, for a destination of that one.
    fn judged(result: &[usize], destination: &[usize]) -> Verdict {
        let zeros = |shape: &[usize]| vec![0.0; shape.iter().product()];
        let operand = |name, shape: &[usize]| Operand::dense(name, shape, zeros(shape)).unwrap();
        let operation = Operation::Into { expression: Expression::operand(0), destination: 1 };
        let operands = vec![operand("a", &[1]), operand("b", destination)];
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        let tensor = Tensor::new(result, zeros(result)).unwrap();
        let answer =
            Outcome::Success(Success { buffer: Some(zeros(destination).into()), ..Success::from(tensor) });
        compare_outcomes(&request, &answer, &answer, Latitude::ANY)
    }

    #[test]
    fn a_result_of_another_shape_than_the_destination_is_wrong_if_both_sides_give_it() {
        assert_eq!(judged(&[2], &[2]), Verdict::Passed);
        for (result, destination) in [(&[1][..], &[0][..]), (&[1], &[2]), (&[3], &[2]), (&[2, 1], &[2])] {
            let Verdict::Failed(found) = judged(result, destination) else { panic!("{destination:?}") };
            assert_eq!(found.kind, DifferenceKind::Shape);
        }
    }
}
