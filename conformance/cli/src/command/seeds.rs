//! `broadcheck seeds`: the cases as seeds of the fuzz targets.

use super::{Ended, HELD, Stop, tell};
use crate::report::plural;
use broadcheck_search::generate::seeds::write_all;
use broadcheck_spec::Suite;
use std::path::PathBuf;

/// Write the cases as seeds of the fuzz targets' corpora
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck seeds --out fuzz/corpus
  broadcheck seeds --cases my-cases/ --out fuzz/corpus

Each target gets a directory below the one given. What is there already stays: a corpus only grows.")]
pub(super) struct Args {
    /// Case files, or directories of them, instead of the built-in suite
    #[arg(long, value_name = "PATH")]
    cases: Vec<PathBuf>,
    /// The directory of the corpora
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> Ended {
    let suite = if args.cases.is_empty() { Suite::builtin() } else { Suite::from_paths(&args.cases) };
    let suite = suite.map_err(|errors| Stop::Input(errors.to_string()))?;
    let counts = write_all(&suite, &args.out).map_err(|error| {
        Stop::Input(format!("{}: {error}, expected a directory to write to", args.out.display()))
    })?;
    for (target, count) in counts {
        tell(&format!("{target:<14} {}\n", plural(count, "seed")))?;
    }
    Ok(HELD)
}
