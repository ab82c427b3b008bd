//! Aligns B with A (rule set `pdpd`).

use super::Aligned;
use broadcheck_spec::{Refusal, RefusalKind};

/// The decisions about `pdpd`.
#[derive(Clone)]
pub(crate) struct Pdpd {
    /// PDPD-1: whether these ranks of A and B are compatible.
    pub(crate) ranks: fn(usize, usize) -> bool,
    /// PDPD-2: the axis of A at which B starts, from the attribute, the rank of A, and the ranks of B as
    /// given and trimmed.
    pub(crate) start: fn(Option<i64>, usize, usize, usize) -> Option<usize>,
    /// PDPD-3: how many axes of B are kept.
    pub(crate) kept: fn(&[usize]) -> usize,
    /// PDPD-4: whether this many axes of B from this start fit into the rank of A.
    pub(crate) room: fn(usize, usize, usize) -> bool,
    /// PDPD-5, PDPD-6: the result's length, from a length of A and one of B.
    pub(crate) length: fn(usize, usize) -> Option<usize>,
}

impl Default for Pdpd {
    fn default() -> Pdpd {
        Pdpd {
            ranks: |a, b| b <= a,
            start: |axis, a, b, _| match axis {
                None | Some(-1) => Some(a.saturating_sub(b)),
                Some(axis) => usize::try_from(axis).ok(),
            },
            kept: trimmed,
            room: |start, kept, a| start.checked_add(kept).is_some_and(|end| end <= a),
            length: |a, b| (b == 1 || b == a).then_some(a),
        }
    }
}

/// PDPD-3: the rank without trailing ones.
pub(crate) fn trimmed(b: &[usize]) -> usize {
    b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1)
}

impl Pdpd {
    pub(super) fn align(&self, a: &[usize], b: &[usize], axis: Option<i64>) -> Result<Aligned, Refusal> {
        if !(self.ranks)(a.len(), b.len()) {
            return Err(Refusal::new(RefusalKind::RankMismatch, "B has the higher rank"));
        }
        let kept = (self.kept)(b);
        let out_of_range =
            || Refusal::new(RefusalKind::AxisOutOfRange, "B does not fit into A from its start axis");
        let start = (self.start)(axis, a.len(), b.len(), trimmed(b)).ok_or_else(out_of_range)?;
        if !(self.room)(start, kept, a.len()) {
            return Err(out_of_range());
        }
        let mut shape = a.to_vec();
        for (step, &length) in b[..kept].iter().enumerate() {
            // Axes beyond A, which a fault may allow, are ignored.
            let Some(of_a) = shape.get_mut(start + step) else { break };
            let Some(common) = (self.length)(*of_a, length) else {
                let refusal = Refusal::new(RefusalKind::DimensionMismatch, "B cannot be stretched to A");
                return Err(refusal.at_axis(start + step));
            };
            *of_a = common;
        }
        let of_b =
            (0..b.len()).map(|axis| (axis < kept).then(|| start + axis).filter(|&axis| axis < a.len()));
        let axes = vec![(0..a.len()).map(Some).collect(), of_b.collect()];
        Ok(Aligned::new(shape, axes))
    }
}
