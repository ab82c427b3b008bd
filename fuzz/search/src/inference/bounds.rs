//! The bounds of a run.

use super::enumerate::{Family, families};
use broadcheck_spec::{RuleSet, Signature};

/// A run of more signatures than this is refused.
const MAX_SIGNATURES: u128 = 1_000_000_000;

/// The highest rank and length: more cannot be enumerated in any time.
const MOST: usize = 100;

/// The bounds of a run, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    max_rank: usize,
    max_length: usize,
    rules: Vec<RuleSet>,
    keep: usize,
    nth: usize,
    exact: bool,
}

impl Bounds {
    /// Every signature up to a rank and a length, under these rule sets.
    ///
    /// # Errors
    /// More than 10^9 signatures: with both numbers.
    pub fn new(max_rank: usize, max_length: usize, rules: &[RuleSet]) -> Result<Bounds, String> {
        let bounds = Bounds { max_rank, max_length, rules: rules.to_vec(), keep: 20, nth: 1, exact: false };
        // An unknown length, and all numbers.
        let lengths = (max_length as u128).saturating_add(2);
        let shapes = lengths.saturating_pow(u32::try_from(max_rank).unwrap_or(u32::MAX));
        let pairs = shapes.saturating_mul(shapes);
        let count = if max_rank > MOST || pairs > MAX_SIGNATURES { pairs } else { bounds.signatures() };
        if count > MAX_SIGNATURES {
            return Err(format!("{bounds}: at least {count} signatures, expected at most {MAX_SIGNATURES}"));
        }
        Ok(bounds)
    }

    /// How many findings are kept with their signatures; all are counted.
    #[must_use]
    pub fn keeping(self, findings: usize) -> Bounds {
        Bounds { keep: findings, ..self }
    }

    /// Only every nth signature of each family.
    ///
    /// # Panics
    /// If `nth` is 0.
    #[must_use]
    pub fn every(self, nth: usize) -> Bounds {
        assert!(nth > 0, "every nth signature");
        Bounds { nth, ..self }
    }

    /// Whether an answer that is wider than exact is a finding for every implementation.
    #[must_use]
    pub fn exactly(self, exact: bool) -> Bounds {
        Bounds { exact, ..self }
    }

    /// The number of signatures, without those that are left out between every nth.
    pub fn signatures(&self) -> u128 {
        let count = |family: &Family| family.count().div_ceil(self.nth as u128);
        self.families().iter().map(count).fold(0, u128::saturating_add)
    }

    /// Visits every signature, one after the other.
    pub fn each(&self, visit: &mut dyn FnMut(&Signature)) {
        for family in self.families() {
            let mut from = 0;
            for first in 0..family.firsts() {
                from = family.each(first, from, self.nth, visit);
            }
        }
    }

    pub(super) fn families(&self) -> Vec<Family> {
        families(self.max_rank, self.max_length, &self.rules)
    }

    pub(super) fn rules(&self) -> &[RuleSet] {
        &self.rules
    }

    pub(super) fn keep(&self) -> usize {
        self.keep
    }

    pub(super) fn nth(&self) -> usize {
        self.nth
    }

    pub(super) fn exact(&self) -> bool {
        self.exact
    }
}

/// Rank 2 and length 3, under every rule set.
impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::new(2, 3, &RuleSet::ALL).expect("small bounds")
    }
}

/// `ranks 0 to 2 and unknown, lengths 0 to 3 and unknown`.
impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Bounds { max_rank, max_length, .. } = self;
        write!(f, "ranks 0 to {max_rank} and unknown, lengths 0 to {max_length} and unknown")?;
        if self.nth > 1 { write!(f, ", one of {}", self.nth) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_bounds_are_refused_with_the_count() {
        for (rank, length) in [(9, 3), (2, 10_000), (usize::MAX, 1), (1, usize::MAX)] {
            let error = Bounds::new(rank, length, &RuleSet::ALL).unwrap_err();
            assert!(error.contains(" signatures, expected at most 1000000000"), "{error}");
        }
        assert!(Bounds::new(3, 1, &[RuleSet::Numpy]).is_ok());
    }
}
