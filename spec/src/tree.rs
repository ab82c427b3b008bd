//! A file as a tree with positions, built from the parser's events in one pass without recursion.
//!
//! The parts of YAML that the format does not allow are rejected here, because serde would accept them:
//! anchors, aliases, tags, merge keys, further documents, keys that are not strings, repeated keys, scalars
//! that YAML 1.1 and 1.2 read differently, and files built to exhaust memory or the stack.

use crate::lint::{Finding, Plain, Syntax, plain, shortened};
use crate::literal::whole;
use crate::masked::Masked;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::HashSet;

/// How deep the lists and mappings of a case file may nest. Of these levels, an expression may use
/// [`MAX_EXPRESSION_DEPTH`](crate::MAX_EXPRESSION_DEPTH).
pub const MAX_DEPTH: usize = 128;

/// How many scalars, keys, lists and mappings a case file may contain; also how many of YAML's indicators
/// `, : [ ] { } ? & * !` and pairs of quotes.
///
/// The indicators are counted before parsing, because the parser keeps a whole `[…]` in memory until it has
/// read further and knows that the list is not a key of a mapping.
pub const MAX_NODES: usize = 1 << 18;

/// The keys of a mapping are compared with each other up to this number, and looked up in a set beyond it.
pub(crate) const FEW_KEYS: usize = 16;

/// How many errors are kept while the tree is built.
const MAX_ERRORS: usize = crate::LoadErrors::MAX_PER_FILE;

/// The fields that hold integers, or lists of them: in a JSON file they may be strings.
const INTEGERS: [&str; 8] =
    ["shape", "target_shape", "strides", "offset", "axis", "broadcast_dimensions", "min", "max"];

/// A line and a column, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text(Box<str>),
    Bool(bool),
    Int(i128),
    Float(f64),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: Box<str>,
    pub(crate) place: Place,
}

/// An error, at a path from the root.
#[derive(Debug)]
pub(crate) struct TreeError {
    pub(crate) path: String,
    pub(crate) place: Place,
    pub(crate) finding: Finding,
}

/// The result of the pass.
pub(crate) struct Parsed {
    /// The tree, as far as it was read; `None` for a file without content.
    pub(crate) root: Option<Node>,
    pub(crate) errors: Vec<TreeError>,
    /// How many further errors there are.
    pub(crate) more: usize,
    /// Whether the pass stopped before the end of the file, so that the end of the tree is missing.
    pub(crate) stopped: bool,
}

impl Node {
    /// The entry of a mapping.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|(key, _)| &*key.name == name).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The position of `path` (`operands[0].values`) below this node, or of the deepest part of it that
    /// exists; for an unknown field, the position of its key.
    pub(crate) fn place_of(&self, path: &str, finding: &str) -> Place {
        if finding.starts_with("unknown field") { self.locate_key(path) } else { self.find(path).place }
    }

    /// The node at a path, or at the deepest part of it that exists.
    pub(crate) fn find(&self, path: &str) -> &Node {
        let mut node = self;
        for segment in path.split(['.', '[']).filter(|segment| !segment.is_empty()) {
            let next = match &node.kind {
                Kind::Map(_) => node.get(segment),
                Kind::List(items) => segment
                    .strip_suffix(']')
                    .and_then(|digits| digits.parse().ok())
                    .and_then(|place: usize| items.get(place)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// The position of the key that `path` ends with, instead of that of its value.
    fn locate_key(&self, path: &str) -> Place {
        let (outer, name) = path.rsplit_once('.').unwrap_or(("", path));
        match &self.find(outer).kind {
            Kind::Map(entries) => {
                entries.iter().find(|(key, _)| &*key.name == name).map(|(key, _)| key.place)
            }
            _ => None,
        }
        .unwrap_or_else(|| self.find(path).place)
    }
}

/// A list or mapping that is being read.
struct Open {
    node: Node,
    /// The key whose value comes next, in a mapping.
    key: Option<Key>,
    /// The keys of the mapping so far, if it has more than [`FEW_KEYS`].
    seen: HashSet<Box<str>>,
}

impl Open {
    /// Whether the mapping already has this key.
    fn repeats(&mut self, name: &str) -> bool {
        let Kind::Map(entries) = &self.node.kind else { return false };
        // mutant: replace < with >; replace < with <=: comparing and looking up have the same result
        if entries.len() < FEW_KEYS {
            return entries.iter().any(|(key, _)| &*key.name == name);
        }
        if self.seen.is_empty() {
            self.seen.extend(entries.iter().map(|(key, _)| key.name.clone()));
        }
        !self.seen.insert(name.into())
    }
}

struct Builder<'a> {
    syntax: Syntax,
    /// The remaining strings of a JSON file.
    strings: std::slice::Iter<'a, String>,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    errors: Vec<TreeError>,
    more: usize,
}

/// Reads a text to the end, or to the first error after which reading cannot continue.
pub(crate) fn parse(text: &str) -> Parsed {
    build(text, Syntax::Yaml, &[])
}

/// The same for a JSON file.
pub(crate) fn parse_json(masked: &Masked) -> Parsed {
    build(&masked.text, Syntax::Json, &masked.strings)
}

fn build(text: &str, syntax: Syntax, strings: &[String]) -> Parsed {
    let mut builder = Builder {
        syntax,
        strings: strings.iter(),
        open: Vec::new(),
        root: None,
        nodes: 0,
        errors: Vec::new(),
        more: 0,
    };
    let mut stopped = builder.characters(text) || builder.directives(text) || builder.indicators(text);
    if !stopped {
        stopped = builder.read(text).is_break();
    }
    while !builder.open.is_empty() {
        builder.close();
    }
    let Builder { root, errors, more, .. } = builder;
    Parsed { root, errors, more, stopped }
}

type Flow = std::ops::ControlFlow<()>;

impl Builder<'_> {
    /// Rejects control characters, and characters that only some readers treat as line breaks.
    fn characters(&mut self, text: &str) -> bool {
        let bad = |char: char| {
            char.is_control() && !matches!(char, '\n' | '\r' | '\t')
                || matches!(char, '\u{2028}' | '\u{2029}' | '\u{feff}')
        };
        let Some(position) = text.find(bad) else { return false };
        let before = &text[..position];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        let char = text[position..].chars().next().unwrap_or_default();
        self.error(
            place(line, column),
            format!("the character U+{:04X}", u32::from(char)),
            "an escape in quotes: control characters, byte order marks and special line breaks are not allowed"
                .into(),
        );
        true
    }

    /// Rejects `%YAML` and `%TAG`, which come first in a file: the format specifies the version of YAML.
    fn directives(&mut self, text: &str) -> bool {
        let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        let first = text.lines().enumerate().find(|(_, line)| !blank(line));
        let Some((number, directive)) = first.filter(|(_, line)| line.starts_with('%')) else { return false };
        let name = shortened(directive.split_whitespace().next().unwrap_or("%"));
        self.error(
            place(number + 1, 1),
            format!("the directive `{name}`"),
            "a file without directives".into(),
        );
        true
    }

    /// Rejects files for which the parser would keep more than a moderate number of tokens in memory.
    fn indicators(&mut self, text: &str) -> bool {
        // One look-up per byte, because this reads every byte of a large file.
        let mut counts = [0; 256];
        for &byte in text.as_bytes() {
            counts[usize::from(byte)] += 1;
        }
        let count = |of: &[u8]| of.iter().map(|&byte| counts[usize::from(byte)]).sum::<usize>();
        let too_many = count(b",:[]{}?&*!") + count(b"'\"") / 2 > MAX_NODES;
        if too_many {
            let found =
                format!("more than {MAX_NODES} of the characters `, : [ ] {{ }} ? & * !` and quoted strings");
            self.error(place(1, 1), found, "fewer: split the file".into());
        }
        too_many
    }

    fn read(&mut self, text: &str) -> Flow {
        let mut documents = 0;
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(pair) => pair,
                Err(error) => {
                    let at = place(error.marker().line(), error.marker().col() + 1);
                    let expected = match self.syntax {
                        Syntax::Yaml => "YAML 1.2",
                        Syntax::Json => "JSON",
                    };
                    return self.stop(at, format!("a syntax error ({})", error.info()), expected);
                }
            };
            let at = start(&span);
            match event {
                Event::DocumentStart(_) if documents == 1 => {
                    return self.stop(at, "a second document".into(), "one document per file");
                }
                Event::DocumentStart(_) => documents += 1,
                Event::Alias(_) => {
                    self.error(at, "an alias (`*`)".into(), "the value itself".into());
                    self.node(at, Kind::Text("".into()))?;
                }
                Event::Scalar(text, style, anchor, tag) => {
                    self.decoration(at, anchor, tag.is_some());
                    self.scalar(at, &text, style)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    self.decoration(at, anchor, tag.is_some());
                    self.begin(at, Kind::List(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.decoration(at, anchor, tag.is_some());
                    self.begin(at, Kind::Map(Vec::new()))?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close(),
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        Flow::Continue(())
    }

    fn decoration(&mut self, at: Place, anchor: usize, tag: bool) {
        if anchor != 0 {
            self.error(at, "an anchor (`&`)".into(), "the value without an anchor".into());
        }
        if tag {
            self.error(at, "a tag (`!`)".into(), "the value without a tag".into());
        }
    }

    fn scalar(&mut self, at: Place, text: &str, style: ScalarStyle) -> Flow {
        let quoted = style != ScalarStyle::Plain && self.syntax == Syntax::Json;
        let text = if quoted { self.strings.next().map_or(text, String::as_str) } else { text };
        let kind = if style == ScalarStyle::Plain {
            match plain(text, self.syntax) {
                Ok(Plain::Text) => {
                    if !self.wants_key() && self.field() == Some("lines") {
                        self.error(at, format!("`{}`", shortened(text)), "a quoted string".into());
                    }
                    Kind::Text(text.into())
                }
                Ok(Plain::Bool(value)) => Kind::Bool(value),
                Ok(Plain::Int(value)) => Kind::Int(value),
                Ok(Plain::Float(value)) => Kind::Float(value),
                Err(finding) => {
                    self.error(at, finding.found, finding.expected);
                    Kind::Text(text.into())
                }
            }
        } else if self.syntax == Syntax::Json && !self.wants_key() {
            self.integer(text)
        } else {
            Kind::Text(text.into())
        };
        if self.wants_key() {
            return self.key(at, text, &kind);
        }
        self.node(at, kind)
    }

    /// A string of a JSON file where an integer is allowed: integers beyond 2^53 are written as strings.
    fn integer(&self, text: &str) -> Kind {
        let field = self.field().is_some_and(|field| INTEGERS.contains(&field));
        match whole(text) {
            Some(value) if field && (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value) => {
                Kind::Int(value)
            }
            _ => Kind::Text(text.into()),
        }
    }

    /// The field whose value (or an item of it) is being read.
    fn field(&self) -> Option<&str> {
        self.open.iter().rev().take(2).find_map(|open| open.key.as_ref()).map(|key| &*key.name)
    }

    fn wants_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.key.is_none() && matches!(open.node.kind, Kind::Map(_)))
    }

    fn key(&mut self, at: Place, text: &str, kind: &Kind) -> Flow {
        if !matches!(kind, Kind::Text(_)) {
            self.error(at, format!("the key `{}`", shortened(text)), "a key that is a string".into());
        }
        let repeated = self.open.last_mut().is_some_and(|open| open.repeats(text));
        if repeated {
            self.error(at, format!("the key `{}` twice", shortened(text)), "each key once".into());
        }
        self.count(at)?;
        if let Some(open) = self.open.last_mut() {
            open.key = Some(Key { name: text.into(), place: at });
        }
        Flow::Continue(())
    }

    fn begin(&mut self, at: Place, kind: Kind) -> Flow {
        if self.wants_key() {
            return self.stop(at, "a key that is a list or a mapping".into(), "a key that is a string");
        }
        if self.open.len() == MAX_DEPTH {
            let expected = format!("at most {MAX_DEPTH} levels");
            return self.stop(at, format!("lists and mappings nested {} deep", MAX_DEPTH + 1), &expected);
        }
        self.count(at)?;
        self.open.push(Open { node: Node { place: at, kind }, key: None, seen: HashSet::new() });
        Flow::Continue(())
    }

    fn node(&mut self, at: Place, kind: Kind) -> Flow {
        self.count(at)?;
        self.attach(Node { place: at, kind });
        Flow::Continue(())
    }

    fn count(&mut self, at: Place) -> Flow {
        self.nodes += 1;
        if self.nodes <= MAX_NODES {
            return Flow::Continue(());
        }
        self.stop(at, format!("more than {MAX_NODES} values"), "fewer: split the file")
    }

    fn attach(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open { node: Node { kind: Kind::Map(entries), .. }, key, .. }) => {
                if let Some(key) = key.take() {
                    entries.push((key, node));
                }
            }
            Some(Open { node: Node { kind: Kind::List(items), .. }, .. }) => items.push(node),
            Some(_) => unreachable!("only lists and mappings are open"),
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.attach(open.node);
        }
    }

    fn stop(&mut self, at: Place, found: String, expected: &str) -> Flow {
        self.error(at, found, expected.into());
        Flow::Break(())
    }

    fn error(&mut self, at: Place, found: String, expected: String) {
        if self.errors.len() >= MAX_ERRORS {
            self.more += 1;
            return;
        }
        let path = self.path();
        self.errors.push(TreeError { path, place: at, finding: Finding { found, expected } });
    }

    /// The path of what is being read.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in self.open.iter().take(12) {
            match (&open.node.kind, &open.key) {
                (Kind::List(items), _) => path.push_str(&format!("[{}]", items.len())),
                (_, Some(key)) => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push_str(&format!("{dot}{}", shortened(&key.name)));
                }
                _ => {}
            }
        }
        path
    }
}

fn place(line: usize, column: usize) -> Place {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: small(line), column: small(column) }
}

fn start(span: &Span) -> Place {
    place(span.start.line(), span.start.col() + 1)
}
