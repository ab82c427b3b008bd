//! The innermost loop of a vectorised kernel: instructions that are almost the right ones, whole vectors that
//! differ from the tail, and variants for an argument that is the same for all lanes.

use super::invented;
use crate::engine::convert::{as_f64, convert, zero};
use crate::engine::lanes::Lane;
use crate::{Class, Fault};
use broadcheck_reference::apply;
use broadcheck_spec::Function as F;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Scalar};

const K: Class = Class::Kernels;

/// A fault in the values of lanes: `None` leaves the value as it is.
macro_rules! lanes {
    (|$lane:ident| $body:expr) => {
        |d| d.lanes.value = |$lane, value| (|| $body)().unwrap_or(value)
    };
    (|$lane:ident, $value:ident| $body:expr) => {
        |d| d.lanes.value = |$lane, $value| (|| $body)().unwrap_or($value)
    };
}

impl Lane<'_> {
    /// Whether this is a call of the function with arguments of the dtype.
    fn is(&self, function: F, dtype: DType) -> bool {
        self.function == function && self.dtype() == dtype
    }

    /// The arguments as integers.
    fn integers<const N: usize>(&self) -> Option<[i128; N]> {
        let values: Option<Vec<i128>> = self.arguments.iter().map(|value| value.as_i128()).collect();
        values?.try_into().ok()
    }

    /// The arguments as floats.
    fn floats<const N: usize>(&self) -> Option<[f64; N]> {
        let values: Option<Vec<f64>> = self.arguments.iter().map(|value| value.as_f64()).collect();
        values?.try_into().ok()
    }

    /// A number in the dtype of the arguments. Integers wrap.
    fn number(&self, value: f64) -> Scalar {
        convert(Scalar::F64(value), self.dtype())
    }

    /// The elements of a vector of this many bytes.
    fn width(&self, bytes: usize) -> usize {
        let size = match self.dtype() {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        };
        bytes / size
    }

    /// Whether the element is in a whole vector of this many bytes.
    fn in_bytes(&self, bytes: usize) -> bool {
        self.in_vector(self.width(bytes))
    }

    fn is_float(&self) -> bool {
        self.dtype().is_float()
    }

    /// The value of the call with exchanged arguments.
    fn exchanged(&self) -> Scalar {
        apply(self.function, &[self.arguments[1], self.arguments[0]])
    }
}

/// An integer of a dtype, wrapped.
fn integer(value: i128, dtype: DType) -> Scalar {
    #[allow(clippy::cast_possible_truncation, reason = "the bits that remain are those that are compared")]
    convert(Scalar::I64(value as i64), dtype)
}

/// The range of a narrow integer dtype.
fn range(dtype: DType) -> Option<(i128, i128)> {
    match dtype {
        DType::I8 => Some((-128, 127)),
        DType::U8 => Some((0, 255)),
        DType::I16 => Some((-32768, 32767)),
        DType::U16 => Some((0, 65535)),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => None,
        DType::I64 | DType::I32 | DType::U64 | DType::U32 => None,
    }
}

/// Integers of at most 32 bits, in the signed dtype of the same width.
fn as_signed(dtype: DType) -> Option<DType> {
    match dtype {
        DType::U8 => Some(DType::I8),
        DType::U16 => Some(DType::I16),
        DType::U32 => Some(DType::I32),
        DType::U64 => Some(DType::I64),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => None,
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => None,
    }
}

/// The call with its unsigned arguments taken as signed.
fn signed(lane: &Lane<'_>) -> Option<Scalar> {
    let dtype = as_signed(lane.dtype())?;
    let [a, b] = lane.integers()?;
    let value = apply(lane.function, &[integer(a, dtype), integer(b, dtype)]);
    Some(match value.as_i128() {
        Some(number) => integer(number, lane.dtype()),
        None => value,
    })
}

fn is_order(function: F) -> bool {
    matches!(function, F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
}

fn is_extreme(function: F) -> bool {
    matches!(function, F::Maximum | F::Minimum)
}

fn is_arithmetic(function: F) -> bool {
    matches!(function, F::Add | F::Subtract | F::Multiply | F::Divide)
}

/// The exact result of arithmetic on narrow floats.
fn exact(lane: &Lane<'_>) -> Option<f64> {
    let [a, b] = lane.floats()?;
    match lane.function {
        F::Add => Some(a + b),
        F::Subtract => Some(a - b),
        F::Multiply => Some(a * b),
        _ => None,
    }
}

/// The nearest f16, ties away from zero.
fn away(value: f64) -> f16 {
    let nearest = f16::from_f64(value);
    if !nearest.is_finite() || nearest.to_f64().abs() >= value.abs() {
        return nearest;
    }
    let next = f16::from_bits(nearest.to_bits() + 1);
    let is_tie = (next.to_f64() - value).abs().to_bits() == (value - nearest.to_f64()).abs().to_bits();
    if is_tie { next } else { nearest }
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "kernels/unsigned-extremes-as-signed",
        K,
        "In whole vectors, maximum and minimum of unsigned integers use the signed instruction.",
        lanes!(|lane| (is_extreme(lane.function) && lane.in_bytes(16)).then(|| signed(lane))?),
    ),
    invented(
        "kernels/unsigned-order-as-signed",
        K,
        "In whole vectors, unsigned integers are compared as signed, as there is no other instruction.",
        lanes!(|lane| (is_order(lane.function) && lane.in_bytes(32)).then(|| signed(lane))?),
    ),
    invented(
        "kernels/unsigned-order-as-signed-in-the-tail",
        K,
        "In the tail, unsigned integers of 8 bits are compared as signed.",
        lanes!(|lane| {
            let applies = is_order(lane.function) && lane.dtype() == DType::U8 && lane.in_tail(16);
            applies.then(|| signed(lane))?
        }),
    ),
    invented(
        "kernels/wide-order-by-low-halves",
        K,
        "In whole vectors, the low halves of 64-bit integers with equal high halves are compared as signed.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let wide = matches!(lane.dtype(), DType::I64 | DType::U64);
            let low = |value: i128| integer(value, DType::I32);
            let applies = is_order(lane.function) && wide && lane.in_bytes(16) && a >> 32 == b >> 32;
            applies.then(|| apply(lane.function, &[low(a), low(b)]))
        }),
    ),
    invented(
        "kernels/wide-equality-of-low-halves",
        K,
        "In whole vectors, 64-bit integers are equal if their low halves are.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.function == F::Equal && lane.width(8) == 1 && lane.in_bytes(32);
            applies.then(|| Scalar::Bool((a ^ b) & 0xffff_ffff == 0))
        }),
    ),
    invented(
        "kernels/extremes-of-nan",
        K,
        "In whole vectors of f32, maximum and minimum return the second argument if either is NaN.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = is_extreme(lane.function) && lane.dtype() == DType::F32 && lane.in_bytes(32);
            (applies && (a.is_nan() || b.is_nan())).then(|| lane.arguments[1])
        }),
    ),
    invented(
        "kernels/extremes-of-nan-in-the-tail",
        K,
        "In the tail, maximum and minimum use the C functions fmax and fmin, which ignore NaN.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = is_extreme(lane.function) && lane.in_tail(4) && a.is_nan() != b.is_nan();
            applies.then(|| lane.arguments[usize::from(a.is_nan())])
        }),
    ),
    invented(
        "kernels/extremes-of-zeros",
        K,
        "In whole vectors of f64, maximum and minimum of two zeros return the second argument.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = is_extreme(lane.function) && lane.dtype() == DType::F64 && lane.in_bytes(16);
            (applies && a.abs() + b.abs() == 0.0).then(|| lane.arguments[1])
        }),
    ),
    invented(
        "kernels/extremes-of-infinities",
        K,
        "The running maximum of a vector starts at the least finite number, so -infinity is lost.",
        lanes!(|lane, value| {
            let lost = lane.function == F::Maximum && value.as_f64()? == f64::NEG_INFINITY;
            let least = match lane.dtype() {
                DType::F32 => f64::from(f32::MIN),
                DType::F16 => f16::MIN.to_f64(),
                DType::Bf16 => bf16::MIN.to_f64(),
                _ => f64::MIN,
            };
            (lost && lane.in_vector(4)).then(|| lane.number(least))
        }),
    ),
    invented(
        "kernels/u8-sums-saturate",
        K,
        "In whole vectors, addition of u8 uses the saturating instruction.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            (lane.is(F::Add, DType::U8) && lane.in_bytes(16)).then(|| integer((a + b).min(255), DType::U8))
        }),
    ),
    invented(
        "kernels/i8-sums-saturate",
        K,
        "In whole vectors of 32 bytes, addition of i8 uses the saturating instruction.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.is(F::Add, DType::I8) && lane.in_bytes(32);
            applies.then(|| integer((a + b).clamp(-128, 127), DType::I8))
        }),
    ),
    invented(
        "kernels/u16-differences-saturate",
        K,
        "In whole vectors, subtraction of u16 uses the saturating instruction.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.is(F::Subtract, DType::U16) && lane.in_bytes(16);
            applies.then(|| integer((a - b).max(0), DType::U16))
        }),
    ),
    invented(
        "kernels/i8-products-packed",
        K,
        "In whole vectors, products of i8 are computed in 16 bits and packed with saturation.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.is(F::Multiply, DType::I8) && lane.in_bytes(16);
            applies.then(|| integer((a * b).clamp(-128, 127), DType::I8))
        }),
    ),
    invented(
        "kernels/u8-products-packed",
        K,
        "In whole vectors, products of u8 are computed in 16 bits and packed with saturation.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.is(F::Multiply, DType::U8) && lane.in_bytes(16);
            applies.then(|| integer((a * b).min(255), DType::U8))
        }),
    ),
    invented(
        "kernels/i16-products-high",
        K,
        "In whole vectors, a product of i16 is the high half where it does not fit.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let (least, most) = range(DType::I16)?;
            let applies = lane.is(F::Multiply, DType::I16) && lane.in_bytes(16);
            (applies && !(least..=most).contains(&(a * b))).then(|| integer((a * b) >> 16, DType::I16))
        }),
    ),
    invented(
        "kernels/i32-products-in-double",
        K,
        "In whole vectors, products of 32-bit integers are computed in f64 and converted with saturation.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.is(F::Multiply, DType::I32) && lane.in_bytes(16);
            applies.then(|| integer((a * b).clamp(i32::MIN.into(), i32::MAX.into()), DType::I32))
        }),
    ),
    invented(
        "kernels/wide-products-without-a-cross-term",
        K,
        "In whole vectors, products of 64-bit integers lack one of the two products of a high with a low half.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let wide = matches!(lane.dtype(), DType::I64 | DType::U64);
            let (low, high) = (a & 0xffff_ffff, (a >> 32) & 0xffff_ffff);
            let (other_low, _) = (b & 0xffff_ffff, (b >> 32) & 0xffff_ffff);
            let product = low * other_low + (((high * other_low) & 0xffff_ffff) << 32);
            let applies = lane.function == F::Multiply && wide && lane.in_bytes(32);
            applies.then(|| integer(product, lane.dtype()))
        }),
    ),
    invented(
        "kernels/abs-of-the-least-i16",
        K,
        "In whole vectors, abs of i16 is the maximum of x and the saturated -x.",
        lanes!(|lane| {
            let [a] = lane.integers()?;
            let applies = lane.is(F::Abs, DType::I16) && lane.in_bytes(16) && a == -32768;
            applies.then(|| Scalar::I16(i16::MAX))
        }),
    ),
    invented(
        "kernels/abs-of-i64-by-32-bits",
        K,
        "In whole vectors, the sign for abs of i64 is that of the low half.",
        lanes!(|lane| {
            let [a] = lane.integers()?;
            let applies = lane.is(F::Abs, DType::I64) && lane.in_bytes(16);
            applies.then(|| integer(if (a >> 31) & 1 == 1 { -a } else { a }, DType::I64))
        }),
    ),
    invented(
        "kernels/abs-by-comparison",
        K,
        "In whole vectors, abs of a float is x < 0 ? -x : x, which keeps -0.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            (lane.function == F::Abs && lane.in_vector(4) && a == 0.0).then(|| lane.arguments[0])
        }),
    ),
    invented(
        "kernels/negation-from-zero",
        K,
        "In the tail, a float is negated by subtracting it from 0.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            (lane.function == F::Negate && lane.in_tail(8) && a == 0.0).then(|| zero(lane.dtype()))
        }),
    ),
    invented(
        "kernels/negation-of-u8-saturates",
        K,
        "In whole vectors, u8 is negated by a saturating subtraction from 0.",
        lanes!(|lane| (lane.is(F::Negate, DType::U8) && lane.in_bytes(16)).then_some(Scalar::U8(0))),
    ),
    invented(
        "kernels/quotients-by-reciprocals",
        K,
        "In whole vectors of f32, division multiplies by the reciprocal.",
        lanes!(|lane| {
            let [a, b] = lane.arguments[..] else { return None };
            let applies = lane.is(F::Divide, DType::F32) && lane.in_bytes(32);
            let inverse = apply(F::Divide, &[lane.number(1.0), b]);
            applies.then(|| apply(F::Multiply, &[a, inverse]))
        }),
    ),
    invented(
        "kernels/quotients-by-a-splat",
        K,
        "If the divisor is the same for all lanes, whole vectors multiply by its reciprocal.",
        lanes!(|lane| {
            let [a, b] = lane.arguments[..] else { return None };
            let applies = lane.function == F::Divide && lane.is_splat(1) && lane.in_vector(4);
            let inverse = apply(F::Divide, &[lane.number(1.0), b]);
            applies.then(|| apply(F::Multiply, &[a, inverse]))
        }),
    ),
    invented(
        "kernels/root-by-reciprocal-root",
        K,
        "In whole vectors of f32, sqrt is x times the reciprocal root, which is NaN for 0 and infinity.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.is(F::Sqrt, DType::F32) && lane.in_bytes(16);
            (applies && (a == 0.0 || a == f64::INFINITY)).then(|| lane.number(f64::NAN))
        }),
    ),
    invented(
        "kernels/root-in-single",
        K,
        "In whole vectors, sqrt of f64 is computed in f32.",
        lanes!(|lane, value| {
            let applies = lane.is(F::Sqrt, DType::F64) && lane.in_bytes(32);
            applies.then(|| convert(convert(value, DType::F32), DType::F64))
        }),
    ),
    invented(
        "kernels/root-of-negative-numbers",
        K,
        "In the tail, sqrt is that of the absolute value.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.function == F::Sqrt && lane.in_tail(4) && a < 0.0;
            applies.then(|| apply(F::Sqrt, &[lane.number(-a)]))
        }),
    ),
    invented(
        "kernels/subnormals-flushed-in-vectors",
        K,
        "In whole vectors of f32, subnormal results are flushed to zero.",
        lanes!(|lane, value| {
            let applies = lane.dtype() == DType::F32 && lane.in_bytes(32) && value.is_subnormal();
            applies.then(|| lane.number(0f64.copysign(as_f64(value))))
        }),
    ),
    invented(
        "kernels/subnormals-flushed-in-the-tail",
        K,
        "In the tail of f64, subnormal results are flushed to zero.",
        lanes!(|lane, value| {
            let applies = lane.dtype() == DType::F64 && lane.in_tail(4) && value.is_subnormal();
            applies.then(|| lane.number(0f64.copysign(as_f64(value))))
        }),
    ),
    invented(
        "kernels/subnormal-arguments-are-zero",
        K,
        "In whole vectors of f32, subnormal arguments of arithmetic and comparisons count as zero.",
        lanes!(|lane| {
            let applies = lane.dtype() == DType::F32 && lane.in_bytes(16) && lane.arguments.len() == 2;
            let flushed = |value: &Scalar| match value.is_subnormal() {
                true => convert(Scalar::F64(0f64.copysign(as_f64(*value))), DType::F32),
                false => *value,
            };
            let arguments: Vec<Scalar> = lane.arguments.iter().map(flushed).collect();
            (applies && arguments != lane.arguments).then(|| apply(lane.function, &arguments))
        }),
    ),
    invented(
        "kernels/product-added-to-zero",
        K,
        "In whole vectors, a product is accumulated onto 0, which turns -0 into 0.",
        lanes!(|lane, value| {
            let applies = lane.function == F::Multiply && lane.is_float() && lane.in_vector(8);
            (applies && as_f64(value) == 0.0).then(|| zero(lane.dtype()))
        }),
    ),
    invented(
        "kernels/f16-ties-away",
        K,
        "In whole vectors, f16 rounds ties away from zero.",
        lanes!(|lane| {
            let applies = lane.dtype() == DType::F16 && lane.in_vector(8);
            let value = exact(lane)?;
            applies.then(|| Scalar::F16(if value < 0.0 { -away(-value) } else { away(value) }))
        }),
    ),
    invented(
        "kernels/bf16-ties-up",
        K,
        "In whole vectors, bf16 is rounded by adding half a unit, which rounds ties away from zero.",
        lanes!(|lane| {
            let applies = lane.dtype() == DType::Bf16 && lane.in_vector(8);
            let exact = convert(Scalar::F64(exact(lane)?), DType::F32);
            let Scalar::F32(value) = exact else { return None };
            let bits = u16::try_from((value.to_bits().wrapping_add(0x8000)) >> 16).ok()?;
            (applies && value.is_finite()).then(|| Scalar::Bf16(bf16::from_bits(bits)))
        }),
    ),
    invented(
        "kernels/f16-saturates",
        K,
        "In whole vectors, an f16 beyond the range is the largest finite number.",
        lanes!(|lane, value| {
            let overflowed = as_f64(value).is_infinite() && lane.floats::<2>()?.iter().all(|a| a.is_finite());
            let applies = lane.dtype() == DType::F16 && lane.in_vector(8) && is_arithmetic(lane.function);
            (applies && overflowed).then(|| lane.number(65504f64.copysign(as_f64(value))))
        }),
    ),
    invented(
        "kernels/f16-through-bf16-in-the-tail",
        K,
        "In the tail, f16 is converted to bf16 and back.",
        lanes!(|lane, value| {
            let applies = lane.dtype() == DType::F16 && lane.in_tail(8) && is_arithmetic(lane.function);
            applies.then(|| convert(convert(value, DType::Bf16), DType::F16))
        }),
    ),
    invented("kernels/mask-of-pairs", K, "select widens each mask for two lanes instead of one.", |d| {
        d.evaluate.condition = |lane| lane & !1;
    }),
    invented(
        "kernels/not-is-bitwise",
        K,
        "In whole vectors of 16, logical_not inverts all bits, so not true is true.",
        lanes!(|lane| (lane.function == F::LogicalNot && lane.in_vector(16)).then_some(Scalar::Bool(true))),
    ),
    invented(
        "kernels/mask-of-eight",
        K,
        "In vectors of 16 lanes, the mask of a comparison has only eight bits.",
        lanes!(|lane| {
            let comparison = is_order(lane.function) || matches!(lane.function, F::Equal | F::NotEqual);
            (comparison && lane.in_vector(16) && lane.place % 16 >= 8).then_some(Scalar::Bool(false))
        }),
    ),
    invented(
        "kernels/equality-of-bits",
        K,
        "In whole vectors, floats are equal if their bits are: -0 differs from 0, and NaN equals itself.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            (lane.function == F::Equal && lane.in_vector(4)).then(|| Scalar::Bool(a.to_bits() == b.to_bits()))
        }),
    ),
    invented(
        "kernels/order-of-bits",
        K,
        "In whole vectors, floats are ordered by their bits, which reverses negative numbers.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = is_order(lane.function) && lane.in_vector(8) && a < 0.0 && b < 0.0;
            applies.then(|| lane.exchanged())
        }),
    ),
    invented(
        "kernels/order-negated",
        K,
        "In whole vectors, a >= b and a <= b are the negated a < b and a > b, which are true for NaN.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = matches!(lane.function, F::LessEqual | F::GreaterEqual) && lane.in_vector(8);
            (applies && (a.is_nan() || b.is_nan())).then_some(Scalar::Bool(true))
        }),
    ),
    invented(
        "kernels/not-equal-is-ordered",
        K,
        "In whole vectors, not_equal uses the ordered comparison, which is false for NaN.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = lane.function == F::NotEqual && lane.in_vector(4);
            (applies && (a.is_nan() || b.is_nan())).then_some(Scalar::Bool(false))
        }),
    ),
    invented(
        "kernels/less-by-the-sign-of-a-difference",
        K,
        "In whole vectors, i8 is compared by the sign of a difference that wraps.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let applies = lane.is(F::Less, DType::I8) && lane.in_bytes(16);
            applies.then(|| Scalar::Bool(integer(a - b, DType::I8).as_i128() < Some(0)))
        }),
    ),
    invented(
        "kernels/tail-of-one-exchanged",
        K,
        "A tail of one element exchanges the arguments of subtract.",
        lanes!(|lane| {
            let applies = lane.function == F::Subtract && lane.in_tail(4) && lane.length % 4 == 1;
            applies.then(|| lane.exchanged())
        }),
    ),
    invented(
        "kernels/tail-above-four-cleared",
        K,
        "A tail of more than four elements is stored with a mask of four, and the others become 0.",
        lanes!(|lane, value| {
            let whole = lane.length / 8 * 8;
            (lane.in_tail(8) && lane.place - whole >= 4).then(|| zero(value.dtype()))
        }),
    ),
    invented(
        "kernels/tail-of-seven-lacks-its-last",
        K,
        "In a tail of seven elements, the last one is 0.",
        lanes!(|lane, value| {
            let last = lane.place + 1 == lane.length && lane.length % 8 == 7;
            (last && lane.in_tail(8)).then(|| zero(value.dtype()))
        }),
    ),
    invented(
        "kernels/tail-of-fifteen-lacks-its-last",
        K,
        "In a tail of fifteen bytes, the last one is 0.",
        lanes!(|lane, value| {
            let last = lane.place + 1 == lane.length && lane.length % 16 == 15;
            (last && lane.width(16) == 16 && lane.in_tail(16)).then(|| zero(value.dtype()))
        }),
    ),
    invented(
        "kernels/tail-store-clears-the-vector",
        K,
        "The masked store of a tail clears the last element of the vector before it.",
        lanes!(|lane, value| {
            let whole = lane.length / 8 * 8;
            let cleared = lane.length > 8 && whole < lane.length && lane.place + 1 == whole;
            cleared.then(|| zero(value.dtype()))
        }),
    ),
    invented(
        "kernels/splat-on-the-left-exchanged",
        K,
        "In whole vectors, a scalar minus a vector is the vector minus the scalar.",
        lanes!(|lane| {
            let applies = lane.function == F::Subtract && lane.is_splat(0) && !lane.is_splat(1);
            (applies && lane.in_vector(4)).then(|| lane.exchanged())
        }),
    ),
    invented(
        "kernels/splat-on-the-right-of-an-order",
        K,
        "In whole vectors, a comparison with a scalar on the right has the scalar on the left.",
        lanes!(|lane| {
            let applies = is_order(lane.function) && lane.is_splat(1) && !lane.is_splat(0);
            (applies && lane.in_vector(8)).then(|| lane.exchanged())
        }),
    ),
    invented(
        "kernels/splat-numerator-inverted",
        K,
        "A scalar divided by a vector is the scalar times the reciprocal.",
        lanes!(|lane| {
            let [a, b] = lane.arguments[..] else { return None };
            let applies = lane.function == F::Divide && lane.is_splat(0) && !lane.is_splat(1);
            let inverse = apply(F::Divide, &[lane.number(1.0), b]);
            applies.then(|| apply(F::Multiply, &[a, inverse]))
        }),
    ),
    invented(
        "kernels/splat-extreme-drops-nan",
        K,
        "The maximum or minimum of a vector and a scalar on the right is the scalar where the vector is NaN.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = is_extreme(lane.function) && lane.is_splat(1) && a.is_nan() && !b.is_nan();
            applies.then(|| lane.arguments[1])
        }),
    ),
    invented(
        "kernels/splat-narrowed-to-single",
        K,
        "A scalar of f64 on the right is passed to the kernel as an f32.",
        lanes!(|lane| {
            let [a, b] = lane.arguments[..] else { return None };
            let applies = lane.dtype() == DType::F64 && lane.is_splat(1) && !lane.is_splat(0);
            let narrow = convert(convert(b, DType::F32), DType::F64);
            applies.then(|| apply(lane.function, &[a, narrow]))
        }),
    ),
    invented(
        "kernels/splat-narrowed-to-i32",
        K,
        "A scalar of i64 on the left is passed to the kernel as an i32.",
        lanes!(|lane| {
            let [a, b] = lane.arguments[..] else { return None };
            let applies = lane.dtype() == DType::I64 && lane.is_splat(0) && !lane.is_splat(1);
            let narrow = convert(convert(a, DType::I32), DType::I64);
            applies.then(|| apply(lane.function, &[narrow, b]))
        }),
    ),
    invented(
        "kernels/splat-exponent-truncated",
        K,
        "A scalar exponent is passed to power as an integer.",
        lanes!(|lane| {
            let [a, b] = lane.arguments[..] else { return None };
            let exponent = as_f64(b);
            let applies = lane.function == F::Power && lane.is_splat(1) && exponent.is_finite();
            applies.then(|| apply(F::Power, &[a, lane.number(exponent.trunc())]))
        }),
    ),
    invented(
        "kernels/splat-condition-ignores-branches",
        K,
        "A select with a scalar condition and a scalar branch returns the branch whatever the condition is.",
        lanes!(|lane| {
            let applies = lane.function == F::Select && lane.is_splat(0) && lane.is_splat(2);
            (applies && !lane.is_splat(1) && lane.in_vector(4)).then(|| lane.arguments[2])
        }),
    ),
    invented(
        "kernels/second-unrolled-vector-exchanged",
        K,
        "In a loop over four vectors of eight, the second exchanges the arguments of subtract and divide.",
        lanes!(|lane| {
            let applies = matches!(lane.function, F::Subtract | F::Divide) && lane.in_vector(32);
            (applies && lane.place % 32 / 8 == 1).then(|| lane.exchanged())
        }),
    ),
    invented(
        "kernels/third-unrolled-vector-minimum",
        K,
        "In a loop over four vectors of eight, the third computes minimum instead of maximum.",
        lanes!(|lane| {
            let applies = lane.function == F::Maximum && lane.in_vector(32) && lane.place % 32 / 8 == 2;
            applies.then(|| apply(F::Minimum, lane.arguments))
        }),
    ),
    invented(
        "kernels/fourth-unrolled-vector-product",
        K,
        "In a loop over four vectors of 16 bytes, the fourth computes multiply of f32 as an addition.",
        lanes!(|lane| {
            let applies = lane.is(F::Multiply, DType::F32) && lane.in_vector(16) && lane.place % 16 / 4 == 3;
            applies.then(|| apply(F::Add, lane.arguments))
        }),
    ),
    invented(
        "kernels/second-unrolled-vector-without-a-splat",
        K,
        "In the second vector of a loop over two vectors of 32 bytes, a scalar on the left is not subtracted from.",
        lanes!(|lane| {
            let width = lane.width(32);
            let second = lane.in_vector(2 * width) && lane.place / width % 2 == 1;
            let applies = lane.function == F::Subtract && lane.is_splat(0) && !lane.is_splat(1);
            (applies && second).then(|| lane.arguments[1])
        }),
    ),
    invented(
        "kernels/long-runs-lose-negative-zero",
        K,
        "The loop for runs of more than 64 elements loses the sign of -0 in a negation.",
        lanes!(|lane, value| {
            let applies = lane.function == F::Negate && lane.is_float() && lane.length > 64;
            (applies && as_f64(value) == 0.0).then(|| zero(lane.dtype()))
        }),
    ),
    invented(
        "kernels/long-runs-compare-nan",
        K,
        "The loop for runs of more than 512 elements computes not_equal as less or greater.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = lane.function == F::NotEqual && lane.length > 512;
            (applies && (a.is_nan() || b.is_nan())).then_some(Scalar::Bool(false))
        }),
    ),
    invented(
        "kernels/exp-overflows-early",
        K,
        "In whole vectors, exp of f32 is infinite above 88.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.is(F::Exp, DType::F32) && lane.in_bytes(16) && a > 88.0;
            applies.then(|| lane.number(f64::INFINITY))
        }),
    ),
    invented(
        "kernels/exp-of-nan",
        K,
        "In whole vectors, the clamped argument of exp loses NaN, and the result is infinite.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.function == F::Exp && lane.in_vector(4) && a.is_nan();
            applies.then(|| lane.number(f64::INFINITY))
        }),
    ),
    invented(
        "kernels/log-of-zero",
        K,
        "In whole vectors, log of 0 is that of the smallest normal number.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.function == F::Log && lane.in_vector(4) && a == 0.0;
            applies.then(|| lane.number(-87.336_54))
        }),
    ),
    invented(
        "kernels/log-of-negative-numbers",
        K,
        "In the tail, log is that of the absolute value.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.function == F::Log && lane.in_tail(4) && a < 0.0;
            applies.then(|| apply(F::Log, &[lane.number(-a)]))
        }),
    ),
    invented(
        "kernels/tanh-of-nan",
        K,
        "In whole vectors of f32, the clamped argument of tanh loses NaN, and the result is -1.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.is(F::Tanh, DType::F32) && lane.in_bytes(16) && a.is_nan();
            applies.then(|| lane.number(-1.0))
        }),
    ),
    invented(
        "kernels/tanh-of-small-numbers",
        K,
        "tanh is computed from exp, which loses the digits of small arguments.",
        lanes!(|lane| {
            let [a] = lane.floats()?;
            let applies = lane.is(F::Tanh, DType::F64) && a.abs() < 0.01;
            let grown = (2.0 * a).exp();
            applies.then(|| lane.number((grown - 1.0) / (grown + 1.0)))
        }),
    ),
    invented(
        "kernels/power-of-negative-numbers",
        K,
        "In whole vectors, a power of a negative number is NaN, also for a whole exponent.",
        lanes!(|lane| {
            let [a, _] = lane.floats()?;
            let applies = lane.function == F::Power && lane.in_vector(4) && a < 0.0 && a.is_finite();
            applies.then(|| lane.number(f64::NAN))
        }),
    ),
    invented(
        "kernels/power-parity-in-32-bits",
        K,
        "Whether an exponent is odd is computed in 32 bits with saturation.",
        lanes!(|lane, value| {
            let [a, b] = lane.floats()?;
            let applies = lane.function == F::Power && a < 0.0 && b > f64::from(i32::MAX);
            (applies && b % 2.0 == 0.0).then(|| lane.number(-as_f64(value)))
        }),
    ),
    invented(
        "kernels/power-of-one",
        K,
        "In whole vectors, a power of 1 with the exponent NaN is NaN.",
        lanes!(|lane| {
            let [a, b] = lane.floats()?;
            let applies = lane.function == F::Power && lane.in_vector(4) && a == 1.0 && b.is_nan();
            applies.then(|| lane.number(f64::NAN))
        }),
    ),
    invented(
        "kernels/unaligned-tail",
        K,
        "The tail of a row that begins at an unaligned address is read from the address rounded down.",
        |d| {
            d.blocks.at = |at| {
                let position = at.base + at.step * at.place as i64;
                let tail = at.visit.length > 8 && at.place >= at.visit.length / 8 * 8;
                if tail && at.step == 1 { position - at.base.rem_euclid(4) } else { position }
            };
        },
    ),
    invented(
        "kernels/last-lane-reads-too-far",
        K,
        "The last element of a row of 8n+1 elements is read by a vector that starts one element too late.",
        |d| {
            d.blocks.at = |at| {
                let position = at.base + at.step * at.place as i64;
                let last = at.place + 1 == at.visit.length && at.visit.length > 8;
                if last && at.visit.length % 8 == 1 && at.step == 1 { position + 1 } else { position }
            };
        },
    ),
    invented(
        "kernels/strided-second-vector",
        K,
        "The second of two unrolled gathers of eight elements starts at the first one's addresses.",
        |d| {
            d.blocks.at = |at| {
                let second = at.place % 16 >= 8 && at.place < at.visit.length / 16 * 16;
                let place = if second && at.step > 1 { at.place - 8 } else { at.place };
                at.base + at.step * place as i64
            };
        },
    ),
    invented(
        "kernels/dense-pairs-in-long-rows",
        K,
        "If no argument is a scalar, subtract of rows of more than 128 elements is exchanged after the first 128.",
        lanes!(|lane| {
            let applies = lane.function == F::Subtract && lane.is_dense() && lane.length > 128;
            (applies && lane.place >= 128).then(|| lane.exchanged())
        }),
    ),
    invented(
        "kernels/peeled-elements-lose-negative-zero",
        K,
        "The elements before the first whole vector of the first row lose the sign of a product that is -0.",
        lanes!(|lane, value| {
            let applies = lane.function == F::Multiply && lane.is_float() && lane.run == 0;
            (applies && lane.place < lane.length % 4 && as_f64(value) == 0.0).then(|| zero(lane.dtype()))
        }),
    ),
];
