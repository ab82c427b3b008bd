//! What is known of a result before the run, by a formula on the bounds of each axis (clauses INFER-1 to
//! INFER-14).
//!
//! Each axis folds its operands' bounds one by one. Whether every run is accepted follows from how many
//! operands vary there and how many numbers other than 1 they can have.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::lower::{self, Lengths, in_dim, seats};
use broadcheck_spec::{
    Accepts, Asked, Inference, Length, OperandType, PartialShape, Refusal, RefusalKind, Rules, Signature,
};

/// What is known of the result of a signature before the run. It has exactly the bounds that the accepted
/// runs have.
///
/// # Errors
/// The refusal of the signature, if every run would be refused.
pub fn infer(signature: &Signature) -> Result<Inference, Refusal> {
    let operands = signature.operands();
    lower::check_operand_count(signature.rules().set(), operands.len())?;
    let dtype = match signature.asked() {
        Asked::Expression(expression) => {
            lower::expression_dtype(expression, |place| operands[place].dtype())?
        }
        Asked::TargetShape(_) => operands[0].dtype(),
    };
    let Inferred { shape, certain } = match (signature.asked(), signature.rules()) {
        (Asked::TargetShape(target), Rules::Numpy) => onto(operands[0].shape(), target, Side::Last)?,
        (Asked::TargetShape(target), Rules::Leading) => onto(operands[0].shape(), target, Side::First)?,
        (Asked::TargetShape(target), Rules::Xla { broadcast_dimensions }) => {
            seated(operands[0].shape(), target, broadcast_dimensions.as_deref().unwrap_or(&[]))?
        }
        (Asked::TargetShape(target), Rules::Repeat) => repeated(target, operands[0].shape())?,
        // `Signature` rejects a target under the other rule sets, and an expression under `bidirectional`.
        (Asked::TargetShape(target), _) => aligned(&[operands[0].shape(), target], Side::Last)?,
        (Asked::Expression(_), Rules::None | Rules::Bidirectional) => equal(operands)?,
        (Asked::Expression(_), Rules::Numpy) => aligned(&shapes(operands), Side::Last)?,
        (Asked::Expression(_), Rules::Leading) => aligned(&shapes(operands), Side::First)?,
        (Asked::Expression(_), Rules::Repeat) => match operands {
            [a, b] => repeated(a.shape(), b.shape())?,
            _ => once(operands[0].shape())?,
        },
        (Asked::Expression(_), Rules::Pdpd { axis }) => pdpd(operands, *axis)?,
        (Asked::Expression(_), Rules::Xla { broadcast_dimensions }) => {
            xla(operands, broadcast_dimensions.as_deref().unwrap_or(&[]))?
        }
        (Asked::Expression(_), Rules::Theano) => flagged(operands)?,
    };
    if signature.is_known() {
        check_sizes(signature.shapes().chain([&shape]))?;
    }
    let flags = match signature.rules() {
        Rules::Theano => Some(flags(operands, shape.rank().unwrap_or(0))),
        Rules::None
        | Rules::Numpy
        | Rules::Pdpd { .. }
        | Rules::Bidirectional
        | Rules::Xla { .. }
        | Rules::Leading
        | Rules::Repeat => None,
    };
    let accepts = if certain { Accepts::Always } else { Accepts::Depends };
    Ok(Inference { dtype, shape, accepts: Some(accepts), broadcastable: flags })
}

/// What a rule set says of the result: its shape, and whether every run is accepted.
struct Inferred {
    shape: PartialShape,
    certain: bool,
}

impl Inferred {
    fn unranked(certain: bool) -> Inferred {
        Inferred { shape: PartialShape::Unranked, certain }
    }
}

/// The bounds of a length; an unbounded one ends at [`u128::MAX`].
#[derive(Clone, Copy, PartialEq, Eq)]
struct Bounds {
    low: u128,
    high: u128,
}

const ONE: Bounds = Bounds { low: 1, high: 1 };

impl From<&Length> for Bounds {
    fn from(length: &Length) -> Bounds {
        Bounds { low: length.min() as u128, high: length.max().map_or(u128::MAX, |max| max as u128) }
    }
}

impl Bounds {
    fn can_be_one(self) -> bool {
        self.low <= 1 && self.high >= 1
    }

    fn intersect(self, other: Bounds) -> Option<Bounds> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Bounds { low, high })
    }

    fn enclose(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers other than 1 within the bounds.
    fn long(self) -> Long {
        let (low, high) = match (self.low, self.high) {
            (1, 1) => return Long::None,
            (1, high) => (2, high),
            (low, 1) => (low, 0),
            bounds => bounds,
        };
        // With 1 strictly between them, the bounds contain 0 and 2.
        if low == high { Long::Only(low) } else { Long::Many }
    }

    /// The bounds of the multiples of a length within bounds. Of several lengths above 1, only the lowest one
    /// limits them.
    fn rounded(self, part: Bounds) -> Option<Bounds> {
        if part.can_be_one() {
            return Some(self);
        }
        let least = if self.low == 0 { 0 } else { self.low.max(part.low) };
        let bounds = match part.low == part.high {
            true if part.low == 0 => Bounds { low: self.low, high: 0 },
            true => Bounds {
                low: self.low.next_multiple_of(part.low),
                high: if self.high == u128::MAX { u128::MAX } else { self.high - self.high % part.low },
            },
            false if self.high < part.low => Bounds { low: least, high: 0 },
            false => Bounds { low: least, high: self.high },
        };
        (bounds.low <= bounds.high).then_some(bounds)
    }

    fn length(self) -> Length {
        let low = usize::try_from(self.low).unwrap_or(usize::MAX);
        Length::bounded(low, usize::try_from(self.high).ok()).expect("the lower bound comes first")
    }
}

/// The lengths other than 1 that can occur on an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    None,
    Only(u128),
    Many,
}

impl Long {
    fn and(self, other: Long) -> Long {
        match (self, other) {
            (Long::None, long) | (long, Long::None) => long,
            (Long::Only(one), Long::Only(two)) if one == two => self,
            (Long::Only(_) | Long::Many, Long::Only(_) | Long::Many) => Long::Many,
        }
    }
}

/// An axis on which 1 is stretched, while its operands are added one by one (clause INFER-4).
struct Stretching {
    bounds: Bounds,
    long: Long,
    /// How many operands can be something other than 1.
    varying: usize,
}

impl Stretching {
    const EMPTY: Stretching = Stretching { bounds: ONE, long: Long::None, varying: 0 };

    /// Adds an operand. `None` if it never goes with the ones before.
    fn add(&mut self, next: Bounds) -> Option<()> {
        // Bounds that enclose others that can be 1 contain 1 too, so the order does not matter.
        self.bounds = match (self.bounds.can_be_one(), next.can_be_one()) {
            (true, true) => self.bounds.enclose(next),
            (true, false) => next,
            (false, true) => self.bounds,
            (false, false) => self.bounds.intersect(next)?,
        };
        self.long = self.long.and(next.long());
        self.varying += usize::from(next != ONE);
        Some(())
    }

    fn certain(&self) -> bool {
        self.long != Long::Many || self.varying <= 1
    }
}

fn shapes(operands: &[OperandType]) -> Vec<&PartialShape> {
    operands.iter().map(OperandType::shape).collect()
}

fn lengths(shape: &PartialShape) -> &[Length] {
    shape.lengths().unwrap_or(&[])
}

/// The axes on which shapes of different ranks are aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Last,
}

/// Shapes with or without ranks, aligned on one side (clauses INFER-4, INFER-10 and INFER-13).
fn aligned(shapes: &[&PartialShape], side: Side) -> Result<Inferred, Refusal> {
    let unranked = shapes.iter().filter(|shape| shape.rank().is_none()).count();
    let rank = shapes.iter().filter_map(|shape| shape.rank()).max().unwrap_or(0);
    let mut result = Vec::with_capacity(rank);
    let (mut certain, mut all_one) = (true, true);
    for axis in 0..rank {
        let mut all = Stretching::EMPTY;
        for shape in shapes.iter().filter_map(|shape| shape.lengths()) {
            let own = match side {
                Side::First => Some(axis),
                Side::Last => (axis + shape.len()).checked_sub(rank),
            };
            let Some(length) = own.and_then(|own| shape.get(own)) else { continue };
            let next = Bounds::from(length);
            let before = all.bounds;
            if all.add(next).is_none() {
                let refusal = mismatch(before, next);
                // The number of an axis depends on the rank if axes are counted from the last.
                let counted = unranked == 0 || side == Side::First;
                return Err(if counted { refusal.at_axis(axis) } else { refusal });
            }
        }
        certain &= all.certain();
        all_one &= all.varying == 0;
        result.push(all.bounds.length());
    }
    Ok(match unranked {
        0 => Inferred { shape: PartialShape::Ranked(result), certain },
        1 => Inferred::unranked(all_one),
        _ => Inferred::unranked(false),
    })
}

/// Equal shapes (clause INFER-5).
fn equal(operands: &[OperandType]) -> Result<Inferred, Refusal> {
    let mut result: Option<Vec<Bounds>> = None;
    let mut certain = true;
    for operand in operands {
        let Some(lengths) = operand.shape().lengths() else {
            certain = false;
            continue;
        };
        let own = lengths.iter().map(Bounds::from).collect();
        let Some(common) = &mut result else {
            result = Some(own);
            continue;
        };
        if common.len() != lengths.len() {
            let message = format!("ranks {} and {} differ", common.len(), lengths.len());
            return Err(Refusal::new(RefusalKind::RankMismatch, message));
        }
    }
    let Some(mut common) = result else { return Ok(Inferred::unranked(operands.len() == 1)) };
    for (axis, bounds) in common.iter_mut().enumerate() {
        for shape in operands.iter().filter_map(|operand| operand.shape().lengths()) {
            let next = Bounds::from(&shape[axis]);
            certain &= operands.len() == 1 || (next == *bounds && next.low == next.high);
            *bounds = bounds.intersect(next).ok_or_else(|| mismatch(*bounds, next).at_axis(axis))?;
        }
    }
    let shape = PartialShape::Ranked(common.into_iter().map(Bounds::length).collect());
    Ok(Inferred { shape, certain: certain || operands.len() == 1 })
}

/// The bounds of a target's axis onto which a length is stretched, and whether it always fits.
fn covered(target: Bounds, length: Bounds) -> Option<(Bounds, bool)> {
    let bounds = if length.can_be_one() { target } else { target.intersect(length)? };
    let certain = match length.long() {
        Long::None => true,
        Long::Only(long) => target == Bounds { low: long, high: long },
        Long::Many => false,
    };
    Some((bounds, certain))
}

/// One operand broadcast to a target (clauses INFER-7 and INFER-13).
fn onto(operand: &PartialShape, target: &PartialShape, side: Side) -> Result<Inferred, Refusal> {
    let Some(own) = operand.lengths() else {
        return Ok(Inferred { shape: target.clone(), certain: false });
    };
    let Some(wanted) = target.lengths() else { return Ok(Inferred::unranked(own.is_empty())) };
    let Some(lead) = wanted.len().checked_sub(own.len()) else {
        let message = format!("rank {} cannot be broadcast to rank {}", own.len(), wanted.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    };
    place(wanted, own, if side == Side::First { 0 } else { lead })
}

/// The axes of one shape laid on those of another from an axis on, stretched where they are 1.
fn place(target: &[Length], own: &[Length], start: usize) -> Result<Inferred, Refusal> {
    let mut shape = target.to_vec();
    let mut certain = true;
    for (axis, length) in (start..).zip(own) {
        let (onto, length) = (Bounds::from(&target[axis]), Bounds::from(length));
        let (bounds, fits) = covered(onto, length).ok_or_else(|| mismatch(onto, length).at_axis(axis))?;
        shape[axis] = bounds.length();
        certain &= fits;
    }
    Ok(Inferred { shape: PartialShape::Ranked(shape), certain })
}

/// One operand on the axes named of a target (clause INFER-9).
fn seated(operand: &PartialShape, target: &PartialShape, dimensions: &[i64]) -> Result<Inferred, Refusal> {
    let (own, wanted) = (lengths(operand), lengths(target));
    let seats = seats(own.len(), wanted.len(), dimensions)?;
    let mut shape = wanted.to_vec();
    let mut certain = true;
    for (axis, seat) in seats.iter().enumerate() {
        let Some(length) = seat.map(|own_axis| Bounds::from(&own[own_axis])) else { continue };
        let onto = Bounds::from(&wanted[axis]);
        let (bounds, fits) = covered(onto, length).ok_or_else(|| mismatch(onto, length).at_axis(axis))?;
        shape[axis] = bounds.length();
        certain &= fits;
    }
    Ok(Inferred { shape: PartialShape::Ranked(shape), certain })
}

/// B onto A from an axis on (clause INFER-6).
fn pdpd(operands: &[OperandType], axis: Option<i64>) -> Result<Inferred, Refusal> {
    let [a, b] = operands else {
        return Ok(Inferred { shape: operands[0].shape().clone(), certain: true });
    };
    let outside = || Refusal::new(RefusalKind::AxisOutOfRange, format!("axis {axis:?} is out of range"));
    let (rank_a, rank_b) = (a.shape().rank(), b.shape().rank());
    if let (Some(rank_a), Some(rank_b)) = (rank_a, rank_b)
        && rank_b > rank_a
    {
        let message = format!("B has rank {rank_b}, higher than A's rank {rank_a}");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    let start = match axis {
        None | Some(-1) => None,
        Some(axis) => Some(usize::try_from(axis).map_err(|_| outside())?),
    };
    let Some(rank_a) = rank_a else {
        return Ok(Inferred::unranked(rank_b == Some(0) && start.unwrap_or(0) == 0));
    };
    // A scalar B starts at the latest axis that is possible.
    if start.is_some_and(|start| start > rank_a) {
        return Err(outside());
    }
    if rank_b.is_none() {
        return Ok(Inferred { shape: a.shape().clone(), certain: false });
    }
    let (a, b) = (lengths(a.shape()), lengths(b.shape()));
    let start = start.unwrap_or(a.len() - b.len());
    let (inside, beyond) = b.split_at(b.len().min(a.len() - start));
    if !beyond.iter().all(|length| Bounds::from(length).can_be_one()) {
        return Err(outside());
    }
    let placed = place(a, inside, start)?;
    let surely_one = beyond.iter().all(|length| Bounds::from(length) == ONE);
    Ok(Inferred { certain: placed.certain && surely_one, ..placed })
}

/// A single operand under `repeat`, which may have too many axes (clause REPEAT-1).
fn once(shape: &PartialShape) -> Result<Inferred, Refusal> {
    shape.rank().map_or(Ok(()), lower::check_rank)?;
    Ok(Inferred { shape: shape.clone(), certain: shape.rank().is_some() })
}

/// B repeated onto A (clause INFER-14).
fn repeated(a: &PartialShape, b: &PartialShape) -> Result<Inferred, Refusal> {
    once(a)?;
    once(b)?;
    let (Some(whole), Some(own)) = (a.lengths(), b.lengths()) else {
        return Ok(Inferred { shape: a.clone(), certain: false });
    };
    let bounds = |lengths: &[Length]| -> Vec<Bounds> { lengths.iter().map(Bounds::from).collect() };
    let (whole, own) = (bounds(whole), bounds(own));
    // B's lengths in front of A, and then on each of A's axes.
    let (beyond, on) = own.split_at(own.len().saturating_sub(whole.len()));
    let on: Vec<Bounds> =
        std::iter::repeat_n(ONE, whole.len() - on.len()).chain(on.iter().copied()).collect();
    let certain = always_repeated(&whole, beyond, &on);
    let zeros = whole.iter().filter(|bounds| bounds.low == 0).count();
    let empty = zeros > 0 && own.iter().any(|bounds| bounds.low == 0);
    let mut shape = Vec::with_capacity(whole.len());
    let mut refused = None;
    if !beyond.iter().all(|bounds| bounds.can_be_one()) {
        let message = format!("B has rank {}, and A {}", own.len(), whole.len());
        refused = Some(Refusal::new(RefusalKind::RankMismatch, message));
    }
    for (axis, (&all, &part)) in whole.iter().zip(&on).enumerate() {
        match all.rounded(part) {
            Some(bounds) => shape.push(bounds),
            None => refused = refused.or_else(|| Some(mismatch(all, part).at_axis(axis))),
        }
    }
    match refused {
        Some(refusal) if !empty => return Err(refusal),
        Some(_) => shape.clear(),
        None => {}
    }
    if empty {
        // Runs in which A has no elements, and so a 0 on some axis.
        for (axis, &all) in whole.iter().enumerate() {
            let elsewhere = zeros > usize::from(all.low == 0);
            let bounds = if elsewhere { all } else { Bounds { low: 0, high: 0 } };
            match shape.get_mut(axis) {
                Some(wider) => *wider = wider.enclose(bounds),
                None => shape.push(bounds),
            }
        }
    }
    let shape = PartialShape::Ranked(shape.into_iter().map(Bounds::length).collect());
    Ok(Inferred { shape, certain })
}

/// Whether every run of `repeat` is accepted, from A's lengths, B's in front of them and B's on them.
fn always_repeated(whole: &[Bounds], beyond: &[Bounds], on: &[Bounds]) -> bool {
    let own = || beyond.iter().chain(on);
    // What has no elements is repeated onto what has none (clause REPEAT-4).
    let without = whole.iter().any(|bounds| bounds.high == 0);
    if without && own().any(|bounds| bounds.high == 0) {
        return true;
    }
    let from = |bounds: &Bounds| Bounds { low: bounds.low.max(u128::from(without)), high: bounds.high };
    let divides = |(all, part): (&Bounds, &Bounds)| {
        let part = from(part);
        match all.high {
            0 => true,
            high if all.low == high => {
                (part.low..=part.high).all(|length| high.checked_rem(length).unwrap_or(high) == 0)
            }
            _ => part == ONE,
        }
    };
    beyond.iter().all(|bounds| from(bounds) == ONE) && whole.iter().zip(on).all(divides)
}

/// Named axes, then degenerate dimensions (clause INFER-9).
fn xla(operands: &[OperandType], dimensions: &[i64]) -> Result<Inferred, Refusal> {
    let [left, right] = operands else {
        return Ok(Inferred { shape: operands[0].shape().clone(), certain: true });
    };
    let (left, right) = (lengths(left.shape()), lengths(right.shape()));
    let (low, high) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let named: Lengths = in_dim(low.len(), high.len(), dimensions)?;
    let mut shape = high.to_vec();
    let mut certain = true;
    for (own, &axis) in low.iter().zip(&named) {
        let mut both = Stretching::EMPTY;
        let (one, other) = (Bounds::from(own), Bounds::from(&high[axis]));
        both.add(one).and_then(|()| both.add(other)).ok_or_else(|| mismatch(one, other).at_axis(axis))?;
        shape[axis] = both.bounds.length();
        certain &= both.certain();
    }
    Ok(Inferred { shape: PartialShape::Ranked(shape), certain })
}

/// Axes with flags (clause INFER-8).
fn flagged(operands: &[OperandType]) -> Result<Inferred, Refusal> {
    let mut certain = true;
    for (place, operand) in operands.iter().enumerate() {
        for (axis, length) in lengths(operand.shape()).iter().enumerate() {
            if fixed(operand, axis) {
                continue;
            }
            if !Bounds::from(length).can_be_one() {
                let message = format!("an axis of length {length} is flagged broadcastable");
                let refusal = Refusal::new(RefusalKind::FlagViolation, message);
                return Err(refusal.of_operand(place).at_axis(axis));
            }
            certain &= Bounds::from(length) == ONE;
        }
    }
    let rank = operands.iter().map(|operand| lengths(operand.shape()).len()).max().unwrap_or(0);
    let mut shape = Vec::with_capacity(rank);
    for axis in 0..rank {
        let mut common: Option<Bounds> = None;
        for operand in operands {
            let own = lengths(operand.shape());
            let Some(at) = (axis + own.len()).checked_sub(rank).filter(|&at| fixed(operand, at)) else {
                continue;
            };
            let next = Bounds::from(&own[at]);
            common = Some(match common {
                None => next,
                Some(before) => {
                    certain &= next == before && next.low == next.high;
                    before.intersect(next).ok_or_else(|| {
                        let message = "lengths of axes that are never stretched differ";
                        Refusal::new(RefusalKind::NotBroadcastable, message).at_axis(axis)
                    })?
                }
            });
        }
        shape.push(common.unwrap_or(ONE).length());
    }
    Ok(Inferred { shape: PartialShape::Ranked(shape), certain })
}

/// Whether an axis of an operand is not flagged broadcastable.
fn fixed(operand: &OperandType, axis: usize) -> bool {
    !operand.broadcastable().is_some_and(|flags| flags[axis])
}

/// The flags of the result (clause THEANO-4).
fn flags(operands: &[OperandType], rank: usize) -> Vec<bool> {
    let mut flags = vec![true; rank];
    for operand in operands {
        let own = lengths(operand.shape()).len();
        for axis in (0..own).filter(|&axis| fixed(operand, axis)) {
            flags[rank - own + axis] = false;
        }
    }
    flags
}

/// Clause G-1, where every length is known.
fn check_sizes<'a>(shapes: impl Iterator<Item = &'a PartialShape>) -> Result<(), Refusal> {
    for shape in shapes {
        if shape.known().is_some_and(|shape| lower::count(&shape).is_none()) {
            return Err(Refusal::new(
                RefusalKind::TooLarge,
                format!("shape {shape} has more than 2^63-1 elements"),
            ));
        }
    }
    Ok(())
}

fn mismatch(one: Bounds, other: Bounds) -> Refusal {
    let message = format!("lengths {} and {} never go together", one.length(), other.length());
    Refusal::new(RefusalKind::DimensionMismatch, message)
}
