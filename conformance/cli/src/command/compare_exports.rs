//! `broadcheck compare-exports`: what changed between two kits, by id. `schema/exports.schema.json` describes
//! its JSON.

use super::export::changes::{Changes, files};
use super::export::read::Kit;
use super::{ComparisonFormat, Ended, PASSED, columns, print_and_end, print_visible_and_end};
use crate::report::clean::visible_in_json;
use crate::report::markdown::inline;
use crate::report::{PRODUCT, plural};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compare two exports: which cases were added, removed and changed
///
/// OLD and NEW are directories written by `export`. Cases are matched by id. A case has changed if its
/// request or its expected outcome differs, if only the values differ that are admitted besides the listed
/// ones, or if only its words differ. An expanded sweep counts as one id. Kits of version 0.1.0 have no ids
/// in their manifest: their case files are read, and admitted values are not compared.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck export --out new/
  broadcheck compare-exports tests/data/broadcasting/ new/

Exit status: 0 the exports were compared, however much they differ; 2 one of them cannot be read.")]
pub(super) struct Args {
    /// Directory of the old kit
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// Directory of the new kit
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ComparisonFormat,
}

/// Two kits and what differs.
struct Comparison {
    kits: [(String, Kit); 2],
    changes: Changes,
    /// Added, removed and changed.
    files: [Vec<String>; 3],
}

pub(super) fn run(args: &Args) -> Ended {
    let read = |path: &Path| Kit::existing(path).map(|(_, kit)| (path.display().to_string(), kit));
    let kits = [read(&args.old)?, read(&args.new)?];
    let [(_, old), (_, new)] = &kits;
    let (changes, files) = (Changes::between(old, new), files(&old.manifest, &new.manifest));
    let comparison = Comparison { kits, changes, files };
    match args.format {
        ComparisonFormat::Text => print_visible_and_end(&comparison.text(), PASSED),
        ComparisonFormat::Json => print_and_end(&visible_in_json(&comparison.json()), PASSED),
        ComparisonFormat::Markdown => print_visible_and_end(&comparison.markdown(), PASSED),
    }
}

impl Comparison {
    /// The two kits, and why ids may differ that did not change.
    fn remarks(&self) -> Vec<String> {
        let described = |(path, kit): &(String, Kit)| {
            let manifest = &kit.manifest;
            let (cases, swept) = (plural(manifest.total(), "case"), manifest.cases_of_sweeps);
            format!("{path}: {}: {cases}, and {swept} from sweeps", manifest.version_and_commit())
        };
        let mut remarks: Vec<String> = self.kits.iter().map(described).collect();
        let [(old, was), (new, is)] = &self.kits;
        if was.manifest.selection != is.manifest.selection {
            let options = |kit: &Kit| match kit.manifest.selection.options() {
                options if options.is_empty() => "everything".to_owned(),
                options => options,
            };
            remarks.push(format!(
                "the selections differ: {old} has {}, {new} has {}; so an id may be added or removed, or retyped, \
                 without a change of the suite",
                options(was),
                options(is)
            ));
        }
        if !was.has_ids || !is.has_ids {
            remarks.push("a manifest without ids: admitted values are not compared".into());
        }
        remarks
    }

    fn rows(&self) -> Vec<[String; 5]> {
        let by_rules = self.changes.by_rules();
        let row = |name: &str, counts: &[usize; 4]| {
            let [added, removed, changed, words] = counts.map(|count| count.to_string());
            [name.to_owned(), added, removed, changed, words]
        };
        let mut rows: Vec<_> = by_rules.iter().map(|(name, counts)| row(name, counts)).collect();
        let total = by_rules.values().fold([0; 4], |sum, counts| {
            [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2], sum[3] + counts[3]]
        });
        rows.push(row("total", &total));
        rows
    }

    fn files_summary(&self) -> String {
        let [added, removed, changed] = &self.files;
        format!("files: {} added, {} removed, {} changed", added.len(), removed.len(), changed.len())
    }

    fn text(&self) -> String {
        let mut text = format!("{PRODUCT}: two exports compared\n");
        for remark in self.remarks() {
            let _ = writeln!(text, "{remark}");
        }
        let head = ["rule set", "added", "removed", "changed", "words only"].map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> =
            [head].into_iter().chain(self.rows().into_iter().map(|row| row.to_vec())).collect();
        let _ = write!(text, "\n{}", columns(&rows));
        for (_, heading, ids) in self.changes.by_kind() {
            if !ids.is_empty() {
                let lines: String = ids.iter().map(|id| format!("  {id}\n")).collect();
                let _ = write!(text, "\n{heading}\n{lines}");
            }
        }
        let _ = writeln!(text, "\n{}", self.files_summary());
        for (mark, paths) in ["+", "-", "!"].into_iter().zip(&self.files) {
            for path in paths {
                let _ = writeln!(text, "  {mark} {path}");
            }
        }
        let _ = writeln!(text, "\n{}", self.changes.summary());
        text
    }

    fn markdown(&self) -> String {
        let mut text = format!("### {PRODUCT}: two exports compared\n\n");
        for remark in self.remarks() {
            let _ = writeln!(text, "- {}", inline(&remark));
        }
        text += "\n| rule set | added | removed | changed | words only |\n|---|--:|--:|--:|--:|\n";
        for row in self.rows() {
            let _ = writeln!(text, "| {} |", row.map(|cell| inline(&cell)).join(" | "));
        }
        for (_, heading, ids) in self.changes.by_kind() {
            if !ids.is_empty() {
                let lines: String = ids.iter().map(|id| format!("- {}\n", inline(id))).collect();
                let summary = format!("{heading} ({})", ids.len());
                let _ = write!(text, "\n<details><summary>{summary}</summary>\n\n{lines}\n</details>\n");
            }
        }
        let _ = writeln!(text, "\n{}.", self.files_summary());
        text
    }

    fn json(&self) -> String {
        let side = |(_, kit): &(String, Kit)| Side {
            version: kit.manifest.version.clone(),
            commit: kit.manifest.commit.clone(),
            cases: kit.manifest.total(),
            cases_of_sweeps: kit.manifest.cases_of_sweeps,
            selection: kit.manifest.selection.options(),
        };
        let [added, removed, changed] = &self.files;
        let document = Document {
            old: side(&self.kits[0]),
            new: side(&self.kits[1]),
            ids: &self.changes,
            files: FilesOf { added, removed, changed },
        };
        serde_json::to_string_pretty(&document).expect("texts can be written as JSON") + "\n"
    }
}

#[derive(Serialize)]
struct Document<'a> {
    old: Side,
    new: Side,
    ids: &'a Changes,
    files: FilesOf<'a>,
}

#[derive(Serialize)]
struct Side {
    version: String,
    commit: String,
    cases: usize,
    cases_of_sweeps: usize,
    /// The options of `export`.
    selection: String,
}

#[derive(Serialize)]
struct FilesOf<'a> {
    added: &'a [String],
    removed: &'a [String],
    changed: &'a [String],
}
