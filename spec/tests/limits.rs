//! The limits of the loader, at the last file that is read and the first that is not. Each is megabytes: what is wrong in
//! few words stands in `malformed`.

use broadcheck_spec::{MAX_FILE_BYTES, MAX_ID, MAX_NODES, MAX_OPERAND_NAME, MAX_TITLE, load_path, load_str};
use std::fs;
use std::path::Path;

/// A case that is right. Without its last byte it is not.
const GOOD: &str = "format: 1
rules: numpy
cases:
  - id: x
    title: T.
    clause: G-5
    origin: hand
    expression: a
    operands: [{name: a, dtype: f64, shape: [], values: [1]}]
    refusal: {kind: any}";

/// What the loader says of a text, a line each.
fn told(text: &str) -> String {
    load_str(text, "f.yaml").err().map(|errors| errors.to_string()).unwrap_or_default()
}

/// The good case after comments, so many bytes in all.
fn of_length(length: u64) -> String {
    let length = usize::try_from(length).expect("small");
    format!("{}\n{GOOD}", "#".repeat(length - GOOD.len() - 1))
}

#[test]
fn the_largest_file_is_read_to_its_last_byte() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("limits-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("f.yaml");
    for (more, right) in [(0, true), (1, false), (2, false)] {
        let text = of_length(MAX_FILE_BYTES + more);
        fs::write(&path, &text).expect("a file");
        for found in [load_str(&text, "f.yaml"), load_path(&path)] {
            let told = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(found.is_ok(), right, "{told}");
            let expected =
                format!("found {} bytes or more, expected at most {MAX_FILE_BYTES}", MAX_FILE_BYTES + more);
            assert!(right || told.contains(&expected), "{told}");
        }
    }
    fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn of_a_directory_the_case_files_are_read_and_a_foreign_byte_is_placed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("directory-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("f.yaml"), GOOD).expect("a file");
    fs::write(folder.join("notes.txt"), "no case file").expect("a file");
    let found = load_path(&folder).map(|file| file.cases.len());
    fs::write(folder.join("g.yml"), b"format: 1\n# \xff\n").expect("a file");
    let told = load_path(&folder).expect_err("no UTF-8").to_string();
    fs::remove_dir_all(&folder).expect("the folder");
    assert_eq!(found, Ok(1));
    assert!(told.ends_with("g.yml:2: found the byte 0xff, expected UTF-8"), "{told}");
}

#[test]
fn quoted_texts_are_counted_with_the_indicators_each_once() {
    // Beside the two brackets.
    let told = |quoted: usize| told(&format!("[{}]", "'' ".repeat(quoted)));
    let limit = "more than 262144 of the characters";
    assert!(told(MAX_NODES - 1).contains(limit), "{}", told(MAX_NODES - 1));
    assert!(!told(MAX_NODES - 2).contains(limit), "{}", told(MAX_NODES - 2));
}

#[test]
fn ids_titles_and_names_have_a_longest() {
    let with = |from: &str, to: &str| told(&GOOD.replace(from, to));
    let named = |length: usize| {
        let name = "a".repeat(length);
        with(
            "expression: a\n    operands: [{name: a,",
            &format!("expression: {name}\n    operands: [{{name: {name},"),
        )
    };
    let (id, title) = (
        |length| with("id: x", &format!("id: {}", "x".repeat(length))),
        |length| with("title: T.", &format!("title: {}", "é".repeat(length))),
    );
    assert_eq!([id(MAX_ID), title(MAX_TITLE), named(MAX_OPERAND_NAME)], ["", "", ""]);
    let long = id(MAX_ID + 1);
    assert!(
        long.starts_with("f.yaml:4:9: case xxx")
            && long.ends_with(": id: found 201 characters, expected at most 200"),
        "{long}"
    );
    let long = title(MAX_TITLE + 1);
    assert_eq!(long, "f.yaml:5:12: case x: title: found 1001 characters, expected at most 1000");
    let long = named(MAX_OPERAND_NAME + 1);
    assert_eq!(
        long,
        "f.yaml:9:23: case x: operands[0].name: found a name of 65 characters, expected at most 64"
    );
}

#[test]
fn more_values_than_the_limit_are_refused() {
    let told = told(&"- a\n".repeat(MAX_NODES + 1));
    assert!(told.contains("found more than 262144 values, expected fewer"), "{told}");
}
