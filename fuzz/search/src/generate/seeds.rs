//! Turns the cases into seeds of the fuzz targets' corpora.

use super::bytes::encode;
use super::choices::{Choices, Seeded};
use crate::oracle;
use broadcheck::files;
use broadcheck_spec::{CaseFile, Suite, json, write};
use std::path::Path;
use std::{fs, io};

/// An initial input of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The case's id as a file name.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

/// The fuzz targets whose seeds are cases, answers to cases, or random bytes. The command has others.
pub const TARGETS: [&str; 7] =
    ["differential", "numpy_ndarray", "relations", "gradient", "infer", "case_file", "protocol"];

/// The seeds of a target from these cases: every case that is relevant to the target. None for an unknown
/// target.
pub fn seeds(target: &str, suite: &Suite) -> Vec<Seed> {
    match target {
        "infer" => signatures(),
        "case_file" => case_files(suite),
        "protocol" => outputs(),
        _ => requests(target, suite),
    }
}

/// Writes the seeds of every target below a directory, one directory per target, and returns how many there
/// are. Existing seeds are left alone; nothing is overwritten.
///
/// # Errors
/// A directory or file cannot be written.
pub fn write_all(suite: &Suite, directory: &Path) -> io::Result<Vec<(&'static str, usize)>> {
    let mut counts = Vec::with_capacity(TARGETS.len());
    for target in TARGETS {
        let seeds = seeds(target, suite);
        write_seeds(&seeds, &directory.join(target))?;
        counts.push((target, seeds.len()));
    }
    Ok(counts)
}

/// Writes seeds into a target's directory, which is created if missing. Existing seeds are left alone.
///
/// # Errors
/// The directory or a file cannot be written.
pub fn write_seeds(seeds: &[Seed], directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for seed in seeds {
        // The name depends on the content, so a changed case becomes another seed.
        let path = directory.join(format!("{}-{:08x}", seed.name, checksum(&seed.bytes)));
        match files::create(&path, &seed.bytes) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn file_name(id: &str) -> String {
    id.replace('/', "-")
}

fn requests(target: &str, suite: &Suite) -> Vec<Seed> {
    let Some(oracle) = oracle::target(target) else { return Vec::new() };
    let judged = suite
        .cases
        .iter()
        .filter(|case| !matches!(oracle.judge(&case.request), oracle::Judgement::Vacuous(_)));
    judged.map(|case| Seed { name: file_name(&case.id), bytes: encode(&case.request) }).collect()
}

/// Each case as a file, every eighth also as JSON; and the sweeps.
fn case_files(suite: &Suite) -> Vec<Seed> {
    let runs = suite.cases.iter().map(|case| {
        let file = CaseFile { cases: vec![case.clone()], ..CaseFile::default() };
        (&case.id, write::case_to_yaml(case), file)
    });
    let inferences = suite.inferences.iter().map(|case| {
        let file = CaseFile { inferences: vec![case.clone()], ..CaseFile::default() };
        (&case.id, write::inference_case_to_yaml(case), file)
    });
    let mut seeds = Vec::with_capacity(suite.number_of_cases() + 1);
    for (place, (id, yaml, file)) in runs.chain(inferences).enumerate() {
        let name = file_name(id);
        seeds.push(Seed { name: name.clone(), bytes: yaml.into_bytes() });
        if place % 8 == 0 {
            seeds.push(Seed {
                name: name + "-json",
                bytes: json::file_to_json(&file).to_string().into_bytes(),
            });
        }
    }
    let sweeps = CaseFile { sweeps: suite.sweeps.clone(), ..CaseFile::default() };
    seeds.push(Seed {
        name: "sweeps-json".into(),
        bytes: json::file_to_json(&sweeps).to_string().into_bytes(),
    });
    seeds
}

/// Bytes that draw signatures: random ones, because no encoder finds the bytes of a given signature.
fn signatures() -> Vec<Seed> {
    const COUNT: u64 = 64;
    const LENGTH: usize = 96;
    let drawn = |number: u64| {
        let mut choices = Seeded::new(number);
        let byte = |_| u8::try_from(choices.below(256)).unwrap_or(0);
        Seed { name: format!("drawn-{number}"), bytes: (0..LENGTH).map(byte).collect() }
    };
    (0..COUNT).map(drawn).collect()
}

fn outputs() -> Vec<Seed> {
    let implementations = crate::subjects::all();
    let implementations: Vec<&dyn broadcheck_spec::Implementation> = implementations
        .iter()
        .map(|implementation| &**implementation as &dyn broadcheck_spec::Implementation)
        .collect();
    let mut seeds = Vec::new();
    for (implementation, output) in
        implementations.iter().zip(oracle::protocol::correct_outputs(&implementations))
    {
        let name = file_name(implementation.name());
        // An output that ends in the middle of a line.
        let half = output[..output.len() / 2].to_vec();
        seeds.push(Seed { name: name.clone(), bytes: output });
        seeds.push(Seed { name: name.clone() + "-half", bytes: half });
        if implementation.capabilities().infer {
            let bytes = oracle::protocol::correct_inferences(*implementation);
            seeds.push(Seed { name: name + "-inferred", bytes });
        }
    }
    seeds
}
