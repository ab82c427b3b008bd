//! Planted faults: one for each kind of bug that real libraries have shipped, and more, to find out what the
//! suite and the fuzzer would miss.
//!
//! Each fault changes one decision in a small strided engine made for it (`engine`): a stride, an alignment,
//! the tail of a block, an axis that a gradient is summed over. The catalogue names the bug report, if there
//! is one. [`hunt`] finds which cases of the suite catch a fault and how many requests the generator needs;
//! [`table`] prints the results.
//!
//! ```
//! use broadcheck_faults::{CATALOGUE, Faulty};
//! use broadcheck_spec::Implementation;
//!
//! let fault = CATALOGUE.iter().find(|fault| fault.id == "lengths/maximum").unwrap();
//! assert_eq!(Faulty::new(fault).name(), "lengths/maximum");
//! ```

mod catalogue;
mod engine;
pub mod hunt;
pub mod table;

pub use catalogue::{
    CATALOGUE, Escape, GIVEN_FAULTS, GivenFault, INEXPRESSIBLE, Inexpressible, SURVIVORS, Survivor,
};

use broadcheck_spec::{Capabilities, Implementation, Inference, Outcome, Request, Signature, Unknown};
use engine::state::Memory;
use engine::{Decisions, MAX_ELEMENTS};
use std::fmt;
use std::sync::Mutex;

/// The class of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The common length of two lengths: 0, 1, the maximum.
    Lengths,
    /// Which axis of the result an operand's axis is aligned with.
    Alignment,
    /// An attribute that names axes.
    Axis,
    /// Which operand is the first argument.
    OperandOrder,
    /// One-way against two-way.
    Direction,
    /// More than two operands.
    Nary,
    /// Strides of dense operands and of views.
    Strides,
    /// Axes that are merged or removed.
    Collapse,
    /// Blocks, tails, runs, and what is kept between them.
    Blocks,
    /// Gradients.
    Gradient,
    /// The flags of `theano`.
    Flags,
    /// Dtypes, and the values of functions.
    Dtypes,
    /// Element counts.
    Sizes,
    /// The answer to a refused request.
    Refusal,
    /// The optimiser: algebra, common subexpressions, constants.
    Rewrites,
    /// The innermost loop of a vectorised kernel: whole vectors, tails, splats.
    Kernels,
    /// How views are handled: contiguity, tiles, offsets, signs of strides.
    Views,
    /// What is kept between requests.
    State,
    /// Three or more operands, and high ranks.
    ManyOperands,
    /// How a gradient is reduced.
    Sums,
    /// Destinations: which fit, where they are written, and what is read after the write.
    Into,
    /// What is inferred before the run.
    Infer,
}

impl Class {
    /// Every class, in the order of the catalogue.
    pub const ALL: [Class; 22] = [
        Class::Lengths,
        Class::Alignment,
        Class::Axis,
        Class::OperandOrder,
        Class::Direction,
        Class::Nary,
        Class::Strides,
        Class::Collapse,
        Class::Blocks,
        Class::Gradient,
        Class::Flags,
        Class::Dtypes,
        Class::Sizes,
        Class::Refusal,
        Class::Rewrites,
        Class::Kernels,
        Class::Views,
        Class::State,
        Class::ManyOperands,
        Class::Sums,
        Class::Into,
        Class::Infer,
    ];

    /// The name, which is the prefix of the ids of its faults.
    pub fn name(self) -> &'static str {
        match self {
            Class::Lengths => "lengths",
            Class::Alignment => "alignment",
            Class::Axis => "axis",
            Class::OperandOrder => "operand-order",
            Class::Direction => "direction",
            Class::Nary => "nary",
            Class::Strides => "strides",
            Class::Collapse => "collapse",
            Class::Blocks => "blocks",
            Class::Gradient => "gradient",
            Class::Flags => "flags",
            Class::Dtypes => "dtypes",
            Class::Sizes => "sizes",
            Class::Refusal => "refusal",
            Class::Rewrites => "rewrites",
            Class::Kernels => "kernels",
            Class::Views => "views",
            Class::State => "state",
            Class::ManyOperands => "many-operands",
            Class::Sums => "sums",
            Class::Into => "into",
            Class::Infer => "infer",
        }
    }

    /// Whether its faults change how operands are aligned, traversed or summed, rather than what is reported
    /// in the end.
    pub fn is_inside(self) -> bool {
        matches!(
            self,
            Class::Alignment
                | Class::Axis
                | Class::OperandOrder
                | Class::Nary
                | Class::Strides
                | Class::Collapse
                | Class::Blocks
                | Class::Gradient
                | Class::Kernels
                | Class::Views
                | Class::ManyOperands
                | Class::Sums
                | Class::Into
        )
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A public bug report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The system that had the bug.
    pub system: &'static str,
    /// The URL of the report.
    pub url: &'static str,
}

/// A fault: one wrong decision.
pub struct Fault {
    /// Its class and what is wrong, `[a-z0-9/-]`. Ids never change.
    pub id: &'static str,
    /// The class.
    pub class: Class,
    /// A sentence that says what goes wrong.
    pub title: &'static str,
    /// The reports of this bug; empty if it was invented.
    pub reports: &'static [Report],
    plant: fn(&mut Decisions),
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault").field("id", &self.id).field("title", &self.title).finish_non_exhaustive()
    }
}

impl Fault {
    /// The fault with this id.
    pub fn named(id: &str) -> Option<&'static Fault> {
        CATALOGUE.iter().find(|fault| fault.id == id).copied()
    }

    /// Whether the catalogue lists the fault as one that is not caught by the cases, or by the generator.
    pub fn is_listed(&self, escapes: Escape) -> bool {
        SURVIVORS.iter().any(|survivor| survivor.id == self.id && survivor.escapes == escapes)
    }
}

/// The small engine, with one fault or none.
pub struct Faulty {
    name: &'static str,
    decisions: Decisions,
    capabilities: Capabilities,
    memory: Mutex<Memory>,
}

impl Faulty {
    /// The engine with this fault.
    pub fn new(fault: &Fault) -> Faulty {
        let mut decisions = Decisions::default();
        (fault.plant)(&mut decisions);
        Faulty { name: fault.id, decisions, capabilities: capabilities(), memory: Mutex::default() }
    }

    /// The engine without a fault. It must pass everything; otherwise what a fault shows could be an error of
    /// the engine.
    pub fn sound() -> Faulty {
        let (name, decisions) = ("sound", Decisions::default());
        Faulty { name, decisions, capabilities: capabilities(), memory: Mutex::default() }
    }

    /// The same engine, declaring less.
    #[must_use]
    pub fn within(self, capabilities: Capabilities) -> Faulty {
        let max_elements = capabilities.max_elements.min(MAX_ELEMENTS);
        Faulty { capabilities: Capabilities { max_elements, ..capabilities }, ..self }
    }

    /// Whether an answer may depend on earlier requests, so that the order of requests matters.
    pub fn remembers(&self) -> bool {
        self.decisions.state.remembers
    }
}

/// What the engine supports: everything up to its size limit, with every convention.
fn capabilities() -> Capabilities {
    Capabilities {
        max_elements: MAX_ELEMENTS,
        broadcast_in_dim: true,
        permuted: true,
        cotangent: true,
        into: true,
        infer: true,
        declared: true,
        constants: true,
        same: true,
        unknown: Unknown::ALL.to_vec(),
        ..Capabilities::with_all_conventions()
    }
}

impl Implementation for Faulty {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, request: &Request) -> Outcome {
        self.decisions.answer(request, &self.memory)
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.decisions.inference(signature)
    }

    fn is_exact(&self) -> bool {
        true
    }

    /// The functions are the reference's.
    fn allowed_ulp(&self) -> u32 {
        1
    }
}
