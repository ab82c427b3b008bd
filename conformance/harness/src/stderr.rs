//! The standard error of a process: read continuously, so that the process never blocks, with the last lines
//! kept for error messages.

use super::lines::printable;
use super::session::in_thread;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The number of bytes kept.
const KEPT: usize = 16 << 10;

/// The maximum number of lines shown.
const SHOWN: usize = 12;

/// The maximum length of a line, in characters.
const WIDEST: usize = 200;

#[derive(Default)]
struct Kept {
    bytes: VecDeque<u8>,
    ended: bool,
}

/// The end of a process's standard error.
pub(super) struct Tail(Arc<(Mutex<Kept>, Condvar)>);

impl Tail {
    /// Starts a thread that reads to the end.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn of(mut stream: impl Read + Send + 'static) -> io::Result<Tail> {
        let shared: Arc<(Mutex<Kept>, Condvar)> = Arc::default();
        let kept = Arc::clone(&shared);
        in_thread(move || {
            let mut chunk = [0; 4096];
            loop {
                let count = match stream.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read.unwrap_or(0),
                };
                let mut kept_now = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
                if count == 0 {
                    kept_now.ended = true;
                    kept.1.notify_all();
                    return;
                }
                kept_now.bytes.extend(&chunk[..count]);
                let surplus = kept_now.bytes.len().saturating_sub(KEPT);
                kept_now.bytes.drain(..surplus);
            }
        })?;
        Ok(Tail(shared))
    }

    /// The last lines, indented below a heading; empty if there are none. Waits briefly for the end of the
    /// stream.
    pub(super) fn text(&self) -> String {
        let kept = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(kept, Duration::from_millis(200), |kept| !kept.ended);
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return String::new();
        }
        let shown = &lines[lines.len().saturating_sub(SHOWN)..];
        let line = |line: &&str| -> String { line.chars().map(printable).take(WIDEST).collect() };
        let shown: Vec<String> = shown.iter().map(|text| format!("\n  {}", line(text))).collect();
        format!("\nits stderr ends:{}", shown.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let lines: Vec<String> = (0..100_000).map(|number| format!("line {number}\n")).collect();
        let tail = Tail::of(std::io::Cursor::new(lines.concat())).unwrap();
        let text = tail.text();
        assert!(text.starts_with("\nits stderr ends:\n  line 99988\n"), "{text}");
        assert!(text.ends_with("\n  line 99999"), "{text}");
        assert_eq!(Tail::of(&b" \n"[..]).unwrap().text(), "");
    }
}
