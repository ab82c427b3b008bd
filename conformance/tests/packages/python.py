"""Builds the Python package, installs the built wheel into a clean environment, and uses it.

    python3 python.py BROADCHECK

BROADCHECK is the command that exports the cases. The package's own tests run; NumPy must pass with the adapters in the
package's README and its known failures, ONNX likewise with the shapes that it infers, autograd with its gradients, and NumPy
and ONNX with planted bugs must fail in the cases about them. It is left out if the Python package index does not answer.
Exit status: 0 everything passed or was left out, 1 something failed, 2 invalid command line.
"""
import pathlib
import re
import sys
import tarfile
import tempfile
import venv
import zipfile

from common import CONFORMANCE, PACKAGES, expect, files_of, index_answers, left_out, requirements, run

AUTOGRAD = """
import autograd
import autograd.numpy as anp
from broadcheck_cases import FUNCTIONS, Refused, evaluate
from importlib.metadata import version

NAMES = {"negate": "negative", "select": "where"}
CALLS = {name: getattr(anp, NAMES.get(name, name)) for name in FUNCTIONS}


class adapter:
    name, version = "autograd", version("autograd")
    rules, operations, functions = ["numpy"], ["gradient", "strided"], FUNCTIONS
    dtypes = ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"]
    max_rank, unused_operands, large_sizes = 64, False, False

    def run(self, case):
        arrays = {operand.name: operand.numpy() for operand in case.operands}
        total = lambda w: anp.sum(evaluate(case.expression, {**arrays, case.wrt: w}, CALLS))
        try:
            with anp.errstate(all="ignore"):
                return autograd.grad(total)(arrays[case.wrt])
        except (ValueError, TypeError, NotImplementedError) as error:
            raise Refused(str(error)) from error
"""

BROKEN = """
import numpy as np
import numpy_adapter
import numpy_in_place
import onnx_adapter
from broadcheck_cases import Inference, Refused, evaluate


class Lengths(numpy_adapter.NumPy):
    def run(self, case):
        return np.atleast_1d(super().run(case))  # A scalar becomes an array of one element.


class Views(numpy_adapter.NumPy):
    def run(self, case):
        for operand in case.operands:
            object.__setattr__(operand, "offset", 0)  # The first element of a view is that of its buffer.
        return super().run(case)


class Values(numpy_adapter.NumPy):
    def run(self, case):
        saved, np.maximum = np.maximum, np.fmax  # NaN is dropped.
        try:
            return super().run(case)
        finally:
            np.maximum = saved


class Loop(numpy_in_place.InPlace):
    def write(self, expression, arrays, destination):
        super().write(expression, arrays, destination.copy())  # It checks shapes, and writes nothing.
        arrays = {name: np.broadcast_to(array, destination.shape) for name, array in arrays.items()}
        for index in np.ndindex(destination.shape):  # It reads what it has written.
            destination[index] = evaluate(expression, {name: array[index] for name, array in arrays.items()}, numpy_in_place.CALLS)


class Dense(numpy_in_place.InPlace):
    def write(self, expression, arrays, destination):
        super().write(expression, arrays, destination)
        if destination.strides == (2 * destination.itemsize,):  # The gap after the first element is written, too.
            np.lib.stride_tricks.as_strided(destination, (2,), (destination.itemsize,))[1] = destination[0]


class Always(onnx_adapter.Onnx):
    def infer(self, case):
        found = super().infer(case)
        return Inference(found.dtype, found.shape, "always")


class Ones(onnx_adapter.Onnx):
    def infer(self, case):
        found = super().infer(case)
        shape = found.shape if found.shape == "..." else [1 if length.number is None else length for length in found.shape]
        return Inference(found.dtype, shape)  # An unknown length is taken for a 1.


class Strict(onnx_adapter.Onnx):
    def infer(self, case):
        if len({operand.shape for operand in case.operands}) > 1:
            raise Refused("the shapes differ")
        return super().infer(case)


class Vague(onnx_adapter.Onnx):
    def infer(self, case):
        found = super().infer(case)
        return found if case.is_known else Inference(found.dtype, "...")
"""
# Each bug, the cases that are run, an id in which it must be found, and what must be said.
BUGS = {
    "Lengths": ("numpy/examples", "numpy/examples/scalar-with-scalar", "shape: "),
    "Views": ("numpy/views", r"numpy/views/\S+", "element "),
    "Values": ("numpy/values", r"numpy/values/\S*(maximum|nan)\S*", "element "),
    "Loop": ("numpy/into", "numpy/into/shifted-right", r"element \(2\): found 6\.0, expected 5\.0"),
    "Dense": ("numpy/into", "numpy/into/every-second", r"buffer at 2: found -2\.0, expected 3\.0, as before: it is outside of the destination"),
    "Always": ("numpy/infer/", "numpy/infer/unknown-meets-two", r"unsound, some runs are refused: found f32\(2\), always, expected f32\(2\), depends"),
    "Ones": ("numpy/infer/", "numpy/infer/unknown-meets-one", "unsound, the shape leaves out what a run may give: "),
    "Strict": ("numpy/infer/", "numpy/infer/unknown-meets-two", r"unsound: found a refusal, expected f32\(2\), depends"),
}


def counts(output):
    """The last line of pytest: counts, and seconds."""
    return output.strip().splitlines()[-1].strip("= ")


def install(directory, wheel):
    """A clean environment with the wheel, pytest and the systems."""
    environment = directory / "environment"
    venv.create(environment, with_pip=True)
    pip = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run("the wheel installs without dependencies", 0, *pip, "--no-index", wheel)
    pins = dict.fromkeys(requirements("numpy") + requirements("autograd") + requirements("onnx"))
    run("NumPy, autograd, ONNX and pytest install", 0, *pip, "pytest", "PyYAML", *pins)
    return environment / "bin"


def contents(wheel, sdist):
    """Checks and prints what is in the built files."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        kit = [name for name in names if name.startswith("broadcheck_cases/kit/")]
        print(f"ok    {wheel.name}: {wheel.stat().st_size} bytes, {len(names)} files, {len(kit)} of the kit")
        unwanted = [name for name in names if not name.startswith("broadcheck_cases") or name.endswith((".yaml", ".pyc"))]
        wanted = {"broadcheck_cases/py.typed", "broadcheck_cases/kit/manifest.json", "broadcheck_cases/retyped/f32.json"}
        if unwanted or not wanted <= set(names):
            sys.exit(f"FAILED  the wheel has {unwanted}, and lacks {wanted - set(names)}")
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
        print(f"ok    {sdist.name}: {sdist.stat().st_size} bytes, {len(names)} files")
        lacking = {"tests/test_judge.py", "pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"} - set(names)
        if lacking:
            sys.exit(f"FAILED  the source distribution lacks {lacking}")
        archive.extractall(sdist.parent, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(sdist.parent)
    return next(path for path in sdist.parent.glob("*/tests"))


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as made:
        directory = pathlib.Path(made)
        if not index_answers(directory):
            left_out("the Python package index does not answer, so the Python package was not built")
            return 0
        build = [PACKAGES / "build", "python", "--broadcheck", sys.argv[1], "--out", directory / "built"]
        run("the wheel and the source distribution build", 0, sys.executable, *build)
        wheel, = (directory / "built/python").glob("*.whl")
        sdist, = (directory / "built/python").glob("*.tar.gz")
        tests = contents(wheel, sdist)
        tools = install(directory, wheel)
        said = run("the package's own tests pass", 0, tools / "pytest", "-q", "-p", "no:cacheprovider", cwd=tests)
        print(f"ok    {counts(said)}")

        work = directory / "work"
        work.mkdir()
        for name, text in {**files_of(PACKAGES / "python/README.md"), "autograd_adapter.py": AUTOGRAD, "broken.py": BROKEN}.items():
            (work / name).write_text(text, encoding="utf-8")

        def judge(what, wanted, adapter, *arguments):
            said = run(what, wanted, tools / "pytest", "--broadcheck", adapter, *arguments, cwd=work)
            print(f"ok    {counts(said)}")
            return said

        known = [f"--broadcheck-known={CONFORMANCE}/known/{name}.yaml" for name in ("numpy", "autograd", "onnx")]
        said = judge("NumPy passes with its known failures", 0, "numpy_adapter:adapter", known[0])
        passed = re.search(r"(\d+) passed", said)
        if not passed or int(passed[1]) < 700 or "1 xfailed" not in said:
            sys.exit(f"FAILED  expected 700 passed tests or more and one known failure\n{said[-3000:]}")
        said = judge("NumPy passes with out= and +=", 0, "numpy_in_place:adapter", known[0], "--broadcheck-filter", "numpy/into/")
        expect("destinations", said, r"^convention separate-dtypes: agrees in \d+", r"\b9\d passed\b")
        said = judge("ONNX passes with what it infers", 0, "onnx_adapter:adapter", known[2], "--broadcheck-filter", "*infer*")
        expect("infer", said, r"\b[5-9]\d passed\b")
        some = ["broken:Vague", "--broadcheck-filter", "numpy/infer/"]
        said = judge("inferred shapes that are wider than exact pass", 0, *some)
        expect("wider", said, r"^wider than exact: broadcheck::numpy/infer/\S+: found f32\(\.\.\.\), expected f32\(", r"\b[1-9]\d wider\b")
        said = judge("and fail with --broadcheck-exact", 1, *some, "--broadcheck-exact")
        expect("--broadcheck-exact", said, r"^FAILED broadcheck::numpy/infer/", r"^wider than exact: found f32\(\.\.\.\)")
        judge("autograd passes with its known failures", 0, "autograd_adapter:adapter", known[1], "--broadcheck-filter", "*gradient*")
        for name, (some, id, why) in BUGS.items():
            said = judge(f"the bug `{name}` fails", 1, f"broken:{name}", "--broadcheck-filter", some)
            expect(f"the bug `{name}`", said, rf"^FAILED broadcheck::{id}\b", rf"^({why})", r"^rerun: pytest --broadcheck broken:")
    return 0


if __name__ == "__main__":
    sys.exit(main())
