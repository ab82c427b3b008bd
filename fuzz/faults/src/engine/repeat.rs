//! The rule set `repeat`: which B can be repeated onto A, and the loops that do it.

use super::collapse::{Axis, LoopNest};
use super::infer::{Known, hull, is_one};
use super::shapes::Shapes;
use super::{Aligned, strides};
use broadcheck_spec::{Length, PartialShape, Refusal, RefusalKind};

/// The decisions about repeating.
#[derive(Clone)]
pub(crate) struct Repeat {
    /// REPEAT-1: whether a tensor can have this rank.
    pub(crate) rank: fn(usize) -> bool,
    /// REPEAT-2: whether the lengths of B in front of A's axes are possible.
    pub(crate) beyond: fn(&[usize]) -> bool,
    /// REPEAT-3: whether B's second length can be repeated onto A's first one.
    pub(crate) fits: fn(usize, usize) -> bool,
    /// REPEAT-4: whether nothing else is compared, from whether A and B have no elements.
    pub(crate) empty: fn(bool, bool) -> bool,
    /// G-6: the axis that a refusal names, of all that fail.
    pub(crate) reported: fn(&[usize]) -> usize,
    /// INFER-14: the bounds of A's length that can be multiples of B's.
    pub(crate) inferred: fn(Length, Length) -> Option<Length>,
    /// REPEAT-5: the inner of two loops over a length of A, from that length and B's; and whether B moves in
    /// it, or in the outer one.
    pub(crate) inner: fn(usize, usize) -> (usize, bool),
}

impl Default for Repeat {
    fn default() -> Repeat {
        Repeat {
            rank: |rank| rank <= 4,
            beyond: |lengths| lengths.iter().all(|&length| length == 1),
            fits: |whole, length| if length == 0 { whole == 0 } else { whole % length == 0 },
            empty: |a, b| a && b,
            reported: |failing| failing[0],
            inferred: multiples,
            inner: |_, length| (length, true),
        }
    }
}

impl Repeat {
    /// A alone, or more operands than the rule set takes, which only a fault accepts.
    pub(super) fn alone(&self, shapes: &Shapes, operands: &[Vec<usize>]) -> Result<Aligned, Refusal> {
        self.check_ranks(operands.iter().map(Vec::len))?;
        shapes.numpy(operands)
    }

    pub(super) fn align(&self, a: &[usize], b: &[usize]) -> Result<Aligned, Refusal> {
        self.check_ranks([a.len(), b.len()].into_iter())?;
        let is_empty = |shape: &[usize]| shape.contains(&0);
        if !(self.empty)(is_empty(a), is_empty(b)) {
            let beyond = b.len().saturating_sub(a.len());
            if !(self.beyond)(&b[..beyond]) {
                return Err(Refusal::new(RefusalKind::RankMismatch, "B has axes that A does not have"));
            }
            let length = |axis: usize| (axis + b.len()).checked_sub(a.len()).map_or(1, |own| b[own]);
            let failing: Vec<usize> =
                (0..a.len()).filter(|&axis| !(self.fits)(a[axis], length(axis))).collect();
            if !failing.is_empty() {
                let refusal =
                    Refusal::new(RefusalKind::DimensionMismatch, "A's length is no multiple of B's");
                return Err(refusal.at_axis((self.reported)(&failing)));
            }
        }
        let of_b = (0..b.len()).map(|axis| (axis + a.len()).checked_sub(b.len()));
        let axes = vec![(0..a.len()).map(Some).collect(), of_b.collect()];
        Ok(Aligned { repeats: true, ..Aligned::new(a.to_vec(), axes) })
    }

    pub(super) fn onto_target(&self, shape: &[usize], target: &[usize]) -> Result<Aligned, Refusal> {
        let mut aligned = self.align(target, shape)?;
        aligned.axes.remove(0);
        Ok(aligned)
    }

    /// INFER-14: one operand.
    pub(super) fn infer_alone(&self, shape: &PartialShape) -> Result<Known, Refusal> {
        self.check_ranks(shape.rank().into_iter())?;
        Ok((shape.clone(), shape.rank().is_some(), None))
    }

    /// INFER-14: two operands, or a target and an operand.
    pub(super) fn infer(&self, a: &PartialShape, b: &PartialShape) -> Result<Known, Refusal> {
        self.check_ranks(a.rank().into_iter().chain(b.rank()))?;
        let (Some(whole), Some(own)) = (a.lengths(), b.lengths()) else {
            return Ok((a.clone(), false, None));
        };
        let (beyond, own) = own.split_at(own.len().saturating_sub(whole.len()));
        let missing = whole.len() - own.len();
        let part = |at: usize| at.checked_sub(missing).map_or(Length::exactly(1), |at| own[at]);
        let zero = |length: &&Length| length.admits(0);
        let zeros = whole.iter().filter(zero).count();
        let is_empty = zeros > 0 && beyond.iter().chain(own).any(|length| length.admits(0));
        let axes: Vec<Option<Length>> =
            whole.iter().enumerate().map(|(at, &length)| (self.inferred)(length, part(at))).collect();
        let divides = beyond.iter().all(|length| length.admits(1)) && axes.iter().all(Option::is_some);
        let shape: Vec<Length> = if is_empty {
            let emptied = |(at, &length): (usize, &Length)| {
                let others = zeros - usize::from(length.admits(0));
                let emptied = if others > 0 { length } else { Length::exactly(0) };
                axes[at].filter(|_| divides).map_or(emptied, |length| hull(&[length, emptied]))
            };
            whole.iter().enumerate().map(emptied).collect()
        } else if beyond.iter().any(|length| !length.admits(1)) {
            return Err(Refusal::new(RefusalKind::RankMismatch, "B has axes that A does not have"));
        } else {
            let broken: Vec<usize> = (0..axes.len()).filter(|&at| axes[at].is_none()).collect();
            if !broken.is_empty() {
                let refusal = Refusal::new(RefusalKind::DimensionMismatch, "no run is accepted");
                return Err(refusal.at_axis((self.reported)(&broken)));
            }
            axes.into_iter().flatten().collect()
        };
        let always = always(whole, beyond, own, &part);
        Ok((PartialShape::Ranked(shape), always, None))
    }

    fn check_ranks(&self, ranks: impl Iterator<Item = usize>) -> Result<(), Refusal> {
        for rank in ranks {
            if !(self.rank)(rank) {
                return Err(Refusal::new(RefusalKind::RankMismatch, "a tensor has at most four axes"));
            }
        }
        Ok(())
    }

    /// The loops of a result some of whose axes have two of them, so that B starts again.
    pub(super) fn cut(&self, nest: LoopNest, shapes: &[Vec<usize>], aligned: &Aligned) -> LoopNest {
        if !aligned.repeats || nest.axes.len() != aligned.shape.len() || aligned.shape.contains(&0) {
            return nest;
        }
        let Some(b) = shapes.last().zip(aligned.axes.last()) else { return nest };
        let b_place = shapes.len() - 1;
        let mut axes = Vec::with_capacity(2 * nest.axes.len());
        for (at, axis) in nest.axes.into_iter().enumerate() {
            match part(b, at, axis.length) {
                None => axes.push(axis),
                Some(length) => axes.extend(self.two(&axis, length, b_place)),
            }
        }
        LoopNest { axes, ..nest }
    }

    fn two(&self, axis: &Axis, length: usize, b: usize) -> [Axis; 2] {
        let (inner, moves_inside) = (self.inner)(axis.length, length);
        let outer = Axis {
            length: axis.length / inner,
            strides: axis.strides.iter().map(|&stride| stride * strides::position(inner)).collect(),
        };
        let mut both = [outer, Axis { length: inner, strides: axis.strides.clone() }];
        both[0].strides[b] = if moves_inside { 0 } else { axis.strides[b] };
        if !moves_inside {
            both[1].strides[b] = 0;
        }
        both
    }

    /// The alignment of a gradient by B, which sums along the outer loops.
    pub(super) fn summed(&self, shapes: &[Vec<usize>], aligned: &Aligned, wrt: usize) -> Option<Aligned> {
        let b = (&shapes[wrt], &aligned.axes[wrt]);
        if !aligned.repeats || aligned.shape.contains(&0) || wrt + 1 != shapes.len() {
            return None;
        }
        let (mut shape, mut places) = (Vec::new(), Vec::new());
        for (at, &whole) in aligned.shape.iter().enumerate() {
            match part(b, at, whole) {
                None => places.push(shape.len()),
                Some(length) => {
                    let (inner, moves_inside) = (self.inner)(whole, length);
                    shape.push(whole / inner);
                    places.push(shape.len() - usize::from(!moves_inside));
                    shape.push(inner);
                    continue;
                }
            }
            shape.push(whole);
        }
        let mut axes = vec![Vec::new(); aligned.axes.len()];
        axes[wrt] = b.1.iter().map(|axis| axis.map(|axis| places[axis])).collect();
        Some(Aligned::new(shape, axes))
    }
}

/// B's length on an axis of A, if it is repeated there and not just one element.
fn part((lengths, axes): (&Vec<usize>, &Vec<Option<usize>>), at: usize, whole: usize) -> Option<usize> {
    let own = axes.iter().position(|&axis| axis == Some(at))?;
    let length = lengths[own];
    (length > 1 && length < whole).then_some(length)
}

/// INFER-14: the bounds of A's length that can be multiples of B's.
fn multiples(whole: Length, length: Length) -> Option<Length> {
    if length.admits(1) {
        return Some(whole);
    }
    let zero = whole.admits(0).then_some(Length::exactly(0));
    let least = length.min();
    if least == 0 || whole.max().is_some_and(|max| max < least) {
        return zero;
    }
    let low = if zero.is_some() { 0 } else { whole.min().max(least) };
    if length.number().is_none() {
        return Length::bounded(low, whole.max());
    }
    let rest = low % least;
    let low = if rest == 0 { low } else { low.checked_add(least - rest)? };
    Length::bounded(low, whole.max().map(|max| max / least * least))
}

/// INFER-14: whether every run is accepted.
fn always(whole: &[Length], beyond: &[Length], own: &[Length], part: &dyn Fn(usize) -> Length) -> bool {
    let zero = |length: &Length| length.number() == Some(0);
    let is_empty = whole.iter().any(zero);
    if is_empty && beyond.iter().chain(own).any(zero) {
        return true;
    }
    // An A without elements takes every B without elements.
    let raised = |length: Length| match (is_empty, length.min()) {
        (true, 0) => Length::bounded(1, length.max()).unwrap_or(length),
        _ => length,
    };
    let divides = |(at, &length): (usize, &Length)| {
        let part = raised(part(at));
        match (length.number(), part.max()) {
            _ if is_one(part) => true,
            (Some(0), _) => true,
            (Some(number), Some(most)) if part.min() > 0 => {
                (part.min()..=most).all(|part| number % part == 0)
            }
            _ => false,
        }
    };
    beyond.iter().all(|&length| is_one(raised(length))) && whole.iter().enumerate().all(divides)
}
