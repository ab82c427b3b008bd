//! The examples of the five documents as data, from `spec/examples.yaml`: what a case may cite, and what the suite
//! must cover.

use crate::read::read;
use crate::tree;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// An example of a document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// As cases cite it: `X01`.
    pub id: String,
    /// The document, or `xla` for the three texts together.
    pub document: String,
    /// Its lines, by the document's key.
    pub lines: BTreeMap<String, String>,
    /// What it says.
    pub text: String,
    /// What must encode it.
    pub covered_by: Coverage,
}

/// What encodes an example.
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

/// A document that examples are taken from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// As cases cite it: `xla-en`.
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

/// The document of this key.
pub fn document(key: &str) -> Option<&'static Document> {
    documents().iter().find(|document| document.key == key)
}

/// The example of this id.
pub fn get(id: &str) -> Option<&'static Example> {
    all().iter().find(|example| example.id == id)
}
