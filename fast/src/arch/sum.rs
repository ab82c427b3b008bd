//! Sums: of rows that are stored, and of the values of a [`chain`](super::chain).
//!
//! Element `i` of a row is added to partial sum `i % LANES`. Then the upper half of the partial sums is added
//! to the lower half, until one is left. This order is part of the result, and the same on every level. A
//! short row needs fewer partial sums: the others would be 0.
//!
//! ```text
//!       row     [ v ][ v ][ v ][ v ]  [ v ][ v ][ v ][ v ]  [ v ][ v ][ r     four vectors are LANES
//!                 |    |    |    |      |    |    |    |      |    |    |     elements here
//!       lanes   [ + ][ + ][ + ][ + ]--[ + ][ + ][ + ][ + ]--[ + ][ + ][ +     in registers
//! ```

use super::chain::{FUNCTIONS, LANES, Link};
use super::group::compute;
use super::vector::Vector;

/// Adds the sum of each row to its element of `sums`. All rows have the same length. `A`, `B` and `C` vectors
/// are a quarter of the partial sums, half of them, and all.
///
/// A call for each row would take longer than a short row itself (the gradients of 1,024 elements in
/// `benches/sweep`).
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn of_rows<V: Vector, const A: usize, const B: usize, const C: usize>(
    sums: &mut [V::Element],
    values: &[V::Element],
) {
    const { assert!(4 * A == C && 2 * B == C && C * V::WIDTH == LANES) }
    let width = values.len().checked_div(sums.len()).unwrap_or(0);
    // `width * sums.len()` is at most the number of values, so it does not overflow.
    assert!(width * sums.len() == values.len(), "rows of different lengths");
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        match width {
            0 => {}
            _ if width <= LANES / 4 => each_row::<V, A>(sums, values, width),
            _ if width <= LANES / 2 => each_row::<V, B>(sums, values, width),
            _ => each_row::<V, C>(sums, values, width),
        }
    }
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn each_row<V: Vector, const N: usize>(sums: &mut [V::Element], values: &[V::Element], width: usize) {
    for (sum, row) in sums.iter_mut().zip(values.chunks_exact(width)) {
        // SAFETY: the caller guarantees the instructions.
        *sum = sum.add(unsafe { of_row::<V, N>(row) });
    }
}

/// The sum of a row in `N` vectors of partial sums.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn of_row<V: Vector, const N: usize>(row: &[V::Element]) -> V::Element {
    let (from, count) = (row.as_ptr(), row.len());
    let mut at = 0;
    // SAFETY: the caller guarantees the instructions. Every vector is inside the row, and the last one has as
    // many elements as are left.
    unsafe {
        let mut lanes = [V::splat(V::Element::default()); N];
        while count - at >= N * V::WIDTH {
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = lane.add(V::load(from.add(at + k * V::WIDTH)));
            }
            at += N * V::WIDTH;
        }
        for lane in &mut lanes {
            if count - at < V::WIDTH {
                if at < count {
                    *lane = lane.add(V::load_first(from.add(at), count - at));
                }
                break;
            }
            *lane = lane.add(V::load(from.add(at)));
            at += V::WIDTH;
        }
        total(lanes)
    }
}

/// The sum of partial sums: the upper half is added to the lower half until one is left.
#[inline(always)]
fn total<V: Vector, const N: usize>(mut lanes: [V; N]) -> V::Element {
    const { assert!(N.is_power_of_two() && N <= LANES) }
    // The lengths are literals, so that each step is unrolled.
    macro_rules! add_halves {
        ($($half:literal)*) => { $(
            if N > $half {
                for lane in 0..$half {
                    lanes[lane] = lanes[lane].add(lanes[(lane + $half) % N]);
                }
            }
        )* };
    }
    add_halves!(32 16 8 4 2 1);
    lanes[0].sum_of_lanes()
}

/// Adds the sum of a chain's values over each row of `width` elements to its element of `sums`. The values
/// are computed in groups of `U` vectors; `ACC` vectors are all partial sums.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn of_chain<V: Vector, const U: usize, const ACC: usize>(
    first: &Link<'_, V::Element>,
    links: &mut [Link<'_, V::Element>],
    sums: &mut [V::Element],
    width: usize,
) {
    const {
        assert!(<V::Element as Vector>::WIDTH == 1);
        assert!(ACC * V::WIDTH == LANES && (ACC.is_multiple_of(U) || U.is_multiple_of(ACC)));
    }
    check(first, links, sums.len(), width);
    if width == 0 {
        return;
    }
    let mut first = Link { op: first.op, values: first.values, step: first.step, scalar: first.scalar };
    for (row, sum) in sums.iter_mut().enumerate() {
        if row > 0 {
            first.advance();
            links.iter_mut().for_each(Link::advance);
        }
        // SAFETY: the caller guarantees the instructions, and the check the elements of every row.
        *sum = sum.add(unsafe { of_chain_over_row::<V, U, ACC>(&first, links, width) });
    }
}

/// Checks that the arguments of a chain have values for some rows.
#[inline(always)]
fn check<T>(first: &Link<'_, T>, links: &[Link<'_, T>], rows: usize, width: usize) {
    let enough = |link: &Link<'_, T>| rows == 0 || link.is_long_enough(rows, width.max(1));
    assert!(
        enough(first) && links.iter().all(|link| link.op.is_unary() || enough(link)),
        "an argument of a chain is shorter than the range that is added up"
    );
}

/// The sum of a chain's values over a row.
///
/// # Safety
/// The machine has the instructions of `V`. `count` is not 0. Every vector argument has `count` elements, and
/// a scalar has one.
#[inline(always)]
unsafe fn of_chain_over_row<V: Vector, const U: usize, const ACC: usize>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    count: usize,
) -> V::Element {
    let round = const { (if U > ACC { U } else { ACC }) * V::WIDTH };
    let mut at = 0;
    // SAFETY: the caller guarantees the instructions and the elements. A group of `U` vectors begins at
    // `at + done` in a round that is inside the row.
    unsafe {
        let mut lanes = [V::splat(V::Element::default()); ACC];
        while count - at >= round {
            let mut done = 0;
            while done < round {
                let a = compute::<V, U, 1, FUNCTIONS, false>(first, links, [0, at + done]);
                for (k, a) in a.into_iter().enumerate() {
                    let lane = (done / V::WIDTH + k) % ACC;
                    lanes[lane] = lanes[lane].add(a);
                }
                done += U * V::WIDTH;
            }
            at += round;
        }
        if at < count {
            finish::<V, ACC>(first, links, at..count, &mut lanes);
        }
        total(lanes)
    }
}

/// Adds what is left of a row, less than a round, to the partial sums. The last vector is the end of the row:
/// it computes some elements again, which are not added again.
///
/// # Safety
/// As for [`of_chain_over_row`]; the range ends with the row and begins at a multiple of `LANES`.
#[inline(always)]
unsafe fn finish<V: Vector, const ACC: usize>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    left: std::ops::Range<usize>,
    lanes: &mut [V; ACC],
) {
    let (mut at, count) = (left.start, left.end);
    let mut sums = [V::Element::default(); LANES];
    // SAFETY: the caller guarantees the instructions and the elements. `sums` has room for the `ACC` vectors,
    // and a vector of partial sums begins at a multiple of its width.
    unsafe {
        for (k, lane) in lanes.iter().enumerate() {
            lane.store(sums.as_mut_ptr().add(k * V::WIDTH));
        }
        while at < count && count >= V::WIDTH {
            let from = at.min(count - V::WIDTH);
            let [a] = compute::<V, 1, 1, FUNCTIONS, false>(first, links, [0, from]);
            let lane = sums.as_mut_ptr().add(at % LANES);
            if from == at {
                V::load(lane).add(a).store(lane);
            } else {
                add_end(a, at - from, &mut sums[at % LANES..]);
            }
            at = from + V::WIDTH;
        }
        while at < count {
            let [a] = compute::<V::Element, 1, 1, FUNCTIONS, false>(first, links, [0, at]);
            sums[at % LANES] = sums[at % LANES].add(a);
            at += 1;
        }
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = V::load(sums.as_ptr().add(k * V::WIDTH));
        }
    }
}

/// The elements of the widest vector.
const WIDEST: usize = 16;

/// Adds the elements of a vector, from `from` on, to the first of some sums.
///
/// # Panics
/// If there are fewer sums.
#[inline(always)]
fn add_end<V: Vector>(a: V, from: usize, sums: &mut [V::Element]) {
    const { assert!(V::WIDTH <= WIDEST) }
    let mut values = [V::Element::default(); WIDEST];
    // SAFETY: `values` has as many elements as the widest vector.
    unsafe { a.store(values.as_mut_ptr()) };
    let end = &values[from..V::WIDTH];
    for (sum, &value) in sums[..end.len()].iter_mut().zip(end) {
        *sum = sum.add(value);
    }
}

/// Adds the values of the chain over `count` elements to as many sums.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn add_chain<V: Vector, const U: usize>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    count: usize,
    sums: &mut [V::Element],
) {
    check(first, links, 1, count);
    assert!(sums.len() >= count, "a chain is added to fewer elements than it has");
    let mut at = 0;
    // SAFETY: the caller guarantees the instructions, and the assertions the elements of a group. `at` is at
    // most `count`, which is not limited if all arguments are scalars, so nothing is added to `at` before the
    // comparison.
    unsafe {
        while count - at >= U * V::WIDTH {
            add_group::<V, U>(first, links, at, &mut sums[at..]);
            at += U * V::WIDTH;
        }
        while count - at >= V::WIDTH {
            add_group::<V, 1>(first, links, at, &mut sums[at..]);
            at += V::WIDTH;
        }
        if at < count && count >= V::WIDTH {
            let from = count - V::WIDTH;
            let [a] = compute::<V, 1, 1, FUNCTIONS, false>(first, links, [0, from]);
            return add_end(a, at - from, &mut sums[at..]);
        }
        while at < count {
            add_group::<V::Element, 1>(first, links, at, &mut sums[at..]);
            at += 1;
        }
    }
}

/// Adds `U` vectors of the chain, from element `at` on, to the first sums.
///
/// # Safety
/// As for [`compute`], for the arguments. There are `U * V::WIDTH` sums.
#[inline(always)]
unsafe fn add_group<V: Vector, const U: usize>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
    sums: &mut [V::Element],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let a = compute::<V, U, 1, FUNCTIONS, false>(first, links, [0, at]);
        for (k, a) in a.into_iter().enumerate() {
            let sum = sums.as_mut_ptr().add(k * V::WIDTH);
            V::load(sum).add(a).store(sum);
        }
    }
}
