"""The dtypes, and the values of a case: reading, rounding, bit patterns and equality."""
from __future__ import annotations

import math
import struct
from typing import Any, Union

Value = Union[bool, int, float]

# The order in which the suite looks for another dtype, for a library that lacks the one of a case.
DTYPES = ("f64", "f32", "i64", "i32", "f16", "bf16", "i16", "i8", "u64", "u32", "u16", "u8", "bool")

# Precision in bits, exponent of the smallest subnormal number, and the exponent of two that overflows.
_FLOATS = {"f64": (53, -1074, 1024), "f32": (24, -149, 128), "f16": (11, -24, 16), "bf16": (8, -133, 128)}
_SMALLEST_NORMAL = {"f64": -1022, "f32": -126, "f16": -14, "bf16": -126}
_PACKED = {"f64": ">d", "f32": ">f", "f16": ">e"}


def is_float(dtype: str) -> bool:
    return dtype in _FLOATS


def width(dtype: str) -> int:
    """The bits of an element; a bool has 8."""
    return 8 if dtype == "bool" else int(dtype.lstrip("biuf"))


def round_to(dtype: str, number: float) -> float:
    """The number of a float dtype that is nearest to an f64, ties to even."""
    precision, smallest, overflow = _FLOATS[dtype]
    if dtype == "f64" or number == 0 or not math.isfinite(number):
        return number
    unit = max(math.frexp(number)[1] - precision, smallest)
    # The scaling is exact: only `round` rounds.
    rounded = round(math.ldexp(abs(number), -unit))
    result = math.inf if rounded.bit_length() + unit > overflow else math.ldexp(float(rounded), unit)
    return math.copysign(result, number)


def is_subnormal(dtype: str, value: Value) -> bool:
    return is_float(dtype) and 0 < abs(value) < math.ldexp(1.0, _SMALLEST_NORMAL[dtype])


def read(dtype: str, literal: Any) -> Value:
    """A value of a case file: what JSON numbers cannot express is a string."""
    if dtype == "bool":
        return bool(literal)
    return float(literal) if is_float(dtype) else int(literal)


def normal(dtype: str, value: Any) -> Value:
    """A value of an answer in its dtype. A float is rounded to it.

    Raises ValueError if it is not a value of this dtype.
    """
    if dtype == "bool":
        if isinstance(value, bool):
            return value
    elif is_float(dtype):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return round_to(dtype, float(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        bits = width(dtype)
        low, high = (0, 2**bits) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        if low <= value < high:
            return value
    raise ValueError(f"found {value!r}, expected a value of {dtype}")


def bits(dtype: str, value: Value) -> str:
    """The bit pattern in lower-case hexadecimal, with all digits: `0x3f800000`."""
    if dtype == "bf16":
        pattern = struct.unpack(">I", struct.pack(">f", value))[0] >> 16
    elif is_float(dtype):
        pattern = int.from_bytes(struct.pack(_PACKED[dtype], value), "big")
    else:
        pattern = int(value) % 2 ** width(dtype)
    return f"0x{pattern:0{width(dtype) // 4}x}"


def same(a: Value, b: Value) -> bool:
    """Whether two values of one dtype are equal to the bit. Any NaN is NaN."""
    if a != a or b != b:
        return a != a and b != b
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
