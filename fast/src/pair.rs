//! One call of two operands over many tiles, one of which is repeated along a short inner axis. It is a
//! single step that gathers nothing.

use crate::Level;
use crate::arch::{MAX_REPEAT, Pairing, Repeat};
use crate::program::{Work, bank_of, half};
use crate::scratch::FloatBank;
use crate::tiling::{AccessKind, Tiling};
use broadcheck_spec::{DType, Function};

/// The float bank in which a dtype is both stored and computed.
pub(crate) fn stored_bank(dtype: DType) -> Option<FloatBank> {
    if half(dtype).is_some() { None } else { FloatBank::of(bank_of(dtype)) }
}

/// The step for a call of two operands of which one has the layout of the result and the other is repeated
/// along a short inner axis. If stores are non-temporal, the other may also have the layout of the result, or
/// be a single value. `dtype` is the dtype of both.
pub(crate) fn pair(function: Function, dtype: DType, tiling: &Tiling, non_temporal: bool) -> Option<Work> {
    let (whole, part) = match (tiling.accesses.first()?.kind, tiling.accesses.get(1)?.kind) {
        (AccessKind::Direct, _) => (0, 1),
        (_, AccessKind::Direct) => (1, 0),
        _ => return None,
    };
    let repeat = match *tiling.pattern(part as usize) {
        [(_, 1)] if non_temporal => Repeat::Each(1),
        [(_, 0)] if non_temporal => Repeat::All(1),
        [(_, 1), (times @ 2..=MAX_REPEAT, 0)] => Repeat::Each(times),
        [(_, 0), (period @ 2..=MAX_REPEAT, 1)] => Repeat::All(period),
        _ => return None,
    };
    let pairing = Pairing::of(function, part)?;
    Some(Work::Pair { pairing, bank: stored_bank(dtype)?, whole, part, repeat })
}

/// Whether [`pair`] is the fastest way at a level: it is with permutations, which non-temporal stores also
/// need.
pub(crate) fn is_fastest(work: &Work, level: Level, non_temporal: bool) -> bool {
    // mutant: replace && with ||: costs time only; a function of two goes through registers
    level == Level::Avx512 || !non_temporal && matches!(work, Work::Pair { repeat: Repeat::Each(_), .. })
}
