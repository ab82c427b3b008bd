"""MLX on its CPU device: its functions under the rule set `numpy`, `mx.broadcast_to`, and gradients by `mx.grad`."""
import protocol
import mlx.core as mx
import numpy as np

FUNCTIONS = {
    "add": mx.add, "subtract": mx.subtract, "multiply": mx.multiply, "divide": mx.divide, "maximum": mx.maximum,
    "minimum": mx.minimum, "power": mx.power, "equal": mx.equal, "not_equal": mx.not_equal, "less": mx.less,
    "less_equal": mx.less_equal, "greater": mx.greater, "greater_equal": mx.greater_equal, "logical_and": mx.logical_and,
    "logical_or": mx.logical_or, "negate": mx.negative, "abs": mx.abs, "sqrt": mx.sqrt, "exp": mx.exp, "log": mx.log,
    "tanh": mx.tanh, "logical_not": mx.logical_not, "select": mx.where,
}
TYPES = {
    "f64": mx.float64, "f32": mx.float32, "f16": mx.float16, "i64": mx.int64, "i32": mx.int32, "i16": mx.int16,
    "i8": mx.int8, "u64": mx.uint64, "u32": mx.uint32, "u16": mx.uint16, "u8": mx.uint8, "bool": mx.bool_,
}
mx.set_default_device(mx.cpu)


class Mlx:
    name, version = "mlx", mx.__version__
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "gradient"]
    functions = protocol.FUNCTIONS
    dtypes = list(TYPES)

    def run(self, request):
        if request.target_shape:
            protocol.limit([length or 1 for length in request.target_shape])
        arrays = {operand.name: mx.array(operand.dense(), dtype=TYPES[operand.dtype]) for operand in request.operands}
        with protocol.asking(ValueError, TypeError):
            if request.operation == "broadcast":
                return np.array(mx.broadcast_to(arrays[request.operands[0].name], request.target_shape))
            if request.operation == "elementwise":
                return np.array(result(request, arrays))
            gradient = mx.grad(lambda w: mx.sum(result(request, {**arrays, request.wrt: w})))
            return np.array(gradient(arrays[request.wrt]))


def result(request, arrays):
    value = protocol.evaluate(request.expression, arrays, FUNCTIONS)
    if request.unused():  # they take part in the common shape all the same
        value = mx.broadcast_to(value, mx.broadcast_shapes(*(array.shape for array in arrays.values())))
    return value


protocol.serve(Mlx())
