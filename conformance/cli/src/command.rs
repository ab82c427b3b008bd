//! The command line: arguments, exit statuses, and what all subcommands share.

mod check;
mod compare_reports;
mod diverge;
mod exhaust;
mod exhausted;
mod explain;
mod export;
mod faults;
mod fuzz;
mod implementations;
mod interrupt;
mod judging;
mod kit;
mod list;
mod proposing;
mod reproduce;
mod seeds;
mod select;
mod serve;
mod show;
mod smoke;
mod time;
mod validate;

use crate::report::clean::{visible, visible_but_colours};
use broadcheck_judge::text::padded;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use std::error::Error as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::num::ParseIntError;
use std::process::ExitCode;

/// All held.
const HELD: u8 = 0;
/// Something failed.
const FAILED: u8 = 1;
/// The input or the command line was wrong.
const WRONG_INPUT: u8 = 2;
/// Interrupted, as shells count it.
const INTERRUPTED: u8 = 130;

const EXIT_STATUS: &str = "\
Exit status: 0 all held, 1 something failed, 2 the input or the command line was wrong,
130 interrupted.";

/// The conformance suite for array broadcasting: does it do what NumPy, OpenVINO, Paddle, XLA and Theano say?
#[derive(Parser)]
#[command(name = "broadcheck", version, propagate_version = true, after_help = EXIT_STATUS, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    CompareReports(compare_reports::Args),
    List(list::Args),
    Show(show::Args),
    Explain(explain::Args),
    Diverge(diverge::Args),
    Exhaust(exhaust::Args),
    Faults(faults::Args),
    Fuzz(fuzz::Args),
    Reproduce(reproduce::Args),
    Validate(validate::Args),
    Export(export::Args),
    Seeds(seeds::Args),
    Serve(serve::Args),
    Smoke(smoke::Args),
}

/// Why a command ends before its end.
enum Stop {
    /// The input or the command line is wrong: what stands where, and what should.
    Input(String),
    /// Output that cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::Input(message)
    }
}

/// How a command ended: its exit status, or why it did not get there.
type Ended = Result<u8, Stop>;

/// Runs the command line of this process; the result is its exit status.
pub fn main() -> ExitCode {
    let cli = match parsed() {
        Ok(cli) => cli,
        Err(error) if wrong_number(&error).is_some() => {
            complain(&wrong_number(&error).unwrap_or_default());
            return ExitCode::from(WRONG_INPUT);
        }
        Err(error) if negative_number(&error).is_some() => {
            let found = negative_number(&error).unwrap_or_default();
            complain(&format!("found `{found}`, expected lengths of 0 or more joined by `x`, as in `2x3`"));
            return ExitCode::from(WRONG_INPUT);
        }
        Err(error) => {
            // Help into a closed pipe is no failure, and there is nobody to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { WRONG_INPUT } else { HELD });
        }
    };
    let ended = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::CompareReports(args) => compare_reports::run(&args),
        Command::List(args) => list::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Diverge(args) => diverge::run(&args),
        Command::Exhaust(args) => exhaust::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Seeds(args) => seeds::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Smoke(args) => smoke::run(&args),
    };
    ExitCode::from(match ended {
        Ok(status) => status,
        Err(Stop::Input(message)) => {
            complain(&message);
            WRONG_INPUT
        }
        // Whoever reads has seen enough: `broadcheck list | head`.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => HELD,
        Err(Stop::Output(error)) => {
            complain(&format!("standard output: {error}"));
            WRONG_INPUT
        }
    })
}

/// The command line. An error quotes it, and a shell may have put a file's name there: it is quoted so that it shows.
fn parsed() -> Result<Cli, clap::Error> {
    Cli::try_parse().map_err(|error| {
        let shown = std::env::args_os().map(|word| visible(&word.to_string_lossy()));
        Cli::try_parse_from(shown).err().unwrap_or(error)
    })
}

/// What is wrong with a number, where Rust says only that its digits are: what was found, and what is expected.
fn wrong_number(error: &clap::Error) -> Option<String> {
    error.source()?.downcast_ref::<ParseIntError>()?;
    let (argument, found) = (error.get(ContextKind::InvalidArg)?, error.get(ContextKind::InvalidValue)?);
    let argument = argument.to_string();
    let expected = match argument.split(' ').next().unwrap_or_default() {
        "--axis" => "a whole number such as 1 or -1, from -2^63 to 2^63-1",
        "--requests" | "--sample-sweeps" => "a whole number from 1 to 2^64-1",
        _ => "a whole number from 0 to 2^64-1",
    };
    Some(format!("{argument}: found `{found}`, expected {expected}"))
}

/// A shape with a negative length looks like an option: `-1x2`. The number that was taken for one.
fn negative_number(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) if error.kind() == ErrorKind::UnknownArgument => {
            let digits = text.strip_prefix('-')?;
            digits.starts_with(|first: char| first.is_ascii_digit()).then(|| text.clone())
        }
        _ => None,
    }
}

/// Writes to standard output what may quote a harness, a file or the command line: it reaches no terminal raw.
fn tell(text: &str) -> Result<(), Stop> {
    print(&visible(text))
}

/// [`tell`], as [`print_and_end`].
fn tell_and_end(text: &str, status: u8) -> Ended {
    print_and_end(&visible(text), status)
}

/// Writes to standard output a document that is safe to show, or a text with colours whose other parts are.
fn print(text: &str) -> Result<(), Stop> {
    let mut out = anstream::stdout().lock();
    out.write_all(visible_but_colours(text).as_bytes())?;
    Ok(out.flush()?)
}

/// Writes to standard output what is not the command's last word: a reader who left changes no exit status.
fn print_and_end(text: &str, status: u8) -> Ended {
    match print(text) {
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(status),
        Err(stop) => Err(stop),
        Ok(()) => Ok(status),
    }
}

/// Writes an error, line by line.
fn complain(message: &str) {
    let mut err = anstream::stderr().lock();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // Where standard error is closed, the exit status is all that is left.
    let _ = writeln!(err, "{red}error:{red:#} {}", visible(message));
}

/// How wide lines may be: the terminal's width, or what reads well in a file.
fn width() -> usize {
    let terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map_or(100, |(terminal_size::Width(width), _)| usize::from(width).max(40))
}

/// Texts of several columns, each as wide as its widest cell.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| padded(cell, width)).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
