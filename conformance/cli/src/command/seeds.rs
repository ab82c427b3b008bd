//! `broadcheck seeds`: writes the cases as seeds for the fuzz targets.

use super::untrusted;
use super::{Ended, Error, PASSED, print_visible};
use crate::report::plural;
use broadcheck_search::generate::seeds::{write_all, write_seeds};
use broadcheck_spec::Suite;
use std::path::PathBuf;

/// Write the cases, and samples of every other input, as seeds into the corpora of the fuzz targets
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck seeds --out fuzz/corpus
  broadcheck seeds --cases my-cases/ --out fuzz/corpus

Each target has a subdirectory. Existing files stay: a corpus only grows.")]
pub(super) struct Args {
    /// Case file or directory to use instead of the built-in suite. May be repeated
    #[arg(long, value_name = "PATH")]
    cases: Vec<PathBuf>,
    /// Directory of the corpora
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> Ended {
    let suite = if args.cases.is_empty() { Suite::builtin() } else { Suite::from_paths(&args.cases) };
    let suite = suite.map_err(|errors| Error::Input(errors.to_string()))?;
    let failed = |error: std::io::Error| {
        Error::Input(format!("{}: {error}, expected a directory to write to", args.out.display()))
    };
    let mut counts = write_all(&suite, &args.out).map_err(failed)?;
    for target in untrusted::TARGETS {
        let seeds = untrusted::seeds(target)?;
        write_seeds(&seeds, &args.out.join(target)).map_err(failed)?;
        counts.push((target, seeds.len()));
    }
    for (target, count) in counts {
        print_visible(&format!("{target:<14} {}\n", plural(count, "seed")))?;
    }
    Ok(PASSED)
}
