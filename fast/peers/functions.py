#!/usr/bin/env python3
"""Times every function that the engine and NumPy both have, by dtype and shape, on the same arrays and one core, in turns.

    fast/peers/run --functions

NumPy is called from Python and writes into an existing output, except for `select`, which is `numpy.where`. It has no bfloat16.
Figures are NumPy's time over the engine's; above 1 the engine is faster.
"""
import argparse
import json
import os
import sys
import time

import compare
import numpy as np
from rows import Row
from systems import DTYPE_NAMES, Engine

UNARY = {"negate": "negative", "abs": "abs", "sqrt": "sqrt", "exp": "exp", "log": "log", "tanh": "tanh", "logical_not": "logical_not"}
BINARY = {name: name for name in (
    "add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or")}
# What an operand is where the other one, or the two others, have the first shape.
SHAPES = [
    ("1000", (1000,), (1000,)),
    ("10000", (10_000,), (10_000,)),
    ("10000 and 1", (10_000,), (1,)),
    ("100x100 and row", (100, 100), (100,)),
    ("100x100 and column", (100, 100), (100, 1)),
    ("500x20 and row", (500, 20), (20,)),
    ("500x20 and column", (500, 20), (500, 1)),
    ("1000000", (1_000_000,), (1_000_000,)),
]
ROUNDS = 7


def rows():
    """The rows with NumPy's function."""
    for title, whole, part in SHAPES:
        if whole == part:
            for name, numpy_name in UNARY.items():
                yield Row(f"{name}, {title}", (whole,), [name, 0]), getattr(np, numpy_name)
        for name, numpy_name in BINARY.items():
            yield Row(f"{name}, {title}", (whole, part), [name, 0, 1]), getattr(np, numpy_name)
        yield Row(f"select, {title}", (whole, whole, part), ["select", 0, 1, 2]), None


def operands(row, dtype):
    """Small numbers that every function of the dtype has a value for."""
    generator = np.random.default_rng(7)
    arrays = []
    for place, shape in enumerate(row.shapes):
        is_condition = row.expression[0] == "select" and place == 0
        own = np.dtype(bool if is_condition else dtype)
        array = compare.aligned(int(np.prod(shape)), own).reshape(shape)
        if own == bool:
            array[...] = generator.random(shape) < 0.5
        elif own.kind == "f":
            array[...] = generator.random(shape) + 0.5
        else:
            array[...] = generator.integers(0, 5, shape)
        arrays.append(array)
    return arrays


def by_thread(call):
    """The same function of a number of repeats, timed by the CPU time of the thread."""
    def timed(repeats):
        start = time.thread_time()
        call(repeats)
        return time.thread_time() - start
    return timed


def measure(engine, row, function, dtype):
    """The ratio and the engine's nanoseconds per element, or None if either has no such function."""
    arrays = operands(row, dtype)
    result = engine.dtype(row, arrays)
    if result is None:
        return None
    own = next(name for name, short in DTYPE_NAMES.items() if short == result)
    shape = np.broadcast_shapes(*row.shapes)
    out = compare.aligned(int(np.prod(shape)), own).reshape(shape)
    try:
        expected = np.where(*arrays) if function is None else function(*arrays)
    except TypeError:
        return None
    if expected.dtype != out.dtype:
        return None
    timed = engine.timed("fast", row, arrays, out)
    timed(1)
    tolerance = {"f": {2: 1e-2, 4: 1e-5, 8: 1e-12}.get(out.itemsize, 0)}.get(out.dtype.kind, 0)
    if not np.allclose(out, expected, rtol=tolerance, atol=0):
        sys.exit(f"{row.name} {dtype}: NumPy computes other values than the engine")
    call = (lambda: np.where(*arrays)) if function is None else (lambda: function(*arrays, out=out))
    times = compare.race({"fast": by_thread(timed), "numpy": by_thread(compare.looped(call))}, ROUNDS)
    ratio = compare.statistics.median(b / a for a, b in zip(times["fast"], times["numpy"]))
    return ratio, compare.statistics.median(times["fast"]) * 1e9 / out.size


def tables(results):
    """The lowest ratio of each function and dtype, and the lowest of all."""
    dtypes = list(dict.fromkeys(r["dtype"] for r in results))
    functions = {}
    for r in results:
        functions.setdefault(r["row"].split(",")[0], {}).setdefault(r["dtype"], []).append(r["ratio"])
    heat = [[name, *[compare.cell(min(row[dtype])) if dtype in row else "-" for dtype in dtypes]]
            for name, row in sorted(functions.items(), key=lambda item: min(map(min, item[1].values())))]
    lowest = [[r["row"], r["dtype"], f"{r['ns']:.4f}", compare.cell(r["ratio"])]
              for r in sorted(results, key=lambda r: r["ratio"])[:20]]
    return [{"name": "heat", "header": ["function", *dtypes], "rows": heat},
            {"name": "lowest", "header": ["function, shape", "dtype", "fast, ns per element", "NumPy's time over ours"], "rows": lowest}]


def goals(results):
    ratios = [r["ratio"] for r in results]
    slower = sum(ratio < 1 for ratio in ratios)
    mean = compare.geometric(ratios)
    return [
        {"goal": f"NumPy's time over ours, the lowest of {len(ratios)} ({slower} below 1)", "target": "≥ 1",
         "measured": f"{min(ratios):.2f}", "met": slower == 0},
        {"goal": "NumPy's time over ours, geometric mean", "target": "≥ 3.5", "measured": f"{mean:.2f}", "met": mean >= 3.5},
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True, help="the library built from fast/peers/engine")
    parser.add_argument("--rows", default="", help="only the rows whose name contains this text; nothing is written")
    options = parser.parse_args()
    np.seterr(all="ignore")
    engine = Engine(options.engine)
    results = []
    for row, function in rows():
        if options.rows not in row.name:
            continue
        for dtype, short in DTYPE_NAMES.items():
            found = measure(engine, row, function, dtype)
            if found is not None:
                results.append({"row": row.name, "dtype": short, "ratio": found[0], "ns": found[1]})
                if options.rows:
                    print(f"{row.name} {short}: {found[1]:.4f} ns, {found[0]:.2f}")
    if not results:
        sys.exit(f"no row contains `{options.rows}`, expected part of one of:\n" + "\n".join(row.name for row, _ in rows()))
    if options.rows:
        return
    made = {"bench": "functions", "level": engine.level(), "tables": tables(results), "goals": goals(results)}
    os.makedirs(compare.DIRECTORY, exist_ok=True)
    with open(os.path.join(compare.DIRECTORY, "functions.json"), "w") as file:
        json.dump(made, file, indent=2)
        file.write("\n")
    for goal in made["goals"]:
        print("met:" if goal["met"] else "missed:", goal["goal"], goal["target"], "measured", goal["measured"])


if __name__ == "__main__":
    main()
