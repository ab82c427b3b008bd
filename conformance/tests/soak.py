#!/usr/bin/env python3
"""Runs broadcheck for a long time and fails if its memory or its open files grow.

    conformance/tests/soak.py BINARY fuzz --minutes 60               `fuzz` between `reference` and `fast`
    conformance/tests/soak.py BINARY overnight --minutes 60          the script fuzz/overnight, all targets in turn
    conformance/tests/soak.py BINARY hostile-harness --minutes 30    `check` again and again, with a harness that crashes,
                                                                     hangs and floods at random

Every few seconds it adds up the resident memory and the open files of the command and all processes below it, from /proc. At
the end it prints what was done and a table: at the start, after a quarter, after half and at the end. A line is fitted by
least squares through the samples of the second half. The run fails if that line rises, over the whole second half, by more
than the bound in BOUNDS. A run of a few minutes may rise by more, because the largest requests come late: by WARMING, of which
less is allowed the longer the second half is. It also fails if the command ends with a status other than those expected, or if
a process is left at the end.

In `fuzz`, which is one process, the line goes through the lowest sample of each tenth of the second half: what leaks is in use
at every moment, while what a large request takes comes and goes. The others start many processes, and the lowest samples would
be those of processes that have just started.
"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MB = 1 << 20
# One in this many requests is answered badly by the hostile harness.
SHARE = 20
# A command that takes more memory is ended, in bytes.
LARGEST = 4096 * MB
# By how much the fitted line may rise over the second half: memory in MB, open files. libFuzzer keeps its corpus in memory, and
# the address sanitizer up to 256 MB of freed memory per process; targets with different needs take turns.
BOUNDS = {"fuzz": (16, 8), "overnight": (512, 64), "hostile-harness": (16, 8)}
# What is added for a second half of 30 seconds; for a longer one, in proportion less.
WARMING = {"fuzz": (160, 0), "overnight": (512, 0), "hostile-harness": (64, 24)}
# The soaks that are judged by their lowest samples.
ONE_PROCESS = {"fuzz"}


class Watch:
    """Samples a process and everything below it."""

    def __init__(self, minutes, problems):
        self.problems = problems
        self.began = time.monotonic()
        self.seconds = minutes * 60
        self.interval = max(0.5, min(5, self.seconds / 60))
        self.samples = []

    def elapsed(self):
        return time.monotonic() - self.began

    def over(self):
        return self.elapsed() >= self.seconds

    def follow(self, process, deadline=None):
        """Samples until the process ends, or until the deadline, in seconds from the beginning."""
        while process.poll() is None:
            memory, files, processes = usage(process.pid)
            if processes:
                self.samples.append((self.elapsed(), memory / MB, files, processes))
            if deadline is not None and self.elapsed() >= deadline:
                return
            late = self.elapsed() > 1.5 * self.seconds + 120
            if late or memory > LARGEST:
                why = "is not at its end after half its time again" if late else f"takes more than {LARGEST // MB} MB"
                self.problems.append(f"the command {why}, expected neither")
                process.kill()
                process.wait()
                return
            time.sleep(self.interval)


def usage(root):
    """Resident bytes, open files and number of the processes of a tree."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace")
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                pass
    tree, grew = {root}, True
    while grew:
        below = {process for process, parent in parents.items() if parent in tree} - tree
        tree |= below
        grew = bool(below)
    memory = files = processes = 0
    for process in tree:
        try:
            memory += int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            files += len(os.listdir(f"/proc/{process}/fd"))
            processes += 1
        except (OSError, IndexError):
            pass
    return memory, files, processes


def adopt_orphans():
    """Makes this process the parent of daemons below it, so that they can be counted. Linux only."""
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        print("!! LEFT OUT: this system has no subreapers, so processes left behind are not counted")


def left_behind():
    """The processes below this one that are still running."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit():
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                if int(stat[1]) == os.getpid() and stat[0] != "Z":
                    found.append(int(entry))
        except (OSError, IndexError):
            pass
    return found


def fuzz(binary, watch, problems):
    command = [binary, "fuzz", "--left", "reference", "--right", "fast", "--time", f"{int(watch.seconds)}s", "--seed", "17"]
    # The GNU allocator keeps what large results took, and more of it the longer it meets them: memory rises in steps to that of the
    # largest requests, which is no growth of what is in use. With a fixed threshold it gives large blocks back.
    # With a heap for each thread, each would keep its own.
    environment = dict(os.environ, MALLOC_MMAP_THRESHOLD_="131072", MALLOC_ARENA_MAX="1")
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watch.follow(process)
    text = process.stdout.read()
    if process.returncode != 0:
        problems.append(f"fuzz ended with {process.returncode}, expected 0: {text[-2000:]}")
    return text.strip().splitlines()[-1] if text.strip() else "no output"


def overnight(_, watch, problems):
    """Building takes time of its own, so the samples begin with the first turn. SOAK_BUILD names a directory for the build,
    to use it again."""
    minutes = max(1, int(watch.seconds / 60))
    with tempfile.TemporaryDirectory() as directory, open(f"{directory}/log", "w+", encoding="utf-8") as log:
        environment = dict(os.environ, OVERNIGHT_OUT=f"{directory}/overnight")
        build = os.environ.get("SOAK_BUILD")
        if build:
            os.makedirs(f"{directory}/overnight")
            os.makedirs(build, exist_ok=True)
            os.symlink(os.path.abspath(build), f"{directory}/overnight/build")
        command = [str(ROOT / "fuzz/overnight"), "--time", f"{minutes}m", "--slice", f"{max(5, minutes * 60 // 26)}s", "--jobs", "1"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT)
        while process.poll() is None and " for " not in read(log.name):
            time.sleep(1)
        watch.began = time.monotonic()
        watch.follow(process)
        text = read(log.name)
        if process.returncode != 0:
            problems.append(f"overnight ended with {process.returncode}, expected 0: {text[-3000:]}")
    return "\n".join(re.findall(r"^\| .*", text, re.M)) or text[-500:]


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def hostile_harness(binary, watch, problems):
    runs, statuses, counts = 0, {}, {}
    with tempfile.TemporaryDirectory() as directory:
        while not watch.over():
            log = f"{directory}/log-{runs}"
            harness = f"{sys.executable} {pathlib.Path(__file__).resolve()} --harness {runs} {log}"
            command = [binary, "check", "--impl", harness, "--timeout", "500ms", "--sample-sweeps", "20", "--jobs", "2"]
            with open(f"{directory}/out", "w+", encoding="utf-8") as output:
                process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
                watch.follow(process, watch.seconds)
                # The time is over: an interrupt, as from the keyboard.
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    try:
                        process.wait(60)
                    except subprocess.TimeoutExpired:
                        problems.append("check did not end within a minute of an interrupt")
                        process.kill()
                        process.wait()
                text = read(output.name)
            runs += 1
            statuses[process.returncode] = statuses.get(process.returncode, 0) + 1
            if process.returncode not in (0, 1, 130):
                problems.append(f"check, seed {runs - 1}, ended with {process.returncode}, expected 0, 1 or 130: {text[-2000:]}")
            for line in read(log).split() if os.path.exists(log) else ():
                counts[line] = counts.get(line, 0) + 1
    done = ", ".join(f"{count} x {name}" for name, count in sorted(counts.items()))
    return f"{runs} runs of check, with the statuses {statuses}; the harness did: {done}"


def harness(seed, log):
    """Answers `skipped`, and every now and then misbehaves."""
    choose = random.Random(f"{seed} {os.getpid()}")
    declared = {
        "name": "hostile", "version": "1", "rules": ["none", "numpy", "pdpd", "bidirectional", "xla", "theano"],
        "operations": ["elementwise", "broadcast", "gradient", "strided"], "functions": ["add", "multiply", "maximum", "exp", "less"],
        "dtypes": ["f64", "f32", "i32", "bool"],
    }

    def note(what):
        with open(log, "a", encoding="utf-8") as stream:
            stream.write(what + "\n")

    for line in sys.stdin:
        message = json.loads(line)
        if message["cmd"] == "stop":
            return
        if message["cmd"] == "start":
            print(json.dumps({"version": 1, "implementation": declared}), flush=True)
            note("start")
            continue
        answer = json.dumps({"seq": message["seq"], "skipped": {"reason": "hostile"}})
        # One request in SHARE gets something else.
        what = choose.randrange(9 * SHARE)
        if what >= 9:
            print(answer, flush=True)
            continue
        names = ("exit", "kill", "hang", "flood", "flood of errors", "not JSON", "two answers", "half a line", "daemon")
        note(names[what].replace(" ", "-"))
        if what == 0:
            os._exit(choose.randrange(256))
        elif what == 1:
            os.kill(os.getpid(), choose.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM]))
        elif what == 2:
            time.sleep(3600)
        elif what == 3:
            for _ in range(64):
                sys.stdout.write("x" * MB)
            sys.stdout.flush()
        elif what == 4:
            for _ in range(16):
                sys.stderr.write("y" * MB)
            print(answer, flush=True)
        elif what == 5:
            print("}{" * choose.randrange(1, 1000), flush=True)
        elif what == 6:
            print(answer + "\n" + answer, flush=True)
        elif what == 7:
            sys.stdout.write(answer[: len(answer) // 2])
            sys.stdout.flush()
            os._exit(0)
        else:
            # In the same process group: broadcheck ends it with the harness.
            subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            print(answer, flush=True)


def slope(points):
    """The slope of the line with the least squares."""
    count = len(points)
    mean_x, mean_y = (sum(point[axis] for point in points) / count for axis in (0, 1))
    below = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / below if below else 0.0


def lowest(samples, column, parts=10):
    """The lowest sample of each part of the time, with its time."""
    first, last = samples[0][0], samples[-1][0]
    found = {}
    for sample in samples:
        part = min(parts - 1, int(parts * (sample[0] - first) / max(1e-9, last - first)))
        if part not in found or sample[column] < found[part][1]:
            found[part] = (sample[0], sample[column])
    return list(found.values())


def table(watch, problems, soak):
    samples = watch.samples
    if len(samples) < 8:
        problems.append(f"found {len(samples)} samples, expected at least 8")
        return
    first, last = samples[0][0], samples[-1][0]
    print(f"{'':8}{'minutes':>10}{'memory':>12}{'open files':>12}{'processes':>11}")
    for name, share in (("start", 0), ("quarter", 0.25), ("half", 0.5), ("end", 1)):
        at = min(samples, key=lambda sample: abs(sample[0] - first - share * (last - first)))
        print(f"{name:8}{at[0] / 60:10.1f}{at[1]:9.0f} MB{at[2]:12}{at[3]:11}")
    print(f"{'maximum':8}{'':10}{max(s[1] for s in samples):9.0f} MB{max(s[2] for s in samples):12}{max(s[3] for s in samples):11}")
    second = [sample for sample in samples if sample[0] >= (first + last) / 2]
    length = second[-1][0] - second[0][0]
    for column, what in ((1, "MB of memory"), (2, "open files")):
        bound = round(BOUNDS[soak][column - 1] + WARMING[soak][column - 1] * min(1, 30 / max(1, length)))
        points = lowest(second, column) if soak in ONE_PROCESS else [(sample[0], sample[column]) for sample in second]
        rise = slope(points) * length
        print(f"second half: {rise:+.1f} {what} by the fitted line, at most {bound} allowed ({len(second)} samples in {length:.0f} s)")
        if rise > bound:
            problems.append(f"{what}: rises by {rise:.1f} over the second half, at most {bound} allowed")


SOAKS = {"fuzz": fuzz, "overnight": overnight, "hostile-harness": hostile_harness}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("soak", choices=SOAKS)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--samples", metavar="FILE", help="write every sample to this new file: seconds, MB, open files, processes")
    options = parser.parse_args()
    # Before the run, which is long: a file that exists is an error.
    samples = open(options.samples, "x", encoding="utf-8") if options.samples else None
    adopt_orphans()
    problems = []
    watch = Watch(options.minutes, problems)
    # Ended from outside: nothing is left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        done = SOAKS[options.soak](os.path.abspath(options.binary), watch, problems)
    except BaseException:
        for process in left_behind():
            os.kill(process, signal.SIGKILL)
        raise
    time.sleep(1)
    print(f"{options.soak}, {watch.elapsed() / 60:.1f} minutes\n{done}")
    if samples:
        with samples:
            print("seconds,MB,files,processes", file=samples)
            for at, memory, files, processes in watch.samples:
                print(f"{at:.1f},{memory:.1f},{files},{processes}", file=samples)
    table(watch, problems, options.soak)
    left = left_behind()
    print(f"processes left behind: {len(left)}")
    for process in left:
        os.kill(process, signal.SIGKILL)
    if left:
        problems.append(f"found {len(left)} processes left behind, expected none")
    for problem in problems:
        print(f"FAILED {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--harness"]:
        harness(sys.argv[2], sys.argv[3])
    else:
        main()
