//! The tests of the directory `tests` as unit tests, for builds with the address sanitizer, which set
//! `sanitized`.

#[path = "../allocations.rs"]
mod allocations;
#[path = "../differential.rs"]
mod differential;
#[path = "../groups.rs"]
mod groups;
#[path = "../in_place.rs"]
mod in_place;
#[path = "../infer.rs"]
mod infer;
#[path = "../limits.rs"]
mod limits;
#[path = "../math.rs"]
mod math;
#[path = "../parts.rs"]
mod parts;
#[path = "../signature.rs"]
mod signature;
#[path = "../suite.rs"]
mod suite;
#[path = "../table.rs"]
mod table;

/// A file that is added to the directory is added here, too.
#[test]
fn every_file_is_here() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    for file in files.filter_map(|name| Some(name.to_str()?.strip_suffix(".rs")?.to_owned())) {
        let module = format!("\nmod {file};\n");
        assert!(
            include_str!("mod.rs").contains(&module),
            "{file}.rs is not tested with the address sanitizer"
        );
    }
}
