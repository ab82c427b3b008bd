//! `broadcheck list`: lists the cases and sweeps of the suite, one per line.

use super::select::{INFER, Selection, rules_of};
use super::{Ended, Error, PASSED, columns, print};
use crate::report::clean::{visible, visible_in_json};
use broadcheck_spec::{Case, Convention, Nature, OperationKind, RuleSet, Sweep, clauses, examples};
use serde::Serialize;

/// List the cases and sweeps of the suite: id, clause, nature and title
///
/// The nature is `rule`, `arithmetic`, or the name of the convention that the case tests.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck list --rules xla
  broadcheck list --clause PDPD-3
  broadcheck list --convention refusal-order
  broadcheck list --operation infer
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

    /// Only cases of this operation: elementwise, broadcast, gradient or infer. Leaves out sweeps
    #[arg(long, value_name = "OPERATION", value_parser = parse_operation)]
    operation: Option<&'static str>,

    /// Only cases of this nature
    #[arg(long, value_enum, value_name = "NATURE")]
    nature: Option<Kind>,

    /// Only cases that test this convention, such as refusal-order
    #[arg(long, value_name = "NAME")]
    convention: Option<Convention>,

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

/// A nature on the command line.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Kind {
    /// A document states it, or every system that has the rule set does it
    Rule,
    /// IEEE 754 or two's complement arithmetic demands it
    Arithmetic,
    /// Systems differ, and the suite decided
    Convention,
}

impl Kind {
    fn nature(self) -> Nature {
        match self {
            Kind::Rule => Nature::Rule,
            Kind::Arithmetic => Nature::Arithmetic,
            Kind::Convention => Nature::Convention,
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    sweep: bool,
    rules: Option<&'a str>,
    /// `None` for a sweep, whose cases may have several.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'a str>,
    clause: &'a str,
    nature: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    convention: Option<&'a str>,
    title: &'a str,
    examples: &'a [String],
    location: String,
}

impl<'a> Line<'a> {
    fn of_case<R, T>(case: &'a Case<R, T>, rules: RuleSet, operation: &'static str) -> Line<'a> {
        Line {
            id: &case.id,
            sweep: false,
            rules: Some(rules.name()),
            operation: Some(operation),
            clause: &case.clause,
            nature: case.nature().name(),
            convention: case.convention.map(Convention::name),
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
            operation: None,
            clause: &sweep.clause,
            nature: sweep.nature().name(),
            convention: None,
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
    let cases = selected
        .cases
        .iter()
        .map(|case| Line::of_case(case, case.request.rules().set(), case.request.operation().kind().name()));
    let inferences =
        selected.inferences.iter().map(|case| Line::of_case(case, case.request.rules().set(), INFER));
    let lines = cases.chain(inferences).chain(selected.sweeps.iter().map(|sweep| Line::of_sweep(sweep)));
    let wanted = |line: &Line<'_>| {
        args.clause.as_ref().is_none_or(|clause| line.clause == clause)
            && args.operation.is_none_or(|operation| line.operation == Some(operation))
            && args.nature.is_none_or(|kind| line.nature == kind.nature().name())
            && args.convention.is_none_or(|convention| line.convention == Some(convention.name()))
            && args.example.as_ref().is_none_or(|example| line.examples.contains(example))
    };
    let lines: Vec<Line<'_>> = lines.filter(wanted).collect();
    if lines.is_empty() {
        return Err(Error::Input("found no case with all of these properties, expected at least one".into()));
    }
    let text = match args.format {
        Format::Json => {
            visible_in_json(&serde_json::to_string_pretty(&lines).expect("texts can be written as JSON"))
                + "\n"
        }
        Format::Text => {
            let row = |line: &Line<'_>| {
                let nature = line.convention.unwrap_or(line.nature);
                [line.id, line.clause, nature, line.title].map(str::to_owned).to_vec()
            };
            visible(&columns(&lines.iter().map(row).collect::<Vec<_>>()))
        }
    };
    print(&text)?;
    Ok(PASSED)
}

/// The name of an operation, of runs or of inferences.
fn parse_operation(text: &str) -> Result<&'static str, String> {
    let names = OperationKind::ALL.map(OperationKind::name);
    names
        .into_iter()
        .chain([INFER])
        .find(|name| *name == text)
        .ok_or_else(|| format!("`{text}` is not an operation: expected one of {} {INFER}", names.join(" ")))
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
