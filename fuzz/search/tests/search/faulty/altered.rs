//! The reference with some of its answers replaced by other well-formed ones: of any rank, length, dtype,
//! kind or axis.

use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, DType, Data, Implementation, Inference, Outcome, Refusal, RefusalKind, Request, Scalar,
    Shape, Signature, Success, Tensor,
};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which answers are altered, and how.
type Alter = fn(Outcome, u64) -> Outcome;

/// The reference with altered answers. The same request always gets the same answer.
pub(crate) struct Altered {
    inner: Reference,
    /// One answer in this many is altered.
    one_in: u64,
    seed: u64,
    alter: Alter,
}

impl Altered {
    /// One answer of `one_in`, chosen by a hash of the request, is altered in one of many ways.
    pub(crate) fn at_random(one_in: u64, seed: u64) -> Altered {
        Altered { inner: Reference::new(), one_in, seed, alter: at_random }
    }

    /// A scalar for every empty result.
    pub(crate) fn scalar_for_empty() -> Altered {
        let alter: Alter = |outcome, _| match outcome {
            Outcome::Success(success) if success.tensor.values().is_empty() => {
                result(tensor(&[], success.tensor.dtype(), 1.0))
            }
            other => other,
        };
        Altered { inner: Reference::new(), one_in: 1, seed: 0, alter }
    }
}

impl Implementation for Altered {
    fn name(&self) -> &str {
        "altered"
    }
    fn version(&self) -> &str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let outcome = self.inner.run(request);
        let mut hasher = DefaultHasher::new();
        (self.seed, format!("{request:?}")).hash(&mut hasher);
        let number = hasher.finish();
        if number.is_multiple_of(self.one_in) { (self.alter)(outcome, number / self.one_in) } else { outcome }
    }
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.inner.infer(signature)
    }
}

fn at_random(outcome: Outcome, number: u64) -> Outcome {
    match outcome {
        Outcome::Success(success) => altered_success(success, number),
        Outcome::Refusal(refusal) => altered_refusal(refusal, number),
        other => other,
    }
}

fn altered_success(success: Success, number: u64) -> Outcome {
    let (shape, dtype) = (success.tensor.shape().to_vec(), success.tensor.dtype());
    let scalars: Vec<Scalar> = success.tensor.values().iter().collect();
    match number % 12 {
        0 => result(tensor(&[], dtype, 7.0)),
        1 => result(tensor(&[0], dtype, 7.0)),
        2 => result(tensor(&[1; 9], dtype, 7.0)),
        3 => result(of(&[&shape[..], &[1]].concat(), dtype, scalars)),
        4 => result(of(&[&[1], &shape[..]].concat(), dtype, scalars)),
        5 => result(of(&[scalars.len()], dtype, scalars)),
        6 => result(of(&shape, dtype, scalars.into_iter().rev().collect())),
        7 => result(of(&[&shape[..], &[2]].concat(), dtype, [&scalars[..], &scalars[..]].concat())),
        8 => result(tensor(&shape, if dtype == DType::I8 { DType::F64 } else { DType::I8 }, 1.0)),
        9 => Outcome::Refusal(Refusal::default()),
        10 => Outcome::Success(Success { intermediate: Some(tensor(&[3, 0, 2], DType::U8, 1.0)), ..success }),
        _ => Outcome::Success(Success { broadcastable: Some(vec![true; shape.len() + 2]), ..success }),
    }
}

fn altered_refusal(refusal: Refusal, number: u64) -> Outcome {
    match number % 7 {
        0 => result(tensor(&[], DType::F64, 1.0)),
        1 => result(tensor(&[2, 0, 3], DType::F64, 1.0)),
        2 => result(tensor(&[1, 2], DType::Bool, 1.0)),
        3 => Outcome::Refusal(Refusal::default()),
        4 => Outcome::Refusal(Refusal { axis: Some(usize::MAX), ..refusal }),
        5 => Outcome::Refusal(Refusal { operand: Some(99), ..refusal }),
        _ => {
            let kinds = RefusalKind::ALL;
            let place = usize::try_from(number / 7 % kinds.len() as u64).unwrap();
            Outcome::Refusal(Refusal { kind: Some(kinds[place]), ..refusal })
        }
    }
}

fn result(tensor: Tensor) -> Outcome {
    Outcome::Success(tensor.into())
}

/// A tensor of one value.
fn tensor(shape: &[usize], dtype: DType, value: f64) -> Tensor {
    let count = Shape::from(shape).count().unwrap();
    let scalar = match dtype {
        DType::I8 => Scalar::I8(1),
        DType::U8 => Scalar::U8(1),
        DType::Bool => Scalar::Bool(true),
        _ => Scalar::F64(value),
    };
    let dtype = if matches!(scalar, Scalar::F64(_)) { DType::F64 } else { dtype };
    of(shape, dtype, vec![scalar; count])
}

fn of(shape: &[usize], dtype: DType, scalars: Vec<Scalar>) -> Tensor {
    Tensor::new(Shape::from(shape), Data::from_scalars(dtype, scalars).unwrap()).unwrap()
}
