//! Asks a case with its operands given in other ways: a request says what is computed, and a [`Mode`] how the
//! operands reach the system.
//!
//! A system treats a constant, an operand with the value of another, an array that it is given twice and a
//! second call with other shapes in code of their own. Where only the way changes, the outcome must be the
//! case's own. Where values or shapes change, the reference interpreter says what the outcome must be, and
//! the judge compares as always.

pub mod shapes;

use crate::known::Known;
use crate::relations::rewrite::with_operands;
use crate::retype::{Asked, asked, data, integers, sharing, with_values};
use crate::run::{Judged, Status, judged, run_together};
use broadcheck_judge::compare::expectation_of;
use broadcheck_judge::limits::{answer_elements, is_as_cheap};
use broadcheck_judge::text::plural;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Case, DType, Data, Expectation, Function, Implementation, NumberKind, Operand, Request, Scalar,
};
use shapes::{longest_axis, with_length};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// How operands are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Some operands are constants of what is built.
    Constants,
    /// Operands have equal values, and scalars 0, 1, 2, -1 and 0.5.
    Values,
    /// Two operands are the same array.
    Same,
    /// The same expression is asked with other shapes, and then the request again.
    Again,
}

/// One way to give the operands of a request.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The way in words: `a as a constant`.
    pub how: String,
    /// What is asked, one after the other.
    pub steps: Vec<Step>,
}

/// A request of a variant.
#[derive(Clone, Debug)]
pub struct Step {
    /// The request.
    pub request: Request,
    /// Whether its outcome is that of the original request. Otherwise values or shapes differ.
    pub original: bool,
}

/// Subsets of more operands than this are not all asked.
const MOST_SUBSETS: usize = 3;

/// The values among scalars that systems treat specially, doubled.
const HALVES: [i64; 5] = [0, 2, 4, -2, 1];

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 4] = [Mode::Constants, Mode::Values, Mode::Same, Mode::Again];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Constants => "constants",
            Mode::Values => "values",
            Mode::Same => "same",
            Mode::Again => "again",
        }
    }

    /// The ways to give the operands of a request so. None if there is none.
    pub fn variants(self, request: &Request) -> Vec<Variant> {
        if request.declared().next().is_some() {
            return Vec::new();
        }
        match self {
            Mode::Constants => constants(request),
            Mode::Values => equal_values(request).into_iter().chain(special_values(request)).collect(),
            Mode::Same => same(request),
            Mode::Again => again(request),
        }
    }

    /// Why a request has no variant.
    fn why_none(self) -> &'static str {
        match self {
            Mode::Constants => "no operand that could be a constant",
            Mode::Values => "no values that could be equal",
            Mode::Same => "no two operands that could be the same array",
            Mode::Again => "no axis that could have another length",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode(String);

impl UnknownMode {
    /// What was found, and what was expected.
    pub(crate) fn parts(&self) -> (String, String) {
        (format!("`{}`", self.0), format!("one of {}", Mode::ALL.map(Mode::name).join(", ")))
    }
}

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, expected) = self.parts();
        write!(f, "found {found}, expected {expected}")
    }
}

impl std::error::Error for UnknownMode {}

impl FromStr for Mode {
    type Err = UnknownMode;
    fn from_str(name: &str) -> Result<Mode, UnknownMode> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| UnknownMode(name.into()))
    }
}

fn one_step(how: String, request: Option<Request>, original: bool) -> Option<Variant> {
    Some(Variant { how, steps: vec![Step { request: request?, original }] })
}

/// Every subset of the operands as constants if they are few; otherwise each one, and all.
fn constants(request: &Request) -> Vec<Variant> {
    let operation = request.operation();
    let may = |place: &usize| {
        let is_fixed = operation.wrt() == Some(*place) || operation.destination() == Some(*place);
        !is_fixed && !request.operands()[*place].reads_destination()
    };
    let places: Vec<usize> = (0..request.operands().len()).filter(may).collect();
    let subsets: Vec<Vec<usize>> = if places.len() <= MOST_SUBSETS {
        (1..1usize << places.len())
            .map(|bits| {
                places.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, &p)| p).collect()
            })
            .collect()
    } else {
        places.iter().map(|&place| vec![place]).chain([places.clone()]).collect()
    };
    let variant = |subset: Vec<usize>| {
        let operands = request.operands().iter().enumerate().map(|(place, operand)| {
            if subset.contains(&place) { operand.clone().as_constant() } else { operand.clone() }
        });
        let made = with_operands(request, operands.collect());
        let names: Vec<&str> = subset.iter().map(|&place| request.operands()[place].name()).collect();
        let what = if names.len() == 1 { "as a constant" } else { "as constants" };
        one_step(format!("{} {what}", names.join(", ")), made, true)
    };
    subsets.into_iter().filter_map(variant).collect()
}

/// Whether the values of operands may be changed: the derivative of the expression exists for all of them. At
/// a tie of `maximum` or `minimum`, and of `abs` at 0, systems are free.
fn may_change(request: &Request) -> bool {
    let Some((expression, ..)) = request.operation().differentiated() else { return true };
    let kinks = [Function::Maximum, Function::Minimum, Function::Abs];
    !expression.calls().any(|call| kinks.contains(&call.function()))
}

fn is_number(operand: &Operand) -> bool {
    operand.dtype().kind() != NumberKind::Truth
}

/// The request with other values of some operands, where `values` gives them.
fn revalued(request: &Request, values: impl Fn(&Operand) -> Option<Data>) -> Option<Request> {
    if !may_change(request) {
        return None;
    }
    let operands = request.operands().iter().map(|operand| match values(operand) {
        Some(data) if !operand.reads_destination() => with_values(operand, data),
        Some(_) | None => Some(operand.clone()),
    });
    let made = with_operands(request, sharing(request, operands.collect::<Option<_>>()?)?)?;
    (made != *request).then_some(made)
}

/// Every operand has the values of the first one of its dtype, from the first on and over and over.
fn equal_values(request: &Request) -> Option<Variant> {
    let made = revalued(request, |operand| {
        let first = request.operands().iter().find(|first| first.dtype() == operand.dtype())?;
        let values: Vec<Scalar> = first.values().iter().collect();
        let count = operand.values().len();
        if count > 0 && values.is_empty() {
            return None;
        }
        Data::from_scalars(operand.dtype(), values.into_iter().cycle().take(count)).ok()
    });
    one_step("equal values".into(), made, false)
}

/// Every operand of one element has the same value, once for each special one.
fn special_values(request: &Request) -> impl Iterator<Item = Variant> + '_ {
    HALVES.into_iter().filter_map(|doubled| {
        let made = revalued(request, |operand| {
            let single = operand.shape().count() == Some(1) && is_number(operand);
            let value = single.then(|| special(operand.dtype(), doubled))??;
            let all = operand.values().iter().map(|_| value);
            Data::from_scalars(operand.dtype(), all).ok()
        });
        let shown = if doubled == 1 { "0.5".to_owned() } else { (doubled / 2).to_string() };
        one_step(format!("{shown} in place of scalars"), made, false)
    })
}

/// Half of an integer, in a dtype that has it.
fn special(dtype: DType, doubled: i64) -> Option<Scalar> {
    if dtype.is_float() {
        let two = data(dtype, vec![doubled]).get(0)?;
        return match two {
            Scalar::F64(value) => Some(Scalar::F64(value / 2.0)),
            Scalar::F32(value) => Some(Scalar::F32(value / 2.0)),
            Scalar::F16(value) => {
                Some(Scalar::F16(broadcheck_spec::half::f16::from_f32(value.to_f32() / 2.0)))
            }
            Scalar::Bf16(value) => {
                Some(Scalar::Bf16(broadcheck_spec::half::bf16::from_f32(value.to_f32() / 2.0)))
            }
            Scalar::I64(_)
            | Scalar::I32(_)
            | Scalar::I16(_)
            | Scalar::I8(_)
            | Scalar::U64(_)
            | Scalar::U32(_)
            | Scalar::U16(_)
            | Scalar::U8(_)
            | Scalar::Bool(_) => None,
        };
    }
    let (least, _) = integers(dtype);
    let whole = doubled / 2;
    (doubled % 2 == 0 && i128::from(whole) >= i128::from(least)).then(|| data(dtype, vec![whole]).get(0))?
}

/// Two operands that differ only in their values as the same array: every pair of few operands, otherwise
/// each operand with the first that it is like.
fn same(request: &Request) -> Vec<Variant> {
    if request.operation().destination().is_some() || !may_change(request) {
        return Vec::new();
    }
    let operands = request.operands();
    let like = |first: &Operand, second: &Operand| {
        first.dtype() == second.dtype()
            && first.shape() == second.shape()
            && first.strides() == second.strides()
            && first.offset() == second.offset()
            && first.broadcastable() == second.broadcastable()
            && first.values().len() == second.values().len()
    };
    let pairs = (0..operands.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let pairs = pairs.filter(|&(first, second)| like(&operands[first], &operands[second]));
    let pairs: Vec<(usize, usize)> = if operands.len() <= MOST_SUBSETS {
        pairs.collect()
    } else {
        let mut pairs: Vec<(usize, usize)> = pairs.collect();
        pairs.dedup_by_key(|&mut (_, second)| second);
        pairs
    };
    let variant = |(first, second): (usize, usize)| {
        let mut changed = operands.to_vec();
        let array = with_values(&operands[second], operands[first].values().clone())?;
        changed[second] = array.same_as(operands[first].name());
        let how = format!("{} and {} as the same array", operands[first].name(), operands[second].name());
        one_step(how, with_operands(request, changed), false)
    };
    pairs.into_iter().filter_map(variant).collect()
}

/// The request, the same expression with other lengths, and the request again.
fn again(request: &Request) -> Vec<Variant> {
    let Some(longest) = longest_axis(request) else { return Vec::new() };
    let others = [
        (longest + 1, false, "longer axes"),
        (longest + 1, true, "one longer axis"),
        (1, true, "an axis of length 1"),
        (0, false, "axes of length 0"),
    ];
    let variant = |(to, once, what): (usize, bool, &str)| {
        let other = with_length(request, longest, to, once).filter(|other| is_as_cheap(other, request))?;
        let first = || Step { request: request.clone(), original: true };
        let between = Step { request: other, original: false };
        Some(Variant { how: format!("again after {what}"), steps: vec![first(), between, first()] })
    };
    others.into_iter().filter_map(variant).collect()
}

/// Runs each case with its operands given in these modes, and applies the known failures: a case that fails
/// in a mode and is known to fail is known to. It passes if it passes in every way in which it could be
/// asked. The results have the order of the cases.
pub fn run_given(
    implementation: &dyn Implementation,
    cases: &[&Case],
    known: Option<&Known>,
    modes: &[Mode],
) -> Vec<Judged> {
    let one = |case: &&Case| {
        let judged = run_one(implementation, case, modes);
        // A failure of this mode. It is to be listed as long as it fails.
        if let Some(entry) = known.and_then(|known| known.entry_given(&case.id, modes)) {
            return entry.applied_to(judged);
        }
        // A known failure may pass with other values: that says nothing about the case.
        match known.and_then(|known| known.entry(&case.id)) {
            Some(entry) if judged.status.is_failure() => entry.applied_to(judged),
            Some(_) | None => judged,
        }
    };
    cases.iter().map(one).collect()
}

/// A variant as cases.
struct Way {
    how: String,
    cases: Vec<Case>,
}

fn run_one(implementation: &dyn Implementation, case: &Case, modes: &[Mode]) -> Judged {
    let capabilities = implementation.capabilities();
    let original = match asked(case, capabilities) {
        Ok(asked) => asked,
        Err(reason) => return Judged::new(Status::Skipped, reason),
    };
    let mut ways: Vec<Way> = Vec::new();
    let mut reason = None;
    for &mode in modes {
        let mut variants = mode.variants(&original.case.request);
        variants.retain(|variant| match covered(implementation, variant) {
            Ok(()) => true,
            Err(why) => {
                reason.get_or_insert(why);
                false
            }
        });
        ways.extend(variants.into_iter().filter_map(|variant| way(&original, variant)));
    }
    if ways.is_empty() {
        let none = || modes.first().map_or("no mode", |mode| mode.why_none()).to_owned();
        return Judged::new(Status::Skipped, reason.unwrap_or_else(none));
    }
    let requests: Vec<&Request> = ways.iter().flat_map(|way| &way.cases).map(|case| &case.request).collect();
    let mut outcomes = run_together(implementation, &requests).into_iter();
    let judge = |case: &Case| {
        let asked = Asked { case: Cow::Borrowed(case), retyped: original.retyped };
        outcomes.next().map(|outcome| judged(implementation, &asked, outcome))
    };
    let mut judge = judge;
    let all: Vec<(Judged, &Way)> = ways
        .iter()
        .filter_map(|way| {
            let steps: Vec<Judged> = way.cases.iter().filter_map(&mut judge).collect();
            worst(steps).map(|judged| (judged, way))
        })
        .collect();
    summary(all)
}

/// Whether every step of a variant can be asked.
fn covered(implementation: &dyn Implementation, variant: &Variant) -> Result<(), String> {
    let capabilities = implementation.capabilities();
    variant.steps.iter().try_for_each(|step| {
        capabilities.covers(&step.request)?;
        if step.original { Ok(()) } else { answer_elements(capabilities, &step.request).map(|_| ()) }
    })
}

/// The variant with what must come of its steps; `None` if the reference does not answer one.
fn way(original: &Asked<'_>, variant: Variant) -> Option<Way> {
    let cases = variant.steps.into_iter().map(|step| {
        let expectation =
            if step.original { original.case.expectation.clone() } else { expected(&step.request)? };
        Some(Case { request: step.request, expectation, ..(*original.case).clone() })
    });
    Some(Way { how: variant.how, cases: cases.collect::<Option<Vec<Case>>>()? })
}

/// What the reference interpreter answers.
fn expected(request: &Request) -> Option<Expectation> {
    expectation_of(&Reference::new().run(request))
}

/// A failure, else an answer that differs from a convention, else any.
fn worst(steps: Vec<Judged>) -> Option<Judged> {
    let of = |judged: &Judged| match judged.status {
        Status::Failed | Status::Errored | Status::UnexpectedPass => 0,
        Status::Differs => 1,
        Status::Passed | Status::Agrees | Status::Skipped | Status::KnownFailure => 2,
    };
    steps.into_iter().min_by_key(of)
}

/// The results of all ways as one.
fn summary(all: Vec<(Judged, &Way)>) -> Judged {
    let count = all.len();
    let failed = all.iter().filter(|(judged, _)| judged.status.is_failure()).count();
    let how = all.iter().find(|(judged, _)| judged.status.is_failure()).map(|(_, way)| way.how.clone());
    let judged = worst(all.into_iter().map(|(judged, _)| judged).collect());
    let Some(judged) = judged else { return Judged::new(Status::Errored, "found no answer") };
    match how {
        Some(how) => {
            let ways = plural(count, "way");
            Judged { detail: format!("given {how}: {} ({failed} of {ways})", judged.detail), ..judged }
        }
        None => judged,
    }
}

#[cfg(test)]
mod tests;
