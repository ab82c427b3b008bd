//! `broadcheck issue`: prints a report about a case, ready to be filed with the developers of a system.

use super::implementations::{Wanted, find};
use super::program::program;
use super::select::load;
use super::show::run_case as case_of;
use super::{Ended, Error, FAILED, PASSED, note, print_visible, print_visible_and_end};
use crate::adapters::PREFIX;
use crate::embedded;
use crate::report::issue::{Issue, Neighbour, Shown, render};
use crate::report::markdown::inline;
use crate::report::read::{Recorded, RecordedCase, RecordedRun};
use crate::report::site::finding::Finding;
use crate::report::{PRODUCT, describe_expectation, describe_request};
use broadcheck::known::Known;
use broadcheck::run::{Status, run_case};
use broadcheck_judge::limits::covers_request;
use broadcheck_spec::clauses::{self, Clause};
use broadcheck_spec::{Case, Suite};
use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For an answer of the system.
const LIMIT: Duration = Duration::from_secs(60);

/// Print a report ready to be filed with a system's developers: a program, what is expected and what came
///
/// ID is a case, a file with one case, such as `fuzz --out` writes, or the number of a finding. The report is
/// Markdown: a program in the system's own interface, the expected result with the clause that says so, what
/// the system answered, the versions, and the same case in other systems, as far as reports and the lists of
/// known failures tell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck issue numpy/values/maximum-of-nan --impl adapter:onnxruntime
  broadcheck issue findings/case.yaml --impl 'python3 my_harness.py'
  broadcheck issue numpy/zero/one-to-zero --impl adapter:tfjs --report numpy.json --report torch.json
  broadcheck issue 121

Exit status: 0 the report was printed, 1 the system passes the case, 2 invalid command line or file.")]
pub(super) struct Args {
    /// Id of a case, a file with one case, or the number of a finding
    #[arg(value_name = "ID")]
    id: String,

    /// System that the report is about: adapter:NAME or a command [default: that of the finding, or the only
    /// one that fails the case in a --report]
    ///
    /// It is asked, unless a --report has its answer.
    #[arg(long = "impl", value_name = "NAME_OR_COMMAND")]
    implementation: Option<String>,

    /// Report written by `check --format json`, for what the system and others answered. May be repeated
    #[arg(long, value_name = "REPORT")]
    report: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let mut reports = Vec::new();
    for path in &args.report {
        reports.extend(Recorded::load(path)?.implementations);
    }
    if args.id.bytes().all(|byte| byte.is_ascii_digit()) {
        return of_finding(args, &reports);
    }
    let path = Path::new(&args.id);
    // Ids have no dots.
    let in_file = path.is_file() || args.id.contains('.');
    let suite = if in_file { load(&[path.to_owned()])? } else { load(&[])? };
    let case = if in_file { only_case(&suite, &args.id)? } else { case_of(&suite, "issue", &args.id)? };
    of_case(args, case, &reports, in_file)
}

/// The case of a file that has one.
fn only_case<'a>(suite: &'a Suite, file: &str) -> Result<&'a Case, Error> {
    match (&suite.cases[..], suite.ids().count()) {
        ([case], 1) => Ok(case),
        (_, count) => Err(Error::Input(format!(
            "issue {file}: found {count} cases, of which {} with a request that is run, expected one such case",
            suite.cases.len()
        ))),
    }
}

// ---------------------------------------------------------------- a finding

fn of_finding(args: &Args, reports: &[RecordedRun]) -> Ended {
    if args.implementation.is_some() {
        return Err(Error::Input(
            "--impl: found it beside a finding, expected none: a finding names its system".into(),
        ));
    }
    let all = Finding::all();
    let number = args.id.parse::<u32>().ok();
    let Some(finding) = all.iter().find(|finding| Some(finding.number) == number) else {
        let last = all.last().map_or(0, |finding| finding.number);
        return Err(Error::Input(format!(
            "issue {}: found no such finding, expected a number from 1 to {last}",
            args.id
        )));
    };
    if finding.status != "new" {
        note(&format!(
            "finding {} is {}: see the links in it before you file it",
            finding.number,
            finding.status_words()
        ));
    }
    let neighbours =
        finding.cases.iter().map(|id| Ok((id.clone(), neighbours(id, &finding.adapter, reports)?)));
    let issue = Issue {
        title: finding.title.clone(),
        shown: Shown::Page(&finding.body),
        clauses: finding.clauses.iter().filter_map(|id| clauses::get(id)).collect(),
        sources: Vec::new(),
        versions: vec![("System", finding.system.clone()), ("Found with", PRODUCT.to_owned())],
        neighbours: neighbours.collect::<Result<_, Error>>()?,
        cases: finding.cases.clone(),
    };
    print_visible(&render(&issue))?;
    Ok(PASSED)
}

// ---------------------------------------------------------------- a case

/// What a system did with a case.
struct Answer {
    /// The name that it declares.
    name: String,
    version: String,
    got: String,
    /// Whether it was asked just now, on this machine.
    here: bool,
}

fn of_case(args: &Args, case: &Case, reports: &[RecordedRun], in_file: bool) -> Ended {
    let implementation = match &args.implementation {
        Some(implementation) => implementation.clone(),
        None => only_failing(case, reports)?,
    };
    let answer = match recorded(&implementation, case, reports) {
        Some((run, found)) => answer_of_report(run, found)?,
        None => asked(&implementation, case)?,
    };
    let Ok(answer) = answer else {
        let passed = answer.err().unwrap_or_default();
        return print_visible_and_end(&format!("{passed}: there is nothing to report\n"), FAILED);
    };
    let mut versions = vec![("System", format!("{} {}", answer.name, answer.version))];
    if implementation.starts_with(PREFIX) {
        versions.push(("Asked through", implementation.clone()));
    }
    versions.push(("Asked by", PRODUCT.to_owned()));
    if answer.here {
        versions.push(("Platform", format!("{OS}, {ARCH}")));
    }
    let neighbours = neighbours(&case.id, &answer.name, reports)?;
    let clause: Option<&Clause> = clauses::get(&case.clause);
    let issue = Issue {
        title: inline(&format!("{} {}: {}", answer.name, answer.version, case.title.trim_end_matches('.'))),
        shown: Shown::Asked {
            request: describe_request(&case.request),
            program: program(&implementation, case),
            expected: describe_expectation(&case.request, &case.expectation),
            got: answer.got,
        },
        clauses: clause.into_iter().collect(),
        sources: case.sources.iter().map(ToString::to_string).collect(),
        versions,
        neighbours: vec![(case.id.clone(), neighbours)],
        // A reader of the report does not have the file.
        cases: if in_file { Vec::new() } else { vec![case.id.clone()] },
    };
    print_visible(&render(&issue))?;
    Ok(PASSED)
}

/// The only system that fails a case in reports.
fn only_failing(case: &Case, reports: &[RecordedRun]) -> Result<String, Error> {
    let fails = |run: &&RecordedRun| result(run, &case.id).is_some_and(|found| is_wrong(found.status));
    let failing: Vec<&RecordedRun> = reports.iter().filter(fails).collect();
    match failing[..] {
        [run] => Ok(format!("{PREFIX}{}", run.name)),
        _ => Err(Error::Input(format!(
            "issue {}: found no --impl, and {} systems that fail it in reports, expected --impl adapter:NAME",
            case.id,
            failing.len()
        ))),
    }
}

fn result<'a>(run: &'a RecordedRun, id: &str) -> Option<&'a RecordedCase> {
    run.cases.iter().find(|found| &*found.id == id && found.status != Status::Skipped)
}

/// Whether an answer was another one than expected.
fn is_wrong(status: Status) -> bool {
    match status {
        Status::Failed | Status::Errored | Status::Differs | Status::KnownFailure => true,
        Status::Passed | Status::Skipped | Status::Agrees | Status::UnexpectedPass => false,
    }
}

/// What a report says of a system and a case.
fn recorded<'a>(
    implementation: &str,
    case: &Case,
    reports: &'a [RecordedRun],
) -> Option<(&'a RecordedRun, &'a RecordedCase)> {
    let name = implementation.strip_prefix(PREFIX).unwrap_or(implementation);
    let mut runs = reports.iter().filter(|run| run.name == name);
    runs.find_map(|run| Some((run, result(run, &case.id)?)))
}

/// The answer in a report; `Err` in it says that the system passes.
type Asked = Result<Result<Answer, String>, Error>;

fn answer_of_report(run: &RecordedRun, found: &RecordedCase) -> Asked {
    let (name, version) = (run.name.clone(), run.version.clone());
    if !is_wrong(found.status) {
        return Ok(Err(format!("{name} {version} passes {} in the report", found.id)));
    }
    Ok(Ok(Answer { name, version, got: found.detail.to_string(), here: false }))
}

/// Asks the system.
fn asked(implementation: &str, case: &Case) -> Asked {
    let subjects = find(&[Wanted::unnamed(implementation)], LIMIT)?;
    let subject = subjects.first().map(AsRef::as_ref).ok_or(Error::Interrupted)?;
    covers_request(subject.capabilities(), &case.request).map_err(|reason| {
        Error::Input(format!("issue {}: {implementation} cannot be asked this: {reason}", case.id))
    })?;
    let judged = run_case(subject, case, None);
    let (name, version) = (subject.name().to_owned(), subject.version().to_owned());
    if judged.status == Status::Skipped {
        return Err(Error::Input(format!("issue {}: {name} was not asked: {}", case.id, judged.detail)));
    }
    if !is_wrong(judged.status) {
        return Ok(Err(format!("{name} {version} passes {}", case.id)));
    }
    Ok(Ok(Answer { name, version, got: judged.detail, here: true }))
}

// ---------------------------------------------------------------- other systems

/// What other systems do with a case: what reports say, then the lists of known failures of systems of which
/// there is no report.
fn neighbours(id: &str, except: &str, reports: &[RecordedRun]) -> Result<Vec<Neighbour>, Error> {
    let others = reports.iter().filter(|run| run.name != except);
    let mut found: Vec<Neighbour> = others
        .clone()
        .filter_map(|run| {
            let case = result(run, id)?;
            let system = format!("{} {}", run.name, run.version);
            let status = case.status.name().replace('_', " ");
            let outcome = if case.detail.is_empty() { status } else { format!("{status}: {}", case.detail) };
            Some(Neighbour { system, outcome })
        })
        .collect();
    for (path, text) in embedded::files("known") {
        let known = Known::parse(&String::from_utf8_lossy(text), path)?;
        let name = &known.implementation;
        if name == except || others.clone().any(|run| run.name == *name && result(run, id).is_some()) {
            continue;
        }
        if let Some(entry) = known.entry(id) {
            let finding =
                entry.finding.map_or_else(String::new, |number| format!(" (finding {number} of broadcheck)"));
            let outcome = format!("listed as failing it: {}{finding}", entry.reason.trim());
            found.push(Neighbour { system: name.clone(), outcome });
        }
    }
    Ok(found)
}
