//! Common subexpressions, constants, other functions, and registers.

use super::*;

pub(in super::super) static FAULTS: &[Fault] = &[
    invented(
        "rewrites/same-arguments-in-any-order",
        R,
        "Two calls of one function with the same two arguments are shared, whatever the order of the arguments.",
        |d| {
            d.rewrite.pass = |term, _| {
                shared(&term, &mut Vec::new(), |one, other| match (one.binary(), other.binary()) {
                    (Some((f, a, b)), Some((g, c, d))) => f == g && (a, b) == (d, c),
                    _ => false,
                })
            };
        },
    ),
    invented(
        "rewrites/same-arguments-of-any-function",
        R,
        "Two calls with the same arguments are shared, whatever their functions are.",
        |d| {
            d.rewrite.pass = |term, _| {
                shared(&term, &mut Vec::new(), |one, other| match (one, other) {
                    (Term::Call(f, a), Term::Call(g, b)) => a == b && f.is_predicate() == g.is_predicate(),
                    _ => false,
                })
            };
        },
    ),
    invented(
        "rewrites/same-first-argument",
        R,
        "Two calls of one function are shared if their first arguments are equal.",
        |d| {
            d.rewrite.pass = |term, _| {
                shared(&term, &mut Vec::new(), |one, other| match (one, other) {
                    (Term::Call(f, a), Term::Call(g, b)) => f == g && a[0] == b[0],
                    _ => false,
                })
            };
        },
    ),
    invented(
        "rewrites/zeros-are-one-constant",
        R,
        "Scalars are pooled by value, so -0 and 0 become one constant.",
        |d| {
            d.rewrite.pass = |term, facts| pooled(&term, facts, |value| (as_f64(value) + 0.0).to_bits());
        },
    ),
    invented(
        "rewrites/constants-pooled-in-single-precision",
        R,
        "Scalars of f64 that round to one f32 become one constant.",
        |d| {
            d.rewrite.pass = |term, facts| {
                pooled(&term, facts, |value| convert(Scalar::F64(as_f64(value)), DType::F32).to_bits())
            };
        },
    ),
    invented(
        "rewrites/folded-in-single-precision",
        R,
        "A function of two scalars of f64 is folded in f32.",
        rule!(|t, facts| folded(t, facts, DType::F64, DType::F32)),
    ),
    invented(
        "rewrites/narrow-floats-folded-in-double",
        R,
        "A chain of functions of f32 scalars is folded in f64 and rounded at its end.",
        rule!(|t, facts| {
            let (function, left, c) = t.binary()?;
            let (inner, a, b) = left.binary()?;
            let values = [facts.constant(a)?, facts.constant(b)?, facts.constant(c)?];
            let applies = values.iter().all(|value| value.dtype() == DType::F32);
            let [a, b, c] = values.map(|value| Scalar::F64(as_f64(value)));
            let plain = |function: F| matches!(function, F::Add | F::Subtract | F::Multiply | F::Divide);
            (applies && plain(function) && plain(inner))
                .then(|| Term::Constant(convert(apply(function, &[apply(inner, &[a, b]), c]), DType::F32)))
        }),
    ),
    invented(
        "rewrites/integers-folded-in-double",
        R,
        "A function of two scalars of i64 is folded in f64.",
        rule!(|t, facts| folded(t, facts, DType::I64, DType::F64)),
    ),
    invented(
        "rewrites/difference-sorted",
        R,
        "The arguments of subtract are sorted as if it were commutative.",
        rule!(|t, _| {
            let [a, b] = t.of(F::Subtract)?;
            match (a, b) {
                (Term::Operand(first), Term::Operand(second)) if first > second => {
                    Some(call(F::Subtract, [b, a]))
                }
                _ => None,
            }
        }),
    ),
    invented(
        "rewrites/constant-moved-to-the-right",
        R,
        "The scalar on the left of a comparison is moved to the right, but the comparison is not reversed.",
        rule!(|t, facts| {
            let (function, a, b) = t.binary()?;
            let applies = is_order(function) && facts.is_constant(a) && !facts.is_constant(b);
            applies.then(|| call(function, [b, a]))
        }),
    ),
    invented(
        "rewrites/constant-base-moved-to-the-right",
        R,
        "power with a scalar base exchanges base and exponent.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Power)?;
            (facts.is_constant(a) && !facts.is_constant(b)).then(|| call(F::Power, [b, a]))
        }),
    ),
    invented(
        "rewrites/root-of-a-square",
        R,
        "sqrt(x * x) is folded to abs(x), although x * x may overflow.",
        rule!(|t, _| {
            let [product] = t.of(F::Sqrt)?;
            let [a, b] = product.of(F::Multiply)?;
            (a == b).then(|| call(F::Abs, [a]))
        }),
    ),
    invented(
        "rewrites/square-of-a-root",
        R,
        "sqrt(x) * sqrt(x) is folded to x, also for negative numbers.",
        rule!(|t, _| {
            let [left, right] = t.of(F::Multiply)?;
            let ([a], [b]) = (left.of(F::Sqrt)?, right.of(F::Sqrt)?);
            (a == b).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/roots-multiplied",
        R,
        "sqrt(a) * sqrt(b) is computed as sqrt(a * b).",
        rule!(|t, _| {
            let [left, right] = t.of(F::Multiply)?;
            let ([a], [b]) = (left.of(F::Sqrt)?, right.of(F::Sqrt)?);
            Some(call(F::Sqrt, [&call(F::Multiply, [a, b])]))
        }),
    ),
    invented(
        "rewrites/second-product-is-a-square",
        R,
        "Of a sum of two products, the second one is computed from its first factor alone, as a square is.",
        rule!(|t, _| {
            let [sum, product] = t.of(F::Add)?;
            let ([_, _], [a, b]) = (sum.of(F::Multiply)?, product.of(F::Multiply)?);
            (a != b).then(|| call(F::Add, [sum, &call(F::Multiply, [a, a])]))
        }),
    ),
    invented(
        "rewrites/exp-of-log",
        R,
        "exp(log(x)) is folded to x, also for negative numbers.",
        rule!(|t, _| {
            let [inner] = t.of(F::Exp)?;
            let [a] = inner.of(F::Log)?;
            Some(a.clone())
        }),
    ),
    invented(
        "rewrites/log-of-exp",
        R,
        "log(exp(x)) is folded to x, although exp(x) may overflow.",
        rule!(|t, _| {
            let [inner] = t.of(F::Log)?;
            let [a] = inner.of(F::Exp)?;
            Some(a.clone())
        }),
    ),
    invented(
        "rewrites/log-of-a-power",
        R,
        "log(a ** b) is computed as b * log(a), which is NaN for a negative base.",
        rule!(|t, _| {
            let [inner] = t.of(F::Log)?;
            let [a, b] = inner.of(F::Power)?;
            Some(call(F::Multiply, [b, &call(F::Log, [a])]))
        }),
    ),
    invented(
        "rewrites/exponents-added",
        R,
        "exp(a) * exp(b) is computed as exp(a + b).",
        rule!(|t, _| {
            let [left, right] = t.of(F::Multiply)?;
            let ([a], [b]) = (left.of(F::Exp)?, right.of(F::Exp)?);
            Some(call(F::Exp, [&call(F::Add, [a, b])]))
        }),
    ),
    invented(
        "rewrites/logarithms-merged",
        R,
        "log(a) + log(b) is computed as log(a * b).",
        rule!(|t, _| {
            let [left, right] = t.of(F::Add)?;
            let ([a], [b]) = (left.of(F::Log)?, right.of(F::Log)?);
            Some(call(F::Log, [&call(F::Multiply, [a, b])]))
        }),
    ),
    invented(
        "rewrites/power-of-a-half",
        R,
        "A power with the scalar exponent 0.5 becomes sqrt, which differs for -0 and -infinity.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Power)?;
            facts.is(b, 0.5).then(|| call(F::Sqrt, [a]))
        }),
    ),
    invented(
        "rewrites/power-by-squaring",
        R,
        "A power with a whole scalar exponent up to 64 is computed by repeated multiplication.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Power)?;
            let exponent = as_f64(facts.constant(b)?);
            let multiplied = |values: &[Scalar]| {
                let mut power = float(1.0, values[0]);
                let mut left = as_f64(values[1]);
                while left >= 1.0 {
                    power = apply(F::Multiply, &[power, values[0]]);
                    left -= 1.0;
                }
                power
            };
            let whole = exponent.fract() == 0.0 && (2.0..=64.0).contains(&exponent);
            whole.then(|| kernel(F::Power, multiplied, [a, b]))
        }),
    ),
    invented(
        "rewrites/negative-power-inverted",
        R,
        "A power with a negative scalar exponent is the reciprocal of the positive power, which overflows.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Power)?;
            let exponent = as_f64(facts.constant(b)?);
            let positive = call(F::Power, [a, &facts.number(-exponent, a)]);
            (exponent < 0.0).then(|| call(F::Divide, [&facts.number(1.0, a), &positive]))
        }),
    ),
    invented(
        "rewrites/power-by-logarithm",
        R,
        "a ** b is computed as exp(b * log(a)), which is NaN for a negative base.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Power)?;
            let product = call(F::Multiply, [b, &call(F::Log, [a])]);
            (!facts.is_constant(b)).then(|| call(F::Exp, [&product]))
        }),
    ),
    invented(
        "rewrites/tanh-clamped",
        R,
        "tanh is 1 for every argument above 4.",
        rule!(|t, _| {
            let [a] = t.of(F::Tanh)?;
            let clamped = |values: &[Scalar]| match as_f64(values[0]) {
                a if a.abs() > 4.0 => float(1f64.copysign(a), values[0]),
                _ => apply(F::Tanh, values),
            };
            Some(kernel(F::Tanh, clamped, [a]))
        }),
    ),
    invented(
        "rewrites/exp-clamped",
        R,
        "The argument of exp is clamped to the range of f32, also in f64.",
        rule!(|t, facts| {
            let [a] = t.of(F::Exp)?;
            let clamped = |values: &[Scalar]| match as_f64(values[0]) {
                a if a.is_nan() => values[0],
                a => apply(F::Exp, &[float(a.clamp(-87.33, 88.72), values[0])]),
            };
            (facts.dtype(a) == DType::F64).then(|| kernel(F::Exp, clamped, [a]))
        }),
    ),
    invented(
        "rewrites/fused-on-the-right",
        R,
        "c - a * b is rounded only once.",
        rule!(|t, facts| {
            let [c, product] = t.of(F::Subtract)?;
            let [a, b] = product.of(F::Multiply)?;
            let fused = |values: &[Scalar]| match *values {
                [Scalar::F64(c), Scalar::F64(a), Scalar::F64(b)] => Scalar::F64((-a).mul_add(b, c)),
                [Scalar::F32(c), Scalar::F32(a), Scalar::F32(b)] => Scalar::F32((-a).mul_add(b, c)),
                _ => apply(F::Subtract, &[values[0], apply(F::Multiply, &values[1..])]),
            };
            (facts.is_float(c) && !facts.gradient).then(|| kernel(F::Subtract, fused, [c, a, b]))
        }),
    ),
    invented(
        "rewrites/negative-factor-dropped",
        R,
        "(-a) * b is computed as -(a * b), and for unsigned integers the negation is dropped.",
        rule!(|t, facts| {
            let [left, b] = t.of(F::Multiply)?;
            let [a] = left.of(F::Negate)?;
            let unsigned = matches!(facts.dtype(a), DType::U64 | DType::U32 | DType::U16 | DType::U8);
            let product = call(F::Multiply, [a, b]);
            Some(if unsigned { product } else { call(F::Negate, [&product]) })
        }),
    ),
    invented(
        "rewrites/three-live-values",
        R,
        "The fourth intermediate value is spilled to the place of the first, which may still be needed.",
        |d| d.evaluate.temporary = |number| if number < 3 { number } else { 0 },
    ),
    invented(
        "rewrites/six-live-values",
        R,
        "The seventh intermediate value is spilled to the place of the first, which may still be needed.",
        |d| d.evaluate.temporary = |number| if number < 6 { number } else { 0 },
    ),
];
