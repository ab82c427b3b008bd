//! `broadcheck fuzz`: random requests to two implementations, for as long as one likes.

use super::implementations::{add_known, find, parse_jobs};
use super::proposing::{Found, make_directory, proposal, report_found};
use super::time::parse_time;
use super::{Ended, FAILED, HELD, INTERRUPTED, Stop, interrupt, tell_and_end};
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

/// The largest result that is asked of a process, in elements: each is a text there, twice.
const MAX_ELEMENTS_OF_A_PROCESS: usize = 1 << 12;

/// How many requests may be asked to shrink a known failure, so that it is known again.
const KNOWN_STEPS: usize = 400;

/// Ask two implementations the same random requests, and shrink what they disagree on
///
/// Requests of every rule set, operation and dtype that both declare, most of them accepted, a share of them refused
/// for each reason there is. What the two sides answer differently is made as small as possible, and written as a
/// case, one for each sort of disagreement. A crash, a hang and a panic are disagreements, and so is an answer
/// that changes when it is asked for again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz
  broadcheck fuzz --time 8h --out findings/
  broadcheck fuzz --left reference --right 'python3 my_harness.py' --rules numpy --time 10min
  broadcheck fuzz --seed 7 --jobs 1 --requests 100000 --statistics
  broadcheck fuzz --right adapter:numpy --time 5min --allow-skips --without dtype_mismatch,too_large,unused,corners

With --jobs 1 and --requests the same seed gives the same report. A case that is proposed says in its note what is
certain of it and what is not; a file that exists is never changed.

Exit status: 0 all held, 1 the sides disagree, 2 the command line was wrong, 130 interrupted.")]
pub(super) struct Args {
    /// The side that is the judge: reference, fast, ndarray, adapter:NAME, or a command
    #[arg(long, value_name = "NAME_OR_COMMAND", default_value = "reference")]
    left: String,

    /// The side that is judged
    #[arg(long, value_name = "NAME_OR_COMMAND", default_value = "fast")]
    right: String,

    /// How long to go on, without the time for shrinking; a minute, where neither this nor --requests is given
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// How many requests to ask
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,

    /// Of what the requests are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// How many threads work; as many as there are processors, unless said. Each has a process of a command
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,

    /// Only these rule sets
    #[arg(long, value_name = "R", value_delimiter = ',')]
    rules: Vec<RuleSet>,

    /// Only these operations: elementwise, broadcast, gradient
    #[arg(long, value_name = "O", value_delimiter = ',', value_parser = parse_operation)]
    operation: Vec<OperationKind>,

    /// Only these functions
    #[arg(long, value_name = "F", value_delimiter = ',')]
    functions: Vec<Function>,

    /// Only these dtypes
    #[arg(long, value_name = "D", value_delimiter = ',')]
    dtypes: Vec<DType>,

    /// What is not drawn: requests to be refused for a kind of refusal; `unused` operands; `corners`, which leaves
    /// counters as the only values; `views`
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = parse_left_out)]
    without: Vec<LeftOut>,

    /// Count what a side skips although it declares it, and do not call that a disagreement
    #[arg(long)]
    allow_skips: bool,

    /// How long one disagreement may be shrunk; six times --timeout, and 20 s at least, unless said
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    shrinking: Option<Duration>,

    /// A directory for the cases; without it they are printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Count what was drawn, and print it
    #[arg(long)]
    statistics: bool,

    /// A file of failures that are known for one of the sides. May be repeated
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,

    /// How long a command may take for one answer
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    timeout: Duration,
}

fn parse_operation(text: &str) -> Result<OperationKind, String> {
    let names = OperationKind::ALL.map(OperationKind::name).join(", ");
    let found = OperationKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| format!("expected one of {names}"))
}

/// Something that is not drawn.
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
        find(&[name.as_str()], args.timeout).map_err(|stop| match stop {
            Stop::Input(message) => Stop::Input(message.replacen("--impl", option, 1)),
            other => other,
        })
    };
    let mut sides = side(&args.left, "--left")?;
    sides.extend(side(&args.right, "--right")?);
    let suite = Suite::builtin().map_err(|errors| errors.to_string())?;
    let mut known: Vec<Known> = args.known.iter().map(|path| Known::load(path)).collect::<Result<_, _>>()?;
    add_known(&mut known, &[&args.left, &args.right], &sides, &suite, false)?;
    let (left, right): (&dyn Implementation, &dyn Implementation) = (sides[0].as_ref(), sides[1].as_ref());
    interrupt::listen()?;

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
    // Drawn on standard error, and only where that is a terminal.
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

/// What is drawn: what both sides declare, and of that what is asked for.
fn profile(args: &Args, left: &dyn Implementation, right: &dyn Implementation) -> Result<Profile, Stop> {
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
            return Err(Stop::Input("--dtypes: found none that both sides declare, expected one".into()));
        }
    }
    if !both.rules.iter().any(|rules| both.operations.iter().any(|&operation| rules.has(operation))) {
        return Err(Stop::Input(
            "--rules, --operation: found nothing that both sides declare, expected a rule set with an operation of it".into(),
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

/// The failures that are known of the sides, as signatures.
struct Recognised(Vec<(Signature, String)>);

impl Recognised {
    /// Asks the cases that are known to fail, and shrinks those as findings are that fail in the way of a finding.
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
        text += &format!("\nnot compared, {count}: {reason}");
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
        (true, 0) if report.counts.compared() > 0 => HELD,
        (true, _) => FAILED,
    };
    tell_and_end(&text, status)
}
