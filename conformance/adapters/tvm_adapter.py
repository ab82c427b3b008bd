"""TVM: a function of relax's operators, compiled by LLVM and run by relax's virtual machine on the CPU, under the rule set `numpy`. A batch is
one function that returns the results of its requests as a tuple. For `infer`: the type that relax infers of a call.

TVM refuses most requests while it infers their types, and some only while it lowers them. One that is refused then cannot be built in a
batch, and is asked again alone.
"""
import protocol
import tvm
from programs import ARRAYS_OF_NUMPY, NAMES_OF_NUMPY, Writer, dtypes, list_text
from tvm import relax

# The protocol's names that are not relax's.
NAMES = {"negate": "negative", "select": "where"}
FUNCTIONS = {name: getattr(relax.op, NAMES.get(name, name)) for name in protocol.FUNCTIONS}
DTYPES = {**NAMES_OF_NUMPY, "bf16": "bfloat16", "bool": "bool"}
FLOATS = ["f64", "f32", "f16", "bf16"]
CPU = tvm.cpu()
KINDS = [(r"not broadcastable|which are not equal", "dimension_mismatch"), (r"same datatype", "dtype_mismatch")]
# How TVM refuses operands while it infers types.
REFUSES = r"broadcast|must have the same datatype|have the same d(ata)?type|to have float dtype|to have boolean dtype"
# How it refuses dtypes while it lowers a function.
LOWERING_REFUSES = (
    r"MatchesCode\(DLDataTypeCode::kDLFloat\)\) is false|only applies to float|Expected boolean argument|must have the same dtype"
    r"|exceeds range of bool|T.bool not supported"
)


def lengths(shape):
    """A shape as relax takes it: None for an unknown rank, and a variable of its own for each length that is not known."""
    if shape is None:
        return None
    return [tvm.tirx.Var(f"n{axis}", "int64") if length is None else tvm.tirx.IntImm("int64", length)
            for axis, length in enumerate(shape)]


def variable(name, dtype, shape):
    """A parameter of a function."""
    return relax.Var(name, relax.TensorType(lengths(shape), DTYPES[dtype]))


def call(request, inputs, target):
    """The request as a call of relax. `target` is the target shape of a broadcast."""
    if target is not None:
        return relax.op.broadcast_to(inputs[request.operands[0].name], target)
    return protocol.evaluate(request.expression, inputs, FUNCTIONS)


def normalized(request, inputs, target):
    """The call with its type, which relax infers here. Every call in it gets a type before it is an argument of another."""
    builder = relax.BlockBuilder()
    with protocol.refusals(ValueError, TypeError, kinds=KINDS, unless=f"^(?!.*({REFUSES}))"), builder.function("main", []):
        result = builder.normalize(call(request, inputs, target))
        builder.emit_func_output(result)
    return result


class TvmWriter(Writer):
    """A program builds the function, and runs it with the operands that are no constants."""

    def __init__(self):
        arrays = {name: form for name, form in ARRAYS_OF_NUMPY.items() if name != "view"}
        calls = {name: f"relax.op.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}
        super().__init__(
            ["import numpy as np, tvm", "from tvm import relax"], calls, {**dtypes("np"), "bf16": "ml_dtypes.bfloat16"},
            broadcast="relax.op.broadcast_to({operand}, {shape})", **arrays,
        )

    def computed(self, request, names):
        given = [names[operand.name] for operand in request.operands if not operand.constant]
        inputs = {name: f"inputs[{place}]" for place, name in enumerate(given)}
        inputs.update({names[name]: f"relax.const(tvm.runtime.tensor({names[name]}))" for name in request.constants()})
        lines, text = self.value(request, {name: inputs[other] for name, other in names.items()})
        return [
            f"inputs = [relax.Var(f\"x{{i}}\", relax.TensorType(a.shape, str(a.dtype))) for i, a in enumerate({list_text(given)})]",
            "builder = relax.BlockBuilder()", 'with builder.function("main", inputs):', *(f"    {line}" for line in lines),
            f"    builder.emit_func_output(builder.emit({text}))", 'compiled = relax.build(builder.finalize(), "llvm")',
            f'result = relax.VirtualMachine(compiled, tvm.cpu())["main"](*map(tvm.runtime.tensor, {list_text(given)})).numpy()',
        ]

    def write(self, request):
        program = super().write(request)
        return "import ml_dtypes\n" + program if "ml_dtypes." in program else program


class Tvm(protocol.Batched):
    name, version = "tvm", tvm.__version__.split(".post")[0]
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "infer", "constants", "same"]
    unknown = ["length", "rank"]
    functions = protocol.FUNCTIONS
    dtypes = [*FLOATS, *protocol.INTEGERS, "bool"]
    # Of bf16, it says that "power only applies to float".
    function_dtypes = {"power": ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]}
    unused_operands = False
    # Some shapes would be allocated that do not fit into memory.
    large_sizes = False
    batch = 40

    def run_many(self, requests):
        answers, results, parameters, arrays = [None] * len(requests), {}, [], []
        for place, request in enumerate(requests):
            try:
                results[place], more, values = self.built(request, place)
                parameters += more
                arrays += values
            except (protocol.Refused, protocol.Skipped) as error:
                answers[place] = error
        if results:
            for place, result in zip(results, self.computed(list(results.values()), parameters, arrays)):
                answers[place] = result
        return answers

    def built(self, request, place):
        """The request as a call, its parameters and their values."""
        if request.target_shape is not None:
            protocol.limit([length or 1 for length in request.target_shape])
        made = request.arrays(protocol.Operand.dense)
        constants = request.constants()
        inputs, parameters, values = {}, [], []
        for operand in request.operands:
            array = made[operand.name]
            if operand.name in constants:
                inputs[operand.name] = relax.const(tvm.runtime.tensor(array))
                continue
            inputs[operand.name] = variable(f"x{place}_{len(parameters)}", operand.dtype, operand.shape)
            parameters.append(inputs[operand.name])
            values.append(array)
        target = None if request.target_shape is None else relax.ShapeExpr(lengths(request.target_shape))
        normalized(request, inputs, target)
        return call(request, inputs, target), parameters, values

    def computed(self, calls, parameters, arrays):
        """The results of calls in one function."""
        builder = relax.BlockBuilder()
        with builder.function("main", parameters):
            with builder.dataflow():
                outputs = [builder.emit_output(each) for each in calls]
            builder.emit_func_output(relax.Tuple(outputs))
        with protocol.refusals(tvm.error.InternalError, ValueError, unless=f"^(?!.*({LOWERING_REFUSES}))"):
            compiled = relax.build(builder.finalize(), "llvm")
        results = relax.VirtualMachine(compiled, CPU)["main"](*map(tvm.runtime.tensor, arrays))
        return [result.numpy() for result in results]

    def program(self, request):
        return TvmWriter().write(request)

    def infer(self, signature):
        inputs = {o.name: variable(o.name, o.dtype, protocol.numbers(o.shape)) for o in signature.operands}
        target = None
        if signature.expression is None:
            shape = protocol.numbers(signature.target_shape)
            known = shape is not None and None not in shape
            target = relax.ShapeExpr(lengths(shape)) if known else relax.op.shape_of(variable("target", "bool", shape))
        kind = normalized(signature, inputs, target).ty
        dtype = next(name for name, other in DTYPES.items() if other == str(kind.dtype))
        if kind.ndim < 0:
            return protocol.Inferred(dtype, None)
        if not isinstance(kind.shape, relax.ShapeExpr):
            return protocol.Inferred(dtype, [None] * kind.ndim)
        return protocol.Inferred(dtype, [int(n) if isinstance(n, tvm.tirx.IntImm) else None for n in kind.shape.values])


if __name__ == "__main__":
    protocol.serve(Tvm())
