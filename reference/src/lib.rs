//! The reference interpreter: the broadcasting rules, transcribed from the documents.
//!
//! It is simple enough to be checked by reading: it visits the indices of the result one by one and computes
//! each element from the definition. It does not collapse axes, cache or vectorise, and is not meant to be
//! fast. Read a file of `src/rules/` next to the document that it transcribes: its steps are in the order of
//! the clauses of SEMANTICS.md, and each cites its clause and the lines of the document.
//!
//! | to find out | call |
//! |---|---|
//! | whether shapes are compatible, and how they align | [`align_shapes`], [`broadcast_shape`] |
//! | whether a request is accepted | [`align`] |
//! | the dtype of the result | [`result_dtype`] |
//! | the value of a function | [`apply`] |
//! | the element of an operand at an index, and its place in the buffer | [`read`], [`position`] |
//! | a gradient | [`gradient`] |
//! | what is known of a result before the run | [`infer`] |
//! | the whole answer | [`Reference`] |
//!
//! ```
//! use broadcheck_reference::{align_shapes, Alignment};
//! use broadcheck_spec::{Rules, Shape};
//!
//! let shapes = [Shape::from([2, 3]), Shape::from([3])];
//! let alignment = align_shapes(&Rules::Numpy, &shapes, &[]).unwrap();
//! assert_eq!(alignment.shape, Shape::from([2, 3]));
//! assert_eq!(alignment.axes, [vec![Some(0), Some(1)], vec![Some(1)]]);
//! // XLA requires the axis of the matrix that the vector is aligned with.
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
mod infer;
mod rules;
mod types;
mod view;

pub use alignment::Alignment;
pub use decide::{align, check_destination_shape, exceeds_limit};
pub use derivative::{Derivative, derivatives};
pub use engine::Reference;
pub use functions::{apply, round_to};
pub use gradient::{Link, contributions, gradient};
pub use infer::infer;
pub use rules::{align_shapes, broadcast_shape};
pub use types::result_dtype;
pub use view::{position, read};
