//! Inputs of every kind for the functions of `math`, the same in every run.

/// xorshift64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// 32 random bits.
    pub(crate) fn bits32(&mut self) -> u32 {
        u32::try_from(self.bits() >> 32).expect("32 bits")
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// In [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

fn small(i: u64) -> i32 {
    i32::try_from(i).expect("a remainder")
}

/// An argument for exp, log and tanh: any bits, any positive bits, the whole range of finite results of exp,
/// near 0, the range where tanh is not 1, near 1, near the overflow of exp, where exp is subnormal, and
/// subnormal.
pub(crate) fn one(random: &mut Random, i: u64) -> f64 {
    match i % 12 {
        0 => f64::from_bits(random.bits()),
        1 => f64::from_bits(random.bits() >> 1),
        2 | 3 => random.between(-746.0, 710.0),
        4 => random.between(-1.0, 1.0),
        5 => random.between(-1.0, 1.0) * 2f64.powi(-small(i / 12 % 64)),
        6 => random.between(-22.0, 22.0),
        7 => random.between(0.4, 2.4),
        8 => 1.0 + random.between(-0.5, 0.5) * 2f64.powi(-small(i / 12 % 52)),
        9 => random.between(709.0, 710.0),
        10 => random.between(-746.0, -707.0),
        _ => f64::from_bits(random.bits() >> 12 >> (i / 12 % 52)),
    }
}

/// Arguments for power: any bits; any positive base, a base around 1, very near 1 or subnormal, each with an
/// exponent for which the result is anywhere from 0 to infinity or close to either; integer exponents; small
/// exponents.
pub(crate) fn two(random: &mut Random, i: u64) -> (f64, f64) {
    let x = match i % 8 {
        0 => f64::from_bits(random.bits()),
        1 | 2 => f64::from_bits(random.bits() >> 1),
        3 => random.between(0.5, 2.0),
        4 => 1.0 + random.between(-0.5, 0.5) * 2f64.powi(-small(i / 8 % 52)),
        5 => f64::from_bits(random.bits() >> 12),
        6 => random.between(-20.0, 20.0).round(),
        _ => random.between(-20.0, 20.0),
    };
    let log = if (x - 1.0).abs() < 0.1 { (x - 1.0).ln_1p() } else { x.abs().ln() };
    let y = match i / 8 % 6 {
        0 if i.is_multiple_of(8) => f64::from_bits(random.bits()),
        0 => random.between(-2.0, 2.0),
        1 => random.between(-40.0, 40.0).round(),
        2 => random.between(-746.0, -706.0) / log,
        3 => random.between(708.0, 710.0) / log,
        _ => random.between(-746.0, 710.0) / log,
    };
    (x, y)
}

/// As `two`, for f32.
#[allow(clippy::cast_possible_truncation, reason = "the nearest f32 is intended")]
pub(crate) fn two_f32(random: &mut Random, i: u64) -> (f32, f32) {
    let bits = random.bits32();
    let x = match i % 6 {
        0 => f32::from_bits(bits),
        1 | 2 => f32::from_bits(bits >> 1),
        3 => random.between(0.5, 2.0) as f32,
        4 => random.between(-20.0, 20.0).round() as f32,
        _ => f32::from_bits(bits >> 9),
    };
    let log = f64::from(x.abs()).ln();
    let y = match i / 6 % 5 {
        0 => f32::from_bits(random.bits32()),
        1 => random.between(-40.0, 40.0).round() as f32,
        2 => (random.between(-104.0, -86.0) / log) as f32,
        _ => (random.between(-104.0, 89.0) / log) as f32,
    };
    (x, y)
}
