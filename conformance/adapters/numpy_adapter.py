"""NumPy: its ufuncs under the rule set `numpy`, also in place and with `out=`, and `numpy.broadcast_to`. Operands are real views."""
import operator

import protocol
import numpy as np
from numpy_interface import NAMES, functions, skip_large
from programs import ARRAYS_OF_NUMPY, Writer, call_text, dtypes

FUNCTIONS = functions(np)
KINDS = [
    (r"operands could not be broadcast together|shape mismatch", "dimension_mismatch"),
    (r"input operand has more dimensions than allowed", "rank_mismatch"),
]
# `a += b` and so on. Those of `logical_and` and `logical_or` are bitwise, which is the same for bool.
IN_PLACE = {
    "add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul, "divide": operator.itruediv,
    "power": operator.ipow, "logical_and": operator.iand, "logical_or": operator.ior,
}
SIGNS = {"add": "+=", "subtract": "-=", "multiply": "*=", "divide": "/=", "power": "**=", "logical_and": "&=", "logical_or": "|="}


class NumPyWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import numpy as np"], {name: f"np.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, dtypes("np"),
            broadcast="np.broadcast_to({operand}, {shape})", **ARRAYS_OF_NUMPY,
        )

    def into(self, request, names):
        """The same call as that of `NumPy.into`."""
        destination, expression = names[request.into], request.expression
        if isinstance(expression, str) or expression[0] == "select":
            call = "np.logical_and({0}, {0}, out={1})" if request.destination().dtype == "bool" else "np.positive({0}, out={1})"
            return [call.format(self.expression(expression, names), destination), f"result = {destination}"]
        function, *arguments = expression
        values = [self.expression(argument, names) for argument in arguments]
        if function in IN_PLACE and arguments[0] == request.into:
            written = f"{destination} {SIGNS[function]} {values[1]}"
        else:
            written = call_text(self.calls[function], [*values, f"out={destination}"])
        return [written, f"result = {destination}"]


class NumPy:
    name, version = "numpy", np.__version__
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "strided", "into", "same"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    max_rank = protocol.NUMPY_RANK
    unused_operands = False  # a ufunc takes none

    def run(self, request):
        with protocol.refusals(ValueError, TypeError, OverflowError, kinds=KINDS):
            if request.into is not None:
                return self.into(request)
            arrays = request.arrays(protocol.Operand.array)
            if request.operation == "broadcast":
                return np.broadcast_to(arrays[request.operands[0].name], request.target_shape)
            skip_large(arrays.values())
            return protocol.evaluate(request.expression, arrays, FUNCTIONS)

    def into(self, request):
        """`a += b` where the destination is the first argument and there is such an operator, otherwise `out=`."""
        arrays, buffer = request.in_place()
        skip_large(arrays.values())
        destination = arrays[request.into]
        if isinstance(request.expression, str) or request.expression[0] == "select":
            # numpy.where has no argument `out`, and an assignment drops leading axes: a ufunc that changes nothing writes the values.
            value = protocol.evaluate(request.expression, arrays, FUNCTIONS)
            np.logical_and(value, value, out=destination) if value.dtype == np.bool_ else np.positive(value, out=destination)
            return protocol.Result(destination, buffer=buffer)
        function, *arguments = request.expression
        values = [protocol.evaluate(argument, arrays, FUNCTIONS) for argument in arguments]
        if function in IN_PLACE and arguments[0] == request.into:
            IN_PLACE[function](destination, values[1])
        else:
            FUNCTIONS[function](*values, out=destination)
        return protocol.Result(destination, buffer=buffer)

    def program(self, request):
        return NumPyWriter().write(request)


protocol.serve(NumPy())
