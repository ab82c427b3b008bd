//! Sweeps: families of cases too many to list, from a name and integers.
//!
//! Patterns and long runs expand to cases whose expected values come from a closed formula; the name of a [relation](crate::relations::RELATIONS) to all its instances within bounds. How many there must be
//! is computed before anything is expanded, and is what the sweep's `expect` must say.
//!
//! | sweep | `with` |
//! |---|---|
//! | `numpy-patterns`, `theano-patterns` | `operands` 1 to 10, `length` 2 to 9 |
//! | `RULES-long`, and with `-views`, `-dtypes`, `-gradients`, `-broadcasts` after it | `from` and `to`: lengths of 1 to 100,000 |
//! | a relation | `max_rank`, `max_length`: at most 2,000,000 instances |

mod long;
mod patterns;
mod run;
mod together;

pub use run::{SweepFailure, SweepReport, run_sample, run_sweep};

use crate::relations::{Extent, RELATIONS, Relation};
use broadcheck_judge::text::plural;
use broadcheck_spec::{Case, RuleSet, Sweep};
use long::Long;
use patterns::Patterns;
use std::collections::BTreeMap;

/// A sweep of more cases than this is refused: `exhaust` is the place for larger bounds.
pub const MAX_CASES: u64 = 2_000_000;

/// What a sweep expands to.
pub enum Expansion {
    /// Cases with expected values.
    Cases(Vec<Case>),
    /// The instances of a relation within bounds. They have no expected values of their own.
    Relation {
        /// The relation.
        relation: &'static Relation,
        /// The bounds.
        extent: Extent,
    },
}

/// A family with its bounds, checked.
enum Family {
    Patterns(Patterns),
    Long(Long),
    Relation { relation: &'static Relation, extent: Extent },
}

/// The names of the sweeps.
pub fn names() -> impl Iterator<Item = &'static str> {
    let long = long::FAMILIES.iter().map(|family| family.name);
    patterns::NAMES.into_iter().chain(long).chain(RELATIONS.iter().map(|relation| relation.name))
}

/// Whether a sweep can be expanded: a known name, its integers and no others, within their limits, an id under
/// the rule set that it is about, and an `expect` that is the number of its cases by arithmetic. Expands nothing.
///
/// # Errors
/// What was found and what was expected.
pub fn validate(sweep: &Sweep) -> Result<(), String> {
    checked(sweep).map(|_| ())
}

/// The cases of a sweep, or the relation that it runs.
///
/// # Errors
/// As for [`validate`].
pub fn expand(sweep: &Sweep) -> Result<Expansion, String> {
    Ok(match checked(sweep)? {
        Family::Patterns(patterns) => Expansion::Cases(patterns.cases(sweep)),
        Family::Long(long) => Expansion::Cases(long.cases(sweep)),
        Family::Relation { relation, extent } => Expansion::Relation { relation, extent },
    })
}

/// Whether the cases of a sweep are few and short enough to be written into files: those of patterns are. Long runs would
/// take gigabytes, and relations have no expected values.
pub fn is_compact(sweep: &Sweep) -> bool {
    patterns::rules_of(&sweep.sweep).is_some()
}

fn checked(sweep: &Sweep) -> Result<Family, String> {
    let (family, rules, count) = family(sweep)?;
    if count > u128::from(MAX_CASES) {
        return Err(format!("with: found {count} cases, expected at most {MAX_CASES}"));
    }
    if count != u128::from(sweep.expected_cases) {
        let found = plural(sweep.expected_cases, "case");
        return Err(format!("expect: found {found}, expected {count}, as many as these bounds have"));
    }
    let prefix = format!("{rules}/");
    if !sweep.id.starts_with(&prefix) {
        return Err(format!("id: found `{}`, expected one that begins with `{prefix}`", sweep.id));
    }
    Ok(family)
}

fn family(sweep: &Sweep) -> Result<(Family, RuleSet, u128), String> {
    if let Some(rules) = patterns::rules_of(&sweep.sweep) {
        let [operands, length] = integers(&sweep.with, ["operands", "length"])?;
        let patterns = Patterns::new(rules, operands, length)?;
        let count = patterns.count();
        return Ok((Family::Patterns(patterns), rules, count));
    }
    if let Some(family) = long::Family::named(&sweep.sweep) {
        let [from, to] = integers(&sweep.with, ["from", "to"])?;
        let long = Long::new(family, from, to)?;
        let count = long.count();
        return Ok((Family::Long(long), family.rules, count));
    }
    let Some(relation) = Relation::named(&sweep.sweep) else {
        let known: Vec<&str> = names().collect();
        return Err(format!("sweep: found `{}`, expected one of {}", sweep.sweep, known.join(" ")));
    };
    let [max_rank, max_length] = integers(&sweep.with, ["max_rank", "max_length"])?;
    let extent = Extent::new(max_rank, max_length);
    Ok((Family::Relation { relation, extent }, relation.rules[0], relation.count(&extent)))
}

/// The integers of `with`: these and no others.
fn integers<const N: usize>(with: &BTreeMap<String, u64>, keys: [&str; N]) -> Result<[usize; N], String> {
    let found: Vec<&str> = with.keys().map(String::as_str).collect();
    if found.len() != N || keys.iter().any(|key| !found.contains(key)) {
        return Err(format!("with: found {{{}}}, expected {{{}}}", found.join(", "), keys.join(", ")));
    }
    Ok(keys.map(|key| usize::try_from(with[key]).unwrap_or(usize::MAX)))
}
