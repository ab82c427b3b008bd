//! What is known of a shape before the run: lengths with bounds, and shapes of unknown rank (clauses INFER-1
//! and DECL-1).

use crate::Shape;
use std::fmt;
use std::str::FromStr;

/// What is known of a length: its lowest and its highest value.
///
/// ```
/// use broadcheck_spec::Length;
/// let length: Length = "1..3".parse().unwrap();
/// assert!(length.admits(2) && !length.admits(4));
/// assert_eq!(length.number(), None);
/// assert_eq!(Length::exactly(7).to_string(), "7");
/// assert_eq!(Length::UNKNOWN.to_string(), "?");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Length {
    min: usize,
    max: Option<usize>,
}

impl Length {
    /// A length of which nothing is known: 0 or more.
    pub const UNKNOWN: Length = Length { min: 0, max: None };

    /// A known length.
    pub fn exactly(length: usize) -> Length {
        Length { min: length, max: Some(length) }
    }

    /// A length from `min` to `max`, both included, or without an upper bound. `None` if no length is in it.
    pub fn bounded(min: usize, max: Option<usize>) -> Option<Length> {
        if max.is_some_and(|max| max < min) { None } else { Some(Length { min, max }) }
    }

    /// The lowest value.
    pub fn min(self) -> usize {
        self.min
    }

    /// The highest value; `None` if there is no upper bound.
    pub fn max(self) -> Option<usize> {
        self.max
    }

    /// The only value, if there is only one.
    pub fn number(self) -> Option<usize> {
        self.max.filter(|&max| max == self.min)
    }

    /// Whether the length may have this value.
    pub fn admits(self, length: usize) -> bool {
        self.min <= length && self.max.is_none_or(|max| length <= max)
    }

    /// Whether it admits every value that the other admits.
    pub fn contains(self, other: Length) -> bool {
        let below = match (self.max, other.max) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => other <= own,
        };
        self.min <= other.min && below
    }
}

impl From<usize> for Length {
    fn from(length: usize) -> Length {
        Length::exactly(length)
    }
}

/// Displayed as `7`, `?`, `..3`, `2..` or `1..3`.
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (0, None) => f.write_str("?"),
            (min, None) => write!(f, "{min}.."),
            (min, Some(max)) if min == max => write!(f, "{min}"),
            (0, Some(max)) => write!(f, "..{max}"),
            (min, Some(max)) => write!(f, "{min}..{max}"),
        }
    }
}

/// A text that is not a length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthError(String);

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a length: expected a number, `?`, or bounds such as `..3`, `2..` or `1..3`",
            self.0
        )
    }
}

impl std::error::Error for LengthError {}

/// Reads `7`, `?`, `..3`, `2..` and `1..3`.
impl FromStr for Length {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Length, LengthError> {
        read_length(text.trim()).ok_or_else(|| LengthError(text.into()))
    }
}

fn read_length(text: &str) -> Option<Length> {
    if text == "?" {
        return Some(Length::UNKNOWN);
    }
    let Some((min, max)) = text.split_once("..") else {
        return number(text).map(Length::exactly);
    };
    match (min, max) {
        ("", "") => None,
        ("", max) => Length::bounded(0, Some(number(max)?)),
        (min, "") => Length::bounded(number(min)?, None),
        (min, max) => Length::bounded(number(min)?, Some(number(max)?)),
    }
}

fn number(digits: &str) -> Option<usize> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// What is known of a shape: a list of lengths, or nothing, not even the rank.
///
/// ```
/// use broadcheck_spec::{PartialShape, Shape};
/// let shape: PartialShape = "?x3".parse().unwrap();
/// assert!(shape.admits(&Shape::from([2, 3])) && !shape.admits(&Shape::from([3])));
/// assert_eq!(shape.to_string(), "(?,3)");
/// assert!(PartialShape::Unranked.admits(&Shape::scalar()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartialShape {
    /// The rank is known: a length per axis, outermost first.
    Ranked(Vec<Length>),
    /// Any shape of any rank, written `...`.
    Unranked,
}

impl PartialShape {
    /// The number of axes, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.lengths().map(<[Length]>::len)
    }

    /// The lengths, if the rank is known.
    pub fn lengths(&self) -> Option<&[Length]> {
        match self {
            PartialShape::Ranked(lengths) => Some(lengths),
            PartialShape::Unranked => None,
        }
    }

    /// The shape, if every length is known.
    pub fn known(&self) -> Option<Shape> {
        let numbers = self.lengths()?.iter().map(|length| length.number()).collect::<Option<Vec<usize>>>();
        numbers.map(Shape::new)
    }

    /// Whether the shape may turn out to be this one.
    pub fn admits(&self, shape: &Shape) -> bool {
        let Some(lengths) = self.lengths() else { return true };
        lengths.len() == shape.rank()
            && lengths.iter().zip(shape.iter()).all(|(length, &number)| length.admits(number))
    }

    /// Whether it admits every shape that the other admits.
    pub fn contains(&self, other: &PartialShape) -> bool {
        match (self, other) {
            (PartialShape::Unranked, _) => true,
            (PartialShape::Ranked(_), PartialShape::Unranked) => false,
            (PartialShape::Ranked(own), PartialShape::Ranked(other)) => {
                own.len() == other.len() && own.iter().zip(other).all(|(own, &other)| own.contains(other))
            }
        }
    }
}

impl From<&Shape> for PartialShape {
    fn from(shape: &Shape) -> PartialShape {
        PartialShape::Ranked(shape.iter().map(|&length| Length::exactly(length)).collect())
    }
}

impl From<Vec<Length>> for PartialShape {
    fn from(lengths: Vec<Length>) -> PartialShape {
        PartialShape::Ranked(lengths)
    }
}

/// Displayed as `(?,3)`, `()` for a scalar, and `(...)` for an unknown rank.
impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(lengths) = self.lengths() else { return f.write_str("(...)") };
        f.write_str("(")?;
        for (axis, length) in lengths.iter().enumerate() {
            write!(f, "{}{length}", if axis == 0 { "" } else { "," })?;
        }
        f.write_str(")")
    }
}

/// A text that is not a shape, with or without unknown lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialShapeError(String);

impl fmt::Display for PartialShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a shape: expected lengths joined by `x` as in `2x3` or `4`, `()` for a scalar, `?`, `..3`, \
             `2..` or `1..3` for an unknown length, or `...` for an unknown rank",
            self.0
        )
    }
}

impl std::error::Error for PartialShapeError {}

/// Reads `2x?`, `(2,..3)`, `2,1..3`, `4`, `()` and `...`.
impl FromStr for PartialShape {
    type Err = PartialShapeError;

    fn from_str(text: &str) -> Result<PartialShape, PartialShapeError> {
        let inner = text.trim();
        if inner == "()" {
            return Ok(PartialShape::Ranked(Vec::new()));
        }
        let inner = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
        if inner == "..." {
            return Ok(PartialShape::Unranked);
        }
        let inner = inner.strip_suffix(',').unwrap_or(inner);
        inner
            .split(['x', ','])
            .map(|part| read_length(part.trim()))
            .collect::<Option<Vec<Length>>>()
            .map(PartialShape::Ranked)
            .ok_or_else(|| PartialShapeError(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str) -> Length {
        text.parse().unwrap()
    }

    #[test]
    fn lengths_are_written_as_they_are_read() {
        for text in ["7", "0", "?", "..3", "2..", "1..3", "18446744073709551615"] {
            assert_eq!(length(text).to_string(), text);
        }
        assert_eq!(length("2..2"), Length::exactly(2));
        assert_eq!(length("0.."), Length::UNKNOWN);
        for bad in ["", "..", "...", "3..2", "-1", "+1", "1...3", "1..3..", "??", "18446744073709551616"] {
            assert!(bad.parse::<Length>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_length_admits_what_is_within_its_bounds() {
        assert!(length("..3").admits(0) && length("..3").admits(3) && !length("..3").admits(4));
        assert!(!length("2..").admits(1) && length("2..").admits(usize::MAX));
        assert_eq!(length("1..3").number(), None);
        assert_eq!(length("3").number(), Some(3));
        assert!(length("?").contains(length("2..")) && !length("2..").contains(length("?")));
        assert!(length("1..3").contains(length("1..3")) && !length("1..3").contains(length("1..")));
        assert_eq!(Length::bounded(3, Some(2)), None);
    }

    #[test]
    fn shapes_are_parsed_in_every_common_notation() {
        for (text, shown) in [
            ("?x3", "(?,3)"),
            ("2x1..3", "(2,1..3)"),
            ("(..2, 4)", "(..2,4)"),
            ("(2..,)", "(2..)"),
            ("2,?", "(2,?)"),
            ("()", "()"),
            ("...", "(...)"),
            ("(...)", "(...)"),
        ] {
            assert_eq!(text.parse::<PartialShape>().unwrap().to_string(), shown);
        }
        for bad in ["", "x", "2x", "?x...", "2x-3", "(2", "a", "3..1"] {
            assert!(bad.parse::<PartialShape>().is_err(), "{bad}");
        }
    }

    #[test]
    fn shapes_are_compared_axis_by_axis() {
        let shape = |text: &str| text.parse::<PartialShape>().unwrap();
        assert!(shape("?x3").contains(&shape("1..2x3")) && !shape("?x3").contains(&shape("?x2..3")));
        assert!(shape("...").contains(&shape("()")) && !shape("?").contains(&shape("...")));
        assert!(!shape("?").contains(&shape("?x?")));
        assert_eq!(shape("2x3").known(), Some(Shape::from([2, 3])));
        assert_eq!(shape("2x?").known(), None);
        assert_eq!(PartialShape::from(&Shape::from([2])), shape("2"));
    }
}
