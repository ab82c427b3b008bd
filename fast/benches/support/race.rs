//! Competitors take turns, round after round, and a figure is the median over the rounds. Only ratios within
//! one run are meaningful: whatever slows the machine for a while then slows all competitors.
//!
//! Time is the CPU time of the current thread, because other processes may share the machine. What runs on
//! several threads is measured by the wall clock. Before each timed turn of a competitor whose calls take
//! long, two of its calls are not timed: what another competitor left in the caches, or evicted from them
//! with non-temporal stores, would count otherwise.

use std::time::{Duration, Instant};

/// The number and length of rounds.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    /// The shortest duration of one competitor's round, in which a fast one is called many times.
    pub(crate) seconds: f64,
    pub(crate) clock: Clock,
}

/// What a figure counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The CPU time of the current thread.
    Thread,
    /// The time on the wall, for competitors with several threads.
    Wall,
}

/// Calls that take longer than this are preceded by untimed ones.
const LONG_CALL: f64 = 50e-6;

impl Rounds {
    /// Enough for a single figure. `BENCH_ROUNDS` sets the number of rounds.
    pub(crate) fn usual() -> Rounds {
        Rounds { count: rounds_from_environment().unwrap_or(15), seconds: 2e-3, clock: Clock::Thread }
    }

    /// Short rounds, for one of a thousand figures.
    pub(crate) fn short() -> Rounds {
        Rounds { count: rounds_from_environment().unwrap_or(9), seconds: 1.5e-4, clock: Clock::Thread }
    }

    /// More and longer rounds, for figures that stood out.
    pub(crate) fn patient() -> Rounds {
        Rounds { count: 3 * rounds_from_environment().unwrap_or(9), seconds: 5e-4, clock: Clock::Thread }
    }

    /// The same rounds, measured by another clock.
    pub(crate) fn by(self, clock: Clock) -> Rounds {
        Rounds { clock, ..self }
    }
}

fn rounds_from_environment() -> Option<usize> {
    if is_quick() { Some(1) } else { std::env::var("BENCH_ROUNDS").ok()?.parse().ok() }
}

/// Whether the bench only shows that it runs: `cargo bench -- --test`.
pub(crate) fn is_quick() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

/// A competitor, which writes into an output.
pub(crate) type Competitor<'a, T> = &'a mut dyn FnMut(&mut T);

/// The seconds per call of each competitor in each round.
pub(crate) struct Race {
    times: Vec<Vec<f64>>,
    /// The CPU time of the current thread during the race over the time on the wall.
    pub(crate) share: f64,
}

impl Race {
    /// The median seconds per call of a competitor.
    pub(crate) fn seconds(&self, competitor: usize) -> f64 {
        quantile(&self.times[competitor], 0.5)
    }

    /// The median over the rounds of one competitor's time over another's.
    pub(crate) fn ratio(&self, competitor: usize, to: usize) -> f64 {
        let ratios: Vec<f64> =
            self.times[competitor].iter().zip(&self.times[to]).map(|(one, other)| one / other).collect();
        quantile(&ratios, 0.5)
    }

    /// The fastest of several competitors.
    pub(crate) fn best(&self, competitors: impl IntoIterator<Item = usize>) -> usize {
        competitors.into_iter().min_by(|&a, &b| self.seconds(a).total_cmp(&self.seconds(b))).unwrap_or(0)
    }
}

/// Times competitors that write into one output.
pub(crate) fn race<T: ?Sized>(rounds: Rounds, out: &mut T, competitors: &mut [Competitor<'_, T>]) -> Race {
    let mut timed = |competitor: &mut Competitor<'_, T>, calls: usize| {
        let start = now(rounds.clock);
        (0..calls).for_each(|_| competitor(out));
        (now(rounds.clock) - start).as_secs_f64() / calls as f64
    };
    // For each competitor, the number of calls in a round, and of untimed ones before it.
    let calls: Vec<(usize, usize)> = competitors
        .iter_mut()
        .map(|competitor| {
            timed(competitor, 1);
            let once = timed(competitor, 1).max(1e-8);
            // The first estimate is too low for a call of a few nanoseconds.
            let once = timed(competitor, ((rounds.seconds / once) as usize).clamp(1, 1_000)).max(1e-10);
            let repeats =
                if is_quick() { 1 } else { ((rounds.seconds / once) as usize).clamp(1, 10_000_000) };
            (repeats, if once > LONG_CALL && !is_quick() { 2 } else { 0 })
        })
        .collect();
    let mut times = vec![Vec::new(); competitors.len()];
    let start = (now(Clock::Thread), now(Clock::Wall));
    for _ in 0..rounds.count {
        for ((competitor, &(repeats, untimed)), times) in competitors.iter_mut().zip(&calls).zip(&mut times) {
            if untimed != 0 {
                timed(competitor, untimed);
            }
            times.push(timed(competitor, repeats));
        }
    }
    let [thread, wall] = [now(Clock::Thread) - start.0, now(Clock::Wall) - start.1];
    Race { times, share: thread.as_secs_f64() / wall.as_secs_f64() }
}

/// The time of a clock, from some start.
fn now(clock: Clock) -> Duration {
    thread_local! {
        static START: Instant = Instant::now();
    }
    let wall = || START.with(Instant::elapsed);
    match clock {
        Clock::Thread => thread_time().unwrap_or_else(wall),
        Clock::Wall => wall(),
    }
}

/// The CPU time of the current thread, on Linux.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[allow(unsafe_code, reason = "the standard library has no clock of CPU time")]
fn thread_time() -> Option<Duration> {
    /// `struct timespec` where `time_t` and `long` have 64 bits.
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: the C library, with which the standard library is linked, has this function, and `time` has the
    // layout of its `timespec`.
    let failed = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    let time = (u64::try_from(time.seconds).ok()?, u32::try_from(time.nanoseconds).ok()?);
    (!failed).then(|| Duration::new(time.0, time.1))
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn thread_time() -> Option<Duration> {
    None
}

/// The value below which this fraction of the values is.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}
