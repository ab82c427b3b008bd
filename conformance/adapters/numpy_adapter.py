"""NumPy: its ufuncs under the rule set `numpy`, and `numpy.broadcast_to`. Operands are real views."""
import protocol
import numpy as np
from numpy_interface import functions, skip_large

FUNCTIONS = functions(np)
KINDS = [
    (r"operands could not be broadcast together|shape mismatch", "dimension_mismatch"),
    (r"input operand has more dimensions than allowed", "rank_mismatch"),
]


class NumPy:
    name, version = "numpy", np.__version__
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "strided"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    max_rank = 64
    unused_operands = False  # a ufunc takes none

    def run(self, request):
        with protocol.refusals(ValueError, TypeError, OverflowError, kinds=KINDS):
            arrays = {operand.name: operand.array() for operand in request.operands}
            if request.operation == "broadcast":
                return np.broadcast_to(arrays[request.operands[0].name], request.target_shape)
            skip_large(arrays.values())
            return protocol.evaluate(request.expression, arrays, FUNCTIONS)


protocol.serve(NumPy())
