//! Compares exp, log, tanh and power of the whole engine with values that mpmath rounded correctly: they are
//! within 1 ULP in every float dtype and have the same bits on every SIMD level (clause V-4). The table
//! belongs to the interpreter; the program that generates it is beside it.

use broadcheck_fast::{Fast, Level};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome};
use broadcheck_spec::{Request, Rules, Scalar};
use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../reference/tests/accuracy/table.tsv");

/// The rows of one function and dtype: the arguments by position, and the correctly rounded values.
#[derive(Default)]
struct Column {
    arguments: [Vec<Scalar>; 2],
    expected: Vec<Scalar>,
}

fn columns() -> BTreeMap<(Function, DType), Column> {
    let mut columns: BTreeMap<(Function, DType), Column> = BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [function, dtype, arguments, expected, _] = cells[..] else { panic!("{line}") };
        let dtype: DType = dtype.parse().expect("a dtype");
        let column = columns.entry((function.parse().expect("a function"), dtype)).or_default();
        for (place, bits) in arguments.split(',').enumerate() {
            column.arguments[place].push(scalar(dtype, bits));
        }
        column.expected.push(scalar(dtype, expected));
    }
    columns
}

fn scalar(dtype: DType, bits: &str) -> Scalar {
    let bits = u64::from_str_radix(bits, 16).expect("hex digits");
    match dtype {
        DType::F64 => Scalar::F64(f64::from_bits(bits)),
        DType::F32 => Scalar::F32(f32::from_bits(bits.try_into().expect("32 bits"))),
        DType::F16 => Scalar::F16(f16::from_bits(bits.try_into().expect("16 bits"))),
        DType::Bf16 => Scalar::Bf16(bf16::from_bits(bits.try_into().expect("16 bits"))),
        other => panic!("found {other} in the table, expected a float dtype"),
    }
}

/// The index among the numbers of the format: neighbours differ by 1, and infinity follows the largest
/// number.
fn place(value: Scalar) -> i128 {
    let sign = match value.dtype() {
        DType::F64 => 1 << 63,
        DType::F32 => 1 << 31,
        _ => 1u64 << 15,
    };
    let size = i128::from(value.to_bits() & (sign - 1));
    if value.to_bits() & sign == 0 { size } else { -size }
}

fn evaluate(level: Level, function: Function, dtype: DType, column: &Column) -> Data {
    let operand = |place: usize| {
        let values = Data::from_scalars(dtype, column.arguments[place].iter().copied()).unwrap();
        Operand::dense(["a", "b"][place], [values.len()], values).unwrap()
    };
    let operands: Vec<Operand> = (0..function.arity()).map(operand).collect();
    let expression = Expression::call(function, (0..function.arity()).map(Expression::operand)).unwrap();
    let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
    match Fast::with_level(level).unwrap().run(&request) {
        Outcome::Success(success) => success.tensor.values().clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_row_is_within_one_ulp_and_the_levels_agree() {
    let columns = columns();
    assert_eq!(columns.len(), 16, "four functions in four dtypes");
    for ((function, dtype), column) in &columns {
        let portable = evaluate(Level::Portable, *function, *dtype, column);
        for (row, (found, expected)) in portable.iter().zip(&column.expected).enumerate() {
            let arguments: Vec<_> =
                column.arguments.iter().filter_map(|arguments| arguments.get(row)).collect();
            assert!(!found.as_f64().unwrap().is_nan(), "{function} {dtype} {arguments:?}: NaN");
            let distance = (place(found) - place(*expected)).abs();
            assert!(
                distance <= 1,
                "{function} {dtype} {arguments:?}: {found} is {distance} ULP from {expected}"
            );
        }
        for level in Level::available() {
            assert_eq!(evaluate(level, *function, *dtype, column), portable, "{function} {dtype} at {level}");
        }
    }
}
