//! A shape: one length per axis. Element counts are checked for overflow (clause G-1).

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

/// The largest element count, counting only axes of nonzero length: 2^63 - 1 (clause G-1).
pub const MAX_COUNT: u64 = i64::MAX as u64;

/// The lengths of a tensor's axes, outermost first. Rank 0 is a scalar, which has one element.
///
/// A shape may have more elements than fit in memory: [`Shape::count`] computes the number without
/// allocating.
///
/// ```
/// use broadcheck_spec::Shape;
/// let shape = Shape::from([2, 3]);
/// assert_eq!(shape.rank(), 2);
/// assert_eq!(shape.count(), Some(6));
/// assert_eq!(shape.to_string(), "(2,3)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// A shape with these lengths.
    pub fn new(lengths: Vec<usize>) -> Self {
        Shape(lengths)
    }

    /// The shape of a scalar: rank 0.
    pub fn scalar() -> Self {
        Shape(Vec::new())
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The lengths, outermost first.
    pub fn lengths(&self) -> &[usize] {
        &self.0
    }

    /// The number of elements, or `None` if the lengths other than 0 multiply to more than 2^63 - 1.
    ///
    /// The other lengths count even if one is 0: (0, 2^32, 2^32) is `None`, because strides are products of
    /// the other lengths (clause G-1).
    pub fn count(&self) -> Option<usize> {
        let mut product: u64 = 1;
        for &length in self.0.iter().filter(|&&length| length != 0) {
            product = product.checked_mul(length as u64).filter(|&count| count <= MAX_COUNT)?;
        }
        if self.0.contains(&0) { Some(0) } else { usize::try_from(product).ok() }
    }

    /// The product of the lengths other than 0; `u128::MAX` if it is larger than that.
    pub fn extent(&self) -> u128 {
        self.0
            .iter()
            .filter(|&&length| length != 0)
            .fold(1, |all, &length| all.saturating_mul(length as u128))
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<Vec<usize>> for Shape {
    fn from(lengths: Vec<usize>) -> Self {
        Shape(lengths)
    }
}

impl From<&[usize]> for Shape {
    fn from(lengths: &[usize]) -> Self {
        Shape(lengths.to_vec())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(lengths: [usize; N]) -> Self {
        Shape(lengths.to_vec())
    }
}

/// Displayed as in the documents: `(2,3)`, `(3)`, and `()` for a scalar.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (axis, length) in self.0.iter().enumerate() {
            write!(f, "{}{length}", if axis == 0 { "" } else { "," })?;
        }
        f.write_str(")")
    }
}

/// A text that is not a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError(String);

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a shape: expected lengths joined by `x` as in `2x3` or `4`, or `()` for a scalar",
            self.0
        )
    }
}

impl std::error::Error for ShapeError {}

/// Reads `2x3`, `(2,3)`, `2,3`, `4` and `()`.
impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let inner = text.trim();
        let inner = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
        if inner.is_empty() {
            return if text.trim() == "()" { Ok(Shape::scalar()) } else { Err(ShapeError(text.into())) };
        }
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        inner
            .split(['x', ','])
            .map(str::trim)
            .map(|part| if digits(part) { part.parse().ok() } else { None })
            .collect::<Option<Vec<usize>>>()
            .map(Shape)
            .ok_or_else(|| ShapeError(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_has_one_element() {
        assert_eq!(Shape::scalar().count(), Some(1));
    }

    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "lengths of 2^63 need 64 bits anyway")]
    fn counts_are_checked_over_nonzero_lengths() {
        let half = 1usize << 32;
        assert_eq!(Shape::from([half, half / 2 - 1]).count(), Some(half * (half / 2 - 1)));
        assert_eq!(Shape::from([i64::MAX as usize]).count(), Some(i64::MAX as usize));
        assert_eq!(Shape::from([i64::MAX as usize + 1]).count(), None);
        assert_eq!(Shape::from([half, half / 2]).count(), None);
        assert_eq!(Shape::from([0, half, half]).count(), None);
        assert_eq!(Shape::from([0, half, 2]).count(), Some(0));
    }

    #[test]
    fn shapes_are_parsed_in_every_common_notation() {
        assert_eq!("2x3".parse(), Ok(Shape::from([2, 3])));
        assert_eq!("(2, 3)".parse(), Ok(Shape::from([2, 3])));
        assert_eq!("(3,)".parse(), Ok(Shape::from([3])));
        assert_eq!("()".parse(), Ok(Shape::scalar()));
        for bad in ["", "x", "2x", "-1", "2x-3", "(2", "a", "+2", "99999999999999999999"] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
    }
}
