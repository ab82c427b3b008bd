//! The catalogue: what is wrong with each fault, and which system had it. One file per class or two.

// A macro wraps each fault in a closure.
#![allow(
    clippy::redundant_closure_call,
    clippy::unnecessary_lazy_evaluations,
    reason = "the body of a fault is written as an expression or with `?`, and the macro does not know which"
)]

mod alignment;
mod axis;
mod blocks;
mod collapse;
mod cotangent;
mod direction;
mod dtypes;
mod flags;
mod given;
mod gradient;
mod in_dim;
mod inexpressible;
mod infer;
mod into;
mod kernels;
mod leading;
mod lengths;
mod many;
mod nary;
mod order;
mod repeat;
mod rewrites;
mod signature;
mod sizes;
mod state;
mod strides;
mod sums;
mod survivors;
mod values;
mod views;

pub use given::{GIVEN_FAULTS, GivenFault};
pub use inexpressible::{INEXPRESSIBLE, Inexpressible};
pub use survivors::{Escape, SURVIVORS, Survivor};

use super::engine::Decisions;
use super::{Class, Fault, Report};
use std::sync::LazyLock;

/// Every fault, class by class.
pub static CATALOGUE: LazyLock<Vec<&'static Fault>> = LazyLock::new(|| {
    let classes: [&'static [Fault]; 31] = [
        lengths::FAULTS,
        alignment::FAULTS,
        axis::FAULTS,
        in_dim::FAULTS,
        order::FAULTS,
        direction::FAULTS,
        nary::FAULTS,
        strides::FAULTS,
        collapse::FAULTS,
        blocks::FAULTS,
        gradient::FAULTS,
        cotangent::FAULTS,
        flags::FAULTS,
        dtypes::FAULTS,
        values::FAULTS,
        sizes::FAULTS,
        rewrites::arithmetic::FAULTS,
        rewrites::choices::FAULTS,
        rewrites::terms::FAULTS,
        rewrites::programs::FAULTS,
        kernels::instructions::FAULTS,
        kernels::loops::FAULTS,
        views::FAULTS,
        state::FAULTS,
        signature::FAULTS,
        many::FAULTS,
        sums::FAULTS,
        into::FAULTS,
        infer::FAULTS,
        leading::FAULTS,
        repeat::FAULTS,
    ];
    classes.into_iter().flatten().collect()
});

const fn report(system: &'static str, url: &'static str) -> Report {
    Report { system, url }
}

/// A fault that nobody has reported.
const fn invented(id: &'static str, class: Class, title: &'static str, plant: fn(&mut Decisions)) -> Fault {
    Fault { id, class, title, reports: &[], plant }
}
