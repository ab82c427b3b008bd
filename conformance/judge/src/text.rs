//! Wording and layout that reports, errors and drawings share.

/// `1 case`, `2 cases`.
pub fn plural(count: impl TryInto<u64> + Copy + std::fmt::Display, noun: &str) -> String {
    let one = count.try_into().is_ok_and(|count| count == 1);
    format!("{count} {noun}{}", if one { "" } else { "s" })
}

/// The text, padded on the right with spaces to a width in characters.
///
/// Unlike the formatter's own `{:width$}`, which panics if the width exceeds 65535, this accepts any width.
/// Widths come from data: names, titles and shapes of any length.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", padding(text, width))
}

/// The text, padded on the left with spaces to a width in characters. Accepts any width, as [`padded`] does.
pub fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", padding(text, width))
}

fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_is_accepted() {
        assert_eq!(padded("é", 3), "é  ");
        assert_eq!(padded_left("é", 3), "  é");
        assert_eq!(padded("long", 2), "long");
        assert_eq!(padded("a", 70_000).len(), 70_000);
        assert_eq!(padded_left("a", 70_000).len(), 70_000);
    }
}
