//! `broadcheck diverge`: finds where the rule sets disagree.

use super::{Ended, PASSED, columns, print, print_visible};
use crate::report::divergence::{answers, shapes, short};
use crate::report::{html, output};
use anstyle::Style;
use broadcheck::relations::Extent;
use broadcheck_reference::Reference;
use broadcheck_search::diverge::{Divergence, Variant, diverge};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Find the smallest request that each pair of rule sets judges differently
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck diverge
  broadcheck diverge --min-dim 1                leave out lengths of 0
  broadcheck diverge --max-rank 2 --max-dim 4
  broadcheck diverge --format html --out map.html

A request is smaller if it has fewer axes in total, then if the sum of its lengths is smaller. Each rule set is \
compared with its default attributes, and with attributes that make it most like the others. The reference computes the \
answers.")]
pub(super) struct Args {
    /// Maximum rank
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_rank: usize,

    /// Maximum length of an axis
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_dim: usize,

    /// Minimum length of an axis
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_dim: usize,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Output file
    ///
    /// With --format html, only an earlier map is overwritten. With text, no file is.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables for a terminal
    Text,
    /// A page with the smallest example of each pair, drawn under both rule sets
    Html,
}

pub(super) fn run(args: &Args) -> Ended {
    let is_ours = |text: &str| args.format == Format::Html && text.starts_with(html::MAP_MARKER);
    if let Some(out) = &args.out {
        output::may_write(out, is_ours)?;
    }
    let extent = Extent::new(args.max_rank, args.max_dim);
    let divergences = diverge(&extent, args.min_dim, &Reference::new())?;
    let bounds = format!("ranks 0 to {}, lengths {} to {}", args.max_rank, args.min_dim, args.max_dim);
    let text = match args.format {
        Format::Text => listing(&divergences, &bounds),
        Format::Html => html::map(&divergences, &bounds),
    };
    match &args.out {
        None => print(&text)?,
        Some(out) => {
            output::write(out, &anstream::adapter::strip_str(&text).to_string(), is_ours)?;
            print_visible(&format!("written: {}\n", out.display()))?;
        }
    }
    Ok(PASSED)
}

fn listing(divergences: &[Divergence], bounds: &str) -> String {
    let of_defaults = |one: &&Divergence| one.left.is_default() && one.right.is_default();
    let (defaults, variants): (Vec<&Divergence>, Vec<&Divergence>) =
        divergences.iter().partition(of_defaults);
    let bold = Style::new().bold();
    let mut text = format!("{bold}With the default attributes{bold:#}\n\n{}", table(&defaults));
    let _ = write!(
        text,
        "\n{bold}With attributes that make the rule sets most alike{bold:#}\n\n{}",
        table(&variants)
    );
    text.push('\n');
    for variant in Variant::ALL.into_iter().filter(|variant| !variant.is_default()) {
        let _ = writeln!(text, "{:<15} {}, {}", short(variant), variant.rules(), variant.attributes());
    }
    let agreeing = divergences.iter().filter(|one| one.smallest.is_none()).count();
    let _ =
        writeln!(text, "\n{bounds}: {} pairs, {agreeing} of which agree on everything", divergences.len());
    text
}

fn table(divergences: &[&Divergence]) -> String {
    let mut rows =
        vec![["first", "second", "shapes", "first answers", "second answers"].map(String::from).to_vec()];
    for divergence in divergences {
        let mut row = vec![short(divergence.left), short(divergence.right)];
        match &divergence.smallest {
            None => row.push("they agree".into()),
            Some(smallest) => {
                row.push(shapes(divergence, smallest));
                row.extend(answers(smallest));
            }
        }
        rows.push(row);
    }
    columns(&rows)
}
