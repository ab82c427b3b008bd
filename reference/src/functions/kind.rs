//! The functions, grouped by their arguments and results. [`kind`] assigns a new function to a group; the
//! compiler then demands its formula for every dtype, and its derivative.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::Function;

/// A function and its group.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Unary(Unary),
    Binary(Binary),
    Comparison(Comparison),
    Logic(Logic),
    Not,
    Select,
}

/// One number to a number of the same dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unary {
    Negate,
    Abs,
    Sqrt,
    Exp,
    Log,
    Tanh,
}

/// Two numbers to a number of the same dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Maximum,
    Minimum,
    Power,
}

/// Two values to a bool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Two bools to a bool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Logic {
    And,
    Or,
}

/// The group of a function.
pub(crate) fn kind(function: Function) -> Kind {
    match function {
        Function::Add => Kind::Binary(Binary::Add),
        Function::Subtract => Kind::Binary(Binary::Subtract),
        Function::Multiply => Kind::Binary(Binary::Multiply),
        Function::Divide => Kind::Binary(Binary::Divide),
        Function::Maximum => Kind::Binary(Binary::Maximum),
        Function::Minimum => Kind::Binary(Binary::Minimum),
        Function::Power => Kind::Binary(Binary::Power),
        Function::Equal => Kind::Comparison(Comparison::Equal),
        Function::NotEqual => Kind::Comparison(Comparison::NotEqual),
        Function::Less => Kind::Comparison(Comparison::Less),
        Function::LessEqual => Kind::Comparison(Comparison::LessEqual),
        Function::Greater => Kind::Comparison(Comparison::Greater),
        Function::GreaterEqual => Kind::Comparison(Comparison::GreaterEqual),
        Function::LogicalAnd => Kind::Logic(Logic::And),
        Function::LogicalOr => Kind::Logic(Logic::Or),
        Function::Negate => Kind::Unary(Unary::Negate),
        Function::Abs => Kind::Unary(Unary::Abs),
        Function::Sqrt => Kind::Unary(Unary::Sqrt),
        Function::Exp => Kind::Unary(Unary::Exp),
        Function::Log => Kind::Unary(Unary::Log),
        Function::Tanh => Kind::Unary(Unary::Tanh),
        Function::LogicalNot => Kind::Not,
        Function::Select => Kind::Select,
    }
}
