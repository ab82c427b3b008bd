//! The dtypes of the sweep, with the loops that a person would write for each: over elements, and for halves
//! over blocks that the machine converts to f32 and back.
#![allow(unsafe_code, reason = "the conversions of f16 are instructions of a level")]

use super::At;
use super::data::Aligned;
use broadcheck_fast::{Input, Level, Output};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data};

/// The elements that a loop over halves converts at once.
const BLOCK: usize = 16;

/// An element type. A loop computes in `Wide`, which for halves is f32.
pub(crate) trait Element: Copy + Default + PartialEq + std::fmt::Debug + 'static {
    type Wide: Copy + Default;
    const DTYPE: DType;
    /// Whether loops go over blocks.
    const IN_BLOCKS: bool = false;
    fn data(values: Vec<Self>) -> Data;
    fn input(values: &[Self]) -> Input<'_>;
    fn output(values: &mut [Self]) -> Output<'_>;
    /// A number from one between 0 and 1.
    fn of(number: f64) -> Self;
    fn widen(self) -> Self::Wide;
    fn narrow(value: Self::Wide) -> Self;
    /// `if c { a } else { b }` by a mask, of which the compiler makes vectors.
    fn select(c: bool, a: Self, b: Self) -> Self;
    /// The same as the first two for a block, in a loop that is compiled for the level.
    #[inline(always)]
    fn widen_block(_: At, block: &[Self; BLOCK]) -> [Self::Wide; BLOCK] {
        block.map(Self::widen)
    }
    #[inline(always)]
    fn narrow_block(_: At, block: [Self::Wide; BLOCK]) -> [Self; BLOCK] {
        block.map(Self::narrow)
    }
}

macro_rules! buffers {
    ($type:ident $dtype:ident) => {
        const DTYPE: DType = DType::$dtype;
        fn data(values: Vec<$type>) -> Data {
            values.into()
        }
        fn input(values: &[$type]) -> Input<'_> {
            values.into()
        }
        fn output(values: &mut [$type]) -> Output<'_> {
            values.into()
        }
    };
}

/// The body of [`Element::select`], for bits of a type.
macro_rules! select {
    ($bits:ident, $c:expr, $a:expr, $b:expr) => {
        $b ^ ($a ^ $b) & $bits::from($c).wrapping_neg()
    };
}

macro_rules! elements {
    ($($type:ident $dtype:ident |$number:ident| $value:expr, |$c:ident, $a:ident, $b:ident| $selected:expr;)*) => { $(
        impl Element for $type {
            type Wide = $type;
            buffers! { $type $dtype }
            fn of($number: f64) -> $type {
                $value
            }
            #[inline(always)]
            fn widen(self) -> $type {
                self
            }
            #[inline(always)]
            fn narrow(value: $type) -> $type {
                value
            }
            #[inline(always)]
            fn select($c: bool, $a: $type, $b: $type) -> $type {
                $selected
            }
        }
    )* };
}

elements! {
    f64 F64 |number| 0.5 + number, |c, a, b| f64::from_bits(select!(u64, c, a.to_bits(), b.to_bits()));
    f32 F32 |number| (0.5 + number) as f32, |c, a, b| f32::from_bits(select!(u32, c, a.to_bits(), b.to_bits()));
    i64 I64 |number| (200.0 * number) as i64 - 100, |c, a, b| select!(i64, c, a, b);
    i32 I32 |number| (200.0 * number) as i32 - 100, |c, a, b| select!(i32, c, a, b);
    i16 I16 |number| (200.0 * number) as i16 - 100, |c, a, b| select!(i16, c, a, b);
    i8 I8 |number| (200.0 * number - 100.0) as i8, |c, a, b| select!(i8, c, a, b);
    u64 U64 |number| (200.0 * number) as u64, |c, a, b| select!(u64, c, a, b);
    u32 U32 |number| (200.0 * number) as u32, |c, a, b| select!(u32, c, a, b);
    u16 U16 |number| (200.0 * number) as u16, |c, a, b| select!(u16, c, a, b);
    u8 U8 |number| (200.0 * number) as u8, |c, a, b| select!(u8, c, a, b);
    bool Bool |number| number > 0.5, |c, a, b| b ^ (a ^ b) & c;
}

impl Element for f16 {
    type Wide = f32;
    const IN_BLOCKS: bool = true;
    buffers! { f16 F16 }
    fn of(number: f64) -> f16 {
        f16::from_f64(0.5 + number)
    }
    #[inline(always)]
    fn select(c: bool, a: f16, b: f16) -> f16 {
        f16::from_bits(select!(u16, c, a.to_bits(), b.to_bits()))
    }
    #[inline(always)]
    fn widen(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn narrow(value: f32) -> f16 {
        f16::from_f32(value)
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn widen_block(at: At, block: &[f16; BLOCK]) -> [f32; BLOCK] {
        if at.level() != Level::Avx512 {
            return block.map(f16::to_f32);
        }
        // SAFETY: the machine has the level. Both arrays have the bytes of the vectors.
        unsafe {
            let halves = std::arch::x86_64::_mm256_loadu_si256(block.as_ptr().cast());
            std::mem::transmute(std::arch::x86_64::_mm512_cvtph_ps(halves))
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn narrow_block(at: At, block: [f32; BLOCK]) -> [f16; BLOCK] {
        if at.level() != Level::Avx512 {
            return block.map(f16::from_f32);
        }
        // SAFETY: as above.
        unsafe {
            let values = std::arch::x86_64::_mm512_loadu_ps(block.as_ptr());
            std::mem::transmute(std::arch::x86_64::_mm512_cvtps_ph::<0>(values))
        }
    }
}

impl Element for bf16 {
    type Wide = f32;
    const IN_BLOCKS: bool = true;
    buffers! { bf16 Bf16 }
    fn of(number: f64) -> bf16 {
        bf16::from_f64(0.5 + number)
    }
    #[inline(always)]
    fn select(c: bool, a: bf16, b: bf16) -> bf16 {
        bf16::from_bits(select!(u16, c, a.to_bits(), b.to_bits()))
    }
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    fn narrow(value: f32) -> bf16 {
        let bits = value.to_bits();
        let rounded = (bits.wrapping_add(0x7fff).wrapping_add((bits >> 16) & 1) >> 16) as u16;
        bf16::from_bits(if value.is_nan() { 0x7fc0 } else { rounded })
    }
}

/// Reproducible values.
pub(crate) fn values<T: Element>(count: usize, seed: u64) -> Aligned<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut array = Aligned::<T>::zeros(count);
    array.fill_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::of((state >> 11) as f64 / (1u64 << 53) as f64)
    });
    array
}

/// `out = f(a)`.
#[inline(always)]
pub(crate) fn map<T: Element, R: Element>(at: At, a: &[T], out: &mut [R], f: impl Fn(T::Wide) -> R::Wide) {
    if T::IN_BLOCKS {
        let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
        for (out, a) in blocks.iter_mut().zip(a.as_chunks::<BLOCK>().0) {
            let a = T::widen_block(at, a);
            let mut made = [R::Wide::default(); BLOCK];
            made.iter_mut().zip(a).for_each(|(made, a)| *made = f(a));
            *out = R::narrow_block(at, made);
        }
        let done = a.len() - rest.len();
        rest.iter_mut().zip(&a[done..]).for_each(|(out, a)| *out = R::narrow(f(a.widen())));
    } else {
        out.iter_mut().zip(a).for_each(|(out, a)| *out = R::narrow(f(a.widen())));
    }
}

/// `out = f(a, b)`.
#[inline(always)]
pub(crate) fn zip<T: Element, R: Element>(
    at: At,
    (a, b): (&[T], &[T]),
    out: &mut [R],
    f: impl Fn(T::Wide, T::Wide) -> R::Wide,
) {
    if T::IN_BLOCKS {
        let (blocks, rest) = out.as_chunks_mut::<BLOCK>();
        let pairs = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks::<BLOCK>().0);
        for (out, (a, b)) in blocks.iter_mut().zip(pairs) {
            let (a, b) = (T::widen_block(at, a), T::widen_block(at, b));
            let mut made = [R::Wide::default(); BLOCK];
            made.iter_mut().zip(a.into_iter().zip(b)).for_each(|(made, (a, b))| *made = f(a, b));
            *out = R::narrow_block(at, made);
        }
        let done = a.len() - rest.len();
        let pairs = a[done..].iter().zip(&b[done..]);
        rest.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = R::narrow(f(a.widen(), b.widen())));
    } else {
        let pairs = a.iter().zip(b);
        out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = R::narrow(f(a.widen(), b.widen())));
    }
}
