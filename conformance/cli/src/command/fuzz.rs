//! `broadcheck fuzz`: sends random requests to two implementations and compares the answers.

use super::finding_report::{Found, make_directory, proposal, report_found};
use super::implementations::{add_known, find, parse_jobs};
use super::time::parse_time;
use super::{Ended, Error, FAILED, INTERRUPTED, PASSED, interrupt, print_visible_and_end};
use crate::report::plural;
use broadcheck::known::Known;
use broadcheck_search::fuzzing::{Campaign, FuzzReport, common, fuzz};
use broadcheck_search::generate::{MAX_ELEMENTS, Profile};
use broadcheck_search::oracle::{Oracle as _, Signature};
use broadcheck_search::shrink::{Limits, Sides, shrink};
use broadcheck_spec::Implementation;
use broadcheck_spec::{Case, DType, Function, OperationKind, RefusalKind, RuleSet, Suite};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::time::Duration;

/// The largest result requested from a process, in elements: the protocol writes each element as text.
const MAX_ELEMENTS_OF_A_PROCESS: usize = 1 << 12;

/// The number of requests that may be spent on shrinking a known failure, so that it is recognised.
const KNOWN_STEPS: usize = 400;

/// Compare two implementations on random requests, and shrink every disagreement to a case
///
/// The requests cover every rule set, operation and dtype that both sides declare. Most are valid; the rest
/// must be refused, for each possible reason. Each kind of disagreement is shrunk to the smallest request
/// that shows it and written as a case. Crashes, hangs and panics are disagreements, and so are answers that
/// change when a request is repeated or asked right after one that differs from it in one point.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz
  broadcheck fuzz --time 8h --out findings/
  broadcheck fuzz --right 'python3 my_harness.py' --rules numpy --time 10min
  broadcheck fuzz --seed 7 --jobs 1 --requests 100000 --statistics
  broadcheck fuzz --right adapter:numpy --allow-skips --without too_large,corners

With --jobs 1 and --requests, the same seed gives the same report. The note of a proposed case states what is certain \
about it and what is not. An existing file is never changed.

Exit status: 0 the sides agree, 1 they disagree or nothing was compared, 2 invalid command line, 130 interrupted.")]
pub(super) struct Args {
    /// Implementation to compare with: reference, fast, ndarray, adapter:NAME or a command
    #[arg(long, value_name = "NAME_OR_COMMAND", default_value = "reference")]
    left: String,

    /// Implementation under test
    #[arg(long, value_name = "NAME_OR_COMMAND", default_value = "fast")]
    right: String,

    /// Time limit, not counting shrinking [default: 1min, unless --requests is given]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// Number of requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Number of threads, each with its own process of a command [default: one per processor]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,

    /// Only these rule sets
    #[arg(long, value_name = "R", value_delimiter = ',')]
    rules: Vec<RuleSet>,

    /// Only these operations: elementwise, broadcast or gradient
    #[arg(long, value_name = "O", value_delimiter = ',', value_parser = parse_operation)]
    operation: Vec<OperationKind>,

    /// Only these functions
    #[arg(long, value_name = "F", value_delimiter = ',')]
    functions: Vec<Function>,

    /// Only these dtypes
    #[arg(long, value_name = "D", value_delimiter = ',')]
    dtypes: Vec<DType>,

    /// Leave these out of the requests
    ///
    /// A kind of refusal leaves out requests that must be refused for it. `unused` leaves out operands that
    /// the expression does not use, `views` leaves out strided views, and `corners` leaves out all values but
    /// small integers.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = parse_left_out)]
    without: Vec<LeftOut>,

    /// Count requests that a side skips within its capabilities, but do not report them
    #[arg(long)]
    allow_skips: bool,

    /// Time limit for shrinking one disagreement [default: 6 x --timeout, at least 20 s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    shrinking: Option<Duration>,

    /// Directory for the cases [default: print them]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print statistics of the requests
    #[arg(long)]
    statistics: bool,

    /// Known-failures file of one of the sides. May be repeated
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,

    /// Time limit for one answer of a command
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    timeout: Duration,
}

fn parse_operation(text: &str) -> Result<OperationKind, String> {
    let names = OperationKind::ALL.map(OperationKind::name).join(", ");
    let found = OperationKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| format!("expected one of {names}"))
}

/// Something that requests leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Refusal(RefusalKind),
    Unused,
    Corners,
    Views,
}

fn parse_left_out(text: &str) -> Result<LeftOut, String> {
    match text {
        "unused" => Ok(LeftOut::Unused),
        "corners" => Ok(LeftOut::Corners),
        "views" => Ok(LeftOut::Views),
        kind => kind.parse().map(LeftOut::Refusal).map_err(|_| {
            let kinds: Vec<&str> = RefusalKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("expected unused, corners, views, or a kind of refusal: {}", kinds.join(", "))
        }),
    }
}

pub(super) fn run(args: &Args) -> Ended {
    make_directory(args.out.as_deref())?;
    let side = |name: &String, option: &str| {
        find(&[name.as_str()], args.timeout).map_err(|error| match error {
            Error::Input(message) => Error::Input(message.replacen("--impl", option, 1)),
            other => other,
        })
    };
    let mut sides = side(&args.left, "--left")?;
    sides.extend(side(&args.right, "--right")?);
    let suite = Suite::builtin().map_err(|errors| errors.to_string())?;
    let mut known: Vec<Known> = args.known.iter().map(|path| Known::load(path)).collect::<Result<_, _>>()?;
    add_known(&mut known, &[&args.left, &args.right], &sides, &suite, false)?;
    let (left, right): (&dyn Implementation, &dyn Implementation) = (sides[0].as_ref(), sides[1].as_ref());

    let time = args.time.or_else(|| args.requests.is_none().then_some(Duration::from_secs(60)));
    let campaign = Campaign {
        left,
        right,
        profile: profile(args, left, right)?,
        seed: args.seed,
        requests: args.requests,
        time,
        jobs: args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        skips: args.allow_skips,
        statistics: args.statistics,
        shrinking: (5_000, args.shrinking.unwrap_or((args.timeout * 6).max(Duration::from_secs(20)))),
        stop: interrupt::flag(),
    };
    // Drawn on standard error, only if that is a terminal.
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{elapsed}  {msg}").expect("the template is a valid one"));
    let report = fuzz(&campaign, &mut |counts, elapsed| {
        bar.set_message(counts.progress(elapsed));
        bar.tick();
    });
    bar.finish_and_clear();
    let recognised = Recognised::of(&known, &suite, &campaign, &report);
    finish(args, &report, &campaign, &recognised)
}

/// What the requests contain: what both sides declare, restricted by the options.
fn profile(args: &Args, left: &dyn Implementation, right: &dyn Implementation) -> Result<Profile, Error> {
    let mut both = common(left.capabilities(), right.capabilities())?;
    if !args.rules.is_empty() {
        both.rules.retain(|rules| args.rules.contains(rules));
    }
    if !args.operation.is_empty() {
        both.operations.retain(|operation| args.operation.contains(operation));
    }
    if !args.functions.is_empty() {
        both.functions.retain(|function| args.functions.contains(function));
    }
    if !args.dtypes.is_empty() {
        both.dtypes.retain(|dtype| args.dtypes.contains(dtype));
        if both.dtypes.is_empty() {
            return Err(Error::Input(
                "--dtypes: found no dtype that both sides declare, expected at least one".into(),
            ));
        }
    }
    if !both.rules.iter().any(|rules| both.operations.iter().any(|&operation| rules.has(operation))) {
        return Err(Error::Input(
            "--rules, --operation: found no combination that both sides declare, expected a rule set with one of its operations".into(),
        ));
    }
    let process = left.batch() > 1 || right.batch() > 1;
    let largest = if process { MAX_ELEMENTS_OF_A_PROCESS } else { MAX_ELEMENTS };
    let largest = largest.min(both.max_elements);
    Ok(args.without.iter().fold(Profile::within(&both).with_max_elements(largest), left_out))
}

fn left_out(profile: Profile, what: &LeftOut) -> Profile {
    match *what {
        LeftOut::Refusal(kind) => profile.without_refusals(&[kind]),
        LeftOut::Unused => profile.with_unused(false),
        LeftOut::Corners => profile.with_plain_values(true),
        LeftOut::Views => profile.with_strided(false),
    }
}

/// The known failures of the sides, as signatures.
struct Recognised(Vec<(Signature, String)>);

impl Recognised {
    /// Runs the cases that are known to fail. Those that fail like a finding are shrunk as findings are.
    fn of(known: &[Known], suite: &Suite, campaign: &Campaign<'_>, report: &FuzzReport) -> Recognised {
        let oracle = campaign.oracle();
        let is_found = |signature: &Signature| {
            report.findings.iter().any(|found| found.shrunk.disagreement.signature.same_way(signature))
        };
        let of_a_side = |known: &&Known| {
            [campaign.left.name(), campaign.right.name()].contains(&known.implementation.as_str())
        };
        let listed =
            |case: &&Case| known.iter().filter(of_a_side).any(|known| known.entry(&case.id).is_some());
        let limits = Limits { steps: KNOWN_STEPS, time: Duration::from_secs(5), stop: Some(campaign.stop) };
        let mut all = Vec::new();
        for case in suite.cases.iter().filter(listed) {
            if let Some(found) = oracle.judge(&case.request).disagreement() {
                if !is_found(&found.signature) {
                    continue;
                }
                all.push((found.signature.clone(), case.id.clone()));
                let shrunk = shrink(&oracle, &case.request, found, &limits);
                all.push((shrunk.disagreement.signature, case.id.clone()));
            }
        }
        Recognised(all)
    }

    fn case(&self, signature: &Signature) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == signature).map(|(_, case)| case.as_str())
    }
}

fn finish(args: &Args, report: &FuzzReport, campaign: &Campaign<'_>, recognised: &Recognised) -> Ended {
    let Campaign { left, right, seed, .. } = campaign;
    let title = |side: &dyn Implementation| format!("{} {}", side.name(), side.version());
    let mut text = format!("{} against {}, seed {seed}\n", title(*right), title(*left));
    if let Some(statistics) = &report.statistics {
        text += &format!("\n{statistics}\n");
    }
    for (reason, count) in &report.reasons {
        text += &format!("\nnot compared ({count}): {reason}");
    }
    let mut news = 0;
    for finding in &report.findings {
        let signature = &finding.shrunk.disagreement.signature;
        let known = recognised.case(signature);
        news += usize::from(known.is_none());
        let found_by = format!("broadcheck fuzz, seed {seed}, request {}", finding.number);
        let proposed = proposal(&finding.shrunk, &Sides::of(*left, *right, found_by), args.out.as_deref());
        let hits = Some(finding.hits);
        text += &report_found(&Found { shrunk: &finding.shrunk, hits, known, proposed: &proposed });
    }
    let verdict = match (report.complete, news) {
        (false, _) => "interrupted".into(),
        (true, 0) if report.counts.compared() == 0 => "FAILED, nothing was compared".into(),
        (true, 0) => "ok".into(),
        (true, news) => format!("FAILED, {}", plural(news, "disagreement")),
    };
    text += &format!("\n{verdict}: {}\n", report.summary());
    let status = match (report.complete, news) {
        (false, _) => INTERRUPTED,
        (true, 0) if report.counts.compared() > 0 => PASSED,
        (true, _) => FAILED,
    };
    print_visible_and_end(&text, status)
}
