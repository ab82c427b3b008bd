//! `--impl` and `--jobs`: which implementations run, on how many threads.

use super::{Error, complain, interrupt};
use crate::adapters;
use broadcheck::known::Known;
use broadcheck_harness::Options;
use broadcheck_search::subjects::{NAMES, Subject, builtin, fast_levels};
use broadcheck_spec::Suite;
use std::time::Duration;

/// The names given with `--impl`, without duplicates; all built-in implementations if there are none.
pub(super) fn wanted(names: &[String]) -> Vec<&str> {
    let mut wanted: Vec<&str> = Vec::new();
    for name in names {
        if !wanted.contains(&name.as_str()) {
            wanted.push(name);
        }
    }
    if wanted.is_empty() {
        wanted.extend(NAMES);
    }
    wanted
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
pub(super) fn find(names: &[&str], time_limit: Duration) -> Result<Vec<Box<Subject>>, Error> {
    let options = Options { interrupt: Some(interrupt::flag()), ..Options::within(time_limit) };
    let find = |name: &&str| -> Result<Box<Subject>, Error> {
        if let Some(subject) = builtin(name) {
            check_level(name)?;
            return Ok(subject);
        }
        if name.starts_with("fast@") {
            return Err(Error::Input(format!(
                "--impl {name}: found no such SIMD level, expected one of this machine: {}",
                levels()
            )));
        }
        if let Some(adapter) = name.strip_prefix(adapters::PREFIX) {
            let opened =
                adapters::command(adapter).and_then(|command| broadcheck_harness::open(&command, options));
            let subject = opened.map_err(|message| Error::Input(format!("--impl {name}: {message}")))?;
            return Ok(Box::new(subject));
        }
        let subject = broadcheck_harness::open(name, options).map_err(|message| {
            let names = NAMES.join(", ");
            let expected =
                format!("expected one of {names}, adapter:NAME, or a command that speaks the protocol");
            Error::Input(format!("--impl {name}: {expected}: {message}"))
        })?;
        Ok(Box::new(subject))
    };
    names
        .iter()
        .map(|name| find(name).map_err(|error| if interrupt::pressed() { Error::Interrupted } else { error }))
        .collect()
}

/// Adds the shipped known failures of adapters, unless the command line gives a file for them. If other cases
/// replace the suite, entries that match none of them are dropped.
pub(super) fn add_known(
    known: &mut Vec<Known>,
    names: &[&str],
    implementations: &[Box<Subject>],
    suite: &Suite,
    replaced: bool,
) -> Result<(), Error> {
    for (_, subject) in
        names.iter().zip(implementations).filter(|(name, _)| name.starts_with(adapters::PREFIX))
    {
        let (name, version) = (subject.name(), subject.version());
        if known.iter().any(|known| known.implementation == name) {
            continue;
        }
        let Some(mut found) = adapters::known(name, version)? else {
            complain(&format!("found no known failures of {name} {version}: every failure counts"));
            continue;
        };
        if replaced {
            let cases = suite.cases.iter().map(|case| case.id.as_str());
            found.keep_only(cases.chain(suite.sweeps.iter().map(|sweep| sweep.id.as_str())));
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
