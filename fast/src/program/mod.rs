//! From an expression to a linear program: a graph of values in which equal ones are one, the adjoint of a
//! gradient, and a schedule of steps over registers.

mod adjoint;
mod chain;
mod graph;
mod schedule;

pub(crate) use adjoint::gradient;
pub(crate) use graph::{Graph, Kind, is_comparison, is_slow};
pub(crate) use schedule::{Goal, Half, Narrow, Program, Root, Source, Step, Target, Work, bank_of, schedule};
