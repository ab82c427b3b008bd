//! `broadcheck reproduce`: turns an artifact of a fuzz target into a case.

use super::finding_report::{Found, proposal, report_found};
use super::{Ended, Error, FAILED, PASSED, interrupt, print_visible_and_end};
use crate::report::{describe_request, describe_signature};
use broadcheck_search::generate::{decode, decode_signature};
use broadcheck_search::inference::{Relation, Verdict};
use broadcheck_search::oracle::{INFER, Judgement, TARGETS, inference, target};
use broadcheck_search::shrink::{Limits, Shrunk, Sides, shrink, shrink_signature};
use broadcheck_spec::json::Question;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

/// The largest artifact that is read, in bytes: far more than libFuzzer writes.
const MAX_BYTES: u64 = 1 << 20;

/// Turn an artifact of `cargo fuzz` into a case
///
/// Decodes the bytes to the request or signature that the fuzz target ran, judges it with the target's
/// oracle, and shrinks a disagreement to the smallest case that shows it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck reproduce differential fuzz/artifacts/differential/crash-0123
  broadcheck reproduce relations crash-0123 --out findings/

Exit status: 0 no disagreement, 1 the target disagrees, 2 invalid command line or file.")]
pub(super) struct Args {
    /// Fuzz target: differential, numpy_ndarray, relations, gradient or infer
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
    if name == INFER {
        return run_signature(args);
    }
    let oracle = target(name).ok_or_else(|| {
        let targets = TARGETS.join(", ");
        Error::Input(format!(
            "reproduce {name}: found no such fuzz target, expected one of the targets of requests and signatures: {targets}, {INFER}"
        ))
    })?;
    let request = decode(&read(&args.artifact)?);
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
    let shrunk = shrink(oracle.as_ref(), &request, found, &limits()).map(Question::Run);
    failed(args, &shrunk)
}

fn run_signature(args: &Args) -> Ended {
    let Some(signature) = decode_signature(&read(&args.artifact)?) else {
        return print_visible_and_end("ok: these bytes draw no signature\n", PASSED);
    };
    let oracle = inference();
    let found = match oracle.judge(&signature, &mut Relation::default()) {
        Verdict::Disagreement(found) => *found,
        Verdict::Agreed { .. } | Verdict::Vacuous(_) | Verdict::Convention => {
            let lines = describe_signature(&signature);
            let text: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            return print_visible_and_end(&(text + "\nok: no disagreement\n"), PASSED);
        }
    };
    let shrunk = shrink_signature(&oracle, signature, found, &limits()).map(Question::Infer);
    failed(args, &shrunk)
}

fn limits() -> Limits<'static> {
    Limits { time: Duration::from_secs(120), stop: Some(interrupt::flag()), ..Limits::default() }
}

fn failed(args: &Args, shrunk: &Shrunk<Question>) -> Ended {
    let name = &args.target;
    let sides = Sides::builtin(&shrunk.disagreement, format!("the fuzz target {name}"));
    let proposed = proposal(shrunk, &sides, args.out.as_deref());
    let text = report_found(&Found { shrunk, hits: None, known: None, waits: false, proposed: &proposed });
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
