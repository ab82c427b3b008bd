//! `broadcheck serve`: answers requests with a built-in implementation.

use super::{Ended, Error, PASSED};
use broadcheck_search::subjects::{NAMES, builtin};
use std::io;

/// Answer requests in the protocol on standard input with a built-in implementation
#[derive(clap::Args)]
#[command(after_help = "\
Example, which broadcasts one number to a shape:
  broadcheck serve --impl reference
  {\"cmd\":\"start\",\"version\":1}
  {\"cmd\":\"run\",\"seq\":1,\"request\":{\"rules\":\"numpy\",\"operation\":\"broadcast\",
  \"target_shape\":[2],\"operands\":[
  {\"name\":\"a\",\"dtype\":\"f64\",\"shape\":[],\"values\":[1]}]}}
  {\"cmd\":\"stop\"}

Each message is one line; `run` is wrapped here. conformance/PROTOCOL.md describes the messages.

Exit status: 0 after `stop` or the end of the input, 2 for another version of the protocol.")]
pub(super) struct Args {
    /// Implementation that answers: reference, fast or ndarray
    #[arg(long = "impl", value_name = "NAME", default_value = NAMES[0])]
    implementation: String,

    /// Declare batches: a message may have up to N requests, which are answered together
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    batch: usize,
}

pub(super) fn run(args: &Args) -> Ended {
    let name = &args.implementation;
    let implementation = builtin(name).ok_or_else(|| {
        Error::Input(format!(
            "--impl {name}: found no such implementation, expected one of {}",
            NAMES.join(", ")
        ))
    })?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    broadcheck_harness::serve_batches(implementation.as_ref(), args.batch, &mut input, &mut output)?;
    Ok(PASSED)
}
