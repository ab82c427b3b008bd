//! YAML files other than case files, read just as strictly: same YAML, same limits, errors with positions.

use crate::MAX_FILE_BYTES;
use crate::error::{LoadError, LoadErrors};
use crate::lint::message;
use crate::load::too_large;
use crate::read::read;
use crate::tree::{self, Node};
use serde::de::DeserializeOwned;

/// A YAML file other than a case file, such as a list of known failures.
///
/// ```
/// use broadcheck_spec::Document;
/// #[derive(serde::Deserialize)]
/// struct Entry {
///     _case: String,
/// }
/// let document = Document::parse("known:\n  - {_case: a}\n  - {_case: 1}\n", "known.yaml").unwrap();
/// assert!(document.read::<Entry>("known[0]").is_ok());
/// assert_eq!(
///     document.read::<Entry>("known[1]").err().unwrap().to_string(),
///     "known.yaml:3:13: known[1]._case: found integer `1`, expected a string"
/// );
/// ```
pub struct Document {
    name: String,
    root: Node,
}

impl Document {
    /// Parses the text of a file. Errors refer to it as `name`.
    ///
    /// # Errors
    /// Everything that [the format](crate#which-yaml) does not allow, and an empty file.
    pub fn parse(text: &str, name: &str) -> Result<Document, LoadErrors> {
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(too_large(name, text.len() as u64));
        }
        let parsed = tree::parse(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut errors: Vec<LoadError> = parsed
            .errors
            .into_iter()
            .map(|error| at(name, error.place, &error.path, &error.finding.found, &error.finding.expected))
            .collect();
        match parsed.root {
            Some(root) if errors.is_empty() && !parsed.stopped => Ok(Document { name: name.into(), root }),
            _ => {
                if errors.is_empty() {
                    errors.push(at(
                        name,
                        tree::Place { line: 1, column: 1 },
                        "",
                        "an empty file",
                        "a mapping",
                    ));
                }
                errors.sort_by_key(|error| (error.line, error.column));
                Err(LoadErrors::new(errors, parsed.more))
            }
        }
    }

    /// Reads the value at a path such as `known[1]`, which must exist. An empty path means the whole file.
    ///
    /// # Errors
    /// The first thing that `T` does not accept.
    pub fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, LoadErrors> {
        read(self.root.find(path)).map_err(|error| {
            let path = error.below(path);
            LoadErrors::one(self.error(&path, &error.finding, &error.expectation))
        })
    }

    /// An error located at the value at a path, or at the deepest part of the path that exists.
    pub fn error(&self, path: &str, finding: &str, expectation: &str) -> LoadError {
        at(&self.name, self.root.place_of(path, finding), path, finding, expectation)
    }
}

fn at(file: &str, place: tree::Place, path: &str, finding: &str, expectation: &str) -> LoadError {
    LoadError {
        file: file.to_owned(),
        line: Some(place.line as usize),
        column: Some(place.column as usize),
        case: None,
        field: message(path),
        finding: message(finding),
        expectation: message(expectation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_keys_occurs_once() {
        let keys: String = (0..3 * tree::FEW_KEYS).map(|number| format!("k{number}: 1\n")).collect();
        assert!(Document::parse(&keys, "a.yaml").is_ok());
        for number in 0..3 * tree::FEW_KEYS {
            let errors = Document::parse(&format!("{keys}k{number}: 2\n"), "a.yaml").err().expect("an error");
            assert_eq!(errors.errors()[0].finding, format!("the key `k{number}` twice"));
        }
    }

    #[test]
    fn what_the_format_does_not_allow_is_an_error() {
        let deep = "[".repeat(200);
        let long = "#".repeat(usize::try_from(MAX_FILE_BYTES).unwrap() + 1);
        for (text, expected) in [
            ("", "a.yaml:1:1: found an empty file, expected a mapping"),
            ("# nothing\n", "a.yaml:1:1: found an empty file, expected a mapping"),
            ("a: &b 1", "a.yaml:1:4: a: found an anchor (`&`), expected the value without an anchor"),
            ("a: 1\nb: no\na: 2", "a.yaml:2:4: b: found `no`, expected `true` or `false`, or"),
            ("a: 1\na: 2", "a.yaml:2:1: found the key `a` twice, expected each key once"),
            (&deep, "a.yaml:1:129: "),
            (&long, "a.yaml: found 8388609 bytes or more, expected at most 8388608"),
        ] {
            let errors = Document::parse(text, "a.yaml").err().expect("errors").to_string();
            assert!(errors.starts_with(expected), "{errors}");
        }
        let errors = Document::parse(&"- !a 1\n".repeat(102), "a.yaml").err().expect("errors");
        assert_eq!((errors.errors().len(), errors.more()), (LoadErrors::MAX_PER_FILE, 2));
        assert!(Document::parse("\u{feff}a: 1", "a.yaml").is_ok());
    }
}
