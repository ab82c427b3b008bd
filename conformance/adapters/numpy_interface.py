"""What the adapters share of systems that have NumPy's functions under NumPy's names, and gradients of functions if any.

It imports none of them: they give their module of functions, and how it makes an array and a gradient.
"""
import itertools
import math

import protocol
import numpy as np

# Where NumPy's name is another than the protocol's.
NAMES = {"negate": "negative", "select": "where"}


def functions(module):
    """The protocol's functions in a module that has them under NumPy's names."""
    return {name: getattr(module, NAMES.get(name, name)) for name in protocol.FUNCTIONS}


def skip_large(arrays):
    """Skips what a system would allocate and this machine may not hold, on the way too: NumPy takes two operands at a time.
    What is refused by its size is the system's to say."""
    shapes = [array.shape for array in arrays]
    for some in [shapes, *itertools.combinations(shapes, 2)]:
        try:
            shape = np.broadcast_shapes(*some)
        except (ValueError, RuntimeError):
            continue
        if math.prod(shape) < 2**59:
            protocol.limit(shape)


class Differentiable:
    """A system that has elementwise functions, `broadcast_to`, and gradients of functions."""

    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "gradient"]
    functions = protocol.FUNCTIONS

    def __init__(self, module, array, grad, kinds=()):
        """`array` makes the system's array of an operand, `grad` a function's gradient by its only argument; `kinds` are
        what the system's words amount to, as `protocol.asking` takes them."""
        self.module, self.array, self.grad, self.kinds = module, array, grad, kinds
        self.calls = functions(module)

    def run(self, request):
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        arrays = {operand.name: self.array(operand) for operand in request.operands}
        with protocol.asking(ValueError, TypeError, kinds=self.kinds):
            return np.array(self.answer(request, arrays))

    def answer(self, request, arrays):
        if request.operation == "broadcast":
            return self.module.broadcast_to(arrays[request.operands[0].name], request.target_shape)
        if request.operation == "elementwise":
            return self.result(request, arrays)
        gradient = self.grad(lambda w: self.module.sum(self.result(request, {**arrays, request.wrt: w})))
        return gradient(arrays[request.wrt])

    def result(self, request, arrays):
        if set(request.unused()) - {request.wrt}:
            raise protocol.Skipped("a function has no operand that it does not use")
        return protocol.evaluate(request.expression, arrays, self.calls)
