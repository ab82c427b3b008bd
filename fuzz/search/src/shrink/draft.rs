//! A request split into parts, so that any part can be changed and the whole put together again.

use broadcheck::relations::rewrite::{elements, gathered};
use broadcheck_reference::{Alignment, align};
use broadcheck_spec::{Data, Expression, Operand, Operation, Request, Rules, Scalar, Shape};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A request in parts. Not every change leaves a well-formed request: see [`Draft::request`].
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) rules: Rules,
    pub(super) operation: Operation,
    pub(super) pieces: Vec<Piece>,
    /// Whether the cotangent of a gradient, if there is one, has the shape of the result.
    pub(super) weighs: bool,
}

/// The end of an axis whose elements are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

impl End {
    pub(super) const BOTH: [End; 2] = [End::First, End::Last];
}

/// The largest cotangent, in elements, that is made for another shape.
const MOST_WEIGHTS: usize = 1 << 20;

/// An operand in parts.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) values: Data,
    pub(super) strides: Option<Vec<i64>>,
    pub(super) offset: usize,
    pub(super) flags: Option<Vec<bool>>,
    /// Whether the values are those of the destination, and not these.
    pub(super) reads_destination: bool,
    /// Whether the operand is given as a constant.
    pub(super) constant: bool,
    /// The operand whose array this one is given as.
    pub(super) same: Option<String>,
}

impl Draft {
    pub(super) fn of(request: &Request) -> Draft {
        let piece = |operand: &Operand| Piece {
            name: operand.name().into(),
            shape: operand.shape().to_vec(),
            values: if operand.reads_destination() {
                Data::empty(operand.dtype())
            } else {
                operand.values().clone()
            },
            strides: operand.strides().map(<[i64]>::to_vec),
            offset: operand.offset(),
            flags: operand.broadcastable().map(<[bool]>::to_vec),
            reads_destination: operand.reads_destination(),
            constant: operand.is_constant(),
            same: operand.same().map(str::to_owned),
        };
        Draft {
            rules: request.rules().clone(),
            operation: request.operation().clone(),
            pieces: request.operands().iter().map(piece).collect(),
            weighs: align(request).is_ok(),
        }
    }

    /// The request, if the parts are well-formed.
    pub(super) fn request(&self) -> Option<Request> {
        let operands = self.operands()?;
        let operation = match &self.operation {
            vjp @ Operation::Vjp { .. } if self.weighs => self.with_fitting_cotangent(vjp, &operands)?,
            same @ (Operation::Elementwise { .. }
            | Operation::Into { .. }
            | Operation::Broadcast { .. }
            | Operation::Gradient { .. }
            | Operation::Vjp { .. }) => same.clone(),
        };
        Request::new(self.rules.clone(), operation, operands).ok()
    }

    fn operands(&self) -> Option<Vec<Operand>> {
        let Some(place) = self.operation.destination() else {
            return self.pieces.iter().map(|piece| self.settled(piece).operand()).collect();
        };
        let destination = self.pieces[place].operand()?;
        let operand =
            |piece: &Piece| if piece.reads_destination { piece.of(&destination) } else { piece.operand() };
        self.pieces.iter().map(operand).collect()
    }

    /// The piece, which is equal to the one whose array it is given as, if there is one.
    fn settled(&self, piece: &Piece) -> Piece {
        let first = piece.same.as_ref().and_then(|name| self.pieces.iter().find(|first| first.name == *name));
        match first {
            Some(first) => Piece { name: piece.name.clone(), same: piece.same.clone(), ..first.clone() },
            None => piece.clone(),
        }
    }

    /// The same without a destination; operands that read its buffer have copies of it.
    pub(super) fn without_destination(&self) -> Option<Draft> {
        let expression = self.expression()?.clone();
        let mut changed = Draft { operation: Operation::Elementwise { expression }, ..self.clone() };
        let destination = self.pieces[self.operation.destination()?].values.clone();
        changed.pieces.iter_mut().for_each(|piece| piece.take_copy(&destination));
        Some(changed)
    }

    /// The gradient with a cotangent of the shape that the result now has. It keeps its values as far as
    /// there are any, and starts again after the last.
    fn with_fitting_cotangent(&self, vjp: &Operation, operands: &[Operand]) -> Option<Operation> {
        let Operation::Vjp { expression, wrt, target_shape, cotangent } = vjp else { return None };
        let forward = match target_shape {
            Some(target_shape) => Operation::Broadcast { target_shape: target_shape.clone() },
            None => Operation::Elementwise { expression: expression.clone() },
        };
        let forward = Request::new(self.rules.clone(), forward, operands.to_vec()).ok()?;
        let Ok(Alignment { shape, .. }) = align(&forward) else { return Some(vjp.clone()) };
        if shape == *cotangent.shape() {
            return Some(vjp.clone());
        }
        let count = shape.count().filter(|&count| count <= MOST_WEIGHTS)?;
        let weights: Vec<Scalar> = cotangent.values().iter().collect();
        let values = Data::from_scalars(cotangent.dtype(), weights.into_iter().cycle().take(count)).ok()?;
        let cotangent = Box::new(Operand::dense(cotangent.name(), shape, values).ok()?);
        let (expression, target_shape) = (expression.clone(), target_shape.clone());
        Some(Operation::Vjp { expression, wrt: *wrt, target_shape, cotangent })
    }

    pub(super) fn expression(&self) -> Option<&Expression> {
        self.operation.expression()
    }

    pub(super) fn with_expression(&self, expression: Expression) -> Draft {
        let operation = match &self.operation {
            Operation::Elementwise { .. } => Operation::Elementwise { expression },
            Operation::Into { destination, .. } => Operation::Into { expression, destination: *destination },
            Operation::Gradient { wrt, .. } => Operation::Gradient { expression, wrt: *wrt },
            Operation::Vjp { wrt, target_shape, cotangent, .. } => Operation::Vjp {
                expression,
                wrt: *wrt,
                target_shape: target_shape.clone(),
                cotangent: cotangent.clone(),
            },
            broadcast @ Operation::Broadcast { .. } => broadcast.clone(),
        };
        Draft { operation, ..self.clone() }
    }

    pub(super) fn target(&self) -> Option<&Shape> {
        self.operation.target_shape()
    }

    /// The number of shapes: the operands' shapes, and the target if there is one.
    pub(super) fn shape_count(&self) -> usize {
        self.pieces.len() + usize::from(self.target().is_some())
    }

    /// The lengths of a shape. The target comes after the operands.
    pub(super) fn shape(&self, place: usize) -> &[usize] {
        match self.pieces.get(place) {
            Some(piece) => &piece.shape,
            None => self.target().map_or(&[], |target| target),
        }
    }

    /// Changes the length of an axis of a shape. If it becomes shorter, the elements at one end are kept.
    pub(super) fn set_length(&mut self, place: usize, axis: usize, length: usize, end: End) {
        match self.pieces.get_mut(place) {
            Some(piece) => piece.set_length(axis, length, place, end),
            None => self.change_target(|lengths| lengths[axis] = length),
        }
    }

    /// Removes an axis from a shape, keeping only the elements at one end of it.
    pub(super) fn remove_axis(&mut self, place: usize, axis: usize, end: End) {
        match self.pieces.get_mut(place) {
            Some(piece) => piece.remove_axis(axis, place, end),
            None => self.change_target(|lengths| {
                lengths.remove(axis);
            }),
        }
    }

    fn change_target(&mut self, change: impl FnOnce(&mut Vec<usize>)) {
        if let Operation::Broadcast { target_shape }
        | Operation::Vjp { target_shape: Some(target_shape), .. } = &mut self.operation
        {
            let mut lengths = target_shape.to_vec();
            change(&mut lengths);
            *target_shape = Shape::new(lengths);
        }
    }

    /// A hash that identifies drafts that were already tried.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{:?} {:?}", self.rules, self.operation).hash(&mut hasher);
        for piece in &self.pieces {
            let Piece { name, shape, strides, offset, flags, reads_destination, constant, same, .. } = piece;
            (name, shape, strides, offset, flags, reads_destination, constant, same).hash(&mut hasher);
            piece.values.dtype().hash(&mut hasher);
            piece.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        }
        hasher.finish()
    }
}

impl Piece {
    fn of(&self, destination: &Operand) -> Option<Operand> {
        let offset = self.strides.as_ref().map(|_| self.offset);
        Operand::of(destination, self.name.as_str(), self.shape.clone(), self.strides.clone(), offset).ok()
    }

    /// Gives a piece that reads the destination's buffer a copy of it.
    pub(super) fn take_copy(&mut self, buffer: &Data) {
        if std::mem::take(&mut self.reads_destination) {
            self.values = buffer.clone();
        }
    }

    pub(super) fn operand(&self) -> Option<Operand> {
        let (name, shape, values) = (self.name.clone(), self.shape.clone(), self.values.clone());
        let operand = match &self.strides {
            None => Operand::dense(name, shape, values).ok()?,
            Some(strides) => Operand::view(name, shape, values, Some(strides.clone()), self.offset).ok()?,
        };
        let operand = match &self.flags {
            Some(flags) => operand.with_broadcastable(flags.clone()).ok()?,
            None => operand,
        };
        let operand = if self.constant { operand.as_constant() } else { operand };
        Some(match &self.same {
            Some(name) => operand.same_as(name.as_str()),
            None => operand,
        })
    }

    /// Replaces a view by the dense operand that it shows, if that is not too large.
    pub(super) fn make_dense(&mut self) -> Option<()> {
        self.values = elements(&self.operand()?)?;
        (self.strides, self.offset) = (None, 0);
        Some(())
    }

    fn set_length(&mut self, axis: usize, length: usize, place: usize, end: End) {
        let before = std::mem::replace(&mut self.shape[axis], length);
        let skipped = if end == End::Last { before.saturating_sub(length) } else { 0 };
        match &self.strides {
            Some(strides) => self.offset = moved(self.offset, strides[axis], skipped),
            None => self.cut(axis, before, length, skipped, place),
        }
        if length != 1
            && let Some(flags) = &mut self.flags
        {
            flags[axis] = false;
        }
    }

    fn remove_axis(&mut self, axis: usize, place: usize, end: End) {
        self.set_length(axis, 1, place, end);
        self.shape.remove(axis);
        if let Some(strides) = &mut self.strides {
            strides.remove(axis);
        }
        if let Some(flags) = &mut self.flags {
            flags.remove(axis);
        }
    }

    /// Keeps some of the elements along an axis whose length was `before`. If there are too few, the values
    /// become plain ones.
    fn cut(&mut self, axis: usize, before: usize, length: usize, skipped: usize, place: usize) {
        let enough = length <= before;
        let kept = if enough { self.along(axis, before, skipped..skipped + length) } else { None };
        let count = Shape::from(&self.shape[..]).count().filter(|&count| count <= 1 << 20);
        let plain = || {
            let dtype = self.values.dtype();
            let values = (0..count?).map(|at| plain(dtype, at, place));
            Data::from_scalars(dtype, values).ok()
        };
        if let Some(values) = kept.filter(|kept| Some(kept.len()) == count).or_else(plain) {
            self.values = values;
        }
    }

    fn along(&self, axis: usize, before: usize, kept: std::ops::Range<usize>) -> Option<Data> {
        let inner = Shape::from(&self.shape[axis + 1..]).count()?;
        let outer = Shape::from(&self.shape[..axis]).count()?;
        if inner == 0 || outer == 0 {
            return Some(Data::empty(self.values.dtype()));
        }
        let rows = (0..outer).flat_map(|row| kept.clone().map(move |at| row * before + at));
        let positions: Vec<usize> = rows.flat_map(|row| (0..inner).map(move |at| row * inner + at)).collect();
        gathered(&self.values, &positions)
    }
}

/// The offset some steps further along an axis. An offset that is out of range is not a valid operand.
fn moved(offset: usize, stride: i64, steps: usize) -> usize {
    let moved = offset as i128 + i128::from(stride).saturating_mul(steps as i128);
    usize::try_from(moved).unwrap_or(usize::MAX)
}

/// The plain value at a position of an operand's buffer: 1, 2, 3, … in the first operand, 10, 20, 30, … in
/// the second, so that each value shows where it comes from. If the dtype is too narrow, values start again
/// from 1.
pub(super) fn plain(dtype: broadcheck_spec::DType, at: usize, operand: usize) -> Scalar {
    use broadcheck_spec::DType;
    let limit = match dtype {
        DType::Bool => return Scalar::Bool(at.is_multiple_of(2)),
        DType::I8 | DType::Bf16 => 100,
        DType::U8 => 200,
        DType::F16 => 2000,
        DType::I16 | DType::U16 => 30_000,
        DType::F64 | DType::F32 | DType::I64 | DType::I32 | DType::U64 | DType::U32 => 1_000_000,
    };
    let scale = 10usize.pow(u32::try_from(operand.min(5)).unwrap_or(5));
    let value = (at + 1).saturating_mul(scale);
    let value = if value <= limit { value } else { at % limit + 1 };
    converted(Scalar::U64(value as u64), dtype)
}

/// A value converted to the nearest one of a dtype.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the nearest value is intended"
)]
pub(super) fn converted(value: Scalar, dtype: broadcheck_spec::DType) -> Scalar {
    use broadcheck_spec::DType;
    use broadcheck_spec::half::{bf16, f16};
    if value.dtype() == dtype {
        return value;
    }
    let float = if let Scalar::Bool(value) = value {
        f64::from(u8::from(value))
    } else {
        value.as_f64().or_else(|| value.as_i128().map(|whole| whole as f64)).unwrap_or(0.0)
    };
    match dtype {
        DType::F64 => Scalar::F64(float),
        DType::F32 => Scalar::F32(float as f32),
        DType::F16 => Scalar::F16(f16::from_f64(float)),
        DType::Bf16 => Scalar::Bf16(bf16::from_f64(float)),
        DType::I64 => Scalar::I64(float as i64),
        DType::I32 => Scalar::I32(float as i32),
        DType::I16 => Scalar::I16(float as i16),
        DType::I8 => Scalar::I8(float as i8),
        DType::U64 => Scalar::U64(float as u64),
        DType::U32 => Scalar::U32(float as u32),
        DType::U16 => Scalar::U16(float as u16),
        DType::U8 => Scalar::U8(float as u8),
        DType::Bool => Scalar::Bool(float != 0.0),
    }
}
