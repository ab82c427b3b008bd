//! The value of an operand at an index, and its place.

use broadcheck_spec::{Operand, Scalar};

/// The element of an operand at an index.
///
/// In a view, it is the value at offset + Σ `index`_k · `strides`_k. In a dense operand, it is at the
/// position of the index among all indices of the shape in row-major order (the last axis varies fastest).
///
/// # Panics
/// If the index is not an index of the operand's shape.
pub fn read(operand: &Operand, index: &[usize]) -> Scalar {
    operand.values().get(position(operand, index)).expect("an operand's elements are inside its buffer")
}

/// The position in an operand's buffer of the element at an index, as [`read`] has it.
///
/// # Panics
/// If the index is not an index of the operand's shape.
pub fn position(operand: &Operand, index: &[usize]) -> usize {
    let shape = operand.shape();
    assert!(
        index.len() == shape.rank() && index.iter().zip(shape.iter()).all(|(place, length)| place < length),
        "{index:?} is not an index of shape {shape}"
    );
    let position = match operand.strides() {
        Some(strides) => {
            let steps = index.iter().zip(strides).map(|(&place, &stride)| place as i128 * i128::from(stride));
            operand.offset() as i128 + steps.sum::<i128>()
        }
        None => index
            .iter()
            .zip(shape.iter())
            .fold(0, |position, (&place, &length)| position * length as i128 + place as i128),
    };
    usize::try_from(position).expect("an operand's elements are inside its buffer")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(shape: &[usize], strides: &[i64], offset: usize) -> Operand {
        Operand::view("a", shape, vec![0i8, 1, 2, 3, 4, 5], Some(strides.to_vec()), offset).unwrap()
    }

    #[test]
    fn a_dense_operand_is_row_major() {
        let operand = Operand::dense("a", [2, 3], vec![0i8, 1, 2, 3, 4, 5]).unwrap();
        assert_eq!(read(&operand, &[0, 2]), Scalar::I8(2));
        assert_eq!(read(&operand, &[1, 0]), Scalar::I8(3));
        let scalar = Operand::dense("a", [], vec![7i8]).unwrap();
        assert_eq!(read(&scalar, &[]), Scalar::I8(7));
    }

    #[test]
    fn a_view_is_read_by_its_formula() {
        assert_eq!(read(&view(&[3, 2], &[1, 3], 0), &[2, 1]), Scalar::I8(5), "transposed");
        assert_eq!(read(&view(&[6], &[-1], 5), &[2]), Scalar::I8(3), "reversed");
        assert_eq!(read(&view(&[2], &[2], 1), &[1]), Scalar::I8(3), "sliced, with an offset");
        assert_eq!(read(&view(&[3, 4], &[1, 1], 0), &[1, 3]), Scalar::I8(4), "overlapping");
        assert_eq!(
            read(&view(&[9, usize::MAX], &[0, 0], 5), &[8, usize::MAX - 1]),
            Scalar::I8(5),
            "stride 0"
        );
        assert_eq!(read(&view(&[1], &[i64::MIN], 2), &[0]), Scalar::I8(2), "a stride that is never used");
    }

    #[test]
    #[should_panic(expected = "[2] is not an index of shape (2)")]
    fn an_index_out_of_range_panics() {
        read(&view(&[2], &[1], 0), &[2]);
    }
}
