"""Numba: the whole expression as one function that `numba.njit` compiles, with NumPy's names. The loop and its broadcasting
are Numba's own. Operands are real views. With a destination, the outermost function is called with it as `out`.

Numba compiles for dtypes, ranks and layouts, but not for lengths, so a function is kept for later requests with the same
expression.
"""
import functools

import protocol
import numba
import numpy as np
from numba.core.errors import TypingError
from numba.np.numpy_support import as_dtype
from numpy_interface import NAMES, skip_large
from programs import ARRAYS_OF_NUMPY, PRINTED, Writer, dtypes


# `d += x` and so on. Those of `logical_and` and `logical_or` are bitwise, which is the same for bool.
IN_PLACE = {
    "add": "+=", "subtract": "-=", "multiply": "*=", "divide": "/=", "power": "**=", "logical_and": "&=", "logical_or": "|=",
}


def source_of(expression):
    """The expression in Python. Names are prefixed, because some are keywords or names of functions."""
    if isinstance(expression, str):
        return "v_" + expression
    function, *arguments = expression
    return f"np.{NAMES.get(function, function)}({', '.join(map(source_of, arguments))})"


def statements_into(expression, destination):
    """Statements that write the result into the destination: `d += x` where it is the first argument and there is such an
    operator, otherwise with the argument `out`, which `np.where` lacks."""
    function, *arguments = ["positive", expression] if isinstance(expression, str) else expression
    arguments = [source_of(argument) for argument in arguments]
    destination = source_of(destination)
    if function in IN_PLACE and arguments[0] == destination:
        return f"{destination} {IN_PLACE[function]} {arguments[1]}"
    if function == "select":
        function, arguments = "positive", [source_of(expression)]
    return f"np.{NAMES.get(function, function)}({', '.join([*arguments, destination])})"


@functools.cache
def compiled(source, names):
    """`source`, the body of a function, as a function of these names. Numba compiles it when it is called."""
    scope = {"np": np}
    exec(f"def request({', '.join(names)}):\n    {source}", scope)
    return numba.njit(scope["request"])


class NumbaWriter(Writer):
    def __init__(self):
        super().__init__(["import numba, numpy as np"], {}, dtypes("np"), printed=PRINTED, **ARRAYS_OF_NUMPY)

    def names(self, request):
        """As in the function that the adapter compiles."""
        return {operand.name: "v_" + operand.name for operand in request.operands}

    def computed(self, request, names):
        if request.into is not None:
            body, result = statements_into(request.expression, request.into), names[request.into]
        elif request.target_shape is not None:
            body, result = f"return np.broadcast_to({', '.join(names.values())}, {self.shape(request.target_shape)})", None
        else:
            body, result = "return " + source_of(request.expression), None
        called = f"function({', '.join(names.values())})"
        lines = ["@numba.njit", f"def {called}:", f"    {body}", ""]
        if result:
            return [*lines, called, f"result = {result}"]
        if request.expression is not None and not any(operand.shape for operand in request.operands):
            # A result without axes is a number of Python, which has lost its dtype.
            return [*lines, f"value = {called}", "result = np.array(value, dtype=str(function.nopython_signatures[0].return_type))"]
        return [*lines, f"result = {called}"]


class Numba:
    name, version = "numba", numba.__version__
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "strided", "into"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", *protocol.INTEGERS, "bool"]
    # Compiling a loop of rank 64 takes more than a minute.
    max_rank = 33
    # An argument that a function does not use does not affect its result.
    unused_operands = False
    large_sizes = False

    def run(self, request):
        if request.into is not None:
            return self.into(request)
        arguments = {"v_" + operand.name: operand.view() for operand in request.operands}
        if request.operation == "broadcast":
            source = f"return np.broadcast_to({', '.join(arguments)}, shape)"
            arguments["shape"] = tuple(request.target_shape)
        else:
            source = "return " + source_of(request.expression)
            skip_large(arguments.values())
        function = compiled(source, tuple(arguments))
        with protocol.refusals(ValueError, TypingError):
            result = function(*arguments.values())
        return result if isinstance(result, np.ndarray) else np.array(result, dtype=dtype(function, arguments.values()))

    def program(self, request):
        return NumbaWriter().write(request)

    def into(self, request):
        arrays, buffer = request.in_place()
        skip_large(arrays.values())
        function = compiled(statements_into(request.expression, request.into), tuple("v_" + name for name in arrays))
        with protocol.refusals(ValueError, TypingError):
            function(*arrays.values())
        return protocol.Result(arrays[request.into], buffer=buffer)


def dtype(function, arguments):
    """The dtype of a result without axes, which Numba returns as a Python number that has lost it."""
    types = tuple(map(numba.typeof, arguments))
    return as_dtype(function.overloads[types].signature.return_type)


protocol.serve(Numba())
