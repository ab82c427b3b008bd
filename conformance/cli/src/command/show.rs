//! `broadcheck show`: prints cases in full, with a drawing of the alignment.

use super::explain::painted;
use super::select::load;
use super::{Ended, Error, PASSED, print, width};
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

`broadcheck list` prints the ids.")]
pub(super) struct Args {
    /// Ids of cases or sweeps
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    /// Case file or directory to use instead of the built-in suite. May be repeated
    #[arg(long, value_name = "PATH")]
    cases: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let suite = load(&args.cases)?;
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
    let nearest = nearest(suite, id);
    Err(Error::Input(format!(
        "show {id}: found no such case, expected an id such as\n  {}",
        nearest.join("\n  ")
    )))
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
