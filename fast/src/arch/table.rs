//! The table of a level's kernels, and its choice.

use super::{Across, AddTo, Binary, Chain, ChainSum, Expand, Grid, InPlace, Paired, Select, Sum, Unary};
use crate::Level;
use broadcheck_spec::Function;

/// Which arguments of a function of two are one value for the whole tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalars {
    Neither,
    Second,
    First,
}

/// A function of two: for two vectors, a vector and a scalar, a scalar and a vector.
pub(crate) type Three<T, R> = [Binary<T, R>; 3];

/// The kernels of one element type. What is absent is not defined for the type (clause V-2).
pub struct Kernels<T: 'static> {
    pub(super) add: Option<Three<T, T>>,
    pub(super) subtract: Option<Three<T, T>>,
    pub(super) multiply: Option<Three<T, T>>,
    pub(super) maximum: Option<Three<T, T>>,
    pub(super) minimum: Option<Three<T, T>>,
    pub(super) negate: Option<Unary<T>>,
    pub(super) abs: Option<Unary<T>>,
    pub(super) equal: Three<T, bool>,
    pub(super) not_equal: Three<T, bool>,
    pub(super) less: Option<Three<T, bool>>,
    pub(super) less_equal: Option<Three<T, bool>>,
    pub(super) greater: Option<Three<T, bool>>,
    pub(super) greater_equal: Option<Three<T, bool>>,
    pub(super) select: [Select<T>; 4],
    /// Each element several times.
    pub expand: Expand<T>,
    /// Rows of what lies across.
    pub across: Across<T>,
    /// A copy past the caches.
    pub stream: Unary<T>,
    pub(super) float: Option<FloatParts<T>>,
    pub(super) logic: Option<LogicParts<T>>,
}

/// What truth values alone have.
pub(crate) struct LogicParts<T: 'static> {
    pub(super) and: Three<T, T>,
    pub(super) or: Three<T, T>,
    pub(super) not: Unary<T>,
}

/// What floats alone have.
pub struct FloatParts<T: 'static> {
    pub(super) divide: Three<T, T>,
    pub(super) sqrt: Unary<T>,
    pub sum: Sum<T>,
    pub add_to: AddTo<T>,
    /// Rows added to one.
    pub add_rows: AddTo<T>,
    /// A function of two of which one is repeated under a short inner axis.
    pub paired: Paired<T>,
    pub chain: Chain<T>,
    /// The same, stored past the caches.
    pub chain_past: Chain<T>,
    /// A chain added up.
    pub chain_sum: ChainSum<T>,
    /// A function of two over rows, in which each of them lies as it does.
    pub grid: Grid<T>,
}

impl<T> Kernels<T> {
    /// The kernel of a function of one.
    pub fn unary(&self, function: Function) -> Option<Unary<T>> {
        match function {
            Function::Negate => self.negate,
            Function::Abs => self.abs,
            Function::Sqrt => self.float.as_ref().map(|float| float.sqrt),
            Function::LogicalNot => self.logic.as_ref().map(|logic| logic.not),
            _ => None,
        }
    }

    /// The kernel of a function of two that gives the type of its arguments.
    pub fn binary(&self, function: Function, scalars: Scalars) -> Option<Binary<T, T>> {
        let three = match function {
            Function::Add => self.add.as_ref(),
            Function::Subtract => self.subtract.as_ref(),
            Function::Multiply => self.multiply.as_ref(),
            Function::Maximum => self.maximum.as_ref(),
            Function::Minimum => self.minimum.as_ref(),
            Function::Divide => self.float.as_ref().map(|float| &float.divide),
            Function::LogicalAnd => self.logic.as_ref().map(|logic| &logic.and),
            Function::LogicalOr => self.logic.as_ref().map(|logic| &logic.or),
            _ => None,
        };
        three.map(|three| three[scalars as usize])
    }

    /// The kernel of a comparison.
    pub fn comparison(&self, function: Function, scalars: Scalars) -> Option<Binary<T, bool>> {
        let three = match function {
            Function::Equal => Some(&self.equal),
            Function::NotEqual => Some(&self.not_equal),
            Function::Less => self.less.as_ref(),
            Function::LessEqual => self.less_equal.as_ref(),
            Function::Greater => self.greater.as_ref(),
            Function::GreaterEqual => self.greater_equal.as_ref(),
            _ => None,
        };
        three.map(|three| three[scalars as usize])
    }

    /// The kernel of `select` with a vector as condition.
    pub fn select(&self, then_scalar: bool, else_scalar: bool) -> Select<T> {
        self.select[usize::from(else_scalar) + 2 * usize::from(then_scalar)]
    }

    /// What floats alone have.
    pub fn float(&self) -> Option<&FloatParts<T>> {
        self.float.as_ref()
    }
}

/// All kernels of a level.
pub struct Table {
    pub level: Level,
    pub f64: Kernels<f64>,
    pub f32: Kernels<f32>,
    pub i64: Kernels<i64>,
    pub i32: Kernels<i32>,
    pub i16: Kernels<i16>,
    pub i8: Kernels<i8>,
    pub u64: Kernels<u64>,
    pub u32: Kernels<u32>,
    pub u16: Kernels<u16>,
    pub u8: Kernels<u8>,
    pub bool: Kernels<bool>,
    pub narrow_f16: InPlace<f32>,
    pub narrow_bf16: InPlace<f32>,
}

/// The kernels of a level, where the machine has it; otherwise those that every machine has.
pub fn table(level: Level) -> &'static Table {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_available() => &super::kernels::avx512::TABLE,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => &super::kernels::avx2::TABLE,
        _ => &super::kernels::portable::TABLE,
    }
}
