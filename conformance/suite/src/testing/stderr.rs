//! The standard error of a worker. What a test writes is held back until the test has ended and is then
//! passed on, or shown with the failure if the worker died.

use std::io::{Read, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The number of bytes that are held back.
const HELD: usize = 16 << 10;
/// The maximum number of lines shown with a failure, from the start and from the end: a panic begins with its
/// message, and other libraries end with theirs.
const SHOWN: usize = 6;
/// The maximum length of such a line, in characters.
const WIDEST: usize = 200;

#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    ended: bool,
}

#[derive(Clone, Default)]
pub(super) struct Stderr(Arc<(Mutex<Held>, Condvar)>);

impl Stderr {
    /// Starts a thread that reads to the end.
    pub(super) fn of(mut stream: impl Read + Send + 'static) -> Stderr {
        let stderr = Stderr::default();
        let shared = stderr.clone();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            loop {
                let count = stream.read(&mut chunk).unwrap_or(0);
                let mut held = shared.held();
                held.bytes.extend(&chunk[..count]);
                if count == 0 {
                    held.ended = true;
                    shared.0.1.notify_all();
                    return;
                }
                let surplus = held.bytes.len().saturating_sub(HELD);
                let surplus: Vec<u8> = held.bytes.drain(..surplus).collect();
                drop(held);
                pass_on(&surplus);
            }
        });
        stderr
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is held back of a worker that has ended. Waits briefly for the last of it: a process that the
    /// library started may keep the stream open.
    fn ended(&self) -> MutexGuard<'_, Held> {
        let waited = self.0.1.wait_timeout_while(self.held(), Duration::from_millis(200), |held| !held.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Passes on what is held back of a worker that has ended.
    pub(super) fn finish(&self) {
        let bytes = std::mem::take(&mut self.ended().bytes);
        pass_on(&bytes);
    }

    /// Passes on what is held back.
    pub(super) fn flush(&self) {
        let bytes = std::mem::take(&mut self.held().bytes);
        pass_on(&bytes);
    }

    /// Takes the lines of a worker that has ended, each indented, below a heading. Empty if there are none.
    pub(super) fn take(&self) -> String {
        let bytes = std::mem::take(&mut self.ended().bytes);
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return String::new();
        }
        let line = |line: &&str| -> String {
            let printable = line.chars().map(|char| if char.is_control() { ' ' } else { char });
            format!("\n  {}", printable.take(WIDEST).collect::<String>())
        };
        let show = |lines: &[&str]| lines.iter().map(line).collect::<String>();
        let (first, rest) = lines.split_at(lines.len().min(SHOWN));
        let (between, last) = rest.split_at(rest.len().saturating_sub(SHOWN));
        let gap = if between.is_empty() { String::new() } else { format!("\n  ({} lines)", between.len()) };
        format!("\nits standard error:{}{gap}{}", show(first), show(last))
    }
}

fn pass_on(bytes: &[u8]) {
    if !bytes.is_empty() {
        // Nothing can be done about a closed output.
        let _ = std::io::stderr().write_all(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_last_lines_are_shown() {
        let text = |bytes: &'static [u8]| Stderr::of(bytes).take();
        assert_eq!(text(b""), "");
        assert_eq!(text(b" \n"), "");
        assert_eq!(text(b"a\n\nb\x1b[1m\n"), "\nits standard error:\n  a\n  b [1m");
        let many: String = (0..40).map(|number| format!("line {number}\n")).collect();
        let shown = Stderr::of(std::io::Cursor::new(many)).take();
        assert!(shown.starts_with("\nits standard error:\n  line 0\n"), "{shown}");
        assert!(shown.contains("\n  line 5\n  (28 lines)\n  line 34\n"), "{shown}");
        assert!(shown.ends_with("\n  line 39"), "{shown}");
    }
}
