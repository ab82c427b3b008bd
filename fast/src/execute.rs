//! Running a program over a range of tiles.

use crate::Level;
use crate::arch::{ChainOp, GRID_LINE, LANES, Lie, Link, Pairing, Repeat, Scalars, Table, fence};
use crate::buffers::{Input, Output, Stored};
use crate::cursor::Cursor;
use crate::fill::{fill, gather_sum};
use crate::grid::Lay;
use crate::math;
use crate::program::{Half, Narrow, Program, Source, Step, Target, Work, bank_of};
use crate::scratch::{BankOf, Lane, MAX_BLOCK, Scratch};
use crate::tiling::{Kind, PANEL, Tiling};
use broadcheck_spec::half::slice::HalfFloatSliceExt;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;
use std::ops::Range;

/// A bank's type for a generic call.
macro_rules! by_bank {
    ($bank:expr, $type:ident => $body:expr) => {
        match $bank {
            BankOf::F64 => {
                type $type = f64;
                $body
            }
            BankOf::F32 => {
                type $type = f32;
                $body
            }
            BankOf::I64 => {
                type $type = i64;
                $body
            }
            BankOf::I32 => {
                type $type = i32;
                $body
            }
            BankOf::I16 => {
                type $type = i16;
                $body
            }
            BankOf::I8 => {
                type $type = i8;
                $body
            }
            BankOf::U64 => {
                type $type = u64;
                $body
            }
            BankOf::U32 => {
                type $type = u32;
                $body
            }
            BankOf::U16 => {
                type $type = u16;
                $body
            }
            BankOf::U8 => {
                type $type = u8;
                $body
            }
            BankOf::Bool => {
                type $type = bool;
                $body
            }
        }
    };
}

pub(crate) use by_bank;

/// A dtype's type in memory for a generic call.
macro_rules! by_dtype {
    ($dtype:expr, $type:ident => $body:expr) => {
        match $dtype {
            DType::F64 => {
                type $type = f64;
                $body
            }
            DType::F32 => {
                type $type = f32;
                $body
            }
            DType::F16 => {
                type $type = f16;
                $body
            }
            DType::Bf16 => {
                type $type = bf16;
                $body
            }
            DType::I64 => {
                type $type = i64;
                $body
            }
            DType::I32 => {
                type $type = i32;
                $body
            }
            DType::I16 => {
                type $type = i16;
                $body
            }
            DType::I8 => {
                type $type = i8;
                $body
            }
            DType::U64 => {
                type $type = u64;
                $body
            }
            DType::U32 => {
                type $type = u32;
                $body
            }
            DType::U16 => {
                type $type = u16;
                $body
            }
            DType::U8 => {
                type $type = u8;
                $body
            }
            DType::Bool => {
                type $type = bool;
                $body
            }
        }
    };
}

/// The links of a chain with their arguments: so many are run without an allocation.
pub(crate) type Links<'a, T> = SmallVec<[Link<'a, T>; 12]>;

/// A program with what it runs on.
pub(crate) struct Run<'a> {
    pub(crate) level: Level,
    pub(crate) table: &'static Table,
    pub(crate) tiling: &'a Tiling,
    pub(crate) program: &'a Program,
    pub(crate) inputs: &'a [Input<'a>],
    /// The operand of each access of the tiling.
    pub(crate) used: &'a [u32],
    /// Whether the result is stored past the caches.
    pub(crate) stream: bool,
}

/// One tile of a run.
struct Tile<'a, 'o> {
    run: &'a Run<'a>,
    cursor: Cursor<'a>,
    scratch: &'a mut Scratch,
    output: Output<'o>,
    /// The result's places of this tile, in `output`.
    place: Range<usize>,
    /// How many tiles it is by right: those that one chain takes at once.
    rows: usize,
}

impl Run<'_> {
    /// Runs the program on some tiles. `output` is what these tiles hold of the result; for a gradient it is the
    /// whole gradient, which is added to.
    pub(crate) fn tiles(&self, tiles: Range<usize>, scratch: &mut Scratch, output: Output<'_>) {
        scratch.reserve(&self.program.needs);
        let cursor = Cursor::new(self.tiling, &tiles);
        let mut tile = Tile { run: self, cursor, scratch, output, place: 0..0, rows: 1 };
        let mut left = tiles.len();
        while left > 0 {
            let start = tile.cursor.start(tile.place.end);
            tile.rows = if self.program.in_rows { tile.cursor.alike().min(left) } else { 1 };
            tile.place = start..start + tile.rows * tile.cursor.length();
            for step in &self.program.steps {
                if tile.cursor.is_new(step.varies) {
                    tile.step(step);
                }
            }
            left -= tile.rows;
            tile.cursor.skip(tile.rows - 1);
            tile.cursor.advance();
        }
        if self.stream {
            fence();
        }
    }
}

impl Tile<'_, '_> {
    fn step(&mut self, step: &Step) {
        let count = match step.target {
            Target::Scalar(_) => 1,
            _ if step.stationary && !self.run.tiling.is_cut(step.varies) => self.run.tiling.full,
            _ => self.place.len(),
        };
        match step.work {
            Work::Load { access, dtype } => self.load(access, dtype, step.target, count),
            Work::Across { access, dtype, first, step } => {
                by_bank!(bank_of(dtype), T => self.across::<T>(access as usize, first as usize, step, count));
            }
            Work::Constant { bits, bank } => self.constant(f64::from_bits(bits), bank, step.target),
            Work::Call { function, bank, arguments, narrow } => match function {
                Function::Select => by_bank!(bank, T => self.select::<T>(arguments, step.target, count)),
                Function::Equal
                | Function::NotEqual
                | Function::Less
                | Function::LessEqual
                | Function::Greater
                | Function::GreaterEqual => {
                    by_bank!(bank, T => self.compare::<T>(function, arguments, step.target, count));
                }
                Function::Exp | Function::Log | Function::Tanh | Function::Power => {
                    self.transcendental(function, bank, arguments, narrow, step.target, count);
                }
                _ if narrow.is_some() => {
                    self.arithmetic::<f32>(function, arguments, step.target, count, |table, out| {
                        narrowed(table, narrow, out);
                    });
                }
                _ => by_bank!(bank, T => {
                    self.arithmetic::<T>(function, arguments, step.target, count, |_, _| {});
                }),
            },
            Work::Chain { bank, first, start, end } => match bank {
                BankOf::F64 => self.chain::<f64>(first, start..end, step.target, count),
                _ => self.chain::<f32>(first, start..end, step.target, count),
            },
            Work::Pair { pairing, bank, whole, part, repeat } => match bank {
                BankOf::F64 => self.pair::<f64>(pairing, whole, (part, repeat), count),
                _ => self.pair::<f32>(pairing, whole, (part, repeat), count),
            },
            Work::Grid { pairing, bank, whole, part, lays, rows, width } => {
                let (rows, width) = (rows as usize, width as usize);
                let rows = if rows == 0 { count / width } else { rows };
                match bank {
                    BankOf::F64 => {
                        self.grid::<f64>(pairing, [(whole, lays[0]), (part, lays[1])], (rows, width));
                    }
                    _ => self.grid::<f32>(pairing, [(whole, lays[0]), (part, lays[1])], (rows, width)),
                }
            }
            Work::Spread { source, bank } => {
                by_bank!(bank, T => self.spread::<T>(source, step.target, count));
            }
            Work::Store { source, dtype } => self.store(source, dtype),
            Work::Copy { access, dtype } => by_dtype!(dtype, T => self.copy::<T>(access as usize)),
            Work::Sum { source, bank, access } => match bank {
                BankOf::F64 => self.sum::<f64>(source, access as usize),
                _ => self.sum::<f32>(source, access as usize),
            },
        }
    }

    /// The elements of an argument: `count` of a vector, one of a scalar.
    fn read<T: Lane>(&self, source: Source, count: usize) -> &[T] {
        match source {
            Source::Vector(register) => &T::bank(self.scratch).vector(register as usize)[..count],
            Source::Panel(first) => {
                let (row, _) = self.cursor.in_panel();
                &T::bank(self.scratch).vector(first as usize + row)[..count]
            }
            Source::Scalar(register) => {
                std::slice::from_ref(&T::bank(self.scratch).scalars[register as usize])
            }
            Source::Operand { access, scalar } => {
                let start = self.cursor.position(access as usize);
                let count = if scalar { 1 } else { count };
                &T::input(&self.run.inputs[self.run.used[access as usize] as usize])[start..start + count]
            }
        }
    }

    /// Lets `body` write a target while it reads arguments.
    fn write<T: Lane>(&mut self, target: Target, count: usize, body: impl FnOnce(&Self, &mut [T])) {
        match target {
            Target::Vector(register) => {
                let mut block = T::bank_mut(self.scratch).take(register as usize);
                body(self, &mut block.0[..count]);
                T::bank_mut(self.scratch).put(register as usize, block);
            }
            Target::Scalar(register) => {
                let mut value = [T::default()];
                body(self, &mut value);
                T::bank_mut(self.scratch).scalars[register as usize] = value[0];
            }
            Target::Output => {
                let mut output = std::mem::replace(&mut self.output, Output::Bool(&mut []));
                body(self, &mut T::output(&mut output)[self.place.clone()]);
                self.output = output;
            }
            // What is added up is written nowhere.
            Target::Sum(_) => {}
        }
    }

    fn load(&mut self, access: u32, dtype: DType, target: Target, count: usize) {
        let at = access as usize;
        match dtype {
            DType::F16 => self.write::<f32>(target, count, |tile, out| {
                let (source, start, pattern) = tile.lying::<f16>(at);
                if tile.run.tiling.accesses[at].kind == Kind::Direct {
                    source[start..start + out.len()].convert_to_f32_slice(out);
                } else {
                    fill(source, start, pattern, out, f16::to_f32);
                }
            }),
            DType::Bf16 => self.write::<f32>(target, count, |tile, out| {
                let (source, start, pattern) = tile.lying::<bf16>(at);
                fill(source, start, pattern, out, |value| f32::from_bits(u32::from(value.to_bits()) << 16));
            }),
            _ => by_bank!(bank_of(dtype), T => self.write::<T>(target, count, |tile, out| {
                let (source, start, pattern) = tile.lying::<T>(at);
                if let [(_, 1), (times, 0)] = *pattern {
                    let source = &source[start..start + out.len() / times];
                    T::kernels(tile.run.table).expand.run(source, times, out);
                } else {
                    fill(source, start, pattern, out, |value| value);
                }
            })),
        }
    }

    /// All rows of a panel at its first one.
    fn across<T: Lane>(&mut self, access: usize, first: usize, step: usize, count: usize) {
        let (0, rows) = self.cursor.in_panel() else { return };
        let mut blocks: SmallVec<[_; PANEL]> =
            (first..first + rows).map(|register| T::bank_mut(self.scratch).take(register)).collect();
        {
            let (source, start, _) = self.lying::<T>(access);
            let rows = blocks.iter_mut().map(|block| &mut block.0[..count]);
            let mut rows: SmallVec<[&mut [T]; PANEL]> = rows.collect();
            T::kernels(self.run.table).across.run(&source[start..], step, &mut rows);
        }
        for (register, block) in (first..).zip(blocks) {
            T::bank_mut(self.scratch).put(register, block);
        }
    }

    /// An operand's buffer, where the tile starts in it, and its pattern.
    fn lying<T: Stored>(&self, access: usize) -> (&[T], usize, &[(usize, i64)]) {
        let source = T::input(&self.run.inputs[self.run.used[access] as usize]);
        (source, self.cursor.position(access), self.run.tiling.pattern(access))
    }

    #[allow(clippy::cast_possible_truncation, reason = "constants are small numbers, infinite or NaN")]
    fn constant(&mut self, number: f64, bank: BankOf, target: Target) {
        match bank {
            BankOf::F64 => self.write::<f64>(target, 1, |_, out| out.fill(number)),
            _ => self.write::<f32>(target, 1, |_, out| out.fill(number as f32)),
        }
    }

    fn arithmetic<T: Lane>(
        &mut self,
        function: Function,
        arguments: [Source; 3],
        target: Target,
        count: usize,
        then: impl FnOnce(&Table, &mut [T]),
    ) {
        let table = self.run.table;
        let [a, b, _] = arguments;
        self.write::<T>(target, count, |tile, out| {
            let kernels = T::kernels(table);
            if function.arity() == 1 {
                if let Some(kernel) = kernels.unary(function) {
                    kernel.run(tile.read(a, count), out);
                }
            } else if let Some(kernel) = kernels.binary(function, scalars(a, b)) {
                kernel.run(tile.read(a, count), tile.read(b, count), out);
            }
            then(table, out);
        });
    }

    /// An argument of a chain, in all rows that it takes at once.
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
        let start = self.cursor.position(access as usize);
        let end = start + (self.rows - 1) * step + if scalar { 1 } else { count };
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

    fn chain<T: Lane>(&mut self, first: Source, links: Range<u32>, target: Target, count: usize) {
        let run = self.run;
        if let Target::Sum(access) = target {
            return self.chain_sum::<T>(first, &links, access as usize, count);
        }
        let rows = if target == Target::Output { self.rows } else { 1 };
        let count = if rows == 1 { count } else { count / rows };
        self.write::<T>(target, count, |tile, out| {
            let mut given = tile.links::<T>(&links, count);
            if let Some(parts) = T::kernels(run.table).float() {
                let past = run.stream && target == Target::Output;
                let chain = if past { parts.chain_past } else { parts.chain };
                chain.run(tile.link(ChainOp::Add, Some(first), count), &mut given, rows, out);
            }
        });
    }

    /// A chain added up into one element of the gradient.
    fn chain_sum<T: Lane>(&mut self, first: Source, links: &Range<u32>, access: usize, count: usize) {
        let mut output = std::mem::replace(&mut self.output, Output::Bool(&mut []));
        if let Some(parts) = T::kernels(self.run.table).float() {
            let given = self.links::<T>(links, count);
            let mut lanes = [T::default(); LANES];
            parts.chain_sum.run(self.link(ChainOp::Add, Some(first), count), &given, count, &mut lanes);
            let place = self.cursor.position(access);
            parts.add_to.run(&mut T::output(&mut output)[place..=place], &[parts.sum.run(&lanes)]);
        }
        self.output = output;
    }

    fn pair<T: Lane>(&mut self, pairing: Pairing, whole: u32, (part, repeat): (u32, Repeat), count: usize) {
        let run = self.run;
        self.write::<T>(Target::Output, count, |tile, out| {
            let a = tile.read::<T>(Source::Operand { access: whole, scalar: false }, count);
            let (source, start, _) = tile.lying::<T>(part as usize);
            let b = &source[start..start + repeat.values(count)];
            if let Some(parts) = T::kernels(run.table).float() {
                parts.paired.run(pairing, a, b, repeat, run.stream, out);
            }
        });
    }

    /// Rows that are whole lines go into the result as they are made; where it is stored past the caches and they are none,
    /// they are made in a register first.
    fn grid<T: Lane>(&mut self, pairing: Pairing, lays: [(u32, Lay); 2], (rows, width): (usize, usize)) {
        let run = self.run;
        let Some(parts) = T::kernels(run.table).float() else { return };
        let mut block = T::bank_mut(self.scratch).take(0);
        self.write::<T>(Target::Output, self.place.len(), |tile, out| {
            let lie = |(access, lay): (u32, Lay)| {
                let (source, start, _) = tile.lying::<T>(access as usize);
                let steps = lay.steps.map(|step| step as usize);
                Lie { values: &source[start..], steps, scalar: lay.scalar }
            };
            let [a, b] = lays.map(lie);
            let lines = out.as_ptr().align_offset(GRID_LINE) == 0
                && (width * size_of::<T>()).is_multiple_of(GRID_LINE);
            if lines || !run.stream {
                return parts.grid.run(pairing, (a, b), (rows, width), run.stream, out);
            }
            let most = MAX_BLOCK / width;
            for (at, out) in out.chunks_mut(rows * width).enumerate() {
                for (row, out) in (0..).step_by(most).zip(out.chunks_mut(most * width)) {
                    let (a, b) = (a.from(at, row), b.from(at, row));
                    let made = &mut block.0[..out.len()];
                    parts.grid.run(pairing, (a, b), (out.len() / width, width), false, made);
                    T::kernels(run.table).stream.run(made, out);
                }
            }
        });
        T::bank_mut(self.scratch).put(0, block);
    }

    fn compare<T: Lane>(&mut self, function: Function, arguments: [Source; 3], target: Target, count: usize) {
        let table = self.run.table;
        let [a, b, _] = arguments;
        self.write::<bool>(target, count, |tile, out| {
            if let Some(kernel) = T::kernels(table).comparison(function, scalars(a, b)) {
                kernel.run(tile.read(a, count), tile.read(b, count), out);
            }
        });
    }

    fn select<T: Lane>(&mut self, arguments: [Source; 3], target: Target, count: usize) {
        let table = self.run.table;
        let [condition, a, b] = arguments;
        self.write::<T>(target, count, |tile, out| {
            let (then, other) = (tile.read::<T>(a, count), tile.read::<T>(b, count));
            let condition_values = tile.read::<bool>(condition, count);
            if condition.is_scalar() {
                let (taken, scalar) =
                    if condition_values[0] { (then, a.is_scalar()) } else { (other, b.is_scalar()) };
                if scalar { out.fill(taken[0]) } else { out.copy_from_slice(taken) }
            } else {
                let kernel = T::kernels(table).select(a.is_scalar(), b.is_scalar());
                kernel.run(condition_values, then, other, out);
            }
        });
    }

    fn transcendental(
        &mut self,
        function: Function,
        bank: BankOf,
        arguments: [Source; 3],
        narrow: Narrow,
        target: Target,
        count: usize,
    ) {
        let (level, table) = (self.run.level, self.run.table);
        let [a, b, _] = arguments;
        let scalars = scalars(a, b);
        match bank {
            BankOf::F64 => self.write::<f64>(target, count, |tile, out| {
                let a = tile.read(a, count);
                match function {
                    Function::Exp => math::exp_f64(level, a, out),
                    Function::Log => math::log_f64(level, a, out),
                    Function::Tanh => math::tanh_f64(level, a, out),
                    _ => {
                        let b = tile.read(b, count);
                        match scalars {
                            Scalars::Neither => math::power_f64(level, a, b, out),
                            Scalars::Second => math::power_f64_by(level, a, b[0], out),
                            Scalars::First => math::power_f64_of(level, a[0], b, out),
                        }
                    }
                }
            }),
            _ => self.write::<f32>(target, count, |tile, out| {
                let a = tile.read(a, count);
                match function {
                    Function::Exp => math::exp_f32(level, a, out),
                    Function::Log => math::log_f32(level, a, out),
                    Function::Tanh => math::tanh_f32(level, a, out),
                    _ => {
                        let b = tile.read(b, count);
                        match scalars {
                            Scalars::Neither => math::power_f32(level, a, b, out),
                            Scalars::Second => math::power_f32_by(level, a, b[0], out),
                            Scalars::First => math::power_f32_of(level, a[0], b, out),
                        }
                    }
                }
                narrowed(table, narrow, out);
            }),
        }
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
                    out.convert_from_f32_slice(values);
                }
            }
            DType::Bf16 => {
                let out = &mut bf16::output(&mut output)[place];
                let values = self.read::<f32>(source, count);
                if source.is_scalar() {
                    out.fill(bf16::from_f32(values[0]));
                } else {
                    out.convert_from_f32_slice(values);
                }
            }
            _ => by_bank!(bank_of(dtype), T => {
                let out = &mut T::output(&mut output)[place];
                let values = self.read::<T>(source, count);
                if source.is_scalar() {
                    out.fill(values[0]);
                } else if self.run.stream {
                    T::kernels(self.run.table).stream.run(values, out);
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
        let (source, start, pattern) = self.lying::<T>(access);
        if self.run.tiling.accesses[access].kind == Kind::Direct {
            out.copy_from_slice(&source[start..start + out.len()]);
        } else {
            fill(source, start, pattern, out, |value| value);
        }
        self.output = output;
    }

    fn sum<T: Lane>(&mut self, source: Source, access: usize) {
        let mut output = std::mem::replace(&mut self.output, Output::Bool(&mut []));
        let count = self.place.len();
        let start = self.cursor.position(access);
        let pattern = self.run.tiling.pattern(access);
        if let Some(parts) = T::kernels(self.run.table).float() {
            let values = self.read::<T>(source, count);
            let sums = T::output(&mut output);
            gather_sum(parts, sums, start, pattern, values);
        }
        self.output = output;
    }
}

/// Which of two arguments are scalars, for the choice of a kernel; two scalars are vectors of one.
fn scalars(a: Source, b: Source) -> Scalars {
    match (a.is_scalar(), b.is_scalar()) {
        (false, true) => Scalars::Second,
        (true, false) => Scalars::First,
        _ => Scalars::Neither,
    }
}

fn narrowed(table: &Table, narrow: Narrow, out: &mut [f32]) {
    match narrow {
        Some(Half::F16) => table.narrow_f16.run(out),
        Some(Half::Bf16) => table.narrow_bf16.run(out),
        None => {}
    }
}
