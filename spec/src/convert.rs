//! Converts a node of a case file to a case or a sweep, and collects all errors in it.

use crate::assemble::{self, Parts, Spelling};
use crate::error::LoadError;
use crate::lint::message;
use crate::raw::{RawCase, RawSource, RawSweep, StrictOperand, StrictOperandType};
use crate::read::read;
use crate::request::Malformed;
use crate::signature::INFER;
use crate::tree::{Kind, Node};
use crate::{
    Case, Convention, DType, Expectation, InferenceCase, Location, Origin, RuleSet, Source, Sweep, clauses,
    examples,
};
use serde::Deserialize;

/// The keys of the five documents.
pub const DOCUMENTS: [&str; 5] = ["xla-en", "xla-zh", "xla-id", "openvino", "aesara"];

/// The longest id of a case or sweep, in characters: it appears in tables, addresses and file names.
pub const MAX_ID: usize = 200;
/// The longest title of a case or sweep, in characters.
pub const MAX_TITLE: usize = 1000;

/// A case or sweep that is being read.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a str,
    pub(crate) node: &'a Node,
    pub(crate) id: Option<String>,
    pub(crate) errors: Vec<LoadError>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str, node: &'a Node) -> Reader<'a> {
        let id = node.get("id").and_then(Node::text).map(crate::lint::shortened);
        Reader { file, node, id, errors: Vec::new() }
    }

    pub(crate) fn error(&mut self, field: &str, finding: impl Into<String>, expectation: impl Into<String>) {
        let finding = finding.into();
        let place = self.node.place_of(field, &finding);
        self.errors.push(LoadError {
            file: self.file.to_owned(),
            line: Some(place.line as usize),
            column: Some(place.column as usize),
            case: self.id.clone(),
            field: message(field),
            finding: message(&finding),
            expectation: message(&expectation.into()),
        });
    }

    pub(crate) fn malformed(&mut self, errors: Vec<Malformed>) {
        for Malformed { place, found, expected } in errors {
            self.error(&place, found, expected);
        }
    }

    fn location(&self) -> Location {
        Location { file: self.file.to_owned(), line: self.node.place.line as usize }
    }

    /// Reads the node at `field` (empty for the whole case).
    pub(crate) fn read<T: Deserialize<'a>>(&mut self, node: &'a Node, field: &str) -> Option<T> {
        read(node).map_err(|error| self.error(&error.below(field), error.finding, error.expectation)).ok()
    }

    /// The items of a list; empty if the case has no such field.
    fn items(&self, field: &str) -> &'a [Node] {
        match self.node.get(field).map(|node| &node.kind) {
            Some(Kind::List(items)) => items,
            _ => &[],
        }
    }

    fn required<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.error("", format!("no field `{field}`"), "one: it is required");
        }
        value
    }

    fn check_id(&mut self, id: Option<String>) -> Option<String> {
        let id = self.required("id", id)?;
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/-".contains(&byte);
        if id.is_empty() || !id.bytes().all(allowed) {
            self.error(
                "id",
                format!("`{}`", crate::lint::shortened(&id)),
                "an id made of the characters [a-z0-9/-]",
            );
            return None;
        }
        self.check_length("id", &id, MAX_ID).then_some(id)
    }

    fn check_title(&mut self, title: Option<String>) -> Option<String> {
        let title = self.required("title", title)?;
        if title.trim().is_empty() {
            self.error("title", "an empty title", "a sentence: what would go wrong, or what must hold");
            return None;
        }
        self.check_length("title", &title, MAX_TITLE).then_some(title)
    }

    fn check_length(&mut self, field: &str, text: &str, most: usize) -> bool {
        let length = text.chars().count();
        if length > most {
            self.error(field, format!("{length} characters"), format!("at most {most}"));
        }
        length <= most
    }

    fn check_clause(&mut self, clause: Option<String>) -> Option<String> {
        let clause = self.required("clause", clause)?;
        if clauses::get(&clause).is_none() {
            self.error("clause", format!("`{clause}`"), "a clause of SEMANTICS.md, such as `XLA-3`");
            return None;
        }
        Some(clause)
    }

    fn check_convention(&mut self, name: Option<String>) -> Option<Convention> {
        let name = name?;
        let convention = name.parse().ok();
        if convention.is_none() {
            let found = format!("`{}`", crate::lint::shortened(&name));
            let names = Convention::ALL.map(Convention::name).join(" ");
            self.error("convention", found, format!("one of {names}"));
        }
        convention
    }

    fn check_examples(&mut self, ids: Option<Vec<String>>) -> Vec<String> {
        let ids = ids.unwrap_or_default();
        for (place, id) in ids.iter().enumerate() {
            if examples::get(id).is_none() {
                let expected = "the id of an example of the documents, such as `X01`";
                self.error(
                    &format!("example[{place}]"),
                    format!("`{}`", crate::lint::shortened(id)),
                    expected,
                );
            } else if ids[..place].contains(id) {
                self.error(&format!("example[{place}]"), format!("`{id}` twice"), "each example once");
            }
        }
        ids
    }

    fn check_sources(&mut self) -> Vec<Source> {
        let mut sources = Vec::new();
        for (place, node) in self.items("source").iter().enumerate() {
            let field = format!("source[{place}]");
            if let Some(raw) = self.read::<RawSource>(node, &field) {
                sources.extend(self.check_source(raw, &field));
            }
        }
        sources
    }

    fn check_source(&mut self, raw: RawSource, field: &str) -> Option<Source> {
        match raw {
            RawSource { document: Some(key), lines: Some(lines), url: None } => {
                if !DOCUMENTS.contains(&key.as_str()) {
                    let expected = format!("one of {}", DOCUMENTS.join(" "));
                    self.error(&format!("{field}.document"), format!("`{key}`"), expected);
                    return None;
                }
                let Some(last) = last_line(&lines) else {
                    let expected = "ascending lines from 1 such as \"20\", \"20-29\" or \"20-29, 61-71\"";
                    self.error(&format!("{field}.lines"), format!("`{lines}`"), expected);
                    return None;
                };
                if let Some(document) = examples::document(&key)
                    && last > document.length
                {
                    let expected = format!("lines up to {}, the last of `{key}`", document.length);
                    self.error(&format!("{field}.lines"), format!("`{lines}`"), expected);
                    return None;
                }
                Some(Source::Document { key, lines })
            }
            RawSource { document: None, lines: None, url: Some(url) } => {
                let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
                if rest.is_none_or(str::is_empty) || url.contains(char::is_whitespace) {
                    self.error(
                        &format!("{field}.url"),
                        format!("`{url}`"),
                        "an address such as \"https://...\"",
                    );
                    return None;
                }
                Some(Source::Url(url))
            }
            _ => {
                self.error(field, "other fields", "`document` and `lines`, or `url` alone");
                None
            }
        }
    }

    fn check_origin(&mut self, origin: Option<String>) -> Option<Origin> {
        let origin = self.required("origin", origin)?;
        match origin.as_str() {
            "document" => return Some(Origin::Document),
            "hand" => return Some(Origin::Hand),
            _ => {}
        }
        let system = origin.strip_prefix("system: ").map(str::trim).filter(|name| !name.is_empty());
        if system.is_none() {
            let expected = "`document`, `hand`, or \"system: NAME AND VERSION\"";
            self.error("origin", format!("`{}`", crate::lint::shortened(&origin)), expected);
        }
        system.map(|name| Origin::System(name.to_owned()))
    }

    fn check_rules(&mut self, rules: Option<String>, default: Option<RuleSet>) -> Option<RuleSet> {
        let Some(name) = rules else {
            if default.is_none() {
                self.error("", "no field `rules`", "one, in the case or at the top of the file");
            }
            return default;
        };
        let rules = name.parse().ok();
        if rules.is_none() {
            let expected = format!("one of {}", RuleSet::ALL.map(RuleSet::name).join(" "));
            self.error("rules", format!("`{name}`"), expected);
        }
        rules
    }

    /// Whether there is an operation of this name.
    fn check_operation(&mut self, name: Option<&str>) -> bool {
        let unknown =
            name.filter(|&name| name != INFER).and_then(|name| assemble::operation_kind(name).err());
        let known = unknown.is_none();
        self.malformed(unknown.into_iter().collect());
        known
    }

    /// The field that an export adds to a case that it wrote in another dtype. It changes nothing.
    fn check_retyped_from(&mut self, dtype: Option<&str>) {
        let error = dtype.and_then(|name| name.parse::<DType>().err());
        if let (Some(name), Some(_)) = (dtype, error) {
            let expected = format!("one of {}", DType::ALL.map(DType::name).join(" "));
            self.error("retyped_from", format!("`{}`", crate::lint::shortened(name)), expected);
        }
    }

    /// Reads each operand by `read`, which gets its node and its field.
    fn check_operands<T>(
        &mut self,
        read: impl Fn(&mut Self, &'a Node, &str, &mut Vec<Malformed>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.required("operands", self.node.get("operands"))?;
        let nodes = self.items("operands");
        if nodes.is_empty() {
            self.error("operands", "no operand", "one or more");
            return None;
        }
        let mut operands = Vec::new();
        let mut complete = true;
        for (place, node) in nodes.iter().enumerate() {
            let mut errors = Vec::new();
            let operand = read(self, node, &format!("operands[{place}]"), &mut errors);
            self.malformed(errors);
            complete &= operand.is_some();
            operands.extend(operand);
        }
        complete.then_some(operands)
    }

    /// The case at this node, or its errors.
    pub(crate) fn case(&mut self, default_rules: Option<RuleSet>) -> Option<Case> {
        self.case_of(
            default_rules,
            |reader, parts| {
                let operands = reader.check_operands(|reader, node, field, errors| {
                    let raw = reader.read::<StrictOperand>(node, field)?;
                    assemble::given(raw.into(), field, Spelling::Canonical, errors)
                });
                let parts = parts?;
                assemble::request(parts, operands?, Spelling::Canonical)
                    .map_err(|errors| reader.malformed(errors))
                    .ok()
            },
            Self::expectation,
            Convention::of,
        )
    }

    /// The case of the operation `infer` at this node, or its errors.
    pub(crate) fn inference(&mut self, default_rules: Option<RuleSet>) -> Option<InferenceCase> {
        self.case_of(
            default_rules,
            |reader, parts| {
                let operands = reader.check_operands(|reader, node, field, errors| {
                    let raw = reader.read::<StrictOperandType>(node, field)?;
                    assemble::operand_type(raw.into(), field, Spelling::Canonical, errors)
                });
                let signature = assemble::signature(&parts?, operands?, Spelling::Canonical);
                signature.map_err(|errors| reader.malformed(errors)).ok()
            },
            Self::inferred,
            Convention::of_inference,
        )
    }

    /// A case whose request, expectation and convention are made by the functions given.
    fn case_of<S: Deserialize<'a>, R, T>(
        &mut self,
        default_rules: Option<RuleSet>,
        request: impl FnOnce(&mut Self, Option<Parts<S>>) -> Option<R>,
        expectation: impl FnOnce(&mut Self, Option<&R>) -> Option<Expectation<T>>,
        convention_of: impl FnOnce(&str, &R, &Expectation<T>) -> Option<Convention>,
    ) -> Option<Case<R, T>> {
        let raw: RawCase<S> = self.read(self.node, "")?;
        let id = self.check_id(raw.id);
        let title = self.check_title(raw.title);
        let clause = self.check_clause(raw.clause);
        let convention = self.check_convention(raw.convention);
        let examples = self.check_examples(raw.example);
        let sources = self.check_sources();
        let origin = self.check_origin(raw.origin);
        let rules = self.check_rules(raw.rules, default_rules);
        self.check_retyped_from(raw.retyped_from.as_deref());
        let parts = rules.map(|rules| Parts {
            rules,
            operation: raw.operation.clone(),
            expression: raw.expression,
            wrt: raw.wrt,
            cotangent: raw.cotangent,
            into: raw.into,
            target_shape: raw.target_shape,
            declared_target_shape: raw.declared_target_shape,
            axis: raw.axis,
            broadcast_dimensions: raw.broadcast_dimensions,
        });
        // Which fields the rest has depends on the operation.
        if !self.check_operation(raw.operation.as_deref()) {
            return None;
        }
        let request = request(self, parts);
        let expectation = expectation(self, request.as_ref());
        if !self.errors.is_empty() {
            return None;
        }
        let (clause, request, expectation) = (clause?, request?, expectation?);
        Some(Case {
            id: id?,
            title: title?,
            convention: convention.or_else(|| convention_of(&clause, &request, &expectation)),
            clause,
            examples,
            sources,
            origin: origin?,
            request,
            expectation,
            note: raw.note,
            location: self.location(),
        })
    }

    /// The sweep at this node, or its errors.
    pub(crate) fn sweep(&mut self) -> Option<Sweep> {
        let raw: RawSweep = self.read(self.node, "")?;
        let id = self.check_id(raw.id);
        let title = self.check_title(raw.title);
        let clause = self.check_clause(raw.clause);
        let examples = self.check_examples(raw.example);
        let sources = self.check_sources();
        let sweep = self.required("sweep", raw.sweep);
        let expect = self.required("expect", raw.expect);
        if expect.as_ref().is_some_and(|expect| expect.cases.0 == 0) {
            self.error("expect.cases", "0", "1 or more: an empty sweep tests nothing");
        }
        if !self.errors.is_empty() {
            return None;
        }
        Some(Sweep {
            id: id?,
            title: title?,
            clause: clause?,
            examples,
            sources,
            sweep: sweep?,
            with: raw.with.unwrap_or_default().into_iter().map(|(name, bound)| (name, bound.0)).collect(),
            expected_cases: expect?.cases.0,
            note: raw.note,
            location: self.location(),
        })
    }
}

/// The last line of `20`, `20-29`, `20-29, 61-71`: numbers from 1, in ascending order.
fn last_line(text: &str) -> Option<u32> {
    let number = |text: &str| match text.parse::<u32>() {
        // mutant: replace > with >=: a line 0 begins with 0, which the guard refuses anyway
        Ok(line) if line > 0 && !text.starts_with(['+', '0']) => Some(line),
        _ => None,
    };
    text.split(", ").try_fold(0, |before, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(first)?, number(last)?);
        (before < first && first <= last).then_some(last)
    })
}

/// Splits an error of serde into a finding and an expectation.
pub(crate) fn sentence(text: &str) -> (String, String) {
    if let Some(field) = text.strip_prefix("missing field ") {
        return (format!("no field {field}"), "one: it is required".into());
    }
    let text = text.strip_prefix("invalid type: ").or(text.strip_prefix("invalid value: ")).unwrap_or(text);
    match text.split_once(", expected ") {
        Some((finding, expectation)) => (finding.into(), expectation.into()),
        None => (text.into(), "a case as the format describes it".into()),
    }
}
