"""ONNX Runtime on its CPU provider: ONNX's elementwise operators under the rule set `numpy`, and its operator Expand, which is
`bidirectional`. The package onnx only builds the models and checks nothing: ONNX Runtime infers the shapes, for `infer` when it
loads a model that it does not run. For `declared`: a session of a model with unknown lengths, kept for later requests. Constants are
initializers, and then the optimiser, which folds them, is on, unless the runner asks for it to be off."""
import json

import protocol
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx_graph import OPERATORS, TYPES, Graph
from onnxruntime.capi import onnxruntime_pybind11_state as state
from programs import ARRAYS_OF_NUMPY, Writer, dtypes, list_text

# ONNX Runtime's names of the types.
ELEMENTS = {
    f"tensor({name})": dtype for dtype, name in [
        ("f64", "double"), ("f32", "float"), ("f16", "float16"), ("bool", "bool"),
        *((dtype, protocol.dtype(dtype).name) for dtype in protocol.INTEGERS),
    ]
}
# Sessions that are kept: all ways to declare one request, and more.
KEPT = 100
REFUSALS = (state.NotImplemented, state.Fail, state.InvalidArgument, state.InvalidGraph, state.RuntimeException)


def session_options(level):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = level
    return options


class OnnxRuntimeWriter(Writer):
    def __init__(self):
        arrays = {name: form for name, form in ARRAYS_OF_NUMPY.items() if name != "view"}
        super().__init__(
            ["import numpy as np, onnxruntime as ort", "from onnx import TensorProto, helper, numpy_helper"], {}, dtypes("np"), **arrays,
        )

    def computed(self, request, names):
        """The lines that make a model with a node for each call, and run it."""
        nodes = []
        root = self.node(request, request.expression, names, nodes)
        parameters = [operand for operand in request.operands if not operand.constant]
        inputs = [self.input(names[o.name], o.dtype, o.shape) for o in parameters]
        feeds = [names[operand.name] for operand in parameters]
        lines = []
        if request.expression is None:
            lines.append(f"target = np.array({list_text(request.target_shape)}, dtype=np.int64)")
            inputs.append(self.input("target", "i64", [len(request.target_shape)]))
            feeds.append("target")
        constants = ", ".join(f'numpy_helper.from_array({name}, "{name}")' for name in (names[name] for name in sorted(request.constants())))
        level = "ENABLE" if constants else "DISABLE"
        return [
            *lines, f"inputs = [{', '.join(inputs)}]", f"nodes = [{', '.join(nodes)}]",
            f'output = helper.make_empty_tensor_value_info("{root}")',
            f'graph = helper.make_graph(nodes, "program", inputs, [output], [{constants}])',
            f'model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", {Graph.format[0]})], ir_version={Graph.format[1]})',
            "options = ort.SessionOptions()",
            f"options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_{level}_ALL",
            'session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])',
            f"result = np.asarray(session.run(None, {{{', '.join(f'{chr(34)}{name}{chr(34)}: {name}' for name in feeds)}}})[0])",
        ]

    def input(self, name, dtype, shape):
        return f'helper.make_tensor_value_info("{name}", TensorProto.{TensorProto.DataType.Name(TYPES[dtype])}, {list_text(shape)})'

    def node(self, request, expression, names, nodes):
        """Adds the nodes of an expression, None for a broadcast, and returns the name of the last."""
        if expression is None:
            operator, inputs = "Expand", [names[request.operands[0].name], "target"]
        elif isinstance(expression, str) and expression != request.expression:
            return names[expression]
        elif isinstance(expression, str):
            operator, inputs = "Identity", [names[expression]]
        else:
            operator, inputs = OPERATORS[expression[0]], [self.node(request, one, names, nodes) for one in expression[1:]]
        output = f"node_{len(nodes)}"
        nodes.append(f'helper.make_node("{operator}", {json.dumps(inputs)}, ["{output}"])')
        return output


class OnnxRuntime:
    name, version = "onnxruntime", ort.__version__
    rules = ["numpy", "bidirectional"]
    operations = ["elementwise", "broadcast", "infer", "declared", "constants", "same"]
    unknown = ["length", "rank"]
    functions = list(OPERATORS)
    dtypes = list(TYPES)
    # ONNX's only broadcast, Expand, is bidirectional.
    rule_operations = {"numpy": ["elementwise", "infer", "declared"]}
    # ONNX defines Neg for signed types.
    function_dtypes = {"negate": [dtype for dtype in TYPES if not dtype.startswith("u")]}
    unused_operands = False  # an operator takes none
    # Expand allocates its result, and operands are NumPy arrays, which are limited in bytes even if they are empty.
    large_sizes = False

    def __init__(self):
        ort.set_default_logger_severity(4)
        # The operators are under test, not the graph rewrites, unless the runner asks for a position of the optimiser.
        self.position = None
        self.levels = {
            "off": session_options(ort.GraphOptimizationLevel.ORT_DISABLE_ALL),
            "on": session_options(ort.GraphOptimizationLevel.ORT_ENABLE_ALL),
        }
        self.sessions = protocol.Kept(KEPT, self.built)
        Graph.settle(self.session)
        # Each release has kernels for more types than the one before.
        lacking = {function: [dtype for dtype in TYPES if self.lacks(function, dtype)] for function in OPERATORS}
        known = self.function_dtypes
        self.function_dtypes = {
            function: [dtype for dtype in known.get(function, TYPES) if dtype not in dtypes]
            for function, dtypes in lacking.items() if dtypes or function in known
        }

    def lacks(self, function, dtype):
        """Whether the CPU provider has no kernel for a function of this type. A type that ONNX does not define for it is refused."""
        names = ["a", "b", "c"][:protocol.ARGUMENTS[function]]
        types = {name: dtype for name in names} if function != "select" else {"a": "bool", "b": dtype, "c": dtype}
        graph = Graph()
        inputs = [helper.make_tensor_value_info(name, TYPES[types[name]], [1]) for name in names]
        try:
            self.session(graph.model(inputs, graph.expression([function, *names])))
        except state.NotImplemented:
            return True
        except REFUSALS:
            return False
        return False

    @property
    def optimiser(self):
        return self.position or "off"

    @optimiser.setter
    def optimiser(self, position):
        self.position = position

    def session(self, model, otherwise="off"):
        """A session with the optimiser as the runner asks, or in this position if it does not."""
        options = self.levels[self.position or otherwise]
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def built(self, signature):
        graph = Graph()
        return self.session(graph.model(*graph.signature(signature)))

    def declared(self, request):
        feeds = {operand.name: operand.dense() for operand in request.operands}
        with protocol.refusals(*REFUSALS):
            session = self.sessions.get(request.signature.key(), request.signature)
            if any(tensor.name == "target" for tensor in session.get_inputs()):
                feeds["target"] = request.target()
            return np.asarray(session.run(None, feeds)[0])

    def run(self, request):
        if request.signature is not None:
            return self.declared(request)
        graph, feeds = Graph(), {}
        arrays = request.arrays(protocol.Operand.dense)
        parameters = [operand for operand in request.operands if not operand.constant]
        constants = [numpy_helper.from_array(arrays[name], name) for name in sorted(request.constants())]
        inputs = [helper.make_tensor_value_info(o.name, TYPES[o.dtype], list(o.shape)) for o in parameters]
        if request.operation == "broadcast":
            inputs.append(helper.make_tensor_value_info("target_shape", TensorProto.INT64, [len(request.target_shape)]))
            feeds["target_shape"] = np.array(request.target_shape, dtype=np.int64)
            root = graph.add("Expand", [request.operands[0].name, "target_shape"])
        else:
            root = graph.expression(request.expression)
        feeds.update({operand.name: arrays[operand.name] for operand in parameters})
        with protocol.refusals(*REFUSALS):
            session = self.session(graph.model(inputs, root, constants), "on" if constants else "off")
            return np.asarray(session.run(None, feeds)[0])

    def program(self, request):
        return OnnxRuntimeWriter().write(request)

    def infer(self, signature):
        graph = Graph()
        inputs, root = graph.signature(signature)
        # A session reports an output of unknown rank like a scalar. With a new first axis, they differ.
        model = graph.model(inputs, graph.add("Unsqueeze", [root, graph.add("Constant", [], value_ints=[0])]))
        with protocol.refusals(*REFUSALS):
            output = self.session(model).get_outputs()[0]
        shape = [length if isinstance(length, int) else None for length in output.shape[1:]] if output.shape else None
        return protocol.Inferred(ELEMENTS[output.type], shape)


protocol.serve(OnnxRuntime())
