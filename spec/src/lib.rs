//! The language that all of broadcheck speaks.
//!
//! (front page: written with the loader)

mod case;
mod dtype;
mod expression;
mod function;
mod implementation;
mod operand;
mod outcome;
mod request;
mod shape;
mod tensor;

pub use case::{Case, Expectation, ExpectedRefusal, ExpectedResult, Location, Origin, Source, Sweep};
pub use dtype::{DType, Scalar, UnknownDType};
pub use expression::{Call, Expression, Node, WrongArity};
pub use function::{Exactness, Function, UnknownFunction};
pub use half;
pub use implementation::{Capabilities, DEFAULT_MAX_ELEMENTS, Implementation};
pub use operand::Operand;
pub use outcome::{Outcome, Refusal, RefusalKind, Success, UnknownRefusalKind};
pub use request::{Malformed, Operation, OperationKind, Request, RuleSet, Rules, UnknownRuleSet};
pub use shape::{MAX_COUNT, Shape, ShapeError};
pub use tensor::{Data, Element, Tensor};
