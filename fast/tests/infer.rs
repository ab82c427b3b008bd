//! Compares the inference of the engine with the cases of the suite, with that of the interpreter over all
//! small signatures, and with what all runs of three operands give.

use broadcheck_spec::{
    Accepts, Asked, DType, Expectation, Expression, Function, InferenceCase, Length, OperandCount,
    OperandType, PartialShape, Refusal, RefusalKind, RuleSet, Rules, Shape, Signature, Suite,
};
use std::collections::{BTreeSet, HashMap};

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

/// A shape with a flag per axis, which only `theano` reads.
type Flagged<S> = (S, Vec<bool>);

/// Each shape, with every pattern of flags under `theano` and with none elsewhere.
fn with_flags<S: Clone>(rules: &Rules, shapes: &[S], rank: impl Fn(&S) -> usize) -> Vec<Flagged<S>> {
    let choices = |shape: &S| match rules {
        Rules::Theano => product(&vec![vec![false, true]; rank(shape)]),
        _ => vec![Vec::new()],
    };
    shapes.iter().flat_map(|shape| choices(shape).into_iter().map(|flags| (shape.clone(), flags))).collect()
}

/// What the runs of three operands up to a rank give, one entry per triple of shapes of these numbers. The
/// interpreter decides each run by the rule set's clauses for known lengths, not by those of `infer`.
struct Runs {
    shapes: Vec<Shape>,
    places: HashMap<Flagged<Shape>, usize>,
    results: Vec<Option<Shape>>,
}

impl Runs {
    fn new(rules: &Rules, numbers: &[usize], highest_rank: usize) -> Runs {
        let of_rank = |rank| product(&vec![numbers.to_vec(); rank]).into_iter().map(Shape::new);
        let shapes: Vec<Shape> = (0..=highest_rank).flat_map(of_rank).collect();
        let known = with_flags(rules, &shapes, Shape::rank);
        let result = |run: Vec<Flagged<Shape>>| {
            let flags: Vec<Option<&[bool]>> =
                run.iter().map(|(_, flags)| (*rules == Rules::Theano).then_some(&flags[..])).collect();
            let shapes: Vec<Shape> = run.iter().map(|(shape, _)| shape.clone()).collect();
            broadcheck_reference::align_shapes(rules, &shapes, &flags).ok().map(|run| run.shape)
        };
        let results = product(&vec![known.clone(); 3]).into_iter().map(result).collect();
        let places = known.into_iter().enumerate().map(|(place, shape)| (shape, place)).collect();
        Runs { shapes, places, results }
    }

    /// The results of the accepted runs of these operands, and whether any run is refused. `admitted` are
    /// the places of the shapes that each operand can have.
    fn of(&self, admitted: [&[usize]; 3]) -> (BTreeSet<&Shape>, bool) {
        let [a, b, c] = admitted;
        let (mut results, mut refused) = (BTreeSet::new(), false);
        for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
            let row = (a * self.places.len() + b) * self.places.len();
            for c in c {
                match &self.results[row + c] {
                    Some(shape) => _ = results.insert(shape),
                    None => refused = true,
                }
            }
        }
        (results, refused)
    }

    /// The places of the shapes that a partial shape admits, with the same flags.
    fn admitted(&self, (shape, flags): &Flagged<PartialShape>) -> Vec<usize> {
        let fits = |(known, of_known): &Flagged<Shape>| of_known == flags && shape.admits(known);
        let mut places: Vec<usize> =
            self.places.iter().filter(|(known, _)| fits(known)).map(|(_, &place)| place).collect();
        places.sort_unstable();
        places
    }
}

/// INFER-2 and INFER-3 for every triple of shapes with these lengths: the engine infers exactly the results
/// of the accepted runs, `always` if no run is refused, and a refusal if all are. `numbers` have each bound
/// and a number above all of them, in place of all others. The counts are those of inferred and refused
/// triples.
fn triples(rules: &Rules, lengths: &[&str], numbers: &[usize], highest_rank: usize) -> [usize; 2] {
    let runs = Runs::new(rules, numbers, highest_rank);
    let partial = with_flags(rules, &ranked(&shapes(lengths, highest_rank)), |shape| shape.rank().unwrap());
    let operand = |place: usize, (shape, flags): &Flagged<PartialShape>| {
        let made = operand(place, shape);
        if *rules == Rules::Theano { made.with_broadcastable(flags.clone()).unwrap() } else { made }
    };
    // Each partial shape with the places of the shapes that it admits, as each of the three operands.
    let all: Vec<([OperandType; 3], Vec<usize>)> =
        partial.iter().map(|shape| ([0, 1, 2].map(|k| operand(k, shape)), runs.admitted(shape))).collect();
    let mut known: HashMap<PartialShape, BTreeSet<&Shape>> = HashMap::new();
    let mut counts = [0; 2];
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        for c in &all {
            let (results, refused) = runs.of([&a.1, &b.1, &c.1]);
            let signature = elementwise(rules, vec![a.0[0].clone(), b.0[1].clone(), c.0[2].clone()]);
            let inferred = broadcheck_fast::infer(&signature);
            counts[usize::from(inferred.is_err())] += 1;
            let Ok(inference) = inferred else {
                assert!(results.is_empty(), "a run is accepted: {signature:?}");
                continue;
            };
            let admitted = known.entry(inference.shape.clone()).or_insert_with(|| {
                runs.shapes.iter().filter(|shape| inference.shape.admits(shape)).collect()
            });
            assert_eq!(*admitted, results, "{inference} of {signature:?}");
            assert_eq!(inference.accepts == Some(Accepts::Always), !refused, "{inference} of {signature:?}");
        }
    }
    counts
}

#[test]
fn triples_are_inferred_exactly() {
    for rules in [Rules::None, Rules::Numpy, Rules::Leading] {
        let [inferred, refused] = triples(&rules, &["0", "1", "3", "?"], &[0, 1, 3, 4], 2);
        assert_eq!(inferred + refused, 21usize.pow(3));
        assert!(inferred > 100 && refused > 100, "{rules:?}: {inferred} inferred and {refused} refused");
    }
}

#[test]
fn triples_with_flags_are_inferred_exactly() {
    let [inferred, refused] = triples(&Rules::Theano, &["0", "1", "3", "?"], &[0, 1, 3, 4], 1);
    assert_eq!(inferred + refused, 9usize.pow(3));
    assert!(inferred > 100 && refused > 100, "{inferred} inferred and {refused} refused");
}

#[test]
#[ignore = "takes seconds: CI runs it"]
fn many_triples_are_inferred_exactly() {
    for rules in [Rules::None, Rules::Numpy, Rules::Leading] {
        triples(&rules, &["0", "1", "3", "?", "..2", "2.."], &[0, 1, 2, 3, 4], 2);
        triples(&rules, &["1", "1..3", "..1", "1..", "2..3"], &[0, 1, 2, 3, 4], 2);
    }
}

#[test]
#[ignore = "takes seconds: CI runs it"]
fn many_triples_with_flags_are_inferred_exactly() {
    triples(&Rules::Theano, &["1", "3", "?"], &[0, 1, 3, 4], 2);
    triples(&Rules::Theano, &["0", "2", "..2", "2.."], &[0, 1, 2, 3], 2);
}

/// Three operands have no common shape where a rule set takes two at most (G-5): the refusal does not depend
/// on what is known of their shapes, or of their dtypes.
#[test]
fn triples_are_refused_where_two_operands_are_the_most() {
    let of_three = |rules: RuleSet| rules.operands() == OperandCount::OneOrTwo;
    let sets: Vec<RuleSet> = RuleSet::ALL.into_iter().filter(|&rules| of_three(rules)).collect();
    assert_eq!(sets, [RuleSet::Pdpd, RuleSet::Xla, RuleSet::Repeat]);
    for list in product(&vec![ranked(&shapes(&["1", "3", "?", "2.."], 1)); 3]) {
        for &set in &sets {
            let operands: Vec<OperandType> =
                list.iter().enumerate().map(|(k, shape)| operand(k, shape)).collect();
            let refusal = broadcheck_fast::infer(&elementwise(&Rules::from(set), operands)).unwrap_err();
            assert_eq!(bare(&refusal), (Some(RefusalKind::OperandCount), None, None), "{set} {list:?}");
        }
    }
}
