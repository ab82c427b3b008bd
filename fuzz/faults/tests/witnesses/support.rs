//! Operands and requests.

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Capabilities, DType, Data, Expression, Function, Operand, Operation, Request, Rules};

/// An expression in prefix notation, over operands `a`, `b` and so on: `subtract a multiply b c`.
pub(super) fn expression(text: &str) -> Expression {
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

pub(super) fn highest(text: &str) -> usize {
    let operands = text.split_whitespace().filter(|word| word.len() == 1);
    operands.map(|word| usize::from(word.as_bytes()[0] - b'a')).max().unwrap_or(0)
}

/// Values in a dtype: floats round, integers wrap.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integers wrap")]
pub(super) fn data(dtype: DType, values: &[f64]) -> Data {
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

pub(super) fn palette(dtype: DType) -> &'static [f64] {
    if dtype.is_float() { &FLOATS } else { &INTEGERS }
}

/// Values such that the pairs of two operands are all pairs of the palette.
pub(super) fn mixed(dtype: DType, operand: usize, length: usize) -> Data {
    let palette = palette(dtype);
    let count = palette.len();
    let value = |place: usize| match operand {
        0 => palette[place % count],
        1 => palette[(place + place / count) % count],
        _ => palette[(place * (operand + 3) + 2 * operand + place / count) % count],
    };
    data(dtype, &(0..length).map(value).collect::<Vec<_>>())
}

pub(super) fn name(operand: usize) -> String {
    format!("x{operand}")
}

pub(super) fn dense(operand: usize, shape: &[usize], values: Data) -> Operand {
    Operand::dense(name(operand), shape, values).unwrap()
}

/// A view of consecutive numbers.
pub(super) fn view(
    operand: usize,
    shape: &[usize],
    strides: &[i64],
    offset: usize,
    length: usize,
) -> Operand {
    let values: Vec<f64> = (0..length).map(|place| (place * 7 % 4093 + operand) as f64).collect();
    Operand::view(name(operand), shape, values, Some(strides.to_vec()), offset).unwrap()
}

/// Consecutive numbers.
pub(super) fn counted(operand: usize, shape: &[usize]) -> Operand {
    let count = shape.iter().product::<usize>();
    let values: Vec<f64> = (0..count).map(|place| (1 + place * (operand + 1)) as f64).collect();
    dense(operand, shape, Data::from(values))
}

pub(super) fn elementwise(rules: Rules, text: &str, operands: Vec<Operand>) -> Request {
    Request::new(rules, Operation::Elementwise { expression: expression(text) }, operands).unwrap()
}

pub(super) fn numpy(text: &str, operands: Vec<Operand>) -> Request {
    elementwise(Rules::Numpy, text, operands)
}

pub(super) fn gradient(text: &str, wrt: usize, operands: Vec<Operand>) -> Request {
    let operation = Operation::Gradient { expression: expression(text), wrt };
    Request::new(Rules::Numpy, operation, operands).unwrap()
}

pub(super) const DTYPES: [DType; 12] = [
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

/// Whether the functions of an expression are defined for a dtype.
pub(super) fn is_defined(text: &str, dtype: DType) -> bool {
    let all = Capabilities::all();
    let arithmetic = text.split_whitespace().filter_map(|word| word.parse::<Function>().ok());
    let mut numeric = arithmetic.filter(|function| {
        !matches!(function, Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot)
    });
    numeric.all(|function| all.has(function, dtype))
        && (dtype.is_float()
            || !["divide", "power", "sqrt", "exp", "log", "tanh"].iter().any(|f| text.contains(f)))
}
