//! Compares the inference of the engine with the cases of the suite, and with that of the interpreter over
//! all small signatures.

use broadcheck_spec::{
    Asked, DType, Expectation, Expression, Function, InferenceCase, Length, OperandType, PartialShape,
    Refusal, RefusalKind, RuleSet, Rules, Signature, Suite,
};

const LENGTHS: [&str; 12] = ["0", "1", "2", "3", "?", "..1", "..2", "1..2", "1..3", "2..3", "1..", "2.."];

fn product<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |made, items| {
        made.iter()
            .flat_map(|list| items.iter().map(move |item| list.iter().chain([item]).cloned().collect()))
            .collect()
    })
}

fn shapes(lengths: &[&str], highest_rank: usize) -> Vec<PartialShape> {
    let lengths: Vec<Length> = lengths.iter().map(|length| length.parse().unwrap()).collect();
    let of_rank = |rank| product(&vec![lengths.clone(); rank]).into_iter().map(PartialShape::Ranked);
    (0..=highest_rank).flat_map(of_rank).chain([PartialShape::Unranked]).collect()
}

fn ranked(shapes: &[PartialShape]) -> Vec<PartialShape> {
    shapes.iter().filter(|shape| shape.rank().is_some()).cloned().collect()
}

fn operand(place: usize, shape: &PartialShape) -> OperandType {
    OperandType::new(["a", "b", "c"][place], DType::F32, shape.clone()).unwrap()
}

fn elementwise(rules: &Rules, operands: Vec<OperandType>) -> Signature {
    let add = |sum, place| Expression::call(Function::Add, [sum, Expression::operand(place)]).unwrap();
    let sum = (1..operands.len()).fold(Expression::operand(0), add);
    Signature::new(rules.clone(), Asked::Expression(sum), operands).unwrap()
}

/// The answers must be equal; a refusal must have the same kind, axis and operand.
fn compare(signature: &Signature, counts: &mut [usize; 2]) {
    let expected = broadcheck_reference::infer(signature);
    let found = broadcheck_fast::infer(signature);
    counts[usize::from(expected.is_err())] += 1;
    assert_eq!(
        found.map_err(|refusal| bare(&refusal)),
        expected.map_err(|refusal| bare(&refusal)),
        "{signature:?}"
    );
}

fn compare_all(rules: &[Rules], shapes: &[PartialShape], operands: usize, counts: &mut [usize; 2]) {
    for list in product(&vec![shapes.to_vec(); operands]) {
        let operands: Vec<OperandType> =
            list.iter().enumerate().map(|(k, shape)| operand(k, shape)).collect();
        for rules in rules {
            compare(&elementwise(rules, operands.clone()), counts);
        }
    }
}

/// The kind, the axis and the operand of a refusal.
fn bare(refusal: &Refusal) -> (Option<RefusalKind>, Option<usize>, Option<usize>) {
    (refusal.kind, refusal.axis, refusal.operand)
}

#[test]
fn every_case_is_inferred_exactly() {
    let suite = Suite::builtin().expect("the cases load");
    let complain = |case: &InferenceCase| {
        let found = broadcheck_fast::infer(&case.request).map_err(|refusal| bare(&refusal));
        let expected = match &case.expectation {
            Expectation::Result(expected) => Ok(expected.clone()),
            Expectation::Refusal(expected) => Err((expected.kind, expected.axis, expected.operand)),
        };
        (found != expected).then(|| format!("{}: {found:?} instead of {expected:?}", case.id))
    };
    let wrong: Vec<String> = suite.inferences.iter().filter_map(complain).collect();
    assert!(suite.inferences.len() > 480, "{} cases", suite.inferences.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_small_signature_is_inferred_alike() {
    let mut counts = [0; 2];
    let matrices = shapes(&["0", "1", "3", "?", "..2", "2.."], 2);
    let vectors = shapes(&LENGTHS, 1);

    let mut rules = vec![Rules::None, Rules::Numpy];
    rules.extend(
        [None, Some(-2), Some(-1), Some(0), Some(1), Some(2), Some(3)].map(|axis| Rules::Pdpd { axis }),
    );
    compare_all(&rules, &matrices, 2, &mut counts);
    compare_all(&rules, &vectors, 2, &mut counts);

    compare_all(&[Rules::None, Rules::Numpy], &vectors, 3, &mut counts);

    let lists: [Option<&[i64]>; 8] =
        [None, Some(&[]), Some(&[0]), Some(&[1]), Some(&[-1]), Some(&[2]), Some(&[0, 1]), Some(&[1, 0])];
    let rules = lists.map(|list| Rules::Xla { broadcast_dimensions: list.map(<[i64]>::to_vec) });
    compare_all(&rules, &ranked(&matrices), 2, &mut counts);

    for set in [RuleSet::Numpy, RuleSet::Bidirectional] {
        for (a, target) in matrices.iter().flat_map(|a| matrices.iter().map(move |target| (a, target))) {
            let asked = Asked::TargetShape(target.clone());
            compare(&Signature::new(Rules::from(set), asked, vec![operand(0, a)]).unwrap(), &mut counts);
        }
    }
    assert_eq!(counts, [18434, 24906], "inferred and refused signatures");
}

/// The shape with its axes in the opposite order.
fn reversed(shape: &PartialShape) -> PartialShape {
    match shape.lengths() {
        Some(lengths) => PartialShape::Ranked(lengths.iter().rev().copied().collect()),
        None => PartialShape::Unranked,
    }
}

/// LEADING-5, before the run: what is inferred under `leading` is what is inferred under `numpy` of the
/// shapes with their axes reversed. The interpreter agrees, also on the axis of a refusal.
#[test]
fn leading_is_inferred_like_numpy_of_reversed_shapes() {
    let mut counts = [0; 2];
    let mut both = |under: &dyn Fn(Rules, bool) -> Signature| {
        let (leading, numpy) = (under(Rules::Leading, false), under(Rules::Numpy, true));
        compare(&leading, &mut counts);
        let found = broadcheck_fast::infer(&leading).map_err(|refusal| refusal.kind);
        let expected = broadcheck_fast::infer(&numpy).map_err(|refusal| refusal.kind);
        let expected = expected.map(|found| (reversed(&found.shape), found.accepts));
        assert_eq!(found.map(|found| (found.shape, found.accepts)), expected, "{leading:?}");
    };
    let turn = |shape: &PartialShape, back| if back { reversed(shape) } else { shape.clone() };
    let matrices = shapes(&["0", "1", "3", "?", "..2", "2.."], 2);
    for (a, b) in matrices.iter().flat_map(|a| matrices.iter().map(move |b| (a, b))) {
        both(&|rules, back| {
            elementwise(&rules, vec![operand(0, &turn(a, back)), operand(1, &turn(b, back))])
        });
        both(&|rules, back| {
            let asked = Asked::TargetShape(turn(b, back));
            Signature::new(rules, asked, vec![operand(0, &turn(a, back))]).unwrap()
        });
    }
    for list in product(&vec![shapes(&["0", "1", "3", "?", "2.."], 2); 3]) {
        both(&|rules, back| {
            let operand = |(k, shape)| operand(k, &turn(shape, back));
            elementwise(&rules, list.iter().enumerate().map(operand).collect())
        });
    }
    assert!(counts[0] > 10_000 && counts[1] > 10_000, "{counts:?} inferred and refused signatures");
}

/// INFER-14, over pairs of operands and over operands and targets.
#[test]
fn repeat_is_inferred_alike() {
    let mut counts = [0; 2];
    let of_a = shapes(&["0", "1", "6", "?", "..7", "4..10", "3.."], 2);
    let of_b = shapes(&["0", "1", "2", "3", "?", "..1", "2..", "1..3", "4..5"], 2);
    for (a, b) in of_a.iter().flat_map(|a| of_b.iter().map(move |b| (a, b))) {
        compare(&elementwise(&Rules::Repeat, vec![operand(0, a), operand(1, b)]), &mut counts);
        let onto = Signature::new(Rules::Repeat, Asked::TargetShape(a.clone()), vec![operand(0, b)]);
        compare(&onto.unwrap(), &mut counts);
    }
    assert!(counts[0] > 3_000 && counts[1] > 2_000, "{counts:?} inferred and refused signatures");
}

#[test]
fn flags_are_inferred_alike() {
    let mut counts = [0; 2];
    let vectors = ranked(&shapes(&LENGTHS, 1));
    let flagged: Vec<(PartialShape, Vec<bool>)> = vectors
        .iter()
        .flat_map(|shape| {
            product(&vec![vec![false, true]; shape.rank().unwrap()])
                .into_iter()
                .map(move |flags| (shape.clone(), flags))
        })
        .collect();
    for list in product(&vec![flagged; 2]) {
        let flagged = |(k, (shape, flags)): (usize, &(PartialShape, Vec<bool>))| {
            operand(k, shape).with_broadcastable(flags.clone()).unwrap()
        };
        let operands = list.iter().enumerate().map(flagged).collect();
        compare(&elementwise(&Rules::Theano, operands), &mut counts);
    }
    assert_eq!(counts, [362, 263], "inferred and refused signatures");
}
