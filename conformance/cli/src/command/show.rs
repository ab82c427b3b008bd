//! `broadcheck show`: prints cases in full, with a drawing of the alignment.

use super::explain::painted;
use super::program::program;
use super::select::load;
use super::{Ended, Error, PASSED, print, print_visible_and_end, width};
use crate::report::clean::visible;
use crate::report::{plural, wrapped};
use anstyle::Style;
use broadcheck_judge::explain::{Explanation, InferenceExplanation};
use broadcheck_spec::{Case, Convention, Nature, Source, Suite, Sweep, write};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The number of ids suggested for one that does not exist.
pub(super) const SUGGESTIONS: usize = 5;

/// Show cases in full: their sources, the case as YAML, and how the operands align
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  broadcheck show numpy/examples/vector-onto-matrix
  broadcheck show numpy/examples/vector-onto-matrix --program adapter:numpy

`broadcheck list` prints the ids.")]
pub(super) struct Args {
    /// Ids of cases or sweeps
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    /// Print only a program, in the interface of this system: adapter:NAME or a command
    ///
    /// It needs nothing of broadcheck, and ends with a comment that says what is expected. A command is run
    /// with the argument `--program`, as conformance/PROTOCOL.md describes.
    #[arg(long, value_name = "NAME_OR_COMMAND")]
    program: Option<String>,

    /// Case file or directory to use instead of the built-in suite. May be repeated
    #[arg(long, value_name = "PATH")]
    cases: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let suite = load(&args.cases)?;
    if let Some(implementation) = &args.program {
        let programs = args.ids.iter().map(|id| program_of(&suite, id, implementation));
        return print_visible_and_end(&programs.collect::<Result<Vec<_>, Error>>()?.join("\n"), PASSED);
    }
    let texts: Vec<String> = args.ids.iter().map(|id| shown(&suite, id)).collect::<Result<_, Error>>()?;
    print(&texts.join("\n"))?;
    Ok(PASSED)
}

fn shown(suite: &Suite, id: &str) -> Result<String, Error> {
    if let Some(case) = suite.get(id) {
        let drawing = Explanation::of_request(&case.request).draw(width());
        return Ok(show_case(case, &write::case_to_yaml(case), &painted(&drawing)));
    }
    if let Some(case) = suite.get_inference(id) {
        let drawing = InferenceExplanation::of_signature(&case.request).draw(width());
        return Ok(show_case(case, &write::inference_case_to_yaml(case), &painted(&drawing)));
    }
    if let Some(sweep) = suite.get_sweep(id) {
        return Ok(show_sweep(sweep));
    }
    Err(unknown(suite, "show", id))
}

/// The program of a case.
fn program_of(suite: &Suite, id: &str, implementation: &str) -> Result<String, Error> {
    let case = run_case(suite, "show", id)?;
    program(implementation, case)
        .map_err(|message| Error::Input(format!("show {id}: --program {implementation}: {message}")))
}

/// The case of this id, unless nothing is run for it. `command` is the subcommand that needs it.
pub(super) fn run_case<'a>(suite: &'a Suite, command: &str, id: &str) -> Result<&'a Case, Error> {
    let found = match (suite.get(id), suite.get_inference(id), suite.get_sweep(id)) {
        (Some(case), ..) => return Ok(case),
        (_, Some(_), _) => "a case of the operation infer",
        (_, _, Some(_)) => "a sweep",
        (None, None, None) => return Err(unknown(suite, command, id)),
    };
    Err(Error::Input(format!("{command} {id}: found {found}, expected a case with a request that is run")))
}

fn unknown(suite: &Suite, command: &str, id: &str) -> Error {
    let nearest = nearest(suite, id).join("\n  ");
    Error::Input(format!("{command} {id}: found no such case, expected an id such as\n  {nearest}"))
}

fn show_case<R, T>(case: &Case<R, T>, yaml: &str, drawing: &str) -> String {
    let examples = &case.examples;
    let fields = [
        ("clause", case.clause.clone()),
        ("nature", nature(case.nature(), case.convention)),
        ("example", examples.join(", ")),
        ("source", sources(&case.sources)),
        ("origin", case.origin.to_string()),
        ("location", case.location.to_string()),
        ("note", case.note.clone().unwrap_or_default()),
    ];
    let mut text = head(&case.id, &case.title, &fields);
    let _ = write!(text, "\n{}\n{drawing}", indented(&visible(yaml)));
    text
}

fn show_sweep(sweep: &Sweep) -> String {
    let bounds: Vec<String> = sweep.with.iter().map(|(name, bound)| format!("{name} {bound}")).collect();
    let fields = [
        ("clause", sweep.clause.clone()),
        ("nature", nature(sweep.nature(), None)),
        ("example", sweep.examples.join(", ")),
        ("source", sources(&sweep.sources)),
        ("location", sweep.location.to_string()),
        ("note", sweep.note.clone().unwrap_or_default()),
        (
            "sweep",
            format!("{} ({}): {}", sweep.sweep, bounds.join(", "), plural(sweep.expected_cases, "case")),
        ),
    ];
    head(&sweep.id, &sweep.title, &fields)
}

/// The nature; of a convention also its name, and what following it means.
pub(super) fn nature(nature: Nature, convention: Option<Convention>) -> String {
    match convention {
        Some(convention) => format!("{nature} {convention}: {}", convention.summary()),
        None => nature.to_string(),
    }
}

fn sources(sources: &[Source]) -> String {
    sources.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

pub(super) fn head(id: &str, title: &str, fields: &[(&str, String)]) -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let mut text = format!("{bold}{id}{bold:#}\n{}\n\n", visible(title));
    for (name, value) in fields {
        for (place, line) in
            visible(value).lines().flat_map(|line| wrapped(line, width().min(110) - 13)).enumerate()
        {
            let name = if place == 0 { name } else { "" };
            let _ = writeln!(text, "  {dim}{name:<9}{dim:#}  {line}");
        }
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// The ids most like one that does not exist, those that begin with it first.
fn nearest<'a>(suite: &'a Suite, id: &str) -> Vec<&'a str> {
    let mut ids: Vec<&str> = suite.ids().collect();
    ids.sort_by_key(|other| (!other.starts_with(id), strsim::levenshtein(id, other)));
    ids.truncate(SUGGESTIONS);
    ids
}
