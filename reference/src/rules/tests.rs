//! Each clause, with a shape that it accepts and one that it refuses, and the order of the clauses of a rule
//! set.

use super::*;
use RefusalKind::{
    AxisOutOfRange, BroadcastDimensionOutOfRange, BroadcastDimensionsCount, BroadcastDimensionsNotDistinct,
    BroadcastDimensionsNotIdentity, BroadcastDimensionsNotIncreasing, DimensionMismatch, FlagViolation,
    NotBroadcastable, OperandCount, RankMismatch, TooLarge,
};

const HUGE: usize = 1 << 40;

fn shapes(all: &[&[usize]]) -> Vec<Shape> {
    all.iter().map(|&lengths| Shape::from(lengths)).collect()
}

fn accepted(rules: &Rules, all: &[&[usize]]) -> Alignment {
    align_shapes(rules, &shapes(all), &[]).unwrap_or_else(|refusal| panic!("{all:?}: {refusal}"))
}

fn result(rules: &Rules, all: &[&[usize]]) -> Vec<usize> {
    accepted(rules, all).shape.to_vec()
}

/// The kind and axis of a refusal.
fn refused(rules: &Rules, all: &[&[usize]]) -> (RefusalKind, Option<usize>) {
    let refusal = align_shapes(rules, &shapes(all), &[]).expect_err("refused");
    assert!(!refusal.message.is_empty());
    (refusal.kind.expect("a kind"), refusal.axis)
}

fn pdpd(axis: i64) -> Rules {
    Rules::Pdpd { axis: Some(axis) }
}

fn xla(dimensions: &[i64]) -> Rules {
    Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) }
}

const XLA: Rules = Rules::Xla { broadcast_dimensions: None };
const PDPD: Rules = Rules::Pdpd { axis: None };

#[test]
fn the_common_length_is_not_the_maximum() {
    assert_eq!(common_length(3, 3), Some(3));
    assert_eq!(common_length(1, 3), Some(3));
    assert_eq!(common_length(1, 0), Some(0));
    assert_eq!(common_length(0, 1), Some(0));
    assert_eq!(common_length(0, 0), Some(0));
    assert_eq!(common_length(0, 3), None);
    assert_eq!(common_length(2, 3), None);
}

#[test]
fn g5_operand_counts() {
    for rules in [Rules::None, Rules::Numpy, Rules::Theano] {
        assert_eq!(result(&rules, &[&[2, 1]]), [2, 1]);
        assert_eq!(result(&rules, &[&[2], &[2], &[2], &[2], &[2]]), [2]);
        assert_eq!(refused(&rules, &[]).0, OperandCount);
    }
    for rules in [PDPD, XLA] {
        assert_eq!(result(&rules, &[&[2, 1]]), [2, 1]);
        assert_eq!(accepted(&rules, &[&[2, 1]]).axes, [[Some(0), Some(1)]]);
        assert_eq!(result(&rules, &[&[2], &[2]]), [2]);
        assert_eq!(refused(&rules, &[]).0, OperandCount);
        assert_eq!(refused(&rules, &[&[2], &[3], &[4]]).0, OperandCount);
    }
    assert_eq!(refused(&Rules::Bidirectional, &[&[2], &[2]]).0, OperandCount);
}

#[test]
fn unsupported_operations_are_refused_without_a_kind() {
    let refusal = align_shapes(&Rules::Bidirectional, &shapes(&[&[2]]), &[]).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (None, "bidirectional has no operation elementwise")
    );
    for rules in [Rules::None, PDPD, Rules::Theano] {
        assert_eq!(broadcast_shape(&rules, &Shape::from([1]), &Shape::from([2])).unwrap_err().kind, None);
    }
}

#[test]
fn g1_sizes_are_checked_last_and_over_every_shape() {
    assert_eq!(refused(&Rules::Numpy, &[&[HUGE, 1], &[HUGE]]), (TooLarge, None), "the result");
    assert_eq!(refused(&Rules::None, &[&[HUGE, HUGE]]), (TooLarge, None), "the operand");
    assert_eq!(
        refused(&Rules::None, &[&[HUGE, HUGE, 0]]),
        (TooLarge, None),
        "the other lengths count even if one is zero"
    );
    assert_eq!(
        refused(&Rules::Numpy, &[&[HUGE, HUGE, 2], &[3]]),
        (DimensionMismatch, Some(2)),
        "rules first"
    );
    assert_eq!(result(&Rules::Numpy, &[&[HUGE, 1, 0], &[2, 1]]), [HUGE, 2, 0]);
    let [wide, one] = [Shape::from([HUGE, HUGE]), Shape::from([1])];
    let named = Rules::Xla { broadcast_dimensions: Some(vec![1]) };
    for rules in [Rules::Numpy, Rules::Bidirectional, named] {
        assert_eq!(broadcast_shape(&rules, &one, &wide).unwrap_err().kind, Some(TooLarge));
    }
}

#[test]
fn none() {
    assert_eq!(result(&Rules::None, &[&[2, 3], &[2, 3], &[2, 3]]), [2, 3]);
    assert_eq!(result(&Rules::None, &[&[], &[]]), Vec::<usize>::new());
    assert_eq!(result(&Rules::None, &[&[0], &[0]]), [0]);
    // NONE-1
    assert_eq!(refused(&Rules::None, &[&[1], &[]]), (RankMismatch, None));
    assert_eq!(refused(&Rules::None, &[&[2, 3], &[4, 5], &[3]]), (RankMismatch, None), "before NONE-2");
    // NONE-2
    assert_eq!(refused(&Rules::None, &[&[1], &[2]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&Rules::None, &[&[2], &[1]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&Rules::None, &[&[2, 3], &[2, 4], &[5, 3]]), (DimensionMismatch, Some(0)));
}

#[test]
fn numpy() {
    let alignment = accepted(&Rules::Numpy, &[&[3, 2, 1, 4], &[5, 4], &[]]);
    assert_eq!(alignment.shape, Shape::from([3, 2, 5, 4]));
    assert_eq!(alignment.axes[1], [Some(2), Some(3)]);
    assert!(alignment.axes[2].is_empty());
    // NUMPY-2, NUMPY-3
    assert_eq!(result(&Rules::Numpy, &[&[2, 1], &[1, 3]]), [2, 3]);
    assert_eq!(result(&Rules::Numpy, &[&[1], &[0], &[1]]), [0]);
    assert_eq!(refused(&Rules::Numpy, &[&[0], &[3]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&Rules::Numpy, &[&[3, 1, 5], &[4, 4, 5]]), (DimensionMismatch, Some(0)));
    // The leftmost axis over all operands, not that of the first incompatible pair.
    assert_eq!(refused(&Rules::Numpy, &[&[1, 2], &[4, 3], &[5, 2]]), (DimensionMismatch, Some(0)));
    // NUMPY-4
    assert_eq!(result(&Rules::Numpy, &[&[], &[]]), Vec::<usize>::new());
}

#[test]
fn numpy_broadcast() {
    let to = |operand: &[usize], target: &[usize]| {
        broadcast_shape(&Rules::Numpy, &Shape::from(operand), &Shape::from(target))
            .map_err(|refusal| (refusal.kind.unwrap(), refusal.axis))
    };
    let alignment = to(&[3, 1], &[2, 3, 4]).unwrap();
    assert_eq!(alignment.shape, Shape::from([2, 3, 4]));
    assert_eq!(alignment.axes, [[Some(1), Some(2)]]);
    assert_eq!(to(&[1], &[0]).unwrap().shape, Shape::from([0]));
    assert_eq!(to(&[1], &[]), Err((RankMismatch, None)));
    assert_eq!(to(&[2, 3], &[3]), Err((RankMismatch, None)));
    assert_eq!(to(&[3], &[2, 1]), Err((DimensionMismatch, Some(1))));
    assert_eq!(to(&[0], &[1]), Err((DimensionMismatch, Some(0))));
}

#[test]
fn xla_broadcast() {
    let to = |operand: &[usize], dimensions: &[i64], target: &[usize]| {
        let rules = Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) };
        broadcast_shape(&rules, &Shape::from(operand), &Shape::from(target))
            .map_err(|refusal| (refusal.kind.unwrap(), refusal.axis))
    };
    // XLA-13: axis 0 lies on axis 2, axis 1 on axis 0.
    let alignment = to(&[2, 1], &[2, 0], &[3, 4, 2]).unwrap();
    assert_eq!(alignment.shape, Shape::from([3, 4, 2]));
    assert_eq!(alignment.axes, [[Some(2), Some(0)]]);
    assert_eq!(alignment.intermediate, None);
    assert_eq!(alignment.operand_index(0, &Shape::from([2, 1]), &[2, 3, 1]), [1, 0]);
    // XLA-9, before XLA-10.
    assert_eq!(to(&[], &[], &[0]).unwrap().shape, Shape::from([0]));
    assert_eq!(to(&[2, 3], &[], &[2, 3]), Err((BroadcastDimensionsCount, None)));
    assert_eq!(to(&[], &[7], &[2]), Err((BroadcastDimensionsCount, None)));
    // XLA-10, before XLA-11.
    assert_eq!(to(&[2], &[-1], &[2]), Err((BroadcastDimensionOutOfRange, None)));
    assert_eq!(to(&[2], &[1], &[2]), Err((BroadcastDimensionOutOfRange, None)));
    assert_eq!(to(&[2, 2, 2], &[0, 0, 3], &[2, 2, 2]), Err((BroadcastDimensionOutOfRange, None)));
    // XLA-11, before XLA-12.
    assert_eq!(to(&[2, 5], &[1, 1], &[2, 2]), Err((BroadcastDimensionsNotDistinct, None)));
    // XLA-12.
    assert_eq!(to(&[1], &[0], &[0]).unwrap().shape, Shape::from([0]));
    assert_eq!(to(&[2], &[1], &[2, 1]), Err((DimensionMismatch, Some(1))));
    assert_eq!(to(&[0], &[0], &[1]), Err((DimensionMismatch, Some(0))));
    assert_eq!(to(&[2, 3], &[1, 0], &[4, 5]), Err((DimensionMismatch, Some(0))), "the target's leftmost");
}

#[test]
fn bidirectional() {
    let to = |operand: &[usize], target: &[usize]| {
        broadcast_shape(&Rules::Bidirectional, &Shape::from(operand), &Shape::from(target))
            .map(|alignment| alignment.shape.to_vec())
            .map_err(|refusal| (refusal.kind.unwrap(), refusal.axis))
    };
    assert_eq!(to(&[5], &[1]), Ok(vec![5]));
    assert_eq!(to(&[3, 4], &[]), Ok(vec![3, 4]));
    assert_eq!(to(&[3, 1], &[2, 1, 6]), Ok(vec![2, 3, 6]));
    assert_eq!(to(&[0], &[1]), Ok(vec![0]));
    assert_eq!(to(&[2, 3], &[4]), Err((DimensionMismatch, Some(1))));
    assert_eq!(to(&[2], &[3, 4, 5]), Err((DimensionMismatch, Some(2))));
}

#[test]
fn pdpd_aligns_b_at_the_start_axis() {
    let a: &[usize] = &[2, 3, 4, 5];
    assert_eq!(accepted(&pdpd(1), &[a, &[3, 4]]).axes[1], [Some(1), Some(2)]);
    assert_eq!(accepted(&pdpd(1), &[a, &[3, 1]]).axes[1], [Some(1), None]);
    assert_eq!(accepted(&pdpd(0), &[a, &[1, 3]]).axes[1], [Some(0), Some(1)]);
    assert_eq!(accepted(&pdpd(0), &[a, &[2, 1, 4]]).axes[1], [Some(0), Some(1), Some(2)]);
    // PDPD-2: by default, B as given is aligned at the right, so (3,1) starts at axis 2 and its 3 meets a 4.
    assert_eq!(accepted(&PDPD, &[a, &[4, 5]]).axes[1], [Some(2), Some(3)]);
    assert_eq!(accepted(&pdpd(-1), &[a, &[4, 1]]).axes[1], [Some(2), None]);
    assert_eq!(refused(&pdpd(-1), &[a, &[3, 1]]), (DimensionMismatch, Some(2)));
    // PDPD-6
    assert_eq!(result(&pdpd(1), &[a, &[3]]), a);
}

#[test]
fn pdpd_refuses() {
    let a: &[usize] = &[2, 3];
    // PDPD-1, on the ranks as given, and before the axis.
    assert_eq!(refused(&pdpd(-2), &[a, &[2, 3, 1]]), (RankMismatch, None));
    assert_eq!(refused(&PDPD, &[&[], &[1]]), (RankMismatch, None));
    // PDPD-2
    assert_eq!(refused(&pdpd(-2), &[a, &[3]]), (AxisOutOfRange, None));
    assert_eq!(refused(&pdpd(i64::MIN), &[a, &[]]), (AxisOutOfRange, None));
    // PDPD-4
    assert_eq!(result(&pdpd(2), &[a, &[]]), a);
    assert_eq!(result(&pdpd(2), &[a, &[1]]), a);
    assert_eq!(refused(&pdpd(3), &[a, &[]]), (AxisOutOfRange, None));
    assert_eq!(refused(&pdpd(3), &[a, &[1]]), (AxisOutOfRange, None));
    assert_eq!(refused(&pdpd(1), &[a, &[2, 3]]), (AxisOutOfRange, None), "before the lengths");
    assert_eq!(refused(&pdpd(i64::MAX), &[a, &[1]]), (AxisOutOfRange, None));
    // PDPD-5
    assert_eq!(refused(&pdpd(1), &[&[8, 1, 6, 1], &[7, 1, 5]]), (DimensionMismatch, Some(1)));
    assert_eq!(refused(&pdpd(0), &[&[1], &[0]]), (DimensionMismatch, Some(0)));
    assert_eq!(result(&pdpd(0), &[&[0], &[1]]), [0]);
}

#[test]
fn xla_equal_ranks() {
    assert_eq!(result(&XLA, &[&[2, 1], &[1, 3]]), [2, 3]);
    assert_eq!(result(&XLA, &[&[1, 0], &[3, 1]]), [3, 0]);
    assert_eq!(result(&xla(&[0, 1]), &[&[2, 1], &[1, 3]]), [2, 3]);
    assert_eq!(result(&xla(&[]), &[&[], &[]]), Vec::<usize>::new());
    assert_eq!(accepted(&XLA, &[&[2], &[2]]).intermediate, None);
    let not_identity = (BroadcastDimensionsNotIdentity, None);
    assert_eq!(refused(&xla(&[1, 0]), &[&[2, 3], &[2, 4]]), not_identity, "before the lengths");
    assert_eq!(refused(&xla(&[0]), &[&[2, 3], &[2, 3]]), not_identity);
    assert_eq!(refused(&xla(&[0]), &[&[], &[]]), not_identity);
    assert_eq!(refused(&xla(&[0, 1, 2]), &[&[2, 3], &[2, 3]]), not_identity);
    assert_eq!(refused(&XLA, &[&[7, 2, 5], &[7, 2, 6]]), (DimensionMismatch, Some(2)));
}

#[test]
fn xla_different_ranks() {
    // XLA-2
    let scalar = accepted(&xla(&[]), &[&[2, 3], &[]]);
    assert_eq!(scalar.shape, Shape::from([2, 3]));
    assert_eq!(scalar.intermediate, Some(Shape::from([2, 3])));
    // XLA-3
    assert_eq!(refused(&XLA, &[&[2, 3], &[3]]), (RankMismatch, None));
    assert_eq!(refused(&xla(&[]), &[&[1], &[1, 1, 1]]), (RankMismatch, None));
    // XLA-4
    assert_eq!(refused(&xla(&[0]), &[&[2, 3], &[]]), (BroadcastDimensionsCount, None));
    assert_eq!(
        refused(&xla(&[9, 9]), &[&[2, 3], &[3]]),
        (BroadcastDimensionsCount, None),
        "before the range"
    );
    // XLA-5
    assert_eq!(refused(&xla(&[2]), &[&[2, 3], &[3]]), (BroadcastDimensionOutOfRange, None));
    assert_eq!(refused(&xla(&[-1]), &[&[2, 3], &[3]]), (BroadcastDimensionOutOfRange, None));
    assert_eq!(refused(&xla(&[1, 0, 9]), &[&[2; 4], &[2; 3]]), (BroadcastDimensionOutOfRange, None));
    // XLA-6
    assert_eq!(refused(&xla(&[2, 1]), &[&[2; 4], &[2; 2]]), (BroadcastDimensionsNotIncreasing, None));
    assert_eq!(refused(&xla(&[2, 2]), &[&[2; 4], &[3; 2]]), (BroadcastDimensionsNotIncreasing, None));
    // XLA-7
    assert_eq!(refused(&xla(&[0]), &[&[2, 3], &[3]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&xla(&[1, 3]), &[&[9, 2, 9, 4], &[2, 3]]), (DimensionMismatch, Some(3)));
    // XLA-8: the order of the operands does not matter.
    for (operands, lower) in [([&[1, 2][..], &[4, 3, 1]], 0), ([&[4, 3, 1], &[1, 2]], 1)] {
        let alignment = accepted(&xla(&[1, 2]), &operands);
        assert_eq!(alignment.intermediate, Some(Shape::from([4, 1, 2])));
        assert_eq!(alignment.shape, Shape::from([4, 3, 2]));
        assert_eq!(alignment.axes[lower], [Some(1), Some(2)]);
    }
    let empty = accepted(&xla(&[1]), &[&[4, 0], &[1]]);
    assert_eq!((empty.intermediate, empty.shape), (Some(Shape::from([4, 1])), Shape::from([4, 0])));
}

#[test]
fn theano() {
    let flagged = |all: &[&[usize]], flags: &[&[bool]]| {
        let flags: Vec<Option<&[bool]>> = flags.iter().map(|&flags| Some(flags)).collect();
        align_shapes(&Rules::Theano, &shapes(all), &flags)
            .map(|alignment| (alignment.shape.to_vec(), alignment.broadcastable.unwrap()))
            .map_err(|refusal| (refusal.kind.unwrap(), refusal.operand, refusal.axis))
    };
    // THEANO-1
    assert_eq!(flagged(&[&[1], &[10]], &[&[true], &[false]]), Ok((vec![10], vec![false])));
    assert_eq!(flagged(&[&[2], &[2]], &[&[true], &[false]]), Err((FlagViolation, Some(0), Some(0))));
    assert_eq!(flagged(&[&[0]], &[&[true]]), Err((FlagViolation, Some(0), Some(0))));
    let late = flagged(&[&[3], &[1, 2], &[2]], &[&[false], &[true, true], &[true]]);
    assert_eq!(late, Err((FlagViolation, Some(1), Some(1))), "before THEANO-3, first operand, then axis");
    // THEANO-2
    assert_eq!(flagged(&[&[3], &[2, 3]], &[&[false], &[false, false]]), Ok((vec![2, 3], vec![false; 2])));
    // THEANO-3
    assert_eq!(refused(&Rules::Theano, &[&[1], &[10]]), (NotBroadcastable, Some(0)));
    assert_eq!(result(&Rules::Theano, &[&[1], &[1]]), [1]);
    assert_eq!(flagged(&[&[1], &[0]], &[&[true], &[false]]), Ok((vec![0], vec![false])));
    let far = flagged(&[&[1, 2], &[1, 3], &[2, 2]], &[&[false; 2], &[false; 2], &[false; 2]]);
    assert_eq!(far, Err((NotBroadcastable, None, Some(0))), "the leftmost over all operands");
    // THEANO-4
    let flags = flagged(&[&[1, 1], &[1, 1]], &[&[true, true], &[true, false]]);
    assert_eq!(flags, Ok((vec![1, 1], vec![true, false])));
    assert_eq!(flagged(&[&[1], &[]], &[&[true], &[]]), Ok((vec![1], vec![true])));
}

#[test]
fn leading() {
    let leading = Rules::Leading;
    // LEADING-1
    assert_eq!(result(&leading, &[&[2], &[2, 3]]), [2, 3]);
    assert_eq!(refused(&leading, &[&[3], &[2, 3]]), (DimensionMismatch, Some(0)));
    assert_eq!(accepted(&leading, &[&[2], &[2, 3, 4]]).axes[0], [Some(0)]);
    // LEADING-2
    assert_eq!(refused(&leading, &[&[2, 0], &[2, 3]]), (DimensionMismatch, Some(1)));
    assert_eq!(refused(&leading, &[&[2], &[1, 3], &[2, 4]]), (DimensionMismatch, Some(1)));
    assert_eq!(refused(&leading, &[&[2, 3], &[3, 2]]), (DimensionMismatch, Some(0)), "the leftmost");
    // LEADING-3
    assert_eq!(result(&leading, &[&[1, 0], &[3]]), [3, 0]);
    assert_eq!(result(&leading, &[&[2], &[2, 1, 1]]), [2, 1, 1]);
    assert_eq!(result(&leading, &[&[], &[]]), [0usize; 0]);
    // G-1
    assert_eq!(refused(&leading, &[&[HUGE], &[1, HUGE]]), (TooLarge, None));
    // LEADING-4
    let onto = |operand: &[usize], target: &[usize]| {
        broadcast_shape(&leading, &Shape::from(operand), &Shape::from(target))
            .map(|alignment| alignment.shape.to_vec())
            .map_err(|refusal| (refusal.kind.unwrap(), refusal.axis))
    };
    assert_eq!(onto(&[2], &[2, 3]), Ok(vec![2, 3]));
    assert_eq!(onto(&[1], &[0]), Ok(vec![0]));
    assert_eq!(onto(&[2, 3], &[2]), Err((RankMismatch, None)));
    assert_eq!(onto(&[2, 1], &[2]), Err((RankMismatch, None)));
    assert_eq!(onto(&[2, 3], &[2, 1]), Err((DimensionMismatch, Some(1))));
    assert_eq!(onto(&[3], &[2, 3]), Err((DimensionMismatch, Some(0))));
}

#[test]
fn repeat() {
    let repeat = Rules::Repeat;
    // REPEAT-1
    assert_eq!(result(&repeat, &[&[2, 1, 1, 2], &[2, 1, 1, 2]]), [2, 1, 1, 2]);
    assert_eq!(refused(&repeat, &[&[1, 1, 1, 1, 2], &[2]]), (RankMismatch, None));
    assert_eq!(refused(&repeat, &[&[2], &[1, 1, 1, 1, 2]]), (RankMismatch, None));
    assert_eq!(refused(&repeat, &[&[1, 1, 1, 1, 2]]), (RankMismatch, None));
    // REPEAT-2
    assert_eq!(result(&repeat, &[&[2, 3], &[3]]), [2, 3]);
    assert_eq!(result(&repeat, &[&[3], &[1, 3]]), [3]);
    assert_eq!(accepted(&repeat, &[&[3], &[1, 3]]).axes[1], [None, Some(0)]);
    assert_eq!(refused(&repeat, &[&[3], &[2, 3]]), (RankMismatch, None));
    // REPEAT-3
    assert_eq!(result(&repeat, &[&[4, 6], &[2, 3]]), [4, 6]);
    assert_eq!(refused(&repeat, &[&[6], &[4]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&repeat, &[&[2], &[6]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&repeat, &[&[6, 5, 5], &[4, 2, 2]]), (DimensionMismatch, Some(0)), "the leftmost");
    assert_eq!(result(&repeat, &[&[0], &[3]]), [0]);
    assert_eq!(refused(&repeat, &[&[1], &[0]]), (DimensionMismatch, Some(0)));
    // REPEAT-4
    assert_eq!(result(&repeat, &[&[0, 5], &[3, 0]]), [0, 5]);
    assert_eq!(result(&repeat, &[&[0], &[2, 0]]), [0]);
    assert_eq!(refused(&repeat, &[&[5, 0], &[2, 3]]), (DimensionMismatch, Some(0)));
    assert_eq!(refused(&repeat, &[&[3], &[0, 3]]), (RankMismatch, None));
    // REPEAT-5
    let alignment = accepted(&repeat, &[&[2, 6], &[3]]);
    let read = |at| alignment.operand_index(1, &Shape::from([3]), &[1, at]);
    assert_eq!([0, 2, 3, 5].map(read), [[0], [2], [0], [2]].map(Vec::from));
    // REPEAT-6
    let onto = |operand: &[usize], target: &[usize]| {
        broadcast_shape(&repeat, &Shape::from(operand), &Shape::from(target))
            .map(|alignment| alignment.shape.to_vec())
            .map_err(|refusal| (refusal.kind.unwrap(), refusal.axis))
    };
    assert_eq!(onto(&[2], &[3, 4]), Ok(vec![3, 4]));
    assert_eq!(onto(&[1, 2], &[4]), Ok(vec![4]));
    assert_eq!(onto(&[4], &[2]), Err((DimensionMismatch, Some(0))));
    assert_eq!(onto(&[2, 2], &[4]), Err((RankMismatch, None)));
    // G-1 and G-5
    assert_eq!(refused(&repeat, &[&[HUGE, HUGE], &[]]), (TooLarge, None));
    assert_eq!(refused(&repeat, &[&[2], &[2], &[2]]), (OperandCount, None));
}

#[test]
fn operand_indices_follow_the_alignment() {
    let alignment = accepted(&pdpd(1), &[&[2, 3, 4], &[3, 1]]);
    assert_eq!(alignment.operand_index(0, &Shape::from([2, 3, 4]), &[1, 2, 3]), [1, 2, 3]);
    assert_eq!(alignment.operand_index(1, &Shape::from([3, 1]), &[1, 2, 3]), [2, 0]);
    let alignment = accepted(&Rules::Numpy, &[&[4, 1], &[5]]);
    assert_eq!(alignment.operand_index(0, &Shape::from([4, 1]), &[2, 3]), [2, 0]);
    assert_eq!(alignment.operand_index(1, &Shape::from([5]), &[2, 3]), [3]);
}
