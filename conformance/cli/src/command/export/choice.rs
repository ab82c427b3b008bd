//! What a kit contains: the options of `export`, and the same as the manifest records it, so that an update
//! can make the same choice.

use super::super::select::{Filter, INFER};
use super::super::{Error, select::rules_of};
use super::cases::Format;
use crate::embedded;
use broadcheck_spec::{
    Asked, Case, Convention, DType, Expression, Function, InferenceCase, OperationKind, RuleSet, Suite, Sweep,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The options that choose what is written.
#[derive(clap::Args, Clone, Default)]
pub(in super::super) struct Choice {
    /// Only cases of these rule sets: none, numpy, pdpd, bidirectional, xla, theano, leading or repeat
    #[arg(long, value_name = "R", value_delimiter = ',')]
    pub(super) rules: Vec<RuleSet>,

    /// Dtypes of the operands; all if omitted
    #[arg(long, value_name = "DTYPE", value_delimiter = ',')]
    pub(super) dtypes: Vec<DType>,

    /// Only these operations: elementwise, broadcast, gradient or infer
    #[arg(long, value_name = "OPERATION", value_delimiter = ',', value_parser = operation)]
    pub(super) operation: Vec<Wanted>,

    /// Only cases whose expression uses no functions but these, such as add,multiply
    ///
    /// Cases of the operation `broadcast` have no expression and are not affected.
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',')]
    pub(super) functions: Vec<Function>,

    /// Cases that test a convention: `all`, `none`, or names such as zero-signs
    #[arg(long, value_name = "NAMES", default_value = "all")]
    pub(super) conventions: Conventions,

    /// Only cases with this id, id prefix or glob
    ///
    /// As for `check`. An expanded sweep is selected by its own id or by the ids of its cases.
    #[arg(long, value_name = "GLOB")]
    pub(super) filter: Option<String>,

    /// Leave out the expanded sweeps, which are more than half of the kit
    #[arg(long)]
    pub(super) no_sweeps: bool,

    /// Largest size of the kit, such as 2MB or 500kB: expanded sweeps are left out, the largest first
    #[arg(long, value_name = "SIZE")]
    pub(super) max_bytes: Option<Bytes>,

    /// Ready consumers to include: `all`, `none`, or names such as python,go
    #[arg(long, value_name = "NAMES", default_value = "all")]
    pub(super) consumers: Consumers,

    /// Formats of the case files
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "json,yaml")]
    pub(super) format: Vec<Format>,
}

/// An operation of cases: of a run, or `infer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Run(OperationKind),
    Infer,
}

impl Wanted {
    fn all() -> impl Iterator<Item = Wanted> {
        OperationKind::ALL.into_iter().map(Wanted::Run).chain([Wanted::Infer])
    }

    fn name(self) -> &'static str {
        match self {
            Wanted::Run(kind) => kind.name(),
            Wanted::Infer => INFER,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn operation(text: &str) -> Result<Wanted, String> {
    Wanted::all().find(|wanted| wanted.name() == text).ok_or_else(|| {
        let names = Wanted::all().map(Wanted::name).collect::<Vec<_>>().join(" ");
        format!("`{text}` is not an operation: expected one of {names}")
    })
}

/// A choice of names: all of them, or a list, which is empty for `none`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Names<T> {
    #[default]
    All,
    Only(Vec<T>),
}

impl<T: Ord> Names<T> {
    fn parse<E>(text: &str, one: impl Fn(&str) -> Result<T, E>) -> Result<Names<T>, E> {
        match text {
            "all" => Ok(Names::All),
            "none" => Ok(Names::Only(Vec::new())),
            text => {
                let mut names = text.split(',').map(one).collect::<Result<Vec<T>, E>>()?;
                names.sort();
                names.dedup();
                Ok(Names::Only(names))
            }
        }
    }

    fn has(&self, name: &T) -> bool {
        match self {
            Names::All => true,
            Names::Only(names) => names.contains(name),
        }
    }
}

impl<T: ToString> Names<T> {
    /// As the option writes it; `None` for all.
    fn recorded(&self) -> Option<String> {
        match self {
            Names::All => None,
            Names::Only(names) if names.is_empty() => Some("none".into()),
            Names::Only(names) => Some(names.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

/// `--conventions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Conventions(Names<Convention>);

impl FromStr for Conventions {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let one = |name: &str| {
            name.parse::<Convention>().map_err(|error| format!("{error}, or of `all` and `none` alone"))
        };
        Names::parse(text, one).map(Conventions)
    }
}

/// `--consumers`: the directories below conformance/consumers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Consumers(Names<String>);

impl Consumers {
    /// Whether a file, such as `python/README.md`, belongs to a chosen consumer. Files that are not in the
    /// directory of a consumer go with any of them.
    pub(super) fn have(&self, path: &str) -> bool {
        match path.split_once('/') {
            Some((name, _)) => self.0.has(&name.to_owned()),
            None => self.0 != Names::Only(Vec::new()),
        }
    }
}

impl FromStr for Consumers {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let paths = embedded::files("consumers").filter_map(|(path, _)| path.split_once('/'));
        let known: BTreeSet<&str> = paths.map(|(name, _)| name).collect();
        let one = |name: &str| match known.contains(name) {
            true => Ok(name.to_owned()),
            false => {
                let names = known.iter().copied().collect::<Vec<_>>().join(" ");
                Err(format!("`{name}` is not a consumer: expected one of {names}, or `all` or `none` alone"))
            }
        };
        Names::parse(text, one).map(Consumers)
    }
}

/// A number of bytes: `1500000`, `1500kB`, `1.5MB` or `1MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) u64);

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("found `{text}`, expected a number of bytes such as 500kB, 2MB or 1.5MiB");
        let digits = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit.trim_start().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kb" => 1000,
            "m" | "mb" => 1_000_000,
            "g" | "gb" => 1_000_000_000,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            _ => return Err(error()),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if part.len() > 9 {
            return Err(error());
        }
        let digits: u64 = format!("{whole}{part}").parse().map_err(|_| error())?;
        let scale = 10_u64.pow(u32::try_from(part.len()).map_err(|_| error())?);
        digits.checked_mul(unit).map(|bytes| Bytes(bytes / scale)).ok_or_else(error)
    }
}

/// A choice as the manifest records it: only what differs from the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in super::super) struct Recorded {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) dtypes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operation: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conventions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) filter: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_sweeps: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumers: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) format: Vec<String>,
}

impl Recorded {
    /// The same choice without `--max-bytes`, which may leave out other sweeps when other files change.
    pub(in super::super) fn without_limit(&self) -> Recorded {
        Recorded { max_bytes: None, ..self.clone() }
    }

    /// The options that make this choice, for a shell; empty for the defaults.
    pub(in super::super) fn options(&self) -> String {
        let lists = [
            ("--rules", self.rules.join(",")),
            ("--dtypes", self.dtypes.join(",")),
            ("--operation", self.operation.join(",")),
            ("--functions", self.functions.join(",")),
            ("--conventions", self.conventions.clone().unwrap_or_default()),
            ("--filter", self.filter.clone().unwrap_or_default()),
            ("--max-bytes", self.max_bytes.map(|bytes| bytes.to_string()).unwrap_or_default()),
            ("--consumers", self.consumers.clone().unwrap_or_default()),
            ("--format", self.format.join(",")),
        ];
        let given = lists.into_iter().filter(|(_, value)| !value.is_empty());
        let mut options: Vec<String> =
            given.map(|(name, value)| format!("{name} {}", shell(&value))).collect();
        if self.no_sweeps {
            options.push("--no-sweeps".into());
        }
        options.join(" ")
    }
}

/// A word for a shell, in quotes if necessary: a manifest may come from anywhere.
pub(in super::super) fn shell(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.,/:".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl Choice {
    /// The choice with each list in the order of the format, without repetitions.
    pub(super) fn in_order(mut self) -> Choice {
        self.rules = RuleSet::ALL.into_iter().filter(|rules| self.rules.contains(rules)).collect();
        self.dtypes = DType::ALL.into_iter().filter(|dtype| self.dtypes.contains(dtype)).collect();
        self.operation = Wanted::all().filter(|wanted| self.operation.contains(wanted)).collect();
        self.functions =
            Function::ALL.iter().copied().filter(|function| self.functions.contains(function)).collect();
        self.format.sort();
        self.format.dedup();
        self
    }

    pub(super) fn recorded(&self) -> Recorded {
        fn names<T: ToString>(items: &[T]) -> Vec<String> {
            items.iter().map(ToString::to_string).collect()
        }
        let formats: Vec<String> = self.format.iter().map(|format| format.name().to_owned()).collect();
        Recorded {
            rules: names(&self.rules),
            dtypes: names(&self.dtypes),
            operation: names(&self.operation),
            functions: names(&self.functions),
            conventions: self.conventions.0.recorded(),
            filter: self.filter.clone(),
            no_sweeps: self.no_sweeps,
            max_bytes: self.max_bytes.map(|bytes| bytes.0),
            consumers: self.consumers.0.recorded(),
            format: if formats.len() == Format::ALL.len() { Vec::new() } else { formats },
        }
    }

    /// The choice that a manifest records.
    ///
    /// # Errors
    /// A name in it is not known to this version.
    pub(in super::super) fn of(recorded: &Recorded) -> Result<Choice, String> {
        fn parsed<T: FromStr<Err: ToString>>(names: &[String]) -> Result<Vec<T>, String> {
            names.iter().map(|name| name.parse().map_err(|error: T::Err| error.to_string())).collect()
        }
        let format = |name: &String| {
            let found = Format::ALL.into_iter().find(|format| format.name() == name);
            found.ok_or_else(|| format!("`{name}` is not a format: expected json or yaml"))
        };
        let mut formats = recorded.format.iter().map(format).collect::<Result<Vec<_>, _>>()?;
        if formats.is_empty() {
            formats = Format::ALL.to_vec();
        }
        // A consumer that this version no longer has is not an error: consumers are not cases.
        let consumers = recorded.consumers.as_deref().unwrap_or("all").parse().unwrap_or_default();
        Ok(Choice {
            rules: parsed(&recorded.rules)?,
            dtypes: parsed(&recorded.dtypes)?,
            operation: recorded.operation.iter().map(|name| operation(name)).collect::<Result<_, _>>()?,
            functions: parsed(&recorded.functions)?,
            conventions: recorded.conventions.as_deref().unwrap_or("all").parse()?,
            filter: recorded.filter.clone(),
            no_sweeps: recorded.no_sweeps,
            max_bytes: recorded.max_bytes.map(Bytes),
            consumers,
            format: formats,
        })
    }
}

/// A choice that can be applied to cases.
pub(super) struct Chooser<'a> {
    choice: &'a Choice,
    filter: Filter,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(choice: &'a Choice, suite: &Suite) -> Result<Chooser<'a>, Error> {
        Ok(Chooser { choice, filter: Filter::new(choice.filter.as_deref(), suite)? })
    }

    /// The first option that leaves the case out, apart from `--dtypes`.
    pub(super) fn leaves_out(&self, case: &Case) -> Option<&'static str> {
        if !self.has_rules(case.request.rules().set()) {
            return Some("rules");
        }
        if !self.filter.matches(&case.id) {
            return Some("filter");
        }
        self.leaves_out_whatever_its_id(case)
    }

    /// [`Chooser::leaves_out`] for a case of the operation `infer`.
    pub(super) fn leaves_out_inference(&self, case: &InferenceCase) -> Option<&'static str> {
        if !self.has_rules(case.request.rules().set()) {
            return Some("rules");
        }
        if !self.filter.matches(&case.id) {
            return Some("filter");
        }
        let expression = match case.request.asked() {
            Asked::Expression(expression) => Some(expression),
            Asked::TargetShape(_) => None,
        };
        self.leaves_out_by(Wanted::Infer, expression, case.convention)
    }

    /// [`Chooser::leaves_out`] for a case of a sweep: `--filter` may name the sweep.
    pub(super) fn has_case_of(&self, sweep: &Sweep, case: &Case) -> bool {
        let named = self.filter.matches(&sweep.id) || self.filter.matches(&case.id);
        named && self.has_rules(case.request.rules().set()) && self.leaves_out_whatever_its_id(case).is_none()
    }

    /// Whether a sweep may have such a case.
    pub(super) fn may_have_case_of(&self, sweep: &Sweep) -> bool {
        rules_of(sweep).is_none_or(|rules| self.has_rules(rules))
    }

    /// Whether a sweep is selected as a whole.
    pub(super) fn has_sweep(&self, sweep: &Sweep) -> bool {
        rules_of(sweep).is_none_or(|rules| self.has_rules(rules)) && self.filter.matches(&sweep.id)
    }

    fn has_rules(&self, rules: RuleSet) -> bool {
        self.choice.rules.is_empty() || self.choice.rules.contains(&rules)
    }

    fn leaves_out_whatever_its_id(&self, case: &Case) -> Option<&'static str> {
        let operation = case.request.operation();
        self.leaves_out_by(Wanted::Run(operation.kind()), operation.expression(), case.convention)
    }

    fn leaves_out_by(
        &self,
        wanted: Wanted,
        expression: Option<&Expression>,
        convention: Option<Convention>,
    ) -> Option<&'static str> {
        let Choice { operation, functions, conventions, .. } = self.choice;
        if !operation.is_empty() && !operation.contains(&wanted) {
            return Some("operation");
        }
        let mut calls = expression.into_iter().flat_map(Expression::calls);
        if !functions.is_empty() && calls.any(|call| !functions.contains(&call.function())) {
            return Some("functions");
        }
        convention.filter(|convention| !conventions.0.has(convention)).map(|_| "conventions")
    }
}
