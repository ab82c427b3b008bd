#!/usr/bin/env python3
"""Gives wrong answers at random, all of them well-formed, and expects a whole report.

    conformance/tests/altered_answers.py BROADCHECK [SEEDS]

A harness answers correctly, through `broadcheck serve`, and alters a share of its answers: rank, lengths, dtype, a value, a
refusal in place of a result and the reverse, the kind, axis and operand of a refusal, flags, `intermediate`. Under it `check`,
`exhaust` and `fuzz` must end with 1 and a report that has every case, for several shares and rule sets per seed. Exit status:
0 every run ended so, 1 some did not.
"""

import json
import pathlib
import random
import shlex
import subprocess
import sys

RULES = ["none", "numpy", "pdpd", "bidirectional", "xla", "theano"]
SHARES = [0.05, 0.3, 1.0]
KINDS = (
    "rank_mismatch dimension_mismatch axis_out_of_range broadcast_dimensions_count broadcast_dimension_out_of_range "
    "broadcast_dimensions_not_increasing broadcast_dimensions_not_identity broadcast_dimensions_not_distinct flag_violation "
    "not_broadcastable dtype_mismatch unsupported_function operand_count too_large"
).split()
DTYPES = "f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool".split()
# A run that takes longer has hung, in seconds.
LONGEST = 300


def tensor(draw, dtype=None):
    """A small result of any rank, also without elements, with as many values as it has elements."""
    shape = [draw.choice([0, 1, 1, 2, 3]) for _ in range(draw.choice([0, 0, 1, 1, 2, 3, 6]))]
    count = 1
    for length in shape:
        count *= length
    dtype = dtype or draw.choice(DTYPES)
    value = (lambda: draw.random() < 0.5) if dtype == "bool" else (lambda: draw.randrange(3))
    return {"dtype": dtype, "shape": shape, "values": [value() for _ in range(count)]}


def refusal(draw, request):
    made = {"message": "altered"}
    if draw.random() < 0.8:
        made["kind"] = draw.choice(KINDS)
    if draw.random() < 0.6:
        made["axis"] = draw.choice([0, 1, 2, 7, 1 << 40])
    if draw.random() < 0.4:
        made["operand"] = draw.choice([operand["name"] for operand in request["operands"]])
    return {"refusal": made}


def altered(draw, request, answer):
    """Another answer of the protocol to the same request."""
    result = answer.get("result")
    if result is None or draw.random() < 0.15:
        return refusal(draw, request) if draw.random() < 0.6 else {"result": tensor(draw)}
    result = json.loads(json.dumps(result))
    way = draw.randrange(8)
    if way == 0:
        return {"result": tensor(draw)}
    if way == 1:
        return {"result": tensor(draw, result["dtype"])}
    if way == 2:
        result["shape"] = draw.choice([[1] + result["shape"], result["shape"] + [1], result["shape"][::-1]])
    if way == 3 and result["values"]:
        place = draw.randrange(len(result["values"]))
        result["values"][place] = draw.choice([True, False]) if result["dtype"] == "bool" else 77
    if way == 4:
        result["broadcastable"] = [draw.random() < 0.5 for _ in range(draw.choice([0, 1, 2, 5]))]
    if way == 5:
        part = tensor(draw)
        result["intermediate"] = {"shape": part["shape"], "values": [0] * len(part["values"])}
    if way == 6:
        result["dtype"] = draw.choice(DTYPES)
        result["values"] = [result["dtype"] == "bool" if result["dtype"] == "bool" else 1 for _ in result["values"]]
    if way == 7:
        result["values"] = result["values"][::-1]
    return {"result": result}


def harness(binary, seed, share):
    """Speaks the protocol, with `broadcheck serve` behind it."""
    draw = random.Random(f"{seed} {share}")
    serve = subprocess.Popen([binary, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    for line in sys.stdin:
        serve.stdin.write(line)
        serve.stdin.flush()
        message = json.loads(line)
        if message["cmd"] == "stop":
            break
        answer = json.loads(serve.stdout.readline())
        if message["cmd"] == "run" and draw.random() < share:
            answer = {"seq": answer["seq"], **altered(draw, message["request"], answer)}
        print(json.dumps(answer), flush=True)
    serve.wait()


def ended(binary, *arguments):
    run = subprocess.run(
        [binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, timeout=LONGEST
    )
    return run.returncode, run.stdout, run.stderr


def whole(command, text, cases):
    """What is missing in a report; empty if it is whole."""
    if command != "check":
        return "" if "FAILED" in text else "found no closing line with FAILED"
    report = json.loads(text)
    found = len(report["implementations"][0]["cases"])
    if found != cases:
        return f"found {found} results, expected {cases}"
    return "" if report["verdict"] == "failed" and not report["interrupted"] else f"found the verdict {report['verdict']}"


def main(binary, seeds):
    problems, runs = [], 0
    for seed in range(seeds):
        for place, share in enumerate(SHARES):
            rules = RULES[(seed * len(SHARES) + place) % len(RULES)]
            mine = f"python3 {shlex.quote(str(pathlib.Path(__file__).resolve()))} {shlex.quote(binary)} --harness {seed} {share}"
            listed = ended(binary, "list", "--rules", rules, "--format", "json")[1]
            cases = len(json.loads(listed))
            for command in (
                ["check", "--impl", mine, "--rules", rules, "--sample-sweeps", "12", "--format", "json"],
                ["exhaust", "--impl", "reference", "--impl", mine, "--rules", rules, "--max-rank", "2", "--max-dim", "2"],
                ["fuzz", "--left", "reference", "--right", mine, "--rules", rules, "--requests", "400", "--seed", str(seed), "--shrink-time", "3s"],
            ):
                status, text, errors = ended(binary, *command)
                runs += 1
                missing = whole(command[0], text, cases) if status == 1 else f"exit status {status}, expected 1"
                if missing or "panicked" in errors:
                    problems.append(f"{command[0]} --rules {rules}, seed {seed}, share {share}: {missing}\n{text[-600:]}{errors[-600:]}")
    for problem in problems:
        print("FAILED", problem)
    print(f"{runs} runs with altered answers, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    if "--harness" in sys.argv:
        harness(sys.argv[1], sys.argv[3], float(sys.argv[4]))
    else:
        sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 2))
