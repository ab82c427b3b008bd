//! The language that all of broadcheck speaks.
//!
//! (front page: written with the loader)

mod assemble;
mod case;
pub mod clauses;
mod convert;
mod dtype;
mod error;
pub mod examples;
mod expression;
mod function;
mod implementation;
mod lint;
mod literal;
mod load;
mod operand;
mod outcome;
mod raw;
mod request;
mod shape;
mod suite;
mod tensor;
mod tree;

pub use assemble::MAX_EXPRESSION_DEPTH;
pub use case::{Case, Expectation, ExpectedRefusal, ExpectedResult, Location, Origin, Source, Sweep};
pub use convert::{DOCUMENTS, MAX_TOLERANCE_ULP};
pub use dtype::{DType, Scalar, UnknownDType};
pub use error::{LoadError, LoadErrors};
pub use expression::{Call, Expression, Node, WrongArity};
pub use function::{Exactness, Function, UnknownFunction};
pub use half;
pub use implementation::{Capabilities, DEFAULT_MAX_ELEMENTS, Implementation};
pub use load::{CaseFile, FORMAT, MAX_FILE_BYTES, load_path, load_str};
pub use operand::Operand;
pub use outcome::{Outcome, Refusal, RefusalKind, Success, UnknownRefusalKind};
pub use request::{Malformed, Operation, OperationKind, Request, RuleSet, Rules, UnknownRuleSet};
pub use shape::{MAX_COUNT, Shape, ShapeError};
pub use suite::{FILES, Suite};
pub use tensor::{Data, Element, Tensor};
pub use tree::{MAX_DEPTH, MAX_NODES};
