//! Runs a program over a range of tiles.
#![deny(clippy::wildcard_enum_match_arm)]

mod sums;

use crate::arch::{
    Ahead, Argument, Arguments, CACHE_LINE, CallKernel, ChainOp, GridOperand, InPlace, Link, NestedResult,
    NonTemporal, Pairing, Repeat, Rule, Select, Table, fenced,
};
use crate::buffers::{Input, Output, Stored};
use crate::cursor::Cursor;
use crate::dispatch::{by_bank, by_call, by_dtype, by_float_bank};
use crate::fill::fill;
use crate::grid::RowLayout;
use crate::inline_capacity::{CHAIN_LINKS, NESTED_ARGUMENTS};
use crate::math::MathFunction;
use crate::program::{Program, Source, Step, Target, Work, bank_of};
use crate::scratch::{Bank, BankCall, Float, FloatBank, Lane, REGISTER_BYTES, Scratch};
use crate::tiling::{AccessKind, PANEL, Tiling};
use broadcheck_spec::DType;
use broadcheck_spec::half::slice::HalfFloatSliceExt;
use broadcheck_spec::half::{bf16, f16};
use smallvec::SmallVec;
use std::ops::Range;

pub(crate) use sums::reduction;

/// The links of a chain with their arguments.
pub(crate) type Links<'a, T> = SmallVec<[Link<'a, T>; CHAIN_LINKS]>;

/// The arguments of a nested expression.
pub(crate) type NestedArguments<'a, T> = SmallVec<[Argument<'a, T>; NESTED_ARGUMENTS]>;

/// The bytes of the shortest row of choices that is stored non-temporally, unless rows are whole cache lines.
const NON_TEMPORAL_ROW: usize = 1024;

/// A program with everything it needs to run.
pub(crate) struct Run<'a> {
    pub(crate) table: &'static Table,
    pub(crate) tiling: &'a Tiling,
    pub(crate) program: &'a Program,
    pub(crate) inputs: &'a [Input<'a>],
    /// The operand of each access of the tiling.
    pub(crate) used: &'a [u32],
    /// Whether the result is written with non-temporal stores.
    pub(crate) non_temporal: bool,
    /// Whether functions of `math` and sums of registers prefetch what the next tile will read.
    pub(crate) fetches: bool,
    /// Whether sums prefetch the operands of values that they compute and add up at once, on Intel.
    pub(crate) fetches_for_sums: bool,
    /// Whether chains with functions do, on Intel. For them, the result counts, too; for values that are
    /// computed first, that of the whole problem. (Where 1.6 MB are read and 0.8 MB written, exp(x*y) takes
    /// 0.93 of the time on a Xeon.)
    pub(crate) fetches_for_functions: bool,
}

/// One tile of a run.
struct Tile<'a, 'o> {
    run: &'a Run<'a>,
    cursor: Cursor<'a>,
    scratch: &'a mut Scratch,
    output: Output<'o>,
    /// Permission for non-temporal stores to `output`.
    stores: Option<&'a NonTemporal>,
    /// The range of this tile in `output`.
    place: Range<usize>,
    /// The number of tiles that this one represents, because the last step computes all of them at once.
    rows: usize,
}

impl Run<'_> {
    /// Runs the program on a range of tiles. `output` is the part of the result in these tiles. For a
    /// gradient it is the whole gradient, to which the tiles are added.
    pub(crate) fn tiles(&self, tiles: Range<usize>, scratch: &mut Scratch, output: Output<'_>) {
        scratch.reserve(&self.program.needs);
        fenced(self.non_temporal, |stores| {
            let cursor = Cursor::new(self.tiling);
            let mut tile = Tile { run: self, cursor, scratch, output, stores, place: 0..0, rows: 1 };
            tile.cursor.begin(&tiles);
            tile.run(tiles.len());
        });
    }
}

impl Tile<'_, '_> {
    /// Runs the program on this tile and those that follow it, `left` of them altogether.
    #[inline(always)]
    fn run(&mut self, mut left: usize) {
        while left > 0 {
            let start = self.cursor.start(self.place.end);
            self.rows = if self.run.program.in_rows { self.cursor.alike().min(left) } else { 1 };
            self.place = start..start + self.rows * self.cursor.length();
            for step in &self.run.program.steps {
                if self.cursor.is_new(step.varies) {
                    self.step(step);
                }
            }
            left -= self.rows;
            self.cursor.skip(self.rows - 1);
            self.cursor.advance();
        }
    }

    fn step(&mut self, step: &Step) {
        let count = match step.target {
            Target::Scalar(_) => 1,
            Target::Vector(_) | Target::Output if step.stationary && !self.run.tiling.is_cut(step.varies) => {
                self.run.tiling.full
            }
            Target::Vector(_) | Target::Output => self.place.len(),
        };
        match step.work {
            Work::Load { access, dtype } => self.load(access, dtype, step.target, count),
            Work::Across { access, dtype, first, step } => {
                by_bank!(bank_of(dtype), T => self.across::<T>(access as usize, first as usize, step, count));
            }
            Work::Constant { bits, bank } => self.constant(f64::from_bits(bits), bank, step.target),
            Work::Call { kernel, arguments } => {
                by_call!(kernel, kernel => self.call(kernel, arguments, None, step.target, count));
            }
            Work::Condition { kernel, start, end } => {
                by_call!(kernel, kernel => self.condition(kernel, start..end, step.target, count));
            }
            Work::Bounded { kernel, arguments } => {
                by_call!(kernel, kernel => self.bounded(kernel, arguments, step.target, count));
            }
            Work::RoundedCall { kernel, arguments, round } => {
                self.call(kernel, arguments, Some(round), step.target, count);
            }
            Work::MathF64 { function, arguments } => {
                self.math::<f64>(function, arguments, None, step.target, count);
            }
            Work::MathF32 { function, arguments, round } => {
                self.math::<f32>(function, arguments, round, step.target, count);
            }
            Work::Choose { rule, bank, arguments } => {
                by_float_bank!(bank, T => self.choose::<T>(rule, arguments, step.target, count));
            }
            Work::Chain { bank, first, start, end, width } => {
                let width = width as usize;
                by_bank!(bank, T => self.chain::<T>(first, start..end, step.target, (count, width)));
            }
            Work::Nested { bank, which } => {
                by_float_bank!(bank, T => self.nested::<T>(which, step.target, count));
            }
            Work::ChainSum { bank, first, start, end, onto } => {
                by_float_bank!(bank, T => self.chain_sum::<T>(first, start..end, onto, count));
            }
            Work::ChoiceSum { comparison, bank, arguments, onto } => {
                by_float_bank!(bank, T => self.choice_sum::<T>(comparison, arguments, onto, count));
            }
            Work::SelectSum { bank, condition, branches, onto } => {
                by_float_bank!(bank, T => self.select_sum::<T>(condition, branches, onto, count));
            }
            Work::Pair { pairing, bank, whole, part, repeat } => {
                by_float_bank!(bank, T => self.pair::<T>(pairing, whole, (part, repeat), count));
            }
            Work::Grid { pairing, bank, whole, part, layouts, rows, width } => {
                let (rows, width) = (rows as usize, width as usize);
                let rows = if rows == 0 { count / width } else { rows };
                let operands = [(whole, layouts[0]), (part, layouts[1])];
                by_float_bank!(bank, T => self.grid::<T>(pairing, operands, (rows, width)));
            }
            Work::Spread { source, bank } => {
                by_float_bank!(bank, T => self.spread::<T>(source, step.target, count));
            }
            Work::Store { source, dtype } => self.store(source, dtype),
            Work::Copy { access, dtype } => by_dtype!(dtype, T => self.copy::<T>(access as usize)),
            Work::Sum { source, bank, access } => {
                by_float_bank!(bank, T => self.sum::<T>(source, access as usize));
            }
        }
    }

    /// The elements of an argument: `count` of a vector, one of a scalar.
    fn read<T: Lane>(&self, source: Source, count: usize) -> &[T] {
        match source {
            Source::Vector(register) => &T::registers(self.scratch).vector(register as usize)[..count],
            Source::Panel(first) => {
                let (row, _) = self.cursor.in_panel();
                &T::registers(self.scratch).vector(first as usize + row)[..count]
            }
            Source::Scalar(register) => {
                std::slice::from_ref(&T::registers(self.scratch).scalars[register as usize])
            }
            Source::Operand { access, scalar } => {
                let start = self.cursor.position(access as usize);
                let count = if scalar { 1 } else { count };
                &T::input(&self.run.inputs[self.run.used[access as usize] as usize])[start..start + count]
            }
            Source::Rows { .. } => unreachable!("only a chain or a sum reads an operand by rows"),
        }
    }

    /// Calls `body` with the elements of a target, which it writes while it reads its arguments.
    fn write<T: Lane>(&mut self, target: Target, count: usize, body: impl FnOnce(&Self, &mut [T])) {
        match target {
            Target::Vector(register) => {
                let mut block = T::registers_mut(self.scratch).take(register as usize);
                body(self, block.first(count));
                T::registers_mut(self.scratch).put(register as usize, block);
            }
            Target::Scalar(register) => {
                let mut value = [T::default()];
                body(self, &mut value);
                T::registers_mut(self.scratch).scalars[register as usize] = value[0];
            }
            Target::Output => {
                let mut output = std::mem::replace(&mut self.output, Output::Bool(&mut []));
                body(self, &mut T::output(&mut output)[self.place.clone()]);
                self.output = output;
            }
        }
    }

    fn load(&mut self, access: u32, dtype: DType, target: Target, count: usize) {
        let at = access as usize;
        match dtype {
            DType::F16 => self.write::<f32>(target, count, |tile, out| {
                let (source, start, pattern) = tile.pattern::<f16>(at);
                if tile.run.tiling.accesses[at].kind == AccessKind::Direct {
                    let halves = source[start..start + out.len()].reinterpret_cast();
                    tile.run.table.widen_f16.run(halves, out);
                } else {
                    fill(source, start, pattern, out, f16::to_f32);
                }
            }),
            DType::Bf16 => self.write::<f32>(target, count, |tile, out| {
                let (source, start, pattern) = tile.pattern::<bf16>(at);
                if tile.run.tiling.accesses[at].kind == AccessKind::Direct {
                    let halves = source[start..start + out.len()].reinterpret_cast();
                    tile.run.table.widen_bf16.run(halves, out);
                } else {
                    fill(source, start, pattern, out, bf16::to_f32);
                }
            }),
            DType::F64
            | DType::F32
            | DType::I64
            | DType::I32
            | DType::I16
            | DType::I8
            | DType::U64
            | DType::U32
            | DType::U16
            | DType::U8
            | DType::Bool => by_bank!(bank_of(dtype), T => match *self.run.tiling.pattern(at) {
                [(_, 1), (times, 0)] => self.expand::<T>(at, times, target, count),
                _ => self.write::<T>(target, count, |tile, out| {
                    let (source, start, pattern) = tile.pattern::<T>(at);
                    fill(source, start, pattern, out, |value| value);
                }),
            }),
        }
    }

    /// Loads a column, each of whose elements is repeated.
    fn expand<T: Lane>(&mut self, access: usize, times: usize, target: Target, count: usize) {
        let mut permutations = std::mem::take(&mut self.scratch.permutations);
        self.write::<T>(target, count, |tile, out| {
            let (source, start, _) = tile.pattern::<T>(access);
            let source = &source[start..start + out.len() / times];
            T::kernels(tile.run.table).expand.run(source, times, &mut permutations, out);
        });
        self.scratch.permutations = permutations;
    }

    /// Loads all rows of a panel, when the panel's first row is reached.
    fn across<T: Lane>(&mut self, access: usize, first: usize, step: usize, count: usize) {
        let (0, rows) = self.cursor.in_panel() else { return };
        let mut blocks: SmallVec<[_; PANEL]> =
            (first..first + rows).map(|register| T::registers_mut(self.scratch).take(register)).collect();
        {
            let (source, start, _) = self.pattern::<T>(access);
            let rows = blocks.iter_mut().map(|block| block.first(count));
            let mut rows: SmallVec<[&mut [T]; PANEL]> = rows.collect();
            T::kernels(self.run.table).across.run(&source[start..], step, &mut rows);
        }
        for (register, block) in (first..).zip(blocks) {
            T::registers_mut(self.scratch).put(register, block);
        }
    }

    /// An operand's buffer, the position where the tile starts in it, and its pattern.
    fn pattern<T: Stored>(&self, access: usize) -> (&[T], usize, &[(usize, i64)]) {
        let source = T::input(&self.run.inputs[self.run.used[access] as usize]);
        (source, self.cursor.position(access), self.run.tiling.pattern(access))
    }

    fn constant(&mut self, number: f64, bank: FloatBank, target: Target) {
        by_float_bank!(bank, T => self.write::<T>(target, 1, |_, out| out.fill(T::of_number(number))));
    }

    /// A function of arguments, rounded if that is given.
    fn call<T: Lane>(
        &mut self,
        kernel: CallKernel<T>,
        arguments: [Source; 3],
        round: Option<InPlace<T>>,
        target: Target,
        count: usize,
    ) {
        let [a, b, _] = arguments;
        match kernel {
            CallKernel::Unary(kernel) => self.write::<T>(target, count, |tile, out| {
                kernel.run(tile.read(a, count), out);
                if let Some(round) = round {
                    round.run(out);
                }
            }),
            CallKernel::Binary(kernel) => self.write::<T>(target, count, |tile, out| {
                kernel.run(tile.read(a, count), tile.read(b, count), out);
                if let Some(round) = round {
                    round.run(out);
                }
            }),
            CallKernel::Comparison(kernel) => self.write::<bool>(target, count, |tile, out| {
                kernel.run(tile.read(a, count), tile.read(b, count), out);
            }),
            CallKernel::Select(kernel) => self.select(kernel, arguments, target, count),
            CallKernel::Condition(_) | CallKernel::Clip(_) | CallKernel::Check(_) => {
                unreachable!("neither a condition nor a value against bounds is a call")
            }
        }
    }

    /// A condition, whose arguments are those of some links.
    fn condition<T: Lane>(&mut self, kernel: CallKernel<T>, links: Range<u32>, target: Target, count: usize) {
        let links = &self.run.program.links[links.start as usize..links.end as usize];
        match kernel {
            CallKernel::Condition(kernel) => self.write::<bool>(target, count, |tile, out| {
                kernel.run(Arguments(&tile.arguments(links, count)), out);
            }),
            CallKernel::Unary(_)
            | CallKernel::Binary(_)
            | CallKernel::Comparison(_)
            | CallKernel::Select(_)
            | CallKernel::Clip(_)
            | CallKernel::Check(_) => unreachable!("this is not a condition"),
        }
    }

    /// A value against two bounds.
    fn bounded<T: Lane>(
        &mut self,
        kernel: CallKernel<T>,
        arguments: [Source; 3],
        target: Target,
        count: usize,
    ) {
        let rows = self.rows_into(target);
        match kernel {
            CallKernel::Clip(kernel) => self.write::<T>(target, count, |tile, out| {
                let [x, a, b] = &arguments.map(|argument| tile.argument_of_rows(argument, (rows, count)));
                kernel.run(x, [a, b], rows, out);
            }),
            CallKernel::Check(kernel) => self.write::<bool>(target, count, |tile, out| {
                let [x, a, b] = &arguments.map(|argument| tile.argument_of_rows(argument, (rows, count)));
                kernel.run(x, [a, b], rows, out);
            }),
            CallKernel::Unary(_)
            | CallKernel::Binary(_)
            | CallKernel::Comparison(_)
            | CallKernel::Select(_)
            | CallKernel::Condition(_) => unreachable!("this is not a value against bounds"),
        }
    }

    /// An argument of `count` elements in a number of rows.
    #[inline(always)]
    fn argument_of_rows<T: Lane>(&self, source: Source, (rows, count): (usize, usize)) -> Argument<'_, T> {
        // Of one row, `read` is the faster one: 0.95 of the time over short rows by a column.
        if rows == 1 {
            return Argument { values: self.read(source, count), step: 0, scalar: source.is_scalar() };
        }
        let Link { values, step, scalar, .. } = self.link(ChainOp::Add, Some(source), count / rows);
        Argument { values, step, scalar }
    }

    /// The arguments of some links.
    fn arguments<T: Lane>(&self, links: &[(ChainOp, Option<Source>)], count: usize) -> SmallVec<[&[T]; 5]> {
        links.iter().filter_map(|&(_, source)| source).map(|source| self.read(source, count)).collect()
    }

    /// The rows that a step computes at once. What does not go into the result is the same for all of them.
    fn rows_into(&self, target: Target) -> usize {
        if target == Target::Output { self.rows } else { 1 }
    }

    /// A choice by a comparison.
    fn choose<T: Float>(&mut self, rule: Rule, arguments: [Source; 5], target: Target, count: usize) {
        let rows = self.rows_into(target);
        self.write::<T>(target, count, |tile, out| {
            let mut given = [Argument { values: &[][..], step: 0, scalar: true }; 5];
            for (given, argument) in given.iter_mut().zip(arguments) {
                *given = tile.argument_of_rows(argument, (rows, count));
            }
            // At the ends of a row, non-temporal stores leave elements to be computed one by one.
            let row = count / rows * size_of::<T>();
            let is_even = row >= NON_TEMPORAL_ROW || row.is_multiple_of(CACHE_LINE);
            let stores = tile.stores.filter(|_| target == Target::Output && is_even);
            T::float_kernels(tile.run.table).choose.run(rule, &given, rows, stores, out);
        });
    }

    /// A nested expression.
    fn nested<T: Float>(&mut self, which: u32, target: Target, count: usize) {
        let rows = self.rows_into(target);
        let step = &self.run.program.nested[which as usize];
        let compute = |tile: &Self, out: NestedResult<'_, T>| {
            let (mut numbers, mut flags) = (SmallVec::new(), SmallVec::new());
            tile.arguments_of_rows::<T>(&step.values, (rows, count), &mut numbers);
            tile.arguments_of_rows::<bool>(&step.bools, (rows, count), &mut flags);
            T::float_kernels(tile.run.table).nested.run(&step.program, (&numbers, &flags), rows, out);
        };
        if step.is_condition {
            self.write::<bool>(target, count, |tile, out| compute(tile, NestedResult::Conditions(out)));
        } else {
            self.write::<T>(target, count, |tile, out| compute(tile, NestedResult::Numbers(out)));
        }
    }

    /// Adds the arguments of a nested expression. (Collecting them took a tenth of the time of short tiles.)
    #[inline(always)]
    fn arguments_of_rows<'a, T: Lane>(
        &'a self,
        sources: &[Source],
        shape: (usize, usize),
        to: &mut NestedArguments<'a, T>,
    ) {
        for &source in sources {
            to.push(self.argument_of_rows(source, shape));
        }
    }

    /// A link of a chain with its argument, for all rows that the step computes at once.
    #[inline(always)]
    fn link<T: Lane>(&self, op: ChainOp, source: Option<Source>, count: usize) -> Link<'_, T> {
        let (access, scalar) = match source {
            Some(Source::Operand { access, scalar }) => (access, scalar),
            Some(source) => {
                return Link {
                    op,
                    values: self.read::<T>(source, count),
                    step: 0,
                    scalar: source.is_scalar(),
                };
            }
            None => return Link { op, values: &[], step: 0, scalar: true },
        };
        let step = if self.rows == 1 { 0 } else { self.run.tiling.inner_step(access as usize) };
        self.rows_of(op, (access, scalar), (self.rows, count), step)
    }

    /// A link with an operand of which each row has contiguous values, or one value.
    #[inline(always)]
    fn rows_of<T: Lane>(
        &self,
        op: ChainOp,
        (access, scalar): (u32, bool),
        (rows, width): (usize, usize),
        step: usize,
    ) -> Link<'_, T> {
        let start = self.cursor.position(access as usize);
        let end = start + (rows - 1) * step + if scalar { 1 } else { width };
        let operand = &self.run.inputs[self.run.used[access as usize] as usize];
        Link { op, values: &T::input(operand)[start..end], step, scalar }
    }

    /// The links of a chain with their arguments.
    #[inline(always)]
    fn links<T: Lane>(&self, links: &Range<u32>, count: usize) -> Links<'_, T> {
        let mut given = Links::new();
        for &(op, source) in &self.run.program.links[links.start as usize..links.end as usize] {
            given.push(self.link(op, source, count));
        }
        given
    }

    fn chain<T: Lane>(
        &mut self,
        first: Source,
        links: Range<u32>,
        target: Target,
        (count, width): (usize, usize),
    ) {
        if width != 0 {
            return self.chain_within::<T>(first, links, target, (count, width));
        }
        let run = self.run;
        let rows = self.rows_into(target);
        let count = if rows == 1 { count } else { count / rows };
        self.write::<T>(target, count, |tile, out| {
            let mut given = tile.links::<T>(&links, count);
            let chains = T::kernels(run.table).chains();
            let first = tile.link(ChainOp::Add, Some(first), count);
            match tile.stores {
                Some(stores) if target == Target::Output => {
                    chains.run_non_temporal(stores, &first, &mut given, rows, out);
                }
                _ => chains.run(&first, (&mut given, run.fetches_for_functions), rows, out),
            }
        });
    }

    /// A chain over the rows of one tile, whose arguments are read by rows in place of being gathered.
    fn chain_within<T: Lane>(
        &mut self,
        first: Source,
        links: Range<u32>,
        target: Target,
        (count, width): (usize, usize),
    ) {
        let run = self.run;
        self.write::<T>(target, count, |tile, out| {
            let links = &run.program.links[links.start as usize..links.end as usize];
            let mut given: Links<'_, T> =
                links.iter().map(|&(op, source)| tile.link_within(op, source, count, width)).collect();
            let first = tile.link_within(ChainOp::Add, Some(first), count, width);
            let chains = T::kernels(run.table).chains();
            chains.run(&first, (&mut given, run.fetches_for_functions), count / width, out);
        });
    }

    /// A link of such a chain with its argument.
    fn link_within<T: Lane>(
        &self,
        op: ChainOp,
        source: Option<Source>,
        count: usize,
        width: usize,
    ) -> Link<'_, T> {
        match source {
            Some(Source::Rows { access, scalar }) => {
                let step = self.run.tiling.pattern(access as usize)[0].1;
                let step = usize::try_from(step).unwrap_or(usize::MAX);
                self.rows_of(op, (access, scalar), (count / width, width), step)
            }
            Some(source) => {
                let (values, scalar) = (self.read::<T>(source, count), source.is_scalar());
                Link { op, values, step: if scalar { 0 } else { width }, scalar }
            }
            None => Link { op, values: &[], step: 0, scalar: true },
        }
    }

    fn pair<T: Float>(&mut self, pairing: Pairing, whole: u32, (part, repeat): (u32, Repeat), count: usize) {
        let run = self.run;
        self.write::<T>(Target::Output, count, |tile, out| {
            let a = tile.read::<T>(Source::Operand { access: whole, scalar: false }, count);
            let (source, start, _) = tile.pattern::<T>(part as usize);
            let b = &source[start..start + repeat.values(count)];
            T::float_kernels(run.table).paired.run(pairing, a, b, repeat, tile.stores, out);
        });
    }

    /// Rows that are whole cache lines are computed in the result. If stores are non-temporal and rows are
    /// not whole lines, they are computed in a register first.
    fn grid<T: Float>(
        &mut self,
        pairing: Pairing,
        operands: [(u32, RowLayout); 2],
        (rows, width): (usize, usize),
    ) {
        let run = self.run;
        let grid = T::float_kernels(run.table).grid;
        let mut block = T::registers_mut(self.scratch).take(0);
        self.write::<T>(Target::Output, self.place.len(), |tile, out| {
            let [a, b] = operands.map(|(access, layout)| {
                let (source, start, _) = tile.pattern::<T>(access as usize);
                let steps = layout.steps.map(|step| step as usize);
                GridOperand { values: &source[start..], steps, scalar: layout.scalar }
            });
            let lines = out.as_ptr().align_offset(CACHE_LINE) == 0
                && (width * size_of::<T>()).is_multiple_of(CACHE_LINE);
            let stores = match tile.stores {
                Some(stores) if !lines => stores,
                stores => return grid.run(pairing, a, b, (rows, width), stores, out),
            };
            let most = REGISTER_BYTES / size_of::<T>() / width;
            for (at, out) in out.chunks_mut(rows * width).enumerate() {
                for (row, out) in (0..).step_by(most).zip(out.chunks_mut(most * width)) {
                    let (a, b) = (a.from(at, row), b.from(at, row));
                    let made = block.first(out.len());
                    grid.run(pairing, a, b, (out.len() / width, width), None, made);
                    T::kernels(run.table).copy.run(stores, made, out);
                }
            }
        });
        T::registers_mut(self.scratch).put(0, block);
    }

    fn select<T: Lane>(&mut self, kernel: Select<T>, arguments: [Source; 3], target: Target, count: usize) {
        let [condition, a, b] = arguments;
        self.write::<T>(target, count, |tile, out| {
            let (then, other) = (tile.read::<T>(a, count), tile.read::<T>(b, count));
            let condition_values = tile.read::<bool>(condition, count);
            if condition.is_scalar() {
                let (taken, scalar) =
                    if condition_values[0] { (then, a.is_scalar()) } else { (other, b.is_scalar()) };
                if scalar { out.fill(taken[0]) } else { out.copy_from_slice(taken) }
            } else {
                kernel.run(condition_values, then, other, out);
            }
        });
    }

    /// A function of `math`, rounded if that is given.
    fn math<T: Float>(
        &mut self,
        function: MathFunction,
        [a, b]: [Source; 2],
        round: Option<InPlace<T>>,
        target: Target,
        count: usize,
    ) {
        let level = self.run.table.level;
        self.write::<T>(target, count, |tile, out| {
            let first = tile.read(a, count);
            let second = match function {
                MathFunction::Power | MathFunction::PowerByBase | MathFunction::PowerByExponent => {
                    tile.read(b, count)
                }
                MathFunction::Exp | MathFunction::Log | MathFunction::Tanh => &[][..],
            };
            T::compute(function, level, (first, second), tile.ahead(count), out);
            if let Some(round) = round {
                round.run(out);
            }
        });
    }

    /// What the next tile will read of the operands that are contiguous, if it is to be prefetched: `count`
    /// elements behind those of this tile.
    fn ahead(&self, count: usize) -> Ahead {
        let mut ahead = Ahead::NONE;
        if self.run.fetches {
            for (at, (access, &used)) in self.run.tiling.accesses.iter().zip(self.run.used).enumerate() {
                if access.kind == AccessKind::Direct {
                    let start = self.cursor.position(at) + count;
                    self.run.inputs[used as usize].add_to(&mut ahead, start..start + count);
                }
            }
        }
        ahead
    }

    fn spread<T: Lane>(&mut self, source: Source, target: Target, count: usize) {
        self.write::<T>(target, count, |tile, out| out.fill(tile.read::<T>(source, 1)[0]));
    }

    fn store(&mut self, source: Source, dtype: DType) {
        let (count, place) = (self.place.len(), self.place.clone());
        let mut output = std::mem::replace(&mut self.output, Output::Bool(&mut []));
        match dtype {
            DType::F16 => {
                let out = &mut f16::output(&mut output)[place];
                let values = self.read::<f32>(source, count);
                if source.is_scalar() {
                    out.fill(f16::from_f32(values[0]));
                } else {
                    self.run.table.narrow_f16.run(values, out.reinterpret_cast_mut());
                }
            }
            DType::Bf16 => {
                let out = &mut bf16::output(&mut output)[place];
                let values = self.read::<f32>(source, count);
                if source.is_scalar() {
                    out.fill(bf16::from_f32(values[0]));
                } else {
                    self.run.table.narrow_bf16.run(values, out.reinterpret_cast_mut());
                }
            }
            DType::F64
            | DType::F32
            | DType::I64
            | DType::I32
            | DType::I16
            | DType::I8
            | DType::U64
            | DType::U32
            | DType::U16
            | DType::U8
            | DType::Bool => by_bank!(bank_of(dtype), T => {
                let out = &mut T::output(&mut output)[place];
                let values = self.read::<T>(source, count);
                if source.is_scalar() {
                    out.fill(values[0]);
                } else if let Some(stores) = self.stores {
                    T::kernels(self.run.table).copy.run(stores, values, out);
                } else {
                    out.copy_from_slice(values);
                }
            }),
        }
        self.output = output;
    }

    fn copy<T: Stored>(&mut self, access: usize) {
        let mut output = std::mem::replace(&mut self.output, Output::Bool(&mut []));
        let out = &mut T::output(&mut output)[self.place.clone()];
        let (source, start, pattern) = self.pattern::<T>(access);
        if self.run.tiling.accesses[access].kind == AccessKind::Direct {
            out.copy_from_slice(&source[start..start + out.len()]);
        } else {
            fill(source, start, pattern, out, |value| value);
        }
        self.output = output;
    }
}
