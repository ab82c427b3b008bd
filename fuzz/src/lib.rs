//! What the fuzz targets share: a finding is a panic, with everything about it in the message.

use broadcheck_search::generate::AnyRequest;
use broadcheck_search::oracle;

/// Judges a request as the oracle of this name does.
///
/// # Panics
/// With the finding, if there is one.
pub fn judge(target: &str, request: &AnyRequest) {
    let oracle = oracle::target(target).expect("a target of this name");
    if let Some(found) = oracle.judge(&request.0).disagreement() {
        panic!("{target}: {}\n{}\n{request:?}", found.signature, found.detail);
    }
}

/// Takes what an oracle over bytes says.
///
/// # Panics
/// With the finding, if there is one.
pub fn holds<T>(target: &str, said: Result<T, String>) {
    if let Err(finding) = said {
        panic!("{target}: {finding}");
    }
}
