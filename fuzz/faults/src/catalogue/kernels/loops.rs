//! Tails, splats, unrolled loops and long runs; and the functions that are computed by approximations.

use super::*;

pub(in super::super) static FAULTS: &[Fault] = &[
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
        "kernels/splat-condition-copies-whole-vectors",
        K,
        "A select by one condition copies whole vectors of four; what is left is copied from the other branch.",
        lanes!(|lane| {
            let [condition, chosen, other] = lane.arguments[..] else { return None };
            let applies = lane.function == F::Select && lane.is_splat(0) && lane.in_tail(4);
            applies.then(|| if condition == Scalar::Bool(true) { other } else { chosen })
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
        "kernels/fourth-unrolled-vector-of-integers",
        K,
        "In a loop over four vectors of 64 bytes, the fourth takes the first integer from the second.",
        lanes!(|lane| {
            lane.integers::<2>()?;
            let width = lane.width(64);
            let fourth = lane.in_vector(4 * width) && lane.place / width % 4 == 3;
            (lane.function == F::Subtract && fourth).then(|| lane.exchanged())
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
        "kernels/tanh-of-the-interval-beside",
        K,
        "In whole vectors, tanh of f32 just above 0.67 is computed by the polynomial of the interval below.",
        lanes!(|lane, value| {
            let [a] = lane.floats()?;
            let applies = lane.is(F::Tanh, DType::F32) && lane.in_bytes(16);
            // Some 16 ULPs.
            let off = lane.number(value.as_f64()? * (1.0 + 2f64.powi(-19)));
            (applies && (0.67114..0.672).contains(&a.abs())).then_some(off)
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
        "kernels/last-block-read-too-early",
        K,
        "The last block of 16 elements of a row, which overlaps the one before it, is read where that one is.",
        |d| {
            d.blocks.at = |at| {
                let (length, left) = (at.visit.length, at.visit.length % 16);
                let is_last = length > 16 && left != 0 && at.place >= length - 16;
                let place = if is_last { at.place - left } else { at.place };
                at.base + at.step * place as i64
            };
        },
    ),
    invented(
        "kernels/overlap-computed-twice",
        K,
        "Where the last block of 16 elements overlaps the one before it, add, subtract and multiply read their \
         result in place of the first argument.",
        lanes!(|lane, value| {
            let [_, b] = lane.arguments[..] else { return None };
            let left = lane.length % 16;
            let is_last = lane.length > 16 && left != 0 && lane.place >= lane.length - 16;
            let applies = matches!(lane.function, F::Add | F::Subtract | F::Multiply);
            (applies && is_last && lane.place < lane.length - left).then(|| apply(lane.function, &[value, b]))
        }),
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
        "kernels/sixteenth-short-row-exchanged",
        K,
        "Of sixteen rows of 8 to 31 elements that are computed together, the last one exchanges the arguments of \
         subtract if one is a scalar in each row.",
        lanes!(|lane| {
            let splat = lane.is_splat(0) != lane.is_splat(1);
            let applies = lane.function == F::Subtract && splat && (8..32).contains(&lane.length);
            (applies && lane.run % 16 == 15).then(|| lane.exchanged())
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
