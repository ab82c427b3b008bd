"""The cases of the operation `infer`: what is known of a result before the run, from lengths that may be unknown."""
from __future__ import annotations

import functools
import json
import operator
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._cases import (
    CONVENTIONS, FUNCTIONS, RULES, Expression, Kit, Refusal, calls, expression_of, glob, integers, words,
)
from ._numbers import DTYPES

#: What may be unknown of a shape. An adapter declares what its library can express.
UNKNOWN = {
    "length": "unknown lengths",
    "bound": "lengths with an upper bound",
    "interval": "lengths with a lower bound",
    "rank": "unknown ranks",
}


class Length(NamedTuple):
    """What is known of a length: its bounds, both included. `max` is None if there is no upper bound."""

    min: int = 0
    max: Optional[int] = None

    @property
    def number(self) -> Optional[int]:
        """The length if it is known, else None."""
        return self.min if self.min == self.max else None

    @property
    def unknown(self) -> Optional[str]:
        """The word of `UNKNOWN` that describes it; None for a number."""
        if self.number is not None:
            return None
        return "interval" if self.min else "length" if self.max is None else "bound"

    def contains(self, other: Length) -> bool:
        """Whether it admits every number that the other one admits."""
        below = self.max is None or (other.max is not None and other.max <= self.max)
        return self.min <= other.min and below

    def __str__(self) -> str:
        if self.number is not None:
            return str(self.number)
        if self == Length():
            return "?"
        return f"{self.min or ''}..{'' if self.max is None else self.max}"


#: A length per axis, or "..." if not even the rank is known.
Shape = Union[str, Tuple[Length, ...]]


@dataclass(frozen=True)
class OperandType:
    """What is known of an operand before the run."""

    name: str
    dtype: str
    shape: Shape
    #: Theano's flags, one per axis; None under other rule sets.
    broadcastable: Optional[Tuple[bool, ...]] = None


@dataclass(frozen=True)
class Inference:
    """What is known of a result, either required by a case or returned by an adapter.

    In an answer, `shape` is "..." or has an int, "?" or a `Length` for each axis, and `accepts` and `broadcastable` are
    None unless the library reports them.
    """

    dtype: str
    shape: Union[str, Sequence[Union[int, str, Length]]]
    #: "always" if every run is accepted, "depends" if some are refused.
    accepts: Optional[str] = None
    #: Under `theano`: the flags of the result.
    broadcastable: Optional[Tuple[bool, ...]] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", shape_of(self.shape))
        if self.accepts not in (None, "always", "depends"):
            raise ValueError(f"accepts: found {self.accepts!r}, expected 'always', 'depends' or None")
        if self.broadcastable is not None:
            object.__setattr__(self, "broadcastable", tuple(self.broadcastable))

    def __str__(self) -> str:
        accepts = "" if self.accepts is None else f", {self.accepts}"
        return f"{self.dtype}{shown(shape_of(self.shape))}{accepts}"


@dataclass(frozen=True)
class InferenceCase:
    """A case of the operation `infer`. Exactly one of `inferred` and `refusal` is not None."""

    id: str
    title: str
    clause: str
    rules: str
    operands: Tuple[OperandType, ...]
    #: For the inference of `elementwise`.
    expression: Optional[Expression] = None
    #: For that of `broadcast`.
    target_shape: Optional[Shape] = None
    #: Under `pdpd`; None means -1.
    axis: Optional[int] = None
    #: Under `xla`; None if not given.
    broadcast_dimensions: Optional[Tuple[int, ...]] = None
    #: The exact answer.
    inferred: Optional[Inference] = None
    #: Every run is refused.
    refusal: Optional[Refusal] = None
    #: The convention that the case tests: a library may differ.
    convention: Optional[str] = None
    #: The version of the suite in which the case appeared.
    since: Optional[str] = None
    note: Optional[str] = None
    #: The file in the kit.
    file: str = ""
    operation: str = "infer"

    @property
    def name(self) -> str:
        return self.id

    @property
    def dtypes(self) -> Tuple[str, ...]:
        """The dtypes of the operands, each once."""
        return tuple(dict.fromkeys(operand.dtype for operand in self.operands))

    def shapes(self) -> List[Shape]:
        """Those of the operands, and the target."""
        target = [] if self.target_shape is None else [self.target_shape]
        return [*(operand.shape for operand in self.operands), *target]

    @property
    def is_known(self) -> bool:
        """Whether every length is a number."""
        return not any(unknown_in(shape) for shape in self.shapes())

    def calls(self) -> List[str]:
        """The functions that the expression calls, arguments before their call."""
        return calls(self.expression)


def inference_cases(
    *,
    rules: Union[str, Iterable[str], None] = None,
    dtypes: Union[str, Iterable[str], None] = None,
    functions: Union[str, Iterable[str], None] = None,
    conventions: Union[str, Iterable[str], None] = None,
    unknown: Union[str, Iterable[str], None] = None,
    filter: Union[str, Iterable[str], None] = None,
    kit: Union[str, "os.PathLike[str]", None] = None,
) -> List[InferenceCase]:
    """The cases of the operation `infer`, in the order of the kit. The arguments leave others out, as those of `cases` do.

    `unknown`: only cases with nothing unknown but this, any of `UNKNOWN`.
    """
    wanted_rules = words("rules", rules, RULES)
    wanted_dtypes = words("dtypes", dtypes, DTYPES)
    wanted_functions = words("functions", functions, FUNCTIONS)
    wanted_conventions = words("conventions", conventions, CONVENTIONS)
    wanted_unknown = words("unknown", unknown, tuple(UNKNOWN))
    globs = None if filter is None else [glob(text, prefix=True) for text in ([filter] if isinstance(filter, str) else filter)]

    def wanted(case: InferenceCase) -> bool:
        return (
            (wanted_rules is None or case.rules in wanted_rules)
            and (wanted_dtypes is None or wanted_dtypes.issuperset(case.dtypes))
            and (wanted_functions is None or wanted_functions.issuperset(case.calls()))
            and (wanted_conventions is None or case.convention is None or case.convention in wanted_conventions)
            and (wanted_unknown is None or all(wanted_unknown.issuperset(unknown_in(shape)) for shape in case.shapes()))
            and (globs is None or any(matches(case.id) for matches in globs))
        )

    return [case for case in all_inference_cases(Kit(kit)) if wanted(case)]


def all_inference_cases(kit: Kit) -> Tuple[InferenceCase, ...]:
    kit.manifest()
    return _folder(kit.path / "infer", kit.path)


@functools.lru_cache(maxsize=None)
def _folder(folder: pathlib.Path, kit: pathlib.Path) -> Tuple[InferenceCase, ...]:
    found: List[InferenceCase] = []
    for file in sorted(folder.glob("*.json")):
        written = json.loads(file.read_text(encoding="utf-8"))
        found += (_case(fields, file.relative_to(kit).as_posix()) for fields in written.get("cases", []))
    return tuple(found)


def _case(fields: Dict[str, Any], file: str) -> InferenceCase:
    inferred, refusal = fields.get("inferred"), fields.get("refusal")
    if inferred is not None:
        inferred = Inference(
            inferred["dtype"], _read(inferred["shape"]), inferred.get("accepts"), inferred.get("broadcastable"),
        )
    return InferenceCase(
        id=fields["id"], title=fields["title"], clause=fields["clause"], rules=fields["rules"],
        operands=tuple(_operand(operand) for operand in fields["operands"]),
        expression=expression_of(fields["expression"]) if "expression" in fields else None,
        target_shape=_read(fields["target_shape"]) if "target_shape" in fields else None,
        axis=None if fields.get("axis") is None else int(fields["axis"]),
        broadcast_dimensions=integers(fields.get("broadcast_dimensions")),
        inferred=inferred,
        refusal=None if refusal is None else Refusal(refusal["kind"], refusal.get("axis"), refusal.get("operand")),
        convention=fields.get("convention"), since=fields.get("since"), note=fields.get("note"), file=file,
    )


def _operand(fields: Dict[str, Any]) -> OperandType:
    flags = fields.get("broadcastable")
    return OperandType(fields["name"], fields["dtype"], _read(fields["shape"]), None if flags is None else tuple(flags))


def _read(written: Any) -> Shape:
    """A shape of a case file, in which large numbers are strings."""
    return "..." if written == "..." else tuple(_read_length(length) for length in written)


def _read_length(written: Any) -> Length:
    if isinstance(written, dict):
        highest = written.get("max")
        return Length(int(written.get("min", 0)), None if highest is None else int(highest))
    return Length() if written == "?" else Length(int(written), int(written))


def shape_of(given: Union[str, Sequence[Union[int, str, Length]]]) -> Shape:
    """The shape that an answer has. Raises TypeError or ValueError if it is none."""
    if given == "...":
        return "..."
    if isinstance(given, str):
        raise ValueError(f"shape: found {given!r}, expected '...' or a length per axis")
    return tuple(map(_length_of, given))


def _length_of(given: Union[int, str, Length]) -> Length:
    if isinstance(given, Length):
        length = given
    elif given == "?":
        return Length()
    elif isinstance(given, (bool, str, tuple)):
        raise TypeError(f"length: found {given!r}, expected a number, '?' or a Length")
    else:
        length = Length(operator.index(given), operator.index(given))
    if length.min < 0 or (length.max is not None and length.max < length.min):
        raise ValueError(f"length: found {tuple(length)}, expected bounds from 0, the lower one first")
    return length


def unknown_in(shape: Shape) -> List[str]:
    """What is unknown of a shape: words of `UNKNOWN`."""
    if isinstance(shape, str):
        return ["rank"]
    return [length.unknown for length in shape if length.unknown is not None]


def contains(shape: Shape, other: Shape) -> bool:
    """Whether a shape admits every shape that the other one admits."""
    if isinstance(shape, str):
        return True
    return not isinstance(other, str) and len(shape) == len(other) and all(map(Length.contains, shape, other))


def shown(shape: Shape) -> str:
    return f"({shape if isinstance(shape, str) else ','.join(map(str, shape))})"
