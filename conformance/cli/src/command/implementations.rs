//! `--impl`, `--impl-name` and `--jobs`: which implementations run, on how many threads.

use super::named::{Hiding, Named, parse_name};
use super::{Error, complain, interrupt};
use crate::adapters;
use broadcheck::known::Known;
use broadcheck::optimiser::Optimiser;
use broadcheck_harness::Options;
use broadcheck_search::subjects::{NAMES, Subject, builtin, fast_levels};
use broadcheck_spec::Suite;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches};
use std::collections::HashSet;
use std::time::Duration;

/// An implementation that the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// A built-in name, `adapter:NAME` or a command.
    pub(super) command: String,
    /// The name to show in its place.
    pub(super) name: Option<String>,
    /// The maximum number of requests in a message; by default what the implementation declares.
    pub(super) batch: Option<usize>,
    /// The position of its optimiser; by default the one that the implementation chooses.
    pub(super) optimiser: Option<Optimiser>,
}

impl Wanted {
    pub(super) fn unnamed(command: &str) -> Wanted {
        Wanted { command: command.to_owned(), name: None, batch: None, optimiser: None }
    }

    /// Whether this is neither built in nor an adapter.
    pub(super) fn is_command(&self) -> bool {
        builtin(&self.command).is_none() && self.adapter().is_none() && !self.command.starts_with("fast@")
    }

    fn adapter(&self) -> Option<&str> {
        self.command.strip_prefix(adapters::PREFIX)
    }

    /// The command as messages show it.
    pub(super) fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }

    /// The name of this implementation beside the same one with its optimiser in the other position:
    /// `numexpr, optimiser on`.
    pub(super) fn named_after(&self, position: Optimiser) -> String {
        match (&self.name, self.adapter()) {
            (Some(name), _) => format!("{name}, optimiser {position}"),
            (None, Some(adapter)) => format!("{adapter}, optimiser {position}"),
            (None, None) => format!("optimiser {position}"),
        }
    }

    fn hiding(&self) -> Option<Hiding> {
        self.name.as_ref().map(|name| Hiding::new(&self.command, name))
    }

    fn hidden(&self, message: &str) -> String {
        self.hiding().map_or_else(|| message.to_owned(), |hiding| hiding.hide(message))
    }
}

/// `--impl` and `--impl-name`, each name after the implementation it belongs to.
pub(super) struct Implementations {
    all: Vec<Wanted>,
    /// The positions of `--optimiser`: none, one or both.
    optimiser: &'static [Optimiser],
}

impl Implementations {
    /// Whether `--impl` was given.
    pub(super) fn are_named(&self) -> bool {
        !self.all.is_empty()
    }

    /// The positions of the optimiser that were asked for: none, one or both.
    pub(super) fn optimiser(&self) -> &'static [Optimiser] {
        self.optimiser
    }

    /// Those given, without duplicates; all built-in implementations if there are none. With both positions
    /// of the optimiser, each is there twice: with the optimiser off, and on.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for one in &self.all {
            if !wanted.contains(one) {
                wanted.push(one.clone());
            }
        }
        if wanted.is_empty() {
            wanted.extend(NAMES.map(Wanted::unnamed));
        }
        if self.optimiser.is_empty() {
            return wanted;
        }
        let switched = |one: Wanted| {
            self.optimiser.iter().map(move |&position| Wanted { optimiser: Some(position), ..one.clone() })
        };
        wanted.into_iter().flat_map(switched).collect()
    }

    /// Those [wanted](Implementations::wanted), for a command that compares them with each other. With both
    /// positions of the optimiser, the name says which one it is.
    ///
    /// # Errors
    /// Several commands would have the same names.
    pub(super) fn distinct(&self) -> Result<Vec<Wanted>, Error> {
        let wanted = self.wanted();
        if self.optimiser.len() < 2 {
            return Ok(wanted);
        }
        let named = |one: Wanted| match one.optimiser {
            Some(position) => Wanted { name: Some(one.named_after(position)), ..one },
            None => one,
        };
        let wanted: Vec<Wanted> = wanted.into_iter().map(named).collect();
        let mut names = HashSet::new();
        if !wanted.iter().all(|one| names.insert(one.name.as_deref())) {
            return Err(Error::Input(
                "--optimiser both: found several commands without a name, expected --impl-name NAME after each --impl".into(),
            ));
        }
        Ok(wanted)
    }
}

impl clap::FromArgMatches for Implementations {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Implementations, clap::Error> {
        let given = |id: &str| -> Vec<(usize, String)> {
            let places = matches.indices_of(id).into_iter().flatten();
            places.zip(matches.get_many(id).into_iter().flatten().cloned()).collect()
        };
        let mut all: Vec<(usize, Wanted)> =
            given("impl").iter().map(|(place, command)| (*place, Wanted::unnamed(command))).collect();
        for (place, name) in given("impl-name") {
            let wrong = |found: &str, expected: &str| {
                let message = format!("--impl-name {name}: found {found}, expected {expected}\n");
                clap::Error::raw(ErrorKind::ValueValidation, message)
            };
            if all.iter().any(|(_, one)| one.name.as_ref() == Some(&name)) {
                return Err(wrong("the name twice", "a different name for each --impl"));
            }
            let before = all.iter_mut().rev().find(|(its_place, _)| *its_place < place);
            let Some((_, one)) = before else {
                return Err(wrong("no --impl before it", "the --impl that it names"));
            };
            if one.name.replace(name.clone()).is_some() {
                return Err(wrong("a second name for one --impl", "one"));
            }
        }
        let batch = matches.get_one::<usize>("batch").copied();
        let optimiser = matches.get_one::<&'static [Optimiser]>("optimiser").copied().unwrap_or_default();
        Ok(Implementations {
            all: all.into_iter().map(|(_, one)| Wanted { batch, ..one }).collect(),
            optimiser,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Implementations::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Implementations {
    fn augment_args(command: clap::Command) -> clap::Command {
        let implementation = Arg::new("impl")
            .long("impl")
            .value_name("NAME_OR_COMMAND")
            .action(ArgAction::Append)
            .help(
                "Implementation: reference, fast, ndarray, adapter:NAME or a command. May be repeated [default: all \
                 built-in implementations]",
            )
            .long_help(IMPLEMENTATIONS);
        let name = Arg::new("impl-name")
            .long("impl-name")
            .value_name("NAME")
            .action(ArgAction::Append)
            .value_parser(parse_name)
            .help("Name to show in place of the --impl before it, in every report and file")
            .long_help(IMPL_NAME);
        let batch = Arg::new("batch")
            .long("batch")
            .value_name("N|off")
            .value_parser(parse_batch)
            .help("Maximum number of requests in a message [default: what the implementation declares]")
            .long_help(
                "Maximum number of requests in a message, for an implementation that declares batches; `off` sends them \
                 one by one [default: what the implementation declares]",
            );
        let optimiser = Arg::new("optimiser")
            .long("optimiser")
            .value_name("off|on|both")
            .value_parser(parse_positions)
            .help("Position of the optimiser of an implementation that has a switch for it [default: its own choice]")
            .long_help(OPTIMISER);
        command.arg(implementation).arg(name).arg(batch).arg(optimiser)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Implementations::augment_args(command)
    }
}

const IMPLEMENTATIONS: &str = "\
Implementation: reference, fast, ndarray, adapter:NAME or a command. May be repeated

Without this option, all built-in implementations run: `reference` applies the rules index by index, `fast` is the SIMD \
engine (`fast@LEVEL` selects a SIMD level), and `ndarray` is the Rust crate.

`adapter:NAME` is a real system, such as adapter:numpy, with its known failures. `conformance/adapters/setup NAME` \
installs it.

Anything else is a command that speaks the protocol, such as 'python3 my_harness.py', quoted for the shell. It is \
split into words as in a shell, but runs without one. conformance/PROTOCOL.md describes the protocol, and \
`broadcheck smoke` checks a command step by step.

Reports contain the command, with its paths and arguments: use --impl-name if they should not be published.";

const IMPL_NAME: &str = "\
Name to show in place of the --impl before it, in every report and file

It replaces both the command and the name that the implementation declares. Where a message of the implementation quotes \
the command or one of its arguments, the name is shown as well. Known-failures files refer to this name.";

const OPTIMISER: &str = "\
Position of the optimiser of an implementation that has a switch for it [default: its own choice]

`off` runs what is built as it was asked, and `on` rewrites it first. `both` starts each implementation twice and \
compares the two.";

fn parse_positions(text: &str) -> Result<&'static [Optimiser], String> {
    match text {
        "off" => Ok(&[Optimiser::Off]),
        "on" => Ok(&[Optimiser::On]),
        "both" => Ok(&Optimiser::ALL),
        _ => Err("expected off, on or both".into()),
    }
}

pub(super) fn parse_batch(text: &str) -> Result<usize, String> {
    match (text, text.parse()) {
        ("off", _) => Ok(1),
        (_, Ok(number)) if number > 0 => Ok(number),
        _ => Err("expected a number from 1, or off".into()),
    }
}

/// `fast` takes its SIMD level from the environment variable BROADCHECK_SIMD. A level that this machine lacks
/// is an error, rather than a silent fallback to another level.
fn check_level(name: &str) -> Result<(), Error> {
    let Some(wanted) = std::env::var_os("BROADCHECK_SIMD").filter(|_| name == "fast") else { return Ok(()) };
    let wanted = wanted.to_string_lossy();
    if builtin(&format!("fast@{wanted}")).is_some() {
        return Ok(());
    }
    Err(Error::Input(format!(
        "BROADCHECK_SIMD: found `{wanted}`, expected a SIMD level of this machine, as in {}",
        levels()
    )))
}

/// The names of the levels that this machine has: `fast@portable, fast@avx2`.
fn levels() -> String {
    let names = fast_levels().filter_map(|(name, subject)| subject.map(|_| name));
    names.collect::<Vec<_>>().join(", ")
}

/// Finds built-in implementations by name, and starts adapters and other commands. A command may take up to
/// `time_limit` for an answer. [`Error::Interrupted`] if the user does not wait for the start of a command.
pub(super) fn find(wanted: &[Wanted], time_limit: Duration) -> Result<Vec<Box<Subject>>, Error> {
    let options = Options { interrupt: Some(interrupt::flag()), ..Options::within(time_limit) };
    let find = |one: &Wanted| -> Result<Box<Subject>, Error> {
        let options = Options { batch: one.batch, optimiser: one.optimiser, ..options };
        let subject = open(one, options).map_err(|error| match error {
            Error::Input(message) => Error::Input(one.hidden(&message)),
            other => other,
        })?;
        Ok(match one.hiding() {
            Some(hiding) => Box::new(Named::new(subject, hiding)),
            None => subject,
        })
    };
    let subjects: Vec<Box<Subject>> = wanted
        .iter()
        .map(|one| find(one).map_err(|error| if interrupt::pressed() { Error::Interrupted } else { error }))
        .collect::<Result<_, _>>()?;
    for name in wanted.iter().filter_map(|one| one.name.as_ref()) {
        let asked = wanted.iter().filter(|one| one.name.as_ref() == Some(name)).count();
        if subjects.iter().filter(|subject| subject.name() == name).count() > asked {
            let found = "found another implementation of this name";
            return Err(Error::Input(format!("--impl-name {name}: {found}, expected a different name")));
        }
    }
    Ok(subjects)
}

fn open(wanted: &Wanted, options: Options) -> Result<Box<Subject>, Error> {
    let (name, shown) = (wanted.command.as_str(), wanted.shown());
    if let Some(subject) = builtin(name) {
        if wanted.optimiser.is_some() {
            return Err(Error::Input(format!(
                "--optimiser: found {name}, which has no optimiser, expected --impl with an adapter or a command"
            )));
        }
        check_level(name)?;
        return Ok(subject);
    }
    if name.starts_with("fast@") {
        return Err(Error::Input(format!(
            "--impl {shown}: found no such SIMD level, expected one of this machine: {}",
            levels()
        )));
    }
    if let Some(adapter) = wanted.adapter() {
        let opened =
            adapters::command(adapter).and_then(|command| broadcheck_harness::open(&command, options));
        let subject = opened.map_err(|message| Error::Input(format!("--impl {shown}: {message}")))?;
        return Ok(Box::new(subject));
    }
    let subject = broadcheck_harness::open(name, options).map_err(|message| {
        let names = NAMES.join(", ");
        let expected =
            format!("expected one of {names}, adapter:NAME, or a command that speaks the protocol");
        Error::Input(format!("--impl {shown}: {expected}: {message}"))
    })?;
    Ok(Box::new(subject))
}

/// Adds the shipped known failures of adapters, unless the command line gives a file for them. If other cases
/// replace the suite (`replaced`), entries that match none of them are dropped.
pub(super) fn add_known(
    known: &mut Vec<Known>,
    wanted: &[Wanted],
    implementations: &[Box<Subject>],
    replaced: Option<&Suite>,
) -> Result<(), Error> {
    for (one, subject) in wanted.iter().zip(implementations) {
        let Some(adapter) = one.adapter() else { continue };
        let (name, version) = (subject.name(), subject.version());
        if known.iter().any(|known| known.implementation == name) {
            continue;
        }
        // The files refer to a system by the name that it declares.
        let declared = if one.name.is_some() { adapter } else { name };
        let Some(mut found) = adapters::known(declared, version)? else {
            complain(&format!("found no known failures of {name} {version}: every failure counts"));
            continue;
        };
        name.clone_into(&mut found.implementation);
        if let Some(suite) = replaced {
            found.keep_only(suite.ids());
        }
        known.push(found);
    }
    Ok(())
}

/// Does the work on this number of threads; one per processor if `None`.
pub(super) fn with_jobs<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    broadcheck::parallel::set_threads(jobs.unwrap_or(0));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.unwrap_or(0))
        .build()
        .map_err(|error| Error::Input(format!("--jobs: {error}")))?;
    Ok(pool.install(work))
}

/// Parses a number of threads.
pub(super) fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err("expected a number of threads from 1 to 1024".into()),
    }
}
