//! `broadcheck report`: merges JSON reports of several runs into one report.

use super::check::deliver;
use super::{Ended, Error, FAILED, PASSED, merge};
use crate::report::output::{Destination, Format, need_directory};
use broadcheck_spec::Suite;
use std::path::PathBuf;

/// Merge JSON reports, such as those of several machines, into one report
///
/// The merged report is in any format of `check`. Reports of the same implementation and version become one:
/// a case has the result of the last report that asked it. If two of its results differ, a note on
/// standard error says so. Requests and expectations come from the suite of this version.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck check --impl adapter:numpy --format json --out numpy.json
  broadcheck check --impl adapter:torch --format json --out torch.json
  broadcheck report numpy.json torch.json --format html --out systems.html
  broadcheck report numpy-1.json numpy-2.json --format json,markdown --out merged/

Exit status: 0 everything passed, 1 something failed or a report was interrupted, 2 invalid input or command line.")]
pub(super) struct Args {
    /// Reports written by `check --format json`, in the order of the columns
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,

    /// Format of the merged report. More than one requires --out
    #[arg(long, value_enum, value_delimiter = ',', default_value = "text")]
    format: Vec<Format>,

    /// File for the report, or directory if there are several formats
    ///
    /// Files in a directory have the names that `check --out` gives them. A file that is not a report of
    /// broadcheck is never overwritten.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut formats = args.format.clone();
    formats.sort_unstable();
    formats.dedup();
    let suite =
        Suite::builtin().map_err(|errors| Error::Input(format!("cannot read the cases\n{errors}")))?;
    let merged = merge::load(&args.reports, &suite)?;
    let names: Vec<&str> = merged.report.runs.iter().map(|run| run.name.as_str()).collect();
    if need_directory(&formats, names.len()) && args.out.is_none() {
        return Err(Error::Input("--format: found several files without --out, expected --out DIR".into()));
    }
    let destination = args.out.as_ref().map(|out| Destination::new(&formats, &names, out)).transpose()?;
    for note in &merged.notes {
        super::note(note);
    }
    let status = if merged.report.held() { PASSED } else { FAILED };
    deliver(&merged.report, &suite, destination.as_ref(), formats[0], status)
}
