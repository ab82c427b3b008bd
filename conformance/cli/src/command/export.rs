//! `broadcheck export`: writes the cases, schemas and licences for use in another project.

use super::export_bundle::{File, Format, Manifest, bundle, hash};
use super::{Ended, Error, PASSED, print_visible};
use crate::report::output::{may_write, write};
use broadcheck_spec::DType;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Write the cases as JSON and YAML, with schemas and licences, for use in another project
///
/// DIR/json and DIR/yaml contain the same cases. Sweeps of patterns are expanded to cases in their
/// subdirectory `sweeps`. Sweeps that compare answers with each other, and sweeps of long arrays, are listed
/// by name only: `broadcheck check` runs them. DIR/manifest.json contains the number of cases and the SHA-256
/// of every file.
///
/// With --dtypes, only cases with operands of these dtypes are written. A case in another dtype is written in
/// the first of f64 f32 i64 i32 f16 bf16 i16 i8 u64 u32 u16 u8 that is listed and in which it tests the same:
/// its field `retyped_from` is the dtype that it has in the suite. Cases about other dtypes are left out, and
/// the manifest contains their number.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck export --out broadcasting-cases/
  broadcheck export --dtypes f32,i32 --out tests/data/broadcasting/
  broadcheck export --format json --out tests/data/broadcasting/

Files of an earlier export are replaced, or deleted if they are no longer part of the export. If a file was changed \
since, or was not written by this command, nothing is written.

Exit status: 0 everything was written, 2 nothing or not everything was written.")]
pub(super) struct Args {
    /// Formats of the case files
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "json,yaml")]
    format: Vec<Format>,

    /// Dtypes of the operands; all if omitted
    #[arg(long, value_name = "DTYPE", value_delimiter = ',')]
    dtypes: Vec<DType>,

    /// Directory to write to, created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut formats = args.format.clone();
    formats.sort();
    formats.dedup();
    let dtypes: Vec<DType> = DType::ALL.into_iter().filter(|dtype| args.dtypes.contains(dtype)).collect();
    let earlier = earlier(&args.out)?;
    let (manifest, files) = bundle(&formats, &dtypes)?;
    let stale = stale(&args.out, &earlier, &files)?;
    for file in &files {
        make_parent(&args.out.join(&file.path))?;
        may_write(&args.out.join(&file.path), |text| is_ours(&earlier, file, text))?;
    }
    // Nothing has been changed so far. The manifest comes last, so that an interrupted export can be
    // repeated.
    for file in &files {
        write(&args.out.join(&file.path), &file.text, |text| is_ours(&earlier, file, text))?;
    }
    for path in stale {
        fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let place = args.out.join(Manifest::NAME);
    write(&place, &manifest.text(), |text| Manifest::read(text).is_some())?;
    print_visible(&format!("{}: {}", args.out.display(), manifest.summary()))?;
    Ok(PASSED)
}

/// The hashes of the files of an earlier export, by path.
type Earlier = BTreeMap<String, String>;

/// Reads the manifest of an earlier export. Fails if the file is something else.
fn earlier(out: &Path) -> Result<Earlier, Error> {
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}, expected a directory", out.display()))?;
    let place = out.join(Manifest::NAME);
    may_write(&place, |text| Manifest::read(text).is_some())?;
    let manifest = fs::read_to_string(&place).ok().and_then(|text| Manifest::read(&text));
    let files = manifest.map(|manifest| manifest.files).unwrap_or_default();
    Ok(files.into_iter().filter(|file| is_inside(&file.path)).map(|file| (file.path, file.sha256)).collect())
}

/// Whether a path stays below the directory that it is joined to: a manifest may come from anywhere.
fn is_inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Whether an existing file was written by an export and not changed since.
fn is_ours(earlier: &Earlier, file: &File, text: &str) -> bool {
    text == file.text || earlier.get(&file.path) == Some(&hash(text))
}

/// The files of the earlier export that are not part of this one. If they stayed, their ids would appear
/// twice.
fn stale(out: &Path, earlier: &Earlier, files: &[File]) -> Result<Vec<PathBuf>, Error> {
    let mut stale = Vec::new();
    for (path, sha256) in earlier {
        let kept = files.iter().any(|file| file.path == *path);
        let Ok(text) = fs::read_to_string(out.join(path)) else { continue };
        if kept {
            continue;
        }
        if hash(&text) != *sha256 {
            let place = out.join(path);
            return Err(Error::Input(format!(
                "{}: found a file of an earlier export that was changed since, expected it unchanged or deleted",
                place.display()
            )));
        }
        stale.push(out.join(path));
    }
    Ok(stale)
}

fn make_parent(path: &Path) -> Result<(), Error> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent)
        .map_err(|error| Error::Input(format!("{}: {error}, expected a directory", parent.display())))
}
