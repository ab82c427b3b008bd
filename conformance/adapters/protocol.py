"""broadcheck's protocol for adapters: everything that is the same for every system.

An adapter imports this module before anything else, describes its system with a class, and ends with `serve(...)`:

    import protocol
    import thesystem

    class TheSystem:
        name, version = "thesystem", thesystem.__version__
        rules = ["numpy"]
        operations = ["elementwise"]
        functions = ["add", "multiply"]
        dtypes = ["f64", "f32"]

        def run(self, request):
            arrays = {o.name: thesystem.array(o.dense()) for o in request.operands}
            with protocol.refusals(thesystem.ShapeError):
                return protocol.evaluate(request.expression, arrays, {"add": thesystem.add, ...}).to_numpy()

    protocol.serve(TheSystem())

`run` returns a NumPy array or a `Result`. Inside `refusals`, and only there, an exception that the system raises because
the operands are incompatible becomes a refusal. Any other exception is reported as an error of the adapter or the system.
Nothing here computes a rule: an adapter passes a request to its system unchanged, or raises `Skipped`.

A system that infers shapes before a run has the operation `infer`, a method `infer(self, signature)`, which returns an
`Inferred`, and a list `unknown` of what it can be told of a shape: `length`, `bound`, `interval`, `rank`.

A system that builds something before a run has the operation `declared`. A request may then have a `signature`: everything that is
known while the system builds. `Kept` caches what was built, for later requests with the same signature.

A system that builds something before a run may have the operation `constants`: an operand with `constant` is then a constant of what it
builds, and not a parameter. With the operation `same`, two operands may be one array: `Request.arrays` makes it once.

A system that compiles may have a `batch`, the number of requests that it takes at once, and a method `run_many(self, requests)`. It
returns what `run` does for each, or in its place the `Refused` or `Skipped` that `run` would raise. `Batched` has the `run` of a system
that only compiles batches.

A system with a switch for its optimiser has `optimiser`, the position that the adapter chooses: "off" or "on". If the runner asks for a
position, it is set before the first request.

With the argument `--program` an adapter answers no requests: it reads one, and prints it as a program of its system's. It then has a method
`program(self, request)`; `programs.py` writes most of it.
"""
import collections
import contextlib
import json
import math
import os
import re
import sys

# Standard output is for answers. What a library prints there goes to standard error, from its first import on.
_ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

import numpy as np  # noqa: E402

VERSION = 1
# A larger result is skipped before it is allocated.
MAX_ELEMENTS = 1 << 28

# Operands are passed as NumPy arrays, which have at most this many axes: 32 before NumPy 2.
NUMPY_RANK = 64 if int(np.__version__.split(".")[0]) >= 2 else 32

# What a system may declare in addition: conformance/PROTOCOL.md explains each field.
OPTIONAL_FIELDS = (
    "function_dtypes", "rule_operations", "rule_functions", "ordered_operands", "min_rank", "max_rank", "equal_ranks",
    "scalars", "max_operands", "max_calls", "unused_operands", "negative_strides", "max_elements", "large_sizes",
    "flushed_subnormals", "conventions", "window", "batch", "unknown", "declared_unknown", "static_flags", "optimiser",
)

_DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
}
INTEGERS = ["i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"]
FUNCTIONS = (
    "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or negate abs sqrt exp log tanh logical_not select"
).split()

UNARY = ["negate", "abs", "sqrt", "exp", "log", "tanh", "logical_not"]
# How many arguments each function has.
ARGUMENTS = {function: 1 if function in UNARY else 3 if function == "select" else 2 for function in FUNCTIONS}


class Refused(Exception):
    """The system says that the request is invalid; `kind`, `axis` and `operand` if it says so itself."""

    def __init__(self, message, kind=None, axis=None, operand=None):
        super().__init__(message)
        self.fields = {"message": message, "kind": kind, "axis": axis, "operand": operand}


class Skipped(Exception):
    """The request cannot be expressed in the system."""


class Result:
    """An answer: the array, and what is reported with it (xla: the intermediate; theano: the flags; with a destination: its
    buffer after the write)."""

    def __init__(self, array, intermediate=None, broadcastable=None, buffer=None):
        self.array = np.asarray(array)
        self.intermediate = intermediate
        self.broadcastable = broadcastable
        self.buffer = buffer


def dtype(name):
    """The NumPy dtype of this name. bfloat16 comes from ml_dtypes, which the system's requirements must then include."""
    if name == "bf16":
        import ml_dtypes
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(_DTYPES[name])


def dtype_name(array):
    """The protocol's name for an array's dtype."""
    if array.dtype.name == "bfloat16":
        return "bf16"
    for name, known in _DTYPES.items():
        if array.dtype == known:
            return name
    raise TypeError(f"the system answered with the dtype {array.dtype}, for which the protocol has no name")


class Operand:
    """An operand of a request."""

    def __init__(self, fields):
        self.name = fields["name"]
        self.dtype = fields["dtype"]
        self.shape = tuple(map(int, fields["shape"]))
        self.broadcastable = fields.get("broadcastable")
        # The name of the destination, if the operand reads its buffer.
        self.of = fields.get("of")
        self.constant = bool(fields.get("constant"))
        # The name of an operand before this one: both are the same array.
        self.same = fields.get("same")
        self._values = fields.get("values")
        self._strides = _integers(fields.get("strides"))
        self._offset = int(fields.get("offset", 0))

    def array(self):
        """The operand as a NumPy array; a view stays one."""
        return self.over(self.buffer())

    def buffer(self):
        """The values as a new NumPy array of one axis."""
        buffer = np.array([_number(v) for v in self._values], dtype=np.float64) if self.dtype in ("f64", "f32", "f16", "bf16") \
            else np.array([v if isinstance(v, bool) else int(v) for v in self._values], dtype=dtype(self.dtype))
        return buffer.astype(dtype(self.dtype), copy=False)

    def layout(self):
        """The strides and the offset in the buffer, in elements. Of an axis of length 1, whose stride is never used, it is 0."""
        strides = self._strides
        if strides is None:
            strides = [math.prod(self.shape[axis + 1:]) for axis in range(len(self.shape))]
        return [0 if length == 1 else stride for length, stride in zip(self.shape, strides)], self._offset

    def over(self, buffer, writeable=False):
        """The operand as an array that reads this buffer, and perhaps writes to it."""
        if self._strides is None and not self._offset:
            return buffer.reshape(self.shape)
        if 0 in self.shape:
            # Nothing is read, and NumPy rejects some strides over an empty buffer.
            return np.empty(self.shape, buffer.dtype)
        strides, offset = self.layout()
        strides = [stride * buffer.itemsize for stride in strides]
        return np.lib.stride_tricks.as_strided(buffer[offset:], self.shape, strides, writeable=writeable)

    def view(self):
        """The operand as a NumPy array, for a system that takes those; a view stays one."""
        limit(self.shape)
        try:
            return self.array()
        except ValueError as error:
            raise Skipped(f"NumPy cannot create the operand, which is passed as a NumPy array: {error}") from error

    def dense(self):
        """The operand as a new contiguous NumPy array, for a system that takes those."""
        return np.array(self.view(), order="C")


class Request:
    """A request. The fields are those of the protocol, None if absent."""

    def __init__(self, fields):
        self.rules = fields["rules"]
        self.operation = fields.get("operation", "elementwise")
        self.expression = fields.get("expression")
        self.operands = [Operand(operand) for operand in fields["operands"]]
        self.wrt = fields.get("wrt")
        self.cotangent = fields.get("cotangent")
        self.into = fields.get("into")
        self.target_shape = _integers(fields.get("target_shape"))
        self.axis = fields.get("axis") and int(fields["axis"])
        self.broadcast_dimensions = _integers(fields.get("broadcast_dimensions"))
        # What is known before the run; None if that is everything.
        self.signature = Signature(_told(fields)) if _is_declared(fields) else None

    def arrays(self, convert, apart=None):
        """What `convert` makes of each operand, by name. Operands that are the same array have one object, and `convert` is called
        once. A system that would then take them for one variable passes `apart`, which makes another variable over the same memory for a
        gradient."""
        made = {}
        for operand in self.operands:
            if operand.same is None:
                made[operand.name] = convert(operand)
            else:
                first = made[operand.same]
                made[operand.name] = apart(first) if apart and self.operation == "gradient" else first
        return made

    def constants(self):
        """The names of the operands that are constants."""
        return {operand.name for operand in self.operands if operand.constant}

    def target(self):
        """An array of the target shape: a system that does not know a target before the run takes the shape of an input."""
        limit(self.target_shape)
        return np.zeros(self.target_shape, dtype=np.bool_)

    def destination(self):
        """The operand into which the result is written."""
        return next(operand for operand in self.operands if operand.name == self.into)

    def in_place(self):
        """With a destination: the operands as arrays by name, of which some read the destination's buffer, and that buffer."""
        destination = self.destination()
        buffer = destination.buffer()
        arrays = {operand.name: operand.over(buffer) if operand.of else operand.array() for operand in self.operands}
        arrays[self.into] = destination.over(buffer, writeable=True)
        return arrays, buffer

    def unused(self):
        """The names of the operands that the expression does not use; a broadcast has no expression."""
        used = leaves(self.expression) if self.expression is not None else {operand.name for operand in self.operands}
        return [operand.name for operand in self.operands if operand.name not in used
                and operand.name not in (self.cotangent, self.into)]


class Length(collections.namedtuple("Length", "min max")):
    """What is known of a length before the run. `max` is None if it has no upper bound."""

    @property
    def number(self):
        """The length if it is known, else None."""
        return self.min if self.min == self.max else None


class OperandType:
    """An operand before the run. `shape` is a list of `Length`, or None if the rank is unknown."""

    constant = False

    def __init__(self, fields):
        self.name = fields["name"]
        self.dtype = fields["dtype"]
        self.shape = _partial_shape(fields["shape"])
        self.broadcastable = fields.get("broadcastable")


class Signature:
    """A request before the run, for `infer` and as a request's `signature`. It has an `expression`, or else a `target_shape` like an
    operand's `shape`."""

    def __init__(self, fields):
        self.rules = fields["rules"]
        self.operation = fields.get("operation", "elementwise")
        self.wrt = fields.get("wrt")
        self.cotangent = fields.get("cotangent")
        self.expression = fields.get("expression")
        self.operands = [OperandType(operand) for operand in fields["operands"]]
        self.target_shape = None if self.expression is not None else _partial_shape(fields["target_shape"])
        self.axis = fields.get("axis") and int(fields["axis"])
        self.broadcast_dimensions = _integers(fields.get("broadcast_dimensions"))

    def key(self):
        """Equal for equal signatures."""
        operands = [(o.name, o.dtype, o.shape, o.broadcastable) for o in self.operands]
        return repr((self.rules, self.operation, self.wrt, self.cotangent, self.expression, self.target_shape, self.axis,
                     self.broadcast_dimensions, operands))


class Kept:
    """A cache of what `build` makes of a signature or a request. It has at most `most` entries: the least recently used one is
    dropped. A failure to build is not cached."""

    def __init__(self, most, build):
        self.most, self.build, self.made = most, build, collections.OrderedDict()

    def get(self, key, source):
        """What was built for this key; `source` is the signature or request to build it from."""
        if key not in self.made:
            self.made[key] = self.build(source)
        self.made.move_to_end(key)
        if len(self.made) > self.most:
            self.made.popitem(last=False)
        return self.made[key]


class Inferred:
    """What a system infers: a dtype (NumPy's dtype or its name, or the protocol's name), and a shape: None if the rank is
    unknown, else a list in which a length is a number, None if it is unknown, or a `Length`. `broadcastable` as in `Result`."""

    def __init__(self, dtype, shape, broadcastable=None):
        self.dtype, self.shape, self.broadcastable = dtype, shape, broadcastable

    def fields(self):
        """The answer as the protocol writes it."""
        known = isinstance(self.dtype, str) and (self.dtype in _DTYPES or self.dtype == "bf16")
        name = self.dtype if known else dtype_name(np.empty(0, self.dtype))
        fields = {"dtype": name, "shape": "..." if self.shape is None else [_written(length) for length in self.shape]}
        if self.broadcastable is not None:
            fields["broadcastable"] = [bool(flag) for flag in self.broadcastable]
        return fields


class Batched:
    """A system that answers one request as a batch of one."""

    def run(self, request):
        answer = self.run_many([request])[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def numbers(shape):
    """The shape as most systems take it: None for a length that is not known; None if the rank is unknown."""
    return None if shape is None else [length.number for length in shape]


def leaves(expression):
    """The names of the operands in an expression."""
    if isinstance(expression, str):
        return {expression}
    return set().union(*map(leaves, expression[1:]))


def evaluate(expression, operands, functions):
    """Evaluates the expression, function by function, with the system's functions on the system's arrays."""
    if isinstance(expression, str):
        return operands[expression]
    name, *arguments = expression
    return functions[name](*(evaluate(argument, operands, functions) for argument in arguments))


def limit(shape):
    """Skips a shape that is too large to allocate. A length of 0 does not help: some systems allocate for the other lengths."""
    if math.prod(shape) > MAX_ELEMENTS:
        raise Skipped(f"a shape {tuple(shape)} has more than {MAX_ELEMENTS} elements")


@contextlib.contextmanager
def refusals(*exceptions, kinds=(), lacks=None, unless=None):
    """Treats exceptions of these classes as refusals by the system, depending on their messages:

    `kinds`: pairs of a regular expression and the kind of refusal that such a message means;
    `lacks`: a regular expression for messages that the system has no code for the dtypes; these are skipped;
    `unless`: a regular expression for messages that the system itself failed; these are errors.
    """
    try:
        yield
    except exceptions as error:
        message = shortened(error)
        if lacks and re.search(lacks, message):
            raise Skipped(message) from error
        if unless and re.search(unless, message):
            raise
        raise Refused(message, next((kind for words, kind in kinds if re.search(words, message)), None)) from error


def shortened(error):
    """An exception as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:600]


def _integers(field):
    """A list of integers, in which large ones are strings; None if the field is absent."""
    return None if field is None else [int(value) for value in field]


def _partial_shape(field):
    return None if field == "..." else [_length(length) for length in field]


def _is_declared(fields):
    return "declared_target_shape" in fields or any("declared" in operand for operand in fields["operands"])


def _told(fields):
    """The fields of a request as those of a signature: the declared shapes in place of the shapes."""
    operands = [{**operand, "shape": operand.get("declared", operand["shape"])} for operand in fields["operands"]]
    target = fields.get("declared_target_shape", fields.get("target_shape"))
    return {**fields, "operands": operands, "target_shape": target}


def _length(field):
    """A number, `?`, or an object with bounds."""
    if isinstance(field, dict):
        return Length(int(field.get("min", 0)), None if field.get("max") is None else int(field["max"]))
    return Length(0, None) if field == "?" else Length(int(field), int(field))


def _written(length):
    """A length of an answer as the protocol writes it."""
    if length is None:
        return "?"
    if not isinstance(length, Length):
        return int(length)
    return {"min": length.min} if length.max is None else {"min": length.min, "max": length.max}


def _number(value):
    return float(value) if isinstance(value, str) else value


def values(array):
    """The elements, row-major, as the protocol writes them."""
    if array.dtype.kind in "biu":
        return array.ravel().tolist()
    wide = array.astype(np.float64).ravel()
    if np.isfinite(wide).all():
        return wide.tolist()
    return [v if math.isfinite(v) else "nan" if math.isnan(v) else "inf" if v > 0 else "-inf" for v in wide.tolist()]


def _together(system, requests):
    """The answers to a batch. `run_many` of the system returns what `run` returns for each of several requests. What it cannot build
    together is asked again by the runner, in smaller batches."""
    try:
        results = system.run_many([Request(one["request"]) for one in requests])
    except Exception as error:  # any failure is that of one of the requests
        return {"unbatched": {"message": shortened(error)}}
    answers = [_answer(system, one["request"], lambda _, result=result: result) for one, result in zip(requests, results)]
    return {"answers": [{"seq": one["seq"], **answer} for one, answer in zip(requests, answers)]}


def _answer(system, request, run=None):
    try:
        if request.get("operation") == "infer":
            return {"inferred": system.infer(Signature(request)).fields()}
        result = (run or system.run)(Request(request))
        if isinstance(result, Exception):
            raise result
        if not isinstance(result, Result):
            result = Result(result)
        limit(result.array.shape)
        answer = {"dtype": dtype_name(result.array), "shape": list(result.array.shape), "values": values(result.array)}
        if result.intermediate is not None:
            answer["intermediate"] = {"shape": list(result.intermediate.shape), "values": values(result.intermediate)}
        if result.broadcastable is not None:
            answer["broadcastable"] = [bool(flag) for flag in result.broadcastable]
        if result.buffer is not None:
            answer["buffer"] = values(result.buffer)
        return {"result": answer}
    except Refused as refused:
        return {"refusal": {key: value for key, value in refused.fields.items() if value is not None}}
    except Skipped as skipped:
        return {"skipped": {"reason": str(skipped)}}
    except Exception as error:  # any failure is the answer to this one request
        return {"errored": {"message": shortened(error)}}


def _declaration(system):
    fields = ["name", "version", "rules", "operations", "functions", "dtypes"]
    fields += [field for field in OPTIONAL_FIELDS if hasattr(system, field)]
    declared = {"language": "python", "max_rank": NUMPY_RANK, **{field: getattr(system, field) for field in fields}}
    return {"version": VERSION, "implementation": declared if _has_bfloat16() else _without(declared, "bf16")}


def _has_bfloat16():
    """Beside older releases, which `broadcheck history` installs, there may be no ml_dtypes that fits."""
    try:
        return dtype("bf16") is not None
    except (ImportError, AttributeError):
        return False


def _without(declared, dtype):
    """The declaration of a system that lacks a dtype."""
    def rest(names):
        return [name for name in names if name != dtype]
    declared = {**declared, "dtypes": rest(declared["dtypes"])}
    if "flushed_subnormals" in declared:
        declared["flushed_subnormals"] = rest(declared["flushed_subnormals"])
    if "function_dtypes" in declared:
        declared["function_dtypes"] = {name: rest(names) for name, names in declared["function_dtypes"].items()}
    return declared


def serve(system):
    """Answers requests until there are no more; with the argument `--program`, writes one as a program."""
    np.seterr(all="ignore")
    if sys.argv[1:] == ["--program"]:
        import programs
        sys.exit(programs.print_program(system, sys.stdin, _ANSWERS))
    for line in sys.stdin:
        message = json.loads(line)
        if message["cmd"] == "stop":
            break
        if message["cmd"] == "start":
            if "optimiser" in message and hasattr(system, "optimiser"):
                system.optimiser = message["optimiser"]
            answer = _declaration(system)
        elif message["cmd"] == "batch":
            answer = _together(system, message["requests"])
        else:
            answer = {"seq": message["seq"], **_answer(system, message["request"])}
        print(json.dumps(answer, allow_nan=False), file=_ANSWERS, flush=True)
