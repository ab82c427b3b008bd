//! The rule set `pdpd`: clauses PDPD-1 to PDPD-6. B is laid on A from an axis; only B is stretched.

use super::{Lowered, Shapes, Under, identity, mismatch};
use broadcheck_spec::{Refusal, RefusalKind};
use smallvec::smallvec;

pub(super) fn lower(shapes: &Shapes<'_>, axis: Option<i64>) -> Result<Lowered, Refusal> {
    let a = shapes.of(0);
    let rank = a.len();
    if shapes.len() == 1 {
        return Ok(Lowered::new(a.into(), smallvec![identity(rank)]));
    }
    let b = shapes.of(1);
    let Some(right) = rank.checked_sub(b.len()) else {
        let message = format!("B has rank {}, above A's {rank}", b.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    };
    let outside = |axis: i64| {
        let message = format!("axis {axis} for B of rank {} on A of rank {rank}", b.len());
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
    let mut under: Under = smallvec![None; rank];
    for (own, &length) in b[..kept].iter().enumerate() {
        let at = start + own;
        if length == a[at] {
            under[at] = Some(own);
        } else if length != 1 {
            return Err(mismatch(at, a[at], length));
        }
    }
    Ok(Lowered::new(a.into(), smallvec![identity(rank), under]))
}
