//! `broadcheck check`: the suite against implementations.

use super::implementations::{add_known, find, parse_jobs, wanted, with_jobs};
use super::judging::{Judging, Rerun};
use super::select::Selection;
use super::time::parse_time;
use super::{
    Ended, FAILED, HELD, INTERRUPTED, Stop, complain, interrupt, print, print_and_end, tell_and_end, width,
};
use crate::report::output::{self, Destination, Format, need_directory};
use crate::report::{Report, Run, known_draft, text};
use broadcheck::known::Known;
use broadcheck_search::subjects::Subject;
use broadcheck_spec::Suite;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Judge implementations by the suite, or by case files of your own
///
/// Prints how many cases passed, failed and were skipped per rule set and implementation, then each failure with
/// its request, the expected outcome and the command that judges only that case again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck check
  broadcheck check --impl ndarray --rules numpy
  broadcheck check --filter numpy/zero
  broadcheck check --filter '*/views/*'
  broadcheck check --cases my-cases/ --impl reference
  broadcheck check --impl 'python3 my_harness.py' --timeout 30s
  broadcheck check --impl adapter:openvino --sample-sweeps 400
  broadcheck check --impl ndarray --known ndarray.yaml --format json,html --out reports/
  broadcheck check --impl 'python3 my_harness.py' --write-known my-known.yaml

A known-failures file names its implementation and what that is known to fail. A listed case
that passes is a failure, and so is an entry that lists no case of the suite:
  implementation: ndarray
  known:
    - {case: \"numpy/zero/*\", reason: takes the maximum, url: \"https://...\"}

Nothing passes silently: it is a failure when no case passes; with --impl, when one of the
implementations named passes none.

Exit status: 0 all held, 1 something failed, 2 the input or the command line was wrong,
130 interrupted.")]
pub(super) struct Args {
    /// An implementation: reference, fast, ndarray, or a command that speaks the protocol. May be repeated
    ///
    /// Without it, all that are built in: `reference`, the rules index by index; `fast`, the engine that is made for
    /// speed (`fast@LEVEL` is that at one SIMD level); and `ndarray`, the Rust crate.
    /// Any other text is a command, such as 'python3 my_harness.py', in quotes for the shell. It is split into
    /// words as a shell would, and run without one; conformance/PROTOCOL.md says what it reads and writes, and
    /// `broadcheck smoke` tries it. `adapter:NAME` is a real system, such as adapter:numpy, with what it is known to fail:
    /// `conformance/adapters/setup NAME` sets it up.
    #[arg(long = "impl", value_name = "NAME_OR_COMMAND")]
    implementations: Vec<String>,

    #[command(flatten)]
    selection: Selection,

    /// Ask at most about N cases of each sweep, spread over all of it: for an implementation that takes long over each
    ///
    /// A sweep has up to 72,250 cases. The sample is the same in every run; the report says which sweeps were sampled.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample_sweeps: Option<u64>,

    /// A file of failures that are known for one implementation. May be repeated
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,

    /// How the report is written. Several need --out DIR
    #[arg(long, value_enum, value_delimiter = ',', default_value = "text")]
    format: Vec<Format>,

    /// The file for the report; for several, the directory for them
    ///
    /// In a directory they are called report.txt, report.json, report.junit.xml, report.md and report.html; badges are
    /// one per implementation, badge-NAME.svg. A file that is no report of broadcheck is never overwritten.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// Draft a known-failures file from what fails, for one implementation
    ///
    /// It has an entry for each failure that is not known yet. Its addresses are left to you: until each is filled in,
    /// --known refuses the file. A file that exists is never overwritten.
    #[arg(long, value_name = "FILE")]
    write_known: Option<PathBuf>,

    /// How many threads work; as many as there are processors, unless said. Each has a process of a command
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,

    /// How long a command may take for one answer
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    timeout: Duration,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut formats = args.format.clone();
    formats.sort_unstable();
    formats.dedup();
    if formats.len() > 1 && args.out.is_none() {
        return Err(Stop::Input("--format: found several formats without --out, expected --out DIR".into()));
    }
    let suite = args.selection.load()?;
    let selected = args.selection.of(&suite)?;
    let names = wanted(&args.implementations);
    let implementations = find(&names, args.timeout)?;
    let mut known = load_known(&args.known, &implementations)?;
    add_known(&mut known, &names, &implementations, &suite, !args.selection.cases.is_empty())?;
    let running: Vec<&str> = implementations.iter().map(|implementation| implementation.name()).collect();
    if need_directory(&formats, running.len()) && args.out.is_none() {
        let several = format!("--format badge: found {} implementations without --out", running.len());
        return Err(Stop::Input(format!("{several}, expected one, or --out DIR")));
    }
    let destination = args.out.as_ref().map(|out| Destination::new(&formats, &running, out)).transpose()?;
    if let Some(path) = &args.write_known {
        may_draft(path, &running, destination.as_ref())?;
    }
    interrupt::listen()?;

    let judging = Judging {
        suite: &suite,
        selected: &selected,
        known: &known,
        named: !args.implementations.is_empty(),
        sample: args.sample_sweeps,
        rerun: Rerun::new(&args.selection.cases, args.sample_sweeps),
    };
    let runs = with_jobs(args.jobs, || {
        let named = names.iter().zip(&implementations);
        named.map(|(name, implementation)| judging.run(implementation.as_ref(), name)).collect()
    })?;
    let report = Report {
        cases: selected.cases.len(),
        sweeps: selected.sweeps.len(),
        sample: args.sample_sweeps,
        runs,
        interrupted: interrupt::pressed(),
    }
    .cleaned();
    let status = match (report.interrupted, report.held()) {
        (true, _) => INTERRUPTED,
        (false, true) => HELD,
        (false, false) => FAILED,
    };
    let drafted = args.write_known.as_ref().map_or(Ok(String::new()), |path| draft(path, &report.runs[0]));
    let status = if drafted.is_ok() { status } else { super::WRONG_INPUT };
    match &drafted {
        Ok(text) => note(text),
        Err(message) => complain(message),
    }
    let Some(destination) = destination else {
        // The report alone goes to standard output: it may be read by a program.
        return print_and_end(&rendered(&report, &suite, formats[0]), status);
    };
    if let Err(message) = destination.write(&report, &suite) {
        // What was found is not lost with the file.
        print(&text::render(&report, width()))?;
        complain(&message);
        return Ok(super::WRONG_INPUT);
    }
    let mut text = report.closing() + "\n";
    for file in &destination.files {
        text += &format!("written: {}\n", file.path.display());
    }
    tell_and_end(&text, status)
}

fn rendered(report: &Report, suite: &Suite, format: Format) -> String {
    match format {
        Format::Text => text::render(report, width()),
        other => other.render(report, suite, 0),
    }
}

/// A draft is about one implementation, and takes the place of no file.
fn may_draft(path: &Path, running: &[&str], reports: Option<&Destination>) -> Result<(), Stop> {
    if running.len() != 1 {
        let count = running.len();
        return Err(Stop::Input(format!(
            "--write-known: found {count} implementations, expected one: add --impl"
        )));
    }
    if path.symlink_metadata().is_ok() {
        let path = path.display();
        return Err(Stop::Input(format!("--write-known {path}: found a file, expected a name that is free")));
    }
    let is_report = |reports: &Destination| reports.files.iter().any(|file| file.path == path);
    if reports.is_some_and(is_report) {
        let path = path.display();
        return Err(Stop::Input(format!(
            "--write-known {path}: found the file of a report, expected another"
        )));
    }
    // What `draft` would find only after the run: that the directory is missing.
    output::may_write(path, |_| false).map_err(|message| Stop::Input(format!("--write-known {message}")))
}

/// Writes the draft; says what was written.
fn draft(path: &Path, run: &Run) -> Result<String, String> {
    let count = known_draft::count(run);
    if count == 0 {
        return Ok(format!(
            "--write-known: nothing fails that is not known: {} is not written",
            path.display()
        ));
    }
    let failed = |error: std::io::Error| format!("--write-known {}: {error}", path.display());
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(known_draft::render(run).as_bytes()).map_err(failed)?;
    let entries = if count == 1 { "1 entry".into() } else { format!("{count} entries") };
    Ok(format!("written: {}: {entries}; fill in each url before you use it", path.display()))
}

/// Says something beside the report.
fn note(text: &str) {
    if !text.is_empty() {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

/// The known-failures files: one at most per implementation, and only for those that run.
fn load_known(paths: &[PathBuf], implementations: &[Box<Subject>]) -> Result<Vec<Known>, Stop> {
    let mut all: Vec<Known> = Vec::new();
    for path in paths {
        let known = Known::load(path)?;
        let (file, name) = (path.display(), &known.implementation);
        if !implementations.iter().any(|implementation| implementation.name() == name) {
            let running: Vec<&str> =
                implementations.iter().map(|implementation| implementation.name()).collect();
            let running = running.join(", ");
            return Err(Stop::Input(format!(
                "{file}: found known failures of `{name}`, which is not run, expected those of one of {running}"
            )));
        }
        if all.iter().any(|other| &other.implementation == name) {
            return Err(Stop::Input(format!("{file}: found a second file for `{name}`, expected one")));
        }
        all.push(known);
    }
    Ok(all)
}
