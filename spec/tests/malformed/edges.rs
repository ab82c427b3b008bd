//! The boundaries of what is rejected: the last valid input and the first invalid one.

use super::{GOOD, lines, refused};
use broadcheck_spec::{Expectation, LoadErrors, load_path, load_str};
use std::fs;
use std::path::Path;

/// The good case, citing other lines of its document.
fn with_lines(text: &str) -> String {
    GOOD.replace("20-29", text)
}

#[test]
fn cited_lines_are_ascending_numbers_from_one() {
    for right in ["1", "1-1", "1, 2", "9-10, 11-12"] {
        let text = with_lines(right);
        assert!(load_str(&text, "f.yaml").is_ok(), "{right}: {:?}", load_str(&text, "f.yaml"));
    }
    for wrong in ["0", "+5", "05", "5-07", "0-3", "5-+7", "2, 2", "4-3", "1,2", "", "1-", "-1"] {
        let found = lines(&with_lines(wrong));
        assert!(found.len() == 1 && found[0].contains("lines"), "{wrong}: {found:?}");
    }
}

/// The good case with operands of rank 0 that have these names.
fn with_operands(names: &[String], expression: &str) -> String {
    let operand = |name: &String| format!("      - {{name: {name}, dtype: f64, shape: [], values: [1]}}\n");
    let operands: String = names.iter().map(operand).collect();
    let (head, _) = GOOD.split_once("      - {name: a").expect("operands");
    format!(
        "{}{operands}    result: {{dtype: f64, shape: [], values: [1]}}\n",
        head.replace("[add, a, b]", expression)
    )
}

#[test]
fn a_message_lists_ten_names() {
    let names = |count: usize| -> Vec<String> { (0..count).map(|place| format!("a{place}")).collect() };
    let of = |count: usize| lines(&with_operands(&names(count), "b"));
    let at = "f.yaml:10:17: case numpy/x: expression: found `b`, expected an operand's name:";
    assert_eq!(of(10), [format!("{at} a0 a1 a2 a3 a4 a5 a6 a7 a8 a9")]);
    assert_eq!(of(11), [format!("{at} a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 …")]);
}

#[test]
fn at_most_ten_repeated_names_are_reported() {
    let repeated = |count: usize| lines(&with_operands(&vec!["a".to_owned(); count], "a")).len();
    assert_eq!((repeated(2), repeated(11), repeated(12), repeated(30)), (1, 10, 10, 10));
}

#[test]
fn an_error_inside_an_expression_has_the_path_of_the_argument() {
    refused(
        "[add, a, b]",
        "[add, a, [negate, [add, c, b]]]",
        "f.yaml:10:41: case numpy/x: expression[2][1][1]: found `c`, expected an operand's name: a b",
    );
}

/// The good case with a refusal instead of a result.
fn with_refusal(refusal: &str) -> String {
    let (head, _) = GOOD.split_once("    result:").expect("a result");
    format!("{head}    refusal: {{{refusal}}}\n")
}

#[test]
fn the_operand_of_a_refusal_is_a_name_or_a_position_from_zero() {
    for (operand, place) in [("a", 0), ("b", 1), ("0", 0), ("1", 1)] {
        let text = with_refusal(&format!("kind: flag_violation, operand: {operand}"));
        let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        let Expectation::Refusal(expected) = &file.cases[0].expectation else { panic!("a refusal") };
        assert_eq!(expected.operand, Some(place), "{operand}");
    }
}

#[test]
fn the_axis_of_a_refusal_is_below_the_rank_of_the_operand_or_the_highest_rank() {
    let axis = |text: &str| load_str(&with_refusal(text), "f.yaml").is_ok();
    assert!(axis("kind: dimension_mismatch, axis: 1") && !axis("kind: dimension_mismatch, axis: 2"));
    assert!(axis("kind: flag_violation, operand: b, axis: 0"));
    assert!(!axis("kind: flag_violation, operand: b, axis: 1"), "b has rank 1");
}

#[test]
fn errors_of_several_files_are_reported_together() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("edges-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let many = format!("format: 1\nrules: numpy\ncases:\n{}", "  - {id: 3}\n".repeat(103));
    for name in ["one.yaml", "two.yaml"] {
        fs::write(folder.join(name), &many).expect("a file");
    }
    let errors = load_path(&folder).expect_err("wrong files");
    fs::remove_dir_all(&folder).expect("the folder");
    assert_eq!((errors.errors().len(), errors.more()), (2 * LoadErrors::MAX_PER_FILE, 6));
    assert!(errors.to_string().ends_with("\nand 6 more: correct these to see them"));
}

#[test]
fn more_is_zero_if_all_errors_are_kept() {
    let errors = load_str("", "f.yaml").expect_err("an empty file");
    let only = "f.yaml: found an empty file, expected a case file: `format: 1`, `cases:`";
    assert_eq!((errors.to_string(), errors.more()), (only.to_owned(), 0));
}

#[test]
fn sources_are_written_as_people_cite_them() {
    let file = load_str(GOOD, "f.yaml").expect("right");
    assert_eq!(file.cases[0].sources[0].to_string(), "openvino, lines 20-29");
    let text = GOOD.replace("{document: openvino, lines: \"20-29\"}", "{url: \"https://a.b/c\"}");
    let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.cases[0].sources[0].to_string(), "https://a.b/c");
}

/// `select(a, b, b)` under xla, where a is a bool of this shape, with an intermediate of two values.
fn with_intermediate(shape: &str, values: &str, intermediate: &str) -> String {
    format!(
        "format: 1\nrules: xla\ncases:\n  - id: xla/x\n    title: T.\n    clause: XLA-8\n    source:\n      \
         - {{document: xla-en, lines: \"20-29\"}}\n    origin: hand\n    expression: [select, a, b, b]\n    operands:\n      \
         - {{name: a, dtype: bool, shape: {shape}, values: {values}}}\n      \
         - {{name: b, dtype: f64, shape: [2], values: [1, 2]}}\n    \
         result: {{dtype: f64, shape: [2], values: [1, 2], intermediate: {{shape: [2], values: {intermediate}}}}}\n"
    )
}

#[test]
fn an_intermediate_has_the_dtype_of_the_lower_operand() {
    let load = |text: &str| load_str(text, "f.yaml");
    assert!(load(&with_intermediate("[]", "[true]", "[true, true]")).is_ok(), "the lower is a");
    assert!(load(&with_intermediate("[]", "[true]", "[1, 2]")).is_err());
    assert!(load(&with_intermediate("[1, 2]", "[true, true]", "[1, 2]")).is_ok(), "the lower is b");
    assert!(load(&with_intermediate("[1, 2]", "[true, true]", "[true, true]")).is_err());
    let equal_ranks = lines(&with_intermediate("[2]", "[true, true]", "[true, true]"));
    assert!(
        equal_ranks[0].contains("only `xla` with operands of different ranks has one"),
        "{equal_ranks:?}"
    );
}

#[test]
fn texts_that_only_look_like_numbers_are_text() {
    let dates = ["2001-1x-14", "2001-123-4", "2001-12-14x", "201-12-14", "2001-12"];
    for text in [".", "..", "_1", "x1"].into_iter().chain(dates) {
        let file = load_str(&GOOD.replace("title: A title.", &format!("title: {text}")), "f.yaml");
        assert_eq!(file.map(|file| file.cases[0].title.clone()).as_deref(), Ok(text));
    }
    for text in ["0e", "2001-12-14", "2001-1-4t5"] {
        assert_eq!(lines(&GOOD.replace("title: A title.", &format!("title: {text}"))).len(), 1, "{text}");
    }
}

#[test]
fn the_error_for_a_list_as_a_value_states_what_a_value_is() {
    refused(
        "values: [7, 8, 9]",
        "values: [7, [8], 9]",
        "f.yaml:13:55: case numpy/x: operands[1].values[1]: found sequence, expected a number, `true`, `false`, or a string such as \"nan\"",
    );
}
