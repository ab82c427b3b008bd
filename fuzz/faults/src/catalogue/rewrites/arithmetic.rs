//! Sums, products, quotients and signs.

use super::*;

pub(in super::super) static FAULTS: &[Fault] = &[
    invented(
        "rewrites/difference-with-itself",
        R,
        "x - x is folded to 0, also for infinities and NaN.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Subtract)?;
            (a == b && facts.is_float(a)).then(|| facts.number(0.0, a))
        }),
    ),
    invented(
        "rewrites/product-with-zero",
        R,
        "A product with a scalar 0 is folded to 0, also for infinities, NaN and negative numbers.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Multiply)?;
            let zero = facts.is(a, 0.0) || facts.is(b, 0.0);
            (zero && facts.is_float(a)).then(|| facts.number(0.0, a))
        }),
    ),
    invented(
        "rewrites/quotient-with-itself",
        R,
        "x / x is folded to 1, also for 0, infinities and NaN.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Divide)?;
            (a == b).then(|| facts.number(1.0, a))
        }),
    ),
    invented(
        "rewrites/sum-with-zero",
        R,
        "x + 0 with a scalar 0 is folded to x, which keeps -0.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Add)?;
            (facts.is(b, 0.0) && facts.is_float(a)).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/zero-minus",
        R,
        "0 - x with a scalar 0 becomes the negation of x, which gives -0 for 0.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Subtract)?;
            (facts.is(a, 0.0) && facts.is_float(a)).then(|| call(F::Negate, [b]))
        }),
    ),
    invented(
        "rewrites/minus-negative-zero",
        R,
        "x - 0 is folded to x, also for a scalar -0.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Subtract)?;
            (facts.is(b, 0.0) && facts.is_float(a)).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/zero-divided",
        R,
        "A scalar 0 divided by x is folded to 0, also for 0, NaN and negative numbers.",
        rule!(|t, facts| {
            let [a, _] = t.of(F::Divide)?;
            facts.is(a, 0.0).then(|| facts.number(0.0, a))
        }),
    ),
    invented(
        "rewrites/divisor-inverted-once",
        R,
        "Division by a scalar multiplies by its reciprocal, which is computed before the loop.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Divide)?;
            let inverse = apply(F::Divide, &[float(1.0, facts.constant(b)?), facts.constant(b)?]);
            (!facts.is_constant(a)).then(|| call(F::Multiply, [a, &Term::Constant(inverse)]))
        }),
    ),
    invented(
        "rewrites/sum-reassociated",
        R,
        "(a + b) + c is computed as a + (b + c).",
        rule!(|t, facts| {
            let [sum, c] = t.of(F::Add)?;
            let [a, b] = sum.of(F::Add)?;
            facts.is_float(c).then(|| call(F::Add, [a, &call(F::Add, [b, c])]))
        }),
    ),
    invented(
        "rewrites/addends-gathered",
        R,
        "Two scalars that are added one after the other are added to each other first.",
        rule!(|t, facts| {
            let [sum, c] = t.of(F::Add)?;
            let [a, b] = sum.of(F::Add)?;
            let both = facts.is_constant(b) && facts.is_constant(c) && facts.is_float(c);
            both.then(|| call(F::Add, [a, &call(F::Add, [b, c])]))
        }),
    ),
    invented(
        "rewrites/product-reassociated",
        R,
        "(a * b) * c is computed as a * (b * c).",
        rule!(|t, facts| {
            let [product, c] = t.of(F::Multiply)?;
            let [a, b] = product.of(F::Multiply)?;
            facts.is_float(c).then(|| call(F::Multiply, [a, &call(F::Multiply, [b, c])]))
        }),
    ),
    invented(
        "rewrites/factors-gathered",
        R,
        "Two scalars that x is multiplied by one after the other are multiplied with each other first.",
        rule!(|t, facts| {
            let [product, c] = t.of(F::Multiply)?;
            let [a, b] = product.of(F::Multiply)?;
            let both = facts.is_constant(b) && facts.is_constant(c) && facts.is_float(c);
            both.then(|| call(F::Multiply, [a, &call(F::Multiply, [b, c])]))
        }),
    ),
    invented(
        "rewrites/common-factor",
        R,
        "a * b + a * c is computed as a * (b + c).",
        rule!(|t, facts| {
            let [left, right] = t.of(F::Add)?;
            let ([a, b], [other, c]) = (left.of(F::Multiply)?, right.of(F::Multiply)?);
            (a == other && facts.is_float(a)).then(|| call(F::Multiply, [a, &call(F::Add, [b, c])]))
        }),
    ),
    invented(
        "rewrites/product-distributed",
        R,
        "a * (b + c) is computed as a * b + a * c.",
        rule!(|t, facts| {
            let [a, sum] = t.of(F::Multiply)?;
            let [b, c] = sum.of(F::Add)?;
            let terms = [&call(F::Multiply, [a, b]), &call(F::Multiply, [a, c])];
            facts.is_float(a).then(|| call(F::Add, terms))
        }),
    ),
    invented(
        "rewrites/addend-cancelled",
        R,
        "(a + b) - b is folded to a, also for floats.",
        rule!(|t, facts| {
            let [sum, c] = t.of(F::Subtract)?;
            let [a, b] = sum.of(F::Add)?;
            (b == c && facts.is_float(a)).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/factor-cancelled",
        R,
        "(a * b) / b is folded to a.",
        rule!(|t, _| {
            let [product, c] = t.of(F::Divide)?;
            let [a, b] = product.of(F::Multiply)?;
            (b == c).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/divisor-cancelled",
        R,
        "(a / b) * b is folded to a.",
        rule!(|t, _| {
            let [quotient, c] = t.of(F::Multiply)?;
            let [a, b] = quotient.of(F::Divide)?;
            (b == c).then(|| a.clone())
        }),
    ),
    invented(
        "rewrites/divisors-multiplied",
        R,
        "(a / b) / c is computed as a / (b * c), which overflows earlier.",
        rule!(|t, _| {
            let [quotient, c] = t.of(F::Divide)?;
            let [a, b] = quotient.of(F::Divide)?;
            Some(call(F::Divide, [a, &call(F::Multiply, [b, c])]))
        }),
    ),
    invented(
        "rewrites/telescoped",
        R,
        "(a - b) + (b - c) is folded to a - c.",
        rule!(|t, facts| {
            let [left, right] = t.of(F::Add)?;
            let ([a, b], [other, c]) = (left.of(F::Subtract)?, right.of(F::Subtract)?);
            (b == other && facts.is_float(a)).then(|| call(F::Subtract, [a, c]))
        }),
    ),
    invented(
        "rewrites/reciprocal-twice",
        R,
        "1 / (1 / x) with a scalar 1 is folded to x.",
        rule!(|t, facts| {
            let [one, inner] = t.of(F::Divide)?;
            let [other, x] = inner.of(F::Divide)?;
            (facts.is(one, 1.0) && facts.is(other, 1.0)).then(|| x.clone())
        }),
    ),
    invented(
        "rewrites/divided-by-a-root",
        R,
        "a / sqrt(b) is computed as a times the reciprocal square root.",
        rule!(|t, facts| {
            let [a, root] = t.of(F::Divide)?;
            let [b] = root.of(F::Sqrt)?;
            let one = facts.number(1.0, b);
            Some(call(F::Multiply, [a, &call(F::Divide, [&one, root])]))
        }),
    ),
    invented(
        "rewrites/negated-difference",
        R,
        "-(a - b) is computed as b - a, which gives +0 instead of -0.",
        rule!(|t, facts| {
            let [difference] = t.of(F::Negate)?;
            let [a, b] = difference.of(F::Subtract)?;
            facts.is_float(a).then(|| call(F::Subtract, [b, a]))
        }),
    ),
    invented(
        "rewrites/negated-sum",
        R,
        "-(a + b) is computed as -a - b, which gives +0 instead of -0.",
        rule!(|t, facts| {
            let [sum] = t.of(F::Negate)?;
            let [a, b] = sum.of(F::Add)?;
            facts.is_float(a).then(|| call(F::Subtract, [&call(F::Negate, [a]), b]))
        }),
    ),
];
