#!/usr/bin/env python3
"""Interrupts the command `broadcheck` at many moments, and checks how it ends.

    conformance/tests/fault_injection/signals.py BINARY [--rounds N] [--only TEXT] [--signal NAME] [--delays MS,MS-MS]
                                                 [--busy N]

SIGINT, SIGTERM, SIGHUP and SIGKILL are sent to `check`, `exhaust`, `fuzz`, `export` and `compare-reports`, after 0 to 1000
ms. The exit status is 130, or that of a command that was done before. Only SIGKILL, and a signal before the program has
installed its handler, ends it in another way. Reports are there and whole, no draft is left, and no process: also no
daemon that a harness started. Processes that broadcheck did not start live on.

Some faults need an interrupt at one moment out of many. To find them, and to measure how often they occur, interrupt one
command at every millisecond while other processes keep the machine busy:

    signals.py BINARY --only "check, daemons" --signal SIGKILL --delays 0-150 --busy 4 --rounds 10
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from run import CASES, DRAFT, ROOT, is_whole, left_behind, tree

DELAYS = [0, 1, 2, 5, 10, 20, 50, 100, 300, 1000]
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"]
FORMATS = "text,json,junit,markdown,html,badge"
DAEMONS = ROOT / "conformance/harness/tests/bad_harnesses/daemons.py"
wrong = []


def fail(text):
    wrong.append(text)
    print(f"WRONG  {text}", flush=True)


def lives(process):
    """Whether a process with this id runs."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1][0]
    except OSError:
        return False
    return state != "Z"


def caught(process):
    """The signals that a process has a handler for."""
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    masks = [int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:")]
    return masks[0] if masks else 0


def wait_for(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


class Command:
    def __init__(self, name, words, done=(0,), reports=None):
        self.name, self.words, self.done, self.reports = name, words, done, reports


def cases(values):
    """A case file with a sum for each of these values."""
    text = "format: 1\nrules: numpy\ncases:\n"
    for place, value in enumerate(values):
        text += f"""\
  - id: mine/sum-{place}
    title: A sum.
    clause: NUMPY-1
    source: [{{url: "https://example.org"}}]
    origin: hand
    expression: [add, a, b]
    operands:
      - {{name: a, dtype: i32, shape: [1], values: [{value}]}}
      - {{name: b, dtype: i32, shape: [1], values: [1]}}
    result: {{dtype: i32, shape: [1], values: [{value + 1}]}}
"""
    return text


def start(binary, words, directory, mark):
    environment = {**os.environ, "FAULT_TRIAL": mark}
    # A parent that ignores SIGINT, such as a script in the background, would pass that on.
    usual = lambda: [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGHUP)]
    return subprocess.Popen([binary, *words], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=usual)


def interrupt(binary, command, template, scratch, name, delay, twice):
    """One signal, or two."""
    directory = scratch / "work"
    shutil.copytree(template, directory)
    mark = f"{os.getpid()}-{random.random()}"
    what = f"{command.name}, {'two of ' if twice else ''}{name} after {delay} ms"
    child = start(binary, command.words, directory, mark)
    time.sleep(delay / 1000)
    number = getattr(signal, name)
    handled = caught(child.pid) & (1 << (number - 1)) != 0
    for _ in range(1 + twice):
        child.send_signal(number)
    began = time.monotonic()
    try:
        out, err = child.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        fail(f"{what}: still runs after 30 s")
        return
    took = time.monotonic() - began
    status, said = child.returncode, (out + err).decode(errors="replace")[-400:]
    expected = {130, *command.done}
    if name == "SIGKILL" or not handled:
        expected.add(-number)
    if status not in expected:
        fail(f"{what}: status {status}, expected one of {sorted(expected)}: {said}")
    if "panicked at" in said or took > 10:
        fail(f"{what}: took {took:.1f} s: {said}")
    files = tree(directory)
    drafts = [path for path in files if DRAFT.search(path) or ".broadcheck-export/" in path]
    if drafts and name != "SIGKILL" and not (twice and command.name.startswith("export")):
        fail(f"{what}: a draft is left: {drafts[:3]}")
    if command.reports and status == 130 and not twice:
        for report in ("report.txt", "report.json", "report.junit.xml", "report.md", "report.html"):
            path = f"{command.reports}/{report}"
            if path not in files or not is_whole(path, files[path]):
                fail(f"{what}: {path} is missing or not whole: {said}")
        if not json.loads(files.get(f"{command.reports}/report.json", b"{}")).get("interrupted"):
            fail(f"{what}: the report does not say that the run was interrupted")
    if command.name.startswith("export") and not drafts and status != 0 and "kit/manifest.json" in files:
        fail(f"{what}: status {status}, but there is a kit")
    if not wait_for(lambda: not left_behind(mark)):
        fail(f"{what}: processes are left: {left_behind(mark)}")
    ids = (directory / "ids").read_text().split() if (directory / "ids").exists() else []
    # Without its environment, a daemon cannot be recognised after broadcheck was killed, or has ended at once.
    if name == "SIGKILL" or twice:
        for process in ids:
            if lives(process):
                os.kill(int(process), signal.SIGKILL)
    elif not wait_for(lambda: not any(map(lives, ids))):
        fail(f"{what}: daemons are left: {ids}")
    shutil.rmtree(directory)
    return status


def ends_with_daemons(binary, scratch):
    """A harness with daemons that answers, crashes and hangs: none is left, and no process of others is killed."""
    directory = scratch / "daemons"
    directory.mkdir()
    (directory / "cases.yaml").write_text(cases([1, 2, 5, 3, 60, 4, 5, 1, 2, 3, 4]))
    words = ["check", "--cases", "cases.yaml", "--impl", f"python3 '{DAEMONS}' ids", "--timeout", "1s", "--jobs", "2"]
    # The shell leaves children of its own to broadcheck, and one of them an orphan.
    script = "sleep 300 >&- 2>&- & echo $! >mine; sh -c 'sleep 301 & echo $! >>mine; exec sleep 1' >&- 2>&- & exec \"$@\""
    for how, line in (("alone", [binary, *words]), ("after exec", ["sh", "-c", script, "sh", binary, *words])):
        for name in ("ids", "mine"):
            (directory / name).unlink(missing_ok=True)
        began = time.monotonic()
        ran = subprocess.run(line, cwd=directory, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        if ran.returncode != 1 or "crashed" not in ran.stdout + ran.stderr and "exit status 3" not in ran.stdout:
            fail(f"daemons, {how}: status {ran.returncode}: {ran.stdout[-600:]}{ran.stderr[-300:]}")
        ids = (directory / "ids").read_text().split()
        left = [process for process in ids if lives(process)]
        # After exec, a daemon without environment could as well be a child of the shell.
        expected = [] if how == "alone" else ids[1::2]
        if set(left) - set(expected):
            fail(f"daemons, {how}: {len(left)} of {len(ids)} are left")
        mine = (directory / "mine").read_text().split() if how != "alone" else []
        if not all(map(lives, mine)):
            fail(f"daemons, {how}: a process of others was killed: {mine}")
        for process in left + mine:
            os.kill(int(process), signal.SIGKILL)
        print(f"daemons, {how}: {len(ids)} started, {len(left)} left, {time.monotonic() - began:.1f} s", flush=True)


def parse_delays(text):
    """Numbers and ranges, such as 0-100,200."""
    delays = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        delays += range(int(first), int(last or first) + 1)
    return delays


@contextlib.contextmanager
def busy(count):
    """Keeps so many processors busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=1, help="how many times to do everything (default: 1)")
    parser.add_argument("--only", default="", help="only commands whose name contains this text")
    parser.add_argument("--signal", choices=SIGNALS, help="only this signal, once, instead of two at random")
    parser.add_argument("--delays", type=parse_delays, default=DELAYS, metavar="MS,MS-MS",
                        help="milliseconds before the signal, as numbers and ranges")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N processors busy")
    arguments = parser.parse_args()
    if sys.platform != "linux":
        print("!! LEFT OUT: the processes of a command are found in /proc, which only Linux has")
        return 0
    binary = str(pathlib.Path(arguments.binary).resolve())
    serve = f"'{binary}' serve --impl reference"
    daemons = f"python3 '{DAEMONS}' ids"
    slow = f"sh -c 'sleep 0.4; exec {serve}'"
    commands = [
        Command("check, daemons", ["check", "--cases", "hangs.yaml", "--impl", daemons, "--format", FORMATS, "--out", "reports"],
                (1,), "reports"),
        Command("check, a slow start", ["check", "--impl", slow, "--format", FORMATS, "--out", "reports"], (0, 1), "reports"),
        Command("check, built in", ["check", "--format", FORMATS, "--out", "reports"], (0,), "reports"),
        Command("exhaust", ["exhaust", "--max-rank", "3", "--max-dim", "3", "--out", "found"]),
        Command("fuzz", ["fuzz", "--time", "20s", "--right", serve, "--out", "found"], (0, 1)),
        Command("export", ["export", "--out", "kit"]),
        Command("compare-reports", ["compare-reports", "old.json", "new.json"]),
    ]
    commands = [command for command in commands if arguments.only in command.name]
    statuses = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory(prefix="broadcheck-signals-") as scratch, busy(arguments.busy):
        scratch = pathlib.Path(scratch)
        template = scratch / "template"
        template.mkdir()
        (template / "cases.yaml").write_text(CASES)
        (template / "hangs.yaml").write_text(cases([1, 2, 60]))
        for name in ("old", "new"):
            words = ["check", "--filter", "numpy/", "--impl", "fast", "--format", "json", "--out", f"{name}.json"]
            subprocess.run([binary, *words], cwd=template, check=True, capture_output=True)
        if not arguments.only:
            ends_with_daemons(binary, scratch)
        for _ in range(arguments.rounds):
            for command in commands:
                for delay in arguments.delays:
                    for name in [arguments.signal] if arguments.signal else random.sample(SIGNALS, 2):
                        twice = random.random() < 0.2 and name != "SIGKILL" and not arguments.signal
                        status = interrupt(binary, command, template, scratch, name, delay, twice)
                        statuses[command.name][status] += 1
                        shutil.rmtree(scratch / "work", ignore_errors=True)
    print()
    for name, counts in statuses.items():
        print(f"{name:<22} {sum(counts.values()):>5}  " + ", ".join(f"{n} with {status}" for status, n in counts.items()))
    print(f"\n{sum(sum(counts.values()) for counts in statuses.values())} interrupts, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
