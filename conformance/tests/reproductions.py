#!/usr/bin/env python3
"""Runs the reproductions of the findings, and reports which no longer print the output recorded there.

    reproductions.py                 for every system whose adapter is set up
    reproductions.py NAME [NAME...]  for these systems

Each reproduction (conformance/findings/NNNN-*.md) runs in a separate process: in Python with the interpreter of its system's
adapter, in a directory of its own; in JavaScript with node, in the directory of its system's adapter; in C++ and Rust it is
compiled in a directory of its own, with g++, or with rustc and the crates that the adapter was built with. A finding that says "Only on processors with AVX-512" is left out on others. Exit status:
0 all outputs match, 1 some differ, 2 nothing was run.
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

# The directory `conformance`, wherever in it this script is.
CONFORMANCE = next(path for path in pathlib.Path(__file__).resolve().parents if (path / "findings").is_dir())
VENVS = CONFORMANCE / "adapters" / "venvs"
PACKAGES = CONFORMANCE / "adapters" / "javascript"
BUILT = CONFORMANCE / "adapters" / "rust" / "target"
# The crate of a system's interface.
CRATES = {"candle": "candle_core", "tract": "tract_core", "burn": "burn_tensor", "burn-ndarray": "burn_tensor"}
SECONDS = 120
# With these options, an interpreter takes a program as the next argument.
OPTIONS = {"python": ["-c"], "javascript": ["--input-type=module", "-e"]}
# What a finding says if its answers are those of other instructions.
AVX512 = "Only on processors with AVX-512"


def has_avx512():
    flags = pathlib.Path("/proc/cpuinfo")
    return flags.exists() and "avx512f" in flags.read_text(encoding="utf-8").split()


def findings():
    """(file, name of the adapter, language, program, output) of each finding with a program in one of these languages."""
    for path in sorted((CONFORMANCE / "findings").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        name = re.search(r"^adapter: (\S+)$", text, re.MULTILINE)[1]
        if AVX512 in text and not has_avx512():
            print(f"findings/{path.name} is left out: it needs AVX-512")
            continue
        program = re.search(r"```(python|javascript|cpp|rust)\n(.*?)```", text, re.DOTALL)
        output = re.search(r"```text\n(.*?)```", text, re.DOTALL)
        if program and output:
            yield path.name, name, program[1], program[2], output[1].strip()


def interpreter(name, language):
    """The interpreter of the adapter's environment; node if its packages are installed; a compiler if the environment has what was
    compiled; None if it is not set up."""
    if language == "javascript":
        return shutil.which("node") if (PACKAGES / name / "node_modules" / "installed.txt").is_file() else None
    if language == "rust":
        return shutil.which("rustc") if (BUILT / name / "release" / name).exists() else None
    python = VENVS / name / "bin" / "python"
    if language == "cpp":
        return shutil.which("g++") if python.exists() else None
    return str(python) if python.exists() else None


def command_of(name, language, program, directory):
    """The command that runs the program; in C++ and Rust one that compiles it in this directory before."""
    if language not in ("cpp", "rust"):
        return [interpreter(name, language), *OPTIONS[language], program]
    source = pathlib.Path(directory) / {"cpp": "program.cpp", "rust": "program.rs"}[language]
    source.write_text(program, encoding="utf-8")
    compiler = ["g++", "-std=c++17"] if language == "cpp" else rustc(name)
    return ["sh", "-c", f"{shlex.join([*compiler, source.name, '-o', 'program'])} && exec ./program"]


def rustc(name):
    """The compiler with the crates that an adapter was built with."""
    crates = BUILT / name / "release" / "deps"
    library = max(crates.glob(f"lib{CRATES[name]}-*.rlib"), key=lambda path: path.stat().st_mtime)
    return ["rustc", "--edition", "2024", "-C", "debuginfo=0", "-A", "warnings", "--extern", f"{CRATES[name]}={library}",
            "-L", f"dependency={crates}"]


def printed(name, language, program):
    """What the program prints: its standard output, then how it ended if by an exception or a signal."""
    with tempfile.TemporaryDirectory() as directory:
        command = command_of(name, language, program, directory)
        # node looks for packages beside the program, which has no file, and so in the current directory.
        place = PACKAGES / name if language == "javascript" else directory
        environment = {key: value for key, value in os.environ.items() if key != "RUST_BACKTRACE"}
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=SECONDS, env=environment)
    parts = [done.stdout.strip()]
    if done.returncode < 0:
        parts.append(f"killed by signal {-done.returncode} ({signal.Signals(-done.returncode).name})")
    elif done.returncode:
        parts.append(plain(done.stderr.strip()))
    return "\n".join(part for part in parts if part)


def plain(error):
    """How a program ended, without what differs from machine to machine in a panic of Rust: the number of the thread, where the
    sources of crates are, and the note about backtraces."""
    error = re.sub(r"(?m)^(thread '\w+') \(\d+\) (panicked at) (?:\S*/registry/src/[^/]*/)?", r"\1 \2 ", error)
    return re.sub(r"\nnote: run with `RUST_BACKTRACE=1` .*", "", error)


def matches(expected, found):
    """Whether the output is as expected; a line `…` matches any text."""
    parts = [re.escape(part) for part in re.split(r"^…$", expected, flags=re.MULTILINE)]
    return re.fullmatch(".*".join(parts), found, re.DOTALL) is not None


def main():
    names = sys.argv[1:]
    ran = differing = 0
    for file, name, language, program, expected in findings():
        if (names and name not in names) or interpreter(name, language) is None:
            continue
        ran += 1
        found = printed(name, language, program)
        if not matches(expected, found):
            differing += 1
            print(f"findings/{file}\n  found:\n{found}\n  expected:\n{expected}\n")
    print(f"{ran} reproductions ran; {differing} printed something else")
    return 2 if not ran else 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
