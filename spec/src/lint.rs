//! The meaning of a plain (unquoted) scalar. YAML 1.1, YAML 1.2 and the format must agree on it.

/// The value of a scalar that every reader interprets the same way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plain {
    Text,
    Bool(bool),
    /// An integer from -2^63 to 2^64-1.
    Int(i128),
    Float(f64),
}

/// The language whose literals a file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Yaml,
    Json,
}

/// What is wrong with a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) found: String,
    pub(crate) expected: String,
}

fn finding<T>(text: &str, expected: &str) -> Result<T, Finding> {
    Err(Finding { found: format!("`{}`", shortened(text)), expected: expected.into() })
}

/// Whether a character is invisible or misleading: it has no width, changes the writing direction, is a line
/// separator other than a line feed, or is a noncharacter, which neither XML nor YAML allows.
pub fn hides(char: char) -> bool {
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

/// The first 60 characters of a text, for messages.
pub(crate) fn shortened(text: &str) -> String {
    limited(text, 60)
}

/// A part of a message that may quote a text, cut to 400 characters.
pub(crate) fn message(text: &str) -> String {
    limited(text, 400)
}

/// The beginning of a text on one line. Invisible characters are escaped, so that none reaches a terminal.
fn limited(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (place, char) in text.chars().enumerate() {
        if place == most {
            out.push('…');
            break;
        }
        if char.is_control() || hides(char) { out.extend(char.escape_default()) } else { out.push(char) }
    }
    out
}

/// The words that YAML 1.1 reads as booleans. Every reader agrees on `true` and `false`.
const WORDS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];

/// The meaning of a plain scalar.
///
/// # Errors
/// The scalar is read differently by YAML 1.1 and 1.2, is empty or null, or is not written the one way that
/// the format allows.
pub(crate) fn plain(text: &str, syntax: Syntax) -> Result<Plain, Finding> {
    match text {
        "true" => return Ok(Plain::Bool(true)),
        "false" => return Ok(Plain::Bool(false)),
        ".nan" => return Ok(Plain::Float(f64::NAN)),
        ".inf" => return Ok(Plain::Float(f64::INFINITY)),
        "-.inf" => return Ok(Plain::Float(f64::NEG_INFINITY)),
        "" => return Err(Finding { found: "nothing".into(), expected: "a value".into() }),
        "-0" => return finding(text, "`-0.0` for minus zero, or `0`"),
        "=" => return finding(text, "a quoted string: YAML 1.1 gives `=` a special type"),
        "<<" => return finding(text, "no merge key"),
        _ => {}
    }
    if WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return finding(text, "`true` or `false`, or a quoted string: YAML 1.1 reads this word as a boolean");
    }
    if text.eq_ignore_ascii_case("null") || text == "~" {
        return finding(text, "a value, or a quoted string: this is YAML's null");
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if [".nan", ".inf"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return finding(text, "`.nan`, `.inf` or `-.inf`");
    }
    number(text, syntax)
}

fn number(text: &str, syntax: Syntax) -> Result<Plain, Finding> {
    let bytes = text.as_bytes();
    let signs = usize::from(matches!(bytes[0], b'+' | b'-'));
    let unsigned = &text[signs..];
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let start = unsigned.as_bytes();
    if !(digit(start.first()) || start.first() == Some(&b'.') && digit(start.get(1))) {
        return Ok(Plain::Text);
    }
    match decimal(unsigned) {
        Some(_) if bytes[0] == b'+' => finding(text, "a number without `+` before it, or a quoted string"),
        Some(parts) => value_of(text, parts, syntax),
        None => not_decimal(text, unsigned),
    }
}

/// The parts of an unsigned decimal.
#[derive(Clone, Copy)]
struct Decimal {
    point: bool,
    exponent: bool,
    signed_exponent: bool,
}

/// Reads `0 12 1.5 1e5 1.0e+5`: digits without a leading zero, a point between digits, an exponent.
fn decimal(text: &str) -> Option<Decimal> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let bare = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    let well_formed = digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && bare.is_none_or(digits);
    well_formed.then_some(Decimal {
        point: fraction.is_some(),
        exponent: exponent.is_some(),
        signed_exponent: exponent != bare,
    })
}

fn value_of(text: &str, parts: Decimal, syntax: Syntax) -> Result<Plain, Finding> {
    let Decimal { point, exponent, signed_exponent } = parts;
    let value: f64 = text.parse().expect("a decimal is a float");
    if value.is_infinite() {
        return finding(
            text,
            "a finite number: this one is beyond the largest f64 (infinity is written `.inf`)",
        );
    }
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    if value == 0.0 && mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        return finding(
            text,
            "a number that an f64 distinguishes from 0: this one is nearer to 0 than to the smallest f64",
        );
    }
    if exponent && syntax == Syntax::Yaml && !(point && signed_exponent) {
        return finding(text, "a point before the exponent and a sign in it, as in `1.0e+5`");
    }
    // mutant: replace || with &&: the parser of integers refuses it, and it becomes this float below
    if point || exponent {
        return Ok(Plain::Float(value));
    }
    match text.parse::<i128>() {
        Ok(whole) if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole) => Ok(Plain::Int(whole)),
        _ => Ok(Plain::Float(value)),
    }
}

/// The error in a text that starts like a number. A text that no reader takes for a number is a string.
fn not_decimal(text: &str, unsigned: &str) -> Result<Plain, Finding> {
    let lower = unsigned.to_ascii_lowercase();
    let only =
        |part: &str, allowed: &str| !part.is_empty() && part.chars().all(|char| allowed.contains(char));
    let prefixed =
        |prefix: &str, allowed: &str| lower.strip_prefix(prefix).is_some_and(|rest| only(rest, allowed));
    let first_part = lower.split(':').next().unwrap_or("");
    if prefixed("0x", "0123456789abcdef_") || prefixed("0o", "01234567_") || prefixed("0b", "01_") {
        return finding(text, "a decimal number, or a quoted string");
    }
    if lower.contains(':') && only(first_part, "0123456789_") && only(&lower, "0123456789_:.") {
        return finding(text, "a decimal number, or a quoted string: YAML 1.1 reads colons as base 60");
    }
    if is_date(&lower) {
        return finding(text, "a quoted string: YAML 1.1 reads it as a date");
    }
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if !only(mantissa, "0123456789_.,") || !(bare.is_empty() || only(bare, "0123456789_.")) {
        return Ok(Plain::Text);
    }
    if lower.contains('_') {
        return finding(text, "a number without `_`, or a quoted string");
    }
    if mantissa.starts_with('0') && mantissa.len() > 1 && mantissa.as_bytes()[1].is_ascii_digit() {
        return finding(
            text,
            "a number without a leading zero (YAML 1.1 reads it as octal), or a quoted string",
        );
    }
    if mantissa.starts_with('.') || mantissa.ends_with('.') {
        return finding(text, "digits on both sides of the point, or a quoted string");
    }
    finding(text, "a decimal number such as `12`, `1.5` or `1.0e+5`, or a quoted string")
}

/// `2001-12-14`, with or without a time.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut next = |most: usize, rest: bool| {
        parts.next().is_some_and(|part| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let after = part.as_bytes().get(digits);
            (1..=most).contains(&digits)
                && (after.is_none() || rest && matches!(after, Some(b't' | b' ' | b'\t')))
        })
    };
    text.split('-').next().is_some_and(|year| year.len() == 4)
        && next(4, false)
        && next(2, false)
        && next(2, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> Result<Plain, Finding> {
        plain(text, Syntax::Yaml)
    }

    #[test]
    fn scalars_on_which_all_readers_agree_are_accepted() {
        for (text, value) in [
            ("true", Plain::Bool(true)),
            ("false", Plain::Bool(false)),
            ("0", Plain::Int(0)),
            ("-12", Plain::Int(-12)),
            ("18446744073709551615", Plain::Int(u64::MAX.into())),
            ("18446744073709551616", Plain::Float(18_446_744_073_709_551_616.0)),
            ("1.5", Plain::Float(1.5)),
            ("-0.0", Plain::Float(-0.0)),
            ("1.0e+5", Plain::Float(1e5)),
            ("2.5e-7", Plain::Float(2.5e-7)),
            ("2.5e-324", Plain::Float(5e-324)),
            ("0.0e-400", Plain::Float(0.0)),
            ("-0.000", Plain::Float(-0.0)),
            (".inf", Plain::Float(f64::INFINITY)),
            ("-.inf", Plain::Float(f64::NEG_INFINITY)),
        ] {
            assert_eq!(yaml(text), Ok(value), "{text}");
        }
        assert!(matches!(yaml(".nan"), Ok(Plain::Float(nan)) if nan.is_nan()));
        for text in
            ["a", "x0", "3 operands", "20-29", "0 against 1", "-", "-a", "1x", "1.2.x", "yes sir", "e5", "+x"]
        {
            assert_eq!(yaml(text), Ok(Plain::Text), "{text}");
        }
    }

    #[test]
    fn scalars_on_which_readers_disagree_are_errors() {
        for (text, expected) in [
            ("y", "a boolean"),
            ("N", "a boolean"),
            ("yes", "a boolean"),
            ("Off", "a boolean"),
            ("TRUE", "a boolean"),
            ("null", "null"),
            ("~", "null"),
            ("", "a value"),
            ("=", "a special type"),
            ("-0", "-0.0"),
            ("+1", "without `+`"),
            ("012", "leading zero"),
            ("08", "leading zero"),
            ("-01.5", "leading zero"),
            ("0o17", "decimal"),
            ("0x1F", "decimal"),
            ("0b11", "decimal"),
            ("1_000", "without `_`"),
            ("1:30", "base 60"),
            ("190:20:30.15", "base 60"),
            ("2001-12-14", "date"),
            ("2001-12-14t21:59:43.10-05:00", "date"),
            ("1e5", "as in `1.0e+5`"),
            ("1.0e5", "as in `1.0e+5`"),
            ("1e+5", "as in `1.0e+5`"),
            ("1e400", "beyond the largest"),
            ("-1.0e+400", "beyond the largest"),
            ("1.0e-400", "distinguishes from 0"),
            ("-2.4e-324", "distinguishes from 0"),
            (".5", "both sides"),
            ("1.", "both sides"),
            ("+.inf", "`.inf`"),
            (".NaN", "`.nan`"),
            ("1,000", "decimal"),
            ("1.0e+", "decimal"),
        ] {
            let error = yaml(text).expect_err(text);
            assert!(error.expected.contains(expected), "{text}: {error:?}");
        }
    }

    #[test]
    fn json_exponents_need_neither_point_nor_sign() {
        assert_eq!(plain("1e5", Syntax::Json), Ok(Plain::Float(1e5)));
        assert!(plain("1e400", Syntax::Json).is_err());
        assert!(plain("1e-400", Syntax::Json).is_err());
    }
}
