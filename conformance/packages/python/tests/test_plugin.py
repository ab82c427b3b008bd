"""The pytest plugin, on adapters that know the answers: what fails, what is known, and what is skipped."""
import pytest

pytest_plugins = ["pytester"]

ADAPTER = """
import warnings
from broadcheck_cases import *

class Oracle:
    name = "oracle"
    rules, operations, functions, dtypes = ["numpy"], ["elementwise", "broadcast", "strided"], FUNCTIONS, ["f64", "bool"]

    def run(self, case):
        warnings.warn("a warning of the library")
        if case.id in self.wrong:
            return Refusal() if case.result else case.operands[0].values
        if case.convention in self.differing:
            if case.result and self.only_values:
                return Result(case.result.dtype, case.result.shape, [-value for value in case.result.values])
            return Refusal() if case.result else Result("f64", (), [0.0])
        return case.result or case.refusal

    only_values = True

    wrong, differing = [], []

class Wrong(Oracle):
    wrong = ["numpy/examples/scalar-with-scalar"]

class Known(Wrong):
    known = {"numpy/examples/scalar-with-*": "a reason"}

class Repaired(Oracle):
    known = {"numpy/examples/scalar-with-scalar": "a reason"}

class Differing(Oracle):
    differing = ["zero-signs"]

class Refusing(Differing):
    only_values = False

class Strict(Differing):
    conventions = "all"

class Nothing(Oracle):
    dtypes = []

class Broken(Oracle):
    def run(self, case):
        return None

class Missing(Oracle):
    known = {"numpy/examples/no-such-case": "a reason"}

class Apart(Oracle):
    operations, unknown = [*Oracle.operations, "into", "infer"], UNKNOWN
    dtypes = ["f64", "f32", "bool"]

    def infer(self, case):
        return case.inferred or case.refusal

class Vague(Apart):
    def infer(self, case):
        return case.inferred and Inference(case.inferred.dtype, "...") or case.refusal

class Vaguely(Vague):
    known = {"numpy/infer/unknown-meets-two": "a reason"}

class Unsound(Apart):
    def infer(self, case):
        return case.inferred and Inference(case.inferred.dtype, case.inferred.shape, "always") or case.refusal

class KnownApart(Oracle):
    known = {"numpy/into/*": "a reason", "numpy/infer/*": "a reason"}
"""


@pytest.fixture
def run(pytester):
    pytester.makepyfile(my_adapters=ADAPTER)
    (pytester.path / "known.json").write_text(
        '{"known": [{"cases": ["numpy/examples/scalar-with-scalar"], "reason": "a reason", "sometimes": true}]}'
    )

    def run(name, *arguments):
        done = pytester.runpytest_subprocess("--broadcheck", f"my_adapters:{name}", "-p", "no:cacheprovider", *arguments)
        return done, done.parseoutcomes()

    return lambda *arguments: without_warnings(*run(*arguments))


def without_warnings(done, counts):
    """The adapter warns, and the number of these warnings depends on the version of pytest."""
    return done, {outcome: count for outcome, count in counts.items() if outcome not in ("warning", "warnings")}


def test_the_right_answers_pass_and_the_rest_is_skipped_with_reasons(run):
    done, counts = run("Oracle", "-rs")
    assert done.ret == 0 and counts["passed"] > 400 and counts["skipped"] > 400 and set(counts) == {"passed", "skipped"}
    done.stdout.fnmatch_lines(["broadcheck: oracle * (my_adapters:Oracle), cases of the suite *", "SKIPPED*oracle: no rule set xla"])


def test_a_wrong_answer_fails_the_test_of_its_case_which_can_be_run_again(run):
    done, counts = run("Wrong", "--broadcheck-filter", "numpy/examples")
    assert done.ret == 1 and counts["failed"] == 1
    done.stdout.fnmatch_lines([
        "request: numpy elementwise of *", "found a refusal, expected f64() *",
        "rerun: pytest --broadcheck my_adapters:Wrong broadcheck::numpy/examples/scalar-with-scalar",
        "FAILED broadcheck::numpy/examples/scalar-with-scalar*",
    ])
    done, counts = run("Wrong", "broadcheck::numpy/examples/scalar-with-scalar")
    assert done.ret == 1 and counts == {"failed": 1}


def test_a_known_failure_is_an_xfail_that_must_fail(run):
    done, counts = run("Known", "--broadcheck-filter", "numpy/examples/scalar-with-scalar")
    assert done.ret == 0 and counts == {"xfailed": 1}
    done, counts = run("Repaired", "--broadcheck-filter", "numpy/examples/scalar-with-scalar")
    assert done.ret == 1 and counts == {"failed": 1}
    done, counts = run("Wrong", "--broadcheck-filter", "numpy/examples/scalar-with-scalar", "--broadcheck-known=known.json")
    assert done.ret == 0 and counts == {"xfailed": 1}
    done, counts = run("Missing")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*known failure 'numpy/examples/no-such-case': found no case with this id*"])


def test_a_convention_differs_unless_it_is_declared(run):
    done, counts = run("Differing", "--broadcheck-filter", "numpy/values")
    assert done.ret == 0 and counts["differs"] > 0 and "failed" not in counts
    done.stdout.fnmatch_lines(["convention zero-signs: agrees in 0, differs in *"])
    for name in ("Strict", "Refusing"):
        # A library without the convention may return other zeros, but it may not refuse.
        done, strict = run(name, "--broadcheck-filter", "numpy/values")
        assert done.ret == 1 and strict["failed"] == counts["differs"]


def test_a_run_that_asks_nothing_fails(run):
    done, counts = run("Nothing", "--broadcheck-filter", "numpy/examples")
    assert done.ret == 1 and set(counts) == {"skipped"}
    done.stdout.fnmatch_lines(["every case was skipped*"])


def test_an_error_of_the_adapter_fails_with_its_traceback(run):
    done, counts = run("Broken", "--broadcheck-filter", "numpy/examples/scalar-with-scalar")
    assert done.ret == 1 and counts == {"failed": 1}
    done.stdout.fnmatch_lines(["*TypeError: found None, expected broadcheck_cases.Result or an array"])


@pytest.mark.parametrize("value, message", [
    ("my_adapters", "*--broadcheck: found 'my_adapters', expected MODULE:NAME*"),
    ("my_adapter:Oracle", "*--broadcheck: my_adapter:Oracle: no module 'my_adapter'*"),
    ("my_adapters:oracle", "*--broadcheck: my_adapters:oracle: no 'oracle' in my_adapters*"),
])
def test_a_wrong_value_of_the_option_is_a_usage_error(pytester, value, message):
    pytester.makepyfile(my_adapters=ADAPTER)
    done = pytester.runpytest_subprocess("--broadcheck", value)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([message])


def test_other_tests_run_beside_the_cases_and_alone_without_the_option(run, pytester):
    pytester.makepyfile(test_other="def test_other(): pass")
    done, counts = run("Oracle", "--broadcheck-filter", "numpy/examples/scalar-with-scalar")
    assert counts == {"passed": 2}
    assert pytester.runpytest_subprocess().parseoutcomes() == {"passed": 1}
    done, counts = run("Oracle", "-m", "broadcheck", "--broadcheck-filter", "numpy/examples/scalar-with-scalar")
    assert counts == {"passed": 1, "deselected": 1}


def test_cases_with_a_destination_and_of_infer_are_for_adapters_that_declare_them(run):
    for name in ("Oracle", "KnownApart"):
        # Neither asked nor skipped.
        counts = [run(name, "--broadcheck-filter", some)[1] for some in ("numpy/{examples,into,infer}/*", "numpy/examples/*")]
        assert counts[0] == counts[1] and counts[0]["passed"] > 3
    done, counts = run("Oracle", "broadcheck::numpy/into/in-place", "-rs")
    assert counts == {"skipped": 1}
    done.stdout.fnmatch_lines(["SKIPPED*oracle: no destinations"])
    done, counts = run("Apart", "--broadcheck-filter", "numpy/in{to,fer*}/*")
    assert done.ret == 0 and counts["passed"] > 250 and set(counts) == {"passed", "skipped"}


def test_answers_that_are_wider_than_exact_are_counted_and_fail_on_request(run):
    some = ["--broadcheck-filter", "numpy/infer/{u,l,t}*"]
    done, counts = run("Vague", *some)
    assert done.ret == 0 and counts["wider"] > 10 and "failed" not in counts
    done.stdout.fnmatch_lines([
        "wider than exact: broadcheck::numpy/infer/*: found f32(...), expected f32(*",
        f"and {counts['wider'] - 10} more: --broadcheck-exact fails them all",
    ])
    done, exact = run("Vague", *some, "--broadcheck-exact")
    assert done.ret == 1 and exact["failed"] == counts["wider"] and "wider" not in exact
    done.stdout.fnmatch_lines(["  a: f32(*", "wider than exact: found f32(...), *", "rerun: *--broadcheck-exact broadcheck::numpy/infer/*"])
    # A right answer is no failure, whether or not it is exact.
    done, counts = run("Vaguely", "broadcheck::numpy/infer/unknown-meets-two")
    assert done.ret == 1 and counts == {"failed": 1}
    done, counts = run("Vaguely", "broadcheck::numpy/infer/unknown-meets-two", "--broadcheck-exact")
    assert done.ret == 0 and counts == {"xfailed": 1}


def test_an_unsound_answer_fails(run):
    done, counts = run("Unsound", "--broadcheck-filter", "numpy/infer/unknown-meets-two")
    assert done.ret == 1 and counts["failed"] == 1
    done.stdout.fnmatch_lines([
        "request: numpy infer of add(a, b)", "  a: f32(?)", "unsound, some runs are refused: found f32(2), always, expected f32(2), depends",
    ])
