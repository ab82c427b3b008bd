//! What implementations say, made safe to show: a name or a message may hold anything, such as the codes that make
//! a terminal repaint what it showed before, or signs that turn a line's direction.

use super::Report;

/// How many characters of a message are shown.
const MAX_MESSAGE: usize = 4000;
/// How many characters of a name or version are shown.
const MAX_NAME: usize = 80;

impl Report {
    /// The same report with names, versions and messages that are safe in every face, and of bounded length.
    #[must_use]
    pub fn cleaned(mut self) -> Report {
        for run in &mut self.runs {
            run.name = name(&run.name);
            run.version = name(&run.version);
            for entry in &mut run.results {
                entry.detail = message(&entry.detail);
            }
        }
        self
    }
}

/// A name, in one line.
pub(super) fn name(text: &str) -> String {
    shortened(&visible(text).replace('\n', " "), MAX_NAME)
}

/// A message, in as many lines as it has.
fn message(text: &str) -> String {
    shortened(&visible(text), MAX_MESSAGE)
}

/// The text with every sign that does not show written out, as `\u{1b}`.
pub(super) fn visible(text: &str) -> String {
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

/// Signs of no width, those that change the direction of writing, line ends that are no line feed, and what is no
/// character, which neither XML nor YAML takes.
fn hides(char: char) -> bool {
    if u32::from(char) & 0xfffe == 0xfffe {
        return true;
    }
    matches!(
        char,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} ... ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_is_written_out() {
        assert_eq!(message("\u{1b}[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(message("a\r\nb\tc\u{202e}d\u{2028}e"), "a\nb c\\u{202e}d\\u{2028}e");
        assert_eq!(message("\u{fffe}\u{1ffff}\u{fdd0}"), "\\u{fffe}\\u{1ffff}\\u{fdd0}");
        assert_eq!(message("größer ≤ 形 \u{1f600}"), "größer ≤ 形 \u{1f600}");
        assert_eq!(name("one\ntwo"), "one two");
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        let long = "é".repeat(MAX_MESSAGE + 5);
        let shown = message(&long);
        assert!(shown.ends_with("é ... (5 more characters)"), "{shown}");
        assert_eq!(message(&"é".repeat(MAX_MESSAGE)), "é".repeat(MAX_MESSAGE));
        assert!(name(&long).chars().count() < 120);
    }
}
