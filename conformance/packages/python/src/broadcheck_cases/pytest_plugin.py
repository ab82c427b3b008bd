"""The pytest plugin: `pytest --broadcheck my_module:adapter` runs one test per case.

A case that the adapter does not declare is skipped, with the reason. A known failure is an `xfail` that must fail. A case
of a convention that the adapter does not declare passes or `differs`, which is no failure. An inferred shape that is right
but says less than is known is `wider`, which is a failure with --broadcheck-exact.
"""
from __future__ import annotations

import shlex
import sys
from typing import Any, Dict, Iterator, List, Optional

import pytest

PREFIX = "broadcheck::"
# So many answers that are wider than exact are listed.
LISTED = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("broadcheck", "broadcasting cases (broadcheck-cases)")
    group.addoption(
        "--broadcheck", metavar="MODULE:NAME",
        help="run the broadcasting cases against this adapter: one test per case, `broadcheck::ID`",
    )
    group.addoption(
        "--broadcheck-filter", metavar="GLOB", action="append", default=[],
        help="run only cases with this id, beginning of an id, or glob; may be repeated",
    )
    group.addoption(
        "--broadcheck-known", metavar="FILE", action="append", default=[],
        help="known failures, in the format of `broadcheck check --known`: YAML (needs PyYAML) or JSON; may be repeated",
    )
    group.addoption("--broadcheck-sweeps", action="store_true", help="run the patterns too, about 4,000 cases")
    group.addoption("--broadcheck-exact", action="store_true", help="fail the inferred shapes that are wider than exact")
    group.addoption("--broadcheck-kit", metavar="DIR", help="cases to use instead of those of the package: a directory that `broadcheck export` wrote")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "broadcheck: a test of a broadcasting case (see --broadcheck)")
    spec = config.getoption("--broadcheck")
    if spec:
        config.pluginmanager.register(Run(config, spec), "broadcheck-run")


class Run:
    """The hooks of a run with an adapter."""

    def __init__(self, config: pytest.Config, spec: str) -> None:
        from . import Adapter, AdapterError
        from ._known import KnownError, from_file, from_mapping

        # `pytest`, unlike `python -m pytest`, leaves the current directory out of the path.
        here = str(config.invocation_params.dir)
        if here not in sys.path:
            sys.path.insert(0, here)
        try:
            self.adapter = Adapter.load(spec)
            self.known = from_mapping(getattr(self.adapter.given, "known", {}), f"{spec}.known")
            for path in config.getoption("--broadcheck-known"):
                self.known += from_file(path, self.adapter.version)
        except (AdapterError, KnownError) as error:
            raise pytest.UsageError(f"--broadcheck: {error}") from error
        self.config = config
        self.spec = spec
        self.collected = 0

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Iterator[None]:
        """Takes the ids of cases out of the arguments, which pytest would look for among the files."""
        given = self.config.args
        ids = [arg[len(PREFIX):] for arg in given if arg.startswith(PREFIX)]
        self.names = set(ids)
        self.config.args = [arg for arg in given if not arg.startswith(PREFIX)]
        yield
        self.config.args = given

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: List[pytest.Item]) -> None:
        if "::" in "".join(self.config.args) and not self.names:
            return  # The user asked for tests of a file.
        collector = Cases.from_parent(session, nodeid="broadcheck", name="broadcheck", run=self, cases=self.cases())
        added = list(session.genitems(collector))
        self.collected = len(added)
        items.extend(added)

    def cases(self) -> List[Any]:
        """The selected cases, each in a dtype of the adapter if there is one."""
        from . import Kit
        from ._cases import glob
        from ._infer import all_inference_cases
        from ._judge import VALUE_CONVENTIONS
        from ._known import KnownError, check

        kit = Kit(self.config.getoption("--broadcheck-kit"))
        sweeps = self.config.getoption("--broadcheck-sweeps")
        try:
            # A known failure may be one of a pattern.
            everything: List[Any] = [*kit.cases(sweeps=sweeps or bool(self.known), into=True), *all_inference_cases(kit)]
            decided = [(c.id, c.convention is not None and c.convention not in VALUE_CONVENTIONS) for c in everything]
            check(self.known, decided + [(name, False) for name in kit.manifest().get("sweeps_by_name", {})])
            globs = [glob(text, prefix=True) for text in self.config.getoption("--broadcheck-filter")]
        except (KnownError, ValueError) as error:
            raise pytest.UsageError(f"--broadcheck: {error}") from error
        chosen = []
        for case in everything:
            if case.file.startswith("json/sweeps/") and not sweeps:
                continue
            if globs and not any(matches(case.id) for matches in globs):
                continue
            if not self.adapter.declares(case) and case.id not in self.names:
                continue
            case = kit.in_dtypes(case, self.adapter.dtypes) or case
            if not self.names or {case.id, case.name} & self.names:
                chosen.append(case)
        if self.names and not chosen:
            names = " ".join(sorted(PREFIX + name for name in self.names))
            raise pytest.UsageError(f"found no case {names}, expected the id of a case")
        return chosen

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        outcome = yield
        if not isinstance(item, CaseItem):
            return
        report = outcome.get_result()  # type: ignore[attr-defined]
        if call.excinfo is not None and call.excinfo.errisinstance(Differs):
            report.outcome = "skipped"
            report.wasxfail = f"differs from the convention {item.case.convention}"
            report.broadcheck_differs = True
        if item.conventional and report.when == "call":
            report.broadcheck_convention = item.case.convention
        if item.wider and report.when == "call":
            report.broadcheck_wider = item.wider

    def pytest_report_teststatus(self, report: Any) -> Any:
        if getattr(report, "broadcheck_differs", False):
            return "differs", "d", ("DIFFERS", {"yellow": True})
        return ("wider", "w", ("WIDER", {"green": True})) if is_wider(report) else None

    def pytest_report_header(self) -> str:
        from . import Kit

        version = Kit(self.config.getoption("--broadcheck-kit")).manifest()["version"]
        return f"broadcheck: {self.adapter.name} {self.adapter.version} ({self.spec}), cases of the suite {version}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        reports = reports_of(terminalreporter)
        conventions: Dict[str, List[int]] = {}
        for report in reports:
            name = getattr(report, "broadcheck_convention", None)
            if name is not None:
                counts = conventions.setdefault(name, [0, 0])
                counts[bool(getattr(report, "broadcheck_differs", False))] += 1
        wider = [report for report in reports if is_wider(report)]
        if not conventions and not wider and not nothing_asked(reports):
            return
        terminalreporter.section("broadcheck")
        whole = not self.names and not self.config.getoption("--broadcheck-filter")
        if nothing_asked(reports):
            terminalreporter.line("every case was skipped: -rs shows why, and the run fails", red=True)
        for name, (agrees, differs) in sorted(conventions.items()):
            hint = "" if differs or not whole else ": declare it, so that a change is a failure"
            terminalreporter.line(f"convention {name}: agrees in {agrees}, differs in {differs}{hint}")
        for report in wider[:LISTED]:
            terminalreporter.line(f"wider than exact: {report.nodeid}: {report.broadcheck_wider}")
        if len(wider) > LISTED:
            terminalreporter.line(f"and {len(wider) - LISTED} more: --broadcheck-exact fails them all")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or session.exitstatus != 0:
            return
        reports = reports_of(reporter)
        if nothing_asked(reports):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def reports_of(reporter: Any) -> List[Any]:
    """The reports of the cases; the terminal reporter has warnings and other tests too."""
    reports = [report for some in reporter.stats.values() for report in some]
    return [report for report in reports if isinstance(report, pytest.TestReport) and report.nodeid.startswith(PREFIX)]


def is_wider(report: Any) -> bool:
    """Whether the answer is right but wider than exact. A known failure that may pass is counted as such."""
    return bool(getattr(report, "broadcheck_wider", "")) and report.passed and not hasattr(report, "wasxfail")


def nothing_asked(reports: List[Any]) -> bool:
    """Whether cases were run, and all of them skipped."""
    asked = [report for report in reports if not report.skipped or hasattr(report, "wasxfail")]
    return bool(reports) and not [report for report in asked if report.when == "call" or report.failed]


class Cases(pytest.Collector):
    """Collects the cases."""

    def __init__(self, *, run: Run, cases: List[Any], **options: Any) -> None:
        super().__init__(**options)
        self.run = run
        self.cases = cases
        module = sys.modules.get(run.spec.partition(":")[0])
        file = getattr(module, "__file__", None)
        # Reports name the adapter's file as the place of a test.
        self.place = file or str(run.config.rootpath)

    def collect(self) -> List[pytest.Item]:
        return [self.item(case) for case in self.cases]

    def item(self, case: Any) -> pytest.Item:
        item = CaseItem.from_parent(self, name=case.name, case=case, run=self.run)
        item.add_marker("broadcheck")
        missing = self.run.adapter.missing(case)
        known = next((entry for entry in self.run.known if entry.matches(case.id)), None)
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"{self.run.adapter.name}: {missing}"))
        elif known:
            item.add_marker(pytest.mark.xfail(reason=known.reason, strict=not known.sometimes))
        return item


class CaseItem(pytest.Item):
    """The test of a case."""

    def __init__(self, *, case: Any, run: Run, **options: Any) -> None:
        super().__init__(**options)
        self.case = case
        self.run = run
        #: Whether the case tests a convention that the adapter does not declare.
        self.conventional = case.convention is not None and case.convention not in run.adapter.conventions
        #: How the answer is wider than exact.
        self.wider = ""

    def runtest(self) -> None:
        from . import Skipped
        from ._judge import excused, judge_convention

        try:
            answer = self.run.adapter.answer(self.case)
        except Skipped as skipped:
            pytest.skip(f"{self.run.adapter.name}: {skipped}")
        verdict = judge_convention(self.case, answer)
        if not verdict:
            differs = self.conventional and excused(self.case, answer, verdict)
            raise (Differs if differs else Wrong)(verdict.reason)
        if verdict.wider and self.config.getoption("--broadcheck-exact"):
            raise Wrong(f"wider than exact: {verdict.reason}")
        self.wider = verdict.reason if verdict.wider else ""

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if not isinstance(excinfo.value, Wrong):
            return super().repr_failure(excinfo, style)
        return "\n".join([*described(self.case), str(excinfo.value), "", self.again()])

    def again(self) -> str:
        options: List[str] = []
        for file in self.config.getoption("--broadcheck-known"):
            options.append(f"--broadcheck-known={file}")
        if self.config.getoption("--broadcheck-kit"):
            options.append(f"--broadcheck-kit={self.config.getoption('--broadcheck-kit')}")
        options += ["--broadcheck-sweeps"] * bool(self.case.file.startswith("json/sweeps/"))
        options += ["--broadcheck-exact"] * bool(self.config.getoption("--broadcheck-exact"))
        command = ["pytest", "--broadcheck", self.run.spec, *options, PREFIX + self.case.name]
        return "rerun: " + " ".join(map(shlex.quote, command))

    def reportinfo(self) -> Any:
        # Skipped tests with one reason and this place are counted together.
        return self.parent.place, 0, self.name  # type: ignore[union-attr]


class Wrong(Exception):
    """The answer to a case is wrong."""


class Differs(Exception):
    """The answer differs from a convention that the adapter does not declare."""


def described(case: Any) -> List[str]:
    """A case for people: what it says, and what it asks."""
    from ._infer import shown

    lines = [case.title, f"clause {case.clause}" + (f", since {case.since}" if case.since else ""), ""]
    lines.append(f"request: {case.rules} {case.operation}" + ("" if case.expression is None else f" of {written(case.expression)}"))
    for field in ("wrt", "cotangent", "into", "target_shape", "axis", "broadcast_dimensions"):
        value: Optional[Any] = getattr(case, field, None)
        if value is not None:
            partial = field == "target_shape" and case.operation == "infer"
            lines.append(f"  {field}: {shown(value) if partial else value}")
    return lines + [f"  {operand_of(operand)}" for operand in case.operands]


def operand_of(operand: Any) -> str:
    from ._infer import shown

    flags = "" if operand.broadcastable is None else f" broadcastable {operand.broadcastable}"
    told = f"{operand.name}: {operand.dtype}{shown(operand.shape)}"
    if not hasattr(operand, "values"):
        return told + flags
    values = " ".join(map(repr, operand.values[:12])) + (" ..." if len(operand.values) > 12 else "")
    view = f" strides ({','.join(map(str, operand.strides))}) offset {operand.offset}" if operand.is_view else ""
    shared = "" if operand.of is None else f" of {operand.of}"
    return f"{told}{view}{shared}{flags} [{values}]"


def written(expression: Any) -> str:
    if isinstance(expression, str):
        return expression
    return f"{expression[0]}({', '.join(map(written, expression[1:]))})"
