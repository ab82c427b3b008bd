//! An operand: a named tensor, dense or a strided view into a buffer.

use crate::request::Malformed;
use crate::{DType, Data, Function, PartialShape, Shape};
use std::sync::Arc;

/// The longest name of an operand, in characters. Reports use the names as headings.
pub const MAX_OPERAND_NAME: usize = 64;

/// A named input of a request.
///
/// In a dense operand, `values` has one value per element, row-major. In a view, `values` is a buffer, and
/// the element at index i is at position `offset` + Σ i_k · `strides`_k, in elements; a stride may be
/// negative or 0. The constructors check that every position that a view reaches is inside its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    name: String,
    shape: Shape,
    /// Operands that read the destination's buffer share it, so that a request is no larger than its text.
    values: Arc<Data>,
    strides: Option<Vec<i64>>,
    offset: usize,
    broadcastable: Option<Vec<bool>>,
    declared: Option<PartialShape>,
    reads_destination: bool,
    constant: bool,
    same: Option<String>,
}

impl Operand {
    /// A dense operand.
    ///
    /// # Errors
    /// [`Malformed`] if the name is not of the form `[a-z][a-z0-9_]*`, is longer than [`MAX_OPERAND_NAME`] or
    /// is the name of a function, or if there is not one value per element.
    pub fn dense(
        name: impl Into<String>,
        shape: impl Into<Shape>,
        values: impl Into<Data>,
    ) -> Result<Operand, Malformed> {
        Operand::dense_over(name.into(), shape.into(), Arc::new(values.into()))
    }

    fn dense_over(name: String, shape: Shape, values: Arc<Data>) -> Result<Operand, Malformed> {
        check_name(&name)?;
        let count = shape.count();
        if count != Some(values.len()) && !(count.is_none() && shape.contains(&0) && values.is_empty()) {
            let expected = count.map_or_else(|| "more than 2^63-1".into(), |count| count.to_string());
            return Err(Malformed::new(
                format!("operands.{name}.values"),
                format!("{} values for shape {shape}", values.len()),
                format!("{expected}, one per element"),
            ));
        }
        Ok(Operand {
            name,
            shape,
            values,
            strides: None,
            offset: 0,
            broadcastable: None,
            declared: None,
            reads_destination: false,
            constant: false,
            same: None,
        })
    }

    /// A view into `values`. If `strides` is `None`, the strides are those of a dense row-major tensor.
    ///
    /// # Errors
    /// [`Malformed`] if the name is invalid, the number of strides differs from the rank, or the view reaches
    /// outside its buffer.
    pub fn view(
        name: impl Into<String>,
        shape: impl Into<Shape>,
        values: impl Into<Data>,
        strides: Option<Vec<i64>>,
        offset: usize,
    ) -> Result<Operand, Malformed> {
        Operand::view_over(name.into(), shape.into(), Arc::new(values.into()), strides, offset)
    }

    fn view_over(
        name: String,
        shape: Shape,
        values: Arc<Data>,
        strides: Option<Vec<i64>>,
        offset: usize,
    ) -> Result<Operand, Malformed> {
        check_name(&name)?;
        let strides = match strides {
            Some(strides) => strides,
            None => row_major_strides(&name, &shape)?,
        };
        if strides.len() != shape.rank() {
            return Err(Malformed::new(
                format!("operands.{name}.strides"),
                format!("{} strides for shape {shape}", strides.len()),
                format!("{}, one per axis", shape.rank()),
            ));
        }
        check_reach(&name, &shape, &strides, offset, values.len())?;
        Ok(Operand {
            name,
            shape,
            values,
            strides: Some(strides),
            offset,
            broadcastable: None,
            declared: None,
            reads_destination: false,
            constant: false,
            same: None,
        })
    }

    /// An operand that reads the buffer of a request's destination (clause INTO-4): in files and in the
    /// protocol, one with `of`. If `strides` and `offset` are both `None`, it is dense.
    ///
    /// # Errors
    /// As for [`Operand::dense`] and [`Operand::view`].
    pub fn of(
        destination: &Operand,
        name: impl Into<String>,
        shape: impl Into<Shape>,
        strides: Option<Vec<i64>>,
        offset: Option<usize>,
    ) -> Result<Operand, Malformed> {
        let (name, shape, values) = (name.into(), shape.into(), Arc::clone(&destination.values));
        let made = if strides.is_some() || offset.is_some() {
            Operand::view_over(name, shape, values, strides, offset.unwrap_or(0))
        } else {
            Operand::dense_over(name, shape, values)
        };
        made.map(|operand| Operand { reads_destination: true, ..operand })
    }

    /// The same operand with a flag per axis, for the rule set `theano`.
    ///
    /// # Errors
    /// [`Malformed`] if the number of flags differs from the rank.
    pub fn with_broadcastable(mut self, flags: Vec<bool>) -> Result<Operand, Malformed> {
        if flags.len() != self.shape.rank() {
            return Err(Malformed::new(
                format!("operands.{}.broadcastable", self.name),
                format!("{} flags for shape {}", flags.len(), self.shape),
                format!("{}, one per axis", self.shape.rank()),
            ));
        }
        self.broadcastable = Some(flags);
        Ok(self)
    }

    /// The same operand, of which an implementation that builds ahead is told only this shape before the run
    /// (clause DECL-1).
    ///
    /// # Errors
    /// [`Malformed`] if the operand's shape is not among those that the declared one admits.
    pub fn with_declared(mut self, declared: PartialShape) -> Result<Operand, Malformed> {
        check_declared(&format!("operands.{}.declared", self.name), &declared, &self.shape)?;
        self.declared = Some(declared);
        Ok(self)
    }

    /// The same operand, given as a constant of what is built and not as a parameter of it. The outcome is
    /// that without this.
    #[must_use]
    pub fn as_constant(self) -> Operand {
        Operand { constant: true, ..self }
    }

    /// The same operand, given as the very array that an earlier operand of the request is given as. The two
    /// have equal values and stay two operands: the gradient with respect to one does not count the other.
    /// The outcome is that without this.
    #[must_use]
    pub fn same_as(self, name: impl Into<String>) -> Operand {
        Operand { same: Some(name.into()), ..self }
    }

    /// The same operand, given as another one is: as a constant or not, as the array of a third or not.
    #[must_use]
    pub fn given_like(self, other: &Operand) -> Operand {
        Operand { constant: other.constant, same: other.same.clone(), ..self }
    }

    /// The name, unique in the request.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lengths of the operand's axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// For a dense operand, one value per element, row-major; for a view, the buffer that it reads.
    pub fn values(&self) -> &Data {
        &self.values
    }

    /// Whether the operand reads the buffer of the request's destination (clause INTO-4). Its
    /// [values](Operand::values) are then that buffer, as it is before the write.
    pub fn reads_destination(&self) -> bool {
        self.reads_destination
    }

    /// Whether two operands have the same buffer, or equal ones.
    pub(crate) fn has_buffer_of(&self, other: &Operand) -> bool {
        Arc::ptr_eq(&self.values, &other.values) || self.values == other.values
    }

    /// The strides of a view, in elements, one per axis; `None` for a dense operand.
    pub fn strides(&self) -> Option<&[i64]> {
        self.strides.as_deref()
    }

    /// The position of a view's first element in the buffer; 0 for a dense operand.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The flags, if given; `None` means that all are false (clause THEANO-1).
    pub fn broadcastable(&self) -> Option<&[bool]> {
        self.broadcastable.as_deref()
    }

    /// What an implementation that builds ahead is told of the shape before the run, if not the shape itself
    /// (clause DECL-1).
    pub fn declared(&self) -> Option<&PartialShape> {
        self.declared.as_ref()
    }

    /// Whether the operand is given as a constant of what is built.
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// The name of the earlier operand whose array this one is given as, if there is one.
    pub fn same(&self) -> Option<&str> {
        self.same.as_deref()
    }
}

/// Checks clause DECL-1: the declared shape admits the shape of the run.
pub(crate) fn check_declared(place: &str, declared: &PartialShape, shape: &Shape) -> Result<(), Malformed> {
    if declared.admits(shape) {
        return Ok(());
    }
    Err(Malformed::new(place, declared.to_string(), format!("a shape that admits {shape} (DECL-1)")))
}

pub(crate) fn check_name(name: &str) -> Result<(), Malformed> {
    let letter = |byte: u8| byte.is_ascii_lowercase();
    let mut bytes = name.bytes();
    let well_formed = bytes.next().is_some_and(letter)
        && bytes.all(|byte| letter(byte) || byte.is_ascii_digit() || byte == b'_');
    if !well_formed {
        return Err(Malformed::new(
            "operands.name",
            format!("`{name}`"),
            "a name of the form [a-z][a-z0-9_]*",
        ));
    }
    if name.len() > MAX_OPERAND_NAME {
        let found = format!("a name of {} characters", name.len());
        return Err(Malformed::new("operands.name", found, format!("at most {MAX_OPERAND_NAME}")));
    }
    if name.parse::<Function>().is_ok() {
        return Err(Malformed::new("operands.name", format!("`{name}`"), "a name that is not a function"));
    }
    Ok(())
}

fn row_major_strides(name: &str, shape: &Shape) -> Result<Vec<i64>, Malformed> {
    let mut strides = vec![0; shape.rank()];
    let mut step: i64 = 1;
    for (stride, &length) in strides.iter_mut().zip(shape.iter()).rev() {
        *stride = step;
        let length = i64::try_from(length.max(1)).ok();
        step = length.and_then(|length| step.checked_mul(length)).ok_or_else(|| {
            Malformed::new(
                format!("operands.{name}.shape"),
                format!("{shape}"),
                "at most 2^63-1 elements if strides are omitted",
            )
        })?;
    }
    Ok(strides)
}

/// Checks that a view does not reach outside its buffer. A view without elements does not reach any position.
fn check_reach(
    name: &str,
    shape: &Shape,
    strides: &[i64],
    offset: usize,
    length: usize,
) -> Result<(), Malformed> {
    if shape.contains(&0) {
        return Ok(());
    }
    let (mut lowest, mut highest) = (offset as i128, offset as i128);
    for (&axis_length, &stride) in shape.iter().zip(strides) {
        let reach = (axis_length as i128 - 1).saturating_mul(stride.into());
        lowest = lowest.saturating_add(reach.min(0));
        highest = highest.saturating_add(reach.max(0));
    }
    if lowest >= 0 && highest < length as i128 {
        return Ok(());
    }
    Err(Malformed::new(
        format!("operands.{name}"),
        format!("a view that reaches positions {lowest} to {highest}"),
        format!("positions inside its buffer of {length} values"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["a", "x0", "a_b"] {
            assert!(Operand::dense(good, [1], vec![1i8]).is_ok(), "{good}");
        }
        for bad in ["", "A", "0a", "_a", "a-b", "exp", "é"] {
            assert!(Operand::dense(bad, [1], vec![1i8]).is_err(), "{bad}");
        }
        let named = |length| Operand::dense("a".repeat(length), [1], vec![1i8]);
        assert!(named(MAX_OPERAND_NAME).is_ok());
        assert_eq!(
            named(MAX_OPERAND_NAME + 1).unwrap_err().to_string(),
            "operands.name: found a name of 65 characters, expected at most 64"
        );
    }

    #[test]
    fn a_dense_operand_has_one_value_per_element() {
        let error = Operand::dense("a", [2, 3], vec![1i8; 5]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "operands.a.values: found 5 values for shape (2,3), expected 6, one per element"
        );
        assert!(Operand::dense("a", [0, 1 << 40, 1 << 40], Vec::<i8>::new()).is_ok());
        assert!(Operand::dense("a", [1 << 40, 1 << 40], Vec::<i8>::new()).is_err());
    }

    #[test]
    fn a_view_stays_inside_its_buffer() {
        let view = |shape: &[usize], strides: &[i64], offset| {
            Operand::view("a", shape, vec![0i8; 6], Some(strides.to_vec()), offset)
        };
        assert!(view(&[3, 2], &[1, 3], 0).is_ok(), "transposed");
        assert!(view(&[6], &[-1], 5).is_ok(), "reversed");
        assert!(view(&[6], &[-1], 4).is_err(), "reversed, one too low");
        assert!(view(&[7], &[1], 0).is_err(), "one too far");
        assert!(view(&[1 << 40, 1 << 40], &[0, 0], 5).is_ok(), "stride 0");
        assert!(view(&[], &[], 6).is_err(), "a scalar past the end");
        assert!(view(&[0], &[9], 99).is_ok(), "no elements, so no position is reached");
        assert!(view(&[usize::MAX, usize::MAX], &[i64::MAX, i64::MAX], 0).is_err(), "huge");
        assert!(
            view(&[usize::MAX, usize::MAX], &[i64::MAX, i64::MIN], 0).is_err(),
            "huge in both directions"
        );
        assert!(view(&[2], &[1, 1], 0).is_err(), "one stride too many");
    }

    #[test]
    fn an_offset_alone_means_row_major_strides() {
        let operand = Operand::view("a", [2, 2], vec![0i8; 6], None, 2).unwrap();
        assert_eq!(operand.strides(), Some(&[2, 1][..]));
        assert!(Operand::view("a", [2, 2], vec![0i8; 6], None, 3).is_err());
    }

    #[test]
    fn flags_number_one_per_axis() {
        let operand = Operand::dense("a", [1, 2], vec![0i8; 2]).unwrap();
        assert!(operand.clone().with_broadcastable(vec![true]).is_err());
        assert!(operand.with_broadcastable(vec![true, false]).is_ok());
    }
}
