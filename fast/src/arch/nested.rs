//! Nested expressions of floats, in one pass: several calls of which no chain takes all, such as
//! `(x - y) / (x + y)` or `select(x < y, x * a, y - b)`. Step by step, each call would write what it computes
//! to a register of a tile, and the next one would read it again.
//!
//! A nested expression is a list of instructions. Each does something to a value `a`, which stays in the
//! processor's registers for a group of vectors, as in a [`chain`](super::chain). What is needed later is
//! kept in a slot. The first slot, `r`, stays in registers, too, and the others are as long as a group. This
//! is `(x - y) / (x + y)`:
//!
//! | instruction | reads | `a` | `r` |
//! |---|---|---|---|
//! | `Take` | x | x | |
//! | `Add` | y | x + y | |
//! | `Keep` | `r` | x + y | x + y |
//! | `Take` | x | x | x + y |
//! | `Subtract` | y | x - y | x + y |
//! | `Divide` | `r` | (x - y) / (x + y) | |
//!
//! A comparison makes `a` a condition: 1 where it holds, and 0 where it does not. It takes less time to
//! choose by two values that are compared. The first of them, `w`, is read before, and `a` and `r` are what
//! is chosen. A value that several instructions read can be `w` all along: what is in registers takes less
//! time than what is loaded again. This is `select(x < y, x * y, x - y)`:
//!
//! | instruction | reads | `a` | `r` | `w` |
//! |---|---|---|---|---|
//! | `TakeWith` | x | x | | x |
//! | `Subtract` | y | x - y | | x |
//! | `Keep` | `r` | x - y | x - y | x |
//! | `Take` | `w` | x | x - y | x |
//! | `Multiply` | y | x * y | x - y | x |
//! | `ChooseLess` | y | select(x < y, x * y, x - y) | | |

use super::choice::{Argument, Choice};
use super::group::{AtLeast, AtLeastZero, AtMost, ChainVector, DivideInto, Fold, SubtractFrom, counted};
use super::ops::{Add, Divide, Equal, Greater, GreaterEqual, Maximum, Minimum, Multiply, Subtract};
use super::vector::{Vector, each};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The most values that are kept at once.
pub(crate) const SLOTS: usize = 8;

/// The most vectors of a group.
const LARGEST_GROUP: usize = 8;

/// What an instruction does with the value so far, `a`, and with what it reads, `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NestedOp {
    /// `b`
    Take,
    /// `a`, which a slot gets, too.
    Keep,
    /// `a`, and `w` becomes `b`. It is not one value, and not `r`.
    With,
    /// `b`, and so does `w`, likewise.
    TakeWith,
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `b - a`
    SubtractFrom,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `b / a`
    DivideInto,
    /// The larger of `a` and `b` (clause V-3).
    Maximum,
    /// The smaller of `a` and `b`.
    Minimum,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a & b`, of conditions.
    And,
    /// `a | b`, of conditions.
    Or,
    /// `!a`, of a condition.
    Not,
    /// `if w { a } else { b }`, of a condition `w`.
    Choose,
    /// `if w { b } else { a }`
    ChooseOther,
    /// `if w > b { a } else { r }`
    ChooseGreater,
    /// `if w >= b { a } else { r }`
    ChooseGreaterEqual,
    /// `if w < b { a } else { r }`
    ChooseLess,
    /// `if w <= b { a } else { r }`
    ChooseLessEqual,
    /// `if w == b { a } else { r }`
    ChooseEqual,
    /// `if w != b { a } else { r }`
    ChooseNotEqual,
    /// `if w > b { r } else { a }`
    ReplaceGreater,
    /// `if w >= b { r } else { a }`
    ReplaceGreaterEqual,
    /// `if w < b { r } else { a }`
    ReplaceLess,
    /// `if w <= b { r } else { a }`
    ReplaceLessEqual,
    /// `if w == b { r } else { a }`
    ReplaceEqual,
    /// `if w != b { r } else { a }`
    ReplaceNotEqual,
    /// `if b { a } else { r }`, of bools `b`.
    ChooseBools,
    /// `if b { r } else { a }`, likewise.
    ReplaceBools,
    /// `a * a`
    Square,
    /// `-a`
    Negate,
    /// `|a|`
    Abs,
    /// The square root of `a`.
    Sqrt,
}

impl NestedOp {
    /// Whether what it reads can be `w`.
    pub(crate) fn can_read_w(self) -> bool {
        CODES.contains(&code(self, Kind::W))
    }

    /// Whether `w` is used.
    fn has_w(self) -> bool {
        match self {
            NestedOp::Choose
            | NestedOp::ChooseOther
            | NestedOp::ChooseGreater
            | NestedOp::ChooseGreaterEqual
            | NestedOp::ChooseLess
            | NestedOp::ChooseLessEqual
            | NestedOp::ChooseEqual
            | NestedOp::ChooseNotEqual
            | NestedOp::ReplaceGreater
            | NestedOp::ReplaceGreaterEqual
            | NestedOp::ReplaceLess
            | NestedOp::ReplaceLessEqual
            | NestedOp::ReplaceEqual
            | NestedOp::ReplaceNotEqual => true,
            NestedOp::Take
            | NestedOp::Keep
            | NestedOp::With
            | NestedOp::TakeWith
            | NestedOp::Add
            | NestedOp::Subtract
            | NestedOp::SubtractFrom
            | NestedOp::Multiply
            | NestedOp::Divide
            | NestedOp::DivideInto
            | NestedOp::Maximum
            | NestedOp::Minimum
            | NestedOp::Greater
            | NestedOp::GreaterEqual
            | NestedOp::Less
            | NestedOp::LessEqual
            | NestedOp::Equal
            | NestedOp::NotEqual
            | NestedOp::And
            | NestedOp::Or
            | NestedOp::Not
            | NestedOp::ChooseBools
            | NestedOp::ReplaceBools
            | NestedOp::Square
            | NestedOp::Negate
            | NestedOp::Abs
            | NestedOp::Sqrt => false,
        }
    }
}

/// What an instruction reads or, to keep a value, where it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Nothing,
    /// The values at this place among the arguments, of which a row has as many as elements.
    Values(usize),
    /// The values at this place, of which a row has one.
    One(usize),
    /// The bools at this place among those of the arguments. A row has as many as elements.
    Bools(usize),
    /// A slot, of which 0 is `r`.
    Slot(usize),
    /// `w`
    W,
}

impl Reads {
    /// The kind that the code distinguishes, and the place.
    fn kind(self) -> (Kind, usize) {
        match self {
            Reads::Nothing | Reads::Slot(0) => (Kind::Register, 0),
            Reads::Values(place) => (Kind::Values, place),
            Reads::One(place) => (Kind::One, place),
            Reads::Bools(place) => (Kind::Bools, place),
            Reads::Slot(slot) => (Kind::Slot, slot),
            Reads::W => (Kind::W, 0),
        }
    }
}

/// The kind of what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Values,
    One,
    /// `r`, or nothing.
    Register,
    Bools,
    W,
    /// A slot in memory.
    Slot,
}

/// The number of kinds that a [`code`] distinguishes. A slot in memory is one of values.
const KINDS: u8 = Kind::W as u8 + 1;

/// The instructions of a nested expression. They are sound: a slot in memory is written before it is read,
/// `w` is read before it is used and is an operand or such a slot, and only what reads bools does so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NestedProgram {
    instructions: Vec<Instruction>,
    /// The number of arguments that are bools.
    bools: usize,
    /// For each value that is an argument, whether a row has only one. `None` if it is not read.
    are_one: Vec<Option<bool>>,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    code: u8,
    kind: Kind,
    /// The place of the argument or the slot.
    place: usize,
}

/// The most instructions and the most arguments. A longer expression is computed step by step.
const INSTRUCTIONS: usize = 96;
const ARGUMENTS: usize = 16;

impl NestedProgram {
    /// The program of some instructions over so many arguments, values and bools, if it is sound.
    pub(crate) fn new(
        instructions: &[(NestedOp, Reads)],
        (values, bools): (usize, usize),
    ) -> Option<NestedProgram> {
        if instructions.len() > INSTRUCTIONS || values.checked_add(bools)? > ARGUMENTS {
            return None;
        }
        let mut are_one = vec![None; values];
        let (mut full, mut has_w) = ([false; SLOTS], false);
        let mut coded = Vec::with_capacity(instructions.len());
        for &(op, reads) in instructions {
            let (kind, place) = reads.kind();
            let code = code(op, if kind == Kind::Slot { Kind::Values } else { kind });
            let is_there = match kind {
                Kind::Register => true,
                Kind::W => has_w,
                Kind::Values | Kind::One => place < values,
                Kind::Bools => place < bools,
                Kind::Slot if op == NestedOp::Keep => place < SLOTS,
                Kind::Slot => place < SLOTS && full[place],
            };
            let keeps_argument = op == NestedOp::Keep && kind == Kind::Values;
            if !CODES.contains(&code) || !is_there || keeps_argument || op.has_w() && !has_w {
                return None;
            }
            if op == NestedOp::Keep {
                full[place] = true;
            }
            if let Kind::Values | Kind::One = kind {
                let is_one = kind == Kind::One;
                if *are_one[place].get_or_insert(is_one) != is_one {
                    return None;
                }
            }
            has_w |= matches!(op, NestedOp::With | NestedOp::TakeWith);
            coded.push(Instruction { code, kind, place });
        }
        Some(NestedProgram { instructions: coded, bools, are_one })
    }
}

/// What an instruction does and the kind of what it reads, as one number, by which the code jumps. (If it
/// jumps twice, an instruction takes as long as one over twice as many vectors.)
const fn code(op: NestedOp, kind: Kind) -> u8 {
    op as u8 * KINDS + kind as u8
}

const _: () = assert!((NestedOp::Sqrt as usize + 1) * KINDS as usize <= 1 << u8::BITS);

/// The result of a nested expression.
#[derive(Debug)]
pub(crate) enum NestedResult<'a, T> {
    Numbers(&'a mut [T]),
    /// Whether what the expression comes to, a condition, holds.
    Conditions(&'a mut [bool]),
}

impl<T> NestedResult<'_, T> {
    fn len(&self) -> usize {
        match self {
            NestedResult::Numbers(out) => out.len(),
            NestedResult::Conditions(out) => out.len(),
        }
    }

    /// The address of an element of the result.
    fn at(&mut self, element: usize) -> *mut u8 {
        match self {
            NestedResult::Numbers(out) => out.as_mut_ptr().wrapping_add(element).cast(),
            NestedResult::Conditions(out) => out.as_mut_ptr().wrapping_add(element).cast(),
        }
    }
}

/// A nested expression over the rows of `out`, in groups of `GROUP` vectors. The last group ends with the
/// row. A row that is shorter than a group is computed from copies of the arguments, after which there are
/// zeros.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const GROUP: usize>(
    program: &NestedProgram,
    (values, bools): (&[Argument<'_, V::Element>], &[Argument<'_, bool>]),
    rows: usize,
    mut out: NestedResult<'_, V::Element>,
) {
    const { assert!(GROUP <= LARGEST_GROUP && GROUP > 1) };
    let count = out.len();
    if count == 0 {
        return;
    }
    let width = if rows == 1 { count } else { count.checked_div(rows).unwrap_or(0) };
    assert!(rows * width == count, "the output of a nested expression is not made of whole rows");
    let are_enough = values.len() == program.are_one.len()
        && bools.len() == program.bools
        && std::iter::zip(values, &program.are_one).all(|(argument, is_one)| {
            is_one.is_none_or(|is_one| argument.scalar == is_one && argument.is_long_enough(rows, width))
        })
        && bools.iter().all(|argument| !argument.scalar && argument.is_long_enough(rows, width));
    assert!(are_enough, "an argument of a nested expression is shorter than its output, or of another kind");
    let mut slots = [MaybeUninit::<[V; LARGEST_GROUP]>::uninit(); SLOTS];
    let mut bound = [MaybeUninit::<Bound<V::Element>>::uninit(); INSTRUCTIONS];
    let mut copies = [MaybeUninit::<[V; LARGEST_GROUP]>::uninit(); ARGUMENTS];
    let size = GROUP * V::WIDTH;
    let (last, is_short) = (width.saturating_sub(size), width < size);
    // SAFETY: the caller guarantees the instructions of `V`. By the assertions, each argument has the values
    // of all rows, and the program is sound. It has at most as many arguments as there are copies, and a
    // short row has at most as many elements as a copy. Groups of other rows end with them or before.
    unsafe {
        let copies = copies.as_mut_ptr().cast::<V>();
        let copy = |place: usize| copies.wrapping_add(place * LARGEST_GROUP).cast::<V::Element>();
        let mut result = [V::splat(V::Element::default()); GROUP];
        if is_short {
            (0..values.len() + bools.len()).for_each(|place| copy(place).cast::<[V; GROUP]>().write(result));
        }
        let bound = program.bind::<V>(&mut bound, slots.as_mut_ptr().cast(), |kind, place| match kind {
            Kind::Bools if is_short => (copy(values.len() + place), 0),
            _ if is_short => (copy(place), 0),
            Kind::Bools => (bools[place].values.as_ptr().cast_mut().cast(), bools[place].step),
            _ => {
                let Argument { values, step, .. } = values[place];
                (values.as_ptr().cast_mut(), step.wrapping_mul(size_of::<V::Element>()))
            }
        });
        for row in 0..rows {
            if is_short {
                for (place, argument) in values.iter().enumerate() {
                    if program.are_one[place].is_some() {
                        let from = argument.values.as_ptr().add(row * argument.step);
                        from.copy_to_nonoverlapping(copy(place), if argument.scalar { 1 } else { width });
                    }
                }
                for (place, argument) in bools.iter().enumerate() {
                    let from = argument.values.as_ptr().add(row * argument.step);
                    from.copy_to_nonoverlapping(copy(values.len() + place).cast(), width);
                }
            }
            let mut at = 0;
            loop {
                let a = group::<V, GROUP>(bound, at);
                let place = out.at(row * width + at);
                let to = if is_short { result.as_mut_ptr().cast() } else { place };
                match out {
                    NestedResult::Numbers(_) => counted!(k in GROUP => {
                        a[k].store(to.cast::<V::Element>().add(k * V::WIDTH));
                    }),
                    NestedResult::Conditions(_) => counted!(k in GROUP => {
                        a[k].store_conditions(to.cast::<bool>().add(k * V::WIDTH));
                    }),
                }
                if is_short {
                    let bytes = match out {
                        NestedResult::Numbers(_) => width * size_of::<V::Element>(),
                        NestedResult::Conditions(_) => width,
                    };
                    place.copy_from_nonoverlapping(to, bytes);
                }
                if at == last {
                    break;
                }
                at = last.min(at + size);
            }
            if !is_short {
                bound.iter_mut().for_each(Bound::advance);
            }
        }
    }
}

impl NestedProgram {
    /// The instructions with the addresses of what they read in the first row. `argument` says where that is
    /// and how many bytes further in the next row. Slots have the elements of the largest group.
    #[inline(always)]
    fn bind<'a, V: Vector>(
        &self,
        bound: &'a mut [MaybeUninit<Bound<V::Element>>; INSTRUCTIONS],
        slots: *mut V,
        argument: impl Fn(Kind, usize) -> (*mut V::Element, usize),
    ) -> &'a mut [Bound<V::Element>] {
        for (bound, &Instruction { code, kind, place }) in bound.iter_mut().zip(&self.instructions) {
            let (from, step) = match kind {
                Kind::Values | Kind::One | Kind::Bools => argument(kind, place),
                Kind::Register | Kind::W | Kind::Slot => {
                    (slots.wrapping_add(place * LARGEST_GROUP).cast(), 0)
                }
            };
            let along = if kind == Kind::Values { usize::MAX } else { 0 };
            bound.write(Bound { code, along, from, step });
        }
        // SAFETY: a program has at most as many instructions as there is room for.
        unsafe { std::slice::from_raw_parts_mut(bound.as_mut_ptr().cast(), self.instructions.len()) }
    }
}

/// An instruction with the address of what it reads in a row.
#[derive(Clone, Copy)]
struct Bound<T> {
    code: u8,
    /// All bits, if it goes on with the elements of a row, or none.
    along: usize,
    /// Of bools as of bytes.
    from: *mut T,
    /// The bytes to the next row.
    step: usize,
}

impl<T> Bound<T> {
    /// Moves on by one row. The address may be beyond the end after the last one.
    #[inline(always)]
    fn advance(&mut self) {
        self.from = self.from.wrapping_byte_add(self.step);
    }
}

/// The codes of all instructions that there are, by the kind of what is read and by what is done, such as
/// `memory::Add`.
macro_rules! codes {
    ($($kind:ident $of:ident: $($op:ident)*;)*) => {
        $(
            #[allow(non_upper_case_globals, reason = "each is named after an operation")]
            mod $kind {
                $(pub(super) const $op: u8 = super::code(super::NestedOp::$op, super::Kind::$of);)*
            }
        )*
        const CODES: &[u8] = &[$($($kind::$op),*),*];
    };
}
codes! {
    memory Values:
        Take Keep With TakeWith Add Subtract SubtractFrom Multiply Divide DivideInto Maximum Minimum Greater
        GreaterEqual Less LessEqual Equal NotEqual And Or Choose ChooseOther ChooseGreater ChooseGreaterEqual
        ChooseLess ChooseLessEqual ChooseEqual ChooseNotEqual ReplaceGreater ReplaceGreaterEqual ReplaceLess
        ReplaceLessEqual ReplaceEqual ReplaceNotEqual;
    one One:
        Take Add Subtract SubtractFrom Multiply Divide DivideInto Maximum Minimum Greater GreaterEqual Less
        LessEqual Equal NotEqual Choose ChooseOther ChooseGreater ChooseGreaterEqual ChooseLess
        ChooseLessEqual ChooseEqual ChooseNotEqual ReplaceGreater ReplaceGreaterEqual ReplaceLess
        ReplaceLessEqual ReplaceEqual ReplaceNotEqual;
    register Register:
        Take Keep Add Subtract SubtractFrom Multiply Divide DivideInto Maximum Minimum Greater GreaterEqual
        Less LessEqual Equal NotEqual And Or Not Choose ChooseOther Square Negate Abs Sqrt;
    bools Bools: Take ChooseBools ReplaceBools;
    again W:
        Take Add Subtract SubtractFrom Multiply Divide DivideInto Maximum Minimum Greater GreaterEqual Less
        LessEqual Equal NotEqual;
}

/// The match of an instruction's code, with what is alike for many of them.
macro_rules! execute {
    (
        $code:expr, $a:ident, $r:ident, $w:ident, $b:ident;
        folds: $($fold:ident)*;
        compares: $($compare:ident $how:ty),*;
        chooses: $($choose:ident $replace:ident $by:ty),*;
        $($pattern:pat => $body:expr,)*
    ) => {
        match $code {
            $(
                memory::$fold => fold::<V, U, $fold, false>(&mut $a, $b),
                one::$fold => fold::<V, U, $fold, true>(&mut $a, $b),
                register::$fold => $a = each!($a, $r => $fold::of($a, $r)),
                again::$fold => $a = each!($a, $w => $fold::of($a, $w)),
            )*
            $(
                memory::$compare => compare::<V, U, $how, false>(&mut $a, $b),
                one::$compare => compare::<V, U, $how, true>(&mut $a, $b),
                register::$compare => {
                    let (holds, zero) = (V::splat(V::HOLDS), V::splat(V::Element::default()));
                    $a = each!($a, $r => <$how>::of($a, $r, holds, zero));
                }
                again::$compare => {
                    let (holds, zero) = (V::splat(V::HOLDS), V::splat(V::Element::default()));
                    $a = each!($a, $w => <$how>::of($a, $w, holds, zero));
                }
            )*
            $(
                memory::$choose => choose_by::<V, U, $by, false>(&mut $a, (&$r, &$w), $b),
                one::$choose => choose_by::<V, U, $by, true>(&mut $a, (&$r, &$w), $b),
                memory::$replace => choose_by::<V, U, Replaces<$by>, false>(&mut $a, (&$r, &$w), $b),
                one::$replace => choose_by::<V, U, Replaces<$by>, true>(&mut $a, (&$r, &$w), $b),
            )*
            $($pattern => $body,)*
        }
    };
}

/// What `U` vectors of a row come to, from element `at` on.
///
/// # Safety
/// The machine has the instructions of `V`. Each argument that goes along with a row has `U * V::WIDTH`
/// elements from `at` on, and the others have one. Slots have [`LARGEST_GROUP`] vectors and are written
/// before they are read, and `w` is read before it is used.
#[inline(always)]
unsafe fn group<V: Vector, const U: usize>(instructions: &[Bound<V::Element>], at: usize) -> [V; U] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let zero = V::splat(V::Element::default());
        let (mut a, mut r, mut w) = ([zero; U], [zero; U], [zero; U]);
        for &Bound { code, along, from, .. } in instructions {
            let b = from.wrapping_add(at & along).cast_const();
            execute! {
                code, a, r, w, b;
                folds: Add Subtract SubtractFrom Multiply Divide DivideInto;
                compares:
                    Greater Upwards<Greater>, GreaterEqual Upwards<GreaterEqual>, Equal Upwards<Equal>,
                    Less Downwards<Greater>, LessEqual Downwards<GreaterEqual>, NotEqual Differs;
                chooses:
                    ChooseGreater ReplaceGreater Upwards<Greater>,
                    ChooseGreaterEqual ReplaceGreaterEqual Upwards<GreaterEqual>,
                    ChooseLess ReplaceLess Downwards<Greater>,
                    ChooseLessEqual ReplaceLessEqual Downwards<GreaterEqual>,
                    ChooseEqual ReplaceEqual Upwards<Equal>, ChooseNotEqual ReplaceNotEqual Differs;
                memory::Take => counted!(k in U => {
                    a[k] = V::load(b.add(k * V::WIDTH));
                }),
                one::Take => a = [V::splat(*b); U],
                register::Take => a = r,
                again::Take => a = w,
                bools::Take => {
                    let (holds, from) = (V::splat(V::HOLDS), from.cast::<bool>().add(at));
                    counted!(k in U => {
                        a[k] = V::select(from.add(k * V::WIDTH), holds, zero);
                    });
                },
                bools::ChooseBools => {
                    let from = from.cast::<bool>().add(at);
                    counted!(k in U => {
                        a[k] = V::select(from.add(k * V::WIDTH), a[k], r[k]);
                    });
                },
                bools::ReplaceBools => {
                    let from = from.cast::<bool>().add(at);
                    counted!(k in U => {
                        a[k] = V::select(from.add(k * V::WIDTH), r[k], a[k]);
                    });
                },
                memory::Keep => {
                    counted!(k in U => {
                        a[k].store(from.add(k * V::WIDTH));
                    });
                },
                register::Keep => r = a,
                memory::With => counted!(k in U => {
                    w[k] = V::load(b.add(k * V::WIDTH));
                }),
                memory::TakeWith => {
                    counted!(k in U => {
                        w[k] = V::load(b.add(k * V::WIDTH));
                    });
                    a = w;
                },
                memory::Maximum => fold::<V, U, Maximum, false>(&mut a, b),
                one::Maximum => {
                    if V::is_limit(*b) {
                        fold::<V, U, AtLeast, true>(&mut a, b);
                    } else if V::is_zero(*b) {
                        fold::<V, U, AtLeastZero, true>(&mut a, b);
                    } else {
                        fold::<V, U, Maximum, true>(&mut a, b);
                    }
                },
                register::Maximum => a = each!(a, r => Maximum::of(a, r)),
                again::Maximum => a = each!(a, w => Maximum::of(a, w)),
                memory::Minimum => fold::<V, U, Minimum, false>(&mut a, b),
                one::Minimum => {
                    if V::is_limit(*b) {
                        fold::<V, U, AtMost, true>(&mut a, b);
                    } else {
                        fold::<V, U, Minimum, true>(&mut a, b);
                    }
                },
                register::Minimum => a = each!(a, r => Minimum::of(a, r)),
                again::Minimum => a = each!(a, w => Minimum::of(a, w)),
                memory::And => counted!(k in U => {
                    a[k] = a[k].and_bits(V::load(b.add(k * V::WIDTH)));
                }),
                register::And => a = each!(a, r => a.and_bits(r)),
                memory::Or => counted!(k in U => {
                    a[k] = a[k].or_bits(V::load(b.add(k * V::WIDTH)));
                }),
                register::Or => a = each!(a, r => a.or_bits(r)),
                register::Not => {
                    let holds = V::splat(V::HOLDS);
                    a = each!(a => Vector::subtract(holds, a));
                },
                memory::Choose => choose::<V, U, false, false>(&mut a, &w, b),
                one::Choose => choose::<V, U, false, true>(&mut a, &w, b),
                register::Choose => a = each!(a, r, w => Vector::choose(w, zero, a, r)),
                memory::ChooseOther => choose::<V, U, true, false>(&mut a, &w, b),
                one::ChooseOther => choose::<V, U, true, true>(&mut a, &w, b),
                register::ChooseOther => a = each!(a, r, w => Vector::choose(w, zero, r, a)),
                register::Square => a = each!(a => Vector::multiply(a, a)),
                register::Negate => a = each!(a => Vector::negate(a)),
                register::Abs => a = each!(a => Vector::abs(a)),
                register::Sqrt => a = each!(a => Vector::sqrt(a)),
                // No program has such an instruction.
                _ => {},
            }
        }
        a
    }
}

/// Does something with `a` and the elements at an address, or the one there.
///
/// # Safety
/// The machine has the instructions of `V`. `b` points to `U * V::WIDTH` elements; with `ONE` to one.
#[inline(always)]
unsafe fn fold<V: Vector, const U: usize, O: Fold, const ONE: bool>(a: &mut [V; U], b: *const V::Element) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let one = V::splat(*b);
        counted!(k in U => {
            let b = if ONE { one } else { V::load(b.add(k * V::WIDTH)) };
            a[k] = O::of(a[k], b);
        });
    }
}

/// Makes conditions of `a`, likewise.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
unsafe fn compare<V: Vector, const U: usize, C: Condition, const ONE: bool>(
    a: &mut [V; U],
    b: *const V::Element,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (one, zero, holds) = (V::splat(*b), V::splat(V::Element::default()), V::splat(V::HOLDS));
        counted!(k in U => {
            let b = if ONE { one } else { V::load(b.add(k * V::WIDTH)) };
            a[k] = C::of(a[k], b, holds, zero);
        });
    }
}

/// A comparison.
trait Condition {
    /// `if a op b { then } else { other }`
    fn of<V: Vector>(a: V, b: V, then: V, other: V) -> V;
}

/// The comparison of `a` with `b`.
struct Upwards<C>(PhantomData<C>);
/// The comparison of `b` with `a`.
struct Downwards<C>(PhantomData<C>);
/// Whether they are not equal.
struct Differs;

impl<C: Choice> Condition for Upwards<C> {
    #[inline(always)]
    fn of<V: Vector>(a: V, b: V, then: V, other: V) -> V {
        C::of(a, b, then, other)
    }
}

impl<C: Choice> Condition for Downwards<C> {
    #[inline(always)]
    fn of<V: Vector>(a: V, b: V, then: V, other: V) -> V {
        C::of(b, a, then, other)
    }
}

impl Condition for Differs {
    #[inline(always)]
    fn of<V: Vector>(a: V, b: V, then: V, other: V) -> V {
        Equal::of(a, b, other, then)
    }
}

/// A comparison that chooses the other one.
struct Replaces<C>(PhantomData<C>);

impl<C: Condition> Condition for Replaces<C> {
    #[inline(always)]
    fn of<V: Vector>(a: V, b: V, then: V, other: V) -> V {
        C::of(a, b, other, then)
    }
}

/// Chooses `a` where the comparison of `w` with what is at `b` holds, and otherwise `r`.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
unsafe fn choose_by<V: Vector, const U: usize, C: Condition, const ONE: bool>(
    a: &mut [V; U],
    (r, w): (&[V; U], &[V; U]),
    b: *const V::Element,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let one = V::splat(*b);
        counted!(k in U => {
            let b = if ONE { one } else { V::load(b.add(k * V::WIDTH)) };
            a[k] = C::of(w[k], b, a[k], r[k]);
        });
    }
}

/// Chooses between `a` and the elements at an address, or the one there, by the conditions `w`: `a` is what
/// is chosen where they hold or, with `OTHER`, where they do not.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
unsafe fn choose<V: Vector, const U: usize, const OTHER: bool, const ONE: bool>(
    a: &mut [V; U],
    w: &[V; U],
    b: *const V::Element,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (one, zero) = (V::splat(*b), V::splat(V::Element::default()));
        counted!(k in U => {
            let b = if ONE { one } else { V::load(b.add(k * V::WIDTH)) };
            let (then, other) = if OTHER { (b, a[k]) } else { (a[k], b) };
            a[k] = Vector::choose(w[k], zero, then, other);
        });
    }
}
