//! Plans for shapes that are known only in part: made once for a signature, run with any lengths that it
//! admits.
//!
//! What depends on lengths (the result's shape, the route, the tiles) is planned at a run, and kept for later
//! ones, so lengths that alternate are planned once. A kept plan is used only for views with exactly its
//! dtypes, shapes, strides and offsets; anything else is checked and planned anew, and an error replaces
//! nothing.
//!
//! The plans of the first lengths are kept for good, so they are read without a lock. Those of later ones are
//! behind a lock for readers and a writer, for which a run never waits: a thread that cannot read them plans
//! for itself, and one that cannot write does not keep its plan. So a run that steals another run of the same
//! plan, as the tasks of a pool of threads do, cannot block itself.

use crate::arch::table;
use crate::error::{Misfit, NoPlan, WrongBuffers};
use crate::infer::infer;
use crate::inline_capacity::OPERANDS;
use crate::lower::{check_operand_count, differentiable, expression_dtype};
use crate::problem::{Computed, Form, Problem};
use crate::tiny::TinyCall;
use crate::{Input, Level, Output, Plan, View};
use broadcheck_spec::{
    Accepts, Asked, DType, Expression, Inference, OperandType, PartialShape, Shape, Signature, Tensor,
};
use smallvec::SmallVec;
use std::sync::{OnceLock, RwLock};

/// How many plans of the first lengths are kept, and how many of the latest ones of the others. Looking
/// through them takes a few nanoseconds for each, because a key of other lengths differs in its first words.
const KEPT: usize = 8;

/// The words of a key that are stored inline: of three dense operands of rank 3.
const KEY_WORDS: usize = 12;

/// What a plan computes of the operands of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The result of the signature's expression, or the broadcast operand.
    Value,
    /// The gradient of the sum of the result's elements with respect to one operand (clause GRAD-1).
    Gradient {
        /// The operand's position in the signature's list.
        wrt: usize,
    },
    /// The gradient of the sum of the result times a cotangent (clause GRAD-4). The cotangent is the last
    /// view of a run. It has the dtype and the shape of the result.
    Vjp {
        /// The operand's position in the signature's list.
        wrt: usize,
    },
}

impl Wanted {
    fn wrt(self) -> Option<usize> {
        match self {
            Wanted::Value => None,
            Wanted::Gradient { wrt } | Wanted::Vjp { wrt } => Some(wrt),
        }
    }

    /// The number of views beside the operands.
    fn cotangents(self) -> usize {
        match self {
            Wanted::Value | Wanted::Gradient { .. } => 0,
            Wanted::Vjp { .. } => 1,
        }
    }
}

/// How to compute requests with certain dtypes and a certain expression, whose lengths, and even ranks, are
/// known only at the run.
///
/// Every run checks the lengths against the signature and, by its rule set, against each other. The result
/// has the bits that a new [`Plan`] would compute. The plans of the first eight different lengths are kept,
/// and of the latest eight others, so calls with one of them cost little more than those of a [`Plan`].
/// Threads can share a plan; none ever waits for another.
///
/// ```
/// use broadcheck_fast::{Plan, View};
/// use broadcheck_spec::{Asked, DType, Expression, Function, OperandType, PartialShape, Rules, Signature};
///
/// let operand = |name, shape: &str| {
///     OperandType::new(name, DType::F64, shape.parse::<PartialShape>().unwrap()).unwrap()
/// };
/// let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
/// let operands = vec![operand("a", "?x3"), operand("b", "?")];
/// let signature = Signature::new(Rules::Numpy, Asked::Expression(sum), operands).unwrap();
///
/// let plan = Plan::for_signature(&signature).unwrap();
/// assert_eq!(plan.shape().to_string(), "(?,3)");
///
/// let (a, b) = ([0.5; 6], [1.0, 2.0, 3.0]);
/// let sum = plan.run(&[View::dense(&a[..], &[2, 3]), View::dense(&b[..], &[3])]).unwrap();
/// assert_eq!(sum.shape().lengths(), [2, 3]);
///
/// let misfit = plan.run(&[View::dense(&a[..], &[3, 2]), View::dense(&b[..], &[3])]).unwrap_err();
/// assert_eq!(misfit.to_string(), "operand 0, axis 1: found length 2, expected 3");
/// let misfit = plan.run(&[View::dense(&a[..], &[2, 3]), View::dense(&b[..], &[2])]).unwrap_err();
/// assert_eq!(
///     misfit.to_string(),
///     "dimension_mismatch at axis 1: lengths 3 and 2 cannot be broadcast together"
/// );
/// ```
pub struct SignaturePlan {
    signature: Signature,
    wanted: Wanted,
    level: Level,
    /// The expression, or the only operand of a `broadcast`.
    expression: Expression,
    /// The target of a `broadcast`, if all of it is known.
    known_target: Option<Shape>,
    inferred: Inference,
    kept: Plans,
}

/// The plans of some lengths. All memory for them is allocated in advance, so that runs allocate nothing.
struct Plans {
    /// Of the first ones, which stay. They fill up in order.
    first: Box<[OnceLock<Kept>]>,
    later: RwLock<Latest>,
}

/// The plans of the latest lengths.
struct Latest {
    plans: Vec<Kept>,
    /// The place of the oldest one, once there are as many as are kept.
    oldest: usize,
}

/// A plan and what it was made for.
struct Kept {
    key: Key,
    plan: Plan,
}

impl Plans {
    fn new() -> Plans {
        let later = Latest { plans: Vec::with_capacity(KEPT), oldest: 0 };
        Plans { first: (0..KEPT).map(|_| OnceLock::new()).collect(), later: RwLock::new(later) }
    }

    fn first(&self) -> impl Iterator<Item = &Kept> {
        self.first.iter().map_while(OnceLock::get)
    }

    /// Keeps a plan: in the first place that is free, or in that of the oldest of the latest ones. A plan
    /// that another thread has made, too, is kept once. Only the thread with the lock fills a place, so that
    /// none waits for another to fill it.
    fn keep(&self, kept: Kept) {
        let Ok(mut later) = self.later.try_write() else { return };
        if self.first().chain(&later.plans).any(|other| other.key == kept.key) {
            return;
        }
        if let Some(place) = self.first.iter().find(|place| place.get().is_none()) {
            let _ = place.set(kept);
        } else if later.plans.len() < KEPT {
            later.plans.push(kept);
        } else {
            let oldest = later.oldest;
            later.plans[oldest] = kept;
            later.oldest = (oldest + 1) % KEPT;
        }
    }
}

/// What was kept for these operands and this target.
#[inline]
fn find<'a>(
    mut kept: impl Iterator<Item = &'a Kept>,
    operands: &[View<'_>],
    target: Option<&[usize]>,
) -> Option<&'a Kept> {
    kept.find(|kept| kept.key.is_of(operands, target))
}

impl std::fmt::Debug for SignaturePlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut plan = f.debug_struct("SignaturePlan");
        plan.field("signature", &self.signature).field("wanted", &self.wanted).field("level", &self.level);
        plan.field("inferred", &self.inferred).finish_non_exhaustive()
    }
}

impl SignaturePlan {
    /// The plan that computes what is wanted of a signature, at a SIMD level or, if the machine lacks it, at
    /// the portable level. [`Plan::for_signature`] is the shorter form for values.
    ///
    /// # Errors
    /// [`NoPlan::Refused`], if the rule set refuses every run, or the dtypes; [`NoPlan::NoOperand`], if the
    /// operand of a gradient does not exist. If every length is known, also what [`Plan::new`] returns.
    pub fn new(signature: &Signature, wanted: Wanted, level: Level) -> Result<SignaturePlan, NoPlan> {
        let inferred = inferred(signature, wanted)?;
        let (expression, known_target) = match signature.asked() {
            Asked::Expression(expression) => (expression.clone(), None),
            Asked::TargetShape(target) => (Expression::operand(0), target.known()),
        };
        let kept = Plans::new();
        let signature = signature.clone();
        let plan = SignaturePlan { signature, wanted, level, expression, known_target, inferred, kept };
        if plan.wanted.cotangents() == 0 && plan.signature.is_known() {
            plan.kept.keep(plan.of_known_lengths()?);
        }
        Ok(plan)
    }

    /// Whether this is the plan of a signature at a level.
    pub(crate) fn is_of(&self, signature: &Signature, wanted: Wanted, level: Level) -> bool {
        self.wanted == wanted && self.level == level && self.signature == *signature
    }

    /// What is known of the shape of the result before a run: exactly the shapes that accepted runs have, or,
    /// of a gradient, the shape of its operand.
    pub fn shape(&self) -> &PartialShape {
        &self.inferred.shape
    }

    /// The dtype of the result.
    pub fn dtype(&self) -> DType {
        self.inferred.dtype
    }

    /// Whether the rule set accepts every run with lengths that the signature admits, or only some.
    pub fn accepts(&self) -> Accepts {
        self.inferred.accepts.unwrap_or(Accepts::Depends)
    }

    /// Under `theano`, the flags of the result (clause THEANO-4).
    pub fn broadcastable(&self) -> Option<&[bool]> {
        self.inferred.broadcastable.as_deref()
    }

    /// Computes the result for these operands into new memory.
    ///
    /// # Errors
    /// [`Misfit`], if the operands do not have the signature's dtypes, ranks and lengths, if the rule set
    /// refuses their lengths, if the result has too many elements, or if a view reaches outside its buffer.
    pub fn run(&self, operands: &[View<'_>]) -> Result<Tensor, Misfit> {
        self.compute(operands, None)
    }

    /// Computes the result for these operands into the caller's buffer, which must have as many places as the
    /// result has elements. [`SignaturePlan::plan_for`] says how many that is.
    ///
    /// # Errors
    /// As for [`SignaturePlan::run`], and if the output does not match.
    pub fn run_into(&self, operands: &[View<'_>], output: Output<'_>) -> Result<(), Misfit> {
        self.compute_into(operands, None, output)
    }

    /// The same as [`SignaturePlan::run`] for a `broadcast`, or the gradient of one, with its target.
    ///
    /// # Errors
    /// As for [`SignaturePlan::run`], and if the signature does not admit the target or has none.
    pub fn run_onto(&self, operands: &[View<'_>], target: &[usize]) -> Result<Tensor, Misfit> {
        self.compute(operands, Some(target))
    }

    /// The same as [`SignaturePlan::run_into`] for a `broadcast`, or the gradient of one, with its target.
    ///
    /// # Errors
    /// As for [`SignaturePlan::run_onto`], and if the output does not match.
    pub fn run_onto_into(
        &self,
        operands: &[View<'_>],
        target: &[usize],
        output: Output<'_>,
    ) -> Result<(), Misfit> {
        self.compute_into(operands, Some(target), output)
    }

    /// The plan of fixed shapes for these operands, whose values are not read, and for the target of a
    /// `broadcast`, which can be left out if the signature knows all of it. It is neither taken from the
    /// plans of earlier lengths nor kept.
    ///
    /// # Errors
    /// As for [`SignaturePlan::run_onto`], except for buffers that are too short.
    pub fn plan_for(&self, operands: &[View<'_>], target: Option<&[usize]>) -> Result<Plan, Misfit> {
        let own = self.signature.operands();
        let expected = own.len() + self.wanted.cotangents();
        if operands.len() != expected {
            return Err(WrongBuffers::Operands { found: operands.len(), expected }.into());
        }
        for (place, (view, operand)) in operands.iter().zip(own).enumerate() {
            check_dtype(place, view.dtype(), operand.dtype())?;
            check_shape(Some(place), view.shape(), operand.shape())?;
        }
        for (place, view) in operands.iter().enumerate() {
            check_layout(place, view)?;
        }
        let target = self.checked_target(target)?;
        let flags = |place: usize| own.get(place).and_then(OperandType::broadcastable);
        let forms = operands.iter().enumerate().map(|(place, view)| view.form(flags(place)));
        Ok(self.planned(forms, target)?)
    }

    fn compute(&self, operands: &[View<'_>], target: Option<&[usize]>) -> Result<Tensor, Misfit> {
        let inputs = inputs(operands);
        self.with_plan(operands, target, |plan| plan.run(&inputs))
    }

    /// The output is passed on as it is, like that of a [`Plan`].
    fn compute_into(
        &self,
        operands: &[View<'_>],
        target: Option<&[usize]>,
        mut output: Output<'_>,
    ) -> Result<(), Misfit> {
        let inputs = inputs(operands);
        self.with_plan(operands, target, |plan| plan.write_into(&inputs, &mut output))
    }

    /// Runs the plan for these operands: one that was kept, or a new one, which is then kept.
    #[inline(always)]
    fn with_plan<R>(
        &self,
        operands: &[View<'_>],
        target: Option<&[usize]>,
        run: impl FnOnce(&Plan) -> Result<R, WrongBuffers>,
    ) -> Result<R, Misfit> {
        let known = target.or_else(|| self.known_target.as_ref().map(Shape::lengths));
        if let Some(kept) = find(self.kept.first(), operands, known) {
            return Ok(run(&kept.plan)?);
        }
        if let Ok(later) = self.kept.later.try_read()
            && let Some(kept) = find(later.plans.iter(), operands, known)
        {
            return Ok(run(&kept.plan)?);
        }
        let plan = self.plan_for(operands, target)?;
        let result = run(&plan);
        self.kept.keep(Kept { key: Key::of(operands.iter().map(View::layout), known), plan });
        Ok(result?)
    }

    /// The plan of dense operands of a signature whose lengths are all known.
    fn of_known_lengths(&self) -> Result<Kept, NoPlan> {
        let operands = self.signature.operands();
        let shapes: Vec<Shape> = operands.iter().filter_map(|operand| operand.shape().known()).collect();
        let views: Vec<View<'_>> = operands
            .iter()
            .zip(&shapes)
            .map(|(operand, shape)| View::empty(operand.dtype(), shape))
            .collect();
        let target = self.known_target.as_ref().map(Shape::lengths);
        let forms = views.iter().zip(operands).map(|(view, operand)| view.form(operand.broadcastable()));
        let plan = self.planned(forms, target)?;
        Ok(Kept { key: Key::of(views.iter().map(View::layout), target), plan })
    }

    /// The plan of operands with these layouts, the cotangent last.
    fn planned<'a>(
        &'a self,
        forms: impl Iterator<Item = Form<'a>>,
        target: Option<&'a [usize]>,
    ) -> Result<Plan, NoPlan> {
        let expression = &self.expression;
        let computed = match (self.wanted.wrt(), target) {
            (Some(wrt), target) => Computed::Gradient { expression, wrt, target },
            (None, Some(target)) => Computed::Broadcast(target),
            (None, None) => Computed::Elementwise(expression),
        };
        let operands = self.signature.operands().len();
        let problem = Problem::new(self.signature.rules(), computed, forms, operands);
        let table = table(self.level);
        if let Computed::Elementwise(expression) = computed
            && let Some(tiny) = TinyCall::of(problem.rules, expression, problem.operands(), table)
        {
            return Ok(Plan::of_tiny(&tiny, table));
        }
        Plan::of_problem(&problem, self.level)
    }

    /// The target of a run.
    fn checked_target<'a>(&'a self, given: Option<&'a [usize]>) -> Result<Option<&'a [usize]>, Misfit> {
        match (self.signature.asked(), given) {
            (Asked::Expression(_), None) => Ok(None),
            (Asked::Expression(_), Some(_)) => Err(Misfit::Target { expected: false }),
            (Asked::TargetShape(_), None) => match &self.known_target {
                Some(known) => Ok(Some(known.lengths())),
                None => Err(Misfit::Target { expected: true }),
            },
            (Asked::TargetShape(shape), Some(target)) => {
                check_shape(None, target, shape)?;
                Ok(Some(target))
            }
        }
    }
}

/// What is known of the result before a run.
fn inferred(signature: &Signature, wanted: Wanted) -> Result<Inference, NoPlan> {
    let operands = signature.operands();
    let Some(wrt) = wanted.wrt() else { return Ok(infer(signature)?) };
    let Some(operand) = operands.get(wrt) else {
        return Err(NoPlan::NoOperand { found: wrt, operands: operands.len() });
    };
    check_operand_count(signature.rules().set(), operands.len())?;
    let root = match signature.asked() {
        Asked::Expression(expression) => expression_dtype(expression, |place| operands[place].dtype())?,
        Asked::TargetShape(_) => operands[0].dtype(),
    };
    differentiable(root, operand.dtype())?;
    let accepts = infer(signature)?.accepts;
    Ok(Inference { dtype: operand.dtype(), shape: operand.shape().clone(), accepts, broadcastable: None })
}

#[inline]
fn inputs<'a>(operands: &[View<'a>]) -> SmallVec<[Input<'a>; OPERANDS]> {
    operands.iter().map(View::values).collect()
}

fn check_dtype(operand: usize, found: DType, expected: DType) -> Result<(), Misfit> {
    if found == expected { Ok(()) } else { Err(WrongBuffers::DType { operand, found, expected }.into()) }
}

/// Checks that the signature admits the shape of an operand or, without one, of the target.
fn check_shape(operand: Option<usize>, found: &[usize], expected: &PartialShape) -> Result<(), Misfit> {
    let Some(lengths) = expected.lengths() else { return Ok(()) };
    if found.len() != lengths.len() {
        return Err(Misfit::Rank { operand, found: found.len(), expected: lengths.len() });
    }
    match found.iter().zip(lengths).position(|(&found, length)| !length.admits(found)) {
        Some(axis) => Err(Misfit::Length { operand, axis, found: found[axis], expected: lengths[axis] }),
        None => Ok(()),
    }
}

/// Checks the strides of a view, and that it begins inside its buffer. How far it reaches is checked with the
/// buffers.
fn check_layout(operand: usize, view: &View<'_>) -> Result<(), Misfit> {
    let Some(strides) = view.strides() else { return Ok(()) };
    let (found, expected) = (strides.len(), view.shape().len());
    if found != expected {
        return Err(Misfit::Strides { operand, found, expected });
    }
    let lowest = view.lowest();
    if lowest < 0 { Err(Misfit::BelowBuffer { operand, lowest }) } else { Ok(()) }
}

/// A dtype, a shape and, of a view that is not dense, strides and an offset.
pub(crate) type Layout<'a> = (DType, &'a [usize], Option<(&'a [i64], usize)>);

/// The layouts for which a plan was made, and the target: for each operand a word for its dtype, its rank and
/// whether it has strides, then its lengths, strides and offset.
#[derive(PartialEq, Eq)]
struct Key(SmallVec<[u64; KEY_WORDS]>);

impl Key {
    fn of<'a>(layouts: impl Iterator<Item = Layout<'a>>, target: Option<&[usize]>) -> Key {
        let mut words = SmallVec::new();
        for (dtype, shape, strided) in layouts {
            words.push(head(dtype, shape, strided.is_some()));
            words.extend(shape.iter().map(|&length| length as u64));
            if let Some((strides, offset)) = strided {
                words.extend(strides.iter().map(|stride| stride.cast_unsigned()));
                words.push(offset as u64);
            }
        }
        if let Some(target) = target {
            words.push(target.len() as u64);
            words.extend(target.iter().map(|&length| length as u64));
        }
        Key(words)
    }

    /// Whether these are the operands and the target that the plan was made for.
    #[inline]
    fn is_of(&self, operands: &[View<'_>], target: Option<&[usize]>) -> bool {
        let mut words = Words(&self.0);
        let same = operands.iter().all(|view| {
            let (dtype, shape, strided) = view.layout();
            words.next_is(head(dtype, shape, strided.is_some()))
                && words.next_are(shape)
                && strided.is_none_or(|(strides, offset)| {
                    words.next_are_strides(strides) && words.next_is(offset as u64)
                })
        });
        same && target.is_none_or(|target| words.next_is(target.len() as u64) && words.next_are(target))
            && words.0.is_empty()
    }
}

/// The rank, the dtype and whether there are strides, in one word.
#[inline]
fn head(dtype: DType, shape: &[usize], is_strided: bool) -> u64 {
    (shape.len() as u64) << 16 | (dtype as u64) << 1 | u64::from(is_strided)
}

/// The words of a key that have not been compared.
struct Words<'a>(&'a [u64]);

impl Words<'_> {
    #[inline]
    fn next_is(&mut self, word: u64) -> bool {
        let Some((&next, rest)) = self.0.split_first() else { return false };
        self.0 = rest;
        next == word
    }

    #[inline]
    fn next_are(&mut self, lengths: &[usize]) -> bool {
        let Some((next, rest)) = self.0.split_at_checked(lengths.len()) else { return false };
        self.0 = rest;
        next.iter().zip(lengths).all(|(&next, &length)| next == length as u64)
    }

    #[inline]
    fn next_are_strides(&mut self, strides: &[i64]) -> bool {
        let Some((next, rest)) = self.0.split_at_checked(strides.len()) else { return false };
        self.0 = rest;
        next.iter().zip(strides).all(|(&next, stride)| next == stride.cast_unsigned())
    }
}
