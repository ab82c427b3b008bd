//! Longer programs: parts that are used several times, chains that are cut or split, and a condition that is
//! known before the run. Groups of calls that are computed in one loop.

use super::{Class, F, Facts, Fault, Kernel, R, Scalar, Term, call, convert, invented, shared};
use broadcheck_spec::{Expression, Node, Operand, Operation, Request, RuleSet};

/// The number of calls above the deepest operand.
fn depth(term: &Term) -> usize {
    match term {
        Term::Operand(_) | Term::Constant(_) => 0,
        Term::Call(_, arguments) | Term::Kernel(_, arguments) => {
            1 + arguments.iter().map(depth).max().unwrap_or(0)
        }
    }
}

fn size(term: &Term) -> usize {
    match term {
        Term::Operand(_) | Term::Constant(_) => 1,
        Term::Call(_, arguments) | Term::Kernel(_, arguments) => {
            1 + arguments.iter().map(size).sum::<usize>()
        }
    }
}

/// The first operand that a term reads.
fn first_operand(term: &Term) -> Option<usize> {
    match term {
        Term::Operand(operand) => Some(*operand),
        Term::Constant(_) => None,
        Term::Call(_, arguments) | Term::Kernel(_, arguments) => arguments.iter().find_map(first_operand),
    }
}

/// The term with its arguments changed.
fn with_arguments(term: Term, mut change: impl FnMut(Term) -> Term) -> Term {
    match term {
        Term::Call(function, arguments) => {
            Term::Call(function, arguments.into_iter().map(&mut change).collect())
        }
        Term::Kernel(kernel, arguments) => {
            Term::Kernel(kernel, arguments.into_iter().map(&mut change).collect())
        }
        Term::Operand(_) | Term::Constant(_) => term,
    }
}

/// A term with the same value, through which no derivative passes.
fn detached(term: Term, facts: &Facts<'_>) -> Term {
    let zero = Term::Constant(convert(Scalar::F64(0.0), facts.dtype(&term)));
    Term::Kernel(Kernel { like: F::Select, by: |values| values[0] }, vec![term, zero.clone(), zero])
}

/// Detaches every call of numbers that has occurred before.
fn counted_once(term: Term, facts: &Facts<'_>, seen: &mut Vec<Term>) -> Term {
    let is_call = matches!(term, Term::Call(..)) && facts.is_float(&term);
    if is_call && seen.contains(&term) {
        return detached(term, facts);
    }
    if is_call {
        seen.push(term.clone());
    }
    with_arguments(term, |argument| counted_once(argument, facts, seen))
}

/// Negates every later use of a call whose negation has been computed.
fn negated_in_place(term: Term, seen: &mut Vec<Term>) -> Term {
    if seen.contains(&term) {
        return Term::Call(F::Negate, vec![term]);
    }
    if let Some([argument]) = term.of(F::Negate)
        && matches!(argument, Term::Call(..))
    {
        seen.push(argument.clone());
        return term;
    }
    with_arguments(term, |argument| negated_in_place(argument, seen))
}

/// The reads of operands after these many are reads of the first operand of their dtype.
fn with_few_reads(term: Term, facts: &Facts<'_>, reads: &mut Vec<usize>) -> Term {
    const MOST_READS: usize = 12;
    let Term::Operand(operand) = term else {
        return with_arguments(term, |argument| with_few_reads(argument, facts, reads));
    };
    let dtype = facts.operands[operand].dtype();
    let first = reads.iter().copied().find(|&other| facts.operands[other].dtype() == dtype);
    reads.push(operand);
    Term::Operand(first.filter(|_| reads.len() > MOST_READS).unwrap_or(operand))
}

/// Detaches what is this deep below the root.
fn cut(term: Term, facts: &Facts<'_>, left: usize) -> Term {
    let is_call = matches!(term, Term::Call(..)) && facts.is_float(&term);
    if left == 0 && is_call {
        return detached(term, facts);
    }
    with_arguments(term, |argument| cut(argument, facts, left.saturating_sub(1)))
}

/// The request with every `select` of a single condition replaced by the branch that it takes, and without
/// the operands that are then not read.
fn branches_alone(request: &Request) -> Option<Request> {
    let Operation::Elementwise { expression } = request.operation() else { return None };
    if !matches!(request.rules().set(), RuleSet::Numpy | RuleSet::Theano | RuleSet::Leading) {
        return None;
    }
    let operands = request.operands();
    let left = expression.rewrite(|_, node| branch(&node, operands).unwrap_or(node));
    let read: Vec<usize> = (0..operands.len()).filter(|&place| left.reads(place)).collect();
    let place = |operand| read.iter().position(|&other| other == operand).unwrap_or(0);
    let kept: Vec<Operand> = read.iter().map(|&place| operands[place].clone()).collect();
    let operation = Operation::Elementwise { expression: left.with_operands(place) };
    (left != *expression).then(|| Request::new(request.rules().clone(), operation, kept).ok())?
}

/// The branch that a `select` takes, if its condition is an operand with one element.
fn branch(node: &Expression, operands: &[Operand]) -> Option<Expression> {
    let Some(Node::Call(root)) = node.nodes().last() else { return None };
    let (&[condition, first, second], F::Select) = (root.arguments(), root.function()) else { return None };
    let Node::Operand(condition) = node.nodes()[condition] else { return None };
    let condition = &operands[condition];
    let is_single = condition.shape().iter().all(|&length| length == 1);
    match condition.values().get(condition.offset()) {
        Some(Scalar::Bool(taken)) if is_single => Some(node.part(if taken { first } else { second })),
        _ => None,
    }
}

/// Two calls of integers that a system may compute in one loop: the functions, and the arguments in the order
/// in which they are read. The first call is the left argument of the second one.
fn linked<'a>(term: &'a Term, facts: &Facts<'_>) -> Option<(F, &'a Term, [&'a Term; 3])> {
    let is_linked = |function| matches!(function, F::Add | F::Subtract | F::Multiply);
    let (second, first, c) = term.binary()?;
    let (function, a, b) = first.binary()?;
    (facts.is_integer(term) && is_linked(function) && is_linked(second)).then_some((second, first, [a, b, c]))
}

/// A function and its two arguments.
type Binary<'a> = (F, &'a Term, &'a Term);

/// Two sums, differences or products of integers that a system may compute in one loop with the call of both:
/// its function, and both parts with their arguments.
fn joined<'a>(term: &'a Term, facts: &Facts<'_>) -> Option<(F, [Binary<'a>; 2])> {
    let is_simple =
        |(function, _, _): &(F, &Term, &Term)| matches!(function, F::Add | F::Subtract | F::Multiply);
    let (function, one, other) = term.binary()?;
    let parts = [one.binary().filter(is_simple)?, other.binary().filter(is_simple)?];
    facts.is_integer(term).then_some((function, parts))
}

/// Two orders of floats that are joined: the function that joins them, and both comparisons.
fn orders<'a>(term: &'a Term, facts: &Facts<'_>) -> Option<(F, [Binary<'a>; 2])> {
    let is_order = |(function, a, _): &(F, &Term, &Term)| {
        matches!(function, F::Less | F::LessEqual | F::Greater | F::GreaterEqual) && facts.is_float(a)
    };
    let (function, one, other) = term.binary()?;
    let both = [one.binary().filter(is_order)?, other.binary().filter(is_order)?];
    matches!(function, F::LogicalAnd | F::LogicalOr).then_some((function, both))
}

/// The strict order that differs from this one where both values are equal.
fn strict(function: F) -> F {
    match function {
        F::LessEqual => F::Less,
        F::GreaterEqual => F::Greater,
        other => other,
    }
}

/// The order that holds where this one does not, unless a value is NaN.
fn opposite(function: F) -> F {
    match function {
        F::Less => F::GreaterEqual,
        F::LessEqual => F::Greater,
        F::Greater => F::LessEqual,
        F::GreaterEqual => F::Less,
        other => other,
    }
}

pub(in super::super) static FAULTS: &[Fault] = &[
    invented(
        "rewrites/negated-in-place",
        R,
        "The negation of a part is computed in its place, also if the part is used again.",
        |d| d.rewrite.pass = |term, _| negated_in_place(term, &mut Vec::new()),
    ),
    invented(
        "rewrites/twelve-reads",
        R,
        "A kernel has room for 12 reads of operands, and further ones read the first operand.",
        |d| d.rewrite.pass = |term, facts| with_few_reads(term, facts, &mut Vec::new()),
    ),
    invented(
        "rewrites/split-chain-exchanges-arguments",
        R,
        "A chain of more than ten calls is split, and the first call after that exchanges its arguments.",
        rule!(|t, _| {
            let (function, a, b) = t.binary()?;
            (depth(t) == 11).then(|| call(function, [b, a]))
        }),
    ),
    invented(
        "rewrites/same-part-by-size",
        R,
        "Two calls of one function are shared if as many nodes are below them and the first operand is the same.",
        |d| {
            d.rewrite.pass = |term, _| {
                shared(&term, &mut Vec::new(), |one, other| match (one, other) {
                    (Term::Call(function, _), Term::Call(same, _)) => {
                        function == same
                            && size(one) == size(other)
                            && first_operand(one) == first_operand(other)
                    }
                    _ => false,
                })
            };
        },
    ),
    invented(
        "rewrites/negation-of-a-part-by-difference",
        R,
        "The negation of an intermediate value is computed as 0 - x, which gives 0 for 0.",
        rule!(|t, facts| {
            let [part] = t.of(F::Negate)?;
            matches!(part, Term::Call(..)).then(|| call(F::Subtract, [&facts.number(0.0, part), part]))
        }),
    ),
    invented(
        "rewrites/three-negations",
        R,
        "A chain of three negations is folded to none.",
        rule!(|t, _| {
            let [two] = t.of(F::Negate)?;
            let [one] = two.of(F::Negate)?;
            let [none] = one.of(F::Negate)?;
            Some(none.clone())
        }),
    ),
    invented(
        "rewrites/difference-as-an-argument-exchanged",
        R,
        "A difference is computed together with the call of which it is the second argument, as y - x.",
        rule!(|t, _| {
            let (function, part @ Term::Call(..), argument) = t.binary()? else { return None };
            let [x, y] = argument.of(F::Subtract)?;
            Some(call(function, [part, &call(F::Subtract, [y, x])]))
        }),
    ),
    invented(
        "rewrites/sum-as-a-factor-without-brackets",
        R,
        "A product of a part and a sum is computed in one pass as the part times x, plus y.",
        rule!(|t, _| {
            let [part @ Term::Call(..), sum] = t.of(F::Multiply)? else { return None };
            let [x, y] = sum.of(F::Add)?;
            Some(call(F::Add, [&call(F::Multiply, [part, x]), y]))
        }),
    ),
    invented(
        "rewrites/choice-by-the-strict-comparison",
        R,
        "select and the comparison of its condition are one loop, in which `<=` and `>=` are `<` and `>`.",
        rule!(|t, _| {
            let [condition, chosen, other] = t.of(F::Select)?;
            let (function, a, b) = condition.binary()?;
            let strict = match function {
                F::LessEqual => F::Less,
                F::GreaterEqual => F::Greater,
                _ => return None,
            };
            Some(call(F::Select, [&call(strict, [a, b]), chosen, other]))
        }),
    ),
    invented(
        "rewrites/choice-multiplies-both",
        R,
        "select of a value or a product by a comparison is one loop, which multiplies both values by the factor.",
        rule!(|t, _| {
            let [condition, chosen, other] = t.of(F::Select)?;
            let (function, ..) = condition.binary()?;
            let [_, factor] = other.of(F::Multiply)?;
            let compares = !matches!(function, F::LogicalAnd | F::LogicalOr);
            compares.then(|| call(F::Select, [condition, &call(F::Multiply, [chosen, factor]), other]))
        }),
    ),
    invented(
        "rewrites/choice-of-compared-exchanged",
        R,
        "select(a > b, b, a), one loop that reads a and b once, chooses a if a is larger.",
        rule!(|t, _| {
            let [condition, chosen, other] = t.of(F::Select)?;
            let (function, a, b) = condition.binary()?;
            let is_order = matches!(function, F::Less | F::LessEqual | F::Greater | F::GreaterEqual);
            (is_order && a == other && b == chosen).then(|| call(F::Select, [condition, a, b]))
        }),
    ),
    invented(
        "rewrites/tanh-before-the-link",
        R,
        "tanh(x + y) or tanh(x - y) in one pass takes the hyperbolic tangent before y.",
        rule!(|t, _| {
            let [inside] = t.of(F::Tanh)?;
            let (function, x, y) = inside.binary()?;
            let is_link = matches!(function, F::Add | F::Subtract);
            is_link.then(|| call(function, [&call(F::Tanh, [x]), y]))
        }),
    ),
    invented(
        "rewrites/square-by-the-first-argument",
        R,
        "The square of a sum or a difference is computed in its pass as that value times its first argument.",
        rule!(|t, _| {
            let [one, other] = t.of(F::Multiply)?;
            let (function, first, _) = one.binary()?;
            let squares = one == other && matches!(function, F::Add | F::Subtract);
            squares.then(|| call(F::Multiply, [one, first]))
        }),
    ),
    invented(
        "rewrites/sum-times-its-second-term",
        R,
        "(a + b) * a reads b again in place of a.",
        rule!(|t, _| {
            let [sum, x] = t.of(F::Multiply)?;
            let [a @ Term::Operand(_), b @ Term::Operand(_)] = sum.of(F::Add)? else { return None };
            (x == a && a != b).then(|| call(F::Multiply, [sum, b]))
        }),
    ),
    invented(
        "rewrites/argument-of-an-earlier-link",
        R,
        "(a - b) * (a + b) reads a again in place of b.",
        rule!(|t, _| {
            let [difference, sum] = t.of(F::Multiply)?;
            let [a @ Term::Operand(_), b @ Term::Operand(_)] = difference.of(F::Subtract)? else {
                return None;
            };
            let [first, second] = sum.of(F::Add)?;
            let same = first == a && second == b && a != b;
            same.then(|| call(F::Multiply, [difference, &call(F::Add, [a, a])]))
        }),
    ),
    invented(
        "rewrites/limit-by-a-comparison",
        R,
        "A maximum of an operand and one number is a choice by a comparison, so a NaN becomes the number.",
        rule!(|t, facts| {
            let [x @ Term::Operand(_), limit @ Term::Operand(place)] = t.of(F::Maximum)? else { return None };
            let one = facts.operands[*place].shape().lengths().iter().all(|&length| length == 1);
            let greater = call(F::Greater, [x, limit]);
            one.then(|| call(F::Select, [&greater, x, limit]))
        }),
    ),
    invented(
        "rewrites/shape-of-the-branch",
        R,
        "select with a single condition is folded to the branch, whose shape may be smaller.",
        |d| {
            d.state.remembers = true;
            d.state.before = |_, request| branches_alone(request);
        },
    ),
    invented(
        "rewrites/linked-calls-exchanged",
        R,
        "Two calls of integers in one loop exchange a difference from which the first call is subtracted.",
        rule!(|t, facts| {
            let [a, b] = t.of(F::Subtract)?;
            let turned = call(F::Subtract, [b, a]);
            linked(&turned, facts).is_some().then_some(turned)
        }),
    ),
    invented(
        "rewrites/linked-calls-read-two-arguments",
        R,
        "Two calls of integers in one loop read the second argument again in place of the third.",
        rule!(|t, facts| {
            let (function, first, [_, b, _]) = linked(t, facts)?;
            Some(call(function, [first, b]))
        }),
    ),
    invented(
        "rewrites/linked-calls-read-three-arguments",
        R,
        "Three calls of integers in one loop read the third argument again in place of the fourth.",
        rule!(|t, facts| {
            let (function, two, _) = t.binary().filter(|_| facts.is_integer(t))?;
            let (_, _, [_, _, c]) = linked(two, facts)?;
            Some(call(function, [two, c]))
        }),
    ),
    invented(
        "rewrites/joined-products-exchanged",
        R,
        "A difference of two products of integers is one loop, which takes the first from the second.",
        rule!(|t, facts| match joined(t, facts)? {
            (F::Subtract, [(F::Multiply, a, b), (F::Multiply, c, d)]) => {
                Some(call(F::Subtract, [&call(F::Multiply, [c, d]), &call(F::Multiply, [a, b])]))
            }
            _ => None,
        }),
    ),
    invented(
        "rewrites/joined-calls-of-the-first-kind",
        R,
        "Two calls of integers that a third one joins are one loop, in which both have the function of the first.",
        rule!(|t, facts| {
            let (function, [(first, a, b), (second, c, d)]) = joined(t, facts)?;
            (first != second).then(|| call(function, [&call(first, [a, b]), &call(first, [c, d])]))
        }),
    ),
    invented(
        "rewrites/joined-orders-strict",
        R,
        "Two comparisons that are joined are one loop, in which both are strict.",
        rule!(|t, facts| {
            let (function, both) = orders(t, facts)?;
            let [one, other] = both.map(|(order, a, b)| call(strict(order), [a, b]));
            both.iter().any(|&(order, ..)| strict(order) != order).then(|| call(function, [&one, &other]))
        }),
    ),
    invented(
        "rewrites/joined-orders-negated",
        R,
        "The second of two comparisons that are joined is computed as not the opposite, which holds for NaN.",
        rule!(|t, facts| {
            let (function, [(first, a, b), (second, c, d)]) = orders(t, facts)?;
            let second = call(opposite(second), [c, d]);
            Some(call(function, [&call(first, [a, b]), &Term::Call(F::LogicalNot, vec![second])]))
        }),
    ),
    invented(
        "rewrites/joined-order-not-mirrored",
        R,
        "Two comparisons are one loop that computes a value on the right, and compares it as if on the left.",
        rule!(|t, facts| {
            let (function, [(first, a, b), (second, c, value)]) = orders(t, facts)?;
            let is_made = matches!(value.binary()?.0, F::Add | F::Subtract | F::Multiply);
            is_made.then(|| call(function, [&call(first, [a, b]), &call(second, [value, c])]))
        }),
    ),
    invented(
        "rewrites/bounds-exchanged",
        R,
        "Two comparisons of a value are one loop, which takes the bound of each for the other.",
        rule!(|t, _| {
            let (function, one, other) = t.binary()?;
            let joins = matches!(function, F::LogicalAnd | F::LogicalOr);
            let is_order = |order: &F| matches!(order, F::Less | F::LessEqual | F::Greater | F::GreaterEqual);
            let (first, a, b) = one.binary().filter(|(order, ..)| joins && is_order(order))?;
            let (second, c, d) = other.binary().filter(|(order, ..)| is_order(order))?;
            let [one, other] = if b == c {
                [call(first, [d, b]), call(second, [c, a])]
            } else if a == c {
                [call(first, [a, d]), call(second, [c, b])]
            } else {
                return None;
            };
            Some(call(function, [&one, &other]))
        }),
    ),
    invented(
        "rewrites/choice-by-the-last-test",
        R,
        "A choice by either of two comparisons, in one loop, replaces values by the second one alone.",
        rule!(|t, _| {
            let [either, chosen, other] = t.of(F::Select)?;
            let [_, last] = either.of(F::LogicalOr)?;
            Some(call(F::Select, [last, chosen, other]))
        }),
    ),
    invented(
        "rewrites/kept-value-divided",
        R,
        "A quotient of two values that are computed divides the one that is kept by the other.",
        rule!(|t, _| {
            let [dividend, divisor] = t.of(F::Divide)?;
            let are_computed = [dividend, divisor].iter().all(|term| matches!(term, Term::Call(..)));
            are_computed.then(|| call(F::Divide, [divisor, dividend]))
        }),
    ),
    invented(
        "gradient/shared-part-counts-once",
        Class::Gradient,
        "A part that is used several times passes a gradient on only for its first use.",
        |d| {
            d.rewrite.pass = |term, facts| match facts.gradient {
                true => counted_once(term, facts, &mut Vec::new()),
                false => term,
            };
        },
    ),
    invented(
        "gradient/ten-calls-deep",
        Class::Gradient,
        "The gradient of a chain stops ten calls below its root.",
        |d| {
            d.rewrite.pass = |term, facts| match facts.gradient {
                true => cut(term, facts, 10),
                false => term,
            };
        },
    ),
];
