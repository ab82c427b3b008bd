//! A case: a request with its required outcome, the clause that it tests, and the origin of its values.

use crate::{Convention, Inference, Nature, RefusalKind, Request, Signature, Tensor, clauses};
use std::collections::BTreeMap;
use std::fmt;

/// One case of the suite: of a request and its result, or of a signature and what is inferred from it
/// ([`InferenceCase`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<R = Request, T = ExpectedResult> {
    /// Unique in the suite and never changed: `[a-z0-9/-]`.
    pub id: String,
    /// One sentence: what would go wrong, or what must hold.
    pub title: String,
    /// The clause of SEMANTICS.md that it tests.
    pub clause: String,
    /// The convention that it tests: then only an implementation that declares the convention can fail it.
    pub convention: Option<Convention>,
    /// The documents' examples that it encodes.
    pub examples: Vec<String>,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// Where its expected values come from.
    pub origin: Origin,
    /// The request.
    pub request: R,
    /// The required outcome.
    pub expectation: Expectation<T>,
    /// An erratum, a decision, the arithmetic.
    pub note: Option<String>,
    /// Where it is in its file.
    pub location: Location,
}

/// A case of the operation `infer`.
pub type InferenceCase = Case<Signature, Inference>;

impl<R, T> Case<R, T> {
    /// Why it holds: the nature of its clause, unless it tests a convention.
    pub fn nature(&self) -> Nature {
        nature(&self.clause, self.convention)
    }
}

impl Sweep {
    /// Why it holds: the nature of its clause.
    pub fn nature(&self) -> Nature {
        nature(&self.clause, None)
    }
}

/// The nature of a case of this clause. What a clause of conventions requires of every case that tests none
/// of them, such as a result for operands of one dtype, is a rule.
fn nature(clause: &str, convention: Option<Convention>) -> Nature {
    match (convention, clauses::get(clause).map(|clause| clause.nature)) {
        (Some(_), _) => Nature::Convention,
        (None, Some(Nature::Arithmetic)) => Nature::Arithmetic,
        (None, Some(Nature::Rule | Nature::Convention) | None) => Nature::Rule,
    }
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file as it was named to the loader.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Where a case comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Lines of one of the five documents.
    Document {
        /// The document's key: `xla-en`, `xla-zh`, `xla-id`, `openvino`, `aesara`.
        key: String,
        /// The lines, as `20-29` or `20-29, 61-71`.
        lines: String,
    },
    /// Any other source.
    Url(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Document { key, lines } => write!(f, "{key}, lines {lines}"),
            Source::Url(url) => f.write_str(url),
        }
    }
}

/// Where expected values come from. Never from the code under test alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A document states them.
    Document,
    /// Computed by hand, from arithmetic or from a clause.
    Hand,
    /// The answer of a real system: its name and version.
    System(String),
}

/// Written as in case files.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Document => f.write_str("document"),
            Origin::Hand => f.write_str("hand"),
            Origin::System(name) => write!(f, "system: {name}"),
        }
    }
}

/// The required outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation<T = ExpectedResult> {
    /// The request is accepted, with this result.
    Result(T),
    /// The request is refused.
    Refusal(ExpectedRefusal),
}

/// The required result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedResult {
    /// The result.
    pub tensor: Tensor,
    /// xla: the lower operand after the in-dim step; compared only if the answer has it.
    pub intermediate: Option<Tensor>,
    /// theano: the flags of the result; compared only if the answer has them.
    pub broadcastable: Option<Vec<bool>>,
    /// `tolerance: {ulp: N}`: replaces the tolerance of clause V-4.
    pub tolerance_ulp: Option<u32>,
    /// `zero_sign: any`: clause V-3 or V-4 leaves the sign of a zero open, and so what follows from it. By
    /// V-3 the value is still that of an implementation that orders zeros.
    pub any_zero_sign: bool,
}

impl From<Tensor> for ExpectedResult {
    fn from(tensor: Tensor) -> ExpectedResult {
        ExpectedResult {
            tensor,
            intermediate: None,
            broadcastable: None,
            tolerance_ulp: None,
            any_zero_sign: false,
        }
    }
}

/// The required refusal of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedRefusal {
    /// The kind; `None` accepts every kind (`kind: any`).
    pub kind: Option<RefusalKind>,
    /// The axis, if the case specifies it.
    pub axis: Option<usize>,
    /// The operand's position in the request's list, if the case specifies it.
    pub operand: Option<usize>,
}

/// A family of cases that is too large to list. The runner and `export` expand it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Unique in the suite, like a case's.
    pub id: String,
    /// One sentence: what must hold.
    pub title: String,
    /// The clause of SEMANTICS.md that it tests.
    pub clause: String,
    /// The documents' examples that it encodes.
    pub examples: Vec<String>,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// The family's name.
    pub sweep: String,
    /// Its bounds.
    pub with: BTreeMap<String, u64>,
    /// How many cases it must expand to.
    pub expected_cases: u64,
    /// An erratum, a decision.
    pub note: Option<String>,
    /// Where it is in its file.
    pub location: Location,
}
