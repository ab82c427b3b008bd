//! `broadcheck diverge`: where the rule sets disagree.

use super::{Ended, HELD, columns, print};
use anstyle::Style;
use broadcheck::diverge::{Disagreement, Divergence, Variant, diverge};
use broadcheck::relations::Extent;
use broadcheck::spec::{Outcome, Shape};
use broadcheck_reference::Reference;
use std::fmt::Write as _;

/// Find where the rule sets disagree: for each pair, the smallest request that they judge differently
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck diverge
  broadcheck diverge --min-dim 1                leave lengths of 0 out
  broadcheck diverge --max-rank 2 --max-dim 4

Smaller is: fewer axes in all, then a smaller sum of lengths. Each rule set is asked with its
default attributes, and in the variant that makes it most like the others. Answers are those of
the reference.")]
pub(super) struct Args {
    /// The highest rank
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_rank: usize,

    /// The greatest length of an axis
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_dim: usize,

    /// The least length of an axis
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_dim: usize,
}

pub(super) fn run(args: &Args) -> Ended {
    let extent = Extent::new(args.max_rank, args.max_dim);
    let divergences = diverge(&extent, args.min_dim, &Reference::new())?;
    let of_defaults = |one: &&Divergence| one.left.is_default() && one.right.is_default();
    let (defaults, variants): (Vec<&Divergence>, Vec<&Divergence>) =
        divergences.iter().partition(of_defaults);
    let bold = Style::new().bold();
    let mut text = format!("{bold}With the default attributes{bold:#}\n\n{}", table(&defaults));
    let _ = write!(text, "\n{bold}With attributes that make them most alike{bold:#}\n\n{}", table(&variants));
    text.push('\n');
    for variant in Variant::ALL.into_iter().filter(|variant| !variant.is_default()) {
        let _ = writeln!(text, "{:<15} {}, {}", short(variant), variant.rules(), variant.attributes());
    }
    let lengths = format!("ranks 0 to {}, lengths {} to {}", args.max_rank, args.min_dim, args.max_dim);
    let agreeing = divergences.iter().filter(|one| one.smallest.is_none()).count();
    let _ =
        writeln!(text, "\n{lengths}: {} pairs, {agreeing} of which agree on everything", divergences.len());
    print(&text)?;
    Ok(HELD)
}

fn table(divergences: &[&Divergence]) -> String {
    let mut rows = vec![["one", "other", "shapes", "the one", "the other"].map(String::from).to_vec()];
    for divergence in divergences {
        let mut row = vec![short(divergence.left), short(divergence.right)];
        match &divergence.smallest {
            None => row.push("they agree".into()),
            Some(smallest) => {
                let onto_target = [divergence.left, divergence.right].contains(&Variant::Bidirectional);
                let word = if onto_target { "to" } else { "and" };
                row.push(format!("{} {word} {}", smallest.shapes[0], smallest.shapes[1]));
                row.extend(answers(smallest));
            }
        }
        rows.push(row);
    }
    columns(&rows)
}

/// What both answered; where the shapes agree, the values differ and are told.
fn answers(smallest: &Disagreement) -> [String; 2] {
    let outcomes = [&smallest.left_outcome, &smallest.right_outcome];
    let shape = |outcome: &Outcome| match outcome {
        Outcome::Success(success) => Some(success.tensor.shape().clone()),
        _ => None,
    };
    let same_shape: Option<Shape> = shape(outcomes[0]).filter(|one| shape(outcomes[1]).as_ref() == Some(one));
    outcomes.map(|outcome| match outcome {
        Outcome::Success(success) if same_shape.is_some() => {
            let values: Vec<String> =
                success.tensor.values().iter().take(6).map(|value| value.to_string()).collect();
            let more = if success.tensor.values().len() > 6 { ", ..." } else { "" };
            format!("{} [{}{more}]", success.tensor.shape(), values.join(", "))
        }
        Outcome::Success(success) => success.tensor.shape().to_string(),
        Outcome::Refusal(refusal) => refusal.kind.map_or("refused", |kind| kind.name()).to_owned(),
        Outcome::Skipped { reason: what } | Outcome::Errored { message: what } => what.clone(),
    })
}

fn short(variant: Variant) -> String {
    match variant {
        Variant::PdpdFromTheLeft => "pdpd axis 0".into(),
        Variant::XlaSuffix => "xla suffix".into(),
        Variant::TheanoOnesFlagged => "theano flagged".into(),
        other => other.rules().to_string(),
    }
}
