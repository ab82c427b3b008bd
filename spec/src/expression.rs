//! Expressions: what is computed at each index. Held as a list of nodes in post-order, so that nothing that
//! walks one needs recursion, however deep it is nested.

use crate::{Exactness, Function};

/// One step of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The operand at this place in the request's list.
    Operand(usize),
    /// A function of earlier nodes.
    Call(Call),
}

/// A function with the places of its arguments in [`Expression::nodes`], all before the call itself.
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

    /// The places of the arguments, in order: as many as the function's arity.
    pub fn arguments(&self) -> &[usize] {
        &self.arguments[..self.function.arity()]
    }
}

/// An expression over the operands of a request: a tree, in post-order, so that the last node is the root and
/// each node but the root is the argument of exactly one call.
///
/// ```
/// use broadcheck_spec::{Expression, Function};
/// // exp(a * b), with a the operand 0 and b the operand 1
/// let product = Expression::call(Function::Multiply, [Expression::operand(0), Expression::operand(1)]).unwrap();
/// let whole = Expression::call(Function::Exp, [product]).unwrap();
/// assert_eq!(whole.nodes().len(), 4);
/// assert_eq!(whole.display(&["a", "b"]), "[exp, [multiply, a, b]]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    nodes: Vec<Node>,
}

/// A function called with a number of arguments that is not its arity.
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
    /// The expression that is just an operand.
    pub fn operand(operand: usize) -> Expression {
        Expression { nodes: vec![Node::Operand(operand)] }
    }

    /// A function of expressions.
    ///
    /// # Errors
    /// [`WrongArity`] where the number of arguments is not the function's.
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

    /// The highest operand place that is read.
    pub fn highest_operand(&self) -> usize {
        let places = self.nodes.iter().map(|node| if let Node::Operand(place) = node { *place } else { 0 });
        places.max().unwrap_or(0)
    }

    /// Whether it holds no function of which a few ULP are allowed (clause V-4b).
    pub fn is_exact(&self) -> bool {
        self.calls().all(|call| call.function.exactness() == Exactness::Exact)
    }

    /// The nested list of the case files, `[add, a, b]`, with these operand names.
    ///
    /// # Panics
    /// Where the expression reads an operand that has no name in the list.
    pub fn display<S: AsRef<str>>(&self, names: &[S]) -> String {
        let mut texts: Vec<String> = Vec::new();
        for node in &self.nodes {
            let text = match node {
                Node::Operand(operand) => names[*operand].as_ref().to_owned(),
                Node::Call(call) => {
                    let arguments = texts.split_off(texts.len() - call.function.arity());
                    format!("[{}, {}]", call.function, arguments.join(", "))
                }
            };
            texts.push(text);
        }
        texts.pop().expect("an expression has a root")
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
    fn arguments_keep_their_places_and_order() {
        let difference = Expression::call(Function::Subtract, [operand(1), operand(0)]).unwrap();
        let less = Expression::call(Function::Less, [operand(2), operand(1)]).unwrap();
        let select = Expression::call(Function::Select, [less, difference, operand(0)]).unwrap();
        assert_eq!(select.display(&["a", "b", "c"]), "[select, [less, c, b], [subtract, b, a], a]");
        let Some(Node::Call(root)) = select.nodes().last() else { panic!("the root is a call") };
        assert_eq!(root.arguments(), [2, 5, 6]);
        assert_eq!(select.highest_operand(), 2);
        assert!(select.reads(2) && !select.reads(3) && select.is_exact());
    }

    #[test]
    fn arity_is_checked() {
        let error = Expression::call(Function::Exp, [operand(0), operand(1)]).unwrap_err();
        assert_eq!(error.to_string(), "`exp` with 2 arguments: expected 1");
        assert!(Expression::call(Function::Select, [operand(0), operand(1)]).is_err());
    }

    #[test]
    fn a_deep_expression_needs_no_stack() {
        let mut deep = operand(0);
        for _ in 0..2_000 {
            deep = Expression::call(Function::Negate, [deep]).unwrap();
        }
        assert_eq!(deep.calls().count(), 2_000);
    }
}
