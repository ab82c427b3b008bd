"""An adapter: an object that declares what a library supports, and passes cases to it.

The names of the declared capabilities and their meaning are those of broadcheck's protocol.
"""
from __future__ import annotations

import importlib
import math
import sys
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from . import _numbers
from ._cases import CONVENTIONS, FUNCTIONS, OPERATIONS, PREDICATES, RULES, Case, Expression, Operand, Refusal, Result
from ._infer import UNKNOWN, InferenceCase, OperandType, unknown_in
from ._judge import result_of
from ._numbers import DTYPES

_FLOATS = ("f64", "f32", "f16", "bf16")


# What `operations` may contain besides operations.
_WORDS = ("strided", "broadcast_in_dim", "permuted", "cotangent", "into", "infer")


class Refused(Exception):
    """Raised by an adapter: the library refuses the case. Give `kind`, `axis` and `operand` only if it reports them."""

    def __init__(
        self, message: str = "", kind: Optional[str] = None, axis: Optional[int] = None, operand: Optional[str] = None
    ) -> None:
        super().__init__(message)
        self.refusal = Refusal(kind, axis, operand, message)


class Skipped(Exception):
    """Raised by an adapter: the library cannot express the case, and no capability describes why."""


class AdapterError(Exception):
    """An adapter cannot be loaded, or declares something that does not exist."""


class Adapter:
    """An adapter with its capabilities checked and completed by their defaults."""

    def __init__(self, given: Any, place: str = "adapter") -> None:
        self._place = place
        if isinstance(given, type):
            given = given()
        self.given = given
        if not callable(getattr(given, "infer", None)):
            self._needs("run")
        self.name = str(getattr(given, "name", place))
        self.version = str(getattr(given, "version", ""))
        self.rules = self._words("rules", RULES)
        self.operations = self._words("operations", (*OPERATIONS, *_WORDS))
        for method, operations in (("run", OPERATIONS), ("infer", ("infer",))):
            if not set(operations).isdisjoint(self.operations):
                self._needs(method)
        self.functions = self._words("functions", FUNCTIONS, [])
        self.dtypes = self._words("dtypes", DTYPES)
        self.unknown = self._words("unknown", UNKNOWN, ["length"])
        conventions = getattr(given, "conventions", ())
        self.conventions = list(CONVENTIONS) if conventions == "all" else self._words("conventions", CONVENTIONS, [])
        self.flushed_subnormals = self._words("flushed_subnormals", _FLOATS, [])
        self.function_dtypes = self._table("function_dtypes", FUNCTIONS, DTYPES)
        self.rule_operations = self._table("rule_operations", RULES, (*OPERATIONS, "infer"))
        self.rule_functions = self._table("rule_functions", RULES, FUNCTIONS)
        self.min_rank = self._count("min_rank", 0)
        self.max_rank = self._count("max_rank", None)
        self.max_operands = self._count("max_operands", None)
        self.max_calls = self._count("max_calls", None)
        self.max_elements = self._count("max_elements", 2**28)
        self.ordered_operands = self._flag("ordered_operands", False)
        self.equal_ranks = self._flag("equal_ranks", False)
        self.scalars = self._flag("scalars", True)
        self.unused_operands = self._flag("unused_operands", True)
        self.negative_strides = self._flag("negative_strides", True)
        self.large_sizes = self._flag("large_sizes", True)
        self.static_flags = self._flag("static_flags", False)

    @staticmethod
    def load(spec: str) -> "Adapter":
        """The adapter `MODULE:NAME`. Raises AdapterError, which names what was found and what was expected."""
        module_name, colon, name = spec.partition(":")
        if not (module_name and colon and name):
            raise AdapterError(f"found {spec!r}, expected MODULE:NAME, such as my_module:adapter")
        try:
            value = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (module_name + ".").startswith(error.name + "."):
                raise AdapterError(f"{spec}: importing {module_name} failed: {error}") from error
            raise AdapterError(f"{spec}: no module {error.name!r} in {sys.path[0] or '.'} or the environment, expected the module of an adapter") from error
        except Exception as error:
            raise AdapterError(f"{spec}: importing {module_name} failed: {type(error).__name__}: {error}") from error
        for part in name.split("."):
            if not hasattr(value, part):
                names = ", ".join(n for n in vars(value) if not n.startswith("_")) if hasattr(value, "__dict__") else ""
                raise AdapterError(f"{spec}: no {part!r} in {module_name}, expected an adapter; it has: {names or 'nothing'}")
            value = getattr(value, part)
        return Adapter(value, spec)

    def _needs(self, method: str) -> None:
        if not callable(getattr(self.given, method, None)):
            found = f"{self._place}: found {type(self.given).__name__} without `{method}`"
            raise AdapterError(f"{found}, expected an adapter with `{method}(case)`")

    def _words(self, field: str, known: Iterable[str], default: Optional[List[str]] = None) -> List[str]:
        words = getattr(self.given, field, default)
        if words is None:
            raise AdapterError(f"{self._place}: no `{field}`, expected a list of: {' '.join(known)}")
        if isinstance(words, str):
            raise AdapterError(f"{self._place}.{field}: found the string {words!r}, expected a list of: {' '.join(known)}")
        words = list(words)
        for word in words:
            if word not in tuple(known):
                raise AdapterError(f"{self._place}.{field}: found {word!r}, expected one of: {' '.join(known)}")
        return words

    def _table(self, field: str, keys: Iterable[str], values: Iterable[str]) -> Dict[str, List[str]]:
        table = dict(getattr(self.given, field, {}))
        for key, words in table.items():
            for word, known in [(key, keys), *((word, values) for word in words)]:
                if word not in tuple(known):
                    raise AdapterError(f"{self._place}.{field}: found {word!r}, expected one of: {' '.join(known)}")
        return table

    def _count(self, field: str, default: Optional[int]) -> Any:
        count = getattr(self.given, field, default)
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
            raise AdapterError(f"{self._place}.{field}: found {count!r}, expected a number from 0")
        return count

    def _flag(self, field: str, default: bool) -> bool:
        flag = getattr(self.given, field, default)
        if not isinstance(flag, bool):
            raise AdapterError(f"{self._place}.{field}: found {flag!r}, expected True or False")
        return flag

    def answer(self, case: Union[Case, InferenceCase]) -> Any:
        """What the library does with a case: a `Result`, an `Inference` or a `Refusal`. Raises what the adapter raises."""
        infers = isinstance(case, InferenceCase)
        try:
            answer = self.given.infer(case) if infers else self.given.run(case)
        except Refused as refused:
            return refused.refusal
        return answer if infers or isinstance(answer, (Result, Refusal)) else result_of(answer)

    def declares(self, case: Union[Case, InferenceCase]) -> bool:
        """Whether the library has what puts a case into a directory of its own. If not, the case is not counted either."""
        if isinstance(case, InferenceCase):
            return "infer" in self.operations
        return case.into is None or "into" in self.operations

    def missing(self, case: Union[Case, InferenceCase]) -> Optional[str]:
        """Why the library cannot be asked a case: `no f16`; None if it can."""
        if isinstance(case, InferenceCase):
            return self._missing_inference(case)
        if case.rules not in self.rules:
            return f"no rule set {case.rules}"
        operation = case.operation
        if operation not in self.operations:
            return f"no {operation}"
        if operation not in self.rule_operations.get(case.rules, OPERATIONS):
            return f"no {operation} under {case.rules}"
        if case.cotangent is not None and "cotangent" not in self.operations:
            return "no cotangents"
        if case.into is not None and "into" not in self.operations:
            return "no destinations"
        if case.target_shape is not None:
            if "broadcast" not in self.operations or "broadcast" not in self.rule_operations.get(case.rules, OPERATIONS):
                return f"no broadcast under {case.rules}"
        missing = self._missing_dimensions(case) or self._missing_operands(case)
        return missing or self._missing_calls(case) or self._missing_result(case)

    def _missing_dimensions(self, case: Union[Case, InferenceCase]) -> Optional[str]:
        if case.target_shape is None:
            return None
        if case.rules == "xla" and "broadcast_in_dim" not in self.operations:
            return "no broadcast under xla"
        named = case.broadcast_dimensions or ()
        falls = any(a > b for a, b in zip(named, named[1:]))
        return "no broadcast_dimensions that decrease" if falls and "permuted" not in self.operations else None

    def _missing_inference(self, case: InferenceCase) -> Optional[str]:
        rules, operation = case.rules, "elementwise" if case.target_shape is None else "broadcast"
        named = self.rule_operations.get(rules)
        # A library without operations infers those of all of them.
        runs = [word for word in self.operations if word in OPERATIONS] or OPERATIONS
        if rules not in self.rules:
            return f"no rule set {rules}"
        if "infer" not in self.operations:
            return "no infer"
        if named is not None and "infer" not in named:
            return f"no infer under {rules}"
        if operation not in runs or (named is not None and operation not in named):
            return f"no {operation} under {rules}"
        return self._missing_dimensions(case) or self._missing_types(case) or self._missing_calls(case)

    def _missing_types(self, case: InferenceCase) -> Optional[str]:
        operands = case.operands
        for operand in operands:
            if operand.dtype not in self.dtypes:
                return f"no {operand.dtype}"
        for shape in case.shapes():
            for word in unknown_in(shape):
                if word not in self.unknown:
                    return f"no {UNKNOWN[word]}"
            if isinstance(shape, str):
                continue
            numbers = [length.number for length in shape if length.number is not None]
            reason = self._missing_rank(len(shape)) or (self._missing_size(numbers) if len(numbers) == len(shape) else None)
            if reason:
                return reason
            bounds = [length.min if length.max is None else length.max for length in shape]
            if not self.large_sizes and max([math.prod(number or 1 for number in numbers), *bounds]) >= 2**63:
                return "no sizes beyond memory"
        if self.static_flags and case.rules == "theano" and not all(map(_has_static_flags, operands)):
            return "no flags that differ from static lengths of 1"
        return self._missing_together(case, operands)

    def _missing_operands(self, case: Case) -> Optional[str]:
        operands = case.operands
        for operand in operands:
            if operand.dtype not in self.dtypes:
                return f"no {operand.dtype}"
            if operand.is_view and "strided" not in self.operations:
                return "no strided views"
            if not self.negative_strides and _is_backwards(operand):
                return "no negative strides"
            if self._flushed(operand.dtype, operand.values):
                return f"no subnormal {operand.dtype}"
        # A cotangent takes no part in the common shape.
        reason = self._missing_together(case, tuple(operand for operand in operands if operand.name != case.cotangent), case.into)
        if reason:
            return reason
        shapes = [operand.shape for operand in case.operands]
        if case.target_shape is not None:
            shapes.append(case.target_shape)
        for shape in shapes:
            reason = self._missing_rank(len(shape)) or self._missing_size(shape)
            if reason:
                return reason
        return None

    def _missing_together(
        self, case: Union[Case, InferenceCase], operands: Tuple[Union[Operand, OperandType], ...], into: Optional[str] = None
    ) -> Optional[str]:
        if self.max_operands is not None and len(operands) > self.max_operands:
            return f"no more than {self.max_operands} operands"
        # An unknown rank is a rank of its own.
        ranks = {None if isinstance(operand.shape, str) else len(operand.shape) for operand in operands}
        if self.equal_ranks and len(ranks) > 1:
            return "no operands of different ranks"
        if not self.unused_operands and case.expression is not None:
            # A destination is used: it is written.
            if {operand.name for operand in operands} - _leaves(case.expression) - {into}:
                return "no unused operands"
        return None

    def _missing_rank(self, rank: int) -> Optional[str]:
        if rank == 0:
            return None if self.scalars else "no scalars"
        if rank < self.min_rank:
            return f"no rank below {self.min_rank}"
        return f"no rank above {self.max_rank}" if self.max_rank is not None and rank > self.max_rank else None

    def _missing_size(self, shape: Iterable[int]) -> Optional[str]:
        large = math.prod(length or 1 for length in shape) > self.max_elements
        return "no sizes beyond memory" if large and not self.large_sizes else None

    def _missing_calls(self, case: Union[Case, InferenceCase]) -> Optional[str]:
        if case.expression is None:
            return None
        calls = case.calls()
        if self.max_calls is not None and len(calls) > self.max_calls:
            return f"no more than {self.max_calls} calls"
        for function in calls:
            if function not in self.functions:
                return f"no {function}"
            if function not in self.rule_functions.get(case.rules, FUNCTIONS):
                return f"no {function} under {case.rules}"
        if self.ordered_operands and case.rules == "pdpd":
            if len(case.operands) > 2:
                return "no third operand under pdpd"
            if _order(case.expression, [operand.name for operand in case.operands]) is None:
                return "no order other than A, B under pdpd"
        try:
            self._dtype_of(case.expression, {operand.name: operand.dtype for operand in case.operands})
        except _Lacks as lacks:
            return str(lacks)
        return None

    def _dtype_of(self, expression: Expression, dtypes: Dict[str, str]) -> str:
        if isinstance(expression, str):
            return dtypes[expression]
        function = expression[0]
        arguments = [self._dtype_of(argument, dtypes) for argument in expression[1:]]
        values = arguments[1:] if function == "select" else arguments
        for dtype in values:
            if dtype not in self.function_dtypes.get(function, DTYPES):
                raise _Lacks(f"no {function} of {dtype}")
        return "bool" if function in PREDICATES else values[0]

    def _missing_result(self, case: Case) -> Optional[str]:
        if case.result is None:
            assert case.refusal is not None
            large = case.refusal.kind == "too_large" and not self.large_sizes
            return "no sizes beyond memory" if large else None
        shapes = [case.result.shape]
        if case.operation == "gradient":
            # Of the expression, whose elements are summed.
            shapes.append(tuple(_common(case)))
        if case.result.intermediate is not None:
            shapes.append(case.result.intermediate.shape)
        for shape in shapes:
            if self.max_rank is not None and len(shape) > self.max_rank:
                return f"no rank above {self.max_rank}"
            if math.prod(shape) > self.max_elements:
                return f"no result of more than {self.max_elements} elements"
            if self._missing_size(shape):
                return self._missing_size(shape)
        if self._flushed(case.result.dtype, case.result.values):
            return f"no subnormal {case.result.dtype}"
        return None

    def _flushed(self, dtype: str, values: Iterable[Any]) -> bool:
        return dtype in self.flushed_subnormals and any(_numbers.is_subnormal(dtype, value) for value in values)


class _Lacks(Exception):
    pass


def _has_static_flags(operand: OperandType) -> bool:
    """Whether the flags are true where the length is known to be 1, and nowhere else."""
    lengths = () if isinstance(operand.shape, str) else operand.shape
    flags = operand.broadcastable or (False,) * len(lengths)
    return all(flag == (length.number == 1) for flag, length in zip(flags, lengths))


def _leaves(expression: Expression) -> "set[str]":
    if isinstance(expression, str):
        return {expression}
    return set().union(*(_leaves(argument) for argument in expression[1:]))


def _is_backwards(operand: Operand) -> bool:
    """Whether a stride that is used is negative."""
    return any(stride < 0 and length > 1 for stride, length in zip(operand.strides or (), operand.shape))


def _common(case: Case) -> List[int]:
    """The longest length of each axis, aligned at the right."""
    shapes = [operand.shape[::-1] for operand in case.operands]
    rank = max(map(len, shapes))
    return [max(shape[axis] for shape in shapes if axis < len(shape)) for axis in range(rank)]


def _order(expression: Expression, names: List[str]) -> Optional[int]:
    """The operand whose shape an expression has, if A is on the left of B in each of its calls."""
    if isinstance(expression, str):
        return names.index(expression)
    arguments = [_order(argument, names) for argument in expression[1:]]
    if arguments == [0, 1]:
        return 0
    return arguments[0] if len(set(arguments)) == 1 else None
