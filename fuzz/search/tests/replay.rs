//! Replays every seed and every regression input of the fuzz targets through the same oracles, without
//! libFuzzer. The command has a test like this for its own targets.

use broadcheck_search::generate::seeds::{Seed, seeds};
use broadcheck_search::generate::{decode, decode_signature};
use broadcheck_search::inference::{Relation, Verdict};
use broadcheck_search::oracle::{self, case_file, protocol::protocol};
use broadcheck_spec::{Suite, write};
use std::path::Path;
use std::sync::LazyLock;

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().unwrap());

/// Judges an input as a target does.
fn judge(target: &str, input: &[u8]) -> Result<(), String> {
    match target {
        "case_file" => case_file(input).map(|_| ()),
        "protocol" => protocol(input).map(|_| ()),
        "infer" => {
            let Some(signature) = decode_signature(input) else { return Ok(()) };
            match oracle::inference().judge(&signature, &mut Relation::trying(2_000)) {
                Verdict::Disagreement(found) => Err(format!("{}: {}", found.signature, found.detail)),
                Verdict::Agreed { .. } | Verdict::Convention | Verdict::Vacuous(_) => Ok(()),
            }
        }
        _ => {
            let request = decode(input);
            let judgement = oracle::target(target).expect("a target").judge(&request);
            let describe = |found: oracle::Disagreement| {
                format!("{}: {}\n{}", found.signature, found.detail, write::request_to_yaml(&request))
            };
            judgement.disagreement().map_or(Ok(()), |found| Err(describe(found)))
        }
    }
}

/// The inputs that were findings once.
fn regressions(target: &str) -> Vec<Seed> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../regressions").join(target);
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.push(Seed { name, bytes: std::fs::read(path).unwrap() });
    }
    all
}

#[track_caller]
fn replay(target: &str, least: usize) {
    let seeds = seeds(target, &SUITE);
    assert!(seeds.len() >= least, "{} seeds", seeds.len());
    let mut failed = Vec::new();
    for Seed { name, bytes } in seeds.iter().chain(&regressions(target)) {
        if let Err(finding) = judge(target, bytes) {
            failed.push(format!("{name}: {finding}"));
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn differential_holds() {
    replay("differential", 1_000);
}

#[test]
fn numpy_ndarray_holds() {
    replay("numpy_ndarray", 200);
}

#[test]
fn relations_hold() {
    replay("relations", 500);
}

#[test]
fn gradient_holds() {
    replay("gradient", 50);
}

#[test]
fn infer_holds() {
    replay("infer", 60);
}

#[test]
fn case_file_holds() {
    replay("case_file", 1_000);
}

#[test]
fn protocol_holds() {
    replay("protocol", 4);
}
