//! `broadcheck export`: the cases with all that belongs to them, to be copied into another project.

use super::kit::{File, Format, Manifest, hash, kit};
use super::{Ended, HELD, Stop, tell};
use crate::report::output::{may_write, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Write the cases into a directory, to be copied into another project: as JSON and YAML, with schemas and licences
///
/// DIR/json and DIR/yaml hold the same cases. Sweeps of patterns are written out as cases, in `sweeps` below them; those
/// that compare answers with each other, and those of long runs, stay names, which `broadcheck check` knows.
/// DIR/manifest.json says how many cases there are, and the SHA-256 of every file.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck export --out broadcasting-cases/
  broadcheck export --format json --out tests/data/broadcasting/

Files of an earlier export are replaced, and those that are no longer part of it are deleted. A file that was changed
since, or that this command did not write, is left as it is, and nothing is written.

Exit status: 0 all is written, 2 it cannot be.")]
pub(super) struct Args {
    /// In which language: json, yaml or both
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "json,yaml")]
    format: Vec<Format>,

    /// The directory, which is made where it is missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut formats = args.format.clone();
    formats.sort();
    formats.dedup();
    let earlier = earlier(&args.out)?;
    let (manifest, files) = kit(&formats)?;
    let stale = stale(&args.out, &earlier, &files)?;
    for file in &files {
        make_parent(&args.out.join(&file.path))?;
        may_write(&args.out.join(&file.path), |text| is_ours(&earlier, file, text))?;
    }
    // Nothing has been changed so far. The manifest comes last, so that an interrupted export can be made again.
    for file in &files {
        write(&args.out.join(&file.path), &file.text, |text| is_ours(&earlier, file, text))?;
    }
    for path in stale {
        fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let place = args.out.join(Manifest::NAME);
    write(&place, &manifest.text(), |text| Manifest::read(text).is_some())?;
    tell(&format!("{}: {}", args.out.display(), manifest.summary()))?;
    Ok(HELD)
}

/// The hashes of what an earlier export wrote, by path.
type Earlier = BTreeMap<String, String>;

/// What stands in the directory's manifest. One that is not ours is in the way.
fn earlier(out: &Path) -> Result<Earlier, Stop> {
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}, expected a directory", out.display()))?;
    let place = out.join(Manifest::NAME);
    may_write(&place, |text| Manifest::read(text).is_some())?;
    let manifest = fs::read_to_string(&place).ok().and_then(|text| Manifest::read(&text));
    let files = manifest.map(|manifest| manifest.files).unwrap_or_default();
    Ok(files.into_iter().filter(|file| is_inside(&file.path)).map(|file| (file.path, file.sha256)).collect())
}

/// Whether a path leads to a place below the directory that it is joined to: a manifest may come from anywhere.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Whether a file that is in the way was written by an export and not changed since.
fn is_ours(earlier: &Earlier, file: &File, text: &str) -> bool {
    text == file.text || earlier.get(&file.path) == Some(&hash(text))
}

/// The files of the earlier export that are no part of this one: with cases of another version beside them, ids
/// would stand twice.
fn stale(out: &Path, earlier: &Earlier, files: &[File]) -> Result<Vec<PathBuf>, Stop> {
    let mut stale = Vec::new();
    for (path, sha256) in earlier {
        let kept = files.iter().any(|file| file.path == *path);
        let Ok(text) = fs::read_to_string(out.join(path)) else { continue };
        if kept {
            continue;
        }
        if hash(&text) != *sha256 {
            let place = out.join(path);
            return Err(Stop::Input(format!(
                "{}: found a file of an earlier export that was changed since, expected it unchanged or gone",
                place.display()
            )));
        }
        stale.push(out.join(path));
    }
    Ok(stale)
}

fn make_parent(path: &Path) -> Result<(), Stop> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent)
        .map_err(|error| Stop::Input(format!("{}: {error}, expected a directory", parent.display())))
}
