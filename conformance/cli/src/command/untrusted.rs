//! Oracles for everything that the command reads of others: no input makes it panic, its output is bounded
//! by the size of the input, and what is read survives being written and read again. The fuzz targets and a
//! test use them; each takes bytes and returns the property that does not hold.
//!
//! Case files and the answers of implementations have theirs in `broadcheck_search::oracle`.

mod samples;

use super::explain::{self, parse_partial_shape};
use super::export;
use super::implementations::parse_jobs;
use super::time::parse_time;
use super::{Cli, Command, Error, own_message, parsed};
use crate::history::changes::next_to_try;
use crate::history::{History, table};
use crate::report::compare::{self, Comparison};
use crate::report::read::Recorded;
use crate::report::{json, matrix};
use broadcheck::globs::Glob;
use broadcheck::known::Known;
use broadcheck::known::draft::{Draft, Failure};
use broadcheck_judge::limits::elements_within;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, Convention, DType, Function, Implementation, Inference, Outcome, PartialShape, RefusalKind,
    Request, RuleSet, Shape, Signature,
};
use std::ffi::OsString;
use std::fmt::Debug;
use std::str::FromStr;

pub use samples::seeds;

/// The fuzz targets that use these oracles.
pub const TARGETS: [&str; 8] =
    ["command_line", "option_value", "explain", "known_file", "history_file", "report", "manifest", "serve"];

/// The length of an output for an empty input, and how many times its input's length it may be longer.
const BASE: usize = 64 << 10;
const FACTOR: usize = 200;

/// The largest result that is requested from an implementation, in elements.
const MAX_ELEMENTS: usize = 1 << 10;

/// The requests of a message, at most.
const BATCH: usize = 4;

/// Judges an input as a target does.
///
/// # Errors
/// The property that does not hold, or an unknown target.
pub fn judge(target: &str, bytes: &[u8]) -> Result<(), String> {
    match target {
        "command_line" => command_line(bytes),
        "option_value" => option_value(bytes),
        "explain" => explain(bytes),
        "known_file" => known_file(bytes),
        "history_file" => history_file(bytes),
        "report" => report(bytes),
        "manifest" => manifest(bytes),
        "serve" => serve(bytes),
        _ => Err(format!("found the target `{target}`, expected one of {}", TARGETS.join(" "))),
    }
}

/// The words of a command line, separated by NUL as in `/proc/PID/cmdline`, after the program's name.
fn words(bytes: &[u8]) -> Vec<OsString> {
    #[cfg(unix)]
    let word = |word: &[u8]| std::os::unix::ffi::OsStringExt::from_vec(word.to_vec());
    #[cfg(not(unix))]
    let word = |word: &[u8]| OsString::from(String::from_utf8_lossy(word).into_owned());
    std::iter::once("broadcheck".into()).chain(bytes.split(|&byte| byte == 0).map(word)).collect()
}

/// Parses words, and checks the message if they are not a command line.
fn command(words: &[OsString]) -> Result<Option<Cli>, String> {
    let size = words.iter().map(|word| word.len() + 1).sum();
    match parsed(words) {
        Ok(cli) => Ok(Some(cli)),
        Err(error) => {
            let message = own_message(&error).unwrap_or_else(|| error.render().to_string());
            bounded("message", &message, size)?;
            Ok(None)
        }
    }
}

/// An output is neither empty nor much longer than what it is about.
fn bounded(what: &str, text: &str, input: usize) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("found an empty {what}"));
    }
    if text.len() > BASE + FACTOR * input {
        return Err(format!("found a {what} of {} bytes for an input of {input}", text.len()));
    }
    Ok(())
}

/// Words after `broadcheck`, separated by NUL: they are a command line, or a message says what is expected.
fn command_line(bytes: &[u8]) -> Result<(), String> {
    command(&words(bytes)).map(drop)
}

/// Words after `broadcheck explain`: they are drawn, or a message says what is expected.
fn explain(bytes: &[u8]) -> Result<(), String> {
    let mut words = words(bytes);
    words.insert(1, "explain".into());
    let Some(Cli { command: Command::Explain(args) }) = command(&words)? else { return Ok(()) };
    match explain::text(&args) {
        // The columns of every operand are as wide as the widest length, so a drawing grows with the square.
        Ok(text) => bounded("drawing", &text, bytes.len() * bytes.len().max(1)),
        Err(Error::Input(message)) => bounded("message", &message, bytes.len()),
        Err(Error::Output(error)) => Err(error.to_string()),
        Err(Error::Interrupted) => Err("interrupted".into()),
    }
}

/// A value of one kind of option, which the first byte selects.
fn option_value(bytes: &[u8]) -> Result<(), String> {
    let Some((&kind, rest)) = bytes.split_first() else { return Ok(()) };
    let text = &*String::from_utf8_lossy(rest);
    match kind {
        b't' => bounded_error(parse_time(text), text),
        b'j' => bounded_error(parse_jobs(text), text),
        b's' => {
            bounded_error(parse_partial_shape(text), text)?;
            named::<Shape>(text, Shape::to_string)?;
            named::<PartialShape>(text, PartialShape::to_string)
        }
        b'g' => glob(text),
        b'r' => named::<RuleSet>(text, |rules| rules.name().into()),
        b'd' => named::<DType>(text, DType::to_string),
        b'f' => named::<Function>(text, Function::to_string),
        b'c' => named::<Convention>(text, Convention::to_string),
        b'k' => named::<RefusalKind>(text, |kind| kind.name().into()),
        _ => export::check_values(text),
    }
}

fn bounded_error<T>(parsed: Result<T, String>, text: &str) -> Result<(), String> {
    parsed.map_or_else(|error| bounded("message", &error, text.len()), |_| Ok(()))
}

/// What parses is written as a text that parses as the same.
fn named<T>(text: &str, write: fn(&T) -> String) -> Result<(), String>
where
    T: FromStr<Err: ToString> + PartialEq + Debug,
{
    match text.parse::<T>() {
        Err(error) => bounded("message", &error.to_string(), text.len()),
        Ok(value) if write(&value).parse::<T>().is_ok_and(|again| again == value) => Ok(()),
        Ok(value) => Err(format!("{value:?} is written as `{}`", write(&value))),
    }
}

/// A glob, and after a line feed the id that it is matched with.
fn glob(text: &str) -> Result<(), String> {
    let (glob, id) = text.split_once('\n').unwrap_or((text, text));
    match Glob::new(glob) {
        Err(error) => bounded("message", &error.to_string(), glob.len()),
        Ok(compiled) => {
            let special = glob.contains(['*', '?', '[', '{', '}', '\\']);
            if special || compiled.matches(id) == (glob == id) {
                return Ok(());
            }
            Err(format!(
                "the glob `{glob}` without special characters matches `{id}`, or does not match itself"
            ))
        }
    }
}

/// A known-failures file. Its entries, drafted as a file of the same implementation, are read as the same.
fn known_file(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let known = match Known::parse(&text, "known.yaml") {
        Ok(known) => known,
        Err(message) => return bounded("message", &message, text.len()),
    };
    let ids = ["numpy/zero/a", "xla/examples/b", "*", ""];
    let unmatched = known.unmatched(ids.into_iter()).len();
    let matched = ids.iter().filter(|id| known.entry(id).is_some()).count();
    // `entry` is about the case as it is written.
    let as_written =
        known.entries().iter().filter(|entry| entry.given.is_none() && entry.optimiser.is_none());
    if matched == 0 && unmatched < as_written.count() {
        return Err(format!("no id is listed, but only {unmatched} entries are unmatched"));
    }
    known.covers("1.2.3");
    let failures: Vec<Failure> = known.entries().iter().map(failure).collect();
    let draft = Draft {
        by: "a test",
        implementation: &known.implementation,
        version: "1.0",
        results: failures.len(),
        failures: &failures,
    };
    let text = draft.render().replace("    url: \"\"\n", "    url: \"https://example.org\"\n");
    let again = Known::parse(&text, "again.yaml").map_err(|message| format!("{message}\nin\n{text}"))?;
    let read: Vec<Failure> = again.entries().iter().map(failure).collect();
    if again.implementation == known.implementation
        && read.len() == failures.len()
        && same_entries(&read, &failures)
    {
        return Ok(());
    }
    Err(format!("the entries changed in a draft: {read:?}\nfrom\n{failures:?}"))
}

/// Reasons may differ: a draft shortens them.
fn same_entries(one: &[Failure], other: &[Failure]) -> bool {
    let entry = |failure: &Failure| (failure.id.clone(), failure.given, failure.optimiser);
    one.iter().map(entry).eq(other.iter().map(entry))
}

fn failure(entry: &broadcheck::known::Entry) -> Failure {
    Failure {
        id: entry.case.clone(),
        title: "a title".into(),
        detail: entry.reason.clone(),
        given: entry.given,
        optimiser: entry.optimiser,
    }
}

/// The history of a system. It is drawn, and what is written is read as the same.
fn history_file(bytes: &[u8]) -> Result<(), String> {
    let history = match History::parse(bytes) {
        Ok(history) => history,
        Err(message) => return bounded("message", &message, bytes.len()),
    };
    bounded("table", &table::text(&history), bytes.len())?;
    bounded("page", &table::markdown(&history), bytes.len())?;
    let text = history.text();
    bounded("file", &text, bytes.len())?;
    if let Some(next) = next_to_try(&history)
        && (history.release(&next).is_some() || history.unable.iter().any(|one| one.version == next))
    {
        return Err(format!("{next} would be tried again"));
    }
    let again = History::parse(text.as_bytes()).map_err(|message| format!("{message}\nin\n{text}"))?;
    if again.text() == text { Ok(()) } else { Err(format!("{}\nis written after\n{text}", again.text())) }
}

/// Two reports, separated by NUL; or one, which is compared with itself.
fn report(bytes: &[u8]) -> Result<(), String> {
    let mut parts = bytes.splitn(2, |&byte| byte == 0).map(String::from_utf8_lossy);
    let old = parts.next().unwrap_or_default();
    json::is_report(&old);
    let Some(before) = recorded(&old)? else { return Ok(()) };
    match parts.next() {
        None => {
            let Some(comparison) = compared(&before, &before, bytes.len())? else { return Ok(()) };
            if comparison.runs.iter().all(|run| run.changes.is_empty()) {
                return Ok(());
            }
            Err(format!("a report differs from itself: {comparison:?}"))
        }
        Some(new) => {
            let Some(after) = recorded(&new)? else { return Ok(()) };
            compared(&before, &after, bytes.len()).map(drop)
        }
    }
}

fn recorded(text: &str) -> Result<Option<Recorded>, String> {
    match Recorded::parse(text) {
        Ok(recorded) => Ok(Some(recorded)),
        Err(message) => bounded("message", &message, text.len()).map(|()| None),
    }
}

fn compared<'a>(old: &'a Recorded, new: &'a Recorded, size: usize) -> Result<Option<Comparison<'a>>, String> {
    bounded("matrix", &matrix::render(&[old.clone(), new.clone()], "FINDINGS.md"), size)?;
    let comparison = match Comparison::of(old, new) {
        Ok(comparison) => comparison,
        Err(message) => return bounded("message", &message, size).map(|()| None),
    };
    let (mut text, mut markdown, mut json) = (String::new(), String::new(), Vec::new());
    let written = compare::text(&comparison, &mut text).and(compare::markdown(&comparison, &mut markdown));
    written.map_err(|error| error.to_string())?;
    for text in [text, markdown] {
        bounded("comparison", &text, size)?;
    }
    compare::json(&comparison, &mut json).map_err(|error| error.to_string())?;
    serde_json::from_slice::<serde::de::IgnoredAny>(&json)
        .map_err(|error| format!("{error} in {}", String::from_utf8_lossy(&json)))?;
    Ok(Some(comparison))
}

/// The manifest of a kit, or the journal of an interrupted export.
fn manifest(bytes: &[u8]) -> Result<(), String> {
    export::check_manifest(bytes)
}

/// The lines that `serve` reads: each is answered with one line of JSON.
fn serve(bytes: &[u8]) -> Result<(), String> {
    let mut output = Vec::new();
    let small = Small(Reference::new());
    let ended = broadcheck_harness::serve_batches(&small, BATCH, &mut &*bytes, &mut output);
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    let (asked, answered) = (lines.count(), output.iter().filter(|&&byte| byte == b'\n').count());
    if answered > asked {
        return Err(format!("found {answered} answers to {asked} lines"));
    }
    if let Err(message) = &ended {
        bounded("message", message, bytes.len())?;
    }
    if output.len() > (asked + 1) * BATCH * BASE {
        return Err(format!("found {} bytes in answer to {asked} lines", output.len()));
    }
    for line in output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let answer: serde_json::Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if !answer.is_object() {
            return Err(format!("found the answer {answer}, expected an object"));
        }
    }
    Ok(())
}

/// The reference, for small results only: a fuzz target has a time limit.
struct Small(Reference);

impl Implementation for Small {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> &str {
        self.0.version()
    }

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn run(&self, request: &Request) -> Outcome {
        match elements_within(request, None, MAX_ELEMENTS) {
            Ok(_) => self.0.run(request),
            Err(reason) => Outcome::Skipped { reason },
        }
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.0.infer(signature)
    }
}
