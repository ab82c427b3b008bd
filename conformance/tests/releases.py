#!/usr/bin/env python3
"""Tests how `conformance/adapters/releases.py` lists and tries releases, without a package index: its subprocesses are replaced.

    python3 conformance/tests/releases.py
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ADAPTERS = next(path for path in pathlib.Path(__file__).resolve().parents if (path / "adapters").is_dir()) / "adapters"


def load():
    sys.dont_write_bytecode = True
    specification = importlib.util.spec_from_file_location("releases", ADAPTERS / "releases.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


releases = load()
# What the index has of each package: version, date, whether it is a wheel.
INDEX = {
    "Theano": [("1.0.5", "2020-07-27", False), ("1.0.5rc1", "2020-06-01", False)],
    "Theano-PyMC": [("1.0.5", "2020-09-01", True), ("1.1.2", "2021-01-22", True), ("1.1.2", "2021-01-20", False)],
}


def listed(command, **_):
    lines = [json.dumps(one) for one in INDEX[command[-2]]]
    return subprocess.CompletedProcess(command, 0, "\n".join(lines), "")


class Listing(unittest.TestCase):
    def found(self):
        with tempfile.TemporaryDirectory() as work, mock.patch.object(releases.subprocess, "run", listed), \
                mock.patch.object(releases, "tool", lambda work: "python"), \
                mock.patch.object(releases, "find_python", lambda version: version in ("3.9", "3.8")):
            return releases.find_releases("theano", pathlib.Path(work))

    def test_a_package_that_continues_another_is_listed_with_it(self):
        self.assertEqual(
            [(one["version"], one["package"], one["date"]) for one in self.found()],
            [("1.0.5", "Theano", "2020-07-27"), ("1.1.2", "Theano-PyMC", "2021-01-20")],
        )

    def test_wheels_and_sources_have_the_pythons_of_each(self):
        last = self.found()[-1]
        self.assertEqual((last["wheels"], last["sources"]), (["3.9", "3.8"], ["3.9", "3.8"]))


    def test_a_post_release_comes_before_the_next_release(self):
        versions = ["0.9", "1.0", "1.0.post1", "1.0.1", "1.10"]
        self.assertEqual(sorted(reversed(versions), key=releases.place), versions)
        self.assertEqual(releases.place("1.0.0"), releases.place("1"))


class Installing(unittest.TestCase):
    def test_the_command_of_a_release_names_its_own_environment(self):
        one = {"version": "1.9", "package": "autograd", "date": None, "wheels": ["3.9"], "sources": []}
        with mock.patch.object(releases, "find_releases", lambda name, work: [one]), \
                mock.patch.object(releases, "install", lambda *_: None), mock.patch.object(releases, "frozen", lambda python: ["numpy==2.0"]):
            installed = releases.install_release("autograd", "1.9", pathlib.Path("elsewhere"))
        self.assertEqual((installed["command"][0], installed["beside"]), ("elsewhere/release/bin/python", ["numpy 2.0"]))


class Starting(unittest.TestCase):
    def error(self, started):
        """What is said of an environment in which everything is installed, and the adapter starts so."""
        def run(command, seconds=0, **_):
            is_adapter = command[-1].endswith("_adapter.py")
            return started if is_adapter else subprocess.CompletedProcess(command, 0, "numpy==2.0.2\n")

        release = {"version": "1.10.0", "package": "onnxruntime", "date": "2021-12-07", "wheels": ["3.9"], "sources": []}
        with mock.patch.object(releases, "run", run), mock.patch.object(releases, "find_python", lambda version: "python"):
            return releases.install("onnxruntime", release, "3.9", pathlib.Path("/nowhere"), pathlib.Path("/work"), ["numpy"], None, [])

    def test_an_adapter_that_starts_is_taken(self):
        self.assertIsNone(self.error(subprocess.CompletedProcess([], 0, "")))

    def test_an_adapter_that_fails_is_not(self):
        error = self.error(subprocess.CompletedProcess([], 1, "Traceback\nImportError: no such name\n"))
        self.assertEqual(error, "the adapter does not start on Python 3.9: ImportError: no such name")

    def test_a_release_built_for_another_numpy_is_not(self):
        said = "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.2 as it may crash.\n"
        error = self.error(subprocess.CompletedProcess([], 0, said))
        self.assertEqual(error, "the adapter does not start on Python 3.9: the release was built for NumPy 1")


class WithoutDependencies(unittest.TestCase):
    """PyTorch is installed without what it depends on, which is CUDA, and a program makes stand-ins for that."""

    RELEASE = {"version": "2.4.1", "package": "torch", "date": "2024-09-04", "wheels": ["3.12"], "sources": []}

    def commands(self, answer=lambda command: (0, "")):
        """The commands of the first environment that is tried, and the error. `answer` is the status and the output of each."""
        ran = []

        def run(command, seconds=0, **_):
            ran.append(command)
            installed = (0, "torch==2.4.1\nnumpy==2.1.1\n") if command[-1] == releases.INSTALLED else None
            return subprocess.CompletedProcess(command, *(installed or answer(command)))

        tried = []
        with mock.patch.object(releases, "run", run), mock.patch.object(releases, "find_python", lambda version: "python"), \
                mock.patch.object(releases, "tool", lambda work: "tool"):
            python, beside, until = next(releases.surroundings("torch", self.RELEASE))
            error = releases.install("torch", self.RELEASE, python, pathlib.Path("/nowhere"), pathlib.Path("/work"), beside, until, tried)
        return ran, error, tried

    def test_only_what_the_adapter_names_is_installed_beside_it(self):
        ran, error, _ = self.commands()
        self.assertIsNone(error)
        pip = [command for command in ran if "install" in command]
        release, others = pip[:2]
        self.assertIn("--no-deps", release)
        self.assertEqual(release[-1], "torch==2.4.1")
        self.assertNotIn("--no-deps", others)
        self.assertIn("sympy", others)
        self.assertIn("--uploaded-prior-to", others)
        for command in pip[1:]:
            self.assertEqual([word for word in command if word.startswith("torch")], [], "pip would install what it depends on")

    def test_the_stand_ins_are_made_before_the_adapter_starts(self):
        ran, _, _ = self.commands()
        scripts = [pathlib.Path(word).name for command in ran for word in command if word.endswith(".py")]
        self.assertEqual(scripts, ["torch_stand_ins.py", "torch_adapter.py"])

    def test_a_release_whose_stand_ins_fail_counts_as_tried(self):
        failing = "Traceback\nKeyError: 'libcudart.so.12'\n"
        _, error, tried = self.commands(lambda command: (1, failing) if command[-1].endswith("stand_ins.py") else (0, ""))
        self.assertEqual(error, "torch_stand_ins.py failed on Python 3.12: KeyError: 'libcudart.so.12'")
        self.assertEqual(len(tried), 1)

    def test_nothing_is_downloaded_without_a_compiler(self):
        with mock.patch.object(releases, "find_releases", lambda name, work: [self.RELEASE]), \
                mock.patch.object(releases.setup.shutil, "which", lambda program: None), \
                mock.patch.object(releases, "install", side_effect=AssertionError("something is installed")):
            with self.assertRaises(releases.Failed) as failed:
                releases.install_release("torch", "2.4.1", pathlib.Path("/work"))
        self.assertEqual(str(failed.exception), "found no `cc` on the PATH, which torch needs; expected a C compiler, such as gcc")
        self.assertEqual(failed.exception.status, 2, "the release is not to blame")


if __name__ == "__main__":
    unittest.main()
