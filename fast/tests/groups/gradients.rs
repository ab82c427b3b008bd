//! Gradients of the groups of calls, on every SIMD level, beside those of the interpreter.

use super::support::{Random, check, value};
use super::{call, request, with_gaps, x};
use broadcheck_fast::Fast;
use broadcheck_reference::Reference;
use broadcheck_spec::half::f16;
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Scalar,
};

/// The derivatives of a maximum, a minimum, a power and a choice by an operand, and those above which there
/// is another function, or another choice, so that they are computed call by call.
#[test]
fn derivatives_that_are_one_loop() {
    use Function as F;
    let mut random = Random(36);
    let zero = || call(F::Subtract, x(1), x(1));
    let less = || call(F::Less, x(0), x(1));
    let select = |a, b| Expression::call(F::Select, [less(), a, b]).unwrap();
    let two = |function| call(function, x(0), x(1));
    let expressions = [
        two(F::Maximum),
        two(F::Minimum),
        two(F::Power),
        select(x(0), x(1)),
        call(F::Maximum, x(0), zero()),
        call(F::Maximum, call(F::Multiply, x(0), x(1)), x(0)),
        call(F::Multiply, two(F::Minimum), x(1)),
        call(F::Minimum, two(F::Maximum), x(1)),
        select(two(F::Maximum), two(F::Power)),
        select(x(1), select(x(0), x(1))),
        call(F::Power, two(F::Add), x(1)),
    ];
    let shapes: [[&[usize]; 2]; 6] = [
        [&[7, 70], &[70]],
        [&[7, 70], &[7, 1]],
        [&[7, 70], &[1]],
        [&[130], &[130]],
        [&[3], &[1]],
        [&[], &[]],
    ];
    for (number, expression) in (0..).zip(expressions) {
        for shapes in shapes.iter().flat_map(|&[a, b]| [[a, b], [b, a]]) {
            for dtype in [DType::F64, DType::F32, DType::F16] {
                let wrt = (number + random.below(2)) % 2;
                let forward = request(&mut random, dtype, &shapes, expression.clone());
                let (rules, _, operands) = forward.into_parts();
                let whole = shapes.into_iter().max_by_key(|shape| shape.iter().product::<usize>()).unwrap();
                let plain = Operation::Gradient { expression: expression.clone(), wrt };
                check(&Request::new(rules.clone(), plain, operands.clone()).unwrap());
                let values = (0..whole.iter().product::<usize>()).map(|_| value(&mut random, dtype));
                let values = values.collect::<Vec<_>>();
                let cotangent =
                    Operand::dense("w", whole, Data::from_scalars(dtype, values).unwrap()).unwrap();
                let (expression, cotangent) = (expression.clone(), Box::new(cotangent));
                let weighted = Operation::Vjp { expression, wrt, target_shape: None, cotangent };
                check(&Request::new(rules, weighted, operands).unwrap());
            }
        }
    }
}

/// The derivative by an exponent has the power as it was rounded to f16: 300^2 is infinite, so that 0 times
/// its derivative is a NaN, and (2^-13)^2 is 0.
#[test]
fn powers_of_halves_are_rounded_in_the_derivative_by_the_exponent() {
    let expression = call(Function::Power, x(0), x(1));
    let operand = |name, values: [f64; 3]| {
        let values = values.map(|value| Scalar::F16(f16::from_f64(value)));
        Box::new(Operand::dense(name, [3], Data::from_scalars(DType::F16, values).unwrap()).unwrap())
    };
    let operands = vec![*operand("x0", [300.0, 2f64.powi(-13), 2.0]), *operand("x1", [2.0; 3])];
    let cotangent = operand("w", [0.0, 1.0, 1.0]);
    let operation = Operation::Vjp { expression, wrt: 1, target_shape: None, cotangent };
    let request = Request::new(Rules::Numpy, operation, operands).unwrap();
    check(&request);
    let Outcome::Success(success) = Fast::new().run(&request) else { panic!("a refusal") };
    let Data::F16(found) = success.tensor.values() else { panic!("no halves") };
    assert!(found[0].is_nan(), "{found:?}");
    assert_eq!(found[1..], [0.0, 4.0 * 2f64.ln()].map(f16::from_f64));
}

/// Gradients of chains whose operands are rows and columns, dense ones and views: over rows that are long
/// enough to be read in place and shorter ones, in one tile and in several, where the last one has fewer
/// rows.
fn gradients_of_chains_over_rows(widths: &[usize], seed: u64) {
    let mut random = Random(seed);
    let centred = call(Function::Subtract, x(0), x(1));
    let norm =
        call(Function::Add, call(Function::Multiply, call(Function::Multiply, centred, x(2)), x(3)), x(4));
    for &width in widths {
        for rows in [1, 2, 3, 5, 8, 17, 32, 70] {
            let dtype = if (width + rows) % 2 == 0 { DType::F64 } else { DType::F32 };
            let (matrix, column, row) = ([rows, width], [rows, 1], [width]);
            let (block, inner) = ([3, rows, width], [3, 1, 1]);
            let of_two: [&[usize]; 5] = [&matrix, &column, &column, &row, &row];
            let of_three: [&[usize]; 5] = [&block, &column, &[3, rows, 1], &row, &[1]];
            let uneven: [&[usize]; 5] = [&block, &inner, &column, &matrix, &row];
            for shapes in [of_two, of_three, uneven] {
                let wrt = random.below(5);
                let forward = request(&mut random, dtype, &shapes, norm.clone());
                let (rules, _, mut operands) = forward.into_parts();
                if rows % 2 == 1 {
                    operands = operands.iter().map(|operand| with_gaps(&mut random, operand)).collect();
                }
                let values = (0..shapes[0].iter().product::<usize>()).map(|_| value(&mut random, dtype));
                let values = Data::from_scalars(dtype, values.collect::<Vec<_>>()).unwrap();
                let cotangent = Box::new(Operand::dense("w", shapes[0], values).unwrap());
                let expression = norm.clone();
                let weighted = Operation::Vjp { expression, wrt, target_shape: None, cotangent };
                check(&Request::new(rules, weighted, operands).unwrap());
            }
        }
    }
}

#[test]
fn gradients_of_chains_over_short_rows() {
    gradients_of_chains_over_rows(&[7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 129], 37);
}

#[test]
fn gradients_of_chains_over_long_rows() {
    gradients_of_chains_over_rows(&[300], 38);
}

/// Gradients of choices that are added up while they are computed: over rows that are long enough and
/// shorter ones, where the operands are matrices, rows, columns and single values, dense ones and views; in
/// one tile and in several. A third of them has no cotangent.
#[test]
fn gradients_of_choices_over_rows() {
    let mut random = Random(41);
    let greater = call(Function::Greater, x(1), x(2));
    let choose = |condition| Expression::call(Function::Select, [condition, x(1), x(2)]).unwrap();
    let choices = [
        choose(x(0)),
        choose(greater.clone()),
        choose(call(Function::LogicalAnd, x(0), greater)),
        call(Function::Maximum, x(1), x(2)),
        call(Function::Minimum, choose(x(0)), x(2)),
    ];
    let (mut sums, mut others) = (0, 0);
    for width in [5, 8, 9, 16, 31, 32, 33, 64, 100, 129, 1100] {
        for rows in [1, 2, 3, 9, 40] {
            let shapes: [&[usize]; 5] = [&[rows, width], &[width], &[rows, 1], &[1], &[2, rows, width]];
            for (at, expression) in choices.iter().enumerate() {
                let dtype = if (width + rows + at) % 2 == 0 { DType::F64 } else { DType::F32 };
                let mut forms = [random.below(5), random.below(5), random.below(5)].map(|k| shapes[k]);
                let wrt = 1 + random.below(2);
                // Only the gradient by an operand that is stretched is added up.
                if random.below(4) != 0 {
                    forms[wrt] = shapes[1 + random.below(3)];
                }
                let mut operands = Vec::new();
                for (place, shape) in forms.into_iter().enumerate() {
                    let dtype = if place == 0 { DType::Bool } else { dtype };
                    let count = shape.iter().product::<usize>();
                    let values = (0..count).map(|_| value(&mut random, dtype)).collect::<Vec<_>>();
                    let values = Data::from_scalars(dtype, values).unwrap();
                    let operand = Operand::dense(format!("x{place}"), shape, values).unwrap();
                    let views = random.below(2) == 0;
                    operands.push(if views { with_gaps(&mut random, &operand) } else { operand });
                }
                let forward = Operation::Elementwise { expression: expression.clone() };
                let forward = Request::new(Rules::Numpy, forward, operands).unwrap();
                let Outcome::Success(result) = Reference::new().run(&forward) else { continue };
                let (shape, (rules, _, operands)) = (result.tensor.shape().clone(), forward.into_parts());
                let expression = expression.clone();
                let gradient = if random.below(3) == 0 {
                    Operation::Gradient { expression, wrt }
                } else {
                    let count = shape.count().unwrap();
                    let values = (0..count).map(|_| value(&mut random, dtype)).collect::<Vec<_>>();
                    let values = Data::from_scalars(dtype, values).unwrap();
                    let cotangent = Box::new(Operand::dense("w", shape, values).unwrap());
                    Operation::Vjp { expression, wrt, target_shape: None, cotangent }
                };
                let way = check(&Request::new(rules, gradient, operands).unwrap());
                sums += usize::from(way == "sum");
                others += usize::from(way == "gradient");
            }
        }
    }
    assert!(sums > 50 && others > 50, "{sums} are one sum, and {others} are not");
}

/// Gradients of exp of a product by a single value, by a row and by a column, in one tile and in several: a
/// sum whose terms have exp is added up by a kernel of its own. The values are finite, because a NaN in a sum
/// would hide all other terms.
#[test]
fn gradients_of_exp_over_rows() {
    let mut random = Random(43);
    let (mut sums, mut others) = (0, 0);
    let mut operand = |name: &str, shape: &[usize], dtype| {
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|_| eighths(&mut random, dtype)).collect::<Vec<_>>();
        Operand::dense(name, shape, Data::from_scalars(dtype, values).unwrap()).unwrap()
    };
    for (width, rows) in [8, 33, 300, 1100].into_iter().flat_map(|width| [1, 5, 32].map(|rows| (width, rows)))
    {
        let whole = [rows, width];
        for own in [&[1][..], &[width], &[rows, 1]] {
            for dtype in [DType::F64, DType::F32] {
                let operands = vec![operand("x0", own, dtype), operand("x1", &whole, dtype)];
                let product = call(Function::Multiply, x(0), x(1));
                let expression = Expression::call(Function::Exp, [product]).unwrap();
                let gradient = if rows % 2 == 0 {
                    Operation::Gradient { expression, wrt: 0 }
                } else {
                    let cotangent = Box::new(operand("w", &whole, dtype));
                    Operation::Vjp { expression, wrt: 0, target_shape: None, cotangent }
                };
                let way = check(&Request::new(Rules::Numpy, gradient, operands).unwrap());
                sums += usize::from(way == "sum");
                others += usize::from(way == "gradient");
            }
        }
    }
    assert!(sums > 10 && others > 5, "{sums} are one sum, and {others} are not");
}

/// A multiple of 1/8 between -2 and 2.
fn eighths(random: &mut Random, dtype: DType) -> Scalar {
    let number = f32::from(u8::try_from(random.below(33)).unwrap()) / 8.0 - 2.0;
    if dtype == DType::F32 { Scalar::F32(number) } else { Scalar::F64(number.into()) }
}
