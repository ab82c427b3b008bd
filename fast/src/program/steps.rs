//! A linear program: steps that read operands and registers and write registers or the result.

use crate::arch::{
    CallKernel, ChainOp, Comparison, InPlace, Kernels, NestedProgram, Pairing, Repeat, Rule, Table,
};
use crate::grid::RowLayout;
use crate::inline_capacity::{LINKS, OPERANDS, STEPS};
use crate::math::MathFunction;
use crate::scratch::{BANKS, Bank, BankCall, FloatBank};
use crate::tiling::{AccessKind, Tiling};
use broadcheck_spec::DType;
use smallvec::SmallVec;

/// A dtype that is computed in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    F16,
    Bf16,
}

impl Half {
    /// The kernels of its bits.
    pub(crate) fn kernels(self, table: &Table) -> &Kernels<u16> {
        match self {
            Half::F16 => &table.f16,
            Half::Bf16 => &table.bf16,
        }
    }
}

/// Where an argument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Vector(u32),
    /// One register for each row of a panel, starting with this one.
    Panel(u32),
    Scalar(u32),
    /// An operand in its own memory.
    Operand {
        access: u32,
        scalar: bool,
    },
    /// An operand in its own memory of which each row of a tile has one value or contiguous ones. Only a
    /// chain or a sum over rows reads it.
    Rows {
        access: u32,
        scalar: bool,
    },
}

impl Source {
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, Source::Scalar(_) | Source::Operand { scalar: true, .. })
    }
}

/// Where a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Vector(u32),
    Scalar(u32),
    /// The memory of the result.
    Output,
}

/// Where values are added up: an access of the gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onto {
    pub(crate) access: u32,
    /// The elements of a row of a tile, or 0 if a tile is one row.
    pub(crate) width: u32,
}

impl Onto {
    /// The rows of a tile of `count` elements, and their width.
    pub(crate) fn rows(self, count: usize) -> (usize, usize) {
        match self.width as usize {
            0 => (1, count),
            width => (count / width, width),
        }
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Reads an operand into a register: gathered, or converted from f16 or bf16.
    Load { access: u32, dtype: DType },
    /// Reads the rows of a panel of a transposed operand into as many registers, starting with `first`.
    /// Columns are `step` elements apart.
    Across { access: u32, dtype: DType, first: u32, step: usize },
    /// A number.
    Constant { bits: u64, bank: FloatBank },
    /// A function of arguments.
    Call { kernel: BankCall, arguments: [Source; 3] },
    /// The same in f32, rounded to a half.
    RoundedCall { kernel: CallKernel<f32>, arguments: [Source; 3], round: InPlace<f32> },
    /// Two comparisons and what joins them. The arguments are vectors and are those of a range of the
    /// program's links.
    Condition { kernel: BankCall, start: u32, end: u32 },
    /// A value, which is a vector, and two bounds, which are not.
    Bounded { kernel: BankCall, arguments: [Source; 3] },
    /// A function of `math` in f64.
    MathF64 { function: MathFunction, arguments: [Source; 2] },
    /// A function of `math` in f32, possibly rounded to a half.
    MathF32 { function: MathFunction, arguments: [Source; 2], round: Option<InPlace<f32>> },
    /// `if x op limit { chosen } else { other }`, of arguments in this order and a factor that not every rule
    /// has ([`Comparison::Wins`] has its own).
    Choose { rule: Rule, bank: FloatBank, arguments: [Source; 5] },
    /// A fold from a first argument through a range of the program's links, over rows of `width` elements. If
    /// that is 0, a tile is one row.
    Chain { bank: Bank, first: Source, start: u32, end: u32, width: u32 },
    /// One of the program's nested expressions.
    Nested { bank: FloatBank, which: u32 },
    /// The values of such a fold, added to the gradient.
    ChainSum { bank: FloatBank, first: Source, start: u32, end: u32, onto: Onto },
    /// Choices by a comparison, with the first arguments of [`Work::Choose`], added to the gradient.
    ChoiceSum { comparison: Comparison, bank: FloatBank, arguments: [Source; 4], onto: Onto },
    /// Choices by a condition, which is a vector, added to the gradient.
    SelectSum { bank: FloatBank, condition: Source, branches: [Source; 2], onto: Onto },
    /// A binary function of an operand with the layout of the result and one that is repeated, into the
    /// result.
    Pair { pairing: Pairing, bank: FloatBank, whole: u32, part: u32, repeat: Repeat },
    /// A binary function over blocks of `rows` rows of `width` elements, into the result. If `rows` is 0, a
    /// tile is one block of as many rows as it has. `whole` is the operand whose rows are contiguous.
    Grid {
        pairing: Pairing,
        bank: FloatBank,
        whole: u32,
        part: u32,
        layouts: [RowLayout; 2],
        rows: u32,
        width: u32,
    },
    /// A scalar as a vector.
    Spread { source: Source, bank: FloatBank },
    /// A register, or an operand of the same type, into the result.
    Store { source: Source, dtype: DType },
    /// An operand into the result, bit by bit, by its pattern.
    Copy { access: u32, dtype: DType },
    /// A value added to the gradient.
    Sum { source: Source, bank: FloatBank, access: u32 },
}

impl Work {
    /// In which bank and where values are added up while they are computed, if they are.
    pub(crate) fn sum(&self) -> Option<(FloatBank, Onto)> {
        match *self {
            Work::ChainSum { bank, onto, .. }
            | Work::ChoiceSum { bank, onto, .. }
            | Work::SelectSum { bank, onto, .. } => Some((bank, onto)),
            Work::Load { .. }
            | Work::Across { .. }
            | Work::Constant { .. }
            | Work::Call { .. }
            | Work::RoundedCall { .. }
            | Work::Condition { .. }
            | Work::Bounded { .. }
            | Work::MathF64 { .. }
            | Work::MathF32 { .. }
            | Work::Choose { .. }
            | Work::Chain { .. }
            | Work::Nested { .. }
            | Work::Pair { .. }
            | Work::Grid { .. }
            | Work::Spread { .. }
            | Work::Store { .. }
            | Work::Copy { .. }
            | Work::Sum { .. } => None,
        }
    }
}

/// A step, and how often it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) work: Work,
    pub(crate) target: Target,
    /// The loops over tiles that change its value, as bits: it runs when one of them moves.
    pub(crate) varies: u64,
    /// Whether its value is kept from tile to tile, and so computed for a full tile.
    pub(crate) stationary: bool,
}

/// A nested expression and where its arguments are read.
#[derive(Clone, Debug)]
pub(crate) struct NestedStep {
    pub(crate) program: NestedProgram,
    /// Whether it is a condition, of the numbers that it reads.
    pub(crate) is_condition: bool,
    pub(crate) values: SmallVec<[Source; OPERANDS]>,
    pub(crate) bools: SmallVec<[Source; 1]>,
}

/// A linear program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) steps: SmallVec<[Step; STEPS]>,
    /// The links of its chains, and the arguments of its conditions.
    pub(crate) links: SmallVec<[(ChainOp, Option<Source>); LINKS]>,
    pub(crate) nested: Vec<NestedStep>,
    /// The numbers of vector and scalar registers that each bank needs.
    pub(crate) needs: [(u32, u32); BANKS],
    /// The largest number of bytes in live registers at once, per element of a tile.
    pub(crate) live: usize,
    /// Whether tiles of the innermost loop differ only in the last step, which can then compute all of them
    /// at once.
    pub(crate) in_rows: bool,
}

/// Whether an operand has a constant stride of 0 or 1 in every row of a tile.
fn is_even(tiling: &Tiling, access: u32) -> bool {
    tiling.pattern(access as usize).last().is_none_or(|&(_, stride)| stride & !1 == 0)
}

/// The most tiles that are few: what is computed once for all of them takes as long as some of them.
const FEW_TILES: usize = 16;

impl Program {
    /// Whether [`Program::in_rows`] holds.
    pub(super) fn takes_rows(&self, tiling: &Tiling) -> bool {
        let Some((last, before)) = self.steps.split_last() else { return false };
        tiling.panel == 0
            && last.target == Target::Output
            && self.computes_rows(&last.work, tiling)
            && before.iter().all(|step| tiling.is_stationary(step.varies))
            && tiling.goes_forwards()
    }

    /// Whether a step can compute the rows of several tiles at once: a chain, a choice or values against
    /// bounds, or a sum if each row is added to the next element, or all rows to one.
    fn computes_rows(&self, work: &Work, tiling: &Tiling) -> bool {
        if let Work::Chain { width: 0, .. }
        | Work::Choose { .. }
        | Work::Bounded { .. }
        | Work::Nested { .. } = *work
        {
            return true;
        }
        let Some((_, Onto { access, .. })) = work.sum() else { return false };
        let access = access as usize;
        match tiling.accesses[access].kind {
            AccessKind::Splat => tiling.inner_step(access) == 1,
            AccessKind::Direct => tiling.inner_step(access) == 0,
            AccessKind::Gather => false,
        }
    }

    /// Whether a condition computes the result.
    pub(crate) fn ends_with_condition(&self) -> bool {
        matches!(self.steps.last(), Some(Step { work: Work::Condition { .. }, target: Target::Output, .. }))
    }

    /// Whether a nested expression is the result.
    pub(crate) fn ends_with_nested(&self) -> bool {
        matches!(self.steps.last(), Some(Step { work: Work::Nested { .. }, target: Target::Output, .. }))
    }

    /// Whether a value against two bounds is the result.
    pub(crate) fn ends_with_bounds(&self) -> bool {
        matches!(self.steps.last(), Some(Step { work: Work::Bounded { .. }, target: Target::Output, .. }))
    }

    /// Whether a choice by a comparison computes the result.
    pub(crate) fn ends_with_choice(&self) -> bool {
        matches!(self.steps.last(), Some(Step { work: Work::Choose { .. }, target: Target::Output, .. }))
    }

    /// Whether one chain or choice computes the result, and every tile gathers operands for it that have a
    /// constant stride of 0 or 1 in every row.
    pub(crate) fn gathers_for_rows(&self, tiling: &Tiling) -> bool {
        let Some((last, before)) = self.steps.split_last() else { return false };
        if !matches!(last.work, Work::Chain { .. } | Work::Choose { .. } | Work::Nested { .. })
            || last.target != Target::Output
        {
            return false;
        }
        // A number is the same in every tile.
        let is_number = |step: &&Step| matches!(step.work, Work::Constant { .. });
        let varying = before.iter().filter(|step| !tiling.is_stationary(step.varies) && !is_number(step));
        let mut varying = varying.peekable();
        varying.peek().is_some()
            && varying.all(|step| matches!(step.work, Work::Load { access, .. } if is_even(tiling, access)))
    }

    /// Whether one chain or choice without slow operations computes the result in few tiles, after steps that
    /// load operands with a constant stride of 0 or 1 in every row and are the same for all tiles. These
    /// steps take less time for one row than for a tile of several rows. (By a row, x*x+y*y over 33x33 and
    /// 100x100 takes 0.6 and 0.9 of the time in f64, and (x-y)*(x+y)*x over 100x100 0.75.)
    pub(crate) fn prepares_for_few(&self, tiling: &Tiling) -> bool {
        let Some((last, before)) = self.steps.split_last() else { return false };
        let is_slow = |op: ChainOp| op.is_function() || op.is_slow();
        let is_fast = match last.work {
            Work::Chain { start, end, .. } => {
                !self.links[start as usize..end as usize].iter().any(|&(op, _)| is_slow(op))
            }
            Work::Choose { .. } | Work::Nested { .. } => true,
            _ => false,
        };
        if !is_fast || last.target != Target::Output || tiling.tiles > FEW_TILES {
            return false;
        }
        let is_load = |step: &Step| matches!(step.work, Work::Load { .. });
        let is_for_rows = |step: &Step| match step.work {
            Work::Load { access, .. } => is_even(tiling, access),
            _ => true,
        };
        let is_same = |step: &Step| tiling.tiles == 1 || tiling.is_stationary(step.varies);
        before.iter().any(is_load) && before.iter().all(|step| is_for_rows(step) && is_same(step))
    }

    /// How many powers have neither one base nor one exponent in a tile.
    pub(crate) fn powers_of_vectors(&self) -> usize {
        let is_one = |step: &&Step| {
            let (Work::MathF64 { function, arguments } | Work::MathF32 { function, arguments, .. }) =
                step.work
            else {
                return false;
            };
            let is_power = matches!(
                function,
                MathFunction::Power | MathFunction::PowerByBase | MathFunction::PowerByExponent
            );
            is_power && !arguments.iter().any(|argument| argument.is_scalar())
        };
        self.steps.iter().filter(is_one).count()
    }
}
