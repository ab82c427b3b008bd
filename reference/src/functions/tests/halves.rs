//! f16 and bf16 round once (clause V-5): functions of one argument are tested with all 65,536 values.

use super::*;

/// The finite numbers of a half format in order, as f64, followed by the value one step above the largest.
fn numbers(dtype: DType) -> Vec<f64> {
    let (infinity, beyond) =
        if dtype == DType::F16 { (0x7c00u16, 65536.0) } else { (0x7f80u16, 2f64.powi(128)) };
    let mut numbers: Vec<f64> = (0..infinity).map(|bits| value(dtype, bits)).collect();
    numbers.push(beyond);
    numbers
}

fn scalar(dtype: DType, bits: u16) -> Scalar {
    if dtype == DType::F16 { Scalar::F16(f16::from_bits(bits)) } else { Scalar::Bf16(bf16::from_bits(bits)) }
}

fn value(dtype: DType, bits: u16) -> f64 {
    scalar(dtype, bits).as_f64().unwrap()
}

/// The bits of an f64 rounded to a half format, by the definition: the nearest number; of two equally near
/// numbers, the one whose bits are even.
fn nearest(numbers: &[f64], x: f64) -> usize {
    let above = numbers.partition_point(|&number| number < x.abs()).min(numbers.len() - 1);
    if above == 0 || numbers[above] <= x.abs() {
        return above;
    }
    // The sum of two neighbours, and half of it, are exact in f64.
    let middle = (numbers[above - 1] + numbers[above]) / 2.0;
    if x.abs() < middle || (x.abs() == middle && above % 2 == 1) { above - 1 } else { above }
}

const HALVES: [DType; 2] = [DType::F16, DType::Bf16];

#[test]
fn rounding_is_to_nearest_even_around_every_boundary() {
    for dtype in HALVES {
        let numbers = numbers(dtype);
        for (bits, pair) in numbers.windows(2).enumerate() {
            let middle = (pair[0] + pair[1]) / 2.0;
            let even = bits + bits % 2;
            for (x, expected) in [
                (pair[0], bits),
                (pair[0].next_up(), bits),
                (middle.next_down(), bits),
                (middle, even),
                (middle.next_up(), bits + 1),
                (pair[1].next_down(), bits + 1),
            ] {
                assert_eq!(nearest(&numbers, x), expected, "the definition, {x:e}");
                assert_eq!(round_to(dtype, x).to_bits(), expected as u64, "{dtype} {x:e}");
                let negative = round_to(dtype, -x).to_bits();
                assert_eq!(negative, expected as u64 | 0x8000, "{dtype} -{x:e}");
            }
        }
        assert_eq!(round_to(dtype, NAN), scalar(dtype, 0x7fff));
        assert_eq!(round_to(dtype, f64::MAX), round_to(dtype, INF));
    }
}

#[test]
fn square_roots_and_inexact_functions_round_once() {
    for dtype in HALVES {
        let numbers = numbers(dtype);
        for bits in 0..=u16::MAX {
            let x = value(dtype, bits);
            // f64 has more than 2p + 2 bits, so its square root rounds to the correct half (Figueroa).
            let root = apply(Sqrt, &[scalar(dtype, bits)]);
            if x > 0.0 && x.is_finite() {
                assert_eq!(root.to_bits(), nearest(&numbers, x.sqrt()) as u64, "sqrt {x:e}");
            }
            for (function, exact) in
                [(Exp, transcendental::exp(x)), (Log, log(x)), (Tanh, transcendental::tanh(x))]
            {
                let found = apply(function, &[scalar(dtype, bits)]);
                if !exact.is_finite() || exact == 0.0 {
                    assert_eq!(found, round_to(dtype, exact), "{function} {x:e}");
                    continue;
                }
                // The f64 is off by at most 1 ULP, and all values within 2 ULP round to the same half, so
                // that half is correctly rounded.
                let sign = if exact < 0.0 { 0x8000 } else { 0 };
                for near in [exact, exact.next_up().next_up(), exact.next_down().next_down()] {
                    let expected = nearest(&numbers, near) as u64 | sign;
                    assert_eq!(found.to_bits(), expected, "{function} {x:e} in {dtype}");
                }
            }
        }
    }
}

#[test]
fn arithmetic_rounds_once() {
    // The expected sum, difference, product or quotient of two halves is rounded from the f64, which is exact
    // or has more than 2p + 2 bits. The steps are coprime to 65,536 and to each other, so that all kinds of
    // values meet.
    for dtype in HALVES {
        let numbers = numbers(dtype);
        for step in 0..400_000u32 {
            let [a, b] = [step.wrapping_mul(40_503), step.wrapping_mul(25_801) ^ (step >> 3)]
                .map(|bits| u16::try_from(bits & 0xffff).unwrap());
            let (x, y) = (value(dtype, a), value(dtype, b));
            for (function, exact) in [(Add, x + y), (Subtract, x - y), (Multiply, x * y), (Divide, x / y)] {
                let found = apply(function, &[scalar(dtype, a), scalar(dtype, b)]);
                if exact.is_nan() {
                    assert!(found.as_f64().unwrap().is_nan());
                    continue;
                }
                let sign = if exact.is_sign_negative() { 0x8000 } else { 0 };
                let expected = nearest(&numbers, exact) as u64 | sign;
                assert_eq!(found.to_bits(), expected, "{function} {x:e} {y:e} in {dtype}");
            }
        }
    }
}
