//! The command `broadcheck`: `broadcheck --help` says what it does.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
