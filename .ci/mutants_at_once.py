#!/usr/bin/env python3
"""Catches most mutants of cargo-mutants without building each: all of them are in one program, and $MUTANT selects one.

    mutants_at_once.py --first TEST CRATE OUT -- [ARGUMENT of cargo test ...]  < the list of cargo-mutants in JSON

CRATE is the directory of the crate. Each function with mutants gets a body that chooses among its mutants' bodies and its own.
Mutants that do not compile are left out, and so are those in a `const fn` or in a function within a function.

The names of the mutants that a test catches go to OUT/mutants.out/caught.txt, where `cargo mutants --iterate` finds them. It tests
all others. OUT/caught-by-the-first.txt lists those that the first program caught. An interrupted run continues from
OUT/at-once.jsonl.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What every mutated crate gets.
SWITCH = """
mod mutant_switch {
    pub(crate) fn id() -> usize {
        static ID: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        *ID.get_or_init(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(usize::MAX))
    }
}
"""


class File:
    """A source file whose functions choose among bodies."""

    def __init__(self, path):
        self.path = path
        self.text = (ROOT / path).read_text(encoding="utf-8")
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, span):
        """Start and end, as offsets."""
        return tuple(self.lines[span[end]["line"] - 1] + span[end]["column"] - 1 for end in ("start", "end"))

    def functions(self, mutants):
        """(start, end) of each function that is not inside another one, with its mutants."""
        found = collections.defaultdict(list)
        for mutant in mutants:
            found[self.span(mutant["function"]["span"])].append(mutant)
        inner = {at for at in found for other in found if other != at and other[0] <= at[0] and at[1] <= other[1]}
        return sorted((at, of) for at, of in found.items() if at not in inner)

    def body(self, start, end):
        """Where the function's body begins; `None` for a `const fn`, which cannot read the selected mutant."""
        depth, at = 0, start
        while depth or self.text[at] != "{":
            depth += (self.text[at] in "([") - (self.text[at] in ")]")
            at = self.text.index("\n", at) if self.text.startswith("//", at) else at + 1
            if at >= end:
                raise SystemExit(f"{self.path}: no body: {self.text[start:end]}")
        return None if "const fn" in self.text[start:at] else at

    def choosing(self, mutants):
        """The text with all these mutants, and the lines of each. A function's own body counts for all of its mutants."""
        text, places, done = "", [], 0
        for (start, end), of in self.functions(mutants):
            body = self.body(start, end)
            if body is None:
                continue
            text += self.text[done:body] + "{ match crate::mutant_switch::id() {\n"
            for mutant in of:
                low, high = self.span(mutant["span"])
                first = text.count("\n") + 1
                text += f"{mutant['id']} => {self.text[body:low]}{mutant['replacement']} {self.text[high:end]}\n"
                places.append((first, text.count("\n"), [mutant["id"]]))
            first = text.count("\n") + 1
            text += f"_ => {self.text[body:end]}\n}} }}"
            places.append((first, text.count("\n") + 1, [mutant["id"] for mutant in of]))
            done = end
        return text + self.text[done:], places


def write(tree, crate, paths, mutants):
    """Writes the files with these mutants; for each file, the lines of each mutant."""
    files = {path: [] for path in paths}
    for mutant in mutants:
        files[mutant["file"]].append(mutant)
    places = {}
    for path, of in files.items():
        text, places[path] = File(path).choosing(of)
        (tree / path).write_text(text, encoding="utf-8")
    library = crate / "src/lib.rs"
    text = (tree if str(library) in files else ROOT).joinpath(library).read_text(encoding="utf-8")
    (tree / library).write_text(text + SWITCH, encoding="utf-8")
    return places


def cargo(tree, arguments):
    """Its message if it failed; its errors as (file, line); the test programs as (name, path)."""
    command = ["cargo", *arguments, "--quiet", "--message-format=json"]
    run = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    errors, programs = [], []
    for line in run.stdout.splitlines():
        found = json.loads(line)
        if found["reason"] == "compiler-artifact" and found["executable"] and found["profile"]["test"]:
            programs.append((found["target"]["name"], found["executable"]))
        if found["reason"] == "compiler-message" and found["message"]["level"] == "error":
            spans = found["message"]["spans"]
            errors += [(span["file_name"], span["line_start"]) for span in spans if span["is_primary"]]
    return run.stderr if run.returncode else None, errors, programs


def build(tree, crate, mutants, arguments):
    """The mutants that compile, and the test programs that contain them."""
    wanted = [mutant for mutant in mutants if mutant["function"]]
    # `cargo check` is cheaper, and finds nearly all mutants that do not compile.
    steps = [["check"], ["test", "--no-run"]]
    while True:
        places = write(tree, crate, {mutant["file"] for mutant in mutants}, wanted)
        built = {one for of in places.values() for *_, ids in of for one in ids}
        failure, errors, programs = cargo(tree, [*steps[0], *arguments])
        if failure is None and len(steps) == 1:
            return [mutant for mutant in wanted if mutant["id"] in built], programs
        wrong = set()
        for path, line in errors:
            wrong |= {one for first, last, ids in places.get(path, []) if first <= line <= last for one in ids}
        if failure is None:
            steps.pop(0)
        elif not wrong:
            raise SystemExit(f"the tree does not build: {failure}")
        wanted = [mutant for mutant in wanted if mutant["id"] not in wrong]


def alive(tree, crate, program, mutant):
    """Whether all tests of a program pass with this mutant; `None` where they take too long."""
    environment = dict(os.environ, MUTANT=mutant, CARGO_MANIFEST_DIR=str(tree / crate), RUST_BACKTRACE="0")
    try:
        run = subprocess.run(
            [str(ROOT / ".ci/limited"), program], cwd=tree / crate, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900, check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return run.returncode == 0


def ask(tree, crate, mutants, programs, first, out):
    """Runs the programs on every mutant, the fastest first, until one catches it: from the mutant's name to that program's."""
    journal = out / "at-once.jsonl"
    known = {}
    if journal.exists():
        known = dict(json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines())
    times = {}
    for name, program in programs:
        began = time.monotonic()
        if not alive(tree, crate, program, "none"):
            raise SystemExit(f"the tests of {name} fail without any mutant")
        times[name] = 0 if name == first else time.monotonic() - began
    programs = sorted(programs, key=lambda program: times[program[0]])
    with open(journal, "a", encoding="utf-8") as file:
        for mutant in mutants:
            if mutant["name"] in known:
                continue
            dead = (name for name, program in programs if alive(tree, crate, program, str(mutant["id"])) is False)
            known[mutant["name"]] = next(dead, None)
            file.write(json.dumps([mutant["name"], known[mutant["name"]]]) + "\n")
            file.flush()
    return known


def copy(tree):
    """The files that git does not ignore, with their times, so that cargo rebuilds only what has changed."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    shutil.rmtree(tree, ignore_errors=True)
    for name in subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crate", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", required=True, help="the test program to run first")
    # The arguments after `--` are cargo's.
    split = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:split])
    mutants = [dict(mutant, id=place) for place, mutant in enumerate(json.load(sys.stdin))]
    tree = options.out.resolve() / "tree"
    copy(tree)
    mutants, programs = build(tree, options.crate, mutants, sys.argv[split + 1 :])
    print(f"{len(mutants)} mutants in one program, tested by {' '.join(name for name, _ in programs)}", flush=True)
    known = ask(tree, options.crate, mutants, programs, options.first, options.out)
    caught = [name for name, by in known.items() if by]
    first = [name for name, by in known.items() if by == options.first]
    print(f"{len(caught)} of them are caught, {len(first)} by {options.first}")
    (options.out / "mutants.out").mkdir(exist_ok=True)
    (options.out / "mutants.out/caught.txt").write_text("".join(f"{name}\n" for name in caught), encoding="utf-8")
    (options.out / "caught-by-the-first.txt").write_text("".join(f"{name}\n" for name in first), encoding="utf-8")
    shutil.rmtree(tree)


if __name__ == "__main__":
    main()
