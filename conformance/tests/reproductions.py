#!/usr/bin/env python3
"""Runs the reproductions of FINDINGS.md that are in Python, and says which no longer print what stands under them.

    conformance/tests/reproductions.py                 of every system whose adapter is set up
    conformance/tests/reproductions.py NAME [NAME...]  of these systems

Each is run by the interpreter of its system's adapter, in a process and a directory of its own. Exit status: 0 all print
what stands there, 1 some do not, 2 nothing was run.
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

CONFORMANCE = pathlib.Path(__file__).resolve().parent.parent
VENVS = CONFORMANCE / "adapters" / "venvs"
SECONDS = 120


def findings(page):
    """(number, name of the adapter, program, output) of each finding that has a program in Python."""
    for section in re.split(r"\n### ", page)[1:]:
        number = re.search(r"</a>(\d+)\. ", section)[1]
        system = re.split(r"[;(]", re.search(r"^(.*); clause ", section, re.MULTILINE)[1])[0]
        name = system.rstrip(" 0123456789.").lower().replace(" ", "")
        program = re.search(r"```python\n(.*?)```", section, re.DOTALL)
        output = re.search(r"```text\n(.*?)```", section, re.DOTALL)
        if program and output:
            yield number, name, program[1], output[1].strip()


def printed(python, program):
    """What the program prints: its standard output, then how it ended if by an exception or a signal."""
    with tempfile.TemporaryDirectory() as directory:
        command = [python, "-c", program]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=SECONDS)
    parts = [done.stdout.strip()]
    if done.returncode < 0:
        parts.append(f"killed by signal {-done.returncode} ({signal.Signals(-done.returncode).name})")
    elif done.returncode:
        parts.append(done.stderr.strip())
    return "\n".join(part for part in parts if part)


def stands(expected, found):
    """Whether this is what was expected, where a line `…` is for any text."""
    parts = [re.escape(part) for part in re.split(r"^…$", expected, flags=re.MULTILINE)]
    return re.fullmatch(".*".join(parts), found, re.DOTALL) is not None


def main():
    page = (CONFORMANCE / "FINDINGS.md").read_text(encoding="utf-8")
    asked = sys.argv[1:]
    ran = differing = 0
    for number, name, program, expected in findings(page):
        python = VENVS / name / "bin" / "python"
        if (asked and name not in asked) or not python.exists():
            continue
        ran += 1
        found = printed(str(python), program)
        if not stands(expected, found):
            differing += 1
            print(f"finding {number} ({name})\n  printed:\n{found}\n  stands there:\n{expected}\n")
    print(f"{ran} reproductions were run, {differing} of them print something else")
    return 2 if not ran else 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
