"""Awkward Array: NumPy's functions on its regular arrays, which have the same length in every row, under the rule set `numpy`."""
import protocol
import awkward as ak
import numpy as np
from array_likes import ArrayLike
from numpy_interface import NAMES
from programs import PRINTED, Writer, dense_arrays, dtypes

KINDS = [(r"cannot broadcast RegularArray of size", "dimension_mismatch")]


class AwkwardWriter(Writer):
    def __init__(self):
        super().__init__(
            ["import awkward as ak, numpy as np"],
            {**{name: f"np.{NAMES.get(name, name)}" for name in protocol.FUNCTIONS}, "select": "ak.where"}, dtypes("np"),
            printed="result = ak.to_numpy(result)\n" + PRINTED, **dense_arrays("ak.from_numpy({array}, regulararray=True)"),
        )


class Awkward(ArrayLike):
    name, version = "awkward", ak.__version__
    operations = ["elementwise"]  # `broadcast_arrays` takes no shape
    scalars = False  # an array has an axis

    def __init__(self):
        super().__init__(np, lambda array, at: ak.from_numpy(array, regulararray=True), ak.to_numpy, KINDS, select=ak.where)

    def program(self, request):
        return AwkwardWriter().write(request)


protocol.serve(Awkward())
