//! Embeds the files of the repository that the command needs wherever it runs (adapters, findings, histories,
//! known failures and consumers), and the commit of the source. `embedded/README.md` says where they come
//! from.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What setting an adapter up or running a consumer leaves behind, which git ignores. Cargo.toml leaves the
/// same out of the package.
const MADE: [&str; 7] = ["venvs", "target", "__pycache__", ".pytest_cache", "node_modules", "build", "dist"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for directory in ["adapters", "consumers", "findings", "history", "known"] {
        collect(&root.join("embedded").join(directory), directory, &mut files);
    }
    collect(&root.join("embedded/nested"), "", &mut files);
    files.sort();
    assert!(
        !files.is_empty(),
        "found no files in embedded/, expected links to directories of the repository"
    );
    write_table(&files);
    println!("cargo::rustc-env=BROADCHECK_COMMIT={}", commit(&root));
}

/// Adds the files below a directory, with their paths in the table. A directory with a Cargo.toml is left
/// out, as cargo leaves it out of the package; `embedded/nested` has its files.
fn collect(directory: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.expect("embedded/ can be listed").path();
        let file =
            path.file_name().and_then(|name| name.to_str()).expect("names of embedded files are UTF-8");
        if MADE.contains(&file) || file.starts_with(".venv") || file == ".gitignore" {
            continue;
        }
        let within = if name.is_empty() { file.to_owned() } else { format!("{name}/{file}") };
        // A test compares what remains with what git tracks, so that a broken link is noticed.
        if path.join("Cargo.toml").exists() || !path.exists() {
            continue;
        }
        if path.is_dir() {
            collect(&path, &within, files);
        } else {
            files.push((within.replace("Cargo.toml.txt", "Cargo.toml"), path));
        }
    }
}

fn write_table(files: &[(String, PathBuf)]) {
    let mut text = String::from("&[\n");
    for (name, path) in files {
        // Files and not directories: cargo would search the virtual environments in a directory, too. A new
        // adapter changes README.md and the known failures, so that it is noticed.
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(text, "    ({name:?}, include_bytes!({:?})),", path.display().to_string())
            .expect("writing to a string does not fail");
    }
    text.push_str("]\n");
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("embedded.rs");
    fs::write(out, text).expect("the build directory can be written");
}

/// The commit of the source: of a package, the one that cargo recorded; of a checkout, the current one.
fn commit(root: &Path) -> String {
    let recorded = fs::read_to_string(root.join(".cargo_vcs_info.json")).ok();
    let recorded =
        recorded.and_then(|text| Some(text.split("\"sha1\": \"").nth(1)?.split('"').next()?.to_owned()));
    // Without this condition, git would name the commit of any repository that contains the source.
    let checkout = root.join("../../.git").exists();
    recorded.or_else(|| checkout.then(|| current(root)).flatten()).unwrap_or_else(|| "unknown".into())
}

fn current(root: &Path) -> Option<String> {
    let git = |words: &[&str]| {
        let ran = Command::new("git").current_dir(root).args(words).output().ok()?;
        let text = String::from_utf8(ran.stdout).ok()?;
        ran.status.success().then(|| text.trim().to_owned())
    };
    // Changes whenever HEAD does: with each commit, checkout and rebase.
    let log = root.join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(&["rev-parse", "HEAD"])
}
