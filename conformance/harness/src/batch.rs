//! Reads a line from a process as the answers to a batch of requests.

use super::answer;
use super::lines::excerpt;
use super::question::Question;
use super::strict::complaint;
use broadcheck_spec::Outcome;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The answer to a batch.
pub(super) enum Answers<T> {
    /// One outcome per request, in their order.
    Each(Vec<Outcome<T>>),
    /// The harness cannot answer these requests together.
    Unbatched,
}

#[derive(serde::Deserialize)]
#[serde(expecting = "a JSON object in one line")]
struct Batch<'a> {
    #[serde(borrow)]
    answers: Option<Vec<&'a RawValue>>,
    unbatched: Option<IgnoredAny>,
}

/// Reads the answers to these requests, of which the first has the number `seq`. The answers have at most
/// this number of elements together.
///
/// # Errors
/// The line is not a valid answer to each of them, in their order. The message contains the beginning of the
/// line.
pub(super) fn read<Q: Question>(
    requests: &[&Q],
    elements: usize,
    seq: u64,
    line: &[u8],
) -> Result<Answers<Q::Answer>, String> {
    let invalid = |why: String| format!("no valid answer to a batch: {why}\nthe line: {}", excerpt(line));
    let text = answer::text(line, elements).map_err(invalid)?;
    let batch: Batch<'_> = serde_json::from_str(text).map_err(|error| invalid(complaint(&error)))?;
    let answers = match batch {
        Batch { answers: Some(answers), unbatched: None } => answers,
        Batch { answers: None, unbatched: Some(_) } => return Ok(Answers::Unbatched),
        Batch { answers: None, unbatched: None } => {
            return Err(invalid("found neither answers nor unbatched, expected one of them".into()));
        }
        Batch { answers: Some(_), unbatched: Some(_) } => {
            return Err(invalid("found answers and unbatched, expected one of them".into()));
        }
    };
    if answers.len() != requests.len() {
        let (found, expected) = (answers.len(), requests.len());
        return Err(invalid(format!("found {found} answers, expected {expected}")));
    }
    let read = |((request, answer), seq): ((&&Q, &RawValue), u64)| {
        answer::read(*request, elements, seq, answer.get().as_bytes())
    };
    let outcomes = requests.iter().zip(answers).zip(seq..).map(read).collect::<Result<_, _>>()?;
    Ok(Answers::Each(outcomes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Expression, Operand, Operation, Request, Rules};

    fn answers(line: &str) -> Result<Answers<broadcheck_spec::Success>, String> {
        let operation = Operation::Elementwise { expression: Expression::operand(0) };
        let operand = Operand::dense("a", [1], vec![5]).unwrap();
        let request = Request::new(Rules::Numpy, operation, vec![operand]).unwrap();
        read(&[&request, &request], 2, 7, line.as_bytes())
    }

    #[test]
    fn a_batch_has_one_answer_per_request_in_their_order() {
        let one = |seq| format!(r#"{{"seq":{seq},"refusal":{{}}}}"#);
        let of = |answers: &[String]| format!(r#"{{"answers":[{}]}}"#, answers.join(","));
        assert!(matches!(answers(&of(&[one(7), one(8)])), Ok(Answers::Each(all)) if all.len() == 2));
        assert!(matches!(answers(r#"{"unbatched":{"message":"too long"}}"#), Ok(Answers::Unbatched)));
        for (line, found) in [
            (of(&[]), "found 0 answers, expected 2"),
            (of(&[one(7)]), "found 1 answers, expected 2"),
            (of(&[one(7), one(8), one(9)]), "found 3 answers, expected 2"),
            (of(&[one(8), one(7)]), "found seq 8, expected seq 7"),
            (of(&[one(7), one(7)]), "found seq 7, expected seq 8"),
            (of(&[one(7), "8".into()]), "found integer `8`, expected a JSON object"),
            (one(7), "found neither answers nor unbatched"),
            (r#"{"answers":[],"unbatched":{}}"#.into(), "found answers and unbatched"),
            ("[[]]".into(), "found a list, expected a JSON object in one line"),
            (format!("{{\"answers\":[{}", "0,".repeat((1 << 19) + 9)), "found more than 524292 values"),
        ] {
            let Err(why) = answers(&line) else { panic!("{line}") };
            assert!(why.contains(found), "{line}: {why}");
        }
    }
}
