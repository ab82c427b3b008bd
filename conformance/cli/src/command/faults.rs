//! `broadcheck faults`: measures which planted faults the suite and the fuzzer find.

use super::{Ended, Error, FAILED, PASSED, columns, print_and_end, print_visible};
use crate::report::output;
use broadcheck::globs::Glob;
use broadcheck_faults::hunt::{Cases, LIMIT, SEED};
use broadcheck_faults::table::{MARKER, Row, markdown, rows, summary, totals};
use broadcheck_faults::{CATALOGUE, Fault, INEXPRESSIBLE};
use broadcheck_spec::Suite;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Measure which planted faults the suite and random requests detect
///
/// Each fault is one wrong decision in a small engine. Most are bugs that real libraries have shipped. A
/// fault that survives shows what the suite or the request generator would miss.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck faults
  broadcheck faults --filter gradient
  broadcheck faults --filter 'strides/*one*' --requests 1000
  broadcheck faults --sweeps --format markdown --out conformance/FAULTS.md

The table shows the smallest case that detects a fault (fewest elements, then fewest operands), the number of such \
cases, with --sweeps the first sweep that detects a fault that no case detects, and the number of random requests up to \
the first on which the faulty engine differs from the reference (of `infer`, the number of signatures up to the first \
whose runs contradict the engine). The totals of each class and the survivors follow.

Exit status: 0 exactly the faults that the catalogue lists as survivors survive, 1 others survive or a listed one is \
detected, 2 invalid command line.")]
pub(super) struct Args {
    /// Only faults with this id prefix or glob
    #[arg(long, value_name = "GLOB")]
    filter: Option<String>,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,

    /// Maximum number of random requests per fault
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    requests: u64,

    /// Also run the sweeps on faults that no case detects, which takes many minutes
    #[arg(long)]
    sweeps: bool,

    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,

    /// Output file. Only an earlier file of the same format is overwritten; with text, none is
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One line per fault
    Text,
    /// JSON for programs
    Json,
    /// The page FAULTS.md, with links to bug reports
    Markdown,
}

impl Format {
    fn is_ours(self, content: &str) -> bool {
        match self {
            Format::Text => false,
            Format::Json => {
                serde_json::from_str(content).is_ok_and(|found: Value| found["faults"].is_array())
            }
            Format::Markdown => content.starts_with(MARKER),
        }
    }
}

pub(super) fn run(args: &Args) -> Ended {
    let faults = wanted(args.filter.as_deref())?;
    if let Some(out) = &args.out {
        output::may_write(out, |content| args.format.is_ours(content))?;
    }
    let suite =
        Suite::builtin().map_err(|errors| Error::Input(format!("cannot read the cases\n{errors}")))?;
    let sweeps = if args.sweeps { &suite.sweeps[..] } else { &[] };
    let rows = rows(&faults, &Cases::new(&suite), sweeps, args.seed, args.requests);
    let text = match args.format {
        Format::Text => listing(&rows, args),
        Format::Json => format!("{:#}\n", as_json(&rows, args)),
        Format::Markdown => markdown(&rows, args.seed, args.requests),
    };
    let status = if rows.iter().all(Row::is_as_expected) { PASSED } else { FAILED };
    let Some(out) = &args.out else { return print_and_end(&text, status) };
    output::write(out, &text, |content| args.format.is_ours(content))?;
    print_visible(&format!("written: {}\n", out.display()))?;
    Ok(status)
}

/// The selected faults, at least one.
fn wanted(filter: Option<&str>) -> Result<Vec<&'static Fault>, Error> {
    let Some(filter) = filter else { return Ok(CATALOGUE.clone()) };
    let found: Vec<&'static Fault> = if filter.contains(['*', '?', '[', '{']) {
        let glob = Glob::new(filter).map_err(|error| Error::Input(format!("--filter: {error}")))?;
        CATALOGUE.iter().copied().filter(|fault| glob.matches(fault.id)).collect()
    } else {
        CATALOGUE.iter().copied().filter(|fault| fault.id.starts_with(filter)).collect()
    };
    if filter.is_empty() || found.is_empty() {
        let count = CATALOGUE.len();
        return Err(Error::Input(format!(
            "--filter: found `{filter}`, which matches none of {count} faults, expected the beginning of an id or a glob"
        )));
    }
    Ok(found)
}

fn listing(rows: &[Row<'_>], args: &Args) -> String {
    let mut lines =
        vec![["fault", "found in", "smallest case", "cases", "sweep", "requests"].map(String::from).to_vec()];
    for row in rows {
        let systems: Vec<&str> = row.fault.reports.iter().map(|report| report.system).collect();
        lines.push(vec![
            row.fault.id.into(),
            if systems.is_empty() { "invented".into() } else { systems.join(", ") },
            row.case.map_or_else(|| "NONE".into(), str::to_owned),
            format!("{:>5}", row.cases),
            row.sweep_id().into(),
            row.requests.map_or_else(|| "    NONE".into(), |number| format!("{number:>8}")),
        ]);
    }
    let summary = summary(rows, args.seed, args.requests);
    format!("{}\n{}\n{summary}\n", columns(&lines), totals(rows))
}

fn as_json(rows: &[Row<'_>], args: &Args) -> Value {
    let fault = |row: &Row<'_>| {
        json!({
            "id": row.fault.id,
            "class": row.fault.class.name(),
            "title": row.fault.title,
            "reports": row.fault.reports.iter().map(|report| json!({"system": report.system, "url": report.url})).collect::<Value>(),
            "case": row.case,
            "cases": row.cases,
            "sweep": row.sweep.map(|sweep| &sweep.id),
            "requests": row.requests,
        })
    };
    let outside = |bug: &broadcheck_faults::Inexpressible| json!({"title": bug.title, "system": bug.report.system, "url": bug.report.url, "reason": bug.reason});
    json!({
        "seed": args.seed,
        "limit": args.requests,
        "faults": rows.iter().map(fault).collect::<Value>(),
        "not_expressible": INEXPRESSIBLE.iter().map(outside).collect::<Value>(),
    })
}
