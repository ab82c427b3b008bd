//! What `broadcheck export` writes: the cases as YAML and as JSON, the sweeps of patterns as cases, the
//! schemas, the clauses, the licences, and a manifest with the number of cases and the hash of every file.

use crate::report::plural;
use broadcheck::sweeps::{Expansion, expand, is_compact};
use broadcheck_spec::{
    Case, CaseFile, FILES, FORMAT, LICENCES, LoadErrors, SCHEMAS, SEMANTICS, Sweep, json, load_str, write,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many cases of a sweep stand in a file: a reader takes so many of ten operands each, and not four times as many.
const CASES_OF_A_FILE: usize = 256;

/// Says that a manifest is one of ours.
const KIT: &str = "broadcheck-cases";

/// In which language case files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(super) enum Format {
    /// One case a line, for any JSON reader
    Json,
    /// As the cases were written, with their comments
    Yaml,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Yaml => "yaml",
        }
    }
}

/// A file of the kit.
pub(super) struct File {
    /// Where it stands, with `/` between directories.
    pub(super) path: String,
    pub(super) text: String,
    cases: Option<usize>,
}

impl File {
    fn new(path: impl Into<String>, text: impl Into<String>) -> File {
        File { path: path.into(), text: text.into(), cases: None }
    }
}

/// `manifest.json`: what is in the kit.
#[derive(Serialize, Deserialize)]
pub(super) struct Manifest {
    kit: String,
    /// The version of broadcheck.
    version: String,
    /// The format of the case files.
    format: u32,
    licence: String,
    /// How many cases, under each rule set and in all.
    cases: BTreeMap<String, usize>,
    /// How many more the sweeps expand to that are written out.
    cases_of_sweeps: usize,
    /// The sweeps that are not: id and number of cases. They compare answers with each other, or are too long.
    sweeps_by_name: BTreeMap<String, u64>,
    pub(super) files: Vec<Entry>,
}

/// A file in the manifest.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<usize>,
}

impl Manifest {
    /// The name of its file.
    pub(super) const NAME: &str = "manifest.json";

    /// A manifest that was written here; `None` of any other text.
    pub(super) fn read(text: &str) -> Option<Manifest> {
        serde_json::from_str(text).ok().filter(|manifest: &Manifest| manifest.kit == KIT)
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest can be written as JSON") + "\n"
    }

    /// What a person wants to know of it.
    pub(super) fn summary(&self) -> String {
        let cases = plural(self.cases["total"], "case");
        let swept = plural(self.cases_of_sweeps, "case");
        let left = plural(self.sweeps_by_name.len(), "sweep");
        let files = plural(self.files.len() + 1, "file");
        format!("{files}: {cases}, {swept} of sweeps, and {left} by name\n")
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("writing to a string does not fail");
        digits
    })
}

/// The files of the kit, its manifest apart.
///
/// # Errors
/// What is wrong in the cases that are built in.
pub(super) fn kit(formats: &[Format]) -> Result<(Manifest, Vec<File>), String> {
    let authored = authored()?;
    let expanded = expanded(&authored)?;
    let mut files: Vec<File> = SEMANTICS.iter().map(|&(name, text)| File::new(name, text)).collect();
    files.extend(LICENCES.iter().map(|&(name, text)| File::new(name, text)));
    files.extend(SCHEMAS.iter().map(|&(name, text)| File::new(format!("schema/{name}"), text)));
    for &format in formats {
        files.extend(authored.iter().map(|file| file.written(format)));
        files.extend(expanded.iter().flat_map(|(sweep, cases)| written(sweep, cases, format)));
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((manifest(&authored, &expanded, &files), files))
}

/// A case file as it was written.
struct Authored {
    /// Without its ending.
    name: &'static str,
    text: &'static str,
    read: CaseFile,
}

impl Authored {
    fn written(&self, format: Format) -> File {
        let text = match format {
            Format::Yaml => self.text.to_owned(),
            Format::Json => json_text(&self.read.cases, &self.read.sweeps),
        };
        let path = format!("{0}/{1}.{0}", format.name(), self.name);
        File { cases: Some(self.read.cases.len()), ..File::new(path, text) }
    }
}

fn authored() -> Result<Vec<Authored>, String> {
    let read = |&(path, text): &(&'static str, &'static str)| -> Result<Authored, LoadErrors> {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".yaml");
        Ok(Authored { name, text, read: load_str(text, path)? })
    };
    FILES.iter().map(read).collect::<Result<_, _>>().map_err(|errors| errors.to_string())
}

/// The sweeps that are written out, with their cases.
fn expanded(authored: &[Authored]) -> Result<Vec<(&Sweep, Vec<Case>)>, String> {
    let mut found = Vec::new();
    for sweep in authored.iter().flat_map(|file| &file.read.sweeps).filter(|sweep| is_compact(sweep)) {
        let expansion = expand(sweep).map_err(|error| format!("{}: {error}", sweep.id))?;
        if let Expansion::Cases(cases) = expansion {
            found.push((sweep, cases));
        }
    }
    Ok(found)
}

/// The cases of a sweep, in a file of its name or in several that are numbered.
fn written(sweep: &Sweep, cases: &[Case], format: Format) -> Vec<File> {
    let name = sweep.id.replace('/', "-");
    let one = |(place, part): (usize, &[Case])| {
        let text = match format {
            Format::Yaml => yaml_text(part),
            Format::Json => json_text(part, &[]),
        };
        let number = if part.len() == cases.len() { String::new() } else { format!("-{}", place + 1) };
        let path = format!("{0}/sweeps/{name}{number}.{0}", format.name());
        File { cases: Some(part.len()), ..File::new(path, text) }
    };
    cases.chunks(CASES_OF_A_FILE).enumerate().map(one).collect()
}

/// Cases of one rule set under one head.
fn yaml_text(cases: &[Case]) -> String {
    const HEAD_ENDS: &str = "cases:\n";
    let mut whole = String::new();
    for case in cases {
        let text = write::case_to_yaml(case);
        let head = text.find(HEAD_ENDS).map_or(0, |place| place + HEAD_ENDS.len());
        whole += if whole.is_empty() { &text } else { &text[head..] };
    }
    whole
}

/// One case a line, so that two versions can be compared.
fn json_text(cases: &[Case], sweeps: &[Sweep]) -> String {
    let cases: Vec<Value> = cases.iter().map(json::case_to_json).collect();
    let sweeps: Vec<Value> = sweeps.iter().map(json::sweep_to_json).collect();
    let mut text = format!("{{\"format\": {FORMAT}");
    for (name, items) in [("cases", cases), ("sweeps", sweeps)] {
        if items.is_empty() {
            continue;
        }
        let lines: Vec<String> = items.iter().map(Value::to_string).collect();
        write!(text, ", \"{name}\": [\n{}\n]", lines.join(",\n")).expect("writing to a string does not fail");
    }
    text + "}\n"
}

fn manifest(authored: &[Authored], expanded: &[(&Sweep, Vec<Case>)], files: &[File]) -> Manifest {
    let mut cases = BTreeMap::new();
    for case in authored.iter().flat_map(|file| &file.read.cases) {
        *cases.entry(case.request.rules().set().to_string()).or_insert(0) += 1;
        *cases.entry("total".to_owned()).or_insert(0) += 1;
    }
    let is_expanded = |sweep: &&Sweep| expanded.iter().any(|(known, _)| known.id == sweep.id);
    let sweeps = authored.iter().flat_map(|file| &file.read.sweeps);
    let by_name = sweeps.filter(|sweep| !is_expanded(sweep));
    let entry = |file: &File| Entry { path: file.path.clone(), sha256: hash(&file.text), cases: file.cases };
    Manifest {
        kit: KIT.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        format: FORMAT,
        licence: env!("CARGO_PKG_LICENSE").into(),
        cases,
        cases_of_sweeps: expanded.iter().map(|(_, cases)| cases.len()).sum(),
        sweeps_by_name: by_name.map(|sweep| (sweep.id.clone(), sweep.expected_cases)).collect(),
        files: files.iter().map(entry).collect(),
    }
}
