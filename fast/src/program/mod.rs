//! From an expression to a linear program: a graph of values without duplicates, the adjoint of a gradient,
//! and a schedule of steps over registers.

mod adjoint;
mod banks;
mod bounds;
mod chain;
mod condition;
mod graph;
mod nested;
mod rows;
mod schedule;
mod steps;

pub(crate) use adjoint::gradient;
pub(crate) use banks::{bank_of, bytes, half};
pub(crate) use bounds::compared;
pub(crate) use chain::{chain_op, swapped};
pub(crate) use graph::{Graph, Slope, ValueKind, is_comparison};
pub(crate) use rows::shortest_row;
pub(crate) use schedule::{Goal, Root, kernel, schedule};
pub(crate) use steps::{Half, Onto, Program, Source, Step, Target, Work};
