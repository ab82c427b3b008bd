//! Asks an implementation a request, and the request with a part of its expression in another form that is
//! equal by IEEE 754 and by the clauses V-1 to V-5. The two answers must agree, so no expected value is
//! needed: a system is compared with itself, whatever it computes, and its optimiser sees two expressions.
//!
//! The language has no literals. A form such as a - 0 adds an operand that holds the value: a scalar under
//! the rule sets that stretch one to any shape and take any number of operands, and an array of the first
//! operand's shape under `none`. Under `pdpd` and `xla`, which take two operands, only the other forms are
//! used. The operand is the last one, so that a refusal names the same operand and axis.

mod forms;

pub(crate) use forms::{FORMS, Form};

use super::differential::{Differential, breakage, cut_off};
use super::signature::{Breakage, Signature};
use super::{Answer, Judgement, Oracle};
use broadcheck::relations::rewrite::MOST_COPIED;
use broadcheck::run::run_together_until;
use broadcheck_judge::compare::same_outcome;
use broadcheck_judge::limits::covers_request;
use broadcheck_reference::result_dtype;
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Node, Operand, Operation, Outcome, Request, RuleSet,
    Scalar, Shape,
};
use forms::Part;
use std::time::Instant;

/// How many parts of a request are rewritten while it is shrunk, one after the other.
const MOST_PLACES: usize = 8;

/// A request and its rewritten form have outcomes that agree.
pub(crate) struct Rewritten<'a> {
    implementation: &'a dyn Implementation,
    compare: Differential<'a>,
    form: &'static Form,
}

/// A rewrite whose turn it is: the form, and the request in it.
pub(crate) struct Chosen {
    pub(crate) form: &'static Form,
    request: Request,
}

impl<'a> Rewritten<'a> {
    /// Checks one form of an implementation.
    pub(crate) fn new(implementation: &'a dyn Implementation, form: &'static Form) -> Rewritten<'a> {
        Rewritten { implementation, compare: Differential::new(implementation, implementation), form }
    }

    /// Judges the answers to a request and to its rewritten form.
    fn judged(&self, request: &Request, rewritten: &Request, [first, second]: [&Outcome; 2]) -> Judgement {
        // What a side does not answer as it is, or does not support in one form, is not about the form.
        let skipped = breakage(second).filter(|(breakage, _)| *breakage == Breakage::Skipped);
        if let Some((breakage, message)) = breakage(first).or(skipped) {
            return Judgement::Vacuous(format!("{} {breakage}: {message}", self.implementation.name()));
        }
        // Two equal answers may both be wrong, which is for the other oracles to report.
        if let Some(answer) = equal(first, second) {
            return Judgement::Agreed(answer);
        }
        match self.compare.compare(request, first, second) {
            Judgement::Disagreement(mut found) => {
                let kind = found.signature.kind.clone();
                found.signature = Signature::new(self.name(), request, kind);
                let names = rewritten.names();
                let shown = rewritten.operation().expression().map(|expression| expression.display(&names));
                found.detail =
                    format!("with {}, as {}: {}", self.form.words, shown.unwrap_or_default(), found.detail);
                found.rewritten = Some(Box::new(rewritten.clone()));
                Judgement::Disagreement(found)
            }
            other @ (Judgement::Agreed(_) | Judgement::Vacuous(_) | Judgement::Convention(_)) => other,
        }
    }
}

impl Oracle for Rewritten<'_> {
    fn name(&self) -> String {
        format!("rewritten-{}-{}", self.form.name, self.implementation.name())
    }

    /// Rewrites one part after the other, until the answers disagree.
    fn judge(&self, request: &Request) -> Judgement {
        let all = variants(self.form, request, self.implementation);
        let asked: Vec<&Request> = std::iter::once(request).chain(&all).collect();
        if all.is_empty() {
            return Judgement::Vacuous("no part can be rewritten".into());
        }
        let outcomes = run_together_until(self.implementation, &asked, None);
        let Some((first, others)) = outcomes.split_first() else {
            return Judgement::Vacuous("the request was not answered".into());
        };
        let mut judged = all
            .iter()
            .zip(others)
            .map(|(rewritten, second)| self.judged(request, rewritten, [first, second]));
        let Some(mut last) = judged.next() else {
            return Judgement::Vacuous("the request was not answered".into());
        };
        while !matches!(last, Judgement::Disagreement(_)) {
            match judged.next() {
                Some(next) => last = next,
                None => break,
            }
        }
        last
    }
}

/// How both outcomes answer, if they are equal to the bit, with what is in a destination's buffer.
fn equal(first: &Outcome, second: &Outcome) -> Option<Answer> {
    match (first, second) {
        (Outcome::Success(one), Outcome::Success(other)) => {
            (same_outcome(first, second) && one.buffer == other.buffer).then_some(Answer::Accepted)
        }
        (Outcome::Refusal(_), Outcome::Refusal(_)) => same_outcome(first, second).then_some(Answer::Refused),
        _ => None,
    }
}

/// The form whose turn it is, of those that apply to a request within the capabilities, and the request in
/// it.
pub(crate) fn chosen(turn: u64, request: &Request, implementation: &dyn Implementation) -> Option<Chosen> {
    covers_request(implementation.capabilities(), request).ok()?;
    let parts = Parts::of(request)?;
    let count = FORMS.len() as u64;
    (0..count).find_map(|next| {
        let form = &FORMS[usize::try_from((turn + next) % count).ok()?];
        let places = parts.places(form);
        let start = usize::try_from(turn / count % places.len().max(1) as u64).ok()?;
        let ordered = places[start..].iter().chain(&places[..start]);
        let made = ordered.filter_map(|&place| parts.rewritten(form, place));
        let request =
            made.into_iter().find(|one| covers_request(implementation.capabilities(), one).is_ok())?;
        Some(Chosen { form, request })
    })
}

/// Judges requests with their rewritten forms until a deadline, if there is one. If the time is over before
/// all are answered, returns the judgements of the first ones only.
pub(crate) fn judge_until(
    implementation: &dyn Implementation,
    asked: &[(&Request, Chosen)],
    deadline: Option<Instant>,
) -> Vec<Judgement> {
    let all: Vec<&Request> = asked.iter().flat_map(|(request, chosen)| [*request, &chosen.request]).collect();
    let outcomes = run_together_until(implementation, &all, deadline);
    let judge = |((request, chosen), pair): (&(&Request, Chosen), &[Outcome])| {
        let [first, second] = pair else { return None };
        if deadline.is_some() && (cut_off(first) || cut_off(second)) {
            return None;
        }
        Some(Rewritten::new(implementation, chosen.form).judged(request, &chosen.request, [first, second]))
    };
    asked.iter().zip(outcomes.chunks(2)).map_while(judge).collect()
}

/// The request in a form, once for each part that the form applies to.
fn variants(form: &Form, request: &Request, implementation: &dyn Implementation) -> Vec<Request> {
    let capabilities = implementation.capabilities();
    if covers_request(capabilities, request).is_err() {
        return Vec::new();
    }
    let Some(parts) = Parts::of(request) else { return Vec::new() };
    let made = parts.places(form).into_iter().filter_map(|place| parts.rewritten(form, place));
    made.filter(|request| covers_request(capabilities, request).is_ok()).take(MOST_PLACES).collect()
}

/// The form in the name of an oracle, if it is one of this kind.
pub(crate) fn form_named(oracle: &str, implementation: &str) -> Option<&'static Form> {
    let name = oracle.strip_prefix("rewritten-")?.strip_suffix(implementation)?.strip_suffix('-')?;
    FORMS.iter().find(|form| form.name == name)
}

/// The parts of a request's expression, with their dtypes. A part is unknown if it is not correctly typed.
struct Parts<'a> {
    request: &'a Request,
    expression: &'a Expression,
    dtypes: Vec<Option<DType>>,
    gradient: bool,
}

impl<'a> Parts<'a> {
    fn of(request: &'a Request) -> Option<Parts<'a>> {
        let (expression, gradient) = match request.operation() {
            Operation::Elementwise { expression } | Operation::Into { expression, .. } => (expression, false),
            Operation::Gradient { expression, .. }
            | Operation::Vjp { expression, target_shape: None, .. } => (expression, true),
            Operation::Broadcast { .. } | Operation::Vjp { target_shape: Some(_), .. } => return None,
        };
        let dtype_of = |function: Function, arguments: &[Option<DType>]| {
            let known: Vec<DType> = arguments.iter().copied().collect::<Option<_>>()?;
            let operands = (0..known.len()).map(Expression::operand);
            result_dtype(&Expression::call(function, operands).ok()?, &known).ok()
        };
        let operands = request.operands();
        let dtypes = expression.values(|place| Some(operands[place].dtype()), dtype_of);
        Some(Parts { request, expression, dtypes, gradient })
    }

    /// The nodes that a form may apply to.
    fn places(&self, form: &Form) -> Vec<usize> {
        if self.gradient && !form.in_gradients {
            return Vec::new();
        }
        let all = 0..self.expression.nodes().len();
        all.filter(|&place| self.replaced(form, place).is_some()).collect()
    }

    /// What takes the place of a node.
    fn replaced(&self, form: &Form, place: usize) -> Option<Expression> {
        let dtype = self.dtypes[place]?;
        if form.adds.is_some_and(|adds| adds(dtype).is_none()) {
            return None;
        }
        let (whole, nodes) = (self.expression.part(place), self.expression.nodes());
        let (function, places) = match &nodes[place] {
            Node::Operand(_) => (None, &[][..]),
            Node::Call(call) => (Some(call.function()), call.arguments()),
        };
        let arguments: Vec<Expression> = places.iter().map(|&place| self.expression.part(place)).collect();
        let of = places.last().map_or(Some(dtype), |&last| self.dtypes[last])?;
        let operands = self.request.operands();
        let other = (0..operands.len())
            .rev()
            .find(|&other| operands[other].dtype() == dtype)
            .map_or_else(|| whole.clone(), Expression::operand);
        let part = Part {
            whole: &whole,
            function,
            arguments: &arguments,
            dtype,
            of,
            added: Expression::operand(operands.len()),
            other: &other,
        };
        (form.apply)(&part)
    }

    /// The request with a node in another form.
    fn rewritten(&self, form: &Form, place: usize) -> Option<Request> {
        let replacement = self.replaced(form, place)?;
        let expression =
            self.expression.rewrite(|at, node| if at == place { replacement.clone() } else { node });
        let (rules, operation, mut operands) = self.request.clone().into_parts();
        if let Some(adds) = form.adds {
            operands.push(added(self.request, adds(self.dtypes[place]?)?)?);
        }
        let operation = match operation {
            Operation::Elementwise { .. } => Operation::Elementwise { expression },
            Operation::Into { destination, .. } => Operation::Into { expression, destination },
            Operation::Gradient { wrt, .. } => Operation::Gradient { expression, wrt },
            Operation::Vjp { wrt, target_shape, cotangent, .. } => {
                Operation::Vjp { expression, wrt, target_shape, cotangent }
            }
            Operation::Broadcast { .. } => return None,
        };
        Request::new(rules, operation, operands).ok()
    }
}

/// An operand with one value that changes neither the shape of a result nor what is refused.
fn added(request: &Request, value: Scalar) -> Option<Operand> {
    let operands = request.operands();
    let shape = match request.rules().set() {
        RuleSet::Numpy | RuleSet::Theano | RuleSet::Leading => Shape::new(Vec::new()),
        RuleSet::None => operands.first()?.shape().clone(),
        RuleSet::Pdpd | RuleSet::Xla | RuleSet::Bidirectional | RuleSet::Repeat => return None,
    };
    let count = shape.count().filter(|&count| count <= MOST_COPIED)?;
    let values = Data::from_scalars(value.dtype(), std::iter::repeat_n(value, count)).ok()?;
    let taken = |name: &str| operands.iter().chain(request.cotangent()).any(|other| other.name() == name);
    let name = std::iter::once("k".to_owned()).chain((0..=operands.len() + 1).map(|n| format!("k{n}")));
    let name = name.into_iter().find(|name| !taken(name))?;
    let operand = Operand::dense(name, shape, values).ok()?;
    let has_flags = operands.iter().any(|operand| operand.broadcastable().is_some());
    if has_flags { operand.with_broadcastable(Vec::new()).ok() } else { Some(operand) }
}

#[cfg(test)]
mod tests;
