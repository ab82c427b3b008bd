//! What must hold between rule sets, and within one, whatever implements them: relations as data and code.
//!
//! No relation knows an answer. Each compares two answers of one implementation that a clause makes equal, over
//! every instance within bounds: all shapes up to a rank and a length, and all attributes. [`RELATIONS`] lists
//! them; [`Relation::count`] says by arithmetic how many instances there are, [`Relation::each`] visits them,
//! [`Relation::check`] judges one.

mod adjoint;
mod ask;
mod implications;
mod instance;
mod placing;
mod space;
mod symmetry;
mod table;
mod targets;
mod views;
mod visit;

pub use ask::{MAX_ELEMENTS, broadcast, dense, difference, elementwise, flagged, of, operand};
pub use instance::{Attributes, Instance};
pub use space::{
    AXES, Extent, axes, choices, dimensions_count, each_dimensions, flags, flags_count, increasing_dimensions,
};
pub use table::RELATIONS;

use broadcheck_spec::{Capabilities, DType, Function, Implementation, OperationKind, RuleSet, Shape};

/// A statement about every implementation of some rule sets.
pub struct Relation {
    /// Unique: a rule set, and what of it: `xla-equal-ranks-are-numpy`.
    pub name: &'static str,
    /// What must hold, in a sentence.
    pub statement: &'static str,
    /// The rule sets that are asked. The first is the one that the relation is about.
    pub rules: &'static [RuleSet],
    /// The operations that are asked.
    pub operations: &'static [OperationKind],
    /// Whether operands are strided views.
    pub strided: bool,
    count: fn(&Extent) -> u128,
    each: visit::Each,
    check: Check,
}

/// How an instance is judged: an error is a violation, in words.
type Check = fn(&dyn Implementation, &Instance) -> Result<Held, String>;

/// How a relation held in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Two answers were compared.
    Compared,
    /// There was nothing to compare: the relation speaks of accepted requests, and this one is refused.
    Vacuous,
}

impl Relation {
    /// The relation of this name.
    pub fn named(name: &str) -> Option<&'static Relation> {
        RELATIONS.iter().find(|relation| relation.name == name)
    }

    /// How many instances there are within bounds, by arithmetic.
    pub fn count(&self, extent: &Extent) -> u128 {
        (self.count)(extent)
    }

    /// Visits the instances whose first two shapes are these, by their places in `shapes`. Over all ordered
    /// pairs of places, these are all instances, each once.
    pub fn each(&self, shapes: &[Shape], first: usize, second: usize, visit: &mut dyn FnMut(&Instance)) {
        (self.each)(shapes, first, second, visit);
    }

    /// Judges one instance.
    ///
    /// # Errors
    /// A violation in words: what was asked, and both answers.
    pub fn check(&self, implementation: &dyn Implementation, instance: &Instance) -> Result<Held, String> {
        (self.check)(implementation, instance).map_err(|violation| format!("{instance}: {violation}"))
    }

    /// Whether all that the relation asks lies inside what an implementation declares.
    ///
    /// # Errors
    /// The first thing that is not declared.
    pub fn covered_by(&self, capabilities: &Capabilities, extent: &Extent) -> Result<(), String> {
        if let Some(rules) = self.rules.iter().find(|rules| !capabilities.rules.contains(rules)) {
            return Err(format!("no rule set {rules}"));
        }
        if let Some(kind) = self.operations.iter().find(|kind| !capabilities.operations.contains(kind)) {
            return Err(format!("no operation {kind}"));
        }
        if self.strided && !capabilities.strided {
            return Err("no strided operands".into());
        }
        covers_basics(capabilities, extent)
    }
}

/// Whether an implementation has the dtype and the functions of which the relations and the exhaustive requests
/// are made, at every rank within bounds.
pub fn covers_basics(capabilities: &Capabilities, extent: &Extent) -> Result<(), String> {
    if !capabilities.dtypes.contains(&DType::F64) {
        return Err("no dtype f64".into());
    }
    for function in [Function::Add, Function::Subtract, Function::Multiply] {
        if !capabilities.functions.contains(&function) {
            return Err(format!("no function {function}"));
        }
    }
    match capabilities.max_rank {
        Some(limit) if limit < extent.max_rank => {
            Err(format!("rank {} is above the limit {limit}", extent.max_rank))
        }
        _ => Ok(()),
    }
}
