//! Writes a request as bytes, as the [`reader`](super::reader) reads them.

use super::super::draw::name;
use super::reader::LETTERS;
use super::{LITERAL, MAX_NAME, RULE_OPERATIONS, SAME};
use broadcheck_spec::{DType, Expression, Function, Node, Operand, Operation, OperationKind, Request, Rules};

/// Writes the literal form.
pub(super) fn write(request: &Request) -> Vec<u8> {
    let (set, operands) = (request.rules().set(), request.operands());
    let rule_operation = (set, request.operation().kind());
    let mut out = vec![0];
    out.push(low_byte(RULE_OPERATIONS.iter().position(|&other| other == rule_operation).unwrap_or(0)));
    if !matches!(request.operation(), Operation::Broadcast { .. }) {
        out.push(small(operands.len() - 1, 4));
    }
    attributes(request, &mut out);
    match request.operation() {
        Operation::Broadcast { target_shape } => shape(target_shape, &mut out),
        // Literal bytes have no destination and no cotangent.
        Operation::Elementwise { expression: root } | Operation::Into { expression: root, .. } => {
            expression(root, &mut out);
        }
        Operation::Gradient { expression: root, wrt } | Operation::Vjp { expression: root, wrt, .. } => {
            expression(root, &mut out);
            out.push(low_byte(*wrt));
        }
    }
    let mut before = None;
    for (place, operand) in operands.iter().enumerate() {
        header(operand, place, before, &mut out);
        before = Some(operand.dtype());
    }
    for operand in operands {
        values(operand, &mut out);
    }
    out
}

#[allow(clippy::cast_possible_truncation, reason = "within the bounds, a byte holds it")]
fn low_byte(number: usize) -> u8 {
    number as u8
}

/// A number below `limit`, or a literal one.
fn small(number: usize, limit: u8) -> u8 {
    let number = low_byte(number);
    if number < limit { number } else { LITERAL.wrapping_add(number) }
}

fn length(mut number: u64, out: &mut Vec<u8>) {
    while number >= 128 {
        out.push((number & 127 | 128).to_le_bytes()[0]);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn integer(number: i64, out: &mut Vec<u8>) {
    length((number << 1 ^ number >> 63).cast_unsigned(), out);
}

fn shape(lengths: &[usize], out: &mut Vec<u8>) {
    out.push(small(lengths.len(), 6));
    lengths.iter().for_each(|&each| length(each as u64, out));
}

fn attributes(request: &Request, out: &mut Vec<u8>) {
    if request.operands().len() == 1 && request.operation().kind() != OperationKind::Broadcast {
        return;
    }
    match request.rules() {
        Rules::Pdpd { axis } => {
            out.push(u8::from(axis.is_some()));
            axis.iter().for_each(|&axis| integer(axis, out));
        }
        Rules::Xla { broadcast_dimensions } => {
            out.push(low_byte(broadcast_dimensions.as_ref().map_or(0, |list| list.len() + 1)));
            broadcast_dimensions.iter().flatten().for_each(|&axis| integer(axis, out));
        }
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => {}
    }
}

/// Root first: each call before its arguments.
fn expression(root: &Expression, out: &mut Vec<u8>) {
    let nodes = root.nodes();
    let mut open = vec![nodes.len() - 1];
    while let Some(place) = open.pop() {
        match &nodes[place] {
            Node::Operand(operand) => out.push(low_byte(*operand)),
            Node::Call(call) => {
                let place = Function::ALL.iter().position(|&function| function == call.function());
                out.push(128 + low_byte(place.unwrap_or(0)));
                open.extend(call.arguments().iter().rev());
            }
        }
    }
}

fn header(operand: &Operand, place: usize, before: Option<DType>, out: &mut Vec<u8>) {
    let own = operand.name() != name(place);
    let dtype = DType::ALL.iter().position(|&dtype| dtype == operand.dtype());
    out.push(if before == Some(operand.dtype()) { SAME } else { low_byte(dtype.unwrap_or(0)) });
    let bits = [operand.strides().is_some(), operand.broadcastable().is_some(), own];
    out.push(bits.iter().rev().fold(0, |bits, &bit| bits << 1 | u8::from(bit)));
    if own {
        let letters = operand.name().as_bytes();
        let letters = &letters[..letters.len().min(MAX_NAME)];
        out.push(low_byte(letters.len() - 1));
        let place = |letter: &u8| LETTERS.iter().position(|other| other == letter).unwrap_or(0);
        out.extend(letters.iter().map(|letter| low_byte(place(letter))));
    }
    shape(operand.shape(), out);
    for flags in operand.broadcastable().unwrap_or_default().chunks(8) {
        out.push(flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u8::from(flag)));
    }
    if let Some(strides) = operand.strides() {
        strides.iter().for_each(|&stride| integer(stride, out));
        length(operand.offset() as u64, out);
        length(operand.values().len() as u64, out);
    }
}

fn values(operand: &Operand, out: &mut Vec<u8>) {
    let bytes = match operand.dtype() {
        DType::F64 | DType::I64 | DType::U64 => 8,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
        DType::I8 | DType::U8 | DType::Bool => 1,
    };
    for value in operand.values().iter() {
        out.extend_from_slice(&value.to_bits().to_le_bytes()[..bytes]);
    }
}
