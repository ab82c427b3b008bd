//! Shared by the benches: competitors that take turns ([`race`]), arrays and plans ([`data`]), loops compiled
//! for a level ([`levels`]) with the engine's functions inlined ([`kernels`]), handwritten loops for one
//! shape ([`by_hand`]) and for one broadcasting pattern ([`by_pattern`]), gradients ([`gradients`]) with
//! loops for them ([`slopes`]), the limits of the machine's memory ([`limits`]), and the resulting tables
//! ([`results`]) and pictures ([`picture`]).
#![allow(dead_code, unused_imports, reason = "each bench uses only a part")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]

pub(crate) mod by_hand;
pub(crate) mod by_pattern;
pub(crate) mod data;
pub(crate) mod elements;
pub(crate) mod gradients;
pub(crate) mod kernels;
pub(crate) mod levels;
pub(crate) mod limits;
pub(crate) mod picture;
pub(crate) mod race;
pub(crate) mod results;
pub(crate) mod slopes;

pub(crate) use data::{Arrays, Job, Real, call, elementwise, plan_of, sum_of, x};
pub(crate) use levels::At;
pub(crate) use race::{Race, is_quick, quantile, race};
pub(crate) use results::{Results, Table, goal_at_least, goal_at_most};

/// Limits the engine to one thread, the current one, whose CPU time is measured.
pub(crate) fn single_thread() {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
}
