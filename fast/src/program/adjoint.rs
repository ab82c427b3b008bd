//! The gradient as a program (clauses GRAD-1, GRAD-3 and GRAD-4). From the root down to every occurrence of
//! w, the derivatives on the path are multiplied, and a truth value says whether the path is taken at an
//! index. A path that is not taken is left out by `select`, never multiplied by 0.
#![deny(clippy::wildcard_enum_match_arm)]

use super::graph::{Graph, Slope};
use broadcheck_spec::{Call, DType, Expression, Function, Node};
use smallvec::SmallVec;

/// The factor of an occurrence (`None` for 1), and the condition under which it counts (`None` for always).
#[derive(Clone, Copy, Default)]
struct Path {
    factor: Option<u32>,
    taken: Option<Condition>,
}

/// A truth value, and whether it is wanted to be true.
type Condition = (u32, bool);

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
                    let is_last = matches!(nodes[place], Node::Operand(_));
                    let call = (call.function(), arguments, values[at]);
                    paths[place] = Some(writer.below(path, call, which, is_last));
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
            Some((taken, wanted)) => {
                let zero = self.number(0.0);
                let [chosen, other] = if wanted { [factor, zero] } else { [zero, factor] };
                self.call(Function::Select, &[taken, chosen, other])
            }
            None => factor,
        }
    }

    /// The path of argument `which` of a call with the given path. `r` is the value of the call. `is_last`
    /// says whether that argument is an operand, so that no factor follows.
    fn below(
        &mut self,
        path: Path,
        (function, arguments, r): (Function, [u32; 3], u32),
        which: usize,
        is_last: bool,
    ) -> Path {
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
            (F::Power, 0) => self.graph.slope(self.dtype, Slope::PowerByBase, [a, b, a]),
            (F::Power, _) => self.power_by_exponent(a, b, r),
            (F::Abs, _) => self.sign(a),
            (F::Maximum | F::Minimum, _) if is_last && path.taken.is_none() => {
                let [larger, smaller] =
                    if (function == F::Maximum) == (which == 0) { [a, b] } else { [b, a] };
                let factor = path.factor.unwrap_or_else(|| self.number(1.0));
                let factor = self.graph.slope(self.dtype, Slope::Winner, [larger, smaller, factor]);
                return Path { factor: Some(factor), taken: None };
            }
            (F::Maximum | F::Minimum, _) => return self.winner(path, function, arguments, which),
            (F::Select, _) => return self.only_where(path, (arguments[0], which == 1)),
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

    fn only_where(&mut self, path: Path, condition: Condition) -> Path {
        let taken = match path.taken {
            Some(taken) => {
                let both = [self.holds(taken), self.holds(condition)];
                (self.logic(Function::LogicalAnd, &both), true)
            }
            None => condition,
        };
        Path { taken: Some(taken), ..path }
    }

    /// Whether a condition holds, as a value.
    fn holds(&mut self, (value, wanted): Condition) -> u32 {
        if wanted { value } else { self.logic(Function::LogicalNot, &[value]) }
    }

    fn reciprocal(&mut self, value: u32) -> u32 {
        let one = self.number(1.0);
        self.call(Function::Divide, &[one, value])
    }

    /// 0 if x = 0 and y >= 0, otherwise r log x. The power of halves is rounded to a half first, and may then
    /// be infinite or 0.
    fn power_by_exponent(&mut self, x: u32, y: u32, r: u32) -> u32 {
        if self.graph.dtype(r) == self.dtype {
            return self.graph.slope(self.dtype, Slope::PowerByExponent, [x, y, x]);
        }
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
        self.only_where(Path { factor: Some(factor), ..path }, (loses, false))
    }
}
