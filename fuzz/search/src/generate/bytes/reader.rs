//! Reads a request from bytes, as the [`writer`](super::writer) writes it, and corrects what would be
//! malformed.

use super::super::choices::Bytes;
use super::super::draw::name;
use super::super::values::quiet;
use super::work::{Shapes, is_within};
use super::{LITERAL, MAX_CALLS, MAX_NAME, MAX_RANK, MAX_VALUES, MAX_WORK, RULE_OPERATIONS, SAME};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    DType, Data, Expression, Function, MAX_EXPRESSION_DEPTH, Operand, Operation, OperationKind, Request,
    RuleSet, Rules, Shape,
};

/// An operand before its values are read.
struct Header {
    dtype: DType,
    name: Option<String>,
    flags: Option<Vec<bool>>,
    view: Option<View>,
}

struct View {
    strides: Vec<i64>,
    offset: usize,
    length: usize,
}

/// Reads a literal request.
pub(super) fn read(source: &mut Bytes<'_>) -> Request {
    let (set, kind) = RULE_OPERATIONS[index(source, RULE_OPERATIONS.len())];
    let broadcast = kind == OperationKind::Broadcast;
    let count = if broadcast { 1 } else { 1 + small(source, 4) };
    let rules = rules(source, set, broadcast || count > 1);
    let mut target = if broadcast { shape(source) } else { Vec::new() };
    let mut calls = 0;
    let expression =
        if broadcast { Expression::operand(0) } else { expression(source, count, 0, &mut calls) };
    let wrt = if kind == OperationKind::Gradient { index(source, count) } else { 0 };
    let (mut headers, mut shapes) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut before = DType::F64;
    for _ in 0..count {
        let (header, mut lengths) = header(source, set, before);
        before = header.dtype;
        if header.view.is_none() {
            cut(&mut lengths);
        }
        headers.push(header);
        shapes.push(lengths);
    }
    let dimensions = match &rules {
        Rules::Xla { broadcast_dimensions } => broadcast_dimensions.clone(),
        Rules::None
        | Rules::Numpy
        | Rules::Pdpd { .. }
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => None,
    };
    let nodes = expression.nodes().len();
    shrink(&mut shapes, &mut target, |operands, target| {
        let dimensions = dimensions.as_deref();
        is_within(&Shapes { set, operation: kind, operands, target, dimensions, wrt, nodes }, MAX_WORK)
    });
    let operands = operands(source, headers, shapes);
    let operation = match kind {
        OperationKind::Broadcast => Operation::Broadcast { target_shape: Shape::new(target) },
        OperationKind::Elementwise => Operation::Elementwise { expression },
        OperationKind::Gradient => Operation::Gradient { expression, wrt },
    };
    Request::new(rules, operation, operands).expect("what would be malformed was corrected")
}

/// A byte as an index into a list.
fn index(source: &mut Bytes<'_>, length: usize) -> usize {
    usize::from(byte(source)) % length
}

#[allow(clippy::cast_possible_truncation, reason = "a number of one byte is below 256")]
fn byte(source: &mut Bytes<'_>) -> u8 {
    source.number(1) as u8
}

/// A byte as a number below `limit`, or literally.
fn small(source: &mut Bytes<'_>, limit: u8) -> usize {
    let byte = byte(source);
    usize::from(byte.checked_sub(LITERAL).unwrap_or(byte % limit))
}

/// Unsigned LEB128: seven bits per byte, the lowest first.
fn length(source: &mut Bytes<'_>) -> u64 {
    let mut number = 0u64;
    for place in 0..10 {
        let byte = byte(source);
        number |= u64::from(byte & 127) << (7 * place);
        if byte < 128 {
            break;
        }
    }
    number
}

fn size(source: &mut Bytes<'_>) -> usize {
    usize::try_from(length(source)).unwrap_or(usize::MAX)
}

/// Zigzag: 0, -1, 1, -2, …
fn integer(source: &mut Bytes<'_>) -> i64 {
    let number = length(source);
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

fn shape(source: &mut Bytes<'_>) -> Vec<usize> {
    let rank = small(source, 6);
    (0..rank).map(|_| size(source)).collect()
}

/// `placed`: whether there is something on which an operand is placed.
fn rules(source: &mut Bytes<'_>, set: RuleSet, placed: bool) -> Rules {
    match Rules::from(set) {
        bare @ (Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat) => bare,
        Rules::Pdpd { .. } => Rules::Pdpd { axis: (placed && byte(source) != 0).then(|| integer(source)) },
        Rules::Xla { .. } => {
            let count = if placed { index(source, MAX_RANK + 2) } else { 0 };
            let list = count.checked_sub(1).map(|count| (0..count).map(|_| integer(source)).collect());
            Rules::Xla { broadcast_dimensions: list }
        }
    }
}

fn expression(source: &mut Bytes<'_>, operands: usize, depth: usize, calls: &mut usize) -> Expression {
    let byte = usize::from(byte(source));
    if byte < 128 || depth == MAX_EXPRESSION_DEPTH || *calls == MAX_CALLS {
        return Expression::operand(byte % operands);
    }
    *calls += 1;
    let function = Function::ALL[(byte - 128) % Function::ALL.len()];
    let arguments: Vec<Expression> =
        (0..function.arity()).map(|_| expression(source, operands, depth + 1, calls)).collect();
    Expression::call(function, arguments).expect("as many arguments as the function takes")
}

fn header(source: &mut Bytes<'_>, set: RuleSet, before: DType) -> (Header, Vec<usize>) {
    let dtype = byte(source);
    let dtype = if dtype < SAME { DType::ALL[usize::from(dtype) % DType::ALL.len()] } else { before };
    let bits = byte(source);
    let name = (bits & 4 != 0).then(|| own_name(source));
    let shape = shape(source);
    let flags = (bits & 2 != 0 && set == RuleSet::Theano).then(|| flags(source, shape.len()));
    let view = (bits & 1 != 0).then(|| View {
        strides: shape.iter().map(|_| integer(source)).collect(),
        offset: size(source),
        length: size(source),
    });
    (Header { dtype, name, flags, view }, shape)
}

/// The characters of names, in the order of their bytes.
pub(super) const LETTERS: &[u8; 37] = b"abcdefghijklmnopqrstuvwxyz0123456789_";

fn own_name(source: &mut Bytes<'_>) -> String {
    let length = 1 + index(source, MAX_NAME);
    let letter = |at| char::from(LETTERS[index(source, if at == 0 { 26 } else { LETTERS.len() })]);
    (0..length).map(letter).collect()
}

fn flags(source: &mut Bytes<'_>, rank: usize) -> Vec<bool> {
    let bytes: Vec<u8> = (0..rank.div_ceil(8)).map(|_| byte(source)).collect();
    (0..rank).map(|axis| bytes[axis / 8] >> (axis % 8) & 1 == 1).collect()
}

/// Reduces lengths until the work is within bounds: first the long ones, then all.
fn shrink(shapes: &mut [Vec<usize>], target: &mut [usize], fits: impl Fn(&[Vec<usize>], &[usize]) -> bool) {
    for most in [8, 2] {
        if fits(shapes, target) {
            return;
        }
        let lengths = shapes.iter_mut().flatten().chain(target.iter_mut());
        lengths.filter(|length| **length >= most).for_each(|length| *length %= most);
    }
}

fn operands(source: &mut Bytes<'_>, headers: Vec<Header>, shapes: Vec<Vec<usize>>) -> Vec<Operand> {
    let mut names: Vec<String> = Vec::with_capacity(headers.len());
    let mut operands = Vec::with_capacity(headers.len());
    for (place, (header, shape)) in headers.into_iter().zip(shapes).enumerate() {
        let name = unused(header.name, place, &names);
        names.push(name.clone());
        let operand = match header.view {
            Some(view) => {
                let View { strides, offset, length } = inside(view, &shape);
                let values = values(source, header.dtype, length);
                Operand::view(name, shape, values, Some(strides), offset)
            }
            None => {
                let values = values(source, header.dtype, Shape::from(&shape[..]).count().unwrap_or(0));
                Operand::dense(name, shape, values)
            }
        };
        let operand = operand.expect("what would be malformed was corrected");
        operands.push(match header.flags {
            Some(flags) => operand.with_broadcastable(flags).expect("one flag per axis"),
            None => operand,
        });
    }
    operands
}

/// The name, or another one if it is a function's or an earlier operand's.
fn unused(own: Option<String>, place: usize, names: &[String]) -> String {
    let fits = |name: &String| name.parse::<Function>().is_err() && !names.contains(name);
    let usual = [own, Some(name(place)), Some(format!("x{place}"))];
    let found = usual.into_iter().flatten().find(fits);
    found.unwrap_or_else(|| {
        // There are more names here than operands, so one is free.
        let free = (0..=names.len()).map(|at| format!("z{at}_")).find(fits);
        free.unwrap_or_else(|| format!("x{place}"))
    })
}

/// Reduces a shape to what a dense operand may have.
fn cut(shape: &mut [usize]) {
    if shape.contains(&0) {
        return;
    }
    let mut count = 1;
    for length in shape.iter_mut().rev() {
        let fits = |length: usize| length <= MAX_VALUES / count;
        if !fits(*length) {
            *length = (*length % 8).max(1);
        }
        if !fits(*length) {
            *length = 1;
        }
        count *= *length;
    }
}

/// A view that stays inside its buffer: as long as it does not, an axis gets the stride 0, outermost first.
fn inside(mut view: View, shape: &[usize]) -> View {
    view.length = view.length.min(MAX_VALUES);
    if shape.contains(&0) {
        return view;
    }
    view.length = view.length.max(1);
    for axis in 0..=shape.len() {
        let (mut low, mut high) = (view.offset as i128, view.offset as i128);
        for (&length, &stride) in shape.iter().zip(&view.strides) {
            let reach = (length as i128 - 1).saturating_mul(stride.into());
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        if low >= 0 && high < view.length as i128 {
            return view;
        }
        match view.strides.get_mut(axis) {
            Some(stride) if shape[axis] != 1 => *stride = 0,
            _ => {}
        }
    }
    view.offset %= view.length;
    view
}

#[allow(clippy::cast_possible_truncation, reason = "as many bytes as the dtype has")]
fn values(source: &mut Bytes<'_>, dtype: DType, count: usize) -> Data {
    macro_rules! data {
        ($($variant:ident $bytes:literal $of:expr;)*) => {
            match dtype {
                $(DType::$variant => {
                    Data::$variant((0..count).map(|_| $of(source.number($bytes))).collect())
                })*
            }
        };
    }
    data! {
        F64 8 |bits| f64::from_bits(quiet(bits, 52, 64));
        F32 4 |bits| f32::from_bits(quiet(bits, 23, 32) as u32);
        F16 2 |bits| f16::from_bits(quiet(bits, 10, 16) as u16);
        Bf16 2 |bits| bf16::from_bits(quiet(bits, 7, 16) as u16);
        I64 8 u64::cast_signed;
        I32 4 |bits| (bits as u32).cast_signed();
        I16 2 |bits| (bits as u16).cast_signed();
        I8 1 |bits| (bits as u8).cast_signed();
        U64 8 |bits| bits;
        U32 4 |bits| bits as u32;
        U16 2 |bits| bits as u16;
        U8 1 |bits| bits as u8;
        Bool 1 |bits| bits & 1 == 1;
    }
}
