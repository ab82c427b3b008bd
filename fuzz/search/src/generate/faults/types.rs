//! Faults of types: different dtypes, and functions that are not defined for their arguments.

use super::super::choices::Choices;
use super::super::expressions::call;
use super::super::profile::Profile;
use super::Fault;
use broadcheck_spec::{DType, Expression, Function, RefusalKind};

/// Applies the faults of dtypes and functions.
pub(in crate::generate) fn in_types(
    choices: &mut dyn Choices,
    profile: &Profile,
    mut expression: Expression,
    mut wrt: usize,
    gradient: bool,
    dtypes: &mut [DType],
    faults: &[Fault],
) -> (Expression, usize) {
    for fault in faults {
        match fault {
            RefusalKind::DTypeMismatch => expression = mixed(choices, profile, expression, dtypes),
            RefusalKind::UnsupportedFunction if gradient && choices.chance(1, 4) => {
                expression = compared(profile, expression, wrt);
            }
            RefusalKind::UnsupportedFunction => {
                (expression, wrt) = undefined(choices, profile, expression, wrt, dtypes);
            }
            // Left to `in_skeleton`.
            RefusalKind::RankMismatch
            | RefusalKind::DimensionMismatch
            | RefusalKind::AxisOutOfRange
            | RefusalKind::BroadcastDimensionsCount
            | RefusalKind::BroadcastDimensionOutOfRange
            | RefusalKind::BroadcastDimensionsNotIncreasing
            | RefusalKind::BroadcastDimensionsNotIdentity
            | RefusalKind::BroadcastDimensionsNotDistinct
            | RefusalKind::FlagViolation
            | RefusalKind::NotBroadcastable
            | RefusalKind::OperandCount
            | RefusalKind::TooLarge
            | _ => {}
        }
    }
    (expression, wrt)
}

/// Gives one operand another dtype than the others, or makes a condition that is not bool.
fn mixed(
    choices: &mut dyn Choices,
    profile: &Profile,
    expression: Expression,
    dtypes: &mut [DType],
) -> Expression {
    let place = choices.index(dtypes.len());
    let others: Vec<DType> = profile.dtypes.iter().copied().filter(|&dtype| dtype != dtypes[place]).collect();
    if dtypes.len() > 1 && !others.is_empty() && choices.chance(3, 4) {
        dtypes[place] = choices.one_of(&others);
        return expression;
    }
    let number = (0..dtypes.len()).find(|&place| dtypes[place] != DType::Bool);
    match number {
        Some(number) if profile.functions.contains(Function::Select) => {
            call(Function::Select, [Expression::operand(number), expression.clone(), expression])
        }
        _ => expression,
    }
}

/// Adds a function that is not defined for its arguments, or that has no derivative.
fn undefined(
    choices: &mut dyn Choices,
    profile: &Profile,
    expression: Expression,
    wrt: usize,
    dtypes: &mut [DType],
) -> (Expression, usize) {
    const CANDIDATES: [Function; 8] = [
        Function::Sqrt,
        Function::LogicalNot,
        Function::Negate,
        Function::Exp,
        Function::Abs,
        Function::Less,
        Function::Equal,
        Function::Divide,
    ];
    if choices.chance(1, 3) {
        // Another dtype for all operands: functions of floats applied to integers, or functions of numbers to
        // booleans.
        let dtype = choices.one_of(&profile.dtypes);
        dtypes.fill(dtype);
        return (expression, wrt);
    }
    if choices.chance(1, 4) && dtypes.iter().any(|dtype| !dtype.is_float()) {
        let places: Vec<usize> = (0..dtypes.len()).filter(|&place| !dtypes[place].is_float()).collect();
        return (expression, choices.one_of(&places));
    }
    let first = choices.index(CANDIDATES.len());
    let turned = CANDIDATES[first..].iter().chain(&CANDIDATES[..first]);
    let Some(&function) = turned.into_iter().find(|&&function| profile.functions.contains(function)) else {
        return (expression, wrt);
    };
    let arguments = vec![expression; function.arity()];
    (call(function, arguments), wrt)
}

/// A comparison with w as the root: its result is bool, which has no gradient.
fn compared(profile: &Profile, expression: Expression, wrt: usize) -> Expression {
    if !profile.functions.contains(Function::Less) {
        return expression;
    }
    call(Function::Less, [expression, Expression::operand(wrt)])
}
