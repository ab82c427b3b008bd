//! The command `broadcheck`. `broadcheck --help` lists its subcommands.

fn main() -> std::process::ExitCode {
    broadcheck_cli::command::main()
}
