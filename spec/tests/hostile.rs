//! Files built to hang the loader or to exhaust its memory or stack, and paths that are not case files.
//!
//! Each results in an error, thanks to limits that are constants of the library. The time limit is generous,
//! because machines differ: a debug build of the example `validate` needed less than a second and 150 MB
//! each.

use broadcheck_spec::{
    Asked, DType, Expression, LoadErrors, MAX_DEPTH, MAX_EXPRESSION_DEPTH, MAX_FILE_BYTES, MAX_NODES,
    OperandType, PartialShape, Rules, Signature, Suite, json, load_path, load_str,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HEAD: &str = "format: 1\nrules: numpy\ncases:\n";

/// A text repeated after a start, up to the largest file.
fn filled(start: &str, with: &str) -> String {
    filled_to(usize::try_from(MAX_FILE_BYTES).unwrap(), start, with)
}

fn filled_to(length: usize, start: &str, with: &str) -> String {
    let room = length - start.len();
    format!("{start}{}", with.repeat(room / with.len()))
}

#[track_caller]
fn refused(text: &str, name: &str) -> LoadErrors {
    let begin = Instant::now();
    let errors = load_str(text, name).expect_err("hostile");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?} for {:.40}…", begin.elapsed(), text);
    let longest = errors.errors().iter().map(|error| error.to_string().len()).max();
    assert!(errors.errors().len() <= LoadErrors::MAX_PER_FILE && longest < Some(1500), "messages stay short");
    errors
}

#[track_caller]
fn reports(text: &str, expected: &str) {
    let errors = refused(text, "f.yaml");
    assert!(errors.to_string().contains(expected), "{errors}");
}

#[test]
fn eight_mebibytes_of_junk() {
    for (start, with) in
        [("", "["), ("", "a: "), ("", "- "), ("", "x"), ("\"", "x\n"), ("[", "1,"), ("", "k: &a v\n")]
    {
        refused(&filled(start, with), "f.yaml");
    }
    refused(&filled("[", "1,"), "f.json");
}

#[test]
fn a_mebibyte_of_anything() {
    for with in [
        "[",
        "{",
        "a: ",
        "- ",
        "? ",
        ": ",
        "x",
        "-",
        "a\n",
        "- a\n",
        "a: b\n",
        "[]",
        "- - - -\n",
        "- {}\n",
        "\n",
        "#",
        "\"",
        "'",
        "!",
        "&",
        "*",
        "%",
        "|\n",
        "---\n",
        "\t",
        "\r",
        "é",
        "%TAG !a! b\n",
        "? a\n",
        "a: &b b\n",
        "\u{0}",
        "\u{2028}",
    ] {
        refused(&filled_to(1 << 20, "", with), "f.yaml");
    }
}

#[test]
fn a_mebibyte_of_anything_behind_a_start() {
    for with in [
        "1,",
        "a,",
        "[],",
        "~,",
        "{},",
        "a: b,",
        "\"a\": 1,",
        "&a ",
        "!a ",
        "*a ",
        "? ",
        "\n'a'",
        "a b\n",
        "\n",
    ] {
        refused(&filled_to(1 << 20, "[", with), "f.yaml");
    }
    for start in ["\"", "'", "|\n  ", ">\n ", "!<", "&", "!a"] {
        refused(&filled_to(1 << 20, start, "a"), "f.yaml");
    }
    for with in ["  - {id: 3}\n", "  - {id: x, title: t}\n", "  - x\n", "  - id: \"y\"\n    title: 3\n"] {
        refused(&filled_to(1 << 20, HEAD, with), "f.yaml");
    }
    for with in ["[", "1,", "{\"a\":", "\"\","] {
        refused(&filled_to(1 << 20, "[", with), "f.json");
    }
}

#[test]
fn a_value_per_line_or_per_comma_is_counted() {
    reports(&filled("[", "1,"), &format!("found more than {MAX_NODES} of the characters"));
    reports(&filled("", "- a\n"), &format!("found more than {MAX_NODES} values"));
    let many = format!("[{}1]", "1,".repeat(MAX_NODES - 2));
    reports(&many, "found a value that is not a mapping");
}

#[test]
fn aliases_are_not_expanded() {
    let mut bomb = String::from("format: 1\nrules: numpy\na: &a [x, x, x, x, x, x, x, x, x]\n");
    for name in b'b'..=b'z' {
        let alias = format!("*{}", char::from(name - 1));
        bomb += &format!("{0}{0}: &{0} [{1}]\n", char::from(name), vec![alias; 9].join(", "));
    }
    reports(&bomb, "found an alias (`*`), expected the value itself");
}

#[test]
fn nesting_is_limited() {
    for depth in [MAX_DEPTH + 1, 20_000] {
        let block: String = (0..depth.min(2_000)).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
        reports(
            &block,
            &format!(
                "found lists and mappings nested {} deep, expected at most {MAX_DEPTH} levels",
                MAX_DEPTH + 1
            ),
        );
        reports(&"- ".repeat(depth), &format!("found lists and mappings nested {} deep", MAX_DEPTH + 1));
        refused(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)), "f.yaml");
        refused(&format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth)), "f.yaml");
        refused(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)), "f.json");
    }
}

#[test]
fn the_depth_of_expressions_is_limited() {
    let case = |depth: usize| {
        format!(
            "{HEAD}  - id: x\n    title: T.\n    clause: G-5\n    origin: hand\n    expression: {}a{}\n    \
             operands: [{{name: a, dtype: f64, shape: [], values: [1]}}]\n    refusal: {{kind: any}}\n",
            "[negate, ".repeat(depth),
            "]".repeat(depth)
        )
    };
    let file = load_str(&case(MAX_EXPRESSION_DEPTH), "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    let expression = file.cases[0].request.operation().expression().unwrap();
    assert_eq!(expression.nodes().len(), MAX_EXPRESSION_DEPTH + 1);
    reports(
        &case(MAX_EXPRESSION_DEPTH + 1),
        "found an expression nested more than 100 deep, expected at most 100 levels",
    );
    refused(&case(20_000), "f.yaml");
}

#[test]
fn huge_shapes_are_checked_without_allocation() {
    let case = |shape: &str, more: &str| {
        format!(
            "{HEAD}  - id: x\n    title: T.\n    clause: G-1\n    origin: hand\n    expression: a\n    \
             operands: [{{name: a, dtype: f64, shape: {shape}{more}, values: [1]}}]\n    refusal: {{kind: any}}\n"
        )
    };
    reports(
        &case("[1000000000, 1000000000]", ""),
        "found 1 value for shape (1000000000,1000000000), expected 1000000000000000000",
    );
    reports(&case("[10000000000, 10000000000]", ""), "expected more than 2^63-1");
    reports(&case("[100000000000000000000]", ""), "expected an integer, 0 or more");
    let view = load_str(&case("[10000000000, 10000000000]", ", strides: [0, 0]"), "f.yaml");
    assert!(view.is_ok(), "a view of this shape is a valid request, which the rule sets refuse");
}

fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[track_caller]
fn path_reports(path: &Path, expected: &str) {
    let errors = load_path(path).expect_err("not a case file").to_string();
    assert!(errors.starts_with(&path.display().to_string()) && errors.ends_with(expected), "{errors}");
}

#[test]
fn paths_that_are_not_case_files() {
    let folder = folder("paths");
    path_reports(
        &folder,
        "found a directory without case files, expected at least one *.yaml, *.yml or *.json",
    );
    let errors = load_path(&folder.join("missing.yaml")).unwrap_err().to_string();
    assert!(
        errors.contains("found no readable file (") && errors.ends_with("expected a case file"),
        "{errors}"
    );
    let file = folder.join("f.yaml");
    fs::write(&file, "").unwrap();
    path_reports(&file, "found an empty file, expected a case file: `format: 1`, `cases:`");
    fs::write(&file, b"format: 1\n# \xff\n").unwrap();
    path_reports(&file, ":2: found the byte 0xff, expected UTF-8");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let folder = folder("large");
    let path = folder.join("large.yaml");
    // 100 MB of zero bytes: if it were read, the error would be about control characters, not the size.
    fs::File::create(&path).unwrap().set_len(100_000_000).unwrap();
    path_reports(&path, "found 100000000 bytes or more, expected at most 8388608: a larger file is not read");
    fs::File::create(&path).unwrap().set_len(MAX_FILE_BYTES).unwrap();
    let errors = load_path(&path).unwrap_err().to_string();
    assert!(errors.contains("U+0000"), "{errors}");
    fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    let errors = load_path(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(errors, "/dev/zero: found a device, a pipe or a socket, expected a regular file");
}

/// Files of the kernel claim to be regular and empty; reading `kmsg` waits for the next message.
#[cfg(target_os = "linux")]
#[test]
fn files_that_only_seem_empty_are_not_read() {
    for path in ["/proc/version", "/proc/kmsg"] {
        let begin = Instant::now();
        let errors = load_path(Path::new(path)).unwrap_err().to_string();
        assert_eq!(
            errors,
            format!("{path}: found an empty file, expected a case file: `format: 1`, `cases:`")
        );
        assert!(begin.elapsed() < Duration::from_secs(5), "{path}");
    }
}

#[test]
fn directories_are_read_completely_and_in_order() {
    let folder = folder("whole");
    fs::create_dir_all(folder.join("sub")).unwrap();
    let case = |id: &str| {
        format!(
            "{HEAD}  - id: {id}\n    title: T.\n    clause: G-5\n    origin: hand\n    expression: a\n    \
             operands: [{{name: a, dtype: f64, shape: [], values: [1]}}]\n    refusal: {{kind: any}}\n"
        )
    };
    fs::write(folder.join("z.yaml"), case("last")).unwrap();
    fs::write(folder.join("a.yml"), case("first")).unwrap();
    fs::write(folder.join("sub/b.yaml"), case("second")).unwrap();
    fs::write(folder.join("notes.txt"), "not a case file").unwrap();
    let suite = Suite::from_paths(std::slice::from_ref(&folder)).unwrap_or_else(|errors| panic!("{errors}"));
    let ids: Vec<&str> = suite.cases.iter().map(|case| &*case.id).collect();
    assert_eq!(ids, ["first", "second", "last"]);
    assert!(suite.get("second").is_some() && suite.get("third").is_none());
    fs::write(folder.join("z.yaml"), case("first")).unwrap();
    fs::write(folder.join("sub/b.yaml"), "format: 3\n").unwrap();
    let errors = load_path(&folder).unwrap_err().to_string();
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 2, "{errors}");
    assert!(
        lines[0]
            .ends_with("b.yaml:1:9: format: found 3, expected 1, the only format that this version reads")
    );
    assert!(lines[1].contains("z.yaml:4: case first: id: found a duplicate id (first at "), "{errors}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn messages_stay_short() {
    let name = "x".repeat(1 << 20);
    let case =
        |fields: &str| format!("{HEAD}  - {{id: x, title: T., clause: G-1, origin: hand, {fields}}}\n");
    for fields in [
        format!("{name}: 1"),
        format!(
            "expression: {name}, operands: [{{name: a, dtype: f64, shape: [], values: [1]}}], refusal: {{kind: any}}"
        ),
        format!(
            "expression: a, operands: [{{name: {name}, dtype: {name}, shape: [], values: [{name}]}}], refusal: {{kind: any}}"
        ),
        format!(
            "expression: a, operands: [{{name: a, dtype: f64, shape: [], values: [1]}}], refusal: {{kind: {name}}}"
        ),
        format!(
            "expression: a, operands: [{{name: a, dtype: f64, shape: [{name}], values: [1]}}], refusal: {{kind: any}}"
        ),
        format!(
            "note: \"\\e[31m{name}\", clause: {name}, rules: {name}, source: [{{url: {name}}}], example: [{name}]"
        ),
    ] {
        let errors = refused(&case(&fields), "f.yaml");
        assert!(errors.to_string().len() < 10_000, "{errors}");
    }
    let coloured = refused(&case("origin: \"\\e[31m\""), "f.yaml").to_string();
    assert!(!coloured.contains('\u{1b}'), "{coloured}");
}

#[test]
fn many_operands_and_many_unknown_names_take_linear_time() {
    let operands: Vec<String> =
        (0..14_000).map(|place| format!("{{name: a{place}, dtype: f64, shape: [], values: [1]}}")).collect();
    let case = |expression: &str| {
        format!(
            "{HEAD}  - {{id: x, title: T., clause: G-1, origin: hand, expression: {expression}, operands: [{}], refusal: {{kind: any}}}}\n",
            operands.join(", ")
        )
    };
    let wide = format!("[add{}]", ", b".repeat(20_000));
    reports(&case(&wide), "found `add` with 20000 arguments, expected 2");
    reports(&case(&wide.replace("add", "plus")), "found `plus`, expected a function");
    let mut tree = String::from("b");
    for _ in 0..12 {
        tree = format!("[add, {tree}, {tree}]");
    }
    reports(&case(&tree), "found `b`, expected an operand's name: a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 …");
}

#[test]
fn json_files_are_json() {
    let good = r#"{"format":1,"rules":"numpy","cases":[{"id":"x","title":"T. \u2014","clause":"G-5","origin":"hand","expression":"a","operands":[{"name":"a","dtype":"f64","shape":[1],"values":[1e5]}],"refusal":{"kind":"any"}}]}"#;
    let file = load_str(good, "f.json").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.cases[0].title, "T. —");
    assert!(load_str(good, "f.yaml").is_err(), "in YAML, an exponent needs a point and a sign");
    for (from, to, expected) in [
        (
            r#""id":"x""#,
            r#""id":"x","id":"z""#,
            "f.json:1:48: case x: found the key `id` twice, expected each key once",
        ),
        (
            "[1e5]",
            "[1e400]",
            "f.json:1:176: case x: operands[0].values[0]: found `1e400`, expected a finite number",
        ),
        ("[1e5]", "[.nan]", "f.json:1:176: found a syntax error (expected value), expected JSON"),
        ("[1e5]", "[1e5,]", "f.json:1:180: found a syntax error (expected value), expected JSON"),
        (
            "\"format\":1,",
            "\"format\":1,# a comment\n",
            "f.json:1:13: found a syntax error (key must be a string), expected JSON",
        ),
    ] {
        let errors = load_str(&good.replacen(from, to, 1), "f.json").expect_err(to).to_string();
        assert!(errors.starts_with(expected), "{errors}");
    }
}

/// Unusual JSON that some writers produce: escapes of all kinds, tabs, no whitespace.
#[test]
fn all_of_json_is_read() {
    let case = |title: &str| {
        format!(
            "{{\n\t\"format\": 1,\n\t\"rules\": \"numpy\",\n\t\"cases\": [{{\"id\": \"x\", \"title\": \"{title}\", \"clause\": \"G-5\", \
             \"origin\": \"hand\", \"expression\": \"a\", \"operands\": [{{\"name\": \"a\", \"dtype\": \"f64\", \"shape\": [], \
             \"values\": [1E5]}}], \"refusal\": {{\"kind\": \"any\"}}}}]\n}}"
        )
    };
    for (written, meant) in [
        (r"\ud83d\ude00 \u00e9", "😀 é"),
        ("😀 é", "😀 é"),
        (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
        ("\u{7f}\u{85}\u{2028}\u{feff}", "\u{7f}\u{85}\u{2028}\u{feff}"),
        ("x: [1, {2}], # & * !", "x: [1, {2}], # & * !"),
    ] {
        let file = load_str(&case(written), "f.json").unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(file.cases[0].title, meant);
    }
    let errors = load_str(&case(r"\ud83d"), "f.json").unwrap_err().to_string();
    assert!(
        errors.starts_with("f.json:4:33: found a syntax error (") && errors.ends_with("expected JSON"),
        "{errors}"
    );
    let text = case(r"\ud83d\ude00");
    let errors = load_str(&text.replace("\"hand\"", "\"ham\""), "f.json").unwrap_err().to_string();
    assert!(errors.starts_with("f.json:4:76: case x: origin: found `ham`"), "{errors}");
    let twice = text.replace("\"id\": \"x\"", "\"id\": \"x\", \"\\u0069d\": \"z\"");
    let errors = load_str(&twice, "f.json").unwrap_err().to_string();
    assert!(errors.starts_with("f.json:4:24: case x: found the key `id` twice"), "{errors}");
}

/// A case of the operation `infer` with an operand of this shape.
fn inferring(shape: &str) -> String {
    format!(
        "{HEAD}  - {{id: x, title: T., clause: INFER-4, origin: hand, operation: infer, expression: a, operands: \
         [{{name: a, dtype: f32, shape: {shape}}}], refusal: {{kind: any}}}}\n"
    )
}

#[test]
fn shapes_of_infer() {
    const LENGTH: &str = "expected a length: an integer, \"?\", or bounds such as {min: 1, max: 3}";
    reports(&inferring("[[1]]"), LENGTH);
    reports(&inferring(&"[".repeat(60_000)), "f.yaml");
    reports(&inferring(&format!("{}1{}", "[{max: ".repeat(50), "}]".repeat(50))), "operands[0].shape");
    reports(&inferring(&format!("[{{{}}}]", "k: 1, ".repeat(10_000))), "the key `k` twice");
    let fields: String = (0..20_000).map(|place| format!("k{place}: 1, ")).collect();
    reports(&inferring(&format!("[{{{fields}}}]")), "expected `min` or `max`");
    reports(&inferring(&format!("[{{{}: 1}}]", "k".repeat(900))), "expected `min` or `max`");
    reports(&inferring(&format!("[{{max: {}}}]", "9".repeat(100_000))), "operands[0].shape[0]");
    reports(&inferring(&format!("[{}]", "{min: 0}, ".repeat(30_000))), "expected no `min`");
    reports(&inferring(&format!("\"{}\"", ".".repeat(100_000))), "\"...\" for an unknown rank");
    let lengths = "\"?\", {max: 2}, ".repeat(20_000);
    let file = load_str(&inferring(&format!("[{lengths}]")), "f.yaml").map(|file| file.inferences.len());
    assert_eq!(file, Ok(1));
}

/// What an implementation may answer to `infer`.
#[test]
fn answers_to_infer() {
    let operand = OperandType::new("a", DType::F32, PartialShape::Unranked).unwrap();
    let asked = Asked::Expression(Expression::operand(0));
    let signature = Signature::new(Rules::Numpy, asked, vec![operand]).unwrap();
    let read = |shape: &str| {
        let begin = Instant::now();
        let text = format!(r#"{{"inferred":{{"dtype":"f32","shape":{shape}}}}}"#);
        let outcome = json::inferred_from_str(&signature, &text);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?} for {:.40}…", begin.elapsed(), text);
        outcome.map_err(|error| {
            let message = error.to_string();
            assert!(message.len() < 1500, "messages stay short: {message}");
            message
        })
    };
    assert!(read(&format!("[{}1]", "\"?\",".repeat(100_000))).is_ok());
    for wrong in [
        "[".repeat(100_000),
        format!("{}1{}", "[{\"max\":".repeat(1000), "}]".repeat(1000)),
        format!("[{}1]", "{\"min\":2,\"max\":1},".repeat(100_000)),
        format!("[{{\"max\":{}}}]", "9".repeat(100_000)),
        format!("[{{\"max\":\"{}\"}}]", "9".repeat(100_000)),
        format!("[\"{}\"]", "?".repeat(100_000)),
        format!("\"{}\"", ".".repeat(100_000)),
        "[{\"min\":18446744073709551615,\"max\":0}]".to_owned(),
    ] {
        assert!(read(&wrong).is_err(), "{wrong:.40}…");
    }
}
