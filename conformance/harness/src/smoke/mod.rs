//! The smoke test: checks a harness step by step, for the person who writes it.
//!
//! It sends the simplest requests that show how a harness reads and writes, and reports the expected answer
//! and a hint for each that fails. It does not test broadcasting, which is the task of the suite.

mod declared;
mod inference;
mod limits;
mod probes;

use super::Options;
use super::answer;
use super::lines::{self, excerpt};
use super::session::{Fault, Session, seconds};
use super::start::Declared;
use broadcheck_judge::compare::{Latitude, Verdict, expectation_of, judge};
use broadcheck_judge::conventions::excuses;
use broadcheck_judge::inferred::{Inferred, judge_inferred};
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, Convention, DType, Expectation, ExpectedRefusal, Function, Implementation, Outcome,
    Request, Signature, json,
};
use inference::{SignatureProbe, signature_probes, undeclared};
use limits::{Limit, calls, limits, with_conventions, without_dtypes};
use probes::{Probe, probes, several};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One step of the test.
pub struct Step {
    /// What the step checks.
    pub name: String,
    /// The result.
    pub found: Found,
}

/// The result of a step.
pub enum Found {
    /// It passed; the text may contain details.
    Passed(String),
    /// It was not tried, with the reason.
    LeftOut(String),
    /// The answer is not wrong, but the library could declare something.
    Advised(String),
    /// It failed.
    Wrong(Wrong),
}

/// The failure of a step.
pub struct Wrong {
    /// The line that was sent, if it was only one.
    pub sent: Option<String>,
    /// The answer.
    pub found: String,
    /// The expected answer.
    pub expected: String,
    /// Advice; may be empty.
    pub hint: String,
}

impl Wrong {
    fn new(found: impl Into<String>, expected: impl Into<String>) -> Wrong {
        Wrong { sent: None, found: found.into(), expected: expected.into(), hint: String::new() }
    }
}

/// The result of the smoke test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every step that was tried passed.
    Passed,
    /// Some steps failed.
    Failed,
    /// The process does not start, or does not answer `start`.
    NotStarted,
}

/// After this many functions that end the process, no more are called.
const MOST_BROKEN: usize = 3;

/// Runs all steps, and calls `report` after each.
///
/// # Errors
/// The command cannot be split into words.
pub fn smoke(command: &str, options: &Options, report: &mut dyn FnMut(&Step)) -> Result<Ending, String> {
    let words = super::words(command)?;
    Ok(Smoke { words, options, report, failed: false, session: None, agrees: Vec::new() }.run())
}

struct Smoke<'a> {
    words: Vec<String>,
    options: &'a Options,
    report: &'a mut dyn FnMut(&Step),
    failed: bool,
    /// The process; `None` after a step that broke it.
    session: Option<Session>,
    /// The conventions that answers agree with, and that are not declared.
    agrees: Vec<Convention>,
}

impl Smoke<'_> {
    fn run(&mut self) -> Ending {
        let declared = match self.start() {
            Ok(declared) => declared,
            Err((name, wrong)) => {
                self.step(name, Found::Wrong(wrong));
                return Ending::NotStarted;
            }
        };
        self.step("it answers `start`", Found::Passed(summary(&declared)));
        for (place, Probe { name, request, hint }) in probes(&declared.capabilities).into_iter().enumerate() {
            if place == 1 && self.session.is_none() {
                let why = "no further step is possible until the simplest request is answered";
                self.step("everything else", Found::LeftOut(why.into()));
                return Ending::Failed;
            }
            let found = match request {
                None => Found::LeftOut("the implementation declares nothing that this step needs".into()),
                Some(request) => found(self.ask(&request, |message| message), hint),
            };
            self.step(&name, found);
        }
        if declared.capabilities.infer {
            self.inferences(&declared.capabilities);
        }
        self.limits(&declared.capabilities);
        let requests = several(&declared.capabilities, declared.window);
        if let Some(request) = requests.first() {
            let dress = |mut message: Value| {
                message["comment"] = "a field that the protocol does not know".into();
                message["request"]["comment"] = json!({ "nested": [1, 2] });
                message
            };
            let asked = self.ask(request, dress);
            self.step(
                "fields that it does not know are ignored",
                found(asked, "read only the fields that you need"),
            );
            let asked = self.window(&requests);
            let hint =
                "answer each line in the order in which it came, with its own seq, and flush every answer";
            self.step(
                &format!("{} requests at once are answered in order", requests.len()),
                found(asked, hint),
            );
        }
        if declared.batch > 1 && !requests.is_empty() {
            self.batch(&declared);
        }
        if declared.optimiser.is_some() {
            self.optimiser(&declared.capabilities);
        }
        let stopped = self.stop();
        self.step("it ends after `stop`", stopped);
        if self.failed { Ending::Failed } else { Ending::Passed }
    }

    fn step(&mut self, name: &str, found: Found) {
        self.failed |= matches!(found, Found::Wrong(_));
        (self.report)(&Step { name: name.into(), found });
    }

    /// Sends signatures with everything that may be unknown.
    fn inferences(&mut self, able: &Capabilities) {
        for SignatureProbe { name, signature, hint } in signature_probes(able) {
            let found = match signature {
                None => Found::LeftOut("the implementation declares nothing that this step needs".into()),
                Some(signature) => match self.infer(&signature) {
                    Ok(None) => Found::Passed(String::new()),
                    Ok(Some(wider)) => Found::Advised(format!(
                        "the answer is not wrong, but wider than exact: {wider}\n`check` counts such answers apart, and \
                         fails them with --exact"
                    )),
                    Err(wrong) => found(Err(wrong), &hint),
                },
            };
            self.step(&name, found);
        }
        let missing = undeclared(able);
        if !missing.is_empty() {
            let words = missing.join(", ");
            self.step(
                "infer from what is not declared",
                Found::LeftOut(format!(
                    "such signatures are not sent: add {words} to `unknown` in the answer to `start` as far as the library \
                     can express it"
                )),
            );
        }
    }

    /// Sends one signature. How the answer is wider than exact, if it is.
    fn infer(&mut self, signature: &Signature) -> Result<Option<String>, Wrong> {
        let exact = Reference::new().infer(signature);
        let expected = shortened(&json::inferred_to_value(signature, &exact));
        let value = json::signature_to_value(signature);
        self.send(&value, expected, |message| message, |seq, line| inferred(signature, seq, line))
    }

    /// Sends what a library may lack, and what tests a convention.
    fn limits(&mut self, able: &Capabilities) {
        let found = self.calls(able);
        self.step("every declared function of every declared dtype", found);
        for limit in limits(able) {
            let found = match &limit.request {
                None => Found::LeftOut("the implementation declares nothing that this step needs".into()),
                Some(request) => self.limit(&limit, request, able),
            };
            self.step(&limit.name, found);
        }
        if !self.agrees.is_empty() {
            let field = with_conventions(able, &self.agrees);
            let advice = format!(
                "its answers agree with them. If that is intended, add {field} to the answer to `start`: `check` then \
                 requires it"
            );
            self.step("conventions that are not declared", Found::Advised(advice));
        }
    }

    /// Sends what shows one limit or tests one convention.
    fn limit(&mut self, limit: &Limit, request: &Request, able: &Capabilities) -> Found {
        let free = limit.convention.filter(|&convention| !able.follows(convention));
        let asked = self.ask_and(
            request,
            |message| message,
            |seq, line| answered(request, seq, line, limit.convention, free.is_some()),
        );
        match (asked, limit.convention) {
            (Ok(Answered::AsExpected), _) => {
                self.agrees.extend(free);
                Found::Passed(String::new())
            }
            (Ok(Answered::Differs(text)), Some(convention)) => Found::Passed(format!(
                "differs from the convention `{convention}`, which it does not declare: `check` counts this apart\n{text}"
            )),
            (Ok(Answered::Differs(text)), None) => Found::Passed(text),
            (Ok(Answered::Missing(text)), _) => Found::Advised(format!("{text}\n{}", limit.advice)),
            // Systems that do not check sizes fail in every way.
            (Err(wrong), Some(Convention::CheckedSizes)) if free.is_some() => {
                Found::Advised(format!("{}\n{}", wrong.found, limit.advice))
            }
            (Err(mut wrong), convention) => {
                wrong.hint = match convention {
                    Some(convention) if free.is_none() => format!(
                        "it declares the convention `{convention}`: remove it from `conventions` if the library does \
                         not follow it"
                    ),
                    _ => limit.advice.clone(),
                };
                Found::Wrong(wrong)
            }
        }
    }

    /// Calls every function with every dtype. An answer that is not a result shows that the library lacks it.
    fn calls(&mut self, able: &Capabilities) -> Found {
        let (mut lacking, mut first): (Vec<(Function, DType)>, Option<Wrong>) = (Vec::new(), None);
        let mut broken = 0;
        let calls = calls(able);
        let tried = calls.len();
        for (function, dtype, request) in calls {
            if broken == MOST_BROKEN {
                break;
            }
            if let Err(wrong) =
                self.ask_and(&request, |message| message, |seq, line| has_result(&request, seq, line))
            {
                broken += usize::from(self.session.is_none());
                lacking.push((function, dtype));
                first.get_or_insert(wrong);
            }
        }
        let Some(first) = first else { return Found::Passed(format!("{tried} requests")) };
        let names: Vec<String> =
            lacking.iter().map(|(function, dtype)| format!("{function} of {dtype}")).collect();
        let found = format!("no result of {}\n{}", names.join(", "), first.found);
        let field = without_dtypes(able, &lacking);
        let hint = format!("if the library does not support these, add {field} to the answer to `start`");
        Found::Wrong(Wrong { found, hint, ..first })
    }

    fn start(&mut self) -> Result<Declared, (&'static str, Wrong)> {
        let launched = Session::launch(&self.words);
        let mut session = launched.map_err(|error| {
            ("it starts", Wrong::new(error, "a program that runs until it receives `stop`"))
        })?;
        match session.start(self.options) {
            Ok(declared) => {
                self.session = Some(session);
                Ok(declared)
            }
            Err(message) => {
                let hint = greeted(&mut session, &message).unwrap_or_else(|| late(session));
                let sent = Some(r#"{"cmd":"start","version":1}"#.into());
                Err(("it answers `start`", Wrong { sent, hint, ..Wrong::new(message, START_ANSWER) }))
            }
        }
    }

    /// The process, or a new one if it broke.
    fn take(&mut self) -> Result<Session, String> {
        if let Some(mut session) = self.session.take()
            && !session.is_gone()
        {
            return Ok(session);
        }
        Session::open(&self.words, self.options).map(|(session, _)| session)
    }

    /// Sends one request, in a message that `dress` may change, and judges the answer.
    fn ask(&mut self, request: &Request, dress: impl FnOnce(Value) -> Value) -> Result<(), Wrong> {
        self.ask_and(request, dress, |seq, line| judged(request, seq, line))
    }

    /// Sends one request, in a message that `dress` may change, and gives its number and the line of the
    /// answer to `judge`.
    fn ask_and<T>(
        &mut self,
        request: &Request,
        dress: impl FnOnce(Value) -> Value,
        judge: impl Fn(u64, &[u8]) -> Result<T, Misfit>,
    ) -> Result<T, Wrong> {
        self.send(&json::request_to_value(request), expected(request), dress, judge)
    }

    /// Sends one request or signature, with the answer that is expected.
    fn send<T>(
        &mut self,
        request: &Value,
        expected: String,
        dress: impl FnOnce(Value) -> Value,
        judge: impl Fn(u64, &[u8]) -> Result<T, Misfit>,
    ) -> Result<T, Wrong> {
        let mut session = self.take().map_err(|message| Wrong::new(message, &expected))?;
        session.seq += 1;
        let seq = session.seq;
        let message = dress(json!({ "cmd": "run", "seq": seq, "request": request }));
        session.send(&message);
        let sent = Some(shortened(&message));
        let line = match session.receive(Instant::now(), self.options.time_limit, self.options) {
            Ok(line) => line,
            Err(fault) => {
                let hint = if matches!(fault, Fault::Broken(..)) { late(session) } else { String::new() };
                return Err(Wrong { sent, hint, ..Wrong::new(fault.message(), expected) });
            }
        };
        let judged = judge(seq, &line);
        if !judged.as_ref().is_err_and(|found| found.breaks) {
            self.session = Some(session);
        }
        judged.map_err(|found| Wrong { sent, ..Wrong::new(found.text, expected) })
    }

    /// Sends all requests before reading the first answer.
    fn window(&mut self, requests: &[Request]) -> Result<(), Wrong> {
        let all = format!("{} answers, seq by seq", requests.len());
        let mut session = self.take().map_err(|message| Wrong::new(message, &all))?;
        let sent: Vec<u64> =
            requests.iter().map(|request| session.ask(json::request_to_value(request), 0)).collect();
        for (place, (request, &seq)) in requests.iter().zip(&sent).enumerate() {
            let wrong = |found: String| Wrong::new(format!("after {place} answers: {found}"), &all);
            let line = session
                .receive(Instant::now(), self.options.time_limit, self.options)
                .map_err(|fault| wrong(fault.message()))?;
            judged(request, seq, &line).map_err(|found| wrong(found.text))?;
        }
        self.session = Some(session);
        Ok(())
    }

    fn stop(&mut self) -> Found {
        let limit = self.options.stop_limit;
        let expected = format!("the process ends within {} and prints nothing more", seconds(limit));
        let hint = "leave the reading loop at `stop`, and let no thread keep the process alive";
        let mut session = match self.take() {
            Ok(session) => session,
            Err(message) => return Found::Wrong(Wrong::new(message, expected)),
        };
        match session.stop(limit) {
            Err(message) => {
                let sent = Some(r#"{"cmd":"stop"}"#.into());
                Found::Wrong(Wrong { sent, hint: hint.into(), ..Wrong::new(message, expected) })
            }
            Ok(ended) => match session.receive(Instant::now(), Duration::from_millis(200), self.options) {
                Ok(line) => Found::Wrong(Wrong::new(format!("the line {}", excerpt(&line)), expected)),
                Err(_) => Found::Passed(ended),
            },
        }
    }
}

const START_ANSWER: &str = "one line such as {\"version\":1,\"implementation\":{\"name\":\"mine\",\"version\":\"1.0\",\
\"rules\":[\"numpy\"],\"operations\":[\"elementwise\"],\"functions\":[\"add\"],\"dtypes\":[\"f64\"]}}";

fn found(asked: Result<(), Wrong>, hint: &str) -> Found {
    match asked {
        Ok(()) => Found::Passed(String::new()),
        Err(mut wrong) => {
            if wrong.hint.is_empty() {
                wrong.hint = hint.into();
            }
            Found::Wrong(wrong)
        }
    }
}

/// What was found instead, and whether the process must be replaced.
struct Misfit {
    text: String,
    breaks: bool,
}

/// Compares a line with the answer of the reference interpreter.
fn judged(request: &Request, seq: u64, line: &[u8]) -> Result<(), Misfit> {
    match answered(request, seq, line, None, false)? {
        Answered::AsExpected => Ok(()),
        Answered::Differs(text) | Answered::Missing(text) => Err(Misfit { text, breaks: false }),
    }
}

/// An answer that is not wrong.
enum Answered {
    AsExpected,
    /// It differs from a convention that is not declared.
    Differs(String),
    /// A request that tests a convention that is not declared was not answered.
    Missing(String),
}

/// Compares a line with the answer of the reference interpreter. If the implementation is free to differ from
/// the convention that the request tests, it may.
fn answered(
    request: &Request,
    seq: u64,
    line: &[u8],
    convention: Option<Convention>,
    may_differ: bool,
) -> Result<Answered, Misfit> {
    let outcome = answer::read(request, 0, seq, line).map_err(|text| Misfit { text, breaks: true })?;
    compared(request, &outcome, convention, may_differ).map_err(|text| misfit(&text, line))
}

/// The same for an answer that was read.
fn compared(
    request: &Request,
    outcome: &Outcome,
    convention: Option<Convention>,
    may_differ: bool,
) -> Result<Answered, String> {
    let Some(expectation) = expectation_of(&Reference::new().run(request)) else {
        return Ok(Answered::AsExpected);
    };
    let free = convention.filter(|_| may_differ);
    let strict =
        Latitude { any_zero_of_extremes: convention != Some(Convention::ZeroSigns), ..Latitude::ANY };
    let text = match judge(request, &expectation, outcome, strict) {
        Verdict::Passed => return Ok(Answered::AsExpected),
        Verdict::Failed(difference) => difference.to_string(),
        Verdict::Skipped(reason) if free.is_some() => {
            return Ok(Answered::Missing(format!("skipped: {reason}")));
        }
        Verdict::Skipped(reason) => format!("skipped, although it declares such requests: {reason}"),
        Verdict::Errored(message) => format!("errored: {message}"),
    };
    if free.is_some_and(|one| excuses(one, request, &expectation, outcome, Latitude::ANY)) {
        return Ok(match outcome {
            Outcome::Errored { .. } => Answered::Missing(text),
            Outcome::Success(_) | Outcome::Refusal(_) | Outcome::Skipped { .. } => Answered::Differs(text),
        });
    }
    Err(text)
}

/// Compares a line with what the reference interpreter infers: how it is wider than exact, if it is.
fn inferred(signature: &Signature, seq: u64, line: &[u8]) -> Result<Option<String>, Misfit> {
    let outcome = answer::read(signature, 0, seq, line).map_err(|text| Misfit { text, breaks: true })?;
    let expectation = match Reference::new().infer(signature) {
        Outcome::Success(inference) => Expectation::Result(inference),
        Outcome::Refusal(refusal) => {
            Expectation::Refusal(ExpectedRefusal { kind: refusal.kind, ..ExpectedRefusal::default() })
        }
        Outcome::Skipped { .. } | Outcome::Errored { .. } => return Ok(None),
    };
    let text = match judge_inferred(signature, &expectation, &outcome) {
        Inferred::Exact => return Ok(None),
        Inferred::Wider(detail) => return Ok(Some(detail)),
        Inferred::Failed(difference) => difference.to_string(),
        Inferred::Skipped(reason) => format!("skipped, although it declares such requests: {reason}"),
        Inferred::Errored(message) => format!("errored: {message}"),
    };
    Err(misfit(&text, line))
}

/// Whether a line contains a result.
fn has_result(request: &Request, seq: u64, line: &[u8]) -> Result<(), Misfit> {
    let outcome = answer::read(request, 0, seq, line).map_err(|text| Misfit { text, breaks: true })?;
    let text = match outcome {
        Outcome::Success(_) => return Ok(()),
        Outcome::Refusal(refusal) => format!("refused: {refusal}"),
        Outcome::Skipped { reason } => format!("skipped, although it declares such requests: {reason}"),
        Outcome::Errored { message, .. } => format!("errored: {message}"),
    };
    Err(misfit(&text, line))
}

fn misfit(text: &str, line: &[u8]) -> Misfit {
    Misfit { text: format!("{text}\nthe line: {}", excerpt(line)), breaks: false }
}

fn expected(request: &Request) -> String {
    let outcome = Reference::new().run(request);
    shortened(&json::outcome_to_value(request, &outcome))
}

fn shortened(value: &Value) -> String {
    lines::shortened(value.to_string().as_bytes(), 600)
}

/// A hint if the answer to `start` follows the line that was read as the answer.
fn greeted(session: &mut Session, message: &str) -> Option<String> {
    if !message.contains("\nthe line: ") {
        return None;
    }
    let patience = Options { interrupt: None, ..Options::default() };
    let line = session.receive(Instant::now(), Duration::from_millis(500), &patience).ok()?;
    let is_answer = serde_json::from_slice::<Value>(&line).is_ok_and(|value| value.is_object());
    is_answer.then(|| {
        format!(
            "something else was printed before the answer {}: standard output is for answers only, print everything \
             else to standard error",
            excerpt(&line)
        )
    })
}

/// A hint if a missing answer arrives once stdin is closed, because it was buffered.
fn late(mut session: Session) -> String {
    session.close_input();
    let patience = Options { interrupt: None, ..Options::default() };
    match session.receive(Instant::now(), Duration::from_secs(1), &patience) {
        Ok(line) => format!(
            "the answer {} came only when stdin was closed: flush stdout after every line, and answer a line before \
             you read the next",
            excerpt(&line)
        ),
        Err(Fault::Crashed(how)) if how.contains("half a line") => {
            format!("end every answer with a line feed: when stdin was closed, {how}")
        }
        Err(_) => String::new(),
    }
}

/// The declaration of the implementation, in lines.
fn summary(declared: &Declared) -> String {
    let Declared { name, version, language, capabilities, window, batch, optimiser } = declared;
    let list = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(" ") };
    let mut operations: Vec<&str> = capabilities.operations.iter().map(|kind| kind.name()).collect();
    let words = [
        ("strided", capabilities.strided),
        ("broadcast_in_dim", capabilities.broadcast_in_dim),
        ("permuted", capabilities.permuted),
        ("cotangent", capabilities.cotangent),
        ("into", capabilities.into),
        ("infer", capabilities.infer),
        ("constants", capabilities.constants),
        ("same", capabilities.same),
    ];
    operations.extend(words.into_iter().filter(|(_, able)| *able).map(|(word, _)| word));
    let language = language.as_ref().map(|language| format!(" ({language})")).unwrap_or_default();
    let limits = match capabilities.max_rank {
        Some(rank) => format!("rank {rank}, "),
        None => String::new(),
    };
    let unknown: Vec<&str> = capabilities.unknown.iter().map(|unknown| unknown.name()).collect();
    let batches = if *batch > 1 { format!(", batch {batch}") } else { String::new() };
    let optimiser = optimiser.map(|position| format!("optimiser   {position}, with a switch"));
    let unknown = capabilities.infer.then(|| format!("unknown     {}", list(unknown)));
    let lines = [
        format!("{name} {version}{language}"),
        format!("rules       {}", list(capabilities.rules.iter().map(|rules| rules.name()).collect())),
        format!("operations  {}", list(operations)),
        format!("functions   {}", list(capabilities.functions.iter().map(|f| f.name()).collect())),
        format!("dtypes      {}", list(capabilities.dtypes.iter().map(|dtype| dtype.name()).collect())),
        format!("up to       {limits}{} elements, window {window}{batches}", capabilities.max_elements),
    ];
    lines.into_iter().chain(unknown).chain(optimiser).collect::<Vec<_>>().join("\n")
}
