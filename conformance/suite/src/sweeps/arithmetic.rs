//! The value of each function on scalars, from the clauses: integers as i128 and then modulo 2^bits, floats
//! in f64 and then rounded once.
//!
//! Of the engines, only `exp log tanh power` of the reference are used. The judge centres its bounds on
//! those values whatever the expected value is (clause V-4b), and a test compares them with the standard
//! library's.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_reference::apply;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Expression, Function, Scalar};
use std::cmp::Ordering;

/// The value of every node of an expression, for one value of each operand.
///
/// # Panics
/// If V-2 does not define a function for its arguments.
pub(super) fn evaluate(expression: &Expression, operands: &[Scalar]) -> Vec<Scalar> {
    expression.values(|operand| operands[operand], value)
}

/// A number in a numeric dtype: rounded to the nearest, or wrapped.
#[allow(clippy::cast_possible_truncation, reason = "integers are given as whole numbers")]
pub(super) fn number(dtype: DType, value: f64) -> Scalar {
    if dtype.is_float() { float(dtype, value) } else { integer(dtype, value as i128) }
}

/// Whether a function is defined for arguments of a dtype (clause V-2). For `select`, the dtype is that of
/// its branches.
pub(super) fn is_defined(function: Function, dtype: DType) -> bool {
    match function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Maximum
        | Function::Minimum
        | Function::Negate
        | Function::Abs
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual => dtype != DType::Bool,
        Function::Divide
        | Function::Power
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh => dtype.is_float(),
        Function::Equal | Function::NotEqual | Function::Select => true,
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => dtype == DType::Bool,
    }
}

/// The value of a function. The arguments have dtypes for which it is defined.
pub(super) fn value(function: Function, arguments: &[Scalar]) -> Scalar {
    match *arguments {
        [Scalar::Bool(condition), then, other] => return if condition { then } else { other },
        [Scalar::Bool(a), Scalar::Bool(b)] => return Scalar::Bool(of_bools(function, a, b)),
        [Scalar::Bool(a)] => return Scalar::Bool(of_bools(function, a, a)),
        _ => {}
    }
    let dtype = arguments[0].dtype();
    // A function of one argument ignores the second.
    let (first, second) = (arguments[0], arguments[arguments.len() - 1]);
    if let (Some(a), Some(b)) = (first.as_i128(), second.as_i128()) {
        return of_integers(function, dtype, a, b);
    }
    let (Some(a), Some(b)) = (first.as_f64(), second.as_f64()) else {
        unreachable!("the arguments of {function} have one dtype")
    };
    of_floats(function, dtype, a, b).unwrap_or_else(|| apply(function, arguments))
}

fn of_bools(function: Function, a: bool, b: bool) -> bool {
    match function {
        Function::Equal => a == b,
        Function::NotEqual => a != b,
        Function::LogicalAnd => a && b,
        Function::LogicalOr => a || b,
        Function::LogicalNot => !a,
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Maximum
        | Function::Minimum
        | Function::Power
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::Select => unreachable!("{function} is not defined for bool"),
    }
}

/// Whether an order satisfies a comparison; `None` for any other function. NaN has no order.
fn compared(function: Function, order: Option<Ordering>) -> Option<bool> {
    match function {
        Function::Equal => Some(order == Some(Ordering::Equal)),
        Function::NotEqual => Some(order != Some(Ordering::Equal)),
        Function::Less => Some(order == Some(Ordering::Less)),
        Function::LessEqual => Some(matches!(order, Some(Ordering::Less | Ordering::Equal))),
        Function::Greater => Some(order == Some(Ordering::Greater)),
        Function::GreaterEqual => Some(matches!(order, Some(Ordering::Greater | Ordering::Equal))),
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Maximum
        | Function::Minimum
        | Function::Power
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::LogicalNot
        | Function::Select => None,
    }
}

fn of_integers(function: Function, dtype: DType, a: i128, b: i128) -> Scalar {
    if let Some(truth) = compared(function, Some(a.cmp(&b))) {
        return Scalar::Bool(truth);
    }
    let exact = match function {
        Function::Add => a + b,
        Function::Subtract => a - b,
        // A product of two u64 may exceed an i128, whose low 64 bits are right nevertheless.
        Function::Multiply => a.wrapping_mul(b),
        Function::Maximum => a.max(b),
        Function::Minimum => a.min(b),
        Function::Negate => -a,
        Function::Abs => a.abs(),
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual => unreachable!("{function} is a comparison"),
        Function::Divide
        | Function::Power
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::LogicalNot
        | Function::Select => unreachable!("{function} is not defined for {dtype}"),
    };
    integer(dtype, exact)
}

/// The number of an integer dtype that equals `exact` modulo 2^bits.
pub(super) fn integer(dtype: DType, exact: i128) -> Scalar {
    macro_rules! wrapped {
        ($($variant:ident $type:ty;)*) => {
            match dtype {
                $(DType::$variant => {
                    let modulus = 1i128 << <$type>::BITS;
                    let least = exact.rem_euclid(modulus);
                    let inside = <$type>::try_from(least).or_else(|_| <$type>::try_from(least - modulus));
                    Scalar::$variant(inside.expect("one of the two is in range"))
                })*
                DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => {
                    unreachable!("{dtype} is not an integer dtype")
                }
            }
        };
    }
    wrapped! { I64 i64; I32 i32; I16 i16; I8 i8; U64 u64; U32 u32; U16 u16; U8 u8; }
}

/// The value of a function of floats; `None` for the functions of clause V-4.
///
/// The operands are of `dtype`, so f64 represents them. Rounding the f64 result once more gives the correctly
/// rounded one, because 53 bits are at least twice 24 and 2 more.
fn of_floats(function: Function, dtype: DType, a: f64, b: f64) -> Option<Scalar> {
    if let Some(truth) = compared(function, a.partial_cmp(&b)) {
        return Some(Scalar::Bool(truth));
    }
    let exact = match function {
        Function::Add => a + b,
        Function::Subtract => a - b,
        Function::Multiply => a * b,
        Function::Divide => a / b,
        // V-3.
        Function::Maximum | Function::Minimum if a.is_nan() || b.is_nan() => f64::NAN,
        Function::Maximum if a == b => {
            if a.is_sign_positive() {
                a
            } else {
                b
            }
        }
        Function::Minimum if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        Function::Maximum => {
            if a > b {
                a
            } else {
                b
            }
        }
        Function::Minimum => {
            if a < b {
                a
            } else {
                b
            }
        }
        Function::Negate => -a,
        Function::Abs => a.abs(),
        Function::Sqrt => a.sqrt(),
        Function::Power | Function::Exp | Function::Log | Function::Tanh => return None,
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual => unreachable!("{function} is a comparison"),
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot | Function::Select => {
            unreachable!("{function} is not defined for {dtype}")
        }
    };
    Some(float(dtype, exact))
}

/// The number of a float dtype that is nearest to `exact`.
#[allow(clippy::cast_possible_truncation, reason = "the number has been rounded to the dtype before")]
pub(super) fn float(dtype: DType, exact: f64) -> Scalar {
    let format = Format::of(dtype);
    match dtype {
        DType::F64 => Scalar::F64(exact),
        DType::F32 => Scalar::F32(format.nearest(exact) as f32),
        DType::F16 => Scalar::F16(f16::from_f64(format.nearest(exact))),
        DType::Bf16 => Scalar::Bf16(bf16::from_f64(format.nearest(exact))),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => unreachable!("{dtype} is not a float dtype"),
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => unreachable!("{dtype} is not a float dtype"),
        DType::Bool => unreachable!("bool is not a float dtype"),
    }
}

/// A binary floating-point format.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// The bits of the significand.
    pub(super) digits: i32,
    /// The exponent of the largest power of two.
    pub(super) highest: i32,
}

impl Format {
    pub(super) fn of(dtype: DType) -> Format {
        let (digits, highest) = match dtype {
            DType::F32 => (24, 127),
            DType::F16 => (11, 15),
            DType::Bf16 => (8, 127),
            DType::F64 => (53, 1023),
            DType::I64 | DType::I32 | DType::I16 | DType::I8 => unreachable!("{dtype} is not a float dtype"),
            DType::U64 | DType::U32 | DType::U16 | DType::U8 => unreachable!("{dtype} is not a float dtype"),
            DType::Bool => unreachable!("bool is not a float dtype"),
        };
        Format { digits, highest }
    }

    /// The exponent of the smallest normal number.
    pub(super) fn lowest(self) -> i32 {
        1 - self.highest
    }

    /// The exponent of the smallest subnormal number.
    pub(super) fn smallest(self) -> i32 {
        self.lowest() - (self.digits - 1)
    }

    /// The largest finite number.
    pub(super) fn largest(self) -> f64 {
        (2.0 - power_of_two(1 - self.digits)) * power_of_two(self.highest)
    }

    /// The nearest number of a format narrower than f64, ties to even: a multiple of the distance between
    /// neighbours at this size.
    fn nearest(self, exact: f64) -> f64 {
        if exact == 0.0 || !exact.is_finite() {
            return exact;
        }
        let step = power_of_two((exponent(exact) - self.digits + 1).max(self.smallest()));
        let rounded = (exact / step).round_ties_even() * step;
        if rounded.abs() > self.largest() { f64::INFINITY.copysign(exact) } else { rounded }
    }
}

/// 2 to the power of an exponent, also a subnormal one.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    let normal = |exponent: i32| f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << 52);
    if exponent < -1022 { normal(exponent + 60) * normal(-60) } else { normal(exponent) }
}

/// The exponent of a number that is not zero and not subnormal: 2^exponent <= |number| < 2^(exponent + 1). A
/// subnormal f64 gives -1023, which is below the range of every narrower format.
fn exponent(number: f64) -> i32 {
    let biased = number.abs().to_bits() >> 52;
    i32::try_from(biased).expect("eleven bits") - 1023
}

#[cfg(test)]
mod tests {
    use super::super::lanes::specials::{specials, subnormals};
    use super::*;

    const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::Bf16];

    fn arguments(function: Function, dtype: DType) -> Vec<Vec<Scalar>> {
        let values: Vec<Scalar> = specials(dtype).into_iter().chain(subnormals(dtype)).collect();
        let truths = [Scalar::Bool(false), Scalar::Bool(true)];
        let pairs = || values.iter().flat_map(|&a| values.iter().map(move |&b| vec![a, b]));
        match function.arity() {
            1 => values.iter().map(|&value| vec![value]).collect(),
            2 => pairs().collect(),
            _ => pairs().flat_map(|pair| truths.map(|truth| vec![truth, pair[0], pair[1]])).collect(),
        }
    }

    #[test]
    fn values_by_hand() {
        let i8 = |value| Scalar::I8(value);
        assert_eq!(value(Function::Add, &[i8(127), i8(1)]), i8(-128));
        assert_eq!(value(Function::Abs, &[i8(-128)]), i8(-128));
        assert_eq!(value(Function::Negate, &[Scalar::U8(1)]), Scalar::U8(255));
        let most = Scalar::U64(u64::MAX);
        assert_eq!(value(Function::Multiply, &[most, most]), Scalar::U64(1));
        let zeros = [Scalar::F64(-0.0), Scalar::F64(0.0)];
        assert_eq!(value(Function::Maximum, &zeros), Scalar::F64(0.0));
        assert_eq!(value(Function::Minimum, &zeros), Scalar::F64(-0.0));
        assert_eq!(value(Function::Equal, &zeros), Scalar::Bool(true));
        let nan = [Scalar::F64(f64::NAN), Scalar::F64(1.0)];
        assert_eq!(value(Function::Minimum, &nan), Scalar::F64(f64::NAN));
        assert_eq!(value(Function::NotEqual, &nan), Scalar::Bool(true));
        assert_eq!(value(Function::LessEqual, &nan), Scalar::Bool(false));
        // V-5: a tie, to even.
        let half = |value| Scalar::F16(f16::from_f32(value));
        assert_eq!(value(Function::Add, &[half(2048.0), half(1.0)]), half(2048.0));
        assert_eq!(number(DType::U8, -1.0), Scalar::U8(255));
    }

    #[test]
    fn the_formulas_agree_with_the_reference() {
        for dtype in DType::ALL {
            for &function in Function::ALL.iter().filter(|&&function| is_defined(function, dtype)) {
                for arguments in arguments(function, dtype) {
                    assert_eq!(
                        value(function, &arguments),
                        apply(function, &arguments),
                        "{function} {arguments:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_function_is_defined_as_the_reference_has_it() {
        use broadcheck_spec::Expression;
        for dtype in DType::ALL {
            for &function in Function::ALL {
                let expression = Expression::call(function, (0..function.arity()).map(Expression::operand));
                let dtypes = if function == Function::Select {
                    vec![DType::Bool, dtype, dtype]
                } else {
                    vec![dtype; 2]
                };
                let accepted = broadcheck_reference::result_dtype(&expression.unwrap(), &dtypes).is_ok();
                assert_eq!(is_defined(function, dtype), accepted, "{function} of {dtype}");
            }
        }
    }

    #[test]
    fn inexact_functions_agree_with_the_standard_library() {
        // Both are within 2 units in the last place of the exact value; rounding to a narrower dtype adds one
        // half.
        let close = |dtype: DType, ours: Scalar, theirs: f64| {
            let (Some(ours), Some(theirs)) = (ours.as_f64(), float(dtype, theirs).as_f64()) else {
                return false;
            };
            let format = Format::of(dtype);
            let unit = power_of_two((exponent(theirs) - format.digits + 1).max(format.smallest()));
            ours == theirs || ours.is_nan() && theirs.is_nan() || (ours - theirs).abs() <= 4.0 * unit
        };
        for dtype in FLOATS {
            for (function, standard) in [
                (Function::Exp, (|a, _| f64::exp(a)) as fn(f64, f64) -> f64),
                (Function::Log, |a, _| f64::ln(a)),
                (Function::Tanh, |a, _| f64::tanh(a)),
                (Function::Power, f64::powf),
            ] {
                for arguments in arguments(function, dtype) {
                    let exact = |place: usize| arguments[place].as_f64().unwrap();
                    let theirs = standard(exact(0), exact(arguments.len() - 1));
                    let ours = value(function, &arguments);
                    assert!(close(dtype, ours, theirs), "{function} {arguments:?}: {ours}, {theirs}");
                }
            }
        }
    }

    #[test]
    fn formulas_by_hand() {
        let f16 = |value: f64| float(DType::F16, value);
        assert_eq!(f16(2049.0), f16(2048.0), "a tie, to even");
        assert_eq!((f16(65_519.0), f16(65_520.0)), (f16(65_504.0), f16(f64::INFINITY)));
        assert_eq!(f16(-power_of_two(-25)), f16(-0.0), "a tie below the smallest subnormal");
        assert_eq!(integer(DType::I8, 128), Scalar::I8(-128));
        assert_eq!(integer(DType::U8, -1), Scalar::U8(255));
        assert_eq!(value(Function::Abs, &[Scalar::I16(i16::MIN)]), Scalar::I16(i16::MIN));
        let most = Scalar::U64(u64::MAX);
        assert_eq!(value(Function::Multiply, &[most, most]), Scalar::U64(1));
        let zeros = [Scalar::F32(-0.0), Scalar::F32(0.0)];
        assert_eq!(value(Function::Maximum, &zeros), Scalar::F32(0.0));
        assert_eq!(value(Function::Minimum, &zeros), Scalar::F32(-0.0));
    }
}
