//! The columns of a drawing: in which column each operand's axis is drawn. For an accepted query that is the
//! reference's alignment. For a refused query it is where the rule set compares the axis, if it gets that
//! far.

use super::Explanation;
use super::clause::equal_ranks;
use broadcheck_spec::{Asked, Length, PartialShape, RefusalKind, Rules, Shape, Signature};

/// The columns of a drawing, and the column of every axis.
pub(super) struct Columns {
    /// The number of columns.
    pub(super) count: usize,
    /// For each shape (the operands, then the target), for each of its axes, its column; `None` for an axis
    /// that is dropped. A shape that cannot be placed at all is `None`.
    pub(super) places: Vec<Option<Vec<Option<usize>>>>,
    /// Whether the columns are counted from the last axis, because the rank of the result is unknown.
    from_last: bool,
    /// How many columns come before the first axis of the result. Under repeat, B may have axes there.
    pub(super) in_front: usize,
}

/// How many columns beyond A's an operand B may still be drawn in.
const MAX_OVERHANG: usize = 8;

impl Columns {
    /// Columns that begin with the first axis of the result.
    fn new(count: usize, places: Vec<Option<Vec<Option<usize>>>>) -> Columns {
        Columns { count, places, from_last: false, in_front: 0 }
    }

    pub(super) fn of(explanation: &Explanation) -> Columns {
        let query = &explanation.query;
        let (shapes, target) = (&query.shapes[..], query.target.as_ref());
        match (&explanation.decision, target) {
            (Ok(alignment), None) => {
                let places = alignment.axes.iter().cloned().map(Some).collect();
                return Columns::new(alignment.shape.rank(), places);
            }
            (Err(refusal), _) if refusal.kind == Some(RefusalKind::OperandCount) => {
                return unplaced(shapes.len());
            }
            _ => {}
        }
        if let (Rules::Xla { broadcast_dimensions }, [operand], Some(target)) = (&query.rules, shapes, target)
        {
            return onto_target(operand.rank(), target.rank(), broadcast_dimensions.as_deref());
        }
        match (&query.rules, shapes) {
            (Rules::None | Rules::Numpy | Rules::Theano | Rules::Bidirectional, _) => {
                right_aligned(shapes.iter().chain(target).map(Shape::rank))
            }
            (Rules::Leading, _) => left_aligned(shapes.iter().chain(target).map(Shape::rank)),
            (Rules::Repeat, _) => {
                let ranks: Vec<usize> = shapes.iter().chain(target).map(Shape::rank).collect();
                let beyond = matches!(&explanation.decision, Err(refusal)
                    if refusal.kind == Some(RefusalKind::RankMismatch));
                match (&ranks[..], target) {
                    (&[a, b], None) if !beyond => repeated(a, [a, b]),
                    (&[b, a], Some(_)) if !beyond => repeated(a, [b, a]),
                    _ => right_aligned(ranks.iter().copied()),
                }
            }
            (Rules::Pdpd { axis }, [a, b]) => {
                let kept = b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
                pdpd(a.rank(), b.rank(), kept, axis.unwrap_or(-1))
            }
            (Rules::Xla { .. }, [_, _]) if equal_ranks(shapes) => {
                right_aligned(shapes.iter().map(Shape::rank))
            }
            (Rules::Xla { broadcast_dimensions }, [lhs, rhs]) => {
                xla(lhs.rank(), rhs.rank(), broadcast_dimensions.as_deref())
            }
            (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => unplaced(shapes.len()),
        }
    }

    /// The columns of shapes with unknown lengths. A shape of unknown rank is not placed.
    /// `rank` is that of the result, if it is known.
    pub(super) fn of_signature(signature: &Signature, rank: Option<usize>) -> Columns {
        let columns = Columns::placed(signature);
        // Under pdpd, an axis that is given counts from the first, and under leading every axis does.
        let from_first = match signature.rules() {
            Rules::Pdpd { axis } => axis.is_some_and(|axis| axis >= 0),
            Rules::Leading => true,
            Rules::None
            | Rules::Numpy
            | Rules::Bidirectional
            | Rules::Xla { .. }
            | Rules::Theano
            | Rules::Repeat => false,
        };
        let of_a = match (signature.rules(), signature.asked()) {
            (Rules::Repeat, Asked::Expression(_)) => signature.shapes().next(),
            (Rules::Repeat, Asked::TargetShape(target)) => Some(target),
            _ => None,
        };
        let rank_of_a = of_a.and_then(PartialShape::rank);
        let in_front = rank_of_a.map_or(0, |rank| columns.count.saturating_sub(rank));
        Columns { from_last: rank.is_none() && !from_first, in_front, ..columns }
    }

    fn placed(signature: &Signature) -> Columns {
        let shapes: Vec<&PartialShape> = signature.shapes().collect();
        if let (Rules::Xla { broadcast_dimensions }, Asked::TargetShape(_), [operand, target]) =
            (signature.rules(), signature.asked(), &shapes[..])
        {
            let rank = |shape: &PartialShape| shape.rank().unwrap_or(0);
            return onto_target(rank(operand), rank(target), broadcast_dimensions.as_deref());
        }
        match (signature.rules(), &shapes[..]) {
            (Rules::Pdpd { axis }, [a, b]) => partial_pdpd(a, b, axis.unwrap_or(-1)),
            (Rules::Pdpd { .. }, many) if many.len() > 2 => unplaced(many.len()),
            (Rules::Xla { broadcast_dimensions }, [lhs, rhs]) => match (lhs.rank(), rhs.rank()) {
                (Some(lhs), Some(rhs)) if lhs != rhs => xla(lhs, rhs, broadcast_dimensions.as_deref()),
                _ => partial(&shapes),
            },
            (Rules::Xla { .. } | Rules::Repeat, many) if many.len() > 2 => unplaced(many.len()),
            (
                Rules::None
                | Rules::Numpy
                | Rules::Pdpd { .. }
                | Rules::Bidirectional
                | Rules::Xla { .. }
                | Rules::Theano
                | Rules::Repeat,
                _,
            ) => partial(&shapes),
            (Rules::Leading, _) => {
                let places: Vec<_> = shapes.iter().map(|shape| shape.rank().and_then(all)).collect();
                let count = shapes.iter().filter_map(|shape| shape.rank()).max().unwrap_or(0);
                Columns::new(count, places)
            }
        }
    }

    /// The number of a column: from the first axis, or from the last if the rank of the result is unknown.
    /// A column in front of the result has none.
    pub(super) fn name_of(&self, column: usize) -> Option<String> {
        let axis = column.checked_sub(self.in_front)?;
        Some(if self.from_last { format!("-{}", self.count - column) } else { axis.to_string() })
    }

    /// The numbers of all columns.
    pub(super) fn names(&self) -> Vec<String> {
        (0..self.count).map(|column| self.name_of(column).unwrap_or_default()).collect()
    }
}

fn right_aligned(ranks: impl Iterator<Item = usize> + Clone) -> Columns {
    let rank = ranks.clone().max().unwrap_or(0);
    let places = ranks.map(|own| Some((rank - own..rank).map(Some).collect()));
    Columns::new(rank, places.collect())
}

/// Two shapes on the last axes of A. The ones of B for which A has no axis are dropped (REPEAT-2).
fn repeated(a: usize, ranks: [usize; 2]) -> Columns {
    let places = ranks.map(|own| Some((0..own).map(|axis| (axis + a).checked_sub(own)).collect()));
    Columns::new(a, places.to_vec())
}

fn left_aligned(ranks: impl Iterator<Item = usize> + Clone) -> Columns {
    let count = ranks.clone().max().unwrap_or(0);
    Columns::new(count, ranks.map(all).collect())
}

/// Aligns the shapes whose ranks are known at the last axis.
fn partial(shapes: &[&PartialShape]) -> Columns {
    let known = right_aligned(shapes.iter().filter_map(|shape| shape.rank()));
    let mut places = known.places.into_iter();
    let places = shapes.iter().map(|shape| shape.rank().and_then(|_| places.next().flatten()));
    Columns::new(known.count, places.collect())
}

fn partial_pdpd(operand_a: &PartialShape, operand_b: &PartialShape, axis: i64) -> Columns {
    match (operand_a.lengths(), operand_b.lengths()) {
        (Some(a), Some(b)) => {
            let is_one = |length: &Length| length.number() == Some(1);
            let kept = b.iter().rposition(|length| !is_one(length)).map_or(0, |last| last + 1);
            pdpd(a.len(), b.len(), kept, axis)
        }
        // B is placed within an A of unknown rank, or cannot be.
        (None, Some(b)) => match usize::try_from(axis) {
            Ok(start) if start <= MAX_OVERHANG => {
                let places = (0..b.len()).map(|own| Some(start + own)).collect();
                Columns::new(start + b.len(), vec![None, Some(places)])
            }
            Ok(_) => unplaced(2),
            Err(_) => partial(&[operand_a, operand_b]),
        },
        (Some(a), None) => Columns::new(a.len(), vec![all(a.len()), None]),
        (None, None) => unplaced(2),
    }
}

/// No shape can be aligned with another.
fn unplaced(shapes: usize) -> Columns {
    Columns::new(0, vec![None; shapes])
}

fn all(rank: usize) -> Option<Vec<Option<usize>>> {
    Some((0..rank).map(Some).collect())
}

/// Places B from its start axis on, even if it ends beyond A, so that the drawing shows by how much. `kept`
/// is its rank without trailing ones.
fn pdpd(a: usize, b: usize, kept: usize, axis: i64) -> Columns {
    if b > a {
        return right_aligned([a, b].into_iter());
    }
    let start = if axis == -1 { Some(a - b) } else { usize::try_from(axis).ok() };
    let start = start.filter(|&start| kept > 0 && start.saturating_add(kept) <= a + MAX_OVERHANG);
    let Some(start) = start else {
        return Columns::new(a, vec![all(a), None]);
    };
    let places = (0..b).map(|i| (i < kept).then_some(start + i)).collect();
    Columns::new(a.max(start + kept), vec![all(a), Some(places)])
}

/// Places the lower operand at its dimensions, if they name one column for each of its axes, in order.
fn xla(lhs: usize, rhs: usize, dimensions: Option<&[i64]>) -> Columns {
    let (lower, higher) = (lhs.min(rhs), lhs.max(rhs));
    let in_order =
        named(lower, higher, dimensions).filter(|named| named.windows(2).all(|pair| pair[0] < pair[1]));
    let mut places = vec![all(higher), in_order];
    if lhs < rhs {
        places.swap(0, 1);
    }
    Columns::new(higher, places)
}

/// Places an operand at its dimensions, if they name one column of the target for each of its axes.
fn onto_target(operand: usize, target: usize, dimensions: Option<&[i64]>) -> Columns {
    let places = vec![named(operand, target, dimensions), all(target)];
    Columns::new(target, places)
}

/// The columns that the dimensions name, if there is one for each of the axes, and none is named twice.
fn named(rank: usize, columns: usize, dimensions: Option<&[i64]>) -> Option<Vec<Option<usize>>> {
    let dimensions = dimensions.unwrap_or(&[]);
    let column = |&d: &i64| usize::try_from(d).ok().filter(|&column| column < columns);
    let named = dimensions.iter().map(column).collect::<Option<Vec<usize>>>()?;
    let distinct = named.iter().enumerate().all(|(i, column)| !named[..i].contains(column));
    (named.len() == rank && distinct).then(|| named.into_iter().map(Some).collect())
}
