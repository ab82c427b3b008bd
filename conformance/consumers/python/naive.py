"""A small array library, written for clarity, with NumPy's names. It follows the rule set `numpy`.

BUG=1, 2 or 3 in the environment plants a bug, to show that the cases find it.
"""
import ctypes, math, operator, os

BUG = os.environ.get("BUG")
MAX_COUNT = 2**63 - 1
MAX_COMPUTED = 2**24
INTEGERS = {f"{kind}{bits}": (kind == "int", bits) for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
bool_, float64, float32 = "bool", "float64", "float32"
globals().update({name: name for name in INTEGERS})


class Refused(ValueError):
    def __init__(self, kind, **fields):
        super().__init__(f"{kind} {fields or ''}")
        self.kind = kind
        self.__dict__.update(fields)


def rounded(dtype, value):
    """The value in the dtype: a float rounded once, an integer modulo 2^bits."""
    if dtype == float32:
        return ctypes.c_float(value).value
    if dtype not in INTEGERS:
        return value
    signed, bits = INTEGERS[dtype]
    value %= 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


class ndarray:
    itemsize = 1  # strides and offsets are counted in elements

    def __init__(self, shape, dtype, buffer, offset=0, strides=None):
        self.shape, self.dtype, self.offset = tuple(shape), dtype.strip("_"), offset
        if math.prod(n for n in shape if n) > MAX_COUNT:
            raise Refused("too_large")
        self.buffer = buffer if isinstance(buffer, list) else buffer.buffer
        self.strides = [math.prod(shape[k + 1:]) for k in range(len(shape))] if strides is None else strides

    def ravel(self):
        """A dense copy, in row-major order."""
        if 0 in self.shape:
            return array([], self.dtype)
        if math.prod(self.shape) > MAX_COMPUTED:
            raise MemoryError(f"more elements than this library computes: {self.shape}")
        places = [0 if BUG == "2" else self.offset]  # with the bug, every view begins where its buffer does
        for length, stride in zip(self.shape, self.strides):
            places = [place + i * stride for place in places for i in range(length)]
        return array([self.buffer[place] for place in places], self.dtype)

    def tolist(self):
        return self.buffer


def array(values, dtype):
    return ndarray([len(values)], dtype, list(values))


def broadcast_to(a, shape):
    """A view of `a` with the shape: axes are aligned at the right, and those of length 1 get the stride 0."""
    missing = len(shape) - len(a.shape)
    if missing < 0:
        raise Refused("rank_mismatch")
    for axis, length in enumerate(a.shape, missing):
        if length not in (1, shape[axis]):
            raise Refused("dimension_mismatch", axis=axis)
    strides = [0] * missing + [0 if n == 1 else stride for n, stride in zip(a.shape, a.strides)]
    return ndarray(shape, a.dtype, a.buffer, a.offset, strides)


def common_shape(shapes):
    """On each axis, the one length other than 1."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for axis, lengths in enumerate(zip(*padded)):
        others = set(lengths) - {1}
        if len(others) > 1:
            raise Refused("dimension_mismatch", axis=axis)
        # With the bug, the greatest length wins, which is wrong for 1 and 0.
        result.append(max(lengths) if BUG == "1" else others.pop() if others else 1)
    return result


def elementwise(name, function, takes, returns=None):
    """A function of arrays, from one of numbers. `takes` are the kinds of dtypes: b, i, f."""
    def apply(*arrays):
        typed = arrays[1:] if name == "select" else arrays
        dtype = typed[0].dtype
        if any(a.dtype != dtype for a in typed) or (name == "select" and arrays[0].dtype != "bool"):
            raise Refused("dtype_mismatch")
        if (dtype[0] if dtype[0] != "u" else "i") not in takes:
            raise Refused("unsupported_function")
        shape = common_shape([a.shape for a in arrays])
        columns = [broadcast_to(a, shape).ravel().tolist() for a in arrays]
        dtype = returns or dtype
        return ndarray(shape, dtype, [rounded(dtype, function(*row)) for row in zip(*columns)])
    globals()[name] = apply


def divide_floats(x, y):
    if y:
        return x / y
    return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)


def larger(x, y):
    if BUG == "3":
        return max(x, y)  # drops a NaN in y
    return x if x != x or x > y or (x == y and math.copysign(1, x) > 0) else y


def or_else(function, overflow):
    """Python raises where IEEE 754 has an infinity or a NaN."""
    def total(*arguments):
        try:
            return function(*arguments)
        except OverflowError:
            return overflow(*arguments)
        except ValueError:
            return math.nan
    return total


def huge_power(x, y):
    return -math.inf if x < 0 and y % 2 == 1 else math.inf


def power_floats(x, y):
    if x == 0 and y < 0:
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    return or_else(math.pow, huge_power)(x, y)


def logarithm(x):
    return -math.inf if x == 0 else or_else(math.log, None)(x)


for name in "add", "subtract", "multiply":
    elementwise(name, getattr(operator, name[:3] if name != "multiply" else "mul"), "if")
elementwise("maximum", larger, "if")
elementwise("minimum", lambda x, y: -larger(-x, -y), "if")
elementwise("negative", operator.neg, "if")
elementwise("abs", abs, "if")
elementwise("divide", divide_floats, "f")
elementwise("power", power_floats, "f")
elementwise("sqrt", or_else(math.sqrt, None), "f")
elementwise("exp", or_else(math.exp, lambda x: math.inf), "f")
elementwise("log", logarithm, "f")
elementwise("tanh", math.tanh, "f")
for name, test in {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}.items():
    elementwise(name, getattr(operator, test), "if", "bool")
elementwise("equal", operator.eq, "bif", "bool")
elementwise("not_equal", operator.ne, "bif", "bool")
elementwise("logical_and", lambda x, y: x and y, "b")
elementwise("logical_or", lambda x, y: x or y, "b")
elementwise("logical_not", operator.not_, "b")
elementwise("select", lambda c, x, y: x if c else y, "bif")
where = select
