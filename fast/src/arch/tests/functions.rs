//! Functions of one and two elements, sums, and rounding to half precision.

use super::{floats, larger, same, tables};
use crate::arch::CallKernel;
use crate::arch::chain::LANES;
use crate::arch::ops::{round_to_bf16, round_to_f16};
use broadcheck_spec::Function;
use broadcheck_spec::half::{bf16, f16};

#[test]
fn binary_functions_match_the_standard() {
    let a = floats();
    let mut b = a.clone();
    b.rotate_left(7);
    type Expected<'a> = (Function, &'a dyn Fn(f64, f64) -> f64);
    let cases: [Expected<'_>; 6] = [
        (Function::Add, &|a, b| a + b),
        (Function::Subtract, &|a, b| a - b),
        (Function::Multiply, &|a, b| a * b),
        (Function::Divide, &|a, b| a / b),
        (Function::Maximum, &larger),
        (Function::Minimum, &|a, b| -larger(-a, -b)),
    ];
    for table in tables() {
        for (function, expected) in &cases {
            for count in [0, 1, 7, 8, 31, 33, 600] {
                let mut out = vec![0.0; count];
                for (scalars, first, second) in [
                    ([false, false, false], &a[..count], &b[..count]),
                    ([false, true, false], &a[..count], &b[3..4]),
                    ([true, false, false], &a[5..6], &b[..count]),
                ] {
                    let Some(CallKernel::Binary(kernel)) = table.f64.call(*function, scalars) else {
                        panic!("{}: {function} of f64 has no binary kernel", table.level);
                    };
                    kernel.run(first, second, &mut out);
                    for (at, &found) in out.iter().enumerate() {
                        let want = expected(first[at % first.len()], second[at % second.len()]);
                        assert!(same(found, want), "{} {function} {scalars:?} at {at}", table.level);
                    }
                }
            }
        }
    }
}

/// The sum in 64 partial sums, by a loop over elements.
fn by_lanes<T: Copy + Default + std::ops::Add<Output = T>>(row: &[T]) -> T {
    let mut lanes = [T::default(); LANES];
    for (at, &value) in row.iter().enumerate() {
        lanes[at % LANES] = lanes[at % LANES] + value;
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Whatever the width of a row, and at the end of the memory that may be read.
#[test]
fn sums_of_rows_have_the_bits_of_their_partial_sums() {
    let doubles: Vec<f64> = (0..2000).map(|at| f64::from(at % 97) / 7.0 - 6.0).collect();
    let singles: Vec<f32> = (0u8..250).map(|at| f32::from(at % 97) / 7.0 - 6.0).cycle().take(2000).collect();
    for table in tables() {
        for width in (1..=70).chain([127, 128, 129, 200, 640]) {
            for rows in [1, 2, 3] {
                let count = rows * width;
                let doubles: Box<[f64]> = doubles[..count].into();
                let singles: Box<[f32]> = singles[..count].into();
                let (mut wide, mut narrow) = (vec![0.5; rows], vec![0.5; rows]);
                table.float_f64.sum_rows.run(&mut wide, &doubles);
                table.float_f32.sum_rows.run(&mut narrow, &singles);
                let want: Vec<f64> = doubles.chunks(width).map(|row| 0.5 + by_lanes(row)).collect();
                assert_eq!(wide, want, "{} {rows} of {width}", table.level);
                let want: Vec<f32> = singles.chunks(width).map(|row| 0.5 + by_lanes(row)).collect();
                assert_eq!(narrow, want, "{} {rows} of {width}", table.level);
            }
        }
        let mut none = [1.0, -0.0];
        table.float_f64.sum_rows.run(&mut none, &[]);
        table.float_f64.sum_rows.run(&mut [], &[]);
        assert_eq!(none.map(f64::to_bits), [1.0f64, -0.0].map(f64::to_bits));
    }
}

#[test]
fn rows_are_added_in_order() {
    let values: Vec<f64> = (0..700).map(|at| 1.0 / f64::from(at + 1)).collect();
    for table in tables() {
        let kernels = &table.float_f64;
        for width in [1, 3, 8, 63, 100] {
            for count in [0, width, 4 * width, 6 * width + width / 2] {
                let mut sums = vec![0.5; width + 1];
                kernels.add_rows.run(&mut sums[..width], &values[..count]);
                let mut want = vec![0.5; width + 1];
                for row in values[..count].chunks(width) {
                    want.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                assert_eq!(sums, want, "{} {count} by {width}", table.level);
            }
        }
    }
}

#[test]
fn halves_are_rounded_as_by_the_half_crate() {
    // Every f16 and bf16, and the floats around every midpoint between two of them.
    let close = |value: f32| {
        let bits = value.to_bits();
        [bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map(f32::from_bits)
    };
    for bits in 0..=u16::MAX {
        let (narrow, wide) = (f16::from_bits(bits), bf16::from_bits(bits));
        let next = f16::from_bits(bits.wrapping_add(1));
        let middle = f32::midpoint(narrow.to_f32(), next.to_f32());
        for value in close(narrow.to_f32()).into_iter().chain(close(middle)) {
            let (found, want) = (round_to_f16(value), f16::from_f32(value).to_f32());
            assert!(found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()), "{value:e}");
        }
        let middle = f32::from_bits(wide.to_f32().to_bits() | 0x8000);
        for value in close(wide.to_f32()).into_iter().chain(close(middle)) {
            let (found, want) = (round_to_bf16(value), bf16::from_f32(value).to_f32());
            assert!(found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()), "{value:e}");
        }
        let shifted = f32::from_bits(u32::from(bits) << 16);
        assert!(shifted.to_bits() == wide.to_f32().to_bits() || shifted.is_nan());
    }
}
