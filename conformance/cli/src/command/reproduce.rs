//! `broadcheck reproduce`: what a fuzzer left behind, as a case.

use super::proposing::{Found, proposal, report_found};
use super::{Ended, FAILED, HELD, Stop, interrupt, tell_and_end};
use crate::report::describe_request;
use broadcheck_search::generate::decode;
use broadcheck_search::oracle::{Judgement, TARGETS, target};
use broadcheck_search::shrink::{Limits, Sides, shrink};
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

/// The largest artifact that is read, in bytes: far above what libFuzzer makes.
const MAX_BYTES: u64 = 1 << 20;

/// Turn what `cargo fuzz` left behind into a case
///
/// The bytes are decoded to the request that the target saw; the target's oracle judges it, and what disagrees is made
/// as small as possible and written as a case.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  broadcheck reproduce differential fuzz/artifacts/differential/crash-0123
  broadcheck reproduce relations crash-0123 --out findings/

Exit status: 0 all held, 1 it disagrees, 2 the command line or the file was wrong.")]
pub(super) struct Args {
    /// The target: differential, numpy_ndarray, relations or gradient
    #[arg(value_name = "TARGET")]
    target: String,

    /// The file of bytes
    #[arg(value_name = "ARTIFACT")]
    artifact: PathBuf,

    /// A directory for the case; without it, it is printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Ended {
    let name = &args.target;
    let oracle = target(name).ok_or_else(|| {
        let targets = TARGETS.join(", ");
        Stop::Input(format!("reproduce {name}: expected one of the targets that take requests: {targets}"))
    })?;
    let request = decode(&read(&args.artifact)?);
    interrupt::listen()?;
    let limits =
        Limits { time: Duration::from_secs(120), stop: Some(interrupt::flag()), ..Limits::default() };
    let found = match oracle.judge(&request) {
        Judgement::Disagreement(found) => *found,
        held => {
            let mut text: String =
                describe_request(&request).iter().map(|line| format!("  {line}\n")).collect();
            text += &match held {
                Judgement::Vacuous(reason) => format!("\nok: nothing to compare: {reason}\n"),
                _ => "\nok: it holds\n".to_owned(),
            };
            return tell_and_end(&text, HELD);
        }
    };
    let shrunk = shrink(oracle.as_ref(), &request, found, &limits);
    let sides = Sides::builtin(&shrunk.disagreement, format!("the fuzz target {name}"));
    let proposed = proposal(&shrunk, &sides, args.out.as_deref());
    let text = report_found(&Found { shrunk: &shrunk, hits: None, known: None, proposed: &proposed });
    tell_and_end(&format!("{text}\nFAILED: {name} disagrees\n"), FAILED)
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Stop> {
    let said = |error: std::io::Error| Stop::Input(format!("{}: {error}", path.display()));
    let metadata = std::fs::metadata(path).map_err(said)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        let expected = format!("expected a regular file of at most {MAX_BYTES} bytes");
        return Err(Stop::Input(format!("{}: {expected}", path.display())));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(said)?;
    Ok(bytes)
}
