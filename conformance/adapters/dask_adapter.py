"""Dask: the functions of `dask.array` and its `broadcast_to`, under the rule set `numpy`, computed in one thread. The operands are cut into
2 and 3 chunks in turn, so that Dask has to align them."""
import protocol
import dask
import dask.array as da
from array_likes import ArrayLike

dask.config.set(scheduler="synchronous")
KINDS = [(r"could not be broadcast together", "dimension_mismatch")]
# More axes than these stay whole: the number of chunks is a power of that of axes.
CUT = 3


def cut(array, at):
    """The array in chunks, along its last axes."""
    pieces = 2 + at % 2
    return da.from_array(array, chunks=tuple(
        -(-max(length, 1) // pieces) if axis >= array.ndim - CUT else -1 for axis, length in enumerate(array.shape)
    ))


class Dask(ArrayLike):
    name, version = "dask", dask.__version__
    operations = ["elementwise", "broadcast"]

    def __init__(self):
        super().__init__(da, cut, lambda result: result.compute(), KINDS)


protocol.serve(Dask())
