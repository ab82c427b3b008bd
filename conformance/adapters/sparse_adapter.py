"""sparse: the functions of `sparse` on arrays in the format COO, and its `broadcast_to`, under the rule set `numpy`. An element that is
zero is not stored."""
import protocol
import sparse
from array_likes import ArrayLike
from numpy_interface import NAMES
from programs import PRINTED, Writer, dense_arrays, dtypes

KINDS = [(r"could not be broadcast together", "dimension_mismatch")]


def dense(result):
    return result.todense() if isinstance(result, sparse.SparseArray) else result


class SparseWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import numpy as np, sparse"],
            {**{name: f"sparse.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, "power": "sparse.pow"}, dtypes("np"),
            broadcast="sparse.broadcast_to({operand}, {shape})",
            printed="result = np.asarray(result.todense() if isinstance(result, sparse.SparseArray) else result)\n" + PRINTED,
            **dense_arrays("sparse.COO.from_numpy({array})"),
        )


class Sparse(ArrayLike):
    name, version = "sparse", sparse.__version__
    operations = ["elementwise", "broadcast"]
    # The coordinates of the stored elements are an array of NumPy, which is indexed with one axis more.
    max_rank = 31

    def __init__(self):
        super().__init__(sparse, lambda array, at: sparse.COO.from_numpy(array), dense, KINDS, power=sparse.pow)

    def program(self, request):
        return SparseWriter().write(request)


protocol.serve(Sparse())
