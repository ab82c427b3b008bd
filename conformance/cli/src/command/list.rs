//! `broadcheck list`: lists the cases and sweeps of the suite, one per line.

use super::select::{Selection, rules_of};
use super::{Ended, Error, PASSED, columns, print};
use crate::report::clean::{visible, visible_in_json};
use broadcheck_spec::{Case, RuleSet, Sweep, clauses, examples};
use serde::Serialize;

/// List the cases and sweeps of the suite: id, clause and title
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck list --rules xla
  broadcheck list --clause PDPD-3
  broadcheck list --example X18 --format json")]
pub(super) struct Args {
    #[command(flatten)]
    selection: Selection,

    /// Only cases of this clause of SEMANTICS.md, such as XLA-3
    #[arg(long, value_name = "CLAUSE")]
    clause: Option<String>,

    /// Only cases of this example in the source documents, such as X18
    #[arg(long, value_name = "EXAMPLE")]
    example: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One line per case
    Text,
    /// A JSON array of objects
    Json,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    sweep: bool,
    rules: Option<&'a str>,
    clause: &'a str,
    title: &'a str,
    examples: &'a [String],
    location: String,
}

impl<'a> Line<'a> {
    fn of_case(case: &'a Case) -> Line<'a> {
        Line {
            id: &case.id,
            sweep: false,
            rules: Some(case.request.rules().set().name()),
            clause: &case.clause,
            title: &case.title,
            examples: &case.examples,
            location: case.location.to_string(),
        }
    }

    fn of_sweep(sweep: &'a Sweep) -> Line<'a> {
        Line {
            id: &sweep.id,
            sweep: true,
            rules: rules_of(sweep).map(RuleSet::name),
            clause: &sweep.clause,
            title: &sweep.title,
            examples: &sweep.examples,
            location: sweep.location.to_string(),
        }
    }
}

pub(super) fn run(args: &Args) -> Ended {
    check_names(args)?;
    let suite = args.selection.load()?;
    let selected = args.selection.of(&suite)?;
    let lines = selected.cases.iter().map(|case| Line::of_case(case));
    let lines = lines.chain(selected.sweeps.iter().map(|sweep| Line::of_sweep(sweep)));
    let wanted = |line: &Line<'_>| {
        args.clause.as_ref().is_none_or(|clause| line.clause == clause)
            && args.example.as_ref().is_none_or(|example| line.examples.contains(example))
    };
    let lines: Vec<Line<'_>> = lines.filter(wanted).collect();
    if lines.is_empty() {
        return Err(Error::Input("found no case of this clause and example, expected at least one".into()));
    }
    let text = match args.format {
        Format::Json => {
            visible_in_json(&serde_json::to_string_pretty(&lines).expect("texts can be written as JSON"))
                + "\n"
        }
        Format::Text => {
            let row =
                |line: &Line<'_>| vec![line.id.to_owned(), line.clause.to_owned(), line.title.to_owned()];
            visible(&columns(&lines.iter().map(row).collect::<Vec<_>>()))
        }
    };
    print(&text)?;
    Ok(PASSED)
}

/// Rejects a clause or an example that does not exist.
fn check_names(args: &Args) -> Result<(), Error> {
    if let Some(clause) = &args.clause
        && clauses::get(clause).is_none()
    {
        let known: Vec<&str> = clauses::ALL.iter().map(|clause| clause.id).collect();
        return Err(Error::Input(format!(
            "--clause {clause}: found no such clause, expected one of {}",
            known.join(" ")
        )));
    }
    if let Some(example) = &args.example
        && examples::get(example).is_none()
    {
        return Err(Error::Input(format!(
            "--example {example}: found no such example, expected one of examples.yaml"
        )));
    }
    Ok(())
}
