//! The number of elements, by arithmetic alone (clause G-1).

use super::Aligned;
use broadcheck_spec::{Refusal, RefusalKind, Request, Shape};

/// The decisions about sizes.
#[derive(Clone)]
pub(crate) struct Sizes {
    /// The count that is compared with the bound; `None` if it overflows.
    pub(crate) count: fn(&[usize]) -> Option<u64>,
    /// The count of all operands together that is compared with the bound, from their counts: none.
    pub(crate) together: fn(&[u64]) -> Option<u64>,
    /// The bound.
    pub(crate) bound: u64,
    /// Whether sizes are checked last (clause G-6).
    pub(crate) last: bool,
    /// Whether the underlying result of a gradient is counted as well.
    pub(crate) underneath: bool,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            count: |lengths| {
                let others = lengths.iter().filter(|&&length| length != 0);
                others.map(|&length| length as u64).try_fold(1, u64::checked_mul)
            },
            together: |_| Some(0),
            bound: i64::MAX as u64,
            last: true,
            underneath: true,
        }
    }
}

impl Sizes {
    /// Checks the sizes that are known before the operands are aligned.
    pub(super) fn check_given(&self, request: &Request, shapes: &[Vec<usize>]) -> Result<(), Refusal> {
        shapes.iter().try_for_each(|shape| self.check(shape))?;
        let counts: Vec<u64> = shapes.iter().filter_map(|shape| (self.count)(shape)).collect();
        if (self.together)(&counts).is_none_or(|count| count > self.bound) {
            return Err(Refusal::new(RefusalKind::TooLarge, "all operands together"));
        }
        request.operation().target_shape().map_or(Ok(()), |target| self.check(target))
    }

    /// Checks the sizes that are known afterwards.
    pub(super) fn check_result(&self, request: &Request, aligned: &Aligned) -> Result<(), Refusal> {
        if request.operation().wrt().is_some() && !self.underneath {
            return Ok(());
        }
        self.check(&aligned.shape)
    }

    fn check(&self, lengths: &[usize]) -> Result<(), Refusal> {
        match (self.count)(lengths) {
            Some(count) if count <= self.bound => Ok(()),
            _ => Err(Refusal::new(RefusalKind::TooLarge, format!("shape {}", Shape::from(lengths)))),
        }
    }
}
