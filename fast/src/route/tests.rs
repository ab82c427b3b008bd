//! Which route a problem takes.

use super::{Task, computes_longer, fold_route, general};
use crate::Level;
use crate::arch::{is_intel, table};
use crate::lower::{Lowered, lower};
use crate::problem::Problem;
use crate::route::Route;
use broadcheck_spec::{DType, Data, Expression, Function, Operand, Operation, Request, Rules};

/// A request's program by [`fold_route`], if there is one, and by [`general`] alone.
fn both(expression: Expression, operands: Vec<Operand>) -> (Option<String>, String) {
    let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
    let problem = Problem::of(&request);
    let mut lowered = Lowered::default();
    let dtype = lower(&problem, &mut lowered).unwrap();
    let (count, table) = (lowered.shape.iter().product(), table(Level::detect()));
    let task = Task { table, dtype, count, is_sum: false, is_staged: false, half: None };
    let Ok(route) = general(task, &problem, &lowered, count) else { panic!("no route") };
    let short = fold_route(task, &problem, &lowered).map(Route::Fold);
    (short.map(|route| format!("{route:?}")), format!("{route:?}"))
}

/// The plan of an operation over two dense operands of ones.
fn plan_of_two<T: Clone>(one: T, shapes: [[usize; 2]; 2], operation: Operation) -> crate::Plan
where
    Vec<T>: Into<Data>,
{
    let operands = ["x", "y"].iter().zip(shapes).map(|(name, shape)| {
        Operand::dense(*name, shape, vec![one.clone(); shape.iter().product()]).unwrap()
    });
    crate::Plan::new(&Request::new(Rules::Numpy, operation, operands.collect()).unwrap()).unwrap()
}

#[test]
fn a_chain_is_planned_as_by_the_scheduler() {
    use Function as F;
    let arithmetic = [F::Add, F::Subtract, F::Multiply, F::Divide];
    let choices = [F::Maximum, F::Subtract, F::Minimum, F::Add];
    let unary = [F::Tanh, F::Abs, F::Sqrt, F::Exp];
    // One row, or several: of three elements, which are gathered, and of sixteen.
    let sets: [[&[usize]; 4]; 2] = [[&[2, 3], &[2, 3], &[1], &[3]], [&[5, 16], &[5, 1], &[1], &[16]]];
    let (mut short, mut all) = (0, 0);
    // The digits of a number choose functions, shapes and on which side the chain is.
    for number in 0..4096usize {
        let digit = |at: usize| number >> (2 * at) & 3;
        let shapes = sets[number % 2];
        let binary = if number % 3 == 0 { choices } else { arithmetic };
        let shape = |place: usize| shapes[digit(5 - place)];
        let mut expression = Expression::operand(0);
        for place in 1..4 {
            let other = Expression::operand(place);
            let pair = if number >> place & 1 == 0 { [expression, other] } else { [other, expression] };
            expression = Expression::call(binary[digit(place)], pair).unwrap();
            if digit(place + 1) == 3 {
                expression = Expression::call(unary[digit(place + 2)], [expression]).unwrap();
            }
        }
        let operand = |place: usize| {
            let shape = if place == 0 { shapes[digit(0)] } else { shape(place) };
            Operand::dense(format!("x{place}"), shape, vec![1.0f32; shape.iter().product()]).unwrap()
        };
        let (folded, scheduled) = both(expression, (0..4).map(operand).collect());
        all += 1;
        if let Some(folded) = folded {
            assert_eq!(folded, scheduled);
            short += 1;
        }
    }
    assert!(short > all / 10, "{short} of {all}");
}

/// Gathering several rows for a chain takes longer than running it over them (`benches/quick`).
#[test]
fn chains_run_over_rows_of_at_least_a_vector_in_place() {
    let x = Expression::operand;
    let call = |function, pair: [Expression; 2]| Expression::call(function, pair).unwrap();
    let route = |rows: usize, width: usize| {
        let shapes = [vec![rows, width], vec![rows, 1], vec![width]];
        let operand = |(place, shape): (usize, &Vec<usize>)| {
            let values = vec![1.0f32; shape.iter().product()];
            Operand::dense(format!("x{place}"), shape.clone(), values).unwrap()
        };
        let centred = call(Function::Subtract, [x(0), x(1)]);
        let expression = call(Function::Multiply, [centred, x(2)]);
        let operands = shapes.iter().enumerate().map(operand).collect();
        let operation = Operation::Elementwise { expression };
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        crate::Plan::new(&request).unwrap().route_name()
    };
    for (rows, width) in [(2, 16), (32, 16), (32, 33), (500, 17), (300, 300)] {
        assert_eq!(route(rows, width), "chain of rows", "{rows} rows of {width}");
    }
    assert_eq!(route(32, 15), "tiles");
}

/// By a column, a choice of one of the two values that are compared runs in place over rows of at least 64
/// bytes, and the derivative of a maximum over rows of at least 96. By a row they do so over shorter ones,
/// too, if there are several tiles: the row is gathered once.
#[test]
fn choices_run_over_long_rows_in_place() {
    let x = Expression::operand;
    let less = Expression::call(Function::Less, [x(0), x(1)]).unwrap();
    let chosen = Expression::call(Function::Select, [less, x(0), x(1)]).unwrap();
    let larger = Expression::call(Function::Maximum, [x(0), x(1)]).unwrap();
    // (rows, width), by a column and by a row. The last four would fit into one tile.
    for (rows, width, chosen_by, largest_by) in [
        (300, 7, ["tiles", "choice of rows"], ["tiles", "choice of rows"]),
        (300, 8, ["choice of rows", "choice of rows"], ["tiles", "choice of rows"]),
        (300, 11, ["choice of rows", "choice of rows"], ["tiles", "choice of rows"]),
        (300, 12, ["choice of rows", "choice of rows"], ["choice of rows", "choice of rows"]),
        (10, 300, ["choice of rows", "choice of rows"], ["choice of rows", "choice of rows"]),
        (10, 7, ["tiles", "tiles"], ["tiles", "tiles"]),
        (10, 8, ["choice of rows", "choice of rows"], ["tiles", "tiles"]),
        (10, 11, ["choice of rows", "choice of rows"], ["tiles", "tiles"]),
        (21, 12, ["choice of rows", "choice of rows"], ["choice of rows", "choice of rows"]),
    ] {
        for (which, other) in [[rows, 1], [1, width]].into_iter().enumerate() {
            let way = |operation| plan_of_two(1.0f64, [[rows, width], other], operation).route_name();
            let operation = Operation::Elementwise { expression: chosen.clone() };
            assert_eq!(way(operation), chosen_by[which], "{rows} rows of {width}, {other:?}");
            let operation = Operation::Gradient { expression: larger.clone(), wrt: 0 };
            assert_eq!(way(operation), largest_by[which], "derivative, {rows} rows of {width}, {other:?}");
        }
    }
}

/// Choices of one of two values run over short rows, and so do leaky rectifiers, whichever of the values that
/// are compared is first. A choice of two products is nested.
#[test]
fn choices_run_over_short_rows_in_place() {
    use Function as F;
    let [x, y] = [0, 1].map(Expression::operand);
    let call = |function, two: [&Expression; 2]| Expression::call(function, two.map(Clone::clone)).unwrap();
    let product = call(F::Multiply, [&x, &y]);
    let choice = |function, compared, chosen: &Expression, other: &Expression| {
        let condition = call(function, compared);
        Expression::call(F::Select, [condition, chosen.clone(), other.clone()]).unwrap()
    };
    for (expression, want) in [
        (choice(F::Greater, [&x, &y], &x, &product), "choice of rows"),
        (choice(F::Less, [&x, &y], &product, &x), "choice of rows"),
        (choice(F::Greater, [&x, &y], &product, &product), "nested"),
        (choice(F::Greater, [&x, &y], &y, &y), "choice of rows"),
        (choice(F::Equal, [&x, &y], &x, &y), "choice of rows"),
    ] {
        let operation = Operation::Elementwise { expression: expression.clone() };
        let plan = plan_of_two(1f64, [[300, 33], [300, 1]], operation);
        assert_eq!(plan.route_name(), want, "{expression:?}");
    }
}

/// Rows of narrow integers should fill most of their vectors, of 32 bytes or more. Those of others need not.
#[test]
fn rows_of_narrow_integers_that_leave_vectors_empty_are_gathered() {
    let [x, y] = [0, 1].map(Expression::operand);
    let product = Expression::call(Function::Multiply, [x, y.clone()]).unwrap();
    let expression = Expression::call(Function::Subtract, [product, y]).unwrap();
    let operation = || Operation::Elementwise { expression: expression.clone() };
    assert_eq!(plan_of_two(1u32, [[300, 33], [300, 1]], operation()).route_name(), "chain of rows");
    if Level::detect().vector_bytes() >= 32 {
        for (width, want) in [(33, "tiles"), (60, "chain of rows")] {
            let plan = plan_of_two(1u16, [[300, width], [300, 1]], operation());
            assert_eq!(plan.route_name(), want, "rows of {width}");
        }
    }
}

/// A row that is longer than a register but fits into a tile without one is a tile, so that all rows are
/// computed at once. A large result is stored non-temporally unless its functions take longer than memory. On
/// Intel, where this was not measured, it always is.
#[test]
fn large_results_of_functions_are_stored_by_what_takes_longer() {
    use Function as F;
    let [x, y] = [0, 1].map(Expression::operand);
    let call = |function, arguments: &[&Expression]| {
        Expression::call(function, arguments.iter().map(|&argument| argument.clone())).unwrap()
    };
    let exp = |argument: &Expression| call(F::Exp, &[argument]);
    let shape = [512, 2048];
    for (expression, other, is_long) in [
        (exp(&call(F::Subtract, &[&x, &y])), [512, 1], true),
        (exp(&call(F::Multiply, &[&x, &y])), shape, false),
        (call(F::Add, &[&call(F::Multiply, &[&x, &x]), &y]), shape, false),
        // exp is computed once.
        (call(F::Multiply, &[&x, &exp(&y)]), [1, 1], false),
    ] {
        let operation = Operation::Elementwise { expression: expression.clone() };
        let plan = plan_of_two(1f64, [shape, other], operation);
        let Route::General(tiled) = plan.route() else { panic!("{expression:?}: {}", plan.route_name()) };
        let found = computes_longer(&tiled.program, &tiled.tiling, DType::F64);
        assert_eq!(found, is_long, "{expression:?}");
        let may_be = Level::detect() != Level::Portable;
        assert_eq!(tiled.non_temporal, may_be && (!is_long || is_intel()), "{expression:?}");
        assert!(!is_long || tiled.program.in_rows && tiled.tiling.tiles == 512, "{expression:?}");
    }
}

/// If rows are long and the last step is fast, what few tiles have in common is computed for one row, not for
/// a tile of several rows.
#[test]
fn few_tiles_prepare_one_row() {
    use Function as F;
    let [x, y] = [0, 1].map(Expression::operand);
    let call = |function, two: [&Expression; 2]| Expression::call(function, two.map(Clone::clone)).unwrap();
    let sum = call(F::Add, [&call(F::Multiply, [&x, &x]), &call(F::Multiply, [&y, &y])]);
    let root = Expression::call(F::Sqrt, [sum.clone()]).unwrap();
    for (expression, rows, width, is_row) in [
        (&sum, 20, 33, true),
        (&sum, 100, 33, true),
        (&sum, 100, 19, false),
        (&sum, 1000, 33, false),
        (&root, 100, 33, false),
    ] {
        let operation = Operation::Elementwise { expression: expression.clone() };
        let plan = plan_of_two(1f64, [[rows, width], [1, width]], operation);
        let Route::General(tiled) = plan.route() else { panic!("{}", plan.route_name()) };
        assert_eq!(tiled.tiling.full == width, is_row, "{rows}x{width}: {}", tiled.tiling.full);
    }
}

#[test]
fn tiles_of_ragged_rows_are_whole_cache_lines() {
    use Function as F;
    let [x, y] = [0, 1].map(Expression::operand);
    let less = Expression::call(F::Less, [x.clone(), y.clone()]).unwrap();
    let product = Expression::call(F::Multiply, [x, y]).unwrap();
    let expression = Expression::call(F::Select, [less, product.clone(), product]).unwrap();
    let shapes = [[300, 33], [300, 1]];
    let elementwise = || Operation::Elementwise { expression: expression.clone() };
    // Of 31 rows that fit, 24 have 99 lines, and of 62 rows, 48.
    let plan = format!("{:?}", plan_of_two(1f64, shapes, elementwise()));
    assert!(plan.contains(&format!("full: {}", 24 * 33)), "{plan}");
    let plan = format!("{:?}", plan_of_two(1f32, shapes, elementwise()));
    assert!(plan.contains(&format!("full: {}", 48 * 33)), "{plan}");
}

/// Chains with functions compute rows one by one, so short ones are gathered: a column in every tile, and a
/// row once. exp of a product has a loop over all rows.
#[test]
fn chains_with_functions_run_over_long_rows_in_place() {
    let x = Expression::operand;
    let scaled = Expression::call(Function::Multiply, [x(0), x(1)]).unwrap();
    let negated = Expression::call(Function::Negate, [scaled.clone()]).unwrap();
    let [of_product, expression] =
        [scaled, negated].map(|inner| Expression::call(Function::Exp, [inner]).unwrap());
    let plan = |expression: &Expression, rows: usize, width: usize, other: [usize; 2]| {
        let operation = Operation::Elementwise { expression: expression.clone() };
        plan_of_two(1.0f32, [[rows, width], other], operation)
    };
    // (rows, width), by a column and by a row.
    for (rows, width, by_column, by_row) in [
        (32, 16, "tiles", "tiles"),
        (32, 99, "tiles", "chain of rows"),
        (32, 100, "chain of rows", "chain of rows"),
        (300, 33, "tiles", "chain of rows"),
        (300, 255, "chain of rows", "chain of rows"),
        (300, 256, "chain of rows", "chain of rows"),
    ] {
        let ways = [[rows, 1], [1, width]].map(|other| plan(&expression, rows, width, other).route_name());
        assert_eq!(ways, [by_column, by_row], "{rows} rows of {width}");
    }
    for (rows, width, way) in [(32, 15, "tiles"), (32, 16, "chain of rows"), (300, 33, "chain of rows")] {
        let ways = [[rows, 1], [1, width]].map(|other| plan(&of_product, rows, width, other).route_name());
        assert_eq!(ways, [way; 2], "{rows} rows of {width}");
    }
    // tanh of a product has none.
    let of_product =
        Expression::call(Function::Tanh, [Expression::call(Function::Multiply, [x(0), x(1)]).unwrap()])
            .unwrap();
    for (rows, width, by_column, by_row) in
        [(32, 99, "tiles", "chain of rows"), (32, 100, "chain of rows", "chain of rows")]
    {
        let ways = [[rows, 1], [1, width]].map(|other| plan(&of_product, rows, width, other).route_name());
        assert_eq!(ways, [by_column, by_row], "{rows} rows of {width}");
    }
    // Whether a row is gathered first.
    let is_gathered = |width: usize| {
        let plan = plan(&expression, 300, width, [1, width]);
        matches!(plan.route(), Route::General(tiled) if tiled.program.steps.len() > 1)
    };
    assert!(is_gathered(33) && is_gathered(255) && !is_gathered(256));
}

/// A tile is one row if a power has one base or one exponent in it, and the row is long.
#[test]
fn powers_of_one_in_each_row_take_rows_as_tiles() {
    let power = Expression::call(Function::Power, [Expression::operand(0), Expression::operand(1)]).unwrap();
    for (width, other, tile) in
        [(255, [30, 1], 1020), (256, [30, 1], 256), (300, [30, 1], 300), (300, [1, 300], 900)]
    {
        let operation = Operation::Elementwise { expression: power.clone() };
        let plan = plan_of_two(1.0f64, [[30, width], other], operation);
        let Route::General(tiled) = plan.route() else { panic!("{:?}", plan.route()) };
        assert_eq!(tiled.tiling.full, tile, "{width} and {other:?}");
    }
}

/// The gradient by an operand that is not stretched, which is a choice or a chain with the number 1.
#[test]
fn gradients_over_nothing_of_one_tile_are_one_step() {
    use Function as F;
    let (x, y) = (Expression::operand(0), Expression::operand(1));
    let call =
        |function, arguments: &[Expression]| Expression::call(function, arguments.iter().cloned()).unwrap();
    let sum = call(F::Add, &[x.clone(), y.clone()]);
    let less = call(F::Less, &[x.clone(), y.clone()]);
    let condition = Expression::operand(2);
    for (expression, way) in [
        (call(F::Maximum, &[x.clone(), y.clone()]), "step"),
        (call(F::Select, &[condition, x.clone(), y.clone()]), "step"),
        (call(F::Select, &[less, x.clone(), y.clone()]), "step"),
        (call(F::Log, std::slice::from_ref(&sum)), "step"),
        (call(F::Tanh, &[sum]), "step"),
    ] {
        for wrt in 0..2 {
            let operand = |name: &str| Operand::dense(name, [32, 32], vec![1.0f32; 1024]).unwrap();
            let mut operands = vec![operand("x"), operand("y")];
            if expression.reads(2) {
                operands.push(Operand::dense("c", [32, 32], vec![true; 1024]).unwrap());
            }
            let operation = Operation::Gradient { expression: expression.clone(), wrt };
            let request = Request::new(Rules::Numpy, operation, operands).unwrap();
            assert_eq!(crate::Plan::new(&request).unwrap().route_name(), way, "{expression:?} by {wrt}");
        }
    }
}

#[test]
fn what_is_no_chain_is_left_to_the_scheduler() {
    let x = |place: usize| Expression::operand(place);
    let call = |function, arguments: Vec<Expression>| Expression::call(function, arguments).unwrap();
    let dense = |place: usize| Operand::dense(format!("x{place}"), [4], vec![1.0f64; 4]).unwrap();
    let sum = |a, b| call(Function::Add, vec![a, b]);
    let two_chains = sum(sum(x(0), x(1)), sum(x(2), x(3)));
    let twice = sum(sum(x(0), x(1)), x(0));
    let other = call(Function::Power, vec![sum(x(0), x(1)), x(2)]);
    for expression in [two_chains, twice, other, sum(x(0), x(1))] {
        assert_eq!(both(expression, (0..4).map(dense).collect()).0, None);
    }
}

/// A call with a row or a column of two to four elements. Over one tile it is a step, which runs without
/// tiles.
#[test]
fn calls_over_short_axes_are_pairs() {
    let x = Expression::operand;
    for function in [Function::Add, Function::Subtract, Function::Multiply] {
        for (rows, width) in [(100, 2), (100, 3), (1000, 4), (100_000, 3)] {
            for other in [[rows, 1], [1, width]] {
                for pair in [[x(0), x(1)], [x(1), x(0)]] {
                    let expression = Expression::call(function, pair).unwrap();
                    let operation = Operation::Elementwise { expression };
                    let plan = plan_of_two(1.0f32, [[rows, width], other], operation);
                    // Rows are repeated by permutations, which only one level has.
                    if other[1] == 1 || Level::detect() == Level::Avx512 {
                        assert_eq!(plan.route_name(), "pair", "{rows}x{width} and {other:?}");
                        let is_one_tile = matches!(plan.route(), Route::Step(_));
                        assert_eq!(is_one_tile, rows < 100_000, "{rows}x{width} and {other:?}");
                    }
                }
            }
        }
    }
}

/// The derivative by an operand that is not stretched is a value like any other: that of a product is one
/// call of the cotangent and the other operand, and that of a logarithm is a chain over rows, also if all of
/// them would fit into one tile.
#[test]
fn derivatives_by_the_whole_result_are_computed_like_values() {
    let x = Expression::operand;
    let product = Expression::call(Function::Multiply, [x(0), x(1)]).unwrap();
    let sum = Expression::call(Function::Add, [x(0), x(1)]).unwrap();
    let log = Expression::call(Function::Log, [sum]).unwrap();
    for (expression, sizes, other, want) in [
        (&product, [300, 100], [300, 1], "rows"),
        (&product, [300, 100], [1, 100], "rows"),
        (&product, [32, 32], [1, 32], "pair"),
        (&product, [300, 100], [300, 100], "call"),
        (&log, [32, 32], [1, 32], "chain of rows"),
        (&log, [32, 32], [32, 1], "chain of rows"),
        (&log, [32, 7], [1, 7], "tiles"),
    ] {
        let count = sizes.iter().product();
        let cotangent = Box::new(Operand::dense("w", sizes, vec![1f64; count]).unwrap());
        let (expression, wrt, target_shape) = (expression.clone(), 0, None);
        let operation = Operation::Vjp { expression, wrt, target_shape, cotangent };
        let plan = plan_of_two(1f64, [sizes, other], operation);
        assert_eq!(plan.route_name(), want, "{sizes:?} by {other:?}");
    }
}
