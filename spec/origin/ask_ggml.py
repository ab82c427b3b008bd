"""Run `repeat` cases on ggml, whose operators repeat their second operand onto the first one.

    pip install -r requirements-ggml.txt
    python ask_ggml.py ../cases/repeat-*.yaml

second_opinion.py explains the output and the exit status. The wheel of pywhispercpp contains ggml's shared library, which is called
through ctypes. ggml's operators end the process if B cannot be repeated onto A; `ggml_can_repeat`, which they ask, says so before. A
tensor has four axes, the innermost first, and ggml does not know how many of the outer ones a shape has: the rank of a result is A's.
"""

import ctypes
import importlib.metadata

import numpy as np

from second_opinion import NotExpressible, Refused, array, main

TYPES = {"f32": 0, "f16": 1}
FUNCTIONS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negate": "neg", "abs": "abs", "sqrt": "sqrt",
             "exp": "exp", "log": "log", "tanh": "tanh"}
POINTER = ctypes.c_void_p


class Parameters(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("buffer", POINTER), ("no_alloc", ctypes.c_bool)]


class Tensor(ctypes.Structure):
    """The beginning of ggml's structure."""

    _fields_ = [("type", ctypes.c_int), ("buffer", POINTER), ("lengths", ctypes.c_int64 * 4)]


def library():
    files = importlib.metadata.files("pywhispercpp")
    found = ctypes.CDLL(str(next(file.locate() for file in files if file.name.startswith("libggml.so"))))

    def declared(name, result, *arguments):
        function = getattr(found, f"ggml_{name}")
        function.restype, function.argtypes = result, arguments

    declared("version", ctypes.c_char_p)
    declared("init", POINTER, Parameters)
    declared("new_tensor", POINTER, POINTER, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
    declared("get_data", POINTER, POINTER)
    declared("can_repeat", ctypes.c_bool, POINTER, POINTER)
    declared("new_graph", POINTER, POINTER)
    declared("build_forward_expand", None, POINTER, POINTER)
    declared("graph_compute_with_ctx", ctypes.c_int, POINTER, POINTER, ctypes.c_int)
    for name in ("repeat", "add", "sub", "mul", "div"):
        declared(name, POINTER, POINTER, POINTER, POINTER)
    for name in ("neg", "abs", "sqrt", "exp", "log", "tanh"):
        declared(name, POINTER, POINTER, POINTER)
    return found


GGML = library()


def tensor(context, values, dtype):
    """A tensor with these values."""
    if dtype not in TYPES:
        raise NotExpressible(f"the operators take no {dtype}")
    if values.ndim > 4:
        raise Refused("a tensor has four axes")
    lengths = list(values.shape[::-1]) or [1]
    made = GGML.ggml_new_tensor(context, TYPES[dtype], len(lengths), (ctypes.c_int64 * len(lengths))(*lengths))
    if values.size:
        ctypes.memmove(GGML.ggml_get_data(made), np.ascontiguousarray(values).ctypes.data, values.nbytes)
    return made


def repeatable(b, a):
    if not GGML.ggml_can_repeat(b, a):
        raise Refused("ggml_can_repeat(b, a) is false")


def computed(context, expression, tensors):
    if isinstance(expression, str):
        return tensors[expression]
    name, *arguments = expression
    if name not in FUNCTIONS:
        raise NotExpressible(f"ggml has no operator {name}")
    arguments = [computed(context, argument, tensors) for argument in arguments]
    if len(arguments) == 2:
        repeatable(arguments[1], arguments[0])
    return getattr(GGML, f"ggml_{FUNCTIONS[name]}")(context, *arguments)


def ask(case):
    operation = case.get("operation", "elementwise")
    if operation not in ("elementwise", "broadcast") or "into" in case:
        raise NotExpressible("only elementwise operations and broadcast")
    context = GGML.ggml_init(Parameters(1 << 28, None, False))
    arrays = {operand["name"]: array(operand) for operand in case["operands"]}
    tensors = {operand["name"]: tensor(context, arrays[operand["name"]], operand["dtype"]) for operand in case["operands"]}
    dtypes = {operand["dtype"] for operand in case["operands"]}
    first = case["operands"][0]
    if operation == "broadcast":
        shape = tuple(case["target_shape"])
        target = tensor(context, np.zeros(shape, arrays[first["name"]].dtype), first["dtype"])
        repeatable(tensors[first["name"]], target)
        result = GGML.ggml_repeat(context, tensors[first["name"]], target)
    else:
        shape = arrays[first["name"]].shape
        if len(dtypes) > 1 or len(case["operands"]) > 2:
            raise NotExpressible("operands of one type, at most two")
        result = computed(context, case["expression"], tensors)
    graph = GGML.ggml_new_graph(context)
    GGML.ggml_build_forward_expand(graph, result)
    if GGML.ggml_graph_compute_with_ctx(context, graph, 1) != 0:
        raise RuntimeError("ggml_graph_compute_with_ctx failed")
    lengths = list(Tensor.from_address(result).lengths)
    expected = list(shape[::-1]) + [1] * (4 - len(shape))
    if lengths != expected:
        raise RuntimeError(f"a result of {lengths}, where A has {expected}")
    answer = np.empty(shape, arrays[first["name"]].dtype)
    if answer.size:
        ctypes.memmove(answer.ctypes.data, GGML.ggml_get_data(result), answer.nbytes)
    return answer


if __name__ == "__main__":
    main(f"ggml {GGML.ggml_version().decode()}", {"repeat"}, ask)
