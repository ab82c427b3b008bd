"""TensorFlow in eager mode on the CPU: its functions under the rule set `numpy`, `tf.broadcast_to`, and GradientTape, whose
`output_gradients` are a cotangent. For `infer`: the output of a `tf.function` that is traced with a `TensorSpec` for each operand, with
which `tf.broadcast_static_shape` must agree. For `declared`: such a function, called. With constants: a `tf.function` in which they are
`tf.constant`."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import protocol  # noqa: E402
from programs import Unwritable, Writer, dense_arrays, dtypes  # noqa: E402
import tensorflow as tf  # noqa: E402

FUNCTIONS = {
    "add": tf.add, "subtract": tf.subtract, "multiply": tf.multiply, "divide": tf.divide, "maximum": tf.maximum,
    "minimum": tf.minimum, "power": tf.pow, "equal": tf.equal, "not_equal": tf.not_equal, "less": tf.less,
    "less_equal": tf.less_equal, "greater": tf.greater, "greater_equal": tf.greater_equal, "logical_and": tf.logical_and,
    "logical_or": tf.logical_or, "negate": tf.negative, "abs": tf.abs, "sqrt": tf.sqrt, "exp": tf.exp,
    "log": tf.math.log, "tanh": tf.tanh, "logical_not": tf.logical_not, "select": tf.where,
}
SIGNED = ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8"]
KINDS = [(r"Incompatible shapes: ", "dimension_mismatch")]
ERRORS = (tf.errors.InvalidArgumentError, tf.errors.NotFoundError, tf.errors.UnimplementedError, ValueError, TypeError)
# Traced functions that are kept: all ways to declare one request, and more.
KEPT = 100
LACKS = r"Could not find device for node|No OpKernel was registered|UnimplementedError"


# Where the name in the module is not the protocol's.
NAMES = {"power": "pow", "negate": "negative", "log": "math.log", "select": "where"}


class TensorFlowWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import numpy as np, tensorflow as tf"], {name: f"tf.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS},
            {**dtypes("np"), "bf16": "tf.bfloat16.as_numpy_dtype"}, broadcast="tf.broadcast_to({operand}, {shape})",
            same="tf.identity({0})", printed="print(result.dtype.name, tuple(result.shape), result.numpy().tolist())",
            **dense_arrays("tf.constant({array})"),
        )

    def is_traced(self, request):
        """Whether the program is a function that is traced: that of constants is."""
        return bool(request.constants())

    def operands(self, request, names):
        """Those that are no constants."""
        if not request.constants():
            return super().operands(request, names)
        return [line for operand in request.operands if not operand.constant for line in self.operand(operand, names[operand.name])]

    def computed(self, request, names):
        if not self.is_traced(request):
            return super().computed(request, names)
        constants = [operand for operand in request.operands if operand.constant]
        body = [line for operand in constants for line in self.operand(operand, names[operand.name])]
        body += [*super().computed(request, names), "return result"]
        given = ", ".join(names[operand.name] for operand in request.operands if not operand.constant)
        return [f"def function({given}):", *(f"    {line}" for line in body), f"result = tf.function(function, autograph=False)({given})"]

    def gradient(self, request, names):
        """By a tape, which watches the operand."""
        wrt, cotangent = names[request.wrt], names.get(request.cotangent)
        if next(operand for operand in request.operands if operand.name == request.wrt).dtype not in ("f64", "f32", "f16", "bf16"):
            raise Unwritable("TensorFlow returns no gradient by integers or bools")
        lines, text = self.value(request, names)
        output = text if cotangent else f"tf.reduce_sum({text})"
        within = [f"tape.watch({wrt})", *lines, f"output = {output}"]
        given = f"output_gradients={cotangent}, " if cotangent else ""
        return ["with tf.GradientTape() as tape:", *(f"    {line}" for line in within),
                f'result = tape.gradient(output, {wrt}, {given}unconnected_gradients="zero")']


class TensorFlow:
    name, version = "tensorflow", tf.__version__
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "gradient", "cotangent", "infer", "declared", "constants", "same"]
    unknown = ["length", "rank"]
    functions = protocol.FUNCTIONS
    dtypes = ["f64", "f32", "f16", "bf16", *protocol.INTEGERS, "bool"]
    # TensorFlow has no kernels of these for unsigned integers.
    function_dtypes = {"negate": SIGNED, "abs": SIGNED}
    unused_operands = False
    large_sizes = False
    flushed_subnormals = ["f64", "f32", "bf16"]

    def __init__(self):
        self.kept = protocol.Kept(KEPT, traced)

    def run(self, request):
        with protocol.refusals(*ERRORS, kinds=KINDS, lacks=LACKS):
            # A tape takes one tensor for one variable.
            tensors = list(request.arrays(lambda operand: tf.constant(operand.dense()), apart=tf.identity).values())
            if request.signature is not None:
                return self.declared(request, tensors)
            target = None if request.target_shape is None else tf.constant(request.target_shape, dtype=tf.int64)
            if request.constants():
                return with_constants(request, target)(*tensors).numpy()
            return computed(request, tensors, target).numpy()

    def program(self, request):
        return TensorFlowWriter().write(request)

    def declared(self, request, tensors):
        function = self.kept.get(request.signature.key(), request.signature)
        if request.target_shape is not None:
            tensors.append(tf.constant(request.target()))
        return function(*tensors).numpy()

    def infer(self, signature):
        static = static_shape(signature)
        with protocol.refusals(*ERRORS, kinds=KINDS, lacks=LACKS):
            function = traced(signature)
        shape = function.output_shapes
        if static is not None and repr(static) != repr(shape):
            raise RuntimeError(f"broadcast_static_shape infers {static}, and a function {shape}")
        return protocol.Inferred(function.output_dtypes.as_numpy_dtype, None if shape.rank is None else shape.as_list())


def static_shape(signature):
    """What `tf.broadcast_static_shape` infers of one call with two arguments; None for other signatures."""
    if signature.expression is None or isinstance(signature.expression, str):
        return None
    _, *arguments = signature.expression
    if len(arguments) != 2 or not all(isinstance(argument, str) for argument in arguments):
        return None
    shapes = {operand.name: tf.TensorShape(protocol.numbers(operand.shape)) for operand in signature.operands}
    try:
        return tf.broadcast_static_shape(*(shapes[argument] for argument in arguments))
    except ValueError as refused:
        return refused


def computed(request, tensors, target):
    """The result of a request or a signature, or its gradient; `target` is a tensor of the target shape."""
    operands = {operand.name: tensor for operand, tensor in zip(request.operands, tensors)}
    if request.operation != "gradient":
        return result(request, operands, target)
    wrt, cotangent = operands[request.wrt], operands.get(request.cotangent)
    with tf.GradientTape() as tape:
        tape.watch(wrt)
        root = result(request, operands, target)
        if cotangent is None:
            root = tf.reduce_sum(root)
    # An operand that is used only in conditions is not connected to the result, and its gradient is 0.
    unconnected = tf.UnconnectedGradients.ZERO if wrt.dtype.is_floating else tf.UnconnectedGradients.NONE
    gradient = tape.gradient(root, wrt, output_gradients=cotangent, unconnected_gradients=unconnected)
    if gradient is None:
        raise protocol.Refused("TensorFlow returns no gradient")
    return gradient


def with_constants(request, target):
    """A function of all operands, in which those that are constants are `tf.constant`."""
    arrays = {operand.name: operand.dense() for operand in request.operands if operand.constant}

    def body(*parameters):
        given = iter(parameters)
        return computed(request, [tf.constant(arrays[o.name]) if o.constant else next(given) for o in request.operands], target)

    function = tf.function(body, autograph=False)
    return lambda *tensors: function(*(tensor for o, tensor in zip(request.operands, tensors) if not o.constant))


def result(request, operands, target):
    if target is not None:
        return tf.broadcast_to(operands[request.operands[0].name], target)
    return protocol.evaluate(request.expression, operands, FUNCTIONS)


def traced(signature):
    """The function of a signature, traced once. For a broadcast it also takes a tensor of the target shape."""
    specs = [tf.TensorSpec(protocol.numbers(o.shape), protocol.dtype(o.dtype)) for o in signature.operands]
    if signature.expression is None:
        specs.append(tf.TensorSpec(protocol.numbers(signature.target_shape), tf.bool))

    def body(*tensors):
        target = tf.shape(tensors[-1], out_type=tf.int64) if signature.expression is None else None
        return computed(signature, tensors, target)

    return tf.function(body, autograph=False).get_concrete_function(*specs)


if __name__ == "__main__":
    protocol.serve(TensorFlow())
