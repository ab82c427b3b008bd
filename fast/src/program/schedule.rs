//! From a graph to steps over registers: what is constant within a tile is computed once per tile, what does not
//! change from tile to tile is computed once and kept, and registers are used again after their last reader.

use super::chain::{Chain, Chains, NOBODY, find};
use super::graph::{Graph, Kind, is_comparison};
use crate::arch::{ChainOp, Pairing, Repeat};
use crate::few::{LINKS, STEPS, VALUES, filled};
use crate::grid::Lay;
use crate::scratch::{BANKS, BankOf};
use crate::tiling::{Kind as Lies, PANEL, Tiling};
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// One of the formats that are computed in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    F16,
    Bf16,
}

/// What a result is rounded to after its function.
pub(crate) type Narrow = Option<Half>;

/// Where an argument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Vector(u32),
    /// For each row of a panel a register, from this one on.
    Panel(u32),
    Scalar(u32),
    /// An operand where it stands.
    Operand {
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
    /// The result's own memory.
    Output,
    /// Added up, into the element of the gradient that this access names.
    Sum(u32),
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Brings an operand into a register: gathered, or converted from a half.
    Load { access: u32, dtype: DType },
    /// Brings the rows of a panel of an operand that lies across into as many registers from one on; columns are `step` apart.
    Across { access: u32, dtype: DType, first: u32, step: usize },
    /// A number.
    Constant { bits: u64, bank: BankOf },
    /// A function of arguments in a bank (for `select` the branches'), rounded to a half where that is asked.
    Call { function: Function, bank: BankOf, arguments: [Source; 3], narrow: Narrow },
    /// A fold from a first argument through links of the program.
    Chain { bank: BankOf, first: Source, start: u32, end: u32 },
    /// A function of an operand that lies as the result does and one that is repeated in it, into the result.
    Pair { pairing: Pairing, bank: BankOf, whole: u32, part: u32, repeat: Repeat },
    /// A function of two operands over blocks of so many rows (if it is not 0, and so many are left) of such a width, into the
    /// result. `whole` is the operand whose rows stand as they are.
    Grid { pairing: Pairing, bank: BankOf, whole: u32, part: u32, lays: [Lay; 2], rows: u32, width: u32 },
    /// A scalar as a vector.
    Spread { source: Source, bank: BankOf },
    /// A register, or an operand of the same type, into the result.
    Store { source: Source, dtype: DType },
    /// An operand into the result, by its pattern and bit by bit.
    Copy { access: u32, dtype: DType },
    /// A value added into the gradient.
    Sum { source: Source, bank: BankOf, access: u32 },
}

/// A step, and how often it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) work: Work,
    pub(crate) target: Target,
    /// The loops over tiles that change it: it is taken when one of them moves.
    pub(crate) varies: u64,
    /// Whether it is kept from tile to tile, and so computed for a full tile.
    pub(crate) stationary: bool,
}

/// A linear program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) steps: SmallVec<[Step; STEPS]>,
    /// The links of its chains.
    pub(crate) links: SmallVec<[(ChainOp, Option<Source>); LINKS]>,
    /// How many vector and scalar registers each bank needs.
    pub(crate) needs: [(u32, u32); BANKS],
    /// The bytes per element of a tile that live at once in registers.
    pub(crate) live: usize,
    /// Whether tiles of the innermost loop differ in one chain alone, which can take them all at once.
    pub(crate) in_rows: bool,
}

impl Program {
    fn takes_rows(&self, tiling: &Tiling) -> bool {
        let Some((last, before)) = self.steps.split_last() else { return false };
        tiling.panel == 0
            && last.target == Target::Output
            && matches!(last.work, Work::Chain { .. })
            && before.iter().all(|step| tiling.is_stationary(step.varies))
            && tiling.goes_forwards()
    }

    /// Whether one chain makes the result, and for each tile something is gathered that lies evenly in every row.
    pub(crate) fn gathers_for_chain(&self, tiling: &Tiling) -> bool {
        let Some((Step { work: Work::Chain { .. }, target: Target::Output, .. }, before)) =
            self.steps.split_last()
        else {
            return false;
        };
        let even =
            |access: u32| tiling.pattern(access as usize).last().is_none_or(|&(_, stride)| stride & !1 == 0);
        let mut varying = before.iter().filter(|step| !tiling.is_stationary(step.varies)).peekable();
        varying.peek().is_some()
            && varying.all(|step| matches!(step.work, Work::Load { access, .. } if even(access)))
    }
}

/// The root, once it is in the result: nobody reads it again.
const WRITTEN: Source = Source::Vector(u32::MAX);

/// What becomes of the root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// It is the result, of this dtype.
    Store(DType),
    /// It is added into the gradient, which lies under the tile as this access says.
    Sum(u32),
}

/// The bank that a dtype is computed in.
pub(crate) fn bank_of(dtype: DType) -> BankOf {
    match dtype {
        DType::F64 => BankOf::F64,
        DType::F32 | DType::F16 | DType::Bf16 => BankOf::F32,
        DType::I64 => BankOf::I64,
        DType::I32 => BankOf::I32,
        DType::I16 => BankOf::I16,
        DType::I8 => BankOf::I8,
        DType::U64 => BankOf::U64,
        DType::U32 => BankOf::U32,
        DType::U16 => BankOf::U16,
        DType::U8 => BankOf::U8,
        DType::Bool => BankOf::Bool,
    }
}

fn bytes(bank: BankOf) -> usize {
    match bank {
        BankOf::F64 | BankOf::I64 | BankOf::U64 => 8,
        BankOf::F32 | BankOf::I32 | BankOf::U32 => 4,
        BankOf::I16 | BankOf::U16 => 2,
        BankOf::I8 | BankOf::U8 | BankOf::Bool => 1,
    }
}

fn half(dtype: DType) -> Narrow {
    match dtype {
        DType::F16 => Some(Half::F16),
        DType::Bf16 => Some(Half::Bf16),
        _ => None,
    }
}

/// The rounding that a function's result needs: none where it is one of its arguments, or a sign's change.
fn rounding(function: Function, dtype: DType) -> Narrow {
    use Function as F;
    match function {
        F::Add | F::Subtract | F::Multiply | F::Divide | F::Power | F::Sqrt | F::Exp | F::Log | F::Tanh => {
            half(dtype)
        }
        _ => None,
    }
}

/// A value that has been scheduled.
#[derive(Clone, Copy)]
struct Placed {
    source: Source,
    varies: u64,
    bank: BankOf,
}

struct Scheduler<'a> {
    tiling: &'a Tiling,
    program: &'a mut Program,
    free: SmallVec<[(BankOf, u32); VALUES]>,
    live: usize,
}

/// A value of a graph, and how often each value is read for it.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) value: u32,
    pub(crate) readers: &'a [u32],
    pub(crate) goal: Goal,
}

/// The steps that compute a root on every tile of `tiling`; `access_of` gives the place of an operand's access.
pub(crate) fn schedule(
    program: &mut Program,
    root: Root<'_>,
    tiling: &Tiling,
    stream: bool,
    access_of: impl Fn(u32) -> u32,
) {
    let Root { graph, value: root, readers, goal } = root;
    *program = Program::default();
    let mut scheduler = Scheduler { tiling, program, free: SmallVec::new(), live: 0 };
    if let (Kind::Operand(operand), Goal::Store(dtype)) = (graph.values[root as usize].kind, goal) {
        let access = access_of(operand);
        if (stream || tiling.panel != 0) && half(dtype).is_none() {
            let loaded = scheduler.load(access, dtype);
            scheduler.finish(loaded, goal);
        } else {
            scheduler.push(Work::Copy { access, dtype }, Target::Output, u64::MAX, false);
        }
        return;
    }
    let Chains { last_use, chains } = find(graph, (root, readers), stream, tiling, &access_of);
    let mut placed: SmallVec<[Option<Placed>; VALUES]> = filled(None, root as usize + 1);
    for (at, value) in (0u32..=root).zip(&graph.values) {
        if last_use[at as usize] == NOBODY {
            continue;
        }
        placed[at as usize] = Some(match value.kind {
            Kind::Operand(operand) => scheduler.operand(access_of(operand), value.dtype),
            Kind::Constant(bits) => scheduler.constant(bits, bank_of(value.dtype)),
            Kind::Call { function, arguments } => {
                let stored = at == root && matches!(goal, Goal::Store(_));
                let direct = stored && !stream;
                let end = match goal {
                    Goal::Store(_) => Target::Output,
                    Goal::Sum(access) => Target::Sum(access),
                };
                if let Some(chain) = chains.iter().find(|chain| chain.end == at) {
                    let made = scheduler.chain(&placed, chain, value.dtype, (at == root).then_some(end));
                    for (which, &argument) in chain.arguments.iter().enumerate() {
                        let again = chain.arguments[..which].contains(&argument);
                        if last_use[argument as usize] == at && !again {
                            scheduler.release(placed[argument as usize]);
                        }
                    }
                    placed[at as usize] = Some(made);
                    continue;
                }
                let count = function.arity();
                let mut given = [None; 3];
                for (given, &argument) in given.iter_mut().zip(&arguments[..count]) {
                    *given = placed[argument as usize];
                }
                let made = scheduler.call(function, value.dtype, given, direct);
                for (which, &argument) in arguments[..count].iter().enumerate() {
                    let again = arguments[..which].contains(&argument);
                    if last_use[argument as usize] == at && !again {
                        scheduler.release(given[which]);
                    }
                }
                made
            }
        });
    }
    if let Some(value) = placed[root as usize] {
        scheduler.finish(value, goal);
    }
    program.in_rows = program.takes_rows(tiling);
}

impl Scheduler<'_> {
    #[inline(always)]
    fn push(&mut self, work: Work, target: Target, varies: u64, stationary: bool) {
        self.program.steps.push(Step { work, target, varies, stationary });
    }

    fn vector(&mut self, bank: BankOf, stationary: bool) -> u32 {
        self.live += bytes(bank);
        self.program.live = self.program.live.max(self.live);
        let free = self.free.iter().position(|&(of, _)| of == bank);
        match free {
            Some(at) if !stationary => self.free.swap_remove(at).1,
            _ => {
                let need = &mut self.program.needs[bank as usize].0;
                *need += 1;
                *need - 1
            }
        }
    }

    /// The first of as many registers as a panel has rows. One of them at a time is in use.
    fn panel(&mut self, bank: BankOf) -> u32 {
        self.live += bytes(bank);
        self.program.live = self.program.live.max(self.live);
        let need = &mut self.program.needs[bank as usize].0;
        let rows = u32::try_from(PANEL).unwrap_or(u32::MAX);
        *need += rows;
        *need - rows
    }

    fn scalar(&mut self, bank: BankOf) -> u32 {
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

    fn operand(&mut self, access: u32, dtype: DType) -> Placed {
        let lies = &self.tiling.accesses[access as usize];
        if half(dtype).is_none() && lies.kind != Lies::Gather {
            let scalar = lies.kind == Lies::Splat;
            let source = Source::Operand { access, scalar };
            return Placed { source, varies: lies.varies, bank: bank_of(dtype) };
        }
        self.load(access, dtype)
    }

    /// An operand in a register.
    fn load(&mut self, access: u32, dtype: DType) -> Placed {
        let lies = &self.tiling.accesses[access as usize];
        let (bank, varies) = (bank_of(dtype), lies.varies);
        if half(dtype).is_none()
            && let Some(step) = self.tiling.column_step(access as usize)
        {
            let first = self.panel(bank);
            self.push(Work::Across { access, dtype, first, step }, Target::Vector(first), varies, false);
            return Placed { source: Source::Panel(first), varies, bank };
        }
        let splat = lies.kind == Lies::Splat;
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

    fn constant(&mut self, bits: u64, bank: BankOf) -> Placed {
        let register = self.scalar(bank);
        self.push(Work::Constant { bits, bank }, Target::Scalar(register), 0, false);
        Placed { source: Source::Scalar(register), varies: 0, bank }
    }

    /// A function of placed arguments; straight into the result where it is the root and that is possible.
    fn call(&mut self, function: Function, dtype: DType, given: [Option<Placed>; 3], root: bool) -> Placed {
        let count = function.arity();
        let mut arguments = [Source::Scalar(0); 3];
        let mut varies = 0;
        for (argument, given) in arguments.iter_mut().zip(given.iter().flatten()) {
            *argument = given.source;
            varies |= given.varies;
        }
        let stationary = self.tiling.is_stationary(varies);
        let scalar = arguments[..count].iter().all(|argument| argument.is_scalar());
        let computed = match given {
            [Some(first), ..] if is_comparison(function) => first.bank,
            _ => bank_of(dtype),
        };
        let bank = bank_of(dtype);
        let target = if scalar {
            Target::Scalar(self.scalar(bank))
        } else if root && !stationary && half(dtype).is_none() {
            Target::Output
        } else {
            Target::Vector(self.vector(bank, stationary))
        };
        let narrow = rounding(function, dtype);
        self.push(Work::Call { function, bank: computed, arguments, narrow }, target, varies, stationary);
        let source = match target {
            Target::Scalar(register) => Source::Scalar(register),
            Target::Vector(register) => Source::Vector(register),
            Target::Output | Target::Sum(_) => WRITTEN,
        };
        Placed { source, varies, bank }
    }

    /// A chain of placed arguments, that of the root into `end`, where that is possible.
    fn chain(
        &mut self,
        placed: &[Option<Placed>],
        chain: &Chain,
        dtype: DType,
        end: Option<Target>,
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
        let (target, source) = if scalar {
            let register = self.scalar(bank);
            (Target::Scalar(register), Source::Scalar(register))
        } else if let Some(end) = end.filter(|&end| !stationary && self.is_one_place(end)) {
            (end, WRITTEN)
        } else {
            let register = self.vector(bank, stationary);
            (Target::Vector(register), Source::Vector(register))
        };
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let work = Work::Chain { bank, first, start: place(start), end: place(self.program.links.len()) };
        self.push(work, target, varies, stationary);
        Placed { source, varies, bank }
    }

    /// Whether a tile goes to a target in the order of its elements: into the result, or into one element of a gradient.
    fn is_one_place(&self, end: Target) -> bool {
        match end {
            Target::Sum(access) => self.tiling.accesses[access as usize].kind == Lies::Splat,
            _ => true,
        }
    }

    fn finish(&mut self, root: Placed, goal: Goal) {
        let Placed { mut source, bank, .. } = root;
        if matches!(goal, Goal::Sum(_)) && source.is_scalar() {
            let register = self.vector(bank, false);
            let work = Work::Spread { source, bank };
            source = Source::Vector(register);
            self.push(work, Target::Vector(register), u64::MAX, false);
        }
        let work = match goal {
            _ if source == WRITTEN => return,
            Goal::Store(dtype) => Work::Store { source, dtype },
            Goal::Sum(access) => Work::Sum { source, bank, access },
        };
        self.push(work, Target::Output, u64::MAX, false);
    }
}
