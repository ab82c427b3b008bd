//! Nested expressions: several calls of floats of which no chain takes all.

use super::support::{Random, check};
use super::{call, request, request_of, x};
use broadcheck_spec::{DType, Expression, Function};

fn one(function: Function, a: Expression) -> Expression {
    Expression::call(function, [a]).unwrap()
}

fn select(condition: Expression, a: Expression, b: Expression) -> Expression {
    Expression::call(Function::Select, [condition, a, b]).unwrap()
}

/// A random number of so many levels of calls. Operand 3 is a bool, and the others are numbers.
fn number(random: &mut Random, levels: usize) -> Expression {
    use Function as F;
    if levels == 0 || random.below(6) == 0 {
        return x(random.below(3));
    }
    let of_two = [F::Add, F::Subtract, F::Multiply, F::Divide, F::Maximum, F::Minimum];
    match random.below(12) {
        at @ 0..6 => call(of_two[at], number(random, levels - 1), number(random, levels - 1)),
        6 => one(F::Negate, number(random, levels - 1)),
        7 => one(F::Abs, number(random, levels - 1)),
        8 => one(F::Sqrt, one(F::Abs, number(random, levels - 1))),
        // The same value twice.
        9 => {
            let value = number(random, levels - 1);
            call(of_two[random.below(6)], value.clone(), value)
        }
        _ => {
            let condition = condition(random, levels);
            select(condition, number(random, levels - 1), number(random, levels - 1))
        }
    }
}

/// A random condition.
fn condition(random: &mut Random, levels: usize) -> Expression {
    use Function as F;
    let comparisons = [F::Less, F::LessEqual, F::Greater, F::GreaterEqual, F::Equal, F::NotEqual];
    match random.below(10) {
        0 => x(3),
        1 if levels > 0 => one(F::LogicalNot, condition(random, levels - 1)),
        at @ 2..5 if levels > 0 => {
            let joined = if at == 2 { F::LogicalOr } else { F::LogicalAnd };
            call(joined, condition(random, levels - 1), condition(random, levels - 1))
        }
        _ => {
            let less = levels.saturating_sub(1);
            call(comparisons[random.below(6)], number(random, less), number(random, less))
        }
    }
}

/// Random expressions over vectors, rows and columns of many lengths, and single values.
#[test]
fn nested_expressions() {
    let (mut random, mut nested, mut all) = (Random(51), 0, 0);
    for round in 0..200 {
        let expression = number(&mut random, 2 + round % 3);
        let dtype = [DType::F64, DType::F32][round % 2];
        for shapes in [
            [&[150][..]; 4],
            [&[1], &[150], &[1], &[150]],
            [&[5, 33], &[33], &[5, 1], &[5, 33]],
            [&[4, 70], &[4, 1], &[4, 70], &[4, 1]],
            [&[3], &[1], &[3], &[1]],
        ] {
            let way = check(&request_of(&mut random, &[dtype; 3], &shapes, expression.clone()));
            nested += usize::from(way == "nested");
            all += 1;
        }
    }
    assert!(nested > 260, "{nested} of {all} are nested");
}

/// Random conditions over the same.
#[test]
fn nested_conditions() {
    let (mut random, mut nested, mut all) = (Random(54), 0, 0);
    for round in 0..100 {
        let expression = condition(&mut random, 2 + round % 2);
        let dtype = [DType::F64, DType::F32][round % 2];
        for shapes in [
            [&[150][..]; 4],
            [&[3000], &[1], &[3000], &[3000]],
            [&[5, 33], &[33], &[5, 1], &[5, 33]],
            [&[3], &[1], &[3], &[3]],
        ] {
            let way = check(&request_of(&mut random, &[dtype; 3], &shapes, expression.clone()));
            nested += usize::from(way == "nested");
            all += 1;
        }
    }
    assert!(nested > 100, "{nested} of {all} are nested");
}

/// Expressions that users write, over operands of every kind.
#[test]
fn common_nested_expressions() {
    use Function as F;
    let sum = || call(F::Add, x(0), x(1));
    let difference = || call(F::Subtract, x(0), x(1));
    let product = |a, b| call(F::Multiply, x(a), x(b));
    let less = || call(F::Less, x(0), x(1));
    let expressions = [
        call(F::Divide, difference(), sum()),
        call(F::Divide, one(F::Abs, difference()), sum()),
        call(F::Divide, call(F::Multiply, difference(), difference()), call(F::Add, sum(), x(2))),
        select(less(), product(0, 2), difference()),
        select(call(F::LogicalAnd, less(), call(F::Less, x(1), x(2))), sum(), x(1)),
        select(call(F::LogicalOr, less(), call(F::Less, x(1), x(2))), sum(), product(1, 2)),
        select(less(), select(call(F::Less, x(1), x(2)), sum(), difference()), product(1, 2)),
        select(one(F::LogicalNot, less()), sum(), difference()),
        // A comparison that has two readers.
        call(F::Add, select(less(), sum(), x(2)), select(less(), x(2), difference())),
        call(F::Subtract, call(F::Maximum, sum(), x(2)), call(F::Minimum, difference(), x(2))),
        // Whether two values are close, and conditions of computed values.
        call(
            F::LessEqual,
            one(F::Abs, difference()),
            call(F::Add, x(2), call(F::Multiply, x(2), one(F::Abs, x(1)))),
        ),
        call(F::Less, call(F::Add, product(0, 0), product(1, 1)), x(2)),
        call(F::LogicalOr, call(F::Greater, sum(), x(2)), call(F::Less, difference(), x(2))),
    ];
    let mut random = Random(52);
    for expression in expressions {
        for dtype in [DType::F64, DType::F32] {
            for (shapes, way) in [
                ([&[150][..]; 3], Some("nested")),
                ([&[3000], &[3000], &[1]], Some("nested")),
                ([&[7, 50], &[7, 50], &[7, 1]], None),
                ([&[7, 50], &[50], &[7, 1]], None),
                ([&[2, 3, 40], &[3, 1], &[2, 1, 40]], None),
                ([&[3, 5, 7], &[5, 7], &[3, 1, 1]], None),
            ] {
                let request = request(&mut random, dtype, &shapes, expression.clone());
                let found = check(&request);
                assert!(way.is_none_or(|way| way == found), "{found}: {request:?}");
            }
        }
    }
}

/// Large results, which threads share or which are not written directly, and other dtypes.
#[test]
fn nested_expressions_of_other_kinds() {
    use Function as F;
    let ratio = call(F::Divide, call(F::Subtract, x(0), x(1)), call(F::Add, x(0), x(1)));
    let chosen = select(call(F::Less, x(0), x(1)), call(F::Multiply, x(0), x(0)), ratio.clone());
    let mut random = Random(53);
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        for expression in [&ratio, &chosen] {
            check(&request(&mut random, dtype, &[&[130, 100], &[100]], expression.clone()));
        }
    }
    // More than 8 MiB.
    let width = (1 << 18) + 3;
    check(&request(&mut random, DType::F64, &[&[5, width], &[5, 1]], chosen));
}
