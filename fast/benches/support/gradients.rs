//! Gradients of common functions beside loops that are written for them ([`slopes`]): by each operand, which
//! is stretched over rows, over columns, over both or not at all.

use super::At;
use super::data::{Aligned, Arrays, Job, Real, call, x};
use super::elements::{Element, values};
use super::kernels::Exp;
use super::race::{Competitor, Rounds, race};
use super::slopes::{self, Loop, Place, Slope, Stored};
use broadcheck_fast::{Input, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use std::marker::PhantomData;

/// How the operand is stretched to a square matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// It is a row.
    Rows,
    /// It is a column.
    Columns,
    /// It is a single value.
    Both,
    /// It is the matrix, beside a row.
    Nothing,
}

impl Stretch {
    const ALL: [Stretch; 4] = [Stretch::Rows, Stretch::Columns, Stretch::Both, Stretch::Nothing];

    fn shape(self, side: usize) -> Vec<usize> {
        match self {
            Stretch::Rows => vec![side],
            Stretch::Columns => vec![side, 1],
            Stretch::Both => vec![1],
            Stretch::Nothing => vec![side, side],
        }
    }

    /// The shape of the other operand.
    fn beside(self, side: usize) -> Vec<usize> {
        match self {
            Stretch::Rows | Stretch::Columns | Stretch::Both => vec![side, side],
            Stretch::Nothing => vec![side],
        }
    }
}

/// What an operand is stretched over, in the order of [`Shares`].
pub(crate) const OVER: [&str; 4] = ["rows", "columns", "both", "nothing"];

/// How the engine compares with a loop by hand in one gradient.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    /// The share of the loop's rate that the engine reaches.
    pub(crate) rate: f64,
    /// The engine's time for an element of the result.
    pub(crate) nanoseconds: f64,
}

/// The shares in one gradient, for each way of [`Stretch::ALL`] in which the operand can be stretched.
pub(crate) struct Shares {
    pub(crate) gradient: &'static str,
    pub(crate) dtype: &'static str,
    /// The rows and columns of the result.
    pub(crate) side: usize,
    pub(crate) shares: [Option<Share>; 4],
}

/// Gradients of common functions, each with a cotangent of the result's shape.
pub(crate) struct Gradients {
    at: At,
    side: usize,
    rounds: Rounds,
    pub(crate) measured: Vec<Shares>,
}

impl Gradients {
    pub(crate) fn new(at: At, side: usize, rounds: Rounds) -> Gradients {
        Gradients { at, side, rounds, measured: Vec::new() }
    }

    /// The engine beside a loop by hand in a gradient by operand `wrt`. The last of the inputs is the
    /// cotangent.
    fn share<T: Real>(
        &self,
        (shapes, inputs): (&[&[usize]], Vec<Input<'_>>),
        (expression, wrt): (&Expression, usize),
        by_hand: impl Fn(&mut [T]),
    ) -> Share {
        let operand = |name: &str, shape: &[usize], input: &Input<'_>| {
            let count = shape.iter().product();
            let is_bool = matches!(input, Input::Bool(_));
            let data = if is_bool { vec![false; count].into() } else { T::data(vec![T::default(); count]) };
            Operand::dense(name, shape, data).unwrap()
        };
        let cotangent = Box::new(operand("w", &[self.side, self.side], &inputs[shapes.len()]));
        let operation = Operation::Vjp { expression: expression.clone(), wrt, target_shape: None, cotangent };
        let names = ["x0", "x1", "x2", "x3", "x4"].iter().zip(shapes).zip(&inputs);
        let operands = names.map(|((name, shape), input)| operand(name, shape, input)).collect();
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        let job = Job::new(Plan::with_level(&request, self.at.level()).unwrap(), inputs);
        let mut out = Aligned::<T>::zeros(job.count());
        let mut own = Aligned::<T>::zeros(job.count());
        job.run(&mut out);
        by_hand(&mut own);
        for (out, own) in out.iter().zip(&*own) {
            // Terms of both signs may cancel.
            let (error, rest) = (*out - *own, T::of(1e-6 * self.side as f64));
            assert!(error * error <= T::of(1e-6) * *own * *own + rest * rest, "{out:?} is not {own:?}");
        }
        let mut competitors: [Competitor<'_, [T]>; 2] = [&mut |out| job.run(out), &mut |out| by_hand(out)];
        let race = race(self.rounds, &mut *out, &mut competitors);
        let count = (self.side * self.side) as f64;
        Share { rate: race.ratio(1, 0), nanoseconds: race.seconds(0) * 1e9 / count }
    }

    /// A function of two operands, by one of them. If it is stretched, the other one has the shape of the
    /// result; otherwise the other one is a row.
    pub(crate) fn two<T: Exp, S: Slope>(&mut self, name: &'static str, expression: &Expression, wrt: usize) {
        let (side, at) = (self.side, self.at);
        let whole = [side, side];
        let shares = Stretch::ALL.map(|stretch| {
            let own = stretch.shape(side);
            let other = stretch.beside(side);
            let shapes = if wrt == 0 { [&own[..], &other] } else { [&other, &own[..]] };
            let arrays = Arrays::<T>::of(&[shapes[0], shapes[1], &whole]);
            let place = |array: usize, step| Place { values: &arrays.0[array], step };
            if stretch == Stretch::Nothing {
                let operands = [place(2, side), place(wrt, side), place(1 - wrt, 0), place(wrt, 0)];
                return self.share::<T>((&shapes, arrays.inputs()), (expression, wrt), |out| {
                    at.run_vectors(out, &Stored(rows_of::<T, S, 0b0111, false>(operands, side, false)));
                });
            }
            let others = place(1 - wrt, side);
            let operands = [place(2, side), place(wrt, 0), others, place(wrt, 0)];
            let by_row = stretch == Stretch::Columns;
            self.share::<T>((&shapes, arrays.inputs()), (expression, wrt), |out| {
                if stretch == Stretch::Rows {
                    at.run_vectors(out, &rows_of::<T, S, 0b0111, true>(operands, side, false));
                } else {
                    let column = [
                        operands[0],
                        Place { step: usize::from(by_row), ..operands[1] },
                        others,
                        operands[3],
                    ];
                    at.run_vectors(out, &rows_of::<T, S, 0b0101, false>(column, side, by_row));
                }
            })
        });
        self.row::<T>(name, shares.map(Some));
    }

    /// (x-m)*r*g+b by x, by one of its columns m and r, or by its rows g and b.
    fn layer_norm<T: Exp>(&mut self) {
        let (side, at) = (self.side, self.at);
        let shapes: [&[usize]; 5] = [&[side, side], &[side, 1], &[side, 1], &[side], &[side]];
        let arrays = Arrays::<T>::of(&[shapes[0], shapes[1], shapes[2], shapes[3], shapes[4], &[side, side]]);
        let place = |array: usize, step| Place { values: &arrays.0[array], step };
        let [x, m, r] = [place(0, side), place(1, 1), place(2, 1)];
        let [g, b, w] = [place(3, 0), place(4, 0), place(5, side)];
        let centred = call(Function::Subtract, [self::x(0), self::x(1)]);
        let scaled = call(Function::Multiply, [centred, self::x(2)]);
        let scaled = call(Function::Multiply, [scaled, self::x(3)]);
        let whole = call(Function::Add, [scaled, self::x(4)]);
        let share = |wrt, by_hand: &dyn Fn(&mut [T])| {
            Some(self.share::<T>((&shapes, arrays.inputs()), (&whole, wrt), by_hand))
        };
        let normed = share(0, &|out| {
            at.run_vectors(
                out,
                &Stored(rows_of::<T, slopes::OfNormed, 0b1001, false>([w, m, r, g], side, true)),
            );
        });
        let mean = share(1, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfMean, 0b1001, false>([w, m, r, g], side, true));
        });
        let scale = share(2, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfScale, 0b1101, false>([w, m, x, g], side, true));
        });
        let gain = share(3, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfGain, 0b0101, true>([w, m, x, r], side, false));
        });
        let bias = share(4, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfSum, 0b0001, true>([w, m, r, b], side, false));
        });
        self.row::<T>("(x-m)\\*r\\*g+b by x", [None, None, None, normed]);
        self.row::<T>("(x-m)\\*r\\*g+b by m", [None, mean, None, None]);
        self.row::<T>("(x-m)\\*r\\*g+b by r", [None, scale, None, None]);
        self.row::<T>("(x-m)\\*r\\*g+b by g", [gain, None, None, None]);
        self.row::<T>("(x-m)\\*r\\*g+b by b", [bias, None, None, None]);
    }

    /// select(c,x,y) by x or y.
    fn select<T: Exp + Element>(&mut self, wrt: usize) {
        let (side, at) = (self.side, self.at);
        let whole = [side, side];
        let conditions = values::<bool>(side * side, 3);
        let expression = call(Function::Select, [x(0), x(1), x(2)]);
        let shares = Stretch::ALL.map(|stretch| {
            let own = stretch.shape(side);
            let other = stretch.beside(side);
            let shapes = if wrt == 1 { [&whole[..], &own, &other] } else { [&whole[..], &other, &own] };
            let arrays = Arrays::<T>::of(&[shapes[1], shapes[2], &whole]);
            let inputs = [bool::input(&conditions)].into_iter().chain(arrays.inputs()).collect();
            let (taken, w) = (wrt == 1, &*arrays.0[2]);
            self.share::<T>((&shapes, inputs), (&expression, wrt), |out| {
                at.run(
                    out,
                    #[inline(always)]
                    |out| match stretch {
                        Stretch::Nothing => slopes::of_whole_select(taken, (&conditions, w), out),
                        _ => slopes::of_select(stretch == Stretch::Rows, taken, (&conditions, w), side, out),
                    },
                );
            })
        });
        let name = if wrt == 1 { "select(c,x,y) by x" } else { "select(c,x,y) by y" };
        self.row::<T>(name, shares.map(Some));
    }

    fn row<T: Real>(&mut self, gradient: &'static str, shares: [Option<Share>; 4]) {
        self.measured.push(Shares { gradient, dtype: T::NAME, side: self.side, shares });
    }

    /// The gradients of ten functions by each operand for which they differ.
    pub(crate) fn ten_functions<T: Exp + Element>(&mut self) {
        use Function as F;
        let two = |function| call(function, [x(0), x(1)]);
        let (product, sum) = (two(F::Multiply), two(F::Add));
        self.two::<T, slopes::OfProduct>("x\\*y by x", &product, 0);
        self.two::<T, slopes::OfProduct>("x\\*y by y", &product, 1);
        self.two::<T, slopes::OfNumerator>("x/y by x", &two(F::Divide), 0);
        self.two::<T, slopes::OfDenominator>("x/y by y", &two(F::Divide), 1);
        self.two::<T, slopes::OfBase>("power(x,y) by x", &two(F::Power), 0);
        self.two::<T, slopes::OfExponent>("power(x,y) by y", &two(F::Power), 1);
        self.two::<T, slopes::OfExp>("exp(x\\*y) by x", &call(F::Exp, [product.clone()]), 0);
        self.two::<T, slopes::OfExp>("exp(x\\*y) by y", &call(F::Exp, [product.clone()]), 1);
        self.two::<T, slopes::OfLog>("log(x+y) by x", &call(F::Log, [sum.clone()]), 0);
        self.two::<T, slopes::OfLog>("log(x+y) by y", &call(F::Log, [sum.clone()]), 1);
        self.two::<T, slopes::OfTanh>("tanh(x+y) by x", &call(F::Tanh, [sum.clone()]), 0);
        self.two::<T, slopes::OfTanh>("tanh(x+y) by y", &call(F::Tanh, [sum.clone()]), 1);
        self.two::<T, slopes::OfMaximum>("maximum(x,y) by x", &two(F::Maximum), 0);
        self.two::<T, slopes::OfMaximum>("maximum(x,y) by y", &two(F::Maximum), 1);
        self.select::<T>(1);
        self.select::<T>(2);
        // A sum has the same gradient by each term.
        let four = call(F::Add, [call(F::Add, [sum, x(1)]), x(1)]);
        self.two::<T, slopes::OfSum>("x+y+y+y by x", &four, 0);
        self.layer_norm::<T>();
    }
}

/// A loop over the rows of a square matrix.
fn rows_of<T, S, const EACH: u8, const DOWN: bool>(
    operands: [Place<'_, T>; 4],
    side: usize,
    by_row: bool,
) -> Loop<'_, T, S, EACH, DOWN> {
    Loop { operands, rows: side, width: side, by_row, slope: PhantomData }
}
