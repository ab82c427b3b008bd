//! The reference with planted faults. Each fault is one that a real library has shipped, or could ship.

pub(crate) mod altered;

use broadcheck::spec::{
    Capabilities, Data, Implementation, Inference, Operand, Operation, Outcome, Refusal, RefusalKind,
    Request, Rules, Shape, Signature, Success, Tensor,
};
use broadcheck_reference::Reference;

/// A fault, and what detects it.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// Relations that the fault violates, whatever it is compared with; empty if no relation detects it.
    pub(crate) violates: &'static [&'static str],
    /// Whether comparing answers detects it: views and gradients are left to the relations.
    pub(crate) differs: bool,
    answer: fn(&Reference, &Request) -> Outcome,
}

pub(crate) static FAULTS: &[Fault] = &[
    Fault {
        name: "0 against 1 gives the maximum",
        violates: &[
            "numpy-grouping",
            "xla-equal-ranks-are-numpy",
            "pdpd-is-numpy",
            "bidirectional-is-times-ones",
        ],
        differs: true,
        answer: maximum_of_zero_and_one,
    },
    Fault {
        name: "pdpd ignores axis",
        violates: &["pdpd-is-numpy", "pdpd-views"],
        differs: true,
        answer: |inner, request| match request.rules() {
            Rules::Pdpd { axis: Some(_) } => inner.run(&with_rules(request, Rules::Pdpd { axis: None })),
            _ => inner.run(request),
        },
    },
    Fault {
        name: "pdpd stretches A",
        violates: &["pdpd-is-numpy"],
        differs: true,
        answer: |inner, request| match (request.rules(), inner.run(request)) {
            (Rules::Pdpd { .. }, Outcome::Refusal(refusal))
                if refusal.kind == Some(RefusalKind::DimensionMismatch) =>
            {
                inner.run(&with_rules(request, Rules::Numpy))
            }
            (_, outcome) => outcome,
        },
    },
    Fault {
        name: "operands exchanged when the first has the lower rank",
        violates: &["numpy-order-of-operands", "xla-order-of-operands", "theano-order-of-operands"],
        differs: true,
        answer: |inner, request| match request.operands() {
            [first, second] if first.rank() < second.rank() => {
                let operands = vec![second.clone(), first.clone()];
                inner.run(&rebuilt(request, request.rules().clone(), operands))
            }
            _ => inner.run(request),
        },
    },
    Fault {
        name: "numpy aligns on the left",
        violates: &["numpy-order-of-axes", "xla-suffix-dimensions-are-numpy", "numpy-views"],
        differs: true,
        answer: aligned_on_the_left,
    },
    Fault {
        name: "xla without dimensions aligns as numpy",
        violates: &["xla-views"],
        differs: true,
        answer: |inner, request| match (request.rules(), inner.run(request)) {
            (Rules::Xla { broadcast_dimensions: None }, Outcome::Refusal(_)) => {
                inner.run(&with_rules(request, Rules::Numpy))
            }
            (_, outcome) => outcome,
        },
    },
    Fault {
        name: "xla ignores valid dimensions",
        violates: &["xla-in-dim-is-numpy", "xla-views"],
        differs: true,
        answer: |inner, request| match (request.rules(), inner.run(request)) {
            (Rules::Xla { broadcast_dimensions: Some(_) }, Outcome::Success(_)) => {
                inner.run(&with_rules(request, Rules::Numpy))
            }
            (_, outcome) => outcome,
        },
    },
    Fault {
        name: "theano stretches a length of 1 without its flag",
        violates: &[],
        differs: true,
        answer: |inner, request| match (request.rules(), inner.run(request)) {
            (Rules::Theano, Outcome::Refusal(refusal))
                if refusal.kind == Some(RefusalKind::NotBroadcastable) =>
            {
                inner.run(&without_flags(request))
            }
            (_, outcome) => outcome,
        },
    },
    Fault {
        name: "theano takes any flag to mean that the axis is dropped",
        violates: &["theano-is-numpy", "theano-with-ones-flagged-is-numpy"],
        differs: true,
        answer: squeezed_flags,
    },
    Fault {
        name: "broadcast gives more than the target",
        violates: &["numpy-broadcast-is-bidirectional"],
        differs: true,
        answer: |inner, request| match (request.rules(), request.operation()) {
            (Rules::Numpy, Operation::Broadcast { .. }) => {
                inner.run(&with_rules(request, Rules::Bidirectional))
            }
            _ => inner.run(request),
        },
    },
    Fault {
        name: "bidirectional gives the target only",
        violates: &["bidirectional-is-times-ones"],
        differs: true,
        answer: |inner, request| match request.rules() {
            Rules::Bidirectional => inner.run(&with_rules(request, Rules::Numpy)),
            _ => inner.run(request),
        },
    },
    Fault {
        name: "none takes a scalar",
        violates: &[],
        differs: true,
        answer: |inner, request| match request.rules() {
            Rules::None if request.operands().iter().any(|operand| operand.rank() == 0) => {
                inner.run(&with_rules(request, Rules::Numpy))
            }
            _ => inner.run(request),
        },
    },
    Fault {
        name: "the axis of a refusal is counted from the right",
        violates: &[],
        differs: true,
        answer: |inner, request| match inner.run(request) {
            Outcome::Refusal(Refusal { kind, axis: Some(axis), operand, message }) => {
                let rank = request.operands().iter().map(Operand::rank).max().unwrap_or(0);
                let axis = Some(rank.saturating_sub(1 + axis));
                Outcome::Refusal(Refusal { kind, axis, operand, message })
            }
            outcome => outcome,
        },
    },
    Fault {
        name: "a flag violation names the wrong operand",
        violates: &[],
        differs: true,
        answer: |inner, request| match inner.run(request) {
            Outcome::Refusal(Refusal { kind, axis, operand: Some(operand), message }) => {
                Outcome::Refusal(Refusal { kind, axis, operand: Some(1 - operand), message })
            }
            outcome => outcome,
        },
    },
    Fault {
        name: "a broadcast column is read as a row",
        violates: &["numpy-order-of-axes", "numpy-views", "bidirectional-is-times-ones"],
        differs: true,
        answer: columns_as_rows,
    },
    Fault {
        name: "panics on operands without elements",
        violates: &["numpy-order-of-operands", "theano-adjoint", "xla-views"],
        differs: true,
        answer: |inner, request| {
            if request.operands().iter().any(|operand| operand.values().is_empty()) {
                // A panic that prints nothing.
                std::panic::resume_unwind(Box::new("index out of bounds"));
            }
            inner.run(request)
        },
    },
    Fault {
        name: "the gradient by a broadcast operand is averaged",
        violates: &[
            "numpy-adjoint",
            "numpy-broadcast-adjoint",
            "pdpd-adjoint",
            "xla-adjoint",
            "theano-adjoint",
        ],
        differs: false,
        answer: averaged_gradient,
    },
    Fault {
        name: "the strides of a view are ignored",
        violates: &["numpy-views", "numpy-broadcast-views", "pdpd-views", "xla-views", "theano-views"],
        differs: false,
        answer: |inner, request| {
            let operands = request.operands().iter().map(without_strides).collect();
            inner.run(&rebuilt(request, request.rules().clone(), operands))
        },
    },
];

/// The reference with one of the faults.
pub(crate) struct Faulty {
    inner: Reference,
    fault: &'static Fault,
}

impl Faulty {
    pub(crate) fn new(fault: &'static Fault) -> Faulty {
        Faulty { inner: Reference::new(), fault }
    }
}

impl Implementation for Faulty {
    fn name(&self) -> &str {
        self.fault.name
    }

    fn version(&self) -> &str {
        "0"
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn run(&self, request: &Request) -> Outcome {
        (self.fault.answer)(&self.inner, request)
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.inner.infer(signature)
    }
}

fn rebuilt(request: &Request, rules: Rules, operands: Vec<Operand>) -> Request {
    Request::new(rules, request.operation().clone(), operands).expect("a well-formed request")
}

fn with_rules(request: &Request, rules: Rules) -> Request {
    rebuilt(request, rules, request.operands().to_vec())
}

fn without_flags(request: &Request) -> Request {
    let plain = |operand: &Operand| dense(operand, operand.shape().clone(), operand.values().clone());
    rebuilt(request, Rules::Numpy, request.operands().iter().map(plain).collect())
}

fn dense(operand: &Operand, shape: Shape, values: Data) -> Operand {
    Operand::dense(operand.name(), shape, values).expect("one value per element")
}

fn floats(data: &Data) -> Vec<f64> {
    data.iter().map(|value| value.as_f64().unwrap()).collect()
}

/// Under numpy, takes the larger of two lengths. Elements that would be read out of bounds are 0.
fn maximum_of_zero_and_one(inner: &Reference, request: &Request) -> Outcome {
    let outcome = inner.run(request);
    let (Rules::Numpy, Operation::Elementwise { .. }, Outcome::Success(success)) =
        (request.rules(), request.operation(), &outcome)
    else {
        return outcome;
    };
    let rank = success.tensor.shape().rank();
    let all_zero = |axis: usize| {
        let zero =
            |operand: &Operand| (axis + operand.rank()).checked_sub(rank).map(|place| operand.shape()[place]);
        request.operands().iter().all(|operand| zero(operand) == Some(0))
    };
    let length = |axis: usize| match success.tensor.shape()[axis] {
        0 if !all_zero(axis) => 1,
        length => length,
    };
    let shape: Vec<usize> = (0..rank).map(length).collect();
    // A length of 0 may hide a result of any size. One that does not fit into memory is left unchanged.
    let count = Shape::from(&shape[..]).count().filter(|&count| count <= 1 << 20);
    let Some(count) = count.filter(|_| shape != success.tensor.shape().lengths()) else { return outcome };
    let values = vec![0.0; count];
    Outcome::Success(Success::from(Tensor::new(shape, values).unwrap()))
}

fn aligned_on_the_left(inner: &Reference, request: &Request) -> Outcome {
    let (Rules::Numpy, [first, second]) = (request.rules(), request.operands()) else {
        return inner.run(request);
    };
    if first.strides().is_some() || second.strides().is_some() {
        return inner.run(request);
    }
    let rank = first.rank().max(second.rank());
    let padded = |operand: &Operand| {
        let mut shape = operand.shape().to_vec();
        shape.resize(rank, 1);
        dense(operand, Shape::new(shape), operand.values().clone())
    };
    match inner.run(&rebuilt(request, Rules::Numpy, vec![padded(first), padded(second)])) {
        // A gradient has its operand's shape.
        Outcome::Success(success) if matches!(request.operation(), Operation::Gradient { .. }) => {
            let Operation::Gradient { wrt, .. } = request.operation() else { unreachable!() };
            let (_, values) = success.tensor.into_parts();
            let shape = request.operands()[*wrt].shape().clone();
            Outcome::Success(Success::from(Tensor::new(shape, values).unwrap()))
        }
        outcome => outcome,
    }
}

fn squeezed_flags(inner: &Reference, request: &Request) -> Outcome {
    let elementwise = matches!(request.operation(), Operation::Elementwise { .. });
    if *request.rules() != Rules::Theano || !elementwise || matches!(inner.run(request), Outcome::Refusal(_))
    {
        return inner.run(request);
    }
    let squeezed = |operand: &Operand| {
        let flags = operand.broadcastable().unwrap_or(&[]);
        let kept = |axis: &usize| !flags.get(*axis).copied().unwrap_or(false);
        let shape: Vec<usize> = (0..operand.rank()).filter(kept).map(|axis| operand.shape()[axis]).collect();
        match operand.strides() {
            Some(_) => operand.clone(),
            None => dense(operand, Shape::new(shape), operand.values().clone()),
        }
    };
    inner.run(&rebuilt(request, Rules::Numpy, request.operands().iter().map(squeezed).collect()))
}

/// Under numpy, treats a column (2,1) as a row if it is stretched along more columns.
fn columns_as_rows(inner: &Reference, request: &Request) -> Outcome {
    let (Rules::Numpy, Operation::Elementwise { .. }, [first, second]) =
        (request.rules(), request.operation(), request.operands())
    else {
        return inner.run(request);
    };
    let meets = second.rank() >= 2 && second.shape()[second.rank() - 1] == 2;
    if first.shape().lengths() != [2, 1] || !meets || second.shape()[second.rank() - 2] != 2 {
        return inner.run(request);
    }
    let row = dense(first, Shape::from([1, 2]), first.values().clone());
    inner.run(&rebuilt(request, Rules::Numpy, vec![row, second.clone()]))
}

/// A plausible formula that is wrong: divides the gradient with respect to an operand by the number of its
/// uses.
fn averaged_gradient(inner: &Reference, request: &Request) -> Outcome {
    let Operation::Gradient { expression, wrt } = request.operation() else { return inner.run(request) };
    let operation = Operation::Elementwise { expression: expression.clone() };
    let forward = Request::new(request.rules().clone(), operation, request.operands().to_vec()).unwrap();
    match (inner.run(request), inner.run(&forward)) {
        (Outcome::Success(gradient), Outcome::Success(forward)) => {
            let used = forward.tensor.values().len() / request.operands()[*wrt].values().len().max(1);
            #[allow(clippy::cast_precision_loss, reason = "small integers")]
            let averaged = |value: f64| value / used.max(1) as f64;
            let values: Vec<f64> = floats(gradient.tensor.values()).into_iter().map(averaged).collect();
            let tensor = Tensor::new(gradient.tensor.shape().clone(), values).unwrap();
            Outcome::Success(Success::from(tensor))
        }
        (outcome, _) => outcome,
    }
}

/// Reads the elements of a view consecutively from its buffer, repeating the last one at its end.
fn without_strides(operand: &Operand) -> Operand {
    if operand.strides().is_none() {
        return operand.clone();
    }
    let buffer = floats(operand.values());
    let count = operand.shape().count().unwrap();
    let values: Vec<f64> = (0..count).map(|place| buffer[place.min(buffer.len() - 1)]).collect();
    dense(operand, operand.shape().clone(), Data::from(values))
}
