//! Compares the engine with the interpreter, on every SIMD level, where it computes several calls together:
//! chains of integers, squares, conditions of two comparisons, values against bounds, chains over bands of
//! rows, choices over rows and by a factor, and `select` of whole rows. Nested expressions are
//! in `groups/nested.rs`, and gradients in `groups/gradients.rs`.

#[path = "groups/gradients.rs"]
mod gradients;
#[path = "groups/nested.rs"]
mod nested;
mod support;

use broadcheck_spec::{DType, Data, Expression, Function, Operand, Operation, Request, Rules, Scalar, Shape};
use support::{Random, check, value};

fn x(place: usize) -> Expression {
    Expression::operand(place)
}

fn call(function: Function, a: Expression, b: Expression) -> Expression {
    Expression::call(function, [a, b]).unwrap()
}

/// A request over dense operands with special and other values.
fn request(random: &mut Random, dtype: DType, shapes: &[&[usize]], expression: Expression) -> Request {
    request_of(random, &vec![dtype; shapes.len()], shapes, expression)
}

/// The same with operands of several dtypes. Those without one are bools.
fn request_of(random: &mut Random, dtypes: &[DType], shapes: &[&[usize]], expression: Expression) -> Request {
    let operand = |(place, shape): (usize, &&[usize])| {
        let dtype = dtypes.get(place).copied().unwrap_or(DType::Bool);
        let count = Shape::from(*shape).count().unwrap();
        let values = (0..count).map(|_| value(random, dtype)).collect::<Vec<_>>();
        Operand::dense(format!("x{place}"), *shape, Data::from_scalars(dtype, values).unwrap()).unwrap()
    };
    let operands = shapes.iter().enumerate().map(operand).collect();
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
}

/// Sums, differences, products and negations of integers, of which each takes the one before as its first or
/// as its second argument, over vectors, rows, columns and single values; and sums, differences and products
/// of two of them.
#[test]
fn chains_of_integers() {
    let dtypes = [DType::I64, DType::U32, DType::I16, DType::U8, DType::I8, DType::U64];
    let functions = [Function::Add, Function::Subtract, Function::Multiply];
    let (mut random, mut chains) = (Random(31), 0);
    for (number, dtype) in (0..81 * 4).zip(dtypes.into_iter().cycle()) {
        let mut chain = x(0);
        for at in 0..2 + number % 5 {
            let function = functions[number / 3usize.pow(u32::try_from(at).unwrap()) % 3];
            // Some operands are read more than once.
            let other = x([1, 2, 0, 1][(at + number / 7) % 4]);
            chain = if number >> at & 1 == 0 {
                call(function, chain, other)
            } else {
                call(function, other, chain)
            };
            if (number + at) % 5 == 0 {
                chain = Expression::call(Function::Negate, [chain]).unwrap();
            }
        }
        for shapes in [[&[131][..]; 3], [&[3, 70], &[70], &[3, 1]], [&[5], &[1], &[5]]] {
            let way = check(&request(&mut random, dtype, &shapes, chain.clone()));
            chains += usize::from(way.starts_with("chain"));
        }
    }
    assert!(chains > 500, "{chains} of 972 are chains");
    chains = 0;
    for number in 0..27 {
        let function = |at: u32| functions[number / 3usize.pow(at) % 3];
        let joined = call(function(0), call(function(1), x(0), x(1)), call(function(2), x(2), x(0)));
        let more = call(Function::Add, joined.clone(), call(Function::Multiply, x(1), x(2)));
        for expression in [joined, more] {
            for dtype in dtypes {
                let way = check(&request(&mut random, dtype, &[&[131][..]; 3], expression.clone()));
                chains += usize::from(way.starts_with("chain"));
            }
        }
    }
    assert!(chains > 250, "{chains} of 324 are chains");
}

/// Calls of halves, which may be computed in their bits, are not calls of integers.
#[test]
fn calls_of_halves_are_not_chains_of_integers() {
    let mut random = Random(39);
    let [sum, difference] =
        [Function::Add, Function::Subtract].map(|function| move |a, b| call(function, a, b));
    let negated = |a| Expression::call(Function::Negate, [a]).unwrap();
    for expression in [
        negated(difference(x(0), x(1))),
        sum(x(0), negated(x(1))),
        sum(call(Function::Multiply, x(0), x(1)), x(2)),
        difference(difference(x(0), x(1)), x(2)),
    ] {
        for dtype in [DType::F16, DType::Bf16] {
            for shapes in [[&[131][..]; 3], [&[3, 70], &[70], &[3, 1]], [&[5], &[1], &[5]]] {
                check(&request(&mut random, dtype, &shapes, expression.clone()));
            }
        }
    }
}

/// Results of integers of more than 8 MiB, which are written past the caches.
#[test]
fn large_results_of_integers() {
    let mut random = Random(38);
    let sum = || call(Function::Add, x(0), x(1));
    let width = (1 << 17) + 3;
    for (other, expression) in [([8, width], sum()), ([8, 1], call(Function::Multiply, sum(), x(0)))] {
        check(&request(&mut random, DType::I64, &[&[8, width], &other], expression));
    }
}

/// Of some expressions, the engine computes all calls in one loop.
#[test]
fn common_expressions_are_one_loop() {
    use Function as F;
    let product = |a, b| call(F::Multiply, x(a), x(b));
    let integers = [
        call(F::Add, call(F::Subtract, x(0), x(1)), x(2)),
        // The second argument of the difference is a call of its own.
        call(F::Add, call(F::Subtract, x(0), product(1, 2)), x(0)),
        call(F::Subtract, product(0, 1), product(2, 0)),
        call(F::Multiply, call(F::Add, x(0), x(1)), call(F::Subtract, x(0), x(2))),
        call(F::Multiply, call(F::Subtract, x(1), product(0, 2)), x(1)),
        call(F::Add, call(F::Multiply, call(F::Add, product(0, 1), x(2)), x(1)), x(0)),
    ];
    let floats = [
        call(F::LogicalAnd, call(F::LessEqual, x(1), x(0)), call(F::Less, x(0), x(2))),
        call(F::LogicalOr, call(F::Less, x(0), x(1)), call(F::Greater, x(2), product(0, 1))),
    ];
    let positive = || call(F::GreaterEqual, x(0), x(1));
    let select = |a, b| Expression::call(F::Select, [positive(), a, b]).unwrap();
    let choices = [select(x(0), x(1)), select(x(0), product(0, 2)), select(product(1, 2), x(0))];
    let squared = call(F::Multiply, call(F::Subtract, x(0), x(1)), call(F::Subtract, x(0), x(1)));
    let squares = [squared.clone(), call(F::Multiply, squared, x(2))];
    let mut random = Random(36);
    for (dtype, expressions, way) in [
        (DType::I32, &integers[..], "chain"),
        (DType::F32, &floats, "condition"),
        (DType::F64, &choices, "step"),
        (DType::F32, &squares, "chain"),
        (DType::I16, &squares, "chain"),
    ] {
        for expression in expressions {
            let request = request(&mut random, dtype, &[&[100][..]; 3], expression.clone());
            assert_eq!(check(&request), way, "{request:?}");
        }
    }
}

/// Every pair of comparisons, joined either way, of values and of a value of two, with operands that are
/// vectors, rows, columns and single values.
#[test]
fn conditions_of_two_comparisons() {
    use Function as F;
    let comparisons = [F::Less, F::LessEqual, F::Greater, F::GreaterEqual, F::Equal];
    let mut random = Random(32);
    let (mut number, mut conditions) = (0, 0);
    for (first, second) in comparisons.iter().flat_map(|&first| comparisons.map(|second| (first, second))) {
        for joined in [F::LogicalAnd, F::LogicalOr] {
            for made in [None, Some(F::Add), Some(F::Subtract), Some(F::Multiply), Some(F::Divide)] {
                number += 1;
                let value = made.map_or(x(1), |function| call(function, x(1), x(2)));
                // The value is on either side of either comparison, or both comparisons have one.
                let (with, without) = (
                    if number % 2 == 0 { call(first, value, x(0)) } else { call(first, x(0), value) },
                    call(second, x(2), if number % 7 == 0 { call(F::Add, x(0), x(1)) } else { x(0) }),
                );
                let pair = if number % 3 == 0 { [with, without] } else { [without, with] };
                let [a, b] = pair;
                let dtype = [DType::F64, DType::F32, DType::F64, DType::F16, DType::I32][number % 5];
                let dtype = if made == Some(F::Divide) && dtype == DType::I32 { DType::F32 } else { dtype };
                for shapes in [
                    [&[150][..]; 3],
                    [&[150], &[1], &[150]],
                    [&[1], &[150], &[1]],
                    [&[4, 40], &[40], &[4, 1]],
                    [&[4, 1], &[4, 1], &[1, 33]],
                ] {
                    let expression = call(joined, a.clone(), b.clone());
                    let way = check(&request(&mut random, dtype, &shapes, expression));
                    conditions += usize::from(way == "condition");
                }
            }
        }
    }
    // Those of more calls are nested.
    assert!(conditions > 200, "{conditions} of 1250 are conditions");
}

/// Clips, range checks and choices of every dtype, in every order and either way round, whose bounds are
/// single values, columns, rows or vectors.
#[test]
fn values_against_bounds() {
    use Function as F;
    let (mut random, mut bounded, mut number) = (Random(41), 0, 0);
    let orders = [F::Less, F::LessEqual, F::Greater, F::GreaterEqual];
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for (first, second) in orders.iter().flat_map(|&first| orders.map(|second| (first, second))) {
            number += 1;
            let pair = |function, exchanged, a, b| {
                if exchanged { call(function, b, a) } else { call(function, a, b) }
            };
            let (low, high) =
                (pair(first, number % 2 == 0, x(1), x(0)), pair(second, number % 3 == 0, x(0), x(2)));
            let joined = if number % 5 < 3 { F::LogicalAnd } else { F::LogicalOr };
            let check_of = pair(joined, number % 7 < 3, low, high);
            let [inner, outer] =
                if number % 2 == 0 { [F::Maximum, F::Minimum] } else { [F::Minimum, F::Maximum] };
            let inner = pair(inner, number % 3 == 0, x(0), x(1));
            let clip = pair(outer, number % 5 == 0, inner, x(2));
            let [a, b] = if number % 2 == 0 { [x(0), x(2)] } else { [x(2), x(0)] };
            let compared = pair(first, number % 3 == 0, x(0), x(1));
            let kept = Expression::call(F::Select, [compared, a, b]).unwrap();
            for shapes in [
                [&[150][..], &[1], &[1]],
                [&[3, 40], &[3, 1], &[1]],
                [&[40, 5], &[40, 1], &[1]],
                [&[3, 130], &[3, 1], &[3, 1]],
                [&[2, 2, 33], &[2, 1, 1], &[2, 2, 1]],
                [&[40, 70], &[70], &[40, 1]],
                [&[1], &[1], &[20]],
            ] {
                for expression in [&check_of, &clip, &kept] {
                    let way = check(&request(&mut random, dtype, &shapes, expression.clone()));
                    bounded += usize::from(way == "bounds");
                }
            }
        }
    }
    assert!(bounded > 900, "{bounded} of 4032 are values against bounds");
}

/// A range check or a clip inside of other calls, of a value that is computed, of results that are not
/// written directly, and of a size that threads share.
#[test]
fn values_against_bounds_inside_other_calls() {
    use Function as F;
    let mut random = Random(42);
    let inside = |value: Expression| {
        call(F::LogicalAnd, call(F::LessEqual, x(1), value.clone()), call(F::Less, value, x(2)))
    };
    let clipped = |value| call(F::Minimum, call(F::Maximum, value, x(1)), x(2));
    let chosen = Expression::call(F::Select, [inside(x(0)), x(0), x(1)]).unwrap();
    let opposite = Expression::call(F::LogicalNot, [inside(call(F::Add, x(0), x(0)))]).unwrap();
    let sum = call(F::Add, clipped(call(F::Multiply, x(0), x(0))), x(0));
    let twice = call(F::LogicalOr, inside(x(0)), inside(call(F::Subtract, x(0), x(1))));
    for expression in [chosen, opposite, sum, twice] {
        for dtype in [DType::I32, DType::F32, DType::F64, DType::U8, DType::F16] {
            for shapes in [[&[3000][..], &[1], &[1]], [&[70, 50], &[70, 1], &[1]], [&[5], &[1], &[5]]] {
                check(&request(&mut random, dtype, &shapes, expression.clone()));
            }
        }
    }
    let long: [&[usize]; 3] = [&[700, 1000], &[700, 1], &[1]];
    check(&request(&mut random, DType::U8, &long, clipped(x(0))));
    check(&request(&mut random, DType::I16, &long, inside(x(0))));
}

/// The larger or smaller of two integers, written as a choice, and the opposite of a comparison are computed
/// like the call that they are. Those of floats and halves are two calls.
#[test]
fn choices_and_opposites_of_integers_are_calls() {
    use Function as F;
    let mut random = Random(43);
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for (comparison, smaller, opposite) in [
            (F::Less, true, F::GreaterEqual),
            (F::LessEqual, true, F::Greater),
            (F::Greater, false, F::LessEqual),
            (F::GreaterEqual, false, F::Less),
            (F::Equal, false, F::NotEqual),
            (F::NotEqual, false, F::Equal),
        ] {
            let compared = || call(comparison, x(0), x(1));
            let extreme = |smaller| call(if smaller { F::Minimum } else { F::Maximum }, x(0), x(1));
            let choice = |a, b| Expression::call(F::Select, [compared(), x(a), x(b)]).unwrap();
            let is_order = !matches!(comparison, F::Equal | F::NotEqual);
            let negated = Expression::call(F::LogicalNot, [compared()]).unwrap();
            for (expression, same, is_same) in [
                (choice(0, 1), extreme(smaller), is_order && dtype.is_integer()),
                (choice(1, 0), extreme(!smaller), is_order && dtype.is_integer()),
                (negated, call(opposite, x(0), x(1)), !is_order || dtype.is_integer()),
            ] {
                for shapes in [[&[70][..]; 2], [&[3, 70], &[70]], [&[2], &[2]], [&[2, 600], &[2, 1]]] {
                    let way = check(&request(&mut random, dtype, &shapes, expression.clone()));
                    let call = check(&request(&mut random, dtype, &shapes, same.clone()));
                    assert!(!is_same || way == call, "{dtype} {comparison:?}: {way} and {call}");
                    assert!(is_same || way != "call", "{dtype} {comparison:?}: {way}");
                }
            }
        }
    }
}

/// A condition is an argument of other calls: of a choice, of another condition, and of nothing that is a
/// vector.
#[test]
fn conditions_inside_other_calls() {
    use Function as F;
    let mut random = Random(33);
    let range = || call(F::LogicalAnd, call(F::Less, x(0), x(1)), call(F::Less, x(1), x(2)));
    let outside = || call(F::LogicalOr, call(F::Less, x(2), x(1)), call(F::Greater, x(0), x(1)));
    let chosen = Expression::call(F::Select, [range(), call(F::Add, x(0), x(2)), x(1)]).unwrap();
    let both = call(F::LogicalOr, range(), outside());
    let twice = call(F::Equal, range(), range());
    for expression in [chosen, both, twice] {
        for shapes in
            [[&[3000][..]; 3], [&[1], &[3000], &[1]], [&[1], &[1], &[1]], [&[70, 1], &[50], &[70, 50]]]
        {
            check(&request(&mut random, DType::F64, &shapes, expression.clone()));
            check(&request(&mut random, DType::F32, &shapes, expression.clone()));
        }
    }
}

/// Chains over rows of every number of vectors, and of a part of one more, over numbers of rows that make up
/// whole bands and parts of them.
#[test]
fn chains_over_bands_of_rows() {
    let mut random = Random(34);
    let centred = call(Function::Subtract, x(0), x(1));
    let norm = call(Function::Add, call(Function::Multiply, centred, x(2)), x(3));
    let mut taken = 0;
    for width in [16, 17, 24, 31, 33, 40, 47, 50, 63, 64, 65, 100, 129] {
        for rows in [2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 31, 33] {
            let dtype = if (width + rows) % 2 == 0 { DType::F64 } else { DType::F32 };
            let shapes: [&[usize]; 4] = [&[rows, width], &[rows, 1], &[width], &[1]];
            let request = request(&mut random, dtype, &shapes, norm.clone());
            taken += usize::from(check(&request) == "chain of rows");
        }
    }
    assert!(taken > 150, "{taken} of 195 are chains of rows");
}

/// Rows of whole groups of vectors, in results that do not fit into a first-level cache: rows of whole cache
/// lines, which are computed together, and others.
#[test]
fn chains_over_rows_of_whole_groups() {
    let mut random = Random(37);
    let centred = call(Function::Subtract, x(0), x(1));
    let norm = call(Function::Add, call(Function::Multiply, centred, x(2)), x(3));
    for (dtype, widths) in [(DType::F64, [128, 129, 150, 251]), (DType::F32, [256, 257, 300, 508])] {
        for width in widths {
            let rows = 36_000 / width / if dtype == DType::F64 { 8 } else { 4 } + 1;
            let shapes: [&[usize]; 4] = [&[rows, width], &[rows, 1], &[width], &[1]];
            let request = request(&mut random, dtype, &shapes, norm.clone());
            assert_eq!(check(&request), "chain of rows", "{width} elements of {dtype}");
        }
    }
}

/// Choices by every comparison over rows of about eight vectors and more, of dense operands and views. One
/// operand is a matrix, and the others are matrices, rows, columns or single values. The branches are any two
/// of the operands.
#[test]
fn choices_over_rows() {
    use Function as F;
    let comparisons = [F::Less, F::LessEqual, F::Greater, F::GreaterEqual, F::Equal, F::NotEqual];
    let (mut random, mut taken, mut number) = (Random(36), 0, 0);
    for width in [64, 65, 127, 128, 130, 200, 300] {
        for rows in [2, 3, 8, 17, 40] {
            for (comparison, dtype) in comparisons.iter().flat_map(|&c| [(c, DType::F64), (c, DType::F32)]) {
                number += 1;
                let forms: [&[usize]; 5] = [&[width], &[rows, 1], &[rows, width], &[1], &[2, 1, width]];
                let mut shapes = [random.pick(&forms), random.pick(&forms), random.pick(&forms)];
                shapes[random.below(3)] = forms[2];
                let choice = [random.below(3), random.below(3)].map(x);
                let [a, b] = choice;
                let condition = call(comparison, x(random.below(3)), x(random.below(3)));
                let choice = Expression::call(F::Select, [condition, a, b]).unwrap();
                let (rules, operation, mut operands) =
                    request(&mut random, dtype, &shapes, choice).into_parts();
                if random.chance(30) {
                    let at = random.below(3);
                    operands[at] = with_gaps(&mut random, &operands[at]);
                }
                let way = check(&Request::new(rules, operation, operands).unwrap());
                taken += usize::from(way == "choice of rows");
            }
        }
    }
    assert!(taken > 100, "{taken} of {number} are choices of rows");
}

/// The first operand has another dtype than the others, and is not read: what has no argument in its place
/// must not read it either.
#[test]
fn calls_and_chains_beside_an_operand_of_another_dtype() {
    let mut random = Random(35);
    let negate = |value| Expression::call(Function::Negate, [value]).unwrap();
    let chains = [
        negate(call(Function::Multiply, negate(x(1)), x(1))),
        call(Function::Add, negate(call(Function::Subtract, x(1), x(2))), x(1)),
        negate(call(Function::Add, x(1), x(2))),
        negate(x(2)),
    ];
    for expression in chains {
        for shape in [&[][..], &[1], &[5], &[100], &[20, 30]] {
            let values = |random: &mut Random, dtype| {
                let count = shape.iter().product::<usize>();
                let values = (0..count).map(|_| value(random, dtype)).collect::<Vec<_>>();
                Data::from_scalars(dtype, values).unwrap()
            };
            let operands =
                [DType::I32, DType::F64, DType::F64].into_iter().enumerate().map(|(place, dtype)| {
                    Operand::dense(format!("x{place}"), shape, values(&mut random, dtype)).unwrap()
                });
            let operation = Operation::Elementwise { expression: expression.clone() };
            check(&Request::new(Rules::Numpy, operation, operands.collect()).unwrap());
        }
    }
}

/// Squares of sums, differences and products, alone, in the middle of chains and as arguments of links, and
/// some that another call reads too.
#[test]
fn squares_of_values() {
    use Function as F;
    let mut random = Random(41);
    let square = |value: &Expression| call(F::Multiply, value.clone(), value.clone());
    let (mut chains, mut all) = (0, 0);
    for part in [call(F::Subtract, x(0), x(1)), call(F::Add, x(1), x(0)), call(F::Multiply, x(0), x(1)), x(1)]
    {
        let squared = square(&part);
        let expressions = [
            squared.clone(),
            call(F::Multiply, squared.clone(), x(2)),
            call(F::Subtract, x(2), squared.clone()),
            call(F::Add, call(F::Multiply, x(2), x(0)), squared.clone()),
            square(&call(F::Add, squared.clone(), x(2))),
            call(F::Add, squared.clone(), part),
            call(F::Multiply, squared.clone(), squared),
        ];
        for expression in expressions {
            for dtype in [DType::F64, DType::F32, DType::I64, DType::I16, DType::U8] {
                for shapes in [
                    [&[131][..]; 3],
                    [&[3, 70], &[70], &[3, 1]],
                    [&[9, 33], &[9, 1], &[33]],
                    [&[5], &[1], &[5]],
                ] {
                    let way = check(&request(&mut random, dtype, &shapes, expression.clone()));
                    (chains, all) = (chains + usize::from(way.starts_with("chain")), all + 1);
                }
            }
        }
    }
    assert!(2 * chains > all, "{chains} of {all} are chains");
}

/// Values between two limits, which are one value for all, for each row, or for each element.
#[test]
fn values_between_limits() {
    use Function as F;
    let mut random = Random(42);
    let clip = call(F::Minimum, call(F::Maximum, x(0), x(1)), x(2));
    let pull = call(F::Maximum, call(F::Minimum, call(F::Add, x(1), x(0)), x(2)), x(1));
    for expression in [clip, pull] {
        for dtype in [DType::F64, DType::F32, DType::F16, DType::I32] {
            for shapes in [
                [&[300][..], &[1], &[1]],
                [&[131], &[131], &[1]],
                [&[7, 70], &[7, 1], &[7, 1]],
                [&[7, 70], &[1], &[70]],
                [&[20, 16], &[20, 1], &[1]],
            ] {
                // Every draw has other limits; zeros of both signs, NaNs and infinities are among them.
                for _ in 0..8 {
                    check(&request(&mut random, dtype, &shapes, expression.clone()));
                }
            }
        }
    }
}

/// Choices between a value and a product, as in a leaky rectifier: by every comparison, with the product on
/// either side, and one that another call reads too.
#[test]
fn choices_by_a_factor() {
    use Function as F;
    let mut random = Random(43);
    let product = || call(F::Multiply, x(0), x(2));
    let comparisons = [F::Greater, F::GreaterEqual, F::Less, F::LessEqual, F::Equal, F::NotEqual];
    for comparison in comparisons {
        let select = |a, b| Expression::call(F::Select, [call(comparison, x(0), x(1)), a, b]).unwrap();
        let expressions = [
            select(x(0), product()),
            select(product(), x(0)),
            select(product(), call(F::Multiply, x(1), x(2))),
            call(F::Add, select(x(0), product()), product()),
            call(F::Multiply, select(x(1), call(F::Multiply, product(), x(1))), x(2)),
        ];
        for expression in expressions {
            for shapes in [
                [&[131][..], &[1], &[1]],
                [&[131], &[131], &[131]],
                [&[7, 70], &[70], &[7, 1]],
                [&[5, 300], &[5, 1], &[300]],
                [&[3], &[1], &[3]],
            ] {
                for dtype in [DType::F64, DType::F32, DType::Bf16] {
                    let forward = request(&mut random, dtype, &shapes, expression.clone());
                    check(&forward);
                    let (rules, _, operands) = forward.into_parts();
                    let gradient = Operation::Gradient { expression: expression.clone(), wrt: 0 };
                    check(&Request::new(rules, gradient, operands).unwrap());
                }
            }
        }
    }
}

/// `select` by a condition for each row: of matrices, rows and columns, dense, with gaps and reversed, over
/// one and over several axes of rows.
#[test]
fn selects_of_whole_rows() {
    let mut random = Random(44);
    let select = Expression::call(Function::Select, [x(0), x(1), x(2)]).unwrap();
    let mut whole = 0;
    for dtype in [DType::F64, DType::F32, DType::F16, DType::I8, DType::U16, DType::Bool] {
        for width in [1, 7, 33, 64, 130] {
            let shapes: [[&[usize]; 3]; 7] = [
                [&[40, 1], &[40, width], &[40, width]],
                [&[40, 1], &[width], &[40, width]],
                [&[40, 1], &[40, width], &[40, 1]],
                [&[4, 5, 1], &[4, 5, width], &[5, width]],
                [&[5, 1], &[4, 5, width], &[4, 1, width]],
                [&[4, 1, 1], &[width], &[4, 5, width]],
                // Three axes of rows, none of which can be merged.
                [&[3, 1, 4, 1], &[3, 2, 4, width], &[2, 1, width]],
            ];
            for shapes in shapes {
                let operand = |(place, shape): (usize, &[usize])| {
                    let dtype = if place == 0 { DType::Bool } else { dtype };
                    let count = Shape::from(shape).count().unwrap();
                    let values = (0..count).map(|_| value(&mut random, dtype)).collect::<Vec<_>>();
                    let data = Data::from_scalars(dtype, values).unwrap();
                    Operand::dense(format!("x{place}"), shape, data).unwrap()
                };
                let operands: Vec<Operand> = shapes.into_iter().enumerate().map(operand).collect();
                let gaps = operands.iter().map(|operand| with_gaps(&mut random, operand)).collect();
                let reversed = operands.iter().map(reversed).collect();
                for operands in [operands, gaps, reversed] {
                    let operation = Operation::Elementwise { expression: select.clone() };
                    let way = check(&Request::new(Rules::Numpy, operation, operands).unwrap());
                    whole += usize::from(way == "select of rows");
                }
            }
        }
    }
    assert!(whole > 350, "{whole} of 630 select whole rows");
}

/// The same operand, with its outermost axis read backwards.
fn reversed(operand: &Operand) -> Operand {
    let lengths = operand.shape().lengths().to_vec();
    let mut strides: Vec<i64> = vec![1; lengths.len()];
    for axis in (1..lengths.len()).rev() {
        strides[axis - 1] = strides[axis] * i64::try_from(lengths[axis]).unwrap();
    }
    let offset = (i64::try_from(lengths[0]).unwrap() - 1) * strides[0];
    strides[0] = -strides[0];
    let (shape, data) = (operand.shape().clone(), operand.values().clone());
    Operand::view(operand.name(), shape, data, Some(strides), usize::try_from(offset).unwrap()).unwrap()
}

/// The same operand with three values between its rows and, of a column, between its elements.
fn with_gaps(random: &mut Random, operand: &Operand) -> Operand {
    let (shape, dtype) = (operand.shape().clone(), operand.dtype());
    let [rows, width] = shape.lengths()[..] else { return operand.clone() };
    let step = width + 3;
    let values = (0..rows * step).map(|_| value(random, dtype)).collect::<Vec<_>>();
    let strides = vec![i64::try_from(step).unwrap(), 1];
    Operand::view(operand.name(), shape, Data::from_scalars(dtype, values).unwrap(), Some(strides), 1)
        .unwrap()
}

/// A function of a difference, and of its negation, over rows that are computed in place, gathered once and
/// gathered in every tile.
#[test]
fn functions_over_short_and_long_rows() {
    let mut random = Random(44);
    let (mut in_rows, mut gathered) = (0, 0);
    for (rows, width) in [(3, 5), (40, 16), (300, 33), (70, 63), (20, 64), (20, 255), (9, 256)] {
        for other in [[rows, 1], [1, width]] {
            for function in [Function::Exp, Function::Abs, Function::Sqrt, Function::Negate] {
                for dtype in [DType::F64, DType::F32] {
                    let difference = call(Function::Subtract, x(0), x(1));
                    let negated = Expression::call(Function::Negate, [difference.clone()]).unwrap();
                    for inner in [difference, negated] {
                        let expression = Expression::call(function, [inner]).unwrap();
                        let way = check(&request(&mut random, dtype, &[&[rows, width], &other], expression));
                        in_rows += usize::from(way == "chain of rows");
                        gathered += usize::from(way == "tiles");
                    }
                }
            }
        }
    }
    assert!(in_rows > 100 && gathered > 40, "{in_rows} in rows, {gathered} gathered");
}

/// Powers with one base or one exponent in each row, and their gradients, over rows that are tiles of their
/// own and shorter ones. The values are between 1/8 and 4, so that no power is beyond all numbers.
#[test]
fn powers_of_one_in_each_row() {
    let mut random = Random(45);
    let mut operand = |name: &str, shape: &[usize], dtype| {
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|_| {
            let number = f32::from(1 + u8::try_from(random.below(32)).unwrap()) / 8.0;
            if dtype == DType::F32 { Scalar::F32(number) } else { Scalar::F64(number.into()) }
        });
        Operand::dense(name, shape, Data::from_scalars(dtype, values.collect::<Vec<_>>()).unwrap()).unwrap()
    };
    for (rows, width) in [(30, 100), (20, 255), (9, 256), (7, 700), (3, 1100)] {
        for dtype in [DType::F64, DType::F32] {
            for shapes in
                [[[rows, 1], [rows, width]], [[rows, width], [rows, 1]], [[rows, width], [1, width]]]
            {
                let power = call(Function::Power, x(0), x(1));
                for wrt in [None, Some(0), Some(1)] {
                    let expression = power.clone();
                    let operands = vec![operand("x0", &shapes[0], dtype), operand("x1", &shapes[1], dtype)];
                    let operation = match wrt {
                        None => Operation::Elementwise { expression },
                        Some(wrt) => {
                            let cotangent = Box::new(operand("w", &[rows, width], dtype));
                            Operation::Vjp { expression, wrt, target_shape: None, cotangent }
                        }
                    };
                    check(&Request::new(Rules::Numpy, operation, operands).unwrap());
                }
            }
        }
    }
}
