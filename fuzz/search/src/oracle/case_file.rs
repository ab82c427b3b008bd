//! Loads any text as a case file. It either loads or gives errors, in bounded memory, and what loads survives
//! a round trip.

use broadcheck_spec::{Case, CaseFile, Expectation, Location, Sweep, json, load_str, write};

/// What loading a text gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// A case file with this many cases and sweeps.
    Items(usize),
    /// This many errors.
    Errors(usize),
}

/// The largest length of all error messages of one file.
const MAX_ERRORS_LENGTH: usize = 256 << 10;

/// Reads bytes as YAML, and also as JSON if they begin like it.
///
/// # Errors
/// The property that does not hold.
pub fn case_file(bytes: &[u8]) -> Result<Loaded, String> {
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with('{') {
        read(&text, "input.json")?;
    }
    read(&text, "input.yaml")
}

fn read(text: &str, name: &str) -> Result<Loaded, String> {
    match load_str(text, name) {
        Err(errors) => {
            let complaint = errors.to_string();
            if errors.errors().is_empty() || complaint.len() > MAX_ERRORS_LENGTH {
                return Err(format!("{} errors in {} bytes", errors.errors().len(), complaint.len()));
            }
            Ok(Loaded::Errors(errors.errors().len()))
        }
        Ok(file) => {
            // A value takes at least one byte, so what loads is no larger than its text.
            let values: usize = file.cases.iter().map(values).sum();
            if values > text.len() {
                return Err(format!("{values} values from {} bytes", text.len()));
            }
            file.cases
                .iter()
                .try_for_each(|case| written(case, &write::case_to_yaml(case), |file| &file.cases))?;
            file.inferences.iter().try_for_each(|case| {
                written(case, &write::inference_case_to_yaml(case), |file| &file.inferences)
            })?;
            twin(&file)?;
            Ok(Loaded::Items(file.cases.len() + file.inferences.len() + file.sweeps.len()))
        }
    }
}

fn values(case: &Case) -> usize {
    let operands: usize = case.request.operands().iter().map(|operand| operand.values().len()).sum();
    let expected = match &case.expectation {
        Expectation::Result(result) => {
            result.tensor.values().len()
                + result.intermediate.as_ref().map_or(0, |tensor| tensor.values().len())
        }
        Expectation::Refusal(_) => 0,
    };
    operands + expected
}

/// The case survives a round trip through YAML. `cases` are those of its kind in a file.
fn written<R: Clone + PartialEq, T: Clone + PartialEq>(
    case: &Case<R, T>,
    text: &str,
    cases: impl Fn(&CaseFile) -> &[Case<R, T>],
) -> Result<(), String> {
    let again = load_str(text, "again.yaml").map_err(|errors| format!("{errors}\nin\n{text}"))?;
    let all = again.cases.len() + again.inferences.len() + again.sweeps.len();
    if all == 1 && cases(&again).iter().map(placeless).eq([placeless(case)]) {
        return Ok(());
    }
    Err(format!("the case changed in a round trip through YAML: {again:?}\nfrom\n{text}"))
}

/// The whole file survives a round trip through JSON.
fn twin(file: &CaseFile) -> Result<(), String> {
    let text = json::file_to_json(file).to_string();
    let again = load_str(&text, "twin.json").map_err(|errors| format!("{errors}\nin\n{text}"))?;
    let sweeps = |file: &CaseFile| file.sweeps.iter().map(placeless_sweep).collect::<Vec<_>>();
    if again.cases.iter().map(placeless).eq(file.cases.iter().map(placeless))
        && again.inferences.iter().map(placeless).eq(file.inferences.iter().map(placeless))
        && sweeps(&again) == sweeps(file)
    {
        return Ok(());
    }
    Err(format!("the file changed in a round trip through JSON: {again:?}\nfrom\n{text}"))
}

fn placeless<R: Clone, T: Clone>(case: &Case<R, T>) -> Case<R, T> {
    Case { location: Location::default(), ..case.clone() }
}

fn placeless_sweep(sweep: &Sweep) -> Sweep {
    Sweep { location: Location::default(), ..sweep.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_load_or_give_errors() {
        assert_eq!(case_file(b""), Ok(Loaded::Errors(1)));
        assert!(matches!(case_file(b"{\"format\": 1, \"cases\": 7}\xff"), Ok(Loaded::Errors(_))));
        let suite = broadcheck_spec::Suite::builtin().unwrap();
        let text = write::case_to_yaml(&suite.cases[0]);
        assert_eq!(case_file(text.as_bytes()), Ok(Loaded::Items(1)));
        let twin = json::file_to_json(&CaseFile {
            cases: suite.cases[..3].to_vec(),
            inferences: Vec::new(),
            sweeps: suite.sweeps[..2].to_vec(),
        });
        assert_eq!(case_file(twin.to_string().as_bytes()), Ok(Loaded::Items(5)));
    }
}
