//! Values under each rule set, with the further outputs of `xla` and `theano`; views; `broadcast`.

mod common;

use broadcheck_spec::{Function, Rules, Scalar};
use common::{XLA, broadcast, call, dense, elementwise, of_operands, op, success, tensor, view, xla};

fn matrix() -> broadcheck_spec::Operand {
    dense("a", &[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

fn vector() -> broadcheck_spec::Operand {
    dense("b", &[3], vec![7.0, 8.0, 9.0])
}

#[test]
fn a_vector_is_added_to_every_row() {
    let expected = tensor(&[2, 3], vec![8.0, 10.0, 12.0, 11.0, 13.0, 15.0]);
    for rules in [Rules::Numpy, Rules::Pdpd { axis: None }, xla(&[1])] {
        let request = elementwise(rules, of_operands(Function::Add), vec![matrix(), vector()]);
        assert_eq!(success(&request).tensor, expected);
    }
}

#[test]
fn the_start_axis_and_the_dimensions_place_the_vector() {
    let square = || dense("a", &[3, 3], vec![0i32; 9]);
    let side = || dense("b", &[3], vec![7i32, 8, 9]);
    for rules in [Rules::Pdpd { axis: Some(0) }, xla(&[0])] {
        let request = elementwise(rules, of_operands(Function::Subtract), vec![square(), side()]);
        assert_eq!(success(&request).tensor, tensor(&[3, 3], vec![-7i32, -7, -7, -8, -8, -8, -9, -9, -9]));
    }
}

#[test]
fn xla_reports_the_lower_operand_after_the_in_dim_step() {
    let (vector, row) = (dense("a", &[4], vec![1.0, 2.0, 3.0, 4.0]), dense("b", &[1, 2], vec![5.0, 6.0]));
    let lower = tensor(&[4, 2], vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    let difference = vec![-4.0, -5.0, -3.0, -4.0, -2.0, -3.0, -1.0, -2.0];
    let forth = elementwise(xla(&[0]), of_operands(Function::Subtract), vec![vector.clone(), row.clone()]);
    assert_eq!(success(&forth).tensor, tensor(&[4, 2], difference.clone()));
    assert_eq!(success(&forth).intermediate, Some(lower.clone()));
    let back = elementwise(xla(&[0]), of_operands(Function::Subtract), vec![row, vector]);
    assert_eq!(success(&back).tensor, tensor(&[4, 2], difference.iter().map(|d| -d).collect::<Vec<f64>>()));
    assert_eq!(success(&back).intermediate, Some(lower));
    let equal = elementwise(XLA, of_operands(Function::Add), vec![matrix(), dense("b", &[1, 1], vec![1.0])]);
    assert_eq!(success(&equal).intermediate, None);
    let scalar = elementwise(XLA, of_operands(Function::Add), vec![dense("s", &[], vec![2.0]), matrix()]);
    assert_eq!(success(&scalar).intermediate, Some(tensor(&[2, 3], vec![2.0; 6])));
}

#[test]
fn theano_reports_the_flags() {
    let x = dense("x", &[1, 3], vec![1.0; 3]).with_broadcastable(vec![true, false]).unwrap();
    let y = dense("b", &[1], vec![1.0]).with_broadcastable(vec![true]).unwrap();
    let request = elementwise(Rules::Theano, of_operands(Function::Add), vec![x, y]);
    let answer = success(&request);
    assert_eq!(answer.tensor, tensor(&[1, 3], vec![2.0; 3]));
    assert_eq!(answer.broadcastable, Some(vec![true, false]));
}

#[test]
fn unused_operands_affect_the_shape_of_the_result() {
    let request = elementwise(
        Rules::Numpy,
        op(0),
        vec![dense("a", &[1], vec![5i8]), dense("b", &[2, 2], vec![true; 4])],
    );
    assert_eq!(success(&request).tensor, tensor(&[2, 2], vec![5i8; 4]));
}

#[test]
fn an_expression_of_many_operands() {
    // less(a, b) ? a * b : c - a, with a down, b across, c a scalar
    let expression = call(
        Function::Select,
        [
            call(Function::Less, [op(0), op(1)]),
            call(Function::Multiply, [op(0), op(1)]),
            call(Function::Subtract, [op(2), op(0)]),
        ],
    );
    let operands = vec![
        dense("a", &[2, 1], vec![2i64, 5]),
        dense("b", &[3], vec![1i64, 3, 7]),
        dense("c", &[], vec![100i64]),
    ];
    let request = elementwise(Rules::Numpy, expression, operands);
    assert_eq!(success(&request).tensor, tensor(&[2, 3], vec![98i64, 6, 14, 95, 95, 35]));
}

#[test]
fn each_function_of_an_expression_rounds() {
    // (1 + 2^-11) - 1 in f16: the sum is a tie and rounds to 1.
    use broadcheck_spec::half::f16;
    let one = || vec![f16::from_f32(1.0)];
    let expression = call(Function::Subtract, [call(Function::Add, [op(0), op(1)]), op(0)]);
    let operands = vec![dense("a", &[1], one()), dense("b", &[1], vec![f16::from_f32(2f32.powi(-11))])];
    let answer = success(&elementwise(Rules::None, expression, operands)).tensor;
    assert_eq!(answer.values().get(0), Some(Scalar::F16(f16::from_f32(0.0))));
    // With a fused multiply-add, x * x - y would be 2^-60 instead of 0.
    let expression = call(Function::Subtract, [call(Function::Multiply, [op(0), op(0)]), op(1)]);
    let x = 1.0 + 2f64.powi(-30);
    let operands = vec![dense("a", &[1], vec![x]), dense("b", &[1], vec![x * x])];
    assert_eq!(success(&elementwise(Rules::None, expression, operands)).tensor, tensor(&[1], vec![0.0]));
}

#[test]
fn views_are_read_through_their_strides() {
    let buffer = vec![0i32, 1, 2, 3, 4, 5];
    let transposed = view("a", &[3, 2], buffer.clone(), &[1, 3], 0);
    let reversed = view("b", &[2], buffer.clone(), &[-3], 4);
    let request = elementwise(Rules::Numpy, of_operands(Function::Add), vec![transposed, reversed]);
    // [[0,3],[1,4],[2,5]] + [4,1]
    assert_eq!(success(&request).tensor, tensor(&[3, 2], vec![4i32, 4, 5, 5, 6, 6]));
    let repeated = view("a", &[2, 2], buffer, &[0, 2], 1);
    let request = elementwise(Rules::Numpy, op(0), vec![repeated]);
    assert_eq!(success(&request).tensor, tensor(&[2, 2], vec![1i32, 3, 1, 3]));
}

#[test]
fn broadcast_repeats_values_of_any_dtype() {
    let column = || dense("a", &[2, 1], vec![true, false]);
    let expected = tensor(&[2, 2], vec![true, true, false, false]);
    assert_eq!(success(&broadcast(Rules::Bidirectional, column(), &[2])).tensor, expected);
    assert_eq!(success(&broadcast(Rules::Numpy, column(), &[2, 2])).tensor, expected);
    let longer = broadcast(Rules::Numpy, column(), &[2, 2, 1]);
    assert_eq!(success(&longer).tensor, tensor(&[2, 2, 1], vec![true, false, true, false]));
    let both = broadcast(Rules::Bidirectional, column(), &[2, 1, 1]);
    assert_eq!(success(&both).tensor, tensor(&[2, 2, 1], vec![true, false, true, false]));
    assert_eq!(success(&both).intermediate, None);
}

#[test]
fn a_result_without_elements() {
    let request = elementwise(
        Rules::Numpy,
        of_operands(Function::Less),
        vec![dense("a", &[2, 1], vec![1.0, 2.0]), dense("b", &[0], Vec::<f64>::new())],
    );
    assert_eq!(success(&request).tensor, tensor(&[2, 0], Vec::<bool>::new()));
}
