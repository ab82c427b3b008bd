//! Sweeps: families of cases that are too large to list, given by a name and integers.
//!
//! All sweeps but those of relations expand to cases whose expected values come from a closed formula. A
//! sweep with the name of a [`RelationSweep`] checks that relation over all small requests. The requests of a
//! sequence are asked one after the other. The number of cases is computed before anything is expanded, and
//! the sweep's `expect` must state it.
//!
//! | sweep | `with` |
//! |---|---|
//! | `numpy-patterns`, `theano-patterns` | `operands` 1 to 10, `length` 2 to 9 |
//! | `numpy-many-operands`, `theano-many-operands` | `operands` 2 to 96, `long` 1 or 2 of them, `length` 2 to 9 |
//! | `RULES-long`, and with `-views`, `-dtypes`, `-gradients`, `-cotangents`, `-broadcasts`, `-into`, `-overlaps` after it | `from` and `to`: lengths of 1 to 100,000 |
//! | `RULES-lanes-DTYPE` | `tails`: lengths of 1 to this number, at most 512 |
//! | `RULES-transposed`, `RULES-equal-buffers` | `from` and `to`: numbers of rows of 2 to 512 |
//! | `RULES-permuted` | `from` and `to`: ranks of 3 to 12 |
//! | `RULES-offsets` | `from` and `to`: lengths of 1 to 128 |
//! | `RULES-reversed` | `from` and `to`: lengths of 2 to 512 |
//! | `none-view-operands`, `numpy-view-operands`, `theano-view-operands` | `from` and `to`: 3 to 32 operands |
//! | `RULES-sums` | `from` and `to`: numbers of contributions from 2 to 4096 |
//! | `numpy-rewrites-…`, `numpy-constants-…`, `numpy-programs-…` | nothing |
//! | `none-operands`, `numpy-operands`, `theano-operands` | `operands` 3 to 4, `length` 2 to 9, `unused` 0 to 2 |
//! | `xla-named-axes` | `operand_rank`, `target_rank` up to 5 |
//! | `RULES-sequences`, `RULES-sessions` | `length` 2 to 100 |
//! | a relation sweep | `max_rank`, `max_length`: at most 2,000,000 instances |

mod arithmetic;
mod batched;
mod cotangents;
mod destinations;
mod lanes;
mod long;
mod many;
mod named_axes;
mod operands;
mod part;
mod patterns;
mod reversed;
mod rewrites;
mod run;
mod sequences;
mod sessions;
mod sums;
mod views;

pub(crate) use part::Part;
pub(crate) use run::run_expanded;
pub use run::{SweepFailure, SweepReport, run_sample, run_sweep};
pub use sequences::Sequence;

use crate::relations::{Extent, RELATION_SWEEPS, RelationSweep};
use crate::retype::ORDER;
use broadcheck_judge::text::plural;
use broadcheck_spec::{Capabilities, Case, Request, RuleSet, Sweep};
use lanes::Lanes;
use long::{Arrangements, LongRuns};
use many::ManyOperands;
use named_axes::NamedAxes;
use operands::Operands;
use patterns::Patterns;
use rewrites::Family;
use sequences::Sequences;
use sessions::Sessions;
use std::collections::BTreeMap;
use views::Views;

/// A sweep of more cases than this is refused: `exhaust` is the place for larger bounds.
pub const MAX_CASES: u64 = 2_000_000;

/// What a sweep expands to.
pub enum Expansion {
    /// Cases with expected values.
    Cases(Vec<Case>),
    /// Cases whose order matters: those of a sequence are asked one after the other.
    Sequences(Vec<Sequence>),
    /// A relation over all requests within bounds. They have no expected values.
    Relation {
        /// The relation with its requests.
        relation: &'static RelationSweep,
        /// The bounds.
        extent: Extent,
    },
}

/// A sweep with its bounds, checked.
enum Checked {
    Patterns(Patterns),
    Many(ManyOperands),
    Long(LongRuns),
    Lanes(Lanes),
    Views(Views),
    Rewrites(&'static Family),
    Operands(Operands),
    NamedAxes(NamedAxes),
    Sequences(Sequences),
    Sessions(Sessions),
    Relation { relation: &'static RelationSweep, extent: Extent },
}

/// The names of the sweeps.
pub fn names() -> impl Iterator<Item = &'static str> {
    let long = long::ARRANGEMENTS.iter().map(|sweep| sweep.name);
    let relations = RELATION_SWEEPS.iter().map(|relation| relation.name);
    let patterns = patterns::NAMES.into_iter().chain(many::NAMES);
    let rewrites = rewrites::FAMILIES.iter().map(|family| family.name);
    let long = patterns.chain(long).chain(operands::NAMES).chain([named_axes::NAME]);
    let sequences = sequences::NAMES.into_iter().chain(sessions::NAMES).map(|(name, _)| name);
    let values = lanes::names().chain(views::names()).chain(rewrites);
    long.chain(values).chain(sequences).chain(relations)
}

/// Checks that a sweep can be expanded, without expanding it: it has a known name, the right integers within
/// their limits, an id under the rule set that it is about, and an `expect` that equals the computed number
/// of its cases.
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
    Ok(checked(sweep)?.expand(sweep, Part::WHOLE))
}

impl Checked {
    /// A part of the cases; of sequences and relations always the whole.
    fn expand(self, sweep: &Sweep, part: Part) -> Expansion {
        match self {
            Checked::Patterns(patterns) => Expansion::Cases(patterns.cases(sweep, part)),
            Checked::Many(many) => Expansion::Cases(many.cases(sweep, part)),
            Checked::Long(long) => Expansion::Cases(long.cases(sweep, part)),
            Checked::Lanes(lanes) => Expansion::Cases(lanes.cases(sweep, part)),
            Checked::Views(views) => Expansion::Cases(views.cases(sweep, part)),
            Checked::Operands(operands) => Expansion::Cases(operands.cases(sweep, part)),
            Checked::NamedAxes(named) => Expansion::Cases(named.cases(sweep, part)),
            Checked::Rewrites(family) => Expansion::Cases(family.cases(sweep, part)),
            Checked::Sequences(sequences) => Expansion::Sequences(sequences.expand(sweep)),
            Checked::Sessions(sessions) => Expansion::Sequences(sessions.expand(sweep)),
            Checked::Relation { relation, extent } => Expansion::Relation { relation, extent },
        }
    }
}

/// Whether the cases of a sweep are few and short enough to be written to files. Only those of patterns are:
/// long runs would take gigabytes, and relations have no expected values.
pub fn is_compact(sweep: &Sweep) -> bool {
    patterns::rules_of(&sweep.sweep).is_some()
}

/// Whether [`expand_for`] expands a sweep in a dtype of the implementation.
pub(crate) fn is_in_its_dtype(sweep: &Sweep) -> bool {
    is_compact(sweep) || many::rules_of(&sweep.sweep).is_some()
}

/// [`expand`] for an implementation with these capabilities. Patterns and many operands are expanded in the
/// first dtype of [`ORDER`] that it has, f64 if it has that. The cases of other sweeps are not changed:
/// running them [retypes](crate::retype) each where necessary.
///
/// # Errors
/// As for [`validate`].
pub fn expand_for(sweep: &Sweep, capabilities: &Capabilities) -> Result<Expansion, String> {
    expand_part(sweep, capabilities, Part::WHOLE)
}

/// [`expand_for`], for a part of the cases.
///
/// # Errors
/// As for [`validate`].
pub(crate) fn expand_part(
    sweep: &Sweep,
    capabilities: &Capabilities,
    part: Part,
) -> Result<Expansion, String> {
    let mut candidates = ORDER.into_iter().filter(|dtype| capabilities.dtypes.contains(dtype));
    let covered = |request: Request| capabilities.covers(&request).is_ok();
    let checked = match checked(sweep)? {
        Checked::Patterns(patterns) => {
            let mut others = candidates.map(|dtype| patterns.in_dtype(dtype));
            let other = others.find(|patterns| covered(patterns.request()));
            Checked::Patterns(other.unwrap_or(patterns))
        }
        Checked::Many(many) => {
            let of = |dtype| many.in_dtype(dtype).filter(|many| covered(many.request()));
            let other = candidates.find_map(of);
            Checked::Many(other.unwrap_or(many))
        }
        same @ (Checked::Long(_)
        | Checked::Lanes(_)
        | Checked::Views(_)
        | Checked::Rewrites(_)
        | Checked::Operands(_)
        | Checked::NamedAxes(_)
        | Checked::Sequences(_)
        | Checked::Sessions(_)
        | Checked::Relation { .. }) => same,
    };
    Ok(checked.expand(sweep, part))
}

fn checked(sweep: &Sweep) -> Result<Checked, String> {
    let (checked, rules, count) = bounded(sweep)?;
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
    Ok(checked)
}

fn bounded(sweep: &Sweep) -> Result<(Checked, RuleSet, u128), String> {
    if let Some(rules) = patterns::rules_of(&sweep.sweep) {
        let [operands, length] = integers(&sweep.with, ["operands", "length"])?;
        let patterns = Patterns::new(rules, operands, length)?;
        let count = patterns.count();
        return Ok((Checked::Patterns(patterns), rules, count));
    }
    if let Some(rules) = many::rules_of(&sweep.sweep) {
        let many = ManyOperands::new(rules, integers(&sweep.with, ["operands", "long", "length"])?)?;
        let count = many.count();
        return Ok((Checked::Many(many), rules, count));
    }
    if let Some(arrangements) = Arrangements::named(&sweep.sweep) {
        let [from, to] = integers(&sweep.with, ["from", "to"])?;
        let long = LongRuns::new(arrangements, from, to)?;
        let count = long.count();
        return Ok((Checked::Long(long), arrangements.rules, count));
    }
    if let Some((rules, dtype)) = lanes::named(&sweep.sweep) {
        let [tails] = integers(&sweep.with, ["tails"])?;
        let lanes = Lanes::new(rules, dtype, tails)?;
        let count = lanes.count();
        return Ok((Checked::Lanes(lanes), rules, count));
    }
    if let Some((rules, kind)) = views::named(&sweep.sweep) {
        let [from, to] = integers(&sweep.with, ["from", "to"])?;
        let views = Views::new(rules, kind, from, to)?;
        let count = views.count();
        return Ok((Checked::Views(views), rules, count));
    }
    if let Some(family) = Family::named(&sweep.sweep) {
        let [] = integers(&sweep.with, [])?;
        return Ok((Checked::Rewrites(family), family.rules(), family.count()));
    }
    if let Some(rules) = operands::rules_of(&sweep.sweep) {
        let with = integers(&sweep.with, ["operands", "length", "unused"])?;
        let operands = Operands::new(rules, with)?;
        let count = operands.count();
        return Ok((Checked::Operands(operands), rules, count));
    }
    if sweep.sweep == named_axes::NAME {
        let named = NamedAxes::new(integers(&sweep.with, ["operand_rank", "target_rank"])?)?;
        let count = named.count();
        return Ok((Checked::NamedAxes(named), RuleSet::Xla, count));
    }
    if let Some(rules) = sequences::rules_of(&sweep.sweep) {
        let [length] = integers(&sweep.with, ["length"])?;
        let sequences = Sequences::new(rules, length)?;
        let count = sequences.count();
        return Ok((Checked::Sequences(sequences), rules, count));
    }
    if let Some(rules) = sessions::rules_of(&sweep.sweep) {
        let [length] = integers(&sweep.with, ["length"])?;
        let sessions = Sessions::new(rules, length)?;
        let count = sessions.count();
        return Ok((Checked::Sessions(sessions), rules, count));
    }
    let Some(relation) = RelationSweep::named(&sweep.sweep) else {
        let others = names().filter(|name| lanes::named(name).is_none());
        let known: Vec<&str> = others.chain(["RULES-lanes-DTYPE"]).collect();
        return Err(format!("sweep: found `{}`, expected one of {}", sweep.sweep, known.join(" ")));
    };
    let [max_rank, max_length] = integers(&sweep.with, ["max_rank", "max_length"])?;
    let extent = Extent::new(max_rank, max_length);
    let count = relation.count(&extent);
    Ok((Checked::Relation { relation, extent }, relation.requests.rules, count))
}

/// The integers of `with`: exactly these.
fn integers<const N: usize>(with: &BTreeMap<String, u64>, keys: [&str; N]) -> Result<[usize; N], String> {
    let found: Vec<&str> = with.keys().map(String::as_str).collect();
    if found.len() != N || keys.iter().any(|key| !found.contains(key)) {
        return Err(format!("with: found {{{}}}, expected {{{}}}", found.join(", "), keys.join(", ")));
    }
    Ok(keys.map(|key| usize::try_from(with[key]).unwrap_or(usize::MAX)))
}
