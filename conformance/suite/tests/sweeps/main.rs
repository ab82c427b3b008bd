//! The shipped sweeps catch the faults that they are for.

mod lanes;
mod operands;
mod rewrites;
mod sequences;
mod sessions;

use broadcheck_spec::{Suite, Sweep};
use std::sync::LazyLock;

/// All shipped sweeps, loaded once for all tests.
static SHIPPED: LazyLock<Vec<Sweep>> =
    LazyLock::new(|| Suite::builtin().unwrap_or_else(|errors| panic!("{errors}")).sweeps);

/// The shipped sweep with this id.
fn shipped(id: &str) -> &'static Sweep {
    SHIPPED.iter().find(|sweep| sweep.id == id).unwrap_or_else(|| panic!("no sweep {id}"))
}
