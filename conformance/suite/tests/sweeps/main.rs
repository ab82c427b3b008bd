//! The shipped sweeps catch the faults that they are for.

mod lanes;
mod operands;
mod rewrites;
mod sequences;
mod sessions;

use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Implementation, Outcome, Request, Suite, Sweep};
use std::sync::LazyLock;

/// All shipped sweeps, loaded once for all tests.
static SHIPPED: LazyLock<Vec<Sweep>> =
    LazyLock::new(|| Suite::builtin().unwrap_or_else(|errors| panic!("{errors}")).sweeps);

/// The shipped sweep with this id.
fn shipped(id: &str) -> &'static Sweep {
    SHIPPED.iter().find(|sweep| sweep.id == id).unwrap_or_else(|| panic!("no sweep {id}"))
}

/// The reference, except for requests that a fault answers.
struct Faulty<F>(F);

impl<F: Fn(&Request) -> Option<Outcome> + Sync> Implementation for Faulty<F> {
    fn name(&self) -> &'static str {
        "faulty"
    }
    fn version(&self) -> &'static str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        // It declares the convention that operands count although they are not used.
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        (self.0)(request).unwrap_or_else(|| Reference.run(request))
    }
}
