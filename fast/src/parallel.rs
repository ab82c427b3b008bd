//! Threads: ranges of tiles are shared out if the predicted time is long enough. The result's bits do not
//! depend on the number of threads. Elements are computed as by one thread, and sums are split into parts
//! that depend only on the work.

use crate::arch::ChainOp;
use crate::buffers::{Output, Stored};
use crate::execute::Run;
use crate::program::{Target, Work};
use crate::scratch::Scratch;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::{AddAssign, Range};

/// The predicted time, in nanoseconds, from which threads share the work. Each gets at least half of it.
const NANOSECONDS: usize = 200_000;

/// The number of parts of a long sum, whatever the number of threads.
const PARTS: usize = 8;

/// The elements of the largest gradient that is summed in parts. Each part needs a copy of it, of at most 512
/// KiB.
const LARGEST_IN_PARTS: usize = 1 << 16;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs tiles on this thread.
pub(crate) fn run_here(run: &Run<'_>, tiles: Range<usize>, output: Output<'_>) {
    SCRATCH.with_borrow_mut(|scratch| run.tiles(tiles, scratch, output));
}

/// Computes all tiles into a result.
pub(crate) fn result(run: &Run<'_>, output: Output<'_>) {
    let (tiles, predicted) = (run.tiling.tiles, predicted(run));
    if predicted < NANOSECONDS || rayon::current_num_threads() == 1 {
        return run_here(run, 0..tiles, output);
    }
    let pieces = (2 * predicted / NANOSECONDS).min(4 * rayon::current_num_threads());
    share(run, 0..tiles, tiles.div_ceil(pieces).max(1), output);
}

/// Computes a result of `rows` rows of `width` elements by a function of a range of rows and their part of
/// the result. Threads share them in multiples of `grain` rows if that pays off, at half a nanosecond per
/// element.
pub(crate) fn by_rows(
    (rows, width): (usize, usize),
    grain: usize,
    output: Output<'_>,
    body: &(impl Fn(Range<usize>, Output<'_>) + Sync),
) {
    fn split(
        rows: Range<usize>,
        width: usize,
        grain: usize,
        output: Output<'_>,
        body: &(impl Fn(Range<usize>, Output<'_>) + Sync),
    ) {
        if rows.len() <= grain {
            return body(rows, output);
        }
        let half = (rows.len() / 2).next_multiple_of(grain).min(rows.len() - 1);
        let (low, high) = output.split(half * width);
        let middle = rows.start + half;
        rayon::join(
            || split(rows.start..middle, width, grain, low, body),
            || split(middle..rows.end, width, grain, high, body),
        );
    }
    let (predicted, threads) = (rows.saturating_mul(width) / 2, rayon::current_num_threads());
    if predicted < NANOSECONDS || threads == 1 {
        return body(0..rows, output);
    }
    let pieces = (2 * predicted / NANOSECONDS).min(4 * threads);
    split(0..rows, width, rows.div_ceil(pieces).next_multiple_of(grain), output, body);
}

/// Splits a range of tiles, and the result with it, until the pieces have at most `grain` tiles.
fn share(run: &Run<'_>, tiles: Range<usize>, grain: usize, output: Output<'_>) {
    let middle = run.tiling.split_point(tiles.start + tiles.len() / 2);
    if tiles.len() <= grain || middle == tiles.start {
        return run_here(run, tiles, output);
    }
    let (low, high) = output.split(run.tiling.start(middle) - run.tiling.start(tiles.start));
    rayon::join(
        || share(run, tiles.start..middle, grain, low),
        || share(run, middle..tiles.end, grain, high),
    );
}

/// Adds all tiles to a gradient.
pub(crate) fn gradient(run: &Run<'_>, output: Output<'_>) {
    let long = predicted(run) >= NANOSECONDS && run.tiling.tiles >= PARTS;
    match output {
        Output::F64(sums) if long && sums.len() <= LARGEST_IN_PARTS => parts(run, sums),
        Output::F32(sums) if long && sums.len() <= LARGEST_IN_PARTS => parts(run, sums),
        output if long && rayon::current_num_threads() > 1 => regions(run, output),
        output => run_here(run, 0..run.tiling.tiles, output),
    }
}

/// A large gradient. Each thread has a region of it, and runs the tiles that are added there in order.
fn regions(run: &Run<'_>, output: Output<'_>) {
    let target = run.tiling.accesses.len() - 1;
    let Some((at, step)) = run.tiling.mover(target) else {
        return run_here(run, 0..run.tiling.tiles, output);
    };
    let rounds = run.tiling.loops[at];
    let pieces = rounds.min(4 * rayon::current_num_threads());
    let (mut regions, mut rest, mut begun) = (Vec::with_capacity(pieces), output, 0);
    for piece in 1..=pieces {
        let end = piece * rounds / pieces;
        let (region, others) = rest.split(if piece == pieces { usize::MAX } else { (end - begun) * step });
        regions.push((begun..end, region));
        (begun, rest) = (end, others);
    }
    regions.into_par_iter().for_each(|(rounds, region)| {
        let mut tiling = run.tiling.part(at, rounds);
        tiling.accesses[target].offset = 0;
        let tiles = tiling.tiles;
        run_here(&Run { tiling: &tiling, ..*run }, 0..tiles, region);
    });
}

/// Computes a sum for each of [`PARTS`] ranges of tiles and adds the sums in order.
fn parts<T>(run: &Run<'_>, sums: &mut [T])
where
    T: Stored + AddAssign,
    for<'a> Output<'a>: From<&'a mut [T]>,
{
    let (tiles, count) = (run.tiling.tiles, sums.len());
    let bound = |part: usize| part * tiles / PARTS;
    let part = |which: usize| {
        let mut part = vec![T::default(); count];
        run_here(run, bound(which)..bound(which + 1), Output::from(&mut part[..]));
        part
    };
    // A single thread does not use the pool: waking it takes longer than some of these sums.
    let all: Vec<Vec<T>> = match rayon::current_num_threads() {
        1 => (0..PARTS).map(part).collect(),
        _ => (0..PARTS).into_par_iter().map(part).collect(),
    };
    for part in all {
        for (sum, value) in sums.iter_mut().zip(part) {
            *sum += value;
        }
    }
}

/// An upper bound of [`predicted`].
fn most(elements: usize, steps: usize, links: usize) -> usize {
    elements.saturating_mul(4 * steps + 2 * links) / 4
}

/// Whether a program of so many steps and links of chains is computed by one thread, whatever they are.
pub(crate) fn is_short(elements: usize, steps: usize, links: usize) -> bool {
    most(elements, steps, links) < NANOSECONDS
}

/// An estimate of a program's time on one thread, in nanoseconds. Per element, a step takes a quarter of a
/// nanosecond, a function of `math` one, and in a chain exp nearly half of one and tanh nearly two thirds. If
/// even the upper bound is short, it is the estimate.
fn predicted(run: &Run<'_>) -> usize {
    let elements = run.tiling.tiles.saturating_mul(run.tiling.full);
    let (steps, links) = (&run.program.steps, &run.program.links);
    let most = most(elements, steps.len(), links.len());
    if most < NANOSECONDS {
        return most;
    }
    let quarters = |work: &Work| match work {
        Work::MathF64 { .. } | Work::MathF32 { .. } => 4,
        _ => 1,
    };
    // mutant: replace && with ||: costs time only; decides from which size threads share the work
    let steps = steps.iter().filter(|step| !step.stationary && !matches!(step.target, Target::Scalar(_)));
    let of_function = |op: ChainOp| if op == ChainOp::Tanh { 2 } else { usize::from(op.is_function()) };
    let functions = links.iter().map(|&(op, _)| of_function(op)).sum::<usize>();
    let cost = steps.map(|step| quarters(&step.work)).sum::<usize>() + links.len() / 2 + functions;
    elements.saturating_mul(cost) / 4
}
