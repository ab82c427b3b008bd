"""Dask: the functions of `dask.array` and its `broadcast_to`, under the rule set `numpy`, computed in one thread. The operands are cut into
2 and 3 chunks in turn, so that Dask has to align them."""
import protocol
import dask
import dask.array as da
from array_likes import ArrayLike
from numpy_interface import NAMES
from programs import PRINTED, Writer, dense_arrays, dtypes, elements, shape_text

dask.config.set(scheduler="synchronous")
KINDS = [(r"could not be broadcast together", "dimension_mismatch")]
# More axes than these stay whole: the number of chunks is a power of that of axes.
CUT = 3


def chunks(shape, at):
    """The length of chunks along each axis: the last ones are cut."""
    pieces = 2 + at % 2
    return tuple(-(-max(length, 1) // pieces) if axis >= len(shape) - CUT else -1 for axis, length in enumerate(shape))


def cut(array, at):
    """The array in chunks."""
    return da.from_array(array, chunks=chunks(array.shape, at))


class DaskWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import dask.array as da, numpy as np"], {name: f"da.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, dtypes("np"),
            broadcast="da.broadcast_to({operand}, {shape})",
            printed='result = np.asarray(result.compute(scheduler="synchronous"))\n' + PRINTED, **dense_arrays("{array}"),
        )

    def operands(self, request, names):
        """Each operand in its chunks."""
        lines = []
        for at, operand in enumerate(request.operands):
            array = self.array(operand.dtype, elements(operand.dense()), operand.shape, operand.name)
            lines.append(f"{names[operand.name]} = da.from_array({array}, chunks={shape_text(chunks(operand.shape, at))})")
        return lines


class Dask(ArrayLike):
    name, version = "dask", dask.__version__
    operations = ["elementwise", "broadcast"]

    def __init__(self):
        super().__init__(da, cut, lambda result: result.compute(), KINDS)

    def program(self, request):
        return DaskWriter().write(request)


protocol.serve(Dask())
