"""Shared by the scripts that build the packages, install the built files and use them."""
import pathlib
import re
import subprocess
import sys
import time

CONFORMANCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = CONFORMANCE / "packages"


def run(what, wanted, *command, **options):
    """Runs a command, which must end with this exit status. Returns its output."""
    began = time.monotonic()
    command = [str(part) for part in command]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != wanted:
        sys.exit(f"FAILED  {what}: {' '.join(command)}: exit status {done.returncode}, expected {wanted}\n{done.stdout[-6000:]}")
    print(f"ok    {what} ({time.monotonic() - began:.1f} s)", flush=True)
    return done.stdout


def expect(what, text, *patterns):
    """Each of these regular expressions must match."""
    for pattern in patterns:
        if not re.search(pattern, text, re.MULTILINE):
            sys.exit(f"FAILED  {what}: expected `{pattern}` in\n{text[-6000:]}")


def left_out(why):
    print(f"!! LEFT OUT: {why}")


def files_of(page):
    """The files in a Markdown page, by name: each is a code block after `<!-- file: NAME -->`."""
    return dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", page.read_text(encoding="utf-8"), re.DOTALL))


def index_answers(directory):
    """Whether the Python package index can be reached."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(directory), "six"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def requirements(name):
    """The pinned versions of an adapter's requirements."""
    lines = (CONFORMANCE / f"adapters/requirements-{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
