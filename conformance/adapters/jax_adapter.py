"""JAX in 64-bit mode: `jax.numpy` under the rule set `numpy`, `jnp.broadcast_to`, and `jax.grad`."""
import protocol
import jax
import jax.numpy as jnp
from numpy_interface import Differentiable

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

KINDS = [
    (r"Incompatible shapes for broadcasting|got incompatible shapes for broadcasting", "dimension_mismatch"),
]
# After this many requests JAX drops its compiled functions, which would otherwise fill the memory.
CLEAR_EVERY = 500


class Jax(Differentiable):
    name, version = "jax", jax.__version__
    dtypes = ["f64", "f32", "f16", "bf16", *protocol.INTEGERS, "bool"]
    large_sizes = False
    flushed_subnormals = ["f64", "f32", "bf16"]

    def __init__(self):
        super().__init__(jnp, lambda operand: jnp.asarray(operand.dense()), jax.grad, KINDS)
        self.requests = 0

    def run(self, request):
        self.requests += 1
        if self.requests % CLEAR_EVERY == 0:
            jax.clear_caches()
        return super().run(request)


protocol.serve(Jax())
