//! The cases of a kit: chosen, retyped where necessary, sorted into required, optional and extreme ones, and
//! written as JSON and YAML.

use super::super::Error;
use super::admitted;
use super::choice::{Choice, Chooser};
use super::identity::{Identities, Identity};
use super::manifest::File;
use super::readme::EXAMPLE;
use broadcheck::retype::{asked, dtype_of};
use broadcheck::sweeps::{Expansion, expand_for, is_compact};
use broadcheck_spec::{
    Capabilities, Case, CaseFile, DType, Expectation, FILES, FORMAT, InferenceCase, Operand, RefusalKind,
    RuleSet, Suite, Sweep, Unknown, json, load_str, releases, write,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The number of cases of a sweep per file. A loader reads this many cases of ten operands each, but not four
/// times as many.
const CASES_OF_A_FILE: usize = 256;

/// The format of case files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(super) enum Format {
    /// One case per line, for any JSON parser
    Json,
    /// The original files, with their comments
    Yaml,
}

impl Format {
    pub(super) const ALL: [Format; 2] = [Format::Json, Format::Yaml];

    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Yaml => "yaml",
        }
    }
}

/// What a consumer does with a case, and so which directory it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Every implementation of the rule set must pass it.
    Required,
    /// It tests a convention: an implementation may differ.
    Optional,
    /// A length, stride or position is beyond 2^53, so that it is a string in JSON. Such a case may also test
    /// a convention: its field `convention` shows it.
    Extreme,
    /// It has a destination: consumers of the other cases would not see that, and operands may have no
    /// values, so that its JSON is in a directory of its own. Its field `convention` shows whether it tests
    /// one.
    Into,
}

impl Kind {
    pub(super) const ALL: [Kind; 4] = [Kind::Required, Kind::Optional, Kind::Extreme, Kind::Into];

    /// The name in the manifest and of the subdirectory.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Required => "required",
            Kind::Optional => "optional",
            Kind::Extreme => "extreme",
            Kind::Into => "into",
        }
    }

    fn of(case: &Case, written: &Value) -> Kind {
        if case.request.destination().is_some() {
            return Kind::Into;
        }
        if is_extreme(written) {
            return Kind::Extreme;
        }
        if case.convention.is_some() { Kind::Optional } else { Kind::Required }
    }
}

/// Whether an integer other than a value is written as a string.
fn is_extreme(case: &Value) -> bool {
    const INTEGERS: [&str; 6] =
        ["shape", "strides", "offset", "target_shape", "axis", "broadcast_dimensions"];
    let has_text = |fields: &Value| {
        INTEGERS.iter().any(|name| match &fields[name] {
            Value::Array(items) => items.iter().any(Value::is_string),
            single => single.is_string(),
        })
    };
    let operands = case["operands"].as_array().into_iter().flatten();
    let outcome = [&case["result"], &case["result"]["intermediate"], &case["refusal"]];
    operands.chain(outcome).chain([case]).any(has_text)
}

/// A case to write.
pub(super) struct Written {
    case: Case,
    /// The dtype of the case in the suite, if that is another one.
    retyped_from: Option<DType>,
    /// The case in JSON, with the fields that only a kit has.
    json: Value,
    kind: Kind,
}

impl Written {
    /// `id` is that of the case, or of the sweep that it belongs to.
    ///
    /// # Errors
    /// As for [`admitted::of`].
    pub(super) fn new(case: Case, retyped_from: Option<DType>, id: &str) -> Result<Written, String> {
        let mut fields = with_since(json::case_to_json(&case), id);
        if let (Some(admitted), Some(result)) = (admitted::of(&case)?, fields.get_mut("result")) {
            result["admitted"] = admitted;
        }
        if let Some(dtype) = retyped_from {
            fields.insert("retyped_from".into(), dtype.name().into());
        }
        let json = Value::Object(fields);
        Ok(Written { kind: Kind::of(&case, &json), case, retyped_from, json })
    }

    pub(super) fn json(&self) -> &Value {
        &self.json
    }

    /// The highest rank of its operands.
    pub(super) fn rank(&self) -> usize {
        self.case.request.operands().iter().map(Operand::rank).max().unwrap_or(0)
    }

    /// The number of values of the result.
    pub(super) fn elements(&self) -> usize {
        match &self.case.expectation {
            Expectation::Result(expected) => expected.tensor.values().len(),
            Expectation::Refusal(_) => 0,
        }
    }

    pub(super) fn operands(&self) -> usize {
        self.case.request.operands().len()
    }

    pub(super) fn rules(&self) -> RuleSet {
        self.case.request.rules().set()
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn is_retyped(&self) -> bool {
        self.retyped_from.is_some()
    }

    pub(super) fn refuses(&self) -> bool {
        matches!(self.case.expectation, Expectation::Refusal(_))
    }

    /// The kind of refusal that it requires, if it requires a certain one.
    pub(super) fn refusal(&self) -> Option<RefusalKind> {
        match &self.case.expectation {
            Expectation::Refusal(refusal) => refusal.kind,
            Expectation::Result(_) => None,
        }
    }

    pub(super) fn has_admitted(&self) -> bool {
        self.json["result"].get("admitted").is_some()
    }
}

/// The fields of a case, with the version in which its id first appeared.
fn with_since(case: Value, id: &str) -> Map<String, Value> {
    let Value::Object(known) = case else { unreachable!("a case is an object") };
    let mut fields = Map::new();
    for (name, value) in known {
        let after_clause = name == "clause";
        fields.insert(name, value);
        if after_clause {
            fields.insert("since".into(), releases::since(id).into());
        }
    }
    fields
}

/// A case of the operation `infer` to write. It has no values, so that consumers of the other cases cannot
/// read it: its JSON is in a directory of its own.
pub(super) struct Inferred {
    case: InferenceCase,
    json: Value,
}

impl Inferred {
    fn new(case: InferenceCase) -> Inferred {
        let json = with_since(json::inference_case_to_json(&case), &case.id).into();
        Inferred { case, json }
    }

    pub(super) fn rules(&self) -> RuleSet {
        self.case.request.rules().set()
    }
}

/// A case file of the suite, with the cases of it that are written.
struct Authored {
    /// Without the extension.
    name: &'static str,
    /// The original text, if everything in it is written as it is.
    original: Option<&'static str>,
    cases: Vec<Written>,
    inferences: Vec<Inferred>,
}

/// An expanded sweep.
pub(super) struct Expanded {
    pub(super) sweep: Sweep,
    cases: Vec<Written>,
    pub(super) files: Vec<File>,
}

impl Expanded {
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(File::bytes).sum()
    }

    pub(super) fn count(&self) -> usize {
        self.cases.len()
    }

    pub(super) fn rules(&self) -> Option<RuleSet> {
        self.cases.first().map(Written::rules)
    }
}

/// The chosen part of the suite.
pub(super) struct Chosen {
    authored: Vec<Authored>,
    /// The case that README.md explains, chosen or not.
    pub(super) example: Option<Written>,
    pub(super) expanded: Vec<Expanded>,
    /// The sweeps that are not expanded: id and number of cases.
    pub(super) by_name: BTreeMap<String, u64>,
    /// The number of cases that each option leaves out.
    pub(super) left_out: BTreeMap<String, usize>,
    /// The expanded sweeps that `--no-sweeps` or `--max-bytes` leaves out: id and number of cases.
    pub(super) sweeps_left_out: BTreeMap<String, usize>,
}

impl Chosen {
    /// Chooses from the built-in suite. Nothing at all is an error.
    pub(super) fn new(choice: &Choice) -> Result<Chosen, Error> {
        let read = FILES.iter().map(|&(path, text)| Ok((path, text, load_str(text, path)?)));
        let read: Vec<(&'static str, &'static str, CaseFile)> =
            read.collect::<Result<_, broadcheck_spec::LoadErrors>>().map_err(|errors| errors.to_string())?;
        let mut suite = Suite::default();
        for (_, _, file) in &read {
            suite.cases.extend(file.cases.iter().cloned());
            suite.inferences.extend(file.inferences.iter().cloned());
            suite.sweeps.extend(file.sweeps.iter().cloned());
        }
        let chooser = Chooser::new(choice, &suite)?;
        let mut chosen = Chosen {
            authored: Vec::new(),
            example: suite.get(EXAMPLE).map(|case| Written::new(case.clone(), None, EXAMPLE)).transpose()?,
            expanded: Vec::new(),
            by_name: BTreeMap::new(),
            left_out: BTreeMap::new(),
            sweeps_left_out: BTreeMap::new(),
        };
        let capabilities = capabilities(choice);
        for (path, text, file) in read {
            chosen.add_file(path, text, file, &chooser, capabilities.as_ref())?;
        }
        for sweep in suite.sweeps {
            chosen.add_sweep(sweep, &chooser, choice, capabilities.as_ref())?;
        }
        let is_empty = chosen.cases().next().is_none() && chosen.inferences().next().is_none();
        if is_empty && chosen.expanded.is_empty() {
            let options = choice.recorded().options();
            return Err(Error::Input(format!(
                "{options}: found no case in the suite with all of these properties, expected at least one: see \
                 `broadcheck list`"
            )));
        }
        Ok(chosen)
    }

    fn add_file(
        &mut self,
        path: &'static str,
        text: &'static str,
        file: CaseFile,
        chooser: &Chooser<'_>,
        capabilities: Option<&Capabilities>,
    ) -> Result<(), String> {
        let mut is_whole = file.sweeps.iter().all(|sweep| chooser.has_sweep(sweep));
        let mut cases = Vec::new();
        for case in file.cases {
            let written = match (chooser.leaves_out(&case), capabilities) {
                (Some(option), _) => Err(option),
                (None, None) => Ok((case, None)),
                (None, Some(capabilities)) => retyped(&case, capabilities).ok_or("dtypes"),
            };
            match written {
                Ok((case, retyped_from)) => {
                    is_whole &= retyped_from.is_none();
                    let id = case.id.clone();
                    cases.push(Written::new(case, retyped_from, &id)?);
                }
                Err(option) => {
                    is_whole = false;
                    *self.left_out.entry(option.into()).or_insert(0) += 1;
                }
            }
        }
        let mut inferences = Vec::new();
        for case in file.inferences {
            let left_out = chooser.leaves_out_inference(&case);
            match left_out.or_else(|| (!covers(capabilities, &case)).then_some("dtypes")) {
                None => inferences.push(Inferred::new(case)),
                Some(option) => {
                    is_whole = false;
                    *self.left_out.entry(option.into()).or_insert(0) += 1;
                }
            }
        }
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".yaml");
        self.authored.push(Authored { name, original: is_whole.then_some(text), cases, inferences });
        Ok(())
    }

    fn add_sweep(
        &mut self,
        sweep: Sweep,
        chooser: &Chooser<'_>,
        choice: &Choice,
        capabilities: Option<&Capabilities>,
    ) -> Result<(), Error> {
        if !is_compact(&sweep) {
            if chooser.has_sweep(&sweep) {
                self.by_name.insert(sweep.id, sweep.expected_cases);
            }
            return Ok(());
        }
        if !chooser.may_have_case_of(&sweep) {
            return Ok(());
        }
        let every = Capabilities::all();
        let capabilities = capabilities.unwrap_or(&every);
        let expansion = expand_for(&sweep, capabilities).map_err(|error| format!("{}: {error}", sweep.id))?;
        let Expansion::Cases(cases) = expansion else { return Ok(()) };
        let wanted =
            |case: &Case| capabilities.covers(&case.request).is_ok() && chooser.has_case_of(&sweep, case);
        let cases: Vec<Case> = cases.into_iter().filter(wanted).collect();
        if cases.is_empty() {
            return Ok(());
        }
        if choice.no_sweeps {
            self.sweeps_left_out.insert(sweep.id, cases.len());
            return Ok(());
        }
        let cases = cases.into_iter().map(|case| Written::new(case, None, &sweep.id));
        let cases = cases.collect::<Result<Vec<Written>, String>>()?;
        let files = choice.format.iter().flat_map(|&format| sweep_files(&sweep, &cases, format)).collect();
        self.expanded.push(Expanded { sweep, cases, files });
        Ok(())
    }

    /// The cases that are not of sweeps.
    pub(super) fn cases(&self) -> impl Iterator<Item = &Written> {
        self.authored.iter().flat_map(|file| &file.cases)
    }

    /// The cases of the operation `infer`.
    pub(super) fn inferences(&self) -> impl Iterator<Item = &Inferred> {
        self.authored.iter().flat_map(|file| &file.inferences)
    }

    /// The files of the cases that are not of sweeps.
    pub(super) fn files(&self, formats: &[Format]) -> Vec<File> {
        let mut files = Vec::new();
        for &format in formats {
            for file in &self.authored {
                match format {
                    Format::Json => files.extend(file.in_json()),
                    Format::Yaml => files.extend(file.in_yaml()),
                }
            }
        }
        files
    }

    pub(super) fn identities(&self) -> Identities {
        let cases = self.cases().map(|case| (case.case.id.clone(), Identity::of_case(&case.json)));
        let sweeps = self.expanded.iter().map(|expanded| {
            let cases: Vec<Identity> =
                expanded.cases.iter().map(|case| Identity::of_case(&case.json)).collect();
            (expanded.sweep.id.clone(), Identity::of_sweep(&cases))
        });
        let inferences = self.inferences().map(|case| (case.case.id.clone(), Identity::of_case(&case.json)));
        cases.chain(inferences).chain(sweeps).collect()
    }
}

/// What a library of the chosen dtypes is asked; `None` if every dtype is chosen.
fn capabilities(choice: &Choice) -> Option<Capabilities> {
    let dtypes = choice.dtypes.clone();
    // Only dtypes are chosen here, so what newer operations need is not missing.
    let every = Capabilities {
        broadcast_in_dim: true,
        permuted: true,
        cotangent: true,
        into: true,
        ..Capabilities::all()
    };
    (!dtypes.is_empty()).then_some(Capabilities { dtypes, ..every })
}

/// Whether a library of the chosen dtypes is asked a case of the operation `infer`. Such a case is not
/// retyped: there are no values that decide the dtype.
fn covers(capabilities: Option<&Capabilities>, case: &InferenceCase) -> bool {
    capabilities.is_none_or(|capabilities| {
        let infers = Capabilities { infer: true, unknown: Unknown::ALL.to_vec(), ..capabilities.clone() };
        infers.covers_signature(&case.request).is_ok()
    })
}

/// The case as an implementation with these capabilities is asked it, and its dtype in the suite, if that is
/// another one.
fn retyped(case: &Case, capabilities: &Capabilities) -> Option<(Case, Option<DType>)> {
    let asked = asked(case, capabilities).ok()?;
    let retyped_from = asked.retyped.and(dtype_of(&case.request));
    Some((asked.case.into_owned(), retyped_from))
}

impl Authored {
    /// One file per kind, and one of the cases of the operation `infer`.
    fn in_json(&self) -> Vec<File> {
        let mut files = Vec::new();
        for kind in Kind::ALL {
            let cases: Vec<&Written> = self.cases.iter().filter(|case| case.kind == kind).collect();
            if cases.is_empty() {
                continue;
            }
            let directory = match kind {
                Kind::Required => "json".into(),
                Kind::Optional | Kind::Extreme => format!("json/{}", kind.name()),
                Kind::Into => kind.name().to_owned(),
            };
            let path = format!("{directory}/{}.json", self.name);
            files.push(File::of_cases(path, json_text(cases.iter().map(|case| &case.json)), cases.len()));
        }
        if !self.inferences.is_empty() {
            let text = json_text(self.inferences.iter().map(|case| &case.json));
            files.push(File::of_cases(format!("infer/{}.json", self.name), text, self.inferences.len()));
        }
        files
    }

    fn in_yaml(&self) -> Option<File> {
        let cases: Vec<&Written> = self.cases.iter().collect();
        let text = match self.original {
            Some(text) => text.to_owned(),
            None if cases.is_empty() && self.inferences.is_empty() => return None,
            None => joined(
                yaml_texts(&cases)
                    .chain(self.inferences.iter().map(|case| write::inference_case_to_yaml(&case.case))),
            ),
        };
        let count = cases.len() + self.inferences.len();
        Some(File::of_cases(format!("yaml/{}.yaml", self.name), text, count))
    }
}

/// The cases of a sweep, in one file of its name or in several numbered ones.
fn sweep_files(sweep: &Sweep, cases: &[Written], format: Format) -> Vec<File> {
    let name = sweep.id.replace('/', "-");
    let one = |(place, part): (usize, &[Written])| {
        let part: Vec<&Written> = part.iter().collect();
        let text = match format {
            Format::Yaml => joined(yaml_texts(&part)),
            Format::Json => json_text(part.iter().map(|case| &case.json)),
        };
        let number = if part.len() == cases.len() { String::new() } else { format!("-{}", place + 1) };
        File::of_cases(format!("{0}/sweeps/{name}{number}.{0}", format.name()), text, part.len())
    };
    cases.chunks(CASES_OF_A_FILE).enumerate().map(one).collect()
}

/// The case files of one case each.
fn yaml_texts<'a>(cases: &'a [&Written]) -> impl Iterator<Item = String> + 'a {
    cases.iter().map(|Written { case, retyped_from, .. }| {
        let mut text = write::case_to_yaml(case);
        if let Some(dtype) = retyped_from {
            writeln!(text, "    retyped_from: {dtype}").expect("writing to a string does not fail");
        }
        text
    })
}

/// Case files of one rule set under one header.
fn joined(texts: impl Iterator<Item = String>) -> String {
    const HEAD_ENDS: &str = "cases:\n";
    let mut whole = String::new();
    for text in texts {
        let head = text.find(HEAD_ENDS).map_or(0, |place| place + HEAD_ENDS.len());
        whole += if whole.is_empty() { &text } else { &text[head..] };
    }
    whole
}

/// One case per line, so that line-based tools can compare versions.
fn json_text<'a>(cases: impl Iterator<Item = &'a Value>) -> String {
    let lines: Vec<String> = cases.map(Value::to_string).collect();
    format!("{{\"format\": {FORMAT}, \"cases\": [\n{}\n]}}\n", lines.join(",\n"))
}
