//! Lists the case files, so that the library includes them all: adding a file needs no code.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=cases");
    println!("cargo::rerun-if-changed=build.rs");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let mut names: Vec<String> = fs::read_dir(Path::new(&root).join("cases"))
        .expect("the case files are in cases/")
        .map(|entry| entry.expect("cases/ can be listed").file_name())
        .map(|name| name.into_string().expect("names of case files are UTF-8"))
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    let mut text = String::from("&[\n");
    for name in names {
        println!("cargo::rerun-if-changed=cases/{name}");
        writeln!(
            text,
            "    (\"spec/cases/{name}\", include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/cases/{name}\"))),"
        )
        .expect("writing to a string does not fail");
    }
    text.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("cases.rs");
    fs::write(out, text).expect("the build directory can be written");
}
