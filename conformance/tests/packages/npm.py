"""Packs the npm package, installs the packed file into a clean directory, and uses it.

    python3 npm.py BROADCHECK

BROADCHECK is the command that exports the cases. The package's own tests run; the small libraries beside them must pass
with the adapters in the package's README, as a command and under `node --test`, and with planted bugs they must fail in the
cases about them. It is left out without Node.js 20 or later and npm.
Exit status: 0 everything passed or was left out, 1 something failed, 2 invalid command line.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from common import PACKAGES, expect, files_of, left_out, run

# Each bug: what is replaced in the small library, and what must be printed.
BUGS = {
    "a length of 0 is stretched": ("(length) => length !== 1", "(length) => length > 1", r"^FAILED  numpy/zero/\S+"),
    "shapes are aligned at the left": ("shape[axis - rank + shape.length]", "shape[axis]", r"^FAILED  numpy/\S+"),
    "NaN is dropped": ("elementwise(Math.max,", "elementwise((x, y) => (x > y ? x : y),", r"^FAILED  numpy/\S*(maximum|nan)\S*"),
}
# The same in the library that writes into an array,
BUGS_INTO = {
    "a loop reads what it has written": ("= values[element]", "= valueAt(index)", r"^FAILED  numpy/into/shifted-right$"),
    "the place after each element is written": (
        "destination.data[placeOf(destination, index)] =", "destination.data[placeOf(destination, index)] = destination.data[placeOf(destination, index) + 1] =",
        r"^FAILED  numpy/into/every-second\n[^\0]*?buffer at 4: found -4, expected 5, as before: it is outside of the destination$",
    ),
    "a destination is stretched": ("!== 1 && length !== own[axis]", "!== 1 && own[axis] !== 1 && length !== own[axis]", r"^FAILED  numpy/into/destination-stretched$"),
}
# and in the one that infers shapes.
BUGS_INFER = {
    "always for depends": ('"always" : "depends"', '"always" : "always"', r"^FAILED  numpy/infer/unknown-meets-two\n[^\0]*?unsound, some runs are refused: "),
    "an unknown length beside a 1 is 1": ("[...numbers, ...stretching, 1]", "[...numbers, 1]", r"^FAILED  numpy/infer/unknown-meets-one\n[^\0]*?unsound, the shape leaves out "),
    "lengths that never fit are accepted": ("numbers.size > 1", "numbers.size > 2", r"^FAILED  numpy/infer/\S+\n[^\0]*?expected a refusal \(dimension_mismatch\)"),
}
# Sound, but wider than exact.
VAGUE = ("[...numbers, ...stretching, 1]", '[...(stretching.includes("?") ? ["?"] : numbers), 1]')


def node_answers():
    """Whether Node.js 20 or later and npm are there."""
    if not shutil.which("node") or not shutil.which("npm"):
        return False
    version = subprocess.run(["node", "--version"], text=True, capture_output=True).stdout
    return int(version.lstrip("v").partition(".")[0] or 0) >= 20


def passes(what, command, least, work):
    """Runs the cases on a library that passes. Returns how many there are."""
    said = run(f"{what} passes", 0, *command, cwd=work)
    print("ok   ", said.strip().splitlines()[-1])
    passed = re.search(r"(\d+) passed", said)
    if not passed or int(passed[1]) < least:
        sys.exit(f"FAILED  expected {least} passed cases or more\n{said}")
    return int(passed[1])


def plant(file, found, replaced, work):
    """Replaces something in a library."""
    library = (PACKAGES / "npm/test" / file).read_text(encoding="utf-8")
    if library.count(found) != 1:
        sys.exit(f"FAILED  expected `{found}` once in {file}")
    (work / file).write_text(library.replace(found, replaced), encoding="utf-8")


def fails(what, bug, file, command, work):
    """Runs the cases on a library with a bug."""
    found, replaced, pattern = bug
    plant(file, found, replaced, work)
    said = run(f"it fails if {what}", 1, *command, cwd=work)
    expect(what, said, pattern)
    print("ok   ", said.strip().splitlines()[-1])


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not node_answers():
        left_out("no Node.js 20 or later with npm, so the npm package was not built")
        return 0
    with tempfile.TemporaryDirectory() as made:
        directory = pathlib.Path(made)
        build = [PACKAGES / "build", "npm", "--broadcheck", sys.argv[1], "--out", directory / "built"]
        run("the package packs", 0, sys.executable, *build)
        packed, = (directory / "built/npm").glob("*.tgz")
        with tarfile.open(packed) as archive:
            names = [name.partition("/")[2] for name in archive.getnames()]
        kit = [name for name in names if name.startswith("kit/")]
        print(f"ok    {packed.name}: {packed.stat().st_size} bytes, {len(names)} files, {len(kit)} of the kit")
        lacking = {"package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/index.d.ts", "kit/manifest.json"} - set(names)
        if lacking or any(name.startswith("test/") or name.endswith(".yaml") for name in names):
            sys.exit(f"FAILED  the package lacks {lacking}, or has tests or YAML: {names}")
        said = run("the package's own tests pass", 0, "node", "--test", "test/", cwd=directory / "built/staging/npm")
        print("ok   ", " ".join(re.findall(r"^# ((?:tests|pass|fail) \d+)$", said, re.MULTILINE)))

        work = directory / "work"
        work.mkdir()
        (work / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        run("the packed file installs", 0, "npm", "install", "--offline", "--no-audit", "--no-fund", packed, cwd=work)
        for name, text in files_of(PACKAGES / "npm/README.md").items():
            (work / name).write_text(text, encoding="utf-8")
        library = (PACKAGES / "npm/test/small.mjs").read_text(encoding="utf-8")
        command = ["npx", "--no-install", "broadcheck-cases", "./adapter.mjs"]
        (work / "small.mjs").write_text(library, encoding="utf-8")

        passed = passes("the small library", command, 300, work)
        said = run("it passes under node --test", 0, "node", "--test", "broadcasting.test.mjs", cwd=work)
        print("ok   ", " ".join(re.findall(r"^# ((?:tests|pass|fail|skipped|todo) \d+)$", said, re.MULTILINE)))
        expect("node --test", said, rf"^# pass {passed}$", r"^\s*# Subtest: numpy/zero/")
        for what, bug in BUGS.items():
            fails(what, bug, "small.mjs", command, work)
        said = run("the same bug fails under node --test", 1, "node", "--test", "broadcasting.test.mjs", cwd=work)
        expect("node --test", said, r"^\s*not ok \d+ - numpy/\S*(maximum|nan)\S*")
        (work / "small.mjs").write_text(library, encoding="utf-8")

        for adapter, file, least, bugs in (("into.mjs", "views.mjs", 350, BUGS_INTO), ("infer.mjs", "shapes.mjs", 40, BUGS_INFER)):
            shutil.copy(PACKAGES / "npm/test" / file, work)
            told = [*command[:-1], f"./{adapter}"]
            passes(f"the library {file}", told, least, work)
            for what, bug in bugs.items():
                fails(what, bug, file, told, work)
        plant("shapes.mjs", *VAGUE, work)
        said = run("inferred shapes that are wider than exact pass", 0, *told, cwd=work)
        expect("wider", said, r"^wider than exact: numpy/infer/unknown-meets-two: found f32\(\?\), depends, expected f32\(2\), depends$", r"; \d+ of those that passed are wider than exact$")
        said = run("and fail with --exact", 1, *told, "--exact", cwd=work)
        expect("--exact", said, r"^FAILED  numpy/infer/unknown-meets-two$", r"^    wider than exact: found f32\(\?\), depends, ")

        for options, status, pattern in (("", 0, r"^\s*# wider than exact: found f32\(\?\), depends, "), (", exact: true", 1, r"^\s*not ok \d+ - numpy/infer/unknown-meets-two$")):
            test = f'import {{ run }} from "broadcheck-cases/runner";\nimport adapter from "./infer.mjs";\nawait run(adapter, {{ filter: "numpy/infer/"{options} }});\n'
            (work / "inferring.test.mjs").write_text(test, encoding="utf-8")
            said = run(f"under node --test, they end with exit status {status}{options}", status, "node", "--test", "inferring.test.mjs", cwd=work)
            expect("node --test", said, pattern)

        (work / "wrong.mjs").write_text('export default {rules: ["nunpy"], run() {}};\n', encoding="utf-8")
        said = run("a wrong adapter is an error", 2, *command[:-1], "./wrong.mjs", cwd=work)
        expect("a wrong adapter", said, r'^broadcheck-cases: \./wrong\.mjs\.rules: found "nunpy", expected one of: none numpy ')
    return 0


if __name__ == "__main__":
    sys.exit(main())
