//! `broadcheck export`: writes a kit: the cases, schemas, clauses and licences for use in another project.

mod admitted;
mod cases;
pub(super) mod changes;
pub(super) mod choice;
mod identity;
pub(super) mod install;
mod kit;
pub(super) mod manifest;
pub(super) mod place;
pub(super) mod read;
mod readme;

use super::{Ended, Error, INTERRUPTED, PASSED, complain, interrupt, print_visible};
use changes::CHANGELOG;
use choice::{Choice, Recorded};
use kit::{Before, make};
use manifest::Manifest;
use place::Place;
use read::Kit;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Write a kit: the cases, schemas, clauses and licences for use in another project
///
/// Start with DIR/README.md: it explains the cases and how to judge an answer. DIR/json has one case per
/// line, with the values that are admitted where more than one is right; DIR/yaml has the same cases for
/// people to read. Cases about conventions are in the subdirectory `optional`, cases with sizes beyond 2^53
/// in `extreme`, and expanded sweeps of patterns in `sweeps`. Other sweeps are listed by name only:
/// `broadcheck check` runs them. DIR/manifest.json lists every id and the SHA-256 of every file.
///
/// With --dtypes, only cases with operands of these dtypes are written. A case in another dtype is written in
/// the first of f64 f32 i64 i32 f16 bf16 i16 i8 u64 u32 u16 u8 that is listed and in which it tests the same:
/// its field `retyped_from` is the dtype that it has in the suite.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck export --out broadcasting-cases/
  broadcheck export --rules numpy --dtypes f32,i32 --format json --out tests/data/broadcasting/
  broadcheck export --rules numpy --functions add,multiply --conventions none --max-bytes 1MB --out cases/

To update a kit, export into the same DIR again, with the same options: its README.md has the whole command. Files of \
the earlier export are replaced, or deleted if they are no longer part of the kit, and CHANGELOG.md lists by id what \
changed. If a file was changed since, was not written by this command, or is a link, nothing is written.

Exit status: 0 everything was written, 2 nothing was written unless the message says otherwise, 130 interrupted, and \
nothing was written.")]
pub(super) struct Args {
    #[command(flatten)]
    choice: Choice,

    /// Directory to write to, created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> Ended {
    let choice = args.choice.clone().in_order();
    let before = match fs::symlink_metadata(&args.out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Before::default(),
        Err(error) => return Err(Error::Input(format!("{}: {error}", args.out.display()))),
        Ok(_) => {
            let place = Place::open(&args.out)?;
            install::recover(&place)?;
            before(&place)?
        }
    };
    let made = make(&choice, &before)?;
    if interrupt::pressed() {
        return Err(Error::Interrupted);
    }
    fs::create_dir_all(&args.out)
        .map_err(|error| format!("{}: {error}, expected a directory", args.out.display()))?;
    let place = Place::open(&args.out)?;
    let earlier = before.kit.as_ref().map(|kit| kit.manifest.files.as_slice()).unwrap_or_default();
    match install::update(&place, earlier, &made.files, &made.manifest_file()).map_err(Error::Input) {
        Err(Error::Input(message)) if interrupt::pressed() => {
            complain(&message);
            return Ok(INTERRUPTED);
        }
        put => put?,
    }
    let summary = made.kit.manifest.summary(made.bytes());
    print_visible(&format!("{}: {summary}", args.out.display()))?;
    Ok(PASSED)
}

/// The kit of this version with a selection that a manifest records.
pub(super) fn current(recorded: &Recorded) -> Result<Kit, Error> {
    let choice = Choice::of(recorded)?.in_order();
    Ok(make(&choice, &Before::default())?.kit)
}

/// Checks the values that `--conventions`, `--consumers`, `--max-bytes` and `--filter` take: none panics, and
/// what a manifest records of a choice is the same choice.
///
/// # Errors
/// The property that does not hold.
pub(super) fn check_values(text: &str) -> Result<(), String> {
    let choice = Choice {
        conventions: text.parse().unwrap_or_default(),
        consumers: text.parse().unwrap_or_default(),
        max_bytes: text.parse().ok(),
        filter: Some(text.to_owned()),
        ..Choice::default()
    };
    check_choice(&choice.in_order().recorded())
}

/// A recorded choice is the same when it is read and recorded again, and the options that make it are words
/// of a shell.
fn check_choice(recorded: &Recorded) -> Result<(), String> {
    let Ok(choice) = Choice::of(recorded) else { return Ok(()) };
    let once = choice.in_order().recorded();
    let again = Choice::of(&once).map(|choice| choice.in_order().recorded());
    if again.as_ref() != Ok(&once) {
        return Err(format!("{once:?} is read as {again:?}"));
    }
    let words =
        shell_words::split(&once.options()).map_err(|error| format!("{error}: {}", once.options()))?;
    match &once.filter {
        Some(filter) if !filter.is_empty() && !words.contains(filter) => {
            Err(format!("--filter {filter:?} is lost in {words:?}"))
        }
        _ => Ok(()),
    }
}

/// Checks a manifest, or the journal of an interrupted export: the manifest survives being written and read
/// again.
///
/// # Errors
/// The property that does not hold.
pub(super) fn check_manifest(bytes: &[u8]) -> Result<(), String> {
    install::Journal::read(bytes);
    let Some(manifest) = Manifest::read(bytes) else { return Ok(()) };
    let text = manifest.text();
    let again = Manifest::read(text.as_bytes()).ok_or_else(|| format!("found no manifest in {text}"))?;
    if again.text() != text {
        return Err(format!("the manifest changed: {}\nfrom\n{text}", again.text()));
    }
    manifest.summary(0);
    manifest.version_and_commit();
    let kit = |manifest: Manifest| Kit { manifest, has_ids: true };
    let changes = changes::Changes::between(&kit(manifest.clone()), &kit(again));
    if !changes.is_empty() {
        return Err(format!("the manifest differs from itself: {changes:?}"));
    }
    check_choice(&manifest.selection)
}

/// A small manifest.
pub(super) fn sample_manifest() -> Result<String, Error> {
    let choice = Choice {
        rules: vec![broadcheck_spec::RuleSet::None],
        filter: Some("none/examples".into()),
        no_sweeps: true,
        consumers: "none".parse()?,
        format: vec![cases::Format::Json],
        ..Choice::default()
    };
    Ok(make(&choice.in_order(), &Before::default())?.kit.manifest.text())
}

fn before(place: &Place) -> Result<Before, Error> {
    let kit = Kit::read(place)?;
    let has_changelog =
        kit.as_ref().is_some_and(|kit| kit.manifest.files.iter().any(|file| file.path == CHANGELOG));
    let changelog = if has_changelog { place.read(CHANGELOG)? } else { None };
    let changelog = changelog.and_then(|content| String::from_utf8(content).ok()).unwrap_or_default();
    Ok(Before { kit, changelog })
}
