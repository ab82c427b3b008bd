//! Lengths and shapes, within a budget of elements. The lengths are those at which engines tend to fail.

use super::choices::Choices;
use std::ops::Range;

/// Lengths that are drawn: 1, 2, primes, and lengths around SIMD widths, cache lines and blocks, in ascending
/// order.
const LENGTHS: [usize; 42] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 19, 23, 31, 32, 33, 37, 53, 61, 63, 64, 65, 97, 127, 128,
    129, 255, 256, 257, 509, 511, 512, 513, 1021, 1023, 1024, 1025, 4096, 8193,
];

/// The intended size of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// The most elements of the result.
    pub(super) budget: usize,
    /// Whether to use up the budget.
    pub(super) large: bool,
    /// Whether to draw one of the `planes` instead.
    pub(super) planes: bool,
}

/// The block sizes of engines. Results of several tiles are drawn with about as many elements.
const BLOCKS: [usize; 4] = [1024, 2048, 4096, 8192];

/// The first of 2^16 rolls that is large, and the one of 2^10 that is about the size of a block.
const LARGE: u64 = 0x2a60;
const BLOCK: u64 = 0x155;
/// The rolls of 2^16 that draw one of the `planes`.
const PLANES: Range<u64> = 0x1540..0x1560;

/// A size: mostly a few elements, occasionally several tiles, rarely enough for several threads.
pub(super) fn size(choices: &mut dyn Choices, max_elements: usize, large: u16) -> Size {
    let roll = choices.below(1 << 16);
    // Not at the end of the range, because mutations of bytes often set all bits.
    if (LARGE..LARGE + u64::from(large)).contains(&roll) {
        return Size { budget: max_elements, large: true, planes: false };
    }
    let small = |budget: usize| Size {
        budget: budget.min(max_elements),
        large: false,
        planes: PLANES.contains(&roll),
    };
    match roll >> 6 {
        BLOCK => {
            let block = choices.one_of(&BLOCKS) - 1 + choices.index(3);
            let budget = if choices.chance(1, 16) { 4 * block } else { block };
            Size { budget: budget.min(max_elements), large: budget <= max_elements, planes: false }
        }
        0..=639 => small(8),
        640..=927 => small(24),
        928..=1015 => small(70),
        _ => small(300),
    }
}

/// A length from 1 to `most`.
pub(super) fn length(choices: &mut dyn Choices, most: usize) -> usize {
    let known = LENGTHS.partition_point(|&length| length <= most.max(1));
    let plain = known.min(4);
    let place = if choices.chance(5, 16) { choices.index(known) } else { choices.index(plain) };
    // Zero, the plain choice, gives the length 2 if there is room.
    LENGTHS[(place + 1) % if place < plain { plain } else { known }]
}

/// A shape with a rank in this range and at most `size.budget` elements, occasionally without elements.
pub(super) fn shape(choices: &mut dyn Choices, (least, most): (usize, usize), size: Size) -> Vec<usize> {
    if size.large {
        return large_shape(choices, (least, most), size.budget);
    }
    /// In place of this one, any higher rank may be drawn.
    const HIGHEST: usize = 10;
    const RANKS: [usize; 32] = [
        2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 0, 0, 4, 4, 4, 4, 5, 5, 6, 6, 7, 8, 9, HIGHEST,
    ];
    let rank = match choices.one_of(&RANKS) {
        HIGHEST => choices.in_range(HIGHEST, most.max(HIGHEST)),
        rank => rank,
    };
    let rank = rank.max(least).min(most);
    let mut lengths = vec![1; rank];
    let mut left = size.budget;
    // The axis that is drawn first has the most room, so start at any axis.
    let start = choices.index(rank);
    for step in 0..rank {
        let axis = (start + step) % rank;
        lengths[axis] = length(choices, left);
        left /= lengths[axis];
    }
    if rank > 0 && choices.chance(1, 16) {
        lengths[choices.index(rank)] = 0;
    }
    lengths
}

/// A shape with about as many elements as the budget allows.
fn large_shape(choices: &mut dyn Choices, (least, most): (usize, usize), budget: usize) -> Vec<usize> {
    let rank = choices.in_range(1, 4).max(least).min(most);
    let mut lengths = vec![1; rank];
    let mut left = budget;
    // Half of these shapes have all elements on one axis.
    let others = if choices.chance(1, 2) { 0 } else { rank.saturating_sub(1) };
    // Engines treat a transposed operand in a way of its own if both axes are long.
    let most = choices.one_of(&[40, 40, 40, 160]);
    for length in &mut lengths[..others] {
        *length = choices.in_range(1, most.min(left));
        left /= *length;
    }
    if let Some(last) = lengths.last_mut() {
        *last = left;
    }
    if rank > 0 {
        lengths.rotate_right(choices.index(rank));
    }
    lengths
}
