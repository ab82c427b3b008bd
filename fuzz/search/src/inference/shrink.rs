//! Makes the signature of a finding smaller, while the implementation still answers wrongly in the same way.

#![warn(clippy::wildcard_enum_match_arm)]

use super::walk::{Found, judged};
use super::{Finding, FindingKind, Relation};
use crate::shrink::{Limits, function_cost};
use broadcheck::run::infer_caught;
use broadcheck_spec::{
    Asked, DType, Expression, Function, Implementation, Length, Node, OperandType, PartialShape, Rules,
    Signature,
};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The most signatures that are tried for a finding of an exhaustive run.
const MOST: usize = 2_000;

/// The smallest signature with the same kind of finding, and what is wrong with the answer to it. `None` if
/// the implementation does not answer wrongly any more. A difference from another implementation is kept as
/// it is.
pub fn shrink(finding: &Finding, implementation: &dyn Implementation) -> Option<Finding> {
    if matches!(finding.kind, FindingKind::Difference { .. }) {
        return Some(finding.clone());
    }
    let mut relation = Relation::default();
    let mut repeat = |signature: &Signature| -> Option<Finding> {
        implementation.capabilities().covers_signature(signature).ok()?;
        let runs = relation.runs(signature);
        let outcome = infer_caught(implementation, signature);
        match judged(implementation, signature, &runs, &outcome, true) {
            Found::Finding(kind, detail) if kind == finding.kind => {
                let implementation = finding.implementation.clone();
                Some(Finding { implementation, kind, signature: signature.clone(), detail })
            }
            Found::Exact | Found::Wider(_) | Found::Convention | Found::Finding(..) => None,
        }
    };
    let limits = Limits { steps: MOST, ..Limits::default() };
    let first = repeat(&finding.signature)?;
    Some(shrink_while(&finding.signature, first, &limits, &mut repeat).found)
}

/// The result of shrinking a signature.
pub(crate) struct Smallest<T> {
    pub(crate) signature: Signature,
    /// What was found of it.
    pub(crate) found: T,
    /// How many signatures were tried.
    pub(crate) steps: usize,
    /// Whether no single step leads further. False if a limit was reached.
    pub(crate) minimal: bool,
}

/// The smallest signature of which something is still found, as it is of the first. Each is cheaper than the
/// one before, so this ends.
pub(crate) fn shrink_while<T>(
    signature: &Signature,
    found: T,
    limits: &Limits<'_>,
    repeat: &mut dyn FnMut(&Signature) -> Option<T>,
) -> Smallest<T> {
    let began = Instant::now();
    let mut smallest = Smallest { signature: signature.clone(), found, steps: 0, minimal: false };
    let mut tried = HashSet::new();
    'smaller: loop {
        for signature in simpler(&smallest.signature) {
            if !tried.insert(format!("{signature:?}")) {
                continue;
            }
            let stopped = limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
            if smallest.steps >= limits.steps || began.elapsed() >= limits.time || stopped {
                return smallest;
            }
            smallest.steps += 1;
            if let Some(found) = repeat(&signature) {
                (smallest.signature, smallest.found) = (signature, found);
                continue 'smaller;
            }
        }
        return Smallest { minimal: true, ..smallest };
    }
}

/// The cost of a signature.
pub(crate) type Cost = [u64; 8];

/// The cost of a signature, to put the simplest of several first: operands, the size of the expression, axes,
/// unknown ranks, attributes, dtypes, lengths. Costs are compared lexicographically.
pub(crate) fn cost(signature: &Signature) -> Cost {
    let operands = signature.operands();
    let lengths = || signature.shapes().filter_map(PartialShape::lengths).flatten();
    let (mut bounds, mut numbers) = (0u64, 0u64);
    for &length in lengths() {
        let (kind, number) = length_cost(length);
        bounds += kind;
        numbers = numbers.saturating_add(number);
    }
    let expression = match signature.asked() {
        Asked::Expression(expression) => expression.nodes(),
        Asked::TargetShape(_) => &[],
    };
    let functions = expression.iter().map(|node| match node {
        Node::Operand(place) => *place as u64,
        Node::Call(call) => 100 * function_cost(call.function()),
    });
    [
        operands.len() as u64,
        expression.len() as u64,
        lengths().count() as u64
            + 3 * signature.shapes().filter(|shape| shape.rank().is_none()).count() as u64,
        attributes_cost(signature),
        functions.sum(),
        operands.iter().map(|operand| u64::from(operand.dtype() != DType::F32)).sum(),
        bounds,
        numbers,
    ]
}

/// Attributes and flags: how many numbers they have, and how large.
fn attributes_cost(signature: &Signature) -> u64 {
    let number = |axis: &i64| 1 + 2 * axis.unsigned_abs().min(1 << 40) + u64::from(*axis < 0);
    let rules = match signature.rules() {
        Rules::Pdpd { axis: Some(axis) } => number(axis),
        Rules::Xla { broadcast_dimensions: Some(list) } => 1 + list.iter().map(number).sum::<u64>(),
        Rules::Pdpd { axis: None } | Rules::Xla { broadcast_dimensions: None } => 0,
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => 0,
    };
    let flags = signature.operands().iter().filter_map(OperandType::broadcastable);
    rules + flags.map(|flags| 1 + flags.iter().filter(|&&flag| flag).count() as u64).sum::<u64>()
}

/// The parts of a signature, to be changed one by one.
#[derive(Clone)]
struct Parts {
    rules: Rules,
    asked: Asked,
    operands: Vec<Typed>,
}

#[derive(Clone)]
struct Typed {
    dtype: DType,
    shape: PartialShape,
    flags: Option<Vec<bool>>,
}

impl Parts {
    fn of(signature: &Signature) -> Parts {
        let typed = |operand: &OperandType| Typed {
            dtype: operand.dtype(),
            shape: operand.shape().clone(),
            flags: operand.broadcastable().map(<[bool]>::to_vec),
        };
        Parts {
            rules: signature.rules().clone(),
            asked: signature.asked().clone(),
            operands: signature.operands().iter().map(typed).collect(),
        }
    }

    /// The signature, if it is well-formed. Operands are named in order.
    fn signature(&self) -> Option<Signature> {
        let operand = |(place, typed): (usize, &Typed)| {
            let name =
                u8::try_from(place).ok().filter(|&place| place < 26).map(|place| char::from(b'a' + place));
            let name = name.map_or_else(|| format!("x{place}"), String::from);
            let operand = OperandType::new(name, typed.dtype, typed.shape.clone()).ok()?;
            match &typed.flags {
                Some(flags) => operand.with_broadcastable(flags.clone()).ok(),
                None => Some(operand),
            }
        };
        let operands: Option<Vec<OperandType>> = self.operands.iter().enumerate().map(operand).collect();
        Signature::new(self.rules.clone(), self.asked.clone(), operands?).ok()
    }

    /// The shapes, then the target.
    fn shape(&mut self, place: usize) -> Option<&mut PartialShape> {
        let count = self.operands.len();
        match &mut self.asked {
            Asked::TargetShape(target) if place == count => Some(target),
            Asked::TargetShape(_) | Asked::Expression(_) => {
                self.operands.get_mut(place).map(|operand| &mut operand.shape)
            }
        }
    }
}

/// Signatures that are simpler by one step, those that leave most out first.
fn simpler(signature: &Signature) -> Vec<Signature> {
    let parts = Parts::of(signature);
    let mut all = Vec::new();
    fewer_operands(&parts, &mut all);
    fewer_aligned_axes(&parts, &mut all);
    fewer_named_axes(&parts, &mut all);
    fewer_axes(&parts, &mut all);
    simpler_attributes(&parts, &mut all);
    simpler_expressions(&parts, &mut all);
    simpler_types(&parts, &mut all);
    simpler_lengths(&parts, &mut all);
    let before = cost(signature);
    all.iter().filter_map(Parts::signature).filter(|simpler| cost(simpler) < before).collect()
}

/// The sum of operands, or the negation of one.
fn sum(operands: usize) -> Option<Expression> {
    if operands == 1 {
        return Expression::call(Function::Negate, [Expression::operand(0)]).ok();
    }
    (1..operands).try_fold(Expression::operand(0), |sum, place| {
        Expression::call(Function::Add, [sum, Expression::operand(place)]).ok()
    })
}

fn fewer_operands(parts: &Parts, all: &mut Vec<Parts>) {
    let Asked::Expression(expression) = &parts.asked else { return };
    if parts.operands.len() < 2 {
        return;
    }
    let kept = |places: &[usize], expression: Expression| {
        let operands: Vec<Typed> = places.iter().map(|&place| parts.operands[place].clone()).collect();
        let rules = if operands.len() == 1 { Rules::from(parts.rules.set()) } else { parts.rules.clone() };
        Parts { rules, asked: Asked::Expression(expression), operands }
    };
    // Only what a part of the expression reads.
    for part in subexpressions(expression) {
        let read: Vec<usize> = (0..parts.operands.len()).filter(|&place| part.reads(place)).collect();
        if read.len() < parts.operands.len() {
            let new = |old: usize| read.iter().position(|&place| place == old).unwrap_or(0);
            all.extend(renumbered(&part, &new).map(|part| kept(&read, part)));
        }
    }
    let Some(expression) = sum(parts.operands.len() - 1) else { return };
    for left_out in 0..parts.operands.len() {
        let places: Vec<usize> = (0..parts.operands.len()).filter(|&place| place != left_out).collect();
        all.push(kept(&places, expression.clone()));
    }
}

/// The expression itself, and each of its arguments, and theirs.
fn subexpressions(expression: &Expression) -> Vec<Expression> {
    let nodes = expression.nodes();
    (0..nodes.len()).rev().filter_map(|root| built(nodes, root, &|place| place)).collect()
}

fn renumbered(expression: &Expression, new: &dyn Fn(usize) -> usize) -> Option<Expression> {
    let nodes = expression.nodes();
    built(nodes, nodes.len() - 1, new)
}

/// The expression with this node as its root.
fn built(nodes: &[Node], root: usize, new: &dyn Fn(usize) -> usize) -> Option<Expression> {
    match &nodes[root] {
        Node::Operand(place) => Some(Expression::operand(new(*place))),
        Node::Call(call) => {
            let arguments = call.arguments().iter().map(|&argument| built(nodes, argument, new));
            Expression::call(call.function(), arguments.collect::<Option<Vec<Expression>>>()?).ok()
        }
    }
}

/// The sum of all operands, a comparison or a choice in its place, and the parts of the expression.
fn simpler_expressions(parts: &Parts, all: &mut Vec<Parts>) {
    let Asked::Expression(expression) = &parts.asked else { return };
    let count = parts.operands.len();
    let operands = || (0..count).map(Expression::operand);
    let function = match count {
        2 => Some(Function::Less),
        3 => Some(Function::Select),
        _ => None,
    };
    let call = function.and_then(|function| Expression::call(function, operands()).ok());
    for simpler in sum(count).into_iter().chain(call).chain(subexpressions(expression)) {
        all.push(Parts { asked: Asked::Expression(simpler), ..parts.clone() });
    }
}

fn fewer_axes(parts: &Parts, all: &mut Vec<Parts>) {
    for place in 0..=parts.operands.len() {
        let Some(rank) = parts.clone().shape(place).map(|shape| shape.rank()) else { continue };
        let Some(rank) = rank else {
            for ranked in [Vec::new(), vec![Length::UNKNOWN]] {
                let mut simpler = parts.clone();
                if let Some(shape) = simpler.shape(place) {
                    *shape = PartialShape::Ranked(ranked);
                }
                all.push(simpler);
            }
            continue;
        };
        for axis in 0..rank {
            let mut fewer = parts.clone();
            remove_axis(&mut fewer, place, Some(axis));
            all.push(fewer);
        }
    }
}

/// Without an axis of every shape that has it, counted from the right, or under `leading` from the first.
fn fewer_aligned_axes(parts: &Parts, all: &mut Vec<Parts>) {
    let ranks: Vec<Option<usize>> =
        (0..=parts.operands.len()).map(|place| parts.clone().shape(place)?.rank()).collect();
    let from_first = parts.rules == Rules::Leading;
    for nth in 1..=ranks.iter().flatten().copied().max().unwrap_or(0) {
        let mut fewer = parts.clone();
        for (place, rank) in ranks.iter().enumerate() {
            let axis =
                rank.filter(|&rank| nth <= rank).map(|rank| if from_first { nth - 1 } else { rank - nth });
            remove_axis(&mut fewer, place, axis);
        }
        all.push(fewer);
    }
}

/// Without an axis of the target, or of the operand of higher rank, and without what lies on it: the axis of
/// the other shape and its dimension. Dimensions beyond it are one less.
fn fewer_named_axes(parts: &Parts, all: &mut Vec<Parts>) {
    let Rules::Xla { broadcast_dimensions: Some(list) } = &parts.rules else { return };
    let rank = |place: usize| parts.clone().shape(place).and_then(|shape| shape.rank());
    let (Some(one), Some(other)) = (rank(0), rank(1)) else { return };
    let is_broadcast = matches!(parts.asked, Asked::TargetShape(_));
    let (lower, higher) = if is_broadcast || one <= other { (0, 1) } else { (1, 0) };
    for axis in 0..one.max(other) {
        let mut fewer = parts.clone();
        let number = i64::try_from(axis).unwrap_or(i64::MAX);
        let place = list.iter().position(|&named| named == number);
        let mut shorter = list.clone();
        if let Some(place) = place {
            shorter.remove(place);
        }
        for named in &mut shorter {
            *named -= i64::from(*named > number);
        }
        remove_axis(&mut fewer, higher, Some(axis));
        remove_axis(&mut fewer, lower, place);
        fewer.rules = Rules::Xla { broadcast_dimensions: Some(shorter) };
        all.push(fewer);
    }
}

/// Removes an axis of a shape and its flag, if it has them.
fn remove_axis(parts: &mut Parts, place: usize, axis: Option<usize>) {
    let Some(PartialShape::Ranked(lengths)) = parts.shape(place) else { return };
    let Some(axis) = axis.filter(|&axis| axis < lengths.len()) else { return };
    lengths.remove(axis);
    if let Some(flags) = parts.operands.get_mut(place).and_then(|operand| operand.flags.as_mut()) {
        flags.remove(axis);
    }
}

fn simpler_attributes(parts: &Parts, all: &mut Vec<Parts>) {
    all.push(Parts { rules: Rules::from(parts.rules.set()), ..parts.clone() });
    match &parts.rules {
        Rules::Pdpd { axis: Some(axis) } if *axis != 0 => {
            for axis in [0, axis - axis.signum()] {
                all.push(Parts { rules: Rules::Pdpd { axis: Some(axis) }, ..parts.clone() });
            }
        }
        Rules::Xla { broadcast_dimensions: Some(list) } => {
            for place in 0..list.len() {
                let mut shorter = list.clone();
                shorter.remove(place);
                all.push(Parts {
                    rules: Rules::Xla { broadcast_dimensions: Some(shorter) },
                    ..parts.clone()
                });
            }
        }
        Rules::Pdpd { .. } | Rules::Xla { .. } => {}
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => {}
    }
    for place in 0..parts.operands.len() {
        let mut without = parts.clone();
        without.operands[place].flags = None;
        all.push(without);
    }
}

/// Every operand as `f32`; with the sum, because most functions are not for every dtype; then one by one.
fn simpler_types(parts: &Parts, all: &mut Vec<Parts>) {
    let mut floats = parts.clone();
    floats.operands.iter_mut().for_each(|operand| operand.dtype = DType::F32);
    all.push(floats.clone());
    if let Some(expression) = sum(parts.operands.len())
        && matches!(parts.asked, Asked::Expression(_))
    {
        all.push(Parts { asked: Asked::Expression(expression), ..floats });
    }
    for place in 0..parts.operands.len() {
        let mut one = parts.clone();
        one.operands[place].dtype = DType::F32;
        all.push(one);
    }
}

/// How complicated a length is: its bounds, and how large they are. 1 is the simplest, then 2, 0 and 3.
fn length_cost(length: Length) -> (u64, u64) {
    let number = |number: usize| match number {
        0 => 2,
        1 | 2 => number as u64 - 1,
        _ => number as u64,
    };
    match (length.number(), length.min(), length.max()) {
        (Some(only), _, _) => (0, number(only)),
        (None, 0, None) => (1, 0),
        (None, 0, Some(max)) => (2, max as u64),
        (None, min, None) => (2, min as u64),
        (None, min, Some(max)) => (3, (max as u64).saturating_add(min as u64)),
    }
}

fn simpler_lengths(parts: &Parts, all: &mut Vec<Parts>) {
    for place in 0..=parts.operands.len() {
        let Some(lengths) =
            parts.clone().shape(place).and_then(|shape| shape.lengths().map(<[Length]>::to_vec))
        else {
            continue;
        };
        for (axis, &length) in lengths.iter().enumerate() {
            for other in replacements(length) {
                let mut simpler = parts.clone();
                if let Some(PartialShape::Ranked(lengths)) = simpler.shape(place) {
                    lengths[axis] = other;
                }
                all.push(simpler);
            }
        }
    }
}

/// Simpler lengths, the simplest first.
fn replacements(length: Length) -> Vec<Length> {
    let (min, max) = (length.min(), length.max());
    let fewer = [
        Length::bounded(min, None),
        Length::bounded(0, max),
        Length::bounded(min / 2, max),
        Length::bounded(min / 2, max.map(|max| max / 2)),
        Length::bounded(min.saturating_sub(1), max.map(|max| max.saturating_sub(1))),
        Length::bounded(min, max.map(|max| min + (max - min) / 2)),
    ];
    let simple = [1, 2, 0, 3].map(Length::exactly).into_iter().chain([Length::UNKNOWN, Length::exactly(min)]);
    let mut all: Vec<Length> = simple.chain(fewer.into_iter().flatten()).collect();
    all.retain(|&other| length_cost(other) < length_cost(length));
    all.sort_by_key(|&other| length_cost(other));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replacement_is_simpler() {
        for text in ["5..9", "?", "..7", "4..", "18446744073709551615", "2..18446744073709551615", "0"] {
            let length: Length = text.parse().unwrap();
            let simpler = replacements(length);
            assert!(
                !simpler.is_empty() && simpler.iter().all(|&other| length_cost(other) < length_cost(length)),
                "{text}"
            );
        }
        assert!(replacements(Length::exactly(1)).is_empty());
    }

    #[test]
    fn a_signature_gets_simpler_in_every_part() {
        let operand = |name: &str, shape: &str| {
            OperandType::new(name, DType::F64, shape.parse::<PartialShape>().unwrap()).unwrap()
        };
        let less =
            Expression::call(Function::Less, [Expression::operand(0), Expression::operand(1)]).unwrap();
        let rules = Rules::Pdpd { axis: Some(1) };
        let operands = vec![operand("x", "5..9x2"), operand("y", "...")];
        let signature = Signature::new(rules, Asked::Expression(less), operands).unwrap();
        let all = simpler(&signature);
        assert!(all.iter().any(|simpler| simpler.operands().len() == 1));
        assert!(all.iter().any(|simpler| *simpler.rules() == Rules::Pdpd { axis: None }));
        assert!(all.iter().any(|simpler| simpler.operands()[0].dtype() == DType::F32));
        for shape in ["2", "5..9", "?x2", "..9x2", "5..x2"] {
            let wanted: PartialShape = shape.parse().unwrap();
            assert!(all.iter().any(|simpler| *simpler.operands()[0].shape() == wanted), "{shape}");
        }
    }
}
