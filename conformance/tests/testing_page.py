"""Follows the page TESTING.md as a reader would, with the files in it.

    python3 testing_page.py BROADCHECK [PYTHON]

Creates the page's crate in a temporary directory and runs its tests against this checkout. Then checks the page's
Python program with the command BROADCHECK. PYTHON is an interpreter with NumPy; without it, the program is left out.
Exit status: 0 everything passed, 1 something failed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

CONFORMANCE = pathlib.Path(__file__).resolve().parents[1]
BESIDE = 'broadcheck = { path = "../broadcheck/conformance/suite" }'


def files_of(page):
    """The files in the page, by name."""
    return dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```\n", page, re.DOTALL))


def run(what, wanted, *command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != wanted:
        sys.exit(f"FAILED  {what}: exit status {done.returncode}, expected {wanted}\n{done.stdout}")
    print(f"ok    {what}")
    return done.stdout


def try_crate(files, directory):
    """The crate's tests pass, and each case is a named test."""
    if BESIDE not in files["Cargo.toml"]:
        sys.exit(f"FAILED  the page does not depend on {BESIDE}")
    manifest = files["Cargo.toml"].replace(BESIDE, f"broadcheck = {{ path = {str(CONFORMANCE / 'suite')!r} }}")
    for name, text in {**files, "Cargo.toml": manifest + "\n[workspace]\n"}.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    # The versions that the checkout is built with, and its target directory: nothing is built twice.
    (directory / "Cargo.lock").write_bytes((CONFORMANCE.parent / "Cargo.lock").read_bytes())
    target = os.environ.get("CARGO_TARGET_DIR", str(CONFORMANCE.parent / "target"))
    options = {"cwd": directory, "env": {**os.environ, "CARGO_TARGET_DIR": str(pathlib.Path(target) / "page")}}
    said = run("the crate's tests pass", 0, "cargo", "test", "--test", "broadcasting", **options)
    counts = re.search(r"test result: ok\. (\d+) passed; 0 failed; (\d+) ignored", said)
    if not counts or int(counts[1]) < 50 or "[known] " not in said:
        sys.exit(f"FAILED  expected 50 passed tests or more, and known failures among them\n{said[-2000:]}")
    print(f"ok    {counts[1]} passed, {counts[2]} ignored")
    source = directory / "src/lib.rs"
    source.write_text(source.read_text().replace("if own == 1 { 0 }", "if own == 0 { 0 }"))
    said = run("a library that is wrong fails", 101, "cargo", "test", "--test", "broadcasting", **options)
    if "expectation" not in said or "numpy/" not in said:
        sys.exit(f"FAILED  expected failures with what was expected\n{said[-2000:]}")


def try_program(files, directory, broadcheck, python):
    """The program passes the smoke test, and NumPy's addition passes the suite."""
    (directory / "harness.py").write_text(files["harness.py"])
    command = f"{python} harness.py"
    run("smoke is content with the program", 0, broadcheck, "smoke", "--impl", command, cwd=directory)
    said = run("check is content with NumPy", 0, broadcheck, "check", "--impl", command, cwd=directory)
    print("ok   ", said.strip().splitlines()[-1])


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    files = files_of((CONFORMANCE / "TESTING.md").read_text())
    broadcheck = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as made:
        directory = pathlib.Path(made)
        program = {name: text for name, text in files.items() if name.endswith(".py")}
        # packages/action.py tries the files for GitHub and pre-commit, whose names begin with a dot.
        crate = {name: text for name, text in files.items() if name not in program and not name.startswith(".")}
        try_crate(crate, directory)
        if len(sys.argv) == 3:
            # A virtual environment is known by the path of its interpreter, which must not be resolved.
            try_program(program, directory, broadcheck, os.path.abspath(sys.argv[2]))
        else:
            print("!! LEFT OUT: no interpreter with NumPy was given")
    return 0


if __name__ == "__main__":
    sys.exit(main())
