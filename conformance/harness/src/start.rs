//! The answer to `start`: the name and capabilities of an implementation.

use super::lines::shortened;
use super::strict::{Unique, complaint};
use broadcheck_spec::{
    Capabilities, DEFAULT_MAX_ELEMENTS, DType, Function, Implementation, OperationKind, RuleSet,
};
use serde_json::{Map, Value, json};

/// The version of the protocol.
pub(super) const VERSION: u64 = 1;

/// The maximum number of unanswered requests, unless the implementation asks for fewer.
pub(super) const WINDOW: usize = 16;

/// The name among the operations that allows operands to be strided views.
const STRIDED: &str = "strided";

/// The maximum number of errors shown.
const SHOWN: usize = 5;

/// The maximum length shown of an invalid value, in characters.
const LONGEST: usize = 160;

/// The contents of the answer to `start`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) language: Option<String>,
    pub(super) capabilities: Capabilities,
    pub(super) window: usize,
}

/// Reads the answer to `start`.
///
/// # Errors
/// The answer is invalid: the first few errors, each short, and the number of the others.
pub(super) fn read(line: &[u8]) -> Result<Declared, Vec<String>> {
    let Unique(answer) = serde_json::from_slice(line).map_err(|error| vec![complaint(&error)])?;
    if !answer.is_object() {
        return Err(vec!["found JSON that is not an object, expected a JSON object in one line".into()]);
    }
    match answer.get("version") {
        None => {}
        Some(version) if version.as_f64() == Some(1.0) => {}
        Some(other) => {
            return Err(vec![format!(
                "it speaks version {} of the protocol, expected version {VERSION}",
                brief(other)
            )]);
        }
    }
    if let Some(errored) = answer.get("errored") {
        let message = errored.get("message").and_then(Value::as_str).unwrap_or("without a message");
        let message = shortened(message.as_bytes(), LONGEST);
        return Err(vec![format!("it answers `start` with an error: {message}")]);
    }
    let mut reader = Reader { fields: Map::new(), errors: Vec::new(), more: 0 };
    if answer.get("version").is_none() {
        reader.errors.push(format!("version: found nothing, expected {VERSION}"));
    }
    match answer.get("implementation") {
        Some(Value::Object(fields)) => reader.fields = fields.clone(),
        Some(_) => return Err(vec!["implementation: found no object, expected an object".into()]),
        None => reader.errors.push("implementation: found nothing, expected an object".into()),
    }
    if !reader.fields.contains_key("window")
        && let Some(window) = answer.get("window")
    {
        reader.fields.insert("window".into(), window.clone());
    }
    let declared = reader.declared();
    if reader.more > 0 {
        reader.errors.push(format!("and {} more", reader.more));
    }
    if reader.errors.is_empty() { Ok(declared) } else { Err(reader.errors) }
}

fn brief(value: &Value) -> String {
    shortened(value.to_string().as_bytes(), LONGEST)
}

struct Reader {
    fields: Map<String, Value>,
    errors: Vec<String>,
    /// The number of further errors.
    more: usize,
}

impl Reader {
    fn declared(&mut self) -> Declared {
        let operations = self.names("operations", &|name| {
            if name == STRIDED {
                return Some(None);
            }
            OperationKind::ALL.into_iter().find(|kind| kind.name() == name).map(Some)
        });
        let capabilities = Capabilities {
            rules: self.names("rules", &|name| name.parse::<RuleSet>().ok()),
            strided: operations.contains(&None),
            operations: operations.into_iter().flatten().collect(),
            functions: self.names("functions", &|name| name.parse::<Function>().ok()),
            dtypes: self.names("dtypes", &|name| name.parse::<DType>().ok()),
            max_rank: self.number("max_rank", 0),
            max_elements: self.number("max_elements", 1).unwrap_or(DEFAULT_MAX_ELEMENTS),
        };
        Declared {
            name: self.text("name"),
            version: self.text("version"),
            language: self.fields.get("language").and_then(Value::as_str).map(str::to_owned),
            capabilities,
            window: self.number("window", 1).unwrap_or(WINDOW).min(WINDOW),
        }
    }

    fn wrong(&mut self, field: &str, found: &str, expected: &str) {
        if self.errors.len() < SHOWN {
            self.errors.push(format!("implementation.{field}: found {found}, expected {expected}"));
        } else {
            self.more += 1;
        }
    }

    fn text(&mut self, field: &str) -> String {
        match self.fields.get(field) {
            Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
            found => {
                let found = found.map_or("nothing".into(), brief);
                self.wrong(field, &found, "a text that is not empty");
                String::new()
            }
        }
    }

    fn number(&mut self, field: &str, least: u64) -> Option<usize> {
        let found = self.fields.get(field)?;
        match found.as_u64() {
            Some(number) if number >= least => Some(usize::try_from(number).unwrap_or(usize::MAX)),
            _ => {
                let found = brief(found);
                self.wrong(field, &found, &format!("an integer from {least}"));
                None
            }
        }
    }

    /// A list of names. An unknown name is an error: a misspelt one would silently skip cases.
    fn names<T>(&mut self, field: &str, known: &dyn Fn(&str) -> Option<T>) -> Vec<T> {
        let items = match self.fields.get(field) {
            Some(Value::Array(items)) => items.clone(),
            found => {
                let found = found.map_or("nothing".into(), brief);
                self.wrong(field, &found, "a list of names");
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        let expected = format!("names among {}", all_names(field));
        for item in items {
            match item.as_str().and_then(known) {
                Some(name) => names.push(name),
                None => self.wrong(field, &brief(&item), &expected),
            }
        }
        names
    }
}

fn all_names(field: &str) -> String {
    let names: Vec<&str> = match field {
        "rules" => RuleSet::ALL.iter().map(|rules| rules.name()).collect(),
        "operations" => OperationKind::ALL.iter().map(|kind| kind.name()).chain([STRIDED]).collect(),
        "functions" => Function::ALL.iter().map(|function| function.name()).collect(),
        _ => DType::ALL.iter().map(|dtype| dtype.name()).collect(),
    };
    names.join(" ")
}

/// The answer of a built-in implementation to `start`.
pub(super) fn write(implementation: &dyn Implementation, max_elements: usize) -> Value {
    let able = implementation.capabilities();
    let mut operations: Vec<&str> = able.operations.iter().map(|kind| kind.name()).collect();
    if able.strided {
        operations.push(STRIDED);
    }
    let mut fields = json!({
        "name": implementation.name(),
        "version": implementation.version(),
        "language": "rust",
        "rules": able.rules.iter().map(|rules| rules.name()).collect::<Vec<_>>(),
        "operations": operations,
        "functions": able.functions.iter().map(|function| function.name()).collect::<Vec<_>>(),
        "dtypes": able.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>(),
        "max_elements": max_elements,
    });
    if let Some(rank) = able.max_rank {
        fields["max_rank"] = rank.into();
    }
    json!({ "version": VERSION, "implementation": fields })
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;

    fn errors(text: &str) -> String {
        read(text.as_bytes()).expect_err("invalid").join("; ")
    }

    #[test]
    fn a_written_answer_can_be_read() {
        let line = write(&Reference::new(), 1 << 20).to_string();
        let declared = read(line.as_bytes()).unwrap();
        assert_eq!((declared.name.as_str(), declared.window), ("reference", WINDOW));
        assert_eq!(declared.language.as_deref(), Some("rust"));
        assert_eq!(declared.capabilities, Capabilities { max_elements: 1 << 20, ..Capabilities::all() });
    }

    #[test]
    fn the_window_can_only_be_reduced() {
        let mut answer = write(&Reference::new(), 1);
        for (asked, window) in [(1, 1), (16, 16), (99, 16)] {
            answer["implementation"]["window"] = asked.into();
            assert_eq!(read(answer.to_string().as_bytes()).unwrap().window, window);
        }
        answer["implementation"]["window"] = 0.into();
        assert!(errors(&answer.to_string()).contains("window: found 0, expected an integer from 1"));
        answer["implementation"].as_object_mut().unwrap().remove("window");
        answer["window"] = 3.into();
        assert_eq!(read(answer.to_string().as_bytes()).unwrap().window, 3);
    }

    #[test]
    fn the_first_errors_are_shown_and_each_is_short() {
        let mut answer = write(&Reference::new(), 1);
        answer["implementation"]["functions"] = vec!["x".repeat(5000); 100].into();
        answer["implementation"]["name"] = vec!["y"; 5000].into();
        let text = errors(&answer.to_string());
        assert_eq!(text.matches("implementation.functions: found \"xxx").count(), 5, "{text}");
        assert!(text.ends_with("; and 96 more"), "{text}");
        assert!(text.len() < 5000, "{} bytes", text.len());
        answer["version"] = "z".repeat(5000).into();
        assert!(errors(&answer.to_string()).len() < 500);
    }

    #[test]
    fn duplicate_fields_are_rejected() {
        let line = write(&Reference::new(), 1).to_string();
        for (field, twice) in [
            ("version", line.replacen('{', "{\"version\":2,", 1)),
            ("implementation", line.replacen('{', "{\"implementation\":{},", 1)),
            ("rules", line.replace("\"rules\":", "\"rules\":[],\"rules\":")),
        ] {
            let text = errors(&twice);
            assert!(text.starts_with(&format!("found duplicate field `{field}` at line 1")), "{text}");
        }
        assert!(read(line.replacen('{', "{\"took\":1,\"took\":2,", 1).as_bytes()).is_ok(), "an unknown one");
    }

    #[test]
    fn every_error_is_reported() {
        assert!(errors(r#"{"version":2}"#).contains("speaks version 2 of the protocol, expected version 1"));
        assert!(errors("{").starts_with("found text that is not JSON (EOF while parsing"));
        assert_eq!(errors("7"), "found JSON that is not an object, expected a JSON object in one line");
        assert!(errors(r#"{"version":1,"errored":{"message":"no licence"}}"#).ends_with("error: no licence"));
        let text = errors(
            r#"{"implementation":{"name":"x","rules":["numpi"],"operations":[],"dtypes":["f64"],"functions":[]}}"#,
        );
        let text = text
            + &errors(
                r#"{"version":1,"implementation":{"name":"x","version":"1","rules":[],"operations":[],"functions":"add","dtypes":[7],"max_rank":-1}}"#,
            );
        for part in [
            "version: found nothing, expected 1",
            "implementation.version: found nothing",
            "rules: found \"numpi\", expected names among none numpy",
            "functions: found \"add\", expected a list of names",
            "dtypes: found 7, expected names among f64",
            "max_rank: found -1, expected an integer from 0",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
