"""ggml's shared library in the wheel of pywhispercpp, for ggml_adapter.py: the functions with their types, called through ctypes."""
import ctypes
import importlib.metadata

POINTER = ctypes.c_void_p
# ggml's number for the dtype of which it has gradients.
TYPES = {"f32": 0}
BINARY = ("add", "sub", "mul", "div", "repeat")
UNARY = ("neg", "abs", "sqrt", "exp", "log", "sum")


class Parameters(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("buffer", POINTER), ("no_alloc", ctypes.c_bool)]


class Tensor(ctypes.Structure):
    """The beginning of ggml's structure."""

    _fields_ = [("type", ctypes.c_int), ("buffer", POINTER), ("lengths", ctypes.c_int64 * 4)]


def opened():
    files = importlib.metadata.files("pywhispercpp")
    library = ctypes.CDLL(str(next(file.locate() for file in files if file.name.startswith("libggml.so"))))
    lengths = ctypes.POINTER(ctypes.c_int64)
    signatures = {
        "version": (ctypes.c_char_p,),
        "init": (POINTER, Parameters),
        "free": (None, POINTER),
        "new_tensor": (POINTER, POINTER, ctypes.c_int, ctypes.c_int, lengths),
        "get_data": (POINTER, POINTER),
        "can_repeat": (ctypes.c_bool, POINTER, POINTER),
        "set_param": (None, POINTER),
        "set_loss": (None, POINTER),
        "new_graph_custom": (POINTER, POINTER, ctypes.c_size_t, ctypes.c_bool),
        "build_forward_expand": (None, POINTER, POINTER),
        "build_backward_expand": (None, POINTER, POINTER, POINTER),
        "graph_reset": (None, POINTER),
        "graph_get_grad": (POINTER, POINTER, POINTER),
        "graph_compute_with_ctx": (ctypes.c_int, POINTER, POINTER, ctypes.c_int),
        **{name: (POINTER, POINTER, POINTER, POINTER) for name in BINARY},
        **{name: (POINTER, POINTER, POINTER) for name in UNARY},
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(library, f"ggml_{name}")
        function.restype, function.argtypes = result, arguments
    return library


GGML = opened()
VERSION = GGML.ggml_version().decode()


def lengths_of(tensor):
    """The lengths of a tensor's four axes, the outermost first."""
    return list(Tensor.from_address(tensor).lengths)[::-1]


def type_of(tensor):
    """The dtype of a tensor."""
    number = Tensor.from_address(tensor).type
    return next(name for name, known in TYPES.items() if known == number)
