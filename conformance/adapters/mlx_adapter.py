"""MLX on its CPU device: its functions under the rule set `numpy`, `mx.broadcast_to`, and gradients with `mx.grad`
and `mx.vjp`."""
import protocol
import mlx.core as mx
from numpy_interface import Differentiable

TYPES = {
    "f64": mx.float64, "f32": mx.float32, "f16": mx.float16, "i64": mx.int64, "i32": mx.int32, "i16": mx.int16,
    "i8": mx.int8, "u64": mx.uint64, "u32": mx.uint32, "u16": mx.uint16, "u8": mx.uint8, "bool": mx.bool_,
}
mx.set_default_device(mx.cpu)


def vjp(function, argument, cotangent):
    return mx.vjp(function, [argument], [cotangent])[1][0]


class Mlx(Differentiable):
    name, version = "mlx", mx.__version__
    dtypes = list(TYPES)
    # MLX stores lengths in 32 bits.
    large_sizes = False

    def __init__(self):
        super().__init__(mx, lambda operand: mx.array(operand.dense(), dtype=TYPES[operand.dtype]), mx.grad, vjp)


protocol.serve(Mlx())
