"""The systems with which the engine is compared. Each turns a row once into what its users would write, and returns a
function without arguments that computes the row. A system that can write into an existing array does so.

A system that cannot compute a row (because it lacks the formula, or computes the dtype in another) returns None.
"""
import ctypes
import hashlib
import importlib
import json
import os
import sys

import numpy as np

# The names of dtypes in the engine.
DTYPE_NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bool": "bool"}
DTYPE_NAMES |= {f"{kind}int{bits}": f"{kind or 'i'}{bits}" for kind in ("", "u") for bits in (64, 32, 16, 8)}

# What every system writes in the same way.
OPERATORS = {"add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})", "negate": "(-{})",
             "greater": "({} > {})"}
# What each writes in its own way. numexpr has no function of two numbers that returns the larger one.
NUMEXPR = {"exp": "exp({})", "tanh": "tanh({})", "maximum": "where({0} > {1}, {0}, {1})",
           "minimum": "where({0} < {1}, {0}, {1})", "select": "where({}, {}, {})"}
NUMBA = {"exp": "np.exp({})", "tanh": "np.tanh({})", "maximum": "max({}, {})", "minimum": "min({}, {})",
         "select": "({1} if {0} else {2})"}
PYTENSOR = {"exp": "pt.exp({})", "tanh": "pt.tanh({})", "maximum": "pt.maximum({}, {})", "minimum": "pt.minimum({}, {})",
            "select": "pt.switch({}, {}, {})"}


def library(module):
    """The functions of NumPy and of the libraries with the same names."""
    calls = {"exp": "exp({})", "tanh": "tanh({})", "maximum": "maximum({}, {})", "minimum": "minimum({}, {})",
             "select": "where({}, {}, {})"}
    return {name: f"{module}.{text}" for name, text in calls.items()}


def formula(expression, functions, operand="x{}"):
    """The expression as the source text of Python or numexpr, with a system's functions."""
    if isinstance(expression, int):
        return operand.format(expression)
    name, *arguments = expression
    texts = [formula(argument, functions, operand) for argument in arguments]
    return (OPERATORS | functions)[name].format(*texts)


def is_chain(expression):
    """Whether each call can write over the one before: it takes at most one, and no bools are computed."""
    if isinstance(expression, int):
        return True
    name, *arguments = expression
    calls = [argument for argument in arguments if not isinstance(argument, int)]
    return name not in ("select", "greater") and len(calls) <= 1 and all(map(is_chain, calls))


def names(row):
    return ", ".join(f"x{place}" for place in range(len(row.shapes)))


class Engine:
    """The engine and the crate ndarray, which are timed in Rust."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.peers_task.restype = ctypes.c_void_p
        self.library.peers_run.restype = ctypes.c_double
        self.library.peers_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
        self.library.peers_dtype.restype = ctypes.c_char_p
        self.library.peers_dtype.argtypes = [ctypes.c_void_p]
        self.library.peers_single_thread()

    def level(self):
        return ["portable", "avx2", "avx512"][self.library.peers_level()]

    def task(self, engine, row, arrays):
        """A task, or None if the engine has no plan for it."""
        task = {"engine": engine, "dtypes": [DTYPE_NAMES[array.dtype.name] for array in arrays],
                "shapes": row.shapes, "expression": row.expression}
        return self.library.peers_task(json.dumps(task).encode())

    def dtype(self, row, arrays):
        """The name of the dtype of the result; None without a plan."""
        task = self.task("fast", row, arrays)
        return self.library.peers_dtype(task).decode() if task else None

    def timed(self, engine, row, arrays, out):
        """A function of a number of repeats that returns seconds."""
        task = self.task(engine, row, arrays)
        if not task:
            return None
        pointers = (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
        return lambda repeats: self.library.peers_run(task, pointers, out.ctypes.data, repeats)


def numpy(row, arrays, out):
    """One ufunc after another, each into the output if that has the right shape, or into a new array where two are needed."""
    scope = {"np": np, "out": out, **{f"x{place}": array for place, array in enumerate(arrays)}}
    if not is_chain(row.expression):
        return returning(row, library("np"), {"np": np}, arrays)
    return compiled(one_by_one(row.expression, "np.{}", {"negate": "negative"}), names(row) + ", out", scope, [*arrays, out])


def one_by_one(expression, function, own):
    """A line for each call of the expression, innermost first, each into `out`. `own` has the functions of another name."""
    def lines(expression):
        if isinstance(expression, int):
            return [], f"x{expression}"
        name, *arguments = expression
        before, texts = [], []
        for argument in arguments:
            lines_of_argument, text = lines(argument)
            before += lines_of_argument
            texts.append(text)
        before.append(f"{function.format(own.get(name, name))}({', '.join(texts)}, out=out)")
        return before, "out"

    return lines(expression)[0]


def returning(row, functions, scope, arguments):
    """A function that returns the whole expression as a new array."""
    call = compiled([f"return {formula(row.expression, functions)}"], names(row), scope, arguments)
    call.result = lambda: np.asarray(call())
    return call


def compiled(body, parameters, scope, arguments):
    """A function with these lines, called with these arguments."""
    exec(f"def function({parameters}):\n    " + "\n    ".join(body), scope)
    function = scope["function"]
    return lambda: function(*arguments)


def numexpr(row, arrays, out):
    import numexpr as ne
    ne.set_num_threads(1)
    values = {f"x{place}": array for place, array in enumerate(arrays)}
    ne.evaluate(formula(row.expression, NUMEXPR), local_dict=values, out=out)
    # The same without parsing the text again.
    return lambda: ne.re_evaluate(local_dict=values)


def numba(row, arrays, out):
    """Nested loops, written for the broadcasting pattern of the row."""
    import numba as nb
    rank = out.ndim
    full = [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in arrays]
    index = [", ".join("0" if length == 1 else f"i{axis}" for axis, length in enumerate(array.shape)) for array in full]
    text = formula(row.expression, NUMBA, "x{}[@]")
    for place, own in enumerate(index):
        text = text.replace(f"x{place}[@]", f"x{place}[{own}]")
    body = ["    " * axis + f"for i{axis} in range(out.shape[{axis}]):" for axis in range(rank)]
    body.append("    " * rank + f"out[{', '.join(f'i{axis}' for axis in range(rank))}] = {text}")
    # In a file, so that the compiled loop is cached between runs.
    source = f"import numpy as np\n\ndef function({names(row)}, out):\n    " + "\n    ".join(body) + "\n"
    function = from_file(source)
    jitted = nb.njit(cache=True, boundscheck=False, error_model="numpy")(function)
    jitted(*full, out)
    return lambda: jitted(*full, out)


def from_file(source):
    """A function in a separate module with a stable name, which numba needs for its cache."""
    directory = os.environ.get("NUMBA_CACHE_DIR", ".")
    os.makedirs(directory, exist_ok=True)
    name = "loop_" + hashlib.sha256(source.encode()).hexdigest()[:16]
    path = os.path.join(directory, name + ".py")
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.write(source)
    if directory not in sys.path:
        sys.path.append(directory)
    importlib.invalidate_caches()
    return importlib.import_module(name).function


def jax(row, arrays, out):
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    scope = {"jnp": jnp}
    exec(f"def function({names(row)}):\n    return {formula(row.expression, library('jnp'))}", scope)
    function = jax.jit(scope["function"])
    values = [jnp.from_dlpack(array) for array in arrays]
    call = lambda: function(*values).block_until_ready()
    call.result = lambda: np.asarray(function(*values))
    return call


def pytensor(row, arrays, out):
    import pytensor
    import pytensor.tensor as pt
    variables = [pt.tensor(f"x{place}", dtype=array.dtype.name, shape=array.shape) for place, array in enumerate(arrays)]
    scope = {"pt": pt, **{f"x{place}": variable for place, variable in enumerate(variables)}}
    root = eval(formula(row.expression, PYTENSOR), scope)
    inputs = [pytensor.In(variable, borrow=True) for variable in variables]
    function = pytensor.function(inputs, pytensor.Out(root, borrow=True))
    function.trust_input = True
    call = lambda: function(*arrays)
    call.result = call
    return call


def openvino(row, arrays, out):
    if out.dtype != np.float32:
        return None  # its CPU plugin computes f64 in f32
    import openvino as ov
    from openvino import opset13 as ops
    nodes = {"add": ops.add, "subtract": ops.subtract, "multiply": ops.multiply, "divide": ops.divide, "exp": ops.exp,
             "negate": ops.negative, "tanh": ops.tanh, "maximum": ops.maximum, "minimum": ops.minimum, "greater": ops.greater,
             "select": ops.select}
    types = {np.dtype(np.float32): ov.Type.f32, np.dtype(bool): ov.Type.boolean}
    parameters = [ops.parameter(list(array.shape), types[array.dtype]) for array in arrays]

    def build(expression):
        if isinstance(expression, int):
            return parameters[expression]
        return nodes[expression[0]](*[build(argument) for argument in expression[1:]])

    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    model = ov.Core().compile_model(ov.Model([build(row.expression)], parameters), "CPU", settings)
    request = model.create_infer_request()
    for place, array in enumerate(arrays):
        request.set_input_tensor(place, ov.Tensor(array, shared_memory=True))
    request.set_output_tensor(0, ov.Tensor(out, shared_memory=True))
    return request.infer


def torch(row, arrays, out):
    """One function after another, each into the output, or into new tensors, as in NumPy."""
    import torch
    if not is_chain(row.expression):
        tensors = [torch.from_numpy(array) for array in arrays]
        call = returning(row, library("torch"), {"torch": torch}, tensors)
        timed = without_gradients(call)
        timed.result = lambda: call().numpy()
        return timed
    tensors = [torch.from_numpy(array) for array in [*arrays, out]]
    body = one_by_one(row.expression, "torch.{}", {"negate": "neg"})
    return without_gradients(compiled(body, names(row) + ", out", {"torch": torch}, tensors))


def torch_compile(row, arrays, out):
    """The whole expression in one function, compiled for the shapes of the row, which writes into the output."""
    import torch
    scope = {"torch": torch}
    exec(f"def function({names(row)}, out):\n    out.copy_({formula(row.expression, library('torch'))})", scope)
    function = torch.compile(scope["function"], dynamic=False, fullgraph=True)
    tensors = [torch.from_numpy(array) for array in [*arrays, out]]
    return without_gradients(lambda: function(*tensors))


def without_gradients(call):
    """The call on one thread, without what PyTorch does to differentiate it later."""
    import torch
    torch.set_num_threads(1)
    return torch.inference_mode()(call)


SYSTEMS = {"numpy": numpy, "numexpr": numexpr, "numba": numba, "jax": jax, "pytensor": pytensor, "openvino": openvino,
           "torch": torch, "torch-compile": torch_compile}
