"""Blosc2: lazy expressions of its functions on compressed arrays, evaluated whole, under the rule set `numpy`, and `broadcast_to`. Older
releases, which `broadcheck history` installs, have operators in place of some functions and lack others."""
import operator

import protocol
import blosc2
import numpy as np
from numpy_interface import skip_large
from programs import PRINTED, Writer, dense_arrays, dtypes

blosc2.set_nthreads(1)
# The protocol's names that are not Blosc2's.
NAMES = {"power": "pow", "negate": "negative", "select": "where"}
# The operators, which the functions of these names call.
OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv, "power": operator.pow,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "negate": operator.neg,
}
FOUND = {name: getattr(blosc2, NAMES.get(name, name), OPERATORS.get(name)) for name in protocol.FUNCTIONS}
FUNCTIONS = {name: function for name, function in FOUND.items() if function is not None}
# In older releases, the condition of `where` must be an expression.
if not hasattr(blosc2.NDArray, "where"):
    del FUNCTIONS["select"]
KINDS = [(r"could not be broadcast|cannot be broadcast to a single shape", "dimension_mismatch")]
# How Blosc2 refuses operands. Any other exception is a failure.
REFUSES = r"broadcast|must be boolean|boolean (expressions|subtract|negative)|Invalid operand type|not supported for the input types"


class Blosc2:
    name, version = "blosc2", blosc2.__version__
    rules = ["numpy"]
    operations = ["elementwise", *(["broadcast"] if hasattr(blosc2, "broadcast_to") else [])]
    functions = list(FUNCTIONS)
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    # Older releases do not say that it was 8.
    max_rank = getattr(blosc2, "MAX_DIM", 8)
    # numexpr, which evaluates the expressions, takes 64 arrays, of which one is the result.
    max_operands = 63
    unused_operands = False  # a function takes none
    large_sizes = False

    def run(self, request):
        arrays = {operand.name: operand.dense() for operand in request.operands}
        if request.target_shape is None:
            skip_large(arrays.values())
        else:
            protocol.limit([length or 1 for length in request.target_shape])
        arrays = {name: blosc2.asarray(array) for name, array in arrays.items()}
        with protocol.refusals(ValueError, TypeError, kinds=KINDS, unless=f"^(?!.*({REFUSES}))"):
            if request.target_shape is not None:
                return blosc2.broadcast_to(arrays[request.operands[0].name], tuple(request.target_shape))[()]
            # Indexing evaluates a lazy expression to an array of NumPy.
            return np.asarray(protocol.evaluate(request.expression, arrays, FUNCTIONS)[()])

    def program(self, request):
        return Writer(
            ["import blosc2, numpy as np"], {name: f"blosc2.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, dtypes("np"),
            broadcast="blosc2.broadcast_to({operand}, {shape})", printed="result = np.asarray(result[()])\n" + PRINTED,
            **dense_arrays("blosc2.asarray({array})"),
        ).write(request)


protocol.serve(Blosc2())
