//! Macros that call a generic function with the element type that a value names.

/// Evaluates an expression with `$type` as the element type of a [`Bank`](crate::scratch::Bank).
macro_rules! by_bank {
    ($bank:expr, $type:ident => $body:expr) => {
        match $bank {
            Bank::F64 => {
                type $type = f64;
                $body
            }
            Bank::F32 => {
                type $type = f32;
                $body
            }
            Bank::I64 => {
                type $type = i64;
                $body
            }
            Bank::I32 => {
                type $type = i32;
                $body
            }
            Bank::I16 => {
                type $type = i16;
                $body
            }
            Bank::I8 => {
                type $type = i8;
                $body
            }
            Bank::U64 => {
                type $type = u64;
                $body
            }
            Bank::U32 => {
                type $type = u32;
                $body
            }
            Bank::U16 => {
                type $type = u16;
                $body
            }
            Bank::U8 => {
                type $type = u8;
                $body
            }
            Bank::Bool => {
                type $type = bool;
                $body
            }
        }
    };
}

/// The same for a [`FloatBank`](crate::scratch::FloatBank).
macro_rules! by_float_bank {
    ($bank:expr, $type:ident => $body:expr) => {
        match $bank {
            FloatBank::F64 => {
                type $type = f64;
                $body
            }
            FloatBank::F32 => {
                type $type = f32;
                $body
            }
        }
    };
}

/// Evaluates an expression with the kernel in a [`BankCall`](crate::scratch::BankCall).
macro_rules! by_call {
    ($call:expr, $kernel:ident => $body:expr) => {
        match $call {
            BankCall::F64($kernel) => $body,
            BankCall::F32($kernel) => $body,
            BankCall::I64($kernel) => $body,
            BankCall::I32($kernel) => $body,
            BankCall::I16($kernel) => $body,
            BankCall::I8($kernel) => $body,
            BankCall::U64($kernel) => $body,
            BankCall::U32($kernel) => $body,
            BankCall::U16($kernel) => $body,
            BankCall::U8($kernel) => $body,
            BankCall::Bool($kernel) => $body,
        }
    };
}

/// Evaluates an expression with `$type` as the type of a dtype's values in memory.
macro_rules! by_dtype {
    ($dtype:expr, $type:ident => $body:expr) => {
        match $dtype {
            DType::F64 => {
                type $type = f64;
                $body
            }
            DType::F32 => {
                type $type = f32;
                $body
            }
            DType::F16 => {
                type $type = f16;
                $body
            }
            DType::Bf16 => {
                type $type = bf16;
                $body
            }
            DType::I64 => {
                type $type = i64;
                $body
            }
            DType::I32 => {
                type $type = i32;
                $body
            }
            DType::I16 => {
                type $type = i16;
                $body
            }
            DType::I8 => {
                type $type = i8;
                $body
            }
            DType::U64 => {
                type $type = u64;
                $body
            }
            DType::U32 => {
                type $type = u32;
                $body
            }
            DType::U16 => {
                type $type = u16;
                $body
            }
            DType::U8 => {
                type $type = u8;
                $body
            }
            DType::Bool => {
                type $type = bool;
                $body
            }
        }
    };
}

pub(crate) use {by_bank, by_call, by_dtype, by_float_bank};
