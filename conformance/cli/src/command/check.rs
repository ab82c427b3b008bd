//! `broadcheck check`: runs the suite against implementations.

use super::implementations::{Implementations, Wanted, add_known, find, parse_jobs, with_jobs};
use super::modes::{Modes, modes, parse_modes};
use super::select::Selection;
use super::suite_run::{Rerun, SuiteRun};
use super::time::parse_time;
use super::{
    Ended, Error, FAILED, INTERRUPTED, PASSED, complain, interrupt, note, print, print_and_end,
    print_visible_and_end, width,
};
use crate::report::output::{self, Destination, Format, need_directory};
use crate::report::{Report, known_draft, text};
use broadcheck::declare::Way;
use broadcheck::known::Known;
use broadcheck::optimiser::Switched;
use broadcheck_search::subjects::Subject;
use broadcheck_spec::Suite;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run the suite, or your own case files, against implementations
///
/// Prints the number of cases that passed, failed and were skipped per rule set and implementation; how much
/// was asked, and why not more; which conventions the implementation shares; then each failure with its
/// request, the expected outcome and a command that reruns that case alone.
///
/// `passed` and `failed` count rules and arithmetic. A case that tests a convention, a point on which systems
/// differ, `agrees` or `differs`. Only an implementation that declares the convention can fail it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck check
  broadcheck check --impl ndarray --rules numpy
  broadcheck check --filter numpy/zero
  broadcheck check --filter '*/views/*'
  broadcheck check my-cases/ --impl reference
  broadcheck check --impl 'python3 my_harness.py' --timeout 30s
  broadcheck check --impl 'python3 my_harness.py' --min-asked 90
  broadcheck check --impl adapter:openvino --sample-sweeps 400
  broadcheck check --impl adapter:openvino --declared=lengths,bounds
  broadcheck check --impl adapter:onnxruntime --given constants,same
  broadcheck check --impl adapter:numexpr --optimiser both
  broadcheck check --known ndarray.yaml --format json,html --out reports/
  broadcheck check --impl 'python3 my_harness.py' --write-known known.yaml

A known-failures file names an implementation and the cases that it is known to fail. A listed case that passes is a \
failure, and so is an entry that matches no case:
  implementation: ndarray
  known:
    - {case: \"numpy/zero/*\", reason: takes the maximum, url: \"https://...\"}

With --optimiser both, each case is asked with the optimiser off and on. It passes if both answers are right. If only one \
is, or if two wrong answers differ, it fails as `changed by the optimiser`. Sweeps and cases of `infer` are left out. With \
--optimiser, a known failure may pass, unless its entry names a position: `optimiser: \"on\"`.

A run fails if no case passes. With --impl, it fails if any named implementation passes no case. If less than half of \
the shape cases of a rule set that a named implementation declares could be asked, the verdict is \
`ok, but little was asked`, with the reasons.

Exit status: 0 everything passed, 1 something failed, 2 invalid input or command line, 130 interrupted.")]
pub(super) struct Args {
    #[command(flatten)]
    implementations: Implementations,

    #[command(flatten)]
    selection: Selection,

    /// Run only about N cases of each sweep, for slow implementations
    ///
    /// A sweep has up to 146,410 cases. The sample is spread evenly and is the same in every run. The report
    /// names the sweeps that were sampled.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample_sweeps: Option<u64>,

    /// Ask each case with declared shapes: with less than the run has, and the same outcome
    ///
    /// An implementation that builds a graph, a signature or a compiled function is told only the declared
    /// shapes before the run. WAY is one or more of: lengths (every length is unknown), each (one length at a
    /// time), bounds (each length has an upper bound, a lower bound, both), ranks (the ranks are unknown);
    /// all if omitted. A case passes if it passes in each way in which the implementation can be asked.
    /// Sweeps and cases of `infer` are left out.
    #[arg(long, value_name = "WAY", value_delimiter = ',', num_args = 0..=1, require_equals = true,
          default_missing_value = "lengths,each,bounds,ranks")]
    declared: Vec<Way>,

    /// Ask each case with its operands given in other ways
    ///
    /// MODE is one or more of: constants (some operands are constants of what is built: every subset of up
    /// to 3, otherwise each and all), values (operands have equal values, and scalars 0, 1, 2, -1, 0.5),
    /// same (two operands are the same array), again (the same expression is asked with other shapes, then
    /// the case again); or all of them. `constants` and `same` need an implementation that declares them.
    /// Where only the way changes, the outcome must be the case's own; where values or shapes change, that
    /// of the reference interpreter. A case passes if it passes in each way in which it could be asked. A
    /// known failure may pass. Sweeps and cases of `infer` are left out.
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = parse_modes, conflicts_with = "declared")]
    given: Vec<Modes>,

    /// Fail if an inference is wider than exact
    ///
    /// The answer to `infer` must not exclude a run that is accepted. It may admit more than the accepted
    /// runs give: such answers pass and are counted as wider. `reference` and `fast` must always be exact.
    #[arg(long)]
    exact: bool,

    /// Fail if less than this percentage of the shape cases of a declared rule set was asked
    ///
    /// A case is not asked if the implementation does not support something in it. Shape cases are those of
    /// the nature `rule`, as opposed to arithmetic and conventions. Without this option, less than half of
    /// them changes the verdict to `ok, but little was asked`, which is a success.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_asked: Option<u8>,

    /// Known-failures file of one implementation. May be repeated
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,

    /// Format of the report. More than one requires --out
    #[arg(long, value_enum, value_delimiter = ',', default_value = "text")]
    format: Vec<Format>,

    /// File for the report, or directory if there are several formats
    ///
    /// The files in a directory are named report.txt, report.json, report.junit.xml, report.md and
    /// report.html, and badge-NAME.svg for each implementation. A file that is not a report of broadcheck is
    /// never overwritten.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// Draft a known-failures file from the failures of one implementation
    ///
    /// The draft has an entry for each failure that is not yet known. Fill in the `url` of each: --known
    /// rejects the file until then. If --given names one mode, or --optimiser one position, the entries hold
    /// for that one alone. An existing file is never overwritten.
    #[arg(long, value_name = "FILE")]
    write_known: Option<PathBuf>,

    /// Number of threads, each with its own process of a command [default: one per processor]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,

    /// Time limit for one answer of a command
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    timeout: Duration,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut formats = args.format.clone();
    formats.sort_unstable();
    formats.dedup();
    if formats.len() > 1 && args.out.is_none() {
        return Err(Error::Input("--format: found several formats without --out, expected --out DIR".into()));
    }
    let given = modes(&args.given);
    let positions = args.implementations.optimiser();
    let both = positions.len() > 1;
    if both && !(args.declared.is_empty() && given.is_empty()) {
        return Err(Error::Input(BOTH_WAYS.into()));
    }
    let wanted = args.implementations.wanted();
    // Before the suite, which takes longer to read: an implementation that is missing is reported at once.
    let found = match find(&wanted, args.timeout) {
        Err(Error::Interrupted) => None,
        found => Some(found?),
    };
    let suite = args.selection.load()?;
    let selected = args.selection.of(&suite)?;
    let selected = match (&args.declared[..], &given[..]) {
        ([], []) if both => selected.only_cases("--optimiser both")?,
        ([], []) => selected,
        ([], _) => selected.only_cases("--given")?,
        _ => selected.only_cases("--declared")?,
    };
    let report = Report {
        cases: selected.number_of_cases(),
        sweeps: selected.sweeps.len(),
        sample: args.sample_sweeps,
        min_asked: args.min_asked,
        runs: Vec::new(),
        interrupted: true,
    };
    let Some(implementations) = found else {
        let destination = destination(args, &formats, &[])?;
        return deliver(&report, &suite, destination.as_ref(), formats[0], INTERRUPTED);
    };
    let (implementations, switched) =
        if both { paired(implementations) } else { (implementations, Vec::new()) };
    let wanted: Vec<Wanted> = wanted.into_iter().step_by(positions.len().max(1)).collect();
    let mut known = load_known(&args.known, &implementations)?;
    let replaced = (!args.selection.files().is_empty()).then_some(&suite);
    add_known(&mut known, &wanted, &implementations, replaced)?;
    if !positions.is_empty() {
        known.iter_mut().for_each(|known| known.ask_optimiser(positions));
    }
    known.iter().try_for_each(|known| known.check_against(&suite).map_err(Error::Input))?;
    let running: Vec<&str> = implementations.iter().map(|implementation| implementation.name()).collect();
    if need_directory(&formats, running.len()) && args.out.is_none() {
        let several = format!("--format badge: found {} implementations without --out", running.len());
        return Err(Error::Input(format!("{several}, expected one, or --out DIR")));
    }
    let destination = destination(args, &formats, &running)?;
    if let Some(path) = &args.write_known {
        may_draft(path, &running, destination.as_ref())?;
    }

    let suite_run = SuiteRun {
        suite: &suite,
        selected: &selected,
        known: &known,
        named: args.implementations.are_named(),
        sample: args.sample_sweeps,
        exact: args.exact,
        declared: &args.declared,
        given: &given,
        rerun: Rerun::new(&args.selection.files(), args.sample_sweeps, &args.declared, &given)
            .with_optimiser(positions),
    };
    let runs = with_jobs(args.jobs, || {
        let mut switched = switched.iter();
        let run = |(wanted, off): (&Wanted, &Subject)| match switched.next() {
            Some(on) => suite_run.against_both(Switched { off, on: on.as_ref() }, wanted),
            None => suite_run.against(off, wanted),
        };
        wanted.iter().zip(implementations.iter().map(AsRef::as_ref)).map(run).collect()
    })?;
    let report = Report { runs, interrupted: interrupt::pressed(), ..report }.cleaned();
    let status = match (report.interrupted, report.held()) {
        (true, _) => INTERRUPTED,
        (false, true) => PASSED,
        (false, false) => FAILED,
    };
    let how = known_draft::How::of(&given, positions);
    let write = |path: &PathBuf| known_draft::write(&report.runs[0], how, path);
    let drafted = args.write_known.as_ref().map_or(Ok(String::new()), write);
    let status = if drafted.is_ok() { status } else { super::WRONG_INPUT };
    match &drafted {
        Ok(text) if text.is_empty() => {}
        Ok(text) => note(text),
        Err(message) => complain(message),
    }
    deliver(&report, &suite, destination.as_ref(), formats[0], status)
}

/// Why `--optimiser both` is not asked in other ways, too.
const BOTH_WAYS: &str = "--optimiser both: found --given or --declared beside it, expected either; both of them can be \
asked with --optimiser off and with --optimiser on";

/// Each implementation with its optimiser off, and each with it on.
fn paired(all: Vec<Box<Subject>>) -> (Vec<Box<Subject>>, Vec<Box<Subject>>) {
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for (place, subject) in all.into_iter().enumerate() {
        if place % 2 == 0 { off.push(subject) } else { on.push(subject) }
    }
    (off, on)
}

/// The files for the report, if it goes to files.
fn destination(args: &Args, formats: &[Format], running: &[&str]) -> Result<Option<Destination>, Error> {
    Ok(args.out.as_ref().map(|out| Destination::new(formats, running, out)).transpose()?)
}

/// Writes the report to its files, or prints it in this format if there are none.
pub(super) fn deliver(
    report: &Report,
    suite: &Suite,
    destination: Option<&Destination>,
    format: Format,
    status: u8,
) -> Ended {
    let Some(destination) = destination else {
        // Only the report goes to standard output: a program may read it.
        return print_and_end(&rendered(report, suite, format), status);
    };
    if let Err(message) = destination.write(report, suite) {
        complain(&message);
        // Print the report so that the results are not lost.
        print(&text::render(report, width()))?;
        return Ok(super::WRONG_INPUT);
    }
    let mut text = report.closing() + "\n";
    for line in report.too_little_lines().iter().chain(&report.advice()) {
        text += &format!("{line}\n");
    }
    for file in &destination.files {
        text += &format!("written: {}\n", file.path.display());
    }
    print_visible_and_end(&text, status)
}

fn rendered(report: &Report, suite: &Suite, format: Format) -> String {
    match format {
        Format::Text => text::render(report, width()),
        other => other.render(report, suite, 0),
    }
}

/// Checks that there is one implementation to draft for, and that the draft overwrites nothing.
fn may_draft(path: &Path, running: &[&str], reports: Option<&Destination>) -> Result<(), Error> {
    if running.len() != 1 {
        let count = running.len();
        return Err(Error::Input(format!(
            "--write-known: found {count} implementations, expected one: add --impl"
        )));
    }
    if path.symlink_metadata().is_ok() {
        let path = path.display();
        return Err(Error::Input(format!("--write-known {path}: the file exists, expected a new name")));
    }
    let is_report = |reports: &Destination| reports.files.iter().any(|file| file.path == path);
    if reports.is_some_and(is_report) {
        let path = path.display();
        return Err(Error::Input(format!(
            "--write-known {path}: found the file of a report, expected another file"
        )));
    }
    // Detects a missing directory now rather than after the run.
    output::may_write(path, |_| false).map_err(|message| Error::Input(format!("--write-known {message}")))
}

/// Loads the known-failures files: at most one per implementation, and only for implementations that run.
fn load_known(paths: &[PathBuf], implementations: &[Box<Subject>]) -> Result<Vec<Known>, Error> {
    let mut all: Vec<Known> = Vec::new();
    for path in paths {
        let known = Known::load(path)?;
        let (file, name) = (path.display(), &known.implementation);
        if !implementations.iter().any(|implementation| implementation.name() == name) {
            let running: Vec<&str> =
                implementations.iter().map(|implementation| implementation.name()).collect();
            let running = running.join(", ");
            return Err(Error::Input(format!(
                "{file}: found known failures of `{name}`, which does not run, expected those of one of {running}"
            )));
        }
        if all.iter().any(|other| &other.implementation == name) {
            return Err(Error::Input(format!("{file}: found a second file for `{name}`, expected one")));
        }
        all.push(known);
    }
    Ok(all)
}
