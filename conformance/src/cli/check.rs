//! `broadcheck check`: the suite against implementations.

use super::implementations::{find, parse_jobs, wanted, with_jobs};
use super::judging::{Judging, Rerun};
use super::select::Selection;
use super::time::parse_time;
use super::{Ended, FAILED, HELD, INTERRUPTED, Stop, complain, interrupt, print_and_end, width};
use broadcheck::known::Known;
use broadcheck::report::output::{Destination, Format};
use broadcheck::report::{Report, text};
use broadcheck::subjects::Subject;
use std::path::PathBuf;
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
  broadcheck check --impl ndarray --known ndarray.yaml --format json,markdown --out reports/

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
    /// `broadcheck smoke` tries it. Names that begin with `adapter:` are reserved.
    #[arg(long = "impl", value_name = "NAME_OR_COMMAND")]
    implementations: Vec<String>,

    #[command(flatten)]
    selection: Selection,

    /// A file of failures that are known for one implementation. May be repeated
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,

    /// How the report is written. Several need --out DIR
    #[arg(long, value_enum, value_delimiter = ',', default_value = "text")]
    format: Vec<Format>,

    /// The file for the report; for several formats, the directory for report.txt, report.json and report.md
    ///
    /// A file that is no report of broadcheck is never overwritten.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

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
    let known = load_known(&args.known, &implementations)?;
    let destination = args.out.as_ref().map(|out| Destination::new(&formats, out)).transpose()?;
    interrupt::listen()?;

    let judging = Judging {
        suite: &suite,
        selected: &selected,
        known: &known,
        named: !args.implementations.is_empty(),
        rerun: Rerun::new(&args.selection.cases),
    };
    let runs = with_jobs(args.jobs, || {
        let named = names.iter().zip(&implementations);
        named.map(|(name, implementation)| judging.run(implementation.as_ref(), name)).collect()
    })?;
    let report = Report {
        cases: selected.cases.len(),
        sweeps: selected.sweeps.len(),
        runs,
        interrupted: interrupt::pressed(),
    };
    let status = match (report.interrupted, report.held()) {
        (true, _) => INTERRUPTED,
        (false, true) => HELD,
        (false, false) => FAILED,
    };
    let Some(destination) = destination else {
        return print_and_end(&rendered(&report, formats[0]), status);
    };
    if let Err(message) = destination.write(&report) {
        complain(&message);
        return Ok(super::WRONG_INPUT);
    }
    let mut text = report.closing() + "\n";
    for (_, path) in &destination.files {
        text += &format!("written: {}\n", path.display());
    }
    print_and_end(&text, status)
}

fn rendered(report: &Report, format: Format) -> String {
    match format {
        Format::Text => text::render(report, width()),
        other => other.render(report),
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
