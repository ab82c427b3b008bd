//! The last sweep that was expanded. The tests of a sweep for the engines of one library follow each other,
//! and making its cases takes longer than some of these tests.

use crate::sweeps::{Expansion, Part, expand_part, is_in_its_dtype};
use broadcheck_spec::{Capabilities, Sweep};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An expansion, or why there is none.
type Expanded = Result<Expansion, String>;

/// The expansion of one sweep.
#[derive(Default)]
pub(super) struct LastExpansion(Mutex<Option<Last>>);

struct Last {
    id: String,
    /// What it is expanded for; `None` if it is the same for every implementation.
    capabilities: Option<Capabilities>,
    expanded: Arc<Expanded>,
}

impl LastExpansion {
    /// A part of a sweep, expanded for an implementation with these capabilities. The part is the same in
    /// each call for the same sweep.
    pub(super) fn expand(&self, sweep: &Sweep, capabilities: &Capabilities, part: Part) -> Arc<Expanded> {
        let by = is_in_its_dtype(sweep).then(|| capabilities.clone());
        // An expansion may take much memory, so another one is dropped before this one is made.
        let last = self.lock().take().filter(|last| last.id == sweep.id && last.capabilities == by);
        let expanded = match last {
            Some(last) => last.expanded,
            None => Arc::new(expand_part(sweep, capabilities, part)),
        };
        let last = Last { id: sweep.id.clone(), capabilities: by, expanded: Arc::clone(&expanded) };
        *self.lock() = Some(last);
        expanded
    }

    fn lock(&self) -> MutexGuard<'_, Option<Last>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
