//! Functions of integers: they wrap (clause V-2).

use broadcheck_spec::Function;

macro_rules! integers {
    ($($type:ident $unary:ident $binary:ident $abs:expr;)*) => {$(
        pub(super) fn $unary(function: Function, x: $type) -> Option<$type> {
            let abs: fn($type) -> $type = $abs;
            match function {
                Function::Negate => Some(x.wrapping_neg()),
                Function::Abs => Some(abs(x)),
                _ => None,
            }
        }

        pub(super) fn $binary(function: Function, a: $type, b: $type) -> Option<$type> {
            match function {
                Function::Add => Some(a.wrapping_add(b)),
                Function::Subtract => Some(a.wrapping_sub(b)),
                Function::Multiply => Some(a.wrapping_mul(b)),
                Function::Maximum => Some(if a > b { a } else { b }),
                Function::Minimum => Some(if a < b { a } else { b }),
                _ => None,
            }
        }
    )*};
}

// The absolute value of the minimum is the minimum; that of an unsigned number is the number.
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
