//! A binary function over many short rows: how the result is cut into tiles, and the layout of each operand
//! within them. Nothing is gathered, whatever the pattern of the outer axes.

use crate::Level;
use crate::arch::{CACHE_LINE, Pairing};
use crate::pair::stored_bank;
use crate::program::Work;
use crate::rows::are_ragged;
use crate::scratch::FloatBank;
use crate::tiling::Axes;
use broadcheck_spec::{DType, Function};

/// Rows of at least this many elements are long enough for a chain.
const LONG_ROW: usize = 64;

/// The layout of an operand under a tile of blocks of rows: what each block and each row adds to its
/// position, and whether a row has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLayout {
    pub(crate) steps: [u32; 2],
    pub(crate) scalar: bool,
}

/// The step for a function over rows, and the number of elements of a tile.
pub(crate) fn grid(
    function: Function,
    (dtype, level): (DType, Level),
    axes: &Axes,
    widest: usize,
) -> Option<(Work, usize)> {
    // mutant: replace grid -> Option<(Work, usize)> with None: costs time only; a chain takes the rows
    let bank = stored_bank(dtype)?;
    let bytes = match bank {
        FloatBank::F64 => 8,
        FloatBank::F32 => 4,
    };
    let ((width, within), (length, along)) = (axes.axis(0)?, axes.axis(1)?);
    if !(CACHE_LINE / bytes..LONG_ROW).contains(&width) || are_ragged(axes, function, bytes, level) {
        return None;
    }
    let (whole, part) = match *within {
        [1, 0 | 1] => (0, 1),
        [0, 1] => (1, 0),
        _ => return None,
    };
    let pairing = Pairing::of(function, part)?;
    // Blocks of all rows of an axis if they are short enough, otherwise one block of some of its rows.
    let blocks = (widest / width / length).min(axes.axis(2).map_or(1, |(blocks, _)| blocks));
    let across = if blocks > 1 { axes.axis(2).map(|(_, steps)| steps) } else { None };
    let layout = |operand: u32| {
        let at = operand as usize;
        let block = across.map_or(Some(0), |steps| u32::try_from(steps[at]).ok())?;
        Some(RowLayout { steps: [block, u32::try_from(along[at]).ok()?], scalar: within[at] == 0 })
    };
    let layouts = [layout(whole)?, layout(part)?];
    let rows = if blocks == 0 { 0 } else { u32::try_from(length).ok()? };
    let width_u32 = u32::try_from(width).ok()?;
    let work = Work::Grid { pairing, bank, whole, part, layouts, rows, width: width_u32 };
    // mutant: replace * with +: costs time only; decides how much goes into a tile
    Some((work, if blocks == 0 { widest } else { width * length * blocks }))
}
