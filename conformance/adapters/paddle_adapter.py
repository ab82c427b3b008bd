"""PaddlePaddle: its public functions under the rule set `numpy`, its older elementwise operations with their attribute `axis`
under `pdpd` (`paddle._legacy_C_ops`, in dynamic mode), and the gradients of both by `backward`."""
import os
import pickle
import warnings

import protocol
import numpy as np

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
LACKS = r"kernel .* is not registered|no kernels which are registered"
UNARY = {"negate", "abs", "sqrt", "exp", "log", "tanh", "logical_not"}


def apart(ask, request):
    """`ask(request)` in a child process. Some requests of pdpd spoil Paddle's heap, and what dies of that is often a later
    request; if the child dies, so does this process, of the same signal."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            told = ask(request)
        except Exception as error:
            known = isinstance(error, (protocol.Refused, protocol.Skipped))
            told = error if known else RuntimeError(protocol.shortened(error))
        with os.fdopen(theirs, "wb") as pipe:
            pickle.dump((type(told), getattr(told, "fields", None) or getattr(told, "args", None) or told), pipe)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        data = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or not data:
        os.kill(os.getpid(), -status or 6)
    kind, told = pickle.loads(data)
    if kind is protocol.Refused:
        raise protocol.Refused(**told)
    if issubclass(kind, Exception):
        raise kind(*told)
    return told


class Paddle:
    name, version = "paddle", paddle.__version__
    rules = ["numpy", "pdpd"]
    operations = ["elementwise", "broadcast", "gradient"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "i64", "i32", "i16", "i8", "u8", "bool"]
    max_rank = 9
    # It ends its process on some requests: one at a time, no other is lost with that one.
    window = 1

    def run(self, request):
        return apart(self.ask, request) if request.rules == "pdpd" else self.ask(request)

    def ask(self, request):
        for operand in request.operands:
            protocol.limit([length or 1 for length in operand.shape])
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        tensors = {operand.name: paddle.to_tensor(operand.dense()) for operand in request.operands}
        with protocol.asking(ValueError, TypeError, RuntimeError, IndexError, NotImplementedError, OverflowError,
                             lacks=LACKS, unless="Unimplemented"):
            if request.operation == "broadcast":
                return paddle.broadcast_to(tensors[request.operands[0].name], request.target_shape).numpy()
            if request.operation == "elementwise":
                return result(request, tensors).numpy()
            wrt = tensors[request.wrt]
            wrt.stop_gradient = False
            result(request, tensors).sum().backward()
            if wrt.grad is None:
                raise protocol.Refused("Paddle gives no gradient")
            return wrt.grad.numpy()


def result(request, tensors):
    if request.rules == "numpy" or len(request.operands) == 1:
        value = protocol.evaluate(request.expression, tensors, FUNCTIONS)
        if request.unused():
            raise protocol.Skipped("a function of Paddle has no operand that it does not use")
        return value
    if request.unused():
        raise protocol.Skipped("an operation of Paddle has no operand that it does not use")
    if len(request.operands) > 2:
        raise protocol.Skipped("Paddle's operations with an axis are between two operands")
    names = [operand.name for operand in request.operands]
    return pdpd(request.expression, tensors, names, -1 if request.axis is None else request.axis)[0]


def pdpd(expression, tensors, names, axis):
    """The expression with the axis where what comes from A alone or from both meets, on the right, what comes from B alone.
    Gives the tensor, and whether it comes from B alone."""
    if isinstance(expression, str):
        return tensors[expression], names.index(expression)
    function, *arguments = expression
    values, places = zip(*(pdpd(argument, tensors, names, axis) for argument in arguments))
    if function in UNARY or len(set(places)) == 1:
        return FUNCTIONS[function](*values), places[0]
    if function not in WITH_AXIS:
        raise protocol.Skipped(f"Paddle's {function} has no axis")
    if places != (0, 1):
        raise protocol.Skipped(f"Paddle's operations with an axis take A and then B: {function} has them in another order")
    return getattr(paddle._legacy_C_ops, WITH_AXIS[function])(*values, "axis", axis), 0


protocol.serve(Paddle())
