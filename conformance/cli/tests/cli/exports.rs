//! `broadcheck export`, `compare-exports` and `vendor-check`: the content of a kit, its updates, and the
//! files that are not touched.

use super::*;
use broadcheck_spec::{DType, Exactness, Expectation, Expression, Operand, Suite, releases};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// Exports with these options, and returns what was printed.
fn export(directory: &Path, options: &[&str]) -> String {
    let out = directory.to_str().unwrap();
    ends(0, &[&["export", "--out", out], options].concat()).out
}

/// The manifest of a kit, which fits its schema.
fn manifest(directory: &Path) -> Value {
    let text = fs::read_to_string(directory.join("manifest.json")).unwrap();
    fitting(include_str!("../../../schema/manifest.schema.json"), &text)
}

/// Parses JSON that must fit a schema.
fn fitting(schema: &str, text: &str) -> Value {
    let [schema, value]: [Value; 2] = [schema, text].map(|text| serde_json::from_str(text).unwrap());
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// What `vendor-check --format json` prints, with its exit status.
fn checked(status: i32, options: &[&str]) -> Value {
    let printed = ends(status, &[&["vendor-check", "--format", "json"], options].concat()).out;
    fitting(include_str!("../../../schema/vendor-check.schema.json"), &printed)
}

/// A kit that is quick to write.
const SMALL: [&str; 4] = ["--rules", "none", "--consumers", "none"];

/// The paths and contents of the files of a kit.
type Files = Vec<(String, Vec<u8>)>;

fn contents(kit: &Path) -> Files {
    let read = |path: String| (path.clone(), fs::read(kit.join(path)).unwrap());
    files_below(kit).into_iter().map(read).collect()
}

fn write_all(files: &Files, directory: &Path) {
    for (path, content) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// A copy of a kit with the options [`SMALL`], which is exported once for all tests.
fn copy_small(directory: &Path) {
    static FILES: LazyLock<Files> = LazyLock::new(|| {
        let kit = scratch();
        export(kit.path(), &SMALL);
        contents(kit.path())
    });
    write_all(&FILES, directory);
}

/// A part of the suite with each kind of case.
#[test]
fn a_kit_contains_the_suite_in_both_formats() {
    let extreme = "xla/dimensions/far-below";
    let filter = format!("{{theano/{{[a-oq-z]*,patterns/{{two,nine}}-operands}},{extreme}}}");
    let (options, last) = (["--filter", &filter], "theano/patterns/nine-operands/111111111");
    // The patterns of two and of nine operands: 2^n - 1.
    assert_kit(&options, &["theano/", extreme], 3 + 511, last);
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn a_kit_contains_the_whole_suite_in_both_formats() {
    // The patterns of one to ten operands, of two rule sets: 2 · Σ (2^n - 1).
    assert_kit(&[], &[""], 4072, "theano/patterns/ten-operands/1111111111");
}

/// Expects that a kit has the cases whose ids begin with one of these texts, this number of cases of sweeps,
/// and the last of these.
fn assert_kit(options: &[&str], starts: &[&str], cases_of_sweeps: usize, last: &str) {
    let directory = scratch();
    let kit = directory.path().join("deep/kit");
    assert!(export(&kit, options).starts_with(kit.to_str().unwrap()));
    let mut suite = SUITE.clone();
    let all = suite.number_of_cases();
    suite.cases.retain(|case| starts.iter().any(|start| case.id.starts_with(start)));
    suite.inferences.retain(|case| starts.iter().any(|start| case.id.starts_with(start)));
    for language in ["json", "yaml"] {
        // In JSON, those with a destination are apart, too.
        let apart = (language == "json").then(|| kit.join("into")).filter(|into| into.exists());
        let there: Vec<std::path::PathBuf> = std::iter::once(kit.join(language)).chain(apart).collect();
        let there = Suite::from_paths(&there).unwrap();
        let known: HashMap<&str, &broadcheck_spec::Case> =
            there.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        for case in &suite.cases {
            let found = known.get(case.id.as_str()).expect(&case.id);
            assert_eq!(found.request, case.request, "{language} {}", case.id);
            assert_eq!(found.expectation, case.expectation, "{language} {}", case.id);
        }
        // In JSON they are apart: a program for the other cases cannot read them.
        let inferred = if language == "json" { kit.join("infer") } else { kit.join("yaml") };
        let inferred = Suite::from_paths(&[inferred]).unwrap();
        let without_place = |case: &broadcheck_spec::InferenceCase| {
            (case.id.clone(), case.request.clone(), case.expectation.clone(), case.clause.clone())
        };
        assert!(
            inferred.inferences.iter().map(without_place).eq(suite.inferences.iter().map(without_place)),
            "{language}"
        );
        assert!(language == "yaml" || (inferred.cases.is_empty() && there.inferences.is_empty()));
        assert_eq!(there.cases.len(), suite.cases.len() + cases_of_sweeps, "{language}");
        let digits = last.rsplit('/').next().unwrap().len();
        assert_eq!(there.get(last).expect("the last pattern").request.operands().len(), digits);
        // Sweeps by name have no cases, so JSON does not have them.
        let by_name = if language == "yaml" && options.is_empty() { suite.sweeps.len() } else { 0 };
        assert_eq!(there.sweeps.len(), by_name);
    }
    assert_manifest(&kit, &suite, cases_of_sweeps, all);
    assert_readme(&kit, &suite);
    assert_json(&kit, &suite);
    let whole = checked(0, &["--latest", kit.to_str().unwrap()]);
    assert!(whole["intact"] == true && whole["up_to_date"] == true && whole["update"].is_null(), "{whole}");
}

/// Expects that the manifest names every file and id, and their hashes and counts.
fn assert_manifest(kit: &Path, suite: &Suite, cases_of_sweeps: usize, all: usize) {
    let manifest = manifest(kit);
    let files = manifest["files"].as_array().unwrap();
    let mut named: Vec<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    for wanted in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "SEMANTICS.md"] {
        assert!(named.contains(&wanted), "{wanted}");
    }
    assert!(named.contains(&"schema/case-file.schema.json"));
    assert!(named.contains(&"consumers/python/test_broadcasting.py"));
    named.push("manifest.json");
    named.sort_unstable();
    assert_eq!(files_below(kit), named);
    assert_eq!(manifest["cases"]["total"], suite.cases.len());
    assert_eq!(manifest["left_out"], all - suite.number_of_cases());
    assert_eq!(manifest["cases_of_sweeps"], cases_of_sweeps);
    if all == suite.number_of_cases() {
        assert_eq!(manifest["sweeps_by_name"]["numpy/relations/grouping"], 64_000);
    }
    assert_eq!(manifest["cases_of_infer"], suite.inferences.len());
    assert!(named.contains(&"infer/theano-infer.json"));
    let total: u64 = files.iter().filter_map(|file| file["cases"].as_u64()).sum();
    assert_eq!(total, 2 * (suite.number_of_cases() + cases_of_sweeps) as u64, "in two formats");
    // The hash computed by another program.
    if let Ok(made) = Command::new("sha256sum").arg(kit.join("LICENSE-MIT")).output() {
        let made = String::from_utf8(made.stdout).unwrap();
        let file = files.iter().find(|file| file["path"] == "LICENSE-MIT").unwrap();
        assert_eq!(made.split_whitespace().next(), file["sha256"].as_str());
    }
    let ids = manifest["ids"].as_object().unwrap();
    let runs = suite.cases.iter().map(|case| &case.id);
    for id in runs.chain(suite.inferences.iter().map(|case| &case.id)) {
        assert_eq!(ids[id]["since"], releases::since(id), "{id}");
    }
    assert_eq!(ids["theano/patterns/nine-operands"]["cases"], 511);
    assert_eq!(ids["theano/patterns/nine-operands"]["since"], "0.1.0");
    assert!(!ids.contains_key("theano/relations/grouping"), "its cases are not in the kit");
    assert_eq!(manifest["version"], releases::VERSION);
    let commit = manifest["commit"].as_str().unwrap();
    assert!(commit == "unknown" || commit.len() == 40, "{commit}");
}

/// Expects the numbers of this kit, and an example that is explained as it is.
fn assert_readme(kit: &Path, suite: &Suite) {
    let text = fs::read_to_string(kit.join("README.md")).unwrap();
    let of = |rules: &str, kind: &str| {
        let files = manifest(kit)["files"].as_array().unwrap().clone();
        let inside = |path: &str| {
            path.strip_prefix(kind).is_some_and(|name| !name.contains('/') && name.starts_with(rules))
        };
        let files = files.iter().filter(|file| inside(file["path"].as_str().unwrap()));
        files.filter_map(|file| file["cases"].as_u64()).sum::<u64>()
    };
    let row = ["json/", "json/optional/", "json/extreme/", "json/sweeps/", "infer/", "into/"]
        .map(|kind| of("theano-", kind));
    let row = row.map(|count| count.to_string()).join(" | ");
    for words in [
        &format!("{} cases of [broadcheck]", suite.cases.len()),
        &format!("| `theano` | {row} |"),
        "\"expression\": [\"subtract\",\"a\",\"b\"]",
        "\"values\":[1.0,2.0,3.0]",
        "The first element of the result is 1 - 10.",
        " --out DIR",
        "## Before the run: shape inference",
        &format!("and {} of shape inference.", suite.inferences.len()),
        &format!(
            "| `infer/` | cases of the operation `infer`, for compilers: shapes without values | {} |",
            suite.inferences.len()
        ),
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(!text.contains("{{") && !text.contains("{%"), "a template that was not filled in");
    assert!(
        fs::read_to_string(kit.join("CHANGELOG.md"))
            .unwrap()
            .contains("The first export into this directory")
    );
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    format: i64,
    cases: Vec<Case>,
}

/// A case as a statically typed language reads it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only that every field can be read matters")]
struct Case {
    id: String,
    title: String,
    clause: String,
    since: String,
    convention: Option<String>,
    #[serde(default)]
    example: Vec<String>,
    #[serde(default)]
    source: Vec<Value>,
    origin: String,
    rules: String,
    operation: String,
    expression: Option<Value>,
    operands: Vec<Tensor>,
    wrt: Option<String>,
    cotangent: Option<String>,
    target_shape: Option<Vec<i64>>,
    declared_target_shape: Option<Value>,
    axis: Option<i64>,
    broadcast_dimensions: Option<Vec<i64>>,
    result: Option<Tensor>,
    refusal: Option<Refusal>,
    retyped_from: Option<String>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only that every field can be read matters")]
struct Tensor {
    name: Option<String>,
    dtype: Option<String>,
    shape: Vec<i64>,
    declared: Option<Value>,
    strides: Option<Vec<i64>>,
    offset: Option<i64>,
    broadcastable: Option<Vec<bool>>,
    values: Vec<Literal>,
    intermediate: Option<Box<Tensor>>,
    tolerance: Option<Value>,
    zero_sign: Option<String>,
    admitted: Option<BTreeMap<String, Vec<Admitted>>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only that every field can be read matters")]
enum Literal {
    Number(f64),
    Truth(bool),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only that every field can be read matters")]
struct Refusal {
    kind: String,
    axis: Option<i64>,
    operand: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
#[expect(dead_code, reason = "only that every field can be read matters")]
enum Admitted {
    Value { value: Literal, bits: String },
    Between { lower: Literal, upper: Literal, lower_bits: String, upper_bits: String },
}

/// Expects that every file outside `extreme` can be read into plain types, that the directories are right,
/// and that every case without one right answer has `admitted`.
fn assert_json(kit: &Path, suite: &Suite) {
    let known: HashMap<&str, &broadcheck_spec::Case> =
        suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut poisoned = 0;
    for path in files_below(&kit.join("json")) {
        let text = fs::read_to_string(kit.join("json").join(&path)).unwrap();
        let read: Result<CaseFile, _> = serde_json::from_str(&text);
        if path.starts_with("extreme/") {
            poisoned += usize::from(read.is_err());
            continue;
        }
        let file = read.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(file.format == 1 && !file.cases.is_empty(), "{path}");
        for case in &file.cases {
            assert_eq!(case.convention.is_some(), path.starts_with("optional/"), "{}", case.id);
            // A case of a sweep is exact.
            let Some(&known) = known.get(case.id.as_str()) else { continue };
            let Expectation::Result(expected) = &known.expectation else { continue };
            let admitted = case.result.as_ref().unwrap().admitted.as_ref();
            let has =
                |index: usize| admitted.is_some_and(|admitted| admitted.contains_key(&index.to_string()));
            assert!(!expected.any_zero_sign || admitted.is_some(), "{}", case.id);
            let expression = known.request.operation().expression();
            let calls: Vec<_> = expression.into_iter().flat_map(Expression::calls).collect();
            let root = calls.last().map(|call| call.function().exactness());
            if case.operation != "elementwise" || root != Some(Exactness::Ulp) || calls.len() > 1 {
                continue;
            }
            // One inexact function: special values, powers of 1 and 2 and the like are exact.
            for (index, value) in expected.tensor.values().iter().enumerate() {
                let is_round = value.as_f64().is_none_or(|value| !value.is_normal() || value.fract() == 0.0);
                assert!(is_round || has(index) || expected.tolerance_ulp == Some(0), "{} {index}", case.id);
            }
        }
    }
    assert_eq!(poisoned, files_below(&kit.join("json/extreme")).len(), "one string in each");
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn an_export_of_one_dtype_contains_retyped_cases() {
    let directory = scratch();
    let filter = "numpy/{[a-oq-z]*,patterns/two-operands}";
    let options = ["--rules", "numpy", "--filter", filter, "--dtypes", "f32", "--format", "json"];
    let printed = export(directory.path(), &options);
    let manifest = manifest(directory.path());
    let number = |field: &str| manifest[field].as_u64().unwrap();
    let total = manifest["cases"]["total"].as_u64().unwrap();
    assert!(number("cases_of_infer") > 50, "{manifest}");
    assert_eq!(total + number("cases_of_infer") + number("left_out"), SUITE.number_of_cases() as u64);
    let left_out_by = |option: &str| manifest["left_out_by"][option].as_u64().unwrap();
    assert_eq!(left_out_by("rules") + left_out_by("dtypes"), number("left_out"));
    assert!(number("retyped") > 400, "{printed}");
    assert!(printed.contains(&format!("in another dtype: {} cases\n", number("retyped"))), "{printed}");
    assert_eq!(manifest["dtypes"], serde_json::json!(["f32"]));
    let there = Suite::from_paths(&["json", "into"].map(|part| directory.path().join(part))).unwrap();
    assert_eq!(there.cases.len() as u64, total + number("cases_of_sweeps"));
    for id in ["numpy/zero/one-with-zero-on-the-first-axis", "numpy/into/plus-reversed"] {
        let case = there.get(id).expect("a case about shapes");
        let dtypes: Vec<DType> = case.request.operands().iter().map(Operand::dtype).collect();
        assert_eq!(dtypes, [DType::F32; 2], "{id}");
    }
    assert!(there.get("numpy/patterns/two-operands/10").is_some());
    let text = fs::read_to_string(directory.path().join("json/numpy-zero.json")).unwrap();
    assert!(text.contains("retyped_from"));

    // A request that needs every word that a harness may declare: only dtypes were chosen.
    let directory = scratch();
    let id = "xla/cotangent/square-turned-back";
    export(directory.path(), &["--filter", id, "--dtypes", "f32", "--format", "json", "--consumers", "none"]);
    let there = Suite::from_paths(&[directory.path().join("json")]).unwrap();
    assert!(there.get(id).is_some());
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn inferences_are_selected_as_an_operation() {
    let directory = scratch();
    let printed =
        export(directory.path(), &["--operation", "infer", "--rules", "xla,numpy", "--consumers", "none"]);
    let manifest = manifest(directory.path());
    assert_eq!(manifest["selection"]["operation"], serde_json::json!(["infer"]));
    assert_eq!((&manifest["cases"]["total"], &manifest["cases_of_sweeps"]), (&0.into(), &0.into()));
    let count = manifest["cases_of_infer"].as_u64().unwrap();
    assert!(count > 100 && printed.contains(&format!(" {count} cases of infer,")), "{printed}");
    assert!(!directory.path().join("json").exists());
    for language in ["infer", "yaml"] {
        let there = Suite::from_paths(&[directory.path().join(language)]).unwrap();
        assert!(there.cases.is_empty(), "{language}");
        assert_eq!(there.inferences.len() as u64, count, "{language}");
    }
    assert_eq!(checked(0, &[directory.path().to_str().unwrap()])["intact"], true);

    let without = scratch();
    let printed = export(without.path(), &[&SMALL[..], &["--operation", "elementwise"]].concat());
    assert!(!without.path().join("infer").exists() && !printed.contains("infer"), "{printed}");
    let readme = fs::read_to_string(without.path().join("README.md")).unwrap();
    assert!(!readme.contains("Before the run"), "{readme}");
    let out = without.path().join("x");
    complains(
        "`inferred` is not an operation: expected one of elementwise broadcast gradient infer",
        &["export", "--operation", "inferred", "--out", out.to_str().unwrap()],
    );
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn a_selection_is_recorded_with_what_it_leaves_out() {
    let directory = scratch();
    let options = ["--rules", "numpy", "--operation", "elementwise,broadcast", "--functions", "add,multiply"];
    let more = [
        "--conventions",
        "unused-operands",
        "--filter",
        "numpy/*",
        "--no-sweeps",
        "--format",
        "json",
        "--consumers",
        "python",
    ];
    let printed = export(directory.path(), &[&options[..], &more].concat());
    let kit = manifest(directory.path());
    assert_eq!(kit["selection"]["functions"], serde_json::json!(["add", "multiply"]));
    assert_eq!(kit["sweeps_left_out"]["numpy/patterns/two-operands"], 3);
    let by: Vec<&String> = kit["left_out_by"].as_object().unwrap().keys().collect();
    assert_eq!(by, ["conventions", "functions", "operation", "rules"]);
    assert!(
        printed.contains(" by --functions") && printed.contains("left out: 10 sweeps with 2036 cases"),
        "{printed}"
    );
    let there = Suite::from_paths(&[directory.path().join("json")]).unwrap();
    assert!(there.cases.iter().any(|case| case.request.operation().expression().is_none()), "broadcast");
    for case in &there.cases {
        let names = case.request.operation().expression().into_iter().flat_map(Expression::calls);
        assert!(
            names.map(|call| call.function().name()).all(|name| ["add", "multiply"].contains(&name)),
            "{}",
            case.id
        );
        assert!(case.convention.is_none_or(|convention| convention.name() == "unused-operands"));
    }
    let consumers = fs::read_dir(directory.path().join("consumers")).unwrap();
    let consumers: Vec<_> = consumers.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(consumers, ["python"]);
    // The same again from the manifest: its own readme has the options.
    let readme = fs::read_to_string(directory.path().join("README.md")).unwrap();
    assert!(
        readme.contains("--functions add,multiply --conventions unused-operands --filter 'numpy/*'"),
        "{readme}"
    );
    let out = directory.path().to_str().unwrap();
    assert!(ends(0, &["vendor-check", "--latest", out]).out.contains("up to date"));
    let nothing = ["export", "--rules", "none", "--operation", "broadcast", "--out", out];
    complains("--rules none --operation broadcast: found no case", &nothing);
    complains("--format <FORMAT>", &["export", "--format", "toml", "--out", out]);
    complains("--dtypes <DTYPE>", &["export", "--dtypes", "f33", "--out", out]);
    complains(
        "not an operation: expected one of elementwise",
        &["export", "--operation", "add", "--out", out],
    );
    complains("is not a convention: expected one of", &["export", "--conventions", "all,none", "--out", out]);
    complains("is not a consumer", &["export", "--consumers", "cobol", "--out", out]);
    complains("such as 500kB, 2MB", &["export", "--max-bytes", "2 potatoes", "--out", out]);
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn a_kit_is_no_larger_than_max_bytes() {
    let directory = scratch();
    let kit = directory.path();
    let few = ["--filter", "theano/patterns/{six,seven,eight}*", "--format", "json", "--consumers", "none"];
    let size = |kit: &Path| -> u64 {
        files_below(kit).iter().map(|path| fs::metadata(kit.join(path)).unwrap().len()).sum()
    };
    let printed = export(kit, &[&few[..], &["--max-bytes", "500kB"]].concat());
    let left_out = manifest(kit)["sweeps_left_out"].clone();
    assert_eq!(left_out, serde_json::json!({"theano/patterns/eight-operands": 255}), "the largest only");
    assert!(size(kit) <= 500_000 && printed.contains(&format!("{} bytes", size(kit))), "{printed}");
    // The sweep that the limit left out is not news.
    assert!(ends(0, &["vendor-check", "--latest", kit.to_str().unwrap()]).out.contains("up to date"));
    let small = [&["export", "--out", kit.to_str().unwrap(), "--max-bytes", "0.1MB"], &SMALL[..]].concat();
    complains("--max-bytes 100000: found ", &small);
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn an_export_is_the_same_twice_and_replaces_its_own_files_and_no_others() {
    let directory = scratch();
    let [kit, other] = ["kit", "other"].map(|name| directory.path().join(name));
    copy_small(&kit);
    export(&other, &SMALL);
    for path in files_below(&kit) {
        assert_eq!(fs::read(kit.join(&path)).unwrap(), fs::read(other.join(&path)).unwrap(), "{path}");
    }
    assert_eq!(files_below(&kit), files_below(&other));
    let out = kit.to_str().unwrap();
    fs::write(kit.join("mine"), "mine").unwrap();
    // Files that are no longer part of the kit are deleted, and so are their directories.
    let printed = export(&kit, &[&SMALL[..], &["--format", "json"]].concat());
    assert!(printed.contains("left out:") && !kit.join("yaml").exists());
    assert_eq!(fs::read_to_string(kit.join("mine")).unwrap(), "mine");
    // A changed file stays, and nothing else is written.
    let changed = kit.join("json/none-shapes.json");
    fs::write(&changed, "mine").unwrap();
    let before = fs::read(kit.join("manifest.json")).unwrap();
    complains("json/none-shapes.json", &[&["export", "--out", out], &SMALL[..]].concat());
    complains("changed since", &["export", "--rules", "xla", "--out", out]);
    assert_eq!(fs::read_to_string(&changed).unwrap(), "mine");
    assert_eq!(fs::read(kit.join("manifest.json")).unwrap(), before);
    // A manifest of another program.
    let other = scratch();
    let path = write(other.path(), "manifest.json", "{\"name\": \"an extension\"}");
    complains("manifest.json", &["export", "--out", other.path().to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"name\": \"an extension\"}");
    assert_eq!(files_below(other.path()), ["manifest.json"]);
    complains("expected a directory", &["export", "--out", &path]);
}

/// A manifest of a small kit that lists this file, with the hash of an empty one.
fn listing(path: &str) -> String {
    format!(
        r#"{{"kit":"broadcheck-cases","version":"0","format":1,"licence":"","cases":{{}},"cases_of_sweeps":0,
        "sweeps_by_name":{{}},"selection":{{"rules":["none"],"consumers":"none"}},"files":[{{"path":"{path}","sha256":
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}]}}"#
    )
}

#[test]
fn a_manifest_cannot_reach_outside_the_directory() {
    let directory = scratch();
    let kit = directory.path().join("kit");
    fs::create_dir(&kit).unwrap();
    let outside = write(directory.path(), "mine", "");
    write(&kit, "manifest.json", &listing("../mine"));
    complains("expected paths inside the directory", &["vendor-check", kit.to_str().unwrap()]);
    export(&kit, &SMALL);
    assert!(fs::exists(outside).unwrap());
}

/// Links are not followed, and pipes and devices are not opened, whoever put them there.
#[cfg(unix)]
#[test]
fn links_and_pipes_are_neither_followed_nor_opened() {
    use std::os::unix::fs::symlink;
    let refused = |name: &str, listed: &str, prepare: &dyn Fn(&Path)| {
        let directory = scratch();
        let kit = directory.path().join("kit");
        fs::create_dir(&kit).unwrap();
        fs::create_dir(directory.path().join("elsewhere")).unwrap();
        let precious = write(&directory.path().join("elsewhere"), "data", "");
        write(&kit, "manifest.json", &listing(listed));
        prepare(&kit);
        let out = kit.to_str().unwrap();
        complains(name, &[&["export", "--out", out], &SMALL[..]].concat());
        let checked = ends(1, &["vendor-check", out]);
        assert!(checked.out.contains(name), "{}", checked.out);
        assert_eq!(fs::read(precious).unwrap(), b"");
        assert!(!kit.join("README.md").exists());
    };
    refused("kit/sub: found a symbolic link, expected a directory", "sub/data", &|kit| {
        symlink("../elsewhere", kit.join("sub")).unwrap();
    });
    refused("kit/data: found a symbolic link, expected a file or nothing", "data", &|kit| {
        symlink("../elsewhere/data", kit.join("data")).unwrap();
    });
    refused("kit/data: found a symbolic link", "data", &|kit| {
        symlink("/dev/zero", kit.join("data")).unwrap();
    });
    refused("kit/data: found a named pipe", "data", &|kit| {
        let made = Command::new("mkfifo").arg(kit.join("data")).status().expect("mkfifo");
        assert!(made.success());
    });
    // The manifest itself, and a directory that the kit needs.
    let directory = scratch();
    let out = directory.path().to_str().unwrap();
    symlink("/dev/zero", directory.path().join("manifest.json")).unwrap();
    complains("manifest.json: found a symbolic link", &["export", "--out", out]);
    complains("manifest.json: found a symbolic link", &["compare-exports", out, out]);
    fs::remove_file(directory.path().join("manifest.json")).unwrap();
    symlink("/tmp", directory.path().join("json")).unwrap();
    complains("json: found a symbolic link", &[&["export", "--out", out], &SMALL[..]].concat());
    let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["json"]);
}

/// Makes the kit older than it is: one id is new, one changed, one changed in words only, one is gone.
fn age(kit: &Path) {
    let mut manifest = manifest(kit);
    let ids = manifest["ids"].as_object_mut().unwrap();
    let gone = ids.remove("none/shapes/rank-three").or_else(|| {
        let first = ids.keys().next().unwrap().clone();
        ids.remove(&first)
    });
    let names: Vec<String> = ids.keys().cloned().collect();
    ids[&names[0]]["digest"] = "0000000000000000".into();
    ids[&names[1]]["text"] = "00000000".into();
    ids.insert("none/withdrawn".into(), gone.unwrap());
    manifest["version"] = "0.0.9".into();
    fs::write(kit.join("manifest.json"), manifest.to_string()).unwrap();
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn an_update_is_described_by_id() {
    let directory = scratch();
    let [kit, new] = ["kit", "new"].map(|name| directory.path().join(name));
    copy_small(&kit);
    copy_small(&new);
    age(&kit);
    let [old, new] = [&kit, &new].map(|path| path.to_str().unwrap());
    let summary = "1 added, 1 removed, 1 changed, 1 changed in words only";
    let text = ends(0, &["compare-exports", old, new]).out;
    assert!(
        text.ends_with(&format!("\n{summary}\n")) && text.contains("\nRemoved\n  none/withdrawn\n"),
        "{text}"
    );
    let total: Vec<&str> =
        text.lines().find(|line| line.starts_with("total")).unwrap().split_whitespace().collect();
    assert_eq!(total, ["total", "1", "1", "1", "1"]);
    let json = ends(0, &["compare-exports", "--format", "json", old, new]).out;
    let json = fitting(include_str!("../../../schema/exports.schema.json"), &json);
    assert_eq!(json["ids"]["removed"], serde_json::json!(["none/withdrawn"]));
    assert_eq!(json["old"]["version"], "0.0.9");
    let markdown = ends(0, &["compare-exports", "--format", "markdown", old, new]).out;
    assert!(
        markdown.contains("| total | 1 | 1 | 1 | 1 |") && markdown.contains("\n- none/withdrawn\n"),
        "{markdown}"
    );
    complains("found no manifest.json", &["compare-exports", old, directory.path().to_str().unwrap()]);
    // Behind, but complete.
    let behind = ends(0, &["vendor-check", old]).out;
    assert!(behind.contains(summary) && behind.contains("complete and unmodified"), "{behind}");
    assert!(behind.contains("broadcheck export --rules none --consumers none --out "), "{behind}");
    let behind = checked(1, &["--latest", old]);
    assert!(behind["intact"] == true && behind["up_to_date"] == false, "{behind}");
    assert_eq!(behind["changes"]["removed"], serde_json::json!(["none/withdrawn"]));
    // The update, and a second one that changes nothing.
    export(&kit, &SMALL);
    let changelog = fs::read_to_string(kit.join("CHANGELOG.md")).unwrap();
    assert!(
        changelog.contains(", from 0.0.9") && changelog.contains(&format!("\n\n{summary}.\n")),
        "{changelog}"
    );
    assert!(changelog.contains("### Removed\n\n- none/withdrawn\n"), "{changelog}");
    assert!(changelog.ends_with("cases from sweeps.\n"), "the earlier section stays: {changelog}");
    export(&kit, &SMALL);
    assert_eq!(fs::read_to_string(kit.join("CHANGELOG.md")).unwrap(), changelog);
    // Modified and incomplete, with a file that a program would read.
    fs::write(kit.join("README.md"), "mine").unwrap();
    fs::remove_file(kit.join("LICENSE-MIT")).unwrap();
    fs::write(kit.join("json/mine.json"), "{}").unwrap();
    let broken = ends(1, &["vendor-check", old]).out;
    for words in
        ["3 problems", "README.md: modified", "LICENSE-MIT: missing", "json/mine.json: not part of the kit"]
    {
        assert!(broken.contains(words), "{words}: {broken}");
    }
    let broken = checked(1, &[old]);
    let problems: Vec<_> = broken["problems"].as_array().unwrap().iter().map(|one| &one["problem"]).collect();
    assert_eq!(problems, ["missing", "modified", "foreign"], "{broken}");
    assert!(broken["update"].as_str().unwrap().starts_with("broadcheck export --rules none "), "{broken}");
    complains("expected a directory", &["vendor-check", directory.path().join("none").to_str().unwrap()]);
}

/// Kits of version 0.1.0 have a manifest without ids, and cases without `since` and `admitted`.
#[test]
fn a_kit_of_the_first_format_can_be_compared_and_updated() {
    let directory = scratch();
    let [kit, new] = ["kit", "new"].map(|name| directory.path().join(name));
    let options =
        ["--rules", "theano", "--filter", "theano/{patterns/two*,gradient*,flags*}", "--format", "json"];
    export(&new, &options);
    write_all(&contents(&new), &kit);
    let mut old = manifest(&kit);
    for field in ["ids", "selection", "kinds", "commit"] {
        old.as_object_mut().unwrap().remove(field);
    }
    old["version"] = "0.1.0".into();
    fs::write(kit.join("manifest.json"), old.to_string()).unwrap();
    let text = ends(0, &["compare-exports", kit.to_str().unwrap(), new.to_str().unwrap()]).out;
    assert!(text.ends_with("\nno changes\n") && text.contains("admitted values are not compared"), "{text}");
    export(&kit, &options);
    assert_eq!(manifest(&kit)["ids"], manifest(&new)["ids"]);
}
