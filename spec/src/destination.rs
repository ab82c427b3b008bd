//! The destination of a request (clause INTO-4): what makes one malformed.

use crate::request::{Malformed, check_place};
use crate::{Operand, RuleSet};

/// Checks the destination of a request, if it has one, and the operands that read its buffer.
pub(crate) fn check_destination(
    set: RuleSet,
    destination: Option<usize>,
    operands: &[Operand],
) -> Result<(), Malformed> {
    let Some(place) = destination else {
        return operands.iter().find(|operand| operand.reads_destination()).map_or(Ok(()), |operand| {
            let found = "`of` in a request without `into`";
            Err(Malformed::new(format!("operands.{}.of", operand.name()), found, "`values`"))
        });
    };
    if set != RuleSet::Numpy {
        let found = format!("`into` under the rule set `{set}`");
        return Err(Malformed::new("into", found, "`into` only under `numpy` (clause INTO-1)"));
    }
    check_place("into", place, operands.len())?;
    if let Some(declared) = operands.iter().find(|operand| operand.declared().is_some()) {
        let field = format!("operands.{}.declared", declared.name());
        let found = "a declared shape in a request with `into`";
        return Err(Malformed::new(field, found, "none (clause INTO-4)"));
    }
    let destination = &operands[place];
    operands.iter().try_for_each(|operand| check_shared(operand, destination))?;
    check_distinct(destination)
}

/// An operand that reads the destination's buffer has the values of that buffer, and is another operand.
fn check_shared(operand: &Operand, destination: &Operand) -> Result<(), Malformed> {
    if !operand.reads_destination() {
        return Ok(());
    }
    let wrong = |found: &str, expected: &str| {
        Err(Malformed::new(format!("operands.{}.of", operand.name()), found, expected))
    };
    if operand.name() == destination.name() {
        return wrong("a destination that reads the buffer of another operand", "`values`");
    }
    if operand.dtype() != destination.dtype() {
        let found = format!("a buffer of {} for an operand of {}", destination.dtype(), operand.dtype());
        return wrong(&found, "one dtype");
    }
    if !operand.has_buffer_of(destination) {
        return wrong("a buffer that is not the destination's", "the destination's");
    }
    Ok(())
}

/// No two elements of the destination share a place: which of them would be there after the write?
fn check_distinct(destination: &Operand) -> Result<(), Malformed> {
    let Some(strides) = destination.strides() else { return Ok(()) };
    let shape = destination.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let overlap = || {
        let place = format!("operands.{}.strides", destination.name());
        let found = "a destination of which two elements share a place";
        Err(Malformed::new(place, found, "a place for each element (clause INTO-4)"))
    };
    // More elements than places cannot all have their own, so at most one step per place follows.
    let places = destination.values().len();
    if shape.count().is_none_or(|count| count > places) {
        return overlap();
    }
    let mut taken = vec![false; places];
    let mut index = vec![0; shape.rank()];
    loop {
        // Sums of more than 64 bits occur on the way to a place inside the buffer.
        let steps = index.iter().zip(strides).map(|(&step, &stride)| step as i128 * i128::from(stride));
        let position = destination.offset() as i128 + steps.sum::<i128>();
        let taken = usize::try_from(position).ok().and_then(|position| taken.get_mut(position));
        match taken {
            Some(taken) if !*taken => *taken = true,
            _ => return overlap(),
        }
        if !advance(&mut index, shape.lengths()) {
            return Ok(());
        }
    }
}

/// The next index in row-major order; false after the last one.
fn advance(index: &mut [usize], lengths: &[usize]) -> bool {
    for (step, &length) in index.iter_mut().zip(lengths).rev() {
        *step += 1;
        if *step < length {
            return true;
        }
        *step = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expression, Operation, PartialShape, Request, Rules};

    fn view(shape: &[usize], strides: &[i64], offset: usize) -> Operand {
        Operand::view("d", shape, vec![0i8; 8], Some(strides.to_vec()), offset).unwrap()
    }

    fn made(rules: Rules, operands: Vec<Operand>, destination: usize) -> Result<Request, Malformed> {
        Request::new(rules, Operation::Into { expression: Expression::operand(0), destination }, operands)
    }

    #[test]
    fn each_element_of_a_destination_has_a_place() {
        for distinct in [
            view(&[3, 2], &[1, 3], 0),
            view(&[2, 3], &[-3, -1], 5),
            view(&[3, 2], &[2, 3], 0),
            view(&[1, 2], &[0, 1], 0),
            view(&[0, 2], &[0, 0], 0),
            Operand::view("d", [1], vec![0i8], Some(vec![i64::MIN]), 0).unwrap(),
        ] {
            assert!(made(Rules::Numpy, vec![distinct.clone()], 0).is_ok(), "{distinct:?}");
        }
        for shared in [
            view(&[2], &[0], 0),
            view(&[2, 2], &[1, 1], 0),
            view(&[2, 3], &[2, 1], 0),
            view(&[1 << 40, 1 << 40], &[0, 0], 5),
        ] {
            let error = made(Rules::Numpy, vec![shared], 0).unwrap_err().to_string();
            assert!(error.contains("two elements share a place"), "{error}");
        }
    }

    #[test]
    fn operands_of_a_destination_read_its_buffer() {
        let destination = Operand::dense("d", [2], vec![1i8, 2]).unwrap();
        let tail = Operand::of(&destination, "t", [1], Some(vec![1]), Some(1)).unwrap();
        let request = made(Rules::Numpy, vec![destination.clone(), tail.clone()], 0).unwrap();
        assert!(!request.operands()[0].reads_destination() && request.operands()[1].reads_destination());
        assert_eq!(request.destination(), Some(&destination));
        assert!(request.has_unused_operand(), "`t` is neither used nor written");
        let refused = |operands, destination| {
            made(Rules::Numpy, operands, destination).expect_err("malformed").to_string()
        };
        let other = Operand::dense("d", [2], vec![1i8, 3]).unwrap();
        assert!(refused(vec![other, tail.clone()], 0).contains("not the destination's"));
        let wide = Operand::dense("d", [2], vec![1i16, 2]).unwrap();
        assert!(refused(vec![wide, tail.clone()], 0).contains("a buffer of i16 for an operand of i8"));
        assert!(refused(vec![destination.clone(), tail.clone()], 1).contains("`values`"));
        let whole = Operation::Elementwise { expression: Expression::operand(0) };
        let without = Request::new(Rules::Numpy, whole, vec![destination, tail]).unwrap_err();
        assert_eq!(
            without.to_string(),
            "operands.t.of: found `of` in a request without `into`, expected `values`"
        );
    }

    #[test]
    fn a_destination_exists_under_numpy_only_and_is_not_declared() {
        let destination = || Operand::dense("d", [2], vec![1i8, 2]).unwrap();
        assert!(
            made(Rules::Theano, vec![destination()], 0)
                .unwrap_err()
                .to_string()
                .contains("only under `numpy`")
        );
        assert!(
            made(Rules::Numpy, vec![destination()], 1).unwrap_err().to_string().contains("operand 1 of 1")
        );
        let declared = destination().with_declared(PartialShape::Unranked).unwrap();
        assert!(made(Rules::Numpy, vec![declared], 0).unwrap_err().to_string().contains("INTO-4"));
    }
}
