//! Processes that are started ahead of time, so that a run with many crashes does not wait for each start.

use super::Options;
use super::session::{Session, Starting};
use super::start::Declared;
use broadcheck::optimiser::Optimiser;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of spares per thread. There is one at first, and one more each time that a thread has
/// to wait for a spare: a process that crashes more often than one can be started needs several starts at a
/// time.
const MAX_PER_USER: usize = 4;

/// A thread that gets a spare later than this has waited for it.
const WAIT: Duration = Duration::from_millis(30);

/// The number of broken processes before spares are started. A single crash is not worth their memory.
const BREAKS: usize = 2;

/// Processes that were sent `start` and nothing else.
///
/// There are none while the run uses one process at a time, as with `--jobs 1`: a harness may need a device
/// or a port that only one process can have.
#[derive(Default)]
pub(super) struct Spares {
    starting: Mutex<VecDeque<Starting>>,
    /// The number of threads that send requests.
    users: AtomicUsize,
    /// Whether several threads have sent requests at the same time.
    shared: AtomicBool,
    /// The number of processes that broke.
    broken: AtomicUsize,
    /// How often a thread had to wait for a spare.
    waits: AtomicUsize,
    /// Whether a spare did not start. Then there are no more.
    failed: AtomicBool,
}

impl Spares {
    fn starting(&self) -> MutexGuard<'_, VecDeque<Starting>> {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a thread sends requests, until the result is dropped.
    pub(super) fn enter(&self) -> User<'_> {
        if self.users.fetch_add(1, Ordering::Relaxed) > 0 {
            self.shared.store(true, Ordering::Relaxed);
        }
        User(&self.users)
    }

    /// Records that a process broke.
    pub(super) fn count_break(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts the missing spares, if the run may have them.
    pub(super) fn refill(&self, words: &[String], optimiser: Option<Optimiser>) {
        let allowed = self.shared.load(Ordering::Relaxed) && !self.failed.load(Ordering::Relaxed);
        if !allowed || self.broken.load(Ordering::Relaxed) < BREAKS {
            return;
        }
        let mut starting = self.starting();
        let per_user = (1 + self.waits.load(Ordering::Relaxed)).min(MAX_PER_USER);
        while starting.len() < per_user * self.users.load(Ordering::Relaxed) {
            match Session::begin(words, optimiser) {
                Ok(spare) => starting.push_back(spare),
                Err(_) => return,
            }
        }
    }

    /// A spare that has answered `start`, if there is one. A spare that fails affects no case: it is dropped
    /// with all others, and no more are started.
    pub(super) fn take(&self, words: &[String], options: &Options) -> Option<(Session, Declared)> {
        let spare = self.starting().pop_front()?;
        self.refill(words, options.optimiser);
        let began = Instant::now();
        let finished = spare.finish(options);
        if began.elapsed() > WAIT {
            self.waits.fetch_add(1, Ordering::Relaxed);
        }
        if let Ok((mut session, declared)) = finished
            && !session.is_gone()
        {
            return Some((session, declared));
        }
        self.failed.store(true, Ordering::Relaxed);
        self.starting().clear();
        None
    }

    /// Sends `stop` to all, without waiting for their ends.
    pub(super) fn send_stop(&self) {
        self.starting().iter_mut().for_each(Starting::send_stop);
    }
}

/// A thread that sends requests.
pub(super) struct User<'a>(&'a AtomicUsize);

impl Drop for User<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    fn words(script: &str) -> Vec<String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_harnesses").join(script);
        vec!["sh".into(), file.display().to_string()]
    }

    fn count(spares: &Spares) -> usize {
        spares.starting().len()
    }

    #[test]
    fn spares_start_after_two_breaks_of_a_run_with_several_threads() {
        let (spares, words) = (Spares::default(), words("good.sh"));
        let refilled = || {
            spares.refill(&words, None);
            count(&spares)
        };
        let _one = spares.enter();
        spares.count_break();
        spares.count_break();
        assert_eq!(refilled(), 0, "one thread");
        let two = spares.enter();
        assert_eq!(refilled(), 2);
        drop(two);
        assert!(spares.take(&words, &Options::default()).is_some());
        assert_eq!(count(&spares), 1, "one is enough for one thread");

        let spares = Spares::default();
        let _users = [spares.enter(), spares.enter()];
        spares.count_break();
        spares.refill(&words, None);
        assert_eq!(count(&spares), 0, "one break");
        assert!(spares.take(&words, &Options::default()).is_none());
    }

    #[test]
    fn waiting_for_spares_starts_more_of_them_up_to_a_limit() {
        let (spares, words) = (Spares::default(), words("good.sh"));
        let _users = [spares.enter(), spares.enter()];
        spares.count_break();
        spares.count_break();
        spares.waits.store(1, Ordering::Relaxed);
        spares.refill(&words, None);
        assert_eq!(count(&spares), 4);
        spares.waits.store(100, Ordering::Relaxed);
        spares.refill(&words, None);
        assert_eq!(count(&spares), 8);
    }

    #[test]
    fn a_spare_that_does_not_start_is_the_last() {
        let (spares, words) = (Spares::default(), words("dies_at_start.sh"));
        let _users = [spares.enter(), spares.enter()];
        spares.count_break();
        spares.count_break();
        spares.refill(&words, None);
        assert_eq!(count(&spares), 2);
        assert!(spares.take(&words, &Options::default()).is_none());
        spares.refill(&words, None);
        assert_eq!(count(&spares), 0);
    }
}
