//! What all pages of the site share: the systems in their order, the cases with every system's answer, the
//! findings, and where the page of each is.

use super::Input;
use super::finding::Finding;
use crate::history::History;
use crate::report::{Declares, Entry, Run, Summary};
use broadcheck::asked::Asked;
use broadcheck::run::Status;
use broadcheck_search::subjects::builtin;
use broadcheck_spec::{Case, Convention, InferenceCase, Nature, RuleSet, Suite, Sweep};
use std::collections::{BTreeSet, HashMap};

/// The longest part of a page's name that comes from a system's name.
const MAX_SLUG: usize = 60;

/// Everything.
pub(super) struct World<'a> {
    /// In the order of the front page.
    pub(super) systems: Vec<System<'a>>,
    /// In the order of the suite.
    pub(super) cases: Vec<CaseInfo<'a>>,
    pub(super) findings: Vec<Finding>,
    pub(super) notes: &'a [String],
    places: HashMap<&'a str, usize>,
}

/// A system that was asked.
pub(super) struct System<'a> {
    pub(super) run: &'a Run,
    pub(super) title: String,
    /// The path of its page.
    pub(super) path: String,
    pub(super) suites: &'a [String],
    pub(super) command: Option<&'a str>,
    pub(super) declares: Option<&'a Declares>,
    pub(super) summary: Summary,
    pub(super) asked: Vec<Asked>,
    /// Whether it is one of broadcheck's own.
    pub(super) is_own: bool,
    /// The places in [`World::findings`] of those about it, and of those that explain its known failures.
    pub(super) findings: Vec<usize>,
    pub(super) history: Option<&'a History>,
}

impl System<'_> {
    /// The numbers of cases asked, and of all cases of the rule sets that it declares.
    pub(super) fn share(&self) -> (usize, usize) {
        let sum = |count: &dyn Fn(&Asked) -> usize| self.asked.iter().map(count).sum();
        (sum(&|asked| asked.asked), sum(&|asked| asked.cases))
    }
}

/// A case, a case of `infer`, or a sweep.
#[derive(Clone, Copy)]
pub(super) enum Asks<'a> {
    Run(&'a Case),
    Infer(&'a InferenceCase),
    Sweep(&'a Sweep),
}

/// A case with the answers of all systems.
pub(super) struct CaseInfo<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) clause: &'a str,
    pub(super) rules: Option<RuleSet>,
    pub(super) nature: Nature,
    pub(super) convention: Option<Convention>,
    pub(super) asks: Asks<'a>,
    /// One per system, in their order; `None` if its reports do not have the case.
    pub(super) results: Vec<Option<&'a Entry>>,
}

impl CaseInfo<'_> {
    /// The path of its page.
    pub(super) fn path(&self) -> String {
        case_path(self.id)
    }

    /// The systems with their entries that were asked and did not give the expected answer.
    pub(super) fn differing(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let results = self.results.iter().enumerate();
        results
            .filter_map(|(system, entry)| Some((system, (*entry)?)))
            .filter(|(_, entry)| differs(entry.status))
    }
}

/// Whether the answer is another one than the expected.
pub(super) fn differs(status: Status) -> bool {
    match status {
        Status::Failed
        | Status::Errored
        | Status::UnexpectedPass
        | Status::KnownFailure
        | Status::Differs => true,
        Status::Passed | Status::Agrees | Status::Skipped => false,
    }
}

/// A status in the words of the site.
pub(super) fn word(status: Status) -> &'static str {
    match status {
        Status::Failed => "failed",
        Status::Errored => "crashed or gave no answer",
        Status::UnexpectedPass => "passed although a failure is listed",
        Status::KnownFailure => "known difference",
        Status::Differs => "differs from a convention",
        Status::Passed => "passed",
        Status::Agrees => "agrees with a convention",
        Status::Skipped => "not asked",
    }
}

pub(super) fn case_path(id: &str) -> String {
    format!("case/{id}.html")
}

pub(super) fn clause_path(id: &str) -> String {
    format!("clause/{id}.html")
}

pub(super) fn rules_path(rules: RuleSet) -> String {
    format!("rules/{rules}.html")
}

impl<'a> World<'a> {
    pub(super) fn new(input: &Input<'a>) -> World<'a> {
        let findings: Vec<Finding> =
            Finding::all().into_iter().map(|finding| finding.dated(input.histories)).collect();
        let mut systems: Vec<System<'a>> = input
            .report
            .runs
            .iter()
            .enumerate()
            .map(|(place, run)| system(run, input, place, &findings))
            .collect();
        systems.sort_by(|one, other| rank(one).cmp(&rank(other)));
        name_pages(&mut systems);
        let mut cases = cases(input.suite, systems.len());
        let places: HashMap<&str, usize> =
            cases.iter().enumerate().map(|(place, case)| (case.id, place)).collect();
        for (column, system) in systems.iter().enumerate() {
            for entry in &system.run.results {
                if let Some(&place) = places.get(entry.id.as_str()) {
                    cases[place].results[column] = Some(entry);
                }
            }
        }
        World { systems, cases, findings, notes: input.notes, places }
    }

    pub(super) fn case(&self, id: &str) -> Option<&CaseInfo<'a>> {
        self.places.get(id).map(|&place| &self.cases[place])
    }
}

/// Systems of which most can be said come first, broadcheck's own last.
fn rank<'s>(system: &'s System<'_>) -> (bool, std::cmp::Reverse<usize>, &'s str) {
    (system.is_own, std::cmp::Reverse(system.share().0), &system.title)
}

fn system<'a>(run: &'a Run, input: &Input<'a>, place: usize, findings: &[Finding]) -> System<'a> {
    let cited: BTreeSet<u32> = run.results.iter().filter_map(|entry| entry.finding).collect();
    let about = |finding: &Finding| finding.adapter == run.name || cited.contains(&finding.number);
    let places = findings.iter().enumerate().filter(|(_, finding)| about(finding)).map(|(place, _)| place);
    System {
        run,
        title: run.title(),
        path: String::new(),
        suites: input.suites.get(place).map(Vec::as_slice).unwrap_or_default(),
        command: input.commands.get(place).and_then(Option::as_deref),
        declares: run.declares.as_ref(),
        summary: run.summary(),
        asked: run.asked(),
        is_own: builtin(&run.name).is_some(),
        findings: places.collect(),
        history: input.histories.iter().find(|history| history.system == run.name),
    }
}

/// Gives each system a page of its own: its name, with a number if another has the same.
fn name_pages(systems: &mut [System<'_>]) {
    let mut taken = BTreeSet::new();
    for system in systems {
        let slug = slug(&system.title);
        let mut name = slug.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{slug}-{number}");
        }
        system.path = format!("system/{name}.html");
    }
}

/// A file name of letters, digits, points and hyphens. A name from a report may contain anything.
fn slug(title: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let keep = |char: char| if char == '.' { '.' } else { plain(char) };
    let text: String = title.chars().take(MAX_SLUG).map(keep).collect();
    let text = text.trim_matches(['.', '-']);
    if text.is_empty() { "system".into() } else { text.into() }
}

fn cases(suite: &Suite, systems: usize) -> Vec<CaseInfo<'_>> {
    let none = || vec![None; systems];
    let runs = suite.cases.iter().map(|case| CaseInfo {
        id: &case.id,
        title: &case.title,
        clause: &case.clause,
        rules: Some(case.request.rules().set()),
        nature: case.nature(),
        convention: case.convention,
        asks: Asks::Run(case),
        results: none(),
    });
    let inferences = suite.inferences.iter().map(|case| CaseInfo {
        id: &case.id,
        title: &case.title,
        clause: &case.clause,
        rules: Some(case.request.rules().set()),
        nature: case.nature(),
        convention: case.convention,
        asks: Asks::Infer(case),
        results: none(),
    });
    let sweeps = suite.sweeps.iter().map(|sweep| CaseInfo {
        id: &sweep.id,
        title: &sweep.title,
        clause: &sweep.clause,
        rules: sweep.id.split('/').next().and_then(|name| name.parse().ok()),
        nature: sweep.nature(),
        convention: None,
        asks: Asks::Sweep(sweep),
        results: none(),
    });
    runs.chain(inferences).chain(sweeps).collect()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_of_pages_stay_in_their_directory() {
        for (title, expected) in [
            ("numpy 2.4.6", "numpy-2.4.6"),
            ("../../etc/passwd", "etc-passwd"),
            ("<script>alert(1)</script> 1", "script-alert-1---script--1"),
            ("..", "system"),
            ("形", "system"),
        ] {
            assert_eq!(slug(title), expected);
        }
        assert_eq!(slug(&"a".repeat(500)).len(), super::MAX_SLUG);
    }
}
