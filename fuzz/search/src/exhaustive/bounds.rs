//! The bounds of a run.

use broadcheck::relations::{Extent, MAX_ELEMENTS, RELATION_SWEEPS, REQUESTS};
use broadcheck_spec::RuleSet;

/// A run of more answers and checks of relations than this is refused.
const MAX_WORK: u128 = 10_000_000_000;

/// The bounds of a run, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    extent: Extent,
    rules: Vec<RuleSet>,
    keep: usize,
}

impl Bounds {
    /// Every shape up to a rank and a length, under every rule set.
    ///
    /// # Errors
    /// More than 10^10 answers and checks of relations, or shapes with too many elements to have distinct
    /// values: with both numbers.
    pub fn new(max_rank: usize, max_length: usize) -> Result<Bounds, String> {
        Bounds::of_rules(max_rank, max_length, &RuleSet::ALL)
    }

    /// Every shape up to a rank and a length, under these rule sets, and the relations among them: fewer rule
    /// sets leave room for larger bounds.
    ///
    /// # Errors
    /// As for [`Bounds::new`].
    pub fn of_rules(max_rank: usize, max_length: usize, rules: &[RuleSet]) -> Result<Bounds, String> {
        let bounds = Bounds { extent: Extent::new(max_rank, max_length), rules: rules.to_vec(), keep: 20 };
        check_work(&bounds.extent, bounds.work())?;
        let elements = (max_length as u128).saturating_pow(u32::try_from(max_rank).unwrap_or(u32::MAX));
        if elements > MAX_ELEMENTS {
            return Err(format!(
                "{}: shapes of up to {elements} elements; at most {MAX_ELEMENTS} have distinct values",
                bounds.extent
            ));
        }
        Ok(bounds)
    }

    /// Only these rule sets, and the relations among them.
    #[must_use]
    pub fn with_rules(self, rules: &[RuleSet]) -> Bounds {
        Bounds { rules: rules.to_vec(), ..self }
    }

    /// How many differences are kept with their requests; all are counted.
    #[must_use]
    pub fn keeping(self, differences: usize) -> Bounds {
        Bounds { keep: differences, ..self }
    }

    /// The bounds on shapes.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    pub(super) fn keep(&self) -> usize {
        self.keep
    }

    pub(super) fn allows(&self, rules: impl IntoIterator<Item = RuleSet>) -> bool {
        rules.into_iter().all(|rules| self.rules.contains(&rules))
    }

    /// The work of one implementation that declares everything: its answers and its checks of relations.
    pub fn work(&self) -> u128 {
        let groups = REQUESTS.iter().filter(|group| self.allows([group.rules]));
        let relations = RELATION_SWEEPS.iter().filter(|relation| self.allows(relation.rules()));
        let answers = groups.map(|group| group.count(&self.extent)).fold(0, u128::saturating_add);
        relations.map(|relation| relation.count(&self.extent)).fold(answers, u128::saturating_add)
    }
}

/// Rank 3 and length 4: under two minutes on two cores.
impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::new(3, 4).expect("small bounds")
    }
}

pub(super) fn check_work(extent: &Extent, work: u128) -> Result<(), String> {
    if work <= MAX_WORK {
        return Ok(());
    }
    let work = if work == u128::MAX { "more than 10^38".into() } else { work.to_string() };
    Err(format!("{extent}: {work} answers and checks of relations, expected at most {MAX_WORK}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_bounds_are_refused_with_the_count() {
        assert!(Bounds::new(4, 3).is_ok());
        let error = Bounds::new(6, 3).unwrap_err();
        assert!(error.starts_with("ranks 0 to 6, lengths 0 to 3: "), "{error}");
        assert!(error.ends_with("expected at most 10000000000"), "{error}");
        assert!(Bounds::new(usize::MAX, usize::MAX).unwrap_err().contains("more than 10^38"));
        assert!(Bounds::new(1, 65_537).is_err());
        // Without the lists of dimensions and the patterns of flags there is room for more.
        assert!(Bounds::new(5, 3).is_err());
        assert!(Bounds::of_rules(5, 3, &[RuleSet::Numpy, RuleSet::Bidirectional]).is_ok());
    }
}
