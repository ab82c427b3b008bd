//! What the runs of a signature give, by trying numbers in place of its unknown lengths.

#![warn(clippy::wildcard_enum_match_arm)]

use super::numbers::Numbers;
use broadcheck_judge::inferred::{Inferred, judge_inferred};
use broadcheck_reference::{align_shapes, broadcast_shape, result_dtype};
use broadcheck_spec::{
    Accepts, Asked, DType, Expectation, ExpectedRefusal, Inference, Length, OperandType, Outcome,
    PartialShape, Refusal, RefusalKind, Rules, Shape, Signature,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The concretisations of a signature of which all are tried; of more, as many are drawn.
const MOST: usize = 50_000;

/// The farthest axis of `pdpd` for which an unknown rank of A is tried. Farther ones would take too many
/// shapes.
const FARTHEST: usize = 8;

/// How many verdicts are remembered.
const REMEMBERED: usize = 1 << 17;

/// What the runs of a signature give.
#[derive(Clone, Debug)]
pub struct Runs {
    /// What an exact answer states. If not all runs were tried, it admits only the results that were seen.
    pub expectation: Expectation<Inference>,
    /// How many concretisations were tried.
    pub tried: u64,
    /// Whether every run is like one that was tried. Otherwise nothing follows from what was not seen.
    pub complete: bool,
    /// Whether the accepted results are exactly those that a shape admits, as INFER-3 says. Known only if the
    /// runs are complete.
    pub expressible: bool,
}

impl Runs {
    /// Judges an answer to the signature. If the runs are not complete, only an answer that excludes or
    /// promises a run that was seen to end otherwise is wrong.
    pub fn judge(&self, signature: &Signature, outcome: &Outcome<Inference>) -> Inferred {
        let verdict = judge_inferred(signature, &self.expectation, outcome);
        match (&verdict, &self.expectation) {
            (Inferred::Wider(_), _) if !self.complete => Inferred::Exact,
            (Inferred::Failed(_), Expectation::Refusal(_)) if !self.complete => Inferred::Exact,
            _ => verdict,
        }
    }
}

/// The relation between an inference and the runs of its signature. Remembers verdicts, because similar
/// signatures have runs in common.
///
/// ```
/// use broadcheck_search::inference::Relation;
/// use broadcheck_spec::{
///     Accepts, Asked, DType, Expectation, Inference, OperandType, PartialShape, Rules, Signature,
/// };
/// let shape = |text: &str| text.parse::<PartialShape>().unwrap();
/// let operand = OperandType::new("a", DType::F32, shape("?"))?;
/// let signature = Signature::new(Rules::Numpy, Asked::TargetShape(shape("2..3")), vec![operand])?;
/// let runs = Relation::default().runs(&signature);
/// let exact = Inference {
///     dtype: DType::F32,
///     shape: shape("2..3"),
///     accepts: Some(Accepts::Depends),
///     broadcastable: None,
/// };
/// assert_eq!(runs.expectation, Expectation::Result(exact));
/// assert!(runs.complete && runs.expressible);
/// # Ok::<(), broadcheck_spec::Malformed>(())
/// ```
pub struct Relation {
    most: usize,
    context: Option<Context>,
    verdicts: HashMap<Vec<u8>, Verdict>,
}

impl Default for Relation {
    fn default() -> Relation {
        Relation::trying(MOST)
    }
}

/// What a verdict depends on besides the lengths.
#[derive(Clone, PartialEq, Eq)]
struct Context {
    rules: Rules,
    flags: Vec<Option<Vec<bool>>>,
    is_broadcast: bool,
}

impl Context {
    fn of(signature: &Signature) -> Context {
        let flags = |operand: &OperandType| operand.broadcastable().map(<[bool]>::to_vec);
        Context {
            rules: signature.rules().clone(),
            flags: signature.operands().iter().map(flags).collect(),
            is_broadcast: matches!(signature.asked(), Asked::TargetShape(_)),
        }
    }

    /// What the clauses of the rule set say of shapes.
    fn decide(&self, shapes: &[Shape]) -> Result<(Shape, Option<Vec<bool>>), Refusal> {
        let alignment = if self.is_broadcast {
            broadcast_shape(&self.rules, &shapes[0], &shapes[1])
        } else {
            let flags: Vec<Option<&[bool]>> = self.flags.iter().map(Option::as_deref).collect();
            align_shapes(&self.rules, shapes, &flags)
        };
        alignment.map(|alignment| (alignment.shape, alignment.broadcastable))
    }
}

/// What becomes of a run.
#[derive(Clone)]
enum Verdict {
    /// Accepted: the labels of the result's lengths, and its flags.
    Accepted(Vec<u8>, Option<Vec<bool>>),
    Refused(ExpectedRefusal),
}

impl Relation {
    /// Tries every concretisation of a signature that has at most this many, and draws as many of one that
    /// has more.
    pub fn trying(most: usize) -> Relation {
        Relation { most, context: None, verdicts: HashMap::new() }
    }

    /// What the runs of a signature give.
    pub fn runs(&mut self, signature: &Signature) -> Runs {
        let dtype = match dtype(signature) {
            Ok(dtype) => dtype,
            // INFER-12. Types do not depend on lengths.
            Err(refusal) => return Runs::known(Expectation::Refusal(expected(&refusal))),
        };
        // A few numbers do not show which lengths are multiples of others. The reference's own tests try
        // them.
        if *signature.rules() == Rules::Repeat && !signature.is_known() {
            return Runs::known(match broadcheck_reference::infer(signature) {
                Ok(inference) => Expectation::Result(inference),
                Err(refusal) => Expectation::Refusal(expected(&refusal)),
            });
        }
        let context = Context::of(signature);
        if signature.is_known() {
            return Runs::known(only_run(signature, &context, dtype));
        }
        if self.context.as_ref() != Some(&context) || self.verdicts.len() > REMEMBERED {
            self.verdicts.clear();
            self.context = Some(context.clone());
        }
        let numbers = Numbers::of(signature);
        let (places, all_shapes) = places(signature, &numbers);
        let count = places.iter().fold(1usize, |count, place| count.saturating_mul(place.len()));
        let whole = count <= self.most;
        let mut seen = Seen::default();
        let mut walk = Walk::new(&places);
        let mut shapes = Vec::new();
        for turn in 0..count.min(self.most) {
            if whole {
                walk.turn_to(turn);
            } else {
                walk.draw();
            }
            walk.read(signature, &mut shapes);
            let verdict = match self.verdicts.get(&shapes) {
                Some(verdict) => verdict,
                None => self.verdicts.entry(shapes.clone()).or_insert_with(|| decided(&context, &shapes)),
            };
            seen.add(verdict, numbers.len());
        }
        let complete = whole && all_shapes && numbers.complete && !seen.too_large;
        let unranked = signature.shapes().any(|shape| shape.rank().is_none());
        Runs {
            tried: count.min(self.most) as u64,
            complete,
            expressible: !complete || seen.is_product(),
            expectation: seen.expectation(dtype, &numbers, unranked),
        }
    }
}

impl Runs {
    fn known(expectation: Expectation<Inference>) -> Runs {
        Runs { expectation, tried: 1, complete: true, expressible: true }
    }
}

/// The dtype of the result, or the refusal for the operands' number or dtypes.
fn dtype(signature: &Signature) -> Result<DType, Refusal> {
    let set = signature.rules().set();
    if !set.operands().allows(signature.operands().len()) {
        return Err(Refusal::new(RefusalKind::OperandCount, ""));
    }
    let dtypes: Vec<DType> = signature.operands().iter().map(OperandType::dtype).collect();
    match signature.asked() {
        Asked::Expression(expression) => result_dtype(expression, &dtypes),
        Asked::TargetShape(_) => Ok(dtypes[0]),
    }
}

fn expected(refusal: &Refusal) -> ExpectedRefusal {
    ExpectedRefusal { kind: refusal.kind, axis: refusal.axis, operand: refusal.operand }
}

/// INFER-1. Where every length is known, the answer is that of the operation.
fn only_run(signature: &Signature, context: &Context, dtype: DType) -> Expectation<Inference> {
    let shapes: Vec<Shape> = signature.shapes().filter_map(PartialShape::known).collect();
    match context.decide(&shapes) {
        Ok((shape, broadcastable)) => Expectation::Result(Inference {
            dtype,
            shape: PartialShape::from(&shape),
            accepts: Some(Accepts::Always),
            broadcastable,
        }),
        Err(refusal) => Expectation::Refusal(expected(&refusal)),
    }
}

/// Separates shapes in a list of labels.
const END: u8 = u8::MAX;

/// The verdict on shapes that are written one after the other.
fn decided(context: &Context, shapes: &[u8]) -> Verdict {
    let shape = |labels: &[u8]| Shape::new(labels.iter().map(|&label| usize::from(label)).collect());
    let mut all: Vec<Shape> = shapes.split(|&label| label == END).map(shape).collect();
    // There is an end after the last one, too.
    all.pop();
    match context.decide(&all) {
        Ok((shape, flags)) => Verdict::Accepted(
            shape.iter().map(|&length| u8::try_from(length).unwrap_or(END)).collect(),
            flags,
        ),
        Err(refusal) => Verdict::Refused(expected(&refusal)),
    }
}

/// What can be put in one place of a signature: a label for a length, or all labels of an unknown rank.
enum Place {
    Labels(Vec<u8>),
    Shapes(Vec<Vec<u8>>),
}

impl Place {
    fn len(&self) -> usize {
        match self {
            Place::Labels(labels) => labels.len(),
            Place::Shapes(shapes) => shapes.len(),
        }
    }
}

/// The places of a signature, in the order of its shapes, and whether they are filled with all of the
/// numbers.
fn places(signature: &Signature, numbers: &Numbers) -> (Vec<Place>, bool) {
    let known = signature.shapes().filter_map(PartialShape::rank).max().unwrap_or(0);
    let axis = match signature.rules() {
        Rules::Pdpd { axis } => axis.and_then(|axis| usize::try_from(axis).ok()),
        // Axes are counted from the first.
        Rules::Leading => Some(0),
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Xla { .. }
        | Rules::Theano
        | Rules::Repeat => None,
    };
    let start = axis.filter(|&axis| axis <= FARTHEST);
    // An A of unknown rank may have an axis that no A with few axes has.
    let a_may_be_longer = signature.shapes().next().is_some_and(|a| a.rank().is_none());
    let (mut places, mut complete) = (Vec::new(), start == axis || !a_may_be_longer);
    for shape in signature.shapes() {
        match shape.lengths() {
            Some(lengths) => {
                places.extend(lengths.iter().map(|&length| Place::Labels(numbers.admitted(length))));
            }
            None => {
                let (shapes, all) = numbers.shapes(known + start.unwrap_or(0) + 1, known, start);
                complete &= all;
                places.push(Place::Shapes(shapes));
            }
        }
    }
    (places, complete)
}

/// One concretisation after the other.
struct Walk<'a> {
    places: &'a [Place],
    chosen: Vec<usize>,
    state: u64,
}

impl Walk<'_> {
    fn new(places: &[Place]) -> Walk<'_> {
        Walk { places, chosen: vec![0; places.len()], state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// The concretisation with this number.
    fn turn_to(&mut self, turn: usize) {
        if turn == 0 {
            return;
        }
        for (chosen, place) in self.chosen.iter_mut().zip(self.places).rev() {
            *chosen += 1;
            if *chosen < place.len() {
                return;
            }
            *chosen = 0;
        }
    }

    /// A concretisation at random. Every other one has few different numbers, so that some are accepted.
    fn draw(&mut self) {
        let theme = self.next().is_multiple_of(2).then(|| [1, u8::try_from(self.next() % 8).unwrap_or(0)]);
        for place in 0..self.places.len() {
            let random = self.next();
            let themed = match (&self.places[place], theme) {
                (Place::Labels(labels), Some(theme)) => {
                    let wanted = theme[usize::from(random % 8 < 5)];
                    labels.iter().position(|&label| label == wanted)
                }
                (Place::Labels(_) | Place::Shapes(_), _) => None,
            };
            let any = usize::try_from((random >> 8) % self.places[place].len() as u64).unwrap_or(0);
            self.chosen[place] = themed.unwrap_or(any);
        }
    }

    /// A number of a fixed sequence (SplitMix64), so that each run of the program tries the same.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Writes the shapes one after the other.
    fn read(&self, signature: &Signature, shapes: &mut Vec<u8>) {
        shapes.clear();
        let mut chosen = self.chosen.iter().zip(self.places);
        for shape in signature.shapes() {
            for (&chosen, place) in chosen.by_ref().take(shape.rank().unwrap_or(1)) {
                match place {
                    Place::Labels(labels) => shapes.push(labels[chosen]),
                    Place::Shapes(all) => shapes.extend_from_slice(&all[chosen]),
                }
            }
            shapes.push(END);
        }
    }
}

/// What was seen of the runs of a signature.
#[derive(Default)]
struct Seen {
    accepted: bool,
    ranks: BTreeSet<usize>,
    /// The labels on each axis of the results, a bit each.
    axes: Vec<u128>,
    results: HashSet<Vec<u8>>,
    flags: Option<Vec<bool>>,
    refused: Option<ExpectedRefusal>,
    too_large: bool,
}

impl Seen {
    fn add(&mut self, verdict: &Verdict, labels: usize) {
        match verdict {
            Verdict::Refused(refusal) if refusal.kind == Some(RefusalKind::TooLarge) => self.too_large = true,
            Verdict::Refused(refusal) => {
                if self.refused.as_ref().is_none_or(|before| order(before) < order(refusal)) {
                    self.refused = Some(refusal.clone());
                }
            }
            Verdict::Accepted(result, flags) => {
                debug_assert!(result.iter().all(|&label| usize::from(label) < labels));
                if !self.accepted {
                    self.accepted = true;
                    self.axes = vec![0; result.len()];
                    self.flags.clone_from(flags);
                }
                self.ranks.insert(result.len());
                for (axis, &label) in self.axes.iter_mut().zip(result) {
                    *axis |= 1 << label;
                }
                if !self.results.contains(result) {
                    self.results.insert(result.clone());
                }
            }
        }
    }

    /// Whether the results are exactly those that a shape admits.
    fn is_product(&self) -> bool {
        let count = self.axes.iter().map(|axis| axis.count_ones() as usize).product::<usize>();
        let is_interval =
            |axis: &u128| (axis >> axis.trailing_zeros()).wrapping_add(1).is_power_of_two() || *axis == 0;
        !self.accepted
            || self.ranks.len() > 1
            || (self.axes.iter().all(is_interval) && self.results.len() == count)
    }

    /// What an exact answer states.
    fn expectation(self, dtype: DType, numbers: &Numbers, unranked: bool) -> Expectation<Inference> {
        if !self.accepted {
            let refusal = self.refused.unwrap_or_default();
            // An axis is counted from the left of a result whose rank is then unknown.
            let axis = if unranked { None } else { refusal.axis };
            return Expectation::Refusal(ExpectedRefusal { axis, ..refusal });
        }
        let label = |bit: u32| u8::try_from(bit).unwrap_or(u8::MAX);
        let length = |axis: &u128| -> Length {
            numbers.length(label(axis.trailing_zeros()), label(127 - axis.leading_zeros()))
        };
        let shape = if self.ranks.len() > 1 {
            PartialShape::Unranked
        } else {
            PartialShape::Ranked(self.axes.iter().map(length).collect())
        };
        let accepts = if self.refused.is_some() { Accepts::Depends } else { Accepts::Always };
        Expectation::Result(Inference { dtype, shape, accepts: Some(accepts), broadcastable: self.flags })
    }
}

/// The order in which the clauses of a rule set are checked, and within a clause the operands and axes.
///
/// If no run is accepted, a run that complies wherever it can is refused for what *no* run complies with, and
/// every other run is refused for that or for something before it. So the last refusal in this order is the
/// one that INFER-11 reports.
fn order(refusal: &ExpectedRefusal) -> (u8, Option<usize>, Option<usize>) {
    let clause = match refusal.kind {
        Some(RefusalKind::DimensionMismatch | RefusalKind::NotBroadcastable) => 2,
        Some(RefusalKind::FlagViolation | RefusalKind::AxisOutOfRange) => 1,
        // What ranks and attributes decide comes first.
        Some(_) | None => 0,
    };
    (clause, refusal.operand, refusal.axis)
}
