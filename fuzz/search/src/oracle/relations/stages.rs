//! A fused expression rounds at every function, as if each had been stored (V-4b): so one may be.

use super::{Refusals, Variation, unchanged};
use broadcheck::run::run_caught;
use broadcheck_reference::align;
use broadcheck_spec::{
    Call, Expression, Implementation, Node, Operand, Operation, Outcome, Request, RuleSet,
};

/// The first function's result, asked for by itself, as an operand of the rest. Of exact expressions only, and where
/// any number of operands is allowed.
pub(super) fn in_stages(implementation: &dyn Implementation, request: &Request) -> Option<Variation> {
    let Operation::Elementwise { expression } = request.operation() else { return None };
    let set = request.rules().set();
    let many = matches!(set, RuleSet::None | RuleSet::Numpy | RuleSet::Theano);
    if !many || !expression.is_exact() || expression.calls().count() < 2 {
        return None;
    }
    align(request).ok()?;
    let (place, call) = expression.nodes().iter().enumerate().find_map(|(place, node)| match node {
        Node::Call(call) => Some((place, call)),
        Node::Operand(_) => None,
    })?;
    let inner = Operation::Elementwise { expression: alone(expression, call)? };
    let staged = Request::new(request.rules().clone(), inner, request.operands().to_vec()).ok()?;
    implementation.capabilities().covers(&staged).ok()?;
    let Outcome::Success(success) = run_caught(implementation, &staged) else { return None };
    let (shape, values) = success.tensor.into_parts();
    let flags: Vec<bool> = shape.iter().map(|&length| length == 1).collect();
    let name =
        (0..).map(|number| format!("stage{number}")).find(|name| !request.names().contains(&&name[..]))?;
    let mut stored = Operand::dense(name, shape, values).ok()?;
    if set == RuleSet::Theano {
        stored = stored.with_broadcastable(flags).ok()?;
    }
    let mut operands = request.operands().to_vec();
    operands.push(stored);
    let rest = with_operand_at(expression, place, operands.len() - 1)?;
    let request =
        Request::new(request.rules().clone(), Operation::Elementwise { expression: rest }, operands);
    let (request, refusals) = (request.ok()?, Refusals::Nothing);
    Some(Variation { name: "in-stages", request, refusals, back: unchanged() })
}

/// A call of operands only, as an expression of its own.
fn alone(expression: &Expression, call: &Call) -> Option<Expression> {
    let argument = |&place: &usize| match expression.nodes()[place] {
        Node::Operand(operand) => Some(Expression::operand(operand)),
        Node::Call(_) => None,
    };
    let arguments: Option<Vec<Expression>> = call.arguments().iter().map(argument).collect();
    Expression::call(call.function(), arguments?).ok()
}

/// The expression with an operand in the place of a node.
fn with_operand_at(expression: &Expression, place: usize, operand: usize) -> Option<Expression> {
    let mut built: Vec<Expression> = Vec::new();
    for (at, node) in expression.nodes().iter().enumerate() {
        let made = match node {
            Node::Operand(operand) => Expression::operand(*operand),
            Node::Call(call) => {
                let arguments = built.split_off(built.len() - call.arguments().len());
                if at == place {
                    Expression::operand(operand)
                } else {
                    Expression::call(call.function(), arguments).ok()?
                }
            }
        };
        built.push(made);
    }
    built.pop()
}
