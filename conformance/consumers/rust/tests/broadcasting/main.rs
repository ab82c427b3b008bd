//! Judges an array library by the broadcasting cases of this kit. Each case is one test, named by its id.
//! This file is the judge; library.rs translates a case into calls of the library. To judge your own library,
//! rewrite library.rs only.
//!
//!     cargo test
//!     cargo test --test broadcasting -- numpy/zero     # only the cases whose id contains this text
//!
//! The cases are read from ../../json, or from the directory in the environment variable BROADCHECK_JSON.

mod library;

use library::{literal, Array, Refused, Value};
use serde_json::{json, Value as Json};
use std::{env, error::Error, fs, panic, process::ExitCode};

/// What is wrong with the library's answer.
fn judge(case: &Json) -> Result<(), String> {
    match (library::run(case), case.get("refusal")) {
        (Ok(got), None) => compare(&got, &case["result"]),
        (Err(refused), Some(wanted)) if agrees(&refused, wanted) => Ok(()),
        (Err(refused), wanted) => {
            Err(format!("found {refused:?}, expected {}", wanted.unwrap_or(&case["result"])))
        }
        (Ok(got), Some(wanted)) => {
            Err(format!("found shape {:?}, expected the refusal {wanted}", got.shape()))
        }
    }
}

/// Whether the refusal is the expected one. Its fields are compared only where the library reports them.
fn agrees(refused: &Refused, wanted: &Json) -> bool {
    (wanted["kind"] == "any" || wanted["kind"] == refused.kind)
        && (wanted["axis"].is_null() || refused.axis.is_none_or(|axis| wanted["axis"] == axis))
}

fn compare(got: &Array, wanted: &Json) -> Result<(), String> {
    let (dtype, shape, expected) = (got.dtype(), got.shape(), wanted["values"].as_array().expect("a list"));
    let values = got.values();
    if wanted["dtype"] != dtype || wanted["shape"] != json!(shape) || values.len() != expected.len() {
        return Err(format!("found {dtype} {shape:?}, expected {} {}", wanted["dtype"], wanted["shape"]));
    }
    for (i, (got, value)) in values.into_iter().zip(expected).enumerate() {
        // `admitted` has the elements of which more than the one in `values` is right.
        let admitted = &wanted["admitted"][i.to_string()];
        let mut entries = admitted.as_array().into_iter().flatten();
        if !same(got, literal(dtype, value)) && !entries.any(|entry| admits(entry, dtype, got)) {
            return Err(format!("element {i} is {got:?}, expected {value} or {admitted}"));
        }
    }
    Ok(())
}

/// Equal to the bit, except that any NaN is NaN.
fn same(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Float(x), Value::Float(y)) => x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
        _ => a == b,
    }
}

/// An entry of `admitted` is one value, or two bounds.
fn admits(entry: &Json, dtype: &str, got: Value) -> bool {
    match entry.get("value") {
        Some(value) => same(got, literal(dtype, value)),
        None => literal(dtype, &entry["lower"]) <= got && got <= literal(dtype, &entry["upper"]),
    }
}

/// The cases in the files of the kit. The directory `extreme` is left out: lengths in it may be strings.
fn cases(kit: &str) -> Result<Vec<Json>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for directory in [".", "optional", "sweeps"] {
        let Ok(files) = fs::read_dir(format!("{kit}/{directory}")) else { continue };
        for file in files {
            let path = file?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let file: Json = serde_json::from_str(&fs::read_to_string(path)?)?;
                cases.extend_from_slice(file["cases"].as_array().ok_or("a file without cases")?);
            }
        }
    }
    Ok(cases)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let kit = env::var("BROADCHECK_JSON").unwrap_or_else(|_| "../../json".to_owned());
    let filter = env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let (mut passed, mut failed, mut skipped, mut agree, mut differ) = (0, 0, 0, 0, 0);
    panic::set_hook(Box::new(|_| ())); // a panic is a failure of its test
    for case in cases(&kit)?.iter().filter(|case| case["rules"] == library::RULES) {
        let id = case["id"].as_str().ok_or("a case without an id")?;
        if !id.contains(&filter) {
            continue;
        }
        let judged = || panic::catch_unwind(|| judge(case)).unwrap_or_else(|_| Err("panicked".to_owned()));
        let (count, said) = match (library::lacks(case), case.get("convention")) {
            (Some(missing), _) => (&mut skipped, format!("ignored, the library has no {missing}")),
            (None, convention) => match (judged(), convention) {
                (Ok(()), None) => (&mut passed, "ok".to_owned()),
                (Ok(()), Some(_)) => (&mut agree, "ok".to_owned()),
                (Err(wrong), None) => (&mut failed, format!("FAILED\n    {wrong}")),
                // Implementations may differ.
                (Err(wrong), Some(name)) => (&mut differ, format!("ignored, differs from {name}: {wrong}")),
            },
        };
        *count += 1;
        println!("test {id} ... {said}");
    }
    println!(
        "\n{passed} passed, {failed} failed, {skipped} skipped; conventions: {agree} agree, {differ} differ"
    );
    if passed + failed + agree + differ == 0 {
        return Err("no case was judged: set BROADCHECK_JSON to the kit's directory json".into());
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}
