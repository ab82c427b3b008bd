//! One process from its start to its end: lines to it, lines from it, each stream on a thread of its own.

use super::Options;
use super::group::{Group, Streams, describe};
use super::lines::{Line, excerpt, read_line};
use super::start::{self, Declared, VERSION};
use super::stderr::Tail;
use broadcheck_spec::{ErrorKind, Outcome};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// How often a wait looks around: for the interrupt key, for a process that ended and left its output open.
const SLICE: Duration = Duration::from_millis(40);

/// How long a process that has closed its output may take to end by itself.
const LAST_BREATH: Duration = Duration::from_millis(500);

/// How many lines are read ahead.
const AHEAD: usize = 4;

/// How long a line may be where little is expected: enough for any answer that says what went wrong.
const SHORTEST_LIMIT: usize = 1 << 20;

/// How long a line may be at all.
const LONGEST_LIMIT: usize = 256 << 20;

/// How many bytes an element may take: `0.000…` of the smallest float, written without an exponent.
const PER_ELEMENT: usize = 400;

/// Why a process cannot be asked any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It ended, or closed its output.
    Crashed(String),
    /// Its answer was not valid or did not come in time, or it could not be started again.
    Broken(ErrorKind, String),
    /// The run was interrupted.
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
    pub(super) fn outcome(self) -> Outcome {
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
    /// How long the line is that is being read.
    partial: Arc<AtomicUsize>,
    /// The number of the last request.
    pub(super) seq: u64,
}

impl Session {
    /// Starts a process and asks what it does.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn open(words: &[String], options: &Options) -> Result<(Session, Declared), String> {
        let mut session = Session::launch(words)?;
        let declared = session.start(options)?;
        Ok((session, declared))
    }

    /// Starts a process and says nothing to it.
    pub(super) fn launch(words: &[String]) -> Result<Session, String> {
        let (group, streams) =
            Group::start(words).map_err(|error| format!("the program cannot be started: {error}"))?;
        let Streams { stdin, stdout, stderr } = streams;
        let limit = Arc::new(AtomicUsize::new(SHORTEST_LIMIT));
        let partial = Arc::new(AtomicUsize::new(0));
        let (to, lines) = mpsc::channel();
        let (events, from) = mpsc::sync_channel(AHEAD);
        thread::spawn(move || write_lines(stdin, &lines));
        let (line_limit, so_far) = (Arc::clone(&limit), Arc::clone(&partial));
        thread::spawn(move || read_lines(stdout, &events, &line_limit, &so_far));
        Ok(Session { group, to: Some(to), from, stderr: Tail::of(stderr), limit, partial, seq: 0 })
    }

    /// Asks what the process does.
    pub(super) fn start(&mut self, options: &Options) -> Result<Declared, String> {
        self.send(&json!({ "cmd": "start", "version": VERSION }));
        let line =
            self.receive(Instant::now(), options.start_limit, options).map_err(|fault| match fault {
                Fault::Crashed(how) | Fault::Broken(_, how) => format!("`start` was not answered: {how}"),
                Fault::Interrupted => fault.message(),
            })?;
        start::read(&line).map_err(|errors| {
            let errors = errors.join("; ");
            format!("the answer to `start` is not valid: {errors}\nthe line: {}", excerpt(&line))
                + &self.stderr.text()
        })
    }

    /// Sends a request whose answer may hold this many elements, and gives back its number.
    pub(super) fn ask(&mut self, request: Value, elements: usize) -> u64 {
        self.seq += 1;
        let limit = elements.saturating_mul(PER_ELEMENT).saturating_add(SHORTEST_LIMIT).min(LONGEST_LIMIT);
        self.limit.fetch_max(limit, Ordering::Relaxed);
        let mut message = json!({ "cmd": "run", "seq": self.seq });
        message["request"] = request;
        self.send(&message);
        self.seq
    }

    /// Sends a line. Where nobody reads any more, the answer will be missed.
    pub(super) fn send(&self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        if let Some(to) = &self.to {
            let _ = to.send(line);
        }
    }

    /// The next line, waited for from `since` on.
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
                // It has ended, and something that it started holds its output open.
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

    /// How the process ended that has closed its output, with `half` a line as its last.
    fn ending(&mut self, half: &[u8]) -> String {
        let status = self.group.wait(LAST_BREATH);
        let mut text = match status {
            Some(status) => format!("the process {}", describe(status)),
            None => "the process closed its stdout and did not end".into(),
        };
        if !half.is_empty() {
            text += &format!("\nit had written half a line: {}", excerpt(half));
        }
        // What it started may hold its stderr open.
        self.group.end();
        text + &self.stderr.text()
    }

    /// Asks the process to end, and waits. Whether it did, with its exit status in words.
    pub(super) fn stop(&mut self, limit: Duration) -> Result<String, String> {
        self.send(&json!({ "cmd": "stop" }));
        self.to = None;
        let status = self.group.wait(limit);
        status.map(describe).ok_or_else(|| format!("the process still runs {} after `stop`", seconds(limit)))
    }

    /// Closes the process's input without a word.
    pub(super) fn close_input(&mut self) {
        self.to = None;
    }

    /// Says `stop` and does not wait for it.
    pub(super) fn say_stop(&mut self) {
        self.send(&json!({ "cmd": "stop" }));
        self.to = None;
    }

    /// Waits for the process to end by itself.
    pub(super) fn wait(&mut self, limit: Duration) {
        self.group.wait(limit);
    }
}

/// `10 s`, `0.3 s`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, events: &SyncSender<Event>, limit: &AtomicUsize, partial: &AtomicUsize) {
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    loop {
        let mut line = Vec::new();
        let bytes = || limit.load(Ordering::Relaxed);
        let ended = read_line(&mut stdout, &mut line, bytes, |count| partial.store(count, Ordering::Relaxed));
        let (event, last) = match ended {
            Ok(Line::Whole) => (Event::Line(line), false),
            Ok(Line::TooLong) => (Event::TooLong(bytes()), true),
            Ok(Line::Half) => (Event::End(line), true),
            Ok(Line::End) | Err(_) => (Event::End(Vec::new()), true),
        };
        if events.send(event).is_err() || last {
            return;
        }
    }
}
