//! `broadcheck history`: judges releases of a real system, and keeps what each answered in a file.

use super::implementations::{Wanted, parse_jobs, with_jobs};
use super::select::{Selected, load};
use super::suite_run::{Rerun, SuiteRun};
use super::time::parse_time;
use super::{
    ComparisonFormat, Ended, Error, FAILED, INTERRUPTED, PASSED, interrupt, note, print_visible_and_end,
};
use crate::adapters::{history_directory, releases::Failure, releases::Workshop};
use crate::history::changes::next_to_try;
use crate::history::versions::{Order, select};
use crate::history::{Counts, History, Listed, Outcome, Outcomes, Release, SuiteId, shown_reason, table};
use crate::report::{Run, output};
use broadcheck_harness::Options;
use broadcheck_spec::{Implementation as _, Suite};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many bytes of the hash of the ids a file keeps.
const HASH_BYTES: usize = 8;

/// Judge releases of a real system, and find the first release that answers a case otherwise
///
/// Each release is installed into a new virtual environment, with a Python and a NumPy of its day, asked the
/// suite, and deleted again. A file per system keeps the answers. A release that is in the file is not run
/// again; if the suite has grown since, it is only asked the new cases. Without --versions and --bisect, the
/// table of the file is printed, and nothing is run.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck history numpy
  broadcheck history numpy --versions 1.20,1.26,2.0,2.4
  broadcheck history numpy --versions 2.0..2.4 --bisect
  broadcheck history tinygrad --versions 0.9.. --sample-sweeps 20 --format markdown

Needs Python 3 on the PATH and network access, except to print the table. An interrupt ends the command when an \
installation that has begun ends. The release that was being installed or judged is then not in the file, and those \
before it are. A release that cannot be installed or started is in the file with the reason.

Exit status: 0 done, 1 a release could not be installed or started, or the package index does not answer, 2 invalid \
input or command line, 130 interrupted.")]
pub(super) struct Args {
    /// Name of an adapter whose system is a Python package: `broadcheck adapters` lists them
    #[arg(value_name = "SYSTEM")]
    system: String,

    /// Releases to judge: versions and ranges such as 1.20,2.0..2.4
    ///
    /// A version is one of the package index, or the beginning of some: 1.20 is the newest 1.20.x. A range
    /// has the newest release of each series, which is the first two numbers; either end may be left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    versions: Vec<String>,

    /// Where two releases answer a case differently, try those between them until the first one is known
    #[arg(long)]
    bisect: bool,

    /// Try releases again that could not be installed or started before
    #[arg(long)]
    retry: bool,

    /// Run only about N cases of each sweep, for slow systems. The file records N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample_sweeps: Option<u64>,

    /// File of the history [default: conformance/history/SYSTEM.json in a checkout, elsewhere
    /// SYSTEM-history.json]
    ///
    /// If it is missing, the history that the command contains is continued.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ComparisonFormat,

    /// Number of threads, each with its own process of the adapter [default: one per processor]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,

    /// Time limit for one answer
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    timeout: Duration,
}

pub(super) fn run(args: &Args) -> Ended {
    let path = path(args)?;
    let found = recorded(&args.system, &path)?;
    if args.versions.is_empty() && !args.bisect {
        let history = found.ok_or_else(|| {
            format!("{}: found no history of {}, expected --versions LIST", path.display(), args.system)
        })?;
        return print_visible_and_end(&rendered(&history, args.format), PASSED);
    }
    let history = found.unwrap_or_else(|| History::new(&args.system));
    output::may_write(&path, is_history)?;
    let suite = load(&[])?;
    let workshop = Workshop::open(&args.system)?;
    let mut keeper =
        Keeper { args, path: &path, suite: &suite, workshop: &workshop, history, status: PASSED };
    keeper.work()?;
    let status = if interrupt::pressed() { INTERRUPTED } else { keeper.status };
    if keeper.history.versions.is_empty() && keeper.history.unable.is_empty() {
        return Ok(status);
    }
    print_visible_and_end(&rendered(&keeper.history, args.format), status)
}

/// The file of the history.
fn path(args: &Args) -> Result<PathBuf, Error> {
    let default = || -> Result<PathBuf, String> {
        let name = &args.system;
        let plain = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("found the system `{name}`, expected the name of an adapter"));
        }
        let directory = history_directory()?;
        Ok(directory
            .map_or_else(|| format!("{name}-history.json").into(), |at| at.join(format!("{name}.json"))))
    };
    Ok(args.file.clone().map_or_else(default, Ok)?)
}

/// The history so far: of the file, otherwise the one that the command contains.
fn recorded(system: &str, path: &Path) -> Result<Option<History>, Error> {
    if path.symlink_metadata().is_err() {
        return Ok(History::shipped().into_iter().find(|history| history.system == system));
    }
    let history = History::load(path)?;
    if history.system != system {
        let (path, other) = (path.display(), history.system);
        return Err(Error::Input(format!("{path}: found the history of {other}, expected that of {system}")));
    }
    Ok(Some(history))
}

fn is_history(text: &str) -> bool {
    History::parse(text.as_bytes()).is_ok()
}

fn rendered(history: &History, format: ComparisonFormat) -> String {
    match format {
        ComparisonFormat::Text => table::text(history),
        ComparisonFormat::Json => history.text(),
        ComparisonFormat::Markdown => table::markdown(history),
    }
}

/// Judges releases and keeps the results.
struct Keeper<'a> {
    args: &'a Args,
    path: &'a Path,
    suite: &'a Suite,
    workshop: &'a Workshop,
    history: History,
    status: u8,
}

impl Keeper<'_> {
    fn work(&mut self) -> Result<(), Error> {
        let listed = match self.workshop.list(&self.args.system) {
            Ok(listed) => listed,
            Err(Failure::NoIndex(message)) => {
                self.fail(&message);
                return Ok(());
            }
            Err(Failure::Unable(message) | Failure::Other(message)) => return Err(Error::Input(message)),
        };
        let wanted: Vec<Listed> = select(&listed, &self.args.versions)?.into_iter().cloned().collect();
        self.history.listed = listed;
        for release in &wanted {
            let known_unable = self.history.unable.iter().any(|one| one.version == release.version);
            if self.is_current(&release.version) || (known_unable && !self.args.retry) {
                continue;
            }
            if !self.judge(release)? {
                return Ok(());
            }
        }
        while self.args.bisect {
            let Some(version) = next_to_try(&self.history) else { break };
            let date = self.history.listed.iter().find(|listed| listed.version == version);
            let release = Listed { date: date.and_then(|listed| listed.date.clone()), version };
            if !self.judge(&release)? {
                break;
            }
        }
        Ok(())
    }

    fn fail(&mut self, message: &str) {
        note(message);
        self.status = FAILED;
    }

    /// Whether the file has the release with the cases of this suite.
    fn is_current(&self, version: &str) -> bool {
        let suite = suite_id(self.suite);
        self.history.release(version).is_some_and(|release| release.suite.as_ref() == Some(&suite))
    }

    /// Installs a release, asks it what it was not asked before, and writes the file. Returns whether another
    /// release can be judged.
    fn judge(&mut self, release: &Listed) -> Result<bool, Error> {
        if interrupt::pressed() {
            return Ok(false);
        }
        let title = format!("{} {}", self.args.system, release.version);
        let started = Instant::now();
        let judged = self.installed_and_judged(release);
        self.workshop.clear();
        match judged {
            _ if interrupt::pressed() => return Ok(false),
            Ok(judged) => {
                let Counts { passed, failed, .. } = judged.counts;
                let seconds = started.elapsed().as_secs();
                note(&format!("{title}: {passed} passed, {failed} failed, {seconds} s"));
                self.history.add(judged);
            }
            Err(Failure::Unable(reason)) => {
                self.fail(&format!("{title}: not judged: {reason}"));
                self.refresh()?;
                self.history.add_unable(&release.version, &shown_reason(&reason));
            }
            Err(Failure::NoIndex(message)) => {
                self.fail(&format!("{title}: {message}"));
                return Ok(false);
            }
            Err(Failure::Other(message)) => return Err(Error::Input(format!("{title}: {message}"))),
        }
        let text = self.history.readable_text().map_err(|found| {
            let path = self.path.display();
            format!(
                "{path}: found {found} with {title}, which is not added, expected a history that can be read"
            )
        })?;
        output::write(self.path, &text, is_history)?;
        Ok(true)
    }

    /// Reads the file again: another run may have added releases to it while this one judged.
    fn refresh(&mut self) -> Result<(), String> {
        if self.path.symlink_metadata().is_ok() {
            let listed = std::mem::take(&mut self.history.listed);
            self.history = History { listed, ..History::load(self.path)? };
        }
        Ok(())
    }

    fn installed_and_judged(&mut self, release: &Listed) -> Result<Release, Failure> {
        let installed = self.workshop.install(&self.args.system, &release.version)?;
        if interrupt::pressed() {
            return Err(Failure::Other("interrupted".into()));
        }
        let command = shell_words::join(&installed.command);
        let options = Options { interrupt: Some(interrupt::flag()), ..Options::within(self.args.timeout) };
        let process = broadcheck_harness::open(&command, options)
            .map_err(|message| Failure::Unable(self.workshop.without_places(&message)))?;
        if !is_version(process.version(), &release.version) {
            let (found, wanted) = (process.version(), &release.version);
            return Err(Failure::Unable(format!("it calls itself {found}, expected {wanted}")));
        }
        let before = self.history.release(&release.version);
        let outcomes = before.map(|before| before.outcomes.clone()).unwrap_or_default();
        let selected = unasked(self.suite, &self.history, &outcomes);
        let suite_run = SuiteRun {
            suite: self.suite,
            selected: &selected,
            known: &[],
            named: true,
            sample: self.args.sample_sweeps,
            exact: false,
            declared: &[],
            given: &[],
            rerun: Rerun::new(&[], self.args.sample_sweeps, &[], &[]),
        };
        let wanted = Wanted { command, name: Some(self.args.system.clone()), batch: None, optimiser: None };
        let run = with_jobs(self.args.jobs, || suite_run.against(&process, &wanted));
        let Ok(run) = run else { return Err(Failure::Other("--jobs: found too many threads".into())) };
        self.refresh().map_err(Failure::Other)?;
        let before = self.history.release(&release.version).cloned();
        let sweep_sample = least_sample(before.as_ref(), self.args.sample_sweeps);
        let (outcomes, failures) =
            before.map(|before| (before.outcomes, before.failures)).unwrap_or_default();
        let (outcomes, failures) = self.merged(&run, outcomes, failures);
        Ok(Release {
            version: release.version.clone(),
            date: release.date.clone(),
            suite: Some(suite_id(self.suite)),
            sweep_sample,
            python: Some(installed.python),
            beside: installed.beside,
            counts: counts(self.suite, &outcomes),
            outcomes,
            failures,
        })
    }

    /// The outcomes and the reasons after a run. Cases that no release was asked are left out of the file.
    fn merged(
        &mut self,
        run: &Run,
        mut outcomes: Outcomes,
        mut failures: BTreeMap<String, String>,
    ) -> (Outcomes, BTreeMap<String, String>) {
        let mut places: HashMap<String, usize> =
            self.history.cases.iter().enumerate().map(|(place, id)| (id.clone(), place)).collect();
        for entry in &run.results {
            let outcome = Outcome::of(entry.status);
            let place = match places.get(&entry.id) {
                Some(&place) => place,
                None if outcome == Outcome::Skipped => continue,
                None => {
                    let place = self.history.cases.len();
                    self.history.cases.push(entry.id.clone());
                    places.insert(entry.id.clone(), place);
                    place
                }
            };
            outcomes.set(place, outcome);
            if outcome.is_wrong() {
                failures.insert(entry.id.clone(), shown_reason(&self.workshop.without_places(&entry.detail)));
            } else {
                // What a file without outcomes says of an earlier run.
                failures.remove(&entry.id);
            }
        }
        (outcomes, failures)
    }
}

/// The cases that have no outcome yet.
fn unasked<'a>(suite: &'a Suite, history: &History, outcomes: &Outcomes) -> Selected<'a> {
    let places: HashMap<&str, usize> =
        history.cases.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
    let is_new = |id: &str| places.get(id).is_none_or(|&place| outcomes.at(place) == Outcome::NotAsked);
    Selected {
        cases: suite.cases.iter().filter(|case| is_new(&case.id)).collect(),
        inferences: suite.inferences.iter().filter(|case| is_new(&case.id)).collect(),
        sweeps: suite.sweeps.iter().filter(|sweep| is_new(&sweep.id)).collect(),
    }
}

/// How many cases of a sweep were run at least, after a run with this sample of what was not asked before.
fn least_sample(before: Option<&Release>, sample: Option<u64>) -> Option<u64> {
    let before = before.filter(|before| !before.outcomes.is_empty()).and_then(|before| before.sweep_sample);
    before.into_iter().chain(sample).min()
}

fn counts(suite: &Suite, outcomes: &Outcomes) -> Counts {
    let all = suite.number_of_cases() + suite.sweeps.len();
    let count = |is: &dyn Fn(Outcome) -> bool| outcomes.iter().filter(|outcome| is(*outcome)).count();
    let asked = count(&Outcome::is_answer);
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Counts {
        passed: small(count(&|outcome| matches!(outcome, Outcome::Passed | Outcome::Agrees))),
        failed: small(count(&Outcome::is_wrong)),
        differs: small(count(&|outcome| outcome == Outcome::Differs)),
        skipped: small(all.saturating_sub(asked)),
    }
}

/// Identifies the ids of a suite.
fn suite_id(suite: &Suite) -> SuiteId {
    let mut ids: Vec<&str> = suite.ids().collect();
    ids.sort_unstable();
    let mut hash = Sha256::new();
    for id in ids {
        hash.update(id);
        hash.update("\n");
    }
    let digits = hash.finalize().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    SuiteId { version: env!("CARGO_PKG_VERSION").into(), ids: digits }
}

/// Whether a system that calls itself so may be this release: `2026.4.1-123`, `2.0.0+cpu`, `1.20.0` for 1.20.
/// A release that was only packed again may call itself as before: `0.27.0` for 0.27.0.post1.
fn is_version(found: &str, wanted: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|char: char| char.is_ascii_digit());
    let is_further = |rest: &str| is_number(rest) || rest.starts_with("post");
    let is_longer = |rest: &str| is_number(rest) || rest.strip_prefix('.').is_some_and(is_further);
    let is = |wanted: &str| {
        let rest = found.strip_prefix(wanted);
        rest.is_some_and(|rest| !is_longer(rest)) || Order::of(found) == Order::of(wanted)
    };
    is(wanted) || wanted.split_once(".post").is_some_and(|(before, _)| is(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_of_a_release_is_that_release() {
        assert!(is_version("2026.4.1-22", "2026.4.1") && is_version("2.0.0+cpu", "2.0.0"));
        assert!(is_version("1.20", "1.20") && !is_version("1.2", "1.20") && !is_version("2.4.6", "2.4.5"));
        assert!(is_version("1.20.0", "1.20") && is_version("1.20", "1.20.0"));
        assert!(is_version("0.27.0", "0.27.0.post1") && is_version("1.10.0.post2", "1.10.0.post2"));
        for (found, wanted) in [
            ("2.4.10", "2.4.1"),
            ("1.20.3", "1.20"),
            ("1.20", "1.2"),
            ("1.2.30", "1.2.3"),
            ("1.0.1", "1.0.post1"),
            ("1.0.post1", "1.0"),
        ] {
            assert!(!is_version(found, wanted), "{found} is not {wanted}");
        }
    }
}
