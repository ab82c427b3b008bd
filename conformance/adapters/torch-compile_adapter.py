"""PyTorch's compiler on the CPU: `torch.compile` of a function that has the results of a batch of requests as its outputs. Its functions,
dtypes and gradients are those of the adapter of PyTorch. With the optimiser off, the backend is `aot_eager`, which takes the function apart
in the same way and runs its operations one by one; with it on, it is `inductor`, which writes C++ and needs g++.

PyTorch says which requests it refuses when it traces them with tensors that have no values; the compiler traces with the same ones.
"""
import os

# One thread compiles: the runner has as many processes as the machine has processors.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import protocol  # noqa: E402
import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from programs import Unwritable, is_differentiable  # noqa: E402
from torch_adapter import KINDS, LACKS, NAMES, Torch, TorchWriter, array, tensor  # noqa: E402

torch._dynamo.config.recompile_limit = 1
BACKENDS = {"off": "aot_eager", "on": "inductor"}


def source_of(expression, names):
    """The expression in Python. `names` are those of the arguments there."""
    if isinstance(expression, str):
        return names[expression]
    function, *arguments = expression
    return f"torch.{NAMES.get(function, function)}({', '.join(source_of(argument, names) for argument in arguments)})"


class TorchCompileWriter(TorchWriter):
    """The output is that of a compiled function; a gradient is asked of it outside, which compiles the rest."""

    def compiled(self, request, names, form="{}"):
        lines, text = self.value(request, names)
        arguments = ", ".join(dict.fromkeys(names[operand.name] for operand in request.operands if operand.name != request.cotangent))
        return ["@torch.compile", f"def compiled({arguments}):", *(f"    {line}" for line in lines), f"    return {form.format(text)}",
                f"output = compiled({arguments})"]

    def computed(self, request, names):
        if request.operation != "gradient":
            return [*self.compiled(request, names), "result = output"]
        if request.expression is not None and not is_differentiable(request.expression, request.wrt):
            raise Unwritable(f"the result is not connected to {request.wrt}, and PyTorch then has no gradient")
        wrt, cotangent = names[request.wrt], names.get(request.cotangent)
        lines = self.compiled(request, names, "{}" if cotangent else "{}.sum()")
        return [f"{wrt}.requires_grad_()", *lines, f"result = torch.autograd.grad(output, {wrt}{f', {cotangent}' if cotangent else ''})[0]"]


class Traced:
    """A request that PyTorch does not refuse: its tensors, and its result in Python."""

    def __init__(self, request, prefix):
        self.request = request
        self.tensors = request.arrays(tensor, apart=torch.Tensor.detach)
        self.names = {name: f"{prefix}_{place}" for place, name in enumerate(self.tensors)}
        if request.target_shape is not None:
            self.source = f"torch.broadcast_to({self.names[request.operands[0].name]}, {tuple(request.target_shape)})"
        else:
            self.source = source_of(request.expression, self.names)
        if request.operation == "gradient":
            with protocol.refusals(RuntimeError, kinds=KINDS):
                self.tensors[request.wrt].requires_grad_()
            self.source = self.source if request.cotangent else f"torch.sum({self.source})"
        self.refuse()

    def refuse(self):
        """Raises what PyTorch does of tensors without values."""
        with protocol.refusals(RuntimeError, TypeError, kinds=KINDS, lacks=LACKS), FakeTensorMode() as mode:
            fakes = {self.names[name]: mode.from_tensor(value) for name, value in self.tensors.items()}
            output = eval(self.source, {"torch": torch}, fakes)
            cotangent = fakes.get(self.names.get(self.request.cotangent))
            if self.request.operation == "gradient":
                wrt = fakes[self.names[self.request.wrt]]
                # An operand that is used only in conditions is not connected to the result: its gradient is 0.
                self.connected = output.requires_grad or not output.is_floating_point()
                if self.connected:
                    torch.autograd.grad(output, wrt, cotangent)

    def answer(self, output, gradient):
        if self.request.operation != "gradient":
            return array(output)
        wrt = self.tensors[self.request.wrt]
        return array(torch.zeros_like(wrt) if gradient is None else gradient)


class TorchCompile(protocol.Batched, Torch):
    name = "torch-compile"
    operations = ["elementwise", "broadcast", "gradient", "cotangent", "strided", "same"]
    # Inductor has no code for a choice among the wider unsigned integers.
    function_dtypes = {
        **Torch.function_dtypes, "select": [dtype for dtype in Torch.function_dtypes["select"] if dtype not in ("u16", "u32", "u64")],
    }
    optimiser = "on"
    batch = 40

    def run_many(self, requests):
        """One function whose outputs are the results of all requests that PyTorch does not refuse."""
        answers, traced = [None] * len(requests), {}
        for place, request in enumerate(requests):
            try:
                if request.target_shape:
                    protocol.limit([length or 1 for length in request.target_shape])
                traced[place] = Traced(request, f"v{place}")
            except (protocol.Refused, protocol.Skipped) as error:
                answers[place] = error
        if traced:
            outputs = self.compiled(list(traced.values()))
            gradients = self.gradients(list(traced.values()), outputs)
            for (place, one), output, gradient in zip(traced.items(), outputs, gradients):
                answers[place] = one.answer(output, gradient)
        return answers

    def program(self, request):
        return TorchCompileWriter().write(request)

    def compiled(self, traced):
        """The outputs of one compiled function."""
        arguments = [name for one in traced for name in one.names.values()]
        lines = [f"def together({', '.join(arguments)}):", *(f"    r{place} = {one.source}" for place, one in enumerate(traced))]
        scope = {"torch": torch}
        exec("\n".join([*lines, f"    return ({''.join(f'r{place}, ' for place in range(len(traced)))})"]), scope)
        torch._dynamo.reset()
        function = torch.compile(scope["together"], backend=BACKENDS[self.optimiser], fullgraph=True, dynamic=False)
        return function(*(value for one in traced for value in one.tensors.values()))

    def gradients(self, traced, outputs):
        """The gradients of all requests that have one, in one call: they are compiled together, too."""
        wanted = [
            (output, one.tensors[one.request.wrt], one.tensors.get(one.request.cotangent))
            for one, output in zip(traced, outputs) if one.request.operation == "gradient" and one.connected
        ]
        found = iter(torch.autograd.grad(*map(list, zip(*wanted))) if wanted else [])
        return [next(found) if one.request.operation == "gradient" and one.connected else None for one in traced]


if __name__ == "__main__":
    protocol.serve(TorchCompile())
