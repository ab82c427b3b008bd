"""Shared by the adapters of ONNX and ONNX Runtime: a request or a signature as a graph of ONNX's operators."""
import contextlib

import protocol
from onnx import TensorProto, helper

OPERATORS = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "maximum": "Max", "minimum": "Min", "power": "Pow",
    "equal": "Equal", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual",
    "logical_and": "And", "logical_or": "Or", "negate": "Neg", "abs": "Abs", "sqrt": "Sqrt", "exp": "Exp", "log": "Log",
    "tanh": "Tanh", "logical_not": "Not", "select": "Where",
}
TYPES = {
    "f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i64": TensorProto.INT64,
    "i32": TensorProto.INT32, "i16": TensorProto.INT16, "i8": TensorProto.INT8, "u64": TensorProto.UINT64,
    "u32": TensorProto.UINT32, "u16": TensorProto.UINT16, "u8": TensorProto.UINT8, "bool": TensorProto.BOOL,
}
# Sets of operators, each with the oldest version of the format that has it: the newest that this adapter was written for comes first.
# Older releases, which `broadcheck history` installs, take only older ones.
FORMATS = [(21, 10), (20, 9), (19, 9), (18, 8), (17, 8), (16, 8), (15, 8), (14, 7), (13, 7)]


class Graph:
    """The expression as nodes of a graph, each with a unique name."""

    # The one that is used.
    format = FORMATS[0]

    def __init__(self):
        self.nodes = []

    @classmethod
    def settle(cls, loads):
        """Uses the newest format in which `loads` loads a model, which raises an error otherwise."""
        for cls.format in FORMATS:
            inputs = [helper.make_tensor_value_info("a", TensorProto.FLOAT, [1])]
            with contextlib.suppress(Exception):
                loads(cls().model(inputs, "a"))
                return
        raise RuntimeError(f"the system loads a model in none of the formats {FORMATS}")

    def add(self, operator, inputs, **attributes):
        output = f"node_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def expression(self, expression):
        if isinstance(expression, str):
            return expression
        function, *arguments = expression
        return self.add(OPERATORS[function], [self.expression(argument) for argument in arguments])

    def model(self, inputs, root, constants=()):
        """A model with these inputs and initializers, of which the output is `root`, without a shape."""
        if not self.nodes:
            root = self.add("Identity", [root])
        graph = helper.make_graph(self.nodes, "request", inputs, [helper.make_empty_tensor_value_info(root)], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.format[0])], ir_version=self.format[1])

    def signature(self, signature):
        """The inputs and the root of a signature. A target shape that is not known is the shape of another input, `target`."""
        inputs = [helper.make_tensor_value_info(o.name, TYPES[o.dtype], protocol.numbers(o.shape)) for o in signature.operands]
        if signature.expression is not None:
            return inputs, self.expression(signature.expression)
        shape = protocol.numbers(signature.target_shape)
        if shape is None or None in shape:
            inputs.append(helper.make_tensor_value_info("target", TensorProto.BOOL, shape))
            target = self.add("Shape", ["target"])
        else:
            target = self.add("Constant", [], value=helper.make_tensor("target_shape", TensorProto.INT64, [len(shape)], shape))
        return inputs, self.add("Expand", [signature.operands[0].name, target])
