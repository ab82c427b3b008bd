"""xtensor: its operators and functions on `xt::xarray`, whose rank is known at run time, and `xt::broadcast`.

xtensor is a library of C++ headers. `setup` compiles xtensor_library.cpp, in which every function is evaluated into an array; an
expression is evaluated function by function. A view is an `xt::strided_view` with the strides of the request; there are no gradients.
"""
import ctypes
import math
import os
import pathlib
import pickle
import sys

import protocol
import numpy as np
import xtensor_program

# In the order of `Value` in the library.
DTYPES = ["f64", "f32", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"]
FLOATS = ["f64", "f32"]
NUMBERS = [dtype for dtype in DTYPES if dtype != "bool"]
# How a call of the library ended.
BROADCAST_ERROR, MISSING = 1, 2

POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t
SIZES, TEXT = ctypes.POINTER(ctypes.c_size_t), ctypes.c_char_p
# The result of each function of the library, and its arguments.
SIGNATURES = {
    "version": (TEXT,),
    "status": (ctypes.c_int,),
    "message": (TEXT,),
    "make": (POINTER, SIZE, SIZE, SIZES, POINTER),
    "view": (POINTER, POINTER, SIZE, SIZES, ctypes.POINTER(ctypes.c_ssize_t), SIZE),
    "copy": (POINTER, POINTER),
    "assign": (POINTER, TEXT, POINTER, POINTER),
    "call": (POINTER, TEXT, SIZE, ctypes.POINTER(POINTER)),
    "broadcast": (POINTER, POINTER, SIZE, SIZES),
    "dtype": (SIZE, POINTER),
    "rank": (SIZE, POINTER),
    "length": (SIZE, POINTER, SIZE),
    "size": (SIZE, POINTER),
    "data": (POINTER, POINTER),
    "free": (None, POINTER),
}


class BroadcastError(Exception):
    """xtensor has thrown an `xt::broadcast_error`."""


class Failed(Exception):
    """xtensor has thrown anything else."""


class Library:
    """The compiled library: its functions without their prefix."""

    def __init__(self):
        library = ctypes.CDLL(str(pathlib.Path(sys.prefix) / "xtensor_library.so"))
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(library, f"xtensor_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


LIBRARY = Library()


def lengths_of(shape):
    return len(shape), (SIZE * len(shape))(*shape)


def row_major(shape):
    """The strides of an array that has all of its elements in order; of an axis of length 1, xtensor's is 0."""
    return [0 if length == 1 else math.prod(shape[axis + 1:]) for axis, length in enumerate(shape)]


class Array:
    """An array of the library, or a view of one."""

    def __init__(self, pointer):
        """`pointer` is null if xtensor has thrown an exception."""
        self.pointer = pointer
        if not pointer:
            message = LIBRARY.message().decode(errors="replace")
            status = LIBRARY.status()
            if status == BROADCAST_ERROR:
                raise BroadcastError(message)
            raise protocol.Skipped(message) if status == MISSING else Failed(message)

    def __del__(self):
        LIBRARY.free(self.pointer)

    @classmethod
    def of(cls, operand):
        return cls.with_buffer(operand)[0]

    @classmethod
    def with_buffer(cls, operand):
        """An operand, and the array of which it is a view; both are the same if the operand is a whole array."""
        protocol.limit(operand.shape)
        values = operand.buffer()
        dense = operand.layout() == (row_major(operand.shape), 0) and len(values) == math.prod(operand.shape)
        shape = operand.shape if dense else values.shape
        buffer = cls(LIBRARY.make(DTYPES.index(operand.dtype), *lengths_of(shape), values.ctypes.data))
        return buffer if dense else buffer.view(operand), buffer

    def view(self, operand):
        """The view of this array that an operand is."""
        strides, offset = operand.layout()
        return Array(LIBRARY.view(self.pointer, *lengths_of(operand.shape), (ctypes.c_ssize_t * len(strides))(*strides), offset))

    def values(self):
        """The array, or what an assignment makes of the view, as an array of NumPy."""
        return Array(LIBRARY.copy(self.pointer)).copied()

    def copied(self):
        shape = [LIBRARY.length(self.pointer, axis) for axis in range(LIBRARY.rank(self.pointer))]
        values = np.empty(shape, protocol.dtype(DTYPES[LIBRARY.dtype(self.pointer)]))
        size = LIBRARY.size(self.pointer)
        if size != values.size:
            raise Failed(f"a result of shape {tuple(shape)} has {size} elements")
        if size:
            ctypes.memmove(values.ctypes.data, LIBRARY.data(self.pointer), values.nbytes)
        return values


def call(function, *arguments):
    pointers = (POINTER * len(arguments))(*(argument.pointer for argument in arguments))
    return Array(LIBRARY.call(function.encode(), len(arguments), pointers))


def assign(function, destination, value):
    return Array(LIBRARY.assign(function.encode(), destination.pointer, value.pointer))


def in_a_child(compute):
    """Computes in a child process, and ends as the child does if a signal ends it.

    An assignment to a view may write beyond its array. In this process that would break an answer to a later request.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                answer = compute()
            except Exception as error:  # raised again by the parent
                answer = error
            with open(writes, "wb") as pipe:
                pickle.dump(answer, pipe)
        finally:
            # Whatever happens, the child does not go on to answer the requests of its parent.
            os._exit(0)
    os.close(writes)
    with open(reads, "rb") as pipe:
        answer = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    answer = pickle.loads(answer)
    if isinstance(answer, Exception):
        raise answer
    return answer


FUNCTIONS = {name: lambda *arguments, name=name: call(name, *arguments) for name in protocol.FUNCTIONS}


# The functions with an operator of assignment, such as `+=`.
IN_PLACE = ("add", "subtract", "multiply", "divide", "logical_and", "logical_or")


class XTensor:
    name, version = "xtensor", LIBRARY.version().decode()
    rules = ["numpy"]
    operations = ["elementwise", "broadcast", "strided", "into", "same"]
    functions = protocol.FUNCTIONS
    dtypes = DTYPES
    # C++ counts with a bool as with an int, and has other quotients and powers of integers.
    function_dtypes = {
        **{function: FLOATS for function in ("divide", "power", "sqrt", "exp", "log", "tanh")},
        **{function: ["bool"] for function in ("logical_and", "logical_or", "logical_not")},
        **{function: NUMBERS for function in ("add", "subtract", "multiply", "maximum", "minimum", "negate", "abs",
                                              "less", "less_equal", "greater", "greater_equal")},
    }
    unused_operands = False  # an expression takes none
    large_sizes = False

    def run(self, request):
        if request.into is not None:
            return in_a_child(lambda: self.into(request))
        arrays = request.arrays(Array.of)
        with protocol.refusals(BroadcastError, kinds=self.kinds(request)):
            return self.answer(request, arrays).values()

    @staticmethod
    def into(request):
        """`a += b` and so on where the destination is the first argument and there is such an operator, otherwise
        `d = …` for a view of `d`, because that would replace an array."""
        destination, buffer = Array.with_buffer(request.destination())
        arrays = {operand.name: buffer.view(operand) if operand.of else Array.of(operand)
                  for operand in request.operands if operand.name != request.into}
        arrays[request.into] = destination
        function, *arguments = ["", request.expression] if isinstance(request.expression, str) else request.expression
        with protocol.refusals(BroadcastError):
            if function in IN_PLACE and arguments[0] == request.into:
                assign(function, destination, protocol.evaluate(arguments[1], arrays, FUNCTIONS))
            else:
                assign("", destination, protocol.evaluate(request.expression, arrays, FUNCTIONS))
        return protocol.Result(destination.values(), buffer=buffer.values())

    @staticmethod
    def kinds(request):
        """What a `broadcast_error` means: of `xt::broadcast` it may be about the rank, too."""
        return () if request.operation == "broadcast" else [("Incompatible dimension", "dimension_mismatch")]

    @staticmethod
    def answer(request, arrays):
        if request.operation == "broadcast":
            protocol.limit(request.target_shape)
            array = arrays[request.operands[0].name]
            return Array(LIBRARY.broadcast(array.pointer, *lengths_of(request.target_shape)))
        return protocol.evaluate(request.expression, arrays, FUNCTIONS)

    comment = xtensor_program.Writer.comment

    def program(self, request):
        return xtensor_program.Writer().write(request)


protocol.serve(XTensor())
