//! The constants of `log` and `power` in f64 and f32, for which they are written once. Polynomials
//! are minimax fits (Remez exchange, 260 bits), listed from the constant on.

use super::vector::{ENTRIES, Vector};

/// An element type of these functions.
pub(crate) trait Real: Vector<Element = Self> + 'static {
    /// The smallest and the largest normal number.
    const LEAST: Self;
    const MOST: Self;
    const ZERO: Self;
    const ONE: Self;
    const HALF: Self;
    const NAN: Self;
    const INFINITY: Self;
    /// The bits of the mantissa, and their number.
    const MANTISSA: Self;
    const MANTISSA_BITS: i32;
    /// An integer in the low bits of this number is added to it.
    const WHOLE: Self;
    /// `WHOLE` and the bias of exponents.
    const WHOLE_BIAS: Self;
    /// Multiplies subnormal numbers, and the exponent of that.
    const RAISE: Self;
    const RAISED: Self;

    /// The least m of `log`, 1 - 9.5/32, and the bits of 1 less those of this number.
    const LOW: Self;
    const ONE_LESS_LOW: Self;
    /// Where m is in the table's intervals, a number c near 1/m: m c - 1 is exact and at most 0.0342.
    const LOG_INVERSE: &'static [Self; ENTRIES];
    /// -ln c as a number whose sum with `LN2_HI` times an exponent is exact, and a rest.
    const LOG_HIGH: &'static [Self; ENTRIES];
    const LOG_LOW: &'static [Self; ENTRIES];
    /// The first bits of ln 2, and the rest.
    const LN2_HI: Self;
    const LN2_LO: Self;
    /// (ln(1 + r) - r) / r^2.
    const LOG_TAIL: &'static [Self];
    /// 1/3 in two parts.
    const THIRD: Self;
    const THIRD_REST: Self;
    /// (ln(1 + r) - r + r^2/2 - r^3/3) / r^4.
    const POWER_TAIL: &'static [Self];

    /// 2^70. As an exponent, this or any larger number gives only 0, 1 and infinity.
    const LARGEST_EXPONENT: Self;
    /// Up to this |x|, e^x is neither infinite nor subnormal.
    const EXP_SAFE: Self;
    /// e^x is infinite above this number and rounds to 0 below its negative.
    const EXP_LIMIT: Self;

    /// `exp_parts` of `f64.rs`.
    fn exp_parts<V: Vector<Element = Self>, const U: usize>(
        x: [V; U],
        rest: Option<[V; U]>,
    ) -> ([V; U], [V; U]);
    /// `exp_whole` of `f64.rs`.
    fn exp_whole<V: Vector<Element = Self>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U];
    /// `exp_scaled` of `f64.rs`.
    fn exp_scaled<V: Vector<Element = Self>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U];
    /// The hyperbolic tangent.
    fn tanh_of<V: Vector<Element = Self>, const U: usize>(x: [V; U]) -> [V; U];
    /// x^y, given |x|^y rounded for finite positive |x|, and anything else for the other numbers.
    fn power_of_size(x: Self, y: Self, size: Self) -> Self;
    /// The derivative of x^y by x, given |x|^(y-1).
    fn slope_of_size(x: Self, y: Self, size: Self) -> Self;
    /// The derivative of x^y by y, given |x|^y.
    fn slope_by_exponent_of_size(x: Self, y: Self, size: Self) -> Self;
}

/// A polynomial in `r`, by Horner's rule.
#[inline(always)]
pub(super) fn polynomial<V: Vector<Element: Real>>(r: V, coefficients: &[V::Element]) -> V {
    let (last, others) = coefficients.split_last().expect("a polynomial has coefficients");
    let mut value = r.like(*last);
    for c in others.iter().rev() {
        value = value.multiply_add(r, r.like(*c));
    }
    value
}

macro_rules! real {
    ($type:ident, $bits:ident, $functions:ident, $tanh:path {
        mantissa_bits: $mantissa:literal,
        bias: $bias:literal,
        $($name:ident: $of:ty = $value:expr;)*
    }) => {
        impl Real for $type {
            const LEAST: $type = $type::MIN_POSITIVE;
            const MOST: $type = $type::MAX;
            const ZERO: $type = 0.0;
            const ONE: $type = 1.0;
            const HALF: $type = 0.5;
            const NAN: $type = $type::NAN;
            const INFINITY: $type = $type::INFINITY;
            const MANTISSA: $type = $type::from_bits((1 << $mantissa) - 1);
            const MANTISSA_BITS: i32 = $mantissa;
            const WHOLE: $type = (1_u64 << $mantissa) as $type;
            const WHOLE_BIAS: $type = ((1_u64 << $mantissa) + $bias) as $type;
            const RAISE: $type = (4_u64 << $mantissa) as $type;
            const RAISED: $type = ($mantissa + 2) as $type;
            const LOW: $type = 1.0 - 9.5 / 32.0;
            const ONE_LESS_LOW: $type = $type::from_bits((1.0 as $type).to_bits() - Self::LOW.to_bits());
            const LARGEST_EXPONENT: $type = 1_180_591_620_717_411_303_424.0;
            const EXP_SAFE: $type = super::$functions::EXP_SAFE;
            $(const $name: $of = $value;)*

            #[inline(always)]
            fn exp_parts<V: Vector<Element = $type>, const U: usize>(
                x: [V; U],
                rest: Option<[V; U]>,
            ) -> ([V; U], [V; U]) {
                super::$functions::exp_parts(x, rest)
            }
            #[inline(always)]
            fn exp_whole<V: Vector<Element = $type>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U] {
                super::$functions::exp_whole(shifted, p)
            }
            #[inline(always)]
            fn exp_scaled<V: Vector<Element = $type>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U] {
                super::$functions::exp_scaled(shifted, p)
            }

            #[inline(always)]
            fn tanh_of<V: Vector<Element = $type>, const U: usize>(x: [V; U]) -> [V; U] {
                $tanh(x)
            }

            #[inline(always)]
            fn power_of_size(x: $type, y: $type, size: $type) -> $type {
                // 2^52 + |y|, or |y| if that is larger (2^23 for f32). The last bit is the parity of an
                // integer y below 2^53.
                let (ax, ay) = (x.abs(), y.abs());
                let fine = ay < Self::WHOLE;
                let whole = if fine { ay + Self::WHOLE } else { ay };
                let integer = !fine | (whole - Self::WHOLE == ay);
                let parity =
                    if integer & (ay < 2.0 * Self::WHOLE) { whole.to_bits() << ($bits::BITS - 1) } else { 0 };
                let edge = if (ax == 0.0) == (y < 0.0) { $type::INFINITY } else { 0.0 };
                let at_edge = (ax == 0.0) | (ax == $type::INFINITY);
                let size = if at_edge { edge } else { size };
                let signed = $type::from_bits(size.to_bits() ^ (x.to_bits() & parity));
                let signed = if (x < 0.0) & !integer & !at_edge { $type::NAN } else { signed };
                let signed = if x.is_nan() | y.is_nan() { $type::NAN } else { signed };
                if (y == 0.0) | (x == 1.0) { 1.0 } else { signed }
            }

            #[inline(always)]
            fn slope_of_size(x: $type, y: $type, size: $type) -> $type {
                // A float that is too large to have a ones digit is even, and y - 1 rounds to it or to
                // another even number. The power is then that of |x|, with the sign of x.
                let even = (y.abs() >= 2.0 * Self::WHOLE) & y.is_finite();
                let power = Self::power_of_size(if even { x.abs() } else { x }, y - 1.0, size);
                let power = if even & x.is_sign_negative() { -power } else { power };
                // y - 1 may round to an integer when y is not one. A negative x has no such power.
                let none = (x < 0.0) & Self::power_of_size(x, y, 1.0).is_nan();
                let slope = if none { $type::NAN } else { y * power };
                if y == 0.0 { 0.0 } else { slope }
            }

            #[inline(always)]
            fn slope_by_exponent_of_size(x: $type, y: $type, size: $type) -> $type {
                let [log] = super::log::log([x]);
                let slope = Self::power_of_size(x, y, size) * log;
                if (x == 0.0) & (y >= 0.0) { 0.0 } else { slope }
            }
        }
    };
}

real! { f64, u64, f64, super::tanh::tanh_f64 {
    mantissa_bits: 52,
    bias: 1023,
    LOG_INVERSE: &'static [f64; ENTRIES] = &[
        1.375, 1.34375, 1.28125, 1.21875, 1.1875, 1.15625, 1.09375, 1.0625, 1.03125, 1.0, 0.9375, 0.890625,
        0.84375, 0.796875, 0.765625, 0.71875,
    ];
    LOG_HIGH: &'static [f64; ENTRIES] = &[
        -0.3184537310153246, -0.2954642130061984, -0.24783616396598518, -0.19782574335113168,
        -0.17185025685466826, -0.14518200978636742, -0.0896121587138623, -0.0606246218085289,
        -0.03077165875583887, 0.0, 0.0645385212264955, 0.1158318156376481, 0.16989903687499464,
        0.22705745068378747, 0.26706278533674777, 0.33024168689735234,
    ];
    LOG_LOW: &'static [f64; ENTRIES] = &[
        -1.0321002321991519e-10, 1.1236252983280051e-10, 6.140392216684597e-11, 2.1211797264991407e-11,
        -7.199096271943244e-11, -5.8130480900099126e-11, 2.4175167299176948e-11, -7.905942434121756e-12,
        8.908518263116906e-11, 0.0, -8.892433270634855e-11, -1.1252640052221784e-10,
        -7.959716268154532e-11, -4.844138023690714e-11, -8.770251924838942e-11, -2.6775481557811462e-11,
    ];
    // 32 bits: the product with an exponent is exact.
    LN2_HI: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
    LN2_LO: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
    // Within 2^-60.9 of ln(1 + r).
    LOG_TAIL: &'static [f64] = &[
        -0.5, 0.3333333333333215, -0.24999999999995529, 0.2000000000985822, -0.1666666668673575,
        0.1428568881342735, -0.124999636726541, 0.1113704309138119, -0.10028801886380856,
    ];
    THIRD: f64 = 1.0 / 3.0;
    THIRD_REST: f64 = 1.850371707708594e-17;
    // Within 2^-66.6 of ln(1 + r).
    POWER_TAIL: &'static [f64] = &[
        -0.24999999999998343, 0.1999999999999646, -0.16666666678246345, 0.14285714304200628,
        -0.12499973233737918, 0.11111076896617765, -0.10025197794996772, 0.09117867348715655,
    ];
    EXP_LIMIT: f64 = 800.0;
} }

real! { f32, u32, f32, super::tanh::tanh_f32 {
    mantissa_bits: 23,
    bias: 127,
    LOG_INVERSE: &'static [f32; ENTRIES] = &[
        1.375, 1.34375, 1.28125, 1.21875, 1.1875, 1.15625, 1.09375, 1.0625, 1.03125, 1.0, 0.9375, 0.890625,
        0.84375, 0.796875, 0.765625, 0.71875,
    ];
    LOG_HIGH: &'static [f32; ENTRIES] = &[
        -0.31845093, -0.2954712, -0.24783325, -0.19781494, -0.17184448, -0.14517212, -0.08959961,
        -0.060638428, -0.030761719, 0.0, 0.06454468, 0.11584473, 0.16989136, 0.22705078, 0.26705933,
        0.3302307,
    ];
    LOG_LOW: &'static [f32; ENTRIES] = &[
        -2.8033842e-06, 6.9785124e-06, -2.9119515e-06, -1.0801924e-05, -5.7745046e-06, -9.890704e-06,
        -1.2549314e-05, 1.3805918e-05, -9.939917e-06, 0.0, -6.156597e-06, -1.2911038e-05, 7.679373e-06,
        6.669385e-06, 3.459077e-06, 1.097398e-05,
    ];
    // 15 bits.
    LN2_HI: f32 = f32::from_bits(0x3f31_7200);
    LN2_LO: f32 = f32::from_bits(0x35bf_be8e);
    // Within 2^-30.9 of ln(1 + r).
    LOG_TAIL: &'static [f32] = &[-0.49999994, 0.3333332, -0.25024295, 0.2002765];
    THIRD: f32 = 1.0 / 3.0;
    THIRD_REST: f32 = -9.934108e-09;
    // Within 2^-35.2 of ln(1 + r).
    POWER_TAIL: &'static [f32] = &[-0.2499999, 0.20014937, -0.16690028];
    EXP_LIMIT: f32 = 110.0;
} }
