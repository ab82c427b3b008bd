//! Asks a case in a dtype that the library has.
//!
//! Most cases are about shapes, alignment, views or sums of gradients. Their numbers are small, and any
//! numeric dtype would do, but a case is written in one of them, mostly f64. A library without that dtype is
//! asked the same case with the same numbers in another one: the case is *retyped*. One such case is
//! `numpy/zero/one-with-zero-on-the-first-axis as f32`.
//!
//! Whether a case can be retyped is worked out from the case and never marked by hand. It can if the same
//! numbers give the same answer in the other dtype, and nothing in between is rounded, wraps or overflows:
//!
//! - its clause is not about a dtype or about arithmetic (V-1 to V-6, G-3);
//! - its operands other than bool have one dtype; bool operands stay bool;
//! - every number that is read, and every number of the expected result, is finite, is not -0, and is exactly
//!   representable in the other dtype;
//! - every step of the expression has the same value in both dtypes, and the reference interpreter gives
//!   exactly the expected result, or refuses both requests for the same reason.
//!
//! The expected result is always the case's own, converted. Numbers that nothing reads (between the elements
//! of a view, in an operand whose elements do not reach the result, in a refused request) are kept if the
//! other dtype represents them, and otherwise replaced by a number that no element of the operand has, so
//! that reading them is still an error that shows.
//!
//! Where the numbers do not fit, a sum or a difference is *renumbered*: each operand gets smaller numbers in
//! the same order, and the expected result is added up from those. Which numbers it consists of is read off
//! the case's own expected result.

mod numbers;
mod renumber;
mod same;

pub(crate) use numbers::{data, integers};

use broadcheck_judge::limits::covers;
use broadcheck_spec::{
    Capabilities, Case, DType, Data, Expectation, ExpectedRefusal, ExpectedResult, MAX_COUNT, Nature,
    NumberKind, Operand, Operation, OperationKind, RefusalKind, Request, Scalar, Shape, Tensor, clauses,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The dtypes in the order in which they are tried: wide before narrow, signed before unsigned.
pub const ORDER: [DType; 12] = [
    DType::F64,
    DType::F32,
    DType::I64,
    DType::I32,
    DType::F16,
    DType::Bf16,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
];

/// A case as an implementation is asked it: as written, or retyped.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The case to ask. Its id is that of the case as written.
    pub case: Cow<'a, Case>,
    /// The dtype that the case was retyped to; `None` for a case as written.
    pub retyped: Option<DType>,
}

impl Asked<'_> {
    /// The name in reports and of the test: the id, or, if the case was retyped, the id with the dtype, as
    /// `numpy/zero/one-with-zero-on-the-first-axis as f32`.
    pub fn name(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.retyped {
            Some(dtype) => write!(f, "{} as {dtype}", self.case.id),
            None => f.write_str(&self.case.id),
        }
    }
}

/// The case as an implementation with these capabilities is asked it: as written if they cover it, otherwise
/// in the first dtype of [`ORDER`] in which they cover it and to which it can be retyped.
///
/// # Errors
/// Why the case is not asked: what it needs beyond the capabilities in every dtype, if there is such a thing,
/// because another dtype would not help; otherwise what it needs as written.
pub fn asked<'a>(case: &'a Case, capabilities: &Capabilities) -> Result<Asked<'a>, String> {
    let Err(reason) = covers(capabilities, &case.request, &case.expectation) else {
        return Ok(Asked { case: Cow::Borrowed(case), retyped: None });
    };
    // What is lacking in every dtype is lacking after retyping, too. Testing this first saves the work for
    // eleven dtypes.
    of_every_dtype(capabilities).covers(&case.request)?;
    let candidates = ORDER.into_iter().filter(|dtype| capabilities.dtypes.contains(dtype));
    for dtype in candidates {
        let found = retyped_if(case, dtype, |request| capabilities.covers(request).is_ok());
        if let Some(case) =
            found.filter(|case| covers(capabilities, &case.request, &case.expectation).is_ok())
        {
            return Ok(Asked { case: Cow::Owned(case), retyped: Some(dtype) });
        }
    }
    Err(reason)
}

/// The same capabilities, for every dtype.
fn of_every_dtype(capabilities: &Capabilities) -> Capabilities {
    Capabilities {
        dtypes: DType::ALL.to_vec(),
        function_dtypes: BTreeMap::new(),
        flushed_subnormals: Vec::new(),
        ..capabilities.clone()
    }
}

/// The case in another dtype; `None` if it cannot be retyped to it, or if it already has this dtype.
pub fn retyped(case: &Case, to: DType) -> Option<Case> {
    retyped_if(case, to, |_| true)
}

/// [`retyped`], if `wanted` accepts the retyped request. It is asked before the expensive checks.
fn retyped_if(case: &Case, to: DType, wanted: impl Fn(&Request) -> bool) -> Option<Case> {
    let from = dtype_of(&case.request)?;
    if from == to || to == DType::Bool || is_about_dtypes(case, to.is_float() == from.is_float()) {
        return None;
    }
    if !fits_in_bytes(case, to) && fits_in_bytes(case, from) {
        return None;
    }
    if !wanted(&with_other_numbers(&case.request, from, to)?) {
        return None;
    }
    let found = with_same_numbers(case, from, to);
    found.filter(|found| same::answer(&case.request, found)).or_else(|| {
        let renumbered = |variant: &Case| {
            let found = with_same_numbers(variant, DType::F64, to)?;
            same::answer(&variant.request, &found).then_some(found)
        };
        renumber::variants(case, to).find_map(|variant| renumbered(&variant))
    })
}

/// Whether every shape of a case has at most 2^63-1 bytes in a dtype, not counting lengths of 0. A library
/// may count bytes where clause G-1 counts elements, so a case close to that bound is not asked in a wider
/// dtype.
fn fits_in_bytes(case: &Case, dtype: DType) -> bool {
    let bytes = u128::from(bytes_of(dtype));
    let fits = |shape: &Shape| shape.extent().saturating_mul(bytes) <= u128::from(MAX_COUNT);
    let target = case.request.operation().target_shape();
    let result = match &case.expectation {
        Expectation::Result(expected) => Some(expected.tensor.shape()),
        Expectation::Refusal(_) => None,
    };
    case.request.operands().iter().map(Operand::shape).chain(target).chain(result).all(fits)
}

/// The size of an element.
fn bytes_of(dtype: DType) -> u8 {
    match dtype {
        DType::F64 | DType::I64 | DType::U64 => 8,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
        DType::I8 | DType::U8 | DType::Bool => 1,
    }
}

/// A request of the same shapes and expression in another dtype, as far as capabilities are concerned the
/// retyped one.
fn with_other_numbers(request: &Request, from: DType, to: DType) -> Option<Request> {
    let one = numbers::number(Scalar::U8(1), to)?;
    let operands = request.operands().iter().map(|operand| {
        if operand.dtype() != from {
            return Some(operand.clone());
        }
        with_values(operand, Data::from_scalars(to, (0..operand.values().len()).map(|_| one)).ok()?)
    });
    let operands = operands.collect::<Option<Vec<_>>>()?;
    let operation = with_cotangent(request.operation(), from, |values| {
        Data::from_scalars(to, (0..values.len()).map(|_| one)).ok()
    })?;
    rebuilt(request, operation, operands)
}

/// The case in another dtype; `None` if that does not represent its numbers. The caller checks whether the
/// answer is still the expected one.
fn with_same_numbers(case: &Case, from: DType, to: DType) -> Option<Case> {
    let expectation = expectation(&case.expectation, from, to)?;
    let request = request(&case.request, &case.expectation, from, to)?;
    Some(Case {
        id: case.id.clone(),
        title: case.title.clone(),
        clause: case.clause.clone(),
        convention: case.convention,
        examples: case.examples.clone(),
        sources: case.sources.clone(),
        origin: case.origin.clone(),
        request,
        expectation,
        note: case.note.clone(),
        location: case.location.clone(),
    })
}

/// The only dtype of the operands that are not bool; `None` if they have several, or if all are bool.
pub fn dtype_of(request: &Request) -> Option<DType> {
    let mut numbers = request.operands().iter().map(Operand::dtype).filter(|&dtype| !is_bool(dtype));
    let first = numbers.next()?;
    numbers.all(|dtype| dtype == first).then_some(first)
}

fn is_bool(dtype: DType) -> bool {
    dtype.kind() == NumberKind::Truth
}

/// Whether the case tests a dtype or arithmetic: its clause, convention or refusal is about them, or its
/// result has a tolerance. That a function has no derivative is as true for one float dtype as for another.
fn is_about_dtypes(case: &Case, same_kind: bool) -> bool {
    let is_arithmetic = clauses::get(&case.clause).is_some_and(|clause| clause.nature == Nature::Arithmetic);
    if is_arithmetic || case.clause == "G-3" {
        return true;
    }
    match &case.expectation {
        Expectation::Result(result) => result.tolerance_ulp.is_some() || result.any_zero_sign,
        Expectation::Refusal(ExpectedRefusal { kind: Some(RefusalKind::DTypeMismatch), .. }) => true,
        Expectation::Refusal(ExpectedRefusal { kind: Some(RefusalKind::UnsupportedFunction), .. }) => {
            !(same_kind && case.request.operation().kind() == OperationKind::Gradient)
        }
        Expectation::Refusal(_) => false,
    }
}

fn expectation(expectation: &Expectation, from: DType, to: DType) -> Option<Expectation> {
    match expectation {
        Expectation::Refusal(ExpectedRefusal { .. }) => Some(expectation.clone()),
        Expectation::Result(result) => {
            let intermediate = match &result.intermediate {
                Some(tensor) => Some(converted(tensor, from, to)?),
                None => None,
            };
            Some(Expectation::Result(ExpectedResult {
                tensor: converted(&result.tensor, from, to)?,
                intermediate,
                broadcastable: result.broadcastable.clone(),
                tolerance_ulp: result.tolerance_ulp,
                any_zero_sign: result.any_zero_sign,
            }))
        }
    }
}

/// A tensor of the dtype `from` in the dtype `to`. A bool tensor stays as it is.
fn converted(tensor: &Tensor, from: DType, to: DType) -> Option<Tensor> {
    if is_bool(tensor.dtype()) {
        return Some(tensor.clone());
    }
    let values = (tensor.dtype() == from).then(|| numbers::converted(tensor.values(), to))??;
    Tensor::new(tensor.shape().clone(), values).ok()
}

fn request(request: &Request, expectation: &Expectation, from: DType, to: DType) -> Option<Request> {
    let operands = request.operands().iter().enumerate().map(|(place, operand)| {
        if operand.dtype() != from {
            return Some(operand.clone());
        }
        let values = numbers::converted(operand.values(), to).or_else(|| {
            let read = if is_read(request, expectation, place) { positions(operand)? } else { Vec::new() };
            numbers::with_replacements(operand.values(), &read, to)
        })?;
        with_values(operand, values)
    });
    let operands = sharing(request, operands.collect::<Option<Vec<_>>>()?)?;
    let operation = with_cotangent(request.operation(), from, |values| numbers::converted(values, to))?;
    rebuilt(request, operation, operands)
}

/// A request with another operation and other operands, and the declared shape of its target.
fn rebuilt(request: &Request, operation: Operation, operands: Vec<Operand>) -> Option<Request> {
    let made = Request::new(request.rules().clone(), operation, operands).ok()?;
    match request.declared_target() {
        Some(declared) => made.with_declared_target(declared.clone()).ok(),
        None => Some(made),
    }
}

/// The operands, where those that read the destination's buffer read that of the new destination.
pub(crate) fn sharing(request: &Request, operands: Vec<Operand>) -> Option<Vec<Operand>> {
    let Some(place) = request.operation().destination() else { return Some(operands) };
    let shared = |(new, old): (&Operand, &Operand)| {
        if !old.reads_destination() {
            return Some(new.clone());
        }
        let strides = old.strides().map(<[i64]>::to_vec);
        let offset = strides.is_some().then(|| old.offset());
        Operand::of(&operands[place], old.name(), old.shape().clone(), strides, offset).ok()
    };
    operands.iter().zip(request.operands()).map(shared).collect()
}

/// The operation with other values of its cotangent, if it has one of this dtype.
fn with_cotangent(
    operation: &Operation,
    from: DType,
    values: impl Fn(&Data) -> Option<Data>,
) -> Option<Operation> {
    let Operation::Vjp { expression, wrt, target_shape, cotangent } = operation else {
        return Some(operation.clone());
    };
    let cotangent = if cotangent.dtype() == from {
        Box::new(with_values(cotangent, values(cotangent.values())?)?)
    } else {
        cotangent.clone()
    };
    let (expression, target_shape) = (expression.clone(), target_shape.clone());
    Some(Operation::Vjp { expression, wrt: *wrt, target_shape, cotangent })
}

/// Whether an element of the operand can reach the answer.
fn is_read(request: &Request, expectation: &Expectation, place: usize) -> bool {
    let Expectation::Result(result) = expectation else { return false };
    match request.operation() {
        Operation::Elementwise { expression } => {
            // The intermediate of XLA-8 may have elements although the result has none.
            (expression.reads(place) && !result.tensor.shape().contains(&0)) || result.intermediate.is_some()
        }
        // The operands that share the destination's buffer are converted with it.
        Operation::Into { .. } => true,
        Operation::Broadcast { .. } => !result.tensor.shape().contains(&0),
        Operation::Gradient { expression, .. } | Operation::Vjp { expression, .. } => expression.reads(place),
    }
}

/// The same operand over other values.
pub(crate) fn with_values(operand: &Operand, values: impl Into<Data>) -> Option<Operand> {
    let (name, shape) = (operand.name(), operand.shape().clone());
    let changed = match operand.strides() {
        Some(strides) => Operand::view(name, shape, values, Some(strides.to_vec()), operand.offset()),
        None => Operand::dense(name, shape, values),
    };
    let changed = match operand.broadcastable() {
        Some(flags) => changed.ok()?.with_broadcastable(flags.to_vec()),
        None => changed,
    };
    let changed = match operand.declared() {
        Some(declared) => changed.ok()?.with_declared(declared.clone()).ok(),
        None => changed.ok(),
    };
    changed.map(|changed| changed.given_like(operand))
}

/// The positions of a view with more elements than this are not listed, not counting axes of stride 0.
const MOST_POSITIONS: usize = 1 << 16;

/// The positions of the buffer that the operand's elements are at; `None` if they are too many to list.
fn positions(operand: &Operand) -> Option<Vec<usize>> {
    let Some(strides) = operand.strides() else { return Some((0..operand.values().len()).collect()) };
    if operand.shape().contains(&0) {
        return Some(Vec::new());
    }
    let mut found = vec![i64::try_from(operand.offset()).ok()?];
    // An axis of stride 0 adds no position, however long it is.
    let axes = operand.shape().iter().zip(strides).filter(|&(_, &stride)| stride != 0);
    for (&length, &stride) in axes {
        found.len().checked_mul(length).filter(|&count| count <= MOST_POSITIONS)?;
        let steps = 0..i64::try_from(length).ok()?;
        found = steps.flat_map(|step| found.iter().map(move |place| place + step * stride)).collect();
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|place| usize::try_from(place).ok()).collect()
}

/// Every index of a shape in row-major order.
fn indices(shape: &Shape) -> impl Iterator<Item = Vec<usize>> + '_ {
    let count = shape.count().unwrap_or(0);
    (0..count).map(move |mut place| {
        let mut index = vec![0; shape.rank()];
        for (step, &length) in index.iter_mut().zip(shape.iter()).rev() {
            *step = place % length;
            place /= length;
        }
        index
    })
}

#[cfg(test)]
mod tests;
