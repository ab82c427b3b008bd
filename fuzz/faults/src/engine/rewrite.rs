//! The optimiser: the expression becomes a term, a pass may rewrite it, and what remains is lowered to a list
//! of steps. Without a fault the pass changes nothing.

use broadcheck_spec::{DType, Expression, Function, Node, Operand, Scalar};

/// A function on values that a fault puts in place of another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// The function that it replaces. Derivatives are those of this function.
    pub(crate) like: Function,
    /// What is computed.
    pub(crate) by: fn(&[Scalar]) -> Scalar,
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Kernel) -> bool {
        self.like == other.like && std::ptr::fn_addr_eq(self.by, other.by)
    }
}

/// What is computed at each index, as a tree that a pass can take apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// The operand at this position.
    Operand(usize),
    /// A value that a pass knows.
    Constant(Scalar),
    /// A function of terms.
    Call(Function, Vec<Term>),
    /// A kernel of terms.
    Kernel(Kernel, Vec<Term>),
}

/// What a pass knows about a request.
pub(crate) struct Facts<'a> {
    /// The operands.
    pub(crate) operands: &'a [&'a Operand],
    /// Whether the term is differentiated.
    pub(crate) gradient: bool,
}

impl Facts<'_> {
    /// The dtype of a term.
    pub(crate) fn dtype(&self, term: &Term) -> DType {
        match term {
            Term::Operand(operand) => self.operands[*operand].dtype(),
            Term::Constant(value) => value.dtype(),
            Term::Call(function, _) | Term::Kernel(Kernel { like: function, .. }, _)
                if function.is_predicate() =>
            {
                DType::Bool
            }
            Term::Call(_, arguments) | Term::Kernel(_, arguments) => {
                arguments.last().map_or(DType::Bool, |argument| self.dtype(argument))
            }
        }
    }

    /// The value of an operand with a single element, which a compiler may treat as a constant.
    pub(crate) fn constant(&self, term: &Term) -> Option<Scalar> {
        match term {
            Term::Operand(operand) => {
                let operand = self.operands[*operand];
                let single = operand.shape().iter().all(|&length| length == 1);
                single.then(|| operand.values().get(operand.offset())).flatten()
            }
            Term::Constant(value) => Some(*value),
            Term::Call(..) | Term::Kernel(..) => None,
        }
    }
}

/// The decision about terms.
#[derive(Clone)]
pub(crate) struct Rewrite {
    /// Replaces a term, whose arguments have been replaced already.
    pub(crate) rule: fn(Term, &Facts<'_>) -> Term,
    /// Replaces the whole term, after the rule.
    pub(crate) pass: fn(Term, &Facts<'_>) -> Term,
}

impl Default for Rewrite {
    fn default() -> Rewrite {
        Rewrite { rule: |term, _| term, pass: |term, _| term }
    }
}

/// A step of a program, in post-order.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The operand at this position.
    Operand(usize),
    /// A constant.
    Constant(Scalar),
    /// A function, or a kernel in its place, of earlier steps.
    Call {
        /// The function.
        function: Function,
        /// What is computed instead, if a pass has replaced the function.
        kernel: Option<Kernel>,
        /// The positions of the arguments.
        arguments: Vec<usize>,
    },
}

/// The steps that compute an expression. The last one is the root.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The steps, arguments before their call.
    pub(crate) steps: Vec<Step>,
}

impl Program {
    /// The program that reads one operand.
    pub(super) fn operand(operand: usize) -> Program {
        Program { steps: vec![Step::Operand(operand)] }
    }

    fn push(&mut self, term: &Term) -> usize {
        let step = match term {
            Term::Operand(operand) => Step::Operand(*operand),
            Term::Constant(value) => Step::Constant(*value),
            Term::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| self.push(argument)).collect();
                Step::Call { function: *function, kernel: None, arguments }
            }
            Term::Kernel(kernel, arguments) => {
                let arguments = arguments.iter().map(|argument| self.push(argument)).collect();
                Step::Call { function: kernel.like, kernel: Some(*kernel), arguments }
            }
        };
        self.steps.push(step);
        self.steps.len() - 1
    }
}

impl Rewrite {
    /// Rewrites an expression and lowers it.
    pub(super) fn program(&self, expression: &Expression, facts: &Facts<'_>) -> Program {
        let term = expression.fold(|_, node, arguments| {
            let term = match node {
                Node::Operand(operand) => Term::Operand(operand),
                Node::Call(call) => Term::Call(call.function(), arguments),
            };
            (self.rule)(term, facts)
        });
        let mut program = Program { steps: Vec::with_capacity(expression.nodes().len()) };
        program.push(&(self.pass)(term, facts));
        program
    }
}
