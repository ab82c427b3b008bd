//! The signature of a disagreement, so that each defect is reported once, however often it is hit.

#![warn(clippy::wildcard_enum_match_arm)]

use super::pattern::Pattern;
use crate::inference;
use broadcheck_spec::json::Question;
use broadcheck_spec::{Asked, ErrorKind, OperationKind, RefusalKind, Request, RuleSet};
use std::fmt;

/// The class of a disagreement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// The oracle's name.
    pub oracle: String,
    /// The request's rule set.
    pub rules: RuleSet,
    /// The request's operation.
    pub operation: OperationKind,
    /// How the outcomes differ.
    pub kind: Kind,
    /// The features of the request.
    pub pattern: Pattern,
}

/// One of the two sides that an oracle compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// How an implementation failed to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Breakage {
    /// It panicked.
    Panicked,
    /// Its process ended.
    Crashed,
    /// It did not answer in time.
    TimedOut,
    /// It reported an error, or its answer was invalid.
    Errored,
    /// The run was interrupted.
    Interrupted,
    /// It skipped a request that it declares.
    Skipped,
}

/// How two outcomes differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The shape is right, but elements are wrong.
    Values,
    /// The shapes differ.
    Shape,
    /// The dtypes differ.
    DType,
    /// One side accepts what the other refuses.
    Acceptance {
        /// The side that accepts.
        accepts: Side,
        /// Why the other side refuses, if it says so.
        refusal: Option<RefusalKind>,
    },
    /// Both sides refuse, for different reasons.
    Refusal(Option<RefusalKind>, Option<RefusalKind>),
    /// The intermediate or the flags of the result differ.
    Extra,
    /// One side does not answer.
    Broke(Side, Breakage),
    /// The same request does not always give the same outcome.
    Nondeterministic,
    /// A relation does not hold.
    Relation(&'static str),
    /// What is inferred before the run is wrong, in these words.
    Inferred(&'static str),
}

impl Kind {
    /// The kind that is displayed as this text, unless it is that of a relation.
    pub(crate) fn named(text: &str) -> Option<Kind> {
        Kind::all().find(|kind| kind.to_string() == text)
    }

    /// Every kind, except those of relations.
    fn all() -> impl Iterator<Item = Kind> {
        let refusals = || RefusalKind::ALL.iter().copied().map(Some).chain([None]);
        let sides = [Side::Left, Side::Right];
        let plain = [Kind::Values, Kind::Shape, Kind::DType, Kind::Extra, Kind::Nondeterministic];
        let acceptances = sides
            .into_iter()
            .flat_map(move |accepts| refusals().map(move |refusal| Kind::Acceptance { accepts, refusal }));
        let pairs = refusals().flat_map(move |left| refusals().map(move |right| Kind::Refusal(left, right)));
        let broken = sides
            .into_iter()
            .flat_map(|side| Breakage::ALL.into_iter().map(move |breakage| Kind::Broke(side, breakage)));
        let inferred = inference::WORDS.into_iter().map(Kind::Inferred);
        plain.into_iter().chain(acceptances).chain(pairs).chain(broken).chain(inferred)
    }
}

impl Breakage {
    const ALL: [Breakage; 6] = [
        Breakage::Panicked,
        Breakage::Crashed,
        Breakage::TimedOut,
        Breakage::Errored,
        Breakage::Interrupted,
        Breakage::Skipped,
    ];
}

impl Signature {
    /// The signature of a disagreement over this request.
    pub fn new(oracle: impl Into<String>, request: &Request, kind: Kind) -> Signature {
        Signature {
            oracle: oracle.into(),
            rules: request.rules().set(),
            operation: request.operation().kind(),
            kind,
            pattern: Pattern::of(request),
        }
    }

    /// The signature of a disagreement over what is inferred from this signature of a request. Its operation
    /// is the one that is inferred.
    pub fn of_inference(
        oracle: impl Into<String>,
        signature: &broadcheck_spec::Signature,
        kind: Kind,
    ) -> Signature {
        let operation = match signature.asked() {
            Asked::Expression(_) => OperationKind::Elementwise,
            Asked::TargetShape(_) => OperationKind::Broadcast,
        };
        let (rules, pattern) = (signature.rules().set(), Pattern::of_inference(signature));
        Signature { oracle: oracle.into(), rules, operation, kind, pattern }
    }

    /// The signature of a disagreement over this.
    pub(crate) fn of_question(oracle: &str, question: &Question, kind: Kind) -> Signature {
        match question {
            Question::Run(request) => Signature::new(oracle, request, kind),
            Question::Infer(signature) => Signature::of_inference(oracle, signature, kind),
        }
    }

    /// Whether both disagree in the same way, whatever the features of the requests. Shrinking preserves
    /// this.
    pub fn same_way(&self, other: &Signature) -> bool {
        self.oracle == other.oracle
            && self.rules == other.rules
            && self.operation == other.operation
            && self.kind == other.kind
    }

    /// The signature in the characters of ids: `numpy/reference-fast/values/stretched-add-f64`.
    pub fn slug(&self) -> String {
        let operation = match self.operation {
            OperationKind::Elementwise => String::new(),
            OperationKind::Broadcast | OperationKind::Gradient => format!("{}-", self.operation),
        };
        let text = format!("{}/{}/{operation}{}/{}", self.rules, self.oracle, self.kind, self.pattern);
        slug(&text)
    }
}

/// A text with only `[a-z0-9/-]`.
fn slug(text: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || char == '/' { char } else { '-' };
    let mut slug: String = text.chars().map(plain).collect::<String>().to_ascii_lowercase();
    while slug.contains("--") {
        slug = slug.replace("--", "-");
    }
    slug.replace("-/", "/").replace("/-", "/").trim_matches('-').into()
}

/// `numpy elementwise, reference-fast: values; stretched add f64`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature { oracle, rules, operation, kind, pattern } = self;
        write!(f, "{rules} {operation}, {oracle}: {kind}; {pattern}")
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Side::Left { "left" } else { "right" })
    }
}

impl fmt::Display for Breakage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Breakage::Panicked => "panicked",
            Breakage::Crashed => "crashed",
            Breakage::TimedOut => "timed out",
            Breakage::Errored => "errored",
            Breakage::Interrupted => "was interrupted",
            Breakage::Skipped => "skipped what it declares",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |kind: &Option<RefusalKind>| kind.map_or("refused", RefusalKind::name);
        match self {
            Kind::Values => f.write_str("values"),
            Kind::Shape => f.write_str("shape"),
            Kind::DType => f.write_str("dtype"),
            Kind::Acceptance { accepts, refusal } => write!(f, "{accepts} accepts {}", name(refusal)),
            Kind::Refusal(left, right) if left == right => write!(f, "place of {}", name(left)),
            Kind::Refusal(left, right) => write!(f, "{} or {}", name(left), name(right)),
            Kind::Extra => f.write_str("intermediate or flags"),
            Kind::Broke(side, breakage) => write!(f, "{side} {breakage}"),
            Kind::Nondeterministic => f.write_str("unsteady"),
            Kind::Relation(name) | Kind::Inferred(name) => f.write_str(name),
        }
    }
}

impl From<ErrorKind> for Breakage {
    fn from(kind: ErrorKind) -> Breakage {
        match kind {
            ErrorKind::Panicked => Breakage::Panicked,
            ErrorKind::Crashed => Breakage::Crashed,
            ErrorKind::TimedOut => Breakage::TimedOut,
            ErrorKind::Interrupted => Breakage::Interrupted,
            ErrorKind::Reported
            | ErrorKind::InvalidAnswer
            | ErrorKind::NotReproduced
            | ErrorKind::NotStarted => Breakage::Errored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_text() {
        for kind in Kind::all() {
            assert_eq!(Kind::named(&kind.to_string()), Some(kind));
        }
        assert!(Kind::named("no such kind").is_none());
    }

    #[test]
    fn a_slug_has_only_the_characters_of_ids() {
        assert_eq!(slug("numpy/A - B/left accepts rank_mismatch/"), "numpy/a-b/left-accepts-rank-mismatch/");
        assert_eq!(slug("x/-a-/b"), "x/a/b");
    }
}
