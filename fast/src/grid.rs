//! A function of two operands over many short rows: how the tiles are cut, and how each operand lies in them. Nothing is
//! gathered, whatever the pattern of the outer axes.

use crate::arch::{GRID_LINE, Pairing};
use crate::program::Work;
use crate::scratch::BankOf;
use crate::tiling::Axes;
use broadcheck_spec::{DType, Function};

/// From so many elements on a row is long enough for a chain.
const LONG: usize = 64;

/// How an operand lies under a tile of blocks of rows: what a block and what a row add to its position, and whether a row
/// has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lay {
    pub(crate) steps: [u32; 2],
    pub(crate) scalar: bool,
}

/// The step of a function over rows, and the elements of a tile.
pub(crate) fn grid(function: Function, dtype: DType, axes: &Axes, widest: usize) -> Option<(Work, usize)> {
    // mutant: replace grid -> Option<(Work, usize)> with None: costs time only; a chain takes the rows
    let (bank, bytes) = match dtype {
        DType::F64 => (BankOf::F64, 8),
        DType::F32 => (BankOf::F32, 4),
        _ => return None,
    };
    let ((width, within), (length, along)) = (axes.axis(0)?, axes.axis(1)?);
    if !(GRID_LINE / bytes..LONG).contains(&width) {
        return None;
    }
    let (whole, part) = match *within {
        [1, 0 | 1] => (0, 1),
        [0, 1] => (1, 0),
        _ => return None,
    };
    let pairing = Pairing::of(function, part)?;
    // Blocks of all rows of an axis, where they are not too long; otherwise one block of some of them.
    let blocks = (widest / width / length).min(axes.axis(2).map_or(1, |(blocks, _)| blocks));
    let across = if blocks > 1 { axes.axis(2).map(|(_, steps)| steps) } else { None };
    let lay = |operand: u32| {
        let at = operand as usize;
        let block = across.map_or(Some(0), |steps| u32::try_from(steps[at]).ok())?;
        Some(Lay { steps: [block, u32::try_from(along[at]).ok()?], scalar: within[at] == 0 })
    };
    let lays = [lay(whole)?, lay(part)?];
    let rows = if blocks == 0 { 0 } else { u32::try_from(length).ok()? };
    let work = Work::Grid { pairing, bank, whole, part, lays, rows, width: u32::try_from(width).ok()? };
    // mutant: replace * with +: costs time only; decides how much goes into a tile
    Some((work, if blocks == 0 { widest } else { width * length * blocks }))
}
