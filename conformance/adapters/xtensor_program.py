"""Writes a request as a program in C++ that calls xtensor, for xtensor_adapter.py.

As in the adapter, every call is evaluated into an array whose element type is written on the left.
"""
import programs

TYPES = {"f64": "double", "f32": "float", "bool": "bool",
         **{f"{kind[0]}{bits}": f"std::{kind}{bits}_t" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}}
CALLS = {"add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "less": "{0} < {1}",
         "less_equal": "{0} <= {1}", "greater": "{0} > {1}", "greater_equal": "{0} >= {1}", "logical_and": "{0} && {1}",
         "logical_or": "{0} || {1}", "logical_not": "!{0}", "negate": "-{0}", "select": "xt::where({0}, {1}, {2})",
         "power": "xt::pow({0}, {1})"}
# The assignment operators.
SIGNS = {"add": "+=", "subtract": "-=", "multiply": "*=", "divide": "/=", "logical_and": "&=", "logical_or": "|="}

START = """#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xstrided_view.hpp>
using Shape = std::vector<std::size_t>;
using Strides = std::vector<std::ptrdiff_t>;
int main() {
"""
# The dtype and the shape of the result, and its values in row-major order.
END = """    std::cout << std::setprecision(17) << std::showpoint << "{dtype} (";
    for (auto length : result.shape()) std::cout << length << ", ";
    std::cout << ") [";
    for (auto value : result) std::cout << +value << ", ";
    std::cout << "]" << std::endl;
}}
"""


def braced(kind, numbers):
    return f"{kind}{{{', '.join(map(str, numbers))}}}"


class Writer(programs.Writer):
    comment = "//"

    def __init__(self):
        super().__init__([], CALLS, TYPES, array=None, words={"nan": "NAN", "inf": "INFINITY"})

    def write(self, request):
        names = self.names(request)
        dtypes = {operand.name: operand.dtype for operand in request.operands}
        lines = self.operands(request, names) + self.computed(request, names, dtypes)
        dtype = dtypes[request.into] if request.into else self.dtype(request.expression or request.operands[0].name, dtypes)
        kind = "bool" if dtype == "bool" else programs.NAMES_OF_NUMPY[dtype]
        return START + "".join(f"    {line};\n" for line in lines) + END.format(dtype=kind)

    # ------------------------------------------------------------ operands

    def operands(self, request, names):
        lines = []
        into = [request.destination()] if request.into is not None else []
        for operand in into + [operand for operand in request.operands if operand.name != request.into]:
            name = names[operand.name]
            if operand.same is not None:
                lines.append(f"auto& {name} = {names[operand.same]}")
            elif operand.of:
                buffer = names[operand.of] if programs.is_dense(into[0]) else f"buffer_of_{names[operand.of]}"
                lines.append(f"auto {name} = {self.viewed(operand, buffer)}")
            elif programs.is_dense(operand):
                lines += self.made(name, operand, operand.shape)
            else:
                lines += self.made(f"buffer_of_{name}", operand, operand.buffer().shape)
                lines.append(f"auto {name} = {self.viewed(operand, f'buffer_of_{name}')}")
        return lines

    def made(self, name, operand, shape):
        """The lines that make an array of an operand's values."""
        kind, count = TYPES[operand.dtype], 0 if 0 in shape else len(operand.buffer())
        if count > programs.MOST_VALUES:
            raise programs.Unwritable(f"the operand {name} has {count} elements, and a program at most {programs.MOST_VALUES}")
        if count == 0:
            return [f"auto {name} = xt::xarray<{kind}>::from_shape({braced('Shape', shape)})"]
        values = [self.number(value, operand.dtype) for value in programs.elements(operand.buffer())]
        return [f"{kind} values_of_{name}[] = {braced('', values)}",
                f"xt::xarray<{kind}> {name} = xt::adapt(&values_of_{name}[0], {count}, xt::no_ownership(), {braced('Shape', shape)})"]

    def viewed(self, operand, buffer):
        strides, offset = operand.layout()
        layout = f"{braced('Shape', operand.shape)}, {braced('Strides', strides)}, {offset}, xt::layout_type::dynamic"
        return f"xt::strided_view({buffer}, {layout})"

    def number(self, value, dtype):
        if isinstance(value, bool):
            return "true" if value else "false"
        if dtype == "i64" and value == -2**63:
            return "INT64_MIN"
        return f"{value}u" if dtype == "u64" else super().number(value, dtype)

    # ------------------------------------------------------------ the result

    def computed(self, request, names, dtypes):
        if request.into is not None:
            return self.into(request, names, dtypes)
        lines = []
        if request.expression is None:
            operand = request.operands[0]
            text = f"xt::broadcast({names[operand.name]}, {braced('Shape', request.target_shape)})"
            return [f"xt::xarray<{TYPES[operand.dtype]}> result = {text}"]
        text = self.steps(request.expression, names, dtypes, lines)
        return [*lines, f"xt::xarray<{TYPES[self.dtype(request.expression, dtypes)]}> result = {text}"]

    def into(self, request, names, dtypes):
        """The same assignment as that of the adapter."""
        lines, destination, expression = [], names[request.into], request.expression
        if not isinstance(expression, str) and expression[0] in SIGNS and expression[1] == request.into:
            value = self.step(expression[2], names, dtypes, lines)
            return [*lines, f"{destination} {SIGNS[expression[0]]} {value}", f"auto& result = {destination}"]
        value = self.step(expression, names, dtypes, lines)
        operand = request.destination()
        written = self.viewed(operand, destination) if programs.is_dense(operand) else destination
        return [*lines, f"{written} = {value}", f"auto& result = {destination}"]

    def step(self, expression, names, dtypes, lines):
        """The name of the value of an expression, which is added to the lines if it is a call."""
        if isinstance(expression, str):
            return names[expression]
        text = self.steps(expression, names, dtypes, lines)
        name = f"step_{len(lines)}"
        lines.append(f"xt::xarray<{TYPES[self.dtype(expression, dtypes)]}> {name} = {text}")
        return name

    def steps(self, expression, names, dtypes, lines):
        """Adds a line for each call within the expression, and returns the text of the outermost."""
        if isinstance(expression, str):
            return names[expression]
        function, *arguments = expression
        arguments = [self.step(argument, names, dtypes, lines) for argument in arguments]
        return programs.call_text(CALLS.get(function, f"xt::{function}"), arguments)

    def dtype(self, expression, dtypes):
        """The dtype of the array that takes the value of an expression."""
        if isinstance(expression, str):
            return dtypes[expression]
        if expression[0] in programs.CONDITIONS:
            return "bool"
        return self.dtype(expression[-1], dtypes)
