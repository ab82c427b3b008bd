//! The data types of broadcheck, the conformance suite for array broadcasting: the suite sends *requests*, an
//! implementation answers with *outcomes*, and a *case* is a request with the outcome that it must have. This page is
//! the reference of the format of requests and of case files. The rules of each rule set are in
//! `spec/SEMANTICS.md`, clause by clause; no rule is computed in this crate.
//!
//! - [Requests](#requests): [operations](#operations), [expressions and functions](#expressions-and-functions),
//!   [operands and views](#operands-and-views), [dtypes](#dtypes), [attributes](#attributes-of-a-rule-set),
//!   [what is malformed](#what-is-malformed)
//! - [Case files](#case-files): [fields](#fields-of-a-case), [results](#results), [refusals](#refusals),
//!   [sweeps](#sweeps), [literals](#literals), [YAML](#which-yaml), [errors and limits](#errors-and-limits)
//! - [The JSON twin](#the-json-twin) and [the protocol](#the-protocol)
//! - [In Rust](#in-rust)
//!
//! # Requests
//!
//! A request names a rule set, an operation and operands ([`Request`]). The rule sets ([`RuleSet`]):
//!
//! | name | attributes | operations |
//! |---|---|---|
//! | `none` | - | `elementwise`, `gradient` |
//! | `numpy` | - | `elementwise`, `gradient`, `broadcast` |
//! | `pdpd` | `axis` | `elementwise`, `gradient` |
//! | `bidirectional` | - | `broadcast` |
//! | `xla` | `broadcast_dimensions` | `elementwise`, `gradient` |
//! | `theano` | `broadcastable`, on each operand | `elementwise`, `gradient` |
//!
//! ## Operations
//!
//! | operation | fields | meaning |
//! |---|---|---|
//! | `elementwise` | `expression`, `operands` | the expression at every index of the common shape; the default |
//! | `broadcast` | one operand, `target_shape` | the operand brought to a shape: under `bidirectional` in both directions, under `numpy` in one (`broadcast_to`) |
//! | `gradient` | `expression`, `operands`, `wrt` | the gradient of the sum of the expression's elements by the operand named in `wrt`; it has that operand's shape and dtype |
//!
//! ## Expressions and functions
//!
//! An expression is an operand's name, or a list of a function and its arguments, nested up to
//! [`MAX_EXPRESSION_DEPTH`] deep: `a`, `[add, a, b]`, `[exp, [multiply, a, b]]`. The functions ([`Function`]):
//!
//! | arguments | functions | dtypes |
//! |---|---|---|
//! | 2 | `add` `subtract` `multiply` `maximum` `minimum` | floats and integers |
//! | 2 | `divide` `power` | floats |
//! | 2 | `equal` `not_equal` | all; the result is bool |
//! | 2 | `less` `less_equal` `greater` `greater_equal` | floats and integers; the result is bool |
//! | 2 | `logical_and` `logical_or` | bool |
//! | 1 | `negate` `abs` | floats and integers |
//! | 1 | `sqrt` `exp` `log` `tanh` | floats |
//! | 1 | `logical_not` | bool |
//! | 3 | `select` | the condition is bool, the other two of any one dtype: the second where it is true, else the third |
//!
//! `exp`, `log`, `tanh` and `power` may differ by a few units in the last place between implementations (clauses V-4,
//! V-4b); everything else is exact to the bit (V-1). A function of other dtypes than these is a refusal, not a
//! malformed request: the implementation decides.
//!
//! ## Operands and views
//!
//! `operands` is a list, in order: the first is A, or the left-hand side ([`Operand`]).
//!
//! | field | |
//! |---|---|
//! | `name` | `[a-z][a-z0-9_]*`, of at most [`MAX_OPERAND_NAME`] characters, unique in the request, not the name of a function |
//! | `dtype` | see [below](#dtypes) |
//! | `shape` | the lengths of the axes, outermost first, each 0 or more; `[]` is a scalar, with one value |
//! | `values` | flat, row-major, one per element; of a view, the buffer |
//! | `strides` | optional: in elements, one per axis, of any sign, 0 included |
//! | `offset` | optional: the position of the first element in the buffer; 0 if absent |
//! | `broadcastable` | optional, `theano` only: a flag per axis; all false where absent |
//!
//! An operand with `strides` or `offset` is a view: its element at index i is at `offset` + Σ i_k · `strides`_k of
//! `values`. With `offset` alone the strides are the dense row-major ones. A view that reaches outside its buffer is
//! malformed; one without elements reaches nothing.
//!
//! ## Dtypes
//!
//! `f64` `f32` `f16` `bf16` `i64` `i32` `i16` `i8` `u64` `u32` `u16` `u8` `bool` ([`DType`]): IEEE 754 binary64, binary32
//! and binary16, bfloat16, two's complement and unsigned integers, truth values. There is no promotion.
//!
//! ## Attributes of a rule set
//!
//! | field | rule set | absent |
//! |---|---|---|
//! | `axis` | `pdpd`: the axis of A on which B starts | -1: B is aligned at the right |
//! | `broadcast_dimensions` | `xla`: for each axis of the lower operand, the axis of the higher | not given |
//! | `broadcastable` | `theano`, on each operand | all false |
//! | `target_shape` | not of a rule set, but of the operation `broadcast` | malformed |
//!
//! ## What is malformed
//!
//! A malformed request is an error of its writer; it never reaches an implementation and is never a refusal: no operand;
//! a repeated operand name; an unknown function, leaf or `wrt`; a wrong number of arguments; `broadcast` with other than
//! one operand, or under another rule set than `bidirectional` and `numpy`; `bidirectional` with another operation; a field
//! of another operation; an attribute of another rule set, or `axis` or `broadcast_dimensions` beside a single operand; a
//! number of flags or of strides that is not the rank; a number of values that is not the number of elements; a value that
//! the dtype does not hold.
//!
//! # Case files
//!
//! Cases are written in YAML, a list of them in a file, with a default rule set:
//!
//! ```
//! let text = r#"
//! format: 1                      # the only one so far
//! rules: xla                     # of the cases that name none
//! cases:
//!   - id: xla/vector-onto-matrix
//!     title: A vector is added to every row of a matrix.
//!     clause: XLA-4
//!     example: [X01]
//!     source:
//!       - {document: xla-en, lines: "20-29"}
//!     origin: document
//!     expression: [add, a, b]
//!     operands:
//!       - {name: a, dtype: f64, shape: [2, 3], values: [1, 2, 3, 4, 5, 6]}
//!       - {name: b, dtype: f64, shape: [3], values: [7, 8, 9]}
//!     broadcast_dimensions: [1]
//!     result: {dtype: f64, shape: [2, 3], values: [8, 10, 12, 11, 13, 15]}
//!   - id: xla/vector-onto-matrix-without-dimensions
//!     title: Without dimensions nothing says where the vector goes.
//!     clause: XLA-3
//!     origin: document
//!     expression: [add, a, b]
//!     operands:
//!       - {name: a, dtype: f64, shape: [2, 3], values: [1, 2, 3, 4, 5, 6]}
//!       - {name: b, dtype: f64, shape: [3], values: [7, 8, 9]}
//!     refusal: {kind: rank_mismatch}
//! "#;
//! let file = broadcheck_spec::load_str(text, "xla.yaml")?;
//! assert_eq!(file.cases.len(), 2);
//! assert_eq!(file.cases[1].location.to_string(), "xla.yaml:18");
//! # Ok::<(), broadcheck_spec::LoadErrors>(())
//! ```
//!
//! At the top level are `format: 1`, `rules` (optional), and `cases`, [`sweeps`](#sweeps) or both. Unknown fields are errors
//! everywhere in a case file. `spec/schema/case-file.schema.json` is a JSON Schema of case files.
//!
//! ## Fields of a case
//!
//! | field | | |
//! |---|---|---|
//! | `id` | required | `[a-z0-9/-]`, unique in the suite, never changed; of a shipped case it begins with its rule set |
//! | `title` | required | what would go wrong, or what must hold, in a sentence |
//! | `clause` | required | the clause of SEMANTICS.md that it tests ([`clauses`]) |
//! | `example` | | the documents' examples that it encodes, by id ([`examples`]) |
//! | `source` | | a list of `{document: KEY, lines: "20-29, 61-71"}` (keys: [`DOCUMENTS`]; lines in quotes, ascending, within the document) and `{url: "https://…"}`; absent where the clause alone is the source |
//! | `origin` | required | of the expected values: `document`, `hand`, or `"system: NumPy 2.4.6"`; never the code under test |
//! | `rules` | required, here or at the top | the rule set |
//! | `operation` | | `elementwise` where absent |
//! | `expression`, `operands`, `wrt`, `target_shape`, `axis`, `broadcast_dimensions` | | the [request](#requests) |
//! | `result` or `refusal` | exactly one | what must come back |
//! | `note` | | free text: an erratum, a decision, the arithmetic |
//!
//! ## Results
//!
//! | field of `result` | |
//! |---|---|
//! | `dtype`, `shape`, `values` | required: a dense tensor, compared by clauses V-1 to V-6 |
//! | `intermediate` | `{shape, values}`, `xla` with operands of different ranks: the lower operand after the in-dim step; judged only where an answer has it |
//! | `broadcastable` | `theano`: the flags of the result; judged only where an answer has them |
//! | `tolerance` | `{ulp: N}`, N up to [`MAX_TOLERANCE_ULP`], where `exp`, `log`, `tanh` or `power` leave room (V-4); not with `gradient`, which V-6 bounds |
//! | `zero_sign` | `any`, where `maximum` or `minimum` (V-3), or `exp`, `log`, `tanh` or `power` (V-4), leave room |
//!
//! ## Refusals
//!
//! `refusal: {kind: KIND}` with the kinds of clause G-6 ([`RefusalKind`]), or `any`, which accepts every kind:
//!
//! | kind | further fields |
//! |---|---|
//! | `dimension_mismatch`, `not_broadcastable` | `axis`, optional: the leftmost offending axis of the result of the highest rank |
//! | `flag_violation` | `operand` and `axis`, optional: the operand by its name (or its place in the list), and the axis of that operand |
//! | `rank_mismatch` `axis_out_of_range` `broadcast_dimensions_count` `broadcast_dimension_out_of_range` `broadcast_dimensions_not_increasing` `broadcast_dimensions_not_identity` `dtype_mismatch` `unsupported_function` `operand_count` `too_large` | - |
//!
//! ## Sweeps
//!
//! A family of cases too many to list is named, with its bounds and the number of cases that it must expand to. The
//! runner knows the families.
//!
//! ```
//! let text = r#"
//! format: 1
//! sweeps:
//!   - id: theano/patterns/three
//!     title: Every broadcasting pattern of three vectors gives the full length.
//!     clause: THEANO-3
//!     example: [A09]
//!     sweep: patterns
//!     with: {operands: 3}
//!     expect: {cases: 7}
//! "#;
//! let file = broadcheck_spec::load_str(text, "sweeps.yaml")?;
//! assert_eq!(file.sweeps[0].expected_cases, 7);
//! # Ok::<(), broadcheck_spec::LoadErrors>(())
//! ```
//!
//! What the shipped families are, for whoever expands them elsewhere (`broadcheck export` writes the first out):
//!
//! | family | its cases |
//! |---|---|
//! | `numpy-patterns`, `theano-patterns` with `operands: k`, `length: n` | k vectors, each of n elements or of one (which theano's flag allows to stretch), not all of one. Element j of operand i, both from 0, is (j + 1) · 10^i; the expression is the sum from left to right. |
//! | `RULES-long`, also with `-views`, `-dtypes`, `-gradients` or `-broadcasts`, with `from`, `to` | for each length n from one to the other, vectors of n elements, and matrices of n rows of three or of three rows of n, against a row, a column, a scalar, or each other, as the rule set has it. Element j of the first operand is j mod 4093 + 1, of the second (j mod 2039 + 1) · 4096; the expression is the difference, for pdpd the sum. |
//! | any other name, with `max_rank`, `max_length` | a relation between two answers, over all shapes of at most so many axes with lengths from 0 to the longest; the title says what must hold. |
//!
//! ## Literals
//!
//! | dtype | written | errors |
//! |---|---|---|
//! | floats | `1`, `1.5`, `-0.0`, `1.0e+5`, `.nan`, `.inf`, `-.inf` | an exponent without a point before it or without sign, `-0`, `1e400`, `1.0e-400`, a value that the dtype does not hold exactly |
//! | integers | `7`, `-7`; beyond 2^53 also as a string | `8.0`, a value out of range |
//! | bool | `true`, `false` | numbers, strings |
//!
//! A decimal denotes the nearest f64; an f32, f16 or bf16 must hold that exactly: the nearest f32 to 0.1 is written
//! `0.10000000149011612`. The [JSON twin's](#the-json-twin) words are read in YAML too.
//!
//! ## Which YAML
//!
//! YAML 1.2, written so that a reader of YAML 1.1 sees the same, and checked for it. Errors are: anchors, aliases, tags, directives,
//! merge keys, a second document, keys that are not strings, repeated keys, empty values and null; and, where they are not
//! quoted, `y n yes no on off` in any case, `1:30`, `012`, `0o17`, `0x1F`, `1_000`, `+1`, `.5`, `1.`, `1e5`, `2001-12-14`.
//!
//! ## Errors and limits
//!
//! Everything that is wrong is reported together, with file, line, column, case, field, what was found and what was
//! expected ([`LoadError`]):
//!
//! ```
//! let text = r#"
//! format: 1
//! rules: numpy
//! cases:
//!   - id: numpy/x
//!     title: A value is missing.
//!     clause: NUMPY-1
//!     origin: hand
//!     expression: [negate, a]
//!     operands:
//!       - {name: a, dtype: f64, shape: [2, 3], values: [1, 2, 3, 4, 5]}
//!     refusal: {kind: any}
//! "#;
//! let errors = broadcheck_spec::load_str(text, "file.yaml").unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "file.yaml:11:54: case numpy/x: operands[0].values: found 5 values for shape (2,3), expected 6"
//! );
//! ```
//!
//! A file of more than [`MAX_FILE_BYTES`] is refused unread; so is what is empty or no regular file. A file may hold [`MAX_NODES`]
//! values and nest [`MAX_DEPTH`] deep; an id has at most [`MAX_ID`] characters, a title [`MAX_TITLE`]. Shapes are arithmetic: one that names more elements than there are values is an
//! error, whatever it multiplies to.
//!
//! # The JSON twin
//!
//! A file that ends in `.json` holds the same structure and is loaded by the same code. What JSON has no number for is a
//! string: `"nan"`, `"inf"`, `"-inf"`, `"-0.0"`, and integers beyond 2^53, among `values` as in `shape`, `target_shape`,
//! `strides`, `offset`, `axis` and `broadcast_dimensions`, where YAML has plain integers only; readers take the string and
//! the number. Exponents and escapes are JSON's. [`json::file_to_json`] writes it, and `broadcheck export` all of the suite's.
//!
//! ```
//! use broadcheck_spec::{Suite, json};
//! let suite = Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"));
//! let twin = json::case_to_json(&suite.cases[0]);
//! let text = serde_json::json!({"format": 1, "cases": [twin]}).to_string();
//! assert_eq!(broadcheck_spec::load_str(&text, "twin.json")?.cases[0].request, suite.cases[0].request);
//! # Ok::<(), broadcheck_spec::LoadErrors>(())
//! ```
//!
//! # The protocol
//!
//! Programs that put an implementation behind the suite exchange one JSON object a line. A request travels as
//! [`json::request_to_value`] writes it (`spec/schema/request.schema.json`), and an answer is an object with exactly one of
//!
//! - `result`: `{dtype, shape, values}`, and `intermediate` and `broadcastable` as in [results](#results);
//! - `refusal`: `{message, kind, axis, operand}`, all optional;
//! - `skipped`: `{reason}`: not answered, because it is beyond what the implementation does;
//! - `errored`: `{message}`: not answered, because something broke.
//!
//! Readers are lenient where case files are strict ([`json::outcome_from_str`]): unknown fields are ignored, a float is
//! rounded to its dtype, an integer may read `8.0`. They are not lenient about a number of values that is not the number
//! of elements, a value out of range, a bool that is a number, or a kind that does not exist.
//!
//! # In Rust
//!
//! [`Suite::builtin`] is the suite, [`Suite::from_paths`] one from files. [`Implementation`] is what a library is to the
//! suite: what it can do, and [`run`](Implementation::run) from [`Request`] to [`Outcome`]. [`write::case_to_yaml`] writes a
//! case so that it loads as the same one.

mod assemble;
mod bundled;
mod case;
pub mod clauses;
mod convert;
mod document;
mod dtype;
mod error;
pub mod examples;
mod expect;
mod expression;
mod function;
mod implementation;
pub mod json;
mod lint;
mod literal;
mod load;
mod masked;
mod operand;
mod outcome;
mod raw;
mod read;
mod request;
mod rules;
mod shape;
mod suite;
mod tensor;
mod tree;
pub mod write;

pub use assemble::MAX_EXPRESSION_DEPTH;
pub use bundled::{LICENCES, SCHEMAS, SEMANTICS};
pub use case::{Case, Expectation, ExpectedRefusal, ExpectedResult, Location, Origin, Source, Sweep};
pub use convert::{DOCUMENTS, MAX_ID, MAX_TITLE};
pub use document::Document;
pub use dtype::{DType, NumberKind, Scalar, UnknownDType};
pub use error::{LoadError, LoadErrors};
pub use expect::MAX_TOLERANCE_ULP;
pub use expression::{Call, Expression, Node, WrongArity};
pub use function::{Exactness, Function, UnknownFunction};
pub use half;
pub use implementation::{Capabilities, DEFAULT_MAX_ELEMENTS, Implementation};
pub use lint::hides;
pub use load::{CaseFile, FORMAT, MAX_FILE_BYTES, load_path, load_str};
pub use operand::{MAX_OPERAND_NAME, Operand};
pub use outcome::{ErrorKind, Outcome, Refusal, RefusalKind, Success, UnknownRefusalKind};
pub use request::{Malformed, Operation, OperationKind, Request};
pub use rules::{Attribute, OperandCount, RuleSet, Rules, UnknownRuleSet};
pub use shape::{MAX_COUNT, Shape, ShapeError};
pub use suite::{FILES, Suite};
pub use tensor::{Data, Element, Tensor};
pub use tree::{MAX_DEPTH, MAX_NODES};
