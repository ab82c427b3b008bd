//! Loads case files and prints their errors: `cargo run -p broadcheck-spec --example validate -- PATH`.

use broadcheck_spec::Suite;
use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<_> = std::env::args_os().skip(1).map(Into::into).collect();
    match Suite::from_paths(&paths) {
        Ok(suite) => {
            println!("{} cases, {} sweeps", suite.cases.len(), suite.sweeps.len());
            ExitCode::SUCCESS
        }
        Err(errors) => {
            println!("{errors}");
            ExitCode::from(2)
        }
    }
}
