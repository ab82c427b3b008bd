//! Random requests from a seed, and a comparison of two outcomes (clauses V-1, V-4 and V-6).
#![allow(dead_code, reason = "each test binary uses only a part")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "random bits, truncated")]

use broadcheck_fast::{Fast, Level, Plan};
use broadcheck_judge::compare::gradient_bounds;
use broadcheck_reference::Reference;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Scalar,
    Shape,
};

/// splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A value of a dtype: usually small, sometimes special.
pub(crate) fn value(random: &mut Random, dtype: DType) -> Scalar {
    const SPECIAL: [f64; 10] =
        [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 5e-324, 1e300, 6e-8];
    let number = match random.below(8) {
        0 => random.pick(&SPECIAL),
        1 => (random.next() % 2001) as f64 / 1000.0 - 1.0,
        2 => f64::from_bits(random.next()),
        _ => (random.next() % 41) as f64 / 4.0 - 5.0,
    };
    let bits = if random.chance(20) { random.next() } else { random.next() % 11 };
    match dtype {
        DType::F64 => Scalar::F64(number),
        DType::F32 => {
            Scalar::F32(if random.chance(10) { f32::from_bits(bits as u32) } else { number as f32 })
        }
        DType::F16 => {
            Scalar::F16(if random.chance(10) { f16::from_bits(bits as u16) } else { f16::from_f64(number) })
        }
        DType::Bf16 => Scalar::Bf16(if random.chance(10) {
            bf16::from_bits(bits as u16)
        } else {
            bf16::from_f64(number)
        }),
        DType::I64 => Scalar::I64(bits as i64),
        DType::I32 => Scalar::I32(bits as i32),
        DType::I16 => Scalar::I16(bits as i16),
        DType::I8 => Scalar::I8(bits as i8),
        DType::U64 => Scalar::U64(bits),
        DType::U32 => Scalar::U32(bits as u32),
        DType::U16 => Scalar::U16(bits as u16),
        DType::U8 => Scalar::U8(bits as u8),
        DType::Bool => Scalar::Bool(bits & 1 == 1),
    }
}

/// Small integers, exact in any order of summation.
pub(crate) fn small(random: &mut Random, dtype: DType) -> Scalar {
    let number = random.below(7) as f64 - 3.0;
    match dtype {
        DType::F64 => Scalar::F64(number),
        DType::F32 => Scalar::F32(number as f32),
        DType::F16 => Scalar::F16(f16::from_f64(number)),
        DType::Bf16 => Scalar::Bf16(bf16::from_f64(number)),
        other => value(random, other),
    }
}

/// An operand with a shape: dense, or a view of any kind.
pub(crate) fn operand(
    random: &mut Random,
    name: usize,
    shape: &[usize],
    dtype: DType,
    draw: fn(&mut Random, DType) -> Scalar,
) -> Operand {
    let data = |random: &mut Random, count: usize| {
        Data::from_scalars(dtype, (0..count).map(|_| draw(random, dtype))).unwrap()
    };
    let name = format!("x{name}");
    let count = Shape::from(shape).count().unwrap();
    if shape.contains(&0) || random.chance(60) {
        return Operand::dense(name, shape, data(random, count)).unwrap();
    }
    // A permuted, stretched or reversed layout, sometimes with an axis of stride 0 or overlapping elements.
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at + 1));
    }
    let mut strides = vec![0i64; shape.len()];
    let mut step = 1 + random.below(2) as i64;
    for &axis in &order {
        strides[axis] = match random.below(8) {
            0 => 0,
            1 => 1,
            2 | 3 => -step,
            _ => step,
        };
        if strides[axis].abs() == step {
            step *= shape[axis] as i64;
        }
    }
    let reach = |positive: bool| -> i64 {
        let part = |(&length, &stride): (&usize, &i64)| {
            if (stride > 0) == positive { (length as i64 - 1) * stride } else { 0 }
        };
        shape.iter().zip(&strides).map(part).sum()
    };
    let offset = -reach(false) + random.below(3) as i64;
    let length = offset + reach(true) + 1 + random.below(2) as i64;
    let data = data(random, length as usize);
    Operand::view(name, shape, data, Some(strides), offset as usize).unwrap()
}

fn call(function: Function, arguments: Vec<Expression>) -> Expression {
    Expression::call(function, arguments).unwrap()
}

/// A random expression of a dtype over operands of these dtypes, without an inexact function.
pub(crate) fn expression(random: &mut Random, dtypes: &[DType], want: DType, depth: usize) -> Expression {
    use Function as F;
    let leaves: Vec<usize> = (0..dtypes.len()).filter(|&at| dtypes[at] == want).collect();
    if depth == 0 || (random.chance(20) && !leaves.is_empty()) {
        let at = if leaves.is_empty() || random.chance(2) {
            random.below(dtypes.len())
        } else {
            random.pick(&leaves)
        };
        return Expression::operand(at);
    }
    let below = |random: &mut Random, want: DType| expression(random, dtypes, want, depth - 1);
    if random.chance(15) {
        let condition = below(random, DType::Bool);
        return call(F::Select, vec![condition, below(random, want), below(random, want)]);
    }
    if want == DType::Bool {
        if random.chance(40) {
            let function = random.pick(&[F::LogicalAnd, F::LogicalOr, F::LogicalNot]);
            return call(function, (0..function.arity()).map(|_| below(random, DType::Bool)).collect());
        }
        let number = random.pick(dtypes);
        let function =
            random.pick(&[F::Equal, F::NotEqual, F::Less, F::LessEqual, F::Greater, F::GreaterEqual]);
        return call(function, vec![below(random, number), below(random, number)]);
    }
    let function = if want.is_float() || random.chance(2) {
        random.pick(&[
            F::Add,
            F::Subtract,
            F::Multiply,
            F::Divide,
            F::Maximum,
            F::Minimum,
            F::Negate,
            F::Abs,
            F::Sqrt,
            F::Add,
            F::Multiply,
        ])
    } else {
        random.pick(&[F::Add, F::Subtract, F::Multiply, F::Maximum, F::Minimum, F::Negate, F::Abs])
    };
    call(function, (0..function.arity()).map(|_| below(random, want)).collect())
}

/// The shapes of operands, usually broadcastable, with attributes.
pub(crate) fn shapes(
    random: &mut Random,
    count: usize,
    set: usize,
    scale: usize,
) -> (Rules, Vec<Vec<usize>>) {
    let rank = random.below(5);
    let length = |random: &mut Random| match random.below(12) {
        0 => 0,
        1 | 2 => 1,
        3 if scale > 1 => 1 + random.below(40 * scale),
        _ => 2 + random.below(5),
    };
    let result: Vec<usize> = (0..rank).map(|_| length(random)).collect();
    let spoil = random.chance(8);
    let mut part = |random: &mut Random, shape: &[usize], ones: usize| -> Vec<usize> {
        let one = |&length: &usize| {
            if random.chance(ones) {
                1
            } else if spoil && random.chance(20) {
                length + 1
            } else {
                length
            }
        };
        shape.iter().map(one).collect()
    };
    match set {
        0 => {
            let ones = if spoil { 5 } else { 0 };
            (Rules::None, (0..count).map(|_| part(random, &result, ones)).collect())
        }
        2 => {
            let a = part(random, &result, 0);
            if count == 1 {
                return (Rules::Pdpd { axis: None }, vec![a]);
            }
            let start = random.below(rank + 1);
            let end = start + random.below(rank - start + 1);
            let mut b = part(random, &a[start..end], 30);
            if random.chance(20) {
                b.push(1);
            }
            let axis = match random.below(10) {
                0 => None,
                1 => Some(-1),
                2 => Some(random.below(5) as i64 - 2),
                _ => Some(start as i64),
            };
            (Rules::Pdpd { axis }, vec![a, b])
        }
        3 => {
            let high = part(random, &result, 25);
            if count == 1 {
                return (Rules::Xla { broadcast_dimensions: None }, vec![high]);
            }
            let mut named: Vec<usize> = (0..rank).filter(|_| random.chance(60)).collect();
            let low = part(random, &named.iter().map(|&axis| result[axis]).collect::<Vec<_>>(), 25);
            if random.chance(5) {
                named.push(random.below(4));
            }
            let mut dimensions = Some(named.iter().map(|&axis| axis as i64).collect::<Vec<_>>());
            if random.chance(8) {
                dimensions = None;
            }
            let pair = if random.chance(50) { vec![high, low] } else { vec![low, high] };
            (Rules::Xla { broadcast_dimensions: dimensions }, pair)
        }
        _ => {
            type Part<'a> = &'a mut dyn FnMut(&mut Random, &[usize], usize) -> Vec<usize>;
            let rules = if set == 1 { Rules::Numpy } else { Rules::Theano };
            let shape = |random: &mut Random, part: Part<'_>| {
                let lead = if random.chance(30) { random.below(rank + 1) } else { 0 };
                part(random, &result[lead..], 30)
            };
            (rules, (0..count).map(|_| shape(random, &mut part)).collect())
        }
    }
}

/// A random request: elementwise or gradient.
pub(crate) fn request(random: &mut Random, scale: usize) -> Option<Request> {
    let set = random.pick(&[0, 1, 1, 1, 2, 3, 3, 4]);
    let count = if set == 2 || set == 3 {
        1 + usize::from(random.chance(90)) + usize::from(random.chance(1))
    } else {
        1 + random.below(5)
    };
    let (rules, mut all) = shapes(random, count, set, scale);
    all.resize(count, vec![2]);
    let gradient = random.chance(35);
    let main =
        if gradient && random.chance(95) { random.pick(&DType::ALL[..4]) } else { random.pick(&DType::ALL) };
    let dtypes: Vec<DType> = (0..count)
        .map(|at| {
            if at > 0 && random.chance(25) {
                random.pick(&[DType::Bool, DType::F32, DType::I8])
            } else {
                main
            }
        })
        .collect();
    let draw = if gradient { small } else { value };
    let mut operands = Vec::new();
    for (at, shape) in all.iter().enumerate() {
        if shape.iter().product::<usize>() > 1 << 14 {
            return None;
        }
        let mut made = operand(random, at, shape, dtypes[at], draw);
        if matches!(rules, Rules::Theano) {
            let flags = shape.iter().map(|&length| random.chance(if length == 1 { 80 } else { 1 })).collect();
            made = made.with_broadcastable(flags).unwrap();
        }
        operands.push(made);
    }
    let depth = random.below(if gradient { 3 } else { 6 });
    let want = if random.chance(20) { DType::Bool } else { main };
    let mut expression = expression(random, &dtypes, if gradient { main } else { want }, depth);
    if main.is_float() && random.chance(20) && !gradient {
        let function = random.pick(&[Function::Exp, Function::Log, Function::Tanh, Function::Power]);
        let other = Expression::operand(random.below(count));
        let arguments = if function.arity() == 2 { vec![expression, other] } else { vec![expression] };
        expression = call(function, arguments);
    }
    let operation = if gradient {
        Operation::Gradient { expression, wrt: random.below(count) }
    } else {
        Operation::Elementwise { expression }
    };
    Request::new(rules, operation, operands).ok()
}

/// A random `broadcast`.
pub(crate) fn broadcast(random: &mut Random) -> Option<Request> {
    let (_, shapes) = shapes(random, 2, 1, 3);
    let rules = if random.chance(50) { Rules::Numpy } else { Rules::Bidirectional };
    let dtype = random.pick(&DType::ALL);
    if shapes[0].iter().product::<usize>() > 1 << 14 {
        return None;
    }
    let operand = operand(random, 0, &shapes[0], dtype, value);
    let operation = Operation::Broadcast { target_shape: Shape::from(&shapes[1][..]) };
    Request::new(rules, operation, vec![operand]).ok()
}

fn steps(scalar: Scalar) -> i64 {
    let bits = scalar.to_bits() as i64;
    let ordered = |bits: i64, width: u32| {
        let sign = 1i64 << (width - 1);
        if bits & sign != 0 { -(bits & (sign - 1)) } else { bits }
    };
    match scalar.dtype() {
        DType::F64 if bits < 0 => -(bits & i64::MAX),
        DType::F32 => ordered(bits, 32),
        DType::F16 | DType::Bf16 => ordered(bits, 16),
        _ => bits,
    }
}

/// Whether two outcomes of a request agree, with the difference as the error.
pub(crate) fn agree(request: &Request, reference: &Outcome, fast: &Outcome) -> Result<(), String> {
    let (expected, found) = match (reference, fast) {
        (Outcome::Refusal(one), Outcome::Refusal(other)) => {
            let same = (one.kind, one.axis, one.operand) == (other.kind, other.axis, other.operand);
            return if same { Ok(()) } else { Err(format!("expected {one}, found {other}")) };
        }
        (Outcome::Skipped { .. }, Outcome::Skipped { .. }) => return Ok(()),
        (Outcome::Success(one), Outcome::Success(other)) => (one, other),
        _ => return Err(format!("expected {reference:?}, found {fast:?}")),
    };
    let exact = request.operation().expression().is_none_or(Expression::is_exact);
    let buffers_differ = exact && expected.buffer != found.buffer;
    if expected.intermediate != found.intermediate
        || expected.broadcastable != found.broadcastable
        || buffers_differ
    {
        return Err(format!("expected {expected:?}, found {found:?}"));
    }
    if expected.tensor.shape() != found.tensor.shape() || expected.tensor.dtype() != found.tensor.dtype() {
        return Err(format!("expected shape {}, found {}", expected.tensor.shape(), found.tensor.shape()));
    }
    let bounds = match request.operation() {
        Operation::Gradient { .. } | Operation::Vjp { .. } => Some(gradient_bounds(request).unwrap()),
        Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Broadcast { .. } => None,
    };
    for (at, (one, other)) in expected.tensor.values().iter().zip(found.tensor.values().iter()).enumerate() {
        let fine = match &bounds {
            Some(bounds) => {
                let (want, got) = (one.as_f64().unwrap(), other.as_f64().unwrap());
                want == got
                    || (want.is_nan() && got.is_nan())
                    || bounds[at].is_none_or(|bound| bound.low <= got && got <= bound.high)
            }
            None => {
                let nan = one.as_f64().is_some_and(f64::is_nan) || other.as_f64().is_some_and(f64::is_nan);
                one == other || (!exact && !nan && (steps(one) - steps(other)).abs() <= 2)
            }
        };
        if !fine {
            return Err(format!("element {at}: expected {one}, found {other}"));
        }
    }
    Ok(())
}

/// Compares the outcomes, which must not be refusals, on every level. Returns the way in which the engine
/// computes.
pub(crate) fn check(request: &Request) -> &'static str {
    let expected = Reference::new().run(request);
    assert!(matches!(expected, Outcome::Success(_)), "{request:?}");
    for level in Level::available() {
        let engine = Fast::with_level(level).unwrap();
        if let Err(complaint) = agree(request, &expected, &engine.run(request)) {
            panic!("{level}: {complaint}\n{request:#?}");
        }
    }
    Plan::new(request).unwrap().route_name()
}
