//! The optimiser: algebra that does not hold for floats or for integers that wrap, common subexpressions that
//! are not common, constants that are merged or folded wrongly.

use super::invented;
use crate::engine::convert::{as_f64, convert};
use crate::engine::rewrite::{Facts, Kernel, Term};
use crate::{Class, Fault};
use broadcheck_reference::apply;
use broadcheck_spec::Function as F;
use broadcheck_spec::{DType, Scalar};

impl Term {
    /// The arguments, if this is a call of the function.
    fn of<const N: usize>(&self, function: F) -> Option<&[Term; N]> {
        match self {
            Term::Call(found, arguments) if *found == function => arguments.as_slice().try_into().ok(),
            Term::Call(..) | Term::Kernel(..) | Term::Operand(_) | Term::Constant(_) => None,
        }
    }

    /// The function and its two arguments.
    fn binary(&self) -> Option<(F, &Term, &Term)> {
        match self {
            Term::Call(function, arguments) => match arguments.as_slice() {
                [a, b] => Some((*function, a, b)),
                _ => None,
            },
            Term::Kernel(..) | Term::Operand(_) | Term::Constant(_) => None,
        }
    }
}

impl Facts<'_> {
    fn is_float(&self, term: &Term) -> bool {
        self.dtype(term).is_float()
    }

    fn is_integer(&self, term: &Term) -> bool {
        self.dtype(term).is_integer()
    }

    /// A number in the dtype of a term.
    fn number(&self, value: f64, like: &Term) -> Term {
        Term::Constant(convert(Scalar::F64(value), self.dtype(like)))
    }

    /// Whether the term is a constant with this value; -0 is 0.
    fn is(&self, term: &Term, value: f64) -> bool {
        self.constant(term)
            .is_some_and(|found| as_f64(found).partial_cmp(&value) == Some(std::cmp::Ordering::Equal))
    }

    fn is_constant(&self, term: &Term) -> bool {
        self.constant(term).is_some()
    }
}

fn call<const N: usize>(function: F, arguments: [&Term; N]) -> Term {
    Term::Call(function, arguments.into_iter().cloned().collect())
}

fn kernel<const N: usize>(like: F, by: fn(&[Scalar]) -> Scalar, arguments: [&Term; N]) -> Term {
    Term::Kernel(Kernel { like, by }, arguments.into_iter().cloned().collect())
}

fn truth(value: bool) -> Term {
    Term::Constant(Scalar::Bool(value))
}

/// A rule: `None` leaves the term as it is.
macro_rules! rule {
    (|$term:ident, $facts:pat_param| $body:expr) => {
        |d| {
            d.rewrite.rule = |whole, $facts| {
                let rewritten: Option<Term> = (|| {
                    let $term = &whole;
                    $body
                })();
                rewritten.unwrap_or(whole)
            }
        }
    };
}

/// Replaces every later term that `same` as an earlier one by that one.
fn shared(term: &Term, seen: &mut Vec<Term>, same: fn(&Term, &Term) -> bool) -> Term {
    let term = match term {
        Term::Call(function, arguments) => {
            let arguments = arguments.iter().map(|argument| shared(argument, seen, same)).collect();
            Term::Call(*function, arguments)
        }
        Term::Operand(_) | Term::Constant(_) | Term::Kernel(..) => return term.clone(),
    };
    match seen.iter().find(|earlier| same(earlier, &term)) {
        Some(earlier) => earlier.clone(),
        None => {
            seen.push(term.clone());
            term
        }
    }
}

/// Replaces every constant operand by the first one with an equal key.
fn pooled(term: &Term, facts: &Facts<'_>, key: fn(Scalar) -> u64) -> Term {
    match term {
        Term::Operand(operand) => {
            let Some(own) = facts.constant(term) else { return term.clone() };
            let equal = |earlier: &usize| {
                let earlier = facts.constant(&Term::Operand(*earlier));
                earlier.is_some_and(|value| value.dtype() == own.dtype() && key(value) == key(own))
            };
            Term::Operand((0..*operand).find(equal).unwrap_or(*operand))
        }
        Term::Call(function, arguments) => {
            Term::Call(*function, arguments.iter().map(|argument| pooled(argument, facts, key)).collect())
        }
        Term::Constant(_) | Term::Kernel(..) => term.clone(),
    }
}

/// The value of a call of constants, computed in another dtype.
fn folded(term: &Term, facts: &Facts<'_>, from: DType, through: DType) -> Option<Term> {
    let (function, a, b) = term.binary()?;
    let values = [facts.constant(a)?, facts.constant(b)?];
    let applies = values.iter().all(|value| value.dtype() == from) && !function.is_predicate();
    let value = apply(function, &values.map(|value| convert(value, through)));
    applies.then(|| Term::Constant(convert(value, from)))
}

fn is_order(function: F) -> bool {
    matches!(function, F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
}

fn float(value: f64, like: Scalar) -> Scalar {
    convert(Scalar::F64(value), like.dtype())
}

const R: Class = Class::Rewrites;

pub(super) static FAULTS: &[Fault] = &[
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
