//! `manifest.json`: what the kit contains, where it came from, and the hash of every file.
//! `schema/manifest.schema.json` describes it.

use super::choice::Recorded;
use super::identity::{Identities, hash};
use crate::report::plural;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// The largest manifest that is read, in bytes. That of the whole suite has less than 1 MB.
const MAX_BYTES: usize = 1 << 24;

/// Identifies a manifest of broadcheck.
const KIT: &str = "broadcheck-cases";

/// A file of the kit.
#[derive(Clone)]
pub(in super::super) struct File {
    /// Its path in the kit, with `/` between directories.
    pub(in super::super) path: String,
    pub(super) content: Vec<u8>,
    pub(super) sha256: String,
    cases: Option<usize>,
}

impl File {
    pub(in super::super) fn new(path: impl Into<String>, content: impl Into<Vec<u8>>) -> File {
        let content = content.into();
        File { path: path.into(), sha256: hash(&content), content, cases: None }
    }

    pub(super) fn of_cases(path: String, text: String, cases: usize) -> File {
        File { cases: Some(cases), ..File::new(path, text) }
    }

    pub(in super::super) fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    pub(in super::super) fn entry(&self) -> Entry {
        Entry { path: self.path.clone(), sha256: self.sha256.clone(), cases: self.cases }
    }
}

/// The manifest. Fields without which kits of the first format were written have defaults.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct Manifest {
    kit: String,
    /// The version of the suite.
    pub(in super::super) version: String,
    /// The format of the case files.
    pub(super) format: u32,
    /// The commit of the source; `unknown` if that was not a checkout.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(in super::super) commit: String,
    pub(super) licence: String,
    /// The number of cases per rule set, and in total, without those of sweeps.
    pub(super) cases: BTreeMap<String, usize>,
    /// The same number of cases by kind: required, optional, extreme and into.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) kinds: BTreeMap<String, usize>,
    /// The number of further cases of the operation `infer`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) cases_of_infer: usize,
    /// The number of further cases in expanded sweeps.
    pub(in super::super) cases_of_sweeps: usize,
    /// The options that made the selection, if not the defaults.
    #[serde(default)]
    pub(in super::super) selection: Recorded,
    /// The dtypes of the operands, if not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) dtypes: Vec<String>,
    /// The number of cases that are written in another dtype than the suite has them in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) retyped: Option<usize>,
    /// The number of cases of the suite that are not written.
    #[serde(default)]
    pub(super) left_out: usize,
    /// The same number by the first option that leaves a case out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) left_out_by: BTreeMap<String, usize>,
    /// The expanded sweeps that are not written because of `--no-sweeps` or `--max-bytes`: id and number of
    /// cases.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) sweeps_left_out: BTreeMap<String, usize>,
    /// The sweeps that are not expanded, because they compare answers with each other or are too long: id and
    /// number of cases.
    #[serde(default)]
    pub(super) sweeps_by_name: BTreeMap<String, u64>,
    /// Every case, and every expanded sweep as a whole.
    #[serde(default, skip_serializing_if = "Identities::is_empty")]
    pub(in super::super) ids: Identities,
    pub(in super::super) files: Vec<Entry>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A file in the manifest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Entry {
    pub(in super::super) path: String,
    pub(in super::super) sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cases: Option<usize>,
}

impl Entry {
    /// Whether the file still has this content.
    pub(in super::super) fn is_unchanged(&self, content: &[u8]) -> bool {
        hash(content) == self.sha256
    }

    /// Whether the path stays below the directory that it is joined to, and is its only spelling: a manifest
    /// may come from anywhere, and `a/./b` would name the file `a/b` again.
    pub(in super::super) fn is_inside(&self) -> bool {
        let mut parts = Path::new(&self.path).components();
        !self.path.is_empty()
            && parts.all(|part| matches!(part, Component::Normal(_)))
            && self.path.split('/').all(|part| !part.is_empty() && part != ".")
    }
}

impl Manifest {
    /// The name of the file.
    pub(in super::super) const NAME: &str = "manifest.json";

    pub(super) fn new(version: &str, commit: &str) -> Manifest {
        Manifest {
            kit: KIT.into(),
            version: version.into(),
            format: broadcheck_spec::FORMAT,
            commit: commit.into(),
            licence: env!("CARGO_PKG_LICENSE").into(),
            cases: BTreeMap::from([("total".into(), 0)]),
            kinds: BTreeMap::new(),
            cases_of_infer: 0,
            cases_of_sweeps: 0,
            selection: Recorded::default(),
            dtypes: Vec::new(),
            retyped: None,
            left_out: 0,
            left_out_by: BTreeMap::new(),
            sweeps_left_out: BTreeMap::new(),
            sweeps_by_name: BTreeMap::new(),
            ids: Identities::new(),
            files: Vec::new(),
        }
    }

    /// Parses a manifest of broadcheck; `None` for any other content, for one that is too large, and for one
    /// that lists a file twice, which would be read as often.
    pub(in super::super) fn read(content: &[u8]) -> Option<Manifest> {
        if content.len() > MAX_BYTES {
            return None;
        }
        let manifest: Manifest = serde_json::from_slice(content).ok()?;
        let paths: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        let unique = paths.len() == manifest.files.len();
        (manifest.kit == KIT && unique).then_some(manifest)
    }

    /// The content of the file. Ids and files take one line each, so that line-based tools can compare
    /// versions.
    pub(super) fn text(&self) -> String {
        let whole = serde_json::to_value(self).expect("a manifest can be written as JSON");
        let fields = whole.as_object().into_iter().flatten();
        let line =
            |(name, value): (&String, &Value)| format!("  {}: {}", quoted(name), indented(name, value));
        format!("{{\n{}\n}}\n", fields.map(line).collect::<Vec<_>>().join(",\n"))
    }

    /// The version and, if known, the commit: `0.2.0 (4d8b457)`.
    pub(in super::super) fn version_and_commit(&self) -> String {
        let is_hash = self.commit.len() >= 12 && self.commit.bytes().all(|digit| digit.is_ascii_hexdigit());
        if is_hash { format!("{} ({})", self.version, &self.commit[..12]) } else { self.version.clone() }
    }

    pub(in super::super) fn total(&self) -> usize {
        self.cases.get("total").copied().unwrap_or(0)
    }

    /// A summary of one or two lines.
    pub(super) fn summary(&self, bytes: u64) -> String {
        let files = plural(self.files.len() + 1, "file");
        let cases = plural(self.total(), "case");
        let kinds: Vec<String> = self.kinds.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let swept = plural(self.cases_of_sweeps, "case");
        let inferred = match self.cases_of_infer {
            0 => String::new(),
            count => format!(" {} of infer,", plural(count, "case")),
        };
        let by_name = plural(self.sweeps_by_name.len(), "sweep");
        let mut text = format!(
            "{files}, {bytes} bytes: {cases} ({}),{inferred} {swept} from sweeps, and {by_name} by name\n",
            kinds.join(", ")
        );
        if let Some(retyped) = self.retyped {
            text += &format!("in another dtype: {}\n", plural(retyped, "case"));
        }
        if self.left_out > 0 {
            let by: Vec<String> =
                self.left_out_by.iter().map(|(option, count)| format!("{count} by --{option}")).collect();
            text += &format!("left out: {} ({})\n", plural(self.left_out, "case"), by.join(", "));
        }
        if !self.sweeps_left_out.is_empty() {
            let cases: usize = self.sweeps_left_out.values().sum();
            let sweeps = plural(self.sweeps_left_out.len(), "sweep");
            text += &format!("left out: {sweeps} with {}\n", plural(cases, "case"));
        }
        text
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A field of the manifest: `ids` and `files` with one entry per line, everything else with one item per
/// line.
fn indented(name: &str, value: &Value) -> String {
    let (open, close, items): (char, char, Vec<String>) = match value {
        Value::Array(items) if name == "files" => ('[', ']', items.iter().map(Value::to_string).collect()),
        Value::Object(fields) if !fields.is_empty() => {
            ('{', '}', fields.iter().map(|(name, value)| format!("{}: {value}", quoted(name))).collect())
        }
        other => return other.to_string(),
    };
    let lines: Vec<String> = items.into_iter().map(|item| format!("    {item}")).collect();
    format!("{open}\n{}\n  {close}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A manifest that lists these paths.
    fn listing(paths: &[&str]) -> Option<Manifest> {
        let entry = |path: &&str| Entry { path: (*path).to_owned(), ..Entry::default() };
        let manifest = Manifest { files: paths.iter().map(entry).collect(), ..Manifest::new("1", "unknown") };
        Manifest::read(manifest.text().as_bytes())
    }

    #[test]
    fn a_file_is_listed_once_and_in_one_spelling() {
        assert!(listing(&["json/a", "json/b"]).is_some());
        assert!(listing(&["json/a", "json/b", "json/a"]).is_none());
        for path in ["json/./a", "./a", "json//a", "a/", "/a", "../a", "json/../a", ".", ""] {
            let manifest = listing(&[path]).unwrap();
            assert!(!manifest.files[0].is_inside(), "{path}");
        }
        assert!(listing(&[".a"]).unwrap().files[0].is_inside());
    }

    #[test]
    fn a_manifest_is_not_larger_than_its_limit() {
        let mut text = listing(&["a"]).unwrap().text();
        text += &" ".repeat(MAX_BYTES - text.len());
        assert!(Manifest::read(text.as_bytes()).is_some());
        assert!(Manifest::read((text + " ").as_bytes()).is_none());
    }
}
