//! The rule set `pdpd`: clauses PDPD-1 to PDPD-6. B is aligned with A from a given axis on, and only B is
//! stretched.

use super::{Lowered, Shapes, mismatch};
use broadcheck_spec::{Refusal, RefusalKind};

pub(super) fn lower(shapes: &Shapes<'_>, axis: Option<i64>, into: &mut Lowered) -> Result<(), Refusal> {
    let a = shapes.of(0);
    let rank = a.len();
    into.shape = a.into();
    into.maps.push(rank, Some);
    if shapes.len() == 1 {
        return Ok(());
    }
    let b = shapes.of(1);
    let Some(right) = rank.checked_sub(b.len()) else {
        let message = format!("B has rank {}, higher than A's rank {rank}", b.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    };
    let outside = |axis: i64| {
        let message = format!("axis {axis} is out of range for B of rank {} and A of rank {rank}", b.len());
        Refusal::new(RefusalKind::AxisOutOfRange, message)
    };
    let start = match axis {
        None | Some(-1) => right,
        Some(axis) => usize::try_from(axis).map_err(|_| outside(axis))?,
    };
    let kept = b.len() - b.iter().rev().take_while(|&&length| length == 1).count();
    if start.checked_add(kept).is_none_or(|end| end > rank) {
        return Err(outside(axis.unwrap_or(-1)));
    }
    for (at, &length) in (start..).zip(&b[..kept]) {
        if length != a[at] && length != 1 {
            return Err(mismatch(at, a[at], length));
        }
    }
    into.maps.push(rank, |at| at.checked_sub(start).filter(|&own| own < kept && b[own] == a[at]));
    Ok(())
}
