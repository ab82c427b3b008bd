//! `broadcheck export`: the content of the directory, and the files that it does not touch.

use super::*;
use broadcheck_spec::{DType, Operand};

#[test]
fn an_export_contains_the_suite_in_both_formats_and_a_manifest() {
    let directory = scratch();
    let bundle = directory.path().join("deep/bundle");
    let out = bundle.to_str().unwrap();
    assert!(ends(0, &["export", "--out", out]).out.starts_with(out));
    let suite = broadcheck_spec::Suite::builtin().unwrap();
    let mut read = Vec::new();
    for language in ["json", "yaml"] {
        let there = broadcheck_spec::Suite::from_paths(&[bundle.join(language)]).unwrap();
        assert_eq!(there.sweeps.len(), suite.sweeps.len(), "{language}");
        for case in &suite.cases {
            let found = there.get(&case.id).expect(&case.id);
            assert_eq!(found.request, case.request, "{language} {}", case.id);
            assert_eq!(found.expectation, case.expectation, "{language} {}", case.id);
        }
        // The patterns of one to ten operands, of two rule sets: 2 · Σ (2^n - 1).
        assert_eq!(there.cases.len(), suite.cases.len() + 4072, "{language}");
        let digits = there.get("theano/patterns/ten-operands/1111111111").expect("the last pattern");
        assert_eq!(digits.request.operands().len(), 10);
        read.push(there.cases.len());
    }
    assert_eq!(read[0], read[1]);
    assert_manifest(&bundle, &suite);
}

/// Expects that the manifest names every file, and their hashes and counts.
fn assert_manifest(bundle: &Path, suite: &broadcheck_spec::Suite) {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(bundle.join("manifest.json")).unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap();
    let mut named: Vec<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    for wanted in ["LICENSE-MIT", "LICENSE-APACHE", "SEMANTICS.md", "schema/case-file.schema.json"] {
        assert!(named.contains(&wanted), "{wanted}");
    }
    named.push("manifest.json");
    named.sort_unstable();
    assert_eq!(files_below(bundle), named);
    assert_eq!(manifest["cases"]["total"], suite.cases.len());
    assert_eq!(manifest["cases_of_sweeps"], 4072);
    assert_eq!(manifest["sweeps_by_name"]["numpy/relations/grouping"], 64_000);
    assert_eq!(manifest["sweeps_by_name"]["theano/long/tails"], 650);
    let total: u64 = files.iter().filter_map(|file| file["cases"].as_u64()).sum();
    assert_eq!(total, 2 * (suite.cases.len() as u64 + 4072), "in two formats");
    // The hash computed by another program.
    if let Ok(made) = Command::new("sha256sum").arg(bundle.join("LICENSE-MIT")).output() {
        let made = String::from_utf8(made.stdout).unwrap();
        let file = files.iter().find(|file| file["path"] == "LICENSE-MIT").unwrap();
        assert_eq!(made.split_whitespace().next(), file["sha256"].as_str());
    }
}

#[test]
fn an_export_of_one_dtype_contains_retyped_cases() {
    let directory = scratch();
    let out = directory.path().to_str().unwrap();
    let printed = ends(0, &["export", "--dtypes", "f32", "--format", "json", "--out", out]).out;
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(directory.path().join("manifest.json")).unwrap()).unwrap();
    let suite = broadcheck_spec::Suite::builtin().unwrap();
    let number = |field: &str| manifest[field].as_u64().unwrap();
    let total = manifest["cases"]["total"].as_u64().unwrap();
    assert_eq!(total + number("left_out"), suite.cases.len() as u64);
    assert!(number("retyped") > 1000, "{printed}");
    assert!(printed.contains(&format!("({} in another dtype; ", number("retyped"))), "{printed}");
    assert_eq!(manifest["dtypes"], serde_json::json!(["f32"]));
    let there = broadcheck_spec::Suite::from_paths(&[directory.path().join("json")]).unwrap();
    assert_eq!(there.cases.len() as u64, total + number("cases_of_sweeps"));
    let case = there.get("numpy/zero/one-with-zero-on-the-first-axis").expect("a case about shapes");
    let dtypes: Vec<DType> = case.request.operands().iter().map(Operand::dtype).collect();
    assert_eq!(dtypes, [DType::F32; 2]);
    assert!(there.get("numpy/patterns/two-operands/10").is_some());
    let text = fs::read_to_string(directory.path().join("json/numpy-zero.json")).unwrap();
    assert!(text.contains("retyped_from"));
    complains("--dtypes <DTYPE>", &["export", "--dtypes", "f33", "--out", out]);
}

#[test]
fn an_export_replaces_its_own_files_and_no_others() {
    let directory = scratch();
    let bundle = directory.path();
    let out = bundle.to_str().unwrap();
    ends(0, &["export", "--format", "json", "--out", out]);
    assert!(!files_below(bundle).iter().any(|path| path.starts_with("yaml/")));
    // Files that are still part of the export are replaced, others are deleted.
    ends(0, &["export", "--format", "yaml", "--out", out]);
    assert!(!files_below(bundle).iter().any(|path| path.starts_with("json/")));
    // A changed file stays, and nothing else is written.
    let sweeps = bundle.join("yaml/numpy-sweeps.yaml");
    fs::write(&sweeps, "mine").unwrap();
    let before = fs::read(bundle.join("manifest.json")).unwrap();
    complains("yaml/numpy-sweeps.yaml", &["export", "--format", "yaml", "--out", out]);
    complains("changed since", &["export", "--format", "json", "--out", out]);
    assert_eq!(fs::read_to_string(&sweeps).unwrap(), "mine");
    assert_eq!(fs::read(bundle.join("manifest.json")).unwrap(), before);
    // A manifest of another program.
    let other = scratch();
    let path = write(other.path(), "manifest.json", "{\"name\": \"an extension\"}");
    complains("manifest.json", &["export", "--out", other.path().to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"name\": \"an extension\"}");
    assert_eq!(files_below(other.path()), ["manifest.json"]);
    complains("expected a directory", &["export", "--out", &path]);
    complains("--format <FORMAT>", &["export", "--format", "toml", "--out", out]);
}

#[test]
fn a_manifest_cannot_reach_outside_the_directory() {
    let directory = scratch();
    let bundle = directory.path().join("kit");
    fs::create_dir(&bundle).unwrap();
    let outside = write(directory.path(), "mine", "");
    // The hash of an empty file.
    let manifest = r#"{"kit":"broadcheck-cases","version":"0","format":1,"licence":"","cases":{},"cases_of_sweeps":0,
        "sweeps_by_name":{},"files":[{"path":"../mine","sha256":
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}"#;
    write(&bundle, "manifest.json", manifest);
    ends(0, &["export", "--out", bundle.to_str().unwrap()]);
    assert!(fs::exists(outside).unwrap());
}
