"""StableHLO's reference interpreter, and the types that its operations infer, through JAX's MLIR bindings.

StableHLO's own operations are under the rule set `none`. Under `numpy` are those of CHLO, its client dialect, which broadcast:
a pass of StableHLO lowers them to its own. Under `xla` are the same with `broadcast_dimensions`, which CHLO's select does not take, and
`broadcast_in_dim`. A request without dimensions is an operation without them.

For `infer`, the type of a broadcast is not inferred but given: it is that of the target, which the operation's verifier compares with the
operand's. Where a length is not known, it is `dynamic_broadcast_in_dim`, whose target is the value of another argument.

With declared shapes, under `none`: a module of arguments with unknown lengths. The interpreter refines the module that it runs to the
shapes of its arguments, so each run has a copy. CHLO's operations of unknown lengths are not lowered, and bounds end the process.
"""
import protocol
import numpy as np
from jaxlib import version as jaxlib_version
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, func, stablehlo
from programs import ARRAYS_OF_NUMPY, Unwritable, Writer, dtypes

COMPARISONS = {"equal": "EQ", "not_equal": "NE", "less": "LT", "less_equal": "LE", "greater": "GT", "greater_equal": "GE"}
UNARY = {
    "negate": stablehlo.NegOp, "abs": stablehlo.AbsOp, "sqrt": stablehlo.SqrtOp, "exp": stablehlo.ExpOp, "log": stablehlo.LogOp,
    "tanh": stablehlo.TanhOp, "logical_not": stablehlo.NotOp,
}


def comparisons(dialect, operation):
    """The dialect's comparison in each direction."""
    def call(direction):
        return lambda left, right, **more: operation(left, right, dialect.ComparisonDirectionAttr.get(direction), **more)
    return {function: call(direction) for function, direction in COMPARISONS.items()}


FUNCTIONS = {
    "none": {
        "add": stablehlo.AddOp, "subtract": stablehlo.SubtractOp, "multiply": stablehlo.MulOp, "divide": stablehlo.DivOp,
        "maximum": stablehlo.MaxOp, "minimum": stablehlo.MinOp, "power": stablehlo.PowOp, "logical_and": stablehlo.AndOp,
        "logical_or": stablehlo.OrOp, "select": stablehlo.SelectOp, **comparisons(stablehlo, stablehlo.CompareOp), **UNARY,
    },
    "numpy": {
        "add": chlo.BroadcastAddOp, "subtract": chlo.BroadcastSubOp, "multiply": chlo.BroadcastMulOp,
        "divide": chlo.BroadcastDivOp, "maximum": chlo.BroadcastMaxOp, "minimum": chlo.BroadcastMinOp,
        "power": chlo.BroadcastPowOp, "logical_and": chlo.BroadcastAndOp, "logical_or": chlo.BroadcastOrOp,
        "select": chlo.BroadcastSelectOp, **comparisons(chlo, chlo.BroadcastCompareOp), **UNARY,
    },
}
FUNCTIONS["xla"] = {name: operation for name, operation in FUNCTIONS["numpy"].items() if name != "select"}
ELEMENTS = {
    "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8",
    "u64": "ui64", "u32": "ui32", "u16": "ui16", "u8": "ui8", "bool": "i1",
}
# CHLO's select checks its shapes with operations of the dialect `shape`, of which `canonicalize` leaves constants.
LOWERING = "builtin.module(func.func(chlo-legalize-to-stablehlo,canonicalize,shape-legalize-to-stablehlo,canonicalize))"
DYNAMIC = ir.ShapedType.get_dynamic_size()
# What the interpreter reports if the shapes of a run do not fit a module of unknown lengths.
UNFIT = "Failed to refine dynamic shape"
# Each module of a signature takes a few kilobytes as text.
KEPT = 512


def tensor_type(dtype, shape):
    """The MLIR type of an array."""
    return ir.RankedTensorType.get(shape, ir.Type.parse(ELEMENTS[dtype]))


def partial_type(operand):
    """The MLIR type of an operand before the run."""
    return type_of_lengths(operand.dtype, operand.shape)


def type_of_lengths(dtype, shape):
    """The MLIR type of a shape before the run: a bound is in the type's encoding."""
    lengths = [DYNAMIC if length.number is None else length.number for length in shape]
    bounds = [DYNAMIC if length.max is None or length.number is not None else length.max for length in shape]
    encoding = None if set(bounds) <= {DYNAMIC} else stablehlo.TypeExtensions.get(bounds)
    return ir.RankedTensorType.get(lengths, ir.Type.parse(ELEMENTS[dtype]), encoding)


def dtype_of(kind):
    return next(name for name, element in ELEMENTS.items() if str(kind.element_type) == element)


def inferred(kind):
    if not isinstance(kind, ir.RankedTensorType):
        return protocol.Inferred(dtype_of(kind), None)
    bounds = [DYNAMIC] * kind.rank if kind.encoding is None else stablehlo.TypeExtensions(kind.encoding).bounds
    lengths = [
        length if length != DYNAMIC else None if bound == DYNAMIC else protocol.Length(0, bound)
        for length, bound in zip(kind.shape, bounds)
    ]
    return protocol.Inferred(dtype_of(kind), lengths)


def constant(operand):
    """An operand as an argument of the interpreter."""
    array = operand.dense()
    bits = array.view(np.uint16) if operand.dtype == "bf16" else array
    return ir.DenseElementsAttr.get(bits, type=ir.Type.parse(ELEMENTS[operand.dtype]), shape=array.shape)


def array(value, dtype):
    """The interpreter's answer as a NumPy array. It has signed integers in place of unsigned ones, and of bf16 the bits."""
    return np.array(value).view(protocol.dtype(dtype))


class StableHloWriter(Writer):
    """A program has the module as text."""

    def __init__(self, module, dtype):
        arrays = {name: form for name, form in ARRAYS_OF_NUMPY.items() if name != "view"}
        super().__init__(
            ["import numpy as np", "from jaxlib.mlir import ir, passmanager", "from jaxlib.mlir._mlir_libs import _jax_mlir_ext",
             "from jaxlib.mlir.dialects import chlo, stablehlo"], {}, {**dtypes("np"), "bf16": "ml_dtypes.bfloat16"}, **arrays,
        )
        self.module, self.dtype = module, dtype

    def operands(self, request, names):
        return [line for o in request.operands if not o.constant for line in self.operand(o, names[o.name])]

    def computed(self, request, names):
        parameters = [(names[operand.name], operand) for operand in request.operands if not operand.constant]
        types = [f'ir.DenseElementsAttr.get({name}{".view(np.uint16)" if o.dtype == "bf16" else ""}, type=ir.Type.parse("{ELEMENTS[o.dtype]}"), '
                 f"shape={name}.shape)" for name, o in parameters]
        return [
            f'text = """\n{self.module}"""', "context, registry = ir.Context(), ir.DialectRegistry()", "_jax_mlir_ext.register_dialects(registry)",
            "context.append_dialect_registry(registry)", "chlo.register_dialect(context)", "stablehlo.register_dialect(context)",
            "context.load_all_available_dialects()", "stablehlo.register_stablehlo_passes()",
            "with context, ir.Location.unknown():", "    module = ir.Module.parse(text)",
            f'    passmanager.PassManager.parse("{LOWERING}").run(module.operation)',
            f"    result = np.array(stablehlo.eval_module(module, [{', '.join(types)}])[0]).view({self.dtypes[self.dtype]})",
        ]

    def write(self, request):
        program = super().write(request)
        return "import ml_dtypes\n" + program if "ml_dtypes." in program else program


class StableHlo:
    name, version = "stablehlo", jaxlib_version.__version__
    rules = ["none", "numpy", "xla"]
    operations = ["elementwise", "broadcast", "broadcast_in_dim", "permuted", "infer", "declared", "constants"]
    rule_operations = {
        "none": ["elementwise", "infer", "declared"], "numpy": ["elementwise", "infer"], "xla": ["elementwise", "broadcast", "infer"],
    }
    rule_functions = {"xla": list(FUNCTIONS["xla"])}
    unknown = ["length", "bound"]
    declared_unknown = ["length"]
    functions = list(FUNCTIONS["numpy"])
    dtypes = list(ELEMENTS)
    # Of integers, StableHLO's `and`, `or` and `not` are bitwise. Its `abs` takes no unsigned ones.
    function_dtypes = {
        "abs": [dtype for dtype in ELEMENTS if not dtype.startswith("u")],
        **{name: ["bool"] for name in ("logical_and", "logical_or", "logical_not")},
    }
    unused_operands = False  # an operation takes none
    large_sizes = False  # lengths are signed

    def __init__(self):
        self.context = ir.Context()
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        self.context.append_dialect_registry(registry)
        chlo.register_dialect(self.context)
        stablehlo.register_dialect(self.context)
        self.context.load_all_available_dialects()
        stablehlo.register_stablehlo_passes()
        with self.context:
            self.lowering = passmanager.PassManager.parse(LOWERING)
        self.kept = protocol.Kept(KEPT, self.built)

    def run(self, request):
        if request.signature is not None:
            return self.run_declared(request)
        with self.context, ir.Location.unknown():
            arguments = [constant(operand) for operand in request.operands if not operand.constant]
            with protocol.refusals(ir.MLIRError):
                module, dtype = self.module(request)
                self.lowering.run(module.operation)
            return array(stablehlo.eval_module(module, arguments)[0], dtype)

    def built(self, signature):
        """The lowered module of a signature as text, and the dtype of the result."""
        module, dtype = self.module(signature)
        self.lowering.run(module.operation)
        return str(module), dtype

    def run_declared(self, request):
        with self.context, ir.Location.unknown():
            with protocol.refusals(ir.MLIRError):
                text, dtype = self.kept.get(request.signature.key(), request.signature)
            copy = ir.Module.parse(text)
            arguments = [constant(operand) for operand in request.operands]
            messages = []
            handler = self.context.attach_diagnostic_handler(lambda diagnostic: messages.append(diagnostic.message) or True)
            try:
                return array(stablehlo.eval_module(copy, arguments)[0], dtype)
            except ValueError as error:
                if any(UNFIT in message for message in messages):
                    raise protocol.Refused("; ".join(messages)) from error
                raise
            finally:
                handler.detach()

    def module(self, request):
        """A module whose function computes the request or signature, and the dtype of the result."""
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            parameters = [operand for operand in request.operands if not operand.constant]
            kinds = [partial_type(o) if isinstance(request, protocol.Signature) else tensor_type(o.dtype, o.shape) for o in parameters]
            function = func.FuncOp("main", (kinds, []))
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            arguments = iter(block.arguments)
            values = [constant_value(o) if o.constant else next(arguments) for o in request.operands]
            result = computed(request, values)
            dtype = dtype_of(result.type)
            if dtype == "bf16" and result.type.has_rank:
                result = stablehlo.BitcastConvertOp(tensor_type("u16", result.type.shape), result).result
            func.ReturnOp([result])
        kind = ir.FunctionType.get([argument.type for argument in block.arguments], [result.type])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        return module, dtype

    def program(self, request):
        with self.context, ir.Location.unknown():
            try:
                module, dtype = self.module(request)
            except ir.MLIRError as error:
                raise Unwritable(f"the system refuses to build its module: {protocol.shortened(error)}") from error
            return StableHloWriter(str(module), dtype).write(request)

    def infer(self, signature):
        with self.context, ir.Location.unknown(), protocol.refusals(ir.MLIRError):
            module = ir.Module.create()  # it owns the operations
            with ir.InsertionPoint(module.body):
                block = func.FuncOp("request", ([partial_type(operand) for operand in signature.operands], [])).add_entry_block()
            with ir.InsertionPoint(block):
                if signature.expression is None:
                    return inferred(broadcast(signature, *block.arguments).type)
                return inferred(computed(signature, block.arguments).type)


def constant_value(operand):
    """An operand as a constant of the module."""
    elements = constant(operand)
    if operand.dtype != "bf16":
        return stablehlo.ConstantOp(elements).result
    bits = ir.DenseElementsAttr.get(operand.dense().view(np.uint16), type=ir.Type.parse("ui16"), shape=operand.shape)
    return stablehlo.BitcastConvertOp(tensor_type("bf16", operand.shape), stablehlo.ConstantOp(bits).result).result


def broadcast(signature, value):
    """The broadcast of a signature, verified."""
    operand, dims = signature.operands[0], signature.broadcast_dimensions or []
    kind = type_of_lengths(operand.dtype, signature.target_shape)
    if None not in protocol.numbers([*operand.shape, *signature.target_shape]):
        return verified(stablehlo.BroadcastInDimOp)(kind, value, dims)
    lengths = ir.RankedTensorType.get([kind.rank], ir.IntegerType.get_signless(64))
    block = func.FuncOp("target", ([lengths], [])).add_entry_block()
    return verified(stablehlo.DynamicBroadcastInDimOp)(kind, value, block.arguments[0], dims)


def computed(request, values):
    """The value of a request or signature in terms of the operands' values."""
    if request.expression is None:
        operand = request.operands[0]
        kind = tensor_type(operand.dtype, request.target_shape)
        return stablehlo.BroadcastInDimOp(kind, values[0], request.broadcast_dimensions or []).result
    operands = {operand.name: value for operand, value in zip(request.operands, values)}
    calls = {name: verified(operation) for name, operation in FUNCTIONS[request.rules].items()}
    if request.rules == "xla" and request.broadcast_dimensions is not None:
        # The dimensions apply where the ranks of the two operands meet. If both have the same rank, they apply to every function.
        always = len({len(operand.shape) for operand in request.operands}) == 1
        for name, call in calls.items():
            if protocol.ARGUMENTS[name] == 2:
                calls[name] = with_dimensions(call, request.broadcast_dimensions, always)
    return protocol.evaluate(request.expression, operands, calls)


def with_dimensions(operation, dims, always):
    """A function of two values that has dimensions if the ranks differ, or always."""
    def call(left, right):
        ranks = {value.type.rank if value.type.has_rank else None for value in (left, right)}
        return operation(left, right, **({"broadcast_dimensions": dims} if always or len(ranks) == 2 else {}))
    return call


def verified(operation):
    """The operation as a function. Some infer a type from one argument; the operation's verifier compares the others."""
    def call(*values, **attributes):
        made = operation(*values, **attributes)
        made.verify()
        return made.result
    return call


protocol.serve(StableHlo())
