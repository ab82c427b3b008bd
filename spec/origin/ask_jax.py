#!/usr/bin/env python3
"""Run the gradients of cases on JAX: jax.grad of the sum of all elements of the expression, in 64-bit mode. With a cotangent, jax.vjp of the
expression or of the broadcast.

    ask_jax.py FILE...            compare every gradient that the files expect, whatever its origin, with JAX's; exit 1 on a difference
    ask_jax.py --write FILE...    first replace each `result: ask` by the answer; the rest of the file stays as it is

Each rule set is lowered by a reshape of its operands inside the function that JAX differentiates, and `repeat` by a tile, so that the
sums over broadcast axes are JAX's own. Some of JAX's derivatives differ from clause GRAD-3: the note of such a case says "JAX 0.10.2 answers", the case is
reported as a known difference, and it is an error if JAX agrees after all. Refusals are skipped, because JAX promotes dtypes.
"""
import argparse
import math
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from ruamel.yaml import YAML

from ask_numpy import NAMES, array_of, flow, spelled

jax.config.update("jax_enable_x64", True)

FUNCTIONS = {
    "add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply, "divide": jnp.divide, "power": jnp.power,
    "maximum": jnp.maximum, "minimum": jnp.minimum, "negate": jnp.negative, "abs": jnp.abs, "sqrt": jnp.sqrt, "exp": jnp.exp,
    "log": jnp.log, "tanh": jnp.tanh, "select": jnp.where, "equal": jnp.equal, "not_equal": jnp.not_equal, "less": jnp.less,
    "less_equal": jnp.less_equal, "greater": jnp.greater, "greater_equal": jnp.greater_equal, "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or, "logical_not": jnp.logical_not,
}
# How much JAX's answer may differ from a value in a file: as much as f64 sums of a few terms can. Integers are exact in both.
EPSILON = {"f64": 2.0**-50, "f32": 2.0**-21, "f16": 2.0**-9, "bf16": 2.0**-6}


def lowered_shapes(case, rules, shapes):
    """The shape to which each operand is reshaped, so that JAX's right-aligned broadcasting follows the rule set."""
    if rules == "pdpd" and len(shapes) == 2:
        (a, b), axis = shapes, case.get("axis", -1)
        start = len(a) - len(b) if axis == -1 else axis
        kept = len(b)
        while kept and b[kept - 1] == 1:
            kept -= 1
        return [a, (1,) * start + b[:kept] + (1,) * (len(a) - start - kept)]
    if rules == "xla" and case.get("broadcast_dimensions"):
        rank = max(map(len, shapes))
        placed = []
        for shape in shapes:
            lengths = list(shape)
            if len(shape) < rank:
                lengths = [1] * rank
                for axis, length in zip(case["broadcast_dimensions"], shape):
                    lengths[axis] = length
            placed.append(tuple(lengths))
        return placed
    if rules == "leading":
        rank = max(map(len, shapes))
        return [shape + (1,) * (rank - len(shape)) for shape in shapes]
    return shapes


def evaluate(expression, operands):
    if isinstance(expression, str):
        return operands[expression]
    name, *arguments = expression
    return FUNCTIONS[name](*(evaluate(argument, operands) for argument in arguments))


def repeated(w, target):
    """An operand under `repeat`, with the target's lengths: without the ones in front that the target does not have, and tiled."""
    own = w.shape[max(0, w.ndim - len(target)):]
    own = (1,) * (len(target) - len(own)) + own
    if w.size == 0:  # Onto a target without elements (REPEAT-4).
        return jnp.zeros(target, w.dtype) + 0 * jnp.sum(w)
    return jnp.tile(w.reshape(own), [length // of for length, of in zip(target, own)])


def broadcast(w, rules, target, dimensions):
    """`broadcast` onto a target."""
    if rules == "repeat":
        return repeated(w, target)
    if rules == "xla":
        return jax.lax.broadcast_in_dim(w, target, dimensions)
    if rules == "leading":
        return jnp.broadcast_to(w.reshape(w.shape + (1,) * (len(target) - w.ndim)), target)
    return jnp.broadcast_to(w, target if rules == "numpy" else np.broadcast_shapes(w.shape, target))


def answer(case, rules):
    """JAX's gradient, in the form of a case's `result`."""
    given = {o["name"]: jnp.asarray(array_of(o)) for o in case["operands"]}
    cotangent = given.pop(case["cotangent"], None) if "cotangent" in case else None
    shapes = dict(zip(given, lowered_shapes(case, rules, [tuple(a.shape) for a in given.values()])))
    # Of all operands, used or not.
    common = next(iter(shapes.values())) if rules == "repeat" else np.broadcast_shapes(*shapes.values())

    def lowered(name, operand):
        return repeated(operand, common) if rules == "repeat" else operand.reshape(shapes[name])

    def result(w):
        if "target_shape" in case:
            return broadcast(w, rules, tuple(case["target_shape"]), case.get("broadcast_dimensions") or [])
        operands = {n: lowered(n, w if n == case["wrt"] else a) for n, a in given.items()}
        return jnp.broadcast_to(evaluate(case["expression"], operands), common)

    w = given[case["wrt"]]
    if cotangent is None:
        gradient = np.asarray(jax.grad(lambda w: jnp.sum(result(w)))(w))
    else:
        _, pull = jax.vjp(result, w)
        gradient = np.asarray(pull(cotangent)[0])
    return {"dtype": NAMES[gradient.dtype], "shape": list(gradient.shape), "values": spelled(gradient)}


def near(a, b, dtype):
    a, b = float(a.replace(".nan", "nan").replace(".inf", "inf")), float(b)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= EPSILON[dtype] * abs(b) if b != math.floor(b) else a == b


def difference(asked, expected):
    """What differs, or None. -0 equals +0 in gradients, and any two NaN are equal."""
    for key in ("dtype", "shape"):
        if asked[key] != expected[key]:
            return f"{key}: JAX {asked[key]}, the case says {expected[key]}"
    if len(asked["values"]) != len(expected["values"]) or not all(
            near(a, b, expected["dtype"]) for a, b in zip(asked["values"], expected["values"])):
        return f"values: JAX [{', '.join(asked['values'])}], the case says {expected['values']}"
    return None


def process(path, write):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    document = YAML(typ="safe", pure=True).load(text)
    filled = agreed = known = 0
    wrong = []
    for case in document.get("cases") or []:
        if case.get("operation") != "gradient" or "result" not in case:
            continue
        expected_to_differ = "JAX 0.10.2 answers" in case.get("note", "")
        try:
            asked = answer(case, case.get("rules", document.get("rules")))
        except ValueError as error:
            if not expected_to_differ:
                raise
            known += 1
            print(f"  known difference: {case['id']}: {str(error).splitlines()[0]}")
            continue
        if case["result"] == "ask":
            if write:
                pattern = rf"(?ms)(^ *- id: {re.escape(case['id'])} *$(?:(?!^ *- id:).)*?^ *result: )ask(?= *(?:#[^\n]*)?$)"
                text, count = re.subn(pattern, lambda m: m.group(1) + flow(asked), text)
                filled += count
            else:
                wrong.append(f"{case['id']}: not filled; run with --write")
            continue
        found = difference(asked, case["result"])
        if found and expected_to_differ:
            known += 1
            print(f"  known difference: {case['id']}: {found}")
        elif found:
            wrong.append(f"{case['id']}: {found}")
        elif expected_to_differ:
            wrong.append(f"{case['id']}: its note says that JAX differs, but JAX agrees")
        else:
            agreed += 1
    if filled:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print(f"{path}: {filled} filled, {agreed} agreed, {known} known differences, {len(wrong)} wrong")
    for line in wrong:
        print(f"  {line}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace each `result: ask` by the answer")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    return 0 if all([process(path, arguments.write) for path in arguments.files]) else 1


if __name__ == "__main__":
    sys.exit(main())
