#!/usr/bin/env python3
"""The reasons for surviving mutants, which are comments beside the code, compared with what survived.

    .ci/mutants_explained.py                      checks that each comment is above code that has such a mutant
    .ci/mutants_explained.py missed.txt FILE...   lists the survivors in FILEs without a reason, and reasons without a survivor

A reason is one line directly above the line that is mutated, in the words of cargo-mutants without the function's name:

    // mutant: replace < with <=: operands of equal ranks have returned above
    // mutant: replace > with ==; replace > with <: one reason for two mutants of the line below

Each reason explains one survivor per mutant that it names. Exit status: 0 all is well, 2 not.
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"^\s*// mutant: (.*?): (.*\S)\s*$")
# `src/grid.rs:49:50: replace * with + in grid`
SURVIVOR = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):\d+: (?P<mutant>.*?)(?: in [\w:<>&,()' ]+)?$")


def sources():
    """The Rust files of the repository."""
    listed = subprocess.run(["git", "ls-files", "*.rs"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def reasons(name):
    """(line, mutant) of each mutant that a file explains; the line is that of the code."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(lines):
        if found := COMMENT.match(line):
            code = place + 1
            while lines[code].lstrip().startswith("//"):
                code += 1
            for mutant in found[1].split("; "):
                yield code + 1, mutant
        elif "// mutant:" in line:
            raise SystemExit(f"{name}:{place + 1}: found {line.strip()!r}, expected `// mutant: MUTANT: REASON`")


def what_is_changed(mutant):
    """The text that must be on the line of code, as far as the mutant's words say."""
    if found := re.fullmatch(r"replace (\S+) with \S+|delete (\S+)", mutant):
        return found[1] or found[2]
    if found := re.fullmatch(r"replace match guard (.*) with (?:true|false)", mutant):
        return found[1]
    return None


def check():
    """Every reason is above code that its mutant can change."""
    wrong = count = 0
    for name in sources():
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        for line, mutant in reasons(name):
            count += 1
            text = what_is_changed(mutant)
            if text is not None and text not in lines[line - 1]:
                wrong += 1
                print(f"{name}:{line}: found no `{text}` for the reason `mutant: {mutant}` above")
    print(f"{count} mutants are explained beside the code, {wrong} of them above other code")
    return 2 if wrong or not count else 0


def compare(missed, files):
    """The survivors without a reason, and the reasons without a survivor."""
    explained = collections.Counter((name, *reason) for name in files for reason in reasons(name))
    survivors = collections.Counter()
    for text in Path(missed).read_text(encoding="utf-8").splitlines():
        found = SURVIVOR.match(text)
        survivors[found["file"], int(found["line"]), found["mutant"]] += 1
    for file, line, mutant in sorted((explained - survivors).elements()):
        print(f"{file}:{line}: no such mutant survived: {mutant}")
    unexplained = sorted((survivors - explained).elements())
    for file, line, mutant in unexplained:
        print(f"{file}:{line}: a survivor without a reason: {mutant}")
    return 2 if unexplained else 0


if __name__ == "__main__":
    sys.exit(compare(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else check())
