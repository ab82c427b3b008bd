"""Adds and subtracts f64 numbers, takes 4 requests at once, and has a switch for its optimiser. The argument names what is wrong:

    right       nothing
    folds       with the optimiser on, a sum with a zero is the other operand, even if that has another shape
    shifts      with the optimiser on, a sum with a stretched operand is 1 too large
    dies        with the optimiser on, such a sum ends the process
    deaf        it stays in its own position, whatever `start` asks for
    mute        it takes the position, and does not state it
    short       the last answer to a batch is missing
    reversed    the answers to a batch have their numbers in order, and their results in reverse
    unbatched   it can build no batch
    repeats     it answers a batch twice
"""

import json
import os
import sys

WAY = sys.argv[1]
DECLARED = {"name": "declares", "version": "1.0", "rules": ["numpy"], "operations": ["elementwise"], "functions": ["add", "subtract"],
            "dtypes": ["f64"], "max_rank": 1, "scalars": False, "max_operands": 2, "max_calls": 1, "unused_operands": False,
            "large_sizes": False, "batch": 4}
WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "-0.0": -0.0}


def written(value):
    if value != value or abs(value) == float("inf"):
        return "nan" if value != value else str(value)
    return value


def answer(request, optimiser):
    operands = {operand["name"]: operand for operand in request["operands"]}
    if isinstance(request["expression"], str):
        return result(read(operands[request["expression"]]))
    name, *arguments = request["expression"]
    left, right = (read(operands[argument]) for argument in arguments)
    if name == "subtract":
        right = [-value for value in right]
    if optimiser == "on" and WAY in ("folds", "dies") and 0.0 in right and set(right) == {0.0}:
        if WAY == "dies":
            os.abort()
        return result(left)
    if len(left) != len(right) and 1 not in (len(left), len(right)):
        return {"refusal": {"message": "lengths differ"}}
    length = len(right) if len(left) == 1 else len(left)
    shifts = optimiser == "on" and WAY == "shifts" and len(left) != len(right)
    left, right = (values * length if len(values) == 1 else values for values in (left, right))
    sums = [a + b for a, b in zip(left, right)]
    return result([value + 1 for value in sums] if shifts else sums)


def read(operand):
    values = [WORDS.get(value, value) for value in operand["values"]]
    strides, length = operand.get("strides"), int(operand["shape"][0])
    return [float(values[operand.get("offset", 0) + place * strides[0]] if strides else values[place]) for place in range(length)]


def result(values):
    return {"result": {"dtype": "f64", "shape": [len(values)], "values": [written(value) for value in values]}}


def together(requests):
    if WAY == "unbatched":
        return {"unbatched": {"message": "one at a time"}}
    answers = [answer(one["request"], position) for one in requests]
    if WAY == "reversed":
        answers.reverse()
    answers = [{"seq": one["seq"], **found} for one, found in zip(requests, answers)]
    return {"answers": answers[:-1] if WAY == "short" else answers}


position = "off"
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "start":
        if WAY != "deaf":
            position = message.get("optimiser", position)
        stated = {} if WAY == "mute" else {"optimiser": position}
        reply = {"version": 1, "implementation": {**DECLARED, **stated}}
    elif message["cmd"] == "stop":
        break
    elif message["cmd"] == "batch":
        reply = together(message["requests"])
    else:
        reply = {"seq": message["seq"], **answer(message["request"], position)}
    for _ in range(2 if WAY == "repeats" and message["cmd"] == "batch" else 1):
        print(json.dumps(reply), flush=True)
