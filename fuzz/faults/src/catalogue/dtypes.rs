//! Dtypes: which are compatible, which functions are defined, and in which dtype they are computed.

use crate::engine::types::{defined, gives_bool};
use crate::{Class, Fault};
use broadcheck_reference::apply;
use broadcheck_spec::{DType, Function};

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "dtypes/promoted",
        class: Class::Dtypes,
        title: "Operands of two dtypes are promoted to the wider dtype.",
        reports: &[],
        plant: |d| d.types.compatible = |_, _| true,
    },
    Fault {
        id: "dtypes/integers-promoted",
        class: Class::Dtypes,
        title: "Integers of different widths are accepted together.",
        reports: &[],
        plant: |d| d.types.compatible = |a, b| a == b || (a.is_integer() && b.is_integer()),
    },
    Fault {
        id: "dtypes/number-as-condition",
        class: Class::Dtypes,
        title: "select accepts a number as its condition.",
        reports: &[],
        plant: |d| d.types.condition = |_| true,
    },
    Fault {
        id: "dtypes/integers-divided",
        class: Class::Dtypes,
        title: "divide of integers is not refused.",
        reports: &[],
        plant: |d| {
            d.types.defined = |function, dtype| {
                defined(function, dtype) || (function == Function::Divide && dtype.is_integer())
            };
            // Any answer will do: a real system defines its own.
            d.evaluate.apply = |function, values| {
                let integers = values[0].dtype().is_integer();
                if function == Function::Divide && integers { values[0] } else { apply(function, values) }
            };
        },
    },
    Fault {
        id: "dtypes/negate-unsigned-refused",
        class: Class::Dtypes,
        title: "negate of an unsigned integer is refused instead of wrapping.",
        reports: &[],
        plant: |d| {
            d.types.defined = |function, dtype| {
                let unsigned = matches!(dtype, DType::U64 | DType::U32 | DType::U16 | DType::U8);
                defined(function, dtype) && !(function == Function::Negate && unsigned)
            };
        },
    },
    Fault {
        id: "dtypes/bool-not-compared",
        class: Class::Dtypes,
        title: "equal of booleans is refused.",
        reports: &[],
        plant: |d| {
            d.types.defined = |function, dtype| {
                let equal = matches!(function, Function::Equal | Function::NotEqual);
                defined(function, dtype) && !(equal && dtype == DType::Bool)
            };
        },
    },
    Fault {
        id: "dtypes/comparison-keeps-the-dtype",
        class: Class::Dtypes,
        title: "A comparison gives 0 and 1 in the dtype of its arguments.",
        reports: &[],
        plant: |d| {
            d.types.answer = |_, dtype| dtype;
            d.types.compatible = |a, b| a == b || a == DType::Bool || b == DType::Bool;
            d.types.condition = |_| true;
            d.types.defined = |function, dtype| defined(function, dtype) || gives_bool(function);
        },
    },
    Fault {
        id: "dtypes/types-after-shapes",
        class: Class::Dtypes,
        title: "Shapes are checked before dtypes.",
        reports: &[],
        plant: |d| d.types.before_shapes = false,
    },
    Fault {
        id: "dtypes/gradient-of-integers",
        class: Class::Dtypes,
        title: "A gradient with respect to an integer is not refused.",
        reports: &[],
        plant: |d| {
            d.types.continuous = |dtype| dtype != DType::Bool;
            d.types.smooth_root = |dtype| dtype != DType::Bool;
        },
    },
    Fault {
        id: "dtypes/halves-not-rounded-between",
        class: Class::Dtypes,
        title: "A fused expression of f16 or bf16 is computed in f32 and rounded once, at its end.",
        reports: &[],
        plant: |d| {
            d.evaluate.computed_in = |dtype| match dtype {
                DType::F16 | DType::Bf16 => DType::F32,
                DType::F64 | DType::F32 | DType::Bool => dtype,
                DType::I64 | DType::I32 | DType::I16 | DType::I8 => dtype,
                DType::U64 | DType::U32 | DType::U16 | DType::U8 => dtype,
            };
        },
    },
    Fault {
        id: "dtypes/singles-in-doubles",
        class: Class::Dtypes,
        title: "A fused expression of f32 is computed in f64 and rounded once, at its end.",
        reports: &[],
        plant: |d| {
            d.evaluate.computed_in = |dtype| if dtype == DType::F32 { DType::F64 } else { dtype };
        },
    },
    Fault {
        id: "dtypes/integers-through-doubles",
        class: Class::Dtypes,
        title: "64-bit integers are converted to f64 and lose precision beyond 2^53.",
        reports: &[],
        plant: |d| {
            d.evaluate.computed_in = |dtype| match dtype {
                DType::I64 | DType::U64 => DType::F64,
                DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => dtype,
                DType::I32 | DType::I16 | DType::I8 | DType::U32 | DType::U16 | DType::U8 => dtype,
            };
        },
    },
    Fault {
        id: "dtypes/small-integers-wrap-late",
        class: Class::Dtypes,
        title: "8-bit and 16-bit integers are computed in 32 bits and wrap only when they are stored.",
        reports: &[],
        plant: |d| {
            d.evaluate.computed_in = |dtype| match dtype {
                DType::I8 | DType::I16 => DType::I32,
                DType::U8 | DType::U16 => DType::U32,
                DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => dtype,
                DType::I64 | DType::I32 | DType::U64 | DType::U32 => dtype,
            };
        },
    },
    Fault {
        id: "dtypes/unsigned-as-signed",
        class: Class::Dtypes,
        title: "Unsigned 64-bit integers are computed as signed, so large ones compare as negative.",
        reports: &[],
        plant: |d| d.evaluate.computed_in = |dtype| if dtype == DType::U64 { DType::I64 } else { dtype },
    },
];
