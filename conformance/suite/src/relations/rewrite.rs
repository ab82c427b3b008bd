//! Rewrites operands, requests and outcomes: dense copies, views, other shapes, other values.
//!
//! Everything here returns `None` if the result cannot be built: too many elements to copy, or parts that do
//! not form a valid request.

use crate::retype::data;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    DType, Data, Operand, Operation, Outcome, Request, Rules, Scalar, Shape, Success, Tensor,
};

/// More elements than this are not copied.
pub const MOST_COPIED: usize = 1 << 16;

/// The elements of an operand, row-major; `None` if there are too many to copy.
pub fn elements(operand: &Operand) -> Option<Data> {
    let Some(strides) = operand.strides() else {
        return (operand.values().len() <= MOST_COPIED).then(|| operand.values().clone());
    };
    let count = operand.shape().count().filter(|&count| count <= MOST_COPIED)?;
    let positions = positions(operand.shape(), strides, operand.offset(), count);
    gathered(operand.values(), &positions)
}

/// The positions of a view's elements in its buffer, row-major.
pub fn positions(shape: &Shape, strides: &[i64], offset: usize, count: usize) -> Vec<usize> {
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

/// The values at these positions.
pub fn gathered(values: &Data, positions: &[usize]) -> Option<Data> {
    let scalars: Option<Vec<_>> = positions.iter().map(|&position| values.get(position)).collect();
    Data::from_scalars(values.dtype(), scalars?).ok()
}

/// A dense operand of the same name and elements, with another shape. Flags are kept if the rank does not
/// change.
pub(crate) fn reshaped(operand: &Operand, shape: impl Into<Shape>) -> Option<Operand> {
    let made = Operand::dense(operand.name(), shape, elements(operand)?).ok()?;
    match operand.broadcastable().filter(|flags| flags.len() == made.rank()) {
        Some(flags) => made.with_broadcastable(flags.to_vec()).ok(),
        None => Some(made),
    }
}

/// The operand as a dense one, with its flags.
pub fn dense(operand: &Operand) -> Option<Operand> {
    reshaped(operand, operand.shape().clone())
}

/// The operand without flags.
pub fn unflagged(operand: &Operand) -> Option<Operand> {
    let (shape, values) = (operand.shape().clone(), operand.values().clone());
    match operand.strides() {
        None => Operand::dense(operand.name(), shape, values).ok(),
        Some(strides) => {
            Operand::view(operand.name(), shape, values, Some(strides.to_vec()), operand.offset()).ok()
        }
    }
}

/// The operand with other flags.
pub fn flagged(operand: Operand, flags: Option<Vec<bool>>) -> Option<Operand> {
    match flags {
        Some(flags) => operand.with_broadcastable(flags).ok(),
        None => Some(operand),
    }
}

/// The same operand with another axis of length 1 in front, flagged True if there are flags.
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
pub fn with_operands(request: &Request, operands: Vec<Operand>) -> Option<Request> {
    Request::new(request.rules().clone(), request.operation().clone(), operands).ok()
}

/// The request under other rules, with other operands.
pub fn under(rules: Rules, operation: &Operation, operands: Vec<Operand>) -> Option<Request> {
    Request::new(rules, operation.clone(), operands).ok()
}

/// The result with another shape, if that has as many elements, without intermediate and flags.
pub(crate) fn with_shape(outcome: Outcome, shape: &Shape) -> Outcome {
    let Outcome::Success(success) = outcome else { return outcome };
    let found = success.tensor.clone();
    let (_, values) = success.tensor.into_parts();
    Outcome::Success(Success::from(Tensor::new(shape.clone(), values).unwrap_or(found)))
}

/// The operand with integers from 1 to `most` in a dtype that represents them, all different as far as `most`
/// allows, so that an element summed to the wrong position is detected. They are odd numbers, or squares at
/// every second place, if the largest is at most `most`; otherwise 1, 2, 3, …, starting again after `most`.
pub fn with_integers(operand: &Operand, dtype: DType, place: usize, most: usize) -> Option<Operand> {
    let count = operand.values().len();
    if count > 4 * MOST_COPIED {
        return None;
    }
    let most = most.max(1);
    let odd = |at: usize| 2 * at + 1;
    let square = |at: usize| (at + 2) * (at + 2);
    let special: &dyn Fn(usize) -> usize = if place.is_multiple_of(2) { &odd } else { &square };
    let fits = count == 0 || special(count - 1) <= most;
    let number = |at: usize| if fits { special(at) } else { (at + at / most + place) % most + 1 };
    let numbers: Option<Vec<i64>> = (0..count).map(|at| i64::try_from(number(at)).ok()).collect();
    let values = data(dtype, numbers?);
    let (name, shape) = (operand.name(), operand.shape().clone());
    let made = match operand.strides() {
        None => Operand::dense(name, shape, values).ok()?,
        Some(strides) => Operand::view(name, shape, values, Some(strides.to_vec()), operand.offset()).ok()?,
    };
    flagged(made, operand.broadcastable().map(<[bool]>::to_vec))
}

/// The largest magnitude of an operand's values as f64, if it has this dtype and all of them are integers
/// other than 0.
pub(crate) fn largest_integer(operand: &Operand, dtype: DType) -> Option<f64> {
    if operand.dtype() != dtype {
        return None;
    }
    operand.values().iter().try_fold(1.0f64, |largest, value| {
        #[allow(clippy::cast_precision_loss, reason = "an upper bound is compared with the result")]
        let value = value.as_f64().or_else(|| value.as_i128().map(|value| value as f64))?;
        (value.fract() == 0.0 && value != 0.0).then(|| largest.max(value.abs()))
    })
}

/// The value 1.
pub fn one(dtype: DType) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(1.0),
        DType::F32 => Scalar::F32(1.0),
        DType::F16 => Scalar::F16(f16::ONE),
        DType::Bf16 => Scalar::Bf16(bf16::ONE),
        DType::I64 => Scalar::I64(1),
        DType::I32 => Scalar::I32(1),
        DType::I16 => Scalar::I16(1),
        DType::I8 => Scalar::I8(1),
        DType::U64 => Scalar::U64(1),
        DType::U32 => Scalar::U32(1),
        DType::U16 => Scalar::U16(1),
        DType::U8 => Scalar::U8(1),
        DType::Bool => Scalar::Bool(true),
    }
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
    fn integers_are_different_as_far_as_the_largest_allows() {
        let integers = |count: usize, place, most| {
            let operand = Operand::dense("a", [count], vec![0i8; count]).unwrap();
            with_integers(&operand, DType::F64, place, most).unwrap().values().clone()
        };
        assert_eq!(integers(4, 0, 7), Data::from(vec![1.0, 3.0, 5.0, 7.0]));
        assert_eq!(integers(4, 1, 25), Data::from(vec![4.0, 9.0, 16.0, 25.0]));
        assert_eq!(integers(4, 0, 6), Data::from(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(integers(4, 1, 24), Data::from(vec![2.0, 3.0, 4.0, 5.0]));
        assert_eq!(integers(4, 0, 3), Data::from(vec![1.0, 2.0, 3.0, 2.0]));
        assert_eq!(integers(0, 1, 1), Data::from(Vec::<f64>::new()));
    }

    #[test]
    fn an_axis_in_front_changes_no_element() {
        let view = Operand::view("a", [2], vec![1i8, 2, 3], Some(vec![2]), 0).unwrap();
        let made = with_axis_in_front(&view.with_broadcastable(vec![false]).unwrap()).unwrap();
        assert_eq!((made.shape().lengths(), made.broadcastable()), (&[1, 2][..], Some(&[true, false][..])));
        assert_eq!(elements(&made), Some(Data::from(vec![1i8, 3])));
    }
}
