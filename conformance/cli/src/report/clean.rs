//! Makes texts from implementations safe to show: a name or a message may contain anything, such as terminal
//! escape codes or characters that change the direction of a line.

use super::{Declares, Report};
use broadcheck_spec::hides;

/// The maximum length of a message, in characters.
const MAX_MESSAGE: usize = 4000;
/// The maximum length of a message, in lines.
const MAX_LINES: usize = 60;
/// The maximum length of a name or version, in characters.
const MAX_NAME: usize = 80;

impl Report {
    /// The same report with names, versions and messages that are safe in every format and have a bounded
    /// length.
    #[must_use]
    pub fn cleaned(mut self) -> Report {
        for run in &mut self.runs {
            run.name = name(&run.name);
            run.version = name(&run.version);
            run.declares = run.declares.take().map(Declares::cleaned);
            for entry in &mut run.results {
                entry.detail = message(&entry.detail);
                entry.wider = entry.wider.as_deref().map(one_line);
                let lines = entry.request.iter_mut().chain(&mut entry.expectation).chain(&mut entry.sources);
                for text in lines.chain([&mut entry.title, &mut entry.location, &mut entry.rerun]) {
                    *text = one_line(text);
                }
            }
            for leftover in &mut run.leftovers {
                leftover.case = one_line(&leftover.case);
                leftover.reason = visible(&leftover.reason);
            }
        }
        self
    }
}

/// A name, in one line.
pub(crate) fn name(text: &str) -> String {
    shortened(&one_line(text), MAX_NAME)
}

/// A text in one line.
pub(crate) fn one_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// A message, which may have several lines.
fn message(text: &str) -> String {
    let text = visible(text);
    match text.match_indices('\n').nth(MAX_LINES - 1) {
        None => shortened(&text, MAX_MESSAGE),
        Some((end, _)) => {
            let more = text[end + 1..].lines().count();
            format!("{}\n... ({more} more lines)", shortened(&text[..end], MAX_MESSAGE))
        }
    }
}

/// Whether [`visible`] changes nothing.
pub(crate) fn is_visible(text: &str) -> bool {
    text.chars().all(|char| char == '\n' || !(char.is_control() || hides(char)))
}

/// The text with every invisible character escaped, as in `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => out.push('\n'),
            '\t' => out.push(' '),
            _ if char.is_control() || hides(char) => out.extend(char.escape_unicode()),
            _ => out.push(char),
        }
    }
    out
}

/// Like [`visible`], but keeps colours. Parts from outside must have gone through [`visible`] already.
pub(crate) fn visible_but_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        let colour = colour_length(&rest[start..]);
        out += &visible(&rest[..start]);
        out += if colour > 0 { &rest[start..start + colour] } else { "\\u{1b}" };
        rest = &rest[start + colour.max(1)..];
    }
    out + &visible(rest)
}

/// The length of the colour, such as `ESC [ 1 ; 31 m`, at the beginning of a text; 0 if there is none.
fn colour_length(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = parameters.find(|char: char| !char.is_ascii_digit() && char != ';');
    end.filter(|&end| parameters[end..].starts_with('m')).map_or(0, |end| end + 3)
}

/// Like [`visible`], with the escapes of JSON.
pub(crate) fn visible_in_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for char in document.chars() {
        if char != '\n' && (char.is_control() || hides(char)) {
            let mut units = [0; 2];
            out.extend(char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(char);
        }
    }
    out
}

/// At most this many characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ... ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(message("\u{1b}[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(message("a\r\nb\tc\u{202e}d\u{2028}e"), "a\nb c\\u{202e}d\\u{2028}e");
        assert_eq!(message("\u{fffe}\u{1ffff}\u{fdd0}"), "\\u{fffe}\\u{1ffff}\\u{fdd0}");
        assert_eq!(message("größer ≤ 形 \u{1f600}"), "größer ≤ 形 \u{1f600}");
        assert_eq!(name("one\ntwo"), "one two");
    }

    #[test]
    fn terminal_codes_except_colours_are_escaped() {
        let shown = visible_but_colours("\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}]0;t\u{7}\u{202e}\u{1b}");
        let expected = "\u{1b}[1;31mred\u{1b}[0m \\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{202e}\\u{1b}";
        assert_eq!(shown, expected);
        assert_eq!(visible_but_colours("\u{1b}[é\u{1b}[3"), "\\u{1b}[é\\u{1b}[3");
    }

    #[test]
    fn json_stays_json() {
        let text = "a\u{1b}\u{202e}\u{9b}\u{e0001}\nü";
        let document = visible_in_json(&serde_json::to_string_pretty(&[text]).unwrap());
        assert!(
            document.chars().all(|char| char == '\n' || !char.is_control() && !hides(char)),
            "{document}"
        );
        assert_eq!(serde_json::from_str::<Vec<String>>(&document).unwrap(), [text]);
    }

    #[test]
    fn messages_of_many_lines_are_cut_between_lines() {
        let lines = |count: usize| (0..count).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        assert_eq!(message(&lines(MAX_LINES)), lines(MAX_LINES));
        assert_eq!(message(&lines(MAX_LINES + 2)), lines(MAX_LINES) + "\n... (2 more lines)");
        assert_eq!(message(&"\n".repeat(4000)).lines().count(), MAX_LINES + 1);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(MAX_MESSAGE + 5);
        let shown = message(&long);
        assert!(shown.ends_with("é ... (5 more characters)"), "{shown}");
        assert_eq!(message(&"é".repeat(MAX_MESSAGE)), "é".repeat(MAX_MESSAGE));
        assert!(name(&long).chars().count() < 120);
    }
}
