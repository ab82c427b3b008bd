//! The channel between a test binary and its workers: what each side sends, as one JSON object per line.
//!
//! A library may print to standard output, and may close it. On Unix, a worker therefore gets a socket as its
//! standard input, and uses a duplicate of it in both directions. Standard output stays what it is in the
//! test binary itself. Elsewhere, a worker writes to standard output, and its parent passes on what is not a
//! message.

use super::runner::Ending;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

/// The start of a message of a worker: no library prints it.
const MARK: &str = "\u{1e}broadcheck ";

/// What a worker is to run, in order.
#[derive(Serialize, Deserialize)]
pub(super) struct Order<T> {
    pub(super) tasks: T,
    /// The number of threads that a sweep may use.
    pub(super) threads: usize,
    /// Whether to announce each request before it is put to the library.
    pub(super) announce: bool,
}

/// One test of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Task {
    /// A case or a sweep, for the implementation with this index.
    Entry { subject: usize, file: String, id: String },
    /// The added test with this index.
    Added(usize),
}

/// What a worker reports.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// It can take an order.
    Ready,
    /// The running test has made progress.
    Alive,
    /// This request is about to be put to the library.
    Asking(String),
    /// The next test of the order ended.
    Ended(Ending),
}

/// Where a worker's messages go. Each is written at once.
pub(super) struct Sender(Mutex<Box<dyn Write + Send>>);

impl Sender {
    pub(super) fn send(&self, message: &Message) -> io::Result<()> {
        let line = format!("{MARK}{}\n", serde_json::to_string(message)?);
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(line.as_bytes())?;
        out.flush()
    }
}

/// Passes on each message until the worker ends, or until `each` returns `false`. Other text goes to `other`.
pub(super) fn receive(
    stream: impl Read,
    mut other: impl Write,
    mut each: impl FnMut(Message) -> bool,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line)? > 0 {
        let place = line.windows(MARK.len()).position(|window| window == MARK.as_bytes());
        let (text, message) = line.split_at(place.unwrap_or(line.len()));
        // Nothing can be done about a closed output.
        let _ = other.write_all(text);
        match serde_json::from_slice(message.get(MARK.len()..).unwrap_or_default()) {
            Ok(message) => {
                if !each(message) {
                    return Ok(());
                }
            }
            Err(_) => drop(other.write_all(message)),
        }
        line.clear();
    }
    Ok(())
}

/// Sends an order to a worker.
pub(super) fn order(to: &mut dyn Write, order: &Order<Vec<&Task>>) -> io::Result<()> {
    to.write_all(format!("{}\n", serde_json::to_string(order)?).as_bytes())?;
    to.flush()
}

/// The orders that a worker reads. An iteration ends when the parent has closed the channel, or has ended.
pub(super) fn orders(stream: impl Read) -> impl Iterator<Item = Order<Vec<Task>>> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.map_while(|line| serde_json::from_str(&line).ok())
}

/// A started worker with the streams to and from it.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) orders: Box<dyn Write + Send>,
    pub(super) messages: Box<dyn Read + Send>,
}

#[cfg(unix)]
mod system {
    use super::{Sender, Started};
    use std::io::{self, Read, Write};
    use std::net::Shutdown;
    use std::os::fd::{AsFd as _, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};
    use std::sync::Mutex;

    pub(super) fn start(command: &mut Command) -> io::Result<Started> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::inherit()).spawn()?;
        // The command keeps its end of the socket open.
        command.stdin(Stdio::null());
        Ok(Started { child, messages: Box::new(ours.try_clone()?), orders: Box::new(Orders(ours)) })
    }

    /// The direction of orders, which ends with this value although messages still arrive.
    struct Orders(UnixStream);

    impl Write for Orders {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl Drop for Orders {
        fn drop(&mut self) {
            // An error means that the worker has ended.
            let _ = self.0.shutdown(Shutdown::Write);
        }
    }

    pub(super) fn own() -> io::Result<(Box<dyn Read + Send>, Sender)> {
        let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let sender = Sender(Mutex::new(Box::new(socket.try_clone()?)));
        Ok((Box::new(socket), sender))
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Sender, Started};
    use std::io::{self, Read};
    use std::process::{Command, Stdio};
    use std::sync::Mutex;

    pub(super) fn start(command: &mut Command) -> io::Result<Started> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("the process has no pipe");
        let orders = Box::new(child.stdin.take().ok_or_else(missing)?);
        let messages = Box::new(child.stdout.take().ok_or_else(missing)?);
        Ok(Started { child, orders, messages })
    }

    pub(super) fn own() -> io::Result<(Box<dyn Read + Send>, Sender)> {
        Ok((Box::new(io::stdin()), Sender(Mutex::new(Box::new(io::stdout())))))
    }
}

/// Starts a worker.
pub(super) fn start(command: &mut Command) -> io::Result<Started> {
    system::start(command)
}

/// The channel of this process, which is a worker.
pub(super) fn own() -> io::Result<(Box<dyn Read + Send>, Sender)> {
    system::own()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_among_what_a_library_prints() {
        let line = |message: &Message| format!("{MARK}{}\n", serde_json::to_string(message).unwrap());
        let ended = Message::Ended(Ending::Ignored("two\nlines \u{1e}broadcheck ".to_owned()));
        let text =
            format!("one\nhalf{}{}{MARK}x\n{}", line(&Message::Ready), line(&ended), line(&Message::Alive));
        let (mut other, mut found) = (Vec::new(), Vec::new());
        receive(text.as_bytes(), &mut other, |message| {
            found.push(message);
            true
        })
        .unwrap();
        assert_eq!(found, [Message::Ready, ended, Message::Alive]);
        assert_eq!(String::from_utf8(other).unwrap(), format!("one\nhalf{MARK}x\n"));
    }

    #[test]
    fn orders_are_read_back() {
        let mut sent = Vec::new();
        let (case, added) =
            (Task::Entry { subject: 1, file: "a.yaml".into(), id: "numpy/a".into() }, Task::Added(3));
        order(&mut sent, &Order { tasks: vec![&case, &added], threads: 2, announce: true }).unwrap();
        sent.extend(b"garbage\n");
        let found: Vec<Order<Vec<Task>>> = orders(sent.as_slice()).collect();
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].tasks, found[0].threads, found[0].announce), (&vec![case, added], 2, true));
    }
}
