//! Binary functions over short rows.

use super::{same, tables};
use crate::arch::{GridOperand, Pairing, fenced};

#[test]
fn grids_apply_a_function_row_by_row() {
    type Function = fn(f64, f64) -> f64;
    let functions: [(Pairing, Function); 4] = [
        (Pairing::Add, |a, b| a + b),
        (Pairing::Subtract, |a, b| a - b),
        (Pairing::SubtractFrom, |a, b| b - a),
        (Pairing::Multiply, |a, b| a * b),
    ];
    let values: Vec<f64> = (0..700).map(|at| f64::from(at) / 7.0).collect();
    // Aligned to a cache line.
    let mut buffer = vec![0.0; 2_000];
    let line = buffer.as_ptr().align_offset(64);
    for table in tables() {
        let grid = table.float_f64.grid;
        for (blocks, rows, width) in [(1, 1, 8), (3, 5, 8), (2, 3, 16), (1, 7, 9), (4, 2, 31), (2, 2, 40)] {
            let count = blocks * rows * width;
            for (which, &(pairing, function)) in functions.iter().enumerate() {
                for (a, b, scalar) in [([0, width], [3, 1], true), ([70, 0], [0, 11], false)] {
                    let operand = |steps, scalar| GridOperand { values: &values[which..], steps, scalar };
                    let non_temporal = width % 8 == 0;
                    let start = if non_temporal { line } else { line + 1 };
                    buffer.fill(-1.0);
                    let out = &mut buffer[start..start + count];
                    let (x, y) = (operand(a, false), operand(b, scalar));
                    fenced(non_temporal, |stores| grid.run(pairing, x, y, (rows, width), stores, out));
                    let want = |place: usize| {
                        let (block, row, at) = (place / width / rows, place / width % rows, place % width);
                        let [x, y] = [a, b].map(|steps| which + block * steps[0] + row * steps[1]);
                        function(values[x + at], values[if scalar { y } else { y + at }])
                    };
                    let found = &buffer[start..start + count];
                    assert!((0..count).all(|at| same(found[at], want(at))), "{} {pairing:?}", table.level);
                    assert!(
                        buffer[start + count..].iter().all(|&value| value == -1.0),
                        "wrote outside the output"
                    );
                }
            }
        }
    }
}
