//! Errors in case files: the position, what was found there, and what was expected.

use std::fmt;

/// An error in a case file.
///
/// Displayed as
/// `file.yaml:12:5: case numpy/x: operands[0].values: found 5 values for shape (2,3), expected 6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The file name as passed to the loader.
    pub file: String,
    /// The line, counted from 1, if known.
    pub line: Option<usize>,
    /// The column, counted from 1, if known.
    pub column: Option<usize>,
    /// The id of the case or sweep, if it has one.
    pub case: Option<String>,
    /// The path of the field, relative to the case (`operands[0].values`), or to the file outside of cases.
    /// May be empty.
    pub field: String,
    /// What was found there.
    pub finding: String,
    /// What was expected there.
    pub expectation: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        if let Some(case) = &self.case {
            write!(f, ": case {case}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": found {}, expected {}", self.finding, self.expectation)
    }
}

impl std::error::Error for LoadError {}

/// All errors of a load, in the order of the files. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadErrors {
    errors: Vec<LoadError>,
    more: usize,
}

impl LoadErrors {
    /// The number of errors kept per file; further ones are only counted.
    pub const MAX_PER_FILE: usize = 100;

    pub(crate) fn new(mut errors: Vec<LoadError>, more: usize) -> LoadErrors {
        debug_assert!(!errors.is_empty(), "a failure has a reason");
        let cut = errors.len().saturating_sub(LoadErrors::MAX_PER_FILE);
        errors.truncate(LoadErrors::MAX_PER_FILE);
        LoadErrors { errors, more: more + cut }
    }

    /// Returns `Ok` if there are no errors.
    ///
    /// # Errors
    /// The errors, at most [`MAX_PER_FILE`](LoadErrors::MAX_PER_FILE) of them.
    pub fn none(errors: Vec<LoadError>) -> Result<(), LoadErrors> {
        if errors.is_empty() { Ok(()) } else { Err(LoadErrors::new(errors, 0)) }
    }

    pub(crate) fn one(error: LoadError) -> LoadErrors {
        LoadErrors::new(vec![error], 0)
    }

    /// The errors.
    pub fn errors(&self) -> &[LoadError] {
        &self.errors
    }

    /// How many further errors were found but not kept.
    pub fn more(&self) -> usize {
        self.more
    }

    pub(crate) fn extend(&mut self, other: LoadErrors) {
        self.errors.extend(other.errors);
        self.more += other.more;
    }
}

/// One error per line.
impl fmt::Display for LoadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.errors.iter().enumerate() {
            write!(f, "{}{error}", if place == 0 { "" } else { "\n" })?;
        }
        if self.more > 0 { write!(f, "\nand {} more: correct these to see them", self.more) } else { Ok(()) }
    }
}

impl std::error::Error for LoadErrors {}
