//! Nested expressions: random programs, of which each element is computed with plain arithmetic, too.

use super::*;
use crate::arch::nested::{NestedOp, NestedProgram, NestedResult, Reads, SLOTS};
use NestedOp as Op;

const OPS: [NestedOp; 41] = [
    Op::Take,
    Op::Keep,
    Op::With,
    Op::TakeWith,
    Op::Add,
    Op::Subtract,
    Op::SubtractFrom,
    Op::Multiply,
    Op::Divide,
    Op::DivideInto,
    Op::Maximum,
    Op::Minimum,
    Op::Greater,
    Op::GreaterEqual,
    Op::Less,
    Op::LessEqual,
    Op::Equal,
    Op::NotEqual,
    Op::And,
    Op::Or,
    Op::Not,
    Op::Choose,
    Op::ChooseOther,
    Op::ChooseGreater,
    Op::ChooseGreaterEqual,
    Op::ChooseLess,
    Op::ChooseLessEqual,
    Op::ChooseEqual,
    Op::ChooseNotEqual,
    Op::ReplaceGreater,
    Op::ReplaceGreaterEqual,
    Op::ReplaceLess,
    Op::ReplaceLessEqual,
    Op::ReplaceEqual,
    Op::ReplaceNotEqual,
    Op::ChooseBools,
    Op::ReplaceBools,
    Op::Square,
    Op::Negate,
    Op::Abs,
    Op::Sqrt,
];

/// Arguments of a program: vectors first, then values that are one in each row, then bools.
const VECTORS: usize = 3;
const ONES: usize = 2;
const BOOLS: usize = 1;

/// Random numbers below a limit.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// A sound program. Conditions are joined only with conditions.
fn program(random: &mut Random) -> (Vec<(NestedOp, Reads)>, NestedProgram) {
    let sizes = (VECTORS + ONES, BOOLS);
    let mut instructions = vec![(Op::Take, Reads::Values(0))];
    let mut last = NestedProgram::new(&instructions, sizes).unwrap();
    let (mut is_condition, mut w_is_condition, mut conditions) = (false, false, [false; SLOTS]);
    while instructions.len() < 12 {
        let op = OPS[random.below(OPS.len())];
        let reads = match random.below(7) {
            0 | 1 => Reads::Values(random.below(VECTORS)),
            2 => Reads::One(VECTORS + random.below(ONES)),
            3 => Reads::Slot(random.below(SLOTS)),
            4 => Reads::Bools(0),
            5 => Reads::W,
            _ => Reads::Slot(0),
        };
        let reads = if matches!(op, Op::Not | Op::Square | Op::Negate | Op::Abs | Op::Sqrt) {
            Reads::Nothing
        } else {
            reads
        };
        let of_condition = match reads {
            Reads::Slot(slot) => conditions[slot],
            Reads::Bools(_) => true,
            Reads::W => w_is_condition,
            Reads::Nothing | Reads::Values(_) | Reads::One(_) => false,
        };
        let joins = matches!(op, Op::And | Op::Or) && !of_condition;
        if matches!(op, Op::And | Op::Or | Op::Not) && !is_condition || joins {
            continue;
        }
        instructions.push((op, reads));
        let Some(program) = NestedProgram::new(&instructions, sizes) else {
            instructions.pop();
            continue;
        };
        last = program;
        match (op, reads) {
            (Op::Keep, Reads::Slot(slot)) => conditions[slot] = is_condition,
            (Op::Take, _) => is_condition = of_condition,
            (Op::TakeWith, _) => (is_condition, w_is_condition) = (of_condition, of_condition),
            (Op::With, _) => w_is_condition = of_condition,
            (Op::Greater | Op::GreaterEqual | Op::Less | Op::LessEqual | Op::Equal | Op::NotEqual, _) => {
                is_condition = true;
            }
            (Op::And | Op::Or | Op::Not, _) => {}
            _ => is_condition = false,
        }
    }
    (instructions, last)
}

macro_rules! of_type {
    ($module:ident $type:ident $kernels:ident) => {
        mod $module {
            use super::*;

            /// What an instruction makes of an element, in plain arithmetic. A condition is 1 or 0.
            pub(super) fn value(op: NestedOp, [a, b, w, r]: [$type; 4], bool: bool) -> $type {
                let holds = |holds: bool| if holds { 1.0 } else { 0.0 };
                let pick = |first: bool, one: $type, other: $type| if first { one } else { other };
                match op {
                    Op::Take | Op::TakeWith => b,
                    Op::Keep | Op::With => a,
                    Op::Add => a + b,
                    Op::Subtract => a - b,
                    Op::SubtractFrom => b - a,
                    Op::Multiply => a * b,
                    Op::Divide => a / b,
                    Op::DivideInto => b / a,
                    Op::Maximum | Op::Minimum if a.is_nan() || b.is_nan() => $type::NAN,
                    Op::Maximum if a == b => pick(a.is_sign_negative(), b, a),
                    Op::Maximum => pick(a > b, a, b),
                    Op::Minimum if a == b => pick(a.is_sign_negative(), a, b),
                    Op::Minimum => pick(a < b, a, b),
                    Op::Greater => holds(a > b),
                    Op::GreaterEqual => holds(a >= b),
                    Op::Less => holds(a < b),
                    Op::LessEqual => holds(a <= b),
                    Op::Equal => holds(a == b),
                    Op::NotEqual => holds(a != b),
                    Op::And => holds(a == 1.0 && b == 1.0),
                    Op::Or => holds(a == 1.0 || b == 1.0),
                    Op::Not => holds(a != 1.0),
                    Op::Choose => pick(w > 0.0, a, b),
                    Op::ChooseOther => pick(w > 0.0, b, a),
                    Op::ChooseGreater => pick(w > b, a, r),
                    Op::ChooseGreaterEqual => pick(w >= b, a, r),
                    Op::ChooseLess => pick(w < b, a, r),
                    Op::ChooseLessEqual => pick(w <= b, a, r),
                    Op::ChooseEqual => pick(w == b, a, r),
                    Op::ChooseNotEqual => pick(w != b, a, r),
                    Op::ReplaceGreater => pick(w > b, r, a),
                    Op::ReplaceGreaterEqual => pick(w >= b, r, a),
                    Op::ReplaceLess => pick(w < b, r, a),
                    Op::ReplaceLessEqual => pick(w <= b, r, a),
                    Op::ReplaceEqual => pick(w == b, r, a),
                    Op::ReplaceNotEqual => pick(w != b, r, a),
                    Op::ChooseBools => pick(bool, a, r),
                    Op::ReplaceBools => pick(bool, r, a),
                    Op::Square => a * a,
                    Op::Negate => -a,
                    Op::Abs => a.abs(),
                    Op::Sqrt => a.sqrt(),
                }
            }

            /// Compares a program over some rows with the values of its elements.
            pub(super) fn compare(table: &Table, random: &mut Random, (rows, width): (usize, usize)) {
                let (instructions, program) = program(random);
                let numbers = floats();
                #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "any numbers")]
                let numbers: Vec<$type> = numbers.iter().cycle().take(2500).map(|&x| x as $type).collect();
                let flags: Vec<bool> = (0..2500).map(|at| at % 3 == 0 || at % 7 == 2).collect();
                // Rows of one argument are apart, and those of the others are not or are the same row.
                let steps = [width + 5, width, 0];
                let mut values = Vec::new();
                for place in 0..VECTORS {
                    values.push(Argument {
                        values: &numbers[place * 7..],
                        step: steps[place],
                        scalar: false,
                    });
                }
                for place in 0..ONES {
                    values.push(Argument {
                        values: &numbers[place * 5 + 3..],
                        step: 1 - place,
                        scalar: true,
                    });
                }
                let bools = [Argument { values: &flags[..], step: width + 1, scalar: false }];
                let (mut out, mut conditions) = (vec![7.0; rows * width], vec![false; rows * width]);
                let results = [NestedResult::Numbers(&mut out), NestedResult::Conditions(&mut conditions)];
                for result in results {
                    table.$kernels.nested.run(&program, (&values, &bools), rows, result);
                }
                for (at, &found) in out.iter().enumerate() {
                    let (row, column) = (at / width, at % width);
                    let (mut a, mut w, mut slots) = (0.0, 0.0, [0.0; SLOTS]);
                    for &(op, reads) in &instructions {
                        let bool = flags[row * bools[0].step + column];
                        let b = match reads {
                            Reads::Nothing => 0.0,
                            Reads::Values(place) => values[place].values[row * values[place].step + column],
                            Reads::One(place) => values[place].values[row * values[place].step],
                            Reads::Bools(_) => {
                                if bool {
                                    1.0
                                } else {
                                    0.0
                                }
                            }
                            Reads::Slot(slot) => slots[slot],
                            Reads::W => w,
                        };
                        a = value(op, [a, b, w, slots[0]], bool);
                        match (op, reads) {
                            (Op::Keep, Reads::Slot(slot)) => slots[slot] = a,
                            (Op::With | Op::TakeWith, _) => w = b,
                            _ => {}
                        }
                    }
                    let same = a.to_bits() == found.to_bits() || a.is_nan() && found.is_nan();
                    assert!(same, "{instructions:?} at {row}, {column} of {rows}x{width}: {found}, not {a}");
                    assert_eq!(conditions[at], a != 0.0, "{instructions:?} at {row}, {column}");
                }
            }
        }
    };
}
of_type! { of_f64 f64 float_f64 }
of_type! { of_f32 f32 float_f32 }

/// Rows that end with a group, within one, and before the first vector.
#[test]
fn random_programs() {
    for table in tables() {
        let mut random = Random(7);
        for round in 0..12 {
            for width in [1, 2, 3, 7, 8, 15, 16, 31, 33, 64, 65, 100, 129, 200, 257, 300] {
                let rows = 1 + (round + width) % 4;
                of_f64::compare(table, &mut random, (rows, width));
                of_f32::compare(table, &mut random, (rows, width));
            }
        }
    }
}

/// What would read memory that was not written, or that is not there, is no program.
#[test]
fn unsound_programs() {
    let keep = (Op::Keep, Reads::Slot(1));
    let with = (Op::With, Reads::Values(0));
    for sound in [
        &[(Op::Take, Reads::Values(0)), keep, (Op::Add, Reads::Slot(1))][..],
        &[with, (Op::ChooseLess, Reads::One(1))],
        &[keep, (Op::With, Reads::Slot(1)), (Op::Choose, Reads::Slot(0))],
        &[(Op::Take, Reads::Bools(0)), (Op::ChooseBools, Reads::Bools(0))],
        &[(Op::Take, Reads::Values(1)), (Op::Negate, Reads::Nothing)],
        &[(Op::TakeWith, Reads::Values(1)), (Op::Add, Reads::W)],
    ] {
        assert!(NestedProgram::new(sound, (2, 1)).is_some(), "{sound:?}");
    }
    for unsound in [
        &[(Op::Take, Reads::Values(2))][..],
        &[(Op::Take, Reads::One(2))],
        &[(Op::Take, Reads::Bools(1))],
        &[(Op::Add, Reads::Bools(0))],
        &[(Op::ChooseBools, Reads::Values(0))],
        &[(Op::ReplaceBools, Reads::Nothing)],
        &[(Op::Take, Reads::Slot(1))],
        &[(Op::Keep, Reads::Slot(SLOTS))],
        &[(Op::Keep, Reads::Values(0))],
        &[(Op::Keep, Reads::One(0))],
        &[(Op::With, Reads::One(0))],
        &[(Op::With, Reads::Slot(0))],
        &[with, (Op::With, Reads::W)],
        &[with, (Op::And, Reads::W)],
        &[(Op::TakeWith, Reads::One(0))],
        &[(Op::Take, Reads::W)],
        &[(Op::With, Reads::Slot(1))],
        &[(Op::ChooseLess, Reads::Values(0))],
        &[with, (Op::ChooseLess, Reads::Slot(0))],
        &[(Op::Negate, Reads::Values(0))],
        &[(Op::Choose, Reads::Values(0)), with],
        // The same argument cannot have one value in a row and several.
        &[(Op::Take, Reads::Values(0)), (Op::Add, Reads::One(0))],
    ] {
        assert_eq!(NestedProgram::new(unsound, (2, 1)), None, "{unsound:?}");
    }
    let long = [(Op::Take, Reads::Values(0)); 97];
    assert!(NestedProgram::new(&long[..96], (1, 0)).is_some() && NestedProgram::new(&long, (1, 0)).is_none());
}

/// Arguments that are too short, too few, or of another kind.
#[test]
fn arguments_that_are_not_enough() {
    let one = [(Op::Take, Reads::Values(0)), (Op::Add, Reads::One(1))];
    let program = NestedProgram::new(&one, (2, 0)).unwrap();
    let numbers = [1.0; 20];
    for table in tables() {
        let argument = |count, step, scalar| Argument { values: &numbers[..count], step, scalar };
        let run = |values: &[Argument<'_, f64>], rows| {
            let mut out = [0.0; 12];
            table.float_f64.nested.run(&program, (values, &[]), rows, NestedResult::Numbers(&mut out));
            out
        };
        let refuses = |values: &[Argument<'_, f64>], rows| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(values, rows))).is_err()
        };
        assert_eq!(run(&[argument(12, 4, false), argument(1, 0, true)], 3), [2.0; 12]);
        assert!(refuses(&[argument(11, 4, false), argument(1, 0, true)], 3));
        assert!(refuses(&[argument(12, 4, false), argument(2, 1, true)], 3));
        assert!(refuses(&[argument(12, 4, false), argument(12, 4, false)], 3));
        assert!(refuses(&[argument(12, 4, false)], 3));
        assert!(refuses(&[argument(12, 4, false), argument(1, 0, true)], 5));
        assert!(refuses(&[argument(20, usize::MAX, false), argument(1, 0, true)], 3));
    }
}
