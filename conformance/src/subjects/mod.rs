//! The implementations that come with the product: what `--impl NAME` finds.

mod ndarray;

pub use self::ndarray::Ndarray;
use crate::known::Known;
use broadcheck_reference::Reference;
use broadcheck_spec::Implementation;
use std::sync::LazyLock;

/// A built-in implementation: it may go from thread to thread.
pub type Subject = dyn Implementation + Send;

/// The names of the built-in implementations, in the order of the reports.
pub const NAMES: [&str; 2] = ["reference", "ndarray"];

/// The built-in implementation of this name.
pub fn builtin(name: &str) -> Option<Box<Subject>> {
    match name {
        "reference" => Some(Box::new(Reference::new())),
        "ndarray" => Some(Box::new(Ndarray::new())),
        _ => None,
    }
}

/// Every built-in implementation, in the order of the reports.
pub fn all() -> Vec<Box<Subject>> {
    NAMES.iter().filter_map(|name| builtin(name)).collect()
}

/// What a built-in implementation is known to fail. The reference has no such file: what it fails is wrong.
pub fn known(name: &str) -> Option<&'static Known> {
    static NDARRAY: LazyLock<Known> = LazyLock::new(|| {
        Known::parse(include_str!("../../known/ndarray.yaml")).expect("a shipped file is valid")
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
    fn every_name_is_an_implementation_of_that_name() {
        let names: Vec<String> = all().iter().map(|subject| subject.name().to_owned()).collect();
        assert_eq!(names, NAMES);
        assert!(builtin("fastest").is_none());
    }
}
