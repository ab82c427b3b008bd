"""ONNX Runtime on its CPU provider: ONNX's elementwise operators under the rule set `numpy`, and its operator Expand, which is
`bidirectional`. The package onnx only builds the models and checks nothing: ONNX Runtime infers the shapes."""
import protocol
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

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
OPSET = 21
REFUSALS = (state.NotImplemented, state.Fail, state.InvalidArgument, state.InvalidGraph, state.RuntimeException)


class Graph:
    """The expression as nodes of a graph, each with a unique name."""

    def __init__(self):
        self.nodes = []

    def add(self, operator, inputs):
        output = f"node_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output]))
        return output

    def expression(self, expression):
        if isinstance(expression, str):
            return expression
        function, *arguments = expression
        return self.add(OPERATORS[function], [self.expression(argument) for argument in arguments])


class OnnxRuntime:
    name, version = "onnxruntime", ort.__version__
    rules = ["numpy", "bidirectional"]
    operations = ["elementwise", "broadcast"]
    functions = list(OPERATORS)
    dtypes = list(TYPES)
    # ONNX's only broadcast, Expand, is bidirectional.
    rule_operations = {"numpy": ["elementwise"]}
    function_dtypes = {
        # ONNX defines Neg for signed types.
        "negate": [dtype for dtype in TYPES if not dtype.startswith("u")],
        # ONNX Runtime's CPU provider has no kernels for the other types.
        "maximum": [dtype for dtype in TYPES if dtype not in ("i16", "u16")],
        "minimum": [dtype for dtype in TYPES if dtype not in ("i16", "u16")],
        "select": [dtype for dtype in TYPES if dtype not in ("i16", "u16", "u64", "bool")],
    }
    unused_operands = False  # an operator takes none
    # Expand allocates its result, and operands are NumPy arrays, which are limited in bytes even if they are empty.
    large_sizes = False

    def __init__(self):
        ort.set_default_logger_severity(4)
        self.options = ort.SessionOptions()
        self.options.intra_op_num_threads = 1
        # The operators are under test, not the graph rewrites.
        self.options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL

    def run(self, request):
        graph, feeds = Graph(), {}
        inputs = [helper.make_tensor_value_info(o.name, TYPES[o.dtype], list(o.shape)) for o in request.operands]
        if request.operation == "broadcast":
            inputs.append(helper.make_tensor_value_info("target_shape", TensorProto.INT64, [len(request.target_shape)]))
            feeds["target_shape"] = np.array(request.target_shape, dtype=np.int64)
            root = graph.add("Expand", [request.operands[0].name, "target_shape"])
        else:
            root = graph.expression(request.expression)
        if not graph.nodes:
            root = graph.add("Identity", [root])
        feeds.update({operand.name: operand.dense() for operand in request.operands})
        output = helper.make_empty_tensor_value_info(root)
        model = helper.make_model(helper.make_graph(graph.nodes, "request", inputs, [output]),
                                  opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        with protocol.refusals(*REFUSALS):
            session = ort.InferenceSession(model.SerializeToString(), self.options, providers=["CPUExecutionProvider"])
            return np.asarray(session.run(None, feeds)[0])


protocol.serve(OnnxRuntime())
