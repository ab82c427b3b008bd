"""Kills runs of `broadcheck fuzz` at random moments, continues them, and compares the findings.

    python3 fuzz_resume.py BROADCHECK [SEED]

A run with a fixed seed and number of requests is killed with SIGKILL again and again, and continued each time with --resume.
After each kill every case file must load. In the end the case files and the counts must be those of a run that was never
killed. Exit status: 0 everything is the same, 1 something differs.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HARNESSES = pathlib.Path(__file__).resolve().parents[1] / "harness" / "tests" / "bad_harnesses"
KILLS = 6


def started(binary, *arguments):
    return subprocess.Popen(
        [binary, "fuzz", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    )


def ended(binary, wanted, *arguments):
    process = started(binary, *arguments)
    said = process.communicate()[0]
    if process.returncode != wanted:
        sys.exit(f"FAILED  exit status {process.returncode}, expected {wanted}: {arguments}\n{said}")
    return said


def counts(said):
    """The last line of a report without its times."""
    last = said.rstrip().splitlines()[-1]
    return re.sub(r"in [\d.]+ s, \d+ per second|; [\d.]+ s more for shrinking", "", last)


def cases(directory):
    return {path.name: path.read_text() for path in directory.glob("*.yaml")}


def killed_and_continued(binary, numbers, arguments, sides, directory, seconds):
    """Kills the run at random moments, and returns the report of the last part."""
    kills = 0
    process = started(binary, *arguments, *sides, "--out", directory)
    while kills < KILLS:
        time.sleep(numbers.uniform(0.02, seconds / 3))
        if process.poll() is not None:
            break
        process.kill()
        process.communicate()
        kills += 1
        if cases(directory):
            subprocess.run([binary, "validate", directory], check=True, stdout=subprocess.DEVNULL)
        if (directory / "fuzz.state").exists():
            process = started(binary, "--resume", directory, *sides)
        else:
            process = started(binary, *arguments, *sides, "--out", directory)
    said = process.communicate()[0]
    return kills, ended(binary, process.returncode, "--resume", directory, *sides) if kills else said


def main(binary, seed):
    numbers = random.Random(seed)
    for name, limits in [("maximum.py", ["--requests", "3000"]), ("ones.py", ["--requests", "60", "--shrinking", "1min"])]:
        sides = ["--right", f"python3 '{HARNESSES / name}'"]
        arguments = [*limits, "--jobs", "1", "--seed", str(seed), "--timeout", "5s"]
        with tempfile.TemporaryDirectory() as root:
            whole, killed = pathlib.Path(root, "whole"), pathlib.Path(root, "killed")
            killed.mkdir()
            began = time.monotonic()
            expected = ended(binary, 1, *arguments, *sides, "--out", whole)
            seconds = time.monotonic() - began
            kills, found = killed_and_continued(binary, numbers, arguments, sides, killed, seconds)
            if counts(found) != counts(expected):
                sys.exit(f"FAILED  {name}: {counts(found)}\nexpected {counts(expected)}")
            if cases(killed) != cases(whole):
                sys.exit(f"FAILED  {name}: found {sorted(cases(killed))}, expected {sorted(cases(whole))}")
            print(f"ok    {name}: killed {kills} times, {len(cases(whole))} cases, as in {seconds:.1f} s without a kill")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) == 3 else 1)
