//! What the hunt found, as a table: text and Markdown here, JSON where the command is.

use super::hunt::{all_cases, requests};
use super::{Class, Fault, INEXPRESSIBLE, Report};
use broadcheck_spec::Case;
use std::fmt::Write as _;

/// What catches one fault.
pub struct Row<'a> {
    /// The fault.
    pub fault: &'static Fault,
    /// The smallest case that catches it.
    pub case: Option<&'a Case>,
    /// How many cases do.
    pub cases: usize,
    /// How many requests of the generator it takes.
    pub requests: Option<u64>,
}

impl Row<'_> {
    /// Whether the cases alone and the generator alone catch it.
    pub fn is_caught(&self) -> bool {
        self.case.is_some() && self.requests.is_some()
    }
}

/// Hunts faults by these cases, smallest first, and by so many requests of a seed.
pub fn rows<'a>(faults: &[&'static Fault], cases: &[&'a Case], seed: u64, limit: u64) -> Vec<Row<'a>> {
    let requests = requests(faults, seed, limit);
    let row = |(&fault, requests): (&&'static Fault, Option<u64>)| {
        let caught = all_cases(fault, cases);
        Row { fault, case: caught.first().copied(), cases: caught.len(), requests }
    };
    faults.iter().zip(requests).map(row).collect()
}

/// How a table in Markdown begins: a file that begins so is ours.
pub const MARKER: &str = "<!-- broadcheck faults -->";

/// What the columns mean.
const INTRODUCTION: &str = "\
Each fault is one wrong decision in a small strided engine made for it. The smallest case that catches it is that of the
fewest elements, then operands, then by id; `cases` says how many catch it, `requests` how many requests of the generator
it takes until one does. `broadcheck faults --format markdown --out conformance/FAULTS.md` writes this page.
";

/// The page: every fault with its report and what catches it, and the reports that no request expresses.
pub fn markdown(rows: &[Row<'_>], seed: u64, limit: u64) -> String {
    let mut text = format!("{MARKER}\n# Planted faults\n\n{INTRODUCTION}\n{}\n", summary(rows, seed, limit));
    for class in Class::ALL {
        let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.fault.class == class).collect();
        if of.is_empty() {
            continue;
        }
        let _ = writeln!(
            text,
            "\n## {class}\n\n| fault | what goes wrong | who had it | smallest case | cases | requests |"
        );
        text.push_str("|---|---|---|---|--:|--:|\n");
        for row in of {
            let fault = row.fault;
            let case = row.case.map_or_else(|| "**none**".into(), |case| format!("`{}`", case.id));
            let reports = links(fault.reports);
            let requests = row.requests.map_or_else(|| "**none**".into(), |number| number.to_string());
            let _ = writeln!(
                text,
                "| `{}` | {} | {reports} | {case} | {} | {requests} |",
                fault.id, fault.title, row.cases
            );
        }
    }
    text.push_str("\n## Not expressible\n\nReported bugs that no request can show.\n\n");
    text.push_str("| what goes wrong | who had it | why no request shows it |\n|---|---|---|\n");
    for bug in INEXPRESSIBLE {
        let _ = writeln!(text, "| {} | {} | {} |", bug.title, link(bug.report), bug.reason);
    }
    text
}

/// How many there are and how many are caught.
pub fn summary(rows: &[Row<'_>], seed: u64, limit: u64) -> String {
    let by_cases = rows.iter().filter(|row| row.case.is_some()).count();
    let by_requests = rows.iter().filter(|row| row.requests.is_some()).count();
    let inside = rows.iter().filter(|row| row.fault.class.is_inside()).count();
    let reported = rows.iter().filter(|row| !row.fault.reports.is_empty()).count();
    format!(
        "{} faults, {inside} of them in how operands are laid, walked or summed, {reported} that real systems \
         have had. The cases alone catch {by_cases}; at most {limit} requests of the generator alone, from the seed \
         {seed}, catch {by_requests}.",
        rows.len()
    )
}

fn links(reports: &[Report]) -> String {
    if reports.is_empty() {
        return "invented".into();
    }
    reports.iter().map(|&report| link(report)).collect::<Vec<_>>().join(", ")
}

fn link(report: Report) -> String {
    format!("[{}]({})", report.system, report.url)
}
