//! The versions of an implementation that a known-failures file is about.

use serde::Deserialize;

/// A range of versions, compared number by number. A bound that is absent does not restrict it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "versions such as {from: \"2.4\", before: \"2.5\"}")]
pub(super) struct Versions {
    /// The first version.
    from: Option<String>,
    /// The first version after them.
    before: Option<String>,
}

impl Versions {
    /// Whether a version is in the range.
    pub(super) fn contain(&self, version: &str) -> bool {
        let version = numbers(version);
        self.from.as_deref().is_none_or(|from| numbers(from) <= version)
            && self.before.as_deref().is_none_or(|before| version < numbers(before))
    }

    /// # Errors
    /// The range contains no version: what was found and what was expected.
    pub(super) fn check(&self) -> Result<(), (String, &'static str)> {
        for bound in self.from.iter().chain(&self.before) {
            if !bound.starts_with(|first: char| first.is_ascii_digit()) {
                return Err((format!("`{bound}`"), "versions that begin with a number, such as \"2.4\""));
            }
        }
        match (&self.from, &self.before) {
            (Some(from), Some(before)) if numbers(from) >= numbers(before) => {
                Err((format!("no version from {from} and before {before}"), "at least one"))
            }
            _ => Ok(()),
        }
    }
}

/// The numbers of a version: 2, 4 and 6 of `2.4.6`, and of `2.4.6rc1` as well.
fn numbers(version: &str) -> Vec<u64> {
    let number = |part: &str| {
        let digits = part.find(|char: char| !char.is_ascii_digit()).map_or(part, |end| &part[..end]);
        digits.parse().ok()
    };
    version.split('.').map_while(number).collect()
}

#[cfg(test)]
mod tests {
    use crate::known::Known;

    const FILE: &str = "implementation: mine\nknown: []\n";

    #[test]
    fn a_file_is_about_a_range_of_versions() {
        let of = |versions: &str| Known::parse(&format!("{versions}\n{FILE}"), "known.yaml").unwrap();
        let range = of("versions: {from: '2.4', before: '2.10'}");
        for (version, covered) in [
            ("2.4", true),
            ("2.4.6", true),
            ("2.9rc1", true),
            ("2.3.9", false),
            ("2.10", false),
            ("2.10.1", false),
            ("10", false),
            ("", false),
        ] {
            assert_eq!(range.covers(version), covered, "{version}");
        }
        assert!(of("versions: {before: '3'}").covers("0.1") && !of("versions: {before: '3'}").covers("3.0"));
        assert!(
            of("versions: {}").covers("anything") && Known::parse(FILE, "known.yaml").unwrap().covers("1")
        );
    }
}
