//! Writes a shrunk request as a case that a person can check, decide on and keep.
//!
//! The request is certain, but the expectation is not. If the reference answers and one of the two sides
//! agrees with it, its answer is proposed, with an origin that says so. It must be confirmed from the clause
//! before the case joins the suite, because no expected value of the suite comes from our own engines. If the
//! reference itself is in question, or agrees with neither side, the file contains one case for each answer,
//! and a person keeps one of them.

use super::{Again, Shrunk};
use crate::oracle::{Disagreement, Kind, Side, form_named};
use crate::subjects::builtin;
use broadcheck::run::run_caught;
use broadcheck_judge::compare::{
    DEFAULT_ULP, EXPECTED_ULP, Latitude, Verdict, compare_outcomes, expectation_of,
};
use broadcheck_judge::describe::summarize_request;
use broadcheck_judge::explain::Explanation;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Case, Convention, Expectation, Function, Implementation, Location, MAX_TITLE, MAX_TOLERANCE_ULP, Operand,
    Operation, Origin, Outcome, Request, RuleSet, Rules, clauses, load_str, write,
};

/// The two sides of a disagreement, as the case describes them.
#[derive(Clone, Debug)]
pub struct Sides {
    /// The left side's name and version.
    pub left: String,
    /// The right side's.
    pub right: String,
    /// The latitude that applies to both.
    pub latitude: Latitude,
    /// How the disagreement was found, so that the run can be repeated.
    pub found_by: String,
}

impl Sides {
    /// Two implementations.
    pub fn of(left: &dyn Implementation, right: &dyn Implementation, found_by: impl Into<String>) -> Sides {
        let title = |side: &dyn Implementation| format!("{} {}", side.name(), side.version());
        let latitude = Latitude::of_both(left, right);
        Sides { left: title(left), right: title(right), latitude, found_by: found_by.into() }
    }

    /// An implementation with and without declared shapes.
    pub fn of_declared(one: &dyn Implementation, found_by: impl Into<String>) -> Sides {
        let Sides { left, latitude, found_by, .. } = Sides::of(one, one, found_by);
        let right = format!("{} with declared shapes {}", one.name(), one.version());
        Sides { left, right, latitude, found_by }
    }

    /// An implementation that is asked a request, and the request with a part in another form, in these
    /// words.
    pub(crate) fn of_rewritten(one: &dyn Implementation, words: &str, found_by: impl Into<String>) -> Sides {
        let Sides { left, latitude, found_by, .. } = Sides::of(one, one, found_by);
        let right = format!("{} with {words} {}", one.name(), one.version());
        Sides { left, right, latitude, found_by }
    }

    /// The sides of a disagreement between the built-in implementations, as its oracle names them:
    /// `reference` and `fast` for `reference-fast`, `fast` twice for `relations-fast`.
    pub fn builtin(found: &Disagreement, found_by: impl Into<String>) -> Sides {
        let oracle = found.signature.oracle.as_str();
        let (left, right) = match oracle.split_once('-') {
            Some(("relations" | "gradient" | "repeated" | "declared", subject)) => (subject, subject),
            // Both answers are judged by the runs.
            Some(("infer", _)) => ("reference", "fast"),
            Some(sides) => sides,
            None => (oracle, oracle),
        };
        let title = |name: &str| {
            builtin(name).map_or_else(|| name.to_owned(), |subject| format!("{name} {}", subject.version()))
        };
        let latitude = match (builtin(left), builtin(right)) {
            (Some(left), Some(right)) => Latitude::of_both(left.as_ref(), right.as_ref()),
            _ => Latitude::ANY,
        };
        Sides { left: title(left), right: title(right), latitude, found_by: found_by.into() }
    }
}

/// A proposed case file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The id of its case, or the common prefix of the ids of its cases.
    pub id: String,
    /// The file's text, which loads.
    pub yaml: String,
    /// Whether one answer is proposed; otherwise there is a case for each.
    pub decided: bool,
}

impl Proposal {
    /// The proposal under another id.
    pub(crate) fn named(&self, id: &str) -> Proposal {
        let yaml = self.yaml.replace(&format!("- id: {}", self.id), &format!("- id: {id}"));
        Proposal { id: id.to_owned(), yaml, decided: self.decided }
    }
}

/// Proposes a case file.
///
/// # Errors
/// No implementation answers, or the request is too large to be written as a case.
pub fn propose(shrunk: &Shrunk, sides: &Sides) -> Result<Proposal, String> {
    let signature = &shrunk.disagreement.signature;
    let id = signature.slug();
    let candidates = candidates(shrunk, sides);
    let [first, ..] = &candidates[..] else {
        return Err("no implementation answers the request, so there is nothing to expect".into());
    };
    let decided = candidates.len() == 1;
    let note = note(shrunk, sides, &candidates);
    let title = title(shrunk, sides);
    let case = |asked: &Asked<'_>, candidate: &Candidate| -> Option<Case> {
        let request = asked.request;
        let clause = clause(request, &first.outcome, &signature.kind);
        // The reference answers each form by itself.
        let outcome = match candidate.tag {
            "reference" => run_caught(&Reference, request),
            _ => candidate.outcome.clone(),
        };
        let expectation = expectation(request, &outcome, sides.latitude)?;
        let answer = if decided { String::new() } else { format!("/as-{}", candidate.tag) };
        Some(Case {
            id: format!("{id}{}{answer}", asked.suffix),
            title: titled(&title, asked.remark),
            clause: clause.into(),
            convention: Convention::of(clause, request, &expectation),
            examples: Vec::new(),
            sources: Vec::new(),
            origin: Origin::System(candidate.origin.clone()),
            request: request.clone(),
            expectation,
            note: Some(note.clone()),
            location: Location::default(),
        })
    };
    let all = Asked::all(shrunk);
    let each = all.iter().flat_map(|asked| candidates.iter().map(|candidate| case(asked, candidate)));
    let cases: Option<Vec<Case>> = each.collect();
    let cases = cases.ok_or("a case cannot expect this answer")?;
    let mut yaml =
        String::from("# A case that broadcheck proposes. Read the note before adding it to a suite.\n");
    for (place, case) in cases.iter().enumerate() {
        let text = write::case_to_yaml(case);
        let body = text.split_once("cases:\n").map_or("", |(_, body)| body);
        yaml += if place == 0 { &text } else { body };
    }
    let loaded =
        load_str(&yaml, "case.yaml").map_err(|errors| format!("it cannot be written as a case: {errors}"))?;
    if !loaded.cases.iter().map(|case| &case.request).eq(cases.iter().map(|case| &case.request)) {
        return Err("it cannot be written as a case: the text loads as another request".into());
    }
    Ok(Proposal { id, yaml, decided })
}

/// A request of a proposal: the one that disagrees, and the same with a part in another form, if the two
/// answers to these disagree.
struct Asked<'a> {
    request: &'a Request,
    /// The end of the id.
    suffix: &'static str,
    /// The end of the title.
    remark: &'static str,
}

impl<'a> Asked<'a> {
    fn all(shrunk: &'a Shrunk) -> Vec<Asked<'a>> {
        let Some(rewritten) = &shrunk.disagreement.rewritten else {
            return vec![Asked { request: &shrunk.request, suffix: "", remark: "" }];
        };
        vec![
            Asked { request: &shrunk.request, suffix: "/as-it-is", remark: " This is the request as it is." },
            Asked { request: rewritten, suffix: "/rewritten", remark: " This is the rewritten request." },
        ]
    }
}

/// An answer that may be the right one.
struct Candidate {
    /// Its name in the id.
    tag: &'static str,
    origin: String,
    outcome: Outcome,
}

fn candidates(shrunk: &Shrunk, sides: &Sides) -> Vec<Candidate> {
    let (request, found) = (&shrunk.request, &shrunk.disagreement);
    let answers = |outcome: &Outcome| matches!(outcome, Outcome::Success(_) | Outcome::Refusal(_));
    let reference = run_caught(&Reference, request);
    let agrees = |outcome: &Option<Outcome>| {
        outcome.as_ref().is_some_and(|outcome| {
            compare_outcomes(
                request,
                &reference,
                outcome,
                Latitude { ulp: sides.latitude.ulp.max(DEFAULT_ULP), ..sides.latitude },
            ) == Verdict::Passed
        })
    };
    // An oracle that checks only the reference puts the reference in question.
    let oracle = &found.signature.oracle;
    let in_question = ["relations-", "gradient-", "repeated-", "declared-"]
        .iter()
        .any(|kind| *oracle == format!("{kind}{}", Reference.name()))
        || form_named(oracle, Reference.name()).is_some();
    let compared = found.left.is_some() && found.right.is_some();
    if answers(&reference) && !in_question && (!compared || agrees(&found.left) || agrees(&found.right)) {
        let origin = format!("broadcheck reference {}, to be confirmed", Reference.version());
        return vec![Candidate { tag: "reference", origin, outcome: reference }];
    }
    let side = |tag, title: &str, outcome: &Option<Outcome>| {
        let outcome = outcome.clone().filter(&answers)?;
        Some(Candidate { tag, origin: format!("{title}, undecided"), outcome })
    };
    let left = side("left", &sides.left, &found.left);
    let right = side("right", &sides.right, &found.right);
    left.into_iter().chain(right).collect()
}

fn expectation(request: &Request, outcome: &Outcome, latitude: Latitude) -> Option<Expectation> {
    let mut expectation = expectation_of(outcome)?;
    let inexact = request.operation().expression().is_some_and(|expression| !expression.is_exact());
    let gradient = request.operation().wrt().is_some();
    if let Expectation::Result(expected) = &mut expectation
        && inexact
        && !gradient
        && latitude.ulp > EXPECTED_ULP
    {
        expected.tolerance_ulp = Some(latitude.ulp.min(MAX_TOLERANCE_ULP));
    }
    Some(expectation)
}

/// The deciding clause: of the refusal, of the values, or of the shapes.
fn clause(request: &Request, outcome: &Outcome, kind: &Kind) -> &'static str {
    let of_shapes = Explanation::of_request(request).clause;
    if matches!(outcome, Outcome::Refusal(_)) {
        return known_clause(of_shapes);
    }
    let halves = |operand: &Operand| matches!(operand.dtype().name(), "f16" | "bf16");
    match (kind, request.operation()) {
        (Kind::Extra, _) if request.rules().set() == RuleSet::Theano => "THEANO-4",
        (Kind::Extra, _) => "XLA-8",
        (_, Operation::Gradient { .. }) => "GRAD-1",
        (_, Operation::Vjp { .. }) => "GRAD-4",
        (_, Operation::Into { .. }) => "INTO-3",
        (Kind::Values, Operation::Elementwise { expression }) if is_plain(request) => {
            let holds =
                |wanted: &[Function]| expression.calls().any(|call| wanted.contains(&call.function()));
            if !expression.is_exact() {
                "V-4b"
            } else if holds(&[Function::Maximum, Function::Minimum]) {
                "V-3"
            } else if request.operands().iter().any(halves) {
                "V-5"
            } else {
                "V-1"
            }
        }
        _ => known_clause(of_shapes),
    }
}

fn known_clause(clause: &'static str) -> &'static str {
    clauses::get(clause).map_or("G-4", |clause| clause.id)
}

/// Whether nothing is broadcast.
fn is_plain(request: &Request) -> bool {
    let operands = request.operands();
    operands.windows(2).all(|pair| pair[0].shape() == pair[1].shape())
        && !matches!(request.rules(), Rules::Bidirectional)
}

/// The title of a case. A request that is not shrunk may need more characters than a title may have: it is
/// cut, because the case itself has the request.
pub(crate) fn titled(title: &str, remark: &str) -> String {
    let room = MAX_TITLE.saturating_sub(remark.chars().count());
    if title.chars().count() <= room {
        return format!("{title}{remark}");
    }
    let cut: String = title.chars().take(room.saturating_sub(1)).collect();
    format!("{cut}…{remark}")
}

/// A sentence that says what goes wrong.
fn title(shrunk: &Shrunk, sides: &Sides) -> String {
    let (left, right) = (name(&sides.left), name(&sides.right));
    let asked = summarize_request(&shrunk.request);
    match &shrunk.disagreement.signature.kind {
        Kind::Values => format!("{left} and {right} give different values: {asked}."),
        Kind::Shape => format!("{left} and {right} give different shapes: {asked}."),
        Kind::DType => format!("{left} and {right} give different dtypes: {asked}."),
        Kind::Acceptance { accepts: Side::Left, .. } => {
            format!("{left} accepts what {right} refuses: {asked}.")
        }
        Kind::Acceptance { accepts: Side::Right, .. } => {
            format!("{right} accepts what {left} refuses: {asked}.")
        }
        Kind::Refusal(..) => format!("{left} and {right} refuse for different reasons: {asked}."),
        Kind::Extra => format!("{left} and {right} give different intermediates or flags: {asked}."),
        Kind::Broke(Side::Left, breakage) => format!("{left} {breakage}: {asked}."),
        Kind::Broke(Side::Right, breakage) => format!("{right} {breakage}: {asked}."),
        Kind::Nondeterministic => format!("{right} gives different answers to the same request: {asked}."),
        Kind::Relation(relation) => format!("{right} violates the relation {relation}: {asked}."),
        Kind::Inferred(wrong) => format!("{right}, {wrong}: {asked}."),
    }
}

/// `reference` of `reference 0.2.0`.
pub(super) fn name(title: &str) -> &str {
    title.rsplit_once(' ').map_or(title, |(name, _)| name)
}

fn note(shrunk: &Shrunk, sides: &Sides, candidates: &[Candidate]) -> String {
    let detail = &shrunk.disagreement.detail;
    let mut text = format!("Found by {}. {} against {}: {detail}. ", sides.found_by, sides.left, sides.right);
    text += match candidates {
        [one] if one.tag == "reference" => {
            "The expectation is the reference's answer. Confirm it from the clause, and record the source in the origin."
        }
        [_] => "The expectation is the only answer. Decide from the clause whether it is right.",
        _ => {
            "There is a case for each answer. Decide from the clause which one is right, and delete the other."
        }
    };
    text + left_to_do(shrunk.again, shrunk.minimal)
}

/// What a reader should know of how a request was shrunk.
pub(super) fn left_to_do(again: Again, minimal: bool) -> &'static str {
    match again {
        Again::NotAsked => " It was written when it was seen: the request has not been shrunk.",
        Again::NotReproduced => " It was seen once, and could not be reproduced.",
        Again::Reproduced if minimal => "",
        Again::Reproduced => " The search for a smaller request was cut short.",
    }
}
