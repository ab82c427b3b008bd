#!/usr/bin/env python3
"""Times the engine and its peers on the same arrays, on one core, in rounds in which they take turns.

Started by `fast/peers/run`, which sets up what it needs. Each figure is the median over rounds of a peer's time over the
engine's in the same round. Peers are timed with the overhead of a call from Python, as their users call them; the engine is
timed in Rust.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time
import warnings

# One core and one thread for all, before loading anything that counts cores.
CORE = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {CORE})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

from rows import ROWS
from systems import SYSTEMS, Engine

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "target", "performance")
DTYPES = {"f64": np.float64, "f32": np.float32}
ROUND_SECONDS = 2e-3


def aligned(count, dtype):
    """Zeros that are aligned to a cache line, as in the benches of the engine."""
    dtype = np.dtype(dtype)
    buffer = np.zeros(count * dtype.itemsize + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start:start + count * dtype.itemsize].view(dtype)


def operands(row, dtype):
    generator = np.random.default_rng(7)
    arrays = []
    for place, shape in enumerate(row.shapes):
        is_mask = place in row.masks
        array = aligned(math.prod(shape), bool if is_mask else dtype).reshape(shape)
        numbers = generator.random(shape, dtype)
        array[...] = numbers < 0.5 if is_mask else numbers + np.dtype(dtype).type(0.5)
        arrays.append(array)
    return arrays


def looped(call):
    """A function that returns the seconds of a number of calls."""
    def timed(repeats):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return time.perf_counter() - start
    return timed


def race(competitors, rounds):
    """The seconds per call of each competitor, round by round."""
    repeats = {}
    for name, timed in competitors.items():
        timed(1)
        once = max(min(timed(1), timed(1)), 1e-8)
        repeats[name] = max(1, min(int(ROUND_SECONDS / once), 200_000))
    times = {name: [] for name in competitors}
    for _ in range(rounds):
        for name, timed in competitors.items():
            times[name].append(timed(repeats[name]) / repeats[name])
    return times


def compare(engine, row, dtype, rounds):
    """The engine's nanoseconds per element, and each peer's time over the engine's, or None if it cannot compute the row."""
    arrays = operands(row, DTYPES[dtype])
    shape = np.broadcast_shapes(*row.shapes)
    out = aligned(math.prod(shape), DTYPES[dtype]).reshape(shape)
    competitors = {"fast": engine.timed("fast", row, arrays, out)}
    competitors["fast"](1)
    expected = out.copy()
    for name, system in SYSTEMS.items():
        call = system(row, arrays, out)
        if call is None:
            continue
        out[...] = 0
        call()
        check(row, name, expected, getattr(call, "result", lambda: out)())
        competitors[name] = looped(call)
    ndarray = engine.timed("ndarray", row, arrays, out)
    if ndarray:
        out[...] = 0
        ndarray(1)
        check(row, "ndarray", expected, out)
        competitors["ndarray"] = ndarray
    times = race(competitors, rounds)
    own = times["fast"]
    ratios = {name: statistics.median(t / o for t, o in zip(times[name], own)) for name in times if name != "fast"}
    return {"row": row.name, "dtype": dtype, "ns": statistics.median(own) * 1e9 / out.size, "ratios": ratios}


def check(row, name, expected, found):
    """Checks that a peer computes the same values. Peers round exp and sums in different ways."""
    tolerance = 1e-12 if expected.dtype == np.float64 else 1e-5
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=tolerance, atol=tolerance):
        sys.exit(f"{row.name}: {name} computes other values than the engine")


def svml():
    import numba
    return bool(numba.core.config.USING_SVML)


def cell(ratio):
    return "-" if ratio is None else f"{ratio:.2f}" if ratio < 20 else f"{ratio:.0f}"


def geometric(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def table_of(results, columns):
    header = ["row", "dtype", "fast, ns per element", *columns]
    rows = [[r["row"], r["dtype"], f"{r['ns']:.3f}", *[cell(r["ratios"].get(name)) for name in columns]] for r in results]
    for dtype in DTYPES:
        means = []
        for name in columns:
            ratios = [r["ratios"][name] for r in results if r["dtype"] == dtype and name in r["ratios"]]
            means.append(cell(geometric(ratios)) if ratios else "-")
        rows.append(["geometric mean", dtype, "", *means])
    return {"name": "ratios", "header": header, "rows": rows}


def goals_of(results):
    goals = []

    def goal(text, target, measured, met):
        goals.append({"goal": text, "target": target, "measured": measured, "met": met})

    numba = [r["ratios"]["numba"] for r in results if r["row"].startswith("exp(x*y)") and "numba" in r["ratios"]]
    if numba:
        goal("exp(x*y) against numba" + (" with SVML" if svml() else " (no SVML here)") + ", its time over ours, worst",
             "> 1", f"{min(numba):.2f}", min(numba) > 1)
    slower = [(ratio, name, r) for r in results for name, ratio in r["ratios"].items() if ratio < 1]
    pairs = sum(len(r["ratios"]) for r in results)
    worst = min((ratio, name, r["row"], r["dtype"]) for r in results for name, ratio in r["ratios"].items())
    goal("never slower than a peer, its time over ours in the worst row", "≥ 1",
         f"{worst[0]:.2f} ({worst[1]}, {worst[2]}, {worst[3]}; {len(slower)} of {pairs} figures below 1)", worst[0] >= 1)
    for name, least in (("numpy", 3.5), ("numexpr", 2)):
        mean = geometric([r["ratios"][name] for r in results])
        goal(f"{name}'s time over ours, geometric mean", f"≥ {least}", f"{mean:.2f}", mean >= least)
    return goals


def versions(columns):
    from importlib.metadata import version
    found = {name: version(name.removesuffix("-compile")) for name in columns if name != "ndarray"}
    return found | {"SVML in numba": "yes" if svml() else "no"}


def write(results):
    order = {row.name: place for place, row in enumerate(ROWS)}
    results.sort(key=lambda r: (order.get(r["row"], len(order)), list(DTYPES).index(r["dtype"])))
    columns = [*SYSTEMS, "ndarray"]
    table, goals = table_of(results, columns), goals_of(results)
    found = versions(columns)
    rows = [[name, text] for name, text in found.items()]
    versions_table = {"name": "versions", "header": ["system", "version"], "rows": rows}
    with open(os.path.join(DIRECTORY, "peers.json"), "w") as file:
        json.dump({"bench": "peers", "tables": [table, versions_table], "goals": goals, "results": results}, file, indent=2)
        file.write("\n")
    lines = ["| " + " | ".join(cells) + " |" for cells in [table["header"], *table["rows"]]]
    lines.insert(1, "|" + "---|" * len(table["header"]))
    text = "\n".join(lines) + "\n"
    with open(os.path.join(DIRECTORY, "peers.md"), "w") as file:
        file.write(text)
    print("\n" + text)
    for goal in goals:
        print("met:" if goal["met"] else "missed:", goal["goal"], goal["target"], "measured", goal["measured"])


def earlier():
    try:
        with open(os.path.join(DIRECTORY, "peers.json")) as file:
            return json.load(file)["results"]
    except (OSError, KeyError, ValueError):
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True, help="the library built from fast/peers/engine")
    parser.add_argument("--rows", default="", help="only the rows whose name contains this text; the others are not changed")
    parser.add_argument("--dtype", choices=list(DTYPES), help="only this dtype; the other is not changed")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds (default 9)")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.makedirs(DIRECTORY, exist_ok=True)
    engine = Engine(options.engine)
    tasks = [(row, dtype) for row in ROWS for dtype in DTYPES
             if options.rows in row.name and options.dtype in (None, dtype)]
    if not tasks:
        sys.exit(f"no row contains `{options.rows}`, expected part of one of:\n" + "\n".join(row.name for row in ROWS))
    results = []
    for row, dtype in tasks:
        results.append(compare(engine, row, dtype, options.rounds))
        ratios = " ".join(f"{name} {cell(ratio)}" for name, ratio in results[-1]["ratios"].items())
        print(f"{row.name} {dtype}: {results[-1]['ns']:.3f} ns; {ratios}", flush=True)
    done = {(r["row"], r["dtype"]) for r in results}
    write(results + [r for r in earlier() if (r["row"], r["dtype"]) not in done])


if __name__ == "__main__":
    main()
