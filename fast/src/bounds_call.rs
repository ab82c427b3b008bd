//! A value against two bounds over rows, each of whose bounds is one value: a clip of integers, or a range
//! check. Everything but the addresses of the buffers is decided when it is planned, so a run is one call of
//! a kernel.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::{Argument, CallKernel};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_call;
use crate::fold::{Place, place_of, rows_of};
use crate::parallel::is_short;
use crate::program::{Program, Step, Target, Work};
use crate::scratch::{BankCall, Lane};
use crate::tiling::Tiling;

/// The calls of a value against two bounds.
const CALLS: usize = 3;

/// A value against two bounds.
#[derive(Debug)]
pub(crate) struct BoundsCall {
    kernel: BankCall,
    rows: usize,
    /// The value and the bounds.
    arguments: [Place; 3],
}

impl BoundsCall {
    /// The call that a program is over a tiling, if it is one and is too short for several threads. `used`
    /// are the operands of the accesses.
    pub(crate) fn of_program(program: &Program, tiling: &Tiling, used: &[u32]) -> Option<BoundsCall> {
        let [Step { work: Work::Bounded { kernel, arguments }, target: Target::Output, .. }] =
            program.steps[..]
        else {
            return None;
        };
        if !is_short(tiling.tiles.checked_mul(tiling.full)?, CALLS, 0) {
            return None;
        }
        let shape = rows_of(tiling)?;
        let mut places = [Place::NONE; 3];
        for (place, source) in places.iter_mut().zip(arguments) {
            *place = place_of(source, tiling, used, shape)?;
        }
        Some(BoundsCall { kernel, rows: shape.0, arguments: places })
    }

    /// Computes the call.
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_call!(self.kernel, kernel => self.compute(kernel, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Lane>(&self, kernel: CallKernel<T>, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let argument = |place: &Place| {
            let &Place { step, scalar, .. } = place;
            Argument { values: place.values::<T>(inputs), step, scalar }
        };
        let [x, a, b] = &self.arguments;
        let (x, a, b) = (argument(x), argument(a), argument(b));
        match kernel {
            CallKernel::Clip(kernel) => kernel.run(&x, [&a, &b], self.rows, T::output(output)),
            CallKernel::Check(kernel) => kernel.run(&x, [&a, &b], self.rows, bool::output(output)),
            CallKernel::Unary(_)
            | CallKernel::Binary(_)
            | CallKernel::Comparison(_)
            | CallKernel::Select(_)
            | CallKernel::Condition(_) => unreachable!("this is not a value against bounds"),
        }
    }
}
