//! The suite: the built-in cases and sweeps, or those loaded from files.

use crate::error::LoadErrors;
use crate::load::{CaseFile, gather, load_path, load_str};
use crate::{Case, InferenceCase, Sweep};
use std::path::PathBuf;

/// The name and the text of every case file under `spec/cases`.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// Cases and sweeps of one or more files, with ids that are unique across all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// The cases, in the order of the files.
    pub cases: Vec<Case>,
    /// The cases of the operation `infer`, in the order of the files.
    pub inferences: Vec<InferenceCase>,
    /// The sweeps, in the order of the files.
    pub sweeps: Vec<Sweep>,
}

impl Suite {
    /// The built-in suite: all of `spec/cases`.
    ///
    /// # Errors
    /// All errors in its files; the tests of this library ensure that there are none.
    pub fn builtin() -> Result<Suite, LoadErrors> {
        gather(FILES, |(name, text)| load_str(text, name)).map(Suite::from)
    }

    /// The cases and sweeps of files and directories.
    ///
    /// # Errors
    /// All errors in any of them.
    pub fn from_paths(paths: &[PathBuf]) -> Result<Suite, LoadErrors> {
        gather(paths, |path| load_path(path)).map(Suite::from)
    }

    /// The ids of all cases and sweeps.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let cases = self.cases.iter().map(|case| case.id.as_str());
        let inferences = self.inferences.iter().map(|case| case.id.as_str());
        cases.chain(inferences).chain(self.sweeps.iter().map(|sweep| sweep.id.as_str()))
    }

    /// The number of cases, of runs and of the operation `infer`.
    pub fn number_of_cases(&self) -> usize {
        self.cases.len() + self.inferences.len()
    }

    /// The case with this id.
    pub fn get(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// The case of the operation `infer` with this id.
    pub fn get_inference(&self, id: &str) -> Option<&InferenceCase> {
        self.inferences.iter().find(|case| case.id == id)
    }

    /// The sweep with this id.
    pub fn get_sweep(&self, id: &str) -> Option<&Sweep> {
        self.sweeps.iter().find(|sweep| sweep.id == id)
    }
}

impl From<CaseFile> for Suite {
    fn from(CaseFile { cases, inferences, sweeps }: CaseFile) -> Suite {
        Suite { cases, inferences, sweeps }
    }
}
