//! Values: counters that distinguish every element from every other, and the special values of each dtype.

use super::choices::{Choices, Seeded};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data};

/// The class of a buffer's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// All distinct, also across operands, as far as the dtype allows.
    Counters,
    /// Integers from -3 to 3.
    Small,
    /// Numbers of moderate size that use all bits of the mantissa.
    Moderate,
    /// Half of them are special: zeros, subnormals, infinities, NaN with any payload, integer extremes.
    Corners,
    /// Arbitrary bits.
    Bits,
}

/// Which classes of values may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueMix {
    /// Anything the dtype has.
    Any,
    /// Values that can be summed without overflow, in any order.
    Summable,
    /// Counters only.
    Counters,
}

/// The values of operand `place.0` of `place.1` operands.
pub(super) fn values(
    choices: &mut dyn Choices,
    dtype: DType,
    count: usize,
    place: (usize, usize),
    mix: ValueMix,
) -> Data {
    use Class::{Bits, Corners, Counters, Moderate, Small};
    let class = match mix {
        ValueMix::Counters => Counters,
        ValueMix::Summable => choices.one_of(&[Small, Small, Moderate, Small]),
        ValueMix::Any => {
            choices.one_of(&[Counters, Counters, Counters, Counters, Small, Moderate, Corners, Corners, Bits])
        }
    };
    let random = Seeded::new(if class == Counters { 0 } else { choices.below(1 << 32) });
    match dtype {
        DType::F64 => Data::F64(fill(class, random, count, place)),
        DType::F32 => Data::F32(fill(class, random, count, place)),
        DType::F16 => Data::F16(fill(class, random, count, place)),
        DType::Bf16 => Data::Bf16(fill(class, random, count, place)),
        DType::I64 => Data::I64(fill(class, random, count, place)),
        DType::I32 => Data::I32(fill(class, random, count, place)),
        DType::I16 => Data::I16(fill(class, random, count, place)),
        DType::I8 => Data::I8(fill(class, random, count, place)),
        DType::U64 => Data::U64(fill(class, random, count, place)),
        DType::U32 => Data::U32(fill(class, random, count, place)),
        DType::U16 => Data::U16(fill(class, random, count, place)),
        DType::U8 => Data::U8(fill(class, random, count, place)),
        DType::Bool => Data::Bool(truths(class, random, count, place)),
    }
}

/// A number type, as the generator uses it.
trait Number: Copy {
    /// An integer, truncated to the type.
    fn of(integer: i32) -> Self;
    /// A number of moderate size.
    fn moderate(random: u64) -> Self;
    /// A number from the lowest bits.
    fn of_bits(bits: u64) -> Self;
    /// A special value of the type.
    fn corner(random: u64) -> Self;
}

fn fill<T: Number>(
    class: Class,
    mut random: Seeded,
    count: usize,
    (place, operands): (usize, usize),
) -> Vec<T> {
    #[allow(clippy::cast_possible_truncation, reason = "a small number, or a counter that may wrap")]
    let small = |random: &mut Seeded| random.below(7) as i32 - 3;
    let each = |at: usize| match class {
        Class::Counters => T::of(i32::try_from(1 + at * operands + place).unwrap_or(0)),
        Class::Small => T::of(small(&mut random)),
        Class::Moderate => T::moderate(random.next()),
        Class::Corners if random.next() >> 63 == 0 => T::corner(random.next() >> 8),
        Class::Corners => T::of(small(&mut random)),
        Class::Bits => T::of_bits(random.next()),
    };
    (0..count).map(each).collect()
}

/// Booleans: for counters, a sequence without a short period, different for each operand.
fn truths(class: Class, mut random: Seeded, count: usize, (place, _): (usize, usize)) -> Vec<bool> {
    if class == Class::Counters {
        random = Seeded::new(place as u64);
    }
    (0..count).map(|_| random.next() >> 63 == 1).collect()
}

/// The bits of a float of this width, with a signalling NaN made quiet: operations treat signalling NaNs
/// differently on different platforms, and no case file can contain one.
pub(super) fn quiet(bits: u64, mantissa: u32, width: u32) -> u64 {
    let below = (1u64 << mantissa) - 1;
    let infinity = ((1u64 << (width - 1)) - 1) & !below;
    if bits & infinity == infinity && bits & below != 0 { bits | 1 << (mantissa - 1) } else { bits }
}

macro_rules! floats {
    ($($type:ty, $bits:ty, $mantissa:literal, $of:expr;)*) => { $(
        impl Number for $type {
            #[allow(clippy::redundant_closure_call, reason = "a macro's argument")]
            fn of(integer: i32) -> $type {
                $of(f64::from(integer))
            }
            #[allow(clippy::cast_precision_loss, clippy::redundant_closure_call, reason = "any number will do")]
            fn moderate(random: u64) -> $type {
                $of((random >> 11) as f64 * 2f64.powi(-50) - 4.0)
            }
            #[allow(clippy::cast_possible_truncation, reason = "the lowest bits are wanted")]
            fn of_bits(bits: u64) -> $type {
                <$type>::from_bits(quiet(bits as $bits as u64, $mantissa, <$bits>::BITS) as $bits)
            }
            #[allow(clippy::cast_possible_truncation, reason = "the lowest bits are wanted")]
            fn corner(random: u64) -> $type {
                const ONE: $bits = 1;
                const MANTISSA: $bits = (ONE << $mantissa) - 1;
                const INFINITY: $bits = (<$bits>::MAX >> 1) & !MANTISSA;
                let any = (random >> 8) as $bits & MANTISSA;
                let size = match random & 15 {
                    0 | 1 => 0,
                    2 => ONE,
                    3 => MANTISSA,
                    4 => any,
                    5 => MANTISSA + 1,
                    6 => INFINITY - 1,
                    7 | 8 => INFINITY,
                    9 => INFINITY | MANTISSA / 2 + 1,
                    10 => INFINITY | any | 1,
                    // 1, its neighbours, and the number from which the next integer is not a neighbour any
                    // more.
                    11 => (INFINITY >> 1) & !MANTISSA,
                    12 => ((INFINITY >> 1) & !MANTISSA) - 1,
                    13 => ((INFINITY >> 1) & !MANTISSA) + 1,
                    14 => ((INFINITY >> 1) & !MANTISSA) + (($mantissa + 1) << $mantissa),
                    _ => any | (INFINITY >> 1) & !MANTISSA,
                };
                let sign = if random & 16 == 0 { 0 } else { ONE << (<$bits>::BITS - 1) };
                <$type>::of_bits((size | sign) as u64)
            }
        }
    )* };
}

#[allow(clippy::cast_possible_truncation, reason = "rounding to the type is wanted")]
fn to_f32(number: f64) -> f32 {
    number as f32
}

floats! {
    f64, u64, 52, |number: f64| number;
    f32, u32, 23, to_f32;
    f16, u16, 10, f16::from_f64;
    bf16, u16, 7, bf16::from_f64;
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless, reason = "cut to the type")]
        impl Number for $type {
            fn of(integer: i32) -> $type {
                integer as $type
            }
            fn moderate(random: u64) -> $type {
                ((random >> 57) as i64 - 64) as $type
            }
            fn of_bits(bits: u64) -> $type {
                bits as $type
            }
            fn corner(random: u64) -> $type {
                match random & 7 {
                    0 => <$type>::MIN,
                    1 => <$type>::MAX,
                    2 => <$type>::MIN + 1,
                    3 => <$type>::MAX - 1,
                    4 => 0,
                    5 => (0 as $type).wrapping_sub(1),
                    6 => <$type>::MAX / 2 + 1,
                    _ => (1 as $type).wrapping_shl((random >> 8) as u32),
                }
            }
        }
    )* };
}

integers! { i64 i32 i16 i8 u64 u32 u16 u8 }
