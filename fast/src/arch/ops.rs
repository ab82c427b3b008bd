//! What each function does to one element (clauses V-1 to V-3 and V-5), inlined into the loops of every
//! level.

use super::vector::Vector;

/// A function of one element.
pub(super) trait Op1<T> {
    fn of(a: T) -> T;
}

/// A function of two elements.
pub(super) trait Op2<T, R> {
    /// Whether the compiler makes vectors of a block of a known length. It does not of quotients, which take
    /// long enough for the end of a row not to matter.
    const IN_BLOCKS: bool = true;
    fn of(a: T, b: T) -> R;
}

macro_rules! names { ($($name:ident)*) => { $(pub(super) struct $name;)* } }
names! {
    Add Subtract Multiply Divide Maximum Minimum And Or
    Equal NotEqual Less LessEqual Greater GreaterEqual
    Negate Abs Sqrt Not
    RoundToF16 RoundToBf16
}

macro_rules! op1 {
    ($op:ident $type:ty, |$a:ident| $body:expr) => {
        impl Op1<$type> for $op {
            #[inline(always)]
            fn of($a: $type) -> $type {
                $body
            }
        }
    };
}

macro_rules! op2 {
    ($op:ident $type:ty => $result:ty, |$a:ident, $b:ident| $body:expr $(, in_blocks: $in_blocks:expr)?) => {
        impl Op2<$type, $result> for $op {
            $(const IN_BLOCKS: bool = $in_blocks;)?
            #[inline(always)]
            fn of($a: $type, $b: $type) -> $result {
                $body
            }
        }
    };
}

macro_rules! comparisons {
    ($type:ty) => {
        op2!(Equal $type => bool, |a, b| a == b);
        op2!(NotEqual $type => bool, |a, b| a != b);
        op2!(Less $type => bool, |a, b| a < b);
        op2!(LessEqual $type => bool, |a, b| a <= b);
        op2!(Greater $type => bool, |a, b| a > b);
        op2!(GreaterEqual $type => bool, |a, b| a >= b);
    };
}

macro_rules! floats {
    ($($type:ty)*) => { $(
        op2!(Add $type => $type, |a, b| a + b);
        op2!(Subtract $type => $type, |a, b| a - b);
        op2!(Multiply $type => $type, |a, b| a * b);
        op2!(Divide $type => $type, |a, b| a / b, in_blocks: false);
        op2!(Maximum $type => $type, |a, b| Vector::maximum(a, b));
        op2!(Minimum $type => $type, |a, b| Vector::minimum(a, b));
        op1!(Negate $type, |a| -a);
        op1!(Abs $type, |a| a.abs());
        op1!(Sqrt $type, |a| a.sqrt());
        comparisons!($type);
    )* };
}

macro_rules! integers {
    ($($type:ty, $abs:expr;)*) => { $(
        op2!(Add $type => $type, |a, b| a.wrapping_add(b));
        op2!(Subtract $type => $type, |a, b| a.wrapping_sub(b));
        op2!(Multiply $type => $type, |a, b| a.wrapping_mul(b));
        op2!(Maximum $type => $type, |a, b| a.max(b));
        op2!(Minimum $type => $type, |a, b| a.min(b));
        op1!(Negate $type, |a| a.wrapping_neg());
        op1!(Abs $type, |a| $abs(a));
        comparisons!($type);
    )* };
}

floats! { f64 f32 }
integers! {
    i64, i64::wrapping_abs; i32, i32::wrapping_abs; i16, i16::wrapping_abs; i8, i8::wrapping_abs;
    u64, std::convert::identity; u32, std::convert::identity; u16, std::convert::identity;
    u8, std::convert::identity;
}
op2!(And bool => bool, |a, b| a & b);
op2!(Or bool => bool, |a, b| a | b);
op2!(Equal bool => bool, |a, b| a == b);
op2!(NotEqual bool => bool, |a, b| a != b);
op1!(Not bool, |a| !a);
op1!(RoundToF16 f32, |a| round_to_f16(a));
op1!(RoundToBf16 f32, |a| round_to_bf16(a));

/// Rounds an f32 to the nearest f16, ties to even. The result is that value as an f32.
#[inline(always)]
pub(super) fn round_to_f16(value: f32) -> f32 {
    let bits = value.to_bits();
    let sign = bits & 0x8000_0000;
    let size = bits & 0x7fff_ffff;
    // A normal f16 has 13 fewer bits. The addition rounds, and carries into the exponent.
    let rounded = size.wrapping_add(0x0fff).wrapping_add((size >> 13) & 1) & !0x1fff;
    let rounded = if rounded >= 0x4780_0000 { 0x7f80_0000 } else { rounded };
    // Below 2^-14 an f16 is a multiple of 2^-24, which is the last place of 0.5 in f32.
    let small = ((f32::from_bits(size) + 0.5) - 0.5).to_bits();
    let rounded = if size < 0x3880_0000 { small } else { rounded };
    let rounded = if size > 0x7f80_0000 { 0x7fc0_0000 } else { rounded };
    f32::from_bits(sign | rounded)
}

/// Rounds an f32 to the nearest bf16, ties to even. The result is that value as an f32.
#[inline(always)]
pub(super) fn round_to_bf16(value: f32) -> f32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff).wrapping_add((bits >> 16) & 1) & 0xffff_0000;
    f32::from_bits(if value.is_nan() { 0x7fc0_0000 } else { rounded })
}
