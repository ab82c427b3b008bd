//! The rows of a drawing: what an operand, the intermediate or the result has in each column, and what
//! becomes of it.

use super::columns::Columns;
use super::{Bound, Explanation, Mark};
use broadcheck_spec::{Refusal, RefusalKind, RuleSet, Rules, Shape};

/// One cell of a row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The length and, for `theano`, its flag; or a sign if there is no axis.
    pub(super) number: String,
    /// How the axis is treated.
    pub(super) mark: Mark,
}

/// One line of a drawing.
pub(super) struct Row {
    pub(super) label: String,
    /// The cells, one per column; `None` for an operand that cannot be placed.
    pub(super) cells: Option<Vec<Cell>>,
    /// The text after the cells.
    pub(super) remark: String,
}

/// Rows for the operands, then for the target, the cotangent and the result.
pub(super) fn rows(explanation: &Explanation, columns: &Columns) -> Vec<Row> {
    let query = &explanation.query;
    let mut rows = Vec::new();
    for operand in 0..query.shapes.len() {
        rows.push(operand_row(explanation, columns, operand));
    }
    if query.target.is_some() {
        rows.push(operand_row(explanation, columns, query.shapes.len()));
    }
    if let Some(Bound::Cotangent { label, shape }) = &query.bound {
        rows.push(cotangent_row(explanation, columns, label, shape));
    }
    let Ok(alignment) = &explanation.decision else { return rows };
    let two_steps = alignment.intermediate.as_ref();
    if let Some(intermediate) = two_steps {
        let lower = lower_operand(explanation).unwrap_or(0);
        let label = format!("{} after step 1", query.labels[lower]);
        let cells = intermediate.iter().zip(alignment.shape.iter());
        let cells = cells
            .map(|(&length, &result)| length_cell(length, stretched(RuleSet::Xla, length, result), None));
        let remark = format!("in-dim: {intermediate}");
        rows.push(Row { label, cells: Some(cells.collect()), remark });
    }
    let flags = alignment.broadcastable.as_deref();
    let cells = alignment.shape.iter().enumerate();
    let cells = cells.map(|(axis, &length)| length_cell(length, Mark::Plain, flags.map(|flags| flags[axis])));
    let (label, remark) = match two_steps {
        Some(_) => ("result, step 2", format!("degenerate: {}", alignment.shape)),
        None => ("result", String::new()),
    };
    rows.push(Row { label: label.into(), cells: Some(cells.collect()), remark });
    rows
}

/// The cotangent has the result's shape, or its first other length is why the gradient is refused.
fn cotangent_row(explanation: &Explanation, columns: &Columns, label: &str, shape: &Shape) -> Row {
    let label = label.to_owned();
    if shape.rank() != columns.count {
        return Row { label, cells: None, remark: format!("{shape}  ! its rank is not that of the result") };
    }
    let refused = explanation.decision.as_ref().err().filter(|_| explanation.of_bound);
    let mark = |axis| match refused.and_then(|refusal| refusal.axis) {
        Some(wrong) if wrong == axis => Mark::Offending,
        Some(_) | None => Mark::Plain,
    };
    let cells = shape.iter().enumerate().map(|(axis, &length)| length_cell(length, mark(axis), None));
    Row { label, cells: Some(cells.collect()), remark: "weighs the result".into() }
}

/// Under xla, with different ranks: the operand of the lower rank.
fn lower_operand(explanation: &Explanation) -> Option<usize> {
    let [one, other] = &explanation.query.shapes[..] else { return None };
    (explanation.query.rules.set() == RuleSet::Xla && one.rank() != other.rank())
        .then(|| usize::from(other.rank() < one.rank()))
}

fn operand_row(explanation: &Explanation, columns: &Columns, place: usize) -> Row {
    let query = &explanation.query;
    let (shape, label) = match query.shapes.get(place) {
        Some(shape) => (shape, query.labels[place].clone()),
        None => (query.target.as_ref().expect("the row after the operands is the target's"), "target".into()),
    };
    let Some(places) = &columns.places[place] else {
        return Row { label, cells: None, remark: remark_of_unplaced(explanation, shape) };
    };
    let flags = (query.rules.set() == RuleSet::Theano)
        .then(|| query.flags[place].clone().unwrap_or_else(|| vec![false; shape.rank()]));
    let mut cells: Vec<Cell> =
        (0..columns.count).map(|axis| missing_cell(explanation, place, axis)).collect();
    for (own, (&length, &axis)) in shape.iter().zip(places).enumerate() {
        let Some(axis) = axis else { continue };
        let flag = flags.as_ref().map(|flags| flags[own]);
        let mark = match &explanation.decision {
            // xla stretches the lower operand in two steps. The row of the first step shows which axes.
            Ok(alignment)
                if alignment.intermediate.is_some() && lower_operand(explanation) == Some(place) =>
            {
                Mark::Plain
            }
            Ok(alignment) => stretched(query.rules.set(), length, alignment.shape[axis]),
            Err(refusal) => offending(explanation, refusal, place, own, axis, length, flag),
        };
        cells[axis] = length_cell(length, mark, flag);
    }
    let dropped = places.iter().filter(|axis| axis.is_none()).count();
    let remark = match dropped {
        0 if query.destination() == Some(place) => "the result is written here".into(),
        0 => String::new(),
        _ if query.rules.set() == RuleSet::Repeat => "its axes in front of A's are dropped (REPEAT-2)".into(),
        1 => "its trailing 1 is dropped (PDPD-3)".into(),
        _ => format!("its {dropped} trailing ones are dropped (PDPD-3)"),
    };
    Row { label, cells: Some(cells), remark }
}

fn length_cell(length: usize, mark: Mark, flag: Option<bool>) -> Cell {
    let flag = flag.map_or("", |flag| if flag { "T" } else { "F" });
    Cell { number: format!("{length}{flag}"), mark }
}

/// A 1 against another length is stretched, and under `repeat` any length is.
fn stretched(set: RuleSet, length: usize, result: usize) -> Mark {
    let can_be = length == 1 || set == RuleSet::Repeat;
    if can_be && length != result { Mark::Stretched } else { Mark::Plain }
}

/// An axis that the operand does not have: repeated, or the reason for a refusal.
fn missing_cell(explanation: &Explanation, place: usize, axis: usize) -> Cell {
    let sign = |number: &str, mark| Cell { number: number.into(), mark };
    let Err(refusal) = &explanation.decision else { return sign(".", Mark::Missing) };
    if explanation.of_bound && explanation.query.destination() != Some(place) {
        return sign(".", Mark::Missing);
    }
    let set = explanation.query.rules.set();
    let beyond_a = set == RuleSet::Pdpd && place == 0;
    let needed = match refusal.kind {
        Some(RefusalKind::RankMismatch) => set != RuleSet::Xla,
        Some(RefusalKind::AxisOutOfRange) => beyond_a && axis >= explanation.query.shapes[0].rank(),
        _ => false,
    };
    if needed { sign("-", Mark::Offending) } else { sign(".", Mark::Missing) }
}

/// Whether a refusal is about this length.
fn offending(
    explanation: &Explanation,
    refusal: &Refusal,
    place: usize,
    own: usize,
    axis: usize,
    length: usize,
    flag: Option<bool>,
) -> Mark {
    let query = &explanation.query;
    let is_destination = query.destination() == Some(place);
    let wrong = match refusal.kind {
        _ if explanation.of_bound && !is_destination => {
            query.destination().is_some() && refusal.axis == Some(axis) && length != 1
        }
        Some(RefusalKind::DimensionMismatch) if explanation.of_bound => refusal.axis == Some(axis),
        Some(RefusalKind::FlagViolation) => refusal.operand == Some(place) && refusal.axis == Some(own),
        Some(RefusalKind::NotBroadcastable) => refusal.axis == Some(axis) && flag == Some(false),
        Some(RefusalKind::DimensionMismatch) => {
            let counts = match query.rules.set() {
                RuleSet::None | RuleSet::Pdpd | RuleSet::Repeat => true,
                RuleSet::Numpy | RuleSet::Xla | RuleSet::Leading if query.target.is_some() => true,
                RuleSet::Numpy
                | RuleSet::Bidirectional
                | RuleSet::Xla
                | RuleSet::Theano
                | RuleSet::Leading => length != 1,
            };
            refusal.axis == Some(axis) && counts
        }
        _ => false,
    };
    if wrong { Mark::Offending } else { Mark::Plain }
}

/// The remark on an operand that cannot be placed.
fn remark_of_unplaced(explanation: &Explanation, shape: &Shape) -> String {
    let query = &explanation.query;
    if query.shapes.len() + usize::from(query.target.is_some()) != 2 {
        // Only with two operands, or an operand and a target, is there something to say about how one aligns
        // with the other.
        return shape.to_string();
    }
    let kind = explanation.decision.as_ref().err().and_then(|refusal| refusal.kind);
    match (&query.rules, kind) {
        (Rules::Xla { broadcast_dimensions: None }, _) => {
            format!("{shape}  ! which axes? no broadcast_dimensions are given")
        }
        (Rules::Xla { broadcast_dimensions: Some(_) }, _) => {
            format!("{shape}  ! its broadcast_dimensions are not valid axes")
        }
        (Rules::Pdpd { .. }, Some(RefusalKind::AxisOutOfRange)) => {
            format!("{shape}  ! its axis is out of range")
        }
        (Rules::Pdpd { .. }, _) if shape.rank() > 0 && shape.iter().all(|&length| length == 1) => {
            format!("{shape}  all ones, dropped (PDPD-3): a scalar")
        }
        (
            Rules::None
            | Rules::Numpy
            | Rules::Pdpd { .. }
            | Rules::Bidirectional
            | Rules::Theano
            | Rules::Leading
            | Rules::Repeat,
            _,
        ) => shape.to_string(),
    }
}
