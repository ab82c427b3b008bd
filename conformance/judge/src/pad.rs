//! Texts brought to a width. The formatter's own `{:width$}` panics where a width is beyond 65535, and widths come from
//! data: from names, titles and shapes as long as somebody makes them.

/// The text, with spaces after it up to the width in characters.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", missing(text, width))
}

/// The text, with spaces before it up to the width in characters.
pub fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", missing(text, width))
}

fn missing(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_will_do() {
        assert_eq!(padded("é", 3), "é  ");
        assert_eq!(padded_left("é", 3), "  é");
        assert_eq!(padded("long", 2), "long");
        assert_eq!(padded("a", 70_000).len(), 70_000);
        assert_eq!(padded_left("a", 70_000).len(), 70_000);
    }
}
