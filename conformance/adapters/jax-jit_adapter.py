"""JAX under `jax.jit`: one function that has the results of a batch of requests as its outputs, compiled by XLA for the CPU. Its functions,
dtypes and gradients are those of the adapter of JAX, which asks JAX eagerly. JAX refuses a request while it traces it.

With the optimiser off, XLA compiles without most of its optimisations (`jax_disable_most_optimizations`).
"""
import protocol
import jax
import numpy as np
from jax_adapter import Jax, JaxWriter
from numpy_interface import Differentiable


class JaxJitWriter(JaxWriter):
    """Every program is a function under `jax.jit`, also one without constants."""

    def is_jitted(self, request):
        return True


class JaxJit(protocol.Batched, Jax):
    name = "jax-jit"
    operations = [operation for operation in Jax.operations if operation not in Jax.inferring]
    rule_operations = {"xla": ["broadcast", "gradient"]}
    batch = 40
    optimiser = "on"

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "optimiser":
            jax.config.update("jax_disable_most_optimizations", value == "off")

    def run_many(self, requests):
        # The compiled functions would otherwise fill the memory.
        jax.clear_caches()
        answers, traced = [None] * len(requests), {}
        for place, request in enumerate(requests):
            try:
                traced[place] = self.traced(request)
            except (protocol.Refused, protocol.Skipped) as error:
                answers[place] = error
        functions = {place: function for place, (function, _) in traced.items()}

        def together(parameters):
            return {place: function(parameters[place]) for place, function in functions.items()}

        results = jax.jit(together)({place: parameters for place, (_, parameters) in traced.items()})
        for place, result in results.items():
            answers[place] = np.array(result)
        return answers

    def program(self, request):
        return JaxJitWriter().write(request)

    def traced(self, request):
        """A function of the request's parameters, and those. Constants are closed over."""
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        arrays = request.arrays(self.array)
        constants = request.constants()
        parameters = {name: array for name, array in arrays.items() if name not in constants}

        def function(parameters):
            return Differentiable.answer(self, request, {**arrays, **parameters})

        with protocol.refusals(ValueError, TypeError, kinds=self.kinds):
            jax.eval_shape(function, parameters)
        return function, parameters


if __name__ == "__main__":
    protocol.serve(JaxJit())
