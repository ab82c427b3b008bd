"""OpenVINO on its CPU plugin: `auto_broadcast` none, numpy and pdpd of its elementwise operations; its operation Broadcast in
bidirectional mode, in numpy mode for the one-directional `broadcast`, and in explicit mode under `xla`, where its axes must not
decrease. For `infer`: the partial shape of the node's output. For `declared`: a compiled model whose parameters have partial shapes.

There are two traps. The start axis of pdpd is the attribute `auto_broadcast.auto_broadcast_axis`. Any other name is silently
accepted and ignored, so the adapter checks that every node has its axis. And if a request has no axis, the adapter passes -1,
as the document says, because the operation's own default is 0.

The model is compiled with the precision hint f32, without which the plugin computes in bf16 on some processors. Compiling
takes nearly all of a request's time, so a model without constants is kept for later requests that differ only in their values.
"""
import functools
import json
import re
import types

import protocol
import numpy as np
import openvino as ov
from programs import ARRAYS_OF_NUMPY, Writer, call_text, dtypes, list_text

try:
    from openvino import op, opset1, opset3
    from openvino.utils.node_factory import NodeFactory
except ImportError:  # OpenVINO before 2025 has them elsewhere
    from openvino.runtime import op, opset1, opset3
    from openvino.runtime.utils.node_factory import NodeFactory

OPERATIONS = {
    "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "divide": "Divide", "maximum": "Maximum",
    "minimum": "Minimum", "power": "Power", "equal": "Equal", "not_equal": "NotEqual", "less": "Less",
    "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual", "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr", "negate": "Negative", "abs": "Abs", "sqrt": "Sqrt", "exp": "Exp", "log": "Log",
    "tanh": "Tanh", "logical_not": "LogicalNot", "select": "Select",
}
# Each function as a constructor of plain tuples, for the key of a model.
CALLS = {name: functools.partial(lambda *call: call, name) for name in OPERATIONS}
UNARY = {"negate", "abs", "sqrt", "exp", "log", "tanh", "logical_not"}
AXIS = "auto_broadcast.auto_broadcast_axis"
FACTORY = NodeFactory("opset1")
CORE = ov.Core()
# One thread, not bound to a processor. By default each process binds its threads to the same first processors, and the two
# processes that `check` runs would wait for each other.
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False}
# The sweeps over orders of operands return to this many pairs of shapes; a model takes half a megabyte.
KEPT = 2500
KEPT_DYNAMIC = 100


def node(function, inputs, attributes):
    return FACTORY.create(OPERATIONS[function], inputs, attributes)


def elementwise(expression, inputs, rules):
    """The expression with the same `auto_broadcast` for every function of more than one argument."""
    if isinstance(expression, str):
        return inputs[expression]
    function, *arguments = expression
    nodes = [elementwise(argument, inputs, rules) for argument in arguments]
    return node(function, nodes, {} if function in UNARY else {"auto_broadcast": rules})


def pdpd(expression, inputs, names, axis):
    """The expression, with `pdpd` for each function whose left argument has A's shape and whose right argument has B's. Returns
    the node, and which of the two shapes it has: 0 for A's, 1 for B's."""
    if isinstance(expression, str):
        return inputs[expression], names.index(expression)
    function, *arguments = expression
    nodes, places = zip(*(pdpd(argument, inputs, names, axis) for argument in arguments))
    if function in UNARY:
        return node(function, nodes, {}), places[0]
    if len(set(places)) == 1:
        return node(function, nodes, {"auto_broadcast": "none"}), places[0]
    made = node(function, nodes, {"auto_broadcast": "pdpd", AXIS: axis})
    if made.get_attributes().get(AXIS) != axis:
        raise RuntimeError(f"the node did not take the axis {axis}")
    return made, 0


def constant(array):
    """An operand as a constant node. `opset1.constant` takes no array without elements."""
    if array.size:
        return opset1.constant(array, array.dtype)
    return op.Constant(ov.Tensor(ov.Type(array.dtype), ov.Shape(list(array.shape))))


def target_constant(integers):
    """A target shape or a list of axes as a node."""
    return op.Constant(ov.Type.i64, ov.Shape([len(integers)]), np.array(integers, dtype=np.int64).tolist())


def graph(request, inputs, target=None):
    """The root node. `target` is the node of the target shape of a broadcast."""
    if target is not None and request.rules == "xla":
        axes = target_constant(request.broadcast_dimensions or [])
        return opset3.broadcast(inputs[request.operands[0].name], target, axes, broadcast_spec="EXPLICIT")
    if target is not None:
        mode = "BIDIRECTIONAL" if request.rules == "bidirectional" else "NUMPY"
        return opset3.broadcast(inputs[request.operands[0].name], target, broadcast_spec=mode)
    if request.rules != "pdpd" or len(request.operands) == 1:
        return elementwise(request.expression, inputs, "none" if request.rules == "pdpd" else request.rules)
    names = [operand.name for operand in request.operands]
    return pdpd(request.expression, inputs, names, -1 if request.axis is None else request.axis)[0]


def built(request, constants=types.MappingProxyType({})):
    """The model for the request's shapes and dtypes, its root and its parameters. `constants` are the nodes of operands that are no
    parameters; apart from them it does not depend on the values."""
    with protocol.refusals(RuntimeError, OverflowError, unless="did not take the axis"):
        inputs = {o.name: opset1.parameter(list(o.shape), protocol.dtype(o.dtype)) for o in request.operands}
        inputs.update(constants)
        target = None if request.target_shape is None else target_constant(request.target_shape)
        parameters = [node for name, node in inputs.items() if name not in constants]
        root = graph(request, inputs, target)
        return ov.Model([root], parameters), root, parameters


def compiled(request, constants=types.MappingProxyType({})):
    """The same, compiled. Nothing in it is a refusal: the graph has been accepted."""
    model = built(request, constants)[0]
    return CORE.compile_model(model, "CPU", CONFIG)


def compiled_signature(signature):
    """The same for a signature. A target shape that is not known is the shape of one more parameter, the last one."""
    with protocol.refusals(RuntimeError, OverflowError, unless="did not take the axis"):
        inputs = parameters(signature)
        target, more = partial_target(signature)
        model = ov.Model([graph(signature, inputs, target)], [*inputs.values(), *more])
    return CORE.compile_model(model, "CPU", CONFIG)


def parameters(signature):
    return {o.name: opset1.parameter(partial_shape(o.shape), protocol.dtype(o.dtype)) for o in signature.operands}


def all_but_values(request):
    """Everything in a request that determines its model. Operands are identified by position, not by name."""
    places = {operand.name: place for place, operand in enumerate(request.operands)}
    expression = request.expression and protocol.evaluate(request.expression, places, CALLS)
    operands = [(operand.dtype, operand.shape) for operand in request.operands]
    attributes = (request.target_shape, request.axis, request.broadcast_dimensions)
    return repr((request.rules, request.operation, expression, attributes, operands))


def partial_shape(shape):
    if shape is None:
        return ov.PartialShape.dynamic()
    return ov.PartialShape([ov.Dimension(length.min, -1 if length.max is None else length.max) for length in shape])


def partial_target(signature):
    """The node of a target shape, if there is one. If it is not known, it is the shape of a parameter, which is returned, too."""
    if signature.expression is not None:
        return None, []
    shape = signature.target_shape
    if shape is not None and None not in protocol.numbers(shape):
        return target_constant(protocol.numbers(shape)), []
    parameter = opset1.parameter(partial_shape(shape), np.bool_)
    return opset3.shape_of(parameter), [parameter]


def known_length(dimension):
    highest = dimension.get_max_length()
    return protocol.Length(dimension.get_min_length(), None if highest == -1 else highest)


class OpenVINOWriter(Writer):
    def __init__(self):
        arrays = {name: form for name, form in ARRAYS_OF_NUMPY.items() if name != "view"}
        # The names of opset1's functions are those of the operations, in lower case with underscores.
        calls = {name: "opset1." + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower() for name, operation in OPERATIONS.items()}
        super().__init__(["import numpy as np, openvino as ov", "from openvino import op, opset1, opset3"], calls, dtypes("np"), **arrays)

    def computed(self, request, names):
        """The lines that make a node for each operand, and compile and run a model of them."""
        nodes = {name: f"node_{text}" for name, text in names.items()}
        parameters = [operand for operand in request.operands if not operand.constant]
        lines = [f"{nodes[o.name]} = {self.node(o, names[o.name])}" for o in request.operands]
        before, root = self.value(request, nodes)
        config = ", ".join(f'"{key}": {json.dumps(value) if isinstance(value, str) else value}' for key, value in CONFIG.items())
        return [
            *lines, *before, f"model = ov.Model([{root}], [{', '.join(nodes[o.name] for o in parameters)}])",
            f'compiled = ov.Core().compile_model(model, "CPU", {{{config}}})',
            f"result = np.array(compiled([{', '.join(names[o.name] for o in parameters)}])[0])",
        ]

    def node(self, operand, name):
        if not operand.constant:
            return f"opset1.parameter({list_text(operand.shape)}, {self.dtypes[operand.dtype]})"
        if 0 not in operand.shape:
            return f"opset1.constant({name}, {self.dtypes[operand.dtype]})"
        return f"op.Constant(ov.Tensor(ov.Type({self.dtypes[operand.dtype]}), ov.Shape({list_text(operand.shape)})))"

    def value(self, request, names):
        if request.expression is None:
            return [], self.broadcast(request, names[request.operands[0].name])
        places = {operand.name: place for place, operand in enumerate(request.operands)}
        return [], self.call(request, request.expression, names, places)[0]

    def call(self, request, expression, names, places):
        """The text of an expression and, as in `pdpd`, which operand's shape it has."""
        if isinstance(expression, str):
            return names[expression], places[expression]
        function, *arguments = expression
        texts, shapes = zip(*(self.call(request, argument, names, places) for argument in arguments))
        if function in UNARY:
            return call_text(self.calls[function], texts), shapes[0]
        if request.rules != "pdpd":
            return call_text(self.calls[function], [*texts, f'auto_broadcast="{request.rules}"']), 0
        if len(set(shapes)) == 1 or len(request.operands) == 1:
            return call_text(self.calls[function], [*texts, 'auto_broadcast="none"']), shapes[0]
        # The functions of opset1 have no argument for the start axis.
        axis = -1 if request.axis is None else request.axis
        attributes = f'{{"auto_broadcast": "pdpd", "{AXIS}": {axis}}}'
        return f'NodeFactory("opset1").create("{OPERATIONS[function]}", [{", ".join(texts)}], {attributes})', 0

    def broadcast(self, request, name):
        target = self.integers(request.target_shape)
        if request.rules == "xla":
            axes = self.integers(request.broadcast_dimensions or [])
            return f'opset3.broadcast({name}, {target}, {axes}, broadcast_spec="EXPLICIT")'
        mode = "BIDIRECTIONAL" if request.rules == "bidirectional" else "NUMPY"
        return f'opset3.broadcast({name}, {target}, broadcast_spec="{mode}")'

    def integers(self, integers):
        return f"op.Constant(ov.Type.i64, ov.Shape([{len(integers)}]), {list_text(integers)})"

    def write(self, request):
        program = super().write(request)
        if "NodeFactory" not in program:
            return program
        return "from openvino.utils.node_factory import NodeFactory\n" + program


class OpenVINO:
    name, version = "openvino", ov.__version__.split("-")[0]
    rules = ["none", "numpy", "pdpd", "bidirectional", "xla"]
    operations = ["elementwise", "broadcast", "broadcast_in_dim", "infer", "declared", "constants", "same"]
    rule_operations = {"xla": ["broadcast", "infer", "declared"]}
    unknown = ["length", "bound", "interval", "rank"]
    declared_unknown = ["length", "bound", "interval"]  # the CPU plugin takes no parameter of unknown rank
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    ordered_operands = True  # pdpd takes A on the left and B on the right
    unused_operands = False  # an operation takes none
    # OpenVINO has no limit on the number of elements, and would allocate such shapes.
    large_sizes = False
    # Some requests crash the process; with one request at a time, no other is lost.
    window = 1
    batch = 40

    def __init__(self):
        self.models = protocol.Kept(KEPT, compiled)
        self.dynamic = protocol.Kept(KEPT_DYNAMIC, compiled_signature)

    def run_many(self, requests):
        """One model whose outputs are the results of the requests that are refused neither while their graphs are built, nor have
        declared shapes: those are run alone."""
        answers, roots, parameters, values = [None] * len(requests), {}, [], []
        for place, request in enumerate(requests):
            try:
                if request.signature is not None:
                    answers[place] = self.run(request)
                    continue
                made = request.arrays(protocol.Operand.dense)
                constants = {name: constant(made[name]) for name in request.constants()}
                _, roots[place], more = built(request, constants)
                parameters += more
                values += [made[operand.name] for operand in request.operands if not operand.constant]
            except (protocol.Refused, protocol.Skipped) as error:
                answers[place] = error
        if roots:
            results = CORE.compile_model(ov.Model(list(roots.values()), parameters), "CPU", CONFIG)(values)
            for number, place in enumerate(roots):
                answers[place] = np.array(results[number])
        return answers

    def run(self, request):
        made = request.arrays(protocol.Operand.dense)
        arrays = [made[operand.name] for operand in request.operands if not operand.constant]
        if request.constants():
            constants = {name: constant(made[name]) for name in request.constants()}
            return np.array(compiled(request, constants)(arrays)[0])
        if request.signature is None:
            model = self.models.get(all_but_values(request), request)
            return np.array(model(arrays)[0])
        model = self.dynamic.get(request.signature.key(), request.signature)
        if len(model.inputs) > len(arrays):
            arrays.append(request.target())
        # The model has been accepted, but not these lengths.
        with protocol.refusals(RuntimeError):
            return np.array(model(arrays)[0])

    def program(self, request):
        return OpenVINOWriter().write(request)

    def infer(self, signature):
        with protocol.refusals(RuntimeError, OverflowError, unless="did not take the axis"):
            output = graph(signature, parameters(signature), partial_target(signature)[0]).output(0)
        shape = output.get_partial_shape()
        lengths = None if shape.rank.is_dynamic else [known_length(dimension) for dimension in shape]
        return protocol.Inferred(output.get_element_type().to_dtype(), lengths)


protocol.serve(OpenVINO())
