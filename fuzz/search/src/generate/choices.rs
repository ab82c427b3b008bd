//! The source of the generator's decisions: a seed, or the bytes of a fuzzer.
//!
//! Zero is always the plain choice: a source of zeros draws a small, dense, accepted request.

/// A source of decisions.
pub trait Choices {
    /// A number in `0..bound`. `bound` is at least 1.
    fn below(&mut self, bound: u64) -> u64;

    /// An index into a list of this length, which is at least 1.
    #[allow(clippy::cast_possible_truncation, reason = "below a bound that was a usize")]
    fn index(&mut self, length: usize) -> usize {
        self.below(length.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    fn in_range(&mut self, low: usize, high: usize) -> usize {
        low + self.index(high.saturating_sub(low).saturating_add(1))
    }

    /// True with the probability `parts` / `of`.
    fn chance(&mut self, parts: u64, of: u64) -> bool {
        // Counted from the top, so that 0 means "no".
        parts != 0 && self.below(of) >= of.saturating_sub(parts)
    }

    /// 64 bits.
    fn bits(&mut self) -> u64 {
        self.below(1 << 32) << 32 | self.below(1 << 32)
    }
}

impl dyn Choices + '_ {
    /// One of these items. There must be at least one.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }
}

/// Choices from a seed: splitmix64, identical on every platform and in every version.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// The choices of this seed.
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Choices for Seeded {
    #[allow(clippy::cast_possible_truncation, reason = "the upper half of a product with a u64")]
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn bits(&mut self) -> u64 {
        self.next()
    }
}

/// Choices from bytes: each takes as few bytes as hold the bound, modulo the bound. Zeros follow the last
/// byte.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'a> {
    left: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// The choices of these bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { left: bytes }
    }

    /// The bytes that are still unused.
    pub(super) fn left(&self) -> &'a [u8] {
        self.left
    }

    /// Up to eight bytes as a number, the lowest first.
    pub(super) fn number(&mut self, bytes: usize) -> u64 {
        let (taken, left) = self.left.split_at(bytes.min(self.left.len()));
        self.left = left;
        taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        self.number(bits.div_ceil(8) as usize) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_choices() {
        let mut seeded = Seeded::new(7);
        let drawn: Vec<u64> = (0..4).map(|_| seeded.below(1000)).collect();
        assert_eq!(drawn, [389, 16, 900, 582]);
    }

    #[test]
    fn bytes_are_taken_as_needed_and_end_in_zeros() {
        let mut bytes = Bytes::new(&[5, 7, 1, 9]);
        assert_eq!(bytes.below(1), 0);
        assert_eq!(bytes.below(4), 1);
        assert_eq!(bytes.below(1000), 263);
        assert_eq!(bytes.left(), [9]);
        assert_eq!(bytes.bits(), 9 << 32);
        assert_eq!(bytes.below(u64::MAX), 0);
    }

    #[test]
    fn zero_means_no() {
        let mut none = Bytes::new(&[]);
        assert!(!none.chance(1, 2) && !none.chance(255, 256) && !none.chance(0, 1));
        assert!(none.chance(1, 1));
        assert_eq!((none.in_range(3, 9), none.in_range(3, 3)), (3, 3));
        let choices: &mut dyn Choices = &mut none;
        assert_eq!(choices.one_of(&['a', 'b']), 'a');
    }
}
