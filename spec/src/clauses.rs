//! The clauses of the specification as data: what cases may cite, and which kinds of case each clause needs.
//!
//! The text of the clauses is in `spec/semantics`; the tests compare its headings with this list.

use crate::Nature::{self, Arithmetic, Rule};
use crate::{Convention, SEMANTICS};

/// A clause of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The id that cases cite: `XLA-3`.
    pub id: &'static str,
    /// A summary of the rule: the clause's heading.
    pub heading: &'static str,
    /// Why it holds. A rule or arithmetic may contain a [convention](Clause::conventions).
    pub nature: Nature,
    /// Whether an accepted request can demonstrate the clause. If so, the suite must contain such a case.
    pub accepts: bool,
    /// Whether a refused request can demonstrate the clause. If so, the suite must contain such a case.
    pub refuses: bool,
}

impl Clause {
    /// The conventions that the clause contains, in the order of [`Convention::ALL`].
    pub fn conventions(&self) -> impl Iterator<Item = Convention> {
        let id = self.id;
        Convention::ALL.into_iter().filter(move |convention| convention.clause() == id)
    }

    /// The page with the clause, such as `semantics/general.md`: a name in [`SEMANTICS`].
    pub fn page(&self) -> &'static str {
        self.section().0
    }

    /// The text of the clause in Markdown, without its heading: the paragraphs from *Nature* to *Why*.
    ///
    /// ```
    /// let clause = broadcheck_spec::clauses::get("G-2").unwrap();
    /// assert!(clause.text().starts_with("**Nature.** Rule.\n\n**Rule.** "));
    /// ```
    pub fn text(&self) -> &'static str {
        self.section().1
    }

    /// The page and the text.
    fn section(&self) -> (&'static str, &'static str) {
        let heading = format!("\n## {}: ", self.id);
        let found = SEMANTICS.iter().find_map(|&(page, text)| {
            let (_, section) = text.split_once(&heading)?;
            let (_, section) = section.split_once("\n\n")?;
            Some((page, section.split("\n## ").next()?.trim_end()))
        });
        // A test compares the list of clauses with the headings of the pages.
        found.unwrap_or_default()
    }
}

const fn both(nature: Nature, id: &'static str, heading: &'static str) -> Clause {
    Clause { id, heading, nature, accepts: true, refuses: true }
}

const fn accepts(nature: Nature, id: &'static str, heading: &'static str) -> Clause {
    Clause { id, heading, nature, accepts: true, refuses: false }
}

const fn refuses(nature: Nature, id: &'static str, heading: &'static str) -> Clause {
    Clause { id, heading, nature, accepts: false, refuses: true }
}

/// Every clause, in the order of the pages in [`SEMANTICS`].
pub const ALL: &[Clause] = &[
    both(Rule, "G-1", "Lengths are not negative, and sizes are checked by arithmetic"),
    both(Rule, "G-2", "Two lengths are compatible when equal or when one of them is 1"),
    both(Nature::Convention, "G-3", "The operands of one function have one dtype"),
    refuses(Rule, "G-4", "Refusals depend on shapes, attributes and dtypes alone"),
    both(Rule, "G-5", "How many operands a rule set takes, and that all of them count"),
    refuses(Nature::Convention, "G-6", "What a refusal says, and which of several is reported"),
    both(Rule, "NONE-1", "The ranks are equal"),
    both(Rule, "NONE-2", "All lengths are equal"),
    accepts(Rule, "NUMPY-1", "Shapes are aligned at the right; missing axes have length 1"),
    both(Rule, "NUMPY-2", "On each axis all lengths other than 1 are equal"),
    accepts(Rule, "NUMPY-3", "The common lengths are the result"),
    accepts(Rule, "NUMPY-4", "Rank 0 with rank 0 is rank 0"),
    both(Rule, "NUMPY-5", "The operation `broadcast` goes in one direction"),
    both(Rule, "PDPD-1", "B's rank is at most A's"),
    both(Rule, "PDPD-2", "`axis` is -1 or not negative; -1 aligns at the right"),
    accepts(Rule, "PDPD-3", "Trailing ones of B are dropped"),
    both(Rule, "PDPD-4", "B lies within A"),
    both(Rule, "PDPD-5", "Each length of B is 1 or equals A's; A is never stretched"),
    accepts(Rule, "PDPD-6", "The result has A's shape"),
    both(Rule, "BIDI-1", "Aligned at the right and compatible in both directions"),
    accepts(Rule, "BIDI-2", "The result is the common shape, which need not be the target"),
    accepts(Rule, "BIDI-3", "Values and dtype are the operand's"),
    both(Rule, "XLA-1", "Equal ranks: no dimensions or the identity, and every axis compatible"),
    accepts(Rule, "XLA-2", "A scalar goes with anything, without dimensions"),
    refuses(Rule, "XLA-3", "Different ranks need dimensions"),
    both(Rule, "XLA-4", "As many dimensions as the lower rank"),
    both(Rule, "XLA-5", "Each dimension exists in the higher operand"),
    both(Rule, "XLA-6", "Dimensions increase strictly"),
    both(Rule, "XLA-7", "On each named axis the lengths are compatible"),
    accepts(Rule, "XLA-8", "Two steps: in-dim, then degenerate"),
    both(Rule, "XLA-9", "`broadcast`: one dimension for each axis of the operand"),
    both(Rule, "XLA-10", "`broadcast`: each dimension is an axis of the target"),
    both(Rule, "XLA-11", "`broadcast`: no dimension twice, in any order"),
    both(Rule, "XLA-12", "`broadcast`: each length is 1 or the target's"),
    accepts(Rule, "XLA-13", "`broadcast`: the result has the target's shape"),
    both(Rule, "THEANO-1", "A flag True promises the length 1"),
    accepts(Rule, "THEANO-2", "Ranks are made equal by True axes on the left"),
    both(Rule, "THEANO-3", "Axes flagged False are never stretched"),
    accepts(Rule, "THEANO-4", "The result's flag is True where all flags are"),
    accepts(Rule, "THEANO-5", "What `theano` accepts, `numpy` accepts with the same result"),
    accepts(Rule, "LEADING-1", "Shapes are aligned at the first axis; missing axes at the end have length 1"),
    both(Rule, "LEADING-2", "On each axis all lengths other than 1 are equal"),
    accepts(Rule, "LEADING-3", "The common lengths are the result, whose rank is the highest"),
    both(Rule, "LEADING-4", "The operation `broadcast` goes in one direction"),
    both(Rule, "LEADING-5", "`leading` is `numpy` with every shape reversed"),
    both(Rule, "REPEAT-1", "Ranks are at most 4"),
    both(Rule, "REPEAT-2", "Shapes are aligned at the last axis, and axes that only B has are ones"),
    both(Rule, "REPEAT-3", "Each length of A is a multiple of B's"),
    both(Rule, "REPEAT-4", "A B without elements is repeated onto an A without elements"),
    accepts(Rule, "REPEAT-5", "The result has A's shape, and B is read at A's index modulo its lengths"),
    both(Rule, "REPEAT-6", "The operation `broadcast` repeats the operand onto the target"),
    both(Rule, "REPEAT-7", "What `numpy` accepts with A's shape, `repeat` accepts with the same result"),
    accepts(Rule, "GRAD-1", "Each element gathers from every index that reads it"),
    refuses(Rule, "GRAD-2", "Refusals are those of `elementwise`"),
    both(Rule, "GRAD-3", "Which expressions have derivatives, and which formulas"),
    both(Rule, "GRAD-4", "A cotangent weighs the result"),
    both(Rule, "INTO-1", "The destination takes part in the common shape, and has it"),
    both(Rule, "INTO-2", "The destination has the result's dtype"),
    accepts(Rule, "INTO-3", "As if every operand had been read before anything was written"),
    accepts(Rule, "INTO-4", "Destinations and operands may be views of one buffer"),
    both(Rule, "INFER-1", "`infer` asks what is known of a result before the run"),
    both(Rule, "INFER-2", "Soundness: every accepted run gives a shape that the answer admits"),
    accepts(Rule, "INFER-3", "Exactness: the answer admits no other shape"),
    both(Rule, "INFER-4", "numpy, bidirectional, xla: a length that turns out to be 1 is stretched"),
    both(Rule, "INFER-5", "none: the lengths on an axis intersect"),
    both(Rule, "INFER-6", "pdpd: the result lies within A's shape"),
    both(Rule, "INFER-7", "numpy `broadcast`: the result lies within the target"),
    both(Rule, "INFER-8", "theano: flags are known, lengths need not be"),
    both(Rule, "INFER-9", "xla: ranks and dimensions are known"),
    both(Rule, "INFER-10", "An unknown rank under numpy and bidirectional"),
    refuses(Nature::Convention, "INFER-11", "Which of several refusals is inferred"),
    both(Rule, "INFER-12", "The dtype is the operation's, and types are checked first"),
    both(Rule, "INFER-13", "leading: INFER-4, INFER-7 and INFER-10, aligned at the first axis"),
    both(Rule, "INFER-14", "repeat: the result lies within A's shape, rounded to multiples of B's lengths"),
    accepts(Rule, "DECL-1", "A declared shape admits the shape of the run"),
    both(Rule, "DECL-2", "A declared shape does not change the outcome"),
    accepts(Arithmetic, "V-1", "Most functions are exact, and compared by bits"),
    both(Arithmetic, "V-2", "Which function is defined for which dtype"),
    accepts(Arithmetic, "V-3", "`maximum` and `minimum`: NaN wins, and +0 is above -0"),
    accepts(Arithmetic, "V-4", "`exp`, `log`, `tanh` and `power` are allowed an error, counted in ULPs"),
    accepts(Arithmetic, "V-4b", "Expressions with an inexact function are judged by an interval"),
    accepts(Arithmetic, "V-5", "f16 and bf16 round once per function"),
    accepts(Arithmetic, "V-6", "Gradients may be summed in any order, within a bound"),
];

/// The clause with this id.
pub fn get(id: &str) -> Option<&'static Clause> {
    ALL.iter().find(|clause| clause.id == id)
}
