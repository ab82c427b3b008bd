//! Requests for the faults of views, of many operands and of sums.

use super::support::{counted, data, dense, elementwise, gradient, mixed, name, numpy, view};
use broadcheck_spec::{DType, Data, Operand, Request, Rules};

pub(super) fn views() -> Vec<Request> {
    let all = [
        view(0, &[2, 3, 4], &[1, 8, 2], 0, 24),
        view(0, &[2, 3, 4], &[4, 8, 1], 0, 24),
        view(0, &[7], &[-1], 6, 7),
        view(0, &[7], &[-1], 8, 12),
        view(0, &[7], &[2], 1, 16),
        view(0, &[7], &[-2], 14, 16),
        view(0, &[9], &[-3], 28, 30),
        view(0, &[7], &[5], 0, 40),
        view(0, &[3, 4], &[8, 2], 0, 24),
        view(0, &[3, 4], &[-4, -1], 11, 12),
        view(0, &[3, 4], &[-6, -1], 16, 17),
        view(0, &[2, 2, 3], &[12, 3, 1], 0, 24),
        view(0, &[3, 1, 4], &[4, 17, 1], 0, 12),
        view(0, &[4], &[1], 3, 8),
        view(0, &[2, 3], &[0, 0], 2, 4),
        view(0, &[], &[], 2, 4),
        view(0, &[2, 3], &[5, 1], 2, 12),
        view(0, &[3, 2], &[1, 0], 0, 3),
        view(0, &[2, 3], &[0, 1], 0, 3),
        view(0, &[4, 3], &[1, 1], 0, 6),
        view(0, &[7, 6], &[1, 7], 0, 42),
        view(0, &[7, 18], &[1, 7], 0, 126),
        view(0, &[2, 1, 2, 1, 2, 2, 2], &[32, 1, 16, 1, 8, 4, 2], 0, 64),
        view(0, &[2, 2, 2, 2, 2], &[1, 2, 4, 8, 16], 0, 32),
        view(0, &[3, 2], &[200, 1], 0, 402),
        view(0, &[2, 2], &[40000, 1], 0, 40002),
        view(0, &[2, 3], &[259, 1], 0, 262),
    ];
    let mut requests = Vec::new();
    for operand in all {
        let shape = operand.shape().to_vec();
        requests.push(numpy("subtract a b", vec![operand.clone(), counted(1, &shape)]));
        requests.push(numpy("negate a", vec![operand]));
    }
    let stretched = view(0, &[2, 1, 3], &[1, 1, 2], 0, 6);
    requests.push(numpy("subtract a b", vec![stretched, counted(1, &[2, 4, 3])]));
    let backwards = view(0, &[1, 3], &[-3, 1], 3, 6);
    requests.push(numpy("subtract a b", vec![backwards, counted(1, &[4, 3])]));
    let half = |offset| {
        let values: Vec<i16> = (0..9).collect();
        Operand::view(name(0), [4], values, Some(vec![1]), offset).unwrap()
    };
    requests.push(numpy("negate a", vec![half(3)]));
    let numbers: Vec<f64> = (0..12).map(f64::from).collect();
    let same = |operand: usize, strides: &[i64], offset| {
        Operand::view(name(operand), [2, 3], numbers.clone(), Some(strides.to_vec()), offset).unwrap()
    };
    requests.push(numpy("subtract a b", vec![same(0, &[3, 1], 0), same(1, &[1, 2], 0)]));
    requests.push(numpy("subtract a b", vec![same(0, &[3, 1], 0), same(1, &[3, 1], 4)]));
    requests
        .push(numpy("subtract a b", vec![view(0, &[2, 3], &[5, 1], 0, 9), view(1, &[2, 3], &[4, 1], 1, 9)]));
    let four = |operand, lengths: &[usize]| counted(operand, lengths);
    let fixed = |operand| four(operand, &[1, 2, 1, 2]);
    requests.push(numpy("subtract a b", vec![four(0, &[2, 2, 3, 2]), fixed(1)]));
    requests
}

pub(super) fn many() -> Vec<Request> {
    let vectors = |lengths: &[usize]| -> Vec<Operand> {
        lengths.iter().enumerate().map(|(place, &length)| counted(place, &[length])).collect()
    };
    let sum = |count: usize| {
        let names: Vec<String> =
            (0..count).map(|place| char::from(b'a' + u8::try_from(place).unwrap()).to_string()).collect();
        format!("{} {}", vec!["add"; count - 1].join(" "), names.join(" "))
    };
    let mut requests = vec![
        numpy(&sum(4), vectors(&[3, 1, 3, 2])),
        numpy(&sum(4), vectors(&[3, 1, 3, 4])),
        numpy(&sum(5), vectors(&[1, 1, 1, 1, 4])),
        numpy(&sum(3), vectors(&[0, 3, 1])),
        numpy(&sum(3), vectors(&[0, 1, 1])),
        numpy("add a b", vectors(&[1, 1, 4])),
        numpy("add a c", vectors(&[1, 4, 1])),
        numpy(&sum(17), vectors(&[3; 17])),
        numpy(&sum(6), vectors(&[5; 6])),
        numpy(&sum(4), vectors(&[5, 5, 5, 1])),
        elementwise(Rules::None, &sum(4), vectors(&[2, 2, 2, 2])),
        elementwise(Rules::None, &sum(4), vectors(&[2, 2, 3, 3])),
    ];
    let shaped = |shapes: &[&[usize]]| -> Vec<Operand> {
        shapes.iter().enumerate().map(|(place, shape)| counted(place, shape)).collect()
    };
    requests.push(numpy(&sum(3), shaped(&[&[3, 3], &[3, 3], &[3]])));
    requests.push(numpy(&sum(3), shaped(&[&[3], &[3], &[1, 3]])));
    requests.push(elementwise(Rules::None, &sum(4), shaped(&[&[2], &[2], &[2], &[2, 2]])));
    requests.push(numpy(&sum(4), shaped(&[&[2, 3], &[2, 3], &[2, 3], &[3]])));
    requests.push(numpy(&sum(4), shaped(&[&[2, 3], &[2, 3], &[2, 3], &[2, 1]])));
    requests.push(numpy(&sum(3), shaped(&[&[2, 3, 2], &[2, 1, 2], &[1, 3, 1]])));
    requests.push(numpy(&sum(3), shaped(&[&[2, 3, 2], &[1, 3, 1], &[2, 1, 2]])));
    requests.push(numpy(&sum(2), shaped(&[&[2, 1, 2, 1, 2, 1], &[1, 2, 1, 2, 1, 2]])));
    requests.push(numpy(&sum(2), shaped(&[&[2, 1, 2, 1, 2, 1], &[2, 2, 1, 2, 1, 2]])));
    requests.push(numpy(&sum(2), shaped(&[&[2, 1, 2, 1, 2, 1, 2, 1, 2], &[2, 2, 1, 2, 1, 2, 1, 2, 1]])));
    requests.push(numpy(&sum(3), shaped(&[&[2, 3, 2, 2], &[2, 3, 2, 2], &[2, 1, 2, 1]])));
    let mut viewed = vectors(&[3; 3]);
    viewed.push(view(3, &[3], &[1], 2, 6));
    requests.push(numpy(&sum(4), viewed));
    let flags = |lengths: &[usize], flags: &[bool]| -> Vec<Operand> {
        let flagged = |(operand, &flag): (Operand, &bool)| operand.with_broadcastable(vec![flag]).unwrap();
        vectors(lengths).into_iter().zip(flags).map(flagged).collect()
    };
    let theano = |lengths: &[usize], given: &[bool]| {
        elementwise(Rules::Theano, &sum(lengths.len()), flags(lengths, given))
    };
    requests.push(theano(&[1, 1, 1, 1], &[true, true, true, false]));
    requests.push(theano(&[1, 1, 3], &[true, true, true]));
    requests.push(theano(&[3, 3, 3, 1], &[false, false, false, false]));
    requests
}

pub(super) fn sums() -> Vec<Request> {
    let specials = |operand: usize, shape: &[usize]| {
        let count = shape.iter().product();
        dense(operand, shape, mixed(DType::F64, operand, count))
    };
    let mut requests = Vec::new();
    for length in [5, 9, 11, 33, 65, 100, 1100] {
        requests.push(gradient("multiply a b", 0, vec![counted(0, &[]), counted(1, &[length])]));
        requests.push(gradient("multiply a b", 0, vec![counted(0, &[3]), counted(1, &[length, 3])]));
        requests.push(gradient("multiply a b", 0, vec![counted(0, &[length, 1]), counted(1, &[length, 3])]));
    }
    let tenths: Vec<f64> = (0..40).map(|place| f64::from(place) / 1000.0).collect();
    let tenths = dense(1, &[40], Data::from(tenths));
    requests.push(gradient("multiply a b", 0, vec![counted(0, &[]), tenths]));
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[10], &[9, 10]),
        (&[2, 3], &[4, 2, 3]),
        (&[3, 1], &[3, 4]),
        (&[3, 1], &[3, 9]),
        (&[2, 1, 2], &[2, 3, 2]),
        (&[3, 1, 3], &[3, 4, 3]),
        (&[1, 3], &[2, 4, 3]),
        (&[], &[2, 3, 4]),
        (&[2, 1, 2], &[2, 5, 2]),
    ];
    for (own, other) in shapes {
        requests.push(gradient("multiply a b", 0, vec![counted(0, own), counted(1, other)]));
    }
    for text in [
        "multiply a b",
        "divide a b",
        "divide b a",
        "maximum a b",
        "minimum a b",
        "power a b",
        "power b a",
        "sqrt a",
        "tanh a",
        "abs a",
        "add a a",
        "add a multiply a b",
        "multiply add a a b",
        "select less a b a b",
        "select less a b b a",
    ] {
        requests.push(gradient(text, 0, vec![specials(0, &[529]), specials(1, &[529])]));
    }
    let three = vec![specials(0, &[529]), specials(1, &[529]), specials(2, &[529])];
    requests.push(gradient("select less b c b a", 0, three));
    let typed = |dtype: DType, values: &[f64]| {
        let one = dense(0, &[], data(dtype, &[1.0]));
        gradient("multiply a b", 0, vec![one, dense(1, &[values.len()], data(dtype, values))])
    };
    requests.push(typed(DType::F64, &[0.1, 0.2, 0.3]));
    requests.push(typed(DType::F32, &[0.1, 0.2, 0.3, 100.1]));
    requests.push(typed(DType::Bf16, &[60000.0, 60000.0]));
    requests.push(typed(DType::F64, &[1.0, f64::NAN]));
    requests.push(typed(DType::F64, &[1.0, f64::INFINITY]));
    let empty = dense(1, &[0], Data::from(Vec::<f64>::new()));
    requests.push(gradient("multiply a b", 0, vec![counted(0, &[1]), empty]));
    let large = dense(1, &[1], Data::from(vec![1e200]));
    requests.push(gradient("divide b a", 0, vec![dense(0, &[1], Data::from(vec![1e160])), large]));
    requests
}
