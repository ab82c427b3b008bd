//! Loads case files, from a path or a text: returns cases and sweeps, or all errors.

use crate::convert::Reader;
use crate::error::{LoadError, LoadErrors};
use crate::lint::{Syntax, message};
use crate::masked::Masked;
use crate::parallel::over_ranges;
use crate::signature::INFER;
use crate::tree::{self, Kind, Node, Parsed, Place};
use crate::{Case, InferenceCase, RuleSet, Sweep};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The required value of a case file's field `format`.
pub const FORMAT: u32 = 1;

/// The largest case file, in bytes. Larger ones are rejected without reading them.
pub const MAX_FILE_BYTES: u64 = 8 << 20;

/// The contents of case files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseFile {
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
    /// The cases of the operation `infer`, in the order of the file.
    pub inferences: Vec<InferenceCase>,
    /// The sweeps, in the order of the file.
    pub sweeps: Vec<Sweep>,
}

/// Loads the text of a case file. If `file_name` ends in `.json`, the text is read as JSON.
///
/// # Errors
/// All errors in it.
pub fn load_str(text: &str, file_name: &str) -> Result<CaseFile, LoadErrors> {
    let json =
        Path::new(file_name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let syntax = if json { Syntax::Json } else { Syntax::Yaml };
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large(file_name, text.len() as u64));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = match syntax {
        Syntax::Yaml => tree::parse(text),
        Syntax::Json => tree::parse_json(&strict_json(text, file_name)?),
    };
    Loader::new(file_name).load(parsed)
}

/// Checks that a text is JSON. It is then parsed as YAML, which gives the positions of its values.
fn strict_json(text: &str, file_name: &str) -> Result<Masked, LoadErrors> {
    let error = |error: &serde_json::Error, line: usize, column: usize| {
        let text = error.to_string();
        let found = text.split(" at line ").next().unwrap_or(&text);
        LoadErrors::one(LoadError {
            line: Some(line),
            column: Some(column),
            ..nowhere(file_name, &format!("a syntax error ({found})"), "JSON")
        })
    };
    if !text.trim().is_empty() {
        serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map_err(|found| error(&found, found.line(), found.column()))?;
    }
    Masked::new(text).map_err(|(found, line, column)| error(&found, line, column))
}

/// Loads a case file, or all case files below a directory: `*.yaml`, `*.yml` and `*.json`, sorted by path.
///
/// # Errors
/// All errors in any of the files; a directory without case files; a path that is neither a directory nor a
/// regular file.
pub fn load_path(path: &Path) -> Result<CaseFile, LoadErrors> {
    let name = path.display().to_string();
    let metadata = fs::metadata(path).map_err(|error| unreadable(&name, &error))?;
    if !metadata.is_dir() {
        return load_file(path);
    }
    let files = case_files(path)?;
    if files.is_empty() {
        return Err(whole(&name, "a directory without case files", "at least one *.yaml, *.yml or *.json"));
    }
    gather(&files, |file| load_file(file))
}

/// The contents of several files together, or all their errors. An id that occurs in two files is an error.
///
/// The files are read by several threads, because the suite is read whenever the command starts.
pub(crate) fn gather<F: Sync>(
    files: &[F],
    load: impl Fn(&F) -> Result<CaseFile, LoadErrors> + Sync,
) -> Result<CaseFile, LoadErrors> {
    let loaded = over_ranges(files.len(), 1, |part| files[part].iter().map(&load).collect::<Vec<_>>());
    let mut all = CaseFile::default();
    let mut errors: Option<LoadErrors> = None;
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut complain = |new: LoadErrors| match &mut errors {
        Some(errors) => errors.extend(new),
        None => errors = Some(new),
    };
    for file in loaded.into_iter().flatten() {
        match file {
            Ok(file) => {
                let cases = file.cases.iter().map(|case| (&case.id, &case.location));
                let inferences = file.inferences.iter().map(|case| (&case.id, &case.location));
                let sweeps = file.sweeps.iter().map(|sweep| (&sweep.id, &sweep.location));
                for (id, location) in cases.chain(inferences).chain(sweeps) {
                    if let Some(first) = seen.insert(id.clone(), location.to_string()) {
                        complain(LoadErrors::one(LoadError {
                            file: location.file.clone(),
                            line: Some(location.line),
                            column: None,
                            case: Some(id.clone()),
                            field: "id".into(),
                            finding: format!("a duplicate id (first at {first})"),
                            expectation: "an id that is unique across all files".into(),
                        }));
                    }
                }
                all.cases.extend(file.cases);
                all.inferences.extend(file.inferences);
                all.sweeps.extend(file.sweeps);
            }
            Err(new) => complain(new),
        }
    }
    errors.map_or(Ok(all), Err)
}

/// The case files below a directory, sorted. Does not follow links to directories: they may form a cycle.
fn case_files(directory: &Path) -> Result<Vec<PathBuf>, LoadErrors> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let unreadable = |error: std::io::Error| unreadable(&directory.display().to_string(), &error);
        for entry in fs::read_dir(&directory).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            if entry.file_type().map_err(unreadable)?.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end == *known))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Loads one file, reading at most one byte beyond the limit.
fn load_file(path: &Path) -> Result<CaseFile, LoadErrors> {
    let name = path.display().to_string();
    let metadata = fs::metadata(path).map_err(|error| unreadable(&name, &error))?;
    if metadata.is_dir() {
        return Err(whole(&name, "a directory", "a file"));
    }
    if !metadata.is_file() {
        return Err(whole(&name, "a device, a pipe or a socket", "a regular file"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(too_large(&name, metadata.len()));
    }
    // Some files report a length of 0 but are not empty, and reading one may block forever.
    if metadata.len() == 0 {
        return Err(whole(&name, EMPTY.0, EMPTY.1));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    // The file may grow while it is read.
    // mutant: replace + with *: only a file that grows while it is read has more bytes
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&name, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large(&name, bytes.len() as u64));
    }
    match String::from_utf8(bytes) {
        Ok(text) => load_str(&text, &name),
        Err(error) => {
            let place = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..place];
            let line = String::from_utf8_lossy(before).matches('\n').count() + 1;
            let found = format!("the byte 0x{:02x}", error.as_bytes()[place]);
            let at = LoadError { line: Some(line), ..nowhere(&name, &found, "UTF-8") };
            Err(LoadErrors::one(at))
        }
    }
}

/// The error for a file without content.
const EMPTY: (&str, &str) = ("an empty file", "a case file: `format: 1`, `cases:`");

fn nowhere(file: &str, found: &str, expected: &str) -> LoadError {
    LoadError {
        file: file.into(),
        line: None,
        column: None,
        case: None,
        field: String::new(),
        finding: found.into(),
        expectation: expected.into(),
    }
}

fn whole(file: &str, found: &str, expected: &str) -> LoadErrors {
    LoadErrors::one(nowhere(file, found, expected))
}

fn unreadable(file: &str, error: &std::io::Error) -> LoadErrors {
    whole(file, &format!("no readable file ({error})"), "a case file")
}

pub(crate) fn too_large(file: &str, bytes: u64) -> LoadErrors {
    whole(
        file,
        &format!("{bytes} bytes or more"),
        &format!("at most {MAX_FILE_BYTES}: a larger file is not read"),
    )
}

/// A file that is being loaded.
struct Loader<'a> {
    file: &'a str,
    errors: Vec<LoadError>,
    more: usize,
    loaded: CaseFile,
}

impl<'a> Loader<'a> {
    fn new(file: &'a str) -> Loader<'a> {
        Loader { file, errors: Vec::new(), more: 0, loaded: CaseFile::default() }
    }

    fn error(
        &mut self,
        place: Place,
        field: &str,
        finding: impl Into<String>,
        expectation: impl Into<String>,
    ) {
        self.errors.push(LoadError {
            line: Some(place.line as usize),
            column: Some(place.column as usize),
            field: message(field),
            ..nowhere(self.file, &message(&finding.into()), &message(&expectation.into()))
        });
    }

    fn load(mut self, parsed: Parsed) -> Result<CaseFile, LoadErrors> {
        self.more = parsed.more;
        let mut spoilt = Vec::new();
        for error in parsed.errors {
            let (item, field) = split(&error.path);
            self.error(error.place, field, error.finding.found, error.finding.expected);
            let id =
                parsed.root.as_ref().and_then(|root| item_of(root, item)).and_then(|node| node.get("id"));
            if let (Some(id), Some(error)) = (id.and_then(Node::text), self.errors.last_mut()) {
                error.case = Some(crate::lint::shortened(id));
            }
            spoilt.push(item.to_owned());
        }
        match &parsed.root {
            // The parser stopped early: what it did not read must not be reported as missing.
            _ if parsed.stopped => {}
            None => {
                self.errors.push(nowhere(self.file, EMPTY.0, EMPTY.1));
            }
            Some(root) => self.file(root, &spoilt),
        }
        if self.errors.is_empty() && self.more == 0 {
            return Ok(self.loaded);
        }
        self.errors.sort_by_key(|error| (error.line, error.column));
        Err(LoadErrors::new(self.errors, self.more))
    }

    fn file(&mut self, root: &Node, spoilt: &[String]) {
        let Kind::Map(entries) = &root.kind else {
            return self.error(
                root.place,
                "",
                "a value that is not a mapping",
                "a case file: `format: 1`, `cases:`",
            );
        };
        for (key, _) in entries {
            if !["format", "rules", "cases", "sweeps"].contains(&&*key.name) {
                let found = format!("the field `{}`", crate::lint::shortened(&key.name));
                self.error(key.place, "", found, "`format`, `rules`, `cases` or `sweeps`");
            }
        }
        if !self.format(root) {
            return;
        }
        let rules = self.rules(root);
        if rules.is_none() && root.get("rules").is_some() {
            return; // Otherwise every case would report it as missing.
        }
        if root.get("cases").is_none() && root.get("sweeps").is_none() {
            self.error(root.place, "", "neither `cases` nor `sweeps`", "at least one of them");
        }
        let mut seen: HashMap<String, Place> = HashMap::new();
        for list in ["cases", "sweeps"] {
            let Some(node) = root.get(list) else { continue };
            let Kind::List(items) = &node.kind else {
                self.error(node.place, list, "a value that is not a list", format!("a list of {list}"));
                continue;
            };
            if items.is_empty() {
                self.error(node.place, list, "an empty list", "at least one");
            }
            for (place, item) in items.iter().enumerate() {
                self.unique(item, &mut seen);
                if !spoilt.contains(&format!("{list}[{place}]")) {
                    self.item(list, item, rules);
                }
            }
        }
    }

    fn format(&mut self, root: &Node) -> bool {
        match root.get("format").map(|node| (node, &node.kind)) {
            Some((_, Kind::Int(1))) => return true,
            Some((node, Kind::Int(other))) => {
                self.error(
                    node.place,
                    "format",
                    other.to_string(),
                    "1, the only format that this version reads",
                );
            }
            Some((node, _)) => {
                self.error(node.place, "format", "a value that is not a number", "`format: 1`");
            }
            None => self.error(root.place, "", "no field `format`", "`format: 1`"),
        }
        false
    }

    fn rules(&mut self, root: &Node) -> Option<RuleSet> {
        let node = root.get("rules")?;
        let rules = node.text().and_then(|name| name.parse().ok());
        if rules.is_none() {
            let found = node.text().map_or("a value that is not a name".into(), |name| {
                format!("`{}`", crate::lint::shortened(name))
            });
            let expected = format!("one of {}", RuleSet::ALL.map(RuleSet::name).join(" "));
            self.error(node.place, "rules", found, expected);
        }
        rules
    }

    fn unique(&mut self, item: &Node, seen: &mut HashMap<String, Place>) {
        let Some(id) = item.get("id") else { return };
        let Some(text) = id.text() else { return };
        if let Some(first) = seen.get(text) {
            let found = format!("a duplicate id (first on line {})", first.line);
            self.error(id.place, "id", found, "a unique id");
            if let Some(error) = self.errors.last_mut() {
                error.case = Some(crate::lint::shortened(text));
            }
        } else {
            seen.insert(text.to_owned(), id.place);
        }
    }

    fn item(&mut self, list: &str, item: &Node, rules: Option<RuleSet>) {
        let mut reader = Reader::new(self.file, item);
        if list == "sweeps" {
            self.loaded.sweeps.extend(reader.sweep());
        } else if item.get("operation").and_then(Node::text) == Some(INFER) {
            self.loaded.inferences.extend(reader.inference(rules));
        } else {
            self.loaded.cases.extend(reader.case(rules));
        }
        let room = (2 * LoadErrors::MAX_PER_FILE).saturating_sub(self.errors.len());
        self.more += reader.errors.len().saturating_sub(room);
        self.errors.extend(reader.errors.into_iter().take(room));
    }
}

/// Splits a path from the root into the item's path and the field within it: `cases[3]` and
/// `operands[0].values`.
fn split(path: &str) -> (&str, &str) {
    let item = ["cases[", "sweeps["].iter().any(|start| path.starts_with(start));
    match path.find(']') {
        Some(end) if item => (&path[..=end], path[end + 1..].trim_start_matches('.')),
        _ => ("", path),
    }
}

fn item_of<'a>(root: &'a Node, item: &str) -> Option<&'a Node> {
    let (list, place) = item.strip_suffix(']')?.split_once('[')?;
    match &root.get(list)?.kind {
        Kind::List(items) => items.get(place.parse::<usize>().ok()?),
        _ => None,
    }
}
