//! The limits of the loader, at the last file that is accepted and the first that is not. These files have
//! megabytes; the tests of small files are in `malformed`.

use broadcheck_spec::{MAX_FILE_BYTES, MAX_ID, MAX_NODES, MAX_OPERAND_NAME, MAX_TITLE, load_path, load_str};
use std::fs;
use std::path::Path;

/// A valid case file. Without its last byte it is invalid.
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

/// The errors in a text, one per line.
fn message(text: &str) -> String {
    load_str(text, "f.yaml").err().map(|errors| errors.to_string()).unwrap_or_default()
}

/// The good case after a comment, with this many bytes in total.
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
            let message = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(found.is_ok(), right, "{message}");
            let expected =
                format!("found {} bytes or more, expected at most {MAX_FILE_BYTES}", MAX_FILE_BYTES + more);
            assert!(right || message.contains(&expected), "{message}");
        }
    }
    fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn only_the_case_files_of_a_directory_are_read_and_an_invalid_byte_has_a_position() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("directory-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("f.yaml"), GOOD).expect("a file");
    fs::write(folder.join("notes.txt"), "not a case file").expect("a file");
    let found = load_path(&folder).map(|file| file.cases.len());
    fs::write(folder.join("g.yml"), b"format: 1\n# \xff\n").expect("a file");
    let message = load_path(&folder).expect_err("not UTF-8").to_string();
    fs::remove_dir_all(&folder).expect("the folder");
    assert_eq!(found, Ok(1));
    assert!(message.ends_with("g.yml:2: found the byte 0xff, expected UTF-8"), "{message}");
}

#[test]
fn each_quoted_string_counts_as_one_indicator() {
    // The two brackets count too.
    let message = |quoted: usize| message(&format!("[{}]", "'' ".repeat(quoted)));
    let limit = "more than 262144 of the characters";
    assert!(message(MAX_NODES - 1).contains(limit), "{}", message(MAX_NODES - 1));
    assert!(!message(MAX_NODES - 2).contains(limit), "{}", message(MAX_NODES - 2));
}

#[test]
fn ids_titles_and_names_have_a_maximum_length() {
    let with = |from: &str, to: &str| message(&GOOD.replace(from, to));
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
fn more_values_than_the_limit_are_an_error() {
    let message = message(&"- a\n".repeat(MAX_NODES + 1));
    assert!(message.contains("found more than 262144 values, expected fewer"), "{message}");
}
