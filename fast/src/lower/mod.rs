//! Lowering: each rule set decides independently whether the operands can be broadcast together, and maps
//! every axis of the result to an axis of each operand. Nothing after this step knows the rule set.
#![deny(clippy::wildcard_enum_match_arm)]

mod bidirectional;
mod leading;
mod none;
mod numpy;
mod pdpd;
mod repeat;
mod theano;
mod types;
mod xla;

pub(crate) use repeat::check_rank;
pub(crate) use theano::flags;
pub(crate) use types::{call_dtype, differentiable, expression_dtype};
pub(crate) use xla::{in_dim, intermediate, seats};

use crate::inline_capacity::{AXES, OPERAND_AXES, filled};
use crate::problem::{Computed, Form, Problem};
use crate::tiling::OperandLayout;
use broadcheck_spec::{DType, Refusal, RefusalKind, RuleSet, Rules, Shape};
use repeat::Cut;
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
    /// If the axes of the only operand are not in the order of the result's: the strides that it has if it is
    /// row-major. Otherwise empty, and those strides follow from the map.
    out_of_order: SmallVec<[i64; AXES]>,
}

impl Maps {
    /// Adds the map of the next operand: for each axis of the result, the operand's own axis, if it has one.
    #[inline]
    pub(crate) fn push(&mut self, rank: usize, map: impl Fn(usize) -> Option<usize>) {
        self.rank = rank;
        for axis in 0..rank {
            let own = map(axis).and_then(|own| u32::try_from(own).ok());
            self.axes.push(own.unwrap_or(STRETCHED));
        }
    }

    /// Maps of this many operands that are stretched along every axis.
    #[inline]
    fn stretched(operands: usize, rank: usize) -> Maps {
        Maps { rank, axes: filled(STRETCHED, operands * rank), out_of_order: SmallVec::new() }
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

    /// Places the only operand: for each axis of the result, its own axis, if it has one.
    fn place(&mut self, shape: &[usize], axes: &[Option<usize>]) {
        self.push(axes.len(), |axis| axes[axis]);
        let mut own = axes.iter().flatten();
        let mut before = own.next();
        let in_order = own.all(|next| before.replace(next).is_none_or(|before| before < next));
        if !in_order {
            let mut step: i64 = 1;
            for &length in shape.iter().rev() {
                self.out_of_order.push(step);
                step = step.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
            }
            self.out_of_order.reverse();
        }
    }

    /// The strides of a row-major operand whose axes are not in the order of the result's; `None` if they
    /// are.
    #[inline]
    pub(crate) fn row_major(&self) -> Option<&[i64]> {
        if self.out_of_order.is_empty() { None } else { Some(&self.out_of_order) }
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
    /// One map per operand, and then one for the cotangent, if there is one.
    pub(crate) maps: Maps,
    /// `repeat`: the axes of the result on which an operand is repeated, cut in two. Empty if there are none.
    cut: Cut,
}

impl Lowered {
    /// The lengths over which the elements are computed: those of the result, some of them cut in two.
    #[inline]
    pub(crate) fn loops(&self) -> &[usize] {
        self.cut.lengths().unwrap_or(&self.shape)
    }

    /// The layout of an operand.
    #[inline]
    pub(crate) fn layout<'a>(&'a self, form: &Form<'a>, place: usize) -> OperandLayout<'a> {
        self.laid_out(form, place, self.maps.row_major())
    }

    /// The layout of the cotangent, whose place is behind the operands. Its axes are those of the result.
    #[inline]
    pub(crate) fn layout_of_cotangent<'a>(&'a self, form: &Form<'a>, place: usize) -> OperandLayout<'a> {
        self.laid_out(form, place, None)
    }

    /// `dense` are the strides of a dense operand, if its axes are not in the order of the result's.
    #[inline]
    fn laid_out<'a>(&'a self, form: &Form<'a>, place: usize, dense: Option<&'a [i64]>) -> OperandLayout<'a> {
        let offset = if form.strides.is_none() { 0 } else { form.offset };
        if self.cut.lengths().is_some() {
            let (strides, map) = self.cut.of(place, false);
            return OperandLayout { offset, strides: Some(strides), map };
        }
        OperandLayout { offset, strides: form.strides.or(dense), map: self.maps.of(place) }
    }

    /// The layout of the gradient by an operand, which is dense.
    #[inline]
    pub(crate) fn layout_of_gradient(&self, wrt: usize) -> OperandLayout<'_> {
        if self.cut.lengths().is_some() {
            let (strides, map) = self.cut.of(wrt, true);
            return OperandLayout { offset: 0, strides: Some(strides), map };
        }
        OperandLayout { offset: 0, strides: self.maps.row_major(), map: self.maps.of(wrt) }
    }

    /// Whether the problem's answer is a gradient that is added up: its operand is stretched or permuted.
    #[inline]
    pub(crate) fn is_sum(&self, problem: &Problem<'_>) -> bool {
        match problem.computed {
            Computed::Gradient { wrt, .. } => !self.layout_of_gradient(wrt).is_whole(self.loops()),
            Computed::Elementwise(_) | Computed::Broadcast(_) => false,
        }
    }
}

/// The lower-rank operand after the in-dim step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intermediate {
    pub(crate) operand: usize,
    pub(crate) shape: Lengths,
    pub(crate) maps: Maps,
}

/// The shapes of a problem's operands.
pub(crate) struct Shapes<'a>(pub(crate) &'a [Form<'a>]);

impl<'a> Shapes<'a> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn of(&self, operand: usize) -> &'a [usize] {
        self.0[operand].shape
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [usize]> + Clone {
        self.0.iter().map(|operand| operand.shape)
    }

    pub(crate) fn highest_rank(&self) -> usize {
        self.iter().map(<[usize]>::len).max().unwrap_or(0)
    }
}

/// Lowers a problem or refuses it, with checks in the order of clause G-6. Returns the dtype of the
/// (underlying) result.
pub(crate) fn lower(problem: &Problem<'_>, into: &mut Lowered) -> Result<DType, Refusal> {
    let shapes = Shapes(problem.operands());
    check_operand_count(problem.rules.set(), shapes.len())?;
    let dtype = types::check(problem)?;
    match problem.target() {
        Some(target) => match problem.rules {
            Rules::Numpy => numpy::onto(shapes.of(0), target, into)?,
            Rules::Xla { broadcast_dimensions } => {
                xla::onto(shapes.of(0), target, broadcast_dimensions.as_deref().unwrap_or(&[]), into)?;
            }
            Rules::Leading => leading::onto(shapes.of(0), target, into)?,
            Rules::Repeat => repeat::onto(shapes.of(0), target, into)?,
            // `Request` and `Signature` reject `broadcast` under the other rule sets.
            Rules::Bidirectional | Rules::None | Rules::Pdpd { .. } | Rules::Theano => {
                bidirectional::lower(shapes.of(0), target, into)?;
            }
        },
        None => match problem.rules {
            // `Request` and `Signature` reject expressions under `bidirectional`.
            Rules::None | Rules::Bidirectional => none::lower(&shapes, into)?,
            Rules::Numpy => numpy::lower(&shapes, into)?,
            Rules::Pdpd { axis } => pdpd::lower(&shapes, *axis, into)?,
            Rules::Xla { broadcast_dimensions } => {
                xla::lower(&shapes, broadcast_dimensions.as_deref().unwrap_or(&[]), into)?;
            }
            Rules::Theano => theano::lower(problem, into)?,
            Rules::Leading => leading::lower(&shapes, into)?,
            Rules::Repeat => repeat::lower(&shapes, into)?,
        },
    }
    check_sizes(problem, &into.shape)?;
    if let Some(cotangent) = problem.cotangent() {
        check_form("cotangent", cotangent, dtype, &into.shape)?;
        into.maps.push(into.shape.len(), Some);
    }
    if let Some(destination) = problem.destination() {
        check_form("destination", destination, dtype, &into.shape)?;
    }
    if *problem.rules == Rules::Repeat {
        repeat::cut(problem.with_values(), problem.operands().len() - 1, into);
    }
    Ok(dtype)
}

/// Clauses GRAD-4, INTO-1 and INTO-2: a cotangent and a destination have the dtype and the shape of the
/// result.
fn check_form(what: &str, form: &Form<'_>, dtype: DType, result: &[usize]) -> Result<(), Refusal> {
    let shape = form.shape;
    if form.dtype != dtype {
        let message = format!("the {what} is {}, the result {dtype}", form.dtype);
        return Err(Refusal::new(RefusalKind::DTypeMismatch, message));
    }
    if shape.len() != result.len() {
        let message = format!("the {what} has rank {}, the result {}", shape.len(), result.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    match shape.iter().zip(result).position(|(one, other)| one != other) {
        Some(axis) => Err(mismatch(axis, shape[axis], result[axis])),
        None => Ok(()),
    }
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
fn check_sizes(problem: &Problem<'_>, result: &[usize]) -> Result<(), Refusal> {
    let operands = problem.operands().iter().filter(|operand| !operand.counted).map(|operand| operand.shape);
    for shape in operands.chain(problem.target()).chain([result]) {
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
