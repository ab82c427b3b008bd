//! The clauses of SEMANTICS.md as data: what a case may cite, and which kinds of case each clause must have.

/// A clause of SEMANTICS.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// As cases cite it: `XLA-3`.
    pub id: &'static str,
    /// Whether the clause can be seen in an accepted request: the suite must then hold such a case.
    pub accepts: bool,
    /// Whether the clause can be seen in a refused request: the suite must then hold such a case.
    pub refuses: bool,
}

const fn both(id: &'static str) -> Clause {
    Clause { id, accepts: true, refuses: true }
}

const fn accepts(id: &'static str) -> Clause {
    Clause { id, accepts: true, refuses: false }
}

const fn refuses(id: &'static str) -> Clause {
    Clause { id, accepts: false, refuses: true }
}

/// Every clause, in the order of SEMANTICS.md.
pub const ALL: &[Clause] = &[
    both("G-1"),
    both("G-2"),
    both("G-3"),
    refuses("G-4"),
    both("G-5"),
    refuses("G-6"),
    both("NONE-1"),
    both("NONE-2"),
    accepts("NUMPY-1"),
    both("NUMPY-2"),
    accepts("NUMPY-3"),
    accepts("NUMPY-4"),
    both("NUMPY-5"),
    both("PDPD-1"),
    both("PDPD-2"),
    accepts("PDPD-3"),
    both("PDPD-4"),
    both("PDPD-5"),
    accepts("PDPD-6"),
    both("BIDI-1"),
    accepts("BIDI-2"),
    accepts("BIDI-3"),
    both("XLA-1"),
    accepts("XLA-2"),
    refuses("XLA-3"),
    both("XLA-4"),
    both("XLA-5"),
    both("XLA-6"),
    both("XLA-7"),
    accepts("XLA-8"),
    both("THEANO-1"),
    accepts("THEANO-2"),
    both("THEANO-3"),
    accepts("THEANO-4"),
    accepts("THEANO-5"),
    accepts("GRAD-1"),
    refuses("GRAD-2"),
    both("GRAD-3"),
    accepts("V-1"),
    both("V-2"),
    accepts("V-3"),
    accepts("V-4"),
    accepts("V-4b"),
    accepts("V-5"),
    accepts("V-6"),
];

/// The clause of this id.
pub fn get(id: &str) -> Option<&'static Clause> {
    ALL.iter().find(|clause| clause.id == id)
}
