"""Shared by the adapters of arrays that behave like NumPy's and have functions under NumPy's names: dask, sparse, awkward.

This module imports none of those systems. An adapter says how an operand becomes the system's array, and how a result becomes one of NumPy.
"""
import protocol
import numpy as np
from numpy_interface import NAMES, skip_large


class ArrayLike:
    """A system that has elementwise functions, and `broadcast_to` if `module` has it."""

    rules = ["numpy"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    unused_operands = False  # a function takes none
    large_sizes = False

    def __init__(self, module, array, dense, kinds, **calls):
        """`array` makes the system's array from an operand and its position, `dense` one of NumPy from a result; `kinds` is passed to
        `protocol.refusals` for functions; `calls` are the functions that are not in `module` under NumPy's names."""
        self.module, self.array, self.dense, self.kinds = module, array, dense, kinds
        self.calls = {name: calls.get(name) or getattr(module, NAMES.get(name, name)) for name in protocol.FUNCTIONS}

    def run(self, request):
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        if request.target_shape is None:
            skip_large([operand.view() for operand in request.operands])
        arrays = {operand.name: self.array(operand.dense(), at) for at, operand in enumerate(request.operands)}
        # What `broadcast_to` says does not depend on which of rank and length is wrong.
        kinds = () if request.operation == "broadcast" else self.kinds
        with protocol.refusals(ValueError, TypeError, kinds=kinds):
            return np.asarray(self.dense(self.answer(request, arrays)))

    def answer(self, request, arrays):
        if request.operation == "broadcast":
            return self.module.broadcast_to(arrays[request.operands[0].name], tuple(request.target_shape))
        return protocol.evaluate(request.expression, arrays, self.calls)
