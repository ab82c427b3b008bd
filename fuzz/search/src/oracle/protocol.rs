//! Reads any bytes as the output of an implementation: every line is an answer or an error, in bounded
//! memory, and answers survive a round trip.

use broadcheck_harness::transcript::{self, Declaration};
use broadcheck_spec::{Outcome, Request, Signature, json};
use std::sync::LazyLock;

/// The longest line of the output.
const MAX_LINE: usize = 4 << 10;

/// The longest error message about one line.
const MAX_ERROR_LENGTH: usize = 16 << 10;

/// What an output was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether `start` was answered.
    pub started: bool,
    /// How many requests were answered.
    pub answers: usize,
}

/// The requests that an output is assumed to answer, in this order: results of several dtypes, an
/// intermediate, flags, a refusal.
pub fn requests() -> &'static [Request] {
    static PARSED: LazyLock<Vec<Request>> = LazyLock::new(|| {
        let read = |text: &&str| json::request_from_str(text).expect("a valid request");
        REQUESTS.iter().map(read).collect()
    });
    &PARSED
}

const REQUESTS: [&str; 7] = [
    r#"{"rules":"numpy","expression":["add","a","b"],"operands":[{"name":"a","dtype":"f64","shape":[2],"values":[1,2]},{"name":"b","dtype":"f64","shape":[1],"values":[3]}]}"#,
    r#"{"rules":"xla","expression":["subtract","a","b"],"broadcast_dimensions":[0],"operands":[{"name":"a","dtype":"i64","shape":[2,1],"values":["9223372036854775807",2]},{"name":"b","dtype":"i64","shape":[2],"values":[3,-4]}]}"#,
    r#"{"rules":"theano","expression":["less","a","b"],"operands":[{"name":"a","dtype":"f16","shape":[1],"broadcastable":[true],"values":[1.5]},{"name":"b","dtype":"f16","shape":[2],"values":["nan","-0.0"]}]}"#,
    r#"{"rules":"pdpd","axis":1,"expression":["multiply","a","b"],"operands":[{"name":"a","dtype":"u64","shape":[],"values":[1]},{"name":"b","dtype":"u64","shape":[],"values":[2]}]}"#,
    r#"{"rules":"numpy","operation":"gradient","wrt":"a","expression":["exp","a"],"operands":[{"name":"a","dtype":"f32","shape":[1,2],"values":["inf",0.5]}]}"#,
    r#"{"rules":"bidirectional","operation":"broadcast","target_shape":[0,1],"operands":[{"name":"a","dtype":"bool","shape":[1,1],"values":[true]}]}"#,
    r#"{"rules":"theano","expression":"a","operands":[{"name":"a","dtype":"bf16","shape":[2],"broadcastable":[true],"values":[1,2]}]}"#,
];

/// The signatures that any line is also assumed to answer: bounds, an unknown rank, flags.
pub fn signatures() -> &'static [Signature] {
    static PARSED: LazyLock<Vec<Signature>> = LazyLock::new(|| {
        let read = |text: &&str| json::signature_from_str(text).expect("a valid signature");
        SIGNATURES.iter().map(read).collect()
    });
    &PARSED
}

const SIGNATURES: [&str; 3] = [
    r#"{"rules":"numpy","operation":"infer","expression":["add","a","b"],"operands":[{"name":"a","dtype":"f64","shape":["?",{"max":3}]},{"name":"b","dtype":"f64","shape":[{"min":1,"max":3}]}]}"#,
    r#"{"rules":"bidirectional","operation":"infer","target_shape":"...","operands":[{"name":"a","dtype":"bool","shape":[{"min":2}]}]}"#,
    r#"{"rules":"theano","operation":"infer","expression":["less","a","b"],"operands":[{"name":"a","dtype":"f16","shape":["?"],"broadcastable":[true]},{"name":"b","dtype":"f16","shape":[2]}]}"#,
];

/// How many lines are read as answers to signatures.
const INFERRED_LINES: usize = 16;

/// Reads bytes as the lines that answer `start` and then the requests of [`requests`], and the first lines
/// also as answers to [`signatures`].
///
/// # Errors
/// The property that does not hold.
pub fn protocol(bytes: &[u8]) -> Result<Reading, String> {
    let transcript = transcript::read(bytes, requests(), MAX_LINE);
    if let Some(fault) = transcript.fault.filter(|fault| fault.is_empty() || fault.len() > MAX_ERROR_LENGTH) {
        return Err(format!("an error message of {} bytes", fault.len()));
    }
    if let Some(declaration) = &transcript.declaration {
        check_declaration(declaration)?;
    }
    requests()
        .iter()
        .zip(&transcript.outcomes)
        .try_for_each(|(request, outcome)| check_answer(request, outcome))?;
    let lines = bytes.split(|&byte| byte == b'\n').take(INFERRED_LINES);
    for line in lines.filter(|line| line.len() <= MAX_LINE).filter_map(|line| std::str::from_utf8(line).ok())
    {
        signatures().iter().try_for_each(|signature| check_inferred(signature, line))?;
    }
    Ok(Reading { started: transcript.declaration.is_some(), answers: transcript.outcomes.len() })
}

/// An implementation's description of itself survives a round trip.
fn check_declaration(declaration: &Declaration) -> Result<(), String> {
    let line = format!("{}\n", transcript::declare(declaration));
    let again = transcript::read(line.as_bytes(), &[], usize::MAX);
    if again.declaration.as_ref() == Some(declaration) {
        return Ok(());
    }
    Err(format!("{declaration:?} is written as {line} and read as {again:?}"))
}

/// An outcome is no larger than its line, and survives a round trip.
fn check_answer(request: &Request, outcome: &Outcome) -> Result<(), String> {
    if let Outcome::Success(success) = outcome {
        let values = success.tensor.values().len();
        if values > MAX_LINE || success.tensor.shape().count() != Some(values) {
            return Err(format!("found {values} values for the shape {}", success.tensor.shape()));
        }
    }
    let line = json::outcome_to_value(request, outcome).to_string();
    match json::outcome_from_str(request, &line) {
        Ok(again) if again == *outcome => Ok(()),
        again => Err(format!("{outcome:?} is written as {line} and read as {again:?}")),
    }
}

/// What a line infers survives a round trip.
fn check_inferred(signature: &Signature, line: &str) -> Result<(), String> {
    let outcome = match json::inferred_from_str(signature, line) {
        Ok(outcome) => outcome,
        Err(error) if error.to_string().len() <= MAX_ERROR_LENGTH => return Ok(()),
        Err(error) => return Err(format!("an error message of {} bytes", error.to_string().len())),
    };
    let written = json::inferred_to_value(signature, &outcome).to_string();
    match json::inferred_from_str(signature, &written) {
        Ok(again) if again == outcome => Ok(()),
        again => Err(format!("{outcome:?} is written as {written} and read as {again:?}")),
    }
}

/// Correct answers to the signatures, a line each.
pub(crate) fn correct_inferences(implementation: &dyn broadcheck_spec::Implementation) -> Vec<u8> {
    let answer = |(place, signature): (usize, &Signature)| {
        let mut line = json::inferred_to_value(signature, &implementation.infer(signature));
        line["seq"] = (place + 1).into();
        format!("{line}\n").into_bytes()
    };
    signatures().iter().enumerate().flat_map(answer).collect()
}

/// Correct outputs that answer every request, one per implementation.
pub(crate) fn correct_outputs(implementations: &[&dyn broadcheck_spec::Implementation]) -> Vec<Vec<u8>> {
    let output = |implementation: &&dyn broadcheck_spec::Implementation| {
        let mut lines = vec![transcript::declare(*implementation)];
        for (place, request) in requests().iter().enumerate() {
            let mut line = json::outcome_to_value(request, &implementation.run(request));
            line["seq"] = (place + 1).into();
            lines.push(line);
        }
        lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
    };
    implementations.iter().map(output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;

    #[test]
    fn a_correct_output_is_read_completely() {
        let output = correct_outputs(&[&Reference::new()]).remove(0);
        assert_eq!(protocol(&output), Ok(Reading { started: true, answers: REQUESTS.len() }));
        let part = &output[..output.len() / 4 * 3];
        assert!(matches!(protocol(part), Ok(Reading { started: true, answers }) if answers < REQUESTS.len()));
        assert_eq!(protocol(b"\xff\n{}"), Ok(Reading { started: false, answers: 0 }));
        assert_eq!(protocol(&vec![b'x'; 2 * MAX_LINE]), Ok(Reading { started: false, answers: 0 }));
        let inferred = correct_inferences(&Reference::new());
        assert_eq!(inferred.split(|&byte| byte == b'\n').count(), SIGNATURES.len() + 1);
        assert_eq!(protocol(&inferred), Ok(Reading { started: false, answers: 0 }));
    }
}
