use super::*;
use crate::oracle::Side;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, Expression, Function, Operand, Operation, Rules, Scalar, Success, Tensor,
};

/// The reference with changed gradients.
struct Wrong(fn(&Request, Tensor) -> Tensor);

impl Implementation for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        match (request.operation(), Reference.run(request)) {
            (Operation::Gradient { .. }, Outcome::Success(success)) => {
                Outcome::Success(Success::from((self.0)(request, success.tensor)))
            }
            (_, outcome) => outcome,
        }
    }
}

/// The gradient by `b` of exp(a) / b, b stretched.
fn request() -> Request {
    let a = Operand::dense("a", [2, 3], vec![0.5, -1.25, 2.0, 0.75, 1.5, -0.5]).unwrap();
    let b = Operand::dense("b", [1, 3], vec![1.5, 2.5, -3.5]).unwrap();
    let exp = Expression::call(Function::Exp, [Expression::operand(1)]).unwrap();
    let expression = Expression::call(Function::Multiply, [exp, Expression::operand(0)]).unwrap();
    Request::new(Rules::Numpy, Operation::Gradient { expression, wrt: 1 }, vec![a, b]).unwrap()
}

fn scaled(tensor: Tensor, factor: f64) -> Tensor {
    let (shape, values) = tensor.into_parts();
    let values: Vec<f64> = values.iter().filter_map(Scalar::as_f64).map(|value| value * factor).collect();
    Tensor::new(shape, values).unwrap()
}

fn complaint(change: fn(&Request, Tensor) -> Tensor) -> Option<Kind> {
    let wrong = Wrong(change);
    Gradient::new(&wrong).judge(&request()).disagreement().map(|found| found.signature.kind)
}

#[test]
fn correct_gradients_agree() {
    assert_eq!(gradient(&request()), Judgement::Agreed(Answer::Accepted));
    assert_eq!(complaint(|_, tensor| tensor), None);
}

#[test]
fn a_gradient_that_is_not_summed_breaks_the_adjoint() {
    let found = complaint(|request, tensor| {
        let Operation::Gradient { expression, .. } = request.operation() else { return tensor };
        if expression.is_exact() { scaled(tensor, 0.5) } else { tensor }
    });
    assert_eq!(found, Some(Kind::Relation("adjoint")));
}

#[test]
fn an_error_of_a_millionth_in_a_derivative_is_found() {
    let found = complaint(|request, tensor| {
        let Operation::Gradient { expression, .. } = request.operation() else { return tensor };
        if expression.is_exact() { tensor } else { scaled(tensor, 1.0 + 1e-6) }
    });
    assert_eq!(found, Some(Kind::Relation("central-difference")));
    assert_ne!(Side::Left, Side::Right);
}
