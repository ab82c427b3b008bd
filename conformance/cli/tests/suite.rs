//! The suite as `cargo test` shows it: one trial per case, sweep and implementation.
//!
//! `cargo test -- xla/` runs the cases of a rule set, `cargo test -- numpy/zero` those of a topic,
//! `cargo test -- ndarray` those of an implementation, and `fast` runs at every SIMD level of the machine. What an implementation does not declare is shown as
//! ignored, never as passed.

use broadcheck::run::{Judged, Status, run_case};
use broadcheck::sweeps::{Expansion, expand, run_sweep};
use broadcheck_cli::report::{describe_expectation, describe_request};
use broadcheck_search::subjects::{self, Subject};
use broadcheck_spec::{Case, FILES, LoadErrors, Source, Suite, Sweep, load_str};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// A suite with fewer cases is not the one that was shipped.
const FEWEST_CASES: usize = 1300;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match load(&arguments) {
        Ok(suite) => libtest_mimic::run(&arguments, trials(suite)).exit_code(),
        Err(errors) => {
            println!("{errors}");
            ExitCode::FAILURE
        }
    }
}

/// The suite; where just one trial is asked for by its exact name, as cargo-nextest does in a process per trial, only
/// the file that holds it.
fn load(arguments: &Arguments) -> Result<Suite, LoadErrors> {
    let name = arguments.filter.as_deref().filter(|_| arguments.exact).unwrap_or_default();
    let id = name.split(' ').next().unwrap_or_default();
    let holds = |text: &str| text.lines().any(|line| line.trim_start().strip_prefix("- id: ") == Some(id));
    match FILES.iter().find(|(_, text)| holds(text)) {
        Some((file, text)) => load_str(text, file).map(Suite::from),
        None => Suite::builtin(),
    }
}

fn trials(suite: Suite) -> Vec<Trial> {
    let mut trials = vec![whole(&suite)];
    let mut subjects: Vec<Arc<Subject>> = subjects::all().into_iter().map(Arc::from).collect();
    for (name, subject) in subjects::fast_levels() {
        match subject {
            Some(subject) => subjects.push(Arc::from(subject)),
            None => trials.push(lacking(&name)),
        }
    }
    for case in suite.cases.into_iter().map(Arc::new) {
        trials.extend(subjects.iter().map(|subject| case_trial(Arc::clone(subject), Arc::clone(&case))));
    }
    for sweep in suite.sweeps.into_iter().map(Arc::new) {
        trials.extend(subjects.iter().map(|subject| sweep_trial(Arc::clone(subject), Arc::clone(&sweep))));
    }
    trials
}

/// A SIMD level that this machine does not have is shown, and shown as not run.
fn lacking(name: &str) -> Trial {
    Trial::test(format!("suite/this-machine-has-the-level ({name})"), || Ok(())).with_ignored_flag(true)
}

/// An empty or half-loaded suite must not look like a green one: what is built in is what stands in the files.
fn whole(suite: &Suite) -> Trial {
    let locations = || {
        let cases = suite.cases.iter().map(|case| &case.location);
        cases.chain(suite.sweeps.iter().map(|sweep| &sweep.location))
    };
    let cases = suite.cases.len();
    let mut built_in: BTreeMap<String, usize> = BTreeMap::new();
    for location in locations() {
        *built_in.entry(location.file.clone()).or_default() += 1;
    }
    Trial::test("suite/is-whole", move || {
        let written = entries_on_disk();
        if written != built_in {
            return Err(format!("built in:\n{built_in:#?}\nin the files:\n{written:#?}").into());
        }
        if cases < FEWEST_CASES {
            return Err(format!("{cases} cases, expected {FEWEST_CASES} at least").into());
        }
        Ok(())
    })
}

/// How many entries each case file holds, counted without the loader: each begins with `- id:`.
fn entries_on_disk() -> BTreeMap<String, usize> {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let mut directories = vec![spec.join("cases")];
    let mut counts = BTreeMap::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of case files") {
            let path = entry.expect("an entry of the directory").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a case file in UTF-8");
            let count = text.lines().filter(|line| line.trim_start().starts_with("- id:")).count();
            let name =
                path.strip_prefix(&spec).expect("a path below spec").to_string_lossy().replace('\\', "/");
            counts.insert(format!("spec/{name}"), count);
        }
    }
    counts
}

fn case_trial(subject: Arc<Subject>, case: Arc<Case>) -> Trial {
    let name = format!("{} ({})", case.id, subject.name());
    let covered = subject.capabilities().covers(&case.request).is_ok();
    Trial::test(name, move || {
        let judged = run_case(&*subject, &case, None);
        verdict(&judged, || {
            let request = describe_request(&case.request).join("\n");
            let expectation = describe_expectation(&case.request, &case.expectation).join("\n");
            let asked = format!("request:\n{request}\nexpected:\n{expectation}");
            failure(&*subject, &judged, &case.id, &[&case.title, &asked, &sources(&case.sources)])
        })
    })
    .with_ignored_flag(!covered)
}

fn sweep_trial(subject: Arc<Subject>, sweep: Arc<Sweep>) -> Trial {
    let name = format!("{} ({})", sweep.id, subject.name());
    let covered = covers_sweep(&*subject, &sweep);
    Trial::test(name, move || {
        let judged = run_sweep(&*subject, &sweep, None).judged;
        verdict(&judged, || failure(&*subject, &judged, &sweep.id, &[&sweep.title, &sources(&sweep.sources)]))
    })
    .with_ignored_flag(!covered)
}

fn covers_sweep(subject: &Subject, sweep: &Sweep) -> bool {
    let capabilities = subject.capabilities();
    match expand(sweep) {
        Ok(Expansion::Cases(cases)) => cases.iter().any(|case| capabilities.covers(&case.request).is_ok()),
        Ok(Expansion::Relation { relation, extent }) => relation.covered_by(capabilities, &extent).is_ok(),
        // The run says what is wrong with it.
        Err(_) => true,
    }
}

/// A pass, or the text that a person needs to see. What was not judged has not passed.
fn verdict(judged: &Judged, text: impl FnOnce() -> String) -> Result<(), Failed> {
    if judged.status == Status::Passed { Ok(()) } else { Err(text().into()) }
}

/// What failed, why, and how to run just that again.
fn failure(subject: &Subject, judged: &Judged, id: &str, about: &[&str]) -> String {
    let rerun = format!("cargo run --release -- check --impl {} --filter '{id}'", subject.name());
    format!("{}\noutcome:\n{}\nrerun:\n{rerun}", about.join("\n"), judged.detail)
}

fn sources(sources: &[Source]) -> String {
    let sources: Vec<String> = sources.iter().map(ToString::to_string).collect();
    format!("source:\n{}", sources.join("\n"))
}
