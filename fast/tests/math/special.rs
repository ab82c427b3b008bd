//! Values that must be exact by clause V-4 and IEEE 754-2019, compared bit by bit (all NaNs are equal).

use broadcheck_fast::math::{
    exp_f32_scalar, exp_f64_scalar, log_f32_scalar, log_f64_scalar, power_f32_scalar, power_f64_scalar,
    tanh_f32_scalar, tanh_f64_scalar,
};

macro_rules! tables {
    ($module:ident $type:ident $exp:ident $log:ident $tanh:ident $power:ident $least:expr, $odd_limit:expr) => {
        mod $module {
            use super::*;
            const INF: $type = $type::INFINITY;
            const NAN: $type = $type::NAN;
            const MAX: $type = $type::MAX;
            const LEAST: $type = $least;

            fn same(got: $type, want: $type, what: &str) {
                assert!(
                    got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()),
                    "{what}: found {got:e}, expected {want:e}"
                );
            }

            #[test]
            fn exp() {
                for (x, want) in [
                    (0.0, 1.0),
                    (-0.0, 1.0),
                    (INF, INF),
                    (-INF, 0.0),
                    (NAN, NAN),
                    (-NAN, NAN),
                    (MAX, INF),
                    (-MAX, 0.0),
                    (LEAST, 1.0),
                    (-LEAST, 1.0),
                    (1000.0, INF),
                    (-1000.0, 0.0),
                ] {
                    same($exp(x), want, &format!("exp {x:e}"));
                }
            }

            #[test]
            fn log() {
                for (x, want) in [
                    (0.0, -INF),
                    (-0.0, -INF),
                    (1.0, 0.0),
                    (INF, INF),
                    (-INF, NAN),
                    (NAN, NAN),
                    (-NAN, NAN),
                    (-1.0, NAN),
                    (-LEAST, NAN),
                    (-MAX, NAN),
                ] {
                    same($log(x), want, &format!("log {x:e}"));
                }
            }

            #[test]
            fn tanh() {
                for (x, want) in [
                    (0.0, 0.0),
                    (-0.0, -0.0),
                    (INF, 1.0),
                    (-INF, -1.0),
                    (NAN, NAN),
                    (-NAN, NAN),
                    (MAX, 1.0),
                    (-MAX, -1.0),
                    (LEAST, LEAST),
                    (-LEAST, -LEAST),
                    ($type::MIN_POSITIVE, $type::MIN_POSITIVE),
                    (30.0, 1.0),
                ] {
                    same($tanh(x), want, &format!("tanh {x:e}"));
                }
            }

            #[test]
            fn power() {
                let ys = [
                    0.0,
                    -0.0,
                    0.5,
                    -0.5,
                    1.0,
                    -1.0,
                    2.0,
                    -2.0,
                    3.0,
                    -3.0,
                    1.5,
                    -1.5,
                    LEAST,
                    -LEAST,
                    MAX,
                    -MAX,
                    INF,
                    -INF,
                    NAN,
                    $odd_limit,
                    -$odd_limit,
                    $odd_limit - 1.0,
                    $odd_limit + 1.0,
                ];
                let odd = |y: $type| y.is_finite() && y % 2.0 != 0.0 && y.fract() == 0.0;
                let whole = |y: $type| y.is_infinite() || y.fract() == 0.0;
                for y in ys {
                    let what = |x: $type| format!("power {x:e} {y:e}");
                    for x in [
                        1.0, 0.0, -0.0, INF, -INF, NAN, -1.0, 2.0, -2.0, 0.5, -0.5, LEAST, -LEAST, MAX, -MAX,
                        1.5,
                    ] {
                        let got = $power(x, y);
                        let (small, large) = (x.abs() < 1.0, x.abs() > 1.0);
                        // IEEE 754-2019, 9.2.1, in its order.
                        if y == 0.0 || x == 1.0 {
                            same(got, 1.0, &what(x));
                        } else if x.is_nan() || y.is_nan() {
                            same(got, NAN, &what(x));
                        } else if y.is_infinite() {
                            let want = if x == -1.0 {
                                1.0
                            } else if small == (y < 0.0) {
                                INF
                            } else {
                                0.0
                            };
                            same(got, want, &what(x));
                        } else if x == 0.0 || x.is_infinite() {
                            let size = if (x == 0.0) == (y < 0.0) { INF } else { 0.0 };
                            same(got, if odd(y) { size.copysign(x) } else { size }, &what(x));
                        } else if x < 0.0 && !whole(y) {
                            same(got, NAN, &what(x));
                        } else if x == -1.0 {
                            same(got, if odd(y) { -1.0 } else { 1.0 }, &what(x));
                        } else if y.abs() == LEAST {
                            same(got, 1.0, &what(x));
                        } else if y.abs() == MAX {
                            assert!(small || large);
                            same(got, if small == (y < 0.0) { INF } else { 0.0 }, &what(x));
                        } else if y == 1.0 {
                            same(got, x, &what(x));
                        } else if y == 2.0 {
                            same(got, x * x, &what(x));
                        } else if x < 0.0 {
                            same(got, if odd(y) { -$power(-x, y) } else { $power(-x, y) }, &what(x));
                        }
                    }
                }
            }

            #[test]
            fn powers_of_two_are_exact() {
                let (least, most) = if size_of::<$type>() == 8 { (-1074, 1023) } else { (-149, 127) };
                for n in least..=most {
                    let want =
                        (2.0 as $type).powi(n.max(-100)) * (2.0 as $type).powi(n - n.max(-100)).max(0.0);
                    let want = if n < -100 { twice_halved(n) } else { want };
                    same($power(2.0, n as $type), want, &format!("2^{n}"));
                    same($power(0.5, -n as $type), want, &format!("0.5^-{n}"));
                }
            }

            fn twice_halved(n: i32) -> $type {
                (0..-n).fold(1.0, |value, _| value * 0.5)
            }
        }
    };
}

tables! { of_f64 f64 exp_f64_scalar log_f64_scalar tanh_f64_scalar power_f64_scalar f64::from_bits(1), 9_007_199_254_740_991.0 }
tables! { of_f32 f32 exp_f32_scalar log_f32_scalar tanh_f32_scalar power_f32_scalar f32::from_bits(1), 16_777_215.0 }

#[test]
fn the_edges_of_exp() {
    let (last, first) = (709.782712893384, 709.7827128933841);
    assert!(exp_f64_scalar(last).is_finite() && exp_f64_scalar(first) == f64::INFINITY);
    assert_eq!(exp_f64_scalar(-745.1332191019411), f64::from_bits(1));
    assert_eq!(exp_f64_scalar(-745.1332191019412), 0.0);
    assert!(exp_f64_scalar(-708.3964185322642) < f64::MIN_POSITIVE);
}

/// Results near the ends of the range, of bases near the ends of an interval of the logarithm's table. There,
/// any part of the product of exponent and logarithm that is lost shows. Expected: mpmath 1.4.1 with 300
/// bits, rounded; within 1 ULP of it by clause V-4.
#[test]
fn the_ends_of_power() {
    for (x, y, want) in [
        (1.0319896472550019_f64, 22527.642937354518, 1.1835560599929109e308_f64),
        (1.032399641744738, 22247.038420061297, 1.1845228733997351e308),
    ] {
        let got = power_f64_scalar(x, y);
        assert!(got.to_bits().abs_diff(want.to_bits()) <= 1, "{x} {y}: found {got:e}, expected {want:e}");
    }
    for (x, y, want) in [(0.98410463_f32, 5440.526, 1.3831999e-38_f32), (0.9835842, 5219.4097, 3.023848e-38)]
    {
        let got = power_f32_scalar(x, y);
        assert!(got.to_bits().abs_diff(want.to_bits()) <= 1, "{x} {y}: found {got:e}, expected {want:e}");
    }
}
