//! Planning over few operands of few axes allocates nothing, under any rule set and at any level. Neither
//! does running a plan again, or that of a signature with any lengths, unless the result is large.
#![allow(unsafe_code, reason = "a counting allocator")]

use broadcheck_fast::{Level, Output, Plan, SignaturePlan, View, Wanted};
use broadcheck_spec::Function::*;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Asked, DType, Data, Element, Expression, Function, Operand, OperandType, Operation, PartialShape,
    Request, Rules, Shape, Signature,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The number of allocations of this thread.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system allocator, with a count.
struct Counting;

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations by `body`, and its result.
fn allocations<R>(body: impl FnOnce() -> R) -> (usize, R) {
    let before = ALLOCATIONS.with(Cell::get);
    let result = body();
    (ALLOCATIONS.with(Cell::get) - before, result)
}

fn x(place: usize) -> Expression {
    Expression::operand(place)
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).unwrap()
}

fn elementwise(expression: Expression) -> Operation {
    Operation::Elementwise { expression }
}

fn operand<T: Element>(place: usize, shape: &[usize], value: T) -> Operand
where
    Data: From<Vec<T>>,
{
    Operand::dense(format!("x{place}"), shape, vec![value; shape.iter().product()]).unwrap()
}

fn operands<T: Element>(shapes: &[&[usize]], value: T) -> Vec<Operand>
where
    Data: From<Vec<T>>,
{
    shapes.iter().enumerate().map(|(place, shape)| operand(place, shape, value)).collect()
}

/// Plans a request and runs the plan twice into one output. Only the first run may allocate, for registers.
fn check(request: &Request) {
    for level in Level::available() {
        let (planning, plan) = allocations(|| Plan::with_level(request, level));
        let plan = plan.unwrap();
        assert_eq!(planning, 0, "planning {request:?}");
        run_again(&plan, request);
    }
}

/// Runs a plan twice into one output. The second run may not allocate.
fn run_again(plan: &Plan, request: &Request) {
    let inputs: Vec<_> = request.operands().iter().map(|operand| operand.values().into()).collect();
    let mut values = plan.run(&inputs).unwrap().values().clone();
    let (running, done) = allocations(|| plan.run_into(&inputs, Output::from(&mut values)));
    done.unwrap();
    assert_eq!(running, 0, "running {request:?}");
}

/// Expressions of two and three operands.
fn expressions() -> Vec<(usize, Expression)> {
    let sum = |count| (1..count).fold(x(0), |sum, place| call(Add, [sum, x(place)]));
    let affine = call(Add, [call(Multiply, [call(Subtract, [x(0), x(1)]), x(2)]), x(1)]);
    let logistic = call(Add, [x(1), call(Exp, [call(Negate, [x(0)])])]);
    vec![
        (2, sum(2)),
        (2, call(Maximum, [x(0), x(1)])),
        (2, call(Power, [x(0), x(1)])),
        (2, call(Equal, [x(1), x(0)])),
        (2, call(Multiply, [x(0), call(Add, [x(0), x(1)])])),
        (2, call(Exp, [call(Multiply, [x(0), x(1)])])),
        (2, call(Divide, [x(0), logistic])),
        (3, sum(3)),
        (3, affine),
    ]
}

/// Shapes of ranks 0 to 3, of matrices, rows, columns and scalars in turn, in one tile and in many.
fn shapes(count: usize) -> Vec<Vec<Vec<usize>>> {
    let wholes: [&[usize]; 7] = [&[], &[7], &[3000], &[2, 3], &[130, 40], &[2, 3, 5], &[70, 2, 90]];
    let mut all = Vec::new();
    for whole in wholes {
        for kept in [0b1111, 0b0101, 0b1010, 0b0001, 0b1000] {
            let narrow = |place: usize| {
                let kept = if place == 0 { 0b1111 } else { kept >> (place - 1) };
                let length =
                    |(axis, &length): (usize, &usize)| if kept >> axis & 1 == 1 { length } else { 1 };
                whole.iter().enumerate().map(length).collect::<Vec<usize>>()
            };
            all.push((0..count).map(narrow).collect());
        }
    }
    all
}

#[test]
fn elementwise_over_few_operands_of_few_axes() {
    for (count, expression) in expressions() {
        for shapes in shapes(count) {
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
            let operation = || elementwise(expression.clone());
            check(&Request::new(Rules::Numpy, operation(), operands(&shapes, 1.5f64)).unwrap());
            check(&Request::new(Rules::Numpy, operation(), operands(&shapes, 1.5f32)).unwrap());
        }
    }
}

/// The memory of values that are computed first is kept, also beside that of another dtype.
#[test]
fn parts() {
    let root = || elementwise(call(Divide, [x(0), call(Sqrt, [x(1)])]));
    let shapes: [&[usize]; 2] = [&[130, 40], &[130, 1]];
    let requests = [
        Request::new(Rules::Numpy, root(), operands(&shapes, 1.5f64)).unwrap(),
        Request::new(Rules::Numpy, root(), operands(&shapes, 1.5f32)).unwrap(),
    ];
    for level in Level::available() {
        let plans = requests.each_ref().map(|request| Plan::with_level(request, level).unwrap());
        for (plan, request) in plans.iter().zip(&requests) {
            assert_eq!(plan.route_name(), "parts");
            run_again(plan, request);
        }
        let inputs: Vec<_> = requests[0].operands().iter().map(|operand| operand.values().into()).collect();
        let mut values = requests[0].operands()[0].values().clone();
        let (running, done) = allocations(|| plans[0].run_into(&inputs, Output::from(&mut values)));
        done.unwrap();
        assert_eq!(running, 0, "after a run of another dtype");
    }
}

#[test]
fn every_dtype() {
    fn of<T: Element + Default>()
    where
        Data: From<Vec<T>>,
    {
        for shapes in shapes(2) {
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
            let operation = elementwise(call(Equal, [x(0), x(1)]));
            check(&Request::new(Rules::Numpy, operation, operands(&shapes, T::default())).unwrap());
        }
    }
    of::<f64>();
    of::<f32>();
    of::<f16>();
    of::<bf16>();
    of::<i64>();
    of::<u16>();
    of::<i8>();
    of::<bool>();
}

#[test]
fn every_rule_set() {
    let sum = || elementwise(call(Add, [x(0), x(1)]));
    let numbers = |shapes: &[&[usize]]| operands(shapes, 3i32);
    check(&Request::new(Rules::None, sum(), numbers(&[&[2, 3], &[2, 3]])).unwrap());
    let pdpd = Rules::Pdpd { axis: Some(1) };
    check(&Request::new(pdpd, sum(), numbers(&[&[2, 3, 4, 5], &[3, 4]])).unwrap());
    let xla = Rules::Xla { broadcast_dimensions: Some(vec![1, 3]) };
    check(&Request::new(xla, sum(), numbers(&[&[2, 3, 4, 5], &[3, 5]])).unwrap());
    let xla = Rules::Xla { broadcast_dimensions: None };
    check(&Request::new(xla, sum(), numbers(&[&[2, 3, 4, 5], &[2, 1, 4, 1]])).unwrap());
    let flagged = |operand: Operand, flags: &[bool]| operand.with_broadcastable(flags.to_vec()).unwrap();
    let theano = numbers(&[&[2, 3, 4, 5], &[1, 4, 1]]);
    let [a, b] = <[Operand; 2]>::try_from(theano).unwrap();
    let theano = vec![flagged(a, &[false; 4]), flagged(b, &[true, false, true])];
    check(&Request::new(Rules::Theano, sum(), theano).unwrap());
    for rules in [Rules::Numpy, Rules::Bidirectional] {
        let target = Operation::Broadcast { target_shape: Shape::from([2, 3, 4, 5]) };
        check(&Request::new(rules, target, numbers(&[&[3, 1, 5]])).unwrap());
    }
}

#[test]
fn gradients() {
    for expression in [call(Multiply, [x(0), x(1)]), call(Exp, [call(Multiply, [x(0), x(1)])])] {
        for shapes in shapes(2) {
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
            for wrt in 0..2 {
                let operation = Operation::Gradient { expression: expression.clone(), wrt };
                check(&Request::new(Rules::Numpy, operation, operands(&shapes, 1.5f64)).unwrap());
            }
        }
    }
}

fn signature(shapes: &[&str], expression: Expression) -> Signature {
    let operand = |(place, shape): (usize, &&str)| {
        let shape: PartialShape = shape.parse().unwrap();
        OperandType::new(format!("x{place}"), DType::F64, shape).unwrap()
    };
    let operands = shapes.iter().enumerate().map(operand).collect();
    Signature::new(Rules::Numpy, Asked::Expression(expression), operands).unwrap()
}

/// The allocations of a run of a signature's plan.
fn run_of_signature(plan: &SignaturePlan, operands: &[View<'_>], out: &mut [f64]) -> usize {
    let (running, done) = allocations(|| plan.run_into(operands, Output::from(out)));
    done.unwrap();
    running
}

#[test]
fn runs_of_a_signature_with_any_lengths() {
    let values = [1.5; 60];
    let product = call(Multiply, [call(Add, [x(0), x(1)]), x(2)]);
    for level in Level::available() {
        let plan =
            SignaturePlan::new(&signature(&["...", "?", "?x?"], product.clone()), Wanted::Value, level);
        let plan = plan.unwrap();
        let (mut before, mut out) = (0, [0.0; 60]);
        for lengths in [[3, 4, 5], [3, 4, 5], [2, 1, 6], [3, 4, 5], [1, 1, 1], [2, 5, 6]] {
            let [a, b, c] = lengths;
            let (whole, row, matrix) = ([a, b, c], [c], [b, 1]);
            let views = [
                View::dense(&values[..a * b * c], &whole),
                View::dense(&values[..c], &row),
                View::dense(&values[..b], &matrix),
            ];
            let running = run_of_signature(&plan, &views, &mut out[..a * b * c]);
            // The first run allocates registers.
            assert!(before == 0 || running == 0, "{running} allocations with {lengths:?}");
            before += 1;
        }
    }
}

/// Planning for twelve operands allocates, so a run that does not allocate has found its plan. Those of the
/// first eight lengths stay, and of the others those of the latest eight.
#[test]
fn plans_are_kept_for_their_lengths() {
    let sum = (1..12).fold(x(0), |sum, place| call(Add, [sum, x(place)]));
    let plan = Plan::for_signature(&signature(&["?"; 12], sum)).unwrap();
    let (values, mut out) = ([1.5; 17], [0.0; 17]);
    let mut run = |length: usize| {
        let shape = [length];
        let views = [View::dense(&values[..length], &shape); 12];
        run_of_signature(&plan, &views, &mut out[..length])
    };
    run(1);
    let kept = run(1);
    let planned: Vec<usize> = (2..=16).map(&mut run).collect();
    assert!(planned.iter().all(|&allocations| allocations > kept), "{planned:?}");
    let again: Vec<usize> = (1..=16).map(&mut run).collect();
    assert!(again.iter().all(|&allocations| allocations == kept), "{again:?}");
    assert!(run(17) > kept && run(9) > kept && run(10) > kept);
    assert_eq!([run(1), run(8), run(9), run(10), run(12), run(17)], [kept; 6]);
}
