//! `broadcheck fuzz`: sends random requests to two implementations and compares the answers.

use super::finding_report::make_directory;
use super::fuzz_report::{self, Format, Ran};
use super::implementations::{Wanted, add_known, find, parse_batch, parse_jobs};
use super::modes::{Modes, modes, parse_modes};
use super::named::parse_name;
use super::select::INFER;
use super::time::parse_time;
use super::{Ended, Error, interrupt};
use crate::report::clean::visible;
use broadcheck::known::Known;
use broadcheck::optimiser::Optimiser;
use broadcheck_search::fuzzing::{Campaign, Earlier, FuzzReport, Store, common, fuzz};
use broadcheck_search::generate::{MAX_ELEMENTS, Profile, Rewrites, Signatures};
use broadcheck_search::oracle::{Oracle as _, Signature};
use broadcheck_search::shrink::{Limits, shrink};
use broadcheck_search::subjects::Subject;
use broadcheck_spec::{
    Capabilities, DType, Function, Implementation, OperationKind, RefusalKind, RuleSet, Suite,
};
use clap::Parser as _;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The largest result requested from a process, in elements: the protocol writes each element as text.
const MAX_ELEMENTS_OF_A_PROCESS: usize = 1 << 12;

/// The number of requests that may be spent on shrinking a known failure, so that it is recognised.
const KNOWN_STEPS: usize = 400;

/// The time limit for recognising known failures.
const RECOGNISING: Duration = Duration::from_secs(30);

/// The default limit for shrinking if there is a limit for requests: half of that, but not more than this.
const MAX_SHRINK_TIME: Duration = Duration::from_secs(30 * 60);

/// Compare two implementations on random requests, and shrink every disagreement to a case
///
/// The requests cover every rule set, operation and dtype that both sides declare. Most are valid; the rest
/// must be refused, for each possible reason. Each kind of disagreement is shrunk to the smallest request
/// that shows it and written as a case. Crashes, hangs and panics are disagreements, and so are answers that
/// change when a request is repeated or asked right after one that differs from it in one point.
///
/// If both sides declare `infer`, they are also asked what they infer from shapes with unknown lengths. What
/// they infer is judged by trying numbers in place of the unknown lengths, and compared. A side that declares
/// `declared` is also asked sessions of requests with declared shapes, whose outcomes must be the same
/// without them.
///
/// With --out, a disagreement is written to the directory when it is seen, and replaced by its shrunk form
/// later. A run that was interrupted or killed is continued with --resume. Without --out, new kinds of
/// disagreements are announced on standard error, the cases are printed at the end, and nothing is written.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz
  broadcheck fuzz --time 8h --out findings/
  broadcheck fuzz --resume findings/
  broadcheck fuzz --right 'python3 my_harness.py' --rules numpy --time 10min
  broadcheck fuzz --seed 7 --jobs 1 --requests 100000 --statistics
  broadcheck fuzz --requests 100000 --format json > fuzz.json
  broadcheck fuzz --right adapter:numpy --allow-skips --without too_large,corners
  broadcheck fuzz --right adapter:openvino --operation infer
  broadcheck fuzz --right adapter:onnxruntime --given constants,again
  broadcheck fuzz --right adapter:numpy --rewrites only --time 5min
  broadcheck fuzz --right adapter:pytensor --right-optimiser on
  broadcheck fuzz --left adapter:numexpr --left-optimiser off --right adapter:numexpr --right-optimiser on

With --jobs 1 and --requests, the same seed gives the same report, even if the run was killed and continued. The note of \
a proposed case states what is certain about it and what is not. An existing file is never changed, except those that \
the run itself wrote and nobody has edited since.

The report, and the file findings.txt of --out, put findings that probably have the same cause into one group, with the \
smallest request first.

Exit status: 0 the sides agree, 1 they disagree or nothing was compared, 2 invalid command line or state file, \
130 interrupted.")]
pub(super) struct Args {
    /// Implementation to compare with: reference, fast, ndarray, adapter:NAME or a command [default:
    /// reference]
    #[arg(long, value_name = "NAME_OR_COMMAND")]
    left: Option<String>,

    /// Implementation under test [default: fast]
    ///
    /// Reports and files contain a command, with its paths and arguments: use --right-name if they should not
    /// be published.
    #[arg(long, visible_alias = "impl", value_name = "NAME_OR_COMMAND")]
    right: Option<String>,

    /// Name to show in place of --left, in every report and file
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    left_name: Option<String>,

    /// Name to show in place of --right, in every report and file
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    right_name: Option<String>,

    /// Position of the optimiser of --left, if it has a switch for it: off or on [default: its own choice]
    #[arg(long, value_name = "POSITION", value_parser = parse_position)]
    left_optimiser: Option<Optimiser>,

    /// Position of the optimiser of --right, if it has a switch for it: off or on [default: its own choice]
    ///
    /// If both sides are the same implementation, each is named after its position.
    #[arg(long, value_name = "POSITION", value_parser = parse_position)]
    right_optimiser: Option<Optimiser>,

    /// Maximum number of requests in a message, or off [default: what an implementation declares]
    #[arg(long, value_name = "N|off", value_parser = parse_batch)]
    batch: Option<usize>,

    /// Time limit for sending requests [default: 1min, unless --requests is given]
    ///
    /// Requests that are unanswered when it is over do not count. In addition, the command may take the time
    /// of --shrink-time, 30 s to recognise known failures, and up to 3 x --timeout and 5 s for the request
    /// that is being shrunk and the end of the processes. Starting the implementations does not count.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// Number of requests; with --operation infer, of signatures
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

    /// Only these operations: elementwise, broadcast, gradient or infer
    #[arg(long, value_name = "O", value_delimiter = ',', value_parser = parse_operation)]
    operation: Vec<&'static str>,

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

    /// Give the operands of requests in other ways, in turn
    ///
    /// MODE is one or more of: constants (some operands are constants of what is built), values (operands
    /// have equal values, or scalars are 0, 1, 2, -1 or 0.5), same (two operands are the same array), again
    /// (after each request, the same expression is asked with other shapes, and then the request again); or
    /// all. A request that both sides cannot be given so is sent as it is. Cases that are written say how
    /// operands are given; what depends on a request before it is in the note.
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = parse_modes)]
    given: Vec<Modes>,

    /// Ask a side also with the expression in another form, such as a - 0 in place of a
    ///
    /// The two answers must agree, because the forms are equal for every value. `some` asks one side every
    /// 8th request in such a form, in addition. `only` asks the side of --right every request as it is and in
    /// another form, and compares nothing else: what the side does not answer as it is does not count. Cases
    /// that are written contain both requests.
    #[arg(long, value_enum, default_value_t = WhenRewritten::Some, value_name = "WHEN")]
    rewrites: WhenRewritten,

    /// Count requests that a side skips within its capabilities, but do not report them
    #[arg(long)]
    allow_skips: bool,

    /// Report also inferences that are wider than exact: they admit more than the runs give
    ///
    /// Without it, they are counted, and reported only of reference and fast.
    #[arg(long)]
    exact: bool,

    /// Time limit for shrinking one disagreement [default: 6 x --timeout, at least 20 s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    shrinking: Option<Duration>,

    /// Time limit for all shrinking, in addition to --time [default: half of --time, at most 30min; no limit
    /// with --requests alone]
    ///
    /// What is not shrunk in this time is reported as it was seen. With --out, `--resume` shrinks it later.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    shrink_time: Option<Duration>,

    /// Directory for the cases and the state of the run [default: print the cases at the end]
    ///
    /// Each disagreement is written when it is seen, as NAME-request-N.yaml, and replaced by a file NAME.yaml
    /// when it is shrunk. Of similar disagreements, the first four are kept. A file that has been edited is
    /// left as it is. The file findings.txt lists the cases in groups that probably have the same cause, and
    /// the one to read first. The state of the run is in the file fuzz.state. Both are updated every second,
    /// also with --resume. A directory with a run that has not finished is not used for another run.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Continue the run in this directory, which was given to --out
    ///
    /// The options of the run apply, and its remaining time. --time gives it that much more time instead, and
    /// --requests another total; --jobs, --timeout, --shrinking, --shrink-time and --known may be changed
    /// too. Disagreements that were not shrunk are shrunk first. The report covers the whole run.
    ///
    /// A command must be given again with --left or --right, and must be the same: a file does not decide
    /// which programs are started. The error message shows the command of the run.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "out", "seed", "rules", "operation", "functions", "dtypes", "without", "given", "rewrites", "allow_skips",
            "exact", "left_optimiser", "right_optimiser", "batch",
        ]
    )]
    resume: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,

    /// Print statistics of the requests, with --resume of those since then
    #[arg(long)]
    statistics: bool,

    /// Known-failures file of one of the sides. May be repeated
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,

    /// Time limit for one answer of a command [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
}

/// The arguments of a run as its state file stores them.
#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Stored {
    #[command(flatten)]
    args: Args,
}

/// When requests are also asked in another form.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum WhenRewritten {
    /// Never
    Never,
    /// Every 8th request, besides the comparison of the two sides
    Some,
    /// Every request, in place of the comparison
    Only,
}

impl WhenRewritten {
    /// As on the command line.
    fn name(self) -> &'static str {
        match self {
            WhenRewritten::Never => "never",
            WhenRewritten::Some => "some",
            WhenRewritten::Only => "only",
        }
    }
}

impl From<WhenRewritten> for Rewrites {
    fn from(when: WhenRewritten) -> Rewrites {
        match when {
            WhenRewritten::Never => Rewrites::Never,
            WhenRewritten::Some => Rewrites::Some,
            WhenRewritten::Only => Rewrites::Only,
        }
    }
}

/// A position of an optimiser.
fn parse_position(text: &str) -> Result<Optimiser, String> {
    Optimiser::named(text).ok_or_else(|| "expected off or on".into())
}

/// The name of an operation.
fn parse_operation(text: &str) -> Result<&'static str, String> {
    let names: Vec<&str> = OperationKind::ALL.iter().map(|kind| kind.name()).chain([INFER]).collect();
    let found = names.iter().find(|name| **name == text).copied();
    found.ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

/// Something that requests leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Refusal(RefusalKind),
    Unused,
    Corners,
    Views,
}

/// As on the command line.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftOut::Refusal(kind) => kind.name(),
            LeftOut::Unused => "unused",
            LeftOut::Corners => "corners",
            LeftOut::Views => "views",
        })
    }
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
    let Some(directory) = &args.resume else {
        make_directory(args.out.as_deref())?;
        let store = args.out.as_ref().map(|out| Store::create(out, args.words())).transpose()?;
        return start(args, args.out.as_deref(), store.as_ref(), None);
    };
    let earlier = Earlier::load(directory)?;
    let args = args.continuing(&earlier)?;
    let store = earlier.store(args.words());
    start(&args, Some(directory), Some(&store), Some(&earlier))
}

impl Args {
    /// The two sides.
    fn wanted(&self) -> [Wanted; 2] {
        let twice = self.left.is_some() && self.left == self.right;
        [
            (&self.left, "reference", &self.left_name, self.left_optimiser),
            (&self.right, "fast", &self.right_name, self.right_optimiser),
        ]
        .map(|(command, default, given, optimiser)| {
            let command = command.clone().unwrap_or_else(|| default.to_owned());
            let one = Wanted { command, name: given.clone(), batch: self.batch, optimiser };
            match optimiser.filter(|_| twice && given.is_none()) {
                Some(position) => Wanted { name: Some(one.named_after(position)), ..one },
                None => one,
            }
        })
    }

    fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(Duration::from_secs(10))
    }

    /// The words of a command line that gives the same run again, without its limits, which change, and
    /// without a command that has a name.
    fn words(&self) -> Vec<String> {
        fn list<T: ToString>(items: &[T]) -> Option<String> {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            (!items.is_empty()).then(|| items.join(","))
        }
        let time = |time: Option<Duration>| time.map(|time| format!("{}ms", time.as_millis()));
        let unnamed = |side: &Option<String>, name: &Option<String>| side.clone().filter(|_| name.is_none());
        let options = [
            ("--left", unnamed(&self.left, &self.left_name)),
            ("--right", unnamed(&self.right, &self.right_name)),
            ("--left-name", self.left_name.clone()),
            ("--right-name", self.right_name.clone()),
            ("--left-optimiser", self.left_optimiser.map(|position| position.to_string())),
            ("--right-optimiser", self.right_optimiser.map(|position| position.to_string())),
            ("--batch", self.batch.map(|most| most.to_string())),
            ("--seed", Some(self.seed.to_string())),
            ("--jobs", self.jobs.map(|jobs| jobs.to_string())),
            ("--rules", list(&self.rules)),
            ("--operation", list(&self.operation)),
            ("--functions", list(&self.functions)),
            ("--dtypes", list(&self.dtypes)),
            ("--without", list(&self.without)),
            ("--given", list(&modes(&self.given))),
            ("--rewrites", Some(self.rewrites.name().to_owned())),
            ("--shrinking", time(self.shrinking)),
            ("--shrink-time", time(self.shrink_time)),
            ("--timeout", time(self.timeout)),
        ];
        let mut words: Vec<String> =
            options.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect();
        words.extend(self.known.iter().map(|path| format!("--known={}", path.display())));
        let flags =
            [("--allow-skips", self.allow_skips), ("--exact", self.exact), ("--statistics", self.statistics)];
        words.extend(flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned()));
        words
    }

    /// The arguments of a run that is continued, with those that were given anew.
    fn continuing(&self, earlier: &Earlier) -> Result<Args, Error> {
        let file = earlier.path();
        let wrong = |message: &str| Error::Input(format!("{}: {message}", file.display()));
        let stored = Stored::try_parse_from(earlier.arguments()).map_err(|error| {
            let error = error.to_string();
            let found = error.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            wrong(&format!("arguments: {found}, expected those of `broadcheck fuzz`"))
        })?;
        let mut args = stored.args;
        if args.out.is_some() || args.resume.is_some() || args.time.is_some() || args.requests.is_some() {
            return Err(wrong("arguments: found an option that a run does not store, expected others"));
        }
        args.left = side("--left", [&self.left, &self.left_name], [&args.left, &args.left_name], "reference")
            .map_err(|message| wrong(&message))?;
        args.right =
            side("--right", [&self.right, &self.right_name], [&args.right, &args.right_name], "fast")
                .map_err(|message| wrong(&message))?;
        args.requests = self.requests.or(earlier.requests());
        args.time = match self.time {
            Some(more) => earlier.elapsed().checked_add(more),
            None => earlier.time(),
        };
        args.format = self.format;
        args.jobs = self.jobs.or(args.jobs);
        args.shrinking = self.shrinking.or(args.shrinking);
        args.shrink_time = self.shrink_time.or(args.shrink_time);
        args.timeout = self.timeout.or(args.timeout);
        args.statistics |= self.statistics;
        if !self.known.is_empty() {
            args.known.clone_from(&self.known);
        }
        Ok(args)
    }
}

/// A side of a run that is continued: the command and its name, given now and stored. What is built in or an
/// adapter is taken from the state file, but a command only from the command line.
fn side(
    option: &str,
    given: [&Option<String>; 2],
    stored: [&Option<String>; 2],
    default: &str,
) -> Result<Option<String>, String> {
    let ([command, name], [stored, stored_name]) = (given, stored);
    if name.is_some() && name != stored_name {
        let found = stored_name.as_deref().unwrap_or("without a name");
        return Err(format!("found a run {found}, expected the name of {option}-name"));
    }
    if let Some(name) = stored_name {
        return match command {
            Some(command) => Ok(Some(command.clone())),
            None => Err(format!(
                "found a run with {name} as {option}, whose command is not stored, expected the command: add \
                 {option} 'COMMAND'"
            )),
        };
    }
    let was = stored.as_deref().unwrap_or(default);
    match command {
        None if Wanted::unnamed(was).is_command() => Err(format!(
            "found a run with the command {was} as {option}, expected the command again, because a file does \
             not decide which programs are started: add {option} {}",
            shell_words::quote(was)
        )),
        Some(command) if command != was => {
            Err(format!("found a run with {was} as {option}, expected {command}, as on the command line"))
        }
        None | Some(_) => Ok(Some(was.to_owned())),
    }
}

/// Opens the two sides.
fn open_sides(args: &Args) -> Result<Vec<Box<Subject>>, Error> {
    let [left, right] = args.wanted();
    if args.left_name.is_some() && args.left_name == args.right_name {
        let name = args.left_name.as_deref().unwrap_or_default();
        return Err(Error::Input(format!("--right-name {name}: found the name of --left, expected another")));
    }
    let side = |wanted: Wanted, option: &str| {
        find(&[wanted], args.timeout()).map_err(|error| match error {
            Error::Input(message) => {
                let message = message.replacen("--impl", option, 1);
                Error::Input(match message.strip_prefix("--optimiser") {
                    Some(rest) => format!("{option}-optimiser{rest}"),
                    None => message,
                })
            }
            other => other,
        })
    };
    let mut sides = side(left, "--left")?;
    sides.extend(side(right, "--right")?);
    Ok(sides)
}

fn start(args: &Args, out: Option<&Path>, store: Option<&Store>, earlier: Option<&Earlier>) -> Ended {
    let sides = open_sides(args)?;
    let mut known: Vec<Known> = args.known.iter().map(|path| Known::load(path)).collect::<Result<_, _>>()?;
    add_known(&mut known, &args.wanted(), &sides, None)?;
    let positions: Vec<Optimiser> = args.left_optimiser.into_iter().chain(args.right_optimiser).collect();
    if !positions.is_empty() {
        known.iter_mut().for_each(|known| known.ask_optimiser(&positions));
    }
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
        exact: args.exact,
        statistics: args.statistics,
        shrinking: (5_000, args.shrinking.unwrap_or((args.timeout() * 6).max(Duration::from_secs(20)))),
        shrink_time: args.shrink_time.or(time.map(|time| (time / 2).min(MAX_SHRINK_TIME))),
        store,
        earlier,
        stop: interrupt::flag(),
    };
    // Drawn on standard error, only if that is a terminal.
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{elapsed}  {msg}").expect("the template is a valid one"));
    let report = fuzz(&campaign, &mut |progress| {
        for news in &progress.news {
            bar.suspend(|| note(&format!("seen: {news}")));
        }
        bar.set_message(progress.counts.progress(progress.elapsed));
        bar.tick();
    });
    bar.finish_and_clear();
    let report = report?;
    let recognised = Recognised::of(&known, &campaign, &report)?;
    let known = |signature: &Signature| recognised.case(signature);
    fuzz_report::finish(&Ran { out, report: &report, campaign: &campaign, known: &known }, args.format)
}

/// Prints a line on standard error, beside the report.
fn note(line: &str) {
    // If standard error is closed, the line is lost.
    let _ = writeln!(anstream::stderr(), "{}", visible(line));
}

/// What the requests contain: what both sides declare, restricted by the options.
fn profile(args: &Args, left: &dyn Implementation, right: &dyn Implementation) -> Result<Profile, Error> {
    let mut both = common(left.capabilities(), right.capabilities())?;
    if !args.rules.is_empty() {
        both.rules.retain(|rules| args.rules.contains(rules));
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
    let process = left.batch() > 1 || right.batch() > 1;
    let largest = if process { MAX_ELEMENTS_OF_A_PROCESS } else { MAX_ELEMENTS };
    let largest = largest.min(both.max_elements);
    let profile =
        with_operations(Profile::within(&both), &both, &args.operation)?.with_given(&modes(&args.given));
    let profile = profile.with_rewrites(args.rewrites.into());
    let has_expressions = |name: &&str| {
        [OperationKind::Elementwise, OperationKind::Gradient].map(OperationKind::name).contains(name)
    };
    let named = args.operation.is_empty() || args.operation.iter().any(has_expressions);
    if profile.rewrites() == Rewrites::Only && !(named && profile.draws_expressions()) {
        return Err(Error::Input(
            "--rewrites only: found no operation on expressions that both sides declare, expected elementwise or \
             gradient"
                .into(),
        ));
    }
    Ok(args.without.iter().fold(profile.with_max_elements(largest), left_out))
}

/// The profile with the operations that were named, if any were.
fn with_operations(profile: Profile, both: &Capabilities, named: &[&str]) -> Result<Profile, Error> {
    let no = |found: &str| Err(Error::Input(format!("--rules, --operation: found {found}")));
    let is_named = |name: &str| named.is_empty() || named.contains(&name);
    let kinds: Vec<OperationKind> =
        both.operations.iter().copied().filter(|kind| is_named(kind.name())).collect();
    let runs = both.rules.iter().any(|rules| kinds.iter().any(|&kind| rules.has(kind)));
    let infers = is_named(INFER) && profile.signatures() != Signatures::Never;
    if named.contains(&INFER) && !infers {
        return no("no rule set under which both sides infer, expected at least one");
    }
    // Runs were not asked for, or neither side has one.
    let only = named == [INFER] || (named.is_empty() && both.operations.is_empty());
    match (runs, infers) {
        (_, true) if only => Ok(profile.with_signatures(Signatures::Only)),
        (true, _) => {
            let signatures = if infers { Signatures::Some } else { Signatures::Never };
            Ok(profile.with_operations(&kinds).with_signatures(signatures))
        }
        (false, _) => {
            no("no combination that both sides declare, expected a rule set with one of its operations")
        }
    }
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
    fn of(known: &[Known], campaign: &Campaign<'_>, report: &FuzzReport) -> Result<Recognised, Error> {
        let of_a_side = |known: &&Known| {
            [campaign.left.name(), campaign.right.name()].contains(&known.implementation.as_str())
        };
        // The suite takes longer to load than many a run.
        if report.findings.is_empty() || !known.iter().any(|known| of_a_side(&known)) {
            return Ok(Recognised(Vec::new()));
        }
        let suite = Suite::builtin().map_err(|errors| errors.to_string())?;
        let oracle = campaign.oracle();
        let is_found = |signature: &Signature| {
            report.findings.iter().any(|found| found.shrunk.disagreement.signature.same_way(signature))
        };
        let listed = |id: &str| known.iter().filter(of_a_side).any(|known| known.entry(id).is_some());
        let limits = Limits { steps: KNOWN_STEPS, time: Duration::from_secs(5), stop: Some(campaign.stop) };
        let mut all = Vec::new();
        let began = Instant::now();
        for case in suite.cases.iter().filter(|case| listed(&case.id)) {
            if report.findings.is_empty() || began.elapsed() >= RECOGNISING {
                break;
            }
            if let Some(found) = oracle.judge(&case.request).disagreement() {
                if !is_found(&found.signature) {
                    continue;
                }
                all.push((found.signature.clone(), case.id.clone()));
                let shrunk = shrink(&oracle, &case.request, found, &limits);
                all.push((shrunk.disagreement.signature, case.id.clone()));
            }
        }
        for case in suite.inferences.iter().filter(|case| listed(&case.id)) {
            if began.elapsed() >= RECOGNISING {
                break;
            }
            let found = campaign.inferred(&case.request, &is_found, &limits);
            all.extend(found.into_iter().map(|signature| (signature, case.id.clone())));
        }
        Ok(Recognised(all))
    }

    fn case(&self, signature: &Signature) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == signature).map(|(_, case)| case.as_str())
    }
}
