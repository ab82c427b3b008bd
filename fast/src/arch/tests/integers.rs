//! Chains of integers.

use super::tables;
use crate::arch::{ChainOp, Link, fenced};

/// The binary operations of links, and those that make the next one's argument of two.
const BINARY: [ChainOp; 7] = [
    ChainOp::Add,
    ChainOp::Subtract,
    ChainOp::SubtractFrom,
    ChainOp::Multiply,
    ChainOp::PlusNext,
    ChainOp::MinusNext,
    ChainOp::TimesNext,
];

/// Whether what makes an argument for the next link is followed by one that takes it.
fn is_chain(ops: &[ChainOp]) -> bool {
    let takes = |op: Option<&ChainOp>| op.is_some_and(|op| op.may_take_two());
    (0..ops.len()).all(|at| !ops[at].is_for_the_next() || takes(ops.get(at + 1)))
}

/// All chains of two and three links, those of four in which every second call is a product, and some longer
/// ones with negations. There are loops for some of these chains.
fn all_chains() -> Vec<Vec<ChainOp>> {
    let digits = |length: usize, number: usize| -> Vec<ChainOp> {
        (0..length).map(|at| BINARY[number / 7usize.pow(u32::try_from(at).unwrap()) % 7]).collect()
    };
    let mut all: Vec<Vec<ChainOp>> = (0..49).map(|number| digits(2, number)).collect();
    all.extend((0..343).map(|number| digits(3, number)));
    let two = (0..49).map(|number| digits(2, number));
    all.extend(two.clone().map(|two| vec![ChainOp::Multiply, two[0], ChainOp::Multiply, two[1]]));
    all.extend(two.map(|two| vec![two[0], ChainOp::Multiply, two[1], ChainOp::Multiply]));
    all.extend((0..50).map(|number| {
        let mut ops = digits(5, number * 331 + 17);
        ops[number % 5] = ChainOp::Negate;
        ops
    }));
    all.retain(|ops| is_chain(ops));
    all
}

/// Compares chains with plain arithmetic, over rows of every number of vectors, of dense and of other rows,
/// written both ways, to every alignment.
macro_rules! chains {
    ($($name:ident: $type:ident;)*) => { $(
        #[test]
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any numbers will do")]
        #[allow(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "any numbers will do")]
        fn $name() {
            let all: Vec<$type> = (0..60_000u64)
                .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7 ^ at << 60) as $type)
                .collect();
            // The elements of the largest vector, and of the next rows.
            let one = 64 / size_of::<$type>();
            let widths = [1, 3, one - 1, one, one + 1, 2 * one, 5 * one + 3, 8 * one - 1, 16 * one + 7, 33 * one];
            for table in tables() {
                let chains = table.$type.chains();
                for (number, ops) in all_chains().into_iter().enumerate() {
                    // Each chain over one row or a few, and the rows of every chain over other ones.
                    for (rows, width) in [
                        ([1usize, 3][number % 2], widths[number % 10]),
                        ([4usize, 9, 16, 21][number % 4], widths[(number / 4) % 7]),
                    ] {
                        let link = |at: usize, op: ChainOp| {
                            let scalar = (number * (at + 3) >> (at % 3)) % 3 == 2;
                            let step = [0, width, width + at][(number + at) % 3];
                            let last = if scalar { 1 } else { width };
                            if at > 0 && op.is_unary() {
                                return Link { op, values: &[][..], step: 0, scalar: true };
                            }
                            let from = at * 977 + number % 13;
                            Link { op, values: &all[from..from + (rows - 1) * step + last], step, scalar }
                        };
                        let first = link(0, ChainOp::Add);
                        let links: Vec<Link<'_, $type>> =
                            ops.iter().enumerate().map(|(at, &op)| link(at + 1, op)).collect();
                        let read = |link: &Link<'_, $type>, row: usize, at: usize| {
                            let place = row * link.step + if link.scalar { 0 } else { at };
                            link.values.get(place).copied().unwrap_or_default()
                        };
                        let want = |row: usize, at: usize| {
                            let mut a = read(&first, row, at);
                            let mut made: Option<(ChainOp, $type)> = None;
                            for link in &links {
                                let c = read(link, row, at);
                                let b = match made.take() {
                                    Some((ChainOp::PlusNext, b)) => b.wrapping_add(c),
                                    Some((ChainOp::MinusNext, b)) => b.wrapping_sub(c),
                                    Some((_, b)) => b.wrapping_mul(c),
                                    None => c,
                                };
                                match link.op {
                                    ChainOp::Add => a = a.wrapping_add(b),
                                    ChainOp::Subtract => a = a.wrapping_sub(b),
                                    ChainOp::SubtractFrom => a = b.wrapping_sub(a),
                                    ChainOp::Multiply => a = a.wrapping_mul(b),
                                    ChainOp::Negate => a = a.wrapping_neg(),
                                    op => made = Some((op, c)),
                                }
                            }
                            a
                        };
                        let count = rows * width;
                        let want: Vec<$type> = (0..count).map(|at| want(at / width, at % width)).collect();
                        for (start, non_temporal) in [(0, false), (1, false), (0, true), (1, true)] {
                            let mut out = vec![7; count + 2];
                            let place = &mut out[start..start + count];
                            fenced(non_temporal, |stores| match stores {
                                Some(stores) => {
                                    chains.run_non_temporal(stores, &first, &mut links.clone(), rows, place);
                                }
                                None => chains.run(&first, (&mut links.clone(), start == 1), rows, place),
                            });
                            let case = (table.level, &ops, rows, width, non_temporal);
                            assert_eq!(out[start..start + count], want, "{case:?}");
                            let around = [&out[..start], &out[start + count..]].concat();
                            assert_eq!(around, vec![7; 2], "{case:?} wrote outside the output");
                        }
                    }
                }
            }
        }
    )* };
}
chains! {
    chains_of_i64_wrap_around: i64;
    chains_of_i32_wrap_around: i32;
    chains_of_i16_wrap_around: i16;
    chains_of_i8_wrap_around: i8;
    chains_of_u64_wrap_around: u64;
    chains_of_u32_wrap_around: u32;
    chains_of_u16_wrap_around: u16;
    chains_of_u8_wrap_around: u8;
}
