//! Every kind of mistake in a case file, with the line that the loader prints for it.

mod cotangent;
mod counts;
mod declared;
mod edges;
mod expectations;
mod given;
mod infer;
mod into;
mod requests;

use broadcheck_spec::{LoadErrors, examples, load_str};

/// A valid case. Each test changes one thing.
pub(crate) const GOOD: &str = r#"format: 1
rules: numpy
cases:
  - id: numpy/x
    title: A title.
    clause: NUMPY-1
    source:
      - {document: openvino, lines: "20-29"}
    origin: hand
    expression: [add, a, b]
    operands:
      - {name: a, dtype: f64, shape: [2, 3], values: [1, 2, 3, 4, 5, 6]}
      - {name: b, dtype: f64, shape: [3], values: [7, 8, 9]}
    result: {dtype: f64, shape: [2, 3], values: [8, 10, 12, 11, 13, 15]}
"#;

fn errors(text: &str) -> LoadErrors {
    load_str(text, "f.yaml").expect_err(text)
}

pub(crate) fn lines(text: &str) -> Vec<String> {
    errors(text).errors().iter().map(ToString::to_string).collect()
}

/// Asserts the only error after a replacement in the good case.
#[track_caller]
pub(crate) fn refused(from: &str, to: &str, expected: &str) {
    assert!(GOOD.contains(from), "nothing to replace: {from}");
    assert_eq!(lines(&GOOD.replacen(from, to, 1)), [expected], "{from} -> {to}");
}

#[test]
fn the_good_case_loads() {
    let file = load_str(GOOD, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.cases.len(), 1);
    assert_eq!(file.cases[0].location.to_string(), "f.yaml:4");
}

#[test]
fn files() {
    assert_eq!(lines(""), ["f.yaml: found an empty file, expected a case file: `format: 1`, `cases:`"]);
    assert_eq!(lines("# only a comment\n"), lines(""));
    assert_eq!(
        lines("- a\n"),
        ["f.yaml:1:1: found a value that is not a mapping, expected a case file: `format: 1`, `cases:`"]
    );
    refused("format: 1\n", "", "f.yaml:1:1: found no field `format`, expected `format: 1`");
    refused(
        "format: 1",
        "format: 2",
        "f.yaml:1:9: format: found 2, expected 1, the only format that this version reads",
    );
    refused(
        "format: 1",
        "format: \"1\"",
        "f.yaml:1:9: format: found a value that is not a number, expected `format: 1`",
    );
    refused(
        "rules: numpy",
        "rules: numpi",
        "f.yaml:2:8: rules: found `numpi`, expected one of none numpy pdpd bidirectional xla theano leading repeat",
    );
    assert_eq!(
        lines("format: 1\ncase: 3\n"),
        [
            "f.yaml:1:1: found neither `cases` nor `sweeps`, expected at least one of them",
            "f.yaml:2:1: found the field `case`, expected `format`, `rules`, `cases` or `sweeps`",
        ]
    );
    assert_eq!(
        lines("format: 1\ncases: []\n"),
        ["f.yaml:2:8: cases: found an empty list, expected at least one"]
    );
    assert_eq!(
        lines("format: 1\ncases: 3\n"),
        ["f.yaml:2:8: cases: found a value that is not a list, expected a list of cases"]
    );
}

#[test]
fn yaml_that_the_format_does_not_allow() {
    refused(
        "title: A title.",
        "title: &t A title.",
        "f.yaml:5:12: case numpy/x: title: found an anchor (`&`), expected the value without an anchor",
    );
    refused(
        "title: A title.",
        "title: !!str A title.",
        "f.yaml:5:12: case numpy/x: title: found a tag (`!`), expected the value without a tag",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    note: one\n    note: two",
        "f.yaml:11:5: case numpy/x: found the key `note` twice, expected each key once",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    3: x",
        "f.yaml:10:5: case numpy/x: found the key `3`, expected a key that is a string",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    ? [a]\n    : x",
        "f.yaml:10:7: case numpy/x: found a key that is a list or a mapping, expected a key that is a string",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    note:",
        "f.yaml:10:9: case numpy/x: note: found nothing, expected a value",
    );
    assert_eq!(
        lines(&GOOD.replace("origin: hand", "origin: &o hand\n    note: *o")),
        [
            "f.yaml:9:13: case numpy/x: origin: found an anchor (`&`), expected the value without an anchor",
            "f.yaml:10:11: case numpy/x: note: found an alias (`*`), expected the value itself",
        ]
    );
    let merge = GOOD.replace("    origin: hand", "    origin: hand\n    <<: {note: x}");
    assert_eq!(lines(&merge), ["f.yaml:10:5: case numpy/x: found `<<`, expected no merge key"]);
    let two = format!("{GOOD}---\nformat: 1\n");
    assert_eq!(lines(&two), ["f.yaml:15:1: found a second document, expected one document per file"]);
    let error = lines("format: 1\ncases: [\n");
    assert!(error.len() == 1 && error[0].ends_with("expected YAML 1.2"), "{error:?}");
    for directive in ["%YAML 1.1", "%TAG ! tag:example.org,2000:", "%YAML 1.2"] {
        let name = directive.split(' ').next().unwrap();
        assert_eq!(
            lines(&format!("# A comment.\n\n{directive}\n---\n{GOOD}")),
            [format!("f.yaml:3:1: found the directive `{name}`, expected a file without directives")]
        );
    }
    let control = GOOD.replace("A title.", "\"A \u{0} title.\"");
    assert_eq!(
        lines(&control),
        [
            "f.yaml:5:15: found the character U+0000, expected an escape in quotes: control characters, byte order marks and special line breaks are not allowed"
        ]
    );
}

#[test]
fn words_and_numbers_that_yaml_1_1_reads_differently() {
    let words = "expected `true` or `false`, or a quoted string: YAML 1.1 reads this word as a boolean";
    for word in ["y", "n", "yes", "no", "on", "off", "True"] {
        let text = GOOD.replace("name: a", &format!("name: {word}"));
        assert_eq!(
            lines(&text),
            [format!("f.yaml:12:16: case numpy/x: operands[0].name: found `{word}`, {words}")]
        );
        let quoted = GOOD
            .replace("name: a", &format!("name: \"{word}\""))
            .replace("add, a", &format!("add, \"{word}\""));
        assert_eq!(load_str(&quoted, "f.yaml").is_ok(), word != "True", "{word}");
    }
    let place = "f.yaml:12:55: case numpy/x: operands[0].values[0]: found";
    for (value, rest) in [
        ("-0", "`-0`, expected `-0.0` for minus zero, or `0`"),
        ("1:30", "`1:30`, expected a decimal number, or a quoted string: YAML 1.1 reads colons as base 60"),
        (
            "012",
            "`012`, expected a number without a leading zero (YAML 1.1 reads it as octal), or a quoted string",
        ),
        ("0o17", "`0o17`, expected a decimal number, or a quoted string"),
        ("0x1F", "`0x1F`, expected a decimal number, or a quoted string"),
        ("1_000", "`1_000`, expected a number without `_`, or a quoted string"),
        ("1e5", "`1e5`, expected a point before the exponent and a sign in it, as in `1.0e+5`"),
        ("1.0e5", "`1.0e5`, expected a point before the exponent and a sign in it, as in `1.0e+5`"),
        (
            "1e400",
            "`1e400`, expected a finite number: this one is beyond the largest f64 (infinity is written `.inf`)",
        ),
        (
            "-1.0e+400",
            "`-1.0e+400`, expected a finite number: this one is beyond the largest f64 (infinity is written `.inf`)",
        ),
        (
            "1.0e-400",
            "`1.0e-400`, expected a number that an f64 distinguishes from 0: this one is nearer to 0 than to the smallest f64",
        ),
        ("2001-12-14", "`2001-12-14`, expected a quoted string: YAML 1.1 reads it as a date"),
        ("null", "`null`, expected a value, or a quoted string: this is YAML's null"),
        ("~", "`~`, expected a value, or a quoted string: this is YAML's null"),
        (".Inf", "`.Inf`, expected `.nan`, `.inf` or `-.inf`"),
        ("nan", "the string \"nan\""),
    ] {
        let text = GOOD.replace("values: [1,", &format!("values: [{value},"));
        if value == "nan" {
            assert!(load_str(&text, "f.yaml").is_ok(), "JSON's word is read as well");
            continue;
        }
        assert_eq!(lines(&text), [format!("{place} {rest}")]);
    }
    refused(
        "title: A title.",
        "title: 17",
        "f.yaml:5:12: case numpy/x: title: found integer `17`, expected a string",
    );
    refused(
        "title: A title.",
        "title: true",
        "f.yaml:5:12: case numpy/x: title: found boolean `true`, expected a string",
    );
}

#[test]
fn fields_of_a_case() {
    refused(
        "    origin: hand\n",
        "",
        "f.yaml:4:5: case numpy/x: found no field `origin`, expected one: it is required",
    );
    refused(
        "    title: A title.\n",
        "",
        "f.yaml:4:5: case numpy/x: found no field `title`, expected one: it is required",
    );
    refused(
        "    clause: NUMPY-1\n",
        "",
        "f.yaml:4:5: case numpy/x: found no field `clause`, expected one: it is required",
    );
    refused(
        "id: numpy/x\n    title: A title.",
        "title: A title.",
        "f.yaml:4:5: found no field `id`, expected one: it is required",
    );
    refused(
        "rules: numpy\n",
        "",
        "f.yaml:3:5: case numpy/x: found no field `rules`, expected one, in the case or at the top of the file",
    );
    refused(
        "title: A title.",
        "title: \"\"",
        "f.yaml:5:12: case numpy/x: title: found an empty title, expected a sentence: what would go wrong, or what must hold",
    );
    refused(
        "id: numpy/x",
        "id: Numpy/x",
        "f.yaml:4:9: case Numpy/x: id: found `Numpy/x`, expected an id made of the characters [a-z0-9/-]",
    );
    refused(
        "NUMPY-1",
        "NUMPY-9",
        "f.yaml:6:13: case numpy/x: clause: found `NUMPY-9`, expected a clause of SEMANTICS.md, such as `XLA-3`",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    example: [X01, X99]",
        "f.yaml:10:20: case numpy/x: example[1]: found `X99`, expected the id of an example of the documents, such as `X01`",
    );
    refused(
        "origin: hand",
        "origin: guess",
        "f.yaml:9:13: case numpy/x: origin: found `guess`, expected `document`, `hand`, or \"system: NAME AND VERSION\"",
    );
    refused(
        "origin: hand",
        "origin: \"system: \"",
        "f.yaml:9:13: case numpy/x: origin: found `system: `, expected `document`, `hand`, or \"system: NAME AND VERSION\"",
    );
    refused(
        "document: openvino",
        "document: openvina",
        "f.yaml:8:20: case numpy/x: source[0].document: found `openvina`, expected one of xla-en xla-zh xla-id openvino aesara",
    );
    refused(
        "\"20-29\"",
        "\"29-20\"",
        "f.yaml:8:37: case numpy/x: source[0].lines: found `29-20`, expected ascending lines from 1 such as \"20\", \"20-29\" or \"20-29, 61-71\"",
    );
    for lines in ["61-71, 20-29", "20-29, 29", "20, 20", "0", "20-", "20,21"] {
        refused(
            "\"20-29\"",
            &format!("\"{lines}\""),
            &format!(
                "f.yaml:8:37: case numpy/x: source[0].lines: found `{lines}`, expected ascending lines from 1 such as \"20\", \"20-29\" or \"20-29, 61-71\""
            ),
        );
    }
    refused(
        "\"20-29\"",
        "20-29",
        "f.yaml:8:37: case numpy/x: source[0].lines: found `20-29`, expected a quoted string",
    );
    for document in examples::documents() {
        let source = |last: u32| format!("{{document: {}, lines: \"20, {last}\"}}", document.key);
        let last = GOOD.replace("{document: openvino, lines: \"20-29\"}", &source(document.length));
        assert!(load_str(&last, "f.yaml").is_ok(), "{document:?}");
        let beyond = lines(&last.replace(&document.length.to_string(), &(document.length + 1).to_string()));
        let expected = format!("expected lines up to {}, the last of `{}`", document.length, document.key);
        assert!(beyond.len() == 1 && beyond[0].ends_with(&expected), "{beyond:?}");
    }
    refused(
        "    origin: hand",
        "    origin: hand\n    example: [X01, X02, X01]",
        "f.yaml:10:25: case numpy/x: example[2]: found `X01` twice, expected each example once",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    convention: promotion",
        "f.yaml:10:17: case numpy/x: convention: found `promotion`, expected one of checked-sizes separate-dtypes unused-operands refusal-order gradient-refusals gradient-ties undefined-functions zero-signs inferred-refusals",
    );
    refused(
        "\"20-29\"",
        "20",
        "f.yaml:8:37: case numpy/x: source[0].lines: found integer `20`, expected a string",
    );
    refused(
        "{document: openvino, lines: \"20-29\"}",
        "{url: numpy.org}",
        "f.yaml:8:15: case numpy/x: source[0].url: found `numpy.org`, expected an address such as \"https://...\"",
    );
    refused(
        ", lines: \"20-29\"}",
        "}",
        "f.yaml:8:9: case numpy/x: source[0]: found other fields, expected `document` and `lines`, or `url` alone",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    tittle: x",
        "f.yaml:10:5: case numpy/x: tittle: found unknown field `tittle`, expected one of `id`, `title`, `clause`, `convention`, `example`, `source`, `origin`, `rules`, `operation`, `expression`, `operands`, `wrt`, `cotangent`, `into`, `target_shape`, `declared_target_shape`, `axis`, `broadcast_dimensions`, `result`, `inferred`, `refusal`, `retyped_from`, `since`, `note`",
    );
    refused("cases:\n", "cases:\n  - 3\n", "f.yaml:4:5: found integer `3`, expected a mapping: a case");
}

#[test]
fn ids_are_unique() {
    let second = GOOD.split_once("cases:\n").unwrap().1;
    let twice = format!("{GOOD}{second}");
    assert_eq!(
        lines(&twice),
        ["f.yaml:15:9: case numpy/x: id: found a duplicate id (first on line 4), expected a unique id"]
    );
    let sweep = "sweeps:\n  - {id: numpy/x, title: T., clause: G-2, sweep: p, expect: {cases: 7}}\n";
    assert_eq!(lines(&format!("{GOOD}{sweep}")).len(), 1, "cases and sweeps share their ids");
}

#[test]
fn errors_are_reported_together() {
    let second =
        GOOD.split_once("cases:\n").unwrap().1.replace("numpy/x", "numpy/y").replace("NUMPY-1", "NUMPY-0");
    let text = format!("{GOOD}{second}").replacen("values: [7, 8, 9]", "values: [7, 8]", 1).replacen(
        "4, 5, 6]",
        "4, -0, 6]",
        1,
    );
    let text = text.replacen("origin: hand", "origin: ham", 2);
    let found = lines(&text);
    assert_eq!(
        found,
        [
            "f.yaml:12:67: case numpy/x: operands[0].values[4]: found `-0`, expected `-0.0` for minus zero, or `0`",
            "f.yaml:17:13: case numpy/y: clause: found `NUMPY-0`, expected a clause of SEMANTICS.md, such as `XLA-3`",
            "f.yaml:20:13: case numpy/y: origin: found `ham`, expected `document`, `hand`, or \"system: NAME AND VERSION\"",
        ]
    );
    let found = lines(&text.replace("-0", "5"));
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[0].contains("origin") && found[1].contains("operands[1].values"), "{found:?}");
}

#[test]
fn no_more_than_a_hundred_errors_are_kept() {
    let many = format!("format: 1\nrules: numpy\ncases:\n{}", "  - {id: 3}\n".repeat(150));
    let errors = errors(&many);
    assert_eq!((errors.errors().len(), errors.more()), (LoadErrors::MAX_PER_FILE, 50));
    assert!(errors.to_string().ends_with("and 50 more: correct these to see them"));
}
