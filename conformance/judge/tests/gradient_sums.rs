//! Tests clause V-6: the interval of five gradients worked out by hand beside what the judge prints, and sums
//! of random terms of f16 and bf16 in many orders, which must pass, and in narrow accumulators, which must
//! not.

use broadcheck_judge::compare::{Latitude, Verdict, judge};
use broadcheck_reference::Reference;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    DType, Data, Expectation, ExpectedResult, Expression, Function, Implementation, Operand, Operation,
    Outcome, Request, Rules, Success, Tensor,
};

fn op(place: usize) -> Expression {
    Expression::operand(place)
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("the right arity")
}

/// Numbers as a buffer of a float dtype. They must be numbers of the dtype already.
fn data(dtype: DType, values: &[f32]) -> Data {
    match dtype {
        DType::F32 => values.to_vec().into(),
        DType::F16 => values.iter().map(|&value| f16::from_f32(value)).collect::<Vec<_>>().into(),
        DType::Bf16 => values.iter().map(|&value| bf16::from_f32(value)).collect::<Vec<_>>().into(),
        other => panic!("{other} is not tested here"),
    }
}

/// A number rounded to a dtype.
fn round(dtype: DType, value: f32) -> f32 {
    match dtype {
        DType::F16 => f16::from_f32(value).to_f32(),
        DType::Bf16 => bf16::from_f32(value).to_f32(),
        _ => value,
    }
}

/// The gradient by the first operand, which has one element. The others are vectors.
fn request(dtype: DType, expression: &Expression, operands: &[&[f32]]) -> Request {
    let operand = |(place, values): (usize, &&[f32])| {
        let name = ["w", "b", "c"][place];
        Operand::dense(name, [values.len()], data(dtype, values)).expect("a dense operand")
    };
    let operands = operands.iter().enumerate().map(operand).collect();
    let operation = Operation::Gradient { expression: expression.clone(), wrt: 0 };
    Request::new(Rules::Numpy, operation, operands).expect("well-formed")
}

/// The verdict on an answer, where the reference's is expected.
fn verdict(dtype: DType, request: &Request, answer: f32) -> Verdict {
    let Outcome::Success(success) = Reference::new().run(request) else { panic!("accepted") };
    let expected = Expectation::Result(ExpectedResult::from(success.tensor));
    let answer = Tensor::new([1], data(dtype, &[answer])).expect("one element");
    judge(request, &expected, &Outcome::Success(Success::from(answer)), Latitude::ANY)
}

/// What the judge prints about a wrong answer.
fn complaint(dtype: DType, expression: &Expression, operands: &[&[f32]], wrong: f32) -> String {
    match verdict(dtype, &request(dtype, expression, operands), wrong) {
        Verdict::Failed(difference) => difference.detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn five_bounds_by_hand() {
    let add = || call(Function::Add, [op(0), op(1)]);
    let multiply = || call(Function::Multiply, [op(0), op(1)]);
    // 1. bf16, sum(w + b) by w, 200 terms of 1. A term: exactly 1. The sum: exact, because 200 <= 2^24 units
    //    of
    //    1. Rounded to bf16, whose spacing is 1 from 128 to 256: 200.
    assert_eq!(
        complaint(DType::Bf16, &add(), &[&[0.0], &[5.0; 200]], 199.0),
        "element (0): expected 200.0, got 199.0: V-6 admits only 200.0 (n = 200, sum 200.0) (1 of 1 elements wrong)"
    );
    // 2. bf16, 257 terms of 1: 257 is halfway between 256 and 258, and 256 has the even mantissa.
    assert_eq!(
        complaint(DType::Bf16, &add(), &[&[0.0], &[5.0; 257]], 258.0),
        "element (0): expected 256.0, got 258.0: V-6 admits only 256.0 (n = 257, sum 257.0) (1 of 1 elements wrong)"
    );
    // 3. f16, sum(w * b) by w, terms 2048, 1 and 2^-14: each is exact. In units of 2^-14 the sum is beyond
    //    2^24, so it may lose 3 * 2^-23 * 2049.00006 = 7.328e-4. That reaches across 2049, where the rounding
    //    changes from 2048 to 2050.
    let message = complaint(DType::F16, &multiply(), &[&[0.0], &[2048.0, 1.0, 2f32.powi(-14)]], 2052.0);
    let admitted = "V-6 admits 2048.0 to 2050.0 (n = 3, sum 2049.0000610351563 ± 7.33e-4)";
    assert!(message.contains(admitted), "{message}");
    // 4. f32, sum(b / w) by w at w = 3, b = 1, 2, 3: the terms -r/3 are -1/9, -2/9 and -1/3, and their
    //    absolute values add up to 2/3. The divisor is not a power of two, so each term has the room 8 *
    //    2^-23 * |t| for one function: 6.4e-7 in all. The sum may lose 3 * 2^-23 * 2/3 = 2.4e-7. So -2/3 is
    //    admitted with an error of 8.74e-7: from -0.66666754 to -0.66666579, rounded to f32.
    let divide = call(Function::Divide, [op(1), op(0)]);
    let message = complaint(DType::F32, &divide, &[&[3.0], &[1.0, 2.0, 3.0]], -0.66);
    assert!(message.contains("V-6 admits -0.66666758"), "{message}");
    assert!(message.contains(" to -0.66666579") && message.contains("(n = 3, sum -0.666667312"), "{message}");
    assert!(message.contains(" to -0.66666604") && message.contains(" ± 2.38e-7)"), "{message}");
    // 5. f16, sum(w * b * c) by w with b = c = 65: 4225, or 4224 if the product is rounded to f16, whose
    //    spacing there is 4. Two exact functions: 2 * 2 * 2^-10 * 4225 = 16.5 on both sides, 4207.5 to
    //    4241.5; the sum of one term may lose 2^-23 * 4225 = 5.04e-4. Rounded to f16: 4208 to 4240.
    let product = call(Function::Multiply, [multiply(), op(2)]);
    let message = complaint(DType::F16, &product, &[&[1.0], &[65.0], &[65.0]], 4096.0);
    assert!(message.contains("V-6 admits 4208.0 to 4240.0 (n = 1, sum 4207.496"), "{message}");
    assert!(message.contains(" to 4241.503") && message.contains(" ± 5.04e-4)"), "{message}");
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    /// From 0 to 1, with 24 bits.
    #[allow(clippy::cast_precision_loss, reason = "24 bits")]
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    /// A number of the dtype between 1/4 and 4, or its negative in one of four if `signs` is set.
    fn number(&mut self, dtype: DType, signs: bool) -> f32 {
        let size = 2f32.powf(4.0 * self.next() - 2.0);
        round(dtype, if signs && self.next() < 0.25 { -size } else { size })
    }
}

/// Sums in f32 in several orders: forwards, backwards, in pairs, in 8 lanes, in blocks of 32.
fn sums(terms: &[f32]) -> Vec<f32> {
    fn in_pairs(terms: &[f32]) -> f32 {
        match terms {
            [] => 0.0,
            [term] => *term,
            _ => {
                let (left, right) = terms.split_at(terms.len() / 2);
                in_pairs(left) + in_pairs(right)
            }
        }
    }
    let lanes = (0..8).map(|lane| terms.iter().skip(lane).step_by(8).sum::<f32>()).sum();
    let blocks = terms.chunks(32).map(|block| block.iter().sum::<f32>()).sum();
    vec![terms.iter().sum(), terms.iter().rev().sum(), in_pairs(terms), lanes, blocks]
}

/// The sum in an accumulator of the dtype.
fn narrow(dtype: DType, terms: &[f32]) -> f32 {
    terms.iter().fold(0.0, |sum, term| round(dtype, sum + term))
}

const HALVES: [DType; 2] = [DType::F16, DType::Bf16];
const COUNTS: [usize; 9] = [1, 2, 7, 64, 200, 257, 1024, 2049, 5000];

#[test]
fn sums_in_f32_pass_in_any_order() {
    let mut random = Random(1);
    let product = call(Function::Multiply, [call(Function::Multiply, [op(0), op(1)]), op(2)]);
    for dtype in HALVES {
        for count in COUNTS {
            for signs in [false, true] {
                let factors = |random: &mut Random| -> Vec<f32> {
                    (0..count).map(|_| random.number(dtype, signs)).collect()
                };
                let (b, c) = (factors(&mut random), factors(&mut random));
                let request = request(dtype, &product, &[&[1.0], &b, &c]);
                let wide: Vec<f32> = b.iter().zip(&c).map(|(b, c)| b * c).collect();
                let rounded: Vec<f32> = wide.iter().map(|&term| round(dtype, term)).collect();
                for terms in [wide, rounded] {
                    for sum in sums(&terms) {
                        let verdict = verdict(dtype, &request, round(dtype, sum));
                        assert_eq!(verdict, Verdict::Passed, "{dtype}, {count} terms, {signs}");
                    }
                }
                if !signs {
                    assert!(matches!(verdict(dtype, &request, 0.0), Verdict::Failed(_)), "{dtype} {count}");
                }
            }
        }
    }
}

#[test]
fn a_lost_term_or_a_narrow_accumulator_fails_wherever_it_changes_the_answer() {
    let mut random = Random(2);
    let multiply = call(Function::Multiply, [op(0), op(1)]);
    let (mut lost, mut narrowed) = (0, 0);
    for dtype in HALVES {
        for count in COUNTS {
            // Positive terms, or terms whose sum is small enough for the dtype to show each of them.
            for balanced in [false, true] {
                let sign = |place: usize| if balanced && place % 2 == 1 { -1.0 } else { 1.0 };
                let mut term = |place: usize| sign(place) * (1.0 + (3.0 * random.next()).floor());
                let terms: Vec<f32> = (0..count).map(&mut term).collect();
                let request = request(dtype, &multiply, &[&[1.0], &terms]);
                // The sums of these integers are exact.
                let right = round(dtype, terms.iter().sum());
                for place in [0, count / 2, count - 1] {
                    let answer = round(dtype, terms.iter().sum::<f32>() - terms[place]);
                    let passed = verdict(dtype, &request, answer) == Verdict::Passed;
                    assert_eq!(passed, answer == right, "{dtype}, {count} terms without {place}");
                    lost += u32::from(!passed);
                }
                let answer = narrow(dtype, &terms);
                let passed = verdict(dtype, &request, answer) == Verdict::Passed;
                assert_eq!(passed, answer == right, "{dtype}, {count} terms in a narrow accumulator");
                narrowed += u32::from(!passed);
                let zero = verdict(dtype, &request, 0.0) == Verdict::Passed;
                assert_eq!(zero, right == 0.0, "{dtype}, {count} terms");
            }
        }
    }
    assert!(lost >= 60 && narrowed >= 7, "{lost} lost, {narrowed} narrow");
}

#[test]
fn ones_are_counted_to_the_last() {
    let add = call(Function::Add, [op(0), op(1)]);
    let fails = |dtype, count: usize, answer: f32| {
        let request = request(dtype, &add, &[&[0.0], &vec![2.0; count]]);
        matches!(verdict(dtype, &request, answer), Verdict::Failed(_))
    };
    // One less than the count, where the dtype can tell the two apart.
    for (dtype, count, lost) in [
        (DType::Bf16, 64, 63.0),
        (DType::Bf16, 200, 199.0),
        (DType::Bf16, 258, 256.0),
        (DType::F16, 1016, 1015.0),
        (DType::F16, 1024, 1023.0),
        (DType::F16, 2050, 2048.0),
    ] {
        assert!(fails(dtype, count, lost) && fails(dtype, count, 0.0), "{dtype} {count}");
    }
    // 257 and 2049 are ties that round down to the same number as 256 and 2048.
    assert!(!fails(DType::Bf16, 257, 256.0) && fails(DType::Bf16, 257, 258.0));
    assert!(!fails(DType::F16, 2049, 2048.0) && fails(DType::F16, 2049, 2050.0));
}
