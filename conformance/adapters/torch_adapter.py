"""PyTorch in eager mode on the CPU: its functions under the rule set `numpy`, also in place and with `out=`, `torch.broadcast_to`,
and gradients by autograd. Operands are real views; PyTorch has none whose strides are negative."""
import re

import protocol
import torch
from programs import Unwritable, Writer, call_text, dtypes, is_differentiable

torch.set_num_threads(1)
# The protocol's names that are not PyTorch's. `torch.equal` compares whole tensors.
NAMES = {"power": "pow", "equal": "eq", "negate": "negative", "select": "where"}
FUNCTIONS = {name: getattr(torch, NAMES.get(name, name)) for name in protocol.FUNCTIONS}
# Methods that write into their first argument.
IN_PLACE = {name: f"{call.__name__}_" for name, call in FUNCTIONS.items() if hasattr(torch.Tensor, f"{call.__name__}_")}
# PyTorch has the wider unsigned integers since 2.3.
TYPES = {
    ours: getattr(torch, name) for ours, name in {
        "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "i16": "int16",
        "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool",
    }.items() if hasattr(torch, name)
}
KINDS = [
    (r"must match the size of tensor|cannot be expanded|must match the existing size", "dimension_mismatch"),
    (r"the number of sizes provided .* must be greater or equal", "rank_mismatch"),
    (r"must have the same dtype|to have the same dtype", "dtype_mismatch"),
]
LACKS = r"not implemented for|Promotion for uint16, uint32, uint64 types is not supported"


def has_kernel(function, dtype):
    """Whether PyTorch computes a function of arguments of this dtype on the CPU; it says so when it is called."""
    arguments = [torch.ones(1).to(TYPES[dtype])] * protocol.ARGUMENTS[function]
    if function == "select":
        arguments[0] = torch.ones(1).bool()
    try:
        FUNCTIONS[function](*arguments)
    except RuntimeError as error:
        return not re.search(LACKS, str(error))
    return True


def buffer(operand):
    """The values in a tensor of one axis, with storage of PyTorch's own. NumPy has no bfloat16; every one is an f32, too."""
    array = operand.buffer()
    return torch.tensor(array.astype("f4") if operand.dtype == "bf16" else array).to(TYPES[operand.dtype])


def tensor(operand, values=None):
    """The operand as a tensor that reads its values, or these."""
    protocol.limit(operand.shape)
    strides, offset = operand.layout()
    values = buffer(operand) if values is None else values
    # Nothing is read of an empty tensor, and PyTorch takes no offset beyond its buffer.
    return values.new_empty(operand.shape) if 0 in operand.shape else values.as_strided(operand.shape, strides, offset)


def array(result):
    if result.dtype == torch.bfloat16:
        return result.detach().to(torch.float32).numpy().astype(protocol.dtype("bf16"))
    return result.detach().numpy()


def result(request, tensors):
    if request.target_shape is not None:
        return torch.broadcast_to(tensors[request.operands[0].name], request.target_shape)
    return protocol.evaluate(request.expression, tensors, FUNCTIONS)


def gradient(request, tensors):
    wrt = tensors[request.wrt].requires_grad_()
    output = result(request, tensors)
    if request.cotangent is None:
        output = output.sum()
    if not output.requires_grad and output.is_floating_point():
        # The operand is used only in conditions, so it is not connected to the result: its gradient is 0.
        return torch.zeros_like(wrt)
    return torch.autograd.grad(output, wrt, tensors.get(request.cotangent))[0]


def into(request):
    """`a.add_(b)` where the destination is the first argument and there is such a method, otherwise `out=`; `copy_` without a
    function."""
    destination = request.destination()
    values = buffer(destination)
    tensors = {operand.name: tensor(operand, values if operand.of else None) for operand in request.operands}
    written = tensors[request.into] = tensor(destination, values)
    if isinstance(request.expression, str):
        written.copy_(tensors[request.expression])
    else:
        function, *arguments = request.expression
        inner = [protocol.evaluate(argument, tensors, FUNCTIONS) for argument in arguments]
        if function in IN_PLACE and arguments[0] == request.into:
            getattr(written, IN_PLACE[function])(*inner[1:])
        else:
            FUNCTIONS[function](*inner, out=written)
    return protocol.Result(array(written), buffer=array(values))


class TorchWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import torch"], {name: f"torch.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS},
            dtypes("torch", "bool", [("bf16", "bfloat16")]), array="torch.tensor({values}, dtype={dtype})",
            full="torch.full({shape}, {value}, dtype={dtype})", empty="torch.zeros({shape}, dtype={dtype})",
            arange="torch.arange({range}).to({dtype})", view="torch.as_strided({buffer}, {shape}, {strides}, {offset})",
            broadcast="torch.broadcast_to({operand}, {shape})", same="{0}.detach()", words={"nan": "torch.nan", "inf": "torch.inf"},
        )

    def view(self, operand, buffer, dtype=None):
        if any(stride < 0 for stride in operand.layout()[0]):
            raise Unwritable("PyTorch has no negative strides")
        return super().view(operand, buffer, dtype)

    def gradient(self, request, names):
        if request.expression is not None and not is_differentiable(request.expression, request.wrt):
            raise Unwritable(f"the result is not connected to {request.wrt}, and PyTorch then has no gradient")
        lines, text = self.value(request, names)
        wrt, cotangent = names[request.wrt], names.get(request.cotangent)
        output = text if cotangent else f"{text}.sum()"
        result = f"result = torch.autograd.grad(output, {wrt}{f', {cotangent}' if cotangent else ''})[0]"
        return [f"{wrt}.requires_grad_()", *lines, f"output = {output}", result]

    def into(self, request, names):
        """The same call as that of `into`."""
        destination, expression = names[request.into], request.expression
        if isinstance(expression, str):
            return [f"{destination}.copy_({names[expression]})", f"result = {destination}"]
        function, *arguments = expression
        values = [self.expression(argument, names) for argument in arguments]
        if function in IN_PLACE and arguments[0] == request.into:
            written = f"{destination}.{IN_PLACE[function]}({', '.join(values[1:])})"
        else:
            written = call_text(self.calls[function], [*values, f"out={destination}"])
        return [written, f"result = {destination}"]


class Torch:
    name, version = "torch", torch.__version__.split("+")[0]
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "gradient", "cotangent", "strided", "into", "same"]
    functions = protocol.FUNCTIONS
    dtypes = list(TYPES)
    function_dtypes = {
        function: [dtype for dtype in TYPES if has_kernel(function, dtype)] for function in protocol.FUNCTIONS
    }
    unused_operands = False  # a function takes none
    negative_strides = False
    # PyTorch counts elements in signed 64 bits, and allocates its results.
    large_sizes = False

    def run(self, request):
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        if request.into is not None:
            with protocol.refusals(RuntimeError, TypeError, kinds=KINDS, lacks=LACKS):
                return into(request)
        tensors = request.arrays(tensor, apart=torch.Tensor.detach)
        with protocol.refusals(RuntimeError, TypeError, kinds=KINDS, lacks=LACKS):
            if request.operation != "gradient":
                return array(result(request, tensors))
            return array(gradient(request, tensors))

    def program(self, request):
        return TorchWriter().write(request)


if __name__ == "__main__":
    protocol.serve(Torch())
