//! What `broadcheck export` writes: the cases as YAML and JSON, the sweeps of patterns expanded to cases, the
//! schemas, SEMANTICS.md, the licences, and a manifest with the number of cases and the hash of every file.

use crate::report::plural;
use broadcheck::retype::{asked, dtype_of};
use broadcheck::sweeps::{Expansion, expand_for, is_compact};
use broadcheck_spec::{
    Capabilities, Case, CaseFile, DType, FILES, FORMAT, LICENCES, LoadErrors, SCHEMAS, SEMANTICS, Sweep,
    json, load_str, write,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The number of cases of a sweep per file. A loader reads this many cases of ten operands each, but not four
/// times as many.
const CASES_OF_A_FILE: usize = 256;

/// Identifies a manifest of broadcheck.
const BUNDLE: &str = "broadcheck-cases";

/// The format of case files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(super) enum Format {
    /// One case per line, for any JSON parser
    Json,
    /// The original files, with their comments
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

/// A file of the bundle.
pub(super) struct File {
    /// Its path in the bundle, with `/` between directories.
    pub(super) path: String,
    pub(super) text: String,
    cases: Option<usize>,
}

impl File {
    fn new(path: impl Into<String>, text: impl Into<String>) -> File {
        File { path: path.into(), text: text.into(), cases: None }
    }
}

/// `manifest.json`: what the bundle contains.
#[derive(Serialize, Deserialize)]
pub(super) struct Manifest {
    #[serde(rename = "kit")]
    bundle: String,
    /// The version of broadcheck.
    version: String,
    /// The format of the case files.
    format: u32,
    licence: String,
    /// The number of cases per rule set, and in total.
    cases: BTreeMap<String, usize>,
    /// The number of further cases in expanded sweeps.
    cases_of_sweeps: usize,
    /// The dtypes of the operands, if not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dtypes: Vec<String>,
    /// The number of cases, of those per rule set, that are written in another dtype than the suite has them
    /// in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retyped: Option<usize>,
    /// The number of cases of the suite that are not written, because they need other dtypes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    /// The sweeps that are not expanded, because they compare answers with each other or are too long: id and
    /// number of cases.
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
    /// The name of the file.
    pub(super) const NAME: &str = "manifest.json";

    /// Parses a manifest of broadcheck; `None` for any other text.
    pub(super) fn read(text: &str) -> Option<Manifest> {
        serde_json::from_str(text).ok().filter(|manifest: &Manifest| manifest.bundle == BUNDLE)
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest can be written as JSON") + "\n"
    }

    /// A summary in one line.
    pub(super) fn summary(&self) -> String {
        let cases = plural(self.cases["total"], "case");
        let swept = plural(self.cases_of_sweeps, "case");
        let left = plural(self.sweeps_by_name.len(), "sweep");
        let files = plural(self.files.len() + 1, "file");
        let chosen = match (self.retyped, self.left_out) {
            (Some(retyped), Some(left_out)) => {
                format!(" ({retyped} in another dtype; {left_out} left out)")
            }
            _ => String::new(),
        };
        format!("{files}: {cases}{chosen}, {swept} from sweeps, and {left} by name\n")
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("writing to a string does not fail");
        digits
    })
}

/// The manifest of the bundle and its other files. `dtypes` are those of the operands; if there are none, the
/// whole suite is written as it is.
///
/// # Errors
/// The built-in cases cannot be read.
pub(super) fn bundle(formats: &[Format], dtypes: &[DType]) -> Result<(Manifest, Vec<File>), String> {
    let capabilities =
        (!dtypes.is_empty()).then(|| Capabilities { dtypes: dtypes.to_vec(), ..Capabilities::all() });
    let authored = authored(capabilities.as_ref())?;
    let expanded = expanded(&authored, capabilities.as_ref())?;
    let mut files: Vec<File> = SEMANTICS.iter().map(|&(name, text)| File::new(name, text)).collect();
    files.extend(LICENCES.iter().map(|&(name, text)| File::new(name, text)));
    files.extend(SCHEMAS.iter().map(|&(name, text)| File::new(format!("schema/{name}"), text)));
    for &format in formats {
        files.extend(authored.iter().filter_map(|file| file.written(format)));
        files.extend(expanded.iter().flat_map(|(sweep, cases)| written(sweep, cases, format)));
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((manifest(&authored, &expanded, &files, dtypes), files))
}

/// A case file of the suite, with the cases of it that are written.
struct Authored {
    /// Without the extension.
    name: &'static str,
    /// The original text, if all cases are written as they are.
    text: Option<&'static str>,
    cases: Vec<Written>,
    left_out: usize,
    sweeps: Vec<Sweep>,
}

/// A case to write.
struct Written {
    case: Case,
    /// The dtype of the case in the suite, if that is another one.
    retyped_from: Option<DType>,
}

impl From<Case> for Written {
    fn from(case: Case) -> Written {
        Written { case, retyped_from: None }
    }
}

impl Authored {
    fn new(
        name: &'static str,
        text: &'static str,
        read: CaseFile,
        capabilities: Option<&Capabilities>,
    ) -> Authored {
        let CaseFile { cases, sweeps } = read;
        let Some(capabilities) = capabilities else {
            let cases = cases.into_iter().map(Written::from).collect();
            return Authored { name, text: Some(text), cases, left_out: 0, sweeps };
        };
        // No file has both cases and sweeps.
        let text = cases.is_empty().then_some(text);
        let all = cases.len();
        let cases: Vec<Written> = cases.iter().filter_map(|case| chosen(case, capabilities)).collect();
        Authored { name, text, left_out: all - cases.len(), cases, sweeps }
    }

    /// The file, unless nothing of it is written.
    fn written(&self, format: Format) -> Option<File> {
        if self.cases.is_empty() && self.sweeps.is_empty() {
            return None;
        }
        let text = match (format, self.text) {
            (Format::Yaml, Some(text)) => text.to_owned(),
            (Format::Yaml, None) => yaml_text(&self.cases),
            (Format::Json, _) => json_text(&self.cases, &self.sweeps),
        };
        let path = format!("{0}/{1}.{0}", format.name(), self.name);
        Some(File { cases: Some(self.cases.len()), ..File::new(path, text) })
    }
}

/// The case as an implementation with these capabilities is asked it.
fn chosen(case: &Case, capabilities: &Capabilities) -> Option<Written> {
    let asked = asked(case, capabilities).ok()?;
    let retyped_from = asked.retyped.and(dtype_of(&case.request));
    Some(Written { case: asked.case.into_owned(), retyped_from })
}

fn authored(capabilities: Option<&Capabilities>) -> Result<Vec<Authored>, String> {
    let read = |&(path, text): &(&'static str, &'static str)| -> Result<Authored, LoadErrors> {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".yaml");
        Ok(Authored::new(name, text, load_str(text, path)?, capabilities))
    };
    FILES.iter().map(read).collect::<Result<_, _>>().map_err(|errors| errors.to_string())
}

/// The expanded sweeps with their cases.
fn expanded<'a>(
    authored: &'a [Authored],
    capabilities: Option<&Capabilities>,
) -> Result<Vec<(&'a Sweep, Vec<Written>)>, String> {
    let every = Capabilities::all();
    let capabilities = capabilities.unwrap_or(&every);
    let mut found = Vec::new();
    for sweep in authored.iter().flat_map(|file| &file.sweeps).filter(|sweep| is_compact(sweep)) {
        let expansion = expand_for(sweep, capabilities).map_err(|error| format!("{}: {error}", sweep.id))?;
        if let Expansion::Cases(cases) = expansion {
            let cases = cases.into_iter().filter(|case| capabilities.covers(&case.request).is_ok());
            found.push((sweep, cases.map(Written::from).collect()));
        }
    }
    Ok(found)
}

/// The cases of a sweep, in one file of its name or in several numbered ones.
fn written(sweep: &Sweep, cases: &[Written], format: Format) -> Vec<File> {
    let name = sweep.id.replace('/', "-");
    let one = |(place, part): (usize, &[Written])| {
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

/// Cases of one rule set under one header.
fn yaml_text(cases: &[Written]) -> String {
    const HEAD_ENDS: &str = "cases:\n";
    let mut whole = String::new();
    for Written { case, retyped_from } in cases {
        let mut text = write::case_to_yaml(case);
        if let Some(dtype) = retyped_from {
            writeln!(text, "    retyped_from: {dtype}").expect("writing to a string does not fail");
        }
        let head = text.find(HEAD_ENDS).map_or(0, |place| place + HEAD_ENDS.len());
        whole += if whole.is_empty() { &text } else { &text[head..] };
    }
    whole
}

/// One case per line, so that line-based tools can compare versions.
fn json_text(cases: &[Written], sweeps: &[Sweep]) -> String {
    let value = |written: &Written| {
        let mut value = json::case_to_json(&written.case);
        if let Some(dtype) = written.retyped_from {
            value["retyped_from"] = dtype.name().into();
        }
        value
    };
    let cases: Vec<Value> = cases.iter().map(value).collect();
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

fn manifest(
    authored: &[Authored],
    expanded: &[(&Sweep, Vec<Written>)],
    files: &[File],
    dtypes: &[DType],
) -> Manifest {
    let mut cases = BTreeMap::from([("total".to_owned(), 0)]);
    let written = || authored.iter().flat_map(|file| &file.cases);
    for Written { case, .. } in written() {
        *cases.entry(case.request.rules().set().to_string()).or_insert(0) += 1;
        *cases.entry("total".to_owned()).or_insert(0) += 1;
    }
    let is_expanded = |sweep: &&Sweep| expanded.iter().any(|(known, _)| known.id == sweep.id);
    let sweeps = authored.iter().flat_map(|file| &file.sweeps);
    let by_name = sweeps.filter(|sweep| !is_expanded(sweep));
    let entry = |file: &File| Entry { path: file.path.clone(), sha256: hash(&file.text), cases: file.cases };
    Manifest {
        bundle: BUNDLE.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        format: FORMAT,
        licence: env!("CARGO_PKG_LICENSE").into(),
        cases,
        dtypes: dtypes.iter().map(ToString::to_string).collect(),
        retyped: (!dtypes.is_empty()).then(|| written().filter(|case| case.retyped_from.is_some()).count()),
        left_out: (!dtypes.is_empty()).then(|| authored.iter().map(|file| file.left_out).sum()),
        cases_of_sweeps: expanded.iter().map(|(_, cases)| cases.len()).sum(),
        sweeps_by_name: by_name.map(|sweep| (sweep.id.clone(), sweep.expected_cases)).collect(),
        files: files.iter().map(entry).collect(),
    }
}
