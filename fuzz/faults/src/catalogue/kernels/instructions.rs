//! Instructions that are almost the right ones.

use super::*;

pub(in super::super) static FAULTS: &[Fault] = &[
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
        "kernels/odd-bytes-from-the-upper-half",
        K,
        "In whole vectors, products of bytes at odd places are the upper half of their 16 bits.",
        lanes!(|lane| {
            let [a, b] = lane.integers()?;
            let is_odd = lane.width(16) == 16 && lane.in_bytes(16) && lane.place % 2 == 1;
            (lane.function == F::Multiply && is_odd).then(|| integer((a * b) >> 8, lane.dtype()))
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
        "kernels/mask-of-one-bit",
        K,
        "In whole vectors of 16 bytes, select of integers masks with its condition, so one bit is selected.",
        lanes!(|lane| {
            let [Scalar::Bool(true), a, b] = lane.arguments[..] else { return None };
            let applies = lane.function == F::Select && lane.in_bytes(16);
            let (a, other) = (a.as_i128()?, b.as_i128()?);
            applies.then(|| integer(other ^ (a ^ other) & 1, b.dtype()))
        }),
    ),
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
];
