#!/usr/bin/env python3
"""Measures how many requests each adapter answers in a second of processor time, alone and in batches, and prints a table.

    rates.py [--seconds N] [NAME...]      for these adapters, or for every adapter that is set up

The requests are sums, products and `a * b + tanh(b)` of f32, as far as the adapter has these functions and f32, each with other lengths. They
are sent to one process for about N seconds on the wall (default 5) after the first request or batch, which also starts the system. Processor
time is that of the adapter and of the processes that it has started, so other work on the machine does not count. Linux only.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ADAPTERS = next(path for path in pathlib.Path(__file__).resolve().parents if (path / "adapters").is_dir()) / "adapters"
sys.path.insert(0, str(ADAPTERS))
from releases import setup  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
EXPRESSIONS = [["add", "a", "b"], ["multiply", "a", "b"], ["add", ["multiply", "a", "b"], ["tanh", "b"]]]


def command(name):
    """The command that starts an adapter."""
    place = setup.environment(name)
    if setup.is_package(name):
        return ["node", str(ADAPTERS / "javascript" / name / "adapter.mjs")]
    if setup.is_program(name):
        return [str(place / "release" / name)]
    return [str(place / "bin" / "python"), str(ADAPTERS / f"{name}_adapter.py")]


def processor_time(process):
    """The seconds of a process and of its descendants, those that have ended too."""
    seconds, left = 0, [process]
    while left:
        one = left.pop()
        try:
            fields = pathlib.Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            children = [pathlib.Path(f"/proc/{one}/task/{task}/children").read_text(encoding="utf-8").split()
                        for task in os.listdir(f"/proc/{one}/task")]
        except OSError:
            continue
        seconds += sum(map(int, fields[11:15])) / TICKS
        left += [int(child) for group in children for child in group]
    return seconds


class Adapter:
    """A running adapter."""

    def __init__(self, name):
        self.process = subprocess.Popen(command(name), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.declared = self.asked({"cmd": "start", "version": 1})["implementation"]

    def asked(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise EOFError("it ended")
        return json.loads(answer)

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()


def functions(expression):
    """The functions that are called in an expression."""
    return set() if isinstance(expression, str) else {expression[0]}.union(*map(functions, expression[1:]))


def request(declared, place):
    """The request with this number, a gradient if the adapter has no elementwise expressions; None if it takes neither."""
    found = [expression for expression in EXPRESSIONS if functions(expression) <= set(declared["functions"])]
    operation = next((one for one in ("elementwise", "gradient") if one in declared["operations"]), None)
    if not found or operation is None:
        return None
    length = 2 + place % 97
    rules = declared["rules"][0]
    dtype = "f32" if "f32" in declared["dtypes"] else declared["dtypes"][0]
    operand = {"dtype": dtype, "shape": [length, 3], "values": [1 + at % 7 for at in range(3 * length)]}
    operands = [{"name": name, **operand} for name in "ab"]
    if rules == "theano":
        operands = [{**one, "broadcastable": [False, False]} for one in operands]
    asked = {"rules": rules, "operation": operation, "expression": found[place % len(found)], "operands": operands}
    return {**asked, "wrt": "a"} if operation == "gradient" else asked


def rate(name, batch, seconds):
    """The requests in a second of processor time; None if the adapter takes none."""
    adapter = Adapter(name)
    try:
        place = 0

        def send():
            nonlocal place
            many = [{"seq": place + at + 1, "request": request(adapter.declared, place + at)} for at in range(batch)]
            place += batch
            if batch == 1:
                answers = [adapter.asked({"cmd": "run", **many[0]})]
            else:
                answers = adapter.asked({"cmd": "batch", "requests": many})["answers"]
            wrong = next((answer for answer in answers if "result" not in answer), None)
            if wrong:
                raise ValueError(f"found {json.dumps(wrong)[:200]}, expected a result")

        if request(adapter.declared, 0) is None:
            return None
        send()
        first, start, began = place, processor_time(adapter.process.pid), time.monotonic()
        while time.monotonic() - began < seconds or place == first:
            send()
        return (place - first) / max(processor_time(adapter.process.pid) - start, 1 / TICKS)
    finally:
        adapter.stop()


def shown(value):
    return "-" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    names = arguments.names or [name for name in setup.names() if setup.is_set_up(name)]
    print("| adapter | alone | in batches |\n|---|--:|--:|")
    failed = False
    for name in names:
        try:
            adapter = Adapter(name)
            batch = adapter.declared.get("batch", 1)
            adapter.stop()
            alone = rate(name, 1, arguments.seconds)
            together = rate(name, batch, arguments.seconds) if batch > 1 else None
            print(f"| `{name}` | {shown(alone)} | {shown(together)} |", flush=True)
        except (OSError, ValueError, KeyError, EOFError) as error:
            failed = True
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
