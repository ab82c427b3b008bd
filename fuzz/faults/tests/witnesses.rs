//! Every fault of the newer classes changes an answer: for each, one of these requests exposes it. They were
//! written for the faults, without regard to the cases, so that a fault that the suite misses is a gap of the
//! suite and not a fault without an effect.

use broadcheck::run::run_caught;
use broadcheck_faults::{CATALOGUE, Class, Faulty};
use broadcheck_reference::Reference;
use broadcheck_search::oracle::{Judgement, differential};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Capabilities, DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request,
    Rules, Shape,
};
use rayon::prelude::*;

/// An expression in prefix notation, over operands `a`, `b` and so on: `subtract a multiply b c`.
fn expression(text: &str) -> Expression {
    fn next<'a>(words: &mut impl Iterator<Item = &'a str>) -> Expression {
        let word = words.next().expect("an expression is complete");
        match word.parse::<Function>() {
            Ok(function) => {
                let arguments: Vec<Expression> = (0..function.arity()).map(|_| next(words)).collect();
                Expression::call(function, arguments).expect("as many arguments as the function takes")
            }
            Err(_) => Expression::operand(usize::from(word.as_bytes()[0] - b'a')),
        }
    }
    let mut words = text.split_whitespace();
    let expression = next(&mut words);
    assert!(words.next().is_none(), "{text}");
    expression
}

fn highest(text: &str) -> usize {
    let operands = text.split_whitespace().filter(|word| word.len() == 1);
    operands.map(|word| usize::from(word.as_bytes()[0] - b'a')).max().unwrap_or(0)
}

/// Values in a dtype: floats round, integers wrap.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integers wrap")]
fn data(dtype: DType, values: &[f64]) -> Data {
    macro_rules! integers {
        ($type:ty) => {
            Data::from(values.iter().map(|&value| value as i128 as $type).collect::<Vec<_>>())
        };
    }
    match dtype {
        DType::F64 => Data::from(values.to_vec()),
        DType::F32 => Data::from(values.iter().map(|&value| value as f32).collect::<Vec<_>>()),
        DType::F16 => Data::from(values.iter().map(|&value| f16::from_f64(value)).collect::<Vec<_>>()),
        DType::Bf16 => Data::from(values.iter().map(|&value| bf16::from_f64(value)).collect::<Vec<_>>()),
        DType::I64 => integers!(i64),
        DType::I32 => integers!(i32),
        DType::I16 => integers!(i16),
        DType::I8 => integers!(i8),
        DType::U64 => integers!(u64),
        DType::U32 => integers!(u32),
        DType::U16 => integers!(u16),
        DType::U8 => integers!(u8),
        DType::Bool => Data::from(values.iter().map(|&value| value != 0.0).collect::<Vec<_>>()),
    }
}

const FLOATS: [f64; 23] = [
    1.5,
    0.0,
    -0.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    3.0,
    -3.0,
    0.5,
    -1.0,
    1.0,
    1e-310,
    1e-40,
    1e300,
    -1e300,
    2e38,
    0.1,
    88.5,
    710.0,
    -2.0,
    60000.0,
    1e-3,
    5.0,
];

const INTEGERS: [f64; 18] = [
    0.0,
    1.0,
    -1.0,
    127.0,
    -128.0,
    100.0,
    12.0,
    3.0,
    32767.0,
    -32768.0,
    300.0,
    2147483647.0,
    -2147483648.0,
    4294967297.0,
    3000000000.0,
    70000.0,
    9007199254740994.0,
    -9223372036854775808.0,
];

fn palette(dtype: DType) -> &'static [f64] {
    if dtype.is_float() { &FLOATS } else { &INTEGERS }
}

/// Values such that the pairs of two operands are all pairs of the palette.
fn mixed(dtype: DType, operand: usize, length: usize) -> Data {
    let palette = palette(dtype);
    let count = palette.len();
    let value = |place: usize| match operand {
        0 => palette[place % count],
        1 => palette[(place + place / count) % count],
        _ => palette[(place * (operand + 3) + 2 * operand + place / count) % count],
    };
    data(dtype, &(0..length).map(value).collect::<Vec<_>>())
}

fn name(operand: usize) -> String {
    format!("x{operand}")
}

fn dense(operand: usize, shape: &[usize], values: Data) -> Operand {
    Operand::dense(name(operand), shape, values).unwrap()
}

/// A view of consecutive numbers.
fn view(operand: usize, shape: &[usize], strides: &[i64], offset: usize, length: usize) -> Operand {
    let values: Vec<f64> = (0..length).map(|place| (place * 7 % 4093 + operand) as f64).collect();
    Operand::view(name(operand), shape, values, Some(strides.to_vec()), offset).unwrap()
}

/// Consecutive numbers.
fn counted(operand: usize, shape: &[usize]) -> Operand {
    let count = shape.iter().product::<usize>();
    let values: Vec<f64> = (0..count).map(|place| (1 + place * (operand + 1)) as f64).collect();
    dense(operand, shape, Data::from(values))
}

fn elementwise(rules: Rules, text: &str, operands: Vec<Operand>) -> Request {
    Request::new(rules, Operation::Elementwise { expression: expression(text) }, operands).unwrap()
}

fn numpy(text: &str, operands: Vec<Operand>) -> Request {
    elementwise(Rules::Numpy, text, operands)
}

fn gradient(text: &str, wrt: usize, operands: Vec<Operand>) -> Request {
    let operation = Operation::Gradient { expression: expression(text), wrt };
    Request::new(Rules::Numpy, operation, operands).unwrap()
}

/// Expressions of vectors, and of vectors whose last operands are scalars.
const TERMS: [(&str, usize); 73] = [
    ("subtract a a", 0),
    ("multiply a b", 1),
    ("multiply b a", 1),
    ("divide a a", 0),
    ("add a b", 1),
    ("subtract b a", 1),
    ("subtract a b", 1),
    ("divide b a", 1),
    ("divide a b", 1),
    ("add add a b c", 0),
    ("add add a b c", 2),
    ("multiply multiply a b c", 0),
    ("multiply multiply a b c", 2),
    ("add multiply a b multiply a c", 0),
    ("multiply a add b c", 0),
    ("subtract add a b b", 0),
    ("divide multiply a b b", 0),
    ("multiply divide a b b", 0),
    ("divide divide a b c", 0),
    ("add subtract a b subtract b c", 0),
    ("divide b divide b a", 1),
    ("divide a sqrt b", 0),
    ("negate subtract a b", 0),
    ("negate add a b", 0),
    ("logical_not less a b", 0),
    ("less a b", 0),
    ("equal a b", 0),
    ("equal a a", 0),
    ("not_equal a a", 0),
    ("less_equal a a", 0),
    ("greater_equal abs a b", 1),
    ("less abs a b", 1),
    ("abs multiply a a", 0),
    ("less add a c add b c", 0),
    ("less negate a negate b", 0),
    ("equal multiply a c multiply b c", 0),
    ("logical_and less a b less b c", 0),
    ("logical_or less a b greater a b", 0),
    ("logical_or less a b greater_equal a b", 0),
    ("logical_not logical_and less a b less b c", 0),
    ("logical_or less a b less b c", 0),
    ("select greater a b a b", 0),
    ("select less a b a b", 0),
    ("select less a b negate a a", 1),
    ("select equal a a a b", 0),
    ("select equal a b a b", 0),
    ("select logical_not less a b a c", 0),
    ("select less a b a select less a b b c", 0),
    ("select less a b select less b c a b c", 0),
    ("select less a b less a c less d d", 2),
    ("maximum a minimum a b", 0),
    ("minimum maximum a b c", 2),
    ("subtract subtract a b subtract b a", 0),
    ("subtract add a b multiply a b", 0),
    ("add multiply a b multiply a c", 0),
    ("add b multiply a c", 2),
    ("subtract a c", 2),
    ("subtract b c", 2),
    ("divide b c", 2),
    ("subtract divide b c b", 2),
    ("less b a", 1),
    ("power b a", 1),
    ("power a b", 1),
    ("power a b", 0),
    ("sqrt multiply a a", 0),
    ("multiply sqrt a sqrt a", 0),
    ("multiply sqrt a sqrt b", 0),
    ("exp log a", 0),
    ("log exp a", 0),
    ("log power a b", 0),
    ("multiply exp a exp b", 0),
    ("add log a log b", 0),
    ("subtract c multiply a b", 0),
];

/// Expressions without a pattern of their own.
const OTHERS: [(&str, usize); 6] = [
    ("tanh a", 0),
    ("exp a", 0),
    ("multiply negate a b", 0),
    ("select less d d less a b less d d", 2),
    ("add subtract a b add subtract b c add subtract c a add multiply a c multiply a b", 0),
    (
        "add add a b multiply add b c multiply add c a multiply add a c multiply add b a multiply add c b \
         multiply add a a multiply add b b add c c",
        0,
    ),
];

const DTYPES: [DType; 12] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::Bf16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
];

/// Scalars that a term is asked with: two at a time.
const SCALARS: [[f64; 2]; 9] = [
    [0.0, -0.0],
    [-0.0, 0.0],
    [1.0, 3.0],
    [0.5, 1.5],
    [3.0, 7.0],
    [-2.0, 0.1],
    [-1.0, 1e300],
    [0.1, 0.7],
    [1.0, 1.000000001],
];

/// Whether the functions of an expression are defined for a dtype.
fn is_defined(text: &str, dtype: DType) -> bool {
    let all = Capabilities::all();
    let arithmetic = text.split_whitespace().filter_map(|word| word.parse::<Function>().ok());
    let mut numeric = arithmetic.filter(|function| {
        !matches!(function, Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot)
    });
    numeric.all(|function| all.has(function, dtype))
        && (dtype.is_float()
            || !["divide", "power", "sqrt", "exp", "log", "tanh"].iter().any(|f| text.contains(f)))
}

fn rewrites() -> Vec<Request> {
    let mut requests = Vec::new();
    for dtype in DTYPES {
        for (text, scalars) in TERMS.into_iter().chain(OTHERS) {
            if !is_defined(text, dtype) {
                continue;
            }
            let operands = highest(text) + 1;
            let pairs = scalars == 0 && matches!(dtype, DType::F64 | DType::F32 | DType::I8);
            let length = if pairs { 529 } else { 46 };
            let sets = if scalars > 0 { &SCALARS[..] } else { &SCALARS[..1] };
            for set in sets {
                let operand = |place: usize| match (place + scalars).checked_sub(operands) {
                    Some(scalar) => dense(place, &[], data(dtype, &set[scalar..=scalar])),
                    None => dense(place, &[length], mixed(dtype, place, length)),
                };
                requests.push(numpy(text, (0..operands).map(operand).collect()));
            }
        }
    }
    // Values that the palette lacks.
    let vector = |operand: usize, values: &[f64]| dense(operand, &[values.len()], data(DType::F64, values));
    let scalar = |operand: usize, value: f64| dense(operand, &[], data(DType::F64, &[value]));
    requests.push(numpy("power a b", vec![vector(0, &[2f64.powi(515), 3.0]), scalar(1, -2.0)]));
    requests.push(numpy("power a b", vec![vector(0, &[1.1, 1.7, 3.1, 0.3]), scalar(1, 63.0)]));
    requests.push(numpy("power a b", vec![vector(0, &[-1.0]), vector(1, &[1e10])]));
    requests.push(numpy("subtract a b", vec![scalar(0, 0.1), scalar(1, 0.3)]));
    let single = |operand: usize, value: f64| dense(operand, &[], data(DType::F32, &[value]));
    requests.push(numpy("subtract add a b c", vec![single(0, 1.0), single(1, 1e-8), single(2, 1.0)]));
    let wide = |operand: usize, value: i64| dense(operand, &[], Data::from(vec![value]));
    requests.push(numpy("add a b", vec![wide(0, (1 << 53) + 1), wide(1, 0)]));
    let truths = |operand: usize, values: &[f64]| dense(operand, &[4], data(DType::Bool, values));
    let both = || vec![truths(0, &[0.0, 0.0, 1.0, 1.0]), truths(1, &[0.0, 1.0, 0.0, 1.0])];
    let mut three = both();
    three.push(dense(2, &[], data(DType::Bool, &[0.0])));
    for text in ["logical_or a b", "logical_not logical_and a b"] {
        requests.push(numpy(text, both()));
    }
    requests.push(numpy("select a b c", three));
    requests
}

fn kernels() -> Vec<Request> {
    let mut requests = Vec::new();
    for length in [529, 7, 15, 17, 31, 5, 9, 33, 130] {
        for dtype in DTYPES {
            let narrow = matches!(dtype, DType::F64 | DType::F32 | DType::I64);
            for function in Function::ALL.iter().copied().filter(|&function| function != Function::Select) {
                if !Capabilities::all().has(function, dtype) || !is_defined(function.name(), dtype) {
                    continue;
                }
                let vectors: Vec<Operand> = (0..function.arity())
                    .map(|place| dense(place, &[length], mixed(dtype, place, length)))
                    .collect();
                let names = ["a", "b"][..function.arity()].join(" ");
                let text = format!("{function} {names}");
                requests.push(numpy(&text, vectors.clone()));
                if function.arity() == 2 && length == 17 && narrow {
                    for scalar in 0..palette(dtype).len() {
                        let value = data(dtype, &palette(dtype)[scalar..=scalar]);
                        requests.push(numpy(&text, vec![vectors[0].clone(), dense(1, &[], value.clone())]));
                        requests.push(numpy(&text, vec![dense(0, &[], value), vectors[1].clone()]));
                    }
                }
            }
        }
        let bits = |operand: usize| {
            let values: Vec<bool> = (0..length).map(|place| place * 5 % 7 < 3 + operand).collect();
            dense(operand, &[length], Data::from(values))
        };
        requests.push(numpy("logical_not a", vec![bits(0)]));
        let choices = [bits(0), counted(1, &[length]), counted(2, &[length])];
        requests.push(numpy("select a b c", choices.to_vec()));
        for condition in [false, true] {
            let scalar = dense(0, &[], Data::from(vec![condition]));
            requests.push(numpy("select a b c", vec![scalar, counted(1, &[length]), counted(2, &[])]));
        }
    }
    let wide = |operand: usize, value: i64| dense(operand, &[], Data::from(vec![value]));
    let numbers = dense(1, &[5], Data::from(vec![1i64, 2, 3, 4, 5]));
    requests.push(numpy("add a b", vec![wide(0, 1 << 40), numbers]));
    let negative = dense(0, &[9], Data::from(vec![-1.0f64; 9]));
    let exponents = dense(1, &[9], Data::from(vec![1e10f64; 9]));
    requests.push(numpy("power a b", vec![negative, exponents]));
    let halves: Vec<f16> = (0..40u16).map(|place| f16::from_bits(0x3c01 + 2 * place)).collect();
    let ulps = dense(1, &[], Data::from(vec![f16::from_f64(2f64.powi(-11))]));
    requests.push(numpy("add a b", vec![dense(0, &[40], Data::from(halves.clone())), ulps]));
    let even: Vec<f16> = (0..40u16).map(|place| f16::from_bits(0x3c00 + 2 * place)).collect();
    let ulps = dense(1, &[], Data::from(vec![f16::from_f64(2f64.powi(-11))]));
    requests.push(numpy("add a b", vec![dense(0, &[40], Data::from(even)), ulps]));
    let even: Vec<bf16> = (0..40u16).map(|place| bf16::from_bits(0x3f80 + 2 * place)).collect();
    let ulps = dense(1, &[], Data::from(vec![bf16::from_f64(2f64.powi(-8))]));
    requests.push(numpy("add a b", vec![dense(0, &[40], Data::from(even)), ulps]));
    for columns in [9, 11, 17] {
        requests.push(numpy("subtract a b", vec![counted(0, &[3, columns]), counted(1, &[columns])]));
    }
    requests.push(numpy("add a b", vec![view(0, &[33], &[2], 0, 66), counted(1, &[33])]));
    let zeros = dense(0, &[7], Data::from(vec![-0.0f64; 7]));
    requests.push(numpy("multiply a b", vec![zeros, counted(1, &[7])]));
    let wide = |operand: usize, low: i64| {
        let values: Vec<i64> = (0..9).map(|place| (5 << 32) + (place * low)).collect();
        dense(operand, &[9], Data::from(values))
    };
    requests.push(numpy("less a b", vec![wide(0, 0x3000_0000), wide(1, 0x1000_0000)]));
    let halves = |operand: usize, high: i64| dense(operand, &[9], Data::from(vec![(high << 32) + 7; 9]));
    requests.push(numpy("equal a b", vec![halves(0, 1), halves(1, 2)]));
    requests
}

fn views() -> Vec<Request> {
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

fn many() -> Vec<Request> {
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

fn sums() -> Vec<Request> {
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
    let shapes: [(&[usize], &[usize]); 8] = [
        (&[10], &[9, 10]),
        (&[2, 3], &[4, 2, 3]),
        (&[3, 1], &[3, 4]),
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

fn state() -> Vec<Request> {
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

struct Answered(Outcome, Capabilities);

impl Implementation for Answered {
    fn name(&self) -> &str {
        "answered"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.1
    }

    fn version(&self) -> &str {
        ""
    }

    fn run(&self, _: &Request) -> Outcome {
        self.0.clone()
    }

    fn allowed_ulp(&self) -> u32 {
        1
    }
}

fn requests(class: Class) -> Vec<Request> {
    match class {
        Class::Rewrites => rewrites(),
        Class::Kernels => kernels(),
        Class::Views => views(),
        Class::State => state(),
        Class::ManyOperands => many(),
        Class::Sums => sums(),
        _ => Vec::new(),
    }
}

const NEW: [Class; 6] =
    [Class::Rewrites, Class::Kernels, Class::Views, Class::State, Class::ManyOperands, Class::Sums];

#[test]
fn every_fault_changes_an_answer() {
    for class in NEW {
        let requests = requests(class);
        let answer = |outcome| Answered(outcome, Faulty::sound().capabilities().clone());
        let expected: Vec<Answered> =
            requests.par_iter().map(|request| answer(run_caught(&Reference, request))).collect();
        let sound = Faulty::sound();
        let is_exposed = |engine: &Faulty| {
            requests.iter().zip(&expected).find(|(request, expected)| {
                let found = run_caught(engine, request);
                found != expected.0
                    && matches!(differential(*expected, &answer(found), request), Judgement::Disagreement(_))
            })
        };
        if let Some((request, _)) = is_exposed(&sound) {
            panic!("{class}: without a fault, {:?} {:?}", request.operation(), request.operands());
        }
        let faults: Vec<_> = CATALOGUE.iter().filter(|fault| fault.class == class).collect();
        let hidden: Vec<&str> = faults
            .par_iter()
            .filter(|fault| is_exposed(&Faulty::new(fault)).is_none())
            .map(|fault| fault.id)
            .collect();
        assert!(hidden.is_empty(), "no request exposes {hidden:#?}");
    }
}
