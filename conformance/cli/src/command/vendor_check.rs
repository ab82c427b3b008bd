//! `broadcheck vendor-check`: whether a copy of a kit is complete and unmodified, and how far it is behind.
//! `schema/vendor-check.schema.json` describes its JSON.

use super::export::changes::Changes;
use super::export::choice::shell;
use super::export::manifest::Manifest;
use super::export::place::Place;
use super::export::read::Kit;
use super::export::{current, install};
use super::{Ended, Error, FAILED, PASSED, print_and_end, print_visible_and_end};
use crate::report::clean::visible_in_json;
use crate::report::plural;
use broadcheck_spec::releases;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The number of ids that the text lists per kind of change.
const LISTED: usize = 20;

/// Check a copy of an export: is it complete, unmodified, and up to date?
///
/// DIR is a directory written by `export`, for example one that is kept in another repository. Every file of
/// its manifest must be there with the same SHA-256, and `json` and `yaml` must have no other files, because
/// a program would read them, too. Then the ids are compared with what this command would export with the
/// same selection. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck vendor-check tests/data/broadcasting/
  broadcheck vendor-check --latest tests/data/broadcasting/
  broadcheck vendor-check --format json tests/data/broadcasting/

Exit status: 0 the copy is complete and unmodified, up to date or not; 1 it is modified or incomplete, or, with --latest, \
not up to date; 2 it cannot be read.")]
pub(super) struct Args {
    /// Directory of the kit
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Fail also if the copy is not up to date with this command
    #[arg(long)]
    latest: bool,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// JSON for programs, described by conformance/schema/vendor-check.schema.json
    Json,
}

pub(super) fn run(args: &Args) -> Ended {
    let place = Place::open(&args.directory)?;
    let manifest = manifest(&place)?;
    let problems = problems(&place, &manifest)?;
    let age = age(&place, &manifest, !problems.is_empty())?;
    let is_latest = matches!(age, Age::Latest(_));
    let checked = Checked { directory: args.directory.display().to_string(), manifest, problems, age };
    let failed = !checked.problems.is_empty() || (args.latest && !is_latest);
    let status = if failed { FAILED } else { PASSED };
    match args.format {
        Format::Text => print_visible_and_end(&checked.text(), status),
        Format::Json => print_and_end(&visible_in_json(&checked.json()), status),
    }
}

/// A kit, and what was found.
struct Checked {
    directory: String,
    manifest: Manifest,
    problems: Vec<Problem>,
    age: Age,
}

/// Something that is missing, modified or should not be there.
#[derive(Serialize)]
struct Problem {
    problem: ProblemKind,
    path: String,
    /// For people, with the path.
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ProblemKind {
    Interrupted,
    Modified,
    Missing,
    Unreadable,
    Foreign,
}

impl Problem {
    fn new(problem: ProblemKind, path: &str, found: &str) -> Problem {
        Problem { problem, path: path.to_owned(), message: format!("{path}: {found}") }
    }
}

/// How a copy compares with what this command exports.
enum Age {
    /// It was not compared, for this reason.
    Unknown(String),
    /// It is up to date with this version and commit of the command.
    Latest(String),
    /// What the version and commit of the command has changed.
    Behind(String, Changes),
}

impl Checked {
    /// The number of files with the manifest itself.
    fn files(&self) -> usize {
        self.manifest.files.len() + 1
    }

    /// The command that repairs or updates the copy, if there is a reason to.
    fn update(&self) -> Option<String> {
        if self.problems.is_empty() && matches!(self.age, Age::Latest(_)) {
            return None;
        }
        let options = self.manifest.selection.options();
        let space = if options.is_empty() { "" } else { " " };
        Some(format!("broadcheck export{space}{options} --out {}", shell(&self.directory)))
    }

    fn text(&self) -> String {
        let (name, version) = (&self.directory, self.manifest.version_and_commit());
        let mut text = if self.problems.is_empty() {
            let files = plural(self.files(), "file");
            format!("{name}: version {version}: complete and unmodified ({files})\n")
        } else {
            let lines: String =
                self.problems.iter().map(|problem| format!("  {}\n", problem.message)).collect();
            format!("{name}: version {version}: {}\n{lines}", plural(self.problems.len(), "problem"))
        };
        text += &self.age.text();
        if let Some(update) = self.update() {
            let _ = writeln!(text, "to repair or update it: {update}");
        }
        text
    }

    fn json(&self) -> String {
        let (up_to_date, not_compared, changes) = match &self.age {
            Age::Unknown(why) => (None, Some(why.as_str()), None),
            Age::Latest(_) => (Some(true), None, None),
            Age::Behind(_, changes) => (Some(false), None, Some(changes)),
        };
        let document = Document {
            version: &self.manifest.version,
            commit: &self.manifest.commit,
            files: self.files(),
            intact: self.problems.is_empty(),
            problems: &self.problems,
            latest: releases::VERSION,
            up_to_date,
            not_compared,
            changes,
            update: self.update(),
        };
        serde_json::to_string_pretty(&document).expect("texts can be written as JSON") + "\n"
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    commit: &'a str,
    files: usize,
    intact: bool,
    problems: &'a [Problem],
    /// The version of this command.
    latest: &'a str,
    up_to_date: Option<bool>,
    not_compared: Option<&'a str>,
    changes: Option<&'a Changes>,
    update: Option<String>,
}

impl Age {
    fn text(&self) -> String {
        let (this, changes) = match self {
            Age::Unknown(why) => {
                return format!("not compared with this command ({}): {why}\n", releases::VERSION);
            }
            Age::Latest(this) => return format!("up to date with this command: {this}\n"),
            Age::Behind(this, changes) => (this, changes),
        };
        let mut text = format!("behind this command, which has {this}: {}\n", changes.summary());
        for (_, heading, ids) in changes.by_kind() {
            if ids.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{heading}");
            for id in ids.iter().take(LISTED) {
                let _ = writeln!(text, "  {id}");
            }
            if ids.len() > LISTED {
                let _ = writeln!(text, "  and {} more: see `broadcheck compare-exports`", ids.len() - LISTED);
            }
        }
        text
    }
}

fn manifest(place: &Place) -> Result<Manifest, Error> {
    let at = place.at(Manifest::NAME);
    let content = place.read(Manifest::NAME)?.unwrap_or_default();
    let manifest = Manifest::read(&content).ok_or_else(|| {
        format!("{}: found no manifest, expected that of a kit written by `broadcheck export`", at.display())
    })?;
    if let Some(file) = manifest.files.iter().find(|file| !file.is_inside()) {
        let found = format!("found the path `{}`, expected paths inside the directory", file.path);
        return Err(Error::Input(format!("{}: files: {found}", at.display())));
    }
    Ok(manifest)
}

fn problems(place: &Place, manifest: &Manifest) -> Result<Vec<Problem>, Error> {
    let mut problems = Vec::new();
    if install::is_interrupted(place) {
        let found = "an export was interrupted; repeat it";
        problems.push(Problem::new(ProblemKind::Interrupted, install::STAGING, found));
    }
    for file in &manifest.files {
        match place.read(&file.path) {
            Ok(Some(content)) if file.is_unchanged(&content) => {}
            Ok(Some(_)) => problems.push(Problem::new(ProblemKind::Modified, &file.path, "modified")),
            Ok(None) => problems.push(Problem::new(ProblemKind::Missing, &file.path, "missing")),
            Err(message) => {
                let (problem, path) = (ProblemKind::Unreadable, file.path.clone());
                problems.push(Problem { problem, path, message });
            }
        }
    }
    let known: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    for directory in ["json", "yaml"] {
        if !place.has_directory(directory)? {
            continue;
        }
        for path in place.below(directory).files()? {
            let path = format!("{directory}/{path}");
            if !known.contains(path.as_str()) {
                problems.push(Problem::new(ProblemKind::Foreign, &path, "not part of the kit"));
            }
        }
    }
    Ok(problems)
}

fn age(place: &Place, manifest: &Manifest, has_problems: bool) -> Result<Age, Error> {
    let unknown = |why: &str| Ok(Age::Unknown(why.to_owned()));
    if number(&manifest.version) > number(releases::VERSION) {
        return unknown("the kit is newer");
    }
    if manifest.ids.is_empty() && has_problems {
        return unknown("the ids of a kit of version 0.1.0 are read from its files");
    }
    let Some(kit) = Kit::read(place)? else { return unknown("there is no manifest") };
    let now = match current(&kit.manifest.selection.without_limit()) {
        Ok(now) => now,
        Err(Error::Input(message)) => return unknown(&message),
        Err(error) => return Err(error),
    };
    let mut changes = Changes::between(&kit, &now);
    changes.added.retain(|id| !kit.manifest.sweeps_left_out.contains_key(id));
    let this = now.manifest.version_and_commit();
    if changes.is_empty() && kit.manifest.version == now.manifest.version {
        return Ok(Age::Latest(this));
    }
    Ok(Age::Behind(this, changes))
}

/// A version for comparison. What is not a number counts as 0.
fn number(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}
