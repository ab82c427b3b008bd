//! Checks dtypes: which function accepts which dtypes, and what can be differentiated (clauses G-3, V-2,
//! GRAD-3).

use super::convert::wider;
use broadcheck_spec::{Call, DType, Expression, Function, Node, Operand, Refusal, RefusalKind, Request};

/// The decisions about dtypes.
#[derive(Clone)]
pub(crate) struct Types {
    /// G-3: whether arguments of these dtypes are compatible.
    pub(crate) compatible: fn(DType, DType) -> bool,
    /// G-3: whether this dtype is accepted for a condition.
    pub(crate) condition: fn(DType) -> bool,
    /// V-2: whether the function is defined for this dtype.
    pub(crate) defined: fn(Function, DType) -> bool,
    /// The dtype of the function's result.
    pub(crate) answer: fn(Function, DType) -> DType,
    /// GRAD-3: whether the condition of a `select` may contain w.
    pub(crate) condition_of_w: bool,
    /// GRAD-3: whether a result of this dtype has a gradient.
    pub(crate) smooth_root: fn(DType) -> bool,
    /// GRAD-3: whether a gradient exists by an operand of this dtype.
    pub(crate) continuous: fn(DType) -> bool,
    /// G-6: whether types are checked before the rule set's clauses.
    pub(crate) before_shapes: bool,
}

impl Default for Types {
    fn default() -> Types {
        Types {
            compatible: |a, b| a == b,
            condition: |dtype| dtype == DType::Bool,
            defined,
            answer: |function, dtype| if gives_bool(function) { DType::Bool } else { dtype },
            condition_of_w: true,
            smooth_root: DType::is_float,
            continuous: DType::is_float,
            before_shapes: true,
        }
    }
}

/// V-2: what each function is defined for.
pub(crate) fn defined(function: Function, dtype: DType) -> bool {
    use Function as F;
    match function {
        F::Equal | F::NotEqual | F::Select => true,
        F::LogicalAnd | F::LogicalOr | F::LogicalNot => dtype == DType::Bool,
        F::Divide | F::Power | F::Sqrt | F::Exp | F::Log | F::Tanh => dtype.is_float(),
        F::Add | F::Subtract | F::Multiply | F::Maximum | F::Minimum | F::Negate | F::Abs => {
            dtype != DType::Bool
        }
        F::Less | F::LessEqual | F::Greater | F::GreaterEqual => dtype != DType::Bool,
    }
}

/// Whether a function is a comparison or a logical function.
pub(crate) fn gives_bool(function: Function) -> bool {
    use Function as F;
    match function {
        F::Equal | F::NotEqual | F::Less | F::LessEqual | F::Greater | F::GreaterEqual => true,
        F::LogicalAnd | F::LogicalOr | F::LogicalNot => true,
        F::Add | F::Subtract | F::Multiply | F::Divide | F::Maximum | F::Minimum | F::Power => false,
        F::Negate | F::Abs | F::Sqrt | F::Exp | F::Log | F::Tanh | F::Select => false,
    }
}

impl Types {
    /// The dtype of the result, or of the underlying result of a gradient.
    pub(super) fn check(&self, request: &Request) -> Result<DType, Refusal> {
        let operands = request.operands();
        let Some(expression) = request.operation().expression() else { return Ok(operands[0].dtype()) };
        let of_operands: Vec<DType> = operands.iter().map(Operand::dtype).collect();
        let root = self.of_expression(expression, &of_operands)?;
        if let Some(wrt) = request.operation().wrt() {
            self.check_gradient(request, root, wrt)?;
        }
        Ok(root)
    }

    /// The dtype of an expression of operands of these dtypes.
    pub(super) fn of_expression(
        &self,
        expression: &Expression,
        operands: &[DType],
    ) -> Result<DType, Refusal> {
        let mut dtypes: Vec<DType> = Vec::with_capacity(expression.nodes().len());
        for node in expression.nodes() {
            let dtype = match node {
                Node::Operand(operand) => operands[*operand],
                Node::Call(call) => {
                    let arguments: Vec<DType> = call.arguments().iter().map(|&place| dtypes[place]).collect();
                    self.call(call.function(), &arguments)?
                }
            };
            dtypes.push(dtype);
        }
        Ok(dtypes[dtypes.len() - 1])
    }

    fn call(&self, function: Function, arguments: &[DType]) -> Result<DType, Refusal> {
        let alike = if function == Function::Select { &arguments[1..] } else { arguments };
        let condition = function != Function::Select || (self.condition)(arguments[0]);
        if !condition || alike.iter().any(|&dtype| !(self.compatible)(alike[0], dtype)) {
            return Err(Refusal::new(RefusalKind::DTypeMismatch, format!("{function} of different dtypes")));
        }
        let dtype = alike.iter().copied().fold(alike[0], wider);
        if !(self.defined)(function, dtype) {
            return Err(unsupported(format!("{function} of {dtype}")));
        }
        Ok((self.answer)(function, dtype))
    }

    fn check_gradient(&self, request: &Request, root: DType, wrt: usize) -> Result<(), Refusal> {
        if !(self.smooth_root)(root) || !(self.continuous)(request.operands()[wrt].dtype()) {
            return Err(unsupported("a gradient of a dtype that is not a float".into()));
        }
        let Some(expression) = request.operation().expression() else { return Ok(()) };
        let holds = |call: &Call| expression.part(call.arguments()[0]).reads(wrt);
        let chosen = expression.calls().any(|call| call.function() == Function::Select && holds(call));
        if chosen && !self.condition_of_w {
            return Err(unsupported("a condition that depends on the operand".into()));
        }
        Ok(())
    }
}

fn unsupported(message: String) -> Refusal {
    Refusal::new(RefusalKind::UnsupportedFunction, message)
}
