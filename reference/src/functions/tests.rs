//! Edge cases of values: wrapping, zeros, NaN, infinities, domain errors, and rounding to f16 and bf16.

use super::*;
use Function::{
    Abs, Add, Divide, Equal, Exp, Greater, GreaterEqual, Less, LessEqual, Log, LogicalAnd, LogicalNot,
    LogicalOr, Maximum, Minimum, Multiply, Negate, NotEqual, Power, Select, Sqrt, Subtract, Tanh,
};
use broadcheck_spec::DType;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::Bf16];

/// Asserts a value in every float dtype that represents the arguments and the value.
#[track_caller]
fn check(function: Function, arguments: &[f64], expected: f64) {
    for dtype in FLOATS {
        let scalars: Vec<Scalar> = arguments.iter().map(|&value| round_to(dtype, value)).collect();
        let found = apply(function, &scalars);
        assert_eq!(found, round_to(dtype, expected), "{function} {arguments:?} in {dtype}");
    }
}

#[test]
fn integers_wrap() {
    let i8s = |function, a, b| apply(function, &[Scalar::I8(a), Scalar::I8(b)]);
    assert_eq!(i8s(Add, 127, 1), Scalar::I8(-128));
    assert_eq!(i8s(Subtract, -128, 1), Scalar::I8(127));
    assert_eq!(i8s(Multiply, -128, -1), Scalar::I8(-128));
    assert_eq!(i8s(Maximum, -128, 127), Scalar::I8(127));
    assert_eq!(i8s(Minimum, -128, 127), Scalar::I8(-128));
    assert_eq!(apply(Abs, &[Scalar::I64(i64::MIN)]), Scalar::I64(i64::MIN));
    assert_eq!(apply(Abs, &[Scalar::I16(-5)]), Scalar::I16(5));
    assert_eq!(apply(Negate, &[Scalar::I32(i32::MIN)]), Scalar::I32(i32::MIN));
    assert_eq!(apply(Negate, &[Scalar::U8(1)]), Scalar::U8(255));
    assert_eq!(apply(Abs, &[Scalar::U64(u64::MAX)]), Scalar::U64(u64::MAX));
    assert_eq!(apply(Subtract, &[Scalar::U16(0), Scalar::U16(1)]), Scalar::U16(u16::MAX));
    assert_eq!(apply(Multiply, &[Scalar::U32(1 << 31), Scalar::U32(2)]), Scalar::U32(0));
    assert_eq!(apply(Maximum, &[Scalar::U64(u64::MAX), Scalar::U64(1)]), Scalar::U64(u64::MAX));
}

#[test]
fn comparisons_are_ieee_and_exact() {
    let truth = |function, a, b| apply(function, &[a, b]) == Scalar::Bool(true);
    let all = |a, b| [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual].map(|f| truth(f, a, b));
    let f64s = |a, b| all(Scalar::F64(a), Scalar::F64(b));
    assert_eq!(f64s(-0.0, 0.0), [true, false, false, true, false, true]);
    assert_eq!(f64s(NAN, NAN), [false, true, false, false, false, false]);
    assert_eq!(f64s(1.0, NAN), [false, true, false, false, false, false]);
    assert_eq!(f64s(1.0, INF), [false, true, true, true, false, false]);
    let wide = |a, b| all(Scalar::U64(a), Scalar::U64(b));
    assert_eq!(wide(u64::MAX, u64::MAX - 1), [false, true, false, false, true, true]);
    assert_eq!(all(Scalar::I8(-1), Scalar::I8(1)), [false, true, true, true, false, false]);
}

#[test]
fn logical_functions_and_select() {
    let two = |function, a, b| apply(function, &[Scalar::Bool(a), Scalar::Bool(b)]);
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(two(LogicalAnd, a, b), Scalar::Bool(a && b));
        assert_eq!(two(LogicalOr, a, b), Scalar::Bool(a || b));
        assert_eq!(two(Equal, a, b), Scalar::Bool(a == b));
        assert_eq!(two(NotEqual, a, b), Scalar::Bool(a != b));
    }
    assert_eq!(apply(LogicalNot, &[Scalar::Bool(true)]), Scalar::Bool(false));
    let select = |condition| apply(Select, &[Scalar::Bool(condition), Scalar::I8(1), Scalar::I8(2)]);
    assert_eq!((select(true), select(false)), (Scalar::I8(1), Scalar::I8(2)));
    let truth = |condition| apply(Select, &[condition, Scalar::Bool(true), Scalar::Bool(false)]);
    assert_eq!(truth(Scalar::Bool(false)), Scalar::Bool(false));
}

#[test]
#[should_panic(expected = "add does not take [Bool(true), Bool(true)]")]
fn arguments_of_an_unsupported_dtype_panic() {
    apply(Add, &[Scalar::Bool(true), Scalar::Bool(true)]);
}

#[test]
fn maximum_and_minimum_order_the_zeros_and_keep_nan() {
    for (a, b) in [(-0.0, 0.0), (0.0, -0.0)] {
        check(Maximum, &[a, b], 0.0);
        check(Minimum, &[a, b], -0.0);
    }
    check(Maximum, &[-0.0, -0.0], -0.0);
    check(Minimum, &[0.0, 0.0], 0.0);
    for function in [Maximum, Minimum] {
        check(function, &[NAN, 1.0], NAN);
        check(function, &[-INF, NAN], NAN);
    }
    check(Maximum, &[-INF, 2.0], 2.0);
    check(Minimum, &[-INF, 2.0], -INF);
}

#[test]
fn exact_functions_at_the_edges() {
    check(Divide, &[1.0, -0.0], -INF);
    check(Divide, &[0.0, 0.0], NAN);
    check(Subtract, &[INF, INF], NAN);
    check(Multiply, &[0.0, INF], NAN);
    check(Add, &[-0.0, -0.0], -0.0);
    check(Subtract, &[1.0, 1.0], 0.0);
    check(Negate, &[0.0], -0.0);
    check(Abs, &[-0.0], 0.0);
    check(Abs, &[-INF], INF);
    check(Abs, &[NAN], NAN);
    check(Sqrt, &[-0.0], -0.0);
    check(Sqrt, &[-1.0], NAN);
    check(Sqrt, &[INF], INF);
    assert_eq!(apply(Multiply, &[Scalar::F64(5e-324), Scalar::F64(0.5)]), Scalar::F64(0.0), "ties to even");
    assert_eq!(
        apply(Divide, &[Scalar::F32(1e-45), Scalar::F32(1.0)]),
        Scalar::F32(1e-45),
        "no flush to zero"
    );
}

#[test]
fn inexact_functions_are_exact_at_the_edges() {
    check(Exp, &[0.0], 1.0);
    check(Exp, &[-0.0], 1.0);
    check(Exp, &[INF], INF);
    check(Exp, &[-INF], 0.0);
    check(Log, &[0.0], -INF);
    check(Log, &[-0.0], -INF);
    check(Log, &[1.0], 0.0);
    check(Log, &[INF], INF);
    check(Log, &[-1.0], NAN);
    check(Log, &[-INF], NAN);
    check(Tanh, &[0.0], 0.0);
    check(Tanh, &[-0.0], -0.0);
    check(Tanh, &[INF], 1.0);
    check(Tanh, &[-INF], -1.0);
    for function in [Exp, Log, Tanh] {
        check(function, &[NAN], NAN);
    }
}

#[test]
fn power_is_ieee_754_2019_pow() {
    for any in [NAN, INF, -INF, 0.0, -0.0, -2.5, 3.0] {
        check(Power, &[any, 0.0], 1.0);
        check(Power, &[any, -0.0], 1.0);
        check(Power, &[1.0, any], 1.0);
    }
    check(Power, &[-1.0, INF], 1.0);
    check(Power, &[-1.0, -INF], 1.0);
    for (zero, odd) in [(0.0, 0.0), (-0.0, -0.0)] {
        check(Power, &[zero, 3.0], odd);
        check(Power, &[zero, 2.0], 0.0);
        check(Power, &[zero, 0.5], 0.0);
        check(Power, &[zero, INF], 0.0);
        check(Power, &[zero, -3.0], 1.0 / odd);
        check(Power, &[zero, -2.0], INF);
        check(Power, &[zero, -0.5], INF);
        check(Power, &[zero, -INF], INF);
    }
    for sign in [1.0, -1.0] {
        check(Power, &[sign * 0.5, INF], 0.0);
        check(Power, &[sign * 0.5, -INF], INF);
        check(Power, &[sign * 2.0, INF], INF);
        check(Power, &[sign * 2.0, -INF], 0.0);
    }
    check(Power, &[INF, 0.5], INF);
    check(Power, &[INF, -0.5], 0.0);
    check(Power, &[INF, INF], INF);
    check(Power, &[INF, -INF], 0.0);
    check(Power, &[-INF, 3.0], -INF);
    check(Power, &[-INF, 2.0], INF);
    check(Power, &[-INF, 0.5], INF);
    check(Power, &[-INF, -3.0], -0.0);
    check(Power, &[-INF, -2.0], 0.0);
    check(Power, &[-INF, -0.5], 0.0);
    check(Power, &[-2.0, 0.5], NAN);
    check(Power, &[-2.0, 3.0], -8.0);
    check(Power, &[-2.0, -2.0], 0.25);
    for (a, b) in [(NAN, 1.0), (2.0, NAN), (0.0, NAN), (INF, NAN), (NAN, INF), (-1.0, NAN)] {
        check(Power, &[a, b], NAN);
    }
    // The largest finite number is an even integer, in every format.
    let largest = |base: f64| apply(Power, &[Scalar::F64(base), Scalar::F64(f64::MAX)]);
    assert_eq!(largest(-1.0), Scalar::F64(1.0));
    assert_eq!(largest(-2.0), Scalar::F64(INF));
}

#[test]
fn powers_that_are_exact_are_exact() {
    for base in 1..=40u32 {
        for exponent in 1..=9u32 {
            let Some(value) = base.checked_pow(exponent).map(f64::from) else { continue };
            let power = |a: f64, b: f64| apply(Power, &[Scalar::F64(a), Scalar::F64(b)]);
            let (root, exponent) = (f64::from(base), f64::from(exponent));
            assert_eq!(power(root, exponent), Scalar::F64(value), "{base}^{exponent}");
            assert_eq!(power(root * root, exponent / 2.0), Scalar::F64(value), "({base}^2)^({exponent}/2)");
        }
    }
}

mod halves;
