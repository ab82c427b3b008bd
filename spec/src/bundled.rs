//! What is distributed with the cases: their schemas, the specification that they cite, and the licences.

/// The name and the text of every JSON Schema under `spec/schema`.
pub const SCHEMAS: &[(&str, &str)] = &[
    ("case-file.schema.json", include_str!("../schema/case-file.schema.json")),
    ("protocol.schema.json", include_str!("../schema/protocol.schema.json")),
    ("request.schema.json", include_str!("../schema/request.schema.json")),
];

/// The name and the text of every page of the specification: the entry page, then the pages with the clauses,
/// in order.
pub const SEMANTICS: &[(&str, &str)] = &[
    ("SEMANTICS.md", include_str!("../SEMANTICS.md")),
    ("semantics/general.md", include_str!("../semantics/general.md")),
    ("semantics/none.md", include_str!("../semantics/none.md")),
    ("semantics/numpy.md", include_str!("../semantics/numpy.md")),
    ("semantics/pdpd.md", include_str!("../semantics/pdpd.md")),
    ("semantics/bidirectional.md", include_str!("../semantics/bidirectional.md")),
    ("semantics/xla.md", include_str!("../semantics/xla.md")),
    ("semantics/theano.md", include_str!("../semantics/theano.md")),
    ("semantics/leading.md", include_str!("../semantics/leading.md")),
    ("semantics/repeat.md", include_str!("../semantics/repeat.md")),
    ("semantics/gradient.md", include_str!("../semantics/gradient.md")),
    ("semantics/into.md", include_str!("../semantics/into.md")),
    ("semantics/infer.md", include_str!("../semantics/infer.md")),
    ("semantics/values.md", include_str!("../semantics/values.md")),
];

/// The names and the texts of the licences; users may choose either.
pub const LICENCES: &[(&str, &str)] =
    &[("LICENSE-APACHE", include_str!("../LICENSE-APACHE")), ("LICENSE-MIT", include_str!("../LICENSE-MIT"))];
