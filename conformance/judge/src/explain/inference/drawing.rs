//! The drawing of an inference: the lengths under the result, what each run must fulfil, and examples.

use super::{Axis, InferenceExplanation};
use crate::explain::columns::Columns;
use crate::explain::drawing::{Drawing, Mark, table, title};
use crate::explain::heading;
use crate::explain::row::{Cell, Row};
use broadcheck_spec::{Accepts, Asked, Length, PartialShape, Refusal, RefusalKind, RuleSet, Rules};

pub(super) fn draw(explanation: &InferenceExplanation, width: usize) -> Drawing {
    // A refusal without an axis is about shapes of unknown rank.
    let rank = match &explanation.decision {
        Ok(inference) => inference.shape.rank(),
        Err(_) if explanation.signature.shapes().any(|shape| shape.rank().is_none()) => None,
        Err(_) => Some(0),
    };
    let columns = Columns::of_signature(&explanation.signature, rank);
    let axes = explanation.axes(&columns);
    let rows = rows(explanation, &columns, &axes);
    let mut drawing = Drawing::default();
    drawing.line([
        (Mark::Heading, format!("{}:", title(explanation.signature.rules()))),
        (Mark::Plain, format!(" {}", explanation.equation())),
    ]);
    drawing.line([]);
    table(&mut drawing, &columns.names(), &rows, width);
    drawing.line([]);
    legend(&mut drawing, explanation, &rows);
    verdict(&mut drawing, explanation, &columns, &axes);
    drawing
}

/// Rows for the operands, then for the target, then for the result.
fn rows(explanation: &InferenceExplanation, columns: &Columns, axes: &[Axis]) -> Vec<Row> {
    let signature = &explanation.signature;
    let mut rows: Vec<Row> = signature
        .shapes()
        .enumerate()
        .map(|(place, shape)| shape_row(explanation, columns, axes, place, shape))
        .collect();
    let Ok(inference) = &explanation.decision else { return rows };
    let cells = inference.shape.lengths().map(|lengths| {
        let flags = inference.broadcastable.as_deref();
        let cell =
            |(axis, &length): (usize, &Length)| cell(length, Mark::Plain, flags.map(|flags| flags[axis]));
        // B may have axes in front of A under repeat, and beyond it under pdpd, where the result has none.
        let none = |count: usize| (0..count).map(|_| nothing());
        let beyond = columns.count.saturating_sub(columns.in_front + lengths.len());
        let cells = lengths.iter().enumerate().map(cell);
        none(columns.in_front).chain(cells).chain(none(beyond)).collect::<Vec<Cell>>()
    });
    let remark = if cells.is_none() { "(...)  any rank".into() } else { String::new() };
    rows.push(Row { label: "result".into(), cells, remark });
    rows
}

fn shape_row(
    explanation: &InferenceExplanation,
    columns: &Columns,
    axes: &[Axis],
    place: usize,
    shape: &PartialShape,
) -> Row {
    let signature = &explanation.signature;
    let label = explanation.labels[place].clone();
    let Some(lengths) = shape.lengths() else {
        return Row { label, cells: None, remark: "(...)  any rank".into() };
    };
    let Some(places) = &columns.places[place] else {
        return Row { label, cells: None, remark: unplaced(signature.rules(), shape) };
    };
    let flags = (signature.rules().set() == RuleSet::Theano).then(|| {
        let flags = signature.operands()[place].broadcastable();
        flags.map_or_else(|| vec![false; lengths.len()], <[bool]>::to_vec)
    });
    let missing = |column| missing(explanation, column < columns.in_front);
    let mut cells: Vec<Cell> = (0..columns.count).map(missing).collect();
    for (own, (&length, column)) in lengths.iter().zip(places).enumerate() {
        let Some(column) = *column else { continue };
        let flag = flags.as_ref().map(|flags| flags[own]);
        let stretches = is_stretched(signature.rules(), signature.asked(), place, flag);
        let of_result = column.checked_sub(columns.in_front);
        let mark = mark(explanation, &axes[column], of_result, (place, own), (length, stretches));
        cells[column] = cell(length, mark, flag);
    }
    Row { label, cells: Some(cells), remark: String::new() }
}

fn cell(length: Length, mark: Mark, flag: Option<bool>) -> Cell {
    let flag = flag.map_or("", |flag| if flag { "T" } else { "F" });
    Cell { number: format!("{length}{flag}"), mark }
}

/// Where the result has no axis.
fn nothing() -> Cell {
    Cell { number: String::new(), mark: Mark::Plain }
}

/// An axis that a shape does not have, and the result neither if it is in front of it.
fn missing(explanation: &InferenceExplanation, in_front: bool) -> Cell {
    let set = explanation.signature.rules().set();
    match &explanation.decision {
        Err(refusal) if refusal.kind == Some(RefusalKind::RankMismatch) && set != RuleSet::Xla => {
            Cell { number: "-".into(), mark: Mark::Offending }
        }
        _ if in_front => nothing(),
        _ => Cell { number: ".".into(), mark: Mark::Missing },
    }
}

/// How a length is treated, or whether the refusal is about it. `of_result` is the axis of the result.
fn mark(
    explanation: &InferenceExplanation,
    axis: &Axis,
    of_result: Option<usize>,
    (place, own): (usize, usize),
    (length, stretches): (Length, bool),
) -> Mark {
    if let Err(refusal) = &explanation.decision {
        let wrong = is_about(refusal, axis, of_result, (place, own)) && !(stretches && length.admits(1));
        return if wrong { Mark::Offending } else { Mark::Plain };
    }
    let to_one = axis.result().and_then(Length::number) == Some(1);
    match length.number() {
        _ if to_one || axis.members.len() < 2 || !stretches => Mark::Plain,
        Some(1) => Mark::Stretched,
        None if length.admits(1) => Mark::Perhaps,
        Some(_) | None => Mark::Plain,
    }
}

/// Whether a refusal is about a length on an axis that no run passes.
fn is_about(refusal: &Refusal, axis: &Axis, of_result: Option<usize>, (place, own): (usize, usize)) -> bool {
    match refusal.kind {
        Some(RefusalKind::FlagViolation) => refusal.operand == Some(place) && refusal.axis == Some(own),
        Some(
            RefusalKind::DimensionMismatch | RefusalKind::NotBroadcastable | RefusalKind::AxisOutOfRange,
        ) => matches!(axis.alone, Some(Err(_))) && refusal.axis.is_none_or(|axis| of_result == Some(axis)),
        _ => false,
    }
}

/// Whether a length 1 of the shape at this place is stretched; `flag` is that of its axis under theano.
fn is_stretched(rules: &Rules, asked: &Asked, place: usize, flag: Option<bool>) -> bool {
    match (rules, asked) {
        (Rules::None, _) => false,
        (Rules::Pdpd { .. } | Rules::Repeat, Asked::Expression(_)) => place == 1,
        (Rules::Pdpd { .. } | Rules::Repeat, Asked::TargetShape(_)) => place == 0,
        (Rules::Numpy | Rules::Xla { .. } | Rules::Leading, Asked::TargetShape(_)) => place == 0,
        (Rules::Theano, _) => flag == Some(true),
        (Rules::Numpy | Rules::Bidirectional | Rules::Xla { .. } | Rules::Leading, _) => true,
    }
}

/// The remark on an operand that cannot be placed.
fn unplaced(rules: &Rules, shape: &PartialShape) -> String {
    match rules {
        Rules::Xla { broadcast_dimensions: None } => {
            format!("{shape}  ! which axes? no broadcast_dimensions are given")
        }
        Rules::Xla { broadcast_dimensions: Some(_) } => {
            format!("{shape}  ! its broadcast_dimensions are not valid axes")
        }
        Rules::Pdpd { .. } => format!("{shape}  ! its axis is out of range"),
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => shape.to_string(),
    }
}

/// Explains the signs that occur.
fn legend(drawing: &mut Drawing, explanation: &InferenceExplanation, rows: &[Row]) {
    let occurs =
        |mark: Mark| rows.iter().flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.mark == mark);
    let signature = &explanation.signature;
    let mut parts = Vec::new();
    if signature.rules().set() == RuleSet::Theano {
        parts.push("T broadcastable, F not");
    }
    if occurs(Mark::Stretched) {
        parts.push("* a stretched 1");
    }
    if occurs(Mark::Perhaps) {
        parts.push("~ stretched if it is 1");
    }
    if occurs(Mark::Missing) {
        parts.push(if explanation.decision.is_err() { ". no axis" } else { ". no axis: repeated along it" });
    }
    if occurs(Mark::Offending) {
        parts.push("! incompatible");
    }
    if !parts.is_empty() {
        drawing.line([(Mark::Plain, format!("  {}", parts.join("   ")))]);
    }
}

fn verdict(drawing: &mut Drawing, explanation: &InferenceExplanation, columns: &Columns, axes: &[Axis]) {
    let (accepted, refused) = explanation.examples(axes);
    let line = match &explanation.decision {
        Ok(inference) => {
            let runs = match inference.accepts {
                Some(Accepts::Depends) => "some runs are accepted and others refused (depends)",
                Some(Accepts::Always) | None => "every run is accepted (always)",
            };
            (Mark::Accepted, format!("  inferred: the result is {}; {runs}", inference.shape))
        }
        Err(refusal) => {
            let place = super::clause::kind_and_place(refusal, &explanation.labels);
            (Mark::Refused, format!("  refused before the run: {place}: {}", refusal.message))
        }
    };
    drawing.line([line]);
    let conditions =
        if explanation.decision.is_ok() { explanation.conditions(columns, axes) } else { Vec::new() };
    for condition in conditions {
        drawing.line([(Mark::Plain, format!("  {condition}"))]);
    }
    for (what, mark, example) in [("accepted", Mark::Accepted, accepted), ("refused", Mark::Refused, refused)]
    {
        if let Some(example) = example {
            let run = format!(" {}", explanation.describe(&example));
            drawing.line([(mark, format!("  {what}, for example:")), (Mark::Plain, run)]);
        }
    }
    let clause = explanation.clause;
    let heading = heading(clause).map(|heading| format!(": {heading}")).unwrap_or_default();
    drawing.line([(Mark::Plain, format!("  {clause}{heading}"))]);
}
