//! The gradient as a program (clauses GRAD-1, GRAD-3 and GRAD-4). From the root down to every occurrence of
//! w, the derivatives on the path are multiplied, and a truth value says whether the path is taken at an
//! index. A path that is not taken is left out by `select`, never multiplied by 0.
#![deny(clippy::wildcard_enum_match_arm)]

use super::graph::Graph;
use broadcheck_spec::{Call, DType, Expression, Function, Node};
use smallvec::SmallVec;

/// The factor of an occurrence (`None` for 1), and the condition under which it counts (`None` for always).
#[derive(Clone, Copy, Default)]
struct Path {
    factor: Option<u32>,
    taken: Option<u32>,
}

/// The value whose sum is the gradient by operand `wrt`, in f64 for f64 and in f32 for other dtypes. `None`
/// if w does not occur. `values` are the forward values of the expression's nodes; `weight` is the
/// cotangent's value, if there is one (clause GRAD-4).
pub(crate) fn gradient(
    graph: &mut Graph,
    expression: &Expression,
    values: &[u32],
    wrt: usize,
    weight: Option<u32>,
) -> Option<u32> {
    let nodes = expression.nodes();
    let dtype = if graph.dtype(values[nodes.len() - 1]) == DType::F64 { DType::F64 } else { DType::F32 };
    // Whether w is below a node, other than in a condition.
    let mut holds: SmallVec<[bool; 32]> = SmallVec::new();
    for node in nodes {
        holds.push(match node {
            Node::Operand(place) => *place == wrt,
            Node::Call(call) => smooth(call).any(|(_, argument)| holds[argument]),
        });
    }
    // Each node of a tree has one path to the root, which is known before its arguments are visited. The
    // nodes of a condition have none.
    let mut paths: SmallVec<[Option<Path>; 32]> = smallvec::smallvec![None; nodes.len()];
    paths[nodes.len() - 1] = Some(Path { factor: weight, taken: None });
    let mut writer = Writer { graph, dtype };
    let mut sum: Option<u32> = None;
    for (at, node) in nodes.iter().enumerate().rev() {
        let Some(path) = paths[at].filter(|_| holds[at]) else { continue };
        match node {
            Node::Operand(_) => {
                let term = writer.term(path);
                sum = Some(sum.map_or(term, |sum| writer.call(Function::Add, &[sum, term])));
            }
            Node::Call(call) => {
                let mut arguments = [0; 3];
                for (argument, &place) in arguments.iter_mut().zip(call.arguments()) {
                    *argument = values[place];
                }
                for (which, place) in smooth(call).filter(|&(_, place)| holds[place]) {
                    paths[place] = Some(writer.below(path, call.function(), arguments, values[at], which));
                }
            }
        }
    }
    sum
}

/// The arguments of a call through which a derivative passes, with their positions: all but a condition,
/// which is flat almost everywhere.
fn smooth(call: &Call) -> impl Iterator<Item = (usize, usize)> {
    let from = if call.function() == Function::Select { 1 } else { 0 };
    call.arguments().iter().copied().enumerate().skip(from)
}

struct Writer<'a> {
    graph: &'a mut Graph,
    dtype: DType,
}

impl Writer<'_> {
    fn call(&mut self, function: Function, arguments: &[u32]) -> u32 {
        self.graph.call_in(self.dtype, function, arguments)
    }

    fn number(&mut self, number: f64) -> u32 {
        self.graph.constant(number, self.dtype)
    }

    fn logic(&mut self, function: Function, arguments: &[u32]) -> u32 {
        self.graph.call_in(DType::Bool, function, arguments)
    }

    /// The contribution of an occurrence at an index.
    fn term(&mut self, path: Path) -> u32 {
        let factor = path.factor.unwrap_or_else(|| self.number(1.0));
        match path.taken {
            Some(taken) => {
                let zero = self.number(0.0);
                self.call(Function::Select, &[taken, factor, zero])
            }
            None => factor,
        }
    }

    /// The path of argument `which` of a call with the given path. `r` is the value of the call.
    fn below(&mut self, path: Path, function: Function, arguments: [u32; 3], r: u32, which: usize) -> Path {
        use Function as F;
        let [a, b, _] = arguments;
        let derivative = match (function, which) {
            (F::Subtract, 1) | (F::Negate, _) => {
                // 1 * -1 and x * -1 are exact, so the factor is negated.
                let factor = path.factor.unwrap_or_else(|| self.number(1.0));
                return Path { factor: Some(self.call(F::Negate, &[factor])), ..path };
            }
            (F::Multiply, 0) => b,
            (F::Multiply, _) => a,
            (F::Divide, 0) => self.reciprocal(b),
            (F::Divide, _) => {
                let quotient = self.call(F::Divide, &[r, b]);
                self.call(F::Negate, &[quotient])
            }
            (F::Exp, _) => r,
            (F::Log, _) => self.reciprocal(a),
            (F::Sqrt, _) => {
                let twice = self.call(F::Add, &[r, r]);
                self.reciprocal(twice)
            }
            (F::Tanh, _) => {
                let (one, square) = (self.number(1.0), self.call(F::Multiply, &[r, r]));
                self.call(F::Subtract, &[one, square])
            }
            (F::Power, 0) => self.power_by_base(a, b, r),
            (F::Power, _) => self.power_by_exponent(a, b, r),
            (F::Abs, _) => self.sign(a),
            (F::Maximum | F::Minimum, _) => return self.winner(path, function, arguments, which),
            (F::Select, _) => {
                let condition = arguments[0];
                let condition = if which == 1 { condition } else { self.logic(F::LogicalNot, &[condition]) };
                return self.only_where(path, condition);
            }
            (F::Add, _) | (F::Subtract, _) => return path,
            // These return a bool: they are in conditions, which have no path, or at a root that is refused.
            (
                F::Equal
                | F::NotEqual
                | F::Less
                | F::LessEqual
                | F::Greater
                | F::GreaterEqual
                | F::LogicalAnd
                | F::LogicalOr
                | F::LogicalNot,
                _,
            ) => return path,
        };
        let factor = match path.factor {
            Some(factor) => self.call(F::Multiply, &[factor, derivative]),
            None => derivative,
        };
        Path { factor: Some(factor), ..path }
    }

    fn only_where(&mut self, path: Path, condition: u32) -> Path {
        let taken = match path.taken {
            Some(taken) => self.logic(Function::LogicalAnd, &[taken, condition]),
            None => condition,
        };
        Path { taken: Some(taken), ..path }
    }

    fn reciprocal(&mut self, value: u32) -> u32 {
        let one = self.number(1.0);
        self.call(Function::Divide, &[one, value])
    }

    /// 0 if y = 0, otherwise y x^(y-1).
    fn power_by_base(&mut self, x: u32, y: u32, r: u32) -> u32 {
        let zero = self.number(0.0);
        let power = self.power_of_one_less(x, y, r);
        let product = self.call(Function::Multiply, &[y, power]);
        let none = self.call(Function::Equal, &[y, zero]);
        self.call(Function::Select, &[none, zero, product])
    }

    /// x^(y-1), where y - 1 may be inexact. A float that is too large to have a ones digit is even, and y - 1
    /// rounds to it or to another even number. The power is then that of |x|, with the sign of x. Also, y - 1
    /// may round to an integer when y is not one. A negative x has no such power, which `r`, the value of
    /// x^y, shows by being a NaN.
    fn power_of_one_less(&mut self, x: u32, y: u32, r: u32) -> u32 {
        use Function as F;
        let ones_end = if self.dtype == DType::F64 { 2f64.powi(53) } else { 2f64.powi(24) };
        let (zero, one, end, infinity) =
            (self.number(0.0), self.number(1.0), self.number(ones_end), self.number(f64::INFINITY));
        let size = self.call(F::Abs, &[y]);
        let (large, finite) =
            (self.logic(F::GreaterEqual, &[size, end]), self.logic(F::Less, &[size, infinity]));
        let even = self.logic(F::LogicalAnd, &[large, finite]);
        let absolute = self.call(F::Abs, &[x]);
        let base = self.call(F::Select, &[even, absolute, x]);
        let less = self.call(F::Subtract, &[y, one]);
        let power = self.call(F::Power, &[base, less]);
        // 1 / x is negative for x = -0 too. If 1 / x is -0, x itself is negative.
        let reciprocal = self.reciprocal(x);
        let (below, inverse_below) =
            (self.logic(F::Less, &[x, zero]), self.logic(F::Less, &[reciprocal, zero]));
        let negative = self.logic(F::LogicalOr, &[below, inverse_below]);
        let turned = self.logic(F::LogicalAnd, &[even, negative]);
        let opposite = self.call(F::Negate, &[power]);
        let signed = self.call(F::Select, &[turned, opposite, power]);
        let none = self.logic(F::NotEqual, &[r, r]);
        let none = self.logic(F::LogicalAnd, &[none, below]);
        self.call(F::Select, &[none, r, signed])
    }

    /// 0 if x = 0 and y >= 0, otherwise r log x.
    fn power_by_exponent(&mut self, x: u32, y: u32, r: u32) -> u32 {
        let zero = self.number(0.0);
        let log = self.call(Function::Log, &[x]);
        let product = self.call(Function::Multiply, &[r, log]);
        let base = self.call(Function::Equal, &[x, zero]);
        let exponent = self.call(Function::GreaterEqual, &[y, zero]);
        let none = self.logic(Function::LogicalAnd, &[base, exponent]);
        self.call(Function::Select, &[none, zero, product])
    }

    /// 1 for positive x, -1 for negative x, and x itself for 0 and NaN.
    fn sign(&mut self, x: u32) -> u32 {
        let (zero, one, minus) = (self.number(0.0), self.number(1.0), self.number(-1.0));
        let below = self.call(Function::Less, &[x, zero]);
        let rest = self.call(Function::Select, &[below, minus, x]);
        let above = self.call(Function::Greater, &[x, zero]);
        self.call(Function::Select, &[above, one, rest])
    }

    /// The derivative of maximum or minimum by the winner is 1. If both are equal, it is one half by each; if
    /// either is a NaN, it is a NaN. The path of the loser is not taken.
    fn winner(&mut self, path: Path, function: Function, arguments: [u32; 3], which: usize) -> Path {
        use Function as F;
        let (own, other) = (arguments[which], arguments[1 - which]);
        let (wins, loses) =
            if function == F::Maximum { (F::Greater, F::Less) } else { (F::Less, F::Greater) };
        let (one, half, nan) = (self.number(1.0), self.number(0.5), self.number(f64::NAN));
        let equal = self.call(F::Equal, &[own, other]);
        let rest = self.call(F::Select, &[equal, half, nan]);
        let wins = self.call(wins, &[own, other]);
        let share = self.call(F::Select, &[wins, one, rest]);
        let factor = match path.factor {
            Some(factor) => self.call(F::Multiply, &[factor, share]),
            None => share,
        };
        let loses = self.call(loses, &[own, other]);
        let stays = self.logic(F::LogicalNot, &[loses]);
        self.only_where(Path { factor: Some(factor), ..path }, stays)
    }
}
