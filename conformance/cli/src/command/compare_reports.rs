//! `broadcheck compare-reports`: what an upgrade broke and fixed.

use super::{ComparisonFormat, Ended, Error, FAILED, PASSED, Printer};
use crate::report::compare::{self, Comparison};
use crate::report::read::Recorded;
use std::path::PathBuf;

/// Compare two JSON reports: what an upgrade of an implementation broke and fixed
///
/// Implementations are matched by name. A case is broken if it passed in OLD but fails in NEW, is now listed
/// as a known failure, or is no longer answered. A case that now differs from a convention of the suite has
/// changed, and is not broken. A passing case that is missing from NEW counts as broken
/// too, unless the reports come from different versions of broadcheck, whose suites may differ.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck check --impl adapter:numpy --format json --out before.json
  (upgrade NumPy)
  broadcheck check --impl adapter:numpy --format json --out after.json
  broadcheck compare-reports before.json after.json

Exit status: 0 nothing broke; 1 something broke, a passing case or an implementation is missing, no case is in both \
reports, or the new run was interrupted; 2 invalid input or command line.")]
pub(super) struct Args {
    /// Report from before the upgrade, written by `check --format json`
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// Report from after the upgrade
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ComparisonFormat,
}

pub(super) fn run(args: &Args) -> Ended {
    let (old, new) = (Recorded::load(&args.old)?, Recorded::load(&args.new)?);
    let comparison = Comparison::of(&old, &new).map_err(|message| {
        Error::Input(format!("{} and {}: {message}", args.old.display(), args.new.display()))
    })?;
    let status = if comparison.held() { PASSED } else { FAILED };
    let mut printer = Printer::new();
    // The printer keeps the error of a text.
    let written = match args.format {
        ComparisonFormat::Text => compare::text(&comparison, &mut printer).or(Ok(())),
        ComparisonFormat::Markdown => compare::markdown(&comparison, &mut printer).or(Ok(())),
        ComparisonFormat::Json => compare::json(&comparison, printer.raw()),
    };
    printer.end(written, status)
}
