//! exp, log, tanh and power, compared with values correctly rounded by mpmath (clause V-4).
//! `accuracy/make_table.py` generates the table.

use broadcheck_reference::apply;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Function, Implementation, Scalar};
use std::collections::BTreeMap;

const TABLE: &str = include_str!("accuracy/table.tsv");

/// A value of the table, and its position among the numbers of its format: neighbours are 1 apart, both zeros
/// have the same position, and infinity follows the largest number.
fn scalar(dtype: DType, bits: &str) -> Scalar {
    let bits = u64::from_str_radix(bits, 16).expect("hex digits");
    match dtype {
        DType::F64 => Scalar::F64(f64::from_bits(bits)),
        DType::F32 => Scalar::F32(f32::from_bits(bits.try_into().expect("32 bits"))),
        DType::F16 => Scalar::F16(f16::from_bits(bits.try_into().expect("16 bits"))),
        DType::Bf16 => Scalar::Bf16(bf16::from_bits(bits.try_into().expect("16 bits"))),
        other => panic!("{other} in the table"),
    }
}

fn place(value: Scalar) -> i128 {
    let sign = match value.dtype() {
        DType::F64 => 1 << 63,
        DType::F32 => 1 << 31,
        _ => 1u64 << 15,
    };
    let size = i128::from(value.to_bits() & (sign - 1));
    if value.to_bits() & sign == 0 { size } else { -size }
}

#[derive(Default)]
struct Tally {
    rows: usize,
    wrong: usize,
    worst: i128,
}

#[test]
fn every_row_is_within_the_ulp_that_the_reference_declares() {
    let mut tallies: BTreeMap<(String, DType), Tally> = BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [function, dtype, arguments, expected, _stratum] = cells[..] else { panic!("{line}") };
        let function: Function = function.parse().expect("a function");
        let dtype: DType = dtype.parse().expect("a dtype");
        let arguments: Vec<Scalar> = arguments.split(',').map(|bits| scalar(dtype, bits)).collect();
        let (expected, found) = (scalar(dtype, expected), apply(function, &arguments));
        assert!(!found.as_f64().expect("a float").is_nan(), "{line}: NaN");
        let distance = (place(found) - place(expected)).abs();
        assert!(distance <= 1, "{line}: found {found}, {distance} ULP from {expected}");
        assert_eq!(
            found.as_f64().unwrap().is_sign_negative(),
            expected.as_f64().unwrap().is_sign_negative(),
            "{line}: the sign of {found}"
        );
        let tally = tallies.entry((function.to_string(), dtype)).or_default();
        tally.rows += 1;
        tally.wrong += usize::from(distance != 0);
        tally.worst = tally.worst.max(distance);
    }
    assert_eq!(tallies.len(), 16, "four functions in four dtypes");
    for ((function, dtype), Tally { rows, wrong, worst }) in &tallies {
        println!("{function} {dtype}: worst {worst} ULP, {wrong} of {rows} not correctly rounded");
        assert!(*rows >= 150, "{function} {dtype}: {rows} rows");
        // As measured: log and tanh are always correctly rounded, exp and power in every dtype but f64.
        let rounded = *dtype != DType::F64 || function == "log" || function == "tanh";
        assert_eq!(*worst, i128::from(!rounded), "{function} {dtype}");
    }
    assert_eq!(broadcheck_reference::Reference::new().allowed_ulp(), 1);
}
