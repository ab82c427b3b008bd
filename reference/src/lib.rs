//! The broadcasting rules, transcribed.
//!
//! An interpreter so simple that it is unlikely to be wrong: it visits the indices of the result one by one and
//! computes each element from the definition. Nothing is collapsed, cached or vectorised, and nothing here is
//! meant to be fast. Read a file of `src/rules/` beside the document that it transcribes: its steps stand in the
//! document's order and each names its clause of SEMANTICS.md.
//!
//! | question | answered by |
//! |---|---|
//! | do these shapes go together, and how do the operands lie under the result? | [`align_shapes`], [`broadcast_shape`] |
//! | is this request accepted? | [`align`] |
//! | which dtype has the result? | [`result_dtype`] |
//! | what does a function make of values? | [`apply`] |
//! | which element of a view stands at an index? | [`read`] |
//! | what is the gradient, and how well is it determined? | [`gradient`] |
//! | what is the whole answer? | [`Reference`] |
//!
//! ```
//! use broadcheck_reference::{align_shapes, Alignment};
//! use broadcheck_spec::{Rules, Shape};
//!
//! let shapes = [Shape::from([2, 3]), Shape::from([3])];
//! let alignment = align_shapes(&Rules::Numpy, &shapes, &[]).unwrap();
//! assert_eq!(alignment.shape, Shape::from([2, 3]));
//! assert_eq!(alignment.axes, [vec![Some(0), Some(1)], vec![Some(1)]]);
//! // XLA wants to be told which axis of the matrix the vector lies on.
//! assert!(align_shapes(&Rules::Xla { broadcast_dimensions: None }, &shapes, &[]).is_err());
//! ```

mod alignment;
mod decide;
mod derivative;
mod engine;
mod evaluate;
mod functions;
mod gradient;
mod indices;
mod rules;
mod types;
mod view;

pub use alignment::Alignment;
pub use decide::{align, exceeds_limit};
pub use derivative::{Derivative, derivatives};
pub use engine::Reference;
pub use functions::apply;
pub use gradient::{Link, contributions, gradient};
pub use rules::{align_shapes, broadcast_shape};
pub use types::result_dtype;
pub use view::read;
