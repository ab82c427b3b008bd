//! The command line: arguments, exit statuses, and what the subcommands share.

mod adapters;
mod check;
mod clause;
mod compare_exports;
mod compare_reports;
mod completions;
mod diverge;
mod exhaust;
mod exhaust_cases;
mod exhaust_infer;
mod explain;
mod export;
mod faults;
mod finding_report;
mod fuzz;
mod fuzz_report;
mod history;
mod implementations;
mod interrupt;
mod issue;
mod list;
mod man;
mod matrix;
mod merge;
mod modes;
mod named;
mod program;
mod report;
mod reproduce;
mod seeds;
mod select;
mod serve;
mod show;
mod site;
mod smoke;
mod suite_run;
mod time;
pub mod untrusted;
mod validate;
mod vendor_check;

use crate::report::clean::{visible, visible_but_colours};
use broadcheck_judge::text::padded;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use std::error::Error as _;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::num::ParseIntError;
use std::process::ExitCode;

/// Everything passed.
const PASSED: u8 = 0;
/// Something failed.
const FAILED: u8 = 1;
/// The input or the command line is invalid.
const WRONG_INPUT: u8 = 2;
/// Interrupted: 128 + SIGINT, as shells report it. Also for SIGTERM and SIGHUP.
const INTERRUPTED: u8 = 130;

const EXIT_STATUS: &str =
    "Exit status: 0 success, 1 something failed, 2 invalid input or command line, 130 interrupted.";

/// Conformance suite and differential fuzzer for array broadcasting as NumPy, OpenVINO, Paddle, XLA and
/// Theano specify it
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
    Matrix(matrix::Args),
    Report(report::Args),
    Site(site::Args),
    History(history::Args),
    List(list::Args),
    Show(show::Args),
    Issue(issue::Args),
    Explain(explain::Args),
    Clause(clause::Args),
    Diverge(diverge::Args),
    Exhaust(exhaust::Args),
    Faults(faults::Args),
    Fuzz(fuzz::Args),
    Reproduce(reproduce::Args),
    Validate(validate::Args),
    Export(export::Args),
    CompareExports(compare_exports::Args),
    VendorCheck(vendor_check::Args),
    Seeds(seeds::Args),
    Serve(serve::Args),
    Smoke(smoke::Args),
    Adapters(adapters::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Whether the first interrupt lets the command finish with what it has. It ends every other command at
    /// once.
    fn finishes_when_interrupted(&self) -> bool {
        use Command::{Check, Exhaust, Export, Fuzz, History, Reproduce, Site};
        matches!(self, Check(_) | Exhaust(_) | Export(_) | Fuzz(_) | History(_) | Reproduce(_) | Site(_))
    }
}

/// The output format of the commands that compare two earlier outputs.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ComparisonFormat {
    /// Text for a terminal
    Text,
    /// JSON for programs, described by a schema in conformance/schema
    Json,
    /// Markdown for a pull request
    Markdown,
}

/// Why a command stopped early.
enum Error {
    /// The input or the command line is invalid: the place, what was found and what was expected.
    Input(String),
    /// Standard output cannot be written.
    Output(io::Error),
    /// Interrupted before there were results.
    Interrupted,
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::Input(message)
    }
}

/// The exit status of a command, or why it stopped early.
type Ended = Result<u8, Error>;

/// Runs the command line of this process and returns its exit status.
pub fn main() -> ExitCode {
    if let Err(message) = interrupt::listen() {
        complain(&message);
        return ExitCode::from(WRONG_INPUT);
    }
    broadcheck_harness::contain_descendants();
    let status = run();
    broadcheck_harness::end_descendants();
    ExitCode::from(status)
}

fn run() -> u8 {
    let cli = match parsed(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(message) = own_message(&error) {
                complain(&message);
                return WRONG_INPUT;
            }
            return print_help(&error);
        }
    };
    if !cli.command.finishes_when_interrupted() {
        interrupt::end_at_once();
    }
    let ended = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::CompareReports(args) => compare_reports::run(&args),
        Command::Matrix(args) => matrix::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Site(args) => site::run(&args),
        Command::History(args) => history::run(&args),
        Command::List(args) => list::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Issue(args) => issue::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Clause(args) => clause::run(&args),
        Command::Diverge(args) => diverge::run(&args),
        Command::Exhaust(args) => exhaust::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Export(args) => export::run(&args),
        Command::CompareExports(args) => compare_exports::run(&args),
        Command::VendorCheck(args) => vendor_check::run(&args),
        Command::Seeds(args) => seeds::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Smoke(args) => smoke::run(&args),
        Command::Adapters(args) => adapters::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match ended {
        Ok(status) => status,
        Err(Error::Input(message)) => {
            complain(&message);
            WRONG_INPUT
        }
        // The reader stopped early, as in `broadcheck list | head`.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => PASSED,
        Err(Error::Output(error)) => {
            complain(&format!("standard output: {error}"));
            WRONG_INPUT
        }
        Err(Error::Interrupted) => {
            complain("interrupted before there were results");
            INTERRUPTED
        }
    }
}

/// Prints the help or the version, or an error in the command line.
fn print_help(error: &clap::Error) -> u8 {
    match error.print() {
        _ if error.use_stderr() => WRONG_INPUT,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("standard output: {error}"));
            WRONG_INPUT
        }
        _ => PASSED,
    }
}

/// Parses a command line, which begins with the program's name. An error quotes it, and a glob may have put
/// any file name there: control characters are escaped.
fn parsed(words: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(words).map_err(|error| {
        let shown = words.iter().map(|word| visible(&word.to_string_lossy()));
        Cli::try_parse_from(shown).err().unwrap_or(error)
    })
}

/// The message for an invalid command line, where clap's own would not say what is expected.
fn own_message(error: &clap::Error) -> Option<String> {
    let negative =
        |found| format!("found `{found}`, expected lengths of 0 or more joined by `x`, as in `2x3`");
    wrong_number(error).or_else(|| negative_number(error).map(negative))
}

/// A message for a number that does not parse: what was found and what is expected. Rust's names only the
/// digits.
fn wrong_number(error: &clap::Error) -> Option<String> {
    error.source()?.downcast_ref::<ParseIntError>()?;
    let (argument, found) = (error.get(ContextKind::InvalidArg)?, error.get(ContextKind::InvalidValue)?);
    let argument = argument.to_string();
    let expected = match argument.split(' ').next().unwrap_or_default() {
        "--axis" => "a whole number such as 1 or -1, from -2^63 to 2^63-1",
        "--min-asked" => "a whole number of percent from 0 to 100",
        "--requests" | "--sample-sweeps" => "a whole number from 1 to 2^64-1",
        _ => "a whole number from 0 to 2^64-1",
    };
    Some(format!("{argument}: found `{found}`, expected {expected}"))
}

/// A shape with a negative length, such as `-1x2`, looks like an option. Returns what clap took for one.
fn negative_number(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(text)) if error.kind() == ErrorKind::UnknownArgument => {
            let digits = text.strip_prefix('-')?;
            digits.starts_with(|first: char| first.is_ascii_digit()).then(|| text.clone())
        }
        _ => None,
    }
}

/// Prints text that may quote a harness, a file or the command line, with control characters escaped.
fn print_visible(text: &str) -> Result<(), Error> {
    print(&visible(text))
}

/// [`print_visible`] and [`print_and_end`] combined.
fn print_visible_and_end(text: &str, status: u8) -> Ended {
    print_and_end(&visible(text), status)
}

/// Prints a document whose parts are already safe to show, except for colours.
fn print(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(visible_but_colours(text).as_bytes())?;
    Ok(out.flush()?)
}

/// Prints the last output of a command whose exit status is known. A closed pipe does not change the status.
fn print_and_end(text: &str, status: u8) -> Ended {
    match print(text) {
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(status),
        Err(error) => Err(error),
        Ok(()) => Ok(status),
    }
}

/// Prints a long document without colours piece by piece, as [`print_and_end`] prints a whole one.
struct Printer {
    out: io::BufWriter<io::StdoutLock<'static>>,
    /// Lines that are not written yet.
    lines: String,
    error: Option<io::Error>,
}

impl Printer {
    /// How many bytes are written at a time.
    const PIECE: usize = 1 << 16;

    fn new() -> Printer {
        Printer {
            out: io::BufWriter::with_capacity(Printer::PIECE, io::stdout().lock()),
            lines: String::new(),
            error: None,
        }
    }

    /// The output, for what has no invisible characters.
    fn raw(&mut self) -> &mut impl io::Write {
        &mut self.out
    }

    fn write_lines(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        self.out.write_all(visible_but_colours(&lines).as_bytes())
    }

    /// Prints the rest. A closed pipe does not change the status.
    fn end(mut self, written: io::Result<()>, status: u8) -> Ended {
        let earlier = self.error.take().map_or(written, Err);
        match earlier.and_then(|()| self.write_lines()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            Ok(()) | Err(_) => Ok(status),
        }
    }
}

impl fmt::Write for Printer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.lines += text;
        // Only whole lines: no escape sequence is divided.
        if self.lines.len() < Printer::PIECE || !self.lines.ends_with('\n') {
            return Ok(());
        }
        self.write_lines().map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}

/// Prints an error message to standard error.
fn complain(message: &str) {
    let mut err = anstream::stderr().lock();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // If standard error is closed, the exit status still reports the failure.
    let _ = writeln!(err, "{red}error:{red:#} {}", visible(message));
}

/// Prints a message on standard error, beside the output.
fn note(text: &str) {
    // If standard error is closed, the message is lost.
    let _ = writeln!(anstream::stderr(), "{}", visible(text));
}

/// The width for output: that of the terminal, or 100 columns for a file.
fn width() -> usize {
    let terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map_or(100, |(terminal_size::Width(width), _)| usize::from(width).max(40))
}

/// Formats rows as columns, each as wide as its widest cell.
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
