//! Plans that write into a destination, against the reference and against hand arithmetic: every layout of
//! the destination, operands that read its buffer, more elements than a block has, and buffers that do not
//! fit.

mod support;

use broadcheck_fast::{Fast, Input, Level, Output, Plan, WrongBuffers};
use broadcheck_reference::Reference;
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Scalar,
};
use support::Random;

fn call(function: Function, arguments: &[Expression]) -> Expression {
    Expression::call(function, arguments.to_vec()).unwrap()
}

fn into(expression: Expression, operands: Vec<Operand>) -> Request {
    Request::new(Rules::Numpy, Operation::Into { expression, destination: 0 }, operands).unwrap()
}

/// The sum of the first two operands.
fn sum() -> Expression {
    call(Function::Add, &[Expression::operand(0), Expression::operand(1)])
}

fn levels() -> impl Iterator<Item = Fast> {
    Level::ALL.into_iter().filter_map(|level| Fast::with_level(level).ok())
}

/// The result and the buffer are those of the reference, to the bit.
fn check(request: &Request) {
    let expected = Reference::new().run(request);
    for engine in levels() {
        let found = engine.run(request);
        let same = match (&expected, &found) {
            (Outcome::Refusal(one), Outcome::Refusal(other)) => {
                (one.kind, one.axis) == (other.kind, other.axis)
            }
            (one, other) => one == other,
        };
        assert!(same, "{} on {request:?}: {found:?}, expected {expected:?}", engine.name());
    }
}

/// What is in a buffer of i64 after a run in place, with `i` in place `i` before it.
fn after(plan: &Plan, length: i64, inputs: &[Input<'_>]) -> Vec<i64> {
    let mut buffer: Vec<i64> = (0..length).collect();
    plan.run_in_place(inputs, Output::from(&mut buffer[..])).unwrap();
    buffer
}

const LONG: i64 = 20_001;

fn whole() -> Operand {
    Operand::dense("a", [usize::try_from(LONG).unwrap()], (0..LONG).collect::<Vec<i64>>()).unwrap()
}

#[test]
fn more_than_a_block_is_read_before_it_is_written() {
    let a = whole();
    let reversed = Operand::of(&a, "b", a.shape().clone(), Some(vec![-1]), Some(20_000)).unwrap();
    let plan = Plan::new(&into(sum(), vec![a.clone(), reversed])).unwrap();
    assert_eq!(after(&plan, LONG, &[]), vec![LONG - 1; 20_001]);

    let first = Operand::of(&a, "b", [1], Some(vec![0]), Some(7)).unwrap();
    let plan = Plan::new(&into(sum(), vec![a.clone(), first])).unwrap();
    assert_eq!(after(&plan, LONG, &[]), (7..LONG + 7).collect::<Vec<i64>>());

    for (written, read) in [(1, 0), (0, 1), (9000, 0), (0, 9000)] {
        let length = 20_001 - usize::max(written, read);
        let buffer: Vec<i64> = (0..LONG).collect();
        let part = Operand::view("a", [length], buffer, Some(vec![1]), written).unwrap();
        let shifted = Operand::of(&part, "b", [length], Some(vec![1]), Some(read)).unwrap();
        let plan = Plan::new(&into(sum(), vec![part, shifted])).unwrap();
        let mut expected: Vec<i64> = (0..LONG).collect();
        for place in 0..length {
            expected[written + place] = i64::try_from(written + read + 2 * place).unwrap();
        }
        assert_eq!(after(&plan, LONG, &[]), expected, "{written} from {read}");
    }
}

#[test]
fn blocks_of_a_destination_that_is_read_where_it_is_written() {
    let (a, x) = (Expression::operand(0), Expression::operand(1));
    let expression = call(Function::Add, &[call(Function::Multiply, &[a.clone(), a]), x]);
    let one = Operand::dense("x", [1], vec![5i64]).unwrap();
    let plan = Plan::new(&into(expression.clone(), vec![whole(), one.clone()])).unwrap();
    let five = [5i64];
    let squares: Vec<i64> = (0..LONG).map(|value| value * value + 5).collect();
    assert_eq!(after(&plan, LONG, &[Input::from(&five[..])]), squares);

    // Every second place, backwards; the others stay.
    let buffer: Vec<i64> = (0..LONG).collect();
    let view = Operand::view("a", [10_000], buffer, Some(vec![-2]), 19_999).unwrap();
    let plan = Plan::new(&into(expression, vec![view, one])).unwrap();
    let expected: Vec<i64> =
        (0..LONG).map(|value| if value % 2 == 1 { value * value + 5 } else { value }).collect();
    assert_eq!(after(&plan, LONG, &[Input::from(&five[..])]), expected);
}

#[test]
fn a_destination_that_is_not_read() {
    // Columns 1 and 2 of 7000 rows of 4.
    let view = Operand::view("d", [7000, 2], (0..28_000).collect::<Vec<i64>>(), Some(vec![4, 1]), 1).unwrap();
    let row = Operand::dense("b", [2], vec![-1i64, -2]).unwrap();
    let negated = call(Function::Negate, &[Expression::operand(1)]);
    let plan = Plan::new(&into(negated.clone(), vec![view, row])).unwrap();
    let expected: Vec<i64> =
        (0..28_000).map(|place| if place % 4 == 1 || place % 4 == 2 { place % 4 } else { place }).collect();
    assert_eq!(after(&plan, 28_000, &[Input::from(&[-1i64, -2][..])]), expected);

    // Row-major, so nothing is computed elsewhere first.
    let buffer: Vec<i64> = (0..LONG).collect();
    let part = Operand::view("d", [20_000], buffer, Some(vec![1]), 1).unwrap();
    let plan = Plan::new(&into(negated, vec![part, Operand::dense("b", [], vec![3i64]).unwrap()])).unwrap();
    let written = after(&plan, LONG, &[Input::from(&[3i64][..])]);
    assert_eq!((written[0], &written[1..]), (0, &[-3i64; 20_000][..]));
}

#[test]
fn buffers_that_do_not_fit_are_refused_and_stay() {
    let a = Operand::view("a", [2], vec![1i64, 2, 3], Some(vec![2]), 0).unwrap();
    let b = Operand::dense("b", [2], vec![1i64, 2]).unwrap();
    let plan = Plan::new(&into(sum(), vec![a.clone(), b.clone()])).unwrap();
    let (two, one) = ([1i64, 2], [1i64]);
    let mut buffer = [1i64, 2, 3];
    let mut run = |inputs: &[Input<'_>], length: usize| {
        plan.run_in_place(inputs, Output::from(&mut buffer[..length])).map_err(|error| error.to_string())
    };
    assert_eq!(run(&[], 3), Err("found 0 operand buffers, expected 1".into()));
    assert_eq!(
        run(&[Input::from(&two[..])], 2),
        Err("output: found 2 values of i64, expected 3 of i64".into())
    );
    assert_eq!(
        run(&[Input::from(&one[..])], 3),
        Err("operand 1: found 1 values, expected at least 2".into())
    );
    assert_eq!(run(&[Input::from(&two[..])], 3), Ok(()));
    assert_eq!(buffer, [2, 2, 5]);
    let mut bytes = [0u8; 3];
    let error = plan.run_in_place(&[Input::from(&two[..])], Output::from(&mut bytes[..])).unwrap_err();
    assert_eq!(error.to_string(), "output: found 3 values of u8, expected 3 of i64");
    let plain = Request::new(Rules::Numpy, Operation::Elementwise { expression: sum() }, vec![a, b]).unwrap();
    let plain = Plan::new(&plain).unwrap();
    let without = plain.run_in_place(&[Input::from(&two[..])], Output::from(&mut buffer[..]));
    assert_eq!(without, Err(WrongBuffers::NoDestination));
}

/// A destination of random lengths and layout, with gaps between its elements and around them.
fn destination(random: &mut Random, dtype: DType) -> Operand {
    let rank = random.below(4);
    let lengths: Vec<usize> = (0..rank).map(|_| random.pick(&[0, 1, 2, 3, 5, 19])).collect();
    let mut order: Vec<usize> = (0..rank).collect();
    for place in 1..rank {
        order.swap(place, random.below(place + 1));
    }
    let mut step = random.pick(&[1, 1, 2, 3]);
    let (mut strides, mut offset) = (vec![0i64; rank], random.below(3));
    for axis in order {
        let reach = lengths[axis].saturating_sub(1) * step;
        strides[axis] = i64::try_from(step).unwrap();
        if random.chance(30) {
            strides[axis] = -strides[axis];
            offset += reach;
        }
        step = reach + step + random.below(2);
    }
    let length = offset + step + random.below(3);
    let values: Vec<Scalar> = (0..length).map(|_| support::value(random, dtype)).collect();
    let values = Data::from_scalars(dtype, values).unwrap();
    if rank > 0 && random.chance(30) {
        let count = lengths.iter().product();
        let values: Vec<Scalar> = (0..count).map(|_| support::value(random, dtype)).collect();
        return Operand::dense("a", lengths, Data::from_scalars(dtype, values).unwrap()).unwrap();
    }
    Operand::view("a", lengths, values, Some(strides), offset).unwrap()
}

/// An operand that fits a destination: of its own, or in its buffer.
fn beside(random: &mut Random, name: &str, destination: &Operand) -> Operand {
    let skipped = random.below(destination.rank() + 1);
    let mut lengths = destination.shape()[skipped..].to_vec();
    lengths.iter_mut().for_each(|length| *length = if random.chance(20) { 1 } else { *length });
    if random.chance(70) {
        let own = destination.strides().map_or_else(|| row_major(destination.shape()), <[i64]>::to_vec);
        let sign = random.pick(&[1, 1, -1]);
        let strides: Vec<i64> = own[skipped..].iter().map(|stride| sign * stride).collect();
        let shift = random.below(destination.values().len() + 1);
        let offset = if random.chance(50) { destination.offset() } else { shift };
        if let Ok(operand) = Operand::of(destination, name, lengths.clone(), Some(strides), Some(offset)) {
            return operand;
        }
    }
    let count = lengths.iter().product();
    let values: Vec<Scalar> = (0..count).map(|_| support::value(random, destination.dtype())).collect();
    Operand::dense(name, lengths, Data::from_scalars(destination.dtype(), values).unwrap()).unwrap()
}

fn row_major(lengths: &[usize]) -> Vec<i64> {
    let step = |axis: usize| lengths[axis + 1..].iter().product::<usize>();
    (0..lengths.len()).map(|axis| i64::try_from(step(axis)).unwrap()).collect()
}

#[test]
fn random_destinations_are_written_as_by_the_reference() {
    let dtypes = [DType::F64, DType::F32, DType::F16, DType::Bf16, DType::I64, DType::U8];
    let mut random = Random(19);
    for round in 0..1500 {
        let dtype = dtypes[round % dtypes.len()];
        let a = destination(&mut random, dtype);
        let (b, c) = (beside(&mut random, "b", &a), beside(&mut random, "c", &a));
        let leaf = |place| Expression::operand(place);
        let expression = match random.below(5) {
            0 => sum(),
            1 => call(Function::Subtract, &[leaf(1), leaf(2)]),
            2 => call(Function::Multiply, &[sum(), leaf(2)]),
            3 => call(Function::Negate, &[leaf(1)]),
            _ => call(Function::Subtract, &[call(Function::Multiply, &[leaf(0), leaf(0)]), leaf(1)]),
        };
        check(&into(expression, vec![a, b, c]));
    }
}
