#!/usr/bin/env python3
"""Runs the commands of README.md whose output it shows, and compares what they print.

    conformance/tests/readme.py BROADCHECK

A block of the language `console` that begins with `$ ` is a command and its output; `cargo run --release --` in it is BROADCHECK.
Exit status: 0 all print what is shown, 1 one prints something else.
"""
import difflib
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = "cargo run --release -- "


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", text, re.M)
    if not blocks:
        sys.exit("README.md: found no command with its output, expected one at least")
    failed = False
    for command, shown in blocks:
        if not command.startswith(RUN):
            sys.exit(f"README.md: found `{command}`, expected a command that begins with `{RUN}`")
        arguments = shlex.split(command[len(RUN):])
        done = subprocess.run([binary, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        lines = [text.splitlines(keepends=True) for text in (shown, done.stdout)]
        difference = list(difflib.unified_diff(*lines, "README.md", "printed"))
        failed = failed or bool(difference)
        print(f"{'FAILED' if difference else 'ok'}: {command}")
        sys.stdout.writelines(difference)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
