"""Known failures: cases that a library is known to fail, each with a reason."""
from __future__ import annotations

import json
import pathlib
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, Mapping, Tuple

from ._cases import glob

_FILE = "a known-failures file: `implementation: NAME` and `known:`, a list of `{case, reason, url}`"


class KnownError(Exception):
    """A list of known failures is not valid: place, finding and expectation."""


@dataclass(frozen=True)
class Known:
    """Known failures with one reason."""

    #: An id, or a glob over ids.
    case: str
    reason: str
    #: The case may pass too.
    sometimes: bool = False
    matches: Callable[[str], bool] = bool


def from_mapping(given: Any, place: str) -> List[Known]:
    """Reads `adapter.known`: reasons by id or glob."""
    if not isinstance(given, Mapping):
        raise KnownError(f"{place}: found {type(given).__name__}, expected a mapping from ids or globs to reasons")
    return [_entry(case, reason, False, f"{place}[{case!r}]") for case, reason in given.items()]


def from_file(path: str, version: str) -> List[Known]:
    """Reads a file as `broadcheck check --known` does: YAML, which needs PyYAML, or the same as JSON.

    It is empty if the file is about other versions of the library.
    """
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        written = json.loads(text) if path.endswith(".json") else _yaml(text)
    except (OSError, ValueError) as error:
        raise KnownError(f"{path}: {error}, expected {_FILE}") from error
    if not isinstance(written, dict) or not isinstance(written.get("known"), list):
        raise KnownError(f"{path}: no list `known`, expected {_FILE}")
    found: List[Known] = []
    for place, entry in enumerate(written["known"]):
        where = f"{path}: known[{place}]"
        if not isinstance(entry, dict):
            raise KnownError(f"{where}: found {entry!r}, expected `{{case, reason, url}}`")
        # What fails only if operands are given in another way, which `broadcheck check --given` asks.
        if "given" in entry:
            continue
        cases = entry.get("cases", [entry.get("case")])
        if not isinstance(cases, list) or not cases:
            raise KnownError(f"{where}.cases: found {cases!r}, expected a list of ids or globs")
        found += (_entry(case, entry.get("reason"), bool(entry.get("sometimes")), where) for case in cases)
    return found if _covers(written.get("versions") or {}, version) else []


def check(entries: Iterable[Known], ids: Iterable[Tuple[str, bool]]) -> None:
    """Checks that each entry describes a defect of a case that exists. `ids` says for each whether a convention decides it."""
    ids = list(ids)
    for entry in entries:
        matched = [conventional for id, conventional in ids if entry.matches(id)]
        if not matched:
            raise KnownError(f"known failure {entry.case!r}: found no case with this id, expected one of this kit")
        if all(matched):
            raise KnownError(
                f"known failure {entry.case!r}: found only cases that test a convention, expected a defect: "
                "leave the convention out of `conventions`, and the entry out of this list"
            )


def _entry(case: Any, reason: Any, sometimes: bool, place: str) -> Known:
    if not isinstance(case, str) or not case:
        raise KnownError(f"{place}: found {case!r}, expected the id of a case, or a glob over ids")
    if not isinstance(reason, str) or not reason.strip():
        raise KnownError(f"{place}: no reason, expected why the library fails {case}")
    try:
        return Known(case, " ".join(reason.split()), sometimes, glob(case))
    except ValueError as error:
        raise KnownError(f"{place}: {error}") from error


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ValueError("PyYAML is not installed (`pip install PyYAML`), and the name does not end in .json") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _covers(versions: Mapping[str, Any], version: str) -> bool:
    lowest, before = versions.get("from"), versions.get("before")
    return not (lowest and _numbers(version) < _numbers(lowest)) and not (before and _numbers(version) >= _numbers(before))


def _numbers(version: Any) -> List[int]:
    """The numbers of a version: 2, 4 and 6 of `2.4.6rc1`."""
    found = []
    for part in str(version).split("."):
        digits = re.match(r"\d+", part)
        if not digits:
            break
        found.append(int(digits[0]))
    return found
