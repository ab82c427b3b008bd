//! The clauses of the specification as data: what cases may cite, and which kinds of case each clause needs.
//!
//! The text of the clauses is in `spec/semantics`; the tests compare its headings with this list.

/// A clause of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The id that cases cite: `XLA-3`.
    pub id: &'static str,
    /// A summary of the rule: the clause's heading.
    pub heading: &'static str,
    /// Whether an accepted request can demonstrate the clause. If so, the suite must contain such a case.
    pub accepts: bool,
    /// Whether a refused request can demonstrate the clause. If so, the suite must contain such a case.
    pub refuses: bool,
}

const fn both(id: &'static str, heading: &'static str) -> Clause {
    Clause { id, heading, accepts: true, refuses: true }
}

const fn accepts(id: &'static str, heading: &'static str) -> Clause {
    Clause { id, heading, accepts: true, refuses: false }
}

const fn refuses(id: &'static str, heading: &'static str) -> Clause {
    Clause { id, heading, accepts: false, refuses: true }
}

/// Every clause, in the order of the pages in [`SEMANTICS`](crate::SEMANTICS).
pub const ALL: &[Clause] = &[
    both("G-1", "Lengths are not negative, and sizes are checked by arithmetic"),
    both("G-2", "Two lengths are compatible when equal or when one of them is 1"),
    both("G-3", "The operands of one function have one dtype"),
    refuses("G-4", "Refusals depend on shapes, attributes and dtypes alone"),
    both("G-5", "How many operands a rule set takes, and that all of them count"),
    refuses("G-6", "What a refusal says, and which of several is reported"),
    both("NONE-1", "The ranks are equal"),
    both("NONE-2", "All lengths are equal"),
    accepts("NUMPY-1", "Shapes are aligned at the right; missing axes have length 1"),
    both("NUMPY-2", "On each axis all lengths other than 1 are equal"),
    accepts("NUMPY-3", "The common lengths are the result"),
    accepts("NUMPY-4", "Rank 0 with rank 0 is rank 0"),
    both("NUMPY-5", "The operation `broadcast` goes in one direction"),
    both("PDPD-1", "B's rank is at most A's"),
    both("PDPD-2", "`axis` is -1 or not negative; -1 aligns at the right"),
    accepts("PDPD-3", "Trailing ones of B are dropped"),
    both("PDPD-4", "B lies within A"),
    both("PDPD-5", "Each length of B is 1 or equals A's; A is never stretched"),
    accepts("PDPD-6", "The result has A's shape"),
    both("BIDI-1", "Aligned at the right and compatible in both directions"),
    accepts("BIDI-2", "The result is the common shape, which need not be the target"),
    accepts("BIDI-3", "Values and dtype are the operand's"),
    both("XLA-1", "Equal ranks: no dimensions or the identity, and every axis compatible"),
    accepts("XLA-2", "A scalar goes with anything, without dimensions"),
    refuses("XLA-3", "Different ranks need dimensions"),
    both("XLA-4", "As many dimensions as the lower rank"),
    both("XLA-5", "Each dimension exists in the higher operand"),
    both("XLA-6", "Dimensions increase strictly"),
    both("XLA-7", "On each named axis the lengths are compatible"),
    accepts("XLA-8", "Two steps: in-dim, then degenerate"),
    both("THEANO-1", "A flag True promises the length 1"),
    accepts("THEANO-2", "Ranks are made equal by True axes on the left"),
    both("THEANO-3", "Axes flagged False are never stretched"),
    accepts("THEANO-4", "The result's flag is True where all flags are"),
    accepts("THEANO-5", "What `theano` accepts, `numpy` accepts with the same result"),
    accepts("GRAD-1", "Each element gathers from every index that reads it"),
    refuses("GRAD-2", "Refusals are those of `elementwise`"),
    both("GRAD-3", "Which expressions have derivatives, and which formulas"),
    accepts("V-1", "Most functions are exact, and compared by bits"),
    both("V-2", "Which function is defined for which dtype"),
    accepts("V-3", "`maximum` and `minimum`: NaN wins, and +0 is above -0"),
    accepts("V-4", "`exp`, `log`, `tanh` and `power` are allowed an error, counted in ULPs"),
    accepts("V-4b", "Expressions with an inexact function are judged by an interval"),
    accepts("V-5", "f16 and bf16 round once per function"),
    accepts("V-6", "Gradients may be summed in any order, within a bound"),
];

/// The clause with this id.
pub fn get(id: &str) -> Option<&'static Clause> {
    ALL.iter().find(|clause| clause.id == id)
}
