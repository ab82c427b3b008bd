//! Explains what is inferred of shapes with unknown lengths: the result axis by axis, which runs are accepted
//! and which are refused, with an example of each.
//!
//! ```
//! use broadcheck_judge::explain::InferenceExplanation;
//! use broadcheck_spec::{PartialShape, Rules};
//!
//! let shape = |text: &str| text.parse::<PartialShape>().unwrap();
//! let shapes = vec![shape("?x3"), shape("2x1..3")];
//! let explanation = InferenceExplanation::elementwise(Rules::Numpy, shapes, vec![None, None]).unwrap();
//! assert_eq!(explanation.clause, "INFER-4");
//! assert!(explanation.draw(100).to_string().contains("axis 0: the length of A must be 1 or 2\n"));
//! ```

mod conditions;
mod drawing;

use super::clause::{self, inferring};
use super::columns::Columns;
use super::{Drawing, labels};
use broadcheck_reference::infer;
use broadcheck_spec::{
    Accepts, Asked, DType, Expression, Inference, Length, Malformed, OperandType, PartialShape, Refusal,
    Rules, Shape, Signature,
};
use std::collections::BTreeSet;

/// How many runs are tried to find one that is refused, times the number of lengths in each.
const MOST_WORK: usize = 200_000;
/// The highest number of values that are tried for one length.
const MOST_VALUES: usize = 24;
/// How many shapes of unknown rank are changed to find a run that is refused.
const MOST_CHANGED: usize = 2;
/// How many axes of length 1 an example of a shape of unknown rank may have.
const MOST_ONES: usize = 64;

/// A signature with what a rule set infers from it.
#[derive(Clone, Debug)]
pub struct InferenceExplanation {
    pub(super) signature: Signature,
    /// The operands' names in the drawing, then the target's.
    pub(super) labels: Vec<String>,
    /// What is known of the result, or why every run is refused.
    pub decision: Result<Inference, Refusal>,
    /// The deciding clause of SEMANTICS.md.
    pub clause: &'static str,
}

/// A run of a signature: the lengths are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Example {
    /// The operands' shapes, then the target.
    shapes: Vec<Shape>,
    /// The shape of the result, or the refusal.
    outcome: Result<PartialShape, Refusal>,
}

/// A length on an axis of the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The shape: an operand's place, or the number of operands for the target.
    pub(super) place: usize,
    /// The axis of that shape.
    pub(super) own: usize,
    pub(super) length: Length,
    /// theano: whether the axis is flagged broadcastable.
    pub(super) flag: bool,
}

/// An axis of the result, with the lengths that meet on it.
pub(super) struct Axis {
    pub(super) members: Vec<Member>,
    /// What the axis alone gives. `None` if the rule set requires nothing of it.
    pub(super) alone: Option<Result<Inference, Refusal>>,
    /// The member whose length the result has if the rule set requires nothing of the axis.
    leader: usize,
}

impl InferenceExplanation {
    /// The operands of an elementwise operation. `flags` are those of `theano`, one list per operand.
    ///
    /// # Errors
    /// [`Malformed`] for what would make the request malformed, as for
    /// [`ShapeQuery::elementwise`](super::ShapeQuery::elementwise), and for an unknown rank under `xla` and
    /// `theano`.
    pub fn elementwise(
        rules: Rules,
        shapes: Vec<PartialShape>,
        flags: Vec<Option<Vec<bool>>>,
    ) -> Result<InferenceExplanation, Malformed> {
        let set = rules.set();
        super::check_elementwise(set, shapes.len())?;
        super::check_flags(set, shapes.iter().map(|shape| (shape, shape.rank())), &flags)?;
        let labels = labels(set, shapes.len());
        let operands =
            labels.iter().zip(shapes).zip(flags).enumerate().map(|(place, ((label, shape), flags))| {
                let operand = OperandType::new(operand_name(label, place), DType::F32, shape)?;
                flags.map_or(Ok(operand.clone()), |flags| operand.with_broadcastable(flags))
            });
        let operands = operands.collect::<Result<Vec<OperandType>, Malformed>>()?;
        // Every operand takes part in the common shape, whether or not the expression uses it (clause G-5).
        let signature = Signature::new(rules, Asked::Expression(Expression::operand(0)), operands)?;
        Ok(InferenceExplanation::new(signature, labels))
    }

    /// An operand to broadcast to a target shape.
    ///
    /// # Errors
    /// [`Malformed`] under a rule set without the operation `broadcast`, and for an unknown rank under `xla`.
    pub fn broadcast(
        rules: impl Into<Rules>,
        operand: PartialShape,
        target: PartialShape,
    ) -> Result<InferenceExplanation, Malformed> {
        let rules = rules.into();
        super::check_broadcast(rules.set())?;
        let operand = OperandType::new("operand", DType::F32, operand)?;
        let signature = Signature::new(rules, Asked::TargetShape(target), vec![operand])?;
        Ok(InferenceExplanation::new(signature, vec!["operand".into()]))
    }

    /// A whole signature, with its dtypes.
    pub fn of_signature(signature: &Signature) -> InferenceExplanation {
        let labels = signature.names().into_iter().map(str::to_owned).collect();
        InferenceExplanation::new(signature.clone(), labels)
    }

    fn new(signature: Signature, mut labels: Vec<String>) -> InferenceExplanation {
        if let Asked::TargetShape(_) = signature.asked() {
            labels.push("target".into());
        }
        let decision = infer(&signature);
        let clause = inferring(&signature, &decision);
        InferenceExplanation { signature, labels, decision, clause }
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The shapes under the result, axis by axis, in lines of at most this width if possible.
    pub fn draw(&self, width: usize) -> Drawing {
        drawing::draw(self, width)
    }

    /// `(?,3) + (2) => (2,3)`; with a target, `(?) to (3) => (3)`.
    pub(super) fn equation(&self) -> String {
        let left = joined(self.signature.asked(), self.signature.shapes());
        match &self.decision {
            Ok(inference) => format!("{left} => {}", inference.shape),
            Err(_) => format!("{left} => refused"),
        }
    }

    /// The axes of the result from left to right.
    pub(super) fn axes(&self, columns: &Columns) -> Vec<Axis> {
        let mut members = vec![Vec::new(); columns.count];
        for (place, (shape, places)) in self.signature.shapes().zip(&columns.places).enumerate() {
            let (Some(lengths), Some(places)) = (shape.lengths(), places) else { continue };
            let flags = self.signature.operands().get(place).and_then(OperandType::broadcastable);
            for (own, (&length, column)) in lengths.iter().zip(places).enumerate() {
                let flag = flags.is_some_and(|flags| flags[own]);
                if let Some(column) = *column {
                    members[column].push(Member { place, own, length, flag });
                }
            }
        }
        let axis = |members: Vec<Member>| {
            let lengths: Vec<Length> = members.iter().map(|member| member.length).collect();
            let leader = match self.signature.asked() {
                Asked::Expression(_) => 0,
                Asked::TargetShape(_) => members.len().saturating_sub(1),
            };
            Axis { alone: self.infer_axis(&members, &lengths), members, leader }
        };
        members.into_iter().map(axis).collect()
    }

    /// What the rule set says of one axis alone, with these lengths. `None` if it requires nothing.
    fn infer_axis(&self, members: &[Member], lengths: &[Length]) -> Option<Result<Inference, Refusal>> {
        let vectors = || lengths.iter().map(|&length| PartialShape::from(vec![length])).collect::<Vec<_>>();
        let flags = || members.iter().map(|member| vec![member.flag]).collect::<Vec<_>>();
        let signature = match (self.signature.rules(), self.signature.asked()) {
            (rules, Asked::TargetShape(whole)) => {
                let vectors = vectors();
                let scalar = PartialShape::from(vec![]);
                let only = self.signature.operands()[0].shape();
                let (operand, target) = match (&vectors[..], members) {
                    // REPEAT-4. No axis decides alone if both can be without elements.
                    _ if *rules == Rules::Repeat && can_be_empty(only) && can_be_empty(whole) => return None,
                    ([operand, target], _) => (operand, target),
                    // REPEAT-2. An axis of the operand that the target does not have.
                    ([operand], [Member { place: 0, .. }])
                        if *rules == Rules::Repeat && whole.rank().is_some() =>
                    {
                        (operand, &scalar)
                    }
                    _ => return None,
                };
                let operand = OperandType::new("operand", DType::F32, operand.clone()).ok()?;
                let rules = match rules {
                    Rules::Xla { .. } => Rules::Xla { broadcast_dimensions: Some(vec![0]) },
                    Rules::None
                    | Rules::Numpy
                    | Rules::Pdpd { .. }
                    | Rules::Bidirectional
                    | Rules::Theano
                    | Rules::Leading
                    | Rules::Repeat => rules.clone(),
                };
                Signature::new(rules, Asked::TargetShape(target.clone()), vec![operand])
            }
            (Rules::Pdpd { .. }, Asked::Expression(_)) => {
                let rank_of_a = self.signature.operands()[0].shape().rank();
                let (axis, vectors) = match (members, rank_of_a) {
                    ([_, _], _) => (0, vectors()),
                    // PDPD-4. An axis of B beyond A.
                    ([Member { place: 1, .. }], Some(_)) => {
                        let a = PartialShape::from(vec![Length::exactly(1)]);
                        (1, [vec![a], vectors()].concat())
                    }
                    _ => return None,
                };
                sum(Rules::Pdpd { axis: Some(axis) }, vectors, &[])
            }
            (Rules::Repeat, Asked::Expression(_)) => match (members, self.signature.operands()) {
                // REPEAT-4. No axis decides alone if both can be without elements.
                (_, [a, b]) if can_be_empty(a.shape()) && can_be_empty(b.shape()) => return None,
                ([_, _], _) => sum(Rules::Repeat, vectors(), &[]),
                // REPEAT-2. An axis of B that A does not have.
                ([Member { place: 1, .. }], [a, _]) if a.shape().rank().is_some() => {
                    sum(Rules::Repeat, [vec![PartialShape::from(vec![])], vectors()].concat(), &[])
                }
                _ => return None,
            },
            (Rules::Xla { .. }, Asked::Expression(_)) if members.len() < 2 => return None,
            (Rules::Xla { .. }, Asked::Expression(_)) => {
                sum(Rules::Xla { broadcast_dimensions: None }, vectors(), &[])
            }
            (Rules::Theano, Asked::Expression(_)) => sum(Rules::Theano, vectors(), &flags()),
            (Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Leading, Asked::Expression(_))
                if members.is_empty() =>
            {
                return None;
            }
            (
                rules @ (Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Leading),
                Asked::Expression(_),
            ) => sum(rules.clone(), vectors(), &[]),
        };
        Some(infer(&signature.ok()?))
    }

    /// The run with these shapes.
    fn run(&self, shapes: Vec<Shape>) -> Option<Example> {
        let operands = self.signature.operands().iter().zip(&shapes).map(|(operand, shape)| {
            let known = OperandType::new(operand.name(), operand.dtype(), PartialShape::from(shape))?;
            match operand.broadcastable() {
                Some(flags) => known.with_broadcastable(flags.to_vec()),
                None => Ok(known),
            }
        });
        let operands = operands.collect::<Result<Vec<OperandType>, Malformed>>().ok()?;
        let asked = match self.signature.asked() {
            Asked::Expression(expression) => Asked::Expression(expression.clone()),
            Asked::TargetShape(_) => Asked::TargetShape(shapes.last()?.into()),
        };
        let known = Signature::new(self.signature.rules().clone(), asked, operands).ok()?;
        Some(Example { outcome: infer(&known).map(|inference| inference.shape), shapes })
    }

    /// `(2,3) + (2,3) => (2,3)`, or `(0) + (2): dimension_mismatch at axis 0`.
    pub(super) fn describe(&self, example: &Example) -> String {
        let left = joined(self.signature.asked(), example.shapes.iter());
        match &example.outcome {
            Ok(shape) => format!("{left} => {shape}"),
            Err(refusal) => format!("{left}: {}", clause::kind_and_place(refusal, &self.labels)),
        }
    }

    /// A run that is accepted, and one that is refused, where there are such.
    pub(super) fn examples(&self, axes: &[Axis]) -> (Option<Example>, Option<Example>) {
        if self.signature.is_known() {
            return (None, None);
        }
        let chosen: Vec<Vec<usize>> = axes.iter().map(|axis| self.accepted_on(axis)).collect();
        // A shape of unknown rank may have the lengths of the result, or be a scalar.
        let guess: Vec<usize> = chosen
            .iter()
            .map(|values| values.iter().copied().find(|&value| value != 1).unwrap_or(1))
            .collect();
        let with = |chosen: &[Vec<usize>], unranked: &[usize]| {
            self.run(self.shapes(axes, chosen, &mut |_| unranked.to_vec()))
        };
        let mut trials = vec![guess.clone(), Vec::new()];
        // Under pdpd, ones reach to the axis where B starts, and B of ones fits everywhere.
        if let Rules::Pdpd { axis: Some(axis) } = self.signature.rules() {
            let start = usize::try_from(*axis).ok().filter(|&start| start <= MOST_ONES);
            trials.extend(start.map(|start| vec![1; start]));
        }
        let runs = trials.into_iter().filter_map(|unranked| with(&chosen, &unranked));
        let (accepted, others): (Vec<Example>, Vec<Example>) = runs.partition(|run| run.outcome.is_ok());
        let accepted = accepted.into_iter().next();
        let accepted = accepted.or_else(|| self.repeated(axes, &chosen, |run| run.outcome.is_ok()));
        let Ok(inference) = &self.decision else { return (accepted, others.into_iter().next()) };
        if inference.accepts == Some(Accepts::Always) {
            return (accepted, None);
        }
        let refused = self
            .refused_on_an_axis(axes, &chosen, &guess)
            .or_else(|| others.into_iter().next().or_else(|| self.refused_by_rank(axes, &chosen, &guess)))
            .or_else(|| self.repeated(axes, &chosen, |run| run.outcome.is_err()));
        (accepted, refused)
    }

    /// Lengths on an axis that are accepted there.
    fn accepted_on(&self, axis: &Axis) -> Vec<usize> {
        // REPEAT-2: an axis that only B has is 1.
        let b = self.place_of_b();
        if *self.signature.rules() == Rules::Repeat && axis.members.iter().all(|member| member.place == b) {
            let one = |member: &Member| if member.length.admits(1) { 1 } else { number_of(member.length) };
            return axis.members.iter().map(one).collect();
        }
        let value = |member: &Member| {
            let own = || number_of(member.length);
            let wanted = match (&axis.alone, axis.result()) {
                (Some(Ok(_)), Some(_)) if member.flag => 1,
                (Some(Ok(_)), Some(result)) => number_of(result),
                (Some(_) | None, _) => own(),
            };
            [wanted, 1].into_iter().find(|&value| member.length.admits(value)).unwrap_or_else(own)
        };
        axis.members.iter().map(value).collect()
    }

    /// The shapes with these lengths on the axes, one list per axis. Shapes of unknown rank are `unranked`.
    fn shapes(
        &self,
        axes: &[Axis],
        chosen: &[Vec<usize>],
        unranked: &mut dyn FnMut(usize) -> Vec<usize>,
    ) -> Vec<Shape> {
        let mut shapes: Vec<Vec<usize>> = Vec::new();
        for (place, shape) in self.signature.shapes().enumerate() {
            shapes.push(match shape.lengths() {
                Some(lengths) => lengths.iter().map(|&length| number_of(length)).collect(),
                None => unranked(place),
            });
        }
        for (axis, values) in axes.iter().zip(chosen) {
            for (member, &value) in axis.members.iter().zip(values) {
                shapes[member.place][member.own] = value;
            }
        }
        shapes.into_iter().map(Shape::new).collect()
    }

    /// A run that is refused because of the first axis that may refuse one.
    fn refused_on_an_axis(
        &self,
        axes: &[Axis],
        chosen: &[Vec<usize>],
        unranked: &[usize],
    ) -> Option<Example> {
        let place = axes.iter().position(Axis::depends)?;
        let axis = &axes[place];
        let values = self.refused_lengths(axis, &chosen[place])?;
        let mut chosen = chosen.to_vec();
        chosen[place] = values;
        [unranked, &[]]
            .into_iter()
            .filter_map(|unranked| self.run(self.shapes(axes, &chosen, &mut |_| unranked.to_vec())))
            .find(|run| run.outcome.is_err())
    }

    /// REPEAT-4: a run with a wanted outcome where no axis decides alone. All unknown lengths of A are one
    /// number, and those of B another one.
    fn repeated(
        &self,
        axes: &[Axis],
        chosen: &[Vec<usize>],
        is_wanted: impl Fn(&Example) -> bool,
    ) -> Option<Example> {
        if *self.signature.rules() != Rules::Repeat {
            return None;
        }
        let b = self.place_of_b();
        let with = |of_a: usize, of_b: usize| {
            let value = |(member, &accepted): (&Member, &usize)| {
                let wanted = if member.place == b { of_b } else { of_a };
                if member.length.admits(wanted) { wanted } else { accepted }
            };
            let on_axis = |(axis, accepted): (&Axis, &Vec<usize>)| -> Vec<usize> {
                axis.members.iter().zip(accepted).map(value).collect()
            };
            let lengths: Vec<Vec<usize>> = axes.iter().zip(chosen).map(on_axis).collect();
            self.run(self.shapes(axes, &lengths, &mut |_| Vec::new()))
        };
        let members = axes.iter().flat_map(|axis| &axis.members);
        let bounds = members.flat_map(|member| [Some(member.length.min()), member.length.max()]);
        let numbers: BTreeSet<usize> = bounds.flatten().chain(0..=3).take(MOST_VALUES).collect();
        let pairs = numbers.iter().flat_map(|&of_b| numbers.iter().map(move |&of_a| (of_a, of_b)));
        let mut runs = pairs.filter_map(|(of_a, of_b)| with(of_a, of_b));
        runs.find(is_wanted)
    }

    /// `repeat`: the place of A, onto which B is repeated.
    fn place_of_a(&self) -> usize {
        1 - self.place_of_b()
    }

    /// `repeat`: the place of B, which is repeated onto A or onto the target.
    fn place_of_b(&self) -> usize {
        match self.signature.asked() {
            Asked::Expression(_) => 1,
            Asked::TargetShape(_) => 0,
        }
    }

    /// Lengths on an axis that are refused there: those given, with one or two of them changed.
    fn refused_lengths(&self, axis: &Axis, accepted: &[usize]) -> Option<Vec<usize>> {
        let candidates = values_of(axis);
        let unknown: Vec<usize> = axis.unknown().collect();
        let mut tries = MOST_WORK / accepted.len().max(1);
        for &first in &unknown {
            for &second in unknown.iter().filter(|&&second| second >= first) {
                for (&one, &other) in
                    candidates.iter().flat_map(|one| candidates.iter().map(move |x| (one, x)))
                {
                    if first == second && one != other {
                        continue;
                    }
                    tries = tries.checked_sub(1)?;
                    let mut values = accepted.to_vec();
                    (values[first], values[second]) = (one, other);
                    if axis.admits(&values) && self.refuses(axis, &values) {
                        return Some(values);
                    }
                }
            }
        }
        None
    }

    fn refuses(&self, axis: &Axis, values: &[usize]) -> bool {
        let lengths: Vec<Length> = values.iter().map(|&value| Length::exactly(value)).collect();
        self.infer_axis(&axis.members, &lengths).is_some_and(|outcome| outcome.is_err())
    }

    /// A run that is refused because of a shape of unknown rank.
    fn refused_by_rank(&self, axes: &[Axis], chosen: &[Vec<usize>], guess: &[usize]) -> Option<Example> {
        let last = guess.last().map_or(2, |last| last.saturating_add(1));
        let longer = [guess, &[2]].concat();
        // REPEAT-1: five axes are too many.
        let five = vec![2; 5];
        let trials =
            [vec![last.max(2)], Vec::new(), vec![2], vec![3], longer, vec![2; guess.len() + 1], five];
        let unranked = self.signature.shapes().enumerate().filter(|(_, shape)| shape.rank().is_none());
        let unranked: Vec<usize> = unranked.map(|(place, _)| place).take(MOST_CHANGED).collect();
        // The known ranks' lengths that are accepted with each other, or the lowest.
        let lowest = |axis: &Axis| axis.members.iter().map(|member| member.length.min()).collect();
        let lowest: Vec<Vec<usize>> = axes.iter().map(lowest).collect();
        for (chosen, base) in [(chosen, guess), (chosen, &[2]), (&lowest, guess), (&lowest, &[2])] {
            for (&changed, trial) in
                unranked.iter().flat_map(|place| trials.iter().map(move |trial| (place, trial)))
            {
                let mut of = |place: usize| if place == changed { trial.clone() } else { base.to_vec() };
                let run = self.run(self.shapes(axes, chosen, &mut of));
                if let Some(run) = run.filter(|run| run.outcome.is_err()) {
                    return Some(run);
                }
            }
        }
        None
    }
}

impl Axis {
    /// Whether it accepts some lengths and refuses others.
    pub(super) fn depends(&self) -> bool {
        matches!(&self.alone, Some(Ok(inference)) if inference.accepts == Some(Accepts::Depends))
    }

    /// The result's length on the axis, as far as the axis shows it.
    pub(super) fn result(&self) -> Option<Length> {
        match &self.alone {
            Some(Ok(inference)) => inference.shape.lengths().and_then(|lengths| lengths.first().copied()),
            Some(Err(_)) => None,
            None => self.members.get(self.leader).map(|member| member.length),
        }
    }

    /// The positions of the members whose lengths are unknown.
    fn unknown(&self) -> impl Iterator<Item = usize> {
        let members = self.members.iter().enumerate();
        members.filter(|(_, member)| member.length.number().is_none()).map(|(place, _)| place)
    }

    fn admits(&self, values: &[usize]) -> bool {
        self.members.iter().zip(values).all(|(member, &value)| member.length.admits(value))
    }
}

/// Whether some runs have no elements.
fn can_be_empty(shape: &PartialShape) -> bool {
    shape.lengths().is_none_or(|lengths| lengths.iter().any(|length| length.admits(0)))
}

/// The signature of operands of these shapes.
fn sum(rules: Rules, shapes: Vec<PartialShape>, flags: &[Vec<bool>]) -> Result<Signature, Malformed> {
    let operands = shapes.into_iter().enumerate().map(|(place, shape)| {
        let operand = OperandType::new(format!("n{place}"), DType::F32, shape)?;
        match flags.get(place) {
            Some(flags) => operand.with_broadcastable(flags.clone()),
            None => Ok(operand),
        }
    });
    let operands = operands.collect::<Result<Vec<OperandType>, Malformed>>()?;
    Signature::new(rules, Asked::Expression(Expression::operand(0)), operands)
}

/// A name that a case file could contain: `a` for the label `A`.
fn operand_name(label: &str, place: usize) -> String {
    let name = label.to_ascii_lowercase();
    if name.starts_with('#') { format!("n{}", place + 1) } else { name }
}

/// A value of a length, for examples: 2 or more if possible, so that it is not stretched.
fn number_of(length: Length) -> usize {
    let lowest = length.min().max(2);
    length.number().unwrap_or(if length.admits(lowest) { lowest } else { length.max().unwrap_or(lowest) })
}

/// The values that are tried on an axis: 0, 1, the bounds and numbers of its lengths and what is next to
/// them. Lengths are only compared with each other and with 1, so that no other value differs from these;
/// under `repeat`, which divides them, others may.
fn values_of(axis: &Axis) -> BTreeSet<usize> {
    let mut values = BTreeSet::from([0, 1, 2, 3]);
    for member in &axis.members {
        for bound in [Some(member.length.min()), member.length.max()].into_iter().flatten() {
            if values.len() < MOST_VALUES {
                values.extend([bound.saturating_sub(1), bound, bound.saturating_add(1)]);
            }
        }
    }
    values
}

/// `(2) + (?)`, or `(2) to (?)`.
fn joined(asked: &Asked, shapes: impl Iterator<Item = impl ToString>) -> String {
    let shapes: Vec<String> = shapes.map(|shape| shape.to_string()).collect();
    match asked {
        Asked::Expression(_) => shapes.join(" + "),
        Asked::TargetShape(_) => shapes.join(" to "),
    }
}
