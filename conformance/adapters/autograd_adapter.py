"""autograd: its gradients of NumPy functions, under the rule set `numpy`. Forward evaluation is NumPy's and is not declared."""
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
    unused_operands = False  # a function takes none
    large_sizes = False

    def run(self, request):
        arrays = {operand.name: operand.array() for operand in request.operands}

        def total(w):
            return anp.sum(protocol.evaluate(request.expression, {**arrays, request.wrt: w}, FUNCTIONS))

        with protocol.refusals(ValueError, TypeError, NotImplementedError):
            return autograd.grad(total)(arrays[request.wrt])


protocol.serve(Autograd())
