//! `--impl` and `--jobs`: which implementations are asked, by how many threads.

use super::{Stop, complain, interrupt};
use broadcheck::known::Known;
use broadcheck_harness::Options;
use broadcheck_search::subjects::{NAMES, Subject, adapters, builtin, fast_levels};
use broadcheck_spec::Suite;
use std::time::Duration;

/// What `--impl` names, each once; all that is built in where nothing is named.
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

/// `fast` takes its level from the environment where that names one: a name that is no level of this machine must
/// not end in another level without a word.
fn check_level(name: &str) -> Result<(), Stop> {
    let Some(wanted) = std::env::var_os("BROADCHECK_SIMD").filter(|_| name == "fast") else { return Ok(()) };
    let wanted = wanted.to_string_lossy();
    if builtin(&format!("fast@{wanted}")).is_some() {
        return Ok(());
    }
    Err(Stop::Input(format!("BROADCHECK_SIMD: found `{wanted}`, expected the level in {}", levels())))
}

/// The names of the levels that this machine has: `fast@portable, fast@avx2`.
fn levels() -> String {
    let names = fast_levels().filter_map(|(name, subject)| subject.map(|_| name));
    names.collect::<Vec<_>>().join(", ")
}

/// The implementations of these names: built in, or commands that speak the protocol and may take this long for an
/// answer.
pub(super) fn find(names: &[&str], time_limit: Duration) -> Result<Vec<Box<Subject>>, Stop> {
    let options = Options { interrupt: Some(interrupt::flag()), ..Options::within(time_limit) };
    let find = |name: &&str| -> Result<Box<Subject>, Stop> {
        if let Some(subject) = builtin(name) {
            check_level(name)?;
            return Ok(subject);
        }
        if name.starts_with("fast@") {
            return Err(Stop::Input(format!(
                "--impl {name}: expected a level of this machine: {}",
                levels()
            )));
        }
        if let Some(adapter) = name.strip_prefix(adapters::PREFIX) {
            let opened =
                adapters::command(adapter).and_then(|command| broadcheck_harness::open(&command, options));
            let subject = opened.map_err(|message| Stop::Input(format!("--impl {name}: {message}")))?;
            return Ok(Box::new(subject));
        }
        let subject = broadcheck_harness::open(name, options).map_err(|message| {
            let names = NAMES.join(", ");
            let expected =
                format!("expected one of {names}, adapter:NAME, or a command that speaks the protocol");
            Stop::Input(format!("--impl {name}: {expected}: {message}"))
        })?;
        Ok(Box::new(subject))
    };
    names.iter().map(find).collect()
}

/// What the adapters among these implementations are known to fail, where no file given is about them. Where other
/// cases than the suite's run, entries about others are no leftovers.
pub(super) fn add_known(
    known: &mut Vec<Known>,
    names: &[&str],
    implementations: &[Box<Subject>],
    suite: &Suite,
    replaced: bool,
) -> Result<(), Stop> {
    for (_, subject) in
        names.iter().zip(implementations).filter(|(name, _)| name.starts_with(adapters::PREFIX))
    {
        let (name, version) = (subject.name(), subject.version());
        if known.iter().any(|known| known.implementation == name) {
            continue;
        }
        let Some(mut found) = adapters::known(name, version)? else {
            complain(&format!(
                "no file in conformance/known is about {name} {version}: nothing is known to fail"
            ));
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

/// Does the work with this many threads; with as many as there are processors where none is said.
pub(super) fn with_jobs<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, Stop> {
    broadcheck::parallel::set_threads(jobs.unwrap_or(0));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.unwrap_or(0))
        .build()
        .map_err(|error| Stop::Input(format!("--jobs: {error}")))?;
    Ok(pool.install(work))
}

/// A number of threads, from 1.
pub(super) fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err("expected a number of threads from 1 to 1024".into()),
    }
}
