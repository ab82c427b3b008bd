//! What must hold between several answers of one implementation, whatever the right answers are.
//!
//! A [`Relation`] takes a request, sends one or more variations of it to the implementation, and states how
//! the answers must agree. No relation knows the right answer, and none uses the reference. The judge
//! compares the answers, with its tolerances.
//!
//! | relation | variation |
//! |---|---|
//! | `operands-reversed` | the operands listed in the opposite order |
//! | `dense-operands` | every view as the dense operand that it shows |
//! | `strided-operands` | every dense operand as a reversed view with gaps |
//! | `operands-as-views` | every operand as a view of the result's shape, with stride 0 where it is broadcast |
//! | `unit-axis-in-front` | one more axis of length 1 |
//! | `dimensions-sorted` | a broadcast under `xla` with increasing dimensions, of the operand transposed |
//! | `in-two-steps` | a broadcast under `xla` onto the target with its axes rotated, and from there onto the target |
//! | `axes-permuted` | the axes of all operands in another order, once the ranks are equal |
//! | `as-numpy` | the same under `numpy`, with ones inserted where the rule set puts no axis |
//! | `ones-flagged-as-numpy` | theano with exactly the axes of length 1 flagged, under `numpy` |
//! | `broadcast-times-ones` | `bidirectional` as numpy's product with ones of the target's shape |
//! | `broadcast-as-bidirectional` | numpy's `broadcast` under `bidirectional` |
//! | `in-stages` | the first function's result stored, and used as an operand of the rest |
//! | `cotangent-as-factor` | the gradient of the product with the cotangent |
//! | `without-destination` | the same without `into`, each operand with a buffer of its own |
//! | `operands-grouped` | a sum of three operands, two of them added first |
//! | `adjoint` | the gradients of a product by each operand |
//!
//! The fuzzer checks relations over the requests that it generates (`oracle::Relations`, `oracle::Gradient`).
//! The sweeps of the suite and `broadcheck exhaust` check them over all small requests: a [`RelationSweep`]
//! combines a relation with an enumeration of requests ([`Requests`]), whose number is computed by
//! arithmetic.

mod adjoint;
mod as_numpy;
mod cut;
mod destination;
mod memory;
mod order;
mod original;
mod placement;
mod ranks;
mod requests;
pub mod rewrite;
mod space;
mod stages;
mod table;

pub use original::{Original, Satisfied, Violation};
pub use requests::{
    Attributes, MAX_ELEMENTS, REQUESTS, Requests, Template, broadcast, dense, difference, elementwise,
    flagged, of, operand,
};
pub use space::Extent;
pub use table::{RELATION_SWEEPS, RelationSweep};

use broadcheck_spec::{Function, Operand, OperationKind, Request, RuleSet};
use original::Ended;

/// A statement about several answers of any implementation.
pub struct Relation {
    /// The name in reports and signatures: `operands-reversed`.
    pub name: &'static str,
    /// The rule sets that its variations use besides the request's.
    rules: &'static [RuleSet],
    /// The operations that its variations use besides the request's.
    operations: &'static [OperationKind],
    /// Whether its variations use strided views.
    strided: bool,
    /// The functions that its variations use besides the request's.
    functions: &'static [Function],
    /// The number of variations to check one by one, from the highest rank of the operands.
    variations: fn(usize) -> u128,
    check: Check,
}

/// Sends the variation with this number, and compares the answers.
type Check = fn(&Original<'_>, u128) -> Result<(), Ended>;

/// The relations that the oracle of the fuzzer checks, in order. [`ADJOINT`] belongs to the oracle for
/// gradients.
pub static RELATIONS: [&Relation; 16] = [
    &OPERANDS_REVERSED,
    &DENSE_OPERANDS,
    &STRIDED_OPERANDS,
    &OPERANDS_AS_VIEWS,
    &UNIT_AXIS_IN_FRONT,
    &AXES_PERMUTED,
    &DIMENSIONS_SORTED,
    &IN_TWO_STEPS,
    &AS_NUMPY,
    &ONES_FLAGGED_AS_NUMPY,
    &BROADCAST_TIMES_ONES,
    &BROADCAST_AS_BIDIRECTIONAL,
    &IN_STAGES,
    &COTANGENT_AS_FACTOR,
    &WITHOUT_DESTINATION,
    &OPERANDS_GROUPED,
];

static OPERANDS_REVERSED: Relation = Relation::new("operands-reversed", order::operands_reversed);
/// `operands-reversed` for sweeps that compare acceptance and results, but not the reasons of refusals.
static OPERANDS_REVERSED_RESULTS: Relation =
    Relation::new("operands-reversed", order::operands_reversed_results);
static DENSE_OPERANDS: Relation = Relation::new("dense-operands", memory::dense_operands);
static STRIDED_OPERANDS: Relation =
    Relation { strided: true, ..Relation::new("strided-operands", memory::strided_operands) };
static OPERANDS_AS_VIEWS: Relation = Relation {
    operations: &[OperationKind::Elementwise],
    strided: true,
    ..Relation::new("operands-as-views", memory::operands_as_views)
};
static UNIT_AXIS_IN_FRONT: Relation = Relation::new("unit-axis-in-front", ranks::unit_axis_in_front);
static AXES_PERMUTED: Relation =
    Relation { variations: space::factorial, ..Relation::new("axes-permuted", order::axes_permuted) };
static DIMENSIONS_SORTED: Relation = Relation::new("dimensions-sorted", order::dimensions_sorted);
static IN_TWO_STEPS: Relation = Relation::new("in-two-steps", order::in_two_steps);
static AS_NUMPY: Relation =
    Relation { rules: &[RuleSet::Numpy], ..Relation::new("as-numpy", as_numpy::as_numpy) };
static ONES_FLAGGED_AS_NUMPY: Relation = Relation {
    rules: &[RuleSet::Numpy],
    ..Relation::new("ones-flagged-as-numpy", as_numpy::ones_flagged_as_numpy)
};
static BROADCAST_TIMES_ONES: Relation = Relation {
    rules: &[RuleSet::Numpy],
    operations: &[OperationKind::Elementwise],
    functions: &[Function::Multiply],
    ..Relation::new("broadcast-times-ones", as_numpy::broadcast_times_ones)
};
static BROADCAST_AS_BIDIRECTIONAL: Relation = Relation {
    rules: &[RuleSet::Bidirectional],
    ..Relation::new("broadcast-as-bidirectional", as_numpy::broadcast_as_bidirectional)
};
static IN_STAGES: Relation = Relation::new("in-stages", stages::in_stages);
static COTANGENT_AS_FACTOR: Relation = Relation {
    functions: &[Function::Multiply],
    ..Relation::new("cotangent-as-factor", stages::cotangent_as_factor)
};
static WITHOUT_DESTINATION: Relation = Relation::new("without-destination", destination::without_destination);
static OPERANDS_GROUPED: Relation = Relation::new("operands-grouped", stages::operands_grouped);

/// The sum of a product of all operands equals, for each operand, the sum of that operand times the gradient
/// with respect to it.
pub static ADJOINT: Relation = Relation {
    operations: &[OperationKind::Elementwise, OperationKind::Gradient],
    functions: &[Function::Multiply],
    ..Relation::new("adjoint", adjoint::adjoint)
};

/// The same of a `broadcast` under `xla`, whose gradient has a cotangent (clause GRAD-4).
static BROADCAST_ADJOINT: Relation =
    Relation { operations: &[OperationKind::Gradient], ..Relation::new("adjoint", adjoint::adjoint) };

impl Relation {
    const fn new(name: &'static str, check: Check) -> Relation {
        Relation {
            name,
            rules: &[],
            operations: &[],
            strided: false,
            functions: &[],
            variations: |_| 1,
            check,
        }
    }

    /// The number of variations of a request to check one by one: more than one only for `axes-permuted`.
    pub fn variations(&self, request: &Request) -> u128 {
        (self.variations)(request.operands().iter().map(Operand::rank).max().unwrap_or(0))
    }

    /// Sends a variation, counted from 0, and compares the answers.
    ///
    /// # Errors
    /// The answers do not agree, or one is missing.
    pub fn check(&self, original: &Original<'_>, variation: u128) -> Result<Satisfied, Box<Violation>> {
        match original.may_be_asked().and_then(|()| (self.check)(original, variation)) {
            Ok(()) => Ok(Satisfied::Compared),
            Err(Ended::Vacuous) => Ok(Satisfied::Vacuous),
            Err(Ended::NotAsked(reason)) => Ok(Satisfied::NotAsked(reason)),
            Err(Ended::Violated(violation)) => Err(violation),
        }
    }
}

#[cfg(test)]
mod tests;
