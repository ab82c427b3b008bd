//! Spreads work over threads, with results in the order of the work.
//!
//! The calling thread always works. Each call may start helper threads, which end with the call. No helper is
//! started while callers and helpers of all calls together are as many as the limit.

use std::num::NonZero;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The limit that [`set_threads`] sets; 0 means one thread per processor.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// The number of threads that are working now, in all calls: callers and their helpers.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// The number of parts per thread. A thread that finishes early takes more of them.
const PARTS_PER_THREAD: usize = 8;

/// Sets the number of threads of this process; 0 means one per processor.
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

fn limit() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    match THREADS.load(Ordering::Relaxed) {
        // Asking the system reads files: once is enough.
        0 => *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get)),
        threads => threads,
    }
}

/// The results of `work` over `0..count`, cut into ranges of at least `least` numbers (the last may be
/// shorter), in the order of the ranges.
pub fn over_ranges<R: Send>(count: usize, least: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let length = count.div_ceil(limit().saturating_mul(PARTS_PER_THREAD)).max(least).max(1);
    let next = AtomicUsize::new(0);
    let part = || {
        let mut results = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(start) = place.checked_mul(length).filter(|&start| start < count) else {
                return results;
            };
            results.push((place, work(start..count.min(start.saturating_add(length)))));
        }
    };
    let caller = Working::begin();
    let helpers = Working::helpers(count.div_ceil(length).saturating_sub(1));
    let mut results = thread::scope(|scope| {
        // A thread that the system refuses is one helper fewer.
        let threads: Vec<_> =
            helpers.iter().map_while(|_| thread::Builder::new().spawn_scoped(scope, part).ok()).collect();
        let mut results = part();
        for thread in threads {
            match thread.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    drop((caller, helpers));
    results.sort_unstable_by_key(|&(place, _)| place);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A working thread, counted until it is dropped.
struct Working;

impl Working {
    fn begin() -> Working {
        WORKING.fetch_add(1, Ordering::Relaxed);
        Working
    }

    /// As many helpers as are useful and allowed.
    fn helpers(useful: usize) -> Vec<Working> {
        let limit = limit();
        let take = || {
            let free = |working: usize| (working < limit).then_some(working + 1);
            WORKING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok()
        };
        (0..useful).map_while(|_| take().map(|_| Working)).collect()
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        WORKING.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_work() {
        for count in [0, 1, 2, 7, 1000] {
            for least in [0, 1, 3, 5000] {
                let ranges = over_ranges(count, least, |range| range);
                let numbers: Vec<usize> = ranges.iter().cloned().flatten().collect();
                assert_eq!(numbers, (0..count).collect::<Vec<_>>(), "{count} {least}");
                let full = ranges.len().saturating_sub(1);
                assert!(ranges[..full].iter().all(|range| range.len() >= least), "{count} {least}");
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let panics = || over_ranges(100, 1, |range| assert!(!range.contains(&60), "sixty"));
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
