//! The drawing: rows laid out in columns. The text carries every mark as a sign, so that colour only repeats
//! what the signs say.

use super::clause::kind_and_place;
use super::columns::Columns;
use super::row::{Cell, Row, rows};
use super::{Explanation, heading};
use crate::text::{padded, padded_left};
use broadcheck_spec::{Refusal, RuleSet, Rules};
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
    /// An unknown length that is stretched if it turns out to be 1.
    Perhaps,
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
            Mark::Perhaps => "~",
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
    pub(super) fn line(&mut self, spans: impl IntoIterator<Item = (Mark, String)>) {
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
    table(&mut drawing, &columns.names(), &rows, width);
    drawing.line([]);
    legend(&mut drawing, explanation, &rows);
    verdict(&mut drawing, explanation);
    drawing
}

/// `pdpd, axis 1`.
pub(super) fn title(rules: &Rules) -> String {
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
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => rules.set().to_string(),
    }
}

/// The rows in columns, in several blocks if the axes do not fit the width.
pub(super) fn table(drawing: &mut Drawing, axes: &[String], rows: &[Row], width: usize) {
    let label_width = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0).max("axis".len());
    let numbers = || rows.iter().flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.number.len());
    let number_width = numbers().chain(axes.iter().map(String::len)).max().unwrap_or(0);
    // Two spaces before a number, one character after it for its sign.
    let column_width = number_width + 3;
    let per_block = (width.saturating_sub(label_width + 2) / column_width).max(1);
    let mut first = 0;
    loop {
        let last = axes.len().min(first + per_block);
        if first > 0 {
            drawing.line([]);
        }
        if !axes.is_empty() {
            let mut line = vec![(Mark::Heading, format!("  {}", padded("axis", label_width)))];
            let name = |axis: &String| (Mark::Heading, format!("  {} ", padded_left(axis, number_width)));
            line.extend(axes[first..last].iter().map(name));
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
                Some(_) if last < axes.len() => String::new(),
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
        if first >= axes.len() {
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
        parts.push(match explanation.query.rules.set() {
            RuleSet::Repeat => "* a repeated length",
            RuleSet::None
            | RuleSet::Numpy
            | RuleSet::Pdpd
            | RuleSet::Bidirectional
            | RuleSet::Xla
            | RuleSet::Theano
            | RuleSet::Leading => "* a stretched 1",
        });
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
    format!("{}: {}", kind_and_place(refusal, &explanation.query.labels), refusal.message)
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
