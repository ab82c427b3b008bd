//! Each fault of how operands are given is caught by its mode and by no unrelated one, in cases that it
//! passes as they are written: nearly all of them.

use broadcheck::given::{Mode, run_given};
use broadcheck::run::run_case;
use broadcheck_faults::{Faulty, GIVEN_FAULTS};
use broadcheck_spec::{Case, Suite};
use std::sync::LazyLock;

static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().expect("the suite is well-formed"));

fn cases() -> Vec<&'static Case> {
    SUITE.cases.iter().collect()
}

/// The first case that fails in a mode.
fn caught(engine: impl Fn() -> Faulty, mode: Mode) -> Option<String> {
    let passed = |case: &&Case| !run_case(&engine(), case, None).status.is_failure();
    let cases: Vec<&Case> = cases().into_iter().filter(passed).collect();
    // Each case is asked alone, because an engine may remember the one before.
    cases.into_iter().find_map(|case| {
        let judged = run_given(&engine(), &[case], None, &[mode]).pop()?;
        judged.status.is_failure().then(|| format!("{}: {}", case.id, judged.detail))
    })
}

#[test]
fn the_sound_engine_passes_every_mode() {
    for mode in Mode::ALL {
        assert_eq!(caught(Faulty::sound, mode), None, "{mode}");
    }
}

#[test]
fn each_fault_is_caught_by_its_mode_alone() {
    for given in GIVEN_FAULTS {
        let id = given.fault.id;
        for mode in Mode::ALL {
            let found = caught(|| Faulty::new(&given.fault), mode);
            // One array that is given twice has equal values, too. An engine that remembers a call meets
            // one in every mode, because the ways of a mode follow each other.
            let may = given.mode == Mode::Again || mode == Mode::Same && given.mode == Mode::Values;
            let as_expected = if mode == given.mode { found.is_some() } else { may || found.is_none() };
            assert!(as_expected, "{id} in the mode {mode}: {found:?}");
        }
    }
}

/// Few cases have equal scalars, and none gives an array twice, a constant, or another shape before.
#[test]
fn hardly_a_case_as_it_is_written_catches_them() {
    for given in GIVEN_FAULTS {
        let fails = |case: &&Case| run_case(&Faulty::new(&given.fault), case, None).status.is_failure();
        let found: Vec<&str> = SUITE.cases.iter().filter(fails).map(|case| case.id.as_str()).collect();
        let most = if given.mode == Mode::Values { 3 } else { 0 };
        assert!(found.len() <= most, "{}: {found:?}", given.fault.id);
    }
}

#[test]
fn every_mode_has_a_fault() {
    for mode in Mode::ALL {
        assert!(GIVEN_FAULTS.iter().any(|given| given.mode == mode), "{mode}");
    }
}
