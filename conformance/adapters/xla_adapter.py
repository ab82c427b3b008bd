"""XLA, through the XlaBuilder of jaxlib's xla_client, with explicit `broadcast_dimensions`, on its CPU client.

Each request becomes one computation of parameters and functions. A function that combines the lower operand's rank with the
higher operand's gets the request's `broadcast_dimensions`. XLA infers the shapes, and refuses or compiles. The intermediate
is what its builder makes of the lower operand: its shape is read from that computation, its values from a separate one.
`Select` takes three operands of one shape and broadcasts nothing; it is used as it is. A `broadcast` is the builder's
`BroadcastInDim`, whose dimensions must increase.

For `infer`, the builder reports the shape of the root. A length that is not known is unbounded. A bounded one is not sent,
because XLA means something else by it: a length of that number, of which a part is used.
"""
import itertools
import re
import types

import protocol
import numpy as np
from jaxlib import version as jaxlib_version
from jaxlib import xla_client
from programs import ARRAYS_OF_NUMPY, Writer, call_text, dtypes, list_text

ops = xla_client.ops
BINARY = {
    "add": ops.Add, "subtract": ops.Sub, "multiply": ops.Mul, "divide": ops.Div, "maximum": ops.Max,
    "minimum": ops.Min, "power": ops.Pow, "equal": ops.Eq, "not_equal": ops.Ne, "less": ops.Lt,
    "less_equal": ops.Le, "greater": ops.Gt, "greater_equal": ops.Ge, "logical_and": ops.And, "logical_or": ops.Or,
}
UNARY = {
    "negate": ops.Neg, "abs": ops.Abs, "sqrt": ops.Sqrt, "exp": ops.Exp, "log": ops.Log, "tanh": ops.Tanh,
    "logical_not": ops.Not,
}
KINDS = [
    (r"Shapes must be equal rank", "rank_mismatch"),
    (r"must either be not set or be the identity", "broadcast_dimensions_not_identity"),
    (r"Size of broadcast_dimensions has to match", "broadcast_dimensions_count"),
    (r"Broadcast dimension number \(.*\) (cannot be negative|too large)", "broadcast_dimension_out_of_range"),
    (r"Broadcast dimension -?\d+ is out of bound", "broadcast_dimension_out_of_range"),
    (r"Broadcast dimensions order is wrong", "broadcast_dimensions_not_increasing"),
    (r"Broadcast dimension \d+ mismatch", "dimension_mismatch"),
    (r"Input dimension should be either 1 or equal to the output dimension", "dimension_mismatch"),
    (r"Binary op with incompatible shapes", "dimension_mismatch"),
    (r"Binary op with different element types", "dtype_mismatch"),
]
# The builder says the same of dimensions that decrease and of those that repeat, which `broadcast` tells apart.
KINDS_OF_BROADCAST = [(r"order is wrong: (\d+) comes after \1\b", "broadcast_dimensions_not_distinct"), *KINDS]
# If XLA cannot compile or run a request, that is not a refusal. A target of unknown length is refused with an internal check.
NOT_A_REFUSAL = r"UNIMPLEMENTED|INTERNAL(?!.*must shape be static)|RESOURCE_EXHAUSTED"
CLIENT = xla_client.make_cpu_client()
# The length of an axis that is unbounded.
UNBOUNDED = -(2**63)


def refusals(request):
    kinds = KINDS_OF_BROADCAST if request.expression is None else KINDS
    return protocol.refusals(xla_client.XlaRuntimeError, kinds=kinds, unless=NOT_A_REFUSAL)


def run(builder, root, arrays):
    module = xla_client._xla.mlir.xla_computation_to_mlir_module(builder.build(root))
    executable = CLIENT.compile(module)
    result = executable.execute([CLIENT.buffer_from_pyval(array) for array in arrays])[0]
    # JAX itself calls this: numpy.asarray turns bfloat16 into objects.
    return np.array(result._single_device_array_to_np_array_did_copy()[0])


def unbounded(numbers):
    """XLA's lengths; one that is None is unbounded."""
    return [UNBOUNDED if number is None else number for number in numbers]


def partial_shape(dtype, numbers):
    """XLA's shape; a length that is None is unbounded."""
    unknown = [number is None for number in numbers]
    return xla_client.Shape.array_shape(protocol.dtype(dtype), unbounded(numbers), None, unknown)


class Computation:
    """One request or signature. A node is an XlaOp and its rank. `constants` are the arrays of operands that are no parameters."""

    def __init__(self, request, shapes, constants=types.MappingProxyType({})):
        self.operands, self.shapes = request.operands, shapes
        self.dims = list(request.broadcast_dimensions or [])
        self.builder = xla_client.XlaBuilder("request")
        self.nodes, places = {}, itertools.count()
        for operand, shape in zip(self.operands, self.shapes):
            if operand.name in constants:
                node = ops.Constant(self.builder, constants[operand.name])
            else:
                node = ops.Parameter(self.builder, next(places), shape)
            self.nodes[operand.name] = node, len(operand.shape)

    def root(self, expression, target):
        """The XlaOp of an expression, or of a broadcast to a target shape."""
        if expression is not None:
            return self.node(expression)[0]
        return ops.BroadcastInDim(self.nodes[self.operands[0].name][0], target, self.dims)

    def node(self, expression):
        if isinstance(expression, str):
            return self.nodes[expression]
        function, *arguments = expression
        nodes = [self.node(argument) for argument in arguments]
        if function == "select":
            return ops.Select(*(op for op, _ in nodes)), nodes[1][1]
        if function in UNARY:
            return UNARY[function](nodes[0][0]), nodes[0][1]
        (left, rank), (right, other) = nodes
        # The dimensions apply where the ranks of the two operands meet. If both have the same rank, they apply to every
        # function, and are then refused or have no effect.
        ranks = {len(operand.shape) for operand in self.operands}
        dims = self.dims if rank != other or len(ranks) == 1 else []
        return BINARY[function](left, right, dims), max(rank, other)

    def intermediate(self, arrays):
        """The lower operand after the in-dim step, as XLA's builder computes it."""
        low = 0 if len(self.operands[0].shape) < len(self.operands[1].shape) else 1
        builder = xla_client.XlaBuilder("shape")
        # Both as f32: comparing operands of their own dtypes may be refused, if other functions convert them first.
        shapes = [xla_client.Shape.array_shape(protocol.dtype("f32"), operand.shape) for operand in self.operands]
        parameters = [ops.Parameter(builder, place, shape) for place, shape in enumerate(shapes)]
        text = builder.build(ops.Eq(*parameters, self.dims)).as_hlo_text()
        name = re.search(rf"(\S+) = \S+ parameter\({low}\)", text).group(1)
        found = re.search(rf"= \w+\[([\d,]*)\]\S* broadcast\({re.escape(name)}\)", text)
        if found is None:
            raise AssertionError("no broadcast of the lower operand in:\n" + text)
        shape = tuple(int(length) for length in found.group(1).split(",") if length)
        builder = xla_client.XlaBuilder("intermediate")
        parameter = ops.Parameter(builder, 0, self.shapes[low])
        return run(builder, ops.BroadcastInDim(parameter, shape, self.dims), [arrays[low]])


class XlaWriter(Writer):
    def __init__(self):
        arrays = {name: form for name, form in ARRAYS_OF_NUMPY.items() if name != "view"}
        calls = {name: f"xc.ops.{call.__name__}" for name, call in {**BINARY, **UNARY, "select": ops.Select}.items()}
        super().__init__(
            ["import numpy as np", "from jaxlib import xla_client as xc"], calls, {**dtypes("np"), "bf16": "ml_dtypes.bfloat16"}, **arrays,
        )

    def computed(self, request, names):
        """The lines that build a computation of parameters and constants, and run it."""
        nodes = {name: f"node_{text}" for name, text in names.items()}
        parameters = [operand for operand in request.operands if not operand.constant]
        lines = ['builder = xc.XlaBuilder("program")']
        for operand in request.operands:
            lines.append(f"{nodes[operand.name]} = {self.node(operand, names[operand.name], parameters)}")
        arguments = ", ".join(f"client.buffer_from_pyval({names[operand.name]})" for operand in parameters)
        return [
            *lines, f"root = {self.root(request, nodes)}", "client = xc.make_cpu_client()",
            "module = xc._xla.mlir.xla_computation_to_mlir_module(builder.build(root))",
            f"result = client.compile(module).execute([{arguments}])[0]",
            "result = np.array(result._single_device_array_to_np_array_did_copy()[0])",
        ]

    def node(self, operand, name, parameters):
        if operand.constant:
            return f"xc.ops.Constant(builder, {name})"
        shape = f"xc.Shape.array_shape({name}.dtype, {name}.shape)"
        return f"xc.ops.Parameter(builder, {parameters.index(operand)}, {shape})"

    def root(self, request, nodes):
        dims = list_text(request.broadcast_dimensions or [])
        if request.expression is None:
            return f"xc.ops.BroadcastInDim({nodes[request.operands[0].name]}, {list_text(request.target_shape)}, {dims})"
        ranks = {operand.name: len(operand.shape) for operand in request.operands}
        return self.call(request.expression, nodes, ranks, dims)[0]

    def call(self, expression, nodes, ranks, dims):
        """The text of an expression and its rank. The dimensions are given where `Computation.node` gives them."""
        if isinstance(expression, str):
            return nodes[expression], ranks[expression]
        function, *arguments = expression
        texts, of = zip(*(self.call(argument, nodes, ranks, dims) for argument in arguments))
        if function == "select" or function in UNARY:
            return call_text(self.calls[function], texts), of[function == "select"]
        given = dims if of[0] != of[1] or len(set(ranks.values())) == 1 else "[]"
        return call_text(self.calls[function], [*texts, given]), max(of)

    def write(self, request):
        program = super().write(request)
        return "import ml_dtypes\n" + program if "ml_dtypes." in program else program


class Xla:
    name, version = "xla", jaxlib_version.__version__
    rules = ["xla"]
    operations = ["elementwise", "broadcast", "broadcast_in_dim", "infer", "constants", "same"]
    unknown = ["length"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", "bf16", *protocol.INTEGERS, "bool"]
    # XLA's Abs refuses unsigned integers.
    function_dtypes = {"abs": ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8"]}
    max_operands = 2
    unused_operands = False  # an operation takes none
    # Results are returned as NumPy arrays, which are limited in bytes even if they are empty.
    large_sizes = False
    flushed_subnormals = ["f64", "f32", "bf16"]

    def run(self, request):
        made = request.arrays(protocol.Operand.dense)
        arrays = [made[operand.name] for operand in request.operands]
        with refusals(request):
            shapes = [xla_client.Shape.array_shape(protocol.dtype(o.dtype), o.shape) for o in request.operands]
            computation = Computation(request, shapes, {name: made[name] for name in request.constants()})
            root = computation.root(request.expression, request.target_shape)
            result = run(computation.builder, root, [made[o.name] for o in request.operands if not o.constant])
            ranks = {len(operand.shape) for operand in request.operands}
            intermediate = computation.intermediate(arrays) if len(ranks) == 2 else None
        return protocol.Result(result, intermediate)

    def program(self, request):
        return XlaWriter().write(request)

    def infer(self, signature):
        shapes = [partial_shape(o.dtype, protocol.numbers(o.shape)) for o in signature.operands]
        with refusals(signature):
            computation = Computation(signature, shapes)
            numbers = [] if signature.expression is not None else protocol.numbers(signature.target_shape)
            root = computation.root(signature.expression, unbounded(numbers))
            shape = computation.builder.get_shape(root)
        lengths = [None if length == UNBOUNDED else length for length in shape.dimensions()]
        return protocol.Inferred(shape.numpy_dtype(), lengths)


protocol.serve(Xla())
