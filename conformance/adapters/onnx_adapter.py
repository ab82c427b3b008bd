"""ONNX's own shape inference, of its elementwise operators under the rule set `numpy` and of Expand, which is `bidirectional`.
Nothing is run."""
import protocol
import onnx
from onnx import helper, shape_inference
from onnx_graph import OPERATORS, TYPES, Graph


class Onnx:
    name, version = "onnx", onnx.__version__
    rules = ["numpy", "bidirectional"]
    operations = ["infer"]
    unknown = ["length", "rank"]
    functions = list(OPERATORS)
    dtypes = list(TYPES)
    # ONNX's only broadcast, Expand, is bidirectional.
    rule_operations = {"numpy": ["elementwise", "infer"]}
    # ONNX defines Neg for signed types.
    function_dtypes = {"negate": [dtype for dtype in TYPES if not dtype.startswith("u")]}
    unused_operands = False  # an operator takes none

    def infer(self, signature):
        graph = Graph()
        model = graph.model(*graph.signature(signature))
        with protocol.refusals(shape_inference.InferenceError):
            inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        tensor = inferred.graph.output[0].type.tensor_type
        shape = [length.dim_value if length.HasField("dim_value") else None for length in tensor.shape.dim]
        return protocol.Inferred(helper.tensor_dtype_to_np_dtype(tensor.elem_type), shape if tensor.HasField("shape") else None)


protocol.serve(Onnx())
