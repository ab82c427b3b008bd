#!/usr/bin/env python3
"""Tests how `conformance/adapters/protocol.py` answers batches, and which position its optimiser takes.

    PYTHON conformance/tests/adapter_batches.py      PYTHON has NumPy, such as that of the adapter `numpy`

A small adapter answers with the values it was given, refuses 2, skips 3, and cannot build a batch with 4. With its optimiser on, it answers
6 with 7.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ADAPTERS = next(path for path in pathlib.Path(__file__).resolve().parents if (path / "adapters").is_dir()) / "adapters"

ECHO = """
import protocol

class Echo:
    name, version = "echo", "1"
    rules, operations, functions, dtypes, batch = ["numpy"], ["elementwise"], ["add"], ["f32"], 5
    optimiser = "off"

    def run(self, request):
        array = request.operands[0].dense()
        if array[0] == 2:
            raise protocol.Refused("two")
        if array[0] == 3:
            raise protocol.Skipped("three")
        return array + (array == 6) if self.optimiser == "on" else array

    def run_many(self, requests):
        if any(request.operands[0].array()[0] == 4 for request in requests):
            raise RuntimeError("four")
        answers = []
        for request in requests:
            try:
                answers.append(self.run(request))
            except (protocol.Refused, protocol.Skipped) as error:
                answers.append(error)
        return answers

protocol.serve(Echo())
"""


def asked(*messages):
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    environment = {**os.environ, "PYTHONPATH": str(ADAPTERS)}
    done = subprocess.run([sys.executable, "-c", ECHO], input=lines, capture_output=True, text=True, check=True, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(value):
    operand = {"name": "a", "dtype": "f32", "shape": [1], "values": [value]}
    return {"rules": "numpy", "operation": "elementwise", "expression": "a", "operands": [operand]}


def batch(first, *values):
    return {"cmd": "batch", "requests": [{"seq": first + place, "request": request(v)} for place, v in enumerate(values)]}


class Batches(unittest.TestCase):
    def test_the_batch_is_declared(self):
        self.assertEqual(asked({"cmd": "start", "version": 1})[0]["implementation"]["batch"], 5)

    def test_each_answer_is_that_of_the_request_alone(self):
        together, *alone = asked(batch(1, 1, 2, 3, 5), *({"cmd": "run", "seq": s, "request": request(v)}
                                                        for s, v in zip((1, 2, 3, 4), (1, 2, 3, 5))))
        self.assertEqual(together["answers"], alone)
        self.assertEqual([list(answer)[1] for answer in alone], ["result", "refusal", "skipped", "result"])

    def test_what_cannot_be_built_together_is_asked_again(self):
        self.assertEqual(asked(batch(1, 1, 4)), [{"unbatched": {"message": "RuntimeError: four"}}])

    def test_a_request_that_cannot_be_read_does_not_end_the_adapter(self):
        broken = batch(1, 1, 2)
        del broken["requests"][1]["request"]["operands"]
        self.assertEqual(asked(broken), [{"unbatched": {"message": "KeyError: 'operands'"}}])


class Optimisers(unittest.TestCase):
    def test_the_position_is_taken_and_stated(self):
        for asked_for, position, value in (({}, "off", 6), ({"optimiser": "off"}, "off", 6), ({"optimiser": "on"}, "on", 7)):
            started, answer = asked({"cmd": "start", "version": 1, **asked_for}, {"cmd": "run", "seq": 1, "request": request(6)})
            self.assertEqual(started["implementation"]["optimiser"], position)
            self.assertEqual(answer["result"]["values"], [value])


if __name__ == "__main__":
    unittest.main()
