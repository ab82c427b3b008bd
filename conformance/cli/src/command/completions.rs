//! `broadcheck completions`: prints a script that completes the command line in a shell.

use super::{Cli, Ended, PASSED, print};
use clap::CommandFactory as _;
use clap_complete::Shell;

/// Print a script that completes subcommands and options in a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck completions bash > ~/.local/share/bash-completion/completions/broadcheck
  broadcheck completions zsh > ~/.zfunc/_broadcheck
  broadcheck completions fish > ~/.config/fish/completions/broadcheck.fish
  broadcheck completions powershell >> $PROFILE")]
pub(super) struct Args {
    /// Shell to print the script for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(PASSED)
}
