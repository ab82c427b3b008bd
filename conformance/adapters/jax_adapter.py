"""JAX in 64-bit mode: `jax.numpy` under the rule set `numpy`, `jnp.broadcast_to`, `jax.grad`, and `jax.vjp` for gradients with a
cotangent. Under `xla`: `lax.broadcast_in_dim` and its gradients; JAX has no functions of two operands with dimensions.

For `infer`: `jax.eval_shape` of symbolic shapes, in which each length that is not known has its own symbol. JAX takes a symbol
to be at least 1. With constants: a function under `jax.jit` that closes over them.

With declared shapes: a function that is exported for the same symbols (`jax.export`), and called with each request's arrays. JAX refuses to
trace a symbol beside another one, and beside any number but 1. A target shape is that of another argument."""
import copy
import itertools

import protocol
import jax
import jax.numpy as jnp
import numpy as np
from numpy_interface import NAMES, Differentiable
from programs import Writer, dtypes

try:
    import jax.export
except ImportError:  # JAX before 0.4.30 has it elsewhere
    jax.export = None

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

KINDS = [
    (r"Incompatible shapes for broadcasting|got incompatible shapes for broadcasting", "dimension_mismatch"),
]
# After this many requests JAX drops its compiled functions, which would otherwise fill the memory.
CLEAR_EVERY = 500
# Exported functions that are kept.
KEPT = 256


def vjp(function, argument, cotangent):
    return jax.vjp(function, argument)[1](cotangent)[0]


class JaxWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import jax, jax.numpy as jnp", 'jax.config.update("jax_enable_x64", True)'],
            {name: f"jnp.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, dtypes("jnp", more=[("bf16", "bfloat16")]),
            array="jnp.array({values}, dtype={dtype})", arange="jnp.arange({range}, dtype={dtype})",
            empty="jnp.zeros({shape}, dtype={dtype})",
            full="jnp.full({shape}, {value}, dtype={dtype})", broadcast="jnp.broadcast_to({operand}, {shape})",
            broadcast_in_dim="jax.lax.broadcast_in_dim({operand}, {shape}, {dims})", words={"nan": "jnp.nan", "inf": "jnp.inf"},
            gradient="jax.grad(lambda {wrt}: jnp.sum({call}))({wrt})", vjp="jax.vjp({function}, {wrt})[1]({cotangent})[0]",
        )

    def is_jitted(self, request):
        return bool(request.constants())

    def computed(self, request, names):
        """With constants: a function under `jax.jit` that closes over them."""
        lines = super().computed(request, names)
        if not self.is_jitted(request):
            return lines
        parameters = ", ".join(names[operand.name] for operand in request.operands if not operand.constant)
        body = "\n".join(lines).replace("result = ", "return ").replace("\n", "\n    ")
        return ["@jax.jit", f"def jitted({parameters}):", f"    {body}", f"result = jitted({parameters})"]


class Symbols:
    """Symbolic shapes of one function, in which each length that is not known has its own symbol."""

    def __init__(self):
        self.scope, self.places = jax.export.SymbolicScope(), itertools.count()

    def shape(self, lengths):
        texts = [f"length_{next(self.places)}" if number is None else str(number) for number in protocol.numbers(lengths)]
        return jax.export.symbolic_shape(",".join(texts), scope=self.scope)


class Jax(Differentiable):
    name, version = "jax", jax.__version__
    rules = ["numpy", "xla"]
    inferring = ["infer", "declared"] if jax.export else []
    operations = [*Differentiable.operations, "broadcast_in_dim", "permuted", *inferring, "constants", "same"]
    rule_operations = {"xla": ["broadcast", "gradient", *inferring]}
    rule_functions = {"xla": []}
    unknown = ["length"]
    dtypes = ["f64", "f32", "f16", "bf16", *protocol.INTEGERS, "bool"]
    large_sizes = False
    flushed_subnormals = ["f64", "f32", "bf16"]

    def __init__(self):
        super().__init__(jnp, lambda operand: jnp.asarray(operand.dense()), jax.grad, vjp, KINDS)
        self.requests = 0
        self.kept = protocol.Kept(KEPT, self.built)

    def run(self, request):
        self.requests += 1
        if self.requests % CLEAR_EVERY == 0:
            jax.clear_caches()
        if request.signature is not None:
            return self.run_declared(request)
        return super().run(request)

    def run_declared(self, request):
        exported = self.kept.get(request.signature.key(), request.signature)
        arrays = {name: jnp.asarray(array) for name, array in request.arrays(protocol.Operand.dense).items()}
        arguments = [arrays]
        if request.target_shape is not None:
            protocol.limit([length or 1 for length in request.target_shape])
            arguments.append(jnp.zeros(request.target_shape, bool))
        with protocol.refusals(ValueError, TypeError, kinds=self.kinds):
            return np.array(exported.call(*arguments))

    def built(self, signature):
        """The exported function of a signature: of its arrays, and of one that has the target shape."""
        symbolic = Symbols()

        def traced(arrays, *target):
            told = copy.copy(signature)
            told.target_shape = target[0].shape if target else None
            return super(Jax, self).answer(told, arrays)

        kinds = [{o.name: jax.ShapeDtypeStruct(symbolic.shape(o.shape), protocol.dtype(o.dtype)) for o in signature.operands}]
        if signature.target_shape is not None:
            kinds.append(jax.ShapeDtypeStruct(symbolic.shape(signature.target_shape), bool))
        with protocol.refusals(ValueError, TypeError, kinds=self.kinds):
            return jax.export.export(jax.jit(traced))(*kinds)

    def answer(self, request, arrays):
        constants = request.constants()
        if not constants:
            return super().answer(request, arrays)

        def built(parameters):
            return super(Jax, self).answer(request, {**arrays, **parameters})

        return jax.jit(built)({name: array for name, array in arrays.items() if name not in constants})

    def program(self, request):
        return JaxWriter().write(request)

    def broadcast(self, request, array, target):
        if request.rules == "xla":
            return jax.lax.broadcast_in_dim(array, target, request.broadcast_dimensions or [])
        return jnp.broadcast_to(array, target)

    def infer(self, signature):
        symbolic = Symbols()

        def traced(*arrays):
            if signature.expression is None:
                return self.broadcast(signature, arrays[0], symbolic.shape(signature.target_shape))
            operands = {operand.name: array for operand, array in zip(signature.operands, arrays)}
            return protocol.evaluate(signature.expression, operands, self.calls)

        kinds = [jax.ShapeDtypeStruct(symbolic.shape(o.shape), protocol.dtype(o.dtype)) for o in signature.operands]
        with protocol.refusals(ValueError, TypeError, kinds=self.kinds):
            result = jax.eval_shape(traced, *kinds)
        return protocol.Inferred(result.dtype, [length if isinstance(length, int) else None for length in result.shape])


if __name__ == "__main__":
    protocol.serve(Jax())
