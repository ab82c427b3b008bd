//! The columns of a drawing: in which column each operand's axis is drawn. For an accepted query that is the
//! reference's alignment. For a refused query it is where the rule set compares the axis, if it gets that
//! far.

use super::Explanation;
use super::clause::equal_ranks;
use broadcheck_spec::{RefusalKind, Rules, Shape};

/// The columns of a drawing, and the column of every axis.
pub(super) struct Columns {
    /// The number of columns.
    pub(super) count: usize,
    /// For each shape (the operands, then the target), for each of its axes, its column; `None` for an axis
    /// that is dropped. A shape that cannot be placed at all is `None`.
    pub(super) places: Vec<Option<Vec<Option<usize>>>>,
}

/// How many columns beyond A's an operand B may still be drawn in.
const MAX_OVERHANG: usize = 8;

impl Columns {
    pub(super) fn of(explanation: &Explanation) -> Columns {
        let query = &explanation.query;
        let (shapes, target) = (&query.shapes[..], query.target.as_ref());
        match (&explanation.decision, target) {
            (Ok(alignment), None) => {
                let places = alignment.axes.iter().cloned().map(Some).collect();
                return Columns { count: alignment.shape.rank(), places };
            }
            (Err(refusal), _) if refusal.kind == Some(RefusalKind::OperandCount) => return unplaced(shapes),
            _ => {}
        }
        match (&query.rules, shapes) {
            (Rules::None | Rules::Numpy | Rules::Theano | Rules::Bidirectional, _) => {
                right_aligned(shapes.iter().chain(target))
            }
            (Rules::Pdpd { axis }, [a, b]) => pdpd(a, b, axis.unwrap_or(-1)),
            (Rules::Xla { .. }, [_, _]) if equal_ranks(shapes) => right_aligned(shapes.iter()),
            (Rules::Xla { broadcast_dimensions }, [_, _]) => xla(shapes, broadcast_dimensions.as_deref()),
            (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => unplaced(shapes),
        }
    }
}

fn right_aligned<'a>(shapes: impl Iterator<Item = &'a Shape> + Clone) -> Columns {
    let rank = shapes.clone().map(Shape::rank).max().unwrap_or(0);
    let places = shapes.map(|shape| Some((rank - shape.rank()..rank).map(Some).collect()));
    Columns { count: rank, places: places.collect() }
}

/// No shape can be aligned with another.
fn unplaced(shapes: &[Shape]) -> Columns {
    Columns { count: 0, places: vec![None; shapes.len()] }
}

fn all(shape: &Shape) -> Option<Vec<Option<usize>>> {
    Some((0..shape.rank()).map(Some).collect())
}

/// Places B from its start axis on, even if it ends beyond A, so that the drawing shows by how much.
fn pdpd(a: &Shape, b: &Shape, axis: i64) -> Columns {
    if b.rank() > a.rank() {
        return right_aligned([a, b].into_iter());
    }
    let kept = b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
    let start = if axis == -1 { Some(a.rank() - b.rank()) } else { usize::try_from(axis).ok() };
    let start = start.filter(|&start| kept > 0 && start.saturating_add(kept) <= a.rank() + MAX_OVERHANG);
    let Some(start) = start else {
        return Columns { count: a.rank(), places: vec![all(a), None] };
    };
    let places = (0..b.rank()).map(|i| (i < kept).then_some(start + i)).collect();
    Columns { count: a.rank().max(start + kept), places: vec![all(a), Some(places)] }
}

/// Places the lower operand at its dimensions, if they name one column for each of its axes.
fn xla(shapes: &[Shape], dimensions: Option<&[i64]>) -> Columns {
    let lower = usize::from(shapes[1].rank() < shapes[0].rank());
    let higher = &shapes[1 - lower];
    let named: Vec<usize> =
        dimensions.unwrap_or(&[]).iter().filter_map(|&d| usize::try_from(d).ok()).collect();
    let well_placed = named.len() == dimensions.map_or(0, <[i64]>::len)
        && named.len() == shapes[lower].rank()
        && named.iter().all(|&axis| axis < higher.rank())
        && named.windows(2).all(|pair| pair[0] < pair[1]);
    let mut places = vec![all(higher), well_placed.then(|| named.into_iter().map(Some).collect())];
    if lower == 0 {
        places.swap(0, 1);
    }
    Columns { count: higher.rank(), places }
}
