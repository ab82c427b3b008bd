//! Any text as a case file: it loads or is complained of, in bounded memory, and what loads comes back from what is
//! written of it.

use broadcheck_spec::{Case, CaseFile, Expectation, Location, Sweep, json, load_str, write};

/// What a text was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// A case file with this many cases and sweeps.
    Items(usize),
    /// None, with this many complaints.
    Complaints(usize),
}

/// How long all complaints of one file may be together.
const MAX_COMPLAINT: usize = 256 << 10;

/// Reads bytes as YAML, and as JSON where they begin like it.
///
/// # Errors
/// What of it does not hold.
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
            if errors.errors().is_empty() || complaint.len() > MAX_COMPLAINT {
                return Err(format!("{} complaints in {} bytes", errors.errors().len(), complaint.len()));
            }
            Ok(Loaded::Complaints(errors.errors().len()))
        }
        Ok(file) => {
            // A value takes a byte at least: what loads is no larger than its text.
            let values: usize = file.cases.iter().map(values).sum();
            if values > text.len() {
                return Err(format!("{values} values from {} bytes", text.len()));
            }
            file.cases.iter().try_for_each(written)?;
            twin(&file)?;
            Ok(Loaded::Items(file.cases.len() + file.sweeps.len()))
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

/// A case comes back from the YAML that is written of it.
fn written(case: &Case) -> Result<(), String> {
    let text = write::case_to_yaml(case);
    let again = load_str(&text, "again.yaml").map_err(|errors| format!("{errors}\nin\n{text}"))?;
    if again.cases.iter().map(placeless).eq([placeless(case)]) && again.sweeps.is_empty() {
        return Ok(());
    }
    Err(format!("another case comes back: {again:?}\nfrom\n{text}"))
}

/// All comes back from the JSON twin.
fn twin(file: &CaseFile) -> Result<(), String> {
    let text = json::file_to_json(file).to_string();
    let again = load_str(&text, "twin.json").map_err(|errors| format!("{errors}\nin\n{text}"))?;
    let sweeps = |file: &CaseFile| file.sweeps.iter().map(placeless_sweep).collect::<Vec<_>>();
    if again.cases.iter().map(placeless).eq(file.cases.iter().map(placeless))
        && sweeps(&again) == sweeps(file)
    {
        return Ok(());
    }
    Err(format!("other cases come back: {again:?}\nfrom\n{text}"))
}

fn placeless(case: &Case) -> Case {
    Case { location: Location::default(), ..case.clone() }
}

fn placeless_sweep(sweep: &Sweep) -> Sweep {
    Sweep { location: Location::default(), ..sweep.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_load_or_are_complained_of() {
        assert_eq!(case_file(b""), Ok(Loaded::Complaints(1)));
        assert!(matches!(case_file(b"{\"format\": 1, \"cases\": 7}\xff"), Ok(Loaded::Complaints(_))));
        let suite = broadcheck_spec::Suite::builtin().unwrap();
        let text = write::case_to_yaml(&suite.cases[0]);
        assert_eq!(case_file(text.as_bytes()), Ok(Loaded::Items(1)));
        let twin = json::file_to_json(&CaseFile {
            cases: suite.cases[..3].to_vec(),
            sweeps: suite.sweeps[..2].to_vec(),
        });
        assert_eq!(case_file(twin.to_string().as_bytes()), Ok(Loaded::Items(5)));
    }
}
