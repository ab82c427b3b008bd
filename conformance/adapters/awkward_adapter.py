"""Awkward Array: NumPy's functions on its regular arrays, which have the same length in every row, under the rule set `numpy`."""
import protocol
import awkward as ak
import numpy as np
from array_likes import ArrayLike

KINDS = [(r"cannot broadcast RegularArray of size", "dimension_mismatch")]


class Awkward(ArrayLike):
    name, version = "awkward", ak.__version__
    operations = ["elementwise"]  # `broadcast_arrays` takes no shape
    scalars = False  # an array has an axis

    def __init__(self):
        super().__init__(np, lambda array, at: ak.from_numpy(array, regulararray=True), ak.to_numpy, KINDS, select=ak.where)


protocol.serve(Awkward())
