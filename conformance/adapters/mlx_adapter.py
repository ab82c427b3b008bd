"""MLX on its CPU device: its functions under the rule set `numpy`, `mx.broadcast_to`, and gradients with `mx.grad`
and `mx.vjp`."""
import protocol
import mlx.core as mx
from numpy_interface import NAMES, Differentiable
from programs import NAMES_OF_NUMPY, PRINTED, Writer, dense_arrays

TYPES = {
    "f64": mx.float64, "f32": mx.float32, "f16": mx.float16, "i64": mx.int64, "i32": mx.int32, "i16": mx.int16,
    "i8": mx.int8, "u64": mx.uint64, "u32": mx.uint32, "u16": mx.uint16, "u8": mx.uint8, "bool": mx.bool_,
}
mx.set_default_device(mx.cpu)


def vjp(function, argument, cotangent):
    return mx.vjp(function, [argument], [cotangent])[1][0]


class MlxWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import mlx.core as mx, numpy as np", "mx.set_default_device(mx.cpu)"],
            {name: f"mx.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, {**NAMES_OF_NUMPY, "bool": "bool_"},
            broadcast="mx.broadcast_to({operand}, {shape})", gradient="mx.grad(lambda {wrt}: mx.sum({call}))({wrt})",
            vjp="mx.vjp({function}, [{wrt}], [{cotangent}])[1][0]", printed="result = np.array(result)\n" + PRINTED,
            **dense_arrays("mx.array({array}, dtype=mx.{dtype})", "np."),
        )


class Mlx(Differentiable):
    name, version = "mlx", mx.__version__
    dtypes = list(TYPES)
    # MLX stores lengths in 32 bits.
    large_sizes = False

    def __init__(self):
        super().__init__(mx, lambda operand: mx.array(operand.dense(), dtype=TYPES[operand.dtype]), mx.grad, vjp)

    def program(self, request):
        return MlxWriter().write(request)


protocol.serve(Mlx())
