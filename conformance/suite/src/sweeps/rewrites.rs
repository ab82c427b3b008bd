//! Rewrites: expressions that an optimiser may replace by others that are equal for real numbers, but not for
//! floats or for integers that wrap.
//!
//! `x - x` is not 0 for an infinity, `-(a - b)` is not `b - a` for equal numbers, `not (a < b)` is not
//! `a >= b` for NaN, `(a + b) > a` does not hold if the sum wraps. A row is an expression. It is asked for
//! every dtype of its family, for all pairs of special values, in several arrangements:
//!
//! - `dense`: every operand is a vector of all pairs;
//! - `stretched-a`: the operand a has the shape (k,1) and one special value per row;
//! - `scalar-a-0`: the operand a is a scalar, the first of the values that are often treated as constants;
//! - `scalars-0`: every operand is a scalar.
//!
//! The families of `constants` are one function of a vector and one value: a scalar, a vector of length 1, or
//! a vector of equal elements. The programs of `programs` keep up to 40 values alive at a time.
//!
//! The expected values are computed one by one (see `arithmetic.rs`). Two things are left out because systems
//! are free there: subnormal numbers, also as intermediate values, and extremes of zeros of both signs (V-3).

use super::arithmetic::{evaluate, number, wrapped};
use broadcheck_spec::{
    Case, DType, Data, Expectation, ExpectedResult, Expression, Function, Node, Operand, Operation, Origin,
    Request, RuleSet, Rules, Scalar, Sweep, Tensor,
};

const FLOATS: &[DType] = &[DType::F64, DType::F32];
const HALVES: &[DType] = &[DType::F16, DType::Bf16];
const INTEGERS: &[DType] =
    &[DType::I64, DType::I32, DType::I16, DType::I8, DType::U64, DType::U32, DType::U16, DType::U8];
/// Some of each kind and width: a rewrite seldom depends on the width of an integer.
const SOME_INTEGERS: &[DType] = &[DType::I32, DType::I8, DType::U64, DType::U16];
const BOOL: &[DType] = &[DType::Bool];

/// The rows of one sweep.
pub(super) struct Family {
    /// The sweep's name.
    pub(super) name: &'static str,
    dtypes: &'static [DType],
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Lists of expressions.
    Identities(&'static [&'static [&'static str]]),
    /// Functions of a vector and a constant.
    Constants(&'static [Function]),
    /// Programs with many values alive.
    Programs,
}

/// The families. All are of the rule set `numpy`: a rewrite depends on the expression and not on how operands
/// are aligned.
pub(super) static FAMILIES: &[Family] = &[
    Family {
        name: "numpy-rewrites-arithmetic-floats",
        dtypes: FLOATS,
        kind: Kind::Identities(&[ARITHMETIC, QUOTIENTS]),
    },
    Family {
        name: "numpy-rewrites-arithmetic-halves",
        dtypes: HALVES,
        kind: Kind::Identities(&[ARITHMETIC, QUOTIENTS]),
    },
    Family {
        name: "numpy-rewrites-arithmetic-integers",
        dtypes: SOME_INTEGERS,
        kind: Kind::Identities(&[ARITHMETIC]),
    },
    Family { name: "numpy-rewrites-choices-floats", dtypes: FLOATS, kind: Kind::Identities(&[CHOICES]) },
    Family { name: "numpy-rewrites-choices-halves", dtypes: HALVES, kind: Kind::Identities(&[CHOICES]) },
    Family {
        name: "numpy-rewrites-choices-integers",
        dtypes: SOME_INTEGERS,
        kind: Kind::Identities(&[CHOICES]),
    },
    Family { name: "numpy-rewrites-bools", dtypes: BOOL, kind: Kind::Identities(&[TRUTHS]) },
    Family { name: "numpy-rewrites-inexact-floats", dtypes: FLOATS, kind: Kind::Identities(&[INEXACT]) },
    Family { name: "numpy-rewrites-inexact-halves", dtypes: HALVES, kind: Kind::Identities(&[INEXACT]) },
    Family { name: "numpy-constants-floats", dtypes: FLOATS, kind: Kind::Constants(OF_FLOATS) },
    Family { name: "numpy-constants-halves", dtypes: HALVES, kind: Kind::Constants(OF_FLOATS) },
    Family { name: "numpy-constants-integers", dtypes: INTEGERS, kind: Kind::Constants(OF_INTEGERS) },
    Family { name: "numpy-constants-bools", dtypes: BOOL, kind: Kind::Constants(OF_BOOLS) },
    Family { name: "numpy-constants-powers", dtypes: FLOATS, kind: Kind::Constants(&[Function::Power]) },
    Family { name: "numpy-programs-floats", dtypes: FLOATS, kind: Kind::Programs },
    Family { name: "numpy-programs-halves", dtypes: HALVES, kind: Kind::Programs },
    Family { name: "numpy-programs-integers", dtypes: SOME_INTEGERS, kind: Kind::Programs },
];

const OF_FLOATS: &[Function] = &[
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
];

const OF_INTEGERS: &[Function] = &[
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Maximum,
    Function::Minimum,
    Function::Equal,
    Function::NotEqual,
    Function::Less,
    Function::LessEqual,
    Function::Greater,
    Function::GreaterEqual,
];

const OF_BOOLS: &[Function] =
    &[Function::LogicalAnd, Function::LogicalOr, Function::Equal, Function::NotEqual];

/// Expressions over the numbers a to d.
const ARITHMETIC: &[&str] = &[
    // Cancellation.
    "[subtract, a, a]",
    "[add, a, [negate, a]]",
    "[add, [negate, a], a]",
    "[add, [subtract, a, a], b]",
    "[multiply, [subtract, a, a], b]",
    "[subtract, b, [subtract, a, a]]",
    "[subtract, [add, a, b], b]",
    "[subtract, [add, a, b], a]",
    "[add, [subtract, a, b], b]",
    "[subtract, a, [subtract, a, b]]",
    "[add, a, [subtract, b, a]]",
    // Signs.
    "[negate, [negate, a]]",
    "[negate, [subtract, a, b]]",
    "[negate, [add, a, b]]",
    "[negate, [multiply, a, b]]",
    "[add, [negate, a], b]",
    "[subtract, [negate, a], b]",
    "[subtract, a, [negate, b]]",
    "[add, a, [negate, b]]",
    "[multiply, [negate, a], b]",
    "[multiply, a, [negate, b]]",
    "[multiply, [negate, a], [negate, b]]",
    "[abs, [abs, a]]",
    "[abs, [negate, a]]",
    "[negate, [abs, a]]",
    "[abs, [subtract, a, b]]",
    "[abs, [add, a, b]]",
    "[add, [abs, a], [abs, b]]",
    "[abs, [multiply, a, b]]",
    "[multiply, [abs, a], [abs, b]]",
    "[abs, [multiply, a, a]]",
    "[subtract, [abs, a], a]",
    // Common subexpressions, in both orders.
    "[subtract, a, b]",
    "[subtract, b, a]",
    "[add, [subtract, a, b], [subtract, b, a]]",
    "[subtract, [subtract, a, b], [subtract, b, a]]",
    "[multiply, [subtract, a, b], [subtract, b, a]]",
    "[subtract, [add, a, b], [add, b, a]]",
    "[subtract, [multiply, a, b], [multiply, b, a]]",
    // Products of sums.
    "[multiply, a, a]",
    "[add, a, a]",
    "[add, [add, a, a], a]",
    "[add, [add, a, a], [add, a, a]]",
    "[multiply, [multiply, a, a], [multiply, a, a]]",
    "[multiply, [multiply, a, a], a]",
    "[add, [multiply, a, b], [multiply, a, c]]",
    "[subtract, [multiply, a, b], [multiply, a, c]]",
    "[multiply, a, [add, b, c]]",
    "[multiply, a, [subtract, b, c]]",
    "[add, [multiply, a, b], a]",
    "[add, [multiply, a, b], c]",
    "[add, c, [multiply, a, b]]",
    "[subtract, [multiply, a, b], c]",
    "[subtract, c, [multiply, a, b]]",
    "[multiply, [add, a, b], [subtract, a, b]]",
    "[subtract, [multiply, a, a], [multiply, b, b]]",
    "[multiply, [add, a, b], [add, a, b]]",
    "[multiply, [subtract, a, b], [subtract, a, b]]",
    // Association.
    "[add, [add, a, b], c]",
    "[add, a, [add, b, c]]",
    "[add, [add, a, c], b]",
    "[subtract, [subtract, a, b], c]",
    "[subtract, a, [add, b, c]]",
    "[subtract, a, [subtract, b, c]]",
    "[add, [subtract, a, b], c]",
    "[subtract, [add, a, b], c]",
    "[multiply, [multiply, a, b], c]",
    "[multiply, a, [multiply, b, c]]",
    "[multiply, [multiply, a, c], b]",
    "[add, [add, [add, a, b], c], d]",
    "[add, [add, a, b], [add, c, d]]",
    "[add, a, [add, b, [add, c, d]]]",
    "[multiply, [multiply, [multiply, a, b], c], d]",
    "[multiply, [multiply, a, b], [multiply, c, d]]",
    "[multiply, a, [multiply, b, [multiply, c, d]]]",
];

/// Expressions that only floats have.
const QUOTIENTS: &[&str] = &[
    "[divide, a, a]",
    "[divide, a, b]",
    "[divide, b, a]",
    "[divide, [divide, a, b], c]",
    "[divide, a, [divide, b, c]]",
    "[divide, a, [multiply, b, c]]",
    "[divide, a, [divide, a, b]]",
    "[multiply, [divide, a, b], b]",
    "[divide, [multiply, a, b], b]",
    "[divide, [multiply, a, b], a]",
    "[multiply, a, [divide, b, c]]",
    "[divide, [multiply, a, b], c]",
    "[divide, [add, a, b], c]",
    "[divide, [subtract, a, b], c]",
    "[add, [divide, a, c], [divide, b, c]]",
    "[multiply, [divide, a, b], [divide, b, a]]",
    "[add, [divide, a, b], [divide, b, a]]",
    "[subtract, [divide, a, b], [divide, b, a]]",
    "[divide, [divide, a, b], [divide, b, a]]",
    "[divide, [negate, a], [negate, b]]",
    "[divide, [negate, a], b]",
    "[divide, a, [negate, b]]",
    "[negate, [divide, a, b]]",
    "[abs, [divide, a, b]]",
    "[divide, [abs, a], [abs, b]]",
    "[divide, b, [subtract, a, a]]",
    "[divide, [divide, a, a], b]",
    "[multiply, a, [divide, [divide, b, b], b]]",
    "[multiply, c, [divide, a, a]]",
    "[divide, [subtract, a, b], [subtract, b, a]]",
    "[sqrt, [multiply, a, a]]",
    "[multiply, [sqrt, a], [sqrt, a]]",
    "[multiply, [sqrt, a], a]",
    "[sqrt, [multiply, a, b]]",
    "[multiply, [sqrt, a], [sqrt, b]]",
    "[divide, a, [sqrt, a]]",
    "[divide, a, [sqrt, b]]",
    "[divide, [sqrt, a], [sqrt, b]]",
    "[sqrt, [divide, a, b]]",
    "[sqrt, [abs, a]]",
    "[abs, [sqrt, a]]",
    "[negate, [sqrt, a]]",
    "[sqrt, [sqrt, a]]",
    "[sqrt, [add, [multiply, a, a], [multiply, b, b]]]",
];

/// Extremes, comparisons and selections: a to c are numbers, p and q are bools.
const CHOICES: &[&str] = &[
    "[maximum, a, a]",
    "[minimum, a, a]",
    "[maximum, a, b]",
    "[maximum, b, a]",
    "[minimum, a, b]",
    "[minimum, b, a]",
    "[maximum, a, [negate, a]]",
    "[minimum, a, [negate, a]]",
    "[maximum, [abs, a], a]",
    "[maximum, a, [minimum, a, b]]",
    "[minimum, a, [maximum, a, b]]",
    "[maximum, [minimum, a, b], b]",
    "[minimum, [maximum, a, b], b]",
    "[maximum, [maximum, a, b], c]",
    "[maximum, a, [maximum, b, c]]",
    "[minimum, [maximum, a, b], c]",
    "[maximum, [minimum, a, b], c]",
    "[maximum, [minimum, a, b], [maximum, a, b]]",
    "[minimum, [minimum, a, b], [maximum, a, b]]",
    "[add, [minimum, a, b], [maximum, a, b]]",
    "[multiply, [minimum, a, b], [maximum, a, b]]",
    "[subtract, [maximum, a, b], [minimum, a, b]]",
    "[subtract, [maximum, a, b], [maximum, b, a]]",
    "[negate, [maximum, a, b]]",
    "[negate, [maximum, [negate, a], [negate, b]]]",
    "[negate, [minimum, [negate, a], [negate, b]]]",
    "[maximum, [negate, a], [negate, b]]",
    "[add, [maximum, a, b], c]",
    "[maximum, [add, a, c], [add, b, c]]",
    "[multiply, [maximum, a, b], c]",
    "[maximum, [multiply, a, c], [multiply, b, c]]",
    // Extremes written as selections.
    "[select, [less, a, b], a, b]",
    "[select, [less, a, b], b, a]",
    "[select, [less_equal, a, b], a, b]",
    "[select, [less_equal, a, b], b, a]",
    "[select, [greater, a, b], a, b]",
    "[select, [greater, a, b], b, a]",
    "[select, [greater_equal, a, b], a, b]",
    "[select, [greater_equal, a, b], b, a]",
    "[select, [equal, a, b], a, b]",
    "[select, [equal, a, b], b, a]",
    "[select, [not_equal, a, b], a, b]",
    "[select, [not_equal, a, b], b, a]",
    "[select, [not_equal, a, a], b, a]",
    "[select, [equal, a, a], a, b]",
    "[select, [less, a, [subtract, a, a]], [negate, a], a]",
    "[select, [less, a, b], [negate, a], a]",
    "[select, [equal, a, b], c, [maximum, a, b]]",
    // Comparisons.
    "[equal, a, a]",
    "[not_equal, a, a]",
    "[less, a, a]",
    "[less_equal, a, a]",
    "[greater, a, a]",
    "[greater_equal, a, a]",
    "[less, a, b]",
    "[less, b, a]",
    "[greater, a, b]",
    "[equal, a, b]",
    "[logical_not, [equal, a, b]]",
    "[logical_not, [not_equal, a, b]]",
    "[logical_not, [less, a, b]]",
    "[logical_not, [less_equal, a, b]]",
    "[logical_not, [greater, a, b]]",
    "[logical_not, [greater_equal, a, b]]",
    "[greater, [subtract, a, b], [subtract, a, a]]",
    "[less, [subtract, a, b], [subtract, c, c]]",
    "[equal, [subtract, a, b], [subtract, c, c]]",
    "[equal, [subtract, a, b], [subtract, b, a]]",
    "[greater, [add, a, b], a]",
    "[less, [add, a, b], b]",
    "[less_equal, [subtract, a, b], a]",
    "[less, [negate, a], [negate, b]]",
    "[less, [add, a, c], [add, b, c]]",
    "[less, [multiply, a, c], [multiply, b, c]]",
    "[less, [subtract, a, c], b]",
    "[equal, [multiply, a, a], [multiply, b, b]]",
    "[equal, [abs, a], a]",
    "[logical_or, [less, a, b], [equal, a, b]]",
    "[logical_or, [less, a, b], [greater, a, b]]",
    "[logical_or, [less, a, b], [greater_equal, a, b]]",
    "[logical_and, [less_equal, a, b], [greater_equal, a, b]]",
    "[logical_and, [less, a, b], [less, b, a]]",
    "[logical_and, [less, a, b], [less, b, c]]",
    "[logical_not, [logical_and, [less, a, b], [less, b, c]]]",
    "[logical_and, [less, a, b], [less, a, c]]",
    "[logical_or, [less, a, b], [less, a, c]]",
    "[equal, [less, a, b], [greater, b, a]]",
    "[not_equal, [less, a, b], [greater_equal, a, b]]",
    "[equal, [less, a, b], [less, b, a]]",
    // Selections.
    "[select, p, a, a]",
    "[select, p, a, b]",
    "[select, p, b, a]",
    "[select, [logical_not, p], a, b]",
    "[select, p, [select, p, a, b], c]",
    "[select, p, a, [select, p, b, c]]",
    "[select, p, [select, q, a, b], b]",
    "[select, p, [select, q, a, b], [select, q, b, c]]",
    "[select, [logical_and, p, q], a, b]",
    "[select, [logical_or, p, q], a, b]",
    "[subtract, [select, p, a, b], [select, p, b, a]]",
    "[select, p, [add, a, b], [add, a, c]]",
    "[add, a, [select, p, b, c]]",
    "[multiply, [select, p, a, b], c]",
    "[select, p, [multiply, a, c], [multiply, b, c]]",
    "[select, p, [negate, a], [negate, b]]",
    "[maximum, [select, p, a, b], [select, p, b, a]]",
    "[equal, [select, p, a, b], a]",
];

/// Expressions over the bools p to r.
const TRUTHS: &[&str] = &[
    "[logical_and, p, p]",
    "[logical_or, p, p]",
    "[equal, p, p]",
    "[not_equal, p, p]",
    "[logical_and, p, [logical_not, p]]",
    "[logical_or, p, [logical_not, p]]",
    "[logical_not, [logical_not, p]]",
    "[logical_not, [logical_and, p, q]]",
    "[logical_not, [logical_or, p, q]]",
    "[logical_and, [logical_not, p], [logical_not, q]]",
    "[logical_or, [logical_not, p], [logical_not, q]]",
    "[logical_and, p, [logical_not, q]]",
    "[logical_or, p, [logical_not, q]]",
    "[logical_or, p, [logical_and, p, q]]",
    "[logical_and, p, [logical_or, p, q]]",
    "[logical_or, p, [logical_and, [logical_not, p], q]]",
    "[logical_or, [logical_and, p, q], [logical_and, p, r]]",
    "[logical_and, p, [logical_or, q, r]]",
    "[logical_or, p, [logical_and, q, r]]",
    "[logical_and, [logical_and, p, q], r]",
    "[logical_or, [logical_or, p, q], r]",
    "[equal, p, q]",
    "[not_equal, p, q]",
    "[logical_not, [equal, p, q]]",
    "[logical_not, [not_equal, p, q]]",
    "[equal, p, [logical_not, q]]",
    "[equal, [not_equal, p, q], r]",
    "[not_equal, [not_equal, p, q], q]",
    "[equal, [equal, p, q], r]",
    "[select, p, q, r]",
    "[select, p, q, p]",
    "[select, p, p, q]",
    "[select, p, q, q]",
    "[select, [logical_not, p], q, r]",
    "[select, p, [logical_not, q], q]",
    "[select, p, [logical_not, p], q]",
    "[logical_or, [logical_and, p, q], [logical_and, [logical_not, p], r]]",
];

/// Expressions with a function that is allowed an error (V-4).
const INEXACT: &[&str] = &[
    "[exp, [log, a]]",
    "[log, [exp, a]]",
    "[power, a, b]",
    "[power, b, a]",
    "[power, a, a]",
    "[multiply, [power, a, b], [power, b, a]]",
    "[log, [multiply, a, b]]",
    "[add, [log, a], [log, b]]",
    "[log, [divide, a, b]]",
    "[subtract, [log, a], [log, b]]",
    "[exp, [add, a, b]]",
    "[multiply, [exp, a], [exp, b]]",
    "[divide, [exp, a], [exp, b]]",
    "[divide, [exp, a], [exp, a]]",
    "[subtract, [exp, a], [exp, a]]",
    "[exp, [negate, a]]",
    "[exp, [subtract, a, b]]",
    "[exp, [multiply, a, b]]",
    "[power, [power, a, b], c]",
    "[power, a, [multiply, b, c]]",
    "[power, [multiply, a, b], c]",
    "[multiply, [power, a, b], [power, a, c]]",
    "[power, a, [add, b, c]]",
    "[power, [negate, a], b]",
    "[power, [abs, a], b]",
    "[power, a, [negate, b]]",
    "[power, [sqrt, a], b]",
    "[sqrt, [power, a, b]]",
    "[log, [power, a, b]]",
    "[power, [exp, a], b]",
    "[multiply, b, [log, a]]",
    "[sqrt, [exp, a]]",
    "[log, [sqrt, a]]",
    "[log, [abs, a]]",
    "[log, [multiply, a, a]]",
    "[log, [negate, a]]",
    "[tanh, [negate, a]]",
    "[negate, [tanh, a]]",
    "[tanh, [abs, a]]",
    "[subtract, [tanh, a], [tanh, a]]",
];

/// As many elements as every vector has at least; more for dtypes of one byte.
fn least_length(dtype: DType) -> usize {
    match dtype {
        DType::I8 | DType::U8 | DType::Bool => 70,
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::I64 | DType::I32 | DType::I16 => 35,
        DType::U64 | DType::U32 | DType::U16 => 35,
    }
}

/// As many elements as a row of a matrix has at least: a vector of 16, and one more.
const LEAST_ROW: usize = 17;

/// The special values of a dtype.
fn values(dtype: DType) -> Vec<Scalar> {
    let floats = |digits: i32, large: f64, most: f64| {
        // The last is half an ULP of 1: added to 1, it is lost.
        let tiny = 0.5f64.powi(digits);
        let finite = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 0.1, tiny, large, -large, most];
        let all = finite.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
        all.map(|value| number(dtype, value)).collect()
    };
    let signed = |bits: u32| {
        let end = 1i128 << (bits - 1);
        let root = 1i128 << (bits / 2);
        [0, 1, -1, 2, -3, 7, root, -root, end - 1, -end, 1 - end].map(|value| wrapped(dtype, value)).to_vec()
    };
    let unsigned = |bits: u32| {
        let end = 1i128 << bits;
        let root = 1i128 << (bits / 2);
        [0, 1, 2, 3, 7, root, end / 2, end / 2 - 1, end - 2, end - 3, end - 1]
            .map(|value| wrapped(dtype, value))
            .to_vec()
    };
    match dtype {
        DType::F64 => floats(53, 2f64.powi(1000), f64::MAX),
        DType::F32 => floats(24, 2f64.powi(100), f32::MAX.into()),
        DType::F16 => floats(11, 2f64.powi(10), 65_504.0),
        DType::Bf16 => floats(8, 2f64.powi(100), broadcheck_spec::half::bf16::MAX.into()),
        DType::I64 => signed(64),
        DType::I32 => signed(32),
        DType::I16 => signed(16),
        DType::I8 => signed(8),
        DType::U64 => unsigned(64),
        DType::U32 => unsigned(32),
        DType::U16 => unsigned(16),
        DType::U8 => unsigned(8),
        DType::Bool => [false, true].map(Scalar::Bool).to_vec(),
    }
}

/// The places in [`values`] of those that an optimiser may treat as constants: 0, -0, 1 and infinity; 0, 1
/// and the largest or the least; both bools.
fn constants(dtype: DType) -> &'static [usize] {
    match dtype {
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => &[0, 1, 2, 12],
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => &[0, 1, 2, 9],
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => &[0, 1, 2, 10],
        DType::Bool => &[0, 1],
    }
}

/// The number of requests of a row in which all operands are scalars.
const SCALARS: usize = 3;

impl Family {
    /// The family of the sweep with this name.
    pub(super) fn named(name: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.name == name)
    }

    /// The rule set.
    pub(super) fn rules(&self) -> RuleSet {
        RuleSet::Numpy
    }

    pub(super) fn count(&self) -> u128 {
        let of_dtype = |&dtype: &DType| -> usize {
            match self.kind {
                Kind::Identities(_) => self.rows().iter().map(|row| row.count(dtype)).sum(),
                Kind::Constants(functions) => functions.len() * values(dtype).len() * 2 * FORMS.len(),
                Kind::Programs => LIVE.len() * SHAPES.len() * PLACES.len(),
            }
        };
        self.dtypes.iter().map(of_dtype).sum::<usize>() as u128
    }

    pub(super) fn cases(&self, sweep: &Sweep) -> Vec<Case> {
        let rows = self.rows();
        let of_dtype = |&dtype: &DType| -> Vec<Asked> {
            match self.kind {
                Kind::Identities(_) => rows.iter().flat_map(|row| row.asked(dtype)).collect(),
                Kind::Constants(functions) => {
                    functions.iter().flat_map(|&function| of_constants(function, dtype)).collect()
                }
                Kind::Programs => programs(dtype),
            }
        };
        self.dtypes.iter().flat_map(of_dtype).map(|asked| asked.case(sweep)).collect()
    }

    fn rows(&self) -> Vec<Row> {
        match self.kind {
            Kind::Identities(lists) => lists.iter().copied().flatten().map(|text| Row::new(text)).collect(),
            Kind::Constants(_) | Kind::Programs => Vec::new(),
        }
    }
}

/// A request with its result.
struct Asked {
    name: String,
    expression: Expression,
    operands: Vec<Operand>,
    result: Tensor,
}

impl Asked {
    fn case(self, sweep: &Sweep) -> Case {
        let operation = Operation::Elementwise { expression: self.expression };
        Case {
            id: format!("{}/{}", sweep.id, self.name),
            title: format!("{} Here: {}.", sweep.title, self.name),
            clause: sweep.clause.clone(),
            convention: None,
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: Request::new(Rules::Numpy, operation, self.operands).expect("a well-formed request"),
            expectation: Expectation::Result(ExpectedResult::from(self.result)),
            note: None,
            location: sweep.location.clone(),
        }
    }
}

/// An expression with the names of its operands, in alphabetical order.
struct Row {
    text: &'static str,
    expression: Expression,
    names: Vec<&'static str>,
}

/// A value for each operand, with the place of each in [`values`], and the result.
#[derive(Clone)]
struct Tuple {
    picks: Vec<usize>,
    operands: Vec<Scalar>,
    result: Scalar,
}

impl Row {
    fn new(text: &'static str) -> Row {
        let words = || text.split(['[', ']', ',', ' ']).filter(|word| !word.is_empty());
        let mut names: Vec<&str> = words().filter(|word| word.len() == 1).collect();
        names.sort_unstable();
        names.dedup();
        let spaced = text.replace('[', "[ ").replace(']', " ]").replace(',', " ");
        let expression = parsed(&mut spaced.split_whitespace(), &names);
        Row { text, expression, names }
    }

    /// `subtract-a-a`.
    fn name(&self) -> String {
        self.text.replace(['[', ']', ','], "").replace([' ', '_'], "-")
    }

    fn dtype_of(&self, operand: usize, dtype: DType) -> DType {
        if matches!(self.names[operand], "p" | "q" | "r") { DType::Bool } else { dtype }
    }

    fn count(&self, dtype: DType) -> usize {
        let operands = 0..self.names.len();
        let per_operand = |operand| 1 + constants(self.dtype_of(operand, dtype)).len();
        let parts: usize = if operands.len() > 1 { operands.map(per_operand).sum() } else { 0 };
        1 + parts + SCALARS
    }

    fn asked(&self, dtype: DType) -> Vec<Asked> {
        let tuples = self.tuples(dtype);
        let (name, least) = (self.name(), least_length(dtype));
        let asked = |what: String, rows: usize, tuples: &[&Tuple], at: &dyn Fn(usize) -> Form| {
            self.arranged(format!("{dtype}-{name}-{what}"), dtype, rows, tuples, at)
        };
        let all: Vec<&Tuple> = tuples.iter().cycle().take(tuples.len().max(least)).collect();
        let mut found = vec![asked("dense".into(), 1, &all, &|_| Form::Dense)];
        let operands = if self.names.len() > 1 { self.names.len() } else { 0 };
        for operand in 0..operands {
            let letter = self.names[operand];
            let of = self.dtype_of(operand, dtype);
            let of_pick = |pick| tuples.iter().filter(move |tuple| tuple.picks[operand] == pick);
            let widths = (0..values(of).len()).map(|pick| of_pick(pick).count());
            let width = widths.max().unwrap_or(0).max(LEAST_ROW);
            let row =
                |pick: usize, length: usize| -> Vec<&Tuple> { of_pick(pick).cycle().take(length).collect() };
            let rows: Vec<&Tuple> = (0..values(of).len()).flat_map(|pick| row(pick, width)).collect();
            found.push(asked(format!("stretched-{letter}"), rows.len() / width, &rows, &|place| {
                if place == operand { Form::Column } else { Form::Matrix }
            }));
            for (number, &pick) in constants(of).iter().enumerate() {
                found.push(asked(format!("scalar-{letter}-{number}"), 1, &row(pick, least), &|place| {
                    if place == operand { Form::Scalar } else { Form::Dense }
                }));
            }
        }
        for number in 0..SCALARS {
            // Spread over the tuples: 7 is not a factor of any number of values.
            let tuple = &tuples[(number * (tuples.len() / SCALARS).max(1) + 7 * number) % tuples.len()];
            found.push(asked(format!("scalars-{number}"), 0, &[tuple], &|_| Form::Scalar));
        }
        found
    }

    /// The request for these tuples, in this many rows; none at all for a scalar.
    fn arranged(
        &self,
        name: String,
        dtype: DType,
        rows: usize,
        tuples: &[&Tuple],
        form: &dyn Fn(usize) -> Form,
    ) -> Asked {
        let width = tuples.len() / rows.max(1);
        let operand = |place: usize| {
            let of = self.dtype_of(place, dtype);
            let all = tuples.iter().map(|tuple| tuple.operands[place]);
            let (shape, values): (Vec<usize>, Vec<Scalar>) = match form(place) {
                Form::Dense => (vec![width], all.collect()),
                Form::Matrix => (vec![rows, width], all.collect()),
                Form::Column => (vec![rows, 1], all.step_by(width.max(1)).collect()),
                Form::Scalar => (vec![], all.take(1).collect()),
            };
            Operand::dense(self.names[place], shape, buffer(of, values)).expect("one value per element")
        };
        let operands: Vec<Operand> = (0..self.names.len()).map(operand).collect();
        let results: Vec<Scalar> = tuples.iter().map(|tuple| tuple.result).collect();
        let shape = match (0..self.names.len()).map(form).find(|form| *form != Form::Scalar) {
            None => vec![],
            Some(Form::Dense | Form::Scalar) => vec![width],
            Some(Form::Matrix | Form::Column) => vec![rows, width],
        };
        let values = buffer(results[0].dtype(), results);
        let result = Tensor::new(shape, values).expect("one value per element");
        Asked { name, expression: self.expression.clone(), operands, result }
    }

    /// All pairs of values of the first two numbers, with values of the other operands such that each of them
    /// has every value beside every other; all values, if there is only one number.
    fn tuples(&self, dtype: DType) -> Vec<Tuple> {
        let numbers = values(dtype);
        let kinds: Vec<DType> = (0..self.names.len()).map(|place| self.dtype_of(place, dtype)).collect();
        let (first_bool, count) =
            (kinds.iter().take_while(|&&kind| kind != DType::Bool).count(), numbers.len());
        let bools = kinds.len() - first_bool;
        let pairs = match (first_bool, dtype) {
            (0, _) => 1 << bools,
            (1, _) => count << bools,
            _ => count * count,
        };
        let tuple = |pair: usize| {
            let (i, j) = (pair % count, pair / count);
            let pick = |place: usize| match place {
                _ if first_bool == 0 => pair >> place & 1,
                _ if place >= first_bool => ((i & j) ^ (i >> 1) ^ j) >> (place - first_bool) & 1,
                0 => i,
                1 => j,
                2 => (i + j) % count,
                _ => (i + 2 * j) % count,
            };
            let picks: Vec<usize> = (0..kinds.len()).map(pick).collect();
            let values = kinds.iter().zip(&picks).map(|(&kind, &pick)| {
                if kind == DType::Bool { Scalar::Bool(pick == 1) } else { numbers[pick] }
            });
            let operands: Vec<Scalar> = values.collect();
            let steps = evaluate(&self.expression, &operands);
            let result = *steps.last().expect("a root");
            is_certain(&self.expression, &steps).then_some(Tuple { picks, operands, result })
        };
        (0..pairs).filter_map(tuple).collect()
    }
}

/// The shape of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// (n).
    Dense,
    /// (k,n).
    Matrix,
    /// (k,1).
    Column,
    /// ().
    Scalar,
}

/// Whether no step is subnormal, and none is the maximum or minimum of zeros of both signs.
fn is_certain(expression: &Expression, steps: &[Scalar]) -> bool {
    let mixes_zeros = |node: &Node| match node {
        Node::Call(call) if matches!(call.function(), Function::Maximum | Function::Minimum) => {
            let [one, other] = [0, 1].map(|argument| steps[call.arguments()[argument]]);
            one.as_f64() == Some(0.0) && other.as_f64() == Some(0.0) && one != other
        }
        Node::Call(_) | Node::Operand(_) => false,
    };
    !steps.iter().any(|step| step.is_subnormal()) && !expression.nodes().iter().any(mixes_zeros)
}

fn buffer(dtype: DType, values: Vec<Scalar>) -> Data {
    Data::from_scalars(dtype, values).expect("values of the dtype")
}

/// An expression in the notation of case files, as words.
fn parsed<'a>(words: &mut impl Iterator<Item = &'a str>, names: &[&str]) -> Expression {
    let word = words.next().expect("a complete expression");
    if word != "[" {
        let place = names.iter().position(|name| *name == word).expect("an operand's name");
        return Expression::operand(place);
    }
    let function: Function = words.next().expect("a function").parse().expect("a function's name");
    let arguments: Vec<Expression> = (0..function.arity()).map(|_| parsed(words, names)).collect();
    assert_eq!(words.next(), Some("]"), "the end of {function}");
    call(function, arguments)
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("as many arguments as the function takes")
}

/// The forms of a constant, by name.
const FORMS: [&str; 3] = ["scalar", "one", "equal"];

/// A function of a vector of all special values and one of them, on either side.
fn of_constants(function: Function, dtype: DType) -> Vec<Asked> {
    let all = values(dtype);
    let mut found = Vec::new();
    for (number, &constant) in all.iter().enumerate() {
        for place in [0, 1] {
            let expression = call(function, [Expression::operand(place), Expression::operand(1 - place)]);
            let mut vector: Vec<Scalar> = Vec::new();
            let mut results = Vec::new();
            for &value in &all {
                let steps = evaluate(&expression, &[value, constant]);
                if is_certain(&expression, &steps) {
                    vector.push(value);
                    results.push(*steps.last().expect("a root"));
                }
            }
            let length = least_length(dtype);
            let repeated = |values: &[Scalar]| {
                buffer(values[0].dtype(), values.iter().copied().cycle().take(length).collect())
            };
            let result = Tensor::new([length], repeated(&results)).expect("one value per element");
            for form in FORMS {
                let (shape, count) = match form {
                    "scalar" => (vec![], 1),
                    "one" => (vec![1], 1),
                    _ => (vec![length], length),
                };
                let operand = |name: &str, shape: &[usize], values: Data| {
                    Operand::dense(name, shape, values).expect("one value per element")
                };
                let operands = vec![
                    operand("a", &[length], repeated(&vector)),
                    operand("k", &shape, buffer(dtype, vec![constant; count])),
                ];
                let side = if place == 0 { "right" } else { "left" };
                let name = format!("{dtype}-{}-{side}-{form}-{number}", function.name().replace('_', "-"));
                found.push(Asked { name, expression: expression.clone(), operands, result: result.clone() });
            }
        }
    }
    found
}

/// The numbers of operands of a program: around the numbers of registers of processors.
const LIVE: [usize; 8] = [7, 8, 15, 16, 17, 31, 33, 40];

/// The shapes of a program, by name.
const SHAPES: [&str; 4] = ["right", "left", "balanced", "twice"];

/// How the operands of a program are arranged, by name: all vectors, or every second one of length 1, or
/// every third a scalar.
const PLACES: [&str; 3] = ["vectors", "ones", "scalars"];

/// Programs that keep many values alive: `[f, x0, [g, x1, [f, x2, ...]]]` keeps every operand but the last
/// until the end, and a balanced tree the results of its left halves.
fn programs(dtype: DType) -> Vec<Asked> {
    let mut found = Vec::new();
    for live in LIVE {
        for shape in SHAPES {
            let expression = program(shape, live);
            for places in PLACES {
                let length = least_length(dtype);
                let count = |place: usize| match places {
                    "vectors" => length,
                    "ones" => {
                        if place % 2 == 1 {
                            1
                        } else {
                            length
                        }
                    }
                    _ => {
                        if place % 3 == 1 {
                            1
                        } else {
                            length
                        }
                    }
                };
                let value = |place: usize, j: usize| element(dtype, place, j.min(count(place) - 1));
                let operand = |place: usize| {
                    let values = (0..count(place)).map(|j| value(place, j)).collect();
                    let shape =
                        if places == "scalars" && count(place) == 1 { vec![] } else { vec![count(place)] };
                    Operand::dense(format!("x{place}"), shape, buffer(dtype, values))
                        .expect("one value per element")
                };
                let result = |j: usize| {
                    let operands: Vec<Scalar> = (0..live).map(|place| value(place, j)).collect();
                    *evaluate(&expression, &operands).last().expect("a root")
                };
                let result = Tensor::new([length], buffer(dtype, (0..length).map(result).collect()));
                found.push(Asked {
                    name: format!("{dtype}-{shape}-{live}-{places}"),
                    expression: expression.clone(),
                    operands: (0..live).map(operand).collect(),
                    result: result.expect("one value per element"),
                });
            }
        }
    }
    found
}

/// A number that depends on the operand and the position; for floats no integer, so that sums are rounded.
fn element(dtype: DType, operand: usize, j: usize) -> Scalar {
    let step = (operand * 37 + j * 11) % 61;
    let value = i32::try_from(step).expect("at most 60") - 30;
    number(dtype, if dtype.is_float() { f64::from(value) * 0.7 } else { f64::from(value) })
}

/// An expression over the operands 0 to `live` - 1.
fn program(shape: &str, live: usize) -> Expression {
    const FUNCTIONS: [Function; 4] =
        [Function::Subtract, Function::Add, Function::Maximum, Function::Subtract];
    let function = |place: usize| FUNCTIONS[place % FUNCTIONS.len()];
    let x = Expression::operand;
    match shape {
        "right" => {
            (0..live - 1).rev().fold(x(live - 1), |rest, place| call(function(place), [x(place), rest]))
        }
        "left" => (1..live).fold(x(0), |rest, place| call(function(place), [rest, x(place)])),
        "balanced" => {
            let mut level: Vec<Expression> = (0..live).map(x).collect();
            let mut number = 0;
            while level.len() > 1 {
                let pairs = level.chunks(2).map(|pair| match pair {
                    [left, right] => {
                        number += 1;
                        call(function(number), [left.clone(), right.clone()])
                    }
                    _ => pair[0].clone(),
                });
                level = pairs.collect();
            }
            level.swap_remove(0)
        }
        // Every operand is read again at the end, in the opposite order.
        _ => {
            let first = (1..live).fold(x(0), |rest, place| call(function(place), [rest, x(place)]));
            (0..live).rev().fold(first, |rest, place| call(Function::Subtract, [x(place), rest]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_written() {
        for family in FAMILIES {
            for row in family.rows() {
                assert_eq!(row.expression.display(&row.names), row.text);
            }
        }
    }

    #[test]
    fn a_row_by_hand() {
        let row = Row::new("[subtract, a, a]");
        let asked = row.asked(DType::F64);
        let Data::F64(values) = asked[0].result.values() else { panic!("f64") };
        // Of 0, -0, 1, -1, 2, -3, 0.5, 0.1, 2^-53, 2^1000, -2^1000 and the largest, 0; of the others, NaN.
        assert!(values[..12].iter().all(|value| value.to_bits() == 0));
        assert!(values[12..15].iter().all(|value| value.is_nan()));
        assert_eq!((asked[0].name.as_str(), values.len()), ("f64-subtract-a-a-dense", 35));
        assert_eq!(asked.len(), row.count(DType::F64));

        let row = Row::new("[greater, [add, a, b], a]");
        let asked = row.asked(DType::I8);
        let tuple = row.tuples(DType::I8).into_iter().find(|tuple| tuple.picks == [8, 1]).unwrap();
        // 127 + 1 = -128.
        assert_eq!(tuple.operands, [Scalar::I8(127), Scalar::I8(1)]);
        assert_eq!(tuple.result, Scalar::Bool(false));
        assert_eq!(asked[1].operands[0].shape().lengths(), [11, 1]);
        assert_eq!(asked[1].operands[1].shape().lengths(), [11, 17]);
    }

    #[test]
    fn extremes_of_both_zeros_and_subnormals_are_left_out() {
        let both = Row::new("[maximum, a, b]").tuples(DType::F16);
        assert_eq!(both.len(), 15 * 15 - 2);
        // 2^-11 squared, and times 0.1, twice; 0.1 squared is normal.
        let product = Row::new("[multiply, a, b]").tuples(DType::F16);
        assert_eq!(product.len(), 15 * 15 - 3);
    }

    #[test]
    fn programs_keep_their_values_alive() {
        assert_eq!(program("right", 3).display(&["a", "b", "c"]), "[subtract, a, [add, b, c]]");
        assert_eq!(program("left", 3).display(&["a", "b", "c"]), "[maximum, [add, a, b], c]");
        assert_eq!(program("balanced", 4).calls().count(), 3);
        assert!(LIVE.iter().all(|&live| 2 * live < broadcheck_spec::MAX_EXPRESSION_DEPTH));
    }
}
