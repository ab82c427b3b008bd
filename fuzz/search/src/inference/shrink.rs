//! Makes the signature of a finding smaller, while the implementation still answers wrongly in the same way.

#![warn(clippy::wildcard_enum_match_arm)]

use super::walk::{Found, judged};
use super::{Finding, FindingKind, Relation};
use broadcheck::run::infer_caught;
use broadcheck_spec::{
    Asked, DType, Expression, Function, Implementation, Length, OperandType, PartialShape, Rules, Signature,
};

/// The most signatures that are tried.
const MOST: usize = 2_000;

/// The smallest signature with the same kind of finding, and what is wrong with the answer to it. `None` if
/// the implementation does not answer wrongly any more. A difference from another implementation is kept as
/// it is.
pub fn shrink(finding: &Finding, implementation: &dyn Implementation) -> Option<Finding> {
    if matches!(finding.kind, FindingKind::Difference { .. }) {
        return Some(finding.clone());
    }
    let mut relation = Relation::default();
    let mut repeat = |signature: Signature| -> Option<Finding> {
        implementation.capabilities().covers_signature(&signature).ok()?;
        let runs = relation.runs(&signature);
        let outcome = infer_caught(implementation, &signature);
        match judged(implementation, &signature, &runs, &outcome, true) {
            Found::Finding(kind, detail) if kind == finding.kind => {
                let implementation = finding.implementation.clone();
                Some(Finding { implementation, kind, signature, detail })
            }
            Found::Exact | Found::Wider(_) | Found::Convention | Found::Finding(..) => None,
        }
    };
    let mut smallest = repeat(finding.signature.clone())?;
    let mut tried = 0;
    'smaller: loop {
        for signature in simpler(&smallest.signature) {
            tried += 1;
            if tried > MOST {
                break 'smaller;
            }
            if let Some(found) = repeat(signature) {
                smallest = found;
                continue 'smaller;
            }
        }
        break;
    }
    Some(smallest)
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
    fewer_axes(&parts, &mut all);
    simpler_attributes(&parts, &mut all);
    simpler_types(&parts, &mut all);
    simpler_lengths(&parts, &mut all);
    all.iter().filter_map(Parts::signature).filter(|simpler| simpler != signature).collect()
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
    if !matches!(parts.asked, Asked::Expression(_)) || parts.operands.len() < 2 {
        return;
    }
    let Some(expression) = sum(parts.operands.len() - 1) else { return };
    for place in 0..parts.operands.len() {
        let mut fewer = parts.clone();
        fewer.operands.remove(place);
        fewer.asked = Asked::Expression(expression.clone());
        if fewer.operands.len() == 1 {
            fewer.rules = Rules::from(fewer.rules.set());
        }
        all.push(fewer);
    }
}

fn fewer_axes(parts: &Parts, all: &mut Vec<Parts>) {
    for place in 0..=parts.operands.len() {
        let Some(rank) = parts.clone().shape(place).map(|shape| shape.rank()) else { continue };
        let Some(rank) = rank else {
            let mut scalar = parts.clone();
            if let Some(shape) = scalar.shape(place) {
                *shape = PartialShape::Ranked(Vec::new());
            }
            all.push(scalar);
            continue;
        };
        for axis in 0..rank {
            let mut fewer = parts.clone();
            if let Some(PartialShape::Ranked(lengths)) = fewer.shape(place) {
                lengths.remove(axis);
            }
            if let Some(flags) = fewer.operands.get_mut(place).and_then(|operand| operand.flags.as_mut()) {
                flags.remove(axis);
            }
            all.push(fewer);
        }
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
        Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Theano => {}
    }
    for place in 0..parts.operands.len() {
        let mut without = parts.clone();
        without.operands[place].flags = None;
        all.push(without);
    }
}

fn simpler_types(parts: &Parts, all: &mut Vec<Parts>) {
    let mut floats = parts.clone();
    floats.operands.iter_mut().for_each(|operand| operand.dtype = DType::F32);
    if let Some(expression) = sum(parts.operands.len())
        && matches!(parts.asked, Asked::Expression(_))
    {
        floats.asked = Asked::Expression(expression);
        // Otherwise the two would replace each other forever.
        if Some(&floats.asked) != Some(&parts.asked) {
            all.push(floats);
            return;
        }
    }
    if floats.operands.iter().zip(&parts.operands).any(|(one, other)| one.dtype != other.dtype) {
        all.push(floats);
    }
}

/// How complicated a length is: the number of its bounds, then the bounds.
fn cost(length: Length) -> (usize, usize, usize) {
    let kind = match (length.number(), length.min(), length.max()) {
        (Some(_), _, _) => 0,
        (None, 0, None) => 1,
        (None, 0, Some(_)) | (None, _, None) => 2,
        (None, _, Some(_)) => 3,
    };
    (kind, length.max().unwrap_or(0), length.min())
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
    all.retain(|&other| cost(other) < cost(length));
    all.sort_by_key(|&other| cost(other));
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replacement_is_simpler() {
        for text in ["5..9", "?", "..7", "4..", "18446744073709551615", "2..18446744073709551615", "1"] {
            let length: Length = text.parse().unwrap();
            let simpler = replacements(length);
            assert!(!simpler.is_empty() && simpler.iter().all(|&other| cost(other) < cost(length)), "{text}");
        }
        assert!(replacements(Length::exactly(0)).is_empty());
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
