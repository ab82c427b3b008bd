//! The arguments of a step that runs by itself, without the loops over tiles and steps: operands, and numbers
//! of the program, such as the derivative 1.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::{Argument, ChainOp, Link, Repeat};
use crate::buffers::{Input, Stored};
use crate::fold::Place;
use crate::inline_capacity::LINKS;
use crate::program::{Source, Step, Target, Work};
use crate::scratch::Float;
use crate::tiling::Tiling;
use smallvec::SmallVec;

/// Numbers of a step that needs no allocation.
const NUMBERS: usize = 2;

/// The numbers among the arguments of a step.
pub(crate) type Numbers = SmallVec<[f64; NUMBERS]>;

/// The links of a chain with the places of their arguments.
pub(crate) type GivenLinks = SmallVec<[(ChainOp, Given); LINKS]>;

/// An argument: an operand, or one of the numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given {
    Operand(Place),
    Number(usize),
}

/// Finds the arguments of the last step of a program over one tile.
pub(crate) struct Find<'a> {
    /// The steps before it, all of which are numbers.
    steps: &'a [Step],
    /// The numbers that have been found.
    pub(crate) numbers: Numbers,
    tiling: &'a Tiling,
    /// The operands of the accesses.
    used: &'a [u32],
    /// The rows of the tile and their width.
    rows: (usize, usize),
}

impl<'a> Find<'a> {
    /// `None` if one of the steps before the last one is not a number.
    pub(crate) fn new(
        steps: &'a [Step],
        tiling: &'a Tiling,
        used: &'a [u32],
        rows: (usize, usize),
    ) -> Option<Find<'a>> {
        let are_numbers = steps.iter().all(|step| matches!(step.work, Work::Constant { .. }));
        are_numbers.then(|| Find { steps, numbers: Numbers::new(), tiling, used, rows })
    }

    /// The arguments of some links.
    pub(crate) fn links(&mut self, links: &[(ChainOp, Option<Source>)]) -> Option<GivenLinks> {
        let mut found = GivenLinks::new();
        for &(op, source) in links {
            let given = match source {
                Some(source) => self.given(source)?,
                None => Given::Operand(Place::NONE),
            };
            found.push((op, given));
        }
        Some(found)
    }

    /// Each of some arguments.
    pub(crate) fn each<const N: usize>(&mut self, sources: [Source; N]) -> Option<[Given; N]> {
        let mut found = [Given::Number(0); N];
        for (found, source) in found.iter_mut().zip(sources) {
            *found = self.given(source)?;
        }
        Some(found)
    }

    /// One argument.
    pub(crate) fn given(&mut self, source: Source) -> Option<Given> {
        let Source::Scalar(register) = source else { return self.operand(source).map(Given::Operand) };
        let is_source = |step: &&Step| step.target == Target::Scalar(register);
        let Work::Constant { bits, .. } = self.steps.iter().find(is_source)?.work else { return None };
        self.numbers.push(f64::from_bits(bits));
        Some(Given::Number(self.numbers.len() - 1))
    }

    /// One argument that is an operand.
    pub(crate) fn operand(&self, source: Source) -> Option<Place> {
        let (access, scalar, step) = match source {
            Source::Operand { access, scalar } => (access, scalar, if scalar { 0 } else { self.rows.1 }),
            Source::Rows { access, scalar } => {
                (access, scalar, usize::try_from(self.tiling.pattern(access as usize)[0].1).ok()?)
            }
            Source::Vector(_) | Source::Panel(_) | Source::Scalar(_) => return None,
        };
        let offset = self.tiling.accesses[access as usize].offset;
        Some(Place::new(self.used[access as usize], offset, scalar, step, self.rows))
    }

    /// The values of an operand that is repeated.
    pub(crate) fn repeated(&self, access: u32, repeat: Repeat) -> Place {
        let (rows, width) = self.rows;
        let offset = self.tiling.accesses[access as usize].offset;
        Place::new(self.used[access as usize], offset, false, 0, (1, repeat.values(rows * width)))
    }
}

/// The arguments at a run.
pub(crate) struct RunArguments<'a, T> {
    numbers: SmallVec<[T; NUMBERS]>,
    inputs: &'a [Input<'a>],
}

impl<'a, T: Float> RunArguments<'a, T> {
    #[inline(always)]
    pub(crate) fn new(numbers: &[f64], inputs: &'a [Input<'a>]) -> RunArguments<'a, T> {
        let mut rounded = SmallVec::new();
        for &number in numbers {
            rounded.push(T::of_number(number));
        }
        RunArguments { numbers: rounded, inputs }
    }

    /// The argument at a place.
    #[inline(always)]
    pub(crate) fn get(&self, given: &Given) -> Argument<'_, T> {
        match given {
            Given::Operand(place) => self.operand(place),
            &Given::Number(at) => Argument { values: &self.numbers[at..=at], step: 0, scalar: true },
        }
    }

    /// The arguments at some places. They are read and written where they are: a processor waits for what was
    /// just stored if it is loaded in other pieces.
    #[inline(always)]
    pub(crate) fn each<const N: usize>(&self, given: &[Given; N]) -> [Argument<'_, T>; N] {
        let mut found = [Argument { values: &[][..], step: 0, scalar: true }; N];
        for (found, given) in found.iter_mut().zip(given) {
            let Argument { values, step, scalar } = self.get(given);
            (found.values, found.step, found.scalar) = (values, step, scalar);
        }
        found
    }

    /// An operand of any type.
    #[inline(always)]
    pub(crate) fn operand<U: Stored>(&self, place: &Place) -> Argument<'a, U> {
        Argument { values: place.values(self.inputs), step: place.step, scalar: place.scalar }
    }

    /// A link of a chain with its argument.
    #[inline(always)]
    pub(crate) fn link(&self, op: ChainOp, given: &Given) -> Link<'_, T> {
        let Argument { values, step, scalar } = self.get(given);
        Link { op, values, step, scalar }
    }
}
