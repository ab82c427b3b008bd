//! The element types of the suite, and a single value of any of them.

#![warn(clippy::wildcard_enum_match_arm)]

use half::{bf16, f16};
use std::fmt;
use std::num::FpCategory;
use std::str::FromStr;

macro_rules! dtypes {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// An element type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $(#[doc = $doc] $variant,)* }

        impl DType {
            /// Every dtype, in the order of the format reference.
            pub const ALL: [DType; [$(DType::$variant),*].len()] = [$(DType::$variant),*];

            /// The name in case files and in the protocol.
            pub fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }
        }
    };
}

dtypes! {
    F64 "f64" "IEEE 754 binary64.";
    F32 "f32" "IEEE 754 binary32.";
    F16 "f16" "IEEE 754 binary16.";
    Bf16 "bf16" "bfloat16: the upper half of a binary32.";
    I64 "i64" "Signed, 64 bits.";
    I32 "i32" "Signed, 32 bits.";
    I16 "i16" "Signed, 16 bits.";
    I8 "i8" "Signed, 8 bits.";
    U64 "u64" "Unsigned, 64 bits.";
    U32 "u32" "Unsigned, 32 bits.";
    U16 "u16" "Unsigned, 16 bits.";
    U8 "u8" "Unsigned, 8 bits.";
    Bool "bool" "A boolean.";
}

/// The kind of values that a dtype holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// One of the four floating-point formats.
    Float,
    /// An integer, signed or unsigned.
    Integer,
    /// A boolean, which is not a number.
    Truth,
}

impl DType {
    /// The kind of values that the dtype holds.
    pub fn kind(self) -> NumberKind {
        match self {
            DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => NumberKind::Float,
            DType::I64 | DType::I32 | DType::I16 | DType::I8 => NumberKind::Integer,
            DType::U64 | DType::U32 | DType::U16 | DType::U8 => NumberKind::Integer,
            DType::Bool => NumberKind::Truth,
        }
    }

    /// Whether the type is one of the four floating-point formats.
    pub fn is_float(self) -> bool {
        self.kind() == NumberKind::Float
    }

    /// Whether the type is an integer, signed or unsigned.
    pub fn is_integer(self) -> bool {
        self.kind() == NumberKind::Integer
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a dtype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDType(pub String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a dtype: expected one of {}", self.0, DType::ALL.map(DType::name).join(" "))
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;
    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| UnknownDType(name.into()))
    }
}

/// One value with its dtype.
///
/// Equality follows clause V-1: any NaN equals any NaN, and -0 differs from +0. Values of different dtypes
/// differ.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "each variant is the value of the dtype of that name")]
pub enum Scalar {
    F64(f64),
    F32(f32),
    F16(f16),
    Bf16(bf16),
    I64(i64),
    I32(i32),
    I16(i16),
    I8(i8),
    U64(u64),
    U32(u32),
    U16(u16),
    U8(u8),
    Bool(bool),
}

impl Scalar {
    /// Whether it is a float that is not zero and smaller than every normal number.
    pub fn is_subnormal(self) -> bool {
        match self {
            Scalar::F64(value) => value.is_subnormal(),
            Scalar::F32(value) => value.is_subnormal(),
            Scalar::F16(value) => value.classify() == FpCategory::Subnormal,
            Scalar::Bf16(value) => value.classify() == FpCategory::Subnormal,
            Scalar::I64(_) | Scalar::I32(_) | Scalar::I16(_) | Scalar::I8(_) => false,
            Scalar::U64(_) | Scalar::U32(_) | Scalar::U16(_) | Scalar::U8(_) => false,
            Scalar::Bool(_) => false,
        }
    }

    /// The dtype of the value.
    pub fn dtype(self) -> DType {
        match self {
            Scalar::F64(_) => DType::F64,
            Scalar::F32(_) => DType::F32,
            Scalar::F16(_) => DType::F16,
            Scalar::Bf16(_) => DType::Bf16,
            Scalar::I64(_) => DType::I64,
            Scalar::I32(_) => DType::I32,
            Scalar::I16(_) => DType::I16,
            Scalar::I8(_) => DType::I8,
            Scalar::U64(_) => DType::U64,
            Scalar::U32(_) => DType::U32,
            Scalar::U16(_) => DType::U16,
            Scalar::U8(_) => DType::U8,
            Scalar::Bool(_) => DType::Bool,
        }
    }

    /// The exact value of a float as an f64; `None` for integers and booleans.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Scalar::F64(value) => Some(value),
            Scalar::F32(value) => Some(value.into()),
            Scalar::F16(value) => Some(value.into()),
            Scalar::Bf16(value) => Some(value.into()),
            Scalar::I64(_) | Scalar::I32(_) | Scalar::I16(_) | Scalar::I8(_) => None,
            Scalar::U64(_) | Scalar::U32(_) | Scalar::U16(_) | Scalar::U8(_) | Scalar::Bool(_) => None,
        }
    }

    /// The exact value of an integer; `None` for floats and booleans.
    pub fn as_i128(self) -> Option<i128> {
        match self {
            Scalar::I64(value) => Some(value.into()),
            Scalar::I32(value) => Some(value.into()),
            Scalar::I16(value) => Some(value.into()),
            Scalar::I8(value) => Some(value.into()),
            Scalar::U64(value) => Some(value.into()),
            Scalar::U32(value) => Some(value.into()),
            Scalar::U16(value) => Some(value.into()),
            Scalar::U8(value) => Some(value.into()),
            Scalar::F64(_) | Scalar::F32(_) | Scalar::F16(_) | Scalar::Bf16(_) | Scalar::Bool(_) => None,
        }
    }

    /// The bits of the value, in the low bits of the returned number.
    pub fn to_bits(self) -> u64 {
        match self {
            Scalar::F64(value) => value.to_bits(),
            Scalar::F32(value) => value.to_bits().into(),
            Scalar::F16(value) => value.to_bits().into(),
            Scalar::Bf16(value) => value.to_bits().into(),
            Scalar::I64(value) => value.cast_unsigned(),
            Scalar::I32(value) => value.cast_unsigned().into(),
            Scalar::I16(value) => value.cast_unsigned().into(),
            Scalar::I8(value) => value.cast_unsigned().into(),
            Scalar::U64(value) => value,
            Scalar::U32(value) => value.into(),
            Scalar::U16(value) => value.into(),
            Scalar::U8(value) => value.into(),
            Scalar::Bool(value) => value.into(),
        }
    }

    /// The bits of the value as text: `0x3f800000`, with all digits of the dtype, in lower case. A boolean
    /// has two digits, like a byte.
    pub fn bits_in_hexadecimal(self) -> String {
        let digits = match self.dtype() {
            DType::F64 | DType::I64 | DType::U64 => 16,
            DType::F32 | DType::I32 | DType::U32 => 8,
            DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 4,
            DType::I8 | DType::U8 | DType::Bool => 2,
        };
        format!("0x{:0digits$x}", self.to_bits())
    }

    /// The value as written in messages and case files: `1.0`, `-0.0`, `.nan`, `-.inf`, `7`, `true`.
    pub fn literal(self) -> String {
        if let Some(value) = self.as_f64() {
            return float_literal(value);
        }
        match (self, self.as_i128()) {
            (Scalar::Bool(value), _) => value.to_string(),
            (_, Some(value)) => value.to_string(),
            _ => unreachable!("a value is a float, an integer or a boolean"),
        }
    }
}

/// The shortest decimal that denotes `value` in both YAML 1.1 and YAML 1.2: an exponent has a sign, and a
/// point before it.
fn float_literal(value: f64) -> String {
    if value.is_nan() {
        return ".nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let size = value.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').expect("scientific notation has an exponent");
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.literal())
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        let nan = |scalar: &Scalar| scalar.as_f64().is_some_and(f64::is_nan);
        self.dtype() == other.dtype() && (self.to_bits() == other.to_bits() || (nan(self) && nan(other)))
    }
}

impl Eq for Scalar {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
        }
        assert!("float64".parse::<DType>().unwrap_err().to_string().contains("expected one of f64 f32"));
    }

    #[test]
    fn equality_follows_clause_v1() {
        let other_nan = f64::from_bits(f64::NAN.to_bits() | 1);
        assert_eq!(Scalar::F64(f64::NAN), Scalar::F64(other_nan));
        assert_ne!(Scalar::F64(0.0), Scalar::F64(-0.0));
        assert_ne!(Scalar::F32(1.0), Scalar::F64(1.0));
        assert_ne!(Scalar::I8(-1), Scalar::U8(255));
    }

    #[test]
    fn bits_have_all_digits_of_the_dtype() {
        for (scalar, bits) in [
            (Scalar::F64(1.0), "0x3ff0000000000000"),
            (Scalar::F32(1.0), "0x3f800000"),
            (Scalar::F32(0.0), "0x00000000"),
            (Scalar::F16(f16::ONE), "0x3c00"),
            (Scalar::Bf16(bf16::ONE), "0x3f80"),
            (Scalar::I64(-1), "0xffffffffffffffff"),
            (Scalar::I32(-2), "0xfffffffe"),
            (Scalar::I16(-1), "0xffff"),
            (Scalar::I8(-128), "0x80"),
            (Scalar::U8(7), "0x07"),
            (Scalar::Bool(true), "0x01"),
        ] {
            assert_eq!(scalar.bits_in_hexadecimal(), bits);
        }
    }

    #[test]
    fn literals_have_the_same_meaning_in_yaml_1_1_and_1_2() {
        let text = |value: f64| Scalar::F64(value).literal();
        assert_eq!(text(1.0), "1.0");
        assert_eq!(text(-0.0), "-0.0");
        assert_eq!(text(1e16), "1.0e+16");
        assert_eq!(text(1.5e-7), "1.5e-7");
        assert_eq!(text(5e-324), "5.0e-324");
        assert_eq!(text(f64::NEG_INFINITY), "-.inf");
        assert_eq!(Scalar::F32(0.1).literal(), "0.10000000149011612");
        assert_eq!(Scalar::U64(u64::MAX).literal(), "18446744073709551615");
    }
}
