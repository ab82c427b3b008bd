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
# After so many requests JAX forgets what it compiled, which otherwise fills the memory.
FORGET = 500


class Jax(Differentiable):
    name, version = "jax", jax.__version__
    dtypes = ["f64", "f32", "f16", "bf16", *protocol.INTEGERS, "bool"]

    def __init__(self):
        super().__init__(jnp, lambda operand: jnp.asarray(operand.dense()), jax.grad, KINDS)
        self.asked = 0

    def run(self, request):
        self.asked += 1
        if self.asked % FORGET == 0:
            jax.clear_caches()
        return super().run(request)


protocol.serve(Jax())
