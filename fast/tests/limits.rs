//! Requests at the limits of size and depth, errors about buffers, levels, threads and non-temporal stores.

use broadcheck_fast::{Fast, Input, Level, NoPlan, Output, Plan, Unavailable, WrongBuffers, math};
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome, RefusalKind, Request,
    Rules, Shape,
};

fn copy_to(operand: Operand, target: &[usize]) -> Outcome {
    let operation = Operation::Broadcast { target_shape: Shape::from(target) };
    Fast::new().run(&Request::new(Rules::Numpy, operation, vec![operand]).unwrap())
}

fn scalar() -> Operand {
    Operand::dense("a", [], vec![7i8]).unwrap()
}

fn refusal(outcome: Outcome) -> Option<RefusalKind> {
    match outcome {
        Outcome::Refusal(refusal) => refusal.kind,
        _ => None,
    }
}

#[test]
fn counts_beyond_63_bits_are_refused_and_others_skipped() {
    assert_eq!(refusal(copy_to(scalar(), &[1 << 62, 2])), Some(RefusalKind::TooLarge));
    assert_eq!(refusal(copy_to(scalar(), &[0, 1 << 40, 1 << 40])), Some(RefusalKind::TooLarge));
    assert!(matches!(copy_to(scalar(), &[1 << 62, 1]), Outcome::Skipped { .. }));
    assert!(matches!(copy_to(scalar(), &[(1 << 28) + 1]), Outcome::Skipped { .. }));
    let Outcome::Success(success) = copy_to(scalar(), &[0, 1 << 62]) else { panic!("an empty result") };
    assert!(success.tensor.values().is_empty());
}

#[test]
fn rank_64_with_a_view_of_strides_as_large_as_they_get() {
    let strides = vec![i64::MIN; 64];
    let view = Operand::view("a", vec![1; 64], vec![3i64, 4], Some(strides), 1).unwrap();
    let mut target = vec![1; 64];
    (target[0], target[31], target[63]) = (2, 3, 5);
    let Outcome::Success(success) = copy_to(view, &target) else { panic!("accepted") };
    assert_eq!(success.tensor.values(), &vec![4i64; 30].into());
}

#[test]
fn the_limit_applies_to_the_underlying_result_and_the_intermediate() {
    let stretched = |name: &str, shape: [usize; 2]| {
        Operand::view(name, shape, vec![1.0f32], Some(vec![0, 0]), 0).unwrap()
    };
    let expression =
        Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
    let operands = vec![stretched("a", [1 << 20, 1]), stretched("b", [1, 1 << 20])];
    let gradient = Operation::Gradient { expression: expression.clone(), wrt: 0 };
    let request = Request::new(Rules::Numpy, gradient, operands).unwrap();
    assert!(matches!(Fast::new().run(&request), Outcome::Skipped { .. }));

    let line = Operand::view("a", [1 << 30], vec![1.0f32], Some(vec![0]), 0).unwrap();
    let empty = Operand::dense("b", [1, 0], Vec::<f32>::new()).unwrap();
    let rules = Rules::Xla { broadcast_dimensions: Some(vec![0]) };
    let request = Request::new(rules, Operation::Elementwise { expression }, vec![line, empty]).unwrap();
    let Outcome::Success(success) = Fast::new().run(&request) else { panic!("everything is empty") };
    assert_eq!(success.intermediate.map(|tensor| tensor.shape().clone()), Some(Shape::from([1 << 30, 0])));
}

#[test]
fn expressions_of_any_depth() {
    let mut expression = Expression::operand(0);
    for depth in 0..2_000 {
        let function = [Function::Sqrt, Function::Abs, Function::Add, Function::Maximum][depth % 4];
        expression = match function.arity() {
            1 => Expression::call(function, [expression]).unwrap(),
            _ => Expression::call(function, [Expression::operand(0), expression]).unwrap(),
        };
    }
    let operand = Operand::dense("a", [3], vec![1.0, 2.0, 3.0]).unwrap();
    for operation in [
        Operation::Elementwise { expression: expression.clone() },
        Operation::Gradient { expression, wrt: 0 },
    ] {
        let request = Request::new(Rules::Numpy, operation, vec![operand.clone()]).unwrap();
        assert!(matches!(Fast::new().run(&request), Outcome::Success(_)));
    }
}

fn sum() -> Request {
    let expression =
        Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
    let a = Operand::dense("a", [2, 3], vec![1.0f32; 6]).unwrap();
    let b = Operand::dense("b", [3], vec![1.0f32; 3]).unwrap();
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, vec![a, b]).unwrap()
}

#[test]
fn a_plan_rejects_buffers_that_do_not_match() {
    let plan = Plan::new(&sum()).unwrap();
    assert_eq!((plan.shape(), plan.dtype()), (&[2, 3][..], DType::F32));
    let (a, b) = ([1.0f32; 6], [2.0f32, 3.0, 4.0]);
    let tensor = plan.run(&[Input::from(&a[..]), Input::from(&b[..])]).unwrap();
    assert_eq!(tensor.values(), &vec![3.0f32, 4.0, 5.0, 3.0, 4.0, 5.0].into());

    let short = plan.run(&[Input::from(&a[..5]), Input::from(&b[..])]);
    assert_eq!(short, Err(WrongBuffers::Length { operand: 0, found: 5, expected: 6 }));
    let one_buffer = plan.run(&[Input::from(&a[..])]);
    assert_eq!(one_buffer, Err(WrongBuffers::Operands { found: 1, expected: 2 }));
    let wide = plan.run(&[Input::from(&a[..]), Input::from(&[1.0f64; 3][..])]);
    assert_eq!(wide, Err(WrongBuffers::DType { operand: 1, found: DType::F64, expected: DType::F32 }));
    let mut out = [0.0f32; 7];
    let output = plan.run_into(&[Input::from(&a[..]), Input::from(&b[..])], Output::from(&mut out[..]));
    let expected = (DType::F32, 6);
    assert_eq!(output, Err(WrongBuffers::Output { found: (DType::F32, 7), expected }));
    // A plan with many tiles checks its output too.
    let long = Operand::dense("a", [70_000], vec![1.0f32; 70_000]).unwrap();
    let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(0)]).unwrap();
    let operation = Operation::Elementwise { expression: sum };
    let plan = Plan::new(&Request::new(Rules::Numpy, operation, vec![long]).unwrap()).unwrap();
    let many = plan.run_into(&[Input::from(&[1.0f32; 70_000][..])], Output::from(&mut out[..]));
    let expected = (DType::F32, 70_000);
    assert_eq!(many, Err(WrongBuffers::Output { found: (DType::F32, 7), expected }));
    for (wrong, message) in [
        (short.unwrap_err(), "operand 0: found 5 values, expected at least 6"),
        (one_buffer.unwrap_err(), "found 1 operand buffers, expected 2"),
        (wide.unwrap_err(), "operand 1: found dtype f64, expected f32"),
        (output.unwrap_err(), "output: found 7 values of f32, expected 6 of f32"),
    ] {
        assert_eq!(wrong.to_string(), message);
    }
}

#[test]
fn a_gradient_into_a_used_buffer_starts_from_zero() {
    let expression =
        Expression::call(Function::Multiply, [Expression::operand(0), Expression::operand(1)]).unwrap();
    let (_, _, operands) = sum().into_parts();
    let gradient = Operation::Gradient { expression, wrt: 1 };
    let plan = Plan::new(&Request::new(Rules::Numpy, gradient, operands).unwrap()).unwrap();
    let mut out = [100.0f32; 3];
    for _ in 0..2 {
        let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        plan.run_into(&[Input::from(&a[..]), Input::from(&[0.0f32; 3][..])], Output::from(&mut out[..]))
            .unwrap();
        assert_eq!(out, [5.0, 7.0, 9.0]);
    }
}

/// Of an operand that is not stretched, which nothing is added to otherwise.
#[test]
fn a_gradient_that_is_zero_clears_a_used_buffer() {
    let (_, _, operands) = sum().into_parts();
    let gradient = Operation::Gradient { expression: Expression::operand(1), wrt: 0 };
    let plan = Plan::new(&Request::new(Rules::Numpy, gradient, operands).unwrap()).unwrap();
    let mut out = [100.0f32; 6];
    let (a, b) = ([1.0f32; 6], [1.0f32; 3]);
    plan.run_into(&[Input::from(&a[..]), Input::from(&b[..])], Output::from(&mut out[..])).unwrap();
    assert_eq!(out, [0.0; 6]);
}

#[test]
fn refusals_are_errors_of_the_plan() {
    let (_, operation, _) = sum().into_parts();
    let operands = vec![
        Operand::dense("a", [2], vec![1.0f32; 2]).unwrap(),
        Operand::dense("b", [3], vec![1.0f32; 3]).unwrap(),
    ];
    let error = Plan::new(&Request::new(Rules::Numpy, operation, operands).unwrap()).unwrap_err();
    assert!(matches!(error, NoPlan::Refused(refusal) if refusal.axis == Some(0)));
}

#[test]
fn levels_have_names_and_are_detected() {
    for level in Level::ALL {
        match Fast::with_level(level) {
            Ok(engine) => assert_eq!(engine.name(), format!("fast@{level}")),
            Err(Unavailable(missing)) => assert!(missing == level && !level.is_available()),
        }
        assert_eq!(level.name().parse(), Ok(level));
    }
    assert!("sse9".parse::<Level>().is_err());
    // There is a level whatever the environment contains, and the variable is respected.
    match Level::requested() {
        Ok(Some(level)) if level.is_available() => assert_eq!(Level::detect(), level),
        _ => assert_eq!(Some(Level::detect()), Level::available().last()),
    }
    assert_eq!(Fast::new().name(), "fast");
    assert!(Level::Portable.is_available() && Fast::new().level().is_available());
}

/// Starts its own binary again with the variable set, because all tests of a process share one environment.
#[test]
fn the_environment_variable_selects_a_level() {
    const EXPECTED: &str = "BROADCHECK_TEST_EXPECTS";
    if let Ok(expected) = std::env::var(EXPECTED) {
        let found = Level::requested().map(|level| level.map_or("none", Level::name));
        return assert_eq!(found.unwrap_or("no level"), expected);
    }
    for (variable, expected) in [("portable", "portable"), ("", "none"), ("sse9", "no level")] {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "the_environment_variable_selects_a_level"]);
        let output = again.env("BROADCHECK_SIMD", variable).env(EXPECTED, expected).output().unwrap();
        assert!(output.status.success(), "{variable}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let shapes: [&[usize]; 3] = [&[700, 1], &[900], &[700, 900]];
    let operand = |(at, shape): (usize, &&[usize])| {
        let count: usize = shape.iter().product();
        let values: Vec<f64> = (0..count).map(|value| (value * (at + 2) % 1009) as f64 / 7.0).collect();
        Operand::dense(format!("x{at}"), *shape, values).unwrap()
    };
    let operands: Vec<Operand> = shapes.iter().enumerate().map(operand).collect();
    let x = Expression::operand;
    let call = |function, arguments: Vec<Expression>| Expression::call(function, arguments).unwrap();
    let product = call(Function::Multiply, vec![x(0), x(2)]);
    let expression = call(Function::Sqrt, vec![call(Function::Add, vec![product, x(1)])]);
    let choice = call(Function::Select, vec![call(Function::Less, vec![x(2), x(0)]), x(2), x(1)]);
    for operation in [
        Operation::Elementwise { expression: choice },
        Operation::Elementwise { expression: expression.clone() },
        Operation::Gradient { expression: expression.clone(), wrt: 1 },
        // More elements than sums in parts allow.
        Operation::Gradient { expression, wrt: 2 },
    ] {
        with_any_number_of_threads(&Request::new(Rules::Numpy, operation, operands.clone()).unwrap());
    }
}

fn with_any_number_of_threads(request: &Request) -> Outcome {
    let answers: Vec<Outcome> = [1, 2, 3, 8]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Fast::new().run(request))
        })
        .into();
    assert!(matches!(answers[0], Outcome::Success(_)));
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    answers[0].clone()
}

#[test]
fn a_large_gradient_is_summed_by_regions() {
    // Sums of integers do not depend on the order.
    let values = |count: usize| -> Vec<f64> { (0..count).map(|at| (at % 1009) as f64).collect() };
    let product =
        Expression::call(Function::Multiply, [Expression::operand(0), Expression::operand(1)]).unwrap();
    for (outer, middle, inner) in [(40, 150, 501), (3, 1, 70_003), (2, 9_001, 8)] {
        let long = values(outer * middle * inner);
        let operands = vec![
            Operand::dense("a", [middle, outer, inner], long.clone()).unwrap(),
            Operand::dense("b", [middle, 1, inner], values(middle * inner)).unwrap(),
        ];
        let operation = Operation::Gradient { expression: product.clone(), wrt: 1 };
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        let Outcome::Success(success) = with_any_number_of_threads(&request) else { panic!("accepted") };
        let mut expected = vec![0.0; middle * inner];
        for (at, value) in long.iter().enumerate() {
            expected[at / (outer * inner) * inner + at % inner] += value;
        }
        assert_eq!(success.tensor.values(), &expected.into());
    }
    let operands = vec![
        Operand::dense("a", [40, 300, 251], values(40 * 300 * 251)).unwrap(),
        Operand::dense("b", [300, 251], values(300 * 251)).unwrap(),
    ];
    let operation = Operation::Gradient { expression: product, wrt: 1 };
    let request = Request::new(Rules::Numpy, operation, operands).unwrap();
    let Outcome::Success(success) = with_any_number_of_threads(&request) else { panic!("accepted") };
    let mut expected = vec![0.0; 300 * 251];
    for (at, value) in values(40 * 300 * 251).iter().enumerate() {
        expected[at % (300 * 251)] += value;
    }
    assert_eq!(success.tensor.values(), &expected.into());
}

/// Of operands that are larger than a second-level cache, the next tile is prefetched while functions are
/// computed. The last tile is shorter.
#[test]
fn functions_of_large_operands_are_those_of_each_element() {
    let x = Expression::operand;
    let run = |function, shapes: [&[usize]; 2], values: [&Vec<f64>; 2]| {
        let operands = shapes.into_iter().zip(values).zip(["a", "b"]);
        let operands =
            operands.map(|((shape, values), name)| Operand::dense(name, shape, values.clone()).unwrap());
        let sum = Expression::call(Function::Add, [x(0), x(1)]).unwrap();
        let expression = match function {
            Function::Power => Expression::call(function, [x(0), x(1)]).unwrap(),
            _ => Expression::call(function, [sum]).unwrap(),
        };
        let operation = Operation::Elementwise { expression };
        let request = Request::new(Rules::Numpy, operation, operands.collect()).unwrap();
        let Outcome::Success(success) = with_any_number_of_threads(&request) else { panic!("accepted") };
        success.tensor.values().clone()
    };
    // The values repeat, so that few expected values are computed.
    let (count, period) = (600_007, 1013);
    let long: Vec<f64> = (0..count).map(|at| (at % period) as f64 / 200.0 + 0.01).collect();
    for (one, place) in [(vec![2.5], 1), (vec![0.75], 0)] {
        let (shapes, values) = if place == 1 {
            ([&[count][..], &[1]], [&long, &one])
        } else {
            ([&[1][..], &[count]], [&one, &long])
        };
        let pair = |&value: &f64| if place == 1 { (value, one[0]) } else { (one[0], value) };
        let each = |f: fn(f64, f64) -> f64| {
            let few: Vec<u64> = long[..period].iter().map(pair).map(|(a, b)| f(a, b).to_bits()).collect();
            few.into_iter().cycle().take(count).collect::<Vec<_>>()
        };
        let bits = |data: Data| match data {
            Data::F64(values) => values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert!(bits(run(Function::Power, shapes, values)) == each(math::power_f64_scalar));
        assert!(bits(run(Function::Tanh, shapes, values)) == each(|a, b| math::tanh_f64_scalar(a + b)));
    }
    let rows = long[..600_000].to_vec();
    let row: Vec<f64> = (0..600).map(|at| at as f64 / 300.0).collect();
    let powers = run(Function::Power, [&[1000, 600], &[600]], [&rows, &row]);
    let expected: Vec<f64> =
        rows.iter().enumerate().map(|(at, &value)| math::power_f64_scalar(value, row[at % 600])).collect();
    assert!(powers == Data::from(expected));
}

/// The gradients of operands that are larger than a second-level cache are added up while they are computed,
/// or prefetch while they are added. A tile is one row, so that it is added to as many elements. Of small
/// integers, every sum is exact.
#[test]
fn gradients_of_large_operands_are_exact_sums() {
    let x = Expression::operand;
    let call = |function, arguments: [Expression; 2]| Expression::call(function, arguments).unwrap();
    let (rows, columns) = (301, 5003);
    let whole = |factor: usize| -> Vec<f32> {
        (0..rows * columns).map(|at| (at * factor % 1013 % 4) as f32).collect()
    };
    let (a, weights) = (whole(7), whole(11));
    let product = call(Function::Multiply, [x(0), x(1)]);
    let difference = call(Function::Subtract, [x(0), x(1)]);
    let twice = call(Function::Multiply, [difference, x(0)]);
    let maximum = call(Function::Maximum, [x(0), x(1)]);
    type Slope = fn(f32, f32) -> f32;
    // Where both of a maximum are equal, each has a half.
    let of_maximum: Slope = |a, b| if a == b { 0.5 } else { f32::from(u8::from(b > a)) };
    let slopes: [(&Expression, Slope); 3] =
        [(&product, |a, _| a), (&twice, |a, _| -a), (&maximum, of_maximum)];
    for shape in [vec![columns], vec![rows, 1], vec![1]] {
        let count: usize = shape.iter().product();
        let b: Vec<f32> = (0..count).map(|at| (at % 5) as f32).collect();
        let place = |at: usize| if count == columns { at % columns } else { at / columns % count };
        for (expression, slope) in slopes {
            let dense = |name: &str, shape: &[usize], values: &[f32]| {
                Operand::dense(name, shape, values.to_vec()).unwrap()
            };
            let operands = vec![dense("a", &[rows, columns], &a), dense("b", &shape, &b)];
            let cotangent = Box::new(dense("w", &[rows, columns], &weights));
            let expression = expression.clone();
            let operation = Operation::Vjp { expression, wrt: 1, target_shape: None, cotangent };
            let request = Request::new(Rules::Numpy, operation, operands).unwrap();
            let Outcome::Success(success) = with_any_number_of_threads(&request) else { panic!("accepted") };
            let mut expected = vec![0.0f32; count];
            for (at, (a, weight)) in a.iter().zip(&weights).enumerate() {
                expected[place(at)] += weight * slope(*a, b[place(at)]);
            }
            assert!(*success.tensor.values() == Data::from(expected), "{shape:?}");
        }
    }
}

#[test]
fn a_transposed_operand_gives_the_bits_of_its_dense_copy() {
    let x = Expression::operand;
    let call = |function, arguments: Vec<Expression>| Expression::call(function, arguments).unwrap();
    // In the fourth shape, a thread's share starts at the last row of a panel and ends within the next panel.
    let shapes = [(1, 37, 3_001), (3, 16, 1_500), (2, 5, 9_000), (5, 12, 15_500), (1, 211, 1_024)];
    for (batch, rows, columns) in shapes {
        let count = batch * rows * columns;
        let across: Vec<f32> = (0..count).map(|at| (at * 7 % 8191) as f32 / 64.0).collect();
        let mut copied = Vec::with_capacity(count);
        for at in 0..count {
            let (batch, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
            copied.push(across[batch * rows * columns + column * rows + row]);
        }
        let shape = [batch, rows, columns];
        let strides = Some([rows * columns, 1, rows].map(|stride| stride as i64).to_vec());
        let view = Operand::view("a", shape, across, strides, 0).unwrap();
        let copy = Operand::dense("a", shape, copied).unwrap();
        let line = |count: usize| -> Vec<f32> { (0..count).map(|at| (at % 97) as f32 / 8.0).collect() };
        let reversed = Operand::view("b", [columns], line(columns), Some(vec![-1]), columns - 1).unwrap();
        let others = [reversed, Operand::dense("c", [rows, 1], line(rows)).unwrap()];
        // A row that is gathered and kept, a column, and a scalar.
        let product = call(Function::Multiply, vec![x(0), call(Function::Sqrt, vec![x(1)])]);
        let expression = call(Function::Maximum, vec![call(Function::Add, vec![product, x(2)]), x(0)]);
        let request = |first: &Operand| {
            let operands = [&[first.clone()][..], &others[..]].concat();
            let operation = Operation::Elementwise { expression: expression.clone() };
            Request::new(Rules::Numpy, operation, operands).unwrap()
        };
        assert_eq!(with_any_number_of_threads(&request(&view)), with_any_number_of_threads(&request(&copy)));
        let target_shape = Shape::from([batch, rows, columns]);
        let onto = |operand: &Operand| {
            let operation = Operation::Broadcast { target_shape: target_shape.clone() };
            Fast::new().run(&Request::new(Rules::Numpy, operation, vec![operand.clone()]).unwrap())
        };
        assert_eq!(onto(&view), onto(&copy));
    }
}

/// The output is aligned to a cache line, where rows of whole lines are written directly, and not aligned.
#[test]
fn non_temporal_stores_of_short_rows_are_exact() {
    let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
    for width in [16, 17] {
        let (a, b): (Vec<f64>, Vec<f64>) = (
            (0..70 * 97).map(f64::from).collect(),
            (0..11 * width).map(|at| f64::from(at) / 512.0).collect(),
        );
        let width = b.len() / 11;
        let operands = vec![
            Operand::dense("a", [70, 1, 97, 1], a.clone()).unwrap(),
            Operand::dense("b", [1, 11, 1, width], b.clone()).unwrap(),
        ];
        let operation = Operation::Elementwise { expression: sum.clone() };
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        // At least 9.1 MiB.
        let count = 70 * 11 * 97 * width;
        let mut buffer = vec![0.0; count + 9];
        let line = buffer.as_ptr().align_offset(64);
        for level in Level::available() {
            let plan = Plan::with_level(&request, level).unwrap();
            for start in [line, line + 1] {
                buffer.fill(-1.0);
                let inputs = [Input::from(&a[..]), Input::from(&b[..])];
                plan.run_into(&inputs, Output::from(&mut buffer[start..start + count])).unwrap();
                let value = |at: usize| {
                    a[at / (97 * width * 11) * 97 + at / width % 97]
                        + b[at / (97 * width) % 11 * width + at % width]
                };
                assert!((0..count).all(|at| buffer[start + at] == value(at)), "{level} from {start}");
                assert!(
                    buffer[start + count..].iter().all(|&value| value == -1.0),
                    "wrote outside the output"
                );
            }
        }
    }
}

#[test]
fn non_temporal_stores_of_large_results_are_exact() {
    let x = Expression::operand;
    let call = |function, arguments: Vec<Expression>| Expression::call(function, arguments).unwrap();
    let values =
        |count: usize| -> Vec<f64> { (0..count).map(|at| (at % 8191) as f64 / 3.0 - 900.0).collect() };
    // 9.3 MiB. The length of a row is not a multiple of a cache line.
    let matrix = Operand::dense("a", [1_101, 1_109], values(1_101 * 1_109)).unwrap();
    let row = Operand::dense("b", [1_109], values(1_109)).unwrap();
    let column = Operand::view("c", [1_101, 1], values(3_400), Some(vec![-3, 1]), 3_301).unwrap();
    let operands = vec![matrix, row.clone(), column];
    let sum = call(Function::Add, vec![x(0), x(1)]);
    let expressions = [
        sum.clone(),
        call(Function::Divide, vec![sum.clone(), x(2)]),
        call(Function::Maximum, vec![sum, x(2)]),
        call(Function::Select, vec![call(Function::Less, vec![x(0), x(1)]), x(0), x(2)]),
        x(1),
        x(2),
    ];
    let elementwise = expressions.into_iter().map(|expression| {
        let operation = Operation::Elementwise { expression };
        Request::new(Rules::Numpy, operation, operands.clone()).unwrap()
    });
    let target_shape = Shape::from([2, 700, 1_109]);
    let broadcast = Request::new(Rules::Numpy, Operation::Broadcast { target_shape }, vec![row]).unwrap();
    for request in elementwise.chain([broadcast]) {
        let portable = Fast::with_level(Level::Portable).unwrap().run(&request);
        assert!(matches!(&portable, Outcome::Success(success) if success.tensor.values().len() > 1 << 20));
        for level in Level::available().skip(1) {
            assert!(Fast::with_level(level).unwrap().run(&request) == portable, "{level}");
        }
    }
}
