#!/usr/bin/env python3
"""Gives broadcheck the worst inputs of each kind that its limits allow, and compares what they cost with SECURITY.md.

    conformance/tests/hostile.py BINARY            compare; exit status 1 if an input costs more than the table states
    conformance/tests/hostile.py BINARY --measure  print the rows of the table, as measured here
    conformance/tests/hostile.py BINARY --only report    one kind

For each input it checks the exit status, that a message names the place, what was found and what was expected, the peak
memory, and the CPU time. Time is a multiple of that of `broadcheck validate spec/cases` in the same run: no speed is asserted
for any machine. Memory may exceed the table by MEMORY_SLACK, time by TIME_SLACK.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECURITY = ROOT / "SECURITY.md"
MEMORY_SLACK = 1.25
TIME_SLACK = 3
# No input may take longer than this, in seconds: a hang.
LONGEST = 300
MB = 1 << 20

CASE = """format: 1
rules: numpy
cases:
  - id: numpy/hostile/case
    title: A vector of length 1 must be stretched.
    clause: NUMPY-1
    source: [{document: openvino, lines: "21"}]
    origin: hand
    expression: [add, a, b]
    operands:
      - {name: a, dtype: f64, shape: [2], values: [1, 2]}
      - {name: b, dtype: f64, shape: [1], values: [3]}
    result: {dtype: f64, shape: [2], values: [4, 5]}
"""


class Cost:
    """What a run of the command took."""

    def __init__(self, status, seconds, memory, output):
        self.status, self.seconds, self.memory, self.output = status, seconds, memory, output


class Runner:
    """A small process that starts the commands: at first, a process has the peak memory of the one that starts it."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--runner"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, arguments, stdin="/dev/null"):
        with tempfile.NamedTemporaryFile() as output:
            self.process.stdin.write(json.dumps([arguments, str(stdin), output.name]) + "\n")
            self.process.stdin.flush()
            status, seconds, memory = json.loads(self.process.stdout.readline())
            text = output.read(1 << 20).decode(errors="replace")
        return Cost(status, seconds, memory, text)


def serve_runs():
    """Runs the commands of a Runner, each with a time limit."""
    for line in sys.stdin:
        arguments, stdin, stdout = json.loads(line)
        with open(stdin, "rb") as source, open(stdout, "wb") as output:
            process = subprocess.Popen(arguments, stdin=source, stdout=output, stderr=subprocess.STDOUT)
        timer = threading.Timer(LONGEST, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        print(json.dumps([process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]), flush=True)


class Hostile:
    """The inputs and their costs."""

    def __init__(self, binary, directory, only):
        self.binary, self.directory, self.only = binary, directory, only
        self.number = 0
        self.worst = {}
        self.problems = []
        self.runner = Runner()
        self.unit = min(self.runner.run([binary, "validate", str(ROOT / "spec/cases")]).seconds for _ in range(3))
        print(f"unit: validate spec/cases takes {self.unit:.2f} s of CPU time")

    def path(self, suffix=""):
        self.number += 1
        return self.directory / f"{self.number:03}{suffix}"

    def file(self, content, suffix):
        path = self.path(suffix)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def try_one(self, kind, name, arguments, statuses=(2,), says=("found", "expected"), stdin="/dev/null"):
        if self.only and kind != self.only:
            return
        cost = self.runner.run([self.binary, *map(str, arguments)], stdin)
        times = cost.seconds / self.unit
        print(f"{kind:16} {name:44} status {cost.status:>3}  {cost.memory / MB:7.0f} MB  {cost.seconds:7.2f} s  {times:6.1f} x", flush=True)
        memory, slowest = self.worst.get(kind, ((0, ""), (0, "")))
        self.worst[kind] = (max(memory, (cost.memory, name)), max(slowest, (times, name)))
        problem = None
        if cost.status not in statuses:
            problem = f"exit status {cost.status}, expected {' or '.join(map(str, statuses))}"
        elif cost.status == 2 and not all(word in cost.output for word in says):
            problem = f"the message does not say {' and '.join(says)}"
        if problem:
            self.problems.append(f"{kind}, {name}: {problem}: {cost.output[:300]!r}")

    def specials(self, kind, suffix, arguments, content, statuses=(2,), marked=None):
        """What may be in place of any file. `marked` are the statuses for a byte order mark, if others than for CRLF."""
        fifo = self.path(suffix)
        os.mkfifo(fifo)
        link = self.path(suffix)
        link.symlink_to("/dev/zero")
        directory = self.path(suffix)
        directory.mkdir()
        missing = self.path(suffix)
        sparse = self.path(suffix)
        with open(sparse, "wb") as stream:
            stream.truncate(8 << 30)
        for name, path in (
            ("a named pipe", fifo),
            ("a link to /dev/zero", link),
            ("a directory", directory),
            ("no file", missing),
            ("a sparse file of 8 GiB", sparse),
            ("an empty file", self.file("", suffix)),
            ("invalid UTF-8", self.file(content.encode() + b"\xff\xfe", suffix)),
            ("NUL", self.file(content.encode() + b"\0", suffix)),
            ("half a file", self.file(content[: len(content) // 2], suffix)),
        ):
            self.try_one(kind, name, arguments(path), says=("expected",) if name != "a directory" else ())
        mark, feeds = self.file("\ufeff" + content, suffix), self.file(content.replace("\n", "\r\n"), suffix)
        self.try_one(kind, "a byte order mark", arguments(mark), statuses=marked or statuses)
        self.try_one(kind, "CRLF", arguments(feeds), statuses=statuses)


def case_files(hostile):
    def validate(path):
        return ["validate", path]

    def yaml(name, content, **options):
        hostile.try_one("case file", name, validate(hostile.file(content, ".yaml")), **options)

    def js(name, content, **options):
        hostile.try_one("case file", name + " (JSON)", validate(hostile.file(content, ".json")), **options)

    hostile.specials("case file", ".yaml", validate, CASE, statuses=(0,))
    cyclic = hostile.path()
    cyclic.mkdir()
    (cyclic / "cycle").symlink_to(cyclic)
    (cyclic / "cycle.yaml").symlink_to(cyclic / "cycle.yaml")
    hostile.try_one("case file", "links in a cycle", validate(cyclic))
    head = "format: 1\nrules: numpy\ncases:\n"
    values = (1 << 18) - 200
    half = values // 2
    operands = CASE.replace("shape: [2], values: [1, 2]", f"shape: [{half}], values: [{','.join(['1'] * half)}]")
    full = operands.replace("shape: [2], values: [4, 5]", f"shape: [{half}], values: [{','.join(['4'] * half)}]")
    yaml("as many values as allowed", full, statuses=(0,))
    cases = "".join(CASE.partition("cases:\n")[2].replace("hostile/case", f"hostile/case-{n}") for n in range(2_700))
    yaml("as many cases as allowed", head + cases, statuses=(0,))
    yaml("two million values in a line", "a: [" + "1," * 2_000_000 + "]")
    yaml("a value per line", "a:\n" + "- 1\n" * (MB * 2 - 10))
    yaml("a quarter of a million lists", "a:\n" + "- []\n" * (1 << 17))
    yaml("brackets, 200,000 deep", "[" * 200_000)
    yaml("braces, 200,000 deep", "{a: " * 200_000)
    yaml("dashes, 200,000 deep", "- " * 200_000)
    yaml("question marks, 200,000 deep", "? " * 200_000)
    yaml("lists 128 deep, again and again", "a:\n" + ("- " + "[" * 120 + "]" * 120 + "\n") * 1_000)
    yaml("indented 2,000 deep", "".join(" " * depth + "a:\n" for depth in range(2_000)))
    yaml("aliases of aliases", "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)))
    yaml("100,000 anchors", "".join(f"- &a{n} 1\n" for n in range(100_000)))
    yaml("a million names", "".join(f"n{n}: 1\n" for n in range(1_000_000)))
    yaml("130,000 names", "".join(f"n{n}: 1\n" for n in range(130_000)))
    yaml("130,000 times the same key", "n: 1\n" * 130_000)
    yaml("60,000 items without fields", head + "  - {id: a}\n" * 60_000)
    yaml("30,000 cases with errors in each field", head + "  - {id: 1, title: 2, clause: 3, operands: 4}\n" * 20_000)
    yaml("an operand for each value", head + "  - id: numpy/a/b\n    operands:\n" + "      - {name: a}\n" * 80_000)
    nested = "[add, " * 99 + "a" + ", b]" * 99
    yaml("1,000 deep expressions", head + f"  - {{id: a, expression: {nested}}}\n" * 1_000)
    yaml("a wide expression", head + "  - {id: a, expression: [add, " + "b, " * 200_000 + "c]}\n")
    yaml("a string of 8 MB", "a: \"" + "x" * (8 * MB - 10) + "\"\n")
    yaml("8 MB of escapes", "a: \"" + "\\x41" * (2 * MB - 10) + "\"\n")
    yaml("a key of 8 MB", "x" * (8 * MB - 10) + ": 1\n")
    yaml("a block of 8 MB", "a: |\n" + "  x\n" * (2 * MB - 10))
    yaml("a folded text of 8 MB", "a: >\n" + "  x\n\n" * (MB + MB // 2))
    yaml("a plain text over 4 million lines", "a: x\n" + " x\n" * (2 * MB))
    yaml("a comment of 8 MB", "#" * (8 * MB - 1))
    yaml("4 million comments", "#\n" * (4 * MB - 1))
    yaml("8 MB of line feeds", "\n" * (8 * MB - 1))
    yaml("8 MB of spaces", " " * (8 * MB - 1))
    yaml("8 MB of tabs", "\t" * (8 * MB - 1))
    yaml("8 MB of carriage returns", "\r" * (8 * MB - 1))
    yaml("8 MB of colons", ":" * (8 * MB - 1))
    yaml("8 MB of percent signs", "%" * (8 * MB - 1))
    yaml("a number of 8 million digits", "a: " + "9" * (8 * MB - 10))
    yaml("an exponent of 8 million digits", "a: 1e" + "9" * (8 * MB - 10))
    yaml("a shape of large lengths", CASE.replace("[2]", "[18446744073709551615, 18446744073709551615]", 1))
    yaml("a large tolerance", CASE.replace("[4, 5]}", "[4, 5], tolerance: {ulp: 99999999999999999999}}"))
    yaml("more than 8 MiB", "#" * (8 * MB + 1))
    js("brackets, 200,000 deep", "[" * 200_000)
    js("two million values", '{"a": [' + "1," * 2_000_000 + "1]}")
    js("as many strings as allowed", '{"a": [' + '"",' * 130_000 + '""]}')
    js("8 MB of escapes", '{"a": "' + "\\u0041" * (8 * MB // 6 - 10) + '"}')
    js("the same key 100,000 times", "{" + '"a": 1,' * 100_000 + '"a": 1}')
    js("a number of 8 million digits", '{"a": ' + "9" * (8 * MB - 100) + "}")


def known_files(hostile):
    case = hostile.file(CASE, ".yaml")
    head = "implementation: reference\nknown:\n"
    entry = "  - {case: numpy/other, reason: a, url: 'https://example.org'}\n"

    def check(path):
        return ["check", "--cases", case, "--impl", "reference", "--known", path]

    def known(name, content, arguments=check, **options):
        hostile.try_one("known file", name, arguments(hostile.file(content, ".yaml")), **options)

    def whole(path):
        return ["check", "--rules", "none", "--impl", "reference", "--sample-sweeps", "1", "--known", path]

    hostile.specials("known file", ".yaml", check, head + entry, statuses=(1,))
    known("brackets, 40,000 deep", "[" * 40_000)
    known("brackets, 1 MB deep", "[" * (MB - 1))
    known("a quarter of a million entries", head + "  - {}\n" * 130_000)
    known("as many entries as allowed", head + "".join(f"  - {{case: a{n}, reason: a, url: 'http://a'}}\n" for n in range(18_000)), statuses=(1, 2))
    known("100,000 cases in one entry", head + "  - {reason: a, url: 'http://a', cases: [" + ",".join(f"a{n}" for n in range(100_000)) + "]}\n", statuses=(1, 2))
    many = "".join(f"  - {{case: '{'*a' * 470}{n:04}*', reason: a, url: 'http://a'}}\n" for n in range(540))
    known("a thousand globs of 1,000 bytes", head + many, statuses=(1, 2))
    known("the same, for many cases", head + many, whole, statuses=(1, 2))
    short = "".join(f"  - {{case: '*{n:05}*', reason: a, url: 'http://a'}}\n" for n in range(20_000))
    known("20,000 globs, for many cases", head + short, whole, statuses=(1, 2))
    braces = "{" + ",".join(["*"] * 470) + "}"
    known("a thousand globs of stars in braces", head + "".join(f"  - {{case: '{braces}{n:04}', reason: a, url: 'http://a'}}\n" for n in range(270)), whole, statuses=(1, 2))
    stars = "{" + ",".join(["*"] * 490) + "}"
    allowed = "".join(f"  - {{case: '{stars}{n:04}', reason: a, url: 'http://a'}}\n" for n in range(4))
    known("as many globs as allowed, for many cases", head + allowed, whole, statuses=(1,))
    ids = "".join(f"  - {{case: numpy/examples/scalar-with-{n}, reason: a, url: 'http://a'}}\n" for n in range(13_000))
    known("as many ids as allowed, for many cases", head + ids, whole, statuses=(1,))
    known("an alias", head + "  - &a {case: b}\n  - *a\n")
    known("1 MB of text", "implementation: " + "x" * (MB - 30))


def reports(hostile):
    case = {"id": "numpy/a", "status": "passed", "detail": ""}

    def report(runs):
        return json.dumps({"suite": {"version": "0.2.0"}, "implementations": runs})

    def run_of(name, cases):
        return {"name": name, "version": "1", "cases": cases}

    small = report([run_of("mine", [case])]).replace(", ", ",\n")

    def both(path):
        return ["compare-reports", path, path]

    def try_both(name, content, other=None, statuses=(0,), formats=("text", "markdown", "json"), matrix=True):
        path = hostile.file(content, ".json")
        second = hostile.file(other, ".json") if other else path
        for form in formats:
            hostile.try_one("report", f"{name}, {form}", ["compare-reports", path, second, "--format", form], statuses=statuses)
        if matrix:
            hostile.try_one("report", f"{name}, matrix", ["matrix", path, second], statuses=(0, 2) if 2 in statuses else (0,))

    hostile.specials("report", ".json", both, small, statuses=(0,))
    names = report([run_of(f"implementation {n}", [case]) for n in range(50_000)])
    try_both("50,000 implementations", names)
    others = report([run_of(f"another {n}", [case]) for n in range(50_000)])
    try_both("50,000 implementations, no name in both", names, others, statuses=(2,), formats=("text",), matrix=False)
    hundred = report([run_of(f"implementation {n}", [dict(case, id=f"{m}", status="failed") for m in range(10)]) for n in range(20_000)])
    try_both("200,000 cases that broke", names, hundred.replace('"id": "0"', '"id": "numpy/a"'), statuses=(1,), matrix=False)
    room = hostile.limits["report"]
    one = json.dumps(case)[:-1]
    many = lambda status: report([run_of("mine", [])]).replace("[]", "[" + ",".join('{"id":"%d","status":"%s","detail":""}' % (n, status) for n in range(room // 48)) + "]")
    try_both("as many cases as allowed", many("failed"), formats=("text",))
    try_both("as many cases as allowed, all broken", many("passed"), many("failed"), statuses=(1,), matrix=False)
    lean = '{"name":"%d","version":"","cases":[]}'
    try_both("as many implementations as allowed", report([]).replace("[]", "[" + ",".join(lean % n for n in range(1 << 16)) + "]"), statuses=(1,))
    try_both("more implementations than allowed", report([]).replace("[]", "[" + ",".join(lean % n for n in range(room // 45)) + "]"), statuses=(2,), formats=("text",), matrix=False)
    try_both("a detail as long as allowed", small.replace('"detail": ""', '"detail": "' + "\\u0001" * ((room - 2000) // 6) + '"'), statuses=(0,), formats=("text",))
    try_both("detail of backticks and lines", small.replace('"detail": ""', '"detail": "' + "`\\n" * 1_000_000 + '"'), small.replace("passed", "failed").replace('"detail": ""', '"detail": "' + "\\n`" * 1_000_000 + '"'), statuses=(1,), matrix=False)
    try_both("declares a rule set a million times", small.replace('"cases"', '"asked": [' + ",".join(['{"rules": "numpy"}'] * 1_000_000) + '], "cases"'), statuses=(0,), formats=("text",))
    try_both("declares a convention a million times", small.replace('"cases"', '"conventions": [' + ",".join(['{"name": "zero-signs", "declared": true}'] * 1_000_000) + '], "cases"'), statuses=(0,), formats=("text",))
    try_both("many cases that were not asked", report([run_of("mine", [dict(case, id=str(n), status="skipped", detail=f"reason {n}", rules="numpy") for n in range(200_000)])]), statuses=(0, 1), formats=("text",))
    for name, content in (
        ("brackets, 1 MB deep", "[" * MB),
        ("brackets in an unknown field", small.replace('"suite"', '"other": ' + "[" * MB + ', "suite"', 1)),
        ("two million values", '{"implementations": [' + "1," * 2_000_000 + "1]}"),
        ("a field twice", small.replace('"suite"', '"suite": {"version": "1"}, "suite"', 1)),
        ("a million times the same case", report([run_of("mine", [case] * 500_000)])),
        ("the same name twice", report([run_of("mine", [case])] * 2)),
        ("a number of 1 MB", small.replace('"detail": ""', '"detail": "", "finding": ' + "9" * MB)),
        ("more than the limit", small + " " * room),
    ):
        try_both(name, content, statuses=(2,), formats=("text",), matrix=False)


def manifests(hostile):
    base = {"kit": "broadcheck-cases", "version": "0.2.0", "format": 1, "licence": "MIT", "cases": {"total": 1}, "cases_of_sweeps": 0}
    identity = {"digest": "a", "text": "b"}
    known = dict(base, ids={"numpy/a": identity}, files=[])

    def kit(manifest, files=()):
        directory = hostile.path()
        directory.mkdir()
        text = manifest if isinstance(manifest, (str, bytes)) else json.dumps(manifest)
        (directory / "manifest.json").write_bytes(text.encode() if isinstance(text, str) else text)
        for name, content in files:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
        return directory

    def in_kit(path):
        directory = hostile.path()
        directory.mkdir()
        os.rename(path, directory / "manifest.json") if os.path.lexists(path) else None
        return ["compare-exports", directory, directory]

    def all_three(name, directory, statuses=((0, 1, 2), (0, 2), (0, 2))):
        for command, allowed in zip((["vendor-check", directory], ["compare-exports", directory, directory], ["export", "--filter", "none/examples", "--no-sweeps", "--consumers", "none", "--out", directory]), statuses):
            hostile.try_one("manifest", f"{name}, {command[0]}", command, statuses=allowed, says=("expected",))

    hostile.specials("manifest", ".json", in_kit, json.dumps(known).replace(", ", ",\n"), statuses=(0,), marked=(2,))
    room = hostile.limits["manifest"]
    many = ",".join('"%d":{"digest":"","text":""}' % n for n in range(room // 36))
    all_three("as many ids as allowed", kit(json.dumps(known).replace('{"numpy/a": {"digest": "a", "text": "b"}}', "{" + many + "}")))
    lean = ",".join('{"path":"%d","sha256":""}' % n for n in range(room // 34))
    all_three("as many files as allowed", kit(json.dumps(known).replace('"files": []', '"files": [' + lean + "]")))
    strings = ",".join(['""'] * (room // 3 - 400))
    all_three("as many options as allowed", kit(json.dumps(dict(known, selection={"rules": []})).replace('"rules": []', '"rules": [' + strings + "]")))
    big = b"x" * (16 * MB)
    again = [{"path": "json/a", "sha256": "00"}] * 1_000
    all_three("the same file a thousand times", kit(dict(known, files=again), [("json/a", big)]), statuses=((2,), (2,), (2,)))
    dots = [{"path": "json/" + "./" * n + "a", "sha256": "00"} for n in range(1_000)]
    all_three("a file by a thousand spellings", kit(dict(known, files=dots), [("json/a", big)]), statuses=((2,), (0, 2), (0, 2)))
    first = dict(base, files=[{"path": f"json/{n}.json", "sha256": "00"} for n in range(100)])
    all_three("a first kit with brackets for cases", kit(first, [(f"json/{n}.json", b"[" * MB) for n in range(100)]))
    all_three("brackets, 1 MB deep", kit("[" * MB), statuses=((2,), (2,), (2,)))
    all_three("paths outside", kit(dict(known, files=[{"path": "../../etc/passwd", "sha256": "00"}])), statuses=((2,), (0,), (0,)))
    journal = kit(known, [(".broadcheck-export/journal.json", b"[" * MB)])
    all_three("a journal of brackets", journal, statuses=((0, 1, 2), (0, 2), (2,)))


HARNESS = '''
import json, sys
kind = sys.argv[1]
out = sys.stdout
DECLARED = {"name": "hostile", "version": "1", "rules": ["numpy"], "operations": ["elementwise"], "functions": ["add"], "dtypes": ["f64"]}
def flood(start, part, count, end):
    out.write(start)
    for _ in range(count // 1000):
        out.write(part * 1000)
    out.write(end + "\\n")
    out.flush()
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        if kind == "start names": flood('{"version":1,"implementation":{"name":"a","version":"1","rules":[', '"xlaa",', 140_000, '"a"]}}')
        elif kind == "start objects": flood('{"version":1,"implementation":[', '{"":0},', 140_000, '0]}')
        elif kind == "start brackets": flood('', '[', 1_000_000, '')
        elif kind == "start endless": flood('', 'x', 1 << 30, '')
        else: print(json.dumps({"version": 1, "implementation": DECLARED}), flush=True)
        continue
    seq = message["seq"]
    head = '{"seq":%d,' % seq
    if kind == "values": flood(head + '"result":{"dtype":"f64","shape":[2],"values":[', '1,', 500_000, '1]}}')
    elif kind == "strings": flood(head + '"result":{"dtype":"f64","shape":[2],"values":[', '"",', 340_000, '1]}}')
    elif kind == "objects": flood(head + '"result":{"dtype":"f64","shape":[2],"values":[', '{"":0},', 140_000, '1]}}')
    elif kind == "lengths": flood(head + '"result":{"dtype":"f64","values":[],"shape":[', '1,', 500_000, '1]}}')
    elif kind == "unknown": flood(head + '"other":[', '{"":0},', 140_000, '0],"skipped":{"reason":"a"}}')
    elif kind == "brackets": flood(head + '"result":', '[', 1_000_000, '')
    elif kind == "message": flood(head + '"errored":{"message":"', 'x', 1_000_000, '"}}')
    elif kind == "endless": flood('', 'x', 1 << 30, '')
    elif kind == "stderr":
        for _ in range(200): sys.stderr.write("x" * (1 << 20))
        print(head + '"skipped":{"reason":"a"}}', flush=True)
    elif kind == "large numbers": flood(head + '"result":{"dtype":"f64","shape":[1024,1024],"values":[', '-1.7976931348623157e+308,', 1_048_000, '1,' * 575 + '1]}}')
    elif kind == "large zeros": flood(head + '"result":{"dtype":"f64","shape":[1024,1024],"values":[', '0,', 120_000_000, '1]}}')
    elif kind == "large strings": flood(head + '"result":{"dtype":"f64","shape":[1024,1024],"values":[', '"",', 80_000_000, '1]}}')
    elif kind == "large objects": flood(head + '"result":{"dtype":"f64","shape":[1024,1024],"values":[', '{"":0},', 35_000_000, '1]}}')
    elif kind == "large lengths": flood(head + '"result":{"dtype":"f64","values":[],"shape":[', '1,', 120_000_000, '1]}}')
    elif kind == "large unknown": flood(head + '"other":[', '{"":0},', 35_000_000, '0],"skipped":{"reason":"a"}}')
    elif kind == "large brackets": flood(head + '"result":', '[', 250_000_000, '')
    elif kind == "large message": flood(head + '"errored":{"message":"', 'x', 250_000_000, '"}}')
    elif kind == "large escapes": flood(head + '"errored":{"message":"', '\\u0001', 40_000_000, '"}}')
    elif kind == "large lines":
        for _ in range(8): flood('', 'x', 250_000_000, '')
    elif kind == "large endless": flood('', 'x', 1 << 30, '')
    elif kind == "nul": sys.stdout.buffer.write(b"\\0\\xff\\n"); out.flush()
    else: print("{}", flush=True)
'''


def answers(hostile):
    case = hostile.file(CASE, ".yaml")
    harness = hostile.file(HARNESS, ".py")
    for kind in (
        "start names", "start objects", "start brackets", "start endless", "values", "strings", "objects", "lengths", "unknown",
        "brackets", "message", "endless", "stderr", "nul", "other",
    ):
        command = f"{sys.executable} {harness} '{kind}'"
        start = kind.startswith("start")
        says = ("expected",) if kind == "start endless" else ("found", "expected")
        hostile.try_one("answer", kind, ["check", "--cases", case, "--impl", command, "--timeout", "60s"], (2,) if start else (1,), says)


def large_answers(hostile):
    # The result of this request has 1,048,576 elements, so a line may have 256 MiB.
    harness = hostile.file(HARNESS, ".py")
    column = "shape: [1024, 1], values: [" + "1, " * 1023 + "1]"
    row = "shape: [1024], values: [" + "1, " * 1023 + "1]"
    large = hostile.file(CASE.replace("shape: [2], values: [1, 2]", column).replace("shape: [1], values: [3]", row), ".yaml")
    for kind in ("numbers", "zeros", "strings", "objects", "lengths", "unknown", "brackets", "message", "escapes", "lines", "endless"):
        command = f"{sys.executable} {harness} 'large {kind}'"
        hostile.try_one("large answer", kind, ["check", "--cases", large, "--impl", command, "--timeout", "60s"], (1,), ("found", "expected"))


def requests(hostile):
    def serve(name, line, arguments=()):
        hostile.try_one("request", name, ["serve", "--impl", "reference", *arguments], statuses=(0,), stdin=hostile.file(line + "\n", ".json"))

    most = 2 * MB
    request = '{"cmd":"run","seq":1,"request":{"rules":"numpy","operation":"broadcast","target_shape":[%d],"operands":[{"name":"a","dtype":"f64","shape":[%d],"values":[%s]}]}}'
    serve("the largest valid request", request % (MB, MB, ",".join(["-1.7976931348623157e+308"] * MB)))
    serve("two operands of a million values", '{"cmd":"run","seq":1,"request":{"rules":"numpy","expression":["add","a","b"],"operands":[%s]}}' % ",".join('{"name":"%s","dtype":"f64","shape":[%d],"values":[%s]}' % (name, MB, ",".join(["0.1"] * MB)) for name in "ab"))
    for name, part in (
        ("numbers", "1,"), ("short strings", '"",'), ("strings", '"12345678",'), ("lists", "[],"), ("lists of a number", "[0],"),
        ("objects", "{},"), ("objects with a field", '{"":0},'), ("objects with a list", '{"":[0]},'),
    ):
        line = '{"cmd":"run","seq":1,"request":[' + part * most + "0]}"
        if len(line) > 32 * MB:
            line = '{"cmd":"run","seq":1,"request":[' + part * (32 * MB // len(part) - 20) + "0]}"
        serve(f"as many {name} as allowed", line)
    serve("fields", '{"cmd":"run","seq":1,"request":{' + ",".join('"%d":0' % n for n in range(most)) + "}}")
    serve("a string of 32 MiB", '{"cmd":"run","seq":1,"request":"' + "x" * (32 * MB - 100) + '"}')
    serve("escapes of 32 MiB", '{"cmd":"run","seq":1,"request":"' + "\\u00e9" * (32 * MB // 6 - 100) + '"}')
    serve("32 MiB of brackets", "[" * (32 * MB - 10))
    serve("32 MiB of digits", "9" * (32 * MB - 10))
    serve("more than 32 MiB", "x" * (64 * MB))
    serve("NUL and invalid UTF-8", "\0\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    deep = '["exp",' * 90 + '"a"' + "]" * 90
    serve("a thousand deep expressions", "\n".join(['{"cmd":"run","seq":1,"request":{"rules":"numpy","expression":%s,"operands":[]}}' % deep] * 1_000))
    serve("two million requests that are none", '{"cmd":"batch","requests":[%s]}' % ",".join(["0"] * most))
    wide = '{"rules":"numpy","operation":"broadcast","target_shape":[%d],"operands":[{"name":"a","dtype":"f64","shape":[],"values":[1]}]}' % MB
    for arguments in ([], ["--batch", "256"]):
        serve("256 results of a million elements", '{"cmd":"batch","requests":[%s]}' % ",".join('{"seq":%d,"request":%s}' % (n, wide) for n in range(256)), arguments)
    serve("300,000 operands", '{"cmd":"run","seq":1,"request":{"rules":"theano","expression":"a","operands":[%s]}}' % ",".join('{"name":"a%d","dtype":"f64","shape":[],"values":[1]}' % n for n in range(300_000)))


def shapes(hostile):
    # One word of a command line may have 128 KiB on Linux, all together 2 MiB.
    word = 60_000
    for name, arguments in (
        ("60,000 axes", ["1x" * word + "1"]),
        ("50,000 axes twice", ["1x" * 49_999 + "1", "2x" * 49_999 + "2"]),
        ("300 axes 300 times", ["1x" * 299 + "18446744073709551615"] * 300),
        ("60,000 axes and 500 scalars", ["1x" * word + "1"] + ["()"] * 500),
        ("100,000 shapes", ["2"] * 100_000),
        ("100,000 scalars", ["()"] * 100_000),
        ("100,001 scalars", ["()"] * 100_001),
        ("100,000 unknown lengths", ["?"] * 100_000),
        ("50,000 unknown axes beside 25,000 with bounds", ["?x" * 49_999 + "?", "1..3x" * 24_999 + "2.."]),
        ("100,000 unknown ranks", ["..."] * 100_000),
        ("an upper bound beyond 2^64", ["..18446744073709551616", "1"]),
        ("bounds in the wrong order", ["3..2", "1"]),
        ("a length of 100,000 digits", ["1" * 100_000, "2"]),
        ("100,000 flags", ["--rules", "theano", "--broadcastable", "t" * 100_000 + ",f", "1", "2"]),
        ("60,000 dimensions", ["--rules", "xla", "--dims", "0," * word + "0", "1", "2x3"]),
        ("the largest lengths", ["18446744073709551615x18446744073709551615", "1"]),
        ("a length beyond 2^64", ["18446744073709551616", "1"]),
        ("a negative length", ["-1x2", "1"]),
        ("letters", ["axb"]),
    ):
        hostile.try_one("shape", name, ["explain", *arguments], statuses=(0, 2), says=("expected",))


def states(hostile):
    made = hostile.path()
    subprocess.run([hostile.binary, "fuzz", "--requests", "20", "--seed", "1", "--out", made], check=True, capture_output=True)
    base = json.loads((made / "fuzz.state").read_text())
    seen = {
        "number": 1, "place": 0, "kind": "values", "detail": "", "more": 0, "status": "waiting", "request": None, "steps": 0,
        "minimal": False, "file": None,
    }

    def resume(path):
        directory = hostile.path()
        directory.mkdir()
        os.rename(path, directory / "fuzz.state") if os.path.lexists(path) else None
        return ["fuzz", "--resume", directory]

    def state(name, content, statuses=(0, 1, 2)):
        text = content if isinstance(content, str) else json.dumps({**base, **content}, separators=(",", ":"))
        hostile.try_one("fuzz state", name, resume(hostile.file(text, ".json")), statuses=statuses, says=("expected",))

    hostile.specials("fuzz state", ".json", resume, json.dumps(base), statuses=(0,), marked=(2,))
    room = 8 * MB - 2_000
    state("as many arguments as allowed", {"arguments": ["--known=a"] * (room // 12)})
    state("as many ranges as allowed", {"done": [[2 * n, 2 * n + 1] for n in range(10_000)]})
    state("half a million ranges", {"done": [[2 * n, 2 * n + 1] for n in range(room // 18)]})
    state("as many reasons as allowed", {"reasons": {str(n): 1 for n in range(room // 12)}})
    state("a reason as long as allowed", {"reasons": {"x" * room: 1}})
    lean = room // len(json.dumps(seen, separators=(",", ":"))) - 100
    state("as many disagreements as allowed", {"disagreements": [dict(seen, number=n) for n in range(lean)]})
    state("1,000 disagreements", {"disagreements": [dict(seen, number=n) for n in range(1_000)]})
    state("1,000 late disagreements", {"disagreements": [dict(seen, number=2**64 - 1 - n) for n in range(1_000)]})
    state("deep requests", {"disagreements": [dict(seen, request="[" * 3_000) for _ in range(1_000)]})
    state("the same as each other", {"disagreements": [dict(seen, number=n, status={"same_as": n + 1}) for n in range(1_000)]})
    state("files outside", {"disagreements": [dict(seen, file={"name": "../../etc/passwd", "digest": "0"})]}, statuses=(2,))
    state("counts at their limit", {"counts": {name: 2**64 - 1 for name in base["counts"]}, "elapsed_ms": 2**64 - 1})
    state("brackets, 8 MB deep", "[" * room, statuses=(2,))
    state("a field twice", json.dumps(base)[:-1] + ',"format":1}', statuses=(2,))
    state("more than 8 MiB", " " * (8 * MB + 1), statuses=(2,))


def histories(hostile):
    def release(version, outcomes, **fields):
        return {"version": version, "counts": {"passed": 1, "failed": 1}, "outcomes": outcomes, **fields}

    def history(versions, **fields):
        return json.dumps({"system": "mine", "cases": ["a/b"], "versions": versions, **fields}, separators=(",", ":\n"))

    def show(path):
        return ["history", "mine", "--file", path]

    def one(name, content, statuses=(0,), form="text"):
        arguments = [*show(hostile.file(content, ".json")), "--format", form]
        hostile.try_one("history", f"{name}, {form}", arguments, statuses=statuses)

    small = history([release("1.0", "p"), release("1.1", "f")])
    hostile.specials("history", ".json", show, small, statuses=(0,), marked=(2,))
    cases = [f"{n:0200}" for n in range(1 << 14)]
    listed = [{"version": f"{n // 500}.{n % 500}.{'1.' * 30}1", "date": "9" * 80} for n in range(1 << 12)]
    turns = history([release(f"{n}.0", "16384d" if n % 2 else "16384a") for n in range(500)], cases=cases, listed=listed)
    wrong = history([release("1.0", "16384f", failures={"a": "x" * MB}), release("1.1", "16383e")], cases=cases)
    for form in ("text", "markdown", "json"):
        one("as many changes as allowed", turns, form=form)
        one("as many wrong answers as allowed", wrong, form=form)
    one("a letter each for a million cases", history([release("1.0", "pa" * MB)]), statuses=(2,))
    one("numbers without letters", history([release("1.0", "9" * MB)]), statuses=(2,))
    one("more outcomes than cases", history([release(f"1.{n}", "16384p") for n in range(500)]), statuses=(2,))
    one("more wrong answers than allowed", history([release(f"1.{n}", "16384f") for n in range(500)], cases=cases), statuses=(2,))
    one("more versions than allowed", history([release(f"1.{n}", "p") for n in range(100_000)]), statuses=(2,))
    one("a reason as long as allowed", history([release("1.0", "f", failures={"a/b": "\u0001" * 2 * MB})]))
    one("packages as many as allowed", history([release("1.0", "f", beside=[""] * 5 * MB)]))
    one("a version of 14 MB", history([release("1." * 7 * MB, "f")]), statuses=(2,))
    one("brackets, 16 MB deep", "[" * (16 * MB - 1), statuses=(2,))
    one("a field twice", small[:-1] + ',"system":"mine"}', statuses=(2,))
    one("more than 16 MiB", small + " " * (16 * MB), statuses=(2,))


KINDS = {
    "history": histories,
    "case file": case_files,
    "known file": known_files,
    "report": reports,
    "manifest": manifests,
    "answer": answers,
    "large answer": large_answers,
    "request": requests,
    "shape": shapes,
    "fuzz state": states,
}


def table():
    """The figures of SECURITY.md: kind, memory in MB, time as a multiple."""
    rows = re.findall(r"^\| ([a-z ]+) \|.*\| (\d+) MB \| (\d+(?:\.\d)?) × \|$", SECURITY.read_text(encoding="utf-8"), re.M)
    return {kind: (int(memory), float(times)) for kind, memory, times in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        hostile = Hostile(os.path.abspath(options.binary), pathlib.Path(directory), options.only)
        hostile.limits = {"report": 64 * MB, "manifest": 16 * MB}
        for kind, generate in KINDS.items():
            if options.only in (None, kind):
                generate(hostile)
    stated = table()
    print()
    for kind, ((memory, largest), (times, slowest)) in hostile.worst.items():
        print(f"{kind}: {memory / MB:.0f} MB ({largest}), {times:.1f} x ({slowest})")
        if options.measure:
            continue
        if kind not in stated:
            hostile.problems.append(f"{kind}: found no row in SECURITY.md, expected one")
            continue
        most_memory, most_times = stated[kind]
        if memory > most_memory * MB * MEMORY_SLACK:
            hostile.problems.append(f"{kind}, {largest}: {memory / MB:.0f} MB, SECURITY.md has {most_memory} MB")
        if times > most_times * TIME_SLACK:
            hostile.problems.append(f"{kind}, {slowest}: {times:.1f} x, SECURITY.md has {most_times} x")
    for problem in hostile.problems:
        print(f"FAILED {problem}")
    print(f"{len(hostile.problems)} problems, in {time.monotonic() - began:.0f} s")
    sys.exit(1 if hostile.problems else 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--runner"]:
        serve_runs()
    else:
        main()
