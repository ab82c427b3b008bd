//! README.md of a kit: everything that somebody needs who has only the directory.

use super::cases::{Chosen, Expanded, Format, Kind, Written};
use super::choice::Choice;
use super::manifest::{File, Manifest};
use askama::Template;
use broadcheck_spec::{RefusalKind, RuleSet};
use serde_json::Value;

/// The case that README.md explains.
pub(super) const EXAMPLE: &str = "numpy/examples/vector-onto-matrix";

#[derive(Template)]
#[template(path = "kit-readme.txt")]
struct Readme<'a> {
    repository: &'static str,
    version: &'a str,
    commit: &'a str,
    /// The command that writes this kit.
    export: String,
    format: u32,
    total: usize,
    cases_of_infer: usize,
    cases_of_sweeps: usize,
    retyped: Option<usize>,
    left_out: usize,
    sweeps_left_out: usize,
    has_consumers: bool,
    has_json: bool,
    has_yaml: bool,
    directories: Vec<Directory>,
    rules: Vec<Row>,
    refusals: usize,
    /// The kinds of refusals, as a list in words.
    kinds: String,
    admitted: usize,
    max_elements: usize,
    max_rank: usize,
    max_operands: usize,
    example: String,
}

struct Directory {
    name: &'static str,
    contents: &'static str,
    count: usize,
}

/// The numbers of cases of a rule set: required, optional, extreme, from sweeps, of the operation `infer`,
/// with a destination.
struct Row {
    name: &'static str,
    counts: [usize; 6],
}

/// The file, with the numbers of this kit.
pub(super) fn file(choice: &Choice, chosen: &Chosen, manifest: &Manifest, has_consumers: bool) -> File {
    let options = manifest.selection.options();
    let space = if options.is_empty() { "" } else { " " };
    let rows: Vec<Row> = RuleSet::ALL.into_iter().map(|rules| row(rules, chosen)).collect();
    let sum = |column: usize| rows.iter().map(|row| row.counts[column]).sum();
    let directory = |column, name, contents| Directory { name, contents, count: sum(column) };
    let readme = Readme {
        repository: env!("CARGO_PKG_REPOSITORY"),
        version: &manifest.version,
        commit: &manifest.commit,
        export: format!("broadcheck export{space}{options} --out DIR"),
        format: manifest.format,
        total: manifest.total(),
        cases_of_infer: manifest.cases_of_infer,
        cases_of_sweeps: manifest.cases_of_sweeps,
        retyped: manifest.retyped,
        left_out: manifest.left_out,
        sweeps_left_out: manifest.sweeps_left_out.values().sum(),
        has_consumers,
        has_json: choice.format.contains(&Format::Json),
        has_yaml: choice.format.contains(&Format::Yaml),
        directories: vec![
            directory(0, "json/", "the required cases: every library of the rule set must pass them"),
            directory(1, "json/optional/", "cases about conventions: a library may differ"),
            directory(2, "json/extreme/", "cases with lengths or positions beyond 2^53"),
            directory(3, "json/sweeps/", "sweeps of patterns, written out: many similar cases"),
            directory(5, "into/", "cases with a destination, for libraries with `out=` or `+=`"),
            directory(4, "infer/", "cases of the operation `infer`, for compilers: shapes without values"),
        ],
        kinds: kinds(chosen),
        refusals: chosen.cases().filter(|case| case.refuses()).count(),
        admitted: chosen.cases().filter(|case| case.has_admitted()).count(),
        max_elements: chosen.cases().map(Written::elements).max().unwrap_or(0),
        max_rank: chosen.cases().map(Written::rank).max().unwrap_or(0),
        max_operands: chosen.cases().map(Written::operands).max().unwrap_or(0),
        rules: rows.into_iter().filter(|row| row.counts != [0; 6]).collect(),
        example: chosen.example.as_ref().map(example).unwrap_or_default(),
    };
    File::new("README.md", readme.render().expect("writing to a string does not fail") + "\n")
}

/// The kinds that cases of the kit require: `` `dimension_mismatch`, `rank_mismatch` ``.
fn kinds(chosen: &Chosen) -> String {
    let required = |kind: &&RefusalKind| chosen.cases().any(|case| case.refusal() == Some(**kind));
    let names: Vec<String> =
        RefusalKind::ALL.iter().filter(required).map(|kind| format!("`{}`", kind.name())).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn row(rules: RuleSet, chosen: &Chosen) -> Row {
    let of = |kind: Kind| chosen.cases().filter(|case| case.rules() == rules && case.kind() == kind).count();
    let [required, optional, extreme, into] = Kind::ALL.map(of);
    let swept = chosen.expanded.iter().filter(|sweep| sweep.rules() == Some(rules)).map(Expanded::count);
    let inferred = chosen.inferences().filter(|case| case.rules() == rules).count();
    Row { name: rules.name(), counts: [required, optional, extreme, swept.sum(), inferred, into] }
}

/// The example as JSON, with one field or operand per line.
fn example(case: &Written) -> String {
    let line = |(name, value): (&String, &Value)| match value {
        Value::Array(items) if items.iter().all(Value::is_object) => {
            let items: Vec<String> = items.iter().map(|item| format!("   {item}")).collect();
            format!(" \"{name}\": [\n{}]", items.join(",\n"))
        }
        value => format!(" \"{name}\": {value}"),
    };
    let fields = case.json().as_object().into_iter().flatten();
    format!("{{\n{}\n}}", fields.map(line).collect::<Vec<_>>().join(",\n"))
}
