//! Expressions that are correctly typed by construction.

use super::choices::Choices;
use super::profile::Functions;
use broadcheck_spec::{DType, Expression, Function, Node};

/// The functions from numbers to numbers of the same dtype.
pub(super) const BINARY: [Function; 5] =
    [Function::Add, Function::Subtract, Function::Multiply, Function::Maximum, Function::Minimum];
const BINARY_OF_FLOATS: [Function; 7] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Maximum,
    Function::Minimum,
    Function::Divide,
    Function::Power,
];
pub(super) const UNARY: [Function; 2] = [Function::Negate, Function::Abs];
const UNARY_OF_FLOATS: [Function; 6] =
    [Function::Negate, Function::Abs, Function::Sqrt, Function::Exp, Function::Log, Function::Tanh];
/// The comparisons of numbers.
pub(super) const COMPARISONS: [Function; 6] = [
    Function::Less,
    Function::Equal,
    Function::NotEqual,
    Function::LessEqual,
    Function::Greater,
    Function::GreaterEqual,
];
const COMPARISONS_OF_TRUTH: [Function; 2] = [Function::Equal, Function::NotEqual];
pub(super) const LOGIC: [Function; 2] = [Function::LogicalAnd, Function::LogicalOr];

/// The most leaves of an expression, and the longest chain of unary functions.
pub(super) const MAX_LEAVES: usize = 16;
const MAX_CHAIN: usize = 40;

/// The functions of a program of floats. Those that soon give infinity or NaN are rare, so that a wrong
/// operand is seen at the end.
pub(super) const STEPS_OF_FLOATS: [Function; 8] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Maximum,
    Function::Minimum,
    Function::Add,
    Function::Subtract,
    Function::Divide,
];
const STEPS_OF_ONE: [Function; 2] = [Function::Negate, Function::Abs];

/// The most nodes of a program, and of a part that is written again.
const MAX_PROGRAM: usize = 160;
const MAX_SHARED: usize = 24;

/// Builds an expression.
pub(super) struct Builder<'a> {
    pub(super) choices: &'a mut dyn Choices,
    /// The functions that may be called.
    functions: &'a Functions,
    /// How many more calls the expression may have.
    calls: usize,
    /// The operands' dtypes.
    pub(super) dtypes: &'a [DType],
    /// The operand of a gradient, whose dtype the expression has.
    pub(super) wrt: Option<usize>,
    used: u128,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        choices: &'a mut dyn Choices,
        functions: &'a Functions,
        calls: usize,
        dtypes: &'a [DType],
        wrt: Option<usize>,
    ) -> Builder<'a> {
        Builder { choices, functions, calls, dtypes, wrt, used: 0 }
    }

    /// An expression whose dtype is that of some operand, or bool. Most contain every operand that fits.
    pub(super) fn expression(&mut self) -> Expression {
        let extra = self.choices.one_of(&[0, 0, 0, 0, 0, 1, 2, 4]);
        let leaves = (self.dtypes.len() + extra).min(MAX_LEAVES);
        let number = match self.wrt {
            Some(wrt) => self.dtypes[wrt],
            None => self.dtypes.iter().copied().find(|&dtype| dtype != DType::Bool).unwrap_or(DType::Bool),
        };
        let truth = number == DType::Bool || self.wrt.is_none() && self.choices.chance(1, 8);
        let root = if truth { self.truth(leaves) } else { self.number(number, leaves) };
        let root = root.unwrap_or_else(|| Expression::operand(self.wrt.unwrap_or(0)));
        if truth { root } else { self.chain(root, number) }
    }

    /// Occasionally goes on from the root: with many unary functions, or with a longer program. The
    /// expression of many operands is deep already.
    fn chain(&mut self, root: Expression, dtype: DType) -> Expression {
        if self.dtypes.len() > MAX_LEAVES {
            return root;
        }
        match self.choices.below(64) {
            63 => {
                let length = self.choices.index(MAX_CHAIN);
                (0..length).fold(root, |root, _| self.unary(root, dtype))
            }
            57..=62 if self.calls >= 8 => self.program(root, dtype),
            _ => root,
        }
    }

    /// A chain of 8 to 20 calls that starts with the root. Each reads the one before and, if it takes
    /// another argument, an operand or an earlier value: a part that is written again, which systems that
    /// look for common parts compute once.
    fn program(&mut self, root: Expression, dtype: DType) -> Expression {
        let length = self.choices.in_range(8, 20);
        let mut last = root.clone();
        let mut values = vec![root];
        for _ in 0..length {
            let Some(next) = self.step(&last, &values, dtype) else { break };
            values.push(next.clone());
            last = next;
        }
        last
    }

    /// The next call of a program.
    fn step(&mut self, last: &Expression, values: &[Expression], dtype: DType) -> Option<Expression> {
        let room = MAX_PROGRAM.saturating_sub(last.nodes().len());
        match self.choices.index(8) {
            0 => {
                let function = self.pick(&STEPS_OF_ONE, dtype)?;
                return Some(call(function, [last.clone()]));
            }
            1 if self.calls >= 2 && self.may_call(Function::Select, dtype) => {
                let other = self.earlier(values, dtype, room)?;
                let functions = if dtype == DType::Bool { &COMPARISONS_OF_TRUTH[..] } else { &COMPARISONS };
                self.calls -= 1;
                let condition = match self.pick(functions, dtype) {
                    Some(function) => call(function, [self.leaf(dtype)?, self.leaf(dtype)?]),
                    None => self.leaf(DType::Bool)?,
                };
                return Some(call(Function::Select, [condition, last.clone(), other]));
            }
            _ => {}
        }
        let functions = if dtype.is_float() { &STEPS_OF_FLOATS[..] } else { &BINARY };
        let other = self.earlier(values, dtype, room)?;
        let function = self.pick(functions, dtype)?;
        let is_first = self.choices.chance(1, 3);
        Some(call(function, if is_first { [other, last.clone()] } else { [last.clone(), other] }))
    }

    /// An earlier value of a program that has at most this number of nodes, or an operand.
    fn earlier(&mut self, values: &[Expression], dtype: DType, room: usize) -> Option<Expression> {
        if !self.choices.chance(1, 2) {
            return self.leaf(dtype);
        }
        let fits = |value: &&Expression| {
            let calls = value.calls().count();
            value.nodes().len() <= room.min(MAX_SHARED) && (1..self.calls).contains(&calls)
        };
        let shared: Vec<&Expression> = values.iter().filter(fits).collect();
        if shared.is_empty() {
            return self.leaf(dtype);
        }
        let place = self.choices.index(shared.len());
        self.calls -= shared[place].calls().count();
        Some(shared[place].clone())
    }

    fn leaf(&mut self, want: DType) -> Option<Expression> {
        let fitting: Vec<usize> =
            (0..self.dtypes.len()).filter(|&place| self.dtypes[place] == want).collect();
        let fresh = fitting.iter().copied().find(|&place| self.used >> place.min(127) & 1 == 0);
        let place = match fresh {
            Some(fresh) if !self.choices.chance(1, 8) => fresh,
            _ if fitting.is_empty() => return None,
            _ => self.choices.one_of(&fitting),
        };
        self.used |= 1 << place.min(127);
        Some(Expression::operand(place))
    }

    /// One of these functions, if it may be called with arguments of a dtype.
    fn pick(&mut self, functions: &[Function], dtype: DType) -> Option<Function> {
        let first = self.choices.index(functions.len());
        let turned = functions[first..].iter().chain(&functions[..first]);
        let function = turned.copied().find(|&function| self.may_call(function, dtype))?;
        self.calls -= 1;
        Some(function)
    }

    fn may_call(&self, function: Function, dtype: DType) -> bool {
        self.calls > 0 && self.functions.has(function, dtype)
    }

    fn unary(&mut self, argument: Expression, dtype: DType) -> Expression {
        let functions = if dtype.is_float() { &UNARY_OF_FLOATS[..] } else { &UNARY };
        match self.pick(functions, dtype) {
            Some(function) => call(function, [argument]),
            None => argument,
        }
    }

    /// An expression of a numeric dtype.
    fn number(&mut self, want: DType, leaves: usize) -> Option<Expression> {
        if leaves <= 1 {
            let leaf = self.leaf(want)?;
            return Some(if self.choices.chance(1, 4) { self.unary(leaf, want) } else { leaf });
        }
        if leaves > 2 && self.may_call(Function::Select, want) && self.choices.chance(1, 4) {
            let part = leaves / 3;
            self.calls -= 1;
            if let Some(condition) = self.truth(part) {
                // A gradient whose operand is in a condition alone is 0: the branches should contain it as
                // well.
                self.used &= self.wrt.map_or(!0, |wrt| !(1 << wrt.min(127)));
                let one = self.number(want, part)?;
                let other = self.number(want, leaves - 2 * part)?;
                return Some(call(Function::Select, [condition, one, other]));
            }
        }
        let functions = if want.is_float() { &BINARY_OF_FLOATS[..] } else { &BINARY };
        let Some(function) = self.pick(functions, want) else { return self.number(want, 1) };
        let (left, right) = self.split(leaves);
        let arguments = [self.number(want, left)?, self.number(want, right)?];
        let whole = call(function, arguments);
        Some(if self.choices.chance(1, 12) { self.unary(whole, want) } else { whole })
    }

    fn split(&mut self, leaves: usize) -> (usize, usize) {
        let left = match self.choices.index(4) {
            0 | 1 => leaves - 1,
            2 => leaves / 2,
            _ => 1,
        };
        (left, leaves - left)
    }

    /// A boolean expression.
    fn truth(&mut self, leaves: usize) -> Option<Expression> {
        if (leaves <= 1 || self.choices.chance(1, 4))
            && let Some(leaf) = self.leaf(DType::Bool)
        {
            let negated = self.may_call(Function::LogicalNot, DType::Bool) && self.choices.chance(1, 4);
            self.calls -= usize::from(negated);
            return Some(if negated { call(Function::LogicalNot, [leaf]) } else { leaf });
        }
        if leaves > 2
            && self.choices.chance(1, 2)
            && let Some(function) = self.pick(&LOGIC, DType::Bool)
        {
            let (left, right) = self.split(leaves);
            let arguments = [self.truth(left)?, self.truth(right)?];
            return Some(call(function, arguments));
        }
        let dtype = self.choices.one_of(self.dtypes);
        let functions = if dtype == DType::Bool { &COMPARISONS_OF_TRUTH[..] } else { &COMPARISONS };
        let function = self.pick(functions, dtype)?;
        Some(call(function, [self.leaf(dtype)?, self.leaf(dtype)?]))
    }
}

/// A call with as many arguments as the function takes.
pub(crate) fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("as many arguments as the function takes")
}

/// The expression with all operands. Those that it does not contain are joined to its root and get its dtype.
pub(super) fn with_every_operand(
    mut expression: Expression,
    functions: &Functions,
    dtypes: &mut [DType],
) -> Expression {
    let root = dtype_at(expression.nodes(), expression.nodes().len() - 1, dtypes);
    let joining = if root == DType::Bool { &LOGIC[..] } else { &BINARY };
    let Some(&function) = joining.iter().find(|&&function| functions.has(function, root)) else {
        return expression;
    };
    for (place, dtype) in dtypes.iter_mut().enumerate() {
        if !expression.reads(place) {
            *dtype = root;
            expression = call(function, [expression, Expression::operand(place)]);
        }
    }
    expression
}

/// The dtype of a node of a correctly typed expression.
fn dtype_at(nodes: &[Node], place: usize, dtypes: &[DType]) -> DType {
    match &nodes[place] {
        Node::Operand(operand) => dtypes[*operand],
        Node::Call(call) => {
            let function = call.function();
            let is_truth = [&COMPARISONS[..], &LOGIC, &[Function::LogicalNot]].concat().contains(&function);
            match call.arguments().last() {
                Some(&last) if !is_truth => dtype_at(nodes, last, dtypes),
                _ => DType::Bool,
            }
        }
    }
}

/// The dtypes of the operands: mostly one for all, sometimes with a bool or another number among them.
pub(super) fn dtypes(choices: &mut dyn Choices, from: &[DType], count: usize, gradient: bool) -> Vec<DType> {
    let floats: Vec<DType> = from.iter().copied().filter(|dtype| dtype.is_float()).collect();
    let weighted = !floats.is_empty() && (gradient || choices.chance(1, 3));
    let main = choices.one_of(if weighted { &floats } else { from });
    let mut dtypes = vec![main; count];
    if count > 1 && choices.chance(1, 4) {
        let other = if choices.chance(1, 3) { choices.one_of(from) } else { DType::Bool };
        if from.contains(&other) {
            let place = choices.index(count);
            dtypes[place] = other;
        }
    }
    dtypes
}
