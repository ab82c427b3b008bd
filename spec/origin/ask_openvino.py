"""Run cases on OpenVINO: `none`, `numpy` and `pdpd` through the operations' auto_broadcast, `bidirectional` and
one-directional `numpy` through the operation Broadcast.

    pip install -r requirements-openvino.txt
    python ask_openvino.py ../cases/{pdpd,none,bidirectional}-{examples,views}.yaml

second_opinion.py explains the output and the exit status.

Two traps. The start axis of pdpd must be given as the attribute `auto_broadcast.auto_broadcast_axis`: any other name is
silently ignored, and the axis is then 0 (`self_check` fails if that ever changes). And if a case has no axis we pass -1, as
the document specifies, because the operation's own default is 0.
"""

import math

import numpy as np
import openvino as ov
from openvino import op, opset1, opset3
from openvino.utils.node_factory import NodeFactory

from second_opinion import MAX_ELEMENTS, NotExpressible, Refused, apart, array, leaves, main

FUNCTIONS = {
    "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "divide": "Divide", "maximum": "Maximum",
    "minimum": "Minimum", "power": "Power", "equal": "Equal", "not_equal": "NotEqual", "less": "Less",
    "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual", "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr", "negate": "Negative", "abs": "Abs", "sqrt": "Sqrt", "exp": "Exp", "log": "Log",
    "tanh": "Tanh", "logical_not": "LogicalNot", "select": "Select",
}
FACTORY = NodeFactory("opset1")
AXIS = "auto_broadcast.auto_broadcast_axis"


def node(function, inputs, broadcast, axis=None):
    attributes = {"auto_broadcast": broadcast} if len(inputs) > 1 else {}
    if axis is not None:
        attributes[AXIS] = axis
    made = FACTORY.create(FUNCTIONS[function], inputs, attributes)
    if axis is not None and made.get_attributes()[AXIS] != axis:
        raise RuntimeError(f"OpenVINO did not take the axis {axis}")
    return made


def constant(array):
    """A constant node; the factory's own refuses an empty array."""
    if array.size:
        return opset1.constant(array)
    return op.Constant(ov.Type(array.dtype), ov.Shape(array.shape), [])


def build(expression, inputs, broadcast):
    if isinstance(expression, str):
        return inputs[expression]
    return node(expression[0], [build(part, inputs, broadcast) for part in expression[1:]], broadcast)


def build_pdpd(case, inputs):
    """The operation itself if the expression is one function of A and B in that order; otherwise B is first brought to
    A's shape by adding it to zeros under pdpd, and the expression runs on equal shapes."""
    a, b = (inputs[operand["name"]] for operand in case["operands"])
    axis = case.get("axis", -1)
    expression = case["expression"]
    if expression[1:] == [operand["name"] for operand in case["operands"]]:
        return node(expression[0], [a, b], "pdpd", axis)
    dtype = b.get_element_type().to_dtype()
    if dtype == np.bool_:
        b = node("add", [constant(np.zeros(list(a.shape), np.int32)), opset1.convert(b, "i32")], "pdpd", axis)
        b = opset1.convert(b, "boolean")
    else:
        b = node("add", [constant(np.zeros(list(a.shape), dtype)), b], "pdpd", axis)
    names = [operand["name"] for operand in case["operands"]]
    return build(expression, dict(zip(names, [a, b])), "none")


def ask(case):
    operation = case.get("operation", "elementwise")
    if operation == "gradient":
        raise NotExpressible("no gradients")
    if operation == "elementwise" and leaves(case["expression"]) != {o["name"] for o in case["operands"]} \
            and case["rules"] != "pdpd":
        raise NotExpressible("an operand that the expression does not use")
    if case["rules"] == "pdpd" and len(case["operands"]) > 2:
        raise NotExpressible("pdpd with more than two operands")
    if isinstance(case.get("expression"), str) and len(case["operands"]) == 1:
        raise NotExpressible("no function to run")
    if math.prod(n for n in case.get("target_shape", []) if n) > MAX_ELEMENTS:
        raise NotExpressible("too many elements to run")
    arrays = {o["name"]: array(o) for o in case["operands"]}
    inputs = {name: opset1.parameter(list(value.shape), value.dtype) for name, value in arrays.items()}
    try:
        if operation == "broadcast":
            target = constant(np.array(case["target_shape"], dtype=np.int64))
            root = opset3.broadcast(next(iter(inputs.values())), target,
                                    broadcast_spec="BIDIRECTIONAL" if case["rules"] == "bidirectional" else "NUMPY")
        elif case["rules"] == "pdpd" and len(case["operands"]) == 2:
            root = build_pdpd(case, inputs)
        else:
            root = build(case["expression"], inputs, case["rules"])
        model = ov.Core().compile_model(ov.Model([root], list(inputs.values())), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        return np.array(model(list(arrays.values()))[0])
    except RuntimeError as error:
        raise Refused(str(error)) from error


def self_check():
    """Check that the axis takes effect: a square matrix distinguishes a column from a row."""
    request = {"rules": "pdpd", "expression": ["add", "a", "b"], "operands": [
        {"name": "a", "dtype": "f32", "shape": [2, 2], "values": [1, 2, 3, 4]},
        {"name": "b", "dtype": "f32", "shape": [2], "values": [10, 20]}]}
    answers = [apart(ask, {**request, "axis": axis}).ravel().tolist() for axis in (0, 1)]
    if answers != [[11, 12, 23, 24], [11, 22, 13, 24]]:
        raise SystemExit(f"OpenVINO does not obey the axis: {answers}")


if __name__ == "__main__":
    self_check()
    main(f"OpenVINO {ov.__version__.split('-')[0]}", {"none", "numpy", "pdpd", "bidirectional"}, ask)
