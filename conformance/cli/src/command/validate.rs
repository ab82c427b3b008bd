//! `broadcheck validate`: checks case files.

use super::select::sweep_errors;
use super::{Ended, Error, PASSED, WRONG_INPUT, complain, print_visible};
use crate::report::plural;
use broadcheck_spec::Suite;
use std::path::PathBuf;

/// Check case files, and report every error with its file, line and column
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck validate my-cases/
  broadcheck validate a.yaml b.yaml

Ids must be unique across all files given.

Exit status: 0 all files are valid, 2 some are not.")]
pub(super) struct Args {
    /// Case files or directories
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    match Suite::from_paths(&args.paths) {
        Ok(suite) if suite.ids().next().is_none() => {
            Err(Error::Input("found no case in the files given, expected at least one".into()))
        }
        Ok(suite) => {
            let errors = sweep_errors(&suite);
            if !errors.is_empty() {
                return wrong(&errors.join("\n"), errors.len());
            }
            let cases = plural(suite.number_of_cases(), "case");
            print_visible(&format!("ok: {cases} and {}\n", plural(suite.sweeps.len(), "sweep")))?;
            Ok(PASSED)
        }
        Err(errors) => wrong(&errors.to_string(), errors.errors().len() + errors.more()),
    }
}

fn wrong(errors: &str, count: usize) -> Ended {
    print_visible(&format!("{errors}\n"))?;
    complain(&plural(count, "error"));
    Ok(WRONG_INPUT)
}
