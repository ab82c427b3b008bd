//! Where the operands are drawn: on which axis of the frame each of their axes stands. For an accepted query
//! that is the reference's alignment; for a refused one, the place that the rule set compares it at, as far as
//! there is one.

use super::Explanation;
use super::clause::equal_ranks;
use broadcheck_spec::{RefusalKind, Rules, Shape};

/// The axes above which operands are drawn.
pub(super) struct Columns {
    /// The number of axes.
    pub(super) count: usize,
    /// For each shape (the operands, then the target), for each of its axes, the axis of the frame; `None` for
    /// an axis that is dropped. A shape that has no place as a whole is `None`.
    pub(super) places: Vec<Option<Vec<Option<usize>>>>,
}

/// How far beyond A an operand B is still drawn.
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
            _ => unplaced(shapes),
        }
    }
}

fn right_aligned<'a>(shapes: impl Iterator<Item = &'a Shape> + Clone) -> Columns {
    let rank = shapes.clone().map(Shape::rank).max().unwrap_or(0);
    let places = shapes.map(|shape| Some((rank - shape.rank()..rank).map(Some).collect()));
    Columns { count: rank, places: places.collect() }
}

/// No shape lies above any other.
fn unplaced(shapes: &[Shape]) -> Columns {
    Columns { count: 0, places: vec![None; shapes.len()] }
}

fn all(shape: &Shape) -> Option<Vec<Option<usize>>> {
    Some((0..shape.rank()).map(Some).collect())
}

/// B from its start axis on, also where it ends beyond A, so that one sees by how much.
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

/// The lower operand on its dimensions, where they name one place for each of its axes.
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
