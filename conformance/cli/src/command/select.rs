//! Selects cases and sweeps: files of cases, `--rules` and `--filter`.

use super::Error;
use crate::report::plural;
use broadcheck::globs::Glob;
use broadcheck::sweeps;
use broadcheck_spec::{Case, InferenceCase, RuleSet, Suite, Sweep};
use std::path::PathBuf;

/// The operation of cases without values, in options and listings.
pub(super) const INFER: &str = "infer";

/// The options that select cases.
#[derive(clap::Args)]
pub(super) struct Selection {
    /// Case file or directory to use instead of the built-in suite. May be repeated
    #[arg(long, value_name = "PATH")]
    cases: Vec<PathBuf>,

    /// The same as --cases PATH
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Only cases of these rule sets: none, numpy, pdpd, bidirectional, xla, theano, leading or repeat
    #[arg(long, value_name = "R", value_delimiter = ',')]
    pub(super) rules: Vec<RuleSet>,

    /// Only cases with this id, id prefix or glob
    ///
    /// An id selects its case. Any other text without `*?[{` selects the ids that begin with it. A glob
    /// matches whole ids: `*` matches any text including `/`, `?` one character, `[a-c]` one of a set,
    /// `{x,y}` either.
    #[arg(long, value_name = "GLOB")]
    pub(super) filter: Option<String>,
}

/// The selected part.
#[derive(Default)]
pub(super) struct Selected<'a> {
    pub(super) cases: Vec<&'a Case>,
    pub(super) inferences: Vec<&'a InferenceCase>,
    pub(super) sweeps: Vec<&'a Sweep>,
}

impl Selected<'_> {
    /// The number of cases, of runs and of inferences.
    pub(super) fn number_of_cases(&self) -> usize {
        self.cases.len() + self.inferences.len()
    }

    /// Without sweeps and inferences.
    pub(super) fn only_cases(self, option: &str) -> Result<Self, Error> {
        if self.cases.is_empty() {
            let found = "found only sweeps and cases of `infer`, expected at least one other case";
            return Err(Error::Input(format!("{option}: {found}")));
        }
        Ok(Selected { cases: self.cases, ..Selected::default() })
    }

    fn is_empty(&self) -> bool {
        self.number_of_cases() + self.sweeps.len() == 0
    }
}

impl Selection {
    /// The files and directories to use instead of the built-in suite.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        [&self.cases[..], &self.paths].concat()
    }

    /// Loads the suite, or the files given instead of it. A malformed filter is reported before.
    pub(super) fn load(&self) -> Result<Suite, Error> {
        Filter::new(self.filter.as_deref(), &Suite::default())?;
        load(&self.files())
    }

    /// The selected cases. An empty selection is an error: nothing passes silently.
    pub(super) fn of<'a>(&self, suite: &'a Suite) -> Result<Selected<'a>, Error> {
        let filter = Filter::new(self.filter.as_deref(), suite)?;
        let wanted = |rules: Option<RuleSet>, id: &str| {
            let by_rules = self.rules.is_empty() || rules.is_some_and(|rules| self.rules.contains(&rules));
            by_rules && filter.matches(id)
        };
        let cases =
            suite.cases.iter().filter(|case| wanted(Some(case.request.rules().set()), &case.id)).collect();
        let inferences = suite
            .inferences
            .iter()
            .filter(|case| wanted(Some(case.request.rules().set()), &case.id))
            .collect();
        let sweeps = suite.sweeps.iter().filter(|sweep| wanted(rules_of(sweep), &sweep.id)).collect();
        let selected = Selected { cases, inferences, sweeps };
        if selected.is_empty() {
            return Err(Error::Input(self.nothing(suite)));
        }
        Ok(selected)
    }

    fn nothing(&self, suite: &Suite) -> String {
        let all = format!(
            "{} and {}",
            plural(suite.number_of_cases(), "case"),
            plural(suite.sweeps.len(), "sweep")
        );
        let mut options = Vec::new();
        if let Some(filter) = &self.filter {
            options.push(format!("--filter {filter}"));
        }
        options.extend(self.rules.iter().map(|rules| format!("--rules {rules}")));
        if options.is_empty() {
            return "found no case in the files given, expected at least one".into();
        }
        format!(
            "{}: found nothing among {all}, expected at least one: see `broadcheck list`",
            options.join(" ")
        )
    }
}

/// Loads files and directories, or the built-in suite if there are none.
pub(super) fn load(paths: &[PathBuf]) -> Result<Suite, Error> {
    let loaded = if paths.is_empty() { Suite::builtin() } else { Suite::from_paths(paths) };
    let suite = loaded.map_err(|errors| Error::Input(format!("cannot read the cases\n{errors}")))?;
    match sweep_errors(&suite)[..] {
        [] => Ok(suite),
        ref errors => Err(Error::Input(format!("cannot read the cases\n{}", errors.join("\n")))),
    }
}

/// Errors that the loader cannot find: sweeps of unknown families, with wrong bounds or a wrong number of
/// cases.
pub(super) fn sweep_errors(suite: &Suite) -> Vec<String> {
    let error = |sweep: &Sweep| {
        let error = sweeps::validate(sweep).err()?;
        Some(format!("{}: sweep {}: {error}", sweep.location, sweep.id))
    };
    suite.sweeps.iter().filter_map(error).collect()
}

/// The rule set of a sweep: the first part of its id, if that names one.
pub(super) fn rules_of(sweep: &Sweep) -> Option<RuleSet> {
    sweep.id.split('/').next()?.parse().ok()
}

/// A parsed `--filter`.
pub(super) enum Filter {
    All,
    Id(String),
    Prefix(String),
    Glob(Glob),
}

impl Filter {
    pub(super) fn new(text: Option<&str>, suite: &Suite) -> Result<Filter, Error> {
        let Some(text) = text else { return Ok(Filter::All) };
        if text.is_empty() {
            let expected = "expected an id, its beginning or a glob; without --filter every case is selected";
            return Err(Error::Input(format!("--filter: found an empty text, {expected}")));
        }
        if suite.ids().any(|id| id == text) {
            return Ok(Filter::Id(text.into()));
        }
        if !text.contains(['*', '?', '[', '{']) {
            return Ok(Filter::Prefix(text.into()));
        }
        Glob::new(text).map(Filter::Glob).map_err(|error| Error::Input(format!("--filter: {error}")))
    }

    pub(super) fn matches(&self, id: &str) -> bool {
        match self {
            Filter::All => true,
            Filter::Id(text) => id == text,
            Filter::Prefix(text) => id.starts_with(text.as_str()),
            Filter::Glob(glob) => glob.matches(id),
        }
    }
}
