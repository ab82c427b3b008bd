"""OpenVINO on its CPU plugin: `auto_broadcast` none, numpy and pdpd of its elementwise operations; its operation Broadcast in
the modes bidirectional, and numpy for the one-directional `broadcast`.

Two traps. The start axis of pdpd is the attribute `auto_broadcast.auto_broadcast_axis`: any other name is taken without
complaint and ignored, so that every node is asked whether it took its axis. And where a request leaves the axis out -1 is
passed, as the document says, because the operation's own default is 0.

The model is compiled with the precision hint f32, without which the plugin computes in bf16 on some processors. Nearly all
of a request's time goes into that, so that a model is kept for the next request that differs in its values alone.
"""
import collections
import functools

import protocol
import numpy as np
import openvino as ov
from openvino import op, opset1, opset3
from openvino.utils.node_factory import NodeFactory

OPERATIONS = {
    "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "divide": "Divide", "maximum": "Maximum",
    "minimum": "Minimum", "power": "Power", "equal": "Equal", "not_equal": "NotEqual", "less": "Less",
    "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual", "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr", "negate": "Negative", "abs": "Abs", "sqrt": "Sqrt", "exp": "Exp", "log": "Log",
    "tanh": "Tanh", "logical_not": "LogicalNot", "select": "Select",
}
# A call as it is written down.
CALLS = {name: functools.partial(lambda *call: call, name) for name in OPERATIONS}
UNARY = {"negate", "abs", "sqrt", "exp", "log", "tanh", "logical_not"}
AXIS = "auto_broadcast.auto_broadcast_axis"
FACTORY = NodeFactory("opset1")
CORE = ov.Core()
# One thread, and bound to no processor: by default each process binds its threads to the same first ones, and two of them,
# as `check` runs, wait for one another.
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False}
# The sweeps over orders of operands come back to so many pairs of shapes; a model takes half a megabyte.
KEPT = 2500


def node(function, inputs, attributes):
    return FACTORY.create(OPERATIONS[function], inputs, attributes)


def elementwise(expression, inputs, rules):
    """The expression with the same `auto_broadcast` at every function of more than one argument."""
    if isinstance(expression, str):
        return inputs[expression]
    function, *arguments = expression
    nodes = [elementwise(argument, inputs, rules) for argument in arguments]
    return node(function, nodes, {} if function in UNARY else {"auto_broadcast": rules})


def pdpd(expression, inputs, names, axis):
    """The expression with `pdpd` where what has B's shape meets, on the right, what has A's. Gives the node, and which of
    the two shapes it has."""
    if isinstance(expression, str):
        return inputs[expression], names.index(expression)
    function, *arguments = expression
    nodes, places = zip(*(pdpd(argument, inputs, names, axis) for argument in arguments))
    if function in UNARY:
        return node(function, nodes, {}), places[0]
    if len(set(places)) == 1:
        return node(function, nodes, {"auto_broadcast": "none"}), places[0]
    if places != (0, 1):
        raise protocol.Skipped(f"OpenVINO's pdpd takes A and then B: {function} has them in another order")
    made = node(function, nodes, {"auto_broadcast": "pdpd", AXIS: axis})
    if made.get_attributes().get(AXIS) != axis:
        raise RuntimeError(f"the node did not take the axis {axis}")
    return made, 0


def graph(request, inputs):
    if request.operation == "broadcast":
        target = np.array(request.target_shape, dtype=np.int64)
        constant = op.Constant(ov.Type.i64, ov.Shape([len(target)]), target.tolist())
        mode = "BIDIRECTIONAL" if request.rules == "bidirectional" else "NUMPY"
        return opset3.broadcast(inputs[request.operands[0].name], constant, broadcast_spec=mode)
    if request.unused():
        raise protocol.Skipped("an OpenVINO operation has no operand that it does not use")
    if request.rules != "pdpd" or len(request.operands) == 1:
        return elementwise(request.expression, inputs, "none" if request.rules == "pdpd" else request.rules)
    if len(request.operands) > 2:
        raise protocol.Skipped("OpenVINO's pdpd is between two operands")
    names = [operand.name for operand in request.operands]
    return pdpd(request.expression, inputs, names, -1 if request.axis is None else request.axis)[0]


def compiled(request):
    """The request's model for its own shapes and dtypes, whatever the values."""
    with protocol.asking(RuntimeError, OverflowError, unless="did not take the axis"):
        inputs = {o.name: opset1.parameter(list(o.shape), protocol.dtype(o.dtype)) for o in request.operands}
        model = ov.Model([graph(request, inputs)], list(inputs.values()))
    # What follows is no refusal any more: the graph has been accepted.
    protocol.limit([length or 1 for length in model.output(0).get_shape()])
    return CORE.compile_model(model, "CPU", CONFIG)


def all_but_values(request):
    """Everything of a request that its model is made of. Operands are known by their places, whatever their names."""
    places = {operand.name: place for place, operand in enumerate(request.operands)}
    expression = request.expression and protocol.evaluate(request.expression, places, CALLS)
    operands = [(operand.dtype, operand.shape) for operand in request.operands]
    return repr((request.rules, request.operation, expression, request.target_shape, request.axis, operands))


class OpenVINO:
    name, version = "openvino", ov.__version__.split("-")[0]
    rules = ["none", "numpy", "pdpd", "bidirectional"]
    operations = ["elementwise", "broadcast"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", *protocol.INTEGERS, "bool"]
    # It ends its process on some requests: one at a time, no other is lost with that one.
    window = 1

    def __init__(self):
        self.models = collections.OrderedDict()

    def run(self, request):
        model = self.model(request)
        return np.array(model([operand.dense() for operand in request.operands])[0])

    def model(self, request):
        """The model as it was compiled for an earlier request, or made now. What is refused is asked each time."""
        key = all_but_values(request)
        if key not in self.models:
            self.models[key] = compiled(request)
        self.models.move_to_end(key)
        if len(self.models) > KEPT:
            self.models.popitem(last=False)
        return self.models[key]


protocol.serve(OpenVINO())
