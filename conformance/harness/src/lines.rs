//! Reads lines of bounded length from an untrusted stream.

use std::io::{self, BufRead, ErrorKind};

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// With a line feed.
    Whole,
    /// At the end of the stream, without a line feed.
    Half,
    /// At the length limit. The rest of the line was not read.
    TooLong,
    /// The stream ended before the line began.
    End,
}

/// Reads a line into `line`, without its line feed. Calls `progress` with the number of bytes read so far.
pub(super) fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    limit: impl Fn() -> usize,
    mut progress: impl FnMut(usize),
) -> io::Result<Line> {
    line.clear();
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(if line.is_empty() { Line::End } else { Line::Half });
        }
        let feed = chunk.iter().position(|&byte| byte == b'\n');
        let part = &chunk[..feed.unwrap_or(chunk.len())];
        if line.len() + part.len() > limit() {
            return Ok(Line::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(feed.is_some());
        input.consume(used);
        if feed.is_some() {
            progress(0);
            return Ok(Line::Whole);
        }
        progress(line.len());
    }
}

/// Skips the rest of a line.
pub(super) fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let feed = chunk.iter().position(|&byte| byte == b'\n');
        let used = feed.map_or(chunk.len(), |place| place + 1);
        let done = feed.is_some() || chunk.is_empty();
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

/// The beginning of an untrusted line, for a message.
pub(super) fn excerpt(line: &[u8]) -> String {
    format!("`{}`", shortened(line, 160))
}

/// The first characters of a line.
pub(super) fn shortened(line: &[u8], longest: usize) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * longest)]);
    let mut short: String = text.trim_end().chars().map(printable).take(longest).collect();
    if short.len() < line.trim_ascii_end().len() {
        short.push('…');
    }
    short
}

/// The character, or a replacement for a control character.
pub(super) fn printable(char: char) -> char {
    if char.is_control() { char::REPLACEMENT_CHARACTER } else { char }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut input: &[u8], limit: usize) -> Vec<(Line, Vec<u8>)> {
        let mut found = Vec::new();
        loop {
            let mut line = Vec::new();
            let ended = read_line(&mut input, &mut line, || limit, |_| {}).unwrap();
            found.push((ended, line));
            match ended {
                Line::TooLong => skip_line(&mut input).unwrap(),
                Line::Whole => {}
                Line::Half | Line::End => return found,
            }
        }
    }

    #[test]
    fn lines_end_at_feeds_limits_and_ends() {
        let one = |ended, text: &str| (ended, text.as_bytes().to_vec());
        let expected = [one(Line::Whole, "ab"), one(Line::Whole, ""), one(Line::Half, "c")];
        assert_eq!(read(b"ab\n\nc", 2), expected);
        assert_eq!(read(b"", 2), [one(Line::End, "")]);
        let ended: Vec<Line> = read(b"abc\nd\n", 2).into_iter().map(|(ended, _)| ended).collect();
        assert_eq!(ended, [Line::TooLong, Line::Whole, Line::End]);
    }

    #[test]
    fn excerpts_are_short_and_harmless() {
        assert_eq!(excerpt(b"{\"seq\":1}\r\n"), "`{\"seq\":1}`");
        assert_eq!(excerpt(b"\x1b[31mred"), "`\u{fffd}[31mred`");
        assert!(excerpt(&[b'x'; 1000]).chars().count() < 170);
        assert!(excerpt(&[b'x'; 1000]).ends_with("…`"));
        assert!(!excerpt("é".as_bytes()).contains('…'));
    }
}
