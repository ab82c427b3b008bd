//! Functions of floats: IEEE 754, each rounding once (clauses V-1, V-3, V-5). Rust does not fuse multiply and
//! add.

#![warn(clippy::wildcard_enum_match_arm)]

use super::kind::{Binary, Unary};
use super::transcendental;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Scalar};

macro_rules! floats {
    ($($type:ident $unary:ident $binary:ident $exp:path, $log:path, $tanh:path, $power:path;)*) => {$(
        pub(super) fn $unary(function: Unary, x: $type) -> $type {
            match function {
                Unary::Negate => -x,
                Unary::Abs => x.abs(),
                Unary::Sqrt => x.sqrt(),
                Unary::Exp => $exp(x),
                Unary::Log => $log(x),
                Unary::Tanh => $tanh(x),
            }
        }

        pub(super) fn $binary(function: Binary, a: $type, b: $type) -> $type {
            match function {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a * b,
                Binary::Divide => a / b,
                Binary::Power => $power(a, b),
                // V-3. NaN if either is NaN; of two zeros, which compare equal, +0 is the larger.
                Binary::Maximum | Binary::Minimum if a.is_nan() || b.is_nan() => $type::NAN,
                Binary::Maximum if a == b => if a.is_sign_negative() { b } else { a },
                Binary::Maximum => if a > b { a } else { b },
                Binary::Minimum if a == b => if a.is_sign_negative() { a } else { b },
                Binary::Minimum => if a < b { a } else { b },
            }
        }
    )*};
}

floats! {
    f64 unary_f64 binary_f64
        transcendental::exp, transcendental::log, transcendental::tanh, transcendental::power;
    f32 unary_f32 binary_f32
        exp_f32, log_f32, tanh_f32, power_f32;
}

fn exp_f32(x: f32) -> f32 {
    nearest_f32(transcendental::exp(x.into()))
}

fn log_f32(x: f32) -> f32 {
    nearest_f32(transcendental::log(x.into()))
}

fn tanh_f32(x: f32) -> f32 {
    nearest_f32(transcendental::tanh(x.into()))
}

fn power_f32(a: f32, b: f32) -> f32 {
    nearest_f32(transcendental::power(a.into(), b.into()))
}

/// A function of an f16 or bf16 with value `x`. The result is not yet rounded to the dtype, but rounding it
/// gives the same number as rounding the exact result once.
///
/// For the functions computed in f32 that is Figueroa's theorem: a sum, difference, product, quotient or
/// square root of numbers of p bits, rounded first to q >= 2p + 2 bits and then to p, equals the one rounded
/// to p directly. Here p is 11 (f16) or 8 (bf16) and q is 24. Subnormal results have fewer bits than p, which
/// only helps, and f32 has 16 bits more below the smallest subnormal of bf16 and 125 below that of f16.
pub(super) fn unary_half(function: Unary, x: f32) -> f32 {
    match function {
        Unary::Exp | Unary::Log | Unary::Tanh => round_to_odd(unary_f64(function, x.into())),
        Unary::Negate | Unary::Abs | Unary::Sqrt => unary_f32(function, x),
    }
}

/// A function of two f16 or bf16. See [`unary_half`].
pub(super) fn binary_half(function: Binary, a: f32, b: f32) -> f32 {
    match function {
        Binary::Power => round_to_odd(binary_f64(function, a.into(), b.into())),
        Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::Maximum
        | Binary::Minimum => binary_f32(function, a, b),
    }
}

/// Rounds an f64 to odd: if it is not an f32, to the adjacent f32 whose last bit is odd.
///
/// The rounded value then rounds to the same f16 or bf16 as the f64: it is on a boundary between two of their
/// numbers only if the f64 is, because those boundaries are f32 whose last bit is even. (`half` drops the low
/// 32 bits of an f64 before rounding it, which turns other values into ties.)
fn round_to_odd(value: f64) -> f32 {
    let nearest = nearest_f32(value);
    // mutant: replace || with &&: a NaN goes on and keeps its payload, an infinity equals its own f32
    if f64::from(nearest) == value || value.is_nan() || value.is_infinite() {
        return nearest;
    }
    let odd = |candidate: f32| candidate.to_bits() % 2 == 1;
    if odd(nearest) {
        nearest
        // mutant: replace > with >=: equal values have returned above
    } else if f64::from(nearest) > value {
        nearest.next_down()
    } else {
        nearest.next_up()
    }
}

#[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
fn nearest_f32(value: f64) -> f32 {
    value as f32
}

/// An f64 rounded once to a float dtype, to nearest, ties to even (clause V-5).
///
/// # Panics
/// If the dtype is not a float.
pub fn round_to(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(value),
        DType::F32 => Scalar::F32(nearest_f32(value)),
        DType::F16 => Scalar::F16(f16::from_f32(round_to_odd(value))),
        DType::Bf16 => Scalar::Bf16(bf16::from_f32(round_to_odd(value))),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => panic!("{dtype} is not a float"),
        DType::U64 | DType::U32 | DType::U16 | DType::U8 | DType::Bool => panic!("{dtype} is not a float"),
    }
}
