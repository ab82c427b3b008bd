//! What a run may draw: what both sides declare.

use broadcheck_spec::{Capabilities, DType, Function, RuleSet};
use std::collections::BTreeMap;

/// What two implementations both declare.
///
/// # Errors
/// They have no rule set, operation or dtype in common.
pub fn common(left: &Capabilities, right: &Capabilities) -> Result<Capabilities, String> {
    fn both<T: Copy + PartialEq>(left: &[T], right: &[T]) -> Vec<T> {
        left.iter().copied().filter(|item| right.contains(item)).collect()
    }
    let either = |left: &[RuleSet], right: &[RuleSet]| -> Vec<RuleSet> {
        RuleSet::ALL.into_iter().filter(|rules| left.contains(rules) || right.contains(rules)).collect()
    };
    // An implementation that only infers declares no operation: it infers the results of all of them.
    let only_infers = |side: &Capabilities| side.operations.is_empty() && side.infer;
    let only_inferred = (only_infers(left) && right.infer) || (only_infers(right) && left.infer);
    let common = Capabilities {
        rules: both(&left.rules, &right.rules),
        operations: both(&left.operations, &right.operations),
        strided: left.strided && right.strided,
        broadcast_in_dim: left.broadcast_in_dim && right.broadcast_in_dim,
        permuted: left.permuted && right.permuted,
        cotangent: left.cotangent && right.cotangent,
        into: left.into && right.into,
        infer: left.infer && right.infer,
        declared: left.declared && right.declared,
        constants: left.constants && right.constants,
        same: left.same && right.same,
        unknown: both(&left.unknown, &right.unknown),
        without_infer: either(&left.without_infer, &right.without_infer),
        without_declared: either(&left.without_declared, &right.without_declared),
        declared_unknown: match (&left.declared_unknown, &right.declared_unknown) {
            (None, None) => None,
            (Some(some), None) => Some(both(some, &right.unknown)),
            (None, Some(some)) => Some(both(&left.unknown, some)),
            (Some(left), Some(right)) => Some(both(left, right)),
        },
        static_flags: left.static_flags || right.static_flags,
        functions: both(&left.functions, &right.functions),
        dtypes: both(&left.dtypes, &right.dtypes),
        function_dtypes: common_function_dtypes(left, right),
        rule_operations: common_by_rule_set(&left.rule_operations, &right.rule_operations),
        rule_functions: common_by_rule_set(&left.rule_functions, &right.rule_functions),
        ordered_operands: left.ordered_operands || right.ordered_operands,
        min_rank: left.min_rank.max(right.min_rank),
        max_rank: left.max_rank.into_iter().chain(right.max_rank).min(),
        equal_ranks: left.equal_ranks || right.equal_ranks,
        scalars: left.scalars && right.scalars,
        max_operands: left.max_operands.into_iter().chain(right.max_operands).min(),
        max_calls: left.max_calls.into_iter().chain(right.max_calls).min(),
        unused_operands: left.unused_operands && right.unused_operands,
        negative_strides: left.negative_strides && right.negative_strides,
        max_elements: left.max_elements.min(right.max_elements),
        large_sizes: left.large_sizes && right.large_sizes,
        flushed_subnormals: DType::ALL
            .into_iter()
            .filter(|dtype| [left, right].iter().any(|side| side.flushed_subnormals.contains(dtype)))
            .collect(),
        conventions: both(&left.conventions, &right.conventions),
    };
    for (what, none) in [
        ("rule set", common.rules.is_empty()),
        ("operation", common.operations.is_empty() && !only_inferred),
        ("dtype", common.dtypes.is_empty()),
    ] {
        if none {
            return Err(format!("the two sides have no {what} in common"));
        }
    }
    Ok(common)
}

/// The dtypes that both sides support, for each function that either limits.
fn common_function_dtypes(left: &Capabilities, right: &Capabilities) -> BTreeMap<Function, Vec<DType>> {
    let limited = left.function_dtypes.keys().chain(right.function_dtypes.keys()).copied();
    let has = |function: Function, &dtype: &DType| left.has(function, dtype) && right.has(function, dtype);
    limited
        .map(|function| (function, DType::ALL.into_iter().filter(|dtype| has(function, dtype)).collect()))
        .collect()
}

/// What both sides support of a rule set, for each rule set that either limits.
fn common_by_rule_set<T: Copy + PartialEq>(
    left: &BTreeMap<RuleSet, Vec<T>>,
    right: &BTreeMap<RuleSet, Vec<T>>,
) -> BTreeMap<RuleSet, Vec<T>> {
    let mut common = left.clone();
    for (rules, list) in right {
        let both = common.entry(*rules).or_insert_with(|| list.clone());
        both.retain(|item| list.contains(item));
    }
    common
}
