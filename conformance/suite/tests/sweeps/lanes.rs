//! Faults that show only in whole vectors, in one lane, in the tail, for a repeated operand, or in views
//! larger than a block: the sweeps about these catch each of them.

use crate::{Faulty, shipped};
use broadcheck::sweeps::run_sweep;
use broadcheck_reference::{Reference, apply};
use broadcheck_spec::{
    Data, Function, Implementation, Node, Operand, Operation, Outcome, Request, Scalar, Tensor,
};

/// An element of an answer: what it was computed from, and where it is.
struct Element<'a> {
    request: &'a Request,
    /// The function, if the expression is a single one.
    function: Option<Function>,
    /// The elements that it was computed from.
    arguments: Vec<Scalar>,
    place: usize,
    /// The number of elements of the answer.
    length: usize,
    /// The answer's elements.
    answer: &'a [Scalar],
}

impl Element<'_> {
    /// The lanes of a vector of 64 bytes of the first argument's dtype.
    fn lanes(&self) -> usize {
        lanes(self.arguments[0])
    }

    fn in_whole_vector(&self) -> bool {
        self.place < self.length / self.lanes() * self.lanes()
    }

    fn is(&self, function: Function) -> bool {
        self.function == Some(function)
    }
}

fn lanes(value: Scalar) -> usize {
    match value {
        Scalar::F64(_) | Scalar::I64(_) | Scalar::U64(_) => 8,
        Scalar::F32(_) | Scalar::I32(_) | Scalar::U32(_) => 16,
        Scalar::F16(_) | Scalar::Bf16(_) | Scalar::I16(_) | Scalar::U16(_) => 32,
        Scalar::I8(_) | Scalar::U8(_) | Scalar::Bool(_) => 64,
    }
}

fn is_nan(value: Scalar) -> bool {
    value.as_f64().is_some_and(f64::is_nan)
}

/// The answer of the reference to what a fault computes instead of the request, with what it answers instead
/// of an element.
fn answer(
    request: &Request,
    misread: fn(&Request) -> Option<Request>,
    miscomputed: fn(&Element<'_>) -> Option<Scalar>,
) -> Outcome {
    let mut outcome = Reference.run(misread(request).as_ref().unwrap_or(request));
    if let Outcome::Success(success) = &mut outcome {
        let (shape, values) = success.tensor.clone().into_parts();
        let answer: Vec<Scalar> = values.iter().collect();
        let columns = shape.lengths().last().copied().unwrap_or(1);
        let read = |operand: &Operand, place: usize| {
            let place = match operand.values().len() {
                1 => 0,
                length if length == answer.len() => place,
                _ => place / columns,
            };
            operand.values().get(place)
        };
        let expression = request.operation().expression();
        let function = expression.and_then(|expression| match expression.nodes() {
            [Node::Operand(_), .., Node::Call(call)] if expression.calls().count() == 1 => {
                Some(call.function())
            }
            _ => None,
        });
        let element = |(place, &right): (usize, &Scalar)| {
            let arguments = request.operands().iter().filter_map(|operand| read(operand, place)).collect();
            let length = answer.len();
            let element = Element { request, function, arguments, place, length, answer: &answer };
            miscomputed(&element).unwrap_or(right)
        };
        let wrong = answer.iter().enumerate().map(element);
        success.tensor = Tensor::new(shape, Data::from_scalars(values.dtype(), wrong).unwrap()).unwrap();
    }
    outcome
}

/// The number of cases of a shipped sweep that fail.
fn failed(
    id: &str,
    misread: fn(&Request) -> Option<Request>,
    miscomputed: fn(&Element<'_>) -> Option<Scalar>,
) -> u64 {
    let faulty = Faulty(|request: &Request| Some(answer(request, misread, miscomputed)));
    run_sweep(&faulty, shipped(id), None).failed
}

#[track_caller]
fn miscomputed(sweeps: &[&str], fault: fn(&Element<'_>) -> Option<Scalar>) {
    for id in sweeps {
        assert!(failed(id, |_| None, fault) > 0, "{id}");
    }
}

#[track_caller]
fn misread(sweeps: &[&str], fault: fn(&Request) -> Option<Request>) {
    for id in sweeps {
        assert!(failed(id, fault, |_| None) > 0, "{id}");
    }
}

#[test]
fn wrong_only_in_whole_vectors() {
    // The unsigned maximum is taken as signed.
    miscomputed(&["none/lanes/u8", "pdpd/lanes/u8", "xla/lanes/u8", "theano/lanes/u8"], |at| {
        let [Scalar::U8(a), Scalar::U8(b)] = at.arguments[..] else { return None };
        let wrong = Scalar::U8(a.cast_signed().max(b.cast_signed()).cast_unsigned());
        (at.is(Function::Maximum) && at.in_whole_vector()).then_some(wrong)
    });
    // NaN equals NaN.
    miscomputed(&["theano/lanes/f32", "xla/lanes/bf16"], |at| {
        let wrong =
            at.is(Function::NotEqual) && at.in_whole_vector() && at.arguments.iter().all(|&x| is_nan(x));
        wrong.then_some(Scalar::Bool(false))
    });
    // The addition saturates.
    miscomputed(&["theano/lanes/u8"], |at| {
        let [Scalar::U8(a), Scalar::U8(b)] = at.arguments[..] else { return None };
        (at.is(Function::Add) && at.in_whole_vector()).then_some(Scalar::U8(a.saturating_add(b)))
    });
    // The absolute value of the least number saturates.
    miscomputed(&["theano/lanes/i16"], |at| {
        let [Scalar::I16(a)] = at.arguments[..] else { return None };
        (at.is(Function::Abs) && at.in_whole_vector()).then_some(Scalar::I16(a.saturating_abs()))
    });
    // The division multiplies by the reciprocal.
    miscomputed(&["theano/lanes/f32"], |at| {
        let [Scalar::F32(a), Scalar::F32(b)] = at.arguments[..] else { return None };
        (at.is(Function::Divide) && at.in_whole_vector()).then_some(Scalar::F32(a * (1.0 / b)))
    });
    // A subnormal is flushed to zero.
    miscomputed(&["theano/lanes/f64"], |at| {
        let value = at.answer[at.place];
        (value.is_subnormal() && at.in_whole_vector()).then_some(Scalar::F64(0.0))
    });
}

#[test]
fn wrong_only_in_one_lane() {
    // Lane 37 of 64 compares as signed.
    miscomputed(&["theano/lanes/u8"], |at| {
        let [Scalar::U8(a), Scalar::U8(b)] = at.arguments[..] else { return None };
        let wrong = Scalar::Bool(a.cast_signed() < b.cast_signed());
        (at.is(Function::Less) && at.in_whole_vector() && at.place % 64 == 37).then_some(wrong)
    });
    // Lane 5 of 8 loses the sign of a zero quotient.
    miscomputed(&["theano/lanes/f64"], |at| {
        let zero = at.answer[at.place].as_f64() == Some(0.0);
        (at.is(Function::Divide) && zero && at.place % 8 == 5).then_some(Scalar::F64(0.0))
    });
    // One bit of a mask is lost where the seven bits before it are set.
    miscomputed(&["theano/lanes/i64"], |at| {
        let condition = at.request.operands()[0].values();
        let set = |place: usize| condition.get(place) == Some(Scalar::Bool(true));
        let full = at.is(Function::Select) && at.place % 8 == 7 && (at.place - 7..at.place).all(set);
        full.then(|| at.arguments[2])
    });
}

#[test]
fn wrong_only_in_the_tail() {
    // A NaN in the second place loses.
    miscomputed(&["theano/lanes/f32", "theano/lanes/f16"], |at| {
        let lost = at.is(Function::Minimum) && !at.in_whole_vector() && is_nan(*at.arguments.last()?);
        lost.then(|| at.arguments[0])
    });
    // The product of the last of 101 elements is taken in seven bits.
    miscomputed(&["numpy/lanes/i8"], |at| {
        let [Scalar::I8(a), Scalar::I8(b)] = at.arguments[..] else { return None };
        let last = at.is(Function::Multiply) && (at.place, at.length) == (100, 101);
        last.then_some(Scalar::I8(a.wrapping_mul(b) & 0x7f))
    });
}

#[test]
fn wrong_only_for_a_repeated_operand() {
    // Nothing is multiplied by zero.
    miscomputed(&["xla/lanes/f32", "theano/lanes/f32", "pdpd/lanes/f32"], |at| {
        let short = at.request.operands().get(1)?.values().len() < at.length;
        let zero = at.arguments.get(1)?.as_f64() == Some(0.0);
        (at.is(Function::Multiply) && short && zero).then_some(Scalar::F32(0.0))
    });
    // The arguments of a difference are swapped if the first is repeated.
    miscomputed(&["theano/lanes/u16", "xla/lanes/i32"], |at| {
        let short = at.request.operands()[0].values().len() < at.length;
        let [a, b] = at.arguments[..] else { return None };
        (at.is(Function::Subtract) && short).then(|| apply(Function::Subtract, &[b, a]))
    });
}

/// The request with other operands.
fn with_operands(request: &Request, change: impl Fn(usize, &Operand) -> Operand) -> Option<Request> {
    let operands: Vec<Operand> =
        request.operands().iter().enumerate().map(|(place, operand)| change(place, operand)).collect();
    let flags = request.operands().iter().map(Operand::broadcastable);
    let operands = operands.into_iter().zip(flags).map(|(operand, flags)| match flags {
        Some(flags) => operand.with_broadcastable(flags.to_vec()).unwrap(),
        None => operand,
    });
    Request::new(request.rules().clone(), request.operation().clone(), operands.collect()).ok()
}

/// The operand with other strides and another offset.
fn viewed(operand: &Operand, strides: &[i64], offset: usize) -> Operand {
    let (name, shape, values) = (operand.name(), operand.shape().clone(), operand.values().clone());
    Operand::view(name, shape, values, Some(strides.to_vec()), offset).unwrap_or_else(|_| operand.clone())
}

#[test]
fn views_are_misread_beyond_a_block() {
    let all =
        ["numpy/transposed/beyond-a-block", "numpy/transposed/beyond-128", "xla/transposed/beyond-a-block"];
    // In the last, partial tile of 16 columns, the rows beyond whole tiles are read one column too early.
    miscomputed(&all, |at| {
        let view = at.request.operands()[0].strides()?;
        let [rows, columns] = *at.request.operands()[0].shape().lengths() else { return None };
        let is_transposed = view[0] == 1 && at.length == rows * columns;
        let (row, column) = (at.place / columns, at.place % columns);
        let partial = row >= rows / 16 * 16 && column >= columns / 16 * 16 && column > 0;
        (is_transposed && partial).then(|| at.answer[at.place - 1])
    });
    // Strides in the inverse order, where that is inside the buffer.
    misread(&["numpy/permuted/ranks-3-and-4", "theano/permuted/rank-4"], |request| {
        with_operands(request, |_, operand| match operand.strides() {
            Some([first, rest @ ..]) => viewed(operand, &[rest, &[*first]].concat(), 0),
            _ => operand.clone(),
        })
    });
    // The seventh axis from the right is not moved along.
    misread(&["numpy/permuted/many-axes", "none/permuted/many-axes"], |request| {
        with_operands(request, |_, operand| match operand.strides() {
            Some(strides) if strides.len() > 6 => {
                let mut strides = strides.to_vec();
                let seventh = strides.len() - 7;
                strides[seventh] = 0;
                viewed(operand, &strides, operand.offset())
            }
            _ => operand.clone(),
        })
    });
}

#[test]
fn an_offset_is_misread_at_one_alignment() {
    misread(&["numpy/offsets/all"], |request| {
        with_operands(request, |_, operand| match (operand.strides(), operand.offset()) {
            (Some(strides), 3) => viewed(operand, strides, 2),
            _ => operand.clone(),
        })
    });
    // The last element of a row that begins 3 elements after a multiple of 64 bytes.
    miscomputed(&["numpy/offsets/all", "xla/offsets/some"], |at| {
        let operand = &at.request.operands()[0];
        let (&[apart, 1], &[_, columns]) = (operand.strides()?, operand.shape().lengths()) else {
            return None;
        };
        let start = at.place / columns * usize::try_from(apart).ok()?;
        let last = at.place % columns == columns - 1 && columns > 1;
        (start % lanes(operand.values().get(0)?) == 3 && last).then(|| at.answer[at.place - 1])
    });
}

#[test]
fn equal_buffers_are_taken_for_equal_operands() {
    let all = [
        "numpy/equal-buffers/short",
        "numpy/equal-buffers/beyond-a-block",
        "pdpd/equal-buffers/beyond-a-block",
    ];
    misread(&all, |request| {
        let [first, second] = request.operands() else { return None };
        if first.values() != second.values() {
            return None;
        }
        let strides = first.strides()?;
        with_operands(request, |_, operand| viewed(operand, strides, first.offset()))
    });
}

#[test]
fn the_gradient_by_a_view_is_misplaced() {
    // The gradient by a view is returned in the order of its buffer.
    miscomputed(&["numpy/transposed/beyond-a-block", "numpy/permuted/ranks-3-and-4"], |at| {
        let Operation::Gradient { wrt, .. } = at.request.operation() else { return None };
        at.request.operands()[*wrt].strides()?;
        Some(at.answer[at.length - 1 - at.place])
    });
}
