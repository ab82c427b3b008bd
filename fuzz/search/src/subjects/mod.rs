//! The implementations that come with broadcheck, by the names that `--impl` accepts.

mod ndarray;

pub use self::ndarray::Ndarray;
use broadcheck::known::Known;
use broadcheck_fast::{Fast, Level};
use broadcheck_reference::Reference;
use broadcheck_spec::Implementation;
use std::sync::LazyLock;

/// A built-in implementation, which can be sent between threads.
pub type Subject = dyn Implementation + Send;

/// The names of the built-in implementations, in the order of the reports.
pub const NAMES: [&str; 3] = ["reference", "fast", "ndarray"];

/// The built-in implementation of this name: one of [`NAMES`], or `fast@LEVEL` for a SIMD level that this
/// machine supports.
pub fn builtin(name: &str) -> Option<Box<Subject>> {
    match name {
        "reference" => Some(Box::new(Reference::new())),
        "fast" => Some(Box::new(Fast::new())),
        "ndarray" => Some(Box::new(Ndarray::new())),
        _ => {
            let level = name.strip_prefix("fast@")?.parse().ok()?;
            Some(Box::new(Fast::with_level(level).ok()?))
        }
    }
}

/// The fast engine at every SIMD level, by name, including levels that this machine does not support.
pub fn fast_levels() -> impl Iterator<Item = (String, Option<Box<Subject>>)> {
    Level::ALL.into_iter().map(|level| {
        let name = format!("fast@{level}");
        let subject = builtin(&name);
        (name, subject)
    })
}

/// Every built-in implementation, in the order of the reports.
pub fn all() -> Vec<Box<Subject>> {
    NAMES.iter().filter_map(|name| builtin(name)).collect()
}

/// The known failures of a built-in implementation. The reference has none: whatever it fails is a bug.
pub fn known(name: &str) -> Option<&'static Known> {
    static NDARRAY: LazyLock<Known> = LazyLock::new(|| {
        Known::parse(include_str!("ndarray.yaml"), "ndarray.yaml").expect("a shipped file is valid")
    });
    (name == "ndarray").then(|| &*NDARRAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_failures_belong_to_their_implementation() {
        for name in NAMES {
            assert!(known(name).is_none_or(|known| known.implementation == name), "{name}");
        }
        assert!(known("reference").is_none() && known("ndarray").is_some());
    }

    #[test]
    fn every_name_belongs_to_an_implementation() {
        let names: Vec<String> = all().iter().map(|subject| subject.name().to_owned()).collect();
        assert_eq!(names, NAMES);
        for name in ["fastest", "fast@", "fast@sse9", "reference@avx2"] {
            assert!(builtin(name).is_none(), "{name}");
        }
    }

    #[test]
    fn every_level_is_a_separate_implementation() {
        let names: Vec<String> = fast_levels().map(|(name, _)| name).collect();
        assert_eq!(names, ["fast@portable", "fast@avx2", "fast@avx512"]);
        for (name, subject) in fast_levels() {
            assert!(subject.is_none_or(|subject| subject.name() == name), "{name}");
        }
        assert!(builtin("fast@portable").is_some());
    }
}
