//! An implementation with its known failures, and the tests of its cases and sweeps.

use super::channel::Task;
use super::expansion::LastExpansion;
use super::progress::{Progress, Watched};
use super::runner::{About, Ending, Failure, Label, Run, Trial, Weight};
use super::weight::may_exhaust_memory;
use crate::known::{Known, draft};
use crate::retype::{self, Asked, asked};
use crate::run::{Judged, Status, run_case, run_inferences};
use crate::sweeps::{Expansion, Part, expand_part, run_expanded};
use broadcheck_judge::describe::{
    describe_expectation, describe_expected_inference, describe_request, describe_signature,
};
use broadcheck_spec::{Case, Implementation, InferenceCase, RuleSet, Suite, Sweep};
use std::path::PathBuf;
use std::sync::Arc;

/// One implementation with its known failures.
pub(super) struct Subject {
    pub(super) implementation: Box<dyn Implementation + Send>,
    pub(super) known: Option<Known>,
    named: bool,
    /// How many cases of a sweep are run.
    sample: u64,
    progress: Arc<Progress>,
    last: Arc<LastExpansion>,
}

/// Pairs each implementation with the file of its known failures.
pub(super) fn subjects(
    implementations: Vec<Box<dyn Implementation + Send>>,
    named: bool,
    files: &[PathBuf],
    sample: u64,
    progress: &Arc<Progress>,
) -> Result<Vec<Arc<Subject>>, String> {
    if implementations.is_empty() {
        return Err("found no implementation, expected at least one".into());
    }
    let last: Arc<LastExpansion> = Arc::default();
    let mut subjects: Vec<Subject> = implementations
        .into_iter()
        .map(|implementation| {
            let (progress, last) = (Arc::clone(progress), Arc::clone(&last));
            Subject { implementation, known: None, named, sample, progress, last }
        })
        .collect();
    for file in files {
        let known = Known::load(file)?;
        let name = &known.implementation;
        let Some(subject) = subjects.iter_mut().find(|subject| subject.implementation.name() == name) else {
            let names: Vec<String> =
                subjects.iter().map(|subject| format!("`{}`", subject.implementation.name())).collect();
            let (file, names) = (file.display(), names.join(" or "));
            return Err(format!("{file}: found known failures of `{name}`, expected those of {names}"));
        };
        let version = subject.implementation.version();
        if !known.covers(version) {
            let file = file.display();
            return Err(format!(
                "{file}: found known failures of `{name}` for other versions than {version}"
            ));
        }
        if subject.known.is_some() {
            let file = file.display();
            return Err(format!("{file}: found a second file of known failures of `{name}`, expected one"));
        }
        subject.known = Some(known);
    }
    Ok(subjects.into_iter().map(Arc::new).collect())
}

impl Subject {
    /// An error unless the implementation declares some case: otherwise every test would be ignored, and the
    /// run would look like a success.
    pub(super) fn require_any(&self, suite: &Suite) -> Result<(), String> {
        let covers =
            |case: &InferenceCase| self.implementation.capabilities().covers_signature(&case.request);
        let any = suite.cases.iter().any(|case| self.covers_case(case).is_ok())
            || suite.inferences.iter().any(|case| covers(case).is_ok())
            || suite.sweeps.iter().any(|sweep| self.covers_sweep(sweep).is_ok());
        let name = self.implementation.name();
        any.then_some(()).ok_or_else(|| {
            format!("`{name}`: found no case within its declared capabilities, expected at least one")
        })
    }

    /// A failing test for each entry of the known-failures file that matches no case or sweep.
    pub(super) fn unmatched(&self, suite: &Suite) -> Vec<Trial> {
        let Some(known) = &self.known else { return Vec::new() };
        let trial = |case: &str| {
            let message = format!("the known failure `{case}` matches no case of the suite");
            let label = Label { name: self.test_name(&format!("known-failure {case}")), kind: "" };
            let run = Box::new(|_| Ending::Failed(message.into()));
            Trial { label, ignored: None, task: None, weight: Weight::Case, about: None, run }
        };
        known.unmatched(suite.ids()).iter().map(|entry| trial(&entry.case)).collect()
    }

    /// The test of a case, for the implementation with this index: ignored if the implementation does not
    /// cover the case.
    pub(super) fn case(self: &Arc<Self>, place: usize, case: &Arc<Case>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(case));
        let asked = asked(case, self.implementation.capabilities());
        let retyped = asked.as_ref().ok().and_then(|asked| asked.retyped);
        let about = About {
            subject: place,
            rules: Some(case.request.rules().set()),
            nature: case.nature(),
            convention: case.convention,
            retyped,
        };
        let weight = if may_exhaust_memory(case) { Weight::Memory } else { Weight::Case };
        let name = asked.as_ref().map_or_else(|_| case.id.clone(), Asked::name);
        let rerun = self.rerun(&name);
        let trial = self.trial(about, (&case.id, &name, &case.location.file), weight, move |run| {
            let case = &*test;
            let judged = match run {
                Run::Here => run_case(&subject.watched(), case, subject.known.as_ref()),
                Run::Died(how) => subject.died(&case.id, how),
            };
            ending(&judged, (&case.id, &case.title), || {
                let asked = retyped.and_then(|dtype| retype::retyped(case, dtype));
                let Case { request, expectation, .. } = asked.as_ref().unwrap_or(case);
                vec![
                    ("title", vec![case.title.clone()]),
                    ("request", describe_request(request)),
                    ("expectation", describe_expectation(request, expectation)),
                    ("outcome", vec![judged.detail.clone()]),
                    ("clause", vec![format!("{} of spec/SEMANTICS.md", case.clause)]),
                    ("source", case.sources.iter().map(ToString::to_string).collect()),
                    ("location", vec![case.location.to_string()]),
                    ("rerun", vec![rerun]),
                ]
            })
        });
        Trial { ignored: asked.err(), ..trial }
    }

    /// The test of a case of the operation `infer`, for the implementation with this index: ignored if the
    /// implementation does not cover the case.
    pub(super) fn inference(self: &Arc<Self>, place: usize, case: &Arc<InferenceCase>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(case));
        let about = About {
            subject: place,
            rules: Some(case.request.rules().set()),
            nature: case.nature(),
            convention: case.convention,
            retyped: None,
        };
        let lacks = self.implementation.capabilities().covers_signature(&case.request).err();
        let names = (&*case.id, &*case.id, &*case.location.file);
        let trial = self.trial(about, names, Weight::Case, move |run| {
            let case = &*test;
            let judged = match run {
                Run::Here => {
                    run_inferences(&subject.watched(), &[case], subject.known.as_ref(), false).swap_remove(0)
                }
                Run::Died(how) => subject.died(&case.id, how),
            };
            ending(&judged, (&case.id, &case.title), || {
                vec![
                    ("title", vec![case.title.clone()]),
                    ("request", describe_signature(&case.request)),
                    ("expectation", describe_expected_inference(&case.request, &case.expectation)),
                    ("outcome", vec![judged.detail.clone()]),
                    ("clause", vec![format!("{} of spec/SEMANTICS.md", case.clause)]),
                    ("source", case.sources.iter().map(ToString::to_string).collect()),
                    ("location", vec![case.location.to_string()]),
                    ("rerun", vec![subject.rerun(&case.id)]),
                ]
            })
        });
        Trial { ignored: lacks, ..trial }
    }

    /// The test of a sweep, for the implementation with this index, whether or not it covers the sweep.
    pub(super) fn sweep(self: &Arc<Self>, place: usize, sweep: &Arc<Sweep>) -> Trial {
        let (subject, test) = (Arc::clone(self), Arc::clone(sweep));
        let about = About {
            subject: place,
            rules: rules_of(sweep),
            nature: sweep.nature(),
            convention: None,
            retyped: None,
        };
        let mut trial =
            self.trial(about, (&sweep.id, &sweep.id, &sweep.location.file), Weight::Many, move |run| {
                let sweep = &*test;
                let judged = match run {
                    Run::Here => subject.run_sweep(sweep),
                    Run::Died(how) => subject.died(&sweep.id, how),
                };
                ending(&judged, (&sweep.id, &sweep.title), || {
                    vec![
                        ("title", vec![sweep.title.clone()]),
                        ("outcome", vec![judged.detail.clone()]),
                        ("source", sweep.sources.iter().map(ToString::to_string).collect()),
                        ("location", vec![sweep.location.to_string()]),
                        ("rerun", vec![subject.rerun(&sweep.id)]),
                    ]
                })
            });
        if trial.label.kind.is_empty() && sweep.expected_cases > self.sample {
            trial.label.kind = "sample";
        }
        trial
    }

    /// A test with its id, its name, and the file that contains it.
    fn trial(
        &self,
        about: About,
        (id, name, file): (&str, &str, &str),
        weight: Weight,
        run: impl FnOnce(Run) -> Ending + Send + 'static,
    ) -> Trial {
        let listed = self.known.as_ref().is_some_and(|known| known.entry(id).is_some());
        let kind = match about.convention {
            _ if listed => "known",
            Some(_) => "convention",
            None => "",
        };
        let label = Label { name: self.test_name(name), kind };
        let task = Task::Entry { subject: about.subject, file: file.to_owned(), id: id.to_owned() };
        Trial { label, ignored: None, task: Some(task), weight, about: Some(about), run: Box::new(run) }
    }

    fn run_sweep(&self, sweep: &Sweep) -> Judged {
        let part = Part::sample(sweep.expected_cases, self.sample);
        let expansion = self.last.expand(sweep, self.implementation.capabilities(), part);
        let expansion = expansion.as_ref().as_ref();
        run_expanded(&self.watched(), sweep, self.known.as_ref(), part, expansion).judged
    }

    fn watched(&self) -> Watched<'_> {
        Watched { implementation: &*self.implementation, progress: &self.progress }
    }

    /// The result of a test whose process died.
    fn died<T>(&self, id: &str, how: String) -> Judged<T> {
        let judged = Judged::new(Status::Errored, how);
        match self.known.as_ref().and_then(|known| known.entry(id)) {
            Some(entry) => entry.applied_to(judged),
            None => judged,
        }
    }

    /// # Errors
    /// What the implementation lacks for a case.
    fn covers_case(&self, case: &Case) -> Result<(), String> {
        asked(case, self.implementation.capabilities()).map(|_| ())
    }

    /// # Errors
    /// What the implementation lacks for the first case of a sweep, if it lacks something for each.
    pub(super) fn covers_sweep(&self, sweep: &Sweep) -> Result<(), String> {
        let capabilities = self.implementation.capabilities();
        let covers = |part| match expand_part(sweep, capabilities, part) {
            Ok(expansion) => self.covers(&expansion),
            // The run reports what is wrong with the sweep.
            Err(_) => Ok(()),
        };
        // Making all cases takes time, and mostly the first is covered, or the rule set of all is missing.
        covers(Part::FIRST).or_else(|lacks| {
            let rules = rules_of(sweep).filter(|rules| !capabilities.rules.contains(rules));
            if rules.is_some() { Err(lacks) } else { covers(Part::WHOLE) }
        })
    }

    fn covers(&self, expansion: &Expansion) -> Result<(), String> {
        match expansion {
            Expansion::Cases(cases) => {
                let mut covered = cases.iter().map(|case| self.covers_case(case));
                let first = covered.next().unwrap_or(Ok(()));
                if covered.any(|case| case.is_ok()) { Ok(()) } else { first }
            }
            Expansion::Sequences(sequences) => {
                let mut covered = sequences.iter().flat_map(|sequence| &sequence.cases);
                let first = covered.next().map_or(Ok(()), |case| self.covers_case(case));
                if covered.any(|case| self.covers_case(case).is_ok()) { Ok(()) } else { first }
            }
            Expansion::Relation { relation, extent } => {
                relation.covered_by(self.implementation.capabilities(), extent).map(|_| ())
            }
        }
    }

    fn test_name(&self, id: &str) -> String {
        if self.named { format!("{id} ({})", self.implementation.name()) } else { id.to_owned() }
    }

    /// The command that runs this test alone.
    fn rerun(&self, id: &str) -> String {
        format!("cargo test -- --exact '{}'", self.test_name(id))
    }
}

/// The rule set of a sweep, with which its id begins.
fn rules_of(sweep: &Sweep) -> Option<RuleSet> {
    sweep.id.split('/').next().and_then(|name| name.parse().ok())
}

/// A pass, or the text of the failure. A case that was not judged has not passed: it is ignored.
fn ending<T>(
    judged: &Judged<T>,
    (id, title): (&str, &str),
    about: impl FnOnce() -> Vec<(&'static str, Vec<String>)>,
) -> Ending {
    match judged.status {
        Status::Passed | Status::Agrees | Status::KnownFailure => return Ending::Passed,
        Status::Differs => return Ending::Differs,
        // Beyond the limits of the implementation, or of a convention that it does not follow.
        Status::Skipped => return Ending::Ignored(judged.detail.clone()),
        Status::Failed | Status::Errored | Status::UnexpectedPass => {}
    }
    let mut message = String::new();
    for (name, lines) in about() {
        for (place, line) in lines.iter().flat_map(|line| line.lines()).enumerate() {
            message += &format!("{:<11}  {line}\n", if place == 0 { name } else { "" });
        }
    }
    let new = matches!(judged.status, Status::Failed | Status::Errored);
    let listed = || draft::Failure {
        id: id.to_owned(),
        title: title.to_owned(),
        detail: judged.detail.clone(),
        given: None,
        optimiser: None,
    };
    Ending::Failed(Failure { message, draft: new.then(listed) })
}
