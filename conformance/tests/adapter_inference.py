#!/usr/bin/env python3
"""Tests how `conformance/adapters/protocol.py` reads signatures and declared shapes, and writes what a system infers.

    PYTHON conformance/tests/adapter_inference.py      PYTHON has NumPy, such as that of the adapter `numpy`

A small adapter answers with what it was asked, so that every spelling goes both ways. No system is needed.
"""
import json
import math
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
    rules, operations, functions, dtypes = ["numpy"], ["infer", "declared"], ["add"], ["f32"]
    unknown, declared_unknown, static_flags = ["length", "bound"], ["length"], True

    def __init__(self):
        self.built = 0
        self.kept = protocol.Kept(2, self.build)

    def build(self, signature):
        self.built += 1
        return self.built

    def run(self, request):
        if request.constants() or any(o.same for o in request.operands):
            arrays = request.arrays(protocol.Operand.dense)
            return protocol.np.array([len(request.constants()), len({id(array) for array in arrays.values()})], "f4")
        # Which of the things that were built it uses, and the lengths that it was told: -1 if unknown.
        told = request.signature
        if told is None:
            return protocol.np.zeros(0, "f4")
        lengths = [-1 if number is None else number for o in told.operands for number in protocol.numbers(o.shape)]
        if told.target_shape is not None:
            lengths += [-1 if number is None else number for number in protocol.numbers(told.target_shape)]
            lengths += request.target().shape
        return protocol.np.array([self.kept.get(told.key(), told), *lengths], "f4")

    def infer(self, signature):
        first = signature.operands[0]
        if signature.expression is None:
            return protocol.Inferred(first.dtype, signature.target_shape)
        if first.name == "refused":
            with protocol.refusals(ValueError):
                raise ValueError("no common shape")
        if first.name == "skipped":
            raise protocol.Skipped("not here")
        if first.name == "numbers":
            return protocol.Inferred("float32", protocol.numbers(first.shape), [True])
        return protocol.Inferred(protocol.dtype(first.dtype), first.shape)

protocol.serve(Echo())
"""


def answers(*requests):
    """The adapter's answer to `start`, then those to the requests."""
    lines = [{"cmd": "start", "version": 1}]
    lines += [{"cmd": "run", "seq": 1 + place, "request": request} for place, request in enumerate(requests)]
    done = subprocess.run([sys.executable, "-c", ECHO], input="".join(json.dumps(line) + "\n" for line in lines),
                          env={**os.environ, "PYTHONPATH": str(ADAPTERS)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def operand(shape, name="a", dtype="f32"):
    return {"name": name, "dtype": dtype, "shape": shape}


def infer(**fields):
    return {"rules": "numpy", "operation": "infer", **fields}


def inferred(*operands):
    """What the adapter infers for each of these operands."""
    requests = [infer(expression=fields["name"], operands=[fields]) for fields in operands]
    return [answer["inferred"] for answer in answers(*requests)[1:]]


class Inference(unittest.TestCase):
    def test_a_request_may_be_declared(self):
        def run(*shapes, declared=None, **fields):
            operands = [{**operand(shape, "ab"[place]), "values": [0] * math.prod(shape)} for place, shape in enumerate(shapes)]
            for fields_of, told in zip(operands, declared or []):
                fields_of.update({"declared": told} if told else {})
            return {"rules": "numpy", "expression": ["add", "a", "b"], "operands": operands, **fields}

        target = {"operation": "broadcast", "target_shape": [2, 1], "declared_target_shape": ["?", 1]}
        broadcast = run([1], declared=[["?"]], **target)
        del broadcast["expression"]
        _, *found = answers(
            run([2], [1]),
            run([2], [1], declared=[["?"], ["?"]]),
            run([3], [3], declared=[["?"], ["?"]]),
            run([3], [3], declared=[["?"], None]),
            run([2], [1], declared=[["?"], ["?"]]),
            broadcast,
            run([3], [3], declared=[["?"], None]),
        )
        values = [answer["result"]["values"] for answer in found]
        self.assertEqual(values[:5], [[], [1, -1, -1], [1, -1, -1], [2, -1, 3], [1, -1, -1]], "built once for each signature")
        self.assertEqual(values[5], [3, -1, -1, 1, 2, 1], "with the target, and its shape at the run")
        self.assertEqual(values[6], [4, -1, 3], "the least recently used was dropped")

    def test_operands_may_be_constants_or_one_array(self):
        def run(**fields):
            operands = [{**operand([2], name), "values": [1, 2]} for name in "ab"]
            operands[1].update(fields)
            return {"rules": "numpy", "expression": ["add", "a", "b"], "operands": operands}

        _, *found = answers(run(constant=True), run(same="a"))
        self.assertEqual([answer["result"]["values"] for answer in found], [[1, 2], [0, 1]])

    def test_capabilities_are_declared(self):
        [started] = answers()
        declared = started["implementation"]
        self.assertEqual(declared["unknown"], ["length", "bound"])
        self.assertEqual(declared["declared_unknown"], ["length"])
        self.assertIs(declared["static_flags"], True)

    def test_every_spelling_of_a_length(self):
        exact = {"min": 3, "max": 3}
        spellings = [
            (["?"], [{"min": 0}]), ([3, 0], [exact, {"min": 0, "max": 0}]), ([{"max": 2}], [{"min": 0, "max": 2}]),
            ([{"min": 2}], [{"min": 2}]), ([{"min": 1, "max": 3}], [{"min": 1, "max": 3}]), ([exact], [exact]),
            (["9007199254740993"], [{"min": 2**53 + 1, "max": 2**53 + 1}]), ([], []), ("...", "..."),
        ]
        found = inferred(*(operand(asked) for asked, _ in spellings))
        self.assertEqual(found, [{"dtype": "f32", "shape": answered} for _, answered in spellings])

    def test_lengths_as_most_systems_have_them(self):
        lengths = ["?", 3, {"max": 2}, {"min": 4, "max": 4}]
        [ranked, unranked] = inferred(operand(lengths, "numbers"), operand("...", "numbers"))
        self.assertEqual(ranked, {"dtype": "f32", "shape": ["?", 3, "?", 4], "broadcastable": [True]})
        self.assertEqual(unranked["shape"], "...")

    def test_dtypes(self):
        dtypes = ["f64", "f16", "i8", "u64", "bool"]
        found = inferred(*(operand([2], dtype=dtype) for dtype in dtypes))
        self.assertEqual([answer["dtype"] for answer in found], dtypes)

    def test_a_target_shape_may_be_unknown(self):
        requests = [infer(target_shape=target, operands=[operand([1])]) for target in (["?", 2], "...", [])]
        shapes = [answer["inferred"]["shape"] for answer in answers(*requests)[1:]]
        self.assertEqual(shapes, [[{"min": 0}, {"min": 2, "max": 2}], "...", []])

    def test_refusals_skips_and_errors(self):
        requests = [infer(expression=name, operands=[operand(["?"], name=name)]) for name in ("refused", "skipped")]
        requests.append(infer(expression="a", operands=[operand(["unknown"])]))
        [refused, skipped, errored] = answers(*requests)[1:]
        self.assertEqual(refused, {"seq": 1, "refusal": {"message": "ValueError: no common shape"}})
        self.assertEqual(skipped, {"seq": 2, "skipped": {"reason": "not here"}})
        self.assertIn("errored", errored)


if __name__ == "__main__":
    unittest.main()
