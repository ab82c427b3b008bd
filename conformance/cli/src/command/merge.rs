//! Merges JSON reports of several runs into one report.
//!
//! Reports of the same implementation and version become one run. A case that several of them judged has the
//! result of the last report in which it was asked; a report in which it was skipped changes nothing. Where
//! two such results differ, a note says so.

use super::Error;
use super::implementations::Wanted;
use super::suite_run::Rerun;
use crate::adapters;
use crate::report::read::{Recorded, RecordedCase, RecordedLeftover, RecordedRun, RecordedSuite};
use crate::report::{
    Entry, Leftover, Report, Run, describe_expectation, describe_expected_inference, describe_request,
    describe_signature, plural,
};
use broadcheck::retype::retyped;
use broadcheck::run::Status;
use broadcheck_search::subjects::builtin;
use broadcheck_spec::{Nature, Source, Suite};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// The most implementations of all reports together.
const MAX_RUNS: usize = 1000;

/// The most results of all reports together. Thirty systems have about 110,000.
const MAX_RESULTS: usize = 1 << 19;

/// The number of cases that a note names.
const MOST_NAMED: usize = 3;

/// A merged report.
pub(super) struct Merged {
    /// The report, with texts that are safe to show.
    pub(super) report: Report,
    /// For each run of the report, the versions of the suites that it comes from.
    pub(super) suites: Vec<Vec<String>>,
    /// What the reader must know about how the reports were merged.
    pub(super) notes: Vec<String>,
}

/// Loads and merges reports. The last report wins.
///
/// # Errors
/// A file is not a report, or there are too many results.
pub(super) fn load(paths: &[PathBuf], suite: &Suite) -> Result<Merged, Error> {
    let mut merging = Merging::new(suite);
    for path in paths {
        let recorded = Recorded::load(path)?;
        merging.add(recorded).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(merging.end())
}

/// The reports so far.
struct Merging<'a> {
    suite: &'a Suite,
    /// The place of each id in the suite.
    places: HashMap<&'a str, usize>,
    runs: Vec<(Run, Vec<String>)>,
    results: usize,
    interrupted: bool,
    samples: Vec<Option<u64>>,
    notes: Vec<String>,
}

impl<'a> Merging<'a> {
    fn new(suite: &'a Suite) -> Merging<'a> {
        let places = suite.ids().enumerate().map(|(place, id)| (id, place)).collect();
        let (runs, samples, notes) = (Vec::new(), Vec::new(), Vec::new());
        Merging { suite, places, runs, results: 0, interrupted: false, samples, notes }
    }

    fn add(&mut self, recorded: Recorded) -> Result<(), String> {
        let Recorded { suite, interrupted, implementations } = recorded;
        self.interrupted |= interrupted;
        if interrupted {
            let title = |run: &RecordedRun| format!("{} {}", run.name, run.version);
            let titles: Vec<String> = implementations.iter().map(title).collect();
            let titles = titles.join(", ");
            self.notes
                .push(format!("{titles}: the run was interrupted, and the cases after that are missing."));
        }
        if !self.samples.contains(&suite.sweep_sample) {
            self.samples.push(suite.sweep_sample);
        }
        for run in implementations {
            self.results += run.cases.len();
            if self.results > MAX_RESULTS {
                return Err(format!("found more than {MAX_RESULTS} results in all reports, expected fewer"));
            }
            self.add_run(run, &suite)?;
        }
        Ok(())
    }

    fn add_run(&mut self, recorded: RecordedRun, suite: &RecordedSuite) -> Result<(), String> {
        let run = self.run_of(recorded, suite.sweep_sample);
        let same =
            |(other, _): &&mut (Run, Vec<String>)| other.name == run.name && other.version == run.version;
        if let Some((earlier, suites)) = self.runs.iter_mut().find(same) {
            self.notes.extend(join(earlier, run));
            if !suites.contains(&suite.version) {
                suites.push(suite.version.clone());
            }
            return Ok(());
        }
        if self.runs.len() == MAX_RUNS {
            return Err(format!("found more than {MAX_RUNS} implementations in all reports, expected fewer"));
        }
        self.runs.push((run, vec![suite.version.clone()]));
        Ok(())
    }

    fn run_of(&self, recorded: RecordedRun, sample: Option<u64>) -> Run {
        let wanted = wanted(&recorded.name);
        let rerun = Rerun::new(&[], sample, &[], &[]);
        let entry = |case: RecordedCase| self.entry(case, &wanted, &rerun);
        let leftover = |one: RecordedLeftover| Leftover { case: one.case, reason: one.reason };
        Run {
            rules: recorded.declared_rules(),
            conventions: recorded.conventions.iter().filter(|one| one.declared).map(|one| one.name).collect(),
            name: recorded.name,
            version: recorded.version,
            named: true,
            declares: recorded.declares,
            results: recorded.cases.into_iter().map(entry).collect(),
            leftovers: recorded.known_without_case.into_iter().map(leftover).collect(),
        }
    }

    /// The entry of a case. What a report leaves out is taken from the suite.
    fn entry(&self, case: RecordedCase, wanted: &Wanted, rerun: &Rerun) -> Entry {
        let rerun = match case.sweep {
            true => rerun.sweep(wanted, &case.id),
            false => rerun.case(wanted, &case.id),
        };
        let entry = Entry {
            id: case.id.into(),
            sweep: case.sweep,
            inference: case.inference,
            rules: case.rules,
            clause: case.clause.into(),
            nature: case.nature.unwrap_or(Nature::Rule),
            convention: case.convention,
            retyped: case.retyped,
            finding: case.finding,
            title: case.title.into(),
            status: case.status,
            kind: case.difference,
            detail: case.detail.into(),
            wider: case.wider.map(String::from),
            request: Vec::new(),
            expectation: Vec::new(),
            sources: Vec::new(),
            location: String::new(),
            rerun,
        };
        self.with_suite(entry)
    }

    fn with_suite(&self, entry: Entry) -> Entry {
        let lines = |sources: &[Source]| sources.iter().map(ToString::to_string).collect();
        let failed = entry.status.is_failure();
        if let Some(case) = self.suite.get(&entry.id) {
            let asked = entry.retyped.filter(|_| failed).and_then(|dtype| retyped(case, dtype));
            let (request, expectation) = asked
                .as_ref()
                .map_or((&case.request, &case.expectation), |case| (&case.request, &case.expectation));
            return Entry {
                request: if failed { describe_request(request) } else { Vec::new() },
                expectation: if failed { describe_expectation(request, expectation) } else { Vec::new() },
                sources: lines(&case.sources),
                location: case.location.to_string(),
                clause: case.clause.clone(),
                title: case.title.clone(),
                rules: Some(case.request.rules().set()),
                ..entry
            };
        }
        if let Some(case) = self.suite.get_inference(&entry.id) {
            let expectation = || describe_expected_inference(&case.request, &case.expectation);
            return Entry {
                request: if failed { describe_signature(&case.request) } else { Vec::new() },
                expectation: if failed { expectation() } else { Vec::new() },
                sources: lines(&case.sources),
                location: case.location.to_string(),
                clause: case.clause.clone(),
                title: case.title.clone(),
                rules: Some(case.request.rules().set()),
                ..entry
            };
        }
        match self.suite.get_sweep(&entry.id) {
            None => entry,
            Some(sweep) => Entry {
                sources: lines(&sweep.sources),
                location: sweep.location.to_string(),
                clause: sweep.clause.clone(),
                title: sweep.title.clone(),
                ..entry
            },
        }
    }

    fn end(mut self) -> Merged {
        let place = |id: &str| self.places.get(id).copied().unwrap_or(usize::MAX);
        for (run, _) in &mut self.runs {
            run.results.sort_by_key(|entry| place(&entry.id));
        }
        let mut selected: BTreeMap<&str, bool> = BTreeMap::new();
        for (run, _) in &self.runs {
            selected.extend(run.results.iter().map(|entry| (entry.id.as_str(), entry.sweep)));
        }
        let sweeps = selected.values().filter(|sweep| **sweep).count();
        let cases = selected.len() - sweeps;
        self.notes.extend(foreign(&selected, &self.places));
        self.notes.extend(versions(&self.runs));
        if self.samples.len() > 1 {
            let how =
                |sample: &Option<u64>| sample.map_or("all of each".into(), |most| format!("at most {most}"));
            let samples: Vec<String> = self.samples.iter().map(how).collect();
            self.notes.push(format!(
                "The reports ran different numbers of cases of a sweep: {}.",
                samples.join(", ")
            ));
        }
        let all_sampled = self.samples.iter().all(Option::is_some);
        let sample = if all_sampled { self.samples.iter().copied().flatten().max() } else { None };
        let (runs, suites) = self.runs.into_iter().unzip();
        let report = Report { cases, sweeps, sample, min_asked: None, runs, interrupted: self.interrupted };
        Merged { report: report.cleaned(), suites, notes: self.notes }
    }
}

/// How `--impl` names an implementation that calls itself so.
fn wanted(name: &str) -> Wanted {
    if builtin(name).is_some() {
        return Wanted::unnamed(name);
    }
    match adapters::shipped().iter().any(|adapter| adapter == name) {
        true => Wanted::unnamed(&format!("adapter:{name}")),
        false => Wanted { command: String::new(), name: Some(name.to_owned()), batch: None, optimiser: None },
    }
}

/// The `--impl` that asks an implementation that calls itself so; `None` if that is a command.
pub(super) fn command(name: &str) -> Option<String> {
    let wanted = wanted(name);
    wanted.name.is_none().then_some(wanted.command)
}

/// Adds a later run of the same implementation, and says what both have judged.
fn join(earlier: &mut Run, later: Run) -> Option<String> {
    let title = earlier.title();
    for rules in later.rules {
        if !earlier.rules.contains(&rules) {
            earlier.rules.push(rules);
        }
    }
    for convention in later.conventions {
        if !earlier.conventions.contains(&convention) {
            earlier.conventions.push(convention);
        }
    }
    earlier.declares = later.declares.or(earlier.declares.take());
    for leftover in later.leftovers {
        if !earlier.leftovers.iter().any(|other| other.case == leftover.case) {
            earlier.leftovers.push(leftover);
        }
    }
    let places: HashMap<String, usize> =
        earlier.results.iter().enumerate().map(|(place, entry)| (entry.id.clone(), place)).collect();
    let mut both = 0;
    let mut differ = Vec::new();
    for entry in later.results {
        let Some(&place) = places.get(&entry.id) else {
            earlier.results.push(entry);
            continue;
        };
        let other = &mut earlier.results[place];
        if entry.status == Status::Skipped {
            continue;
        }
        if other.status != Status::Skipped {
            both += 1;
            if (other.status, &other.detail) != (entry.status, &entry.detail) {
                differ.push(entry.id.clone());
            }
        }
        *other = entry;
    }
    if both == 0 {
        return None;
    }
    let results = plural(both, "case");
    let differing = match differ.len() {
        0 => "with the same results".to_owned(),
        count => format!("and {count} of the results differ: {}. The last report counts", named(&differ)),
    };
    Some(format!("{title}: {results} in more than one report, {differing}."))
}

/// The first ids, and how many more there are.
fn named(ids: &[String]) -> String {
    let first = ids[..ids.len().min(MOST_NAMED)].join(", ");
    match ids.len().saturating_sub(MOST_NAMED) {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}

/// Says how many cases of the reports are not in the suite.
fn foreign(selected: &BTreeMap<&str, bool>, places: &HashMap<&str, usize>) -> Option<String> {
    let foreign: Vec<String> =
        selected.keys().filter(|id| !places.contains_key(*id)).map(|id| (*id).to_owned()).collect();
    let count = plural(foreign.len(), "case");
    (!foreign.is_empty()).then(|| {
        format!(
            "{count} of the reports not in the suite of this version, without request: {}.",
            named(&foreign)
        )
    })
}

/// Says which runs are of another version of the suite.
fn versions(runs: &[(Run, Vec<String>)]) -> Vec<String> {
    let current = env!("CARGO_PKG_VERSION");
    let other = |(run, suites): &(Run, Vec<String>)| {
        let others: Vec<&str> = suites.iter().map(String::as_str).filter(|suite| *suite != current).collect();
        (!others.is_empty()).then(|| {
            let (title, others) = (run.title(), others.join(", "));
            format!("{title}: run with broadcheck {others}; the cases are shown as they are in {current}.")
        })
    };
    runs.iter().filter_map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SUITE;

    /// A report of cases of (id, status, detail).
    fn recorded(name: &str, version: &str, sample: Option<u64>, cases: &[(&str, &str, &str)]) -> Recorded {
        let case = |&(id, status, detail): &(&str, &str, &str)| {
            let rules = "numpy";
            serde_json::json!({"id": id, "status": status, "detail": detail, "rules": rules, "clause": "G-2"})
        };
        let cases: Vec<serde_json::Value> = cases.iter().map(case).collect();
        let run = serde_json::json!({"name": name, "version": version, "cases": cases});
        let suite = serde_json::json!({"version": env!("CARGO_PKG_VERSION"), "sweep_sample": sample});
        Recorded::parse(&serde_json::json!({"suite": suite, "implementations": [run]}).to_string()).unwrap()
    }

    fn merged(reports: &[Recorded]) -> Merged {
        let mut merging = Merging::new(&SUITE);
        for report in reports {
            merging.add(report.clone()).unwrap();
        }
        merging.end()
    }

    fn ids(count: usize) -> Vec<String> {
        SUITE.cases.iter().take(count).map(|case| case.id.clone()).collect()
    }

    fn statuses(run: &Run) -> Vec<(&str, Status)> {
        run.results.iter().map(|entry| (entry.id.as_str(), entry.status)).collect()
    }

    #[test]
    fn different_implementations_and_versions_stay_apart() {
        let ids = ids(2);
        let one = [(ids[0].as_str(), "passed", "")];
        let two = [(ids[0].as_str(), "failed", "wrong"), (ids[1].as_str(), "passed", "")];
        let reports =
            [recorded("a", "1", None, &one), recorded("a", "2", None, &two), recorded("b", "1", None, &two)];
        let merged = merged(&reports);
        let titles: Vec<String> = merged.report.runs.iter().map(Run::title).collect();
        assert_eq!(titles, ["a 1", "a 2", "b 1"]);
        assert_eq!((merged.report.cases, merged.report.sweeps), (2, 0));
        assert!(!merged.report.held());
        assert!(merged.notes.is_empty(), "{:?}", merged.notes);
        let failed = &merged.report.runs[1].results[0];
        assert!(!failed.request.is_empty() && !failed.expectation.is_empty() && !failed.location.is_empty());
        assert!(failed.rerun.ends_with(&format!("--filter {}", ids[0])), "{}", failed.rerun);
    }

    #[test]
    fn the_last_report_that_asked_a_case_counts() {
        let ids = ids(4);
        let id = |place: usize| ids[place].as_str();
        let first = recorded(
            "a",
            "1",
            None,
            &[(id(2), "failed", "wrong"), (id(1), "passed", ""), (id(3), "failed", "x")],
        );
        let second = recorded(
            "a",
            "1",
            None,
            &[
                (id(0), "passed", ""),
                (id(1), "skipped", "no f16"),
                (id(2), "passed", ""),
                (id(3), "failed", "x"),
            ],
        );
        let both = merged(&[first.clone(), second.clone()]);
        assert_eq!(both.report.runs.len(), 1);
        let expected = [
            (id(0), Status::Passed),
            (id(1), Status::Passed),
            (id(2), Status::Passed),
            (id(3), Status::Failed),
        ];
        assert_eq!(statuses(&both.report.runs[0]), expected, "in the order of the suite");
        let note = format!(
            "a 1: 2 cases in more than one report, and 1 of the results differ: {}. The last report counts.",
            id(2)
        );
        assert_eq!(both.notes, [note]);
        let turned = merged(&[second, first]);
        assert_eq!(statuses(&turned.report.runs[0])[2], (id(2), Status::Failed));
        let twice = recorded("a", "1", None, &[(id(0), "passed", "")]);
        let same = merged(&[twice.clone(), twice]);
        assert_eq!(same.notes, ["a 1: 1 case in more than one report, with the same results."]);
    }

    #[test]
    fn what_cannot_be_said_of_all_is_a_note() {
        let id = &ids(1)[0];
        let of = |sample: Option<u64>| recorded("a", &format!("{sample:?}"), sample, &[(id, "passed", "")]);
        assert_eq!(merged(&[of(Some(60)), of(Some(60))]).report.sample, Some(60));
        let mixed = merged(&[of(Some(60)), of(Some(400))]);
        assert_eq!(mixed.report.sample, Some(400));
        assert!(mixed.notes[0].ends_with("of a sweep: at most 60, at most 400."), "{:?}", mixed.notes);
        assert_eq!(merged(&[of(Some(60)), of(None)]).report.sample, None);
        let foreign = merged(&[recorded("a", "1", None, &[("mine/case", "passed", "")])]);
        assert!(
            foreign.notes[0].starts_with("1 case of the reports not in the suite"),
            "{:?}",
            foreign.notes
        );
        let mut old = recorded("a", "1", None, &[(id, "passed", "")]);
        old.suite.version = "0.1.0".into();
        let old = merged(&[old]);
        assert!(old.notes[0].starts_with("a 1: run with broadcheck 0.1.0;"), "{:?}", old.notes);
    }

    #[test]
    fn an_interrupted_report_does_not_hold() {
        let mut report = recorded("a", "1", None, &[(&ids(1)[0], "passed", "")]);
        assert!(merged(std::slice::from_ref(&report)).report.held());
        report.interrupted = true;
        let merged = merged(&[report]);
        assert!(!merged.report.held());
        assert_eq!(merged.notes, ["a 1: the run was interrupted, and the cases after that are missing."]);
    }

    #[test]
    fn too_many_implementations_are_an_error() {
        let suite = Suite::default();
        let mut merging = Merging::new(&suite);
        for version in 0..MAX_RUNS {
            merging.add(recorded("a", &version.to_string(), None, &[])).unwrap();
        }
        assert!(
            merging
                .add(recorded("b", "1", None, &[]))
                .unwrap_err()
                .contains("more than 1000 implementations")
        );
    }

    #[test]
    fn commands_are_known_for_what_the_command_contains() {
        assert_eq!(command("reference").as_deref(), Some("reference"));
        assert_eq!(command("numpy").as_deref(), Some("adapter:numpy"));
        assert_eq!(command("../numpy"), None);
    }
}
