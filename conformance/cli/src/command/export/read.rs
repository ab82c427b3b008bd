//! Reads a kit that is in a directory: of this format, or of the first one, whose manifest has no ids.

use super::choice::Recorded;
use super::identity::{Identities, Identity};
use super::manifest::Manifest;
use super::place::Place;
use broadcheck_spec::{json, load_str};
use std::path::Path;

/// A kit that was written earlier.
pub(in super::super) struct Kit {
    pub(in super::super) manifest: Manifest,
    /// Whether the manifest itself has the ids. If not, they were computed from the case files, and what is
    /// admitted besides the listed values is not known.
    pub(in super::super) has_ids: bool,
}

impl Kit {
    /// The kit in this directory; `None` if there is no manifest.
    ///
    /// # Errors
    /// The manifest is not one of broadcheck, or the case files of a kit of the first format cannot be read.
    pub(in super::super) fn read(place: &Place) -> Result<Option<Kit>, String> {
        let at = place.at(Manifest::NAME);
        // An empty file is what a full disk leaves.
        let Some(content) = place.read(Manifest::NAME)?.filter(|content| !content.is_empty()) else {
            return Ok(None);
        };
        let mut manifest = Manifest::read(&content).ok_or_else(|| {
            format!(
                "{}: found a file that is not a manifest of `broadcheck export`, expected one",
                at.display()
            )
        })?;
        let has_ids = !manifest.ids.is_empty();
        if !has_ids {
            manifest.ids = identities(place, &manifest)?;
            manifest.selection = selection(&manifest);
        }
        Ok(Some(Kit { manifest, has_ids }))
    }

    /// [`Kit::read`] for a directory that must have one.
    pub(in super::super) fn existing(directory: &Path) -> Result<(Place, Kit), String> {
        let place = Place::open(directory)?;
        let kit = Kit::read(&place)?.ok_or_else(|| {
            let name = Manifest::NAME;
            format!(
                "{}: found no {name}, expected a directory written by `broadcheck export`",
                directory.display()
            )
        })?;
        Ok((place, kit))
    }
}

/// The selection of a kit of the first format.
fn selection(manifest: &Manifest) -> Recorded {
    let has = |format: &str| manifest.files.iter().any(|file| file.path.starts_with(&format!("{format}/")));
    let formats = ["json", "yaml"].into_iter().filter(|format| has(format)).map(str::to_owned);
    let mut format: Vec<String> = formats.collect();
    if format.len() == 2 {
        format.clear();
    }
    let mut recorded = Recorded::default();
    recorded.dtypes.clone_from(&manifest.dtypes);
    recorded.format = format;
    recorded
}

/// The ids of the case files, of one format if there are two.
fn identities(place: &Place, manifest: &Manifest) -> Result<Identities, String> {
    let mut paths: Vec<&str> =
        manifest.files.iter().filter(|file| file.is_inside()).map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    let has_json = paths.iter().any(|path| path.starts_with("json/"));
    let directory = if has_json { "json/" } else { "yaml/" };
    let mut found = Identities::new();
    let mut sweeps: Vec<(String, Vec<Identity>)> = Vec::new();
    for path in paths.into_iter().filter(|path| path.starts_with(directory)) {
        let at = place.at(path);
        let Some(content) = place.read(path)? else { continue };
        let text = String::from_utf8(content).map_err(|error| format!("{}: {error}", at.display()))?;
        let file = load_str(&text, &at.display().to_string()).map_err(|errors| errors.to_string())?;
        for case in &file.inferences {
            let identity = Identity::of_case(&json::inference_case_to_json(case));
            found.insert(case.id.clone(), identity);
        }
        for case in &file.cases {
            let identity = Identity::of_case(&json::case_to_json(case));
            let sweep = case.id.rsplit_once('/').map_or("", |(sweep, _)| sweep);
            match sweeps.last_mut() {
                _ if !path.contains("/sweeps/") => {
                    found.insert(case.id.clone(), identity);
                }
                Some((id, cases)) if id == sweep => cases.push(identity),
                _ => sweeps.push((sweep.to_owned(), vec![identity])),
            }
        }
    }
    found.extend(sweeps.into_iter().map(|(id, cases)| (id, Identity::of_sweep(&cases))));
    Ok(found)
}
