//! Globs over ids: `*` is any text, `?` any character, `[a-c]` one of a set, `[!a-c]` any other, `{x,y}`
//! either. A backslash takes the character after it literally, and `**` is the same as `*`.
//!
//! A glob is compiled to a short program, and all of its alternatives are tracked at once, so no glob is slow
//! to match.

use std::fmt;

/// The longest glob, in bytes: globs are written by hand.
const LONGEST: usize = 1000;
/// How deep braces may be nested.
const DEEPEST: usize = 10;

/// A glob over ids.
///
/// ```
/// use broadcheck::globs::Glob;
/// let glob = Glob::new("numpy/{zero,sizes}/*")?;
/// assert!(glob.matches("numpy/zero/a") && !glob.matches("numpy/ones/a"));
/// let error = Glob::new("numpy/{zero").unwrap_err();
/// let message = "found `{` without `}`, expected `}` after it; a literal `{` is written `[{]`";
/// assert_eq!(error.to_string(), message);
/// # Ok::<(), broadcheck::globs::GlobError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Glob {
    program: Vec<Step>,
    /// The only id that matches, for a glob without special characters: most entries of files are such ids.
    literal: Option<String>,
}

/// One step of a program. A text matches if some path through the steps consumes all of it and ends after the
/// last step.
#[derive(Clone, Debug)]
enum Step {
    /// Consumes a character of the set.
    Take(Set),
    /// Continues at any of these steps.
    Fork(Vec<usize>),
}

#[derive(Clone, Debug)]
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Set {
    fn one(char: char) -> Set {
        Set { negated: false, ranges: vec![(char, char)] }
    }

    fn any() -> Set {
        Set { negated: true, ranges: Vec::new() }
    }

    fn holds(&self, char: char) -> bool {
        self.ranges.iter().any(|&(first, last)| (first..=last).contains(&char)) != self.negated
    }
}

/// What is wrong with a glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobError {
    /// What was found.
    pub finding: String,
    /// What was expected.
    pub expectation: String,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}, expected {}", self.finding, self.expectation)
    }
}

impl std::error::Error for GlobError {}

fn error<T>(finding: impl Into<String>, expectation: impl Into<String>) -> Result<T, GlobError> {
    Err(GlobError { finding: finding.into(), expectation: expectation.into() })
}

impl Glob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// A bracket or brace is not closed, a range is descending, or the glob is too long or too deeply nested.
    pub fn new(glob: &str) -> Result<Glob, GlobError> {
        if glob.len() > LONGEST {
            return error(format!("a glob of {} bytes", glob.len()), format!("at most {LONGEST}"));
        }
        let depth = depth(glob);
        if depth > DEEPEST {
            return error(format!("braces {depth} deep"), format!("at most {DEEPEST}"));
        }
        let mut compiler = Compiler { rest: glob.chars(), program: Vec::new() };
        match compiler.sequence(false)? {
            End::Text => {
                let special = ['*', '?', '[', '{', '}', '\\'];
                let literal = (!glob.contains(special)).then(|| glob.to_owned());
                Ok(Glob { program: compiler.program, literal })
            }
            End::Comma | End::Brace => {
                error("`}` without `{`", "`{` before it; a literal `}` is written `[}]`")
            }
        }
    }

    /// Whether this is an id, without special characters.
    pub(crate) fn is_literal(&self) -> bool {
        self.literal.is_some()
    }

    /// Whether the whole id matches.
    pub fn matches(&self, id: &str) -> bool {
        if let Some(literal) = &self.literal {
            return literal == id;
        }
        let mut ways = Ways::new(&self.program);
        ways.add(0);
        let mut steps = Vec::new();
        for char in id.chars() {
            if ways.steps.is_empty() {
                return false;
            }
            steps.clear();
            std::mem::swap(&mut steps, &mut ways.steps);
            ways.round += 1;
            for &step in &steps {
                if let Some(Step::Take(set)) = self.program.get(step)
                    && set.holds(char)
                {
                    ways.add(step + 1);
                }
            }
        }
        ways.steps.contains(&self.program.len())
    }
}

/// The steps that are reachable after a part of a text.
struct Ways<'a> {
    program: &'a [Step],
    steps: Vec<usize>,
    /// The number of the part of the text.
    round: usize,
    /// For each step the last round in which it was reached.
    seen: Vec<usize>,
    /// The steps that are to be added; empty between calls.
    open: Vec<usize>,
}

impl<'a> Ways<'a> {
    fn new(program: &'a [Step]) -> Ways<'a> {
        let seen = vec![0; program.len() + 1];
        Ways { program, steps: Vec::new(), round: 1, seen, open: Vec::new() }
    }

    /// Adds a step and everything it forks to.
    fn add(&mut self, step: usize) {
        self.open.push(step);
        while let Some(step) = self.open.pop() {
            if std::mem::replace(&mut self.seen[step], self.round) != self.round {
                match self.program.get(step) {
                    Some(Step::Fork(steps)) => self.open.extend(steps),
                    Some(Step::Take(_)) | None => self.steps.push(step),
                }
            }
        }
    }
}

struct Compiler<'a> {
    rest: std::str::Chars<'a>,
    program: Vec<Step>,
}

/// What ended a sequence.
#[derive(PartialEq, Eq)]
enum End {
    Text,
    Comma,
    Brace,
}

impl Compiler<'_> {
    /// Compiles up to the end of the glob, of the braces, or of an alternative. Outside braces a comma is an
    /// ordinary character.
    fn sequence(&mut self, in_braces: bool) -> Result<End, GlobError> {
        while let Some(char) = self.rest.next() {
            match char {
                '*' => self.star(),
                '?' => self.program.push(Step::Take(Set::any())),
                '[' => self.set()?,
                '{' => self.braces()?,
                '}' => return Ok(End::Brace),
                ',' if in_braces => return Ok(End::Comma),
                '\\' => match self.rest.next() {
                    Some(char) => self.program.push(Step::Take(Set::one(char))),
                    None => return error("`\\` at the end", "a character after it"),
                },
                char => self.program.push(Step::Take(Set::one(char))),
            }
        }
        Ok(End::Text)
    }

    /// Any text: a character and back, or onwards.
    fn star(&mut self) {
        let fork = self.program.len();
        self.program.push(Step::Fork(vec![fork + 1, fork + 3]));
        self.program.push(Step::Take(Set::any()));
        self.program.push(Step::Fork(vec![fork]));
    }

    /// A fork to each alternative, and from the end of each a jump past the last.
    fn braces(&mut self) -> Result<(), GlobError> {
        let fork = self.program.len();
        self.program.push(Step::Fork(Vec::new()));
        let (mut starts, mut jumps) = (Vec::new(), Vec::new());
        loop {
            starts.push(self.program.len());
            let end = self.sequence(true)?;
            jumps.push(self.program.len());
            self.program.push(Step::Fork(Vec::new()));
            match end {
                End::Comma => {}
                End::Brace => break,
                End::Text => return error("`{` without `}`", "`}` after it; a literal `{` is written `[{]`"),
            }
        }
        let behind = self.program.len();
        self.program[fork] = Step::Fork(starts);
        for jump in jumps {
            self.program[jump] = Step::Fork(vec![behind]);
        }
        Ok(())
    }

    /// A set, after its `[`. A `]` that comes first is part of the set.
    fn set(&mut self) -> Result<(), GlobError> {
        let unclosed = || error("`[` without `]`", "`]` after it; a literal `[` is written `[[]`");
        let negated = self.rest.as_str().starts_with(['!', '^']);
        if negated {
            self.rest.next();
        }
        let mut ranges = Vec::new();
        loop {
            let Some(first) = self.rest.next() else { return unclosed() };
            if first == ']' && !ranges.is_empty() {
                break;
            }
            let mut after = self.rest.clone();
            let last = match (after.next(), after.next()) {
                (Some('-'), Some(last)) if last != ']' => {
                    self.rest = after;
                    last
                }
                _ => first,
            };
            if last < first {
                return error(format!("the range `{first}-{last}`"), format!("`{last}-{first}`"));
            }
            ranges.push((first, last));
        }
        self.program.push(Step::Take(Set { negated, ranges }));
        Ok(())
    }
}

fn depth(glob: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for char in glob.chars() {
        match char {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_whole_ids() {
        for (glob, matched, unmatched) in [
            ("a", vec!["a"], vec!["", "b", "aa"]),
            ("*", vec!["", "a", "a/b"], vec![]),
            ("a/*", vec!["a/", "a/b", "a/b/c"], vec!["a", "b/a/c"]),
            ("a/**", vec!["a/", "a/b", "a/b/c"], vec!["a"]),
            ("*/zero-*", vec!["numpy/zero-a", "x/y/zero-"], vec!["zero-a", "numpy/zero"]),
            ("a?c", vec!["abc", "a/c", "aéc"], vec!["ac", "abbc"]),
            ("[a-c]1", vec!["a1", "c1"], vec!["d1", "1", "-1"]),
            ("[!a-c]1", vec!["d1", "-1"], vec!["a1", "1"]),
            ("[^a]", vec!["b"], vec!["a"]),
            ("[]a]", vec!["]", "a"], vec!["[]a]"]),
            ("[a-]", vec!["a", "-"], vec!["b"]),
            ("[[]", vec!["["], vec![]),
            ("[{][}]", vec!["{}"], vec![]),
            ("{a,b/*}", vec!["a", "b/c"], vec!["b", "a,b/c", ""]),
            ("x{a,{b,c}d}*y", vec!["xay", "xbdy", "xcd-y"], vec!["xby", "xy"]),
            ("a{,b}", vec!["a", "ab"], vec!["abb"]),
            ("a,b", vec!["a,b"], vec!["a"]),
            (r"\*\{", vec!["*{"], vec!["a{"]),
        ] {
            let compiled = Glob::new(glob).unwrap();
            assert!(matched.iter().all(|id| compiled.matches(id)), "{glob} matches {matched:?}");
            assert!(!unmatched.iter().any(|id| compiled.matches(id)), "{glob} matches none of {unmatched:?}");
        }
    }

    #[test]
    fn invalid_globs_are_errors() {
        for (glob, message) in [
            ("a{b", "found `{` without `}`, expected `}` after it; a literal `{` is written `[{]`"),
            ("a}", "found `}` without `{`, expected `{` before it; a literal `}` is written `[}]`"),
            ("a[b", "found `[` without `]`, expected `]` after it; a literal `[` is written `[[]`"),
            ("[]", "found `[` without `]`, expected `]` after it; a literal `[` is written `[[]`"),
            ("[c-a]", "found the range `c-a`, expected `a-c`"),
            ("a\\", "found `\\` at the end, expected a character after it"),
            (&"a?".repeat(501), "found a glob of 1002 bytes, expected at most 1000"),
        ] {
            assert_eq!(Glob::new(glob).unwrap_err().to_string(), message, "{glob}");
        }
        let nested = |depth: usize| "{a,".repeat(depth) + "b" + &"}".repeat(depth);
        assert!(Glob::new(&nested(10)).unwrap().matches("b"));
        assert_eq!(
            Glob::new(&nested(11)).unwrap_err().to_string(),
            "found braces 11 deep, expected at most 10"
        );
    }

    #[test]
    fn a_glob_with_many_paths_is_fast() {
        let glob = Glob::new(&("*a".repeat(400) + "*b")).unwrap();
        assert!(!glob.matches(&"a".repeat(1000)));
        let glob = Glob::new(&"{a,?,*}".repeat(140)).unwrap();
        assert!(glob.matches(&"a".repeat(1000)));
    }
}
