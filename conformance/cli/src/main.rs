//! The command `broadcheck`: `broadcheck --help` lists what it does.

fn main() -> std::process::ExitCode {
    broadcheck_cli::command::main()
}
