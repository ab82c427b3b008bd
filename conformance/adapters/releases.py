#!/usr/bin/env python3
"""Lists the releases of an adapter's system, and installs one of them, for `broadcheck history`.

    releases.py list NAME WORK               print the releases that the package index has, as JSON, the oldest first
    releases.py install NAME VERSION WORK    install one into a virtual environment; print how to start the adapter, as JSON

WORK is a directory for the environments; the caller deletes it. The first call puts a pinned pip there, which can leave out what was
uploaded after a date.

The release gets the newest Python on which it installs together with what was in the index within 30 days of it. If there is none, or the
adapter does not start, the pins of the adapter's requirements are tried, then newer and older NumPy. Only Pythons for which the release
has a wheel are tried; its source is built if there is no wheel for any Python of this machine.

Exit status: 0 done, 1 the release cannot be installed or started (the last line on standard error has the reason), 2 wrong arguments,
3 the package index does not answer.
"""
import datetime
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOOL = "pip==26.3"
# The oldest Python for which that pip installs. Older ones use their own, which knows no dates.
DATED = [3, 10]
PYTHONS = ["3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8"]
# The packages of a system, where it is not called as the adapter; the second continues the first.
PACKAGES = {"paddle": ["paddlepaddle"], "stablehlo": ["jaxlib"], "theano": ["Theano", "Theano-PyMC"], "tvm": ["apache-tvm"],
            "xla": ["jaxlib"]}
# What an adapter imports besides its system and NumPy.
BESIDE = {"jax": ["jaxlib"], "onnxruntime": ["onnx"]}
# Their sources need compilers and much time. Other packages without a wheel are small.
WHEELS = ["llvmlite", "ml_dtypes", "numba", "numpy", "onnx", "pandas", "protobuf", "pydantic_core", "scipy"]
# In how many environments an adapter is tried that does not start, or one of whose programs fails.
MOST_TRIED = 4
# How long an adapter may take to start, in seconds.
START = 180
# NumPy 2 says so of a module that was built for NumPy 1, and lets it read arrays wrongly.
MISFIT = "compiled using NumPy 1.x cannot be run in"
RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*(\.post[0-9]+)?")

# Run by the pinned pip: the files of the index, for one version of Python.
LIST = """
import json, sys
from pip._internal.cli import cmdoptions
from pip._internal.commands import create_command
name, python = sys.argv[1:]
command = create_command("index")
options, _ = command.parse_args(["versions", name, "--python-version", python])
with command._build_session(options) as session:
    finder = command._build_package_finder(options, session, target_python=cmdoptions.make_target_python(options))
    for candidate in finder.find_all_candidates(name):
        link = candidate.link
        if not link.is_yanked:
            uploaded = link.upload_time and link.upload_time.date().isoformat()
            print(json.dumps([str(candidate.version), uploaded, link.is_wheel]))
"""

INSTALLED = """
import importlib.metadata
for one in importlib.metadata.distributions():
    print(one.metadata["Name"] + "==" + one.version)
"""


def load_setup():
    """The script `setup`, which has no suffix."""
    loader = importlib.machinery.SourceFileLoader("adapter_setup", str(HERE / "setup"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("adapter_setup", loader))
    loader.exec_module(module)
    return module


setup = load_setup()


class Failed(Exception):
    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


def run(command, seconds=1800, **options):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, f"it took more than {seconds} s\n")


def find_python(version):
    return next((python for python in setup.interpreters(version) if setup.version_of(python) == version), None)


def tool(work):
    """A Python with the pinned pip."""
    python = work / "tool" / "bin" / "python"
    if python.is_file():
        return str(python)
    base = next(filter(None, map(find_python, PYTHONS)), None)
    if base is None:
        raise Failed("found no Python on the PATH or in pyenv, expected one of " + ", ".join(PYTHONS), 2)
    made = run([base, "-m", "venv", str(work / "tool.new")])
    if made.returncode == 0:
        made = run([str(work / "tool.new" / "bin" / "python"), *setup.PIP, "install", TOOL])
    if made.returncode:
        raise Failed("the package index does not answer, so nothing can be installed:\n" + made.stdout, 3)
    (work / "tool.new").rename(work / "tool")
    return str(python)


def order(version):
    return [int(part) for part in re.findall(r"[0-9]+", version)]


def place(version):
    """What orders releases: 1.0.post1 comes after 1.0, and before 1.0.1."""
    numbers, _, post = version.partition(".post")
    release = order(numbers)
    while release and release[-1] == 0:
        release.pop()
    return release, order(post)


def find_releases(name, work):
    """Every release that can be installed on a Python of this machine: its date, and its Pythons, those with a wheel first."""
    kept = work / f"{name}.json"
    if kept.is_file():
        return json.loads(kept.read_text(encoding="utf-8"))
    if not (HERE / f"requirements-{name}.txt").is_file() or name not in setup.names():
        raise Failed(f"found no adapter in Python called `{name}`, expected one whose system is a Python package", 2)
    packages = PACKAGES.get(name, [name])
    found = {}
    for package in packages:
        for python in filter(find_python, PYTHONS):
            add_releases(found, package, python, work)
    if not found:
        raise Failed(f"the package index has no release of {' or '.join(packages)}", 3)
    releases = sorted(found.values(), key=lambda release: place(release["version"]))
    kept.write_text(json.dumps(releases), encoding="utf-8")
    return releases


def add_releases(found, package, python, work):
    """Adds what the index has of a package for this Python. The package that has a version first keeps it."""
    listed = subprocess.run([tool(work), "-c", LIST, package, python], capture_output=True, text=True)
    if listed.returncode:
        raise Failed(f"the package index does not list {package}:\n{listed.stderr}", 3)
    for version, uploaded, is_wheel in map(json.loads, listed.stdout.splitlines()):
        if not RELEASE.fullmatch(version):
            continue
        new = {"version": version, "package": package, "date": uploaded, "wheels": [], "sources": []}
        release = found.setdefault(version, new)
        if release["package"] != package:
            continue
        release["date"] = min(filter(None, [release["date"], uploaded]), default=None)
        pythons = release["wheels" if is_wheel else "sources"]
        if python not in pythons:
            pythons.append(python)


def pins(name):
    """The requirements of the adapter: each name with its whole line."""
    lines = (HERE / f"requirements-{name}.txt").read_text(encoding="utf-8").splitlines()
    return {normal(line.split("==")[0]): line for line in lines if "==" in line}


def normal(name):
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def surroundings(name, release):
    """What is tried: a Python, requirements for pip beside the release, and a date or None. Where no version is named, first the date
    decides."""
    pythons = release["wheels"] or release["sources"]
    without = "--no-deps" in setup.notes(name, "pip")
    packages = set(map(normal, PACKAGES.get(name, [name])))
    others = [line for other, line in pins(name).items() if other not in packages]
    beside = [line.split("==")[0] for line in others] if without else ["numpy", *BESIDE.get(name, [])]
    # ml_dtypes is installed where there is one for the NumPy.
    beside = [other for other in beside if normal(other) not in {*packages, "ml-dtypes"}]
    if release["date"]:
        until = datetime.date.fromisoformat(release["date"]) + datetime.timedelta(days=30)
        yield from ((python, beside, until.isoformat()) for python in pythons if order(python) >= DATED)
    yield from ((python, others, None) for python in pythons if python in setup.notes(name, "python"))
    for bound in ("", "<2", "<1.24") if "numpy" in beside else ("",):
        bounded = [other + bound if other == "numpy" else other for other in beside]
        yield from ((python, bounded, None) for python in pythons)


def install(name, release, python, venv, work, beside, until, tried):
    """Installs the release with what is beside it, unless the same was tried. Returns an error or None."""
    if venv.exists():
        shutil.rmtree(venv)
    # The pinned pip installs into it from outside.
    bare = ["--without-pip"] if order(python) >= DATED else []
    made = run([find_python(python), "-m", "venv", *bare, str(venv)])
    if made.returncode:
        return f"Python {python} failed to create a virtual environment: " + reason(made.stdout)
    inside = str(venv / "bin" / "python")
    pip = [tool(work), *setup.PIP, "--python", inside] if order(python) >= DATED else [inside, *setup.PIP]
    # Most modules are never imported. Those that are, are compiled at the first import.
    pip, dated = [*pip, "install", "--no-compile"], ["--uploaded-prior-to", f"{until}T00:00:00Z"] if until else []
    package = release["package"]
    binary = ",".join([*WHEELS, package] if release["wheels"] else WHEELS)
    options = ["--only-binary", binary, *dated]
    wanted = f"{package}=={release['version']}"
    without = "--no-deps" in setup.notes(name, "pip")
    steps = [["--no-deps", *options, wanted], [*options, *beside]] if without else [[*options, wanted, *beside]]
    for step in steps:
        installed = run([*pip, *step])
        if installed.returncode:
            return reason(installed.stdout)
    # bfloat16, if there is one that leaves the rest as it is. The adapter does without it otherwise.
    if "ml-dtypes" in pins(name):
        # Where the release is named again, pip installs what it depends on.
        kept = [line for line in frozen(inside) if not (without and normal(line.split("==")[0]) == normal(package))]
        run([*pip, "--only-binary", ":all:", *dated, "ml_dtypes", *kept])
    packages = [python, *frozen(inside)]
    if packages in tried:
        return f"the adapter does not start on Python {python}"
    tried.append(packages)
    for program in setup.notes(name, "then"):
        done = run([inside, str(HERE / program)])
        if done.returncode:
            return f"{program} failed on Python {python}: " + reason(done.stdout)
    # What is imported is compiled now, so that the adapter answers in time later.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = run(starting(name, venv), START, stdin=subprocess.DEVNULL, env=environment)
    if started.returncode == 0 and MISFIT in started.stdout:
        return f"the adapter does not start on Python {python}: the release was built for NumPy 1"
    return None if started.returncode == 0 else f"the adapter does not start on Python {python}: " + reason(started.stdout)


def starting(name, venv):
    """How the adapter is started. What Python compiles goes into the environment, not beside the adapters."""
    return [str(venv / "bin" / "python"), "-X", f"pycache_prefix={venv / 'compiled'}", str(HERE / f"{name}_adapter.py")]


def frozen(python):
    """The packages of an environment, as requirements."""
    listed = run([python, "-c", INSTALLED])
    return [line for line in listed.stdout.split() if line.split("==")[0] not in ("pip", "setuptools", "wheel")]


def reason(text):
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("[notice]", "WARNING"))]
    errors = [line for line in lines if line.startswith("ERROR: ") or re.match(r"\w+(Error|Exception)\b", line)]
    return (errors or lines or ["no message"])[-1].removeprefix("ERROR: ")


def install_release(name, version, work):
    release = next((one for one in find_releases(name, work) if one["version"] == version), None)
    if release is None:
        raise Failed(f"the package index has no {name} {version} for a Python of this machine")
    try:
        setup.need_compilers(name)
    except setup.Failed as failed:
        # It says nothing about the release.
        raise Failed(str(failed), 2) from None
    venv, first, start, tried = work / "release", None, None, []
    for python, beside, until in surroundings(name, release):
        count = len(tried)
        error = install(name, release, python, venv, work, beside, until, tried)
        if error is None:
            inside = str(venv / "bin" / "python")
            others = [line for line in frozen(inside) if normal(line.split("==")[0]) != normal(release["package"])]
            return {"command": starting(name, venv), "python": python, "beside": [line.replace("==", " ") for line in others]}
        first = first or error
        # Why the adapter does not start says more than why some Python has no packages.
        start = start or (error if len(tried) > count else None)
        if len(tried) == MOST_TRIED:
            break
    index = setup.index_answers(tool(work))
    raise Failed(start or first or "it has no file for a Python of this machine", 1 if index else 3)


def main():
    try:
        if len(sys.argv) == 4 and sys.argv[1] == "list":
            fields = ("version", "date")
            print(json.dumps([{field: one[field] for field in fields} for one in find_releases(sys.argv[2], pathlib.Path(sys.argv[3]))]))
        elif len(sys.argv) == 5 and sys.argv[1] == "install":
            print(json.dumps(install_release(sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]))))
        else:
            raise Failed(__doc__, 2)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return failed.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
