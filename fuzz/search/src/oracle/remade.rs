//! Operands and requests made anew from others: dense copies, views, other shapes.

use broadcheck_spec::{Data, Operand, Operation, Request, Rules, Shape};

/// More elements than this are not copied.
pub(crate) const MOST_COPIED: usize = 1 << 16;

/// The elements of an operand, row-major; `None` where there are too many to copy.
pub(crate) fn elements(operand: &Operand) -> Option<Data> {
    let Some(strides) = operand.strides() else {
        return (operand.values().len() <= MOST_COPIED).then(|| operand.values().clone());
    };
    let count = operand.shape().count().filter(|&count| count <= MOST_COPIED)?;
    let positions = positions(operand.shape(), strides, operand.offset(), count);
    gathered(operand.values(), &positions)
}

/// Where the elements of a view stand in its buffer, row-major.
pub(crate) fn positions(shape: &Shape, strides: &[i64], offset: usize, count: usize) -> Vec<usize> {
    let mut index = vec![0usize; shape.rank()];
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let steps = index.iter().zip(strides).map(|(&place, &stride)| place as i128 * i128::from(stride));
        let position = offset as i128 + steps.sum::<i128>();
        found.push(usize::try_from(position).unwrap_or(usize::MAX));
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    found
}

/// The values that stand at these positions.
pub(crate) fn gathered(values: &Data, positions: &[usize]) -> Option<Data> {
    let scalars: Option<Vec<_>> = positions.iter().map(|&position| values.get(position)).collect();
    Data::from_scalars(values.dtype(), scalars?).ok()
}

/// A dense operand of the same name, with the elements of another shape and as many of them. Flags are kept where
/// the rank is.
pub(crate) fn reshaped(operand: &Operand, shape: impl Into<Shape>) -> Option<Operand> {
    let made = Operand::dense(operand.name(), shape, elements(operand)?).ok()?;
    match operand.broadcastable().filter(|flags| flags.len() == made.rank()) {
        Some(flags) => made.with_broadcastable(flags.to_vec()).ok(),
        None => Some(made),
    }
}

/// The operand as a dense one.
pub(crate) fn dense(operand: &Operand) -> Option<Operand> {
    reshaped(operand, operand.shape().clone())
}

/// The operand without flags.
pub(crate) fn unflagged(operand: &Operand) -> Option<Operand> {
    let (shape, values) = (operand.shape().clone(), operand.values().clone());
    match operand.strides() {
        None => Operand::dense(operand.name(), shape, values).ok(),
        Some(strides) => {
            Operand::view(operand.name(), shape, values, Some(strides.to_vec()), operand.offset()).ok()
        }
    }
}

/// The operand with other flags.
pub(crate) fn flagged(operand: Operand, flags: Option<Vec<bool>>) -> Option<Operand> {
    match flags {
        Some(flags) => operand.with_broadcastable(flags).ok(),
        None => Some(operand),
    }
}

/// The same operand with one more axis, of length 1, in front; its flag is true where there are flags.
pub(crate) fn with_axis_in_front(operand: &Operand) -> Option<Operand> {
    let shape: Vec<usize> = std::iter::once(1).chain(operand.shape().iter().copied()).collect();
    let flags =
        operand.broadcastable().map(|flags| std::iter::once(true).chain(flags.iter().copied()).collect());
    let made = match operand.strides() {
        None => Operand::dense(operand.name(), shape, operand.values().clone()).ok()?,
        Some(strides) => {
            let strides = std::iter::once(1).chain(strides.iter().copied()).collect();
            let values = operand.values().clone();
            Operand::view(operand.name(), shape, values, Some(strides), operand.offset()).ok()?
        }
    };
    flagged(made, flags)
}

/// The request with other operands.
pub(crate) fn with_operands(request: &Request, operands: Vec<Operand>) -> Option<Request> {
    Request::new(request.rules().clone(), request.operation().clone(), operands).ok()
}

/// The request under other rules, with other operands.
pub(crate) fn under(rules: Rules, operation: &Operation, operands: Vec<Operand>) -> Option<Request> {
    Request::new(rules, operation.clone(), operands).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_copied_as_it_is_read() {
        let values = vec![0i8, 1, 2, 3, 4, 5];
        let view = Operand::view("a", [3, 2], values.clone(), Some(vec![1, 3]), 0).unwrap();
        assert_eq!(elements(&view), Some(Data::from(vec![0i8, 3, 1, 4, 2, 5])));
        let back = Operand::view("a", [3], values, Some(vec![-2]), 5).unwrap();
        assert_eq!(dense(&back).unwrap().values(), &Data::from(vec![5i8, 3, 1]));
        let wide = Operand::view("a", [1 << 40], vec![0i8], Some(vec![0]), 0).unwrap();
        assert_eq!(elements(&wide), None);
    }

    #[test]
    fn an_axis_in_front_changes_no_element() {
        let view = Operand::view("a", [2], vec![1i8, 2, 3], Some(vec![2]), 0).unwrap();
        let made = with_axis_in_front(&view.with_broadcastable(vec![false]).unwrap()).unwrap();
        assert_eq!((made.shape().lengths(), made.broadcastable()), (&[1, 2][..], Some(&[true, false][..])));
        assert_eq!(elements(&made), Some(Data::from(vec![1i8, 3])));
    }
}
