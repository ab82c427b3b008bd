//! The other side of the protocol: a built-in implementation that answers requests, as an oracle.

use super::lines::{Line, read_line, shortened, skip_line};
use super::start::{self, VERSION};
use super::strict::complaint;
use broadcheck::run::{infer_caught, run_caught};
use broadcheck_judge::limits::elements_within;
use broadcheck_spec::json::{self, Question};
use broadcheck_spec::{Implementation, Inference, Outcome, Request, Signature};
use serde_json::{Value, json};
use std::io::{self, BufRead, ErrorKind, Write};

/// The maximum number of elements of a result, which is written as one line of JSON.
const MAX_ELEMENTS: usize = 1 << 20;

/// The maximum length of a line, in bytes: four times that of a case file, and enough for an operand of
/// [`MAX_ELEMENTS`] f64 values with all digits.
const MAX_LINE: usize = 32 << 20;

/// The maximum number of commas in a line: enough for two operands of [`MAX_ELEMENTS`] values. A number or an
/// empty string takes 2 bytes of the line, and up to 80 while the line is parsed.
const MAX_COMMAS: usize = 2 * MAX_ELEMENTS + 1024;

/// The maximum number of lists and objects in a line: more than 10,000 operands. Each takes up to 700 bytes
/// while the line is parsed, but as little as 8 bytes of the line (`{"":[0]},`). SECURITY.md has the total.
const MAX_LISTS: usize = 1 << 16;

/// The maximum length shown of an invalid field, in characters.
const LONGEST: usize = 160;

/// Answers every line of `input` with a line of `output`, flushed, until `stop` or the end of the input. The
/// answer to an invalid line is `errored`, with the `seq` of the line if it has one.
///
/// # Errors
/// `start` asks for another version of the protocol (it is answered first), or a stream breaks. A closed
/// output is not an error.
pub fn serve(
    implementation: &dyn Implementation,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<(), String> {
    match answer_all(implementation, input, output) {
        Ok(ended) => ended,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn answer_all(
    implementation: &dyn Implementation,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Result<(), String>> {
    let mut line = Vec::new();
    loop {
        let ended = read_line(input, &mut line, || MAX_LINE, |_| {})?;
        let reply = match ended {
            Line::End => return Ok(Ok(())),
            Line::TooLong => {
                skip_line(input)?;
                Reply::Answer(errored(None, &too_long()))
            }
            Line::Whole | Line::Half if line.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Whole | Line::Half => match too_many(&line) {
                Some(why) => Reply::Answer(errored(None, &why)),
                None => reply(implementation, &line),
            },
        };
        let (message, last) = match reply {
            Reply::Stop => return Ok(Ok(())),
            Reply::Answer(message) => (message, None),
            Reply::Refuse(why) => (json!({ "version": VERSION, "errored": { "message": why } }), Some(why)),
        };
        let mut text = message.to_string();
        text.push('\n');
        output.write_all(text.as_bytes())?;
        output.flush()?;
        if let Some(why) = last {
            return Ok(Err(why));
        }
    }
}

fn too_long() -> String {
    format!(
        "found a line of more than {MAX_LINE} bytes ({} MiB), expected one of at most that",
        MAX_LINE >> 20
    )
}

/// Why a line would take too much memory while it is parsed.
fn too_many(line: &[u8]) -> Option<String> {
    let count = |of: fn(u8) -> bool| line.iter().filter(|&&byte| of(byte)).count();
    let error = |most, what| format!("found a line of more than {most} {what}, expected one of at most that");
    if line.len() > MAX_COMMAS && count(|byte| byte == b',') > MAX_COMMAS {
        return Some(error(MAX_COMMAS, "values"));
    }
    if line.len() > MAX_LISTS && count(|byte| matches!(byte, b'[' | b'{')) > MAX_LISTS {
        return Some(error(MAX_LISTS, "lists and objects"));
    }
    None
}

enum Reply {
    Answer(Value),
    /// The last answer.
    Refuse(String),
    Stop,
}

fn reply(implementation: &dyn Implementation, line: &[u8]) -> Reply {
    let mut message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Reply::Answer(errored(None, &complaint(&error))),
    };
    let seq = message.get("seq").filter(|seq| seq.is_number()).cloned();
    match message.get("cmd").and_then(Value::as_str) {
        Some("start") => match message.get("version") {
            Some(version) if version.as_f64() == Some(1.0) => {
                let limit = implementation.capabilities().max_elements.min(MAX_ELEMENTS);
                Reply::Answer(start::write(implementation, limit))
            }
            found => {
                let found =
                    found.map_or("no version".into(), |version| format!("version {}", brief(version)));
                Reply::Refuse(format!("start: found {found} of the protocol, expected version {VERSION}"))
            }
        },
        Some("run") => {
            let request = message.get_mut("request").map(Value::take);
            Reply::Answer(run(implementation, seq, request))
        }
        Some("stop") => Reply::Stop,
        _ => {
            let found = message.get("cmd").map_or("nothing".into(), brief);
            let why = format!("cmd: found {found}, expected \"start\", \"run\" or \"stop\"");
            Reply::Answer(errored(seq, &why))
        }
    }
}

fn brief(value: &Value) -> String {
    shortened(value.to_string().as_bytes(), LONGEST)
}

fn run(implementation: &dyn Implementation, seq: Option<Value>, request: Option<Value>) -> Value {
    let Some(seq) = seq else {
        return errored(None, "seq: found no number, expected the number of the request");
    };
    let Some(request) = request else {
        return errored(Some(seq), "request: found nothing, expected an object");
    };
    let fields = match json::question_from_value(request) {
        Err(malformed) => return errored(Some(seq), &format!("request: {malformed}")),
        Ok(Question::Run(request)) => json::outcome_to_value(&request, &outcome(implementation, &request)),
        Ok(Question::Infer(signature)) => {
            json::inferred_to_value(&signature, &inferred(implementation, &signature))
        }
    };
    let mut answer = json!({ "seq": seq });
    if let (Value::Object(answer), Value::Object(fields)) = (&mut answer, fields) {
        answer.extend(fields);
    }
    answer
}

fn inferred(implementation: &dyn Implementation, signature: &Signature) -> Outcome<Inference> {
    match implementation.capabilities().covers_signature(signature) {
        Ok(()) => infer_caught(implementation, signature),
        Err(reason) => Outcome::Skipped { reason },
    }
}

/// Skips requests that are not declared or too large before anything is allocated.
fn outcome(implementation: &dyn Implementation, request: &Request) -> Outcome {
    if let Err(reason) = implementation.capabilities().covers(request) {
        return Outcome::Skipped { reason };
    }
    if let Err(reason) = elements_within(request, None, MAX_ELEMENTS) {
        return Outcome::Skipped { reason };
    }
    run_caught(implementation, request)
}

fn errored(seq: Option<Value>, why: &str) -> Value {
    match seq {
        Some(seq) => json!({ "seq": seq, "errored": { "message": why } }),
        None => json!({ "errored": { "message": why } }),
    }
}
