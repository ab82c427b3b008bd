//! What the fuzz targets share. A finding is a panic whose message has everything about it.

use broadcheck_search::generate::AnyRequest;
use broadcheck_search::oracle;

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

/// Checks the result of an oracle over bytes.
///
/// # Panics
/// Panics with the finding, if there is one.
pub fn holds<T>(target: &str, result: Result<T, String>) {
    if let Err(finding) = result {
        panic!("{target}: {finding}");
    }
}
