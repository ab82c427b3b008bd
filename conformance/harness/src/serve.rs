//! The other side of the protocol: a built-in implementation that answers requests, as an oracle.

use super::lines::{Line, read_line, shortened, skip_line};
use super::start::{self, LARGEST_BATCH, VERSION};
use super::strict::complaint;
use broadcheck::run::{infer_caught, run_caught};
use broadcheck_judge::limits::elements_within;
use broadcheck_spec::json::{self, Question};
use broadcheck_spec::{Implementation, Inference, Outcome, Request, Signature};
use serde_json::{Value, json};
use std::io::{self, BufRead, ErrorKind, Write};

/// The maximum number of elements of a result, and of those of a batch together, which are written as one
/// line of JSON.
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
    serve_batches(implementation, 1, input, output)
}

/// Like [`serve`], and declares that a message may have up to this number of requests. The protocol allows at
/// most 256.
///
/// # Errors
/// As [`serve`].
pub fn serve_batches(
    implementation: &dyn Implementation,
    batch: usize,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<(), String> {
    let batch = batch.clamp(1, LARGEST_BATCH);
    match answer_all(&Served { implementation, batch }, input, output) {
        Ok(ended) => ended,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// What answers, and the number of requests that a message may have.
struct Served<'a> {
    implementation: &'a dyn Implementation,
    batch: usize,
}

fn answer_all(
    served: &Served<'_>,
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
                None => reply(served, &line),
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

fn reply(served: &Served<'_>, line: &[u8]) -> Reply {
    let implementation = served.implementation;
    let mut message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return Reply::Answer(errored(None, &complaint(&error))),
    };
    let seq = message.get("seq").filter(|seq| seq.is_number()).cloned();
    match message.get("cmd").and_then(Value::as_str) {
        Some("start") => match message.get("version") {
            Some(version) if version.as_f64() == Some(1.0) => {
                let limit = implementation.capabilities().max_elements.min(MAX_ELEMENTS);
                let mut answer = start::write(implementation, limit);
                if served.batch > 1 {
                    answer["implementation"]["batch"] = served.batch.into();
                }
                Reply::Answer(answer)
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
        Some("batch") => Reply::Answer(batch(served, message.get_mut("requests").map(Value::take))),
        Some("stop") => Reply::Stop,
        _ => {
            let found = message.get("cmd").map_or("nothing".into(), brief);
            let why = format!("cmd: found {found}, expected \"start\", \"run\", \"batch\" or \"stop\"");
            Reply::Answer(errored(seq, &why))
        }
    }
}

fn brief(value: &Value) -> String {
    shortened(value.to_string().as_bytes(), LONGEST)
}

/// Answers the requests of a batch in their order, if their results together are not too large.
fn batch(served: &Served<'_>, requests: Option<Value>) -> Value {
    let Some(Value::Array(requests)) = requests else {
        return errored(None, "requests: found no list, expected a list of requests");
    };
    let (found, most) = (requests.len(), served.batch);
    if found > most {
        return errored(
            None,
            &format!("requests: found {found}, expected at most {most}, the declared batch"),
        );
    }
    let parse = |mut one: Value| {
        let seq = one.get("seq").filter(|seq| seq.is_number()).cloned();
        parsed(seq, one.get_mut("request").map(Value::take))
    };
    let all: Vec<Result<Asked, Value>> = requests.into_iter().map(parse).collect();
    let elements = all.iter().flatten().fold(0usize, |sum, asked| sum.saturating_add(asked.elements()));
    if all.len() > 1 && elements > MAX_ELEMENTS {
        let message =
            format!("results of {elements} elements together, and a line has at most {MAX_ELEMENTS}");
        return json!({ "unbatched": { "message": message } });
    }
    let answer = |asked: Result<Asked, Value>| {
        asked.map_or_else(|error| error, |asked| asked.answer(served.implementation))
    };
    json!({ "answers": all.into_iter().map(answer).collect::<Vec<_>>() })
}

fn run(implementation: &dyn Implementation, seq: Option<Value>, request: Option<Value>) -> Value {
    parsed(seq, request).map_or_else(|error| error, |asked| asked.answer(implementation))
}

/// A question with its number.
struct Asked {
    seq: Value,
    question: Question,
}

/// Reads a request.
///
/// # Errors
/// The answer to a request that is not valid.
fn parsed(seq: Option<Value>, request: Option<Value>) -> Result<Asked, Value> {
    let Some(seq) = seq else {
        return Err(errored(None, "seq: found no number, expected the number of the request"));
    };
    let Some(request) = request else {
        return Err(errored(Some(seq), "request: found nothing, expected an object"));
    };
    match json::question_from_value(request) {
        Ok(question) => Ok(Asked { seq, question }),
        Err(malformed) => Err(errored(Some(seq), &format!("request: {malformed}"))),
    }
}

impl Asked {
    /// The maximum number of elements in the answer; 0 if there are too many, because it is skipped then.
    fn elements(&self) -> usize {
        match &self.question {
            Question::Run(request) => elements_within(request, None, MAX_ELEMENTS).unwrap_or(0),
            Question::Infer(_) => 0,
        }
    }

    fn answer(self, implementation: &dyn Implementation) -> Value {
        let fields = match self.question {
            Question::Run(request) => json::outcome_to_value(&request, &outcome(implementation, &request)),
            Question::Infer(signature) => {
                json::inferred_to_value(&signature, &inferred(implementation, &signature))
            }
        };
        let mut answer = json!({ "seq": self.seq });
        if let (Value::Object(answer), Value::Object(fields)) = (&mut answer, fields) {
            answer.extend(fields);
        }
        answer
    }
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
