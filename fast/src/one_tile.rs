//! A single call over one tile, without registers, program steps or a cursor: what most small requests are.
//! Planning one takes little longer than deciding whether its operands can be broadcast together.

use crate::arch::{CallKernel, Table};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_call;
use crate::fill::{fill, fill_rows};
use crate::math::MathFunction;
use crate::program::{Half, bank_of, kernel};
use crate::scratch::{BankCall, Lane};
use crate::tiling::{Access, AccessKind, Tiling};
use broadcheck_spec::{DType, Expression, Function, Node};
use smallvec::SmallVec;

/// The most elements of a tile into which an operand is gathered without registers.
pub(crate) const MAX_GATHERED: usize = 64;

/// The elements of a tile for which a short buffer is cleared before an operand is gathered into it.
const FEW: usize = 16;

/// The most elements of a tile whose operands are read in place, in the first-level cache or the second.
pub(crate) const MAX_IN_PLACE: usize = 32 << 10;

/// Axes in the patterns of a call's operands.
pub(crate) const READ_AXES: usize = 4;

/// A call of one or two different operands over one tile.
#[derive(Debug)]
pub(crate) struct SingleCall {
    kernel: BankCall,
    /// The elements of the tile.
    count: usize,
    /// The operands. Of a call of one operand, only the first is read.
    reads: [Read; 2],
}

/// How an operand is read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its index among the inputs.
    pub(crate) operand: usize,
    /// The position of its first element.
    pub(crate) offset: usize,
    pub(crate) kind: AccessKind,
    /// The lengths and strides of its axes, outermost first, if it is gathered.
    pub(crate) pattern: SmallVec<[(usize, i64); READ_AXES]>,
}

impl Default for Read {
    fn default() -> Read {
        Read { operand: 0, offset: 0, kind: AccessKind::Direct, pattern: SmallVec::new() }
    }
}

impl Read {
    /// How an access of a tiling reads its operand.
    fn of(tiling: &Tiling, access: usize, operand: u32) -> Read {
        let Access { offset, kind, .. } = tiling.accesses[access];
        let pattern = match kind {
            AccessKind::Gather => SmallVec::from_slice(tiling.pattern(access)),
            AccessKind::Direct | AccessKind::Splat => SmallVec::new(),
        };
        Read { operand: operand as usize, offset, kind, pattern }
    }
}

/// The function and the arguments of an expression that is one call of one or two different operands and is
/// computed by one kernel.
#[inline]
pub(crate) fn as_call(expression: &Expression) -> Option<(Function, &[Node])> {
    let (Node::Call(call), arguments) = expression.nodes().split_last()? else { return None };
    let is_single = match arguments {
        // mutant: delete match arm [Node::Operand(_)]: costs time only; the call goes through the tiles
        [Node::Operand(_)] => true,
        [Node::Operand(a), Node::Operand(b)] => a != b,
        _ => false,
    };
    (is_single && MathFunction::of(call.function()).is_none()).then_some((call.function(), arguments))
}

/// The kernel of a call of one or two operands over one tile of `count` elements, if the tile is small
/// enough. `half` is the format of halves whose bits are the elements.
///
/// It is inlined into what stores the kernel, which would wait for a kernel that is returned in memory.
#[inline(always)]
pub(crate) fn single_kernel(
    function: Function,
    (dtype, half): (DType, Option<Half>),
    table: &Table,
    count: usize,
    kinds: [AccessKind; 2],
) -> Option<BankCall> {
    let arity = function.arity();
    let is = |which: usize, kind: AccessKind| which < arity && kinds[which] == kind;
    let gathers = is(0, AccessKind::Gather) || is(1, AccessKind::Gather);
    let splats = [is(0, AccessKind::Splat), is(1, AccessKind::Splat), false];
    // Kernels treat two scalars as vectors of length 1.
    let all_splats = splats[0] && (arity == 1 || splats[1]);
    if all_splats || count > if gathers { MAX_GATHERED } else { MAX_IN_PLACE } {
        return None;
    }
    kernel((table, half), bank_of(dtype), function, splats)
}

impl SingleCall {
    /// The call of a function over a tiling of one tile, if that is small enough and has a kernel. `used` are
    /// the operands of the tiling's accesses and `dtype` is their dtype; if it is that of the bits of halves,
    /// `half` is their format.
    pub(crate) fn of(
        function: Function,
        dtype: (DType, Option<Half>),
        table: &Table,
        tiling: &Tiling,
        mut used: impl Iterator<Item = u32>,
    ) -> Option<SingleCall> {
        let kind =
            |access: usize| tiling.accesses.get(access).map_or(AccessKind::Direct, |access| access.kind);
        let kernel = single_kernel(function, dtype, table, tiling.full, [kind(0), kind(1)])?;
        let mut read = |access: usize| match used.next() {
            Some(operand) => Read::of(tiling, access, operand),
            None => Read::default(),
        };
        Some(SingleCall::new(kernel, tiling.full, [read(0), read(1)]))
    }

    /// The call of a kernel over one tile of `count` elements.
    #[inline(always)]
    pub(crate) fn new(kernel: BankCall, count: usize, reads: [Read; 2]) -> SingleCall {
        SingleCall { kernel, count, reads }
    }

    /// Computes the call.
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_call!(self.kernel, kernel => self.compute(kernel, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Lane>(&self, kernel: CallKernel<T>, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let source = |which: usize| T::input(&inputs[self.reads[which].operand]);
        // A function of one operand has no second one, and the input at that place may have another dtype.
        let b = if matches!(kernel, CallKernel::Unary(_)) { &[] } else { source(1) };
        let a = source(0);
        match (self.in_place(0, a), self.second_in_place(kernel, b)) {
            (Some(a), Some(b)) => call(kernel, a, b, output),
            // Clearing a longer buffer would take as long as a call of a few elements.
            _ if self.count <= FEW => self.gather::<T, FEW>(kernel, [a, b], output),
            _ => self.gather::<T, MAX_GATHERED>(kernel, [a, b], output),
        }
    }

    /// The call over operands of which one at least is gathered, in a tile of at most `N` elements.
    #[inline(never)]
    fn gather<T: Lane, const N: usize>(
        &self,
        kernel: CallKernel<T>,
        [a, b]: [&[T]; 2],
        output: &mut Output<'_>,
    ) {
        let mut first = [T::default(); N];
        match (self.in_place(0, a), self.second_in_place(kernel, b)) {
            (Some(a), Some(b)) => call(kernel, a, b, output),
            (None, Some(b)) => call(kernel, self.gathered(0, a, &mut first), b, output),
            (Some(a), None) => call(kernel, a, self.gathered(1, b, &mut first), output),
            (None, None) => {
                let mut second = [T::default(); N];
                let a = self.gathered(0, a, &mut first);
                call(kernel, a, self.gathered(1, b, &mut second), output);
            }
        }
    }

    /// The elements of an operand under the tile, if they can be read in place.
    #[inline]
    fn in_place<'a, T>(&self, which: usize, source: &'a [T]) -> Option<&'a [T]> {
        let read = &self.reads[which];
        match read.kind {
            AccessKind::Direct => Some(&source[read.offset..read.offset + self.count]),
            AccessKind::Splat => Some(&source[read.offset..=read.offset]),
            AccessKind::Gather => None,
        }
    }

    /// The same for the second operand, or nothing if the function has only one.
    #[inline(always)]
    fn second_in_place<'a, T>(&self, kernel: CallKernel<T>, source: &'a [T]) -> Option<&'a [T]> {
        if matches!(kernel, CallKernel::Unary(_)) { Some(&[]) } else { self.in_place(1, source) }
    }

    /// The elements of an operand under the tile, gathered into `places`.
    #[inline(always)]
    fn gathered<'a, T: Copy, const N: usize>(
        &self,
        which: usize,
        source: &[T],
        places: &'a mut [T; N],
    ) -> &'a [T] {
        let (read, places) = (&self.reads[which], &mut places[..self.count]);
        match *read.pattern {
            // mutant: replace match guard N <= FEW && across != 0 with true: costs time only
            // mutant: replace match guard N <= FEW && across != 0 with false: costs time only
            // mutant: replace <= with >; replace && with ||; replace != with ==: costs time only
            [(_, along), (length, across)] if N <= FEW && across != 0 => {
                fill_rows(source, read.offset, [along, across], length, places);
            }
            _ => fill_one_tile(source, read, places),
        }
        places
    }
}

/// Gathers more elements, or along more axes. It is not inlined because few elements would pay for the
/// registers that it needs.
#[inline(never)]
fn fill_one_tile<T: Copy>(source: &[T], read: &Read, places: &mut [T]) {
    fill(source, read.offset, &read.pattern, places, |value| value);
}

/// Runs a kernel of one or two arguments, of which a function of one ignores `b`.
#[inline(always)]
fn call<T: Lane>(kernel: CallKernel<T>, a: &[T], b: &[T], output: &mut Output<'_>) {
    match kernel {
        CallKernel::Unary(kernel) => kernel.run(a, T::output(output)),
        CallKernel::Binary(kernel) => kernel.run(a, b, T::output(output)),
        CallKernel::Comparison(kernel) => kernel.run(a, b, bool::output(output)),
        CallKernel::Select(_) | CallKernel::Condition(_) | CallKernel::Clip(_) | CallKernel::Check(_) => {
            unreachable!("a single call has one or two operands")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Level, Plan};
    use broadcheck_spec::{Data, Expression, Function, Operand, Operation, Request, Rules};

    /// The numbers 0, 1, ... under a view of `lengths` elements at `strides`.
    fn numbers(name: &str, lengths: [usize; 2], strides: [i64; 2]) -> (Operand, Vec<i32>) {
        let [rows, columns] = lengths.map(|length| i64::try_from(length).unwrap());
        let lowest: i64 =
            strides.iter().zip([rows, columns]).map(|(&stride, count)| (stride * (count - 1)).min(0)).sum();
        let place = |row: i64, column: i64| row * strides[0] + column * strides[1] - lowest;
        let mut expected = Vec::new();
        for row in 0..rows {
            expected.extend((0..columns).map(|column| i32::try_from(place(row, column)).unwrap()));
        }
        let values: Vec<i32> = (0..=*expected.iter().max().unwrap()).collect();
        let offset = usize::try_from(-lowest).unwrap();
        (Operand::view(name, lengths, values, Some(strides.to_vec()), offset).unwrap(), expected)
    }

    /// Views in any direction, of as many elements as are copied one by one, and of more.
    #[test]
    fn elements_of_views_are_gathered() {
        let arguments = [Expression::operand(0), Expression::operand(1)];
        let expression = Expression::call(Function::Subtract, arguments).unwrap();
        let mut single = 0;
        for lengths in [[2, 3], [3, 2], [2, 2], [4, 3], [4, 4], [2, 8], [5, 5], [8, 8], [1, 7], [7, 1]] {
            for along in [-9, -8, -3, -1, 0, 1, 2, 3, 8, 11] {
                for across in [-4, -1, 0, 1, 2, 8] {
                    let (a, minuend) = numbers("a", lengths, [along, across]);
                    let (b, subtrahend) = numbers("b", lengths, [across, -along]);
                    let operation = Operation::Elementwise { expression: expression.clone() };
                    let request = Request::new(Rules::Numpy, operation, vec![a, b]).unwrap();
                    let expected: Vec<i32> = minuend.iter().zip(&subtrahend).map(|(a, b)| a - b).collect();
                    for level in Level::available() {
                        let plan = Plan::with_level(&request, level).unwrap();
                        single += usize::from(plan.route_name() == "call");
                        let result = plan.run(&crate::plan::inputs(&request)).unwrap();
                        assert_eq!(*result.values(), Data::I32(expected.clone()), "{request:?}");
                    }
                }
            }
        }
        assert!(single > 500 * Level::available().count(), "{single}");
    }
}
