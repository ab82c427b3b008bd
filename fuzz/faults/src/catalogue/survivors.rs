//! The faults that are not caught, and why. They stay in the catalogue: they are what the suite or the
//! generator misses.

/// What does not catch a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// No case and no sweep of the suite catches it.
    Suite,
    /// The generator does not catch it within the limit.
    Generator,
}

/// A fault that is not caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// The id of the fault.
    pub id: &'static str,
    /// What does not catch it.
    pub escapes: Escape,
    /// Why.
    pub reason: &'static str,
}

/// Every fault that is not caught.
pub static SURVIVORS: &[Survivor] = &[];
