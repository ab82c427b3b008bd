//! Rule set `repeat`: B is repeated onto A, in one direction. ggml's rule (clauses REPEAT-1 to REPEAT-6); not
//! in the documents.

use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

/// REPEAT-1: the axes of a tensor.
const HIGHEST_RANK: usize = 4;

pub(super) fn align(a: &Shape, b: &Shape) -> Result<Alignment, Refusal> {
    check_ranks([a, b])?;
    // REPEAT-4. If neither has elements, nothing is compared.
    if !(is_empty(a) && is_empty(b)) {
        // REPEAT-2. The axes that only B has are ones.
        for axis in 0..b.rank().saturating_sub(a.rank()) {
            if b[axis] != 1 {
                let message = format!("shape {b} of B has a length other than 1 where A, {a}, has no axis");
                return Err(Refusal::new(RefusalKind::RankMismatch, message));
            }
        }
        // REPEAT-3. A's length is a multiple of B's.
        for axis in 0..a.rank() {
            let length = length_of_b(a, b, axis);
            if !is_multiple(a[axis], length) {
                let message = format!("length {} of A is no multiple of {length} of B", a[axis]);
                return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
            }
        }
    }
    // REPEAT-5. The result has A's shape; the position on an axis of B is that in A modulo B's length.
    let axes_of_a = (0..a.rank()).map(Some).collect();
    let axes_of_b = (0..b.rank()).map(|axis| (axis + a.rank()).checked_sub(b.rank())).collect();
    let axes = vec![axes_of_a, axes_of_b];
    Ok(Alignment { shape: a.clone(), axes, intermediate: None, broadcastable: None })
}

/// REPEAT-6: the target is A, and the operand is B.
pub(super) fn broadcast(operand: &Shape, target: &Shape) -> Result<Alignment, Refusal> {
    let mut alignment = align(target, operand)?;
    alignment.axes.remove(0);
    Ok(alignment)
}

/// REPEAT-1.
pub(crate) fn check_ranks<'a>(shapes: impl IntoIterator<Item = &'a Shape>) -> Result<(), Refusal> {
    for shape in shapes {
        check_rank(shape.rank())?;
    }
    Ok(())
}

/// REPEAT-1, of one rank.
pub(crate) fn check_rank(rank: usize) -> Result<(), Refusal> {
    if rank <= HIGHEST_RANK {
        return Ok(());
    }
    let message = format!("rank {rank}: a tensor has at most {HIGHEST_RANK} axes");
    Err(Refusal::new(RefusalKind::RankMismatch, message))
}

/// Whether a length is a multiple of another: 0 of every length, and nothing else of 0.
pub(crate) fn is_multiple(length: usize, of: usize) -> bool {
    length.is_multiple_of(of)
}

fn is_empty(shape: &Shape) -> bool {
    shape.contains(&0)
}

/// B's length on an axis of A; 1 if B has no such axis.
fn length_of_b(a: &Shape, b: &Shape, axis: usize) -> usize {
    (axis + b.rank()).checked_sub(a.rank()).map_or(1, |own| b[own])
}
