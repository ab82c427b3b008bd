//! A signature: what a compiler knows of a request before it has seen an array (clause INFER-1). Also the
//! answer to it: what is then known of the result.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::operand::check_name;
use crate::request::{check_alone, check_names, check_operands, has_ranks, unranked};
use crate::{
    Attribute, DType, Expression, Malformed, Operand, Operation, OperationKind, PartialShape, Request,
    RuleSet, Rules,
};
use std::fmt;

/// The name of the operation in case files and in the protocol.
pub(crate) const INFER: &str = "infer";

/// An operand before the run: everything but its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandType {
    name: String,
    dtype: DType,
    shape: PartialShape,
    broadcastable: Option<Vec<bool>>,
}

impl OperandType {
    /// An operand of this dtype and shape.
    ///
    /// # Errors
    /// [`Malformed`] for a name that an [`Operand`] could not have.
    pub fn new(
        name: impl Into<String>,
        dtype: DType,
        shape: impl Into<PartialShape>,
    ) -> Result<OperandType, Malformed> {
        let name = name.into();
        check_name(&name)?;
        Ok(OperandType { name, dtype, shape: shape.into(), broadcastable: None })
    }

    /// The same operand with a flag per axis, for the rule set `theano`.
    ///
    /// # Errors
    /// [`Malformed`] if the number of flags differs from the rank.
    pub fn with_broadcastable(mut self, flags: Vec<bool>) -> Result<OperandType, Malformed> {
        if self.shape.rank() != Some(flags.len()) {
            let expected = self.shape.rank().map_or_else(
                || "no flags: the rank is unknown".to_owned(),
                |rank| format!("{rank}, one per axis"),
            );
            return Err(Malformed::new(
                format!("operands.{}.broadcastable", self.name),
                format!("{} flags for shape {}", flags.len(), self.shape),
                expected,
            ));
        }
        self.broadcastable = Some(flags);
        Ok(self)
    }

    /// The name, unique in the signature.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// What is known of the shape.
    pub fn shape(&self) -> &PartialShape {
        &self.shape
    }

    /// The flags, if given; `None` means that all are false (clause THEANO-1).
    pub fn broadcastable(&self) -> Option<&[bool]> {
        self.broadcastable.as_deref()
    }
}

/// What a signature is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The operation `elementwise`.
    Expression(Expression),
    /// The operation `broadcast`.
    TargetShape(PartialShape),
}

impl Asked {
    /// The operation of which the result is inferred.
    pub fn operation(&self) -> OperationKind {
        match self {
            Asked::Expression(_) => OperationKind::Elementwise,
            Asked::TargetShape(_) => OperationKind::Broadcast,
        }
    }
}

/// A request before the run: dtypes and what is known of the shapes, without values.
///
/// ```
/// use broadcheck_spec::{Asked, DType, Expression, Function, OperandType, PartialShape, Rules, Signature};
/// let shape = |text: &str| text.parse::<PartialShape>().unwrap();
/// let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)])?;
/// let signature = Signature::new(
///     Rules::Numpy,
///     Asked::Expression(sum),
///     vec![
///         OperandType::new("a", DType::F32, shape("?x3"))?,
///         OperandType::new("b", DType::F32, shape("2x1"))?,
///     ],
/// )?;
/// assert!(!signature.is_known());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    rules: Rules,
    asked: Asked,
    operands: Vec<OperandType>,
}

impl Signature {
    /// Creates a signature.
    ///
    /// # Errors
    /// [`Malformed`] for what would make a [`Request`] malformed, and for an unknown rank under `xla` and
    /// `theano`, whose shapes have ranks.
    pub fn new(rules: Rules, asked: Asked, operands: Vec<OperandType>) -> Result<Signature, Malformed> {
        check_names(operands.iter().map(OperandType::name))?;
        check_asked(&rules, &asked, operands.len())?;
        check_ranks(rules.set(), &asked, &operands)?;
        check_flags(rules.set(), &operands)?;
        check_alone(&rules, asked.operation() == OperationKind::Broadcast, operands.len())?;
        Ok(Signature { rules, asked, operands })
    }

    /// What is known of a request when all of it is known. `None` for a gradient, which has no inference
    /// (clause INFER-1).
    pub fn of(request: &Request) -> Option<Signature> {
        let asked = match request.operation() {
            Operation::Elementwise { expression } => Asked::Expression(expression.clone()),
            Operation::Broadcast { target_shape } => Asked::TargetShape(target_shape.into()),
            Operation::Into { .. } | Operation::Gradient { .. } | Operation::Vjp { .. } => return None,
        };
        let operand = |operand: &Operand| OperandType {
            name: operand.name().to_owned(),
            dtype: operand.dtype(),
            shape: operand.shape().into(),
            broadcastable: operand.broadcastable().map(<[bool]>::to_vec),
        };
        let operands = request.operands().iter().map(operand).collect();
        Some(Signature { rules: request.rules().clone(), asked, operands })
    }

    /// The rule set with its attributes.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What it is a signature of.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The operands in order: the first is A, or the left-hand side.
    pub fn operands(&self) -> &[OperandType] {
        &self.operands
    }

    /// The names of the operands, in order.
    pub fn names(&self) -> Vec<&str> {
        self.operands.iter().map(OperandType::name).collect()
    }

    /// Whether its expression does not use some operand (clause G-5).
    pub fn has_unused_operand(&self) -> bool {
        match &self.asked {
            Asked::Expression(expression) => {
                (0..self.operands.len()).any(|operand| !expression.reads(operand))
            }
            Asked::TargetShape(_) => false,
        }
    }

    /// Everything that has a shape: the operands', then the target.
    pub fn shapes(&self) -> impl Iterator<Item = &PartialShape> {
        let target = match &self.asked {
            Asked::TargetShape(target) => Some(target),
            Asked::Expression(_) => None,
        };
        self.operands.iter().map(OperandType::shape).chain(target)
    }

    /// Whether every length is known.
    pub fn is_known(&self) -> bool {
        self.shapes().all(|shape| shape.known().is_some())
    }
}

fn check_asked(rules: &Rules, asked: &Asked, operands: usize) -> Result<(), Malformed> {
    let highest = match asked {
        Asked::Expression(expression) => Some(expression.highest_operand()),
        Asked::TargetShape(_) => None,
    };
    check_operands(rules.set(), asked.operation(), highest, operands)
}

fn check_ranks(set: RuleSet, asked: &Asked, operands: &[OperandType]) -> Result<(), Malformed> {
    if !has_ranks(set) {
        return Ok(());
    }
    if let Some(operand) = operands.iter().find(|operand| operand.shape == PartialShape::Unranked) {
        return Err(unranked(set, format!("operands.{}.shape", operand.name)));
    }
    match asked {
        Asked::TargetShape(PartialShape::Unranked) => Err(unranked(set, "target_shape")),
        Asked::TargetShape(_) | Asked::Expression(_) => Ok(()),
    }
}

fn check_flags(set: RuleSet, operands: &[OperandType]) -> Result<(), Malformed> {
    let flagged = operands.iter().find(|operand| operand.broadcastable.is_some());
    match flagged {
        Some(operand) if !set.has_attribute(Attribute::Broadcastable) => {
            let place = format!("operands.{}.broadcastable", operand.name);
            Err(Attribute::Broadcastable.misplaced(set, place))
        }
        Some(_) | None => Ok(()),
    }
}

/// Which concretisations of a signature are accepted (clause INFER-2). That none is would be a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accepts {
    /// All of them.
    Always,
    /// Some of them, and others not.
    Depends,
}

impl Accepts {
    /// Both.
    pub const ALL: [Accepts; 2] = [Accepts::Always, Accepts::Depends];

    /// The name in case files and in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Accepts::Always => "always",
            Accepts::Depends => "depends",
        }
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is known of a result before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// The dtype of the result.
    pub dtype: DType,
    /// What is known of the shape of the result.
    pub shape: PartialShape,
    /// Which concretisations are accepted, if the implementation reports it.
    pub accepts: Option<Accepts>,
    /// theano: the flags of the result (clause THEANO-4), if the implementation reports them.
    pub broadcastable: Option<Vec<bool>>,
}

/// `f32 (?,3), depends`.
impl fmt::Display for Inference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.shape)?;
        match self.accepts {
            Some(accepts) => write!(f, ", {accepts}"),
            None => Ok(()),
        }
    }
}
