"""GNU Octave: its operators and functions, in one process that answers through a pipe, under the rule set `leading`.

Octave's arrays have two axes or more, and no last axis of length 1 beyond the second. The shape `()` is passed as `(1,1)` and `(n)` as
`(n,1)`; a result has the highest rank of the operands, with last ones added or removed. In Octave the first axis is the innermost, so
values change their order on the way there and back. Arrays are dense: there are no views.
"""
import os
import pathlib
import subprocess
import tempfile

import protocol
import numpy as np
import programs

PROGRAM = pathlib.Path(__file__).resolve().parent / "octave_program.m"
COMMAND = ["octave-cli", "--norc", "--quiet", "--no-history"]
CLASSES = {"f64": "double", "f32": "single", "bool": "logical", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
           "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8"}
DTYPES = {name: kind for kind, name in CLASSES.items()}
# Octave's `merge` takes the shapes as they are, so there is no `select`. `sqrt`, `log` and `power` leave the real numbers.
FUNCTIONS = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "rdivide", "maximum": "max", "minimum": "min",
             "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
             "greater_equal": "ge", "logical_and": "and", "logical_or": "or", "logical_not": "not", "negate": "uminus", "abs": "abs",
             "exp": "exp", "tanh": "tanh"}
FLOATS = ["f64", "f32"]


def version():
    return subprocess.run([*COMMAND, "--eval", "printf('%s', version)"], capture_output=True, text=True, check=True).stdout


class OctaveWriter(programs.Writer):
    """Octave writes an array as its values in Octave's order, and reshapes it. The printed values are in the order of the other systems."""

    comment = "%"

    def __init__(self):
        printed = 'values = permute(result, ndims(result):-1:1);\nprintf("%s [%s] [%s]\\n", class(result), num2str(size(result)), ' \
                  'sprintf("%.17g ", values));'
        super().__init__([], FUNCTIONS, CLASSES, array=None, words={"nan": "NaN", "inf": "Inf"}, printed=printed)

    def literal(self, dtype, values, shape, fields):
        texts = [self.number(value, dtype) for value in np.array(values).reshape(shape).ravel(order="F").tolist()]
        column = f"[{'; '.join(texts)}]" if len(texts) > 1 else texts[0]
        made = column if dtype in ("f64", "bool") else f"{CLASSES[dtype]}({column})"
        return made if len(shape) < 2 else f"reshape({made}, {fields['shape']})"

    def shape(self, shape):
        return str([*shape, *[1] * 2][:max(2, len(shape))])

    def empty(self, fields):
        return f"cast(zeros({fields['shape']}), \"{fields['dtype']}\")"

    def formula(self, dtype, values, shape, fields):
        return None

    def number(self, value, dtype):
        if dtype in ("i64", "u64") and abs(value) > 2**53:
            raise programs.Unwritable("Octave reads integers beyond 2^53 as doubles")
        return {True: "true", False: "false"}[value] if isinstance(value, bool) else super().number(value, dtype)

    def write(self, request):
        lines = [*self.operands(request, self.names(request)), *self.computed(request, self.names(request))]
        return "".join(f"{line};\n" for line in lines) + self.printed + "\n"


class OctaveError(Exception):
    """A message of Octave."""


class Octave:
    name = "octave"
    rules = ["leading"]
    operations = ["elementwise"]
    functions = list(FUNCTIONS)
    dtypes = list(CLASSES)
    # A bool is a double as soon as it is counted with; integers are rounded to, and stop at the ends of their range.
    function_dtypes = {
        **{function: FLOATS for function in ("divide", "exp", "tanh")},
        **{function: ["bool"] for function in ("logical_and", "logical_or", "logical_not")},
        **{function: [dtype for dtype in CLASSES if dtype != "bool"]
           for function in ("add", "subtract", "multiply", "maximum", "minimum", "negate", "abs",
                            "less", "less_equal", "greater", "greater_equal")},
    }
    unused_operands = False  # an expression takes none

    def __init__(self):
        self.version = version()
        self.files = tempfile.TemporaryDirectory()
        self.operands, self.result = (os.path.join(self.files.name, name) for name in ("operands", "result"))
        self.process = subprocess.Popen([*COMMAND, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, request):
        arrays = [operand.dense() for operand in request.operands]
        # Octave would allocate the result before it is refused here.
        protocol.limit([max(lengths) for lengths in zip(*(self.size(array, 8) for array in arrays))] if len(arrays) > 1 else [])
        names = {operand.name: f"x{{{place}}}" for place, operand in enumerate(request.operands, start=1)}
        with protocol.refusals(OctaveError, kinds=[("nonconformant", "dimension_mismatch")], unless="^(?!.*nonconformant)"):
            kind, size = self.asked(arrays, [CLASSES[operand.dtype] for operand in request.operands],
                                    self.written(request.expression, names))
        rank = max(array.ndim for array in arrays)
        if any(length != 1 for length in size[rank:]):
            raise RuntimeError(f"a result of size {size} for operands of rank {rank} at most")
        size = [*size, *[1] * rank][:rank]
        values = np.fromfile(self.result, dtype=np.uint8 if kind == "logical" else protocol.dtype(DTYPES[kind]))
        return values.astype(protocol.dtype(DTYPES[kind])).reshape(size, order="F")

    @staticmethod
    def size(array, rank):
        """The size of an array with ones at its end up to a rank."""
        return [*array.shape, *[1] * rank][:max(rank, array.ndim)]

    def written(self, expression, names):
        """The expression as Octave's function calls."""
        if isinstance(expression, str):
            return names[expression]
        function, *arguments = expression
        return f"{FUNCTIONS[function]}({', '.join(self.written(argument, names) for argument in arguments)})"

    comment = OctaveWriter.comment

    def program(self, request):
        return OctaveWriter().write(request)

    def asked(self, arrays, classes, expression):
        """The class and the size of the result, whose values are then in the file."""
        with open(self.operands, "wb") as file:
            lines = [" ".join([kind, *map(str, self.size(array, 2))]) for array, kind in zip(arrays, classes)]
            file.write("".join(f"{line}\n" for line in [str(len(arrays)), *lines]).encode())
            for array in arrays:
                file.write(array.tobytes(order="F"))
        print(self.operands, self.result, expression, sep="\t", end="\n\n", file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().rstrip("\n")
        if not answer.startswith("ok "):
            raise OctaveError(answer or "Octave has ended")
        _, kind, *size = answer.split()
        return kind, [int(length) for length in size]


protocol.serve(Octave())
