//! `broadcheck reproduce`: turns an artifact of a fuzz target into a case.

use super::finding_report::{Found, proposal, report_found};
use super::{Ended, Error, FAILED, PASSED, interrupt, print_visible_and_end};
use crate::report::describe_request;
use broadcheck_search::generate::decode;
use broadcheck_search::oracle::{Judgement, TARGETS, target};
use broadcheck_search::shrink::{Limits, Sides, shrink};
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

/// The largest artifact that is read, in bytes: far more than libFuzzer writes.
const MAX_BYTES: u64 = 1 << 20;

/// Turn an artifact of `cargo fuzz` into a case
///
/// Decodes the bytes to the request that the fuzz target ran, judges it with the target's oracle, and shrinks
/// a disagreement to the smallest case that shows it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck reproduce differential fuzz/artifacts/differential/crash-0123
  broadcheck reproduce relations crash-0123 --out findings/

Exit status: 0 no disagreement, 1 the target disagrees, 2 invalid command line or file.")]
pub(super) struct Args {
    /// Fuzz target: differential, numpy_ndarray, relations or gradient
    #[arg(value_name = "TARGET")]
    target: String,

    /// Artifact file, such as crash-0123
    #[arg(value_name = "ARTIFACT")]
    artifact: PathBuf,

    /// Directory for the case [default: print it]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let name = &args.target;
    let oracle = target(name).ok_or_else(|| {
        let targets = TARGETS.join(", ");
        Error::Input(format!(
            "reproduce {name}: found no such fuzz target, expected one of the targets of requests: {targets}"
        ))
    })?;
    let request = decode(&read(&args.artifact)?);
    let limits =
        Limits { time: Duration::from_secs(120), stop: Some(interrupt::flag()), ..Limits::default() };
    let found = match oracle.judge(&request) {
        Judgement::Disagreement(found) => *found,
        held => {
            let mut text: String =
                describe_request(&request).iter().map(|line| format!("  {line}\n")).collect();
            text += &match held {
                Judgement::Vacuous(reason) => format!("\nok: nothing to compare: {reason}\n"),
                Judgement::Convention(convention) => {
                    format!("\nok: differs only in the convention {convention}\n")
                }
                Judgement::Agreed(_) | Judgement::Disagreement(_) => "\nok: no disagreement\n".to_owned(),
            };
            return print_visible_and_end(&text, PASSED);
        }
    };
    let shrunk = shrink(oracle.as_ref(), &request, found, &limits);
    let sides = Sides::builtin(&shrunk.disagreement, format!("the fuzz target {name}"));
    let proposed = proposal(&shrunk, &sides, args.out.as_deref());
    let text =
        report_found(&Found { shrunk: &shrunk, hits: None, known: None, waits: false, proposed: &proposed });
    print_visible_and_end(&format!("{text}\nFAILED: {name} disagrees\n"), FAILED)
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Error> {
    let failed = |error: std::io::Error| Error::Input(format!("{}: {error}", path.display()));
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        let expected = format!("expected a regular file of at most {MAX_BYTES} bytes");
        return Err(Error::Input(format!("{}: {expected}", path.display())));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(failed)?;
    Ok(bytes)
}
