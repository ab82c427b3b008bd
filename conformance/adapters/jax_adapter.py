"""JAX in 64-bit mode: `jax.numpy` under the rule set `numpy`, `jnp.broadcast_to`, and `jax.grad`."""
import protocol
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

FUNCTIONS = {
    "add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply, "divide": jnp.divide, "power": jnp.power,
    "maximum": jnp.maximum, "minimum": jnp.minimum, "negate": jnp.negative, "abs": jnp.abs, "sqrt": jnp.sqrt,
    "exp": jnp.exp, "log": jnp.log, "tanh": jnp.tanh, "select": jnp.where, "equal": jnp.equal,
    "not_equal": jnp.not_equal, "less": jnp.less, "less_equal": jnp.less_equal, "greater": jnp.greater,
    "greater_equal": jnp.greater_equal, "logical_and": jnp.logical_and, "logical_or": jnp.logical_or,
    "logical_not": jnp.logical_not,
}
KINDS = [
    (r"Incompatible shapes for broadcasting|got incompatible shapes for broadcasting", "dimension_mismatch"),
]


# After so many requests JAX forgets what it compiled, which otherwise fills the memory.
FORGET = 500


class Jax:
    name, version = "jax", jax.__version__
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "gradient"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", "bf16", *protocol.INTEGERS, "bool"]

    def __init__(self):
        self.asked = 0

    def run(self, request):
        self.asked += 1
        if self.asked % FORGET == 0:
            jax.clear_caches()
        for operand in request.operands:
            protocol.limit(operand.shape)
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        arrays = {operand.name: jnp.asarray(operand.dense()) for operand in request.operands}
        with protocol.asking(ValueError, TypeError, kinds=KINDS):
            if request.operation == "broadcast":
                return np.asarray(jnp.broadcast_to(arrays[request.operands[0].name], request.target_shape))
            if request.operation == "elementwise":
                return np.asarray(result(request, arrays))
            gradient = jax.grad(lambda w: jnp.sum(result(request, {**arrays, request.wrt: w})))
            return np.asarray(gradient(arrays[request.wrt]))


def result(request, arrays):
    value = protocol.evaluate(request.expression, arrays, FUNCTIONS)
    if request.unused():  # they take part in the common shape all the same
        value = jnp.broadcast_to(value, jnp.broadcast_shapes(*(array.shape for array in arrays.values())))
    return value


protocol.serve(Jax())
