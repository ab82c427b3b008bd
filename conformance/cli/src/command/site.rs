//! `broadcheck site`: writes a static site of the results of several systems, from their JSON reports.

use super::export::install;
use super::export::manifest::{Entry, File, Manifest};
use super::export::place::Place;
use super::{Ended, Error, INTERRUPTED, PASSED, complain, interrupt, merge, note, print_visible};
use crate::history::History;
use crate::report::plural;
use crate::report::site::{self, Input};
use broadcheck_spec::Suite;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::PathBuf;

/// The largest manifest that is read, in bytes. That of a site with thirty systems has about 0.5 MB.
const MAX_MANIFEST: usize = 1 << 24;

/// Identifies the manifest of a site.
const KIT: &str = "broadcheck-site";

/// Write a static site from JSON reports: a page per system, clause, case and finding
///
/// DIR/index.html shows every system in one table. There is a page for each system, rule set, clause,
/// case and finding, and a search over all of them. The pages need no server and load nothing from elsewhere.
/// Reports are merged as `report` merges them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck check --impl adapter:numpy --format json --out numpy.json
  broadcheck check --impl adapter:torch --format json --out torch.json
  broadcheck site numpy.json torch.json --out site/
  broadcheck site numpy.json --history history/numpy.json --out site/

To update a site, write it to the same DIR again: pages are replaced, and those that are no longer part are deleted. If \
DIR has other files but no site, or if a page was changed since, nothing is written.

Exit status: 0 everything was written, 2 nothing was written unless the message says otherwise, 130 interrupted, and \
nothing was written.")]
pub(super) struct Args {
    /// Reports written by `check --format json`
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,

    /// Directory to write to, created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// File with the history of a system, to be drawn on its page in place of the one that the command
    /// contains. May be repeated
    ///
    /// `broadcheck history` writes it, and conformance/schema/history.schema.json describes it.
    #[arg(long, value_name = "FILE")]
    history: Vec<PathBuf>,
}

/// `manifest.json` of a site: its files, each with the hash of what was written.
#[derive(Serialize, Deserialize)]
struct SiteManifest {
    kit: String,
    /// The version of broadcheck.
    version: String,
    files: Vec<Entry>,
}

pub(super) fn run(args: &Args) -> Ended {
    let suite =
        Suite::builtin().map_err(|errors| Error::Input(format!("cannot read the cases\n{errors}")))?;
    let merged = merge::load(&args.reports, &suite)?;
    let mut histories: Vec<History> =
        args.history.iter().map(|path| History::load(path)).collect::<Result<_, String>>()?;
    for history in &histories {
        if !merged.report.runs.iter().any(|run| run.name == history.system) {
            let system = &history.system;
            note(&format!("--history: no report is about {system}, so its history is left out"));
        }
    }
    let given: Vec<String> = histories.iter().map(|history| history.system.clone()).collect();
    histories.extend(History::shipped().into_iter().filter(|history| !given.contains(&history.system)));
    let earlier = earlier(&args.out)?;
    let commands: Vec<Option<String>> =
        merged.report.runs.iter().map(|run| merge::command(&run.name)).collect();
    let pages = site::pages(&Input {
        report: &merged.report,
        suites: &merged.suites,
        commands: &commands,
        notes: &merged.notes,
        suite: &suite,
        histories: &histories,
    });
    let files: Vec<File> = pages.into_iter().map(|(path, text)| File::new(path, text)).collect();
    if interrupt::pressed() {
        return Err(Error::Interrupted);
    }
    fs::create_dir_all(&args.out)
        .map_err(|error| format!("{}: {error}, expected a directory", args.out.display()))?;
    let place = Place::open(&args.out)?;
    match install::update(&place, &earlier, &files, &manifest(&files)) {
        Err(message) if interrupt::pressed() => {
            complain(&message);
            return Ok(INTERRUPTED);
        }
        written => written?,
    }
    for line in &merged.notes {
        note(line);
    }
    let bytes: u64 = files.iter().map(File::bytes).sum();
    let (systems, pages) = (plural(merged.report.runs.len(), "system"), plural(files.len(), "file"));
    let at = args.out.join("index.html");
    print_visible(&format!("{}: {systems}, {pages}, {} KB\n", at.display(), bytes / 1000))?;
    Ok(PASSED)
}

fn manifest(files: &[File]) -> File {
    let manifest = SiteManifest {
        kit: KIT.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        files: files.iter().map(File::entry).collect(),
    };
    let text = serde_json::to_string_pretty(&manifest).expect("a manifest can be written as JSON");
    File::new(Manifest::NAME, text + "\n")
}

/// The files of the site that is in the directory.
///
/// # Errors
/// The directory has other files and no site.
fn earlier(out: &PathBuf) -> Result<Vec<Entry>, Error> {
    match fs::symlink_metadata(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::Input(format!("{}: {error}", out.display()))),
        Ok(_) => {}
    }
    let place = Place::open(out)?;
    // An interrupted export is that of a kit or a site: only its own command may undo it.
    let read = |place: &Place| -> Result<Option<SiteManifest>, String> {
        let Some(content) = place.read(Manifest::NAME)?.filter(|content| !content.is_empty()) else {
            return Ok(None);
        };
        let manifest =
            (content.len() <= MAX_MANIFEST).then(|| serde_json::from_slice(&content).ok()).flatten();
        let manifest: Option<SiteManifest> = manifest.filter(|manifest: &SiteManifest| manifest.kit == KIT);
        manifest.map(Some).ok_or_else(|| {
            let at = place.at(Manifest::NAME);
            format!(
                "{}: found a file that is not the manifest of a site, expected another --out",
                at.display()
            )
        })
    };
    install::recover(&place)?;
    if let Some(manifest) = read(&place)? {
        return Ok(manifest.files);
    }
    match place.files()?.first() {
        None => Ok(Vec::new()),
        Some(other) => Err(Error::Input(format!(
            "{}: found a directory with files but no site, expected a new or empty directory, or a site",
            place.at(other).display()
        ))),
    }
}
