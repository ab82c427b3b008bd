"""numexpr: `numexpr.evaluate` of the whole expression, under the rule set `numpy`, also with `out=`. Operands are real views."""
import protocol
import numexpr
import numpy as np
from programs import ARRAYS_OF_NUMPY, Writer, dtypes

BINARY = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "equal": "==", "not_equal": "!=", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=", "logical_and": "&", "logical_or": "|",
}
UNARY = {"negate": "-", "logical_not": "~"}
NAMES = {"abs": "abs", "sqrt": "sqrt", "exp": "exp", "log": "log", "tanh": "tanh", "select": "where",
         "maximum": "maximum", "minimum": "minimum"}
# numexpr has no maximum before 2.13.
CALLS = {function: name for function, name in NAMES.items() if name in numexpr.expressions.functions}


def source_of(expression, names):
    """The expression in numexpr's language. `names` are those of the operands there."""
    if isinstance(expression, str):
        return names[expression]
    function, *arguments = expression
    arguments = [source_of(argument, names) for argument in arguments]
    if function in BINARY:
        return f"({arguments[0]} {BINARY[function]} {arguments[1]})"
    if function in UNARY:
        return f"({UNARY[function]}{arguments[0]})"
    return f"{CALLS[function]}({', '.join(arguments)})"


class NumExprWriter(Writer):
    def __init__(self):
        super().__init__(["import numexpr, numpy as np"], {}, dtypes("np"), **ARRAYS_OF_NUMPY)

    def call(self, request, names, out=""):
        given = ", ".join(f'"{name}": {name}' for name in (names[operand] for operand in sorted(protocol.leaves(request.expression))))
        return f'numexpr.evaluate("{source_of(request.expression, names)}", {{{given}}}{out})'

    def value(self, request, names):
        return [], self.call(request, names)

    def into(self, request, names):
        return ["result = " + self.call(request, names, f", out={names[request.into]}")]


class NumExpr:
    name, version = "numexpr", numexpr.__version__
    rules = ["numpy"]
    operations = ["elementwise", "strided", "into"]
    functions = [*BINARY, *UNARY, *CALLS]
    dtypes = ["f64", "f32", "i64", "i32", "bool"]
    # Of other dtypes, numexpr computes these in f64 (`numexpr.expressions.functions`).
    function_dtypes = {"abs": ["f64", "f32"], **{function: ["f64"] for function in ("maximum", "minimum") if function in CALLS}}
    max_rank = 32
    # NumPy's iterator, with which numexpr reads the operands, takes 64 arrays, 32 before NumPy 2. One is the result.
    max_operands = 63 if int(np.__version__.split(".")[0]) >= 2 else 31
    unused_operands = False
    large_sizes = False
    optimiser = "on"
    # numexpr's names for the positions. Its default is "aggressive".
    levels = {"off": "none", "on": "aggressive"}

    def run(self, request):
        arrays, buffer = request.in_place() if request.into else ({o.name: o.array() for o in request.operands}, None)
        # Prefixed, because some operands have names of numexpr's functions.
        names = {name: "v_" + name for name in arrays}
        variables = {names[name]: array for name, array in arrays.items()}
        with protocol.refusals(ValueError, TypeError, NotImplementedError):
            result = numexpr.evaluate(
                source_of(request.expression, names), local_dict=variables, global_dict={}, out=arrays.get(request.into),
                optimization=self.levels[self.optimiser],
            )
        return protocol.Result(result, buffer=buffer)

    def program(self, request):
        return NumExprWriter().write(request)


protocol.serve(NumExpr())
