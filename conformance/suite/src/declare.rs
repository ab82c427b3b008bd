//! Asks a case as if its shapes were not known before the run (clause DECL-2): the same request with declared
//! shapes must have the same outcome.
//!
//! An implementation that builds a graph, a signature or a compiled function is told only the declared shapes
//! while it builds. What it concludes from known lengths is then put to the test by any case of the suite,
//! without new expected values.

use crate::known::Known;
use crate::retype::{Asked, asked};
use crate::run::{Judged, Status, judged, run_together, with_known};
use broadcheck_judge::text::plural;
use broadcheck_spec::{
    Case, Implementation, Length, Operand, Operation, PartialShape, Request, RuleSet, Shape,
};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// How the shapes of a request are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// Every length is unknown.
    Lengths,
    /// One length is unknown, each in turn.
    Each,
    /// Every length has bounds: an upper one, a lower one, both.
    Bounds,
    /// The ranks are unknown. Not under `xla` and `theano`, whose shapes have ranks.
    Ranks,
}

impl Way {
    /// Every way.
    pub const ALL: [Way; 4] = [Way::Lengths, Way::Each, Way::Bounds, Way::Ranks];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Way::Lengths => "lengths",
            Way::Each => "each",
            Way::Bounds => "bounds",
            Way::Ranks => "ranks",
        }
    }

    /// The request with its shapes declared in this way: once, or more than once. Nothing if the request has
    /// no length that could be unknown, or cannot be declared so.
    pub fn declare(self, request: &Request) -> Vec<Request> {
        match self {
            Way::Lengths => with_lengths(request, |_, _| Some(Length::UNKNOWN)).into_iter().collect(),
            Way::Each => (0..places(request))
                .filter_map(|wanted| {
                    with_lengths(request, |place, _| (place == wanted).then_some(Length::UNKNOWN))
                })
                .collect(),
            Way::Bounds => {
                let at_most = |length: usize| Length::bounded(0, length.checked_add(1));
                let at_least = |length: usize| Length::bounded(length, None);
                let around = |length: usize| Length::bounded(length.saturating_sub(1), length.checked_add(2));
                let bounds: [&dyn Fn(usize) -> Option<Length>; 3] = [&at_most, &at_least, &around];
                bounds
                    .into_iter()
                    .filter_map(|bound| with_lengths(request, |_, length| bound(length)))
                    .collect()
            }
            Way::Ranks => without_ranks(request).into_iter().collect(),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWay(String);

impl fmt::Display for UnknownWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found `{}`, expected one of {}", self.0, Way::ALL.map(Way::name).join(", "))
    }
}

impl std::error::Error for UnknownWay {}

impl FromStr for Way {
    type Err = UnknownWay;
    fn from_str(name: &str) -> Result<Way, UnknownWay> {
        let found = Way::ALL.into_iter().find(|way| way.name() == name);
        found.ok_or_else(|| UnknownWay(name.into()))
    }
}

/// The number of lengths that can be declared: of the operands and of the target.
fn places(request: &Request) -> usize {
    request.operands().iter().map(Operand::rank).sum::<usize>() + target(request).map_or(0, Shape::rank)
}

fn target(request: &Request) -> Option<&Shape> {
    match request.operation() {
        Operation::Broadcast { target_shape } => Some(target_shape),
        // A gradient declares no target.
        Operation::Elementwise { .. }
        | Operation::Into { .. }
        | Operation::Gradient { .. }
        | Operation::Vjp { .. } => None,
    }
}

/// The request with declared lengths. `declared` gets the place of a length among all, and the length; where
/// it gives none, the length itself is declared.
fn with_lengths(request: &Request, declared: impl Fn(usize, usize) -> Option<Length>) -> Option<Request> {
    if places(request) == 0 {
        return None;
    }
    let mut place = 0;
    with_shapes(request, |shape| {
        let lengths = shape.iter().map(|&length| {
            place += 1;
            declared(place - 1, length).unwrap_or(Length::exactly(length))
        });
        PartialShape::Ranked(lengths.collect())
    })
}

fn without_ranks(request: &Request) -> Option<Request> {
    match request.rules().set() {
        RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Pdpd
        | RuleSet::Bidirectional
        | RuleSet::Leading
        | RuleSet::Repeat => with_shapes(request, |_| PartialShape::Unranked),
        RuleSet::Xla | RuleSet::Theano => None,
    }
}

/// The request with a declared shape for each operand, in order, and for the target.
fn with_shapes(request: &Request, mut declared: impl FnMut(&Shape) -> PartialShape) -> Option<Request> {
    let operands = request
        .operands()
        .iter()
        .map(|operand| operand.clone().with_declared(declared(operand.shape())).ok())
        .collect::<Option<Vec<Operand>>>()?;
    let made = Request::new(request.rules().clone(), request.operation().clone(), operands).ok()?;
    match target(request) {
        Some(target) => made.with_declared_target(declared(target)).ok(),
        None => Some(made),
    }
}

/// Runs each case with its shapes declared in these ways, and applies the known failures. A case passes if it
/// passes in every way in which it could be asked. The results have the order of the cases.
pub fn run_declared(
    implementation: &dyn Implementation,
    cases: &[&Case],
    known: Option<&Known>,
    ways: &[Way],
) -> Vec<Judged> {
    let one = |case: &&Case| with_known(run_one(implementation, case, ways), &case.id, known);
    cases.iter().map(one).collect()
}

fn run_one(implementation: &dyn Implementation, case: &Case, ways: &[Way]) -> Judged {
    let original = match asked(case, implementation.capabilities()) {
        Ok(asked) => asked,
        Err(reason) => return Judged::new(Status::Skipped, reason),
    };
    let variants: Vec<Case> = ways
        .iter()
        .flat_map(|way| way.declare(&original.case.request))
        .map(|request| of(&original, request))
        .collect();
    let covered = |case: &&Case| implementation.capabilities().covers(&case.request).is_ok();
    let possible: Vec<&Case> = variants.iter().filter(covered).collect();
    if possible.is_empty() {
        let uncovered =
            variants.iter().find_map(|case| implementation.capabilities().covers(&case.request).err());
        let reason = uncovered.unwrap_or_else(|| why_none(&original.case.request, ways));
        return Judged::new(Status::Skipped, reason);
    }
    let requests: Vec<&Request> = possible.iter().map(|case| &case.request).collect();
    let outcomes = run_together(implementation, &requests);
    let all = possible.iter().zip(outcomes).map(|(&case, outcome)| {
        let asked = Asked { case: Cow::Borrowed(case), retyped: original.retyped };
        (judged(implementation, &asked, outcome), case)
    });
    let all: Vec<(Judged, &Case)> = all.collect();
    let failed = all.iter().filter(|(judged, _)| judged.status.is_failure()).count();
    // A failure, else an answer that differs from a convention, else any.
    let worst = all
        .iter()
        .find(|(judged, _)| judged.status.is_failure())
        .or_else(|| all.iter().find(|(judged, _)| judged.status == Status::Differs))
        .unwrap_or(&all[0]);
    let (judged, case) = worst;
    let mut judged = judged.clone();
    if failed > 0 {
        let ways = plural(all.len(), "way");
        judged.detail =
            format!("declared {}: {} ({failed} of {ways})", describe_declared(&case.request), judged.detail);
    }
    judged
}

fn of(original: &Asked<'_>, request: Request) -> Case {
    Case { request, ..(*original.case).clone() }
}

/// Why a request cannot be declared in any of these ways.
fn why_none(request: &Request, ways: &[Way]) -> String {
    match request.operation() {
        Operation::Into { .. } => "no declared shapes with `into` (INTO-4)".into(),
        Operation::Elementwise { .. }
        | Operation::Broadcast { .. }
        | Operation::Gradient { .. }
        | Operation::Vjp { .. } => {
            // Every rank can be unknown, except under the rule sets whose shapes have ranks.
            if ways.iter().all(|&way| way == Way::Ranks) {
                format!("no unknown ranks under {} (DECL-1)", request.rules().set())
            } else {
                "no length that could be unknown".into()
            }
        }
    }
}

/// The declared shapes of a request: `a (?,3) b (?)`.
pub fn describe_declared(request: &Request) -> String {
    let operands = request
        .operands()
        .iter()
        .filter_map(|operand| operand.declared().map(|declared| format!("{} {declared}", operand.name())));
    let target = request.declared_target().map(|declared| format!("to {declared}"));
    operands.chain(target).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Expression, Rules};

    fn request(target: Option<[usize; 2]>) -> Request {
        let operand = Operand::dense("a", [2, 1], vec![1.0f32, 2.0]).unwrap();
        match target {
            Some(target) => {
                let operation = Operation::Broadcast { target_shape: Shape::from(target) };
                Request::new(Rules::Numpy, operation, vec![operand]).unwrap()
            }
            None => {
                let operation = Operation::Elementwise { expression: Expression::operand(0) };
                Request::new(Rules::Numpy, operation, vec![operand]).unwrap()
            }
        }
    }

    fn shown(way: Way, request: &Request) -> Vec<String> {
        way.declare(request).iter().map(describe_declared).collect()
    }

    #[test]
    fn every_way_admits_the_shapes_of_the_run() {
        let plain = request(None);
        assert_eq!(shown(Way::Lengths, &plain), ["a (?,?)"]);
        assert_eq!(shown(Way::Each, &plain), ["a (?,1)", "a (2,?)"]);
        assert_eq!(shown(Way::Bounds, &plain), ["a (..3,..2)", "a (2..,1..)", "a (1..4,..3)"]);
        assert_eq!(shown(Way::Ranks, &plain), ["a (...)"]);
        let broadcast = request(Some([2, 3]));
        assert_eq!(shown(Way::Lengths, &broadcast), ["a (?,?) to (?,?)"]);
        assert_eq!(shown(Way::Each, &broadcast)[3], "a (2,1) to (2,?)");
        assert_eq!(shown(Way::Ranks, &broadcast), ["a (...) to (...)"]);
    }

    /// A request that no way declares, and the reason.
    fn undeclared(request: &Request, ways: &[Way]) -> String {
        assert!(ways.iter().all(|way| way.declare(request).is_empty()));
        why_none(request, ways)
    }

    #[test]
    fn a_request_that_no_way_declares_has_a_true_reason() {
        let of = |rules: Rules, operation: Operation, shape: &[usize]| {
            let operand = Operand::dense("a", shape, vec![1.0f32; shape.iter().product()]).unwrap();
            Request::new(rules, operation, vec![operand]).unwrap()
        };
        let expression = Expression::operand(0);
        let alone = || Operation::Elementwise { expression: expression.clone() };
        let into = Operation::Into { expression: expression.clone(), destination: 0 };
        let xla = || Rules::Xla { broadcast_dimensions: None };

        // These lengths could be unknown, if it were not for the clause.
        let written = of(Rules::Numpy, into, &[2, 3]);
        assert_eq!(undeclared(&written, &Way::ALL), "no declared shapes with `into` (INTO-4)");
        assert_eq!(undeclared(&written, &[Way::Ranks]), "no declared shapes with `into` (INTO-4)");

        assert_eq!(
            undeclared(&of(xla(), alone(), &[2, 3]), &[Way::Ranks]),
            "no unknown ranks under xla (DECL-1)"
        );
        assert_eq!(
            undeclared(&of(Rules::Theano, alone(), &[]), &[Way::Ranks]),
            "no unknown ranks under theano (DECL-1)"
        );
        assert_eq!(undeclared(&of(xla(), alone(), &[]), &Way::ALL), "no length that could be unknown");
        assert_eq!(
            undeclared(&of(Rules::Numpy, alone(), &[]), &[Way::Lengths, Way::Each, Way::Bounds]),
            "no length that could be unknown"
        );
    }

    #[test]
    fn names_parse_back() {
        for way in Way::ALL {
            assert_eq!(way.name().parse(), Ok(way));
        }
        let error = "rank".parse::<Way>().unwrap_err().to_string();
        assert_eq!(error, "found `rank`, expected one of lengths, each, bounds, ranks");
    }
}
