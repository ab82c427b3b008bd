//! The rule set `none`: clauses NONE-1 and NONE-2.

use super::{Lowered, Shapes};
use broadcheck_spec::{Refusal, RefusalKind};

pub(super) fn lower(shapes: &Shapes<'_>, into: &mut Lowered) -> Result<(), Refusal> {
    let first = shapes.of(0);
    let rank = first.len();
    if let Some(other) = shapes.iter().find(|shape| shape.len() != rank) {
        let message = format!("ranks {rank} and {} differ", other.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    for axis in 0..rank {
        if let Some(other) = shapes.iter().find(|shape| shape[axis] != first[axis]) {
            return Err(super::mismatch(axis, first[axis], other[axis]));
        }
    }
    into.shape = first.into();
    shapes.iter().for_each(|_| into.maps.push(rank, Some));
    Ok(())
}
