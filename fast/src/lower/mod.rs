//! Lowering: each rule set, on its own, decides whether the operands go together and says for every operand
//! which of its axes lies under which axis of the result. After this step nothing knows which rule set asked.

mod bidirectional;
mod none;
mod numpy;
mod pdpd;
mod theano;
mod types;
mod xla;

pub(crate) use theano::flags;
pub(crate) use xla::intermediate;

use crate::few::{CELLS, filled};
use broadcheck_spec::{DType, Operand, Operation, Refusal, RefusalKind, Request, Rules, Shape};
use smallvec::SmallVec;

/// Lengths of axes, outermost first.
pub(crate) type Lengths = SmallVec<[usize; 6]>;

/// In a map: the operand has no such axis, or is stretched along it, and so is read at one place.
pub(crate) const STRETCHED: u32 = u32::MAX;

/// For each operand, and each axis of a result, the operand's axis that is read; [`STRETCHED`] where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Maps {
    rank: usize,
    axes: SmallVec<[u32; CELLS]>,
}

impl Maps {
    /// The next operand's map: for each axis of the result the operand's own, if it has one there.
    #[inline]
    fn push(&mut self, rank: usize, map: impl Fn(usize) -> Option<usize>) {
        self.rank = rank;
        for axis in 0..rank {
            let own = map(axis).and_then(|own| u32::try_from(own).ok());
            self.axes.push(own.unwrap_or(STRETCHED));
        }
    }

    /// Maps of this many operands of which nothing is known yet: stretched everywhere.
    #[inline]
    fn stretched(operands: usize, rank: usize) -> Maps {
        Maps { rank, axes: filled(STRETCHED, operands * rank) }
    }

    /// Lays an operand of which nothing is known yet with its last axis under the result's last: an axis of another
    /// length than the result's is stretched.
    #[inline]
    fn right_align(&mut self, operand: usize, shape: &[usize], result: &[usize]) {
        let lead = self.rank - shape.len();
        let axes = &mut self.axes[operand * self.rank + lead..];
        for (own, (axis, (length, whole))) in
            (0u32..).zip(axes.iter_mut().zip(shape.iter().zip(&result[lead..])))
        {
            if length == whole {
                *axis = own;
            }
        }
    }

    /// The map of an operand.
    #[inline]
    pub(crate) fn of(&self, operand: usize) -> &[u32] {
        &self.axes[operand * self.rank..(operand + 1) * self.rank]
    }
}

/// How the operands lie under the result. Rule sets fill it in where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lowered {
    /// The shape of the (underlying) result.
    pub(crate) shape: Lengths,
    /// One map per operand.
    pub(crate) maps: Maps,
}

/// The lower operand after the in-dim step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intermediate {
    pub(crate) operand: usize,
    pub(crate) shape: Lengths,
    pub(crate) maps: Maps,
}

/// The shapes of a request's operands, seen by the rule sets.
pub(crate) struct Shapes<'a>(pub(crate) &'a Request);

impl<'a> Shapes<'a> {
    pub(crate) fn len(&self) -> usize {
        self.0.operands().len()
    }

    pub(crate) fn of(&self, operand: usize) -> &'a [usize] {
        self.0.operands()[operand].shape().lengths()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [usize]> + Clone {
        self.0.operands().iter().map(|operand| operand.shape().lengths())
    }

    pub(crate) fn highest_rank(&self) -> usize {
        self.iter().map(<[usize]>::len).max().unwrap_or(0)
    }
}

/// Decides a request and lowers it, or refuses it, in the order of clause G-6. The answer is the dtype of the
/// (underlying) result.
pub(crate) fn lower(request: &Request, into: &mut Lowered) -> Result<DType, Refusal> {
    let shapes = Shapes(request);
    if shapes.len() > 2 && matches!(request.rules(), Rules::Pdpd { .. } | Rules::Xla { .. }) {
        let message = format!("{} operands under {}", shapes.len(), request.rules().set());
        return Err(Refusal::new(RefusalKind::OperandCount, message));
    }
    let dtype = types::check(request)?;
    match (request.operation(), request.rules()) {
        (Operation::Broadcast { target_shape }, Rules::Numpy) => {
            numpy::onto(shapes.of(0), target_shape, into)?;
        }
        (Operation::Broadcast { target_shape }, _) => {
            bidirectional::lower(shapes.of(0), target_shape, into)?;
        }
        (_, Rules::None) => none::lower(&shapes, into)?,
        (_, Rules::Numpy) => numpy::lower(&shapes, into)?,
        (_, Rules::Pdpd { axis }) => pdpd::lower(&shapes, *axis, into)?,
        (_, Rules::Xla { broadcast_dimensions }) => {
            xla::lower(&shapes, broadcast_dimensions.as_deref().unwrap_or(&[]), into)?;
        }
        (_, Rules::Theano) => theano::lower(request, into)?,
        // Malformed by construction of `Request`; with one operand and no target it has the operand's shape.
        (_, Rules::Bidirectional) => none::lower(&shapes, into)?,
    }
    check_sizes(request, &into.shape)?;
    Ok(dtype)
}

/// Clause G-1: the lengths other than 0 of every operand, of the target and of the result multiply to at most
/// 2^63 - 1.
fn check_sizes(request: &Request, result: &[usize]) -> Result<(), Refusal> {
    let target = match request.operation() {
        Operation::Broadcast { target_shape } => Some(target_shape.lengths()),
        _ => None,
    };
    // A dense operand with values has as many as its shape says.
    let unknown = |operand: &&Operand| operand.strides().is_some() || operand.values().is_empty();
    let operands = request.operands().iter().filter(unknown).map(|operand| operand.shape().lengths());
    for shape in operands.chain(target).chain([result]) {
        if count(shape).is_none() {
            let message = format!("shape {} has more than 2^63-1 elements", Shape::from(shape));
            return Err(Refusal::new(RefusalKind::TooLarge, message));
        }
    }
    Ok(())
}

/// The number of elements; `None` where the lengths other than 0 multiply to more than 2^63 - 1.
pub(crate) fn count(lengths: &[usize]) -> Option<usize> {
    let mut product: i64 = 1;
    let mut empty = false;
    for &length in lengths {
        if length == 0 {
            empty = true;
        } else {
            product = product.checked_mul(i64::try_from(length).ok()?)?;
        }
    }
    if empty { Some(0) } else { usize::try_from(product).ok() }
}

fn mismatch(axis: usize, one: usize, other: usize) -> Refusal {
    let message = format!("lengths {one} and {other} do not go together");
    Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis)
}

/// Clause G-2: the common length of two, if they have one.
fn common(one: usize, other: usize) -> Option<usize> {
    match (one, other) {
        (1, length) | (length, 1) => Some(length),
        _ => (one == other).then_some(one),
    }
}
