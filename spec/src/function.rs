//! The function table: names, arity, exactness. Each engine computes the functions itself.

use std::fmt;
use std::str::FromStr;

/// How much two correct implementations may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exactness {
    /// Every implementation computes the same bits (clauses V-1, V-2, V-3, V-5).
    Exact,
    /// They may differ by a few ULP (clause V-4).
    Ulp,
}

macro_rules! functions {
    ($($variant:ident $name:literal $arity:literal $exactness:ident $doc:literal;)*) => {
        /// A function of an expression.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Function { $(#[doc = $doc] $variant,)* }

        impl Function {
            /// Every function, in the order of the format reference.
            pub const ALL: &'static [Function] = &[$(Function::$variant,)*];

            /// The name in expressions.
            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// The number of arguments: 1, 2 or 3.
            pub fn arity(self) -> usize {
                match self { $(Function::$variant => $arity,)* }
            }

            /// Whether all implementations must agree bit for bit.
            pub fn exactness(self) -> Exactness {
                match self { $(Function::$variant => Exactness::$exactness,)* }
            }
        }
    };
}

functions! {
    Add "add" 2 Exact "a + b";
    Subtract "subtract" 2 Exact "a - b";
    Multiply "multiply" 2 Exact "a × b";
    Divide "divide" 2 Exact "a / b; floats only";
    Maximum "maximum" 2 Exact "The larger; NaN if either is NaN (clause V-3).";
    Minimum "minimum" 2 Exact "The smaller; NaN if either is NaN (clause V-3).";
    Power "power" 2 Ulp "a to the power of b, IEEE 754-2019 `pow`; floats only";
    Equal "equal" 2 Exact "a = b; returns bool";
    NotEqual "not_equal" 2 Exact "a ≠ b; returns bool";
    Less "less" 2 Exact "a < b; returns bool";
    LessEqual "less_equal" 2 Exact "a ≤ b; returns bool";
    Greater "greater" 2 Exact "a > b; returns bool";
    GreaterEqual "greater_equal" 2 Exact "a ≥ b; returns bool";
    LogicalAnd "logical_and" 2 Exact "Logical and; bool only";
    LogicalOr "logical_or" 2 Exact "Inclusive or; bool only";
    Negate "negate" 1 Exact "-a";
    Abs "abs" 1 Exact "The absolute value";
    Sqrt "sqrt" 1 Exact "The square root; floats only";
    Exp "exp" 1 Ulp "e to the power of a; floats only";
    Log "log" 1 Ulp "The natural logarithm; floats only";
    Tanh "tanh" 1 Ulp "The hyperbolic tangent; floats only";
    LogicalNot "logical_not" 1 Exact "Logical not; bool only";
    Select "select" 3 Exact "The second argument where the first, a bool, is true; otherwise the third";
}

impl Function {
    /// Whether the result is bool, whatever the arguments are.
    pub fn is_predicate(self) -> bool {
        match self {
            Function::Equal
            | Function::NotEqual
            | Function::Less
            | Function::LessEqual
            | Function::Greater
            | Function::GreaterEqual
            | Function::LogicalAnd
            | Function::LogicalOr
            | Function::LogicalNot => true,
            Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Maximum
            | Function::Minimum
            | Function::Power
            | Function::Negate
            | Function::Abs
            | Function::Sqrt
            | Function::Exp
            | Function::Log
            | Function::Tanh
            | Function::Select => false,
        }
    }

    /// The arguments that are values: all but the condition of `select`.
    pub fn values_of<T>(self, arguments: &[T]) -> &[T] {
        if self == Function::Select { &arguments[1..] } else { arguments }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction(pub String);

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Function::ALL.iter().map(|function| function.name()).collect();
        write!(f, "`{}` is not a function: expected one of {}", self.0, names.join(" "))
    }
}

impl std::error::Error for UnknownFunction {}

impl FromStr for Function {
    type Err = UnknownFunction;
    fn from_str(name: &str) -> Result<Self, UnknownFunction> {
        let found = Function::ALL.iter().find(|function| function.name() == name);
        found.copied().ok_or_else(|| UnknownFunction(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_the_table_is_complete() {
        assert_eq!(Function::ALL.len(), 23);
        for &function in Function::ALL {
            assert_eq!(function.name().parse(), Ok(function));
        }
        let inexact: Vec<_> =
            Function::ALL.iter().filter(|f| f.exactness() == Exactness::Ulp).map(|f| f.name()).collect();
        assert_eq!(inexact, ["power", "exp", "log", "tanh"]);
    }
}
