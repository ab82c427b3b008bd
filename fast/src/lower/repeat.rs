//! The rule set `repeat`: clauses REPEAT-1 to REPEAT-6. B is repeated onto A, and its position is A's modulo
//! its length.
//!
//! No stride expresses a modulo. So an axis of A on which B is repeated is cut in two: the repetitions, along
//! which B does not move, and one repetition, which is B's axis. What follows then sees nothing but a result
//! of more axes, whose elements are in the same order.

use super::{Lowered, Shapes, mismatch};
use crate::problem::Form;
use broadcheck_spec::{Refusal, RefusalKind};
use smallvec::SmallVec;

/// Clause REPEAT-1.
pub(crate) const MOST_AXES: usize = 4;

/// The axes that are cut in two, at most.
const MOST_CUT: usize = 2 * MOST_AXES;

/// The own axes under the axes of a cut result, if strides are given for each of them.
const IDENTITY: [u32; MOST_CUT] = [0, 1, 2, 3, 4, 5, 6, 7];

/// A result some of whose axes are cut in two, and the strides of everything that has values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    lengths: SmallVec<[usize; MOST_CUT]>,
    /// For each operand, and then the cotangent, the strides over these axes in its buffer.
    strides: Vec<i64>,
    /// The same in a dense buffer, which is that of a gradient.
    dense: Vec<i64>,
}

impl Cut {
    /// The lengths of the axes, or nothing if no axis is cut.
    pub(crate) fn lengths(&self) -> Option<&[usize]> {
        if self.lengths.is_empty() { None } else { Some(&self.lengths) }
    }

    /// The strides of an operand as it is, or as a dense one, and the axes that they belong to.
    pub(crate) fn of(&self, operand: usize, dense: bool) -> (&[i64], &[u32]) {
        let axes = self.lengths.len();
        let strides = if dense { &self.dense } else { &self.strides };
        (&strides[operand * axes..(operand + 1) * axes], &IDENTITY[..axes])
    }

    /// Adds an operand or the cotangent, whose last axes lie on the last axes of a shape.
    fn push(&mut self, form: &Form<'_>, shape: &[usize], lengths: &[usize]) {
        let dense = row_major(form.shape);
        let own = form.strides.unwrap_or(&dense);
        for (into, strides) in [(&mut self.strides, own), (&mut self.dense, &dense)] {
            for (axis, (&whole, &length)) in shape.iter().zip(lengths).enumerate() {
                let at = (axis + form.shape.len()).checked_sub(shape.len());
                let (stride, extent) = at.map_or((0, 1), |at| (strides[at], form.shape[at]));
                let moves = if extent == 1 { 0 } else { stride };
                if length != whole {
                    let steps = i64::try_from(length).unwrap_or(i64::MAX);
                    into.push(if extent == whole { moves.saturating_mul(steps) } else { 0 });
                }
                into.push(moves);
            }
        }
    }
}

/// A, or A and B.
pub(super) fn lower(shapes: &Shapes<'_>, into: &mut Lowered) -> Result<(), Refusal> {
    check_ranks(shapes.iter())?;
    let a = shapes.of(0);
    into.shape = a.into();
    into.maps.push(a.len(), Some);
    if shapes.len() == 1 {
        return Ok(());
    }
    place(a, shapes.of(1), into)
}

/// One operand repeated onto exactly this shape (clause REPEAT-6).
pub(super) fn onto(shape: &[usize], target: &[usize], into: &mut Lowered) -> Result<(), Refusal> {
    check_ranks([target, shape].into_iter())?;
    into.shape = target.into();
    place(target, shape, into)
}

/// Notes the axes that are cut, once everything that has values is known.
pub(super) fn cut(forms: &[Form<'_>], b: usize, into: &mut Lowered) {
    let (a, b) = (&into.shape, forms[b].shape);
    if a.contains(&0) {
        return;
    }
    let one_repetition = |axis: usize| match own_axis(a.len(), b.len(), axis).map(|own| b[own]) {
        None | Some(1) => a[axis],
        Some(length) => length,
    };
    let lengths: SmallVec<[usize; MOST_AXES]> = (0..a.len()).map(one_repetition).collect();
    if lengths[..] == a[..] {
        return;
    }
    let mut cut = Cut::default();
    for (&whole, &length) in a.iter().zip(&lengths) {
        if length != whole {
            cut.lengths.push(whole / length);
        }
        cut.lengths.push(length);
    }
    for form in forms {
        cut.push(form, a, &lengths);
    }
    into.cut = cut;
}

fn check_ranks<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> Result<(), Refusal> {
    for shape in shapes {
        check_rank(shape.len())?;
    }
    Ok(())
}

/// Clause REPEAT-1.
pub(crate) fn check_rank(rank: usize) -> Result<(), Refusal> {
    if rank <= MOST_AXES {
        return Ok(());
    }
    let message = format!("rank {rank} is above {MOST_AXES}");
    Err(Refusal::new(RefusalKind::RankMismatch, message))
}

/// Checks that B is repeated onto A (clauses REPEAT-2 to REPEAT-4), and maps its axes.
fn place(a: &[usize], b: &[usize], into: &mut Lowered) -> Result<(), Refusal> {
    let nothing_is_read = a.contains(&0) && b.contains(&0);
    if !nothing_is_read {
        let beyond = b.len().saturating_sub(a.len());
        if b[..beyond].iter().any(|&length| length != 1) {
            let message = format!("B has rank {}, and A {}", b.len(), a.len());
            return Err(Refusal::new(RefusalKind::RankMismatch, message));
        }
        for (axis, &whole) in a.iter().enumerate() {
            let length = own_axis(a.len(), b.len(), axis).map_or(1, |own| b[own]);
            if whole.checked_rem(length).unwrap_or(whole) != 0 {
                return Err(mismatch(axis, whole, length));
            }
        }
    }
    // Where B is repeated, its strides are those of the cut axes, and this map is not used.
    let map = |axis: usize| own_axis(a.len(), b.len(), axis).filter(|&own| b[own] == a[axis]);
    into.maps.push(a.len(), map);
    Ok(())
}

/// B's axis on an axis of A.
fn own_axis(a: usize, b: usize, axis: usize) -> Option<usize> {
    (axis + b).checked_sub(a)
}

/// The strides of a dense operand with elements.
fn row_major(shape: &[usize]) -> SmallVec<[i64; MOST_AXES]> {
    let mut strides = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = i64::try_from(shape[axis]).unwrap_or(i64::MAX).saturating_mul(strides[axis]);
    }
    strides
}
