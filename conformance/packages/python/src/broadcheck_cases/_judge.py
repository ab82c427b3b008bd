"""Compares an answer with what a case requires. The case has everything: no tolerance is applied, and no ULP counted."""
from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Sequence, Tuple, Union

from . import _numbers
from ._cases import Case, Refusal, Result
from ._infer import Inference, InferenceCase, contains, shape_of
from ._numbers import DTYPES

# These decide single values of a result, whose dtype and shape can still be wrong. Others decide the whole answer.
VALUE_CONVENTIONS = ("gradient-ties", "zero-signs")

# These are about whole answers, but a library without them refuses all the same.
_REFUSAL_CONVENTIONS = ("refusal-order", "inferred-refusals")
# Types are checked before shapes (clause INFER-12), so these refusals do not depend on lengths.
_OF_TYPES = ("dtype_mismatch", "unsupported_function", "operand_count")

# So many wrong elements are listed.
_LISTED = 5


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and if not, why not. It is true if the answer is right."""

    passed: bool
    reason: str = ""
    #: Whether the answer has the required dtype and shape, and only values are wrong.
    only_values: bool = False
    #: Whether the answer to a case of `infer` is right, but admits more than is possible. `reason` says what.
    wider: bool = False

    def __bool__(self) -> bool:
        return self.passed


def judge(case: Union[Case, InferenceCase], answer: Any) -> Verdict:
    """Judges an answer: a `Result`, a `Refusal`, or an array that NumPy can read; to `infer`, an `Inference` or a `Refusal`."""
    if isinstance(case, InferenceCase):
        return _judge_inference(case, answer)
    if not isinstance(answer, (Result, Refusal)):
        answer = result_of(answer)
    if isinstance(answer, Refusal):
        return _judge_refusal(case, answer)
    if case.refusal is not None:
        return Verdict(False, f"found {_shown(answer)}, expected a refusal ({case.refusal.kind})")
    required = case.result
    assert required is not None
    if answer.dtype != required.dtype:
        return Verdict(False, f"dtype: found {answer.dtype}, expected {required.dtype}")
    if answer.shape != required.shape:
        return Verdict(False, f"shape: found {_tuple(answer.shape)}, expected {_tuple(required.shape)}")
    reasons = _wrong_values(required, answer.values) + _wrong_extras(required, answer)
    buffer = _wrong_buffer(case, answer)
    return Verdict(not reasons + buffer, "\n".join(reasons + buffer), bool(reasons) and not buffer)


def _judge_inference(case: InferenceCase, answer: Any) -> Verdict:
    if isinstance(answer, Refusal):
        if case.refusal is not None:
            return _compare_refusals(case.refusal, answer)
        said = f": {answer.message}" if answer.message else ""
        return Verdict(False, f"unsound: found a refusal, expected {case.inferred}{said}")
    if not isinstance(answer, Inference):
        raise TypeError(f"found a value of type {type(answer).__name__}, expected broadcheck_cases.Inference")
    if case.refusal is not None:
        reason = f"found {answer}, expected a refusal ({case.refusal.kind})"
        wrong = case.is_known or case.refusal.kind in _OF_TYPES
        return Verdict(not wrong, reason if wrong else f"no run is accepted: {reason}", wider=not wrong)
    exact = case.inferred
    assert exact is not None
    told = f"found {answer}, expected {exact}"
    if answer.dtype != exact.dtype:
        return Verdict(False, f"dtype: {told}")
    if not contains(shape_of(answer.shape), shape_of(exact.shape)):
        return Verdict(False, f"unsound, the shape leaves out what a run may give: {told}")
    if (exact.accepts, answer.accepts) == ("depends", "always"):
        return Verdict(False, f"unsound, some runs are refused: {told}")
    if answer.broadcastable is not None and answer.broadcastable != exact.broadcastable:
        return Verdict(False, f"flags of the result: found {answer.broadcastable}, expected {exact.broadcastable}")
    if answer.shape == exact.shape and (exact.accepts, answer.accepts) != ("always", "depends"):
        return Verdict(True)
    return Verdict(False, f"all lengths are known: {told}") if case.is_known else Verdict(True, told, wider=True)


def judge_convention(case: Union[Case, InferenceCase], answer: Any) -> Verdict:
    """Judges an answer as `judge` does, but what `zero-signs` leaves open by the listed values alone.

    A case of this convention admits what every library may return. Only the listed values agree with the convention.
    """
    verdict = judge(case, answer)
    if not verdict or isinstance(case, InferenceCase) or case.convention != "zero-signs" or case.result is None:
        return verdict
    return judge(replace(case, result=replace(case.result, admitted={})), answer)


def excused(case: Union[Case, InferenceCase], answer: Any, verdict: Verdict) -> bool:
    """Whether a wrong answer to a case of a convention is one that a library without this convention may give."""
    if case.convention in VALUE_CONVENTIONS:
        return verdict.only_values
    return case.convention is not None and (case.convention not in _REFUSAL_CONVENTIONS or isinstance(answer, Refusal))


def _judge_refusal(case: Case, answer: Refusal) -> Verdict:
    required = case.refusal
    if required is None:
        assert case.result is not None
        said = f": {answer.message}" if answer.message else ""
        return Verdict(False, f"found a refusal, expected {_shown(case.result)}{said}")
    return _compare_refusals(required, answer)


def _compare_refusals(required: Refusal, answer: Refusal) -> Verdict:
    if required.kind == "any":
        return Verdict(True)
    for field in ("kind", "axis", "operand"):
        found, expected = getattr(answer, field), getattr(required, field)
        # A library need not report it, and a case need not require it.
        if found is not None and expected is not None and found != expected:
            return Verdict(False, f"{field} of the refusal: found {found}, expected {expected}")
    return Verdict(True)


def _wrong_values(required: Result, values: Sequence[Any]) -> List[str]:
    count = math.prod(required.shape)
    if len(values) != count:
        return [f"values: found {len(values)}, expected {count} for the shape {_tuple(required.shape)}"]
    wrong = []
    for place, (value, expected) in enumerate(zip(values, required.values)):
        try:
            value = _numbers.normal(required.dtype, value)
        except ValueError as error:
            wrong.append(f"element {_index(place, required.shape)}: {error}")
            continue
        entries = required.admitted.get(place)
        if not (any(entry.admits(value) for entry in entries) if entries else _numbers.same(value, expected)):
            admitted = " or ".join(map(str, entries)) if entries else repr(expected)
            wrong.append(f"element {_index(place, required.shape)}: found {value!r}, expected {admitted}")
    if len(wrong) > _LISTED:
        wrong[_LISTED:] = [f"and {len(wrong) - _LISTED} more of {count} elements"]
    return wrong


def _wrong_extras(required: Result, answer: Result) -> List[str]:
    """What is compared only if the answer has it, but is wrong where the case has none."""
    wrong = []
    if answer.broadcastable is not None and answer.broadcastable != required.broadcastable:
        wrong.append(f"flags of the result: found {answer.broadcastable}, expected {required.broadcastable}")
    found, expected = answer.intermediate, required.intermediate
    if found is None:
        return wrong
    if expected is None:
        return [*wrong, "intermediate: found one, expected none for this request"]
    if tuple(found.shape) != expected.shape:
        wrong.append(f"shape of the intermediate: found {_tuple(found.shape)}, expected {_tuple(expected.shape)}")
    else:
        dense = Result(expected.dtype or required.dtype, expected.shape, expected.values)
        wrong += [f"intermediate: {reason}" for reason in _wrong_values(dense, found.values)]
    return wrong


def _wrong_buffer(case: Case, answer: Result) -> List[str]:
    """The destination's buffer, if the answer has it: the answered elements at their places, and elsewhere what was there."""
    if answer.buffer is None:
        return []
    destination = case.destination
    if destination is None:
        return ["buffer: found one, expected none for a request without a destination"]
    before = destination.values
    if len(answer.buffer) != len(before):
        return [f"buffer: found {len(answer.buffer)} values, expected {len(before)}, as before the write"]
    # By place: the answered element, and which one it is.
    written: Dict[int, Tuple[Any, str]] = {
        place: (value, f"the element {_index(element, destination.shape)}")
        for element, (place, value) in enumerate(zip(destination.places(), answer.values))
    }
    wrong = []
    for place, found in enumerate(answer.buffer):
        expected, why = written.get(place, (before[place], "as before: it is outside of the destination"))
        try:
            if not _numbers.same(*(_numbers.normal(destination.dtype, value) for value in (found, expected))):
                wrong.append(f"buffer at {place}: found {found!r}, expected {expected!r}, {why}")
        except ValueError as error:
            wrong.append(f"buffer at {place}: {error}")
    return [*wrong[:_LISTED], f"and {len(wrong) - _LISTED} more of {len(before)} places"] if len(wrong) > _LISTED else wrong


def result_of(array: Any, buffer: Any = None) -> Result:
    """The result that an array of NumPy, or of a library that NumPy can read, contains.

    `buffer` is the destination's after the write, to have it judged too. Raises TypeError if it is no such array.
    """
    if buffer is not None:
        return replace(result_of(array), buffer=result_of(buffer).values)
    if "numpy" not in sys.modules or isinstance(array, (list, tuple, dict, str, bytes, type(None))):
        found = "None" if array is None else f"a value of type {type(array).__name__}"
        raise TypeError(f"found {found}, expected broadcheck_cases.Result or an array")
    import numpy as np

    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return Result("bf16", array.shape, array.astype(np.float64).ravel().tolist())
    short = {"b": "bool", "f": "f", "i": "i", "u": "u"}.get(array.dtype.kind)
    name = short if short == "bool" else f"{short}{array.dtype.itemsize * 8}"
    if name not in DTYPES:
        return Result(str(array.dtype), array.shape, ())
    return Result(name, array.shape, array.ravel().tolist())


def _index(place: int, shape: Tuple[int, ...]) -> str:
    index: List[int] = []
    for length in reversed(shape):
        index.insert(0, place % length)
        place //= length
    return _tuple(index)


def _tuple(numbers: Sequence[int]) -> str:
    return "(" + ",".join(map(str, numbers)) + ")"


def _shown(result: Result) -> str:
    values = " ".join(map(repr, result.values[:12])) + (" ..." if len(result.values) > 12 else "")
    return f"{result.dtype}{_tuple(result.shape)} [{values}]"
