//! The data types of broadcheck, the conformance suite for array broadcasting: the suite sends *requests*, an
//! implementation answers with *outcomes*, and a *case* is a request with its required outcome. This page is
//! the reference for the format of requests and case files. `spec/SEMANTICS.md` defines each rule set, clause
//! by clause; this crate does not apply any rule.
//!
//! - [Requests](#requests): [operations](#operations), [expressions and
//!   functions](#expressions-and-functions), [operands and views](#operands-and-views), [unknown
//!   lengths](#unknown-lengths), [dtypes](#dtypes), [attributes](#attributes-of-a-rule-set), [what is
//!   malformed](#what-is-malformed)
//! - [Case files](#case-files): [fields](#fields-of-a-case), [results](#results), [inferred
//!   shapes](#inferred-shapes), [refusals](#refusals), [sweeps](#sweeps), [literals](#literals),
//!   [YAML](#which-yaml), [errors and limits](#errors-and-limits)
//! - [The JSON twin](#the-json-twin) and [the protocol](#the-protocol)
//! - [In Rust](#in-rust)
//!
//! # Requests
//!
//! A request names a rule set, an operation and operands ([`Request`]; before the run, [`Signature`]). The
//! rule sets ([`RuleSet`]) are, each with the operation `infer` and these:
//!
//! | name | attributes | operations |
//! |---|---|---|
//! | `none` | - | `elementwise`, `gradient` |
//! | `numpy` | - | `elementwise`, `gradient`, `broadcast` |
//! | `pdpd` | `axis` | `elementwise`, `gradient` |
//! | `bidirectional` | - | `broadcast` |
//! | `xla` | `broadcast_dimensions` | `elementwise`, `gradient`, `broadcast` |
//! | `theano` | `broadcastable`, on each operand | `elementwise`, `gradient` |
//! | `leading` | - | `elementwise`, `gradient`, `broadcast` |
//! | `repeat` | - | `elementwise`, `gradient`, `broadcast` |
//!
//! ## Operations
//!
//! | operation | fields | meaning |
//! |---|---|---|
//! | `elementwise` | `expression`, `operands` | the default: evaluates the expression at every index of the common shape. With `into`, the name of an operand, it writes the result [into that operand](#into-a-destination) |
//! | `broadcast` | one operand, `target_shape` | broadcasts the operand to a shape: in both directions under `bidirectional`, in one direction under `numpy` (`broadcast_to`), `xla` (`broadcast_in_dim`), `leading` and `repeat` |
//! | `gradient` | `expression`, `operands`, `wrt` | the gradient of the sum of the expression's elements with respect to the operand named in `wrt`; it has that operand's shape and dtype. With `cotangent`, the name of the last operand, of the sum of the result times that operand; then `target_shape` in place of `expression` asks for the gradient of `broadcast` (clause GRAD-4) |
//! | `infer` | either `expression` and `operands`, or one operand and `target_shape` | what is known of the result of `elementwise` or `broadcast` before the run: operands have no values, and lengths [may be unknown](#unknown-lengths) |
//!
//! ## Expressions and functions
//!
//! An expression is the name of an operand, or a list of a function and its arguments, nested up to
//! [`MAX_EXPRESSION_DEPTH`] deep: `a`, `[add, a, b]`, `[exp, [multiply, a, b]]`. The functions ([`Function`])
//! are:
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
//! | 3 | `select` | the condition is bool, the other two arguments have any one dtype: the second where the condition is true, otherwise the third |
//!
//! Implementations may differ by a few ULP in `exp`, `log`, `tanh` and `power` (clauses V-4, V-4b);
//! everything else is exact to the bit (V-1). A request that applies a function to other dtypes is not
//! malformed: the implementation refuses it.
//!
//! ## Operands and views
//!
//! `operands` is an ordered list: the first is A, or the left-hand side ([`Operand`]).
//!
//! | field | |
//! |---|---|
//! | `name` | `[a-z][a-z0-9_]*`, at most [`MAX_OPERAND_NAME`] characters, unique in the request, not the name of a function |
//! | `dtype` | see [below](#dtypes) |
//! | `shape` | the lengths of the axes, outermost first, each 0 or more; `[]` is a scalar, which has one value |
//! | `values` | flat, row-major, one per element; for a view, the buffer |
//! | `of` | in place of `values`, with `into`: the name of the [destination](#into-a-destination), whose buffer the operand reads |
//! | `strides` | optional: in elements, one per axis; a stride may be negative or 0 |
//! | `offset` | optional: the position of the first element in the buffer; defaults to 0 |
//! | `broadcastable` | optional, `theano` only: a flag per axis; all false by default |
//! | `declared` | optional: what an implementation that builds ahead is told of the shape before the run (clause DECL-1), with [unknown lengths](#unknown-lengths); the shape itself by default |
//! | `constant` | optional: `true` if the operand is given as a constant of what is built; the outcome does not depend on it |
//! | `same` | optional: the name of an earlier operand, equal to this one in all but the name, if both are given as one array; the outcome does not depend on it |
//!
//! An operand with `strides` or `offset` is a view: its element at index i is at position
//! `offset` + Σ i_k · `strides`_k of `values`. If only `offset` is given, the strides are those of a dense
//! row-major tensor. A view that reaches outside its buffer is malformed; a view without elements does not
//! reach any position.
//!
//! ## Into a destination
//!
//! Under `numpy`, `into` names the operand of `elementwise` into which the result is written, whether or not
//! the expression uses it (clauses INTO-1 to INTO-4). Then an operand may have `of`, the name of that
//! destination, in place of `values`: it is a view of the destination's buffer. The answer is the result, as
//! if every operand had been read before anything was written, and optionally the buffer afterwards.
//!
//! ## Unknown lengths
//!
//! An operand of `infer` ([`OperandType`]) has `name`, `dtype`, `shape` and, under `theano`, `broadcastable`.
//! In its shape, in `target_shape` and in an [inferred shape](#inferred-shapes), a length ([`Length`]) is:
//!
//! | length | shown as | |
//! |---|---|---|
//! | `3` | `3` | a number |
//! | `"?"` | `?` | 0 or more: nothing is known of it |
//! | `{max: 3}` | `..3` | 0 to 3 |
//! | `{min: 2}` | `2..` | 2 or more |
//! | `{min: 1, max: 3}` | `1..3` | 1 to 3 |
//!
//! A whole shape may be `"..."`: not even the rank is known ([`PartialShape`]). Bounds are included, and
//! below 2^64. In a case file a length has one spelling: not `{min: 0, max: 3}`, `{min: 2, max: 2}` or `{}`.
//! An answer may use any.
//!
//! ## Dtypes
//!
//! `f64` `f32` `f16` `bf16` `i64` `i32` `i16` `i8` `u64` `u32` `u16` `u8` `bool` ([`DType`]): IEEE 754
//! binary64, binary32 and binary16, bfloat16, signed (two's complement) and unsigned integers, and booleans.
//! There is no type promotion.
//!
//! ## Attributes of a rule set
//!
//! | field | rule set | default |
//! |---|---|---|
//! | `axis` | `pdpd`: the axis of A at which B starts | -1: B is aligned at the right |
//! | `broadcast_dimensions` | `xla`: for each axis of the lower-rank operand, the axis of the higher-rank operand; for `broadcast`, for each axis of the operand, that of the target | not given |
//! | `broadcastable` | `theano`, on each operand | all false |
//! | `target_shape` | belongs to the operation `broadcast`, not to a rule set | none: it is required |
//! | `declared_target_shape` | the same: what an implementation that builds ahead is told of `target_shape` before the run | `target_shape` |
//!
//! ## What is malformed
//!
//! A malformed request is a mistake of whoever wrote it. It is never sent to an implementation and is not a
//! refusal. A request is malformed if it has:
//!
//! - no operand, or two operands of the same name;
//! - an unknown function, an unknown operand in the expression, in `wrt`, in `cotangent` or in `into`, or a
//!   wrong number of arguments; a cotangent that is not the last operand, or is used otherwise;
//! - the operation `broadcast` with a number of operands other than one, or under a rule set other than
//!   `bidirectional`, `numpy`, `xla`, `leading` and `repeat`; or the rule set `bidirectional` with another
//!   operation than this and its gradient;
//! - a constant with a declared shape, or that is differentiated or written; `same` with the name of an
//!   operand that differs or does not come before, or in a request with `into`;
//! - a declared shape that does not admit the shape of the run, `declared_target_shape` with an operation
//!   other than `broadcast`, or a declared shape of unknown rank under `xla` or `theano`;
//! - the operation `infer` with both `expression` and `target_shape` or neither of them, or with an unknown
//!   rank under `xla` or `theano`;
//! - `into` under another rule set than `numpy`, a destination of which two elements share a place, or `of`
//!   that does not name the destination;
//! - bounds of which `max` is below `min`;
//! - a field of another operation, an attribute of another rule set, or an expression with `axis` or
//!   `broadcast_dimensions` and a single operand;
//! - a number of flags or strides that differs from the rank, or a number of values that differs from the
//!   number of elements;
//! - a value that the dtype cannot represent.
//!
//! # Case files
//!
//! A case file is a list of cases in YAML, with a default rule set:
//!
//! ```
//! let text = r#"
//! format: 1                      # the only version so far
//! rules: xla                     # for cases that do not specify a rule set
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
//!     title: Operands of different ranks need dimensions.
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
//! The fields at the top level are `format: 1`, `rules` (optional), and `cases`, [`sweeps`](#sweeps) or both.
//! Unknown fields are errors everywhere in a case file. `spec/schema/case-file.schema.json` is a JSON Schema
//! for case files.
//!
//! ## Fields of a case
//!
//! | field | | |
//! |---|---|---|
//! | `id` | required | `[a-z0-9/-]`, unique in the suite, never changed; the id of a case in this suite begins with its rule set |
//! | `title` | required | one sentence: what would go wrong, or what must hold |
//! | `clause` | required | the clause of SEMANTICS.md that the case tests ([`clauses`]) |
//! | `convention` | | the convention that the case tests, by name ([`Convention`]); only an implementation that declares it can fail the case. Required where only the values show it (`gradient-ties`, `zero-signs`); otherwise worked out from the request and the outcome |
//! | `example` | | the documents' examples that the case encodes, by id ([`examples`]) |
//! | `source` | | a list of `{document: KEY, lines: "20-29, 61-71"}` (keys: [`DOCUMENTS`]; lines in quotes, ascending, within the document) and `{url: "https://…"}`; omitted if the clause is the only source |
//! | `origin` | required | where the expected values come from: `document`, `hand`, or `"system: NumPy 2.4.6"`; never the code under test |
//! | `rules` | required, here or at the top | the rule set |
//! | `operation` | | `elementwise` by default; the cases of `infer` are loaded apart from the others ([`Suite::inferences`]) |
//! | `expression`, `operands`, `wrt`, `cotangent`, `into`, `target_shape`, `axis`, `broadcast_dimensions` | | the [request](#requests) |
//! | `result` or `refusal`; for `infer`, `inferred` or `refusal` | exactly one | the required outcome |
//! | `retyped_from` | | the dtype in which the suite has the case, if `broadcheck export --dtypes` wrote it in another one; readers may ignore it |
//! | `since` | | in an export: the version of the suite in which the id first appeared; ignored by the loader |
//! | `note` | | free text: an erratum, a decision, the arithmetic |
//!
//! ## Results
//!
//! | field of `result` | |
//! |---|---|
//! | `dtype`, `shape`, `values` | required: a dense tensor, compared by clauses V-1 to V-6 |
//! | `intermediate` | `{shape, values}`, for `elementwise` under `xla` with operands of different ranks: the lower-rank operand after the in-dim step; compared only if the answer has it. An answer to another request must not have it |
//! | `broadcastable` | `theano`: the flags of the result; compared only if the answer has them. An answer under another rule set must not have them |
//! | `tolerance` | `{ulp: N}`, N up to [`MAX_TOLERANCE_ULP`], for expressions with `exp`, `log`, `tanh` or `power`, which may differ (V-4); not for `gradient`, which V-6 bounds |
//! | `zero_sign` | `any`, where `maximum` or `minimum` of zeros of both signs (V-3), or `exp`, `log`, `tanh` or `power` (V-4), leave the sign of a zero open. `values` are those of an implementation that orders zeros; any other may return what follows from either zero, as V-3 says: of `1 / maximum(0.0, -0.0)`, an infinity of either sign |
//! | `admitted` | in an export: the right values of each element that has more than one ([below](#admitted-values)); ignored by the loader, which applies the clauses |
//!
//! ### Admitted values
//!
//! `broadcheck export` computes what the clauses admit, so that a consumer needs neither a tolerance nor
//! ULPs. `admitted` is an object from the position of an element in `values`, as a decimal string, to a list
//! of entries ([`Admitted`]). An element that is not listed must equal its value in `values` to the bit,
//! except that any NaN is NaN. An element that is listed is right if one of its entries admits it:
//!
//! | entry | admits |
//! |---|---|
//! | `{"value": v, "bits": "0x3f800000"}` | exactly this value; any NaN if it is `"nan"` |
//! | `{"lower": a, "upper": b, "lower_bits": "0x…", "upper_bits": "0x…"}` | every x with a <= x <= b, compared as numbers: -0 equals +0, and NaN is never inside |
//!
//! `bits` are the value's bits in the dtype of the result, in hexadecimal with all digits
//! ([`Scalar::bits_in_hexadecimal`]). If every value is right, the entries are the interval from `"-inf"` to
//! `"inf"` and `"nan"`, both booleans, or the interval of all integers of the dtype.
//!
//! ## Inferred shapes
//!
//! | field of `inferred` | |
//! |---|---|
//! | `dtype`, `shape` | required: those of the result, as far as they are known before the run, exactly (clause INFER-3) |
//! | `accepts` | required in a case: `always` if every run is accepted, `depends` if some are and some are not. Compared only if the answer has it |
//! | `broadcastable` | `theano`: the flags of the result; compared only if the answer has them |
//!
//! An answer passes if it excludes no run that is accepted (INFER-2). If it says less than the case, it is
//! counted as *wider*.
//!
//! ```
//! let text = r#"
//! format: 1
//! rules: numpy
//! cases:
//!   - id: numpy/infer/unknown-meets-two
//!     title: An unknown length beside a 2 is a 2, whether it is stretched or equal.
//!     clause: INFER-4
//!     origin: hand
//!     operation: infer
//!     expression: [add, a, b]
//!     operands:
//!       - {name: a, dtype: f32, shape: ["?", 1]}
//!       - {name: b, dtype: f32, shape: [2, {min: 1, max: 3}]}
//!     inferred: {dtype: f32, shape: [2, {min: 1, max: 3}], accepts: depends}
//! "#;
//! let file = broadcheck_spec::load_str(text, "numpy.yaml")?;
//! assert_eq!(file.inferences[0].request.operands()[0].shape().to_string(), "(?,1)");
//! # Ok::<(), broadcheck_spec::LoadErrors>(())
//! ```
//!
//! ## Refusals
//!
//! `refusal: {kind: KIND}`, where KIND is one of the kinds of clause G-6 ([`RefusalKind`]), or `any`, which
//! accepts every kind:
//!
//! | kind | further fields |
//! |---|---|
//! | `dimension_mismatch`, `not_broadcastable` | `axis`, optional: the leftmost offending axis, counted in the result |
//! | `flag_violation` | `operand` and `axis`, optional: the operand by its name (or its position in the list), and the axis of that operand |
//! | `rank_mismatch` `axis_out_of_range` `broadcast_dimensions_count` `broadcast_dimension_out_of_range` `broadcast_dimensions_not_increasing` `broadcast_dimensions_not_identity` `broadcast_dimensions_not_distinct` `dtype_mismatch` `unsupported_function` `operand_count` `too_large` | - |
//!
//! ## Sweeps
//!
//! A sweep is a family of cases that is too large to list. It gives the family's name, its bounds and the
//! number of cases that it must expand to. The runner implements the families.
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
//! These are the families of this suite, for programs that expand them themselves (`broadcheck export` writes
//! the cases of the first):
//!
//! - `numpy-patterns` and `theano-patterns`, with `operands: k` and `length: n`: k vectors of n elements
//!   or one element each, but not all of one element. Under `theano` the flag of a vector of one element
//!   is true. Element j of operand i, both counted from 0, is (j + 1) · 10^i; the expression is the sum
//!   from left to right.
//! - `numpy-many-operands` and `theano-many-operands`, with `operands: k`, `long: l` and `length: n`: k
//!   vectors of which l, 1 or 2, have n elements, in every position, and the others one element. Under
//!   `theano` the flag of a vector of one element is true. Element j of operand i, both counted from 0, is (j
//!   + 1) · (i + 1); the expression is the sum from left to right.
//! - `RULES-long`, also with `-views`, `-dtypes`, `-gradients` or `-broadcasts`, with `from` and `to`:
//!   for each length n in this range, vectors of n elements, matrices of n rows of three and matrices of
//!   three rows of n, combined with a row, a column, a scalar or each other, as the rule set allows.
//!   Element j of the first operand is j mod 4093 + 1, element j of the second is (j mod 2039 + 1) ·
//!   4096; the expression is the difference, for pdpd the sum.
//! - `numpy-rewrites-TOPIC`, `numpy-constants-TOPIC` and `numpy-programs-TOPIC`, without `with`: expressions
//!   that an optimiser may replace by others, functions of a vector and a constant, and programs with many
//!   values alive. The lists of expressions and of special values are in
//!   `conformance/suite/src/sweeps/rewrites`.
//! - `RULES-lanes-DTYPE`, with `tails: n`: every function of a dtype, and a few expressions of two, on its
//!   special values (limits, zeros, NaN and so on). Vectors and matrices of about a thousand elements have
//!   every special value in every lane of a vector of 64 bytes, and next to every other; vectors of 1 to
//!   n elements have them in every tail. One operand is repeated in some of them. Subnormals have cases of
//!   their own, and so have zeros of both signs in `maximum` and `minimum`.
//! - `RULES-transposed` (from and to: the number of rows), `RULES-permuted` (the rank), `RULES-offsets`
//!   (the length) and `RULES-equal-buffers` (the number of rows): views that are larger than the blocks of
//!   kernels, in dtypes of 1, 2, 4 and 8 bytes, with a dense and with a stretched partner. Elements are
//!   residues of their place in the buffer; the expression is the difference, for pdpd the sum.
//!   `RULES-reversed` (the length): views with negative strides that begin before the end of their buffer.
//!   `RULES-view-operands` for `none`, `numpy`, `theano` and `leading` (the number of operands): each of
//!   several operands is a view with its own offset.
//! - `RULES-sums` (from and to: the number of contributions), not for `none` and `bidirectional`: gradients
//!   that sum NaN, infinities, fractions, masked contributions, and derivatives whose steps overflow.
//! - `RULES-operands` for `none`, `numpy`, `theano` and `leading`, with `operands: k`, `length: m` and
//!   `unused: u`: k vectors of every length from 0 to m, under `theano` with both flags, of which the
//!   expression leaves out each set of up to u operands.
//! - `RULES-sequences`, with `length: n`: requests that differ in one point, to be asked one after the other
//!   in one process. A sequence counts as one case.
//! - Any other name, with `max_rank` and `max_length`: a relation between two answers, over all shapes of
//!   up to `max_rank` axes with lengths from 0 to `max_length`. The title states what must hold.
//!
//! ## Literals
//!
//! | dtype | written | errors |
//! |---|---|---|
//! | floats | `1`, `1.5`, `-0.0`, `1.0e+5`, `.nan`, `.inf`, `-.inf` | an exponent without a sign or without a point before it, `-0`, `1e400`, `1.0e-400`, a value that the dtype cannot represent exactly |
//! | integers | `7`, `-7`; beyond 2^53 also as a string | `8.0`, a value out of range |
//! | bool | `true`, `false` | numbers, strings |
//!
//! A decimal denotes the nearest f64. An f32, f16 or bf16 must represent that f64 exactly: the f32 nearest to
//! 0.1 is written `0.10000000149011612`. The strings of the [JSON twin](#the-json-twin), such as `"nan"`, are
//! read in YAML too.
//!
//! ## Which YAML
//!
//! Case files are YAML 1.2, restricted to what a YAML 1.1 parser reads identically. The loader checks this.
//! The following are errors: anchors, aliases, tags, directives, merge keys, a second document, keys that are
//! not strings, repeated keys, empty values and null; and, unless quoted, `y n yes no on off` in any case,
//! `1:30`, `012`, `0o17`, `0x1F`, `1_000`, `+1`, `.5`, `1.`, `1e5`, `2001-12-14`.
//!
//! ## Errors and limits
//!
//! The loader reports all errors together, each with file, line, column, case, field, what was found and what
//! was expected ([`LoadError`]):
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
//! The loader rejects a file of more than [`MAX_FILE_BYTES`] without reading it, an empty file, and anything
//! that is not a regular file. A file may hold up to [`MAX_NODES`] values and nest up to [`MAX_DEPTH`] deep;
//! an id has at most [`MAX_ID`] characters, a title at most [`MAX_TITLE`]. Element counts are computed with
//! overflow checks, without allocating: a shape with more elements than there are values is an error, however
//! large.
//!
//! # The JSON twin
//!
//! A file whose name ends in `.json` has the same structure and is loaded by the same code. What JSON numbers
//! cannot express is a string: `"nan"`, `"inf"`, `"-inf"`, `"-0.0"`, and integers beyond 2^53. Such integers
//! may appear in `values`, `shape`, `target_shape`, `min`, `max`, `strides`, `offset`, `axis` and
//! `broadcast_dimensions`; readers accept both the string and the number. (In YAML all but `values` take
//! plain integers only.) Exponents and escapes follow JSON. [`json::file_to_json`] writes a file in this
//! form, and `broadcheck export` writes the whole suite.
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
//! Programs that connect an implementation to the suite exchange JSON objects, one per line. A request has
//! the form that [`json::request_to_value`] writes (`spec/schema/request.schema.json`). An answer is an
//! object with exactly one of these fields:
//!
//! - `result`: `{dtype, shape, values}`, with `intermediate` and `broadcastable` as in [results](#results);
//! - `inferred`, to a request of the operation `infer`: `{dtype, shape, accepts}`, with `broadcastable` as in
//!   [inferred shapes](#inferred-shapes), where `accepts` and `broadcastable` are optional;
//! - `refusal`: `{message, kind, axis, operand}`, all optional;
//! - `skipped`: `{reason}`: not answered because the implementation does not support the request;
//! - `errored`: `{message}`: not answered because something broke.
//!
//! Case files are read strictly, answers leniently ([`json::outcome_from_str`]): unknown fields are ignored,
//! a float is rounded to its dtype, and an integer may be written `8.0`. An answer is still invalid if the
//! number of values differs from the number of elements, a value is out of range, a bool is a number, or a
//! refusal kind does not exist.
//!
//! # In Rust
//!
//! [`Suite::builtin`] loads this suite, and [`Suite::from_paths`] loads one from files. Implement
//! [`Implementation`] for the library under test: it declares what the library supports, and its
//! [`run`](Implementation::run) maps a [`Request`] to an [`Outcome`]. If it infers shapes, its
//! [`infer`](Implementation::infer) maps a [`Signature`] to an outcome with an [`Inference`].
//! [`write::case_to_yaml`] writes a case that loads back as the same case.

mod admitted;
mod assemble;
mod bundled;
mod case;
pub mod clauses;
mod convention;
mod convert;
mod destination;
mod document;
mod dtype;
mod error;
pub mod examples;
mod expect;
mod expression;
mod function;
mod given;
mod implementation;
pub mod json;
mod length;
mod lint;
mod literal;
mod load;
mod masked;
mod operand;
mod outcome;
pub mod parallel;
mod raw;
mod read;
pub mod releases;
mod request;
mod rules;
mod shape;
mod signature;
mod suite;
mod tensor;
mod tree;
pub mod write;

pub use admitted::Admitted;
pub use assemble::MAX_EXPRESSION_DEPTH;
pub use bundled::{LICENCES, SCHEMAS, SEMANTICS};
pub use case::{
    Case, Expectation, ExpectedRefusal, ExpectedResult, InferenceCase, Location, Origin, Source, Sweep,
};
pub use convention::{Convention, Nature, UnknownConvention};
pub use convert::{DOCUMENTS, MAX_ID, MAX_TITLE};
pub use document::Document;
pub use dtype::{DType, NumberKind, Scalar, UnknownDType};
pub use error::{LoadError, LoadErrors};
pub use expect::MAX_TOLERANCE_ULP;
pub use expression::{Call, Expression, Node, WrongArity};
pub use function::{Exactness, Function, UnknownFunction};
pub use half;
pub use implementation::{Capabilities, DEFAULT_MAX_ELEMENTS, Implementation, Unknown};
pub use length::{Length, LengthError, PartialShape, PartialShapeError};
pub use lint::hides;
pub use load::{CaseFile, FORMAT, MAX_FILE_BYTES, load_path, load_str};
pub use operand::{MAX_OPERAND_NAME, Operand};
pub use outcome::{ErrorKind, Outcome, Refusal, RefusalKind, Success, UnknownRefusalKind};
pub use request::{Malformed, Operation, OperationKind, Request};
pub use rules::{Attribute, OperandCount, RuleSet, Rules, UnknownRuleSet};
pub use shape::{MAX_COUNT, Shape, ShapeError};
pub use signature::{Accepts, Asked, Inference, OperandType, Signature};
pub use suite::{FILES, Suite};
pub use tensor::{Data, Element, Tensor};
pub use tree::{MAX_DEPTH, MAX_NODES};
