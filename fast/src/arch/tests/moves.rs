//! Kernels that move elements: copies, repetition and transposition.

use super::{copy_out, tables};
use crate::arch::{Across, Expand, Permutations, Table};

#[test]
fn non_temporal_copies_are_exact() {
    for table in tables() {
        for (start, count) in [(0, 0), (0, 1), (1, 5), (3, 63), (0, 64), (5, 200), (63, 777)] {
            let from: Vec<u8> = (0..=255).cycle().take(count).collect();
            let mut to = vec![9u8; 1000];
            copy_out(table.u8.copy, &from, &mut to[start..start + count]);
            assert_eq!(to[start..start + count], from, "{}", table.level);
            assert!(to[..start].iter().chain(&to[start + count..]).all(|&byte| byte == 9));
        }
    }
}

#[test]
fn columns_are_transposed_into_rows() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(table: &Table, kernel: Across<T>, from: &[T], none: T) {
        for height in [1, 3, 4, 7, 8, 12, 16] {
            for (count, step) in [(0, 5), (1, 20), (3, 16), (4, 17), (9, 23), (16, 40), (29, 21)] {
                let mut out = vec![none; height * (count + 1)];
                let mut rows: Vec<&mut [T]> =
                    out.chunks_mut(count + 1).map(|row| &mut row[..count]).collect();
                let reach = if count == 0 { 0 } else { (count - 1) * step + height };
                kernel.run(&from[..reach], step, &mut rows);
                for (row, out) in out.chunks(count + 1).enumerate() {
                    assert_eq!(out[count], none, "wrote outside the output");
                    let want: Vec<T> = (0..count).map(|at| from[at * step + row]).collect();
                    assert_eq!(out[..count], want, "{} {height} by {count}", table.level);
                }
            }
        }
    }
    for table in tables() {
        check(table, table.f64.across, &(0..700).map(f64::from).collect::<Vec<_>>(), -1.0);
        check(table, table.u32.across, &(0..700).collect::<Vec<_>>(), 1_000);
        check(table, table.i16.across, &(0..700).collect::<Vec<_>>(), -1);
    }
}

#[test]
fn expansion_repeats_each_element() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(table: &Table, kernel: Expand<T>, from: &[T], zero: T) {
        let mut permutations = Permutations::default();
        for times in (1..20).chain([31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 33]) {
            for count in [0, 1, 7, 8, 16, 17, 33, 50] {
                // Allocated with its length, so that the address sanitizer sees reads behind it.
                let source = from[..count].to_vec();
                let mut out = vec![zero; count * times + 1];
                kernel.run(&source, times, &mut permutations, &mut out[..count * times]);
                let want: Vec<T> = from[..count].iter().flat_map(|&value| vec![value; times]).collect();
                assert_eq!(out[..count * times], want, "{} {count} by {times}", table.level);
                assert_eq!(out[count * times], zero, "wrote outside the output");
                // The source has more elements than the output needs.
                let mut out = vec![zero; 50 * times];
                kernel.run(from, times, &mut permutations, &mut out[..count * times]);
                assert_eq!(out[..count * times], want, "{} {count} by {times}", table.level);
                assert!(out[count * times..].iter().all(|&value| value == zero), "wrote outside the output");
                // The output goes on after what the source fills, or ends within a row.
                let mut out = vec![zero; count * times + 70];
                kernel.run(&from[..count], times, &mut permutations, &mut out);
                assert_eq!(out[..count * times], want, "{} {count} by {times}", table.level);
                assert!(out[count * times..].iter().all(|&value| value == zero), "wrote outside the output");
                let mut out = vec![zero; (count * times).saturating_sub(1)];
                kernel.run(&from[..count], times, &mut permutations, &mut out);
                assert_eq!(out, want[..out.len()], "{} {count} by {times}", table.level);
            }
        }
    }
    for table in tables() {
        check(table, table.f64.expand, &(1..51).map(f64::from).collect::<Vec<_>>(), 0.0);
        check(table, table.i32.expand, &(1..51).collect::<Vec<_>>(), 0);
        check(table, table.i16.expand, &(1..101).collect::<Vec<_>>(), 0);
        check(table, table.u8.expand, &(1..51).collect::<Vec<_>>(), 0);
    }
}
