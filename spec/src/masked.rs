//! A JSON file made ready for the parser that finds places: strings without their content.
//!
//! YAML reads almost all of JSON, but not pairs of `\u` escapes, nor tabs everywhere. So each string is read here, by
//! the JSON library, and the parser sees as many harmless characters in its place: lines and columns stay.

/// The text with masked strings, and the strings in order.
pub(crate) struct Masked {
    pub(crate) text: String,
    pub(crate) strings: Vec<String>,
}

impl Masked {
    /// Masks a text that is JSON, but for the escapes in its strings.
    ///
    /// # Errors
    /// A string that denotes no text, with its line and column.
    pub(crate) fn new(json: &str) -> Result<Masked, (serde_json::Error, usize, usize)> {
        let mut masked = Masked { text: String::with_capacity(json.len()), strings: Vec::new() };
        let (mut line, mut column) = (1, 0);
        // Where the open string began: its byte, its line and its column.
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
    fn strings_are_taken_out_and_places_stay() {
        let json = "{\t\"a\\\"\\\\\":[\"\\ud83d\\ude00\",\n\"\u{2028}é: {\", \"\", 1.5]}";
        let Ok(Masked { text, strings }) = Masked::new(json) else { panic!("JSON") };
        assert_eq!(text, "{ \"xxxxx\":[\"xxxxxxxxxxxx\",\n\"xxxxx\", \"\", 1.5]}");
        assert_eq!(strings, ["a\"\\", "😀", "\u{2028}é: {", ""]);
        assert_eq!(text.chars().count(), json.chars().count());
    }

    #[test]
    fn half_a_pair_is_no_text() {
        let Err((error, line, column)) = Masked::new("[1,\n \"\\ud83d\"]") else { panic!("no text") };
        assert!(
            error.to_string().contains("surrogate") || error.to_string().contains("hex escape"),
            "{error}"
        );
        assert_eq!((line, column), (2, 2));
    }
}
