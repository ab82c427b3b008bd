//! `broadcheck serve`: an implementation of ours, as an oracle for others.

use super::{Ended, HELD, Stop};
use broadcheck_search::subjects::{NAMES, builtin};
use std::io;

/// Answer requests on standard input, one line of JSON each: the protocol's other side, as an oracle
#[derive(clap::Args)]
#[command(after_help = "\
Example, in which the first line asks what it does and the second adds two numbers:
  broadcheck serve --impl reference
  {\"cmd\":\"start\",\"version\":1}
  {\"cmd\":\"run\",\"seq\":1,\"request\":{\"rules\":\"numpy\",\"operation\":\"elementwise\",\"expression\":[\"add\",\"a\",\"b\"],
  \"operands\":[{\"name\":\"a\",\"dtype\":\"f64\",\"shape\":[],\"values\":[1]},{\"name\":\"b\",\"dtype\":\"f64\",\"shape\":[],\"values\":[2]}]}}
  {\"cmd\":\"stop\"}
(each message is one line). conformance/PROTOCOL.md describes the messages.

Exit status: 0 after `stop` or the end of the input, 2 for another version of the protocol.")]
pub(super) struct Args {
    /// The implementation that answers: reference, fast or ndarray
    #[arg(long = "impl", value_name = "NAME", default_value = NAMES[0])]
    implementation: String,
}

pub(super) fn run(args: &Args) -> Ended {
    let name = &args.implementation;
    let implementation = builtin(name).ok_or_else(|| {
        Stop::Input(format!(
            "--impl {name}: found no such implementation, expected one of {}",
            NAMES.join(", ")
        ))
    })?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    broadcheck_harness::serve(implementation.as_ref(), &mut input, &mut output)?;
    Ok(HELD)
}
