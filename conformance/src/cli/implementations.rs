//! `--impl` and `--jobs`: which implementations are asked, by how many threads.

use super::Stop;
use broadcheck::subjects::{NAMES, Subject, builtin};

/// The implementations of these names, each once; all that are built in where none is named.
pub(super) fn find(names: &[String]) -> Result<Vec<Box<Subject>>, Stop> {
    let mut wanted: Vec<&str> = Vec::new();
    for name in names {
        if !wanted.contains(&name.as_str()) {
            wanted.push(name);
        }
    }
    if wanted.is_empty() {
        wanted.extend(NAMES);
    }
    let find = |name: &str| {
        builtin(name).ok_or_else(|| {
            Stop::Input(format!(
                "--impl {name}: found no such implementation, expected one of {}",
                NAMES.join(", ")
            ))
        })
    };
    wanted.into_iter().map(find).collect()
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
