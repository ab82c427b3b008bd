//! Runs the selected cases and sweeps against one implementation, and turns the results into report entries.

use super::implementations::Wanted;
use super::interrupt;
use super::select::{Selected, rules_of};
use crate::report::{
    Declares, Entry, Leftover, Run, describe_expectation, describe_expected_inference, describe_request,
    describe_signature, plural,
};
use broadcheck::declare::{Way, run_declared};
use broadcheck::given::{Mode, run_given};
use broadcheck::known::Known;
use broadcheck::optimiser::{Optimiser, Switched, run_switched};
use broadcheck::parallel::over_ranges;
use broadcheck::retype::retyped;
use broadcheck::run::{Judged, run_cases, run_inferences};
use broadcheck::sweeps::{SweepReport, run_sample};
use broadcheck_spec::{
    Case, ErrorKind, Implementation, Inference, InferenceCase, Outcome, RuleSet, Suite, Sweep,
};
use std::ops::Range;
use std::path::PathBuf;

/// What `check` runs against each implementation.
pub(super) struct SuiteRun<'a> {
    pub(super) suite: &'a Suite,
    pub(super) selected: &'a Selected<'a>,
    pub(super) known: &'a [Known],
    /// Whether the command line names the implementations.
    pub(super) named: bool,
    /// The maximum number of cases to run of each sweep; `None` for all.
    pub(super) sample: Option<u64>,
    /// Whether an inference that is wider than exact fails.
    pub(super) exact: bool,
    /// The ways in which shapes are declared; empty if they are not.
    pub(super) declared: &'a [Way],
    /// The modes in which operands are given; empty if they are given as always.
    pub(super) given: &'a [Mode],
    pub(super) rerun: Rerun,
}

impl SuiteRun<'_> {
    /// Runs the selection against an implementation until the user interrupts it. `wanted` is what `--impl`
    /// calls the implementation.
    pub(super) fn against(&self, implementation: &dyn Implementation, wanted: &Wanted) -> Run {
        self.against_each(implementation, None, wanted)
    }

    /// The same against an implementation with its optimiser off and on, whose answers are compared.
    pub(super) fn against_both(&self, both: Switched<'_>, wanted: &Wanted) -> Run {
        self.against_each(both.off, Some(both.on), wanted)
    }

    fn against_each(
        &self,
        implementation: &dyn Implementation,
        on: Option<&dyn Implementation>,
        wanted: &Wanted,
    ) -> Run {
        let known = self.known.iter().find(|known| known.implementation == implementation.name());
        let batch = |cases: &[&Case]| -> Vec<Entry> {
            if interrupt::pressed() {
                return Vec::new();
            }
            let judged = match (self.declared, self.given, on) {
                (_, _, Some(on)) => run_switched(Switched { off: implementation, on }, cases, known),
                ([], [], None) => run_cases(implementation, cases, known),
                ([], modes, None) => run_given(implementation, cases, known, modes),
                (ways, _, None) => run_declared(implementation, cases, known, ways),
            };
            let asked = cases.iter().zip(judged).filter(|(_, judged)| !is_interrupted(judged));
            asked.map(|(case, judged)| self.case_entry(wanted, case, judged)).collect()
        };
        let (cases, size) = (&self.selected.cases, implementation.batch().max(1));
        let batches =
            |places: Range<usize>| -> Vec<Entry> { cases[places].chunks(size).flat_map(batch).collect() };
        let mut results: Vec<Entry> = over_ranges(cases.len(), size, batches).into_iter().flatten().collect();
        let inferences: &[&InferenceCase] = &self.selected.inferences;
        if !interrupt::pressed() {
            let judged = run_inferences(implementation, inferences, known, self.exact);
            let asked = inferences.iter().zip(judged).filter(|(_, judged)| !is_interrupted(judged));
            results.extend(asked.map(|(case, judged)| self.inference_entry(wanted, case, judged)));
        }
        for sweep in &self.selected.sweeps {
            if !interrupt::pressed() {
                let report = run_sample(implementation, sweep, known, self.sample.unwrap_or(u64::MAX));
                // A sweep that was interrupted halfway has no result.
                if !interrupt::pressed() {
                    results.push(self.sweep_entry(wanted, sweep, report));
                }
            }
        }
        let leftovers = known.map(|known| known.unmatched(self.suite.ids())).unwrap_or_default();
        let leftovers =
            leftovers.iter().map(|entry| Leftover { case: entry.case.clone(), reason: entry.reason.clone() });
        Run {
            name: implementation.name().into(),
            version: implementation.version().into(),
            named: self.named,
            rules: implementation.capabilities().rules.clone(),
            conventions: implementation.capabilities().conventions.clone(),
            declares: Some(Declares::of(implementation.capabilities())),
            results,
            leftovers: leftovers.collect(),
        }
    }

    fn case_entry(&self, wanted: &Wanted, case: &Case, judged: Judged) -> Entry {
        let failed = judged.status.is_failure();
        let lines = |lines: &dyn Fn() -> Vec<String>| if failed { lines() } else { Vec::new() };
        // What was asked, not what the file has.
        let asked = judged.retyped.filter(|_| failed).and_then(|dtype| retyped(case, dtype));
        let (request, expectation) = asked
            .as_ref()
            .map_or((&case.request, &case.expectation), |case| (&case.request, &case.expectation));
        let (request, expectation) =
            (lines(&|| describe_request(request)), lines(&|| describe_expectation(request, expectation)));
        Entry { request, expectation, ..self.entry_of(wanted, case, case.request.rules().set(), judged) }
    }

    fn inference_entry(&self, wanted: &Wanted, case: &InferenceCase, judged: Judged<Inference>) -> Entry {
        let failed = judged.status.is_failure();
        let lines = |lines: &dyn Fn() -> Vec<String>| if failed { lines() } else { Vec::new() };
        let (request, expectation) = (
            lines(&|| describe_signature(&case.request)),
            lines(&|| describe_expected_inference(&case.request, &case.expectation)),
        );
        let wider = judged.wider.clone();
        let entry = self.entry_of(wanted, case, case.request.rules().set(), judged);
        Entry { inference: true, wider, request, expectation, ..entry }
    }

    /// The entry of a case, without what only a failure has.
    fn entry_of<R, T, S>(
        &self,
        wanted: &Wanted,
        case: &Case<R, T>,
        rules: RuleSet,
        judged: Judged<S>,
    ) -> Entry {
        Entry {
            id: case.id.clone(),
            sweep: false,
            inference: false,
            rules: Some(rules),
            clause: case.clause.clone(),
            nature: case.nature(),
            convention: case.convention,
            retyped: judged.retyped,
            finding: judged.finding,
            title: case.title.clone(),
            status: judged.status,
            kind: judged.kind,
            detail: judged.detail,
            wider: None,
            request: Vec::new(),
            expectation: Vec::new(),
            sources: case.sources.iter().map(ToString::to_string).collect(),
            location: case.location.to_string(),
            rerun: self.rerun.case(wanted, &case.id) + if self.exact { " --exact" } else { "" },
        }
    }

    fn sweep_entry(&self, wanted: &Wanted, sweep: &Sweep, report: SweepReport) -> Entry {
        let judged = report.judged;
        let failed = judged.status.is_failure();
        let bounds: Vec<String> = sweep.with.iter().map(|(name, bound)| format!("{name} {bound}")).collect();
        let request = format!("sweep {} ({})", sweep.sweep, bounds.join(", "));
        let expectation = format!("{}, all of which hold", plural(sweep.expected_cases, "case"));
        Entry {
            id: sweep.id.clone(),
            sweep: true,
            inference: false,
            rules: rules_of(sweep),
            clause: sweep.clause.clone(),
            nature: sweep.nature(),
            convention: None,
            retyped: judged.retyped,
            finding: judged.finding,
            title: sweep.title.clone(),
            status: judged.status,
            kind: judged.kind,
            detail: judged.detail,
            wider: None,
            request: if failed { vec![request] } else { Vec::new() },
            expectation: if failed { vec![expectation] } else { Vec::new() },
            sources: sweep.sources.iter().map(ToString::to_string).collect(),
            location: sweep.location.to_string(),
            rerun: self.rerun.sweep(wanted, &sweep.id),
        }
    }
}

/// Whether the answer is missing because the user interrupted the run.
fn is_interrupted<T>(judged: &Judged<T>) -> bool {
    matches!(judged.outcome, Some(Outcome::Errored { kind: ErrorKind::Interrupted, .. }))
}

/// Makes the shell command that reruns a single case.
pub(super) struct Rerun {
    program: &'static str,
    options: String,
    /// Further options for a sweep.
    sampled: String,
}

impl Rerun {
    pub(super) fn new(cases: &[PathBuf], sample: Option<u64>, declared: &[Way], given: &[Mode]) -> Rerun {
        // `cargo run` sets these variables.
        let under_cargo =
            std::env::var_os("CARGO").is_some() && std::env::var_os("CARGO_MANIFEST_DIR").is_some();
        let program = if under_cargo { "cargo run --release --" } else { "broadcheck" };
        let option = |path: &PathBuf| format!(" --cases {}", quoted(&path.to_string_lossy()));
        let mut options: String = cases.iter().map(option).collect();
        if !declared.is_empty() {
            let names: Vec<&str> = declared.iter().map(|way| way.name()).collect();
            options += &format!(" --declared={}", names.join(","));
        }
        if !given.is_empty() {
            let names: Vec<&str> = given.iter().map(|mode| mode.name()).collect();
            options += &format!(" --given {}", names.join(","));
        }
        let sampled = sample.map_or_else(String::new, |sample| format!(" --sample-sweeps {sample}"));
        Rerun { program, options, sampled }
    }

    /// With the positions of the optimiser that were asked for.
    pub(super) fn with_optimiser(mut self, positions: &[Optimiser]) -> Rerun {
        match positions {
            [] => {}
            [position] => self.options += &format!(" --optimiser {position}"),
            _ => self.options += " --optimiser both",
        }
        self
    }

    pub(super) fn sweep(&self, implementation: &Wanted, id: &str) -> String {
        self.case(implementation, id) + &self.sampled
    }

    pub(super) fn case(&self, implementation: &Wanted, id: &str) -> String {
        let implementation = match &implementation.name {
            None => quoted(&implementation.command),
            Some(name) => {
                format!("{} --impl-name {}", quoted(&format!("the command of {name}")), quoted(name))
            }
        };
        format!("{} check{} --impl {implementation} --filter {}", self.program, self.options, quoted(id))
    }
}

/// Quotes a word for the shell if needed.
fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "/-_.@".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
