//! `--impl` and `--jobs`: which implementations are asked, by how many threads.

use super::{Stop, interrupt};
use broadcheck::harness::{self, Options};
use broadcheck::subjects::{NAMES, Subject, builtin, fast_levels};
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
        let opened = match name.strip_prefix("adapter:") {
            Some(_) => Err("names that begin with `adapter:` are reserved".into()),
            None => harness::open(name, options),
        };
        let subject = opened.map_err(|message| {
            let names = NAMES.join(", ");
            let expected = format!("expected one of {names}, or a command that speaks the protocol");
            Stop::Input(format!("--impl {name}: {expected}: {message}"))
        })?;
        Ok(Box::new(subject))
    };
    names.iter().map(find).collect()
}

/// Does the work with this many threads; with as many as there are processors where none is said.
pub(super) fn with_jobs<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, Stop> {
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
