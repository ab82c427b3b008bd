//! Smaller expressions, fewer operands, simpler functions.

use super::Offers;
use crate::generate::expressions;
use crate::shrink::cost::function_cost;
use crate::shrink::draft::Draft;
use broadcheck_spec::{Expression, Function, Node, Operation, Rules};

/// Replaces the root by each smaller part, the smallest first; then each inner call by one of its arguments.
pub(in crate::shrink) fn smaller(draft: &Draft) -> Offers<'_> {
    let Some(expression) = draft.expression() else { return Box::new(std::iter::empty()) };
    let nodes = expression.nodes();
    let last = nodes.len() - 1;
    let parts = (0..last).map(move |place| expression.part(place));
    let arguments = nodes.iter().enumerate().flat_map(|(place, node)| match node {
        Node::Call(call) => call.arguments().iter().map(|&argument| (place, argument)).collect(),
        Node::Operand(_) => Vec::new(),
    });
    let spliced = arguments.map(move |(place, argument)| {
        let kept = expression.part(argument);
        expression.rewrite(|at, node| if at == place { kept.clone() } else { node })
    });
    Box::new(parts.chain(spliced).map(|expression| draft.with_expression(expression)))
}

/// Leaves out each operand. The expression reads another one instead.
pub(in crate::shrink) fn fewer_operands(draft: &Draft) -> Offers<'_> {
    let count = draft.pieces.len();
    let pairs = (0..count).flat_map(move |gone| (0..count).map(move |other| (gone, other)));
    Box::new(
        pairs
            .filter(|(gone, other)| gone != other)
            .filter_map(move |(gone, other)| without(draft, gone, other)),
    )
}

fn without(draft: &Draft, gone: usize, other: usize) -> Option<Draft> {
    let moved = |place: usize| {
        let place = if place == gone { other } else { place };
        if place > gone { place - 1 } else { place }
    };
    let operation = match &draft.operation {
        Operation::Elementwise { expression: whole } => {
            Operation::Elementwise { expression: whole.with_operands(moved) }
        }
        Operation::Into { expression: whole, destination } => {
            Operation::Into { expression: whole.with_operands(moved), destination: moved(*destination) }
        }
        Operation::Gradient { expression: whole, wrt } => {
            Operation::Gradient { expression: whole.with_operands(moved), wrt: moved(*wrt) }
        }
        Operation::Vjp { expression: whole, wrt, target_shape: None, cotangent } => Operation::Vjp {
            expression: whole.with_operands(moved),
            wrt: moved(*wrt),
            target_shape: None,
            cotangent: cotangent.clone(),
        },
        Operation::Broadcast { .. } | Operation::Vjp { target_shape: Some(_), .. } => return None,
    };
    let mut changed = Draft { operation, ..draft.clone() };
    let name = changed.pieces.remove(gone).name;
    changed
        .pieces
        .iter_mut()
        .filter(|piece| piece.same.as_ref() == Some(&name))
        .for_each(|piece| piece.same = None);
    if changed.pieces.len() == 1 {
        changed.rules = Rules::from(changed.rules.set());
    }
    Some(changed)
}

/// Replaces each function by a simpler one with as many arguments, and each operand that is read by an
/// earlier one.
pub(in crate::shrink) fn plainer_functions(draft: &Draft) -> Offers<'_> {
    let Some(expression) = draft.expression() else { return Box::new(std::iter::empty()) };
    let replacements = expression.nodes().iter().enumerate().flat_map(|(place, node)| {
        let plainer: Vec<Plainer> = match node {
            Node::Operand(operand) => (0..*operand).map(Plainer::Operand).collect(),
            Node::Call(call) => {
                let function = call.function();
                let fits = |other: &&Function| {
                    other.arity() == function.arity() && function_cost(**other) < function_cost(function)
                };
                Function::ALL.iter().filter(fits).map(|&function| Plainer::Function(function)).collect()
            }
        };
        plainer.into_iter().map(move |plainer| (place, plainer))
    });
    Box::new(
        replacements
            .map(move |(place, plainer)| replaced(expression, place, plainer))
            .map(|expression| draft.with_expression(expression)),
    )
}

#[derive(Clone, Copy)]
enum Plainer {
    Operand(usize),
    Function(Function),
}

fn replaced(expression: &Expression, place: usize, plainer: Plainer) -> Expression {
    expression.fold(|at, node, arguments| match (node, plainer) {
        (Node::Operand(_), Plainer::Operand(operand)) if at == place => Expression::operand(operand),
        (Node::Operand(operand), _) => Expression::operand(operand),
        (Node::Call(_), Plainer::Function(function)) if at == place => expressions::call(function, arguments),
        (Node::Call(call), _) => expressions::call(call.function(), arguments),
    })
}
