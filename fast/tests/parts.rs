//! Values that depend on some of the axes only are computed first: against the interpreter, and with the bits
//! of a plan of their own, whose result is an operand.

mod support;

use broadcheck_fast::{Input, Level, Output, Plan, View};
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Asked, DType, Data, Expression, Function, Implementation, Operand, OperandType, Operation, Outcome,
    PartialShape, Request, Rules, Shape, Signature, Tensor,
};
use support::{Random, check, small, value};

fn x(place: usize) -> Expression {
    Expression::operand(place)
}

fn call(function: Function, arguments: &[Expression]) -> Expression {
    Expression::call(function, arguments.to_vec()).unwrap()
}

fn operand(random: &mut Random, dtype: DType, place: usize, shape: &[usize]) -> Operand {
    let count = Shape::from(shape).count().unwrap();
    let values =
        (0..count).map(|_| if random.chance(5) { value(random, dtype) } else { small(random, dtype) });
    let values = Data::from_scalars(dtype, values.collect::<Vec<_>>()).unwrap();
    Operand::dense(format!("x{place}"), shape, values).unwrap()
}

fn operands(random: &mut Random, dtype: DType, shapes: &[&[usize]]) -> Vec<Operand> {
    shapes.iter().enumerate().map(|(place, shape)| operand(random, dtype, place, shape)).collect()
}

fn elementwise(expression: &Expression, operands: Vec<Operand>) -> Request {
    let expression = expression.clone();
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
}

/// Expressions without functions that are rounded differently, over operands of these shapes: `x0 / √x1`,
/// the same of a value of two operands, a part that reads another one, a part that is read twice, one
/// that is chosen, and one that may read two others.
fn expressions() -> [Expression; 6] {
    use Function as F;
    let root = |value| call(F::Sqrt, &[value]);
    let normal = call(F::Divide, &[call(F::Subtract, &[x(0), x(2)]), root(call(F::Add, &[x(1), x(1)]))]);
    let nested = call(F::Divide, &[x(2), root(x(1))]);
    let twice = call(F::Multiply, &[call(F::Add, &[x(0), root(x(1))]), root(x(1))]);
    let condition = call(F::Less, &[x(0), x(2)]);
    [
        call(F::Divide, &[x(0), root(x(1))]),
        normal,
        call(F::Add, &[x(0), call(F::Multiply, &[nested, x(2)])]),
        twice,
        call(F::Select, &[condition, root(x(1)), x(0)]),
        call(F::Multiply, &[x(0), call(F::Divide, &[root(x(1)), root(x(2))])]),
    ]
}

/// The shapes of three operands, of which the second and the third have fewer axes.
const SHAPES: [[&[usize]; 3]; 8] = [
    [&[40, 30], &[40, 1], &[30]],
    [&[40, 30], &[30], &[40, 1]],
    [&[300, 33], &[300, 1], &[300, 1]],
    [&[5, 20, 12], &[20, 1], &[5, 1, 1]],
    [&[5, 20, 12], &[5, 1, 12], &[12]],
    [&[12, 10, 9], &[12, 1, 1], &[12, 10, 1]],
    [&[12, 10, 9], &[12, 1, 1], &[10, 1]],
    [&[1, 2100], &[1], &[1, 1]],
];

#[test]
fn values_of_fewer_axes_are_computed_first() {
    let (mut random, mut parts, mut all) = (Random(71), 0, 0);
    for shapes in SHAPES {
        for expression in expressions() {
            for dtype in [DType::F64, DType::F32, DType::F16, DType::Bf16] {
                let way = check(&elementwise(&expression, operands(&mut random, dtype, &shapes)));
                parts += usize::from(way == "parts");
                all += 1;
            }
        }
    }
    // Of a single value, the last shapes have no part.
    assert!(parts >= 100, "{parts} of {all} requests have parts");
}

#[test]
fn gradients_have_parts() {
    let (mut random, mut parts) = (Random(72), 0);
    for shapes in SHAPES {
        for expression in expressions() {
            for wrt in 0..3 {
                if !expression.reads(wrt) {
                    continue;
                }
                let dtype = [DType::F64, DType::F32, DType::F64, DType::F16][wrt + random.below(2)];
                let operands = operands(&mut random, dtype, &shapes);
                let gradient = Operation::Gradient { expression: expression.clone(), wrt };
                let cotangent = Box::new(operand(&mut random, dtype, 9, shapes[0]));
                let vjp =
                    Operation::Vjp { expression: expression.clone(), wrt, target_shape: None, cotangent };
                for operation in [gradient, vjp] {
                    let request = Request::new(Rules::Numpy, operation, operands.clone()).unwrap();
                    parts += usize::from(check(&request) == "parts");
                }
            }
        }
    }
    assert!(parts >= 40, "{parts} gradients have parts");
}

/// Into the first operand, in blocks and as a whole, and into a view with gaps.
#[test]
fn parts_are_computed_before_a_destination_is_written() {
    let mut random = Random(73);
    for dtype in [DType::F64, DType::F16] {
        for shapes in [[&[400, 45][..], &[400, 1], &[45]], [&[30, 20], &[20], &[30, 1]]] {
            for expression in expressions() {
                let operands = operands(&mut random, dtype, &shapes);
                let operation = Operation::Into { expression: expression.clone(), destination: 0 };
                let request = Request::new(Rules::Numpy, operation, operands.clone()).unwrap();
                assert_eq!(check(&request), "parts");
                // The destination is every second column of its buffer, and the part reads one of them.
                let (rows, width) = (shapes[0][0], shapes[0][1]);
                let values = operand(&mut random, dtype, 8, &[rows, 2 * width]).values().clone();
                let strides = vec![i64::try_from(2 * width).unwrap(), 2];
                let into = Operand::view("a", [rows, width], values, Some(strides.clone()), 1).unwrap();
                let column = Operand::of(&into, "b", [rows, 1], Some(vec![strides[0], 0]), Some(3)).unwrap();
                for second in [operands[1].clone(), column] {
                    let operation = Operation::Into { expression: expression.clone(), destination: 0 };
                    let list = vec![into.clone(), second, operands[2].clone()];
                    let request = Request::new(Rules::Numpy, operation, list).unwrap();
                    assert_eq!(check(&request), "parts");
                }
            }
        }
    }
}

/// The result of a plan of an expression.
fn run(expression: &Expression, operands: &[Operand], level: Level) -> Tensor {
    let request = elementwise(expression, operands.to_vec());
    let inputs: Vec<Input<'_>> = operands.iter().map(|operand| Input::from(operand.values())).collect();
    Plan::with_level(&request, level).unwrap().run(&inputs).unwrap()
}

/// A function of a column, of a row or of an axis in the middle has the bits of a plan that computes it
/// alone. The largest part is so long that its memory is not kept.
#[test]
fn a_part_has_the_bits_of_its_own_plan() {
    use Function as F;
    let mut random = Random(74);
    let shapes: [[&[usize]; 2]; 6] = [
        [&[64, 50], &[64, 1]],
        [&[64, 50], &[50]],
        [&[9, 7, 31], &[7, 1]],
        [&[20, 3000], &[20, 1]],
        [&[70_000, 16], &[70_000, 1]],
        [&[7, 5000], &[5000]],
    ];
    for [whole, part] in shapes {
        for dtype in [DType::F64, DType::F32] {
            let all = operands(&mut random, dtype, &[whole, part]);
            for function in [F::Exp, F::Log, F::Tanh, F::Sqrt, F::Power] {
                let of = |value: usize| match function {
                    F::Power => call(F::Power, &[x(value), x(value)]),
                    function => call(function, &[x(value)]),
                };
                let whole = call(F::Multiply, &[x(0), of(1)]);
                let request = elementwise(&whole, all.clone());
                assert_eq!(Plan::new(&request).unwrap().route_name(), "parts", "{request:?}");
                for level in Level::available() {
                    let first = run(&of(0), &all[1..], level);
                    let first = Operand::dense("y", part, first.values().clone()).unwrap();
                    let expected = run(&call(F::Multiply, &[x(0), x(1)]), &[all[0].clone(), first], level);
                    let found = run(&whole, &all, level);
                    let same = expected.values().iter().eq(found.values().iter());
                    assert!(same, "{function} of {part:?} at {level}");
                }
            }
        }
    }
}

/// An operand that is repeated by a stride of 0 is a column, as is one that is read backwards.
#[test]
fn views_have_parts() {
    let mut random = Random(75);
    let whole = operand(&mut random, DType::F64, 0, &[40, 30]);
    let column = operand(&mut random, DType::F64, 1, &[40, 1]);
    let repeated = Operand::view("y", [40, 30], column.values().clone(), Some(vec![1, 0]), 0).unwrap();
    let backwards = Operand::view("y", [40, 1], column.values().clone(), Some(vec![-1, 7]), 39).unwrap();
    for other in [repeated, backwards] {
        let expression = call(Function::Divide, &[x(0), call(Function::Sqrt, &[x(1)])]);
        assert_eq!(check(&elementwise(&expression, vec![whole.clone(), other])), "parts");
    }
}

/// Memory that is kept for a part is used again by parts of other sizes, beside parts of other dtypes.
#[test]
fn the_memory_of_parts_is_used_again() {
    use Function as F;
    let mut random = Random(76);
    let root = call(F::Divide, &[x(0), call(F::Sqrt, &[x(1)])]);
    let requests: Vec<Request> = [(60, 20, DType::F64), (20, 60, DType::F32), (90, 11, DType::F64)]
        .into_iter()
        .map(|(rows, width, dtype)| {
            elementwise(&root, operands(&mut random, dtype, &[&[rows, width], &[rows, 1]]))
        })
        .collect();
    let plans: Vec<Plan> = requests.iter().map(|request| Plan::new(request).unwrap()).collect();
    for turn in [0, 1, 2, 1, 0, 2, 2, 0] {
        let (request, plan) = (&requests[turn], &plans[turn]);
        let inputs: Vec<Input<'_>> = request.operands().iter().map(|x| Input::from(x.values())).collect();
        let Outcome::Success(expected) = Reference::new().run(request) else { panic!("{request:?}") };
        let mut values = request.operands()[0].values().clone();
        plan.run_into(&inputs, Output::from(&mut values)).unwrap();
        assert!(values.iter().eq(expected.tensor.values().iter()), "{request:?}");
    }
}

/// Values of a column that take no time of their own are computed first if the result is large: numbers,
/// truth values and integers.
#[test]
fn short_functions_of_columns_are_computed_first() {
    use Function as F;
    let mut random = Random(77);
    let sum = || call(F::Add, &[x(1), x(2)]);
    let chosen = call(F::Select, &[call(F::Less, &[x(1), x(2)]), x(0), x(1)]);
    let product = call(F::Multiply, &[x(0), sum()]);
    for (expression, dtypes) in [
        (&chosen, &[DType::F64, DType::F32, DType::I32, DType::U8][..]),
        (&product, &[DType::F32, DType::F16, DType::I64, DType::U8]),
    ] {
        for &dtype in dtypes {
            for (shapes, way) in [
                ([&[300, 33][..], &[300, 1], &[300, 1]], "parts"),
                ([&[9, 20, 50], &[20, 1], &[9, 1, 1]], "parts"),
                ([&[30, 33], &[30, 1], &[30, 1]], "another"),
                ([&[300, 33], &[33], &[33]], "another"),
            ] {
                let found = check(&elementwise(expression, operands(&mut random, dtype, &shapes)));
                assert_eq!(found == "parts", way == "parts", "{expression:?} of {dtype} over {shapes:?}");
            }
        }
    }
}

/// Under other rule sets, axes are aligned in other ways, or cut in two.
#[test]
fn parts_under_other_rules() {
    use Function as F;
    let mut random = Random(78);
    let expression = call(F::Divide, &[x(0), call(F::Sqrt, &[x(1)])]);
    let under: [(Rules, [&[usize]; 2]); 5] = [
        (Rules::Pdpd { axis: Some(0) }, [&[20, 5, 12], &[20]]),
        (Rules::Pdpd { axis: Some(1) }, [&[4, 9, 30], &[9, 1]]),
        (Rules::Leading, [&[20, 5, 12], &[20]]),
        (Rules::Xla { broadcast_dimensions: Some(vec![1]) }, [&[4, 9, 30], &[9]]),
        // Repeated 5 times along the first axis and 6 times along the second.
        (Rules::Repeat, [&[20, 60], &[4, 10]]),
    ];
    for (rules, shapes) in under {
        for dtype in [DType::F64, DType::F16] {
            let operation = Operation::Elementwise { expression: expression.clone() };
            let request =
                Request::new(rules.clone(), operation, operands(&mut random, dtype, &shapes)).unwrap();
            assert_eq!(check(&request), "parts");
        }
    }
}

/// A plan for unknown lengths has parts at one run and none at the next.
#[test]
fn parts_of_a_signature() {
    use Function as F;
    let mut random = Random(79);
    let expression = call(F::Divide, &[x(0), call(F::Sqrt, &[x(1)])]);
    let operand = |name: &str, shape: &str| {
        OperandType::new(name, DType::F64, shape.parse::<PartialShape>().unwrap()).unwrap()
    };
    let types = vec![operand("a", "?x?"), operand("b", "?x1")];
    let signature = Signature::new(Rules::Numpy, Asked::Expression(expression.clone()), types).unwrap();
    let plan = Plan::for_signature(&signature).unwrap();
    for (rows, width) in [(40, 30), (3, 4), (90, 17), (40, 30)] {
        let all = operands(&mut random, DType::F64, &[&[rows, width], &[rows, 1]]);
        let Outcome::Success(expected) = Reference::new().run(&elementwise(&expression, all.clone())) else {
            panic!("{rows}x{width}")
        };
        let values: Vec<Vec<f64>> = all
            .iter()
            .map(|operand| operand.values().iter().map(|value| value.as_f64().unwrap()).collect())
            .collect();
        let shapes = [[rows, width], [rows, 1]];
        let views = [View::dense(&values[0][..], &shapes[0]), View::dense(&values[1][..], &shapes[1])];
        let found = plan.run(&views).unwrap();
        assert!(found.values().iter().eq(expected.tensor.values().iter()), "{rows}x{width}");
    }
}
