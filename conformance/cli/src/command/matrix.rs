//! `broadcheck matrix`: the results of several systems as a Markdown table, from their JSON reports.

use super::{Ended, PASSED, print_visible_and_end};
use crate::report::matrix;
use crate::report::output;
use crate::report::read::Recorded;
use std::fs;
use std::path::{Path, PathBuf};

/// Print a table of several systems for a README, from their JSON reports
///
/// The first table has a row for each system and rule set: how many cases were asked, how many passed, how
/// many are known to fail with links to their findings, in how many cases of conventions the system agrees,
/// and why cases were not asked. The second has a row for each system and a column for each convention.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck check --impl adapter:numpy --format json --out numpy.json
  broadcheck check --impl adapter:jax --format json --out jax.json
  broadcheck matrix numpy.json jax.json
  broadcheck matrix --into README.md numpy.json jax.json")]
pub(super) struct Args {
    /// Reports written by `check --format json`, in the order of the rows
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,

    /// Page to which the numbers of findings link, with the number as its anchor
    #[arg(long, value_name = "PATH", default_value = "conformance/FINDINGS.md")]
    findings: String,

    /// Write the tables into this file, between `<!-- begin: matrix -->` and `<!-- end: matrix -->`
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let reports: Vec<Recorded> =
        args.reports.iter().map(|path| Recorded::load(path)).collect::<Result<_, String>>()?;
    let text = matrix::render(&reports, &args.findings);
    match &args.into {
        None => print_visible_and_end(&text, PASSED),
        Some(path) => {
            write_into(path, &text)?;
            print_visible_and_end(&format!("written: {}\n", path.display()), PASSED)
        }
    }
}

fn write_into(path: &Path, matrix: &str) -> Result<(), String> {
    let name = path.display();
    let old = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let new = matrix::replaced(&old, matrix).map_err(|error| format!("{name}: {error}"))?;
    output::write(path, &new, |content| content == old)
}
