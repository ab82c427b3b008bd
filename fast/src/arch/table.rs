//! The table of a level's kernels, and the choice of a level.
#![deny(clippy::wildcard_enum_match_arm)]

use super::bounds::{Bounds, Checks, Clips, Keeps, checks, clips, keeps};
use super::chain::{ARITHMETIC, ChainKind, Link, SUMS, WITH_FUNCTIONS};
use super::condition::{Condition, Conditions, conditions};
use super::element::{Element, Integer};
use super::halves::{self, Bf16, F16, Format, In, VectorOp};
use super::integers::LevelIntegers;
use super::level_vector::LevelVector;
use super::ops::*;
use super::simd::{self, Simd};
use super::stream::NonTemporal;
use super::{
    Across, AddTo, Binary, Bounded, Chain, ChainSum, ChoiceSum, Choose, CopyOut, Expand, Grid, InPlace,
    Joined, Kernel, Narrow, Nested, Paired, Select, SelectSum, Unary, Widen,
};
use crate::Level;
use broadcheck_spec::Function;
use std::mem::transmute;

/// Which argument of a binary function is one value for the whole tile. If both are, they are vectors of
/// length 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalars {
    Neither,
    Second,
    First,
}

impl Scalars {
    /// By whether each argument is a scalar.
    #[inline]
    pub(crate) fn of(first: bool, second: bool) -> Scalars {
        match (first, second) {
            (false, true) => Scalars::Second,
            (true, false) => Scalars::First,
            (false, false) | (true, true) => Scalars::Neither,
        }
    }
}

/// The kernels of a binary function, by which of its arguments is a scalar.
#[derive(Clone, Copy)]
struct Binaries<T: 'static, R: 'static> {
    vector_vector: Binary<T, R>,
    vector_scalar: Binary<T, R>,
    scalar_vector: Binary<T, R>,
}

impl<T, R> Binaries<T, R> {
    fn kernel(&self, scalars: Scalars) -> Binary<T, R> {
        match scalars {
            Scalars::Neither => self.vector_vector,
            Scalars::Second => self.vector_scalar,
            Scalars::First => self.scalar_vector,
        }
    }
}

/// The kernels of `select` with a vector as its condition, by which of the branches are scalars.
#[derive(Clone, Copy)]
struct Selects<T: 'static> {
    vectors: Select<T>,
    scalar_vector: Select<T>,
    vector_scalar: Select<T>,
    scalars: Select<T>,
}

/// The kernel of one call of a function.
#[derive(Debug)]
pub(crate) enum CallKernel<T: 'static> {
    Unary(Unary<T>),
    Binary(Binary<T, T>),
    Comparison(Binary<T, bool>),
    /// For a vector as the condition.
    Select(Select<T>),
    /// Two comparisons and what joins them, all of whose arguments are vectors.
    Condition(Joined<T>),
    /// A value against bounds.
    Clip(Bounded<T, T>),
    /// Two comparisons with bounds.
    Check(Bounded<T, bool>),
}

impl<T> Clone for CallKernel<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for CallKernel<T> {}

/// The kernels of one element type. A function that is not defined for the type (clause V-2) has `None`.
pub(crate) struct Kernels<T: 'static> {
    add: Option<Binaries<T, T>>,
    subtract: Option<Binaries<T, T>>,
    multiply: Option<Binaries<T, T>>,
    divide: Option<Binaries<T, T>>,
    maximum: Option<Binaries<T, T>>,
    minimum: Option<Binaries<T, T>>,
    and: Option<Binaries<T, T>>,
    or: Option<Binaries<T, T>>,
    negate: Option<Unary<T>>,
    abs: Option<Unary<T>>,
    sqrt: Option<Unary<T>>,
    not: Option<Unary<T>>,
    equal: Binaries<T, bool>,
    not_equal: Binaries<T, bool>,
    less: Option<Binaries<T, bool>>,
    less_equal: Option<Binaries<T, bool>>,
    greater: Option<Binaries<T, bool>>,
    greater_equal: Option<Binaries<T, bool>>,
    select: Selects<T>,
    /// Of all types but floats, whose clips are chains, and bool.
    clips: Option<Clips<T>>,
    /// Of integers.
    keeps: Option<Keeps<T>>,
    /// Of all types but bool.
    checks: Option<Checks<T>>,
    /// Of all types of numbers.
    chains: Option<Chains<T>>,
    /// Repeats each element.
    pub(crate) expand: Expand<T>,
    /// Transposes columns into rows.
    pub(crate) across: Across<T>,
    /// Copies with non-temporal stores where the level has them.
    pub(crate) copy: CopyOut<T>,
}

/// The kernels of chains.
#[derive(Clone, Copy)]
pub(crate) struct Chains<T: 'static> {
    plain: ByKind<T>,
    /// With non-temporal stores where the level has them.
    non_temporal: ByKind<T>,
}

/// The kernels of chains, by their kind. Those of integers are one.
#[derive(Clone, Copy)]
struct ByKind<T: 'static> {
    sums: Chain<T>,
    arithmetic: Chain<T>,
    with_functions: Chain<T>,
}

impl<T> ByKind<T> {
    fn of(&self, kind: ChainKind) -> Chain<T> {
        match kind {
            ChainKind::Sums => self.sums,
            ChainKind::Arithmetic => self.arithmetic,
            ChainKind::WithFunctions => self.with_functions,
        }
    }
}

impl<T> Chains<T> {
    /// The kernel of chains of a kind.
    pub(crate) fn of(&self, kind: ChainKind) -> Chain<T> {
        self.plain.of(kind)
    }

    /// A chain from its first argument through its links, over a number of rows. If `fetches` is set and it
    /// has functions, it prefetches its operands.
    #[inline]
    pub(crate) fn run(
        &self,
        first: &Link<'_, T>,
        (links, fetches): (&mut [Link<'_, T>], bool),
        rows: usize,
        out: &mut [T],
    ) {
        self.of(ChainKind::of(links.iter().map(|link| link.op))).run(first, (links, fetches), rows, out);
    }

    /// The same with non-temporal stores where the level has them.
    #[inline]
    pub(crate) fn run_non_temporal(
        &self,
        _: &NonTemporal,
        first: &Link<'_, T>,
        links: &mut [Link<'_, T>],
        rows: usize,
        out: &mut [T],
    ) {
        let kind = ChainKind::of(links.iter().map(|link| link.op));
        self.non_temporal.of(kind).run(first, (links, false), rows, out);
    }
}

/// The kernels that only f64 and f32 have, for repeated operands, choices and gradients.
pub(crate) struct FloatKernels<T: 'static> {
    /// Adds the sum of each row to one element.
    pub(crate) sum_rows: AddTo<T>,
    pub(crate) add_to: AddTo<T>,
    /// Adds rows to one row.
    pub(crate) add_rows: AddTo<T>,
    /// A binary function of which one operand repeats along a short inner axis.
    pub(crate) paired: Paired<T>,
    /// Adds up the values of a chain with functions.
    chain_sum_with_functions: ChainSum<T>,
    /// The same for a chain without them: they need the registers of the sums. Added up by the other kernel,
    /// the gradient of (x-m)*r*g+b by m over 1000x1000 took 1.4 to 2.1 times as long (`benches/sweep`).
    chain_sum_without_functions: ChainSum<T>,
    /// Adds up choices by a comparison.
    pub(crate) choice_sum: ChoiceSum<T>,
    /// Adds up choices by a condition.
    pub(crate) select_sum: SelectSum<T>,
    /// One of two values, by a comparison of two others.
    pub(crate) choose: Choose<T>,
    /// A nested expression.
    pub(crate) nested: Nested<T>,
    /// A binary function over short rows.
    pub(crate) grid: Grid<T>,
    /// Two comparisons and what joins them.
    conditions: Conditions<T>,
}

impl<T> Kernels<T> {
    /// The kernel of a function whose arguments are of this type (for `select`, the branches). `is_scalar`
    /// says of each argument whether it is one value for the whole tile. `None` if the function is not
    /// defined for the type, or is computed by [`math`](crate::math).
    pub(crate) fn call(&self, function: Function, is_scalar: [bool; 3]) -> Option<CallKernel<T>> {
        use Function as F;
        let scalars = Scalars::of(is_scalar[0], is_scalar[1]);
        let unary = |kernel: Option<Unary<T>>| kernel.map(CallKernel::Unary);
        let binary = |kernels: &Option<Binaries<T, T>>| {
            kernels.as_ref().map(|kernels| CallKernel::Binary(kernels.kernel(scalars)))
        };
        let comparison = |kernels: &Option<Binaries<T, bool>>| {
            kernels.as_ref().map(|kernels| CallKernel::Comparison(kernels.kernel(scalars)))
        };
        match function {
            F::Add => binary(&self.add),
            F::Subtract => binary(&self.subtract),
            F::Multiply => binary(&self.multiply),
            F::Divide => binary(&self.divide),
            F::Maximum => binary(&self.maximum),
            F::Minimum => binary(&self.minimum),
            F::LogicalAnd => binary(&self.and),
            F::LogicalOr => binary(&self.or),
            F::Negate => unary(self.negate),
            F::Abs => unary(self.abs),
            F::Sqrt => unary(self.sqrt),
            F::LogicalNot => unary(self.not),
            F::Equal => Some(CallKernel::Comparison(self.equal.kernel(scalars))),
            F::NotEqual => Some(CallKernel::Comparison(self.not_equal.kernel(scalars))),
            F::Less => comparison(&self.less),
            F::LessEqual => comparison(&self.less_equal),
            F::Greater => comparison(&self.greater),
            F::GreaterEqual => comparison(&self.greater_equal),
            F::Select => Some(CallKernel::Select(match (is_scalar[1], is_scalar[2]) {
                (false, false) => self.select.vectors,
                (true, false) => self.select.scalar_vector,
                (false, true) => self.select.vector_scalar,
                (true, true) => self.select.scalars,
            })),
            F::Exp | F::Log | F::Tanh | F::Power => None,
        }
    }
}

impl<T> Kernels<T> {
    /// The kernel of a value against two bounds, if the type has it.
    pub(crate) fn bounded(&self, bounds: Bounds) -> Option<CallKernel<T>> {
        match bounds {
            Bounds::Clip { minimum_first } => {
                self.clips.as_ref().map(|clips| CallKernel::Clip(clips[usize::from(minimum_first)]))
            }
            Bounds::Keep { above, or_equal } => {
                let [above, or_equal] = [above, or_equal].map(usize::from);
                self.keeps.as_ref().map(|keeps| CallKernel::Clip(keeps[above][or_equal]))
            }
            Bounds::Check { either, or_equal: [a, b] } => {
                let [either, a, b] = [either, a, b].map(usize::from);
                self.checks.as_ref().map(|checks| CallKernel::Check(checks[either][a][b]))
            }
        }
    }

    /// The kernels of chains.
    ///
    /// # Panics
    /// If the type is bool, of which there are no chains.
    #[inline]
    pub(crate) fn chains(&self) -> &Chains<T> {
        match &self.chains {
            Some(chains) => chains,
            None => unreachable!("chains are made of numbers"),
        }
    }
}

impl<T> FloatKernels<T> {
    /// The kernel of a condition, if there is one.
    pub(crate) fn condition(&self, condition: Condition) -> Option<CallKernel<T>> {
        self.conditions.of(condition).map(CallKernel::Condition)
    }

    /// Adds up the values of a chain that has functions or not.
    #[inline]
    pub(crate) fn chain_sum(&self, has_function: bool) -> ChainSum<T> {
        if has_function { self.chain_sum_with_functions } else { self.chain_sum_without_functions }
    }
}

/// All kernels of a level.
pub(crate) struct Table {
    pub(crate) level: Level,
    pub(crate) f64: Kernels<f64>,
    pub(crate) f32: Kernels<f32>,
    pub(crate) i64: Kernels<i64>,
    pub(crate) i32: Kernels<i32>,
    pub(crate) i16: Kernels<i16>,
    pub(crate) i8: Kernels<i8>,
    pub(crate) u64: Kernels<u64>,
    pub(crate) u32: Kernels<u32>,
    pub(crate) u16: Kernels<u16>,
    pub(crate) u8: Kernels<u8>,
    pub(crate) bool: Kernels<bool>,
    /// The functions of f16 and bf16, over the bits of their values.
    pub(crate) f16: Kernels<u16>,
    pub(crate) bf16: Kernels<u16>,
    pub(crate) float_f64: FloatKernels<f64>,
    pub(crate) float_f32: FloatKernels<f32>,
    pub(crate) round_to_f16: InPlace<f32>,
    pub(crate) round_to_bf16: InPlace<f32>,
    pub(crate) widen_f16: Widen,
    pub(crate) widen_bf16: Widen,
    pub(crate) narrow_f16: Narrow,
    pub(crate) narrow_bf16: Narrow,
}

const fn binary<S: Simd, O: Op2<T, R>, T: Copy, R>() -> Binaries<T, R> {
    Binaries {
        vector_vector: Kernel(S::vector_vector::<T, R, O>),
        vector_scalar: Kernel(S::vector_scalar::<T, R, O>),
        scalar_vector: Kernel(S::scalar_vector::<T, R, O>),
    }
}

/// The kernels of a function that is the same if its arguments are exchanged.
const fn commutative<S: Simd, O: Op2<T, R>, T: Copy, R>() -> Binaries<T, R> {
    Binaries {
        vector_vector: Kernel(S::vector_vector::<T, R, O>),
        vector_scalar: Kernel(S::vector_scalar::<T, R, O>),
        scalar_vector: Kernel(S::scalar_vector_exchanged::<T, R, O>),
    }
}

/// The kernels of the function that is `O` with its arguments exchanged, as a > b is b < a.
const fn exchanged<S: Simd, O: Op2<T, R>, T: Copy, R>() -> Binaries<T, R> {
    Binaries {
        vector_vector: Kernel(S::vector_vector_exchanged::<T, R, O>),
        vector_scalar: Kernel(S::vector_scalar_exchanged::<T, R, O>),
        scalar_vector: Kernel(S::scalar_vector_exchanged::<T, R, O>),
    }
}

/// An entry point that only moves values, compiled for `T::Bits`, as a kernel over `T`: one function for
/// every type of a size.
macro_rules! moving {
    ($kernel:ident: $($entry_point:tt)*) => {{
        let kernel: $kernel<T::Bits> = Kernel($($entry_point)*::<T::Bits>);
        // SAFETY: both are addresses of functions, whose arguments differ only in the elements of slices.
        // Such functions may be called as one another, and by `Element` the elements have the same size and
        // alignment. Values that are only moved stay valid.
        unsafe { transmute::<$kernel<T::Bits>, $kernel<T>>(kernel) }
    }};
}

/// The kernels that every type has.
const fn common<S: Simd, T: Element>() -> Kernels<T>
where
    Equal: Op2<T, bool>,
    NotEqual: Op2<T, bool>,
{
    Kernels {
        add: None,
        subtract: None,
        multiply: None,
        divide: None,
        maximum: None,
        minimum: None,
        and: None,
        or: None,
        negate: None,
        abs: None,
        sqrt: None,
        not: None,
        equal: commutative::<S, Equal, T, bool>(),
        not_equal: commutative::<S, NotEqual, T, bool>(),
        less: None,
        less_equal: None,
        greater: None,
        greater_equal: None,
        select: Selects {
            vectors: moving!(Select: S::select_vectors),
            scalar_vector: moving!(Select: S::select_scalar_vector),
            vector_scalar: moving!(Select: S::select_vector_scalar),
            scalars: moving!(Select: S::select_scalars),
        },
        clips: None,
        keeps: None,
        checks: None,
        chains: None,
        expand: moving!(Expand: S::expand),
        across: moving!(Across: S::across),
        copy: moving!(CopyOut: S::copy),
    }
}

const fn numbers<S: Simd, T: Element>() -> Kernels<T>
where
    Add: Op2<T, T>,
    Subtract: Op2<T, T>,
    Multiply: Op2<T, T>,
    Maximum: Op2<T, T>,
    Minimum: Op2<T, T>,
    Negate: Op1<T>,
    Abs: Op1<T>,
    Equal: Op2<T, bool>,
    NotEqual: Op2<T, bool>,
    Less: Op2<T, bool>,
    LessEqual: Op2<T, bool>,
    Greater: Op2<T, bool>,
    GreaterEqual: Op2<T, bool>,
{
    Kernels {
        add: Some(commutative::<S, Add, T, T>()),
        subtract: Some(binary::<S, Subtract, T, T>()),
        multiply: Some(commutative::<S, Multiply, T, T>()),
        maximum: Some(commutative::<S, Maximum, T, T>()),
        minimum: Some(commutative::<S, Minimum, T, T>()),
        negate: Some(Kernel(S::unary::<T, Negate>)),
        abs: Some(Kernel(S::unary::<T, Abs>)),
        less: Some(binary::<S, Less, T, bool>()),
        less_equal: Some(binary::<S, LessEqual, T, bool>()),
        greater: Some(exchanged::<S, Less, T, bool>()),
        greater_equal: Some(exchanged::<S, LessEqual, T, bool>()),
        checks: Some(checks::<S, T, Less, LessEqual>()),
        ..common::<S, T>()
    }
}

/// The kernels of a function of two integers that gives the same bits whether they have signs or not, from
/// those of the integers without.
const fn wrapping<T: Integer>(unsigned: Binaries<T::Bits, T::Bits>) -> Option<Binaries<T, T>> {
    const fn of<T: Integer>(kernel: Binary<T::Bits, T::Bits>) -> Binary<T, T> {
        // SAFETY: as in `moving`, and every pattern of bits is a valid integer.
        unsafe { transmute::<Binary<T::Bits, T::Bits>, Binary<T, T>>(kernel) }
    }
    Some(Binaries {
        vector_vector: of(unsigned.vector_vector),
        vector_scalar: of(unsigned.vector_scalar),
        scalar_vector: of(unsigned.scalar_vector),
    })
}

/// The same for a comparison of equality.
const fn equality<T: Integer>(unsigned: Binaries<T::Bits, bool>) -> Binaries<T, bool> {
    const fn of<T: Integer>(kernel: Binary<T::Bits, bool>) -> Binary<T, bool> {
        // SAFETY: as in `moving`.
        unsafe { transmute::<Binary<T::Bits, bool>, Binary<T, bool>>(kernel) }
    }
    Binaries {
        vector_vector: of(unsigned.vector_vector),
        vector_scalar: of(unsigned.vector_scalar),
        scalar_vector: of(unsigned.scalar_vector),
    }
}

/// The kernels of chains of integers, likewise.
const fn wrapping_chains<S: Simd, T: Integer, V: LevelIntegers<Level = S, Element = T::Bits>>() -> Chains<T> {
    const fn of<T: Integer>(kernel: Chain<T::Bits>) -> ByKind<T> {
        // SAFETY: as in `wrapping`: the slices of the links differ only in their elements, too.
        let kernel = unsafe { transmute::<Chain<T::Bits>, Chain<T>>(kernel) };
        ByKind { sums: kernel, arithmetic: kernel, with_functions: kernel }
    }
    Chains { plain: of(Kernel(S::integers::<V, false>)), non_temporal: of(Kernel(S::integers::<V, true>)) }
}

/// The kernels of integers. What gives the same bits whether they have signs or not is compiled once for
/// both.
const fn integers<S: Simd, T: Integer, V: LevelIntegers<Level = S, Element = T::Bits>>() -> Kernels<T>
where
    Add: Op2<T, T> + Op2<T::Bits, T::Bits>,
    Subtract: Op2<T, T> + Op2<T::Bits, T::Bits>,
    Multiply: Op2<T, T> + Op2<T::Bits, T::Bits>,
    Maximum: Op2<T, T>,
    Minimum: Op2<T, T>,
    Negate: Op1<T>,
    Abs: Op1<T>,
    Equal: Op2<T, bool> + Op2<T::Bits, bool>,
    NotEqual: Op2<T, bool> + Op2<T::Bits, bool>,
    Less: Op2<T, bool>,
    LessEqual: Op2<T, bool>,
    Greater: Op2<T, bool>,
    GreaterEqual: Op2<T, bool>,
{
    Kernels {
        add: wrapping(commutative::<S, Add, T::Bits, T::Bits>()),
        subtract: wrapping(binary::<S, Subtract, T::Bits, T::Bits>()),
        multiply: wrapping(commutative::<S, Multiply, T::Bits, T::Bits>()),
        equal: equality(commutative::<S, Equal, T::Bits, bool>()),
        not_equal: equality(commutative::<S, NotEqual, T::Bits, bool>()),
        clips: Some(clips::<S, T, Maximum, Minimum>()),
        keeps: Some(keeps::<S, T, Less, LessEqual>()),
        chains: Some(wrapping_chains::<S, T, V>()),
        ..numbers::<S, T>()
    }
}

const fn truth_values<S: Simd>() -> Kernels<bool> {
    Kernels {
        and: Some(commutative::<S, And, bool, bool>()),
        or: Some(commutative::<S, Or, bool, bool>()),
        not: Some(Kernel(S::unary::<bool, Not>)),
        ..common::<S, bool>()
    }
}

/// Halves in a format: `arithmetic` has the functions that round.
const fn halves<S: Simd, F: Format>(arithmetic: &Arithmetic) -> Kernels<u16> {
    Kernels {
        add: Some(arithmetic.add),
        subtract: Some(arithmetic.subtract),
        multiply: Some(arithmetic.multiply),
        divide: Some(arithmetic.divide),
        sqrt: Some(arithmetic.sqrt),
        maximum: Some(commutative::<S, In<F, Maximum>, u16, u16>()),
        minimum: Some(commutative::<S, In<F, Minimum>, u16, u16>()),
        negate: Some(Kernel(S::unary::<u16, In<F, Negate>>)),
        abs: Some(Kernel(S::unary::<u16, In<F, Abs>>)),
        equal: commutative::<S, In<F, Equal>, u16, bool>(),
        not_equal: commutative::<S, In<F, NotEqual>, u16, bool>(),
        less: Some(binary::<S, In<F, Less>, u16, bool>()),
        less_equal: Some(binary::<S, In<F, LessEqual>, u16, bool>()),
        greater: Some(exchanged::<S, In<F, Less>, u16, bool>()),
        greater_equal: Some(exchanged::<S, In<F, LessEqual>, u16, bool>()),
        clips: Some(halves::clips::<S, F>()),
        checks: Some(checks::<S, u16, In<F, Less>, In<F, LessEqual>>()),
        ..common::<S, u16>()
    }
}

/// The functions of halves that round.
struct Arithmetic {
    add: Binaries<u16, u16>,
    subtract: Binaries<u16, u16>,
    multiply: Binaries<u16, u16>,
    divide: Binaries<u16, u16>,
    sqrt: Unary<u16>,
}

/// A choice between two floats.
const fn choice<S: Simd, V: LevelVector<Level = S>, O: VectorOp>() -> Option<Binaries<V::Element, V::Element>>
{
    Some(Binaries {
        vector_vector: Kernel(S::choice::<V, O, false, false>),
        vector_scalar: Kernel(S::choice::<V, O, false, true>),
        scalar_vector: Kernel(S::choice::<V, O, true, false>),
    })
}

const fn f16_binary<S: Simd, O: VectorOp>() -> Binaries<u16, u16> {
    Binaries {
        vector_vector: Kernel(S::f16_binary::<O, false, false>),
        vector_scalar: Kernel(S::f16_binary::<O, false, true>),
        scalar_vector: Kernel(S::f16_binary::<O, true, false>),
    }
}

const fn f16<S: Simd>() -> Kernels<u16> {
    halves::<S, F16>(&Arithmetic {
        add: f16_binary::<S, Add>(),
        subtract: f16_binary::<S, Subtract>(),
        multiply: f16_binary::<S, Multiply>(),
        divide: f16_binary::<S, Divide>(),
        sqrt: Kernel(S::f16_unary::<Sqrt>),
    })
}

const fn bf16<S: Simd>() -> Kernels<u16> {
    halves::<S, Bf16>(&Arithmetic {
        add: commutative::<S, In<Bf16, Add>, u16, u16>(),
        subtract: binary::<S, In<Bf16, Subtract>, u16, u16>(),
        multiply: commutative::<S, In<Bf16, Multiply>, u16, u16>(),
        divide: binary::<S, In<Bf16, Divide>, u16, u16>(),
        sqrt: Kernel(S::unary::<u16, In<Bf16, Sqrt>>),
    })
}

const fn chains<S: Simd, V: LevelVector<Level = S>>() -> Option<Chains<V::Element>> {
    Some(Chains { plain: by_kind::<S, V, false>(), non_temporal: by_kind::<S, V, true>() })
}

const fn by_kind<S: Simd, V: LevelVector<Level = S>, const NON_TEMPORAL: bool>() -> ByKind<V::Element> {
    ByKind {
        sums: Kernel(S::chain::<V, SUMS, NON_TEMPORAL>),
        arithmetic: Kernel(S::chain::<V, ARITHMETIC, NON_TEMPORAL>),
        with_functions: Kernel(S::chain::<V, WITH_FUNCTIONS, NON_TEMPORAL>),
    }
}

const fn float<S: Simd, V: LevelVector<Level = S>>() -> FloatKernels<V::Element>
where
    Add: Op2<V::Element, V::Element>,
    Subtract: Op2<V::Element, V::Element>,
    Multiply: Op2<V::Element, V::Element>,
    Less: Op2<V::Element, bool>,
    LessEqual: Op2<V::Element, bool>,
    Greater: Op2<V::Element, bool>,
    GreaterEqual: Op2<V::Element, bool>,
{
    FloatKernels {
        sum_rows: Kernel(S::sum_rows::<V>),
        add_to: Kernel(S::add_to::<V::Element, Add>),
        add_rows: Kernel(S::add_rows::<V::Element, Add>),
        paired: Kernel(S::paired::<V>),
        chain_sum_with_functions: Kernel(S::chain_sum::<V, WITH_FUNCTIONS>),
        chain_sum_without_functions: Kernel(S::chain_sum::<V, ARITHMETIC>),
        choice_sum: Kernel(S::choice_sum::<V>),
        select_sum: Kernel(S::select_sum::<V>),
        choose: Kernel(S::choose::<V>),
        nested: Kernel(S::nested::<V>),
        grid: Kernel(S::grid::<V>),
        conditions: conditions::<S, V::Element>(),
    }
}

const fn all<S: Simd>() -> Table {
    Table {
        level: S::LEVEL,
        f64: Kernels {
            divide: Some(binary::<S, Divide, f64, f64>()),
            maximum: choice::<S, S::F64, Maximum>(),
            minimum: choice::<S, S::F64, Minimum>(),
            sqrt: Some(Kernel(S::unary::<f64, Sqrt>)),
            chains: chains::<S, S::F64>(),
            ..numbers::<S, f64>()
        },
        f32: Kernels {
            divide: Some(binary::<S, Divide, f32, f32>()),
            maximum: choice::<S, S::F32, Maximum>(),
            minimum: choice::<S, S::F32, Minimum>(),
            sqrt: Some(Kernel(S::unary::<f32, Sqrt>)),
            chains: chains::<S, S::F32>(),
            ..numbers::<S, f32>()
        },
        i64: integers::<S, i64, S::U64>(),
        i32: integers::<S, i32, S::U32>(),
        i16: integers::<S, i16, S::U16>(),
        i8: integers::<S, i8, S::U8>(),
        u64: integers::<S, u64, S::U64>(),
        u32: integers::<S, u32, S::U32>(),
        u16: integers::<S, u16, S::U16>(),
        u8: integers::<S, u8, S::U8>(),
        bool: truth_values::<S>(),
        f16: f16::<S>(),
        bf16: bf16::<S>(),
        float_f64: float::<S, S::F64>(),
        float_f32: float::<S, S::F32>(),
        round_to_f16: Kernel(S::in_place::<f32, RoundToF16>),
        round_to_bf16: Kernel(S::in_place::<f32, RoundToBf16>),
        widen_f16: Kernel(S::widen_f16),
        widen_bf16: Kernel(S::widen_bf16),
        narrow_f16: Kernel(S::narrow_f16),
        narrow_bf16: Kernel(S::narrow_bf16),
    }
}

static PORTABLE: Table = all::<simd::Portable>();
#[cfg(target_arch = "x86_64")]
static AVX2: Table = all::<simd::Avx2>();
#[cfg(target_arch = "x86_64")]
static AVX512: Table = all::<simd::Avx512>();

/// The kernels of a level, or the portable ones if the machine lacks it.
pub(crate) fn table(level: Level) -> &'static Table {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_available() => &AVX512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => &AVX2,
        Level::Portable | Level::Avx2 | Level::Avx512 => &PORTABLE,
    }
}
