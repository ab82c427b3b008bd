//! The sign, word and colour class of each status, and the counts in a cell.

use crate::report::Entry;
use broadcheck::run::Status;

/// How a status is shown.
pub(in crate::report) struct Sign {
    pub(in crate::report) status: Status,
    /// The letter in the page's data and in the names of classes.
    pub(in crate::report) letter: char,
    pub(in crate::report) sign: char,
    pub(in crate::report) word: &'static str,
}

const fn sign(status: Status, letter: char, sign: char, word: &'static str) -> Sign {
    Sign { status, letter, sign, word }
}

/// Every status, worst first.
pub(in crate::report) const SIGNS: [Sign; 8] = [
    sign(Status::Failed, 'f', '✗', "failed"),
    sign(Status::Errored, 'e', '!', "errored"),
    sign(Status::UnexpectedPass, 'u', '?', "unexpected pass"),
    sign(Status::KnownFailure, 'k', '≈', "known to fail"),
    sign(Status::Differs, 'd', '≠', "differs from a convention"),
    sign(Status::Passed, 'p', '✓', "passed"),
    sign(Status::Agrees, 'a', '=', "agrees with a convention"),
    sign(Status::Skipped, 's', '–', "skipped"),
];

impl Sign {
    pub(in crate::report) fn of(status: Status) -> &'static Sign {
        SIGNS.iter().find(|sign| sign.status == status).expect("every status has its sign")
    }

    /// The order in a list: failures with the worst first, then all others.
    pub(in crate::report) fn urgency(status: Status) -> usize {
        let place = SIGNS.iter().position(|sign| sign.status == status && status.is_failure());
        place.unwrap_or(SIGNS.len())
    }
}

/// The number of results with each status, worst first, without zeros.
pub(in crate::report) struct Cell {
    pub(in crate::report) counts: Vec<(&'static Sign, usize)>,
}

impl Cell {
    pub(in crate::report) fn of<'a>(entries: &(impl Iterator<Item = &'a Entry> + Clone)) -> Cell {
        let count = |sign: &Sign| entries.clone().filter(|entry| entry.status == sign.status).count();
        let counts = SIGNS.iter().map(|sign| (sign, count(sign))).filter(|(_, count)| *count > 0);
        Cell { counts: counts.collect() }
    }

    /// `3 failed, 9 passed`.
    pub(in crate::report) fn words(&self) -> String {
        let words: Vec<String> =
            self.counts.iter().map(|(sign, count)| format!("{count} {}", sign.word)).collect();
        if words.is_empty() { "not judged".into() } else { words.join(", ") }
    }
}
