"""The cases, and how they are read from a kit."""
from __future__ import annotations

import functools
import json
import math
import os
import pathlib
import re
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from . import _numbers
from ._numbers import DTYPES, Value

RULES = ("none", "numpy", "pdpd", "bidirectional", "xla", "theano", "leading", "repeat")
OPERATIONS = ("elementwise", "broadcast", "gradient")
FUNCTIONS = tuple((
    "add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or negate abs sqrt exp log tanh logical_not select"
).split())
PREDICATES = frozenset((
    "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not"
).split())
CONVENTIONS = (
    "checked-sizes", "separate-dtypes", "unused-operands", "refusal-order", "gradient-refusals", "gradient-ties",
    "undefined-functions", "zero-signs", "inferred-refusals",
)

_HERE = pathlib.Path(__file__).resolve().parent
_RETYPED = _HERE / "retyped"

#: The name of an operand, or a function and its arguments.
Expression = Union[str, Tuple[Any, ...]]


@dataclass(frozen=True)
class Operand:
    """An operand. `values` are its elements in row-major order or, for a view, the buffer that it looks into."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    values: Tuple[Value, ...]
    #: In elements, one per axis; None unless the operand is a view.
    strides: Optional[Tuple[int, ...]] = None
    #: The place of the first element in `values`.
    offset: int = 0
    #: Theano's flags, one per axis; None under other rule sets.
    broadcastable: Optional[Tuple[bool, ...]] = None
    #: The destination, if the operand reads its buffer: `values` are those of the destination.
    of: Optional[str] = None

    @property
    def is_view(self) -> bool:
        return self.strides is not None

    def places(self) -> List[int]:
        """The places of the elements in `values`, in row-major order."""
        if self.strides is None:
            return list(range(len(self.values)))
        places = [self.offset]
        if 0 in self.shape:
            return []
        for length, stride in zip(self.shape, self.strides):
            places = [place + index * stride for place in places for index in range(length)]
        return places

    def elements(self) -> List[Value]:
        """The elements in row-major order, for a library without views."""
        return [self.values[place] for place in self.places()]

    def buffer(self) -> Any:
        """`values` as a new NumPy array of one axis. bf16 needs the package `ml_dtypes`."""
        import numpy as np

        dtype = numpy_dtype(self.dtype)
        wide = np.array(self.values, np.float64) if _numbers.is_float(self.dtype) else np.array(self.values, dtype)
        return wide.astype(dtype, copy=False)

    def numpy(self, buffer: Any = None) -> Any:
        """The operand as a NumPy array; a view stays one. bf16 needs the package `ml_dtypes`.

        With a `buffer`, an array of `values`, it reads that one, and writes to it.
        """
        import numpy as np

        writeable = buffer is not None
        buffer = self.buffer() if buffer is None else buffer
        if self.strides is None:
            return buffer.reshape(self.shape)
        if 0 in self.shape:
            # Nothing is read, and NumPy rejects some strides over an empty buffer.
            return np.empty(self.shape, buffer.dtype)
        # The stride of an axis of length 1 is never used, and may have any size.
        strides = [0 if n == 1 else s * buffer.itemsize for n, s in zip(self.shape, self.strides)]
        return np.lib.stride_tricks.as_strided(buffer[self.offset:], self.shape, strides, writeable=writeable)


@dataclass(frozen=True)
class Exactly:
    """Admits one value, to the bit. Any NaN is NaN."""

    value: Value

    def admits(self, value: Value) -> bool:
        return _numbers.same(self.value, value)

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Between:
    """Admits every number from `lower` to `upper`, but never NaN. Both zeros are the same number here."""

    lower: Value
    upper: Value

    def admits(self, value: Value) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"{self.lower!r} to {self.upper!r}"


Admitted = Union[Exactly, Between]


@dataclass(frozen=True)
class Intermediate:
    """Under `xla`: the lower-rank operand after the first step."""

    shape: Tuple[int, ...]
    values: Tuple[Value, ...]
    #: That of the operand; not needed in an answer.
    dtype: Optional[str] = None


@dataclass(frozen=True)
class Result:
    """A result, either required by a case or returned by an adapter: `values` in row-major order."""

    dtype: str
    shape: Tuple[int, ...]
    values: Tuple[Value, ...]
    #: Of a case: what may be returned at these row-major indices instead of only the value in `values`.
    admitted: Mapping[int, Tuple[Admitted, ...]] = None  # type: ignore[assignment]
    intermediate: Optional[Intermediate] = None
    #: Under `theano`: the flags of the result.
    broadcastable: Optional[Tuple[bool, ...]] = None
    #: Of an answer to a case with a destination: the destination's buffer after the write, if it shall be judged.
    buffer: Optional[Tuple[Value, ...]] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "admitted", dict(self.admitted or {}))
        if self.broadcastable is not None:
            object.__setattr__(self, "broadcastable", tuple(self.broadcastable))
        if self.buffer is not None:
            object.__setattr__(self, "buffer", tuple(self.buffer))


@dataclass(frozen=True)
class Refusal:
    """A refusal, either required by a case or returned by an adapter. None is anything."""

    kind: Optional[str] = None
    axis: Optional[int] = None
    operand: Optional[str] = None
    message: str = ""


@dataclass(frozen=True)
class Case:
    """A case: a request, and the outcome that it must have. Exactly one of `result` and `refusal` is not None."""

    id: str
    title: str
    clause: str
    rules: str
    operation: str
    operands: Tuple[Operand, ...]
    #: None for a broadcast, and for the gradient of one.
    expression: Optional[Expression] = None
    #: For a gradient: the operand with respect to which the sum of the expression's elements is differentiated.
    wrt: Optional[str] = None
    #: For a gradient: the last operand, by which the result is multiplied before it is summed; None for no weights.
    cotangent: Optional[str] = None
    #: For a broadcast, and for the gradient of one.
    target_shape: Optional[Tuple[int, ...]] = None
    #: Under `pdpd`; None means -1.
    axis: Optional[int] = None
    #: Under `xla`; None if not given.
    broadcast_dimensions: Optional[Tuple[int, ...]] = None
    result: Optional[Result] = None
    refusal: Optional[Refusal] = None
    #: The convention that the case tests: a library may differ.
    convention: Optional[str] = None
    #: The version of the suite in which the case appeared.
    since: Optional[str] = None
    note: Optional[str] = None
    #: The dtype in which the suite has the case, if this is another one.
    retyped_from: Optional[str] = None
    #: The file in the kit.
    file: str = ""
    #: The destination: the operand into which the result is written; None for a new array.
    into: Optional[str] = None

    @property
    def destination(self) -> Optional[Operand]:
        return next((operand for operand in self.operands if operand.name == self.into), None)

    def numpy(self) -> Tuple[Dict[str, Any], Any]:
        """The operands as NumPy arrays by name, and the buffer that the destination and those that read it share.

        The buffer is None without a destination. bf16 needs the package `ml_dtypes`.
        """
        destination = self.destination
        buffer = None if destination is None else destination.buffer()
        shares = {operand.name: operand.of is not None or operand is destination for operand in self.operands}
        return {operand.name: operand.numpy(buffer if shares[operand.name] else None) for operand in self.operands}, buffer

    @property
    def name(self) -> str:
        """The id, with the dtype if that is not the one in the suite: `numpy/zero/rows[f32]`."""
        if self.retyped_from is None:
            return self.id
        return f"{self.id}[{next(o.dtype for o in self.operands if o.dtype != 'bool')}]"

    @property
    def dtypes(self) -> Tuple[str, ...]:
        """The dtypes of the operands, each once."""
        return tuple(dict.fromkeys(operand.dtype for operand in self.operands))

    def calls(self) -> List[str]:
        """The functions that the expression calls, arguments before their call."""
        return calls(self.expression)


def calls(expression: Optional[Expression]) -> List[str]:
    if not isinstance(expression, tuple):
        return []
    return [*(name for argument in expression[1:] for name in calls(argument)), expression[0]]


def evaluate(expression: Expression, arrays: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Evaluates an expression with a library's functions on its arrays, by the names of the operands."""
    if isinstance(expression, str):
        return arrays[expression]
    name, *arguments = expression
    return functions[name](*(evaluate(argument, arrays, functions) for argument in arguments))


def numpy_dtype(dtype: str) -> Any:
    """The NumPy dtype of a dtype of the cases. bf16 needs the package `ml_dtypes`."""
    import numpy as np

    if dtype == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    if dtype == "bool":
        return np.dtype(bool)
    return np.dtype({"f": "float", "i": "int", "u": "uint"}[dtype[0]] + dtype[1:])


def cases(
    *,
    rules: Union[str, Iterable[str], None] = None,
    dtypes: Union[str, Iterable[str], None] = None,
    operation: Union[str, Iterable[str], None] = None,
    functions: Union[str, Iterable[str], None] = None,
    conventions: Union[str, Iterable[str], None] = None,
    filter: Union[str, Iterable[str], None] = None,
    extreme: bool = True,
    sweeps: bool = False,
    into: bool = False,
    kit: Union[str, "os.PathLike[str]", None] = None,
) -> List[Case]:
    """The cases, in the order of the kit. Without arguments, all are given but sweeps and those with a destination.

    `rules`, `operation`: only cases of these. `functions`: only cases that call no others.
    `dtypes`: only cases whose operands have no others. A case whose dtype does not matter is given in another one.
    `conventions`: only these conventions, `()` for none. `filter`: ids, beginnings of ids, or globs.
    `extreme`: False leaves out lengths, strides and counts beyond 2^53.
    `sweeps`: True adds the patterns, 4,000 cases. `into`: True adds the cases whose result is written into an operand.
    `kit`: another directory that `broadcheck export` wrote.

    Raises ValueError for a word that does not exist.
    """
    wanted_rules = words("rules", rules, RULES)
    wanted_dtypes = words("dtypes", dtypes, DTYPES)
    wanted_operations = words("operation", operation, OPERATIONS)
    wanted_functions = words("functions", functions, FUNCTIONS)
    wanted_conventions = words("conventions", conventions, CONVENTIONS)
    globs = None if filter is None else [glob(text, prefix=True) for text in ([filter] if isinstance(filter, str) else filter)]
    chosen = []
    for case in Kit(kit).cases(extreme=extreme, sweeps=sweeps, into=into):
        if wanted_rules is not None and case.rules not in wanted_rules:
            continue
        if wanted_operations is not None and case.operation not in wanted_operations:
            continue
        if case.convention and wanted_conventions is not None and case.convention not in wanted_conventions:
            continue
        if wanted_functions is not None and not wanted_functions.issuperset(case.calls()):
            continue
        if globs is not None and not any(matches(case.id) for matches in globs):
            continue
        if wanted_dtypes is not None:
            found = Kit(kit).in_dtypes(case, wanted_dtypes)
            if found is None:
                continue
            case = found
        chosen.append(case)
    return chosen


def words(place: str, given: Union[str, Iterable[str], None], known: Tuple[str, ...]) -> Optional["frozenset[str]"]:
    if given is None:
        return None
    found = [given] if isinstance(given, str) else list(given)
    for word in found:
        if word not in known:
            raise ValueError(f"{place}: found {word!r}, expected one of: {' '.join(known)}")
    return frozenset(found)


class Kit:
    """A directory that `broadcheck export` wrote; the one in this package by default."""

    def __init__(self, path: Union[str, "os.PathLike[str]", None] = None) -> None:
        self.own = path is None
        self.path = _HERE / "kit" if path is None else pathlib.Path(path)

    def manifest(self) -> Dict[str, Any]:
        """Raises ValueError if the directory is not a kit of a format that this package reads."""
        manifest = _manifest(self.path)
        if manifest.get("format") != 1:
            raise ValueError(f"{self.path / 'manifest.json'}: found the format {manifest.get('format')!r}, expected 1")
        return manifest

    def cases(self, extreme: bool = True, sweeps: bool = False, into: bool = False) -> Iterator[Case]:
        self.manifest()
        folders = ["json", "json/optional"] + ["json/extreme"] * extreme + ["json/sweeps"] * sweeps + ["into"] * into
        for folder in folders:
            yield from _folder(self.path / folder, self.path)

    def in_dtypes(self, case: Case, dtypes: Iterable[str]) -> Optional[Case]:
        """The case, or the same case in the first of these dtypes in which the kit has it; None if there is none."""
        if set(case.dtypes) <= set(dtypes):
            return case
        if self.own:
            for dtype in DTYPES:
                if dtype in dtypes:
                    found = _retyped(dtype).get(case.id)
                    if found is not None and set(found.dtypes) <= set(dtypes):
                        return found
        return None


@functools.lru_cache(maxsize=None)
def _manifest(path: pathlib.Path) -> Dict[str, Any]:
    file = path / "manifest.json"
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: {error}, expected the manifest of a directory that `broadcheck export` wrote") from error
    if not isinstance(manifest, dict):
        raise ValueError(f"{file}: found something other than an object, expected the manifest of a kit")
    return manifest


@functools.lru_cache(maxsize=None)
def _folder(folder: pathlib.Path, kit: pathlib.Path) -> Tuple[Case, ...]:
    found: List[Case] = []
    for file in sorted(folder.glob("*.json")):
        written = json.loads(file.read_text(encoding="utf-8"))
        name = file.relative_to(kit).as_posix()
        found += (replace(_case(fields), file=name) for fields in written.get("cases", []))
    return tuple(found)


@functools.lru_cache(maxsize=None)
def _retyped(dtype: str) -> Dict[str, Case]:
    file = _RETYPED / f"{dtype}.json"
    if not file.exists():
        return {}
    written = json.loads(file.read_text(encoding="utf-8"))
    return {fields["id"]: replace(_case(fields), file=f"retyped/{file.name}") for fields in written["cases"]}


def _case(fields: Dict[str, Any]) -> Case:
    result, refusal = fields.get("result"), fields.get("refusal")
    written = {operand["name"]: operand for operand in fields["operands"]}
    operands = tuple(_operand(operand, written[operand.get("of", operand["name"])]) for operand in written.values())
    lower = min(operands, key=lambda operand: len(operand.shape))
    return Case(
        id=fields["id"], title=fields["title"], clause=fields["clause"], rules=fields["rules"],
        operation=fields.get("operation", "elementwise"),
        operands=operands,
        expression=expression_of(fields["expression"]) if "expression" in fields else None,
        wrt=fields.get("wrt"), cotangent=fields.get("cotangent"), target_shape=integers(fields.get("target_shape")),
        axis=None if fields.get("axis") is None else int(fields["axis"]),
        broadcast_dimensions=integers(fields.get("broadcast_dimensions")),
        result=None if result is None else _result(result, lower.dtype),
        refusal=None if refusal is None else Refusal(refusal["kind"], refusal.get("axis"), refusal.get("operand")),
        convention=fields.get("convention"), since=fields.get("since"), note=fields.get("note"),
        retyped_from=fields.get("retyped_from"), into=fields.get("into"),
    )


def _operand(fields: Dict[str, Any], owner: Dict[str, Any]) -> Operand:
    """`owner` has the values: it is the operand itself, or the destination whose buffer it reads."""
    shape, strides = integers(fields["shape"]), integers(fields.get("strides"))
    if strides is None and fields.get("offset"):
        strides = tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    return Operand(
        fields["name"], fields["dtype"], shape, _values(fields["dtype"], owner["values"]), strides,
        int(fields.get("offset", 0)), None if "broadcastable" not in fields else tuple(fields["broadcastable"]),
        fields.get("of"),
    )


def _result(fields: Dict[str, Any], lower: str) -> Result:
    dtype, intermediate = fields["dtype"], fields.get("intermediate")
    admitted = {
        int(place): tuple(_admitted(dtype, entry) for entry in entries)
        for place, entries in fields.get("admitted", {}).items()
    }
    if intermediate is not None:
        intermediate = Intermediate(integers(intermediate["shape"]), _values(lower, intermediate["values"]), lower)
    return Result(
        dtype, integers(fields["shape"]), _values(dtype, fields["values"]), admitted, intermediate,
        fields.get("broadcastable"),
    )


def _admitted(dtype: str, entry: Dict[str, Any]) -> Admitted:
    if "value" in entry:
        return Exactly(_numbers.read(dtype, entry["value"]))
    return Between(_numbers.read(dtype, entry["lower"]), _numbers.read(dtype, entry["upper"]))


def expression_of(written: Any) -> Expression:
    return written if isinstance(written, str) else tuple(expression_of(part) for part in written)


def integers(written: Any) -> Any:
    """Integers, in which large ones are strings."""
    return None if written is None else tuple(int(number) for number in written)


def _values(dtype: str, written: List[Any]) -> Tuple[Value, ...]:
    return tuple(_numbers.read(dtype, literal) for literal in written)


def glob(text: str, prefix: bool = False) -> Callable[[str], bool]:
    """Whether an id matches: `*` is any text including `/`, `?` one character, `[a-c]` one of a set, `{x,y}` either.

    With `prefix`, a text without these characters matches the ids that begin with it.
    """
    if prefix and not any(special in text for special in "*?[{"):
        return lambda id: id.startswith(text)
    pattern, depth, position = "", 0, 0
    while position < len(text):
        character = text[position]
        end = text.find("]", position)
        if character == "[" and end > position:
            pattern += "[" + text[position + 1:end].replace("\\", "\\\\").replace("^", "\\^") + "]"
            position = end
        elif character == "{":
            pattern, depth = pattern + "(?:", depth + 1
        elif character == "}" and depth:
            pattern, depth = pattern + ")", depth - 1
        elif character == "," and depth:
            pattern += "|"
        else:
            pattern += {"*": ".*", "?": "."}.get(character, re.escape(character))
        position += 1
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"found the glob {text!r} ({error}), expected every bracket and brace to be closed") from error
    return lambda id: compiled.fullmatch(id) is not None
