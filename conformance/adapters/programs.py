"""Writes a request as a program in the interface of the system itself: everything that is the same for every system.

An adapter that has programs has a method `program(self, request)`, which returns the program as text or raises `Unwritable`. For most
systems it is `Writer(...).write(request)`, with a small table of how the system spells things:

    def program(self, request):
        return Writer(
            ["import thesystem"], {"add": "thesystem.add", "power": "({0} ** {1})"}, {"f32": "thesystem.float32"},
            array="thesystem.array({values}, dtype={dtype})",
        ).write(request)

A program imports the system, makes the operands, computes the result in one call or expression and prints its dtype, shape and values. It
needs nothing of broadcheck. `{...}` in the table are the fields that `str.format` fills in.
"""
import json
import keyword
import math
import sys

import protocol
import numpy as np

# A longer operand is written if it follows a formula.
MOST_VALUES = 256
# So is one with more values than these, although it could be written out.
FEW_VALUES = 12
# Whatever they follow: this many elements of an operand, and of what is printed.
MOST_ELEMENTS = 1 << 12
MOST_CALLS = 40
# A longer expression is written as one statement for each of its calls.
WIDTH = 100

NAMES_OF_NUMPY = {name: protocol.dtype(name).name for name in [*protocol.INTEGERS, "f64", "f32", "f16"]}
CONDITIONS = "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not".split()
PRINTED = "print(result.dtype, tuple(result.shape), result.tolist())"
# Names in a program that no operand may have.
TAKEN = set((
    "result gradient buffer function inputs model session tape node nodes graph target output options compiled values text context registry "
    "module jitted builder root client print abs float range tuple"
).split())

# Parts of a table for systems that take arrays of NumPy, with their strides.
ARRAYS_OF_NUMPY = {
    "array": "np.array({values}, dtype={dtype})", "arange": "np.arange({range}, dtype={dtype})",
    "full": "np.full({shape}, {value}, dtype={dtype})", "empty": "np.zeros({shape}, dtype={dtype})",
    "view": "np.lib.stride_tricks.as_strided({start}, {shape}, {strides})",
    "in_bytes": True, "words": {"nan": "np.nan", "inf": "np.inf"},
}


def dense_arrays(wrapped, module=""):
    """The same for systems that make their array of one of NumPy's without views: `wrapped` is a template of `{array}`. With `module`, such
    as `np.`, it has `{dtype}` too, which is a name that the system shares with NumPy."""
    own = {name: form.replace("{dtype}", module + "{dtype}") for name, form in ARRAYS_OF_NUMPY.items() if isinstance(form, str)}
    forms = {name: wrapped.replace("{array}", own[name]) for name in ("array", "empty", "full")}
    ranged = wrapped.replace("{array}", own["arange"] + ".reshape({shape})")
    return {**forms, "arange": ranged, "reshape": "{array}", "words": ARRAYS_OF_NUMPY["words"]}


class Unwritable(Exception):
    """Why a request cannot be written as a program."""


class Undeclared(Unwritable):
    """The system does not have what the request needs."""


def dtypes(module, boolean="bool_", more=()):
    """The dtypes of a module that has them under NumPy's names, as text."""
    return {**{dtype: f"{module}.{name}" for dtype, name in NAMES_OF_NUMPY.items()}, "bool": f"{module}.{boolean}",
            **{dtype: f"{module}.{name}" for dtype, name in more}}


def shape_text(shape):
    """A shape or a list of lengths as a tuple in Python."""
    return "(" + ", ".join(map(str, shape)) + (",)" if len(shape) == 1 else ")")


def list_text(shape):
    """The same as a list."""
    return "[" + ", ".join(map(str, shape)) + "]"


def call_text(template, arguments):
    """A call of a function, of which the table has the name, or a template with `{0}` and so on."""
    return template.format(*arguments) if "{0}" in template else f"{template}({', '.join(arguments)})"


def check(system, request):
    """Raises `Unwritable` if the system does not have what the request needs, or if it is too large for a program."""
    if request.signature is not None:
        raise Unwritable("it has declared shapes")
    has = request.operation in system.operations and request.rules in system.rules
    if not has or request.operation not in getattr(system, "rule_operations", {}).get(request.rules, system.operations):
        raise Undeclared(f"{system.name} has no {request.operation} under the rule set {request.rules}")
    if request.expression is None and "broadcast" not in system.operations:
        raise Undeclared(f"{system.name} has no operation `broadcast`")
    for field, operation in [("cotangent", "cotangent"), ("into", "into")]:
        if getattr(request, field) is not None and operation not in system.operations:
            raise Undeclared(f"{system.name} has no operation `{operation}`")
    if request.constants() and "constants" not in system.operations:
        raise Undeclared(f"{system.name} has no constants")
    if any(operand.same for operand in request.operands) and "same" not in system.operations:
        raise Undeclared(f"{system.name} is never given one array twice")
    known = getattr(system, "rule_functions", {}).get(request.rules, system.functions)
    lacks = sorted(functions(request.expression) - set(known))
    lacks += [operand.dtype for operand in request.operands if operand.dtype not in system.dtypes]
    if lacks:
        raise Undeclared(f"{system.name} has no `{lacks[0]}`")
    count = calls(request.expression)
    if count > MOST_CALLS:
        raise Unwritable(f"it has {count} calls, and a program at most {MOST_CALLS}")
    if request.expression is not None and request.unused() and not getattr(system, "unused_operands", True):
        raise Undeclared(f"the expression does not use the operand {request.unused()[0]}, and {system.name} takes none")
    check_sizes(request)


def check_sizes(request):
    shapes = [operand.shape for operand in request.operands] + [request.target_shape or ()]
    try:
        # What the rule set of most requests gives; the others give no more elements.
        shapes.append(np.broadcast_shapes(*(shape for shape in shapes if len(shape) <= 32)))
    except (ValueError, RuntimeError):
        pass
    for shape in shapes:
        count = math.prod(length or 1 for length in shape)
        if count > MOST_ELEMENTS:
            raise Unwritable(f"the shape {shape_text(shape)} has more than {MOST_ELEMENTS} elements")


def functions(expression):
    """The functions that are called in an expression."""
    if expression is None or isinstance(expression, str):
        return set()
    return {expression[0]}.union(*map(functions, expression[1:]))


def calls(expression):
    """How many calls an expression has."""
    return 0 if expression is None or isinstance(expression, str) else 1 + sum(map(calls, expression[1:]))


def is_differentiable(expression, operand):
    """Whether a result changes with an operand other than through conditions."""
    if isinstance(expression, str):
        return expression == operand
    function, *arguments = expression
    if function in CONDITIONS:
        return False
    return any(is_differentiable(argument, operand) for argument in arguments[function == "select":])


def progression(values):
    """(first, end, step) if the values are whole numbers at one distance, in which `end` is not reached."""
    if len(values) < 2 or isinstance(values[0], bool) or not all(math.isfinite(value) and value == int(value) for value in values):
        return None
    step = int(values[1]) - int(values[0])
    if step == 0 or any(int(b) - int(a) != step for a, b in zip(values, values[1:])) or any(is_minus_zero(value) for value in values):
        return None
    return int(values[0]), int(values[-1]) + (1 if step > 0 else -1), step


def is_constant(values):
    return len(values) > 1 and all(value == values[0] and is_minus_zero(value) == is_minus_zero(values[0]) for value in values)


def is_minus_zero(value):
    return value == 0 and math.copysign(1, value) < 0


def number(value, dtype, words=None):
    """A value as text, in as few digits as give it back."""
    if isinstance(value, (bool, int)):
        return str(value)
    if not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        return ("-" if value == -math.inf else "") + (words or {}).get(name, f'float("{name}")')
    short = str(protocol.dtype(dtype).type(value)) if dtype in ("f32", "f16") else repr(value)
    return short if float(protocol.dtype(dtype).type(float(short))) == value else repr(value)


def nested(texts, shape):
    """Texts of values as lists in lists, of this shape without lengths of 0."""
    if not shape:
        return texts[0]
    rows = len(texts) // shape[0]
    return "[" + ", ".join(nested(texts[start:start + rows], shape[1:]) for start in range(0, len(texts), rows)) + "]"


class Writer:
    """How the programs of a system are written.

    `imports` are the first lines; `calls` has the name of each function, or a template; `dtypes` the text of each dtype. `array` makes an
    array of nested lists. `arange` and `full`, if they are there, make one of a formula, and `reshape` changes its shape; `empty` makes
    one without elements. `view` reads a buffer of one axis through strides, which are counted in bytes if `in_bytes`. `broadcast`,
    `broadcast_in_dim`, `gradient` and `vjp` are templates of these operations; a gradient's `{function}` is a function of `{wrt}`.
    `words` has `nan` and `inf`. `printed` are the last lines."""

    comment = "#"

    def __init__(self, imports, calls, dtypes, *, array, arange=None, full=None, empty=None, reshape="{array}.reshape({shape})", view=None,
                 in_bytes=False, broadcast=None, broadcast_in_dim=None, gradient=None, vjp=None, words=None, same="{0}", printed=PRINTED):
        self.imports, self.calls, self.dtypes, self.words, self.printed = imports, calls, dtypes, words, printed
        self.forms = {"array": array, "arange": arange, "full": full, "empty": empty, "reshape": reshape, "view": view, "same": same,
                      "broadcast": broadcast, "broadcast_in_dim": broadcast_in_dim, "gradient": gradient, "vjp": vjp}
        self.in_bytes = in_bytes

    def write(self, request):
        """The program."""
        names = self.names(request)
        lines = [*self.imports, *self.operands(request, names), *self.computed(request, names), self.printed]
        return "\n".join(lines) + "\n"

    def names(self, request):
        """What each operand is called in the program: its own name if it can be one."""
        taken = set(TAKEN).union(*(line.replace(",", " ").split() for line in self.imports))
        names = {}
        for place, operand in enumerate(request.operands):
            fits = operand.name.isidentifier() and operand.name.isascii() and not keyword.iskeyword(operand.name)
            name = operand.name if fits and operand.name not in taken else f"operand_{place}"
            while name in names.values():
                name += "_"
            names[operand.name] = name
        return names

    # ------------------------------------------------------------ operands

    def operands(self, request, names):
        """The lines that make the operands."""
        if request.into is not None:
            return self.operands_in_place(request, names)
        lines = []
        for operand in request.operands:
            if operand.same is not None:
                given = names[operand.same]
                apart = request.operation == "gradient"
                lines.append(f"{names[operand.name]} = {self.forms['same'].format(given) if apart else given}")
            else:
                lines += self.operand(operand, names[operand.name])
        return lines

    def operand(self, operand, name):
        """The lines that make an operand: a view where the system reads views."""
        if self.forms["view"] is None or is_dense(operand):
            return [f"{name} = {self.array(operand.dtype, elements(operand.dense()), operand.shape, name)}"]
        values = elements(operand.buffer())
        return [f"buffer_of_{name} = {self.array(operand.dtype, values, (len(values),), name)}",
                f"{name} = {self.view(operand, f'buffer_of_{name}')}"]

    def operands_in_place(self, request, names):
        """The lines for a request with a destination, whose buffer some operands read."""
        destination = request.destination()
        values = elements(destination.buffer())
        shared = any(operand.of for operand in request.operands)
        if not shared and is_dense(destination):
            return [line for operand in request.operands for line in self.operand(operand, names[operand.name])]
        lines = [f"buffer = {self.array(destination.dtype, values, (len(values),), 'buffer')}"]
        for operand in request.operands:
            if operand is destination or operand.of:
                lines.append(f"{names[operand.name]} = {self.view(operand, 'buffer', destination.dtype)}")
            else:
                lines += self.operand(operand, names[operand.name])
        return lines

    def view(self, operand, buffer, dtype=None):
        """A view of a buffer."""
        if self.forms["view"] is None:
            raise Unwritable("it has views")
        if 0 in operand.shape:
            return self.array(dtype or operand.dtype, [], operand.shape, operand.name)
        strides, offset = operand.layout()
        size = protocol.dtype(dtype or operand.dtype).itemsize if self.in_bytes else 1
        start = f"{buffer}[{offset}:]" if offset else buffer
        strides = shape_text([stride * size for stride in strides])
        return self.forms["view"].format(buffer=buffer, start=start, shape=shape_text(operand.shape), strides=strides, offset=offset)

    def array(self, dtype, values, shape, name):
        """The text of an array of these values."""
        fields = {"dtype": self.dtypes[dtype], "shape": self.shape(shape)}
        if 0 in shape:
            return self.empty(fields)
        if len(values) > FEW_VALUES:
            formula = self.formula(dtype, values, shape, fields)
            if formula is not None:
                return formula
        if len(values) > MOST_VALUES:
            raise Unwritable(f"the operand {name} has {len(values)} elements that follow no formula, and a program at most {MOST_VALUES}")
        return self.literal(dtype, values, shape, fields)

    def literal(self, dtype, values, shape, fields):
        values = nested([self.number(value, dtype) for value in values], shape)
        return self.forms["array"].format(values=values, **fields)

    def number(self, value, dtype):
        return number(value, dtype, self.words)

    def shape(self, shape):
        return shape_text(shape)

    def empty(self, fields):
        if self.forms["empty"] is None:
            return self.reshaped(self.forms["array"].format(values="[]", **fields), fields)
        return self.forms["empty"].format(**fields)

    def reshaped(self, array, fields):
        return self.forms["reshape"].format(array=array, **fields)

    def formula(self, dtype, values, shape, fields):
        """The array by a formula; None if it follows none for which the system has a function."""
        if self.forms["full"] and is_constant(values):
            return self.forms["full"].format(value=self.number(values[0], dtype), **fields)
        found = progression(values)
        if self.forms["arange"] is None or found is None:
            return None
        first, end, step = found
        made = self.forms["arange"].format(range=f"{first}, {end}" + (f", {step}" if step != 1 else ""), **fields)
        return made if len(shape) == 1 else self.reshaped(made, fields)

    # ------------------------------------------------------------ the result

    def computed(self, request, names):
        """The lines that compute `result`."""
        if request.into is not None:
            return self.into(request, names)
        if request.operation != "gradient":
            lines, text = self.value(request, names)
            return [*lines, f"result = {text}"]
        return self.gradient(request, names)

    def value(self, request, names):
        """The lines before the result, if there are any, and the text of the result."""
        if request.expression is None:
            return [], self.broadcast(request, names[request.operands[0].name])
        text = self.expression(request.expression, names)
        if len(text) <= WIDTH:
            return [], text
        lines = []
        return lines, self.statements(request.expression, names, lines)

    def broadcast(self, request, name):
        fields = {"operand": name, "shape": self.shape(request.target_shape), "dims": self.shape(request.broadcast_dimensions or ())}
        form = self.forms["broadcast_in_dim" if request.rules == "xla" else "broadcast"]
        if form is None:
            raise Unwritable("a broadcast has no program here")
        return form.format(**fields)

    def expression(self, expression, names):
        """The expression as nested calls."""
        if isinstance(expression, str):
            return names[expression]
        return call_text(self.calls[expression[0]], [self.expression(argument, names) for argument in expression[1:]])

    def statements(self, expression, names, lines):
        """Adds a statement for each call within the expression, and returns the text of the outermost."""
        arguments = []
        for argument in expression[1:]:
            if isinstance(argument, str):
                arguments.append(names[argument])
                continue
            text = self.statements(argument, names, lines)
            arguments.append(f"step_{len(lines)}")
            lines.append(f"{arguments[-1]} = {text}")
        return call_text(self.calls[expression[0]], arguments)

    def gradient(self, request, names):
        """The gradient of a function, which is a lambda if it is short."""
        lines, text = self.value(request, names)
        fields = {"wrt": names[request.wrt], "cotangent": names.get(request.cotangent)}
        form = self.forms["gradient" if request.cotangent is None else "vjp"]
        if form is None:
            raise Unwritable("a gradient has no program here")
        if lines:
            body = "".join(f"    {line}\n" for line in lines)
            before = [f"def function({fields['wrt']}):\n{body}    return {text}"]
            return [*before, "result = " + form.format(function="function", call=f"function({fields['wrt']})", **fields)]
        return ["result = " + form.format(function=f"lambda {fields['wrt']}: {text}", call=text, **fields)]

    def into(self, request, names):
        raise Unwritable("a result that is written into an operand has no program here")


def is_dense(operand):
    """Whether the operand reads its values in their order."""
    return 0 in operand.shape or (is_row_major(operand) and len(operand.buffer()) == math.prod(operand.shape))


def is_row_major(operand):
    """Whether the operand reads a buffer from its start on, one value after another."""
    strides, offset = operand.layout()
    return offset == 0 and strides == [0 if length == 1 else math.prod(operand.shape[axis + 1:]) for axis, length in enumerate(operand.shape)]


def elements(array):
    """The elements of an array as numbers of Python."""
    wide = array.astype(np.float64) if array.dtype.kind not in "biu" else array
    return wide.ravel().tolist()


def with_expected(program, expected, comment):
    """The program with what is expected of it as its last lines."""
    return program + "".join(f"{comment} {line}\n" for line in expected.splitlines())


def print_program(system, source, out):
    """Writes the program of a request, which is JSON as in the protocol, to `out`. Returns the exit status: 2, with a message, if there is
    none."""
    try:
        out.write(program_of(system, json.load(source)))
        return 0
    except Unwritable as reason:
        message = f"cannot be written because {reason}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"found no request ({protocol.shortened(error)}), expected one as JSON, as the protocol writes it"
    print(message, file=sys.stderr)
    return 2


def program_of(system, fields):
    """The program of a request, with what is expected if the field `expected` says it."""
    if not hasattr(system, "program"):
        raise Unwritable(f"the adapter of {system.name} writes no programs")
    if fields.get("operation") == "infer":
        raise Unwritable("nothing is run for an inference")
    request = protocol.Request(fields)
    check(system, request)
    try:
        program = system.program(request)
    except protocol.Skipped as reason:
        raise Unwritable(reason) from reason
    return with_expected(program, fields.get("expected", ""), getattr(system, "comment", Writer.comment))
