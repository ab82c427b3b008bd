//! Requests for the faults of kernels.

use super::support::{DTYPES, counted, data, dense, is_defined, mixed, numpy, palette, view};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Capabilities, DType, Data, Function, Operand, Request};

pub(super) fn kernels() -> Vec<Request> {
    let mut requests = Vec::new();
    for length in [529, 7, 15, 17, 31, 5, 9, 33, 130] {
        for dtype in DTYPES {
            let narrow = matches!(dtype, DType::F64 | DType::F32 | DType::I64);
            for function in Function::ALL.iter().copied().filter(|&function| function != Function::Select) {
                if !Capabilities::all().has(function, dtype) || !is_defined(function.name(), dtype) {
                    continue;
                }
                let vectors: Vec<Operand> = (0..function.arity())
                    .map(|place| dense(place, &[length], mixed(dtype, place, length)))
                    .collect();
                let names = ["a", "b"][..function.arity()].join(" ");
                let text = format!("{function} {names}");
                requests.push(numpy(&text, vectors.clone()));
                if function.arity() == 2 && length == 17 && narrow {
                    for scalar in 0..palette(dtype).len() {
                        let value = data(dtype, &palette(dtype)[scalar..=scalar]);
                        requests.push(numpy(&text, vec![vectors[0].clone(), dense(1, &[], value.clone())]));
                        requests.push(numpy(&text, vec![dense(0, &[], value), vectors[1].clone()]));
                    }
                }
            }
        }
        let bits = |operand: usize| {
            let values: Vec<bool> = (0..length).map(|place| place * 5 % 7 < 3 + operand).collect();
            dense(operand, &[length], Data::from(values))
        };
        requests.push(numpy("logical_not a", vec![bits(0)]));
        let choices = [bits(0), counted(1, &[length]), counted(2, &[length])];
        requests.push(numpy("select a b c", choices.to_vec()));
        let whole = |place| dense(place, &[length], mixed(DType::I64, place, length));
        requests.push(numpy("select a b c", vec![bits(0), whole(1), whole(2)]));
        for condition in [false, true] {
            let scalar = dense(0, &[], Data::from(vec![condition]));
            requests.push(numpy("select a b c", vec![scalar, counted(1, &[length]), counted(2, &[])]));
        }
    }
    let wide = |operand: usize, value: i64| dense(operand, &[], Data::from(vec![value]));
    let numbers = dense(1, &[5], Data::from(vec![1i64, 2, 3, 4, 5]));
    requests.push(numpy("add a b", vec![wide(0, 1 << 40), numbers]));
    let negative = dense(0, &[9], Data::from(vec![-1.0f64; 9]));
    let exponents = dense(1, &[9], Data::from(vec![1e10f64; 9]));
    requests.push(numpy("power a b", vec![negative, exponents]));
    requests.push(numpy("tanh a", vec![dense(0, &[9], Data::from(vec![0.6715f32; 9]))]));
    let halves: Vec<f16> = (0..40u16).map(|place| f16::from_bits(0x3c01 + 2 * place)).collect();
    let ulps = dense(1, &[], Data::from(vec![f16::from_f64(2f64.powi(-11))]));
    requests.push(numpy("add a b", vec![dense(0, &[40], Data::from(halves.clone())), ulps]));
    let even: Vec<f16> = (0..40u16).map(|place| f16::from_bits(0x3c00 + 2 * place)).collect();
    let ulps = dense(1, &[], Data::from(vec![f16::from_f64(2f64.powi(-11))]));
    requests.push(numpy("add a b", vec![dense(0, &[40], Data::from(even)), ulps]));
    let even: Vec<bf16> = (0..40u16).map(|place| bf16::from_bits(0x3f80 + 2 * place)).collect();
    let ulps = dense(1, &[], Data::from(vec![bf16::from_f64(2f64.powi(-8))]));
    requests.push(numpy("add a b", vec![dense(0, &[40], Data::from(even)), ulps]));
    requests.push(numpy("subtract a b", vec![counted(0, &[16, 8]), counted(1, &[16, 1])]));
    for columns in [9, 11, 17] {
        requests.push(numpy("subtract a b", vec![counted(0, &[3, columns]), counted(1, &[columns])]));
    }
    requests.push(numpy("add a b", vec![view(0, &[33], &[2], 0, 66), counted(1, &[33])]));
    let zeros = dense(0, &[7], Data::from(vec![-0.0f64; 7]));
    requests.push(numpy("multiply a b", vec![zeros, counted(1, &[7])]));
    let wide = |operand: usize, low: i64| {
        let values: Vec<i64> = (0..9).map(|place| (5 << 32) + (place * low)).collect();
        dense(operand, &[9], Data::from(values))
    };
    requests.push(numpy("less a b", vec![wide(0, 0x3000_0000), wide(1, 0x1000_0000)]));
    let halves = |operand: usize, high: i64| dense(operand, &[9], Data::from(vec![(high << 32) + 7; 9]));
    requests.push(numpy("equal a b", vec![halves(0, 1), halves(1, 2)]));
    requests
}
