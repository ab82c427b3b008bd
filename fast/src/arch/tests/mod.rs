//! Compares the kernels of every level that the machine has with plain arithmetic, bit by bit, and checks
//! that they refuse arguments that are too short. Levels that the machine lacks are printed, not skipped
//! silently.

/// Different numbers of a type, from bytes of another one. None is negative or a NaN as a half or a float,
/// since NaNs may differ in their bits.
macro_rules! numbers {
    ($count:expr, $type:ty, $byte:ty) => {
        (0..$count).map(|at: usize| ((at * 37 + 11) % 251) as $byte as $type).collect::<Vec<$type>>()
    };
}

mod blocks;
mod bounds;
mod chains;
mod choices;
mod frequent;
mod functions;
mod grids;
mod halves;
mod integers;
mod lengths;
mod moves;
mod nested;
mod pairs;
mod rows;

use super::*;
use crate::Level;
use broadcheck_spec::Function;

/// The functions of two arguments that have kernels.
const OF_TWO: [Function; 14] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Divide,
    Function::Maximum,
    Function::Minimum,
    Function::Equal,
    Function::NotEqual,
    Function::Less,
    Function::LessEqual,
    Function::Greater,
    Function::GreaterEqual,
    Function::LogicalAnd,
    Function::LogicalOr,
];

fn tables() -> Vec<&'static Table> {
    for level in Level::ALL.into_iter().filter(|level| !level.is_available()) {
        println!("skipped: this machine has no {level}");
    }
    Level::available().map(table).collect()
}

/// Special and random numbers.
fn floats() -> Vec<f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut state = 1u64;
    let drawn = (0..600).map(|at| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if at % 3 == 0 { special[at % special.len()] } else { f64::from_bits(state) }
    });
    drawn.collect()
}

fn same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
}

#[test]
fn a_table_has_the_requested_level() {
    let levels: Vec<Level> = tables().iter().map(|table| table.level).collect();
    assert_eq!(levels, Level::available().collect::<Vec<_>>());
}

/// Copies with non-temporal stores where the level has them.
fn copy_out<T>(copy: CopyOut<T>, from: &[T], to: &mut [T]) {
    fenced(true, |stores| copy.run(stores.expect("they are wanted"), from, to));
}

/// The larger of two numbers: +0 is larger than -0, and a NaN is the result.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_positive() { a } else { b }
    } else if a > b {
        a
    } else {
        b
    }
}
