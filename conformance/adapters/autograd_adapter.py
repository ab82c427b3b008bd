"""autograd: its gradients of NumPy functions, under the rule set `numpy`, also with a cotangent (`make_vjp`). Forward evaluation is
NumPy's and is not declared."""
import protocol
import autograd
import autograd.numpy as anp
from importlib.metadata import version
from numpy_interface import NAMES, functions
from programs import ARRAYS_OF_NUMPY, PRINTED, Writer, dtypes

FUNCTIONS = functions(anp)


class Autograd:
    name, version = "autograd", version("autograd")
    rules = ["numpy"]
    operations = ["gradient", "cotangent", "strided", "same"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    max_rank = protocol.NUMPY_RANK
    unused_operands = False  # a function takes none
    large_sizes = False

    def run(self, request):
        arrays = request.arrays(protocol.Operand.array)

        def function(w):
            return protocol.evaluate(request.expression, {**arrays, request.wrt: w}, FUNCTIONS)

        with protocol.refusals(ValueError, TypeError, NotImplementedError):
            if request.cotangent is None:
                return autograd.grad(lambda w: anp.sum(function(w)))(arrays[request.wrt])
            return autograd.make_vjp(function)(arrays[request.wrt])[0](arrays[request.cotangent])

    def program(self, request):
        return Writer(
            ["import autograd, autograd.numpy as anp, numpy as np"],
            {name: f"anp.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, dtypes("np"),
            gradient="autograd.grad(lambda {wrt}: anp.sum({call}))({wrt})", vjp="autograd.make_vjp({function})({wrt})[0]({cotangent})",
            printed="result = np.asarray(result)\n" + PRINTED, **ARRAYS_OF_NUMPY,
        ).write(request)


protocol.serve(Autograd())
