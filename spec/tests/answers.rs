//! Numbers in answers: implementations write them as decimals, and they are rounded once to the dtype.

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Expression, Operand, Operation, Outcome, Request, Rules, Scalar, json};

/// Reads an answer of one number.
fn read(dtype: &str, number: &str) -> Result<Scalar, String> {
    let operands = vec![Operand::dense("a", [], vec![1i8]).expect("an operand")];
    let operation = Operation::Elementwise { expression: Expression::operand(0) };
    let request = Request::new(Rules::Numpy, operation, operands).expect("a request");
    let text = format!(r#"{{"result":{{"dtype":"{dtype}","shape":[],"values":[{number}]}}}}"#);
    match json::outcome_from_str(&request, &text).map_err(|error| error.to_string())? {
        Outcome::Success(success) => Ok(success.tensor.values().get(0).expect("one value")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_number_between_two_bf16_values_rounds_to_the_nearer() {
    let is = |number: &str, bits: u16| read("bf16", number) == Ok(Scalar::Bf16(bf16::from_bits(bits)));
    // By hand: from 512 to 1024 the numbers of bf16 are 4 apart, and 1000 is 0x447a.
    assert!(is("1000.3", 0x447a) && is("1001.9", 0x447a) && is("1002.1", 0x447b));
    assert!(is("1002", 0x447a) && is("-1006", 0xc47c), "a tie goes to the even one");
}

#[test]
fn a_number_that_would_round_to_infinity_is_an_error() {
    // The largest bf16 is 2^128 - 2^120; half a step above it is 2^128 - 2^119 = 3.39617752923046e38.
    assert_eq!(read("bf16", "3.39617752923e38"), Ok(Scalar::Bf16(bf16::MAX)));
    assert!(read("bf16", "3.39617752923046e38").is_err());
    assert!(read("bf16", "-3.4e38").is_err(), "below 2^128, and nearer to it than to the largest");
    // The largest f16 is 65504; half a step above it is 65520, which f32 cannot distinguish from numbers just
    // below.
    assert_eq!(read("f16", "65519.9999999999"), Ok(Scalar::F16(f16::MAX)));
    assert_eq!(read("f16", "-65519.9999999999"), Ok(Scalar::F16(f16::MIN)));
    assert!(read("f16", "65520").is_err());
}
