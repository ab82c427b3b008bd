//! Aligns two operands if the axes are named (rule set `xla`).

use super::Aligned;
use super::shapes::{Common, common, lengths_on};
use broadcheck_spec::{Refusal, RefusalKind};

/// The axes of the target on which the operand lies, from those that are named, and the operand's and the
/// target's shape.
pub(crate) type Seats = fn(Vec<usize>, &[usize], &[usize]) -> Vec<usize>;

/// The intermediate shape, from the higher operand's shape, the lower operand's lengths and their axes.
pub(crate) type Intermediate = fn(&[usize], &[usize], &[usize]) -> Vec<usize>;

/// The decisions about `xla`.
#[derive(Clone)]
pub(crate) struct Xla {
    /// XLA-1: whether these dimensions are accepted for equal ranks.
    pub(crate) identity: fn(&[i64], usize) -> bool,
    /// XLA-2, XLA-3: the default dimensions for a lower and a higher rank, if there are any.
    pub(crate) absent: fn(usize, usize) -> Option<Vec<i64>>,
    /// XLA-4: whether this many dimensions are accepted for the lower rank.
    pub(crate) count: fn(usize, usize) -> bool,
    /// XLA-5: the axis that a dimension names in the higher operand.
    pub(crate) axis: fn(i64, usize) -> Option<usize>,
    /// XLA-6: whether one axis may come before another.
    pub(crate) increasing: fn(usize, usize) -> bool,
    /// XLA-7: the common length in the in-dim step.
    pub(crate) in_dim: Common,
    /// XLA-8: the axes with which the lower operand is aligned, from the named axes and the higher rank.
    pub(crate) lies_on: fn(Vec<usize>, usize) -> Vec<usize>,
    /// XLA-8: the shape after the in-dim step.
    pub(crate) intermediate: Intermediate,
    /// XLA-1, XLA-8: the common length in the degenerate step.
    pub(crate) degenerate: Common,
    /// XLA-9: the dimensions of a broadcast, from those given and the ranks of the operand and the target;
    /// `None` if there are not as many as axes.
    pub(crate) of_target: fn(&[i64], usize, usize) -> Option<Vec<i64>>,
    /// XLA-10: the axis that a dimension names in the target.
    pub(crate) target_axis: fn(i64, usize) -> Option<usize>,
    /// XLA-11: whether these axes of the target are accepted.
    pub(crate) distinct: fn(&[usize]) -> bool,
    /// XLA-12: the length of the result, from that of the operand and that of the target.
    pub(crate) onto: Common,
    /// XLA-12: the axis of the target that is reported, of those that do not fit, in the order of the
    /// operand.
    pub(crate) reported: fn(&[usize]) -> usize,
    /// XLA-13: the axes of the target on which the operand lies, from those that are named, and the shapes.
    pub(crate) seats: Seats,
}

impl Default for Xla {
    fn default() -> Xla {
        Xla {
            identity: |dimensions, rank| {
                dimensions.is_empty() || dimensions.iter().copied().eq((0i64..).take(rank))
            },
            absent: |lower, _| (lower == 0).then(Vec::new),
            count: |found, lower| found == lower,
            axis: |dimension, higher| usize::try_from(dimension).ok().filter(|&axis| axis < higher),
            increasing: |before, after| before < after,
            in_dim: common,
            lies_on: |named, _| named,
            intermediate,
            degenerate: common,
            of_target: |given, rank, _| (given.len() == rank).then(|| given.to_vec()),
            target_axis: |dimension, rank| usize::try_from(dimension).ok().filter(|&axis| axis < rank),
            distinct: |axes| axes.iter().enumerate().all(|(place, axis)| !axes[..place].contains(axis)),
            onto: |length, wanted| (length == wanted || length == 1).then_some(wanted),
            reported: |axes| axes.iter().copied().min().unwrap_or(0),
            seats: |named, _, _| named,
        }
    }
}

/// XLA-8: the lower operand's lengths on their axes, the higher operand's elsewhere.
pub(crate) fn intermediate(higher: &[usize], lower: &[usize], axes: &[usize]) -> Vec<usize> {
    let mut shape = higher.to_vec();
    for (&length, &axis) in lower.iter().zip(axes) {
        shape[axis] = length;
    }
    shape
}

impl Xla {
    pub(super) fn align(
        &self,
        shapes: &[Vec<usize>],
        dimensions: Option<&[i64]>,
    ) -> Result<Aligned, Refusal> {
        let (lhs, rhs) = (&shapes[0], &shapes[1]);
        let dimensions = dimensions.unwrap_or(&[]);
        if lhs.len() == rhs.len() {
            self.named(lhs.len(), rhs.len(), dimensions)?;
            let axes = (0..lhs.len()).map(Some).collect::<Vec<_>>();
            return self.degenerate_step(shapes, vec![axes.clone(), axes], lhs.len());
        }
        let lhs_is_lower = lhs.len() < rhs.len();
        let (lower, higher) = if lhs_is_lower { (lhs, rhs) } else { (rhs, lhs) };
        let named = self.in_dim_step(lower, higher, dimensions)?;
        let intermediate = (self.intermediate)(higher, lower, &named);
        let of_lower: Vec<Option<usize>> = named.iter().copied().map(Some).collect();
        let of_higher: Vec<Option<usize>> = (0..higher.len()).map(Some).collect();
        let axes = if lhs_is_lower { vec![of_lower, of_higher] } else { vec![of_higher, of_lower] };
        let aligned = self.degenerate_step(shapes, axes, higher.len())?;
        Ok(Aligned { intermediate: Some(intermediate), ..aligned })
    }

    /// `broadcast` onto a target (clauses XLA-9 to XLA-13).
    pub(super) fn onto_target(
        &self,
        shape: &[usize],
        target: &[usize],
        dimensions: Option<&[i64]>,
    ) -> Result<Aligned, Refusal> {
        let named = self.named_of_target(shape.len(), target.len(), dimensions.unwrap_or(&[]))?;
        let mut result = target.to_vec();
        let mut broken = Vec::new();
        for (&length, &axis) in shape.iter().zip(&named) {
            match (self.onto)(length, target[axis]) {
                Some(common) => result[axis] = common,
                None => broken.push(axis),
            }
        }
        if !broken.is_empty() {
            let refusal = Refusal::new(RefusalKind::DimensionMismatch, "a length differs from the target's");
            return Err(refusal.at_axis((self.reported)(&broken)));
        }
        let axes = (self.seats)(named, shape, target).into_iter().map(Some).collect();
        Ok(Aligned::new(result, vec![axes]))
    }

    /// XLA-9 to XLA-11: the axes of the target, by ranks alone.
    pub(super) fn named_of_target(
        &self,
        rank: usize,
        target: usize,
        dimensions: &[i64],
    ) -> Result<Vec<usize>, Refusal> {
        let Some(dimensions) = (self.of_target)(dimensions, rank, target) else {
            return refuse(RefusalKind::BroadcastDimensionsCount);
        };
        let axes = dimensions.iter().map(|&dimension| (self.target_axis)(dimension, target));
        let Some(named) = axes.collect::<Option<Vec<usize>>>() else {
            return refuse(RefusalKind::BroadcastDimensionOutOfRange);
        };
        if !(self.distinct)(&named) {
            return refuse(RefusalKind::BroadcastDimensionsNotDistinct);
        }
        Ok(named)
    }

    /// XLA-1 to XLA-6: the axes of the higher operand that the lower one's axes are, by ranks alone.
    pub(super) fn named(
        &self,
        lower: usize,
        higher: usize,
        dimensions: &[i64],
    ) -> Result<Vec<usize>, Refusal> {
        if lower == higher {
            let identity = (self.identity)(dimensions, lower);
            let refused = RefusalKind::BroadcastDimensionsNotIdentity;
            return if identity { Ok((0..lower).collect()) } else { refuse(refused) };
        }
        let absent = if dimensions.is_empty() { (self.absent)(lower, higher) } else { None };
        if dimensions.is_empty() && absent.is_none() {
            return refuse(RefusalKind::RankMismatch);
        }
        let dimensions = absent.as_deref().unwrap_or(dimensions);
        if !(self.count)(dimensions.len(), lower) {
            return refuse(RefusalKind::BroadcastDimensionsCount);
        }
        let axes = dimensions.iter().map(|&dimension| (self.axis)(dimension, higher));
        let Some(named) = axes.collect::<Option<Vec<usize>>>() else {
            return refuse(RefusalKind::BroadcastDimensionOutOfRange);
        };
        if named.windows(2).any(|pair| !(self.increasing)(pair[0], pair[1])) {
            return refuse(RefusalKind::BroadcastDimensionsNotIncreasing);
        }
        Ok(named)
    }

    fn in_dim_step(
        &self,
        lower: &[usize],
        higher: &[usize],
        dimensions: &[i64],
    ) -> Result<Vec<usize>, Refusal> {
        let named = self.named(lower.len(), higher.len(), dimensions)?;
        for (&length, &axis) in lower.iter().zip(&named) {
            if (self.in_dim)(length, higher[axis]).is_none() {
                let refusal =
                    Refusal::new(RefusalKind::DimensionMismatch, "lengths differ in the in-dim step");
                return Err(refusal.at_axis(axis));
            }
        }
        Ok((self.lies_on)(named, higher.len()))
    }

    fn degenerate_step(
        &self,
        shapes: &[Vec<usize>],
        axes: Vec<Vec<Option<usize>>>,
        rank: usize,
    ) -> Result<Aligned, Refusal> {
        let mut shape = Vec::with_capacity(rank);
        for axis in 0..rank {
            let lengths = lengths_on(axis, shapes, &axes);
            let Some(common) = (self.degenerate)(lengths[0], lengths[1]) else {
                let refusal =
                    Refusal::new(RefusalKind::DimensionMismatch, "lengths differ in the degenerate step");
                return Err(refusal.at_axis(axis));
            };
            shape.push(common);
        }
        Ok(Aligned::new(shape, axes))
    }
}

fn refuse<T>(kind: RefusalKind) -> Result<T, Refusal> {
    Err(Refusal::new(kind, "these dimensions are not accepted"))
}
