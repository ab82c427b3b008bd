//! Globs over ids: `*` any text, `?` one character, `[a-c]` one of a set, `{x,y}` either.

use globset::{GlobSet, GlobSetBuilder};

/// A glob over ids.
#[derive(Clone, Debug)]
pub struct Glob(GlobSet);

impl Glob {
    /// Whether the whole id matches.
    pub fn is_match(&self, id: &str) -> bool {
        self.0.is_match(id)
    }
}

/// The longest glob, in bytes: what is written by hand is far shorter, and braces within braces multiply.
const LONGEST: usize = 1000;
/// How deep braces may stand within braces.
const DEEPEST: usize = 10;

/// What a glob matches.
///
/// # Errors
/// What is wrong with it, as a phrase.
pub fn matcher(glob: &str) -> Result<Glob, String> {
    if glob.len() > LONGEST {
        return Err(format!("found a glob of {} bytes, expected at most {LONGEST}", glob.len()));
    }
    if depth(glob) > DEEPEST {
        return Err(format!("found braces {} deep, expected at most {DEEPEST}", depth(glob)));
    }
    let parsed = globset::Glob::new(glob).map_err(|error| format!("found no glob ({})", error.kind()))?;
    let set = GlobSetBuilder::new().add(parsed).build();
    set.map(Glob).map_err(|error| format!("found no glob ({})", error.kind()))
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
    fn what_cannot_be_compiled_is_told() {
        assert!(matcher("numpy/{zero,sizes}/*").unwrap().is_match("numpy/zero/a"));
        assert_eq!(
            matcher("a{b").unwrap_err(),
            "found no glob (unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?))"
        );
        let nested = |depth: usize| "{a,".repeat(depth) + "b" + &"}".repeat(depth);
        assert!(matcher(&nested(10)).unwrap().is_match("b"));
        assert_eq!(matcher(&nested(11)).unwrap_err(), "found braces 11 deep, expected at most 10");
        assert_eq!(
            matcher(&"a?".repeat(501)).unwrap_err(),
            "found a glob of 1002 bytes, expected at most 1000"
        );
    }
}
