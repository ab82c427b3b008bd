//! Reads a line from a process as the answer to a request.

use super::lines::excerpt;
use super::question::Question;
use super::strict::complaint;
use broadcheck_spec::Outcome;
use serde::de::{Deserialize, Deserializer, Visitor};
use std::fmt;

#[derive(serde::Deserialize)]
#[serde(expecting = "a JSON object in one line")]
struct Numbered {
    seq: Option<Seq>,
}

/// The number of a request. Any other value is rejected at its first character: a list could be as long as
/// the line, and would take many times as much memory.
struct Seq(u64);

impl<'de> Deserialize<'de> for Seq {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Seq, D::Error> {
        reader.deserialize_u64(SeqVisitor)
    }
}

struct SeqVisitor;

impl Visitor<'_> for SeqVisitor {
    type Value = Seq;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number as seq")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Seq, E> {
        Ok(Seq(number))
    }
}

/// The number of values that any answer may have, in addition to twice those of the expected one: as many as
/// the shortest limit for a line allows.
const MORE_VALUES: usize = 1 << 19;

/// Reads the outcome from a line. The expected answer has at most this number of elements.
///
/// # Errors
/// The line is not a valid answer to the request with this number. The message contains the beginning of the
/// line.
pub(super) fn read<Q: Question>(
    request: &Q,
    elements: usize,
    seq: u64,
    line: &[u8],
) -> Result<Outcome<Q::Answer>, String> {
    let invalid = |why: String| format!("no valid answer: {why}\nthe line: {}", excerpt(line));
    let text = text(line, elements).map_err(invalid)?;
    let numbered: Numbered = serde_json::from_str(text).map_err(|error| invalid(complaint(&error)))?;
    match numbered.seq {
        Some(Seq(found)) if found == seq => {}
        Some(Seq(found)) => return Err(invalid(format!("found seq {found}, expected seq {seq}"))),
        None => return Err(invalid(format!("found no seq, expected seq {seq}"))),
    }
    request.read(text).map_err(|error| invalid(error.to_string()))
}

/// A line as text that may be parsed as an object. The expected answers have at most this number of elements.
///
/// # Errors
/// To parse the line would take too much memory, or it is a list, or no UTF-8.
pub(super) fn text(line: &[u8], elements: usize) -> Result<&str, String> {
    // A value may take 2 bytes of the line, and 20 times as much while it is parsed.
    let most = elements.saturating_mul(2).saturating_add(MORE_VALUES);
    if line.len() > most && line.iter().filter(|&&byte| byte == b',').count() > most {
        return Err(format!("found more than {most} values, expected about {elements}"));
    }
    let text = std::str::from_utf8(line).map_err(|error| format!("{error}, expected UTF-8"))?;
    if text.trim_start().starts_with('[') {
        // serde would read a list as the fields of the object in order.
        return Err("found a list, expected a JSON object in one line".into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Expression, Operand, Operation, Request, Rules};

    fn refused(line: &str) -> String {
        let operation = Operation::Elementwise { expression: Expression::operand(0) };
        let operand = Operand::dense("a", [1], vec![5]).unwrap();
        let request = Request::new(Rules::Numpy, operation, vec![operand]).unwrap();
        let message = read(&request, 1, 5, line.as_bytes()).unwrap_err();
        message.split_once("\nthe line: ").unwrap().0.to_owned()
    }

    #[test]
    fn a_seq_is_the_number_of_its_request() {
        for (line, found) in [
            ("{}", "no seq, expected seq 5"),
            (r#"{"seq":null}"#, "no seq, expected seq 5"),
            (r#"{"seq":6}"#, "seq 6, expected seq 5"),
            (r#"{"seq":18446744073709551615}"#, "seq 18446744073709551615, expected seq 5"),
            (r#"{"seq":5.0}"#, "floating point `5.0`, expected a whole number as seq at line 1 column 10"),
            (r#"{"seq":"5"}"#, "string \"5\", expected a whole number as seq at line 1 column 10"),
            (r#"{"seq":-5}"#, "integer `-5`, expected a whole number as seq at line 1 column 9"),
            ("[5]", "a list, expected a JSON object in one line"),
            ("7", "integer `7`, expected a JSON object in one line at line 1 column 1"),
        ] {
            assert_eq!(refused(line), format!("no valid answer: found {found}"), "{line}");
        }
        // The rest of the list is not read, so it may be invalid JSON.
        let list = refused(&format!("{{\"seq\":[{}?", "0,".repeat(1 << 19)));
        assert!(list.contains("found sequence, expected a whole number as seq"), "{list}");
        // Nothing of a line with too many values is parsed.
        let values = refused(&"0,".repeat((1 << 19) + 3));
        assert!(values.ends_with("found more than 524290 values, expected about 1"), "{values}");
    }
}
