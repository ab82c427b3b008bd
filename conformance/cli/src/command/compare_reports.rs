//! `broadcheck compare-reports`: what an upgrade broke and mended.

use super::{Ended, FAILED, HELD, Stop, print_and_end};
use crate::report::compare::{self, Comparison};
use crate::report::read::Recorded;
use std::path::PathBuf;

/// Compare two reports in JSON: what an upgrade of an implementation broke, and what it mended
///
/// Implementations are compared with those of the same name. Broken is what passed and no longer does: it fails, is
/// listed as a known failure now, or is no longer answered at all. A case that NEW lacks is gone, and that is no better,
/// unless NEW is of another version of broadcheck, whose suite may lack it.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck check --impl adapter:numpy --format json --out before.json
  (upgrade NumPy)
  broadcheck check --impl adapter:numpy --format json --out after.json
  broadcheck compare-reports before.json after.json

Exit status: 0 nothing broke; 1 something did, what passed or an implementation is gone, there is nothing
left to compare, or the new run was interrupted; 2 the input or the command line was wrong.")]
pub(super) struct Args {
    /// The report from before, written by `check --format json`
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The report from after
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// How the comparison is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// To read in a terminal
    Text,
    /// For programs; conformance/schema/comparison.schema.json says what stands in it
    Json,
    /// For a pull request
    Markdown,
}

pub(super) fn run(args: &Args) -> Ended {
    let (old, new) = (Recorded::load(&args.old)?, Recorded::load(&args.new)?);
    let comparison = Comparison::of(&old, &new).map_err(|message| {
        Stop::Input(format!("{} and {}: {message}", args.old.display(), args.new.display()))
    })?;
    let text = match args.format {
        Format::Text => compare::text(&comparison),
        Format::Json => compare::json(&comparison),
        Format::Markdown => compare::markdown(&comparison),
    };
    print_and_end(&text, if comparison.held() { HELD } else { FAILED })
}
