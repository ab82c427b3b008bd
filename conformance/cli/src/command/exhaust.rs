//! `broadcheck exhaust`: checks every pair of small shapes with all attributes, and counts the checks. What
//! is inferred before the run (`--infer`) is in `exhaust_infer`.

use super::exhaust_cases::write_cases;
use super::exhaust_infer;
use super::finding_report::make_directory;
use super::implementations::{Implementations, find, parse_jobs, with_jobs};
use super::time::parse_time;
use super::{Ended, Error, FAILED, INTERRUPTED, PASSED, columns, interrupt, print_visible_and_end};
use crate::report::plural;
use broadcheck_judge::text::padded_left;
use broadcheck_search::exhaustive::{Bounds, ExhaustReport, Progress, exhaust};
use broadcheck_spec::Implementation;
use broadcheck_spec::RuleSet;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Check every pair of shapes up to a rank and a length, with all attributes
///
/// The answers of every implementation are compared with those of the first: refusal kinds, axes, shapes and
/// values. Each implementation is also checked against the relations between its own answers.
///
/// With --infer, shapes may have unknown lengths and ranks, and the operation `infer` is asked: what is known
/// of the result before the run. Numbers are tried in place of what is unknown. An answer that excludes a
/// result of these runs is wrong. One that admits more than they give is wider than exact: it is counted and
/// shown, but fails only with --exact, and for reference and fast.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck exhaust                            the default bounds
  broadcheck exhaust --max-rank 4 --max-dim 3
  broadcheck exhaust --rules xla --max-rank 3 --max-dim 5
  broadcheck exhaust --impl reference --impl 'python3 my_harness.py' --max-rank 2 --max-dim 2 --out findings/
  broadcheck exhaust --infer                    the operation infer, with its own default bounds
  broadcheck exhaust --infer --exact --impl adapter:openvino --rules numpy

The default bounds are rank 3 and length 4, or rank 2 and length 3 with --infer. Shapes with --infer also have lengths \
with bounds at --max-dim and just below, and the sums of three operands have at most rank 1.

Exit status: 0 everything agrees, 1 something differs or nothing was checked, 2 invalid command line, 130 interrupted.")]
pub(super) struct Args {
    /// Maximum rank
    #[arg(long, value_name = "N")]
    pub(super) max_rank: Option<usize>,

    /// Maximum length of an axis; the minimum is 0
    #[arg(long, value_name = "N")]
    pub(super) max_dim: Option<usize>,

    /// Ask for what is inferred before the run, of shapes with unknown lengths and ranks
    #[arg(long)]
    infer: bool,

    /// Fail for an inference that is wider than exact
    #[arg(long, requires = "infer")]
    pub(super) exact: bool,

    #[command(flatten)]
    pub(super) implementations: Implementations,

    /// Only these rule sets, and the relations among them
    #[arg(long, value_name = "R", value_delimiter = ',')]
    pub(super) rules: Vec<RuleSet>,

    /// Number of threads, each with its own process of a command [default: one per processor]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(super) jobs: Option<usize>,

    /// Directory for cases: one for each kind of difference, as small as possible
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// Time limit for one answer of a command
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    pub(super) timeout: Duration,
}

pub(super) fn run(args: &Args) -> Ended {
    if args.infer {
        return exhaust_infer::run(args);
    }
    let usual = Bounds::default().extent();
    let bounds =
        Bounds::new(args.max_rank.unwrap_or(usual.max_rank), args.max_dim.unwrap_or(usual.max_length))?;
    let bounds = if args.rules.is_empty() { bounds } else { bounds.with_rules(&args.rules) };
    make_directory(args.out.as_deref())?;
    let implementations = find(&args.implementations.distinct()?, args.timeout)?;
    let implementations: Vec<&dyn Implementation> =
        implementations.iter().map(|implementation| implementation.as_ref() as &dyn Implementation).collect();

    let report =
        with_progress(|progress| with_jobs(args.jobs, || exhaust(&bounds, &implementations, progress)))?;
    let report = report.map_err(Error::Input)?;
    let silent = silent(&report, &implementations);
    // As with `check`, an implementation that was named must have got some request.
    let held = report.held() && (silent.is_empty() || !args.implementations.are_named());
    let status = match (report.complete, held) {
        (false, _) => INTERRUPTED,
        (true, true) => PASSED,
        (true, false) => FAILED,
    };
    let cases = args.out.as_ref().map(|out| write_cases(&report, &implementations, out));
    print_visible_and_end(&(rendered(&report, &silent, held) + &cases.unwrap_or_default()), status)
}

/// Runs something with a progress bar, which is drawn on standard error, and only if that is a terminal.
pub(super) fn with_progress<T>(run: impl FnOnce(&Progress<'_>) -> T) -> T {
    let bar = ProgressBar::new(0);
    let style =
        ProgressStyle::with_template("{bar:40} {percent:>3}%  {human_pos} of {human_len}, {eta} to go");
    bar.set_style(style.expect("the template is a valid one"));
    let show = |done: u64, total: u64| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let ran = run(&Progress { report: &show, stop: interrupt::flag() });
    bar.finish_and_clear();
    ran
}

/// The names of the implementations that got no request.
fn silent<'a>(report: &ExhaustReport, implementations: &[&'a dyn Implementation]) -> Vec<&'a str> {
    let names = implementations.iter().map(|implementation| implementation.name());
    names.filter(|name| report.complete && report.asked_nothing(name)).collect()
}

fn rendered(report: &ExhaustReport, silent: &[&str], held: bool) -> String {
    let mut text = format!("{}\n\n{}", report.extent, table(report));
    let _ = write!(text, "\n{}", relations(report));
    for finding in &report.findings {
        let _ = write!(text, "\nDIFFERENCE  {finding}\n");
    }
    let kept = report.findings.len() as u64;
    if report.finding_count > kept {
        let _ = writeln!(text, "\nand {} more", report.finding_count - kept);
    }
    for name in silent {
        let _ = writeln!(text, "\n{name} was not tested: it declares no request within the bounds");
    }
    let verdict = match (report.complete, held) {
        (false, _) => "interrupted",
        (true, true) => "ok",
        (true, false) if report.checks == 0 => "FAILED, nothing was checked",
        (true, false) => "FAILED",
    };
    let _ = writeln!(
        text,
        "\n{verdict}: {} checks, {} answers, {}, {:.1} s",
        grouped(report.checks),
        grouped(report.answers),
        plural(usize::try_from(report.finding_count).unwrap_or(usize::MAX), "difference"),
        report.elapsed.as_secs_f64()
    );
    text
}

/// The requests of each rule set: how many, accepted, refused; and how many answers were compared with the
/// first implementation's.
fn table(report: &ExhaustReport) -> String {
    let head = ["rule set", "operation", "requests", "accepted", "refused", "judged against the first"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for group in report.groups.iter().filter(|group| group.requests > 0) {
        let judged: Vec<String> = group
            .implementations
            .iter()
            .skip(1)
            .map(|count| format!("{} {}", count.implementation, grouped(count.compared)))
            .collect();
        rows.push(vec![
            group.rules.to_string(),
            group.operation.to_string(),
            grouped(group.requests),
            grouped(group.accepted),
            grouped(group.refused),
            if judged.is_empty() { "-".into() } else { judged.join(", ") },
        ]);
    }
    columns(&right_aligned(rows, 2..5))
}

/// The relations of each implementation that were run.
fn relations(report: &ExhaustReport) -> String {
    let head = ["relation", "of", "compared", "nothing to compare", "not asked", "violated"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for relation in report.relations.iter().filter(|relation| relation.skipped.is_none()) {
        rows.push(vec![
            relation.relation.into(),
            relation.implementation.clone(),
            grouped(relation.compared),
            grouped(relation.vacuous),
            grouped(relation.not_asked),
            grouped(relation.violated),
        ]);
    }
    if rows.len() == 1 { String::new() } else { columns(&right_aligned(rows, 2..6)) }
}

/// The columns of numbers, padded on the left.
pub(super) fn right_aligned(mut rows: Vec<Vec<String>>, numbers: std::ops::Range<usize>) -> Vec<Vec<String>> {
    for column in numbers {
        let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        for row in &mut rows {
            row[column] = padded_left(&row[column], width);
        }
    }
    rows
}

/// 1234567 as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
