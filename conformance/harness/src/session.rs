//! One process from start to end: writes lines to it and reads lines from it, with a thread per stream.

use super::Options;
use super::group::{Group, Streams, describe};
use super::lines::{Line, excerpt, read_line};
use super::optimiser;
use super::start::{self, Declared, VERSION};
use super::stderr::Tail;
use broadcheck::optimiser::Optimiser;
use broadcheck_spec::{ErrorKind, Outcome};
use serde_json::{Value, json};
use std::io::{self, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a wait checks for an interrupt, and for a process that ended but left its output open.
const SLICE: Duration = Duration::from_millis(40);

/// How long a process may take to end after it closed its output.
const LAST_BREATH: Duration = Duration::from_millis(500);

/// The number of lines read ahead.
const AHEAD: usize = 4;

/// The minimum limit for the length of a line, in bytes: enough for any error message.
const SHORTEST_LIMIT: usize = 1 << 20;

/// The maximum limit for the length of a line, in bytes.
const LONGEST_LIMIT: usize = 256 << 20;

/// The maximum number of bytes per element: the smallest float written without an exponent, `0.000…`.
const PER_ELEMENT: usize = 400;

/// Why a process cannot be used any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It ended, or closed its output.
    Crashed(String),
    /// It sent an invalid answer, too long a line, or no answer in time, or it could not be started again.
    Broken(ErrorKind, String),
    /// The user interrupted the run.
    Interrupted,
}

impl Fault {
    /// What happened, in words.
    pub(super) fn message(self) -> String {
        match self {
            Fault::Crashed(how) | Fault::Broken(_, how) => how,
            Fault::Interrupted => "interrupted".into(),
        }
    }

    /// The outcome of a request that was not answered because of it.
    pub(super) fn outcome<T>(self) -> Outcome<T> {
        let kind = match self {
            Fault::Crashed(_) => ErrorKind::Crashed,
            Fault::Broken(kind, _) => kind,
            Fault::Interrupted => ErrorKind::Interrupted,
        };
        Outcome::errored(kind, self.message())
    }
}

/// What the reading thread found.
enum Event {
    Line(Vec<u8>),
    TooLong(usize),
    End(Vec<u8>),
}

/// A running process.
pub(super) struct Session {
    group: Group,
    to: Option<Sender<Vec<u8>>>,
    from: Receiver<Event>,
    stderr: Tail,
    limit: Arc<AtomicUsize>,
    /// The length of the incomplete line, in bytes.
    partial: Arc<AtomicUsize>,
    trouble: Trouble,
    /// The number of the last request.
    pub(super) seq: u64,
}

impl Session {
    /// Starts a process and reads its answer to `start`.
    ///
    /// # Errors
    /// The process does not start, or its answer is missing or invalid.
    pub(super) fn open(words: &[String], options: &Options) -> Result<(Session, Declared), String> {
        Session::begin(words, options.optimiser)?.finish(options)
    }

    /// Starts a process and sends `start`, without waiting for the answer.
    pub(super) fn begin(words: &[String], optimiser: Option<Optimiser>) -> Result<Starting, String> {
        let session = Session::launch(words)?;
        session.send_start(optimiser);
        Ok(Starting { session, since: Instant::now() })
    }

    /// Starts a process and sends nothing.
    pub(super) fn launch(words: &[String]) -> Result<Session, String> {
        let (group, streams) =
            Group::start(words).map_err(|error| format!("the program cannot be started: {error}"))?;
        let Streams { stdin, stdout, stderr } = streams;
        let limit = Arc::new(AtomicUsize::new(SHORTEST_LIMIT));
        let partial = Arc::new(AtomicUsize::new(0));
        let trouble = Trouble::default();
        let (to, lines) = mpsc::channel();
        let (events, from) = mpsc::sync_channel(AHEAD);
        let writing = trouble.clone();
        let (line_limit, so_far) = (Arc::clone(&limit), Arc::clone(&partial));
        let reading = trouble.clone();
        let started = in_thread(move || writing.note("writing to its stdin", write_lines(stdin, &lines)))
            .and_then(|()| {
                in_thread(move || {
                    let read = read_lines(stdout, &events, &line_limit, &so_far);
                    reading.note("reading its stdout", read);
                })
            })
            .and_then(|()| Tail::of(stderr));
        let stderr = started.map_err(|error| format!("a thread cannot be started: {error}"))?;
        Ok(Session { group, to: Some(to), from, stderr, limit, partial, trouble, seq: 0 })
    }

    /// Sends `start` and reads the answer.
    pub(super) fn start(&mut self, options: &Options) -> Result<Declared, String> {
        self.send_start(options.optimiser);
        self.started(Instant::now(), options)
    }

    fn send_start(&self, optimiser: Option<Optimiser>) {
        let mut message = json!({ "cmd": "start", "version": VERSION });
        if let Some(position) = optimiser {
            message["optimiser"] = position.name().into();
        }
        self.send(&message);
    }

    /// Reads the answer to `start`, which was sent at `since`.
    fn started(&mut self, since: Instant, options: &Options) -> Result<Declared, String> {
        let line = self.receive(since, options.start_limit, options).map_err(|fault| match fault {
            Fault::Crashed(how) | Fault::Broken(_, how) => format!("`start` was not answered: {how}"),
            Fault::Interrupted => fault.message(),
        })?;
        let declared = start::read(&line).map_err(|errors| {
            let errors = errors.join("; ");
            format!("the answer to `start` is not valid: {errors}\nthe line: {}", excerpt(&line))
                + &self.stderr.text()
        })?;
        optimiser::check(options.optimiser, &declared)?;
        Ok(declared)
    }

    /// Sends a request whose answer has at most this number of elements, and returns its `seq`.
    pub(super) fn ask(&mut self, request: Value, elements: usize) -> u64 {
        self.seq += 1;
        self.allow(elements, 1);
        let mut message = json!({ "cmd": "run", "seq": self.seq });
        message["request"] = request;
        self.send(&message);
        self.seq
    }

    /// Sends several requests in one message, whose answers have at most this number of elements together,
    /// and returns the `seq` of the first.
    pub(super) fn ask_together(&mut self, requests: impl Iterator<Item = Value>, elements: usize) -> u64 {
        let first = self.seq + 1;
        let requests: Vec<Value> =
            (first..).zip(requests).map(|(seq, request)| json!({ "seq": seq, "request": request })).collect();
        self.seq += requests.len() as u64;
        self.allow(elements, requests.len());
        self.send(&json!({ "cmd": "batch", "requests": requests }));
        first
    }

    /// Lets a line be as long as this number of answers with this number of elements together.
    fn allow(&self, elements: usize, answers: usize) {
        let shortest = SHORTEST_LIMIT.saturating_mul(answers);
        let limit = elements.saturating_mul(PER_ELEMENT).saturating_add(shortest).min(LONGEST_LIMIT);
        self.limit.fetch_max(limit, Ordering::Relaxed);
    }

    /// Sends a line. If the process has closed its input, the missing answer will show it.
    pub(super) fn send(&self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        if let Some(to) = &self.to {
            let _ = to.send(line);
        }
    }

    /// Waits for the next line. The time limit starts at `since`.
    pub(super) fn receive(
        &mut self,
        since: Instant,
        limit: Duration,
        options: &Options,
    ) -> Result<Vec<u8>, Fault> {
        let mut gone = false;
        loop {
            if options.interrupted() {
                return Err(Fault::Interrupted);
            }
            let left = limit.saturating_sub(since.elapsed());
            match self.from.recv_timeout(left.min(SLICE)) {
                Ok(Event::Line(line)) => return Ok(line),
                Ok(Event::TooLong(limit)) => {
                    let message =
                        format!("a line of more than {limit} bytes, which is longer than any answer");
                    return Err(Fault::Broken(ErrorKind::InvalidAnswer, message + &self.stderr.text()));
                }
                Ok(Event::End(half)) => return Err(Fault::Crashed(self.ending(&half))),
                Err(RecvTimeoutError::Disconnected) => return Err(Fault::Crashed(self.ending(&[]))),
                // The process has ended, but one of its children holds the output open.
                Err(RecvTimeoutError::Timeout) if gone => return Err(Fault::Crashed(self.ending(&[]))),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    return Err(Fault::Broken(ErrorKind::TimedOut, self.hung(limit)));
                }
                Err(RecvTimeoutError::Timeout) => gone = self.group.exited().is_some(),
            }
        }
    }

    /// Whether the process has ended.
    pub(super) fn is_gone(&mut self) -> bool {
        self.group.exited().is_some()
    }

    fn hung(&self, limit: Duration) -> String {
        let partial = self.partial.load(Ordering::Relaxed);
        let half =
            if partial > 0 { format!(": it wrote {partial} bytes, and no line feed") } else { String::new() };
        format!("no answer within {}{half}", seconds(limit))
    }

    /// Describes the end of a process that closed its output after the incomplete line `half`.
    fn ending(&mut self, half: &[u8]) -> String {
        let status = self.group.wait(LAST_BREATH);
        let mut text = match status {
            Some(status) => format!("the process {}", describe(status)),
            None => "the process closed its stdout and did not end".into(),
        };
        if let Some(trouble) = self.trouble.take() {
            // The process may have ended because of it.
            text = format!("{trouble}; {text}");
        }
        if !half.is_empty() {
            text += &format!("\nit had written half a line: {}", excerpt(half));
        }
        // A child of the process may hold its stderr open.
        self.group.end();
        text + &self.stderr.text()
    }

    /// Sends `stop`, waits for the process to end, and describes its exit status. An error if it still runs.
    pub(super) fn stop(&mut self, limit: Duration) -> Result<String, String> {
        self.send(&json!({ "cmd": "stop" }));
        self.to = None;
        let status = self.group.wait(limit);
        status.map(describe).ok_or_else(|| format!("the process still runs {} after `stop`", seconds(limit)))
    }

    /// Closes the input of the process without sending `stop`.
    pub(super) fn close_input(&mut self) {
        self.to = None;
    }

    /// Sends `stop` without waiting for the end.
    pub(super) fn send_stop(&mut self) {
        self.send(&json!({ "cmd": "stop" }));
        self.to = None;
    }

    /// Waits for the process to end by itself.
    pub(super) fn wait(&mut self, limit: Duration) {
        self.group.wait(limit);
    }
}

/// A process that was sent `start`.
pub(super) struct Starting {
    session: Session,
    since: Instant,
}

impl Starting {
    /// Reads the answer to `start`.
    pub(super) fn finish(mut self, options: &Options) -> Result<(Session, Declared), String> {
        let declared = self.session.started(self.since, options)?;
        Ok((self.session, declared))
    }

    /// Sends `stop` without waiting for the end.
    pub(super) fn send_stop(&mut self) {
        self.session.send_stop();
    }
}

/// `10 s`, `0.3 s`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// An error of a stream between the processes, which is no fault of the implementation.
#[derive(Clone, Default)]
struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    fn note(&self, what: &str, result: io::Result<()>) {
        // The process need not read all of its input.
        if let Err(error) = result
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{what} failed: {error}"));
        }
    }

    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Does the work in another thread. Unlike `thread::spawn`, this does not panic if the system refuses.
pub(super) fn in_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) -> io::Result<()> {
    for line in lines {
        stdin.write_all(&line)?;
        stdin.flush()?;
    }
    Ok(())
}

fn read_lines(
    stdout: ChildStdout,
    events: &SyncSender<Event>,
    limit: &AtomicUsize,
    partial: &AtomicUsize,
) -> io::Result<()> {
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    loop {
        let mut line = Vec::new();
        let bytes = || limit.load(Ordering::Relaxed);
        let ended = read_line(&mut stdout, &mut line, bytes, |count| partial.store(count, Ordering::Relaxed));
        // After an error the channel is closed, which ends the session.
        let (event, last) = match ended? {
            Line::Whole => (Event::Line(line), false),
            Line::TooLong => (Event::TooLong(bytes()), true),
            Line::Half => (Event::End(line), true),
            Line::End => (Event::End(Vec::new()), true),
        };
        if events.send(event).is_err() || last {
            return Ok(());
        }
    }
}
