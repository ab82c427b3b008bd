//! `broadcheck exhaust --infer`: asks for the inference of every small signature.

use super::exhaust::{Args, grouped, right_aligned};
use super::finding_report::make_directory;
use super::implementations::{find, with_jobs};
use super::{Ended, Error, FAILED, INTERRUPTED, PASSED, columns, interrupt, print_visible_and_end};
use crate::report::plural;
use broadcheck_search::inference::{Bounds, Finding, InferReport, exhaust, propose, shrink};
use broadcheck_search::shrink::{Written, write_case};
use broadcheck_spec::{Implementation, RuleSet};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The usual bounds on rank and length.
const USUAL: (usize, usize) = (2, 3);

pub(super) fn run(args: &Args) -> Ended {
    let rules = if args.rules.is_empty() { &RuleSet::ALL[..] } else { &args.rules };
    let bounds = Bounds::new(args.max_rank.unwrap_or(USUAL.0), args.max_dim.unwrap_or(USUAL.1), rules)?;
    let bounds = bounds.exactly(args.exact);
    make_directory(args.out.as_deref())?;
    let implementations = find(&args.implementations.distinct()?, args.timeout)?;
    let implementations: Vec<&dyn Implementation> =
        implementations.iter().map(|implementation| implementation.as_ref() as &dyn Implementation).collect();
    let report = super::exhaust::with_progress(|progress| {
        with_jobs(args.jobs, || exhaust(&bounds, &implementations, progress))
    })?;
    let report = report.map_err(Error::Input)?;
    let silent: Vec<&str> = implementations
        .iter()
        .map(|implementation| implementation.name())
        .filter(|name| report.complete && report.asked_nothing(name))
        .collect();
    // As with `check`, an implementation that was named must have got some signature.
    let held = report.held() && (silent.is_empty() || !args.implementations.are_named());
    let status = match (report.complete, held) {
        (false, _) => INTERRUPTED,
        (true, true) => PASSED,
        (true, false) => FAILED,
    };
    let mut text = rendered(&report, &silent, held);
    if let Some(out) = &args.out {
        text += &write_cases(&report, &implementations, out);
    }
    print_visible_and_end(&text, status)
}

fn rendered(report: &InferReport, silent: &[&str], held: bool) -> String {
    let mut text = format!("{}\n\n{}\n{}", report.bounds, signatures(report), answers(report));
    for wider in &report.wider {
        let _ = write!(text, "\nWIDER  {wider}\n");
    }
    let all: u64 = report.rules.iter().flat_map(|count| &count.implementations).map(|one| one.wider).sum();
    more(&mut text, all, report.wider.len());
    for finding in &report.findings {
        let _ = write!(text, "\nDIFFERENCE  {finding}\n");
    }
    more(&mut text, report.finding_count, report.findings.len());
    for name in silent {
        let _ = writeln!(text, "\n{name} was not tested: it declares no signature within the bounds");
    }
    let inexpressible: u64 = report.rules.iter().map(|count| count.inexpressible).sum();
    if inexpressible > 0 {
        let _ = writeln!(
            text,
            "\n{} with results that no shape expresses, against INFER-3",
            plural(inexpressible, "signature")
        );
    }
    let verdict = match (report.complete, held) {
        (false, _) => "interrupted",
        (true, true) => "ok",
        (true, false) if report.answers() == 0 => "FAILED, nothing was checked",
        (true, false) => "FAILED",
    };
    let _ = writeln!(
        text,
        "\n{verdict}: {} signatures, {} answers, {} of them wider, {}, {:.1} s",
        grouped(report.signatures()),
        grouped(report.answers()),
        grouped(all),
        plural(report.finding_count, "difference"),
        report.elapsed.as_secs_f64()
    );
    text
}

fn more(text: &mut String, all: u64, shown: usize) {
    if all > shown as u64 {
        let _ = writeln!(text, "\nand {} more", all - shown as u64);
    }
}

/// The signatures of each rule set, and the runs that were tried.
fn signatures(report: &InferReport) -> String {
    let head = ["rule set", "signatures", "always", "depends", "refused", "runs tried", "sampled"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for count in &report.rules {
        let numbers =
            [count.signatures, count.always, count.depends, count.refused, count.runs, count.sampled];
        rows.push([count.rules.to_string()].into_iter().chain(numbers.map(grouped)).collect());
    }
    columns(&right_aligned(rows, 1..7))
}

/// The answers of each implementation.
fn answers(report: &InferReport) -> String {
    let head =
        ["rule set", "of", "exact", "wider", "conventions", "failed", "compared with the first", "not asked"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for count in &report.rules {
        for one in count.implementations.iter().filter(|one| one.judged() > 0) {
            let numbers =
                [one.exact, one.wider, one.conventions, one.failed, one.compared, one.not_asked].map(grouped);
            let names = [count.rules.to_string(), one.implementation.clone()];
            rows.push(names.into_iter().chain(numbers).collect());
        }
    }
    columns(&right_aligned(rows, 2..8))
}

/// Shrinks the findings and writes a case for each kind.
fn write_cases(report: &InferReport, implementations: &[&dyn Implementation], out: &Path) -> String {
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for found in &report.findings {
        let kind = (found.implementation.as_str(), found.signature.rules().set(), &found.kind);
        if !seen.insert(kind) {
            continue;
        }
        let subject = implementations.iter().find(|one| one.name() == found.implementation);
        match subject.and_then(|subject| shrink(found, *subject)) {
            Some(smallest) => text += &written(&smallest, &report.bounds, out),
            None if interrupt::pressed() => text += "\na finding has no case: the run was interrupted\n",
            None => text += &format!("\n{found}\n  could not be reproduced, and has no case\n"),
        }
    }
    text
}

fn written(finding: &Finding, bounds: &Bounds, out: &Path) -> String {
    let proposal = propose(finding, &format!("broadcheck exhaust --infer, {bounds}"));
    let place = match proposal.and_then(|proposal| write_case(out, &proposal)) {
        Ok(Written::New(path)) => format!("written: {}", path.display()),
        Ok(Written::Existing(path)) => format!("exists already, not changed: {}", path.display()),
        Err(message) => message,
    };
    format!("\n{finding}\n  {place}\n")
}
