//! The answer to `start`: the name and capabilities of an implementation.

use super::lines::shortened;
use super::strict::{Unique, complaint};
use broadcheck::optimiser::Optimiser;
use broadcheck_spec::{
    Capabilities, Convention, DEFAULT_MAX_ELEMENTS, DType, Function, Implementation, OperationKind, RuleSet,
    Unknown,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of the protocol.
pub(super) const VERSION: u64 = 1;

/// The maximum number of unanswered requests, unless the implementation asks for fewer.
pub(super) const WINDOW: usize = 16;

/// The maximum number of requests in a message, unless the implementation declares less.
pub(super) const LARGEST_BATCH: usize = 256;

/// The name among the operations that allows operands to be strided views.
const STRIDED: &str = "strided";

/// The name among the operations for `broadcast` under `xla`.
const BROADCAST_IN_DIM: &str = "broadcast_in_dim";

/// The name among the operations that allows its dimensions to decrease.
const PERMUTED: &str = "permuted";

/// The name among the operations for gradients with a cotangent.
const COTANGENT: &str = "cotangent";

/// The name among the operations for `elementwise` into a destination.
const INTO: &str = "into";

/// The name among the operations for signatures.
const INFER: &str = "infer";

/// The name among the operations that allows operands with declared shapes.
const DECLARED: &str = "declared";

/// The name among the operations that allows operands to be constants.
const CONSTANTS: &str = "constants";

/// The name among the operations that allows two operands to be the same array.
const SAME: &str = "same";

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
    /// The maximum number of requests in a message.
    pub(super) batch: usize,
    /// The position of its optimiser, if it has a switch for that.
    pub(super) optimiser: Option<Optimiser>,
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
        reader.errors.push(format!("and {} more: correct these to see them", reader.more));
    }
    if reader.errors.is_empty() { Ok(declared) } else { Err(reader.errors) }
}

fn brief(value: &Value) -> String {
    shortened(value.to_string().as_bytes(), LONGEST)
}

/// The names that are the keys of an object.
struct Keys<'a, K> {
    /// What a key names: `function`.
    what: &'a str,
    /// The field of which the names are: `functions`.
    all: &'a str,
    known: &'a dyn Fn(&str) -> Option<K>,
}

/// A name in `operations`.
#[derive(PartialEq)]
enum Word {
    Operation(OperationKind),
    Strided,
    BroadcastInDim,
    Permuted,
    Cotangent,
    Into,
    Infer,
    Declared,
    Constants,
    Same,
}

impl Word {
    fn named(name: &str) -> Option<Word> {
        match name {
            STRIDED => Some(Word::Strided),
            BROADCAST_IN_DIM => Some(Word::BroadcastInDim),
            PERMUTED => Some(Word::Permuted),
            COTANGENT => Some(Word::Cotangent),
            INTO => Some(Word::Into),
            INFER => Some(Word::Infer),
            DECLARED => Some(Word::Declared),
            CONSTANTS => Some(Word::Constants),
            SAME => Some(Word::Same),
            name => OperationKind::ALL.into_iter().find(|kind| kind.name() == name).map(Word::Operation),
        }
    }
}

struct Reader {
    fields: Map<String, Value>,
    errors: Vec<String>,
    /// The number of further errors.
    more: usize,
}

impl Reader {
    fn declared(&mut self) -> Declared {
        let words = self.names("operations", &Word::named);
        let operation = |word: &Word| match word {
            Word::Operation(kind) => Some(*kind),
            Word::Strided
            | Word::BroadcastInDim
            | Word::Permuted
            | Word::Cotangent
            | Word::Into
            | Word::Infer
            | Word::Declared
            | Word::Constants
            | Word::Same => None,
        };
        let (infer, declared) = (words.contains(&Word::Infer), words.contains(&Word::Declared));
        let rule_words = self.names_by_rule_set("rule_operations", &|name| {
            Word::named(name).filter(|word| !matches!(word, Word::Strided))
        });
        // The rule sets whose operations lack a word that `operations` has.
        let without = |has: bool, word: Word| -> Vec<RuleSet> {
            let lacking = rule_words.iter().filter(|(_, words)| has && !words.contains(&word));
            lacking.map(|(rules, _)| *rules).collect()
        };
        let unknown = self.unknown(infer || declared);
        let declared_unknown = self.declared_unknown(&unknown);
        // What an answer does not state has the meaning that it had before the field existed.
        let capabilities = Capabilities {
            rules: self.names("rules", &|name| name.parse::<RuleSet>().ok()),
            strided: words.contains(&Word::Strided),
            operations: words.iter().filter_map(operation).collect(),
            broadcast_in_dim: words.contains(&Word::BroadcastInDim),
            permuted: words.contains(&Word::Permuted),
            cotangent: words.contains(&Word::Cotangent),
            into: words.contains(&Word::Into),
            infer,
            declared,
            constants: words.contains(&Word::Constants),
            same: words.contains(&Word::Same),
            // What may be unknown says nothing about a harness that is asked nothing before the run.
            declared_unknown: declared_unknown.filter(|_| declared),
            unknown: if infer || declared { unknown } else { Vec::new() },
            without_infer: without(infer, Word::Infer),
            without_declared: without(declared, Word::Declared),
            static_flags: self.flag("static_flags", false),
            functions: self.names("functions", &|name| name.parse::<Function>().ok()),
            dtypes: self.names("dtypes", &|name| name.parse::<DType>().ok()),
            function_dtypes: self.function_dtypes(),
            rule_operations: rule_words
                .iter()
                .map(|(rules, words)| (*rules, words.iter().filter_map(operation).collect()))
                .collect(),
            rule_functions: self.names_by_rule_set("rule_functions", &|name| name.parse::<Function>().ok()),
            ordered_operands: self.flag("ordered_operands", false),
            min_rank: self.number("min_rank", 0).unwrap_or(0),
            max_rank: self.number("max_rank", 0),
            equal_ranks: self.flag("equal_ranks", false),
            scalars: self.flag("scalars", true),
            max_operands: self.number("max_operands", 1),
            max_calls: self.number("max_calls", 0),
            unused_operands: self.flag("unused_operands", true),
            negative_strides: self.flag("negative_strides", true),
            max_elements: self.number("max_elements", 1).unwrap_or(DEFAULT_MAX_ELEMENTS),
            large_sizes: self.flag("large_sizes", true),
            flushed_subnormals: self.some_names("flushed_subnormals", &|name| name.parse::<DType>().ok()),
            conventions: self.conventions(),
        };
        Declared {
            name: self.text("name"),
            version: self.text("version"),
            language: self.fields.get("language").and_then(Value::as_str).map(str::to_owned),
            capabilities,
            window: self.number("window", 1).unwrap_or(WINDOW).min(WINDOW),
            batch: self.number("batch", 1).unwrap_or(1).min(LARGEST_BATCH),
            optimiser: self.optimiser(),
        }
    }

    fn optimiser(&mut self) -> Option<Optimiser> {
        let found = self.fields.get("optimiser")?;
        let position = found.as_str().and_then(Optimiser::named);
        if position.is_none() {
            let found = brief(found);
            self.wrong("optimiser", &found, "\"off\" or \"on\"");
        }
        position
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

    fn flag(&mut self, field: &str, absent: bool) -> bool {
        match self.fields.get(field) {
            None => absent,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let found = brief(other);
                self.wrong(field, &found, "true or false");
                absent
            }
        }
    }

    /// The conventions: a list of names, or `"all"`.
    fn conventions(&mut self) -> Vec<Convention> {
        match self.fields.get("conventions") {
            Some(Value::String(word)) if word == "all" => Convention::ALL.to_vec(),
            _ => self.some_names("conventions", &|name| name.parse::<Convention>().ok()),
        }
    }

    /// What may be unknown: by default, lengths, if anything can be asked before the run.
    fn unknown(&mut self, ahead: bool) -> Vec<Unknown> {
        if ahead && !self.fields.contains_key("unknown") {
            return vec![Unknown::Length];
        }
        self.some_names("unknown", &named_unknown)
    }

    /// What may be unknown of a declared shape: some of what may be unknown at all.
    fn declared_unknown(&mut self, unknown: &[Unknown]) -> Option<Vec<Unknown>> {
        self.fields.get("declared_unknown")?;
        let named = self.names("declared_unknown", &named_unknown);
        if let Some(other) = named.iter().find(|other| !unknown.contains(other)) {
            self.wrong("declared_unknown", &format!("\"{}\"", other.name()), "names that `unknown` has, too");
        }
        Some(named)
    }

    /// The dtypes of some functions.
    fn function_dtypes(&mut self) -> BTreeMap<Function, Vec<DType>> {
        let keys = Keys { what: "function", all: "functions", known: &|name| name.parse().ok() };
        self.map("function_dtypes", &keys, &|name| name.parse().ok())
    }

    /// The operations or functions of some rule sets.
    fn names_by_rule_set<T>(
        &mut self,
        field: &str,
        known: &dyn Fn(&str) -> Option<T>,
    ) -> BTreeMap<RuleSet, Vec<T>> {
        let keys = Keys { what: "rule set", all: "rules", known: &|name| name.parse().ok() };
        self.map(field, &keys, known)
    }

    /// An object from names to lists of names; empty if the field is absent.
    fn map<K: Ord, T>(
        &mut self,
        field: &str,
        keys: &Keys<'_, K>,
        known: &dyn Fn(&str) -> Option<T>,
    ) -> BTreeMap<K, Vec<T>> {
        let fields = match self.fields.get(field) {
            None => return BTreeMap::new(),
            Some(Value::Object(fields)) => fields.clone(),
            Some(other) => {
                let found = brief(other);
                let expected = format!("an object: for each {} that it names, a list of names", keys.what);
                self.wrong(field, &found, &expected);
                return BTreeMap::new();
            }
        };
        let mut map = BTreeMap::new();
        for (name, list) in fields {
            match (keys.known)(&name) {
                Some(key) => {
                    let names = self.list_of(&format!("{field}.{name}"), field, Some(&list), known);
                    map.insert(key, names);
                }
                None => {
                    let expected = format!("names among {}", all_names(keys.all));
                    self.wrong(field, &brief(&Value::String(name)), &expected);
                }
            }
        }
        map
    }

    /// A list of names; empty if there is none.
    fn some_names<T>(&mut self, field: &str, known: &dyn Fn(&str) -> Option<T>) -> Vec<T> {
        if self.fields.contains_key(field) { self.names(field, known) } else { Vec::new() }
    }

    /// A list of names that is required.
    fn names<T>(&mut self, field: &str, known: &dyn Fn(&str) -> Option<T>) -> Vec<T> {
        let found = self.fields.get(field).cloned();
        self.list_of(field, field, found.as_ref(), known)
    }

    /// The names in a list at `path`, within the field. An unknown name is an error: a misspelt one would
    /// silently skip cases.
    fn list_of<T>(
        &mut self,
        path: &str,
        field: &str,
        found: Option<&Value>,
        known: &dyn Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let Some(Value::Array(items)) = found else {
            let found = found.map_or("nothing".into(), brief);
            let all = if field == "conventions" { ", or \"all\"" } else { "" };
            self.wrong(path, &found, &format!("a list of names{all}"));
            return Vec::new();
        };
        let mut names = Vec::new();
        let expected = format!("names among {}", all_names(field));
        for item in items {
            match item.as_str().and_then(known) {
                Some(name) => names.push(name),
                None => self.wrong(path, &brief(item), &expected),
            }
        }
        names
    }
}

fn all_names(field: &str) -> String {
    let names: Vec<&str> = match field {
        "rules" => RuleSet::ALL.iter().map(|rules| rules.name()).collect(),
        "operations" => {
            let words =
                [STRIDED, BROADCAST_IN_DIM, PERMUTED, COTANGENT, INTO, INFER, DECLARED, CONSTANTS, SAME];
            OperationKind::ALL.iter().map(|kind| kind.name()).chain(words).collect()
        }
        "unknown" | "declared_unknown" => Unknown::ALL.iter().map(|unknown| unknown.name()).collect(),
        "rule_operations" => OperationKind::ALL.iter().map(|kind| kind.name()).chain([INFER]).collect(),
        "functions" | "rule_functions" => Function::ALL.iter().map(|function| function.name()).collect(),
        "conventions" => Convention::ALL.iter().map(|convention| convention.name()).collect(),
        _ => DType::ALL.iter().map(|dtype| dtype.name()).collect(),
    };
    names.join(" ")
}

/// The answer of a built-in implementation to `start`.
pub(super) fn write(implementation: &dyn Implementation, max_elements: usize) -> Value {
    let able = implementation.capabilities();
    let mut operations: Vec<&str> = able.operations.iter().map(|kind| kind.name()).collect();
    let words = [
        (STRIDED, able.strided),
        (BROADCAST_IN_DIM, able.broadcast_in_dim),
        (PERMUTED, able.permuted),
        (COTANGENT, able.cotangent),
        (INTO, able.into),
        (INFER, able.infer),
        (DECLARED, able.declared),
        (CONSTANTS, able.constants),
        (SAME, able.same),
    ];
    operations.extend(words.into_iter().filter(|(_, able)| *able).map(|(word, _)| word));
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
    let dtypes = |dtypes: &[DType]| dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>();
    for (name, limit) in
        [("max_rank", able.max_rank), ("max_operands", able.max_operands), ("max_calls", able.max_calls)]
    {
        if let Some(limit) = limit {
            fields[name] = limit.into();
        }
    }
    for (name, flag, absent) in [
        ("ordered_operands", able.ordered_operands, false),
        ("equal_ranks", able.equal_ranks, false),
        ("scalars", able.scalars, true),
        ("unused_operands", able.unused_operands, true),
        ("negative_strides", able.negative_strides, true),
        ("large_sizes", able.large_sizes, true),
        ("static_flags", able.static_flags, false),
    ] {
        if flag != absent {
            fields[name] = flag.into();
        }
    }
    if able.infer || able.declared {
        fields["unknown"] = names_of_unknown(&able.unknown);
    }
    if let Some(unknown) = &able.declared_unknown {
        fields["declared_unknown"] = names_of_unknown(unknown);
    }
    if able.min_rank > 0 {
        fields["min_rank"] = able.min_rank.into();
    }
    for (function, list) in &able.function_dtypes {
        fields["function_dtypes"][function.name()] = dtypes(list).into();
    }
    for rules in &able.rules {
        let infer = able.infer && !able.without_infer.contains(rules);
        let declared = able.declared && !able.without_declared.contains(rules);
        if able.rule_operations.contains_key(rules) || infer != able.infer || declared != able.declared {
            let list = able.rule_operations.get(rules).unwrap_or(&able.operations);
            let more = infer.then_some(INFER).into_iter().chain(declared.then_some(DECLARED));
            let names: Vec<_> = list.iter().map(|kind| kind.name()).chain(more).collect();
            fields["rule_operations"][rules.name()] = names.into();
        }
    }
    for (rules, list) in &able.rule_functions {
        let names: Vec<_> = list.iter().map(|function| function.name()).collect();
        fields["rule_functions"][rules.name()] = names.into();
    }
    if !able.flushed_subnormals.is_empty() {
        fields["flushed_subnormals"] = dtypes(&able.flushed_subnormals).into();
    }
    if Convention::ALL.iter().all(|&convention| able.follows(convention)) {
        fields["conventions"] = "all".into();
    } else if !able.conventions.is_empty() {
        let names = able.conventions.iter().map(|convention| convention.name());
        fields["conventions"] = names.collect::<Vec<_>>().into();
    }
    json!({ "version": VERSION, "implementation": fields })
}

fn names_of_unknown(unknown: &[Unknown]) -> Value {
    unknown.iter().map(|unknown| unknown.name()).collect::<Vec<_>>().into()
}

fn named_unknown(name: &str) -> Option<Unknown> {
    Unknown::ALL.into_iter().find(|unknown| unknown.name() == name)
}

#[cfg(test)]
mod tests;
