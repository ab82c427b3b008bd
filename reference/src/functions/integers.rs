//! Functions of integers, which wrap on overflow (clause V-2). They return `None` for functions of floats
//! only.

#![warn(clippy::wildcard_enum_match_arm)]

use super::kind::{Binary, Unary};

macro_rules! integers {
    ($($type:ident $unary:ident $binary:ident $abs:expr;)*) => {$(
        pub(super) fn $unary(function: Unary, x: $type) -> Option<$type> {
            let abs: fn($type) -> $type = $abs;
            match function {
                Unary::Negate => Some(x.wrapping_neg()),
                Unary::Abs => Some(abs(x)),
                Unary::Sqrt | Unary::Exp | Unary::Log | Unary::Tanh => None,
            }
        }

        pub(super) fn $binary(function: Binary, a: $type, b: $type) -> Option<$type> {
            match function {
                Binary::Add => Some(a.wrapping_add(b)),
                Binary::Subtract => Some(a.wrapping_sub(b)),
                Binary::Multiply => Some(a.wrapping_mul(b)),
                Binary::Maximum => Some(if a > b { a } else { b }),
                Binary::Minimum => Some(if a < b { a } else { b }),
                Binary::Divide | Binary::Power => None,
            }
        }
    )*};
}

// The absolute value of the minimum is the minimum; that of an unsigned number is the number itself.
integers! {
    i64 unary_i64 binary_i64 i64::wrapping_abs;
    i32 unary_i32 binary_i32 i32::wrapping_abs;
    i16 unary_i16 binary_i16 i16::wrapping_abs;
    i8 unary_i8 binary_i8 i8::wrapping_abs;
    u64 unary_u64 binary_u64 |x| x;
    u32 unary_u32 binary_u32 |x| x;
    u16 unary_u16 binary_u16 |x| x;
    u8 unary_u8 binary_u8 |x| x;
}
