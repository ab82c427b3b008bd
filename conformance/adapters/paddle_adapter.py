"""PaddlePaddle: its public functions under the rule set `numpy`, also in place and with `out=`; its older elementwise operations with
their attribute `axis` under `pdpd` (`paddle._legacy_C_ops`, in dynamic mode); and the gradients of both with `backward`, or with
`paddle.grad` if there is a cotangent. For `infer`: the shape of a result in static mode; the older operations exist in dynamic mode
only. For `declared`: a program of static mode, run."""
import contextlib
import os
import pickle
import warnings

import protocol
import numpy as np
from programs import Unwritable, Writer, call_text, dense_arrays, dtypes, is_differentiable, is_row_major, list_text

warnings.filterwarnings("ignore")
import paddle  # noqa: E402

FUNCTIONS = {
    "add": paddle.add, "subtract": paddle.subtract, "multiply": paddle.multiply, "divide": paddle.divide,
    "maximum": paddle.maximum, "minimum": paddle.minimum, "power": paddle.pow, "equal": paddle.equal,
    "not_equal": paddle.not_equal, "less": paddle.less_than, "less_equal": paddle.less_equal,
    "greater": paddle.greater_than, "greater_equal": paddle.greater_equal, "logical_and": paddle.logical_and,
    "logical_or": paddle.logical_or, "negate": paddle.neg, "abs": paddle.abs, "sqrt": paddle.sqrt, "exp": paddle.exp,
    "log": paddle.log, "tanh": paddle.tanh, "logical_not": paddle.logical_not, "select": paddle.where,
}
WITH_AXIS = {
    "add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul", "divide": "elementwise_div",
    "maximum": "elementwise_max", "minimum": "elementwise_min", "power": "elementwise_pow",
}
# Functions without a method that writes into the first argument: `where_` writes into the second.
NOT_IN_PLACE = ["maximum", "minimum", "select"]
LACKS = r"kernel .* is not registered|no kernels which are registered"
UNARY = ["negate", "abs", "sqrt", "exp", "log", "tanh", "logical_not"]
# Programs that are kept: all ways to declare one request, and more.
KEPT = 100
WIDE = ["f64", "f32", "i64", "i32"]


def in_child(compute, request):
    """`compute(request)` in a child process. Some pdpd requests corrupt Paddle's heap, and often a later request crashes. If
    the child dies of a signal, this process dies of the same one."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = compute(request)
        except Exception as error:
            known = isinstance(error, (protocol.Refused, protocol.Skipped))
            answer = error if known else RuntimeError(protocol.shortened(error))
        with os.fdopen(theirs, "wb") as pipe:
            pickle.dump((type(answer), getattr(answer, "fields", None) or getattr(answer, "args", None) or answer), pipe)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        data = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or not data:
        os.kill(os.getpid(), -status or 6)
    kind, answer = pickle.loads(data)
    if kind is protocol.Refused:
        raise protocol.Refused(**answer)
    if issubclass(kind, Exception):
        raise kind(*answer)
    return answer


@contextlib.contextmanager
def static_mode():
    """Paddle in static mode."""
    paddle.enable_static()
    try:
        yield
    finally:
        paddle.disable_static()


def placeholder(name, dtype, shape):
    """A tensor of a program, whose data is not there yet."""
    lengths = [-1 if number is None else number for number in protocol.numbers(shape)]
    return paddle.static.data(name, lengths, protocol.dtype(dtype).name)


# Where the name in the module is not the protocol's.
NAMES = {"power": "pow", "less": "less_than", "greater": "greater_than", "negate": "neg", "select": "where"}


class PaddleWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import numpy as np, paddle"], {name: f"paddle.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, dtypes("np"),
            broadcast="paddle.broadcast_to({operand}, {shape})",
            printed="print(result.dtype, tuple(result.shape), result.numpy().tolist())", **dense_arrays("paddle.to_tensor({array})"),
        )

    def value(self, request, names):
        """Under `pdpd`, a call of A and B with the axis, as in `pdpd`."""
        own = [operand.name for operand in request.operands if operand.name != request.cotangent]
        if request.rules == "numpy" or len(own) == 1:
            return super().value(request, names)
        if len(own) > 2:
            raise Unwritable("Paddle's operations with an axis take two operands")
        return [], self.with_axis(request.expression, names, own, -1 if request.axis is None else request.axis)[0]

    def with_axis(self, expression, names, own, axis):
        """The text of the expression, and 1 if it depends on B alone, else 0."""
        if isinstance(expression, str):
            return names[expression], own.index(expression)
        function, *arguments = expression
        texts, places = zip(*(self.with_axis(argument, names, own, axis) for argument in arguments))
        if function in UNARY or len(set(places)) == 1:
            return call_text(self.calls[function], texts), places[0]
        if function not in WITH_AXIS:
            raise Unwritable(f"Paddle's {function} takes no axis")
        return f'paddle._legacy_C_ops.{WITH_AXIS[function]}({", ".join(texts)}, "axis", {axis})', 0

    def gradient(self, request, names):
        """Of the tensor itself, and not of a function."""
        if request.expression is not None and not is_differentiable(request.expression, request.wrt):
            raise Unwritable(f"the result is not connected to {request.wrt}, and Paddle then has no gradient")
        wrt, cotangent = names[request.wrt], names.get(request.cotangent)
        lines, text = self.value(request, names)
        found = [f"{text}.sum().backward()", f"result = {wrt}.grad"]
        if cotangent:
            found = [f"result = paddle.grad([{text}], [{wrt}], [{cotangent}], allow_unused=True)[0]"]
        return [f"{wrt}.stop_gradient = False", *lines, *found]

    def view(self, operand, buffer, dtype=None):
        if not is_row_major(operand):
            raise Unwritable("Paddle's adapter passes no views")
        return f"{buffer}.view({list_text(operand.shape)})"

    def into(self, request, names):
        """The same call as that of `into`."""
        destination = names[request.into]
        function, *arguments = [None] if isinstance(request.expression, str) else request.expression
        in_place = request.into in arguments[:1] and function not in NOT_IN_PLACE
        if function is None or (function == "negate" and not in_place):
            return [f"paddle.assign({self.expression(request.expression, names)}, output={destination})", f"result = {destination}"]
        values = [self.expression(argument, names) for argument in arguments]
        if in_place:
            written = f"{destination}.{FUNCTIONS[function].__name__.strip('_')}_({', '.join(values[1:])})"
        else:
            written = call_text(self.calls[function], [*values, f"out={destination}"])
        return [written, f"result = {destination}"]


class Paddle:
    name, version = "paddle", paddle.__version__
    rules = ["numpy", "pdpd"]
    operations = ["elementwise", "broadcast", "gradient", "cotangent", "into", "infer", "declared"]
    rule_operations = {"pdpd": ["elementwise", "gradient"]}
    unknown = ["length"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "i64", "i32", "i16", "i8", "u8", "bool"]
    # The dtypes for which Paddle has kernels on the CPU.
    function_dtypes = {
        "subtract": [*WIDE, "i16"], "multiply": [*WIDE, "bool"], "maximum": WIDE, "minimum": WIDE, "abs": WIDE,
        "select": [*WIDE, "bool"],
    }
    # Under pdpd: the functions that take an axis, or one argument; two operands, in this order.
    rule_functions = {"pdpd": [*WITH_AXIS, *UNARY]}
    ordered_operands = True
    max_rank = 9
    unused_operands = False
    large_sizes = False
    # Some requests crash the process; with one request at a time, no other is lost.
    window = 1

    def __init__(self):
        self.programs = protocol.Kept(KEPT, program)
        self.executor = paddle.static.Executor(paddle.CPUPlace())

    def run(self, request):
        if request.signature is not None:
            return self.declared(request)
        return in_child(self.compute, request) if request.rules == "pdpd" else self.compute(request)

    def compute(self, request):
        tensors = {operand.name: paddle.to_tensor(operand.dense()) for operand in request.operands if not operand.of}
        # One that reads the destination's buffer is dense, too: views are not declared.
        tensors |= {operand.name: tensors[operand.of].view(list(operand.shape)) for operand in request.operands if operand.of}
        with refusals():
            if request.into is not None:
                return into(request, tensors).numpy()
            if request.operation != "gradient":
                return result(request, tensors).numpy()
            return gradient(request, tensors).numpy()

    def program(self, request):
        return PaddleWriter().write(request)

    def declared(self, request):
        feeds = {operand.name: operand.dense() for operand in request.operands}
        if request.target_shape is not None:
            feeds["target_shape"] = request.target()
        with refusals(), static_mode():
            made, root, inputs = self.programs.get(request.signature.key(), request.signature)
            feeds = {name: array for name, array in feeds.items() if name in inputs}
            return self.executor.run(made, feed=feeds, fetch_list=[root])[0]

    def infer(self, signature):
        with refusals(), static_mode():
            # The root belongs to the program, which must live until it has been read.
            made, root, _ = program(signature)
            dtype = str(root.dtype).removeprefix("paddle.")
            return protocol.Inferred(dtype, [None if length == -1 else length for length in root.shape])


def refusals():
    return protocol.refusals(ValueError, TypeError, RuntimeError, IndexError, NotImplementedError, OverflowError, lacks=LACKS,
                             unless="Unimplemented")


def program(signature):
    """A new program for a signature, in static mode: itself, its result, and the names of its inputs."""
    made = paddle.static.Program()
    with paddle.static.program_guard(made):
        tensors = {o.name: placeholder(o.name, o.dtype, o.shape) for o in signature.operands}
        inputs = set(tensors)
        if signature.wrt is not None:
            tensors[signature.wrt].stop_gradient = False
        if signature.expression is None:
            target = protocol.numbers(signature.target_shape)
            if None in target:
                target = paddle.shape(placeholder("target_shape", "bool", signature.target_shape))
                inputs.add("target_shape")
            root = paddle.broadcast_to(tensors[signature.operands[0].name], target)
        else:
            root = protocol.evaluate(signature.expression, tensors, FUNCTIONS)
        if signature.operation == "gradient":
            cotangent = tensors.get(signature.cotangent)
            weighed = [root.sum()] if cotangent is None else [root]
            weights = None if cotangent is None else [cotangent]
            root = paddle.static.gradients(weighed, [tensors[signature.wrt]], weights)[0]
        return made, root, inputs


def gradient(request, tensors):
    """The gradient in dynamic mode. An operand that is used only in conditions is not connected to the result: its gradient is 0."""
    wrt = tensors[request.wrt]
    wrt.stop_gradient = False
    root = result(request, tensors)
    if request.cotangent is None:
        root.sum().backward()
        found = wrt.grad
    else:
        found = paddle.grad([root], [wrt], [tensors[request.cotangent]], allow_unused=True)[0]
    if found is None and wrt.is_floating_point():
        return paddle.zeros_like(wrt)
    if found is None:
        raise protocol.Refused("Paddle returns no gradient")
    return found


def into(request, tensors):
    """`a.add_(b)` where the destination is the first argument and there is such a method, otherwise `out=`; `paddle.assign` without
    a function, and for `neg`, which has no `out`."""
    destination = tensors[request.into]
    function, *arguments = [None] if isinstance(request.expression, str) else request.expression
    in_place = request.into in arguments[:1] and function not in NOT_IN_PLACE
    if function is None or (function == "negate" and not in_place):
        paddle.assign(protocol.evaluate(request.expression, tensors, FUNCTIONS), output=destination)
        return destination
    values = [protocol.evaluate(argument, tensors, FUNCTIONS) for argument in arguments]
    if in_place:
        # Some functions of the module are wrappers, whose names begin with an underscore.
        getattr(destination, FUNCTIONS[function].__name__.strip("_") + "_")(*values[1:])
    else:
        FUNCTIONS[function](*values, out=destination)
    return destination


def result(request, tensors):
    if request.target_shape is not None:
        return paddle.broadcast_to(tensors[request.operands[0].name], request.target_shape)
    names = [operand.name for operand in request.operands if operand.name != request.cotangent]
    if request.rules == "numpy" or len(names) == 1:
        return protocol.evaluate(request.expression, tensors, FUNCTIONS)
    if len(names) > 2:
        raise protocol.Skipped("Paddle's operations with an axis take two operands")
    return pdpd(request.expression, tensors, names, -1 if request.axis is None else request.axis)[0]


def pdpd(expression, tensors, names, axis):
    """The expression, with the axis for each function of which one argument depends on B alone and the other does not. Returns
    the tensor, and 1 if it depends on B alone, else 0."""
    if isinstance(expression, str):
        return tensors[expression], names.index(expression)
    function, *arguments = expression
    values, places = zip(*(pdpd(argument, tensors, names, axis) for argument in arguments))
    if function in UNARY or len(set(places)) == 1:
        return FUNCTIONS[function](*values), places[0]
    if function not in WITH_AXIS:
        raise protocol.Skipped(f"Paddle's {function} takes no axis")
    return getattr(paddle._legacy_C_ops, WITH_AXIS[function])(*values, "axis", axis), 0


protocol.serve(Paddle())
