//! Wording that reports, errors and drawings share.

/// `1 case`, `2 cases`.
pub fn plural(count: impl TryInto<u64> + Copy + std::fmt::Display, noun: &str) -> String {
    let one = count.try_into().is_ok_and(|count| count == 1);
    format!("{count} {noun}{}", if one { "" } else { "s" })
}
