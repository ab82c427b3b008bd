//! The five documents and their examples as data, from `spec/examples.yaml`: what cases may cite and the
//! suite must cover.

use crate::read::read;
use crate::tree;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// An example of a document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The id that cases cite: `X01`.
    pub id: String,
    /// The document's key, or `xla` for an example of all three XLA texts.
    pub document: String,
    /// Its lines, by document key.
    pub lines: BTreeMap<String, String>,
    /// Its content.
    pub text: String,
    /// What must cover it.
    pub covered_by: Coverage,
}

/// What covers an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// At least one case.
    Case,
    /// A sweep.
    Sweep,
    /// The note of a case.
    Remark,
    /// A test of the loader.
    Loader,
}

/// A document from which the rules and examples are taken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The key that cases cite: `xla-en`.
    pub key: String,
    /// Its title.
    pub title: String,
    /// What it is.
    pub description: String,
    /// Who published it, or `not recorded`.
    pub publisher: String,
    /// Where it was published, or `not recorded`, perhaps with the address of a related text.
    pub address: String,
    /// The SHA-256 of the text that was used, in hexadecimal.
    pub sha256: String,
    /// The number of its lines, counted as SEMANTICS.md explains.
    pub length: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: u32,
    documents: Vec<Document>,
    examples: Vec<Example>,
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    let parsed = tree::parse(include_str!("../examples.yaml"));
    if let Some(error) = parsed.errors.first() {
        panic!("spec/examples.yaml:{}: {:?}", error.place.line, error.finding);
    }
    let root = parsed.root.expect("spec/examples.yaml is not empty");
    read(&root).unwrap_or_else(|error| panic!("spec/examples.yaml: {}: {}", error.path, error.finding))
});

/// Every example, in the order of the list.
pub fn all() -> &'static [Example] {
    &FILE.examples
}

/// The documents, in the order of the list.
pub fn documents() -> &'static [Document] {
    &FILE.documents
}

/// The document with this key.
pub fn document(key: &str) -> Option<&'static Document> {
    documents().iter().find(|document| document.key == key)
}

/// The example with this id.
pub fn get(id: &str) -> Option<&'static Example> {
    all().iter().find(|example| example.id == id)
}
