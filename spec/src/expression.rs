//! Expressions: what is computed at each index. An expression is a list of nodes in post-order, so that code
//! can walk it without recursion, however deeply it is nested.

use crate::{Exactness, Function};

/// One step of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The operand at this position in the request's list.
    Operand(usize),
    /// A function of earlier nodes.
    Call(Call),
}

/// A function with the positions of its arguments in [`Expression::nodes`]. Arguments come before their call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    function: Function,
    arguments: [usize; 3],
}

impl Call {
    /// The function that is called.
    pub fn function(&self) -> Function {
        self.function
    }

    /// The positions of the arguments, in order: as many as the function's arity.
    pub fn arguments(&self) -> &[usize] {
        &self.arguments[..self.function.arity()]
    }
}

/// An expression over the operands of a request: a tree in post-order. The last node is the root, and every
/// other node is the argument of exactly one call.
///
/// ```
/// use broadcheck_spec::{Expression, Function};
/// // exp(a * b), with a the operand 0 and b the operand 1
/// let operands = [Expression::operand(0), Expression::operand(1)];
/// let product = Expression::call(Function::Multiply, operands).unwrap();
/// let whole = Expression::call(Function::Exp, [product]).unwrap();
/// assert_eq!(whole.nodes().len(), 4);
/// assert_eq!(whole.display(&["a", "b"]), "[exp, [multiply, a, b]]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    nodes: Vec<Node>,
}

/// A call whose number of arguments differs from the function's arity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongArity {
    /// The function.
    pub function: Function,
    /// The number of arguments found.
    pub found: usize,
}

impl std::fmt::Display for WrongArity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let WrongArity { function, found } = self;
        write!(f, "`{function}` with {found} arguments: expected {}", function.arity())
    }
}

impl std::error::Error for WrongArity {}

impl Expression {
    /// The expression that consists of one operand.
    pub fn operand(operand: usize) -> Expression {
        Expression { nodes: vec![Node::Operand(operand)] }
    }

    /// A function applied to expressions.
    ///
    /// # Errors
    /// [`WrongArity`] if the number of arguments differs from the function's arity.
    pub fn call(
        function: Function,
        arguments: impl IntoIterator<Item = Expression>,
    ) -> Result<Expression, WrongArity> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut places = Vec::new();
        for argument in arguments {
            let shift = nodes.len();
            nodes.extend(argument.nodes.into_iter().map(|node| shifted(node, shift)));
            places.push(nodes.len() - 1);
        }
        if places.len() != function.arity() {
            return Err(WrongArity { function, found: places.len() });
        }
        places.resize(3, 0);
        nodes.push(Node::Call(Call { function, arguments: [places[0], places[1], places[2]] }));
        Ok(Expression { nodes })
    }

    /// The nodes in post-order: arguments before their call, from left to right; the root is last.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The calls in post-order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Call(call) => Some(call),
            Node::Operand(_) => None,
        })
    }

    /// Whether the expression reads this operand.
    pub fn reads(&self, operand: usize) -> bool {
        self.nodes.contains(&Node::Operand(operand))
    }

    /// The highest operand position that is read.
    pub(crate) fn highest_operand(&self) -> usize {
        let places = self.nodes.iter().map(|node| if let Node::Operand(place) = node { *place } else { 0 });
        places.max().unwrap_or(0)
    }

    /// Whether the expression has no function for which clause V-4 allows a few ULP (clause V-4b).
    pub fn is_exact(&self) -> bool {
        self.calls().all(|call| call.function.exactness() == Exactness::Exact)
    }

    /// Computes a value for every node, in post-order: `operand` returns the value of an operand, `call` that
    /// of a function given the values of its arguments. The last value is the root's.
    ///
    /// # Errors
    /// The first error of `call`.
    pub fn try_values<T: Clone, E>(
        &self,
        mut operand: impl FnMut(usize) -> T,
        mut call: impl FnMut(Function, &[T]) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        let mut arguments: Vec<T> = Vec::with_capacity(3);
        for node in &self.nodes {
            let value = match node {
                Node::Operand(place) => operand(*place),
                Node::Call(found) => {
                    arguments.clear();
                    arguments.extend(found.arguments().iter().map(|&place| values[place].clone()));
                    call(found.function, &arguments)?
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    /// Like [`try_values`](Expression::try_values), for a `call` that cannot fail.
    pub fn values<T: Clone>(
        &self,
        operand: impl FnMut(usize) -> T,
        mut call: impl FnMut(Function, &[T]) -> T,
    ) -> Vec<T> {
        let values = self.try_values(operand, |function, arguments| {
            Ok::<T, std::convert::Infallible>(call(function, arguments))
        });
        match values {
            Ok(values) => values,
            Err(never) => match never {},
        }
    }

    /// For each node, whether a derivative passes through it on the way from the root to the operand (clause
    /// GRAD-3): it contains the operand, and it is not in the condition of a `select`.
    pub fn holds(&self, operand: usize) -> Vec<bool> {
        let mut holds = self.values(
            |place| place == operand,
            |function, arguments| function.values_of(arguments).contains(&true),
        );
        // In reverse order a call comes before its arguments, so a condition is cleared from its root down.
        for (place, node) in self.nodes.iter().enumerate().rev() {
            let Node::Call(call) = node else { continue };
            let values = call.function.values_of(call.arguments());
            for argument in call.arguments() {
                holds[*argument] &= holds[place] && values.contains(argument);
            }
        }
        holds
    }

    /// Folds the expression from the leaves up: `build` receives each node with its position in
    /// [`nodes`](Expression::nodes) and the results for its arguments. Returns the result for the root.
    pub fn fold<T>(&self, mut build: impl FnMut(usize, Node, Vec<T>) -> T) -> T {
        let mut built: Vec<T> = Vec::new();
        for (place, &node) in self.nodes.iter().enumerate() {
            let arguments = match node {
                Node::Operand(_) => Vec::new(),
                Node::Call(call) => built.split_off(built.len() - call.function.arity()),
            };
            built.push(build(place, node, arguments));
        }
        built.pop().expect("an expression has a root")
    }

    /// Rebuilds the expression from the leaves up: each node, with its arguments already rewritten, is
    /// replaced by the return value of `change`, which also receives the node's position in
    /// [`nodes`](Expression::nodes).
    ///
    /// ```
    /// use broadcheck_spec::{Expression, Function};
    /// let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)])?;
    /// let negate = |node| Expression::call(Function::Negate, [node]).unwrap();
    /// let negated = |place, node| if place == 1 { negate(node) } else { node };
    /// assert_eq!(sum.rewrite(negated).display(&["a", "b"]), "[add, a, [negate, b]]");
    /// # Ok::<(), broadcheck_spec::WrongArity>(())
    /// ```
    #[must_use]
    pub fn rewrite(&self, mut change: impl FnMut(usize, Expression) -> Expression) -> Expression {
        self.fold(|place, node, arguments| {
            let rebuilt = match node {
                Node::Operand(operand) => Expression::operand(operand),
                Node::Call(call) => {
                    Expression::call(call.function, arguments).expect("the same number of arguments")
                }
            };
            change(place, rebuilt)
        })
    }

    /// The same expression over other operands: `place` maps the old position of an operand to the new one.
    #[must_use]
    pub fn with_operands(&self, place: impl Fn(usize) -> usize) -> Expression {
        let moved = |node: &Node| match node {
            Node::Operand(operand) => Node::Operand(place(*operand)),
            Node::Call(call) => Node::Call(*call),
        };
        Expression { nodes: self.nodes.iter().map(moved).collect() }
    }

    /// The subexpression whose root is the node at a position.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn part(&self, place: usize) -> Expression {
        // In post-order, a subexpression is a run of nodes from its leftmost leaf to its root.
        let mut start = place;
        while let Node::Call(call) = &self.nodes[start] {
            start = call.arguments[0];
        }
        let moved = |node: &Node| match *node {
            Node::Call(Call { function, arguments }) => {
                Node::Call(Call { function, arguments: arguments.map(|place| place - start) })
            }
            operand @ Node::Operand(_) => operand,
        };
        Expression { nodes: self.nodes[start..=place].iter().map(moved).collect() }
    }

    /// The nested list of the case files, `[add, a, b]`, using these operand names.
    ///
    /// # Panics
    /// If the expression reads an operand that has no name in the list.
    pub fn display<S: AsRef<str>>(&self, names: &[S]) -> String {
        self.fold(|_, node, arguments: Vec<String>| match node {
            Node::Operand(operand) => names[operand].as_ref().to_owned(),
            Node::Call(call) => format!("[{}, {}]", call.function, arguments.join(", ")),
        })
    }
}

fn shifted(node: Node, shift: usize) -> Node {
    match node {
        Node::Call(Call { function, arguments }) => {
            Node::Call(Call { function, arguments: arguments.map(|place| place + shift) })
        }
        operand @ Node::Operand(_) => operand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand(place: usize) -> Expression {
        Expression::operand(place)
    }

    #[test]
    fn arguments_keep_their_positions_and_order() {
        let difference = Expression::call(Function::Subtract, [operand(1), operand(0)]).unwrap();
        let less = Expression::call(Function::Less, [operand(2), operand(1)]).unwrap();
        let select = Expression::call(Function::Select, [less, difference, operand(0)]).unwrap();
        assert_eq!(select.display(&["a", "b", "c"]), "[select, [less, c, b], [subtract, b, a], a]");
        let Some(Node::Call(root)) = select.nodes().last() else { panic!("the root is a call") };
        assert_eq!(root.arguments(), [2, 5, 6]);
        assert_eq!(select.highest_operand(), 2);
        assert!(select.reads(2) && !select.reads(3) && select.is_exact());
        assert_eq!(
            select.holds(1),
            [false, false, false, true, false, true, false, true],
            "not the condition"
        );
        assert_eq!(select.holds(2), [false; 8], "only the condition contains it");
        let depths = select.values(|_| 0, |_, arguments| 1 + arguments.iter().max().unwrap());
        assert_eq!(depths, [0, 0, 1, 0, 0, 1, 0, 2]);
    }

    #[test]
    fn subexpressions_are_expressions() {
        let difference = Expression::call(Function::Subtract, [operand(1), operand(0)]).unwrap();
        let less = Expression::call(Function::Less, [operand(2), operand(1)]).unwrap();
        let select =
            Expression::call(Function::Select, [less.clone(), difference.clone(), operand(0)]).unwrap();
        assert_eq!([select.part(2), select.part(5), select.part(3)], [less, difference, operand(1)]);
        assert_eq!(select.part(7), select);
        let reversed = select.with_operands(|place| 2 - place);
        assert_eq!(reversed.display(&["a", "b", "c"]), "[select, [less, a, b], [subtract, b, c], c]");
        assert_eq!(select.rewrite(|_, node| node), select);
    }

    #[test]
    fn arity_is_checked() {
        let error = Expression::call(Function::Exp, [operand(0), operand(1)]).unwrap_err();
        assert_eq!(error.to_string(), "`exp` with 2 arguments: expected 1");
        assert!(Expression::call(Function::Select, [operand(0), operand(1)]).is_err());
    }

    #[test]
    fn deep_expressions_do_not_overflow_the_stack() {
        let mut deep = operand(0);
        for _ in 0..2_000 {
            deep = Expression::call(Function::Negate, [deep]).unwrap();
        }
        assert_eq!(deep.calls().count(), 2_000);
    }
}
