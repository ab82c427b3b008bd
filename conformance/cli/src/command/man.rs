//! `broadcheck man`: writes the manual pages of the command and its subcommands.

use super::{Cli, Ended, Error, PASSED, print_visible};
use crate::report::output::{may_write, write};
use crate::report::plural;
use clap::CommandFactory as _;
use clap_mangen::Man;
use std::fs;
use std::path::PathBuf;

/// The first line of each page, by which `man` recognises the pages that it may replace.
const MARKER: &str = ".\\\" Written by `broadcheck man`.\n";

/// Write manual pages: broadcheck.1, and a page for each subcommand
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck man --out ~/.local/share/man/man1

Pages of an earlier version are replaced. If another file is in the way, nothing is written.")]
pub(super) struct Args {
    /// Directory to write to, created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> Ended {
    let pages = pages()?;
    let place = args.out.display();
    fs::create_dir_all(&args.out).map_err(|error| format!("{place}: {error}, expected a directory"))?;
    let is_ours = |text: &str| text.starts_with(MARKER);
    for (name, _) in &pages {
        may_write(&args.out.join(name), is_ours)?;
    }
    for (name, text) in &pages {
        write(&args.out.join(name), text, is_ours)?;
    }
    print_visible(&format!("{place}: {}\n", plural(pages.len(), "page")))?;
    Ok(PASSED)
}

/// The name and the text of each page.
fn pages() -> Result<Vec<(String, String)>, Error> {
    let mut command = Cli::command().disable_help_subcommand(true);
    // Names each subcommand in full, as in `broadcheck-check`.
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    Ok(pages)
}

fn collect(command: &clap::Command, pages: &mut Vec<(String, String)>) -> Result<(), Error> {
    let man = Man::new(command.clone()).source(concat!("broadcheck ", env!("CARGO_PKG_VERSION")));
    let mut page = MARKER.as_bytes().to_vec();
    man.render(&mut page)?;
    pages.push((man.get_filename(), String::from_utf8_lossy(&page).into_owned()));
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        collect(subcommand, pages)?;
    }
    Ok(())
}
