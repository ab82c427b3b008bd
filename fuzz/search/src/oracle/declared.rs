//! Asks an implementation a request with declared shapes: the outcome must be that without them (clause
//! DECL-2), also in a session of requests with the same declared shapes.
//!
//! An implementation that builds ahead keeps what it built for a declaration, and runs it with any lengths
//! that comply. What was made for the lengths of one run is then wrong for the next: a buffer, a stride, a
//! check that was left out, the result itself. So a session asks the request, one with longer axes, one in
//! which only one shape is longer, and the first again.

use super::differential::Differential;
use super::signature::Signature;
use super::{Judgement, Oracle};
use broadcheck::declare::{Way, describe_declared};
use broadcheck::given::shapes::{longest_axis, with_length};
use broadcheck::run::run_together_until;
use broadcheck_judge::describe::describe_request;
use broadcheck_judge::limits::covers_request;
use broadcheck_spec::{Implementation, Operand, PartialShape, Request};
use std::time::Instant;

/// The number of requests of a session.
pub(crate) const STEPS: usize = 4;

/// Sessions of requests with more values than this are not asked, because they take too long.
const MOST_VALUES: usize = 1 << 12;

/// A request with declared shapes has the outcome that it has without them, at one step of a session.
pub(crate) struct Declared<'a> {
    implementation: &'a dyn Implementation,
    compare: Differential<'a>,
    turn: u64,
    step: usize,
}

/// A request without and with declared shapes.
struct Step {
    plain: Request,
    declared: Request,
}

impl<'a> Declared<'a> {
    /// Checks a step of the sessions of this implementation. The turn decides how shapes are declared.
    pub(crate) fn new(implementation: &'a dyn Implementation, turn: u64, step: usize) -> Declared<'a> {
        let compare = Differential::new(implementation, implementation);
        Declared { implementation, compare, turn, step }
    }

    /// Judges the steps of the session of a request until a deadline, if there is one: `None` for those that
    /// the session does not have.
    pub(crate) fn judge_session(
        &self,
        request: &Request,
        deadline: Option<Instant>,
    ) -> [Option<Judgement>; STEPS] {
        self.judged(&self.session(request), deadline)
    }

    fn judged(
        &self,
        session: &[Option<Step>; STEPS],
        deadline: Option<Instant>,
    ) -> [Option<Judgement>; STEPS] {
        let steps = || session.iter().flatten();
        let asked: Vec<&Request> =
            steps().map(|step| &step.plain).chain(steps().map(|step| &step.declared)).collect();
        let outcomes = run_together_until(self.implementation, &asked, deadline);
        let (plain, declared) = outcomes.split_at(asked.len() / 2);
        let mut pairs = plain.iter().zip(declared);
        session.each_ref().map(|step| {
            let step = step.as_ref()?;
            let (plain, declared) = pairs.next()?;
            Some(match self.compare.compare(&step.plain, plain, declared) {
                Judgement::Disagreement(mut found) => {
                    let kind = found.signature.kind.clone();
                    found.signature = Signature::new(self.name(), &step.plain, kind);
                    let shapes = describe_declared(&step.declared);
                    found.detail = format!("with the declared shapes {shapes}: {}", found.detail);
                    Judgement::Disagreement(found)
                }
                other => other,
            })
        })
    }

    /// The requests of a session, as far as they can be declared. None of a request that cannot.
    fn session(&self, request: &Request) -> [Option<Step>; STEPS] {
        const NONE: [Option<Step>; STEPS] = [const { None }; STEPS];
        let capabilities = self.implementation.capabilities();
        let count: usize = request.operands().iter().map(|operand| operand.values().len()).sum();
        if count > MOST_VALUES || covers_request(capabilities, request).is_err() {
            return NONE;
        }
        let Some(declared) =
            declared(request, self.turn, &|request| covers_request(capabilities, request).is_ok())
        else {
            return NONE;
        };
        let like = |other: Option<Request>| {
            let plain = other.filter(|other| covers_request(capabilities, other).is_ok())?;
            let declared = declared_like(&plain, &declared)?;
            Some(Step { plain, declared })
        };
        let first = || Some(Step { plain: request.clone(), declared: declared.clone() });
        [first(), like(longer(request, false)), like(longer(request, true)), first()]
    }
}

impl Oracle for Declared<'_> {
    fn name(&self) -> String {
        format!("declared-{}", self.implementation.name())
    }

    fn judge(&self, request: &Request) -> Judgement {
        let mut session = self.session(request);
        // What comes after the step says nothing about it.
        session.iter_mut().skip(self.step + 1).for_each(|step| *step = None);
        let judged = self.judged(&session, None).into_iter().nth(self.step).flatten();
        judged.unwrap_or_else(|| Judgement::Vacuous("the session has no such step".into()))
    }

    /// The request of the step, with its declared shapes.
    fn written(&self, request: &Request) -> Request {
        let step = self.session(request).into_iter().nth(self.step).flatten();
        step.map_or_else(|| request.clone(), |step| step.declared)
    }

    fn condition(&self, request: &Request) -> Option<String> {
        let session = self.session(request);
        let before: Vec<&Step> = session.iter().take(self.step).flatten().collect();
        if before.is_empty() {
            return None;
        }
        let lines = before.iter().flat_map(|step| describe_request(&step.plain));
        let lines: Vec<String> = lines.map(|line| format!("\n  {line}")).collect();
        Some(format!("It was asked right after these, with the same declared shapes:{}", lines.concat()))
    }
}

/// The request with declared shapes: of the ways to declare them, and the requests of a way, the one whose
/// turn it is.
fn declared(request: &Request, turn: u64, covered: &dyn Fn(&Request) -> bool) -> Option<Request> {
    let ways = Way::ALL.len();
    let start = index(turn, ways);
    (0..ways).map(|next| Way::ALL[(start + next) % ways]).find_map(|way| {
        let mut all = way.declare(request);
        all.retain(covered);
        (!all.is_empty()).then(|| all.swap_remove(index(turn / ways as u64, all.len())))
    })
}

fn index(turn: u64, length: usize) -> usize {
    usize::try_from(turn % length as u64).unwrap_or(0)
}

/// The request with the declared shapes of another one, if they admit its shapes.
fn declared_like(request: &Request, other: &Request) -> Option<Request> {
    let declared = |(operand, other): (&Operand, &Operand)| match other.declared() {
        Some(declared) => operand.clone().with_declared(declared.clone()).ok(),
        None => Some(operand.clone()),
    };
    let operands: Option<Vec<Operand>> =
        request.operands().iter().zip(other.operands()).map(declared).collect();
    let made = Request::new(request.rules().clone(), request.operation().clone(), operands?).ok()?;
    match other.declared_target() {
        Some(target) => made.with_declared_target(PartialShape::clone(target)).ok(),
        None => Some(made),
    }
}

/// The request with its longest axes longer by one: in every shape, or only in the first that has one.
fn longer(request: &Request, once: bool) -> Option<Request> {
    let longest = longest_axis(request)?;
    with_length(request, longest, longest + 1, once)
}
