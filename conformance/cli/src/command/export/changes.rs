//! What changed between two kits, by id, and the section of CHANGELOG.md about it.

use super::manifest::{File, Manifest};
use super::read::Kit;
use crate::report::plural;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The differences between two kits.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(in super::super) struct Changes {
    /// Ids that only the new kit has.
    pub(in super::super) added: Vec<String>,
    /// Ids that only the old kit has.
    pub(in super::super) removed: Vec<String>,
    /// The request or its expected outcome changed.
    pub(in super::super) changed: Vec<String>,
    /// Only the values that are admitted besides the listed ones changed.
    pub(in super::super) admitted: Vec<String>,
    /// Only the title, the clause, the sources or the note changed.
    pub(in super::super) text: Vec<String>,
}

impl Changes {
    pub(in super::super) fn between(old: &Kit, new: &Kit) -> Changes {
        let knows_admitted = old.has_ids && new.has_ids;
        let (old, new) = (&old.manifest.ids, &new.manifest.ids);
        let mut changes = Changes {
            added: new.keys().filter(|id| !old.contains_key(*id)).cloned().collect(),
            removed: old.keys().filter(|id| !new.contains_key(*id)).cloned().collect(),
            ..Changes::default()
        };
        for (id, is) in new {
            let Some(was) = old.get(id) else { continue };
            if was.digest != is.digest {
                changes.changed.push(id.clone());
            } else if knows_admitted && was.admitted != is.admitted {
                changes.admitted.push(id.clone());
            } else if was.text != is.text {
                changes.text.push(id.clone());
            }
        }
        changes
    }

    /// Each kind of change with its heading, in the order of reports.
    pub(in super::super) fn by_kind(&self) -> [(&'static str, &'static str, &Vec<String>); 5] {
        [
            ("added", "Added", &self.added),
            ("removed", "Removed", &self.removed),
            ("changed", "Changed: the request or the expected outcome", &self.changed),
            ("admitted", "Changed: what is admitted besides the listed values", &self.admitted),
            ("text", "Changed: words only (title, clause, source or note)", &self.text),
        ]
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.by_kind().iter().all(|(_, _, ids)| ids.is_empty())
    }

    /// The numbers by kind: `3 added, 1 changed`.
    pub(in super::super) fn summary(&self) -> String {
        let words = [("added", "added"), ("removed", "removed"), ("changed", "changed")];
        let words = words
            .into_iter()
            .chain([("admitted", "with other admitted values"), ("text", "changed in words only")]);
        let counts = self.by_kind().map(|(_, _, ids)| ids.len());
        let parts = words.zip(counts).filter(|(_, count)| *count > 0);
        let parts: Vec<String> = parts.map(|((_, words), count)| format!("{count} {words}")).collect();
        if parts.is_empty() { "no changes".into() } else { parts.join(", ") }
    }

    /// The numbers per rule set: added, removed, changed in what is judged, changed in words.
    pub(in super::super) fn by_rules(&self) -> BTreeMap<&str, [usize; 4]> {
        let mut rows: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
        for (kind, _, ids) in self.by_kind() {
            let column = match kind {
                "added" => 0,
                "removed" => 1,
                "changed" | "admitted" => 2,
                _ => 3,
            };
            for id in ids {
                rows.entry(id.split('/').next().unwrap_or_default()).or_default()[column] += 1;
            }
        }
        rows
    }
}

/// The files that differ, by path: added, removed and changed.
pub(in super::super) fn files(old: &Manifest, new: &Manifest) -> [Vec<String>; 3] {
    let hashes = |manifest: &Manifest| -> BTreeMap<String, String> {
        manifest.files.iter().map(|file| (file.path.clone(), file.sha256.clone())).collect()
    };
    let (old, new) = (hashes(old), hashes(new));
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = [Vec::new(), Vec::new(), Vec::new()];
    for path in paths {
        match (old.get(path), new.get(path)) {
            (None, _) => found[0].push(path.clone()),
            (_, None) => found[1].push(path.clone()),
            (was, is) if was != is => found[2].push(path.clone()),
            _ => {}
        }
    }
    found
}

/// The name of the file.
pub(super) const CHANGELOG: &str = "CHANGELOG.md";

const HEAD: &str = "\
# Changes of this kit

Written by `broadcheck export`: each section lists, by id, what an update of this directory changed. An id is never
reused, and never means another case: README.md has the whole promise.
";

/// CHANGELOG.md after an export of `new` over the kit `old`, whose CHANGELOG.md is `earlier`.
pub(super) fn changelog(old: Option<&Kit>, earlier: &str, new: &Kit) -> File {
    let sections = earlier.find("\n## ").map_or("", |place| &earlier[place..]);
    let section = match old {
        None => first(&new.manifest),
        Some(old) => section(old, new),
    };
    File::new(CHANGELOG, format!("{HEAD}{section}{sections}"))
}

fn first(manifest: &Manifest) -> String {
    let cases = plural(manifest.total(), "case");
    let swept = plural(manifest.cases_of_sweeps, "case");
    let version = manifest.version_and_commit();
    format!("\n## {version}\n\nThe first export into this directory: {cases}, and {swept} from sweeps.\n")
}

/// Nothing if the same cases are written again.
fn section(old: &Kit, new: &Kit) -> String {
    let changes = Changes::between(old, new);
    let reselected = old.manifest.selection != new.manifest.selection;
    let (was, is) = (old.manifest.version_and_commit(), new.manifest.version_and_commit());
    if changes.is_empty() && !reselected && old.manifest.version == new.manifest.version {
        return String::new();
    }
    let mut text = format!("\n## {is}, from {was}\n\n{}.\n", capitalised(&changes.summary()));
    if reselected {
        let named = |manifest: &Manifest| match manifest.selection.options() {
            options if options.is_empty() => "everything".to_owned(),
            options => format!("`{options}`"),
        };
        let (was, is) = (named(&old.manifest), named(&new.manifest));
        writeln!(text, "The selection was {was} and is {is}.").expect("writing to a string does not fail");
    }
    for (_, heading, ids) in changes.by_kind() {
        if !ids.is_empty() {
            let lines: String = ids.iter().map(|id| format!("- {id}\n")).collect();
            write!(text, "\n### {heading}\n\n{lines}").expect("writing to a string does not fail");
        }
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
