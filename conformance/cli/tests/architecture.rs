//! ARCHITECTURE.md stays true: the crates depend on each other as its picture shows, and the pages link to
//! files that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with the crates of the workspace that it may depend on. No arrow points back up the list.
const ARROWS: [(&str, &str, &[&str]); 9] = [
    ("spec", "broadcheck-spec", &[]),
    ("reference", "broadcheck-reference", &["broadcheck-spec"]),
    ("fast", "broadcheck-fast", &["broadcheck-spec"]),
    ("conformance/judge", "broadcheck-judge", &["broadcheck-spec", "broadcheck-reference"]),
    ("conformance/suite", "broadcheck", &["broadcheck-spec", "broadcheck-reference", "broadcheck-judge"]),
    (
        "conformance/harness",
        "broadcheck-harness",
        &["broadcheck-spec", "broadcheck-reference", "broadcheck-judge", "broadcheck"],
    ),
    (
        "fuzz/search",
        "broadcheck-search",
        &[
            "broadcheck-spec",
            "broadcheck-reference",
            "broadcheck-fast",
            "broadcheck-judge",
            "broadcheck",
            "broadcheck-harness",
        ],
    ),
    (
        "fuzz/faults",
        "broadcheck-faults",
        &["broadcheck-spec", "broadcheck-reference", "broadcheck-judge", "broadcheck", "broadcheck-search"],
    ),
    (
        "conformance/cli",
        "broadcheck-cli",
        &[
            "broadcheck-spec",
            "broadcheck-reference",
            "broadcheck-judge",
            "broadcheck",
            "broadcheck-harness",
            "broadcheck-search",
            "broadcheck-faults",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's directory")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The workspace's crates among the dependencies of a manifest, without those of its tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
            // `[dependencies.broadcheck-spec]`
            let table = line.trim_end_matches(']').rsplit("dependencies.").next().unwrap_or_default();
            if table.starts_with("broadcheck") && !line.contains("dev-dependencies") {
                found.push(table.to_owned());
            }
        } else if section.ends_with("dependencies]") && !section.contains("dev-dependencies") {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if name.starts_with("broadcheck") {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[test]
fn crates_depend_on_each_other_as_the_picture_shows() {
    let workspace = read(&root().join("Cargo.toml"));
    for (folder, name, allowed) in ARROWS {
        assert!(workspace.contains(&format!("\"{folder}\"")), "{folder}: not a member of the workspace");
        let manifest = read(&root().join(folder).join("Cargo.toml"));
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{folder}: its name is not {name}");
        for dependency in dependencies(&manifest) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{folder}: depends on {dependency}, expected only {allowed:?}"
            );
        }
    }
    let members = workspace.split("members = [").nth(1).and_then(|list| list.split(']').next());
    let members = members.map_or(0, |list| list.matches('"').count() / 2);
    assert_eq!(members, ARROWS.len(), "members of the workspace, and crates in this test");
}

/// Every file of the repository whose name ends like this, and nothing that was built or installed in it.
/// Links lead to files that are found anyway.
fn files(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let skipped =
            ["target", "venvs", "node_modules", ".git"].contains(&name) || name.starts_with(".venv");
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() && !skipped && !["corpus", "artifacts", "coverage"].contains(&name) {
            files(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// The targets of the links of a page that are files, without what is inside blocks of code.
fn links(page: &str) -> Vec<&str> {
    let mut code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            found.extend(targets.map(|target| target.split('#').next().unwrap_or_default()));
        }
    }
    let outside =
        |target: &&str| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
    found.into_iter().filter(outside).collect()
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut found = Vec::new();
    files(&root(), ".md", &mut found);
    assert!(found.len() > 10, "found {} pages", found.len());
    let mut broken = Vec::new();
    for path in found {
        let page = read(&path);
        for target in links(&page) {
            if !path.parent().expect("a directory").join(target).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links to files that do not exist:\n{}", broken.join("\n"));
}

/// Paths in backticks, as `fast/src/plan.rs` or `spec/cases/`, but not patterns such as
/// `spec/cases/<rules>-<topic>.yaml`.
#[test]
fn pages_for_maintainers_name_files_that_exist() {
    let folders = ["spec/", "reference/", "fast/", "conformance/", "fuzz/", ".ci/"];
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let page = read(&root().join(name));
        let mut count = 0;
        for path in page.split('`').skip(1).step_by(2) {
            let path = path.split(' ').next().unwrap_or_default();
            let is_path = folders.iter().any(|folder| path.starts_with(folder));
            if is_path && !path.contains(['<', '*', '{', '…']) {
                count += 1;
                assert!(root().join(path).exists(), "{name}: `{path}` does not exist");
            }
        }
        assert!(count > 0, "{name}: names no file");
    }
}

/// rustfmt does not wrap comments. Tables cannot be wrapped.
#[test]
fn comments_stay_within_the_width_of_the_code() {
    let settings = read(&root().join("rustfmt.toml"));
    let width = settings.lines().find_map(|line| line.strip_prefix("max_width = ")).expect("a width");
    let width: usize = width.parse().expect("a number");
    let mut found = Vec::new();
    files(&root(), ".rs", &mut found);
    assert!(found.len() > 200, "found {} files", found.len());
    let mut wide = Vec::new();
    for path in found {
        for (place, line) in read(&path).lines().enumerate() {
            let comment = line.trim_start().strip_prefix("//");
            let text = comment.map(|text| text.trim_start_matches(['/', '!', ' ']));
            if text.is_some_and(|text| !text.starts_with('|')) && line.chars().count() > width {
                wide.push(format!("{}:{}", path.display(), place + 1));
            }
        }
    }
    assert!(wide.is_empty(), "comments wider than {width} columns:\n{}", wide.join("\n"));
}
