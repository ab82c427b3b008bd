//! Checks that an optimiser is in the position that `start` asks for.

use super::start::Declared;
use broadcheck::optimiser::Optimiser;

/// Checks that the answer to `start` has the position that was asked for.
pub(super) fn check(asked: Option<Optimiser>, declared: &Declared) -> Result<(), String> {
    let Some(asked) = asked else { return Ok(()) };
    match declared.optimiser {
        Some(found) if found == asked => Ok(()),
        Some(found) => Err(format!("found the optimiser {found} in the answer to `start`, expected {asked}")),
        None => Err(format!(
            "it declares no optimiser, expected \"optimiser\":\"{asked}\" in the answer to `start`, from a system that \
             has a switch for it"
        )),
    }
}
