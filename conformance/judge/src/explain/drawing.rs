//! The drawing: rows laid out in columns. The text carries every mark as a sign, so that colour only repeats
//! what the signs say.

use super::columns::Columns;
use super::row::{Cell, Row, rows};
use super::{Explanation, heading};
use crate::text::{padded, padded_left};
use broadcheck_spec::{Refusal, RefusalKind, RuleSet, Rules};
use std::fmt;

/// What a piece of text represents, for code that colours it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// Text, or a length that is not stretched.
    Plain,
    /// A heading.
    Heading,
    /// A 1 that is stretched.
    Stretched,
    /// An axis that an operand lacks: its values are repeated.
    Missing,
    /// A part that the refusal is about.
    Offending,
    /// The verdict of an accepted query.
    Accepted,
    /// The verdict of a refused query.
    Refused,
}

impl Mark {
    /// The sign printed after a length.
    fn sign(self) -> &'static str {
        match self {
            Mark::Stretched => "*",
            Mark::Offending => "!",
            Mark::Plain | Mark::Heading | Mark::Missing | Mark::Accepted | Mark::Refused => "",
        }
    }
}

/// A piece of a line with one mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What the text represents.
    pub mark: Mark,
    /// The text.
    pub text: String,
}

/// Lines of marked pieces. [`fmt::Display`] writes them as plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The lines.
    pub lines: Vec<Vec<Span>>,
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            let text: String = line.iter().map(|span| span.text.as_str()).collect();
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

impl Drawing {
    fn line(&mut self, spans: impl IntoIterator<Item = (Mark, String)>) {
        self.lines.push(spans.into_iter().map(|(mark, text)| Span { mark, text }).collect());
    }
}

pub(super) fn draw(explanation: &Explanation, width: usize) -> Drawing {
    let columns = Columns::of(explanation);
    let rows = rows(explanation, &columns);
    let mut drawing = Drawing::default();
    drawing.line([
        (Mark::Heading, format!("{}:", title(&explanation.query.rules))),
        (Mark::Plain, format!(" {}", explanation.equation())),
    ]);
    drawing.line([]);
    table(&mut drawing, &columns, &rows, width);
    drawing.line([]);
    legend(&mut drawing, explanation, &rows);
    verdict(&mut drawing, explanation);
    drawing
}

/// `pdpd, axis 1`.
fn title(rules: &Rules) -> String {
    match rules {
        Rules::Pdpd { axis: Some(axis) } => format!("pdpd, axis {axis}"),
        Rules::Xla { broadcast_dimensions: Some(dimensions) } => {
            let list: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
            format!("xla, broadcast_dimensions ({})", list.join(","))
        }
        Rules::Pdpd { axis: None }
        | Rules::Xla { broadcast_dimensions: None }
        | Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano => rules.set().to_string(),
    }
}

/// The rows in columns, in several blocks if the axes do not fit the width.
fn table(drawing: &mut Drawing, columns: &Columns, rows: &[Row], width: usize) {
    let label_width = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0).max("axis".len());
    let numbers = || rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.number.len());
    let number_width = numbers().max().unwrap_or(0).max(columns.count.saturating_sub(1).to_string().len());
    // Two spaces before a number, one character after it for its sign.
    let column_width = number_width + 3;
    let per_block = (width.saturating_sub(label_width + 2) / column_width).max(1);
    let mut first = 0;
    loop {
        let last = columns.count.min(first + per_block);
        if first > 0 {
            drawing.line([]);
        }
        if columns.count > 0 {
            let mut line = vec![(Mark::Heading, format!("  {}", padded("axis", label_width)))];
            line.extend(
                (first..last).map(|axis| {
                    (Mark::Heading, format!("  {} ", padded_left(&axis.to_string(), number_width)))
                }),
            );
            drawing.line(line);
        }
        for row in rows {
            let mut line = vec![(Mark::Plain, format!("  {}", padded(&row.label, label_width)))];
            match &row.cells {
                Some(cells) => line.extend(cells[first..last].iter().map(|cell| column(cell, number_width))),
                None if first == 0 => {}
                None => continue,
            }
            let remark = match &row.cells {
                Some(_) if last < columns.count => String::new(),
                Some(cells) if cells.is_empty() => format!("  () {}", row.remark),
                _ if row.remark.is_empty() => String::new(),
                _ => format!("  {}", row.remark),
            };
            if !remark.is_empty() {
                line.push((Mark::Plain, remark));
            }
            drawing.line(line);
        }
        first = last;
        if first >= columns.count {
            break;
        }
    }
}

fn column(cell: &Cell, number_width: usize) -> (Mark, String) {
    (cell.mark, format!("  {}{:1}", padded_left(&cell.number, number_width), cell.mark.sign()))
}

/// Explains the signs that occur.
fn legend(drawing: &mut Drawing, explanation: &Explanation, rows: &[Row]) {
    let occurs =
        |mark: Mark| rows.iter().flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.mark == mark);
    let refused = explanation.decision.is_err();
    let mut parts = Vec::new();
    if explanation.query.rules.set() == RuleSet::Theano && rows.iter().any(|row| row.cells.is_some()) {
        parts.push("T broadcastable, F not");
    }
    if occurs(Mark::Stretched) {
        parts.push("* a stretched 1");
    }
    if occurs(Mark::Missing) {
        parts.push(if refused { ". no axis" } else { ". no axis: repeated along it" });
    }
    if occurs(Mark::Offending) {
        parts.push("! incompatible");
    }
    if !parts.is_empty() {
        drawing.line([(Mark::Plain, format!("  {}", parts.join("   ")))]);
    }
}

/// The refusal, with the operand's name in the drawing.
fn refusal_text(explanation: &Explanation, refusal: &Refusal) -> String {
    let kind = refusal.kind.map_or("without a kind", RefusalKind::name);
    let label = refusal.operand.and_then(|operand| explanation.query.labels.get(operand));
    let operand = label.map(|label| format!(" of {label}")).unwrap_or_default();
    let axis = refusal.axis.map(|axis| format!(" at axis {axis}")).unwrap_or_default();
    format!("{kind}{operand}{axis}: {}", refusal.message)
}

fn verdict(drawing: &mut Drawing, explanation: &Explanation) {
    let verdict = match &explanation.decision {
        Ok(alignment) => (Mark::Accepted, format!("  accepted: the result is {}", alignment.shape)),
        Err(refusal) => (Mark::Refused, format!("  refused: {}", refusal_text(explanation, refusal))),
    };
    drawing.line([verdict]);
    let clause = explanation.clause;
    let heading = heading(clause).map(|heading| format!(": {heading}")).unwrap_or_default();
    drawing.line([(Mark::Plain, format!("  {clause}{heading}"))]);
}
