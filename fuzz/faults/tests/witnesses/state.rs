//! Requests, one after the other, for the faults of what is kept between them.

use super::support::{counted, data, dense, elementwise, gradient, numpy};
use broadcheck_spec::{DType, Data, Operand, Operation, PartialShape, Request, Rules, Shape};

pub(super) fn state() -> Vec<Request> {
    let pair = |a: Operand, b: Operand| vec![a, b];
    let values =
        |operand: usize, shape: &[usize], values: &[f64]| dense(operand, shape, data(DType::F64, values));
    let viewed = |strides: &[i64], offset| {
        Operand::view("x0", [2, 2], vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], Some(strides.to_vec()), offset)
            .unwrap()
    };
    let (square, other) = (|| counted(0, &[2, 2]), || counted(1, &[2, 2]));
    let pdpd = |axis| elementwise(Rules::Pdpd { axis }, "add a b", pair(square(), counted(1, &[2])));
    let xla = |dimensions: Option<Vec<i64>>| {
        let rules = Rules::Xla { broadcast_dimensions: dimensions };
        elementwise(rules, "add a b", pair(square(), counted(1, &[2])))
    };
    let theano = |flag: Option<bool>| {
        let one = counted(0, &[1]);
        let one =
            flag.map_or_else(|| one.clone(), |flag| one.clone().with_broadcastable(vec![flag]).unwrap());
        elementwise(Rules::Theano, "add a b", pair(one, counted(1, &[3])))
    };
    let broadcast = |length: usize| {
        let operation = Operation::Broadcast { target_shape: Shape::from([length]) };
        Request::new(Rules::Numpy, operation, vec![counted(0, &[1])]).unwrap()
    };
    let bits = |dtype| {
        numpy(
            "add a b",
            vec![dense(0, &[2], data(dtype, &[0.0, 0.0])), dense(1, &[2], data(dtype, &[0.0, 0.0]))],
        )
    };
    let three = || values(1, &[3], &[1.0, 2.0, 3.0]);
    let long = |last: f64| values(1, &[10], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, last]);
    let empty = || dense(1, &[0], Data::from(Vec::<f64>::new()));
    let mut requests = vec![
        numpy("subtract a b", pair(square(), other())),
        numpy("subtract b a", pair(square(), other())),
        numpy("add a b", pair(square(), other())),
        elementwise(Rules::Pdpd { axis: None }, "add a b", pair(counted(0, &[1]), counted(1, &[3]))),
        numpy("add a b", pair(counted(0, &[1]), counted(1, &[3]))),
        numpy("negate a", vec![viewed(&[2, 1], 0)]),
        numpy("negate a", vec![viewed(&[1, 2], 0)]),
        numpy("negate a", vec![viewed(&[1, 2], 1)]),
        numpy("negate a", vec![dense(0, &[2, 2], Data::from(vec![1.0f64, 2.0, 3.0, 4.0]))]),
        pdpd(Some(0)),
        pdpd(None),
        xla(Some(vec![0])),
        xla(None),
        xla(Some(vec![1])),
        theano(Some(true)),
        theano(None),
        theano(Some(false)),
        broadcast(3),
        broadcast(5),
        numpy("add a b", pair(counted(0, &[2, 3]), counted(1, &[2, 3]))),
        numpy("add a b", pair(counted(0, &[3, 2]), counted(1, &[3, 2]))),
        numpy("add a b", pair(counted(0, &[4, 1]), counted(1, &[4, 1]))),
        numpy("add a b", pair(counted(0, &[3]), counted(1, &[1]))),
        numpy("add a b", pair(counted(0, &[3]), counted(1, &[3]))),
        numpy("add a b", pair(values(0, &[], &[1.0]), three())),
        numpy("add a b", pair(values(0, &[], &[2.0]), three())),
        numpy("add a b", pair(counted(0, &[10]), long(10.0))),
        numpy("add a b", pair(counted(0, &[10]), long(11.0))),
        numpy("negate a", vec![values(0, &[2], &[0.0, 1.0])]),
        numpy("negate a", vec![values(0, &[2], &[-0.0, 1.0])]),
        gradient("multiply a b", 0, pair(counted(0, &[2]), counted(1, &[2]))),
        gradient("multiply a b", 1, pair(counted(0, &[2]), counted(1, &[2]))),
        numpy("multiply a b", pair(counted(0, &[2]), counted(1, &[2]))),
        gradient("multiply a b", 0, pair(counted(0, &[2]), counted(1, &[2]))),
        bits(DType::I32),
        bits(DType::U32),
        bits(DType::F32),
        numpy("add a b", pair(counted(0, &[7]), counted(1, &[7]))),
        numpy("add a b", pair(counted(0, &[5]), counted(1, &[5]))),
        gradient("multiply a b", 0, pair(counted(0, &[1]), empty())),
        numpy("add a b", pair(counted(0, &[2]), counted(1, &[3]))),
        numpy("add a b", pair(counted(0, &[1]), empty())),
        numpy("add a b", pair(counted(0, &[2]), counted(1, &[3]))),
        numpy("add a b", pair(counted(0, &[2]), counted(1, &[2]))),
        numpy("add a b", pair(counted(0, &[2]), counted(1, &[2]))),
        numpy("negate a", vec![dense(0, &[1], Data::from(vec![1.0f32]))]),
        numpy("multiply a b", pair(values(0, &[1], &[1e-160]), values(1, &[1], &[1e-160]))),
        numpy("negate a", vec![counted(0, &[2, 2, 2])]),
        numpy("negate a", vec![counted(0, &[])]),
    ];
    requests.extend(session());
    for length in 2..300 {
        requests.push(numpy("add a b", pair(counted(0, &[length]), counted(1, &[1]))));
    }
    for function in ["add", "subtract", "multiply", "maximum"] {
        for shape in [&[2, 3][..], &[3, 2], &[6, 1], &[4, 3], &[3, 4], &[2, 2], &[5, 2], &[7, 2], &[2, 9]] {
            for text in [format!("{function} a b"), format!("{function} b a"), format!("{function} a a")] {
                requests.push(numpy(&text, pair(counted(0, shape), counted(1, shape))));
            }
        }
    }
    requests
}

/// Runs of one signature, whose lengths fit, do not fit, fit again, and change.
fn session() -> Vec<Request> {
    let shapes: [[&[usize]; 2]; 9] = [
        [&[2, 3], &[3]],
        [&[2, 3], &[4]],
        [&[2, 3], &[3]],
        [&[2, 4], &[4]],
        [&[2, 4], &[1]],
        [&[3, 2], &[2]],
        [&[2, 3], &[1]],
        [&[2, 3], &[3]],
        [&[2, 3], &[2]],
    ];
    let unknown = |place: usize, shape: &[usize], declared: &str| {
        counted(place, shape).with_declared(declared.parse::<PartialShape>().unwrap()).unwrap()
    };
    let run = |[a, b]: [&[usize]; 2]| numpy("add a b", vec![unknown(0, a, "?x?"), unknown(1, b, "?")]);
    shapes.map(run).into()
}
