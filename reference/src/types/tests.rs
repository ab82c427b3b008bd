//! Which dtypes each function accepts, for all functions and dtypes, and the order of refusals.

use super::*;
use RefusalKind::{DTypeMismatch, UnsupportedFunction};

fn operand(place: usize) -> Expression {
    Expression::operand(place)
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).unwrap()
}

fn kind(expression: &Expression, dtypes: &[DType]) -> Result<DType, RefusalKind> {
    result_dtype(expression, dtypes).map_err(|refusal| refusal.kind.unwrap())
}

#[test]
fn every_function_with_every_dtype() {
    for &function in Function::ALL {
        for dtype in DType::ALL {
            let expected = match function.name() {
                "equal" | "not_equal" => Ok(DType::Bool),
                "select" => Ok(dtype),
                "less" | "less_equal" | "greater" | "greater_equal" if dtype != DType::Bool => {
                    Ok(DType::Bool)
                }
                "logical_and" | "logical_or" | "logical_not" if dtype == DType::Bool => Ok(DType::Bool),
                "add" | "subtract" | "multiply" | "maximum" | "minimum" | "negate" | "abs"
                    if dtype != DType::Bool =>
                {
                    Ok(dtype)
                }
                "divide" | "power" | "sqrt" | "exp" | "log" | "tanh" if dtype.is_float() => Ok(dtype),
                _ => Err(UnsupportedFunction),
            };
            let expression = match function.arity() {
                1 => call(function, [operand(1)]),
                2 => call(function, [operand(1), operand(1)]),
                _ => call(function, [operand(0), operand(1), operand(1)]),
            };
            assert_eq!(kind(&expression, &[DType::Bool, dtype]), expected, "{function} of {dtype}");
        }
    }
}

#[test]
fn one_dtype_for_all_arguments() {
    let add = call(Function::Add, [operand(0), operand(1)]);
    assert_eq!(kind(&add, &[DType::F32, DType::F64]), Err(DTypeMismatch));
    assert_eq!(kind(&add, &[DType::Bool, DType::F64]), Err(DTypeMismatch), "before unsupported_function");
    let and = call(Function::LogicalAnd, [operand(0), operand(1)]);
    assert_eq!(kind(&and, &[DType::Bool, DType::I8]), Err(DTypeMismatch));
}

#[test]
fn select_takes_a_bool_and_two_arguments_of_one_dtype() {
    let select = call(Function::Select, [operand(0), operand(1), operand(2)]);
    assert_eq!(kind(&select, &[DType::Bool, DType::U8, DType::U8]), Ok(DType::U8));
    assert_eq!(kind(&select, &[DType::U8, DType::U8, DType::U8]), Err(DTypeMismatch));
    assert_eq!(kind(&select, &[DType::Bool, DType::U8, DType::I8]), Err(DTypeMismatch));
}

#[test]
fn functions_are_checked_in_post_order() {
    // exp of an integer comes before the sum of two dtypes, which comes before the outer logical function.
    let exp = call(Function::Exp, [operand(0)]);
    let sum = call(Function::Add, [exp, operand(1)]);
    let dtypes = [DType::I32, DType::F64];
    assert_eq!(kind(&sum, &dtypes), Err(UnsupportedFunction));
    let swapped = call(Function::Subtract, [operand(0), operand(1)]);
    let late = call(Function::Multiply, [swapped, call(Function::Exp, [operand(0)])]);
    assert_eq!(kind(&late, &dtypes), Err(DTypeMismatch));
}

#[test]
fn unused_operands_may_have_any_dtype() {
    assert_eq!(kind(&operand(0), &[DType::Bool, DType::I8]), Ok(DType::Bool));
}

#[test]
fn a_gradient_requires_floats_and_derivatives() {
    let check = |expression: &Expression, dtypes: &[DType], wrt| {
        check_differentiable(expression, dtypes, wrt).map_err(|refusal| refusal.kind.unwrap())
    };
    let float = [DType::Bool, DType::F32, DType::F32, DType::I8];
    let less = || call(Function::Less, [operand(1), operand(2)]);
    let product = call(Function::Multiply, [operand(1), operand(2)]);
    assert_eq!(check(&product, &float, 1), Ok(()));
    assert_eq!(check(&product, &float, 3), Err(UnsupportedFunction), "w is not a float");
    assert_eq!(check(&operand(3), &float, 1), Err(UnsupportedFunction), "the root is not a float");
    assert_eq!(check(&less(), &float, 1), Err(UnsupportedFunction), "the root is bool");
    // A comparison is allowed as a condition, and nowhere else.
    let select = |condition| call(Function::Select, [condition, operand(1), operand(1)]);
    assert_eq!(check(&select(operand(0)), &float, 1), Ok(()));
    assert_eq!(check(&select(call(Function::Equal, [operand(3), operand(3)])), &float, 1), Ok(()));
    assert_eq!(check(&select(less()), &float, 1), Ok(()));
    assert_eq!(check(&select(call(Function::LogicalNot, [less()])), &float, 2), Ok(()));
    let both = call(Function::LogicalAnd, [less(), less()]);
    assert_eq!(check(&both, &float, 1), Err(UnsupportedFunction), "the root is a logical function");
    let chosen = call(Function::Select, [operand(0), less(), operand(0)]);
    assert_eq!(check(&chosen, &float, 1), Err(UnsupportedFunction), "a comparison chosen by the root");
    assert_eq!(check(&select(chosen), &float, 1), Ok(()), "a choice between conditions");
}
