//! `broadcheck vendor-check`: whether a copy of a kit is complete and unmodified, and how far it is behind.

use super::export::changes::Changes;
use super::export::choice::shell;
use super::export::manifest::Manifest;
use super::export::place::Place;
use super::export::read::Kit;
use super::export::{current, install};
use super::{Ended, Error, FAILED, PASSED, print_visible_and_end};
use crate::report::plural;
use broadcheck_spec::releases;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The number of ids that are listed per kind of change.
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

Exit status: 0 the copy is complete and unmodified, up to date or not; 1 it is modified or incomplete, or, with --latest, \
not up to date; 2 it cannot be read.")]
pub(super) struct Args {
    /// Directory of the kit
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Fail also if the copy is not up to date with this command
    #[arg(long)]
    latest: bool,
}

pub(super) fn run(args: &Args) -> Ended {
    let place = Place::open(&args.directory)?;
    let manifest = manifest(&place)?;
    let problems = problems(&place, &manifest)?;
    let name = args.directory.display();
    let version = manifest.version_and_commit();
    let mut text = if problems.is_empty() {
        let files = plural(manifest.files.len() + 1, "file");
        format!("{name}: version {version}: complete and unmodified ({files})\n")
    } else {
        let lines: String = problems.iter().map(|problem| format!("  {problem}\n")).collect();
        format!("{name}: version {version}: {}\n{lines}", plural(problems.len(), "problem"))
    };
    let age = age(&place, &manifest, !problems.is_empty())?;
    text += &age.text;
    let failed = !problems.is_empty() || (args.latest && !age.is_latest);
    if !problems.is_empty() || !age.is_latest {
        let options = manifest.selection.options();
        let space = if options.is_empty() { "" } else { " " };
        let _ = writeln!(
            text,
            "to repair or update it: broadcheck export{space}{options} --out {}",
            shell(&name.to_string())
        );
    }
    print_visible_and_end(&text, if failed { FAILED } else { PASSED })
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

/// What is missing, modified or should not be there.
fn problems(place: &Place, manifest: &Manifest) -> Result<Vec<String>, Error> {
    let mut problems = Vec::new();
    if install::is_interrupted(place) {
        problems.push(format!("{}: an export was interrupted; repeat it", install::STAGING));
    }
    for file in &manifest.files {
        match place.read(&file.path) {
            Ok(Some(content)) if file.is_unchanged(&content) => {}
            Ok(Some(_)) => problems.push(format!("{}: modified", file.path)),
            Ok(None) => problems.push(format!("{}: missing", file.path)),
            Err(error) => problems.push(error),
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
                problems.push(format!("{path}: not part of the kit"));
            }
        }
    }
    Ok(problems)
}

/// How a copy compares with what this command exports.
struct Age {
    text: String,
    is_latest: bool,
}

fn age(place: &Place, manifest: &Manifest, has_problems: bool) -> Result<Age, Error> {
    let unknown = |why: &str| {
        Ok(Age {
            text: format!("not compared with this command ({}): {why}\n", releases::VERSION),
            is_latest: false,
        })
    };
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
        return Ok(Age { text: format!("up to date with this command: {this}\n"), is_latest: true });
    }
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
    Ok(Age { text, is_latest: false })
}

/// A version for comparison. What is not a number counts as 0.
fn number(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}
