"""autograd: its gradients of NumPy functions, under the rule set `numpy`. What goes forward is NumPy's, and is not declared."""
import protocol
import autograd
import autograd.numpy as anp
from importlib.metadata import version
from numpy_interface import functions

FUNCTIONS = functions(anp)


class Autograd:
    name, version = "autograd", version("autograd")
    rules = ["numpy"]
    operations = ["gradient", "strided"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    max_rank = 64

    def run(self, request):
        for operand in request.operands:
            protocol.limit(operand.shape)
        arrays = {operand.name: operand.array() for operand in request.operands}
        common = [array.shape for array in arrays.values()] if request.unused() else []

        def total(w):
            value = protocol.evaluate(request.expression, {**arrays, request.wrt: w}, FUNCTIONS)
            # Operands that the expression does not hold take part in the common shape all the same.
            return anp.sum(anp.broadcast_to(value, anp.broadcast_shapes(*common)) if common else value)

        with protocol.asking(ValueError, TypeError, NotImplementedError):
            return autograd.grad(total)(arrays[request.wrt])


protocol.serve(Autograd())
