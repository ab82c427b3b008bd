//! Near misses: refused requests that one small change would make accepted.

use super::choices::Bytes;
use super::expressions;
use super::values::{ValueMix, values};
use broadcheck_reference::align;
use broadcheck_spec::{DType, Data, Expression, Function, Node, Operand, Operation, Request, Rules, Shape};

/// Whether changing a single length, axis, flag, attribute, dtype, function or operand would make the request
/// accepted.
pub(crate) fn is_near(request: &Request) -> bool {
    let (rules, operation, operands) = request.clone().into_parts();
    let fits = |rules: &Rules, operation: &Operation, operands: &[Operand]| {
        let changed = Request::new(rules.clone(), operation.clone(), operands.to_vec());
        changed.is_ok_and(|request| align(&request).is_ok())
    };
    attributes(&rules, &operation, &operands).iter().any(|rules| fits(rules, &operation, &operands))
        || operations(&operation, operands.len()).iter().any(|operation| fits(&rules, operation, &operands))
        || (0..operands.len()).any(|place| {
            let others: Vec<&Operand> = operands.iter().collect();
            changed(&operands[place], &others).into_iter().any(|one| {
                let mut all = operands.clone();
                all[place] = one;
                fits(&rules, &operation, &all)
            })
        })
        || operands.len() > 2 && fits(&rules, &first_operand(&operation), &operands[..operands.len() - 1])
        || targets(&operation, &operands).iter().any(|operation| fits(&rules, operation, &operands))
}

/// An operation that stays valid without the last operand.
fn first_operand(operation: &Operation) -> Operation {
    match operation {
        Operation::Broadcast { .. } => operation.clone(),
        Operation::Elementwise { .. }
        | Operation::Into { .. }
        | Operation::Gradient { .. }
        | Operation::Vjp { .. } => Operation::Elementwise { expression: Expression::operand(0) },
    }
}

#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
pub(super) fn attributes(rules: &Rules, operation: &Operation, operands: &[Operand]) -> Vec<Rules> {
    let target = operation.target_shape().map_or(0, Shape::rank);
    let rank = operands.iter().map(Operand::rank).fold(target, usize::max) as i64;
    match rules {
        Rules::Pdpd { .. } => (-1..=rank).map(|axis| Rules::Pdpd { axis: Some(axis) }).collect(),
        Rules::Xla { broadcast_dimensions } => {
            let list = broadcast_dimensions.clone().unwrap_or_default();
            let mut lists = vec![Vec::new()];
            for at in 0..=list.len() {
                for axis in 0..rank {
                    let mut longer = list.clone();
                    longer.insert(at, axis);
                    lists.push(longer);
                    let mut other = list.clone();
                    other.get_mut(at).into_iter().for_each(|place| *place = axis);
                    lists.push(other);
                }
                if at < list.len() {
                    let mut shorter = list.clone();
                    shorter.remove(at);
                    lists.push(shorter);
                }
                if at + 1 < list.len() {
                    let mut swapped = list.clone();
                    swapped.swap(at, at + 1);
                    lists.push(swapped);
                }
            }
            lists.into_iter().map(|list| Rules::Xla { broadcast_dimensions: Some(list) }).collect()
        }
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => Vec::new(),
    }
}

/// Another function at one node, or another operand to differentiate by.
pub(super) fn operations(operation: &Operation, operands: usize) -> Vec<Operation> {
    let Some(expression) = operation.expression() else { return Vec::new() };
    let mut all = Vec::new();
    for place in 0..expression.nodes().len() {
        let function =
            if let Node::Call(call) = expression.nodes()[place] { call.function() } else { continue };
        let alike =
            [Function::Add, Function::Equal, Function::LogicalAnd, Function::Negate, Function::LogicalNot];
        for other in alike.into_iter().filter(|other| other.arity() == function.arity()) {
            all.push(with_expression(operation, replaced(expression, place, Some(other))));
        }
        if function.arity() != 2 || place + 1 == expression.nodes().len() {
            all.push(with_expression(operation, replaced(expression, place, None)));
        }
    }
    if let Operation::Gradient { expression, .. } = operation {
        all.extend((0..operands).map(|wrt| Operation::Gradient { expression: expression.clone(), wrt }));
    }
    if let Operation::Vjp { cotangent, .. } = operation {
        let others = changed(cotangent, &[]).into_iter();
        all.extend(others.filter_map(|cotangent| with_cotangent(operation, cotangent)));
    }
    all
}

fn with_expression(operation: &Operation, expression: Expression) -> Operation {
    match operation {
        Operation::Gradient { wrt, .. } => Operation::Gradient { expression, wrt: *wrt },
        Operation::Vjp { wrt, target_shape, cotangent, .. } => Operation::Vjp {
            expression,
            wrt: *wrt,
            target_shape: target_shape.clone(),
            cotangent: cotangent.clone(),
        },
        Operation::Into { destination, .. } => Operation::Into { expression, destination: *destination },
        Operation::Elementwise { .. } | Operation::Broadcast { .. } => Operation::Elementwise { expression },
    }
}

/// The same gradient with another cotangent.
fn with_cotangent(operation: &Operation, cotangent: Operand) -> Option<Operation> {
    let Operation::Vjp { expression, wrt, target_shape, .. } = operation else { return None };
    Some(Operation::Vjp {
        expression: expression.clone(),
        wrt: *wrt,
        target_shape: target_shape.clone(),
        cotangent: Box::new(cotangent),
    })
}

/// The expression with another function at a node, or with the node replaced by its last argument.
fn replaced(expression: &Expression, place: usize, function: Option<Function>) -> Expression {
    expression.fold(|at, node, mut arguments: Vec<Expression>| match (node, function) {
        (Node::Operand(operand), _) => Expression::operand(operand),
        (Node::Call(_), None) if at == place => arguments.swap_remove(arguments.len() - 1),
        (Node::Call(_), Some(other)) if at == place => expressions::call(other, arguments),
        (Node::Call(call), _) => expressions::call(call.function(), arguments),
    })
}

/// The target with one axis more or fewer, or another length.
pub(super) fn targets(operation: &Operation, operands: &[Operand]) -> Vec<Operation> {
    let Some(target_shape) = operation.target_shape() else { return Vec::new() };
    let shapes = shapes(target_shape, operands.iter().map(Operand::shape));
    let with = |target_shape: Shape| match operation {
        Operation::Vjp { expression, wrt, cotangent, .. } => Operation::Vjp {
            expression: expression.clone(),
            wrt: *wrt,
            target_shape: Some(target_shape),
            cotangent: cotangent.clone(),
        },
        Operation::Elementwise { .. }
        | Operation::Into { .. }
        | Operation::Gradient { .. }
        | Operation::Broadcast { .. } => Operation::Broadcast { target_shape },
    };
    shapes.into_iter().map(with).collect()
}

/// An operand with one difference.
pub(super) fn changed(operand: &Operand, others: &[&Operand]) -> Vec<Operand> {
    let mut all = Vec::new();
    for other in others.iter().filter(|other| other.dtype() != operand.dtype()) {
        all.extend(made(operand.name(), operand.shape(), other.dtype(), operand.broadcastable()));
    }
    for dtype in [DType::F64, DType::Bool] {
        all.extend(made(operand.name(), operand.shape(), dtype, operand.broadcastable()));
    }
    for axis in 0..operand.broadcastable().map_or(0, <[bool]>::len) {
        let mut flags = operand.broadcastable().unwrap_or_default().to_vec();
        flags[axis] = !flags[axis];
        all.extend(made(operand.name(), operand.shape(), operand.dtype(), Some(&flags)));
    }
    for shape in shapes(operand.shape(), others.iter().map(|other| other.shape())) {
        let flags = operand.broadcastable().map(|flags| {
            let mut flags = flags.to_vec();
            flags.resize(shape.rank(), false);
            flags
        });
        all.extend(made(operand.name(), &shape, operand.dtype(), flags.as_deref()));
    }
    all
}

/// An operand with arbitrary values: whether a request is accepted does not depend on them.
fn made(name: &str, shape: &Shape, dtype: DType, flags: Option<&[bool]>) -> Option<Operand> {
    let mut value = Data::empty(dtype);
    if !shape.contains(&0) {
        value = values(&mut Bytes::new(&[]), dtype, 1, (0, 1), ValueMix::Any);
    }
    let operand = Operand::view(name, shape.clone(), value, Some(vec![0; shape.rank()]), 0).ok()?;
    match flags {
        Some(flags) => operand.with_broadcastable(flags.to_vec()).ok(),
        None => Some(operand),
    }
}

/// Shapes that differ from this one in one length or one axis.
fn shapes<'a>(shape: &Shape, others: impl Iterator<Item = &'a Shape>) -> Vec<Shape> {
    let mut lengths: Vec<usize> = others.flat_map(|shape| shape.lengths().to_vec()).chain([0, 1]).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut all = Vec::new();
    for axis in 0..=shape.rank() {
        let mut longer = shape.to_vec();
        longer.insert(axis, 1);
        all.push(Shape::new(longer));
        let Some(&length) = shape.get(axis) else { continue };
        let mut shorter = shape.to_vec();
        shorter.remove(axis);
        all.push(Shape::new(shorter));
        for &other in lengths.iter().chain([&length.saturating_sub(1)]) {
            let mut changed = shape.to_vec();
            changed[axis] = other;
            all.push(Shape::new(changed));
        }
    }
    all
}
