#!/usr/bin/env python3
"""Makes every call of the command `broadcheck` to the system fail, one at a time, and checks what is left.

    conformance/tests/fault_injection/run.py BINARY [--full] [--only TEXT] [--kind KIND] [--stack STACK] [--part I/N]
                                             [--edges N] [--allocations N] [--seconds N]

The library shim.c makes the n-th write, sync, rename, and so on, of the command fail, or kills the command before it. For
each fault, the command runs in a new directory with files of a user. Afterwards:

- The command has not panicked, and not hung. No process of it is left.
- The files of the user have the same content as before.
- Every other file is as it was before, or as the command writes it without a fault. A kit is one or the other as a whole.
- The exit status is that of a run without a fault only if every file was written and everything was printed. Otherwise it
  is 1 or 2, with a message that has the system's error.
- The same command, without a fault, then does everything that it does in a new directory.

With --full, every call fails in every way, except for:

- Calls with the same stack, that is, the same return addresses within the program: the first ten and the last ten fail.
  Such calls are in a loop, for example over the files of /proc, in which broadcheck looks for processes of a harness. With
  `--edges 0`, all of them fail.
- Allocations: of each scenario, 300 with different stacks fail. Rust ends the program if there is no memory, and the other
  faults already end it between any two calls to the system. `--allocations N` changes the number.

Without --full, the faults are spread evenly over these, to take about as long as --seconds says. --part 1/20 to --part
20/20 divide the faults among machines or nights. A line once a minute says how many are left. A sync that does not fail
does nothing, since no fault cuts the power.

A run of broadcheck with a harness looks through all processes of the machine. With --full, it saves time, and makes the
loops shorter, to give the script a namespace with few processes:

    unshare --pid --fork --mount-proc sh -c '"$@"; exit $?' sh python3 conformance/tests/fault_injection/run.py BINARY --full

(`unshare --user --map-root-user --pid ...` without being root.) If a fault is judged wrong, the line says how to inject it
again: `--full --only SCENARIO --kind KIND --stack STACK`.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import errno
import hashlib
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Longer than any run takes, also on a busy machine.
LIMIT = 300
# An allocation has this number or a greater one, since runs differ a little: the number of the call, minus this.
DRIFT = 500

# How the calls of a kind fail. "+" marks a fault that stays, as on a full disk.
FAULTS = {
    "open": ["EMFILE", "EACCES", "EMFILE+", "kill"],
    "read": ["EIO", "EINTR", "short"],
    "write": ["ENOSPC", "ENOSPC+", "EIO", "EINTR", "short", "kill"],
    "sync": ["EIO", "kill"],
    "close": ["EIO", "kill"],
    "rename": ["EIO", "EACCES+", "kill"],
    "link": ["EPERM", "EIO", "kill"],
    "unlink": ["EIO", "kill"],
    "mkdir": ["ENOSPC", "kill"],
    "stat": ["EIO", "ENOMEM"],
    "readdir": ["EIO"],
    "pipe": ["EMFILE", "EMFILE+", "kill"],
    "spawn": ["EAGAIN", "ENOMEM", "EAGAIN+", "kill"],
    "thread": ["EAGAIN", "EAGAIN+", "kill"],
    "wait": ["EINTR", "kill"],
    "poll": ["EINTR", "ENOMEM"],
    "allocate": ["ENOMEM"],
}
# The calls that are repeated or continued, so that nothing is different in the end.
HARMLESS = {"EINTR", "short"}
# Hidden files that a killed run leaves: they are in nobody's way.
DRAFT = re.compile(r"(^|/)\.broadcheck\.[0-9]+\.[0-9]+\.tmp$")
STAGING = ".broadcheck-export/"
# What `fuzz` writes before a disagreement is shrunk, and how far it is. The latter has times in it.
UNSHRUNK = re.compile(r"-request-[0-9]+\.yaml$")
STATE = "fuzz.state"
# The list of findings, which is incomplete after a kill.
LIST = "findings.txt"


class Scenario:
    """A command, and the files that it finds."""

    def __init__(self, name, words, prepare=lambda directory: None, mine=(), whole=None, harness=False, status=0,
                 again=None, resume=None):
        self.name, self.words, self.prepare = name, words, prepare
        # The user's files, with their content.
        self.mine = dict(mine)
        # The directory that is either as before or new as a whole.
        self.whole = whole
        # Whether the exit status may also show a harness that could not be asked.
        self.harness = harness
        # The exit status without a fault.
        self.status = status
        # The exit status of the same command in the same directory, without a fault.
        self.again = status if again is None else again
        # The command that continues a run that did not end.
        self.resume = resume


CASES = """\
format: 1
rules: numpy
cases:
  - id: mine/vector
    title: A vector is added to every row.
    clause: NUMPY-1
    source: [{url: "https://example.org"}]
    origin: hand
    expression: [add, a, b]
    operands:
      - {name: a, dtype: f64, shape: [2, 2], values: [1, 2, 3, 4]}
      - {name: b, dtype: f64, shape: [2], values: [10, 20]}
    result: {dtype: f64, shape: [2, 2], values: [11, 22, 13, 24]}
  - id: mine/refused
    title: Lengths 2 and 3 cannot be combined.
    clause: NUMPY-1
    source: [{url: "https://example.org"}]
    origin: hand
    expression: [add, a, b]
    operands:
      - {name: a, dtype: f64, shape: [2], values: [1, 2]}
      - {name: b, dtype: f64, shape: [3], values: [1, 2, 3]}
    refusal: {kind: dimension_mismatch}
"""


def scenarios(program):
    every = "text,json,junit,markdown,html,badge"
    cases = {"cases.yaml": CASES}
    # A harness with a daemon, which has to be ended with it.
    daemon = {"harness.sh": f"setsid sleep 1000 <&- >&- 2>&- &\nexec '{program.binary}' serve --impl reference\n"}
    maximum, ones = (f"'{sys.executable}' '{ROOT}/conformance/harness/tests/bad_harnesses/{name}.py'" for name in ("maximum", "ones"))

    def older_kit(directory):
        program.succeed(export + ["--filter", "numpy/examples", "--consumers", "python"], directory)
        (directory / "kit" / "mine.txt").write_text("mine")
        (directory / "kit" / "json" / "mine.json").write_text("mine, too")

    def older_reports(directory):
        for name in ("old", "new"):
            words = ["check", "--cases", "cases.yaml", "--impl", "fast", "--format", "json", "--out", f"{name}.json"]
            program.succeed(words, directory)

    beside = {"reports/mine.txt": "mine", **cases}
    kit = {"kit/mine.txt": "mine", "kit/json/mine.json": "mine, too"}
    found = {"found/mine.yaml": "mine", "found/corpus": "mine"}
    export = ["export", "--rules", "numpy", "--functions", "add", "--no-sweeps", "--format", "json", "--out", "kit"]
    # A kit with a subdirectory of `json`; the older one has other cases, and a consumer that goes.
    small = ["--filter", "numpy/broadcast-to", "--consumers", "none"]
    return [
        Scenario("check, a harness, all reports",
                 ["check", "--cases", "cases.yaml", "--impl", "sh harness.sh", "--impl", "fast", "--jobs", "1", "--format", every,
                  "--out", "reports"], mine={**beside, **daemon}, harness=True),
        Scenario("check, over older reports",
                 ["check", "--cases", "cases.yaml", "--impl", "fast", "--jobs", "1", "--format", every, "--out", "reports"],
                 prepare=lambda directory: program.succeed(["check", "--cases", "cases.yaml", "--impl", "reference", "--format",
                                                        every, "--out", "reports"], directory), mine=beside),
        Scenario("check, printed", ["check", "--cases", "cases.yaml", "--impl", "reference", "--jobs", "1"], mine=cases),
        Scenario("compare-reports", ["compare-reports", "old.json", "new.json"], prepare=older_reports, mine=cases),
        Scenario("check, known failures drafted",
                 ["check", "--cases", "cases.yaml", "--impl", ones, "--jobs", "1", "--write-known", "known.yaml"],
                 mine=cases, harness=True, status=1, again=2),
        Scenario("exhaust, with findings",
                 ["exhaust", "--max-rank", "1", "--max-dim", "1", "--rules", "numpy", "--impl", "reference", "--impl", maximum,
                  "--jobs", "1", "--out", "found"], mine=found, harness=True, status=1),
        Scenario("man", ["man", "--out", "man"], mine={"man/mine.1": "mine"}),
        Scenario("seeds", ["seeds", "--cases", "cases.yaml", "--out", "corpus"], mine={"corpus/case_file/mine": "mine", **cases}),
        Scenario("fuzz, with findings",
                 ["fuzz", "--requests", "20", "--jobs", "1", "--right", maximum, "--allow-skips", "--out", "found"],
                 mine=found, harness=True, status=1, resume=["fuzz", "--resume", "found", "--right", maximum]),
        Scenario("export, new", export + small, whole="kit"),
        Scenario("export, over an older kit", export + small, prepare=older_kit, mine=kit, whole="kit"),
    ]


class Ran:
    def __init__(self, status, out, err, hung=False):
        self.status, self.out, self.err, self.hung = status, out, err, hung


class Program:
    """The command, with the shim."""

    def __init__(self, binary, shim):
        self.binary, self.shim = binary, shim

    def run(self, words, directory, **environment):
        """Runs the command, and returns how it ended."""
        environment = {**os.environ, "RUST_BACKTRACE": "0", "LD_PRELOAD": str(self.shim), **environment}
        child = subprocess.Popen([self.binary, *words], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return Ran(None, "", "", hung=True)
        return Ran(child.returncode, out.decode(errors="replace"), err.decode(errors="replace"))

    def succeed(self, words, directory):
        ran = self.run(words, directory)
        if ran.status != 0:
            sys.exit(f"{words}: status {ran.status}\n{ran.out}{ran.err}")


class Site:
    """The calls of one kind with the same stack: how many there are, and the number of the first among all of the kind."""

    def __init__(self, line):
        self.kind, self.stack, count, first = line.split()
        self.count, self.first = int(count), int(first)


def tree(directory):
    """Every file below a directory, with its content, except those that a run of `fuzz` updates every second."""
    files = {}
    for path in sorted(directory.rglob("*")):
        if path.name not in (STATE, LIST) and (path.is_symlink() or not path.is_dir()):
            files[str(path.relative_to(directory))] = path.read_bytes()
    return files


def state(directory):
    """All that the next run finds in a directory. The name of a draft has the id of its process, which is left out."""
    paths = {DRAFT.sub(r"\1draft", str(path.relative_to(directory))): path for path in directory.rglob("*")}
    contents = {name: None if path.is_dir() else path.read_bytes() for name, path in paths.items()}
    return hashlib.sha256(repr(sorted(contents.items())).encode()).digest()


def is_whole(path, content):
    """Whether this is a report or a case from beginning to end."""
    text = content.decode()
    endings = {".json": "}", ".xml": "</testsuites>", ".html": "</html>", ".svg": "</svg>", ".md": "", ".txt": "", ".yaml": ""}
    ending = next((ending for suffix, ending in endings.items() if path.endswith(suffix)), None)
    return ending is not None and text.rstrip().endswith(ending)


def numbered(path):
    """The name of a second case of this name."""
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-2{dot}{ending}"


def without_times(text):
    return re.sub(r"[0-9][0-9.,]* (s|per second)\b", "# \\1", text)


def left_behind(mark):
    """The processes with this mark in their environment: their ids and command lines."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"FAULT_TRIAL={mark}\0".encode() in (process / "environ").read_bytes() + b"\0":
                found.append((int(process.name), (process / "cmdline").read_bytes()))
        except OSError:
            pass
    return found


class Injector:
    def __init__(self, program, scenario, scratch):
        self.program, self.scenario, self.scratch = program, scenario, scratch
        self.template = scratch / "template"
        self.template.mkdir(parents=True)
        for path, text in scenario.mine.items():
            (self.template / path).parent.mkdir(parents=True, exist_ok=True)
            (self.template / path).write_text(text)
        scenario.prepare(self.template)
        self.before = tree(self.template)
        self.numbers = itertools.count()
        # What was wrong with the next run, by the directory that it found.
        self.repetitions = {}
        counts = scratch / "counts"
        self.good, self.after, _ = self.reference(FAULT_COUNTS=str(counts))
        self.sites = [Site(line) for line in counts.read_text().splitlines()] if counts.exists() else []
        self.sites.sort(key=lambda site: site.first)
        if self.good.status != scenario.status:
            sys.exit(f"{scenario.name}: status {self.good.status} without a fault\n{self.good.out}{self.good.err}")
        # A second time, since what differs between two runs cannot be compared.
        other, after, self.seconds = self.reference()
        if (self.good.status, self.after) != (other.status, after):
            changed = [path for path in self.after if self.after[path] != after.get(path)]
            sys.exit(f"{scenario.name}: two runs without a fault differ: {other.status}, {changed}\n{other.err}")

    def reference(self, **environment):
        """Runs the command without a fault."""
        directory = self.fresh()
        began = time.monotonic()
        good = self.program.run(self.scenario.words, directory, **environment)
        seconds = time.monotonic() - began
        after = tree(directory)
        shutil.rmtree(directory)
        return good, after, seconds

    def fresh(self):
        directory = self.scratch / str(next(self.numbers))
        shutil.copytree(self.template, directory / "work", symlinks=True)
        return directory / "work"

    def trial(self, fault, site, number):
        """One fault, in the call of a site with this number. Prints what is wrong, and returns the outcome and how much that is."""
        kind = site.kind
        directory = self.fresh()
        log = directory.parent / "log"
        how, sticky = fault.rstrip("+"), fault.endswith("+")
        mark = f"{os.getpid()}-{directory.parent.parent.name}-{directory.parent.name}"
        environment = {
            "FAULT_KIND": kind, "FAULT_STACK": site.stack, "FAULT_AT": str(number), "FAULT_LOG": str(log),
            "FAULT_ERROR": str(getattr(errno, how, how)), "FAULT_TRIAL": mark,
        }
        if kind == "allocate":
            environment["FAULT_FROM"] = str(site.first - DRIFT)
        if sticky:
            environment["FAULT_STICKY"] = "1"
        ran = self.program.run(self.scenario.words, directory, **environment)
        # A process that ends while another of its threads writes the line leaves less than a line.
        # That call did not fail.
        line = log.read_text() if log.exists() else ""
        hit = line.split(" ", 3)[3].strip() if line.endswith("\n") else None
        wrong = list(self.wrong(ran, kind, how, sticky, hit, directory))
        wrong += list(self.processes(mark))
        if not wrong:
            found = state(directory)
            if found not in self.repetitions:
                self.repetitions[found] = list(self.repeated(directory))
            wrong += self.repetitions[found]
        shutil.rmtree(directory.parent)
        if hit is None:
            outcome = "not reached"
        elif ran.status == self.good.status:
            outcome = "survived"
        elif ran.status is not None and ran.status < 0:
            outcome = "killed" if ran.status == -signal.SIGKILL else "aborted"
        else:
            outcome = f"status {ran.status}"
        for text in wrong:
            print(f"WRONG  {self.scenario.name}: {kind} {site.stack} {number} {fault} ({hit}): {text}", flush=True)
        return outcome, len(wrong)

    def wrong(self, ran, kind, how, sticky, hit, directory):
        said = ran.out + ran.err
        if ran.hung:
            yield f"hung for {LIMIT} s"
            return
        if "panicked at" in said or ran.status == 101:
            yield f"panicked: {said[-600:]}"
        if ran.status < 0:
            allowed = {"kill": signal.SIGKILL, "ENOMEM": signal.SIGABRT if kind == "allocate" else None}.get(how)
            if -ran.status != allowed:
                yield f"ended by signal {-ran.status}: {said[-600:]}"
            elif how == "ENOMEM" and not re.search("memory allocation of|Fatal glibc error", ran.err):
                yield f"aborted without a message: {said[-600:]}"
        found = {path: content for path, content in tree(directory).items() if not DRAFT.search(path)}
        staged = any(STAGING in path for path in found)
        found = {path: content for path, content in found.items() if STAGING not in path}
        for path, text in self.scenario.mine.items():
            if found.get(path) != text.encode():
                yield f"the user's file {path} is lost or changed"
        for state in directory.rglob(STATE):
            try:
                json.loads(state.read_bytes())
            except ValueError as error:
                yield f"{state.name} is not whole: {error}"
        for listed in directory.rglob(LIST):
            if not listed.read_text().startswith("Findings of `broadcheck fuzz`: "):
                yield f"{listed.name} is not whole"
        for path, content in found.items():
            if self.scenario.harness and (ran.status == 1 or UNSHRUNK.search(path)) and is_whole(path, content):
                continue
            if content not in (self.before.get(path), self.after.get(path)):
                yield f"{path} is neither the old nor the new file, {len(content)} bytes"
        for path in self.before.keys() & self.after.keys():
            if path not in found and not staged:
                yield f"{path} is missing"
        drafts = [path for path in tree(directory) if DRAFT.search(path) or STAGING in path]
        if drafts and ran.status >= 0 and kind != "unlink":
            if not (self.scenario.whole and ("failed, too" in said or "the kit is complete" in said)):
                yield f"a draft is left: {drafts[:3]}"
        if self.scenario.whole and ran.status >= 0 and not staged and found not in (self.before, self.after):
            yield "the kit is neither the old nor the new one"
        if ran.status < 0:
            return
        if ran.status == self.good.status == 1 and ("os error" in said or "pipe:" in (hit or "")):
            return
        if ran.status == self.good.status:
            if found != self.after:
                missing = sorted(self.after.keys() - found.keys())[:3]
                yield f"status {ran.status}, but not everything was written: {missing} {said[-300:]}"
            if without_times(ran.out) != without_times(self.good.out):
                yield f"status {ran.status}, but it printed something else: {said[-600:]}"
        elif ran.status not in (1, 2):
            yield f"status {ran.status}: {said[-600:]}"
        elif how in HARMLESS:
            yield f"{how} is not harmless: status {ran.status}: {said[-600:]}"
        elif "pipe:" in (hit or "") and self.scenario.harness:
            pass
        elif kind == "write" and hit is not None and not hit.startswith("/") and not said:
            pass
        elif "os error" not in said and "llocat" not in said and "memory" not in said:
            yield f"status {ran.status} without the error of the system: {said[-600:]}"

    def processes(self, mark):
        if not self.scenario.harness:
            return
        deadline = time.monotonic() + 5
        left = left_behind(mark)
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = left_behind(mark)
        if left:
            yield f"processes are left: {left}"
        for process, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def repeated(self, directory):
        """The same command without a fault."""
        # What was written about a harness that could not be asked, the next run leaves alone. If it is a case with the
        # name of a finding without a fault, the next run writes that finding under a name with a number.
        extra = set()
        if self.scenario.harness:
            every = tree(directory).items()
            kept = lambda path: path.startswith("found/") or path == "known.yaml"
            extra = {path for path, content in every if kept(path) and content != self.after.get(path)}
            extra -= self.before.keys()
            extra |= {numbered(path) for path in extra}
        written = self.after.keys() - self.before.keys()
        expected = self.good.status
        if self.scenario.again != expected and all((directory / path).exists() for path in written):
            expected = self.scenario.again
        words = self.scenario.words
        if any(not json.loads(state.read_bytes())["finished"] for state in directory.rglob(STATE)):
            words = self.scenario.resume
        ran = self.program.run(words, directory)
        left = lambda path: DRAFT.search(path) or UNSHRUNK.search(path)
        found = {path: content for path, content in tree(directory).items() if not left(path) and path not in extra}
        after = {path: content for path, content in self.after.items() if path not in extra}
        if ran.status != expected:
            yield f"the next run ends with {ran.status}: {(ran.out + ran.err)[-600:]}"
        elif found != after:
            changed = [path for path in after.keys() | found.keys() if after.get(path) != found.get(path)]
            yield f"the next run leaves something else: {changed[:5]}"


def spread(items, quota):
    """At most `quota` of the items, with the first and the last."""
    if len(items) <= quota:
        return items
    if quota <= 1:
        return items[:quota]
    return [items[place * (len(items) - 1) // (quota - 1)] for place in range(quota)]


def calls(injector, kind, edges, allocations):
    """The calls of this kind that fail with --full, as pairs of a site and a number from 1."""
    sites = [site for site in injector.sites if site.kind == kind]
    if kind == "allocate":
        return [(site, 1) for site in spread(sites, allocations)]
    edges = edges or max(site.count for site in sites)
    return [
        (site, number) for site in sites for number in range(1, site.count + 1)
        if number <= edges or number > site.count - edges
    ]


def trials(injector, arguments, share):
    """The faults to inject into one scenario, as (fault, site, number of the call)."""
    kinds = {site.kind for site in injector.sites if arguments.kind in ("", site.kind)}
    chosen = {
        (kind, fault): calls(injector, kind, arguments.edges, arguments.allocations)
        for kind in FAULTS if kind in kinds for fault in FAULTS[kind]
    }
    if not arguments.full:
        # Two runs per fault: one with it, one after it.
        affordable = arguments.seconds * share / (2 * injector.seconds)
        quota = max(2, int(affordable / max(1, len(chosen))))
        chosen = {key: spread(found, quota) for key, found in chosen.items()}
    every = [
        (fault, site, number) for (_, fault), found in chosen.items() for site, number in found
        if arguments.stack in ("", site.stack)
    ]
    part, parts = arguments.part
    return every[part - 1::parts]


def parse_part(text):
    part, parts = (int(number) for number in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part, parts


class Progress:
    """How many faults are left, and for how long: printed once a minute."""

    def __init__(self, plan, jobs):
        self.waiting = {injector: len(trials) for injector, trials in plan}
        self.total = sum(self.waiting.values())
        self.jobs = jobs
        # The seconds that a trial was expected to take, of those that are done, and those that they took.
        self.expected, self.began = 0.0, time.monotonic()
        self.printed = self.began
        print(f"{self.total} faults in {len(plan)} scenarios, {self.left()}", flush=True)

    def one(self, injector):
        self.waiting[injector] -= 1
        self.expected += 2 * injector.seconds / self.jobs
        if time.monotonic() - self.printed >= 60:
            self.printed = time.monotonic()
            waiting = sum(self.waiting.values())
            print(f"  {self.total - waiting} of {self.total} faults done, {self.left()}", flush=True)

    def left(self):
        expected = sum(2 * injector.seconds / self.jobs * count for injector, count in self.waiting.items())
        if self.expected > 0:
            expected *= (time.monotonic() - self.began) / self.expected
        return f"about {expected / 60:.0f} min left"


def number_of_calls(injector):
    """How many calls of each kind a run without a fault makes. Those of the allocations that were counted."""
    numbers = []
    for kind in FAULTS:
        counts = [site.count for site in injector.sites if site.kind == kind]
        if counts:
            numbers.append(f"{sum(counts)} {kind} ({len(counts)})")
    return ", ".join(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--full", action="store_true", help="inject every fault, not a sample")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this text")
    parser.add_argument("--kind", default="", help="only calls of this kind")
    parser.add_argument("--stack", default="", help="only calls with this stack, which a line about a wrong fault names")
    parser.add_argument("--edges", type=int, default=10, metavar="N",
                        help="of the calls with the same stack, only the first N and the last N; 0: all (default: 10)")
    parser.add_argument("--allocations", type=int, default=300, metavar="N",
                        help="how many allocations of each scenario, with different stacks (default: 300)")
    parser.add_argument("--part", type=parse_part, default=(1, 1), metavar="I/N",
                        help="only the I-th of N parts, each spread evenly over all faults")
    parser.add_argument("--seconds", type=int, default=150, help="how long to take, without --full (default: 150)")
    arguments = parser.parse_args()
    # Ends a run in the background as Ctrl-C does, with the table of what is done.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        print("!! LEFT OUT: fault injection needs Linux and a C compiler (cc)")
        return 0
    binary = str(pathlib.Path(arguments.binary).resolve())
    table = collections.defaultdict(collections.Counter)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="broadcheck-faults-") as scratch:
        scratch = pathlib.Path(scratch)
        shim = scratch / "shim.so"
        flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", shim, HERE / "shim.c"], check=True)
        program = Program(binary, shim)
        chosen = [scenario for scenario in scenarios(program) if arguments.only in scenario.name]
        jobs = os.cpu_count() or 1
        # Every scenario runs without a fault first: then it is known how many trials there are.
        plan = []
        for place, scenario in enumerate(chosen):
            injector = Injector(program, scenario, scratch / str(place))
            if not injector.sites:
                print("!! LEFT OUT: the binary does not call the shim; it must be linked to glibc dynamically")
                return 0
            plan.append((injector, trials(injector, arguments, jobs / len(chosen))))
        progress = Progress(plan, jobs)
        pool = concurrent.futures.ThreadPoolExecutor(jobs)
        try:
            for injector, chosen_trials in plan:
                name = injector.scenario.name
                print(f"{name}: {len(chosen_trials)} faults, one run takes {injector.seconds:.2f} s and makes these calls "
                      f"(with different stacks): {number_of_calls(injector)}", flush=True)
                for (fault, site, _), (outcome, errors) in zip(
                        chosen_trials, pool.map(lambda trial: injector.trial(*trial), chosen_trials)):
                    table[name, site.kind, fault][outcome] += 1
                    wrong += errors
                    progress.one(injector)
        except KeyboardInterrupt:
            print("\ninterrupted", flush=True)
        finally:
            pool.shutdown(cancel_futures=True)
    print()
    for (scenario, kind, fault), outcomes in table.items():
        text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{scenario:<32} {kind:<9} {fault:<8} {sum(outcomes.values()):>5}  {text}")
    total = sum(sum(outcomes.values()) for outcomes in table.values())
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    minutes = sum(usage.ru_utime + usage.ru_stime for usage in used) / 60
    print(f"\n{total} faults, {wrong} wrong, {minutes:.1f} min of processor time")
    if total < progress.total:
        print(f"not finished: {progress.total - total} of {progress.total} faults are left, {progress.left()}")
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
