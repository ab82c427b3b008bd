//! Planning of the commonest small request: one call of one or two dense operands of few elements under
//! `numpy`. Everything is decided on a few numbers on the stack, because preparing lists of axes for any
//! expression under any rule set takes three times as long as the call itself (`benches/quick`: a tiny call
//! with planning). What is not such a request, or is refused, is left to the other routes.

use crate::arch::Table;
use crate::inline_capacity::OPERANDS;
use crate::lower::{Lengths, call_dtype};
use crate::one_tile::{MAX_GATHERED, READ_AXES, Read, SingleCall, as_call, single_kernel};
use crate::problem::Form;
use crate::program::half;
use crate::scratch::BankCall;
use crate::tiling::AccessKind;
use broadcheck_spec::{DType, Expression, Node, Operand, Rules};
use smallvec::SmallVec;

/// The highest rank of a tiny request.
const RANK: usize = READ_AXES;

/// An operand of a tiny request: of a request itself, or of a run under a signature.
pub(crate) trait TinyOperand {
    fn dtype(&self) -> DType;
    fn lengths(&self) -> &[usize];
    /// The number of values that it reads, if it is dense, has elements and reads no other's buffer.
    fn plain_values(&self) -> Option<usize>;
}

impl TinyOperand for Operand {
    #[inline]
    fn dtype(&self) -> DType {
        self.dtype()
    }

    #[inline]
    fn lengths(&self) -> &[usize] {
        self.shape().lengths()
    }

    #[inline]
    fn plain_values(&self) -> Option<usize> {
        let is_plain = self.strides().is_none() && !self.reads_destination();
        Some(self.values().len()).filter(|&count| is_plain && count > 0)
    }
}

impl TinyOperand for Form<'_> {
    #[inline]
    fn dtype(&self) -> DType {
        self.dtype
    }

    #[inline]
    fn lengths(&self) -> &[usize] {
        self.shape
    }

    #[inline]
    fn plain_values(&self) -> Option<usize> {
        let is_plain = self.strides.is_none() && !self.reads_destination;
        Some(self.values).filter(|&count| is_plain && count > 0)
    }
}

/// A call of few elements, from which its plan is written without moving its parts: a plan is large.
///
/// Its lists are made from whole arrays. A list that is filled element by element and then moved is read
/// in other pieces than it was written, for which a processor waits (`benches/quick`: a tiny call with
/// planning).
pub(crate) struct TinyCall<'a, O> {
    operands: &'a [O],
    /// The place of each argument among the operands.
    places: [usize; 2],
    kernel: BankCall,
    /// The lengths of the result, and its rank.
    whole: [usize; RANK],
    rank: usize,
    walks: [Walk; 2],
    /// The dtype of the result.
    pub(crate) dtype: DType,
    /// The number of elements of the result.
    pub(crate) count: usize,
}

impl<'a, O: TinyOperand> TinyCall<'a, O> {
    /// The call that an expression of some operands is, if it is tiny and is accepted.
    #[inline(always)]
    pub(crate) fn of(
        rules: &Rules,
        expression: &Expression,
        operands: &'a [O],
        table: &Table,
    ) -> Option<TinyCall<'a, O>> {
        let Rules::Numpy = rules else { return None };
        let (function, arguments) = as_call(expression)?;
        let places = match *arguments {
            [Node::Operand(a), Node::Operand(b)] if operands.len() == 2 => [a, b],
            [Node::Operand(a)] if operands.len() == 1 => [a, a],
            _ => return None,
        };
        let [a, b] = places.map(|place| &operands[place]);
        let own = a.dtype();
        if own != b.dtype() || half(own).is_some() || a.plain_values().and(b.plain_values()).is_none() {
            return None;
        }
        let (whole, rank, count, walks) = aligned(a.lengths(), b.lengths())?;
        let dtype = call_dtype(function, &[own, own][..arguments.len()]).ok()?;
        let kinds = [walks[0].kind(), walks[1].kind()];
        let kernel = single_kernel(function, (own, None), table, count, kinds)?;
        Some(TinyCall { operands, places, kernel, whole, rank, walks, dtype, count })
    }

    /// The shape of the result.
    #[inline(always)]
    pub(crate) fn shape(&self) -> Lengths {
        let [a, b, c, d] = self.whole;
        Lengths::from_buf_and_len([a, b, c, d, 1, 1], self.rank)
    }

    /// The dtype and the length of each operand's buffer.
    #[inline(always)]
    pub(crate) fn buffers(&self) -> SmallVec<[(DType, usize); OPERANDS]> {
        let buffer = |at: usize| match self.operands.get(at) {
            Some(operand) => (operand.dtype(), operand.plain_values().unwrap_or(0)),
            None => (DType::Bool, 0),
        };
        SmallVec::from_buf_and_len([buffer(0), buffer(1), buffer(2)], self.operands.len())
    }

    /// The call.
    #[inline(always)]
    pub(crate) fn call(&self) -> SingleCall {
        let read = |which: usize| self.walks[which].read(self.places[which]);
        SingleCall::new(self.kernel, self.count, [read(0), read(1)])
    }
}

/// The lengths of the result, aligned at the end, its rank, its elements and how each operand is read; `None`
/// if the shapes cannot be broadcast together (clauses NUMPY-1 to NUMPY-4), or the ranks or the result are
/// too large.
#[inline]
fn aligned(a: &[usize], b: &[usize]) -> Option<([usize; RANK], usize, usize, [Walk; 2])> {
    let rank = a.len().max(b.len());
    if rank > RANK {
        return None;
    }
    let (mut whole, mut count) = ([1; RANK], 1);
    let mut walks = [Walk::START; 2];
    for back in 1..=rank {
        let own = |shape: &[usize]| shape.len().checked_sub(back).map_or(1, |at| shape[at]);
        let (one, other) = (own(a), own(b));
        let length = match (one, other) {
            (1, length) | (length, 1) => length,
            _ if one == other => one,
            _ => return None,
        };
        // Neither factor is more than the limit, so the product does not overflow.
        if length > MAX_GATHERED || count * length > MAX_GATHERED {
            return None;
        }
        count *= length;
        whole[rank - back] = length;
        if length != 1 {
            walks[0].outwards(one, length);
            walks[1].outwards(other, length);
        }
    }
    Some((whole, rank, count, walks))
}

/// The axes of a row-major operand under the result, innermost first and merged where possible.
#[derive(Clone, Copy)]
struct Walk {
    /// The stride of the next axis that is not stretched.
    dense: usize,
    /// Lengths and strides.
    axes: [(usize, usize); RANK],
    rank: usize,
}

impl Walk {
    const START: Walk = Walk { dense: 1, axes: [(1, 0); RANK], rank: 0 };

    /// Adds the next axis, of `own` elements under `length`.
    #[inline]
    fn outwards(&mut self, own: usize, length: usize) {
        let mut stride = 0;
        if own == length {
            (stride, self.dense) = (self.dense, self.dense * own);
        }
        if let Some(inner) = self.rank.checked_sub(1).map(|inner| &mut self.axes[inner])
            && inner.0 * inner.1 == stride
        {
            inner.0 *= length;
            return;
        }
        self.axes[self.rank] = (length, stride);
        self.rank += 1;
    }

    #[inline(always)]
    fn kind(&self) -> AccessKind {
        match self.axes[..self.rank] {
            [] | [(_, 1)] => AccessKind::Direct,
            [(_, 0)] => AccessKind::Splat,
            _ => AccessKind::Gather,
        }
    }

    /// How the operand with this place is read.
    #[inline(always)]
    fn read(&self, operand: usize) -> Read {
        let kind = self.kind();
        let rank = if kind == AccessKind::Gather { self.rank } else { 0 };
        let axis = |at: usize| {
            let (length, stride) = if at < rank { self.axes[rank - 1 - at] } else { (1, 0) };
            // A stride is at most the number of elements of the result.
            (length, i64::try_from(stride).unwrap_or(i64::MAX))
        };
        let pattern = SmallVec::from_buf_and_len([axis(0), axis(1), axis(2), axis(3)], rank);
        Read { operand, offset: 0, kind, pattern }
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::Problem;
    use crate::{Level, Plan};
    use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};

    /// The shapes up to a rank with these lengths.
    fn shapes(rank: usize, lengths: &[usize]) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        let mut first = 0;
        for _ in 0..rank {
            let (from, to) = (first, all.len());
            first = to;
            for shape in from..to {
                for &length in lengths {
                    let mut longer = all[shape].clone();
                    longer.push(length);
                    all.push(longer);
                }
            }
        }
        all
    }

    fn call(function: Function, places: &[usize]) -> Operation {
        let arguments = places.iter().map(|&place| Expression::operand(place));
        Operation::Elementwise { expression: Expression::call(function, arguments).unwrap() }
    }

    /// Both ways of planning give the same plan, or both refuse. Returns whether the short one was taken.
    fn compare(operation: Operation, operands: Vec<Operand>) -> bool {
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        let level = Level::detect();
        let Operation::Elementwise { expression } = request.operation() else { unreachable!() };
        let table = crate::arch::table(level);
        let short = super::TinyCall::of(request.rules(), expression, request.operands(), table).is_some();
        let plans = [Plan::with_level(&request, level), Plan::of_problem(&Problem::of(&request), level)];
        let [short_plan, long_plan] = plans.map(|plan| plan.map(|plan| format!("{plan:?}")));
        assert_eq!(short_plan.is_ok(), long_plan.is_ok(), "{request:?}");
        assert!(short_plan.is_ok() || !short, "{request:?}");
        if short_plan.is_ok() {
            assert_eq!(short_plan, long_plan, "{request:?}");
        }
        short
    }

    fn dense(name: &str, shape: &[usize]) -> Operand {
        Operand::dense(name, shape, vec![1i32; shape.iter().product()]).unwrap()
    }

    #[test]
    fn calls_of_two_operands_are_planned_as_without_it() {
        let shapes = shapes(3, &[0, 1, 2, 3]);
        let mut short = 0;
        for (at, a) in shapes.iter().enumerate() {
            for (which, b) in shapes.iter().enumerate() {
                let places = if (at + which) % 2 == 0 { [0, 1] } else { [1, 0] };
                let function = [Function::Subtract, Function::Less][(at / 2 + which) % 2];
                short += usize::from(compare(call(function, &places), vec![dense("a", a), dense("b", b)]));
            }
        }
        assert!(short > 900, "{short}");
    }

    #[test]
    fn other_requests_are_planned_as_without_it() {
        for shape in shapes(4, &[0, 1, 2, 64]) {
            compare(call(Function::Negate, &[0]), vec![dense("a", &shape)]);
            // An operand that the call does not read, another dtype, and a function that the dtype lacks.
            let more = vec![dense("a", &shape), dense("b", &[]), dense("c", &shape)];
            assert!(!compare(call(Function::Add, &[0, 2]), more));
            let other = Operand::dense("b", [1], vec![1.0f64]).unwrap();
            assert!(!compare(call(Function::Add, &[0, 1]), vec![dense("a", &shape), other]));
            assert!(!compare(call(Function::Sqrt, &[0]), vec![dense("a", &shape)]));
            assert!(!compare(call(Function::Add, &[0, 0]), vec![dense("a", &shape)]));
        }
        let view = Operand::view("a", [2, 2], vec![1i32; 4], Some(vec![1, 2]), 0).unwrap();
        assert!(!compare(call(Function::Add, &[0, 1]), vec![view, dense("b", &[2])]));
        assert!(!compare(call(Function::Add, &[0, 1]), vec![dense("a", &[1, 65]), dense("b", &[1])]));
        assert!(!compare(call(Function::Add, &[0, 1]), vec![dense("a", &[9, 1]), dense("b", &[8])]));
        assert!(compare(call(Function::Add, &[0, 1]), vec![dense("a", &[8, 1]), dense("b", &[8])]));
        assert!(!compare(call(Function::Add, &[0, 1]), vec![dense("a", &[1; 5]), dense("b", &[8])]));
    }
}
