#!/usr/bin/env python3
"""Run cases on NumPy (and on mpmath, for exp log tanh power) and compare the outcomes.

    ask_numpy.py FILE...            verify every case whose origin is NumPy or mpmath; exit 1 on a mismatch
    ask_numpy.py --write FILE...    first replace each `result: ask` by the answer; the rest of the file stays as it is

Each rule set is lowered to NumPy's own broadcasting by explicit reshapes, in `lower`. If a rule set is stricter than NumPy,
`lower` raises ValueError, so that NumPy's leniency never becomes an expected answer. Gradients are skipped: see `ask_jax.py`.
"""
import argparse
import math
import re
import sys
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np
from numpy.lib.stride_tricks import as_strided
from ruamel.yaml import YAML

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
}
NAMES = {np.dtype(t): name for name, t in DTYPES.items()}
# Significant bits, and the exponents of the smallest subnormal and of the first power of two that overflows.
FORMATS = {"f64": (53, -1074, 1024), "f32": (24, -149, 128), "f16": (11, -24, 16), "bf16": (8, -133, 128)}


# ---------------------------------------------------------------- operands

def buffer_of(operand):
    """The operand's values as an array of one axis."""
    dtype = np.dtype(DTYPES[operand["dtype"]])
    raw = operand["values"]
    if operand["dtype"] in FORMATS:
        buffer = np.array([float(v) for v in raw]).astype(dtype)
        exact = [float(b) == float(v) or math.isnan(float(v)) for b, v in zip(buffer, raw)]
        if not all(exact):
            raise AssertionError(f"operand {operand['name']}: value {raw[exact.index(False)]} is not a {operand['dtype']}")
    else:
        buffer = np.array([v if dtype == np.bool_ else int(v) for v in raw], dtype=dtype)
    return buffer


def array_of(operand):
    """The operand as an array; a view is read through as_strided, after its bounds have been checked."""
    return array_over(operand, buffer_of(operand)).copy()


def array_over(operand, buffer):
    """The operand as an array that shares memory with its buffer."""
    dtype, shape = buffer.dtype, tuple(operand["shape"])
    if "strides" not in operand and "offset" not in operand:
        return buffer.reshape(shape)
    offset = operand.get("offset", 0)
    strides = operand.get("strides")
    if strides is None:
        strides = [math.prod(shape[k + 1:]) for k in range(len(shape))]
    if 0 in shape:
        return np.empty(shape, dtype)
    ends = [(n - 1) * s for n, s in zip(shape, strides)]
    lowest = offset + sum(e for e in ends if e < 0)
    highest = offset + sum(e for e in ends if e > 0)
    if lowest < 0 or highest >= len(buffer):
        raise AssertionError(f"operand {operand['name']}: the view reaches {lowest}..{highest} of {len(buffer)} values")
    steps = [0 if n == 1 else s * buffer.itemsize for n, s in zip(shape, strides)]  # that of a length of 1 is never used
    return as_strided(buffer[offset:], shape, steps)


# ---------------------------------------------------------------- rule sets

def lower(case, rules, arrays):
    """Reshape the operands so that plain NumPy broadcasting follows the rule set.

    Returns the arrays, and what the rule set reports beside the result (xla: intermediate; theano: broadcastable).
    """
    if rules == "none" and len({a.shape for a in arrays}) > 1:
        raise ValueError("none: shapes differ")
    if rules == "pdpd" and len(arrays) == 2:
        a, b = arrays
        if b.ndim > a.ndim:
            raise ValueError("pdpd: rank of B")
        axis = case.get("axis", -1)
        axis = a.ndim - b.ndim if axis == -1 else axis
        trimmed = list(b.shape)
        while trimmed and trimmed[-1] == 1:
            trimmed.pop()
        if axis < 0 or axis + len(trimmed) > a.ndim:
            raise ValueError("pdpd: axis")
        shape = [1] * axis + trimmed
        b = b.reshape(shape + [1] * (a.ndim - len(shape)))
        return [a, np.broadcast_to(b, a.shape)], {}
    if rules == "xla" and len(arrays) == 2 and arrays[0].ndim != arrays[1].ndim:
        low = 0 if arrays[0].ndim < arrays[1].ndim else 1
        lower_one, higher = arrays[low], arrays[1 - low]
        dims = case.get("broadcast_dimensions") or []
        if len(dims) != lower_one.ndim or sorted(set(dims)) != dims or any(not 0 <= d < higher.ndim for d in dims):
            raise ValueError("xla: broadcast_dimensions")
        inserted, middle = [1] * higher.ndim, list(higher.shape)
        for length, d in zip(lower_one.shape, dims):
            inserted[d] = middle[d] = length
        intermediate = np.broadcast_to(lower_one.reshape(inserted), middle)
        arrays = [intermediate, higher] if low == 0 else [higher, intermediate]
        return arrays, {"intermediate": intermediate}
    if rules == "theano":
        rank = max(a.ndim for a in arrays)
        flags = [[True] * (rank - a.ndim) + list(o.get("broadcastable", [False] * a.ndim))
                 for a, o in zip(arrays, case["operands"])]
        shapes = [[1] * (rank - a.ndim) + list(a.shape) for a in arrays]
        for k in range(rank):
            if any(f[k] and s[k] != 1 for f, s in zip(flags, shapes)):
                raise ValueError("theano: flag")
            if len({s[k] for f, s in zip(flags, shapes) if not f[k]}) > 1:
                raise ValueError("theano: lengths")
        return arrays, {"broadcastable": [all(f[k] for f in flags) for k in range(rank)]}
    return arrays, {}


def in_dim(array, target, dims):
    """XLA's BroadcastInDim: axis i of the array lies on axis dims[i] of the target."""
    if len(dims) != array.ndim or len(set(dims)) != len(dims) or any(not 0 <= d < len(target) for d in dims):
        raise ValueError("xla: broadcast_dimensions")
    placed = [1] * len(target)
    for length, d in zip(array.shape, dims):
        placed[d] = length
    return np.broadcast_to(array.transpose(np.argsort(dims, kind="stable")).reshape(placed), target)


# ---------------------------------------------------------------- exp log tanh power, correctly rounded

def rounded(value, dtype):
    """The mpmath number or Fraction as the nearest value of the dtype, ties to even, as a Python float."""
    bits, emin, emax = FORMATS[dtype]
    if isinstance(value, Fraction):
        sign, top, bottom = value < 0, abs(value.numerator), value.denominator
        scale = top.bit_length() - bottom.bit_length()
    else:
        sign, top, exponent, count = value._mpf_
        scale = exponent + count
        if abs(scale) > 20000:  # far beyond every dtype: do not build the integer
            return math.copysign(math.inf if scale > 0 else 0.0, -1 if sign else 1)
        top, bottom = int(top) << max(exponent, 0), 1 << max(-exponent, 0)
    if top == 0:
        return 0.0
    size = Fraction(top, bottom)
    if size < Fraction(2) ** (scale - 1):
        scale -= 1
    elif size >= Fraction(2) ** scale:
        scale += 1
    unit = max(scale - bits, emin)
    whole = round(size / Fraction(2) ** unit)  # Python rounds a Fraction half to even
    result = math.inf if whole * Fraction(2) ** unit >= Fraction(2) ** emax else math.ldexp(whole, unit)
    return -result if sign else result


def exp(x, dtype):
    if math.isnan(x) or math.isinf(x):
        return x if x != -math.inf else 0.0
    return rounded(mpmath.exp(mpmath.mpf(x)), dtype)


def log(x, dtype):
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0 or math.isinf(x):
        return -math.inf if x == 0 else math.inf
    return rounded(mpmath.log(mpmath.mpf(x)), dtype)


def tanh(x, dtype):
    if math.isnan(x) or x == 0:
        return x
    return math.copysign(1.0, x) if math.isinf(x) else rounded(mpmath.tanh(mpmath.mpf(x)), dtype)


def power(x, y, dtype):
    """pow of IEEE 754-2019, 9.2."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if math.isinf(y):
        if abs(x) == 1:
            return 1.0
        return math.inf if (abs(x) > 1) == (y > 0) else 0.0
    odd = y % 2 == 1
    sign = -1.0 if odd and math.copysign(1, x) < 0 else 1.0
    if x == 0 or math.isinf(x):
        return math.copysign(math.inf if (x == 0) == (y < 0) else 0.0, sign)
    if x < 0 and y != math.floor(y):
        return math.nan
    if y == math.floor(y) and abs(y) <= 64:  # exact, so that a tie is seen as a tie
        return math.copysign(rounded(Fraction(abs(x)) ** int(y), dtype), sign)
    return math.copysign(rounded(mpmath.power(mpmath.mpf(abs(x)), mpmath.mpf(y)), dtype), sign)


MPMATH = {"exp": exp, "log": log, "tanh": tanh, "power": power}


# ---------------------------------------------------------------- functions

def extremum(function, a, b):
    """NaN wins, as in NumPy; the sign of a zero, which NumPy leaves open, follows IEEE 754-2019."""
    result = np.array(function(a, b))
    if a.dtype.name in ("float64", "float32", "float16", "bfloat16"):
        a, b = np.broadcast_arrays(a, b)
        zeros = (a == 0) & (b == 0)
        minus = np.signbit(a) & np.signbit(b) if function is np.maximum else np.signbit(a) | np.signbit(b)
        result[zeros] = np.where(minus[zeros], -0.0, 0.0).astype(a.dtype)
    return result


EXACT = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "negate": np.negative,
    "abs": np.abs, "sqrt": np.sqrt, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_not": np.logical_not, "select": np.where,
    "maximum": lambda a, b: extremum(np.maximum, a, b), "minimum": lambda a, b: extremum(np.minimum, a, b),
}


def check_types(name, arguments):
    """Refuse requests in which NumPy would promote or coerce a dtype."""
    kinds = [NAMES[a.dtype] for a in arguments]
    if name == "select":
        condition, *kinds = kinds
        if condition != "bool":
            raise ValueError("select: the condition is not bool")
    if len(set(kinds)) > 1:
        raise ValueError(f"{name}: dtypes {kinds}")
    family = "float" if kinds[0] in FORMATS else "bool" if kinds[0] == "bool" else "integer"
    if name in ("divide", "power", "sqrt", "exp", "log", "tanh"):
        defined = family == "float"
    elif name.startswith("logical"):
        defined = family == "bool"
    else:
        defined = family != "bool" or name in ("equal", "not_equal", "select")
    if not defined:
        raise ValueError(f"{name} is not defined for {kinds[0]}")


def evaluate(expression, operands):
    """Function by function, each stored in its dtype before the next."""
    if isinstance(expression, str):
        return operands[expression]
    name, *arguments = expression
    arguments = [evaluate(e, operands) for e in arguments]
    check_types(name, arguments)
    if name in MPMATH:
        arguments = np.broadcast_arrays(*arguments)
        dtype = arguments[0].dtype
        flat = zip(*([float(v) for v in a.reshape(-1)] for a in arguments))
        values = [MPMATH[name](*point, NAMES[dtype]) for point in flat]
        return np.array(values, dtype=np.float64).astype(dtype).reshape(arguments[0].shape)
    result = np.asarray(EXACT[name](*arguments))
    expected = np.bool_ if name in MAKES_BOOL else arguments[-1].dtype
    if result.dtype != expected:
        raise AssertionError(f"{name} gave {result.dtype}")
    return result


MAKES_BOOL = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
              "logical_and", "logical_or", "logical_not"}


def answer_into(case):
    """The outcome of a request with a destination, which NumPy writes itself: with `out=` if the outermost function is a ufunc,
    otherwise by an assignment."""
    given = {o["name"]: o for o in case["operands"]}
    buffer = buffer_of(given[case["into"]])
    shared = [name for name, o in given.items() if "of" in o or name == case["into"]]
    operands = {name: array_over(o, buffer) if name in shared else array_of(o) for name, o in given.items()}
    destination = operands[case["into"]]
    name, arguments = case["expression"], []
    if not isinstance(name, str):
        name, *arguments = name
        arguments = [evaluate(e, operands) for e in arguments]
        check_types(name, arguments)
    with np.errstate(all="ignore"):
        if isinstance(EXACT.get(name), np.ufunc):
            try:
                EXACT[name](*arguments, out=destination, casting="equiv")
            except TypeError as error:
                raise ValueError(f"into: {error}") from error
        else:
            result = evaluate(case["expression"], operands)
            if result.dtype != destination.dtype or np.broadcast_shapes(result.shape, destination.shape) != destination.shape:
                raise ValueError("into: another dtype, or a smaller destination")
            destination[...] = result
    if np.broadcast_shapes(*(a.shape for a in operands.values())) != destination.shape:  # of all operands, used or not
        raise ValueError("into: a smaller destination")
    return {"dtype": NAMES[destination.dtype], "shape": list(destination.shape), "values": spelled(destination)}


def answer(case, rules):
    """The outcome: a dict as in a case's `result`, with arrays for values; ValueError if the request is refused."""
    if "into" in case:
        return answer_into(case)
    arrays = [array_of(o) for o in case["operands"]]
    with np.errstate(all="ignore"):
        if case.get("operation", "elementwise") == "broadcast":
            target = tuple(case["target_shape"])
            if rules == "numpy":
                result, extra = np.broadcast_to(arrays[0], target), {}
            elif rules == "xla":
                result, extra = in_dim(arrays[0], target, list(case.get("broadcast_dimensions") or [])), {}
            else:
                result, extra = np.broadcast_arrays(arrays[0], np.ones(target, arrays[0].dtype))[0], {}
        else:
            arrays, extra = lower(case, rules, arrays)
            common = np.broadcast_shapes(*(a.shape for a in arrays))  # of all operands, used or not
            operands = {o["name"]: a for o, a in zip(case["operands"], arrays)}
            result = np.broadcast_to(evaluate(case["expression"], operands), common)
    outcome = {"dtype": NAMES[result.dtype], "shape": list(result.shape), "values": spelled(result)}
    if "intermediate" in extra:
        middle = extra["intermediate"]
        outcome["intermediate"] = {"shape": list(middle.shape), "values": spelled(middle)}
    if "broadcastable" in extra:
        outcome["broadcastable"] = extra["broadcastable"]
    return outcome


# ---------------------------------------------------------------- spelling

def spell(value):
    """One value as in a case file: YAML 1.1 and 1.2 read it alike, and it denotes exactly this number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0"
    if value == math.floor(value) and abs(value) <= 2**53:
        return str(int(value))
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    return f"{digits if '.' in digits else digits + '.0'}e{int(exponent):+d}"


def spelled(array):
    kind = NAMES[array.dtype]
    to = float if kind in FORMATS else bool if kind == "bool" else int
    return [spell(to(v)) for v in array.reshape(-1)]


def flow(item):
    """An outcome in YAML's flow style."""
    if isinstance(item, dict):
        return "{" + ", ".join(f"{k}: {flow(v)}" for k, v in item.items()) + "}"
    if isinstance(item, list):
        return "[" + ", ".join(flow(v) for v in item) + "]"
    return item if isinstance(item, str) else spell(item)


def canonical(values, dtype, zero_sign):
    """Values of a file, spelled as ours are, so that equal bits (and any two NaN) are equal strings."""
    to = float if dtype in FORMATS else bool if dtype == "bool" else int
    texts = [spell(to(v)) for v in values]
    return [t.replace("-0.0", "0") if zero_sign == "any" and t == "-0.0" else t for t in texts]


def differences(outcome, result):
    """What differs between NumPy's outcome and the case's result."""
    anysign = result.get("zero_sign")
    for key in ("dtype", "shape", "broadcastable"):
        if key in result and outcome.get(key) != result[key]:
            yield f"{key}: asked {outcome.get(key)}, the case says {result[key]}"
    pairs = [("values", outcome["values"], result["values"])]
    if "intermediate" in result:
        ours, theirs = outcome.get("intermediate") or {}, result["intermediate"]
        if ours.get("shape") != theirs["shape"]:
            yield f"intermediate shape: asked {ours.get('shape')}, the case says {theirs['shape']}"
        pairs.append(("intermediate values", ours.get("values", []), theirs["values"]))
    for what, ours, theirs in pairs:
        dtype = outcome["dtype"] if what == "values" else None
        theirs = canonical(theirs, dtype or infer(theirs), anysign)
        ours = ["0" if anysign == "any" and t == "-0.0" else t for t in ours]
        if ours != theirs:
            yield f"{what}: asked [{', '.join(ours)}], the case says [{', '.join(theirs)}]"


def infer(values):
    """The dtype family of an intermediate, which has no dtype field."""
    return "bool" if any(isinstance(v, bool) for v in values) else \
        "f64" if any(isinstance(v, float) for v in values) else "i64"


# ---------------------------------------------------------------- files

def process(path, write):
    """Fill and verify one file; returns how many cases were filled, verified, and what went wrong."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    document = YAML(typ="safe", pure=True).load(text)
    filled = verified = 0
    wrong = []
    for case in document.get("cases") or []:
        ask = case.get("result") == "ask"
        asked_here = re.match(r"system: (NumPy|mpmath)\b", str(case["origin"]))
        if case.get("operation") == "gradient" or not (ask or asked_here):
            continue
        try:
            outcome = answer(case, case.get("rules", document.get("rules")))
        except ValueError as error:
            outcome = None
            if "result" in case:
                wrong.append(f"{case['id']}: refused: {error}")
                continue
        except (AssertionError, KeyError, TypeError) as error:
            wrong.append(f"{case['id']}: {type(error).__name__}: {error}")
            continue
        if "refusal" in case:
            if outcome is not None:
                wrong.append(f"{case['id']}: not refused: {flow(outcome)}")
        elif ask and write:
            pattern = rf"(?ms)(^ *- id: {re.escape(case['id'])} *$(?:(?!^ *- id:).)*?^ *result: )ask(?= *(?:#[^\n]*)?$)"
            text, count = re.subn(pattern, lambda m: m.group(1) + flow(outcome), text)
            if count != 1:
                wrong.append(f"{case['id']}: `result: ask` occurs {count} times after its `- id:` line")
            filled += count
        elif ask:
            wrong.append(f"{case['id']}: not filled; run with --write")
        else:
            wrong += [f"{case['id']}: {d}" for d in differences(outcome, case["result"])]
        verified += 1
    if filled:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return filled, verified - filled, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace each `result: ask` by the answer")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    mpmath.mp.prec = 1200  # far beyond any near-tie of the cases, and wide enough to reduce exp's largest argument
    failed = False
    for path in arguments.files:
        filled, verified, wrong = process(path, arguments.write)
        print(f"{path}: {filled} filled, {verified} verified, {len(wrong)} wrong")
        for line in wrong:
            print(f"  {line}")
        failed |= bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
