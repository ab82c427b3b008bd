//! What travels with the cases wherever they are copied to: their schemas, and the clauses that they cite.

/// The name and the text of every JSON Schema under `spec/schema`.
pub const SCHEMAS: &[(&str, &str)] = &[
    ("case-file.schema.json", include_str!("../schema/case-file.schema.json")),
    ("protocol.schema.json", include_str!("../schema/protocol.schema.json")),
    ("request.schema.json", include_str!("../schema/request.schema.json")),
];

/// The clauses, `spec/SEMANTICS.md`.
pub const SEMANTICS: &str = include_str!("../SEMANTICS.md");

/// The names and the texts of the licences, of which a reader may choose.
pub const LICENCES: &[(&str, &str)] =
    &[("LICENSE-APACHE", include_str!("../LICENSE-APACHE")), ("LICENSE-MIT", include_str!("../LICENSE-MIT"))];
