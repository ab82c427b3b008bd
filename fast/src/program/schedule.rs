//! From a graph to steps over registers. What is constant within a tile is computed once per tile, what is
//! the same for successive tiles is computed once and kept, and a register is reused after its last reader.
//!
//! Every kernel of a call is looked up here, so that running a program cannot fail.
#![deny(clippy::wildcard_enum_match_arm)]

use super::banks::{bank_of, bytes, half, is_plain_float, rounding};
use super::bounds::Bounded;
use super::chain::{Chain, Chains, Choice, NOBODY, Wanted, find};
use super::condition::Conditional;
use super::graph::{Graph, Slope, ValueKind, is_comparison};
use super::nested::Nested;
use super::rows::{onto, readers_in_chains, row_width, shortest_row_of_sum};
use super::steps::{Half, NestedStep, Onto, Program, Source, Step, Target, Work};
use crate::arch::{Bounds, ChainOp, Comparison, Rule, Table};
use crate::dispatch::{by_bank, by_float_bank};
use crate::error::NoKernel;
use crate::inline_capacity::{VALUES, filled};
use crate::math::MathFunction;
use crate::scratch::{Bank, BankCall, Float, FloatBank, Lane};
use crate::tiling::{AccessKind, PANEL, Tiling};
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// The source of the root once it is in the result: nothing reads it again.
const WRITTEN: Source = Source::Vector(u32::MAX);

/// What becomes of the root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// It is the result, with this dtype.
    Store(DType),
    /// It is added to the gradient, whose layout under a tile is that of this access.
    Sum(u32),
}

/// The kernel of a call in a bank; [`Kernels::call`](crate::arch::Kernels::call) describes `is_scalar`. With
/// `half_in_bits`, the elements of the bank of u16 are the bits of halves in that format.
///
/// It is inlined for the same reason as [`single_kernel`](crate::one_tile::single_kernel).
#[inline(always)]
pub(crate) fn kernel(
    (table, half_in_bits): (&Table, Option<Half>),
    bank: Bank,
    function: Function,
    is_scalar: [bool; 3],
) -> Option<BankCall> {
    match half_in_bits {
        Some(half) if bank == Bank::U16 => half.kernels(table).call(function, is_scalar).map(u16::in_bank),
        Some(_) | None => by_bank!(bank, T => T::kernels(table).call(function, is_scalar).map(T::in_bank)),
    }
}

/// A value that has been scheduled.
#[derive(Clone, Copy)]
struct Placed {
    source: Source,
    varies: u64,
    bank: Bank,
}

/// Where some values are read, and the loops over tiles that change any of them; `None` if one is not placed.
fn sources<const N: usize>(placed: &[Option<Placed>], values: [u32; N]) -> Option<([Source; N], u64)> {
    let (mut sources, mut varies) = ([Source::Scalar(0); N], 0);
    for (source, value) in sources.iter_mut().zip(values) {
        let given = placed[value as usize]?;
        *source = given.source;
        varies |= given.varies;
    }
    Some((sources, varies))
}

struct Scheduler<'a> {
    table: &'a Table,
    /// The format of the halves whose bits the values of dtype u16 are.
    half_in_bits: Option<Half>,
    tiling: &'a Tiling,
    program: &'a mut Program,
    /// Whether kernels write the root into the result. A half is converted first.
    writes: bool,
    /// Where the root is added up while it is computed.
    onto: Option<Onto>,
    free: SmallVec<[(Bank, u32); VALUES]>,
    live: usize,
    /// The elements of the rows by which chains read operands that would be gathered otherwise, or 0.
    width: usize,
}

/// A value of a graph, and how often each value is read on its way.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) value: u32,
    pub(crate) readers: &'a [u32],
    pub(crate) goal: Goal,
}

/// Writes the steps that compute a root on every tile of `tiling` into `program`. `access_of` maps an operand
/// to its access. If `half_in_bits` is given, values of dtype u16 are the bits of halves.
///
/// # Errors
/// [`NoKernel`], if a function has no kernel for the type it is computed in.
pub(crate) fn schedule(
    (table, half_in_bits): (&Table, Option<Half>),
    program: &mut Program,
    root: Root<'_>,
    tiling: &Tiling,
    non_temporal: bool,
    access_of: impl Fn(u32) -> u32,
) -> Result<(), NoKernel> {
    let Root { graph, value: root, readers, goal } = root;
    *program = Program::default();
    let free = SmallVec::new();
    let writes = matches!(goal, Goal::Store(dtype) if half(dtype).is_none());
    let mut scheduler =
        Scheduler { table, half_in_bits, tiling, program, writes, onto: None, free, live: 0, width: 0 };
    if let (ValueKind::Operand(operand), Goal::Store(dtype)) = (graph.values[root as usize].kind, goal) {
        let access = access_of(operand);
        if (non_temporal || tiling.panel != 0) && half(dtype).is_none() {
            let loaded = scheduler.load(access, dtype);
            return scheduler.finish(loaded, dtype, goal);
        }
        scheduler.push(Work::Copy { access, dtype }, Target::Output, u64::MAX, false);
        return Ok(());
    }
    // Only chains and choices have non-temporal stores, and a call that is added up while it is computed is a
    // chain.
    let onto = match goal {
        Goal::Sum(access) => {
            onto(access, tiling, shortest_row_of_sum(graph) / bytes(bank_of(graph.dtype(root))))
        }
        Goal::Store(_) => None,
    };
    let single = non_temporal || onto.is_some();
    let wanted = Wanted {
        half_in_bits: half_in_bits.is_some(),
        single,
        sums: onto.is_some(),
        nests: matches!(goal, Goal::Store(_)),
    };
    let Chains { last_use, chains, choices, conditions, bounded, nested, mut root_choice } =
        find(graph, (root, readers), wanted, tiling, &access_of);
    (scheduler.onto, scheduler.width) = match (goal, onto) {
        (Goal::Store(_), _) => (None, 0),
        (Goal::Sum(access), Some(onto)) if tiling.accesses[access as usize].kind != AccessKind::Direct => {
            (Some(onto), onto.width as usize)
        }
        // Sums of a whole tile are as contiguous as it is: a chain that reads operands by rows adds nothing
        // up, but gathers less.
        (Goal::Sum(_), onto) => {
            let width = row_width((graph, readers), &last_use, &chains, |at| {
                let access = access_of(at) as usize;
                (tiling.accesses[access].kind == AccessKind::Gather).then(|| tiling.pattern(access))
            });
            (onto.filter(|_| width == 0), width)
        }
    };
    if scheduler.onto.is_none() {
        root_choice.clear();
    }
    let by_rows = |at| {
        let in_root = root_choice.iter().filter(|&&argument| argument == at).count();
        readers_in_chains(&chains, at) + in_root == readers[at as usize] as usize
    };
    let mut placed: SmallVec<[Option<Placed>; VALUES]> = filled(None, root as usize + 1);
    for (at, value) in (0u32..=root).zip(&graph.values) {
        if last_use[at as usize] == NOBODY {
            continue;
        }
        let last = at == root && matches!(goal, Goal::Store(_));
        let (stored, chosen) = (last && !non_temporal, last && scheduler.writes);
        let direct = stored && scheduler.writes;
        placed[at as usize] = Some(match value.kind {
            ValueKind::Operand(operand) => scheduler.operand(access_of(operand), value.dtype, || by_rows(at)),
            ValueKind::Constant(bits) => scheduler.constant(bits, value.dtype)?,
            ValueKind::Slope { slope, arguments } => {
                let onto = scheduler.onto.filter(|_| at == root);
                let to_output = if slope == Slope::Winner { chosen } else { direct };
                let made = scheduler.slope(slope, value.dtype, (to_output, onto), &placed, arguments)?;
                scheduler.release_last(at, value.kind.arguments(), &last_use, &placed);
                made
            }
            ValueKind::Call { function, arguments } => {
                if let Some(chain) = chains.iter().find(|chain| chain.end == at) {
                    let made = scheduler.chain(&placed, chain, value.dtype, (at == root).then_some(goal));
                    scheduler.release_last(at, &chain.arguments, &last_use, &placed);
                    placed[at as usize] = Some(made);
                    continue;
                }
                if let Some(found) = nested.iter().find(|nested| nested.end == at) {
                    let made = scheduler.nested(&placed, found, value.dtype, direct)?;
                    scheduler.release_last(at, &found.arguments, &last_use, &placed);
                    placed[at as usize] = Some(made);
                    continue;
                }
                if let Some(found) = bounded.iter().find(|found| found.end == at) {
                    let made = scheduler.bounded(&placed, found, graph.dtype(found.arguments[0]), direct)?;
                    scheduler.release_last(at, &found.arguments, &last_use, &placed);
                    placed[at as usize] = Some(made);
                    continue;
                }
                if let Some(found) = conditions.iter().find(|found| found.end == at) {
                    let dtype = graph.dtype(found.arguments[0]);
                    let made = scheduler.condition(&placed, found, dtype, direct)?;
                    scheduler.release_last(at, &found.arguments, &last_use, &placed);
                    placed[at as usize] = Some(made);
                    continue;
                }
                if let Some(choice) = choices.iter().find(|choice| choice.end == at) {
                    let onto = scheduler.onto.filter(|_| at == root);
                    let made = scheduler.choice(&placed, choice, value.dtype, (chosen, onto))?;
                    scheduler.release_last(at, &choice.arguments, &last_use, &placed);
                    placed[at as usize] = Some(made);
                    continue;
                }
                let count = function.arity();
                let mut given = [None; 3];
                for (given, &argument) in given.iter_mut().zip(&arguments[..count]) {
                    *given = placed[argument as usize];
                }
                let made = match scheduler.onto {
                    Some(onto) if at == root && !root_choice.is_empty() => {
                        scheduler.select_sum(value.dtype, given, onto)?
                    }
                    Some(_) | None => scheduler.call(function, value.dtype, given, stored)?,
                };
                scheduler.release_last(at, &arguments[..count], &last_use, &placed);
                made
            }
        });
    }
    if let Some(value) = placed[root as usize] {
        scheduler.finish(value, graph.dtype(root), goal)?;
    }
    program.in_rows = program.takes_rows(tiling);
    Ok(())
}

impl Scheduler<'_> {
    #[inline(always)]
    fn push(&mut self, work: Work, target: Target, varies: u64, stationary: bool) {
        self.program.steps.push(Step { work, target, varies, stationary });
    }

    fn vector(&mut self, bank: Bank, stationary: bool) -> u32 {
        self.live += bytes(bank);
        self.program.live = self.program.live.max(self.live);
        let free = self.free.iter().position(|&(of, _)| of == bank);
        match free {
            Some(at) if !stationary => self.free.swap_remove(at).1,
            Some(_) | None => {
                let need = &mut self.program.needs[bank as usize].0;
                *need += 1;
                *need - 1
            }
        }
    }

    /// The first of as many registers as a panel has rows. Only one of them at a time is in use.
    fn panel(&mut self, bank: Bank) -> u32 {
        self.live += bytes(bank);
        self.program.live = self.program.live.max(self.live);
        let need = &mut self.program.needs[bank as usize].0;
        let rows = u32::try_from(PANEL).unwrap_or(u32::MAX);
        *need += rows;
        *need - rows
    }

    fn scalar(&mut self, bank: Bank) -> u32 {
        let need = &mut self.program.needs[bank as usize].1;
        *need += 1;
        *need - 1
    }

    fn release(&mut self, value: Option<Placed>) {
        if let Some(Placed { source: Source::Vector(register), varies, bank }) = value
            && !self.tiling.is_stationary(varies)
        {
            self.live -= bytes(bank);
            self.free.push((bank, register));
        }
    }

    /// Frees the registers of the arguments of which the value `at` is the last reader.
    fn release_last(&mut self, at: u32, arguments: &[u32], last_use: &[u32], placed: &[Option<Placed>]) {
        for (which, &argument) in arguments.iter().enumerate() {
            let again = arguments[..which].contains(&argument);
            if last_use[argument as usize] == at && !again {
                self.release(placed[argument as usize]);
            }
        }
    }

    /// An operand where it is, if kernels can read it there. `by_rows` returns whether all that reads it can
    /// do so by rows.
    fn operand(&mut self, access: u32, dtype: DType, by_rows: impl Fn() -> bool) -> Placed {
        let layout = &self.tiling.accesses[access as usize];
        if self.width != 0
            && let &[(_, 0..), (width, stride @ (0 | 1))] = self.tiling.pattern(access as usize)
            && width == self.width
            && (is_plain_float(dtype) || dtype == DType::Bool && stride == 1)
            && by_rows()
        {
            let source = Source::Rows { access, scalar: stride == 0 };
            return Placed { source, varies: layout.varies, bank: bank_of(dtype) };
        }
        if half(dtype).is_none() && layout.kind != AccessKind::Gather {
            let scalar = layout.kind == AccessKind::Splat;
            let source = Source::Operand { access, scalar };
            return Placed { source, varies: layout.varies, bank: bank_of(dtype) };
        }
        self.load(access, dtype)
    }

    /// An operand in a register.
    fn load(&mut self, access: u32, dtype: DType) -> Placed {
        let layout = &self.tiling.accesses[access as usize];
        let (bank, varies) = (bank_of(dtype), layout.varies);
        if half(dtype).is_none()
            && let Some(step) = self.tiling.column_step(access as usize)
        {
            let first = self.panel(bank);
            self.push(Work::Across { access, dtype, first, step }, Target::Vector(first), varies, false);
            return Placed { source: Source::Panel(first), varies, bank };
        }
        let splat = layout.kind == AccessKind::Splat;
        let stationary = self.tiling.is_stationary(varies);
        let (target, source) = if splat {
            let register = self.scalar(bank);
            (Target::Scalar(register), Source::Scalar(register))
        } else {
            let register = self.vector(bank, stationary);
            (Target::Vector(register), Source::Vector(register))
        };
        self.push(Work::Load { access, dtype }, target, varies, stationary);
        Placed { source, varies, bank }
    }

    fn constant(&mut self, bits: u64, dtype: DType) -> Result<Placed, NoKernel> {
        let bank = bank_of(dtype);
        let float = FloatBank::of(bank).ok_or(NoKernel { operation: "constant", dtype })?;
        let register = self.scalar(bank);
        self.push(Work::Constant { bits, bank: float }, Target::Scalar(register), 0, false);
        Ok(Placed { source: Source::Scalar(register), varies: 0, bank })
    }

    /// A function of placed arguments. If it is the root, its value goes straight into the result where
    /// possible.
    fn call(
        &mut self,
        function: Function,
        dtype: DType,
        given: [Option<Placed>; 3],
        root: bool,
    ) -> Result<Placed, NoKernel> {
        let count = function.arity();
        let mut arguments = [Source::Scalar(0); 3];
        let mut varies = 0;
        for (argument, given) in arguments.iter_mut().zip(given.iter().flatten()) {
            *argument = given.source;
            varies |= given.varies;
        }
        let stationary = self.tiling.is_stationary(varies);
        let scalar = arguments[..count].iter().all(|argument| argument.is_scalar());
        let bank = bank_of(dtype);
        let computed = match given[0] {
            Some(first) if is_comparison(function) => first.bank,
            Some(_) | None => bank,
        };
        let target = if scalar {
            Target::Scalar(self.scalar(bank))
        } else if root && !stationary && self.writes {
            Target::Output
        } else {
            Target::Vector(self.vector(bank, stationary))
        };
        let work = self.work(function, computed, arguments, (dtype, root));
        self.push(work.ok_or(NoKernel { operation: function.name(), dtype })?, target, varies, stationary);
        let source = match target {
            Target::Scalar(register) => Source::Scalar(register),
            Target::Vector(register) => Source::Vector(register),
            Target::Output => WRITTEN,
        };
        Ok(Placed { source, varies, bank })
    }

    /// What computes a function in a bank, with its kernel; `None` if there is no kernel. A half that is the
    /// root is rounded when it is stored.
    fn work(
        &self,
        function: Function,
        bank: Bank,
        arguments: [Source; 3],
        (dtype, root): (DType, bool),
    ) -> Option<Work> {
        let round = rounding(function, dtype).filter(|_| !root).map(|half| match half {
            Half::F16 => self.table.round_to_f16,
            Half::Bf16 => self.table.round_to_bf16,
        });
        if let Some(function) = MathFunction::of(function) {
            let arguments = [arguments[0], arguments[1]];
            return match FloatBank::of(bank)? {
                FloatBank::F64 => Some(Work::MathF64 { function, arguments }),
                FloatBank::F32 => Some(Work::MathF32 { function, arguments, round }),
            };
        }
        let is_scalar = arguments.map(Source::is_scalar);
        let Some(round) = round else {
            let kernel = kernel((self.table, self.half_in_bits), bank, function, is_scalar)?;
            return Some(Work::Call { kernel, arguments });
        };
        let kernel = self.table.f32.call(function, is_scalar)?;
        Some(Work::RoundedCall { kernel, arguments, round })
    }

    /// A chain of placed arguments. If it is the root, it reaches the goal directly where possible.
    fn chain(
        &mut self,
        placed: &[Option<Placed>],
        chain: &Chain,
        dtype: DType,
        goal: Option<Goal>,
    ) -> Placed {
        let bank = bank_of(dtype);
        let start = self.program.links.len();
        let mut varies = 0;
        let mut given = chain.arguments.iter().filter_map(|&argument| placed[argument as usize]);
        let mut next = || {
            let value = given.next();
            varies |= value.map_or(0, |value| value.varies);
            value.map(|value| value.source)
        };
        let first = next().unwrap_or(Source::Scalar(0));
        let links = chain.ops.iter().map(|&op| (op, if op.is_unary() { None } else { next() }));
        self.program.links.extend(links);
        let stationary = self.tiling.is_stationary(varies);
        let mut arguments = self.program.links[start..].iter().filter_map(|&(_, source)| source);
        let scalar = first.is_scalar() && arguments.all(Source::is_scalar);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (start, end) = (place(start), place(self.program.links.len()));
        let sources = self.program.links[start as usize..].iter().filter_map(|&(_, source)| source);
        let by_rows =
            std::iter::once(first).chain(sources).any(|source| matches!(source, Source::Rows { .. }));
        let width = if by_rows { u32::try_from(self.width).unwrap_or(u32::MAX) } else { 0 };
        let stored = Work::Chain { bank, first, start, end, width };
        let (work, target, source) = match goal {
            _ if scalar => {
                let register = self.scalar(bank);
                (stored, Target::Scalar(register), Source::Scalar(register))
            }
            Some(Goal::Store(_)) if !stationary && self.writes => (stored, Target::Output, WRITTEN),
            Some(Goal::Sum(_))
                if !stationary && let (Some(onto), Some(float)) = (self.onto, FloatBank::of(bank)) =>
            {
                (Work::ChainSum { bank: float, first, start, end, onto }, Target::Output, WRITTEN)
            }
            Some(Goal::Store(_) | Goal::Sum(_)) | None => {
                let register = self.vector(bank, stationary);
                (stored, Target::Vector(register), Source::Vector(register))
            }
        };
        self.push(work, target, varies, stationary);
        Placed { source, varies, bank }
    }

    /// A choice by a comparison. Its comparison is not a scalar, and so neither is the choice.
    fn choice(
        &mut self,
        placed: &[Option<Placed>],
        choice: &Choice,
        dtype: DType,
        (root, onto): (bool, Option<Onto>),
    ) -> Result<Placed, NoKernel> {
        let no_kernel = NoKernel { operation: "select", dtype };
        let bank = bank_of(dtype);
        let float = FloatBank::of(bank).ok_or(no_kernel)?;
        let (arguments, varies) = sources(placed, choice.arguments).ok_or(no_kernel)?;
        if let (Some(onto), Rule::By(comparison)) = (onto, choice.rule) {
            let [x, limit, chosen, other, _] = arguments;
            return Ok(self.choice_sum(comparison, bank, (float, [x, limit, chosen, other]), onto));
        }
        let stationary = self.tiling.is_stationary(varies);
        let (target, source) = self.target_of_vectors(bank, root, stationary);
        let work = Work::Choose { rule: choice.rule, bank: float, arguments };
        self.push(work, target, varies, stationary);
        Ok(Placed { source, varies, bank })
    }

    /// A choice by a comparison that is added up, in every tile.
    fn choice_sum(
        &mut self,
        comparison: Comparison,
        bank: Bank,
        (float, arguments): (FloatBank, [Source; 4]),
        onto: Onto,
    ) -> Placed {
        let work = Work::ChoiceSum { comparison, bank: float, arguments, onto };
        self.push(work, Target::Output, u64::MAX, false);
        Placed { source: WRITTEN, varies: u64::MAX, bank }
    }

    /// A choice by a condition that is added up, in every tile. The condition is not a scalar.
    fn select_sum(
        &mut self,
        dtype: DType,
        given: [Option<Placed>; 3],
        onto: Onto,
    ) -> Result<Placed, NoKernel> {
        let no_kernel = NoKernel { operation: "select", dtype };
        let bank = bank_of(dtype);
        let float = FloatBank::of(bank).ok_or(no_kernel)?;
        let [Some(condition), Some(then), Some(other)] = given else { return Err(no_kernel) };
        let (condition, branches) = (condition.source, [then.source, other.source]);
        let work = Work::SelectSum { bank: float, condition, branches, onto };
        self.push(work, Target::Output, u64::MAX, false);
        Ok(Placed { source: WRITTEN, varies: u64::MAX, bank })
    }

    /// A derivative of placed arguments.
    fn slope(
        &mut self,
        slope: Slope,
        dtype: DType,
        (root, onto): (bool, Option<Onto>),
        placed: &[Option<Placed>],
        [x, y, f]: [u32; 3],
    ) -> Result<Placed, NoKernel> {
        let no_kernel = NoKernel { operation: "gradient", dtype };
        let bank = bank_of(dtype);
        let float = FloatBank::of(bank).ok_or(no_kernel)?;
        let of_power = |function: MathFunction| {
            let (arguments, varies) = sources(placed, [x, y])?;
            let work = match float {
                FloatBank::F64 => Work::MathF64 { function, arguments },
                FloatBank::F32 => Work::MathF32 { function, arguments, round: None },
            };
            Some((work, varies, arguments.iter().all(|argument| argument.is_scalar())))
        };
        let (work, varies, scalar) = match slope {
            Slope::PowerByBase => of_power(MathFunction::PowerByBase).ok_or(no_kernel)?,
            Slope::PowerByExponent => of_power(MathFunction::PowerByExponent).ok_or(no_kernel)?,
            Slope::Winner => {
                let ([x, limit, chosen], varies) = sources(placed, [x, y, f]).ok_or(no_kernel)?;
                let half = self.constant(0.5f64.to_bits(), dtype)?.source;
                let arguments = [x, limit, chosen, half];
                if let Some(onto) = onto {
                    return Ok(self.choice_sum(Comparison::Wins, bank, (float, arguments), onto));
                }
                let arguments = [x, limit, chosen, half, x];
                let work = Work::Choose { rule: Rule::By(Comparison::Wins), bank: float, arguments };
                (work, varies, arguments.iter().all(|argument| argument.is_scalar()))
            }
        };
        let stationary = self.tiling.is_stationary(varies);
        let (target, source) = if scalar {
            let register = self.scalar(bank);
            (Target::Scalar(register), Source::Scalar(register))
        } else {
            self.target_of_vectors(bank, root, stationary)
        };
        self.push(work, target, varies, stationary);
        Ok(Placed { source, varies, bank })
    }

    /// Where vectors go: into the result, if they are the root's, or into a register.
    fn target_of_vectors(&mut self, bank: Bank, root: bool, stationary: bool) -> (Target, Source) {
        if root && !stationary {
            return (Target::Output, WRITTEN);
        }
        let register = self.vector(bank, stationary);
        (Target::Vector(register), Source::Vector(register))
    }

    /// A condition of two comparisons of values of `dtype`. An argument that is one value becomes a vector
    /// first.
    fn condition(
        &mut self,
        placed: &[Option<Placed>],
        conditional: &Conditional,
        dtype: DType,
        root: bool,
    ) -> Result<Placed, NoKernel> {
        let no_kernel = NoKernel { operation: "condition", dtype };
        let (bank, condition) = (FloatBank::of(bank_of(dtype)).ok_or(no_kernel)?, conditional.condition);
        let kernel =
            by_float_bank!(bank, T => T::float_kernels(self.table).condition(condition).map(T::in_bank));
        let kernel = kernel.ok_or(no_kernel)?;
        let mut given: SmallVec<[Placed; 5]> = SmallVec::new();
        for &argument in &conditional.arguments {
            let value = placed[argument as usize].ok_or(no_kernel)?;
            given.push(if value.source.is_scalar() { self.spread(value).ok_or(no_kernel)? } else { value });
        }
        let varies = given.iter().fold(0, |bits, value| bits | value.varies);
        let start = self.program.links.len();
        self.program.links.extend(given.iter().map(|value| (ChainOp::Add, Some(value.source))));
        let stationary = self.tiling.is_stationary(varies);
        let (target, source) = self.target_of_vectors(Bank::Bool, root, stationary);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let work = Work::Condition { kernel, start: place(start), end: place(self.program.links.len()) };
        self.push(work, target, varies, stationary);
        for (&argument, value) in conditional.arguments.iter().zip(given) {
            if placed[argument as usize].is_some_and(|placed| placed.source != value.source) {
                self.release(Some(value));
            }
        }
        Ok(Placed { source, varies, bank: Bank::Bool })
    }

    /// A nested expression. It is not a scalar.
    fn nested(
        &mut self,
        placed: &[Option<Placed>],
        nested: &Nested,
        dtype: DType,
        root: bool,
    ) -> Result<Placed, NoKernel> {
        let no_kernel = NoKernel { operation: "nested", dtype };
        let bank = bank_of(dtype);
        let float = FloatBank::of(bank_of(nested.dtype)).ok_or(no_kernel)?;
        let mut sources: SmallVec<[Source; VALUES]> = SmallVec::new();
        let mut varies = 0;
        for &argument in &nested.arguments {
            let value = placed[argument as usize].ok_or(no_kernel)?;
            varies |= value.varies;
            sources.push(value.source);
        }
        let stationary = self.tiling.is_stationary(varies);
        let (target, source) = self.target_of_vectors(bank, root, stationary);
        let which = u32::try_from(self.program.nested.len()).unwrap_or(u32::MAX);
        let (values, bools) = sources.split_at(nested.numbers);
        let (program, is_condition) = (nested.program.clone(), dtype != nested.dtype);
        let (values, bools) = (values.into(), bools.into());
        self.program.nested.push(NestedStep { program, is_condition, values, bools });
        self.push(Work::Nested { bank: float, which }, target, varies, stationary);
        Ok(Placed { source, varies, bank })
    }

    /// A value of `dtype` against two bounds.
    fn bounded(
        &mut self,
        placed: &[Option<Placed>],
        bounded: &Bounded,
        dtype: DType,
        root: bool,
    ) -> Result<Placed, NoKernel> {
        let no_kernel = NoKernel { operation: "bounds", dtype };
        let bank = bank_of(dtype);
        let (arguments, varies) = sources(placed, bounded.arguments).ok_or(no_kernel)?;
        let kernel = match self.half_in_bits {
            Some(half) if bank == Bank::U16 => {
                half.kernels(self.table).bounded(bounded.bounds).map(u16::in_bank)
            }
            Some(_) | None => by_bank!(bank, T => {
                T::kernels(self.table).bounded(bounded.bounds).map(T::in_bank)
            }),
        };
        let stationary = self.tiling.is_stationary(varies);
        let made = match bounded.bounds {
            Bounds::Clip { .. } | Bounds::Keep { .. } => bank,
            Bounds::Check { .. } => Bank::Bool,
        };
        let (target, source) = self.target_of_vectors(made, root, stationary);
        let work = Work::Bounded { kernel: kernel.ok_or(no_kernel)?, arguments };
        self.push(work, target, varies, stationary);
        Ok(Placed { source, varies, bank: made })
    }

    /// One value as a vector.
    fn spread(&mut self, value: Placed) -> Option<Placed> {
        let float = FloatBank::of(value.bank)?;
        let stationary = self.tiling.is_stationary(value.varies);
        let register = self.vector(value.bank, stationary);
        let work = Work::Spread { source: value.source, bank: float };
        self.push(work, Target::Vector(register), value.varies, stationary);
        Some(Placed { source: Source::Vector(register), ..value })
    }

    fn finish(&mut self, root: Placed, dtype: DType, goal: Goal) -> Result<(), NoKernel> {
        let Placed { mut source, bank, .. } = root;
        if source == WRITTEN {
            return Ok(());
        }
        let work = match goal {
            Goal::Store(dtype) => Work::Store { source, dtype },
            Goal::Sum(access) => {
                let float = FloatBank::of(bank);
                let float = float.ok_or(NoKernel { operation: "gradient", dtype })?;
                if source.is_scalar() {
                    let register = self.vector(bank, false);
                    let work = Work::Spread { source, bank: float };
                    source = Source::Vector(register);
                    self.push(work, Target::Vector(register), u64::MAX, false);
                }
                Work::Sum { source, bank: float, access }
            }
        };
        self.push(work, Target::Output, u64::MAX, false);
        Ok(())
    }
}
