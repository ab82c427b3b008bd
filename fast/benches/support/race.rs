//! Rivals take turns, round after round, and a figure is the median of its rounds: only ratios within one run mean
//! anything, and whatever slows the machine for a while slows all of them.

use std::time::Instant;

/// How often and how long rivals run.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    /// How long a round of one rival takes at least: a fast one is called many times in it.
    pub(crate) seconds: f64,
}

impl Rounds {
    /// Enough for one figure. `BENCH_ROUNDS` sets the number of rounds.
    pub(crate) fn usual() -> Rounds {
        Rounds { count: asked().unwrap_or(15), seconds: 2e-3 }
    }

    /// Short ones, for a figure among a thousand.
    pub(crate) fn short() -> Rounds {
        Rounds { count: asked().unwrap_or(9), seconds: 1.5e-4 }
    }

    /// As many again, for figures that stood out.
    pub(crate) fn patient() -> Rounds {
        Rounds { count: 3 * asked().unwrap_or(9), seconds: 5e-4 }
    }
}

fn asked() -> Option<usize> {
    if is_quick() { Some(1) } else { std::env::var("BENCH_ROUNDS").ok()?.parse().ok() }
}

/// Whether the bench is only to show that it runs: `cargo bench -- --test`.
pub(crate) fn is_quick() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

/// What writes into an output.
pub(crate) type Rival<'a, T> = &'a mut dyn FnMut(&mut T);

/// The seconds per call of each rival in each round.
pub(crate) struct Race(Vec<Vec<f64>>);

impl Race {
    /// The median seconds per call of a rival.
    pub(crate) fn seconds(&self, rival: usize) -> f64 {
        quantile(&self.0[rival], 0.5)
    }

    /// The median over the rounds of one rival's time over another's.
    pub(crate) fn ratio(&self, rival: usize, to: usize) -> f64 {
        let ratios: Vec<f64> =
            self.0[rival].iter().zip(&self.0[to]).map(|(one, other)| one / other).collect();
        quantile(&ratios, 0.5)
    }

    /// The fastest of some rivals.
    pub(crate) fn best(&self, rivals: impl IntoIterator<Item = usize>) -> usize {
        rivals.into_iter().min_by(|&a, &b| self.seconds(a).total_cmp(&self.seconds(b))).unwrap_or(0)
    }
}

/// Times rivals that write into one output.
pub(crate) fn race<T: ?Sized>(rounds: Rounds, out: &mut T, rivals: &mut [Rival<'_, T>]) -> Race {
    let repeats: Vec<usize> = rivals
        .iter_mut()
        .map(|rival| {
            rival(out);
            let start = Instant::now();
            rival(out);
            let once = start.elapsed().as_secs_f64().max(1e-8);
            // A first guess is too low for a call of a few nanoseconds.
            let calls = ((rounds.seconds / once) as usize).clamp(1, 1_000);
            let start = Instant::now();
            (0..calls).for_each(|_| rival(out));
            let once = start.elapsed().as_secs_f64() / calls as f64;
            if is_quick() { 1 } else { ((rounds.seconds / once) as usize).clamp(1, 10_000_000) }
        })
        .collect();
    let mut times = vec![Vec::new(); rivals.len()];
    for _ in 0..rounds.count {
        for ((rival, &repeats), times) in rivals.iter_mut().zip(&repeats).zip(&mut times) {
            let start = Instant::now();
            for _ in 0..repeats {
                rival(out);
            }
            times.push(start.elapsed().as_secs_f64() / repeats as f64);
        }
    }
    Race(times)
}

/// The value below which this part of the values lies.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}
