//! The cost that makes one request simpler than another. Shrinking only ever reduces the cost, so it
//! terminates.

use super::draft::{Draft, Piece, plain};
use broadcheck_spec::{DType, Function, Node, Rules, Scalar};

/// The cost of a request. Costs are compared lexicographically: earlier entries take precedence.
pub(crate) type Cost = [u64; 11];

/// Dtypes, the simplest first.
pub(super) const DTYPES: [DType; 13] = [
    DType::F64,
    DType::I32,
    DType::Bool,
    DType::F32,
    DType::I64,
    DType::F16,
    DType::Bf16,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::U32,
    DType::U64,
];

pub(super) fn cost(draft: &Draft) -> Cost {
    let nodes = draft.expression().map_or(0, |expression| expression.nodes().len());
    let shapes = 0..draft.shape_count();
    let sum = |of: &dyn Fn(&Piece) -> u64| draft.pieces.iter().map(of).fold(0, u64::saturating_add);
    [
        draft.pieces.len() as u64,
        nodes as u64,
        shapes.clone().map(|place| draft.shape(place).len() as u64).sum(),
        shapes
            .flat_map(|place| draft.shape(place))
            .map(|&length| length_cost(length))
            .fold(0, u64::saturating_add),
        sum(&|piece| u64::from(piece.strides.is_some())),
        attributes(draft),
        sum(&view),
        sum(&|piece| dtype_cost(piece.values.dtype())),
        functions(draft),
        draft
            .pieces
            .iter()
            .enumerate()
            .map(|(place, piece)| values(piece, place))
            .fold(0, u64::saturating_add),
        draft.pieces.iter().enumerate().map(|(place, piece)| u64::from(piece.name != name(place))).sum(),
    ]
}

/// The default name of an operand: a, b, c, …
pub(super) fn name(place: usize) -> String {
    let letter = u8::try_from(place).ok().filter(|place| *place < 26);
    letter.map_or_else(|| format!("x{place}"), |place| char::from(b'a' + place).to_string())
}

/// 1 is the simplest length, then 2 and 3. An empty axis would hide errors in elements.
pub(super) fn length_cost(length: usize) -> u64 {
    match length {
        0 => 3,
        1..=3 => length as u64 - 1,
        _ => length as u64,
    }
}

pub(super) fn dtype_cost(dtype: DType) -> u64 {
    DTYPES.iter().position(|&other| other == dtype).unwrap_or(DTYPES.len()) as u64
}

pub(crate) fn function_cost(function: Function) -> u64 {
    Function::ALL.iter().position(|&other| other == function).unwrap_or(Function::ALL.len()) as u64
}

fn functions(draft: &Draft) -> u64 {
    let nodes = draft.expression().map_or(&[][..], |expression| expression.nodes());
    nodes
        .iter()
        .map(|node| match node {
            Node::Operand(place) => *place as u64,
            Node::Call(call) => 100 * function_cost(call.function()),
        })
        .sum()
}

fn attributes(draft: &Draft) -> u64 {
    let number = |axis: &i64| 2 * axis.unsigned_abs().min(1 << 40) + u64::from(*axis < 0);
    let rules = match &draft.rules {
        Rules::Pdpd { axis: Some(axis) } => 1 + number(axis),
        Rules::Xla { broadcast_dimensions: Some(list) } => {
            1 + list.len() as u64 + list.iter().map(number).sum::<u64>()
        }
        Rules::Pdpd { axis: None }
        | Rules::Xla { broadcast_dimensions: None }
        | Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => 0,
    };
    let flags = |piece: &Piece| {
        piece.flags.as_ref().map_or(0, |flags| 1 + flags.iter().filter(|&&flag| flag).count() as u64)
    };
    let given = |piece: &Piece| u64::from(piece.constant) + u64::from(piece.same.is_some());
    rules + draft.pieces.iter().map(|piece| flags(piece) + given(piece)).sum::<u64>()
}

fn view(piece: &Piece) -> u64 {
    let Some(strides) = &piece.strides else { return 0 };
    let stride = |&stride: &i64| 2 * stride.unsigned_abs().min(1 << 40) + u64::from(stride < 0);
    let offset = (piece.offset as u64).min(1 << 40);
    4 * piece.values.len() as u64 + offset + strides.iter().map(stride).sum::<u64>()
}

fn values(piece: &Piece, place: usize) -> u64 {
    let dtype = piece.values.dtype();
    let cost =
        |(at, value): (usize, Scalar)| if value == plain(dtype, at, place) { 0 } else { value_cost(value) };
    piece.values.iter().enumerate().map(cost).sum()
}

/// Small integers first, then values that have a name, then by the digits they need.
pub(super) fn value_cost(value: Scalar) -> u64 {
    if let Some(whole) = value.as_i128() {
        let digits = u64::from(128 - whole.unsigned_abs().leading_zeros());
        return if (0..=999).contains(&whole) { 1 } else { 2 + digits };
    }
    let Some(float) = value.as_f64() else { return 1 };
    if (0.0..=999.0).contains(&float) && float.fract() == 0.0 {
        return if float == 0.0 && float.is_sign_negative() { 3 } else { 1 };
    }
    if !float.is_finite() {
        return 4;
    }
    let mantissa = (float.to_bits() & ((1 << 52) - 1)) | 1 << 52;
    let digits = 53 - u64::from(mantissa.trailing_zeros());
    let exponent = (float.to_bits() >> 52 & 0x7ff).abs_diff(1023);
    4 + digits + exponent / 4 + u64::from(float < 0.0)
}
