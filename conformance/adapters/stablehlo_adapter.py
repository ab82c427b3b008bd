"""StableHLO through JAX's MLIR bindings, which infer the type of each operation: StableHLO's own operations under the rule set
`none`, and under `numpy` those of CHLO, its client dialect, which broadcast. Nothing is run."""
import protocol
from jaxlib import version as jaxlib_version
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, func, stablehlo

UNARY = {
    "negate": stablehlo.NegOp, "abs": stablehlo.AbsOp, "sqrt": stablehlo.SqrtOp, "exp": stablehlo.ExpOp, "log": stablehlo.LogOp,
    "tanh": stablehlo.TanhOp, "logical_not": stablehlo.NotOp,
}
FUNCTIONS = {
    "none": {
        "add": stablehlo.AddOp, "subtract": stablehlo.SubtractOp, "multiply": stablehlo.MulOp, "divide": stablehlo.DivOp,
        "maximum": stablehlo.MaxOp, "minimum": stablehlo.MinOp, "power": stablehlo.PowOp, "logical_and": stablehlo.AndOp,
        "logical_or": stablehlo.OrOp, **UNARY,
    },
    "numpy": {
        "add": chlo.BroadcastAddOp, "subtract": chlo.BroadcastSubOp, "multiply": chlo.BroadcastMulOp,
        "divide": chlo.BroadcastDivOp, "maximum": chlo.BroadcastMaxOp, "minimum": chlo.BroadcastMinOp,
        "power": chlo.BroadcastPowOp, "logical_and": chlo.BroadcastAndOp, "logical_or": chlo.BroadcastOrOp, **UNARY,
    },
}
ELEMENTS = {
    "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8",
    "u64": "ui64", "u32": "ui32", "u16": "ui16", "u8": "ui8", "bool": "i1",
}
DYNAMIC = ir.ShapedType.get_dynamic_size()


def tensor_type(operand):
    """The MLIR type of an operand: a bound is in the type's encoding."""
    lengths = [DYNAMIC if length.number is None else length.number for length in operand.shape]
    bounds = [DYNAMIC if length.max is None or length.number is not None else length.max for length in operand.shape]
    encoding = None if set(bounds) <= {DYNAMIC} else stablehlo.TypeExtensions.get(bounds)
    return ir.RankedTensorType.get(lengths, ir.Type.parse(ELEMENTS[operand.dtype]), encoding)


def inferred(kind):
    dtype = next(name for name, element in ELEMENTS.items() if str(kind.element_type) == element)
    if not isinstance(kind, ir.RankedTensorType):
        return protocol.Inferred(dtype, None)
    bounds = [DYNAMIC] * kind.rank if kind.encoding is None else stablehlo.TypeExtensions(kind.encoding).bounds
    lengths = [
        length if length != DYNAMIC else None if bound == DYNAMIC else protocol.Length(0, bound)
        for length, bound in zip(kind.shape, bounds)
    ]
    return protocol.Inferred(dtype, lengths)


class StableHlo:
    name, version = "stablehlo", jaxlib_version.__version__
    rules = ["none", "numpy"]
    operations = ["infer"]
    rule_operations = {rules: ["elementwise", "infer"] for rules in rules}
    unknown = ["length", "bound"]
    functions = list(FUNCTIONS["numpy"])
    dtypes = list(ELEMENTS)
    # Those of StableHLO are bitwise.
    function_dtypes = {name: ["bool"] for name in ("logical_and", "logical_or", "logical_not")}
    unused_operands = False  # an operation takes none
    large_sizes = False  # lengths are signed

    def __init__(self):
        self.context = ir.Context()
        chlo.register_dialect(self.context)
        stablehlo.register_dialect(self.context)

    def infer(self, signature):
        calls = {
            name: lambda *operands, operation=operation: operation(*operands).result
            for name, operation in FUNCTIONS[signature.rules].items()
        }
        with self.context, ir.Location.unknown(), protocol.refusals(ir.MLIRError):
            module = ir.Module.create()  # it owns the operations
            with ir.InsertionPoint(module.body):
                block = func.FuncOp("request", ([tensor_type(operand) for operand in signature.operands], [])).add_entry_block()
            with ir.InsertionPoint(block):
                operands = {operand.name: value for operand, value in zip(signature.operands, block.arguments)}
                return inferred(protocol.evaluate(signature.expression, operands, calls).type)


protocol.serve(StableHlo())
