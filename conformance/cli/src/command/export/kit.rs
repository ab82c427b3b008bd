//! Puts the files of a kit together, and makes it fit into `--max-bytes`.

use super::super::Error;
use super::cases::{Chosen, Expanded, Kind};
use super::changes::{CHANGELOG, changelog};
use super::choice::Choice;
use super::manifest::{File, Manifest};
use super::read::Kit;
use super::readme;
use crate::embedded;
use broadcheck_spec::{LICENCES, SCHEMAS, SEMANTICS, releases};

/// A kit in memory.
pub(super) struct Made {
    pub(super) kit: Kit,
    /// Every file but the manifest, sorted by path.
    pub(super) files: Vec<File>,
}

impl Made {
    pub(super) fn manifest_file(&self) -> File {
        File::new(Manifest::NAME, self.kit.manifest.text())
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(File::bytes).sum::<u64>() + self.manifest_file().bytes()
    }
}

/// What was in the directory before.
#[derive(Default)]
pub(super) struct Before {
    pub(super) kit: Option<Kit>,
    /// CHANGELOG.md, if the kit has one.
    pub(super) changelog: String,
}

/// The chosen kit.
///
/// # Errors
/// Nothing is chosen, or the kit does not fit.
pub(super) fn make(choice: &Choice, before: &Before) -> Result<Made, Error> {
    let mut chosen = Chosen::new(choice)?;
    let base = base(choice, &chosen)?;
    let mut made = assembled(choice, &chosen, &base, before);
    let Some(most) = choice.max_bytes else { return Ok(made) };
    while made.bytes() > most.0 {
        let largest = (0..chosen.expanded.len()).max_by_key(|&place| chosen.expanded[place].bytes());
        let Some(largest) = largest else {
            return Err(Error::Input(format!(
                "--max-bytes {}: found {} bytes without any sweep, expected at most {}: select fewer cases, one \
                 --format, or --consumers none",
                most.0,
                made.bytes(),
                most.0
            )));
        };
        let left = chosen.expanded.remove(largest);
        chosen.sweeps_left_out.insert(left.sweep.id.clone(), left.count());
        made = assembled(choice, &chosen, &base, before);
    }
    Ok(made)
}

/// The files that do not depend on the sweeps.
fn base(choice: &Choice, chosen: &Chosen) -> Result<Vec<File>, Error> {
    let mut files: Vec<File> = SEMANTICS.iter().map(|&(name, text)| File::new(name, text)).collect();
    files.extend(LICENCES.iter().map(|&(name, text)| File::new(name, text)));
    files.extend(SCHEMAS.iter().map(|&(name, text)| File::new(format!("schema/{name}"), text)));
    let consumers = embedded::files("consumers").filter(|(path, _)| choice.consumers.have(path));
    files.extend(consumers.map(|(path, content)| File::new(format!("consumers/{path}"), content)));
    files.extend(chosen.files(&choice.format));
    Ok(files)
}

fn assembled(choice: &Choice, chosen: &Chosen, base: &[File], before: &Before) -> Made {
    let mut files = base.to_vec();
    files.extend(chosen.expanded.iter().flat_map(|sweep| sweep.files.iter().cloned()));
    let mut kit = Kit { manifest: manifest(choice, chosen), has_ids: true };
    let has_consumers = base.iter().any(|file| file.path.starts_with("consumers/"));
    files.push(readme::file(choice, chosen, &kit.manifest, has_consumers));
    files.push(changelog(before.kit.as_ref(), &before.changelog, &kit));
    debug_assert_eq!(files.last().map(|file| file.path.as_str()), Some(CHANGELOG));
    files.sort_by(|one, other| one.path.cmp(&other.path));
    kit.manifest.files = files.iter().map(File::entry).collect();
    Made { kit, files }
}

fn manifest(choice: &Choice, chosen: &Chosen) -> Manifest {
    let mut manifest = Manifest::new(releases::VERSION, embedded::COMMIT);
    for kind in Kind::ALL {
        manifest.kinds.insert(kind.name().into(), 0);
    }
    for case in chosen.cases() {
        *manifest.cases.entry(case.rules().to_string()).or_insert(0) += 1;
        *manifest.cases.entry("total".into()).or_insert(0) += 1;
        *manifest.kinds.entry(case.kind().name().into()).or_insert(0) += 1;
    }
    manifest.cases_of_infer = chosen.inferences().count();
    manifest.cases_of_sweeps = chosen.expanded.iter().map(Expanded::count).sum();
    manifest.selection = choice.recorded();
    manifest.dtypes.clone_from(&manifest.selection.dtypes);
    if !choice.dtypes.is_empty() {
        manifest.retyped = Some(chosen.cases().filter(|case| case.is_retyped()).count());
    }
    manifest.left_out = chosen.left_out.values().sum();
    manifest.left_out_by.clone_from(&chosen.left_out);
    manifest.sweeps_left_out.clone_from(&chosen.sweeps_left_out);
    manifest.sweeps_by_name.clone_from(&chosen.by_name);
    manifest.ids = chosen.identities();
    manifest
}
