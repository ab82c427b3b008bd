//! The distance of two numbers in floats, where infinity follows the largest number. It is 0 for two NaNs,
//! and `u64::MAX` for a NaN and a number or for zeros of different signs.

pub(crate) fn f64(a: f64, b: f64) -> u64 {
    if a.is_nan() || b.is_nan() || (a == 0.0 && b == 0.0) {
        return if a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) { 0 } else { u64::MAX };
    }
    let place = |x: f64| {
        let size = (x.to_bits() & !(1 << 63)).cast_signed();
        if x.is_sign_negative() { -size } else { size }
    };
    place(a).abs_diff(place(b))
}

pub(crate) fn f32(a: f32, b: f32) -> u64 {
    if a.is_nan() || b.is_nan() || (a == 0.0 && b == 0.0) {
        return if a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) { 0 } else { u64::MAX };
    }
    let place = |x: f32| {
        let size = i64::from(x.to_bits() & !(1 << 31));
        if x.is_sign_negative() { -size } else { size }
    };
    place(a).abs_diff(place(b))
}
