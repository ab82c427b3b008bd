#!/usr/bin/env python3
"""Run cases under `theano` on PyTensor, which kept Theano's static broadcasting, and compare the outcomes.

    ask_pytensor.py FILE...    compare PyTensor's answer or refusal with every case under `theano`; exit 1 on a difference

A flag True is a static length of 1, a flag False an unknown length. Each case is run by PyTensor's own Python linker without
rewrites, so the check at run time is that of its Elemwise. If PyTensor differs, the note of the case says "PyTensor 3.0.7 answers" or
"PyTensor 3.0.7 refuses"; the case is reported as a known difference, and it is an error if PyTensor agrees after all. Skipped are
bf16, which it does not have; operands that the expression does not use, which it does not see; refusals for dtypes, which it
promotes; and axes too long to allocate.
"""
import argparse
import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from ruamel.yaml import YAML

from ask_numpy import NAMES, array_of, spelled

MODE = Mode(linker="py", optimizer=None)
FUNCTIONS = {
    "add": pt.add, "subtract": pt.sub, "multiply": pt.mul, "divide": pt.true_div, "power": pt.pow, "maximum": pt.maximum,
    "minimum": pt.minimum, "negate": pt.neg, "abs": pt.abs, "sqrt": pt.sqrt, "exp": pt.exp, "log": pt.log, "tanh": pt.tanh,
    "select": pt.switch, "equal": pt.eq, "not_equal": pt.neq, "less": pt.lt, "less_equal": pt.le, "greater": pt.gt,
    "greater_equal": pt.ge, "logical_and": pt.and_, "logical_or": pt.or_, "logical_not": pt.invert,
}
LENIENT = {"dtype_mismatch", "unsupported_function", "too_large"}


def leaves(expression):
    if isinstance(expression, str):
        return {expression}
    return set().union(*map(leaves, expression[1:]))


def skipped(case):
    operands = case["operands"]
    if any(o["dtype"] == "bf16" for o in operands):
        return "bf16"
    if leaves(case["expression"]) != {o["name"] for o in operands}:
        return "an operand that the expression does not hold"
    if case.get("refusal", {}).get("kind") in LENIENT:
        return "a refusal that PyTensor does not know"
    if any(n > 2**20 for o in operands for n in o["shape"]):
        return "an axis too long"
    return None


def build(expression, variables):
    if isinstance(expression, str):
        return variables[expression]
    return FUNCTIONS[expression[0]](*(build(e, variables) for e in expression[1:]))


def answer(case):
    """PyTensor's outcome in the form of a case's `result`, or the error with which it refuses."""
    variables, arrays = {}, [array_of(o) for o in case["operands"]]
    try:
        for o, array in zip(case["operands"], arrays):
            flags = o.get("broadcastable", [False] * array.ndim)
            variables[o["name"]] = pt.TensorType(array.dtype.name, tuple(1 if f else None for f in flags))(o["name"])
        root = build(case["expression"], variables)
        if case.get("operation") == "gradient":
            root = pytensor.grad(root.sum(), variables[case["wrt"]])
        value = pytensor.function(list(variables.values()), root, mode=MODE)(*arrays)
    except (ValueError, TypeError, NotImplementedError, AssertionError, pytensor.gradient.DisconnectedInputError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    value = np.asarray(value)
    outcome = {"dtype": NAMES[value.dtype], "shape": list(value.shape), "values": spelled(value)}
    if case.get("operation") != "gradient":
        outcome["broadcastable"] = list(root.type.broadcastable)
    return outcome


def difference(asked, case):
    if "refusal" in case:
        return None if isinstance(asked, str) else f"PyTensor accepts: {asked}"
    if isinstance(asked, str):
        return f"PyTensor refuses: {asked}"
    expected = case["result"]
    for key in ("dtype", "shape", "broadcastable"):
        if key in expected and key in asked and asked[key] != expected[key]:
            return f"{key}: PyTensor {asked[key]}, the case says {expected[key]}"
    ours = np.array([float(v.replace(".inf", "inf").replace(".nan", "nan")) if v not in ("true", "false") else v == "true"
                     for v in asked["values"]], dtype=float)
    # exp is within a few ULP in PyTensor; everything else here is exact.
    if not np.allclose(ours, np.array(expected["values"], dtype=float), rtol=1e-15, atol=0, equal_nan=True):
        return f"values: PyTensor [{', '.join(asked['values'])}], the case says {expected['values']}"
    return None


def process(path):
    with open(path, encoding="utf-8") as file:
        document = YAML(typ="safe", pure=True).load(file)
    agreed = known = passed_over = 0
    wrong = []
    for case in document.get("cases") or []:
        if case.get("rules", document.get("rules")) != "theano" or case.get("operation") == "infer":
            continue
        if skipped(case):
            passed_over += 1
            continue
        found = difference(answer(case), case)
        expected_to_differ = any(f"PyTensor 3.0.7 {verb}" in case.get("note", "") for verb in ("answers", "refuses"))
        if found and expected_to_differ:
            known += 1
            print(f"  known difference: {case['id']}: {found}")
        elif found:
            wrong.append(f"{case['id']}: {found}")
        elif expected_to_differ:
            wrong.append(f"{case['id']}: its note says that PyTensor differs, but it agrees")
        else:
            agreed += 1
    print(f"{path}: {agreed} agreed, {known} known differences, {passed_over} skipped, {len(wrong)} wrong")
    for line in wrong:
        print(f"  {line}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    return 0 if all([process(path) for path in arguments.files]) else 1


if __name__ == "__main__":
    sys.exit(main())
