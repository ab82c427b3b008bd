//! Asks an adapter for a case as a program in the interface of its system, which needs nothing of broadcheck.

use crate::adapters::{self, PREFIX};
use crate::report::describe_expectation;
use broadcheck_search::subjects::builtin;
use broadcheck_spec::{Case, json};
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// For the start of the system, the program and the end of the process.
const LIMIT: Duration = Duration::from_secs(60);

/// The longest program that is read, in bytes. Adapters write far less.
const MAX_BYTES: u64 = 1 << 20;

/// How long the process is left alone between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The program of a case, which ends with a comment that says what is expected.
///
/// # Errors
/// There is no such adapter, it is not set up, it writes no programs, or not of this case.
pub(super) fn program(implementation: &str, case: &Case) -> Result<String, String> {
    let command = match implementation.strip_prefix(PREFIX) {
        Some(name) => adapters::command(name)?,
        None if builtin(implementation).is_some() => {
            return Err("found a built-in implementation, expected adapter:NAME or a command".into());
        }
        None => implementation.to_owned(),
    };
    let words = shell_words::split(&command).map_err(|error| format!("cannot split the command: {error}"))?;
    let (first, rest) =
        words.split_first().ok_or("the command is empty, expected a program and its arguments")?;
    let mut request = json::request_to_value(&case.request);
    let expected = describe_expectation(&case.request, &case.expectation).join("\n");
    request["expected"] = format!("expected: {expected}").into();
    let mut command = Command::new(first);
    command.args(rest).arg("--program");
    answer(command, request.to_string())
}

/// What a writer of programs answers to a request.
fn answer(mut command: Command, request: String) -> Result<String, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let deadline = Instant::now() + LIMIT;
    if let Some(mut input) = child.stdin.take() {
        // A process that does not read its input ends, or reaches the limit.
        thread::spawn(move || input.write_all(request.as_bytes()));
    }
    let (out, err) = (collected(child.stdout.take()), collected(child.stderr.take()));
    let status = ended(&mut child, deadline)?;
    let text = |from: Receiver<Vec<u8>>| {
        let left = deadline.saturating_duration_since(Instant::now());
        String::from_utf8_lossy(&from.recv_timeout(left).unwrap_or_default()).into_owned()
    };
    let program = text(out);
    match status.code() {
        Some(0) if !program.trim().is_empty() => Ok(program),
        Some(0) => Err("it writes no programs: it printed nothing for --program".into()),
        _ => {
            let message = text(err);
            let last = message.lines().rfind(|line| !line.trim().is_empty());
            Err(last.map_or_else(|| format!("it ended with {status}, expected a program"), str::to_owned))
        }
    }
}

/// Reads a pipe in a thread, up to [`MAX_BYTES`].
fn collected(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read before an error is kept.
            let _ = pipe.take(MAX_BYTES).read_to_end(&mut bytes);
        }
        // The receiver may no longer wait.
        let _ = sender.send(bytes);
    });
    receiver
}

fn ended(child: &mut Child, deadline: Instant) -> Result<std::process::ExitStatus, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            found => {
                // It has ended, or is killed; either way nothing is left to do.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(match found {
                    Err(error) => format!("cannot wait for its end: {error}"),
                    Ok(_) => format!("it wrote no program within {} s", LIMIT.as_secs()),
                });
            }
        }
    }
}
