//! The suite under `cargo test`: one test per case or sweep and built-in implementation.
//!
//! `cargo test -- xla/` runs the cases of a rule set, `cargo test -- numpy/zero` those of a topic, and `cargo
//! test -- ndarray` those of an implementation. `fast` runs at every SIMD level that the machine has. A case
//! that an implementation does not declare is shown as ignored, never as passed. The largest sweeps
//! are sampled, and the reference is not asked those of long operands: `broadcheck check` runs all of them.

use broadcheck::testing::Tests;
use broadcheck_search::subjects;
use broadcheck_spec::Suite;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The shipped suite has at least this many cases.
const FEWEST_CASES: usize = 1300;

/// About as many cases of a sweep are run: a sample of the largest, spread evenly. `.ci/run` checks whole
/// sweeps on every level.
const CASES_OF_A_SWEEP: u64 = 400;

fn main() -> ExitCode {
    // `fast` itself is one of its levels.
    let others = subjects::all().into_iter().filter(|subject| subject.name() != "fast");
    let levels: Vec<_> = subjects::fast_levels().collect();
    let missing: Vec<String> =
        levels.iter().filter(|(_, subject)| subject.is_none()).map(|(name, _)| name.clone()).collect();
    let fast = levels.into_iter().filter_map(|(_, subject)| subject);
    let tests = Tests::several(others.chain(fast)).sample_sweeps(CASES_OF_A_SWEEP);
    // The reference computes each element alone, so long operands test little more of it than short ones.
    let tests = tests.ignore(
        "*/{sequences/long,long*/{around-8192,beyond-two-buffers,beyond-sixteen-bits}} (reference)",
        "`broadcheck check` runs it",
    );
    let tests = tests.test("suite/is-whole", is_whole);
    missing.iter().fold(tests, |tests, name| tests.unavailable(name)).main()
}

/// An empty or half-loaded suite must not look like a green one: what is built in is what the files contain.
fn is_whole() -> Result<(), String> {
    let suite = Suite::builtin().map_err(|errors| errors.to_string())?;
    let cases = suite.cases.iter().map(|case| &case.location);
    let mut built_in: BTreeMap<String, usize> = BTreeMap::new();
    let inferences = suite.inferences.iter().map(|case| &case.location);
    for location in cases.chain(inferences).chain(suite.sweeps.iter().map(|sweep| &sweep.location)) {
        *built_in.entry(location.file.clone()).or_default() += 1;
    }
    let written = entries_on_disk();
    if written != built_in {
        return Err(format!("found built in:\n{built_in:#?}\nexpected as in the files:\n{written:#?}"));
    }
    let count = suite.cases.len();
    if count < FEWEST_CASES {
        return Err(format!("found {count} cases, expected at least {FEWEST_CASES}"));
    }
    Ok(())
}

/// The number of entries in each case file, counted without the loader: each begins with `- id:`.
fn entries_on_disk() -> BTreeMap<String, usize> {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let mut directories = vec![spec.join("cases")];
    let mut counts = BTreeMap::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of case files") {
            let path = entry.expect("an entry of the directory").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a case file in UTF-8");
            let count = text.lines().filter(|line| line.trim_start().starts_with("- id:")).count();
            let name =
                path.strip_prefix(&spec).expect("a path below spec").to_string_lossy().replace('\\', "/");
            counts.insert(format!("spec/{name}"), count);
        }
    }
    counts
}
