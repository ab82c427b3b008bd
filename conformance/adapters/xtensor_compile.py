"""Compiles the library of the adapter for xtensor, while the adapter is set up: xtensor is C++ headers, and no package of Python.

An overflow of signed integers, which C++ leaves undefined, wraps with `-fwrapv`.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "xtensor_library.cpp"
LIBRARY = pathlib.Path(sys.prefix) / "xtensor_library.so"
OPTIONS = ["-std=c++17", "-O2", "-fwrapv"]


def has_header(compiler, header):
    """Whether the compiler finds a header."""
    command = [compiler, *OPTIONS, "-E", "-x", "c++", "-", "-o", "/dev/null"]
    return subprocess.run(command, input=f"#include <{header}>\n", text=True, capture_output=True).returncode == 0


def main():
    compiler = shutil.which("g++")
    if not compiler:
        sys.exit("found no g++ on the PATH, expected a C++ compiler: install it, on Debian with `apt-get install g++`")
    for header, package in (("xtl/xsequence.hpp", "xtl-dev"), ("xtensor/xarray.hpp", "libxtensor-dev")):
        if not has_header(compiler, header):
            sys.exit(f"g++ finds no <{header}>, expected xtensor 0.24: install it, on Debian with `apt-get install {package}`")
    with tempfile.TemporaryDirectory(dir=sys.prefix) as directory:
        # Renamed when it is complete, so that no adapter loads a part of it.
        draft = pathlib.Path(directory) / LIBRARY.name
        subprocess.run([compiler, *OPTIONS, "-shared", "-fPIC", str(SOURCE), "-o", str(draft)], check=True)
        draft.replace(LIBRARY)


if __name__ == "__main__":
    main()
