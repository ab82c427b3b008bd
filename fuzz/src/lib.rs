//! What the fuzz targets share. A finding is a panic whose message has everything about it.

use broadcheck_search::generate::{AnyRequest, AnySignature};
use broadcheck_search::inference::{Relation, Verdict};
use broadcheck_search::oracle;
use std::cell::RefCell;

/// Judges a request with the oracle of this name.
///
/// # Panics
/// Panics with the finding, if there is one.
pub fn judge(target: &str, request: &AnyRequest) {
    let oracle = oracle::target(target).expect("a target of this name");
    if let Some(found) = oracle.judge(&request.0).disagreement() {
        panic!("{target}: {}\n{}\n{request:?}", found.signature, found.detail);
    }
}

/// The most runs of a signature that are tried.
const RUNS: usize = 2_000;

/// Judges what is inferred from a signature.
///
/// # Panics
/// Panics with the finding, if there is one.
pub fn infer(signature: &AnySignature) {
    thread_local!(static RELATION: RefCell<Relation> = RefCell::new(Relation::trying(RUNS)));
    let verdict = RELATION.with_borrow_mut(|relation| oracle::inference().judge(&signature.0, relation));
    if let Verdict::Disagreement(found) = verdict {
        panic!("infer: {}\n{}\n{signature:?}", found.signature, found.detail);
    }
}

/// Checks the result of an oracle over bytes.
///
/// # Panics
/// Panics with the finding, if there is one.
pub fn holds<T>(target: &str, result: Result<T, String>) {
    if let Err(finding) = result {
        panic!("{target}: {finding}");
    }
}
