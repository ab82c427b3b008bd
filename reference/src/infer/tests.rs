//! The inferred shape is compared with what every concretisation of a signature gives, and with the worked
//! examples of the design.

use super::*;
use broadcheck_spec::{Expression, Function, OperandCount};
use std::collections::BTreeSet;

/// An unknown length is tried with these numbers: up to one above all bounds in use.
const NUMBERS: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// The numbers that are tried if a rank is unknown: there are many more shapes.
const FEW_NUMBERS: [usize; 4] = [0, 1, 3, 5];

fn shape(text: &str) -> PartialShape {
    text.parse().unwrap()
}

/// The sum of operands of these shapes, whose flags under `theano` follow the lengths: `1T`.
fn sum(rules: Rules, shapes: &[PartialShape], flags: &[Vec<bool>]) -> Signature {
    let operands = shapes.iter().enumerate().map(|(place, shape)| {
        let name = ["a", "b", "c"][place];
        let operand = OperandType::new(name, DType::F32, shape.clone()).unwrap();
        match flags.get(place) {
            Some(flags) => operand.with_broadcastable(flags.clone()).unwrap(),
            None => operand,
        }
    });
    let operands: Vec<OperandType> = operands.collect();
    let add = |sum, place| Expression::call(Function::Add, [sum, Expression::operand(place)]).unwrap();
    let expression = (1..operands.len()).fold(Expression::operand(0), add);
    Signature::new(rules, Asked::Expression(expression), operands).unwrap()
}

fn onto(rules: impl Into<Rules>, operand: &PartialShape, target: &PartialShape) -> Signature {
    let operand = OperandType::new("a", DType::F32, operand.clone()).unwrap();
    Signature::new(rules.into(), Asked::TargetShape(target.clone()), vec![operand]).unwrap()
}

/// Every shape of these numbers that a partial shape admits, up to this rank.
fn concretisations(shape: &PartialShape, numbers: &[usize], highest_rank: usize) -> Vec<Shape> {
    match shape.lengths() {
        Some(lengths) => {
            let of = |length: &Length| numbers.iter().copied().filter(|&n| length.admits(n)).collect();
            product(&lengths.iter().map(of).collect::<Vec<_>>()).into_iter().map(Shape::new).collect()
        }
        None => (0..=highest_rank)
            .flat_map(|rank| product(&vec![numbers.to_vec(); rank]))
            .map(Shape::new)
            .collect(),
    }
}

/// Every list with one item of each list.
fn product<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |lists, items| {
        let with = |list: &Vec<T>, item: &T| list.iter().chain([item]).cloned().collect();
        lists.iter().flat_map(|list| items.iter().map(move |item| with(list, item))).collect()
    })
}

/// What the runs of a signature give: the accepted results, and whether any run is refused.
fn runs(signature: &Signature, numbers: &[usize]) -> (BTreeSet<Shape>, bool) {
    let flags: Vec<Option<&[bool]>> = signature.operands().iter().map(OperandType::broadcastable).collect();
    // An unknown rank is tried up to one above all that the signature names.
    let named = match signature.rules() {
        Rules::Pdpd { axis: Some(axis) } => usize::try_from(*axis).unwrap_or(0),
        Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Leading | Rules::Repeat => 0,
        Rules::Pdpd { axis: None } | Rules::Xla { .. } | Rules::Theano => 0,
    };
    let rank = named + signature.shapes().filter_map(PartialShape::rank).max().unwrap_or(0);
    let all: Vec<Vec<Shape>> =
        signature.shapes().map(|shape| concretisations(shape, numbers, rank + 1)).collect();
    let (mut results, mut refused) = (BTreeSet::new(), false);
    for shapes in product(&all) {
        let outcome = match signature.asked() {
            Asked::Expression(_) => align_shapes(signature.rules(), &shapes, &flags),
            Asked::TargetShape(_) => broadcast_shape(signature.rules(), &shapes[0], &shapes[1]),
        };
        match outcome {
            Ok(alignment) => _ = results.insert(alignment.shape),
            Err(_) => refused = true,
        }
    }
    (results, refused)
}

/// INFER-2 and INFER-3: the inferred shape admits what the runs give, and nothing else.
fn check(signature: &Signature) {
    let unknown = signature.shapes().any(|shape| *shape == PartialShape::Unranked);
    let numbers: &[usize] = if unknown { &FEW_NUMBERS } else { &NUMBERS };
    let (results, refused) = runs(signature, numbers);
    let shapes: Vec<String> = signature.shapes().map(ToString::to_string).collect();
    let named = format!("{:?} {}", signature.rules(), shapes.join(" "));
    let inference = match infer(signature) {
        Ok(inference) => inference,
        Err(refusal) => return assert!(results.is_empty(), "{named}: {refusal}, but a run is accepted"),
    };
    assert_eq!(inference.accepts == Some(Accepts::Always), !refused, "{named}: {inference}");
    if inference.shape == PartialShape::Unranked {
        // No shape but this one admits results of several ranks.
        let ranks: BTreeSet<usize> = results.iter().map(Shape::rank).collect();
        assert!(ranks.len() > 1, "{named}: {inference}, but every result has one rank");
        return;
    }
    let admitted: BTreeSet<Shape> = concretisations(&inference.shape, numbers, 0).into_iter().collect();
    assert_eq!(admitted, results, "{named}: {inference}");
}

/// Every partial shape up to a rank, with these lengths.
fn partial_shapes(lengths: &[&str], highest_rank: usize) -> Vec<PartialShape> {
    let lengths: Vec<Length> = lengths.iter().map(|length| length.parse().unwrap()).collect();
    (0..=highest_rank)
        .flat_map(|rank| product(&vec![lengths.clone(); rank]))
        .map(PartialShape::Ranked)
        .collect()
}

const LENGTHS: [&str; 9] = ["0", "1", "2", "3", "?", "..2", "1..3", "2..3", "2.."];
fn pairs(rules: &Rules, shapes: &[PartialShape]) {
    for a in shapes {
        for b in shapes {
            check(&sum(rules.clone(), &[a.clone(), b.clone()], &[]));
        }
    }
}

/// Pairs of shapes up to rank 2 with these lengths, and of unknown rank: under every rule set but `theano`,
/// with axes and dimensions within and beyond the operands.
fn check_pairs(lengths: &[&str]) {
    let shapes = [partial_shapes(lengths, 2), vec![PartialShape::Unranked]].concat();
    for rules in [Rules::None, Rules::Numpy, Rules::Leading] {
        pairs(&rules, &shapes);
    }
    for axis in [None, Some(-2), Some(0), Some(1), Some(2), Some(3)] {
        pairs(&Rules::Pdpd { axis }, &shapes);
    }
    let ranked = &shapes[..shapes.len() - 1];
    for dimensions in [None, Some(vec![]), Some(vec![0]), Some(vec![1]), Some(vec![0, 1]), Some(vec![2])] {
        pairs(&Rules::Xla { broadcast_dimensions: dimensions }, ranked);
    }
    for dimensions in
        [None, Some(vec![0]), Some(vec![1]), Some(vec![0, 1]), Some(vec![1, 0]), Some(vec![1, 1])]
    {
        for (a, target) in ranked.iter().flat_map(|a| ranked.iter().map(move |target| (a, target))) {
            check(&onto(Rules::Xla { broadcast_dimensions: dimensions.clone() }, a, target));
        }
    }
    for set in [RuleSet::Numpy, RuleSet::Bidirectional] {
        for a in &shapes {
            for target in &shapes {
                check(&onto(set, a, target));
            }
        }
    }
}

#[test]
fn pairs_of_every_rule_set_are_inferred_exactly() {
    check_pairs(&["1", "?"]);
}

#[test]
#[ignore = "takes seconds: CI runs it"]
fn many_pairs_of_every_rule_set_are_inferred_exactly() {
    check_pairs(&["0", "1", "3", "?", "2..", "..3"]);
    check_pairs(&["1", "3", "..1", "1..3"]);
}

/// Three shapes with these lengths, up to this rank; with a rank that may be unknown, only vectors.
fn check_triples(lengths: &[&str], highest_rank: usize) {
    let bounded = partial_shapes(lengths, highest_rank);
    let unranked = [partial_shapes(&["0", "1", "3", "?"], 1), vec![PartialShape::Unranked]].concat();
    for rules in [Rules::None, Rules::Numpy, Rules::Leading] {
        for triple in
            product(&vec![bounded.clone(); 3]).into_iter().chain(product(&vec![unranked.clone(); 3]))
        {
            check(&sum(rules.clone(), &triple, &[]));
        }
    }
}

#[test]
fn triples_of_vectors_are_inferred_exactly() {
    check_triples(&["0", "1", "?", "..2", "2.."], 1);
}

#[test]
#[ignore = "takes seconds: CI runs it"]
fn many_triples_are_inferred_exactly() {
    check_triples(&["0", "1", "3", "?", "..2", "..1", "1..2", "2..", "2..3"], 1);
    check_triples(&["0", "1", "3", "?"], 2);
    check_triples(&["1", "3", "..2", "2.."], 2);
}

/// G-5: the number of operands is compared before their shapes.
#[test]
fn triples_are_refused_where_two_operands_are_the_most() {
    let sets: Vec<RuleSet> =
        RuleSet::ALL.into_iter().filter(|set| set.operands() == OperandCount::OneOrTwo).collect();
    assert_eq!(sets, [RuleSet::Pdpd, RuleSet::Xla, RuleSet::Repeat]);
    for triple in product(&vec![partial_shapes(&["1", "3", "?", "2.."], 1); 3]) {
        for &set in &sets {
            let refusal = infer(&sum(Rules::from(set), &triple, &[])).unwrap_err();
            assert_eq!(refusal.kind, Some(RefusalKind::OperandCount), "{set} {triple:?}");
        }
    }
}

/// Lengths whose bounds meet, overlap and exclude each other, below, at and above 1.
#[test]
fn vectors_are_inferred_exactly() {
    let lengths =
        ["0", "1", "2", "3", "?", "..2", "1..3", "2..3", "2..", "..1", "1..2", "1..", "4..", "3..4"];
    let shapes = partial_shapes(&lengths, 1);
    pairs(&Rules::None, &shapes);
    pairs(&Rules::Numpy, &shapes);
    pairs(&Rules::Pdpd { axis: None }, &shapes);
    pairs(&Rules::Xla { broadcast_dimensions: None }, &shapes);
    for (a, target) in shapes.iter().flat_map(|a| shapes.iter().map(move |target| (a, target))) {
        check(&onto(RuleSet::Numpy, a, target));
        check(&onto(RuleSet::Bidirectional, a, target));
        check(&onto(Rules::Xla { broadcast_dimensions: Some(vec![0]) }, a, target));
    }
}

/// Shapes with these lengths and every pattern of flags, up to this rank.
fn check_flags(lengths: &[&str], highest_rank: usize, operands: usize) {
    for shapes in product(&vec![partial_shapes(lengths, highest_rank); operands]) {
        let flags_of = |shape: &PartialShape| product(&vec![vec![false, true]; shape.rank().unwrap()]);
        for flags in product(&shapes.iter().map(flags_of).collect::<Vec<_>>()) {
            check(&sum(Rules::Theano, &shapes, &flags));
        }
    }
}

#[test]
fn flags_are_inferred_exactly() {
    check_flags(&LENGTHS, 1, 2);
}

#[test]
#[ignore = "takes seconds: CI runs it"]
fn many_flags_are_inferred_exactly() {
    check_flags(&["1", "2", "?", "..2"], 2, 2);
    check_flags(&["0", "1", "3", "?", "..2", "1..3"], 1, 3);
    check_flags(&["1", "3", "?"], 2, 3);
}

/// Examples of clauses INFER-4 to INFER-7, INFER-10 and INFER-11; `spec/cases` has all.
#[test]
fn the_worked_examples_hold() {
    let numpy = |shapes: &[&str]| {
        infer(&sum(Rules::Numpy, &shapes.iter().map(|s| shape(s)).collect::<Vec<_>>(), &[]))
    };
    let answer = |result: Result<Inference, Refusal>| match result {
        Ok(inference) => format!("{} {}", inference.shape, inference.accepts.unwrap()),
        Err(refusal) => {
            let axis = refusal.axis.map_or(String::new(), |axis| format!(" {axis}"));
            format!("{}{axis}", refusal.kind.unwrap())
        }
    };
    for (shapes, expected) in [
        (&["?", "1"][..], "(?) always"),
        (&["?", "0"], "(0) depends"),
        (&["?x2", "?x3"], "dimension_mismatch 1"),
        (&["..2", "3"], "(3) depends"),
        (&["1..3", "..2"], "(..3) depends"),
        (&["2..", "..3"], "(2..) depends"),
        (&["1..2", "2"], "(2) always"),
        (&["..1", "0"], "(0) always"),
        (&["2..3", "3..5", "?"], "(3) depends"),
        (&["...", "2x3"], "(...) depends"),
        (&["...", "1x1"], "(...) always"),
        (&["...", "2", "3"], "dimension_mismatch"),
    ] {
        assert_eq!(answer(numpy(shapes)), expected, "{shapes:?}");
    }
    let pdpd =
        |a: &str, b: &str, axis| infer(&sum(Rules::Pdpd { axis: Some(axis) }, &[shape(a), shape(b)], &[]));
    for (a, b, axis, expected) in [
        ("?x3", "2", 0, "(2,3) depends"),
        ("1", "?", 0, "(1) depends"),
        ("1", "2..3", 0, "dimension_mismatch 0"),
        ("2x3", "?x1", 1, "(2,3) depends"),
        ("2x3", "?x2", 1, "axis_out_of_range"),
        ("2x3", "...", 3, "axis_out_of_range"),
        ("2x3", "?", i64::MAX, "axis_out_of_range"),
        ("...", "()", -1, "(...) always"),
        ("...", "()", -2, "axis_out_of_range"),
    ] {
        assert_eq!(answer(pdpd(a, b, axis)), expected, "{a} {b} {axis}");
    }
    assert_eq!(answer(infer(&onto(RuleSet::Numpy, &shape("4..8"), &shape("1")))), "dimension_mismatch 0");
    assert_eq!(answer(infer(&onto(RuleSet::Numpy, &shape("2"), &shape("?")))), "(2) depends");
    let named = |dimensions: &[i64], a: &str, target: &str| {
        let rules = Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) };
        answer(infer(&onto(rules, &shape(a), &shape(target))))
    };
    assert_eq!(named(&[1, 0], "2x?", "?x?"), "(?,2) depends");
    assert_eq!(named(&[0, 1], "..1x2", "?x3"), "dimension_mismatch 1");
    assert_eq!(named(&[1, 0], "2x3", "4..x4.."), "dimension_mismatch 0", "the target's leftmost");
    assert_eq!(named(&[1], "1", "?x?"), "(?,?) always");
    assert_eq!(named(&[2], "?", "?x?"), "broadcast_dimension_out_of_range");
}

/// INFER-1: known lengths beyond 2^63 are refused; a length that only may be so large is not.
#[test]
fn sizes_are_checked_where_they_are_known() {
    let sizes = |a: &str| infer(&sum(Rules::Numpy, &[shape(a), shape("1")], &[]));
    let refusal = sizes("4294967296x4294967296").unwrap_err();
    assert_eq!(refusal.kind, Some(RefusalKind::TooLarge));
    assert!(sizes("4294967296x4294967296x?").is_ok());
}

/// INFER-14, over pairs with these lengths: the inferred bounds are those of the runs' results. Where B has
/// bounds above 1, they only enclose them.
fn check_repeated(of_a: &[&str], of_b: &[&str], rank: usize, numbers: &[usize]) {
    for a in &partial_shapes(of_a, rank) {
        for b in &partial_shapes(of_b, rank) {
            for signature in [sum(Rules::Repeat, &[a.clone(), b.clone()], &[]), onto(Rules::Repeat, b, a)] {
                check_bounds(&signature, b, numbers);
            }
        }
    }
}

fn check_bounds(signature: &Signature, b: &PartialShape, numbers: &[usize]) {
    let (results, refused) = runs(signature, numbers);
    let shapes: Vec<String> = signature.shapes().map(ToString::to_string).collect();
    let named = shapes.join(" ");
    let exact = b.lengths().unwrap().iter().all(|length| length.number().is_some() || length.admits(1));
    let inference = match infer(signature) {
        Ok(inference) => inference,
        Err(refusal) => return assert!(results.is_empty(), "{named}: {refusal}, but a run is accepted"),
    };
    assert_eq!(inference.accepts == Some(Accepts::Always), !refused, "{named}: {inference}");
    assert!(results.iter().all(|result| inference.shape.admits(result)), "{named}: {inference}");
    if !exact {
        return;
    }
    assert!(!results.is_empty(), "{named}: {inference}, but no run is accepted");
    for (axis, length) in inference.shape.lengths().unwrap().iter().enumerate() {
        let found = || results.iter().map(|result| result[axis]);
        assert_eq!(found().min(), Some(length.min()), "{named}: {inference}");
        assert!(length.max().is_none_or(|max| found().max() == Some(max)), "{named}: {inference}");
    }
}

#[test]
fn repeat_is_inferred_within_the_smallest_bounds() {
    let numbers: Vec<usize> = (0..=12).collect();
    let of_a = ["0", "1", "4", "6", "?", "..2", "..7", "2..5", "4..10", "3.."];
    check_repeated(&of_a, &["0", "1", "2", "3", "5", "?", "..2", "1..3", "2..", "4..5"], 1, &numbers);
    check_repeated(&["0", "2", "?", "..1"], &["0", "1", "2", "?", "..1"], 2, &numbers[..5]);
}

#[test]
fn an_unknown_rank_under_repeat_may_be_too_high() {
    let unranked = PartialShape::Unranked;
    let scalar = PartialShape::Ranked(Vec::new());
    for shapes in [vec![unranked.clone()], vec![unranked.clone(), scalar.clone()], vec![scalar, unranked]] {
        let inference = infer(&sum(Rules::Repeat, &shapes, &[])).unwrap();
        assert_eq!((&inference.shape, inference.accepts), (&shapes[0], Some(Accepts::Depends)));
    }
}
