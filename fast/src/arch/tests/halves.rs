//! The functions of f16 and bf16 over their bits, and their conversions, compared with the half crate.

use super::tables;
use crate::arch::{CallKernel, Kernels, Table};
use broadcheck_spec::Function;
use broadcheck_spec::half::{bf16, f16};

/// Lengths that fill no vector, some, and all of one.
const COUNTS: [usize; 12] = [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100];

/// Bits that are equal, or those of two NaNs.
fn same<H: Half>(one: u16, other: u16) -> bool {
    one == other || (H::number(one).is_nan() && H::number(other).is_nan())
}

/// A format, by the half crate.
trait Half {
    fn number(bits: u16) -> f32;
    fn bits(number: f32) -> u16;
    fn kernels(table: &Table) -> &Kernels<u16>;
}

impl Half for f16 {
    fn number(bits: u16) -> f32 {
        f16::from_bits(bits).to_f32()
    }
    fn bits(number: f32) -> u16 {
        f16::from_f32(number).to_bits()
    }
    fn kernels(table: &Table) -> &Kernels<u16> {
        &table.f16
    }
}

impl Half for bf16 {
    fn number(bits: u16) -> f32 {
        bf16::from_bits(bits).to_f32()
    }
    fn bits(number: f32) -> u16 {
        bf16::from_f32(number).to_bits()
    }
    fn kernels(table: &Table) -> &Kernels<u16> {
        &table.bf16
    }
}

/// Every class of numbers in both formats, then arbitrary bits.
fn values() -> Vec<u16> {
    let special = [
        0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x3c00, 0xbc00, 0x3f80, 0xbf80,
        0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7f7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0,
        0xffff,
    ];
    let mut state = 1u32;
    let drawn = (0..300).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u16::try_from(state >> 16).unwrap_or(0)
    });
    special.into_iter().chain(drawn).collect()
}

#[test]
fn every_half_is_converted_as_by_the_half_crate() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for table in tables() {
        let mut wide = vec![0.0f32; all.len()];
        table.widen_f16.run(&all, &mut wide);
        let quiet = |bits: u32| if f32::from_bits(bits).is_nan() { bits | 0x0040_0000 } else { bits };
        for (&bits, found) in all.iter().zip(&wide) {
            let want = quiet(f16::number(bits).to_bits());
            assert_eq!(found.to_bits(), want, "{} {bits:#06x}", table.level);
        }
        table.widen_bf16.run(&all, &mut wide);
        for (&bits, found) in all.iter().zip(&wide) {
            assert_eq!(found.to_bits(), u32::from(bits) << 16, "{} {bits:#06x}", table.level);
        }
    }
}

/// Each number of a format, the middle between it and the next, and their neighbours in f32.
fn near<H: Half>() -> Vec<f32> {
    let close = |bits: u32| [bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map(f32::from_bits);
    let around = |bits: u16| {
        let (one, next) = (H::number(bits), H::number(bits.wrapping_add(1)));
        let middle = if next.is_finite() { f32::midpoint(one, next) } else { one };
        close(one.to_bits()).into_iter().chain(close(middle.to_bits()))
    };
    (0..=u16::MAX).flat_map(around).chain([f32::MAX, f32::MIN, 65519.996, 65520.0]).collect()
}

#[test]
fn every_f32_near_a_half_is_rounded_as_by_the_half_crate() {
    let (f16s, bf16s) = (near::<f16>(), near::<bf16>());
    let mut first: Option<Vec<u16>> = None;
    for table in tables() {
        let mut found = vec![0u16; f16s.len()];
        table.narrow_f16.run(&f16s, &mut found);
        for (&number, &found) in f16s.iter().zip(&found) {
            assert!(same::<f16>(found, f16::bits(number)), "{} {number:e}: {found:#06x}", table.level);
        }
        // The instruction and the arithmetic give a NaN the same bits, too.
        assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "{}", table.level);
        found.resize(bf16s.len(), 0);
        table.narrow_bf16.run(&bf16s, &mut found);
        for (&number, &found) in bf16s.iter().zip(&found) {
            assert!(same::<bf16>(found, bf16::bits(number)), "{} {number:e}: {found:#06x}", table.level);
        }
    }
}

#[test]
fn conversions_have_tails() {
    let (bits, numbers) = (values(), values().into_iter().map(f16::number).collect::<Vec<_>>());
    for table in tables() {
        for count in COUNTS {
            let mut wide = vec![7.0; count + 1];
            table.widen_f16.run(&bits[..count], &mut wide[..count]);
            assert!(
                wide[..count].iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits() || b.is_nan())
            );
            assert_eq!(wide[count], 7.0, "wrote outside the output");
            let mut narrow = vec![7; count + 1];
            table.narrow_f16.run(&numbers[..count], &mut narrow[..count]);
            assert!(narrow[..count].iter().zip(&bits).all(|(&a, &b)| same::<f16>(a, b)));
            assert_eq!(narrow[count], 7, "wrote outside the output");
        }
    }
}

fn check_arithmetic<H: Half>(table: &Table) {
    type Expected<'a> = (Function, &'a dyn Fn(f32, f32) -> f32);
    let larger = |a: f32, b: f32| match (a.is_nan() || b.is_nan(), a == b) {
        (true, _) => f32::NAN,
        (_, true) => f32::from_bits(a.to_bits() & b.to_bits()),
        _ => a.max(b),
    };
    let functions: [Expected<'_>; 6] = [
        (Function::Add, &|a, b| a + b),
        (Function::Subtract, &|a, b| a - b),
        (Function::Multiply, &|a, b| a * b),
        (Function::Divide, &|a, b| a / b),
        (Function::Maximum, &larger),
        (Function::Minimum, &|a, b| -larger(-a, -b)),
    ];
    let a = values();
    let mut b = a.clone();
    b.rotate_left(11);
    for (function, expected) in functions {
        for count in COUNTS.into_iter().chain([a.len()]) {
            for (is_scalar, first, second) in [
                ([false, false, false], &a[..count], &b[..count]),
                ([false, true, false], &a[..count], &b[3..4]),
                ([true, false, false], &a[5..6], &b[..count]),
            ] {
                let Some(CallKernel::Binary(kernel)) = H::kernels(table).call(function, is_scalar) else {
                    panic!("{}: {function} has no binary kernel", table.level);
                };
                let mut out = vec![7; count + 1];
                kernel.run(first, second, &mut out[..count]);
                for (at, &found) in out[..count].iter().enumerate() {
                    let (x, y) = (first[at % first.len()], second[at % second.len()]);
                    let want = H::bits(expected(H::number(x), H::number(y)));
                    let case = (table.level, function, is_scalar);
                    assert!(same::<H>(found, want), "{case:?} {x:#06x} {y:#06x}: {found:#06x}, {want:#06x}");
                }
                assert_eq!(out[count], 7, "wrote outside the output");
            }
        }
    }
}

fn check_comparisons<H: Half>(table: &Table) {
    type Expected<'a> = (Function, &'a dyn Fn(&f32, &f32) -> bool);
    let functions: [Expected<'_>; 6] = [
        (Function::Equal, &f32::eq),
        (Function::NotEqual, &f32::ne),
        (Function::Less, &f32::lt),
        (Function::LessEqual, &f32::le),
        (Function::Greater, &f32::gt),
        (Function::GreaterEqual, &f32::ge),
    ];
    let a = values();
    for (function, expected) in functions {
        let Some(CallKernel::Comparison(kernel)) = H::kernels(table).call(function, [false, true, false])
        else {
            panic!("{}: {function} has no kernel", table.level);
        };
        for &y in &a {
            let mut out = vec![false; a.len()];
            kernel.run(&a, &[y], &mut out);
            for (&x, &found) in a.iter().zip(&out) {
                let want = expected(&H::number(x), &H::number(y));
                assert_eq!(found, want, "{} {function} {x:#06x} {y:#06x}", table.level);
            }
        }
    }
}

fn check_unary<H: Half>(table: &Table) {
    type Expected<'a> = (Function, &'a dyn Fn(f32) -> f32);
    let functions: [Expected<'_>; 3] =
        [(Function::Negate, &|a| -a), (Function::Abs, &f32::abs), (Function::Sqrt, &f32::sqrt)];
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for (function, expected) in functions {
        let Some(CallKernel::Unary(kernel)) = H::kernels(table).call(function, [false; 3]) else {
            panic!("{}: {function} has no kernel", table.level);
        };
        let mut out = vec![0; all.len()];
        kernel.run(&all, &mut out);
        for (&x, &found) in all.iter().zip(&out) {
            let want = H::bits(expected(H::number(x)));
            assert!(same::<H>(found, want), "{} {function} {x:#06x}: {found:#06x}", table.level);
        }
        for count in COUNTS {
            let mut out = vec![7; count + 1];
            kernel.run(&all[..count], &mut out[..count]);
            assert_eq!(out[count], 7, "wrote outside the output");
        }
    }
}

#[test]
fn functions_of_halves_are_those_of_their_numbers() {
    for table in tables() {
        check_arithmetic::<f16>(table);
        check_arithmetic::<bf16>(table);
        check_comparisons::<f16>(table);
        check_comparisons::<bf16>(table);
        check_unary::<f16>(table);
        check_unary::<bf16>(table);
    }
}
