//! Compares the engine with the interpreter on every SIMD level that the machine has, over random requests
//! and all small shapes.

mod support;

use broadcheck_fast::{Fast, Input, Level, Output, Plan};
use broadcheck_reference::Reference;
use broadcheck_spec::half::f16;
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Shape,
};
use support::{Random, agree, broadcast, request, value};

fn engines() -> Vec<Fast> {
    Level::available().map(|level| Fast::with_level(level).unwrap()).collect()
}

/// The number of outcomes of each kind, so that a generator that produces only refusals does not pass.
#[derive(Default)]
struct Counts {
    successes: usize,
    elements: usize,
    refusals: usize,
}

fn check(request: &Request, engines: &[Fast], seed: u64, counts: &mut Counts) {
    let expected = Reference::new().run(request);
    match &expected {
        Outcome::Success(success) => {
            counts.successes += 1;
            counts.elements += success.tensor.values().len();
        }
        Outcome::Refusal(_) => counts.refusals += 1,
        _ => {}
    }
    for engine in engines {
        if let Err(complaint) = agree(request, &expected, &engine.run(request)) {
            panic!("{} on seed {seed}: {complaint}\n{request:#?}", engine.name());
        }
    }
}

fn sweep(seeds: std::ops::Range<u64>, scale: usize) -> Counts {
    let engines = engines();
    let mut counts = Counts::default();
    for seed in seeds {
        let mut random = Random(seed);
        let drawn = if random.chance(15) { broadcast(&mut random) } else { request(&mut random, scale) };
        let Some(drawn) = drawn else { continue };
        let sizes = drawn.operands().iter().map(|operand| operand.shape().count().unwrap().max(1));
        if sizes.fold(1usize, usize::saturating_mul) > 1 << 22 {
            continue;
        }
        check(&drawn, &engines, seed, &mut counts);
    }
    counts
}

#[test]
fn random_requests_of_small_shapes() {
    let counts = sweep(0..20_000, 1);
    assert!(counts.successes > 8_000 && counts.refusals > 2_000, "{} {}", counts.successes, counts.refusals);
}

#[test]
fn random_requests_that_need_several_tiles() {
    let counts = sweep(1_000_000..1_006_000, 60);
    assert!(counts.successes > 400 && counts.elements > 400_000, "{} {}", counts.successes, counts.elements);
}

/// One function over many short rows: whole vectors or not, one tile or several, and each operand with
/// contiguous rows or with one value per row.
#[test]
fn short_rows_of_every_pattern() {
    let engines = engines();
    let mut counts = Counts::default();
    for width in [8, 16, 17, 63] {
        let shapes: [[&[usize]; 2]; 6] = [
            [&[200, width], &[200, 1]],
            [&[6, 1, 9, 1], &[1, 7, 1, width]],
            [&[6, 1, 9, width], &[6, 7, 1, width]],
            [&[4_099, 1], &[2, 1, width]],
            [&[3, 1, 140, width], &[5, 140, 1]],
            [&[2, 1, 5, 1, 3, 1], &[1, 7, 1, 11, 1, width]],
        ];
        for (which, [a, b]) in shapes.into_iter().enumerate() {
            for (at, function) in [Function::Add, Function::Subtract, Function::Subtract, Function::Multiply]
                .into_iter()
                .enumerate()
            {
                let operand = |name, shape| {
                    if at + which < 4 { f32_operand(name, shape) } else { dense(name, shape, 0.5) }
                };
                let operands = [operand("a", a), operand("b", b)];
                let order = if at < 2 { [0, 1] } else { [1, 0] };
                let expression = Expression::call(function, order.map(Expression::operand)).unwrap();
                let operation = Operation::Elementwise { expression };
                let request = Request::new(Rules::Numpy, operation, operands.to_vec()).unwrap();
                check(&request, &engines, 0, &mut counts);
            }
        }
    }
    assert_eq!(counts.successes, 4 * 6 * 4);
}

fn f32_operand(name: &str, shape: &[usize]) -> Operand {
    let values: Vec<f32> = (0..Shape::from(shape).count().unwrap()).map(|at| at as f32 / 3.0).collect();
    Operand::dense(name, shape, values).unwrap()
}

fn dense(name: &str, shape: &[usize], first: f64) -> Operand {
    let count = Shape::from(shape).count().unwrap();
    let values: Vec<f64> = (0..count).map(|at| first + at as f64).collect();
    Operand::dense(name, shape, values).unwrap()
}

/// Every shape of rank up to 3 with lengths from this list.
fn shapes(lengths: &[usize], max_rank: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..max_rank {
        last = last
            .iter()
            .flat_map(|shape| lengths.iter().map(move |&length| [&shape[..], &[length]].concat()))
            .collect();
        all.extend(last.clone());
    }
    all
}

#[test]
fn all_small_pairs_under_all_rules() {
    let engines = engines();
    let mut counts = Counts::default();
    let shapes = shapes(&[0, 1, 2, 3], 2);
    let expression =
        Expression::call(Function::Subtract, [Expression::operand(0), Expression::operand(1)]).unwrap();
    for a in &shapes {
        for b in &shapes {
            let mut rules = vec![Rules::None, Rules::Numpy, Rules::Theano];
            rules.extend((-2..4).map(|axis| Rules::Pdpd { axis: Some(axis) }));
            rules.extend(
                [vec![], vec![0], vec![1], vec![2], vec![0, 1], vec![1, 0], vec![-1]]
                    .map(|dims| Rules::Xla { broadcast_dimensions: Some(dims) }),
            );
            for rules in rules {
                for operation in [
                    Operation::Elementwise { expression: expression.clone() },
                    Operation::Gradient { expression: expression.clone(), wrt: 0 },
                    Operation::Gradient { expression: expression.clone(), wrt: 1 },
                ] {
                    let operands = vec![dense("a", a, 1.0), dense("b", b, 100.0)];
                    let request = Request::new(rules.clone(), operation, operands).unwrap();
                    check(&request, &engines, 0, &mut counts);
                }
            }
            for rules in [Rules::Numpy, Rules::Bidirectional] {
                let operation = Operation::Broadcast { target_shape: Shape::from(&b[..]) };
                let request = Request::new(rules, operation, vec![dense("a", a, 1.0)]).unwrap();
                check(&request, &engines, 0, &mut counts);
            }
        }
    }
    assert!(counts.successes > 2_000 && counts.refusals > 5_000, "{} {}", counts.successes, counts.refusals);
}

/// A call over dense operands of these shapes, with distinct values.
fn call_of(function: Function, shapes: [&[usize]; 2], is_f32: bool) -> Request {
    let operand = |place: usize| {
        let count: usize = shapes[place].iter().product();
        let numbers = (0..count).map(|at| u8::try_from((at * 37 + 11 * place) % 251 + 1).unwrap());
        let name = ["a", "b"][place];
        if is_f32 {
            Operand::dense(name, shapes[place], numbers.map(f32::from).collect::<Vec<_>>())
        } else {
            Operand::dense(name, shapes[place], numbers.map(f64::from).collect::<Vec<_>>())
        }
    };
    let expression =
        Expression::call(function, [Expression::operand(0), Expression::operand(1)]).expect("two arguments");
    let operands = [0, 1].map(|place| operand(place).expect("one value per element"));
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands.into()).expect("well-formed")
}

#[test]
fn rows_and_columns_over_short_inner_axes() {
    let engines = engines();
    let mut counts = Counts::default();
    for (count, length) in [(30, 3), (700, 2), (700, 3), (700, 4), (700, 5), (350, 16), (350, 17), (3000, 3)]
    {
        for (function, is_f32) in [
            (Function::Add, true),
            (Function::Subtract, false),
            (Function::Subtract, true),
            (Function::Multiply, false),
            (Function::Divide, true),
            (Function::Divide, false),
        ] {
            for part in [&[count, 1][..], &[length]] {
                let whole = &[count, length][..];
                check(&call_of(function, [whole, part], is_f32), &engines, 0, &mut counts);
                check(&call_of(function, [part, whole], is_f32), &engines, 0, &mut counts);
            }
        }
    }
    assert_eq!(counts.successes, 8 * 6 * 4);
}

/// A result with non-temporal stores, aligned to a cache line and not, has the same bits on every level, and
/// nothing is written outside it.
#[test]
fn large_results_of_one_call_are_the_same_on_every_level() {
    let whole = &[350_003, 3][..];
    for part in [&[350_003, 1][..], &[3], &[350_003, 3], &[1]] {
        let request = call_of(Function::Subtract, [whole, part], false);
        let inputs: Vec<Input<'_>> =
            request.operands().iter().map(|operand| Input::from(operand.values())).collect();
        let results: Vec<Vec<f64>> = Level::available()
            .flat_map(|level| [(level, 0), (level, 3)])
            .map(|(level, start)| {
                let plan = Plan::with_level(&request, level).unwrap();
                let mut out = vec![-7.0; 350_003 * 3 + 8];
                let end = start + 350_003 * 3;
                plan.run_into(&inputs, Output::from(&mut out[start..end])).unwrap();
                assert!(out[..start].iter().chain(&out[end..]).all(|&value| value == -7.0));
                out[start..end].to_vec()
            })
            .collect();
        let (a, b) = (&request.operands()[0], &request.operands()[1]);
        let (Data::F64(a), Data::F64(b)) = (a.values(), b.values()) else { panic!("both are f64") };
        let want = |at: usize| {
            a[at]
                - match b.len() {
                    1 => b[0],
                    3 => b[at % 3],
                    350_003 => b[at / 3],
                    _ => b[at],
                }
        };
        assert!(results[0].iter().enumerate().all(|(at, &value)| value == want(at)));
        assert!(results.iter().all(|result| *result == results[0]));
    }
}

/// Gradients by an operand that is not stretched are stored like results, and long ones by non-temporal
/// stores.
#[test]
fn large_gradients_that_are_not_added_up_are_the_same_on_every_level() {
    let (rows, width) = (1031, 1030);
    let count = rows * width;
    let numbers = |count: usize, step: usize| -> Vec<f64> {
        (0..count).map(|at| (at * step % 97) as f64 / 8.0 + 0.25).collect()
    };
    let (x, row, w) = (numbers(count, 7), numbers(width, 13), numbers(count, 5));
    let dense = |name: &str, shape: &[usize], values: &Vec<f64>| {
        Operand::dense(name, shape, Data::from(values.clone())).unwrap()
    };
    let product: fn(f64, f64, f64) -> f64 = |w, _, row| w * row;
    let winner: fn(f64, f64, f64) -> f64 = |w, x, row| {
        if x == row {
            w / 2.0
        } else if x > row {
            w
        } else {
            0.0
        }
    };
    for function in [Function::Multiply, Function::Maximum] {
        let by_hand = if function == Function::Multiply { product } else { winner };
        let expression =
            Expression::call(function, [Expression::operand(0), Expression::operand(1)]).unwrap();
        let cotangent = Box::new(dense("w", &[rows, width], &w));
        let operation = Operation::Vjp { expression, wrt: 0, target_shape: None, cotangent };
        let operands = vec![dense("x", &[rows, width], &x), dense("row", &[width], &row)];
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        let want: Vec<f64> = (0..count).map(|at| by_hand(w[at], x[at], row[at % width])).collect();
        for (level, start) in Level::available().flat_map(|level| [(level, 0), (level, 3)]) {
            let plan = Plan::with_level(&request, level).unwrap();
            let mut out = vec![-7.0; count + 8];
            let end = start + count;
            let inputs = [Input::from(&x[..]), Input::from(&row[..]), Input::from(&w[..])];
            plan.run_into(&inputs, Output::from(&mut out[start..end])).unwrap();
            assert!(out[..start].iter().chain(&out[end..]).all(|&value| value == -7.0));
            assert!(out[start..end] == want, "{function:?} {level} {start}");
        }
    }
}

/// One tile of any length, also one that is not made of whole vectors: gradients over nothing that are one
/// choice, or one chain with a number.
#[test]
fn gradients_of_one_tile_that_are_not_added_up_are_the_same_on_every_level() {
    use Function as F;
    let (x, y, c) = (Expression::operand(0), Expression::operand(1), Expression::operand(2));
    let call = |function, arguments: &[&Expression]| {
        Expression::call(function, arguments.iter().map(|&argument| argument.clone())).unwrap()
    };
    let (sum, less) = (call(F::Add, &[&x, &y]), call(F::LessEqual, &[&x, &y]));
    let expressions = [
        call(F::Maximum, &[&x, &y]),
        call(F::Select, &[&c, &x, &y]),
        call(F::Select, &[&less, &x, &call(F::Multiply, &[&y, &x])]),
        call(F::Log, &[&sum]),
        call(F::Divide, &[&y, &x]),
    ];
    let lengths = [1, 7, 64, 1000, 1031, 2049, 5003, 10_000, 16_383];
    let (engines, mut counts) = (engines(), Counts::default());
    for count in lengths {
        let numbers =
            |step: usize| -> Vec<f32> { (0..count).map(|at| (at * step % 97) as f32 / 8.0 + 0.25).collect() };
        let (values, limits) = (numbers(7), numbers(13));
        let conditions: Vec<bool> = (0..count).map(|at| at * 5 % 7 < 3).collect();
        for (expression, wrt) in expressions.iter().flat_map(|expression| [(expression, 0), (expression, 1)])
        {
            let mut operands = vec![
                Operand::dense("x", [count], Data::from(values.clone())).unwrap(),
                Operand::dense("y", [count], Data::from(limits.clone())).unwrap(),
            ];
            if expression.reads(2) {
                operands.push(Operand::dense("c", [count], Data::from(conditions.clone())).unwrap());
            }
            let operation = Operation::Gradient { expression: expression.clone(), wrt };
            let request = Request::new(Rules::Numpy, operation, operands).unwrap();
            check(&request, &engines, count as u64, &mut counts);
        }
    }
    assert_eq!(counts.successes, lengths.len() * expressions.len() * 2);
}

#[test]
fn large_results_of_halves_are_the_same_on_every_level() {
    let count = 4 << 20;
    let halves = |step: usize| -> Vec<f16> {
        (0..count).map(|at| f16::from_f32((at * step % 1021) as f32 / 64.0)).collect()
    };
    let operand = |name: &str, step: usize| Operand::dense(name, [count], halves(step)).expect("one each");
    let expression =
        Expression::call(Function::Multiply, [Expression::operand(0), Expression::operand(1)]).unwrap();
    let operation = Operation::Elementwise { expression };
    let request = Request::new(Rules::Numpy, operation, vec![operand("a", 7), operand("b", 13)]).unwrap();
    let (a, b) = (halves(7), halves(13));
    let want: Vec<u16> =
        a.iter().zip(&b).map(|(a, b)| f16::from_f32(a.to_f32() * b.to_f32()).to_bits()).collect();
    for level in Level::available() {
        let plan = Plan::with_level(&request, level).unwrap();
        let result = plan.run(&[Input::from(&a[..]), Input::from(&b[..])]).unwrap();
        let Data::F16(values) = result.values() else { panic!("an f16 result") };
        assert!(values.iter().map(|value| value.to_bits()).eq(want.iter().copied()), "{level}");
    }
}

/// Dense operands of a dtype with special and other values, and one function of both.
fn call_of_dtype(random: &mut Random, function: Function, dtype: DType, shapes: [&[usize]; 2]) -> Request {
    let operand = |(shape, name): (&[usize], &str)| {
        let count = shape.iter().product();
        let values = (0..count).map(|_| value(random, dtype)).collect::<Vec<_>>();
        Operand::dense(name, shape, Data::from_scalars(dtype, values).unwrap()).unwrap()
    };
    let operands = shapes.into_iter().zip(["a", "b"]).map(operand).collect();
    let expression = Expression::call(function, [Expression::operand(0), Expression::operand(1)]).unwrap();
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
}

/// Rows so long that a call runs once for each: columns, rows and matrices under blocks of rows.
#[test]
fn calls_over_long_rows() {
    let engines = engines();
    let (mut counts, mut random) = (Counts::default(), Random(26));
    for (dtype, function) in [
        (DType::F64, Function::Less),
        (DType::F64, Function::Maximum),
        (DType::F32, Function::Divide),
        (DType::F16, Function::Add),
        (DType::F16, Function::Minimum),
        (DType::Bf16, Function::Multiply),
        (DType::Bf16, Function::Equal),
        (DType::I64, Function::Add),
        (DType::I8, Function::Maximum),
        (DType::U8, Function::GreaterEqual),
        (DType::Bool, Function::LogicalOr),
    ] {
        for (whole, part) in [
            (&[5, 70][..], &[5, 1][..]),
            (&[5, 130], &[130]),
            (&[1, 257], &[3, 1]),
            (&[3, 4, 65], &[4, 1]),
            (&[3, 4, 65], &[3, 1, 1]),
            (&[2, 3, 4, 64], &[2, 1, 4, 64]),
            (&[2, 3, 4, 64], &[3, 1, 1]),
        ] {
            for shapes in [[whole, part], [part, whole]] {
                check(&call_of_dtype(&mut random, function, dtype, shapes), &engines, 0, &mut counts);
            }
        }
    }
    assert_eq!(counts.successes, 11 * 7 * 2);
}

/// Halves are computed in their bits, so values of another type of 16 bits must not be taken for halves.
#[test]
fn halves_beside_other_types_of_16_bits() {
    let engines = engines();
    let (mut counts, mut random) = (Counts::default(), Random(27));
    let operand = |random: &mut Random, name: &str, dtype| {
        let values = (0..90).map(|_| value(random, dtype)).collect::<Vec<_>>();
        Operand::dense(name, [90], Data::from_scalars(dtype, values).unwrap()).unwrap()
    };
    let halves = [DType::F16, DType::Bf16];
    for (half, other) in halves.into_iter().flat_map(|half| {
        [DType::F16, DType::Bf16, DType::U16, DType::I16].into_iter().map(move |other| (half, other))
    }) {
        let operands = [("a", half), ("b", half), ("c", other), ("d", other)];
        let operands = operands.map(|(name, dtype)| operand(&mut random, name, dtype)).into();
        let call = |function, a, b| Expression::call(function, [a, b]).unwrap();
        let x = Expression::operand;
        let less = call(Function::Less, x(2), x(3));
        let (sum, larger) = (call(Function::Add, x(0), x(1)), call(Function::Maximum, x(1), x(0)));
        let expression = Expression::call(Function::Select, [less, sum, larger]).unwrap();
        let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
        check(&request, &engines, 0, &mut counts);
    }
    assert_eq!(counts.successes, 8);
}

/// The same beside an operand that the expression does not use, for each way in which one call is computed.
#[test]
fn halves_beside_unused_types_of_16_bits() {
    let engines = engines();
    let (mut counts, mut random) = (Counts::default(), Random(28));
    for (half, other) in [(DType::F16, DType::Bf16), (DType::Bf16, DType::F16), (DType::F16, DType::U16)] {
        let data = |count: usize, _| {
            let mut random = Random(29);
            Data::from_scalars(half, (0..count).map(|_| value(&mut random, half))).unwrap()
        };
        for request in [
            call_of_dtype(&mut random, Function::Add, half, [&[3, 5], &[5]]),
            call_of_dtype(&mut random, Function::Multiply, half, [&[5, 300], &[5, 1]]),
            call_of_dtype(&mut random, Function::Maximum, half, [&[700], &[700]]),
            call_with_transposed(Function::Subtract, [130, 140], false, data),
        ] {
            let values = Data::from_scalars(other, [value(&mut random, other)]).unwrap();
            let mut operands = request.operands().to_vec();
            operands.push(Operand::dense("c", [1], values).unwrap());
            let request = Request::new(Rules::Numpy, request.operation().clone(), operands).unwrap();
            check(&request, &engines, 0, &mut counts);
        }
    }
    assert_eq!(counts.successes, 12);
}

#[test]
fn transposed_operands_of_every_width() {
    let engines = engines();
    let mut counts = Counts::default();
    for side in [2, 5, 20, 33, 130, 250, 300, 500] {
        let values = |shift: usize| (0..side * side).map(|at| (at * 7 + shift) as f64).collect::<Vec<_>>();
        let strides = vec![1, i64::try_from(side).unwrap()];
        let a = Operand::dense("a", [side, side], values(0)).unwrap();
        let b = Operand::view("b", [side, side], values(3), Some(strides), 0).unwrap();
        let expression =
            Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
        let operation = Operation::Elementwise { expression };
        check(&Request::new(Rules::Numpy, operation, vec![a, b]).unwrap(), &engines, 0, &mut counts);
    }
    assert_eq!(counts.successes, 8);
}

/// A dense operand and a transposed one of a shape, in either order, and one function of both.
fn call_with_transposed(
    function: Function,
    [rows, width]: [usize; 2],
    swapped: bool,
    data: impl Fn(usize, u64) -> Data,
) -> Request {
    // The transposed operand begins at its second element, and its columns are further apart than they are
    // long.
    let step = rows + 3;
    let strides = vec![1, i64::try_from(step).unwrap()];
    let dense = Operand::dense("a", [rows, width], data(rows * width, 1)).unwrap();
    let turned = Operand::view("b", [rows, width], data(step * width, 2), Some(strides), 1).unwrap();
    let operands = if swapped { vec![turned, dense] } else { vec![dense, turned] };
    let expression = Expression::call(function, [Expression::operand(0), Expression::operand(1)]).unwrap();
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
}

/// Blocks that are cut at the right, at the bottom and at both, of every size of element.
#[test]
fn transposed_operands_of_calls_in_blocks() {
    let engines = engines();
    let mut counts = Counts::default();
    for (dtype, function) in [
        (DType::F64, Function::Subtract),
        (DType::F32, Function::Divide),
        (DType::F32, Function::Less),
        (DType::F16, Function::Subtract),
        (DType::Bf16, Function::Maximum),
        (DType::I64, Function::GreaterEqual),
        (DType::I8, Function::Subtract),
    ] {
        for shape in [[64, 64], [64, 65], [65, 64], [63, 70], [127, 129], [70, 200]] {
            for swapped in [false, true] {
                let data = |count: usize, seed: u64| {
                    let mut random = Random(seed);
                    Data::from_scalars(dtype, (0..count).map(|_| value(&mut random, dtype))).unwrap()
                };
                check(&call_with_transposed(function, shape, swapped, data), &engines, 0, &mut counts);
            }
        }
    }
    assert_eq!(counts.successes, 7 * 6 * 2);
}

/// So large that stores are non-temporal and threads share the rows.
#[test]
fn large_transposed_operands_have_the_same_bits_on_every_level() {
    let [rows, width] = [1_100, 1_003];
    let number = |at: usize, seed: u64| (at * 37 % 10_007) as f64 / 16.0 + seed as f64;
    let data =
        |count: usize, seed: u64| Data::from((0..count).map(|at| number(at, seed)).collect::<Vec<_>>());
    for swapped in [false, true] {
        let request = call_with_transposed(Function::Subtract, [rows, width], swapped, data);
        let want = (0..rows * width).map(|at| {
            let (row, column) = (at / width, at % width);
            let (a, b) = (number(at, 1), number(1 + column * (rows + 3) + row, 2));
            if swapped { b - a } else { a - b }
        });
        let want: Vec<f64> = want.collect();
        for engine in engines() {
            let Outcome::Success(success) = engine.run(&request) else { panic!("a refusal") };
            assert!(*success.tensor.values() == Data::from(want.clone()), "{}", engine.name());
        }
    }
    // Blocks of f32 have more columns.
    let [rows, width] = [1_500, 1_501];
    let whole = |number: u64| f32::from(u16::try_from(number).unwrap());
    let single = |at: usize, seed: u64| whole(at as u64 * 37 % 10_007) / 16.0 + whole(seed);
    let data =
        |count: usize, seed: u64| Data::from((0..count).map(|at| single(at, seed)).collect::<Vec<_>>());
    let request = call_with_transposed(Function::Subtract, [rows, width], false, data);
    let want =
        (0..rows * width).map(|at| single(at, 1) - single(1 + at % width * (rows + 3) + at / width, 2));
    let want: Vec<f32> = want.collect();
    for engine in engines() {
        let Outcome::Success(success) = engine.run(&request) else { panic!("a refusal") };
        assert!(*success.tensor.values() == Data::from(want.clone()), "{}", engine.name());
    }
}
