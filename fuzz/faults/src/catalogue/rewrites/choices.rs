//! Comparisons, logical functions, selections and extremes.

use super::*;

pub(in super::super) static FAULTS: &[Fault] = &[
    invented(
        "rewrites/negated-comparison",
        R,
        "not (a < b) is computed as a >= b, which is false for NaN.",
        rule!(|t, _| {
            let [comparison] = t.of(F::LogicalNot)?;
            let (function, a, b) = comparison.binary()?;
            let inverse = match function {
                F::Less => F::GreaterEqual,
                F::LessEqual => F::Greater,
                F::Greater => F::LessEqual,
                F::GreaterEqual => F::Less,
                _ => return None,
            };
            Some(call(inverse, [a, b]))
        }),
    ),
    invented(
        "rewrites/order-by-difference",
        R,
        "a < b of signed integers is computed as a - b < 0, which wraps.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Less)?;
            let zero = facts.number(0.0, a);
            facts.is_integer(a).then(|| call(F::Less, [&call(F::Subtract, [a, b]), &zero]))
        }),
    ),
    invented(
        "rewrites/equality-by-difference",
        R,
        "a = b of floats is computed as a - b = 0, which is false for two infinities.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Equal)?;
            let zero = facts.number(0.0, a);
            facts.is_float(a).then(|| call(F::Equal, [&call(F::Subtract, [a, b]), &zero]))
        }),
    ),
    invented(
        "rewrites/equal-to-itself",
        R,
        "x = x is folded to true, also for NaN.",
        rule!(|t, _| {
            let [a, b] = t.of(F::Equal)?;
            (a == b).then(|| truth(true))
        }),
    ),
    invented(
        "rewrites/differs-from-itself",
        R,
        "x != x, which detects NaN, is folded to false.",
        rule!(|t, _| {
            let [a, b] = t.of(F::NotEqual)?;
            (a == b).then(|| truth(false))
        }),
    ),
    invented(
        "rewrites/at-most-itself",
        R,
        "x <= x and x >= x are folded to true, also for NaN.",
        rule!(|t, _| {
            let (function, a, b) = t.binary()?;
            (a == b && matches!(function, F::LessEqual | F::GreaterEqual)).then(|| truth(true))
        }),
    ),
    invented(
        "rewrites/abs-is-not-negative",
        R,
        "abs(x) >= 0 is folded to true, also for NaN.",
        rule!(|t, facts| {
            let [size, zero] = t.of(F::GreaterEqual)?;
            let [a] = size.of(F::Abs)?;
            (facts.is(zero, 0.0) && facts.is_float(a)).then(|| truth(true))
        }),
    ),
    invented(
        "rewrites/abs-of-an-integer-is-not-negative",
        R,
        "abs(x) < 0 of an integer is folded to false, although the smallest integer is its own absolute value.",
        rule!(|t, facts| {
            let [size, zero] = t.of(F::Less)?;
            let [a] = size.of(F::Abs)?;
            (facts.is(zero, 0.0) && facts.is_integer(a)).then(|| truth(false))
        }),
    ),
    invented(
        "rewrites/abs-of-a-square",
        R,
        "abs(x * x) of integers is folded to x * x, which may have wrapped.",
        rule!(|t, facts| {
            let [product] = t.of(F::Abs)?;
            let [a, b] = product.of(F::Multiply)?;
            (a == b && facts.is_integer(a)).then(|| product.clone())
        }),
    ),
    invented(
        "rewrites/addend-cancelled-in-a-comparison",
        R,
        "a + c < b + c of integers is folded to a < b, although either sum may wrap.",
        rule!(|t, facts| {
            let (function, left, right) = t.binary()?;
            let ([a, c], [b, d]) = (left.of(F::Add)?, right.of(F::Add)?);
            (is_order(function) && c == d && facts.is_integer(a)).then(|| call(function, [a, b]))
        }),
    ),
    invented(
        "rewrites/negations-cancelled-in-a-comparison",
        R,
        "-a < -b of integers is computed as a > b, although the smallest integer is its own negation.",
        rule!(|t, facts| {
            let [left, right] = t.of(F::Less)?;
            let ([a], [b]) = (left.of(F::Negate)?, right.of(F::Negate)?);
            facts.is_integer(a).then(|| call(F::Greater, [a, b]))
        }),
    ),
    invented(
        "rewrites/factor-cancelled-in-a-comparison",
        R,
        "a * c = b * c is folded to a = b, also for c = 0.",
        rule!(|t, _| {
            let [left, right] = t.of(F::Equal)?;
            let ([a, c], [b, d]) = (left.of(F::Multiply)?, right.of(F::Multiply)?);
            (c == d).then(|| call(F::Equal, [a, b]))
        }),
    ),
    invented(
        "rewrites/comparisons-chained",
        R,
        "a < b and b < c is folded to a < c.",
        rule!(|t, _| {
            let [left, right] = t.of(F::LogicalAnd)?;
            let ([a, b], [other, c]) = (left.of(F::Less)?, right.of(F::Less)?);
            (b == other).then(|| call(F::Less, [a, c]))
        }),
    ),
    invented(
        "rewrites/less-or-greater",
        R,
        "a < b or a > b is computed as a != b, which is true for NaN.",
        rule!(|t, _| {
            let [left, right] = t.of(F::LogicalOr)?;
            let ([a, b], [c, d]) = (left.of(F::Less)?, right.of(F::Greater)?);
            (a == c && b == d).then(|| call(F::NotEqual, [a, b]))
        }),
    ),
    invented(
        "rewrites/excluded-middle",
        R,
        "a < b or a >= b is folded to true, also for NaN.",
        rule!(|t, _| {
            let [left, right] = t.of(F::LogicalOr)?;
            let ([a, b], [c, d]) = (left.of(F::Less)?, right.of(F::GreaterEqual)?);
            (a == c && b == d).then(|| truth(true))
        }),
    ),
    invented(
        "rewrites/negated-conjunction",
        R,
        "not (a and b) is computed as not a and not b.",
        rule!(|t, _| {
            let [both] = t.of(F::LogicalNot)?;
            let [a, b] = both.of(F::LogicalAnd)?;
            Some(call(F::LogicalAnd, [&call(F::LogicalNot, [a]), &call(F::LogicalNot, [b])]))
        }),
    ),
    invented(
        "rewrites/or-as-exclusive-or",
        R,
        "a or b is computed as a != b.",
        rule!(|t, _| {
            let [a, b] = t.of(F::LogicalOr)?;
            Some(call(F::NotEqual, [a, b]))
        }),
    ),
    invented(
        "rewrites/select-as-maximum",
        R,
        "select(a > b, a, b) becomes maximum(a, b), which differs for NaN and zeros.",
        rule!(|t, _| {
            let [condition, then, otherwise] = t.of(F::Select)?;
            let [a, b] = condition.of(F::Greater)?;
            (a == then && b == otherwise).then(|| call(F::Maximum, [a, b]))
        }),
    ),
    invented(
        "rewrites/select-as-minimum",
        R,
        "select(a < b, a, b) becomes minimum(a, b), which differs for NaN and zeros.",
        rule!(|t, _| {
            let [condition, then, otherwise] = t.of(F::Select)?;
            let [a, b] = condition.of(F::Less)?;
            (a == then && b == otherwise).then(|| call(F::Minimum, [a, b]))
        }),
    ),
    invented(
        "rewrites/select-as-abs",
        R,
        "select(x < 0, -x, x) becomes abs(x), which loses the sign of -0.",
        rule!(|t, facts| {
            let [condition, then, x] = t.of(F::Select)?;
            let ([a, zero], [negated]) = (condition.of(F::Less)?, then.of(F::Negate)?);
            let applies = a == x && negated == x && facts.is(zero, 0.0) && facts.is_float(x);
            applies.then(|| call(F::Abs, [x]))
        }),
    ),
    invented(
        "rewrites/select-of-a-number",
        R,
        "select(x = x, x, y), which replaces NaN, is folded to x.",
        rule!(|t, _| {
            let [condition, then, _] = t.of(F::Select)?;
            let [a, b] = condition.of(F::Equal)?;
            (a == b && a == then).then(|| then.clone())
        }),
    ),
    invented(
        "rewrites/select-of-equals",
        R,
        "select(a = b, a, b) is folded to b, which has the other sign if they are zeros.",
        rule!(|t, _| {
            let [condition, then, otherwise] = t.of(F::Select)?;
            let [a, b] = condition.of(F::Equal)?;
            (a == then && b == otherwise).then(|| b.clone())
        }),
    ),
    invented(
        "rewrites/select-negation-dropped",
        R,
        "The negation of a condition is dropped, but the branches are not exchanged.",
        rule!(|t, _| {
            let [condition, then, otherwise] = t.of(F::Select)?;
            let [inner] = condition.of(F::LogicalNot)?;
            Some(call(F::Select, [inner, then, otherwise]))
        }),
    ),
    invented(
        "rewrites/select-nested",
        R,
        "select(c, x, select(c, y, z)) is folded to select(c, x, y).",
        rule!(|t, _| {
            let [condition, then, otherwise] = t.of(F::Select)?;
            let [inner, y, _] = otherwise.of(F::Select)?;
            (condition == inner).then(|| call(F::Select, [condition, then, y]))
        }),
    ),
    invented(
        "rewrites/select-conditions-merged",
        R,
        "select(c, select(d, x, y), z) becomes select(c and d, x, z) without regard to y.",
        rule!(|t, _| {
            let [condition, then, z] = t.of(F::Select)?;
            let [inner, x, _] = then.of(F::Select)?;
            Some(call(F::Select, [&call(F::LogicalAnd, [condition, inner]), x, z]))
        }),
    ),
    invented(
        "rewrites/select-of-booleans",
        R,
        "select(c, x, false) of booleans becomes c or x.",
        rule!(|t, facts| {
            let [condition, then, otherwise] = t.of(F::Select)?;
            let applies = facts.dtype(then) == DType::Bool && facts.is(otherwise, 0.0);
            applies.then(|| call(F::LogicalOr, [condition, then]))
        }),
    ),
    invented(
        "rewrites/extremes-absorbed",
        R,
        "maximum(a, minimum(a, b)) is folded to a, also if b is NaN.",
        rule!(|t, _| {
            let [a, inner] = t.of(F::Maximum)?;
            let [other, _] = inner.of(F::Minimum)?;
            (a == other).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/clip-in-the-other-order",
        R,
        "minimum(maximum(x, low), high) in one loop takes the minimum first, which differs if low is above high.",
        rule!(|t, _| {
            let [inner, high] = t.of(F::Minimum)?;
            let [x, low] = inner.of(F::Maximum)?;
            Some(call(F::Maximum, [&call(F::Minimum, [x, high]), low]))
        }),
    ),
    invented(
        "rewrites/clamp-drops-nan",
        R,
        "minimum(maximum(x, low), high) becomes a clamp that returns low for NaN.",
        rule!(|t, facts| {
            let [inner, high] = t.of(F::Minimum)?;
            let [x, low] = inner.of(F::Maximum)?;
            let clamp = |values: &[Scalar]| match [0, 1, 2].map(|place| as_f64(values[place])) {
                [x, low, high] if x > low => float(x.min(high), values[0]),
                [_, low, high] => float(low.min(high), values[0]),
            };
            (facts.is_float(x) && !facts.gradient).then(|| kernel(F::Minimum, clamp, [x, low, high]))
        }),
    ),
];
