//! Prepares a JSON file for the YAML parser, which finds positions, by masking the content of strings.
//!
//! YAML parsers read almost all of JSON, except pairs of `\u` escapes and tabs in some places. So the JSON
//! library reads each string here, and the parser sees the same number of harmless characters instead: lines
//! and columns stay the same.

/// The text with masked strings, and the strings in order.
pub(crate) struct Masked {
    pub(crate) text: String,
    pub(crate) strings: Vec<String>,
}

impl Masked {
    /// Masks a text that is JSON, apart from the escapes in its strings.
    ///
    /// # Errors
    /// A string that does not denote a text, with its line and column.
    pub(crate) fn new(json: &str) -> Result<Masked, (serde_json::Error, usize, usize)> {
        let mut masked = Masked { text: String::with_capacity(json.len()), strings: Vec::new() };
        let (mut line, mut column) = (1, 0);
        // Where the open string began: byte, line and column.
        let mut open: Option<(usize, usize, usize)> = None;
        let mut escaped = false;
        for (place, char) in json.char_indices() {
            column += 1;
            if char == '\n' {
                (line, column) = (line + 1, 0);
            }
            let shown = match (open, char) {
                (None, '"') => {
                    open = Some((place, line, column));
                    '"'
                }
                (None, '\t') => ' ',
                (None, other) => other,
                (Some((start, line, column)), '"') if !escaped => {
                    let text = serde_json::from_str(&json[start..=place]);
                    masked.strings.push(text.map_err(|error| (error, line, column))?);
                    open = None;
                    '"'
                }
                (Some(_), '\\') => {
                    escaped = !escaped;
                    'x'
                }
                (Some(_), _) => {
                    escaped = false;
                    'x'
                }
            };
            masked.text.push(shown);
        }
        Ok(masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_masked_and_positions_stay() {
        let json = "{\t\"a\\\"\\\\\":[\"\\ud83d\\ude00\",\n\"\u{2028}é: {\", \"\", 1.5]}";
        let Ok(Masked { text, strings }) = Masked::new(json) else { panic!("JSON") };
        assert_eq!(text, "{ \"xxxxx\":[\"xxxxxxxxxxxx\",\n\"xxxxx\", \"\", 1.5]}");
        assert_eq!(strings, ["a\"\\", "😀", "\u{2028}é: {", ""]);
        assert_eq!(text.chars().count(), json.chars().count());
    }

    #[test]
    fn half_a_surrogate_pair_is_an_error() {
        let Err((error, line, column)) = Masked::new("[1,\n \"\\ud83d\"]") else { panic!("no text") };
        assert!(
            error.to_string().contains("surrogate") || error.to_string().contains("hex escape"),
            "{error}"
        );
        assert_eq!((line, column), (2, 2));
    }
}
