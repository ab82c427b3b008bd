"""ggml: its operators on tensors of its own, from the library in the wheel of pywhispercpp, under the rule set `repeat`.

A tensor has four axes, the innermost first: shapes are passed in the other order, and the rank of a result is A's. ggml ends the process
where it refuses. Whether B can be repeated onto A is asked with `ggml_can_repeat`, the condition that its operators assert.
Operands are dense: ggml's operators want the elements of a row in order. Gradients are those of `ggml_build_backward_expand`, which has
f32 only, and so is f32 the only dtype.
"""
import ctypes
import math
import os

import protocol
import numpy as np
from ggml_library import GGML, TYPES, VERSION, Parameters, lengths_of, type_of
from programs import Writer, is_constant, progression, shape_text

os.environ.setdefault("GGML_NO_BACKTRACE", "1")

FUNCTIONS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negate": "neg", "abs": "abs", "sqrt": "sqrt",
             "exp": "exp", "log": "log"}  # there is no gradient of tanh
AXES = 4
# The nodes of a graph, and what they take in a context beside their values.
NODES = 2048
OVERHEAD = 1 << 21


class Context:
    """The tensors of one request."""

    def __init__(self, request, arrays):
        sizes = [array.nbytes for array in arrays.values()] + [4 * math.prod(request.target_shape or ())]
        # Each node has its values, and perhaps gradients.
        size = OVERHEAD + 8 * (calls(request.expression) + 2) * (max(sizes) + 64) + sum(sizes)
        self.pointer = GGML.ggml_init(Parameters(size, None, False))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        GGML.ggml_free(self.pointer)

    def tensor(self, shape, dtype):
        if len(shape) > AXES:
            raise protocol.Refused(f"a tensor has {AXES} axes, and {tuple(shape)} has {len(shape)}")
        lengths = list(shape)[::-1] or [1]
        return GGML.ggml_new_tensor(self.pointer, TYPES[dtype], len(lengths), (ctypes.c_int64 * len(lengths))(*lengths))

    def filled(self, array, dtype):
        made = self.tensor(array.shape, dtype)
        if array.size:
            ctypes.memmove(GGML.ggml_get_data(made), array.ctypes.data, array.nbytes)
        return made

    def call(self, function, *arguments):
        if len(arguments) == 2:
            a, b = arguments
            if not GGML.ggml_can_repeat(b, a):
                raise protocol.Refused(f"ggml_can_repeat is false: {lengths_of(b)} onto {lengths_of(a)}")
        return getattr(GGML, f"ggml_{FUNCTIONS[function]}")(self.pointer, *arguments)

    def evaluated(self, expression, tensors):
        functions = {name: lambda *arguments, name=name: self.call(name, *arguments) for name in FUNCTIONS}
        return protocol.evaluate(expression, tensors, functions)

    def computed(self, result, wrt=None):
        """The result, or the gradient of the sum of its elements."""
        if wrt is not None:
            loss = GGML.ggml_sum(self.pointer, result)
            GGML.ggml_set_loss(loss)
        graph = GGML.ggml_new_graph_custom(self.pointer, NODES, wrt is not None)
        GGML.ggml_build_forward_expand(graph, result if wrt is None else loss)
        if wrt is not None:
            GGML.ggml_build_backward_expand(self.pointer, graph, None)
            GGML.ggml_graph_reset(graph)
        status = GGML.ggml_graph_compute_with_ctx(self.pointer, graph, 1)
        if status != 0:
            raise RuntimeError(f"ggml_graph_compute_with_ctx answers {status}")
        return result if wrt is None else GGML.ggml_graph_get_grad(graph, wrt)


def calls(expression):
    """How many calls an expression has."""
    return 0 if expression is None or isinstance(expression, str) else 1 + sum(map(calls, expression[1:]))


def array_of(tensor, shape):
    """The values of a tensor in a shape, or in all of its axes if its lengths are others."""
    lengths = lengths_of(tensor)
    shape = tuple(shape) if lengths == [1] * (AXES - len(shape)) + list(shape) else tuple(lengths)
    values = np.empty(shape, protocol.dtype(type_of(tensor)))
    if values.size:
        ctypes.memmove(values.ctypes.data, GGML.ggml_get_data(tensor), values.nbytes)
    return values


# How a program calls ggml, which has no interface in Python: by name, with pointers for tensors.
START = """import ctypes, importlib.metadata
library = ctypes.CDLL(str(next(
    file.locate() for file in importlib.metadata.files("pywhispercpp") if file.name.startswith("libggml.so"))))
Parameters = type("Parameters", (ctypes.Structure,), {
    "_fields_": [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]})

def call(name, *arguments):
    return ctypes.c_void_p(ctypes.CFUNCTYPE(ctypes.c_void_p)(("ggml_" + name, library))(*arguments))

context = call("init", Parameters(1 << 24, None, False))

def tensor(values, shape):
    lengths = shape[::-1] or (1,)
    made = call("new_tensor", context, 0, len(lengths), (ctypes.c_int64 * len(lengths))(*lengths))
    ctypes.memmove(call("get_data", made), (ctypes.c_float * len(values))(*values), 4 * len(values))
    return made
"""


class GgmlWriter(Writer):
    def __init__(self):
        calls = {name: f'call("{own}", context, {", ".join(f"{{{place}}}" for place in range(protocol.ARGUMENTS[name]))})'
                 for name, own in FUNCTIONS.items()}
        super().__init__([START], calls, {"f32": "float32"}, array="tensor({values}, {shape})", empty="tensor([], {shape})")

    def write(self, request):
        self.printed = self.last_lines(request)
        return super().write(request)

    @staticmethod
    def last_lines(request):
        """Prints the result, whose shape is A's, the target's or that of what a gradient is by."""
        shape = request.target_shape if request.target_shape is not None else request.operands[0].shape
        if request.operation == "gradient":
            shape = next(operand.shape for operand in request.operands if operand.name == request.wrt)
        return (f'values = (ctypes.c_float * {math.prod(shape)}).from_address(call("get_data", result).value or 0)\n'
                f'print("float32", {shape_text(shape)}, list(values))')

    def literal(self, dtype, values, shape, fields):
        """In one list, whatever the shape is."""
        return super().literal(dtype, values, (len(values),), fields)

    def formula(self, dtype, values, shape, fields):
        found = progression(values)
        if is_constant(values):
            text = f"[{self.number(values[0], dtype)}] * {len(values)}"
        elif found is not None:
            text = f"range({', '.join(map(str, found))})"
        else:
            return None
        return self.forms["array"].format(values=text, **fields)

    def computed(self, request, names):
        wrt = names.get(request.wrt)
        if request.target_shape is not None:
            target = f"tensor([0.0] * {math.prod(request.target_shape)}, {shape_text(request.target_shape)})"
            lines, text = [], f'call("repeat", context, {names[request.operands[0].name]}, {target})'
        else:
            lines, text = self.value(request, names)
        graph = f'graph = call("new_graph_custom", context, ctypes.c_size_t({NODES}), {wrt is not None})'
        run = 'call("graph_compute_with_ctx", context, graph, 1)'
        if wrt is None:
            return [*lines, f"result = {text}", graph, 'call("build_forward_expand", graph, result)', run]
        return [f'call("set_param", {wrt})', *lines, f'loss = call("sum", context, {text})', 'call("set_loss", loss)', graph,
                'call("build_forward_expand", graph, loss)', 'call("build_backward_expand", context, graph, None)',
                'call("graph_reset", graph)', run, f'result = call("graph_get_grad", graph, {wrt})']


class Ggml:
    name, version = "ggml", VERSION
    rules = ["repeat"]
    operations = ["elementwise", "gradient", "broadcast"]
    functions = list(FUNCTIONS)
    dtypes = list(TYPES)
    large_sizes = False
    max_calls = 64
    ordered_operands = True  # an operator repeats its second operand
    unused_operands = False  # an operator takes none

    def run(self, request):
        self.limited(request)
        arrays = {operand.name: operand.dense() for operand in request.operands}
        return self.answer(request, arrays)

    def program(self, request):
        return GgmlWriter().write(request)

    @staticmethod
    def limited(request):
        """Skips what ggml would allocate, or what its numbers of bytes would not hold."""
        for shape in [*(operand.shape for operand in request.operands), request.target_shape or ()]:
            protocol.limit(shape)
            if math.prod(length for length in shape if length) >= 1 << 61:
                raise protocol.Skipped(f"a shape {tuple(shape)} has strides that 64 bits do not hold")

    @staticmethod
    def answer(request, arrays):
        with Context(request, arrays) as context:
            tensors = {operand.name: context.filled(arrays[operand.name], operand.dtype) for operand in request.operands}
            first = request.operands[0]
            if request.operation == "broadcast":
                target, operand = context.tensor(request.target_shape, first.dtype), tensors[first.name]
                if not GGML.ggml_can_repeat(operand, target):
                    raise protocol.Refused(f"ggml_can_repeat is false: {lengths_of(operand)} onto {lengths_of(target)}")
                result = GGML.ggml_repeat(context.pointer, operand, target)
                return array_of(context.computed(result), request.target_shape)
            wrt = tensors[request.wrt] if request.operation == "gradient" else None
            if wrt is not None:
                GGML.ggml_set_param(wrt)
            result = context.computed(context.evaluated(request.expression, tensors), wrt)
            return array_of(result, first.shape if wrt is None else arrays[request.wrt].shape)


protocol.serve(Ggml())
