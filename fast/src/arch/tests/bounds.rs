//! Values against two bounds.

use super::*;
use crate::program::Half;
use crate::scratch::Lane;
use broadcheck_spec::Function;
use std::fmt::Debug;

const ALL: [Bounds; 14] = {
    let mut all = [Bounds::Clip { minimum_first: false }; 14];
    all[1] = Bounds::Clip { minimum_first: true };
    let mut at = 0;
    while at < 8 {
        all[at + 2] = Bounds::Check { either: at & 1 != 0, or_equal: [at & 2 != 0, at & 4 != 0] };
        at += 1;
    }
    while at < 12 {
        all[at + 2] = Bounds::Keep { above: at & 1 != 0, or_equal: at & 2 != 0 };
        at += 1;
    }
    all
};

/// Compares a kernel with plain arithmetic in rows of several widths, with a gap between the rows of x or
/// without one: of short rows without a gap, blocks go beyond the end of the row.
/// `order` converts an element to a number of the same order.
fn compare<T: Lane + Copy + Debug>(
    (kernels, of_halves): (&Kernels<T>, Option<Half>),
    values: &[T],
    order: impl Fn(T) -> f64 + Copy,
) -> usize {
    let mut found = 0;
    for bounds in ALL {
        let Some(kernel) = kernels.bounded(bounds) else { continue };
        found += 1;
        let shapes = [1, 2, 3].into_iter().flat_map(|rows| [1, 7, 31, 32, 65, 130, 300].map(|w| (rows, w)));
        let with_gap = shapes.map(|shape| (shape, 3));
        for ((rows, width), gap) in with_gap.chain([7, 16, 33, 63, 64].map(|width| ((11, width), 0))) {
            let [x, a, b] = [(0, width + gap), (5, 2), (9, 1)].map(|(from, step)| Argument {
                values: &values[from..],
                step,
                scalar: from != 0,
            });
            let mut clipped = vec![T::default(); rows * width];
            let mut checked = vec![true; rows * width];
            match kernel {
                CallKernel::Clip(kernel) => kernel.run(&x, [&a, &b], rows, &mut clipped),
                CallKernel::Check(kernel) => kernel.run(&x, [&a, &b], rows, &mut checked),
                other => panic!("{other:?}"),
            }
            for (row, column) in (0..rows).flat_map(|row| (0..width).map(move |column| (row, column))) {
                let [x, a, b] =
                    [x.values[row * x.step + column], a.values[row * a.step], b.values[row * b.step]]
                        .map(order);
                let (max, min) = (|x: f64, y: f64| x.max(y), |x: f64, y: f64| x.min(y));
                let at = row * width + column;
                match bounds {
                    Bounds::Clip { minimum_first } => {
                        let want = if minimum_first { max(min(x, a), b) } else { min(max(x, a), b) };
                        let found = order(clipped[at]);
                        assert_eq!(found, want, "{bounds:?} of {x}, {a} and {b}, {of_halves:?}");
                    }
                    Bounds::Keep { above, or_equal } => {
                        let is_kept = or_equal && x == a || if above { x > a } else { x < a };
                        let (found, want) = (order(clipped[at]), if is_kept { x } else { b });
                        assert_eq!(found, want, "{bounds:?} of {x}, {a} and {b}");
                    }
                    Bounds::Check { either, or_equal: [low, high] } => {
                        let above = x > a || low && x == a;
                        let below = x < b || high && x == b;
                        let want = if either { above || below } else { above && below };
                        assert_eq!(checked[at], want, "{bounds:?} of {x}, {a} and {b}, {of_halves:?}");
                    }
                }
            }
        }
    }
    found
}

/// Numbers of which many are equal, and some not ordered.
const NUMBERS: [f64; 8] = [1.0, 2.0, 0.0, -0.0, f64::NAN, 3.0, f64::INFINITY, -2.0];

fn numbers() -> impl Iterator<Item = f64> {
    (0..1000).map(|at: usize| NUMBERS[(at * at + at / 7) % NUMBERS.len()])
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the numbers are bytes, or have few digits"
)]
#[test]
fn values_against_two_bounds() {
    for table in tables() {
        let mut found = 0;
        macro_rules! integers {
            ($($type:ident)*) => { $(
                let values: Vec<$type> = numbers!(1000, $type, u8);
                found += compare((&table.$type, None), &values, |value| value as f64);
            )* };
        }
        integers! { i64 i32 i16 i8 u64 u32 u16 u8 }
        found += compare((&table.f64, None), &numbers().collect::<Vec<f64>>(), |value| value);
        let floats: Vec<f32> = numbers().map(|number| number as f32).collect();
        found += compare((&table.f32, None), &floats, f64::from);
        // Clips of floats are chains, their choices are others, and bools have no order.
        assert_eq!(found, 8 * 14 + 2 * 8, "{}", table.level);
        assert!(ALL.iter().all(|&bounds| table.bool.bounded(bounds).is_none()));
    }
}

/// Of halves, a clip of a NaN is a NaN, and zeros have an order.
#[test]
fn halves_against_two_bounds() {
    use broadcheck_spec::half::{bf16, f16};
    for table in tables() {
        let ordered = numbers().map(|number| if number.is_nan() || number == 0.0 { 1.5 } else { number });
        let ordered: Vec<f64> = ordered.collect();
        let bits: Vec<u16> = ordered.iter().map(|&number| f16::from_f64(number).to_bits()).collect();
        let of_bits = |bits| f16::from_bits(bits).to_f64();
        assert_eq!(compare((Half::F16.kernels(table), Some(Half::F16)), &bits, of_bits), 10);
        let bits: Vec<u16> = ordered.iter().map(|&number| bf16::from_f64(number).to_bits()).collect();
        let of_bits = |bits| bf16::from_bits(bits).to_f64();
        assert_eq!(compare((Half::Bf16.kernels(table), Some(Half::Bf16)), &bits, of_bits), 10);
    }
}

/// Clips of halves give the bits of a maximum and a minimum, whatever the value and the bounds are.
#[test]
fn clips_of_halves_are_two_functions() {
    // Zeros, the smallest and the largest numbers, infinities, NaNs and numbers that are a NaN in the other
    // format.
    let sizes = [0, 1, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7fff];
    let bits: Vec<u16> = sizes.iter().flat_map(|&size| [size, size | 0x8000]).collect();
    for (table, half) in tables().into_iter().flat_map(|table| [(table, Half::F16), (table, Half::Bf16)]) {
        let kernels = half.kernels(table);
        let functions = [Function::Maximum, Function::Minimum].map(|function| {
            match kernels.call(function, [false, true, false]) {
                Some(CallKernel::Binary(kernel)) => kernel,
                other => panic!("{other:?}"),
            }
        });
        for minimum_first in [false, true] {
            let Some(CallKernel::Clip(clip)) = kernels.bounded(Bounds::Clip { minimum_first }) else {
                panic!("there is a kernel")
            };
            let [first, second] = if minimum_first { [functions[1], functions[0]] } else { functions };
            for (a, b) in bits.iter().flat_map(|&a| bits.iter().map(move |&b| (a, b))) {
                let [mut found, mut inner, mut want] = [(); 3].map(|()| vec![0; bits.len()]);
                let argument = |values, scalar| Argument { values, step: 0, scalar };
                clip.run(
                    &argument(&bits, false),
                    [&argument(&[a], true), &argument(&[b], true)],
                    1,
                    &mut found,
                );
                first.run(&bits, &[a], &mut inner);
                second.run(&inner, &[b], &mut want);
                assert_eq!(found, want, "{half:?} between {a:#x} and {b:#x}, {minimum_first}");
            }
        }
    }
}

/// A value or a bound that has too few elements is refused, and so are arguments that are not what they
/// should be.
#[test]
fn arguments_of_bounds_are_checked() {
    let values = [1.0; 40];
    let argument = |count: usize, step, scalar| Argument { values: &values[..count], step, scalar };
    for table in tables() {
        let Some(CallKernel::Check(kernel)) = table.f64.bounded(ALL[2]) else { panic!("there is a kernel") };
        let run = |x: Argument<'_, f64>, [a, b]: [Argument<'_, f64>; 2], rows, count| {
            let run = || kernel.run(&x, [&a, &b], rows, &mut vec![false; count]);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok()
        };
        let ones = [argument(4, 1, true); 2];
        assert!(run(argument(40, 10, false), ones, 4, 40));
        assert!(run(argument(0, 0, false), [argument(0, 0, true); 2], 3, 0));
        assert!(!run(argument(39, 10, false), ones, 4, 40));
        assert!(!run(argument(40, usize::MAX, false), ones, 4, 40));
        assert!(!run(argument(40, 10, false), [argument(3, 1, true), ones[0]], 4, 40));
        assert!(!run(argument(40, 10, false), [ones[0], argument(4, 2, true)], 4, 40));
        assert!(!run(argument(40, 10, true), ones, 4, 40));
        assert!(!run(argument(40, 10, false), [ones[0], argument(40, 10, false)], 4, 40));
        assert!(!run(argument(40, 10, false), ones, 3, 40));
        assert!(!run(argument(40, 10, false), ones, 0, 40));
    }
}
