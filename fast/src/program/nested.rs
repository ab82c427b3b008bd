//! Which calls of floats are computed together as one nested expression: all calls that a value is made of,
//! down to operands and to what others read, too. Chains and choices take less time, so a nested expression
//! is made only where they leave a call to another step.
#![deny(clippy::wildcard_enum_match_arm)]

use super::chain::Facts;
use super::graph::Graph;
use crate::arch::{NestedOp, NestedProgram, Reads, SLOTS};
use crate::inline_capacity::VALUES;
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// A nested expression.
pub(super) struct Nested {
    /// The value that it computes.
    pub(super) end: u32,
    /// The dtype of the numbers that it reads. The value may also be a condition.
    pub(super) dtype: DType,
    pub(super) program: NestedProgram,
    /// The values that it reads: first numbers, then bools.
    pub(super) arguments: SmallVec<[u32; VALUES]>,
    pub(super) numbers: usize,
}

/// The most calls of a nested expression. Each takes a few instructions in every group.
const CALLS: usize = 24;

/// The nested expression that ends at a call, if it has more than `more_than` calls.
pub(super) fn nested(
    graph: &Graph,
    facts: &[Facts],
    readers: &[u32],
    end: u32,
    more_than: usize,
) -> Option<Nested> {
    let dtype = dtype_of_numbers(graph, end)?;
    if !matches!(dtype, DType::F64 | DType::F32) {
        return None;
    }
    // What some calls cannot read is not computed with them, so they are left out, too.
    let mut left_out: SmallVec<[u32; 4]> = SmallVec::new();
    let calls = loop {
        let calls = calls((graph, dtype), facts, (readers, &left_out), end);
        if !(more_than + 1..=CALLS).contains(&calls.len()) {
            return None;
        }
        match calls.iter().find(|&&at| !are_readable((graph, dtype), facts, &calls, at)) {
            Some(&at) => left_out.push(at),
            None => break calls,
        }
    };
    let mut writer = Writer {
        graph,
        facts,
        readers,
        calls: &calls,
        instructions: SmallVec::new(),
        kept: SmallVec::new(),
        left: [0; SLOTS],
        numbers: SmallVec::new(),
        bools: SmallVec::new(),
    };
    writer.evaluate(end, 1)?;
    let Writer { mut instructions, numbers, bools, .. } = writer;
    hold(&mut instructions);
    let program = NestedProgram::new(&instructions, (numbers.len(), bools.len()))?;
    let mut arguments = numbers.clone();
    arguments.extend_from_slice(&bools);
    Some(Nested { end, dtype, program, arguments, numbers: numbers.len() })
}

/// The dtype of the numbers that a value is made of, if it is one or a condition.
fn dtype_of_numbers(graph: &Graph, mut value: u32) -> Option<DType> {
    while graph.dtype(value) == DType::Bool {
        let (function, [a, _, _]) = graph.call(value)?;
        match kind(function)? {
            Kind::Compares { .. } | Kind::Joins { .. } | Kind::Opposite => value = a,
            Kind::Number { .. } | Kind::Chooses => return None,
        }
    }
    Some(graph.dtype(value))
}

/// The calls that `end` is made of and nobody else reads, from `end` down, but for those that are left out.
/// If there are too many, not all of them.
fn calls(
    (graph, dtype): (&Graph, DType),
    facts: &[Facts],
    (readers, left_out): (&[u32], &[u32]),
    end: u32,
) -> SmallVec<[u32; VALUES]> {
    let whole = facts[end as usize];
    let is_inside = |at: u32| {
        let fact = facts[at as usize];
        !fact.scalar
            && fact.stationary == whole.stationary
            && [dtype, DType::Bool].contains(&graph.dtype(at))
            && !left_out.contains(&at)
            && graph.call(at).is_some_and(|(function, _)| kind(function).is_some())
    };
    let mut calls: SmallVec<[u32; VALUES]> = SmallVec::new();
    // The values that the calls read, as often as they do. All readers of a value come after it.
    let mut read: SmallVec<[u32; VALUES]> = SmallVec::new();
    let mut next = Some((end, readers[end as usize]));
    while let Some((at, reads)) = next {
        if is_inside(at) && reads == readers[at as usize] && calls.len() <= CALLS {
            calls.push(at);
            read.extend_from_slice(graph.values[at as usize].kind.arguments());
        }
        next = read.iter().max().copied().map(|last| {
            let before = read.len();
            read.retain(|value| *value != last);
            (last, u32::try_from(before - read.len()).unwrap_or(u32::MAX))
        });
    }
    calls
}

/// Whether a call can read its arguments: numbers of the expression's dtype, and conditions among the calls
/// or, to choose by, in memory.
fn are_readable((graph, dtype): (&Graph, DType), facts: &[Facts], calls: &[u32], at: u32) -> bool {
    let Some((function, [a, b, c])) = graph.call(at) else { return false };
    let is_number = |value: u32| graph.dtype(value) == dtype;
    let is_made = |value: u32| calls.contains(&value);
    match kind(function) {
        Some(Kind::Number { .. }) => is_number(a) && (function.arity() == 1 || is_number(b)),
        Some(Kind::Compares { .. }) => is_number(a) && is_number(b),
        Some(Kind::Joins { .. }) => is_made(a) && is_made(b),
        Some(Kind::Opposite) => is_made(a),
        Some(Kind::Chooses) => (is_made(a) || !facts[a as usize].scalar) && is_number(b) && is_number(c),
        None => false,
    }
}

/// What a function is here.
enum Kind {
    /// A number of one or two numbers. If the value so far is the second of two, it is `exchanged`.
    Number { op: NestedOp, exchanged: NestedOp },
    /// A condition of two numbers, likewise.
    Compares { op: NestedOp, exchanged: NestedOp },
    /// A condition of two conditions.
    Joins { op: NestedOp },
    /// A condition of one.
    Opposite,
    /// A choice by a condition.
    Chooses,
}

/// What a function is, if nested expressions have it.
fn kind(function: Function) -> Option<Kind> {
    use Function as F;
    use NestedOp as Op;
    let number = |op, exchanged| Some(Kind::Number { op, exchanged });
    let compares = |op, exchanged| Some(Kind::Compares { op, exchanged });
    match function {
        F::Add => number(Op::Add, Op::Add),
        F::Subtract => number(Op::Subtract, Op::SubtractFrom),
        F::Multiply => number(Op::Multiply, Op::Multiply),
        F::Divide => number(Op::Divide, Op::DivideInto),
        F::Maximum => number(Op::Maximum, Op::Maximum),
        F::Minimum => number(Op::Minimum, Op::Minimum),
        F::Negate => number(Op::Negate, Op::Negate),
        F::Abs => number(Op::Abs, Op::Abs),
        F::Sqrt => number(Op::Sqrt, Op::Sqrt),
        F::Greater => compares(Op::Greater, Op::Less),
        F::GreaterEqual => compares(Op::GreaterEqual, Op::LessEqual),
        F::Less => compares(Op::Less, Op::Greater),
        F::LessEqual => compares(Op::LessEqual, Op::GreaterEqual),
        F::Equal => compares(Op::Equal, Op::Equal),
        F::NotEqual => compares(Op::NotEqual, Op::NotEqual),
        F::LogicalAnd => Some(Kind::Joins { op: Op::And }),
        F::LogicalOr => Some(Kind::Joins { op: Op::Or }),
        F::LogicalNot => Some(Kind::Opposite),
        F::Select => Some(Kind::Chooses),
        F::Power | F::Exp | F::Log | F::Tanh => None,
    }
}

/// The choice by a comparison: `if it holds { a } else { r }`, or the other way round.
fn chooses_by(comparison: NestedOp, replaces: bool) -> Option<NestedOp> {
    use NestedOp as Op;
    let [choose, replace] = match comparison {
        Op::Greater => [Op::ChooseGreater, Op::ReplaceGreater],
        Op::GreaterEqual => [Op::ChooseGreaterEqual, Op::ReplaceGreaterEqual],
        Op::Less => [Op::ChooseLess, Op::ReplaceLess],
        Op::LessEqual => [Op::ChooseLessEqual, Op::ReplaceLessEqual],
        Op::Equal => [Op::ChooseEqual, Op::ReplaceEqual],
        Op::NotEqual => [Op::ChooseNotEqual, Op::ReplaceNotEqual],
        Op::Take
        | Op::Keep
        | Op::With
        | Op::TakeWith
        | Op::Add
        | Op::Subtract
        | Op::SubtractFrom
        | Op::Multiply
        | Op::Divide
        | Op::DivideInto
        | Op::Maximum
        | Op::Minimum
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Choose
        | Op::ChooseOther
        | Op::ChooseGreater
        | Op::ChooseGreaterEqual
        | Op::ChooseLess
        | Op::ChooseLessEqual
        | Op::ChooseEqual
        | Op::ChooseNotEqual
        | Op::ReplaceGreater
        | Op::ReplaceGreaterEqual
        | Op::ReplaceLess
        | Op::ReplaceLessEqual
        | Op::ReplaceEqual
        | Op::ReplaceNotEqual
        | Op::ChooseBools
        | Op::ReplaceBools
        | Op::Square
        | Op::Negate
        | Op::Abs
        | Op::Sqrt => return None,
    };
    Some(if replaces { replace } else { choose })
}

/// Instructions of a program.
type Instructions = SmallVec<[(NestedOp, Reads); INSTRUCTIONS]>;

/// Reads an argument that several instructions read, the one of which there are most, only once: until there
/// is another one, it is `w`. (Over 10,000 elements, select(x<y,x*y,x-y) took 1.3 times as long.)
fn hold(instructions: &mut Instructions) {
    let can_be_w = |op: NestedOp| op == NestedOp::With || op.can_read_w();
    let held = |reads: Reads| {
        let before = instructions.iter().take_while(|&&(op, other)| op != NestedOp::With || other == reads);
        before.filter(|&&(op, other)| other == reads && can_be_w(op)).count()
    };
    let values =
        instructions.iter().map(|&(_, reads)| reads).filter(|reads| matches!(reads, Reads::Values(_)));
    let Some((times, reads)) = values.map(|reads| (held(reads), reads)).max_by_key(|&(times, _)| times)
    else {
        return;
    };
    if times < 2 {
        return;
    }
    let end = instructions.iter().position(|&(op, other)| op == NestedOp::With && other != reads);
    let end = end.unwrap_or(instructions.len());
    for (op, other) in &mut instructions[..end] {
        if *other == reads && can_be_w(*op) {
            *other = Reads::W;
        }
    }
    instructions.retain(|&mut instruction| instruction != (NestedOp::With, Reads::W));
    match instructions.first_mut() {
        Some(first) if *first == (NestedOp::Take, Reads::W) => *first = (NestedOp::TakeWith, reads),
        _ => instructions.insert(0, (NestedOp::With, reads)),
    }
}

/// The first slot that is not in registers.
const FIRST_IN_MEMORY: usize = 1;

/// Writes the instructions of an expression.
struct Writer<'a> {
    graph: &'a Graph,
    facts: &'a [Facts],
    readers: &'a [u32],
    calls: &'a [u32],
    instructions: Instructions,
    /// The values in slots.
    kept: SmallVec<[Kept; SLOTS]>,
    /// How often each slot will be read. It is free if that is 0.
    left: [u32; SLOTS],
    /// The arguments that are numbers, and those that are bools.
    numbers: SmallVec<[u32; VALUES]>,
    bools: SmallVec<[u32; VALUES]>,
}

/// Instructions that are planned without an allocation.
const INSTRUCTIONS: usize = 16;

/// A part of the condition of a choice.
#[derive(Clone, Copy)]
enum Test {
    /// A comparison of a value that has an element for each with another one.
    Compares { op: NestedOp, w: u32, limit: u32 },
    /// A value in memory.
    Bools(u32),
}

/// The condition of a choice: all of some tests, or any of them.
struct Tests {
    any: bool,
    /// Each with whether it is the opposite that counts.
    tests: SmallVec<[(Test, bool); 4]>,
}

/// A value in a slot.
#[derive(Clone, Copy)]
struct Kept {
    value: u32,
    slot: usize,
}

impl Writer<'_> {
    /// Makes a value the value so far, for as many of its readers as `reads`. It is kept in memory for the
    /// others. `None` if there are too few slots.
    fn evaluate(&mut self, value: u32, reads: u32) -> Option<()> {
        self.evaluate_to(value, reads, FIRST_IN_MEMORY)
    }

    /// The same, in one of the slots from `first` on.
    fn evaluate_to(&mut self, value: u32, reads: u32, first: usize) -> Option<()> {
        if self.is_ready(value) {
            let from = self.read(value, reads);
            // What was just kept is still the value so far.
            if self.instructions.last() != Some(&(NestedOp::Keep, from)) {
                self.push(NestedOp::Take, from);
            }
            return Some(());
        }
        self.call(value)?;
        let left = self.readers[value as usize].saturating_sub(reads);
        if left != 0 {
            let slot = self.keep(left, first)?;
            self.kept.push(Kept { value, slot });
        }
        Some(())
    }

    /// The instructions of a call.
    fn call(&mut self, value: u32) -> Option<()> {
        let (function, [a, b, c]) = self.graph.call(value)?;
        match kind(function)? {
            Kind::Number { op, .. } if function.arity() == 1 => {
                self.evaluate(a, 1)?;
                self.push(op, Reads::Nothing);
            }
            Kind::Number { op: NestedOp::Multiply, .. } if a == b => {
                self.evaluate(a, 2)?;
                self.push(NestedOp::Square, Reads::Nothing);
            }
            Kind::Number { op, exchanged } | Kind::Compares { op, exchanged } => {
                self.two([a, b], [op, exchanged], None)?;
            }
            Kind::Joins { op } => self.two([a, b], [op; 2], None)?,
            Kind::Opposite => {
                self.evaluate(a, 1)?;
                self.push(NestedOp::Not, Reads::Nothing);
            }
            Kind::Chooses => {
                let mut tests = Tests { any: self.is_any(a), tests: SmallVec::new() };
                if self.left[0] == 0 && self.add_tests(&mut tests, a, false).is_some() {
                    self.choose(&tests, [b, c])?;
                } else {
                    let condition = self.condition(a)?;
                    self.two([b, c], [NestedOp::Choose, NestedOp::ChooseOther], Some(condition))?;
                }
            }
        }
        Some(())
    }

    /// An instruction of two values. `exchanged` is the one for the second of them as the value so far. If
    /// they are chosen by a condition, it is in a slot.
    fn two(
        &mut self,
        [a, b]: [u32; 2],
        [op, exchanged]: [NestedOp; 2],
        condition: Option<usize>,
    ) -> Option<()> {
        let is_exchanged = !self.is_ready(b) && self.is_ready(a);
        let (op, first, second) = if is_exchanged { (exchanged, b, a) } else { (op, a, b) };
        if !self.is_ready(second) {
            let is_only_for_this = self.readers[second as usize] == 1;
            self.evaluate_to(second, 0, if is_only_for_this { 0 } else { FIRST_IN_MEMORY })?;
        }
        self.evaluate(first, 1)?;
        if let Some(slot) = condition {
            self.left[slot] -= 1;
            self.push(NestedOp::With, Reads::Slot(slot));
        }
        let reads = self.read(second, 1);
        self.push(op, reads);
        Some(())
    }

    /// Whether one of the parts of a condition is enough.
    fn is_any(&self, condition: u32) -> bool {
        matches!(self.graph.call(condition), Some((Function::LogicalOr, _)))
    }

    /// Adds the parts of a condition that nobody else reads to some tests, or of its opposite. `None` if it
    /// has others.
    fn add_tests(&self, to: &mut Tests, condition: u32, opposite: bool) -> Option<()> {
        if !self.calls.contains(&condition) {
            to.tests.push((Test::Bools(condition), opposite));
            return Some(());
        }
        if self.readers[condition as usize] != 1 {
            return None;
        }
        let (function, [a, b, _]) = self.graph.call(condition)?;
        match kind(function)? {
            Kind::Compares { op, exchanged } => {
                let is_one = self.facts[a as usize].scalar;
                let (op, w, limit) = if is_one { (exchanged, b, a) } else { (op, a, b) };
                to.tests.push((Test::Compares { op, w, limit }, opposite));
            }
            Kind::Joins { op } if !opposite && to.any == (op == NestedOp::Or) => {
                self.add_tests(to, a, false)?;
                self.add_tests(to, b, false)?;
            }
            Kind::Opposite => self.add_tests(to, a, !opposite)?,
            Kind::Joins { .. } | Kind::Number { .. } | Kind::Chooses => return None,
        }
        Some(())
    }

    /// A choice by some tests of two values, for which the first slot is free.
    fn choose(&mut self, tests: &Tests, [chosen, other]: [u32; 2]) -> Option<()> {
        for (test, _) in &tests.tests {
            let Test::Compares { w, limit, .. } = *test else { continue };
            for value in [w, limit] {
                if !self.is_ready(value) {
                    self.evaluate(value, 0)?;
                }
            }
        }
        // The value so far stays if a test of all holds, and is replaced if one of any does.
        let [first, second] = if tests.any { [chosen, other] } else { [other, chosen] };
        self.evaluate(first, 1)?;
        let r = self.keep(1, 0)?;
        self.evaluate(second, 1)?;
        for &(test, opposite) in &tests.tests {
            let replaces = tests.any != opposite;
            match test {
                Test::Compares { op, w, limit } => {
                    let w = self.read(w, 1);
                    self.push(NestedOp::With, w);
                    let limit = self.read(limit, 1);
                    self.push(chooses_by(op, replaces)?, limit);
                }
                Test::Bools(value) => {
                    let from = self.read(value, 1);
                    self.push(if replaces { NestedOp::ReplaceBools } else { NestedOp::ChooseBools }, from);
                }
            }
        }
        self.left[r] = 0;
        Some(())
    }

    /// The slot of a condition, of which one reader chooses by it.
    fn condition(&mut self, value: u32) -> Option<usize> {
        if !self.calls.contains(&value) {
            self.evaluate(value, 1)?;
            return self.keep(1, FIRST_IN_MEMORY);
        }
        if !self.is_ready(value) {
            self.evaluate(value, 0)?;
        }
        self.kept.iter().find(|kept| kept.value == value).map(|kept| kept.slot)
    }

    /// Whether a value need not be computed: it is in memory, or kept.
    fn is_ready(&self, value: u32) -> bool {
        !self.calls.contains(&value) || self.kept.iter().any(|kept| kept.value == value)
    }

    /// Where such a value is read by as many of its readers as `reads`.
    fn read(&mut self, value: u32, reads: u32) -> Reads {
        if let Some(&Kept { slot, .. }) = self.kept.iter().find(|kept| kept.value == value) {
            self.left[slot] -= reads;
            return Reads::Slot(slot);
        }
        let is_bool = self.graph.dtype(value) == DType::Bool;
        let arguments = if is_bool { &mut self.bools } else { &mut self.numbers };
        let place = arguments.iter().position(|&argument| argument == value).unwrap_or_else(|| {
            arguments.push(value);
            arguments.len() - 1
        });
        match self.facts[value as usize].scalar {
            _ if is_bool => Reads::Bools(place),
            true => Reads::One(place),
            false => Reads::Values(place),
        }
    }

    /// Keeps the value so far for a number of readers, in a slot from `first` on. `None` if none is free.
    fn keep(&mut self, readers: u32, first: usize) -> Option<usize> {
        let slot = first + self.left[first..].iter().position(|&left| left == 0)?;
        self.kept.retain(|kept| kept.slot != slot);
        self.left[slot] = readers;
        self.push(NestedOp::Keep, Reads::Slot(slot));
        Some(slot)
    }

    fn push(&mut self, op: NestedOp, reads: Reads) {
        self.instructions.push((op, reads));
    }
}
