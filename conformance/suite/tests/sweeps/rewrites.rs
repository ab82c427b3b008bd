//! Every planted rewrite fails a case of the sweeps of rewrites.

use crate::SHIPPED;
use broadcheck::run::{Status, run_case};
use broadcheck::sweeps::{Expansion, expand};
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, Case, Expression, Function, Implementation, Node, Operation, Outcome, Request,
};
use std::collections::BTreeMap;

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).unwrap()
}

/// The function at the root, with its arguments.
fn root(expression: &Expression) -> Option<(Function, Vec<Expression>)> {
    match expression.nodes().last() {
        Some(Node::Call(call)) => {
            let arguments = call.arguments().iter().map(|&place| expression.part(place)).collect();
            Some((call.function(), arguments))
        }
        _ => None,
    }
}

/// A rule of an optimiser: the replacement of an expression, or `None` to keep it.
type Rule = fn(Function, &[Expression]) -> Option<Expression>;

/// An implementation that rewrites the expression first.
struct Optimised {
    rule: Rule,
}

impl Optimised {
    fn rewritten(&self, expression: &Expression) -> Expression {
        expression.rewrite(|_, node| {
            let changed = root(&node).and_then(|(function, arguments)| (self.rule)(function, &arguments));
            changed.unwrap_or(node)
        })
    }
}

impl Implementation for Optimised {
    fn name(&self) -> &'static str {
        "optimised"
    }
    fn version(&self) -> &'static str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let (rules, operation, operands) = request.clone().into_parts();
        let Operation::Elementwise { expression } = operation else { return Reference.run(request) };
        let expression = self.rewritten(&expression);
        match Request::new(rules, Operation::Elementwise { expression }, operands) {
            Ok(changed) => Reference.run(&changed),
            Err(_) => Reference.run(request),
        }
    }
}

/// The function at the root of an argument, with its arguments.
fn is(argument: &Expression, wanted: Function) -> Option<Vec<Expression>> {
    root(argument).filter(|(function, _)| *function == wanted).map(|(_, arguments)| arguments)
}

use Function::{
    Abs, Add, Divide, Equal, Exp, Greater, GreaterEqual, Less, LessEqual, Log, LogicalAnd, LogicalNot,
    LogicalOr, Maximum, Minimum, Multiply, Negate, NotEqual, Power, Select, Sqrt, Subtract, Tanh,
};

/// Each rule with the sweep that it fails.
const RULES: &[(&str, &str, Rule)] = &[
    ("(a + b) - b is a", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Subtract, [sum, b]) => is(sum, Add).filter(|sum| sum[1] == *b).map(|sum| sum[0].clone()),
        _ => None,
    }),
    ("(a - b) + b is a", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Add, [rest, b]) => is(rest, Subtract).filter(|rest| rest[1] == *b).map(|rest| rest[0].clone()),
        _ => None,
    }),
    ("a - (a - b) is b", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Subtract, [a, rest]) => is(rest, Subtract).filter(|rest| rest[0] == *a).map(|rest| rest[1].clone()),
        _ => None,
    }),
    ("-(a - b) is b - a", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Negate, [rest]) => is(rest, Subtract).map(|rest| call(Subtract, rest.into_iter().rev())),
        _ => None,
    }),
    ("(a + b) + c is a + (b + c)", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Add, [sum, c]) => {
            is(sum, Add).map(|sum| call(Add, [sum[0].clone(), call(Add, [sum[1].clone(), c.clone()])]))
        }
        _ => None,
    }),
    ("a * (b * c) is (a * b) * c", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Multiply, [a, rest]) => is(rest, Multiply)
            .map(|rest| call(Multiply, [call(Multiply, [a.clone(), rest[0].clone()]), rest[1].clone()])),
        _ => None,
    }),
    ("a - b - c is a - (b + c)", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Subtract, [rest, c]) => is(rest, Subtract)
            .map(|rest| call(Subtract, [rest[0].clone(), call(Add, [rest[1].clone(), c.clone()])])),
        _ => None,
    }),
    ("a * b + a * c is a * (b + c)", "arithmetic-floats", |function, arguments| {
        match (function, arguments) {
            (Add, [left, right]) => is(left, Multiply)
                .zip(is(right, Multiply))
                .filter(|(left, right)| left[0] == right[0])
                .map(|(left, right)| {
                    call(Multiply, [left[0].clone(), call(Add, [left[1].clone(), right[1].clone()])])
                }),
            _ => None,
        }
    }),
    ("b * (a / a) is b", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Multiply, [b, quotient]) => {
            is(quotient, Divide).filter(|quotient| quotient[0] == quotient[1]).map(|_| b.clone())
        }
        _ => None,
    }),
    ("a / b * b is a", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Multiply, [quotient, b]) => {
            is(quotient, Divide).filter(|quotient| quotient[1] == *b).map(|quotient| quotient[0].clone())
        }
        _ => None,
    }),
    ("a / b is a * (1 / b)", "arithmetic-floats", |function, arguments| match (function, arguments) {
        // Written with b / b for 1.
        (Divide, [a, b]) if a != b => {
            let one = call(Divide, [b.clone(), b.clone()]);
            Some(call(Multiply, [a.clone(), call(Divide, [one, b.clone()])]))
        }
        _ => None,
    }),
    ("a / b / c is a / (b * c)", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Divide, [quotient, c]) => is(quotient, Divide).map(|quotient| {
            call(Divide, [quotient[0].clone(), call(Multiply, [quotient[1].clone(), c.clone()])])
        }),
        _ => None,
    }),
    ("sqrt a * sqrt a is a", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Multiply, [left, right]) if left == right => is(left, Sqrt).map(|left| left[0].clone()),
        _ => None,
    }),
    ("sqrt(a * a) is abs a", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Sqrt, [square]) => is(square, Multiply)
            .filter(|square| square[0] == square[1])
            .map(|square| call(Abs, square[..1].to_vec())),
        _ => None,
    }),
    ("sqrt a * sqrt b is sqrt(a * b)", "arithmetic-floats", |function, arguments| {
        match (function, arguments) {
            (Multiply, [left, right]) => {
                let [left, right] = [is(left, Sqrt)?, is(right, Sqrt)?];
                Some(call(Sqrt, [call(Multiply, [left[0].clone(), right[0].clone()])]))
            }
            _ => None,
        }
    }),
    ("abs a * abs b is a * b", "arithmetic-floats", |function, arguments| match (function, arguments) {
        (Multiply, [left, right]) => {
            let [left, right] = [is(left, Abs)?, is(right, Abs)?];
            Some(call(Multiply, [left[0].clone(), right[0].clone()]))
        }
        _ => None,
    }),
    ("abs a is max(a, -a)", "arithmetic-floats", |function, arguments| match (function, arguments) {
        // As a selection, which has no zero of its own.
        (Abs, [a]) => {
            let negated = call(Negate, [a.clone()]);
            Some(call(Select, [call(Less, [a.clone(), negated.clone()]), negated, a.clone()]))
        }
        _ => None,
    }),
    ("max(a, b) is select(a > b, a, b)", "choices-floats", |function, arguments| {
        match (function, arguments) {
            (Maximum, [a, b]) => {
                Some(call(Select, [call(Greater, [a.clone(), b.clone()]), a.clone(), b.clone()]))
            }
            _ => None,
        }
    }),
    ("select(a < b, a, b) is min(a, b)", "choices-floats", |function, arguments| {
        match (function, arguments) {
            (Select, [condition, a, b]) => is(condition, Less)
                .filter(|less| less[0] == *a && less[1] == *b)
                .map(|less| call(Minimum, less)),
            _ => None,
        }
    }),
    ("select(a == b, a, b) is b", "choices-floats", |function, arguments| match (function, arguments) {
        (Select, [condition, a, b]) => {
            is(condition, Equal).filter(|equal| equal[0] == *a && equal[1] == *b).map(|_| b.clone())
        }
        _ => None,
    }),
    ("max(a, min(a, b)) is a", "choices-floats", |function, arguments| match (function, arguments) {
        (Maximum, [a, least]) => is(least, Minimum).filter(|least| least[0] == *a).map(|_| a.clone()),
        _ => None,
    }),
    ("not (a < b) is a >= b", "choices-floats", |function, arguments| match (function, arguments) {
        (LogicalNot, [less]) => is(less, Less).map(|less| call(GreaterEqual, less)),
        _ => None,
    }),
    ("not (a > b) is a <= b", "choices-floats", |function, arguments| match (function, arguments) {
        (LogicalNot, [greater]) => is(greater, Greater).map(|greater| call(LessEqual, greater)),
        _ => None,
    }),
    ("a < b or a > b is a != b", "choices-floats", |function, arguments| match (function, arguments) {
        (LogicalOr, [less, greater]) => {
            let [less, greater] = [is(less, Less)?, is(greater, Greater)?];
            (less == greater).then(|| call(NotEqual, less))
        }
        _ => None,
    }),
    ("a <= a is a == a or a != a", "choices-floats", |function, arguments| match (function, arguments) {
        (LessEqual, [a, b]) if a == b => {
            let same = call(Equal, [a.clone(), a.clone()]);
            Some(call(LogicalOr, [same.clone(), call(LogicalNot, [same])]))
        }
        _ => None,
    }),
    ("a - b > 0 is a > b", "choices-floats", |function, arguments| match (function, arguments) {
        (Greater, [rest, zero]) => {
            let [rest, zero] = [is(rest, Subtract)?, is(zero, Subtract)?];
            (zero[0] == zero[1]).then(|| call(Greater, rest))
        }
        _ => None,
    }),
    ("a + c < b + c is a < b", "choices-floats", |function, arguments| match (function, arguments) {
        (Less, [left, right]) => {
            let [left, right] = [is(left, Add)?, is(right, Add)?];
            (left[1] == right[1]).then(|| call(Less, [left[0].clone(), right[0].clone()]))
        }
        _ => None,
    }),
    ("-a < -b is b < a", "choices-integers", |function, arguments| match (function, arguments) {
        (Less, [left, right]) => {
            let [left, right] = [is(left, Negate)?, is(right, Negate)?];
            Some(call(Less, [right[0].clone(), left[0].clone()]))
        }
        _ => None,
    }),
    ("select(not p, a, b) is select(p, a, b)", "choices-floats", |function, arguments| {
        match (function, arguments) {
            (Select, [condition, a, b]) => {
                is(condition, LogicalNot).map(|p| call(Select, [p[0].clone(), a.clone(), b.clone()]))
            }
            _ => None,
        }
    }),
    ("not (p and q) is (not p) and (not q)", "bools", |function, arguments| match (function, arguments) {
        (LogicalNot, [both]) => is(both, LogicalAnd)
            .map(|both| call(LogicalAnd, both.into_iter().map(|one| call(LogicalNot, [one])))),
        _ => None,
    }),
    ("exp(log a) is a", "inexact-floats", |function, arguments| match (function, arguments) {
        (Exp, [log]) => is(log, Log).map(|log| log[0].clone()),
        _ => None,
    }),
    ("log(exp a) is a", "inexact-floats", |function, arguments| match (function, arguments) {
        (Log, [exp]) => is(exp, Exp).map(|exp| exp[0].clone()),
        _ => None,
    }),
    ("log(a * b) is log a + log b", "inexact-floats", |function, arguments| match (function, arguments) {
        (Log, [product]) => is(product, Multiply)
            .map(|product| call(Add, product.into_iter().map(|factor| call(Log, [factor])))),
        _ => None,
    }),
    ("exp a * exp b is exp(a + b)", "inexact-floats", |function, arguments| match (function, arguments) {
        (Multiply, [left, right]) => {
            let [left, right] = [is(left, Exp)?, is(right, Exp)?];
            Some(call(Exp, [call(Add, [left[0].clone(), right[0].clone()])]))
        }
        _ => None,
    }),
    ("power(a, b) is exp(b log a)", "inexact-floats", |function, arguments| match (function, arguments) {
        (Power, [a, b]) => Some(call(Exp, [call(Multiply, [b.clone(), call(Log, [a.clone()])])])),
        _ => None,
    }),
    ("log(power(a, b)) is b log a", "inexact-floats", |function, arguments| match (function, arguments) {
        (Log, [power]) => {
            is(power, Power).map(|power| call(Multiply, [power[1].clone(), call(Log, power[..1].to_vec())]))
        }
        _ => None,
    }),
    ("tanh(abs a) is tanh a", "inexact-floats", |function, arguments| match (function, arguments) {
        (Tanh, [abs]) => is(abs, Abs).map(|abs| call(Tanh, abs)),
        _ => None,
    }),
];

#[test]
fn every_rewrite_is_seen() {
    let expanded: BTreeMap<String, Vec<Case>> = SHIPPED
        .iter()
        .filter(|sweep| RULES.iter().any(|(_, topic, _)| sweep.id == id(topic)))
        .map(|sweep| match expand(sweep) {
            Ok(Expansion::Cases(cases)) => (sweep.id.clone(), cases),
            _ => panic!("{} has cases", sweep.id),
        })
        .collect();
    for &(name, topic, rule) in RULES {
        let optimised = Optimised { rule };
        let is_changed = |case: &&Case| {
            let Operation::Elementwise { expression } = case.request.operation() else { return false };
            optimised.rewritten(expression) != *expression
        };
        let mut changed = expanded[&id(topic)].iter().filter(is_changed);
        let is_seen = changed.any(|case| run_case(&optimised, case, None).status == Status::Failed);
        assert!(is_seen, "{name}");
    }
}

fn id(topic: &str) -> String {
    format!("numpy/rewrites/{topic}")
}
