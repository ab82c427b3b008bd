"""Shared by the adapters of systems that have NumPy's functions under NumPy's names, and perhaps gradients of functions.

This module imports none of those systems. An adapter passes its module of functions, and how to create an array and a
gradient.
"""
import itertools
import math

import protocol
import numpy as np

# NumPy's names that differ from the protocol's.
NAMES = {"negate": "negative", "select": "where"}


def functions(module):
    """The protocol's functions, from a module that has them under NumPy's names."""
    return {name: getattr(module, NAMES.get(name, name)) for name in protocol.FUNCTIONS}


def skip_large(arrays):
    """Skips shapes that a system would allocate and that may not fit into memory. That includes intermediate results, because
    NumPy takes two operands at a time. Sizes that must be refused are left to the system."""
    shapes = [array.shape for array in arrays]
    for some in [shapes, *itertools.combinations(shapes, 2)]:
        try:
            shape = np.broadcast_shapes(*some)
        except (ValueError, RuntimeError):
            continue
        if math.prod(shape) < 2**59:
            protocol.limit(shape)


class Differentiable:
    """A system that has elementwise functions, `broadcast_to`, and gradients of functions, also with a cotangent."""

    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "gradient", "cotangent"]
    functions = protocol.FUNCTIONS
    unused_operands = False  # a function takes none

    def __init__(self, module, array, grad, vjp, kinds=()):
        """`array` makes the system's array from an operand, `grad` the gradient of a function of one argument; `vjp` takes such a
        function, its argument and a cotangent; `kinds` is passed to `protocol.refusals`."""
        self.module, self.array, self.grad, self.vjp, self.kinds = module, array, grad, vjp, kinds
        self.calls = functions(module)

    def run(self, request):
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        arrays = request.arrays(self.array)
        with protocol.refusals(ValueError, TypeError, kinds=self.kinds):
            return np.array(self.answer(request, arrays))

    def answer(self, request, arrays):
        if request.operation != "gradient":
            return self.result(request, arrays)

        def function(wrt):
            return self.result(request, {**arrays, request.wrt: wrt})

        if request.cotangent is not None:
            return self.vjp(function, arrays[request.wrt], arrays[request.cotangent])
        return self.grad(lambda wrt: self.module.sum(function(wrt)))(arrays[request.wrt])

    def result(self, request, arrays):
        if request.target_shape is not None:
            return self.broadcast(request, arrays[request.operands[0].name], request.target_shape)
        return protocol.evaluate(request.expression, arrays, self.calls)

    def broadcast(self, request, array, target):
        return self.module.broadcast_to(array, target)
