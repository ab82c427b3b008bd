"""tinygrad: its functions under the rule set `numpy`, `expand`, and gradients with `gradient`. Each request is built, scheduled and run on
the device PYTHON, which executes tinygrad's own micro-operations and needs no compiler."""
import importlib.metadata
import operator
import os

import protocol

VERSION = importlib.metadata.version("tinygrad")
# Read when tinygrad is imported: the device, and no cache in the user's home. Before 0.11, which reads DEV, a variable for each device
# was read.
DEVICE = {"DEV": "PYTHON"} if [int(part) for part in VERSION.split(".")[:2]] >= [0, 11] else {"PYTHON": "1"}
os.environ.update({**DEVICE, "CACHELEVEL": "0"})
from programs import NAMES_OF_NUMPY, PRINTED, Unwritable, Writer, dense_arrays  # noqa: E402
from tinygrad import Tensor, dtypes  # noqa: E402

# The protocol's names that are not those of tinygrad's methods or operators.
METHODS = {"subtract": "sub", "multiply": "mul", "divide": "div", "power": "pow", "negate": "neg", "equal": "eq", "not_equal": "ne",
           "select": "where"}
OPERATORS = {"less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
             "logical_and": operator.and_, "logical_or": operator.or_}
FUNCTIONS = {name: OPERATORS.get(name) or getattr(Tensor, METHODS.get(name, name)) for name in protocol.FUNCTIONS}
# The same as text.
SIGNS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "logical_and": "&", "logical_or": "|"}
TYPES = {
    "f64": dtypes.float64, "f32": dtypes.float32, "f16": dtypes.float16, "bf16": dtypes.bfloat16, "i64": dtypes.int64, "i32": dtypes.int32,
    "i16": dtypes.int16, "i8": dtypes.int8, "u64": dtypes.uint64, "u32": dtypes.uint32, "u16": dtypes.uint16, "u8": dtypes.uint8,
    "bool": dtypes.bool,
}
# What `expand` says does not depend on which of rank and length is wrong.
KINDS = [(r"cannot be broadcast to a single shape", "dimension_mismatch")]
# How tinygrad refuses operands. Any other exception is a failure, also while it runs what it built.
REFUSES = r"broadcast|size mismatch|only float Tensors have gradient|cond must be bool"


def tensor(operand):
    """NumPy has no bfloat16 of its own; every one is an f32, too."""
    array = operand.dense()
    return Tensor(array.astype("f4") if operand.dtype == "bf16" else array).cast(TYPES[operand.dtype])


def array(result):
    """A scalar is a constant without a device, and so is what is computed of scalars alone: tinygrad would copy it to the CPU, for which it
    needs a compiler."""
    if result.device is None:
        result = result.clone(device="PYTHON")
    if result.dtype == dtypes.bfloat16:
        return result.cast(dtypes.float32).numpy().astype(protocol.dtype("bf16"))
    return result.numpy()


def result(request, tensors):
    if request.target_shape is not None:
        return tensors[request.operands[0].name].expand(request.target_shape)
    return protocol.evaluate(request.expression, tensors, FUNCTIONS)


def gradient(request, tensors):
    output = result(request, tensors)
    if request.cotangent is None:
        output = output.sum()
    return output.gradient(tensors[request.wrt], gradient=tensors.get(request.cotangent))[0]


def call_of(function):
    """A call as text: of a method of the first argument, or of an operator."""
    if function in SIGNS:
        return f"({{0}} {SIGNS[function]} {{1}})"
    others = ", ".join(f"{{{place}}}" for place in range(1, protocol.ARGUMENTS[function]))
    return f"{{0}}.{METHODS.get(function, function)}({others})"


class TinygradWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import os", f"os.environ.update({DEVICE}, CACHELEVEL='0')", "import numpy as np", "from tinygrad import Tensor, dtypes"],
            {name: call_of(name) for name in protocol.FUNCTIONS}, {**NAMES_OF_NUMPY, "bool": "bool"},
            broadcast="{operand}.expand({shape})", gradient="{call}.sum().gradient({wrt})[0]",
            vjp="{call}.gradient({wrt}, gradient={cotangent})[0]", same="{0}.clone()",
            printed='result = (result if result.device else result.clone(device="PYTHON")).numpy()\n' + PRINTED,
            **dense_arrays("Tensor({array}).cast(dtypes.{dtype})", "np."),
        )

    def gradient(self, request, names):
        """Of the tensor itself, and not of a function."""
        lines, text = self.value(request, names)
        form = self.forms["gradient" if request.cotangent is None else "vjp"]
        return [*lines, "result = " + form.format(call=text, wrt=names[request.wrt], cotangent=names.get(request.cotangent))]


class Tinygrad:
    name, version = "tinygrad", VERSION
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", *(["gradient", "cotangent"] if hasattr(Tensor, "gradient") else []), "same"]
    functions = protocol.FUNCTIONS
    dtypes = list(TYPES)
    # `&` and `|` are those of bits; a power of tensors of integers does not run.
    function_dtypes = {"logical_and": ["bool"], "logical_or": ["bool"], "power": ["f64", "f32", "f16", "bf16"]}
    unused_operands = False  # a function takes none
    # 65,537 elements took more than a minute on a busy machine.
    max_elements = 1 << 15
    large_sizes = False

    def run(self, request):
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        # A gradient is that of one tensor, wherever it is used.
        tensors = request.arrays(tensor, apart=lambda first: first.clone())
        with protocol.refusals(IndexError, ValueError, RuntimeError, kinds=KINDS, unless=f"^(?!.*({REFUSES}))"):
            return array(gradient(request, tensors) if request.operation == "gradient" else result(request, tensors))

    def program(self, request):
        if any(operand.dtype == "bf16" for operand in request.operands):
            raise Unwritable("NumPy, of whose arrays the tensors are made, has no bf16")
        return TinygradWriter().write(request)


protocol.serve(Tinygrad())
