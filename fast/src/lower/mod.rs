//! Lowering: each rule set decides independently whether the operands can be broadcast together, and maps
//! every axis of the result to an axis of each operand. Nothing after this step knows the rule set.
#![deny(clippy::wildcard_enum_match_arm)]

mod bidirectional;
mod none;
mod numpy;
mod pdpd;
mod theano;
mod types;
mod xla;

pub(crate) use theano::flags;
pub(crate) use types::expression_dtype;
pub(crate) use xla::{in_dim, intermediate};

use crate::inline_capacity::{OPERAND_AXES, filled};
use broadcheck_spec::{DType, Operand, Operation, Refusal, RefusalKind, Request, RuleSet, Rules, Shape};
use smallvec::SmallVec;

/// Lengths of axes, outermost first.
pub(crate) type Lengths = SmallVec<[usize; 6]>;

/// In a map: the operand has no such axis or is stretched along it, so its position does not change.
pub(crate) const STRETCHED: u32 = u32::MAX;

/// For each operand and each axis of a result, the operand's own axis, or [`STRETCHED`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Maps {
    rank: usize,
    axes: SmallVec<[u32; OPERAND_AXES]>,
}

impl Maps {
    /// Adds the map of the next operand: for each axis of the result, the operand's own axis, if it has one.
    #[inline]
    fn push(&mut self, rank: usize, map: impl Fn(usize) -> Option<usize>) {
        self.rank = rank;
        for axis in 0..rank {
            let own = map(axis).and_then(|own| u32::try_from(own).ok());
            self.axes.push(own.unwrap_or(STRETCHED));
        }
    }

    /// Maps of this many operands that are stretched along every axis.
    #[inline]
    fn stretched(operands: usize, rank: usize) -> Maps {
        Maps { rank, axes: filled(STRETCHED, operands * rank) }
    }

    /// Aligns the last axis of a stretched operand with the last axis of the result. An axis whose length
    /// differs from the result's stays stretched.
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

/// The layout of the operands under the result. Rule sets fill it in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lowered {
    /// The shape of the (underlying) result.
    pub(crate) shape: Lengths,
    /// One map per operand.
    pub(crate) maps: Maps,
}

/// The lower-rank operand after the in-dim step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intermediate {
    pub(crate) operand: usize,
    pub(crate) shape: Lengths,
    pub(crate) maps: Maps,
}

/// The shapes of a request's operands.
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

/// Lowers a request or refuses it, with checks in the order of clause G-6. Returns the dtype of the
/// (underlying) result.
pub(crate) fn lower(request: &Request, into: &mut Lowered) -> Result<DType, Refusal> {
    let shapes = Shapes(request);
    check_operand_count(request.rules().set(), shapes.len())?;
    let dtype = types::check(request)?;
    match request.operation() {
        Operation::Broadcast { target_shape } => match request.rules() {
            Rules::Numpy => numpy::onto(shapes.of(0), target_shape, into)?,
            // `Request` rejects `broadcast` under the other rule sets.
            Rules::Bidirectional | Rules::None | Rules::Pdpd { .. } | Rules::Xla { .. } | Rules::Theano => {
                bidirectional::lower(shapes.of(0), target_shape, into)?;
            }
        },
        Operation::Elementwise { .. } | Operation::Gradient { .. } => match request.rules() {
            // `Request` rejects expressions under `bidirectional`.
            Rules::None | Rules::Bidirectional => none::lower(&shapes, into)?,
            Rules::Numpy => numpy::lower(&shapes, into)?,
            Rules::Pdpd { axis } => pdpd::lower(&shapes, *axis, into)?,
            Rules::Xla { broadcast_dimensions } => {
                xla::lower(&shapes, broadcast_dimensions.as_deref().unwrap_or(&[]), into)?;
            }
            Rules::Theano => theano::lower(request, into)?,
        },
    }
    check_sizes(request, &into.shape)?;
    Ok(dtype)
}

/// Clause G-5.
pub(crate) fn check_operand_count(rules: RuleSet, count: usize) -> Result<(), Refusal> {
    if rules.operands().allows(count) {
        return Ok(());
    }
    let message = format!("{count} operands under {rules}, expected {}", rules.operands());
    Err(Refusal::new(RefusalKind::OperandCount, message))
}

/// Clause G-1: for every operand, the target and the result, the product of the nonzero lengths is at most
/// 2^63 - 1.
fn check_sizes(request: &Request, result: &[usize]) -> Result<(), Refusal> {
    let target = match request.operation() {
        Operation::Broadcast { target_shape } => Some(target_shape.lengths()),
        Operation::Elementwise { .. } | Operation::Gradient { .. } => None,
    };
    // A dense operand that has values has one for each element of its shape.
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

/// The number of elements, or `None` if the product of the nonzero lengths exceeds 2^63 - 1.
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
    let message = format!("lengths {one} and {other} cannot be broadcast together");
    Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis)
}

/// Clause G-2: the common length of two axes, if there is one.
fn common(one: usize, other: usize) -> Option<usize> {
    match (one, other) {
        (1, length) | (length, 1) => Some(length),
        _ => (one == other).then_some(one),
    }
}
