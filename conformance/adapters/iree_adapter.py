"""IREE: a module in MLIR, which its compiler compiles for the CPU (`llvm-cpu`) and its runtime runs (`local-task`). A batch is one function
that returns the results of its requests.

IREE takes StableHLO: its own operations are under the rule set `none`, those of CHLO, its client dialect, under `numpy`, and
`broadcast_in_dim` under `xla`. The types of the results are inferred by the dialects within IREE. With the optimiser off, it compiles with
`--iree-opt-level=O0`.
"""
import importlib.metadata

import protocol
import numpy as np
from iree import compiler, runtime
from iree.compiler import ir, passmanager
from iree.compiler.dialects import func
from programs import ARRAYS_OF_NUMPY, Unwritable, Writer, dtypes

DIRECTIONS = {"equal": "EQ", "not_equal": "NE", "less": "LT", "less_equal": "LE", "greater": "GT", "greater_equal": "GE"}
BINARY = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "maximum": "maximum", "minimum": "minimum",
    "power": "power", "logical_and": "and", "logical_or": "or", **dict.fromkeys(DIRECTIONS, "compare"), "select": "select",
}
UNARY = {
    "negate": "negate", "abs": "abs", "sqrt": "sqrt", "exp": "exponential", "log": "log", "tanh": "tanh", "logical_not": "not",
}
DIALECTS = {"none": "stablehlo.", "numpy": "chlo.broadcast_"}
ELEMENTS = {
    "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8",
    "u64": "ui64", "u32": "ui32", "u16": "ui16", "u8": "ui8", "bool": "i1",
}
INPUT_PIPELINE = "builtin.module(iree-stablehlo-input-transformation-pipeline)"
KINDS = [
    (r"incompatible shapes for broadcasting|Mismatched dimension sizes|is not equal to 1 or size of result dimension", "dimension_mismatch"),
    (r"Mismatched ranks of types", "rank_mismatch"),
    (r"mismatched operand types", "dtype_mismatch"),
]
# It would otherwise replace f64 by f32.
FLAGS = ["--iree-input-demote-f64-to-f32=false", "--iree-llvmcpu-target-cpu=generic"]
LEVELS = {"off": "O0", "on": "O2"}


def operation(name, values, results=None, **attributes):
    """The value of an operation that is verified. Its type is inferred unless `results` has it."""
    made = ir.Operation.create(name, results=results, operands=values, attributes=attributes, infer_type=results is None)
    made.verify()
    return made.result


def call(rules, function):
    """A function of the protocol as an operation of the dialect that the rule set has."""
    if function in UNARY:
        return lambda value: operation(f"stablehlo.{UNARY[function]}", [value])
    dialect = DIALECTS[rules]
    attributes = {}
    if function in DIRECTIONS:
        attributes["comparison_direction"] = ir.Attribute.parse(f"#{dialect.split('.')[0]}<comparison_direction {DIRECTIONS[function]}>")
    return lambda *values: operation(dialect + BINARY[function], values, **attributes)


def tensor_type(dtype, shape):
    """The MLIR type of an array."""
    return ir.RankedTensorType.get(shape, ir.Type.parse(ELEMENTS[dtype]))


def dtype_of(kind):
    return next(name for name, element in ELEMENTS.items() if str(kind.element_type) == element)


def constant(operand):
    """An operand as a constant of the module."""
    array = operand.dense()
    bits = array.view(np.uint16) if operand.dtype == "bf16" else array
    elements = ir.DenseElementsAttr.get(bits, type=ir.Type.parse(ELEMENTS[operand.dtype]), shape=array.shape)
    return operation("stablehlo.constant", [], value=elements)


def computed(request, values):
    """The value of a request in terms of the operands' values."""
    if request.expression is None:
        dimensions = ir.DenseI64ArrayAttr.get(request.broadcast_dimensions or [])
        kind = tensor_type(request.operands[0].dtype, request.target_shape)
        return operation("stablehlo.broadcast_in_dim", [values[request.operands[0].name]], [kind], broadcast_dimensions=dimensions)
    calls = {name: call(request.rules, name) for name in protocol.FUNCTIONS}
    return protocol.evaluate(request.expression, values, calls)


def built(requests):
    """A module whose function returns the results of the requests, their types, and the arrays of its parameters."""
    module, arrays, results = ir.Module.create(), [], []
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("main", ([], []))
    block = function.add_entry_block()
    with ir.InsertionPoint(block):
        for request in requests:
            made, values = request.arrays(protocol.Operand.dense), {}
            for operand in request.operands:
                if operand.constant:
                    values[operand.name] = constant(operand)
                    continue
                values[operand.name] = block.add_argument(tensor_type(operand.dtype, operand.shape), ir.Location.unknown())
                arrays.append(made[operand.name])
            results.append(computed(request, values))
        func.ReturnOp(results)
    kinds = [result.type for result in results]
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], kinds)
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    return module, kinds, arrays


class IreeWriter(Writer):
    """A program has the module as text."""

    def __init__(self, module, dtype, flags):
        arrays = {name: form for name, form in ARRAYS_OF_NUMPY.items() if name != "view"}
        start = ["import numpy as np", "from iree import compiler, runtime"]
        super().__init__(start, {}, {**dtypes("np"), "bf16": "ml_dtypes.bfloat16"}, **arrays)
        self.module, self.dtype, self.flags = module, dtype, flags

    def operands(self, request, names):
        return [line for o in request.operands if not o.constant for line in self.operand(o, names[o.name])]

    def computed(self, request, names):
        parameters = ", ".join(names[operand.name] for operand in request.operands if not operand.constant)
        return [
            f'text = """\n{self.module}"""',
            'compiled = compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=[',
            *(f'    "{flag}",' for flag in self.flags), "])",
            'module = runtime.load_vm_flatbuffer(compiled, driver="local-task")',
            f'result = module["main"]({parameters}).to_host().view({self.dtypes[self.dtype]})',
        ]

    def write(self, request):
        program = super().write(request)
        return "import ml_dtypes\n" + program if "ml_dtypes." in program else program


class Iree(protocol.Batched):
    name, version = "iree", importlib.metadata.version("iree-base-compiler")
    rules = ["none", "numpy", "xla"]
    operations = ["elementwise", "broadcast", "broadcast_in_dim", "permuted", "constants", "same"]
    rule_operations = {"none": ["elementwise"], "numpy": ["elementwise"], "xla": ["broadcast"]}
    functions = protocol.FUNCTIONS
    dtypes = list(ELEMENTS)
    # Of integers, StableHLO's `and`, `or` and `not` are bitwise. Its `abs` takes no unsigned ones. IREE finds no tanh of f64 to link.
    function_dtypes = {
        "tanh": ["f32", "f16", "bf16"],
        "abs": [dtype for dtype in ELEMENTS if not dtype.startswith("u")],
        **{name: ["bool"] for name in ("logical_and", "logical_or", "logical_not")},
    }
    # More are read by one dispatch, which has at most 32 bindings, and the compiled module cannot be loaded.
    max_operands = 31
    # Its workers flush subnormal numbers to zero.
    flushed_subnormals = ["f64", "f32", "f16", "bf16"]
    unused_operands = False  # an operation takes none
    large_sizes = False  # lengths are signed
    batch = 40
    optimiser = "on"

    def __init__(self):
        self.context = ir.Context()
        self.config = runtime.Config("local-task")
        with self.context:
            self.input_pipeline = passmanager.PassManager.parse(INPUT_PIPELINE)

    def run_many(self, requests):
        answers = [None] * len(requests)
        with self.context, ir.Location.unknown():
            for place, request in enumerate(requests):
                try:
                    self.check(request)
                except (protocol.Refused, protocol.Skipped) as error:
                    answers[place] = error
            accepted = [place for place, answer in enumerate(answers) if answer is None]
            if not accepted:
                return answers
            module, kinds, arrays = built([requests[place] for place in accepted])
        for place, kind, array in zip(accepted, kinds, self.ran(str(module), arrays)):
            answers[place] = array.view(protocol.dtype(dtype_of(kind)))
        return answers

    def check(self, request):
        """Builds the request alone, so that a refusal is not that of a batch. Of shapes that do not fit, CHLO infers no rank, and IREE
        refuses them when it converts its input."""
        if request.target_shape is not None:
            protocol.limit([length or 1 for length in request.target_shape])
        with protocol.refusals(ir.MLIRError, kinds=KINDS):
            module, kinds, _ = built([request])
            if not isinstance(kinds[0], ir.RankedTensorType):
                self.input_pipeline.run(module.operation)

    def flags(self):
        return [*FLAGS, f"--iree-opt-level={LEVELS[self.optimiser]}"]

    def program(self, request):
        with self.context, ir.Location.unknown():
            try:
                self.check(request)
            except protocol.Refused as error:
                raise Unwritable(f"the system refuses to build its module: {error}") from error
            module, kinds, _ = built([request])
            return IreeWriter(str(module), dtype_of(kinds[0]), self.flags()).write(request)

    def ran(self, text, arrays):
        """The results of the module, compiled and run."""
        # CHLO lets bools pass that StableHLO's operations do not take.
        with protocol.refusals(compiler.CompilerToolError, unless="^(?!.*op operand #0 must be ranked tensor of)"):
            compiled = compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=self.flags())
        context = runtime.SystemContext(config=self.config)
        context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, compiled))
        results = context.modules.module["main"](*arrays)
        return [result.to_host() for result in (results if isinstance(results, (list, tuple)) else [results])]


if __name__ == "__main__":
    protocol.serve(Iree())
