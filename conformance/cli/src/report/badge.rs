//! A badge for a README: an image with the number of cases that an implementation passed.

use super::{PRODUCT, Run, Summary};
use askama::Template;

/// The beginning of every badge.
pub const MARKER: &str = "<!-- broadcheck badge -->";

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 40;

#[derive(Template)]
#[template(path = "badge.svg", escape = "html")]
struct Badge {
    marker: &'static str,
    left: String,
    right: String,
    title: String,
    colour: &'static str,
    left_width: usize,
    right_width: usize,
    width: usize,
    left_text: usize,
    right_text: usize,
    left_middle: usize,
    right_middle: usize,
}

/// The badge of an implementation.
pub fn render(run: &Run) -> String {
    let summary = run.summary();
    let left: String = run.title().chars().take(MAX_NAME).collect();
    let right = format!("broadcheck: {}", verdict(&summary));
    let (left_text, right_text) = (text_width(&left), text_width(&right));
    let (left_width, right_width) = (left_text + 12, right_text + 12);
    let badge = Badge {
        marker: MARKER,
        title: title(run, &summary),
        left,
        right,
        colour: colour(&summary),
        left_width,
        right_width,
        width: left_width + right_width,
        left_text,
        right_text,
        left_middle: left_width / 2,
        right_middle: left_width + right_width / 2,
    };
    badge.render().expect("an image of texts can be written to a string")
}

/// The counts in full, for screen readers and as a tooltip.
fn title(run: &Run, summary: &Summary) -> String {
    let Summary { skipped, agrees, differs, .. } = summary;
    let mut text = format!("{PRODUCT}, {}: {}, {skipped} skipped", run.title(), verdict(summary));
    if agrees + differs > 0 {
        text += &format!("; conventions: {agrees} agree, {differs} differ");
    }
    text
}

/// `12 failed, 500 passed`: failures first. Conventions are in the title only: they are not a matter of right
/// and wrong.
fn verdict(summary: &Summary) -> String {
    let counts = [
        (summary.failed, "failed"),
        (summary.errored, "errored"),
        (summary.passed, "passed"),
        (summary.known, "known to fail"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() { "nothing judged".into() } else { parts.join(", ") }
}

/// The background, on which white text is readable.
fn colour(summary: &Summary) -> &'static str {
    match summary {
        Summary { failed: 1.., .. } | Summary { errored: 1.., .. } => "#b3151f",
        Summary { passed: 0, .. } => "#5c636b",
        Summary { known: 1.., .. } => "#7a5200",
        _ => "#1a6b32",
    }
}

/// An estimate of the width of a text in pixels; the image then stretches the text to it.
fn text_width(text: &str) -> usize {
    let tenths = |char: char| match char {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 35,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 45,
        'm' | 'w' | 'M' | 'W' | '@' => 100,
        _ if char.is_ascii() => 68,
        _ => 110,
    };
    text.chars().map(tenths).sum::<usize>().div_ceil(10)
}

/// A file name for each implementation, unique, with a hyphen in place of anything but ASCII letters and
/// digits.
pub fn file_names<'a>(implementations: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for implementation in implementations {
        let name = format!("badge-{}", slug(implementation));
        let numbered = (2..).map(|number| format!("{name}-{number}.svg"));
        let free = std::iter::once(format!("{name}.svg")).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

fn slug(name: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let hyphens: String = name.chars().take(MAX_NAME).map(plain).collect();
    let words: Vec<&str> = hyphens.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "unnamed".into() } else { words.join("-") }
}
