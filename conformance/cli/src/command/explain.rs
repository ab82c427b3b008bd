//! `broadcheck explain`: draws how shapes broadcast, or why they do not; of shapes with unknown lengths,
//! what is inferred.

use super::{Ended, Error, PASSED, columns, print, width};
use crate::report::plural;
use anstyle::{AnsiColor, Style};
use broadcheck_judge::explain::{Drawing, Explanation, InferenceExplanation, Mark, ShapeQuery};
use broadcheck_spec::{Accepts, Attribute, Malformed, PartialShape, Refusal, RuleSet, Rules, Shape};
use std::fmt::Write as _;

/// The largest drawing: the number of shapes times the number of axes.
const MAX_LENGTHS: usize = 100_000;

/// Draw how shapes broadcast, axis by axis, or why they do not
///
/// Without --rules, prints a table of all rule sets, then a drawing for each. An attribute applies to the
/// rule set that has it. Under bidirectional, the second shape is the target.
///
/// A length may be unknown: `?`, or bounds such as `..3`, `2..` and `1..3`. So may the rank: `...`. Then
/// explain prints what is known of the result before the run, and which runs are accepted, with examples.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck explain 2x3 3
  broadcheck explain --rules numpy 2x1x5 4x1
  broadcheck explain --rules pdpd --axis 1 2x3x4x5 3x4
  broadcheck explain --rules xla --dims 1,2 1x2 4x3x1
  broadcheck explain --rules theano --broadcastable t,f 1 10
  broadcheck explain --rules bidirectional 3x1 2x1x6
  broadcheck explain --rules numpy --target 2x3 3
  broadcheck explain --rules xla --dims 1,0 --target 3x2 2x3
  broadcheck explain --rules numpy --into 2x3 2x1 3
  broadcheck explain --rules numpy '?x3' 2x1..3

A shape is its lengths joined by x. A scalar is '()', quoted for the shell, as is '?'.")]
pub(super) struct Args {
    /// Rule set: none, numpy, pdpd, bidirectional, xla, theano, leading or repeat [default: all]
    #[arg(long, value_name = "R")]
    rules: Option<RuleSet>,

    /// pdpd: axis of the first operand where the second starts
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    axis: Option<i64>,

    /// xla: broadcast_dimensions, an axis of the higher-rank operand (or of the target) for each axis of the
    /// other
    #[arg(long, visible_alias = "broadcast-dimensions", value_name = "N,N...", allow_hyphen_values = true)]
    dims: Option<String>,

    /// theano: broadcastable flags, t or f per axis, a comma between operands, () for a scalar
    #[arg(long, value_name = "FLAGS,FLAGS...")]
    broadcastable: Option<String>,

    /// numpy, bidirectional, xla, leading and repeat: target shape of a single operand
    #[arg(long, value_name = "SHAPE", value_parser = parse_partial_shape)]
    target: Option<PartialShape>,

    /// numpy: shape of the array that the result is written into, as with `out=` and `+=`
    #[arg(long, value_name = "SHAPE", conflicts_with = "target", value_parser = parse_partial_shape)]
    into: Option<PartialShape>,

    /// Shapes of the operands, such as 2x3 3 '()' or '?x3'
    #[arg(required = true, value_name = "SHAPE", value_parser = parse_partial_shape)]
    shapes: Vec<PartialShape>,
}

/// Shapes for a rule set to decide on, or to infer from.
enum Explained {
    Known(Explanation),
    Inferred(InferenceExplanation),
}

impl Explained {
    fn draw(&self) -> Drawing {
        match self {
            Explained::Known(explanation) => explanation.draw(width()),
            Explained::Inferred(explanation) => explanation.draw(width()),
        }
    }

    fn clause(&self) -> &'static str {
        match self {
            Explained::Known(explanation) => explanation.clause,
            Explained::Inferred(explanation) => explanation.clause,
        }
    }

    /// The outcome in a word, and the result or the refusal.
    fn summary(&self) -> (&'static str, String) {
        match self {
            Explained::Known(Explanation { decision: Ok(alignment), .. }) => {
                ("accepted", alignment.shape.to_string())
            }
            Explained::Inferred(InferenceExplanation { decision: Ok(inference), .. }) => {
                (inference.accepts.map_or("accepted", Accepts::name), inference.shape.to_string())
            }
            Explained::Known(Explanation { decision: Err(refusal), .. })
            | Explained::Inferred(InferenceExplanation { decision: Err(refusal), .. }) => {
                ("refused", kind_and_axis(refusal))
            }
        }
    }
}

fn kind_and_axis(refusal: &Refusal) -> String {
    let kind = refusal.kind.map_or("refused", |kind| kind.name());
    refusal.axis.map_or_else(|| kind.into(), |axis| format!("{kind}, axis {axis}"))
}

pub(super) fn parse_partial_shape(text: &str) -> Result<PartialShape, String> {
    text.parse().map_err(|_| {
        "expected lengths of 0 or more joined by `x`, as in `2x3` or `4`, or `()` for a scalar; `?`, `..3`, `2..` or \
         `1..3` for an unknown length; `...` for an unknown rank"
            .to_owned()
    })
}

pub(super) fn run(args: &Args) -> Ended {
    print(&text(args)?)?;
    Ok(PASSED)
}

/// The drawing, or the table and all drawings.
pub(super) fn text(args: &Args) -> Result<String, Error> {
    check_size(args)?;
    match args.rules {
        Some(set) => Ok(painted(&explained(args, set)?.draw())),
        None => side_by_side(args),
    }
}

/// The operands, then the target or the destination.
fn all_shapes(args: &Args) -> impl Iterator<Item = &PartialShape> + Clone {
    args.shapes.iter().chain(&args.target).chain(&args.into)
}

/// A drawing has a row for each shape and a column for each axis.
fn check_size(args: &Args) -> Result<(), Error> {
    let shapes = all_shapes(args);
    let (rows, axes) = (shapes.clone().count(), shapes.filter_map(PartialShape::rank).max().unwrap_or(0));
    if rows.saturating_mul(axes.max(1)) <= MAX_LENGTHS {
        return Ok(());
    }
    Err(Error::Input(format!(
        "explain: found {} of up to {}, expected at most {MAX_LENGTHS} lengths to draw",
        plural(rows, "shape"),
        if axes == 1 { "1 axis".into() } else { format!("{axes} axes") }
    )))
}

/// The explanation under one rule set, with the attributes from the command line.
fn explained(args: &Args, set: RuleSet) -> Result<Explained, Error> {
    check_attributes(args, set)?;
    let known: Option<Vec<Shape>> = all_shapes(args).map(PartialShape::known).collect();
    let rules = match Rules::from(set) {
        Rules::Pdpd { .. } => Rules::Pdpd { axis: args.axis },
        Rules::Xla { .. } => Rules::Xla { broadcast_dimensions: dimensions(args)? },
        bare @ (Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat) => bare,
    };
    if args.into.is_some() {
        return written(known);
    }
    let explained = match (set, &args.target, &args.shapes[..]) {
        (RuleSet::Bidirectional, None, [operand, target]) | (_, Some(target), [operand]) => {
            match known.as_deref() {
                Some([operand, target]) => ShapeQuery::broadcast(rules, operand.clone(), target.clone())
                    .map(Explanation::new)
                    .map(Explained::Known),
                _ => InferenceExplanation::broadcast(rules, operand.clone(), target.clone())
                    .map(Explained::Inferred),
            }
        }
        (RuleSet::Bidirectional, None, shapes) => {
            let found = plural(shapes.len(), "shape");
            Err(Malformed::new("bidirectional", found, "two: the operand's and the target"))
        }
        (_, Some(_), shapes) => Err(Malformed::new(
            "--target",
            format!("{} with a target", plural(shapes.len(), "operand")),
            "exactly one",
        )),
        (_, None, shapes) => {
            let flags = if set.has_attribute(Attribute::Broadcastable) {
                flags(args)?
            } else {
                vec![None; shapes.len()]
            };
            match known {
                Some(shapes) => {
                    ShapeQuery::elementwise(rules, shapes, flags).map(Explanation::new).map(Explained::Known)
                }
                None => {
                    InferenceExplanation::elementwise(rules, shapes.to_vec(), flags).map(Explained::Inferred)
                }
            }
        }
    };
    explained.map_err(|malformed| Error::Input(malformed.to_string()))
}

/// The explanation of a result that is written into the last of the shapes.
fn written(known: Option<Vec<Shape>>) -> Result<Explained, Error> {
    let Some(mut shapes) = known else {
        return Err(Error::Input("--into: found unknown lengths, expected shapes of known lengths".into()));
    };
    let destination = shapes.pop().expect("--into is the last of the shapes");
    let query = ShapeQuery::into_destination(shapes, destination);
    query
        .map(|query| Explained::Known(Explanation::new(query)))
        .map_err(|malformed| Error::Input(malformed.to_string()))
}

/// Rejects attributes of other rule sets than the one requested.
fn check_attributes(args: &Args, set: RuleSet) -> Result<(), Error> {
    if args.rules.is_none() {
        return Ok(());
    }
    let attributes = [
        ("--axis", args.axis.is_some(), RuleSet::Pdpd),
        ("--dims", args.dims.is_some(), RuleSet::Xla),
        ("--broadcastable", args.broadcastable.is_some(), RuleSet::Theano),
        ("--into", args.into.is_some(), RuleSet::Numpy),
    ];
    match attributes.iter().find(|(_, given, owner)| *given && *owner != set) {
        Some((name, _, owner)) => Err(Error::Input(format!(
            "{name}: found an attribute of {owner} under {set}, expected --rules {owner}"
        ))),
        None => Ok(()),
    }
}

fn dimensions(args: &Args) -> Result<Option<Vec<i64>>, Error> {
    let Some(text) = &args.dims else { return Ok(None) };
    let inner = text.trim();
    let inner = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
    if inner.trim().is_empty() {
        return Ok(Some(Vec::new()));
    }
    let parsed: Result<Vec<i64>, _> = inner.split(',').map(|part| part.trim().parse()).collect();
    let error = || {
        Error::Input(format!("--dims: found `{text}`, expected whole numbers joined by commas, as in `0,1`"))
    };
    parsed.map(Some).map_err(|_| error())
}

fn flags(args: &Args) -> Result<Vec<Option<Vec<bool>>>, Error> {
    let Some(text) = &args.broadcastable else { return Ok(vec![None; args.shapes.len()]) };
    let word = |word: &str| {
        let letters = if word == "()" { "" } else { word };
        let flag = |letter: char| match letter {
            't' | 'T' => Ok(true),
            'f' | 'F' => Ok(false),
            _ => Err(Error::Input(format!(
                "--broadcastable: found `{text}`, expected a letter t or f per axis and a comma between operands, as in `tf,f`"
            ))),
        };
        letters.chars().map(flag).collect::<Result<Vec<bool>, Error>>().map(Some)
    };
    text.split(',').map(|part| word(part.trim())).collect()
}

/// A table of all rule sets, then the drawings of those that apply.
fn side_by_side(args: &Args) -> Result<String, Error> {
    let mut rows = vec![["rule set", "outcome", "result or refusal", "clause"].map(String::from).to_vec()];
    let mut drawings = String::new();
    for set in RuleSet::ALL {
        if let Some(why) = not_asked(args, set) {
            rows.push(vec![set.to_string(), "not applicable".into(), why.into()]);
            continue;
        }
        let explained = explained(args, set)?;
        let (outcome, what) = explained.summary();
        rows.push(vec![set.to_string(), outcome.into(), what, explained.clause().into()]);
        let _ = write!(drawings, "\n{}", painted(&explained.draw()));
    }
    let table = columns(&rows);
    let (header, body) = table.split_once('\n').unwrap_or((&table, ""));
    let bold = Style::new().bold();
    let mut text = format!("{bold}{header}{bold:#}\n");
    for (line, row) in body.lines().zip(&rows[1..]) {
        let style = match row[1].as_str() {
            "accepted" | "always" => style(Mark::Accepted),
            "depends" => style(Mark::Perhaps),
            "refused" => style(Mark::Refused),
            _ => style(Mark::Missing),
        };
        let _ = writeln!(text, "{style}{line}{style:#}");
    }
    Ok(text + &drawings)
}

/// Why a rule set does not apply to the shapes, or `None` if it does.
fn not_asked(args: &Args, set: RuleSet) -> Option<&'static str> {
    match (set, &args.target, args.shapes.len()) {
        _ if args.into.is_some() => (set != RuleSet::Numpy).then_some("it has no destination"),
        (RuleSet::Numpy | RuleSet::Bidirectional, Some(_), _) | (RuleSet::Bidirectional, None, 2) => None,
        (RuleSet::Bidirectional, None, _) => Some("it takes one operand and a target"),
        (RuleSet::None | RuleSet::Pdpd | RuleSet::Theano, Some(_), _) => Some("it has no target shape"),
        (RuleSet::Xla | RuleSet::Theano, _, _) if has_unknown_rank(args) => {
            Some("its shapes have known ranks")
        }
        _ => None,
    }
}

fn has_unknown_rank(args: &Args) -> bool {
    all_shapes(args).any(|shape| shape.rank().is_none())
}

/// A drawing with colours, which add nothing to its signs.
pub(super) fn painted(drawing: &Drawing) -> String {
    let mut text = String::new();
    for line in &drawing.lines {
        for (place, span) in line.iter().enumerate() {
            let style = style(span.mark);
            let span = if place + 1 == line.len() { span.text.trim_end() } else { &span.text };
            let _ = write!(text, "{style}{span}{style:#}");
        }
        text.push('\n');
    }
    text
}

fn style(mark: Mark) -> Style {
    match mark {
        Mark::Plain => Style::new(),
        Mark::Heading => Style::new().bold(),
        Mark::Stretched | Mark::Perhaps => AnsiColor::Cyan.on_default(),
        Mark::Missing => Style::new().dimmed(),
        Mark::Offending => AnsiColor::Red.on_default().bold(),
        Mark::Accepted => AnsiColor::Green.on_default(),
        Mark::Refused => AnsiColor::Red.on_default(),
    }
}
