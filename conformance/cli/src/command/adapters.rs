//! `broadcheck adapters`: lists the adapters for real systems, and installs them.

use super::{Ended, Error, FAILED, PASSED, columns, print_visible};
use crate::adapters::{self, DIRECTORY, State};
use std::path::PathBuf;

/// List the adapters that connect real systems such as NumPy, JAX and candle, or install some
///
/// After `broadcheck adapters install NAME`, `--impl adapter:NAME` runs the system.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck adapters
  broadcheck adapters install numpy
  broadcheck check --impl adapter:numpy")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand)]
enum Action {
    Install(Install),
}

/// Install adapters: their files, and a virtual environment or a program for each
///
/// An adapter in Python gets a virtual environment with the pinned packages of its system, on the Python
/// version that these need. An adapter in Rust is built by cargo, and one in JavaScript gets its packages
/// from npm. What is already installed is left as it is.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck adapters install numpy xla
  broadcheck adapters install numpy --dir ./adapters
  BROADCHECK_ADAPTERS=./adapters broadcheck check --impl adapter:numpy

Needs Python 3 on the PATH, and network access. Files that were changed, or that broadcheck did not write, are not \
replaced.

Exit status: 0 all are installed, 1 some could not be, 2 there is no such adapter or a file is in the way.")]
struct Install {
    /// Names of adapters
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// Directory to install to, created if missing [default: $BROADCHECK_ADAPTERS, the checkout, or a
    /// directory of this user]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    match &args.action {
        None => list(),
        Some(Action::Install(install)) => run_install(install),
    }
}

fn list() -> Ended {
    let directory = adapters::directory()?;
    let row = |entry: &adapters::Entry| {
        let state = match entry.state {
            State::Ready => format!("--impl adapter:{}", entry.name),
            State::Missing => "not installed".into(),
            State::Outdated => "outdated".into(),
        };
        vec![entry.name.clone(), entry.runs_on.clone(), state]
    };
    let rows: Vec<Vec<String>> = adapters::list(directory.as_deref()).iter().map(row).collect();
    let place =
        directory.map_or_else(String::new, |directory| format!("They are in {}. ", directory.display()));
    print_visible(&format!("{}\n{place}`broadcheck adapters install NAME` installs one.\n", columns(&rows)))?;
    Ok(PASSED)
}

fn run_install(args: &Install) -> Ended {
    let shipped = adapters::shipped();
    if let Some(name) = args.names.iter().find(|name| !shipped.contains(name)) {
        return Err(Error::Input(adapters::unknown(name, &shipped)));
    }
    let directory = args.dir.clone().map_or_else(adapters::target, Ok)?;
    let status = adapters::install(&directory, &args.names)?;
    if !status.success() {
        return Ok(FAILED);
    }
    let found = adapters::directory().ok().flatten().and_then(|found| found.canonicalize().ok());
    if found != directory.canonicalize().ok() {
        let place = std::path::absolute(&directory).unwrap_or(directory);
        print_visible(&format!("To use them, set {DIRECTORY}={}\n", place.display()))?;
    }
    Ok(PASSED)
}
