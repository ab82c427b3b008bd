//! Competitors take turns, round after round, and a figure is the median over the rounds. Only ratios within
//! one run are meaningful: whatever slows the machine for a while then slows all competitors.

use std::time::Instant;

/// The number and length of rounds.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    /// The shortest duration of one competitor's round, in which a fast one is called many times.
    pub(crate) seconds: f64,
}

impl Rounds {
    /// Enough for a single figure. `BENCH_ROUNDS` sets the number of rounds.
    pub(crate) fn usual() -> Rounds {
        Rounds { count: rounds_from_environment().unwrap_or(15), seconds: 2e-3 }
    }

    /// Short rounds, for one of a thousand figures.
    pub(crate) fn short() -> Rounds {
        Rounds { count: rounds_from_environment().unwrap_or(9), seconds: 1.5e-4 }
    }

    /// More and longer rounds, for figures that stood out.
    pub(crate) fn patient() -> Rounds {
        Rounds { count: 3 * rounds_from_environment().unwrap_or(9), seconds: 5e-4 }
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
pub(crate) struct Race(Vec<Vec<f64>>);

impl Race {
    /// The median seconds per call of a competitor.
    pub(crate) fn seconds(&self, competitor: usize) -> f64 {
        quantile(&self.0[competitor], 0.5)
    }

    /// The median over the rounds of one competitor's time over another's.
    pub(crate) fn ratio(&self, competitor: usize, to: usize) -> f64 {
        let ratios: Vec<f64> =
            self.0[competitor].iter().zip(&self.0[to]).map(|(one, other)| one / other).collect();
        quantile(&ratios, 0.5)
    }

    /// The fastest of several competitors.
    pub(crate) fn best(&self, competitors: impl IntoIterator<Item = usize>) -> usize {
        competitors.into_iter().min_by(|&a, &b| self.seconds(a).total_cmp(&self.seconds(b))).unwrap_or(0)
    }
}

/// Times competitors that write into one output.
pub(crate) fn race<T: ?Sized>(rounds: Rounds, out: &mut T, competitors: &mut [Competitor<'_, T>]) -> Race {
    let repeats: Vec<usize> = competitors
        .iter_mut()
        .map(|competitor| {
            competitor(out);
            let start = Instant::now();
            competitor(out);
            let once = start.elapsed().as_secs_f64().max(1e-8);
            // The first estimate is too low for a call of a few nanoseconds.
            let calls = ((rounds.seconds / once) as usize).clamp(1, 1_000);
            let start = Instant::now();
            (0..calls).for_each(|_| competitor(out));
            let once = start.elapsed().as_secs_f64() / calls as f64;
            if is_quick() { 1 } else { ((rounds.seconds / once) as usize).clamp(1, 10_000_000) }
        })
        .collect();
    let mut times = vec![Vec::new(); competitors.len()];
    for _ in 0..rounds.count {
        for ((competitor, &repeats), times) in competitors.iter_mut().zip(&repeats).zip(&mut times) {
            let start = Instant::now();
            for _ in 0..repeats {
                competitor(out);
            }
            times.push(start.elapsed().as_secs_f64() / repeats as f64);
        }
    }
    Race(times)
}

/// The value below which this fraction of the values is.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}
